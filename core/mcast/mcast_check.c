/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast and unicast in one graph of channel dependencies.
 *
 * A vertex is (link, VL), as in deps.h, from which the dependencies of unicast
 * come, each destination's in turn, and are inserted once each (seen[]).  They have
 * no cycle (verify), so their topological order is found first and inserting
 * them costs nothing.  A packet of a group goes on from a link of the tree by all
 * other links of the tree at that switch: these are the turns inserted here.
 *
 * Where the VL depends on the port in, that of a link is not known before all the
 * tree is: then all VLs that there may be count when a switch is hung on, which is
 * more than needed; a whole tree is judged exactly.
 */
#include <stdlib.h>
#include <string.h>

#include "core/cdg/deps.h"
#include "core/mcast/mcast_internal.h"
#include "lib/algo/acyclic.h"
#include "lib/bitset.h"

struct mcast_check {
	const struct fm_fabric *fab;
	const struct fm_tables *t;
	uint32_t n_vls, row; /* row: bits of a vertex in seen */
	uint16_t sls;
	struct fm_acyclic *g;
	uint64_t *seen;		  /* [vertices][row] by port out and VL of the switch after */
	uint16_t *vls;		  /* [n_links] mcast_check_tree(): VLs met on it */
	FM_VEC(struct dep) edges; /* of unicast, each once */
	FM_VEC(struct dep) undo;  /* inserted since mcast_check_keep() */
	size_t asked;		  /* of them, before the question at hand */
	FM_VEC(uint32_t) todo;	  /* vertices, mcast_check_tree() */
};

static bool
note_edge(struct mcast_check *c, const struct dep *e)
{
	uint32_t out = e->to / c->n_vls, vl = e->to % c->n_vls;
	size_t bit = (size_t)e->from * c->row + c->fab->link_port[out] * c->n_vls + vl;

	if (fm_bit_test(c->seen, bit))
		return true;
	fm_bit_set(c->seen, bit);
	return fm_vec_push(&c->edges, *e);
}

static bool
collect(struct mcast_check *c, const struct plan *p, struct deps *d)
{
	const struct fm_fabric *fab = c->fab;
	const struct dep *list;
	size_t n;

	for (uint32_t lid = 1; lid <= fab->max_lid; lid++) {
		if (fab->lid_end[lid] == FM_NONE || fab->end_sw[fab->lid_end[lid]] == FM_NONE)
			continue;
		if (!deps_of(d, (uint16_t)lid, DEPS_NEW, &list, &n))
			return false;
		for (size_t i = 0; i < n; i++)
			if (!note_edge(c, &list[i]))
				return false;
	}
	return true;
}

/* Kahn: position[] of each vertex; false in *ok when there is a cycle. */
static bool
sort_edges(const struct mcast_check *c, uint32_t n, uint32_t *position, bool *cyclic)
{
	uint32_t *first = calloc(n + 2u, sizeof(*first)), *to = NULL, *degree = NULL, *queue = NULL;
	uint32_t head = 0, tail = 0;
	bool ok;

	to = malloc((c->edges.n + 1) * sizeof(*to));
	degree = calloc(n + 1u, sizeof(*degree));
	queue = malloc((n + 1u) * sizeof(*queue));
	ok = first != NULL && to != NULL && degree != NULL && queue != NULL;
	for (size_t i = 0; ok && i < c->edges.n; i++) {
		first[c->edges.item[i].from + 2]++;
		degree[c->edges.item[i].to]++;
	}
	for (uint32_t v = 0; ok && v < n; v++)
		first[v + 2] += first[v + 1];
	for (size_t i = 0; ok && i < c->edges.n; i++)
		to[first[c->edges.item[i].from + 1]++] = c->edges.item[i].to;
	for (uint32_t v = 0; ok && v < n; v++)
		if (degree[v] == 0)
			queue[tail++] = v;
	while (ok && head < tail) {
		uint32_t v = queue[head];

		position[v] = head++;
		for (uint32_t i = first[v]; i < first[v + 1]; i++)
			if (--degree[to[i]] == 0)
				queue[tail++] = to[i];
	}
	*cyclic = ok && tail < n;
	free(first);
	free(to);
	free(degree);
	free(queue);
	return ok;
}

static bool
fill(struct mcast_check *c, const struct plan *p, struct deps *d, bool *cyclic)
{
	uint32_t n = deps_n_vertices(d), *position;
	bool ok;

	c->n_vls = deps_n_vls(d);
	for (fm_sw sw = 0; sw < c->fab->n_switches; sw++)
		if (c->row < c->fab->sw_n_ports[sw] + 1u)
			c->row = c->fab->sw_n_ports[sw] + 1u;
	c->row *= c->n_vls;
	c->seen = calloc(FM_BITSET_WORDS((size_t)n * c->row) + 1, sizeof(*c->seen));
	c->vls = calloc(c->fab->n_links + 1u, sizeof(*c->vls));
	position = malloc((n + 1u) * sizeof(*position));
	ok = c->seen != NULL && c->vls != NULL && position != NULL && collect(c, p, d) &&
	    sort_edges(c, n, position, cyclic);
	free(c->seen);
	c->seen = NULL;
	if (ok && !*cyclic)
		c->g = fm_acyclic_new(n, position);
	free(position);
	if (!ok || *cyclic || c->g == NULL)
		return false;
	for (size_t i = 0; i < c->edges.n; i++)
		if (fm_acyclic_insert(c->g, c->edges.item[i].from, c->edges.item[i].to) ==
		    FM_ACYCLIC_NOMEM)
			return false;
	fm_vec_fini(&c->edges);
	return true;
}

struct mcast_check *
mcast_check_new(const struct plan *p, enum verify_sl_model model, uint16_t sls, bool *cyclic)
{
	struct mcast_check *c = calloc(1, sizeof(*c));
	struct deps *d = deps_new(deps_side(p), deps_side(p), model);
	bool ok;

	*cyclic = false;
	ok = c != NULL && d != NULL;
	if (ok) {
		c->fab = &p->snap->fab;
		c->t = &p->tables->t;
		c->sls = sls;
		ok = fill(c, p, d, cyclic);
	}
	deps_free(d);
	if (!ok) {
		mcast_check_free(c);
		return NULL;
	}
	return c;
}

void
mcast_check_free(struct mcast_check *c)
{
	if (c == NULL)
		return;
	fm_acyclic_free(c->g);
	free(c->seen);
	free(c->vls);
	fm_vec_fini(&c->edges);
	fm_vec_fini(&c->undo);
	fm_vec_fini(&c->todo);
	free(c);
}

/* ------------------------------------------------------------------- turns */

static void
take_back(struct mcast_check *c, size_t to)
{
	while (c->undo.n > to) {
		struct dep e = c->undo.item[--c->undo.n];

		fm_acyclic_remove(c->g, e.from, e.to);
	}
}

void
mcast_check_keep(struct mcast_check *c)
{
	c->undo.n = 0;
}

void
mcast_check_forget(struct mcast_check *c)
{
	take_back(c, 0);
}

static enum mcast_answer
insert(struct mcast_check *c, uint32_t from, uint32_t to)
{
	struct dep e = { from, to };

	if (!fm_vec_reserve(&c->undo, c->undo.n + 1))
		return MCAST_NOMEM;
	switch (fm_acyclic_insert(c->g, from, to)) {
	case FM_ACYCLIC_ADDED:
	case FM_ACYCLIC_HELD:
		return fm_vec_push(&c->undo, e) ? MCAST_FITS : MCAST_NOMEM;
	case FM_ACYCLIC_CYCLE:
		return MCAST_CYCLE;
	case FM_ACYCLIC_NOMEM:
		break;
	}
	return MCAST_NOMEM;
}

static fm_sw
start_of(const struct fm_fabric *fab, fm_link l)
{
	return fab->link_to[fab->link_rev[l]];
}

/* Is link l, either way, of the tree? */
static bool
is_of_tree(const struct fm_fabric *fab, const fm_link *parent, fm_link l)
{
	return parent[start_of(fab, l)] == l || parent[fab->link_to[l]] == fab->link_rev[l];
}

static uint32_t
vl_on(const struct mcast_check *c, fm_link l, uint8_t in_port, unsigned sl)
{
	return tables_vl(c->fab, c->t, start_of(c->fab, l), in_port, l, (uint8_t)sl);
}

/* VLs on which packets of an SL may leave by l. */
static uint16_t
vls_on(const struct mcast_check *c, fm_link l, unsigned sl)
{
	fm_sw sw = start_of(c->fab, l);
	uint16_t vls = 0;

	if (c->t->sl2vl_shape != FM_SL2VL_BY_IN_OUT)
		return (uint16_t)(1u << vl_on(c, l, 0, sl));
	for (unsigned p = 1; p <= c->fab->sw_n_ports[sw]; p++)
		if (p != c->fab->link_port[l])
			vls |= (uint16_t)(1u << vl_on(c, l, (uint8_t)p, sl));
	return vls;
}

/* From link a on by link b. */
static enum mcast_answer
insert_turn(struct mcast_check *c, fm_link a, fm_link b, unsigned sl)
{
	uint32_t to = vl_on(c, b, c->fab->link_port[c->fab->link_rev[a]], sl);
	uint16_t vls = vls_on(c, a, sl);
	enum mcast_answer rc = MCAST_FITS;

	for (uint32_t vl = 0; vl < c->n_vls && rc == MCAST_FITS; vl++)
		if (vls >> vl & 1)
			rc = insert(c, a * c->n_vls + vl, b * c->n_vls + to);
	return rc;
}

enum mcast_answer
mcast_check_hang(struct mcast_check *c, const fm_link *parent, fm_sw v, fm_link up)
{
	const struct fm_fabric *fab = c->fab;
	fm_link down = fab->link_rev[up];
	fm_sw u = fab->link_to[up];
	enum mcast_answer rc = MCAST_FITS;

	(void)v;
	c->asked = c->undo.n;
	for (fm_link l = fab->sw_first_link[u]; l < fab->sw_first_link[u + 1]; l++) {
		if (l == down || !is_of_tree(fab, parent, l))
			continue;
		for (unsigned sl = 0; sl < 16 && rc == MCAST_FITS; sl++) {
			if (!(c->sls >> sl & 1))
				continue;
			rc = insert_turn(c, up, l, sl);
			if (rc == MCAST_FITS)
				rc = insert_turn(c, fab->link_rev[l], down, sl);
		}
	}
	if (rc != MCAST_FITS)
		take_back(c, c->asked);
	return rc;
}

/* ------------------------------------------------------------- a whole tree */

/* bits: switches from which packets come up by their parent link, down to which they go. */
static void
mark_used(const struct fm_fabric *fab, const fm_link *parent, uint64_t *used)
{
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		for (fm_sw at = sw; mcast_has_hosts(fab, sw) && !fm_bit_test(used, at);
		     at = fab->link_to[parent[at]]) {
			fm_bit_set(used, at);
			if (parent[at] == FM_NONE)
				break;
		}
}

static bool
is_used(const struct mcast_check *c, const fm_link *parent, const uint64_t *used, fm_link l)
{
	fm_sw from = start_of(c->fab, l), to = c->fab->link_to[l];

	return (parent[from] == l && fm_bit_test(used, from)) ||
	    (parent[to] == c->fab->link_rev[l] && fm_bit_test(used, to));
}

/* Packets come into sw by port `in` (from: their vertex, FM_NONE: from a host). */
static enum mcast_answer
go_on(struct mcast_check *c, const fm_link *parent, const uint64_t *used, fm_sw sw, uint8_t in,
    uint32_t from, unsigned sl)
{
	const struct fm_fabric *fab = c->fab;
	enum mcast_answer rc = MCAST_FITS;

	for (fm_link l = fab->sw_first_link[sw]; rc == MCAST_FITS && l < fab->sw_first_link[sw + 1];
	     l++) {
		uint32_t vl;

		if (fab->link_port[l] == in || !is_used(c, parent, used, l))
			continue;
		vl = vl_on(c, l, in, sl);
		if (from != FM_NONE)
			rc = insert(c, from, l * c->n_vls + vl);
		if (rc == MCAST_FITS && !(c->vls[l] >> vl & 1)) {
			c->vls[l] |= (uint16_t)(1u << vl);
			rc = fm_vec_push(&c->todo, l * c->n_vls + vl) ? MCAST_FITS : MCAST_NOMEM;
		}
	}
	return rc;
}

enum mcast_answer
mcast_check_tree(struct mcast_check *c, const fm_link *parent, unsigned sl, fm_sw *at)
{
	const struct fm_fabric *fab = c->fab;
	uint64_t *used = calloc(FM_BITSET_WORDS(fab->n_switches) + 1, sizeof(*used));
	enum mcast_answer rc = used != NULL ? MCAST_FITS : MCAST_NOMEM;

	c->asked = c->undo.n;
	c->todo.n = 0;
	memset(c->vls, 0, fab->n_links * sizeof(*c->vls));
	if (used != NULL)
		mark_used(fab, parent, used);
	for (fm_end e = 0; e < fab->n_ends && rc == MCAST_FITS; e++)
		if (fab->end_sw[e] != FM_NONE && fab->end_kind[e] != FM_END_SWITCH)
			rc = go_on(c, parent, used, fab->end_sw[e], fab->end_port[e], FM_NONE, sl);
	while (rc == MCAST_FITS && c->todo.n > 0) {
		uint32_t v = c->todo.item[--c->todo.n];
		fm_link l = v / c->n_vls;

		*at = fab->link_to[l];
		rc = go_on(c, parent, used, *at, fab->link_port[fab->link_rev[l]], v, sl);
	}
	free(used);
	if (rc != MCAST_FITS)
		take_back(c, c->asked);
	return rc;
}
