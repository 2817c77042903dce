/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sa_rate QUERIES KIND ARGS...: path queries per second of CPU on one core, on a
 * simulated fabric that fattree has routed, and what a view of it costs: the
 * first, one after nothing has changed, one after a cable was pulled.
 *
 * Each query is a Get of a PathRecord between two random hosts by GID, from the
 * bytes of the request to those of the answer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/route/route.h"
#include "core/sa/sa.h"
#include "core/sweep/sweep.h"
#include "lab/sim/sim.h"
#include "lab/topo/netlist.h"
#include "lib/log.h"
#include "lib/rng.h"

#define ROUNDS 5

extern const struct fm_engine fattree_LTX_fm_engine;

static struct {
	struct netlist nl;
	struct sim *sim;
	struct transport *transport;
	struct txn_engine *txn;
	struct sweeper *sweeper;
	struct ha ha;
	struct router router;
	struct chain chain;
	struct chain_entry entry;
	struct sa_slot slot;
	uint64_t n_bytes, n_refused;
} bench;

static double
cpu_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts); /* others may be at work, too */
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void
die(const char *what)
{
	fprintf(stderr, "sa_rate: %s\n", what);
	exit(1);
}

static void
hush(void *arg, enum fm_log_level level, const char *subsystem, const char *line)
{
	(void)arg;
	(void)level;
	(void)subsystem;
	(void)line;
}

static void
settle(struct fm_error *err)
{
	while (!sweeper_idle(bench.sweeper) || txn_outstanding(bench.txn) > 0) {
		sweeper_step(bench.sweeper);
		if (txn_outstanding(bench.txn) > 0 && txn_poll(bench.txn, INT64_MAX, err) < 0)
			die(err->msg);
		else if (txn_outstanding(bench.txn) == 0 &&
		    sweeper_due_ns(bench.sweeper) != INT64_MAX &&
		    txn_poll(bench.txn, sweeper_due_ns(bench.sweeper), err) < 0)
			die(err->msg);
	}
}

static uint32_t
first_host(void)
{
	for (uint32_t i = 0; i < bench.nl.n_nodes; i++)
		if (bench.nl.nodes[i].type == NETLIST_CA)
			return i;
	die("no host");
	return 0;
}

static void
bring_up(int argc, char **argv, struct fm_error *err)
{
	struct txn_limits limits = {
		.timeout_ms = 200, .n_retries = 3, .window_max = 256, .per_node_max = 8
	};
	struct sweep_parts parts = {
		.ha = &bench.ha, .router = &bench.router, .chain = &bench.chain
	};
	struct sweep_settings set;
	struct sim_options o;
	struct local_port local;

	sim_options_default(&o);
	sweep_settings_default(&set);
	bench.entry = (struct chain_entry){ .engine = &fattree_LTX_fm_engine, .name = "fattree" };
	bench.chain = (struct chain){ .entries = &bench.entry, .n_entries = 1, .fallback = true };
	if (netlist_generate(argc, argv, &bench.nl, err) != 0 ||
	    sim_new(&bench.nl, &o, &bench.sim, err) != 0 ||
	    sim_attach(bench.sim, first_host(), 1, &bench.transport, err) != 0 ||
	    bench.transport->ops->local_port(bench.transport, &local, err) != 0 ||
	    router_init(&bench.router, 1, err) != 0)
		die(err->msg);
	ha_init(&bench.ha, local.port_guid, 0, 1);
	bench.txn = txn_new(bench.transport, &limits, 0);
	parts.transport = bench.transport;
	parts.txn = bench.txn;
	bench.sweeper = sweeper_new(&parts, &set, err);
	if (bench.sweeper == NULL)
		die(err->msg);
	sweeper_request(bench.sweeper, SWEEP_HEAVY, "bench");
	settle(err);
}

/* CPU milliseconds of a view: on the loop, and in all. */
struct cost {
	double loop_ms, ms;
};

static struct cost
publish(struct fm_error *err)
{
	struct sa_settings set = { .gid_prefix = 0xfe80000000000000, .sa_key = 1, .path_life = 18 };
	struct sa_view *prev = sa_slot_get(&bench.slot), *v = NULL;
	struct sa_view_source src = { .inv = sweeper_inventory(bench.sweeper),
		.plan = (struct plan *)(uintptr_t)sweeper_plan(bench.sweeper),
		.set = &set,
		.prev = prev };
	double start = cpu_s(), begun;

	if (sa_view_begin(&src, &v, err) != 0)
		die(err->msg);
	begun = cpu_s();
	if (sa_view_finish(v, prev, NULL, err) != 0)
		die(err->msg);
	sa_slot_set(&bench.slot, v);
	sa_view_put(prev);
	return (struct cost){ (begun - start) * 1e3, (cpu_s() - start) * 1e3 };
}

static void
on_answer(void *arg, const struct mad_addr *to, const uint8_t *bytes, size_t n_bytes)
{
	(void)arg;
	(void)to;
	bench.n_bytes += n_bytes;
	bench.n_refused += bytes[4] != 0 || bytes[5] != 0;
}

static uint32_t
random_host(const struct sa_view *v, struct fm_rng *rng)
{
	uint32_t e;

	do
		e = fm_rng_below(rng, v->n_ends);
	while (v->end[e].is_switch);
	return e;
}

/* Requests as they would come, one after the other in memory. */
static uint8_t *
make_requests(unsigned n)
{
	const struct sa_view *v = bench.slot.view;
	const struct sa_record *r = sa_record_of(SA_PATH_RECORD);
	uint8_t *all = calloc(n, MAD_BYTES);
	struct sa_header h = { .base_version = 1,
		.mgmt_class = WIRE_CLASS_SA,
		.class_version = SA_CLASS_VERSION,
		.method = SA_GET,
		.attr = SA_PATH_RECORD,
		.mask = SA_PR_SGID | SA_PR_DGID | SA_PR_REVERSIBLE | SA_PR_N_PATHS };
	struct fm_rng rng;

	if (all == NULL)
		die("out of memory");
	fm_rng_seed(&rng, 1);
	for (unsigned i = 0; i < n; i++) {
		struct sa_path_record want = { .reversible = 1, .n_paths = 1 };

		want.sgid = (struct sa_gid){ v->set.gid_prefix, v->end[random_host(v, &rng)].guid };
		want.dgid = (struct sa_gid){ v->set.gid_prefix, v->end[random_host(v, &rng)].guid };
		h.tid = i;
		sa_header_put(all + (size_t)i * MAD_BYTES, &h);
		sa_record_put(r, all + (size_t)i * MAD_BYTES + SA_DATA_AT, &want);
	}
	return all;
}

static double
answer_all(const uint8_t *requests, unsigned n)
{
	struct sa_out out = { on_answer, NULL };
	struct sa *sa = sa_new(&bench.slot, &out, NULL);
	struct mad_addr from = { .lid = bench.slot.view->end[0].lid };
	double best = 1e30;

	if (sa == NULL)
		die("out of memory");
	for (int round = 0; round < ROUNDS; round++) {
		double start = cpu_s(), took;

		for (unsigned i = 0; i < n; i++)
			sa_handle(sa, &from, requests + (size_t)i * MAD_BYTES, MAD_BYTES, 0);
		took = cpu_s() - start;
		best = took < best ? took : best;
	}
	sa_free(sa);
	return best;
}

int
main(int argc, char **argv)
{
	unsigned n = argc > 2 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
	struct fm_error err = { 0 };
	uint8_t *requests;
	struct cost first, same, cut;
	double took;
	uint32_t leaf = FM_NONE;

	if (n == 0)
		die("usage: sa_rate QUERIES KIND ARGS...");
	fm_log_set_sink(hush, NULL);
	sa_slot_init(&bench.slot);
	bring_up(argc - 2, argv + 2, &err);
	first = publish(&err);
	same = publish(&err);
	requests = make_requests(n);
	took = answer_all(requests, n);
	for (uint32_t i = 0; leaf == FM_NONE && i < bench.nl.n_nodes; i++)
		if (bench.nl.nodes[i].type == NETLIST_SWITCH)
			leaf = i;
	for (unsigned p = 1; p <= bench.nl.nodes[leaf].n_ports; p++) {
		uint32_t far = netlist_port(&bench.nl, leaf, p)->peer_node;

		if (far != NETLIST_NONE && bench.nl.nodes[far].type == NETLIST_SWITCH) {
			sim_unlink(bench.sim, leaf, p);
			break;
		}
	}
	sweeper_request(bench.sweeper, SWEEP_HEAVY, "cut");
	settle(&err);
	cut = publish(&err);
	printf(
	    "%u ends, %u switches: %.0f path queries per second and core (%.0f ns each, %ju "
	    "refused of %ju); a view (of it on the loop): first %.1f (%.1f) ms, nothing new %.1f "
	    "(%.1f) ms, a cable less %.1f (%.1f) ms\n",
	    bench.slot.view->n_ends, bench.slot.view->plan->snap->fab.n_switches, n / took,
	    took / n * 1e9, (uintmax_t)bench.n_refused, (uintmax_t)n * ROUNDS, first.ms,
	    first.loop_ms, same.ms, same.loop_ms, cut.ms, cut.loop_ms);
	free(requests);
	return 0;
}
