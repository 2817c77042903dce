/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/fuzz/house.h - a small simulated subnet with a master on it.
 */
#ifndef TESTS_FUZZ_HOUSE_H
#define TESTS_FUZZ_HOUSE_H

#include "core/route/route.h"
#include "core/sweep/sweep.h"
#include "lab/sim/sim.h"
#include "lab/topo/netlist.h"
#include "tests/fuzz/fuzz.h"

#define STEPS_MAX 200000

static const char fabric_text[] = "Switch 4 \"s\"\n[1] \"a\"[1]\n[2] \"b\"[1]\n[3] \"t\"[3]\n\n"
				  "Switch 4 \"t\"\n[1] \"c\"[1]\n[3] \"s\"[3]\n\n"
				  "Ca 1 \"a\"\n[1] \"s\"[1]\n\nCa 1 \"b\"\n[1] \"s\"[2]\n\n"
				  "Ca 1 \"c\"\n[1] \"t\"[1]\n";

struct house {
	struct netlist nl;
	struct sim *sim;
	struct transport *transport;
	struct txn_engine *txn;
	struct sweeper *sweeper;
	struct ha ha;
	struct router router;
	struct chain chain;
	struct sweep_settings set;
	void (*on_notice)(void *arg, const struct wire_notice *notice); /* of sweep_parts */
	unsigned n_done;
};

static inline void
on_mad(void *arg, const struct mad *m)
{
	struct house *h = arg;

	sweeper_on_mad(h->sweeper, m);
}

static inline void
on_done(void *arg, const struct sweep_report *report)
{
	struct house *h = arg;

	h->n_done++;
}

/* Until nothing is left to do. */
static inline void
settle(struct house *h)
{
	struct fm_error err = { 0 };

	for (long i = 0; i < STEPS_MAX; i++) {
		sweeper_step(h->sweeper);
		if (sweeper_idle(h->sweeper) && txn_outstanding(h->txn) == 0)
			return;
		if (txn_outstanding(h->txn) > 0)
			must(txn_poll(h->txn, INT64_MAX, &err) >= 0);
		else if (sweeper_due_ns(h->sweeper) != INT64_MAX)
			must(txn_poll(h->txn, sweeper_due_ns(h->sweeper), &err) >= 0);
	}
	must(0); /* it does not end */
}

/* ... and what traps set off meanwhile. */
static inline void
settle_for(struct house *h, int64_t ns)
{
	int64_t end = sim_now_ns(h->sim) + ns;
	struct fm_error err = { 0 };

	do {
		settle(h);
		must(txn_poll(h->txn, end, &err) >= 0);
	} while (sim_now_ns(h->sim) < end);
	settle(h);
}

/* Another one on the fabric: h->sim and h->set are there. */
static inline void
occupy(struct house *h, const char *node)
{
	struct txn_limits limits = {
		.timeout_ms = 20, .n_retries = 1, .window_max = 32, .per_node_max = 4, .tid_seed = 1
	};
	struct sweep_parts parts = {
		.ha = &h->ha, .router = &h->router, .chain = &h->chain, .on_notice = h->on_notice
	};
	struct fm_error err = { 0 };
	struct local_port local;

	must(sim_attach(h->sim, sim_find(h->sim, node), 1, &h->transport, &err) == 0);
	must(h->transport->ops->local_port(h->transport, &local, &err) == 0);
	must(router_init(&h->router, 1, &err) == 0);
	h->chain.fallback = true;
	ha_init(&h->ha, local.port_guid, h->set.sm.priority, h->set.sm.key);
	h->txn = txn_new(h->transport, &limits, h->set.m_key.key);
	must(h->txn != NULL);
	parts.transport = h->transport;
	parts.txn = h->txn;
	h->sweeper = sweeper_new(&parts, &h->set, &err);
	must(h->sweeper != NULL);
	txn_set_unsolicited(h->txn, on_mad, h);
	sweeper_on_done(h->sweeper, on_done, h);
}

static inline void
build(struct house *h)
{
	struct fm_error err = { 0 };
	struct sim_options o;

	must(netlist_parse("fabric", fabric_text, sizeof(fabric_text) - 1, &h->nl, &err) == 0);
	sim_options_default(&o);
	must(sim_new(&h->nl, &o, &h->sim, &err) == 0);
	sweep_settings_default(&h->set);
	h->set.sweep.interval_ms = 0; /* the caller asks for sweeps */
}

static inline void
move_in(struct house *h)
{
	build(h);
	occupy(h, "a");
}

static inline void
move_out(struct house *h)
{
	txn_free(h->txn);
	sweeper_free(h->sweeper);
	router_fini(&h->router);
	sim_free(h->sim);
	netlist_fini(&h->nl);
}

#endif
