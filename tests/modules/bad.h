/* SPDX-License-Identifier: BSD-2-Clause */
/* tests/modules/: engines that are wrong in one way each; what they share. */
#ifndef TESTS_MODULES_BAD_H
#define TESTS_MODULES_BAD_H

#include <fmd/engine.h>

/* FM_ENGINE() lets no field of the head be changed; this does. */
#define BAD_ENGINE(id, ...) \
	extern const struct fm_engine id##_LTX_fm_engine; \
	__attribute__((visibility("default"))) \
	const struct fm_engine id##_LTX_fm_engine = { __VA_ARGS__ }

static inline int
bad_route(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	return 0;
}

#endif
