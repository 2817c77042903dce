/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which components are islands, and which their core (compose_islands.c).
 *
 * Islands touch no islands, and what is left hangs together and has engines of one
 * VL.  Any such choice is right as far as islands go; whether the core is free of
 * cycles is for verify to say.  Attempts:
 *
 *	one component that all others touch and no two others touch: these are islands
 *	the components whose engines have SLs of their own; they cannot be of the core
 *	these, and of the components on the credit loop that was found last one more, the
 *	one with the fewest neighbours, of those with hosts; with the other components of
 *	its region if all of them may be islands at once, as regions are what the
 *	administrator thinks in
 *
 * The fewer islands the better: their traffic takes the nearest gates, not the least
 * loaded.  O(components + cables between them) for each test of whether the core hangs
 * together.
 */
#include <string.h>

#include "core/regions/compose_gateways.h"
#include "core/regions/compose_steps.h"

#define MOST_ATTEMPTS 10u
#define MOST_TESTS 3000u /* of whether a core hangs together, for each attempt */

/* ------------------------------------------------------------------ one component */

/* The component that everybody touches and nobody touches another, or FM_NONE. */
static uint32_t
find_core(const struct composer *c)
{
	uint32_t core = FM_NONE;

	if (c->n_components < 2)
		return FM_NONE;
	for (uint32_t x = 0; x < c->n_components; x++)
		if (c->component[x].region == c->merged && c->component[x].n_sides > 0)
			return compose_has_own(c, x) ? FM_NONE : x;
	for (uint32_t x = 0; x < c->n_components; x++)
		if (c->component[x].n_sides > 1 && core != FM_NONE)
			return FM_NONE;
		else if (c->component[x].n_sides > 1)
			core = x;
	/* of two in a row either will do: above all one that needs a single VL, then the upper */
	for (uint32_t i = 0; core == FM_NONE && i < 2 * c->n_components; i++) {
		uint32_t x = c->whole.graph.by_place[i % c->n_components];

		if (c->component[x].n_sides == 1 &&
		    (i >= c->n_components || !compose_has_own(c, x)))
			core = x;
	}
	if (core == FM_NONE || compose_has_own(c, core))
		return FM_NONE;
	for (uint32_t x = 0; x < c->n_components; x++)
		if (x != core && c->component[x].n_sides == 1 &&
		    c->component[x].side[0].component != core)
			return FM_NONE;
	return core;
}

/* -------------------------------------------------------------- several components */

struct choice {
	struct composer *c;
	uint32_t *queue;  /* [n_components] */
	uint8_t *seen;	  /* [n_components] */
	uint8_t *has_one; /* [n_components] */
	uint32_t n_tests;
};

static void
search_core(struct choice *k, uint32_t root)
{
	const struct composer *c = k->c;
	uint32_t n = 0;

	k->queue[n++] = root;
	k->seen[root] = 1;
	for (uint32_t i = 0; i < n; i++) {
		const struct component *p = &c->component[k->queue[i]];

		for (uint32_t j = 0; j < p->n_sides; j++) {
			uint32_t y = p->side[j].component;

			if (c->island[y] || k->seen[y])
				continue;
			k->seen[y] = 1;
			k->queue[n++] = y;
		}
	}
}

/* Does the core hang together, in every component of the fabric? */
static bool
is_joined(struct choice *k)
{
	const struct composer *c = k->c;

	k->n_tests++;
	memset(k->seen, 0, c->n_components);
	memset(k->has_one, 0, c->snap->n_components);
	for (uint32_t x = 0; x < c->n_components; x++) {
		if (c->island[x] || k->seen[x])
			continue;
		if (k->has_one[c->component[x].fabric_component])
			return false;
		k->has_one[c->component[x].fabric_component] = 1;
		search_core(k, x);
	}
	return true;
}

static bool
touches_island(const struct composer *c, uint32_t x)
{
	for (uint32_t i = 0; i < c->component[x].n_sides; i++)
		if (c->island[c->component[x].side[i].component])
			return true;
	return false;
}

/* Make an island of x, if it may be one. */
static bool
add_island(struct choice *k, uint32_t x)
{
	struct composer *c = k->c;

	if (c->component[x].n_sides == 0 || touches_island(c, x) || k->n_tests > MOST_TESTS)
		return false;
	c->island[x] = 1;
	if (!is_joined(k))
		c->island[x] = 0;
	return c->island[x];
}

/* All other components of the region of x, or none of them. */
static void
add_region(struct choice *k, uint32_t x)
{
	struct composer *c = k->c;
	uint32_t n = 0;
	bool all = true;

	for (uint32_t y = 0; all && y < c->n_components; y++) {
		if (c->island[y] || c->component[y].region != c->component[x].region)
			continue;
		all = add_island(k, y);
		k->queue[c->n_components + n] = y;
		n += all;
	}
	while (!all && n > 0)
		c->island[k->queue[c->n_components + --n]] = 0;
}

/* All components of a region, or none of them. */
static bool
add_whole_region(struct choice *k, uint32_t region)
{
	struct composer *c = k->c;
	uint32_t n = 0;
	bool all = true;

	for (uint32_t x = 0; all && x < c->n_components; x++) {
		if (c->component[x].region != region)
			continue;
		all = add_island(k, x);
		k->queue[c->n_components + n] = x;
		n += all;
	}
	while (!all && n > 0)
		c->island[k->queue[c->n_components + --n]] = 0;
	return all;
}

/* Components with engines that need VLs; false: they touch each other, or part the core. */
static bool
take_own(struct choice *k)
{
	struct composer *c = k->c;

	for (uint32_t x = 0; x < c->n_components; x++)
		c->island[x] = compose_has_own(c, x);
	for (uint32_t x = 0; x < c->n_components; x++)
		if (c->island[x] && touches_island(c, x))
			return false;
	return is_joined(k);
}

/* One more island, of the components on a credit loop. */
static bool
add_from_cycle(struct choice *k, const uint8_t *on_cycle)
{
	struct composer *c = k->c;
	uint8_t *is_on = fm_arena_array(&c->mem, c->n_components + 1, uint8_t);
	uint32_t best;

	if (is_on == NULL)
		return false;
	for (fm_sw sw = 0; sw < c->fab->n_switches; sw++)
		if (on_cycle[sw] && c->sw_component[sw] != FM_NONE)
			is_on[c->sw_component[sw]] = 1;
	do {
		best = FM_NONE;
		for (uint32_t x = 0; x < c->n_components; x++)
			if (is_on[x] && !c->island[x] && c->component[x].n_sources > 0 &&
			    (best == FM_NONE ||
				c->component[x].n_sides < c->component[best].n_sides))
				best = x;
		if (best == FM_NONE)
			return false;
		is_on[best] = 0;
	} while (!add_island(k, best));
	add_region(k, best);
	return true;
}

static bool
has_islands(const struct composer *c)
{
	for (uint32_t x = 0; x < c->n_components; x++)
		if (c->island[x])
			return true;
	return false;
}

static bool
room_to_choose(struct choice *k)
{
	struct composer *c = k->c;

	k->queue = fm_arena_array(&c->mem, 2u * c->n_components, uint32_t);
	k->seen = fm_arena_array(&c->mem, c->n_components, uint8_t);
	k->has_one = fm_arena_array(&c->mem, c->snap->n_components + 1, uint8_t);
	return k->queue != NULL && k->seen != NULL && k->has_one != NULL;
}

/* The largest regions first: what is not chosen loses its engine. */
bool
compose_choose_leaves(struct composer *c)
{
	struct choice k = { .c = c };
	uint32_t n = c->set->n_regions;
	uint8_t *done = fm_arena_array(&c->mem, n + 1, uint8_t);
	bool any = false;

	if (done == NULL || !room_to_choose(&k))
		return false;
	memset(c->island, 0, c->n_components);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t most = FM_NONE;

		for (uint32_t r = 0; r < n; r++)
			if (!done[r] && c->region[r].n_routed > 0 &&
			    (most == FM_NONE ||
				c->region[r].n_switches > c->region[most].n_switches))
				most = r;
		if (most == FM_NONE)
			break;
		done[most] = 1;
		any |= add_whole_region(&k, most);
	}
	return any;
}

bool
compose_choose_islands(struct composer *c, unsigned attempt)
{
	struct choice k = { .c = c };
	const uint8_t *on_cycle = c->on_cycle;

	if (attempt > MOST_ATTEMPTS || !room_to_choose(&k))
		return false;
	if (attempt == 0) {
		c->core = find_core(c);
		for (uint32_t x = 0; x < c->n_components; x++)
			c->island[x] = x != c->core &&
			    (c->merged == FM_NONE || c->component[x].region != c->merged);
		return c->core != FM_NONE;
	}
	if (attempt == 1) {
		if (!take_own(&k))
			return false;
		if (has_islands(c))
			return true;
		on_cycle = c->flat_cycle;
	}
	return add_from_cycle(&k, on_cycle);
}
