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
 * to them like cards: a LID takes the next card that leads there and leaves
 * those before it to the next LID.  Siblings are dealt FT_DEALS different
 * ways, so that what one fault displaces is spread over all that is left.
 * O(slots * distances * columns / 512 + LIDs).
 */
#include "plugins/engines/fattree/fill.h"

/* What a neighbour offers as a next hop: columns at k hops from there. */
FT_WIDE static bool
offer(const struct ft *ft, uint64_t *out, fm_sw from, fm_sw to, unsigned k, const uint64_t *mask)
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
ft_offers(const struct ft *ft, fm_sw from, fm_sw to, unsigned k, uint32_t c)
{
	const struct ft_set *down = ft_layer(&ft->down[to], k);
	const struct ft_set *up = ft_layer(ft->up[to], k);

	if (ft_is_up(ft, from, to))
		return (down != NULL && ft_in(down, c)) ||
		    (up != NULL && ft_in(up, c) && !ft_in(&ft->below[to], c));
	return down != NULL && ft_in(down, c) &&
	    (!ft_is_restricted(ft, from, to) || ((ft->demoted_cols[c / 64] >> (c % 64)) & 1) != 0);
}

/* Columns that a lower one of the parents leads to (in the turned cone): the
 * upper ones must not be taken there. */
static bool
find_lower(const struct ft *ft, struct ft_scratch *w, const struct ft_bundle *b, fm_sw from)
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
			    (restricted ? ft->demoted_cols[j] : ~UINT64_C(0));
	}
	return any;
}

struct counts {
	ft_vec *any, *two, *lack, *lack2; /* [lines] */
};

/* One slot more: x without the columns already done is what it leads to. */
FT_WIDE static void
count_slot(const struct ft *ft, const struct counts *n, uint64_t *x_words, const uint64_t *done,
    const uint64_t *lower)
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

static void
mark_all(uint8_t *lacks, const uint64_t *set, size_t words, uint8_t what)
{
	FT_EACH_BIT (c, set, words)
		lacks[c] = what;
}

/* From the counts to lacks[] and mask[]; the columns of this distance are done. */
static void
mark_columns(const struct ft *ft, struct ft_scratch *w, const struct ft_bundle *b,
    const struct counts *n, uint64_t *rest)
{
	size_t words = ft->words;
	const uint64_t *any = (const uint64_t *)n->any, *two = (const uint64_t *)n->two;
	const uint64_t *lack = (const uint64_t *)n->lack, *lack2 = (const uint64_t *)n->lack2;

	for (size_t j = 0; j < words; j++)
		w->some[j] = any[j] & ~lack[j] & two[j];
	mark_all(w->lacks, w->some, words, FT_LACKS_NONE);
	for (size_t j = 0; j < words; j++) {
		w->done[j] |= any[j];
		w->some[j] = two[j] & lack[j] & ~lack2[j];
		rest[j] = any[j] & ~(two[j] & ~lack2[j]);
	}
	FT_EACH_BIT (c, rest, words) {
		w->lacks[c] = FT_LACKS_SOME;
		w->mask[c] = (struct ft_mask){ { 0 } };
	}
	for (size_t j = 0; j < words; j++)
		for (uint32_t i = 0; (w->some[j] | rest[j]) != 0 && i < b->n_slots; i++) {
			uint64_t x = w->offers[i * words + j];
			uint64_t lacking = w->some[j] & ~x, leading = rest[j] & x;

			for (; lacking != 0; lacking &= lacking - 1)
				w->lacks[j * 64 + (unsigned)__builtin_ctzll(lacking)] = (uint8_t)i;
			for (; leading != 0; leading &= leading - 1)
				ft_mask_add(
				    &w->mask[j * 64 + (unsigned)__builtin_ctzll(leading)], i);
		}
}

/* Which slots lead to each column: lacks[], mask[]. */
static void
find_leads(const struct ft *ft, struct ft_scratch *w, const struct ft_bundle *b, fm_sw from)
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
				ft_is_restricted(ft, from, to) ? ft->demoted_cols : NULL))
				memset(x, 0, set);
			count_slot(
			    ft, &n, x, w->done, turned && ft_is_up(ft, from, to) ? w->lower : NULL);
		}
		mark_columns(ft, w, b, &n, w->offers + b->n_slots * ft->words);
	}
}

/* The one slot in m, or -1 when there are more. */
static int
only_slot(const struct ft_mask *m)
{
	int slot = -1;

	for (unsigned i = 0; i < FT_MASK_WORDS; i++) {
		if (m->w[i] == 0)
			continue;
		if (slot >= 0 || (m->w[i] & (m->w[i] - 1)) != 0)
			return -1;
		slot = (int)(i * 64) + __builtin_ctzll(m->w[i]);
	}
	return slot;
}

static void
displace(struct ft_scratch *w, uint32_t lid)
{
	w->slot[lid] = FM_PORT_NONE;
	w->displaced[w->n_displaced++] = (uint16_t)lid;
}

static void
place_run(struct ft_scratch *w, uint32_t c, int only, uint32_t lid, uint32_t end)
{
	uint8_t lacks = w->lacks[c], *at = w->slot + lid;

	if (lacks == FT_LACKS_ALL || only >= 0) {
		ft_fill_run(at, end - lid, only >= 0 ? (uint8_t)only : FM_PORT_NONE);
	} else if (lacks == FT_LACKS_SOME) {
		for (; lid < end; lid++)
			if (!ft_mask_has(&w->mask[c], w->slot[lid]))
				displace(w, lid);
	} else {
		while ((at = memchr(at, lacks, (size_t)(w->slot + end - at))) != NULL)
			displace(w, (uint32_t)(at - w->slot));
	}
}

static void
place_column(const struct ft *ft, struct ft_scratch *w, uint32_t c)
{
	uint8_t lacks = w->lacks[c];
	int only = -1;

	w->leads[c] = ~UINT64_C(0);
	if (lacks == FT_LACKS_NONE)
		return;
	if (lacks == FT_LACKS_SOME) {
		only = only_slot(&w->mask[c]);
		w->leads[c] = w->mask[c].w[0];
	} else if (lacks == FT_LACKS_ALL) {
		w->leads[c] = 0;
	} else if (lacks < 64) {
		w->leads[c] &= ~(UINT64_C(1) << lacks);
	}
	for (uint32_t r = ft->col_run[c]; r < ft->col_run[c + 1]; r++)
		place_run(w, c, only, ft->runs[r].lid, (uint32_t)ft->runs[r].lid + ft->runs[r].n);
}

void
ft_make_template_row(const struct ft *ft, struct ft_scratch *w, const struct ft_bundle *b)
{
	const uint8_t *nominal = ft_template(ft, b->divider, b->n_nominal);

	if (nominal != NULL)
		memcpy(w->slot, nominal, ft->n_lids);
	else
		for (size_t lid = 0; lid < ft->n_lids; lid++)
			w->slot[lid] = ft->lid_col[lid] == FT_NO_COL
			    ? FM_PORT_NONE
			    : (uint8_t)(ft->number[lid] / b->divider % b->n_nominal);
	find_leads(ft, w, b, b->users[0]);
	w->n_displaced = 0;
	for (uint32_t c = 0; c < ft->n; c++)
		place_column(ft, w, c);
}

uint8_t
ft_use_card(struct ft_deck *d, uint32_t j)
{
	uint8_t slot = d->slot[j];

	while (j != d->next) {
		uint32_t before = j > 0 ? j - 1 : d->n - 1;

		d->slot[j] = d->slot[before];
		j = before;
	}
	d->slot[j] = slot;
	d->next = j + 1 < d->n ? j + 1 : 0;
	return slot;
}

uint8_t
ft_deal(struct ft_deck *d, const struct ft_scratch *w, uint32_t c)
{
	for (uint32_t i = 0; i < d->n; i++) {
		uint32_t j = d->next + i < d->n ? d->next + i : d->next + i - d->n;

		if (ft_leads(w, c, d->slot[j]))
			return ft_use_card(d, j);
	}
	return FM_PORT_NONE;
}

void
ft_deal_displaced(
    const struct ft *ft, struct ft_scratch *w, const struct ft_bundle *b, uint32_t turn)
{
	struct ft_deck d = { .n = b->n_slots };

	for (uint32_t i = 0; i < d.n; i++)
		d.slot[i] = (uint8_t)((i + turn) % d.n);
	for (uint32_t i = 0; i < w->n_displaced; i++)
		w->slot[w->displaced[i]] = ft_deal(&d, w, ft->lid_col[w->displaced[i]]);
}
