/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Levels, then an order (plugins/common/paths/order.h), then balanced tables.
 *
 * Levels are hops from the leaves, where all arcs join neighbouring ones, and
 * the turn joins all pairs; else hops to the nearest root.  With one root in a
 * component every switch can climb to it, so all pairs are joined.  Off trees that
 * is one order among others, and the one that an estimate likes best is taken.  Roots that
 * are given stay roots: with several, pairs may have no switch above both, which
 * is known only after routing (fm_paths) and left to fm_relax_turns().
 */
#include "plugins/common/updown/updown.h"

#include <string.h>

#include "lib/bitset.h"
#include "lib/log.h"
#include "plugins/common/paths/alternatives.h"
#include "plugins/common/paths/cardinality.h"
#include "plugins/common/sssp/estimate.h"

#define PROBES 24   /* breadth first searches that look for a centre */
#define SEARCHES 12 /* orders tried off trees, beside those of a centre and of the indices */

enum { BY_CENTRE, BY_INDEX, BY_CABLES, PLAIN };

struct finder {
	const struct fm_host *host;
	const struct fm_fabric *fab;
	const struct fm_shape *shape;
	uint32_t *rank;	 /* [n_switches] hops from the nearest root */
	uint32_t *hops;	 /* [n_switches] of one search */
	uint64_t *sum;	 /* [n_switches] of hops over all searches */
	fm_sw *queue;	 /* [n_switches] */
	uint32_t *level; /* [n_switches] higher is up */
};

/* Breadth first from queue[0..n-1], whose hops are 0; the others' are FM_NONE. */
static void
search(const struct finder *f, uint32_t *hops, uint32_t n)
{
	const struct fm_arcs *arcs = &f->shape->arcs;

	for (uint32_t head = 0; head < n; head++) {
		fm_sw s = f->queue[head];

		for (fm_arc a = arcs->first[s]; a < arcs->first[s + 1]; a++)
			if (hops[arcs->to[a]] == FM_NONE) {
				hops[arcs->to[a]] = hops[s] + 1;
				f->queue[n++] = arcs->to[a];
			}
	}
}

/* Sum of the hops to some switches evenly picked: its minimum is a good
 * stand-in for the centre, which would cost a search from every switch. */
static void
find_centrality(const struct finder *f)
{
	uint32_t n = f->fab->n_switches, step = n / PROBES + 1;

	for (fm_sw from = 0; from < n; from += step) {
		memset(f->hops, 0xff, n * sizeof(*f->hops));
		f->hops[from] = 0;
		f->queue[0] = from;
		search(f, f->hops, 1);
		for (fm_sw s = 0; s < n; s++)
			f->sum[s] += f->hops[s] != FM_NONE ? f->hops[s] : 0;
	}
}

static uint32_t
degree(const struct finder *f, fm_sw s)
{
	return f->fab->sw_first_link[s + 1] - f->fab->sw_first_link[s];
}

/* Nearest to all; among those the one with most links, then the first. */
static bool
better_centre(const struct finder *f, fm_sw a, fm_sw b)
{
	if (f->sum[a] != f->sum[b])
		return f->sum[a] < f->sum[b];
	return degree(f, a) > degree(f, b);
}

/* One root for every component that has none of the given ones. */
static int
choose_roots(const struct finder *f, const struct fm_updown *how, uint32_t *n, struct fm_error *err)
{
	const struct fm_shape *shape = f->shape;
	fm_sw *root = fm_scratch_array(f->host, shape->n_components, fm_sw);

	if (root == NULL)
		return fm_no_scratch(f->host, "roots", err);
	memset(root, 0xff, shape->n_components * sizeof(*root));
	find_centrality(f);
	*n = 0;
	for (uint32_t i = 0; i < how->n_roots; i++) {
		f->queue[(*n)++] = how->roots[i];
		root[shape->component[how->roots[i]]] = FM_NONE - 1;
	}
	for (fm_sw s = 0; s < f->fab->n_switches; s++) {
		fm_sw *r = &root[shape->component[s]];

		if (*r == FM_NONE || (*r != FM_NONE - 1 && better_centre(f, s, *r)))
			*r = s;
	}
	for (uint32_t c = 0; c < shape->n_components; c++)
		if (root[c] < FM_NONE - 1)
			f->queue[(*n)++] = root[c];
	return 0;
}

/* Levels are hops to the nearest root, of those given or of one found. */
static int
level_from_roots(const struct finder *f, const struct fm_updown *how, struct fm_error *err)
{
	uint32_t n = 0, highest = 0;
	int rc = choose_roots(f, how, &n, err);

	if (rc != 0)
		return rc;
	memset(f->rank, 0xff, f->fab->n_switches * sizeof(*f->rank));
	for (uint32_t i = 0; i < n; i++)
		f->rank[f->queue[i]] = 0;
	search(f, f->rank, n);
	for (fm_sw s = 0; s < f->fab->n_switches; s++)
		highest = f->rank[s] > highest ? f->rank[s] : highest;
	for (fm_sw s = 0; s < f->fab->n_switches; s++)
		f->level[s] = highest - f->rank[s];
	return 0;
}

/* Up is away from the leaves.  Components without hosts have none: there up is
 * towards their first switch. */
static void
level_from_leaves(const struct finder *f)
{
	uint32_t n = f->fab->n_switches;

	memset(f->rank, 0xff, n * sizeof(*f->rank));
	for (fm_sw s = 0; s < n; s++) {
		f->level[s] = f->shape->tree.rank[s];
		if (f->level[s] != FM_RANK_NONE)
			continue;
		if (f->rank[s] == FM_NONE) {
			f->rank[s] = 0;
			f->queue[0] = s;
			search(f, f->rank, 1);
		}
		f->level[s] = n - f->rank[s];
	}
}

/* Does the order go up wherever the tree does, and nowhere else? */
static bool
points_away_from_leaves(const struct finder *f, const struct fm_order *order)
{
	const struct fm_arcs *arcs = &f->shape->arcs;
	const uint32_t *rank = f->shape->tree.rank;

	for (fm_sw u = 0; u < arcs->n_switches; u++)
		for (fm_arc a = arcs->first[u]; a < arcs->first[u + 1]; a++)
			if (fm_goes_up(order, a) != (rank[arcs->to[a]] > rank[u]))
				return false;
	return true;
}

/* Off trees: hops to a centre, or simply the switches in their order, which often
 * is that of the cables: on tori and dragonflies paths then part long before
 * they meet in a centre; or those with most cables on top: that is what the spines of
 * a tree have to which hosts were cabled. */
static int
level_candidate(
    const struct finder *f, const struct fm_updown *how, uint32_t which, struct fm_error *err)
{
	if (which == BY_CENTRE)
		return level_from_roots(f, how, err);
	for (fm_sw s = 0; s < f->fab->n_switches; s++)
		f->level[s] = which == BY_CABLES ? degree(f, s) : f->fab->n_switches - s;
	return 0;
}

/* Orders of searches from switches evenly picked, in turn with all kinds of ties:
 * by themselves, or among switches of one level. */
static int
search_orders(const struct finder *f, const struct fm_updown *how, const struct fm_levels *levels,
    struct fm_order *orders, uint32_t *n, struct fm_error *err)
{
	const struct fm_arcs *arcs = &f->shape->arcs;
	uint32_t n_searches = how->by_leaves ? FM_TIES : SEARCHES;

	for (uint32_t i = 0; i < n_searches; i++) {
		fm_sw root = (fm_sw)((uint64_t)f->fab->n_switches * i / n_searches);
		struct fm_levels with = *levels;
		int64_t *ids;
		int rc =
		    fm_cardinality_ids(f->host, arcs, root, (enum fm_tie)(i % FM_TIES), &ids, err);

		with.ids = ids;
		if (rc == 0 && how->by_leaves)
			rc = fm_order_build(f->host, arcs, &with, &orders[(*n)++], err);
		else if (rc == 0)
			rc = fm_order_by_ids(f->host, arcs, ids, &orders[(*n)++], err);
		if (rc != 0)
			return rc;
	}
	return 0;
}

/* Levels, and among the switches of one those with most cables on top. */
static int
order_by_cables(const struct finder *f, const struct fm_levels *levels, struct fm_order *out,
    struct fm_error *err)
{
	int64_t *ids = fm_scratch_array(f->host, f->fab->n_switches, int64_t);
	struct fm_levels with = *levels;

	if (ids == NULL)
		return fm_no_scratch(f->host, "orders of the switches", err);
	for (fm_sw s = 0; s < f->fab->n_switches; s++)
		ids[s] = (int64_t)s - (int64_t)f->fab->n_switches * degree(f, s);
	with.ids = ids;
	return fm_order_build(f->host, &f->shape->arcs, &with, out, err);
}

static int
list_plain_orders(const struct finder *f, const struct fm_updown *how,
    const struct fm_levels *levels, struct fm_order *orders, uint32_t *n, struct fm_error *err)
{
	const struct fm_arcs *arcs = &f->shape->arcs;
	int rc = 0;

	if (how->by_leaves) {
		rc = fm_order_build(f->host, arcs, levels, &orders[(*n)++], err);
		if (rc == 0 && how->ids == NULL)
			rc = order_by_cables(f, levels, &orders[(*n)++], err);
		return rc;
	}
	for (uint32_t which = 0; rc == 0 && which < (how->ids != NULL ? 1 : PLAIN); which++) {
		rc = level_candidate(f, how, which, err);
		if (rc == 0)
			rc = fm_order_build(f->host, arcs, levels, &orders[(*n)++], err);
	}
	return rc;
}

static int
list_orders(const struct finder *f, const struct fm_updown *how, const struct fm_levels *levels,
    struct fm_order *orders, uint32_t *n, struct fm_error *err)
{
	int rc;

	*n = 0;
	rc = list_plain_orders(f, how, levels, orders, n, err);
	if (rc == 0 && how->ids == NULL && f->fab->n_switches > 0)
		rc = search_orders(f, how, levels, orders, n, err);
	return rc;
}

/* The order that promises the least load on the busiest cable. */
static int
choose_order(const struct finder *f, const struct fm_updown *how, const struct fm_levels *levels,
    struct fm_order *out, struct fm_error *err)
{
	struct fm_order orders[PLAIN + SEARCHES];
	double worst[PLAIN + SEARCHES];
	uint32_t n, best = 0;
	int rc = list_orders(f, how, levels, orders, &n, err);

	if (rc == 0 && n > 1)
		rc = fm_estimate_orders(f->host, f->fab, &f->shape->arcs, orders, n, worst, err);
	if (rc != 0)
		return rc;
	for (uint32_t i = 1; i < n; i++)
		best = worst[i] < worst[best] ? i : best;
	*out = orders[best];
	return 0;
}

/* Off trees, every pair joined: by load, with detours round what is crowded. */
static int
route_joined(const struct finder *f, const struct fm_updown *how, const struct fm_levels *levels,
    const struct fm_tables *out, struct fm_order *order, struct fm_paths *found,
    struct fm_error *err)
{
	int rc = choose_order(f, how, levels, order, err);

	return rc != 0 ? rc
		       : fm_balance_by_load(
			     f->host, f->fab, f->shape, order, true, how->choice, out, found, err);
}

/* Tables over some order, and the order. */
static int
route_ordered(const struct finder *f, const struct fm_updown *how, const struct fm_tables *out,
    struct fm_order *order, struct fm_paths *found, struct fm_error *err)
{
	bool levelled = f->shape->tree.levelled;
	bool by_leaves = how->by_leaves || (how->n_roots == 0 && levelled);
	/* regions are composed along levels as they are, and a pair without a legal
	 * route is the host's to lead elsewhere */
	struct fm_levels levels = {
		.level = f->level, .ids = how->ids, .turn = levelled ? FM_TURN_ANY : FM_TURN_LOWEST
	};
	struct fm_choice choice = how->choice;
	int rc;

	if (how->n_roots > 0 || fm_has_proxies(f->fab))
		levels.turn = FM_TURN_NONE;
	if (by_leaves)
		level_from_leaves(f);
	if (levels.turn == FM_TURN_LOWEST)
		return route_joined(f, how, &levels, out, order, found, err);
	if (!by_leaves && (rc = level_from_roots(f, how, err)) != 0)
		return rc;
	if ((rc = fm_order_build(f->host, &f->shape->arcs, &levels, order, err)) != 0)
		return rc;
	choice.by_digits = by_leaves || points_away_from_leaves(f, order);
	return fm_balance(f->host, f->fab, f->shape, order, choice, out, found, err);
}

/* [n_switches][256] which ports go up; NULL: no memory. */
static const uint8_t *
list_climbs(const struct finder *f, const struct fm_order *order)
{
	const struct fm_arcs *arcs = &f->shape->arcs;
	uint8_t *climbs = fm_scratch_array(f->host, (size_t)arcs->n_switches * 256, uint8_t);

	for (fm_sw s = 0; climbs != NULL && s < arcs->n_switches; s++)
		for (fm_arc a = arcs->first[s]; a < arcs->first[s + 1]; a++)
			for (fm_link l = arcs->link[a]; l < arcs->link[a + 1]; l++)
				climbs[s * 256u + f->fab->link_port[l]] = fm_goes_up(order, a);
	return climbs;
}

/* LIDs whose tables climb from a switch that can go down (local_search.c): what comes down to it by
 * another way must not, so they have no alternatives.  O(switches * (arcs + LIDs)). */
static int
find_fixed(const struct finder *f, const struct fm_order *order, const struct fm_tables *out,
    uint64_t **fixed, struct fm_error *err)
{
	const struct fm_fabric *fab = f->fab;
	const struct fm_rule rule = { .order = order };
	const uint8_t *climbs = list_climbs(f, order);
	struct fm_steps steps;
	fm_sw before = FM_NONE;
	int rc = fm_steps_init(f->host, fab, &f->shape->arcs, rule, &steps, err);

	*fixed = fm_scratch_array(f->host, FM_BITSET_WORDS(fab->max_lid + 1), uint64_t);
	if (rc != 0 || climbs == NULL || *fixed == NULL)
		return rc != 0 ? rc : fm_no_scratch(f->host, "alternatives", err);
	for (uint32_t lid = 1; lid <= fab->max_lid; lid++) {
		fm_end end = fab->lid_end[lid];
		fm_sw to = end != FM_NONE ? fab->end_sw[end] : FM_NONE;

		if (to != FM_NONE && to != before)
			fm_steps_find(&steps, before = to);
		for (fm_sw s = 0; to != FM_NONE && s < fab->n_switches; s++)
			if (s != to && steps.down[s] && climbs[s * 256u + out->lft[s][lid]])
				fm_bit_set(*fixed, lid);
	}
	return 0;
}

/* Adaptive routing over all shortest legal next steps; entries that take a
 * detour stay static, and legal with them.  Not where routes had to be led down
 * and up again: their turns were tried against those of the tables only. */
static int
add_alternatives(const struct finder *f, const struct fm_order *order, uint64_t n_led,
    struct fm_tables *out, struct fm_error *err)
{
	uint64_t *fixed = NULL;
	int rc = 0;

	if (out->ar_group == NULL)
		return 0;
	if (n_led > 0) {
		f->host->log(f->host, FM_LOG_WARN,
		    "no alternatives for adaptive routing: %llu entries are led down and up again",
		    (unsigned long long)n_led);
		return 0;
	}
	if (!f->shape->tree.levelled)
		rc = find_fixed(f, order, out, &fixed, err);
	return rc != 0
	    ? rc
	    : fm_alternatives(f->host, f->fab, &f->shape->arcs, order, false, fixed, out, err);
}

int
fm_route_updown(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_shape *shape, const struct fm_updown *how, struct fm_tables *out,
    struct fm_missing *left, struct fm_error *err)
{
	size_t n = fab->n_switches;
	struct finder f = { .host = host,
		.fab = fab,
		.shape = shape,
		.rank = fm_scratch_array(host, n, uint32_t),
		.hops = fm_scratch_array(host, n, uint32_t),
		.sum = fm_scratch_array(host, n, uint64_t),
		.queue = fm_scratch_array(host, n, fm_sw),
		.level = fm_scratch_array(host, n, uint32_t) };
	struct fm_order order;
	struct fm_paths found = { 0 };
	int rc;

	if (f.rank == NULL || f.hops == NULL || f.sum == NULL || f.queue == NULL || f.level == NULL)
		return fm_no_scratch(host, "directions of the links", err);
	if ((rc = route_ordered(&f, how, out, &order, &found, err)) != 0)
		return rc;
	*left =
	    (struct fm_missing){ found.unjoined_hosts, found.unjoined - found.unjoined_hosts, 0 };
	if (how->relax != 0 && (found.unjoined > 0 || (how->relax & FM_RELAX_SWITCHES)) &&
	    (rc = fm_relax_turns(host, fab, shape, &order, how->relax, out, left, err)) != 0)
		return rc;
	return add_alternatives(&f, &order, left->n_led, out, err);
}
