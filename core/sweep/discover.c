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
 * one PortInfo a switch port and CA port, one NodeDescription a node.  A switch that is known and
 * tells of a change: its table of states, if it has one, and PortInfo of the ports that have
 * changed (states.c).
 *
 * Who comes may be in doubt (arrive.h): then another is asked first, and the answer settles it.
 *
 * Bounded: a silent node costs its retries once in a heavy sweep.  Where nobody answered before,
 * a light sweep asks beside, and a port that is read again briefly, so that no event waits for
 * it.  What happens while reads are out waits for none of them for long (discover_let_go()).
 * Reading again (reread.c) has an end.
 */
#include <inttypes.h>

#include "core/ask/late.h"
#include "core/sweep/arrive.h"
#include "core/sweep/internal.h"

#define BESIDE_MAX 16384
#define TABLE_TRIES 1 /* without the table the ports are read, so nobody waits for it for long */
#define DOUBTS_MAX(s) (256 + 4 * (s)->inv.nodes.n)
#define NEWCOMERS_MAX 32
#define NEWCOMERS_MS (3600 * 1000)

static void probe(struct sweeper *s, uint32_t node, uint8_t port, uint64_t m_key);
static void look_for_sign(struct sweeper *s, uint32_t node, uint8_t port, uint64_t m_key);
static void on_port_info(struct ask *a, enum txn_status status, const uint8_t *reply);

/* ------------------------------------------------------- asking a node */

static void
on_node_desc(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	if (status != TXN_OK) /* a node may be nameless */
		return;
	inv_node(&a->s->inv, a->node)->desc_doubted = false;
	inv_describe(&a->s->inv, a->node, reply + WIRE_SMP_DATA_AT);
}

/* Of what must be known of a node. */
static struct ask *
new_read(struct sweeper *s, uint32_t node, uint8_t port)
{
	struct ask *a = ask_new(s, node, port);

	if (a != NULL) {
		a->wait = ASK_MAY_BE_LATE;
		a->about = node;
	}
	return a;
}

/* The switch has told in its table that the port is in this state; 0: it has not. */
static void
ask_told_port(struct sweeper *s, uint32_t node, uint8_t port, uint8_t state)
{
	struct ask *a = new_read(s, node, port);

	if (a == NULL)
		return;
	a->kind = state;
	ask_get_at(a, WIRE_ATTR_PORT_INFO, port, on_port_info);
}

void
discover_ask_port(struct sweeper *s, uint32_t node, uint8_t port)
{
	ask_told_port(s, node, port, 0);
}

static void
on_port_info(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct inv_node *n = inv_node(&s->inv, a->node);
	struct inv_port *p = &n->ports[a->port];

	if (!observe_port(a, status, reply))
		return;
	if (a->kind != 0)
		states_compare(s, a->node, a->kind == p->info.port_state);
	if ((!inv_is_switch(n) || a->port == 0) && mkeys_note(s, a->node, a->port, &p->info))
		discover_ask_port(s, a->node, a->port);
	if (!inv_walks(&s->inv, a->node, a->port))
		return;
	if (p->info.port_state < WIRE_PORT_INIT)
		inv_unlink(&s->inv, a->node, a->port, EDGE_NONE);
	else if (p->edge == EDGE_NONE || p->edge == EDGE_WAS || p->edge == EDGE_SILENT ||
	    p->edge == EDGE_DUPLICATE)
		discover_probe(s, a->node, a->port);
}

/* --------------------------------------------------------- asking a switch */

static void ask_states(struct sweeper *s, uint32_t node, unsigned block, bool is_unseen);

/* Those of which what is known is in doubt, or nothing. */
static void
ask_ports(struct sweeper *s, uint32_t node)
{
	const struct inv_node *n = inv_node(&s->inv, node);

	for (unsigned p = 0; p <= n->n_ports; p++)
		if (!observe_port_is_fresh(&n->ports[p]))
			discover_ask_port(s, node, (uint8_t)p);
}

/* Ports of the block that are in doubt, and what the table has told of each. */
static void
ask_told_ports(struct sweeper *s, uint32_t node, unsigned block, const uint8_t *table)
{
	const struct inv_node *n = inv_node(&s->inv, node);
	unsigned first = block * WIRE_STATES_OF_BLOCK;

	for (unsigned p = first > 0 ? first : 1;
	     p <= n->n_ports && p < first + WIRE_STATES_OF_BLOCK; p++)
		if (!observe_port_is_fresh(&n->ports[p]))
			ask_told_port(s, node, (uint8_t)p, wire_port_state_get(table, p));
}

/* is_unseen: the switch has told of a change, and its table shows none. */
static void
end_states(struct sweeper *s, uint32_t node, bool is_unseen)
{
	struct inv_node *n = inv_node(&s->inv, node);

	if (is_unseen) {
		observe_doubt_ports(s, n);
		ask_ports(s, node);
	} else if (!observe_port_is_fresh(&n->ports[0]) || !observe_has_stayed(n)) {
		n->ports[0].doubt_seq = s->reading.seq;
		discover_ask_port(s, node, 0);
	}
	observe_has_told(n);
}

/* There is no table, or none that can be believed: each port tells its state. */
static void
do_without_states(struct sweeper *s, uint32_t node)
{
	struct inv_node *n = inv_node(&s->inv, node);

	observe_doubt_ports(s, n);
	observe_has_told(n);
	ask_ports(s, node);
}

static void
on_states(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct inv_node *n = inv_node(&s->inv, a->node);
	const uint8_t *table = reply != NULL ? reply + WIRE_SMP_DATA_AT : NULL;
	bool is_unseen = a->kind != 0;

	if (ask_is_stale(a))
		return;
	switch (states_judge(s, a->node, a->index, status, table)) {
	case STATES_NONE:
		if (status == TXN_CANCELLED)
			observe_doubt_ports(s, n);
		else
			do_without_states(s, a->node);
		return;
	case STATES_HAVE_CHANGED:
		is_unseen = false;
		break;
	case STATES_AS_KNOWN:
		break;
	}
	ask_told_ports(s, a->node, a->index, table);
	if ((a->index + 1) * WIRE_STATES_OF_BLOCK <= n->n_ports)
		ask_states(s, a->node, a->index + 1, is_unseen);
	else
		end_states(s, a->node, is_unseen);
}

/* Silence is no sign that the switch itself does not answer: it is not put as ask_get_at() does. */
static void
ask_states(struct sweeper *s, uint32_t node, unsigned block, bool is_unseen)
{
	struct inv_node *n = inv_node(&s->inv, node);
	struct ask *a = new_read(s, node, 0);
	struct smp_route route;

	if (a == NULL)
		return;
	if (n->quiet || !inv_route(&s->inv, node, 0, &route)) {
		observe_doubt_ports(s, n);
		ask_drop(a);
		return;
	}
	route.max_tries = TABLE_TRIES;
	a->index = block;
	a->kind = is_unseen;
	ask_get(a, &route, WIRE_ATTR_PORT_STATES, block, on_states);
}

static bool
has_fresh_port(const struct inv_node *n)
{
	for (unsigned p = 1; p <= n->n_ports; p++)
		if (observe_port_is_fresh(&n->ports[p]))
			return true;
	return false;
}

/* has_changed: the switch has told that ports have changed, and nothing that was read before
 * counts.  The table is of use where not all ports are in doubt anyhow. */
static void
read_ports(struct sweeper *s, uint32_t node, bool has_changed)
{
	struct inv_node *n = inv_node(&s->inv, node);
	bool by_states = n->states_doubted || has_changed;

	n->states_doubted = false;
	if (!by_states)
		ask_ports(s, node);
	else if (doubt_has_states(n) && has_fresh_port(n))
		ask_states(s, node, 0, has_changed);
	else
		do_without_states(s, node);
}

/* -------------------------------------------------------------- the switch */

static void
on_change_cleared(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	if (ask_is_stale(a))
		return;
	if (status == TXN_OK)
		inv_node(&a->s->inv, a->node)->sw.port_state_change = 0;
	read_ports(a->s, a->node, true);
}

/* PortStateChange is cleared before the ports are read: a port that changes after it was read
 * sets it again, and what it tells of is never lost.  It is cleared by writing 1, with the other
 * components as they are (IBA 14.2.5.4). */
static void
clear_change(struct sweeper *s, uint32_t node)
{
	uint8_t data[WIRE_SMP_DATA_BYTES] = { 0 };
	struct ask *a = new_read(s, node, 0);

	if (a == NULL)
		return;
	wire_switch_info_put(data, &inv_node(&s->inv, node)->sw);
	ask_set_at(a, WIRE_ATTR_SWITCH_INFO, 0, data, on_change_cleared);
}

/* The ports were asked at the same time. */
static void
on_switch_info(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	observe_switch(a, status, reply);
}

static void
on_switch_info_first(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	if (!observe_switch(a, status, reply))
		return;
	if (inv_node(&a->s->inv, a->node)->sw.port_state_change)
		clear_change(a->s, a->node);
	else
		read_ports(a->s, a->node, false);
}

/* As master PortStateChange is cleared before the ports are read; till then they are asked at the
 * same time (program.c). */
void
discover_ask_switch(struct sweeper *s, uint32_t node)
{
	bool may_clear = sweeper_was_up(s) && s->p.ha->state == WIRE_SM_MASTER && !s->set.dry_run;
	struct ask *a = new_read(s, node, 0);

	if (a != NULL &&
	    ask_get_at(
		a, WIRE_ATTR_SWITCH_INFO, 0, may_clear ? on_switch_info_first : on_switch_info) &&
	    !may_clear)
		read_ports(s, node, false);
	if (ar_is_asked(s, node) && (a = new_read(s, node, 0)) != NULL)
		ar_ask(a);
}

void
discover_ask_desc(struct sweeper *s, uint32_t node, uint8_t port)
{
	struct ask *a = new_read(s, node, port);

	if (a == NULL)
		return;
	a->about = INV_NONE; /* it may be nameless */
	ask_get_at(a, WIRE_ATTR_NODE_DESC, 0, on_node_desc);
}

/* ----------------------------------------------------------- who is left out */

void
discover_leave_out(
    struct sweeper *s, uint32_t node, uint8_t port, uint32_t owner, uint8_t owner_port)
{
	struct inv_port *p = &inv_node(&s->inv, node)->ports[port];

	inv_unlink(&s->inv, node, port, EDGE_DUPLICATE);
	p->peer = owner;
	p->peer_port = owner_port;
}

/* Another node has been taken for this one: its other cables have to prove themselves. */
static void
on_audit(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	const struct inv_port *p = &inv_node(&s->inv, a->node)->ports[a->port];
	struct wire_node_info info = { 0 };
	uint32_t far = a->claim_node;
	uint8_t far_port = a->claim_port;

	if (status == TXN_CANCELLED || p->edge != EDGE_LINKED || p->peer != far ||
	    p->peer_port != far_port)
		return;
	if (status == TXN_OK)
		wire_node_info_get(reply + WIRE_SMP_DATA_AT, &info);
	if (inv_is(&s->inv, far, &info) && info.local_port == far_port)
		return;
	discover_leave_out(s, far, far_port, a->node, a->port);
	discover_probe(s, a->node, a->port);
}

static void
audit(struct sweeper *s, uint32_t slot)
{
	struct inv_node *n = inv_node(&s->inv, slot);

	if (n->disputed_in == s->report.number || !inv_is_switch(n))
		return;
	n->disputed_in = s->report.number;
	for (unsigned p = 1; p <= n->n_ports; p++) {
		struct smp_route route;
		struct ask *a;

		if (n->ports[p].edge != EDGE_LINKED ||
		    !inv_route_beyond(&s->inv, slot, (uint8_t)p, &route))
			continue;
		a = ask_new(s, slot, (uint8_t)p);
		if (a == NULL)
			return;
		a->claim_node = n->ports[p].peer;
		a->claim_port = n->ports[p].peer_port;
		route.m_key =
		    inv_node(&s->inv, a->claim_node)
			->ports[inv_is_switch(inv_node(&s->inv, a->claim_node)) ? 0 : a->claim_port]
			.m_key;
		ask_get(a, &route, WIRE_ATTR_NODE_INFO, 0, on_audit);
	}
}

static void
note_loop(struct sweeper *s, uint32_t node, uint8_t port, uint8_t far_port)
{
	struct inv_node *n = inv_node(&s->inv, node);

	inv_unlink(&s->inv, node, far_port, EDGE_LOOP);
	inv_unlink(&s->inv, node, port, EDGE_LOOP);
	n->ports[port].peer = n->ports[far_port].peer = node;
	n->ports[port].peer_port = far_port;
	n->ports[far_port].peer_port = port;
}

/* ------------------------------------------------------------ who has come */

/* First sight of a node in this discovery, by this way: what its links were is remembered. */
static void
greet(struct sweeper *s, uint32_t slot, const struct smp_route *route)
{
	struct inv_node *n = inv_node(&s->inv, slot);

	inv_age_links(&s->inv, slot);
	if (!n->present) {
		n->first_in = s->report.number;
		n->came_seq = s->reading.seq;
	}
	n->seen_in = s->disc->mark;
	n->present = true;
	n->silent = n->quiet = false;
	n->n_reads = 0;
	observe_doubt_all(s, n);
	n->n_hops = route->n_hops;
	memcpy(n->path, route->path, (size_t)route->n_hops + 1);
}

static void
ask_details(struct sweeper *s, uint32_t slot, uint8_t port)
{
	const struct inv_node *n = inv_node(&s->inv, slot);

	discover_ask_desc(s, slot, inv_is_switch(n) ? 0 : port);
	if (inv_is_switch(n))
		discover_ask_switch(s, slot);
}

/* The node is not at this port any more; what is there now is asked. */
static void
let_go(struct sweeper *s, uint32_t slot, unsigned port)
{
	struct inv_port *p = &inv_node(&s->inv, slot)->ports[port], *far;
	uint32_t peer = p->peer;
	uint8_t peer_port = p->peer_port;

	if (p->edge != EDGE_LINKED && p->edge != EDGE_WAS)
		return;
	inv_unlink(&s->inv, slot, (uint8_t)port, EDGE_NONE);
	far = &inv_node(&s->inv, peer)->ports[peer_port];
	if (far->edge == EDGE_WAS && far->peer == slot && far->peer_port == port)
		inv_unlink(&s->inv, peer, peer_port, EDGE_NONE);
	if (far->edge == EDGE_NONE && inv_node(&s->inv, peer)->present && inv_port_up(far) &&
	    observe_port_is_fresh(far) &&
	    (inv_is_switch(inv_node(&s->inv, peer)) || is_local(s, peer, peer_port)))
		discover_probe(s, peer, peer_port);
}

/* It is found elsewhere, or another one is in its stead: what it was asked where it was does
 * not count any more. */
static void
displace(struct sweeper *s, uint32_t slot)
{
	struct inv_node *n = inv_node(&s->inv, slot);

	n->generation++;
	n->by_lid.on_trial = false;
	n->present = false; /* till it is greeted */
	for (unsigned p = 0; p <= n->n_ports; p++)
		let_go(s, slot, p);
}

/* Who was known is not where it was. */
static void
clear_the_way(struct sweeper *s, const struct arrival *v)
{
	uint32_t known = inv_find(&s->inv, v->info.node_guid);

	if (known == INV_NONE || !inv_node(&s->inv, known)->present)
		return;
	if (v->settled & (DOUBT_NODE | DOUBT_PLACE | DOUBT_WAY))
		displace(s, known);
	else if ((v->settled & DOUBT_LINK) && !inv_is_switch(inv_node(&s->inv, known)))
		let_go(s, known, v->info.local_port);
}

/* The port that the switch has is cabled elsewhere, as was proven: what came by it first is another
 * one. */
static void
cast_out(struct sweeper *s, uint32_t slot, uint8_t port)
{
	const struct inv_port *p = &inv_node(&s->inv, slot)->ports[port];

	if (p->edge == EDGE_LINKED)
		discover_leave_out(s, p->peer, p->peer_port, slot, port);
}

/* Nodes never seen before that this port has shown within the hour, with this one; 0: memory is
 * out. */
static uint32_t
count_newcomer(struct sweeper *s, uint32_t node, uint8_t port)
{
	struct fm_hash *counts = &s->disc->newcomers;
	uint64_t key = (uint64_t)node * 256 + port;
	int64_t now_ms = sweeper_clock_ms(s);
	uint32_t n;

	if (now_ms - s->disc->newcomers_ms >= NEWCOMERS_MS) {
		fm_hash_fini(counts);
		*counts = (struct fm_hash){ 0 };
		s->disc->newcomers_ms = now_ms;
	}
	n = fm_hash_find(counts, key);
	n = n == FM_HASH_NONE ? 1 : n + 1;
	return fm_hash_put(counts, key, n) ? n : 0;
}

/* Is it known, or may it be given a slot of the inventory?  If not it is left out. */
static bool
may_have_slot(struct sweeper *s, const struct arrival *v)
{
	uint32_t known = inv_find(&s->inv, v->info.node_guid), n;

	if (known != INV_NONE && inv_is(&s->inv, known, &v->info))
		return true;
	n = count_newcomer(s, v->node, v->port);
	if (n == 0)
		sweep_fail(s, FM_E_RESOURCE, "out of memory for the inventory");
	if (n > NEWCOMERS_MAX)
		discover_disbelieve(s, v->node, v->port, CLAIMS_NEW_GUIDS, n > NEWCOMERS_MAX + 1);
	return n <= NEWCOMERS_MAX;
}

static void
add_arrival(struct sweeper *s, const struct arrival *v)
{
	uint8_t far_port = v->info.local_port, end;
	struct smp_route route;
	struct inv_node *n;
	uint32_t slot;
	bool fresh;

	if (!inv_route_beyond(&s->inv, v->node, v->port, &route)) {
		inv_unlink(&s->inv, v->node, v->port, EDGE_NONE);
		return;
	}
	if (!may_have_slot(s, v))
		return;
	clear_the_way(s, v);
	slot = inv_add(&s->inv, &v->info);
	if (slot == INV_NONE) {
		sweep_fail(s, FM_E_RESOURCE, "out of memory for the inventory");
		return;
	}
	n = inv_node(&s->inv, slot);
	end = inv_is_switch(n) ? 0 : far_port;
	fresh = !n->present || n->seen_in != s->disc->mark;
	if (v->m_key != 0)
		n->ports[end].m_key = v->m_key;
	if (fresh)
		greet(s, slot, &route);
	else
		cast_out(s, slot, far_port);
	inv_link(&s->inv, v->node, v->port, slot, far_port);
	if ((fresh || end != 0) && !inv_set_port_guid(&s->inv, slot, end, v->info.port_guid))
		sweep_fail(s, FM_E_RESOURCE, "out of memory for the inventory");
	if (inv_is_switch(n) && route.n_hops < n->n_hops) {
		n->n_hops = route.n_hops;
		memcpy(n->path, route.path, (size_t)route.n_hops + 1);
	}
	if (fresh)
		ask_details(s, slot, far_port);
	else if (inv_is_switch(n) && s->report.scope != SWEEP_HEAVY)
		doubt_switch(s, slot); /* it may have been without power, or tell of more */
	if (!inv_is_switch(n))
		discover_ask_port(s, slot, far_port);
	s->disc->changed = true;
}

/* It has another port GUID now, or is gone. */
static void
free_port_guid(struct sweeper *s, const struct arrival *v, const struct wire_node_info *found)
{
	if (!inv_is(&s->inv, v->owner, found)) {
		let_go(s, v->owner, v->owner_port);
		inv_node(&s->inv, v->owner)->ports[v->owner_port].guid = 0;
	} else if (!inv_set_port_guid(&s->inv, v->owner, v->owner_port, found->port_guid)) {
		sweep_fail(s, FM_E_RESOURCE, "out of memory for the inventory");
	}
}

static void
cast_out_host(struct sweeper *s, const struct arrival *v)
{
	struct inv_node *n = inv_node(&s->inv, v->owner);

	for (unsigned p = 1; p <= n->n_ports; p++)
		cast_out(s, v->owner, (uint8_t)p);
}

/* The host (owner) whose port GUID the switch has, which has been taken by now. */
static void
cast_out_port(struct sweeper *s, const struct arrival *v)
{
	struct inv_port *p = &inv_node(&s->inv, v->owner)->ports[v->owner_port];
	uint32_t slot = inv_find(&s->inv, v->info.node_guid);

	if (slot == INV_NONE || p->edge != EDGE_LINKED)
		return;
	discover_leave_out(s, p->peer, p->peer_port, slot, 0);
	p->guid = 0;
}

/* ---------------------------------------------------------------- doubts */

static void settle_arrival(struct sweeper *s, struct arrival *v);
static void ask_there(
    struct sweeper *s, enum doubt d, const struct arrival *v, const struct smp_route *route);

/* Nobody answered behind the port of a switch that the arrival says to be: is the switch to be
 * reached at all?  True: that is being asked. */
static bool
doubts_way(struct sweeper *s, enum doubt d, const struct arrival *v,
    const struct wire_node_info *found, const struct smp_route *there)
{
	struct smp_route route;

	if (d != DOUBT_LINK || there == NULL || found->node_guid != 0 || v->owner == s->inv.local ||
	    !inv_is_switch(inv_node(&s->inv, v->owner)) || !arrive_own_way(s, v, &route))
		return false;
	ask_there(s, DOUBT_WAY, v, &route);
	return true;
}

/* The doubt is settled by who was found there. */
static void
judge_doubt(struct sweeper *s, enum doubt d, struct arrival *v, const struct wire_node_info *found,
    const struct smp_route *there)
{
	bool still = arrive_is_still_there(s, d, v, found);

	v->settled |= d;
	if (doubts_way(s, d, v, found, there))
		return;
	if (d == DOUBT_LOOP && !still) {
		note_loop(s, v->node, v->port, v->info.local_port);
	} else if (d == DOUBT_PLACE && still) {
		v->settled = (v->settled & ~(unsigned)d) | STILL_THERE;
		greet(s, v->owner, there);
		ask_details(s, v->owner, 0);
		settle_arrival(s, v);
	} else if (d == DOUBT_NODE && still && arrive_goes_before(s, v)) {
		cast_out_host(s, v);
		settle_arrival(s, v);
	} else if (d == DOUBT_PORT && still && arrive_goes_before(s, v)) {
		struct arrival before = *v;

		settle_arrival(s, v);
		cast_out_port(s, &before);
	} else if (still) {
		bool news = todo_known(s->todo, v->node, v->port) == TODO_DONE;

		discover_leave_out(s, v->node, v->port, v->owner, v->owner_port);
		if ((d == DOUBT_LINK || d == DOUBT_WAY) && news)
			audit(s, v->owner);
	} else {
		if (d == DOUBT_PORT)
			free_port_guid(s, v, found);
		settle_arrival(s, v);
	}
}

static void
on_judged(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct arrival v = { .node = a->node,
		.port = a->port,
		.data = a->data,
		.m_key = a->m_key,
		.settled = a->index,
		.owner = a->claim_node,
		.owner_port = a->claim_port };
	struct wire_node_info found = { 0 };

	if (ask_is_stale(a) || inv_node(&s->inv, a->node)->ports[a->port].edge != EDGE_ASKED)
		return;
	wire_node_info_get(a->data, &v.info);
	if (status == TXN_CANCELLED) {
		inv_unlink(
		    &s->inv, a->node, a->port, EDGE_SILENT); /* asked again by a light sweep */
	} else if (inv_node(&s->inv, a->claim_node)->generation != a->claim_generation) {
		settle_arrival(s, &v);
	} else {
		if (status == TXN_OK)
			wire_node_info_get(reply + WIRE_SMP_DATA_AT, &found);
		judge_doubt(s, (enum doubt)a->kind, &v, &found, &a->route);
	}
}

static void
ask_there(struct sweeper *s, enum doubt d, const struct arrival *v, const struct smp_route *route)
{
	struct ask *a = ask_new(s, v->node, v->port);

	if (a == NULL)
		return;
	a->kind = (uint8_t)d;
	a->index = v->settled;
	a->m_key = v->m_key;
	a->claim_node = v->owner;
	a->claim_port = v->owner_port;
	a->claim_generation = inv_node(&s->inv, v->owner)->generation;
	memmove(a->data, v->data, sizeof(a->data));
	ask_get(a, route, WIRE_ATTR_NODE_INFO, 0, on_judged);
}

static void
settle_arrival(struct sweeper *s, struct arrival *v)
{
	static const struct wire_node_info nobody = { 0 };
	enum doubt d = arrive_doubt(s, v);
	struct smp_route route;

	if (d == DOUBT_NONE) {
		add_arrival(s, v);
	} else if (d == IS_FOREIGN || s->disc->n_doubts++ >= DOUBTS_MAX(s)) {
		discover_leave_out(s, v->node, v->port, v->owner, v->owner_port);
	} else if (d == DOUBT_LOOP && v->info.local_port == v->port) {
		note_loop(s, v->node, v->port, v->port); /* a plug that is its own far end */
	} else if (arrive_place(s, d, v, &route)) {
		ask_there(s, d, v, &route);
	} else if (d == DOUBT_LOOP) {
		note_loop(s, v->node, v->port, v->info.local_port);
	} else {
		judge_doubt(s, d, v, &nobody, NULL);
	}
}

/* Behind node:port, which is EDGE_ASKED, lies what these 64 bytes of NodeInfo say; they were
 * asked for under this M_Key, 0: the fabric's. */
static void
arrive(struct sweeper *s, uint32_t node, uint8_t port, const uint8_t *data, uint64_t m_key)
{
	struct arrival v = { .node = node, .port = port, .data = data, .m_key = m_key };

	wire_node_info_get(data, &v.info);
	settle_arrival(s, &v);
}

/* ------------------------------------------------------ walking a cable */

static enum inv_disbelief
check_node_info(const struct wire_node_info *info)
{
	if (info->node_guid == 0)
		return CLAIMS_NO_GUID;
	if (info->port_guid == 0)
		return CLAIMS_NO_PORT_GUID;
	if (info->node_type < WIRE_NODE_CA || info->node_type > WIRE_NODE_ROUTER)
		return CLAIMS_NO_TYPE;
	if (info->n_ports == 0 || info->n_ports > INV_PORTS_MAX)
		return CLAIMS_NO_PORTS;
	if (info->local_port > info->n_ports ||
	    (info->local_port == 0 && info->node_type != WIRE_NODE_SWITCH))
		return CLAIMS_NO_SUCH_PORT;
	return BELIEVED;
}

void
discover_disbelieve(
    struct sweeper *s, uint32_t node, uint8_t port, enum inv_disbelief why, bool told)
{
	struct inv_port *p = &inv_node(&s->inv, node)->ports[port];
	char name[128];

	p->edge = EDGE_SILENT;
	p->disbelief = (uint8_t)why;
	s->report.n_silent += s->report.scope != SWEEP_LIGHT;
	if (!told)
		fm_log_rl(&s->logs.silent, FM_LOG_WARN, "sweep",
		    "what is cabled to %s port %u claims %s; it is left out",
		    inv_name(inv_node(&s->inv, node), name, sizeof(name)), port,
		    inv_disbelief_text(why));
}

/* A late answer: the cable was believed in meanwhile, or nobody.  True: who is there is judged as
 * if it had come in time. */
static bool
is_open_yet(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct inv_port *p = &inv_node(&s->inv, a->node)->ports[a->port];
	struct wire_node_info info;
	uint32_t far = p->peer;

	if (p->edge == EDGE_SILENT)
		p->edge = EDGE_ASKED;
	if (p->edge != EDGE_LINKED || ask_is_stale(a))
		return true;
	if (status == TXN_OK) {
		wire_node_info_get(reply + WIRE_SMP_DATA_AT, &info);
		if (inv_is(&s->inv, far, &info) && info.local_port == p->peer_port) {
			if (inv_node(&s->inv, far)->seen_in != s->disc->mark)
				doubt_node(s, far);
			return false;
		}
	}
	inv_unlink(&s->inv, a->node, a->port, EDGE_ASKED);
	if (status != TXN_OK)
		p->peer = far; /* who was there */
	return true;
}

static void
on_probe(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct inv_port *p = &inv_node(&s->inv, a->node)->ports[a->port];
	enum inv_disbelief why = BELIEVED;
	struct wire_node_info info;
	uint64_t key;

	if (a->wait == ASK_IS_LATE && !is_open_yet(a, status, reply))
		return;
	if (ask_is_stale(a) || p->edge != EDGE_ASKED)
		return; /* meanwhile found from the other side, or the link went away */
	if (a->seq <= p->doubt_seq && status != TXN_CANCELLED) {
		p->edge = status == TXN_TIMEOUT ? EDGE_SILENT : EDGE_NONE;
		discover_ask_port(s, a->node, a->port); /* it may have been the cable before */
		return;
	}
	if (status == TXN_OK) {
		wire_node_info_get(reply + WIRE_SMP_DATA_AT, &info);
		why = check_node_info(&info);
	}
	if (why != BELIEVED) {
		discover_disbelieve(s, a->node, a->port, why,
		    p->disbelief == why && todo_known(s->todo, a->node, a->port) == TODO_NO_ANSWER);
		return;
	}
	if (status == TXN_OK) {
		arrive(s, a->node, a->port, reply + WIRE_SMP_DATA_AT, a->route.m_key);
		return;
	}
	if (status == TXN_TIMEOUT && (key = mkeys_next(s, a->route.m_key)) != 0) {
		if (a->route.brief)
			p->edge = EDGE_SILENT; /* as it was */
		probe(s, a->node, a->port, key);
		return;
	}
	p->edge = EDGE_SILENT;
	if (status == TXN_CANCELLED)
		return;
	p->disbelief = BELIEVED;
	s->report.n_silent += s->report.scope != SWEEP_LIGHT; /* which only asks who came alive */
}

/* Who did not answer before is asked once, and not for long; of switches only who was left out for
 * that, as packets may pass them. */
static bool
is_brief(const struct sweeper *s, const struct inv_port *p)
{
	return p->edge == EDGE_SILENT ||
	    (p->edge == EDGE_WAS && p->peer != INV_NONE &&
		!inv_is_switch(inv_node(&s->inv, p->peer)) &&
		sms_is_dead(s, p->peer, p->peer_port));
}

static void
probe(struct sweeper *s, uint32_t node, uint8_t port, uint64_t m_key)
{
	struct inv_port *p = &inv_node(&s->inv, node)->ports[port];
	struct ask *a = new_read(s, node, port);
	struct smp_route route;

	if (a == NULL)
		return;
	a->about = INV_NONE;
	if (!inv_route_beyond(&s->inv, node, port, &route)) {
		ask_drop(a);
		return;
	}
	route.m_key = m_key;
	route.brief = is_brief(s, p);
	if (p->edge == EDGE_DUPLICATE || p->edge == EDGE_LOOP)
		p->peer = INV_NONE; /* it was not there */
	p->edge = EDGE_ASKED;
	a->node = node;
	ask_get(a, &route, WIRE_ATTR_NODE_INFO, 0, on_probe);
}

/* Somebody answers, or nobody as before. */
static void
on_sign(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	uint64_t key;

	s->disc->n_beside--;
	if (ask_is_stale(a) || inv_node(&s->inv, a->node)->ports[a->port].edge != EDGE_SILENT)
		return;
	if (status == TXN_TIMEOUT && (key = mkeys_next(s, a->route.m_key)) != 0)
		look_for_sign(s, a->node, a->port, key);
	if (status != TXN_OK)
		return;
	doubt_port(s, a->node, a->port);
	if (s->run.phase != PHASE_DISCOVER && s->run.phase != PHASE_REREAD)
		sweeper_request(s, SWEEP_NAMED, "a node answers that was silent");
}

/* Who answers is asked in earnest when the port is read that it hangs on. */
static void
look_for_sign(struct sweeper *s, uint32_t node, uint8_t port, uint64_t m_key)
{
	struct ask *a = s->disc->n_beside < BESIDE_MAX ? ask_new(s, node, port) : NULL;
	struct smp_route route;

	if (a == NULL)
		return;
	if (!inv_route_beyond(&s->inv, node, port, &route)) {
		ask_drop(a);
		return;
	}
	route.m_key = m_key;
	a->wait = ASK_BESIDE;
	s->disc->n_beside++;
	ask_get(a, &route, WIRE_ATTR_NODE_INFO, 0, on_sign);
}

/* A light sweep waits for none of those who were silent. */
void
discover_probe(struct sweeper *s, uint32_t node, uint8_t port)
{
	const struct inv_node *n = inv_node(&s->inv, node);

	if (n->ports[port].edge == EDGE_SILENT && inv_is_switch(n) &&
	    s->report.scope == SWEEP_LIGHT && s->run.phase == PHASE_DISCOVER)
		look_for_sign(s, node, port, 0);
	else
		probe(s, node, port, 0);
}

/* ------------------------------------------------- going on beside the silent */

/* The cable of before, where neither end has said that it is gone or has come up anew. */
static bool
take_back(struct sweeper *s, uint32_t slot, unsigned port)
{
	const struct inv_port *p = &inv_node(&s->inv, slot)->ports[port], *far;
	const struct inv_node *n;

	if ((p->edge != EDGE_WAS && p->edge != EDGE_ASKED) || p->peer == INV_NONE)
		return false;
	n = inv_node(&s->inv, p->peer);
	far = &n->ports[p->peer_port];
	if (!n->present || (far->edge != EDGE_WAS && far->edge != EDGE_ASKED) ||
	    far->peer != slot || far->peer_port != port || p->info.port_state != WIRE_PORT_ACTIVE ||
	    far->info.port_state != WIRE_PORT_ACTIVE)
		return false;
	inv_link(&s->inv, slot, (uint8_t)port, p->peer, p->peer_port);
	return true;
}

/* Who was silent is silent still.  Who was known is late, unless another cable has led to it. */
static void
let_probe_go(struct sweeper *s, struct ask *a)
{
	struct inv_port *p = &inv_node(&s->inv, a->node)->ports[a->port];

	if (p->peer != INV_NONE && inv_is_switch(inv_node(&s->inv, p->peer)) &&
	    todo_known(s->todo, a->node, a->port) != TODO_NO_ANSWER) {
		a->about = p->peer;
		return;
	}
	if (todo_known(s->todo, a->node, a->port) == TODO_NO_ANSWER && p->edge == EDGE_ASKED) {
		p->edge = EDGE_SILENT;
		s->report.n_silent++;
		return;
	}
	if ((p->edge == EDGE_LINKED || take_back(s, a->node, a->port)) &&
	    inv_node(&s->inv, p->peer)->seen_in != s->disc->mark)
		a->about = p->peer;
}

void
discover_let_go(struct sweeper *s)
{
	struct ask *a;

	LATE_EACH(a, s)
	if (a->wait == ASK_MAY_BE_LATE && a->attr == WIRE_ATTR_NODE_INFO)
		let_probe_go(s, a);
	late_let_go(s);
	ask_set_aside(s);
	for (uint32_t i = 0; i < s->inv.nodes.n; i++)
		if (s->run.pending == 0 && s->report.scope == SWEEP_HEAVY &&
		    inv_node(&s->inv, i)->seen_in != s->disc->mark)
			observe_doubt_all(s, inv_node(&s->inv, i)); /* the list has it (todo.h) */
}

/* ------------------------------------------------------------ the start */

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
	uint64_t key;
	uint8_t port;
	uint32_t slot;

	if (status == TXN_TIMEOUT && (key = mkeys_next(s, a->route.m_key)) != 0) {
		ask_own_node(s, key);
		return;
	}
	if (status != TXN_OK) {
		mkeys_own_port_silent(s);
		return;
	}
	wire_node_info_get(reply + WIRE_SMP_DATA_AT, &info);
	if (check_node_info(&info) != BELIEVED || (slot = inv_add(&s->inv, &info)) == INV_NONE) {
		sweep_fail(s, FM_E_SYSTEM, "our own port answers NodeInfo with nonsense");
		return;
	}
	port = info.node_type == WIRE_NODE_SWITCH ? 0 : info.local_port;
	s->inv.local = slot;
	s->inv.local_port = port;
	greet(s, slot, &here);
	if (a->route.m_key != 0)
		inv_node(&s->inv, slot)->ports[port].m_key = a->route.m_key;
	if (!inv_set_port_guid(&s->inv, slot, port, info.port_guid))
		sweep_fail(s, FM_E_RESOURCE, "out of memory for the inventory");
	ask_details(s, slot, port);
	if (port != 0)
		discover_ask_port(s, slot, port);
}

void
discover_start(struct sweeper *s)
{
	s->disc->mark++;
	ask_own_node(s, 0);
}
