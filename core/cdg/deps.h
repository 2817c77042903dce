/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/cdg/deps.h - the channel dependencies of one destination while its
 * entries change from old to new.
 *
 * A vertex is (link of today, VL).  Packets from link f go on by link g when the
 * switch between them sends the destination by g; each switch has an old and a
 * new way out, so there are four kinds of steps:
 *
 *	old-old, new-new	of the tables by themselves
 *	old-new			sent before its switch was written, met after the next was
 *	new-old			the other way round, with unchanged entries in between or
 *				not; rule N (transition.h) excludes it
 *
 * SLs are those of the old tables, and replies under the requester's SL where the
 * model says so, carried from every source on along all ways that there may be, and for
 * whoever has not asked again on the new ones, too.  SLs of the new tables alone are given
 * out when all is written: along entries that are new or do not change.  VLs are by both
 * SL2VL tables.  Links that are gone carry nothing.
 *
 * Cost: O(switches) per destination, times the SLs in use.
 */
#ifndef CORE_CDG_DEPS_H
#define CORE_CDG_DEPS_H

#include <stdbool.h>
#include <stddef.h>

#include <fmd/engine.h>

#include "core/cdg/sl_model.h"

enum deps_mode { DEPS_OLD, DEPS_NEW, DEPS_ORDERED /* all but new-old */, DEPS_ALL };

struct dep {
	uint32_t from, to; /* link * n_vls + vl */
};

/* Tables and the fabric whose links and ends they are for; borrowed. */
struct deps_side {
	const struct fm_fabric *fab;
	const struct fm_tables *t;
	uint16_t top_lid; /* highest with entries */
};

/* Is there an end on the switch that sends? */
bool deps_has_sender(const struct fm_fabric *fab, fm_sw sw);

struct deps; /* what is known of a pair of them */

/* NULL: out of memory. */
struct deps *deps_new(struct deps_side old, struct deps_side now, enum verify_sl_model model);
void deps_free(struct deps *d);
/* As if no link left the switch by the port. */
void deps_cut(struct deps *d, fm_sw sw, uint8_t port);
uint32_t deps_n_vertices(const struct deps *d);
uint32_t deps_n_vls(const struct deps *d);
/* Does the LID have entries that change, and an owner?  All tables are compared when this is
 * asked for the first time. */
bool deps_changes(struct deps *d, uint16_t lid);
/* The dependencies of a LID: *list, *n, good until the next call.  Each once.
 * False: out of memory. */
bool deps_of(struct deps *d, uint16_t lid, enum deps_mode mode, const struct dep **list, size_t *n);

#endif
