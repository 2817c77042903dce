/* SPDX-License-Identifier: BSD-2-Clause */
#include "plugins/common/tree/tree.h"

static bool
has_hosts(const struct fm_fabric *fab, fm_sw sw)
{
	for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++)
		if (fm_is_host(fab, e))
			return true;
	return false;
}

/* Breadth first from all leaves; tells whether the fabric is levelled. */
int
fm_tree_build(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_arcs *arcs,
    struct fm_tree *out, struct fm_error *err)
{
	uint32_t n = fab->n_switches, head = 0, tail = 0;
	fm_sw *queue = fm_scratch_array(host, n, fm_sw);

	*out = (struct fm_tree){ .levelled = true, .rank = fm_scratch_array(host, n, uint32_t) };
	if (queue == NULL || out->rank == NULL)
		return fm_no_scratch(host, "ranks of the switches", err);
	for (fm_sw s = 0; s < n; s++) {
		out->rank[s] = has_hosts(fab, s) ? 0 : FM_RANK_NONE;
		if (out->rank[s] == 0)
			queue[tail++] = s;
	}
	while (head < tail) {
		fm_sw s = queue[head++];

		out->n_ranks = out->rank[s] + 1;
		for (fm_arc a = arcs->first[s]; a < arcs->first[s + 1]; a++) {
			fm_sw v = arcs->to[a];

			if (out->rank[v] == FM_RANK_NONE) {
				out->rank[v] = out->rank[s] + 1;
				queue[tail++] = v;
			}
			out->levelled &= out->rank[v] != out->rank[s];
		}
	}
	out->levelled &= out->n_ranks > 1 && out->n_ranks <= FM_TREE_MAX_RANKS;
	return 0;
}
