/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Paths that get other SLs: the hosts that send by them are told to ask again, each
 * once and no others, and not before the plan has been given out.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <fmd/engine.h>

#include "lab/sim/sma.h"
#include "lib/bitset.h"
#include "tests/run.h"
#include "tests/sweep/rig.h"

static struct rig rig;

extern const struct fm_engine updn_LTX_fm_engine;

/* Ways of updn, one VL; what the hosts of the first switch send carries SL 1 or not. */
static int
route_by(uint8_t sl, const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_request *req, const void *opts, struct fm_tables *out, struct fm_error *err)
{
	int rc = updn_LTX_fm_engine.route(host, fab, req, opts, out, err);

	out->sl_shape = FM_SL_BY_SW_DLID;
	for (fm_sw s = 0; s < fab->n_switches; s++)
		memset(out->sl[s], s == fab->end_sw[0] ? sl : 0, fab->max_lid + 1u);
	return rc;
}

#define ENGINE(id, SL) \
	static int route_##id(const struct fm_host *host, const struct fm_fabric *fab, \
	    const struct fm_request *req, const void *opts, struct fm_tables *out, \
	    struct fm_error *err) \
	{ \
		return route_by(SL, host, fab, req, opts, out, err); \
	} \
	static struct fm_engine id = { .magic = FM_ABI_MAGIC, \
		.abi_major = FM_ABI_MAJOR, \
		.abi_minor = FM_ABI_MINOR, \
		.size = sizeof(struct fm_engine), \
		.option_row_size = sizeof(struct fm_option), \
		.name = #id, \
		.traits = FM_PROVIDES_LFT | FM_PROVIDES_SL, \
		.route = route_##id }

ENGINE(zero, 0);
ENGINE(one, 1);

static struct chain_entry entries[] = {
	{ .engine = &zero, .name = "zero" },
	{ .engine = &one, .name = "one" },
};

static void
use(unsigned i)
{
	struct fm_engine *engines[] = { &zero, &one };

	engines[i]->options = updn_LTX_fm_engine.options;
	engines[i]->options_size = updn_LTX_fm_engine.options_size;
	rig.chain.entries = &entries[i];
	rig.chain.n_entries = 1;
}

static uint32_t
n_told(uint32_t node)
{
	return fabric_port(sim_fabric(rig.sim), node, 1)->n_reregister;
}

static void
setup(void)
{
	rig_generate(&rig.nl, "pgft 2 4,4 1,4 1,1");
	rig_sim(&rig, NULL);
	use(0);
	rig_bring_up(&rig);
	use(1);
	rig_log_clear();
}

static void
teardown(void)
{
	rig_fini(&rig);
}

/* Does the host hang off the switch whose hosts send by other SLs? */
static bool
is_meant(uint32_t node)
{
	const struct fm_fabric *fab = &sweeper_plan(rig.sweeper)->snap->fab;
	uint32_t far = netlist_port(&rig.nl, node, 1)->peer_node;

	return rig.nl.nodes[far].guid == fab->sw_guid[fab->end_sw[0]];
}

/* Told of four hosts times those of the three other switches, and of all four switches
 * but their own. */
START_TEST(senders_are_told)
{
	uint32_t n_meant = 0;
	uint64_t sets;

	sweeper_configure(rig.sweeper, &rig.set, &rig.chain, NULL);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_str_eq(rig.last.engine, "one");
	ck_assert_str_eq(rig.last.reason, "paths carry other SLs");
	for (uint32_t n = 0; n < rig.nl.n_nodes; n++) {
		if (rig.nl.nodes[n].type == NETLIST_SWITCH)
			continue;
		ck_assert_msg(n_told(n) == is_meant(n), "host %s is told %u times",
		    rig.nl.nodes[n].id, n_told(n));
		n_meant += is_meant(n);
	}
	ck_assert_uint_eq(n_meant, 4);
	ck_assert_uint_eq(rig.last.sets_by_attr[WIRE_ATTR_PORT_INFO], 4);
	ck_assert_ptr_nonnull(strstr(rig_log,
	    "76 paths carry another SL than before; 4 ports are "
	    "told"));
	sets = rig_sets(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_uint_eq(rig_sets(&rig), sets);
}
END_TEST

START_TEST(nobody_is_told_who_is_not_to_be)
{
	rig.set.ports.client_reregister = false;
	sweeper_configure(rig.sweeper, &rig.set, &rig.chain, NULL);
	rig_run(&rig, SWEEP_HEAVY);
	for (uint32_t n = 0; n < rig.nl.n_nodes; n++)
		ck_assert(rig.nl.nodes[n].type == NETLIST_SWITCH || n_told(n) == 0);
	ck_assert_ptr_nonnull(strstr(rig_log, "4 ports are not told"));
}
END_TEST

/* A cable goes and the tables are repaired: SLs stay, and nobody is told. */
START_TEST(repairs_keep_them)
{
	uint32_t leaf = netlist_port(&rig.nl, rig.place, 1)->peer_node;

	sweeper_configure(rig.sweeper, &rig.set, &rig.chain, NULL);
	rig_run(&rig, SWEEP_HEAVY);
	rig_log_clear();
	for (unsigned p = 1; p <= rig.nl.nodes[leaf].n_ports; p++) {
		uint32_t far = netlist_port(&rig.nl, leaf, p)->peer_node;

		if (far == NETLIST_NONE || rig.nl.nodes[far].type != NETLIST_SWITCH)
			continue;
		sim_unlink(rig.sim, leaf, p);
		break;
	}
	rig_let_pass(&rig, 3000);
	rig_run(&rig, SWEEP_LIGHT);
	ck_assert(sweeper_plan(rig.sweeper)->made != PLAN_ROUTED);
	ck_assert_uint_gt(sweeper_plan(rig.sweeper)->deviations.n, 0);
	ck_assert_ptr_null(strstr(rig_log, "another SL"));
	for (uint32_t n = 0; n < rig.nl.n_nodes; n++)
		ck_assert(rig.nl.nodes[n].type == NETLIST_SWITCH || n_told(n) == is_meant(n));
}
END_TEST

/* ------------------------------------------------ entries that wait for the hosts */

#define SWITCHES 24
#define LIDS 192

extern const struct fm_engine dfsssp_LTX_fm_engine;

static struct chain_entry layered = { .engine = &dfsssp_LTX_fm_engine, .name = "dfsssp" };

/* What is seen at the agents, after each SMP. */
static struct {
	uint8_t held[SWITCHES][LIDS]; /* entries */
	uint32_t n_reregister;	      /* of all hosts */
	uint32_t n_told, n_filled;
	int64_t told_ns, filled_ns; /* the last; the first */
} seen;

static uint32_t
count_reregister(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < rig.nl.n_nodes; i++)
		n += rig.nl.nodes[i].type == NETLIST_CA ? n_told(i) : 0;
	return n;
}

static void
look_at_entries(int64_t at_ns)
{
	uint32_t sw = 0;

	for (uint32_t i = 0; i < rig.nl.n_nodes; i++)
		for (uint16_t lid = 1; rig_is_switch(&rig, i) && lid < LIDS; lid++) {
			uint8_t was, now = sim_lft(rig.sim, i, lid);

			sw += lid == 1;
			was = seen.held[sw - 1][lid];
			seen.held[sw - 1][lid] = now;
			if (was != 255 || now == 255 || !fm_bit_test(rig.drained, lid))
				continue;
			seen.filled_ns = seen.n_filled++ == 0 ? at_ns : seen.filled_ns;
		}
}

static void
on_smp(void *arg, const struct sim_trace *e)
{
	uint32_t n = count_reregister();

	(void)arg;
	if (n > seen.n_reregister) {
		seen.n_told += n - seen.n_reregister;
		seen.told_ns = e->at_ns;
	}
	seen.n_reregister = n;
	if (e->attr == WIRE_ATTR_LFT)
		look_at_entries(e->at_ns);
}

static void
setup_layered(void)
{
	rig_generate(&rig.nl, "random 24 4 1 3");
	rig_sim(&rig, NULL);
	rig.chain.entries = &layered;
	rig.chain.n_entries = 1;
	rig_bring_up(&rig);
}

/* Cables between switches go and come back, one after another, until one is found upon which
 * pairs move and entries are emptied.  Its switch, and port. */
static uint32_t
lose_a_cable(unsigned *port, bool (*run)(struct rig *r))
{
	for (uint32_t i = 0; i < rig.nl.n_nodes; i++)
		for (unsigned p = 1; rig_is_switch(&rig, i) && p <= rig.nl.nodes[i].n_ports; p++) {
			uint32_t far = netlist_port(&rig.nl, i, p)->peer_node;

			if (far == NETLIST_NONE || far < i || !rig_is_switch(&rig, far))
				continue;
			memset(&seen, 0, sizeof(seen));
			memset(rig.drained, 0, sizeof(rig.drained));
			seen.n_reregister = count_reregister();
			look_at_entries(0);
			rig_log_clear();
			sim_set_trace(rig.sim, on_smp, NULL);
			sim_unlink(rig.sim, i, p);
			*port = p;
			if (run(&rig) || strstr(rig_log, "carry other SLs") != NULL)
				return i;
			sim_relink(rig.sim, i, p);
			rig_let_pass(&rig, 3000);
			rig_run(&rig, SWEEP_LIGHT);
		}
	ck_abort_msg("no cable makes pairs move so that entries are emptied");
	return NETLIST_NONE;
}

static bool
run_through(struct rig *r)
{
	rig_let_pass(r, 3000);
	rig_run(r, SWEEP_LIGHT);
	return strstr(rig_log, "LIDs are emptied until the hosts") != NULL;
}

START_TEST(entries_stay_empty_till_hosts_are_told)
{
	unsigned port;
	uint32_t n_ports;
	const char *told;

	lose_a_cable(&port, run_through);
	told = strstr(rig_log, " ports are told");
	ck_assert_ptr_nonnull(told);
	while (told > rig_log && told[-1] != ' ')
		told--;
	n_ports = (uint32_t)strtoul(told, NULL, 10);
	ck_assert_uint_gt(n_ports, 0);
	ck_assert_uint_eq(seen.n_told, n_ports);
	ck_assert_uint_gt(seen.n_filled, 0);
	ck_assert_int_ge(
	    seen.filled_ns, seen.told_ns + rig.set.transition.packet_life_ms * 1000000);
	rig_expect_up(&rig);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("repath");
	TCase *tc = tcase_create("repath");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, senders_are_told);
	tcase_add_test(tc, nobody_is_told_who_is_not_to_be);
	tcase_add_test(tc, repairs_keep_them);
	suite_add_tcase(s, tc);
	tc = tcase_create("held");
	tcase_set_timeout(tc, 300);
	tcase_add_checked_fixture(tc, setup_layered, teardown);
	tcase_add_test(tc, entries_stay_empty_till_hosts_are_told);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
