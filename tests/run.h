/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/run.h - the end of every Check program's main().
 */
#ifndef TESTS_RUN_H
#define TESTS_RUN_H

#include <check.h>

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
