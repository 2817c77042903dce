/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/modules/bad.h"
int nobody_defines_this(void);
static int
route(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	return nobody_defines_this();
}
FM_ENGINE(bad_symbol, .summary = "An undefined symbol.", .route = route);
