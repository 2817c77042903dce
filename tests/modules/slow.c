/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/modules/bad.h"
/* Never done, but asks whether it is to stop. */
static int
slow_route(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	while (!host->should_stop(host))
		continue;
	return host->fail(
	    host, err, FM_E_CANCELLED, "stopped at the first of %u switches", fab->n_switches);
}
FM_ENGINE(slow, .summary = "An engine that is never done.", .traits = FM_PROVIDES_LFT,
    .route = slow_route);
