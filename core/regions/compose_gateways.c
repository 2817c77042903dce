/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One gateway for each (component, LID).
 *
 * For a destination component, components are gone through by rising rank, so that the
 * gateway beyond is known.  Candidates are the cables to all next components; those
 * over which the way to the next gateway (or to the LID's own switch) is at most
 * SLACK hops longer than over the best stay.  Which of them a LID takes follows
 * from its number t alone: component by component, leaf by leaf, so that components with equal
 * cables choose the same next component, and neighbours part.
 *
 * Where no traffic begins the cables of the gate so chosen take turns as LIDs arrive:
 * they would otherwise see a pattern of t.  Nobody upstream can tell.
 *
 * The plan before has no say: most losses are repaired (core/repair), and where all is composed
 * anew, keeping gateways saved one entry of twenty.  So down and up again ends where it began.
 *
 * Islands choose none, their core does.  A LID of an island has an ingress there, a component
 * with a cable to a gate that is nearest to the LID's switch: by number too.
 * The components of the core lead to the ingress as to its own LIDs; those that have a nearest
 * cable themselves hand over at once.
 *
 * A gateway that an engine has no route to or from (component.reach) is none.
 * O(components * LIDs), and each set of candidates once per destination component and
 * target switch.
 */
#include <stdio.h>
#include <string.h>

#include "core/regions/compose_gateways.h"
#include "lib/hash.h"
#include "lib/vec.h"

#define SLACK 1u     /* hops */
#define FAR 0x10000u /* hops, as it were: handing over comes first */

/* Candidates that are alike for LIDs with the same targets. */
struct choice {
	uint32_t first, n; /* into listed */
};

struct choosing {
	struct composer *c;
	uint32_t owner; /* component of the LIDs at hand */
	uint32_t d;	/* where they are led: to their owner, or to the ingress of an island's */
	uint32_t *of;	/* [n_of] those of the owner's LIDs that are led to d */
	uint32_t n_of;
	uint16_t
	    *phi; /* [switches of an island] hops from the nearest gate that is handed over to */
	uint32_t x;
	struct component *px;
	uint32_t *by_rank; /* [n_components] */
	uint32_t *count;   /* [n_components + 1] */
	uint32_t *stamp;   /* [n_components] */
	uint32_t *arrived; /* [n_switches] LIDs at gates where no traffic begins */
	uint32_t *side;	   /* [n_sides] next sides of x */
	uint32_t *target;  /* [n_sides] local switch in each, FM_NONE: does not lead on */
	uint32_t n_sides;
	/* Of these the ones whose target is not the same for all LIDs of d: hosts', and any */
	uint32_t *vary[2]; /* [n_vary] indices into side */
	uint32_t n_vary[2];
	uint32_t *
	    missing[2]; /* [n_components] LIDs of d, hosts' and others', that it does not lead to */
	/* the last choice, where nothing but the LID's own switch can make a difference */
	fm_sw last_sw; /* FM_NONE: there is none */
	uint32_t last_choice;
	uint32_t dropped_by; /* region that a candidate was dropped for, FM_NONE */
	struct fm_hash seen; /* targets -> index into choices */
	FM_VEC(struct choice) choices;
	FM_VEC(uint16_t) listed;
};

/* ------------------------------------------------------------- candidates */

/* Where a packet to lid has to get to within the component behind side i. */
static uint32_t
target_in(const struct choosing *g, uint32_t side, uint32_t lid)
{
	const struct composer *c = g->c;
	uint32_t y = g->px->side[side].component;
	const struct exit *e;

	if (y == g->owner)
		return c->sw_local[c->fab->end_sw[c->fab->lid_end[lid]]];
	e = exit_of(c, y, lid);
	return e != NULL ? c->sw_local[e->near] : FM_NONE;
}

/* May the cable be a gateway, as far as engines go? */
static bool
is_served(struct choosing *g, const struct exit *e, uint32_t target)
{
	const struct component *py = &g->c->component[e->to];

	if (!g->px->gate_serves[e->near_gate]) {
		g->dropped_by = g->px->region;
		return false;
	}
	if (!has_reach(py, py->gate[e->far_gate], target)) {
		g->dropped_by = py->region;
		return false;
	}
	return true;
}

/* Hops beyond the cable; UINT32_MAX: not a nearest one to hand over by. */
static uint32_t
hops_from(const struct choosing *g, const struct exit *e, uint32_t target)
{
	const struct component *py = &g->c->component[e->to];
	uint32_t hops = py->dist[(size_t)e->far_gate * py->n + target];

	if (!is_island(g->c, g->owner))
		return hops;
	if (e->to != g->owner)
		return hops + FAR;
	return hops == g->phi[target] ? 0 : UINT32_MAX;
}

/* Exit j of next side i, if there is one that may be a gateway. */
static bool
is_candidate(struct choosing *g, uint32_t i, uint32_t j, uint16_t *number, uint32_t *hops)
{
	const struct side *s = &g->px->side[g->side[i]];
	const struct exit *e;

	if (g->target[i] == FM_NONE || j >= s->n_exits)
		return false;
	*number = (uint16_t)(s->first_exit + j);
	e = &g->px->exit[*number];
	*hops = hops_from(g, e, g->target[i]);
	return is_served(g, e, g->target[i]) && *hops != UINT32_MAX;
}

/* List the candidates for the targets at hand: to different components first. */
static bool
list_candidates(struct choosing *g, struct choice *out)
{
	uint32_t most = 0, best = UINT32_MAX, hops;
	uint16_t number;

	*out = (struct choice){ .first = (uint32_t)g->listed.n };
	for (uint32_t i = 0; i < g->n_sides; i++) {
		uint32_t n = g->px->side[g->side[i]].n_exits;

		most = n > most ? n : most;
		for (uint32_t j = 0; j < n; j++)
			if (is_candidate(g, i, j, &number, &hops) && hops < best)
				best = hops;
	}
	for (uint32_t j = 0; j < most; j++)
		for (uint32_t i = 0; i < g->n_sides; i++)
			if (is_candidate(g, i, j, &number, &hops) && hops <= best + SLACK &&
			    !fm_vec_push(&g->listed, number))
				return false;
	out->n = (uint32_t)g->listed.n - out->first;
	return true;
}

/* The choice for lid; NULL: memory is out. */
static const struct choice *
choice_for(struct choosing *g, uint32_t lid, bool is_host)
{
	const uint32_t *vary = g->vary[is_host ? 0 : 1];
	uint32_t n_vary = g->n_vary[is_host ? 0 : 1], at;
	bool simple =
	    n_vary == 0 || (n_vary == 1 && g->px->side[g->side[vary[0]]].component == g->owner);
	fm_sw sw = n_vary == 0 ? FM_NONE - 1 : g->c->fab->end_sw[g->c->fab->lid_end[lid]];
	uint64_t key = fm_mix64(g->x + 1);
	struct choice fresh;

	if (simple && g->last_sw == sw)
		return &g->choices.item[g->last_choice];
	for (uint32_t j = 0; j < n_vary; j++) {
		uint32_t i = vary[j];

		g->target[i] = target_in(g, g->side[i], lid);
		/* a switch by itself is the target if it leads on: nothing to tell */
		if (g->target[i] == FM_NONE ||
		    g->c->component[g->px->side[g->side[i]].component].n > 1)
			key = fm_mix64(key * 31 + g->target[i] + ((uint64_t)i << 32));
	}
	at = fm_hash_find(&g->seen, key);
	if (at == FM_HASH_NONE) {
		at = (uint32_t)g->choices.n;
		if (!list_candidates(g, &fresh) || !fm_vec_push(&g->choices, fresh) ||
		    !fm_hash_put(&g->seen, key, at))
			return NULL;
	}
	g->last_sw = simple ? sw : FM_NONE;
	g->last_choice = at;
	return &g->choices.item[at];
}

/* -------------------------------------------------------------- choosing */

static void
blame(struct choosing *g, uint32_t lid)
{
	struct composer *c = g->c;
	fm_end e = c->fab->lid_end[lid];

	if (c->blamed != FM_NONE || g->dropped_by == FM_NONE || g->px->n_sources == 0)
		return;
	c->blamed = g->dropped_by;
	c->by_order = true;
	snprintf(c->blame, sizeof(c->blame),
	    "it has no route from or to any gateway that would lead region %s, '%s', to LID %u, "
	    "'%s'",
	    c->set->region[g->px->region].name, c->fab->sw_name[g->px->sw[0]], lid,
	    c->fab->end_name[e]);
}

/* Gateways of x for the LIDs that are led to d. */
static bool
choose_all(struct choosing *g)
{
	const struct component *pd = &g->c->component[g->owner];
	uint16_t *row = gateways_of(g->c, g->x);

	for (uint32_t at = 0; at < g->n_of; at++) {
		uint32_t i = g->of[at];
		bool is_host = i < pd->n_host_lids;
		uint32_t lid = pd->lid[i];
		uint32_t t = compose_lid_number(pd, i);
		uint16_t now = NO_EXIT;
		const struct choice *k = choice_for(g, lid, is_host);

		if (k == NULL)
			return false;
		if (k->n > 0)
			now = g->listed.item[k->first + (t + t / k->n) % k->n];
		else
			blame(g, lid);
		if (now != NO_EXIT)
			g->px->exit[now].n_lids++;
		else
			g->missing[!is_host][g->x]++;
		row[lid] = now;
	}
	return true;
}

static void
find_sides(struct choosing *g)
{
	const struct composer *c = g->c;

	g->px = &g->c->component[g->x];
	g->n_sides = g->n_vary[0] = g->n_vary[1] = 0;
	g->last_sw = FM_NONE;
	for (uint32_t i = 0; i < g->px->n_sides; i++) {
		uint32_t y = g->px->side[i].component, at = g->n_sides;

		if (!is_next(c, g->d, g->x, y) && !(y == g->owner && is_island(c, y)))
			continue;
		g->side[g->n_sides++] = i;
		g->target[at] = 0;
		if (c->component[y].n > 1 || g->missing[0][y] > 0)
			g->vary[0][g->n_vary[0]++] = at;
		if (c->component[y].n > 1 || g->missing[0][y] > 0 || g->missing[1][y] > 0)
			g->vary[1][g->n_vary[1]++] = at;
	}
}

/* Components that lead to d, nearest first; their number. */
static uint32_t
sort_components(const struct choosing *g)
{
	const struct composer *c = g->c;
	uint32_t k = c->n_components, n = 0;

	memset(g->count, 0, (k + 1) * sizeof(*g->count));
	for (uint32_t x = 0; x < k; x++)
		if (rank_to(c, g->d, x) != ORDERED_NO_RANK)
			g->count[rank_to(c, g->d, x) + 1]++;
	for (uint32_t i = 0; i < k; i++)
		g->count[i + 1] += g->count[i];
	n = g->count[k];
	for (uint32_t x = 0; x < k; x++)
		if (rank_to(c, g->d, x) != ORDERED_NO_RANK)
			g->by_rank[g->count[rank_to(c, g->d, x)]++] = x;
	return n;
}

/* A LID arrives at x, where no traffic begins: of the cables of the gate chosen for it
 * the next in turn. */
static bool
choose_arrived(struct choosing *g, uint32_t x, uint32_t lid, bool is_host)
{
	uint16_t *gateway = gateways_of(g->c, x) + lid;
	struct exit *exits = g->c->component[x].exit;
	fm_sw near = exits[*gateway].near;
	const struct choice *k;
	uint32_t n = 0, turn;

	g->x = x;
	find_sides(g);
	k = choice_for(g, lid, is_host);
	if (k == NULL)
		return false;
	for (uint32_t i = 0; i < k->n; i++)
		n += exits[g->listed.item[k->first + i]].near == near;
	if (n == 0)
		return true;
	turn = g->arrived[near]++ % n;
	for (uint32_t i = 0; i < k->n; i++) {
		uint16_t own = g->listed.item[k->first + i];

		if (exits[own].near != near || turn-- > 0)
			continue;
		exits[*gateway].n_lids--;
		exits[own].n_lids++;
		*gateway = own;
		break;
	}
	return true;
}

/* LIDs of d in turn through the components that others send them to. */
static bool
balance_transit(struct choosing *g)
{
	struct composer *c = g->c;
	const struct component *pd = &c->component[g->owner];

	memset(g->stamp, 0xff, c->n_components * sizeof(*g->stamp));
	for (uint32_t at = 0, i; at < g->n_of; at++)
		for (uint32_t z = 0; z < c->n_components; z++) {
			const struct exit *e;

			i = g->of[at];
			e = z != g->owner ? exit_of(c, z, pd->lid[i]) : NULL;
			if (e == NULL || rank_to(c, g->d, z) == ORDERED_NO_RANK ||
			    c->component[e->to].n_sources > 0 || g->stamp[e->to] == i ||
			    exit_of(c, e->to, pd->lid[i]) == NULL)
				continue;
			g->stamp[e->to] = i;
			if (!choose_arrived(g, e->to, pd->lid[i], i < pd->n_host_lids))
				return false;
		}
	return true;
}

/* LIDs of the owner's that go to d, and the components on the way. */
static bool
choose_towards(struct choosing *g, uint32_t d)
{
	struct composer *c = g->c;
	uint32_t n;

	g->d = d;
	n = sort_components(g);
	for (unsigned i = 0; i < 2; i++)
		memset(g->missing[i], 0, c->n_components * sizeof(*g->missing[i]));
	fm_hash_fini(&g->seen);
	g->choices.n = g->listed.n = 0;
	for (uint32_t i = d == g->owner; i < n; i++) {
		g->x = g->by_rank[i];
		find_sides(g);
		if (!choose_all(g))
			return false;
	}
	for (g->x = 0; c->islands && g->x < c->n_components; g->x++) {
		if (c->island[g->x] || rank_to(c, d, g->x) != ORDERED_NO_RANK)
			continue;
		find_sides(g);
		if (!choose_all(g)) /* at most by a cable of its own */
			return false;
	}
	return balance_transit(g);
}

static bool
choose_for_all(struct choosing *g)
{
	g->n_of = g->c->component[g->owner].n_lids;
	for (uint32_t i = 0; i < g->n_of; i++)
		g->of[i] = i;
	return choose_towards(g, g->owner);
}

/* LIDs of the owner by the components of the core. */
static bool
choose_for_island(struct choosing *g, uint32_t *nearest)
{
	struct composer *c = g->c;
	const struct component *p = &c->component[g->owner];

	if (p->n_sides == 0)
		return true;
	compose_find_ingresses(c, g->owner, g->phi, nearest);
	for (uint32_t side = 0; side < p->n_sides; side++) {
		uint32_t ingress = p->side[side].component;

		g->n_of = 0;
		for (uint32_t i = 0; i < p->n_lids; i++)
			if (c->lid_ingress[p->lid[i]] == ingress)
				g->of[g->n_of++] = i;
		if (g->n_of > 0 && !choose_towards(g, ingress))
			return false;
	}
	return true;
}

/* Every component's LIDs. */
static bool
choose_gateways(struct choosing *g)
{
	struct composer *c = g->c;
	uint32_t most = 0, *nearest;
	bool ok = true;

	for (uint32_t x = 0; x < c->n_components; x++)
		most = c->component[x].n_exits > most ? c->component[x].n_exits : most;
	nearest = fm_arena_array(&c->mem, most + 1, uint32_t);
	if (nearest == NULL)
		return false;
	for (g->owner = 0; ok && g->owner < c->n_components; g->owner++) {
		for (uint32_t x = 0; c->islands && x < c->n_components; x++)
			if (!c->island[x])
				compose_mark_core_gates(c, x, g->owner);
		ok = is_island(c, g->owner) ? choose_for_island(g, nearest) : choose_for_all(g);
	}
	return ok;
}

static void
clear_loads(struct composer *c)
{
	for (uint32_t x = 0; x < c->n_components; x++)
		for (uint32_t i = 0; i < c->component[x].n_exits; i++)
			c->component[x].exit[i].n_lids = 0;
}

static bool
alloc_choosing(struct choosing *g)
{
	struct fm_arena *mem = &g->c->mem;
	size_t k = g->c->n_components + 2u;
	uint32_t **arrays[] = { &g->by_rank, &g->count, &g->stamp, &g->side, &g->target,
		&g->vary[0], &g->vary[1], &g->missing[0], &g->missing[1] };

	for (size_t i = 0; i < sizeof(arrays) / sizeof(*arrays); i++)
		if ((*arrays[i] = fm_arena_array(mem, k, uint32_t)) == NULL)
			return false;
	g->arrived = fm_arena_array(mem, g->c->fab->n_switches + 1, uint32_t);
	g->of = fm_arena_array(mem, g->c->n_lid_room, uint32_t);
	g->phi = fm_arena_array(mem, g->c->fab->n_switches + 1, uint16_t);
	return g->arrived != NULL && g->of != NULL && g->phi != NULL;
}

int
compose_find_gateways(struct composer *c, struct fm_error *err)
{
	struct choosing g = { .c = c, .dropped_by = FM_NONE };
	uint32_t k = c->n_components;
	bool ok;

	if (!alloc_choosing(&g))
		return compose_no_memory(err);
	c->blamed = FM_NONE;
	memset(c->gateway, 0xff, k * c->n_lid_room * sizeof(*c->gateway));
	clear_loads(c);
	for (uint32_t x = 0; x < k; x++)
		compose_mark_gates(c, x);
	ok = choose_gateways(&g);
	fm_hash_fini(&g.seen);
	fm_vec_fini(&g.choices);
	fm_vec_fini(&g.listed);
	return ok ? 0 : compose_no_memory(err);
}
