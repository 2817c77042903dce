/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Channel dependencies where packets differ in SL, or change VL on the way.
 *
 * The vertices of the dependency graph are (directed link, VL).  Which VL a
 * packet has on a link follows from its SL and the port it came in by, so
 * that all that need be known of the packets of one LID on one link is the
 * set of (SL, VL) among them.  The paths to one LID form a tree; the sets are
 * carried from its leaves to its root, and each step is a dependency.
 * (A LID with a routing loop has no tree: repeat until nothing is new.)
 *
 * The packets a switch's own ends send to destination d have SL(s,d) and, as
 * replies to what d sent, SL(d,s) for each LID of theirs.
 *
 * Time: (switch, LID) pairs with traffic times the SLs in use.
 */
#include <string.h>

#include "core/verify/verify_internal.h"

static unsigned
count_vls(const struct judge *j)
{
	const struct fm_tables *t = j->t;
	size_t n = 0;
	unsigned max = 0;

	if (t->sl2vl_shape == FM_SL2VL_MODULO)
		return t->n_vls_used < 1 ? 1 : t->n_vls_used > N_SLS ? N_SLS : t->n_vls_used;
	if (t->sl2vl_shape == FM_SL2VL_BY_OUT)
		n = (size_t)j->fab->n_links * N_SLS;
	else
		n = (size_t)t->sl2vl_first[j->fab->n_switches] * N_SLS;
	for (size_t i = 0; i < n; i++)
		max = t->sl2vl[i] > max ? t->sl2vl[i] : max;
	return max < N_SLS ? max + 1 : N_SLS;
}

bool
verify_vl_setup(struct judge *j)
{
	const struct fm_fabric *fab = j->fab;
	size_t words = 0;

	j->n_vls = j->one_vl ? 1 : count_vls(j);
	j->vl_row = malloc((fab->n_links + 1) * sizeof(*j->vl_row));
	if (j->vl_row == NULL)
		return false;
	for (fm_link l = 0; l < fab->n_links; l++) {
		fm_sw to = fab->link_to[l];
		uint32_t degree = fab->sw_first_link[to + 1] - fab->sw_first_link[to];

		j->vl_row[l] = words;
		words += j->n_vls * (((size_t)degree * j->n_vls + 63) / 64);
	}
	j->vl_row[fab->n_links] = words;
	j->vl_dep = calloc(words + 1, sizeof(*j->vl_dep));
	j->vl_used = calloc((size_t)fab->n_links * j->n_vls + 1, 1);
	for (unsigned i = 0; i < j->n_walkers; i++) {
		struct walker *w = &j->walkers[i];

		w->order = malloc((fab->n_switches + 1) * sizeof(*w->order));
		w->sl_vls = malloc((fab->n_switches + 1) * sizeof(*w->sl_vls));
		w->reply_sls = malloc((fab->n_switches + 1) * sizeof(*w->reply_sls));
		w->reply_row = FM_NONE;
		if (w->order == NULL || w->sl_vls == NULL || w->reply_sls == NULL)
			return false;
	}
	return j->vl_dep != NULL && j->vl_used != NULL;
}

uint16_t
verify_vl_forward_sls(const struct judge *j, struct walker *w, fm_sw sw, uint16_t lid)
{
	uint8_t sl = tables_sl(j->t, sw, lid);

	if (sl >= N_SLS) {
		w->bad_sls++;
		note_clue(w, VERIFY_VL_BUDGET, lid, sw);
	}
	return (uint16_t)(1u << (sl % N_SLS));
}

uint16_t
verify_vl_reply_sls(const struct judge *j, fm_end e, uint32_t row)
{
	uint32_t lid = j->fab->end_lid[e], n = lid != 0 ? 1u << j->fab->end_lmc[e] : 0;
	uint16_t sls = 0;

	for (uint32_t i = 0; i < n; i++)
		sls |= (uint16_t)(1u << (j->t->sl[row][lid + i] % N_SLS));
	return sls;
}

void
verify_vl_load_replies(const struct judge *j, struct walker *w, uint32_t row)
{
	const struct fm_fabric *fab = j->fab;

	if (w->reply_row == row)
		return;
	w->reply_row = row;
	memset(w->reply_sls, 0, fab->n_switches * sizeof(*w->reply_sls));
	for (fm_end e = 0; e < fab->sw_first_end[fab->n_switches]; e++)
		if (is_source(fab, e))
			w->reply_sls[fab->end_sw[e]] |= verify_vl_reply_sls(j, e, row);
}

/* The egress link of sw in this lane, or FM_NONE. */
static fm_link
egress(const struct judge *j, const struct walker *w, fm_sw sw, unsigned lane)
{
	const struct fm_fabric *fab = j->fab;
	uint32_t slot = w->info[(size_t)sw * LANES + lane] & SLOT_MASK;
	fm_link l = fab->sw_first_link[sw] + slot;

	return l < fab->sw_first_link[sw + 1] ? l : FM_NONE;
}

/* Packets of these SLs go from in_port of sw to out. */
static void
start(const struct judge *j, struct walker *w, fm_sw sw, uint8_t in_port, fm_link out, uint16_t sls)
{
	for (unsigned sl = 0; sl < N_SLS; sl++)
		if (sls >> sl & 1)
			w->sl_vls[sw][sl] |= (uint16_t)(1u << vl_at(j, sw, in_port, out, sl));
}

/* What the ends of sw send into out.  All alike, unless VLs depend on the
 * port or one of them is the destination, which is no source for itself. */
static void
inject(const struct judge *j, struct walker *w, fm_sw sw, const struct lane *lane, fm_link out)
{
	const struct fm_fabric *fab = j->fab;
	bool replies = j->req->sl_model == VERIFY_BOTH && j->t->sl_shape != FM_SL_ZERO;
	uint32_t row = j->t->sl_shape == FM_SL_BY_DLID ? 0 : lane->sw;
	uint16_t sls;

	if (out == FM_NONE || (sw == lane->sw && !lane->is_switch && j->n_sources[sw] == 1))
		return;
	sls = verify_vl_forward_sls(j, w, sw, lane->lid);
	if (sw != lane->sw && j->t->sl2vl_shape != FM_SL2VL_BY_IN_OUT) {
		if (replies) {
			verify_vl_load_replies(j, w, row);
			sls |= w->reply_sls[sw];
		}
		start(j, w, sw, 0, out, sls);
		return;
	}
	for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++)
		if (is_source(fab, e) && e != lane->owner)
			start(j, w, sw, fab->end_port[e], out,
			    sls | (replies ? verify_vl_reply_sls(j, e, row) : 0));
}

/* Carry the packets of SL sl from link `in` to link `out`; true: something new. */
static bool
carry_sl(struct judge *j, struct walker *w, fm_link in, fm_link out, unsigned sl, uint16_t vls)
{
	const struct fm_fabric *fab = j->fab;
	fm_sw at = fab->link_to[in];
	unsigned vl_out, slot;
	size_t words;
	bool is_new;

	for (unsigned vl = 0; vl < j->n_vls; vl++)
		if (vls >> vl & 1)
			set_used(j, in, vl);
	if (out == FM_NONE)
		return false;
	vl_out = vl_at(j, at, fab->link_port[fab->link_rev[in]], out, sl);
	slot = out - fab->sw_first_link[at];
	words = (j->vl_row[in + 1] - j->vl_row[in]) / j->n_vls;
	for (unsigned vl = 0; vl < j->n_vls; vl++)
		if (vls >> vl & 1)
			set_shared_bit(j->vl_dep + j->vl_row[in] + vl * words,
			    (size_t)slot * j->n_vls + vl_out);
	is_new = !(w->sl_vls[at][sl] >> vl_out & 1);
	w->sl_vls[at][sl] |= (uint16_t)(1u << vl_out);
	return is_new;
}

/* One walk over the tree, leaves first. */
static bool
carry_all(struct judge *j, struct walker *w, unsigned lane)
{
	bool is_new = false;

	for (uint32_t i = w->n_order; i-- > 0;) {
		fm_sw sw = w->order[i];
		fm_link in = egress(j, w, sw, lane);

		if (in == FM_NONE)
			continue;
		for (unsigned sl = 0; sl < N_SLS; sl++)
			if (w->sl_vls[sw][sl] != 0)
				is_new |= carry_sl(j, w, in,
				    egress(j, w, j->fab->link_to[in], lane), sl, w->sl_vls[sw][sl]);
	}
	return is_new;
}

void
verify_vl_lane(struct judge *j, struct walker *w, unsigned lane)
{
	for (uint32_t i = 0; i < w->n_order; i++)
		memset(w->sl_vls[w->order[i]], 0, sizeof(w->sl_vls[0]));
	for (uint32_t i = 0; i < w->n_order; i++)
		if (j->n_sources[w->order[i]] > 0)
			inject(j, w, w->order[i], &w->lane[lane], egress(j, w, w->order[i], lane));
	while (carry_all(j, w, lane) && w->lane_loops)
		;
}
