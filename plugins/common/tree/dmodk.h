/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/tree/dmodk.h - tables of fat trees, whole or damaged, by arithmetic.
 *
 * On a complete tree (PGFT) the best routes are arithmetic: number the hosts
 * leaf by leaf, let host t be reached through up-link (t / divider) mod links
 * at every switch, and every shift permutation runs without two flows on one
 * link (D-mod-K: Zahavi, Johnson, Kerbyson, Lang 2010).  Dmodc (Gliksberg et
 * al., arXiv 2211.13101) carries that to damaged trees: ranks and costs tell
 * which up-links still lead to a leaf, and the modulo runs over those.  Here
 * the arithmetic keeps running over the *nominal* links; only the LIDs that a
 * fault displaces are chosen anew.  So a lost cable
 * changes few entries, and a damaged tree stays as balanced as it can.
 */
#ifndef PLUGINS_COMMON_TREE_DMODK_H
#define PLUGINS_COMMON_TREE_DMODK_H

#include "plugins/common/paths/order.h"
#include "plugins/common/tree/tiers.h"

#define FM_DMODK_CLASSES 3

struct fm_dmodk {
	const struct fm_arcs *arcs;
	const uint16_t *rank; /* [n_switches] tiers up to FM_TIERS_MAX; no way leads inside one */
	/* Of the arcs between tiers: routes go up and then down.  NULL: they are the shortest
	 * of all, and those as short that go up first where there are any. */
	const struct fm_order *order;
	/* [n_ends] kinds of hosts below FM_DMODK_CLASSES, each balanced by itself; NULL: one.
	 * Class 0 is in out->order. */
	const uint8_t *class;
	/* What structure cannot tell apart is in the order of GUIDs, else of indices. */
	bool by_guid;
	/* Where the way down to a LID lacks a cable, all sources take the same one round it:
	 * better for many flows at once, but more on the fullest link, which is to be evened. */
	bool agree;
	const uint8_t *const *prev_lft; /* rows before: displaced LIDs stay there; or NULL */
};

/* What of it can be asked afterwards; it lives in scratch memory. */
struct fm_dmodk_routes;

struct fm_dmodk_paths {
	unsigned max_hops;
	uint64_t unjoined, unjoined_hosts; /* (switch with hosts, any or leaf) without a route */
};

/* Every row of out->lft up to max_lid.  O(links * distances * switches / 512 + table bytes),
 * on the host's workers.  FM_E_RESOURCE, FM_E_CANCELLED. */
int fm_dmodk_route(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_dmodk *how, const struct fm_tables *out, const struct fm_dmodk_routes **routes,
    struct fm_error *err);

/* component: [n_switches]; pairs of one component only are counted.  FM_E_RESOURCE. */
int fm_dmodk_look(const struct fm_dmodk_routes *routes, const uint32_t *component,
    struct fm_dmodk_paths *out, struct fm_error *err);

/* All equal next hops, where the host asks for adaptive routing; with an order only.
 * FM_E_RESOURCE. */
int fm_dmodk_alternatives(
    const struct fm_dmodk_routes *routes, struct fm_tables *out, struct fm_error *err);

#endif
