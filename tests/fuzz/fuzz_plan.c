/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A kept plan with any of its bytes changed, its sum made right again: it is taken or set
 * aside, and what is taken can be judged.
 *
 * The input is a row of changes: two bytes of place and one of what stands there then; a
 * place beyond the end cuts the file.  The first byte chooses the shape of SLs and of SL2VL.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/plan/plan_file.h"
#include "core/route/route.h"
#include "lab/topo/netlist.h"
#include "lib/hash.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/generate_words.h"

#define MARK 77
#define SUM_AT 8
#define SUM_FROM 16
#define FILE_MOST 65536

static struct router router;
static struct snapshot *snap;
static char path[64];

static void
leave(void)
{
	char aside[80];

	snprintf(aside, sizeof(aside), "%s.bad", path);
	unlink(aside);
	unlink(path);
	snapshot_put(snap);
	router_fini(&router);
}

static void
begin(void)
{
	struct netlist_view view = { .n_vls = 8 };
	struct netlist nl = { 0 };
	struct fm_error err;
	int fd;

	if (snap != NULL)
		return;
	must(generate_words("torus 3x3 1", &nl, &err) == 0);
	must(netlist_snapshot(&nl, &view, &snap, &err) == 0);
	netlist_fini(&nl);
	must(router_init(&router, 1, &err) == 0);
	snprintf(path, sizeof(path), "/tmp/fmd-fuzz-plan-XXXXXX");
	fd = mkstemp(path);
	must(fd >= 0 && close(fd) == 0 && atexit(leave) == 0);
}

static struct plan *
make_plan(unsigned shapes)
{
	struct fm_error err;
	struct plan *p = plan_new(snap, &err);
	struct fm_tables *t;

	must(p != NULL);
	p->graph = snapshot_get(snap);
	p->top_lid = snap->fab.max_lid;
	snprintf(p->engine, sizeof(p->engine), "someone");
	must(tables_new(router.tables, router.workers, &snap->fab, FM_PROVIDES_LFT | FM_PROVIDES_SL,
		 0, &p->tables, &err) == 0);
	t = &p->tables->t;
	t->sl_shape = (enum fm_sl_shape)(shapes % 3);
	t->sl2vl_shape = (enum fm_sl2vl_shape)(shapes / 3 % 3);
	t->n_vls_used = 2;
	return p;
}

/* The file as it would be, changed. */
static size_t
change(uint8_t *file, size_t n, const uint8_t *data, size_t size)
{
	uint64_t sum, length;

	for (; size >= 3; data += 3, size -= 3) {
		size_t at = (size_t)(data[0] << 8 | data[1]);

		if (at < n)
			file[at] = data[2];
		else
			n -= n > SUM_FROM + 8u + data[2] ? data[2] : 0;
	}
	length = n;
	memcpy(file + SUM_FROM, &length, sizeof(length));
	sum = fm_hash_bytes(0, file + SUM_FROM, n - SUM_FROM);
	memcpy(file + SUM_AT, &sum, sizeof(sum));
	return n;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t file[FILE_MOST];
	struct plan *p, *got = NULL;
	struct fm_error err = { 0 };
	FILE *f;
	size_t n;

	if (size == 0)
		return 0;
	fuzz_be_quiet();
	begin();
	p = make_plan(data[0]);
	must(plan_file_save(path, p, MARK, &err) == 0);
	plan_put(p);
	must((f = fopen(path, "re")) != NULL);
	n = fread(file, 1, sizeof(file), f);
	fclose(f);
	must(n > SUM_FROM + 8 && n < sizeof(file));
	n = change(file, n, data + 1, size - 1);
	must((f = fopen(path, "we")) != NULL && fwrite(file, 1, n, f) == n && fclose(f) == 0);
	must(plan_file_load(path, &router, snap, MARK, 0, &got, &err) == 0);
	if (got != NULL) {
		const struct fm_tables *t = &got->tables->t;
		unsigned x = 0;

		for (fm_sw sw = 0; sw < snap->fab.n_switches; sw++)
			for (uint32_t lid = 0; lid <= got->snap->fab.max_lid; lid++)
				x ^= t->lft[sw][lid];
		must(x < 256 && t->sl_shape <= FM_SL_BY_SW_DLID);
	}
	plan_put(got);
	return 0;
}
