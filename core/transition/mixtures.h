/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/transition/mixtures.h - what packets of a LID depend on while its entries change, in one VL.
 */
#ifndef CORE_TRANSITION_MIXTURES_H
#define CORE_TRANSITION_MIXTURES_H

#include "core/cdg/depend.h"
#include "core/plan/plan.h"

struct mixtures;

/* For entries that change to those of t, each with the port it has had, sorted by LID.  lost: bits
 * of channels whose cables carry nothing, or NULL; sends: [n_switches] where ends send.  All are
 * borrowed.  NULL: out of memory. */
struct mixtures *mixtures_new(uint32_t n_switches, const struct fm_tables *t, const uint64_t *lost,
    const uint8_t *sends, const struct plan_entry *entries);
/* Packets may have chosen by the groups of the plan before, which is borrowed. */
void mixtures_let_choose(struct mixtures *m, const struct plan *before);
void mixtures_free(struct mixtures *m); /* NULL is fine */
/* What the mode says of entries first .. end - 1, which are those of one LID, goes into g, which
 * has one VL and holds what packets depend on by the old tables or by the new.
 * DEPEND_CYCLE: not all of it; the caller takes the rest back (depend_undo()). */
enum depend_result mixtures_insert(
    struct mixtures *m, struct depend *g, size_t first, size_t end, enum deps_mode mode);

#endif
