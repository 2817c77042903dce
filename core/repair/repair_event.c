/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What has happened, as entries that may lead nowhere now: those of dead ports,
 * found by scanning the rows of the switches at lost cables.  Once something is
 * back, all dead ports are looked at again, as well as all that a switch that is
 * back has in its row.  And which LIDs and senders are new to the tables.
 *
 * Time: the rows at the cables lost; with something back, those of all lost ones.
 */
#include <stdlib.h>
#include <string.h>

#include "core/graph/tables_vls.h"
#include "core/repair/repair_entry.h"
#include "core/repair/repair_event.h"
#include "core/repair/repair_way.h"
#include "lib/bitset.h"

void
repair_event_fini(struct repair_event *ev)
{
	fm_vec_fini(&ev->items);
	fm_vec_fini(&ev->senders);
	fm_vec_fini(&ev->deviations);
	free(ev->first);
	free(ev->sorted);
	free(ev->is_fresh);
	free(ev->concerns);
}

/* A LID counts for the loads from now on, or (-1) no longer. */
static void
count_lid(struct repair *p, uint32_t lid, int by)
{
	p->lid = (uint16_t)lid;
	repair_take_column(p);
	for (fm_sw sw = 0; sw < p->fab->n_switches; sw++) {
		uint32_t c = depend_channel(p->g, sw, p->column[sw]);

		if (c != FM_NONE)
			p->load[c] += (uint32_t)by;
	}
}

static bool
find_fresh(struct repair *p, struct repair_event *ev)
{
	if (p->same_ends)
		return true;
	for (uint32_t lid = 1; lid <= p->fab->max_lid || lid < p->st->n_served; lid++) {
		bool was = lid < p->st->n_served && p->st->served[lid];
		bool is = lid <= p->fab->max_lid && p->fab->lid_end[lid] != FM_NONE;

		if (was != is && !ev->counted)
			count_lid(p, lid, is ? 1 : -1);
		if (!is || was)
			continue;
		ev->is_fresh[lid] = 1;
		ev->has_fresh = true;
		p->dirty[lid] = 1;
	}
	for (fm_sw sw = 0; sw < p->fab->n_switches; sw++)
		if (p->sends[sw] && !p->st->sends[sw] && !fm_vec_push(&ev->senders, sw))
			return false;
	return true;
}

/* ------------------------------------------------------------ who is fresh */

/* Was host o served before, where it is, and does whatever host e of its switch sends have the VLs
 * of what it sends? */
static bool
sends_like(const struct repair *p, fm_end e, fm_end o)
{
	const struct fm_fabric *fab = p->fab;
	const struct fm_tables *t = p->t;
	uint32_t lid = fab->end_lid[o], n = 1u << fab->end_lmc[o], n_rows;

	if (fab->end_kind[o] == FM_END_SWITCH || fab->end_lmc[e] != fab->end_lmc[o] || lid == 0 ||
	    lid >= p->st->n_served || !p->st->served[lid] || !keep_has_column(p->k, o) ||
	    !tables_same_vls_from(fab, t, fab->end_sw[e], fab->end_port[e], fab->end_port[o]))
		return false;
	/* replies; the SL of requests is that of the switch */
	n_rows = t->sl_shape == FM_SL_BY_DLID ? 1 : fab->n_switches;
	n_rows = t->sl_shape == FM_SL_ZERO || p->g->sl_model != VERIFY_BOTH ? 0 : n_rows;
	for (uint32_t row = 0; row < n_rows; row++)
		if (memcmp(t->sl[row] + fab->end_lid[e], t->sl[row] + lid, n) != 0)
			return false;
	return true;
}

bool
repair_fresh_send_alike(const struct repair *p, const struct repair_event *ev)
{
	const struct fm_fabric *fab = p->fab;

	for (uint32_t lid = 1; lid <= fab->max_lid; lid++) {
		fm_end e = fab->lid_end[lid], o;
		fm_sw sw = e != FM_NONE ? fab->end_sw[e] : FM_NONE;

		if (!ev->is_fresh[lid] || sw == FM_NONE)
			continue;
		for (o = fab->sw_first_end[sw]; o < fab->sw_first_end[sw + 1]; o++)
			if (sends_like(p, e, o))
				break;
		if (fab->end_kind[e] == FM_END_SWITCH || o == fab->sw_first_end[sw + 1])
			return false;
	}
	return true;
}

/* ----------------------------------------------------------------- entries */

static bool
add_item(struct repair_event *ev, uint32_t lid, fm_sw sw)
{
	struct repair_item item = { .lid = (uint16_t)lid, .sw = sw };

	return fm_vec_push(&ev->items, item);
}

/* May one of eight entries be this port?  Never missed; wrongly found at times. */
static bool
is_among_eight(const uint8_t *row, uint8_t port)
{
	const uint64_t ones = UINT64_MAX / 255;
	uint64_t eight;

	memcpy(&eight, row, sizeof(eight));
	eight ^= ones * port;
	return ((eight - ones) & ~eight & ones << 7) != 0;
}

/* Entries that lead to a dead port. */
static bool
scan_row(const struct repair *p, struct repair_event *ev, uint32_t channel)
{
	fm_sw sw = p->g->at[channel];
	uint8_t port = (uint8_t)(channel - p->g->first[sw]);
	const uint8_t *row = p->t->lft[sw];

	for (uint32_t from = 1, n = p->fab->max_lid + 1u; from < n; from += 8) {
		uint32_t to = from + 8 < n ? from + 8 : n;

		if (to - from == 8 && !is_among_eight(row + from, port))
			continue;
		for (uint32_t lid = from; lid < to; lid++)
			if (row[lid] == port && graph_has_owner(p->fab, lid) &&
			    !add_item(ev, lid, sw))
				return false;
	}
	return true;
}

/* A switch that is back: whatever in its row leads nowhere by now. */
static bool
scan_switch(struct repair *p, struct repair_event *ev, fm_sw sw)
{
	for (uint32_t lid = 1; lid <= p->fab->max_lid; lid++) {
		if (!graph_has_owner(p->fab, lid))
			continue;
		if (repair_depth_of(p, sw, lid, p->fab->end_sw[p->fab->lid_end[lid]]) ==
			REPAIR_FAR &&
		    !add_item(ev, lid, sw))
			return false;
	}
	return true;
}

/* Items by LID: counted and dealt out. */
static bool
sort_items(struct repair_event *ev)
{
	uint32_t sum = 0;

	ev->first = calloc(ev->n_lids + 2, sizeof(*ev->first));
	ev->sorted = malloc((ev->items.n + 1) * sizeof(*ev->sorted));
	if (ev->first == NULL || ev->sorted == NULL)
		return false;
	for (size_t i = 0; i < ev->items.n; i++)
		ev->first[ev->items.item[i].lid + 2]++;
	for (uint32_t lid = 0; lid < ev->n_lids + 2; lid++)
		sum = ev->first[lid] += sum;
	for (size_t i = 0; i < ev->items.n; i++)
		ev->sorted[ev->first[ev->items.item[i].lid + 1]++] = ev->items.item[i].sw;
	return true;
}

/* LIDs that anything is known of, or all. */
static bool
note_lids(struct repair_event *ev)
{
	size_t n_words = FM_BITSET_WORDS(ev->n_lids) + 1;
	bool all = ev->senders.n > 0;

	ev->concerns = malloc(n_words * sizeof(*ev->concerns));
	if (ev->concerns == NULL)
		return false;
	memset(ev->concerns, all ? 0xff : 0, n_words * sizeof(*ev->concerns));
	for (size_t i = 0; i < ev->items.n; i++)
		fm_bit_set(ev->concerns, ev->items.item[i].lid);
	for (size_t i = 0; i < ev->deviations.n; i++)
		fm_bit_set(ev->concerns, ev->deviations.item[i].lid);
	for (uint32_t lid = 0; ev->has_fresh && lid < ev->n_lids; lid++)
		if (ev->is_fresh[lid])
			fm_bit_set(ev->concerns, lid);
	return true;
}

bool
repair_find_items(struct repair *p, struct repair_event *ev)
{
	const struct fm_fabric *was = &p->k->prev->snap->fab;
	bool ok = true, all;

	repair_new_marks(p);
	ok = find_fresh(p, ev);
	ev->anything_back = p->st->unsure;
	for (size_t w = 0; w < FM_BITSET_WORDS(p->g->n_channels); w++)
		ev->anything_back = ev->anything_back || (p->was_lost[w] & ~p->lost[w]) != 0;
	all = ev->anything_back || ev->has_fresh;
	FM_EACH_BIT (c, p->lost, p->g->n_channels)
		if (ok && (all || !fm_bit_test(p->was_lost, c)) &&
		    !graph_is_gone(p->fab, p->g->at[c]))
			ok = scan_row(p, ev, (uint32_t)c);
	for (fm_sw sw = 0; ok && sw < p->fab->n_switches; sw++)
		if (graph_is_gone(was, sw) && !graph_is_gone(p->fab, sw))
			ok = scan_switch(p, ev, sw);
	return ok && sort_items(ev) && note_lids(ev);
}
