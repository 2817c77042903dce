/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What becomes of every pair.  Pairs are followed LID by LID: what happens to a LID at a
 * switch is the same for all sources behind it, so a walk over the switches tells
 *
 *	arrives[sw]	on each side
 *	same[sw]	the entry is the same, leads to the same switch, and there
 *			it is the same too
 *
 * After an outage most LIDs have the same entries everywhere, none of which goes by a port
 * that leads elsewhere than before: then one walk tells for both sides.
 *
 * Every switch counts with the sources it has on both sides, before only
 * and after only.
 */
#include <string.h>

#include "core/graph/tables.h"
#include "lab/judge/compare_internal.h"
#include "lib/bitset.h"

enum way { WAY_UNKNOWN, WAY_OPEN, WAY_LOST, WAY_ARRIVES };

/* Follow the LID from sw to its end or to a switch that knows; all on the way
 * know then. */
static enum way
follow_lid(const struct side *s, uint8_t *way, fm_sw *path, fm_sw sw, uint32_t lid)
{
	fm_end owner = lid <= s->fab->max_lid ? s->fab->lid_end[lid] : FM_NONE;
	uint32_t n = 0;
	uint8_t found;

	for (;;) {
		uint8_t port = port_of(s, sw, lid);
		fm_sw next;

		found = way[sw];
		if (found != WAY_UNKNOWN)
			break;
		path[n++] = sw;
		way[sw] = WAY_OPEN;
		if (owner != FM_NONE && s->fab->end_sw[owner] == sw &&
		    s->fab->end_port[owner] == port) {
			found = WAY_ARRIVES;
			break;
		}
		next = snapshot_switch_at(s->snap, sw, port);
		if (next == FM_NONE) {
			found = WAY_LOST;
			break;
		}
		sw = next;
	}
	if (found == WAY_OPEN)
		found = WAY_LOST; /* a loop */
	while (n > 0)
		way[path[--n]] = found;
	return (enum way)found;
}

/* Is the step from this switch (of after) the same as before, as far as it goes?
 * *next: the switch after, FM_NONE where the packet leaves. */
static bool
same_step(const struct comparison *c, fm_sw sw, uint32_t lid, fm_sw *next)
{
	const struct side *b = &c->before, *a = &c->after;
	fm_sw twin = a->twin_sw[sw];
	uint8_t port = port_of(a, sw, lid);
	*next = snapshot_switch_at(a->snap, sw, port);
	return twin != FM_NONE && port_of(b, twin, lid) == port && !fm_bit_test(c->moved[sw], port);
}

/* The same for a whole path that arrives on both sides. */
static bool
same_path(const struct comparison *c, struct scratch *x, fm_sw sw, uint32_t lid)
{
	uint8_t found = WAY_ARRIVES;
	uint32_t n = 0;

	while (sw != FM_NONE) {
		fm_sw next;

		if (x->same[sw] != WAY_UNKNOWN) {
			found = x->same[sw];
			break;
		}
		x->path[n++] = sw;
		if (!same_step(c, sw, lid, &next)) {
			found = WAY_LOST;
			break;
		}
		sw = next;
	}
	while (n > 0)
		x->same[x->path[--n]] = found;
	return found == WAY_ARRIVES;
}

/* n pairs that had a way and have none, with both ends still there. */
static void
count_lost(const struct comparison *c, struct scratch *x, fm_sw from, fm_end to, uint64_t n)
{
	const uint32_t *component = c->snap_after->sw_component;

	x->sums.lost += n;
	if (component[from] != component[c->after.fab->end_sw[to]])
		x->sums.lost_apart += n;
	else
		x->sums.lost_unrouted += n;
}

/* Sources of switch sw (of after) that both sides have, to a LID that both have. */
static void
count_pairs(const struct comparison *c, struct scratch *x, fm_sw sw, uint32_t lid, fm_end to)
{
	const struct side *a = &c->after;
	fm_sw twin = a->twin_sw[sw];
	uint64_t n = a->n_both[sw];
	bool was, is;

	if (is_source(a->fab, to) && a->fab->end_sw[to] == sw)
		n--;
	if (n == 0)
		return;
	is = follow_lid(a, x->way_after, x->path, sw, lid) == WAY_ARRIVES;
	was = x->alike ? is
		       : follow_lid(&c->before, x->way_before, x->path, twin, lid) == WAY_ARRIVES;
	if (was && is) {
		if (x->alike || same_path(c, x, sw, lid))
			x->sums.kept += n;
		else
			x->sums.moved += n;
		if (!c->no_sls &&
		    tables_sl(c->before.t, twin, (uint16_t)lid) !=
			tables_sl(a->t, sw, (uint16_t)lid))
			x->sums.sl_changed += n;
	} else if (was) {
		count_lost(c, x, sw, to, n);
		c->has_lost[lid / BLOCK_LIDS] = 1;
	} else if (is) {
		x->sums.gained += n;
	}
}

/* Pairs to a LID that only one side has, or from sources that only it has. */
static uint64_t
count_one_sided(const struct side *s, struct scratch *x, uint8_t *way, uint32_t lid, bool both_have)
{
	fm_end to = lid <= s->fab->max_lid ? s->fab->lid_end[lid] : FM_NONE;
	uint64_t sum = 0;

	if (to == FM_NONE || s->fab->end_sw[to] == FM_NONE || (both_have && !s->any_own))
		return 0;
	for (fm_sw sw = 0; sw < s->fab->n_switches; sw++) {
		uint64_t n = s->n_own[sw] + (both_have ? 0 : s->n_both[sw]);

		if (s->fab->end_sw[to] == sw && is_source(s->fab, to) && !both_have)
			n--;
		if (n > 0 && follow_lid(s, way, x->path, sw, lid) == WAY_ARRIVES)
			sum += n;
	}
	return sum;
}

static bool
both_have(const struct comparison *c, uint32_t lid, fm_end *to)
{
	const struct fm_fabric *b = c->before.fab, *a = c->after.fab;

	*to = lid <= a->max_lid ? a->lid_end[lid] : FM_NONE;
	return *to != FM_NONE && lid <= b->max_lid && b->lid_end[lid] != FM_NONE &&
	    a->end_sw[*to] != FM_NONE && c->after.twin_end[*to] == b->lid_end[lid];
}

static void
compare_lid(const struct comparison *c, struct scratch *x, uint32_t lid)
{
	const struct fm_fabric *a = c->after.fab;
	uint64_t gone;
	fm_end to;
	bool both = both_have(c, lid, &to);

	memset(x->way_before, WAY_UNKNOWN, c->before.fab->n_switches);
	memset(x->way_after, WAY_UNKNOWN, a->n_switches);
	memset(x->same, WAY_UNKNOWN, a->n_switches);
	for (fm_sw sw = 0; both && sw < a->n_switches; sw++)
		if (c->after.n_both[sw] > 0)
			count_pairs(c, x, sw, lid, to);
	gone = count_one_sided(&c->before, x, x->way_before, lid, both);
	x->sums.lost += gone;
	x->sums.lost_gone += gone;
	x->sums.gained += count_one_sided(&c->after, x, x->way_after, lid, both);
}

/* LIDs of a block, bit i the i-th, to which some switch does not send by the same port to
 * the same switch as before.  One that has come or gone is not looked at: ports to it do. */
static uint64_t
find_differing(const struct comparison *c, uint32_t block)
{
	const struct side *b = &c->before, *a = &c->after;
	size_t end = (size_t)(block + 1) * BLOCK_LIDS;
	uint64_t differing = 0;

	if (end > a->t->lft_stride || end > b->t->lft_stride)
		return UINT64_MAX;
	for (fm_sw sw = 0; sw < a->fab->n_switches && differing != UINT64_MAX; sw++) {
		const uint8_t *now = a->t->lft[sw] + (size_t)block * BLOCK_LIDS, *was;

		if (!is_there(a, sw) || !is_there(b, a->twin_sw[sw]))
			continue;
		was = b->t->lft[a->twin_sw[sw]] + (size_t)block * BLOCK_LIDS;
		if (!c->any_moved[sw] && memcmp(was, now, BLOCK_LIDS) == 0)
			continue;
		for (unsigned i = 0; i < BLOCK_LIDS; i++)
			differing |=
			    (uint64_t)(was[i] != now[i] || fm_bit_test(c->moved[sw], now[i])) << i;
	}
	return differing;
}

static void
compare_lids(void *arg, uint32_t block, unsigned worker)
{
	const struct comparison *c = arg;
	struct scratch *x = &c->scratch[worker];
	uint64_t differing = find_differing(c, block);
	uint32_t most = c->before.fab->max_lid > c->after.fab->max_lid ? c->before.fab->max_lid
								       : c->after.fab->max_lid;

	for (uint32_t i = 0; i < BLOCK_LIDS; i++) {
		uint32_t lid = block * BLOCK_LIDS + i;

		x->alike = !(differing >> i & 1);
		if (lid > 0 && lid <= most)
			compare_lid(c, x, lid);
	}
}

/* -------------------------------------------------------------- by their names */

/* Lost pairs to one LID. */
static bool
name_pairs(struct comparison *c, uint32_t lid)
{
	const struct fm_fabric *a = c->after.fab;
	struct scratch *x = &c->scratch[0];
	fm_end to;

	if (!both_have(c, lid, &to))
		return true;
	memset(x->way_before, WAY_UNKNOWN, c->before.fab->n_switches);
	memset(x->way_after, WAY_UNKNOWN, a->n_switches);
	for (fm_end e = 0; e < a->n_ends && c->out->pairs.n < c->max_pairs; e++) {
		struct compare_pair p = { c->after.twin_end[e], c->after.twin_end[to],
			(uint16_t)lid };
		fm_sw sw = a->end_sw[e];

		if (!is_source(a, e) || p.from == FM_NONE || e == to ||
		    follow_lid(&c->before, x->way_before, x->path, c->after.twin_sw[sw], lid) !=
			WAY_ARRIVES ||
		    follow_lid(&c->after, x->way_after, x->path, sw, lid) == WAY_ARRIVES)
			continue;
		if (!fm_vec_push(&c->out->pairs, p))
			return false;
	}
	return true;
}

static bool
name_lost(struct comparison *c, uint32_t n_blocks)
{
	const struct fm_fabric *b = c->before.fab;

	for (uint32_t lid = 1; lid < n_blocks * BLOCK_LIDS && c->out->pairs.n < c->max_pairs; lid++)
		if (c->has_lost[lid / BLOCK_LIDS] && !name_pairs(c, lid))
			return false;
	for (uint32_t lid = 1; lid <= b->max_lid; lid++) {
		fm_end e = b->lid_end[lid];

		if (e == FM_NONE || b->end_lid[e] != lid || !is_source(b, e) ||
		    c->before.twin_end[e] != FM_NONE)
			continue;
		if (!fm_vec_push(&c->out->gone, e))
			return false;
	}
	return true;
}

/* -------------------------------------------------------------------- all of it */

static bool
prepare(struct comparison *c, uint32_t n_blocks, unsigned n_workers)
{
	uint32_t nb = c->before.fab->n_switches, na = c->after.fab->n_switches;

	c->has_lost = fm_arena_array(&c->mem, n_blocks + 1u, uint8_t);
	c->scratch = fm_arena_array(&c->mem, n_workers, struct scratch);
	c->moved = fm_arena_alloc(&c->mem, (na + 1u) * sizeof(*c->moved));
	c->any_moved = fm_arena_array(&c->mem, na + 1u, bool);
	if (c->has_lost == NULL || c->scratch == NULL || c->moved == NULL || c->any_moved == NULL)
		return false;
	for (unsigned i = 0; i < n_workers; i++) {
		struct scratch *x = &c->scratch[i];

		x->way_before = fm_arena_array(&c->mem, nb + 1u, uint8_t);
		x->way_after = fm_arena_array(&c->mem, na + 1u, uint8_t);
		x->same = fm_arena_array(&c->mem, na + 1u, uint8_t);
		x->path = fm_arena_array(&c->mem, nb + na + 1u, fm_sw);
		if (x->way_before == NULL || x->way_after == NULL || x->same == NULL ||
		    x->path == NULL)
			return false;
	}
	return true;
}

/* Ports that lead to another switch than before, or do so no more. */
static void
find_moved(struct comparison *c)
{
	const struct side *b = &c->before, *a = &c->after;

	for (fm_sw sw = 0; sw < a->fab->n_switches; sw++) {
		fm_sw twin = a->twin_sw[sw];

		for (unsigned p = 0; twin != FM_NONE && p < FM_PORT_NONE; p++) {
			fm_sw was = snapshot_switch_at(b->snap, twin, p);
			fm_sw is = snapshot_switch_at(a->snap, sw, p);

			if (is == (was == FM_NONE ? FM_NONE : b->twin_sw[was]) &&
			    (is == FM_NONE) == (was == FM_NONE))
				continue;
			fm_bit_set(c->moved[sw], p);
			c->any_moved[sw] = true;
		}
	}
}

static void
add_sums(struct comparison *c, unsigned n_workers)
{
	struct compare_report *out = c->out;

	for (unsigned i = 0; i < n_workers; i++) {
		const struct compare_report *s = &c->scratch[i].sums;

		out->kept += s->kept;
		out->moved += s->moved;
		out->sl_changed += s->sl_changed;
		out->gained += s->gained;
		out->lost += s->lost;
		out->lost_gone += s->lost_gone;
		out->lost_apart += s->lost_apart;
		out->lost_unrouted += s->lost_unrouted;
	}
}

bool
compare_pairs(struct comparison *c, struct fm_pool *workers)
{
	const struct fm_fabric *b = c->before.fab, *a = c->after.fab;
	uint32_t most = b->max_lid > a->max_lid ? b->max_lid : a->max_lid;
	uint32_t n_blocks = most / BLOCK_LIDS + 1;
	unsigned n_workers = fm_pool_size(workers);

	if (!prepare(c, n_blocks, n_workers))
		return false;
	find_moved(c);
	c->no_sls = c->before.t->sl_shape == FM_SL_ZERO && c->after.t->sl_shape == FM_SL_ZERO;
	fm_pool_for(workers, n_blocks, compare_lids, c);
	add_sums(c, n_workers);
	return name_lost(c, n_blocks);
}
