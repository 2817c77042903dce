/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/plan/plan.h - verified tables, what is known of them, and what is asked for.
 *
 * A plan is made of a snapshot by a chain of engines (core/route/route.h) and does not
 * change afterwards: snapshot, tables, verdict, who made them and who refused why.
 */
#ifndef CORE_PLAN_PLAN_H
#define CORE_PLAN_PLAN_H

#include "core/abi/options.h"
#include "core/cdg/deps.h"
#include "core/engine/router.h"
#include "core/graph/mcast_tree.h"
#include "core/graph/snapshot.h"
#include "core/graph/tables.h"
#include "core/verify/verify.h"
#include "lib/vec.h"

struct overlay; /* overlay.h */

struct chain_entry {
	const struct fm_engine *engine;
	const struct option_values *values; /* NULL = defaults */
	const char *name;		    /* as written: "fattree" or "fattree:pods" */
	/* NULL, or of an entry that `auto` stands for (auto.h): what the fabric then is */
	const char *because;
	/* [n_rivals] of such an entry: those whose tables are compared with its own */
	const struct chain_rival *rival;
	uint32_t n_rivals;
	int64_t time_limit_ms; /* 0 = none */
	/* NULL, or of the entry `chains`: its steps; the engine is a name then */
	const struct overlay *overlay;
};

struct chain_rival {
	struct chain_entry entry;
	uint64_t most; /* tables wait for it on fabrics of at most so many LIDs * links */
};

struct chain {
	const struct chain_entry *entries; /* [n_entries] */
	uint32_t n_entries;
	bool fallback;		 /* end with the core's up/down */
	bool allow_credit_loops; /* credit_loops = warn */
	uint64_t mark;		 /* stands for all that tables depend on besides the fabric */
};

struct plan_refusal {
	char engine[64];
	char reason[640];
	bool by_auto; /* `auto` asked this engine, nobody named it */
};

/* A LID that has entries, though nobody owns it now. */
struct plan_absent {
	uint16_t lid;
	int64_t since_ms; /* plan_request.now_ms of the first plan without it */
};

/* How the regions of a plan were joined (compose.h); the later need more VLs and SLs. */
enum plan_join {
	PLAN_ONE_REGION, /* nothing to join */
	PLAN_FLAT,	 /* one layer: the parts fit as they are */
	PLAN_ISLANDS,	 /* regions round one core: out by the nearest gateway, in likewise */
	PLAN_WHOLE	 /* not joined: one engine routed the whole fabric */
};
/* "flat", "islands", "whole"; "" for PLAN_ONE_REGION. */
const char *plan_join_name(enum plan_join join);

/* What became of one region. */
struct plan_region {
	char name[64];
	char engine[64];     /* the entry that routed it; "" : it has no switches, or PLAN_WHOLE */
	const char *because; /* why `auto` took it; NULL: it was named */
	bool
	    is_merged; /* routed as one region with the others that are (compose_merge_regions.c) */
	FM_VEC(struct plan_refusal) refused; /* entries of its chain */
	/* The busiest cable to other regions, by pairs of hosts */
	struct {
		double times; /* its load as a multiple of the mean, 0: nothing crosses */
		fm_sw sw;
		uint8_t port;
		bool in; /* into the region, else out */
	} busiest;
};

#define PLAN_CONGESTED 3.0 /* times the mean: more is warned of where there are islands */

/* Shared by the plans that keep the same tables. */
struct plan_regions {
	atomic_uint refs;
	enum plan_join join;
	uint32_t n;
	struct plan_region *region; /* [n] as in the region_set of the request */
	uint32_t n_switches;
	/* [n_switches] of a region that allows credit loops within: its number + 1, else 0;
	 * NULL: none does */
	uint16_t *loops_within;
};
struct plan_regions *plan_regions_get(struct plan_regions *r); /* NULL is fine */
void plan_regions_put(struct plan_regions *r);		       /* NULL is fine */

/* What leads from the plan before to this one. */
enum plan_change_kind {
	PLAN_FIRST,	/* nothing is known to be in the switches, or nothing changes */
	PLAN_LOSS,	/* a link or switch that carried traffic has gone */
	PLAN_RECOVERY,	/* links have come */
	PLAN_REBALANCE, /* the same links */
	PLAN_ENGINE	/* another engine or other options */
};
const char *plan_change_name(enum plan_change_kind kind);

/* Which of them may empty forwarding entries for a packet's life time, where no
 * order of writing is free of deadlocks (reconfig.h). */
enum plan_drain {
	PLAN_DRAIN_LOSS,   /* a loss only */
	PLAN_DRAIN_ALWAYS, /* another engine too */
	PLAN_DRAIN_NEVER   /* none: such entries are written like any others */
};

/* When repaired tables give way to those of a full route, if these carry at most
 * REBALANCE_PERCENT of their largest load and can be taken up without a drain. */
enum plan_rebalance {
	PLAN_REBALANCE_AUTO, /* never those of fattree, quietly those of others */
	PLAN_REBALANCE_NEVER,
	PLAN_REBALANCE_QUIET, /* in a pass by itself (plan_request.quiet) */
	PLAN_REBALANCE_ALWAYS /* with the repair */
};
#define REBALANCE_PERCENT 85

struct plan_change {
	enum plan_change_kind kind;
	uint32_t n_lids;	   /* LIDs with entries that change, if these were compared */
	uint32_t n_next_hop_first; /* of them, written next hop first on their new paths */
	uint32_t n_deferred;	   /* of them, written a packet's life time later */
	uint32_t n_drained;	   /* of them, emptied first */
	uint32_t n_cut;		   /* of the drained, LIDs whose old paths are whole */
	uint32_t n_kept_old;	   /* LIDs that keep their old entries */
	uint32_t n_stubs;  /* new switches that are stubs of the old tables at first (stub.c) */
	uint32_t n_leaves; /* stubs of earlier plans, while other tables wait to be taken up */
	uint32_t n_waived; /* LIDs that are written though packets might deadlock */
	/* SLs differ, and packets under the old SLs may deadlock with others until the hosts that
	 * send them have been notified and have asked again */
	bool sls_clash;
	bool whole_columns; /* entries that do not change are emptied, too */
	char waiting[320];  /* tables not taken up: what they would cost, and what to do */
};

/* For qsort(): by LID, then by switch; by switch, then by LID. */
int plan_entry_by_lid(const void *a, const void *b);
int plan_entry_by_switch(const void *a, const void *b);

/* Where the tables of a plan are from. */
enum plan_made {
	PLAN_ROUTED,
	PLAN_KEPT,    /* no engine ran for this plan, and no entry was chosen anew */
	PLAN_REPAIRED /* of those of plan number delta_base (repair.h) */
};

struct plan {
	atomic_uint refs;
	uint64_t number; /* of this plan, unlike any other's of the process; never 0 */
	struct snapshot *snap;
	struct snapshot *graph; /* the switches and cables that an engine made the tables for */
	struct tables *tables;
	uint64_t mark; /* of the chain that they are of, which q->chain may be no more */
	enum plan_made made;
	/* No engine of the chain could route: these are the tables there were, mended where they
	 * were cut, or the core's own up/down (route.h).  Not as configured. */
	bool mended;
	bool forward_only; /* free of credit loops by VERIFY_FORWARD only: replies are not proven */
	/* They differ from the tables of plan number delta_base in these entries, by switch and
	 * LID, and in nothing else.  delta_base 0: not known, compare the tables. */
	uint64_t delta_base;
	FM_VEC(struct plan_entry) delta;
	/* Some LIDs keep entries that were to revert, because no order of writing was found for
	 * them.  A quiet pass may find one when packets of older tables are gone. */
	bool may_go_back;
	bool rebalance_tried;  /* a full route was no better, or not to be had, when no packets of
				* older tables were under way */
	bool rivals_asked;     /* of the entry of `auto`, beside these tables (weigh.h) */
	bool groups_tried;     /* groups were asked of the engine, with these tables or for them */
	bool anew_tried;       /* pairs lack a path; a full route on these links joins no more */
	uint32_t delta_blocks; /* LFT blocks of 64 LIDs with such an entry */
	/* Entries that differ from the last full route, by LID and switch; port is
	 * the one it had there, to which a repair goes back as soon as it leads on. */
	FM_VEC(struct plan_entry) deviations;
	uint16_t top_lid;  /* highest LID with entries, at least snap's max_lid */
	uint32_t n_joined; /* ends on columns of others since an engine ran */
	FM_VEC(struct plan_absent) absent;
	struct verdict verdict; /* of tables; without them, of the last that failed it */
	char engine[64];	/* the entry that made the tables, "" when none did */
	const char *because;	/* why `auto` took it; NULL: it was named */
	char weighed[320]; /* "" or what `auto` measured of several engines, by which it chose */
	FM_VEC(struct plan_refusal) refused; /* of a composed plan: the joins, "flat", ... */
	struct plan_regions *regions;	     /* NULL: one region, or kept over a restart */
	/* Groups that were asked for and made, but given up: the witness of a credit
	 * loop over their alternatives.  The tables are static then. */
	char adaptive_given_up[640];
	struct plan_change change;
	struct mcast_trees *mcast; /* mcast_tree.h; NULL: not asked for */
	uint8_t *rules;	 /* [top_lid + 1] of writing (transition.h), malloced; NULL: all 0 */
	double route_ms; /* probe and route of the entry that took it */
	double verify_ms;
	double order_ms; /* of the order of writing, with all that it looks at */
};

/* A block of 64 LIDs in which a switch still holds other entries than those of the last plan:
 * writing was interrupted between two stages, or the switch did not take the block. */
struct plan_installed {
	fm_sw sw;
	uint32_t block;
	uint8_t bytes[64];
};

/* What the switches hold and packets have met, where that is not all prev's tables. */
struct plan_flight {
	/* The blocks that differ from prev's tables.  If there are any, packets of older tables may
	 * be under way, and no link of snap comes up now that prev's snapshot lacks. */
	const struct plan_installed *installed; /* [n_installed] */
	size_t n_installed;
	/* The entries were read from the switches, and it is not known whether they were proven
	 * together.  They count as the tables of one plan if they are free of credit loops. */
	bool found;
	bool choices;	 /* packets may be under way that have chosen by prev's groups */
	bool older;	 /* packets of tables before prev's may be under way */
	uint64_t oldest; /* number of the oldest plan whose packets may be; 0: not known */
};

/* What prev's tables are good for. */
enum plan_anew {
	PLAN_FROM_PREV, /* they are kept or repaired where they serve */
	PLAN_BY_CHAIN,	/* another chain, other options: they serve where no engine of it routes */
	/* entries of theirs that have no other path would lead over isolated cables */
	PLAN_WITHOUT_PREV
};

/* What rivals have come to that were asked beside the tables of `was` (core/route/weigh.h). */
struct plan_weighed {
	struct plan *was, *found; /* one reference each; found->tables NULL: nothing better */
};
void plan_weighed_put(struct plan_weighed *w); /* {NULL, NULL} afterwards, and is fine before */

/* What is to be routed; all borrowed, until the answer. */
struct region_set;
struct plan_request {
	struct snapshot *snap;
	/* NULL, or snap with cables that no entry is to use any more, and that packets pass till
	 * then */
	struct snapshot *wire;
	const struct route_settings *set; /* NULL: the router's */
	const struct chain *chain;
	/* NULL: one region, by chain.  Else region 0's chain is `chain` (core/regions/regions.h) */
	const struct region_set *regions;
	const uint16_t *sw_region; /* [n_switches] NULL: as regions says */
	struct plan *prev;	   /* the last plan, or NULL */
	bool prev_is_loaded;	   /* it is of the process before us: keeping it costs less than
				    * repairs, for which nothing is prepared */
	enum plan_anew anew;
	int64_t now_ms;	   /* of any steady clock */
	int64_t linger_ms; /* how long entries of an absent LID stay */
	enum plan_drain drain;
	enum plan_rebalance rebalance;
	bool quiet; /* nothing has happened since prev: asked to have entries go back, or to
		     * rebalance it */
	const struct plan_weighed *weighed; /* NULL, or to be taken up when it is quiet */
	struct plan_flight flight;
	uint16_t mcast_sls;  /* bit i: there are multicast groups of SL i; 0: no trees are wanted */
	uint8_t mcast_trees; /* at most so many */
};

/* A plan without tables; for who makes them.  NULL and FM_E_RESOURCE. */
struct plan *plan_new(struct snapshot *snap, struct fm_error *err);
/* Who made the tables of prev, of which chain, for which regions, is so of p, too. */
void plan_copy_maker(struct plan *p, const struct plan *prev);
struct plan *plan_get(struct plan *p);
void plan_put(struct plan *p);
uint32_t plan_count_blocks(const struct plan *p); /* of its delta */

static inline struct deps_side
deps_side(const struct plan *p)
{
	return (struct deps_side){ &p->snap->fab, &p->tables->t, p->top_lid };
}

/* The entry that routed the region of this name, or all of the plan; "" when none did.  By name, as
 * the plan may be older than the configuration. */
const char *plan_engine_of(const struct plan *p, const char *region);

/* The same VL for every SL, everywhere? */
bool plan_same_vls(const struct plan *a, const struct plan *b);

/* The number of pairs (end that sends, LID) that both plans have and that carry another SL now.
 * switches: [n_switches] bits, zeroed; each switch whose rows of SLs differ is set.  That counts
 * ends that neither plan has: they have been answered SLs, too, and others have for them. */
uint64_t plan_other_sls(const struct plan *was, const struct plan *is, uint64_t *switches);

/* By which SLs the tables of p are proven. */
static inline enum verify_sl_model
plan_sl_model(const struct router *r, const struct plan *p)
{
	return p->forward_only ? VERIFY_FORWARD : r->set.sl_model;
}

/* A steady clock. */
double plan_now_ms(void);

#endif
