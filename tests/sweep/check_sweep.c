/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sweeps on simulated fabrics: bring-up, faults, change, restart.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/log.h"
#include "tests/folder.h"
#include "tests/run.h"
#include "core/sweep/well.h"
#include "tests/sweep/rig.h"

extern const struct fm_engine minhop_LTX_fm_engine;

static struct rig rig;

static void
teardown(void)
{
	rig_fini(&rig);
}

static void
bring_up(const char *words, const struct sim_options *o)
{
	rig_generate(&rig.nl, words);
	rig_sim(&rig, o);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
}

static const char *const fabrics[] = { "pgft 2 4,4 1,4 1,1", "pgft 3 2,2,4 1,2,2 1,1,2",
	"torus 3x3x2 2", "random 12 4 24 7", "dragonfly 4 2 2", "hypercube 3 2" };

START_TEST(test_fabrics)
{
	bring_up(fabrics[_i], NULL);
	rig_expect_up(&rig);
	ck_assert_msg(rig.last.n_ports_not_active == 0, "%u ports are not active:\n%s",
	    rig.last.n_ports_not_active, rig_log);
	ck_assert_uint_eq(rig.last.timeouts, 0);
	ck_assert_uint_eq(rig.last.refused, 0); /* no port is made active twice */
}
END_TEST

static const struct {
	const char *file;
	uint32_t n_switches, n_ends; /* CAs and routers that our port can reach */
	bool at_switch;		     /* the SM sits on port 0 of the first switch */
} edges[] = { { "two-cas.net", 0, 2, false }, { "one-switch.net", 1, 3, false },
	{ "one-switch.net", 1, 3, true }, { "sm-port0.net", 2, 2, true },
	{ "dual-port.net", 2, 2, false }, { "router.net", 2, 3, false },
	{ "two-components.net", 2, 2, false }, { "aggregation.net", 4, 6, false } };

START_TEST(test_edge_fabrics)
{
	char path[512];
	struct fm_error err = { 0 };
	const char *srcdir = getenv("srcdir");

	snprintf(path, sizeof(path), "%s/tests/fabrics/%s", srcdir ? srcdir : "..", edges[_i].file);
	ck_assert_msg(netlist_read(path, &rig.nl, &err) == 0, "%s", err.msg);
	rig_sim(&rig, NULL);
	if (edges[_i].at_switch) {
		rig.place = 0;
		while (rig.nl.nodes[rig.place].type != NETLIST_SWITCH)
			rig.place++;
		rig.port = 0;
	}
	rig_bring_up(&rig);
	ck_assert_uint_eq(rig.last.n_switches, edges[_i].n_switches);
	ck_assert_uint_eq(rig.last.n_cas + rig.last.n_routers, edges[_i].n_ends);
	ck_assert_uint_eq(rig.last.n_ports_not_active, 0);
}
END_TEST

START_TEST(test_unchanged_sends_no_set)
{
	uint64_t sets;

	bring_up(fabrics[_i], NULL);
	sets = rig_sets(&rig);
	ck_assert_uint_gt(sets, 0);
	rig_run(&rig, SWEEP_HEAVY);
	rig_expect_up(&rig);
	ck_assert_uint_eq(rig_sets(&rig), sets);
	ck_assert_uint_eq(rig.last.sets, 0);
}
END_TEST

static char warnings[1024];

static void
keep_warnings(void *arg, enum fm_log_level level, const char *subsystem, const char *line)
{
	if (level == FM_LOG_WARN && warnings[0] == '\0')
		snprintf(warnings, sizeof(warnings), "%s", line);
}

/* credit_loops = warn: a warning that shows one of them, once. */
START_TEST(test_credit_loops_are_warned_of)
{
	rig_generate(&rig.nl, "torus 6 1");
	rig_sim(&rig, NULL);
	rig_use(&rig, &minhop_LTX_fm_engine);
	rig.chain.allow_credit_loops = true;
	warnings[0] = '\0';
	fm_log_set_sink(keep_warnings, NULL);
	rig_bring_up(&rig);
	ck_assert_str_eq(rig.last.engine, "minhop");
	ck_assert_msg(
	    strstr(warnings, "routes of engine minhop may deadlock") != NULL, "%s", warnings);
	ck_assert_msg(strstr(warnings, "credit loop over ") != NULL, "%s", warnings);
	ck_assert_msg(strstr(warnings, " port ") != NULL, "%s", warnings);
	warnings[0] = '\0';
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_str_eq(warnings, "");
}
END_TEST

/* A ring that is cut is a row; a host that comes at its far end is no news. */
START_TEST(test_longer_paths_are_warned_of)
{
	static const char words[] = "paths have become longer: ";
	uint32_t sw, host;

	bring_up("torus 8 1", NULL);
	rig_log_clear();
	host = rig_host(&rig, 0);
	sw = netlist_port(&rig.nl, host, 1)->peer_node;
	sim_unlink(rig.sim, host, 1);
	rig_settle(&rig);
	sim_relink(rig.sim, host, 1);
	rig_settle(&rig);
	ck_assert_ptr_null(strstr(rig_log, words));
	for (unsigned p = 1; p <= rig.nl.nodes[sw].n_ports; p++)
		if (rig_is_switch(&rig, netlist_port(&rig.nl, sw, p)->peer_node)) {
			sim_unlink(rig.sim, sw, p);
			break;
		}
	rig_settle(&rig);
	ck_assert_msg(strstr(rig_log, "and at most 8, before") != NULL, "%s", rig_log);
	rig_log_clear();
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_ptr_null(strstr(rig_log, words));
}
END_TEST

/* A light sweep: one Get a switch, one of our own port, and one of whom the switch that we hang on
 * obeys. */
START_TEST(test_light_costs_a_get_per_switch)
{
	bring_up("pgft 2 4,4 1,4 1,1", NULL);
	rig_run(&rig, SWEEP_LIGHT);
	ck_assert_int_eq(rig.last.outcome, SWEEP_UNCHANGED);
	ck_assert_uint_eq(rig.last.gets, rig.last.n_switches + 2);
	ck_assert_uint_eq(rig.last.sets, 0);
}
END_TEST

static const double losses[] = { 0.01, 0.1, 0.3 };

START_TEST(test_loss)
{
	struct sim_options o;

	sim_options_default(&o);
	o.seed = 17u + (uint64_t)_i;
	o.loss = losses[_i % 3];
	o.dup = 0.05;
	o.delay_max_ns = 300000;
	bring_up(fabrics[_i / 3], &o);
	rig_expect_up(&rig);
	ck_assert_uint_eq(rig.last.n_cas + rig.last.n_switches, rig.nl.n_nodes);
	ck_assert_uint_eq(rig.last.n_ports_not_active, 0);
}
END_TEST

START_TEST(test_strict)
{
	struct sim_options o;

	sim_options_default(&o);
	o.strict = true;
	bring_up("pgft 3 2,2,4 1,2,2 1,1,2", &o);
	rig_expect_up(&rig);
}
END_TEST

static void
restart(void)
{
	rig_stop(&rig);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
}

static char state_dir[FOLDER_ROOM];

static void
bring_up_with_store(void)
{
	struct fm_error err;

	folder_make(state_dir);
	rig_generate(&rig.nl, "pgft 2 4,4 1,4 1,1");
	rig_sim(&rig, NULL);
	ck_assert_int_eq(store_open(state_dir, &rig.store, &err), 0);
	rig_bring_up(&rig);
}

START_TEST(test_restart_writes_nothing)
{
	uint64_t sets;

	bring_up_with_store();
	sets = rig_sets(&rig);
	restart();
	rig_expect_up(&rig);
	ck_assert_uint_eq(rig_sets(&rig), sets);
	folder_remove(state_dir);
}
END_TEST

/* Settings that ride along reach ports in use when they have changed. */
START_TEST(test_restart_with_other_settings)
{
	uint64_t sets;

	bring_up_with_store();
	sets = rig_sets(&rig);
	rig.set.ports.subnet_timeout--;
	restart();
	ck_assert_uint_eq(rig_sets(&rig), sets + rig.last.n_lids);
	restart();
	ck_assert_uint_eq(rig_sets(&rig), sets + rig.last.n_lids);
	folder_remove(state_dir);
}
END_TEST

/* The store is damaged: LIDs stay as they are in the fabric. */
START_TEST(test_restart_with_damaged_store)
{
	struct fm_error err;
	char path[64];
	uint64_t sets;

	bring_up_with_store();
	sets = rig_sets(&rig);
	rig_stop(&rig);
	store_close(rig.store);
	snprintf(path, sizeof(path), "%s/data.mdb", state_dir);
	ck_assert_int_eq(truncate(path, 4096), 0);
	ck_assert_int_eq(store_open(state_dir, &rig.store, &err), 0);
	ck_assert_ptr_nonnull(strstr(rig_log, "set aside"));
	rig_bring_up(&rig);
	ck_assert_uint_eq(rig_sets(&rig), sets);
	folder_remove(state_dir);
}
END_TEST

/* Fewer VLs are configured: links in use are left alone, and that is said once. */
START_TEST(test_active_links_are_not_bounced)
{
	uint64_t sets;

	bring_up("pgft 2 4,4 1,4 1,1", NULL);
	ck_assert_ptr_null(strstr(rig_log, "active links are left"));
	sets = rig_sets(&rig);
	rig.set.ports.max_op_vls = 1; /* 2 data VLs */
	restart();
	ck_assert_ptr_nonnull(strstr(rig_log, "32 active links are left"));
	rig_log_clear();
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_ptr_null(strstr(rig_log, "active links are left"));
	ck_assert_uint_eq(rig_sets(&rig), sets);
}
END_TEST

/* Without a store the LIDs in the ports are honoured. */
START_TEST(test_restart_without_store)
{
	uint64_t sets;

	bring_up("torus 3x3x2 2", NULL);
	sets = rig_sets(&rig);
	restart();
	rig_expect_up(&rig);
	ck_assert_uint_eq(rig_sets(&rig), sets);
}
END_TEST

START_TEST(test_dead_node)
{
	uint32_t victim;

	rig_generate(&rig.nl, "pgft 2 4,4 1,4 1,1");
	rig_sim(&rig, NULL);
	victim = rig.place + 3;
	ck_assert_int_eq(rig.nl.nodes[victim].type, NETLIST_CA);
	sim_silence(rig.sim, victim, true);
	rig_bring_up(&rig);
	ck_assert_uint_eq(rig.last.n_silent, 1);
	ck_assert_uint_eq(rig.last.n_cas, 15);
	ck_assert_ptr_nonnull(strstr(rig_log, "nobody answers behind"));
	/* it comes alive: the next light sweep finds it */
	sim_silence(rig.sim, victim, false);
	rig_run(&rig, SWEEP_LIGHT);
	rig_expect_up(&rig);
	ck_assert_uint_eq(rig.last.n_cas, 16);
}
END_TEST

/* The first switch of the fabric that has hosts and is not ours. */
static uint32_t
switch_of(uint32_t ca)
{
	return netlist_port(&rig.nl, ca, 1)->peer_node;
}

static uint32_t
last_of(enum netlist_node_type type)
{
	uint32_t n = rig.nl.n_nodes;

	while (n-- > 0)
		if (rig.nl.nodes[n].type == type)
			return n;
	ck_abort_msg("no such node");
	return 0;
}

START_TEST(test_duplicate_ca)
{
	uint32_t twin;

	rig_generate(&rig.nl, "pgft 2 4,4 1,4 1,1");
	rig_sim(&rig, NULL);
	twin = last_of(NETLIST_CA);
	sim_set_guid(rig.sim, twin, rig.nl.nodes[rig.place + 1].guid);
	rig_bring_up(&rig);
	ck_assert_uint_eq(rig.last.n_duplicates, 1);
	ck_assert_uint_eq(rig.last.n_cas, 15);
	ck_assert_ptr_nonnull(strstr(rig_log, "duplicate GUID"));
}
END_TEST

START_TEST(test_duplicate_switch)
{
	uint32_t mine, twin;

	rig_generate(&rig.nl, "pgft 2 4,4 1,4 1,1");
	rig_sim(&rig, NULL);
	mine = switch_of(rig.place + 5);
	twin = switch_of(last_of(NETLIST_CA));
	ck_assert_uint_ne(mine, twin);
	sim_set_guid(rig.sim, twin, rig.nl.nodes[mine].guid);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_int_eq(rig.last.outcome, SWEEP_UP);
	ck_assert_uint_ge(rig.last.n_duplicates, 1);
	ck_assert_uint_eq(rig.last.n_cas, 12); /* the hosts of the other one are out */
	ck_assert_ptr_nonnull(strstr(rig_log, "duplicate GUID"));
}
END_TEST

/* When the spine is asked for this port, the cable at it is put in. */
static struct {
	uint32_t spine;
	unsigned port;
	bool done;
} late;

static void
put_in_late(void *arg, const struct sim_trace *e)
{
	if (late.done || e->node != late.spine || e->attr != WIRE_ATTR_PORT_INFO ||
	    e->modifier != late.port)
		return;
	late.done = true;
	sim_relink(rig.sim, late.spine, late.port);
}

/* A spine is switched on again, one of its cables is put in a moment later, while the spine
 * is read: one port of it says that it has no link, and the leaf, whose trap has come since,
 * that it has.  Nobody's GUID is there twice.  (The spine has no LID yet, so no trap of its
 * own tells that it has changed.) */
START_TEST(test_cabled_while_read)
{
	struct sim_options o;

	sim_options_default(&o);
	o.train_ns = 1000; /* before the spine has been read to the end */
	rig_generate(&rig.nl, "pgft 2 4,4 1,2 1,1");
	rig_sim(&rig, &o);
	rig_bring_up(&rig);
	late.spine = last_of(NETLIST_SWITCH);
	late.port = 1 + (unsigned)_i;
	late.done = false;
	sim_unlink(rig.sim, late.spine, late.port);
	sim_reboot(rig.sim, late.spine, INT64_C(50000000));
	rig_let_pass(&rig, 20);
	ck_assert_uint_eq(rig.last.n_switches, 5);
	sim_set_trace(rig.sim, put_in_late, NULL);
	rig_log_clear();
	rig_let_pass(&rig, 200);
	rig_expect_up(&rig);
	ck_assert(late.done);
	ck_assert_uint_eq(rig.last.n_switches, 6);
	ck_assert_uint_eq(rig.last.n_links, 24);
	ck_assert_msg(strstr(rig_log, "duplicate GUID") == NULL, "%s", rig_log);
}
END_TEST

START_TEST(test_loopback_cable)
{
	uint32_t host, other, sw;
	unsigned p, q;

	rig_generate(&rig.nl, "pgft 2 4,4 1,4 1,1");
	host = last_of(NETLIST_CA);
	other = host - 1;
	sw = switch_of(host);
	ck_assert_uint_eq(switch_of(other), sw);
	p = netlist_port(&rig.nl, host, 1)->peer_port;
	q = netlist_port(&rig.nl, other, 1)->peer_port;
	netlist_uncable(&rig.nl, host, 1);
	netlist_uncable(&rig.nl, other, 1);
	netlist_cable(&rig.nl, sw, p, sw, q, 25000);
	rig_sim(&rig, NULL);
	rig_bring_up(&rig);
	ck_assert_uint_eq(rig.last.n_cas, 14);
	ck_assert_uint_eq(rig.last.n_loops, 1);
	ck_assert_ptr_nonnull(strstr(rig_log, "loopback cable"));
}
END_TEST

/* A cable between switches goes and comes back: traps name the switches. */
START_TEST(test_trap_link)
{
	uint32_t sw, gets;
	unsigned port = 0;

	bring_up("pgft 2 4,4 1,4 1,1", NULL);
	gets = (uint32_t)rig.last.gets;
	sw = switch_of(rig.place);
	for (unsigned p = 1; p <= rig.nl.nodes[sw].n_ports; p++) {
		uint32_t far = netlist_port(&rig.nl, sw, p)->peer_node;

		if (far != NETLIST_NONE && rig.nl.nodes[far].type == NETLIST_SWITCH)
			port = p;
	}
	sim_unlink(rig.sim, sw, port);
	rig_let_pass(&rig, 2000);
	ck_assert_uint_ge(rig.n_reports, 2);
	ck_assert_int_eq(rig.last.scope, SWEEP_NAMED);
	rig_expect_up(&rig);
	ck_assert_uint_eq(rig.last.n_links, 31);
	ck_assert_uint_lt(rig.last.gets, gets / 2);
	ck_assert_uint_eq(rig.last.gets_by_attr[WIRE_ATTR_PKEY_TABLE], 0);
	sim_relink(rig.sim, sw, port);
	rig_let_pass(&rig, 2000);
	rig_expect_up(&rig);
	ck_assert_uint_eq(rig.last.n_links, 32);
	ck_assert_uint_eq(rig.last.n_ports_not_active, 0);
}
END_TEST

/* A cable of a switch behind which hosts do not answer: they are asked anew, and nobody waits for
 * long (100 ms of the fabric's time), nor where a light sweep was under way.  Who has come alive
 * is found thereby. */
START_TEST(test_trap_beside_silent_hosts)
{
	uint32_t victim, sw;
	unsigned port;
	int64_t start_ns;

	rig_generate(&rig.nl, "pgft 2 4,4 1,4 1,1");
	rig_sim(&rig, NULL);
	victim = rig.place + 6;
	sw = switch_of(victim);
	ck_assert_uint_ne(sw, switch_of(rig.place));
	sim_silence(rig.sim, victim, true);
	sim_silence(rig.sim, victim + 1, true);
	rig_bring_up(&rig);
	ck_assert_uint_eq(rig.last.n_silent, 2);
	port = netlist_port(&rig.nl, rig.place + 4, 1)->peer_port;
	ck_assert_uint_eq(switch_of(rig.place + 4), sw);
	if (_i == 1)
		sim_silence(rig.sim, victim, false);
	if (_i == 2) {
		sweeper_request(rig.sweeper, SWEEP_LIGHT, "test");
		sweeper_step(rig.sweeper);
		ck_assert_int_eq(sweeper_phase(rig.sweeper), PHASE_DISCOVER);
	}
	start_ns = sim_now_ns(rig.sim);
	rig.n_reports = 0;
	sim_unlink(rig.sim, sw, port);
	while (rig.n_reports == 0 || (_i == 2 && rig.last.n_cas == 14)) {
		sweeper_step(rig.sweeper);
		ck_assert_int_ge(txn_poll(rig.txn, sim_now_ns(rig.sim) + 1000000, NULL), 0);
		ck_assert_int_lt(sim_now_ns(rig.sim) - start_ns, 100 * 1000000LL);
	}
	ck_assert_uint_eq(rig.last.n_silent, 2 - (_i == 1));
	ck_assert_uint_eq(rig.last.n_cas, 13 + (_i == 1));
	rig_expect_up(&rig);
}
END_TEST

/* A trap of their switch while hosts that fell silent are waited for: not all their time-outs (3 s)
 * again. */
START_TEST(test_trap_while_silent_hosts_are_asked)
{
	uint32_t victim;
	int64_t start_ns;

	bring_up("pgft 2 4,4 1,4 1,1", NULL);
	victim = rig.place + 6;
	sim_silence(rig.sim, victim, true);
	start_ns = sim_now_ns(rig.sim);
	sweeper_request(rig.sweeper, SWEEP_HEAVY, "test");
	for (int i = 0; i < 500; i++) {
		sweeper_step(rig.sweeper);
		ck_assert_int_ge(txn_poll(rig.txn, sim_now_ns(rig.sim) + 1000000, NULL), 0);
	}
	ck_assert_int_eq(sweeper_phase(rig.sweeper), PHASE_DISCOVER);
	sim_unlink(rig.sim, switch_of(victim), netlist_port(&rig.nl, rig.place + 4, 1)->peer_port);
	rig_run(&rig, SWEEP_NONE);
	ck_assert_int_lt(sim_now_ns(rig.sim) - start_ns, 3500 * 1000000LL);
	ck_assert_uint_eq(rig.last.n_cas, 14);
	rig_expect_up(&rig);
}
END_TEST

/* sweep_on_trap = no: the trap is answered, and that is all. */
START_TEST(test_trap_ignored)
{
	uint32_t host, n_reports;

	rig_generate(&rig.nl, "pgft 2 4,4 1,4 1,1");
	rig_sim(&rig, NULL);
	rig.set.sweep.on_trap = false;
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	host = last_of(NETLIST_CA);
	n_reports = rig.n_reports;
	sim_unlink(rig.sim, host, 1);
	rig_let_pass(&rig, 2000);
	ck_assert_uint_eq(rig.n_reports, n_reports);
	rig_run(&rig, SWEEP_LIGHT);
	rig_expect_up(&rig);
	ck_assert_uint_eq(rig.last.n_cas, 15);
}
END_TEST

/* The trap is lost: the light sweep finds it. */
/* force_heavy_sweep: what the interval asks for reads every node. */
START_TEST(test_light_is_heavy)
{
	bring_up("pgft 2 4,4 1,4 1,1", NULL);
	rig.set.sweep.force_heavy = true;
	sweeper_configure(rig.sweeper, &rig.set, &rig.chain, NULL);
	rig_run(&rig, SWEEP_LIGHT);
	ck_assert_int_eq(rig.last.scope, SWEEP_HEAVY);
	ck_assert_uint_ge(rig.last.gets_by_attr[WIRE_ATTR_NODE_INFO], rig.nl.n_nodes - 1);
}
END_TEST

START_TEST(test_light_finds_change)
{
	uint32_t host;

	bring_up("pgft 2 4,4 1,4 1,1", NULL);
	host = last_of(NETLIST_CA);
	sim_set_loss(rig.sim, 1.0);
	sim_unlink(rig.sim, host, 1);
	sim_run(rig.sim, sim_now_ns(rig.sim) + INT64_C(60000000000));
	sim_set_loss(rig.sim, 0);
	rig_run(&rig, SWEEP_LIGHT);
	rig_expect_up(&rig);
	ck_assert_uint_eq(rig.last.n_cas, 15);
	ck_assert_int_eq(rig.last.scope, SWEEP_NAMED);
}
END_TEST

/* A switch of the top level, which has no hosts. */
static uint32_t
some_spine(void)
{
	uint32_t n = rig.nl.n_nodes;

	while (n-- > 0) {
		bool has_hosts = false;

		if (rig.nl.nodes[n].type != NETLIST_SWITCH)
			continue;
		for (unsigned p = 1; p <= rig.nl.nodes[n].n_ports; p++) {
			uint32_t far = netlist_port(&rig.nl, n, p)->peer_node;

			has_hosts |= far != NETLIST_NONE && rig.nl.nodes[far].type == NETLIST_CA;
		}
		if (!has_hosts)
			return n;
	}
	ck_abort_msg("no spine");
	return 0;
}

/* A spine is switched off and no trap tells of it: not all is read again. */
START_TEST(test_light_finds_switch_off)
{
	uint32_t gets;

	bring_up("pgft 2 4,4 1,4 1,1", NULL);
	gets = (uint32_t)rig.last.gets;
	sim_set_loss(rig.sim, 1.0);
	sim_reboot(rig.sim, some_spine(), INT64_C(3600000000000));
	sim_run(rig.sim, sim_now_ns(rig.sim) + INT64_C(60000000000));
	sim_set_loss(rig.sim, 0);
	rig.n_reports = 0;
	rig_run(&rig, SWEEP_LIGHT);
	ck_assert_uint_eq(rig.n_reports, 1);
	ck_assert_int_eq(rig.last.scope, SWEEP_NAMED);
	rig_expect_up(&rig);
	ck_assert_uint_eq(rig.last.n_switches, 7);
	ck_assert_uint_eq(rig.last.n_cas, 16);
	ck_assert_uint_lt(rig.last.gets, gets / 2);
}
END_TEST

/* Its cables are up, but it does not answer: asked twice, then all is looked at. */
START_TEST(test_light_finds_silent_switch)
{
	uint32_t spine;

	bring_up("pgft 2 4,4 1,4 1,1", NULL);
	spine = some_spine();
	sim_silence(rig.sim, spine, true);
	rig.n_reports = 0;
	rig_log_clear();
	rig_run(&rig, SWEEP_LIGHT);
	ck_assert_uint_eq(rig.n_reports, 1);
	ck_assert_int_eq(rig.last.scope, SWEEP_HEAVY);
	ck_assert_ptr_nonnull(strstr(rig_log, "nobody answers behind \"leaf-1\""));
	ck_assert_ptr_nonnull(
	    strstr(rig_log, "the link is up (another M_Key?); the same of \"leaf-2\" port "));
	ck_assert_ptr_eq(strchr(rig_log, '\n'), strrchr(rig_log, '\n')); /* in one line */
	rig_expect_up(&rig);
	ck_assert_uint_eq(rig.last.n_switches, 7);
	ck_assert_uint_eq(rig.last.n_cas, 16);
	sim_silence(rig.sim, spine, false);
	rig_run(&rig, SWEEP_LIGHT);
	rig_expect_up(&rig);
	ck_assert_uint_eq(rig.last.n_switches, 8);
}
END_TEST

/* A spine stops answering while its tables are written: one round of
 * time-outs (3 s of the fabric's time), not one a window of its blocks. */
START_TEST(test_switch_dies_in_mid_sweep)
{
	struct fm_error err = { 0 };
	uint32_t spine;
	int64_t start_ns;

	rig_generate(&rig.nl, "pgft 2 4,4 1,4 1,1");
	rig_sim(&rig, NULL);
	rig.set.addresses.lmc = 7; /* 33 blocks a switch */
	rig_start(&rig);
	spine = some_spine();
	sweeper_request(rig.sweeper, SWEEP_HEAVY, "test");
	while (sweeper_phase(rig.sweeper) != PHASE_TABLES) {
		sweeper_step(rig.sweeper);
		ck_assert_int_ge(txn_poll(rig.txn, sim_now_ns(rig.sim) + 1000, &err), 0);
	}
	sim_silence(rig.sim, spine, true);
	start_ns = sim_now_ns(rig.sim);
	rig_run(&rig, SWEEP_NONE);
	ck_assert_int_eq(rig.last.outcome, SWEEP_UP);
	ck_assert_uint_eq(rig.last.n_silent, 1);
	ck_assert_ptr_nonnull(strstr(rig_log, "has stopped answering"));
	ck_assert_int_lt(sim_now_ns(rig.sim) - start_ns, INT64_C(3500000000));
	sim_silence(rig.sim, spine, false);
	rig_run(&rig, SWEEP_LIGHT);
	rig_expect_up(&rig);
	ck_assert_uint_eq(rig.last.n_ports_not_active, 0);
	ck_assert_uint_eq(rig.last.n_switches, 8);
}
END_TEST

static uint64_t
walked(void)
{
	return sim_counts(rig.sim)->gets_by_attr[WIRE_ATTR_NODE_INFO];
}

/* Each cable in turn is lost, some on the way to a switch that goes on telling of it: that one is
 * asked by another way, and no other cable is walked again. */
START_TEST(test_lost_way)
{
	bring_up("torus 5x5 1", NULL);
	for (uint32_t n = 0; n < rig.nl.n_nodes; n++)
		for (unsigned p = 1; rig_is_switch(&rig, n) && p <= rig.nl.nodes[n].n_ports; p++) {
			uint32_t far = netlist_port(&rig.nl, n, p)->peer_node;
			uint64_t before = walked();

			if (far == NETLIST_NONE || !rig_is_switch(&rig, far) || far < n)
				continue;
			sim_unlink(rig.sim, n, p);
			rig_let_pass(&rig, 3000);
			rig_expect_up(&rig);
			ck_assert_uint_eq(walked(), before);
			sim_relink(rig.sim, n, p);
			rig_let_pass(&rig, 3000);
		}
	ck_assert_uint_gt(txn_counts(rig.txn)->timeouts, 0); /* lost ways were tried */
}
END_TEST

START_TEST(test_switch_reboot)
{
	uint32_t sw;

	bring_up("pgft 2 4,4 1,4 1,1", NULL);
	sw = switch_of(last_of(NETLIST_CA));
	sim_reboot(rig.sim, sw, INT64_C(500000000));
	rig_let_pass(&rig, 20000);
	rig_run(&rig, SWEEP_LIGHT);
	rig_run(&rig, SWEEP_LIGHT);
	rig_run(&rig, SWEEP_HEAVY);
	rig_expect_up(&rig);
	ck_assert_uint_eq(rig.last.n_cas, 16);
	ck_assert_uint_eq(rig.last.n_ports_not_active, 0);
}
END_TEST

/* A port that goes up and down while the fabric is read. */
START_TEST(test_flap_during_sweep)
{
	uint32_t sw;
	char text[256];
	struct fm_error err = { 0 };

	rig_generate(&rig.nl, "pgft 2 4,4 1,4 1,1");
	rig_sim(&rig, NULL);
	sw = switch_of(last_of(NETLIST_CA));
	for (int i = 0; i < 40; i++) {
		snprintf(text, sizeof(text), "at %dus flap 0x%lx[1] for 20us\n", 50 + 60 * i,
		    (unsigned long)rig.nl.nodes[sw].guid);
		ck_assert_msg(sim_script(rig.sim, "flaps", text, &err) == 0, "%s", err.msg);
	}
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_int_eq(rig.last.outcome, SWEEP_UP);
	rig_let_pass(&rig, 5000);
	rig_run(&rig, SWEEP_HEAVY);
	rig_expect_up(&rig);
	ck_assert_uint_eq(rig.last.n_cas, 16);
}
END_TEST

/* What is believed comes from what was read, and has its age. */
START_TEST(test_what_is_believed_has_an_age)
{
	struct sweep_heard h;
	uint32_t leaf;

	rig_generate(&rig.nl, "pgft 2 4,4 1,4 1,1");
	rig_sim(&rig, NULL);
	rig.set.sweep.on_trap = false;
	rig_start(&rig);
	sweeper_heard(rig.sweeper, &h);
	ck_assert_int_eq(h.oldest_ms, -1);
	rig_run(&rig, SWEEP_HEAVY);
	rig_expect_up(&rig);
	sweeper_heard(rig.sweeper, &h);
	ck_assert_uint_eq(h.n_ports_active, 64);
	ck_assert_uint_eq(h.n_ports_not_active + h.n_unreachable + h.n_in_doubt + h.n_not_heard, 0);
	rig_let_pass(&rig, 60000);
	sweeper_heard(rig.sweeper, &h);
	ck_assert_int_ge(h.oldest_ms, 60000);
	rig_run(&rig, SWEEP_LIGHT);
	sweeper_heard(rig.sweeper, &h);
	ck_assert_int_lt(h.oldest_ms, 1000);

	/* a host is silent, and a switch; then both have gone */
	leaf = netlist_port(&rig.nl, last_of(NETLIST_CA), 1)->peer_node;
	sim_silence(rig.sim, last_of(NETLIST_CA), true);
	rig_run(&rig, SWEEP_HEAVY);
	sweeper_heard(rig.sweeper, &h);
	ck_assert_uint_eq(h.n_not_heard, 1);
	ck_assert_uint_eq(h.n_ports_active, 62);
	sim_silence(rig.sim, leaf, true);
	rig_run(&rig, SWEEP_LIGHT);
	sweeper_heard(rig.sweeper, &h);
	ck_assert_uint_eq(h.n_not_heard, 1); /* what is behind it is not known any more */
	ck_assert_uint_eq(h.n_ports_active, 48);
	for (unsigned p = 1; p <= 8; p++)
		sim_unlink(rig.sim, leaf, p);
	rig_run(&rig, SWEEP_HEAVY);
	sweeper_heard(rig.sweeper, &h);
	ck_assert_uint_eq(h.n_not_heard, 0);
}
END_TEST

START_TEST(test_better_master)
{
	struct fm_error err;

	rig_generate(&rig.nl, "pgft 2 4,4 1,4 1,1");
	rig_sim(&rig, NULL);
	ck_assert_int_eq(sim_set_sm(rig.sim, last_of(NETLIST_CA), 9, WIRE_SM_MASTER, &err), 0);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_int_eq(rig.last.outcome, SWEEP_STANDBY);
	ck_assert_int_eq(rig.ha.state, WIRE_SM_STANDBY);
	ck_assert_uint_eq(rig_sets(&rig), 0);
	ck_assert_ptr_nonnull(strstr(rig.last.other, "priority 9"));
}
END_TEST

/* A lesser master is not pushed aside either: we wait for its HANDOVER. */
START_TEST(test_lesser_master)
{
	struct fm_error err;

	rig_generate(&rig.nl, "pgft 2 4,4 1,4 1,1");
	rig_sim(&rig, NULL);
	rig.set.sm.priority = 5;
	ck_assert_int_eq(sim_set_sm(rig.sim, last_of(NETLIST_CA), 1, WIRE_SM_MASTER, &err), 0);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_int_eq(rig.last.outcome, SWEEP_STANDBY);
	ck_assert_uint_eq(rig_sets(&rig), 0);
	ck_assert_ptr_nonnull(strstr(rig_log, "waiting for its handover"));
}
END_TEST

/* Another SM has emptied all forwarding tables. */
static void
empty_tables(void)
{
	struct sim_fabric *f = sim_fabric(rig.sim);

	for (uint32_t n = 0; n < f->n_nodes; n++)
		for (size_t lid = 1; lid < f->nodes[n].lft.n; lid++)
			f->nodes[n].lft.item[lid] = 255;
}

/* As the SM at a node sends it. */
static void
hand_over(uint32_t node)
{
	struct wire_header h = { .base_version = 1,
		.mgmt_class = WIRE_CLASS_SMP_LID,
		.class_version = 1,
		.method = WIRE_SET,
		.attr = WIRE_ATTR_SM_INFO,
		.modifier = WIRE_SM_HANDOVER };
	struct wire_sm_info from = { .guid = netlist_port(&rig.nl, node, 1)->guid,
		.state = WIRE_SM_MASTER };
	struct wire_port_info info;
	struct mad m = { 0 };

	sim_port_info(rig.sim, node, 1, &info);
	m.addr.lid = info.lid;
	wire_header_put(m.bytes, &h);
	wire_sm_info_put(m.bytes + WIRE_SMP_DATA_AT, &from);
	sweeper_on_mad(rig.sweeper, &m);
}

enum rule { WE_STOOD_BY, WE_HAD_NO_LINK, WE_RULED_TOO, N_RULES };

/* What another SM has left in the switches, while it ruled, is not what we wrote. */
START_TEST(test_rules_again)
{
	struct fm_error err;
	uint32_t sm;

	bring_up("pgft 2 4,4 1,4 1,1", NULL);
	sm = last_of(NETLIST_CA);
	if (_i == WE_STOOD_BY)
		ck_assert_int_eq(sim_set_sm(rig.sim, sm, 9, WIRE_SM_STANDBY, &err), 0);
	else if (_i == WE_HAD_NO_LINK)
		sim_unlink(rig.sim, rig.place, 1);
	else
		ck_assert_int_eq(sim_set_sm(rig.sim, sm, 0, WIRE_SM_MASTER, &err), 0);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_int_eq(rig.last.outcome,
	    _i == WE_STOOD_BY	       ? SWEEP_STANDBY
		: _i == WE_HAD_NO_LINK ? SWEEP_NO_LINK
				       : SWEEP_UP);
	empty_tables();
	if (_i == WE_STOOD_BY)
		ck_assert_int_eq(sim_set_sm(rig.sim, sm, 9, WIRE_SM_NOT_ACTIVE, &err), 0);
	else if (_i == WE_HAD_NO_LINK)
		sim_relink(rig.sim, rig.place, 1);
	else
		hand_over(sm);
	rig_let_pass(&rig, 1000);
	rig_run(&rig, SWEEP_HEAVY);
	rig_expect_up(&rig);
}
END_TEST

static uint32_t
n_reregistered(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < rig.nl.n_nodes; i++)
		if (rig.nl.nodes[i].type == NETLIST_CA)
			n += fabric_port(sim_fabric(rig.sim), i, 1)->n_reregister;
	return n;
}

/* Hosts that have been asked to register again are not asked once more for a cable of ours. */
START_TEST(test_asked_once)
{
	uint32_t n;

	bring_up("pgft 2 4,4 1,4 1,1", NULL);
	rig_stop(&rig);
	rig_start(&rig);
	sweeper_lost(rig.sweeper, 0);
	rig_run(&rig, SWEEP_HEAVY);
	n = n_reregistered();
	ck_assert_uint_gt(n, 14);
	sim_unlink(rig.sim, rig.place, 1);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_int_eq(rig.last.outcome, SWEEP_NO_LINK);
	sim_relink(rig.sim, rig.place, 1);
	rig_let_pass(&rig, 1000);
	rig_run(&rig, SWEEP_HEAVY);
	rig_expect_up(&rig);
	ck_assert_uint_eq(n_reregistered(), n);
}
END_TEST

START_TEST(test_dry_run)
{
	rig_generate(&rig.nl, "pgft 2 4,4 1,4 1,1");
	rig_sim(&rig, NULL);
	rig.set.dry_run = true;
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_int_eq(rig.last.outcome, SWEEP_UP);
	ck_assert_uint_eq(rig_sets(&rig), 0);
	ck_assert_uint_gt(rig.last.would_set, 0);
}
END_TEST

/* What a dry run says it would send is what a run then sends. */
START_TEST(test_dry_run_tells_the_truth)
{
	uint64_t would;

	rig_generate(&rig.nl, "pgft 2 4,4 1,4 1,1");
	rig_sim(&rig, NULL);
	rig.set.dry_run = true;
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	would = rig.last.would_set;
	rig_stop(&rig);
	rig.set.dry_run = false;
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_uint_eq(rig.last.sets, would);
}
END_TEST

/* Other settings on a subnet that is up. */
static const struct {
	uint8_t lmc, timeout, hoq;
	uint64_t m_key;
} changes[] = { { 0, 18, 18, 0 }, { 2, 18, 18, 0 }, { 0, 16, 18, 0 }, { 1, 17, 14, 0 },
	{ 0, 18, 18, 7 } };

static uint64_t
sets_of(bool dry, int i)
{
	size_t n;

	rig.set.dry_run = dry;
	rig.set.addresses.lmc = changes[i].lmc;
	rig.set.ports.subnet_timeout = changes[i].timeout;
	rig.set.ports.head_of_queue_lifetime = changes[i].hoq;
	rig.set.m_key.key = changes[i].m_key;
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	(void)sweeper_would(rig.sweeper, &n);
	ck_assert_uint_eq(n, rig.last.would_set);
	rig_stop(&rig);
	return dry ? rig.last.would_set : rig.last.sets;
}

START_TEST(test_dry_run_of_a_change_tells_the_truth)
{
	uint64_t would;

	rig_generate(&rig.nl, "pgft 2 4,4 1,4 1,1");
	rig_sim(&rig, NULL);
	sets_of(false, 0);
	would = sets_of(true, _i);
	ck_assert_uint_eq(sets_of(true, _i), would);
	ck_assert_uint_eq(sets_of(false, _i), would);
}
END_TEST

static void
pump_until(int64_t end)
{
	struct fm_error err = { 0 };

	while (sim_now_ns(rig.sim) < end) {
		int64_t due;

		sweeper_step(rig.sweeper);
		due = sweeper_due_ns(rig.sweeper);
		ck_assert_int_ge(txn_poll(rig.txn, due < end ? due : end, &err), 0);
	}
}

/* Does a line with these words follow another one at once? */
static bool
comes_twice(const char *words)
{
	bool had = false;

	for (const char *at = rig_log, *end; *at != '\0'; at = end + 1) {
		const char *found = strstr(at, words);
		bool has;

		end = strchr(at, '\n');
		has = found != NULL && found < end;
		if (has && had)
			return true;
		had = has;
	}
	return false;
}

/* Cables go and come ten times a second.  What a sweep leaves in doubt the next one reads; it is
 * told in one line, not port by port, and in the end nothing is left. */
START_TEST(test_ceaseless_events_are_told_briefly)
{
	int64_t now;
	struct sim_place gone = { 0 };
	struct fm_rng rng;

	fm_rng_seed(&rng, 5);
	bring_up("pgft 2 4,8 1,4 1,1", NULL);
	rig_log_clear();
	now = sim_now_ns(rig.sim);
	for (unsigned i = 1; i <= 300; i++) {
		if (i % 2 != 0)
			gone = rig_lose_a_cable(&rig, &rng);
		else
			sim_relink(rig.sim, gone.node, gone.port);
		pump_until(now + i * INT64_C(100000000));
	}
	rig_let_pass(&rig, 10000);
	rig_expect_up(&rig);
	ck_assert_uint_gt(rig.n_reports, 10);
	ck_assert_uint_eq(sweeper_todo(rig.sweeper)->n, 0);
	ck_assert_msg(!comes_twice("has changed since"), "%s", rig_log);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("sweep");
	TCase *t = tcase_create("sweep");
	int n = sizeof(fabrics) / sizeof(fabrics[0]);

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_loop_test(t, test_fabrics, 0, n);
	tcase_add_loop_test(t, test_edge_fabrics, 0, sizeof(edges) / sizeof(edges[0]));
	tcase_add_loop_test(t, test_unchanged_sends_no_set, 0, n);
	tcase_add_test(t, test_credit_loops_are_warned_of);
	tcase_add_test(t, test_longer_paths_are_warned_of);
	tcase_add_test(t, test_light_costs_a_get_per_switch);
	tcase_add_loop_test(t, test_loss, 0, 9);
	tcase_add_test(t, test_strict);
	tcase_add_test(t, test_restart_writes_nothing);
	tcase_add_test(t, test_restart_with_other_settings);
	tcase_add_test(t, test_restart_with_damaged_store);
	tcase_add_test(t, test_active_links_are_not_bounced);
	tcase_add_test(t, test_restart_without_store);
	tcase_add_test(t, test_dead_node);
	tcase_add_test(t, test_duplicate_ca);
	tcase_add_test(t, test_duplicate_switch);
	tcase_add_loop_test(t, test_cabled_while_read, 0, 4);
	tcase_add_test(t, test_loopback_cable);
	tcase_add_test(t, test_trap_link);
	tcase_add_loop_test(t, test_trap_beside_silent_hosts, 0, 3);
	tcase_add_test(t, test_trap_while_silent_hosts_are_asked);
	tcase_add_test(t, test_trap_ignored);
	tcase_add_test(t, test_light_is_heavy);
	tcase_add_test(t, test_light_finds_change);
	tcase_add_test(t, test_light_finds_switch_off);
	tcase_add_test(t, test_light_finds_silent_switch);
	tcase_add_test(t, test_switch_dies_in_mid_sweep);
	tcase_add_test(t, test_lost_way);
	tcase_add_test(t, test_switch_reboot);
	tcase_add_test(t, test_flap_during_sweep);
	tcase_add_test(t, test_what_is_believed_has_an_age);
	tcase_add_test(t, test_ceaseless_events_are_told_briefly);
	tcase_add_test(t, test_better_master);
	tcase_add_test(t, test_lesser_master);
	tcase_add_test(t, test_asked_once);
	tcase_add_loop_test(t, test_rules_again, 0, N_RULES);
	tcase_add_test(t, test_dry_run);
	tcase_add_test(t, test_dry_run_tells_the_truth);
	tcase_add_loop_test(
	    t, test_dry_run_of_a_change_tells_the_truth, 0, sizeof(changes) / sizeof(changes[0]));
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return run_suite(suite());
}
