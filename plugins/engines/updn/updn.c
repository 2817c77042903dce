/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * updn - up/down routing: shortest paths that go up to a root's side and then
 * down, free of credit loops on any fabric with one VL.
 *
 * The work is done by plugins/common/updown.c; this file turns options into
 * roots and ids.
 */
#include <fmd/engine.h>

#include "plugins/common/choice_options.h"
#include "plugins/common/updown.h"

struct updn_options {
	struct fm_nodeset_list roots;
	struct fm_table ids;
	int64_t level;
	bool connect_roots;
	bool calculate_missing_routes;
	struct fm_choice_options choice;
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
	{ .name = "ids",
	    .type = FM_OPT_TABLE,
	    .offset = offsetof(struct updn_options, ids),
	    .help = "Order of switches at the same distance from the roots: the lower id is up." },
	{ .name = "connect_roots",
	    .type = FM_OPT_BOOL,
	    .offset = offsetof(struct updn_options, connect_roots),
	    .def = "false",
	    .help = "Give switches routes to one another too, as far as no credit loop results." },
	{ .name = "calculate_missing_routes",
	    .type = FM_OPT_BOOL,
	    .offset = offsetof(struct updn_options, calculate_missing_routes),
	    .def = "true",
	    .help = "Route pairs that no up/down path joins another way, as far as no credit loop "
		    "results." },
	FM_CHOICE_OPTION_ROWS(struct updn_options, choice),
	{ .type = FM_OPT_END },
};

/* Switches of the root list, else those of the level; in index order. */
static int
list_roots(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_shape *shape,
    const struct updn_options *o, struct fm_updown *how, struct fm_error *err)
{
	fm_sw *roots = fm_scratch_array(host, fab->n_switches, fm_sw);

	if (roots == NULL)
		return fm_no_scratch(host, "list of roots", err);
	for (fm_sw s = 0; s < fab->n_switches; s++) {
		bool root = o->roots.n_sets == 0 && o->level > 0 && shape->tree.rank[s] == o->level;

		for (uint32_t i = 0; i < o->roots.n_sets; i++)
			root |= o->roots.set[i].sw != NULL && fm_bit(o->roots.set[i].sw, s);
		if (root)
			roots[how->n_roots++] = s;
	}
	how->roots = roots;
	if (how->n_roots == 0 && o->roots.n_sets > 0)
		return host->fail(
		    err, FM_E_TOPOLOGY, "none of the roots is a switch of this fabric");
	if (how->n_roots == 0 && o->level > 0)
		return host->fail(err, FM_E_TOPOLOGY,
		    "no switch is %lld hops from the nearest host's switch (level)",
		    (long long)o->level);
	return 0;
}

static int
list_ids(const struct fm_host *host, const struct fm_fabric *fab, const struct updn_options *o,
    struct fm_updown *how, struct fm_error *err)
{
	int64_t *ids;

	if (o->ids.n_rows == 0)
		return 0;
	ids = fm_scratch_array(host, fab->n_switches, int64_t);
	if (ids == NULL)
		return fm_no_scratch(host, "ids of switches", err);
	for (fm_sw s = 0; s < fab->n_switches; s++)
		ids[s] = INT64_MAX;
	for (uint32_t i = 0; i < o->ids.n_rows; i++)
		if (o->ids.row[i].index < fab->n_switches &&
		    fab->sw_guid[o->ids.row[i].index] == o->ids.row[i].guid)
			ids[o->ids.row[i].index] = o->ids.row[i].value;
	how->ids = ids;
	return 0;
}

static int
updn_route(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	const struct updn_options *o = opts;
	struct fm_updown how = { .mend = (o->calculate_missing_routes ? FM_MEND_HOSTS : 0u) |
		    (o->connect_roots ? FM_MEND_SWITCHES : 0u) };
	struct fm_shape shape;
	struct fm_missing left;
	int rc;

	if ((rc = fm_shape_build(host, fab, &shape, err)) != 0 ||
	    (rc = list_roots(host, fab, &shape, o, &how, err)) != 0 ||
	    (rc = list_ids(host, fab, o, &how, err)) != 0 ||
	    (rc = fm_choice_from_options(host, fab, &o->choice, &how.choice, err)) != 0 ||
	    (rc = fm_route_updown(host, fab, &shape, &how, out, &left, err)) != 0)
		return rc;
	if (left.to_hosts + left.to_others > 0)
		host->log(host, 2,
		    "updn: no path without a credit loop for %llu (switch, LID) to hosts and %llu "
		    "to switches",
		    (unsigned long long)left.to_hosts, (unsigned long long)left.to_others);
	return 0;
}

FM_ENGINE(updn, .aliases = (const char *const[]){ "up-down", "updown", NULL },
    .summary = "Up/down routing, balanced over its roots; no credit loops",
    .traits = FM_PROVIDES_LFT | FM_PROMISES_NO_CREDIT_LOOPS | FM_WRITES_WHOLE_ROWS,
    .options = options, .options_size = sizeof(struct updn_options), .route = updn_route);
