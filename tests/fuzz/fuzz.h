/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/fuzz/fuzz.h - what the fuzzers share.
 *
 * A fuzzer takes any bytes and holds what it reads to a rule or two with
 * must(); sanitizers see the rest.  replay.c runs its corpus as a plain test.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "lib/log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void
must(int holds)
{
	if (!holds)
		abort();
}

static inline void
fuzz_drop_log(void *arg, enum fm_log_level level, const char *subsystem, const char *line)
{
	(void)arg;
}

/* FUZZ_LOG=1: to see what an input does. */
static inline void
fuzz_be_quiet(void)
{
	if (getenv("FUZZ_LOG") == NULL)
		fm_log_set_sink(fuzz_drop_log, NULL);
}

#endif
