/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/algo/topo_rank.h"

size_t
fm_ranks_bytes(uint32_t n)
{
	return (2 * (size_t)n + FM_BITSET_WORDS(n)) * sizeof(uint64_t) +
	    3 * (size_t)n * sizeof(uint32_t);
}

void
fm_ranks_init(struct fm_ranks *t, uint32_t n, void *memory)
{
	*t = (struct fm_ranks){ .n = n, .rank = memory };
	t->want = t->rank + n;
	t->behind = t->want + n;
	t->list = (uint32_t *)(t->behind + FM_BITSET_WORDS(n));
	fm_heap_init(&t->heap, t->list + n, t->list + 2 * (size_t)n, t->rank, n);
}

void
fm_ranks_settle(struct fm_ranks *t, bool ok)
{
	while (t->heap.n > 0) /* they have been met before the ends of an edge met */
		t->list[t->n_raised++] = fm_heap_pop(&t->heap);
	for (uint32_t i = 0; i < t->n_raised; i++) {
		uint32_t v = t->list[i];

		t->rank[v] = ok ? t->want[v] : t->rank[v];
		t->want[v] = 0;
	}
	for (uint32_t i = 0; i < t->n_behind; i++)
		fm_bit_clear(t->behind, t->list[t->n - 1 - i]);
	t->n_raised = t->n_behind = 0;
}
