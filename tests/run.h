/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/run.h - how much of a Check program runs, and the end of its main().
 */
#ifndef TESTS_RUN_H
#define TESTS_RUN_H

#include <check.h>
#include <stdint.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define UNDER_SANITIZER 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNDER_SANITIZER 1
#endif

/* How many of n random cases run.  Sanitizers look at the same code once more, each case
 * taking ten times as long: there an eighth, six at least.  FMD_LONG=1: all. */
static inline uint32_t
n_cases(uint32_t n)
{
#ifdef UNDER_SANITIZER
	uint32_t few = n / 8 > 6 ? n / 8 : 6;

	return few < n && getenv("FMD_LONG") == NULL ? few : n;
#else
	return n;
#endif
}

/* How many rounds of one long case. */
static inline unsigned
n_rounds(unsigned quick, unsigned of_long)
{
	return getenv("FMD_LONG") != NULL ? of_long : quick;
}

/* ... of which half will do under a sanitizer, where a round takes half a minute. */
static inline unsigned
n_slow_rounds(unsigned quick, unsigned of_long)
{
#ifdef UNDER_SANITIZER
	quick = (quick + 1) / 2;
#endif
	return n_rounds(quick, of_long);
}

/* Run and free the suite; the exit code. */
static inline int
run_suite(Suite *s)
{
	SRunner *r = srunner_create(s);
	int failed;

	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}

#endif
