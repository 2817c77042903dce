/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/abi/traits.h"

#include <fmd/engine.h>

static const struct engine_trait traits[] = { { FM_PROVIDES_LFT, "lft", "forwarding tables" },
	{ FM_PROVIDES_SL, "sl", "service levels and VLs of its own" },
	{ FM_PROVIDES_AR, "ar", "adaptive routing groups" },
	{ FM_PROVIDES_MCAST, "mcast", "multicast trees" },
	{ FM_PROVIDES_ORDER, "order", "the order of hosts whose shifts run best" },
	{ FM_USES_PREV, "uses-prev", "looks at the tables in use" },
	{ FM_PROMISES_NO_CREDIT_LOOPS, "no-credit-loops", "promises no credit loops" },
	{ FM_WRITES_WHOLE_ROWS, "whole-rows", "writes every entry of its forwarding tables" },
	{ FM_WRITES_WHOLE_SLS, "whole-sls", "writes every entry of its SL and VL tables" },
	{ FM_NUMBERED_BY_CABLES, "by-cables",
	    "meets switches in the order of their cables, not names" },
	{ 0, NULL, NULL } };

const struct engine_trait *
engine_traits(void)
{
	return traits;
}

uint32_t
engine_known_traits(void)
{
	uint32_t known = 0;

	for (const struct engine_trait *t = traits; t->bit != 0; t++)
		known |= t->bit;
	return known;
}
