/* SPDX-License-Identifier: BSD-2-Clause */
#include "plugins/common/layers/channels.h"

#include <string.h>

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
	if (rev == NULL || from == NULL || word == NULL)
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
	void *memory = fm_scratch_bytes(host, 1, fm_topo_bytes(n));

	*out = (struct fm_channels){ .map = map,
		.held = fm_scratch_array(host, map->word[n], uint64_t),
		.refused = fm_scratch_array(host, map->word[n], uint64_t) };
	if (out->held == NULL || out->refused == NULL || memory == NULL)
		return fm_no_scratch(host, "channel dependencies of a layer", err);
	fm_topo_init(&out->order, n, memory);
	return 0;
}

void
fm_channels_clear(struct fm_channels *c, const fm_arc *order)
{
	uint32_t n = c->map->arcs->n_arcs, words = c->map->word[n];

	memset(c->held, 0, words * sizeof(*c->held));
	memset(c->refused, 0, words * sizeof(*c->refused));
	for (uint32_t i = 0; i < n; i++)
		fm_topo_place(&c->order, order[i], i);
}

/* Dependencies as lib/algo/topo_order.h asks for them. */
struct look {
	const struct fm_channels *c;
	uint32_t n_looked, patience; /* arcs looked at, and after how many no further */
};

/* What may follow x, by the bits held. */
FM_TOPO_INLINE bool
each_next(void *graph, fm_arc x, fm_topo_visit visit, void *arg)
{
	struct look *look = (struct look *)graph;
	const struct fm_channel_map *m = look->c->map;
	fm_arc next = m->arcs->first[m->arcs->to[x]];

	if (look->n_looked > look->patience)
		return false;
	for (uint32_t w = m->word[x]; w < m->word[x + 1]; w++, next += 64)
		for (uint64_t bits = look->c->held[w]; bits != 0; bits &= bits - 1) {
			look->n_looked++;
			if (!visit(arg, next + (uint32_t)__builtin_ctzll(bits)))
				return false;
		}
	return true;
}

/* What x may follow: of the arcs that end where it begins those that hold its bit. */
FM_TOPO_INLINE bool
each_previous(void *graph, fm_arc x, fm_topo_visit visit, void *arg)
{
	struct look *look = (struct look *)graph;
	const struct fm_channel_map *m = look->c->map;
	fm_sw v = m->from[x];
	uint32_t slot = x - m->arcs->first[v];

	if (look->n_looked > look->patience)
		return false;
	for (fm_arc o = m->arcs->first[v]; o < m->arcs->first[v + 1]; o++) {
		fm_arc y = m->rev[o];

		look->n_looked++;
		if ((look->c->held[m->word[y] + slot / 64] >> (slot % 64) & 1) && !visit(arg, y))
			return false;
	}
	return true;
}

enum fm_channel_answer
fm_channels_insert(struct fm_channels *c, fm_arc a, fm_arc b)
{
	struct look look = { .c = c, .patience = c->map->patience };
	struct fm_topo_graph graph = { &look, each_next, each_previous };

	if (fm_channel_bit(c->map, c->held, a, b))
		return FM_CHANNEL_HELD;
	if (fm_channel_bit(c->map, c->refused, a, b) || a == b)
		return FM_CHANNEL_REFUSED;
	if (c->order.position[a] > c->order.position[b] &&
	    (c->map->patience == 0 || !fm_topo_allow(&c->order, &graph, a, b)))
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

bool
fm_channels_sort(struct fm_channels *c)
{
	struct look look = { .c = c, .patience = UINT32_MAX };
	struct fm_topo_graph graph = { &look, each_next, each_previous };

	return fm_topo_sort(&c->order, &graph);
}
