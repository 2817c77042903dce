/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/modules/bad.h"
/* Never asks whether it is to stop: works until the file DEAF_UNTIL is there. */
static int
deaf_route(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	const struct timespec nap = { .tv_nsec = 5000000 };
	const char *path = getenv("DEAF_UNTIL");

	for (int naps = 0; path != NULL && access(path, F_OK) != 0 && naps < 12000; naps++)
		nanosleep(&nap, NULL);
	return host->fail(host, err, FM_E_TOPOLOGY, "it was too hard after all");
}
FM_ENGINE(deaf, .summary = "An engine that does not stop when its time is over.",
    .traits = FM_PROVIDES_LFT, .route = deaf_route);
