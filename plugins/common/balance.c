/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The two ways of choosing: spread.c (digits of a destination's number; only
 * on levelled fabrics, rows independent, bound by memory) and grow.c (loads;
 * any fabric, one destination after the other).
 */
#include "plugins/common/balance.h"

#include <string.h>

#include "plugins/common/forest.h"
#include "plugins/common/lids.h"
#include "plugins/common/reach.h"
#include "plugins/common/spread.h"

#define BEST_BUDGET 8000000u /* LIDs * links up to which both ways are tried */

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

static bool
has_lmc(const struct fm_fabric *fab)
{
	for (fm_end e = 0; e < fab->n_ends; e++)
		if (fab->end_lmc[e] > 0)
			return true;
	return false;
}

static bool
is_source(const struct fm_fabric *fab, fm_sw s)
{
	for (fm_end e = fab->sw_first_end[s]; e < fab->sw_first_end[s + 1]; e++)
		if (fm_is_host(fab, e) || fab->end_kind[e] == FM_END_PROXY)
			return true;
	return false;
}

/* (switch with hosts or proxies, destination switch) that no legal tree joins. */
static void
count_unjoined(const struct fm_fabric *fab, const struct fm_shape *shape, const struct fm_forest *f,
    struct fm_paths *found)
{
	for (fm_sw s = 0; s < fab->n_switches; s++) {
		bool source = is_source(fab, s);

		for (fm_sw to = 0; source && to < fab->n_switches; to++) {
			if (s == to || shape->component[s] != shape->component[to] ||
			    fm_forest_steps(f, f->first[to])[s] != FM_STEP_NONE)
				continue;
			found->unjoined++;
			found->unjoined_hosts += shape->tree.rank[to] == 0;
		}
	}
}

int
fm_balance_by_load(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_shape *shape, const struct fm_order *order, bool detours,
    struct fm_choice choice, const struct fm_tables *out, struct fm_paths *found,
    struct fm_error *err)
{
	struct fm_forest_plan plan = { .arcs = &shape->arcs, .order = order, .detours = detours };
	struct fm_growth want = { .arcs = &shape->arcs,
		.component = shape->component,
		.rule = { .order = order, .detours = detours && choice.scatter == 0 },
		.choice = choice };
	struct fm_forest forest;
	int rc;

	*found = (struct fm_paths){ 0 };
	if (has_wishes(&choice) || has_lmc(fab))
		return fm_grow_trees(host, fab, &want, out, found, err);
	if ((rc = fm_forest_grow(host, fab, &plan, &forest, err)) != 0 ||
	    (rc = fm_forest_write(host, fab, &forest, out, err)) != 0)
		return rc;
	found->max_hops = forest.max_hops;
	found->max_load = (uint64_t)forest.most;
	if (order != NULL)
		count_unjoined(fab, shape, &forest, found);
	return 0;
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
	if (!choice.by_digits || !shape->tree.levelled || has_wishes(&choice))
		return fm_balance_by_load(host, fab, shape, order, false, choice, out, found, err);
	if ((rc = fm_reach_build(host, &shape->arcs, order, shape->tree.order, fab->n_switches,
		 &reach, err)) != 0 ||
	    (rc = fm_lids_build(host, fab, shape->tree.order, fab->n_switches, &lids, err)) != 0 ||
	    (rc = fm_spread(host, fab, &shape->arcs, &shape->tree, &reach, &lids, out, err)) != 0)
		return rc;
	look_at_paths(shape, &reach, found);
	return 0;
}

/* ------------------------------------------------------------------ both */

/* What the switches of one rank have in common. */
struct rank_alike {
	bool seen;
	uint32_t n_hosts, n_up, n_down;
};

static uint32_t
count_hosts(const struct fm_fabric *fab, fm_sw s)
{
	uint32_t n = 0;

	for (fm_end e = fab->sw_first_end[s]; e < fab->sw_first_end[s + 1]; e++)
		n += fm_is_host(fab, e);
	return n;
}

static struct rank_alike
look_at_switch(const struct fm_fabric *fab, const struct fm_shape *shape, fm_sw s)
{
	struct rank_alike is = { .seen = true, .n_hosts = count_hosts(fab, s) };

	for (fm_link l = fab->sw_first_link[s]; l < fab->sw_first_link[s + 1]; l++)
		if (shape->tree.rank[fab->link_to[l]] > shape->tree.rank[s])
			is.n_up++;
		else
			is.n_down++;
	return is;
}

static bool
is_even(const struct fm_fabric *fab, const struct fm_shape *shape)
{
	struct rank_alike ranks[FM_TREE_MAX_RANKS] = { { 0 } };

	for (fm_sw s = 0; s < fab->n_switches; s++) {
		struct rank_alike is = look_at_switch(fab, shape, s), *all;

		if (shape->tree.rank[s] >= FM_TREE_MAX_RANKS)
			continue;
		all = &ranks[shape->tree.rank[s]];
		if (!all->seen)
			*all = is;
		if (is.n_hosts != all->n_hosts || is.n_up != all->n_up ||
		    is.n_down != all->n_down || (is.n_up > 0 && is.n_hosts % is.n_up != 0))
			return false;
	}
	return true;
}

/* Loads of tables, LID by LID. */
struct weigher {
	const struct fm_fabric *fab;
	const struct fm_tables *out;
	fm_link *port_link; /* [n_switches][256] FM_NONE: no switch there */
	uint32_t *n_hosts;  /* [n_switches] */
	uint64_t *load;	    /* [n_links] */
	/* of the LID in hand, [n_switches] */
	fm_link *next;
	uint32_t *n_before, *passing;
	fm_sw *queue;
};

static int
weigher_init(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_tables *out,
    struct weigher *w, struct fm_error *err)
{
	size_t n = fab->n_switches;

	*w = (struct weigher){ .fab = fab,
		.out = out,
		.port_link = fm_scratch_array(host, n * 256, fm_link),
		.n_hosts = fm_scratch_array(host, n, uint32_t),
		.load = fm_scratch_array(host, fab->n_links, uint64_t),
		.next = fm_scratch_array(host, n, fm_link),
		.n_before = fm_scratch_array(host, n, uint32_t),
		.passing = fm_scratch_array(host, n, uint32_t),
		.queue = fm_scratch_array(host, n, fm_sw) };
	if (w->port_link == NULL || w->n_hosts == NULL || w->load == NULL || w->next == NULL ||
	    w->n_before == NULL || w->passing == NULL || w->queue == NULL)
		return fm_no_scratch(host, "loads of the links", err);
	memset(w->port_link, 0xff, n * 256 * sizeof(*w->port_link));
	for (fm_sw s = 0; s < n; s++) {
		for (fm_link l = fab->sw_first_link[s]; l < fab->sw_first_link[s + 1]; l++)
			w->port_link[s * 256 + fab->link_port[l]] = l;
		w->n_hosts[s] = count_hosts(fab, s);
	}
	return 0;
}

/* All hosts' routes to one LID: switches that nothing leads to any more go first. */
static void
weigh_lid(struct weigher *w, uint32_t lid)
{
	const struct fm_fabric *fab = w->fab;
	uint32_t n = 0;

	memset(w->n_before, 0, fab->n_switches * sizeof(*w->n_before));
	memcpy(w->passing, w->n_hosts, fab->n_switches * sizeof(*w->passing));
	for (fm_sw s = 0; s < fab->n_switches; s++) {
		w->next[s] = w->port_link[(size_t)s * 256 + w->out->lft[s][lid]];
		if (w->next[s] != FM_NONE)
			w->n_before[fab->link_to[w->next[s]]]++;
	}
	for (fm_sw s = 0; s < fab->n_switches; s++)
		if (w->n_before[s] == 0)
			w->queue[n++] = s;
	for (uint32_t i = 0; i < n; i++) {
		fm_link l = w->next[w->queue[i]];

		if (l == FM_NONE)
			continue;
		w->load[l] += w->passing[w->queue[i]];
		w->passing[fab->link_to[l]] += w->passing[w->queue[i]];
		if (--w->n_before[fab->link_to[l]] == 0)
			w->queue[n++] = fab->link_to[l];
	}
}

int
fm_weigh(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_tables *out,
    uint64_t *max, struct fm_error *err)
{
	struct weigher w;
	int rc = weigher_init(host, fab, out, &w, err);

	if (rc != 0)
		return rc;
	for (uint32_t lid = 1; lid <= fab->max_lid && !host->should_stop(host); lid++) {
		fm_end e = fab->lid_end[lid];

		if (e != FM_NONE && fm_is_host(fab, e) && fab->end_sw[e] != FM_NONE)
			weigh_lid(&w, lid);
	}
	*max = 0;
	for (fm_link l = 0; l < fab->n_links; l++)
		*max = w.load[l] > *max ? w.load[l] : *max;
	return 0;
}

int
fm_balance_best(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_shape *shape, const struct fm_order *order, const struct fm_tables *out,
    struct fm_paths *found, struct fm_error *err)
{
	const struct fm_choice by_load = { .by_digits = false }, by_digits = { .by_digits = true };
	bool both = shape->tree.levelled && !is_even(fab, shape) &&
	    (uint64_t)fab->max_lid * fab->n_links <= BEST_BUDGET;
	uint64_t max;
	int rc = fm_balance(host, fab, shape, order, by_digits, out, found, err);

	if (rc != 0 || !both || (rc = fm_weigh(host, fab, out, &max, err)) != 0 ||
	    (rc = fm_balance(host, fab, shape, order, by_load, out, found, err)) != 0 ||
	    found->max_load < max)
		return rc;
	return fm_balance(host, fab, shape, order, by_digits, out, found, err);
}
