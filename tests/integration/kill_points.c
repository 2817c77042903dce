/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fmd that stops dead at a place of its choice: linked with tools/fmd.c to
 * fmd_killable, which kill_points.sh runs.
 *
 *	FMD_KILL_AT=N		SIGKILL at the N-th place that is passed, from 1
 *	FMD_KILL_KIND=KIND	of those that are named so ("commit records"): the places of
 *				two threads come in another order in each run
 *	FMD_KILL_LIST=FILE	append every place, "N what which"
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/faultpoint.h"

/* The place that is listed last is where it died. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long n_passed, n_of_kind;
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
	pthread_mutex_lock(&lock);
	n_passed++;
	if (which == NULL)
		which = "?";
	if (list != NULL) {
		fprintf(list, "%lu %s %s\n", n_passed, what, which);
		fflush(list);
	}
	if (is_of_kind(what, which) && ++n_of_kind == kill_at)
		raise(SIGKILL);
	pthread_mutex_unlock(&lock);
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
