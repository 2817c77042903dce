/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fmd that stops dead at a place of its choice: linked with core/main.c to
 * fmd_killable, which kill_points.sh runs.
 *
 *	FMD_KILL_AT=N		SIGKILL at the N-th place that is passed, from 1
 *	FMD_KILL_KIND=KIND	of those that are named so ("commit records"): the places of
 *				two threads come in another order in each run
 *	FMD_KILL_LIST=FILE	append every place, "N what which"
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/faultpoint.h"

static atomic_ulong n_passed, n_of_kind;
static unsigned long kill_at;
static const char *kill_kind; /* NULL: any */
static FILE *list;

static bool
is_of_kind(const char *what, const char *which)
{
	size_t n = strlen(what);

	return kill_kind == NULL ||
	    (strncmp(kill_kind, what, n) == 0 && kill_kind[n] == ' ' &&
	        strcmp(kill_kind + n + 1, which) == 0);
}

static void
pass(const char *what, const char *which)
{
	unsigned long n = atomic_fetch_add(&n_passed, 1) + 1;

	if (which == NULL)
		which = "?";
	if (list != NULL) {
		fprintf(list, "%lu %s %s\n", n, what, which);
		fflush(list);
	}
	if (is_of_kind(what, which) && atomic_fetch_add(&n_of_kind, 1) + 1 == kill_at)
		raise(SIGKILL);
}

static void __attribute__((constructor)) begin(void)
{
	const char *at = getenv("FMD_KILL_AT"), *path = getenv("FMD_KILL_LIST");

	if (at != NULL)
		kill_at = strtoul(at, NULL, 10);
	kill_kind = getenv("FMD_KILL_KIND");
	if (path != NULL)
		list = fopen(path, "ae");
	fm_fault_point_hook(pass);
}
