/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/engine/renumber.h - one engine call on a fabric whose switches are numbered by cables
 * (cable_order.h), for engines with FM_NUMBERED_BY_CABLES.
 *
 * The engine sees the same switches, ends, names and LIDs under other numbers and writes
 * straight into the rows of the caller's tables.  What goes by number besides (options,
 * SL2VL by link, groups of adaptive routing) is translated on the way in or out.
 */
#ifndef CORE_ENGINE_RENUMBER_H
#define CORE_ENGINE_RENUMBER_H

#include <fmd/engine.h>

#include "lib/arena.h"

struct renumbered {
	struct fm_arena mem;
	bool no_memory; /* while it begins */
	struct fm_fabric fab;
	struct fm_tables t; /* by its numbers, over the caller's rows */
	const void *opts;
	const fm_sw *sw; /* [n_switches] the caller's number of each, likewise: */
	const fm_end *end;
	const fm_link *link;
	/* [n_switches], [n_ends] and the other way */
	const fm_sw *new_sw;
	const fm_end *new_end;
};

/* Does the engine want it, and the fabric need it?  Not a tree, where engines that want it
 * choose by digits. */
bool renumber_is_due(const struct fm_engine *engine, const struct fm_fabric *fab);

/* O(links + ends + LIDs) beside cable_order_find(); FM_E_RESOURCE, with nothing to free. */
int renumber_begin(struct renumbered *r, const struct fm_engine *engine, const void *opts,
    const struct fm_fabric *fab, const struct fm_tables *t, struct fm_error *err);
/* What the engine wrote, under the caller's numbers, into t.  FM_E_RESOURCE. */
int renumber_take(
    struct renumbered *r, const struct fm_fabric *fab, struct fm_tables *t, struct fm_error *err);
void renumber_end(struct renumbered *r);

#endif
