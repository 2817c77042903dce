/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An engine that was built for ABI 1.0 when that was frozen, tests/abi/1.0/frozen.so: it is
 * loaded and routes as it did then, in this process and in one of its own.  What it is handed it
 * looks at itself, field by field, by the header of 1.0.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/abi/host.h"
#include "core/engine/plugin.h"
#include "lab/judge/props.h"
#include "lib/log.h"
#include "tests/engine/routed.h"
#include "tests/folder.h"
#include "tests/run.h"

#undef fail /* check.h has an old macro of this name */

static char folder[FOLDER_ROOM];
static const struct apart_settings apart = {
	.who = APART_ALL, .memory_bytes = (size_t)256 << 20, .load_ms = 60000
};
static struct engine_set set;
static char heard[512];

static void
hear(void *arg, enum fm_log_level level, const char *subsystem, const char *text)
{
	if (strncmp(text, "switch ", 7) == 0 || strstr(text, ": switch ") != NULL)
		snprintf(heard, sizeof(heard), "%s", text);
}

/* A copy that nobody else may write, as the loader wants it. */
static void
copy_engine(const char *version)
{
	const char *top = getenv("srcdir") != NULL ? getenv("srcdir") : "..";
	static char bytes[1 << 20];
	char path[512];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/abi/%s/frozen.so", top, version);
	f = fopen(path, "rb");
	ck_assert_msg(f != NULL, "cannot open %s", path);
	n = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	snprintf(path, sizeof(path), "%s/frozen.so", folder);
	f = fopen(path, "wb");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

static void
begin(void)
{
	folder_make(folder);
	copy_engine("1.0");
}

static void
end(void)
{
	engine_set_fini(&set);
	folder_remove(folder);
}

/* is_apart: in a process of its own. */
static const struct fm_engine *
load(bool is_apart)
{
	const char *dirs[] = { folder, NULL };
	struct fm_error err = { 0 };

	engine_set_fini(&set);
	ck_assert_msg(
	    engine_set_load_apart(&set, dirs, is_apart ? &apart : &APART_NOTHING, &err) == 0, "%s",
	    err.msg);
	ck_assert_msg(set.n_refused == 0, "%s", set.refused[0].reason);
	ck_assert_ptr_nonnull(engine_find(&set, "frozen"));
	ck_assert_ptr_eq(engine_find(&set, "frozen-engine"), engine_find(&set, "frozen"));
	return engine_find(&set, "frozen");
}

static const struct fabric fabrics[] = {
	{ .words = "pgft 2 6,6 1,6 1,1" },
	{ .words = "pgft 2 4,4 1,4 1,2", .links_pct = 10, .lmc = 1 },
	{ .words = "torus 4x4 2" },
	{ .words = "dragonfly 4 2 2" },
	{ .words = "random 20 4 2 9", .n_switches = 2 },
	{ .words = "mesh 3x3 1" },
};
#define N_FABRICS (int)(sizeof(fabrics) / sizeof(*fabrics))

START_TEST(it_is_loaded_and_routes)
{
	const struct fm_engine *engine = load(false);
	struct props p = { .engine = engine, .snap = make(&fabrics[_i], false), .n_vls = 4 };
	struct props_found found = { 0 };
	uint64_t n_allocs = 0;
	char report[640] = "";

	ck_assert_int_eq(engine->abi_major, 1);
	ck_assert_int_eq(engine->abi_minor, 0);
	ck_assert_str_eq(engine->summary, "An engine of ABI 1.0, for ever.");
	p.found = &found;
	p.pairs_may_lack = fabrics[_i].n_switches > 0 || fabrics[_i].links_pct > 0;
	ck_assert_msg(props_check(&p, &n_allocs, report, sizeof(report)) == PROPS_HOLD, "%s: %s",
	    fabrics[_i].words, report);
	ck_assert_uint_gt(n_allocs, 0);
	ck_assert_uint_gt(found.verdict.reachable_pairs, 0);
	ck_assert_uint_eq(found.verdict.credit_loops, 0);
	ck_assert_uint_eq(found.verdict.vls, 2);
	ck_assert(found.asks);
	snapshot_put(p.snap);
}
END_TEST

static void
route_with_groups(struct routed *r, const struct fm_engine *engine, struct snapshot *snap)
{
	struct fm_arena mem;
	void *opts;

	memset(r, 0, sizeof(*r));
	fm_arena_init(&r->mem, SIZE_MAX);
	fm_arena_init(&mem, SIZE_MAX);
	ck_assert_int_eq(router_init(&r->router, 2, &r->err), 0);
	r->snap = snap;
	r->router.set.ar_max_groups = 9;
	ck_assert_int_eq(options_bind(engine, NULL, snap, &mem, &opts, &r->err), 0);
	r->rc = route_once(&r->router, engine, opts, &snap->fab, NULL, 0, &r->tables, &r->err);
	ck_assert_msg(r->rc == 0, "%s", r->err.msg);
	fm_arena_fini(&mem);
}

/* A switch that can hold no group stays static, and the entries are counted. */
START_TEST(it_gives_groups)
{
	const struct fm_engine *engine = load(_i == 1);
	struct snapshot *snap = make(&fabrics[0], false);
	uint16_t *can = (uint16_t *)(uintptr_t)snap->fab.sw_ar_groups;
	struct adaptive_counts all, some;
	struct verify_request req = { .n_vls = 8 };
	struct verdict v;
	struct routed r;

	route_with_groups(&r, engine, snapshot_get(snap));
	all = r.tables->adaptive;
	ck_assert_uint_gt(all.n_adaptive, 0);
	ck_assert_uint_eq(all.n_dropped, 0);
	routed_fini(&r);
	for (fm_sw sw = 0; sw < snap->fab.n_switches; sw++)
		can[sw] = sw % 2;
	route_with_groups(&r, engine, snapshot_get(snap));
	some = r.tables->adaptive;
	ck_assert_uint_gt(some.n_adaptive, 0);
	ck_assert_uint_lt(some.n_adaptive, all.n_adaptive);
	ck_assert_uint_gt(some.n_dropped, 0);
	ck_assert_int_eq(verify_tables(snap, &r.tables->t, &req, r.router.workers, &v, &r.err), 0);
	ck_assert_msg(v.fault == VERIFY_OK && v.credit_loops == 0, "%s", v.witness);
	routed_fini(&r);
	snapshot_put(snap);
}
END_TEST

/* tests/abi/draft has the same engine as it was built while 1.0 was written. */
START_TEST(a_draft_of_it_is_refused)
{
	const char *dirs[] = { folder, NULL };
	struct fm_error err = { 0 };

	copy_engine("draft");
	ck_assert_int_eq(
	    engine_set_load_apart(&set, dirs, _i == 1 ? &apart : &APART_NOTHING, &err), 0);
	ck_assert_ptr_null(engine_find(&set, "frozen"));
	ck_assert_uint_eq(set.n_refused, 1);
	ck_assert_msg(strstr(set.refused[0].reason,
			  "frozen.so: descriptor of 72 bytes, engine ABI 1.0 has 64") != NULL,
	    "%s", set.refused[0].reason);
}
END_TEST

/* The same tables as in this process. */
START_TEST(it_routes_in_a_process_of_its_own)
{
	struct snapshot *snap = make(&fabrics[_i], false);
	struct routed here, there;

	route(&here, load(false), snapshot_get(snap));
	route(&there, load(true), snapshot_get(snap));
	ck_assert_ptr_nonnull(apart_of(engine_find(&set, "frozen")));
	ck_assert_uint_eq(
	    props_digest(&snap->fab, &here.tables->t), props_digest(&snap->fab, &there.tables->t));
	routed_fini(&here);
	routed_fini(&there);
	snapshot_put(snap);
}
END_TEST

/* Options of every type, written and not, as it sees them; GUIDs, which it logs. */
START_TEST(it_sees_its_options)
{
	const struct fm_engine *engine = load(_i == 1);
	struct snapshot *snap = make(&fabrics[0], false);
	const struct fm_fabric *fab = &snap->fab;
	char path[160], guid[32], row[64], wanted[512];
	struct setting written[] = { { "tell", { "yes" } }, { "number", { "-100" } },
		{ "wait", { "250ms" } }, { "colour", { "blue" } }, { "word", { "hello" } },
		{ "root", { guid } }, { "list", { guid, "name:host-*" } }, { "values", { row } },
		{ "file", { path } } };
	fm_end end;
	struct routed r;

	folder_write(folder, "text", "some bytes");
	snprintf(path, sizeof(path), "%s/text", folder);
	snprintf(guid, sizeof(guid), "0x%llx", (unsigned long long)fab->sw_guid[1]);
	snprintf(row, sizeof(row), "%s 3 42", guid);
	route_with(&r, engine, snapshot_get(snap), written, 1);
	ck_assert_int_eq(r.rc, FM_E_TOPOLOGY);
	ck_assert_str_eq(r.err.msg,
	    "number=7 wait=2000 colour=green word=none root=0:0/0 list=0:0 values=0:none:0:0 "
	    "file=none:0");
	snprintf(wanted, sizeof(wanted), "switch %llx %llx %x %x %u, end %llx %llx %llx",
	    (unsigned long long)fab->sw_guid[0], (unsigned long long)fab->sw_system_guid[0],
	    fab->sw_vendor_id[0], fab->sw_device_id[0], fab->sw_lft_entries[0],
	    (unsigned long long)fab->end_guid[0], (unsigned long long)fab->end_node_guid[0],
	    (unsigned long long)fab->end_system_guid[0]);
	ck_assert_msg(strstr(heard, wanted) != NULL, "'%s' is not in '%s'", wanted, heard);
	routed_fini(&r);
	route_with(&r, engine, snapshot_get(snap), written, sizeof(written) / sizeof(*written));
	ck_assert_int_eq(r.rc, FM_E_TOPOLOGY);
	snprintf(wanted, sizeof(wanted),
	    "number=-100 wait=250 colour=blue word=hello root=1:1/1 list=2:1 values=1:%s:3:42 "
	    "file=some bytes:10",
	    fab->sw_name[1]);
	ck_assert_str_eq(r.err.msg, wanted);
	routed_fini(&r);
	/* the GUID of an end */
	for (end = 0; fab->end_kind[end] != FM_END_CA;)
		end++;
	snprintf(row, sizeof(row), "0x%llx 1 -5", (unsigned long long)fab->end_guid[end]);
	route_with(&r, engine, snapshot_get(snap), written, sizeof(written) / sizeof(*written));
	snprintf(wanted, sizeof(wanted), "values=1:%s:1:-5 ", fab->end_name[end]);
	ck_assert_msg(strstr(r.err.msg, wanted) != NULL, "'%s' is not in '%s'", wanted, r.err.msg);
	routed_fini(&r);
	snapshot_put(snap);
}
END_TEST

/* Of two ports that are as good the one in use stays, and nothing else changes. */
START_TEST(it_sees_the_tables_in_use)
{
	const struct fm_engine *engine = load(_i == 1);
	struct snapshot *snap = make(&fabrics[0], false);
	const struct fm_fabric *fab = &snap->fab;
	struct tables *again = NULL;
	struct fm_arena mem;
	struct routed r;
	uint8_t *row, other = FM_PORT_NONE;
	uint32_t lid = 0;
	void *opts;
	fm_sw leaf = 0;

	route(&r, engine, snapshot_get(snap));
	row = r.tables->t.lft[leaf];
	/* a host of another leaf: any way up is as good */
	for (uint32_t i = 1; i <= fab->max_lid && lid == 0; i++)
		if (fab->lid_end[i] != FM_NONE && fm_link_at(fab, leaf, row[i]) != FM_NONE &&
		    fab->end_kind[fab->lid_end[i]] == FM_END_CA)
			lid = i;
	ck_assert_uint_gt(lid, 0);
	for (fm_link l = fab->sw_first_link[leaf]; l < fab->sw_first_link[leaf + 1]; l++)
		if (fab->link_port[l] != row[lid])
			other = fab->link_port[l];
	row[lid] = other;
	fm_arena_init(&mem, SIZE_MAX);
	ck_assert_int_eq(options_bind(engine, NULL, snap, &mem, &opts, &r.err), 0);
	ck_assert_int_eq(
	    route_once(&r.router, engine, opts, fab, &r.tables->t, 0, &again, &r.err), 0);
	for (fm_sw s = 0; s < fab->n_switches; s++)
		ck_assert_mem_eq(again->t.lft[s], r.tables->t.lft[s], fab->max_lid + 1u);
	tables_put(again);
	fm_arena_fini(&mem);
	routed_fini(&r);
	snapshot_put(snap);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("frozen");
	TCase *tc = tcase_create("frozen");

#ifndef __x86_64__
	printf("skipped: tests/abi/1.0/frozen.so is for x86-64\n");
	return 77;
#endif
	fm_log_set_sink(hear, NULL);
	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_loop_test(tc, it_is_loaded_and_routes, 0, N_FABRICS);
	tcase_add_loop_test(tc, a_draft_of_it_is_refused, 0, 1);
	tcase_add_loop_test(tc, it_gives_groups, 0, 1);
	tcase_add_loop_test(tc, it_sees_its_options, 0, 1);
	tcase_add_loop_test(tc, it_sees_the_tables_in_use, 0, 1);
	if (apart_is_built()) {
		tcase_add_loop_test(tc, it_routes_in_a_process_of_its_own, 0, N_FABRICS);
		tcase_add_loop_test(tc, a_draft_of_it_is_refused, 1, 2);
		tcase_add_loop_test(tc, it_gives_groups, 1, 2);
		tcase_add_loop_test(tc, it_sees_its_options, 1, 2);
		tcase_add_loop_test(tc, it_sees_the_tables_in_use, 1, 2);
	}
	tcase_set_timeout(tc, 120);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
