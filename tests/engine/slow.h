/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slow.h - an engine that routes until the test lets it go, and then refuses; it stops when its
 * host says so.
 */
#ifndef TESTS_ENGINE_SLOW_H
#define TESTS_ENGINE_SLOW_H

#include <fmd/engine.h>
#include <stdatomic.h>

extern const struct fm_engine slow_engine; /* "slow" */
/* The test sets may_go_on, and clears all three before it begins. */
extern atomic_bool slow_is_routing, slow_may_go_on, slow_was_cancelled;

#endif
