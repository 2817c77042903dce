/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/mark.c - Check without its diary of assertions.
 *
 * Check writes down every assertion that holds, each with a write() of its own, so
 * that it can say after which one a test crashed; the parent process reads them all.
 * A loop over each entry of each table makes millions of them, which takes longer
 * than what is tested.  Here a place in the source is not written down again while it
 * is among the last few that were: of a crash Check names a place of the same loop.
 *
 * The linker puts this in Check's place (--wrap, configure.ac).
 */
#include <check.h>

#define N_PLACES 8

void __real__mark_point(const char *file, int line);
void __wrap__mark_point(const char *file, int line);

static _Thread_local struct {
	const char *file;
	int line;
} places[N_PLACES];
static _Thread_local unsigned n_written;

void
__wrap__mark_point(const char *file, int line)
{
	for (unsigned i = 0; i < N_PLACES; i++)
		if (places[i].line == line && places[i].file == file)
			return;
	places[n_written % N_PLACES].file = file;
	places[n_written % N_PLACES].line = line;
	n_written++;
	__real__mark_point(file, line);
}
