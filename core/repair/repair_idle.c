/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One LID: switches that no packets to it pass, and whose port for it is dead.  Engines give
 * such switches entries all the same, by which they answer and send traps.
 *
 * No packet depends on such an entry, so as few of them as possible change.  Among the switches
 * that send through the switch, the nearest one with another path takes that path, and the ports
 * between the two are turned round.  All other switches behind it keep their entries, which lead
 * to the LID again.
 *
 * A switch that packets pass may be served in the same manner if it has no other path: the
 * switches behind it that carry no packets are asked for one.  There a path along dependencies
 * that are held is preferred to a nearer one: the first LID that needs new dependencies inserts
 * them, and later LIDs use the same path.
 */
#include "core/repair/repair_choice.h"
#include "core/repair/repair_entry.h"
#include "core/repair/repair_way.h"
#include "lib/bitset.h"

/* The first channel of the shortest path from a switch that no packets pass; FM_NONE: there is
 * none.  No packet depends on it, but it leads along dependencies that are held, unless every
 * switch had a path before or VLs go by ports. */
static uint32_t
find_idle_way(const struct repair *p, fm_sw sw)
{
	const struct depend *g = p->g;
	uint16_t vls = p->all_switches || p->deps != NULL ? 0 : 1;
	uint32_t best = FM_NONE, least = REPAIR_FAR;

	for (uint32_t c = g->first[sw] + 1; c < g->first[sw + 1]; c++) {
		uint32_t limit = least == REPAIR_FAR ? g->n_switches : least - 1, depth;

		if (!repair_may_arrive(p, c))
			continue;
		depth = repair_follow(p, c, vls, limit, vls != 0).depth;
		if (depth < least) {
			best = c;
			least = depth;
		}
	}
	return best;
}

/* May a switch be listed that sends to a listed one?  Spots without packets may if `spots`. */
static bool
may_follow(const struct repair *p, fm_sw sw, bool spots, bool *is_spot)
{
	uint32_t i = p->spot_of[sw];

	*is_spot = false;
	if (sw == p->to)
		return false;
	if (!has_mark(p, sw, MARK_LOST))
		return true;
	*is_spot = spots && i < p->spots.n && p->spots.item[i].sw == sw && p->spots.item[i].idle;
	return *is_spot;
}

/* List the switches that send through the parent. */
static void
list_idle_children(struct repair *p, size_t parent, bool spots)
{
	const struct depend *g = p->g;
	fm_sw sw = p->idle.item[parent].sw;

	for (uint32_t c = g->first[sw] + 1; c < g->first[sw + 1]; c++) {
		struct repair_idle child = { .parent = (uint32_t)parent, .sw = p->go[c] };

		if (repair_sender(p, c) == FM_NONE ||
		    !may_follow(p, child.sw, spots, &child.is_spot))
			continue;
		child.was = p->column[child.sw];
		if (!fm_vec_push(&p->idle, child)) {
			p->out_of_memory = true;
			return;
		}
		set_mark(p, child.sw, MARK_LOST);
	}
}

/* Listed switches that got no path are no longer marked as lost. */
static void
forget_children(struct repair *p)
{
	for (size_t i = 1; i < p->idle.n; i++)
		if (!p->idle.item[i].is_spot && has_mark(p, p->idle.item[i].sw, MARK_LOST))
			set_mark(p, p->idle.item[i].sw, MARK_NONE);
}

/* Item i sends by channel c.  So the switch that it sent to can reach the LID through it, and so
 * on down to the first item. */
static void
turn_round(struct repair *p, uint32_t i, uint32_t c)
{
	for (;;) {
		fm_sw sw = p->idle.item[i].sw;

		repair_set(p, sw, (uint8_t)(c - p->g->first[sw]));
		set_mark(p, sw, MARK_SETTLED);
		if (i == 0)
			return;
		i = p->idle.item[i].parent;
		c = find_idle_way(p, p->idle.item[i].sw);
		if (c == FM_NONE)
			return;
	}
}

/* Find the nearest switch behind the spot that has another path, and turn the ports between. */
static void
settle_idle(struct repair *p, struct repair_spot *s)
{
	struct repair_idle root = { .sw = s->sw, .is_spot = true };
	uint32_t c = FM_NONE;
	size_t i;

	p->idle.n = 0;
	if (!fm_vec_push(&p->idle, root))
		p->out_of_memory = true;
	for (i = 0; i < p->idle.n && !p->out_of_memory; i++) {
		c = find_idle_way(p, p->idle.item[i].sw);
		if (c != FM_NONE)
			break;
		list_idle_children(p, i, false);
	}
	if (c != FM_NONE)
		turn_round(p, (uint32_t)i, c);
	forget_children(p);
	if (p->to_switch && s->old_depth == 0)
		p->dirty[p->lid] = 1;
}

static bool
is_dead(const struct repair *p, fm_sw sw)
{
	uint32_t c = repair_egress(p, sw);

	return c == FM_NONE || fm_bit_test(p->lost, c);
}

/* Serve a spot without packets whose port is dead, or is not.  Did it get a path? */
static bool
try_one(struct repair *p, struct repair_spot *s, bool dead)
{
	if (!s->idle || !repair_is_open(p, s) || is_dead(p, s->sw) != dead)
		return false;
	if (!dead && repair_depth(p, s->sw) != REPAIR_FAR)
		set_mark(p, s->sw, MARK_SETTLED);
	else
		settle_idle(p, s);
	return !has_mark(p, s->sw, MARK_LOST);
}

/* The path of one spot may serve another that had none before.  A spot whose port is not dead may
 * need nothing once the others have paths.  So such a spot is served only when no spot with a dead
 * port finds a path, and then one at a time. */
void
repair_idle(struct repair *p)
{
	bool progress = true;

	while (progress && !p->out_of_memory) {
		bool left = false;

		progress = false;
		for (size_t i = 0; i < p->spots.n && !p->out_of_memory; i++) {
			if (!has_mark(p, p->spots.item[i].sw, MARK_LOST))
				continue;
			if (try_one(p, &p->spots.item[i], true))
				progress = true;
			else
				left = true;
		}
		if (!left)
			return;
		for (size_t i = 0; i < p->spots.n && !progress && !p->out_of_memory; i++)
			progress = try_one(p, &p->spots.item[i], false);
	}
}

/* ------------------------------------------------------------------ packets */

#define LEND_TRIES 16u /* paths that close a cycle, of the switches behind one */

/* The best path of a switch behind one that packets pass: short, and along held dependencies. */
static uint32_t
find_way_to_lend(const struct repair *p, fm_sw sw, uint16_t vls)
{
	const struct depend *g = p->g;
	uint32_t best = FM_NONE, least = REPAIR_FAR;

	for (uint32_t c = g->first[sw] + 1; c < g->first[sw + 1]; c++) {
		struct way way;
		uint32_t cost;

		if (!repair_may_arrive(p, c))
			continue;
		way = repair_follow(p, c, vls, g->n_switches, false);
		cost =
		    way.depth == REPAIR_FAR ? REPAIR_FAR : way.depth + (way.held ? 0 : p->detour);
		if (cost < least) {
			best = c;
			least = cost;
		}
	}
	return best;
}

/* Item i sends by channel c, the switch that it sent to sends to it, and so on.  The channel of
 * the first item. */
static uint32_t
turn_list(struct repair *p, uint32_t i, uint32_t c)
{
	for (;;) {
		const struct repair_idle *at = &p->idle.item[i];
		uint32_t to_it = i > 0 ? p->g->back[repair_egress(p, at->sw)] : FM_NONE;

		repair_set(p, at->sw, (uint8_t)(c - p->g->first[at->sw]));
		set_mark(p, at->sw, MARK_SETTLED);
		if (i == 0)
			return c;
		i = at->parent;
		c = to_it;
	}
}

static void
turn_back(struct repair *p, uint32_t i)
{
	for (;; i = p->idle.item[i].parent) {
		repair_set(p, p->idle.item[i].sw, p->idle.item[i].was);
		set_mark(p, p->idle.item[i].sw, MARK_LOST);
		if (i == 0)
			return;
	}
}

/* Lead the packets of a spot over the first switch behind it whose path closes no cycle. */
static bool
lend_to(struct repair *p, const struct repair_spot *s, const struct repair_comers *who)
{
	struct repair_idle root = { .sw = s->sw, .was = p->column[s->sw], .is_spot = true };
	unsigned n_tries = 0;
	bool found = false;

	p->idle.n = 0;
	if (!fm_vec_push(&p->idle, root))
		p->out_of_memory = true;
	for (uint32_t i = 0; i < p->idle.n && !found && n_tries < LEND_TRIES && !p->out_of_memory;
	     i++) {
		uint32_t c = i > 0 ? find_way_to_lend(p, p->idle.item[i].sw, who->all) : FM_NONE;

		if (c == FM_NONE) {
			list_idle_children(p, i, true);
			continue;
		}
		n_tries++;
		found = repair_try_insert(p, who, turn_list(p, i, c));
		if (!found)
			turn_back(p, i);
	}
	forget_children(p);
	return found;
}

bool
repair_lend(struct repair *p)
{
	for (size_t i = 0; i < p->spots.n && !p->out_of_memory; i++) {
		struct repair_spot s = p->spots.item[i];
		struct repair_comers who;

		if (s.idle || !repair_is_open(p, &s))
			continue;
		repair_gather(p, &s, &who);
		if (who.all != 0 && lend_to(p, &s, &who)) {
			p->dirty[p->lid] = 1;
			return true;
		}
	}
	return false;
}
