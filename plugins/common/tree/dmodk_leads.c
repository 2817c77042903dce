/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The template row of a bundle: for each LID the slot that all switches of the
 * bundle would use, if they had the cable.
 *
 * It is the modulo, corrected where that slot does not lead to the column at
 * the least cost.  Which slots do is found for 512 columns at a time: sets of
 * columns count, bit by bit, how many slots lead there,
 *
 *	any  at least one slot		two    at least two
 *	lack at least one does not	(and a second one: only as "lack2")
 *
 * so that the three usual answers need no set of slots for each column: all
 * lead there, all but one, only one.
 *
 * *Displaced* LIDs are those whose slot does not lead there.  Slots are dealt
 * to them like cards from a ring: a LID takes the next card that leads there.
 * Siblings are dealt FT_DEALS different
 * ways, so that what one fault displaces is spread over all that is left.
 * O(slots * distances * columns / 512 + LIDs).
 */
#include "plugins/common/tree/dmodk_fill.h"

/* What a neighbour offers as a next hop: columns at k hops from there. */
FM_WIDE static bool
offer(const struct fm_dmodk_routes *ft, uint64_t *out, fm_sw from, fm_sw to, unsigned k,
    const uint64_t *mask)
{
	const struct ft_set *down = ft_layer(&ft->down[to], k), *below = &ft->below[to];
	const struct ft_set *up = ft_is_up(ft, from, to) ? ft_layer(ft->up[to], k) : NULL;

	if (down == NULL && up == NULL)
		return false;
	memset(out, 0, ft->words * sizeof(*out));
	if (down != NULL)
		memcpy(
		    out + down->from, down->bits, (size_t)(down->to - down->from) * sizeof(*out));
	for (size_t w = 0; mask != NULL && w < ft->words; w++)
		out[w] &= mask[w];
	for (size_t w = up != NULL ? up->from : 0; up != NULL && w < up->to; w += FT_LINE) {
		ft_vec x = *(const ft_vec *)(up->bits + (w - up->from));

		if (w >= below->from && w < below->to)
			x &= ~*(const ft_vec *)(below->bits + (w - below->from));
		*(ft_vec *)(out + w) |= x;
	}
	return true;
}

bool
ft_offers(const struct fm_dmodk_routes *ft, fm_sw from, fm_sw to, unsigned k, uint32_t c)
{
	const struct ft_set *down = ft_layer(&ft->down[to], k);
	const struct ft_set *up = ft_layer(ft->up[to], k);

	if (ft_is_up(ft, from, to))
		return (down != NULL && ft_in(down, c)) ||
		    (up != NULL && ft_in(up, c) && !ft_in(&ft->below[to], c));
	return down != NULL && ft_in(down, c) &&
	    (!ft_is_restricted(ft, from, to) || ((ft->aside_cols[c / 64] >> (c % 64)) & 1) != 0);
}

/* Columns that a lower one of the parents leads to (in the turned cone): the
 * upper ones must not be taken there. */
static bool
find_lower(
    const struct fm_dmodk_routes *ft, struct ft_scratch *w, const struct ft_bundle *b, fm_sw from)
{
	bool any = false;

	memset(w->lower, 0, ft->words * sizeof(*w->lower));
	for (uint32_t i = 0; i < b->n_slots; i++) {
		fm_sw to = b->slots[i].to;
		const struct ft_set *below = &ft->below[to];
		bool restricted = ft_is_restricted(ft, from, to);

		if (ft_is_up(ft, from, to))
			continue;
		any = true;
		for (size_t j = below->from; j < below->to; j++)
			w->lower[j] |= below->bits[j - below->from] &
			    (restricted ? ft->aside_cols[j] : ~UINT64_C(0));
	}
	return any;
}

struct counts {
	ft_vec *any, *two, *lack, *lack2; /* [lines] */
};

/* One slot more: x without the columns already done is what it leads to. */
FM_WIDE static void
count_slot(const struct fm_dmodk_routes *ft, const struct counts *n, uint64_t *x_words,
    const uint64_t *done, const uint64_t *lower)
{
	ft_vec *x = (ft_vec *)x_words;

	for (size_t j = 0; j < ft->words / FT_LINE; j++) {
		ft_vec v = x[j] & ~((const ft_vec *)done)[j];

		if (lower != NULL)
			v &= ~((const ft_vec *)lower)[j];
		x[j] = v;
		n->two[j] |= n->any[j] & v;
		n->any[j] |= v;
		n->lack2[j] |= n->lack[j] & ~v;
		n->lack[j] |= ~v;
	}
}

/* A word of columns and what slot i leads to of it. */
static inline void
mark_word(struct ft_scratch *w, uint32_t base, uint8_t i, uint64_t lacking, uint64_t alone,
    uint64_t leading)
{
	for (; lacking != 0; lacking &= lacking - 1)
		w->lacks[base + (unsigned)__builtin_ctzll(lacking)] = i;
	for (; alone != 0; alone &= alone - 1) {
		uint32_t c = base + (unsigned)__builtin_ctzll(alone);

		w->lacks[c] = FT_LACKS_OTHERS;
		w->only[c] = i;
	}
	for (; leading != 0; leading &= leading - 1)
		ft_mask_add(&w->mask[base + (unsigned)__builtin_ctzll(leading)], i);
}

/* From the counts to lacks[], only[] and mask[]; the columns of this distance
 * are done. */
static void
mark_columns(const struct fm_dmodk_routes *ft, struct ft_scratch *w, const struct ft_bundle *b,
    const struct counts *n)
{
	const uint64_t *any = (const uint64_t *)n->any, *two = (const uint64_t *)n->two;
	const uint64_t *lack = (const uint64_t *)n->lack, *lack2 = (const uint64_t *)n->lack2;

	for (uint32_t j = 0; j < ft->words; j++) {
		uint64_t one_lacks = two[j] & lack[j] & ~lack2[j], alone = any[j] & ~two[j];
		uint64_t several = two[j] & lack2[j], all = two[j] & ~lack[j];

		w->done[j] |= any[j];
		for (; all != 0; all &= all - 1)
			w->lacks[j * 64 + (unsigned)__builtin_ctzll(all)] = FT_LACKS_NONE;
		for (uint64_t left = several; left != 0; left &= left - 1) {
			uint32_t c = j * 64 + (unsigned)__builtin_ctzll(left);

			w->lacks[c] = FT_LACKS_SOME;
			w->mask[c] = (struct ft_mask){ { 0 } };
		}
		for (uint32_t i = 0; (one_lacks | alone | several) != 0 && i < b->n_slots; i++) {
			uint64_t x = w->offers[i * ft->words + j];

			mark_word(w, j * 64, (uint8_t)i, one_lacks & ~x, alone & x, several & x);
		}
	}
}

/* Which slots lead to each column: lacks[], mask[]. */
static void
find_leads(
    const struct fm_dmodk_routes *ft, struct ft_scratch *w, const struct ft_bundle *b, fm_sw from)
{
	bool turned = find_lower(ft, w, b, from);
	size_t set = ft->words * sizeof(uint64_t);
	uint64_t present = 0;
	struct counts n = { .any = (ft_vec *)w->one,
		.two = (ft_vec *)w->count,
		.lack = (ft_vec *)(w->count + ft->words),
		.lack2 = (ft_vec *)(w->count + 2 * ft->words) };

	memset(w->lacks, FT_LACKS_ALL, ft->n);
	memset(w->done, 0, set);
	w->hops = 0;
	for (uint32_t i = 0; i < b->n_slots; i++)
		present |= ft->down[b->slots[i].to].present |
		    (ft->up[b->slots[i].to] != NULL ? ft->up[b->slots[i].to]->present : 0);
	for (; present != 0; present &= present - 1) {
		unsigned k = (unsigned)__builtin_ctzll(present);

		memset(n.any, 0, set);
		memset(w->count, 0, 3 * set);
		for (uint32_t i = 0; i < b->n_slots; i++) {
			uint64_t *x = w->offers + i * ft->words;
			fm_sw to = b->slots[i].to;

			if (!offer(ft, x, from, to, k,
				ft_is_restricted(ft, from, to) ? ft->aside_cols : NULL))
				memset(x, 0, set);
			count_slot(
			    ft, &n, x, w->done, turned && ft_is_up(ft, from, to) ? w->lower : NULL);
		}
		mark_columns(ft, w, b, &n);
		if (ft->how->order == NULL) {
			memcpy(w->at_hops + k * ft->words, n.any, set);
			w->hops |= UINT64_C(1) << k;
		}
	}
}

static void
displace(struct ft_scratch *w, uint32_t lid)
{
	w->slot[lid] = FM_PORT_NONE;
	w->displaced[w->n_displaced++] = (uint16_t)lid;
}

static void
place_run(struct ft_scratch *w, uint32_t c, uint32_t lid, uint32_t end)
{
	uint8_t lacks = w->lacks[c], *at = w->slot + lid;

	switch (lacks) {
	case FT_LACKS_ALL:
		ft_fill_run(at, end - lid, FM_PORT_NONE);
		break;
	case FT_LACKS_OTHERS:
		ft_fill_run(at, end - lid, w->only[c]);
		break;
	case FT_LACKS_SOME:
		for (; lid < end; lid++)
			if (!ft_mask_has(&w->mask[c], w->slot[lid]))
				displace(w, lid);
		break;
	default:
		while ((at = memchr(at, lacks, (size_t)(w->slot + end - at))) != NULL)
			displace(w, (uint32_t)(at - w->slot));
	}
}

/* Of the first 64 slots, those that lead to column c. */
static uint64_t
leading_slots(const struct ft_scratch *w, uint32_t c)
{
	switch (w->lacks[c]) {
	case FT_LACKS_NONE:
		return ~UINT64_C(0);
	case FT_LACKS_ALL:
		return 0;
	case FT_LACKS_OTHERS:
		return w->only[c] < 64 ? UINT64_C(1) << w->only[c] : 0;
	case FT_LACKS_SOME:
		return w->mask[c].w[0];
	default:
		return w->lacks[c] < 64 ? ~(UINT64_C(1) << w->lacks[c]) : ~UINT64_C(0);
	}
}

static void
place_column(const struct fm_dmodk_routes *ft, struct ft_scratch *w, uint32_t c)
{
	w->leads[c] = leading_slots(w, c);
	if (w->lacks[c] == FT_LACKS_NONE)
		return;
	for (uint32_t r = ft->col_run[c]; r < ft->col_run[c + 1]; r++)
		place_run(w, c, ft->runs[r].lid, (uint32_t)ft->runs[r].lid + ft->runs[r].n);
}

void
ft_make_template_row(
    const struct fm_dmodk_routes *ft, struct ft_scratch *w, const struct ft_bundle *b)
{
	const uint8_t *nominal = ft_template(ft, b->divider, b->n_nominal);

	if (nominal != NULL)
		memcpy(w->slot, nominal, ft->n_lids);
	else
		ft_fill_template(ft, w->slot, b->divider, b->n_nominal);
	find_leads(ft, w, b, b->users[0]);
	w->n_displaced = 0;
	for (uint32_t c = 0; c < ft->n; c++)
		place_column(ft, w, c);
}

uint8_t
ft_use_card(struct ft_deck *d, uint32_t j)
{
	d->next = j + 1 < d->n ? j + 1 : 0;
	return d->slot[j];
}

uint8_t
ft_deal_other(struct ft_deck *d, const struct ft_scratch *w, uint32_t c)
{
	for (uint32_t i = 1; i < d->n; i++) {
		uint32_t j = d->next + i < d->n ? d->next + i : d->next + i - d->n;

		if (ft_leads(w, c, d->slot[j]))
			return ft_use_card(d, j);
	}
	return FM_PORT_NONE;
}

void
ft_deal_displaced(const struct fm_dmodk_routes *ft, struct ft_scratch *w, const struct ft_bundle *b,
    uint32_t turn)
{
	struct ft_deck d = { .n = b->n_slots };

	for (uint32_t i = 0; i < d.n; i++)
		d.slot[i] = (uint8_t)((i + turn) % d.n);
	for (uint32_t i = 0; i < w->n_displaced; i++)
		w->slot[w->displaced[i]] = ft_deal(&d, w, ft->lid_col[w->displaced[i]]);
}
