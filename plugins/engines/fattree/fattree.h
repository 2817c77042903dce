/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fattree.h - what the parts of the fat-tree engine share.
 *
 *	classes.c kinds of hosts, each balanced by itself
 *	reverse.c a limit to hops up after down
 */
#ifndef PLUGINS_ENGINES_FATTREE_FATTREE_H
#define PLUGINS_ENGINES_FATTREE_FATTREE_H

#include "plugins/common/tree/dmodk.h"

#define FT_ANY_REVERSE_HOPS 64 /* max_reverse_hops that limits nothing */

struct fattree_options {
	struct fm_nodeset roots, cn, io, route_last;
	int64_t max_reverse_hops;
};

struct fattree {
	const struct fm_host *host;
	const struct fm_fabric *fab;
	const struct fattree_options *opt;
	struct fm_arcs arcs;
	struct fm_tiers tiers;
	struct fm_tables *out;
};

/* [n_ends] for fm_dmodk.class, or NULL: all are compute nodes.  FM_E_RESOURCE, FM_E_TOPOLOGY. */
int ft_classes(const struct fattree *ft, const uint8_t **class, struct fm_error *err);

/* FM_E_RESOURCE, FM_E_CANCELLED. */
int ft_limit_reverse(const struct fattree *ft, struct fm_error *err);

#endif
