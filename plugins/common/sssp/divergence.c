/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two right paths from one switch to one destination pass their switches in
 * order of distance, so both are walked at once, the farther end first.
 */
#include "plugins/common/sssp/divergence.h"

#define SYSTEM ((uint64_t)1 << 40)
#define SWITCH ((uint64_t)1 << 20)
#define CABLE ((uint64_t)1)

int
fm_divergence_init(const struct fm_host *host, const struct fm_steps *steps,
    struct fm_divergence *out, struct fm_error *err)
{
	const struct fm_fabric *fab = steps->fab;
	uint8_t lmc = 0;

	for (fm_end e = 0; e < fab->n_ends; e++)
		lmc = fab->end_lmc[e] > lmc ? fab->end_lmc[e] : lmc;
	*out = (struct fm_divergence){ .steps = steps,
		.next = fm_scratch_array(host, (size_t)fab->n_switches << lmc, fm_link) };
	return out->next != NULL ? 0 : fm_no_scratch(host, "trees of one end's LIDs", err);
}

/* Both paths end at the destination: what lies there is nobody's choice. */
static uint64_t
shared_with(
    const struct fm_divergence *a, const fm_link *mine, const fm_link *other, fm_sw u, fm_link l)
{
	const struct fm_fabric *fab = a->steps->fab;
	const uint32_t *distance = a->steps->distance;
	fm_sw root = a->steps->root, x = fab->link_to[l],
	      y = other[u] != FM_NONE ? fab->link_to[other[u]] : root;
	uint64_t sum = l == other[u] ? CABLE : 0;

	while (x != root || y != root) {
		uint32_t dx = distance[x], dy = distance[y];
		fm_link p = x != root ? mine[x] : FM_NONE, q = y != root ? other[y] : FM_NONE;

		if (dx == dy && fab->sw_system_guid[x] == fab->sw_system_guid[y])
			sum += SYSTEM;
		if (x == y)
			sum += SWITCH + (p == q ? CABLE : 0);
		if (dx >= dy)
			x = fab->link_to[p];
		if (dy >= dx)
			y = fab->link_to[q];
	}
	return sum;
}

uint64_t
fm_divergence_shared(const struct fm_divergence *a, uint32_t offset, fm_sw u, fm_link l)
{
	const fm_link *mine = fm_divergence_tree(a, offset);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < offset; i++)
		sum += shared_with(a, mine, fm_divergence_tree(a, i), u, l);
	return sum;
}
