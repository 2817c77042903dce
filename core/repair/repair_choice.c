/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * By which channel a switch sends a LID that it has lost: those there are, in the order
 * of preference.  Those that hold all turns into the old port are the same for all LIDs that
 * went there, and are kept (struct repair_cover).
 * Beside that who would leave by it: those that send the LID into the switch.
 *
 * Time: one look per channel of the switch.
 */
#include <stdlib.h>
#include <string.h>

#include "core/repair/repair_choice.h"
#include "core/repair/repair_entry.h"
#include "core/repair/repair_way.h"

#define COVER_ENDS ((uint32_t)1 << 31) /* beside a channel: nobody goes on behind it */

bool
repair_covers(const struct depend *g, uint32_t old, uint32_t c)
{
	const uint64_t *a = depend_prev(g, old, 0), *b = depend_prev(g, c, 0);

	if (g->words == 1)
		return (a[0] & ~b[0]) == 0;
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
		if (p->go[c] != FM_NONE && repair_covers(g, first + s->old_port, c))
			list[kept->n++] = c | (ends_there(g, c) ? COVER_ENDS : 0);
	*n = kept->n;
	return list;
}

static void
prefer(const struct repair *p, struct repair_choice *ch, uint32_t c)
{
	if (c >= p->g->n_channels || !repair_may_go(p, c))
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
turn_choice(struct repair_choice *ch, uint32_t by)
{
	uint32_t c[256];

	if (ch->n == 0 || by % ch->n == 0)
		return;
	by %= ch->n;
	memcpy(c, ch->c, by * sizeof(*c));
	memmove(ch->c, ch->c + by, (ch->n - by) * sizeof(*c));
	memcpy(ch->c + ch->n - by, c, by * sizeof(*c));
}

/* A channel that find_cover() has named, FM_NONE: not for this LID. */
static inline uint32_t
covering(const struct repair *p, uint32_t named)
{
	uint32_t c = named & ~COVER_ENDS;
	fm_sw there = p->g->to[c]; /* none of them is lost */

	return has_mark(p, there, MARK_LOST) || ((named & COVER_ENDS) && there != p->to) ? FM_NONE
											 : c;
}

/* By how much the order of equal ones is turned. */
static inline uint32_t
turn_of(const struct depend *g, uint32_t old)
{
	return old != FM_NONE && g->back[old] != FM_NONE ? g->back_port[old] : 0;
}

/* The least loaded of n, equal ones from another one on. */
static uint32_t
least_loaded(const struct repair *p, const uint32_t *list, uint32_t n, uint32_t turn)
{
	uint32_t best = FM_NONE, least = UINT32_MAX;

	turn = n > 0 ? turn % n : 0;
	for (uint32_t i = turn; i < n; i++)
		if (p->load[list[i]] < least)
			least = p->load[best = list[i]];
	for (uint32_t i = 0; i < turn; i++)
		if (p->load[list[i]] < least)
			least = p->load[best = list[i]];
	return best;
}

uint32_t
repair_first_covering(struct repair *p, const struct repair_spot *s)
{
	const struct depend *g = p->g;
	uint32_t first = g->first[s->sw], old = first + s->old_port, n_named, n = 0, list[256];
	uint32_t nominal = first + repair_nominal(p, s->sw);
	const uint32_t *named = find_cover(p, s, &n_named);
	bool old_goes = false;

	for (uint32_t i = 0; i < n_named; i++) {
		uint32_t c = covering(p, named[i]);

		if (c == FM_NONE)
			continue;
		if (c == nominal)
			return c;
		old_goes = old_goes || c == old;
		list[n++] = c;
	}
	return old_goes ? old : least_loaded(p, list, n, turn_of(g, old));
}

void
repair_begin_choice(struct repair *p, const struct repair_spot *s, struct repair_choice *ch)
{
	const struct depend *g = p->g;
	uint32_t first = g->first[s->sw], old = depend_channel(g, s->sw, s->old_port);

	ch->n = ch->at = ch->preferred = 0;
	ch->sorted = false;
	for (uint32_t c = first + 1; c < g->first[s->sw + 1]; c++)
		if (repair_may_go(p, c))
			ch->c[ch->n++] = c;
	turn_choice(ch, turn_of(g, old));
	prefer(p, ch, first + repair_nominal(p, s->sw));
	prefer(p, ch, first + s->old_port);
}

/* What is left, once the first was not good enough. */
static void
sort_choice(const struct repair *p, struct repair_choice *ch)
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

uint32_t
repair_next_choice(const struct repair *p, struct repair_choice *ch)
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

void
repair_gather(struct repair *p, const struct repair_spot *s, struct repair_comers *who)
{
	const struct depend *g = p->g;
	uint32_t first = g->first[s->sw], c = depend_channel(g, s->sw, s->old_port);

	who->n = 0;
	who->through = false;
	who->own = who->all = repair_own_vls(p, s->sw);
	for (uint32_t i = first + 1; i < g->first[s->sw + 1]; i++) {
		uint32_t from = repair_sender(p, i);
		uint16_t vls;

		if (from == FM_NONE || p->go[i] == p->to)
			continue;
		vls = c != FM_NONE && repair_comes_from(g, c, i - first) ? repair_vls_from(p, from)
									 : 0;
		who->in[who->n] = from;
		who->vls[who->n++] = vls;
		who->all |= vls;
		who->through = who->through || vls != 0;
	}
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
