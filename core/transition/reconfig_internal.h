/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/transition/reconfig_internal.h - what the parts of the ladder share.
 *
 *	reconfig.c	from one plan to the next
 *	reconfig_steps.c	the steps
 *	reconfig_counts.c	what the LIDs depend on that stay
 *	reconfig_entries.c	one VL: entry by entry
 *	reconfig_partition.c	old and new SLs that have a cycle together
 *	reconfig_conflicts.c	who is left over
 *	reconfig_resume.c	where writing was broken off
 */
#ifndef CORE_TRANSITION_RECONFIG_INTERNAL_H
#define CORE_TRANSITION_RECONFIG_INTERNAL_H

#include "core/cdg/deps.h"
#include "core/plan/levels.h"
#include "core/transition/reconfig.h"
#include "lib/algo/acyclic.h"

enum mark { CONFLICTING, ANY_ORDER, NEXT_HOP_FIRST, WRITTEN, KEEPS_OLD };

struct kept_deps {
	struct dep *list; /* malloced; NULL: not known */
	uint32_t n;
};

struct reconfig {
	const struct fm_fabric *fab;
	struct deps *deps;
	struct fm_acyclic *graph;
	struct odd_graph *odd; /* in its place */
	uint8_t *rules;	       /* [top_lid + 1] */
	uint8_t *mark;	       /* [top_lid + 1] */
	uint8_t *arrivals;     /* [2 * n_switches] of reconfig_old_path_is_whole() */
	FM_VEC(uint16_t) lids; /* that change */
	uint32_t n_vls;
	/* sets of dependencies: bit (slot of the link out * n_vls + its VL) of row[vertex] */
	size_t *row; /* [n_vertices + 1] first word */
	uint64_t *bits;
	uint64_t *staying; /* the same of the LIDs that do not change, [row[n_vertices]] */
	bool clashes;	   /* old and new SLs together have a cycle, in old tables or in new ones */
	bool counted;	   /* from counts that may be too high */
	uint32_t *position; /* [n_vertices] in an order of the old dependencies */
	uint32_t n_conflicting;
	/* by reconfig_partition(): who is not placed is drained whole, all others are proven
	 * together */
	bool parted;
	uint32_t n_cut; /* ... of them, whose old ways are whole */
	enum verify_sl_model model;
	struct kept_deps *kept; /* [max_lid + 1][4] by LID and mode; NULL: nothing is kept */
	size_t n_kept_bytes;
	struct reconfig_entries *local;	     /* entry by entry; else NULL */
	bool in_flight, in_flight_by_levels; /* as in plan_request, or writing was broken off */
	/* writing was broken off: q->prev of the climb is what the switches hold */
	const struct plan *target; /* where it was to lead; else NULL */
};

/* What all LIDs depend on, counted (reconfig_counts.c). */
struct reconfig_counts {
	uint64_t plan;	       /* its number; 0: there is none yet */
	struct snapshot *snap; /* one reference: links have its numbers */
	enum verify_sl_model model;
	uint32_t n_vls;
	uint8_t *source; /* [n_switches] */
	size_t *row;	 /* [n_vertices + 1] words, as reconfig_rows() */
	uint16_t *n;	 /* [64 * row[n_vertices]] LIDs that have the dependency */
	FM_VEC(uint16_t) missing;
};

/* reconfig_counts.c: words of bits (slot of the link out * n_vls + its VL) for each (link, VL):
 * [n_links * n_vls + 1] where they begin, malloced.  NULL: out of memory. */
size_t *reconfig_rows(const struct fm_fabric *fab, uint32_t n_vls);
/* reconfig.c */
bool reconfig_has_link(const struct fm_fabric *fab, fm_sw sw, fm_sw to, uint8_t port);
/* reconfig_resume.c: the same SL for every path that both know? */
bool reconfig_same_sls(const struct plan *was, const struct plan *now);

/* reconfig_counts.c: what the LIDs depend on that do not change from prev to p, into c->bits,
 * which are empty.  *noted false: there would be too much to count, nothing is done.
 * False: out of memory. */
bool reconfig_note_staying(struct router *r, const struct plan *prev, const struct plan *p,
    struct reconfig *c, bool *noted);
void reconfig_counts_forget(struct router *r);
bool reconfig_is_owned(const struct fm_fabric *fab, uint32_t lid);
/* Of a dependency the place in k->n. */
size_t reconfig_count_place(const struct reconfig_counts *k, const struct dep *d);
/* One LID more, or (by -1) less.  False, as of those below: out of memory. */
bool reconfig_count_lid(struct reconfig_counts *k, struct deps *d, uint16_t lid, int by);
/* What LIDs depend on by the tables of p, on the links that the counts are of.  NULL: out of
 * memory. */
struct deps *reconfig_deps_by(const struct reconfig_counts *k, const struct plan *p);
/* Those that are missing, by the tables of their plan. */
bool reconfig_count_missing(struct reconfig_counts *k, const struct plan *p);
/* r->counts by the links of snap; NULL then: there would be too many of them. */
bool reconfig_renumber_counts(struct router *r, struct snapshot *snap);
/* Into c->bits, which are empty. */
void reconfig_note_counted(struct reconfig *c, const struct reconfig_counts *k);
/* Tests: are they those of the tables of p, no more and no less?  What is not is logged. */
bool reconfig_check_counts(const struct reconfig_counts *k, const struct plan *p);
/* p is what came of the climb; NULL: nothing. */
void reconfig_counts_end(struct router *r, const struct plan *p);
/* p has the tables of prev. */
void reconfig_counts_keep(struct router *r, const struct plan *prev, const struct plan *p);

/* reconfig_entries.c: counts of prev on the links of p, and what changes with the entries of
 * c->lids.  c->local NULL: they do not serve.  False: out of memory. */
bool reconfig_entries_begin(
    struct router *r, const struct plan *prev, const struct plan *p, struct reconfig *c);
/* All that LIDs depend on, by mode those that change, into c->bits. */
void reconfig_entries_note(struct reconfig *c, enum deps_mode mode);
/* From now on nothing is counted that closes a cycle.  What is counted has none. */
bool reconfig_entries_use_graph(struct reconfig *c);
/* The LID depends on what the mode says, and on nothing else; not *fits: as before. */
bool reconfig_entries_set(struct reconfig *c, uint16_t lid, enum deps_mode mode, bool *fits);
/* Packets of all switches are counted: are there ends at all that send? */
bool reconfig_entries_is_exact(const struct reconfig *c);
/* Count what came of the climb: the new entries, of those that stay the old ones. */
bool reconfig_entries_end(
    struct router *r, struct reconfig *c, const struct plan *p, bool all_stay);
void reconfig_entries_free(struct reconfig_entries *l); /* NULL is fine */

/* reconfig_steps.c: steps for all that change; *needed false: all are free.  False, as of those
 * below: out of memory. */
bool reconfig_find_steps(struct reconfig *c, struct router *r, const struct plan *prev,
    const struct plan *p, bool *needed);
/* For c->lids, in a graph that has what is in the switches. */
bool reconfig_take_steps(struct reconfig *c);
void reconfig_free_kept(struct reconfig *c);
/* All dependencies of a LID into the graph, or none; *fits.  False: no memory. */
bool reconfig_insert(struct reconfig *c, uint16_t lid, enum deps_mode mode, bool *fits);
bool reconfig_remove(struct reconfig *c, uint16_t lid, enum deps_mode mode);

/* What the switches hold, as a plan on the way to q->prev.  NULL: *err. */
struct plan *reconfig_resume(struct router *r, const struct plan_request *q, struct fm_error *err);
/* Those without a step wait for the life time of older packets. */
void reconfig_defer_all(struct reconfig *c, const struct plan *p);

/* reconfig_conflicts.c: do packets of all ends that the new entries bring to the LID arrive by the
 * old ones as well? */
bool reconfig_old_path_is_whole(
    const struct reconfig *c, const struct plan *old, const struct plan *p, uint16_t lid);
/* reconfig_partition.c: part the LIDs in those that go on and those that are drained whole. */
bool reconfig_partition(struct reconfig *c, const struct plan *prev, const struct plan *p);
/* Some found no step: they stay, are drained, or *plan gives way to another. */
int reconfig_resolve_conflicts(struct router *r, const struct plan_request *q, struct reconfig *c,
    struct plan **plan, struct fm_error *err);

#endif
