/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/fmroute.h - the subcommands of fmroute.
 *
 * Each gets its own argument vector (argv[0] is its name) and returns the
 * exit code: 0 ok, 1 system error, 2 usage or configuration, 3 not routed or
 * not verified.  A new one is a row in the table of fmroute.c.
 */
#ifndef TOOLS_FMROUTE_H
#define TOOLS_FMROUTE_H

#include <fmd/error.h>

#define FMROUTE_EXIT_USAGE 2

int fmroute_gen(int argc, char **argv);
int fmroute_fail(int argc, char **argv);
int fmroute_convert(int argc, char **argv);
int fmroute_shuffle(int argc, char **argv);
int fmroute_check(int argc, char **argv);
int fmroute_diff(int argc, char **argv);
int fmroute_what_if(int argc, char **argv);
/* No subcommand: fmroute FABRIC ...; argv[0] is the program. */
int fmroute_route(int argc, char **argv);

/* Print "fmroute: sentence" and return the exit code of its kind. */
int fmroute_report(const struct fm_error *err);

#endif
