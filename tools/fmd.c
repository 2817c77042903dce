/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fmd: argv, the transports it has, and the loop; all else is in libfmcore.
 */
#include <stdio.h>

#include "core/conf/cli.h"
#include "core/daemon/daemon.h"
#include "core/mad/transport.h"
#include "core/text/standard.h"
#include "lab/sim/sim.h"

static const struct transport_kind *const transports[] = { &transport_umad, &transport_sim, NULL };

static enum fmd_exit
complain(const struct fm_error *err)
{
	fprintf(stderr, "fmd: %s\n", err->msg);
	return exit_code_of(err);
}

static enum fmd_exit
run_daemon(const struct cli *cli)
{
	static struct daemon d;
	struct fm_error err = { 0 };
	enum fmd_exit code;

	if (daemon_init(&d, cli, transports, &err) != 0)
		code = complain(&err);
	else
		code = daemon_run(&d);
	daemon_fini(&d);
	return code;
}

int
main(int argc, char *argv[])
{
	struct fm_error err = { 0 };
	enum fmd_exit code;
	struct cli cli;

	fm_standard_claim();
	if (cli_parse(argc, argv, &cli, &err) != 0)
		code = complain(&err);
	else if (cli.task == CLI_RUN)
		code = run_daemon(&cli);
	else
		code = cli_inform(&cli, stdout);
	if (code == FMD_EXIT_OK && fm_standard_flush(&err) != 0)
		code = complain(&err);
	cli_fini(&cli);
	return code;
}
