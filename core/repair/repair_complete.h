/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/repair/repair_complete.h - ways for switches that an engine gave none, in one VL: by the
 * dependencies that its tables have, else by new ones that close no cycle.
 */
#ifndef CORE_REPAIR_REPAIR_COMPLETE_H
#define CORE_REPAIR_REPAIR_COMPLETE_H

#include "core/engine/router.h"
#include "core/graph/snapshot.h"
#include "core/graph/tables.h"
#include "lib/vec.h"

/* A switch from which packets to the LID leave, or go on, and that has no way to it. */
struct repair_hole {
	fm_sw sw;
	uint16_t lid;
};

struct repair_entries {
	FM_VEC(struct plan_entry) e;
};

/* Fill holes[n], by LID, of the tables of snap, which take one VL and are free of credit loops by
 * themselves; where a LID has no way that fits, they stay.  What the entries were that have been
 * written goes behind those of was, in the order of writing.  FM_E_RESOURCE. */
int repair_complete(struct router *r, struct snapshot *snap, struct tables *t,
    const struct repair_hole *holes, size_t n, struct repair_entries *was, struct fm_error *err);

#endif
