/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fmroute - the offline planner: fabrics in, tables and verdicts out.
 * This file is the choice of the subcommand.
 */
#include "tools/fmroute.h"

#include <stdio.h>
#include <string.h>

#include "core/topo/netlist.h"

static const struct subcommand {
	const char *name, *args, *help;
	int (*run)(int argc, char **argv);
} subcommands[] = {
	{ "gen", "KIND ARGS", "write a fabric to standard output", fmroute_gen },
	{ "fail", "FABRIC [--links=N|--links=N%] [--switches=N] [--seed=N]",
	    "write the same fabric with parts removed", fmroute_fail },
	{ "check", "FABRIC TABLES [--vls=N] [--stats] [--json] [--dump=DIR]",
	    "judge tables: a dump of fmroute, dump_lfts, OpenSM's lfts or fdbs", fmroute_check },
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
	      "          [--workers=N] [--stats] [--json] [--dump=DIR] [--repeat=N]\n"
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

int
main(int argc, char **argv)
{
	if (argc < 2) {
		usage(stderr);
		return FMROUTE_EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		usage(stdout);
		return 0;
	}
	for (size_t i = 0; i < N_SUBCOMMANDS; i++)
		if (strcmp(argv[1], subcommands[i].name) == 0)
			return subcommands[i].run(argc - 1, argv + 1);
	return fmroute_route(argc, argv);
}
