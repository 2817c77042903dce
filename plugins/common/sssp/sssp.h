/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/sssp/sssp.h - shortest-path trees towards the destinations, each chosen by the
 * load of those before it: SSSP (T. Hoefler, T. Schneider, A. Lumsdaine, "Optimized Routing for
 * Large-Scale InfiniBand Networks", HOTI 2009).  With an order of the switches the paths are the
 * shortest legal up/down ones.
 *
 *	batched	a tree to each switch, or several, which its LIDs share; trees of a batch do not see
 *		each other, so they are grown by several workers or in the lanes of a vector
 *		(sssp_batched.c, sssp_legal.c)
 *	greedy	a tree to each LID, link by link, for what batches cannot do: wishes about single
 *		links and ends, links of several lengths, LIDs of one end on different ways
 *		(sssp_greedy.c)
 *
 * A tree of a batch says which neighbour comes next:
 *
 *	step[tree][switch]	the arc taken, counted from the first of the switch
 *
 * Which of several cables to it a LID takes is settled when the tables are written.
 */
#ifndef PLUGINS_COMMON_SSSP_SSSP_H
#define PLUGINS_COMMON_SSSP_SSSP_H

#include "plugins/common/grid/dimensions.h"
#include "plugins/common/paths/steps.h"

/* How to choose among equal next steps; all zero: balanced by load. */
struct fm_choice {
	bool by_digits;	  /* on trees, if nothing below is set (balance.h) */
	uint64_t scatter; /* other than 0: equally loaded ones by chance of this seed */
	/* destinations that come before all others, in this order: each finds the
	 * links as those before have left them */
	const fm_end *first; /* [n_first] each at most once */
	uint32_t n_first;
	bool first_by_load;	      /* scatter is not for those */
	const uint64_t *ignore_links; /* bitset [n_links], or NULL: what passes there is no load */
	const uint64_t *ignore_ends;  /* bitset [n_ends], or NULL: nor is what they send or get */
	/* among equals the least of these [n_links] is taken; NULL: the first link */
	const uint8_t *search;
	bool shift; /* the search begins one link further with every switch and LID */
};

/* Which trees are wanted, and whose load counts. */
struct fm_sssp_plan {
	const struct fm_arcs *arcs;
	const uint32_t *component; /* [n_switches]; for fm_sssp_route() */
	struct fm_rule rule;	   /* which paths are right */
	struct fm_choice choice;   /* wishes are for greedy trees only */
	bool lids_apart;	   /* several LIDs of one end go different ways: greedy trees */
	/* of batched trees */
	const struct fm_dimensions *dimensions; /* by dimension order, not by load; or NULL */
	uint32_t trees_per_switch;		/* at most; 0: as many as the time allows */
	bool avoid_throttled; /* a link below its nominal rate bears less in proportion */
	/* on legal paths: a cable counts by what it bears, not by the square, and trees are
	 * grown twice: for many flows at once, where all paths are as long (trees) */
	bool linear;
	/* Whose traffic is balanced, and in which order; NULL: of all alike. */
	const struct fm_nodeset *compute, *io;
};

/* What was learnt about the paths on the way. */
struct fm_paths {
	uint32_t max_hops; /* links on the longest path */
	/* (switch with hosts, destination switch) of one component without a path */
	uint64_t unjoined;
	uint64_t unjoined_hosts; /* those whose destination switch has hosts too */
};

/* Batched trees. */
struct fm_sssp_trees {
	const struct fm_arcs *arcs;
	uint32_t n_trees;
	const fm_sw *root;	   /* [n_trees] */
	const uint32_t *first;	   /* [n_switches + 1] the trees of a switch: at least one each */
	const uint32_t *lid_first; /* [n_trees + 1] offsets into lid[] */
	const uint16_t *lid;	   /* LIDs by tree */
	uint8_t *step;		   /* [n_trees][n_switches] */
	uint16_t *passing;	   /* [n_trees][n_switches] sources that come by, or NULL */
	const float *capacity;	   /* [n_links] 1, or less where throttled */
	uint32_t max_hops;
	double most, mean; /* routes on a cable: on the fullest, if each arc's share evenly */
};

/* Is any neighbour reached by several cables? */
static inline bool
fm_has_wide_arcs(const struct fm_arcs *arcs)
{
	return arcs->n_arcs < arcs->link[arcs->n_arcs];
}

static inline const uint8_t *
fm_sssp_steps(const struct fm_sssp_trees *f, uint32_t tree)
{
	return f->step + (size_t)tree * f->arcs->n_switches;
}

static inline fm_arc
fm_sssp_arc(const struct fm_sssp_trees *f, uint32_t tree, fm_sw sw)
{
	uint8_t step = fm_sssp_steps(f, tree)[sw];

	return step == FM_STEP_NONE ? FM_NONE : f->arcs->first[sw] + step;
}

/* Is something wished that only greedy trees heed? */
bool fm_has_wishes(const struct fm_choice *choice);

/* Does some traffic count more than other? */
bool fm_sssp_favours(const struct fm_fabric *fab, const struct fm_sssp_plan *plan);
/* Log which of the lists of a plan name no host. */
void fm_sssp_warn_of_strays(
    const struct fm_host *host, const struct fm_fabric *fab, const struct fm_sssp_plan *plan);

/*
 * Tables: batched trees where they can do what is wanted, else greedy ones.  On fabrics that are
 * not too large, a local search leads round a link what batched trees leave too much on it
 * (local_search.h), unless some traffic counts more than other.  With rule.detours longer legal
 * paths are taken as well where the shortest are crowded.
 * FM_E_RESOURCE, FM_E_CANCELLED.
 */
int fm_sssp_route(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_sssp_plan *plan, const struct fm_tables *out, struct fm_paths *found,
    struct fm_error *err);

/*
 * Batched trees alone.  Switches in turn, one tree each, then the next tree of each.  Few trees
 * get further rounds in which every one is taken out and grown again.  Batches are of a size
 * that depends on the fabric and the plan alone.
 *
 * O(trees * arcs).  FM_E_RESOURCE, FM_E_CANCELLED.
 */
int fm_sssp_grow(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_sssp_plan *plan, struct fm_sssp_trees *out, struct fm_error *err);

/* Every row of out->lft, up to max_lid.  O(table bytes), rows in parallel. */
int fm_sssp_write(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_sssp_trees *f, const struct fm_tables *out, struct fm_error *err);

#endif
