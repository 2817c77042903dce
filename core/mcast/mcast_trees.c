/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Growing trees: layer by layer from the root, each switch by the cable that the
 * tree of the plan before used, else the one that the fewest trees use.
 *
 *	levelled	first only downwards (mcast.h): no turn of it can be odd
 *	else		only where the dependency graph allows (mcast_check.c)
 *	what is left	by any way, noted as odd
 *
 * Roots are the switches from which the hosts are nearest, of a sample; each tree
 * takes the next best of them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/abi/host.h"
#include "core/mcast/mcast_internal.h"
#include "lib/bitset.h"

#define ROOT_SAMPLE 32

bool
mcast_add_tree(struct mcast_trees *t)
{
	struct mcast_tree *tree = &t->tree[t->n];
	uint32_t n = t->snap->fab.n_switches;

	tree->parent = malloc((n + 1u) * sizeof(*tree->parent));
	tree->odd = calloc(FM_BITSET_WORDS(n) + 1, sizeof(*tree->odd));
	if (tree->parent == NULL || tree->odd == NULL)
		return false;
	memset(tree->parent, 0xff, n * sizeof(*tree->parent));
	t->n++;
	return true;
}

/* The tree is not wanted after all. */
void
mcast_drop_tree(struct mcast_trees *t)
{
	struct mcast_tree *tree = &t->tree[--t->n];

	free(tree->parent);
	free(tree->odd);
	*tree = (struct mcast_tree){ 0 };
}

/* ------------------------------------------------------------------- growing */

static void
count_use(struct mcast_grower *g, fm_link l, int by)
{
	g->n_uses[l] += (uint32_t)by;
	g->n_uses[g->fab->link_rev[l]] += (uint32_t)by;
}

static bool
may_hang(const struct mcast_grower *g, enum mcast_rule rule, fm_sw v, fm_sw u)
{
	return rule != MCAST_DOWN || g->level[u] > g->level[v];
}

/* The best way to hang v on the tree as it was before this layer; FM_NONE: none. */
static fm_link
best_link(const struct mcast_grower *g, enum mcast_rule rule, fm_sw v, uint32_t before)
{
	const struct fm_fabric *fab = g->fab;
	fm_link best = FM_NONE, toward = FM_NONE;

	for (fm_link l = fab->sw_first_link[v]; l < fab->sw_first_link[v + 1]; l++) {
		if (g->depth[fab->link_to[l]] >= before || fm_bit_test(g->refused, l) ||
		    !may_hang(g, rule, v, fab->link_to[l]))
			continue;
		if (l == g->kept[v])
			return l;
		if (l == g->toward[v]) /* its turns inwards are unicast's */
			toward = l;
		if (best == FM_NONE || g->n_uses[l] < g->n_uses[best])
			best = l;
	}
	return toward != FM_NONE ? toward : best;
}

/* 0, or FM_E_RESOURCE; *hung says whether there was a way. */
static int
hang(struct mcast_grower *g, enum mcast_rule rule, struct mcast_tree *tree, fm_sw v,
    uint32_t before, bool *hung)
{
	fm_link l;

	*hung = false;
	while (!*hung && (l = best_link(g, rule, v, before)) != FM_NONE) {
		enum mcast_answer a = rule == MCAST_CHECKED
		    ? mcast_check_hang(g->check, tree->parent, v, l)
		    : MCAST_FITS;

		if (a == MCAST_NOMEM)
			return FM_E_RESOURCE;
		if (a == MCAST_CYCLE) {
			fm_bit_set(g->refused, l);
			continue;
		}
		tree->parent[v] = l;
		count_use(g, l, 1);
		*hung = true;
	}
	return 0;
}

/* Switches beside layer `from` that are not in the tree, into the other layer. */
static uint32_t
find_layer(struct mcast_grower *g, uint32_t from, uint32_t n)
{
	const struct fm_fabric *fab = g->fab;
	uint32_t m = 0;

	g->n_stamps++;
	for (uint32_t i = 0; i < n; i++) {
		fm_sw u = g->layer[from][i];

		for (fm_link l = fab->sw_first_link[u]; l < fab->sw_first_link[u + 1]; l++) {
			fm_sw v = fab->link_to[l];

			if (g->depth[v] != UINT32_MAX || g->stamp[v] == g->n_stamps)
				continue;
			g->stamp[v] = g->n_stamps;
			g->layer[!from][m++] = v;
		}
	}
	return m;
}

/* From the n switches of layer[0], which are in the tree, outwards. */
int
mcast_grow(struct mcast_grower *g, enum mcast_rule rule, struct mcast_tree *tree, uint32_t n)
{
	uint32_t from = 0;
	bool hung;

	while (n > 0) {
		uint32_t m = find_layer(g, from, n), before = ++g->n_rounds;

		from = !from;
		n = 0;
		for (uint32_t i = 0; i < m; i++) {
			fm_sw v = g->layer[from][i];

			if (hang(g, rule, tree, v, before, &hung) != 0)
				return FM_E_RESOURCE;
			if (!hung)
				continue;
			g->depth[v] = before;
			if (rule == MCAST_ANY)
				fm_bit_set(tree->odd, v);
			g->layer[from][n++] = v;
		}
	}
	return 0;
}

/* --------------------------------------------------------------------- roots */

static int
by_worth(const void *a, const void *b)
{
	const struct mcast_root *x = a, *y = b;

	if (x->component != y->component)
		return x->component < y->component ? -1 : 1;
	if (x->missed != y->missed)
		return x->missed < y->missed ? -1 : 1;
	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	if (x->sum != y->sum)
		return x->sum < y->sum ? -1 : 1;
	return x->sw < y->sw ? -1 : x->sw > y->sw;
}

/* How near are the hosts of its component?  Breadth first. */
static void
weigh_root(struct mcast_grower *g, struct mcast_root *r)
{
	const struct fm_fabric *fab = g->fab;
	uint32_t head = 0, tail = 0, n_met = 0;
	fm_sw *queue = g->layer[0];

	memset(g->depth, 0xff, fab->n_switches * sizeof(*g->depth));
	g->depth[r->sw] = 0;
	queue[tail++] = r->sw;
	while (head < tail) {
		fm_sw u = queue[head++];

		if (mcast_has_hosts(fab, u)) {
			n_met++;
			r->depth = g->depth[u];
			r->sum += g->depth[u];
		}
		for (fm_link l = fab->sw_first_link[u]; l < fab->sw_first_link[u + 1]; l++) {
			fm_sw v = fab->link_to[l];

			if (g->depth[v] != UINT32_MAX ||
			    (g->levelled && g->level[v] >= g->level[u]))
				continue;
			g->depth[v] = g->depth[u] + 1;
			queue[tail++] = v;
		}
	}
	r->missed = UINT32_MAX - n_met;
}

/* On a levelled fabric roots are tops: switches without a way further up. */
static bool
may_be_root(const struct mcast_grower *g, fm_sw sw)
{
	const struct fm_fabric *fab = g->fab;

	if (g->p->snap->sw_component[sw] >= g->p->snap->n_components)
		return false;
	for (fm_link l = fab->sw_first_link[sw]; g->levelled && l < fab->sw_first_link[sw + 1]; l++)
		if (g->level[fab->link_to[l]] > g->level[sw])
			return false;
	return true;
}

int
mcast_find_roots(struct mcast_grower *g)
{
	const struct snapshot *snap = g->p->snap;
	uint32_t *n_of = fm_arena_array(&g->mem, snap->n_components + 1, uint32_t);
	uint32_t *met = fm_arena_array(&g->mem, snap->n_components + 1, uint32_t);

	if (n_of == NULL || met == NULL)
		return FM_E_RESOURCE;
	for (fm_sw sw = 0; sw < g->fab->n_switches; sw++)
		if (may_be_root(g, sw))
			n_of[snap->sw_component[sw]]++;
	for (fm_sw sw = 0; sw < g->fab->n_switches; sw++) {
		uint32_t c = snap->sw_component[sw], step;
		struct mcast_root r = { .component = c, .sw = sw };

		if (!may_be_root(g, sw))
			continue;
		step = (n_of[c] + ROOT_SAMPLE - 1) / ROOT_SAMPLE;
		if (met[c]++ % step != 0)
			continue;
		weigh_root(g, &r);
		if (!fm_vec_push(&g->roots, r))
			return FM_E_RESOURCE;
	}
	if (g->roots.n > 0)
		qsort(g->roots.item, g->roots.n, sizeof(*g->roots.item), by_worth);
	return 0;
}

/* The roots of tree number k: of each component the k-th of those that reach as many
 * switches as the best; layer[0] gets them. */
static uint32_t
take_roots(struct mcast_grower *g, unsigned k)
{
	uint32_t n = 0;
	size_t i = 0, equal;

	while (i < g->roots.n) {
		const struct mcast_root *r = &g->roots.item[i];

		for (equal = 0; i < g->roots.n && g->roots.item[i].component == r->component; i++)
			equal += g->roots.item[i].missed == r->missed;
		g->layer[0][n++] = r[k % equal].sw;
	}
	return n;
}

/* How many trees are worth making: more than roots would be the same again. */
unsigned
mcast_n_different_roots(const struct mcast_grower *g)
{
	size_t i = 0, most = 1;

	while (i < g->roots.n) {
		const struct mcast_root *r = &g->roots.item[i];
		size_t equal = 0;

		for (; i < g->roots.n && g->roots.item[i].component == r->component; i++)
			equal += g->roots.item[i].missed == r->missed;
		most = equal > most ? equal : most;
	}
	return (unsigned)most;
}

/* ------------------------------------------------------------------ one tree */

/* Parents in tree number k of before, where their cables are still there. */
static void
find_kept(struct mcast_grower *g, unsigned k)
{
	const struct mcast_trees *prev = g->wish->prev;
	const struct fm_fabric *fab = g->fab, *was;

	memset(g->kept, 0xff, fab->n_switches * sizeof(*g->kept));
	if (prev == NULL || k >= prev->n)
		return;
	was = &prev->snap->fab;
	for (fm_sw sw = 0; sw < fab->n_switches && sw < was->n_switches; sw++) {
		fm_link l = prev->tree[k].parent[sw], now;

		if (l == FM_NONE)
			continue;
		now = snapshot_link_at(g->p->snap, sw, was->link_port[l]);
		if (now != FM_NONE && fab->link_to[now] == was->link_to[l])
			g->kept[sw] = now;
	}
}

/* Where the dependency graph judges: the ways of unicast to the root. */
static void
find_toward(struct mcast_grower *g, uint32_t n_roots)
{
	const struct fm_fabric *fab = g->fab;

	memset(g->toward, 0xff, fab->n_switches * sizeof(*g->toward));
	for (uint32_t i = 0; g->check != NULL && i < n_roots; i++) {
		fm_sw root = g->layer[0][i];
		fm_end e = fab->sw_first_end[root];

		if (e == fab->sw_first_end[root + 1] || fab->end_lid[e] == 0)
			continue;
		for (fm_sw sw = 0; sw < fab->n_switches; sw++)
			if (g->p->snap->sw_component[sw] == g->p->snap->sw_component[root])
				g->toward[sw] = snapshot_link_at(
				    g->p->snap, sw, g->p->tables->t.lft[sw][fab->end_lid[e]]);
	}
}

/* Does a switch with hosts hang by an unproven way? */
bool
mcast_has_odd_hosts(const struct mcast_grower *g, const struct mcast_tree *tree)
{
	FM_EACH_BIT (sw, tree->odd, g->fab->n_switches)
		if (mcast_has_hosts(g->fab, (fm_sw)sw))
			return true;
	return false;
}

int
mcast_grow_tree(struct mcast_grower *g, unsigned k)
{
	enum mcast_rule rule = g->levelled ? MCAST_DOWN
	    : g->check != NULL		   ? MCAST_CHECKED
					   : MCAST_ANY;
	struct mcast_tree *tree;
	uint32_t n;

	if (!mcast_add_tree(g->trees))
		return FM_E_RESOURCE;
	tree = &g->trees->tree[g->trees->n - 1];
	find_kept(g, k);
	memset(g->depth, 0xff, g->fab->n_switches * sizeof(*g->depth));
	memset(g->refused, 0, FM_BITSET_WORDS(g->fab->n_links) * sizeof(*g->refused));
	g->n_rounds = 0;
	n = take_roots(g, k);
	find_toward(g, n);
	for (uint32_t i = 0; i < n; i++)
		g->depth[g->layer[0][i]] = 0;
	if (mcast_grow(g, rule, tree, n) != 0)
		return FM_E_RESOURCE;
	if (rule == MCAST_ANY)
		return 0;
	memset(g->refused, 0, FM_BITSET_WORDS(g->fab->n_links) * sizeof(*g->refused));
	n = 0;
	for (fm_sw sw = 0; sw < g->fab->n_switches; sw++)
		if (g->depth[sw] != UINT32_MAX)
			g->layer[0][n++] = sw;
	return mcast_grow(g, MCAST_ANY, tree, n);
}

void
mcast_forget_uses(struct mcast_grower *g, const struct mcast_tree *tree)
{
	for (fm_sw sw = 0; sw < g->fab->n_switches; sw++)
		if (tree->parent[sw] != FM_NONE)
			count_use(g, tree->parent[sw], -1);
}
