/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/tree/spread.h - choosing among equal next steps in a tree by digits.
 */
#ifndef PLUGINS_COMMON_TREE_SPREAD_H
#define PLUGINS_COMMON_TREE_SPREAD_H

#include "plugins/common/paths/lids.h"
#include "plugins/common/paths/reach.h"
#include "plugins/common/tree/tree.h"

/*
 * Fill every row of out->lft up to max_lid from the next steps in reach, whose columns are those of
 * lids: all switches, each once.  tree must be levelled.  Which of several next steps a destination
 * takes is a digit of its number; in a complete tree that is D-mod-K, whose
 * all-to-all load is even and which never puts two flows of a shift on a link.
 *
 * O(table bytes + columns * arcs / 512), rows in parallel.
 * FM_E_RESOURCE.
 */
int fm_spread(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_arcs *arcs,
    const struct fm_tree *tree, const struct fm_reach *reach, const struct fm_lids *lids,
    const struct fm_tables *out, struct fm_error *err);

#endif
