/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/sssp/forest.h - shortest-path trees towards switches, balanced by
 * the load of all of them.
 *
 * A tree leads to one switch and serves some of the LIDs there: one tree for
 * each LID where the fabric is small, one for all of them where it is large.
 * What the tree says is which neighbour comes next; which of several cables to
 * it a LID takes is settled when the tables are written.
 *
 *	step[tree][switch]	the arc taken, counted from the first of the switch
 */
#ifndef PLUGINS_COMMON_SSSP_FOREST_H
#define PLUGINS_COMMON_SSSP_FOREST_H

#include "plugins/common/grid/dimensions.h"

struct fm_forest_plan {
	const struct fm_arcs *arcs;
	const struct fm_dimensions *dimensions; /* trees by dimension order, not by load; or NULL */
	/* legal up/down paths, not shortest ones; or NULL; not with dimensions */
	const struct fm_order *order;
	bool detours;		   /* legal paths: round crowded links */
	uint32_t trees_per_switch; /* at most; 0: as many as the time allows */
	bool avoid_throttled;	   /* a link below its nominal rate bears less in proportion */
	/* Whose traffic is balanced, and in which order; NULL: of all alike. */
	const struct fm_nodeset *compute, *io;
};

struct fm_forest {
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

/* Does one link bear much more than the mean in tables from these trees (where cables are
 * parallel that is not known), and are they few? */
bool fm_forest_is_uneven(const struct fm_fabric *fab, const struct fm_forest *f);

int fm_by_number(const void *a, const void *b); /* qsort() of uint64_t */

static inline const uint8_t *
fm_forest_steps(const struct fm_forest *f, uint32_t tree)
{
	return f->step + (size_t)tree * f->arcs->n_switches;
}

static inline fm_arc
fm_forest_arc(const struct fm_forest *f, uint32_t tree, fm_sw sw)
{
	uint8_t step = fm_forest_steps(f, tree)[sw];

	return step == FM_STEP_NONE ? FM_NONE : f->arcs->first[sw] + step;
}

/*
 * Grow them: switches in turn, one tree each, then the next tree of each.  A
 * small forest gets further rounds in which every tree is taken out and grown
 * again.  Trees are grown by the batch, each as if the others of it were not there;
 * batches are of a size that depends on the forest alone.
 *
 * O(trees * arcs).  FM_E_RESOURCE, FM_E_CANCELLED.
 */
int fm_forest_grow(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_forest_plan *plan, struct fm_forest *out, struct fm_error *err);

/* Every row of out->lft, up to max_lid.  O(table bytes), rows in parallel. */
int fm_forest_write(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_forest *f, const struct fm_tables *out, struct fm_error *err);

#endif
