/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sweep/babble.c - a port that tells of errors without end is taken out of use
 * (babbling_port_policy).
 *
 * Of the two ends of its cable the one nearer to us is set to Disabled (IBA 14.2.5.6,
 * PortPhysicalState): the other may not hear us any more.  Our own port never is, nor a cable that
 * is the only way to switches.
 */
#include "core/events/tell.h"
#include "core/sweep/internal.h"
#include "core/sweep/todo.h"
#include "lib/bitset.h"

struct end {
	uint32_t slot;
	unsigned port;
};

static struct inv_port *
port_at(const struct sweeper *s, struct end e)
{
	return &inv_node(&s->inv, e.slot)->ports[e.port];
}

static struct end
far_of(const struct sweeper *s, struct end e)
{
	const struct inv_port *p = port_at(s, e);

	return (struct end){ p->peer, p->peer_port };
}

static void
on_disabled(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	char name[128];

	inv_name(inv_node(&a->s->inv, a->node), name, sizeof(name));
	if (status == TXN_OK) {
		inv_node(&a->s->inv, a->node)->ports[a->port].stopped = true;
		doubt_link(a->s, a->node, a->port);
	} else if (status != TXN_CANCELLED)
		events_add(EVENT_NODE_REFUSES, FM_LOG_ERR, "sweep", NULL,
		    "%s port %u does not take that it is disabled", name, a->port);
}

static void
disable(struct sweeper *s, struct end e)
{
	struct wire_port_info info = port_at(s, e)->info;
	struct ask *a = ask_new(s, e.slot, (uint8_t)e.port);
	uint8_t data[WIRE_SMP_DATA_BYTES] = { 0 };

	if (a == NULL)
		return;
	info.port_state = WIRE_PORT_DOWN;
	info.phys_state = WIRE_PHYS_DISABLED;
	wire_port_info_put(data, &info);
	a->wait = ASK_BESIDE;
	ask_set_at(a, WIRE_ATTR_PORT_INFO, e.port, data, on_disabled);
}

/* Visit what hangs on a node, without the cable at `without`. */
static void
visit_neighbours(const struct sweeper *s, uint32_t slot, struct end without, uint64_t *seen,
    uint32_t *queue, uint32_t *n)
{
	const struct inv_node *node = inv_node(&s->inv, slot);
	struct end far = far_of(s, without);

	for (unsigned p = 1; p <= node->n_ports; p++) {
		uint32_t next = node->ports[p].peer;

		if (node->ports[p].edge != EDGE_LINKED || fm_bit_test(seen, next) ||
		    (slot == without.slot && p == without.port) ||
		    (slot == far.slot && p == far.port))
			continue;
		fm_bit_set(seen, next);
		queue[(*n)++] = next;
	}
}

/* Is a switch behind this cable that no other way leads to?  True also without memory. */
static bool
is_only_way(const struct sweeper *s, struct end e)
{
	uint32_t n_nodes = (uint32_t)s->inv.nodes.n, n = 1, beyond = port_at(s, e)->peer;
	uint64_t *seen = calloc(FM_BITSET_WORDS(n_nodes), sizeof(*seen));
	uint32_t *queue = calloc(n_nodes, sizeof(*queue));
	bool only = true;

	if (seen != NULL && queue != NULL) {
		queue[0] = s->inv.local;
		fm_bit_set(seen, s->inv.local);
		for (uint32_t i = 0; i < n; i++)
			visit_neighbours(s, queue[i], e, seen, queue, &n);
		only = !fm_bit_test(seen, beyond);
	}
	free(seen);
	free(queue);
	return only;
}

/* The end of the cable that is to be disabled; the sender's, where both are as near. */
static struct end
nearer_end(const struct sweeper *s, struct end sender)
{
	struct end far = far_of(s, sender);
	const struct inv_node *a = inv_node(&s->inv, sender.slot), *b = inv_node(&s->inv, far.slot);

	if (!inv_is_switch(a) || (inv_is_switch(b) && b->n_hops < a->n_hops))
		return far;
	return sender;
}

static json_t *
facts_json(const struct sweeper *s, struct end sender, uint16_t trap)
{
	const struct todo at = {
		.slot = sender.slot, .port = (uint8_t)sender.port, .why = TODO_STOPPED
	};

	return json_pack("{s:i, s:o, s:o}", "trap", (int)trap, "at", todo_at_json(&s->inv, &at),
	    "other", todo_other_json(&s->inv, &at));
}

void
babble_stop(struct sweeper *s, uint32_t slot, unsigned port, uint16_t trap)
{
	struct end sender = { slot, port }, e;
	char name[128], who[224], where[128];
	const char *why_not = NULL;

	inv_name(inv_node(&s->inv, slot), name, sizeof(name));
	snprintf(who, sizeof(who), "%s port %u has sent trap %u %d times in a row", name, port,
	    trap, BABBLE_MOST);
	if (port_at(s, sender)->edge != EDGE_LINKED)
		return;
	e = nearer_end(s, sender);
	if (slot == s->inv.local || port_at(s, sender)->peer == s->inv.local)
		why_not = "it is the link that we hang on";
	else if (inv_is_switch(inv_node(&s->inv, slot)) &&
	    inv_is_switch(inv_node(&s->inv, port_at(s, sender)->peer)) && is_only_way(s, e))
		why_not = "its link is the only way to switches";
	if (why_not != NULL) {
		events_add(EVENT_PORT_BABBLING, FM_LOG_ERR, "sweep", facts_json(s, sender, trap),
		    "%s, and is not disabled: %s", who, why_not);
		return;
	}
	events_add(EVENT_PORT_BABBLING, FM_LOG_ERR, "sweep", facts_json(s, sender, trap),
	    "%s: babbling_port_policy disables %s port %u; \"ibportstate %u %u enable\" undoes it",
	    who, inv_name(inv_node(&s->inv, e.slot), where, sizeof(where)), e.port,
	    inv_node(&s->inv, e.slot)->ports[0].lid, e.port);
	if (!s->set.dry_run)
		disable(s, e);
}
