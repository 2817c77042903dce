/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sweep/discover.c - who is there, and cabled to whom.
 *
 * Breadth first over directed routes, everything in parallel: each answer
 * leads to the next questions.
 *
 *	NodeInfo through a port whose link is up
 *	  -> a node not seen yet: NodeDescription; a switch: SwitchInfo and
 *	     PortInfo of all its ports; a CA or router: PortInfo of that port
 *	  -> PortInfo with the link up and the far end unknown: NodeInfo there
 *
 * A cable is walked from one side only: NodeInfo names the port it arrived
 * at, so both ends are known at once.  Questions: about one NodeInfo a cable,
 * one PortInfo a switch port and CA port, one NodeDescription a node.
 *
 * Bounded: a silent node costs its retries once; reading again (reread.c) has an end.
 */
#include <inttypes.h>

#include "core/sweep/internal.h"
#include "lib/printable.h"
#include "core/sweep/trouble.h"

static void probe(struct sweeper *s, uint32_t node, uint8_t port, uint64_t m_key);

/* ------------------------------------------------------- asking a node */

static void
on_silence(struct sweeper *s, uint32_t node, const char *what, enum txn_status status)
{
	struct inv_node *n = inv_node(&s->inv, node);
	char name[128];

	if (status == TXN_CANCELLED || n->silent)
		return;
	n->silent = true;
	n->silent_way = discover_way(n);
	n->silent_in = s->report.number;
	s->fell_silent = s->fell_silent || (inv_is_switch(n) && !n->was_silent);
	s->report.n_silent++;
	fm_log_rl(&s->silent_bucket, n->warned ? FM_LOG_DEBUG : FM_LOG_WARN, "sweep",
	    "%s %s %s; it is left out of this sweep", inv_name(n, name, sizeof(name)),
	    status == TXN_TIMEOUT ? "does not answer Get" : "refuses Get", what);
	n->warned = true;
}

uint64_t
discover_way(const struct inv_node *n)
{
	return fm_hash_bytes(1, n->path, (size_t)n->n_hops + 1);
}

static void
on_node_desc(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct inv_node *n = inv_node(&a->s->inv, a->node);

	if (status != TXN_OK)
		return; /* a node may be nameless */
	memcpy(n->desc, reply + WIRE_SMP_DATA_AT, 64);
	n->desc[64] = '\0';
	fm_printable(n->desc);
}

/* What a switch held before it lost its power is gone. */
static void
note_reboot(struct inv_node *n)
{
	n->lft = LFT_BLANK;
	mcast_note_reset(n);
	n->sw_refused = 0;
	for (unsigned i = 0; i <= n->n_ports; i++)
		n->ports[i].qos_done = false;
}

static void
ask_ports(struct sweeper *s, uint32_t node)
{
	for (unsigned p = 0; p <= inv_node(&s->inv, node)->n_ports; p++)
		discover_ask_port(s, node, (uint8_t)p);
}

static void
on_change_cleared(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct inv_node *n = inv_node(&a->s->inv, a->node);

	if (ask_is_stale(a))
		return;
	if (status == TXN_OK)
		n->sw.port_state_change = 0;
	ask_ports(a->s, a->node);
}

/* PortStateChange is cleared before the ports are read: a port that changes after it was read
 * sets it again, and what it tells of is never lost.  It is cleared by writing 1, with the other
 * components as they are (IBA 14.2.5.4). */
static void
clear_change(struct sweeper *s, uint32_t node)
{
	uint8_t data[WIRE_SMP_DATA_BYTES] = { 0 };
	struct ask *a = ask_new(s, node, 0);

	if (a == NULL)
		return;
	wire_switch_info_put(data, &inv_node(&s->inv, node)->sw);
	ask_set_at(a, WIRE_ATTR_SWITCH_INFO, 0, data, on_change_cleared);
}

/* False: the answer was none. */
static bool
take_switch_info(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct inv_node *n = inv_node(&a->s->inv, a->node);
	uint16_t top = n->sw_known ? n->sw.linear_fdb_top : 0;

	if (ask_is_stale(a))
		return false;
	if (status != TXN_OK) {
		n->sw_known = false;
		on_silence(a->s, a->node, "SwitchInfo", status);
		return false;
	}
	wire_switch_info_get(reply + WIRE_SMP_DATA_AT, &n->sw);
	n->sw_known = true;
	if (n->sw.linear_fdb_top < top)
		note_reboot(n);
	return true;
}

static void
on_switch_info(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	take_switch_info(a, status, reply);
}

/* ... and its ports are to be read after it. */
static void
on_switch_info_first(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	if (!take_switch_info(a, status, reply))
		return;
	if (inv_node(&a->s->inv, a->node)->sw.port_state_change)
		clear_change(a->s, a->node);
	else
		ask_ports(a->s, a->node);
}

/* A port that came up anew, or may have while nobody could read it, has lost what was set in it. */
static void
note_reset(struct sweeper *s, struct inv_node *n, unsigned port, const struct wire_port_info *now)
{
	struct inv_port *p = &n->ports[port];

	if (now->port_state <= WIRE_PORT_INIT || !p->known) {
		p->refused = 0;
		p->reregistered = false;
		p->repaths = p->repaths && now->port_state > WIRE_PORT_INIT; /* it has not booted */
		p->found_active = now->port_state == WIRE_PORT_ACTIVE;
		p->pkeys_done = false;
		p->pkeys_enforced = false;
		p->aliases_done = false;
		p->qos_done = p->qos_in_done = false;
		if (!p->found_active)
			fm_hash_remove(&s->lost_ports, p->guid); /* it registers by itself */
	}
	if (inv_is_switch(n) && port == 0 && now->lid == 0 && n->lft != LFT_BLANK)
		note_reboot(n);
}

static void
on_port_info(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct inv_node *n = inv_node(&s->inv, a->node);
	struct inv_port *p = &n->ports[a->port];
	struct wire_port_info now;

	if (ask_is_stale(a))
		return;
	p->read_in = s->mark;
	if (status != TXN_OK) {
		p->known = false;
		on_silence(s, a->node, "PortInfo", status);
		return;
	}
	wire_port_info_get(reply + WIRE_SMP_DATA_AT, &now);
	note_reset(s, n, a->port, &now);
	/* The link has come up anew, perhaps by another cable.  The state before counts even where
	 * the last question was not answered, and the port is not `known`. */
	if (p->edge != EDGE_ASKED && now.port_state == WIRE_PORT_INIT &&
	    p->info.port_state > WIRE_PORT_INIT && inv_is_switch(n))
		inv_unlink(&s->inv, a->node, a->port, EDGE_NONE);
	p->info = now;
	p->known = true;
	if (!inv_is_switch(n) || a->port == 0) {
		if (mkeys_note(s, a->node, a->port, &now))
			discover_ask_port(s, a->node, a->port);
		return;
	}
	if (now.port_state < WIRE_PORT_INIT)
		inv_unlink(&s->inv, a->node, a->port, EDGE_NONE);
	else if (p->edge == EDGE_NONE || p->edge == EDGE_WAS || p->edge == EDGE_SILENT ||
	    p->edge == EDGE_DUPLICATE)
		discover_probe(s, a->node, a->port);
}

void
discover_ask_port(struct sweeper *s, uint32_t node, uint8_t port)
{
	struct ask *a = ask_new(s, node, port);

	if (a != NULL)
		ask_get_at(a, WIRE_ATTR_PORT_INFO, port, on_port_info);
}

void
discover_ask_switch(struct sweeper *s, uint32_t node)
{
	bool may_clear = s->was_up && s->p.ha->state == WIRE_SM_MASTER && !s->set.dry_run;
	struct ask *a = ask_new(s, node, 0);

	if (a != NULL &&
	    ask_get_at(
		a, WIRE_ATTR_SWITCH_INFO, 0, may_clear ? on_switch_info_first : on_switch_info) &&
	    !may_clear)
		ask_ports(s, node);
}

static void
on_peek(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct inv_node *n = inv_node(&a->s->inv, a->node);
	struct wire_switch_info now;

	if (status != TXN_OK)
		return;
	wire_switch_info_get(reply + WIRE_SMP_DATA_AT, &now);
	if (now.port_state_change || (n->sw_known && now.linear_fdb_top < n->sw.linear_fdb_top))
		discover_name(a->s, a->node);
}

void
discover_peek(struct sweeper *s, uint32_t node)
{
	struct ask *a;

	if (inv_node(&s->inv, node)->n_rereads > 0 || (a = ask_new(s, node, 0)) == NULL)
		return;
	ask_get_at(a, WIRE_ATTR_SWITCH_INFO, 0, on_peek);
}

void
discover_ask_desc(struct sweeper *s, uint32_t node, uint8_t port)
{
	struct ask *a = ask_new(s, node, port);

	if (a != NULL)
		ask_get_at(a, WIRE_ATTR_NODE_DESC, 0, on_node_desc);
}

/* ------------------------------------------------------ walking a cable */

static const char *
check_node_info(const struct wire_node_info *info)
{
	if (info->node_guid == 0)
		return "a node GUID of 0";
	if (info->port_guid == 0)
		return "a port GUID of 0";
	if (info->node_type < WIRE_NODE_CA || info->node_type > WIRE_NODE_ROUTER)
		return "an unknown node type";
	if (info->n_ports == 0 || info->n_ports > INV_PORTS_MAX)
		return "an impossible number of ports";
	if (info->local_port > info->n_ports ||
	    (info->local_port == 0 && info->node_type != WIRE_NODE_SWITCH))
		return "a local port that it does not have";
	return NULL;
}

static void
on_probe(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct inv_port *p = &inv_node(&s->inv, a->node)->ports[a->port];
	const char *wrong = NULL;
	struct wire_node_info info;
	char name[128], line[512];

	if (ask_is_stale(a) || p->edge != EDGE_ASKED)
		return; /* meanwhile found from the other side, or the link went away */
	if (status == TXN_OK) {
		wire_node_info_get(reply + WIRE_SMP_DATA_AT, &info);
		wrong = check_node_info(&info);
	}
	if (status == TXN_OK && wrong == NULL) {
		arrive(s, a->node, a->port, reply + WIRE_SMP_DATA_AT, a->route.m_key);
		return;
	}
	if (status == TXN_TIMEOUT && a->route.m_key == 0 && mkeys_other(s) != 0) {
		probe(s, a->node, a->port, mkeys_other(s));
		return;
	}
	p->edge = EDGE_SILENT;
	if (status == TXN_CANCELLED || s->report.scope == SWEEP_LIGHT)
		return; /* a light sweep only asks whether it has come alive */
	s->report.n_silent++;
	if (p->told == TROUBLE_NO_ANSWER)
		return;
	inv_name(inv_node(&s->inv, a->node), name, sizeof(name));
	if (wrong != NULL)
		fm_log_rl(&s->silent_bucket, FM_LOG_WARN, "sweep",
		    "what is cabled to %s port %u claims %s; it is left out", name, a->port, wrong);
	else
		fm_log_rl(&s->silent_bucket, FM_LOG_WARN, "sweep", "%s; it is left out",
		    trouble_say(&s->inv, a->node, a->port, line, sizeof(line)));
}

static void
probe(struct sweeper *s, uint32_t node, uint8_t port, uint64_t m_key)
{
	struct inv_port *p = &inv_node(&s->inv, node)->ports[port];
	struct ask *a = ask_new(s, node, port);
	struct smp_route route;

	if (a == NULL)
		return;
	if (!inv_route_beyond(&s->inv, node, port, &route)) {
		ask_drop(a);
		return;
	}
	route.m_key = m_key;
	if (p->edge == EDGE_DUPLICATE || p->edge == EDGE_LOOP)
		p->peer = INV_NONE; /* it was not there */
	p->edge = EDGE_ASKED;
	a->node = node;
	ask_get(a, &route, WIRE_ATTR_NODE_INFO, 0, on_probe);
}

void
discover_probe(struct sweeper *s, uint32_t node, uint8_t port)
{
	probe(s, node, port, 0);
}

/* ------------------------------------------------------------ the start */

static void
on_own_port(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct inv_port *p = &inv_node(&s->inv, a->node)->ports[a->port];
	uint8_t was = p->known ? p->info.port_state : WIRE_PORT_DOWN;

	on_port_info(a, status, reply);
	if (status != TXN_OK || a->port == 0)
		return;
	if (p->info.port_state < was) { /* perhaps another cable now */
		s->changed = true;
		inv_unlink(&s->inv, a->node, a->port, EDGE_NONE);
	}
	if (inv_port_up(p) &&
	    (p->edge == EDGE_NONE || p->edge == EDGE_WAS || p->edge == EDGE_SILENT ||
		p->edge == EDGE_DUPLICATE))
		discover_probe(s, a->node, a->port);
}

void
discover_own_port(struct sweeper *s)
{
	struct ask *a;

	if (s->inv.local == INV_NONE || (a = ask_new(s, s->inv.local, s->inv.local_port)) == NULL)
		return;
	ask_get_at(a, WIRE_ATTR_PORT_INFO, s->inv.local_port, on_own_port);
}

static void on_own_node(struct ask *a, enum txn_status status, const uint8_t *reply);

static void
ask_own_node(struct sweeper *s, uint64_t m_key)
{
	struct smp_route here = { .directed = true, .lid = WIRE_LID_PERMISSIVE, .m_key = m_key };
	struct ask *a = ask_new(s, INV_NONE, 0);

	if (a != NULL)
		ask_get(a, &here, WIRE_ATTR_NODE_INFO, 0, on_own_node);
}

static void
on_own_node(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct smp_route here = { .directed = true, .lid = WIRE_LID_PERMISSIVE };
	struct wire_node_info info;
	uint8_t port;
	uint32_t slot;

	if (status == TXN_TIMEOUT && a->route.m_key == 0 && mkeys_other(s) != 0) {
		ask_own_node(s, mkeys_other(s));
		return;
	}
	if (status != TXN_OK) {
		mkeys_own_port_silent(s);
		return;
	}
	wire_node_info_get(reply + WIRE_SMP_DATA_AT, &info);
	if (check_node_info(&info) != NULL || (slot = inv_add(&s->inv, &info)) == INV_NONE) {
		sweep_fail(s, FM_E_SYSTEM, "our own port answers NodeInfo with nonsense");
		return;
	}
	port = info.node_type == WIRE_NODE_SWITCH ? 0 : info.local_port;
	s->inv.local = slot;
	s->inv.local_port = port;
	arrive_greet(s, slot, &here);
	if (a->route.m_key != 0)
		inv_node(&s->inv, slot)->ports[port].m_key = a->route.m_key;
	if (!inv_set_port_guid(&s->inv, slot, port, info.port_guid))
		sweep_fail(s, FM_E_RESOURCE, "out of memory for the inventory");
	arrive_ask_details(s, slot, port);
	if (port != 0)
		discover_own_port(s);
}

void
discover_start(struct sweeper *s)
{
	s->mark++;
	ask_own_node(s, 0);
}
