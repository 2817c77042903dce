/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/sweep/rig.c - putting fabric, sim and sweeper together.
 */
#include "tests/sweep/rig.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/route/route.h"
#include "lab/sim/sma.h"
#include "lib/bitset.h"
#include "lib/log.h"

#define NS_PER_MS INT64_C(1000000)
#define TRAP_NS (5 * NS_PER_MS) /* a trap has come by then */
#define STEPS_MAX 2000000	/* a sweep that takes more never ends */

char rig_log[RIG_LOG_BYTES];

static void
keep_log(void *arg, enum fm_log_level level, const char *subsystem, const char *line)
{
	size_t n = strlen(rig_log);

	if (level <= FM_LOG_NOTICE && n + strlen(line) + 2 < sizeof(rig_log))
		snprintf(rig_log + n, sizeof(rig_log) - n, "%s\n", line);
}

void
rig_log_clear(void)
{
	rig_log[0] = '\0';
	fm_log_set_sink(keep_log, NULL);
}

void
rig_generate(struct netlist *nl, const char *words)
{
	char text[128], *argv[16], *save = NULL;
	struct fm_error err = { 0 };
	int argc = 0;

	snprintf(text, sizeof(text), "%s", words);
	for (char *w = strtok_r(text, " ", &save); w != NULL && argc < 16;
	     w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	ck_assert_msg(netlist_generate(argc, argv, nl, &err) == 0, "%s", err.msg);
}

void
rig_sim(struct rig *r, const struct sim_options *o)
{
	struct sim_options standard;
	struct fm_error err = { 0 };

	sim_options_default(&standard);
	r->place = 0;
	r->port = 0;
	for (uint32_t i = 0; i < r->nl.n_nodes && r->port == 0; i++)
		if (r->nl.nodes[i].type == NETLIST_CA &&
		    netlist_port(&r->nl, i, 1)->peer_node != NETLIST_NONE) {
			r->place = i;
			r->port = 1;
		}
	ck_assert_msg(sim_new(&r->nl, o ? o : &standard, &r->sim, &err) == 0, "%s", err.msg);
	sweep_settings_default(&r->set);
	r->set.sweep.interval_ms = 0; /* most tests look between two sweeps */
	rig_log_clear();
}

void
rig_sim_overtaking(struct rig *r, uint64_t seed)
{
	struct sim_options o;

	sim_options_default(&o);
	o.seed = seed;
	o.delay_max_ns = 200000; /* much more than one SMP takes */
	rig_sim(r, &o);
}

void
rig_use(struct rig *r, const struct fm_engine *engine)
{
	r->entry = (struct chain_entry){ .engine = engine, .name = engine->name };
	r->chain.entries = &r->entry;
	r->chain.n_entries = 1;
}

static void
on_mad(void *arg, const struct mad *m)
{
	struct rig *r = arg;

	sweeper_on_mad(r->sweeper, m);
}

static void
on_done(void *arg, const struct sweep_report *report)
{
	struct rig *r = arg;

	const struct plan *p = sweeper_plan(r->sweeper);

	r->last = *report;
	r->n_reports++;
	r->n_new_plans += report->engine[0] != '\0' && !report->kept;
	r->n_again += report->retries + report->by_lid.lost + report->by_lid.mixed_lost;
	r->n_by_lid += report->by_lid.sent;
	r->n_mixed += report->by_lid.mixed;
	r->n_ways_lost += report->by_lid.lost + report->by_lid.mixed_lost;
	r->n_broken_off += report->outcome == SWEEP_BROKEN_OFF;
	for (uint32_t lid = 0; p != NULL && p->rules != NULL && lid <= p->top_lid; lid++)
		if (p->rules[lid] & TRANSITION_DRAIN)
			fm_bit_set(r->drained, lid);
	if (report->outcome == SWEEP_UP && r->on_up != NULL)
		r->on_up(r->on_up_arg, p);
}

static void
on_wake(void *arg)
{
	struct rig *r = arg;

	sem_post(&r->woken);
}

static void
start_worker(struct rig *r)
{
	struct fm_error err = { 0 };

	if (!r->off_loop)
		return;
	sem_init(&r->woken, 0, 0);
	ck_assert_msg(
	    plan_worker_new(&r->router, on_wake, r, &r->worker, &err) == 0, "%s", err.msg);
}

void
rig_start(struct rig *r)
{
	struct txn_limits limits = { .timeout_ms = r->timeout_ms != 0 ? r->timeout_ms : 200,
		.n_retries = 3,
		.window_max = 256,
		.per_node_max = 8,
		.tid_seed = 1 };
	struct sweep_parts parts = { .store = r->store,
		.ha = &r->ha,
		.router = &r->router,
		.chain = &r->chain,
		.regions = r->regions,
		.on_notice = r->on_notice,
		.on_notice_arg = r->on_notice_arg };
	struct fm_error err = { 0 };
	struct local_port local;

	r->chain.fallback = true;
	ck_assert_msg(
	    sim_attach(r->sim, r->place, r->port, &r->transport, &err) == 0, "%s", err.msg);
	ck_assert_int_eq(r->transport->ops->local_port(r->transport, &local, &err), 0);
	ck_assert_msg(router_init(&r->router, 1, &err) == 0, "%s", err.msg);
	ha_init(&r->ha, local.port_guid, r->set.sm.priority, r->set.sm.key);
	r->ha.master_priority = (uint8_t)r->set.sm.master_priority;
	r->txn = txn_new(r->transport, &limits, r->set.m_key.key);
	ck_assert_ptr_nonnull(r->txn);
	start_worker(r);
	parts.worker = r->worker;
	parts.may_take_plan = r->may_take_plan;
	parts.may_take_plan_arg = r->may_take_plan_arg;
	parts.plan_path = r->plan_path;
	parts.vendors = r->vendors;
	parts.transport = r->transport;
	parts.txn = r->txn;
	r->sweeper = sweeper_new(&parts, &r->set, &err);
	ck_assert_msg(r->sweeper != NULL, "%s", err.msg);
	txn_set_unsolicited(r->txn, on_mad, r);
	sweeper_on_done(r->sweeper, on_done, r);
	ck_assert_int_eq(r->transport->ops->set_is_sm(r->transport, true, &err), 0);
}

/* True: stopped where it waits. */
static bool
run_until(struct rig *r, bool stop_at_wait)
{
	struct fm_error err = { 0 };

	for (long i = 0; i < STEPS_MAX; i++) {
		sweeper_step(r->sweeper);
		if (sweeper_idle(r->sweeper) && txn_outstanding(r->txn) == 0)
			return false;
		if (txn_outstanding(r->txn) > 0)
			ck_assert_msg(txn_poll(r->txn, INT64_MAX, &err) >= 0, "%s", err.msg);
		else if (sweeper_due_ns(r->sweeper) != INT64_MAX && stop_at_wait)
			return true;
		else if (sweeper_due_ns(r->sweeper) != INT64_MAX)
			ck_assert_msg(
			    txn_poll(r->txn, sweeper_due_ns(r->sweeper), &err) >= 0, "%s", err.msg);
		else if (r->worker != NULL && sweeper_phase(r->sweeper) == PHASE_ROUTE)
			sem_wait(&r->woken);
	}
	ck_abort_msg(
	    "the sweep does not end: phase %s", sweep_phase_names[sweeper_phase(r->sweeper)]);
	return false;
}

static void
run(struct rig *r)
{
	run_until(r, false);
}

bool
rig_run_to_wait(struct rig *r)
{
	int64_t end = sim_now_ns(r->sim) + 100 * NS_PER_MS;
	struct fm_error err = { 0 };

	/* what waits already gets the traps that are on their way */
	ck_assert_msg(txn_poll(r->txn, sim_now_ns(r->sim) + TRAP_NS, &err) >= 0, "%s", err.msg);
	while (sim_now_ns(r->sim) < end) {
		if (run_until(r, true))
			return true;
		ck_assert_msg(txn_poll(r->txn, end, &err) >= 0, "%s", err.msg);
	}
	return false;
}

void
rig_run(struct rig *r, enum sweep_scope scope)
{
	sweeper_request(r->sweeper, scope, "test");
	run(r);
}

void
rig_bring_up(struct rig *r)
{
	rig_start(r);
	rig_run(r, SWEEP_HEAVY);
	rig_expect_up(r);
}

void
rig_route_anew(struct rig *r)
{
	sweeper_configure(r->sweeper, &r->set, &r->chain, r->regions);
	sweeper_request(r->sweeper, SWEEP_HEAVY, "test");
}

void
rig_let_pass(struct rig *r, int64_t ms)
{
	int64_t end = sim_now_ns(r->sim) + ms * NS_PER_MS;
	struct fm_error err = { 0 };

	while (sim_now_ns(r->sim) < end) {
		ck_assert_msg(txn_poll(r->txn, end, &err) >= 0, "%s", err.msg);
		run(r);
	}
}

void
rig_stop(struct rig *r)
{
	plan_worker_free(r->worker);
	r->worker = NULL;
	if (r->txn != NULL)
		txn_free(r->txn);
	sweeper_free(r->sweeper);
	if (r->transport != NULL)
		r->transport->ops->close(r->transport);
	router_fini(&r->router);
	r->txn = NULL;
	r->sweeper = NULL;
	r->transport = NULL;
}

void
rig_fini(struct rig *r)
{
	if (r->sweeper != NULL)
		rig_stop(r);
	store_close(r->store);
	sim_free(r->sim);
	netlist_fini(&r->nl);
	memset(r, 0, sizeof(*r));
}

static bool
is_live(const struct rig *r, uint32_t node, unsigned port)
{
	const struct netlist_port *p = netlist_port(&r->nl, node, port);
	const struct inventory *inv = sweeper_inventory(r->sweeper);
	uint32_t a = inv_find(inv, r->nl.nodes[node].guid), b;

	if (p->peer_node == NETLIST_NONE)
		return false;
	b = inv_find(inv, r->nl.nodes[p->peer_node].guid);
	return a != INV_NONE && b != INV_NONE && inv_node(inv, a)->present &&
	    inv_node(inv, b)->present && inv_node(inv, a)->ports[port].edge == EDGE_LINKED;
}

static void
expect_way(struct rig *r, uint32_t from, unsigned from_port, uint32_t to, unsigned to_port)
{
	struct sim_place place = { .node = from, .port = (uint8_t)from_port };
	struct wire_port_info info;
	struct sim_way way;

	sim_port_info(r->sim, to, to_port, &info);
	ck_assert_msg(info.lid != 0, "node %u port %u has no LID", to, to_port);
	ck_assert_msg(sim_walk(r->sim, place, info.lid, &way),
	    "no way from node %u to node %u (LID %u)", from, to, info.lid);
	ck_assert_msg(
	    way.at.node == to, "LID %u of node %u leads to node %u", info.lid, to, way.at.node);
}

void
rig_expect_up(struct rig *r)
{
	ck_assert_msg(
	    r->last.outcome == SWEEP_UP, "outcome %d: %s", r->last.outcome, r->last.error.msg);
	for (uint32_t n = 0; n < r->nl.n_nodes; n++)
		for (unsigned p = 1; p <= r->nl.nodes[n].n_ports; p++) {
			struct wire_port_info info;

			if (!is_live(r, n, p))
				continue;
			sim_port_info(r->sim, n, p, &info);
			ck_assert_msg(info.port_state == WIRE_PORT_ACTIVE,
			    "node %s port %u is in state %u\n%s", r->nl.nodes[n].id, p,
			    info.port_state, rig_log);
			if (r->nl.nodes[n].type == NETLIST_SWITCH)
				continue;
			for (uint32_t m = 0; m < r->nl.n_nodes; m++)
				if (r->nl.nodes[m].type != NETLIST_SWITCH && is_live(r, m, 1))
					expect_way(r, n, p, m, 1);
		}
}

/* What packets go on by that come in by a port and leave by a link. */
static void
expect_map(struct rig *r, uint32_t node, fm_sw sw, unsigned in, fm_link l)
{
	const struct plan *p = sweeper_plan(r->sweeper);
	unsigned out = p->snap->fab.link_port[l];
	struct sim_place at = { .node = node };
	uint8_t data[64] = { 0 }, vl[16];

	ck_assert(sma_peek(sim_fabric(r->sim), at, WIRE_ATTR_SL2VL, in << 8 | out, data));
	wire_sl2vl_get(data, vl);
	for (uint8_t sl = 0; sl < 16; sl++) {
		unsigned want = tables_vl(&p->snap->fab, &p->tables->t, sw, (uint8_t)in, l, sl);

		ck_assert_msg(vl[sl] == want, "%s, in %u, out %u: SL %u to VL %u, not %u",
		    r->nl.nodes[node].id, in, out, sl, vl[sl], want);
	}
}

void
rig_expect_maps(struct rig *r)
{
	const struct plan *p = sweeper_plan(r->sweeper);
	const struct inventory *inv = sweeper_inventory(r->sweeper);
	const struct fm_fabric *fab = &p->snap->fab;

	for (uint32_t n = 0; n < r->nl.n_nodes && p->tables->t.n_vls_used > 1; n++) {
		uint32_t slot = inv_find(inv, r->nl.nodes[n].guid);
		fm_sw sw = slot != INV_NONE ? inv_node(inv, slot)->sw_index : FM_NONE;

		if (!rig_is_switch(r, n) || sw >= fab->n_switches)
			continue;
		for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++)
			for (unsigned in = 0; in <= r->nl.nodes[n].n_ports; in++)
				if (in == 0 || is_live(r, n, in))
					expect_map(r, n, sw, in, l);
	}
}

uint64_t
rig_sets(const struct rig *r)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < 256; i++)
		n += sim_counts(r->sim)->sets_by_attr[i];
	return n;
}

uint32_t
rig_host(const struct rig *r, uint32_t n)
{
	for (uint32_t i = 0; i < r->nl.n_nodes; i++)
		if (r->nl.nodes[i].type == NETLIST_CA && n-- == 0)
			return i;
	ck_abort_msg("not so many hosts");
}

uint16_t
rig_host_lid(const struct rig *r, uint32_t n)
{
	struct wire_port_info info;

	sim_port_info(r->sim, rig_host(r, n), 1, &info);
	return info.lid;
}

bool
rig_is_switch(const struct rig *r, uint32_t node)
{
	return r->nl.nodes[node].type == NETLIST_SWITCH;
}

uint32_t
rig_random_switch(const struct rig *r, struct fm_rng *rng)
{
	for (;;) {
		uint32_t n = fm_rng_below(rng, r->nl.n_nodes);

		if (rig_is_switch(r, n) && n != r->place &&
		    netlist_port(&r->nl, r->place, 1)->peer_node != n)
			return n;
	}
}

struct sim_place
rig_lose_a_cable(struct rig *r, struct fm_rng *rng)
{
	const struct sim_fabric *f = sim_fabric(r->sim);

	for (;;) {
		uint32_t n = fm_rng_below(rng, r->nl.n_nodes);
		unsigned p = 1 + fm_rng_below(rng, r->nl.nodes[n].n_ports);
		uint32_t far = netlist_port(&r->nl, n, p)->peer_node;

		if (!rig_is_switch(r, n) || far == NETLIST_NONE || !rig_is_switch(r, far) ||
		    f->live[f->nodes[n].first_port + p] == SIM_NONE)
			continue;
		sim_unlink(r->sim, n, p);
		return (struct sim_place){ .node = n, .port = (uint8_t)p };
	}
}

void
rig_settle(struct rig *r)
{
	for (unsigned i = 0; i < 2; i++) {
		rig_let_pass(r, 3000);
		rig_run(r, SWEEP_HEAVY);
	}
}
