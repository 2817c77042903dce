/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fmd that stops dead at a place of its choice: linked with core/main.c to
 * fmd_killable, which kill_points.sh runs.
 *
 *	FMD_KILL_AT=N		SIGKILL at the N-th place that is passed, from 1
 *	FMD_KILL_LIST=FILE	append every place, "N what which"
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/faultpoint.h"

static atomic_ulong n_passed;
static unsigned long kill_at;
static FILE *list;

static void
pass(const char *what, const char *which)
{
	unsigned long n = atomic_fetch_add(&n_passed, 1) + 1;

	if (list != NULL) {
		fprintf(list, "%lu %s %s\n", n, what, which != NULL ? which : "?");
		fflush(list);
	}
	if (n == kill_at)
		raise(SIGKILL);
}

static void __attribute__((constructor)) begin(void)
{
	const char *at = getenv("FMD_KILL_AT"), *path = getenv("FMD_KILL_LIST");

	if (at != NULL)
		kill_at = strtoul(at, NULL, 10);
	if (path != NULL)
		list = fopen(path, "ae");
	fm_fault_point_hook(pass);
}
