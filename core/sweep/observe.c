/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sweep/observe.c - answers become facts, and cast doubt on others.  Cost: O(1) an answer.
 *
 * That a switch has lost its power is seen by three witnesses, since fmd's own Sets may restore
 * what the power took: LinearFDBTop below what it was, LID 0 of port 0, and no port above INIT
 * where there was one.
 */
#include "core/audit/audit.h"
#include "core/inventory/flaps.h"
#include "core/sweep/internal.h"

void
observe_silence(struct ask *a, const char *what, enum txn_status status)
{
	struct sweeper *s = a->s;
	struct inv_node *n = inv_node(&s->inv, a->node);
	char name[128];

	if (status == TXN_CANCELLED || n->silent)
		return;
	n->silent = true;
	n->silent_way = inv_way(n);
	n->silent_in = s->report.number;
	s->disc->fell_silent = s->disc->fell_silent || (inv_is_switch(n) && !n->was_silent);
	s->report.n_silent++;
	inv_name(n, name, sizeof(name));
	if (status == TXN_TIMEOUT) { /* when the sweep ends all are told in one line (todo.h) */
		log_info(
		    "sweep", "%s does not answer Get %s; it is left out of this sweep", name, what);
		return;
	}
	fm_log_rl(&s->logs.silent, n->warned ? FM_LOG_DEBUG : FM_LOG_WARN, "sweep",
	    "%s refuses Get %s; it is left out of this sweep", name, what);
	n->warned = true;
}

/* -------------------------------------------------------------- SwitchInfo */

static void
forget_port(struct inv_port *p)
{
	p->maps = MAPS_DUE;
	p->maps_in_done = p->pkeys_done = p->aliases_done = p->congestion_read = false;
}

static void
forget_ports(struct inv_node *n)
{
	for (unsigned i = 0; i <= n->n_ports; i++)
		forget_port(&n->ports[i]);
}

/* What a switch held before it lost its power is gone.  One that fmd knows may have taken entries
 * since, before anybody saw that: groups are read in this sweep, the forwarding table after it.
 * Were it read in the sweep, no SMP by LID could pass it till then. */
static void
note_reboot(struct sweeper *s, uint32_t slot)
{
	struct inv_node *n = inv_node(&s->inv, slot);

	n->n_states_missed = 0; /* it may be another firmware */
	n->mft = n->lft == LFT_FOREIGN ? MFT_EMPTY : MFT_UNKNOWN;
	n->lft = LFT_BLANK;
	n->sw_refused = 0;
	forget_ports(n);
	ar_forget(s, slot);
	if (n->ports[0].info.lid != 0)
		audit_table(s, slot);
}

/* A port that was given its settings, lost its link, was found as before and then made ACTIVE shows
 * nothing of it: that the switch tells of a change is the only witness. */
void
observe_changes(struct sweeper *s, uint32_t slot, bool any)
{
	struct inv_node *n = inv_node(&s->inv, slot);

	for (unsigned i = 1; n->raised && i <= n->n_ports; i++) {
		struct inv_port *p = &n->ports[i];

		if (any && p->raised) {
			forget_port(p);
			if (p->edge == EDGE_LINKED)
				forget_port(&inv_node(&s->inv, p->peer)->ports[p->peer_port]);
		}
		p->raised = any && p->raised;
	}
	n->raised = any && n->raised;
}

void
observe_has_told(struct inv_node *n)
{
	for (unsigned p = 1; n->raised && p <= n->n_ports; p++)
		n->ports[p].raised = false;
	n->raised = false;
}

bool
observe_has_stayed(const struct inv_node *n)
{
	for (unsigned p = 1; p <= n->n_ports; p++)
		if (observe_port_is_fresh(&n->ports[p]) && !n->ports[p].raised &&
		    n->ports[p].info.port_state > WIRE_PORT_INIT)
			return true;
	return false;
}

bool
observe_switch(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct inv_node *n = inv_node(&a->s->inv, a->node);
	uint16_t top = n->sw_known ? n->sw.linear_fdb_top : 0;

	if (ask_is_stale(a))
		return false;
	if (status != TXN_OK) {
		n->sw_known = false;
		observe_silence(a, "SwitchInfo", status);
		return false;
	}
	wire_switch_info_get(reply + WIRE_SMP_DATA_AT, &n->sw);
	n->sw_known = true;
	n->sw_read_seq = a->seq;
	observe_changes(a->s, a->node, n->sw.port_state_change);
	if (n->sw.linear_fdb_top < top) {
		note_reboot(a->s, a->node);
		observe_doubt_ports(a->s, n); /* another SM may have cleared PortStateChange */
	}
	return true;
}

/* ---------------------------------------------------------------- PortInfo */

/* A port that came up anew, or may have while nobody could read it, has lost what was set in it. */
static void
note_reset(struct sweeper *s, uint32_t slot, unsigned port, const struct wire_port_info *now)
{
	struct inv_node *n = inv_node(&s->inv, slot);
	struct inv_port *p = &n->ports[port];

	if (now->port_state <= WIRE_PORT_INIT || !p->known) {
		p->refused = 0;
		p->repaths = p->repaths && now->port_state > WIRE_PORT_INIT; /* it has not booted */
		p->registration = now->port_state == WIRE_PORT_ACTIVE ? REG_BEFORE_US : REG_NONE;
		forget_port(p);
		if (p->registration == REG_NONE)
			links_registered(s, p->guid);
	}
	if (inv_is_switch(n) && port == 0 && now->lid == 0 && n->lft != LFT_BLANK)
		note_reboot(s, slot);
}

/* The link has come up anew, perhaps by another cable.  The state before counts even where the
 * last question was not answered, and the port is not `known`. */
static void
note_bounce(struct sweeper *s, uint32_t slot, unsigned port, const struct wire_port_info *now)
{
	struct inv_node *n = inv_node(&s->inv, slot);
	struct inv_port *p = &n->ports[port];

	if (now->port_state > WIRE_PORT_INIT || p->info.port_state <= now->port_state)
		return;
	if (slot == s->inv.local && port == s->inv.local_port)
		sms_was_cut_off(s);
	s->disc->changed = true;
	n->fell = true;
	if (p->read_seq <= n->came_seq)
		return; /* the record is of before it was gone, and the cable was found since */
	p->n_falls++;
	if (s->set.sweep.flap_still_ms > 0)
		flaps_fell(&s->inv, slot, port, s->set.sweep.flap_still_ms, sweeper_clock_ms(s));
	if (p->edge == EDGE_LINKED)
		doubt_port(s, p->peer, p->peer_port);
	if (p->edge == EDGE_ASKED)
		p->doubt_seq = s->reading.seq; /* the answer may be of the cable before */
	else
		inv_unlink(&s->inv, slot, (uint8_t)port, EDGE_NONE);
}

bool
observe_port(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct inv_node *n = inv_node(&s->inv, a->node);
	struct inv_port *p = &n->ports[a->port];
	struct wire_port_info now;

	if (ask_is_stale(a))
		return false;
	if (status != TXN_OK) {
		p->known = false;
		observe_silence(a, "PortInfo", status);
		return false;
	}
	wire_port_info_get(reply + WIRE_SMP_DATA_AT, &now);
	note_reset(s, a->node, a->port, &now);
	if (inv_walks(&s->inv, a->node, a->port))
		note_bounce(s, a->node, a->port, &now);
	p->stopped = p->stopped && now.phys_state == WIRE_PHYS_DISABLED;
	p->info = now;
	p->known = true;
	p->read_seq = a->seq;
	return true;
}

/* Has it a port above INIT, as was last read? */
static bool
is_up(const struct inv_node *n)
{
	for (unsigned p = 1; p <= n->n_ports; p++)
		if (n->ports[p].info.port_state > WIRE_PORT_INIT)
			return true;
	return false;
}

void
observe_lost_power(struct inv_node *n)
{
	if (n->fell && n->lft == LFT_OURS && !is_up(n)) {
		n->lft = LFT_UNKNOWN;
		n->mft = MFT_UNKNOWN;
		forget_ports(n);
	}
	n->fell = false;
}
