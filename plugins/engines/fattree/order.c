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
 *   - tops outside the cone, because they have lost their cables to it, are
 *     *demoted* with all that only leads up to them: put below one of the
 *     switches under them that has another way up.  That one keeps its link for
 *     the way to the demoted switches alone.
 *
 *	STEP * 2H		turning leaf
 *	...			its parents (in reverse)
 *	STEP * H		tops of the cone
 *	STEP * r + STEP - 1	a switch with demoted ones below it
 *	STEP * r + STEP - 1 - d	a demoted switch d links from it
 *	STEP * r		all others of tier r
 *
 * Where the fabric has proxies (it is a region of a larger one) the plain
 * tiers are kept: regions are composed along them, and a pair without a legal
 * route is the host's to place elsewhere.  O(links).
 */
#include "plugins/common/paths/arcs.h"
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

/* Stamp all switches above leaf; how many. */
static uint32_t
walk_cone(const struct ft *ft, struct turn *t, fm_sw leaf, uint32_t stamp)
{
	uint32_t head = 0, tail = 0;

	t->queue[tail++] = leaf;
	t->seen[leaf] = stamp;
	while (head < tail) {
		fm_sw s = t->queue[head++];

		FT_EACH_PARENT(ft, g, s)
		{
			if (t->seen[g->to] == stamp)
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
	return ft->first_peer[s] - ft->first_group[s];
}

/* In each component the leaf with the largest cone of the first few that
 * have as many parents as any. */
static void
choose_turning_leaves(const struct ft *ft, struct turn *t)
{
	for (uint32_t c = 0; c < ft->n_leaves; c++) {
		uint32_t root = fm_ufind(t->component, ft->col_sw[c]);
		uint32_t up = n_up_groups(ft, ft->col_sw[c]);

		if (up > t->most_up[root])
			t->most_up[root] = up;
	}
	for (uint32_t c = 0; c < ft->n_leaves; c++) {
		fm_sw leaf = ft->col_sw[c];
		uint32_t root = fm_ufind(t->component, leaf), size;

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
turn_cones(struct ft *ft, struct turn *t)
{
	for (fm_sw root = 0; root < ft->n; root++) {
		uint32_t n;

		if (t->best[root] == FM_NONE)
			continue;
		n = walk_cone(ft, t, t->best[root], ft->n + 1 + root);
		for (uint32_t i = 0; i < n; i++) {
			fm_sw s = t->queue[i];

			ft->order[s] =
			    (uint16_t)(FT_ORDER_STEP * (2u * ft->max_rank - ft->rank[s]));
			ft->turned[s] = true;
		}
	}
}

static bool
has_way_up(const struct ft *ft, const bool *rooted, fm_sw s)
{
	FT_EACH_GROUP (ft, g, s)
		if (rooted[g->to] && ft->order[g->to] > ft->order[s])
			return true;
	return false;
}

/* rooted = has a way up into a cone, by the order as it is.  How many have none. */
static uint32_t
find_rooted(const struct ft *ft, bool *rooted)
{
	uint32_t n_others = 0;

	for (bool changed = true; changed;) {
		changed = false;
		n_others = 0;
		for (uint32_t i = ft->n; i > 0; i--) {
			fm_sw s = ft->by_rank[i - 1];

			if (rooted[s])
				continue;
			rooted[s] = has_way_up(ft, rooted, s);
			changed |= rooted[s];
			n_others += !rooted[s];
		}
		changed &= n_others > 0;
	}
	return n_others;
}

/* Demote all that is above s, or joined with that above its tier, and has no
 * way up: breadth first from s. */
static bool
demote_above(struct ft *ft, struct turn *t, bool *rooted, fm_sw s)
{
	uint16_t base = (uint16_t)(FT_ORDER_STEP * ft->rank[s]);
	uint32_t head = 0, tail = 0;

	t->queue[tail++] = s;
	while (head < tail) {
		fm_sw at = t->queue[head++];
		uint16_t next =
		    at == s ? (uint16_t)(base + FT_ORDER_STEP - 2) : (uint16_t)(ft->order[at] - 1);

		FT_EACH_GROUP (ft, g, at) {
			if (rooted[g->to] || ft->rank[g->to] <= ft->rank[s] || next <= base ||
			    ft->rank[g->to] == ft->rank[at])
				continue;
			ft->order[g->to] = next;
			ft->demoted[g->to] = rooted[g->to] = true;
			t->queue[tail++] = g->to;
		}
	}
	if (tail > 1)
		ft->order[s] = (uint16_t)(base + FT_ORDER_STEP - 1);
	return tail > 1;
}

static void
demote_tops(struct ft *ft, struct turn *t, bool *rooted)
{
	memcpy(rooted, ft->turned, ft->n * sizeof(*rooted));
	for (bool changed = true; changed;) {
		changed = false;
		if (find_rooted(ft, rooted) == 0)
			return;
		for (uint32_t i = ft->n; i > 0; i--) {
			fm_sw s = ft->by_rank[i - 1];

			if (rooted[s] && !ft->turned[s] && !ft->demoted[s])
				changed |= demote_above(ft, t, rooted, s);
		}
	}
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
	bool *rooted = ft_alloc(ft, ft->n, sizeof(*rooted));

	if (!t.component || !t.best || !t.best_size || !t.most_up || !t.n_tries || !t.seen ||
	    !t.queue || !rooted)
		return ft_out_of_memory(ft, err);
	for (fm_sw s = 0; s < ft->n; s++) {
		t.component[s] = s;
		t.best[s] = FM_NONE;
	}
	for (fm_sw s = 0; s < ft->n; s++)
		FT_EACH_PARENT(ft, g, s)
	fm_ufind_join(t.component, s, g->to);
	choose_turning_leaves(ft, &t);
	turn_cones(ft, &t);
	demote_tops(ft, &t, rooted);
	return 0;
}

int
ft_order(struct ft *ft, struct fm_error *err)
{
	ft->order = ft_alloc(ft, ft->n, sizeof(*ft->order));
	ft->turned = ft_alloc(ft, ft->n, sizeof(*ft->turned));
	ft->demoted = ft_alloc(ft, ft->n, sizeof(*ft->demoted));
	if (ft->order == NULL || ft->turned == NULL || ft->demoted == NULL)
		return ft_out_of_memory(ft, err);
	for (fm_sw s = 0; s < ft->n; s++)
		ft->order[s] = (uint16_t)(FT_ORDER_STEP * ft->rank[s]);
	return fm_has_proxies(ft->fab) ? 0 : turn_order(ft, err);
}
