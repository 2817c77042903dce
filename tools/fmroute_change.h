/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/fmroute_change.h - from one state of a fabric to the next, shown:
 * what diff and what-if report.
 */
#ifndef TOOLS_FMROUTE_CHANGE_H
#define TOOLS_FMROUTE_CHANGE_H

#include <jansson.h>

#include "core/plan/plan.h"
#include "lab/judge/compare.h"
#include "lab/judge/metrics.h"

/* A fabric with tables, judged.  Everything borrowed. */
struct state {
	struct snapshot *snap;
	struct tables *tables;	 /* NULL: nothing could be routed and proven */
	const struct plan *plan; /* NULL: the tables were given */
	uint16_t top_lid;
	struct verdict verdict;
	struct metrics metrics;
	const char *engine;
	double route_ms, verify_ms;
};

struct change {
	const struct state *before, *after; /* both with tables */
	struct compare_report report;
	double compare_ms;
};

/* The loads of the state, where it has tables. */
int state_measure(struct state *s, struct fm_pool *workers, struct fm_error *err);
/* Are its tables fit to be written? */
bool state_is_proven(const struct state *s);

/* change_fini() in any case. */
int change_find(const struct state *before, const struct state *after, struct fm_pool *workers,
    struct change *c, struct fm_error *err);
void change_fini(struct change *c);

void change_print(const struct change *c);
/* The keys of one change, as an object. */
json_t *change_json(const struct change *c);
/* Why there are no tables. */
void state_print_refusals(const struct state *s);
json_t *state_json(const struct state *s);

#endif
