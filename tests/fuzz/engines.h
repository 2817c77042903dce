/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/fuzz/engines.h - the engines of the build, for fuzzers of what has their options.
 */
#ifndef TESTS_FUZZ_ENGINES_H
#define TESTS_FUZZ_ENGINES_H

#include <unistd.h>

#include "core/engine/plugin.h"
#include "tests/fuzz/fuzz.h"

#define ENGINES "plugins/engines/.libs"

/* Those beside the program when it is run in the build directory, else the core's own. */
static inline const struct engine_set *
fuzz_engines(void)
{
	static struct engine_set set;
	static int loaded;
	struct fm_error err;

	if (!loaded++)
		must(engine_set_load(&set,
			 access(ENGINES, R_OK) == 0 ? (const char *const[]){ ENGINES, NULL } : NULL,
			 &err) == 0);
	return &set;
}

#endif
