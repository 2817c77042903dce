/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Columns that children serve.
 *
 * Nearly always one child leads to a column; its LIDs are a few runs.
 * Parallel links to one child share by template; where several children lead
 * there, they take turns, host by host and leaf by leaf.
 *
 * The switches at the top have nothing but children, and those of one block
 * mostly the same ones.  So the row of one of them is kept in child numbers,
 * and the others are that row through their own table child -> port, plus what
 * differs: nothing but their own columns where the cables are the same, else
 * found as sets of columns.  O(table bytes + what differs).
 */
#include "plugins/common/tree/dmodk_fill.h"

void
ft_fill_own(struct ft_row *r)
{
	const struct fm_fabric *fab = r->ft->fab;

	for (fm_end e = fab->sw_first_end[r->sw]; e < fab->sw_first_end[r->sw + 1]; e++) {
		uint32_t lid = fab->end_lid[e], last = lid + (1u << fab->end_lmc[e]) - 1;

		for (; lid != 0 && lid <= last && lid < r->ft->n_lids; lid++)
			r->lft[lid] = fab->end_port[e];
	}
}

/* Distances, as bits, at which a child may serve columns. */
static uint64_t
child_layers(const struct fm_dmodk_routes *ft, fm_sw s, fm_sw child, bool up)
{
	uint64_t there = ft->down[child].present, here = up ? 0 : ft->down[s].present;

	if (ft->level[child] == ft->level[s])
		return 0;
	if (up) {
		there |= ft->up[child] != NULL ? ft->up[child]->present : 0;
		here = ft->up[s] != NULL ? ft->up[s]->present : 0;
	}
	return there & here >> 1;
}

/* Word or line w of a set that need not have it. */
static inline uint64_t
word_of(const struct ft_set *set, size_t w)
{
	return w >= set->from && w < set->to ? set->bits[w - set->from] : 0;
}

/* out |= from & here, outside without and, if mask is given, inside mask. */
FM_WIDE static void
add_common(struct ft_set *out, const struct ft_set *from, const struct ft_set *here,
    const struct ft_set *without, const uint64_t *mask)
{
	size_t w = from->from > here->from ? from->from : here->from;
	size_t end = from->to < here->to ? from->to : here->to;

	for (; w < end; w += FT_LINE) {
		ft_vec x = *(const ft_vec *)(from->bits + (w - from->from)) &
		    *(const ft_vec *)(here->bits + (w - here->from));

		if (without != NULL && w >= without->from && w < without->to)
			x &= ~*(const ft_vec *)(without->bits + (w - without->from));
		if (mask != NULL)
			x &= *(const ft_vec *)(mask + w);
		*(ft_vec *)(out->bits + (w - out->from)) |= x;
	}
}

/* A child with nothing below it serves itself. */
static struct ft_set
leaf_column(const struct fm_dmodk_routes *ft, fm_sw child, uint64_t *bits)
{
	uint32_t c = ft->col_of[child];
	uint16_t w = (uint16_t)(c / 64 / FT_LINE * FT_LINE);

	memset(bits, 0, FT_LINE * sizeof(*bits));
	bits[c / 64 - w] = UINT64_C(1) << (c % 64);
	return (struct ft_set){ bits, w, (uint16_t)(w + FT_LINE) };
}

/* Columns a child serves at least cost from s.  Below s these are the ones the
 * child gets down to; a child above s in the order (in the turned cone) serves
 * what s has no way down to.  bits: room for [words]. */
static struct ft_set
child_columns(const struct fm_dmodk_routes *ft, fm_sw s, fm_sw child, uint64_t *bits)
{
	bool up = ft_is_up(ft, s, child) && ft->how->order != NULL;
	uint64_t left = child_layers(ft, s, child, up);
	const struct ft_set *reach = &ft->below[child];
	struct ft_set out = { bits, up ? 0 : reach->from, up ? (uint16_t)ft->words : reach->to };
	const uint64_t *mask = ft_is_restricted(ft, s, child) ? ft->aside_cols : NULL;

	if (left == 0)
		return (struct ft_set){ bits, 0, 0 };
	if (ft->down[child].present == 1 && !up && mask == NULL)
		return leaf_column(ft, child, bits);
	memset(bits, 0, (size_t)(out.to - out.from) * sizeof(*bits));
	for (; left != 0; left &= left - 1) {
		unsigned k = (unsigned)__builtin_ctzll(left);
		const struct ft_set *down = ft_layer(&ft->down[child], k);
		const struct ft_set *beyond = up ? ft_layer(ft->up[child], k) : NULL;
		const struct ft_set *here = ft_layer(up ? ft->up[s] : &ft->down[s], k + 1);

		if (down != NULL)
			add_common(&out, down, here, NULL, mask);
		if (beyond != NULL)
			add_common(&out, beyond, here, reach, NULL);
	}
	for (size_t w = ft->below[s].from; up && w < ft->below[s].to; w++)
		bits[w] &= ~ft->below[s].bits[w - ft->below[s].from];
	return out;
}

static bool
has_all_cables(const struct ft_row *r)
{
	const struct fm_dmodk_routes *ft = r->ft;

	for (uint32_t i = ft->slot_first[r->sw]; i < ft->slot_first[r->sw + 1]; i++)
		if (ft->slot_link[i] == FM_NONE)
			return false;
	return r->b != NULL;
}

/* Where all slots have their cables, what they lead to is known for the bundle. */
static void
find_slots(const struct ft_row *r, uint64_t *parents)
{
	const struct fm_dmodk_routes *ft = r->ft;

	for (uint64_t left = r->w->hops; left != 0; left &= left - 1) {
		unsigned k = (unsigned)__builtin_ctzll(left);
		const struct ft_set *here = ft_layer(&ft->down[r->sw], k + 1);
		const uint64_t *there = r->w->at_hops + k * ft->words;

		for (uint32_t w = here != NULL ? here->from : 0; here != NULL && w < here->to; w++)
			parents[w] |= there[w] & here->bits[w - here->from];
	}
}

/* Without an order: columns that parents serve as well as children do.  They are the
 * parents', as on the way down and up again packets could wait for one another. */
static void
find_parents(const struct ft_row *r, uint64_t *room)
{
	uint64_t *parents = r->w->lower;

	memset(parents, 0, r->ft->words * sizeof(*parents));
	if (has_all_cables(r)) {
		find_slots(r, parents);
		return;
	}
	FT_EACH_PARENT(r->ft, g, r->sw)
	{
		struct ft_set set = child_columns(r->ft, r->sw, g->to, room);

		for (uint32_t w = set.from; w < set.to; w++)
			parents[w] |= set.bits[w - set.from];
	}
}

/* Another child into w->done, and w->some if one had its columns before. */
FM_WIDE static uint64_t
add_child(const struct fm_dmodk_routes *ft, struct ft_scratch *w, const struct ft_set *kid)
{
	ft_vec shared = { 0 };
	uint64_t any = 0;

	for (size_t j = kid->from; j < kid->to; j += FT_LINE) {
		ft_vec *x = (ft_vec *)(kid->bits + (j - kid->from));
		ft_vec *some = (ft_vec *)(w->some + j), *done = (ft_vec *)(w->done + j);

		if (ft->how->order == NULL)
			*x &= ~*(const ft_vec *)(w->lower + j);
		*some |= *done & *x;
		*done |= *x;
		shared |= *some;
	}
	for (unsigned j = 0; j < FT_LINE; j++)
		any |= shared[j];
	return any;
}

void
ft_find_children(struct ft_row *r)
{
	const struct fm_dmodk_routes *ft = r->ft;
	struct ft_scratch *w = r->w;
	struct ft_set *kid = w->kids;
	uint64_t *bits = w->kid_bits;
	uint64_t shared = 0;

	if (ft->first_child[r->sw] == ft->first_group[r->sw + 1])
		return;
	memset(w->done, 0, ft->words * sizeof(*w->done));
	memset(w->some, 0, ft->words * sizeof(*w->some));
	if (ft->how->order == NULL)
		find_parents(r, bits);
	FT_EACH_CHILD(ft, g, r->sw)
	{
		*kid = child_columns(ft, r->sw, g->to, bits);
		r->has_children |= kid->to > 0;
		shared |= add_child(ft, w, kid);
		bits += kid->to - kid->from;
		kid++;
	}
	r->shared = shared != 0;
}

static void
fill_child_column(struct ft_row *r, const struct ft_group *g, const uint8_t *template, uint32_t c)
{
	const struct fm_dmodk_routes *ft = r->ft;
	const uint8_t *ports = &ft->fab->link_port[g->first];

	for (uint32_t i = ft->col_run[c]; i < ft->col_run[c + 1]; i++) {
		uint32_t lid = ft->runs[i].lid, end = lid + ft->runs[i].n;

		if (g->n == 1)
			ft_fill_run(r->lft + lid, end - lid, ports[0]);
		else if (template != NULL)
			for (; lid < end; lid++)
				r->lft[lid] = ports[template[lid]];
		else
			for (; lid < end; lid++)
				r->lft[lid] = ports[ft->number[lid] / ft->divider[r->sw] % g->n];
	}
}

static bool
is_base(const struct fm_fabric *fab, uint32_t lid)
{
	return fab->end_lid[fab->lid_end[lid]] == lid;
}

/* Column c through several children: base LIDs take turns, and from theirs on the other LIDs
 * of an end. */
static void
fill_shared_column(struct ft_row *r, uint32_t c, const uint8_t *ports, uint32_t n)
{
	const struct fm_dmodk_routes *ft = r->ft;
	uint32_t at = (c + ft->col_of[r->sw]) % n, next = at;

	for (uint32_t i = ft->col_run[c]; i < ft->col_run[c + 1]; i++)
		for (uint32_t lid = ft->runs[i].lid; lid < ft->runs[i].lid + ft->runs[i].n; lid++) {
			if (!ft->has_lmc || is_base(ft->fab, lid)) {
				at = next;
				next = next + 1 < n ? next + 1 : 0;
			} else {
				at = at + 1 < n ? at + 1 : 0;
			}
			r->lft[lid] = ports[at];
		}
}

/* The ports of the children that serve column c.  alike: of these columns only those that
 * the same children serve stay. */
static uint32_t
find_servers(const struct ft_row *r, uint32_t c, uint64_t *alike, uint8_t ports[256])
{
	const struct fm_dmodk_routes *ft = r->ft;
	const struct ft_set *kid = r->w->kids;
	uint32_t n = 0;

	FT_EACH_CHILD(ft, g, r->sw)
	{
		bool serves = ft_in(kid, c);

		for (uint32_t w = c / 64; w < ft->words; w++)
			alike[w] &= serves ? word_of(kid, w) : ~word_of(kid, w);
		for (uint32_t i = 0; serves && i < g->n && n < 256; i++)
			ports[n++] = ft->fab->link_port[g->first + i];
		kid++;
	}
	return n;
}

/* Columns with the same children together: mostly all of them. */
static void
fill_shared(struct ft_row *r)
{
	uint64_t *left = r->w->some, *alike = r->w->one;
	uint32_t words = (uint32_t)r->ft->words, own = r->ft->col_of[r->sw];
	uint8_t ports[256];

	for (uint32_t c = 0; r->shared && (c = ft_next_bit(left, words, c)) < words * 64;) {
		uint32_t n;

		memcpy(alike, left, words * sizeof(*alike));
		n = find_servers(r, c, alike, ports);
		for (uint32_t w = c / 64; w < words; w++) {
			left[w] &= ~alike[w];
			for (uint64_t x = alike[w]; x != 0; x &= x - 1) {
				uint32_t at = w * 64 + (uint32_t)__builtin_ctzll(x);

				fill_shared_column(r, at == own ? r->twin : at, ports, n);
			}
		}
	}
}

/* Columns that this child alone serves, except those in known. */
static void
fill_child(struct ft_row *r, const struct ft_group *g, const struct ft_set *kid,
    const struct ft_set *known)
{
	const struct fm_dmodk_routes *ft = r->ft;
	const uint8_t *template =
	    g->n > 1 && kid->to > 0 ? ft_template(ft, ft->divider[r->sw], g->n) : NULL;

	for (uint32_t j = kid->from; j < kid->to; j++) {
		uint64_t word = kid->bits[j - kid->from] & ~r->w->some[j];

		if (known != NULL)
			word &= ~word_of(known, j);
		for (; word != 0; word &= word - 1)
			fill_child_column(r, g, template, j * 64 + (uint32_t)__builtin_ctzll(word));
	}
}

void
ft_fill_down(struct ft_row *r)
{
	const struct fm_dmodk_routes *ft = r->ft;
	const struct ft_set *kid = r->w->kids;

	FT_EACH_CHILD(ft, g, r->sw)
	fill_child(r, g, kid++, NULL);
	fill_shared(r);
}

/* ---- switches without parents */

/* The children of a block of tops, numbered; what each serves in the row kept. */
struct tops {
	struct ft_set serves[FT_MAX_SLOTS];
	uint32_t n;
};

static void
put_column(const struct fm_dmodk_routes *ft, uint8_t *row, uint32_t c, uint8_t byte)
{
	for (uint32_t i = ft->col_run[c]; i < ft->col_run[c + 1]; i++)
		ft_fill_run(row + ft->runs[i].lid, ft->runs[i].n, byte);
}

/* The row of r->sw in child numbers.  group_at: child + 1. */
static void
make_top_row(struct ft_row *r, struct tops *t)
{
	const struct fm_dmodk_routes *ft = r->ft;
	struct ft_scratch *w = r->w;
	const struct ft_set *kid = w->kids;

	ft_find_children(r);
	memset(w->slot, FM_PORT_NONE, ft->n_lids);
	FT_EACH_CHILD(ft, g, r->sw)
	{
		const struct ft_set *k = kid++;
		uint64_t *serves = w->offers + t->n * ft->words;

		if (g->n > 1 || t->n == FT_MAX_SLOTS)
			continue;
		t->serves[t->n] = (struct ft_set){ serves, k->from, k->to };
		for (uint32_t j = k->from; j < k->to; j++) {
			uint64_t word = k->bits[j - k->from] & ~w->some[j];

			serves[j - k->from] = word;
			for (; word != 0; word &= word - 1)
				put_column(ft, w->slot, j * 64 + (uint32_t)__builtin_ctzll(word),
				    (uint8_t)t->n);
		}
		w->group_at[g->to] = ++t->n;
	}
}

/* Columns the kept row gives to this child but nobody serves here. */
static void
blank_columns(struct ft_row *r, const struct ft_set *kept)
{
	for (uint32_t j = kept->from; j < kept->to; j++)
		for (uint64_t gone = kept->bits[j - kept->from] & ~r->w->done[j]; gone != 0;
		     gone &= gone - 1)
			put_column(
			    r->ft, r->lft, j * 64 + (uint32_t)__builtin_ctzll(gone), FM_PORT_NONE);
}

static void
fill_top(struct ft_row *r, const struct tops *t)
{
	const struct fm_dmodk_routes *ft = r->ft;
	struct ft_scratch *w = r->w;
	const struct ft_set *kid = w->kids;

	ft_find_children(r);
	memset(r->port, FM_PORT_NONE, sizeof(r->port));
	FT_EACH_CHILD(ft, g, r->sw)
	if (g->n == 1 && w->group_at[g->to] > 0)
		r->port[w->group_at[g->to] - 1] = ft->fab->link_port[g->first];
	ft_translate(r->lft, w->slot, ft->n_lids, r->port, t->n, NULL);
	FT_EACH_CHILD(ft, g, r->sw)
	{
		const struct ft_set *kept =
		    g->n == 1 && w->group_at[g->to] > 0 ? &t->serves[w->group_at[g->to] - 1] : NULL;

		if (kept != NULL)
			blank_columns(r, kept);
		fill_child(r, g, kid++, kept);
	}
	fill_shared(r);
	ft_fill_own(r);
}

/* Tops with the same cables: swapping them maps the fabric onto itself. */
static bool
same_cables(const struct fm_dmodk_routes *ft, fm_sw a, fm_sw b)
{
	const struct ft_group *x = &ft->groups[ft->first_group[a]];
	const struct ft_group *y = &ft->groups[ft->first_group[b]];
	uint32_t n = ft->first_group[a + 1] - ft->first_group[a];

	if (n != ft->first_group[b + 1] - ft->first_group[b] || ft->level[a] != ft->level[b] ||
	    ft->demoted[a] != ft->demoted[b])
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (x[i].to != y[i].to || x[i].n != 1 || y[i].n != 1)
			return false;
	return true;
}

/* As fill_top() where r->sw has the same cables as the switch best of the kept
 * row: they differ in the columns of the two alone, and there they mirror each
 * other. */
static void
fill_like(struct ft_row *r, const struct tops *t, fm_sw best)
{
	const struct fm_dmodk_routes *ft = r->ft;
	const uint8_t *slot = r->w->slot;
	uint32_t own = ft->col_of[r->sw];

	memset(r->port, FM_PORT_NONE, sizeof(r->port));
	FT_EACH_CHILD(ft, g, r->sw)
	r->port[r->w->group_at[g->to] - 1] = ft->fab->link_port[g->first];
	ft_translate(r->lft, slot, ft->n_lids, r->port, t->n, NULL);
	put_column(ft, r->lft, ft->col_of[best], r->port[slot[ft->runs[ft->col_run[own]].lid]]);
	put_column(ft, r->lft, own, FM_PORT_NONE);
	if (r->shared) {
		memcpy(r->w->some, r->w->some_kept, ft->words * sizeof(uint64_t));
		fill_shared(r);
	}
	ft_fill_own(r);
}

/* All its entries are in the row kept, and mirrored there. */
static bool
is_like(const struct fm_dmodk_routes *ft, fm_sw best, fm_sw sw)
{
	return sw != best && same_cables(ft, best, sw) &&
	    ft->col_run[ft->col_of[sw]] < ft->col_run[ft->col_of[sw] + 1];
}

void
ft_fill_tops(struct fm_dmodk_routes *ft, struct ft_scratch *w, const fm_sw *tops, uint32_t n)
{
	struct tops t = { .n = 0 };
	struct ft_row like = { .ft = ft, .w = w };
	fm_sw best = tops[0];
	bool whole;

	for (uint32_t i = 1; i < n; i++)
		if (ft->first_group[tops[i] + 1] - ft->first_group[tops[i]] >
		    ft->first_group[best + 1] - ft->first_group[best])
			best = tops[i];
	like.sw = best;
	make_top_row(&like, &t);
	whole = t.n == ft->first_group[best + 1] - ft->first_group[best];
	memcpy(w->some_kept, w->some, ft->words * sizeof(*w->some));
	for (uint32_t i = 0; i < n; i++) {
		struct ft_row r = { .ft = ft,
			.w = w,
			.sw = tops[i],
			.lft = ft->out->lft[tops[i]],
			.shared = like.shared,
			.twin = ft->col_of[best] };

		if (whole && is_like(ft, best, tops[i]))
			fill_like(&r, &t, best);
	}
	for (uint32_t i = 0; i < n; i++) {
		struct ft_row r = { .ft = ft, .w = w, .sw = tops[i], .lft = ft->out->lft[tops[i]] };

		if (!whole || !is_like(ft, best, tops[i]))
			fill_top(&r, &t);
	}
	FT_EACH_CHILD(ft, g, best)
	w->group_at[g->to] = 0;
}
