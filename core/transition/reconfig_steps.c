/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A step for each LID that changes (reconfig.h).  Verification has shown that old and new tables
 * are free of cycles by themselves; where the old ones are not (credit_loops = warn) nothing is
 * promised.
 *
 * First all dependencies of all LIDs together are looked at, and mostly they have no cycle: every
 * LID may be written in any order.  Else an incremental acyclic graph begins with what is
 * installed, and LID after LID is inserted with the dependencies of its change.
 *
 * How many steps: of 660 random cables lost and returned, one step left 6,958 LIDs to be drained,
 * two 5,727, and sixteen 5,723.  After returns two left 10,549 LIDs with their old entries, sixteen
 * 9,442, and of joined regions some returns wait for an administrator with less than sixteen.
 */
#include <stdlib.h>
#include <string.h>

#include "core/transition/reconfig_internal.h"
#include "core/transition/transition.h"
#include "lib/algo/scc.h"
#include "lib/bitset.h"

#define STEPS_MAX 16
_Static_assert(STEPS_MAX <= TRANSITION_STEP, "a rule has room for every step");

/* ------------------------------------------------------- sets of dependencies */

static fm_sw
switch_after(const struct reconfig *c, uint32_t vertex)
{
	return c->fab->link_to[vertex / c->n_vls];
}

static bool
alloc_rows(struct reconfig *c)
{
	size_t words;

	c->row = reconfig_rows(c->fab, c->n_vls);
	if (c->row == NULL)
		return false;
	words = c->row[deps_n_vertices(c->deps)];
	c->bits = calloc(words + 1, sizeof(*c->bits));
	c->staying = calloc(words + 1, sizeof(*c->staying));
	return c->bits != NULL && c->staying != NULL;
}

static bool
note_lid(struct reconfig *c, uint16_t lid, enum deps_mode mode)
{
	const struct dep *list;
	size_t n;

	if (!reconfig_list_deps(c, lid, mode, &list, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		uint32_t first = c->fab->sw_first_link[switch_after(c, list[i].from)];

		fm_bit_set(c->bits + c->row[list[i].from], list[i].to - first * c->n_vls);
	}
	return true;
}

/* Have the dependencies noted a cycle?  If not, position[] is an order of them. */
static bool
find_cycle(struct reconfig *c, bool *cyclic)
{
	uint32_t n = deps_n_vertices(c->deps), n_edges = 0, n_components, *first, *to;
	struct fm_arena mem;
	bool ok;

	fm_arena_init(&mem, SIZE_MAX);
	n_edges = (uint32_t)fm_bit_count(c->bits, c->row[n] * 64);
	first = fm_arena_array(&mem, (size_t)n + 1, uint32_t);
	to = fm_arena_array(&mem, (size_t)n_edges + 1, uint32_t);
	n_edges = 0;
	for (uint32_t v = 0; first != NULL && to != NULL && v < n; v++) {
		uint32_t base = c->fab->sw_first_link[switch_after(c, v)] * c->n_vls;

		first[v] = n_edges;
		FM_EACH_BIT (i, c->bits + c->row[v], (c->row[v + 1] - c->row[v]) * 64)
			to[n_edges++] = base + (uint32_t)i;
	}
	ok = first != NULL && to != NULL;
	if (ok) {
		first[n] = n_edges;
		n_components = fm_scc(n, first, to, c->position, &mem);
		ok = n_components != UINT32_MAX;
		*cyclic = n_components < n; /* no packet goes back by the link it came by */
		for (uint32_t v = 0; ok && v < n; v++)
			c->position[v] = n_components - 1 - c->position[v];
	}
	fm_arena_fini(&mem);
	return ok;
}

/* Dependencies of the LIDs that do not change, into bits and staying. */
static bool
note_staying(struct reconfig *c, struct router *r, const struct plan *prev, const struct plan *p)
{
	size_t words = c->row[deps_n_vertices(c->deps)];
	bool noted = false, ok;

	memset(c->bits, 0, words * sizeof(*c->bits));
	ok = c->fab != c->usable || reconfig_note_staying(r, prev, p, c, &noted);
	for (uint32_t lid = 1; ok && !noted && lid <= c->fab->max_lid; lid++)
		if (c->fab->lid_end[lid] != FM_NONE &&
		    c->fab->end_sw[c->fab->lid_end[lid]] != FM_NONE &&
		    !deps_changes(c->deps, (uint16_t)lid))
			ok = note_lid(c, (uint16_t)lid, DEPS_NEW);
	memcpy(c->staying, c->bits, words * sizeof(*c->bits));
	return ok;
}

static void
note_only_staying(struct reconfig *c)
{
	memcpy(c->bits, c->staying, c->row[deps_n_vertices(c->deps)] * sizeof(*c->bits));
}

static bool
note_changed(struct reconfig *c, enum deps_mode mode)
{
	bool ok = true;

	for (size_t i = 0; ok && i < c->lids.n; i++)
		ok = note_lid(c, c->lids.item[i], mode);
	return ok;
}

/* ------------------------------------------------------------------ the steps */

/* The graph of what is installed: the LIDs that do not change once for all, each that changes by
 * itself, so that it can be taken out. */
static bool
start_graph(struct reconfig *c)
{
	uint32_t n = deps_n_vertices(c->deps);
	bool ok, fits = true;

	note_only_staying(c);
	ok = true;
	for (uint32_t v = 0; ok && v < n; v++) {
		uint32_t base = c->fab->sw_first_link[switch_after(c, v)] * c->n_vls;

		FM_EACH_BIT (i, c->bits + c->row[v], (c->row[v + 1] - c->row[v]) * 64)
			ok = ok &&
			    fm_acyclic_insert(c->graph, v, base + (uint32_t)i) <= FM_ACYCLIC_HELD;
	}
	for (size_t i = 0; ok && i < c->lids.n; i++)
		ok = reconfig_insert(c, c->lids.item[i], DEPS_OLD, &fits) && fits;
	return ok;
}

/* The dependencies of the mode beside the old ones. */
static bool
try_mode(struct reconfig *c, uint16_t lid, enum deps_mode mode, bool *fits)
{
	return c->local != NULL ? reconfig_entries_set(c, lid, mode, fits)
				: reconfig_insert(c, lid, mode, fits);
}

static bool
place(struct reconfig *c, uint16_t lid, uint8_t step, bool *moved)
{
	bool fits;

	if (!try_mode(c, lid, DEPS_ALL, &fits))
		return false;
	if (fits) {
		c->mark[lid] = ANY_ORDER;
	} else {
		if (!try_mode(c, lid, DEPS_ORDERED, &fits))
			return false;
		if (!fits)
			return true;
		c->mark[lid] = NEXT_HOP_FIRST;
	}
	c->rules[lid] = step;
	if (c->mark[lid] == NEXT_HOP_FIRST)
		c->rules[lid] |= TRANSITION_NEXT_HOP_FIRST;
	c->n_conflicting--;
	*moved = true;
	return true;
}

/* The LID is written, and a packet's life time has passed. */
static bool
settle(struct reconfig *c, uint16_t lid)
{
	enum deps_mode mode = c->mark[lid] == ANY_ORDER ? DEPS_ALL : DEPS_ORDERED;
	bool fits;

	c->mark[lid] = WRITTEN;
	if (c->local != NULL)
		return reconfig_entries_set(c, lid, DEPS_NEW, &fits);
	return reconfig_insert(c, lid, DEPS_NEW, &fits) && reconfig_remove(c, lid, mode) &&
	    reconfig_remove(c, lid, DEPS_OLD);
}

bool
reconfig_take_steps(struct reconfig *c)
{
	bool ok = true, moved = true;

	c->n_conflicting = (uint32_t)c->lids.n;
	for (uint8_t step = c->in_flight; ok && moved && c->n_conflicting > 0 && step < STEPS_MAX;
	     step++) {
		moved = false;
		for (size_t i = 0; ok && i < c->lids.n; i++)
			if (c->mark[c->lids.item[i]] == CONFLICTING)
				ok = place(c, c->lids.item[i], step, &moved);
		for (size_t i = 0; ok && c->n_conflicting > 0 && i < c->lids.n; i++)
			if (c->mark[c->lids.item[i]] == ANY_ORDER ||
			    c->mark[c->lids.item[i]] == NEXT_HOP_FIRST)
				ok = settle(c, c->lids.item[i]);
	}
	return ok;
}

/* -------------------------------------------------- by the graph of all of them */

/* By counts, entry by entry (reconfig_entries.c).  *known false: nothing has come of it. */
static bool
find_local_steps(struct reconfig *c, bool *needed, bool *known)
{
	bool cyclic = false, ok;

	*known = true;
	reconfig_entries_note(c, DEPS_ALL);
	if (!find_cycle(c, &cyclic))
		return false;
	if (!cyclic)
		return true;
	reconfig_entries_note(c, DEPS_OLD);
	if (!find_cycle(c, &cyclic))
		return false;
	*known = !cyclic; /* else perhaps of packets that no switch sends any more */
	if (cyclic)
		return true;
	*needed = true;
	c->graph = fm_acyclic_new(deps_n_vertices(c->deps), c->position);
	ok = c->graph != NULL && reconfig_entries_use_graph(c) && reconfig_take_steps(c);
	*known = c->n_conflicting == 0 || reconfig_entries_is_exact(c);
	return ok;
}

/* As if find_local_steps() had not been tried. */
static void
forget_local_steps(struct reconfig *c, struct router *r, const struct plan *p, bool *needed)
{
	reconfig_counts_forget(r);
	reconfig_entries_free(c->local);
	c->local = NULL;
	fm_acyclic_free(c->graph);
	c->graph = NULL;
	memset(c->rules, 0, p->top_lid + 1u);
	memset(c->mark, 0, p->top_lid + 1u);
	*needed = false;
}

/* By all dependencies of the LIDs that change. */
static bool
find_all_steps(struct reconfig *c, struct router *r, const struct plan *prev, const struct plan *p,
    bool *needed)
{
	bool cyclic = false, clash;
	bool ok =
	    note_staying(c, r, prev, p) && note_changed(c, DEPS_ALL) && find_cycle(c, &cyclic);

	if (!ok || !cyclic)
		return ok;
	note_only_staying(c);
	ok = note_changed(c, DEPS_OLD) && find_cycle(c, &cyclic);
	if (ok && cyclic && c->counted) { /* perhaps of packets that no switch sends any more */
		reconfig_counts_forget(r);
		ok = note_staying(c, r, prev, p) && note_changed(c, DEPS_OLD) &&
		    find_cycle(c, &cyclic);
	}
	clash = c->n_vls > 1 && !(reconfig_same_sls(prev, p) && plan_same_vls(prev, p));
	c->clashes = ok && cyclic && clash;
	if (!ok || (cyclic && !clash))
		return ok; /* the installed tables have cycles already */
	*needed = true;
	if (cyclic)
		return reconfig_partition(c, prev, p);
	c->graph = fm_acyclic_new(deps_n_vertices(c->deps), c->position);
	ok = c->graph != NULL && start_graph(c) && reconfig_take_steps(c);
	/* drained LIDs get new paths, on which the old SLs are not safe */
	c->clashes = ok && c->n_conflicting > 0 && clash;
	return ok;
}

bool
reconfig_find_steps(struct reconfig *c, struct router *r, const struct plan *prev,
    const struct plan *p, bool *needed)
{
	bool known = false;

	*needed = false;
	c->n_vls = deps_n_vls(c->deps);
	c->position = malloc((deps_n_vertices(c->deps) + 1) * sizeof(*c->position));
	if (c->position == NULL || !alloc_rows(c) ||
	    (c->fab == c->usable && !reconfig_entries_begin(r, prev, p, c)))
		return false;
	if (c->local != NULL) {
		if (!find_local_steps(c, needed, &known))
			return false;
		if (known)
			return true;
		forget_local_steps(c, r, p, needed);
	}
	c->kept = calloc((c->fab->max_lid + 1u) * 4u, sizeof(*c->kept));
	if (c->kept == NULL)
		return false;
	return find_all_steps(c, r, prev, p, needed);
}
