/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Groups on trees.  A node of a group is a switch with the ways through it
 * counted: members here and branches below.  With the last it goes.
 */
#include "core/mcast/mcast_net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/bitset.h"
#include "lib/vec.h"

#define N_SLS 16

struct member {
	uint64_t guid;
	uint8_t roles;
	fm_end end; /* in the trees of today, FM_NONE: not there, or on no tree */
};

struct node {
	fm_sw sw;
	uint32_t n_ends, n_branches;
	uint32_t branch_sum;	  /* of the switches below, so that the only one is known */
	bool cut;		  /* above the top */
	struct mcast_ports hosts; /* to members */
	struct mcast_ports down;  /* to branches */
};

struct group {
	uint16_t mlid;
	uint8_t sl;
	FM_VEC(struct member) members;
	struct fm_hash of_guid;
	FM_VEC(struct node) nodes;
	struct fm_hash of_sw;
	FM_VEC(fm_sw) roots, cut, tops; /* on the tree now; with a cut node; right below */
};

struct mcast_net {
	struct mcast_trees *trees;
	uint64_t number;
	struct group *group[MCAST_N_MLIDS];
	uint64_t used[FM_BITSET_WORDS(MCAST_N_MLIDS)]; /* MLIDs with a group */
	uint32_t n_of_sl[N_SLS];		       /* groups */
	FM_VEC(struct mcast_spot) dirty;
	bool out_of_memory; /* while noting */
};

static void
set_port(struct mcast_ports *p, uint8_t port, bool on)
{
	if (on)
		fm_bit_set(p->bits, port);
	else
		fm_bit_clear(p->bits, port);
}

static struct group *
group_of(const struct mcast_net *n, uint16_t mlid)
{
	return mlid < MCAST_MLID_FIRST || mlid > MCAST_MLID_LAST
	    ? NULL
	    : n->group[mlid - MCAST_MLID_FIRST];
}

static struct node *
node_of(const struct group *g, fm_sw sw)
{
	uint32_t i = fm_hash_find(&g->of_sw, sw);

	return i == FM_HASH_NONE ? NULL : &g->nodes.item[i];
}

static void
note(struct mcast_net *n, const struct group *g, fm_sw sw)
{
	struct mcast_spot s = { g->mlid, sw };

	if (!fm_vec_push(&n->dirty, s))
		n->out_of_memory = true;
}

/* ---------------------------------------------------------------- branches */

static struct node *
add_node(struct mcast_net *n, struct group *g, fm_sw sw)
{
	struct node fresh = { .sw = sw };

	if (!fm_vec_push(&g->nodes, fresh))
		return NULL;
	if (!fm_hash_put(&g->of_sw, sw, (uint32_t)g->nodes.n - 1)) {
		g->nodes.n--;
		return NULL;
	}
	note(n, g, sw);
	return &g->nodes.item[g->nodes.n - 1];
}

static void
remove_node(struct mcast_net *n, struct group *g, fm_sw sw)
{
	uint32_t i = fm_hash_find(&g->of_sw, sw);

	note(n, g, sw);
	fm_hash_remove(&g->of_sw, sw);
	g->nodes.item[i] = g->nodes.item[--g->nodes.n];
	if (i < g->nodes.n)
		fm_hash_put(&g->of_sw, g->nodes.item[i].sw, i); /* replaces: needs no memory */
}

/* The switch above, and the port that leads down from it; FM_NONE at a root. */
static fm_sw
above(const struct mcast_net *n, const struct group *g, fm_sw sw, uint8_t *port)
{
	const struct fm_fabric *fab = &n->trees->snap->fab;
	fm_link up = mcast_tree_of(n->trees, g->mlid)->parent[sw];

	if (up == FM_NONE)
		return FM_NONE;
	*port = fab->link_port[fab->link_rev[up]];
	return fab->link_to[up];
}

static void
forget_root(struct group *g, fm_sw sw)
{
	for (size_t i = 0; i < g->roots.n; i++)
		if (g->roots.item[i] == sw) {
			g->roots.item[i] = g->roots.item[--g->roots.n];
			return;
		}
}

/* Nobody needs sw any more?  Then it goes, and so on upwards. */
static void
take_away(struct mcast_net *n, struct group *g, fm_sw sw)
{
	struct node *at = node_of(g, sw);

	while (at != NULL && at->n_ends == 0 && at->n_branches == 0) {
		uint8_t port = 0;
		fm_sw up = above(n, g, at->sw, &port), gone = at->sw;

		remove_node(n, g, gone);
		if (up == FM_NONE) {
			forget_root(g, gone);
			return;
		}
		at = node_of(g, up);
		if (at == NULL)
			return; /* while a join that ran out of memory is taken back */
		at->n_branches--;
		at->branch_sum -= gone;
		set_port(&at->down, port, false);
		note(n, g, up);
	}
}

/* The way from sw up to where there is one. */
static bool
lay(struct mcast_net *n, struct group *g, fm_sw sw)
{
	fm_sw below = FM_NONE;
	uint8_t port = 0;

	for (;;) {
		struct node *at = node_of(g, sw);
		bool is_new = at == NULL;
		fm_sw start = sw;

		if (is_new && (at = add_node(n, g, sw)) == NULL)
			return false;
		if (below != FM_NONE) {
			at->n_branches++;
			at->branch_sum += below;
			set_port(&at->down, port, true);
			note(n, g, sw);
		}
		if (!is_new)
			return true;
		below = sw;
		sw = above(n, g, start, &port);
		if (sw == FM_NONE)
			return fm_vec_push(&g->roots, start);
	}
}

/* The cut switches of the tree below root, and its top. */
static bool
find_top(struct group *g, fm_sw sw)
{
	const struct node *at;

	while ((at = node_of(g, sw)) != NULL && at->n_ends == 0 && at->n_branches == 1) {
		if (!fm_vec_push(&g->cut, sw))
			return false;
		sw = at->branch_sum;
	}
	return fm_vec_push(&g->tops, sw);
}

/* Those that were, or are, are dirty, and so are the tops: they look up. */
static void
set_cut(struct mcast_net *n, struct group *g, bool on)
{
	for (size_t i = 0; i < g->cut.n; i++) {
		struct node *at = node_of(g, g->cut.item[i]);

		note(n, g, g->cut.item[i]);
		if (at != NULL)
			at->cut = on;
	}
	for (size_t i = 0; i < g->tops.n; i++)
		note(n, g, g->tops.item[i]);
}

/* Which switches lie above the top of their tree now? */
static void
cut_off(struct mcast_net *n, struct group *g)
{
	set_cut(n, g, false);
	g->cut.n = g->tops.n = 0;
	for (size_t r = 0; r < g->roots.n; r++)
		if (!find_top(g, g->roots.item[r]))
			n->out_of_memory = true;
	set_cut(n, g, true);
}

/* An end goes in or out, by the roles it has; +1 or -1. */
static bool
place(struct mcast_net *n, struct group *g, const struct member *m, bool in)
{
	const struct fm_fabric *fab = &n->trees->snap->fab;
	fm_sw sw = fab->end_sw[m->end];
	struct node *at;

	if (in && !lay(n, g, sw)) {
		take_away(n, g, sw);
		return false;
	}
	at = node_of(g, sw);
	at->n_ends += in ? 1u : UINT32_MAX;
	if (m->roles & MCAST_RECEIVES)
		set_port(&at->hosts, fab->end_port[m->end], in);
	note(n, g, sw);
	if (!in)
		take_away(n, g, sw);
	return true;
}

/* Ports are owned by one member each but port 0, which is the switch's own: so is that. */
static bool
enter(struct mcast_net *n, struct group *g, struct member *m)
{
	m->end = n->trees != NULL ? fm_hash_find(&n->trees->end_of_guid, m->guid) : FM_NONE;
	if (m->end == FM_HASH_NONE)
		m->end = FM_NONE;
	return m->end == FM_NONE || place(n, g, m, true);
}

/* ------------------------------------------------------------------ members */

static void
group_free(struct group *g)
{
	if (g == NULL)
		return;
	fm_vec_fini(&g->members);
	fm_hash_fini(&g->of_guid);
	fm_vec_fini(&g->nodes);
	fm_hash_fini(&g->of_sw);
	fm_vec_fini(&g->roots);
	fm_vec_fini(&g->cut);
	fm_vec_fini(&g->tops);
	free(g);
}

struct mcast_net *
mcast_net_new(void)
{
	return calloc(1, sizeof(struct mcast_net));
}

void
mcast_net_free(struct mcast_net *n)
{
	if (n == NULL)
		return;
	for (uint32_t i = 0; i < MCAST_N_MLIDS; i++)
		group_free(n->group[i]);
	fm_vec_fini(&n->dirty);
	mcast_trees_put(n->trees);
	free(n);
}

static struct group *
get_group(struct mcast_net *n, uint16_t mlid)
{
	struct group **at = &n->group[mlid - MCAST_MLID_FIRST];

	if (*at != NULL || (*at = calloc(1, sizeof(**at))) == NULL)
		return *at;
	(*at)->mlid = mlid;
	fm_bit_set(n->used, mlid - MCAST_MLID_FIRST);
	n->n_of_sl[(*at)->sl]++;
	return *at;
}

static void
forget_group(struct mcast_net *n, struct group *g)
{
	n->group[g->mlid - MCAST_MLID_FIRST] = NULL;
	fm_bit_clear(n->used, g->mlid - MCAST_MLID_FIRST);
	n->n_of_sl[g->sl]--;
	group_free(g);
}

static void
set_sl(struct mcast_net *n, struct group *g, uint8_t sl)
{
	n->n_of_sl[g->sl]--;
	g->sl = sl % N_SLS;
	n->n_of_sl[g->sl]++;
}

static struct member *
get_member(struct group *g, uint64_t guid)
{
	uint32_t i = fm_hash_find(&g->of_guid, guid);
	struct member fresh = { .guid = guid, .end = FM_NONE };

	if (i != FM_HASH_NONE)
		return &g->members.item[i];
	if (!fm_vec_push(&g->members, fresh))
		return NULL;
	if (!fm_hash_put(&g->of_guid, guid, (uint32_t)g->members.n - 1)) {
		g->members.n--;
		return NULL;
	}
	return &g->members.item[g->members.n - 1];
}

static void
drop_member(struct mcast_net *n, struct group *g, struct member *m)
{
	uint32_t i = (uint32_t)(m - g->members.item);

	fm_hash_remove(&g->of_guid, m->guid);
	*m = g->members.item[--g->members.n];
	if (i < g->members.n)
		fm_hash_put(&g->of_guid, m->guid, i);
	if (g->members.n == 0)
		forget_group(n, g);
}

bool
mcast_net_set(struct mcast_net *n, uint16_t mlid, uint8_t sl, uint64_t guid, unsigned roles)
{
	struct group *g;
	struct member *m;
	bool ok = true;

	if (mlid < MCAST_MLID_FIRST || mlid > MCAST_MLID_LAST)
		return true;
	g = roles == MCAST_OUT ? group_of(n, mlid) : get_group(n, mlid);
	if (g == NULL)
		return roles == MCAST_OUT;
	if (roles == MCAST_OUT && fm_hash_find(&g->of_guid, guid) == FM_HASH_NONE)
		return true;
	m = get_member(g, guid);
	if (m == NULL) {
		if (g->members.n == 0)
			forget_group(n, g);
		return false;
	}
	if (roles != MCAST_OUT)
		set_sl(n, g, sl);
	if (m->roles == roles)
		return true;
	n->out_of_memory = false;
	if (m->roles != MCAST_OUT && m->end != FM_NONE)
		place(n, g, m, false);
	m->roles = (uint8_t)roles;
	if (roles != MCAST_OUT)
		ok = enter(n, g, m);
	if (!ok)
		m->end = FM_NONE;
	cut_off(n, g);
	if (roles == MCAST_OUT)
		drop_member(n, g, m);
	return ok && !n->out_of_memory;
}

static void
uproot(struct mcast_net *n, struct group *g)
{
	for (size_t i = 0; i < g->nodes.n; i++)
		note(n, g, g->nodes.item[i].sw);
	g->nodes.n = g->roots.n = g->cut.n = g->tops.n = 0;
	fm_hash_fini(&g->of_sw);
}

bool
mcast_net_use(struct mcast_net *n, struct mcast_trees *t)
{
	bool ok = true;

	n->out_of_memory = false;
	n->number++;
	for (uint32_t i = 0; i < MCAST_N_MLIDS; i++)
		if (n->group[i] != NULL)
			uproot(n, n->group[i]);
	mcast_trees_get(t);
	mcast_trees_put(n->trees);
	n->trees = t;
	for (uint32_t i = 0; i < MCAST_N_MLIDS; i++) {
		struct group *g = n->group[i];

		for (size_t k = 0; g != NULL && k < g->members.n; k++)
			if (!enter(n, g, &g->members.item[k])) {
				g->members.item[k].end = FM_NONE;
				ok = false;
			}
		if (g != NULL)
			cut_off(n, g);
	}
	return ok && !n->out_of_memory;
}

struct mcast_trees *
mcast_net_trees(const struct mcast_net *n)
{
	return n->trees;
}

uint64_t
mcast_net_number(const struct mcast_net *n)
{
	return n->number;
}

uint16_t
mcast_net_sls(const struct mcast_net *n)
{
	uint16_t sls = 0;

	for (unsigned sl = 0; sl < N_SLS; sl++)
		if (n->n_of_sl[sl] > 0)
			sls |= (uint16_t)(1u << sl);
	return sls;
}

uint16_t
mcast_net_top(const struct mcast_net *n)
{
	for (uint32_t w = FM_BITSET_WORDS(MCAST_N_MLIDS); w-- > 0;)
		if (n->used[w] != 0)
			return (uint16_t)(MCAST_MLID_FIRST + 64 * w + 63 -
			    (uint32_t)__builtin_clzll(n->used[w]));
	return 0;
}

uint32_t
mcast_net_n_members(const struct mcast_net *n, uint16_t mlid)
{
	const struct group *g = group_of(n, mlid);

	return g == NULL ? 0 : (uint32_t)g->members.n;
}

void
mcast_net_member(
    const struct mcast_net *n, uint16_t mlid, uint32_t i, uint64_t *guid, unsigned *roles)
{
	const struct member *m = &group_of(n, mlid)->members.item[i];

	*guid = m->guid;
	*roles = m->roles;
}

/* --------------------------------------------------------------------- rows */

struct mcast_ports
mcast_net_row(const struct mcast_net *n, uint16_t mlid, fm_sw sw)
{
	const struct group *g = group_of(n, mlid);
	const struct node *at = g == NULL ? NULL : node_of(g, sw), *over;
	struct mcast_ports row = { { 0 } };
	uint8_t port = 0;
	fm_sw up;

	if (at == NULL || at->cut)
		return row;
	for (int i = 0; i < 4; i++)
		row.bits[i] = at->hosts.bits[i] | at->down.bits[i];
	up = above(n, g, sw, &port);
	over = up == FM_NONE ? NULL : node_of(g, up);
	if (over != NULL && !over->cut)
		set_port(&row,
		    n->trees->snap->fab.link_port[mcast_tree_of(n->trees, mlid)->parent[sw]], true);
	return row;
}

uint32_t
mcast_net_switches(const struct mcast_net *n, uint16_t mlid, uint32_t i, fm_sw *sw)
{
	const struct group *g = group_of(n, mlid);

	if (g == NULL)
		return 0;
	if (i < g->nodes.n && sw != NULL)
		*sw = g->nodes.item[i].sw;
	return (uint32_t)g->nodes.n;
}

uint32_t
mcast_net_dirty(const struct mcast_net *n, const struct mcast_spot **list)
{
	*list = n->dirty.item;
	return (uint32_t)n->dirty.n;
}

void
mcast_net_clear(struct mcast_net *n)
{
	n->dirty.n = 0;
}
