/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Channel dependencies over all next hops: a packet that came by a link may go on by any of
 * the next switch's.
 *
 * Where a packet stays on one VL per link, a link's row of dependencies is that switch's set
 * of egress links: one word operation.  Else the packets on a link are kept as the set of
 * their (SL, VL), as the VL follows from the SL and the port they came in by; the sets are
 * carried from the sources on, and each step is a dependency.  (Where there is a routing
 * loop: until nothing is new.)
 *
 * The packets a switch's own ends send to destination d have SL(s,d) and, as replies to what
 * d sent, SL(d,s) for each LID of theirs.
 *
 * Time: one VL: O(1) per link taken; else that times the SLs in use.
 */
#include <string.h>

#include "core/verify/verify_follow.h"

/* One VL a link: vertices are links, rows are sets of positions. */
static void
join_rows(const struct following *f, const struct follower *w, fm_sw sw)
{
	struct judge *j = f->j;
	uint64_t slots[PORT_WORDS];
	uint32_t slot;

	memcpy(slots, slots_of(f, w, sw), f->words * sizeof(*slots));
	while (take_bit(slots, f->words, &slot)) {
		fm_link l = j->fab->sw_first_link[sw] + slot;
		const uint64_t *next = slots_of(f, w, j->fab->link_to[l]);
		size_t words = j->dep_row[l + 1] - j->dep_row[l];

		verify_graph_use(j, l, 0);
		for (size_t k = 0; k < words; k++)
			add_shared_bits(&j->dep[j->dep_row[l] + k], next[k]);
	}
}

/* -------------------------------------------------------- several VLs a link */

/* The SL, as a bit, of what the ends of sw send to lid by themselves. */
static uint16_t
forward_sls(const struct judge *j, struct tally *sums, fm_sw sw, uint16_t lid)
{
	uint8_t sl = tables_sl(j->t, sw, lid);

	if (sl >= N_SLS) {
		sums->bad_sls++;
		verify_note_clue(sums, VERIFY_VL_BUDGET, lid, sw);
	}
	return (uint16_t)(1u << (sl % N_SLS));
}

/* SLs of the replies of e to requests from row `row` of the SL tables. */
static uint16_t
reply_sls(const struct judge *j, fm_end e, uint32_t row)
{
	uint32_t lid = j->fab->end_lid[e], n = lid != 0 ? 1u << j->fab->end_lmc[e] : 0;
	uint16_t sls = 0;

	for (uint32_t i = 0; i < n; i++)
		sls |= (uint16_t)(1u << (j->t->sl[row][lid + i] % N_SLS));
	return sls;
}

/* The same for all ends of each switch. */
static void
load_replies(const struct judge *j, struct follower *w, uint32_t row)
{
	const struct fm_fabric *fab = j->fab;

	if (w->reply_row == row)
		return;
	w->reply_row = row;
	memset(w->reply_sls, 0, fab->n_switches * sizeof(*w->reply_sls));
	for (fm_end e = 0; e < fab->sw_first_end[fab->n_switches]; e++)
		if (is_source(fab, e))
			w->reply_sls[fab->end_sw[e]] |= reply_sls(j, e, row);
}

/* Packets of these SLs go from in_port of sw out by link out; true: news. */
static bool
put_on(
    const struct judge *j, struct follower *w, fm_sw sw, uint8_t in_port, fm_link out, uint16_t sls)
{
	bool news = false;

	for (unsigned left = sls; left != 0; left &= left - 1) {
		unsigned sl = (unsigned)__builtin_ctz(left);
		uint16_t vl = (uint16_t)(1u << verify_vl_at(j, sw, in_port, out, sl));

		news |= !(w->link_vls[out][sl] & vl);
		w->link_vls[out][sl] |= vl;
	}
	w->link_sls[out] |= sls;
	return news;
}

/* The same by all next hops of sw. */
static bool
put_on_all(const struct following *f, struct follower *w, fm_sw sw, uint8_t in_port, uint16_t sls)
{
	uint64_t slots[PORT_WORDS];
	bool news = false;
	uint32_t slot;

	memcpy(slots, slots_of(f, w, sw), f->words * sizeof(*slots));
	while (sls != 0 && take_bit(slots, f->words, &slot))
		news |= put_on(f->j, w, sw, in_port, f->j->fab->sw_first_link[sw] + slot, sls);
	return news;
}

/* What the ends of sw send to the set: all alike, unless VLs depend on the
 * port or one of them is the destination, which is no source for itself.  (A
 * set of several LIDs does not leave their own switch.) */
static void
inject(const struct following *f, struct follower *w, const struct lid_set *c, fm_sw sw)
{
	const struct judge *j = f->j;
	const struct fm_fabric *fab = j->fab;
	bool replies = j->req->sl_model == VERIFY_BOTH && j->t->sl_shape != FM_SL_ZERO;
	uint32_t row = j->t->sl_shape == FM_SL_BY_DLID ? 0 : c->sw;
	fm_end owner = fab->lid_end[f->lids[c->first]];
	uint64_t any = 0;
	uint16_t sls = 0;

	for (unsigned k = 0; k < f->words; k++)
		any |= slots_of(f, w, sw)[k];
	if (any == 0)
		return;
	for (uint32_t i = 0; i < c->n; i++)
		sls |= forward_sls(j, w->sums, sw, f->lids[c->first + i]);
	if (sw != c->sw && j->t->sl2vl_shape != FM_SL2VL_BY_IN_OUT) {
		if (replies) {
			load_replies(j, w, row);
			sls |= w->reply_sls[sw];
		}
		put_on_all(f, w, sw, 0, sls);
		return;
	}
	for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++)
		if (is_source(fab, e) && e != owner)
			put_on_all(
			    f, w, sw, fab->end_port[e], sls | (replies ? reply_sls(j, e, row) : 0));
}

/* The packets of SL sl on link `in` depend on the VLs they get on link `out`. */
static void
note_dep(struct judge *j, const struct follower *w, fm_link in, fm_link out, unsigned sl)
{
	const struct fm_fabric *fab = j->fab;
	fm_sw at = fab->link_to[in];
	unsigned after = verify_vl_at(j, at, fab->link_port[fab->link_rev[in]], out, sl);

	for (unsigned left = w->link_vls[in][sl]; left != 0; left &= left - 1)
		verify_graph_add(
		    j, in, (unsigned)__builtin_ctz(left), out - fab->sw_first_link[at], after);
}

/* Carry what is on a link on to all next hops behind it; true: news. */
static bool
carry(const struct following *f, struct follower *w, fm_link in)
{
	struct judge *j = f->j;
	const struct fm_fabric *fab = j->fab;
	fm_sw at = fab->link_to[in];
	uint64_t slots[PORT_WORDS];
	unsigned vls = 0;
	uint32_t slot;

	for (unsigned sls = w->link_sls[in]; sls != 0; sls &= sls - 1)
		vls |= w->link_vls[in][__builtin_ctz(sls)];
	for (; vls != 0; vls &= vls - 1)
		verify_graph_use(j, in, (unsigned)__builtin_ctz(vls));
	memcpy(slots, slots_of(f, w, at), f->words * sizeof(*slots));
	while (take_bit(slots, f->words, &slot))
		for (unsigned sls = w->link_sls[in]; sls != 0; sls &= sls - 1)
			note_dep(
			    j, w, in, fab->sw_first_link[at] + slot, (unsigned)__builtin_ctz(sls));
	return put_on_all(f, w, at, fab->link_port[fab->link_rev[in]], w->link_sls[in]);
}

/* Once over all links taken, sources first. */
static bool
carry_all(const struct following *f, struct follower *w)
{
	bool news = false;

	for (uint32_t i = w->n_carry; i-- > 0;) {
		fm_sw sw = w->order[i];
		uint64_t slots[PORT_WORDS];
		uint32_t slot;

		memcpy(slots, slots_of(f, w, sw), f->words * sizeof(*slots));
		while (take_bit(slots, f->words, &slot)) {
			fm_link l = f->j->fab->sw_first_link[sw] + slot;

			if (w->link_sls[l] != 0)
				news |= carry(f, w, l);
		}
	}
	return news;
}

static void
clear_links(const struct following *f, struct follower *w, fm_sw sw)
{
	uint64_t slots[PORT_WORDS];
	uint32_t slot;

	memcpy(slots, slots_of(f, w, sw), f->words * sizeof(*slots));
	while (take_bit(slots, f->words, &slot)) {
		fm_link l = f->j->fab->sw_first_link[sw] + slot;

		w->link_sls[l] = 0;
		memset(w->link_vls[l], 0, sizeof(w->link_vls[l]));
	}
}

void
verify_follow_deps(const struct following *f, struct follower *w, const struct lid_set *c)
{
	const struct judge *j = f->j;

	if (j->one_vl) {
		for (uint32_t i = 0; i < w->n_carry; i++)
			join_rows(f, w, w->order[i]);
		return;
	}
	for (uint32_t i = 0; i < w->n_carry; i++)
		clear_links(f, w, w->order[i]);
	for (uint32_t i = 0; i < w->n_carry; i++)
		if (j->n_sources[w->order[i]] > 0 && follow_has_pairs(j, c, w->order[i]))
			inject(f, w, c, w->order[i]);
	while (carry_all(f, w) && w->loops)
		;
}
