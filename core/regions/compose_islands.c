/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Islands round a core of one or more components (compose_core.c says which).
 *
 * phi: hops inside an island to its nearest gate.  Out: every switch sends all
 * foreign LIDs a hop nearer, a forest made here without any engine.  In: the core
 * hands a LID over at a gate at distance phi from the LID's switch (no slack,
 * compose_gateways.c), and the island's engine takes it there in phi hops.
 *
 * Theorem.  Let islands touch no islands, and let the core, by which we mean its
 * components and all cables from and to them, be free of cycles when every cable to
 * an island is a source, and an end for the LIDs that it hands over.  Then the
 * whole is, and with one SL for both directions the replies are.
 * Proof.  Channels of leaving traffic lower phi and those of arriving traffic raise
 * it, so none is both, and local traffic has VLs of its own.  A leaving packet goes
 * on by leaving channels or out into the core, an arriving one by arriving channels
 * to its end; nobody enters an island to leave it again.  So no dependency leads
 * from what arrives back to what leaves, or to the core: a cycle would lie inside an
 * island, where phi falls (or rises) along it, or inside the core, which has none.
 *
 * That the core has none is theorem for one component, by its engine; for several it is
 * what "flat" asks of them, and verify answers: fat trees cut along their levels
 * pass.  Of the core a LID of an island has one *ingress*, the component that hands it over;
 * towards it the order of the core's components leads, by the rank of the ingress, and so
 * without loops (compose_gateways.c).  A component with a nearest cable of its own hands
 * over at once: a rank of 0.
 *
 * One VL and one SL more than the islands have for themselves, whatever the number
 * of components of the core.
 *
 * A core may lack a route from a gate to some LID, as from one spine to another: then
 * all of the island leaves by the gates that have one, for that LID.
 *
 * Ties of switches at one distance are broken by another digit of the LID's number
 * than those farther out, so that all gates are used.  O(switches * LIDs).
 */
#include <string.h>

#include "core/regions/compose_gateways.h"

struct leaving {
	struct composer *c;
	struct component *p;
	uint16_t *phi;	   /* [n] local */
	uint32_t *n_ways;  /* [n + 1] most choices of a switch at this distance */
	uint32_t *divider; /* [n + 1] */
	uint16_t *foreign; /* [n_foreign] LIDs, component by component */
	uint32_t n_foreign;
};

/* Ports by which u gets a hop nearer to a gate, or out. */
static uint32_t
ways_of(const struct leaving *v, uint32_t u, uint8_t ports[256])
{
	const struct fm_fabric *fab = v->c->fab;
	fm_sw sw = v->p->sw[u];
	uint32_t n = 0;

	for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++) {
		bool leaves = v->c->link_exit[l] != FM_NONE;

		if (v->phi[u] == 0
			? leaves
			: !leaves && v->phi[v->c->sw_local[fab->link_to[l]]] + 1u == v->phi[u])
			ports[n++] = fab->link_port[l];
	}
	return n;
}

static void
find_digits(struct leaving *v)
{
	uint8_t ports[256];
	uint32_t n;

	for (uint32_t u = 0; u < v->p->n; u++) {
		v->phi[u] = UINT16_MAX;
		for (uint32_t g = 0; g < v->p->n_gates; g++)
			if (v->p->dist[(size_t)g * v->p->n + u] < v->phi[u])
				v->phi[u] = v->p->dist[(size_t)g * v->p->n + u];
	}
	for (uint32_t u = 0; u < v->p->n; u++) {
		n = ways_of(v, u, ports);
		if (n > v->n_ways[v->phi[u]])
			v->n_ways[v->phi[u]] = n;
	}
	n = 1;
	for (uint32_t far = v->p->n; far-- > 0;) {
		v->divider[far] = n;
		if (v->n_ways[far] > 1 && n < UINT16_MAX)
			n *= v->n_ways[far];
	}
}

static void
fill_row(void *arg, uint32_t u, unsigned worker)
{
	const struct leaving *v = arg;
	uint8_t ports[256], *row = v->c->tables->t.lft[v->p->sw[u]];
	uint32_t n = ways_of(v, u, ports), divider = v->divider[v->phi[u]];

	for (uint32_t i = 0; i < v->n_foreign; i++)
		row[v->foreign[i]] = n > 0 ? ports[i / divider % n] : FM_PORT_NONE;
}

int
compose_leave_island(struct composer *c, uint32_t x, struct fm_error *err)
{
	struct leaving v = { .c = c, .p = &c->component[x] };
	struct fm_arena *mem = &c->mem;

	if (v.p->n_exits == 0)
		return 0;
	v.phi = fm_arena_array(mem, v.p->n, uint16_t);
	v.n_ways = fm_arena_array(mem, v.p->n + 1, uint32_t);
	v.divider = fm_arena_array(mem, v.p->n + 1, uint32_t);
	v.foreign = fm_arena_array(mem, c->n_lid_room, uint16_t);
	if (v.phi == NULL || v.n_ways == NULL || v.divider == NULL || v.foreign == NULL)
		return compose_no_memory(err);
	for (uint32_t d = 0; d < c->n_components; d++)
		for (uint32_t i = 0;
		     d != x && c->component[d].fabric_component == v.p->fabric_component &&
		     i < c->component[d].n_lids;
		     i++)
			v.foreign[v.n_foreign++] = c->component[d].lid[i];
	find_digits(&v);
	fm_pool_for(c->r->workers, v.p->n, fill_row, &v);
	return 0;
}

/* ------------------------------------------------------------------ mending */

struct mending {
	struct composer *c;
	const struct component *p;
	uint8_t *serves; /* [n_exits] the core goes on from there */
	uint16_t *dist;	 /* [n] local, to a gate that serves */
	uint32_t *queue; /* [n] */
};

/* Which exits serve lid; true: some do, some do not. */
static bool
is_to_mend(struct mending *m, uint32_t lid)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->p->n_exits; i++) {
		m->serves[i] = m->c->tables->t.lft[m->p->exit[i].far][lid] != FM_PORT_NONE;
		n += m->serves[i];
	}
	return n > 0 && n < m->p->n_exits;
}

static void
mend_column(struct mending *m, uint32_t lid)
{
	const struct fm_fabric *fab = m->c->fab;
	uint8_t *const *lft = m->c->tables->t.lft;
	uint32_t n = 0;

	memset(m->dist, 0xff, m->p->n * sizeof(*m->dist));
	for (uint32_t i = 0; i < m->p->n_exits; i++) {
		const struct exit *e = &m->p->exit[i];
		uint32_t u = m->c->sw_local[e->near];

		/* of several at one switch odd LIDs take the last */
		if (!m->serves[i] || (m->dist[u] == 0 && lid % 2 == 0))
			continue;
		if (m->dist[u] != 0)
			m->queue[n++] = u;
		m->dist[u] = 0;
		lft[e->near][lid] = fab->link_port[e->link];
	}
	for (uint32_t i = 0; i < n; i++) {
		fm_sw u = m->p->sw[m->queue[i]];

		for (fm_link l = fab->sw_first_link[u]; l < fab->sw_first_link[u + 1]; l++) {
			uint32_t v = m->c->sw_local[fab->link_to[l]];

			if (m->c->link_exit[l] != FM_NONE || m->dist[v] != UINT16_MAX)
				continue;
			m->dist[v] = (uint16_t)(m->dist[m->queue[i]] + 1);
			m->queue[n++] = v;
			lft[fab->link_to[l]][lid] = fab->link_port[fab->link_rev[l]];
		}
	}
}

int
compose_mend_islands(struct composer *c, struct fm_error *err)
{
	struct mending m = { .c = c };
	int rc;

	for (uint32_t x = 0; x < c->n_components; x++) {
		m.p = &c->component[x];
		if (!c->island[x] || m.p->n_exits < 2)
			continue;
		/* the core may have other holes than the last time */
		if (c->component[x].mended && (rc = compose_leave_island(c, x, err)) != 0)
			return rc;
		c->component[x].mended = false;
		m.serves = fm_arena_array(&c->mem, m.p->n_exits, uint8_t);
		m.dist = fm_arena_array(&c->mem, m.p->n, uint16_t);
		m.queue = fm_arena_array(&c->mem, m.p->n, uint32_t);
		if (m.serves == NULL || m.dist == NULL || m.queue == NULL)
			return compose_no_memory(err);
		for (uint32_t lid = 0; lid < c->n_lid_room; lid++)
			if (c->lid_component[lid] != FM_NONE && c->lid_component[lid] != x &&
			    is_to_mend(&m, lid)) {
				mend_column(&m, lid);
				c->component[x].mended = true;
			}
	}
	return 0;
}
