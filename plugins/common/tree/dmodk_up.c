/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of switches with parents: the template row through the switch's own
 * table slot -> port.
 *
 *	template row	3 4 5 0 1 255 3 ...	per bundle, LID by LID
 *	slot -> port	[17 22 - 4 9 30]	per switch; "-" is a missing cable
 *	row		 4 9 30 17 22 255 4 ...
 *
 * LIDs whose slot is a missing cable here are *lost*: the slots that have a
 * cable are dealt to them as leads.c does it for the bundle, beginning at
 * another one in every switch.  A few operations each: a few missing cables
 * displace a million entries of a large fabric.
 */
#include "plugins/common/tree/dmodk_fill.h"

static void
find_ports(struct ft_row *r, struct ft_deck *d)
{
	const struct fm_dmodk_routes *ft = r->ft;
	const fm_link *link = &ft->slot_link[ft->slot_first[r->sw]];
	uint32_t n = r->b->n_slots, first = r->turn % r->b->n_nominal;

	memset(r->port, FM_PORT_NONE, sizeof(r->port));
	for (uint32_t i = 0; i < n; i++)
		if (link[i] != FM_NONE)
			r->port[i] = ft->fab->link_port[link[i]];
	for (uint32_t i = first; i < first + n; i++)
		if (r->port[i < n ? i : i - n] != FM_PORT_NONE)
			d->slot[d->n++] = (uint8_t)(i < n ? i : i - n);
}

/* Of the slots of the template row none has a cable here: the next card that
 * leads to column c at the least cost of this very switch, or -1. */
static int
exact_card(const struct ft_row *r, const struct ft_deck *d, uint32_t c)
{
	const struct fm_dmodk_routes *ft = r->ft;
	bool below = ft_in(&ft->below[r->sw], c);
	const struct ft_layers *here = below ? &ft->down[r->sw] : ft->up[r->sw];

	for (unsigned k = 1; k < FT_MAX_COST; k++) {
		const struct ft_set *set = ft_layer(here, k);

		if (set == NULL || !ft_in(set, c))
			continue;
		for (uint32_t i = 0; i < d->n; i++) {
			uint32_t j = d->next + i < d->n ? d->next + i : d->next + i - d->n;
			fm_sw to = r->b->slots[d->slot[j]].to;

			if ((ft_is_up(ft, r->sw, to) != below || ft->how->order == NULL) &&
			    ft_offers(ft, r->sw, to, k - 1, c))
				return (int)j;
		}
		return -1;
	}
	return -1;
}

/* What this LID had before, if its slot leads there still; else -1. */
static int
kept_slot(const struct ft_row *r, uint16_t lid, uint32_t c)
{
	uint8_t slot = r->prev[lid] != FM_PORT_NONE ? r->of_port[r->prev[lid]] : FM_PORT_NONE;

	return slot != FM_PORT_NONE && ft_leads(r->w, c, slot) ? slot : -1;
}

static void
place_slowly(struct ft_row *r, struct ft_deck *d, uint16_t lid, uint32_t c)
{
	int kept = r->prev != NULL ? kept_slot(r, lid, c) : -1, card = -1;
	uint8_t slot;

	for (uint32_t j = 0; kept >= 0 && j < d->n; j++)
		if (d->slot[j] == kept)
			card = (int)j;
	slot = card >= 0 ? ft_use_card(d, (uint32_t)card) : ft_deal(d, r->w, c);
	if (slot == FM_PORT_NONE && (card = exact_card(r, d, c)) >= 0)
		slot = ft_use_card(d, (uint32_t)card);
	r->lft[lid] = r->port[slot];
}

/* Usually the next card leads there, or the one after it. */
static void
place_lost(struct ft_row *r, struct ft_deck *d, const uint16_t *lids, size_t n)
{
	const uint16_t *lid_col = r->ft->lid_col;
	const uint64_t *leads = r->w->leads;
	const uint64_t *done = r->has_children ? r->w->done : NULL;
	bool slowly = r->prev != NULL || r->b->n_slots > 64;
	uint8_t *lft = r->lft;
	uint32_t next = 0;

	for (size_t i = 0; i < n; i++) {
		uint16_t lid = lids[i];
		uint32_t c = lid_col[lid], after = next + 1 < d->n ? next + 1 : 0;
		uint8_t slot = d->slot[next];

		if (done != NULL && (done[c / 64] >> (c % 64)) & 1)
			continue; /* a child's */
		if (((leads[c] >> (slot % 64)) & 1) == 0) {
			next = after;
			after = next + 1 < d->n ? next + 1 : 0;
			slot = d->slot[next];
		}
		if (slowly || ((leads[c] >> (slot % 64)) & 1) == 0) {
			d->next = next;
			place_slowly(r, d, lid, c);
			next = d->next;
			continue;
		}
		next = after;
		lft[lid] = r->port[slot];
	}
}

/* ---- where all sources agree on detours: by load */

/* The template by which children send LIDs up here, and the slot in it that is this switch;
 * template NULL: all LIDs pass. */
struct passing {
	const uint8_t *template;
	uint32_t n_parents, slot;
};

static struct passing
find_passing(const struct ft_row *r)
{
	const struct fm_dmodk_routes *ft = r->ft;

	FT_EACH_CHILD(ft, g, r->sw)
	{
		const struct ft_bundle *b = &ft->bundles[ft->bundle_of[g->to]];

		for (uint32_t i = 0; i < b->n_groups && i < b->n_nominal; i++)
			if (b->slots[i].to == r->sw)
				return (struct passing){ ft_template(ft, b->divider, b->n_nominal),
					b->n_groups, i };
	}
	return (struct passing){ .template = NULL };
}

/* Do the children send this LID of a host here when all cables are there? */
static bool
passes(const struct ft_row *r, const struct passing *p, uint16_t lid)
{
	return fm_is_host(r->ft->fab, r->ft->fab->lid_end[lid]) &&
	    (p->template == NULL || p->template[lid] % p->n_parents == p->slot);
}

/* The least loaded slot that leads to the LID, from another one onwards for each; what does
 * not pass takes the first. */
static uint8_t
least_loaded(const struct ft_row *r, const struct ft_deck *d, uint16_t lid, bool passing,
    const int32_t *load)
{
	uint32_t c = r->ft->lid_col[lid], at = (r->ft->number[lid] + r->sw) % d->n;
	uint8_t best = FM_PORT_NONE;

	for (uint32_t i = 0; i < d->n; i++, at = at + 1 < d->n ? at + 1 : 0) {
		uint8_t slot = d->slot[at];

		if (!ft_leads(r->w, c, slot) || (best != FM_PORT_NONE && load[slot] >= load[best]))
			continue;
		best = slot;
		if (!passing)
			break;
	}
	return best;
}

/* Loads are what slots bear beyond their share of the numbers, of LIDs that pass. */
static void
place_by_load(struct ft_row *r, struct ft_deck *d, const struct passing *p, int32_t load[256],
    const uint16_t *lids, size_t n)
{
	const struct fm_dmodk_routes *ft = r->ft;

	for (size_t i = 0; i < n; i++) {
		uint16_t lid = lids[i];
		uint32_t c = ft->lid_col[lid];
		bool passing = passes(r, p, lid);
		uint8_t slot;
		int card;

		if (r->has_children && (r->w->done[c / 64] >> (c % 64)) & 1)
			continue; /* a child's */
		slot = least_loaded(r, d, lid, passing, load);
		if (slot == FM_PORT_NONE && (card = exact_card(r, d, c)) >= 0)
			slot = ft_use_card(d, (uint32_t)card);
		load[slot] += passing;
		r->lft[lid] = r->port[slot];
	}
}

static void
place_agreed(struct ft_row *r, struct ft_deck *d, size_t n_lost)
{
	const struct fm_dmodk_routes *ft = r->ft;
	struct passing p = find_passing(r);
	int32_t load[256] = { 0 };

	if (d->n == 0 || (n_lost == 0 && r->w->n_displaced == 0))
		return;
	for (uint32_t i = 0; i < ft->n_moved; i++) {
		const struct ft_moved *m = &ft->moved[i];

		if (!passes(r, &p, m->lid))
			continue;
		load[m->number / r->b->divider % r->b->n_nominal]--;
		load[ft->number[m->lid] / r->b->divider % r->b->n_nominal]++;
	}
	place_by_load(r, d, &p, load, r->w->lost, n_lost);
	place_by_load(r, d, &p, load, r->w->displaced, r->w->n_displaced);
}

/* Displaced LIDs stay where they were before, where they may. */
static void
keep_displaced(struct ft_row *r)
{
	memset(r->of_port, FM_PORT_NONE, sizeof(r->of_port));
	for (uint32_t i = 0; i < r->b->n_slots; i++)
		if (r->port[i] != FM_PORT_NONE)
			r->of_port[r->port[i]] = (uint8_t)i;
	for (uint32_t i = 0; i < r->w->n_displaced; i++) {
		uint16_t lid = r->w->displaced[i];
		int slot = kept_slot(r, lid, r->ft->lid_col[lid]);

		if (slot >= 0)
			r->lft[lid] = r->port[slot];
	}
}

/* What is too many for a leaf's ways up goes by another of them from each leaf: so it is
 * dealt to all the ways down there.  Leaves of a pod are neighbouring columns. */
static void
place_surplus(struct ft_row *r)
{
	const struct fm_dmodk_routes *ft = r->ft;

	for (uint32_t i = 0; i < ft->n_surplus; i++) {
		uint16_t lid = ft->surplus[i].lid;
		uint32_t turn = ft->surplus[i].turn + ft->col_of[r->sw];
		uint8_t slot = (uint8_t)(turn % r->b->n_nominal);

		if (r->port[slot] != FM_PORT_NONE && ft_leads(r->w, ft->lid_col[lid], slot))
			r->lft[lid] = r->port[slot];
	}
}

void
ft_fill_up(struct ft_row *r)
{
	const struct fm_dmodk_routes *ft = r->ft;
	struct ft_deck d = { .n = 0 };
	bool holes;
	size_t n_lost;

	find_ports(r, &d);
	holes = d.n < r->b->n_slots;
	n_lost = ft_translate(
	    r->lft, r->w->slot, ft->n_lids, r->port, r->b->n_slots, holes ? r->w->lost : NULL);
	if (r->prev != NULL)
		keep_displaced(r);
	if (ft->how->agree)
		place_agreed(r, &d, n_lost);
	else if (d.n > 0)
		place_lost(r, &d, r->w->lost, n_lost);
	if (!r->has_children)
		place_surplus(r);
}
