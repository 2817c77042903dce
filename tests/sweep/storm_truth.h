/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/sweep/storm_truth.h - fmd's view of a quiet fabric beside the simulator's own state.
 */
#ifndef TESTS_SWEEP_STORM_TRUTH_H
#define TESTS_SWEEP_STORM_TRUTH_H

#include "tests/sweep/storm_internal.h"

/* True: all agrees with what the fmd believes that rules.  Else the first thing that does not, as
 * a sentence. */
bool storm_is_true(struct storm *s, struct rig *ruler, char *wrong, size_t size);

#endif
