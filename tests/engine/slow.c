/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/engine/slow.h"

atomic_bool slow_is_routing, slow_may_go_on, slow_was_cancelled;

static int
slow_route(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	(void)fab;
	(void)req;
	(void)opts;
	(void)out;
	atomic_store(&slow_is_routing, true);
	while (!atomic_load(&slow_may_go_on))
		if (host->should_stop(host)) {
			atomic_store(&slow_was_cancelled, true);
			return (host->fail)(host, err, FM_E_CANCELLED, "stopped");
		}
	return (host->fail)(host, err, FM_E_TOPOLOGY, "slow, and in vain");
}

const struct fm_engine slow_engine = { .magic = FM_ABI_MAGIC,
	.abi_major = FM_ABI_MAJOR,
	.abi_minor = FM_ABI_MINOR,
	.size = sizeof(slow_engine),
	.option_row_size = sizeof(struct fm_option),
	.name = "slow",
	.traits = FM_PROVIDES_LFT,
	.route = slow_route };
