/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fmd-doc conf|man|opensm|events DIR: at build time, the documents made from option rows,
 * with the engines of DIR but the skeleton, which is built and not installed: a section of its own
 * in fmd.conf would be one of an engine that is not there.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/conf/describe.h"
#include "core/text/standard.h"

#define SKELETON "template"

/* The engines of set that are installed; the caller frees the array, set keeps what is in it. */
static struct engine_set
installed(const struct engine_set *set)
{
	struct engine_set to = *set;

	to.engines = calloc(set->n_engines + 1, sizeof(*to.engines));
	to.n_engines = 0;
	for (uint32_t i = 0; to.engines != NULL && i < set->n_engines; i++)
		if (strcmp(set->engines[i].engine->name, SKELETON) != 0)
			to.engines[to.n_engines++] = set->engines[i];
	return to;
}

int
main(int argc, char *argv[])
{
	const char *dirs[] = { argc == 3 ? argv[2] : NULL, NULL };
	struct engine_set set, shown;
	struct fm_error err;

	if (argc != 3 ||
	    (strcmp(argv[1], "conf") != 0 && strcmp(argv[1], "man") != 0 &&
		strcmp(argv[1], "opensm") != 0 && strcmp(argv[1], "events") != 0)) {
		fputs("usage: fmd-doc conf|man|opensm|events DIR\n", stderr);
		return 2;
	}
	if (engine_set_load(&set, dirs, &err) != 0) {
		fprintf(stderr, "fmd-doc: %s\n", err.msg);
		return 2;
	}
	shown = installed(&set);
	if (shown.engines == NULL) {
		fputs("fmd-doc: out of memory\n", stderr);
		return 1;
	}
	if (strcmp(argv[1], "conf") == 0)
		describe_conf_file(&shown, stdout);
	else if (strcmp(argv[1], "opensm") == 0)
		describe_man_opensm(stdout);
	else if (strcmp(argv[1], "events") == 0)
		describe_man_events(stdout);
	else
		describe_man_options(&shown, stdout);
	free(shown.engines);
	engine_set_fini(&set);
	if (fm_standard_flush(&err) != 0) {
		fprintf(stderr, "fmd-doc: %s\n", err.msg);
		return 1;
	}
	return 0;
}
