/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab/judge/metrics_internal.h - what the parts of metrics share.
 *
 *	metrics.c	adding up
 *	metrics_shift.c	the worst shift
 *	metrics_lids.c	several LIDs an end
 */
#ifndef LAB_JUDGE_METRICS_INTERNAL_H
#define LAB_JUDGE_METRICS_INTERNAL_H

#include "core/gauge/gauge.h"
#include "lab/judge/metrics.h"

/* paths_avg, paths_several, paths_apart, ebb_striped (metrics_lids.c).  FM_E_RESOURCE. */
int gauge_lids(struct gauge *g, uint64_t seed, struct metrics *m, struct fm_error *err);
/* The first walk, over all switches, gives the loads as well. */
int gauge_shift(struct gauge *g, struct walk *walk, uint32_t *max, struct fm_error *err);

#endif
