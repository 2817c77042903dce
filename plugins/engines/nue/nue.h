/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/engines/nue/nue.h - what the parts of nue share.
 *
 *	nue.c	the idea, options, trials, tables out
 *	rank.c	the graph, heights of the switches, the escape tree
 *	room.c	how often paths may change between up and down
 *	lanes.c	SLs of pairs, VLs of turns
 *	trees.c	destination trees within what lanes admit
 *	even.c	routes led round the fullest links in the end
 */
#ifndef PLUGINS_ENGINES_NUE_NUE_H
#define PLUGINS_ENGINES_NUE_NUE_H

#include "plugins/common/sssp/balance.h"

#define NUE_SLS 16

/* ------------------------------------------------------------------ rank.c */

/* The switch graph, to be walked both ways. */
struct nue_graph {
	const struct fm_fabric *fab;
	const struct fm_arcs *arcs;
	const uint32_t *component; /* [n_switches] */
	uint32_t n_components;
	const uint32_t *n_members; /* [n_components] switches */
	const fm_arc *reverse;	   /* [n_arcs] */
	const fm_sw *from;	   /* [n_arcs] */
	const uint32_t *port_base; /* [n_switches + 1] into port_arc */
	const fm_arc *port_arc;	   /* [sum of ports] FM_NONE: no switch there */
	const uint32_t *n_sources; /* [n_switches] ends whose paths must be admitted */
	const uint32_t *n_hosts;   /* [n_switches] ends that make load */
};

/* A strict order of the switches in which each but one of a component has a
 * neighbour above it. */
struct nue_rank {
	uint32_t *height; /* [n_switches] a permutation: higher is up */
	fm_arc *up;	  /* [n_switches] escape tree: arc to the parent, FM_NONE at tops */
	uint8_t *climbs;  /* [n_arcs] the arc goes up */
	/* for building */
	fm_sw *top;	 /* [n_components] */
	uint32_t *depth; /* [n_switches] arcs to the top in the escape tree */
	fm_sw *sorted;	 /* [n_switches] highest first */
	uint32_t *items, *at;
	uint64_t *key; /* [n_switches] heap */
};

/* Which of the switches with equally many neighbours taken goes next. */
enum nue_tie { NUE_NEWEST, NUE_STRAIGHT, NUE_OLDEST, NUE_LOWEST_INDEX, NUE_TIES };

int nue_graph_build(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_shape *shape, bool switches_send, struct nue_graph *out, struct fm_error *err);
int nue_rank_new(const struct fm_host *host, const struct nue_graph *graph, struct nue_rank *out,
    struct fm_error *err);
void nue_rank_make(const struct nue_graph *graph, enum nue_tie tie, struct nue_rank *rank);

/* ------------------------------------------------------------------ room.c */

struct nue_room {
	const struct fm_host *host;
	const struct nue_graph *graph;
	const struct nue_rank *rank;
	unsigned most;	 /* turns that the VLs allow */
	bool strict;	 /* no more than the least */
	fm_sw *order;	 /* [n_workers][n_switches] */
	uint32_t *level; /* [n_workers][n_switches] */
	uint8_t *least;	 /* [n_workers][n_switches] */
	/* [n_switches][n_switches] turns that the path to the first from the second may have */
	uint8_t *room;
};

int nue_room_new(const struct fm_host *host, const struct nue_graph *graph,
    const struct nue_rank *rank, struct nue_room *out, struct fm_error *err);
void nue_room_make(struct nue_room *r, unsigned n_vls, bool strict);

/* ----------------------------------------------------------------- lanes.c */

typedef uint8_t nue_vls __attribute__((vector_size(NUE_SLS))); /* one value per SL */

#define NUE_UNSET 0xff
#define NUE_FIXED 0x40 /* bit of an SL: it stays whatever happens */
#define NUE_IS_PAIR ((size_t)1 << 60)

/* What undoes one step: a label was unset, or a pair had this SL before. */
struct nue_undo {
	size_t at; /* turn, or index into sl | NUE_IS_PAIR */
	uint8_t sl;
};

struct nue_lanes {
	const struct nue_graph *graph;
	const struct nue_rank *rank;
	unsigned n_vls;
	/* The turns into an arc lie side by side, one for each arc that leads to where it
	 * begins: the paths of a tree end with few arcs, those into its root. */
	uint32_t *turn_first; /* [n_arcs] by the arc behind: first of its turns */
	uint32_t *turn_place; /* [n_arcs] by the arc before: which of them */
	uint32_t n_turns;
	nue_vls *label; /* [n_turns] VL on the arc behind the turn, NUE_UNSET */
	uint8_t *sl;	/* [n_switches][n_switches] of the pair at [greater][lesser] */
	uint8_t *const *lft;
	uint8_t *placed;       /* [max_lid + 1] the LID's tree is complete */
	fm_arc *path;	       /* [n_switches] in hand */
	struct nue_undo *undo; /* [undo_room] */
	uint32_t n_undo, undo_room;
};

int nue_lanes_new(const struct fm_host *host, const struct nue_graph *graph,
    const struct nue_rank *rank, unsigned n_vls, uint8_t *const *lft, struct nue_lanes *out,
    struct fm_error *err);
/* fixed: the SLs of all pairs by their GUIDs.  escape: keep the escape tree open for all SLs. */
void nue_lanes_begin(struct nue_lanes *l, bool fixed, bool escape);

static inline uint8_t *
nue_pair_sl(const struct nue_lanes *l, fm_sw a, fm_sw b)
{
	size_t n = l->graph->fab->n_switches;

	return a > b ? &l->sl[a * n + b] : &l->sl[b * n + a];
}

static inline uint32_t
nue_turn(const struct nue_lanes *l, fm_arc in, fm_arc out)
{
	return l->turn_first[out] + l->turn_place[in];
}

/* May packets between these switches take this path?  If so its turns are
 * theirs from now on.  move: the pair may change its SL for it, if all paths
 * it has already go with that. */
bool nue_lanes_admit(struct nue_lanes *l, fm_sw source, fm_sw target, const fm_arc *path,
    uint32_t n_arcs, bool move);
/* VLs of all paths that were admitted. */
unsigned nue_lanes_used(const struct nue_lanes *l);
void nue_lanes_mark(struct nue_lanes *l);
/* Everything as it was at the mark, unless too much has happened since. */
void nue_lanes_undo(struct nue_lanes *l);

/* ----------------------------------------------------------------- trees.c */

struct nue_trees {
	const struct nue_graph *graph;
	const struct nue_rank *rank;
	const struct nue_room *room;
	struct nue_lanes *lanes;     /* NULL: one VL, all SLs alike */
	const struct fm_tables *out; /* NULL: only loads are wanted */
	uint64_t *load;		     /* [n_links] routes so far */
	uint32_t n_trees, n_impasses;
	/* of the tree in hand */
	fm_sw root;
	uint16_t base, lid;
	uint32_t *hops; /* [n_switches] to detour_root, by cables alone */
	fm_sw detour_root;
	uint8_t *straight; /* [n_switches] takes a shortest path, where some go round */
	uint8_t *n_round;  /* [n_switches] that are to go round by it */
	fm_sw *dealt;	   /* [n_switches] all, by chance */
	const struct fm_sssp_trees *lead; /* base LIDs go by these where they may; NULL: none */
	uint32_t n_beside; /* alternates of the end, in whose trees switches go round; or 0 */
	fm_sw *order;	   /* [n_order] nearest first */
	uint32_t n_order;
	uint32_t *level; /* [n_switches] hops, FM_NONE = not settled */
	uint32_t *asked; /* [n_switches] the last layer it was a candidate in */
	/* [n_switches] last step found from a candidate into the layer; [n_arcs] the one found
	 * before it, or FM_NONE */
	fm_arc *found, *found_before;
	double *cost;		  /* [n_switches] */
	fm_arc *next;		  /* [n_switches] */
	fm_link *cable;		  /* [n_switches] link of next */
	fm_arc *forced;		  /* [n_switches] FM_NONE = free */
	uint8_t *valleys;	  /* [n_switches] on the path */
	uint8_t *climbing;	  /* [n_switches] the path begins upwards */
	const uint8_t *room_left; /* [n_switches] turns it may have */
	fm_sw *waiting;		  /* [n_switches] candidates of a layer */
	fm_arc *path;		  /* [n_switches] */
	uint32_t *passing;	  /* [n_switches] */
};

int nue_trees_new(const struct fm_host *host, const struct nue_graph *graph,
    const struct nue_rank *rank, const struct nue_room *room, struct nue_trees *out,
    struct fm_error *err);
void nue_trees_begin(struct nue_trees *g, struct nue_lanes *lanes, const struct fm_tables *out);
/* The tree of one destination LID; base: the first of its end, whose trees to
 * one LID differ.  False: the lanes do not admit one, or too many were hard. */
bool nue_tree_grow(struct nue_trees *g, fm_sw root, uint16_t base, uint16_t lid, bool counts);
/* Another tree for a LID of a host that has one, now that all others are there. */
void nue_tree_regrow(struct nue_trees *g, fm_sw root, uint16_t base, uint16_t lid);
/* The tree just grown for another LID of the same switch, too. */
void nue_tree_repeat(struct nue_trees *g, uint16_t lid, bool counts);
/* Routes on the fullest link, and on all in the mean. */
uint64_t nue_trees_load(const struct nue_trees *g, double *mean);

/* ------------------------------------------------------------------ even.c */

/* Lead routes to hosts round the fullest links, by paths no longer.  FM_E_RESOURCE,
 * FM_E_CANCELLED. */
int nue_trees_even(const struct fm_host *host, const struct fm_fabric *fab, struct nue_trees *g,
    struct fm_error *err);

#endif
