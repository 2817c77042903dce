/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_audit - what switches and hosts hold is read back while no sweep runs: where somebody else
 * has written it, it is told and written again, whatever kind of table it is, while cables come and
 * go, and where answers are lost; where nobody has, nothing is told.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/ask/sweeper.h"
#include "core/audit/audit.h"
#include "core/mcast/mcast_net.h"
#include "core/plan/plan.h"
#include "core/program/looks.h"
#include "core/subnet/partitions.h"
#include "core/subnet/qos.h"
#include "lab/sim/sma.h"
#include "lib/rng.h"
#include "tests/run.h"
#include "tests/sweep/rig.h"

#define TURN_MS 10000
#define MLID 0xc003
#define BOTH (MCAST_RECEIVES | MCAST_SENDS)

static struct rig rig;
static struct qos qos;
static int64_t interval_ms; /* no light sweeps, where a test does not say otherwise */

/* As the loop of the program: on when an answer comes, or when the sweeper wants to. */
static void
pass(int64_t ms)
{
	int64_t end = sim_now_ns(rig.sim) + ms * INT64_C(1000000);
	struct fm_error err = { 0 };

	while (sim_now_ns(rig.sim) < end) {
		int64_t due = sweeper_due_ns(rig.sweeper);

		ck_assert_msg(txn_poll(rig.txn, due < end ? due : end, &err) >= 0, "%s", err.msg);
		sweeper_step(rig.sweeper);
	}
}

static void
prepare_qos(void)
{
	static const struct qos_text text = { 0, 3, "0:7,1:3", "2:9,3:1,1:2,0:4",
		"0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7" };
	struct fm_error err = { 0 };

	for (unsigned k = 0; k < QOS_PORTS; k++)
		ck_assert_msg(
		    qos_tables_parse(&text, &text, &qos.port[k], &err) == 0, "%s", err.msg);
}

/* With multicast, P_Keys that switches enforce, SL to VL and VL arbitration in force. */
static void
bring_up(const char *words, int64_t audit_ms)
{
	static const char parts[] = "Default=0x7fff,ipoib:ALL=full;\nyours=0x8005:ALL=full;\n"
				    "mine=0x8007:ALL=limited;\n";
	static const struct part_options o;
	struct fm_error err = { 0 };

	rig_generate(&rig.nl, words);
	rig_sim(&rig, NULL);
	rig.set.sweep.audit_ms = audit_ms;
	rig.set.sweep.interval_ms = interval_ms;
	ck_assert_msg(partitions_parse("p.conf", parts, sizeof(parts) - 1, &o,
			  &rig.set.partitions.all, NULL, &err) == 0,
	    "%s", err.msg);
	prepare_qos();
	rig.set.qos = &qos;
	rig_bring_up(&rig);
	for (uint32_t n = 0; n < 15; n += 5)
		ck_assert(sweeper_set_member(rig.sweeper, MLID, 0,
		    fabric_port(sim_fabric(rig.sim), rig_host(&rig, n), 1)->guid, BOTH));
	rig_run(&rig, SWEEP_LIGHT);
	rig_expect_up(&rig);
	rig_log_clear();
}

static void
teardown(void)
{
	const struct partitions *p = rig.set.partitions.all;

	rig_fini(&rig);
	partitions_put(p);
}

static struct audit_report
audited(void)
{
	struct audit_report r;

	sweeper_audited(rig.sweeper, &r);
	return r;
}

/* All at once; what came of it. */
static struct audit_turn
read_all(void)
{
	uint64_t turn = sweeper_audit(rig.sweeper);

	for (int i = 0; i < 10000 && audited().last.number < turn; i++)
		pass(1);
	ck_assert_uint_eq(audited().last.number, turn);
	return audited().last;
}

/* A node by its name, as the sweeper has it. */
static uint32_t
slot_of(uint32_t node)
{
	uint32_t slot = inv_find(&rig.sweeper->inv, rig.nl.nodes[node].guid);

	ck_assert_uint_ne(slot, INV_NONE);
	return slot;
}

/* What a look is at in the fabric, and what a host's MADs may make of it. */
static struct sim_place
place_of(uint32_t node, const struct look *l)
{
	return (struct sim_place){ .node = node, .port = rig_is_switch(&rig, node) ? 0 : l->port };
}

static bool
holds(uint32_t node, const struct look *l)
{
	uint8_t data[64] = { 0 };

	ck_assert(sma_peek(sim_fabric(rig.sim), place_of(node, l), l->attr, l->modifier, data));
	return memcmp(data + l->at, l->bytes, l->n_bytes) == 0;
}

static void
overwrite(uint32_t node, const struct look *l, uint8_t with)
{
	struct wire_header h = { .base_version = 1,
		.class_version = 1,
		.mgmt_class = WIRE_CLASS_SMP_LID,
		.method = WIRE_SET,
		.attr = l->attr,
		.modifier = l->modifier };
	uint8_t mad[MAD_BYTES] = { 0 }, *data = mad + WIRE_SMP_DATA_AT;

	wire_header_put(mad, &h);
	ck_assert(sma_peek(sim_fabric(rig.sim), place_of(node, l), l->attr, l->modifier, data));
	if (l->attr == WIRE_ATTR_PORT_INFO) /* no other state is asked for */
		data[32] = data[33] = 0;
	memset(data + l->at, with, l->n_bytes);
	ck_assert(sma_handle(sim_fabric(rig.sim), place_of(node, l), mad));
}

/* Of all blocks of the kind those that were changed by it. */
static unsigned
overwrite_all(uint32_t node, enum look_kind kind, uint8_t with)
{
	uint32_t slot = slot_of(node);
	unsigned n = 0;

	for (uint32_t i = 0; i < look_rows[kind].count(rig.sweeper, slot); i++) {
		struct look l;

		if (!look_rows[kind].look(rig.sweeper, slot, i, &l))
			continue;
		overwrite(node, &l, with);
		n += !holds(node, &l);
	}
	return n;
}

/* fmd believes something of so many blocks of the kind, and that is so. */
static unsigned
n_as_believed(uint32_t node, enum look_kind kind)
{
	uint32_t slot = slot_of(node);
	unsigned n = 0;

	for (uint32_t i = 0; i < look_rows[kind].count(rig.sweeper, slot); i++) {
		struct look l;

		n += look_rows[kind].look(rig.sweeper, slot, i, &l) && holds(node, &l);
	}
	return n;
}

static uint32_t
spine(void)
{
	uint32_t n = sim_find(rig.sim, "spine-1");

	ck_assert_uint_ne(n, SIM_NONE);
	return n;
}

static void
expect_told(const char *words)
{
	ck_assert_msg(strstr(rig_log, words) != NULL, "\"%s\" is not told: %s", words, rig_log);
}

START_TEST(nothing_differs)
{
	struct audit_turn t;
	uint64_t sets;

	bring_up("pgft 2 4,4 1,2 1,1", 0);
	sets = rig_sets(&rig);
	t = read_all();
	ck_assert_uint_eq(t.n_differ, 0);
	ck_assert_uint_eq(t.n_unanswered, 0);
	ck_assert_uint_gt(t.n_read, 500);
	ck_assert_uint_eq(t.sweep, 0);
	ck_assert_uint_eq(rig_sets(&rig), sets);
	ck_assert_str_eq(rig_log, "");
}
END_TEST

enum where { SPINE, LEAF, HOST };

static uint32_t
node_at(enum where where)
{
	uint32_t host = rig_host(&rig, 5);

	return where == SPINE ? spine()
	    : where == HOST   ? host
			      : netlist_port(&rig.nl, host, 1)->peer_node;
}

static const struct overwritten {
	enum look_kind kind;
	enum where where;
	uint8_t with;
	const char *told;
} overwritten[] = {
	{ LOOK_LFT, SPINE, 255, "of its forwarding table; it is written again" },
	{ LOOK_LFT, SPINE, 1, "of its forwarding table; it is written again" },
	{ LOOK_LFT, LEAF, 2, "of its forwarding table; it is written again" },
	{ LOOK_MFT, SPINE, 0xff, "of its multicast table; it is written again" },
	{ LOOK_MFT, LEAF, 0, "of its multicast table; it is written again" },
	{ LOOK_PKEYS, HOST, 0x7f, "of P_Keys; it is written again" },
	{ LOOK_PKEYS, LEAF, 0x7f, "of P_Keys; it is written again" },
	{ LOOK_SL2VL, SPINE, 0x11, "SL-to-VL maps; it is written again" },
	{ LOOK_SL2VL, HOST, 0x11, "SL-to-VL map; it is written again" },
	{ LOOK_VL_ARB, SPINE, 0, "of VL arbitration; it is written again" },
	{ LOOK_VL_ARB, HOST, 0, "of VL arbitration; it is written again" },
	{ LOOK_STATE, SPINE, 0, "LinearFDBTop" },
	{ LOOK_STATE, HOST, 9, "1 LID, SM LID or LinearFDBTop; it is written again" },
};

/* Within one turn, and nobody asks for anything. */
START_TEST(written_again)
{
	const struct overwritten *o = &overwritten[_i];
	unsigned n, n_before;
	uint32_t node;

	bring_up("pgft 2 4,4 1,2 1,1", TURN_MS);
	node = node_at(o->where);
	n_before = n_as_believed(node, o->kind);
	n = overwrite_all(node, o->kind, o->with);
	ck_assert_uint_gt(n, 0);
	ck_assert_uint_lt(n_as_believed(node, o->kind), n_before);
	pass(TURN_MS + 1000);
	ck_assert_uint_eq(n_as_believed(node, o->kind), n_before);
	expect_told(o->told);
	rig_expect_up(&rig);
	ck_assert_uint_eq(sweeper_todo(rig.sweeper)->n, 0);
	pass(2 * TURN_MS);
	ck_assert_uint_eq(audited().last.n_differ, 0);
}
END_TEST

/* ... and at once where that is asked for. */
START_TEST(written_again_at_once)
{
	const struct overwritten *o = &overwritten[_i];
	struct audit_turn t;
	unsigned n_before;
	uint32_t node;

	bring_up("pgft 2 4,4 1,2 1,1", 0);
	node = node_at(o->where);
	n_before = n_as_believed(node, o->kind);
	overwrite_all(node, o->kind, o->with);
	t = read_all();
	ck_assert_uint_gt(t.n_differ, 0);
	ck_assert_uint_eq(t.n_nodes, 1);
	ck_assert_uint_eq(t.sweep, rig.last.number);
	ck_assert_uint_eq(n_as_believed(node, o->kind), n_before);
	rig_expect_up(&rig);
	ck_assert_uint_eq(read_all().n_differ, 0);
}
END_TEST

/* Of a spine everything, by one sweep; and every switch's. */
START_TEST(all_of_it)
{
	struct audit_turn t;
	uint32_t n_reports, n_nodes = 0;

	bring_up("pgft 2 4,4 1,2 1,1", 0);
	for (uint32_t n = 0; n < rig.nl.n_nodes; n++) {
		if (!rig_is_switch(&rig, n) || (_i == 0 && n != spine()))
			continue;
		n_nodes++;
		for (unsigned k = LOOK_LFT; k < N_LOOK_KINDS; k++)
			overwrite_all(n, (enum look_kind)k, k == LOOK_LFT ? 255 : 0x13);
	}
	n_reports = rig.n_reports;
	t = read_all();
	ck_assert_uint_eq(t.n_nodes, n_nodes);
	ck_assert_uint_le(rig.n_reports, n_reports + 2);
	rig_expect_up(&rig);
	ck_assert_uint_eq(sweeper_todo(rig.sweeper)->n, 0);
	ck_assert_uint_eq(read_all().n_differ, 0);
}
END_TEST

/* A switch that is written over in each turn is written again in each, and not more often; it is
 * told at the first, second, fourth. */
START_TEST(again_and_again)
{
	uint32_t n_reports;

	bring_up("pgft 2 4,4 1,2 1,1", TURN_MS);
	pass(TURN_MS); /* the turn of now may have seen it already */
	n_reports = rig.n_reports;
	for (unsigned i = 0; i < 5; i++) {
		overwrite_all(spine(), LOOK_LFT, 255);
		pass(TURN_MS);
	}
	ck_assert_uint_le(rig.n_reports - n_reports, 6);
	ck_assert_uint_ge(rig.n_reports - n_reports, 4);
	expect_told("for the 2. turn in a row");
	expect_told("for the 4. turn in a row");
	ck_assert_ptr_null(strstr(rig_log, "3. turn in a row"));
}
END_TEST

/* ----------------------------------------------------------- what goes on meanwhile */

static unsigned n_lost;

/* Half of what is read back does not arrive. */
static enum sim_fate
lose_answers(void *arg, const struct sim_arrival *a, int64_t *late_ns)
{
	struct fm_rng *rng = arg;
	struct wire_header h;

	wire_header_get(a->mad, &h);
	if (a->by_agent || h.method != WIRE_GET_RESP || fm_rng_below(rng, 2) == 0)
		return SIM_COMES;
	n_lost++;
	return SIM_IS_LOST;
}

START_TEST(answers_are_lost)
{
	struct fm_rng rng;

	bring_up("pgft 2 4,4 1,2 1,1", TURN_MS);
	fm_rng_seed(&rng, 7 + (uint64_t)_i);
	overwrite_all(spine(), LOOK_LFT, 255);
	sim_set_fate(rig.sim, lose_answers, &rng);
	pass(4 * TURN_MS);
	sim_set_fate(rig.sim, NULL, NULL);
	ck_assert_uint_gt(n_lost, 0);
	expect_told("of its forwarding table; it is written again");
	rig_run(&rig, SWEEP_HEAVY);
	rig_expect_up(&rig);
	ck_assert_uint_eq(read_all().n_differ, 0);
}
END_TEST

/* Answers that come when a sweep has begun since, or is over, are of another moment. */
START_TEST(answers_of_before)
{
	struct fm_error err = { 0 };
	uint64_t turn;

	bring_up("pgft 2 4,4 1,2 1,1", 0);
	turn = sweeper_audit(rig.sweeper);
	sweeper_step(rig.sweeper);
	ck_assert_uint_gt(txn_outstanding(rig.txn), 0);
	sweeper_request(rig.sweeper, SWEEP_HEAVY, "test");
	sweeper_step(rig.sweeper);
	ck_assert_int_ne(sweeper_phase(rig.sweeper), PHASE_IDLE);
	for (int i = 0; i < 1000 && sweeper_phase(rig.sweeper) != PHASE_IDLE; i++) {
		ck_assert_uint_eq(audited().now.n_read, 0);
		ck_assert_msg(txn_poll(rig.txn, INT64_MAX, &err) >= 0, "%s", err.msg);
		sweeper_step(rig.sweeper);
	}
	pass(100);
	ck_assert_uint_eq(audited().last.number, turn);
	ck_assert_uint_eq(audited().last.n_differ, 0);
	ck_assert_uint_gt(audited().last.n_read, 500);
	ck_assert_str_eq(rig_log, "");
}
END_TEST

/* Cables, reboots, joins; after each of them what fmd believes is what there is, and what somebody
 * has written over meanwhile is found. */
static void
do_something(struct fm_rng *rng, struct sim_place *out)
{
	uint64_t guid =
	    fabric_port(sim_fabric(rig.sim), rig_host(&rig, fm_rng_below(rng, 8)), 1)->guid;

	switch (fm_rng_below(rng, 5)) {
	case 0:
		if (out->port == 0)
			*out = rig_lose_a_cable(&rig, rng);
		break;
	case 1:
		if (out->port != 0)
			sim_relink(rig.sim, out->node, out->port);
		out->port = 0;
		break;
	case 2:
		sim_reboot(rig.sim, rig_random_switch(&rig, rng), 20 * INT64_C(1000000));
		break;
	case 3:
		ck_assert(sweeper_set_member(
		    rig.sweeper, MLID, 0, guid, fm_rng_below(rng, 2) ? BOTH : MCAST_OUT));
		break;
	default:
		overwrite_all(rig_random_switch(&rig, rng), LOOK_LFT + fm_rng_below(rng, 4),
		    (uint8_t)fm_rng_next(rng));
	}
}

/* Other tables may wait for who drains. */
static void
expect_all_written(void)
{
	const uint32_t *n_of = sweeper_todo(rig.sweeper)->n_of;

	ck_assert_uint_eq(
	    n_of[TODO_TABLES] + n_of[TODO_MAPS] + n_of[TODO_GROUPS] + n_of[TODO_PKEYS], 0);
}

START_TEST(events_go_on)
{
	struct sim_place out = { 0 };
	struct fm_rng rng;

	fm_rng_seed(&rng, 1 + (uint64_t)_i);
	interval_ms = 10000;
	bring_up(_i % 2 == 0 ? "pgft 2 4,4 1,4 1,1" : "torus 3x3 2", TURN_MS);
	for (unsigned n = 0; n < 20; n++) {
		do_something(&rng, &out);
		pass(1 + fm_rng_below(&rng, 3000));
	}
	pass(2 * TURN_MS);
	rig_run(&rig, SWEEP_HEAVY);
	pass(3000);
	expect_all_written();
	rig_expect_up(&rig);
	ck_assert_uint_eq(read_all().n_differ, 0);
}
END_TEST

/* -------------------------------------------------------------------- the pace */

/* Of one turn: no second has more than 200 Gets, and the last is in the last tenth. */
START_TEST(pace)
{
	unsigned n_in[TURN_MS / 1000 + 2] = { 0 }, second = 0;
	const struct txn_counts *c;
	uint64_t before;
	int64_t begun_ms;

	bring_up(_i == 0 ? "pgft 2 4,4 1,2 1,1" : "pgft 2 18,18 1,18 1,1", TURN_MS);
	while (audited().last.number == 0)
		pass(10);
	c = txn_counts(rig.txn);
	begun_ms = audited().now.begun_ms - 500; /* batches are within a second */
	for (; second < TURN_MS / 1000; second++) {
		before = c->sent;
		pass(begun_ms + 1000 * (second + 1) - sim_now_ns(rig.sim) / INT64_C(1000000));
		n_in[second] = (unsigned)(c->sent - before);
		ck_assert_uint_le(n_in[second], 200);
	}
	ck_assert_uint_gt(n_in[TURN_MS / 1000 - 1], 0);
	ck_assert_uint_eq(audited().last.n_differ, 0);
}
END_TEST

static const struct look first_block = { .attr = WIRE_ATTR_LFT, .n_bytes = 64 };

/* What was on its way since before the switch lost its power comes after what is written now. */
static void
come_late(void *arg, const struct sim_trace *e)
{
	if (e->method != WIRE_SET || e->attr != WIRE_ATTR_LFT || e->node != *(uint32_t *)arg)
		return;
	sim_set_trace(rig.sim, NULL, NULL);
	overwrite(e->node, &first_block, 1);
}

/* A switch that lost its power counts as empty, and what it takes beside that is on no list: its
 * forwarding table is looked at, with audit = 0, too. */
START_TEST(a_rebooted_switch_is_read_back)
{
	uint32_t node;

	bring_up("pgft 2 4,4 1,2 1,1", 0);
	node = spine();
	sim_set_trace(rig.sim, come_late, &node);
	sim_reboot(rig.sim, node, INT64_C(1000000));
	pass(5000);
	ck_assert_uint_gt(n_as_believed(node, LOOK_LFT), 0);
	expect_told("of its forwarding table; it is written again");
	rig_expect_up(&rig);
}
END_TEST

/* No block of a forwarding table arrives. */
static enum sim_fate
lose_tables(void *arg, const struct sim_arrival *a, int64_t *late_ns)
{
	struct wire_header h;

	wire_header_get(a->mad, &h);
	return h.method == WIRE_GET_RESP && h.attr == WIRE_ATTR_LFT ? SIM_IS_LOST : SIM_COMES;
}

/* A table that is to be read at once is read when the switch answers again, with audit = 0, too. */
START_TEST(a_table_is_asked_for_again)
{
	uint32_t node;

	bring_up("pgft 2 4,4 1,2 1,1", 0);
	node = spine();
	overwrite(node, &first_block, 1);
	audit_table(rig.sweeper, slot_of(node));
	sim_set_fate(rig.sim, lose_tables, NULL);
	pass(10000);
	ck_assert_str_eq(rig_log, "");
	sim_set_fate(rig.sim, NULL, NULL);
	pass(5000);
	expect_told("of its forwarding table; it is written again");
	ck_assert_uint_gt(n_as_believed(node, LOOK_LFT), 0);
	ck_assert_int_eq(audit_due_ms(rig.sweeper), INT64_MAX);
}
END_TEST

/* What somebody asked for is told, whatever turns have told before. */
START_TEST(what_is_asked_for_is_told)
{
	struct audit_report r;
	uint64_t turn;

	bring_up("pgft 2 4,4 1,2 1,1", TURN_MS);
	pass(TURN_MS); /* the turn of now may have seen it already */
	for (unsigned i = 0; i < 2; i++) {
		overwrite_all(spine(), LOOK_LFT, 255);
		pass(TURN_MS);
	}
	expect_told("for the 2. turn in a row");
	rig_log_clear();
	sweeper_audited(rig.sweeper, &r);
	for (turn = r.now.number; r.now.number == turn; sweeper_audited(rig.sweeper, &r))
		pass(100);
	overwrite_all(spine(), LOOK_LFT, 255);
	if (_i == 0)
		audit_table(rig.sweeper, slot_of(spine()));
	else
		sweeper_audit(rig.sweeper);
	pass(2000);
	expect_told("turn in a row; it is written again");
}
END_TEST

/* Nobody is asked who is not ours to ask: as standby, in a dry run, with audit = 0. */
START_TEST(nobody_is_asked)
{
	uint64_t n_gets;

	bring_up("pgft 2 4,4 1,2 1,1", 0);
	n_gets = txn_counts(rig.txn)->gets_by_attr[WIRE_ATTR_LFT];
	pass(3 * TURN_MS);
	ck_assert_uint_eq(txn_counts(rig.txn)->gets_by_attr[WIRE_ATTR_LFT], n_gets);
	ck_assert_int_eq(audit_due_ms(rig.sweeper), INT64_MAX);
	rig.set.sweep.audit_ms = TURN_MS;
	sweeper_configure(rig.sweeper, &rig.set, &rig.chain, NULL);
	ck_assert_int_lt(audit_due_ms(rig.sweeper), INT64_MAX);
	rig.ha.state = WIRE_SM_STANDBY;
	ck_assert_int_eq(audit_due_ms(rig.sweeper), INT64_MAX);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("audit");
	TCase *tc = tcase_create("audit");
	int n = (int)(sizeof(overwritten) / sizeof(overwritten[0]));

	suite_add_tcase(s, tc);
	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, nothing_differs);
	tcase_add_loop_test(tc, written_again, 0, n);
	tcase_add_loop_test(tc, written_again_at_once, 0, n);
	tcase_add_loop_test(tc, all_of_it, 0, 2);
	tcase_add_test(tc, again_and_again);
	tcase_add_loop_test(tc, answers_are_lost, 0, 5);
	tcase_add_test(tc, answers_of_before);
	tcase_add_loop_test(tc, events_go_on, 0, n_cases(40));
	tcase_add_loop_test(tc, pace, 0, 2);
	tcase_add_test(tc, a_rebooted_switch_is_read_back);
	tcase_add_test(tc, a_table_is_asked_for_again);
	tcase_add_loop_test(tc, what_is_asked_for_is_told, 0, 2);
	tcase_add_test(tc, nobody_is_asked);
	return run_suite(s);
}
