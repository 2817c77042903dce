/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fmroute - the offline planner: fabrics in, tables and verdicts out.
 * This file is the choice of the subcommand.
 */
#include "config.h"

#include "tools/fmroute.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "core/text/standard.h"
#include "lab/topo/netlist.h"

static const struct subcommand {
	const char *name, *args, *help;
	int (*run)(int argc, char **argv);
} subcommands[] = {
	{ "gen", "KIND ARGS", "write a fabric to standard output", fmroute_gen },
	{ "fail", "FABRIC [--links=N|--links=N%] [--switches=N] [--seed=N]",
	    "write the same fabric with parts removed", fmroute_fail },
	{ "check", "FABRIC TABLES [--vls=N] [--stats] [--json] [--dump=DIR]",
	    "judge tables: a dump of fmroute, dump_lfts, OpenSM's lfts or fdbs", fmroute_check },
	{ "diff", "A B [--fabric=FABRIC] [--engine=LIST] [--config=FILE] [--json]",
	    "what lies between two sets of tables: folders of --dump, table files, fabrics to "
	    "route,\n        engine:LIST or config:FILE",
	    fmroute_diff },
	{ "what-if",
	    "FABRIC [--engine=LIST] --down=PART ... [--up=PART] [--steps] [--then] [--json]",
	    "what an outage changes; PART is switch:NAME, host:NAME or link:NAME:PORT",
	    fmroute_what_if },
	{ "convert", "FABRIC", "read a fabric, write it as ibnetdiscover would", fmroute_convert },
	{ "shuffle", "FABRIC [SEED]", "write the same fabric with other names and port numbers",
	    fmroute_shuffle },
};
#define N_SUBCOMMANDS (sizeof(subcommands) / sizeof(subcommands[0]))

static void
usage(FILE *out)
{
	fputs("usage:\n"
	      "  fmroute FABRIC [--engine=NAME,...] [--config=FILE] [--plugin-dir=DIR] [--vls=N] "
	      "[--lmc=N]\n"
	      "          [--node-name-map=FILE] [--workers=N] [--ar[=GROUPS]] [--regions] "
	      "[--stats] [--json] "
	      "[--dump=DIR] [--repeat=N]\n"
	      "        route the fabric by the first engine that can, and judge the tables\n",
	    out);
	for (size_t i = 0; i < N_SUBCOMMANDS; i++)
		fprintf(out, "  fmroute %s %s\n        %s\n", subcommands[i].name,
		    subcommands[i].args, subcommands[i].help);
	fputs("FABRIC is an ibsim netlist or ibnetdiscover dump, - is standard input.\n"
	      "Kinds of gen:\n",
	    out);
	netlist_generate_help(out);
}

int
fmroute_report(const struct fm_error *err)
{
	fprintf(stderr, "fmroute: %s\n", err->msg);
	switch (err->kind) {
	case FM_OK:
		return 0;
	case FM_E_CONFIG:
		return FMROUTE_EXIT_USAGE;
	case FM_E_TOPOLOGY:
		return 3;
	case FM_E_RESOURCE:
	case FM_E_SYSTEM:
	case FM_E_CANCELLED:
	case FM_E_BUG:
		return 1;
	}
	return 1;
}

static int
run_command(int argc, char **argv)
{
	if (argc < 2) {
		usage(stderr);
		return FMROUTE_EXIT_USAGE;
	}
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
			usage(stdout);
			return 0;
		}
	if (strcmp(argv[1], "--version") == 0) {
		printf("fmroute %s\n", PACKAGE_VERSION);
		return 0;
	}
	opterr = 0; /* what is wrong with an option is told in our own words */
	for (size_t i = 0; i < N_SUBCOMMANDS; i++)
		if (strcmp(argv[1], subcommands[i].name) == 0)
			return subcommands[i].run(argc - 1, argv + 1);
	return fmroute_route(argc, argv);
}

int
main(int argc, char **argv)
{
	struct fm_error err;
	int code;

	fm_standard_claim();
	code = run_command(argc, argv);
	return code == 0 && fm_standard_flush(&err) != 0 ? fmroute_report(&err) : code;
}
