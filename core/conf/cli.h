/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/conf/cli.h - the command line of fmd.
 */
#ifndef CORE_CONF_CLI_H
#define CORE_CONF_CLI_H

#include <stdbool.h>
#include <stdio.h>

#include "core/conf/conf.h"
#include "lib/arena.h"

/* Exit codes of all programs. */
enum fmd_exit {
	FMD_EXIT_OK = 0,
	FMD_EXIT_SYSTEM = 1,
	FMD_EXIT_USAGE = 2,	 /* or configuration */
	FMD_EXIT_NOT_ROUTED = 3, /* or not verified */
	FMD_EXIT_OTHER_MASTER = 4,
	FMD_EXIT_TROUBLE = 5 /* fmctl: up, but not all is as it should be */
};
enum fmd_exit exit_code_of(const struct fm_error *err);

enum cli_task {
	CLI_RUN,
	CLI_CHECK,	  /* --check: validate the configuration */
	CLI_IMPORT,	  /* --import-opensm FILE: print it as a fmd.conf */
	CLI_IMPORT_OPAFM, /* --import-opafm FILE: the same of opa-fm's file */
	CLI_GUID2LID,	  /* --export-guid2lid: print the LIDs of the store as OpenSM's file */
	CLI_LIST_ENGINES, /* --list-engines [--json] */
	CLI_HELP_ENGINE,  /* --help=ENGINE */
	CLI_HELP,
	CLI_VERSION
};

struct vendors;

struct cli {
	enum cli_task task;
	const char *engine; /* of --help=ENGINE */
	const char *import; /* of --import-... */
	bool json, once, dry_run;
	bool summary;			/* of a dry run: nodes with the same Sets in one line */
	const char *dump_dir;		/* NULL = none */
	struct conf_source source;	/* --config and what overrides it */
	const char *const *plugin_dirs; /* NULL terminated; NULL = the usual ones */
	struct fm_arena mem;
};

/* FM_E_CONFIG with a sentence on what is wrong.  cli_fini() in any case. */
int cli_parse(int argc, char *const argv[], struct cli *cli, struct fm_error *err);
void cli_fini(struct cli *cli);

/* Load the engines and the configuration that the command line asks for; what is wrong in it is
 * added to `all`, the first of it is *err.  Engines that were refused are logged.  load_ms: what
 * an engine in a process of its own has to be loaded; 0 = APART_LOAD_MS. */
int cli_load(const struct cli *cli, int64_t load_ms, struct mistakes *all, struct conf **conf,
    struct fm_error *err);
/* The programmers of adaptive routing of the same folders, in processes of their own or not as the
 * configuration says; those refused stand in it.  As vendors_load(). */
int cli_load_vendors(const struct cli *cli, struct vendors **out, struct fm_error *err);
/* "fmd: " and each of them, a line of its own to stderr; or, where there is none, *err. */
void cli_complain(const struct mistakes *all, const struct fm_error *err);

/* Do a task other than CLI_RUN, printing to out; the exit code. */
enum fmd_exit cli_inform(const struct cli *cli, FILE *out);

#endif
