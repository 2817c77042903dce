/* SPDX-License-Identifier: BSD-2-Clause */
/* Engines that do it as soon as they are loaded: LOADED names the deed. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/modules/bad.h"

static void __attribute__((constructor)) loaded(void)
{
	LOADED;
}

#define ENGINE(id) \
	FM_ENGINE(id, .summary = "An engine that is best not loaded.", .traits = FM_PROVIDES_LFT, \
	    .route = bad_route)
ENGINE(NAME);
