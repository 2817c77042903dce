/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One LID: ways through the tables as they are now, who sends by them, and changing
 * an entry with all that is counted of it.
 *
 * Time: a look-up per switch on the way; what has no packets is followed once.
 */
#include <string.h>

#include "core/repair/repair_choice.h"
#include "core/repair/repair_entry.h"
#include "core/repair/repair_way.h"
#include "lib/algo/search.h"
#include "lib/bitset.h"

bool
repair_holds_all(const struct depend *g, uint32_t in, uint32_t out, uint16_t vls)
{
	for (unsigned vl = 0; vls >> vl != 0; vl++)
		if ((vls >> vl & 1) && !depend_holds(g, in, out, vl))
			return false;
	return true;
}

#define TRAIL 32u	/* switches of a way of which the length is kept */
#define MOST_KEPT 0xffu /* links */
#define KEPT_SHIFT 8

/* The channel by which sw sends the LID on, over a cable that is there; FM_NONE: none. */
static inline uint32_t
way_on(const struct repair *p, fm_sw sw)
{
	uint32_t c = depend_channel(p->g, sw, p->column[sw]);

	return c == FM_NONE || p->go[c] == FM_NONE ? FM_NONE : c;
}

static inline bool
is_kept(const struct repair *p, uint32_t kept)
{
	return kept >> KEPT_SHIFT == p->number;
}

/* The lengths of n ways, one the next one's and a link, the last `after` and one. */
static inline void
keep_lengths(const struct repair *p, uint32_t *kept, const fm_sw *trail, uint32_t from, uint32_t n,
    uint32_t after)
{
	for (uint32_t i = from; i < n && i < TRAIL && after + n <= MOST_KEPT; i++)
		kept[trail[i]] = p->number << KEPT_SHIFT | (after + n - i);
}

/* Links from sw on.  What arrives goes on arriving while the LID is at hand: only
 * what is lost gets other ports.  So its length is kept. */
static uint32_t
links_from(const struct repair *p, fm_sw sw)
{
	fm_sw trail[TRAIL];
	uint32_t n = 0, after = 0;

	for (; sw != p->to; n++) {
		uint32_t c;

		if (is_kept(p, p->arrives[sw])) {
			after = p->arrives[sw] & MOST_KEPT;
			break;
		}
		c = way_on(p, sw);
		if (c == FM_NONE || has_mark(p, sw, MARK_LOST) || n > p->g->n_switches)
			return REPAIR_FAR;
		if (n < TRAIL)
			trail[n] = sw;
		sw = p->go[c];
	}
	keep_lengths(p, p->arrives, trail, 0, n, after);
	return after + n;
}

uint32_t
repair_links(const struct repair *p, fm_sw sw)
{
	return links_from(p, sw);
}

/* One VL: do packets that come from a switch by channel c to sw go on as is held? */
static inline bool
holds_turn(const struct repair *p, fm_sw from, uint32_t c, fm_sw sw, uint32_t next)
{
	return depend_is_level_turn(p->g, from, sw, p->go[next]) || depend_holds(p->g, c, next, 0);
}

/* One VL.  Where all turns behind a switch are held that is kept, too, with the length: what
 * is held stays so while the LID is at hand. */
static struct way
follow_packets(const struct repair *p, uint32_t c, uint32_t limit, bool held)
{
	struct way far = { .depth = REPAIR_FAR }, way = { .held = true };
	fm_sw from = p->g->at[c], first = p->g->to[c], sw = first, trail[TRAIL];
	uint32_t n = 0, after = 0, sure = 0; /* from trail[sure] on all is held */

	while (sw != p->to) {
		uint32_t next = way_on(p, sw), kept = p->held[sw];

		if (n >= limit)
			return far;
		if (next == FM_NONE || has_mark(p, sw, MARK_LOST)) {
			p->fails[first] = p->stamp;
			return far;
		}
		if (!holds_turn(p, from, c, sw, next)) {
			if (held)
				return far;
			way.held = false;
			sure = n;
		}
		if (is_kept(p, kept)) {
			after = kept & MOST_KEPT;
			break;
		}
		if (n < TRAIL)
			trail[n] = sw;
		n++;
		c = next;
		from = sw;
		sw = p->go[c];
	}
	keep_lengths(p, p->held, trail, sure, n, after);
	way.depth = n + after + 1;
	return way.depth <= limit ? way : far;
}

static struct way
follow_vls(const struct repair *p, uint32_t c, uint16_t vls, uint32_t limit, bool held)
{
	struct way way = { .held = true };
	fm_sw first = p->g->to[c];
	uint32_t next;

	for (way.depth = 1; way.depth <= limit; way.depth++, c = next) {
		fm_sw sw = p->g->to[c];

		if (sw == p->to)
			return way;
		next = way_on(p, sw);
		if (next == FM_NONE || has_mark(p, sw, MARK_LOST)) {
			p->fails[first] = p->stamp;
			break;
		}
		way.held = way.held && repair_holds_all(p->g, c, next, vls);
		if (held && !way.held)
			break;
	}
	way.depth = REPAIR_FAR;
	return way;
}

/* Those that do not arrive are remembered until something changes. */
struct way
repair_follow(const struct repair *p, uint32_t c, uint16_t vls, uint32_t limit, bool held)
{
	struct way way = { .held = true };
	fm_sw first = p->g->to[c];

	if (p->fails[first] == p->stamp)
		return (struct way){ .depth = REPAIR_FAR };
	if (vls != 0)
		return p->g->n_vls == 1 ? follow_packets(p, c, limit, held)
					: follow_vls(p, c, vls, limit, held);
	/* nothing depends on it */
	way.depth = links_from(p, first);
	if (way.depth == REPAIR_FAR)
		p->fails[first] = p->stamp;
	way.depth = way.depth >= limit ? REPAIR_FAR : way.depth + 1;
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

uint32_t
repair_depth_of(const struct repair *p, fm_sw sw, uint32_t lid, fm_sw to)
{
	uint32_t depth = 0;

	for (; sw != to; depth++) {
		uint32_t c = depend_channel(p->g, sw, p->t->lft[sw][lid]);

		if (c == FM_NONE || p->g->to[c] == FM_NONE || fm_bit_test(p->lost, c) ||
		    depth > p->g->n_switches)
			return REPAIR_FAR;
		sw = p->g->to[c];
	}
	return depth;
}

bool
repair_way_is_held(const struct repair *p, uint32_t c, uint32_t depth)
{
	return repair_follow(p, c, 1, depth, true).depth == depth;
}

/* Kept, too: who lost the same switch went the same way from there. */
uint32_t
repair_old_depth(const struct repair *p, fm_sw sw)
{
	fm_sw trail[TRAIL];
	uint32_t n = 0, after = 0;

	for (; sw != p->to; n++) {
		uint32_t c;

		if (is_kept(p, p->was[sw])) {
			after = p->was[sw] & MOST_KEPT;
			break;
		}
		c = repair_egress(p, sw);
		if (c == FM_NONE || fm_bit_test(p->was_lost, c) || n > p->g->n_switches)
			return 0;
		if (n < TRAIL)
			trail[n] = sw;
		sw = p->g->to[c];
	}
	keep_lengths(p, p->was, trail, 0, n, after);
	return after + n;
}

/* ------------------------------------------------------------ who sends here */

uint16_t
repair_own_vls(const struct repair *p, fm_sw sw)
{
	if (!p->sends[sw])
		return 0;
	return p->g->n_vls == 1 ? 1 : depend_own_vls(p->g, p->fab, p->t, sw, p->lid, p->to);
}

/* Is there an edge in any VL from this in-port to the channel? */
bool
repair_comes_from(const struct depend *g, uint32_t channel, unsigned in_port)
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
	uint16_t vls = repair_own_vls(p, sw);

	if (c == FM_NONE)
		return vls;
	for (unsigned vl = 0; vl < g->n_vls; vl++)
		FM_EACH_BIT (bit, depend_prev(g, c, vl), (size_t)g->words * 64) {
			vls |= repair_vls_from(p, g->back[g->first[sw] + bit / g->n_vls]);
		}
	return vls;
}

/* One VL: has a switch that sends the LID by channel c packets for it? */
static bool
has_packets(const struct repair *p, fm_sw sw, uint32_t c)
{
	const struct depend *g = p->g;
	const uint64_t *row = depend_prev(g, c, 0);

	if (sw == p->to)
		return false;
	if (p->sends[sw])
		return true;
	for (uint32_t i = 0; i < g->words; i++)
		for (uint64_t left = row[i]; left != 0; left &= left - 1) {
			uint32_t in = g->first[sw] + i * 64 + (uint32_t)__builtin_ctzll(left);
			uint32_t from = repair_sender(p, in);

			if (from != FM_NONE && has_packets(p, p->go[in], from))
				return true;
		}
	return false;
}

/* One VL: do packets come by this channel? */
static bool
carries(const struct repair *p, uint32_t in)
{
	fm_sw from = p->g->at[in];

	return p->go[in] != FM_NONE && p->column[from] == in - p->g->first[from] &&
	    has_packets(p, from, in);
}

uint16_t
repair_vls_from(struct repair *p, uint32_t in)
{
	fm_sw from = p->g->at[in];
	uint8_t port = (uint8_t)(in - p->g->first[from]);

	if (p->g->n_vls == 1)
		return carries(p, in);
	if (fm_bit_test(p->lost, in) || p->column[from] != port || from == p->to)
		return 0;
	return vls_through(p, from, port);
}

void
repair_mark_carriers(struct repair *p)
{
	p->carrying++;
	p->carries[p->to] = p->carrying;
	for (fm_sw from = 0; from < p->g->n_switches; from++) {
		fm_sw sw = from;

		while (p->sends[from] && p->carries[sw] != p->carrying) {
			uint32_t c = way_on(p, sw);

			p->carries[sw] = p->carrying;
			if (c == FM_NONE)
				break;
			sw = p->go[c];
		}
	}
}

/* ----------------------------------------------------------------- entries */

/* Where the deviation of sw is in p->dev, or would be. */
static size_t
find_deviation(const struct repair *p, fm_sw sw)
{
	size_t at, n = p->dev.n;

	if (n == 0 || p->dev.item[n - 1].sw <= sw) /* as a rule they come and go at the end */
		return n > 0 && p->dev.item[n - 1].sw == sw ? n - 1 : n;
	fm_lower_bound(at, n, i, p->dev.item[i].sw < sw);
	return at;
}

uint8_t
repair_nominal(const struct repair *p, fm_sw sw)
{
	size_t i = find_deviation(p, sw);

	return i < p->dev.n && p->dev.item[i].sw == sw ? p->dev.item[i].port : p->column[sw];
}

/* The entry is no longer, or for the first time, or still not what it was. */
static void
note_deviation(struct repair *p, fm_sw sw, uint8_t port)
{
	struct plan_entry e = { .sw = sw, .lid = p->lid, .port = p->column[sw] };
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

static void
move_entry(struct repair *p, fm_sw sw, uint8_t port)
{
	uint32_t old = repair_egress(p, sw), now = depend_channel(p->g, sw, port);
	repair_write(p, sw, port);
	p->stamp++;
	if (old != FM_NONE)
		p->load[old]--;
	if (now != FM_NONE)
		p->load[now]++;
}

void
repair_set(struct repair *p, fm_sw sw, uint8_t port)
{
	struct plan_entry e = { .sw = sw, .lid = p->lid, .port = port };
	struct plan_entry was = { .sw = sw, .lid = p->lid, .port = p->column[sw] };

	if (was.port == port)
		return;
	note_deviation(p, sw, port);
	if (!fm_vec_push(&p->delta, e) || (p->notes_undo && !fm_vec_push(&p->undo, was)))
		p->out_of_memory = true;
	move_entry(p, sw, port);
}

/* One VL: what the ends of one switch send.  What goes up, or down after that, is held. */
static enum depend_result
insert_from(struct repair *p, fm_sw from)
{
	enum depend_result rc = DEPEND_HELD;
	uint32_t c = p->sends[from] && from != p->to ? way_on(p, from) : FM_NONE;

	while (c != FM_NONE && p->go[c] != p->to && rc < DEPEND_CYCLE) {
		fm_sw sw = p->go[c];
		uint32_t next = way_on(p, sw);

		if (next != FM_NONE && !holds_turn(p, from, c, sw, next))
			rc = depend_insert(p->g, c, next, 0);
		c = next;
		from = sw;
	}
	return rc;
}

enum depend_result
repair_insert_lid(struct repair *p, fm_sw from)
{
	if (p->deps != NULL)
		return depend_insert_deps(p->g, p->fab, p->deps, p->lid, DEPS_NEW);
	if (from != FM_NONE && p->g->n_vls == 1)
		return insert_from(p, from);
	return depend_insert_lid(p->g, p->fab, p->t, p->lost, from, p->lid, p->seen);
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
