/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/paths/steps.h - the right next steps towards one destination switch.
 *
 * Three rules of what a path may be share the same answer: every switch has a
 * distance to the destination, and a next step is right when it brings one
 * nearer by exactly its own length.
 *
 *	hops		each arc is one long
 *	weights		an arc is as long as its shortest link
 *	up/down		hops, over paths that are legal (plugins/common/paths/order.h); where
 *			a switch can go down all the way it does, as the packet may
 *			have come down already
 *
 * So any choice among right next steps, made switch by switch, is free of loops,
 * and legal where there is an order.  That holds without looking at distances,
 * too: down steps lead down to the destination, up steps up to a switch that can
 * go down.  With .detours all of these are right; the caller weighs them.
 */
#ifndef PLUGINS_COMMON_PATHS_STEPS_H
#define PLUGINS_COMMON_PATHS_STEPS_H

#include "lib/algo/heap.h"
#include "plugins/common/paths/order.h"

struct fm_rule {
	const struct fm_order *order; /* NULL: any path */
	/* [n_links] length of a link, 1 or more, NULL: one each; not with an order */
	const uint32_t *weight;
	uint32_t max_length; /* longer paths are none; 0: no bound */
	bool detours;	     /* any legal path; with an order only */
};

struct fm_steps {
	const struct fm_fabric *fab;
	const struct fm_arcs *arcs;
	struct fm_rule rule;
	/* of the destination in hand */
	fm_sw root;
	uint32_t *distance; /* [n_switches] of the shortest path, FM_NONE: no path */
	uint8_t *down;	    /* [n_switches] reached going down only; with an order */
	/* [n_near] switches with a path, each behind all of its right next steps:
	 * nearest first, with detours by height; near[0] == root */
	fm_sw *near;
	uint32_t n_near;
	/* private */
	bool aside; /* aside arcs are for it */
	fm_sw *climbing, *merged;
	fm_sw *by_height; /* [n_switches] lowest first; with detours */
	uint32_t *length; /* [n_arcs] of the arc, and of its opposite */
	uint32_t *length_back;
	struct fm_heap heap;
};

/* FM_E_RESOURCE. */
int fm_steps_init(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_arcs *arcs, struct fm_rule rule, struct fm_steps *out, struct fm_error *err);

/* Go on with another order, of the same kind of rule.  O(arcs). */
void fm_steps_follow(struct fm_steps *s, const struct fm_order *order);

/* O(arcs), with weights O(arcs log switches). */
void fm_steps_find(struct fm_steps *s, fm_sw root);

/* May the path from u go on along this arc? */
static inline bool
fm_is_step(const struct fm_steps *s, fm_sw u, fm_arc a)
{
	const struct fm_order *o = s->rule.order;
	fm_sw v = s->arcs->to[a];

	if (s->distance[v] == FM_NONE ||
	    (!s->rule.detours &&
		s->distance[v] + (s->length != NULL ? s->length[a] : 1) != s->distance[u]))
		return false;
	if (o == NULL)
		return true;
	if (!s->down[u])
		return fm_goes_up(o, a);
	return s->down[v] && !fm_goes_up(o, a) && (s->aside || !(o->way[a] & FM_ARC_ASIDE));
}

/* Is the link as short as the arc it belongs to? */
static inline bool
fm_is_step_link(const struct fm_steps *s, fm_arc a, fm_link l)
{
	return s->length == NULL || s->rule.weight[l] == s->length[a];
}

#endif
