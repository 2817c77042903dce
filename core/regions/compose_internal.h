/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/regions/compose_internal.h - what the parts of compose share.
 *
 * Switches are numbered as in the whole fabric unless they are called local.
 * A piece's *gates* are its switches with cables to other pieces, its *exits*
 * those cables, its *sides* the pieces they lead to.
 */
#ifndef CORE_REGIONS_COMPOSE_INTERNAL_H
#define CORE_REGIONS_COMPOSE_INTERNAL_H

#include "core/engine/ordered.h"
#include "core/regions/compose.h"
#include "core/regions/regions.h"
#include "lib/error.h"
#include "lib/vec.h"

#define N_SLS 16u
#define NO_EXIT UINT16_MAX
#define LOST_EXIT (NO_EXIT - 1) /* while gateways are chosen: the cable there was is gone */
/* What an SL means inside a piece: below FOREIGN the engine's own SL, for local LIDs;
 * else a plane. */
#define FOREIGN 16u
#define NO_VALUE 255u

struct exit {
	fm_link link;
	fm_sw near, far;
	uint32_t to;		      /* piece */
	uint32_t near_gate, far_gate; /* numbers among the gates of their pieces */
	uint32_t nth;		      /* among those to the same far switch */
	uint32_t n_lids;	      /* that leave by it */
	bool is_new;		      /* the plan before did not have it */
};

struct side {
	uint32_t piece;
	uint32_t first_exit, n_exits; /* into the piece's exits */
};

struct piece {
	uint16_t region;
	fm_sw *sw; /* [n] ascending */
	uint32_t n;
	struct side *side; /* [n_sides] ascending by piece */
	uint32_t n_sides;
	struct exit *exit; /* [n_exits] by (side, nth, far switch) */
	uint32_t n_exits;
	fm_sw *gate; /* [n_gates] local, ascending */
	uint32_t n_gates;
	uint16_t *dist;	      /* [n_gates][n] hops inside the piece */
	uint8_t *gate_serves; /* [n_gates] all switches with sources reach it */
	uint8_t *reach;	      /* [n][n] local; 0: the engine has no route.  NULL: it has all */
	uint32_t n_sources;   /* ends that send */
	uint16_t *lid;	      /* [n_lids] hosts' first, switch by switch */
	uint32_t n_lids, n_host_lids;
	uint32_t first_host,
	    first_other; /* numbers of its first LIDs among all hosts', all others' */
	uint32_t component;
	uint8_t n_vls; /* least of its cables and the router */
	bool mended;   /* an island of which some columns are not those of its nearest gates */
	/* as routed */
	uint64_t routed_mark;  /* of what it was last routed with; 0: not yet */
	struct snapshot *view; /* of an engine with SLs, with its tables */
	struct tables *tables;
	struct {
		uint64_t routed_mark;
		struct snapshot *view;
		struct tables *tables;
	} other; /* as routed for the other kind of rung: for islands, or not */
};

struct region_state {
	uint32_t at;				 /* entry of the chain that has the word */
	uint32_t n_switches, n_pieces, n_routed; /* n_routed: of more than one switch */
	uint8_t most_vls;			 /* its engine uses by itself */
	bool is_merged;				 /* its switches are of region composer.merged */
};

/* Who is above whom, and the ways that follow. */
struct order {
	struct ordered_graph graph; /* of pieces */
	uint16_t *level;	    /* [n_pieces] */
	uint16_t *rank;		    /* [n_pieces][n_pieces] of the second on the way to the first */
	uint8_t *down;		    /* likewise: goes down all the way */
};

struct composer {
	struct router *r;
	const struct plan_request *q;
	const struct region_set *set;
	struct snapshot *snap;
	const struct fm_fabric *fab;
	struct fm_arena mem;
	struct plan *p;
	const struct plan_regions *was; /* whose order and islands are to stay; NULL: nobody's */
	bool goes_on;			/* begins where its climb ended (compose_begin.c) */
	struct region_state *region;	/* [set->n_regions] */
	const uint16_t *sw_region;	/* [n_switches] */
	uint32_t merged;	  /* region that is the core of many (compose_unite.c), FM_NONE */
	const uint16_t *sw_named; /* [n_switches] of the configuration, whoever is merged */

	uint32_t n_pieces;
	struct piece *piece;
	uint32_t *sw_piece;   /* [n_switches] FM_NONE: gone */
	uint32_t *sw_local;   /* [n_switches] */
	uint32_t *sw_gate;    /* [n_switches] FM_NONE: no gate */
	uint32_t *link_exit;  /* [n_links] among its piece's, FM_NONE: inside */
	fm_link *link_number; /* [n_links] in the view being made */
	uint32_t *lid_piece;  /* [max_lid + 1] FM_NONE: nobody's */
	size_t n_lid_room;    /* max_lid + 1 */

	struct order whole;	   /* of all pieces */
	struct order inner;	   /* of the core, while there are islands: these touch nothing */
	const struct order *order; /* of the two the one for the rung in hand */

	/* the rung in hand */
	bool islands, phases;
	uint32_t core;	 /* the only piece with several neighbours, or FM_NONE */
	uint8_t *island; /* [n_pieces] 1: an island, if the rung is islands; 0: of the core */
	/* [n_switches] 1: on the credit loop that was found in the tables judged last, and in
	 * those of the rung flat */
	uint8_t *on_cycle, *flat_cycle;
	uint32_t *lid_home; /* [n_lid_room] of islands: the piece of the core that hands it over */
	uint16_t *gateway;  /* [n_pieces][n_lid_room] exit of the piece, or NO_EXIT */
	fm_sw *was_behind;  /* [n_switches][256] behind a port in the plan before; NULL: none */
	struct tables *tables, *other; /* other: for the other kind of rung */
	/* who stands in the way: a region whose engine fails or cannot serve a gateway */
	uint32_t blamed; /* FM_NONE: nobody */
	bool by_order;	 /* ... as gateways are: by another order it might do */
	char blame[640];
	char reason[640]; /* why the tables judged last will not do */

	/* SLs of the rung in hand */
	uint8_t *n_planes; /* [n_pieces] planes that its channels carry */
	uint8_t *lower;	   /* [n_pieces] the lesser of them */
	uint16_t *own_sls; /* [n_pieces][n_pieces] source, destination: engine's SLs, as bits */
	uint8_t (*sl_of)[N_SLS]; /* [n_pieces][n_pieces] by source, destination, engine's SL */
	uint8_t *value_of;	 /* [N_SLS][n_pieces] what an SL means there, or NO_VALUE */
	uint16_t used_sls;
};

static inline int
compose_no_memory(struct fm_error *err)
{
	return fm_fail(err, FM_E_RESOURCE, "out of memory while composing regions");
}

/* Does anything but the switch itself send from there? */
static inline bool
compose_sends(const struct fm_fabric *fab, fm_sw sw)
{
	for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++)
		if (fab->end_kind[e] != FM_END_SWITCH)
			return true;
	return false;
}

static inline bool
is_island(const struct composer *c, uint32_t x)
{
	return c->islands && c->island[x];
}

static inline uint16_t
rank_to(const struct composer *c, uint32_t d, uint32_t x)
{
	return c->order->rank[(size_t)d * c->n_pieces + x];
}

static inline bool
goes_down(const struct composer *c, uint32_t d, uint32_t x)
{
	return c->order->down[(size_t)d * c->n_pieces + x];
}

/* May traffic to d go on from x to y? */
static inline bool
is_next(const struct composer *c, uint32_t d, uint32_t x, uint32_t y)
{
	size_t row = (size_t)d * c->n_pieces;

	return ordered_is_step(&c->order->graph, c->order->rank + row, c->order->down + row, x, y);
}

static inline uint16_t *
gateways_of(const struct composer *c, uint32_t x)
{
	return c->gateway + (size_t)x * c->n_lid_room;
}

static inline struct exit *
exit_of(const struct composer *c, uint32_t x, uint32_t lid)
{
	uint16_t e = gateways_of(c, x)[lid];

	return e >= LOST_EXIT ? NULL : &c->piece[x].exit[e];
}

static inline bool
has_reach(const struct piece *p, uint32_t from, uint32_t to)
{
	return p->reach == NULL || p->reach[(size_t)from * p->n + to];
}

/* The number of the owner's i-th LID, by which it picks its cables. */
static inline uint32_t
compose_lid_number(const struct piece *owner, uint32_t i)
{
	return i < owner->n_host_lids ? owner->first_host + i
				      : owner->first_other + i - owner->n_host_lids;
}

/* A region's chain; that of merged regions is the one outside of regions. */
static inline const struct chain *
compose_chain(const struct composer *c, uint32_t region)
{
	return region == c->merged ? c->q->chain : &c->set->region[region].chain;
}
/* The entry of a region's chain that has the word; false: there is none left. */
bool compose_entry(const struct composer *c, uint32_t region, struct chain_entry *e);
/* May the region have credit loops of its own? */
static inline bool
compose_allows_loops(const struct composer *c, uint32_t region)
{
	return c->q->chain->allow_credit_loops || compose_chain(c, region)->allow_credit_loops;
}
/* Has the engine of piece x SLs of its own?  Then its columns of foreign LIDs are the core's. */
bool compose_has_own(const struct composer *c, uint32_t x);

int compose_find_pieces(struct composer *c, struct fm_error *err);

/* Order, ranks.  *complete false: some sources cannot reach a piece they are joined to. */
int compose_find_order(struct composer *c, bool *complete, struct fm_error *err);
/* The same among the pieces of the core alone, which the islands' traffic crosses. */
int compose_order_core(struct composer *c, bool *complete, struct fm_error *err);

/* Fill gateway[]; with c->blamed set where an engine's own routes leave none. */
int compose_find_gateways(struct composer *c, struct fm_error *err);

/* Is there a plan before whose gateways are to stay?  Then what was behind each port, and
 * which exits are new; and gateways as they were, with their loads. */
bool compose_is_sticky(const struct composer *c);
int compose_remember(struct composer *c, struct fm_error *err);
void compose_look_back(struct composer *c);

/* gate_serves of x: for its own traffic; of a piece of the core: for that of islands to d too */
void compose_mark_gates(struct composer *c, uint32_t x);
void compose_mark_core_gates(struct composer *c, uint32_t piece, uint32_t d);
/* lid_home of an island's LIDs, and phi[switches of it]: hops from the nearest gate that the
 * core hands over at.  nearest: room for its cables. */
void compose_find_homes(
    struct composer *c, uint32_t island, bool sticky, uint16_t *phi, uint32_t *nearest);

enum view_kind {
	VIEW_PROXIES,	/* own ends, foreign LIDs, entrances */
	VIEW_ENTRANCES, /* own ends, entrances */
	VIEW_FOREIGN	/* foreign LIDs alone */
};
int compose_view(struct composer *c, uint32_t x, enum view_kind kind, struct snapshot **out,
    struct fm_error *err);

/* Choose gateways and route every piece into c->tables.  c->blamed tells the region that
 * is in the way, if any.  What has been routed alike is not routed again. */
int compose_route(struct composer *c, struct fm_error *err);
/* Change to the other kind of rung, with what is routed for it already. */
void compose_swap(struct composer *c);
/* Forget what was routed in a region, as its engine is another. */
void compose_forget_region(struct composer *c, uint32_t region);
/* Piece x by itself: is what its engine made safe, cables to others left out? */
int compose_judge_piece(struct composer *c, uint32_t x, enum verify_sl_model model,
    struct verdict *v, struct fm_error *err);

/* c->island for an attempt: 0, 1, 2, and then more while the one before failed for a credit
 * loop.  False: there is no such choice. */
bool compose_choose_islands(struct composer *c, unsigned attempt);
/* c->island: whole regions as islands, as many of their switches as may be.  False: none. */
bool compose_choose_leaves(struct composer *c);
/* Merge all regions but the chosen, and cut the fabric anew.  *any false: nothing to merge. */
int compose_unite(struct composer *c, bool *any, struct fm_error *err);
/* Merge those that the plan before had merged, some at least. */
int compose_unite_again(struct composer *c, struct fm_error *err);

/* Which regions have switches: the only one, or FM_NONE: several. */
int compose_look_at_regions(struct composer *c, uint32_t *only, struct fm_error *err);
/* Pieces, their order and room, for the regions as they are cut. */
int compose_set_up(struct composer *c, bool *complete, struct fm_error *err);
/* Whose climb may this one go on where it ended?  NULL: nobody's (compose_begin.c). */
int compose_find_start(
    const struct plan_request *q, const struct plan_regions **start, struct fm_error *err);
/* Set up for the regions as they were cut there, each with the entry that had the word. */
int compose_set_up_again(struct composer *c, bool *complete, struct fm_error *err);
/* Why the others were refused there is told again. */
int compose_take_refusals(struct composer *c, struct fm_error *err);
/* Entries for foreign LIDs of island x: out by a nearest gateway. */
int compose_leave_island(struct composer *c, uint32_t x, struct fm_error *err);
/* Where the core has no route from a cable to a LID, the island leaves by the others. */
int compose_mend_islands(struct composer *c, struct fm_error *err);

/* The SL that the engine of d's piece gives packets for lid that come from switch `from` of
 * piece x; 0 where that does not bind the path. */
uint8_t compose_own_sl(const struct composer *c, uint32_t x, fm_sw from, uint32_t lid);

/* What a path demands of the pieces of more than one switch that it crosses. */
struct demand_part {
	uint16_t piece;
	uint8_t value;
};
struct demand {
	uint32_t first, n;     /* into parts, ascending by piece */
	uint32_t source, dest; /* pieces, of the first path that demands so */
	uint8_t own;	       /* engine's SL */
	uint8_t sl;	       /* to be found: number of the signature */
};
struct demands {
	FM_VEC(struct demand) all; /* all different */
	FM_VEC(struct demand_part) parts;
	FM_VEC(uint32_t) of;	     /* [n_asked] index into all */
	FM_VEC(struct demand) asked; /* every (source, destination, engine's SL); first, n unused */
};
void compose_demands_fini(struct demands *d);
/* The demands of the rung in hand, and the planes each piece carries. */
int compose_list_demands(struct composer *c, struct demands *out, struct fm_error *err);

/* A signature says what one SL means in every piece.  Find few in which all demands fit,
 * at most `most`; *n is how many, more than `most` when they do not.  all.item[].sl and
 * signature[most][n_pieces] are filled. */
int compose_sign(struct composer *c, struct demands *d, uint32_t most, uint8_t *signature,
    uint32_t *n, struct fm_error *err);

/* SL and SL2VL tables of the rung in hand.  *fits false, with the reason: more than allowed. */
int compose_merge(struct composer *c, bool *fits, char *reason, size_t room, struct fm_error *err);
/* Into p->regions: the rung, levels, gateways, engines.  FM_E_RESOURCE. */
int compose_tell(struct composer *c, enum plan_rung rung, struct fm_error *err);
/* Into p->engine: the names of all engines in use, each once; how many more there are where
 * not all fit. */
void compose_name_engines(struct composer *c);
/* The busiest cable of each region. */
int compose_find_crowding(struct composer *c, struct fm_error *err);
/* Pairs of hosts whose SL there is not their SL back. */
int compose_count_one_way(struct composer *c, uint64_t *pairs, struct fm_error *err);

#endif
