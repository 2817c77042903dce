/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/sweep/storm_truth.h - fmd's view of a quiet fabric beside the simulator's own state.
 */
#ifndef TESTS_SWEEP_STORM_TRUTH_H
#define TESTS_SWEEP_STORM_TRUTH_H

#include "tests/sweep/rig.h"

/* True: all agrees.  Else the first thing that does not, as a sentence. */
bool storm_is_true(struct rig *r, char *wrong, size_t size);

#endif
