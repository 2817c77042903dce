/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/program/links.c - PortInfo of every port that takes part, and the steps
 * of its link: INIT, ARMED, ACTIVE (IBA 7.2, 14.3.6).
 *
 * One Set brings a port all its fields and, from INIT, to ARMED; a second
 * one, after every first one has been answered, to ACTIVE.  So both ends are
 * armed before one becomes active, and nothing is armed before the tables
 * are in the switches.
 *
 * An armed port becomes active by itself with the first data packet of an
 * active neighbour (IBA 7.2.7), and then refuses to be made active.  So one
 * end of a cable is set and the other looked at; once one has been found
 * still ARMED, the rest are set without looking.
 */
#include <inttypes.h>

#include "core/inventory/fields.h"
#include "core/program/internal.h"

void
links_start(struct sweeper *s)
{
	uint64_t fingerprint = sweep_settings_fingerprint(&s->set);

	s->links->settings_changed = s->p.store != NULL && store_mark(s->p.store) != fingerprint;
	s->links->fingerprint = fingerprint;
}

/* What nodes did not take may have been what was asked for, and something else is now. */
static void
forget_refused(struct inventory *inv)
{
	for (uint32_t i = 0; i < inv->nodes.n; i++) {
		struct inv_node *n = inv_node(inv, i);

		n->sw_refused = 0;
		for (unsigned p = 0; p <= n->n_ports; p++)
			n->ports[p].refused = 0;
	}
}

/* What the settings before borrowed may be gone. */
void
links_configured(struct sweeper *s)
{
	uint64_t fingerprint = sweep_settings_fingerprint(&s->set);

	if (fingerprint != s->links->fingerprint) {
		s->links->settings_changed = true;
		forget_refused(&s->inv);
	}
	s->links->fingerprint = fingerprint;
}

void
links_settings_written(struct sweeper *s)
{
	struct fm_error err = { 0 };

	s->links->settings_changed = false;
	if (s->p.store != NULL && !s->set.dry_run &&
	    store_put_mark(s->p.store, s->links->fingerprint, &err) != 0)
		log_err("sweep", "%s", err.msg);
}

static enum field_where
where_of(const struct inv_node *n, unsigned port)
{
	if (!inv_is_switch(n))
		return FIELD_CA;
	return port == 0 ? FIELD_SW_PORT0 : FIELD_SW_PORT;
}

static uint16_t
our_lid(const struct sweeper *s)
{
	return inv_node(&s->inv, s->inv.local)->ports[s->inv.local_port].lid;
}

/* Is it the LID of a port of this host that we may have ruled by before? */
static bool
is_of_our_ports(const struct sweeper *s, uint16_t sm_lid)
{
	const struct local_ports *p = s->p.ports;

	for (unsigned i = 0; p != NULL && s->p.store != NULL && i < p->n; i++)
		if (p->port[i].is.port_guid != 0 &&
		    store_lid(s->p.store, p->port[i].is.port_guid) == sm_lid)
			return true;
	return false;
}

void
sweeper_lost(struct sweeper *s, uint64_t port)
{
	if (port != 0) {
		if (!fm_hash_put(&s->links->lost_ports, port, 0))
			log_err("sweep", "out of memory: a port is not asked to register again");
		return; /* not here now: with the sweep that finds it */
	}
	s->links->before_us = BEFORE_US_LOST;
	if (sweeper_was_up(s))
		sweeper_request(s, SWEEP_NAMED, "hosts are to register again");
}

void
sweeper_take_over(struct sweeper *s, bool has_registered)
{
	s->links->before_us = has_registered ? BEFORE_US_KNOWN : BEFORE_US_ELSEWHERE;
	s->telling.untold_before_us = s->telling.untold_before_us || store_untold(s->p.store);
}

void
links_are_told(struct sweeper *s)
{
	if (s->links->before_us == BEFORE_US_KNOWN)
		s->links->before_us = BEFORE_US_ELSEWHERE;
}

void
links_registered(struct sweeper *s, uint64_t guid)
{
	fm_hash_remove(&s->links->lost_ports, guid);
}

/* Has it to register again what is lost? */
static bool
has_lost(const struct sweeper *s, const struct inv_port *p)
{
	return (s->links->before_us == BEFORE_US_LOST && p->registration == REG_BEFORE_US) ||
	    fm_hash_find(&s->links->lost_ports, p->guid) != FM_HASH_NONE;
}

/* Bring *info to what is wanted of the port; the rows that differ. */
static uint32_t
wanted_port(struct sweeper *s, uint32_t slot, unsigned port, struct wire_port_info *info)
{
	const struct inv_node *n = inv_node(&s->inv, slot);
	const struct inv_port *p = &n->ports[port];
	bool usable = port != 0 && link_usable(&s->inv, p);
	struct field_context c = { .set = &s->set,
		.inv = &s->inv,
		.node = n,
		.port = p,
		.sm_lid = our_lid(s),
		.arm = usable && links_takes(s, n, port),
		.insist = s->links->settings_changed,
		.lost = has_lost(s, p),
		.registered = s->links->before_us == BEFORE_US_KNOWN ||
		    is_of_our_ports(s, p->info.master_sm_lid) };

	if (usable) {
		c.peer_node = inv_node(&s->inv, p->peer);
		c.peer = &c.peer_node->ports[p->peer_port];
	}
	*info = p->info;
	return fields_apply(&c, where_of(n, port), p->refused, info);
}

/* After a refused Set: the port as it is.  One that was to become active and
 * is has been woken by its neighbour's first packet (IBA 7.2.7). */
static void
on_port_again(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct inv_node *n = inv_node(&s->inv, a->node);
	struct inv_port *p = &n->ports[a->port];
	char name[128];

	struct wire_port_info now;

	if (status == TXN_OK) {
		wire_port_info_get(reply + WIRE_SMP_DATA_AT, &now);
		if (!observe_written_port(a, &now))
			return;
	}
	if (status != TXN_OK || p->info.port_state != WIRE_PORT_ACTIVE)
		fm_log_rl(&s->logs.refused, FM_LOG_WARN, "sweep", "%s port %u refuses Set PortInfo",
		    inv_name(n, name, sizeof(name)), a->port);
}

static void
look_again(struct ask *a, ask_done done)
{
	struct ask *again = ask_new(a->s, a->node, a->port);

	if (again != NULL)
		ask_get_at(again, WIRE_ATTR_PORT_INFO, a->port, done);
}

/* Debugging: which rows of the field table. */
static void
log_rows(
    const struct inv_node *n, unsigned port, const char *subsystem, const char *what, uint32_t rows)
{
	char name[128];

	if (rows == 0 || !fm_log_wants(FM_LOG_DEBUG, subsystem))
		return;
	for (unsigned i = 0; i < n_field_rows; i++)
		if ((rows & (1u << i)) != 0)
			log_debug(subsystem, "%s port %u %s %s", inv_name(n, name, sizeof(name)),
			    port, what, field_rows[i].name);
}

/* What the answer to a Set says: the port as it is now. */
static void
on_set_port(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct inv_node *n = inv_node(&s->inv, a->node);
	struct inv_port *p = &n->ports[a->port];
	struct wire_port_info sent, now;
	uint32_t rows;
	char name[128];

	if (status == TXN_REFUSED)
		look_again(a, on_port_again);
	if (status == TXN_TIMEOUT)
		fm_log_rl(&s->logs.refused, ask_loudness(status), "sweep",
		    "%s port %u does not answer Set PortInfo", inv_name(n, name, sizeof(name)),
		    a->port);
	if (status != TXN_OK)
		return;
	rows = wanted_port(s, a->node, a->port, &sent);
	wire_port_info_get(reply + WIRE_SMP_DATA_AT, &now);
	if (!observe_written_port(a, &now))
		return;
	if (now.m_key == 0)
		p->info.m_key = sent.m_key;
	rows = fields_refused(rows, &sent, &now);
	p->refused |= rows;
	log_rows(n, a->port, "sweep", "does not take", rows);
	if (sent.client_reregister) {
		p->registration = REG_ASKED;
		if (p->repaths)
			apply_note_older(s);
		p->repaths = false;
		links_registered(s, p->guid);
	}
}

static void
send_port(struct sweeper *s, uint32_t slot, unsigned port, const struct wire_port_info *want,
    uint8_t state, ask_done done)
{
	struct ask *a = ask_new(s, slot, (uint8_t)port);
	struct wire_port_info info = *want;
	uint8_t data[WIRE_SMP_DATA_BYTES] = { 0 };

	if (a == NULL)
		return;
	info.port_state = state; /* 0: no change */
	info.phys_state = 0;
	wire_port_info_put(data, &info);
	ask_set_at(a, WIRE_ATTR_PORT_INFO, port, data, done);
}

/* An active link is not bounced for another MTU or number of VLs: note it. */
static void
note_held_back(struct sweeper *s, uint32_t slot, unsigned port)
{
	const struct inv_node *n = inv_node(&s->inv, slot);
	const struct inv_port *p = &n->ports[port], *far;
	uint8_t mtu, vls;
	char name[96];

	if (port == 0 || p->info.port_state != WIRE_PORT_ACTIVE || slot > p->peer ||
	    !link_usable(&s->inv, p))
		return;
	far = &inv_node(&s->inv, p->peer)->ports[p->peer_port];
	mtu = p->info.mtu_cap < far->info.mtu_cap ? p->info.mtu_cap : far->info.mtu_cap;
	vls = p->info.vl_cap < far->info.vl_cap ? p->info.vl_cap : far->info.vl_cap;
	vls = vls < conf_op_vls(&s->set.ports) ? vls : conf_op_vls(&s->set.ports);
	if ((p->info.neighbor_mtu == mtu || mtu == 0) &&
	    (p->info.operational_vls == vls || vls == 0))
		return;
	if (s->links->held_back.n++ == 0)
		snprintf(s->links->held_back.first, sizeof(s->links->held_back.first),
		    "%s port %u has NeighborMTU %u and OperationalVLs %u where %u and %u are due",
		    inv_name(n, name, sizeof(name)), port, p->info.neighbor_mtu,
		    p->info.operational_vls, mtu, vls);
}

static void
log_note(struct link_note *note, const char *what)
{
	if (note->n > 0 && note->n != note->n_said)
		log_notice("sweep", "%" PRIu32 " %s: %s (codes of PortInfo)%s", note->n, what,
		    note->first, note->n > 1 ? ", for one" : "");
	note->n_said = note->n;
}

static void
log_notes(struct sweep_links *l)
{
	log_note(&l->held_back,
	    "active links are left with the MTU or VLs they came up with, until they come up "
	    "anew");
	log_note(&l->unmet,
	    "ports are left with a width or speeds that are not asked for, since they or the "
	    "ports behind their cables have none that is");
	log_note(&l->waits,
	    "ports run at a width or speed that is not asked for, until their links come up "
	    "anew");
}

static void
set_port(struct sweeper *s, uint32_t slot, unsigned port)
{
	struct inv_port *p = &inv_node(&s->inv, slot)->ports[port];
	struct wire_port_info want;
	uint32_t rows = wanted_port(s, slot, port, &want);

	p->follows = false;
	note_held_back(s, slot, port);
	links_note_forced(s, slot, port, &want);
	if (rows == 0)
		return;
	if (fm_log_is_named("ports")) /* of each of thousands */
		log_rows(inv_node(&s->inv, slot), port, "ports", "is set for", rows);
	send_port(s, slot, port, &want, want.port_state != p->info.port_state ? want.port_state : 0,
	    on_set_port);
}

static void
make_active(struct sweeper *s, uint32_t slot, unsigned port, ask_done done)
{
	send_port(
	    s, slot, port, &inv_node(&s->inv, slot)->ports[port].info, WIRE_PORT_ACTIVE, done);
}

/* The far end of a cable whose first end is ACTIVE now. */
static void
on_far_state(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct wire_port_info now;

	if (status != TXN_OK)
		return;
	wire_port_info_get(reply + WIRE_SMP_DATA_AT, &now);
	if (!observe_written_port(a, &now))
		return;
	if (now.port_state != WIRE_PORT_ARMED)
		return;
	s->links->far_ends_sleep = true;
	make_active(s, a->node, a->port, on_set_port);
}

static void
follow_up(struct sweeper *s, uint32_t slot, unsigned port)
{
	const struct inv_port *p = &inv_node(&s->inv, slot)->ports[port];
	uint32_t far = p->peer;
	uint8_t far_port = p->peer_port;
	struct ask *look;

	if (p->info.port_state != WIRE_PORT_ACTIVE || p->edge != EDGE_LINKED ||
	    inv_node(&s->inv, far)->ports[far_port].info.port_state != WIRE_PORT_ARMED)
		return;
	if (s->links->far_ends_sleep)
		make_active(s, far, far_port, on_set_port);
	else if ((look = ask_new(s, far, far_port)) != NULL)
		ask_get_at(look, WIRE_ATTR_PORT_INFO, far_port, on_far_state);
}

static void
on_first_again(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	on_port_again(a, status, reply);
	follow_up(a->s, a->node, a->port);
}

static void
on_first_end(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	if (status == TXN_REFUSED) {
		look_again(a, on_first_again);
		return;
	}
	on_set_port(a, status, reply);
	follow_up(a->s, a->node, a->port);
}

static void
activate_port(struct sweeper *s, uint32_t slot, unsigned port)
{
	const struct inv_node *n = inv_node(&s->inv, slot);
	const struct inv_port *p = &n->ports[port];
	uint8_t least = s->set.dry_run ? WIRE_PORT_INIT : WIRE_PORT_ARMED;
	struct inv_port *far;

	if (p->info.port_state < least || p->info.port_state == WIRE_PORT_ACTIVE || p->follows ||
	    !links_takes(s, n, port))
		return;
	far = &inv_node(&s->inv, p->peer)->ports[p->peer_port];
	if (far->info.port_state == WIRE_PORT_ACTIVE) {
		make_active(s, slot, port, on_set_port);
	} else if (far->info.port_state >= least) {
		far->follows = true;
		make_active(s, slot, port, on_first_end);
	}
}

/* Does this port get PortInfo Sets in the pass over ports? */
static bool
takes_part(const struct sweeper *s, uint32_t slot, unsigned port)
{
	const struct inv_node *n = inv_node(&s->inv, slot);

	return n->ports[port].known &&
	    (port_wants_lid(&s->inv, slot, port) ||
		(port != 0 && link_usable(&s->inv, &n->ports[port])));
}

void
links_set(struct sweeper *s, uint32_t slot, unsigned port)
{
	if (takes_part(s, slot, port))
		set_port(s, slot, port);
}

static void
on_named(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct inv_port *p = &inv_node(&a->s->inv, a->node)->ports[a->port];
	struct wire_port_info now;

	if (status != TXN_OK)
		return; /* it gets it with all else */
	wire_port_info_get(reply + WIRE_SMP_DATA_AT, &now);
	p->info.lid = now.lid;
	p->info.lmc = now.lmc;
}

/* A port 0 gets all that it is to have; a port with a link, and so with a state to come
 * last, only its LID.  (Where a key is new, nothing: others would need it then.) */
void
links_name(struct sweeper *s, uint32_t slot, unsigned port)
{
	const struct inv_port *p = &inv_node(&s->inv, slot)->ports[port];
	struct wire_port_info info = p->info;

	if (p->lid == 0 || p->info.lid != 0 || s->keys->fabric != s->set.m_key.key)
		return;
	if (port == 0) {
		if (!s->set.dry_run) /* it will be counted in its turn */
			set_port(s, slot, 0);
		return;
	}
	info.lid = p->lid;
	info.lmc = p->lmc;
	send_port(s, slot, port, &info, 0, on_named);
}

/* Walk nodes (cursor 1) until enough is queued. */
static bool
feed_ports(struct sweeper *s, void (*visit)(struct sweeper *, uint32_t, unsigned))
{
	while (s->run.cursor[1] < s->inv.nodes.n && s->run.pending < FEED_HIGH) {
		uint32_t slot = s->run.cursor[1]++;
		const struct inv_node *n = inv_node(&s->inv, slot);

		if (!node_usable(n))
			continue;
		for (unsigned p = inv_is_switch(n) ? 0 : 1; p <= n->n_ports; p++)
			if (takes_part(s, slot, p))
				visit(s, slot, p);
	}
	return s->run.cursor[1] < s->inv.nodes.n;
}

static bool
feed_set(struct sweeper *s)
{
	return feed_ports(s, set_port);
}

static bool
feed_activate(struct sweeper *s)
{
	return feed_ports(s, activate_port);
}

void
links_ports(struct sweeper *s)
{
	s->links->held_back.n = s->links->unmet.n = s->links->waits.n = 0;
	lid_route_try(s);
	s->run.cursor[1] = 0;
	s->run.feed = feed_set;
}

void
links_activate(struct sweeper *s)
{
	log_notes(s->links);
	s->run.cursor[1] = 0;
	s->run.feed = feed_activate;
}

void
links_count(struct sweeper *s)
{
	struct sweep_report *r = &s->report;

	r->n_switches = r->n_cas = r->n_routers = r->n_links = 0;
	inv_count_ports(&s->inv, &r->n_ports_active, &r->n_ports_not_active);
	for (uint32_t i = 0; i < s->inv.nodes.n; i++) {
		const struct inv_node *n = inv_node(&s->inv, i);

		if (!n->present)
			continue;
		r->n_switches += n->type == WIRE_NODE_SWITCH;
		r->n_cas += n->type == WIRE_NODE_CA;
		r->n_routers += n->type == WIRE_NODE_ROUTER;
		for (unsigned p = 1; p <= n->n_ports; p++)
			r->n_links += n->ports[p].edge == EDGE_LINKED && i < n->ports[p].peer;
	}
}

bool
observe_written_port(struct ask *a, const struct wire_port_info *now)
{
	struct inv_node *n = inv_node(&a->s->inv, a->node);
	struct inv_port *p = &n->ports[a->port];
	uint64_t m_key;

	if (a->port != 0 && now->port_state < p->info.port_state) {
		doubt_link(a->s, a->node, a->port);
		return false;
	}
	if (a->port != 0 && inv_is_switch(n) && p->info.port_state == WIRE_PORT_INIT &&
	    now->port_state > WIRE_PORT_INIT)
		p->raised = n->raised = true;
	m_key = now->m_key != 0 ? now->m_key : p->info.m_key; /* hidden by the protect bits */
	p->info = *now;
	p->info.m_key = m_key;
	p->info.client_reregister = 0;
	p->read_seq = a->seq;
	return true;
}

bool
links_is_put_off(const struct sweeper *s, const struct inv_node *n, unsigned port)
{
	const struct inv_port *p = &n->ports[port];
	const struct inv_node *far = inv_node(&s->inv, p->peer);
	const struct fm_fabric *aim;
	fm_link l;

	if (s->writing.unwritten.n == 0 || !inv_is_switch(n) || !inv_is_switch(far) ||
	    (p->info.port_state == WIRE_PORT_ACTIVE &&
		far->ports[p->peer_port].info.port_state == WIRE_PORT_ACTIVE))
		return false;
	aim = &s->plan->snap->fab;
	l = n->sw_index < aim->n_switches ? fm_link_at(aim, n->sw_index, (uint8_t)port) : FM_NONE;
	return l == FM_NONE || aim->link_to[l] != far->sw_index;
}

bool
links_takes(const struct sweeper *s, const struct inv_node *n, unsigned port)
{
	return link_usable(&s->inv, &n->ports[port]) && !links_is_put_off(s, n, port);
}
