/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One LID: entries that differ from the last full route go back to it.
 *
 * The nominal path of a switch is followed to the LID over cables that are
 * there.  Where it arrives, all its switches go back: they all have it.  No
 * loop can arise: a packet that has met such a switch stays on nominal entries,
 * and before it follows entries that were free of loops.
 *
 * An entry whose nominal path leads nowhere goes back once no packets come through: what had
 * none has none again.
 *
 * Their dependencies are inserted; nearly always they are still held.  Where
 * they would close a cycle with those of entries that cannot go back, the LID
 * stays as it is.
 */
#include "core/repair/repair_choice.h"
#include "core/repair/repair_entry.h"
#include "core/repair/repair_way.h"

/* Where the nominal path goes on from sw; FM_NONE: no cable. */
static uint32_t
nominal_egress(const struct repair *p, fm_sw sw)
{
	bool differs = p->nominal[sw] >> 8 == p->number;
	uint32_t c = depend_channel(p->g, sw, differs ? (uint8_t)p->nominal[sw] : p->column[sw]);

	return c == FM_NONE || p->go[c] == FM_NONE ? FM_NONE : c;
}

/* Does the nominal path of sw arrive?  Marks it MARK_BACK or MARK_DEAD, and all
 * switches on the way. */
static bool
nominal_arrives(struct repair *p, fm_sw sw)
{
	struct repair_item at = { .sw = sw };
	bool ok;

	p->stack.n = 0;
	while (at.sw != p->to && !has_mark(p, at.sw, MARK_BACK) && !has_mark(p, at.sw, MARK_DEAD)) {
		uint32_t c = nominal_egress(p, at.sw);

		if (!fm_vec_push(&p->stack, at)) {
			p->out_of_memory = true;
			return false;
		}
		if (c == FM_NONE || p->stack.n > p->g->n_switches) {
			set_mark(p, at.sw, MARK_DEAD);
			break;
		}
		at.sw = p->g->to[c];
	}
	ok = at.sw == p->to || has_mark(p, at.sw, MARK_BACK);
	for (size_t i = 0; i < p->stack.n; i++)
		set_mark(p, p->stack.item[i].sw, ok ? MARK_BACK : MARK_DEAD);
	return ok;
}

/* Insert what goes through sw, now by its nominal port; before: by old_port. */
static enum depend_result
insert_through(struct repair *p, fm_sw sw, uint8_t old_port, bool *starts, bool *through)
{
	const struct depend *g = p->g;
	uint32_t c = repair_egress(p, sw), old = depend_channel(g, sw, old_port);
	uint32_t n = g->first[sw + 1] - g->first[sw];
	uint16_t all = p->sends[sw] ? depend_own_vls(g, p->fab, p->t, sw, p->lid, p->to) : 0;
	uint16_t passing = 0;

	*starts = all != 0;
	for (unsigned in = 1; in < n; in++) {
		uint32_t from = repair_sender(p, g->first[sw] + in);
		uint16_t vls = 0;

		if (from == FM_NONE)
			continue; /* as most */
		for (unsigned vl = 0; vl < g->n_vls; vl++)
			if ((old != FM_NONE && g->back[old] != FM_NONE &&
				depend_holds(g, from, old, vl)) ||
			    depend_holds(g, from, c, vl))
				vls = UINT16_MAX;
		vls = vls != 0 ? repair_vls_from(p, from) : 0;
		all |= vls;
		passing |= vls;
		for (unsigned vl = 0; vls >> vl != 0; vl++) {
			enum depend_result rc =
			    vls >> vl & 1 ? depend_insert(p->g, from, c, vl) : DEPEND_HELD;

			if (rc >= DEPEND_CYCLE)
				return rc;
		}
	}
	*through = passing != 0;
	return repair_insert_way(p, c, all);
}

/* One whose nominal path leads nowhere, were all cables there, had its entry from a lead
 * (repair_lead.c): into p->idle. */
static void
note_led(struct repair *p, fm_sw sw)
{
	const struct depend *g = p->g;
	struct repair_idle led = { .sw = sw, .was = repair_nominal(p, sw) };

	for (uint32_t n = 0; sw != p->to && n <= g->n_switches; n++) {
		bool differs = p->nominal[sw] >> 8 == p->number;
		uint32_t c =
		    depend_channel(g, sw, differs ? (uint8_t)p->nominal[sw] : p->column[sw]);

		if (c == FM_NONE || g->to[c] == FM_NONE) {
			p->out_of_memory = p->out_of_memory || !fm_vec_push(&p->idle, led);
			return;
		}
		sw = g->to[c];
	}
}

/* Those that no packets need any more have what they had. */
static void
take_back_leads(struct repair *p)
{
	if (p->idle.n == 0 || p->out_of_memory)
		return;
	repair_mark_carriers(p);
	for (size_t i = p->idle.n; i-- > 0;) {
		const struct repair_idle *led = &p->idle.item[i];

		if (repair_carries(p, led->sw))
			continue;
		repair_set(p, led->sw, led->was);
		p->dirty[p->lid] = 1;
	}
}

/* The entries of p->dev that go back, with the ports they leave: p->spots. */
static void
collect(struct repair *p)
{
	p->spots.n = p->idle.n = 0;
	for (size_t i = 0; i < p->dev.n; i++)
		p->nominal[p->dev.item[i].sw] = p->number << 8 | p->dev.item[i].port;
	for (size_t i = 0; i < p->dev.n && !p->out_of_memory; i++) {
		fm_sw sw = p->dev.item[i].sw;
		struct repair_spot s = {
			.sw = sw, .old_port = p->column[sw], .nominal = p->dev.item[i].port
		};

		if (graph_is_gone(p->fab, sw))
			continue;
		if (!nominal_arrives(p, sw)) {
			note_led(p, sw);
			continue;
		}
		s.old_depth = repair_links(p, sw);
		if (!fm_vec_push(&p->spots, s))
			p->out_of_memory = true;
	}
	repair_new_marks(p); /* lengths that are kept are those of before */
}

/* Undo all that has been tried for this LID. */
static void
stay(struct repair *p, size_t n_edges, size_t n_delta)
{
	depend_undo(p->g, n_edges);
	for (size_t i = p->spots.n; i-- > 0;)
		repair_set(p, p->spots.item[i].sw, p->spots.item[i].old_port);
	p->delta.n = n_delta;
	p->n_refused++;
}

/* Nearly always: the same length, and whoever came by the old port may go on by the
 * nominal one, all the way. */
static bool
is_as_before(const struct repair *p, const struct repair_spot *s)
{
	const struct depend *g = p->g;
	uint32_t old = depend_channel(g, s->sw, s->old_port), c = repair_egress(p, s->sw);

	return g->n_vls == 1 && s->old_depth != REPAIR_FAR && old != FM_NONE &&
	    repair_covers(g, old, c) && repair_way_is_held(p, c, s->old_depth);
}

/* *differs: packets have a longer or shorter way now, or switches one at all. */
static enum depend_result
go_back(struct repair *p, const struct repair_spot *s, bool *differs)
{
	struct repair_shift shift = { .lid = p->lid, .sw = s->sw, .from = s->old_depth };
	bool starts = false, through = false;
	enum depend_result rc;

	if (is_as_before(p, s))
		return DEPEND_HELD;
	rc = insert_through(p, s->sw, s->old_port, &starts, &through);
	if (rc >= DEPEND_CYCLE)
		return rc;
	shift.to = repair_depth(p, s->sw);
	if (p->to_switch && s->old_depth == REPAIR_FAR)
		*differs = true;
	if (shift.to == s->old_depth || (!starts && !through))
		return rc;
	if (through || s->old_depth == REPAIR_FAR)
		*differs = true;
	else if (!fm_vec_push(&p->shifts, shift))
		p->out_of_memory = true;
	return rc;
}

void
repair_back(struct repair *p)
{
	size_t n_edges = p->g->added.n, n_delta = p->delta.n, n_shifts = p->shifts.n;
	enum depend_result rc = DEPEND_HELD;
	bool differs = false;

	collect(p);
	for (size_t i = p->spots.n; i-- > 0 && !p->out_of_memory;) /* the last deviation first */
		repair_set(p, p->spots.item[i].sw, p->spots.item[i].nominal);
	if (p->deps != NULL && p->spots.n > 0 && !p->out_of_memory) {
		rc = repair_insert_lid(p, FM_NONE);
		differs = true;
	}
	for (size_t i = 0;
	     p->deps == NULL && rc < DEPEND_CYCLE && i < p->spots.n && !p->out_of_memory; i++)
		rc = go_back(p, &p->spots.item[i], &differs);
	repair_note_result(p, rc);
	if (rc >= DEPEND_CYCLE) {
		p->shifts.n = n_shifts;
		stay(p, n_edges, n_delta);
	} else if (differs)
		p->dirty[p->lid] = 1;
	if (!p->out_of_memory)
		take_back_leads(p);
}
