/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Steps laid over one another: with engines that write their own number
 * everywhere, against the rule read entry by entry; path bits, fallbacks and
 * steps that fail; SLs of several steps side by side; real engines with LMC,
 * verified.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/overlay/overlay.h"
#include "core/overlay/rchain.h"
#include "core/route/route.h"
#include "core/verify/verify.h"
#include "lib/bitset.h"
#include "lib/log.h"
#include "tests/run.h"
#include "tests/unit/generate_words.h"

#undef fail /* check.h has an old macro of this name */

extern const struct fm_engine minhop_LTX_fm_engine, updn_LTX_fm_engine, dfsssp_LTX_fm_engine;

static struct fm_arena mem;
static struct router router;
static struct snapshot *snap;
static struct rchain chain;
static struct tables *out;
static struct plan told; /* what overlay_route() tells */
static struct fm_error err;

/* ------------------------------------------------------------------ engines */

/* Every entry of the fabric it sees is n. */
static int
write_number(const struct fm_fabric *f, struct fm_tables *t, uint8_t n)
{
	for (fm_sw sw = 0; sw < f->n_switches; sw++)
		for (uint32_t lid = 1; lid <= f->max_lid; lid++)
			if (f->lid_end[lid] != FM_NONE &&
			    f->sw_first_end[sw] < f->sw_first_end[sw + 1])
				t->lft[sw][lid] = n;
	return 0;
}

#define NUMBERED(n) \
	static int route_##n(const struct fm_host *h, const struct fm_fabric *f, \
	    const struct fm_request *q, const void *o, struct fm_tables *t, struct fm_error *e) \
	{ \
		return write_number(f, t, n); \
	} \
	static const struct fm_engine number_##n = { .magic = FM_ABI_MAGIC, \
		.size = sizeof(struct fm_engine), \
		.name = "number-" #n, \
		.traits = FM_PROVIDES_LFT, \
		.route = route_##n }
NUMBERED(1);
NUMBERED(2);
NUMBERED(3);
NUMBERED(4);

static int
route_not(const struct fm_host *h, const struct fm_fabric *f, const struct fm_request *q,
    const void *o, struct fm_tables *t, struct fm_error *e)
{
	return h->fail(h, e, FM_E_TOPOLOGY, "not today");
}
static const struct fm_engine never = { .magic = FM_ABI_MAGIC,
	.size = sizeof(struct fm_engine),
	.name = "never",
	.traits = FM_PROVIDES_LFT,
	.route = route_not };

/* SL 1 to odd LIDs, each SL on a VL of its own. */
static int
route_odd(const struct fm_host *h, const struct fm_fabric *f, const struct fm_request *q,
    const void *o, struct fm_tables *t, struct fm_error *e)
{
	write_number(f, t, 5);
	t->sl_shape = FM_SL_BY_DLID;
	t->sl2vl_shape = FM_SL2VL_BY_OUT;
	t->n_vls_used = 2;
	for (uint32_t lid = 1; lid <= f->max_lid; lid++)
		t->sl[0][lid] = lid % 2;
	for (fm_link l = 0; l < f->n_links; l++)
		for (unsigned sl = 0; sl < 16; sl++)
			t->sl2vl[(size_t)l * 16 + sl] = sl == 1;
	return 0;
}
static const struct fm_engine odd = { .magic = FM_ABI_MAGIC,
	.size = sizeof(struct fm_engine),
	.name = "odd",
	.traits = FM_PROVIDES_LFT | FM_PROVIDES_SL,
	.route = route_odd };

static const struct fm_engine *const engines[] = { &number_1, &number_2, &number_3, &number_4,
	&never, &odd, &minhop_LTX_fm_engine, &updn_LTX_fm_engine, &dfsssp_LTX_fm_engine };

/* -------------------------------------------------------------------- set up */

static const char groups[] =
    "port-group\nname: low\nport-regexp: ^leaf-[12]$|^spine\nend-port-group\n"
    "port-group\nname: few\nport-regexp: ^host-[14]-\nend-port-group\n"
    "port-group\nname: leaf3\nport-regexp: ^leaf-3$\nend-port-group\n";
static const char topologies[] = "topology\nid: 1\nsw-grp: low\nhca-grp: few\nend-topology\n"
				 "topology\nid: 2\nsw-grp: leaf3\nhca-grp: ALL_CAS\nend-topology\n";

static struct fm_file
file_of(const char *path, const char *text)
{
	return (struct fm_file){ path, text, strlen(text) };
}

static void
begin(const char *words, uint8_t lmc)
{
	struct netlist_view view = { .n_vls = 8, .ca_lmc = lmc };
	struct netlist nl = { 0 };

	fm_log_set_level(FM_LOG_ERR);
	fm_arena_init(&mem, SIZE_MAX);
	ck_assert_int_eq(router_init(&router, 2, &err), 0);
	ck_assert_int_eq(generate_words(words, &nl, &err), 0);
	ck_assert_int_eq(netlist_snapshot(&nl, &view, &snap, &err), 0);
	netlist_fini(&nl);
	out = NULL;
}

static void
end(void)
{
	tables_put(out);
	fm_vec_fini(&told.refused);
	rchain_fini(&chain);
	router_fini(&router);
	snapshot_put(snap);
	fm_arena_fini(&mem);
}

static struct overlay_step steps[16];
static struct overlay o = { &chain, steps, 0 };

/* "10 number-1; 20 number-2 topology 1 path-bit 1" to overlay_route(). */
static int
overlay(const char *words)
{
	char text[2048], copy[512], *rest = copy, *step;
	size_t n = 0;

	snprintf(copy, sizeof(copy), "%s", words);
	while ((step = strsep(&rest, ";")) != NULL) {
		char engine[32], key[4][16], value[4][16];
		unsigned id;
		int got = sscanf(step, "%u %31s %15s %15s %15s %15s %15s %15s", &id, engine, key[0],
		    value[0], key[1], value[1], key[2], value[2]);

		n += (size_t)snprintf(
		    text + n, sizeof(text) - n, "unicast-step\nid: %u\nengine: %s\n", id, engine);
		for (int i = 0; i < (got - 2) / 2; i++)
			n += (size_t)snprintf(
			    text + n, sizeof(text) - n, "%s: %s\n", key[i], value[i]);
		n += (size_t)snprintf(text + n, sizeof(text) - n, "end-unicast-step\n");
	}
	ck_assert_msg(rchain_read(&chain,
			  &(struct rchain_files){ file_of("pgrp", groups),
			      file_of("topo", topologies), file_of("rch", text) },
			  &mem, NULL, &err) == 0,
	    "%s", err.msg);
	for (size_t i = 0; i < chain.steps.n; i++) {
		const struct rchain_step *s = &chain.steps.item[i];

		steps[i] = (struct overlay_step){ .id = s->id,
			.topology = s->topology,
			.fallback_to = s->fallback_to,
			.path_bit = s->path_bit,
			.entry.name = s->engine };
		for (size_t k = 0; k < sizeof(engines) / sizeof(*engines); k++)
			if (strcmp(engines[k]->name, s->engine) == 0)
				steps[i].entry.engine = engines[k];
		ck_assert_ptr_nonnull(steps[i].entry.engine);
	}
	o.n_steps = (uint32_t)chain.steps.n;
	told.snap = snap;
	return overlay_route(&router, &o, &told, &out, &err);
}

/* --------------------------------------------------------------------- tests */

static bool
begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

/* Is the entry one of topology 1, or of 2?  As the groups above read. */
static bool
in_topology(unsigned t, fm_sw sw, fm_end e)
{
	const struct fm_fabric *f = &snap->fab;
	fm_sw at = f->end_sw[e];
	bool is_switch = f->end_kind[e] == FM_END_SWITCH;
	const char *here = f->sw_name[sw], *there = f->sw_name[at], *who = f->end_name[e];

	if (t == 2)
		return strcmp(here, "leaf-3") == 0 && strcmp(there, "leaf-3") == 0;
	return (begins(here, "leaf-1") || begins(here, "leaf-2") || begins(here, "spine")) &&
	    (begins(there, "leaf-1") || begins(there, "leaf-2") || begins(there, "spine")) &&
	    (is_switch || begins(who, "host-1-") || begins(who, "host-4-"));
}

START_TEST(later_steps_lie_over_earlier_ones)
{
	const struct fm_fabric *f;
	unsigned seen[5] = { 0 };

	begin("pgft 2 4,4 1,4 1,1", 2);
	f = &snap->fab;
	ck_assert_msg(overlay("40 number-4 topology 2;10 number-1;20 number-2 topology 1;"
			      "30 number-3 path-bit 3") == 0,
	    "%s", err.msg);
	for (fm_sw sw = 0; sw < f->n_switches; sw++)
		for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
			fm_end e = f->lid_end[lid];
			unsigned bit = e != FM_NONE ? lid - f->end_lid[e] : 0, want = 1;

			if (e == FM_NONE)
				continue;
			/* bits 1 and 2 are nobody's: as bit 0 */
			if (bit < 3 && in_topology(1, sw, e))
				want = 2;
			if (bit == 3)
				want = 3;
			if (bit < 3 && in_topology(2, sw, e))
				want = 4;
			ck_assert_msg(out->t.lft[sw][lid] == want, "%s LID %u bit %u: %u, not %u",
			    f->sw_name[sw], lid, bit, out->t.lft[sw][lid], want);
			seen[want]++;
		}
	for (unsigned i = 1; i < 5; i++)
		ck_assert_uint_gt(seen[i], 0);
	ck_assert_int_eq(out->t.sl_shape, FM_SL_ZERO);
	ck_assert_uint_eq(out->t.n_vls_used, 1);
	end();
}
END_TEST

START_TEST(a_fallback_runs_when_its_step_has_failed)
{
	begin("pgft 2 4,4 1,4 1,1", 0);
	ck_assert_int_eq(
	    overlay("1 number-1;2 never topology 1;3 number-3 topology 1 fallback-to 2"), 0);
	ck_assert_uint_eq(out->t.lft[0][1], 3); /* leaf-1 to itself */
	ck_assert_uint_eq(told.refused.n, 1);
	ck_assert_str_eq(told.refused.item[0].engine, "never in step 2");
	ck_assert_str_eq(
	    told.refused.item[0].reason, "not today; step 3 (number-3) is in its place");
	end();
	begin("pgft 2 4,4 1,4 1,1", 0);
	ck_assert_int_eq(
	    overlay("1 number-1;2 number-2 topology 1;3 number-3 topology 1 fallback-to 2"), 0);
	ck_assert_uint_eq(out->t.lft[0][1], 2);
	ck_assert_uint_eq(told.refused.n, 0);
	ck_assert_int_eq(overlay_fate(&o, 1, &told), OVERLAY_ROUTES);
	ck_assert_int_eq(overlay_fate(&o, 2, &told), OVERLAY_NOT_NEEDED);
	end();
	/* of two fallbacks one fails, which is told too */
	begin("pgft 2 4,4 1,4 1,1", 0);
	ck_assert_int_eq(overlay("1 number-1;2 never topology 1;3 never topology 1 fallback-to 2;"
				 "4 number-3 topology 1 fallback-to 2"),
	    0);
	ck_assert_uint_eq(told.refused.n, 2);
	ck_assert_str_eq(told.refused.item[1].engine, "never in step 3");
	ck_assert_str_eq(
	    told.refused.item[1].reason, "not today; step 4 (number-3) is in its place");
	ck_assert_int_eq(overlay_fate(&o, 0, &told), OVERLAY_ROUTES);
	ck_assert_int_eq(overlay_fate(&o, 1, &told), OVERLAY_FAILED);
	ck_assert_int_eq(overlay_fate(&o, 2, &told), OVERLAY_FAILED);
	ck_assert_int_eq(overlay_fate(&o, 3, &told), OVERLAY_ROUTES);
	end();
	begin("pgft 2 4,4 1,4 1,1", 0);
	ck_assert_int_eq(overlay("1 number-1;2 never;3 never fallback-to 2"), FM_E_TOPOLOGY);
	ck_assert_str_eq(err.msg, "step 2, never: not today");
	end();
	begin("pgft 2 4,4 1,4 1,1", 0);
	ck_assert_int_eq(overlay("1 never"), FM_E_TOPOLOGY);
	end();
}
END_TEST

/* Steps without SLs have SL 0 and VL 0; two with SLs have two of each, one beside the other. */
START_TEST(steps_with_sls_have_their_own)
{
	const struct fm_fabric *f;

	begin("pgft 2 4,4 1,4 1,1", 0);
	f = &snap->fab;
	ck_assert_msg(overlay("1 number-1;2 odd topology 1;3 odd topology 2") == 0, "%s", err.msg);
	ck_assert_uint_eq(out->t.n_vls_used, 5);
	for (fm_sw sw = 0; sw < f->n_switches; sw++)
		for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
			fm_end e = f->lid_end[lid];
			unsigned want = in_topology(2, sw, e) ? 3 + lid % 2
			    : in_topology(1, sw, e)	      ? 1 + lid % 2
							      : 0;

			ck_assert_uint_eq(tables_sl(&out->t, sw, (uint16_t)lid), want);
		}
	for (fm_link l = 0; l < f->n_links; l++) {
		fm_sw sw = f->link_rev[l] == FM_NONE ? 0 : f->link_to[f->link_rev[l]];
		bool in_1 = in_topology(1, sw, f->sw_first_end[f->link_to[l]]);

		ck_assert_uint_eq(tables_vl(f, &out->t, sw, 0, l, 0), 0);
		ck_assert_uint_eq(tables_vl(f, &out->t, sw, 1, l, 1), 1);
		ck_assert_uint_eq(tables_vl(f, &out->t, sw, 1, l, 2), in_1 ? 2 : 1);
		ck_assert_uint_eq(tables_vl(f, &out->t, sw, 1, l, 4), 3);
	}
	end();
	begin("pgft 2 4,4 1,4 1,1", 0);
	router.set.n_vls = 4;
	ck_assert_int_eq(overlay("1 number-1;2 odd topology 1;3 odd topology 2"), FM_E_TOPOLOGY);
	ck_assert_str_eq(
	    err.msg, "step 2, odd: engine odd answers n_vls_used = 2, beyond the budget of 1 VLs");
	end();
}
END_TEST

static const struct {
	const char *fabric, *steps;
	uint8_t lmc;
	/* a reply under the SL of another step's path goes that step's VLs by this
	 * step's ports: steps with SLs are safe forward */
	enum verify_sl_model model;
} real[] = {
	{ "pgft 2 4,4 1,4 1,1", "1 updn;2 minhop path-bit 1;3 updn topology 1", 1, VERIFY_BOTH },
	{ "pgft 3 2,2,4 1,2,2 1,1,1", "1 minhop;2 updn path-bit 3", 2, VERIFY_BOTH },
	{ "torus 4x4 2", "1 updn;2 dfsssp path-bit 1", 1, VERIFY_FORWARD },
	{ "random 14 4 28 3", "1 dfsssp;2 updn path-bit 1;3 dfsssp path-bit 2", 2, VERIFY_FORWARD },
};

/* Every pair has a way, and there are no credit loops. */
START_TEST(real_engines_are_proven)
{
	struct verify_request q = { .n_vls = 8, .sl_model = real[_i].model };
	struct verdict v;

	begin(real[_i].fabric, real[_i].lmc);
	router.set.sl_model = real[_i].model;
	ck_assert_msg(overlay(real[_i].steps) == 0, "%s", err.msg);
	ck_assert_int_eq(verify_tables(snap, &out->t, &q, router.workers, &v, &err), 0);
	ck_assert_msg(verdict_is_safe(&v, false), "%s", v.witness);
	ck_assert_uint_eq(v.unreachable_pairs, 0);
	ck_assert_uint_gt(v.reachable_pairs, 0);
	end();
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("overlay");
	TCase *t = tcase_create("overlay");

	tcase_add_test(t, later_steps_lie_over_earlier_ones);
	tcase_add_test(t, a_fallback_runs_when_its_step_has_failed);
	tcase_add_test(t, steps_with_sls_have_their_own);
	tcase_add_loop_test(t, real_engines_are_proven, 0, (int)(sizeof(real) / sizeof(*real)));
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return run_suite(suite());
}
