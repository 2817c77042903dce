/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Paths that get other SLs: the hosts that send by them are told to ask again, each
 * once and no others, and not before the plan has been given out.
 */
#include <check.h>
#include <string.h>

#include <fmd/engine.h>

#include "core/sim/sma.h"
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
		.option_size = sizeof(struct fm_option), \
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
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	rig_expect_up(&rig);
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
	rig.set.client_reregister = false;
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
	ck_assert(sweeper_plan(rig.sweeper)->repaired || sweeper_plan(rig.sweeper)->kept);
	ck_assert_uint_gt(sweeper_plan(rig.sweeper)->deviations.n, 0);
	ck_assert_ptr_null(strstr(rig_log, "another SL"));
	for (uint32_t n = 0; n < rig.nl.n_nodes; n++)
		ck_assert(rig.nl.nodes[n].type == NETLIST_SWITCH || n_told(n) == is_meant(n));
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
	return run_suite(s);
}
