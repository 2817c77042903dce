/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hosts that still send by SLs from before: a ring of six switches, where each LID leaves one
 * cable out, this one or that one.  LIDs that leave out different ones are free of deadlocks
 * in VLs of their own, and in one VL together they are not.  So the judge of locks.h sees a
 * ring of waiting packets as soon as entries are written that are not safe under SLs that
 * some host was told, though each plan by itself is proven.
 */
#include <check.h>
#include <string.h>

#include <fmd/engine.h>

#include "core/inventory/fields.h"
#include "core/sweep/internal.h"
#include "lab/sim/sma.h"
#include "lib/bitset.h"
#include "tests/run.h"
#include "tests/sweep/locks.h"

#define N 6u /* switches */

/* Tables, by the class of the LID: hosts of each second switch are of class 1. */
struct ways {
	unsigned cut[2]; /* the cable left out leads from this switch to the next */
	uint8_t sl[2];
	uint8_t n_vls;
	bool by_ports; /* maps, that say the same */
};

static struct rig rig;
static struct locks *locks;
static struct ways now;
static bool deaf; /* hosts to come know no ClientReregister */

/* Switches in the order of the ring. */
static void
find_ring(const struct fm_fabric *fab, fm_sw ring[N], unsigned place[N])
{
	ck_assert_uint_eq(fab->n_switches, N);
	for (unsigned i = 0; i < N; i++) {
		fm_sw sw = i == 0 ? 0 : ring[i - 1];
		fm_link l = fab->sw_first_link[sw];

		if (i > 1 && fab->link_to[l] == ring[i - 2])
			l++;
		ring[i] = i == 0 ? 0 : fab->link_to[l];
		place[ring[i]] = i;
	}
}

static uint8_t
port_between(const struct fm_fabric *fab, fm_sw from, fm_sw to)
{
	for (fm_link l = fab->sw_first_link[from]; l < fab->sw_first_link[from + 1]; l++)
		if (fab->link_to[l] == to)
			return fab->link_port[l];
	return FM_PORT_NONE;
}

static unsigned
class_of(const struct fm_fabric *fab, fm_end end, const unsigned place[N])
{
	return fab->end_kind[end] == FM_END_SWITCH ? 0 : place[fab->end_sw[end]] % 2;
}

static void
fill_maps(const struct fm_fabric *fab, struct fm_tables *out)
{
	out->sl2vl_shape = now.by_ports ? FM_SL2VL_BY_IN_OUT : FM_SL2VL_MODULO;
	for (fm_sw s = 0; now.by_ports && s < fab->n_switches; s++) {
		unsigned side = fab->sw_n_ports[s] + 1u;

		for (unsigned i = 0; i < side * side * 16; i++)
			out->sl2vl[out->sl2vl_first[s] * 16 + i] = i % 16 % now.n_vls;
	}
}

static int
route_ring(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	fm_sw ring[N];
	unsigned place[N];

	(void)host;
	(void)req;
	(void)opts;
	(void)err;
	find_ring(fab, ring, place);
	out->sl_shape = FM_SL_BY_DLID;
	out->n_vls_used = now.n_vls;
	memset(out->sl[0], 0, fab->max_lid + 1u);
	for (uint16_t lid = 1; lid <= fab->max_lid; lid++) {
		fm_end end = fab->lid_end[lid];
		unsigned class = end != FM_NONE ? class_of(fab, end, place) : 0;
		unsigned first = now.cut[class] + 1; /* of the line that is left of the ring */

		if (end == FM_NONE)
			continue;
		out->sl[0][lid] = now.sl[class];
		for (fm_sw s = 0; s < N; s++) {
			unsigned at = (place[s] + N - first) % N;
			unsigned to = (place[fab->end_sw[end]] + N - first) % N;

			out->lft[s][lid] = at == to
			    ? fab->end_port[end]
			    : port_between(fab, s, ring[(place[s] + (at < to ? 1 : N - 1)) % N]);
		}
	}
	fill_maps(fab, out);
	return 0;
}

static const struct fm_engine engine = { .magic = FM_ABI_MAGIC,
	.abi_major = FM_ABI_MAJOR,
	.abi_minor = FM_ABI_MINOR,
	.size = sizeof(struct fm_engine),
	.option_row_size = sizeof(struct fm_option),
	.name = "ring",
	.traits = FM_PROVIDES_LFT | FM_PROVIDES_SL,
	.route = route_ring };

static void
make_deaf(void)
{
	struct wire_port_info info;

	for (uint32_t n = 0; n < rig.nl.n_nodes; n++) {
		if (rig_is_switch(&rig, n))
			continue;
		sim_port_info(rig.sim, n, 1, &info);
		info.capability_mask &= ~CAP_CLIENT_REREGISTER;
		wire_port_info_put(fabric_port(sim_fabric(rig.sim), n, 1)->info, &info);
	}
}

static void
bring_up(struct ways first)
{
	rig_generate(&rig.nl, "torus 6 2");
	rig_sim_overtaking(&rig, 1);
	if (deaf)
		make_deaf();
	now = first;
	rig_use(&rig, &engine);
	rig.set.transition.drain = PLAN_DRAIN_ALWAYS;
	rig.set.routing.sl_model = VERIFY_FORWARD; /* replies go another way round */
	rig_bring_up(&rig);
	locks = locks_watch(&rig);
}

static void
teardown(void)
{
	locks_fini(locks);
	locks = NULL;
	deaf = false;
	rig_fini(&rig);
}

/* From the next plan on. */
static void
change_to(struct ways next)
{
	now = next;
	rig_route_anew(&rig);
}

/* The rig's, and what comes as soon as the sweep has ended. */
static sweep_done tell_rig;
static const struct ways *at_once;

static unsigned n_failed; /* sweeps */
static unsigned n_hushed; /* 2: hosts will not answer in the next sweep, 1: do not in this one */

static void
hush(bool silent)
{
	for (uint32_t n = 0; n < rig.nl.n_nodes; n++)
		if (!rig_is_switch(&rig, n) && n != rig.place)
			sim_silence(rig.sim, n, silent);
}

static void
on_done(void *arg, const struct sweep_report *report)
{
	const struct ways *next = at_once;

	tell_rig(arg, report);
	n_failed += report->outcome == SWEEP_FAILED;
	at_once = NULL;
	if (next != NULL)
		change_to(*next);
	if (n_hushed > 0)
		hush(--n_hushed == 1);
}

static void
when_that_has_ended(const struct ways *next)
{
	tell_rig = rig.sweeper->done;
	at_once = next;
	sweeper_on_done(rig.sweeper, on_done, &rig);
}

static void
run_to(enum sweep_phase phase)
{
	struct fm_error err = { 0 };

	while (sweeper_phase(rig.sweeper) != phase) {
		sweeper_step(rig.sweeper);
		ck_assert_int_ge(txn_poll(rig.txn, sim_now_ns(rig.sim) + 1000, &err), 0);
	}
}

static void
settle(void)
{
	rig_run(&rig, SWEEP_HEAVY);
	rig_let_pass(&rig, 3000);
	rig_run(&rig, SWEEP_HEAVY);
	rig_expect_up(&rig);
	ck_assert_str_eq(sweeper_plan(rig.sweeper)->engine, "ring");
	ck_assert_ptr_null(at_once);
}

static const struct ways one_line = { { 5, 5 }, { 0, 0 }, 3, false },
			 one_line_two_sls = { { 5, 5 }, { 1, 2 }, 3, false },
			 two_lines = { { 5, 2 }, { 1, 2 }, 3, false };

static struct ways
by_ports(struct ways w, bool by)
{
	w.by_ports = by;
	return w;
}

/* Entries that are not safe under the SLs from before are filled when hosts have been told of
 * the new ones, whatever VLs go by. */
START_TEST(other_ways_and_other_sls)
{
	bring_up(by_ports(one_line, _i));
	change_to(by_ports(two_lines, _i));
	settle();
	ck_assert_msg(locks_n_rings(locks) == 0, "%u rings in %u moments, %s", locks_n_rings(locks),
	    locks_n_looks(locks), locks_first(locks));
	ck_assert_uint_gt(fm_bit_count(rig.drained, 64 * 768), 0);
}
END_TEST

/* The judge can find something. */
START_TEST(without_a_drain_there_is_a_ring)
{
	bring_up(by_ports(one_line, _i));
	rig.set.transition.drain = PLAN_DRAIN_NEVER;
	change_to(by_ports(two_lines, _i));
	settle();
	ck_assert_uint_gt(locks_n_rings(locks), 0);
}
END_TEST

/* SLs change, and no entry; before hosts have been told of that entries are to change.  The new
 * entries are safe under the last SLs, and not under those that hosts were told. */
START_TEST(other_ways_before_hosts_are_told)
{
	struct ways first = one_line;

	first.n_vls = _i == 0 ? 3 : 1;
	bring_up(first);
	change_to(one_line_two_sls);
	when_that_has_ended(&two_lines);
	settle();
	ck_assert_msg(locks_n_rings(locks) == 0, "%u rings in %u moments, %s", locks_n_rings(locks),
	    locks_n_looks(locks), locks_first(locks));
	ck_assert_uint_gt(locks_n_looks(locks), 0);
}
END_TEST

/* Hosts do not answer when they are to be told: entries that are not safe for them stay empty
 * till they have been sought once more. */
START_TEST(hosts_that_do_not_hear)
{
	bring_up(one_line);
	n_hushed = 2;
	n_failed = 0;
	when_that_has_ended(NULL);
	change_to(two_lines);
	rig_run(&rig, SWEEP_NONE);
	settle();
	ck_assert_msg(locks_n_rings(locks) == 0, "%u rings in %u moments, %s", locks_n_rings(locks),
	    locks_n_looks(locks), locks_first(locks));
	ck_assert_ptr_null(strstr(rig_log, "could not be told"));
}
END_TEST

/* Nobody waits for hosts that cannot be told; that is said. */
START_TEST(hosts_that_cannot_hear)
{
	deaf = true;
	bring_up(one_line);
	n_failed = 0;
	when_that_has_ended(NULL);
	change_to(two_lines);
	settle();
	ck_assert_uint_eq(n_failed, 0);
	ck_assert_ptr_nonnull(strstr(rig_log, "could not be told"));
}
END_TEST

/* A switch has not emptied what it was to: other SLs than those it was proven with are not
 * given out.  When it answers again all is made good. */
START_TEST(a_switch_keeps_what_it_was_to_empty)
{
	uint64_t before;
	uint32_t silent = 0;

	bring_up(one_line);
	before = sweeper_plan(rig.sweeper)->number;
	while (!rig_is_switch(&rig, silent) ||
	    silent == netlist_port(&rig.nl, rig.place, 1)->peer_node)
		silent++;
	change_to(two_lines);
	run_to(PHASE_TABLES);
	sim_silence(rig.sim, silent, true);
	rig_run(&rig, SWEEP_NONE);
	ck_assert_int_eq(rig.last.outcome, SWEEP_FAILED);
	ck_assert_uint_eq(sweeper_plan(rig.sweeper)->number, before);
	sim_silence(rig.sim, silent, false);
	settle();
	ck_assert_msg(locks_n_rings(locks) == 0, "%u rings in %u moments, %s", locks_n_rings(locks),
	    locks_n_looks(locks), locks_first(locks));
	ck_assert_uint_ne(sweeper_plan(rig.sweeper)->number, before);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("ring");
	TCase *t = tcase_create("all");

	tcase_set_timeout(t, 300);
	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_loop_test(t, other_ways_and_other_sls, 0, 2);
	tcase_add_loop_test(t, without_a_drain_there_is_a_ring, 0, 2);
	tcase_add_loop_test(t, other_ways_before_hosts_are_told, 0, 2);
	tcase_add_test(t, hosts_that_do_not_hear);
	tcase_add_test(t, hosts_that_cannot_hear);
	tcase_add_test(t, a_switch_keeps_what_it_was_to_empty);
	suite_add_tcase(s, t);
	return run_suite(s);
}
