/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/sssp/estimate.h - how evenly an order of the switches could be loaded,
 * before anything is routed.
 */
#ifndef PLUGINS_COMMON_SSSP_ESTIMATE_H
#define PLUGINS_COMMON_SSSP_ESTIMATE_H

#include "plugins/common/paths/steps.h"

/*
 * For each of these orders a tree of legal paths is grown for a sample of the
 * switches with hosts, by load, detours included; worst[i] is the load of the
 * busiest cable under orders[i], in routes between hosts.  INFINITY: not among the best
 * for a smaller sample.
 *
 * O(orders * sample * arcs), orders in parallel.  FM_E_RESOURCE, FM_E_CANCELLED.
 */
int fm_estimate_orders(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_arcs *arcs, const struct fm_order *orders, uint32_t n_orders, double *worst,
    struct fm_error *err);

/*
 * What a cable costs that bears so much load, as a number of hops, where one of the
 * mean bears 1: one for itself and one more at a bit above the mean, soon many.
 */
#define FM_DETOUR_AT 1.3

static inline double
fm_detour_cost(double load_over_mean)
{
	double x = load_over_mean / FM_DETOUR_AT;

	return 1 + x * x * x * x;
}

#endif
