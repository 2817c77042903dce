/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/program/program.c - what switches and ports are given before links come
 * up: SwitchInfo, forwarding tables (apply.c), P_Keys (pkeys.c), SL2VL and VLArb (qos.c).
 */
#include <inttypes.h>

#include "core/plan/plan_file.h"
#include "core/program/apply_internal.h"
#include "core/inventory/fields.h"

struct whole {
	struct sweep_links links;
	struct sweep_keys keys;
	struct sweep_pkeys pk;
	struct sweep_vls vls;
	struct sweep_aliases alias;
};

bool
program_new(struct sweeper *s)
{
	struct whole *w = fm_arena_alloc(&s->mem, sizeof(*w));

	s->mc = mcast_new();
	if (w == NULL || s->mc == NULL)
		return false;
	s->links = &w->links;
	s->keys = &w->keys;
	s->pk = &w->pk;
	s->vls = &w->vls;
	s->alias = &w->alias;
	s->ways.is_settled = apply_is_settled;
	s->telling.untold_before_us = store_untold(s->p.store);
	mkeys_start(s);
	links_start(s);
	return true;
}

void
program_free(struct sweeper *s)
{
	mcast_free(s->mc);
	apply_fini(s);
	if (s->links != NULL)
		fm_hash_fini(&s->links->lost_ports);
	if (s->pk != NULL)
		pkeys_fini(s);
	if (s->alias != NULL)
		aliases_fini(s);
}

void
program_start(struct sweeper *s)
{
	s->keys->changed = false;
}

/* ------------------------------------------------------------ SwitchInfo */

static uint32_t
wanted_switch(struct sweeper *s, const struct inv_node *n, struct wire_switch_info *info)
{
	struct field_context c = { .set = &s->set,
		.inv = &s->inv,
		.node = n,
		.top_lid = s->next->top_lid,
		.top_mlid = mcast_top_mlid(s) };

	*info = n->sw;
	return fields_apply(&c, FIELD_SWITCH, n->sw_refused, info);
}

static void
on_unset_port(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	const struct inv_port *p = &inv_node(&s->inv, a->node)->ports[a->port];
	struct wire_port_info now;

	if (status != TXN_OK)
		return;
	wire_port_info_get(reply + WIRE_SMP_DATA_AT, &now);
	if (now.port_state > p->info.port_state) /* it has come up */
		doubt_port(s, a->node, a->port);
	else
		observe_written_port(a, &now);
}

/* PortStateChange was cleared after the ports had been read, as we were not master yet: those
 * that no Set will show are read once more. */
static void
ask_unset_ports(struct sweeper *s, uint32_t slot)
{
	const struct inv_node *n = inv_node(&s->inv, slot);

	for (unsigned p = 1; p <= n->n_ports; p++) {
		uint8_t state = n->ports[p].info.port_state;
		struct ask *a;

		if (!n->ports[p].known || state == WIRE_PORT_INIT || state == WIRE_PORT_ARMED)
			continue;
		a = ask_new(s, slot, (uint8_t)p);
		if (a != NULL)
			ask_get_at(a, WIRE_ATTR_PORT_INFO, p, on_unset_port);
	}
}

static void
on_set_switch(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct inv_node *n = inv_node(&s->inv, a->node);
	struct wire_switch_info sent, now;
	uint32_t rows;
	char name[128];

	if (status != TXN_OK) {
		if (status != TXN_CANCELLED)
			fm_log_rl(&s->logs.refused, ask_loudness(status), "sweep",
			    "%s %s Set SwitchInfo", inv_name(n, name, sizeof(name)),
			    status == TXN_TIMEOUT ? "does not answer" : "refuses");
		return;
	}
	rows = wanted_switch(s, n, &sent);
	wire_switch_info_get(reply + WIRE_SMP_DATA_AT, &now);
	n->sw_refused |= fields_refused(rows, &sent, &now);
	if (sent.port_state_change) {
		observe_doubt_ports(s, n);
		ask_unset_ports(s, a->node);
	}
	n->sw = now;
	n->sw.port_state_change = 0;
}

/* PortStateChange is cleared by writing 1 (IBA 14.2.5.4), so it is sent as it was read: once
 * we are master discovery has cleared it before it read the ports. */
static void
set_switch(struct sweeper *s, uint32_t slot)
{
	const struct inv_node *n = inv_node(&s->inv, slot);
	uint8_t data[WIRE_SMP_DATA_BYTES] = { 0 };
	struct wire_switch_info want;
	struct ask *a;

	if (wanted_switch(s, n, &want) == 0 && !n->sw.port_state_change)
		return;
	a = ask_new(s, slot, 0);
	if (a == NULL)
		return;
	wire_switch_info_put(data, &want);
	ask_set_at(a, WIRE_ATTR_SWITCH_INFO, 0, data, on_set_switch);
}

void
program_switches(struct sweeper *s)
{
	for (size_t i = 0; s->next != NULL && i < s->inv.switches.n; i++)
		if (node_usable(inv_node(&s->inv, s->inv.switches.item[i])))
			set_switch(s, s->inv.switches.item[i]);
}

/* --------------------------------------------------------------- tables */

static bool
feed_ends(struct sweeper *s)
{
	while (s->run.cursor[1] < s->inv.nodes.n && s->run.pending < FEED_HIGH) {
		uint32_t slot = s->run.cursor[1]++;
		const struct inv_node *n = inv_node(&s->inv, slot);

		for (unsigned p = 0; node_usable(n) && p <= n->n_ports; p++) {
			pkeys_ensure(s, slot, p);
			qos_ensure(s, slot, p);
		}
		if (node_usable(n))
			qos_ensured(s, slot);
	}
	return s->run.cursor[1] < s->inv.nodes.n;
}

static bool
feed_tables(struct sweeper *s)
{
	if (s->run.cursor[0] == 0) {
		if (s->next != NULL && apply_feed(s))
			return true;
		if (s->run.failed)
			return false; /* SL-to-VL maps are those of the plan that stays */
		s->run.cursor[0] = 1;
		s->run.cursor[1] = 0;
	}
	if (sweeper_has_found(s))
		return false; /* these are for what is written */
	return feed_ends(s);
}

void
program_tables(struct sweeper *s)
{
	s->run.cursor[0] = s->run.cursor[1] = s->run.cursor[2] = 0;
	s->run.applying = true;
	pkeys_start(s);
	qos_start(s);
	apply_start(s);
	s->run.feed = feed_tables;
}

bool
program_commit(struct sweeper *s)
{
	bool taken;

	apply_note_from(s, NULL);
	if (!s->run.applying)
		return false;
	s->run.applying = false;
	taken = apply_commit(s);
	s->ways.epoch++;
	for (size_t i = 0; i < s->inv.switches.n; i++) {
		struct inv_node *n = inv_node(&s->inv, s->inv.switches.item[i]);

		if (taken && !sweeper_has_found(s)) /* else maps come with the tables */
			qos_note_owed(s, s->inv.switches.item[i]);
		n->lft_remembered =
		    (node_usable(n) ? s->run.failed : sweeper_has_silent_links(s)) &&
		    (n->lft == LFT_OURS || n->lft_remembered);
		if (node_usable(n) && !s->run.failed && !s->set.dry_run)
			n->lft = s->next != NULL ? LFT_OURS : n->lft;
		else if (n->lft != LFT_FOREIGN)
			n->lft = LFT_UNKNOWN; /* who knows what it holds when it comes back */
	}
	if (!taken) {
		qos_not_taken(s);
		plan_put(s->next);
		s->next = NULL;
		return false;
	}
	repath_note(s);
	s->telling.held_for_sls = s->telling.held_for_sls || repath_is_due(s);
	repath_keep(s, s->telling.held_for_sls || s->telling.untold_before_us);
	if (s->next != s->plan || s->next == NULL) {
		s->writing.plan_saved = s->writing.plan_saved && s->plan != NULL &&
		    s->next != NULL && s->plan->tables == s->next->tables;
		plan_put(s->plan);
		s->plan = s->next;
	} else {
		plan_put(s->next);
	}
	s->next = NULL;
	return true;
}

void
program_keep(struct sweeper *s)
{
	struct fm_error err = { 0 };

	if (s->p.plan_path == NULL || s->set.dry_run || s->plan == NULL || s->writing.plan_saved)
		return;
	if (plan_file_save(s->p.plan_path, s->plan, s->plan->mark, &err) != 0)
		log_warn("sweep", "the tables are not kept for a restart: %s", err.msg);
	else
		s->writing.plan_saved = true;
}

/* ------------------------------------------------------------ another master */

static void
forget_node(struct inv_node *n, bool registered_elsewhere)
{
	n->lft = LFT_FOREIGN;
	n->mft = MFT_UNKNOWN;
	n->lft_remembered = n->owes_maps = false;
	for (unsigned p = 0; p <= n->n_ports; p++) {
		struct inv_port *port = &n->ports[p];

		/* What was lost before us is not missed where it has been asked for. */
		if (port->registration == REG_ASKED && registered_elsewhere)
			port->registration = REG_NONE;
		/* switch ports to hosts go on to enforce what they hold */
		port->pkeys_done = port->pkeys_done && inv_is_switch(n) && p > 0;
		port->aliases_done = port->maps_in_done = false;
		port->maps = MAPS_DUE;
	}
}

void
program_forget(struct sweeper *s)
{
	for (uint32_t i = 0; i < s->inv.nodes.n; i++)
		forget_node(inv_node(&s->inv, i), s->rule.others == OTHERS_RULED);
	ar_forget_all(s);
	s->writing.held.n = s->writing.silent.n = s->writing.unwritten.n = 0;
	s->telling.held_for_sls = false;
	s->telling.n_untold = s->writing.n_owed = s->writing.n_short = 0;
	s->writing.broken_off_ns = 0;
}
