/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fmd-doc conf|man|opensm|events DIR: at build time, the documents made from option rows,
 * with the engines of DIR.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "core/conf/describe.h"
#include "core/text/standard.h"

int
main(int argc, char *argv[])
{
	const char *dirs[] = { argc == 3 ? argv[2] : NULL, NULL };
	struct engine_set set;
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
	if (strcmp(argv[1], "conf") == 0)
		describe_conf_file(&set, stdout);
	else if (strcmp(argv[1], "opensm") == 0)
		describe_man_opensm(stdout);
	else if (strcmp(argv[1], "events") == 0)
		describe_man_events(stdout);
	else
		describe_man_options(&set, stdout);
	engine_set_fini(&set);
	if (fm_standard_flush(&err) != 0) {
		fprintf(stderr, "fmd-doc: %s\n", err.msg);
		return 1;
	}
	return 0;
}
