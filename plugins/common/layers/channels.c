/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An insertion that disagrees with the order looks at the positions between
 * its two ends only: forward from b for a, then backward from a; what leads to
 * a is put before what follows b, on the same positions.
 */
#include "plugins/common/layers/channels.h"

#include <string.h>

#include "lib/bitset.h"

int
fm_channel_map_build(const struct fm_host *host, const struct fm_arcs *arcs,
    struct fm_channel_map *out, struct fm_error *err)
{
	uint32_t n = arcs->n_arcs, words = 0;
	fm_arc *rev = fm_scratch_array(host, n, fm_arc);
	fm_sw *from = fm_scratch_array(host, n, fm_sw);
	uint32_t *word = fm_scratch_array(host, (size_t)n + 1, uint32_t);

	*out = (struct fm_channel_map){
		.arcs = arcs, .rev = rev, .from = from, .word = word, .patience = UINT32_MAX
	};
	out->before = fm_scratch_array(host, FM_BITSET_WORDS(n) + 1, uint64_t);
	out->after = fm_scratch_array(host, FM_BITSET_WORDS(n) + 1, uint64_t);
	out->found = fm_scratch_array(host, n, fm_arc);
	out->moved = fm_scratch_array(host, n, fm_arc);
	if (rev == NULL || from == NULL || word == NULL || out->before == NULL ||
	    out->after == NULL || out->found == NULL || out->moved == NULL)
		return fm_no_scratch(host, "channels", err);
	for (fm_sw s = 0; s < arcs->n_switches; s++)
		for (fm_arc a = arcs->first[s]; a < arcs->first[s + 1]; a++) {
			fm_sw to = arcs->to[a];

			from[a] = s;
			rev[a] = fm_arc_find(arcs, to, s);
			word[a] = words;
			words += (arcs->first[to + 1] - arcs->first[to] + 63) / 64;
		}
	word[n] = words;
	return 0;
}

int
fm_channels_build(const struct fm_host *host, const struct fm_channel_map *map,
    struct fm_channels *out, struct fm_error *err)
{
	uint32_t n = map->arcs->n_arcs;

	*out = (struct fm_channels){ .map = map,
		.held = fm_scratch_array(host, map->word[n], uint64_t),
		.refused = fm_scratch_array(host, map->word[n], uint64_t),
		.position = fm_scratch_array(host, n, uint32_t),
		.at = fm_scratch_array(host, n, fm_arc) };
	if (out->held == NULL || out->refused == NULL || out->position == NULL || out->at == NULL)
		return fm_no_scratch(host, "channel dependencies of a layer", err);
	for (uint32_t i = 0; i < n; i++)
		out->at[i] = out->position[i] = i;
	return 0;
}

void
fm_channels_clear(struct fm_channels *c, const fm_arc *order)
{
	uint32_t n = c->map->arcs->n_arcs, words = c->map->word[n];

	memset(c->held, 0, words * sizeof(*c->held));
	memset(c->refused, 0, words * sizeof(*c->refused));
	for (uint32_t i = 0; i < n; i++) {
		c->at[i] = order[i];
		c->position[order[i]] = i;
	}
}

/* What has been looked at in this search. */
struct search {
	uint32_t n_found, n_looked;
};

/* Everything that follows b at positions below that of a; false: a itself does,
 * or patience has ended. */
static bool
search_forward(struct fm_channels *c, fm_arc a, fm_arc b, struct search *s)
{
	const struct fm_channel_map *m = c->map;
	uint32_t limit = c->position[a];

	fm_bit_set(m->after, c->position[b]);
	m->found[s->n_found++] = b;
	for (uint32_t i = 0; i < s->n_found; i++) {
		fm_arc x = m->found[i], next = m->arcs->first[m->arcs->to[x]];

		if (s->n_looked > m->patience)
			return false;
		for (uint32_t w = m->word[x]; w < m->word[x + 1]; w++, next += 64)
			for (uint64_t bits = c->held[w]; bits != 0; bits &= bits - 1) {
				fm_arc y = next + (uint32_t)__builtin_ctzll(bits);
				uint32_t p = c->position[y];

				s->n_looked++;
				if (p > limit || fm_bit_test(m->after, p))
					continue;
				if (p == limit)
					return false;
				fm_bit_set(m->after, p);
				m->found[s->n_found++] = y;
			}
	}
	return true;
}

/* Everything that leads to a from positions above that of b; false: patience has ended. */
static bool
search_backward(struct fm_channels *c, fm_arc a, fm_arc b, struct search *s)
{
	const struct fm_channel_map *m = c->map;
	uint32_t limit = c->position[b];

	fm_bit_set(m->before, c->position[a]);
	m->found[s->n_found++] = a;
	for (uint32_t i = 0; i < s->n_found; i++) {
		fm_arc x = m->found[i];
		fm_sw v = m->from[x];
		uint32_t slot = x - m->arcs->first[v];

		if (s->n_looked > m->patience)
			return false;
		for (fm_arc o = m->arcs->first[v]; o < m->arcs->first[v + 1]; o++) {
			fm_arc y = m->rev[o];
			uint32_t p = c->position[y];

			s->n_looked++;
			if (!(c->held[m->word[y] + slot / 64] >> (slot % 64) & 1) || p < limit ||
			    fm_bit_test(m->before, p))
				continue;
			fm_bit_set(m->before, p);
			m->found[s->n_found++] = y;
		}
	}
	return true;
}

/* The arcs of a set in order, appended to moved[]. */
static uint32_t
read_out(struct fm_channels *c, const uint64_t *set, uint32_t lo, uint32_t hi, uint32_t n)
{
	for (size_t p = fm_bit_next(set, hi + 1, lo); p <= hi; p = fm_bit_next(set, hi + 1, p + 1))
		c->map->moved[n++] = c->at[p];
	return n;
}

/* Deal the positions lo..hi of both sets out anew, what comes before first; empties the sets. */
static void
reorder(struct fm_channels *c, uint32_t lo, uint32_t hi)
{
	const struct fm_channel_map *m = c->map;
	uint32_t n = read_out(c, m->before, lo, hi, 0), i = 0;

	n = read_out(c, m->after, lo, hi, n);
	for (uint32_t w = lo / 64; w <= hi / 64; w++) {
		for (uint64_t bits = m->before[w] | m->after[w]; bits != 0; bits &= bits - 1) {
			uint32_t p = w * 64 + (uint32_t)__builtin_ctzll(bits);

			c->at[p] = m->moved[i++];
			c->position[c->at[p]] = p;
		}
		m->before[w] = m->after[w] = 0;
	}
}

/* Take the marks of both searches away. */
static void
forget(struct fm_channels *c, uint64_t *set, const struct search *s)
{
	for (uint32_t i = 0; i < s->n_found; i++)
		fm_bit_clear(set, c->position[c->map->found[i]]);
}

/* Make room in the order for a before b; false when b leads to a. */
static bool
make_room(struct fm_channels *c, fm_arc a, fm_arc b)
{
	const struct fm_channel_map *m = c->map;
	uint32_t lo = c->position[b], hi = c->position[a];
	struct search s = { 0 };

	if (!search_forward(c, a, b, &s)) {
		forget(c, m->after, &s);
		return false;
	}
	s.n_found = 0;
	if (!search_backward(c, a, b, &s)) {
		forget(c, m->before, &s);
		for (uint32_t w = lo / 64; w <= hi / 64; w++)
			m->after[w] = 0;
		return false;
	}
	reorder(c, lo, hi);
	return true;
}

enum fm_channel_answer
fm_channels_insert(struct fm_channels *c, fm_arc a, fm_arc b)
{
	if (fm_channel_bit(c->map, c->held, a, b))
		return FM_CHANNEL_HELD;
	if (fm_channel_bit(c->map, c->refused, a, b) || a == b)
		return FM_CHANNEL_REFUSED;
	if (c->position[a] > c->position[b] && (c->map->patience == 0 || !make_room(c, a, b)))
		return FM_CHANNEL_REFUSED;
	fm_channels_set(c, a, b);
	return FM_CHANNEL_ADDED;
}

void
fm_channels_set(struct fm_channels *c, fm_arc a, fm_arc b)
{
	uint32_t slot = fm_channel_slot(c->map, b);

	c->held[c->map->word[a] + slot / 64] |= (uint64_t)1 << (slot % 64);
}

void
fm_channels_remove(struct fm_channels *c, fm_arc a, fm_arc b)
{
	uint32_t slot = fm_channel_slot(c->map, b);

	c->held[c->map->word[a] + slot / 64] &= ~((uint64_t)1 << (slot % 64));
}

void
fm_channels_bar(struct fm_channels *c, fm_arc a, fm_arc b)
{
	uint32_t slot = fm_channel_slot(c->map, b);

	if (c->map->patience > 0)
		c->refused[c->map->word[a] + slot / 64] |= (uint64_t)1 << (slot % 64);
}

/* Of all that may follow x: count (by +1), or count down and append what comes to 0 at at[n]. */
static uint32_t
count_followers(struct fm_channels *c, fm_arc x, uint32_t by, uint32_t *leading, uint32_t n)
{
	const struct fm_channel_map *m = c->map;
	fm_arc next = m->arcs->first[m->arcs->to[x]];

	for (uint32_t w = m->word[x]; w < m->word[x + 1]; w++, next += 64)
		for (uint64_t bits = c->held[w]; bits != 0; bits &= bits - 1) {
			fm_arc y = next + (uint32_t)__builtin_ctzll(bits);

			leading[y] += by;
			if (leading[y] == 0)
				c->at[n++] = y;
		}
	return n;
}

/* Kahn (1962): take out arcs that nothing leads to, one after the other. */
bool
fm_channels_sort(struct fm_channels *c)
{
	const struct fm_channel_map *m = c->map;
	uint32_t n_arcs = m->arcs->n_arcs, n = 0;
	uint32_t *leading = m->moved; /* arcs not yet taken out that lead here */

	memset(leading, 0, n_arcs * sizeof(*leading));
	for (fm_arc a = 0; a < n_arcs; a++)
		count_followers(c, a, 1, leading, 0);
	for (fm_arc a = 0; a < n_arcs; a++)
		if (leading[a] == 0)
			c->at[n++] = a;
	for (uint32_t i = 0; i < n; i++)
		n = count_followers(c, c->at[i], UINT32_MAX, leading, n);
	for (uint32_t i = 0; i < n; i++)
		c->position[c->at[i]] = i;
	return n == n_arcs;
}
