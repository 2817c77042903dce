/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/sssp/sssp_internal.h - what the parts of SSSP share; not installed.
 *
 *	sssp.c			batched or greedy; local search in the end
 *	sssp_greedy.c		greedy trees
 *	sssp_batched.c		the plan of batched trees; shortest paths
 *	sssp_rounds.c		rounds over them; what links bear
 *	sssp_legal.c		legal up/down paths
 *	sssp_tables.c		from batched trees to the LFT
 */
#ifndef PLUGINS_COMMON_SSSP_SSSP_INTERNAL_H
#define PLUGINS_COMMON_SSSP_SSSP_INTERNAL_H

#include "plugins/common/sssp/sssp.h"

/* Whose LIDs a tree leads to, in the order of growing. */
enum lid_class { LID_COMPUTE, LID_IO, LID_PLAIN, LID_SILENT, LID_CLASSES };

/* What a search from one root finds. */
struct steps {
	fm_sw *order; /* [n] nearest first, the root too */
	uint32_t n;
	uint32_t *first; /* [n + 1] by place in order: next steps, offsets into arc */
	fm_arc *arc;	 /* [n_arcs / 2] */
	uint32_t max_hops;
};

struct grower {
	const struct fm_host *host;
	const struct fm_fabric *fab;
	const struct fm_sssp_plan *plan;
	struct fm_sssp_trees *f;
	/* the plan of trees */
	uint8_t *class_of; /* [n_trees] enum lid_class */
	uint64_t *turns;   /* [n_trees] when it is grown, and the tree */
	uint32_t *weight;  /* [n_trees] its LIDs that carry traffic */
	/* the graph */
	double *per_route; /* [n_arcs] 1 / capacity of all its links */
	double *load;	   /* [n_arcs] routes: whole numbers */
	double *arc_cost;  /* [n_arcs] of the shortest; NULL with legal ones */
	/* [n_switches] sources, of all and of those that count for compute and I/O LIDs */
	uint16_t *n_sources, *n_compute;
	/* searches: one for each switch if they fit, else for the trees of a batch */
	struct steps *steps; /* [n_steps] */
	uint32_t n_steps;
	bool keeps;
	uint32_t batch;	  /* first turn of the batch in hand */
	uint32_t **level; /* [n_workers][n_switches] */
	/* of the trees in hand */
	double *cost;	   /* [n_workers][n_switches] */
	uint16_t *passing; /* [n_batch][n_switches] where the trees keep none */
	uint32_t n_batch;  /* trees */
	bool again;
	uint32_t n_done, n_total;
};

static inline uint8_t *
fm_grower_steps(const struct grower *g, uint32_t tree)
{
	return g->f->step + (size_t)tree * g->fab->n_switches;
}

/* Sources that come by in the i-th tree of the batch in hand. */
static inline uint16_t *
fm_grower_passing(const struct grower *g, uint32_t i, uint32_t tree)
{
	return g->f->passing != NULL ? g->f->passing + (size_t)tree * g->fab->n_switches
				     : g->passing + (size_t)i * g->fab->n_switches;
}

static inline const uint16_t *
fm_grower_sources(const struct grower *g, uint32_t tree)
{
	return g->class_of[tree] == LID_PLAIN ? g->n_sources : g->n_compute;
}

/* What comes by in this tree is load from now on, or (sign -1) no longer. */
void fm_grower_load(struct grower *g, uint32_t i, uint32_t tree, int sign);

/* Rounds over all trees, in batches of at most that many, of which grow() is told the number;
 * g->batch is the first.  FM_E_CANCELLED. */
int fm_grower_run(struct grower *g, uint32_t rounds, uint32_t most,
    void (*grow)(void *arg, uint32_t n), void *arg, struct fm_error *err);

/* All trees by legal paths (sssp_legal.c).  FM_E_RESOURCE, FM_E_CANCELLED. */
int fm_sssp_grow_legal(struct grower *g, uint32_t rounds, struct fm_error *err);

/*
 * Fill every row of out->lft up to max_lid: for one destination LID after the
 * other its tree is grown along right next steps, each switch taking the one from
 * which the path bears the least load so far.
 * Destinations are taken in turn over the switches; fabrics that are small
 * enough get a second round in which every tree, but those of choice.first, is taken
 * out and grown again.
 *
 * Several LIDs of one end go to different chassis, else different switches,
 * else different cables, as far as equal paths allow.
 *
 * beside: base LIDs stay as they are in the tables and are load; the other LIDs are chosen.
 *
 * O(LIDs * links), one thread: each choice depends on those before.
 * FM_E_RESOURCE, FM_E_CANCELLED.
 */
int fm_sssp_greedy(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_sssp_plan *plan, bool beside, const struct fm_tables *out,
    struct fm_paths *found, struct fm_error *err);

/* Does one link bear much more than the mean in tables from these trees (where cables are
 * parallel that is not known), and are they few? */
bool fm_sssp_is_uneven(const struct fm_fabric *fab, const struct fm_sssp_trees *f);

/* Adds the (switch with hosts or proxies, destination switch) that no legal tree joins. */
void fm_sssp_count_unjoined(const struct fm_fabric *fab, const struct fm_sssp_plan *plan,
    const struct fm_sssp_trees *f, struct fm_paths *found);

int fm_by_number(const void *a, const void *b); /* qsort() of uint64_t */

#endif
