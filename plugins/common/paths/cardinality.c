/* SPDX-License-Identifier: BSD-2-Clause */
#include "plugins/common/paths/cardinality.h"

#include "lib/algo/heap.h"

struct cardinality {
	const struct fm_arcs *arcs;
	enum fm_tie tie;
	uint32_t *n_placed;	 /* [n_switches] neighbours */
	uint32_t *first, *place; /* [n_switches] places, FM_NONE: none yet */
	struct fm_heap heap;
	uint32_t n;
};

/* Less is earlier; it only falls while neighbours are placed. */
static uint64_t
key_of(const struct cardinality *c, fm_sw s)
{
	uint32_t last = c->n, tie = last;

	if (c->tie == FM_TIE_NEW)
		tie = UINT32_MAX - c->first[s];
	if (c->tie == FM_TIE_RECENT)
		tie = UINT32_MAX - last;
	return (uint64_t)(UINT32_MAX - c->n_placed[s]) << 32 | tie;
}

static void
place(struct cardinality *c, fm_sw s)
{
	c->place[s] = c->n++;
	for (fm_arc a = c->arcs->first[s]; a < c->arcs->first[s + 1]; a++) {
		fm_sw v = c->arcs->to[a];

		if (c->place[v] != FM_NONE)
			continue;
		if (c->n_placed[v]++ == 0)
			c->first[v] = c->n;
		fm_heap_push(&c->heap, v, key_of(c, v));
	}
}

static void
place_all(struct cardinality *c, fm_sw root)
{
	uint32_t n = c->arcs->n_switches;
	fm_sw s;

	for (fm_sw next = 0; root != FM_NONE; root = next < n ? next : FM_NONE) {
		place(c, root);
		while ((s = fm_heap_pop(&c->heap)) != FM_HEAP_NONE)
			place(c, s);
		while (next < n && c->place[next] != FM_NONE)
			next++;
	}
}

int
fm_cardinality_ids(const struct fm_host *host, const struct fm_arcs *arcs, fm_sw root,
    enum fm_tie tie, int64_t **ids, struct fm_error *err)
{
	size_t n = arcs->n_switches;
	uint32_t *words = fm_scratch_array(host, 5 * n, uint32_t);
	uint64_t *keys = fm_scratch_array(host, n, uint64_t);
	struct cardinality c = { .arcs = arcs, .tie = tie };

	*ids = fm_scratch_array(host, n, int64_t);
	if (words == NULL || keys == NULL || *ids == NULL)
		return fm_no_scratch(host, "orders of the switches", err);
	c.n_placed = words;
	c.first = words + n;
	c.place = words + 2 * n;
	fm_heap_init(&c.heap, words + 3 * n, words + 4 * n, keys, (uint32_t)n);
	for (size_t i = 0; i < n; i++)
		c.place[i] = FM_NONE;
	if (n > 0)
		place_all(&c, root);
	for (size_t i = 0; i < n; i++)
		(*ids)[i] = c.place[i];
	return 0;
}
