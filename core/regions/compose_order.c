/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who is above whom among components.
 *
 * Any order by levels, ties by number, gives up/down routes without loops; they
 * differ in who is left out, in how much crowds on one cable, and in hops.
 * Candidates, each completed by breadth first search:
 *
 *	the administrator's, where nobody is left out
 *	all components of regions without hosts on top; or all of any one region:
 *	with a single root parallel cores would idle
 *	one component on top
 *
 * The best is, in this order: leaves the fewest sources out; the least load on the
 * busiest cable, were traffic spread evenly; the fewest boundaries crossed.
 *
 * Those come first that trees are made for; another has to be clearly better.
 *
 * It ends where no order can be better in all but hops.  A candidate costs
 * O(components * cables between them): as many are looked at as fit STEPS.
 *
 * For islands the components of their core are ordered by themselves in the same way.  What
 * an island sends and gets counts as that of its neighbours there.
 */
#include <inttypes.h>
#include <string.h>

#include "core/regions/compose_gateways.h"
#include "core/regions/compose_steps.h"
#include "lib/log.h"

#define MOST_PIECE_ROOTS 16u
#define STEPS 30000000u
#define CLEARLY 0.9 /* of the load before: for less the tops of trees stay on top */

struct score {
	uint64_t left_out; /* (source, LID) pairs that are joined by cables, not by routes */
	double load, hops;
};

struct ordering {
	struct composer *c;
	struct order *to;	/* what is made */
	double *sources, *lids; /* [n_components] */
	struct ordered_ways ways;
	double *flow;		    /* [n_components] */
	double *cable_load;	    /* [sides of all components] */
	uint32_t *by_rank;	    /* [n_components] */
	uint32_t *fabric_component; /* [n_components] */
	uint16_t *level, *best;
	struct score best_score;
	bool any;
};

/* --------------------------------------------------------------- the score */

/* place[] by level, then by number. */
static void
place_by_level(const struct ordering *o, const uint16_t *level, uint32_t *count)
{
	struct ordered_graph *g = &o->to->graph;
	uint32_t k = g->n, n = 0, most = 0;

	memset(count, 0, k * sizeof(*count));
	for (uint32_t x = 0; x < k; x++) {
		count[level[x]]++;
		most = level[x] > most ? level[x] : most;
	}
	for (uint32_t i = 0; i <= most; i++) {
		uint32_t here = count[i];

		count[i] = n;
		n += here;
	}
	for (uint32_t x = 0; x < k; x++)
		g->place[x] = count[level[x]]++;
	ordered_sort(g);
}

/* Components by descending rank, those without one left out; their number. */
static uint32_t
sort_by_rank(const struct ordering *o, const uint16_t *rank)
{
	uint32_t k = o->c->n_components, n = 0, *count = o->ways.queue;

	memset(count, 0, k * sizeof(*count));
	for (uint32_t x = 0; x < k; x++)
		if (rank[x] != ORDERED_NO_RANK) {
			count[rank[x]]++;
			n++;
		}
	for (uint32_t i = 0, below = n; i < k; i++) {
		below -= count[i];
		count[i] = below;
	}
	for (uint32_t x = 0; x < k; x++)
		if (rank[x] != ORDERED_NO_RANK)
			o->by_rank[count[rank[x]]++] = x;
	return n;
}

/* Traffic of all sources to the LIDs of d, spread evenly. */
static void
add_flows(struct ordering *o, uint32_t d, struct score *s)
{
	struct composer *c = o->c;
	const struct ordered_graph *g = &o->to->graph;
	const uint16_t *rank = o->ways.rank;
	uint32_t n = sort_by_rank(o, rank);

	for (uint32_t x = 0; x < c->n_components; x++) {
		o->flow[x] = o->sources[x] * o->lids[d];
		if (rank[x] == ORDERED_NO_RANK && o->fabric_component[x] == o->fabric_component[d])
			s->left_out += (uint64_t)(o->sources[x] * o->lids[d]);
		else if (rank[x] != ORDERED_NO_RANK)
			s->hops += o->flow[x] * rank[x];
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t x = o->by_rank[i], exits = 0, at = g->first[x];

		if (x == d)
			continue;
		for (uint32_t a = at; a < g->first[x + 1]; a++)
			if (ordered_is_step(g, rank, o->ways.down, x, g->to[a]))
				exits += c->component[x].side[a - at].n_exits;
		for (uint32_t a = at; exits > 0 && a < g->first[x + 1]; a++) {
			uint32_t n_exits = c->component[x].side[a - at].n_exits;

			if (!ordered_is_step(g, rank, o->ways.down, x, g->to[a]))
				continue;
			o->flow[g->to[a]] += o->flow[x] * n_exits / exits;
			o->cable_load[a] += o->flow[x] / exits;
			s->load = o->cable_load[a] > s->load ? o->cable_load[a] : s->load;
		}
	}
}

static struct score
score_of(struct ordering *o, const uint16_t *level)
{
	struct composer *c = o->c;
	struct score s = { 0 };

	place_by_level(o, level, o->by_rank);
	memset(
	    o->cable_load, 0, (o->to->graph.first[c->n_components] + 1) * sizeof(*o->cable_load));
	for (uint32_t d = 0; d < c->n_components; d++) {
		ordered_find(&o->to->graph, d, &o->ways);
		add_flows(o, d, &s);
	}
	return s;
}

static bool
is_better(const struct score *a, const struct score *b)
{
	if (a->left_out != b->left_out)
		return a->left_out < b->left_out;
	if (a->load > b->load)
		return false;
	return a->load < b->load * CLEARLY || a->hops < b->hops;
}

/* ---------------------------------------------------------- the candidates */

/* Levels by breadth first search from those at level 0; the others are UINT16_MAX. */
static void
complete_levels(const struct ordering *o, uint16_t *level)
{
	const struct ordered_graph *g = &o->to->graph;
	uint32_t *queue = o->by_rank, n = 0, i = 0, next = 0;

	for (uint32_t x = 0; x < g->n; x++)
		if (level[x] == 0)
			queue[n++] = x;
	for (;;) {
		for (; i < n; i++)
			for (uint32_t a = g->first[queue[i]]; a < g->first[queue[i] + 1]; a++)
				if (level[g->to[a]] == UINT16_MAX) {
					level[g->to[a]] = (uint16_t)(level[queue[i]] + 1);
					queue[n++] = g->to[a];
				}
		while (next < g->n && level[next] != UINT16_MAX)
			next++;
		if (next == g->n)
			return;
		level[next] = 0; /* nothing joins it to those above */
		queue[n++] = next;
	}
}

static void
consider(struct ordering *o)
{
	struct score s;

	complete_levels(o, o->level);
	s = score_of(o, o->level);
	if (!o->any || is_better(&s, &o->best_score)) {
		memcpy(o->best, o->level, o->c->n_components * sizeof(*o->best));
		o->best_score = s;
	}
	o->any = true;
}

static void
no_levels(const struct ordering *o)
{
	memset(o->level, 0xff, o->c->n_components * sizeof(*o->level));
}

static bool
levels_as_given(const struct ordering *o)
{
	const struct region_set *set = o->c->set;
	uint32_t used = 0;

	no_levels(o);
	for (uint32_t i = 0; i < set->n_order; i++) {
		bool any = false;

		for (uint32_t x = 0; x < o->c->n_components; x++)
			if (o->c->component[x].region == set->order[i] &&
			    o->level[x] == UINT16_MAX) {
				o->level[x] = (uint16_t)used;
				any = true;
			}
		used += any;
	}
	for (uint32_t x = 0; x < o->c->n_components; x++)
		if (o->level[x] == UINT16_MAX)
			o->level[x] = (uint16_t)(used < o->c->n_components ? used : 0);
	return set->n_order > 0;
}

/* Take the levels at hand if nobody is left out. */
static bool
take_if_complete(struct ordering *o, const char *whose)
{
	struct score s = score_of(o, o->level);

	if (s.left_out > 0) {
		if (whose != NULL)
			log_notice("route",
			    "the order of regions that was %s leaves sources without routes, "
			    "another is "
			    "looked for, pairs=%" PRIu64,
			    whose, s.left_out);
		return false;
	}
	memcpy(o->best, o->level, o->c->n_components * sizeof(*o->best));
	o->best_score = s;
	o->any = true;
	return true;
}

static bool
region_has_hosts(const struct composer *c, uint32_t region)
{
	for (uint32_t x = 0; x < c->n_components; x++)
		if (c->component[x].region == region && c->component[x].n_sources > 0)
			return true;
	return false;
}

/* All components of a region on top; region n_regions: of all without hosts. */
static void
consider_region(struct ordering *o, uint32_t region)
{
	struct composer *c = o->c;
	bool any = false;

	no_levels(o);
	for (uint32_t x = 0; x < c->n_components; x++)
		if (region < c->set->n_regions ? c->component[x].region == region
					       : !region_has_hosts(c, c->component[x].region)) {
			o->level[x] = 0;
			any = true;
		}
	if (any)
		consider(o);
}

/* No order brings less than this on the busiest cable: all that leaves a component, and all
 * that comes to it, spread over all its cables. */
static double
least_load(const struct ordering *o)
{
	const struct ordered_graph *g = &o->to->graph;
	double least = 0, sources = 0, lids = 0;

	for (uint32_t x = 0; x < g->n; x++) {
		sources += o->sources[x];
		lids += o->lids[x];
	}
	for (uint32_t x = 0; x < g->n; x++) {
		double out = o->sources[x] * (lids - o->lids[x]);
		double in = o->lids[x] * (sources - o->sources[x]), most = out > in ? out : in;
		uint32_t n_exits = 0;

		for (uint32_t a = g->first[x]; a < g->first[x + 1]; a++)
			if (g->to[a] != x)
				n_exits += o->c->component[x].side[a - g->first[x]].n_exits;
		least = n_exits > 0 && most / n_exits > least ? most / n_exits : least;
	}
	return least;
}

/* Can no other order be better, hops aside? */
static bool
is_enough(const struct ordering *o, double least)
{
	return o->any && o->best_score.left_out == 0 && o->best_score.load <= least * 1.001;
}

static void
consider_all(struct ordering *o)
{
	struct composer *c = o->c;
	uint64_t cost =
	    (uint64_t)c->n_components * (o->to->graph.first[c->n_components] + c->n_components);
	uint64_t room = cost > 0 ? STEPS / cost : 0;
	uint32_t n = c->n_components < MOST_PIECE_ROOTS ? c->n_components : MOST_PIECE_ROOTS;
	double least = least_load(o);

	consider_region(o, c->set->n_regions);
	for (uint32_t i = 0; i < c->set->n_regions && i <= room && !is_enough(o, least); i++)
		consider_region(o, i);
	for (uint32_t i = 0; i < n && i <= room && !is_enough(o, least); i++) {
		no_levels(o);
		o->level[(uint64_t)i * c->n_components / n] = 0;
		consider(o);
	}
}

/* ------------------------------------------------------------------ ranks */

static void
keep_ranks(struct ordering *o)
{
	struct order *to = o->to;
	size_t k = o->c->n_components;

	memcpy(to->level, o->best, k * sizeof(*to->level));
	place_by_level(o, to->level, o->by_rank);
	for (uint32_t d = 0; d < k; d++) {
		struct ordered_ways w = { to->rank + d * k, to->down + d * k, o->ways.queue };

		ordered_find(&to->graph, d, &w);
	}
}

static bool
alloc_ordering(struct ordering *o)
{
	struct order *to = o->to;
	struct fm_arena *mem = &o->c->mem;
	size_t k = o->c->n_components, n_sides = to->graph.first[k];

	if (to->rank == NULL) {
		to->level = fm_arena_array(mem, k + 1, uint16_t);
		to->rank = fm_arena_array(mem, k * k + 1, uint16_t);
		to->down = fm_arena_array(mem, k * k + 1, uint8_t);
	}
	o->sources = fm_arena_array(mem, k + 1, double);
	o->lids = fm_arena_array(mem, k + 1, double);
	o->ways = (struct ordered_ways){ fm_arena_array(mem, k + 1, uint16_t),
		fm_arena_array(mem, k + 1, uint8_t), fm_arena_array(mem, k + 1, uint32_t) };
	o->flow = fm_arena_array(mem, k + 1, double);
	o->cable_load = fm_arena_array(mem, n_sides + 1, double);
	o->by_rank = fm_arena_array(mem, k + 1, uint32_t);
	o->fabric_component = fm_arena_array(mem, k + 1, uint32_t);
	o->level = fm_arena_array(mem, k + 1, uint16_t);
	o->best = fm_arena_array(mem, k + 1, uint16_t);
	return to->level != NULL && to->rank != NULL && to->down != NULL && o->sources != NULL &&
	    o->lids != NULL && o->ways.rank != NULL && o->ways.down != NULL &&
	    o->ways.queue != NULL && o->flow != NULL && o->cable_load != NULL &&
	    o->by_rank != NULL && o->fabric_component != NULL &&
	    o->level != NULL && o->best != NULL;
}

int
compose_find_order(struct composer *c, bool *complete, struct fm_error *err)
{
	struct ordering o = { .c = c, .to = &c->whole };

	if (c->n_components >= ORDERED_NO_RANK)
		return fm_fail(
		    err, FM_E_RESOURCE, "%u parts of regions cannot be composed", c->n_components);
	if (!alloc_ordering(&o))
		return compose_no_memory(err);
	for (uint32_t x = 0; x < c->n_components; x++) {
		o.fabric_component[x] = c->component[x].fabric_component;
		o.sources[x] = c->component[x].n_sources;
		o.lids[x] = c->component[x].n_lids;
	}
	if (!(levels_as_given(&o) && take_if_complete(&o, "given")))
		consider_all(&o);
	keep_ranks(&o);
	c->order = &c->whole;
	*complete = o.best_score.left_out == 0;
	return 0;
}

/* ------------------------------------------------------------ the core's own */

/* The graph without what touches islands.  An edge that leads back to where it begins is
 * no step of anybody, and so the others keep their places. */
static int
cut_islands_off(struct composer *c, struct fm_error *err)
{
	const struct ordered_graph *g = &c->whole.graph;
	uint32_t k = g->n, *to = fm_arena_array(&c->mem, g->first[k] + 1, uint32_t);

	c->inner.graph = (struct ordered_graph){ .n = k,
		.first = g->first,
		.to = to,
		.place = fm_arena_array(&c->mem, k + 1, uint32_t),
		.by_place = fm_arena_array(&c->mem, k + 1, uint32_t) };
	if (to == NULL || c->inner.graph.place == NULL || c->inner.graph.by_place == NULL)
		return compose_no_memory(err);
	for (uint32_t x = 0; x < k; x++)
		for (uint32_t a = g->first[x]; a < g->first[x + 1]; a++)
			to[a] = c->island[x] || c->island[g->to[a]] ? x : g->to[a];
	return 0;
}

/* What each component of the core sends and gets.  An island with several neighbours there sends
 * by any that leads on (compose_mend_islands()). */
static void
weigh_core(struct ordering *o)
{
	const struct composer *c = o->c;

	for (uint32_t x = 0; x < c->n_components; x++) {
		const struct component *p = &c->component[x];

		o->fabric_component[x] = p->fabric_component;
		if (!c->island[x]) {
			o->sources[x] += p->n_sources;
			o->lids[x] += p->n_lids;
			continue;
		}
		for (uint32_t i = 0; i < p->n_sides; i++) {
			o->lids[p->side[i].component] += p->n_lids;
			if (p->n_sides == 1)
				o->sources[p->side[i].component] += p->n_sources;
		}
	}
}

int
compose_order_core(struct composer *c, bool *complete, struct fm_error *err)
{
	struct ordering o = { .c = c, .to = &c->inner };
	int rc = cut_islands_off(c, err);

	if (rc != 0)
		return rc;
	if (!alloc_ordering(&o))
		return compose_no_memory(err);
	weigh_core(&o);
	if (!(levels_as_given(&o) && take_if_complete(&o, NULL)))
		consider_all(&o);
	keep_ranks(&o);
	*complete = o.best_score.left_out == 0;
	return 0;
}
