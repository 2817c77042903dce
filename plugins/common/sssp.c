/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a closed form is known (levelled fabrics, all traffic alike) it is
 * taken: its balance is better than that of any greedy choice.
 *
 * Several trees to a switch balance better than one and need more lanes: their
 * number is halved until a few lanes suffice.
 */
#include "plugins/common/sssp.h"

#include <string.h>

#include "plugins/common/updown.h"

#define MOST_TREES 4	    /* to one switch, with lanes */
#define MOST_PAIRS 1000000u /* trees * switches above which one tree must do */
#define FEW_LANES 4u	    /* several trees are not worth more */

static bool
has_throttled(const struct fm_fabric *fab)
{
	for (fm_link l = 0; l < fab->n_links; l++)
		if (fab->link_mbps[l] < fab->link_nominal_mbps[l])
			return true;
	return false;
}

/* Does all traffic count alike, on a fabric of levels? */
static bool
has_closed_form(
    const struct fm_fabric *fab, const struct fm_shape *shape, const struct fm_sssp *how)
{
	return shape->tree.levelled && !(how->compute != NULL && how->compute->given) &&
	    !(how->io != NULL && how->io->given) && !(how->avoid_throttled && has_throttled(fab));
}

static struct fm_forest_plan
plan_of(const struct fm_shape *shape, const struct fm_sssp *how)
{
	return (struct fm_forest_plan){ .arcs = &shape->arcs,
		.trees_per_switch = how->trees_per_switch,
		.avoid_throttled = how->avoid_throttled,
		.compute = how->compute,
		.io = how->io };
}

int
fm_route_sssp(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_sssp *how,
    const struct fm_tables *out, struct fm_error *err)
{
	struct fm_choice choice = { .by_digits = true };
	struct fm_forest_plan plan;
	struct fm_forest forest;
	struct fm_paths found;
	struct fm_shape shape;
	int rc;

	if ((rc = fm_shape_build(host, fab, &shape, err)) != 0)
		return rc;
	if (has_closed_form(fab, &shape, how))
		return fm_balance(host, fab, &shape, NULL, choice, out, &found, err);
	plan = plan_of(&shape, how);
	if ((rc = fm_forest_grow(host, fab, &plan, &forest, err)) != 0)
		return rc;
	return fm_forest_write(host, fab, &forest, out, err);
}

struct lanes {
	struct fm_forest_plan trees;
	struct fm_layer_plan plan;
	struct fm_forest forest;
	struct fm_layers layers;
};

static int
try(const struct fm_host *host, const struct fm_fabric *fab, struct lanes *l, struct fm_error *err)
{
	int rc = fm_forest_grow(host, fab, &l->trees, &l->forest, err);

	return rc != 0 ? rc : fm_layers_build(host, fab, &l->forest, &l->plan, &l->layers, err);
}

/* As many trees to a switch as a few lanes take; FM_E_TOPOLOGY: one, then. */
static int
try_several_trees(
    const struct fm_host *host, const struct fm_fabric *fab, struct lanes *l, struct fm_error *err)
{
	uint32_t n = fab->n_switches;
	int rc = FM_E_TOPOLOGY;

	l->plan.enough = FEW_LANES;
	for (uint32_t k = MOST_TREES; k > 1 && rc == FM_E_TOPOLOGY; k /= 2) {
		l->trees.trees_per_switch = k;
		if ((uint64_t)k * n * n <= MOST_PAIRS)
			rc = try(host, fab, l, err);
	}
	l->plan.enough = 0;
	return rc;
}

/* By dimension order, on grids; where a region is to have shortest paths, on whole ones. */
static int
try_dimensions(
    const struct fm_host *host, const struct fm_fabric *fab, struct lanes *l, struct fm_error *err)
{
	struct fm_dimensions *d = fm_scratch_array(host, 1, struct fm_dimensions);
	struct fm_forest_plan trees = l->trees;
	int rc;

	if (d == NULL)
		return fm_no_scratch(host, "dimensions", err);
	if ((rc = fm_dimensions_find(host, fab, l->trees.arcs, d, err)) != 0)
		return rc;
	if (d->regular != NULL && fm_has_proxies(fab))
		return FM_E_TOPOLOGY;
	l->trees.dimensions = l->plan.dimensions = d;
	l->trees.trees_per_switch = 1;
	rc = try(host, fab, l, err);
	l->trees = trees;
	l->plan.dimensions = NULL;
	return rc;
}

static int
grow_in_lanes(
    const struct fm_host *host, const struct fm_fabric *fab, struct lanes *l, struct fm_error *err)
{
	uint32_t given = l->trees.trees_per_switch;
	int rc = try_dimensions(host, fab, l, err);

	if (rc == FM_E_TOPOLOGY && given == 0)
		rc = try_several_trees(host, fab, l, err);
	if (rc != FM_E_TOPOLOGY)
		return rc;
	l->trees.trees_per_switch = given > 0 ? given : 1;
	return try(host, fab, l, err);
}

int
fm_route_in_lanes(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_request *req, const struct fm_sssp *how, struct fm_tables *out,
    struct fm_error *err)
{
	struct lanes l = { .plan = { .allowed = fm_layers_allowed(fab, req),
			       .start = how->start_vl,
			       .paired = how->paired,
			       .balance = how->balance_vls },
		.layers = { .n = 1, .start = how->start_vl } };
	struct fm_updown updown = { .n_roots = 0 };
	struct fm_missing left;
	struct fm_shape shape;
	int rc;

	if (l.plan.allowed <= how->start_vl)
		return host->fail(err, FM_E_TOPOLOGY, "start_vl is %u, but only %u VLs are allowed",
		    how->start_vl, l.plan.allowed);
	if ((rc = fm_shape_build(host, fab, &shape, err)) != 0)
		return rc;
	l.trees = plan_of(&shape, how);
	if (has_closed_form(fab, &shape, how) && !fm_has_proxies(fab))
		rc = fm_route_updown(host, fab, &shape, &updown, out, &left, err);
	else if ((rc = grow_in_lanes(host, fab, &l, err)) == 0)
		rc = fm_forest_write(host, fab, &l.forest, out, err);
	if (rc == 0)
		fm_layers_write(host, fab, &l.forest, &l.layers, out);
	return rc;
}
