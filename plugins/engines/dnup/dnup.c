/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dnup - up/down routing that needs no roots: levels are counted from the hosts.
 *
 * The idea: a switch with hosts has level 0, the others are as high as they are
 * away from the nearest such one.  A path leads away from the leaves, then
 * towards them, never away again.  OpenSM counts the levels downwards from the
 * leaves and so calls this down/up; it is updn (plugins/common/updown/updown.c) with
 * another order.  The levels alone have many highest switches; turning one of the
 * lowest above them (plugins/common/paths/order.h) gives every pair a legal path, where
 * OpenSM leaves pairs out.
 *
 * When to use: in trees in which some hosts hang off the spines, or where roots
 * are not known and updn's own choice is not liked.  On trees with all hosts at
 * the bottom the tables are updn's.
 *
 * Promises: no credit loops with one VL; every pair that cables join has a path;
 * balanced as updn's are.
 *
 * Options: those of plugins/common/updown/updown_options.h.
 *
 * Refuses: nothing (OpenSM: fabrics without hosts).
 */
#include <fmd/engine.h>
#include <fmd/own.h>

#include "plugins/common/updown/updown_options.h"

struct dnup_options {
	struct fm_updown_options updown;
};

static const struct fm_option options[] = {
	FM_UPDOWN_OPTION_ROWS(struct dnup_options, updown),
	{ .type = FM_OPT_END },
};

static int
dnup_route(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	const struct dnup_options *o = opts;
	struct fm_updown how = { .by_leaves = true };
	struct fm_shape shape;
	int rc;

	if ((rc = fm_shape_build(host, fab, &shape, err)) != 0 ||
	    (rc = fm_updown_from_options(host, fab, &o->updown, &how, err)) != 0)
		return rc;
	return fm_updown_engine(host, fab, &shape, &how, "dnup", out, err);
}

FM_OWN_ENGINE(dnup, NULL, .aliases = (const char *const[]){ "down-up", NULL },
    .summary = "Up/down routing by distance from the hosts; no credit loops",
    .traits = FM_PROVIDES_LFT | FM_PROVIDES_AR | FM_PROMISES_NO_CREDIT_LOOPS |
	FM_WRITES_WHOLE_ROWS | FM_NUMBERED_BY_CABLES,
    .options = options, .options_size = sizeof(struct dnup_options), .route = dnup_route);
