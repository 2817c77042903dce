/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the order of writing has to reckon with besides tables: switches that do not
 * answer and forward all the same, links that carry no packets yet.
 */
#include "core/program/apply_internal.h"

/* Is there, by all that is known, still a link at this port of a switch to that one? */
static bool
may_be_up(const struct sweeper *s, fm_sw sw, uint8_t port, fm_sw to)
{
	const struct inv_node *n = inv_node(&s->inv, s->inv.switches.item[sw]);

	if (!node_usable(n))
		return true; /* it does not say */
	return port <= n->n_ports && inv_port_up(&n->ports[port]) &&
	    (n->ports[port].edge != EDGE_LINKED || n->ports[port].peer == s->inv.switches.item[to]);
}

static bool
is_usable_switch(const struct sweeper *s, fm_sw sw)
{
	return node_usable(inv_node(&s->inv, s->inv.switches.item[sw]));
}

/* A link that there was, at one end at least a switch that does not answer: packets
 * may still pass.  Remembered, for the next plan does not have it. */
static void
try_silent_link(struct sweeper *s, struct transition *t, const struct silent_link *l)
{
	if ((is_usable_switch(s, l->sw) && is_usable_switch(s, l->to)) ||
	    !may_be_up(s, l->sw, l->port, l->to) || !may_be_up(s, l->to, l->to_port, l->sw))
		return;
	transition_link(t, l->sw, l->port, l->to);
	for (size_t i = 0; i < s->writing.silent.n; i++)
		if (s->writing.silent.item[i].sw == l->sw &&
		    s->writing.silent.item[i].port == l->port)
			return;
	if (!fm_vec_push(&s->writing.silent, *l))
		sweep_fail(s, FM_E_RESOURCE, "out of memory for links to silent switches");
}

static void
try_links_of(struct sweeper *s, struct transition *t, const struct fm_fabric *was)
{
	for (fm_link l = 0; l < was->n_links; l++) {
		fm_link back = was->link_rev[l];
		struct silent_link silent = { was->link_to[back], was->link_to[l],
			was->link_port[l], was->link_port[back] };

		try_silent_link(s, t, &silent);
	}
}

/* Those of the last plan, of the fabric its tables were made for, and those known
 * from before. */
static void
add_silent_links(struct sweeper *s, struct transition *t)
{
	size_t n = s->writing.silent.n;

	s->writing.silent.n = 0;
	for (size_t i = 0; i < n; i++) {
		struct silent_link l = s->writing.silent.item[i]; /* its place is free by now */

		try_silent_link(s, t, &l);
	}
	try_links_of(s, t, fabric_of(s->plan));
	if (s->plan->graph != NULL && s->plan->graph != s->plan->snap)
		try_links_of(s, t, &s->plan->graph->fab);
}

static void
fix_silent_switch(struct sweeper *s, uint32_t slot)
{
	for (uint32_t block = 0; block < n_blocks(s->next); block++)
		apply_fix_block(s, slot, block);
}

/* A switch that forwards by tables of which we know something. */
static bool
is_remembered(const struct inv_node *n)
{
	return !node_usable(n) && (n->lft == LFT_OURS || n->lft_remembered);
}

static void
add_silent(struct sweeper *s, struct transition *t)
{
	if (s->plan != NULL)
		add_silent_links(s, t);
	for (size_t i = 0; sweeper_has_silent_links(s) && i < s->inv.switches.n; i++)
		if (is_remembered(inv_node(&s->inv, s->inv.switches.item[i])))
			fix_silent_switch(s, s->inv.switches.item[i]);
}

static bool
is_active(const struct sweeper *s, const struct inv_port *p)
{
	return p->info.port_state == WIRE_PORT_ACTIVE &&
	    inv_node(&s->inv, p->peer)->ports[p->peer_port].info.port_state == WIRE_PORT_ACTIVE;
}

/* Links that come up in this sweep carry packets when it has made them active. */
static void
add_cold_links(struct sweeper *s, struct transition *t)
{
	for (size_t i = 0; i < s->inv.switches.n; i++) {
		const struct inv_node *n = inv_node(&s->inv, s->inv.switches.item[i]);

		for (unsigned p = 1; node_usable(n) && p <= n->n_ports; p++) {
			const struct inv_port *port = &n->ports[p];

			if (link_usable(&s->inv, port) &&
			    inv_is_switch(inv_node(&s->inv, port->peer)) && !is_active(s, port))
				transition_cold(t, n->sw_index, (uint8_t)p);
		}
	}
}

void
apply_order(struct sweeper *s)
{
	struct transition *t = s->writing.transition;

	for (size_t i = 0; t == NULL && s->plan != NULL && i < s->inv.switches.n; i++)
		if (is_remembered(inv_node(&s->inv, s->inv.switches.item[i])))
			t = apply_transition(s);
	if (t == NULL)
		return;
	add_cold_links(s, t);
	add_silent(s, t);
	if (!transition_plan(t)) {
		sweep_fail(s, FM_E_RESOURCE, "out of memory for the order of tables");
		return;
	}
	for (size_t i = 0; i < s->inv.switches.n; i++) {
		const struct inv_node *n = inv_node(&s->inv, s->inv.switches.item[i]);

		if (n->quiet)
			transition_quarantine(t, n->sw_index);
	}
}
