/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a closed form is known (levelled fabrics, all traffic alike) it is
 * taken: its balance is better than that of any greedy choice.
 *
 * Several trees to a switch balance better than one and need more lanes: their
 * number is halved until a few lanes suffice.  One tree leads all LIDs of a switch by one way,
 * which may be worse than up/down on one lane: both are made, then, and compared.
 * What the trees leave too much on one link is led round it in the end (layers_even.c).
 */
#include "plugins/common/layers/layered.h"

#include <string.h>

#include "lib/log.h"
#include "plugins/common/paths/base_lids.h"
#include "plugins/common/sssp/local_search.h"
#include "plugins/common/updown/updown.h"

#define MOST_TREES 4	    /* to one switch, with lanes */
#define MOST_PAIRS 1000000u /* trees * switches above which one tree must do */
#define FEW_LANES 4u	    /* several trees are not worth more */
#define UNEVEN 1.5	    /* largest load by the mean, from which on other ways are tried */
/* Up/down is taken where the sum of the squares of all loads, which is what many flows at once
 * meet, is so much less, and the fullest link bears at most so much more. */
#define UPDOWN_BETTER 0.99
#define UPDOWN_FULLER 1.05

/* What is to be tried, and what came of it. */
struct attempt {
	struct fm_sssp_plan trees;
	struct fm_layer_plan plan;
	struct fm_lanes found;
};

static int
try(const struct fm_host *host, const struct fm_fabric *fab, struct attempt *t,
    struct fm_error *err)
{
	int rc = fm_sssp_grow(host, fab, &t->trees, &t->found.trees, err);

	return rc != 0
	    ? rc
	    : fm_layers_build(host, fab, &t->found.trees, &t->plan, &t->found.layers, err);
}

/* As many trees to a switch as a few lanes take; FM_E_TOPOLOGY: one, then. */
static int
try_several_trees(const struct fm_host *host, const struct fm_fabric *fab, struct attempt *t,
    struct fm_error *err)
{
	uint32_t n = fab->n_switches;
	int rc = FM_E_TOPOLOGY;

	t->plan.enough = FEW_LANES;
	for (uint32_t k = MOST_TREES; k > 1 && rc == FM_E_TOPOLOGY; k /= 2) {
		t->trees.trees_per_switch = k;
		if ((uint64_t)k * n * n <= MOST_PAIRS)
			rc = try(host, fab, t, err);
	}
	t->plan.enough = 0;
	return rc;
}

static int
try_dimensions(const struct fm_host *host, const struct fm_fabric *fab, struct attempt *t,
    struct fm_error *err)
{
	struct fm_dimensions *d = fm_scratch_array(host, 1, struct fm_dimensions);
	struct fm_sssp_plan trees = t->trees;
	int rc;

	if (d == NULL)
		return fm_no_scratch(host, "dimensions", err);
	if ((rc = fm_dimensions_find(host, fab, t->trees.arcs, d, err)) != 0)
		return rc;
	if (d->regular != NULL && fm_has_proxies(fab))
		return host->fail(host, err, FM_E_TOPOLOGY,
		    "shortest paths are wanted, and cables are missing in the grid");
	t->trees.dimensions = t->plan.dimensions = d;
	t->trees.trees_per_switch = 1;
	rc = try(host, fab, t, err);
	t->trees = trees;
	t->plan.dimensions = NULL;
	return rc;
}

/* Grids whose dimensions differ in width are crowded in the narrow ones: then trees by
 * load, if they are better. */
static int
try_to_improve(const struct fm_host *host, const struct fm_fabric *fab, struct attempt *t,
    struct fm_error *err)
{
	struct fm_lanes by_dimensions = t->found;
	int rc;

	if (t->found.trees.most <= UNEVEN * t->found.trees.mean)
		return 0;
	rc = try_several_trees(host, fab, t, err);
	if (rc != 0 && rc != FM_E_TOPOLOGY)
		return rc;
	if (rc != 0 || t->found.trees.most >= by_dimensions.trees.most)
		t->found = by_dimensions;
	return 0;
}

static int
grow_in_lanes(const struct fm_host *host, const struct fm_fabric *fab, struct attempt *t,
    struct fm_error *err)
{
	uint32_t given = t->trees.trees_per_switch;
	int rc = try_dimensions(host, fab, t, err);

	if (rc == 0 && given == 0)
		return try_to_improve(host, fab, t, err);
	if (rc == FM_E_TOPOLOGY && given == 0)
		rc = try_several_trees(host, fab, t, err);
	if (rc != FM_E_TOPOLOGY)
		return rc;
	t->trees.trees_per_switch = given > 0 ? given : 1;
	return try(host, fab, t, err);
}

/* ---------------------------------------------------------- beside up/down */

/* Has each switch one tree, though more were wanted, and do they crowd some link? */
static bool
may_be_worse(const struct fm_fabric *fab, const struct attempt *t, uint32_t wanted)
{
	const struct fm_sssp_trees *trees = &t->found.trees;

	return wanted == 0 && t->found.layers.dimensions == NULL &&
	    trees->n_trees == fab->n_switches && trees->most > UNEVEN * trees->mean &&
	    t->plan.start == 0 && !fm_sssp_favours(fab, &t->trees);
}

/* What tables leave on the links, by base LIDs. */
struct burden {
	uint64_t most;
	struct fm_load_sums loads;
};

static int
measure(const struct fm_host *host, const struct fm_fabric *base, const struct fm_arcs *arcs,
    const struct fm_tables *out, struct burden *b, struct fm_error *err)
{
	struct fm_local_search_rule as_it_is = { .enough = FM_AS_IT_IS, .sums = &b->loads };

	return fm_local_search(host, base, arcs, &as_it_is, out, &b->most, err);
}

/* Up/down into the tables that hold the trees, if that is better. */
static int
try_updown(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_shape *shape,
    struct attempt *t, struct fm_tables *out, struct fm_error *err)
{
	struct burden trees = { 0 }, updown = { 0 };
	struct fm_updown how = { 0 };
	struct fm_missing left;
	struct fm_fabric base;
	struct fm_tables rows;
	bool better;
	int rc;

	if ((rc = fm_base_view(host, fab, &base, err)) != 0 || !fm_local_search_applies(&base))
		return rc;
	if ((rc = fm_base_rows(host, fab, out, &rows, err)) != 0 ||
	    (rc = fm_route_updown(host, fab, shape, &how, &rows, &left, err)) != 0 ||
	    (rc = measure(host, &base, &shape->arcs, out, &trees, err)) != 0 ||
	    (rc = measure(host, &base, &shape->arcs, &rows, &updown, err)) != 0)
		return rc;
	better = left.to_hosts + left.to_others == 0 &&
	    updown.loads.squares < UPDOWN_BETTER * trees.loads.squares &&
	    (double)updown.most <= UPDOWN_FULLER * (double)trees.most;
	host->log(host, better ? FM_LOG_NOTICE : FM_LOG_INFO,
	    "dfsssp: the VLs take one tree to a switch, with %llu routes on the fullest link; "
	    "up/down on one VL has %llu, and %.2f of the pairs of flows that meet on a link: %s",
	    (unsigned long long)trees.most, (unsigned long long)updown.most,
	    updown.loads.squares / trees.loads.squares, better ? "it is taken" : "the trees are");
	if (!better)
		return 0;
	for (fm_sw s = 0; s < fab->n_switches; s++)
		memcpy(out->lft[s], rows.lft[s], (size_t)fab->max_lid + 1);
	t->found.layers = (struct fm_layers){ .n = 1 };
	return 0;
}

/* Base LIDs are led round full links as if they were alone. */
static int
make_even(const struct fm_host *host, const struct fm_fabric *fab, const struct attempt *t,
    const struct fm_tables *out, struct fm_error *err)
{
	struct fm_fabric base;
	int rc;

	if (fm_sssp_favours(fab, &t->trees))
		return 0;
	rc = fm_base_view(host, fab, &base, err);
	return rc != 0 ? rc
		       : fm_layers_even(host, &base, &t->found.trees, &t->found.layers, out, err);
}

static int
route_in_lanes(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_shape *shape, struct attempt *t, struct fm_tables *out, struct fm_error *err)
{
	uint32_t wanted = t->trees.trees_per_switch;
	int rc = grow_in_lanes(host, fab, t, err);

	if (rc == 0)
		rc = fm_sssp_write(host, fab, &t->found.trees, out, err);
	if (rc == 0 && may_be_worse(fab, t, wanted))
		rc = try_updown(host, fab, shape, t, out, err);
	if (rc == 0)
		rc = make_even(host, fab, t, out, err);
	if (rc == 0)
		fm_layers_write(host, fab, &t->found.trees, &t->found.layers, out);
	return rc;
}

int
fm_lanes_by_dimensions(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_arcs *arcs, unsigned allowed, struct fm_lanes *out, struct fm_error *err)
{
	struct attempt t = { .trees = { .arcs = arcs },
		.plan = { .allowed = allowed, .paired = true } };
	int rc = try_dimensions(host, fab, &t, err);

	*out = t.found;
	return rc;
}

int
fm_lanes_write(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_lanes *lanes, struct fm_tables *out, struct fm_error *err)
{
	int rc = fm_sssp_write(host, fab, &lanes->trees, out, err);

	if (rc == 0)
		fm_layers_write(host, fab, &lanes->trees, &lanes->layers, out);
	return rc;
}

int
fm_route_layered(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_request *req, const struct fm_layered *how, struct fm_tables *out,
    struct fm_error *err)
{
	struct attempt t = { .plan = { .allowed = fm_layers_allowed(fab, req),
				 .start = how->start_vl,
				 .paired = how->paired,
				 .even = how->even,
				 .balance = how->balance_vls },
		.found.layers = { .n = 1, .start = how->start_vl } };
	struct fm_updown updown = { 0 };
	struct fm_missing left;
	struct fm_shape shape;
	int rc;

	if (t.plan.allowed <= how->start_vl)
		return host->fail(host, err, FM_E_TOPOLOGY,
		    "start_vl is %u, but only %u VLs are allowed", how->start_vl, t.plan.allowed);
	fm_sssp_warn_of_strays(host, fab, &how->trees);
	if ((rc = fm_shape_build(host, fab, &shape, err)) != 0)
		return rc;
	t.trees = how->trees;
	t.trees.arcs = &shape.arcs;
	if (!shape.tree.levelled || fm_sssp_favours(fab, &t.trees) || fm_has_proxies(fab))
		return route_in_lanes(host, fab, &shape, &t, out, err);
	rc = fm_route_updown(host, fab, &shape, &updown, out, &left, err);
	if (rc == 0)
		fm_layers_write(host, fab, &t.found.trees, &t.found.layers, out);
	return rc;
}
