/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/transition/reconfig_internal.h - what the parts of a reconfiguration share.  Each calls only
 * those above it:
 *
 *	reconfig_compare.c	what two plans have in common
 *	reconfig_graph.c	dependencies of a LID into the graph and out of it
 *	reconfig_counts.c	dependencies of the LIDs that do not change, counted
 *	reconfig_entries.c	one VL: the dependencies that follow from single entries
 *	reconfig_partition.c	old and new SLs that have a cycle together
 *	reconfig_steps.c	a step for each LID that changes
 *	stub.c			new switches as stubs of the old tables
 *	reconfig_conflicts.c	the LIDs that found no step
 *	reconfig_resume.c	where writing was interrupted
 *	reconfig.c		from one plan to the next
 *
 * Functions that return bool without more said return false when out of memory.
 */
#ifndef CORE_TRANSITION_RECONFIG_INTERNAL_H
#define CORE_TRANSITION_RECONFIG_INTERNAL_H

#include "core/cdg/deps.h"
#include "core/plan/levels.h"
#include "core/transition/reconfig.h"
#include "lib/algo/acyclic.h"

/* What was found for a LID that changes. */
enum mark {
	CONFLICTING,	/* no step, so far */
	ANY_ORDER,	/* in the step being filled */
	NEXT_HOP_FIRST, /* likewise */
	WRITTEN,	/* in a step before; its old packets are gone */
	KEEPS_OLD	/* it conflicts, and its old entries stay */
};

struct kept_deps {
	struct dep *list; /* [n] malloced; NULL: not known */
	uint32_t n;
};
struct reconfig {
	const struct fm_fabric *fab, *usable; /* of all entries; of new ones, perhaps less */
	struct fm_fabric was;		      /* fab, as far as the tables before have rows */
	struct deps *deps;
	struct fm_acyclic *graph;
	struct turn_graph *turns; /* where levels say enough: in place of graph */
	uint8_t *rules;		  /* [top_lid + 1] of writing (transition.h) */
	uint8_t *mark;		  /* [top_lid + 1] enum mark */
	uint8_t *arrivals;	  /* [2 * n_switches] room of reconfig_old_path_is_whole() */
	FM_VEC(uint16_t) lids;	  /* that change */
	uint32_t n_vls, n_conflicting;
	/* sets of dependencies: bit (slot of the link out * n_vls + its VL) of row[vertex] */
	size_t *row; /* [n_vertices + 1] first word */
	uint64_t *bits;
	uint64_t *staying;  /* the same of the LIDs that do not change, [row[n_vertices]] */
	bool clashes;	    /* old and new SLs together have a cycle, in old or in new tables */
	bool counted;	    /* from counts that may be too high */
	uint32_t *position; /* [n_vertices] in an order of the old dependencies */
	bool parted;	    /* conflicting LIDs are drained whole, all others are proven together */
	uint32_t n_cut; /* conflicting LIDs whose old paths are whole; by reconfig_partition() */
	enum verify_sl_model model;
	struct kept_deps *kept; /* [max_lid + 1][4] by LID and mode; NULL: nothing is kept */
	size_t n_kept_bytes;
	struct reconfig_entries *local;	     /* entry by entry; else NULL */
	bool in_flight, in_flight_by_levels; /* as in plan_request, or writing was interrupted */
	const struct plan *target; /* of writing that was interrupted at q->prev; else NULL */
};

/* What all LIDs depend on, counted (reconfig_counts.c). */
struct reconfig_counts {
	uint64_t plan;	       /* its number; 0: there is none yet */
	struct snapshot *snap; /* one reference: links have its numbers */
	enum verify_sl_model model;
	uint32_t n_vls;
	uint8_t *source; /* [n_switches] 1: an end there sends */
	size_t *row;	 /* [n_vertices + 1] words, as reconfig_rows() */
	uint16_t *n;	 /* [64 * row[n_vertices]] LIDs that have the dependency */
	FM_VEC(uint16_t) missing;
};

/* reconfig_compare.c; dependencies are those on c->fab, NULL: out of memory */
struct deps *reconfig_deps(const struct reconfig *c, const struct plan *prev, const struct plan *p);
enum plan_change_kind reconfig_kind(const struct plan_request *q, const struct plan *p);
bool reconfig_has_link(const struct fm_fabric *fab, fm_sw sw, fm_sw to, uint8_t port);
bool reconfig_is_owned(const struct fm_fabric *fab, uint32_t lid);
/* Is the SL of every path that both know the same? */
bool reconfig_same_sls(const struct plan *was, const struct plan *now);
/* Do packets from all switches that p joins to the LID arrive by the old entries as well? */
bool reconfig_old_path_is_whole(
    const struct reconfig *c, const struct plan *old, const struct plan *p, uint16_t lid);

/* reconfig_graph.c: as deps_of(), by c->kept */
bool reconfig_list_deps(
    struct reconfig *c, uint16_t lid, enum deps_mode mode, const struct dep **list, size_t *n);
void reconfig_free_kept(struct reconfig *c);
/* All dependencies of a LID into the graph, or none: *fits. */
bool reconfig_insert(struct reconfig *c, uint16_t lid, enum deps_mode mode, bool *fits);
bool reconfig_remove(struct reconfig *c, uint16_t lid, enum deps_mode mode);

/* reconfig_counts.c: where the words of bits (slot of the link out * n_vls + its VL) of each
 * (link, VL) begin, [n_links * n_vls + 1], malloced.  NULL: out of memory. */
size_t *reconfig_rows(const struct fm_fabric *fab, uint32_t n_vls);
/* Dependencies of the LIDs that do not change from prev to p into c->bits, which are empty.
 * *noted false: there are too many to count, and nothing is done. */
bool reconfig_note_staying(struct router *r, const struct plan *prev, const struct plan *p,
    struct reconfig *c, bool *noted);
void reconfig_counts_forget(struct router *r);
size_t reconfig_count_place(const struct reconfig_counts *k, const struct dep *d); /* in k->n */
bool reconfig_count_lid(
    struct reconfig_counts *k, struct deps *d, uint16_t lid, int by); /* 1, -1 */
/* Dependencies by the tables of p on the links that are counted.  NULL: out of memory. */
struct deps *reconfig_deps_by(const struct reconfig_counts *k, const struct plan *p);
bool reconfig_count_missing(struct reconfig_counts *k, const struct plan *p);
/* r->counts by the links of snap; NULL then: there are too many. */
bool reconfig_renumber_counts(struct router *r, struct snapshot *snap);
void reconfig_note_counted(struct reconfig *c, const struct reconfig_counts *k); /* c->bits */
/* For tests: are the counts those of the tables of p?  What is not is logged. */
bool reconfig_check_counts(const struct reconfig_counts *k, const struct plan *p);
/* p is what came of the reconfiguration; NULL: nothing. */
void reconfig_counts_end(struct router *r, const struct plan *p);
void reconfig_counts_keep(struct router *r, const struct plan *prev, const struct plan *p);
/* reconfig_entries.c: sets c->local, or leaves it NULL where single entries do not suffice. */
bool reconfig_entries_begin(
    struct router *r, const struct plan *prev, const struct plan *p, struct reconfig *c);
void reconfig_entries_free(struct reconfig_entries *l); /* NULL is fine */
/* What all LIDs depend on, those that change by the mode, into c->bits. */
void reconfig_entries_note(struct reconfig *c, enum deps_mode mode);
/* From now on nothing is counted that closes a cycle.  What is counted has none. */
bool reconfig_entries_use_graph(struct reconfig *c);
/* The LID depends on what the mode says, and on nothing else; not *fits: as before. */
bool reconfig_entries_set(struct reconfig *c, uint16_t lid, enum deps_mode mode, bool *fits);
bool reconfig_entries_is_exact(const struct reconfig *c); /* do all switches send, as assumed? */
bool reconfig_entries_end(
    struct router *r, struct reconfig *c, const struct plan *p, bool all_stay);

bool reconfig_partition(struct reconfig *c, const struct plan *prev, const struct plan *p);
/* reconfig_steps.c; *needed false: all LIDs may be written in any order. */
bool reconfig_find_steps(struct reconfig *c, struct router *r, const struct plan *prev,
    const struct plan *p, bool *needed);
/* For c->lids, in a graph that has what is installed. */
bool reconfig_take_steps(struct reconfig *c);
/* Conflicting LIDs keep their entries, are drained, or *plan gives way to another. */
int reconfig_resolve_conflicts(struct router *r, const struct plan_request *q, struct reconfig *c,
    struct plan **plan, struct fm_error *err);
/* What is installed, as a plan on the way to q->prev.  NULL: *err. */
struct plan *reconfig_resume(struct router *r, const struct plan_request *q, struct fm_error *err);
/* LIDs without a step wait until packets in flight are gone. */
void reconfig_defer_all(struct reconfig *c, const struct plan *p);

#endif
