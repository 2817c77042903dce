/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * updn - up/down routing: shortest paths that go up to a root's side and then
 * down, free of credit loops on any fabric with one VL.
 *
 * The idea: every cable is given a direction such that no circle of cables goes
 * up all the way.  A path goes up, then down, never up again; channels of such
 * paths can be numbered, so no circle of waiting packets closes (Autonet,
 * Schroeder et al. 1991).  plugins/common/updown/updown.c chooses the directions and
 * routes; this file turns options into roots.
 *
 * When to use: on damaged or uneven trees that fattree refuses, and on any other
 * fabric that has a single VL to spare.  Off trees paths crowd round the roots:
 * with several VLs other engines do better.
 *
 * Promises: no credit loops; without roots every pair that cables join has a
 * path, between switches too.  On trees balanced by digits, elsewhere by load,
 * over the better of several orders.
 *
 * Options: roots (OpenSM's root_guid_file) stay roots: pairs that none of them
 * joins are led another way (calculate_missing_routes, connect_roots) as far as
 * that closes no cycle, and the rest is logged.  Without roots those of `level`,
 * or found.  The others: plugins/common/updown/updown_options.h.
 *
 * Refuses: a list of roots, or a level, of which no switch is in the fabric.
 */
#include <fmd/engine.h>
#include <fmd/own.h>

#include "plugins/common/updown/updown_options.h"

struct updn_options {
	struct fm_nodeset_list roots;
	int64_t level;
	struct fm_updown_options updown;
};

static const struct fm_option options[] = {
	{ .name = "roots",
	    .type = FM_OPT_NODES_LIST,
	    .offset = offsetof(struct updn_options, roots),
	    .help = "Root switches, by GUID or name; found when empty." },
	{ .name = "level",
	    .type = FM_OPT_INT,
	    .offset = offsetof(struct updn_options, level),
	    .def = "0",
	    .min = 0,
	    .max = 64,
	    .unit = "hops",
	    .help = "Make every switch this far from the nearest host's switch a root; 0 finds "
		    "roots." },
	FM_UPDOWN_OPTION_ROWS(struct updn_options, updown),
	{ .type = FM_OPT_END },
};

static void
warn_of_empty(
    const struct fm_host *host, const struct fm_fabric *fab, const struct fm_nodeset_list *roots)
{
	uint32_t n_empty = 0;

	for (uint32_t i = 0; i < roots->n_sets; i++) {
		bool any = false;

		for (fm_sw s = 0; s < fab->n_switches; s++)
			any |= fm_bit(roots->set[i].sw, s);
		n_empty += !any;
	}
	if (n_empty > 0)
		host->log(host, fm_stray_level(fab),
		    "updn: %u of %u roots match no switch of this fabric", n_empty, roots->n_sets);
}

/* Switches of the root list, else those of the level; in index order. */
static int
list_roots(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_shape *shape,
    const struct updn_options *o, struct fm_updown *how, struct fm_error *err)
{
	fm_sw *roots = fm_scratch_array(host, fab->n_switches, fm_sw);

	if (roots == NULL)
		return fm_no_scratch(host, "list of roots", err);
	warn_of_empty(host, fab, &o->roots);
	for (fm_sw s = 0; s < fab->n_switches; s++) {
		bool root = o->roots.n_sets == 0 && o->level > 0 && shape->tree.rank[s] == o->level;

		for (uint32_t i = 0; i < o->roots.n_sets; i++)
			root |= fm_bit(o->roots.set[i].sw, s);
		if (root)
			roots[how->n_roots++] = s;
	}
	how->roots = roots;
	if (how->n_roots == 0 && o->roots.n_sets > 0)
		return host->fail(
		    host, err, FM_E_TOPOLOGY, "none of the roots is a switch of this fabric");
	if (how->n_roots == 0 && o->level > 0)
		return host->fail(host, err, FM_E_TOPOLOGY,
		    "no switch is %lld hops from the nearest host's switch (level)",
		    (long long)o->level);
	return 0;
}

static int
updn_route(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	const struct updn_options *o = opts;
	struct fm_updown how = { 0 };
	struct fm_shape shape;
	int rc;

	if ((rc = fm_shape_build(host, fab, &shape, err)) != 0 ||
	    (rc = list_roots(host, fab, &shape, o, &how, err)) != 0 ||
	    (rc = fm_updown_from_options(host, fab, &o->updown, &how, err)) != 0)
		return rc;
	return fm_updown_engine(host, fab, &shape, &how, "updn", out, err);
}

FM_OWN_ENGINE(updn, NULL, .aliases = (const char *const[]){ "up-down", "updown", NULL },
    .summary = "Up/down routing, balanced over its roots; no credit loops",
    .traits = FM_PROVIDES_LFT | FM_PROVIDES_AR | FM_PROMISES_NO_CREDIT_LOOPS |
	FM_WRITES_WHOLE_ROWS | FM_NUMBERED_BY_CABLES,
    .options = options, .options_size = sizeof(struct updn_options), .route = updn_route);
