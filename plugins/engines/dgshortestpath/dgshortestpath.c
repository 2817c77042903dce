/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dgshortestpath - shortestpath with the destinations in groups: the device group
 * routing of the Omni-Path fabric manager.
 *
 * The idea: hosts that are busy together (compute nodes; storage) should not
 * meet on a link by accident of their LIDs.  Groups take their turns in the order
 * of routing_order, within a group switch by switch; each is counted out as
 * shortestpath does (plugins/common/sssp/counts.c), on top of the groups before, so
 * every group is even by itself and all are together.  One group alone goes by
 * digits where shortestpath does.
 *
 * When to use: where shortestpath would be used and classes of hosts differ in
 * what they do.
 *
 * Promises: those of shortestpath.  A change of groups gives other tables at the
 * next sweep (opa-fm notices it and keeps the old ones).
 *
 * Options: routing_order: an item is a group; an end belongs to the first that
 * holds it.  "All", a group that holds every end, takes what no other group
 * does, wherever it stands; without one such ends come last.
 *
 * Refuses: nothing.
 */
#include <fmd/engine.h>
#include <fmd/own.h>

#include <stdlib.h>

#include "lib/bitset.h"
#include "plugins/common/sssp/counts.h"

struct dgshortestpath_options {
	struct fm_nodeset_list routing_order;
	bool spine_first_routing;
};

static const struct fm_option options[] = {
	{ .name = "routing_order",
	    .type = FM_OPT_NODES_LIST,
	    .offset = offsetof(struct dgshortestpath_options, routing_order),
	    .help = "Groups of ends in the order in which they are routed; All stands for the "
		    "rest." },
	{ .name = "spine_first_routing",
	    .type = FM_OPT_BOOL,
	    .offset = offsetof(struct dgshortestpath_options, spine_first_routing),
	    .def = "true",
	    .help = "In a chassis, prefer equal steps that stay in it." },
	{ .type = FM_OPT_END },
};

struct member {
	uint32_t group;
	fm_end end;
};

static int
by_group(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

/* The place of the group that holds all ends; behind the last if none does. */
static uint32_t
find_all(const struct fm_fabric *fab, const struct fm_nodeset_list *list)
{
	for (uint32_t i = 0; i < list->n_sets; i++)
		if (fm_bit_count(list->set[i].end, fab->n_ends) == fab->n_ends)
			return i;
	return list->n_sets;
}

static uint32_t
group_of(const struct fm_nodeset_list *list, uint32_t all, fm_end e)
{
	for (uint32_t i = 0; i < list->n_sets; i++)
		if (i != all && fm_bit_test(list->set[i].end, e))
			return i;
	return all;
}

static void
warn_of_empty(
    const struct fm_host *host, const struct fm_fabric *fab, const struct fm_nodeset_list *list)
{
	for (uint32_t i = 0; i < list->n_sets; i++)
		if (fm_bit_count(list->set[i].end, fab->n_ends) == 0)
			host->log(host, fm_stray_level(fab),
			    "dgshortestpath: group %u of routing_order has no member in this "
			    "fabric",
			    i + 1);
}

static int
order_ends(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_nodeset_list *list, struct fm_counting *how, struct fm_error *err)
{
	struct member *members = fm_scratch_array(host, fab->n_ends, struct member);
	fm_end *order = fm_scratch_array(host, fab->n_ends, fm_end);
	uint32_t all = find_all(fab, list), n = 0;

	if (members == NULL || order == NULL)
		return fm_no_scratch(host, "order of groups", err);
	warn_of_empty(host, fab, list);
	for (fm_end e = 0; e < fab->n_ends; e++)
		if (fab->end_lid[e] != 0 && fab->end_sw[e] != FM_NONE)
			members[n++] = (struct member){ group_of(list, all, e), e };
	qsort(members, n, sizeof(*members), by_group);
	for (uint32_t i = 0; i < n; i++)
		order[i] = members[i].end;
	how->order = order;
	how->n_order = n;
	how->grouped = list->n_sets + (all == list->n_sets) > 1;
	return 0;
}

static int
dgshortestpath_route(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_request *req, const void *opts, struct fm_tables *out, struct fm_error *err)
{
	const struct dgshortestpath_options *o = opts;
	struct fm_counting how = { .spine_first = o->spine_first_routing };
	struct fm_shape shape;
	int rc;

	if ((rc = fm_shape_build(host, fab, &shape, err)) != 0 ||
	    (rc = order_ends(host, fab, &o->routing_order, &how, err)) != 0)
		return rc;
	how.shape = &shape;
	return fm_route_by_counts(host, fab, &how, out, err);
}

FM_OWN_ENGINE(dgshortestpath, NULL, .aliases = (const char *const[]){ "dg-shortestpath", NULL },
    .summary = "Fastest paths, counted out group by group; credit loops are possible",
    .traits = FM_PROVIDES_LFT | FM_WRITES_WHOLE_ROWS | FM_NUMBERED_BY_CABLES, .options = options,
    .options_size = sizeof(struct dgshortestpath_options), .route = dgshortestpath_route);
