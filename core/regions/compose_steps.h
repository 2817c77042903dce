/* SPDX-License-Identifier: BSD-2-Clause */
/* core/regions/compose_steps.h - the steps of composing, in the order in which they are taken. */
#ifndef CORE_REGIONS_COMPOSE_STEPS_H
#define CORE_REGIONS_COMPOSE_STEPS_H

#include "core/regions/compose_internal.h"

/* A region's chain; that of merged regions is the one outside of regions. */
static inline const struct chain *
compose_chain(const struct composer *c, uint32_t region)
{
	return region == c->merged ? c->outside : &c->set->region[region].chain;
}

/* May the region have credit loops of its own? */
static inline bool
compose_allows_loops(const struct composer *c, uint32_t region)
{
	return c->outside->allow_credit_loops || compose_chain(c, region)->allow_credit_loops;
}
/* The entry of a region's chain in force; false: there is none left. */
bool compose_entry(const struct composer *c, uint32_t region, struct chain_entry *e);
/* Has the engine of component x SLs of its own?  Then its columns of foreign LIDs are those of
 * the core. */
bool compose_has_own(const struct composer *c, uint32_t x);

int compose_find_components(struct composer *c, struct fm_error *err);

/* Order, ranks.  *complete false: some sources cannot reach a component they are joined to. */
int compose_find_order(struct composer *c, bool *complete, struct fm_error *err);
/* The same among the components of the core alone, which the islands' traffic crosses. */
int compose_order_core(struct composer *c, bool *complete, struct fm_error *err);

enum view_kind {
	VIEW_PROXIES,	/* own ends, foreign LIDs, entrances */
	VIEW_ENTRANCES, /* own ends, entrances */
	VIEW_FOREIGN	/* foreign LIDs alone */
};
int compose_view(struct composer *c, uint32_t x, enum view_kind kind, struct snapshot **out,
    struct fm_error *err);

/* Choose gateways and route every component into c->tables.  c->blamed tells the region that
 * is in the way, if any.  What has been routed alike is not routed again. */
int compose_route(struct composer *c, struct fm_error *err);
/* Change to the other kind of join, with what is routed for it already. */
void compose_swap(struct composer *c);
/* Forget what was routed in a region, as its engine is another. */
void compose_forget_region(struct composer *c, uint32_t region);
/* Component x by itself: is what its engine made safe, cables to others left out? */
int compose_judge_component(struct composer *c, uint32_t x, enum verify_sl_model model,
    struct verdict *v, struct fm_error *err);

/* sw_region: [n_switches], borrowed until compose_end(), which comes after a failure, too. */
int compose_begin(struct composer *c, struct router *r, const struct region_set *set,
    const uint16_t *sw_region, const struct chain *outside, struct plan *p, struct fm_error *err);
void compose_end(struct composer *c);
/* The only region that has switches, or FM_NONE: several have. */
uint32_t compose_only_region(const struct composer *c);
/* Components, their order and room, for the regions as they are cut. */
int compose_set_up(struct composer *c, bool *complete, struct fm_error *err);
struct repair_entries;
/* Ways for c->soft_holes; what the entries were goes to undo. */
int compose_complete(struct composer *c, struct repair_entries *undo, struct fm_error *err);
/* Into p->regions: the join, levels, engines.  FM_E_RESOURCE. */
int compose_report(struct composer *c, enum plan_join join, struct fm_error *err);
/* Into p->engine: the names of all engines in use, each once; how many more there are where
 * not all fit. */
void compose_name_engines(struct composer *c);
/* The busiest cable of each region. */
int compose_find_congestion(struct composer *c, struct fm_error *err);
/* SL and SL2VL tables of the join in hand.  *fits false, with the reason: more than allowed. */
int compose_sl_tables(
    struct composer *c, bool *fits, char *reason, size_t room, struct fm_error *err);

#endif
