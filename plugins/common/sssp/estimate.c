/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trees as sssp_legal.c grows them, with a few for all hosts of a switch and parallel cables as
 * one arc: what decides between two orders is how the arcs near the top fare, and
 * that shows with far fewer trees than there are LIDs.  Where switches are few each has
 * several trees: all paths of one come by the same way where they join.
 */
#include "plugins/common/sssp/estimate.h"

#include <string.h>

#include "plugins/common/sssp/legal_paths.h"

#define SAMPLE 256     /* trees */
#define MOST_ROUNDS 16 /* trees to one switch */
#define BATCHES 32     /* of trees that do not see each other; at least so many */

/* What a worker needs for the order in hand. */
struct trial {
	struct fm_legal_paths paths;
	double *load; /* [n_arcs] */
};

struct estimate {
	const struct fm_host *host;
	const struct fm_fabric *fab;
	const struct fm_arcs *arcs;
	const struct fm_order *orders;
	double *worst;	   /* [n_orders] */
	uint16_t *n_hosts; /* [n_switches] */
	float *width;	   /* [n_arcs] */
	fm_sw *sample;	   /* [n_sample] */
	fm_sw *hosting;	   /* [n_switches] switches with hosts */
	uint32_t n_sample, n_batch;
	uint32_t n_rounds;    /* trees to each of the sample */
	struct trial *trials; /* [n_workers] */
};

/* Trees to n switches of the sample. */
static void
grow(const struct estimate *e, struct trial *t, const fm_sw *roots, uint32_t n)
{
	const uint16_t *sources[FM_LEGAL_LANES];
	double weight[FM_LEGAL_LANES];

	for (uint32_t i = 0; i < n; i++) {
		sources[i] = e->n_hosts;
		weight[i] = (double)e->n_hosts[roots[i]] / e->n_rounds;
	}
	fm_legal_find(&t->paths, roots, n);
	fm_legal_add(&t->paths, n, sources, weight, t->load);
}

static void
try_order(void *arg, uint32_t i, unsigned worker)
{
	struct estimate *e = arg;
	struct trial *t = &e->trials[worker];
	uint32_t n_trees = e->n_sample * e->n_rounds;
	double most = 0;

	memset(t->load, 0, e->arcs->n_arcs * sizeof(*t->load));
	fm_legal_follow(&t->paths, &e->orders[i]);
	for (uint32_t k = 0; k < n_trees; k += e->n_batch) {
		uint32_t n = n_trees - k < e->n_batch ? n_trees - k : e->n_batch;

		if (e->host->should_stop(e->host))
			return;
		fm_legal_weigh(&t->paths, t->load, e->width, true);
		grow(e, t, e->sample + k, n);
	}
	for (fm_arc a = 0; a < e->arcs->n_arcs; a++) {
		double load = t->load[a] / (double)e->width[a];

		most = load > most ? load : most;
	}
	e->worst[i] = most;
}

/* Every so manieth switch with hosts; those of a batch lie far apart, as their trees
 * do not see each other. */
static void
take_sample(struct estimate *e)
{
	uint32_t n = 0, k = 0, n_batches;

	for (fm_sw s = 0; s < e->fab->n_switches; s++)
		if (e->n_hosts[s] > 0)
			e->hosting[n++] = s;
	e->n_sample = n < SAMPLE ? n : SAMPLE;
	e->n_rounds = SAMPLE / (e->n_sample > 0 ? e->n_sample : 1);
	e->n_rounds = e->n_rounds < MOST_ROUNDS ? e->n_rounds : MOST_ROUNDS;
	e->n_batch = e->n_sample / BATCHES < 1 ? 1 : e->n_sample / BATCHES;
	n_batches = (e->n_sample + e->n_batch - 1) / e->n_batch;
	for (uint32_t b = 0; b < n_batches; b++)
		for (uint32_t i = b; i < e->n_sample; i += n_batches)
			e->sample[k++] = e->hosting[(uint64_t)i * n / e->n_sample];
	for (; k < e->n_sample * e->n_rounds; k++)
		e->sample[k] = e->sample[k - e->n_sample];
}

static int
take_memory(struct estimate *e, struct fm_error *err)
{
	const struct fm_host *host = e->host;
	unsigned n_workers = host->n_workers(host);
	int rc = 0;

	e->n_hosts = fm_scratch_array(host, e->fab->n_switches, uint16_t);
	e->sample = fm_scratch_array(host, SAMPLE, fm_sw);
	e->hosting = fm_scratch_array(host, e->fab->n_switches, fm_sw);
	e->width = fm_scratch_array(host, e->arcs->n_arcs, float);
	e->trials = fm_scratch_array(host, n_workers, struct trial);
	if (e->n_hosts == NULL || e->sample == NULL || e->hosting == NULL || e->width == NULL ||
	    e->trials == NULL)
		return fm_no_scratch(host, "trial trees", err);
	for (unsigned i = 0; i < n_workers && rc == 0; i++) {
		e->trials[i].load = fm_scratch_array(host, e->arcs->n_arcs, double);
		if (e->trials[i].load == NULL)
			return fm_no_scratch(host, "trial trees", err);
		rc = fm_legal_init(host, e->arcs, &e->trials[i].paths, err);
	}
	return rc;
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
	for (fm_arc a = 0; a < arcs->n_arcs; a++)
		e.width[a] = (float)fm_arc_width(arcs, a);
	take_sample(&e);
	host->parallel_for(host, n_orders, try_order, &e);
	if (host->should_stop(host))
		return host->fail(host, err, FM_E_CANCELLED, "stopped while orders were compared");
	return 0;
}
