/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An up/down path that is missing exists with one more turn from down to up.
 * One such turn alone rarely closes a cycle of channels; many together do, so
 * each is inserted into the graph of all turns in use (vertices are links,
 * lib/algo/acyclic.h keeps it without cycles) and dropped when refused.
 *
 * The turns in use are collected from the tables: for every link the set of
 * egress ports that some LID takes next.  Their first order is that of
 * up/down: up links by their tail from the bottom up, then down links by their
 * tail from the top down; with it all of them are inserted at once.
 *
 * Only switches that need a route are led to one, over as few others as do: a
 * turn more for everybody would soon leave none for those in need.
 */
#include "plugins/common/updown/turn_relaxation.h"

#include <string.h>

#include "lib/algo/acyclic.h"

#define PORT_WORDS 4 /* 256 ports */
#define HOST_STEPS 3 /* switches without a route on the way to one that has one: hosts' LIDs */
#define OTHER_STEPS 1
#define MAX_LOOKS 2000000 /* next steps looked at in all */
#define MAX_TRIES 4000	  /* turns tried: a refusal may cost a walk through the graph */

struct relaxation {
	const struct fm_fabric *fab;
	const struct fm_arcs *arcs;
	const struct fm_shape *shape;
	const struct fm_tables *out;
	unsigned flags;
	struct fm_acyclic *turns;
	fm_link *port_link;	   /* [n_switches][256] FM_NONE = no switch there */
	uint64_t *next;		   /* [n_links][PORT_WORDS] egress ports taken after the link */
	uint32_t *position;	   /* [n_links] first order */
	uint32_t *n_below;	   /* [n_switches] */
	fm_sw *queue;		   /* [n_switches] */
	uint8_t *hosts;		   /* [n_switches] has a source of traffic */
	uint8_t *dirty;		   /* [max_lid + 1] somebody misses it */
	uint64_t *refused;	   /* [n_links][PORT_WORDS] */
	uint32_t n_tries, n_looks; /* left */
	uint64_t n_led;
	bool nomem;
};

static bool
needs(const struct relaxation *m, fm_sw sw)
{
	return (m->flags & FM_RELAX_SWITCHES) || m->hosts[sw];
}

static bool
is_missing(const struct relaxation *m, fm_sw sw, uint16_t lid)
{
	fm_sw dest = m->fab->end_sw[m->fab->lid_end[lid]];

	return m->out->lft[sw][lid] == FM_PORT_NONE && dest != FM_NONE &&
	    m->shape->component[sw] == m->shape->component[dest];
}

/* LIDs that a switch which needs them has no route to.  False: none. */
static bool
find_missing(struct relaxation *m)
{
	bool any = false;

	for (fm_sw s = 0; s < m->fab->n_switches; s++)
		for (uint32_t lid = 1; needs(m, s) && lid <= m->fab->max_lid; lid++)
			if (m->out->lft[s][lid] == FM_PORT_NONE &&
			    m->fab->lid_end[lid] != FM_NONE && is_missing(m, s, (uint16_t)lid)) {
				m->dirty[lid] = 1;
				any = true;
			}
	return any;
}

/* Switches from the bottom up (Kahn), then positions of their links. */
static void
order_links(struct relaxation *m, const struct fm_order *order)
{
	const struct fm_arcs *arcs = m->arcs;
	uint32_t n = 0, position = 0;

	for (fm_arc a = 0; a < arcs->n_arcs; a++)
		m->n_below[arcs->to[a]] += fm_goes_up(order, a);
	for (fm_sw s = 0; s < m->fab->n_switches; s++)
		if (m->n_below[s] == 0)
			m->queue[n++] = s;
	for (uint32_t i = 0; i < n; i++)
		for (fm_arc a = arcs->first[m->queue[i]]; a < arcs->first[m->queue[i] + 1]; a++) {
			if (!fm_goes_up(order, a))
				continue;
			for (fm_link l = arcs->link[a]; l < arcs->link[a + 1]; l++)
				m->position[l] = position++;
			if (--m->n_below[arcs->to[a]] == 0)
				m->queue[n++] = arcs->to[a];
		}
	while (n-- > 0)
		for (fm_arc a = arcs->first[m->queue[n]]; a < arcs->first[m->queue[n] + 1]; a++)
			for (fm_link l = arcs->link[a];
			     !fm_goes_up(order, a) && l < arcs->link[a + 1]; l++)
				m->position[l] = position++;
}

static void
collect_turns(struct relaxation *m)
{
	const struct fm_fabric *fab = m->fab;

	for (fm_sw s = 0; s < fab->n_switches; s++)
		for (uint32_t lid = 1; lid <= fab->max_lid; lid++) {
			fm_link l = m->port_link[s * 256 + m->out->lft[s][lid]];
			uint8_t port;

			if (l == FM_NONE)
				continue;
			port = m->out->lft[fab->link_to[l]][lid];
			m->next[(size_t)l * PORT_WORDS + port / 64] |= (uint64_t)1 << (port % 64);
		}
}

/* A turn refused once is refused for ever: the graph only grows. */
static bool
add_turn(struct relaxation *m, fm_link in, fm_link out)
{
	uint64_t *refused;
	enum fm_acyclic_result r;
	uint8_t port;

	if (out == FM_NONE || fm_acyclic_holds(m->turns, in, out))
		return true;
	port = m->fab->link_port[out];
	refused = &m->refused[(size_t)in * PORT_WORDS + port / 64];
	if (*refused >> (port % 64) & 1 || m->n_tries == 0)
		return false;
	m->n_tries--;
	r = fm_acyclic_insert(m->turns, in, out);
	m->nomem |= r == FM_ACYCLIC_NOMEM;
	if (r == FM_ACYCLIC_CYCLE)
		*refused |= (uint64_t)1 << (port % 64);
	return r == FM_ACYCLIC_ADDED;
}

static void
insert_used(struct relaxation *m, fm_link in, fm_link out)
{
	if (out != FM_NONE)
		m->nomem |= fm_acyclic_insert(m->turns, in, out) == FM_ACYCLIC_NOMEM;
}

static void
insert_turns(struct relaxation *m)
{
	for (fm_link l = 0; l < m->fab->n_links; l++)
		for (unsigned port = 0; port < 255; port++)
			if (m->next[(size_t)l * PORT_WORDS + port / 64] >> (port % 64) & 1)
				insert_used(m, l, m->port_link[m->fab->link_to[l] * 256 + port]);
}

/* Give u the route over link l, if the turn after it may be added. */
static bool
lead_by(struct relaxation *m, fm_sw u, fm_link l, uint16_t lid)
{
	fm_sw v = m->fab->link_to[l];
	fm_link out = m->port_link[v * 256 + m->out->lft[v][lid]];

	if (m->n_looks == 0)
		return false;
	m->n_looks--;
	if (m->out->lft[v][lid] == FM_PORT_NONE || (out != FM_NONE && m->fab->link_to[out] == u))
		return false;
	if (!add_turn(m, l, out))
		return false;
	m->out->lft[u][lid] = m->fab->link_port[l];
	m->n_led++;
	return true;
}

/* A route for u over at most `steps` switches that have none.  Links are
 * tried in one order for all, so that the turns added point the same way:
 * turns from a plane to another and back are what closes cycles. */
static bool
lead(struct relaxation *m, fm_sw u, uint16_t lid, unsigned steps)
{
	const struct fm_fabric *fab = m->fab;

	for (fm_link l = fab->sw_first_link[u]; l < fab->sw_first_link[u + 1]; l++)
		if (lead_by(m, u, l, lid))
			return true;
	for (fm_link l = fab->sw_first_link[u]; steps > 0 && l < fab->sw_first_link[u + 1]; l++)
		if (m->out->lft[fab->link_to[l]][lid] == FM_PORT_NONE &&
		    lead(m, fab->link_to[l], lid, steps - 1) && lead_by(m, u, l, lid))
			return true;
	return false;
}

/* One LID for all who need it and miss it; counts those who still do. */
static uint64_t
relax_lid(struct relaxation *m, uint16_t lid, unsigned max_steps)
{
	uint64_t left = 0;

	for (fm_sw u = 0; u < m->fab->n_switches; u++) {
		bool led = !needs(m, u) || !is_missing(m, u, lid);

		for (unsigned steps = 0; !led && steps <= max_steps; steps++)
			led = lead(m, u, lid, steps);
		left += !led;
	}
	return left;
}

/* Hosts' LIDs before the others, which are many and matter less. */
static void
relax_all(struct relaxation *m, struct fm_missing *left)
{
	const struct fm_fabric *fab = m->fab;

	for (unsigned pass = 0; pass < 2; pass++)
		for (fm_end e = 0; e < fab->n_ends; e++)
			for (uint32_t i = 0; i < 1u << fab->end_lmc[e] && !m->nomem; i++) {
				uint16_t lid = (uint16_t)(fab->end_lid[e] + i);

				if (!m->dirty[lid] || fab->lid_end[lid] != e ||
				    fm_is_host(fab, e) != (pass == 0))
					continue;
				if (pass == 0)
					left->to_hosts += relax_lid(m, lid, HOST_STEPS);
				else
					left->to_others += relax_lid(m, lid, OTHER_STEPS);
			}
}

static int
take_memory(const struct fm_host *host, struct relaxation *m, struct fm_error *err)
{
	const struct fm_fabric *fab = m->fab;
	size_t n = fab->n_switches;

	m->port_link = fm_scratch_array(host, n * 256, fm_link);
	m->next = fm_scratch_array(host, (size_t)fab->n_links * PORT_WORDS, uint64_t);
	m->position = fm_scratch_array(host, fab->n_links, uint32_t);
	m->n_below = fm_scratch_array(host, n, uint32_t);
	m->queue = fm_scratch_array(host, n, fm_sw);
	m->refused = fm_scratch_array(host, (size_t)fab->n_links * PORT_WORDS, uint64_t);
	m->n_tries = MAX_TRIES;
	m->n_looks = MAX_LOOKS;
	if (m->port_link == NULL || m->next == NULL || m->refused == NULL || m->position == NULL ||
	    m->n_below == NULL || m->queue == NULL)
		return fm_no_scratch(host, "turns in use", err);
	memset(m->port_link, 0xff, n * 256 * sizeof(*m->port_link));
	for (fm_sw s = 0; s < n; s++)
		for (fm_link l = fab->sw_first_link[s]; l < fab->sw_first_link[s + 1]; l++)
			m->port_link[s * 256 + fab->link_port[l]] = l;
	return 0;
}

static int
start(const struct fm_host *host, struct relaxation *m, struct fm_error *err)
{
	const struct fm_fabric *fab = m->fab;

	m->hosts = fm_scratch_array(host, fab->n_switches, uint8_t);
	m->dirty = fm_scratch_array(host, (size_t)fab->max_lid + 1, uint8_t);
	if (m->hosts == NULL || m->dirty == NULL)
		return fm_no_scratch(host, "list of missing routes", err);
	for (fm_end e = 0; e < fab->n_ends; e++)
		if (fab->end_sw[e] != FM_NONE && fm_sends(fab, e))
			m->hosts[fab->end_sw[e]] = 1;
	return 0;
}

int
fm_relax_turns(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_shape *shape, const struct fm_order *order, unsigned flags,
    const struct fm_tables *out, struct fm_missing *left, struct fm_error *err)
{
	struct relaxation m = {
		.fab = fab, .arcs = &shape->arcs, .shape = shape, .out = out, .flags = flags
	};
	int rc = start(host, &m, err);

	*left = (struct fm_missing){ 0 };
	if (rc != 0 || flags == 0 || !find_missing(&m))
		return rc;
	if ((rc = take_memory(host, &m, err)) != 0)
		return rc;
	order_links(&m, order);
	m.turns = fm_acyclic_new(fab->n_links, m.position);
	if (m.turns == NULL)
		return fm_no_scratch(host, "graph of turns", err);
	collect_turns(&m);
	insert_turns(&m);
	relax_all(&m, left);
	left->n_led = m.n_led;
	fm_acyclic_free(m.turns);
	return m.nomem ? fm_no_scratch(host, "graph of turns", err) : 0;
}
