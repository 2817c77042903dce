/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Turns by level.  Entries that nobody uses (from one top of a tree to another) often
 * would make prohibited turns; they count from the moment on that packets of an end can come by.
 */
#include "core/plan/levels_internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/bitset.h"

#define PROHIBITED_MAX 256 /* LIDs; of more, the graph of all dependencies is quicker */

struct levelling {
	const struct snapshot *snap;
	const struct fm_fabric *fab; /* of snap */
	const struct plan *side[2];  /* old and new, or the same twice */
	uint32_t *level;	     /* [n_switches] */
	fm_sw *queue;		     /* [n_switches] */
	uint32_t *seen, stamp;	     /* [n_switches] */
};

static fm_sw
hop(const struct levelling *v, int side, fm_sw sw, uint32_t lid)
{
	const struct plan *p = v->side[side];

	if (sw >= p->snap->fab.n_switches || lid > p->top_lid)
		return FM_NONE;
	return snapshot_switch_at(v->snap, sw, p->tables->t.lft[sw][lid]);
}

static bool
is_source_switch(const struct fm_fabric *fab, fm_sw sw)
{
	for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++)
		if (fab->end_kind[e] != FM_END_SWITCH)
			return true;
	return false;
}

/* Does anybody above send to sw? */
static bool
is_entered_from_above(const struct levelling *v, fm_sw sw, uint32_t lid)
{
	const struct fm_fabric *fab = v->fab;

	for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++) {
		fm_sw from = fab->link_to[l];

		if (v->level[from] >= v->level[sw] &&
		    (hop(v, 0, from, lid) == sw || hop(v, 1, from, lid) == sw))
			return true;
	}
	return false;
}

/* Would a packet that goes by this entry make a prohibited turn next, or, where the entry
 * has changed, have made one? */
static bool
makes_prohibited_turn(struct levelling *v, fm_sw sw, uint32_t lid)
{
	fm_sw to[2] = { hop(v, 0, sw, lid), hop(v, 1, sw, lid) };
	enum way way[2] = { level_way(v->level, sw, to[0]), level_way(v->level, sw, to[1]) };

	for (int i = 0; i < (to[0] == to[1] ? 1 : 2); i++) {
		if (way[i] == ASIDE)
			return true;
		for (int j = 0; way[i] == DOWN && j < 2; j++) {
			enum way after = level_way(v->level, to[i], hop(v, j, to[i], lid));

			if (after == UP || after == ASIDE)
				return true;
		}
	}
	return (way[0] == UP) != (way[1] == UP) && is_entered_from_above(v, sw, lid);
}

static bool
is_owned(const struct levelling *v, uint32_t lid)
{
	return lid <= v->fab->max_lid && v->fab->lid_end[lid] != FM_NONE &&
	    v->fab->end_sw[v->fab->lid_end[lid]] != FM_NONE;
}

/* ------------------------------------------------------------- what is known */

void
plan_levels_free(struct plan_levels *l)
{
	if (l == NULL)
		return;
	free(l->suspect);
	free(l->level);
	fm_vec_fini(&l->prohibited);
	free(l);
}

/* Of a plan whose switches have these levels. */
static struct plan_levels *
levels_new(uint32_t n_lids, const uint32_t *level, uint32_t n_switches)
{
	struct plan_levels *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return NULL;
	l->n_lids = n_lids;
	l->suspect = calloc(FM_BITSET_WORDS(n_lids) + 1, sizeof(*l->suspect));
	l->level = malloc((n_switches + 1) * sizeof(*l->level));
	if (l->suspect == NULL || l->level == NULL) {
		plan_levels_free(l);
		return NULL;
	}
	memcpy(l->level, level, n_switches * sizeof(*l->level));
	return l;
}

static bool
is_suspect(const struct plan_levels *l, uint32_t lid)
{
	return lid < l->n_lids && fm_bit_test(l->suspect, lid);
}

static bool
holds(const uint16_t *lids, size_t n, uint32_t lid)
{
	for (size_t i = 0; i < n; i++)
		if (lids[i] == lid)
			return true;
	return false;
}

static bool
start_levels(struct levelling *v, const struct snapshot *snap, struct fm_arena *mem)
{
	const struct fm_fabric *fab = &snap->fab;
	size_t n = fab->n_switches + 1u;

	*v = (struct levelling){ .snap = snap, .fab = fab };
	v->level = fm_arena_array(mem, n, uint32_t);
	v->queue = fm_arena_array(mem, n, fm_sw);
	if (v->level == NULL || v->queue == NULL)
		return false;
	snapshot_find_levels(fab, v->level, v->queue);
	return true;
}

/* The same, ready for entries. */
static bool
start(struct levelling *v, const struct snapshot *snap, struct fm_arena *mem)
{
	if (!start_levels(v, snap, mem))
		return false;
	v->seen = fm_arena_array(mem, snap->fab.n_switches + 1u, uint32_t);
	return v->seen != NULL;
}

/* Levels of the switches that both fabrics have with links. */
static bool
same_levels(const uint32_t *a, uint32_t n_a, const uint32_t *b, uint32_t n_b)
{
	for (fm_sw sw = 0; sw < n_a && sw < n_b; sw++)
		if (a[sw] != b[sw] && a[sw] != UINT32_MAX && b[sw] != UINT32_MAX)
			return false;
	return true;
}

/* Ports by which a switch sends up or aside: packets that came from above turn there. */
static void
find_turning(const struct levelling *v, bool (*turning)[256])
{
	for (fm_sw sw = 0; sw < v->fab->n_switches; sw++)
		for (unsigned p = 0; p < 256; p++) {
			enum way way = level_way(v->level, sw, snapshot_switch_at(v->snap, sw, p));

			turning[sw][p] = way == UP || way == ASIDE;
		}
}

/* Entries of a switch that would make prohibited turns if they were used, of a plan by itself:
 * those aside, and those down to where the way goes on otherwise than down. */
static void
scan_row(const struct levelling *v, fm_sw sw, bool (*turning)[256], struct plan_levels *l)
{
	uint8_t *const *lft = v->side[1]->tables->t.lft;
	const uint8_t *row = lft[sw], *after[256] = { NULL };
	const bool *turns[256] = { NULL };
	bool aside[256];

	for (unsigned p = 0; p < 256; p++) {
		fm_sw to = snapshot_switch_at(v->snap, sw, p);
		enum way way = level_way(v->level, sw, to);

		aside[p] = way == ASIDE;
		after[p] = way == DOWN ? lft[to] : NULL;
		turns[p] = way == DOWN ? turning[to] : NULL;
	}
	for (uint32_t lid = 1; lid < l->n_lids; lid++) {
		uint8_t p = row[lid];

		if ((aside[p] || (after[p] != NULL && turns[p][after[p][lid]])) && is_owned(v, lid))
			fm_bit_set(l->suspect, lid);
	}
}

/* Does a packet of any end make a prohibited turn to this LID?  Forwards, each switch once. */
static bool
meets_prohibited(struct levelling *v, uint32_t lid)
{
	v->stamp++;
	for (fm_sw source = 0; source < v->fab->n_switches; source++) {
		fm_sw sw = source;

		if (v->seen[sw] == v->stamp || !is_source_switch(v->fab, sw))
			continue;
		for (; sw != FM_NONE && v->seen[sw] != v->stamp; sw = hop(v, 1, sw, lid)) {
			v->seen[sw] = v->stamp;
			if (makes_prohibited_turn(v, sw, lid))
				return true;
		}
	}
	return false;
}

/* False: no memory. */
static bool
look_at_entries(struct levelling *v, struct plan_levels *l)
{
	bool(*turning)[256] = malloc((v->fab->n_switches + 1u) * sizeof(*turning));
	bool ok = turning != NULL;

	if (ok)
		find_turning(v, turning);
	for (fm_sw sw = 0; ok && sw < v->fab->n_switches; sw++)
		scan_row(v, sw, turning, l);
	free(turning);
	FM_EACH_BIT (lid, l->suspect, l->n_lids)
		if (ok && l->prohibited.n <= PROHIBITED_MAX && meets_prohibited(v, (uint32_t)lid))
			ok = fm_vec_push(&l->prohibited, (uint16_t)lid);
	return ok;
}

/* Look at a plan by itself, once. */
static bool
look(struct plan *p, struct levelling *v)
{
	struct plan_levels *l;

	if (p->levels != NULL)
		return true;
	l = levels_new(p->top_lid + 1u, v->level, v->fab->n_switches);
	if (l == NULL)
		return false;
	v->side[0] = v->side[1] = p;
	if (!look_at_entries(v, l)) {
		plan_levels_free(l);
		return false;
	}
	l->apply = l->prohibited.n <= PROHIBITED_MAX;
	for (fm_sw sw = 0; sw < v->fab->n_switches; sw++)
		l->apply = l->apply && v->fab->sw_n_ports[sw] <= MASK_PORTS;
	p->levels = l;
	return true;
}

/* ------------------------------------------------------------------ a change */

struct changes {
	uint64_t *lids;	   /* bits: LIDs that change */
	uint64_t *suspect; /* bits: of the new plan */
};

static void
note_change(struct levelling *v, struct changes *c, fm_sw sw, uint32_t lid)
{
	if (!is_owned(v, lid))
		return;
	fm_bit_set(c->lids, lid);
	if (!fm_bit_test(c->suspect, lid) && makes_prohibited_turn(v, sw, lid))
		fm_bit_set(c->suspect, lid);
}

/* Which LIDs change, which become suspects: of a switch. */
static void
scan_changes(struct levelling *v, fm_sw sw, struct changes *c)
{
	const struct plan *old = v->side[0];
	const uint8_t *row = v->side[1]->tables->t.lft[sw], *was = NULL;

	if (sw < old->snap->fab.n_switches)
		was = old->tables->t.lft[sw];
	for (uint32_t lid = 1; was != row && lid <= v->side[1]->top_lid; lid++)
		if (was == NULL || lid > old->top_lid || was[lid] != row[lid])
			note_change(v, c, sw, lid);
}

/* The same, of all. */
static void
scan_rows(struct levelling *v, struct changes *c)
{
	const struct plan *p = v->side[1];

	if (p->delta_base != v->side[0]->number)
		for (fm_sw sw = 0; sw < v->fab->n_switches; sw++)
			scan_changes(v, sw, c);
	else
		for (size_t i = 0; i < p->delta.n; i++)
			note_change(v, c, p->delta.item[i].sw, p->delta.item[i].lid);
}

static bool
scan_all_changes(struct levelling *v, struct plan *prev, struct plan *p, struct turn_lids *lids)
{
	uint32_t n = p->top_lid + 1u;
	struct changes c = { .lids = calloc(FM_BITSET_WORDS(n) + 1, sizeof(*c.lids)) };
	bool ok = c.lids != NULL;

	plan_levels_free(p->levels); /* as kept: other entries have changed since */
	p->levels = levels_new(n, v->level, v->fab->n_switches);
	ok = ok && p->levels != NULL;
	for (uint32_t lid = 1; ok && lid < n; lid++)
		if (is_suspect(prev->levels, lid))
			fm_bit_set(p->levels->suspect, lid);
	v->side[0] = prev;
	v->side[1] = p;
	if (ok) {
		c.suspect = p->levels->suspect;
		scan_rows(v, &c);
	}
	for (uint32_t lid = 1; ok && lid < n; lid++) {
		bool known = holds(prev->levels->prohibited.item, prev->levels->prohibited.n, lid);

		if (!is_owned(v, lid))
			continue;
		if (fm_bit_test(c.lids, lid) && fm_bit_test(p->levels->suspect, lid))
			ok = fm_vec_push(&lids->changed, (uint16_t)lid);
		else if (known)
			ok = fm_vec_push(&lids->stay, (uint16_t)lid);
	}
	free(c.lids);
	return ok;
}

bool
levels_look(struct plan *p)
{
	struct levelling v;
	struct fm_arena mem;
	bool ok;

	fm_arena_init(&mem, SIZE_MAX);
	ok = p->levels != NULL || (start(&v, p->snap, &mem) && look(p, &v));
	fm_arena_fini(&mem);
	return ok;
}

bool
levels_find(struct plan *prev, struct plan *p, struct turn_lids *lids, bool *apply)
{
	const struct fm_fabric *fab = &prev->snap->fab;
	struct levelling was = { 0 }, now;
	struct fm_arena mem;
	bool ok, known = prev->levels != NULL;

	*apply = false;
	if (known && !prev->levels->apply)
		return true;
	fm_arena_init(&mem, SIZE_MAX);
	ok = (known || start(&was, prev->snap, &mem)) && start(&now, p->snap, &mem);
	if (ok &&
	    same_levels(known ? prev->levels->level : was.level, fab->n_switches, now.level,
		now.fab->n_switches) &&
	    (ok = known || look(prev, &was)) && prev->levels->apply) {
		ok = scan_all_changes(&now, prev, p, lids);
		*apply = ok;
	}
	fm_arena_fini(&mem);
	return ok;
}

bool
levels_note(struct plan *p, const struct plan *prev, const uint16_t *lids, size_t n)
{
	p->levels->prohibited.n = 0;
	p->levels->apply = n <= PROHIBITED_MAX;
	return n == 0 || fm_vec_append(&p->levels->prohibited, lids, n);
}

void
levels_keep(const struct plan *prev, struct plan *p)
{
	uint32_t n = p->top_lid + 1u;
	struct levelling now;
	struct fm_arena mem;

	if (prev->levels == NULL)
		return;
	fm_arena_init(&mem, SIZE_MAX);
	if (start_levels(&now, p->snap, &mem) &&
	    same_levels(
		prev->levels->level, prev->snap->fab.n_switches, now.level, now.fab->n_switches))
		p->levels = levels_new(n, now.level, now.fab->n_switches);
	fm_arena_fini(&mem);
	for (uint32_t lid = 1; p->levels != NULL && lid < n; lid++)
		if (is_suspect(prev->levels, lid))
			fm_bit_set(p->levels->suspect, lid);
	if (p->levels != NULL &&
	    !levels_note(p, prev, prev->levels->prohibited.item, prev->levels->prohibited.n)) {
		plan_levels_free(p->levels);
		p->levels = NULL;
	}
	if (p->levels != NULL)
		p->levels->apply = prev->levels->apply;
}
