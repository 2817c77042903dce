/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/mcast/mcast_turns.c - do all packets of a plan go up and then down?
 *
 * A switch has a level: hops to the nearest switch with a host (snapshot.h).  The turns up-up,
 * up-down and down-down have no cycle, all of them together (the up-down rule of Schroeder et al.,
 * "Autonet", IEEE J. Selected Areas in Communications 9, 1991), and so have multicast trees that
 * are grown along them.  Up after down, and any turn to or from a link between switches of one
 * level, is prohibited.
 *
 * Entries that nobody uses (from one top of a tree to another) often would make prohibited turns.
 * So the tables are scanned for LIDs with such entries first, and packets of these are followed
 * then.
 *
 * Cost: one scan of the tables, O(switches x LIDs), and O(switches) for each LID that is followed.
 */
#include <stdlib.h>

#include "core/mcast/mcast_internal.h"
#include "lib/bitset.h"

enum direction { NOWHERE, UP, DOWN, ASIDE };

struct turns {
	const struct snapshot *snap;
	const struct fm_fabric *fab; /* of snap */
	const struct plan *p;
	const uint32_t *level; /* [n_switches] */
	uint64_t *suspects;    /* bits: LIDs with entries that would make a prohibited turn */
	bool (*turning)[256];  /* [n_switches] ports that lead up or aside */
	uint32_t *seen, stamp; /* [n_switches] */
};

/* From a switch to another, or to none. */
static enum direction
direction(const struct turns *v, fm_sw sw, fm_sw to)
{
	if (to == FM_NONE)
		return NOWHERE;
	if (v->level[to] == v->level[sw])
		return ASIDE;
	return v->level[to] > v->level[sw] ? UP : DOWN;
}

static fm_sw
hop(const struct turns *v, fm_sw sw, uint32_t lid)
{
	return snapshot_switch_at(v->snap, sw, v->p->tables->t.lft[sw][lid]);
}

static bool
is_source_switch(const struct fm_fabric *fab, fm_sw sw)
{
	for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++)
		if (fab->end_kind[e] != FM_END_SWITCH)
			return true;
	return false;
}

/* Would a packet that goes by this entry make a prohibited turn next? */
static bool
makes_prohibited_turn(const struct turns *v, fm_sw sw, uint32_t lid)
{
	fm_sw to = hop(v, sw, lid);
	enum direction way = direction(v, sw, to), after;

	if (way != DOWN)
		return way == ASIDE;
	after = direction(v, to, hop(v, to, lid));
	return after == UP || after == ASIDE;
}

/* Ports by which a switch sends up or aside: packets that came from above turn there. */
static void
find_turning(struct turns *v)
{
	for (fm_sw sw = 0; sw < v->fab->n_switches; sw++)
		for (unsigned p = 0; p < 256; p++) {
			enum direction way = direction(v, sw, snapshot_switch_at(v->snap, sw, p));

			v->turning[sw][p] = way == UP || way == ASIDE;
		}
}

/* Entries of a switch that would make prohibited turns if they were used:
 * those aside, and those down to where the way goes on otherwise than down. */
static void
scan_row(struct turns *v, fm_sw sw)
{
	uint8_t *const *lft = v->p->tables->t.lft;
	const uint8_t *row = lft[sw], *after[256] = { NULL };
	const bool *turns[256] = { NULL };
	bool aside[256];

	for (unsigned p = 0; p < 256; p++) {
		fm_sw to = snapshot_switch_at(v->snap, sw, p);
		enum direction way = direction(v, sw, to);

		aside[p] = way == ASIDE;
		after[p] = way == DOWN ? lft[to] : NULL;
		turns[p] = way == DOWN ? v->turning[to] : NULL;
	}
	for (uint32_t lid = 1; lid <= v->fab->max_lid; lid++) {
		uint8_t p = row[lid];

		if (aside[p] || (after[p] != NULL && turns[p][after[p][lid]]))
			fm_bit_set(v->suspects, lid);
	}
}

/* Does a packet of any end make a prohibited turn to this LID?  Forwards, each switch once. */
static bool
meets_prohibited(struct turns *v, uint32_t lid)
{
	v->stamp++;
	for (fm_sw source = 0; source < v->fab->n_switches; source++) {
		fm_sw sw = source;

		if (v->seen[sw] == v->stamp || !is_source_switch(v->fab, sw))
			continue;
		for (; sw != FM_NONE && v->seen[sw] != v->stamp; sw = hop(v, sw, lid)) {
			v->seen[sw] = v->stamp;
			if (makes_prohibited_turn(v, sw, lid))
				return true;
		}
	}
	return false;
}

bool
mcast_legal_turns(const struct plan *p, const uint32_t *level, bool *legal)
{
	const struct fm_fabric *fab = &p->snap->fab;
	struct turns v = { .snap = p->snap, .fab = fab, .p = p, .level = level };
	bool ok;

	v.suspects = calloc(FM_BITSET_WORDS(fab->max_lid + 1u) + 1, sizeof(*v.suspects));
	v.turning = malloc((fab->n_switches + 1u) * sizeof(*v.turning));
	v.seen = calloc(fab->n_switches + 1u, sizeof(*v.seen));
	ok = v.suspects != NULL && v.turning != NULL && v.seen != NULL;
	*legal = ok;
	if (ok)
		find_turning(&v);
	for (fm_sw sw = 0; ok && sw < fab->n_switches; sw++)
		scan_row(&v, sw);
	FM_EACH_BIT (lid, v.suspects, ok ? fab->max_lid + 1u : 0)
		*legal = *legal &&
		    (fab->lid_end[lid] == FM_NONE || !meets_prohibited(&v, (uint32_t)lid));
	free(v.suspects);
	free(v.turning);
	free(v.seen);
	return ok;
}
