/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab/judge/metrics_internal.h - what the parts of metrics share.
 *
 *	metrics.c	adding up
 *	metrics_shift.c	the worst shift
 *	metrics_ebb.c	random bisections
 */
#ifndef LAB_JUDGE_METRICS_INTERNAL_H
#define LAB_JUDGE_METRICS_INTERNAL_H

#include "core/graph/gauge.h"
#include "lab/judge/metrics.h"

/* The first walk, over all switches, gives the loads as well. */
int gauge_shift(struct gauge *g, struct walk *walk, uint32_t *max, struct fm_error *err);
int gauge_ebb(
    struct gauge *g, const struct metrics_request *req, double *ebb, struct fm_error *err);

#endif
