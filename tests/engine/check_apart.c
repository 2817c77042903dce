/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engines in processes of their own: the same tables as in this one, and whatever an engine
 * does, the sentence that says so, with fmd as it was.
 */
#include "config.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "core/abi/host.h"
#include "core/abi/plugin_check.h"
#include "core/engine/fallback.h"
#include "core/engine/plugin.h"
#include "core/apart/descriptor.h"
#include "core/route/route.h"
#include "lab/judge/props.h"
#include "lib/rng.h"
#include "tests/engine/routed.h"
#include "tests/folder.h"
#include "tests/run.h"

#define MODULES "tests/modules/.libs"
#define HOSTILE "tests/hostile/.libs"

static char folder[FOLDER_ROOM];
static const struct apart_settings apart = {
	.who = APART_ALL, .memory_bytes = (size_t)256 << 20, .load_ms = 60000
};
static struct engine_set set;
static const struct fabric tree = { .words = "pgft 2 6,6 1,6 1,1" };

static void
begin(void)
{
	folder_make(folder);
}

static void
end(void)
{
	engine_set_fini(&set);
	folder_remove(folder);
}

/* Module NAME alone in the folder, loaded. */
static const struct fm_engine *
load(const char *from, const char *name, const struct apart_settings *how)
{
	const char *dirs[] = { folder, NULL };
	struct fm_error err = { 0 };
	char command[256];

	snprintf(
	    command, sizeof(command), "cp --remove-destination %s/%s.so %s/", from, name, folder);
	ck_assert_int_eq(system(command), 0);
	ck_assert_msg(engine_set_load_apart(&set, dirs, how, &err) == 0, "%s", err.msg);
	return engine_find(&set, name);
}

/* ------------------------------------------------------------- as in this process */

static const struct {
	const char *engine, *words;
	const char *key, *value; /* an option, or NULL */
	uint16_t ar_max_groups;
} alike[] = {
	{ "minhop", "pgft 2 6,6 1,6 1,1", NULL, NULL, 0 },
	{ "updn", "random 30 4 2 7", NULL, NULL, 0 },
	{ "updn", "pgft 2 6,6 1,6 1,1", NULL, NULL, 16 },
	{ "fattree", "pgft 3 4,4,4 1,2,2 1,1,1", NULL, NULL, 0 },
	{ "dfsssp", "torus 4x4 2", NULL, NULL, 0 },
	{ "lash", "random 20 4 1 3", NULL, NULL, 0 },
	{ "torus2qos", "torus 4x5 1", NULL, NULL, 0 },
	{ "nue", "random 20 4 2 9", NULL, NULL, 0 },
	{ "template", "mesh 4x4 2", "root", "name:sw-1-1", 0 },
};

static void
route_one(struct routed *r, const struct fm_engine *engine, int i)
{
	struct setting root = { alike[i].key, { alike[i].value } };
	struct fabric f = { .words = alike[i].words };
	struct snapshot *snap = make(&f, false);
	void *opts;

	if (alike[i].ar_max_groups == 0) {
		route_with(r, engine, snap, &root, alike[i].key != NULL);
		return;
	}
	memset(r, 0, sizeof(*r));
	fm_arena_init(&r->mem, SIZE_MAX);
	ck_assert_int_eq(router_init(&r->router, 2, &r->err), 0);
	r->snap = snap;
	r->router.set.ar_max_groups = alike[i].ar_max_groups;
	for (fm_sw sw = 0; sw < snap->fab.n_switches; sw++) /* not all alike */
		((uint16_t *)(uintptr_t)snap->fab.sw_ar_groups)[sw] = (uint16_t)(sw % 5 * 4);
	ck_assert_int_eq(options_bind(engine, NULL, snap, &r->mem, &opts, &r->err), 0);
	r->rc = route_once(&r->router, engine, opts, &snap->fab, NULL, 0, &r->tables, &r->err);
}

static void
same_rows(uint8_t *const *a, uint8_t *const *b, uint32_t n, size_t n_bytes, const char *what)
{
	for (uint32_t i = 0; i < n; i++)
		ck_assert_msg(memcmp(a[i], b[i], n_bytes) == 0, "%s of switch %u differ", what, i);
}

START_TEST(tables_are_those_of_this_process)
{
	const char *name = alike[_i].engine;
	const struct fm_engine *engine = load("plugins/engines/.libs", name, &APART_NOTHING);
	struct routed here, there;
	struct engine_set first;
	const struct fm_fabric *fab;

	ck_assert_ptr_nonnull(engine);
	route_one(&here, engine, _i);
	ck_assert_msg(here.rc == 0, "%s: %s", name, here.err.msg);
	first = set;
	engine = load("plugins/engines/.libs", name, &apart);
	ck_assert_ptr_nonnull(engine);
	ck_assert_ptr_nonnull(apart_of(engine));
	for (int again = 0; again < 3; again++) {
		route_one(&there, engine, _i);
		fab = &there.snap->fab;
		ck_assert_msg(there.rc == 0, "%s: %s", name, there.err.msg);
		same_rows(here.tables->t.lft, there.tables->t.lft, fab->n_switches,
		    here.tables->t.lft_stride, "LFTs");
		ck_assert_int_eq(here.tables->t.sl_shape, there.tables->t.sl_shape);
		ck_assert_int_eq(here.tables->t.sl2vl_shape, there.tables->t.sl2vl_shape);
		ck_assert_int_eq(here.tables->t.n_vls_used, there.tables->t.n_vls_used);
		if (here.tables->t.sl_shape != FM_SL_ZERO)
			same_rows(here.tables->t.sl, there.tables->t.sl,
			    here.tables->t.sl_shape == FM_SL_BY_DLID ? 1 : fab->n_switches,
			    here.tables->t.lft_stride, "SLs");
		if (here.tables->t.sl2vl_shape == FM_SL2VL_BY_IN_OUT)
			ck_assert_mem_eq(here.tables->t.sl2vl, there.tables->t.sl2vl,
			    (size_t)here.tables->t.sl2vl_first[fab->n_switches] * 16);
		if (here.tables->t.sl2vl_shape == FM_SL2VL_BY_OUT)
			ck_assert_mem_eq(
			    here.tables->t.sl2vl, there.tables->t.sl2vl, (size_t)fab->n_links * 16);
		if (here.tables->t.ar_group != NULL) {
			ck_assert_uint_gt(there.tables->adaptive.n_groups, 0);
			ck_assert_mem_eq(&here.tables->adaptive, &there.tables->adaptive,
			    sizeof(here.tables->adaptive));
			ck_assert_uint_eq(props_digest(fab, &here.tables->t),
			    props_digest(fab, &there.tables->t));
		}
		routed_fini(&there);
	}
	routed_fini(&here);
	engine_set_fini(&first);
}
END_TEST

/* What it is, as it says it in either. */
START_TEST(descriptors_come_over)
{
	const struct fm_engine *here = load(MODULES, "good", &APART_NOTHING), *there;
	struct engine_set first = set;
	struct option_table a = option_table_of(here), b;

	there = load(MODULES, "good", &apart);
	b = option_table_of(there);
	ck_assert_str_eq(here->name, there->name);
	ck_assert_str_eq(here->summary, there->summary);
	ck_assert_str_eq(there->aliases[0], "fine");
	ck_assert_ptr_null(there->aliases[1]);
	ck_assert_uint_eq(a.bytes, b.bytes);
	for (size_t i = 0;; i++) {
		const struct fm_option *x = option_row(&a, i), *y = option_row(&b, i);

		ck_assert((x == NULL) == (y == NULL));
		if (x == NULL)
			break;
		ck_assert_str_eq(x->name, y->name);
		ck_assert_str_eq(x->def, y->def);
		ck_assert_str_eq(x->help, y->help);
		ck_assert(x->type == y->type && x->offset == y->offset && x->min == y->min &&
		    x->max == y->max);
		ck_assert((x->choices == NULL) == (y->choices == NULL));
	}
	engine_set_fini(&first);
}
END_TEST

/* What a child says of itself, changed in any byte or cut: read, judged, never a crash. */
START_TEST(mad_descriptors)
{
	const struct fm_engine *good = load(MODULES, "good", &APART_NOTHING);
	static unsigned char said[65536], mad[65536];
	size_t n = descriptor_write(good, said, sizeof(said)), n_read = 0;
	struct fm_rng rng = { 0 };

	ck_assert_uint_gt(n, 0);
	fm_rng_seed(&rng, 3);
	for (uint32_t k = 0; k < n_cases(20000); k++) {
		struct fm_engine e = { .route = good->route };
		struct fm_error err = { 0 };
		struct fm_arena mem;
		size_t cut = k % 5 == 0 ? fm_rng_below(&rng, (uint32_t)n) : n;

		memcpy(mad, said, n);
		for (uint32_t c = fm_rng_below(&rng, 5); c > 0; c--)
			mad[fm_rng_below(&rng, (uint32_t)n)] =
			    (unsigned char)fm_rng_below(&rng, 256);
		fm_arena_init(&mem, (size_t)4 << 20);
		if (descriptor_read(mad, cut, &mem, &e, &err) == 0) {
			e.option_row_size = sizeof(struct fm_option);
			n_read++;
			(void)engine_check_copy(&e, "mad.so", &err);
		}
		fm_arena_fini(&mem);
	}
	ck_assert_uint_gt(n_read, 0);
}
END_TEST

START_TEST(options_come_over)
{
	char path[64];
	const struct setting settings[] = { { "deed", { "read" } }, { "roots", { "name:spine-*" } },
		{ "order", { "name:leaf-1", "name:leaf-2", "name:leaf-3" } },
		{ "weights", { "0x2c90000000001 1 77" } }, { "text", { path } } };
	const struct fm_engine *engine = load(HOSTILE, "hostile", &apart);
	struct routed r;

	snprintf(path, sizeof(path), "%s/text", folder);
	folder_write(folder, "text", "12345678");
	route_with(&r, engine, make(&tree, false), settings, 5);
	ck_assert_int_eq(r.rc, FM_E_TOPOLOGY);
	ck_assert_msg(strstr(r.err.msg, "6 roots, 3 sets, 1 rows of 77, 12345678, ") != NULL, "%s",
	    r.err.msg);
	ck_assert_msg(strstr(r.err.msg, "leaf-1, host-6-6, prev -1") != NULL ||
		strstr(r.err.msg, ", prev -1") != NULL,
	    "%s", r.err.msg);
	routed_fini(&r);
}
END_TEST

/* ------------------------------------------------------------------ hostile ones */

static const struct {
	const char *deed, *says; /* NULL: the tables are taken */
} deeds[] = {
	{ "nothing", NULL },
	{ "crash", "its process was killed by signal 11 (SIGSEGV)" },
	{ "abort", "its process was killed by signal 6 (SIGABRT)" },
	{ "exit", "its process exited with status 3" },
	{ "spin", "it did not end within its time limit of 300ms" },
	{ "allocate", "its process was killed by signal 6 (SIGABRT)" },
	{ "ahead", "its process was killed by signal 11 (SIGSEGV)" },
	{ "behind", "its process was killed by signal 11 (SIGSEGV)" },
	{ "padding", "it wrote behind a row of switch 0x" },
	{ "fabric", "its process was killed by signal 11 (SIGSEGV)" },
	{ "socket", "its process was killed by signal 31 (SIGSYS): it made a system call" },
	{ "fork", "its process was killed by signal 31 (SIGSYS)" },
	{ "thread", "its process was killed by signal 31 (SIGSYS)" },
	{ "exec", "its process was killed by signal 31 (SIGSYS)" },
	{ "kill", "its process was killed by signal 31 (SIGSYS)" },
	{ "trace", "its process was killed by signal 31 (SIGSYS)" },
	{ "write", NULL },
	{ "read", NULL },
	{ "limits", "its process was killed by signal 31 (SIGSYS)" },
	{ "vls", "engine hostile answers n_vls_used = 200, beyond the budget of 8 VLs" },
	{ "shape", "engine hostile writes SLs without FM_PROVIDES_SL" },
	{ "answer", "the engine answers 12345 and ????????" },
	{ "mute", "the engine answers -2 without a reason" },
	{ "babble", "it talks without end" },
	{ "junk", "what its process answers is no answer" },
	{ "hangup", "its process hung up on fmd" },
	{ "refuse", "not this fabric of 12 switches" },
};

static void
route_deed(struct routed *r, const struct fm_engine *engine, const char *deed)
{
	const struct setting settings[] = { { "deed", { deed } }, { "file", { "/etc/passwd" } } };
	struct option_table table = option_table_of(engine);
	struct option_values *values;
	void *opts;

	memset(r, 0, sizeof(*r));
	fm_arena_init(&r->mem, SIZE_MAX);
	ck_assert_int_eq(router_init(&r->router, 2, &r->err), 0);
	r->snap = make(&tree, false);
	values = option_values_new(&r->mem, &table, engine->name);
	set_options(values, settings, 2);
	ck_assert_int_eq(options_bind(engine, values, r->snap, &r->mem, &opts, &r->err), 0);
	r->rc = route_once(&r->router, engine, opts, &r->snap->fab, NULL,
	    strcmp(deed, "spin") == 0 ? 300 : 600000, &r->tables, &r->err);
}

START_TEST(whatever_it_does_has_a_sentence)
{
	const struct fm_engine *engine = load(HOSTILE, "hostile", &apart);
	struct routed r;

	ck_assert_ptr_nonnull(engine);
#ifdef UNDER_SANITIZER
	if (strcmp(deeds[_i].deed, "allocate") == 0)
		return; /* there address space has no limit */
#endif
	route_deed(&r, engine, deeds[_i].deed);
	if (deeds[_i].says == NULL)
		ck_assert_msg(r.rc == 0, "%s", r.err.msg);
	else
		ck_assert_msg(
		    r.rc != 0 && strncmp(r.err.msg, deeds[_i].says, strlen(deeds[_i].says)) == 0,
		    "%d: %s", r.rc, r.err.msg);
	routed_fini(&r);
	/* and the next call is a new one */
	route_deed(&r, engine, "nothing");
	ck_assert_msg(r.rc == 0, "%s", r.err.msg);
	routed_fini(&r);
}
END_TEST

/* Rows are looked at when nobody else can write into them any more. */
START_TEST(nobody_writes_after_the_answer)
{
	const struct fm_engine *engine = load(HOSTILE, "hostile", &apart);
	struct routed r;
	uint8_t was;

	route_deed(&r, engine, "afterwards");
	ck_assert_msg(r.rc == 0, "%s", r.err.msg);
	was = r.tables->t.lft[0][1];
	for (int i = 0; i < 10000000; i++)
		ck_assert(((volatile uint8_t *)r.tables->t.lft[0])[1] == was);
	routed_fini(&r);
}
END_TEST

/* Told to stop, nobody waits for it. */
static void *
cancel_soon(void *arg)
{
	const struct timespec nap = { .tv_nsec = 50000000 };
	struct router *r = arg;

	nanosleep(&nap, NULL);
	route_host_cancel(r->host);
	return NULL;
}

START_TEST(who_spins_is_left)
{
	const struct fm_engine *engine = load(HOSTILE, "hostile", &apart);
	const struct setting spin = { "deed", { "spin" } };
	struct option_table table = option_table_of(engine);
	struct option_values *values;
	struct routed r = { 0 };
	pthread_t thread;
	void *opts;

	fm_arena_init(&r.mem, SIZE_MAX);
	ck_assert_int_eq(router_init(&r.router, 2, &r.err), 0);
	r.snap = make(&tree, false);
	values = option_values_new(&r.mem, &table, engine->name);
	set_options(values, &spin, 1);
	ck_assert_int_eq(options_bind(engine, values, r.snap, &r.mem, &opts, &r.err), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, cancel_soon, &r.router), 0);
	r.rc = route_once(&r.router, engine, opts, &r.snap->fab, NULL, 0, &r.tables, &r.err);
	pthread_join(thread, NULL);
	ck_assert_int_eq(r.rc, FM_E_CANCELLED);
	routed_fini(&r);
}
END_TEST

static const struct {
	const char *module, *says; /* NULL: it is taken */
} loads[] = {
	{ "load_abort", "its process was killed by signal 6 (SIGABRT) while it was loaded" },
	{ "load_exit", "its process exited with status 0 while it was loaded" },
	{ "load_spin", "it was not loaded within 500ms" },
	{ "load_socket", "its process was killed by signal 31 (SIGSYS)" },
	{ "load_write", NULL },
	{ "bad_route", "no route callback" },
	{ "bad_symbol", "undefined symbol: nobody_defines_this" },
	{ "bad_option", "option depth: default: depth = 99 is outside 1..64 hops" },
	{ "bad_name", "it calls itself 'someone_else'" },
};

START_TEST(what_is_loaded_there_has_a_sentence)
{
	struct apart_settings how = apart;
	const struct fm_engine *engine;

	how.load_ms = strcmp(loads[_i].module, "load_spin") == 0 ? 500 : 60000;
	engine = load(
	    strncmp(loads[_i].module, "load_", 5) == 0 ? HOSTILE : MODULES, loads[_i].module, &how);
	if (loads[_i].says == NULL) {
		ck_assert_ptr_nonnull(engine);
		ck_assert_int_ne(access("/tmp/fmd-engine-was-here", F_OK), 0);
		return;
	}
	ck_assert_ptr_null(engine);
	ck_assert_uint_eq(set.n_refused, 1);
	ck_assert_msg(strncmp(set.refused[0].reason, folder, strlen(folder)) == 0 &&
		strstr(set.refused[0].reason, loads[_i].says) != NULL,
	    "%s", set.refused[0].reason);
}
END_TEST

/* The chain goes on. */
START_TEST(the_next_entry_goes_on)
{
	const struct fm_engine *engine = load(HOSTILE, "hostile", &apart);
	const struct setting crash = { "deed", { "crash" } };
	struct option_table table = option_table_of(engine);
	struct chain_entry entry = { .engine = engine, .name = "hostile", .time_limit_ms = 60000 };
	struct chain chain = { .entries = &entry, .n_entries = 1, .fallback = true };
	struct plan_request q = { .chain = &chain };
	struct routed r = { 0 };
	struct option_values *values;
	struct plan *plan = NULL;

	fm_arena_init(&r.mem, SIZE_MAX);
	ck_assert_int_eq(router_init(&r.router, 2, &r.err), 0);
	r.snap = make(&tree, false);
	values = option_values_new(&r.mem, &table, "hostile");
	set_options(values, &crash, 1);
	entry.values = values;
	q.snap = r.snap;
	ck_assert_msg(plan_make(&r.router, &q, &plan, &r.err) == 0, "%s", r.err.msg);
	ck_assert_str_eq(plan->engine, fallback_engine.name);
	ck_assert_uint_eq(plan->refused.n, 1);
	ck_assert_ptr_nonnull(strstr(plan->refused.item[0].reason, "SIGSEGV"));
	plan_put(plan);
	routed_fini(&r);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("apart");
	TCase *tc = tcase_create("apart");

	if (!apart_is_built())
		return 77; /* without libseccomp */
	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_loop_test(
	    tc, tables_are_those_of_this_process, 0, sizeof(alike) / sizeof(*alike));
	tcase_add_test(tc, descriptors_come_over);
	tcase_add_test(tc, mad_descriptors);
	tcase_add_test(tc, options_come_over);
	tcase_add_loop_test(tc, whatever_it_does_has_a_sentence, 0, sizeof(deeds) / sizeof(*deeds));
	tcase_add_loop_test(
	    tc, what_is_loaded_there_has_a_sentence, 0, sizeof(loads) / sizeof(*loads));
	tcase_add_test(tc, nobody_writes_after_the_answer);
	tcase_add_test(tc, who_spins_is_left);
	tcase_add_test(tc, the_next_entry_goes_on);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
