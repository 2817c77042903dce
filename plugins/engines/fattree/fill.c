/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of the tables.
 *
 * Up: the switches of a bundle share their parents, so all of them share one
 * *template row* in slot numbers: the modulo for every LID, but 255 where no
 * parent leads there, and the one slot where only one does.  A row is that
 * template row through the switch's own table slot -> port.
 *
 *	template row	3 4 5 0 1 255 3 ...	per bundle, LID by LID
 *	slot -> port	[17 22 - 4 9 30]	per switch; "-" is a missing cable
 *	row		 4 9 30 17 22 255 4 ...
 *
 * *Displaced* LIDs are those whose slot is a missing cable of this switch, or
 * whose slot does not lead there because of a fault farther on.  Only these
 * are chosen by load: the least used slot of those that lead there, counting
 * displaced LIDs only, starting at another slot in every switch, so that what
 * one fault displaces is spread over all that is left.
 *
 * Down: nearly always one child leads to a column; its LIDs are a few runs.
 * Parallel links to one child share by template; where several children lead
 * there, they take turns, host by host and leaf by leaf.
 *
 * A bundle with its switches is one task; tasks share nothing, so the bytes do
 * not depend on the workers.  O(table bytes + displaced LIDs).
 */
#include "plugins/engines/fattree/fattree.h"

enum { LEADS_NOWHERE, LEADS_ALL, LEADS_SOME };

struct mask {
	uint64_t w[FT_MASK_WORDS];
};

struct scratch {
	uint8_t *slot;	      /* [n_lids] the template row */
	uint8_t *leads;	      /* [n] by column: LEADS_* */
	struct mask *mask;    /* [n] by column: slots that lead there, for LEADS_SOME */
	uint16_t *displaced;  /* [n_lids] LIDs whose slot does not lead there, in column order */
	uint16_t *lost;	      /* [n_lids] LIDs whose slot is a missing cable */
	uint32_t *group_at;   /* [n] by switch: its group of the switch at hand, + 1; else 0 */
	uint64_t *some, *all; /* [words] sets of columns */
	uint64_t *done, *one; /* [words] */
	uint64_t *lower;      /* [words] */
	uint32_t n_displaced;
};

/* Least used first, by rounds: a slot is taken once before any is taken twice,
 * as far as the masks allow.  All O(1). */
struct picker {
	struct mask unused; /* in this round */
	uint32_t next;
};

struct row {
	struct ft *ft;
	struct scratch *w;
	const struct ft_bundle *b; /* NULL: no parents */
	fm_sw sw;
	uint32_t turn;	   /* differs among siblings: where displaced LIDs begin */
	uint8_t *lft;	   /* [n_lids] */
	uint8_t port[256]; /* by slot, 255 = missing cable */
	struct mask present;
	unsigned n_words;    /* of masks, that can be other than 0 */
	const uint8_t *prev; /* this row before, or NULL */
	bool has_children;   /* w->done is not empty */
};

/* memset for short runs: at most two stores overlap, no call. */
static inline void
fill_run(uint8_t *at, size_t n, uint8_t port)
{
	typedef uint8_t vec __attribute__((vector_size(16), aligned(1), may_alias));
	vec x = (vec){ 0 } + port;

	if (n < 16) {
		for (size_t i = 0; i < n; i++)
			at[i] = port;
		return;
	}
	for (size_t i = 0; i + 16 <= n; i += 16)
		*(vec *)(at + i) = x;
	*(vec *)(at + n - 16) = x;
}

static int
first_from(const struct mask *m, uint32_t from, unsigned n_words)
{
	for (unsigned i = from / 64; i < n_words; i++) {
		uint64_t word = m->w[i];

		if (i == from / 64)
			word &= ~UINT64_C(0) << (from % 64);
		if (word != 0)
			return (int)(i * 64) + __builtin_ctzll(word);
	}
	return -1;
}

static inline bool
and_masks(struct mask *out, const struct mask *a, const struct mask *b, unsigned n_words)
{
	uint64_t any = 0;

	for (unsigned i = 0; i < n_words; i++)
		any |= out->w[i] = a->w[i] & b->w[i];
	return any != 0;
}

static bool
mask_has(const struct mask *m, uint32_t slot)
{
	return (m->w[slot / 64] >> (slot % 64)) & 1;
}

static void
mask_add(struct mask *m, uint32_t slot)
{
	m->w[slot / 64] |= UINT64_C(1) << (slot % 64);
}

static uint32_t
pick_of_many(struct picker *p, const struct mask *allowed)
{
	struct mask m;
	int slot;

	if (!and_masks(&m, allowed, &p->unused, FT_MASK_WORDS)) {
		for (unsigned i = 0; i < FT_MASK_WORDS; i++)
			p->unused.w[i] |= allowed->w[i];
		m = *allowed;
	}
	slot = first_from(&m, p->next, FT_MASK_WORDS);
	if (slot < 0)
		slot = first_from(&m, 0, FT_MASK_WORDS);
	p->unused.w[slot / 64] &= ~(UINT64_C(1) << (slot % 64));
	p->next = (uint32_t)(slot + 1);
	return (uint32_t)slot;
}

/* allowed is not empty; where n_words is 1 its other words are not looked at. */
static inline uint32_t
pick(struct picker *p, const struct mask *allowed, unsigned n_words)
{
	uint64_t m, later;
	uint32_t slot;

	if (n_words > 1)
		return pick_of_many(p, allowed);
	m = allowed->w[0] & p->unused.w[0];
	if (m == 0) {
		p->unused.w[0] |= allowed->w[0];
		m = allowed->w[0];
	}
	later = m & (~UINT64_C(0) << p->next);
	slot = (uint32_t)__builtin_ctzll(later != 0 ? later : m);
	p->unused.w[0] &= ~(UINT64_C(1) << slot);
	p->next = (slot + 1) % 64;
	return slot;
}

/* ---- template row of a bundle */

/* What a neighbour offers as a next hop: columns at k hops from there. */
static const uint64_t *
offer(const struct ft *ft, struct scratch *w, fm_sw from, fm_sw to, unsigned k)
{
	const uint64_t *row;

	if (ft_is_up(ft, from, to))
		return ft_layer(ft, &ft->cost[to], k);
	row = ft_layer(ft, &ft->down[to], k);
	if (row == NULL || !ft_is_restricted(ft, from, to))
		return row;
	for (size_t j = 0; j < ft->words; j++)
		w->one[j] = row[j] & ft->demoted_cols[j];
	return w->one;
}

/* Columns that a lower one of the parents leads to (in the turned cone): the
 * upper ones must not be taken there. */
static bool
find_lower(const struct ft *ft, struct scratch *w, const struct ft_bundle *b, fm_sw from)
{
	bool any = false;

	memset(w->lower, 0, ft->words * sizeof(*w->lower));
	for (uint32_t i = 0; i < b->n_slots; i++) {
		fm_sw to = b->slots[i].to;

		if (ft_is_up(ft, from, to))
			continue;
		any = true;
		for (size_t j = 0; j < ft->words; j++)
			w->lower[j] |= ft->below[to][j] &
			    (ft_is_restricted(ft, from, to) ? ft->demoted_cols[j] : ~UINT64_C(0));
	}
	return any;
}

/* all = columns every nominal slot leads to in k hops, some = any slot. */
static void
combine_slots(const struct ft *ft, struct scratch *w, const struct ft_bundle *b, fm_sw from,
    unsigned k, bool turned)
{
	size_t words = ft->words;

	memset(w->some, 0, words * sizeof(*w->some));
	memset(w->all, 0xff, words * sizeof(*w->all));
	for (uint32_t i = 0; i < b->n_slots; i++) {
		const uint64_t *row;
		bool up = ft_is_up(ft, from, b->slots[i].to);

		if (b->slots[i].parallel > 0 && i < b->n_nominal)
			continue; /* as the first link to the same switch */
		row = offer(ft, w, from, b->slots[i].to, k);
		if (row == NULL) {
			if (i < b->n_nominal)
				memset(w->all, 0, words * sizeof(*w->all));
			continue;
		}
		for (size_t j = 0; j < words; j++) {
			uint64_t x = turned && up ? row[j] & ~w->lower[j] : row[j];

			w->some[j] |= x;
			w->all[j] &= i < b->n_nominal ? x : ~UINT64_C(0);
		}
	}
}

/* Which slots lead to each column: leads[], mask[]. */
static void
find_leads(const struct ft *ft, struct scratch *w, const struct ft_bundle *b, fm_sw from)
{
	bool turned = find_lower(ft, w, b, from);
	uint64_t present = 0;

	memset(w->leads, LEADS_NOWHERE, ft->n);
	memset(w->done, 0, ft->words * sizeof(*w->done));
	for (uint32_t i = 0; i < b->n_slots; i++)
		present |= ft->cost[b->slots[i].to].present | ft->down[b->slots[i].to].present;
	for (; present != 0; present &= present - 1) {
		unsigned k = (unsigned)__builtin_ctzll(present);

		combine_slots(ft, w, b, from, k, turned);
		for (size_t j = 0; j < ft->words; j++) {
			w->some[j] &= ~w->done[j];
			w->done[j] |= w->some[j];
			w->all[j] &= w->some[j];
		}
		FT_EACH_BIT (c, w->some, ft->words) {
			bool all = (w->all[c / 64] >> (c % 64)) & 1;

			w->leads[c] = all ? LEADS_ALL : LEADS_SOME;
			if (!all)
				w->mask[c] = (struct mask){ { 0 } };
		}
		for (size_t j = 0; j < ft->words; j++)
			w->some[j] &= ~w->all[j];
		for (uint32_t i = 0; i < b->n_slots; i++) {
			const uint64_t *row = offer(ft, w, from, b->slots[i].to, k);
			bool up = ft_is_up(ft, from, b->slots[i].to);

			if (row == NULL)
				continue;
			for (size_t j = 0; j < ft->words; j++)
				w->all[j] = w->some[j] & row[j] &
				    (turned && up ? ~w->lower[j] : ~UINT64_C(0));
			FT_EACH_BIT (c, w->all, ft->words)
				mask_add(&w->mask[c], i);
		}
	}
}

/* The one slot in m, or -1 when there are more. */
static int
only_slot(const struct mask *m)
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
place_column(const struct ft *ft, struct scratch *w, uint32_t c)
{
	int only = w->leads[c] == LEADS_SOME ? only_slot(&w->mask[c]) : -1;

	for (uint32_t r = ft->col_run[c]; r < ft->col_run[c + 1]; r++) {
		uint32_t lid = ft->runs[r].lid, end = lid + ft->runs[r].n;

		if (w->leads[c] == LEADS_NOWHERE) {
			fill_run(w->slot + lid, end - lid, 255);
		} else if (only >= 0) {
			fill_run(w->slot + lid, end - lid, (uint8_t)only);
		} else {
			for (; lid < end; lid++) {
				if (mask_has(&w->mask[c], w->slot[lid]))
					continue;
				w->slot[lid] = 255;
				w->displaced[w->n_displaced++] = (uint16_t)lid;
			}
		}
	}
}

static void
make_template_row(const struct ft *ft, struct scratch *w, const struct ft_bundle *b)
{
	const uint8_t *nominal = ft_template(ft, b->divider, b->n_nominal);

	if (nominal != NULL)
		memcpy(w->slot, nominal, ft->n_lids);
	else
		for (size_t lid = 0; lid < ft->n_lids; lid++)
			w->slot[lid] = (uint8_t)(ft->number[lid] / b->divider % b->n_nominal);
	for (size_t lid = 0; lid < ft->n_lids; lid++)
		if (ft->lid_col[lid] == FM_NONE)
			w->slot[lid] = 255; /* nobody's: LID 0, gaps */
	find_leads(ft, w, b, b->users[0]);
	w->n_displaced = 0;
	for (uint32_t c = 0; c < ft->n; c++)
		if (w->leads[c] != LEADS_ALL)
			place_column(ft, w, c);
}

/* ---- rows: up */

static void
find_ports(struct row *r)
{
	const struct ft *ft = r->ft;
	struct scratch *w = r->w;

	memset(r->port, FM_PORT_NONE, sizeof(r->port));
	r->present = (struct mask){ { 0 } };
	r->n_words = (r->b->n_slots + 63) / 64;
	FT_EACH_GROUP (ft, g, r->sw)
		w->group_at[g->to] = (uint32_t)(g - ft->groups) + 1;
	for (uint32_t i = 0; i < r->b->n_slots; i++) {
		uint32_t at = w->group_at[r->b->slots[i].to];
		const struct ft_group *g = at > 0 ? &ft->groups[at - 1] : NULL;

		if (g == NULL || r->b->slots[i].parallel >= g->n)
			continue;
		r->port[i] = ft->fab->link_port[g->first + r->b->slots[i].parallel];
		mask_add(&r->present, i);
	}
	FT_EACH_GROUP (ft, g, r->sw)
		w->group_at[g->to] = 0;
}

/* Slots of this very switch that lead to column c at the least cost: asked
 * only where all slots of the template row are missing cables. */
static bool
exact_mask(const struct row *r, uint32_t c, struct mask *out)
{
	const struct ft *ft = r->ft;
	bool below = (ft->below[r->sw][c / 64] >> (c % 64)) & 1, any = false;

	*out = (struct mask){ { 0 } };
	for (unsigned k = 1; k < FT_MAX_COST; k++) {
		const uint64_t *here = ft_layer(ft, &ft->cost[r->sw], k);

		if (here == NULL || ((here[c / 64] >> (c % 64)) & 1) == 0)
			continue;
		for (uint32_t i = 0; i < r->b->n_slots; i++) {
			fm_sw to = r->b->slots[i].to;
			const uint64_t *row = offer(ft, r->w, r->sw, to, k - 1);

			if (row == NULL || !mask_has(&r->present, i) ||
			    ft_is_up(ft, r->sw, to) == below ||
			    ((row[c / 64] >> (c % 64)) & 1) == 0)
				continue;
			mask_add(out, i);
			any = true;
		}
		return any;
	}
	return false;
}

/* The slot this LID had before, if it may have it again. */
static bool
keep_slot(struct row *r, struct picker *p, uint16_t lid, const struct mask *allowed)
{
	if (r->prev[lid] == FM_PORT_NONE)
		return false;
	for (uint32_t slot = 0; slot < r->b->n_slots; slot++)
		if (r->port[slot] == r->prev[lid] && mask_has(allowed, slot)) {
			p->unused.w[slot / 64] &= ~(UINT64_C(1) << (slot % 64));
			r->lft[lid] = r->port[slot];
			return true;
		}
	return false;
}

static void
place_displaced(struct row *r, struct picker *picker, const uint16_t *lids, size_t n)
{
	const uint32_t *lid_col = r->ft->lid_col;
	const struct scratch *w = r->w;
	struct picker p = *picker;

	for (size_t i = 0; i < n; i++) {
		uint16_t lid = lids[i];
		uint32_t c = lid_col[lid];
		struct mask some;
		const struct mask *m = &r->present;

		if (c == FM_NONE || (r->has_children && (w->done[c / 64] >> (c % 64)) & 1))
			continue; /* unused, or a child's */
		if (w->leads[c] == LEADS_SOME) {
			m = &some;
			if (!and_masks(&some, &w->mask[c], &r->present, r->n_words) &&
			    !exact_mask(r, c, &some))
				continue;
		}
		if (r->prev == NULL || !keep_slot(r, &p, lid, m))
			r->lft[lid] = r->port[pick(&p, m, r->n_words)];
	}
	*picker = p;
}

static void
fill_up(struct row *r)
{
	const struct ft *ft = r->ft;
	struct picker p;
	bool holes = false;
	size_t n_lost;

	find_ports(r);
	for (uint32_t i = 0; i < r->b->n_nominal; i++)
		holes |= r->port[i] == FM_PORT_NONE;
	n_lost = ft_translate(
	    r->lft, r->w->slot, ft->n_lids, r->port, r->b->n_slots, holes ? r->w->lost : NULL);
	memset(&p.unused, 0xff, sizeof(p.unused));
	p.next = r->turn % r->b->n_nominal;
	place_displaced(r, &p, r->w->displaced, r->w->n_displaced);
	place_displaced(r, &p, r->w->lost, n_lost);
}

/* ---- rows: down */

/* Columns a child may serve: sets out[range] for those it serves at least cost
 * from s, at k hops beyond it. */
static struct ft_range
child_columns(const struct ft *ft, fm_sw s, fm_sw child, unsigned k, uint64_t *out)
{
	bool up = ft_is_up(ft, s, child);
	const struct ft_layers *there = up ? &ft->cost[child] : &ft->down[child];
	const uint64_t *from = ft_layer(ft, there, k), *here = ft_layer(ft, &ft->cost[s], k + 1);
	struct ft_range range = { 0, 0 };

	if (from == NULL || here == NULL || ft->order[child] == ft->order[s])
		return range;
	range = there->range[there->index[k]];
	if (up)
		for (size_t w = range.from; w < range.to; w++)
			out[w] = from[w] & here[w] & ~ft->below[s][w];
	else
		for (size_t w = range.from; w < range.to; w++)
			out[w] = from[w] & here[w];
	return range;
}

/* Distances, as bits, at which a child may serve columns. */
static uint64_t
child_layers(const struct ft *ft, fm_sw s, fm_sw child)
{
	const struct ft_layers *there =
	    ft_is_up(ft, s, child) ? &ft->cost[child] : &ft->down[child];

	return ft->rank[child] < ft->rank[s] ? there->present & ft->cost[s].present >> 1 : 0;
}

/* done = columns served by children, some = by more than one of them. */
static bool
find_children(struct row *r)
{
	const struct ft *ft = r->ft;
	struct scratch *w = r->w;
	uint64_t several = 0;

	memset(w->done, 0, ft->words * sizeof(*w->done));
	memset(w->some, 0, ft->words * sizeof(*w->some));
	FT_EACH_GROUP (ft, g, r->sw) {
		uint64_t left = child_layers(ft, r->sw, g->to);

		for (; left != 0; left &= left - 1) {
			struct ft_range at = child_columns(
			    ft, r->sw, g->to, (unsigned)__builtin_ctzll(left), w->one);

			r->has_children |= at.to > 0;
			for (size_t j = at.from; j < at.to; j++) {
				several |= w->some[j] |= w->done[j] & w->one[j];
				w->done[j] |= w->one[j];
			}
		}
	}
	return several != 0;
}

static void
fill_child_column(struct row *r, const struct ft_group *g, const uint8_t *template, uint32_t c)
{
	const struct ft *ft = r->ft;
	const uint8_t *ports = &ft->fab->link_port[g->first];

	for (uint32_t i = ft->col_run[c]; i < ft->col_run[c + 1]; i++) {
		uint32_t lid = ft->runs[i].lid, end = lid + ft->runs[i].n;

		if (g->n == 1)
			fill_run(r->lft + lid, end - lid, ports[0]);
		else if (template != NULL)
			for (; lid < end; lid++)
				r->lft[lid] = ports[template[lid]];
		else
			for (; lid < end; lid++)
				r->lft[lid] = ports[ft->number[lid] / ft->divider[r->sw] % g->n];
	}
}

/* Column c through several children: they take turns. */
static void
fill_shared_column(struct row *r, uint32_t c)
{
	const struct ft *ft = r->ft;
	uint8_t ports[256];
	uint32_t n = 0, at;

	FT_EACH_GROUP (ft, g, r->sw) {
		uint64_t left = child_layers(ft, r->sw, g->to);
		bool leads = false;

		for (; left != 0 && !leads; left &= left - 1) {
			struct ft_range in = child_columns(
			    ft, r->sw, g->to, (unsigned)__builtin_ctzll(left), r->w->one);

			leads = c / 64 >= in.from && c / 64 < in.to &&
			    ((r->w->one[c / 64] >> (c % 64)) & 1);
		}
		for (uint32_t i = 0; leads && i < g->n && n < 256; i++)
			ports[n++] = ft->fab->link_port[g->first + i];
	}
	at = (c + ft->col_of[r->sw]) % n;
	for (uint32_t i = ft->col_run[c]; i < ft->col_run[c + 1]; i++)
		for (uint32_t j = 0; j < ft->runs[i].n; j++) {
			r->lft[ft->runs[i].lid + j] = ports[at];
			at = at + 1 < n ? at + 1 : 0;
		}
}

static void
fill_down(struct row *r, bool several)
{
	const struct ft *ft = r->ft;
	struct scratch *w = r->w;

	FT_EACH_GROUP (ft, g, r->sw) {
		uint64_t left = child_layers(ft, r->sw, g->to);
		const uint8_t *template =
		    left != 0 && g->n > 1 ? ft_template(ft, ft->divider[r->sw], g->n) : NULL;

		for (; left != 0; left &= left - 1) {
			struct ft_range at = child_columns(
			    ft, r->sw, g->to, (unsigned)__builtin_ctzll(left), w->one);

			for (uint32_t j = at.from; j < at.to; j++) {
				uint64_t word = several ? w->one[j] & ~w->some[j] : w->one[j];

				for (; word != 0; word &= word - 1)
					fill_child_column(r, g, template,
					    j * 64 + (uint32_t)__builtin_ctzll(word));
			}
		}
	}
	if (several)
		FT_EACH_BIT (c, w->some, ft->words)
			fill_shared_column(r, c);
}

static void
fill_own(struct row *r)
{
	const struct fm_fabric *fab = r->ft->fab;

	for (fm_end e = fab->sw_first_end[r->sw]; e < fab->sw_first_end[r->sw + 1]; e++) {
		uint32_t lid = fab->end_lid[e], last = lid + (1u << fab->end_lmc[e]) - 1;

		for (; lid != 0 && lid <= last && lid < r->ft->n_lids; lid++)
			r->lft[lid] = fab->end_port[e];
	}
}

static void
fill_row(struct ft *ft, struct scratch *w, const struct ft_bundle *b, fm_sw s, uint32_t turn)
{
	struct row r = { .ft = ft,
		.w = w,
		.b = b,
		.sw = s,
		.turn = turn,
		.lft = ft->out->lft[s],
		.prev = ft->prev != NULL ? ft->prev->lft[s] : NULL };
	bool several = find_children(&r);

	if (b != NULL)
		fill_up(&r);
	fill_down(&r, several);
	fill_own(&r);
}

/* ---- tasks */

static struct scratch *
scratch_of(struct ft *ft, unsigned worker)
{
	const struct fm_host *host = ft->host;
	size_t set = ft->words * sizeof(uint64_t);
	struct scratch *w = ft->worker[worker];
	uint64_t *sets;

	if (w != NULL)
		return w;
	w = host->scratch_worker(host, worker, sizeof(*w));
	sets = host->scratch_worker(host, worker, 5 * set);
	if (w == NULL || sets == NULL)
		goto none;
	w->slot = host->scratch_worker(host, worker, ft->n_lids);
	w->leads = host->scratch_worker(host, worker, ft->n);
	w->mask = host->scratch_worker(host, worker, ft->n * sizeof(*w->mask));
	w->displaced = host->scratch_worker(host, worker, ft->n_lids * sizeof(*w->displaced));
	w->lost = host->scratch_worker(host, worker, ft->n_lids * sizeof(*w->lost));
	w->group_at = host->scratch_worker(host, worker, ft->n * sizeof(*w->group_at));
	if (!w->slot || !w->leads || !w->mask || !w->displaced || !w->lost || !w->group_at)
		goto none;
	w->some = sets;
	w->all = sets + ft->words;
	w->done = sets + 2 * ft->words;
	w->one = sets + 3 * ft->words;
	w->lower = sets + 4 * ft->words;
	ft->worker[worker] = w;
	return w;
none:
	atomic_store(&ft->no_memory, true);
	return NULL;
}

struct tasks {
	struct ft *ft;
	fm_sw *tops; /* switches without parents */
};

static void
run_task(void *arg, uint32_t i, unsigned worker)
{
	struct tasks *t = arg;
	struct ft *ft = t->ft;
	struct scratch *w = scratch_of(ft, worker);

	if (w == NULL || ft->host->should_stop(ft->host))
		return;
	if (i >= ft->n_bundles) {
		fill_row(ft, w, NULL, t->tops[i - ft->n_bundles], 0);
		return;
	}
	make_template_row(ft, w, &ft->bundles[i]);
	for (uint32_t u = 0; u < ft->bundles[i].n_users; u++)
		fill_row(ft, w, &ft->bundles[i], ft->bundles[i].users[u], i + u);
}

int
ft_fill(struct ft *ft, struct fm_error *err)
{
	struct tasks t = { .ft = ft, .tops = ft_alloc(ft, ft->n, sizeof(*t.tops)) };
	uint32_t n_tops = 0;

	ft->worker = ft_alloc(ft, ft->host->n_workers(ft->host), sizeof(*ft->worker));
	if (t.tops == NULL || ft->worker == NULL)
		return ft_out_of_memory(ft, err);
	for (fm_sw s = 0; s < ft->n; s++)
		if (ft->bundle_of[s] == FM_NONE)
			t.tops[n_tops++] = s;
	ft->host->parallel_for(ft->host, ft->n_bundles + n_tops, run_task, &t);
	if (atomic_load(&ft->no_memory))
		return ft_out_of_memory(ft, err);
	if (ft->host->should_stop(ft->host))
		return ft->host->fail(err, FM_E_CANCELLED, "stopped while filling the tables");
	return 0;
}
