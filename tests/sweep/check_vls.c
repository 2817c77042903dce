/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SLs and VLs on the wire: a small engine for two-level trees that uses two
 * VLs, in each shape of its SL2VL table; what ports hold afterwards is what
 * the shape says, and it follows when the plan changes.
 */
#include <check.h>
#include <string.h>

#include <fmd/engine.h>

#include "core/sim/sma.h"
#include "tests/run.h"
#include "tests/sweep/rig.h"

enum shape { ONE_VL, MODULO, BY_OUT, BY_IN_OUT, N_SHAPES };

static struct rig rig;

/* The same rule for engine and test. */
static uint8_t
vl_of(enum shape shape, unsigned in, unsigned out, unsigned sl)
{
	switch (shape) {
	case ONE_VL:
		return 0;
	case MODULO:
		return sl % 2;
	case BY_OUT:
		return (sl + out) % 2;
	default:
		return (sl + in + out / 2) % 2;
	}
}

static bool
is_leaf(const struct fm_fabric *fab, fm_sw s)
{
	for (fm_end e = fab->sw_first_end[s]; e < fab->sw_first_end[s + 1]; e++)
		if (fab->end_kind[e] == FM_END_CA)
			return true;
	return false;
}

/* Straight, or up when there is an up; spines do not reach each other. */
static uint8_t
port_to(const struct fm_fabric *fab, fm_sw s, fm_end end, uint16_t lid)
{
	uint32_t n = fab->sw_first_link[s + 1] - fab->sw_first_link[s];

	if (fab->end_sw[end] == s)
		return fab->end_port[end];
	for (fm_link l = fab->sw_first_link[s]; l < fab->sw_first_link[s + 1]; l++)
		if (fab->link_to[l] == fab->end_sw[end])
			return fab->link_port[l];
	return is_leaf(fab, s) ? fab->link_port[fab->sw_first_link[s] + lid % n] : FM_PORT_NONE;
}

static void
fill_sl2vl(const struct fm_fabric *fab, enum shape shape, struct fm_tables *t)
{
	for (fm_sw s = 0; s < fab->n_switches; s++)
		for (fm_link l = fab->sw_first_link[s]; l < fab->sw_first_link[s + 1]; l++)
			for (unsigned sl = 0; sl < 16; sl++) {
				unsigned side = fab->sw_n_ports[s] + 1u, out = fab->link_port[l];

				if (shape == BY_OUT)
					t->sl2vl[l * 16 + sl] = vl_of(shape, 0, out, sl);
				for (unsigned in = 0; shape == BY_IN_OUT && in < side; in++)
					t->sl2vl[(t->sl2vl_first[s] + in * side + out) * 16 + sl] =
					    vl_of(shape, in, out, sl);
			}
}

static int
route_shape(const struct fm_fabric *fab, enum shape shape, struct fm_tables *t)
{
	for (unsigned lid = 1; lid <= fab->max_lid; lid++)
		for (fm_sw s = 0; s < fab->n_switches && fab->lid_end[lid] != FM_NONE; s++)
			t->lft[s][lid] = port_to(fab, s, fab->lid_end[lid], (uint16_t)lid);
	t->sl_shape = FM_SL_ZERO;
	t->n_vls_used = shape == ONE_VL ? 1 : 2;
	if (shape == BY_OUT || shape == BY_IN_OUT)
		t->sl2vl_shape = shape == BY_OUT ? FM_SL2VL_BY_OUT : FM_SL2VL_BY_IN_OUT;
	if (shape == BY_OUT || shape == BY_IN_OUT)
		fill_sl2vl(fab, shape, t);
	return 0;
}

#define ENGINE(id, SHAPE) \
	static int route_##id(const struct fm_host *host, const struct fm_fabric *fab, \
	    const struct fm_request *req, const void *opts, struct fm_tables *out, \
	    struct fm_error *err) \
	{ \
		(void)host; \
		(void)req; \
		(void)opts; \
		(void)err; \
		return route_shape(fab, SHAPE, out); \
	} \
	static const struct fm_engine id = { .magic = FM_ABI_MAGIC, \
		.abi_major = FM_ABI_MAJOR, \
		.abi_minor = FM_ABI_MINOR, \
		.size = sizeof(struct fm_engine), \
		.option_size = sizeof(struct fm_option), \
		.name = #id, \
		.traits = FM_PROVIDES_LFT | FM_PROVIDES_SL, \
		.route = route_##id }

ENGINE(one_vl, ONE_VL);
ENGINE(modulo, MODULO);
ENGINE(by_out, BY_OUT);
ENGINE(by_in_out, BY_IN_OUT);

static const struct chain_entry entries[N_SHAPES] = {
	[ONE_VL] = { .engine = &one_vl, .name = "one_vl" },
	[MODULO] = { .engine = &modulo, .name = "modulo" },
	[BY_OUT] = { .engine = &by_out, .name = "by_out" },
	[BY_IN_OUT] = { .engine = &by_in_out, .name = "by_in_out" },
};

static void
use(enum shape shape)
{
	rig.chain.entries = &entries[shape];
	rig.chain.n_entries = 1;
}

static void
peek(uint32_t node, unsigned port, uint16_t attr, uint32_t modifier, uint8_t *data)
{
	struct sim_place at = { .node = node, .port = (uint8_t)port };

	memset(data, 0, 64);
	ck_assert(sma_peek(sim_fabric(rig.sim), at, attr, modifier, data));
}

static void
expect_sl2vl(uint32_t node, unsigned port, uint32_t modifier, const uint8_t *want, const char *what)
{
	uint8_t data[64], vl[16];

	peek(node, port, WIRE_ATTR_SL2VL, modifier, data);
	wire_sl2vl_get(data, vl);
	for (unsigned sl = 0; sl < 16; sl++)
		ck_assert_msg(vl[sl] == want[sl],
		    "%s: node %s, in %u, out %u: SL %u to VL %u, not %u", what,
		    rig.nl.nodes[node].id, modifier >> 8, modifier & 0xff, sl, vl[sl], want[sl]);
}

static bool
leads_to_switch(uint32_t node, unsigned port)
{
	uint32_t far = netlist_port(&rig.nl, node, port)->peer_node;

	return far != NETLIST_NONE && rig.nl.nodes[far].type == NETLIST_SWITCH;
}

static void
expect_switch(uint32_t node, enum shape shape)
{
	uint8_t want[16], data[64];
	unsigned n_ports = rig.nl.nodes[node].n_ports;

	for (unsigned out = 1; out <= n_ports; out++) {
		if (!leads_to_switch(node, out))
			continue;
		for (unsigned in = 0; in <= n_ports; in++) {
			if (in == out)
				continue;
			for (unsigned sl = 0; sl < 16; sl++)
				want[sl] = vl_of(shape, in, out, sl);
			expect_sl2vl(node, 0, in << 8 | out, want, entries[shape].name);
		}
		peek(node, 0, WIRE_ATTR_VL_ARB, 1 << 16 | out, data);
		for (unsigned vl = 0; vl < 2; vl++) {
			ck_assert_uint_eq(data[2 * vl], vl);
			ck_assert_uint_gt(data[2 * vl + 1], 0);
		}
	}
}

/* A CA spreads SLs over the data VLs of its link. */
static void
expect_ca(uint32_t node)
{
	static const uint8_t vls_of_code[] = { 1, 1, 2, 4, 8, 15 };
	struct wire_port_info info;
	uint8_t want[16];

	sim_port_info(rig.sim, node, 1, &info);
	for (unsigned sl = 0; sl < 16; sl++)
		want[sl] = (uint8_t)(sl % vls_of_code[info.operational_vls]);
	expect_sl2vl(node, 1, 0, want, "CA");
}

static void
expect_all(enum shape shape)
{
	rig_expect_up(&rig);
	ck_assert_str_eq(rig.last.engine, entries[shape].name);
	for (uint32_t n = 0; n < rig.nl.n_nodes; n++)
		if (rig.nl.nodes[n].type == NETLIST_SWITCH)
			expect_switch(n, shape);
		else
			expect_ca(n);
}

static void
setup(void)
{
	rig_generate(&rig.nl, "pgft 2 4,4 1,4 1,1");
	rig_sim(&rig, NULL);
}

static void
teardown(void)
{
	rig_fini(&rig);
}

START_TEST(test_shapes)
{
	uint64_t sets;

	use((enum shape)_i);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	expect_all((enum shape)_i);
	sets = rig_sets(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_uint_eq(rig_sets(&rig), sets);
	rig_stop(&rig);
	rig_start(&rig); /* which knows nothing, and reads */
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_uint_eq(rig_sets(&rig), sets);
}
END_TEST

/* From any shape to any other, down to a plan of one VL. */
START_TEST(test_changes)
{
	enum shape from = (enum shape)(_i / N_SHAPES), to = (enum shape)(_i % N_SHAPES);

	if (from == ONE_VL || from == to)
		return;
	use(from);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	expect_all(from);
	use(to);
	sweeper_configure(rig.sweeper, &rig.set, &rig.chain, NULL);
	rig_run(&rig, SWEEP_HEAVY);
	expect_all(to);
}
END_TEST

/* A Set of SL2VL or VLArb that finds nobody is made good later. */
START_TEST(test_silent_while_written)
{
	struct fm_error err = { 0 };
	uint32_t host = rig.place + 5;

	use(BY_IN_OUT);
	rig_start(&rig);
	sweeper_request(rig.sweeper, SWEEP_HEAVY, "test");
	while (sweeper_phase(rig.sweeper) != PHASE_TABLES) {
		sweeper_step(rig.sweeper);
		ck_assert_int_ge(txn_poll(rig.txn, sim_now_ns(rig.sim) + 1000, &err), 0);
	}
	sim_silence(rig.sim, host, true);
	rig_run(&rig, SWEEP_NONE);
	ck_assert_int_eq(rig.last.outcome, SWEEP_UP);
	sim_silence(rig.sim, host, false);
	rig_run(&rig, SWEEP_LIGHT);
	expect_all(BY_IN_OUT);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("vls");
	TCase *t = tcase_create("vls");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, test_shapes, MODULO, N_SHAPES);
	tcase_add_loop_test(t, test_changes, 0, N_SHAPES * N_SHAPES);
	tcase_add_test(t, test_silent_while_written);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
