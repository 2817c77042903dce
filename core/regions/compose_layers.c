/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each path demands of the components it crosses.
 *
 * An SL is fixed from end to end; inside a component it selects a *value*: a layer, or
 * the engine's own SL for the component's own LIDs.  Flat: one layer.  Islands: one
 * layer beside the islands' local traffic.  Phases: layer 0 while a path still
 * goes up in the order of components, 1 from where it goes down, the destination's
 * component included.  Give a channel the layer of the component it begins in: layer
 * changes only rise, so a cycle would stay in one layer; there all boundaries
 * lead one way through a strict order, so it would stay in one component; whose
 * routes have none.
 *
 * The layer depends on (component, destination component) alone.  Components of one switch
 * demand nothing: the direction of the outgoing cable is the layer.
 *
 * O(components^2 * cables between them / 64), and each LID of an engine with SLs once
 * for each component.
 */
#include <string.h>

#include "core/regions/compose_sls.h"
#include "core/regions/compose_steps.h"
#include "lib/bitset.h"
#include "lib/hash.h"

struct listing {
	struct composer *c;
	struct demands *out;
	size_t words;
	uint64_t
	    *crossed; /* [n_components][words] components of more than one switch on the way to d */
	uint32_t *order; /* [n_components] by rank */
	struct fm_hash seen;
	struct demand_part *parts; /* [n_components] of the demand in hand */
};

void
compose_demands_fini(struct demands *d)
{
	fm_vec_fini(&d->all);
	fm_vec_fini(&d->parts);
	fm_vec_fini(&d->of);
	fm_vec_fini(&d->asked);
}

/* Have the local LIDs of x VLs of their own, with the engine's SLs? */
static bool
is_local_apart(const struct composer *c, uint32_t x)
{
	return c->islands ? c->island[x] : compose_has_own(c, x);
}

/* ---------------------------------------------------------- engines' SLs */

uint8_t
compose_own_sl(const struct composer *c, uint32_t x, fm_sw from, uint32_t lid)
{
	uint32_t d = c->lid_component[lid];
	const struct component *pd = &c->component[d];

	if (pd->tables == NULL || (c->islands && x != d))
		return 0;
	while (x != d) {
		const struct exit *e = exit_of(c, x, lid);

		if (e == NULL)
			return 0;
		from = e->far;
		x = e->to;
	}
	return tables_sl(&pd->tables->t, c->sw_local[from], (uint16_t)lid) % N_SLS;
}

/* Which of its engine's SLs do packets from x to d have? */
static void
find_own_sls(void *arg, uint32_t x, unsigned worker)
{
	struct composer *c = arg;
	const struct component *p = &c->component[x];

	for (uint32_t d = 0; d < c->n_components; d++) {
		const struct component *pd = &c->component[d];
		uint16_t sls = 0;

		for (uint32_t i = 0; pd->tables != NULL && x != d && i < pd->n_lids; i++)
			sls |= (uint16_t)(1u << compose_own_sl(c, x, p->sw[0], pd->lid[i]));
		for (uint32_t u = 0; pd->tables != NULL && x == d && u < p->n; u++) {
			for (uint32_t i = 0; i < p->n_lids; i++)
				sls |= (uint16_t)(1u << compose_own_sl(c, x, p->sw[u], p->lid[i]));
			if (pd->tables->t.sl_shape != FM_SL_BY_SW_DLID)
				break;
		}
		c->own_sls[(size_t)x * c->n_components + d] = sls != 0 ? sls : 1;
	}
}

/* ---------------------------------------------------------------- values */

static uint8_t
value_at(const struct composer *c, uint32_t x, uint32_t source, uint32_t d, unsigned own)
{
	bool local = c->islands ? source == d : x == d;

	if (local && x == d && is_local_apart(c, x))
		return (uint8_t)own;
	if (!c->phases)
		return FOREIGN;
	return (uint8_t)(FOREIGN + (x == d || goes_down(c, d, x)));
}

/* Is there a way from s to d? */
static bool
leads_to(const struct composer *c, uint32_t s, uint32_t d)
{
	if (c->islands)
		return c->component[s].fabric_component == c->component[d].fabric_component;
	return rank_to(c, d, s) != ORDERED_NO_RANK;
}

/* Where there are islands an SL means the same everywhere in the core: only what it means
 * where a path begins and ends is asked for. */
static void
find_ends(struct listing *g, uint32_t d)
{
	struct composer *c = g->c;

	memset(g->crossed, 0, c->n_components * g->words * sizeof(*g->crossed));
	for (uint32_t x = 0; x < c->n_components; x++) {
		if (c->component[x].n > 1)
			fm_bit_set(g->crossed + x * g->words, x);
		if (c->component[d].n > 1)
			fm_bit_set(g->crossed + x * g->words, d);
	}
}

/* Components on the way to d, for those that lead there: nearest first. */
static void
find_crossed(struct listing *g, uint32_t d)
{
	struct composer *c = g->c;
	uint32_t k = c->n_components, n = 0;

	memset(g->crossed, 0, k * g->words * sizeof(*g->crossed));
	for (uint32_t rank = 0, before = 1; n != before; rank++) {
		before = n;
		for (uint32_t x = 0; x < k; x++)
			if (rank_to(c, d, x) == rank)
				g->order[n++] = x;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t x = g->order[i];
		uint64_t *mine = g->crossed + x * g->words;

		if (c->component[x].n > 1)
			fm_bit_set(mine, x);
		for (uint32_t s = 0; x != d && s < c->component[x].n_sides; s++) {
			uint32_t y = c->component[x].side[s].component;

			for (size_t w = 0; is_next(c, d, x, y) && w < g->words; w++)
				mine[w] |= g->crossed[y * g->words + w];
		}
	}
}

static bool
same_parts(
    const struct demands *out, const struct demand *a, const struct demand_part *parts, uint32_t n)
{
	const struct demand_part *b = out->parts.item + a->first;

	for (uint32_t i = 0; i < n; i++)
		if (a->n != n || b[i].component != parts[i].component ||
		    b[i].value != parts[i].value)
			return false;
	return a->n == n;
}

/* The demand in hand, found or new; false: memory is out. */
static bool
add_demand(struct listing *g, uint32_t n, struct demand ask)
{
	struct demands *out = g->out;
	uint64_t key = n;
	uint32_t at;

	for (uint32_t i = 0; i < n; i++)
		key = fm_mix64(key ^ ((uint64_t)g->parts[i].component << 16 | g->parts[i].value));
	at = fm_hash_find(&g->seen, key);
	if (at == FM_HASH_NONE || !same_parts(out, &out->all.item[at], g->parts, n)) {
		struct demand fresh = ask;

		at = (uint32_t)out->all.n;
		fresh.first = (uint32_t)out->parts.n;
		fresh.n = n;
		if (!fm_vec_append(&out->parts, g->parts, n) || !fm_vec_push(&out->all, fresh) ||
		    !fm_hash_put(&g->seen, key, at))
			return false;
	}
	return fm_vec_push(&out->of, at) && fm_vec_push(&out->asked, ask);
}

/* Every path from a source component to d, by the engine's SL it has there. */
static bool
list_path(struct listing *g, uint32_t source, uint32_t d)
{
	struct composer *c = g->c;
	const uint64_t *crossed = g->crossed + source * g->words;
	uint16_t sls = c->own_sls[(size_t)source * c->n_components + d];

	for (unsigned own = 0; own < N_SLS; own++) {
		struct demand ask = { .source = source, .dest = d, .own = (uint8_t)own };
		uint32_t n = 0;

		if (!(sls >> own & 1))
			continue;
		FM_EACH_BIT (x, crossed, c->n_components) {
			uint8_t value = value_at(c, (uint32_t)x, source, d, own);

			g->parts[n++] = (struct demand_part){ (uint16_t)x, value };
			if (value >= FOREIGN)
				c->lower[x] |= (uint8_t)(1u << (value - FOREIGN));
		}
		if (!add_demand(g, n, ask))
			return false;
	}
	return true;
}

static bool
list_all(struct listing *g)
{
	struct composer *c = g->c;

	for (uint32_t d = 0; d < c->n_components; d++) {
		if (c->component[d].n_lids == 0)
			continue;
		if (c->islands)
			find_ends(g, d);
		else
			find_crossed(g, d);
		for (uint32_t s = 0; s < c->n_components; s++)
			if (c->component[s].n_sources > 0 && leads_to(c, s, d) &&
			    !list_path(g, s, d))
				return false;
	}
	return true;
}

int
compose_list_demands(struct composer *c, struct demands *out, struct fm_error *err)
{
	struct listing g = { .c = c, .out = out, .words = FM_BITSET_WORDS(c->n_components) };
	size_t k = c->n_components;
	bool ok;

	g.crossed = fm_arena_array(&c->mem, k * g.words, uint64_t);
	g.order = fm_arena_array(&c->mem, k, uint32_t);
	g.parts = fm_arena_array(&c->mem, k, struct demand_part);
	if (g.crossed == NULL || g.order == NULL || g.parts == NULL)
		return compose_no_memory(err);
	memset(c->lower, 0, k);
	fm_pool_for(c->r->workers, c->n_components, find_own_sls, c);
	ok = list_all(&g);
	for (uint32_t x = 0; x < k; x++) {
		c->n_layers[x] = c->lower[x] == 3 ? 2 : 1;
		c->lower[x] = c->lower[x] == 2;
	}
	fm_hash_fini(&g.seen);
	return ok ? 0 : compose_no_memory(err);
}
