/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * updn - up/down routing: shortest paths that go up to a root's side and then
 * down, free of credit loops on any fabric with one VL.
 */
#include <fmd/engine.h>

#include "plugins/common/updown.h"

static int
updn_route(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	struct fm_shape shape;
	struct fm_paths found;
	int rc = fm_shape_build(host, fab, &shape, err);

	if (rc != 0)
		return rc;
	return fm_route_updown(host, fab, &shape, &(struct fm_updown){ 0 }, out, &found, err);
}

FM_ENGINE(updn, .aliases = (const char *const[]){ "up-down", "updown", NULL },
    .summary = "Up/down routing, balanced over its roots; no credit loops",
    .traits = FM_PROVIDES_LFT | FM_PROMISES_NO_CREDIT_LOOPS, .route = updn_route);
