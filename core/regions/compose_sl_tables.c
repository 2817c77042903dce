/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SL and SL2VL tables of the whole.
 *
 * An SL is fixed from end to end; in a component it means an SL of the component's engine, or
 * *foreign*: the last of the component's VLs.  VLs are numbered per cable, so neighbours need
 * not agree: the far side sees the SL only.
 *
 *	flat	the SLs of an engine are for all packets to its component, and foreign elsewhere;
 *		each engine has numbers of its own.  Mostly there are none: one SL, one VL
 *	islands	they are for packets within an island, and the lowest where the engine has none;
 *		all islands have the same numbers
 *
 * SLs that the engine has and no path of it takes have no number.  One SL more is for all other
 * packets, foreign everywhere.  SLs that are reserved are left out of the numbering.  A switch has
 * the row of SLs of its component; only where the component's engine has SLs by switch each has its
 * own.  SL2VL goes by ports, not by the numbers of links, which change as cables come and go.
 * O(rows * LIDs + pairs of ports * 16).
 */
#include <stdio.h>
#include <string.h>

#include "core/regions/compose_steps.h"

struct merging {
	struct composer *c;
	uint8_t sl_number[N_SLS]; /* ascending, without those that are reserved */
	uint32_t *first;	  /* [n_components] which of these is the first of its engine's */
	uint16_t *own;		  /* [n_components] the engine's SLs that paths have, as bits */
	uint32_t foreign;	  /* the one more */
	const fm_sw *row_of;	  /* [n_switches] */
};

/* How many SLs of the engine of x paths have that are below this one. */
static uint32_t
n_below(const struct merging *m, uint32_t x, unsigned sl)
{
	return (uint32_t)__builtin_popcount(m->own[x] & ((1u << sl) - 1));
}

static uint8_t
number_of(const struct merging *m, uint32_t x, unsigned own)
{
	return m->sl_number[m->first[x] + n_below(m, x, own)];
}

/* VLs of its engine. */
static uint8_t
own_vls(const struct composer *c, uint32_t x)
{
	const struct component *p = &c->component[x];

	if (p->tables != NULL)
		return p->tables->t.n_vls_used;
	return is_island(c, x) && p->n > 1;
}

static bool
fits_vls(const struct composer *c, char *reason, size_t room)
{
	for (uint32_t x = 0; x < c->n_components; x++) {
		const struct component *p = &c->component[x];
		uint8_t n = (uint8_t)(own_vls(c, x) + 1);

		if (p->n == 1 || n <= p->n_vls)
			continue;
		snprintf(reason, room, "region %s needs %u VLs, %u are allowed there",
		    c->set->region[p->region].name, n, p->n_vls);
		return false;
	}
	return true;
}

/* ------------------------------------------------------------------ SL2VL */

static void
fill_link(const struct merging *m, uint32_t x, fm_sw u, fm_link l, fm_link own)
{
	const struct composer *c = m->c;
	const struct component *p = &c->component[x];
	struct fm_tables *t = &c->tables->t;
	size_t n_ports = c->fab->sw_n_ports[u] + 1u;
	bool within = p->tables != NULL && c->link_exit[l] == FM_NONE;

	for (size_t in = 0; in < n_ports; in++) {
		uint8_t *vls =
		    t->sl2vl + (t->sl2vl_first[u] + in * n_ports + c->fab->link_port[l]) * 16;

		memset(vls, p->n > 1 ? own_vls(c, x) : 0, N_SLS);
		for (uint8_t sl = 0; sl < N_SLS; sl++) {
			if (!(m->own[x] >> sl & 1))
				continue;
			vls[number_of(m, x, sl)] = within
			    ? tables_vl(&p->view->fab, &p->tables->t, c->sw_local[u], (uint8_t)in,
				  own, sl)
			    : 0;
		}
	}
}

/* The links of a switch; of those within its component the number in the view ascends along. */
static void
fill_switch(void *arg, uint32_t u, unsigned worker)
{
	const struct merging *m = arg;
	const struct composer *c = m->c;
	uint32_t x = c->sw_component[u];
	fm_link own;

	if (x == FM_NONE)
		return;
	own = c->component[x].view != NULL ? c->component[x].view->fab.sw_first_link[c->sw_local[u]]
					   : 0;
	for (fm_link l = c->fab->sw_first_link[u]; l < c->fab->sw_first_link[u + 1]; l++) {
		fill_link(m, x, u, l, own);
		own += c->link_exit[l] == FM_NONE;
	}
}

/* --------------------------------------------------------------------- SLs */

/* The SL that the engine of d gives packets for lid where they come in from switch `from` of x. */
static uint8_t
own_sl(const struct composer *c, uint32_t x, fm_sw from, uint32_t lid, uint32_t d)
{
	const struct component *pd = &c->component[d];

	while (x != d && pd->tables != NULL) {
		const struct exit *e = exit_of(c, x, lid);

		if (e == NULL)
			return 0;
		from = e->far;
		x = e->to;
	}
	return pd->tables != NULL
	    ? tables_sl(&pd->tables->t, c->sw_local[from], (uint16_t)lid) % N_SLS
	    : 0;
}

static void
fill_sl_row(void *arg, uint32_t u, unsigned worker)
{
	const struct merging *m = arg;
	const struct composer *c = m->c;
	uint32_t x = c->sw_component[u];
	uint8_t *row = c->tables->t.sl[u];

	if (m->row_of[u] != u || x == FM_NONE)
		return;
	memset(row, m->sl_number[m->foreign], c->n_lid_room);
	for (uint32_t d = 0; d < c->n_components; d++)
		for (uint32_t i = 0;
		     m->own[d] != 0 && (x == d || !c->islands) && i < c->component[d].n_lids; i++) {
			uint16_t lid = c->component[d].lid[i];

			row[lid] = number_of(m, d, own_sl(c, x, u, lid, d));
		}
}

static void
share_rows(const struct composer *c, fm_sw *row_of)
{
	for (fm_sw u = 0; u < c->fab->n_switches; u++) {
		const struct component *p;

		row_of[u] = u;
		if (c->sw_component[u] == FM_NONE)
			continue;
		p = &c->component[c->sw_component[u]];
		if (p->tables == NULL || p->tables->t.sl_shape != FM_SL_BY_SW_DLID)
			row_of[u] = p->sw[0];
	}
}

/* Which SLs of the engine of x its paths have; the lowest for an island of any other. */
static void
find_own(void *arg, uint32_t x, unsigned worker)
{
	struct merging *m = arg;
	const struct component *p = &m->c->component[x];

	m->own[x] = p->tables == NULL && is_island(m->c, x);
	for (uint32_t u = 0; p->tables != NULL && u < p->n; u++)
		for (uint32_t i = 0; m->row_of[p->sw[u]] == p->sw[u] && i < p->n_lids; i++)
			m->own[x] |= (uint16_t)(1u << own_sl(m->c, x, p->sw[u], p->lid[i], x));
}

/* Which SLs are whose. */
static void
deal_out(struct merging *m)
{
	const struct composer *c = m->c;

	fm_pool_for(c->r->workers, c->n_components, find_own, m);
	for (uint32_t x = 0; x < c->n_components; x++) {
		uint32_t n = n_below(m, x, N_SLS);

		m->first[x] = c->islands ? 0 : m->foreign;
		if (m->first[x] + n > m->foreign)
			m->foreign = m->first[x] + n;
	}
}

/* Their number, those that are reserved left out. */
static uint32_t
free_sls(const struct composer *c, uint8_t number[N_SLS])
{
	uint32_t n = 0;

	for (uint8_t sl = 0; sl < N_SLS; sl++)
		if (!(c->set->reserved_sls >> sl & 1))
			number[n++] = sl;
	return n;
}

static void
fill_tables(struct merging *m)
{
	struct composer *c = m->c;
	struct fm_tables *t = &c->tables->t;
	uint8_t most = 1;

	for (uint32_t x = 0; x < c->n_components; x++)
		if (c->component[x].n > 1 && own_vls(c, x) + 1 > most)
			most = (uint8_t)(own_vls(c, x) + 1);
	t->n_vls_used = most;
	t->sl2vl_shape = FM_SL2VL_MODULO;
	t->sl_shape = FM_SL_ZERO;
	if (m->foreign == 0 && m->sl_number[0] == 0)
		return;
	t->sl_shape = FM_SL_BY_SW_DLID;
	tables_share_sl(c->tables, m->row_of, c->fab->n_switches);
	fm_pool_for(c->r->workers, c->fab->n_switches, fill_sl_row, m);
	if (most == 1)
		return;
	t->sl2vl_shape = FM_SL2VL_BY_IN_OUT; /* of BY_OUT nothing can be repaired */
	fm_pool_for(c->r->workers, c->fab->n_switches, fill_switch, m);
}

int
compose_sl_tables(struct composer *c, bool *fits, char *reason, size_t room, struct fm_error *err)
{
	struct merging m = { .c = c };
	uint32_t most = free_sls(c, m.sl_number);
	fm_sw *row_of = fm_arena_array(&c->mem, c->fab->n_switches + 1, fm_sw);

	m.first = fm_arena_array(&c->mem, c->n_components + 1, uint32_t);
	m.own = fm_arena_array(&c->mem, c->n_components + 1, uint16_t);
	if (row_of == NULL || m.first == NULL || m.own == NULL)
		return compose_no_memory(err);
	share_rows(c, row_of);
	m.row_of = row_of;
	deal_out(&m);
	*fits = fits_vls(c, reason, room);
	if (*fits && m.foreign + 1 > most) {
		snprintf(reason, room, "more SLs are needed than the %u that may be used", most);
		*fits = false;
	}
	if (*fits)
		fill_tables(&m);
	return 0;
}
