/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One LID: switches that no packets to it come through, and whose port is dead.  The
 * engines give them ways all the same, by which they answer and send traps.
 *
 * Nothing depends on such a way, so it costs as few entries as can be: the nearest of
 * those behind the switch that has another way lends it, and the ports between them are
 * turned round; all others behind it stay as they are, and arrive again.
 *
 * So may a switch that packets come through, where all that is left for them is such a
 * way: what is behind it hangs on it and has no packets.  Sooner by a way that is held
 * than by the nearest: the first LID that needs new dependencies makes them, and those
 * after it go there, too.
 */
#include "core/repair/repair_choice.h"
#include "core/repair/repair_entry.h"
#include "core/repair/repair_way.h"
#include "lib/bitset.h"

/* The shortest way of a switch that no packets come through, FM_NONE: there is none.
 * Nothing depends on it; all the same only ways that packets could go, unless every
 * switch had one. */
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

/* It sends to a switch that is listed: may it be, too?  Spots that have no packets may, if
 * asked for. */
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

/* Those that send through sw, behind it in the list. */
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

/* Whoever was listed and got no way is what it was. */
static void
forget_children(struct repair *p)
{
	for (size_t i = 1; i < p->idle.n; i++)
		if (!p->idle.item[i].is_spot && has_mark(p, p->idle.item[i].sw, MARK_LOST))
			set_mark(p, p->idle.item[i].sw, MARK_NONE);
}

/* Item i goes by c; so whoever it sent to may go by it, and so on down to the first. */
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

/* The nearest of those behind it that has another way lends it; all others of them
 * stay as they are. */
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

/* One of those whose port is dead, or is not: did it get a way? */
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

/* What one has found may be the way of another that had none before.  Whose port is not
 * dead may need nothing once the others have theirs: only if these are at a loss, the
 * first such one looks for a way, too. */
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

#define LEND_TRIES 16u /* ways that close a cycle, of those behind one switch */

/* The best way of a switch behind one that packets come through: short, and held. */
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

/* Item i goes by c, whoever it sent to goes by it, and so on.  Where the first goes. */
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

/* By the first of those behind it whose way packets may go. */
static bool
lend_to(struct repair *p, const struct repair_spot *s, const struct repair_comers *who)
{
	struct repair_idle root = { .sw = s->sw, .was = p->column[s->sw], .is_spot = true };
	unsigned n_tries = 0;
	bool found = false;

	p->idle.n = 0;
	if (!fm_vec_push(&p->idle, root))
		p->out_of_memory = true;
	for (uint32_t i = 0; i < p->idle.n && !found && n_tries < LEND_TRIES && !repair_stops(p);
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
	for (size_t i = 0; i < p->spots.n && !repair_stops(p); i++) {
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
