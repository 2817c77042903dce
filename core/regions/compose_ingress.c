/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which gates serve, and where the core hands LIDs of islands over.
 *
 * A gate of a component serves when all whose traffic is to leave by it have a route to
 * it.  An island's LID is handed over at a gate that is nearest to its switch, of
 * those to which a gate that serves leads; of the cables there the LID's number picks
 * one, and the component of the core where it begins is the LID's ingress.
 *
 * O(LIDs * cables of the island).
 */
#include <string.h>

#include "core/regions/compose_gateways.h"

void
compose_mark_gates(struct composer *c, uint32_t x)
{
	struct component *p = &c->component[x];

	memset(p->gate_serves, 1, p->n_gates);
	for (uint32_t u = 0; p->reach != NULL && u < p->n; u++)
		for (uint32_t g = 0; compose_sends(c->fab, p->sw[u]) && g < p->n_gates; g++)
			if (!has_reach(p, u, p->gate[g]))
				p->gate_serves[g] = 0;
}

/* Has island x, all of whose cables lead to p, one to a switch that reaches this gate? */
static bool
comes_near(const struct composer *c, uint32_t x, const struct component *p, uint32_t gate)
{
	const struct component *px = &c->component[x];

	for (uint32_t i = 0; i < px->n_exits; i++)
		if (has_reach(p, c->sw_local[px->exit[i].far], p->gate[gate]))
			return true;
	return px->n_exits == 0;
}

void
compose_mark_core_gates(struct composer *c, uint32_t component, uint32_t d)
{
	struct component *p = &c->component[component];

	compose_mark_gates(c, component);
	for (uint32_t i = 0; p->reach != NULL && i < p->n_sides; i++) {
		uint32_t x = p->side[i].component;

		if (!c->island[x] || x == d || c->component[x].n_sides > 1)
			continue;
		for (uint32_t g = 0; g < p->n_gates; g++)
			if (!comes_near(c, x, p, g))
				p->gate_serves[g] = 0;
	}
}

/* Does the core hand over by the island's cable e? */
static bool
is_handed_over(const struct composer *c, const struct exit *e)
{
	return c->component[e->to].gate_serves[e->far_gate];
}

static void
find_phi(const struct composer *c, uint32_t island, uint16_t *phi)
{
	const struct component *p = &c->component[island];

	memset(phi, 0xff, p->n * sizeof(*phi));
	for (uint32_t i = 0; i < p->n_exits; i++)
		for (uint32_t u = 0; is_handed_over(c, &p->exit[i]) && u < p->n; u++) {
			uint16_t hops = p->dist[(size_t)p->exit[i].near_gate * p->n + u];

			if (hops < phi[u] && has_reach(p, p->gate[p->exit[i].near_gate], u))
				phi[u] = hops;
		}
}

/* The cables by which LIDs at switch u are handed over; their number. */
static uint32_t
list_nearest(const struct composer *c, const struct component *p, const uint16_t *phi, uint32_t u,
    uint32_t *to)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_exits; i++)
		if (is_handed_over(c, &p->exit[i]) &&
		    p->dist[(size_t)p->exit[i].near_gate * p->n + u] == phi[u] &&
		    has_reach(p, p->gate[p->exit[i].near_gate], u))
			to[n++] = i;
	return n;
}

/* The ingress of the i-th LID, of n nearest cables. */
static uint32_t
find_ingress(const struct composer *c, uint32_t island, uint32_t i, const uint32_t *nearest,
    uint32_t n)
{
	const struct component *p = &c->component[island];
	uint32_t t = compose_lid_number(p, i);

	return n == 0 ? p->side[0].component : p->exit[nearest[(t + t / n) % n]].to;
}

void
compose_find_ingresses(struct composer *c, uint32_t island, uint16_t *phi, uint32_t *nearest)
{
	const struct component *p = &c->component[island];
	uint32_t n = 0, last = FM_NONE;

	find_phi(c, island, phi);
	for (uint32_t i = 0; i < p->n_lids; i++) {
		uint32_t u = c->sw_local[c->fab->end_sw[c->fab->lid_end[p->lid[i]]]];

		if (u != last)
			n = list_nearest(c, p, phi, u, nearest);
		last = u;
		c->lid_ingress[p->lid[i]] = find_ingress(c, island, i, nearest, n);
	}
}
