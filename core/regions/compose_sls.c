/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fewest signatures in which all demands fit: a covering problem, done by best
 * fit from several starts.
 *
 *	by size		longest demands first, those of one length RESTARTS times at random
 *	by destination	all that lead to one component first as one demand: the layer
 *			depends on (component, destination), so they agree
 *	by code		on a star, each island has a word of n bits, half of them 1;
 *			two different words differ both ways, so for islands i, j
 *			there is a bit that is 0 (leaves) in i and 1 (arrives) in j:
 *			n signatures where C(n, n/2) >= islands, times the SLs of
 *			the islands' engines
 *
 * O(starts * demands * signatures * parts).
 */
#include <stdlib.h>
#include <string.h>

#include "core/regions/compose_sls.h"
#include "lib/rng.h"

#define RESTARTS 40
#define EFFORT 4000000u /* parts looked at over all restarts, about */

struct signing {
	struct composer *c;
	struct demands *d;
	uint32_t most, n, best;
	uint8_t *signature, *best_signature; /* [most][n_components] */
	uint32_t *mixed, *turn;		     /* [demands] turn: order of insertion */
	uint32_t *count;		     /* [n_components + 1] */
	uint8_t *sl, *best_sl;		     /* [demands] */
	struct demand_part *whole;	     /* [n_components] */
};

/* How many parts agree with signature s already; UINT32_MAX: it does not fit. */
static uint32_t
agreement(const struct signing *g, uint32_t s, const struct demand_part *parts, uint32_t n)
{
	const uint8_t *sig = g->signature + (size_t)s * g->c->n_components;
	uint32_t same = 0;

	for (uint32_t i = 0; i < n; i++)
		if (sig[parts[i].component] == parts[i].value)
			same++;
		else if (sig[parts[i].component] != NO_VALUE)
			return UINT32_MAX;
	return same;
}

/* Best fit; its signature, or UINT32_MAX: there is no room. */
static uint32_t
insert(struct signing *g, const struct demand_part *parts, uint32_t n)
{
	uint32_t best = UINT32_MAX, most = 0;
	uint8_t *sig;

	for (uint32_t s = 0; s < g->n; s++) {
		uint32_t same = agreement(g, s, parts, n);

		if (same != UINT32_MAX && (best == UINT32_MAX || same > most)) {
			best = s;
			most = same;
		}
	}
	if (best == UINT32_MAX) {
		if (g->n == g->most)
			return UINT32_MAX;
		best = g->n++;
	}
	sig = g->signature + (size_t)best * g->c->n_components;
	for (uint32_t i = 0; i < n; i++)
		sig[parts[i].component] = parts[i].value;
	return best;
}

static void
begin(struct signing *g)
{
	g->n = 0;
	memset(g->signature, NO_VALUE, (size_t)g->most * g->c->n_components);
}

/* Insert all in turn; keep the result if it is the best. */
static void
finish(struct signing *g)
{
	uint8_t *sig;

	for (size_t i = 0; i < g->d->all.n; i++) {
		const struct demand *d = &g->d->all.item[g->turn[i]];
		uint32_t s = insert(g, g->d->parts.item + d->first, d->n);

		if (s == UINT32_MAX)
			return;
		g->sl[g->turn[i]] = (uint8_t)s;
	}
	if (g->n >= g->best)
		return;
	g->best = g->n;
	sig = g->best_signature;
	g->best_signature = g->signature;
	g->signature = sig;
	memcpy(g->best_sl, g->sl, g->d->all.n);
}

/* Longest first, those of one length in their order in mixed. */
static void
sort_by_size(struct signing *g)
{
	uint32_t n = (uint32_t)g->d->all.n, at = 0;

	memset(g->count, 0, (g->c->n_components + 1) * sizeof(*g->count));
	for (uint32_t i = 0; i < n; i++)
		g->count[g->d->all.item[i].n]++;
	for (uint32_t size = g->c->n_components + 1; size-- > 0;) {
		uint32_t here = g->count[size];

		g->count[size] = at;
		at += here;
	}
	for (uint32_t i = 0; i < n; i++)
		g->turn[g->count[g->d->all.item[g->mixed[i]].n]++] = g->mixed[i];
}

static void
shuffle(struct signing *g, struct fm_rng *rng)
{
	for (uint32_t i = (uint32_t)g->d->all.n; i > 1; i--) {
		uint32_t j = fm_rng_below(rng, i), t = g->mixed[i - 1];

		g->mixed[i - 1] = g->mixed[j];
		g->mixed[j] = t;
	}
}

/* All that asked[from..to-1], of one destination, demand with one SL of its engine. */
static uint32_t
whole_demand(struct signing *g, size_t from, size_t to, unsigned own)
{
	uint8_t *value = g->best_signature; /* scratch until there is a best */
	uint32_t n = 0;

	memset(value, NO_VALUE, g->c->n_components);
	for (size_t i = from; i < to; i++) {
		const struct demand *d = &g->d->all.item[g->d->of.item[i]];

		for (uint32_t j = 0; g->d->asked.item[i].own == own && j < d->n; j++) {
			const struct demand_part *part = &g->d->parts.item[d->first + j];

			if (value[part->component] != NO_VALUE &&
			    value[part->component] != part->value)
				return 0; /* islands: local and foreign differ */
			value[part->component] = part->value;
		}
	}
	for (uint32_t x = 0; x < g->c->n_components; x++)
		if (value[x] != NO_VALUE)
			g->whole[n++] = (struct demand_part){ (uint16_t)x, value[x] };
	return n;
}

/* What is asked is sorted by destination. */
static void
sign_by_destination(struct signing *g)
{
	const struct demand *asked = g->d->asked.item;
	size_t to;

	begin(g);
	for (size_t from = 0; from < g->d->asked.n; from = to) {
		for (to = from; to < g->d->asked.n && asked[to].dest == asked[from].dest; to++)
			;
		for (unsigned own = 0; own < N_SLS; own++) {
			uint32_t n = whole_demand(g, from, to, own);

			if (n > 0 && insert(g, g->whole, n) == UINT32_MAX)
				return;
		}
	}
	finish(g);
}

/* The next word with as many bits set. */
static uint32_t
next_word(uint32_t word)
{
	uint32_t low = word & -word, up = word + low;

	return up | (((word ^ up) / low) >> 2);
}

static uint32_t
binomial_half(uint32_t n)
{
	uint32_t result = 1;

	for (uint32_t i = 1; i <= n / 2; i++)
		result = result * (n + 1 - i) / i;
	return result;
}

/* The star's islands as words, and the engine's SLs they may bring. */
static void
sign_by_code(struct signing *g)
{
	const struct composer *c = g->c;
	uint32_t islands = 0, middles = 0, n = 2, word, own = 1;

	for (uint32_t x = 0; x < c->n_components; x++) {
		islands += c->component[x].n_sides == 1 && c->component[x].n > 1;
		middles += c->component[x].n_sides > 1;
		for (uint32_t s = 0; s < c->n_components; s++)
			while (c->own_sls[(size_t)s * c->n_components + x] >> own != 0)
				own++;
	}
	while (binomial_half(n) < islands && n < N_SLS)
		n++;
	if (middles > 1 || n * own > g->most || binomial_half(n) < islands)
		return;
	begin(g);
	g->n = n * own;
	word = (1u << (n / 2)) - 1;
	for (uint32_t x = 0; x < c->n_components; x++) {
		if (c->component[x].n_sides != 1 || c->component[x].n == 1)
			continue;
		for (uint32_t s = 0; s < g->n; s++) {
			bool arrives = word >> (s / own) & 1,
			     apart = c->component[x].tables != NULL;
			uint8_t in = apart ? (uint8_t)(s % own) : FOREIGN + 1;

			g->signature[(size_t)s * c->n_components + x] = arrives ? in : FOREIGN;
		}
		word = next_word(word);
	}
	finish(g);
}

static int
alloc_signing(struct signing *g, struct fm_error *err)
{
	struct fm_arena *mem = &g->c->mem;
	size_t k = g->c->n_components, n = g->d->all.n + 1;

	g->signature = fm_arena_array(mem, g->most * k + k, uint8_t);
	g->best_signature = fm_arena_array(mem, g->most * k + k, uint8_t);
	g->mixed = fm_arena_array(mem, n, uint32_t);
	g->turn = fm_arena_array(mem, n, uint32_t);
	g->count = fm_arena_array(mem, k + 1, uint32_t);
	g->sl = fm_arena_array(mem, n, uint8_t);
	g->best_sl = fm_arena_array(mem, n, uint8_t);
	g->whole = fm_arena_array(mem, k + 1, struct demand_part);
	return g->signature == NULL || g->best_signature == NULL || g->mixed == NULL ||
		g->turn == NULL || g->count == NULL || g->sl == NULL || g->best_sl == NULL ||
		g->whole == NULL
	    ? compose_no_memory(err)
	    : 0;
}

int
compose_sign(struct composer *c, struct demands *d, uint32_t most, uint8_t *signature, uint32_t *n,
    struct fm_error *err)
{
	struct signing g = { .c = c, .d = d, .most = most, .best = most + 1 };
	uint64_t cost = (uint64_t)d->parts.n * 4 + 1;
	struct fm_rng rng;
	int rc = alloc_signing(&g, err);

	if (rc != 0)
		return rc;
	for (uint32_t i = 0; i < d->all.n; i++)
		g.mixed[i] = i;
	sort_by_size(&g);
	sign_by_destination(&g);
	sign_by_code(&g);
	begin(&g);
	finish(&g);
	fm_rng_seed(&rng, d->all.n);
	for (uint32_t i = 0; i < RESTARTS && g.best > 1 && i * cost < EFFORT; i++) {
		shuffle(&g, &rng);
		sort_by_size(&g);
		begin(&g);
		finish(&g);
	}
	*n = g.best;
	if (g.best > most)
		return 0;
	memcpy(signature, g.best_signature, (size_t)most * c->n_components);
	for (size_t i = 0; i < d->all.n; i++)
		d->all.item[i].sl = g.best_sl[i];
	return 0;
}
