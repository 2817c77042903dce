/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sweep/reread.c - records in doubt are read, until what the two ends of each cable say goes
 * together.
 *
 * Bounded: a node is read READS_MAX times a sweep at most.  What is in doubt then stays so, and is
 * read by the next sweep (todo.h).
 */
#include "core/ask/late.h"
#include "core/sweep/internal.h"

#define READS_MAX 6
#define SILENT_READS_MAX 2 /* of one that does not answer: each costs all its time-outs */

static void
read_switch(struct sweeper *s, uint32_t slot)
{
	struct inv_node *n = inv_node(&s->inv, slot);

	if (n->desc[0] == '\0' || n->desc_doubted)
		discover_ask_desc(s, slot, 0);
	if (!observe_switch_is_fresh(n))
		discover_ask_switch(s, slot);
	else
		for (unsigned p = 0; p <= n->n_ports; p++)
			if (!observe_port_is_fresh(&n->ports[p]))
				discover_ask_port(s, slot, (uint8_t)p);
}

static void
read_ca(struct sweeper *s, uint32_t slot)
{
	const struct inv_node *n = inv_node(&s->inv, slot);

	for (unsigned p = 1; p <= n->n_ports; p++)
		if ((n->ports[p].edge == EDGE_LINKED || inv_walks(&s->inv, slot, p)) &&
		    !observe_port_is_fresh(&n->ports[p])) {
			discover_ask_port(s, slot, (uint8_t)p);
			discover_ask_desc(s, slot, (uint8_t)p);
		}
}

/* It has not answered in this sweep, and would not by the same way. */
static bool
is_in_vain(const struct sweeper *s, const struct inv_node *n)
{
	return n->silent && n->silent_in == s->report.number && n->silent_way == inv_way(n) &&
	    s->report.scope != SWEEP_HEAVY;
}

/* Nodes that no cable leads to any more are gone, and the others are asked by the routes that are
 * left. */
static void
find_routes(struct sweeper *s)
{
	s->disc->n_unlinked = s->inv.n_unlinked;
	if (!inv_find_routes(&s->inv))
		sweep_fail(s, FM_E_RESOURCE, "out of memory for directed routes");
}

void
discover_reread(struct sweeper *s)
{
	size_t n_doubted = s->reading.doubted.n;

	if (s->disc->n_unlinked != s->inv.n_unlinked)
		find_routes(s);
	for (size_t i = 0; i < n_doubted; i++) {
		uint32_t slot = s->reading.doubted.item[i];
		struct inv_node *n = inv_node(&s->inv, slot);

		n->doubted = false;
		if (!n->present || n->n_reads >= READS_MAX)
			continue;
		if (is_in_vain(s, n)) {
			n->silent_way = 0; /* discover_retry() finds another */
			continue;
		}
		n->n_reads++;
		late_forget(s, slot);
		n->silent = n->quiet = false;
		if (inv_is_switch(n))
			read_switch(s, slot);
		else
			read_ca(s, slot);
	}
	s->reading.doubted.n = 0;
}

/* One end calls the cable up, the other one down. */
static bool
is_contradicted(const struct inventory *inv, const struct inv_port *p)
{
	return p->edge == EDGE_LINKED && p->known && !inv_port_up(p) &&
	    inv_port_up(&inv_node(inv, p->peer)->ports[p->peer_port]);
}

/* One end has come up anew, and the other was read before that. */
static bool
is_stale(const struct inventory *inv, const struct inv_port *p)
{
	const struct inv_port *far;

	if (p->edge != EDGE_LINKED || !p->known || p->info.port_state != WIRE_PORT_INIT)
		return false;
	far = &inv_node(inv, p->peer)->ports[p->peer_port];
	return far->known && far->info.port_state > WIRE_PORT_INIT;
}

static bool
may_be_read(const struct inventory *inv, uint32_t slot)
{
	return inv_node(inv, slot)->n_reads < READS_MAX && inv_node(inv, slot)->n_late == 0;
}

void
discover_compare_ends(struct sweeper *s)
{
	for (uint32_t i = 0; i < s->inv.nodes.n; i++) {
		const struct inv_node *n = inv_node(&s->inv, i);

		for (unsigned p = 1; n->present && p <= n->n_ports; p++) {
			const struct inv_port *port = &n->ports[p];

			if ((is_contradicted(&s->inv, port) || is_stale(&s->inv, port)) &&
			    may_be_read(&s->inv, i) && may_be_read(&s->inv, port->peer))
				doubt_link(s, i, p);
		}
	}
}

/* Cables that one end calls down and the other up.  Where both ends are fresh they were read as
 * often as discover_compare_ends() asks for, so what answers at the far end is another node of the
 * same GUID.  Else the link is left out until both ends have been read. */
static void
drop_contradicted(struct sweeper *s)
{
	for (uint32_t i = 0; i < s->inv.nodes.n; i++) {
		struct inv_node *n = inv_node(&s->inv, i);

		for (unsigned p = 1; n->present && p <= n->n_ports; p++) {
			const struct inv_port *port = &n->ports[p];

			if (is_contradicted(&s->inv, port) && observe_port_is_fresh(port) &&
			    observe_port_is_fresh(
				&inv_node(&s->inv, port->peer)->ports[port->peer_port]))
				discover_leave_out(s, port->peer, port->peer_port, i, (uint8_t)p);
			else if (port->edge == EDGE_LINKED && port->known && !inv_port_up(port))
				inv_unlink(&s->inv, i, (uint8_t)p, EDGE_NONE);
		}
	}
}

/* A cable that is lost and has not been told of yet leaves a route that leads nowhere: the last
 * switch on it is read, once, which shows the cable gone, and what lies behind is asked by the
 * routes there are then.  Else packets would go on through switches that the plan has not.
 * discover_lost_sight() finds them too, but reads all there is for it: this is for one lost
 * cable, that for what this does not find. */
bool
discover_retry(struct sweeper *s)
{
	for (size_t i = 0; i < s->inv.switches.n; i++) {
		uint32_t slot = s->inv.switches.item[i], before;
		const struct inv_node *n = inv_node(&s->inv, slot);

		if (!n->present || !n->silent || n->n_reads >= SILENT_READS_MAX)
			continue;
		before = inv_before(&s->inv, slot, 0);
		if (before != INV_NONE && inv_node(&s->inv, before)->n_reads == 0) {
			doubt_node(s, before);
		} else if (n->silent_way != inv_way(n)) {
			doubt_node(s, slot);
			s->report.n_silent -= n->silent_in == s->report.number;
		}
	}
	return s->reading.doubted.n > 0;
}

bool
discover_lost_sight(const struct sweeper *s)
{
	for (size_t i = 0; s->disc->fell_silent && !s->disc->looked_twice && i < s->inv.switches.n;
	     i++) {
		const struct inv_node *n = inv_node(&s->inv, s->inv.switches.item[i]);

		if (n->present && n->silent && n->silent_in == s->report.number)
			return true;
	}
	return false;
}

/* A switch without a LID looks fresh, but LIDs come after tables: LinearFDBTop
 * tells of an SM that was killed in between. */
static void
doubt_tables(struct sweeper *s)
{
	for (uint32_t i = 0; i < s->inv.nodes.n; i++) {
		struct inv_node *n = inv_node(&s->inv, i);

		observe_lost_power(n);
		if (n->lft == LFT_BLANK && n->sw_known && n->sw.linear_fdb_top != 0) {
			n->lft = LFT_UNKNOWN;
			n->mft = MFT_UNKNOWN;
		}
	}
}

/* Where the discovery has found nothing else they are gone. */
static void
forget_old_links(struct sweeper *s)
{
	for (uint32_t i = 0; i < s->inv.nodes.n; i++)
		for (unsigned p = 0; p <= inv_node(&s->inv, i)->n_ports; p++)
			if (inv_node(&s->inv, i)->ports[p].edge == EDGE_WAS)
				inv_unlink(&s->inv, i, (uint8_t)p, EDGE_NONE);
}

void
discover_finish(struct sweeper *s)
{
	drop_contradicted(s);
	forget_old_links(s);
	doubt_tables(s);
	find_routes(s);
}
