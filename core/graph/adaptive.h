/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/graph/adaptive.h - the groups of ports of adaptive routing, as tables
 * hold them (FM_PROVIDES_AR): do they make sense, and how many are there.
 * Whether they are safe is verify's question.
 */
#ifndef CORE_GRAPH_ADAPTIVE_H
#define CORE_GRAPH_ADAPTIVE_H

#include "core/graph/tables.h"

/* Before anyone indexes by them: group numbers in range, the LFT's port in its
 * group, every port of a group cabled to a switch.  FM_E_BUG with the first
 * switch at fault, FM_E_RESOURCE.  Counts as well.  O(switches * LIDs). */
int adaptive_check(const struct fm_fabric *fab, const struct fm_tables *t, struct fm_pool *workers,
    struct adaptive_counts *counts, struct fm_error *err);

/* The tables `of` with groups from those that an engine has made for the same fabric: where the
 * LFT's port is in the group of the entry there; all others are static.  In *out, with their
 * counts. Whether these choices are safe is verify's question.  O(switches * LIDs). */
int adaptive_join(struct table_pool *pool, struct fm_pool *workers, const struct fm_fabric *fab,
    const struct tables *of, const struct tables *groups, struct tables **out,
    struct fm_error *err);

/* Forget the groups: what is left are the static tables. */
void adaptive_drop(struct tables *tables);

#endif
