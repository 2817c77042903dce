/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/updown/updown.h does the work; this is its descriptor.  Linked in,
 * so that a daemon without any plugin still routes.
 */
#include "core/engine/fallback.h"

#include <fmd/own.h>

#include "plugins/common/updown/updown.h"

static int
fallback_route(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_request *req, const void *opts, struct fm_tables *out, struct fm_error *err)
{
	struct fm_shape shape;
	struct fm_missing left;
	int rc = fm_shape_build(host, fab, &shape, err);

	if (rc != 0)
		return rc;
	return fm_route_updown(
	    host, fab, &shape, &(struct fm_updown){ .relax = FM_RELAX_HOSTS }, out, &left, err);
}

const struct fm_engine fallback_engine = {
	.magic = FM_ABI_MAGIC,
	.abi_major = FM_ABI_MAJOR,
	.abi_minor = FM_ABI_MINOR,
	.size = sizeof(struct fm_engine),
	.option_row_size = sizeof(struct fm_option),
	.name = "fallback",
	.summary = "Up/down over any connected fabric",
	.traits = FM_PROVIDES_LFT | FM_PROVIDES_AR | FM_PROMISES_NO_CREDIT_LOOPS |
	    FM_WRITES_WHOLE_ROWS | FM_NUMBERED_BY_CABLES,
	.route = fallback_route,
};
