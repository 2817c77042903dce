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
#include <string.h>

#include "core/route/repair_internal.h"

#define COVER_ENDS ((uint32_t)1 << 31) /* beside a channel: nobody goes on behind it */

/* ---------------------------------------------------------------- choosing */

void
repair_gather(struct repair *p, const struct repair_spot *s, struct repair_comers *who)
{
	const struct depend *g = p->g;
	uint32_t first = g->first[s->sw], c = depend_channel(g, s->sw, s->old_port);

	who->n = 0;
	who->through = false;
	who->own = who->all = repair_own_vls(p, s->sw);
	for (uint32_t i = first + 1; i < g->first[s->sw + 1]; i++) {
		uint32_t from = g->back[i];
		uint16_t vls;

		if (from == FM_NONE || fm_bit_test(p->lost, from) ||
		    p->t->lft[g->at[from]][p->lid] != from - g->first[g->at[from]] ||
		    g->at[from] == p->to)
			continue;
		vls = c != FM_NONE && repair_comes_from(g, c, i - first) ? repair_vls_from(p, from)
									 : 0;
		who->in[who->n] = from;
		who->vls[who->n++] = vls;
		who->all |= vls;
		who->through = who->through || vls != 0;
	}
}

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

/* Insert what the comers need to leave by c.  False: undone. */
bool
repair_try_insert(struct repair *p, const struct repair_comers *who, uint32_t c)
{
	size_t before = p->g->added.n;
	enum depend_result rc = DEPEND_HELD;

	for (unsigned i = 0; rc < DEPEND_CYCLE && i < who->n; i++)
		for (unsigned vl = 0; rc < DEPEND_CYCLE && who->vls[i] >> vl != 0; vl++)
			if (who->vls[i] >> vl & 1)
				rc = depend_insert(p->g, who->in[i], c, vl);
	if (rc < DEPEND_CYCLE)
		rc = repair_insert_way(p, c, who->all);
	if (rc < DEPEND_CYCLE)
		return true;
	repair_note_result(p, rc);
	depend_undo(p->g, before);
	return false;
}

bool
repair_is_banned(const struct repair *p, uint32_t c)
{
	for (size_t i = 0; i < p->banned.n; i++)
		if (p->banned.item[i] == c)
			return true;
	return false;
}

/* Channels of a switch in the order of preference: nominal, old, least loaded.
 * Equal ones by turns: from another one on for each port at which the old cable ends
 * over there, so that neighbours who lose the same switch do not all choose the same. */
struct choice {
	uint32_t n, at;
	unsigned preferred; /* of them are in front */
	bool sorted;
	uint32_t c[256];
};

bool
repair_covers(const struct depend *g, uint32_t old, uint32_t c)
{
	const uint64_t *a = depend_prev(g, old, 0), *b = depend_prev(g, c, 0);

	for (uint32_t i = 0; i < g->words; i++)
		if ((a[i] & ~b[i]) != 0)
			return false;
	return true;
}

/* Does nobody ever go on from the far end of c? */
static bool
ends_there(const struct depend *g, uint32_t c)
{
	const uint64_t *row = depend_next(g, c, 0);

	for (uint32_t i = 0; i < g->words; i++)
		if (row[i] != 0)
			return false;
	return true;
}

/* Channels of a switch that hold all turns into its old port.  As long as nothing
 * is inserted that is the same for all LIDs that went there: kept in cover. */
static const uint32_t *
find_cover(const struct repair *p, const struct repair_spot *s, uint32_t *n)
{
	const struct depend *g = p->g;
	struct repair_cover *kept = &p->cover[s->sw];
	uint32_t first = g->first[s->sw], *list = p->cover_list + first;

	if (kept->changes == g->changes && kept->port == s->old_port) {
		*n = kept->n;
		return list;
	}
	*kept = (struct repair_cover){ .port = s->old_port, .changes = g->changes };
	for (uint32_t c = first + 1; c < g->first[s->sw + 1]; c++)
		if (g->to[c] != FM_NONE && !fm_bit_test(p->lost, c) &&
		    repair_covers(g, first + s->old_port, c))
			list[kept->n++] = c | (ends_there(g, c) ? COVER_ENDS : 0);
	*n = kept->n;
	return list;
}

static bool
may_go(const struct repair *p, uint32_t c)
{
	return p->g->to[c] != FM_NONE && !has_mark(p, p->g->to[c], MARK_LOST) &&
	    !fm_bit_test(p->lost, c);
}

static void
prefer(const struct repair *p, struct choice *ch, uint32_t c)
{
	if (c >= p->g->n_channels || !may_go(p, c))
		return;
	for (uint32_t i = ch->preferred; i < ch->n; i++)
		if (ch->c[i] == c) {
			ch->c[i] = ch->c[ch->preferred];
			ch->c[ch->preferred++] = c;
			return;
		}
}

/* Begin with another one, all in the same order. */
static void
turn_choice(struct choice *ch, uint32_t by)
{
	uint32_t c[256];

	if (ch->n == 0 || by % ch->n == 0)
		return;
	by %= ch->n;
	memcpy(c, ch->c, by * sizeof(*c));
	memmove(ch->c, ch->c + by, (ch->n - by) * sizeof(*c));
	memcpy(ch->c + ch->n - by, c, by * sizeof(*c));
}

static void
add_choice(const struct repair *p, uint32_t c, struct choice *ch)
{
	if (may_go(p, c))
		ch->c[ch->n++] = c;
}

/* Channels to switches that are not lost themselves; held: only those that hold
 * all dependencies at this switch, in one VL. */
static void
begin_choice(struct repair *p, const struct repair_spot *s, bool held, struct choice *ch)
{
	const struct depend *g = p->g;
	uint32_t first = g->first[s->sw], old = depend_channel(g, s->sw, s->old_port), n;

	repair_own_loads(p, s->sw);
	ch->n = ch->at = ch->preferred = 0;
	ch->sorted = false;
	if (held) {
		const uint32_t *cover = find_cover(p, s, &n);

		for (uint32_t i = 0; i < n; i++) { /* none of them is lost */
			uint32_t c = cover[i] & ~COVER_ENDS;

			if ((!(cover[i] & COVER_ENDS) || g->to[c] == p->to) &&
			    !has_mark(p, g->to[c], MARK_LOST))
				ch->c[ch->n++] = c;
		}
	} else
		for (uint32_t c = first + 1; c < g->first[s->sw + 1]; c++)
			add_choice(p, c, ch);
	if (old != FM_NONE && g->back[old] != FM_NONE)
		turn_choice(ch, g->back[old] - g->first[g->to[old]]);
	prefer(p, ch, first + repair_nominal(p, s->sw));
	prefer(p, ch, first + s->old_port);
}

/* What is left, once the first was not good enough. */
static void
sort_choice(const struct repair *p, struct choice *ch)
{
	const uint32_t *load = p->load;

	for (uint32_t i = ch->at; i < ch->n; i++) {
		uint32_t c = ch->c[i], j = i;

		for (; j > ch->at && load[ch->c[j - 1]] > load[c]; j--)
			ch->c[j] = ch->c[j - 1];
		ch->c[j] = c;
	}
	ch->sorted = true;
}

static uint32_t
next_choice(const struct repair *p, struct choice *ch)
{
	uint32_t best = ch->at, least = UINT32_MAX, c;

	if (ch->at == ch->n)
		return FM_NONE;
	if (ch->at > ch->preferred && !ch->sorted)
		sort_choice(p, ch);
	for (uint32_t i = ch->at; ch->at == ch->preferred && i < ch->n; i++) {
		uint32_t load = p->load[ch->c[i]];

		if (load < least) {
			best = i;
			least = load;
		}
	}
	c = ch->c[best];
	ch->c[best] = ch->c[ch->at];
	ch->c[ch->at++] = c;
	return c;
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
take(struct repair *p, const struct repair_spot *s, const struct repair_comers *who, uint32_t c,
    uint32_t depth)
{
	repair_set(p, s->sw, (uint8_t)(c - p->g->first[s->sw]));
	set_mark(p, s->sw, MARK_SETTLED);
	note_length(p, s, who, depth);
}

/* Not known to lead nowhere. */
static bool
may_arrive(const struct repair *p, uint32_t c)
{
	return may_go(p, c) && p->fails[p->g->to[c]] != p->stamp;
}

/* Seen quickly, as often: no port of the switch leads on. */
static bool
leads_nowhere(const struct repair *p, fm_sw sw)
{
	const struct depend *g = p->g;

	for (uint32_t c = g->first[sw] + 1; c < g->first[sw + 1]; c++)
		if (may_arrive(p, c))
			return false;
	return true;
}

/* Is any way as short as the old one, whatever depends on it? */
static bool
has_short_way(const struct repair *p, const struct repair_spot *s)
{
	const struct depend *g = p->g;

	for (uint32_t c = g->first[s->sw] + 1; c < g->first[s->sw + 1]; c++)
		if (may_arrive(p, c) &&
		    repair_follow(p, c, 0, s->old_depth, false).depth != REPAIR_FAR)
			return true;
	return false;
}

/* Of what there is to choose from only ways of at most limit links remain, in the same order. */
static void
keep_ways(const struct repair *p, const struct repair_comers *who, uint16_t vls, uint32_t limit,
    bool held, struct choice *ch)
{
	uint32_t n = 0;
	unsigned preferred = 0;

	for (uint32_t i = 0; i < ch->n; i++) {
		uint32_t c = ch->c[i];

		if (p->fails[p->g->to[c]] == p->stamp || (held && !turns_held(p, who, c)) ||
		    repair_follow(p, c, vls, limit, held).depth == REPAIR_FAR)
			continue;
		preferred += i < ch->preferred;
		ch->c[n++] = c;
	}
	ch->n = n;
	ch->preferred = preferred;
}

/* Step 1 in one VL, by channels that hold all turns into the old port: of n_tries of them the
 * first whose way is as long and, with packets (vls 1), held. */
static bool
settle_by_cover(struct repair *p, const struct repair_spot *s, const struct repair_comers *who,
    uint16_t vls, uint32_t n_tries)
{
	struct choice ch;
	uint32_t c;

	if (p->g->n_vls > 1 || depend_channel(p->g, s->sw, s->old_port) == FM_NONE)
		return false;
	begin_choice(p, s, true, &ch);
	if (n_tries > 1)
		keep_ways(p, who, vls, s->old_depth, vls != 0, &ch);
	for (; n_tries > 0 && (c = next_choice(p, &ch)) != FM_NONE; n_tries--) {
		struct way way = repair_follow(p, c, vls, s->old_depth, vls != 0);

		if (way.depth != REPAIR_FAR) {
			take(p, s, who, c, way.depth);
			return true;
		}
	}
	return false;
}

/* Steps 1 and 2. */
static bool
settle_at_length(
    struct repair *p, const struct repair_spot *s, const struct repair_comers *who, bool held)
{
	uint16_t vls = who->all != 0 || p->all_switches ? who->all : 1;
	struct choice ch;
	uint32_t c;

	if (leads_nowhere(p, s->sw))
		return false;
	begin_choice(p, s, false, &ch);
	keep_ways(p, who, vls, s->old_depth, held, &ch);
	while (!repair_stops(p) && (c = next_choice(p, &ch)) != FM_NONE)
		if (held || repair_try_insert(p, who, c)) {
			take(p, s, who, c, repair_follow(p, c, vls, s->old_depth, held).depth);
			return true;
		}
	return false;
}

/* ------------------------------------------------------------- up the tree */

static bool
add_spot(struct repair *p, fm_sw sw, bool idle)
{
	struct repair_spot s = { .sw = sw,
		.old_port = p->t->lft[sw][p->lid],
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
	if (s.old_depth > 0 && settle_by_cover(p, &s, NULL, 1, 1))
		return;
	repair_gather(p, &s, &who);
	p->spots.item[i].idle = who.all == 0;
	if (s.old_depth > 0 && who.all == 0 && p->all_switches &&
	    (!has_short_way(p, &s) || settle_by_cover(p, &s, &who, 0, UINT32_MAX)))
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
	struct choice ch;

	begin_choice(p, s, false, &ch);
	while (ch.at < ch.n) {
		c = ch.c[ch.at++]; /* in any order */

		uint32_t limit = best == REPAIR_FAR ? p->g->n_switches : best - 1, cost;

		if (repair_is_banned(p, c))
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
	struct choice ch;
	uint32_t c;

	begin_choice(p, s, false, &ch);
	while (!repair_stops(p) && (c = next_choice(p, &ch)) != FM_NONE) {
		if (repair_is_banned(p, c) || cost_of(p, who, c, want) != want)
			continue;
		if (repair_try_insert(p, who, c)) {
			take(p, s, who, c, repair_follow(p, c, 0, want, false).depth);
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

	for (size_t i = 0; i < p->spots.n && !repair_stops(p); i++) {
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
	while (least != REPAIR_FAR && !repair_stops(p)) {
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

	for (size_t i = 0; i < p->spots.n && !repair_stops(p); i++) {
		struct repair_spot s = p->spots.item[i];

		if (!s.idle || !repair_is_open(p, &s))
			continue;
		repair_gather(p, &s, &who);
		add_children(p, &who);
	}
}

static int
by_depth(const void *a, const void *b)
{
	const struct repair_spot *x = a, *y = b;

	if (x->old_depth != y->old_depth)
		return x->old_depth < y->old_depth ? -1 : 1;
	return x->sw < y->sw ? -1 : x->sw > y->sw;
}

/* As nearly always: whoever lost one switch was as far from the LID as the others. */
static bool
is_in_order(const struct repair *p)
{
	for (size_t i = 1; i < p->spots.n; i++)
		if (by_depth(&p->spots.item[i - 1], &p->spots.item[i]) > 0)
			return false;
	return true;
}

void
repair_sort_spots(struct repair *p)
{
	if (!is_in_order(p))
		qsort(p->spots.item, p->spots.n, sizeof(p->spots.item[0]), by_depth);
}

void
repair_lid(struct repair *p)
{
	struct repair_comers who;
	bool left = false;

	repair_sort_spots(p);
	for (size_t i = 0; i < p->spots.n && !repair_stops(p); i++)
		settle_or_pass_on(p, i);
	if (repair_stops(p))
		return;
	for (size_t i = 0; i < p->spots.n; i++)
		left = left || has_mark(p, p->spots.item[i].sw, MARK_LOST);
	if (!left)
		return;
	settle_longer(p, false);
	while (repair_packet_is_left(p) && !repair_stops(p) && repair_lend(p))
		settle_longer(p, false);
	if (repair_packet_is_left(p) && !repair_stops(p)) {
		add_idle_children(p);
		settle_longer(p, true);
	}
	if (repair_packet_is_left(p) && !repair_stops(p) && p->may_move && !repair_move(p))
		p->hopeless = true;
	if (repair_stops(p))
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
