/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The two ways of choosing: spread.c (digits of a destination's number; only
 * on levelled fabrics, rows independent, bound by memory) and grow.c (loads;
 * any fabric, one destination after the other).
 */
#include "plugins/common/balance.h"

#include "plugins/common/lids.h"
#include "plugins/common/reach.h"
#include "plugins/common/spread.h"

static int
find_components(const struct fm_host *host, struct fm_shape *shape, struct fm_error *err)
{
	uint32_t n = shape->arcs.n_switches;
	fm_sw *queue = fm_scratch_array(host, n, fm_sw);

	shape->component = fm_scratch_array(host, n, uint32_t);
	if (queue == NULL || shape->component == NULL)
		return fm_no_scratch(host, "components of the fabric", err);
	for (fm_sw root = 0; root < n; root++) {
		uint32_t head = 0, tail = 0;

		if (shape->component[root] != 0)
			continue;
		shape->component[root] = ++shape->n_components;
		queue[tail++] = root;
		while (head < tail) {
			fm_sw s = queue[head++];

			for (fm_arc a = shape->arcs.first[s]; a < shape->arcs.first[s + 1]; a++)
				if (shape->component[shape->arcs.to[a]] == 0) {
					shape->component[shape->arcs.to[a]] = shape->n_components;
					queue[tail++] = shape->arcs.to[a];
				}
		}
	}
	for (fm_sw s = 0; s < n; s++)
		shape->component[s]--;
	return 0;
}

int
fm_shape_build(const struct fm_host *host, const struct fm_fabric *fab, struct fm_shape *out,
    struct fm_error *err)
{
	int rc;

	*out = (struct fm_shape){ 0 };
	if ((rc = fm_arcs_build(host, fab, &out->arcs, err)) != 0 ||
	    (rc = fm_tree_build(host, fab, &out->arcs, &out->tree, err)) != 0)
		return rc;
	return find_components(host, out, err);
}

/* Columns of block b that a leaf has no path to although there are cables. */
static void
count_missing(const struct fm_shape *shape, const struct fm_reach *reach, uint32_t b, fm_sw leaf,
    struct fm_paths *found)
{
	const uint64_t *met =
	    (const uint64_t *)&reach->met[(size_t)b * shape->arcs.n_switches + leaf];
	const fm_sw *column_sw = reach->column_sw + b * FM_LANES;
	uint32_t last = reach->n_columns - b * FM_LANES;

	for (uint32_t w = 0; w < FM_LANES / 64; w++)
		for (uint64_t bits = ~met[w]; bits != 0; bits &= bits - 1) {
			uint32_t c = w * 64 + (uint32_t)__builtin_ctzll(bits);

			if (c >= last || shape->component[column_sw[c]] != shape->component[leaf])
				continue;
			found->unjoined++;
			found->unjoined_hosts += shape->tree.rank[column_sw[c]] == 0;
		}
}

static void
look_at_paths(const struct fm_shape *shape, const struct fm_reach *reach, struct fm_paths *found)
{
	found->max_hops = reach->max_hops;
	for (uint32_t b = 0; b < reach->n_blocks; b++)
		for (fm_sw s = 0; s < shape->arcs.n_switches; s++)
			if (shape->tree.rank[s] == 0)
				count_missing(shape, reach, b, s, found);
}

/* What digits cannot do: their load is not counted but known to be even. */
static bool
has_wishes(const struct fm_choice *c)
{
	return c->scatter != 0 || c->n_first > 0 || c->ignore_links != NULL ||
	    c->ignore_ends != NULL || c->search != NULL || c->shift;
}

int
fm_balance(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_shape *shape,
    const struct fm_order *order, struct fm_choice choice, const struct fm_tables *out,
    struct fm_paths *found, struct fm_error *err)
{
	struct fm_reach reach;
	struct fm_lids lids;
	int rc;

	*found = (struct fm_paths){ 0 };
	if (!choice.by_digits || !shape->tree.levelled || has_wishes(&choice)) {
		struct fm_growth want = { .arcs = &shape->arcs,
			.component = shape->component,
			.rule = { .order = order },
			.choice = choice };

		return fm_grow_trees(host, fab, &want, out, found, err);
	}
	if ((rc = fm_reach_build(host, &shape->arcs, order, shape->tree.order, fab->n_switches,
		 &reach, err)) != 0 ||
	    (rc = fm_lids_build(host, fab, shape->tree.order, fab->n_switches, &lids, err)) != 0 ||
	    (rc = fm_spread(host, fab, &shape->arcs, &shape->tree, &reach, &lids, out, err)) != 0)
		return rc;
	look_at_paths(shape, &reach, found);
	return 0;
}
