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
 *
 * A way is followed before it is taken, and not over switches that are
 * MARK_LOST, so a choice always leads to the LID and no loop can arise: each
 * settled switch hangs on a tree of switches that arrive.
 *
 * Who carries packets is seen from the dependencies: only channels with an
 * edge to the old port can bring any.  Nearly always they all have one to the
 * new port, too, and need not be looked at.
 */
#include "core/route/repair_internal.h"

#define COVER_ENDS ((uint32_t)1 << 31) /* beside a channel: nobody goes on behind it */

/* --------------------------------------------------------------- following */

static bool
holds_all(const struct depend *g, uint32_t in, uint32_t out, uint16_t vls)
{
	for (unsigned vl = 0; vls >> vl != 0; vl++)
		if ((vls >> vl & 1) && !depend_holds(g, in, out, vl))
			return false;
	return true;
}

struct way {
	uint32_t depth; /* links */
	bool held;	/* all its dependencies are */
};

#define TRAIL 32u	/* switches of a way of which the length is kept */
#define MOST_KEPT 0xffu /* links */
#define KEPT_SHIFT 8

/* Links from sw on.  What arrives goes on arriving while the LID is at hand: only
 * what is lost gets other ports.  So its length is kept. */
static uint32_t
links_from(const struct repair *p, fm_sw sw)
{
	fm_sw trail[TRAIL];
	uint32_t n = 0, after = 0;

	for (; sw != p->to; n++) {
		uint32_t c;

		if (p->arrives[sw] >> KEPT_SHIFT == p->number) {
			after = p->arrives[sw] & MOST_KEPT;
			break;
		}
		c = repair_egress(p, sw);
		if (c == FM_NONE || fm_bit_test(p->lost, c) || has_mark(p, sw, MARK_LOST) ||
		    n > p->g->n_switches)
			return REPAIR_FAR;
		if (n < TRAIL)
			trail[n] = sw;
		sw = p->g->to[c];
	}
	for (uint32_t i = 0; i < n && i < TRAIL && after + n <= MOST_KEPT; i++)
		p->arrives[trail[i]] = p->number << KEPT_SHIFT | (after + n - i);
	return after + n;
}

/* The way by channel c, of at most limit links; held: give up at a dependency that is not. */
static struct way
follow(const struct repair *p, uint32_t c, uint16_t vls, uint32_t limit, bool held)
{
	struct way way = { .held = true };
	uint32_t next;

	if (vls == 0) { /* nothing depends on it */
		way.depth = links_from(p, p->g->to[c]);
		way.depth = way.depth >= limit ? REPAIR_FAR : way.depth + 1;
		return way;
	}
	for (way.depth = 1; way.depth <= limit; way.depth++, c = next) {
		fm_sw sw = p->g->to[c];

		if (sw == p->to)
			return way;
		next = repair_egress(p, sw);
		if (next == FM_NONE || fm_bit_test(p->lost, next) || has_mark(p, sw, MARK_LOST))
			break;
		way.held = way.held && holds_all(p->g, c, next, vls);
		if (held && !way.held)
			break;
	}
	way.depth = REPAIR_FAR;
	return way;
}

uint32_t
repair_depth(const struct repair *p, fm_sw sw)
{
	uint32_t c = repair_egress(p, sw);

	if (sw == p->to)
		return 0;
	for (uint32_t depth = 1; c != FM_NONE && !fm_bit_test(p->lost, c); depth++) {
		sw = p->g->to[c];
		if (sw == p->to)
			return depth;
		if (has_mark(p, sw, MARK_LOST) || depth > p->g->n_switches)
			break;
		c = repair_egress(p, sw);
	}
	return REPAIR_FAR;
}

bool
repair_way_is_held(const struct repair *p, uint32_t c, uint32_t depth)
{
	return follow(p, c, 1, depth, true).depth == depth;
}

uint32_t
repair_old_depth(const struct repair *p, fm_sw sw)
{
	uint32_t depth = 0, c;

	for (; sw != p->to; sw = p->g->to[c]) {
		c = repair_egress(p, sw);
		if (c == FM_NONE || fm_bit_test(p->was_lost, c) || depth++ > p->g->n_switches)
			return 0;
	}
	return depth;
}

/* ------------------------------------------------------------ who sends here */

static uint16_t
own_vls(const struct repair *p, fm_sw sw)
{
	if (!p->sends[sw])
		return 0;
	return p->g->n_vls == 1 ? 1 : depend_own_vls(p->g, p->fab, p->t, sw, p->lid, p->to);
}

/* Is there an edge in any VL from this in-port to the channel? */
static bool
comes_from(const struct depend *g, uint32_t channel, unsigned in_port)
{
	for (unsigned vl = 0; vl < g->n_vls; vl++)
		if (fm_bit_test(depend_prev(g, channel, vl), in_port * g->n_vls + vl))
			return true;
	return false;
}

/* VLs of all that passes sw on its way out by port. */
static uint16_t
vls_through(struct repair *p, fm_sw sw, uint8_t port)
{
	const struct depend *g = p->g;
	uint32_t c = depend_channel(g, sw, port);
	uint16_t vls = own_vls(p, sw);

	if (c == FM_NONE)
		return vls;
	for (unsigned vl = 0; vl < g->n_vls; vl++)
		FM_EACH_BIT (bit, depend_prev(g, c, vl), (size_t)g->words * 64) {
			if (vls != 0 && g->n_vls == 1)
				return vls;
			vls |= repair_vls_from(p, g->back[g->first[sw] + bit / g->n_vls]);
		}
	return vls;
}

uint16_t
repair_vls_from(struct repair *p, uint32_t in)
{
	fm_sw from = p->g->at[in];
	uint8_t port = (uint8_t)(in - p->g->first[from]);

	if (fm_bit_test(p->lost, in) || p->t->lft[from][p->lid] != port || from == p->to)
		return 0;
	return vls_through(p, from, port);
}

/* ---------------------------------------------------------------- choosing */

/* Where the deviation of sw is in p->dev, or would be. */
static size_t
find_deviation(const struct repair *p, fm_sw sw)
{
	size_t lo = 0, hi = p->dev.n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (p->dev.item[mid].sw < sw)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

uint8_t
repair_nominal(const struct repair *p, fm_sw sw)
{
	size_t i = find_deviation(p, sw);

	return i < p->dev.n && p->dev.item[i].sw == sw ? p->dev.item[i].port
						       : p->t->lft[sw][p->lid];
}

/* The entry is no longer, or for the first time, or still not what it was. */
static void
note_deviation(struct repair *p, fm_sw sw, uint8_t port)
{
	struct plan_entry e = { .sw = sw, .lid = p->lid, .port = p->t->lft[sw][p->lid] };
	size_t i = find_deviation(p, sw);

	if (i < p->dev.n && p->dev.item[i].sw == sw) {
		if (p->dev.item[i].port == port) {
			p->dev.n--;
			memmove(p->dev.item + i, p->dev.item + i + 1, (p->dev.n - i) * sizeof(e));
		}
		return;
	}
	if (!fm_vec_push(&p->dev, e)) {
		p->out_of_memory = true;
		return;
	}
	memmove(p->dev.item + i + 1, p->dev.item + i, (p->dev.n - 1 - i) * sizeof(e));
	p->dev.item[i] = e;
}

void
repair_set(struct repair *p, fm_sw sw, uint8_t port)
{
	struct plan_entry e = { .sw = sw, .lid = p->lid, .port = port };
	uint32_t old = repair_egress(p, sw), now = depend_channel(p->g, sw, port);

	if (p->t->lft[sw][p->lid] == port)
		return;
	note_deviation(p, sw, port);
	if (!fm_vec_push(&p->delta, e))
		p->out_of_memory = true;
	p->t->lft[sw][p->lid] = port;
	if (old != FM_NONE)
		p->st->load[old]--;
	if (now != FM_NONE)
		p->st->load[now]++;
}

enum depend_result
repair_insert_way(struct repair *p, uint32_t c, uint16_t vls)
{
	for (fm_sw sw = p->g->to[c]; sw != p->to;) {
		uint32_t next = repair_egress(p, sw);

		for (unsigned vl = 0; vls >> vl != 0; vl++) {
			enum depend_result rc =
			    vls >> vl & 1 ? depend_insert(p->g, c, next, vl) : DEPEND_HELD;

			if (rc >= DEPEND_CYCLE)
				return rc;
		}
		c = next;
		sw = p->g->to[c];
	}
	return DEPEND_HELD;
}

/* Who sends the LID into a switch: gathered once per switch and try. */
struct comers {
	uint32_t in[256];  /* channels */
	uint16_t vls[256]; /* of each; 0: no packets, it is a switch between others */
	unsigned n;
	uint16_t own, all;
	bool through; /* packets of others come in, too */
};

static void
gather(struct repair *p, const struct repair_spot *s, struct comers *who)
{
	const struct depend *g = p->g;
	uint32_t first = g->first[s->sw], c = depend_channel(g, s->sw, s->old_port);

	who->n = 0;
	who->through = false;
	who->own = who->all = own_vls(p, s->sw);
	for (uint32_t i = first + 1; i < g->first[s->sw + 1]; i++) {
		uint32_t from = g->back[i];
		uint16_t vls;

		if (from == FM_NONE || fm_bit_test(p->lost, from) ||
		    p->t->lft[g->at[from]][p->lid] != from - g->first[g->at[from]] ||
		    g->at[from] == p->to)
			continue;
		vls = c != FM_NONE && comes_from(g, c, i - first) ? repair_vls_from(p, from) : 0;
		who->in[who->n] = from;
		who->vls[who->n++] = vls;
		who->all |= vls;
		who->through = who->through || vls != 0;
	}
}

/* Without packets nobody needs to be asked. */
static void
gather_again(struct repair *p, const struct repair_spot *s, struct comers *who)
{
	if (!s->idle) {
		gather(p, s, who);
		return;
	}
	who->n = 0;
	who->own = who->all = 0;
	who->through = false;
}

static bool
turns_held(const struct repair *p, const struct comers *who, uint32_t c)
{
	for (unsigned i = 0; i < who->n; i++)
		if (!holds_all(p->g, who->in[i], c, who->vls[i]))
			return false;
	return true;
}

/* Insert what the comers need to leave by c.  False: undone. */
static bool
try_insert(struct repair *p, const struct comers *who, uint32_t c)
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
	p->out_of_memory = p->out_of_memory || rc == DEPEND_NOMEM;
	depend_undo(p->g, before);
	return false;
}

static bool
is_banned(const struct repair *p, uint32_t c)
{
	for (size_t i = 0; i < p->banned.n; i++)
		if (p->banned.item[i] == c)
			return true;
	return false;
}

/* Channels of a switch in the order of preference: nominal, old, least loaded.
 * Equal ones by turns: the first behind the port at which the old cable ends over
 * there, so that neighbours who lose the same switch do not all choose the same. */
struct choice {
	uint32_t n, at, turn;
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

	if (kept->port == s->old_port && kept->changes == g->changes) {
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

static void
prefer(struct choice *ch, uint32_t c)
{
	for (uint32_t i = ch->preferred; i < ch->n; i++)
		if (ch->c[i] == c) {
			ch->c[i] = ch->c[ch->preferred];
			ch->c[ch->preferred++] = c;
			return;
		}
}

static void
add_choice(const struct repair *p, uint32_t c, struct choice *ch)
{
	if (p->g->to[c] != FM_NONE && !has_mark(p, p->g->to[c], MARK_LOST) &&
	    !fm_bit_test(p->lost, c))
		ch->c[ch->n++] = c;
}

/* Channels to switches that are not lost themselves; held: only those that hold
 * all dependencies at this switch, in one VL. */
static void
begin_choice(const struct repair *p, const struct repair_spot *s, bool held, struct choice *ch)
{
	const struct depend *g = p->g;
	uint32_t first = g->first[s->sw], old = depend_channel(g, s->sw, s->old_port), n;

	ch->n = ch->at = ch->turn = ch->preferred = 0;
	ch->sorted = false;
	if (old != FM_NONE && g->back[old] != FM_NONE)
		ch->turn = g->back[old] - g->first[g->to[old]];
	if (held) {
		const uint32_t *cover = find_cover(p, s, &n);

		for (uint32_t i = 0; i < n; i++)
			if (!(cover[i] & COVER_ENDS) || g->to[cover[i] & ~COVER_ENDS] == p->to)
				add_choice(p, cover[i] & ~COVER_ENDS, ch);
	} else
		for (uint32_t c = first + 1; c < g->first[s->sw + 1]; c++)
			add_choice(p, c, ch);
	prefer(ch, first + repair_nominal(p, s->sw));
	prefer(ch, first + s->old_port);
}

/* By load, then by turns: the least comes first. */
static uint64_t
rank_of(const struct repair *p, const struct choice *ch, uint32_t c)
{
	const struct depend *g = p->g;
	uint32_t first = g->first[g->at[c]], n = g->first[g->at[c] + 1] - first;
	uint32_t port = c - first;

	return (uint64_t)p->st->load[c] << 32 |
	    (port > ch->turn ? port - ch->turn : port + n - ch->turn % n);
}

/* What is left, once the first was not good enough. */
static void
sort_choice(const struct repair *p, struct choice *ch)
{
	uint64_t rank[256];

	for (uint32_t i = ch->at; i < ch->n; i++) {
		uint64_t x = rank_of(p, ch, ch->c[i]);
		uint32_t c = ch->c[i], j = i;

		for (; j > ch->at && rank[j - 1] > x; j--) {
			rank[j] = rank[j - 1];
			ch->c[j] = ch->c[j - 1];
		}
		rank[j] = x;
		ch->c[j] = c;
	}
	ch->sorted = true;
}

static uint32_t
next_choice(const struct repair *p, struct choice *ch)
{
	uint32_t best = ch->at, c;
	uint64_t least = UINT64_MAX;

	if (ch->at == ch->n)
		return FM_NONE;
	if (ch->at > ch->preferred && !ch->sorted)
		sort_choice(p, ch);
	for (uint32_t i = ch->at; ch->at == ch->preferred && i < ch->n; i++) {
		uint64_t rank = rank_of(p, ch, ch->c[i]);

		if (rank < least) {
			best = i;
			least = rank;
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
note_length(struct repair *p, const struct repair_spot *s, const struct comers *who, uint32_t depth)
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
take(struct repair *p, const struct repair_spot *s, const struct comers *who, uint32_t c,
    uint32_t depth)
{
	repair_set(p, s->sw, (uint8_t)(c - p->g->first[s->sw]));
	set_mark(p, s->sw, MARK_SETTLED);
	note_length(p, s, who, depth);
}

/* Step 1 in one VL: nobody need be asked when all turns are held. */
static bool
settle_quickly(struct repair *p, const struct repair_spot *s)
{
	struct choice ch;
	uint32_t c;

	if (p->g->n_vls > 1 || depend_channel(p->g, s->sw, s->old_port) == FM_NONE)
		return false;
	begin_choice(p, s, true, &ch);
	while ((c = next_choice(p, &ch)) != FM_NONE) {
		struct way way = follow(p, c, 1, s->old_depth, true);

		if (way.depth != REPAIR_FAR) {
			take(p, s, NULL, c, way.depth);
			return true;
		}
	}
	return false;
}

/* Steps 1 and 2. */
static bool
settle_at_length(struct repair *p, const struct repair_spot *s, const struct comers *who, bool held)
{
	uint16_t vls = who->all != 0 || p->all_switches ? who->all : 1;
	struct choice ch;
	uint32_t c;

	begin_choice(p, s, false, &ch);
	while ((c = next_choice(p, &ch)) != FM_NONE) {
		struct way way;

		if (held && !turns_held(p, who, c))
			continue;
		way = follow(p, c, vls, s->old_depth, held);
		if (way.depth == REPAIR_FAR || (!held && !try_insert(p, who, c)))
			continue;
		take(p, s, who, c, way.depth);
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
add_children(struct repair *p, const struct comers *who)
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
	struct comers who;

	if (s.old_depth > 0 && settle_quickly(p, &s))
		return;
	gather(p, &s, &who);
	p->spots.item[i].idle = who.all == 0;
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
cost_of(struct repair *p, const struct comers *who, uint32_t c, uint32_t limit)
{
	bool idle = who->all == 0, held = idle && !p->all_switches;
	struct way way = follow(p, c, held ? 1 : who->all, limit, held);

	if (way.depth == REPAIR_FAR)
		return REPAIR_FAR;
	return way.depth + (way.held && turns_held(p, who, c) ? 0 : p->detour);
}

static uint32_t
least_cost(struct repair *p, const struct repair_spot *s, const struct comers *who)
{
	uint32_t best = REPAIR_FAR, c;
	struct choice ch;

	begin_choice(p, s, false, &ch);
	while (ch.at < ch.n) {
		c = ch.c[ch.at++]; /* in any order */

		uint32_t limit = best == REPAIR_FAR ? p->g->n_switches : best - 1, cost;

		if (is_banned(p, c))
			continue;
		cost = cost_of(p, who, c, limit);
		best = cost < best ? cost : best;
	}
	return best;
}

/* Take the first port of this cost that closes no cycle. */
static bool
settle_at_cost(
    struct repair *p, const struct repair_spot *s, const struct comers *who, uint32_t want)
{
	struct choice ch;
	uint32_t c;

	begin_choice(p, s, false, &ch);
	while ((c = next_choice(p, &ch)) != FM_NONE) {
		if (is_banned(p, c) || cost_of(p, who, c, want) != want)
			continue;
		if (try_insert(p, who, c)) {
			take(p, s, who, c, follow(p, c, 0, want, false).depth);
			return true;
		}
		if (!fm_vec_push(&p->banned, c))
			p->out_of_memory = true;
	}
	return false;
}

/* Does the spot wait for a way that there may be? */
static bool
is_open(const struct repair *p, const struct repair_spot *s)
{
	const uint32_t *component = p->k->snap->sw_component;

	return has_mark(p, s->sw, MARK_LOST) && component[s->sw] == component[p->to];
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
	struct comers who;

	for (size_t i = 0; i < p->spots.n && !p->out_of_memory; i++) {
		struct repair_spot *s = &p->spots.item[i];

		if (!is_open(p, s) || s->cost != least)
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
	struct comers who;

	p->banned.n = 0;
	for (size_t i = 0; i < p->spots.n; i++) {
		struct repair_spot *s = &p->spots.item[i];

		p->spot_of[s->sw] = (uint32_t)i;
		s->cost = REPAIR_FAR;
		if ((s->idle && !idle) || !is_open(p, s))
			continue;
		gather_again(p, s, &who);
		s->cost = least_cost(p, s, &who);
	}
	while (least != REPAIR_FAR && !p->out_of_memory) {
		least = REPAIR_FAR;
		for (size_t i = 0; i < p->spots.n; i++)
			if (is_open(p, &p->spots.item[i]) && p->spots.item[i].cost < least)
				least = p->spots.item[i].cost;
		if (least != REPAIR_FAR)
			try_spots(p, least, idle);
	}
}

/* ---------------------------------------------------------- without packets */

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
		depth = follow(p, c, vls, limit, vls != 0).depth;
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

/* What one has found may be the way of another that had none before. */
static void
settle_all_idle(struct repair *p)
{
	bool progress = true, left = true;

	while (progress && left && !p->out_of_memory) {
		progress = left = false;
		for (size_t i = 0; i < p->spots.n && !p->out_of_memory; i++) {
			struct repair_spot *s = &p->spots.item[i];

			if (!s->idle || !is_open(p, s))
				continue;
			if (!is_dead(p, s->sw) && repair_depth(p, s->sw) != REPAIR_FAR)
				set_mark(p, s->sw, MARK_SETTLED);
			else
				settle_idle(p, s);
			progress = progress || !has_mark(p, s->sw, MARK_LOST);
			left = left || has_mark(p, s->sw, MARK_LOST);
		}
	}
}

static bool
is_packet_left(const struct repair *p)
{
	for (size_t i = 0; i < p->spots.n; i++)
		if (!p->spots.item[i].idle && is_open(p, &p->spots.item[i]))
			return true;
	return false;
}

/* Packets may need the ways of switches that had none so far: all of these are
 * looked for by length, then. */
static void
add_idle_children(struct repair *p)
{
	struct comers who;

	for (size_t i = 0; i < p->spots.n && !p->out_of_memory; i++) {
		struct repair_spot s = p->spots.item[i];

		if (!s.idle || !is_open(p, &s))
			continue;
		gather(p, &s, &who);
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

void
repair_lid(struct repair *p)
{
	struct comers who;
	bool left = false;

	if (p->spots.n > 1)
		qsort(p->spots.item, p->spots.n, sizeof(p->spots.item[0]), by_depth);
	for (size_t i = 0; i < p->spots.n && !p->out_of_memory; i++)
		settle_or_pass_on(p, i);
	for (size_t i = 0; i < p->spots.n; i++)
		left = left || has_mark(p, p->spots.item[i].sw, MARK_LOST);
	if (!left)
		return;
	settle_longer(p, false);
	if (is_packet_left(p)) {
		add_idle_children(p);
		settle_longer(p, true);
	}
	settle_all_idle(p);
	for (size_t i = 0; i < p->spots.n; i++) {
		if (!has_mark(p, p->spots.item[i].sw, MARK_LOST))
			continue;
		if (p->to_switch)
			p->dirty[p->lid] = 1;
		if (!is_open(p, &p->spots.item[i]))
			continue;
		gather_again(p, &p->spots.item[i], &who);
		p->hopeless = p->hopeless || who.all != 0;
	}
}
