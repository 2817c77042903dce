/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/route/entry.h - one entry of a chain: what it makes, and the verdict on that.
 *
 * Cost: one call of its engine; one verification.
 */
#ifndef CORE_ROUTE_ENTRY_H
#define CORE_ROUTE_ENTRY_H

#include "core/plan/plan.h"

/* What the chain is tried with. */
struct search {
	struct router *r;
	struct plan *p;		 /* gets what is found, and why the others were refused */
	const struct plan *prev; /* NULL: none */
	bool allow_credit_loops;
	int64_t most_ms; /* no engine routes for longer; 0: as its entry says */
};

/* What an entry has made. */
struct candidate {
	const struct chain_entry *entry;
	struct tables *tables; /* one reference; NULL: none */
	struct verdict verdict;
	double route_ms, verify_ms;
	char adaptive_given_up[sizeof(((struct plan *)NULL)->adaptive_given_up)];
	size_t refused; /* its place in the plan's list */
};

/* Its tables; that it refuses is no failure of the plan's, and *why says it. */
int entry_route(struct search *s, struct candidate *c, struct fm_error *why);
/* The verdict on the tables of c.  Alternatives that close a credit loop are
 * given up for the static routes among them: better those of the engine the
 * administrator wants than the alternatives of the next.  FM_E_RESOURCE. */
int entry_judge(struct search *s, struct candidate *c, struct fm_error *err);

#endif
