/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A lane of a vector is a destination.  Steps are kept as places among the arcs of a
 * switch, down ones first: so a place says which way it goes.
 *
 * Costs are floats, of which only sums and comparisons are built for wider registers:
 * the same on every machine.  O(arcs) vector operations for FM_LEGAL_LANES destinations, then
 * O(switches) for the load of each.
 */
#include "plugins/common/sssp/legal_paths.h"

#include <string.h>

#include "lib/wide.h"
#include "plugins/common/grid/dimensions.h"
#include "plugins/common/sssp/estimate.h"

#define NO_PATH 1e30f
#define MOST_COST 1e24f /* many of these are less than NO_PATH */

typedef int32_t lanes __attribute__((vector_size(FM_LEGAL_LANES * sizeof(int32_t))));

int
fm_legal_init(const struct fm_host *host, const struct fm_arcs *arcs, struct fm_legal_paths *out,
    struct fm_error *err)
{
	size_t n = arcs->n_switches;

	*out = (struct fm_legal_paths){ .arcs = arcs,
		.by_height = fm_scratch_array(host, n, fm_sw),
		.arc = fm_scratch_array(host, arcs->n_arcs, struct fm_legal_arc),
		.arc_cost = fm_scratch_array(host, arcs->n_arcs, float),
		.first_up = fm_scratch_array(host, n, uint32_t),
		.aside = fm_scratch_array(host, arcs->n_arcs, uint8_t),
		.cost = fm_scratch_array(host, n, fm_legal_costs),
		.place = fm_scratch_array(host, n, fm_legal_bytes),
		.passing = fm_scratch_bytes(host, n, sizeof(*out->passing)) };
	if (out->by_height == NULL || out->arc == NULL || out->first_up == NULL ||
	    out->aside == NULL || out->arc_cost == NULL || out->cost == NULL ||
	    out->place == NULL || out->passing == NULL)
		return fm_no_scratch(host, "legal paths", err);
	return 0;
}

/* Down arcs, then up arcs, either in their order. */
static void
sort_arcs(struct fm_legal_paths *s, fm_sw u)
{
	const struct fm_arcs *arcs = s->arcs;
	uint32_t n = arcs->first[u];

	for (unsigned up = 0; up < 2; up++) {
		s->first_up[u] = n;
		for (fm_arc a = arcs->first[u]; a < arcs->first[u + 1]; a++)
			if (fm_goes_up(s->order, a) == up) {
				s->arc[n] = (struct fm_legal_arc){ .arc = a, .to = arcs->to[a] };
				s->aside[n++] = s->order->way[a] & FM_ARC_ASIDE;
			}
	}
}

void
fm_legal_follow(struct fm_legal_paths *s, const struct fm_order *order)
{
	s->order = order;
	for (fm_sw u = 0; u < s->arcs->n_switches; u++)
		sort_arcs(s, u);
	fm_order_sort(s->arcs, order, (uint32_t *)s->passing, s->by_height);
}

/* fm_detour_cost() of load over mean. */
FM_WIDE static void
cost_detours(const double *load, const float *capacity, float mean, uint32_t n, float *cost)
{
	for (uint32_t i = 0; i < n; i++) {
		float x = (float)load[i] / (capacity[i] * mean) / (float)FM_DETOUR_AT,
		      y = x * x * x * x;

		cost[i] = y < MOST_COST ? y + 1 : MOST_COST;
	}
}

/* Hops, and less than one more for load. */
FM_WIDE static void
cost_hops(const double *load, const float *capacity, float most, uint32_t n, float *cost)
{
	for (uint32_t i = 0; i < n; i++) {
		float x = (float)load[i] / (capacity[i] * most);

		cost[i] = x * x * (1.0f / 256) + 1;
	}
}

FM_WIDE static void
cost_linear(const double *load, const float *capacity, float most, uint32_t n, float *cost)
{
	for (uint32_t i = 0; i < n; i++)
		cost[i] = (float)load[i] / (capacity[i] * most) * (1.0f / 256) + 1;
}

void
fm_legal_weigh(
    struct fm_legal_paths *s, const double *load, const float *capacity, enum fm_legal_cost how)
{
	uint32_t n = s->arcs->n_arcs, n_links = s->arcs->link[n];
	double sum = 0;
	float most = 1;

	for (fm_arc a = 0; a < n; a++) {
		sum += load[a];
		most = (float)load[a] > most * capacity[a] ? (float)load[a] / capacity[a] : most;
	}
	if (how == FM_LEGAL_DETOURS)
		cost_detours(
		    load, capacity, sum > n_links ? (float)(sum / n_links) : 1, n, s->arc_cost);
	else if (how == FM_LEGAL_LINEAR)
		cost_linear(load, capacity, most, n, s->arc_cost);
	else
		cost_hops(load, capacity, most, n, s->arc_cost);
}

/* -------------------------------------------------------------------- sweeps */

/* Where x is less it is taken, and the step with it. */
static inline __attribute__((always_inline)) void
take_less(fm_legal_costs *cost, lanes *step, const fm_legal_costs *x, uint8_t by)
{
	lanes less = *x < *cost;

	*cost = (fm_legal_costs)((less & (lanes)*x) | (~less & (lanes)*cost));
	*step = (less & by) | (~less & *step);
}

FM_WIDE static void
sweep_down(struct fm_legal_paths *s, const fm_legal_costs *aside)
{
	for (uint32_t i = 0; i < s->arcs->n_switches; i++) {
		fm_sw u = s->by_height[i];
		fm_arc first = s->arcs->first[u];
		fm_legal_costs cost = s->cost[u];
		lanes step = { 0 };

		step += FM_STEP_NONE;
		for (uint32_t k = first; k < s->first_up[u]; k++) {
			const struct fm_legal_arc *arc = &s->arc[k];
			fm_legal_costs x = s->cost[arc->to] + s->arc_cost[arc->arc];

			if (s->aside[k])
				x += *aside;
			take_less(&cost, &step, &x, (uint8_t)(k - first));
		}
		s->cost[u] = cost;
		s->place[u] = __builtin_convertvector(step, fm_legal_bytes);
	}
}

FM_WIDE static void
sweep_up(struct fm_legal_paths *s)
{
	for (uint32_t i = s->arcs->n_switches; i-- > 0;) {
		fm_sw u = s->by_height[i];
		fm_arc first = s->arcs->first[u];
		fm_legal_costs down = s->cost[u], zero = { 0 }, cost;
		lanes climbs = down >= NO_PATH, step = { 0 };

		/* no cost is less than -1, so in the other lanes nothing is taken */
		cost = (fm_legal_costs)((climbs & (lanes)down) | (~climbs & (lanes)(zero - 1)));
		step += FM_STEP_NONE;
		for (uint32_t k = s->first_up[u]; k < s->arcs->first[u + 1]; k++) {
			fm_legal_costs x = s->cost[s->arc[k].to] + s->arc_cost[s->arc[k].arc];

			take_less(&cost, &step, &x, (uint8_t)(k - first));
		}
		s->cost[u] = (fm_legal_costs)((climbs & (lanes)cost) | (~climbs & (lanes)down));
		step = (climbs & step) | (~climbs & __builtin_convertvector(s->place[u], lanes));
		s->place[u] = __builtin_convertvector(step, fm_legal_bytes);
	}
}

void
fm_legal_find(struct fm_legal_paths *s, const fm_sw *root, uint32_t n)
{
	fm_legal_costs aside = { 0 };

	for (fm_sw u = 0; u < s->arcs->n_switches; u++)
		for (unsigned i = 0; i < FM_LEGAL_LANES; i++)
			s->cost[u][i] = NO_PATH;
	for (uint32_t i = 0; i < n; i++) {
		s->cost[root[i]][i] = 0;
		aside[i] = s->order->aside[root[i]] ? 0 : NO_PATH;
	}
	sweep_down(s, &aside);
	sweep_up(s);
}

/* ---------------------------------------------------------------------- load */

/* Bit i: byte i is all ones. */
static inline uint32_t
bits_of(const fm_legal_bytes *set)
{
	uint64_t half[2];

	memcpy(half, set, sizeof(half));
	for (unsigned i = 0; i < 2; i++)
		half[i] = (half[i] & 0x8040201008040201u) * 0x0101010101010101u >> 56;
	return (uint32_t)(half[0] | half[1] << 8);
}

/* From one switch, where all that comes by is known, on. */
static inline void
pass_on(struct fm_legal_paths *s, fm_sw u, uint32_t which, const double *weight, double *load)
{
	const struct fm_legal_arc *arc = s->arc + s->arcs->first[u];

	for (; which != 0; which &= which - 1) {
		unsigned i = (unsigned)__builtin_ctz(which);
		const struct fm_legal_arc *by = &arc[s->place[u][i]];

		s->passing[by->to][i] += s->passing[u][i];
		load[by->arc] += s->passing[u][i] * weight[i];
	}
}

/* Where the lanes' sources are the same, a lane is like another. */
static void
start_sources(struct fm_legal_paths *s, uint32_t n, const uint16_t *const *sources)
{
	bool same = true;

	for (uint32_t i = 1; i < n; i++)
		same &= sources[i] == sources[0];
	for (fm_sw u = 0; u < s->arcs->n_switches; u++)
		if (same)
			for (uint32_t i = 0; i < FM_LEGAL_LANES; i++)
				s->passing[u][i] = sources[0][u];
		else
			for (uint32_t i = 0; i < n; i++)
				s->passing[u][i] = sources[i][u];
}

void
fm_legal_add(struct fm_legal_paths *s, uint32_t n, const uint16_t *const *sources,
    const double *weight, double *load)
{
	uint32_t n_switches = s->arcs->n_switches, all = (uint32_t)((1u << n) - 1);
	fm_legal_bytes none = { 0 };

	none -= 1;
	start_sources(s, n, sources);
	for (uint32_t i = 0; i < n_switches; i++) {
		fm_sw u = s->by_height[i];
		uint8_t first_up = (uint8_t)(s->first_up[u] - s->arcs->first[u]);
		fm_legal_bytes up = (s->place[u] >= first_up) & (s->place[u] != none);

		pass_on(s, u, bits_of(&up) & all, weight, load);
	}
	for (uint32_t i = n_switches; i-- > 0;) {
		fm_sw u = s->by_height[i];
		uint8_t first_up = (uint8_t)(s->first_up[u] - s->arcs->first[u]);
		fm_legal_bytes down = s->place[u] < first_up;

		pass_on(s, u, bits_of(&down) & all, weight, load);
	}
}
