/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One LID: switches that no packets to it come through, and whose port is dead.  The
 * engines give them ways all the same, by which they answer and send traps.
 *
 * Nothing depends on such a way, so it costs as few entries as can be: the nearest of
 * those behind the switch that has another way lends it, and the ports between them are
 * turned round; all others behind it stay as they are, and arrive again.
 */
#include "core/route/repair_internal.h"

/* The shortest way of a switch that no packets come through, FM_NONE: there is none.
 * Nothing depends on it; all the same only ways that packets could go, unless every
 * switch had one. */
static uint32_t
find_idle_way(const struct repair *p, fm_sw sw)
{
	const struct depend *g = p->g;
	uint16_t vls = p->all_switches ? 0 : 1;
	uint32_t best = FM_NONE, least = REPAIR_FAR;

	for (uint32_t c = g->first[sw] + 1; c < g->first[sw + 1]; c++) {
		uint32_t limit = least == REPAIR_FAR ? g->n_switches : least - 1, depth;

		if (g->to[c] == FM_NONE || has_mark(p, g->to[c], MARK_LOST) ||
		    fm_bit_test(p->lost, c))
			continue;
		depth = repair_follow(p, c, vls, limit, vls != 0).depth;
		if (depth < least) {
			best = c;
			least = depth;
		}
	}
	return best;
}

/* Those that send through sw, behind it in the list. */
static void
list_idle_children(struct repair *p, size_t parent)
{
	const struct depend *g = p->g;
	fm_sw sw = p->idle.item[parent].sw;

	for (uint32_t c = g->first[sw] + 1; c < g->first[sw + 1]; c++) {
		uint32_t from = g->back[c];
		struct repair_idle child = { .parent = (uint32_t)parent };

		if (from == FM_NONE || fm_bit_test(p->lost, from))
			continue;
		child.sw = g->at[from];
		if (child.sw == p->to || has_mark(p, child.sw, MARK_LOST) ||
		    p->t->lft[child.sw][p->lid] != from - g->first[child.sw])
			continue;
		if (!fm_vec_push(&p->idle, child)) {
			p->out_of_memory = true;
			return;
		}
		set_mark(p, child.sw, MARK_LOST);
	}
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
	struct repair_idle root = { .sw = s->sw };
	uint32_t c = FM_NONE;
	size_t i;

	p->idle.n = 0;
	if (!fm_vec_push(&p->idle, root))
		p->out_of_memory = true;
	for (i = 0; i < p->idle.n && !p->out_of_memory; i++) {
		c = find_idle_way(p, p->idle.item[i].sw);
		if (c != FM_NONE)
			break;
		list_idle_children(p, i);
	}
	if (c != FM_NONE)
		turn_round(p, (uint32_t)i, c);
	for (i = 1; i < p->idle.n; i++)
		if (has_mark(p, p->idle.item[i].sw, MARK_LOST))
			set_mark(p, p->idle.item[i].sw, MARK_NONE);
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
		progress = false;
		for (size_t i = 0; i < p->spots.n && !p->out_of_memory; i++)
			progress = try_one(p, &p->spots.item[i], true) || progress;
		for (size_t i = 0; i < p->spots.n && !progress && !p->out_of_memory; i++)
			progress = try_one(p, &p->spots.item[i], false);
	}
}
