/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/algo/topo_order.h"

#define FEW 24u /* positions that are sorted by insertion: nearly always there are no more */

size_t
fm_topo_bytes(uint32_t n)
{
	return 2 * FM_BITSET_WORDS(n) * sizeof(uint64_t) + (size_t)n * 4 * sizeof(uint32_t);
}

void
fm_topo_init(struct fm_topo *t, uint32_t n, void *memory)
{
	*t = (struct fm_topo){ .n = n, .before.set = memory };
	t->after.set = t->before.set + FM_BITSET_WORDS(n);
	t->position = (uint32_t *)(t->after.set + FM_BITSET_WORDS(n));
	t->at = t->position + n;
	t->found = t->at + n;
	t->list = t->found + n;
	for (uint32_t v = 0; v < n; v++)
		fm_topo_place(t, v, v);
}

static void
forget(const struct fm_topo *t, const struct fm_topo_met *m)
{
	for (uint32_t i = 0; i < m->n; i++)
		fm_bit_clear(m->set, t->position[m->vertex[i]]);
}

/* From a few vertices to their positions, ascending. */
static void
sort_few(const struct fm_topo *t, struct fm_topo_met *m)
{
	forget(t, m);
	for (uint32_t i = 0; i < m->n; i++) {
		uint32_t p = t->position[m->vertex[i]], k = i;

		for (; k > 0 && m->vertex[k - 1] > p; k--)
			m->vertex[k] = m->vertex[k - 1];
		m->vertex[k] = p;
	}
}

/* From vertices to their positions, all in lo..hi, ascending; the set is empty then. */
static void
sort_met(const struct fm_topo *t, struct fm_topo_met *m, uint32_t lo, uint32_t hi)
{
	uint32_t n = 0;

	if (m->n <= FEW) {
		sort_few(t, m);
		return;
	}
	for (uint32_t w = lo / 64; w <= hi / 64; w++) {
		for (uint64_t bits = m->set[w]; bits != 0; bits &= bits - 1)
			m->vertex[n++] = w * 64 + (uint32_t)__builtin_ctzll(bits);
		m->set[w] = 0;
	}
}

/* Share the positions of both anew, those of the first set before, either in its old order. */
static void
share_positions(
    struct fm_topo *t, const struct fm_topo_met *first, const struct fm_topo_met *second)
{
	uint32_t *moved = t->list, n = 0, i = 0, k = 0;

	for (uint32_t j = 0; j < first->n; j++)
		moved[n++] = t->at[first->vertex[j]];
	for (uint32_t j = 0; j < second->n; j++)
		moved[n++] = t->at[second->vertex[j]];
	for (uint32_t j = 0; j < n; j++) {
		bool of_first =
		    k == second->n || (i < first->n && first->vertex[i] < second->vertex[k]);

		fm_topo_place(t, moved[j], of_first ? first->vertex[i++] : second->vertex[k++]);
	}
}

void
fm_topo_settle(struct fm_topo *t, uint32_t lo, uint32_t hi, bool ok)
{
	if (!ok) {
		forget(t, &t->before);
		forget(t, &t->after);
		return;
	}
	sort_met(t, &t->before, lo, hi);
	sort_met(t, &t->after, lo, hi);
	share_positions(t, &t->before, &t->after);
}
