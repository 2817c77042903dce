/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SLs and VLs of the packets on a link in one word.
 *
 * What a packet does next depends on its SL and the port it came in by, not on the
 * VL it had: with the set S of (SL, VL) on link a, those on the next link b are the
 * SLs of S, each on the VL that SL2VL gives it from a to b.  What (a, b) makes of all SLs is
 * a word made once.  The dependency a -> b is noted as S itself; which VLs it joins
 * is found out once at the end, for the union over all LIDs.
 *
 * Memory: a cell for each (link, next link), with SL2VL by port in for each (port in, link out).
 */
#include "core/verify/verify_path.h"
#include "lib/wide.h"

#define LINK_RUN 256u /* links per item */

struct use {
	const struct judge *j;
	struct path_states *s;
	uint32_t sls, vls; /* seen, as bits */
	bool beyond;	   /* SLs above 15 */
};

FM_WIDE static uint32_t
sls_of_row(const uint8_t *row, uint32_t n, bool *beyond)
{
	uint32_t sls = 0, all = 0;

	for (uint32_t i = 0; i < n; i++) {
		sls |= 1u << (row[i] & 15);
		all |= row[i];
	}
	*beyond = all > 15;
	return sls;
}

static void
scan_sls(void *arg, uint32_t row, unsigned worker)
{
	struct use *u = arg;
	bool beyond;
	uint32_t sls = sls_of_row(u->j->t->sl[row], u->j->fab->max_lid + 1u, &beyond);

	(void)worker;
	__atomic_fetch_or(&u->sls, sls, __ATOMIC_RELAXED);
	if (beyond)
		__atomic_store_n(&u->beyond, true, __ATOMIC_RELAXED);
}

/* SL2VL of a port in: rows by port out (FM_SL2VL_BY_IN_OUT). */
static const uint8_t *
rows_of(const struct judge *j, fm_sw sw, uint32_t in)
{
	return j->t->sl2vl +
	    (j->t->sl2vl_first[sw] + (size_t)in * (j->fab->sw_n_ports[sw] + 1u)) * N_SLS;
}

/* What a row gives to SL number i: as verify_vl_at(). */
static unsigned
vl_of(const struct use *u, const uint8_t *row, unsigned i)
{
	unsigned vl = row[u->s->sl[i]];

	return vl < u->j->n_vls ? vl : u->j->n_vls - 1;
}

/* Mostly a row is as the one before. */
static void
scan_vls(void *arg, uint32_t sw, unsigned worker)
{
	struct use *u = arg;
	const struct fm_fabric *fab = u->j->fab;
	uint32_t vls = 0;

	(void)worker;
	for (uint32_t in = 0; in <= fab->sw_n_ports[sw]; in++) {
		const uint8_t *rows = rows_of(u->j, sw, in), *last = NULL;

		for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++) {
			const uint8_t *row = rows + fab->link_port[l] * N_SLS;

			if (last != NULL && memcmp(row, last, N_SLS) == 0)
				continue;
			for (unsigned i = 0; i < u->s->width && u->s->sl[i] < N_SLS; i++)
				vls |= 1u << vl_of(u, row, i);
			last = row;
		}
	}
	__atomic_fetch_or(&u->vls, vls, __ATOMIC_RELAXED);
}

static void
number_sls(struct path_states *s, uint32_t sls)
{
	uint32_t n = 0;

	memset(s->sl, N_SLS, sizeof(s->sl));
	for (unsigned sl = 0; sl < N_SLS; sl++)
		if (sls >> sl & 1) {
			s->bit_of[sl] = (uint8_t)n;
			s->sl[n++] = (uint8_t)sl;
		}
	for (s->width = 1; s->width < n; s->width *= 2)
		;
}

static void
number_vls(struct path_states *s, uint32_t vls)
{
	s->n_planes = 0;
	for (unsigned vl = 0; vl < N_SLS; vl++)
		if (vls >> vl & 1) {
			s->plane_of[vl] = (uint8_t)s->n_planes;
			s->vl[s->n_planes++] = (uint8_t)vl;
		}
	s->n_planes = s->n_planes > 0 ? s->n_planes : 1;
}

static void
put_word(struct path_states *s, size_t cell, uint64_t word)
{
	if (s->bytes)
		s->cell8[cell].word = (uint8_t)word;
	else
		s->cell[cell].word = word;
}

static uint64_t
word_of(const struct use *u, const uint8_t *row)
{
	const struct path_states *s = u->s;
	uint64_t word = 0;

	for (unsigned i = 0; i < s->width && s->sl[i] < N_SLS; i++)
		word |= (uint64_t)1 << (s->plane_of[vl_of(u, row, i)] * s->width + i);
	return word;
}

static void
make_words(void *arg, uint32_t sw, unsigned worker)
{
	const struct use *u = arg;
	const struct fm_fabric *fab = u->j->fab;
	size_t cell = u->s->row_first[sw];

	(void)worker;
	for (uint32_t in = 0; in <= fab->sw_n_ports[sw]; in++, cell++) {
		const uint8_t *rows = rows_of(u->j, sw, in), *last = NULL;
		uint64_t word = 0;

		for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1];
		     l++, cell++) {
			const uint8_t *row = rows + fab->link_port[l] * N_SLS;

			if (last == NULL || memcmp(row, last, N_SLS) != 0)
				word = word_of(u, row);
			put_word(u->s, cell, word);
			last = row;
		}
	}
}

/* Rows for all ports of all switches; how many cells. */
static uint32_t
lay_out_ports(const struct judge *j, struct path_states *s)
{
	const struct fm_fabric *fab = j->fab;
	uint32_t n = 0;

	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		s->row_first[sw] = n;
		n += (fab->sw_n_ports[sw] + 1u) * path_row(fab, sw);
	}
	for (fm_link l = 0; l < fab->n_links; l++) {
		fm_sw to = fab->link_to[l];

		s->link[l] = (struct path_link){ to,
			s->row_first[to] + fab->link_port[fab->link_rev[l]] * path_row(fab, to) };
	}
	return n;
}

/* ... for links only. */
static uint32_t
lay_out_links(const struct judge *j, struct path_states *s)
{
	const struct fm_fabric *fab = j->fab;
	uint32_t n = 0;

	for (fm_link l = 0; l < fab->n_links; l++) {
		s->link[l] = (struct path_link){ fab->link_to[l], n };
		n += path_row(fab, fab->link_to[l]);
	}
	return n;
}

/* False: out of memory. */
static bool
setup_cells(const struct judge *j, struct path_states *s)
{
	size_t n;

	s->bytes = s->n_bits <= 8;
	s->row_first = malloc((j->fab->n_switches + 1) * sizeof(*s->row_first));
	s->link = malloc((j->fab->n_links + 1) * sizeof(*s->link));
	if (s->row_first == NULL || s->link == NULL)
		return false;
	n = (s->by_in ? lay_out_ports(j, s) : lay_out_links(j, s)) + (size_t)1;
	if (s->bytes)
		s->cell8 = calloc(n, sizeof(*s->cell8));
	else
		s->cell = calloc(n, sizeof(*s->cell));
	return s->bytes ? s->cell8 != NULL : s->cell != NULL;
}

int
verify_path_states(
    const struct judge *j, struct fm_pool *workers, struct path_states *s, bool *fits)
{
	const struct fm_tables *t = j->t;
	uint32_t n = j->fab->n_switches;
	struct use u = { .j = j, .s = s };

	if (t->sl_shape == FM_SL_ZERO)
		u.sls = 1;
	else
		fm_pool_for(workers, t->sl_shape == FM_SL_BY_DLID ? 1 : n, scan_sls, &u);
	number_sls(s, u.sls);
	s->by_in = t->sl2vl_shape == FM_SL2VL_BY_IN_OUT;
	if (s->by_in)
		fm_pool_for(workers, n, scan_vls, &u);
	number_vls(s, u.vls);
	if (s->width * s->n_planes > 64) /* no SL that is not in use, then */
		s->width = (uint32_t)__builtin_popcount(u.sls);
	s->n_bits = s->width * s->n_planes;
	*fits = !u.beyond && s->n_bits <= 64;
	if (!*fits)
		return 0;
	if (!setup_cells(j, s))
		return FM_E_RESOURCE;
	if (s->by_in)
		fm_pool_for(workers, n, make_words, &u);
	return 0;
}

void
verify_path_states_free(struct path_states *s)
{
	free(s->row_first);
	free(s->link);
	free(s->cell);
	free(s->cell8);
}

/* ------------------------------------------------------------ dependencies */

struct noting {
	struct judge *j;
	const struct path_states *s;
};

/* The VL that a word gives to an SL. */
static unsigned
vl_after(const struct path_states *s, uint64_t word, unsigned sl_bit)
{
	unsigned plane = 0;

	while (!(word >> (plane * s->width + sl_bit) & 1))
		plane++;
	return s->vl[plane];
}

/* Packets of a state go on from link l to a slot of the next switch, or leave there. */
static void
note_state(struct judge *j, const struct path_states *s, fm_link l, uint32_t slot, uint64_t state,
    uint64_t word)
{
	fm_sw to = j->fab->link_to[l];
	fm_link next = j->fab->sw_first_link[to] + slot;
	bool leaves = next == j->fab->sw_first_link[to + 1];

	for (; state != 0; state &= state - 1) {
		unsigned bit = (unsigned)__builtin_ctzll(state);

		if (s->by_in) {
			verify_graph_use(j, l, s->vl[bit / s->width]);
			if (!leaves)
				verify_graph_add(j, l, s->vl[bit / s->width], slot,
				    vl_after(s, word, bit % s->width));
			continue;
		}
		/* tables_vl() does not look at switch and port */
		verify_graph_use(j, l, verify_vl_at(j, to, 0, l, s->sl[bit]));
		if (!leaves)
			verify_graph_add(j, l, verify_vl_at(j, to, 0, l, s->sl[bit]), slot,
			    verify_vl_at(j, to, 0, next, s->sl[bit]));
	}
}

static void
note_links(void *arg, uint32_t item, unsigned worker)
{
	const struct noting *n = arg;
	const struct path_states *s = n->s;
	const struct fm_fabric *fab = n->j->fab;
	fm_link end = (item + 1) * LINK_RUN < fab->n_links ? (item + 1) * LINK_RUN : fab->n_links;

	(void)worker;
	for (fm_link l = item * LINK_RUN; l < end; l++) {
		size_t row = s->link[l].row;
		uint32_t n_cells = path_row(fab, fab->link_to[l]);

		for (uint32_t slot = 0; slot < n_cells; slot++) {
			uint64_t state =
			    s->bytes ? s->cell8[row + slot].dep : s->cell[row + slot].dep;

			if (state != 0)
				note_state(n->j, s, l, slot, state,
				    s->bytes ? s->cell8[row + slot].word
					     : s->cell[row + slot].word);
		}
	}
}

void
verify_path_states_note(struct judge *j, struct fm_pool *workers, const struct path_states *s)
{
	struct noting n = { j, s };

	fm_pool_for(workers, (j->fab->n_links + LINK_RUN - 1) / LINK_RUN, note_links, &n);
}
