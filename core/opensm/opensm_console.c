/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The commands of OpenSM's console (3.3.23), and what is done here in their place.
 */
#include <string.h>

#include "core/opensm/opensm.h"

#define BY_RELOAD " in the configuration, then fmctl reload"
#define BALANCE "fmroute check FABRIC TABLES --stats, of what ibnetdiscover and dump_lfts print"
#define NO_PERFMGR "perfquery and ibqueryerrors: fmd does not read performance counters"

static const struct opensm_command commands[] = {
	{ "dump_conf", NULL,
	    "fmd --import-opensm FILE for what opensm.conf means, fmd --help for all keys with "
	    "their defaults" },
	{ "dump_portguid", NULL, "saquery NodeRecord, which prints port_guid" },
	{ "lidbalance", NULL, BALANCE },
	{ "logflush", NULL, "nothing: each line is written at once" },
	{ "loglevel", NULL, "log_level" BY_RELOAD },
	{ "perfmgr", NULL, NO_PERFMGR },
	{ "permodlog", NULL, "debug" BY_RELOAD },
	{ "pm", NULL, NO_PERFMGR },
	{ "portstatus", NULL, "fmctl links, with --trouble or --degraded, and fmctl status" },
	{ "priority", NULL, "sm_priority" BY_RELOAD },
	{ "querylid", NULL, "smpquery nodeinfo LID, then fmctl nodes and fmctl links NAME" },
	{ "quit", NULL, "nothing: each command of fmctl ends by itself" },
	{ "reroute", NULL,
	    "fmctl sweep: what no longer holds is routed anew, and rebalance says when what was "
	    "repaired is" },
	{ "resweep", NULL, "fmctl sweep light or fmctl sweep heavy" },
	{ "status", "loop", "watch fmctl status" },
	{ "sweep", "off", "sweep_interval = 0 and sweep_on_trap = no" BY_RELOAD },
	{ "sweep", "on", "sweep_interval and sweep_on_trap = yes" BY_RELOAD },
	{ "switchbalance", NULL, BALANCE },
	{ "update_desc", NULL, "fmctl sweep heavy" },
	{ "version", NULL, "fmctl --version" },
};
#define N_COMMANDS (sizeof(commands) / sizeof(*commands))

const struct opensm_command *
opensm_command(size_t i)
{
	return i < N_COMMANDS ? &commands[i] : NULL;
}

const struct opensm_command *
opensm_command_find(const char *name, const char *word)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (strcmp(commands[i].name, name) == 0 &&
		    (commands[i].word == NULL ||
			(word != NULL && strcmp(commands[i].word, word) == 0)))
			return &commands[i];
	return NULL;
}
