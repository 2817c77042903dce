/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * minhop - shortest paths, the equal ones shared out.
 *
 * On trees the choice among equal next steps is a digit of the destination's
 * number (plugins/common/spread.c), elsewhere the load of the trees before
 * (plugins/common/grow.c).  No promise about credit loops: on trees there are
 * none, rings have them.
 */
#include <fmd/engine.h>

#include "plugins/common/balance.h"

struct minhop_options {
	int64_t max_hops;
	int64_t scatter_ports;
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
	{ .name = "scatter_ports",
	    .type = FM_OPT_INT,
	    .offset = offsetof(struct minhop_options, scatter_ports),
	    .def = "0",
	    .min = 0,
	    .max = INT64_MAX,
	    .help = "Seed by which equal next steps are chosen at random; 0 balances them." },
	{ .type = FM_OPT_END },
};

static int
minhop_route(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	const struct minhop_options *o = opts;
	struct fm_choice choice = { .by_digits = true, .scatter = (uint64_t)o->scatter_ports };
	struct fm_shape shape;
	struct fm_paths found;
	int rc;

	if ((rc = fm_shape_build(host, fab, &shape, err)) != 0 ||
	    (rc = fm_balance(host, fab, &shape, NULL, choice, out, &found, err)) != 0)
		return rc;
	if (found.max_hops > o->max_hops)
		return host->fail(err, FM_E_TOPOLOGY,
		    "a path needs %u hops between switches, more than max_hops = %lld",
		    found.max_hops, (long long)o->max_hops);
	return 0;
}

FM_ENGINE(minhop, .aliases = (const char *const[]){ "min-hop", NULL },
    .summary = "Shortest paths, balanced; credit loops are possible off trees",
    .traits = FM_PROVIDES_LFT | FM_WRITES_WHOLE_ROWS, .options = options,
    .options_size = sizeof(struct minhop_options), .route = minhop_route);
