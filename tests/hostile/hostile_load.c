/* SPDX-License-Identifier: BSD-2-Clause */
/* Engines that do it as soon as they are loaded: LOADED names the deed. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/modules/bad.h"

#ifdef __x86_64__
#define INT80_GETPID \
	do { \
		long n = 20; \
		__asm__ volatile("int $0x80" : "+a"(n)); \
	} while (0)
#else
#define INT80_GETPID syscall(0x40000000 + 39)
#endif

static void __attribute__((constructor)) loaded(void)
{
	LOADED;
}

#define ENGINE(id) \
	FM_ENGINE(id, .summary = "An engine that is best not loaded.", .traits = FM_PROVIDES_LFT, \
	    .route = bad_route)
ENGINE(NAME);
