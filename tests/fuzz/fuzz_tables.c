/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as tables of a file, read as forwarding tables, as OpenSM's lid matrix, as SLs,
 * as SL2VL tables and as adaptive groups: an error with a sentence, or entries that
 * name ports, SLs and VLs which exist.
 */
#include <string.h>

#include "core/abi/host.h"
#include "core/graph/snapshot.h"
#include "core/plan/plan.h"
#include "core/route/route.h"
#include "lab/topo/netlist.h"
#include "plugins/engines/file/ar_file.h"
#include "plugins/engines/file/sl_file.h"
#include "plugins/engines/file/table_file.h"
#include "tests/fuzz/fuzz.h"

#define N_SWITCHES 2
#define LIDS 64 /* more than the fabric's */
#define AR_GROUPS 16

static const char fabric_text[] =
    "switchguid=0x1\nSwitch 4 \"s\" # \"s\" base port 0 lid 1 lmc 0\n"
    "[1] \"a\"[1](a1) # \"a\" lid 3 4xEDR\n[3] \"t\"[3] # \"t\" lid 2 4xEDR\n"
    "[4] \"t\"[4] # \"t\" lid 2 4xEDR\n\n"
    "switchguid=0x2\nSwitch 4 \"t\" # \"t\" base port 0 lid 2 lmc 0\n"
    "[1] \"b\"[1](b1) # \"b\" lid 4 4xEDR\n[3] \"s\"[3] # \"s\" lid 1 4xEDR\n"
    "[4] \"s\"[4] # \"s\" lid 1 4xEDR\n\n"
    "caguid=0xa0\nCa 1 \"a\" # \"a\"\n[1](a1) \"s\"[1] # lid 3 lmc 0 \"s\" lid 1 4xEDR\n\n"
    "caguid=0xb0\nCa 1 \"b\" # \"b\"\n[1](b1) \"t\"[1] # lid 4 lmc 0 \"t\" lid 2 4xEDR\n";

typedef int (*reader)(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_file *file, uint8_t *const *lft, struct fm_table_file *found,
    struct fm_error *err);

static struct snapshot *
fabric(void)
{
	static struct snapshot *snap;
	struct netlist_view view = { .n_vls = 2 };
	struct fm_error err;
	struct netlist nl;

	if (snap != NULL)
		return snap;
	must(netlist_parse("fabric", fabric_text, sizeof(fabric_text) - 1, &nl, &err) == 0);
	must(netlist_snapshot(&nl, &view, &snap, &err) == 0);
	netlist_fini(&nl);
	must(snap->fab.n_switches == N_SWITCHES && snap->fab.max_lid < LIDS);
	return snap;
}

static void
read_as(reader read, const struct fm_file *file)
{
	const struct fm_fabric *fab = &fabric()->fab;
	struct route_call call = { .budget_bytes = 1 << 20, .name = "file" };
	struct fm_table_file found = { 0 };
	uint8_t row[N_SWITCHES][LIDS], *lft[N_SWITCHES] = { row[0], row[1] };
	struct fm_error err = { 0 };
	struct route_host *host;
	struct fm_pool *pool = fm_pool_new(1);

	must(pool != NULL);
	host = route_host_new(pool, &err);
	must(host != NULL);
	memset(row, FM_PORT_NONE, sizeof(row));
	if (read(route_host_begin(host, &call), fab, file, lft, &found, &err) != 0)
		must(err.msg[0] != '\0');
	for (unsigned s = 0; s < N_SWITCHES; s++)
		for (unsigned lid = 0; lid < LIDS; lid++)
			must(row[s][lid] == FM_PORT_NONE || (row[s][lid] <= 4 && lid > 0));
	route_host_end(host);
	route_host_free(host);
	fm_pool_free(pool);
}

typedef int (*filler)(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_file *file, struct fm_tables *out, struct fm_error *err);

static struct router *
some_router(void)
{
	static struct router r;
	static bool is_there;
	struct fm_error err;

	if (!is_there)
		must(router_init(&r, 1, &err) == 0);
	is_there = true;
	return &r;
}

static void
fill_as(filler fill, const struct fm_file *file)
{
	const struct fm_fabric *fab = &fabric()->fab;
	struct route_call call = { .budget_bytes = 1 << 20, .name = "file" };
	struct router *r = some_router();
	struct fm_error err = { 0 };
	struct route_host *host = route_host_new(r->workers, &err);
	struct tables *tables;

	must(host != NULL);
	must(tables_new(r->tables, r->workers, fab,
		 FM_PROVIDES_LFT | FM_PROVIDES_SL | FM_PROVIDES_AR, AR_GROUPS, &tables, &err) == 0);
	if (fill(route_host_begin(host, &call), fab, file, &tables->t, &err) != 0)
		must(err.msg[0] != '\0');
	must(tables->t.n_vls_used <= 16);
	for (fm_sw sw = 0; sw < N_SWITCHES && tables->t.sl_shape == FM_SL_BY_SW_DLID; sw++)
		for (unsigned lid = 0; lid <= fab->max_lid; lid++)
			must(tables->t.sl[sw][lid] < 16 || tables->t.sl[sw][lid] == 0xff);
	route_host_end(host);
	route_host_free(host);
	tables_put(tables);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fm_file file = { .path = "tables", .bytes = (const char *)data, .n_bytes = size };

	fuzz_be_quiet();
	fill_as(fm_sl_file_paths, &file);
	fill_as(fm_sl_file_vls, &file);
	fill_as(fm_ar_file, &file);
	read_as(fm_table_file_lfts, &file);
	read_as(fm_table_file_matrix, &file);
	return 0;
}
