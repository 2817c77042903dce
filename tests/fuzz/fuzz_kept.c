/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kept nodes with any of their bytes changed, their sum made right again: they are taken or set
 * aside.  What is taken has the LIDs of the store and can be answered from, and of that only what
 * is there is left when it is held against the fabric.
 *
 * The input is a row of changes: two bytes of place and one of what stands there then; a
 * place beyond the end cuts the file.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/plan/plan_file.h"
#include "core/sa/path.h"
#include "core/view/kept.h"
#include "tests/fuzz/house.h"

#define MARK 77
#define FILE_MOST 65536

static struct house house; /* is moved in once */
static struct sa_settings set = { .gid_prefix = 0xfe80000000000000 };
static struct store *store;
static char dir[64], nodes[96], tables[96];
static uint8_t whole[FILE_MOST];
static size_t n_whole;
static uint64_t own_guid;

static void
leave(void)
{
	static const char *const names[] = { "nodes", "nodes.bad", "tables", "tables.bad",
		"data.mdb", "lock.mdb", "lids.mdb", "lids.mdb-lock", "pending", "lock" };
	char path[128];

	store_close(store);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	rmdir(dir);
	move_out(&house);
}

static void
keep(void)
{
	struct sa_view_source src = { .set = &set };
	struct fm_error err = { 0 };
	struct sa_view *v;
	uint64_t sum = 0;
	FILE *f;

	src.inv = sweeper_inventory(house.sweeper);
	src.plan = (struct plan *)(uintptr_t)sweeper_plan(house.sweeper);
	must(sa_view_begin(&src, &v, &err) == 0 && sa_view_finish(v, NULL, NULL, &err) == 0);
	must(sa_kept_save(nodes, v, &sum, &err) == 0);
	must(plan_file_save(tables, src.plan, MARK, &err) == 0);
	for (uint32_t i = 0; i < v->n_ends; i++) {
		struct store_lid one = { v->end[i].guid, v->end[i].lid, v->end[i].lmc };

		must(store_put_lids(store, &one, 1, &err) == 0);
	}
	own_guid = v->end[v->self].guid;
	sa_view_put(v);
	must((f = fopen(nodes, "re")) != NULL);
	n_whole = fread(whole, 1, sizeof(whole), f);
	fclose(f);
	must(n_whole > sizeof(struct sa_kept_head) && n_whole < sizeof(whole));
}

static void
begin(void)
{
	struct fm_error err;

	if (store != NULL)
		return;
	fuzz_be_quiet();
	move_in(&house);
	sweeper_request(house.sweeper, SWEEP_HEAVY, "fuzz");
	settle(&house);
	snprintf(dir, sizeof(dir), "%s/fmd-fuzz-kept-XXXXXX",
	    access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	must(mkdtemp(dir) != NULL);
	snprintf(nodes, sizeof(nodes), "%s/nodes", dir);
	snprintf(tables, sizeof(tables), "%s/tables", dir);
	must(store_open(dir, &store, &err) == 0 && atexit(leave) == 0);
	keep();
}

/* The file as it would be, changed. */
static void
write_changed(const uint8_t *data, size_t size)
{
	static uint8_t file[FILE_MOST];
	size_t n = n_whole;
	FILE *f;

	memcpy(file, whole, n);
	for (; size >= 3; data += 3, size -= 3) {
		size_t at = (size_t)(data[0] << 8 | data[1]);

		if (at < n)
			file[at] = data[2];
		else
			n -= n > sizeof(struct sa_kept_head) + data[2] ? data[2] : 0;
	}
	fm_seal_put(file, n, SA_KEPT_MAGIC);
	must((f = fopen(nodes, "we")) != NULL && fwrite(file, 1, n, f) == n && fclose(f) == 0);
}

/* Whatever can be asked of it. */
static void
answer_from(const struct sa_kept *k)
{
	struct sa_view_source src = { .inv = &k->inv,
		.plan = k->plan,
		.set = &set,
		.pkeys = k->pkeys,
		.basis = SA_VIEW_KEPT };
	struct sa_hop hop[SA_MOST_HOPS];
	struct fm_error err = { 0 };
	struct sa_path path;
	struct sa_view *v;
	unsigned n;

	must(sa_view_begin(&src, &v, &err) == 0);
	if (sa_view_finish(v, NULL, NULL, &err) != 0)
		must(err.msg[0] != '\0');
	else
		for (uint32_t i = 0; i < v->n_ends; i++) {
			const struct sa_end *e = &v->end[i];

			must(store_lid(store, e->guid) == e->lid);
			for (uint32_t to = 0; to < v->n_ends; to++) {
				(void)sa_path_find(v, i, e->lid, v->end[to].lid, &path);
				(void)sa_path_walk(v, i, v->end[to].lid, hop, &n);
			}
		}
	sa_view_put(v);
}

/* Is each end that is left one of the fabric? */
static void
expect_right(const struct sa_kept *k)
{
	const struct inventory *inv = sweeper_inventory(house.sweeper);

	for (uint32_t i = 0; i < k->inv.nodes.n; i++) {
		const struct inv_node *n = inv_node(&k->inv, i);

		for (unsigned p = 0; n->present && p <= n->n_ports; p++) {
			uint32_t at = inv_find(inv, n->guid);

			if (n->ports[p].edge != EDGE_LINKED)
				continue;
			must(at != INV_NONE && inv_node(inv, at)->present);
			must(inv_node(inv, at)->ports[p].edge == EDGE_LINKED);
			must(inv_is_switch(n) ||
			    inv_node(inv, at)->ports[p].info.lid == n->ports[p].lid);
		}
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sa_kept_source src = { .path = nodes,
		.tables = tables,
		.router = &house.router,
		.chain_mark = MARK,
		.set = &set };
	struct fm_error err = { 0 };
	const char *why = NULL;
	struct sa_kept *k;
	bool changed;

	begin();
	write_changed(data, size);
	src.store = store;
	src.own_guid = own_guid;
	must(sa_kept_load(&src, &k, &why, &err) == 0);
	must((k == NULL) == (why != NULL) && (size >= 3 || k != NULL));
	if (k != NULL) {
		answer_from(k);
		must(sa_kept_compare(k, sweeper_inventory(house.sweeper), true, &changed, &err) ==
		    0);
		answer_from(k);
		expect_right(k);
	}
	sa_kept_free(k);
	return 0;
}
