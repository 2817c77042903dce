/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SSSP (sssp.h) in batches, without a heap: all arcs are one hop, so a breadth first
 * search gives the order in which Dijkstra's would settle the switches and, for each, its
 * next steps.  Both are the same for all
 * trees to one switch; what differs is the choice:
 *
 *	cost(u) = min over next steps u -> v of bears(u -> v)^8 + cost(v)
 *
 * where an arc bears its routes by capacity.  Hops come first by construction,
 * so no weight can overflow (the sums are doubles of at most 10^80); the power
 * makes one crowded arc worse than several busy ones.  Then the sources of each
 * switch are added down its path, the order in reverse.  Workers share searches,
 * and on large fabrics the trees of a batch.
 *
 * Destinations are taken in turn over the switches: taken switch by switch, the
 * trees of one follow one another into the same gap (max/avg 1.67 against 1.27
 * on 125 random switches).
 */
#include "plugins/common/sssp/sssp_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORK_FINE 30000000u  /* trees * arcs up to which switches get several trees */
#define WORK_LEGAL 12000000u /* the same for legal paths */
#define WORK_ALL 8000000u    /* and up to which trees are grown again */
#define MAX_ROUNDS 4
#define LINEAR_ROUNDS 2
#define BATCH 32u	     /* trees grown at a time, at most */
#define BATCHES 1024u	     /* at least so many */
#define LEGAL_BATCHES 128u   /* and so many with legal paths */
#define WORK_SHARED 50000u   /* trees * arcs of a batch that are worth sharing out */
#define UNEVEN 1.25	     /* largest load by the mean that is worth a closer look */
#define FEW_HOPS 1e7	     /* switches * LIDs * square of the hops: so much is looked at */
#define KEEP_BYTES 64000000u /* searches are kept for the next tree while they fit */

/* ------------------------------------------------------------ plan of trees */

static bool
is_listed(const struct fm_nodeset *set, fm_end e)
{
	return set != NULL && set->given && set->end != NULL && fm_bit(set->end, e);
}

static enum lid_class
class_of_end(const struct grower *g, fm_end e)
{
	if (!fm_sends(g->fab, e))
		return LID_SILENT;
	if (is_listed(g->plan->compute, e))
		return LID_COMPUTE;
	return is_listed(g->plan->io, e) ? LID_IO : LID_PLAIN;
}

static uint32_t
n_lids_of(const struct fm_fabric *fab, fm_end e)
{
	return fab->end_lid[e] != 0 ? 1u << fab->end_lmc[e] : 0;
}

static void
count_lids(const struct grower *g, fm_sw sw, uint32_t n[LID_CLASSES])
{
	memset(n, 0, LID_CLASSES * sizeof(*n));
	for (fm_end e = g->fab->sw_first_end[sw]; e < g->fab->sw_first_end[sw + 1]; e++)
		n[class_of_end(g, e)] += n_lids_of(g->fab, e);
}

/* Trees of each class at one switch, at most k for a class; their sum.  LIDs without
 * traffic join other trees, and where there are none make one of their own. */
static uint32_t
count_trees(const struct grower *g, fm_sw sw, uint32_t k, uint32_t n[LID_CLASSES])
{
	uint32_t sum = 0;

	count_lids(g, sw, n);
	for (unsigned c = 0; c < LID_SILENT; c++) {
		n[c] = n[c] < k ? n[c] : k;
		sum += n[c];
	}
	n[LID_SILENT] = sum == 0;
	return sum + n[LID_SILENT];
}

/* The most trees per switch that the time allows: k, k / 2, ..., 1. */
static uint32_t
choose_fineness(const struct grower *g)
{
	uint32_t n[LID_CLASSES], most = g->plan->rule.order != NULL ? WORK_LEGAL : WORK_FINE;

	for (uint32_t k = 256;; k /= 2) {
		uint64_t sum = 0;

		for (fm_sw s = 0; s < g->fab->n_switches; s++)
			sum += count_trees(g, s, k, n);
		if (k == 1 || sum * g->plan->arcs->n_arcs <= most)
			return k;
	}
}

/* LIDs of the switch's class c dealt to its trees t, t + 1, ..., t + n - 1: those
 * of one end to different ones, and the base LIDs to all of them. */
static void
deal_lids(const struct grower *g, fm_sw sw, unsigned c, uint32_t n, uint32_t t, uint32_t *tree_of)
{
	const struct fm_fabric *fab = g->fab;
	uint32_t j = 0; /* ends of the class */

	for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++) {
		bool is_dealt = class_of_end(g, e) == c && fab->end_lid[e] != 0;

		for (uint32_t o = 0; is_dealt && o < n_lids_of(fab, e); o++) {
			tree_of[fab->end_lid[e] + o] = t + (j + o) % n;
			g->weight[t + (j + o) % n] += c != LID_SILENT;
		}
		j += is_dealt;
	}
}

/* Trees of a batch are to lie far apart, as they do not see each other: the first trees
 * of switches 0, SCATTER, 2 * SCATTER, ..., then of switches 1, ... */
static uint64_t
turn_of(const struct grower *g, fm_sw sw, unsigned c, uint32_t i)
{
	uint32_t apart = g->fab->n_switches / BATCH + 1;

	return (uint64_t)c << 30 | i << 22 | (sw % apart) << 6 | sw / apart;
}

/* Trees of one switch, from number t on. */
static void
plan_switch(struct grower *g, fm_sw sw, uint32_t k, uint32_t t, uint32_t *tree_of)
{
	uint32_t n[LID_CLASSES], first = t;
	fm_sw *root = (fm_sw *)g->f->root;

	count_trees(g, sw, k, n);
	for (unsigned c = 0; c < LID_CLASSES; c++) {
		for (uint32_t i = 0; i < n[c]; i++) {
			root[t + i] = sw;
			g->class_of[t + i] = (uint8_t)c;
			g->turns[t + i] = turn_of(g, sw, c, i) << 32 | (t + i);
		}
		if (n[c] > 0 && c != LID_SILENT)
			deal_lids(g, sw, c, n[c], t, tree_of);
		t += n[c];
	}
	deal_lids(g, sw, LID_SILENT, 1, first, tree_of);
}

int
fm_by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* From the tree of each LID to the LIDs of each tree. */
static int
list_lids(struct grower *g, const uint32_t *tree_of, struct fm_error *err)
{
	struct fm_sssp_trees *f = g->f;
	uint32_t *first = fm_scratch_array(g->host, (size_t)f->n_trees + 2, uint32_t);
	uint16_t *lid = fm_scratch_array(g->host, (size_t)g->fab->max_lid + 1, uint16_t);

	if (first == NULL || lid == NULL)
		return fm_no_scratch(g->host, "LIDs of the trees", err);
	for (uint32_t l = 0; l <= g->fab->max_lid; l++)
		if (tree_of[l] != FM_NONE)
			first[tree_of[l] + 2]++;
	for (uint32_t t = 2; t < f->n_trees + 2; t++)
		first[t] += first[t - 1];
	for (uint32_t l = 0; l <= g->fab->max_lid; l++)
		if (tree_of[l] != FM_NONE)
			lid[first[tree_of[l] + 1]++] = (uint16_t)l;
	f->lid_first = first;
	f->lid = lid;
	return 0;
}

static int
plan_trees(struct grower *g, struct fm_error *err)
{
	uint32_t n = g->fab->n_switches, counts[LID_CLASSES];
	uint32_t k = g->plan->trees_per_switch > 0 ? g->plan->trees_per_switch : choose_fineness(g);
	uint32_t *first = fm_scratch_array(g->host, (size_t)n + 1, uint32_t);
	uint32_t *tree_of = fm_scratch_array(g->host, (size_t)g->fab->max_lid + 1, uint32_t);

	if (first == NULL || tree_of == NULL)
		return fm_no_scratch(g->host, "plan of destination trees", err);
	for (fm_sw s = 0; s < n; s++)
		first[s + 1] = first[s] + count_trees(g, s, k, counts);
	g->f->n_trees = first[n];
	g->f->first = first;
	g->f->root = fm_scratch_array(g->host, first[n], fm_sw);
	g->class_of = fm_scratch_array(g->host, first[n], uint8_t);
	g->turns = fm_scratch_array(g->host, first[n], uint64_t);
	g->weight = fm_scratch_array(g->host, first[n], uint32_t);
	if (g->f->root == NULL || g->class_of == NULL || g->turns == NULL || g->weight == NULL)
		return fm_no_scratch(g->host, "plan of destination trees", err);
	memset(tree_of, 0xff, ((size_t)g->fab->max_lid + 1) * sizeof(*tree_of));
	for (fm_sw s = 0; s < n; s++)
		plan_switch(g, s, k, first[s], tree_of);
	qsort(g->turns, first[n], sizeof(*g->turns), fm_by_number);
	return list_lids(g, tree_of, err);
}

/* ---------------------------------------------------------------- the graph */

/* Sources at the switch; only those on the list, when there is one. */
static uint16_t
count_sources(const struct grower *g, fm_sw sw, const struct fm_nodeset *list)
{
	uint32_t n = 0;

	for (fm_end e = g->fab->sw_first_end[sw]; e < g->fab->sw_first_end[sw + 1]; e++)
		n += fm_sends(g->fab, e) && (list == NULL || !list->given || is_listed(list, e));
	return n < UINT16_MAX ? (uint16_t)n : UINT16_MAX;
}

static void
read_graph(struct grower *g)
{
	const struct fm_arcs *arcs = g->plan->arcs;
	const struct fm_fabric *fab = g->fab;
	float *capacity = (float *)g->f->capacity;

	for (fm_link l = 0; l < fab->n_links; l++)
		capacity[l] = g->plan->avoid_throttled && fab->link_mbps[l] > 0 &&
			fab->link_mbps[l] < fab->link_nominal_mbps[l]
		    ? (float)fab->link_mbps[l] / (float)fab->link_nominal_mbps[l]
		    : 1;
	for (fm_arc a = 0; a < arcs->n_arcs; a++) {
		double sum = 0;

		for (fm_link l = arcs->link[a]; l < arcs->link[a + 1]; l++)
			sum += (double)capacity[l];
		g->per_route[a] = 1 / sum;
		if (g->arc_cost != NULL)
			g->arc_cost[a] = 1;
	}
	for (fm_sw s = 0; s < fab->n_switches; s++) {
		g->n_sources[s] = count_sources(g, s, NULL);
		g->n_compute[s] = count_sources(g, s, g->plan->compute);
	}
}

static uint32_t
count_rounds(const struct grower *g)
{
	uint64_t work = (uint64_t)g->f->n_trees * g->plan->arcs->n_arcs;
	uint64_t n = work > 0 ? WORK_ALL / work : 1;

	if (g->plan->linear)
		return n > LINEAR_ROUNDS ? MAX_ROUNDS : LINEAR_ROUNDS;
	return n < 1 || g->plan->dimensions != NULL ? 1 : n > MAX_ROUNDS ? MAX_ROUNDS : (uint32_t)n;
}

static int
take_search_memory(struct grower *g, struct fm_error *err)
{
	size_t n = g->fab->n_switches, n_arcs = g->plan->arcs->n_arcs;
	size_t each = (2 * n + 1 + n_arcs / 2) * sizeof(uint32_t);
	unsigned n_workers = g->host->n_workers(g->host);
	uint32_t *memory;

	g->keeps = n * each <= KEEP_BYTES && g->plan->dimensions == NULL;
	g->n_steps = g->keeps ? (uint32_t)n : g->n_batch;
	g->steps = fm_scratch_array(g->host, g->n_steps, struct steps);
	memory = fm_scratch_bytes(g->host, g->n_steps, each);
	g->level = fm_scratch_array(g->host, n_workers, uint32_t *);
	if (g->steps == NULL || memory == NULL || g->level == NULL)
		return fm_no_scratch(g->host, "searches of destination trees", err);
	for (uint32_t i = 0; i < g->n_steps; i++) {
		g->steps[i].order = memory + i * (each / sizeof(uint32_t));
		g->steps[i].first = g->steps[i].order + n;
		g->steps[i].arc = g->steps[i].first + n + 1;
	}
	for (unsigned w = 0; w < n_workers; w++)
		if ((g->level[w] = fm_scratch_array(g->host, n, uint32_t)) == NULL)
			return fm_no_scratch(g->host, "searches of destination trees", err);
	return 0;
}

static int
take_memory(struct grower *g, uint32_t rounds, struct fm_error *err)
{
	size_t n = g->fab->n_switches, n_arcs = g->plan->arcs->n_arcs, n_trees = g->f->n_trees;
	const struct fm_host *host = g->host;
	bool legal = g->plan->rule.order != NULL;

	g->per_route = fm_scratch_array(host, n_arcs, double);
	g->load = fm_scratch_array(host, n_arcs, double);
	g->arc_cost = legal ? NULL : fm_scratch_array(host, n_arcs, double);
	g->n_sources = fm_scratch_array(host, n, uint16_t);
	g->n_compute = fm_scratch_array(host, n, uint16_t);
	g->cost = fm_scratch_array(host, n * host->n_workers(host), double);
	g->f->capacity = fm_scratch_array(host, g->fab->n_links, float);
	g->f->step = fm_scratch_array(host, n_trees * n, uint8_t);
	if (g->per_route == NULL || g->load == NULL || (g->arc_cost == NULL && !legal) ||
	    g->n_sources == NULL || g->n_compute == NULL || g->cost == NULL ||
	    g->f->capacity == NULL || g->f->step == NULL)
		return fm_no_scratch(host, "destination trees", err);
	g->n_batch = (uint32_t)n_trees / (legal ? LEGAL_BATCHES : BATCHES);
	g->n_batch = g->n_batch < 1 ? 1 : g->n_batch < BATCH ? g->n_batch : BATCH;
	if (rounds > 1 || fm_has_wide_arcs(g->plan->arcs))
		g->f->passing = fm_scratch_array(host, n_trees * n, uint16_t);
	else
		g->passing = fm_scratch_array(host, g->n_batch * n, uint16_t);
	if (g->f->passing == NULL && g->passing == NULL)
		return fm_no_scratch(host, "routes of the trees", err);
	return legal ? 0 : take_search_memory(g, err);
}

/* ----------------------------------------------------------------- one tree */

/* By dimension order there is no choice: the steps are those of the tree. */
static void
lay(const struct grower *g, fm_sw root, uint8_t *step, uint32_t *level, struct steps *t)
{
	const struct fm_arcs *arcs = g->plan->arcs;

	t->n = fm_dimensions_tree(g->plan->dimensions, root, step, t->order);
	t->max_hops = level[root] = 0;
	for (uint32_t i = 1; i < t->n; i++) {
		fm_sw u = t->order[i];

		level[u] = level[arcs->to[arcs->first[u] + step[u]]] + 1;
		t->max_hops = level[u] > t->max_hops ? level[u] : t->max_hops;
	}
}

static void
search(const struct grower *g, fm_sw root, uint32_t *level, struct steps *t)
{
	const struct fm_arcs *arcs = g->plan->arcs;
	uint32_t n = 0, n_arcs = 0;

	memset(level, 0xff, arcs->n_switches * sizeof(*level));
	t->order[n++] = root;
	level[root] = 0;
	for (uint32_t i = 0; i < n; i++) {
		fm_sw u = t->order[i];

		t->first[i] = n_arcs;
		for (fm_arc a = arcs->first[u]; a < arcs->first[u + 1]; a++) {
			fm_sw v = arcs->to[a];

			if (level[v] < level[u]) {
				t->arc[n_arcs++] = a;
			} else if (level[v] == FM_NONE) {
				level[v] = level[u] + 1;
				t->order[n++] = v;
			}
		}
	}
	t->first[n] = n_arcs;
	t->n = n;
	t->max_hops = level[t->order[n - 1]];
}

/* The search of the i-th switch, or of the i-th tree of the batch in hand. */
static void
search_one(void *arg, uint32_t i, unsigned worker)
{
	struct grower *g = arg;
	uint32_t tree = g->keeps ? 0 : (uint32_t)g->turns[g->batch + i];
	fm_sw root = g->keeps ? i : g->f->root[tree];

	if (g->plan->dimensions != NULL)
		lay(g, root, fm_grower_steps(g, tree), g->level[worker], &g->steps[i]);
	else
		search(g, root, g->level[worker], &g->steps[i]);
}

static void
choose(const struct grower *g, const struct steps *t, double *cost, uint8_t *step)
{
	const struct fm_arcs *arcs = g->plan->arcs;

	memset(step, FM_STEP_NONE, arcs->n_switches);
	cost[t->order[0]] = 0;
	for (uint32_t i = 1; i < t->n; i++) {
		fm_sw u = t->order[i];
		double least = INFINITY;
		fm_arc best = 0;

		for (uint32_t k = t->first[i]; k < t->first[i + 1]; k++) {
			fm_arc a = t->arc[k];
			double c = g->arc_cost[a] + cost[arcs->to[a]];

			best = c < least ? a : best;
			least = c < least ? c : least;
		}
		cost[u] = least;
		step[u] = (uint8_t)(best - arcs->first[u]);
	}
}

/* The sources of every switch down its path. */
static void
count_passing(const struct grower *g, const struct steps *t, const uint8_t *step, uint16_t *passing)
{
	const struct fm_arcs *arcs = g->plan->arcs;

	for (uint32_t i = t->n; i-- > 1;) {
		fm_sw u = t->order[i], v = arcs->to[arcs->first[u] + step[u]];

		passing[v] = (uint16_t)(passing[v] + passing[u]);
	}
}

static const struct steps *
search_of(const struct grower *g, uint32_t i, uint32_t tree)
{
	return &g->steps[g->keeps ? g->f->root[tree] : i];
}

/* The i-th tree of the batch in hand. */
static void
grow_tree(void *arg, uint32_t i, unsigned worker)
{
	const struct grower *g = arg;
	uint32_t tree = (uint32_t)g->turns[g->batch + i];
	const struct steps *t = search_of(g, i, tree);
	uint8_t *step = fm_grower_steps(g, tree);
	uint16_t *passing = fm_grower_passing(g, i, tree);

	if (g->plan->dimensions == NULL)
		choose(g, t, g->cost + (size_t)worker * g->fab->n_switches, step);
	if (g->weight[tree] == 0) {
		memset(passing, 0, g->fab->n_switches * sizeof(*passing));
		return;
	}
	memcpy(passing, fm_grower_sources(g, tree), g->fab->n_switches * sizeof(*passing));
	count_passing(g, t, step, passing);
}

/* n trees, g->batch the first. */
static void
grow_batch(void *arg, uint32_t n)
{
	struct grower *g = arg;

	if (!g->keeps)
		g->host->parallel_for(g->host, n, search_one, g);
	for (uint32_t i = 0; g->again && i < n; i++)
		fm_grower_load(g, i, (uint32_t)g->turns[g->batch + i], -1);
	if ((uint64_t)n * g->plan->arcs->n_arcs > WORK_SHARED)
		g->host->parallel_for(g->host, n, grow_tree, g);
	else
		for (uint32_t i = 0; i < n; i++)
			grow_tree(g, i, 0);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t tree = (uint32_t)g->turns[g->batch + i],
			 hops = search_of(g, i, tree)->max_hops;

		fm_grower_load(g, i, tree, 1);
		g->f->max_hops = hops > g->f->max_hops ? hops : g->f->max_hops;
	}
}

static int
grow_shortest(struct grower *g, uint32_t rounds, struct fm_error *err)
{
	if (g->keeps)
		g->host->parallel_for(g->host, g->fab->n_switches, search_one, g);
	return fm_grower_run(g, rounds, g->n_batch, grow_batch, g, err);
}

static void
weigh(const struct grower *g)
{
	double sum = 0;

	for (fm_arc a = 0; a < g->plan->arcs->n_arcs; a++) {
		double bears = g->load[a] * g->per_route[a];

		g->f->most = bears > g->f->most ? bears : g->f->most;
		sum += g->load[a];
	}
	g->f->mean = g->fab->n_links > 0 ? sum / g->fab->n_links : 0;
}

bool
fm_sssp_is_uneven(const struct fm_fabric *fab, const struct fm_sssp_trees *f)
{
	double n = 0, hops;

	for (fm_end e = 0; e < fab->n_ends; e++)
		n += fm_is_host(fab, e);
	hops = n > 0 ? f->mean * fab->n_links / (n * n) : 0;
	return (f->most > UNEVEN * f->mean || fm_has_wide_arcs(f->arcs)) &&
	    n * fab->n_switches * hops * hops <= FEW_HOPS;
}

int
fm_sssp_grow(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_sssp_plan *plan, struct fm_sssp_trees *out, struct fm_error *err)
{
	struct grower g = { .host = host, .fab = fab, .plan = plan, .f = out };
	uint32_t rounds;
	int rc;

	*out = (struct fm_sssp_trees){ .arcs = plan->arcs };
	if ((rc = plan_trees(&g, err)) != 0)
		return rc;
	rounds = count_rounds(&g);
	if ((rc = take_memory(&g, rounds, err)) != 0)
		return rc;
	g.n_total = rounds * out->n_trees;
	read_graph(&g);
	rc = plan->rule.order != NULL ? fm_sssp_grow_legal(&g, rounds, err)
				      : grow_shortest(&g, rounds, err);
	weigh(&g);
	return rc;
}
