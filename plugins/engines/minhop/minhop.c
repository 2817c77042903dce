/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * minhop - shortest paths, the equal ones shared out.
 *
 * The idea: every switch knows for every destination which neighbours lie on a
 * shortest path; which of them takes a LID is a question of balance.  On trees it
 * is a digit of the destination's number (plugins/common/tree/dmodk.c), elsewhere the
 * load of the trees before (plugins/common/sssp/sssp.h).  OpenSM's engine of this
 * name counts the routes on its own ports only and keeps what the switches hold;
 * here all of a path counts, and the same fabric gives the same tables.
 *
 * When to use: where paths must be shortest and a cycle of credits cannot arise or
 * is no concern; and to compare others with.
 *
 * Promises: shortest paths (or, with hop_weights, lightest ones), for every pair
 * that cables join.  None about credit loops: on trees there are none, rings have
 * them.
 *
 * Options: those of plugins/common/sssp/choice_options.h, which take the place of
 * digits by load on trees; hop_weights, OpenSM's hop_weights_file: a link of a
 * switch's port counts as that many hops in this direction, and a path of 255 or
 * more is none.
 *
 * Refuses: fabrics in which a path is longer than max_hops.
 */
#include <fmd/engine.h>
#include <fmd/own.h>

#include "lib/log.h"
#include "plugins/common/paths/alternatives.h"
#include "plugins/common/sssp/balance.h"
#include "plugins/common/sssp/choice_options.h"

#define WEIGHT_MAX 255 /* of a link; a path of this and more is none */

struct minhop_options {
	int64_t max_hops;
	struct fm_node_values hop_weights;
	struct fm_choice_options choice;
};

static const struct fm_option options[] = {
	{ .name = "max_hops",
	    .type = FM_OPT_INT,
	    .offset = offsetof(struct minhop_options, max_hops),
	    .def = "64",
	    .min = 1,
	    .max = 64,
	    .unit = "hops",
	    .help = "Refuse fabrics in which a path has more links between switches than this." },
	{ .name = "hop_weights",
	    .type = FM_OPT_NODE_VALUES,
	    .offset = offsetof(struct minhop_options, hop_weights),
	    .min = 1,
	    .max = WEIGHT_MAX,
	    .unit = "port weight",
	    .help = "How many hops the link out of a switch's port counts; others count 1, and a "
		    "path of 255 is none." },
	FM_CHOICE_OPTION_ROWS(struct minhop_options, choice),
	{ .type = FM_OPT_END },
};

/* Adaptive routing (not with weights of links): all shortest paths that in a
 * levelled fabric go up and then down.  Others are on damaged trees only, and many
 * of them at once would close credit loops, which the few that balance takes
 * mostly do not. */
static int
add_alternatives(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_shape *shape, struct fm_tables *out, struct fm_error *err)
{
	struct fm_levels levels = { .level = shape->tree.rank };
	struct fm_order order;
	int rc;

	if (out->ar_group == NULL)
		return 0;
	if (!shape->tree.levelled)
		return fm_alternatives(host, fab, &shape->arcs, NULL, true, NULL, out, err);
	rc = fm_order_build(host, &shape->arcs, &levels, &order, err);
	return rc != 0 ? rc
		       : fm_alternatives(host, fab, &shape->arcs, &order, true, NULL, out, err);
}

static int
list_weights(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_node_values *table, const uint32_t **out, struct fm_error *err)
{
	uint32_t *weight = fm_scratch_array(host, fab->n_links, uint32_t), n_unknown = 0;

	if (weight == NULL)
		return fm_no_scratch(host, "hop_weights", err);
	for (fm_link l = 0; l < fab->n_links; l++)
		weight[l] = 1;
	for (uint32_t i = 0; i < table->n_rows; i++) {
		const struct fm_node_value *row = &table->row[i];
		fm_link l = row->sw != FM_NONE ? fm_link_at(fab, row->sw, row->port) : FM_NONE;

		if (l != FM_NONE)
			weight[l] = (uint32_t)row->value;
		n_unknown += l == FM_NONE;
	}
	if (n_unknown > 0)
		host->log(host, fm_stray_level(fab),
		    "hop_weights: %u of %u rows name no link between switches of this fabric",
		    n_unknown, table->n_rows);
	*out = weight;
	return 0;
}

static int
check_hops(const struct fm_host *host, const struct fm_paths *found, const struct minhop_options *o,
    struct fm_error *err)
{
	if (found->max_hops <= o->max_hops)
		return 0;
	return host->fail(host, err, FM_E_TOPOLOGY,
	    "a path needs %u hops between switches, more than max_hops = %lld", found->max_hops,
	    (long long)o->max_hops);
}

static int
route_weighted(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_shape *shape, const struct fm_choice *choice, const struct minhop_options *o,
    struct fm_tables *out, struct fm_error *err)
{
	struct fm_sssp_plan plan = { .arcs = &shape->arcs,
		.component = shape->component,
		.rule = { .max_length = WEIGHT_MAX - 1 },
		.choice = *choice };
	struct fm_paths found;
	int rc;

	if ((rc = list_weights(host, fab, &o->hop_weights, &plan.rule.weight, err)) != 0 ||
	    (rc = fm_sssp_route(host, fab, &plan, out, &found, err)) != 0)
		return rc;
	if (found.unjoined > 0)
		host->log(host, FM_LOG_WARN,
		    "minhop: hop_weights leave %llu pairs of switches without a path",
		    (unsigned long long)found.unjoined);
	return check_hops(host, &found, o, err);
}

static int
minhop_route(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	const struct minhop_options *o = opts;
	struct fm_choice choice;
	struct fm_shape shape;
	struct fm_paths found;
	int rc;

	if ((rc = fm_shape_build(host, fab, &shape, err)) != 0 ||
	    (rc = fm_choice_from_options(host, fab, &o->choice, &choice, err)) != 0)
		return rc;
	if (o->hop_weights.n_rows > 0)
		return route_weighted(host, fab, &shape, &choice, o, out, err);
	choice.by_digits = true;
	if ((rc = fm_balance(host, fab, &shape, NULL, choice, out, &found, err)) != 0 ||
	    (rc = check_hops(host, &found, o, err)) != 0)
		return rc;
	return add_alternatives(host, fab, &shape, out, err);
}

FM_OWN_ENGINE(minhop, NULL, .aliases = (const char *const[]){ "min-hop", NULL },
    .summary = "Shortest paths, balanced; credit loops are possible off trees",
    .traits = FM_PROVIDES_LFT | FM_PROVIDES_AR | FM_WRITES_WHOLE_ROWS | FM_NUMBERED_BY_CABLES,
    .options = options, .options_size = sizeof(struct minhop_options), .route = minhop_route);
