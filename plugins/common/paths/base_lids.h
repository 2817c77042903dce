/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/paths/base_lids.h - base LIDs are routed as if there were no others.
 *
 * Nearly all traffic goes to base LIDs, so their balance must not depend on the LMC.
 * They are routed in a view of the fabric in which each end has one LID; alternates
 * are routed beside them.
 */
#ifndef PLUGINS_COMMON_PATHS_BASE_LIDS_H
#define PLUGINS_COMMON_PATHS_BASE_LIDS_H

#include "plugins/common/paths/arcs.h"

/* The fabric with the base LIDs alone; all else is shared with fab.  FM_E_RESOURCE. */
int fm_base_view(const struct fm_host *host, const struct fm_fabric *fab, struct fm_fabric *out,
    struct fm_error *err);

/* Tables with rows of their own in scratch memory, else those of `like`.  FM_E_RESOURCE. */
int fm_base_rows(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_tables *like, struct fm_tables *out, struct fm_error *err);

/* The columns of base LIDs, as they are in `from`.  O(switches * ends). */
void fm_base_take(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_tables *from, const struct fm_tables *to);

#endif
