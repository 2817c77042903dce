/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The trees of grow.c, with a few for all hosts of a switch and parallel cables as
 * one arc: what decides between two orders is how the arcs near the top fare, and
 * that shows with far fewer trees than there are LIDs.  Where switches are few each has
 * several trees: all paths of one come by the same way where they join.
 */
#include "plugins/common/estimate.h"

#include <string.h>

#define SAMPLE 256     /* trees */
#define MOST_ROUNDS 16 /* trees to one switch */

/* What a worker needs for the order in hand. */
struct trial {
	struct fm_steps steps;
	double *load;	 /* [n_arcs] */
	double *cost;	 /* [n_switches] */
	double *passing; /* [n_switches] */
	fm_arc *next;	 /* [n_switches] */
	double sum;	 /* of load[] */
};

struct estimate {
	const struct fm_host *host;
	const struct fm_fabric *fab;
	const struct fm_arcs *arcs;
	const struct fm_order *orders;
	double *worst;	 /* [n_orders] */
	double *n_hosts; /* [n_switches] */
	fm_sw *sample;	 /* [n_sample] */
	uint32_t n_sample;
	uint32_t n_rounds;    /* trees to each of the sample */
	struct trial *trials; /* [n_workers] */
};

static void
choose(const struct estimate *e, struct trial *t, fm_sw u, double mean)
{
	double best = 0;

	t->next[u] = FM_NONE;
	for (fm_arc a = e->arcs->first[u]; a < e->arcs->first[u + 1]; a++) {
		double cost;

		if (!fm_is_step(&t->steps, u, a))
			continue;
		cost = t->cost[e->arcs->to[a]] +
		    fm_detour_cost(t->load[a] / fm_arc_width(e->arcs, a) / mean);
		if (t->next[u] != FM_NONE && cost >= best)
			continue;
		best = cost;
		t->next[u] = a;
	}
	t->cost[u] = best;
}

static void
add_load(const struct estimate *e, struct trial *t)
{
	const struct fm_steps *s = &t->steps;

	memcpy(t->passing, e->n_hosts, e->fab->n_switches * sizeof(*t->passing));
	for (uint32_t i = s->n_near; i-- > 1;) {
		fm_arc a = t->next[s->near[i]];
		double n = t->passing[s->near[i]] * e->n_hosts[s->root] / e->n_rounds;

		t->load[a] += n;
		t->sum += n;
		t->passing[e->arcs->to[a]] += t->passing[s->near[i]];
	}
}

static void
try_order(void *arg, uint32_t i, unsigned worker)
{
	struct estimate *e = arg;
	struct trial *t = &e->trials[worker];
	double n_links = e->fab->n_links, most = 0;

	memset(t->load, 0, e->arcs->n_arcs * sizeof(*t->load));
	t->sum = 0;
	fm_steps_follow(&t->steps, &e->orders[i]);
	for (uint32_t k = 0; k < e->n_sample * e->n_rounds && !e->host->should_stop(e->host); k++) {
		double mean = t->sum > 0 ? t->sum / n_links : 1;

		fm_steps_find(&t->steps, e->sample[k % e->n_sample]);
		t->cost[t->steps.root] = 0;
		for (uint32_t n = 1; n < t->steps.n_near; n++)
			choose(e, t, t->steps.near[n], mean);
		add_load(e, t);
	}
	for (fm_arc a = 0; a < e->arcs->n_arcs; a++) {
		double load = t->load[a] / fm_arc_width(e->arcs, a);

		most = load > most ? load : most;
	}
	e->worst[i] = most;
}

/* Every so manieth switch with hosts, in an order that leaps about the fabric. */
static void
take_sample(struct estimate *e)
{
	uint32_t n = 0, stride;

	for (fm_sw s = 0; s < e->fab->n_switches; s++)
		if (e->n_hosts[s] > 0)
			e->sample[n++] = s;
	e->n_sample = n < SAMPLE ? n : SAMPLE;
	stride = n / (e->n_sample > 0 ? e->n_sample : 1);
	e->n_rounds = SAMPLE / (e->n_sample > 0 ? e->n_sample : 1);
	e->n_rounds = e->n_rounds < MOST_ROUNDS ? e->n_rounds : MOST_ROUNDS;
	for (uint32_t i = 0; i < e->n_sample; i++)
		e->sample[i] = e->sample[i * stride];
}

static int
take_memory(struct estimate *e, struct fm_error *err)
{
	const struct fm_host *host = e->host;
	size_t n = e->fab->n_switches;
	unsigned n_workers = host->n_workers(host);
	struct fm_rule rule = { .order = &e->orders[0], .detours = true };
	bool lacking;

	e->n_hosts = fm_scratch_array(host, n, double);
	e->sample = fm_scratch_array(host, n, fm_sw);
	e->trials = fm_scratch_array(host, n_workers, struct trial);
	lacking = e->n_hosts == NULL || e->sample == NULL || e->trials == NULL;
	for (unsigned i = 0; i < n_workers && !lacking; i++) {
		struct trial *t = &e->trials[i];
		int rc = fm_steps_init(host, e->fab, e->arcs, rule, &t->steps, err);

		if (rc != 0)
			return rc;
		t->load = fm_scratch_array(host, e->arcs->n_arcs, double);
		t->cost = fm_scratch_array(host, n, double);
		t->passing = fm_scratch_array(host, n, double);
		t->next = fm_scratch_array(host, n, fm_arc);
		lacking =
		    t->load == NULL || t->cost == NULL || t->passing == NULL || t->next == NULL;
	}
	return lacking ? fm_no_scratch(host, "trial trees", err) : 0;
}

int
fm_estimate_orders(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_arcs *arcs, const struct fm_order *orders, uint32_t n_orders, double *worst,
    struct fm_error *err)
{
	struct estimate e = {
		.host = host, .fab = fab, .arcs = arcs, .orders = orders, .worst = worst
	};
	int rc = take_memory(&e, err);

	if (rc != 0)
		return rc;
	for (fm_end end = 0; end < fab->n_ends; end++)
		if (fm_is_host(fab, end) && fab->end_sw[end] != FM_NONE)
			e.n_hosts[fab->end_sw[end]]++;
	take_sample(&e);
	host->parallel_for(host, n_orders, try_order, &e);
	if (host->should_stop(host))
		return host->fail(err, FM_E_CANCELLED, "stopped while orders were compared");
	return 0;
}
