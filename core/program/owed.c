/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/program/owed.c - what switches have not taken of the last plan, before the next is made.
 *
 * The next is proven with what the switches hold.  That may be something else than the last says
 * where a switch fell silent while it was written, or where a sweep has failed on the way:
 *
 *	entries	blocks in doubt are read; those that are not the last plan's count as
 *		interrupted writing (plan_flight.installed)
 *	maps	from SLs to VLs are written, those of the last plan: it was proven with those
 *		before it.  Packets that have met these are gone a life time later.
 *
 * Who falls silent here fails the sweep, while all is as it was: the next finds another way to
 * it, or that it does not answer, and leaves it out.  Not for ever: it may be that it will not
 * say this one thing.
 */
#include "core/program/apply_internal.h"

#define TRIES_MAX 3 /* sweeps in a row that fail */

/* Does it forward by what it was last given? */
static bool
takes_part(const struct inv_node *n)
{
	return node_usable(n) && n->lft != LFT_BLANK;
}

static void
on_read(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct held_block *h = &a->s->writing.held.item[a->index];

	if (status != TXN_OK)
		return;
	h->n = 1;
	memcpy(h->bytes[0], reply + WIRE_SMP_DATA_AT, sizeof(h->bytes[0]));
}

static void
read_held(struct sweeper *s, uint32_t i)
{
	const struct held_block *h = &s->writing.held.item[i];
	struct ask *a = takes_part(inv_node(&s->inv, h->slot)) ? ask_new(s, h->slot, 0) : NULL;

	if (a == NULL)
		return;
	a->index = i;
	ask_get_at(a, WIRE_ATTR_LFT, h->block, on_read);
}

static bool
feed_owed(struct sweeper *s)
{
	while (s->run.cursor[0] < s->writing.held.n && s->run.pending < FEED_HIGH)
		read_held(s, s->run.cursor[0]++);
	while (s->run.cursor[1] < s->inv.switches.n && s->run.pending < FEED_HIGH) {
		uint32_t slot = s->inv.switches.item[s->run.cursor[1]++];

		if (inv_node(&s->inv, slot)->owes_maps && takes_part(inv_node(&s->inv, slot)))
			qos_pay(s, slot);
	}
	return s->run.cursor[0] < s->writing.held.n || s->run.cursor[1] < s->inv.switches.n;
}

void
owed_start(struct sweeper *s)
{
	sweep_enter(s, PHASE_ROUTE);
	s->run.cursor[0] = s->run.cursor[1] = 0;
	s->writing.wrote_ns = 0;
	if (s->plan != NULL && s->plan->tables != NULL)
		s->run.feed = feed_owed;
}

/* Is there a switch that takes part and has not said what it holds of entries? */
static bool
any_held_back(const struct sweeper *s)
{
	for (size_t i = 0; i < s->writing.held.n; i++) {
		const struct inv_node *n = inv_node(&s->inv, s->writing.held.item[i].slot);

		if (takes_part(n) && n->quiet)
			return true;
	}
	return false;
}

/* ... or has not taken its maps? */
static bool
any_owes_maps(struct sweeper *s)
{
	bool any = false;

	for (size_t i = 0; i < s->inv.switches.n; i++) {
		struct inv_node *n = inv_node(&s->inv, s->inv.switches.item[i]);

		if (!n->owes_maps || !takes_part(n))
			continue;
		qos_note_owed(s, s->inv.switches.item[i]);
		any = any || n->quiet;
	}
	return any;
}

bool
owed_end(struct sweeper *s)
{
	bool silent;

	if (s->plan == NULL || s->plan->tables == NULL)
		return true;
	silent = any_held_back(s);
	silent = any_owes_maps(s) || silent;
	if (s->writing.wrote_ns != 0)
		apply_note_older(s);
	if (!apply_sort_held(s)) {
		sweep_fail(s, FM_E_RESOURCE, "out of memory for what switches may hold");
		return false;
	}
	s->writing.n_owed = silent ? s->writing.n_owed + 1 : 0;
	if (!silent || s->writing.n_owed > TRIES_MAX)
		return true;
	sweeper_request(s, SWEEP_HEAVY, "switches that hold something else than they should");
	sweep_fail(s, FM_E_SYSTEM,
	    "switches that may hold something else than the last plan says do not answer; nothing "
	    "is written while they are sought once more");
	return false;
}
