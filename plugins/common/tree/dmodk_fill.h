/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fill.h - what the parts that fill rows share.
 *
 *	leads.c  the template row of a bundle
 *	up.c     from the template row to a row; displaced LIDs
 *	down.c   columns that children serve
 *	fill.c   tasks
 */
#ifndef PLUGINS_ENGINES_FATTREE_FILL_H
#define PLUGINS_ENGINES_FATTREE_FILL_H

#include "plugins/common/tree/dmodk_tree.h"

/* Ways to deal out what is displaced for a whole bundle: the fewer LIDs, the
 * less chance evens them out. */
#define FT_DEALS 8
#define FT_DEALS_OF_FEW 32
#define FT_FEW 256 /* displaced LIDs */

struct ft_mask {
	uint64_t w[FT_MASK_WORDS];
};

/* What of a bundle's slots does not lead to a column: one slot, or these. */
enum {
	FT_LACKS_NONE = 255,
	FT_LACKS_ALL = 254,
	FT_LACKS_SOME = 253,  /* see mask[] for those that lead there */
	FT_LACKS_OTHERS = 252 /* only[] leads there, alone */
};

struct ft_scratch {
	uint8_t *slot;	       /* [n_lids] the template row */
	uint8_t *lacks;	       /* [n] by column: a slot, or FT_LACKS_* */
	uint8_t *only;	       /* [n] by column, for FT_LACKS_OTHERS */
	struct ft_mask *mask;  /* [n] by column, for FT_LACKS_SOME */
	uint64_t *leads;       /* [n] by column: which of the first 64 slots lead there */
	uint16_t *displaced;   /* [n_lids] LIDs whose slot does not lead there, in column order */
	uint16_t *lost;	       /* [n_lids] LIDs whose slot is a missing cable */
	uint32_t *group_at;    /* [n] by switch: its group of the switch at hand, + 1; else 0 */
	uint64_t *offers;      /* [FT_MAX_SLOTS + 1][words] columns, by slot or child */
	struct ft_set *kids;   /* [groups of the switch at hand] columns they serve from it */
	uint64_t *kid_bits;    /* [256][words] of these, packed */
	uint64_t *some, *done; /* [words] sets of columns */
	uint64_t *one, *lower; /* [words] */
	uint64_t *count;       /* [3][words] see leads.c */
	uint32_t n_displaced;
	/* without an order: columns that slots lead to at best in k hops more, where bit k of
	 * hops is set */
	uint64_t *at_hops; /* [FT_MAX_COST][words] */
	uint64_t hops;
	uint64_t *some_kept; /* [words] of the row kept for tops */
};

/* Slots in the order in which displaced LIDs take them, as a ring. */
struct ft_deck {
	uint8_t slot[256]; /* [n] */
	uint32_t n, next;
};

struct ft_row {
	struct fm_dmodk_routes *ft;
	struct ft_scratch *w;
	const struct ft_bundle *b; /* NULL: no parents */
	fm_sw sw;
	uint32_t turn;	      /* differs among siblings: where displaced LIDs begin */
	uint8_t *lft;	      /* [n_lids] */
	uint8_t port[256];    /* by slot, 255 = missing cable */
	uint8_t of_port[256]; /* slot by port, 255 = none; only with prev */
	const uint8_t *prev;  /* this row before, or NULL */
	bool has_children;    /* w->done is not empty */
	bool shared;	      /* w->some is not empty */
	uint32_t twin;	      /* the column that its own one stands for in w->some */
};

static inline bool
ft_mask_has(const struct ft_mask *m, uint32_t slot)
{
	return (m->w[slot / 64] >> (slot % 64)) & 1;
}

static inline void
ft_mask_add(struct ft_mask *m, uint32_t slot)
{
	m->w[slot / 64] |= UINT64_C(1) << (slot % 64);
}

/* memset for short runs, n > 0: stores overlap, no call. */
static inline void
ft_fill_run(uint8_t *at, size_t n, uint8_t port)
{
	typedef uint8_t vec __attribute__((vector_size(16), aligned(1), may_alias));
	vec x = (vec){ 0 } + port;

	if (n < 4) {
		at[0] = at[n - 1] = at[n / 2] = port;
		return;
	}
	if (n < 16) {
		uint32_t four = 0x01010101u * port;

		for (size_t i = 0; i + 4 <= n; i += 4)
			memcpy(at + i, &four, 4);
		memcpy(at + n - 4, &four, 4);
		return;
	}
	for (size_t i = 0; i + 16 <= n; i += 16)
		*(vec *)(at + i) = x;
	*(vec *)(at + n - 16) = x;
}

static inline bool
ft_leads(const struct ft_scratch *w, uint32_t c, uint8_t slot)
{
	if (slot < 64)
		return (w->leads[c] >> slot) & 1;
	return w->lacks[c] != FT_LACKS_SOME ? slot != w->lacks[c] : ft_mask_has(&w->mask[c], slot);
}

/* The template row of a bundle: slot, lacks, mask, displaced of w. */
void ft_make_template_row(
    const struct fm_dmodk_routes *ft, struct ft_scratch *w, const struct ft_bundle *b);
/* Deals slots to the displaced LIDs of the template row, another way for each turn. */
void ft_deal_displaced(const struct fm_dmodk_routes *ft, struct ft_scratch *w,
    const struct ft_bundle *b, uint32_t turn);
/* As ft_deal(), where the next card does not lead there. */
uint8_t ft_deal_other(struct ft_deck *d, const struct ft_scratch *w, uint32_t c);
/* The card at j is taken, the one after it is next. */
uint8_t ft_use_card(struct ft_deck *d, uint32_t j);
/* Does from -> to serve column c in k more hops? */
bool ft_offers(const struct fm_dmodk_routes *ft, fm_sw from, fm_sw to, unsigned k, uint32_t c);
void ft_fill_up(struct ft_row *r);

/* done = columns served by children, some = by more than one of them. */
void ft_find_children(struct ft_row *r);
void ft_fill_down(struct ft_row *r);
/* The rows of switches without parents, which mostly have the same children. */
void ft_fill_tops(struct fm_dmodk_routes *ft, struct ft_scratch *w, const fm_sw *tops, uint32_t n);
void ft_fill_own(struct ft_row *r);

/* A slot for a LID of column c: the next card that leads there.  255: none does. */
static inline uint8_t
ft_deal(struct ft_deck *d, const struct ft_scratch *w, uint32_t c)
{
	uint8_t slot = d->slot[d->next];

	if (!ft_leads(w, c, slot))
		return ft_deal_other(d, w, c);
	d->next = d->next + 1 < d->n ? d->next + 1 : 0;
	return slot;
}

#endif
