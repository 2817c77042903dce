/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The packets of a tile followed from all sources to the LIDs of the tile.
 *
 * For each entry, a link and the LIDs that a switch sends by it, there is a set of LIDs for each
 * state, (SL, VL): those to which packets of that state go by that link.  Levels are
 * taken from the farthest on, so that of each LID all packets that come to a switch are known when
 * its turn comes.  Then, with S the set of a state at an entry of u, to v, and T the
 * LIDs of an entry of v:
 *
 *	S & T != 0	packets of that state go on from the one link to the other
 *	S & T		is added to the set, at that entry, of the state that they have there
 *
 * Into the first sets go the LIDs to which the ends of a switch send, by SL: requests
 * under that of their destination, replies under that of the LID that they leave from.
 */
#include "core/verify/verify_path.h"

#define STEPS_AHEAD 3u /* between cells being asked for and being needed */

/* What is at a cell. */
static inline uint64_t
word_at(const struct path_states *s, bool bytes, size_t cell)
{
	return bytes ? s->cell8[cell].word : s->cell[cell].word;
}

/* The packets that have gone this way, as far as it is known here. */
static inline uint64_t
dep_at(const struct path_states *s, bool bytes, size_t cell)
{
	return bytes ? __atomic_load_n(&s->cell8[cell].dep, __ATOMIC_RELAXED)
		     : __atomic_load_n(&s->cell[cell].dep, __ATOMIC_RELAXED);
}

static inline void
note(const struct path_states *s, bool bytes, size_t cell, uint64_t state)
{
	if (bytes)
		__atomic_fetch_or(&s->cell8[cell].dep, (uint8_t)state, __ATOMIC_RELAXED);
	else
		__atomic_fetch_or(&s->cell[cell].dep, state, __ATOMIC_RELAXED);
}

/* ------------------------------------------------------------ who sends */

/* LIDs of the tile by the SL of requests from the ends of sw, to[width]. */
static void
find_requests(const struct path_judge *k, const struct path_walker *w, fm_sw sw, uint64_t *to)
{
	const struct path_states *s = &k->states;
	const struct fm_tables *t = k->j->t;
	struct path_part part[LANES];
	uint32_t n;

	memset(to, 0, s->width * sizeof(*to));
	if (t->sl_shape == FM_SL_ZERO) {
		to[0] = w->lids;
		return;
	}
	n = verify_path_split(
	    t->sl[t->sl_shape == FM_SL_BY_SW_DLID ? sw : 0] + w->base, w->lids, part);
	for (uint32_t i = 0; i < n; i++)
		to[s->bit_of[part[i].value]] = part[i].lids;
}

/* Replies of these sources, to LIDs that one row of SLs is for. */
static void
add_replies_under(const struct path_judge *k, const uint8_t *sls, uint32_t first, uint32_t end,
    uint64_t lids, uint64_t *to)
{
	for (uint32_t i = first; i < end; i++)
		for (uint32_t m = 0; m < k->source[i].n; m++)
			to[k->states.bit_of[sls[k->source[i].lid + m]]] |= lids;
}

static void
add_replies(const struct path_judge *k, const struct path_walker *w, uint32_t first, uint32_t end,
    uint64_t *to)
{
	const struct fm_tables *t = k->j->t;

	if (t->sl_shape == FM_SL_ZERO || k->j->req->sl_model != VERIFY_BOTH)
		return;
	if (t->sl_shape == FM_SL_BY_DLID) {
		add_replies_under(k, t->sl[0], first, end, w->lids, to);
		return;
	}
	for (uint32_t i = 0; i < w->n_owners; i++)
		add_replies_under(k, t->sl[w->owner[i].sw], first, end, w->owner[i].lids, to);
}

static void
find_sent(const struct path_judge *k, struct path_walker *w)
{
	const struct judge *j = k->j;

	for (uint32_t i = 0; i < j->n_source_sw; i++) {
		fm_sw sw = j->source_sw[i];
		uint64_t *to = w->sent + (size_t)sw * k->states.width;

		find_requests(k, w, sw, to);
		add_replies(k, w, k->source_first[sw], k->source_first[sw + 1], to);
	}
}

/* ------------------------------------------------------------ hop by hop */

/* The numbers that a walk depends on, which are constants in most of them. */
struct shape {
	uint32_t width, n_bits;
	bool by_in, bytes;
};

/* Packets to these LIDs, of SL i those of sent[i], go by an entry, whose sets are `set`: into
 * those of the states that the word gives them there. */
static inline __attribute__((always_inline)) void
go_by(struct shape is, const uint64_t *sent, uint64_t lids, uint64_t word, uint64_t *set)
{
	for (uint32_t i = 0; i < is.width; i++) {
		uint64_t some = sent[i] & lids;

		if (!is.by_in)
			set[i] |= some;
		for (uint32_t b = i; is.by_in && b < is.n_bits; b += is.width)
			set[b] |= some & -(word >> b & 1);
	}
}

/* Ends of sw send to these LIDs by an entry; the ports of the ends differ in SL2VL. */
static void
inject_each(const struct path_judge *k, const struct path_walker *w, fm_sw sw, uint32_t slot,
    uint64_t lids, uint64_t *set)
{
	const struct path_states *s = &k->states;
	struct shape is = { s->width, s->n_bits, true, s->bytes };
	uint64_t requests[N_SLS], sent[N_SLS];

	find_requests(k, w, sw, requests);
	for (uint32_t i = k->source_first[sw]; i < k->source_first[sw + 1]; i++) {
		memcpy(sent, requests, s->width * sizeof(*sent));
		add_replies(k, w, i, i + 1, sent);
		go_by(is, sent, lids,
		    word_at(s, s->bytes,
			s->row_first[sw] + k->source[i].port * path_row(k->j->fab, sw) + slot),
		    set);
	}
}

static inline __attribute__((always_inline)) void
inject(const struct path_judge *k, const struct path_walker *w, struct shape is, fm_sw sw,
    uint32_t slot, uint64_t lids, uint64_t *set)
{
	uint64_t word = k->inject_word[sw];

	if (k->inject_row[sw] == NO_ROW)
		return;
	if (k->inject_row[sw] == ROWS_DIFFER) {
		inject_each(k, w, sw, slot, lids, set);
		return;
	}
	if (is.by_in && word == 0)
		word = word_at(&k->states, is.bytes, (size_t)k->inject_row[sw] + slot);
	go_by(is, w->sent + (size_t)sw * is.width, lids, word, set);
}

/* Packets to these LIDs, whose sets are `set`, take a cell.  Mostly it is known already. */
static inline __attribute__((always_inline)) void
take_cell(
    const struct path_states *s, struct shape is, size_t cell, const uint64_t *set, uint64_t lids)
{
	uint64_t dep = dep_at(s, is.bytes, cell), more = 0;

	for (uint32_t b = 0; b < is.n_bits; b++)
		more |= (uint64_t)((set[b] & lids) != 0) << b;
	if ((more & ~dep) != 0)
		note(s, is.bytes, cell, more);
}

/* Packets to these LIDs have come by an entry, whose sets are `set`: on to the next. */
static inline __attribute__((always_inline)) void
go_on(const struct path_judge *k, struct path_walker *w, struct shape is,
    const struct path_entry *by, uint64_t lids, const uint64_t *set)
{
	const struct path_states *s = &k->states;
	uint64_t sls[N_SLS];

	if ((lids & w->home[by->to]) != 0) { /* all of them: they are as many hops away */
		take_cell(s, is, (size_t)by->row + path_row(k->j->fab, by->to) - 1, set, lids);
		return;
	}
	for (uint32_t i = 0; i < is.width; i++) {
		sls[i] = set[i];
		for (uint32_t b = i + is.width; b < is.n_bits; b += is.width)
			sls[i] |= set[b];
	}
	for (uint32_t e = w->first_entry[by->to]; lids != 0; e++) {
		const struct path_entry *next = &w->entry[e];
		uint64_t some = next->lids & lids;
		size_t cell = (size_t)by->row + next->slot;

		if (some == 0)
			continue;
		lids &= ~some;
		take_cell(s, is, cell, set, some);
		go_by(is, sls, some, is.by_in ? word_at(s, is.bytes, cell) : 0,
		    w->set + (size_t)e * is.n_bits);
	}
}

/* Cells lie all over the memory: ask for those of a step before they are needed. */
static inline void
fetch(const struct path_states *s, const struct path_walker *w, bool bytes,
    const struct path_step *step)
{
	for (uint32_t e = w->first_entry[step->sw]; e < w->first_entry[step->sw + 1]; e++)
		if (bytes)
			__builtin_prefetch(&s->cell8[w->entry[e].row]);
		else
			__builtin_prefetch(&s->cell[w->entry[e].row]);
}

static inline __attribute__((always_inline)) void
carry(const struct path_judge *k, struct path_walker *w, uint64_t lids, struct shape is)
{
	uint32_t first = w->first_step[2];

	for (uint32_t i = w->first_step[w->n_levels]; i-- > first;) {
		const struct path_step *step = &w->step[i];
		fm_sw sw = step->sw;

		if (i >= first + STEPS_AHEAD)
			fetch(&k->states, w, is.bytes, step - STEPS_AHEAD);
		for (uint32_t e = w->first_entry[sw]; e < w->first_entry[sw + 1]; e++) {
			const struct path_entry *by = &w->entry[e];
			uint64_t some = by->lids & step->lids & lids;
			uint64_t *set = w->set + (size_t)e * is.n_bits;

			if (some == 0)
				continue;
			inject(k, w, is, sw, by->slot, some, set);
			go_on(k, w, is, by, some, set);
		}
	}
}

/* Shapes that are met: one walk for each, so that the loops over its bits are none. */
#define SHAPE(width, n_bits) ((n_bits) * (N_SLS + 1) + (width))
#define CARRY_AS(width, n_bits, by_in) \
	carry(k, w, lids, (struct shape){ width, n_bits, by_in, (n_bits) <= 8 }); \
	break

static void
carry_by_out(const struct path_judge *k, struct path_walker *w, uint64_t lids, struct shape is)
{
	switch (is.width) {
	case 1:
		CARRY_AS(1, 1, false);
	case 2:
		CARRY_AS(2, 2, false);
	case 4:
		CARRY_AS(4, 4, false);
	case 8:
		CARRY_AS(8, 8, false);
	default:
		CARRY_AS(16, 16, false);
	}
}

static void
carry_by_in(const struct path_judge *k, struct path_walker *w, uint64_t lids, struct shape is)
{
	switch (SHAPE(is.width, is.n_bits)) {
	case SHAPE(1, 2):
		CARRY_AS(1, 2, true);
	case SHAPE(1, 3):
		CARRY_AS(1, 3, true);
	case SHAPE(2, 4):
		CARRY_AS(2, 4, true);
	case SHAPE(4, 8):
		CARRY_AS(4, 8, true);
	case SHAPE(8, 16):
		CARRY_AS(8, 16, true);
	default:
		carry(k, w, lids, is);
	}
}

void
verify_path_carry(const struct path_judge *k, struct path_walker *w, uint64_t lids)
{
	const struct path_states *s = &k->states;
	struct shape is = { s->width, s->n_bits, s->by_in, s->bytes };

	find_sent(k, w);
	memset(
	    w->set, 0, (size_t)w->first_entry[k->j->fab->n_switches] * s->n_bits * sizeof(*w->set));
	if (is.by_in)
		carry_by_in(k, w, lids, is);
	else
		carry_by_out(k, w, lids, is);
}

/* ------------------------------------------------------------ where ends send from */

static bool
are_equal_rows(const struct path_states *s, size_t a, size_t b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (word_at(s, s->bytes, a + i) != word_at(s, s->bytes, b + i))
			return false;
	return true;
}

/* The row that stands for the ports of the ends of sw that send. */
static uint32_t
find_inject_row(const struct path_judge *k, fm_sw sw)
{
	const struct path_states *s = &k->states;
	uint32_t first = k->source_first[sw], end = k->source_first[sw + 1];
	uint32_t n = path_row(k->j->fab, sw), row = s->by_in ? s->row_first[sw] : 0;

	if (first == end)
		return NO_ROW;
	for (uint32_t e = first; s->by_in && e < end; e++)
		if (!are_equal_rows(
			s, row + k->source[first].port * n, row + k->source[e].port * n, n - 1))
			return ROWS_DIFFER;
	return row + k->source[first].port * n;
}

/* What all its cells say, or 0. */
static uint64_t
word_of_row(const struct path_judge *k, fm_sw sw)
{
	const struct path_states *s = &k->states;
	uint32_t row = k->inject_row[sw];

	if (!s->by_in || row == NO_ROW || row == ROWS_DIFFER)
		return 0;
	for (uint32_t i = 1; i + 1 < path_row(k->j->fab, sw); i++)
		if (word_at(s, s->bytes, row + i) != word_at(s, s->bytes, row))
			return 0;
	return word_at(s, s->bytes, row);
}

void
verify_path_find_rows(struct path_judge *k)
{
	for (fm_sw sw = 0; sw < k->j->fab->n_switches; sw++) {
		k->inject_row[sw] = find_inject_row(k, sw);
		k->inject_word[sw] = word_of_row(k, sw);
	}
}
