/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/cdg/depend.h - the channel dependencies of tables, kept acyclic while
 * entries change.
 *
 * A channel is a port of a switch with a cable to another switch, by its
 * number first[sw] + port, which outlives links that come and go; a vertex is
 * (channel, VL).  There is an edge from one vertex to another when packets go
 * on from the one to the other.  The graph only grows: an edge stays when the
 * entries that made it change, so what is held is always more than what the
 * tables need, old and new tables together are acyclic too, and tables that
 * come back find their edges.  depend_build() starts again from the tables.
 *
 * The edges held are rows of bits; their topological order is one by ranks (lib/algo/topo_rank.h).
 *
 * Where VLs go by ports (depend_by_ports()) the links that are lost have no part in it.
 *
 * Memory: vertices x (2 rows of (ports of a switch x VLs) bits and 29 bytes);
 * 60,000 channels of 36-port switches in one VL: 3 MB.
 */
#ifndef CORE_CDG_DEPEND_H
#define CORE_CDG_DEPEND_H

#include "core/cdg/deps.h"
#include "core/cdg/sl_model.h"
#include "lib/algo/topo_rank.h"
#include "lib/pool.h"
#include "lib/vec.h"

struct depend_edge {
	uint32_t from; /* vertex */
	uint32_t bit;  /* of its row */
};

struct depend {
	/* Number of the plan from which on it holds what packets depend on, by each plan and while
	 * these gave way to one another. */
	uint64_t base;
	uint32_t n_switches, n_channels, n_vls;
	uint32_t *first;    /* [n_switches + 1] channels of a switch */
	uint32_t *back;	    /* [n_channels] the channel of the other direction; FM_NONE: no cable */
	uint8_t *back_port; /* [n_channels] the port of back */
	fm_sw *at;	    /* [n_channels] the switch it leaves */
	fm_sw *to;	    /* [n_channels] the switch it leads to; FM_NONE: no cable */
	uint32_t words;	    /* of a row */
	uint64_t *next;	    /* [vertices][words] bit port * n_vls + vl of the switch after */
	uint64_t *prev;	    /* [vertices][words] bit (in port) * n_vls + vl: from where */
	struct fm_ranks order; /* of the vertices, unless cyclic */
	void *order_memory;
	/* [n_switches] all turns up and then down by these are held, and stay so; NULL: not so */
	uint8_t *level;
	bool has_choices; /* all choices of the groups of the tables it was built of are held */
	bool cyclic;	  /* the tables themselves have a credit loop: nothing is refused */
	enum verify_sl_model sl_model;
	FM_VEC(struct depend_edge) added; /* since the caller emptied it: depend_undo() */
	uint64_t changes;		  /* edges that came or were taken away again */
};

/* Tables whose VLs do not go by the numbers of links. */
bool depend_applies(const struct fm_tables *t);

/* Does a packet's VL depend on its way as well as on its SL?  Then an edge may lead from one
 * VL to another, and what packets depend on is known of a LID as a whole (deps.h) only. */
static inline bool
depend_by_ports(const struct fm_tables *t)
{
	return t->sl2vl_shape == FM_SL2VL_BY_IN_OUT;
}

/* The dependencies of tables on graph, between these ends; lost: channels without
 * a cable, which packets wait for and that is all, or NULL.
 * NULL: out of memory.  One look-up per (switch, LID), or nearly. */
struct depend *depend_build(const struct fm_fabric *graph, const struct fm_fabric *ends,
    const struct fm_tables *t, const uint64_t *lost, enum verify_sl_model sl_model,
    struct fm_pool *workers);
void depend_free(struct depend *g);
/* The same without any dependencies, in so many VLs.  NULL: out of memory. */
struct depend *depend_new(
    const struct fm_fabric *graph, uint32_t n_vls, enum verify_sl_model sl_model);
/* The next rows of g are whole: fill the rest, and cyclic. */
void depend_sort(struct depend *g);
/* In one VL: hold all turns up and then down, too, by levels of switches (snapshot.h), which
 * have no cycle by themselves, unless they have one with what is held.  On trees nearly
 * nothing has to be inserted then.  False: out of memory. */
bool depend_allow_levels(struct depend *g, const struct fm_fabric *graph);

/* depend_follow.c: the next rows.  False: out of memory. */
bool depend_follow(struct depend *g, const struct fm_fabric *ends, const struct fm_tables *t,
    const uint64_t *lost, struct fm_pool *workers);
/* depend_choices.c: those of packets that choose by groups, too, sooner too many than too few; in
 * one VL.  False: out of memory. */
bool depend_follow_choices(struct depend *g, const struct fm_fabric *ends,
    const struct fm_tables *t, const uint64_t *lost);
/* depend_sweep.c: the next rows, sooner too many than too few bits.  False: out of memory. */
bool depend_sweep_applies(const struct depend *g);
bool depend_sweep(struct depend *g, const struct fm_fabric *ends, const struct fm_tables *t,
    const uint64_t *lost, struct fm_pool *workers);

enum depend_result {
	DEPEND_HELD,
	DEPEND_ADDED,
	DEPEND_CYCLE, /* refused, nothing changed */
	DEPEND_NOMEM  /* refused, nothing changed */
};
/* Packets go on from channel `in` in VL vl to channel `out` of the next switch. */
enum depend_result depend_insert(struct depend *g, uint32_t in, uint32_t out, unsigned vl);
/* The same where the packets change their VL. */
enum depend_result depend_insert_turn(
    struct depend *g, uint32_t in, unsigned in_vl, uint32_t out, unsigned out_vl);
/* Take away what was added after the first n of g->added. */
void depend_undo(struct depend *g, size_t n);

static inline uint32_t
depend_channel(const struct depend *g, fm_sw sw, uint8_t port)
{
	return port < g->first[sw + 1] - g->first[sw] ? g->first[sw] + port : FM_NONE;
}

static inline const uint64_t *
depend_next(const struct depend *g, uint32_t channel, unsigned vl)
{
	return g->next + ((size_t)channel * g->n_vls + vl) * g->words;
}

static inline const uint64_t *
depend_prev(const struct depend *g, uint32_t channel, unsigned vl)
{
	return g->prev + ((size_t)channel * g->n_vls + vl) * g->words;
}

static inline bool
depend_holds(const struct depend *g, uint32_t in, uint32_t out, unsigned vl)
{
	uint32_t bit = (out - g->first[g->at[out]]) * g->n_vls + vl;

	return depend_next(g, in, vl)[bit / 64] >> (bit % 64) & 1;
}

/* One VL: do packets that come from one switch to another and go on to a third turn up, or
 * down after any, by levels?  Then that is held, unless they go back. */
static inline bool
depend_is_level_turn(const struct depend *g, fm_sw from, fm_sw at, fm_sw to)
{
	const uint8_t *level = g->level;

	return level != NULL && from != to && level[from] != level[at] && level[to] != level[at] &&
	    (level[at] > level[from] || level[to] < level[at]);
}

/* One VL: are all turns that are held legal by levels? */
bool depend_is_by_levels(const struct depend *g);

/* Insert all dependencies of what the ends of `from` (FM_NONE: of any switch) send
 * to lid, on the cables that are not in lost (a bit per channel).  seen is room
 * for [n_switches]. */
enum depend_result depend_insert_lid(struct depend *g, const struct fm_fabric *ends,
    const struct fm_tables *t, const uint64_t *lost, fm_sw from, uint16_t lid, uint16_t *seen);

/* depend_ports.c, where VLs go by ports.  The dependencies of tables on the links of ends,
 * but for those lost, into the next rows.  False: out of memory. */
bool depend_follow_ports(struct depend *g, const struct fm_fabric *ends, const struct fm_tables *t,
    const uint64_t *lost, struct fm_pool *workers);
/* The dependencies of tables as they are now: to be asked for LIDs.  NULL: out of memory. */
struct deps *depend_deps(
    const struct depend *g, const struct fm_fabric *ends, const struct fm_tables *t);
/* deps is of the links of ends, and as many VLs as g has. */
enum depend_result depend_insert_deps(struct depend *g, const struct fm_fabric *ends,
    struct deps *deps, uint16_t lid, enum deps_mode mode);
/* The same into the next rows alone, for depend_sort().  False: out of memory. */
bool depend_note_deps(struct depend *g, const struct fm_fabric *ends, struct deps *deps,
    uint16_t lid, enum deps_mode mode);
/* Nobody waits for a lost channel any more, nor comes by it. */
void depend_cut(struct depend *g, uint32_t channel);

/* VLs, as a mask, of the packets that the ends of sw send to lid on switch `to`,
 * replies included. */
uint16_t depend_own_vls(const struct depend *g, const struct fm_fabric *ends,
    const struct fm_tables *t, fm_sw sw, uint16_t lid, fm_sw to);

#endif
