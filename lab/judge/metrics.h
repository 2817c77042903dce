/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab/judge/metrics.h - how good tables are: loads, eBB, shifts.
 * Definitions: routes between CA ports; load of a directed switch-to-switch
 * link = number of (source CA port, destination CA port) routes through it.
 */
#ifndef LAB_JUDGE_METRICS_H
#define LAB_JUDGE_METRICS_H

#include "core/graph/snapshot.h"
#include "lib/pool.h"

struct metrics_request {
	uint32_t ebb_samples; /* random bisections; 0 = 1000 */
	uint64_t seed;
	size_t max_ranges; /* of sources kept at a time, 16 bytes each; 0 = 8 Mi */
};

struct metrics {
	uint64_t load_min, load_max; /* all-to-all routes per directed link */
	double load_avg;
	double a2a_max_over_avg;
	double ebb; /* mean over random perfect matchings of 1 / (max load on the flow's path) */
	/* With several LIDs an end, of (switch with hosts, host elsewhere): how many paths to its
	 * LIDs differ, the share of those that have more than one, and of those that have two
	 * without a cable in common (0: one LID each). */
	double paths_avg, paths_several, paths_apart;
	double ebb_striped; /* each flow parted evenly among the LIDs of its destination */
	uint32_t sp_max;    /* max over all N-1 shifts (topological order) of flows on one link */
};

int metrics_compute(const struct snapshot *snap, const struct fm_tables *tables,
    const struct metrics_request *req, struct fm_pool *workers, struct metrics *out,
    struct fm_error *err);

#endif
