/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sweep/reread.c - nodes that are read again: named by traps and light sweeps, or in
 * doubt, since what the two ends of a cable say does not go together.
 *
 * Bounded: a switch that reports changes while it is read, or has a cable that is up at one
 * end only, is read again REREADS_MAX times at most.  What then still does not go together
 * is left out, with a warning.
 */
#include "core/sweep/internal.h"

void
discover_name(struct sweeper *s, uint32_t slot)
{
	for (size_t i = 0; i < s->named.n; i++)
		if (s->named.item[i] == slot)
			return;
	if (!fm_vec_push(&s->named, slot))
		sweep_fail(s, FM_E_RESOURCE, "out of memory for the list of changed nodes");
}

static void
reread_switch(struct sweeper *s, uint32_t slot)
{
	struct inv_node *n = inv_node(&s->inv, slot);
	char name[128];

	if (!n->present)
		return;
	if (n->silent && n->silent_in == s->report.number && n->silent_way == discover_way(n) &&
	    s->report.scope != SWEEP_HEAVY) {
		n->silent_way = 0; /* nor would it answer now: discover_retry() */
		return;
	}
	if (n->n_rereads++ >= REREADS_MAX) {
		log_warn("sweep", "%s keeps changing; it is read again in the next sweep",
		    inv_name(n, name, sizeof(name)));
		return;
	}
	n->silent = n->quiet = false;
	discover_ask_switch(s, slot);
}

static void
reread_ca(struct sweeper *s, uint32_t slot)
{
	struct inv_node *n = inv_node(&s->inv, slot);

	if (n->n_rereads++ >= REREADS_MAX)
		return;
	n->silent = n->quiet = false;
	for (unsigned p = 1; n->present && p <= n->n_ports; p++)
		if (n->ports[p].edge == EDGE_LINKED) {
			discover_ask_port(s, slot, (uint8_t)p);
			discover_ask_desc(s, slot, (uint8_t)p);
		}
}

void
discover_reread(struct sweeper *s)
{
	for (size_t i = 0; i < s->named.n; i++)
		if (inv_is_switch(inv_node(&s->inv, s->named.item[i])))
			reread_switch(s, s->named.item[i]);
		else
			reread_ca(s, s->named.item[i]);
	s->named.n = 0;
}

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

static void
name_doubted(struct sweeper *s, uint32_t slot)
{
	if (inv_node(&s->inv, slot)->n_rereads < REREADS_MAX)
		discover_name(s, slot);
}

void
discover_doubt(struct sweeper *s)
{
	for (uint32_t i = 0; i < s->inv.nodes.n; i++) {
		const struct inv_node *n = inv_node(&s->inv, i);

		for (unsigned p = 1; n->present && p <= n->n_ports; p++) {
			const struct inv_port *port = &n->ports[p];

			if (is_contradicted(&s->inv, port))
				name_doubted(s, i);
			else if (!is_stale(&s->inv, port))
				continue;
			name_doubted(s, port->peer);
		}
	}
}

/* A cable that one end calls down and the other up.  Read once, they may have been read
 * before and after it was put in; as often as discover_doubt() asks for, what answered at
 * the far end is another node of the same GUID. */
static void
drop_contradicted(struct sweeper *s)
{
	for (uint32_t i = 0; i < s->inv.nodes.n; i++) {
		struct inv_node *n = inv_node(&s->inv, i);

		for (unsigned p = 1; n->present && p <= n->n_ports; p++) {
			const struct inv_port *port = &n->ports[p];

			if (is_contradicted(&s->inv, port))
				arrive_leave_out(s, port->peer, port->peer_port, i, (uint8_t)p);
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
		bool unread;

		if (!n->present || !n->silent || n->n_rereads >= REREADS_MAX)
			continue;
		before = inv_before(&s->inv, slot, 0);
		unread = before != INV_NONE && inv_node(&s->inv, before)->n_rereads == 0;
		if (unread) {
			discover_name(s, before);
		} else if (n->silent_way != discover_way(n)) {
			discover_name(s, slot);
			s->report.n_silent -= n->silent_in == s->report.number;
		}
	}
	return s->named.n > 0;
}

bool
discover_lost_sight(const struct sweeper *s)
{
	for (size_t i = 0; s->fell_silent && !s->looked_twice && i < s->inv.switches.n; i++) {
		const struct inv_node *n = inv_node(&s->inv, s->inv.switches.item[i]);

		if (n->present && n->silent && n->silent_in == s->report.number)
			return true;
	}
	return false;
}

/* A switch without a LID looks fresh, but LIDs come after tables: LinearFDBTop
 * tells of an SM that was killed in between. */
static void
doubt_fresh_switches(struct sweeper *s)
{
	for (uint32_t i = 0; i < s->inv.nodes.n; i++) {
		struct inv_node *n = inv_node(&s->inv, i);

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
	uint32_t n_lost;

	drop_contradicted(s);
	forget_old_links(s);
	doubt_fresh_switches(s);
	if (!inv_find_routes(&s->inv, &n_lost))
		sweep_fail(s, FM_E_RESOURCE, "out of memory for directed routes");
	s->report.n_lost += n_lost;
}
