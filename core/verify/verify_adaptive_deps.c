/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Channel dependencies over all alternatives: a packet that came by a link may
 * go on by any of the next switch's choices.
 *
 * Where a packet stays on one VL per link, a link's row of dependencies is that
 * switch's set of egress links: one word operation.  Else what is on a link is
 * kept as the set of (SL, VL), carried from the sources on, as verify_vl.c does;
 * as there may be several links into and out of a switch, by link.
 */
#include <string.h>

#include "core/verify/verify_adaptive.h"

/* One VL a link: vertices are links, rows are sets of positions. */
static void
join_rows(struct judge *j, const struct adaptive_walker *w, fm_sw sw)
{
	const struct fm_fabric *fab = j->fab;
	uint64_t slots[PORT_WORDS];
	uint8_t slot;

	memcpy(slots, w->slots[sw], sizeof(slots));
	while (take_port(slots, &slot)) {
		fm_link l = fab->sw_first_link[sw] + slot;
		const uint64_t *next = w->slots[fab->link_to[l]];
		size_t words = j->vl_row[l + 1] - j->vl_row[l];

		set_used(j, l, 0);
		for (size_t k = 0; k < words; k++) {
			uint64_t *row = &j->vl_dep[j->vl_row[l] + k];

			if (next[k] & ~__atomic_load_n(row, __ATOMIC_RELAXED))
				__atomic_fetch_or(row, next[k], __ATOMIC_RELAXED);
		}
	}
}

/* -------------------------------------------------------- several VLs a link */

/* Packets of these SLs go from in_port of sw out by link out; true: news. */
static bool
put_on(const struct judge *j, struct adaptive_walker *w, fm_sw sw, uint8_t in_port, fm_link out,
    uint16_t sls)
{
	bool news = false;

	for (unsigned sl = 0; sl < N_SLS; sl++) {
		uint16_t vl;

		if (!(sls >> sl & 1))
			continue;
		vl = (uint16_t)(1u << vl_at(j, sw, in_port, out, sl));
		news |= !(w->link_vls[out][sl] & vl);
		w->link_vls[out][sl] |= vl;
		w->link_sls[out] |= (uint16_t)(1u << sl);
	}
	return news;
}

/* The same by all ways out of sw. */
static bool
put_on_all(
    const struct judge *j, struct adaptive_walker *w, fm_sw sw, uint8_t in_port, uint16_t sls)
{
	uint64_t slots[PORT_WORDS];
	bool news = false;
	uint8_t slot;

	memcpy(slots, w->slots[sw], sizeof(slots));
	while (sls != 0 && take_port(slots, &slot))
		news |= put_on(j, w, sw, in_port, j->fab->sw_first_link[sw] + slot, sls);
	return news;
}

/* What the ends of sw send to the class: all alike, unless VLs depend on the
 * port or one of them is the destination, which is no source for itself.  (A
 * class of several LIDs does not leave their own switch.) */
static void
inject(
    const struct adaptive *a, struct adaptive_walker *w, const struct adaptive_class *c, fm_sw sw)
{
	const struct judge *j = a->j;
	const struct fm_fabric *fab = j->fab;
	bool replies = j->req->sl_model == VERIFY_BOTH && j->t->sl_shape != FM_SL_ZERO;
	uint32_t row = j->t->sl_shape == FM_SL_BY_DLID ? 0 : c->sw;
	fm_end owner = fab->lid_end[a->lids[c->first]];
	uint16_t sls = 0;

	if ((w->slots[sw][0] | w->slots[sw][1] | w->slots[sw][2] | w->slots[sw][3]) == 0)
		return;
	for (uint32_t i = 0; i < c->n; i++)
		sls |= verify_vl_forward_sls(j, w->sums, sw, a->lids[c->first + i]);
	if (sw != c->sw && j->t->sl2vl_shape != FM_SL2VL_BY_IN_OUT) {
		if (replies) {
			verify_vl_load_replies(j, w->sums, row);
			sls |= w->sums->reply_sls[sw];
		}
		put_on_all(j, w, sw, 0, sls);
		return;
	}
	for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++)
		if (is_source(fab, e) && e != owner)
			put_on_all(j, w, sw, fab->end_port[e],
			    sls | (replies ? verify_vl_reply_sls(j, e, row) : 0));
}

/* The packets of SL sl on link `in` depend on the VLs they get on link `out`. */
static void
note_dep(struct judge *j, const struct adaptive_walker *w, fm_link in, fm_link out, unsigned sl)
{
	const struct fm_fabric *fab = j->fab;
	fm_sw at = fab->link_to[in];
	size_t words = (j->vl_row[in + 1] - j->vl_row[in]) / j->n_vls;
	unsigned vl_out = vl_at(j, at, fab->link_port[fab->link_rev[in]], out, sl);
	size_t bit = (size_t)(out - fab->sw_first_link[at]) * j->n_vls + vl_out;

	for (unsigned vl = 0; vl < j->n_vls; vl++)
		if (w->link_vls[in][sl] >> vl & 1)
			set_shared_bit(j->vl_dep + j->vl_row[in] + vl * words, bit);
}

/* Carry what is on a link on to all choices behind it; true: news. */
static bool
carry(struct judge *j, struct adaptive_walker *w, fm_link in)
{
	const struct fm_fabric *fab = j->fab;
	fm_sw at = fab->link_to[in];
	uint64_t slots[PORT_WORDS];
	uint8_t slot;

	for (unsigned sl = 0; sl < N_SLS; sl++)
		for (unsigned vl = 0; vl < j->n_vls; vl++)
			if (w->link_vls[in][sl] >> vl & 1)
				set_used(j, in, vl);
	memcpy(slots, w->slots[at], sizeof(slots));
	while (take_port(slots, &slot))
		for (unsigned sl = 0; sl < N_SLS; sl++)
			if (w->link_sls[in] >> sl & 1)
				note_dep(j, w, in, fab->sw_first_link[at] + slot, sl);
	return put_on_all(j, w, at, fab->link_port[fab->link_rev[in]], w->link_sls[in]);
}

/* Once over all links taken, sources first. */
static bool
carry_all(struct judge *j, struct adaptive_walker *w)
{
	bool news = false;

	for (uint32_t i = w->n_carry; i-- > 0;) {
		fm_sw sw = w->order[i];
		uint64_t slots[PORT_WORDS];
		uint8_t slot;

		memcpy(slots, w->slots[sw], sizeof(slots));
		while (take_port(slots, &slot)) {
			fm_link l = j->fab->sw_first_link[sw] + slot;

			if (w->link_sls[l] != 0)
				news |= carry(j, w, l);
		}
	}
	return news;
}

static void
clear_links(const struct judge *j, struct adaptive_walker *w, fm_sw sw)
{
	uint64_t slots[PORT_WORDS];
	uint8_t slot;

	memcpy(slots, w->slots[sw], sizeof(slots));
	while (take_port(slots, &slot)) {
		fm_link l = j->fab->sw_first_link[sw] + slot;

		w->link_sls[l] = 0;
		memset(w->link_vls[l], 0, sizeof(w->link_vls[l]));
	}
}

void
verify_adaptive_deps(
    const struct adaptive *a, struct adaptive_walker *w, const struct adaptive_class *c)
{
	struct judge *j = a->j;

	if (j->one_vl) {
		for (uint32_t i = 0; i < w->n_carry; i++)
			join_rows(j, w, w->order[i]);
		return;
	}
	for (uint32_t i = 0; i < w->n_carry; i++)
		clear_links(j, w, w->order[i]);
	for (uint32_t i = 0; i < w->n_carry; i++)
		if (j->n_sources[w->order[i]] > 0 && adaptive_has_pairs(j, c, w->order[i]))
			inject(a, w, c, w->order[i]);
	while (carry_all(j, w) && w->loops)
		;
}
