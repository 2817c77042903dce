/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One LID: switches whose port for it is dead, or whose next switch has no way.
 *
 *	1  keep the length: a port whose way is as long as the old one, along
 *	   dependencies that are held
 *	2  the same, but dependencies may be inserted
 *	3  whoever sent through here tries 1 and 2 in turn, and so on up the tree
 *	4  who is left and carries packets, shortest first: a way along held
 *	   dependencies may be p->detour links longer than one that needs new ones
 *	5  if packets are still without a way, by one that the nearest of those behind
 *	   them lends (repair_idle.c), or else likewise over switches that had none
 *	   themselves, or else under other SLs (repair_move.c); at last those that no
 *	   packets need, by as few entries as can be
 *
 * A way is followed before it is taken, and not over switches that are
 * MARK_LOST, so a choice always leads to the LID and no loop can arise: each
 * settled switch hangs on a tree of switches that arrive.
 *
 * Who carries packets is seen from the dependencies: only channels with an
 * edge to the old port can bring any.  Nearly always they all have one to the
 * new port, too, and need not be looked at.
 */
#include "core/repair/repair_choice.h"
#include "core/repair/repair_entry.h"
#include "core/repair/repair_way.h"
#include "lib/bitset.h"

/* ---------------------------------------------------------------- choosing */

/* Without packets nobody needs to be asked. */
static void
gather_again(struct repair *p, const struct repair_spot *s, struct repair_comers *who)
{
	if (!s->idle) {
		repair_gather(p, s, who);
		return;
	}
	who->n = 0;
	who->own = who->all = 0;
	who->through = false;
}

static bool
turns_held(const struct repair *p, const struct repair_comers *who, uint32_t c)
{
	for (unsigned i = 0; who->all != 0 && i < who->n; i++)
		if (who->vls[i] != 0 && !repair_holds_all(p->g, who->in[i], c, who->vls[i]))
			return false;
	return true;
}

/* What is different for those who send through here, or may (who NULL): for its own
 * ends alone the lengths are known, else the LID is looked at again. */
static void
note_length(
    struct repair *p, const struct repair_spot *s, const struct repair_comers *who, uint32_t depth)
{
	struct repair_shift shift = {
		.lid = p->lid, .sw = s->sw, .from = s->old_depth, .to = depth
	};

	if (p->to_switch && s->old_depth == 0)
		p->dirty[p->lid] = 1;
	if (depth == s->old_depth || (who != NULL && who->all == 0))
		return;
	if (who == NULL || who->through || s->old_depth == 0)
		p->dirty[p->lid] = 1;
	else if (!fm_vec_push(&p->shifts, shift))
		p->out_of_memory = true;
}

static void
take_channel(struct repair *p, const struct repair_spot *s, const struct repair_comers *who,
    uint32_t c, uint32_t depth)
{
	repair_set(p, s->sw, (uint8_t)(c - p->g->first[s->sw]));
	set_mark(p, s->sw, MARK_SETTLED);
	note_length(p, s, who, depth);
}

/* Seen quickly, as often: no port of the switch leads on. */
static bool
leads_nowhere(const struct repair *p, fm_sw sw)
{
	const struct depend *g = p->g;

	for (uint32_t c = g->first[sw] + 1; c < g->first[sw + 1]; c++)
		if (repair_may_arrive(p, c))
			return false;
	return true;
}

/* Is any way as short as the old one, whatever depends on it? */
static bool
has_short_way(const struct repair *p, const struct repair_spot *s)
{
	const struct depend *g = p->g;

	for (uint32_t c = g->first[s->sw] + 1; c < g->first[s->sw + 1]; c++)
		if (repair_may_arrive(p, c) &&
		    repair_follow(p, c, 0, s->old_depth, false).depth != REPAIR_FAR)
			return true;
	return false;
}

/* Of what there is to choose from only ways of at most limit links remain, in the same order. */
static void
keep_ways(const struct repair *p, const struct repair_comers *who, uint16_t vls, uint32_t limit,
    bool held, struct repair_choice *ch)
{
	uint32_t n = 0;
	unsigned preferred = 0;

	for (uint32_t i = 0; i < ch->n; i++) {
		uint32_t c = ch->c[i];

		if (!repair_may_arrive(p, c) || (held && !turns_held(p, who, c)) ||
		    repair_follow(p, c, vls, limit, held).depth == REPAIR_FAR)
			continue;
		preferred += i < ch->preferred;
		ch->c[n++] = c;
	}
	ch->n = n;
	ch->preferred = preferred;
}

/* Step 1 in one VL, by the best of the channels that hold all turns into the old port: is its
 * way as long, and held? */
static bool
settle_by_first(struct repair *p, const struct repair_spot *s)
{
	struct way way = { .depth = REPAIR_FAR };
	uint32_t c;

	if (p->g->n_vls > 1 || depend_channel(p->g, s->sw, s->old_port) == FM_NONE)
		return false;
	c = repair_first_covering(p, s);
	if (c != FM_NONE)
		way = repair_follow(p, c, 1, s->old_depth, true);
	if (way.depth == REPAIR_FAR)
		return false;
	take_channel(p, s, NULL, c, way.depth);
	return true;
}

/* Steps 1 and 2. */
static bool
settle_at_length(
    struct repair *p, const struct repair_spot *s, const struct repair_comers *who, bool held)
{
	uint16_t vls = who->all != 0 || p->all_switches ? who->all : 1;
	struct repair_choice ch;
	uint32_t c;

	if (leads_nowhere(p, s->sw))
		return false;
	repair_begin_choice(p, s, &ch);
	keep_ways(p, who, vls, s->old_depth, held, &ch);
	while (!p->out_of_memory && (c = repair_next_choice(p, &ch)) != FM_NONE)
		if (held || repair_try_insert(p, who, c)) {
			take_channel(
			    p, s, who, c, repair_follow(p, c, vls, s->old_depth, held).depth);
			return true;
		}
	return false;
}

/* ------------------------------------------------------------- up the tree */

static bool
add_spot(struct repair *p, fm_sw sw, bool idle)
{
	struct repair_spot s = { .sw = sw,
		.old_port = p->column[sw],
		.old_depth = repair_old_depth(p, sw),
		.idle = idle };

	if (!fm_vec_push(&p->spots, s)) {
		p->out_of_memory = true;
		return false;
	}
	set_mark(p, sw, MARK_LOST);
	return true;
}

/* Step 3: those that send through here lead nowhere either. */
static void
add_children(struct repair *p, const struct repair_comers *who)
{
	for (unsigned i = 0; i < who->n; i++) {
		fm_sw from = p->g->at[who->in[i]];

		if (!has_mark(p, from, MARK_LOST) && !has_mark(p, from, MARK_SETTLED))
			add_spot(p, from, who->all == 0);
	}
}

static void
settle_or_pass_on(struct repair *p, size_t i)
{
	struct repair_spot s = p->spots.item[i];
	struct repair_comers who;

	/* nobody need be asked where the best choice holds all; else often nobody comes */
	if (s.old_depth > 0 && settle_by_first(p, &s))
		return;
	repair_gather(p, &s, &who);
	p->spots.item[i].idle = who.all == 0;
	if (s.old_depth > 0 && who.all == 0 && p->all_switches && !has_short_way(p, &s))
		return;
	if (s.old_depth > 0 &&
	    (settle_at_length(p, &s, &who, true) ||
		(who.all != 0 && settle_at_length(p, &s, &who, false))))
		return;
	if (who.all != 0)
		add_children(p, &who);
}

/* ------------------------------------------------------------- longer ways */

/* Links of the way by c, and the detour for new dependencies.  Without packets there
 * are none; all the same only ways that packets could go, unless every switch had one. */
static uint32_t
cost_of(struct repair *p, const struct repair_comers *who, uint32_t c, uint32_t limit)
{
	bool idle = who->all == 0, held = idle && !p->all_switches;
	struct way way = repair_follow(p, c, held ? 1 : who->all, limit, held);

	if (way.depth == REPAIR_FAR)
		return REPAIR_FAR;
	return way.depth + (way.held && turns_held(p, who, c) ? 0 : p->detour);
}

static uint32_t
least_cost(struct repair *p, const struct repair_spot *s, const struct repair_comers *who)
{
	uint32_t best = REPAIR_FAR, c;
	struct repair_choice ch;

	repair_begin_choice(p, s, &ch);
	while (ch.at < ch.n) {
		c = ch.c[ch.at++]; /* in any order */

		uint32_t limit = best == REPAIR_FAR ? p->g->n_switches : best - 1, cost;

		if (repair_is_banned(p, c) || !repair_may_arrive(p, c))
			continue;
		cost = cost_of(p, who, c, limit);
		best = cost < best ? cost : best;
	}
	return best;
}

/* Take the first port of this cost that closes no cycle. */
static bool
settle_at_cost(
    struct repair *p, const struct repair_spot *s, const struct repair_comers *who, uint32_t want)
{
	struct repair_choice ch;
	uint32_t c;

	repair_begin_choice(p, s, &ch);
	while (!p->out_of_memory && (c = repair_next_choice(p, &ch)) != FM_NONE) {
		if (repair_is_banned(p, c) || cost_of(p, who, c, want) != want)
			continue;
		if (repair_try_insert(p, who, c)) {
			take_channel(p, s, who, c, repair_follow(p, c, 0, want, false).depth);
			return true;
		}
		if (!fm_vec_push(&p->banned, c))
			p->out_of_memory = true;
	}
	return false;
}

/* Whoever is next to a switch that has got a way may go by it. */
static void
relax(struct repair *p, fm_sw sw, uint32_t cost, bool idle)
{
	const struct depend *g = p->g;

	for (uint32_t c = g->first[sw] + 1; c < g->first[sw + 1]; c++) {
		struct repair_spot *s;

		if (g->to[c] == FM_NONE || !has_mark(p, g->to[c], MARK_LOST) ||
		    fm_bit_test(p->lost, g->back[c]))
			continue;
		s = &p->spots.item[p->spot_of[g->to[c]]];
		if (idle || !s->idle)
			s->cost = cost < s->cost ? cost : s->cost;
	}
}

/* Costs are exact, or too low where a neighbour has just got a way: then they are
 * found out when it is tried. */
static void
try_spots(struct repair *p, uint32_t least, bool idle)
{
	struct repair_comers who;

	for (size_t i = 0; i < p->spots.n && !p->out_of_memory; i++) {
		struct repair_spot *s = &p->spots.item[i];

		if (!repair_is_open(p, s) || s->cost != least)
			continue;
		gather_again(p, s, &who);
		if (settle_at_cost(p, s, &who, least))
			relax(p, s->sw, repair_depth(p, s->sw) + 1, idle);
		else
			s->cost = least_cost(p, s, &who);
	}
}

/* Step 4: of all that is left the shortest, and again. */
static void
settle_longer(struct repair *p, bool idle)
{
	uint32_t least = 0;
	struct repair_comers who;

	p->banned.n = 0;
	for (size_t i = 0; i < p->spots.n; i++) {
		struct repair_spot *s = &p->spots.item[i];

		p->spot_of[s->sw] = (uint32_t)i;
		s->cost = REPAIR_FAR;
		if ((s->idle && !idle) || !repair_is_open(p, s))
			continue;
		gather_again(p, s, &who);
		s->idle = who.all == 0; /* those behind it go elsewhere by now */
		if (!s->idle || idle)
			s->cost = least_cost(p, s, &who);
	}
	while (least != REPAIR_FAR && !p->out_of_memory) {
		least = REPAIR_FAR;
		for (size_t i = 0; i < p->spots.n; i++)
			if (repair_is_open(p, &p->spots.item[i]) && p->spots.item[i].cost < least)
				least = p->spots.item[i].cost;
		if (least != REPAIR_FAR)
			try_spots(p, least, idle);
	}
}

/* Packets may need the ways of switches that had none so far: all of these are
 * looked for by length, then. */
static void
add_idle_children(struct repair *p)
{
	struct repair_comers who;

	for (size_t i = 0; i < p->spots.n && !p->out_of_memory; i++) {
		struct repair_spot s = p->spots.item[i];

		if (!s.idle || !repair_is_open(p, &s))
			continue;
		repair_gather(p, &s, &who);
		add_children(p, &who);
	}
}

/* Who has none yet over switches without packets, and who may go by those then. */
static void
lead_all(struct repair *p)
{
	while (repair_packet_is_left(p) && !p->out_of_memory &&
	    (repair_lead(p, true) || repair_lead(p, false)))
		settle_longer(p, false);
}

void
repair_lid(struct repair *p)
{
	struct repair_comers who;
	bool left = false;

	repair_sort_spots(p);
	for (size_t i = 0; i < p->spots.n && !p->out_of_memory; i++)
		settle_or_pass_on(p, i);
	if (p->out_of_memory)
		return;
	for (size_t i = 0; i < p->spots.n; i++)
		left = left || has_mark(p, p->spots.item[i].sw, MARK_LOST);
	if (!left)
		return;
	settle_longer(p, false);
	while (repair_packet_is_left(p) && !p->out_of_memory && repair_lend(p))
		settle_longer(p, false);
	lead_all(p);
	if (repair_packet_is_left(p) && !p->out_of_memory) {
		add_idle_children(p);
		settle_longer(p, true);
		lead_all(p);
	}
	if (repair_packet_is_left(p) && !p->out_of_memory && p->may_move && !repair_move(p))
		p->hopeless = true;
	if (p->out_of_memory)
		return;
	repair_idle(p);
	for (size_t i = 0; i < p->spots.n; i++) {
		if (!has_mark(p, p->spots.item[i].sw, MARK_LOST))
			continue;
		if (p->to_switch)
			p->dirty[p->lid] = 1;
		if (!repair_is_open(p, &p->spots.item[i]))
			continue;
		gather_again(p, &p->spots.item[i], &who);
		p->hopeless = p->hopeless || who.all != 0;
	}
}
