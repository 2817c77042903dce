/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab/judge/props_internal.h - what the files of props.h share.
 *
 *	props_run.c	one call of an engine on a router, and what is learned of it
 *	props_rows.c	what is written, and where
 *	props.c		the properties, one after the other
 */
#ifndef LAB_JUDGE_PROPS_INTERNAL_H
#define LAB_JUDGE_PROPS_INTERNAL_H

#include "lab/judge/metrics.h"
#include "lab/judge/props.h"

#define PROPS_POISON 254 /* no port of any switch but those with all 254 */

struct props_entry {
	fm_sw sw; /* FM_NONE: there is none */
	uint32_t lid;
};

/* One call on its own router; the digest, and the tables if wanted. */
struct props_trial {
	unsigned n_workers;
	uint64_t fail_at;
	uint64_t digest;
	struct verdict *verdict;       /* NULL: not wanted */
	struct metrics *metrics;       /* NULL: not wanted */
	struct props_entry *unwritten; /* NULL: not wanted */
	bool poison;		       /* leave the rows full of POISON behind */
	bool stopped;		       /* should_stop() is true from the start */
	struct tables **keep;	       /* NULL, or takes a reference to the tables */
};

/* A call on router r, and one on a kept router or one of its own. */
int props_run(const struct props *p, struct router *r, struct props_trial *t, struct fm_error *err);
int props_run_with(const struct props *p, struct props_trial *t, struct fm_error *err);

/* For props.trying. */
void props_trying(const struct props *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* "what: detail" into report. */
enum props_outcome props_broken(char *report, size_t room, const char *what, const char *detail);

/* Every row written whole, where that is promised; nothing written beside the rows. */
enum props_outcome props_check_rows(
    const struct props *p, uint64_t digest, char *report, size_t room);
enum props_outcome props_check_bounds(const struct props *p, char *report, size_t room);
/* The first entry in which b differs from a, as a sentence. */
void props_tell_difference(const struct fm_fabric *fab, const struct fm_tables *a,
    const struct fm_tables *b, char *out, size_t room);

#endif
