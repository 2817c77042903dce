/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The trees of a plan: the engine's own where it has one that is sound, else grown
 * here (mcast_trees.c).  The first tree has to be, sound or not; others only where
 * they are as good.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fmd/own.h>

#include "core/abi/host.h"
#include "core/mcast/mcast_internal.h"
#include "lib/bitset.h"
#include "lib/error.h"

static struct mcast_trees *
trees_new(struct snapshot *snap)
{
	struct mcast_trees *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	atomic_init(&t->refs, 1);
	t->snap = snapshot_get(snap);
	return t;
}

/* Is all that hosts send over it proven? */
static bool
is_sound(const struct mcast_grower *g)
{
	return (g->levelled || g->check != NULL) &&
	    !mcast_has_odd_hosts(g, &g->trees->tree[g->trees->n - 1]);
}

static void
give_up_tree(struct mcast_grower *g)
{
	mcast_forget_uses(g, &g->trees->tree[g->trees->n - 1]);
	if (g->check != NULL)
		mcast_check_forget(g->check);
	mcast_drop_tree(g->trees);
}

/* As many trees as are wanted and sound; else one that is not. */
static int
grow_trees(struct mcast_grower *g)
{
	struct mcast_trees *t = g->trees;
	unsigned n_roots = mcast_n_different_roots(g);
	bool promised = g->levelled || g->check != NULL;

	for (unsigned k = 0; promised && k < n_roots && t->n < g->wish->n_trees; k++) {
		if (mcast_grow_tree(g, k) != 0)
			return FM_E_RESOURCE;
		if (!is_sound(g))
			give_up_tree(g);
		else if (g->check != NULL)
			mcast_check_keep(g->check);
	}
	t->safe_sls = t->n > 0 ? t->sls : 0;
	if (t->n > 0)
		return 0;
	if (t->told[0] == '\0')
		snprintf(t->told, sizeof(t->told),
		    "no spanning tree of the hosts goes together with unicast without a cycle of "
		    "channel dependencies");
	return mcast_grow_tree(g, 0);
}

/* The engine's own tree of all hosts: *parent, to be freed; false: it has none. */
static bool
ask_engine(
    struct mcast_grower *g, struct router *r, unsigned sl, fm_link *parent, struct fm_error *why)
{
	const struct fm_engine *engine = g->wish->engine;
	struct route_call call = { .budget_bytes = (size_t)1 << 30, .name = engine->name };
	struct fm_mcast_request q = { .sl = sl };
	fm_end *members = fm_arena_array(&g->mem, g->fab->n_ends + 1, fm_end);
	int rc;

	if (members == NULL)
		return false;
	for (fm_end e = 0; e < g->fab->n_ends; e++)
		if (g->fab->end_sw[e] != FM_NONE && g->fab->end_kind[e] != FM_END_SWITCH)
			members[q.n_members++] = e;
	q.members = members;
	rc = fm_own_mcast_tree(engine)(route_host_begin(r->host, &call), g->fab, &g->p->tables->t,
	    &q, g->wish->opts, parent, why);
	route_host_end(r->host);
	return rc == 0;
}

/* What an engine says is believed when it is a tree: every way ends at a root. */
static bool
is_tree(const struct mcast_grower *g, const fm_link *parent)
{
	const struct fm_fabric *fab = g->fab;

	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		fm_sw at = sw;

		for (uint32_t n = 0; parent[at] != FM_NONE; n++) {
			if (n > fab->n_switches || parent[at] < fab->sw_first_link[at] ||
			    parent[at] >= fab->sw_first_link[at + 1])
				return false;
			at = fab->link_to[parent[at]];
		}
	}
	return true;
}

/* Hosts hang together in every component? */
static bool
spans_hosts(const struct mcast_grower *g, const fm_link *parent)
{
	const struct fm_fabric *fab = g->fab;
	fm_sw *root = g->layer[0];

	memset(root, 0xff, (g->p->snap->n_components + 1) * sizeof(*root));
	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		fm_sw at = sw, *of;

		if (!mcast_has_hosts(fab, sw))
			continue;
		while (parent[at] != FM_NONE)
			at = fab->link_to[parent[at]];
		of = &root[g->p->snap->sw_component[sw]];
		if (*of != FM_NONE && *of != at)
			return false;
		*of = at;
	}
	return true;
}

/* Who is not on the engine's tree hangs on it by any way. */
static int
complete(struct mcast_grower *g, struct mcast_tree *tree)
{
	const struct fm_fabric *fab = g->fab;
	uint32_t n = 0;

	memset(g->depth, 0xff, fab->n_switches * sizeof(*g->depth));
	memset(g->kept, 0xff, fab->n_switches * sizeof(*g->kept));
	memset(g->toward, 0xff, fab->n_switches * sizeof(*g->toward));
	g->n_rounds = 0;
	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		if (tree->parent[sw] == FM_NONE)
			continue;
		g->depth[sw] = 0;
		g->depth[fab->link_to[tree->parent[sw]]] = 0;
	}
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		if (g->depth[sw] == 0)
			g->layer[0][n++] = sw;
	return mcast_grow(g, MCAST_ANY, tree, n);
}

/* *taken when the engine's tree is used: sound on all SLs that are asked for. */
static int
try_engine(struct mcast_grower *g, struct router *r, bool *taken)
{
	struct mcast_trees *t = g->trees;
	struct fm_error why = { 0 };
	enum mcast_answer a = MCAST_FITS;
	fm_sw at = FM_NONE;
	struct mcast_tree *tree;

	if (!mcast_add_tree(t))
		return FM_E_RESOURCE;
	tree = &t->tree[t->n - 1];
	*taken = ask_engine(g, r, (unsigned)__builtin_ctz(t->sls), tree->parent, &why) &&
	    is_tree(g, tree->parent) && spans_hosts(g, tree->parent);
	for (unsigned sl = 0; *taken && sl < 16 && a == MCAST_FITS; sl++)
		if (t->sls >> sl & 1)
			a = g->check != NULL ? mcast_check_tree(g->check, tree->parent, sl, &at)
					     : MCAST_CYCLE;
	if (a == MCAST_NOMEM)
		return FM_E_RESOURCE;
	if (*taken && a == MCAST_FITS) {
		t->safe_sls = t->sls;
		t->by_engine = true;
		return complete(g, tree);
	}
	if (*taken && at != FM_NONE)
		snprintf(t->told, sizeof(t->told),
		    "the engine's own tree closes a cycle with unicast at %s", g->fab->sw_name[at]);
	*taken = false;
	mcast_drop_tree(t);
	return 0;
}

static int
start_grower(struct mcast_grower *g, struct router *r, struct plan *p)
{
	uint32_t n = g->fab->n_switches + 1, m = g->fab->n_links + 1;
	bool ok, cyclic = false;

	g->level = fm_arena_array(&g->mem, n, uint32_t);
	g->depth = fm_arena_array(&g->mem, n, uint32_t);
	g->stamp = fm_arena_array(&g->mem, n, uint32_t);
	g->layer[0] = fm_arena_array(&g->mem, n, fm_sw);
	g->layer[1] = fm_arena_array(&g->mem, n, fm_sw);
	g->kept = fm_arena_array(&g->mem, n, fm_link);
	g->toward = fm_arena_array(&g->mem, n, fm_link);
	g->n_uses = fm_arena_array(&g->mem, m, uint32_t);
	g->refused = fm_arena_array(&g->mem, FM_BITSET_WORDS(m), uint64_t);
	if (g->level == NULL || g->depth == NULL || g->stamp == NULL || g->layer[0] == NULL ||
	    g->layer[1] == NULL || g->kept == NULL || g->toward == NULL || g->n_uses == NULL ||
	    g->refused == NULL)
		return FM_E_RESOURCE;
	snapshot_find_levels(g->fab, g->level, g->layer[0]);
	ok = mcast_legal_turns(p, g->level, &g->levelled);
	if (ok && !g->levelled) {
		g->check = mcast_check_new(p, plan_sl_model(r, p), g->trees->sls, &cyclic);
		ok = g->check != NULL || cyclic;
	}
	if (cyclic)
		snprintf(
		    g->trees->told, sizeof(g->trees->told), "unicast has credit loops of its own");
	return ok ? mcast_find_roots(g) : FM_E_RESOURCE;
}

static bool
index_ends(struct mcast_trees *t)
{
	const struct fm_fabric *fab = &t->snap->fab;

	if (!fm_hash_reserve(&t->end_of_guid, fab->n_ends))
		return false;
	for (fm_end e = 0; e < fab->n_ends; e++)
		if (fab->end_sw[e] != FM_NONE && !fm_hash_put(&t->end_of_guid, fab->end_guid[e], e))
			return false;
	return true;
}

int
mcast_trees_make(struct router *r, struct plan *p, const struct mcast_wish *wish,
    struct mcast_trees **out, struct fm_error *err)
{
	struct mcast_grower g = { .p = p, .fab = &p->snap->fab, .wish = wish };
	bool taken = false;
	int rc = FM_E_RESOURCE;

	*out = NULL;
	fm_arena_init(&g.mem, SIZE_MAX);
	g.trees = trees_new(p->snap);
	if (g.trees != NULL && index_ends(g.trees)) {
		g.trees->sls = wish->sls;
		rc = start_grower(&g, r, p);
	}
	if (rc == 0 && wish->engine != NULL && fm_own_mcast_tree(wish->engine) != NULL)
		rc = try_engine(&g, r, &taken);
	if (rc == 0 && !taken)
		rc = grow_trees(&g);
	mcast_check_free(g.check);
	fm_vec_fini(&g.roots);
	fm_arena_fini(&g.mem);
	if (rc != 0) {
		mcast_trees_put(g.trees);
		return fm_fail(err, FM_E_RESOURCE, "out of memory for multicast trees");
	}
	*out = g.trees;
	return 0;
}
