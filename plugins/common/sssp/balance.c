/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The two ways of choosing: dmodk.c (digits of a destination's number; only
 * on levelled fabrics, rows independent, bound by memory) and sssp.h (loads;
 * any fabric, one destination after the other).
 */
#include "plugins/common/sssp/balance.h"

#include <string.h>

#include "plugins/common/paths/base_lids.h"
#include "plugins/common/sssp/local_search.h"
#include "plugins/common/sssp/sssp_internal.h"
#include "plugins/common/tree/dmodk.h"

/* Trees by load are taken where the sum of the squares of all loads is so much less than with
 * digits, and the fullest link bears at most so much more. */
#define TREES_BETTER 0.99
#define TREES_FULLER 1.05
#define RAGGED 8 /* one switch of so many unlike the others of its rank; else digits are best */

static int
find_components(const struct fm_host *host, struct fm_shape *shape, struct fm_error *err)
{
	uint32_t n = shape->arcs.n_switches;
	fm_sw *queue = fm_scratch_array(host, n, fm_sw);

	shape->component = fm_scratch_array(host, n, uint32_t);
	if (queue == NULL || shape->component == NULL)
		return fm_no_scratch(host, "components of the fabric", err);
	for (fm_sw root = 0; root < n; root++) {
		uint32_t head = 0, tail = 0;

		if (shape->component[root] != 0)
			continue;
		shape->component[root] = ++shape->n_components;
		queue[tail++] = root;
		while (head < tail) {
			fm_sw s = queue[head++];

			for (fm_arc a = shape->arcs.first[s]; a < shape->arcs.first[s + 1]; a++)
				if (shape->component[shape->arcs.to[a]] == 0) {
					shape->component[shape->arcs.to[a]] = shape->n_components;
					queue[tail++] = shape->arcs.to[a];
				}
		}
	}
	for (fm_sw s = 0; s < n; s++)
		shape->component[s]--;
	return 0;
}

int
fm_shape_build(const struct fm_host *host, const struct fm_fabric *fab, struct fm_shape *out,
    struct fm_error *err)
{
	int rc;

	*out = (struct fm_shape){ 0 };
	if ((rc = fm_arcs_build(host, fab, &out->arcs, err)) != 0 ||
	    (rc = fm_tree_build(host, fab, &out->arcs, &out->tree, err)) != 0)
		return rc;
	return find_components(host, out, err);
}

int
fm_balance_by_load(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_shape *shape, const struct fm_order *order, bool detours,
    struct fm_choice choice, const struct fm_tables *out, struct fm_paths *found,
    struct fm_error *err)
{
	struct fm_sssp_plan plan = { .arcs = &shape->arcs,
		.component = shape->component,
		.rule = { .order = order, .detours = detours && choice.scatter == 0 },
		.choice = choice,
		.lids_apart = true };

	return fm_sssp_route(host, fab, &plan, out, found, err);
}

/* ---------------------------------------------------------------- by digits */

/* Tiers for digits: ranks, and in components without hosts hops to their first switch, from
 * which up is.  False: there arcs join equal ones, or the scratch memory is spent. */
static bool
find_tiers(const struct fm_host *host, const struct fm_shape *shape, uint16_t **out)
{
	const struct fm_arcs *arcs = &shape->arcs;
	uint32_t n = arcs->n_switches;
	fm_sw *queue = fm_scratch_array(host, n, fm_sw);
	uint16_t *rank = *out = fm_scratch_array(host, n, uint16_t);

	if (queue == NULL || rank == NULL)
		return false;
	for (fm_sw s = 0; s < n; s++)
		rank[s] = shape->tree.rank[s] != FM_RANK_NONE ? (uint16_t)shape->tree.rank[s]
							      : FM_NO_TIER;
	for (fm_sw root = 0; root < n; root++) {
		uint32_t head = 0, tail = 0;

		if (rank[root] != FM_NO_TIER)
			continue;
		rank[root] = FM_TIERS_MAX;
		for (queue[tail++] = root; head < tail; head++)
			for (fm_arc a = arcs->first[queue[head]]; a < arcs->first[queue[head] + 1];
			     a++) {
				fm_sw v = arcs->to[a];

				if (rank[v] == rank[queue[head]] || rank[queue[head]] == 0)
					return false;
				if (rank[v] != FM_NO_TIER)
					continue;
				rank[v] = (uint16_t)(rank[queue[head]] - 1);
				queue[tail++] = v;
			}
	}
	return true;
}

/* Tables, and what their links bear. */
struct candidate {
	const struct fm_tables *out;
	struct fm_paths found;
	struct fm_load_sums loads;
	uint64_t most;
};

/* An order by which what is moved goes up and then down: that of the tables, or of the levels, so
 * that no path goes down and up again that did not before. */
static int
order_by_rank(const struct fm_host *host, const struct fm_shape *shape,
    const struct fm_dmodk *digits, struct fm_order *out, struct fm_error *err)
{
	struct fm_levels levels = { .level = shape->tree.rank };

	if (digits->order == NULL)
		return fm_order_build(host, &shape->arcs, &levels, out, err);
	*out = *digits->order;
	return 0;
}

/* What is too much on one link goes elsewhere; enough: see local_search.h. */
static int
make_even(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_shape *shape,
    const struct fm_order *given, const struct fm_order *by_rank, double enough,
    struct candidate *c, struct fm_error *err)
{
	struct fm_local_search_rule how = { .rule = { .order = given },
		.also = given == NULL ? by_rank : NULL,
		.enough = enough,
		.sums = &c->loads };

	return fm_local_search(host, fab, &shape->arcs, &how, c->out, &c->most, err);
}

/* Trees by load in the place of digits: where pods differ in width, or boards are cabled in part,
 * the digits of one pod do not suit another.  As long in all: then each path is. */
static bool
are_better(const struct candidate *trees, const struct candidate *digits)
{
	return trees->found.unjoined == digits->found.unjoined &&
	    trees->loads.sum <= digits->loads.sum &&
	    trees->loads.squares < TREES_BETTER * digits->loads.squares &&
	    (double)trees->most <= TREES_FULLER * (double)digits->most;
}

/* Unless it lacks a route: by levels not all switches without hosts reach each other. */
static void
take_column(const struct fm_fabric *fab, uint16_t lid, uint8_t *const *from, uint8_t *const *to)
{
	for (fm_sw s = 0; s < fab->n_switches; s++)
		if (from[s][lid] == FM_PORT_NONE && to[s][lid] != FM_PORT_NONE)
			return;
	for (fm_sw s = 0; s < fab->n_switches; s++)
		to[s][lid] = from[s][lid];
}

static int
try_trees(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_shape *shape,
    const struct fm_order *given, const struct fm_order *by_rank, struct candidate *digits,
    struct fm_error *err)
{
	struct fm_sssp_plan plan = { .arcs = &shape->arcs,
		.component = shape->component,
		.rule = { .order = by_rank },
		.linear = true };
	struct fm_tables rows;
	struct candidate trees = { .out = &rows };
	struct fm_sssp_trees grown;
	int rc;

	if ((rc = fm_base_rows(host, fab, digits->out, &rows, err)) != 0 ||
	    (rc = fm_sssp_grow(host, fab, &plan, &grown, err)) != 0 ||
	    (rc = fm_sssp_write(host, fab, &grown, &rows, err)) != 0)
		return rc;
	fm_sssp_count_unjoined(fab, &plan, &grown, &trees.found);
	if ((rc = make_even(host, fab, shape, given, by_rank, FM_AS_IT_IS, &trees, err)) != 0 ||
	    trees.loads.squares >= digits->loads.squares ||
	    (rc = make_even(host, fab, shape, given, by_rank, 0, &trees, err)) != 0 ||
	    !are_better(&trees, digits))
		return rc;
	for (fm_end e = 0; e < fab->n_ends; e++)
		if (fm_is_host(fab, e))
			take_column(fab, fab->end_lid[e], rows.lft, digits->out->lft);
	return 0;
}

/* Digits are even on regular trees.  Else what is too much goes elsewhere, or trees by load take
 * their place. */
static int
route_by_digits(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_shape *shape, const struct fm_dmodk *how, const struct fm_tables *out,
    struct fm_paths *found, struct fm_error *err)
{
	const struct fm_dmodk_routes *routes;
	struct candidate c = { .out = out };
	struct fm_dmodk_paths paths;
	struct fm_order by_rank;
	int rc;

	if ((rc = fm_dmodk_route(host, fab, how, out, &routes, err)) != 0 ||
	    (rc = fm_dmodk_look(routes, shape->component, &paths, err)) != 0)
		return rc;
	c.found = (struct fm_paths){ paths.max_hops, paths.unjoined, paths.unjoined_hosts };
	*found = c.found;
	if (!fm_local_search_applies(fab) || fm_tree_is_regular(fab, &shape->arcs, how->rank))
		return 0;
	if ((rc = order_by_rank(host, shape, how, &by_rank, err)) != 0 ||
	    (rc = make_even(host, fab, shape, how->order, &by_rank, 0, &c, err)) != 0 ||
	    RAGGED * fm_tree_count_unlike(fab, &shape->arcs, how->rank) < fab->n_switches)
		return rc;
	return try_trees(host, fab, shape, how->order, &by_rank, &c, err);
}

/* On whole trees the digits of base LIDs are those of LMC 0; elsewhere base LIDs are routed
 * once more, by themselves. */
static int
balance_by_digits(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_shape *shape, const struct fm_dmodk *how, const struct fm_tables *out,
    struct fm_paths *found, struct fm_error *err)
{
	struct fm_fabric base;
	struct fm_tables rows;
	int rc = route_by_digits(host, fab, shape, how, out, found, err);

	if (rc != 0 || !fm_has_lmc(fab) || fm_tree_is_regular(fab, &shape->arcs, how->rank))
		return rc;
	if ((rc = fm_base_view(host, fab, &base, err)) != 0 ||
	    (rc = fm_base_rows(host, fab, out, &rows, err)) != 0 ||
	    (rc = route_by_digits(host, &base, shape, how, &rows, found, err)) != 0)
		return rc;
	fm_base_take(host, fab, &rows, out);
	return 0;
}

int
fm_balance(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_shape *shape,
    const struct fm_order *order, struct fm_choice choice, const struct fm_tables *out,
    struct fm_paths *found, struct fm_error *err)
{
	struct fm_dmodk how = { .arcs = &shape->arcs, .order = order, .agree = true };
	uint16_t *rank;

	*found = (struct fm_paths){ 0 };
	if (!choice.by_digits || !shape->tree.levelled || fm_has_wishes(&choice) ||
	    !find_tiers(host, shape, &rank))
		return fm_balance_by_load(host, fab, shape, order, false, choice, out, found, err);
	how.rank = rank;
	return balance_by_digits(host, fab, shape, &how, out, found, err);
}
