/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/graph/switch_order.h"

#include "lib/arena.h"
#include "lib/error.h"

/* Breadth first from the first leaf: an aggregation switch is reached from
 * above before its leaves, and queues all of them at once, so the leaves of a
 * pod follow one another.  Switches that are no leaf come behind all leaves. */
static void
walk(const uint32_t *first_link, const uint32_t *link_to, uint32_t from, uint8_t *seen,
    uint32_t *queue, uint32_t *tail)
{
	uint32_t head = *tail;

	seen[from] = 1;
	queue[(*tail)++] = from;
	while (head < *tail) {
		uint32_t sw = queue[head++];

		for (uint32_t l = first_link[sw]; l < first_link[sw + 1]; l++) {
			if (seen[link_to[l]])
				continue;
			seen[link_to[l]] = 1;
			queue[(*tail)++] = link_to[l];
		}
	}
}

int
switch_order(uint32_t n_switches, const uint32_t *first_link, const uint32_t *link_to,
    const uint8_t *is_leaf, uint32_t *order, struct fm_error *err)
{
	uint32_t *queue, n_queued = 0, at = 0;
	struct fm_arena mem;
	uint8_t *seen;

	fm_arena_init(&mem, SIZE_MAX);
	queue = fm_arena_array(&mem, (size_t)n_switches + 1, uint32_t);
	seen = fm_arena_array(&mem, (size_t)n_switches + 1, uint8_t);
	if (queue == NULL || seen == NULL) {
		fm_arena_fini(&mem);
		return fm_fail(err, FM_E_RESOURCE, "out of memory while ordering switches");
	}
	for (int leaves = 1; leaves >= 0; leaves--)
		for (uint32_t sw = 0; sw < n_switches; sw++)
			if (!seen[sw] && (is_leaf[sw] != 0) == leaves)
				walk(first_link, link_to, sw, seen, queue, &n_queued);
	for (int leaves = 1; leaves >= 0; leaves--)
		for (uint32_t i = 0; i < n_switches; i++)
			if ((is_leaf[queue[i]] != 0) == leaves)
				order[at++] = queue[i];
	fm_arena_fini(&mem);
	return 0;
}
