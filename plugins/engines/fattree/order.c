/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who is above whom.
 *
 * Routes go up and then down in one strict order of the switches, which is
 * what makes the engine free of credit loops.  The tiers alone would do, but
 * then two tops have no route to each other, nor a host to a spine its pod has
 * lost the cable to, nor the storage on one spine to that on the next.  All
 * pairs have one as soon as the order has a single highest switch.  So:
 *
 *   - one leaf, the *turning leaf*, is put above everything, and the switches
 *     above it (its cone) are turned upside down: spines < their children on
 *     the way to the turning leaf < that leaf.  Hosts never notice: between
 *     leaves the turned links lie on the same shortest routes as before, read
 *     the other way round (leaf 0 -> L2 -> spine -> L2' -> leaf 1 is up, up,
 *     up, down or up, up, down, down).
 *   - a top outside the cone, one that has lost its cable to it, is *demoted*:
 *     put just below one of its children, which keeps the link for the way to
 *     the top itself alone.
 *
 *	4H        turning leaf
 *	..        its parents (in reverse)
 *	4 * H     tops of the cone
 *	4r + 2    a child that has a demoted top below it
 *	4r + 1    a demoted top
 *	4r        all others of tier r
 *
 * Where the fabric has proxies (it is a region of a larger one) the plain
 * tiers are kept: regions are composed along them, and a pair without a legal
 * route is the host's to place elsewhere.  O(links).
 */
#include "plugins/engines/fattree/fattree.h"

#define TRIES 8 /* turning leaves looked at in each component */

struct turn {
	uint32_t *component; /* [n] union-find */
	fm_sw *best;	     /* [n] by component: the turning leaf so far */
	uint32_t *best_size; /* [n] by component: of its cone */
	uint32_t *most_up;   /* [n] by component: parents of its best connected leaf */
	uint32_t *n_tries;   /* [n] by component */
	uint32_t *seen;	     /* [n] stamp of the last cone a switch was in */
	fm_sw *queue;	     /* [n] */
};

static bool
has_proxies(const struct fm_fabric *fab)
{
	for (fm_end e = 0; e < fab->n_ends; e++)
		if (fab->end_kind[e] == FM_END_PROXY)
			return true;
	return false;
}

/* Stamp all switches above leaf; how many. */
static uint32_t
walk_cone(const struct ft *ft, struct turn *t, fm_sw leaf, uint32_t stamp)
{
	uint32_t head = 0, tail = 0;

	t->queue[tail++] = leaf;
	t->seen[leaf] = stamp;
	while (head < tail) {
		fm_sw s = t->queue[head++];

		FT_EACH_GROUP(ft, g, s)
		{
			if (ft->rank[g->to] <= ft->rank[s] || t->seen[g->to] == stamp)
				continue;
			t->seen[g->to] = stamp;
			t->queue[tail++] = g->to;
		}
	}
	return tail;
}

static uint32_t
n_up_groups(const struct ft *ft, fm_sw s)
{
	uint32_t n = 0;

	FT_EACH_GROUP(ft, g, s)
	n += ft->rank[g->to] > ft->rank[s];
	return n;
}

/* In each component the leaf with the largest cone of the first few that
 * have as many parents as any. */
static void
choose_turning_leaves(const struct ft *ft, struct turn *t)
{
	for (uint32_t c = 0; c < ft->n_leaves; c++) {
		uint32_t root = ft_find(t->component, ft->col_sw[c]);
		uint32_t up = n_up_groups(ft, ft->col_sw[c]);

		if (up > t->most_up[root])
			t->most_up[root] = up;
	}
	for (uint32_t c = 0; c < ft->n_leaves; c++) {
		fm_sw leaf = ft->col_sw[c];
		uint32_t root = ft_find(t->component, leaf), size;

		if (n_up_groups(ft, leaf) < t->most_up[root] || t->n_tries[root] >= TRIES)
			continue;
		t->n_tries[root]++;
		size = walk_cone(ft, t, leaf, c + 1);
		if (size > t->best_size[root]) {
			t->best[root] = leaf;
			t->best_size[root] = size;
		}
	}
}

static void
turn_cones(struct ft *ft, struct turn *t, bool *in_cone)
{
	for (fm_sw root = 0; root < ft->n; root++) {
		uint32_t n;

		if (t->best[root] == FM_NONE)
			continue;
		n = walk_cone(ft, t, t->best[root], ft->n + 1 + root);
		for (uint32_t i = 0; i < n; i++) {
			fm_sw s = t->queue[i];

			ft->order[s] = (uint16_t)(4u * (2u * ft->max_rank - ft->rank[s]));
			in_cone[s] = true;
		}
	}
}

/* Put top below the child that has another way up into the cone. */
static void
demote(struct ft *ft, const bool *in_cone, fm_sw top)
{
	fm_sw chosen = FM_NONE;
	uint16_t highest = 0;

	FT_EACH_GROUP(ft, g, top)
	if (ft->rank[g->to] < ft->rank[top] && ft->rank[g->to] > highest)
		highest = ft->rank[g->to];
	FT_EACH_GROUP(ft, g, top)
	{
		if (ft->rank[g->to] != highest || in_cone[g->to])
			continue;
		FT_EACH_GROUP(ft, up, g->to)
		if (ft->rank[up->to] > highest && in_cone[up->to])
			chosen = g->to;
		if (chosen != FM_NONE)
			break;
	}
	if (chosen == FM_NONE)
		return;
	ft->order[top] = (uint16_t)(4u * highest + 1);
	ft->order[chosen] = (uint16_t)(4u * highest + 2);
	ft->demoted[top] = true;
}

static int
turn_order(struct ft *ft, struct fm_error *err)
{
	struct turn t = {
		.component = ft_alloc(ft, ft->n, sizeof(*t.component)),
		.best = ft_alloc(ft, ft->n, sizeof(*t.best)),
		.best_size = ft_alloc(ft, ft->n, sizeof(*t.best_size)),
		.most_up = ft_alloc(ft, ft->n, sizeof(*t.most_up)),
		.n_tries = ft_alloc(ft, ft->n, sizeof(*t.n_tries)),
		.seen = ft_alloc(ft, ft->n, sizeof(*t.seen)),
		.queue = ft_alloc(ft, ft->n, sizeof(*t.queue)),
	};
	bool *in_cone = ft_alloc(ft, ft->n, sizeof(*in_cone));

	if (!t.component || !t.best || !t.best_size || !t.most_up || !t.n_tries || !t.seen ||
	    !t.queue || !in_cone)
		return ft_out_of_memory(ft, err);
	for (fm_sw s = 0; s < ft->n; s++) {
		t.component[s] = s;
		t.best[s] = FM_NONE;
	}
	for (fm_sw s = 0; s < ft->n; s++)
		FT_EACH_GROUP(ft, g, s)
	if (ft->rank[g->to] != ft->rank[s])
		ft_union(t.component, s, g->to);
	choose_turning_leaves(ft, &t);
	turn_cones(ft, &t, in_cone);
	for (fm_sw s = 0; s < ft->n; s++)
		if (!in_cone[s] && n_up_groups(ft, s) == 0 &&
		    t.best[ft_find(t.component, s)] != FM_NONE)
			demote(ft, in_cone, s);
	return 0;
}

int
ft_order(struct ft *ft, struct fm_error *err)
{
	ft->order = ft_alloc(ft, ft->n, sizeof(*ft->order));
	ft->demoted = ft_alloc(ft, ft->n, sizeof(*ft->demoted));
	if (ft->order == NULL || ft->demoted == NULL)
		return ft_out_of_memory(ft, err);
	for (fm_sw s = 0; s < ft->n; s++)
		ft->order[s] = (uint16_t)(4 * ft->rank[s]);
	return has_proxies(ft->fab) ? 0 : turn_order(ft, err);
}
