/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/modules/bad.h"
struct opts {
	int64_t depth;
};
static const struct fm_option options[] = { { .name = "depth",
						.type = FM_OPT_INT,
						.offset = offsetof(struct opts, depth),
						.def = "99",
						.min = 1,
						.max = 64,
						.unit = "hops",
						.help = "Depth." },
	{ .type = FM_OPT_END } };
FM_ENGINE(bad_option, .summary = "A default outside its own range.", .traits = FM_PROVIDES_LFT,
    .options = options, .options_size = sizeof(struct opts), .route = bad_route);
