/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/abi/entry_options.h"

#include <stddef.h>

static const struct fm_option entry_rows[] = {
	{ .name = "time_limit",
	    .type = FM_OPT_DURATION,
	    .offset = offsetof(struct entry_options, time_limit_ms),
	    .def = "60s",
	    .min = 0,
	    .max = 24 * 3600 * INT64_C(1000),
	    .help = "How long this engine may compute before "
		    "the next one of the chain is asked, in "
		    "place of engine_time_limit; 0 = no "
		    "limit." },
	{ .type = FM_OPT_END }
};

struct option_table
entry_option_table(void)
{
	return (struct option_table){ "", entry_rows, sizeof(entry_rows[0]),
		sizeof(struct entry_options) };
}
