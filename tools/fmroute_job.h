/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/fmroute_job.h - what the subcommands that need tables share: their
 * options, and the road from a fabric file to tables and a verdict.
 */
#ifndef TOOLS_FMROUTE_JOB_H
#define TOOLS_FMROUTE_JOB_H

#include <getopt.h>
#include <jansson.h>
#include <stdbool.h>

#include "core/conf/conf.h"
#include "core/plan/plan.h"
#include "lab/judge/metrics.h"
#include "lab/topo/netlist.h"

#define MAX_WORDS 64
#define EXIT_NOT_ROUTED 3
#define JOB_FABRIC_FILE "fabric.net" /* beside the tables of --dump */

/* What the command line asks for. */
struct task {
	const char *fabric, *tables; /* files; tables: check only */
	const char *config, *dump_dir;
	char *words; /* of --engine, cut up */
	const char *chain[MAX_WORDS], *plugin_dirs[MAX_WORDS + 1];
	size_t n_chain, n_plugin_dirs;
	const char *vls, *lmc, *workers;
	const char *names; /* --node-name-map */
	bool adaptive;	   /* --ar */
	const char *max_groups;
	unsigned n_repeat;
	bool stats, json;
	bool regions, regions_as_found; /* --regions, --regions=found */
};

struct job {
	const struct task *task;
	struct engine_set engines;
	struct conf *conf;
	const struct snapshot *lids; /* borrowed: its LIDs for a fabric that has none; or NULL */
	struct netlist netlist;
	struct snapshot *snap;
	struct router router;
	uint16_t *sw_region; /* [n_switches], for --regions */
	json_t *regions;     /* and what they are and became */
	/* the result */
	struct plan *plan;     /* route */
	struct tables *tables; /* check: own; route: of the plan */
	struct verdict verdict;
	struct metrics metrics;
	bool has_metrics;
	const char *engine;
	double route_ms, verify_ms, wall_ms;
	double memory_mb; /* of the process at its largest, before the statistics */
};

/* Rows of getopt_long() for job_take_option(). */
#define JOB_OPTIONS \
	{ "engine", required_argument, NULL, 'e' }, { "config", required_argument, NULL, 'c' }, \
	    { "vls", required_argument, NULL, 'v' }, { "lmc", required_argument, NULL, 'l' }, \
	    { "workers", required_argument, NULL, 'w' }, { "json", no_argument, NULL, 'j' }, \
	    { "plugin-dir", required_argument, NULL, 'p' }, \
	    { "node-name-map", required_argument, NULL, 'm' }, \
	{ \
		"ar", optional_argument, NULL, 'a' \
	}

/* An option of these rows, with optarg; word is what was written.  FM_E_CONFIG
 * also for all that is none of them. */
int job_take_option(struct task *t, int option, const char *word, struct fm_error *err);
/* "fattree,updn" as of --engine. */
int job_split_chain(struct task *t, const char *list, struct fm_error *err);

/* job->task to engines, configuration and workers; then its fabric. */
int job_prepare(struct job *job, struct fm_error *err);
/* The graph of job->netlist as it is now: *out, one reference. */
int job_snapshot(struct job *job, bool fresh_lids, struct snapshot **out, struct fm_error *err);
/* job->tables from a file or a folder that --dump wrote, with their verdict. */
int job_check(struct job *job, const char *given, struct fm_error *err);
void job_release(struct job *job);

#endif
