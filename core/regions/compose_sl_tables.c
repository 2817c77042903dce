/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SL and SL2VL tables of the whole.
 *
 * The VLs of a component: first those of its engine, for local LIDs where these have
 * VLs of their own, then one for each layer.  VLs are numbered per cable, so
 * neighbours need not agree: the far side sees the SL only.  On the cables that
 * leave a component the layer counts as within it.
 *
 * A switch has the row of SLs of its component; only where the component's engine has SLs
 * by switch each has its own.
 * SL2VL goes by ports, not by the numbers of links, which change as cables come and go.
 * O(rows * LIDs + pairs of ports * 16).
 */
#include <stdio.h>
#include <string.h>

#include "core/regions/compose_sls.h"
#include "core/regions/compose_steps.h"

struct merging {
	struct composer *c;
	uint8_t sl_number[N_SLS]; /* of signature i */
	const fm_sw *row_of;	  /* [n_switches] */
};

/* VLs of its engine before those of the layers. */
static uint8_t
base_of(const struct composer *c, uint32_t x)
{
	const struct component *p = &c->component[x];

	if (p->tables != NULL)
		return p->tables->t.n_vls_used;
	return is_island(c, x) && p->n > 1;
}

/* Of a layer that nothing has there the VL of the nearest that something has: a repair may come
 * by. */
static uint8_t
vl_of_layer(const struct composer *c, uint32_t x, uint8_t value)
{
	int layer = value - FOREIGN - c->lower[x], most = c->n_layers[x] - 1;

	if (c->component[x].n == 1)
		return 0;
	layer = layer > most ? most : layer;
	return (uint8_t)(base_of(c, x) + (layer > 0 ? layer : 0));
}

static bool
fits_vls(const struct composer *c, char *reason, size_t room)
{
	for (uint32_t x = 0; x < c->n_components; x++) {
		const struct component *p = &c->component[x];
		uint8_t n = (uint8_t)(base_of(c, x) + c->n_layers[x]);

		if (p->n == 1 || n <= p->n_vls)
			continue;
		snprintf(reason, room, "region %s needs %u VLs, %u are allowed there",
		    c->set->region[p->region].name, n, p->n_vls);
		return false;
	}
	return true;
}

/* ------------------------------------------------------------------ SL2VL */

/* VL of a packet whose SL means `value` in x, from in_port of switch u into link l. */
static uint8_t
vl_for(const struct composer *c, uint32_t x, fm_sw u, uint8_t in_port, fm_link l, fm_link own,
    uint8_t value)
{
	const struct component *p = &c->component[x];

	if (value == NO_VALUE)
		return 0;
	if (value >= FOREIGN)
		return vl_of_layer(c, x, value);
	if (p->tables == NULL || c->link_exit[l] != FM_NONE)
		return 0;
	return tables_vl(&p->view->fab, &p->tables->t, c->sw_local[u], in_port, own, value);
}

static void
fill_link(const struct composer *c, uint32_t x, fm_sw u, fm_link l, fm_link own)
{
	struct fm_tables *t = &c->tables->t;
	size_t n_ports = c->fab->sw_n_ports[u] + 1u;

	for (size_t in = 0; in < n_ports; in++) {
		size_t row = t->sl2vl_first[u] + in * n_ports + c->fab->link_port[l];

		for (unsigned i = 0; i < N_SLS; i++) {
			uint8_t value = c->value_of[(size_t)i * c->n_components + x];

			t->sl2vl[row * 16 + i] = vl_for(c, x, u, (uint8_t)in, l, own, value);
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
		fill_link(c, x, u, l, own);
		own += c->link_exit[l] == FM_NONE;
	}
}

/* --------------------------------------------------------------------- SLs */

static void
fill_sl_row(void *arg, uint32_t u, unsigned worker)
{
	const struct merging *m = arg;
	const struct composer *c = m->c;
	uint32_t x = c->sw_component[u];
	uint8_t *row = c->tables->t.sl[u];

	if (m->row_of[u] != u || x == FM_NONE)
		return;
	for (uint32_t lid = 0; lid < c->n_lid_room; lid++) {
		uint32_t d = c->lid_component[lid];

		if (d == FM_NONE)
			row[lid] = 0;
		else
			row[lid] =
			    c->sl_of[(size_t)x * c->n_components + d][compose_own_sl(c, x, u, lid)];
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

/* Numbers of signatures to SLs, those that are reserved left out. */
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
keep_signatures(struct merging *m, const struct demands *d, const uint8_t *signature, uint32_t n)
{
	struct composer *c = m->c;

	memset(c->value_of, NO_VALUE, (size_t)N_SLS * c->n_components);
	c->used_sls = 0;
	for (uint32_t i = 0; i < n; i++) {
		memcpy(c->value_of + (size_t)m->sl_number[i] * c->n_components,
		    signature + (size_t)i * c->n_components, c->n_components);
		c->used_sls |= (uint16_t)(1u << m->sl_number[i]);
	}
	memset(c->sl_of, m->sl_number[0], (size_t)c->n_components * c->n_components * N_SLS);
	for (size_t i = 0; i < d->asked.n; i++) {
		const struct demand *a = &d->asked.item[i];

		c->sl_of[(size_t)a->source * c->n_components + a->dest][a->own] =
		    m->sl_number[d->all.item[d->of.item[i]].sl];
	}
}

static void
fill_tables(struct merging *m, uint32_t n_signatures)
{
	struct composer *c = m->c;
	struct fm_tables *t = &c->tables->t;
	uint8_t most = 1;

	for (uint32_t x = 0; x < c->n_components; x++) {
		uint8_t n = (uint8_t)(base_of(c, x) + c->n_layers[x]);

		most = c->component[x].n > 1 && n > most ? n : most;
	}
	t->n_vls_used = most;
	t->sl2vl_shape = FM_SL2VL_MODULO;
	t->sl_shape = FM_SL_ZERO;
	if (n_signatures == 1 && most == 1 && m->sl_number[0] == 0)
		return;
	t->sl_shape = FM_SL_BY_SW_DLID;
	tables_share_sl(c->tables, m->row_of, c->fab->n_switches);
	fm_pool_for(c->r->workers, c->fab->n_switches, fill_sl_row, m);
	if (most == 1)
		return;
	t->sl2vl_shape = FM_SL2VL_BY_IN_OUT; /* of BY_OUT nothing can be repaired */
	fm_pool_for(c->r->workers, c->fab->n_switches, fill_switch, m);
}

static int
merge(struct composer *c, struct demands *d, bool *fits, char *reason, size_t room,
    struct fm_error *err)
{
	struct merging m = { .c = c };
	uint32_t most = free_sls(c, m.sl_number), n;
	uint8_t *signature = fm_arena_array(&c->mem, (size_t)N_SLS * c->n_components, uint8_t);
	fm_sw *row_of = fm_arena_array(&c->mem, c->fab->n_switches + 1, fm_sw);
	int rc;

	if (signature == NULL || row_of == NULL)
		return compose_no_memory(err);
	if ((rc = compose_list_demands(c, d, err)) != 0)
		return rc;
	*fits = fits_vls(c, reason, room);
	if (!*fits)
		return 0;
	if ((rc = compose_sign(c, d, most, signature, &n, err)) != 0)
		return rc;
	*fits = n <= most;
	if (!*fits) {
		snprintf(reason, room, "more SLs are needed than the %u that may be used", most);
		return 0;
	}
	keep_signatures(&m, d, signature, n > 0 ? n : 1);
	share_rows(c, row_of);
	m.row_of = row_of;
	fill_tables(&m, n);
	return 0;
}

int
compose_sl_tables(struct composer *c, bool *fits, char *reason, size_t room, struct fm_error *err)
{
	struct demands d = { 0 };
	int rc = merge(c, &d, fits, reason, room, err);

	compose_demands_fini(&d);
	return rc;
}

/* ------------------------------------------------------------- there, back */

/* hist[row][component of the LID][SL]: host LIDs, of which only the base counts as a host. */
struct counting {
	const struct composer *c;
	uint32_t *hist; /* [n_rows][n_components][N_SLS] */
	uint32_t *row;	/* [n_switches] number of its row */
};

static void
count_row(const struct counting *k, fm_sw leader)
{
	const struct composer *c = k->c;
	const struct fm_fabric *fab = c->fab;
	uint32_t *hist = k->hist + (size_t)k->row[leader] * c->n_components * N_SLS;

	for (fm_end e = 0; e < fab->sw_first_end[fab->n_switches]; e++)
		if (fab->end_kind[e] != FM_END_SWITCH && fab->end_lid[e] != 0)
			hist[(size_t)c->sw_component[fab->end_sw[e]] * N_SLS +
			    tables_sl(&c->tables->t, leader, fab->end_lid[e])]++;
}

/* Of the paths between different components, which all hosts of a component share: those whose
 * SLs agree, by counting. */
static uint64_t
count_pairs(const struct counting *k)
{
	const struct composer *c = k->c;
	uint64_t differ = 0;

	for (uint32_t x = 0; x < c->n_components; x++)
		for (uint32_t y = 0; y < c->n_components; y++) {
			const uint32_t *there, *back;
			uint64_t same = 0, n_there = 0, n_back = 0;

			if (x == y || c->component[x].n_sources == 0 ||
			    c->component[y].n_sources == 0)
				continue;
			there = k->hist +
			    ((size_t)k->row[c->component[x].sw[0]] * c->n_components + y) * N_SLS;
			back = k->hist +
			    ((size_t)k->row[c->component[y].sw[0]] * c->n_components + x) * N_SLS;
			for (unsigned sl = 0; sl < N_SLS; sl++) {
				same += (uint64_t)there[sl] * back[sl];
				n_there += there[sl];
				n_back += back[sl];
			}
			differ += n_there * n_back - same;
		}
	return differ;
}

int
compose_count_one_way(struct composer *c, uint64_t *pairs, struct fm_error *err)
{
	struct counting k = { .c = c };
	uint32_t n = c->n_components;

	*pairs = 0;
	if (c->tables->t.sl_shape == FM_SL_ZERO)
		return 0;
	k.hist = fm_arena_array(&c->mem, (size_t)n * n * N_SLS, uint32_t);
	k.row = fm_arena_array(&c->mem, c->fab->n_switches + 1, uint32_t);
	if (k.hist == NULL || k.row == NULL)
		return compose_no_memory(err);
	for (uint32_t x = 0; x < n; x++) {
		k.row[c->component[x].sw[0]] = x;
		count_row(&k, c->component[x].sw[0]);
	}
	*pairs = count_pairs(&k);
	return 0;
}
