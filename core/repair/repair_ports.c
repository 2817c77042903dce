/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One LID that leads nowhere from some switches, where the VL of a packet goes by the
 * ports it passes (nue, torus2qos, dragonfly).
 *
 * SLs stay as they are, but a new way may change the VLs of all that come behind it, so
 * a choice is judged by what all packets to the LID depend on (deps.h): these are
 * inserted into the kept dependencies, or the choice is undone and that port is out.
 *
 *	1  keep the length: whose port is dead, and then whoever sent through there
 *	2  of those left the shortest way, and again; who sends to a switch that has got
 *	   one, and has no shorter one, stays as it is
 *	3  the same over switches that no packets come through, if packets are left
 *	4  or over switches that had no entry (repair_lead.c)
 *	5  these by themselves (repair_idle.c)
 *
 * A way is followed before it is taken and leads over no switch that is MARK_LOST, so no
 * loop can arise.  Entries that bring packets to a switch are in its dependencies when it
 * gets a port: who stays as it is needs no more.
 *
 * Time: O(switches x SLs) for each port tried.
 */

#include "core/repair/repair_choice.h"
#include "core/repair/repair_entry.h"
#include "core/repair/repair_way.h"
#include "lib/bitset.h"

static bool
is_better(const struct repair_port *a, const struct repair_port *b)
{
	if (a->depth != b->depth)
		return a->depth < b->depth;
	return a->place != b->place ? a->place < b->place : a->load < b->load;
}

/* The best port with a way of at most limit links that has not been tried. */
static struct repair_port
best_port(const struct repair *p, const struct repair_spot *s, uint32_t limit)
{
	const struct depend *g = p->g;
	uint32_t first = g->first[s->sw], nominal = repair_nominal(p, s->sw);
	struct repair_port best = { .channel = FM_NONE, .depth = REPAIR_FAR };

	for (uint32_t c = first + 1; c < g->first[s->sw + 1]; c++) {
		struct repair_port at = { .channel = c, .load = p->load[c] };

		if (g->to[c] == FM_NONE || fm_bit_test(p->lost, c) ||
		    has_mark(p, g->to[c], MARK_LOST) || repair_is_banned(p, c))
			continue;
		at.place = c - first == nominal ? 0 : c == repair_egress(p, s->sw) ? 1 : 2;
		at.depth = repair_follow(p, c, 0, limit, false).depth;
		if (at.depth != REPAIR_FAR && is_better(&at, &best))
			best = at;
	}
	return best;
}

/* Take a port, if what packets depend on then closes no cycle. */
static bool
try_port(struct repair *p, const struct repair_spot *s, uint32_t c)
{
	size_t before = p->g->added.n;
	uint8_t was = p->column[s->sw];
	enum depend_result rc = DEPEND_HELD;

	set_mark(p, s->sw, MARK_SETTLED);
	if (repair_egress(p, s->sw) == c)
		return true;
	repair_set(p, s->sw, (uint8_t)(c - p->g->first[s->sw]));
	if (!s->idle)
		rc = repair_insert_lid(p, FM_NONE);
	if (rc < DEPEND_CYCLE)
		return true;
	depend_undo(p->g, before);
	repair_set(p, s->sw, was);
	set_mark(p, s->sw, MARK_LOST);
	if (rc == DEPEND_NOMEM || !fm_vec_push(&p->banned, c))
		p->out_of_memory = true;
	return false;
}

/* --------------------------------------------------------------- the old length */

/* Those that send through sw lead nowhere either. */
static void
add_senders(struct repair *p, fm_sw sw)
{
	const struct depend *g = p->g;

	for (uint32_t c = g->first[sw] + 1; c < g->first[sw + 1]; c++) {
		uint32_t from = g->back[c];
		struct repair_spot s;

		if (from == FM_NONE || fm_bit_test(p->lost, from))
			continue;
		s = (struct repair_spot){ .sw = g->at[from], .idle = true };
		if (s.sw == p->to || repair_egress(p, s.sw) != from ||
		    has_mark(p, s.sw, MARK_LOST) || has_mark(p, s.sw, MARK_SETTLED))
			continue;
		s.old_port = p->column[s.sw];
		s.old_depth = repair_old_depth(p, s.sw);
		if (!fm_vec_push(&p->spots, s))
			p->out_of_memory = true;
		set_mark(p, s.sw, MARK_LOST);
	}
}

static void
settle_or_pass_on(struct repair *p, size_t i)
{
	struct repair_spot *at = &p->spots.item[i], s;

	at->idle = !repair_carries(p, at->sw);
	s = *at;
	if (s.idle)
		return;
	while (s.old_depth > 0 && !p->out_of_memory) {
		struct repair_port best = best_port(p, &s, s.old_depth);

		if (best.channel == FM_NONE)
			break;
		if (try_port(p, &s, best.channel))
			return;
	}
	add_senders(p, s.sw);
}

/* ------------------------------------------------------------------ the shortest */

bool
repair_settle_shortest(struct repair *p, bool idle, repair_take_fn *take)
{
	struct repair_port best = { .channel = FM_NONE, .depth = REPAIR_FAR };
	const struct repair_spot *of = NULL;

	for (size_t i = 0; i < p->spots.n; i++) {
		const struct repair_spot *s = &p->spots.item[i];
		struct repair_port at;

		if (!repair_is_open(p, s) || (s->idle && !idle))
			continue;
		at = best_port(p, s, best.depth == REPAIR_FAR ? p->g->n_switches : best.depth);
		if (at.channel != FM_NONE && is_better(&at, &best)) {
			best = at;
			of = s;
		}
	}
	if (of != NULL)
		take(p, of, &best);
	return of != NULL && !p->out_of_memory;
}

static void
try_best(struct repair *p, const struct repair_spot *s, const struct repair_port *best)
{
	try_port(p, s, best->channel);
}

void
repair_lid_by_ports(struct repair *p)
{
	p->dirty[p->lid] = 1;
	p->banned.n = 0;
	repair_mark_carriers(p);
	repair_sort_spots(p);
	for (size_t i = 0; i < p->spots.n && !p->out_of_memory; i++)
		settle_or_pass_on(p, i);
	while (repair_settle_shortest(p, false, try_best))
		;
	if (repair_packet_is_left(p)) {
		for (size_t i = 0; i < p->spots.n && !p->out_of_memory; i++)
			if (p->spots.item[i].idle && repair_is_open(p, &p->spots.item[i]))
				add_senders(p, p->spots.item[i].sw);
		while (repair_settle_shortest(p, true, try_best))
			;
	}
	while (repair_packet_is_left(p) && !p->out_of_memory &&
	    (repair_lead(p, true) || repair_lead(p, false)))
		while (repair_settle_shortest(p, false, try_best))
			;
	p->hopeless = p->hopeless || repair_packet_is_left(p);
	repair_idle(p);
}
