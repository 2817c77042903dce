/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Turns by level.  Entries towards hosts are all taken as used; those towards
 * switches often are by nobody (from one top of a tree to another), so there a
 * turn counts only if packets of an end can come by.
 */
#include "core/route/levels.h"

#include <string.h>

#include "lib/arena.h"

enum way { NOWHERE, UP, DOWN, ASIDE };

struct levelling {
	const struct fm_fabric *fab;
	const struct plan *side[2]; /* old and new, or the same twice */
	uint32_t *level;	    /* [n_switches] */
	fm_sw *queue;		    /* [n_switches] */
	uint32_t *seen, stamp;	    /* [n_switches] */
	fm_sw *next;		    /* [n_switches][256] behind a port, FM_NONE */
};

static bool
has_host(const struct fm_fabric *fab, fm_sw sw)
{
	for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++)
		if (fab->end_kind[e] == FM_END_CA || fab->end_kind[e] == FM_END_ROUTER)
			return true;
	return false;
}

/* Breadth first; switches without a way to a host stay at UINT32_MAX. */
static void
find_levels(struct levelling *v)
{
	const struct fm_fabric *fab = v->fab;
	uint32_t head = 0, tail = 0;

	memset(v->level, 0xff, fab->n_switches * sizeof(*v->level));
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		if (has_host(fab, sw)) {
			v->level[sw] = 0;
			v->queue[tail++] = sw;
		}
	while (head < tail) {
		fm_sw sw = v->queue[head++];

		for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++)
			if (v->level[fab->link_to[l]] == UINT32_MAX) {
				v->level[fab->link_to[l]] = v->level[sw] + 1;
				v->queue[tail++] = fab->link_to[l];
			}
	}
}

static fm_sw
hop(const struct levelling *v, int side, fm_sw sw, uint32_t lid)
{
	const struct plan *p = v->side[side];

	if (sw >= p->snap->fab.n_switches || lid > p->top_lid)
		return FM_NONE;
	return v->next[sw * (size_t)256 + p->tables->t.lft[sw][lid]];
}

static enum way
way_to(const struct levelling *v, fm_sw sw, fm_sw to)
{
	if (to == FM_NONE)
		return NOWHERE;
	if (v->level[to] == v->level[sw])
		return ASIDE;
	return v->level[to] > v->level[sw] ? UP : DOWN;
}

static bool
is_source_switch(const struct fm_fabric *fab, fm_sw sw)
{
	for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++)
		if (fab->end_kind[e] != FM_END_SWITCH)
			return true;
	return false;
}

/* Can packets of an end come to sw on their way to lid?  Backwards. */
static bool
is_used(struct levelling *v, fm_sw sw, uint32_t lid)
{
	const struct fm_fabric *fab = v->fab;
	uint32_t n = 0;
	fm_end owner = fab->lid_end[lid];

	if (fab->end_kind[owner] != FM_END_SWITCH)
		return true;
	v->stamp++;
	v->seen[sw] = v->stamp;
	v->queue[n++] = sw;
	while (n > 0) {
		fm_sw at = v->queue[--n];

		if (is_source_switch(fab, at))
			return true;
		for (fm_link l = fab->sw_first_link[at]; l < fab->sw_first_link[at + 1]; l++) {
			fm_sw from = fab->link_to[l];

			if (v->seen[from] == v->stamp ||
			    (hop(v, 0, from, lid) != at && hop(v, 1, from, lid) != at))
				continue;
			v->seen[from] = v->stamp;
			v->queue[n++] = from;
		}
	}
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

/* Is all well with what follows the entry, and, where it has changed, with what
 * goes before? */
static bool
is_level_entry(struct levelling *v, fm_sw sw, uint32_t lid)
{
	fm_sw to[2] = { hop(v, 0, sw, lid), hop(v, 1, sw, lid) };
	enum way way[2] = { way_to(v, sw, to[0]), way_to(v, sw, to[1]) };

	for (int i = 0; i < (to[0] == to[1] ? 1 : 2); i++) {
		if (way[i] == ASIDE)
			return !is_used(v, sw, lid);
		for (int j = 0; way[i] == DOWN && j < 2; j++) {
			enum way after = way_to(v, to[i], hop(v, j, to[i], lid));

			if (after != NOWHERE && after != DOWN && is_used(v, sw, lid))
				return false;
		}
	}
	if ((way[0] == UP) != (way[1] == UP) && is_entered_from_above(v, sw, lid))
		return !is_used(v, sw, lid);
	return true;
}

static bool
is_owned(const struct levelling *v, uint32_t lid)
{
	return lid <= v->fab->max_lid && v->fab->lid_end[lid] != FM_NONE;
}

/* All changed entries of a switch; row: the old one, NULL = none. */
static bool
changes_are_level(struct levelling *v, fm_sw sw, const uint8_t *old, uint32_t old_top)
{
	const uint8_t *row = v->side[1]->tables->t.lft[sw];

	for (uint32_t lid = 1; old != row && lid <= v->side[1]->top_lid; lid++)
		if ((old == NULL || lid > old_top || old[lid] != row[lid]) && is_owned(v, lid) &&
		    !is_level_entry(v, sw, lid))
			return false;
	return true;
}

/* All entries of a switch; those up have nothing to be asked. */
static bool
row_is_level(struct levelling *v, fm_sw sw)
{
	const uint8_t *row = v->side[1]->tables->t.lft[sw];
	bool ask[256];

	for (unsigned p = 0; p < 256; p++) {
		enum way way = way_to(v, sw, v->next[sw * (size_t)256 + p]);

		ask[p] = way == DOWN || way == ASIDE;
	}
	for (uint32_t lid = 1; lid <= v->side[1]->top_lid; lid++)
		if (ask[row[lid]] && is_owned(v, lid) && !is_level_entry(v, sw, lid))
			return false;
	return true;
}

static bool
all_level(struct levelling *v)
{
	const struct plan *old = v->side[0];

	for (fm_sw sw = 0; sw < v->fab->n_switches; sw++) {
		bool known = sw < old->snap->fab.n_switches;

		if (old == v->side[1] ? !row_is_level(v, sw)
				      : !changes_are_level(v, sw,
					    known ? old->tables->t.lft[sw] : NULL, old->top_lid))
			return false;
	}
	return true;
}

static bool
start(struct levelling *v, const struct fm_fabric *fab, struct fm_arena *mem)
{
	size_t n = fab->n_switches + 1u;

	*v = (struct levelling){ .fab = fab };
	v->level = fm_arena_array(mem, n, uint32_t);
	v->queue = fm_arena_array(mem, n, fm_sw);
	v->seen = fm_arena_array(mem, n, uint32_t);
	v->next = fm_arena_array(mem, n * 256, fm_sw);
	if (v->level == NULL || v->queue == NULL || v->seen == NULL || v->next == NULL)
		return false;
	memset(v->next, 0xff, n * 256 * sizeof(*v->next));
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++)
			v->next[sw * (size_t)256 + fab->link_port[l]] = fab->link_to[l];
	find_levels(v);
	return true;
}

/* Levels of the switches that both fabrics have with links. */
static bool
same_levels(const struct levelling *a, const struct levelling *b)
{
	for (fm_sw sw = 0; sw < a->fab->n_switches && sw < b->fab->n_switches; sw++)
		if (a->level[sw] != b->level[sw] && a->level[sw] != UINT32_MAX &&
		    b->level[sw] != UINT32_MAX)
			return false;
	return true;
}

static bool
is_levelled(struct plan *p, struct levelling *v)
{
	v->side[0] = v->side[1] = p;
	if (p->levelled == PLAN_NOT_LOOKED)
		p->levelled = all_level(v) ? PLAN_LEVELLED : PLAN_NOT_LEVELLED;
	return p->levelled == PLAN_LEVELLED;
}

bool
levels_hold(struct plan *prev, struct plan *p, bool *hold)
{
	struct fm_arena mem;
	struct levelling was, now;
	bool ok;

	fm_arena_init(&mem, SIZE_MAX);
	ok = start(&was, &prev->snap->fab, &mem) && start(&now, &p->snap->fab, &mem);
	*hold = ok && same_levels(&was, &now) && is_levelled(prev, &was);
	if (*hold) {
		now.side[0] = prev;
		now.side[1] = p;
		*hold = all_level(&now);
		if (*hold)
			p->levelled = PLAN_LEVELLED;
	}
	fm_arena_fini(&mem);
	return ok;
}

void
levels_keep(const struct plan *prev, struct plan *p)
{
	struct fm_arena mem;
	struct levelling was, now;

	if (prev->levelled != PLAN_LEVELLED)
		return;
	fm_arena_init(&mem, SIZE_MAX);
	if (start(&was, &prev->snap->fab, &mem) && start(&now, &p->snap->fab, &mem) &&
	    same_levels(&was, &now))
		p->levelled = PLAN_LEVELLED;
	fm_arena_fini(&mem);
}
