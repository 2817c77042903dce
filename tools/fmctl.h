/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/fmctl.h - what the parts of fmctl share.
 *
 * A command is a row of fmctl_verbs[]: what it takes, how its answer is shown, what exit code it
 * makes.  The parser, --help, -h of a command and the completion come from there.  A command
 * that has no row is the daemon's all the same: it is sent, and its answer is shown as keys and
 * values.
 */
#ifndef TOOLS_FMCTL_H
#define TOOLS_FMCTL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "lib/error.h"

struct verb;

/* What the command line says. */
struct ask {
	const char *socket, *command;
	const struct verb *verb; /* NULL: no row has the command */
	char path[4096];	 /* where socket points with --state-dir */
	json_t *args;		 /* for the daemon */
	const char *part;	 /* of status or dist; NULL: not said */
	const char *file;	 /* of dist verify, counters, top; NULL: not said */
	const char *check;	 /* of export; NULL: not said */
	const char *auth_file;	 /* of dist peers; NULL: not said */
	unsigned timeout_s;	 /* 0: not said */
	unsigned last;		 /* of events: so many; 0: not said */
	bool filters;		 /* of events: since or kind is said */
	bool json, all, wait, follow, history, help;
};

struct verb {
	const char *name, *synopsis, *help;
	const char *more;     /* lines that -h has besides, or NULL */
	const char *words[3]; /* keys of what is given without KEY= */
	bool numbers;	      /* these are numbers */
	const char *flags;    /* that it takes, as --flag; a blank between */
	const char *pages;    /* key of the list that comes in pages, or NULL */
	/* NULL: keys and values */
	void (*show)(const struct ask *a, const json_t *result, FILE *out);
	/* The exit code of an answer, enum fmd_exit; NULL: FMD_EXIT_OK. */
	int (*judge)(const json_t *result);
};
extern const struct verb fmctl_verbs[]; /* a NULL name ends them */

/* fmctl_call.c: one question and its answer, a new reference; args is borrowed. */
int fmctl_ask(
    const struct ask *a, const char *command, json_t *args, json_t **result, struct fm_error *err);
/* 0 with a new reference in *result, all pages of it. */
int fmctl_call(const struct ask *a, json_t **result, struct fm_error *err);

/* fmctl_wait.c: until the sweep that `begun`, the answer to sweep or reload, speaks of has ended; a
 * line of progress goes to a terminal.  0 with the exit code in *code and why, as a sentence, in
 * *result. */
int fmctl_wait(
    const struct ask *a, const json_t *begun, int *code, json_t **result, struct fm_error *err);
/* ... until the turn of reading tables back has ended that `begun` speaks of. */
int fmctl_wait_tables(
    const struct ask *a, const json_t *begun, int *code, json_t **result, struct fm_error *err);

/* ... until the handover that `begun` speaks of has ended. */
int fmctl_wait_handover(
    const struct ask *a, const json_t *begun, int *code, json_t **result, struct fm_error *err);

/* fmctl_wait.c: the events of an answer, then those that come, till fmd or who reads is gone. */
int fmctl_follow(const struct ask *a, const json_t *shown, struct fm_error *err);
void fmctl_show_events(const struct ask *a, const json_t *result, FILE *out);

/* fmctl_dist.c: a host's file against what the SA says, a new reference. */
int fmctl_dist_verify(const struct ask *a, json_t **result, struct fm_error *err);
/* fmctl_peers.c: relays and agents, a new reference. */
int fmctl_dist_peers(const struct ask *a, json_t **result, struct fm_error *err);
void fmctl_show_dist_verify(const json_t *result, FILE *out);
void fmctl_show_peers(const json_t *result, FILE *out);

/* fmctl/topo.c: a fabric saved to a file, or compared with one, a new reference. */
int fmctl_topo(const struct ask *a, json_t **result, struct fm_error *err);
void fmctl_show_topo(const struct ask *a, const json_t *result, FILE *out);
int fmctl_judge_topo(const json_t *result);

/* fmctl/slurm.c: SLURM's topology.conf, or a site's against the fabric, a new reference. */
int fmctl_export(const struct ask *a, json_t **result, struct fm_error *err);
void fmctl_show_export(const struct ask *a, const json_t *result, FILE *out);

/* fmctl_table.c */
struct column {
	const char *heading;
	const char *key; /* "from.node"; NULL: say() has the words */
	void (*say)(const json_t *row, char *buf, size_t size);
	bool right; /* aligned */
};
/* The rows of an array under headings, "none" where there are none.  sorted: by columns, numbers
 * in names as numbers. */
void fmctl_table(
    const json_t *rows, const struct column *columns, size_t n_columns, bool sorted, FILE *out);
/* "from.node" of an object; NULL: it has none. */
const json_t *fmctl_find(const json_t *object, const char *key);
json_int_t fmctl_number(const json_t *object, const char *key);	 /* 0: none */
const char *fmctl_string(const json_t *object, const char *key); /* "": none */
/* Keys and values, nested ones further in. */
void fmctl_print(const json_t *value, FILE *out);
void fmctl_print_scalar(const json_t *value, FILE *out);

/* fmctl_counters.c */
#define CROSSING_PORTS 20 /* of which fmctl top asks whose routes cross them */
void fmctl_show_counters(const struct ask *a, const json_t *result, FILE *out);
void fmctl_show_top(const struct ask *a, const json_t *result, FILE *out);
int fmctl_judge_counters(const json_t *result);
int fmctl_judge_top(const json_t *result);

/* fmctl_show.c */
void fmctl_show_status(const struct ask *a, const json_t *result, FILE *out);
void fmctl_show_routes(const struct ask *a, const json_t *result, FILE *out);
void fmctl_show_regions(const struct ask *a, const json_t *result, FILE *out);
void fmctl_show_partitions(const struct ask *a, const json_t *result, FILE *out);
void fmctl_show_congestion(const struct ask *a, const json_t *result, FILE *out);
void fmctl_show_vfabrics(const struct ask *a, const json_t *result, FILE *out);
void fmctl_show_dist(const struct ask *a, const json_t *result, FILE *out);
void fmctl_show_nodes(const struct ask *a, const json_t *result, FILE *out);
void fmctl_show_links(const struct ask *a, const json_t *result, FILE *out);
void fmctl_show_path(const struct ask *a, const json_t *result, FILE *out);
void fmctl_show_verdict(const struct ask *a, const json_t *result, FILE *out);
void fmctl_show_trouble(const struct ask *a, const json_t *result, FILE *out);
void fmctl_show_health(const struct ask *a, const json_t *result, FILE *out);
/* Of sweep and reload, waited for or not. */
void fmctl_show_ending(const struct ask *a, const json_t *result, FILE *out);
void fmctl_show_ha(const struct ask *a, const json_t *result, FILE *out);
void fmctl_show_swept(const struct ask *a, const json_t *result, FILE *out);
void fmctl_show_reload(const struct ask *a, const json_t *result, FILE *out);
/* Of isolate and restore: what is isolated, or what it does. */
void fmctl_show_isolated(const struct ask *a, const json_t *result, FILE *out);
void fmctl_show_handover(const struct ask *a, const json_t *result, FILE *out);
void fmctl_show_commands(const struct ask *a, const json_t *result, FILE *out);
/* Something is wrong with the routes, or with what switches hold. */
int fmctl_judge_verdict(const json_t *result);
int fmctl_judge_dist(const json_t *result);
/* FMD_EXIT_OTHER_MASTER: it was left to the master. */
int fmctl_judge_swept(const json_t *result);
int fmctl_judge_reload(const json_t *result);
int fmctl_judge_path(const json_t *result);

#endif
