/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shortestpath - fastest paths, the equal ones counted out: the default of the
 * Omni-Path fabric manager.
 *
 * The idea: a link costs 1 / data rate, so two hops of 400 Gbit/s are as long as
 * one of 200, and a path is right when no other costs less.  Destinations take
 * their turns switch by switch; for each of them every switch takes, of its right next
 * steps, the port that fewest LIDs use, and of those the one to the switch that
 * fewest LIDs enter (plugins/common/sssp/counts.c).  Switches with hosts choose
 * before the others, as theirs is the choice that matters.  On trees of links all
 * alike digits of the destination's number choose (plugins/common/tree/dmodk.c): as even
 * at every switch, and over whole paths.
 *
 * When to use: in fabrics of links of different speed, and where tables like
 * opa-fm's are wanted.  minhop balances whole paths and so does better where all
 * links are alike.
 *
 * Promises: cheapest paths for every pair that cables join; a pair that nothing
 * joins leaves the others alone (opa-fm gives up the whole sweep).  None about
 * credit loops: it finds none on trees whose links are alike.
 *
 * Options: spine_first_routing (opa-fm's SpineFirstRouting): in a director switch,
 * steps to a chip of the same SystemImageGUID are preferred to equal ones that
 * leave the chassis; never at the price of a longer path.
 *
 * Refuses: nothing.
 */
#include <fmd/engine.h>
#include <fmd/own.h>

#include "plugins/common/sssp/counts.h"

struct shortestpath_options {
	bool spine_first_routing;
};

static const struct fm_option options[] = {
	{ .name = "spine_first_routing",
	    .type = FM_OPT_BOOL,
	    .offset = offsetof(struct shortestpath_options, spine_first_routing),
	    .def = "true",
	    .help = "In a chassis, prefer equal steps that stay in it." },
	{ .type = FM_OPT_END },
};

static int
shortestpath_route(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_request *req, const void *opts, struct fm_tables *out, struct fm_error *err)
{
	const struct shortestpath_options *o = opts;
	fm_end *order = fm_scratch_array(host, fab->n_ends, fm_end);
	struct fm_counting how = {
		.order = order, .edge_first = true, .spine_first = o->spine_first_routing
	};
	struct fm_shape shape;
	int rc;

	if (order == NULL)
		return fm_no_scratch(host, "order of ends", err);
	if ((rc = fm_shape_build(host, fab, &shape, err)) != 0)
		return rc;
	for (fm_end e = 0; e < fab->n_ends; e++)
		if (fab->end_lid[e] != 0 && fab->end_sw[e] != FM_NONE)
			order[how.n_order++] = e;
	how.shape = &shape;
	return fm_route_by_counts(host, fab, &how, out, err);
}

FM_OWN_ENGINE(shortestpath, NULL, .aliases = (const char *const[]){ "shortest-path", NULL },
    .summary = "Fastest paths, counted out by port and switch; credit loops are possible",
    .traits = FM_PROVIDES_LFT | FM_WRITES_WHOLE_ROWS | FM_NUMBERED_BY_CABLES, .options = options,
    .options_size = sizeof(struct shortestpath_options), .route = shortestpath_route);
