/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/graph/tables_vls.h - what can be said of the maps from SLs to VLs of tables.
 */
#ifndef CORE_GRAPH_TABLES_VLS_H
#define CORE_GRAPH_TABLES_VLS_H

#include <fmd/engine.h>

/* Do both give a packet the same VL everywhere?  Rows by link are taken to differ, as they
 * follow the numbers of the links. */
bool tables_same_vls(const struct fm_tables *a, const struct fm_tables *b, uint32_t n_switches);
/* The same SL for every path of these switches to LIDs below n_lids? */
bool tables_same_sls(
    const struct fm_tables *a, const struct fm_tables *b, uint32_t n_switches, uint32_t n_lids);
/* Is it one VL for an SL on each port out of the switch, wherever packets come in? */
bool tables_vls_by_out(const struct fm_fabric *fab, const struct fm_tables *t, fm_sw sw);
/* Have packets that come in by both ports of the switch the same VLs, wherever they go on? */
bool tables_same_vls_from(
    const struct fm_fabric *fab, const struct fm_tables *t, fm_sw sw, uint8_t a, uint8_t b);

/* SLs that differ in this bit are of two levels of quality, where tables have two. */
#define TABLES_LEVEL 8
/* Do they?  Paths have the SLs 0..7, and between switches SL n + 8 goes everywhere by the VL of
 * SL n plus one constant, above all VLs of the SLs 0..7 (as with torus-2QoS).  So what is proven
 * of the SLs of paths holds for those plus 8, too.
 * O(switches * (ports^2 + LIDs)) where they do. */
bool tables_has_levels(const struct fm_fabric *fab, const struct fm_tables *t);

#endif
