/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SLs and VLs on the wire: a small engine for two-level trees that uses two
 * VLs, or two for each of two levels of quality, in each shape of its SL2VL
 * table; what ports hold afterwards is what the shape says, and it follows
 * when the plan changes.  And the tables of the
 * QoS options beside it: who has the say where, on links of few VLs, too.
 */
#include <check.h>
#include <string.h>

#include <fmd/engine.h>

#include "core/subnet/qos.h"
#include "lab/sim/sma.h"
#include "tests/run.h"
#include "tests/sweep/rig.h"

enum shape { ONE_VL, MODULO, BY_OUT, BY_IN_OUT, LEVELS, N_SHAPES };

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
	case LEVELS: /* as torus2qos */
		return (sl + in + out / 2) % 2 + (sl >= 8 ? 2 : 0);
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

/* By (in, out) for ports without a cable, too: when one comes the maps are what they were. */
static void
fill_sl2vl(const struct fm_fabric *fab, enum shape shape, struct fm_tables *t)
{
	for (fm_sw s = 0; shape == BY_OUT && s < fab->n_switches; s++)
		for (fm_link l = fab->sw_first_link[s]; l < fab->sw_first_link[s + 1]; l++)
			for (unsigned sl = 0; sl < 16; sl++)
				t->sl2vl[l * 16 + sl] = vl_of(shape, 0, fab->link_port[l], sl);
	for (fm_sw s = 0; shape != BY_OUT && s < fab->n_switches; s++) {
		unsigned side = fab->sw_n_ports[s] + 1u;

		for (unsigned row = 0; row < side * side; row++)
			for (unsigned sl = 0; sl < 16; sl++)
				t->sl2vl[(t->sl2vl_first[s] + row) * 16 + sl] =
				    vl_of(shape, row / side, row % side, sl);
	}
}

static int
route_shape(const struct fm_fabric *fab, enum shape shape, struct fm_tables *t)
{
	for (unsigned lid = 1; lid <= fab->max_lid; lid++)
		for (fm_sw s = 0; s < fab->n_switches && fab->lid_end[lid] != FM_NONE; s++)
			t->lft[s][lid] = port_to(fab, s, fab->lid_end[lid], (uint16_t)lid);
	t->sl_shape = FM_SL_ZERO;
	t->n_vls_used = shape == ONE_VL ? 1 : shape == LEVELS ? 4 : 2;
	if (shape <= MODULO)
		return 0;
	t->sl2vl_shape = shape == BY_OUT ? FM_SL2VL_BY_OUT : FM_SL2VL_BY_IN_OUT;
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
		.option_row_size = sizeof(struct fm_option), \
		.name = #id, \
		.traits = FM_PROVIDES_LFT | FM_PROVIDES_SL, \
		.route = route_##id }

ENGINE(one_vl, ONE_VL);
ENGINE(modulo, MODULO);
ENGINE(by_out, BY_OUT);
ENGINE(by_in_out, BY_IN_OUT);
ENGINE(levels, LEVELS);

static const struct chain_entry entries[N_SHAPES] = {
	[ONE_VL] = { .engine = &one_vl, .name = "one_vl" },
	[MODULO] = { .engine = &modulo, .name = "modulo" },
	[BY_OUT] = { .engine = &by_out, .name = "by_out" },
	[BY_IN_OUT] = { .engine = &by_in_out, .name = "by_in_out" },
	[LEVELS] = { .engine = &levels, .name = "levels" },
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

static uint8_t
n_vls_of(uint32_t node, unsigned port)
{
	static const uint8_t vls_of_code[] = { 1, 1, 2, 4, 8, 15 };
	struct wire_port_info info;

	sim_port_info(rig.sim, node, port, &info);
	return vls_of_code[info.operational_vls];
}

/* On a link of a host SLs are spread over its data VLs, or levels of quality are kept apart, either
 * way. */
static void
expect_ca(uint32_t node, enum shape shape)
{
	const struct netlist_port *p = netlist_port(&rig.nl, node, 1);
	unsigned n_ports = rig.nl.nodes[p->peer_node].n_ports;
	uint8_t want[16], n_vls = n_vls_of(node, 1);

	for (unsigned sl = 0; sl < 16; sl++)
		want[sl] = (uint8_t)((shape == LEVELS ? sl / 8 : sl) % n_vls);
	expect_sl2vl(node, 1, 0, want, "CA");
	for (unsigned in = 0; shape != ONE_VL && in <= n_ports; in++)
		expect_sl2vl(p->peer_node, 0, in << 8 | p->peer_port, want, "to a CA");
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
			expect_ca(n, shape);
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

/* While a cable between switches was out all others have got other maps: so has, when it is
 * back, what comes in by it. */
START_TEST(test_changes_without_a_cable)
{
	uint32_t leaf = 0;

	rig_fini(&rig);
	rig_generate(&rig.nl, "pgft 2 4,4 1,4 1,2"); /* there is another beside it */
	rig_sim(&rig, NULL);
	use(MODULO);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	expect_all(MODULO);
	while (strcmp(rig.nl.nodes[leaf].desc, "leaf-2") != 0)
		leaf++;
	sim_unlink(rig.sim, leaf, 5);
	use(BY_IN_OUT);
	sweeper_configure(rig.sweeper, &rig.set, &rig.chain, NULL);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_str_eq(rig.last.engine, entries[BY_IN_OUT].name);
	sim_relink(rig.sim, leaf, 5);
	rig_let_pass(&rig, 3000);
	expect_all(BY_IN_OUT);
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

/* ------------------------------------------- the administrator's tables */

static struct qos qos;

static void
setup_qos(void)
{
	static const struct qos_text common = { 0, 3, "0:7,1:3", "2:9,3:1,1:0",
		"0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,15" },
				     ca = { 0, 5, "1:1", NULL, "3,2,1,0,3,2,1,0,3,2,1,0,3,2,1,0" };
	struct fm_error err = { 0 };

	setup();
	memset(&qos, 0, sizeof(qos));
	for (unsigned k = 0; k < QOS_PORTS; k++)
		ck_assert_int_eq(
		    qos_tables_parse(k == QOS_CA ? &ca : &common, &common, &qos.port[k], &err), 0);
	rig.set.qos = &qos;
}

/* Rows of a port, as output, and that none names a VL that is not there. */
static void
expect_rows(uint32_t node, unsigned out, enum shape engine)
{
	bool is_switch = rig.nl.nodes[node].type == NETLIST_SWITCH;
	bool bound = engine != ONE_VL && is_switch && leads_to_switch(node, out);
	unsigned n_ports = rig.nl.nodes[node].n_ports;
	uint8_t want[16], n_vls = n_vls_of(node, out);

	qos_fit_sl2vl(&qos.port[is_switch ? QOS_SWITCH : QOS_CA], n_vls, want);
	for (unsigned sl = 0; engine == LEVELS && sl < 16; sl++)
		want[sl] = want[sl] == QOS_VL_DROP ? QOS_VL_DROP : (uint8_t)(sl / 8 % n_vls);
	for (unsigned in = 0; in <= (is_switch ? n_ports : 0); in++) {
		for (unsigned sl = 0; sl < 16; sl++) {
			want[sl] = bound ? vl_of(engine, in, out, sl) : want[sl];
			ck_assert(want[sl] < n_vls || want[sl] == QOS_VL_DROP);
		}
		if (is_switch)
			expect_sl2vl(node, 0, in << 8 | out, want, "qos");
		else
			expect_sl2vl(node, 1, 0, want, "qos");
	}
}

static void
expect_arb(uint32_t node, unsigned port, const struct qos_tables *t, uint16_t starved)
{
	struct qos_arb want[QOS_ARB_BLOCK];
	struct wire_port_info info;
	uint8_t data[64];

	sim_port_info(rig.sim, node, port, &info);
	ck_assert_uint_eq(info.vl_high_limit, t->high_limit);
	for (unsigned index = 0; index < 4; index++) {
		bool high = index >= 2;

		qos_fit_arb(t, high, index % 2, high ? info.vl_arb_high_cap : info.vl_arb_low_cap,
		    n_vls_of(node, port), starved, want);
		peek(node, rig.nl.nodes[node].type == NETLIST_SWITCH ? 0 : port, WIRE_ATTR_VL_ARB,
		    (index + 1) << 16 | port, data);
		for (unsigned i = 0; i < QOS_ARB_BLOCK; i++) {
			ck_assert_uint_eq(data[2 * i], want[i].vl);
			ck_assert_uint_eq(data[2 * i + 1], want[i].weight);
		}
	}
}

/* starved: VLs of the engine without weight, between switches. */
static void
expect_qos(enum shape engine, uint16_t starved)
{
	rig_expect_up(&rig);
	for (uint32_t n = 0; n < rig.nl.n_nodes; n++)
		for (unsigned p = 1; p <= rig.nl.nodes[n].n_ports; p++) {
			bool is_switch = rig.nl.nodes[n].type == NETLIST_SWITCH;
			uint16_t own = engine == LEVELS && !is_switch; /* VL 0 of the first level */

			if (netlist_port(&rig.nl, n, p)->peer_node == NETLIST_NONE)
				continue;
			if (engine != ONE_VL && is_switch && leads_to_switch(n, p))
				own = starved;
			expect_rows(n, p, engine);
			expect_arb(n, p, &qos.port[is_switch ? QOS_SWITCH : QOS_CA],
			    n_vls_of(n, p) == 8 ? own : 0);
		}
}

START_TEST(test_qos)
{
	uint64_t sets;

	use(ONE_VL);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_uint_eq(n_vls_of(rig.place, 1), 8);
	expect_qos(ONE_VL, 0);
	sets = rig_sets(&rig);
	rig_stop(&rig);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_uint_eq(rig_sets(&rig), sets);
	ck_assert_ptr_null(strstr(rig_log, "engine"));
	ck_assert_ptr_nonnull(strstr(rig_log, "VLs 4-7 have no weight in qos_swe_vlarb_high"));
}
END_TEST

/* 1, 2, 4 VLs, and links of different ones. */
START_TEST(test_qos_few_vls)
{
	use(ONE_VL);
	if (_i < 4) {
		rig.set.ports.max_op_vls = _i - 1;
	} else {
		struct sim_fabric *f = sim_fabric(rig.sim);
		struct wire_port_info info;

		sim_port_info(rig.sim, rig.place, 1, &info);
		info.vl_cap = 2;
		wire_port_info_put(fabric_port(f, rig.place, 1)->info, &info);
	}
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_uint_eq(n_vls_of(rig.place, 1), _i < 4 ? 1 << (_i - 1) : 2);
	if (_i >= 3)
		expect_qos(ONE_VL, 0);
	for (uint32_t n = 0; _i < 3 && n < rig.nl.n_nodes; n++)
		for (unsigned p = 1; p <= rig.nl.nodes[n].n_ports; p++)
			if (netlist_port(&rig.nl, n, p)->peer_node != NETLIST_NONE)
				expect_rows(n, p, ONE_VL);
}
END_TEST

/* Between switches the engine has the say, and that is told, once. */
START_TEST(test_qos_and_engine)
{
	const char *told;

	use((enum shape)_i);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	expect_qos((enum shape)_i, 0);
	told = strstr(rig_log, "needs VLs of its own between switches");
	ck_assert_ptr_nonnull(told);
	ck_assert_ptr_nonnull(strstr(rig_log, entries[_i].name));
	if (_i == MODULO)
		ck_assert_ptr_nonnull(strstr(told, "for the SLs 2-7, 10-15 qos_swe_sl2vl"));
	ck_assert_int_eq(_i == LEVELS, strstr(told, "on hosts' links, too") != NULL);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_ptr_null(strstr(told + 1, "needs VLs of its own"));
}
END_TEST

/* A VL that the engine needs, and the administrator gives no weight. */
START_TEST(test_qos_starves_engine)
{
	memset(qos.port[QOS_SWITCH].high, 0, sizeof(qos.port[QOS_SWITCH].high));
	use(MODULO);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	for (uint32_t n = 0; n < rig.nl.n_nodes; n++)
		for (unsigned p = 1; p <= rig.nl.nodes[n].n_ports; p++)
			if (rig.nl.nodes[n].type == NETLIST_SWITCH && leads_to_switch(n, p))
				expect_arb(n, p, &qos.port[QOS_SWITCH], 3);
}
END_TEST

/* The VL of the second level, to and from hosts. */
START_TEST(test_qos_starves_level)
{
	static const uint8_t starved[] = { [QOS_CA] = 1, [QOS_SWITCH] = 2 };

	for (unsigned k = 0; k < QOS_PORTS; k++) {
		memset(qos.port[k].high, 0, sizeof(qos.port[k].high));
		memset(qos.port[k].low, 0, sizeof(qos.port[k].low));
		for (unsigned vl = 0; vl < 8; vl++)
			qos.port[k].low[vl] = (struct qos_arb){ (uint8_t)vl, 1 };
		qos.port[k].low[k == QOS_CA ? 0 : 1].weight = 0;
	}
	use(LEVELS);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	for (uint32_t n = 0; n < rig.nl.n_nodes; n++)
		for (unsigned p = 1; p <= rig.nl.nodes[n].n_ports; p++) {
			bool is_switch = rig.nl.nodes[n].type == NETLIST_SWITCH;
			enum qos_port kind = is_switch ? QOS_SWITCH : QOS_CA;

			if (netlist_port(&rig.nl, n, p)->peer_node != NETLIST_NONE)
				expect_arb(n, p, &qos.port[kind], starved[kind]);
		}
}
END_TEST

/* One Set a switch; where links differ, one an output. */
START_TEST(test_optimised)
{
	struct sim_fabric *f = sim_fabric(rig.sim);
	unsigned n_hosts = 0, n_switches = 0;
	struct wire_port_info info;

	qos.optimised_sl2vl = true;
	for (uint32_t n = 0; n < rig.nl.n_nodes; n++) {
		struct wire_switch_info si;

		n_hosts += rig.nl.nodes[n].type != NETLIST_SWITCH;
		if (rig.nl.nodes[n].type != NETLIST_SWITCH)
			continue;
		n_switches++;
		wire_switch_info_get(f->nodes[n].switch_info, &si);
		si.optimized_slvl = 1;
		wire_switch_info_put(f->nodes[n].switch_info, &si);
	}
	if (_i == 1) { /* the leaf there has 8 cables */
		sim_port_info(rig.sim, rig.place, 1, &info);
		info.vl_cap = 2;
		wire_port_info_put(fabric_port(f, rig.place, 1)->info, &info);
	}
	use(_i == 2 ? BY_IN_OUT : ONE_VL);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	expect_qos(_i == 2 ? BY_IN_OUT : ONE_VL, 0);
	if (_i < 2)
		ck_assert_uint_eq(rig.last.sets_by_attr[WIRE_ATTR_SL2VL],
		    n_hosts + n_switches + (_i == 1 ? 8 - 1 : 0));
	ck_assert(_i == 2 || rig.last.gets_by_attr[WIRE_ATTR_SL2VL] == n_hosts);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_uint_eq(rig.last.sets, 0);
}
END_TEST

/* On, changed, off again. */
START_TEST(test_qos_reload)
{
	use(MODULO);
	rig.set.qos = NULL;
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	expect_all(MODULO);
	rig.set.qos = &qos;
	sweeper_configure(rig.sweeper, &rig.set, &rig.chain, NULL);
	rig_run(&rig, SWEEP_HEAVY);
	expect_qos(MODULO, 0);
	rig.set.qos = NULL;
	sweeper_configure(rig.sweeper, &rig.set, &rig.chain, NULL);
	rig_run(&rig, SWEEP_HEAVY);
	expect_all(MODULO);
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
	tcase_add_test(t, test_changes_without_a_cable);
	tcase_add_test(t, test_silent_while_written);
	suite_add_tcase(suite, t);
	t = tcase_create("qos");
	tcase_add_checked_fixture(t, setup_qos, teardown);
	tcase_add_test(t, test_qos);
	tcase_add_loop_test(t, test_qos_few_vls, 1, 5);
	tcase_add_loop_test(t, test_qos_and_engine, MODULO, N_SHAPES);
	tcase_add_test(t, test_qos_starves_engine);
	tcase_add_test(t, test_qos_starves_level);
	tcase_add_loop_test(t, test_optimised, 0, 3);
	tcase_add_test(t, test_qos_reload);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
