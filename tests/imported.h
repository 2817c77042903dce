/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of imports share: the lines of one, and whether an option is there.
 */
#ifndef TESTS_IMPORTED_H
#define TESTS_IMPORTED_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/abi/options.h"
#include "core/conf/conf.h"
#include "core/engine/plugin.h"

/* The lines of a printed fmd.conf that are no comments, or those "# line ...", joined by " | ";
 * the text is cut up. */
static inline const char *
imported_lines(char *printed, bool comments)
{
	static char out[8192];
	char *save = NULL;
	size_t n = 0;

	out[0] = '\0';
	for (char *l = strtok_r(printed, "\n", &save); l != NULL; l = strtok_r(NULL, "\n", &save)) {
		l += strspn(l, "\t ");
		if (comments ? strncmp(l, "# line ", 7) == 0 : *l != '#')
			n += (size_t)snprintf(
			    out + n, sizeof(out) - n, "%s%s", n > 0 ? " | " : "", l);
	}
	return out;
}

/* Is it one of the daemon's own options, or of an engine? */
static inline bool
is_option(const struct engine_set *engines, const char *name)
{
	struct option_table table = conf_option_table();

	if (option_find(&table, name) != NULL)
		return true;
	for (uint32_t i = 0; i < engines->n_engines; i++) {
		table = option_table_of(engines->engines[i].engine);
		if (option_find(&table, name) != NULL)
			return true;
	}
	return false;
}

#endif
