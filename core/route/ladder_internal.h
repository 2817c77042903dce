/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/route/ladder_internal.h - what the parts of the ladder share.
 *
 *	ladder.c	the steps
 *	ladder_counts.c	what the LIDs depend on that stay
 *	ladder_rest.c	who is left over
 *	ladder_resume.c	where writing was broken off
 */
#ifndef CORE_ROUTE_LADDER_INTERNAL_H
#define CORE_ROUTE_LADDER_INTERNAL_H

#include "core/route/deps.h"
#include "core/route/ladder.h"
#include "core/route/levels.h"
#include "lib/acyclic.h"

enum mark { UNPLACED, PLACED_FREE, PLACED_ORDERED, SETTLED, LEFT };

struct climb {
	const struct fm_fabric *fab;
	struct deps *deps;
	struct fm_acyclic *graph;
	struct odd_graph *odd; /* in its place */
	uint8_t *rules;	       /* [top_lid + 1] */
	uint8_t *mark;	       /* [top_lid + 1] */
	FM_VEC(uint16_t) lids; /* that change */
	uint32_t n_vls;
	/* sets of dependencies: bit (slot of the link out * n_vls + its VL) of row[vertex] */
	size_t *row; /* [n_vertices + 1] first word */
	uint64_t *bits;
	uint64_t *staying; /* the same of the LIDs that do not change, [row[n_vertices]] */
	bool clashes;	   /* old and new SLs together have a cycle, in old tables or in new ones */
	bool counted;	   /* from counts that may be too high */
	uint32_t *position; /* [n_vertices] in an order of the old dependencies */
	uint32_t n_unplaced;
	enum verify_sl_model model;
	/* writing was broken off: q->prev of the climb is what the switches hold */
	const struct plan *aim; /* where it was to lead; else NULL */
};

/* ladder_counts.c: words of bits (slot of the link out * n_vls + its VL) for each (link, VL):
 * [n_links * n_vls + 1] where they begin, malloced.  NULL: out of memory. */
size_t *ladder_rows(const struct fm_fabric *fab, uint32_t n_vls);
/* ladder.c */
bool ladder_has_link(const struct fm_fabric *fab, fm_sw sw, fm_sw to, uint8_t port);
/* ladder_resume.c: the same SL for every path that both know? */
bool ladder_same_sls(const struct plan *was, const struct plan *now);

/* ladder_counts.c: what the LIDs depend on that do not change from prev to p, into c->bits,
 * which are empty.  *noted false: there would be too much to count, nothing is done.
 * False: out of memory. */
bool ladder_note_staying(
    struct router *r, const struct plan *prev, const struct plan *p, struct climb *c, bool *noted);
void ladder_counts_forget(struct router *r);
/* p is what came of the climb; NULL: nothing. */
void ladder_counts_end(struct router *r, const struct plan *p);
/* p has the tables of prev. */
void ladder_counts_keep(struct router *r, const struct plan *prev, const struct plan *p);

/* All dependencies of a LID into the graph, or none; *fits.  False: no memory. */
bool ladder_insert(struct climb *c, uint16_t lid, enum deps_mode mode, bool *fits);
bool ladder_take_out(struct climb *c, uint16_t lid, enum deps_mode mode);

/* What the switches hold, as a plan on the way to q->prev.  NULL: *err. */
struct plan *ladder_resume(struct router *r, const struct plan_request *q, struct fm_error *err);
/* Those without a step wait for the life time of older packets. */
void ladder_put_off(struct climb *c, const struct plan *from, const struct plan *p);

/* Some found no step: they stay, are drained, or *plan gives way to another. */
int ladder_rest(struct router *r, const struct plan_request *q, struct climb *c, struct plan **plan,
    struct fm_error *err);

#endif
