/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sweep/model.c - from the inventory to LIDs, snapshot and plan.
 *
 * LIDs: those of the store, then those found in ports, then fresh ones leaf
 * by leaf.  GUIDs that the store knows but that are absent keep their LIDs
 * reserved, unless LIDs run out.
 *
 * Switches keep their index: the first snapshot numbers them by GUID, later
 * ones append.  When nothing that routing looks at has changed, the plan
 * stays and no engine runs.
 */
#include <stdlib.h>

#include "core/graph/switch_order.h"
#include "core/inventory/flaps.h"
#include "core/inventory/isolated.h"
#include "core/plan/keep.h"
#include "core/subnet/lid.h"
#include "core/sweep/internal.h"

/* ------------------------------------------------------------- switches */

struct fresh_switch {
	uint64_t guid, slot;
};

static int
by_guid(const void *a, const void *b)
{
	const struct fresh_switch *x = a, *y = b;

	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

static bool
number_switches(struct inventory *inv)
{
	FM_VEC(struct fresh_switch) fresh = { 0 };
	bool ok = true;

	for (uint32_t i = 0; ok && i < inv->nodes.n; i++) {
		const struct inv_node *n = inv_node(inv, i);
		struct fresh_switch f = { n->guid, i };

		if (inv_is_switch(n) && node_usable(n) && n->sw_index == INV_NONE)
			ok = fm_vec_push(&fresh, f);
	}
	if (fresh.n > 1)
		qsort(fresh.item, fresh.n, sizeof(fresh.item[0]), by_guid);
	for (size_t i = 0; ok && i < fresh.n; i++) {
		inv_node(inv, (uint32_t)fresh.item[i].slot)->sw_index = (uint32_t)inv->switches.n;
		ok = fm_vec_push(&inv->switches, (uint32_t)fresh.item[i].slot);
	}
	fm_vec_fini(&fresh);
	return ok;
}

/* ----------------------------------------------------------------- LIDs */

struct wanted_port {
	uint32_t slot;
	uint8_t port;
};

struct lid_round {
	FM_VEC(struct lid_want) wants;
	FM_VEC(struct wanted_port) ports; /* of the first wants */
	struct fm_hash guids;
	struct fm_arena mem;
};

static bool
want_lid(struct sweeper *s, struct lid_round *r, uint32_t slot, uint8_t port)
{
	const struct inv_node *n = inv_node(&s->inv, slot);
	const struct inv_port *p = &n->ports[port];
	struct lid_want w = { .guid = p->guid, .name = n->name };
	struct wanted_port ref = { slot, port };

	if (!port_wants_lid(&s->inv, slot, port))
		return true;
	if (inv_is_switch(n))
		w.lmc = n->sw.enhanced_port0 ? s->set.addresses.switch_lmc : 0;
	else
		w.lmc = s->set.addresses.lmc;
	w.stored = store_lid(s->p.store, p->guid);
	if (w.stored == 0)
		w.stored = p->lid; /* given by us earlier */
	w.present = p->info.lid;
	w.present_lmc = p->info.lmc;
	return fm_vec_push(&r->wants, w) && fm_vec_push(&r->ports, ref) &&
	    fm_hash_put(&r->guids, p->guid, 1);
}

/* The graph of switches, as switch_order() wants it. */
static bool
order_switches(struct sweeper *s, struct fm_arena *mem, uint32_t **order, struct fm_error *err)
{
	const struct inventory *inv = &s->inv;
	uint32_t n_sw = (uint32_t)inv->switches.n, n_links = 0;
	uint32_t *first = fm_arena_array(mem, (size_t)n_sw + 1, uint32_t), *to;
	uint8_t *is_leaf = fm_arena_array(mem, (size_t)n_sw + 1, uint8_t);

	*order = fm_arena_array(mem, (size_t)n_sw + 1, uint32_t);
	to = fm_arena_array(mem, (size_t)n_sw * INV_PORTS_MAX + 1, uint32_t);
	if (first == NULL || is_leaf == NULL || *order == NULL || to == NULL)
		return false;
	for (uint32_t i = 0; i < n_sw; i++) {
		const struct inv_node *n = inv_node(inv, inv->switches.item[i]);

		first[i] = n_links;
		for (unsigned p = 1; node_usable(n) && p <= n->n_ports; p++) {
			const struct inv_node *far;

			if (!link_usable(inv, &n->ports[p]))
				continue;
			far = inv_node(inv, n->ports[p].peer);
			if (inv_is_switch(far))
				to[n_links++] = far->sw_index;
			else
				is_leaf[i] = 1;
		}
	}
	first[n_sw] = n_links;
	return n_sw == 0 || switch_order(n_sw, first, to, is_leaf, *order, err) == 0;
}

static bool
want_all(struct sweeper *s, struct lid_round *r, struct fm_error *err)
{
	uint32_t *order;
	bool ok = order_switches(s, &r->mem, &order, err);

	for (size_t i = 0; ok && i < s->inv.switches.n; i++) {
		uint32_t slot = s->inv.switches.item[order[i]];
		const struct inv_node *n = inv_node(&s->inv, slot);

		ok = want_lid(s, r, slot, 0);
		for (unsigned p = 1; ok && n->present && p <= n->n_ports; p++) {
			const struct inv_port *port = &n->ports[p];

			if (port->edge == EDGE_LINKED &&
			    !inv_is_switch(inv_node(&s->inv, port->peer)))
				ok = want_lid(s, r, port->peer, port->peer_port);
		}
	}
	/* CAs cabled to each other */
	for (uint32_t i = 0; ok && i < s->inv.nodes.n; i++) {
		const struct inv_node *n = inv_node(&s->inv, i);

		for (unsigned p = 1; ok && n->present && !inv_is_switch(n) && p <= n->n_ports; p++)
			if (n->ports[p].edge == EDGE_LINKED &&
			    !inv_is_switch(inv_node(&s->inv, n->ports[p].peer)))
				ok = want_lid(s, r, i, (uint8_t)p);
	}
	return ok;
}

static bool
reserve_absent(struct sweeper *s, struct lid_round *r)
{
	for (uint32_t i = 0; i < store_n_lids(s->p.store); i++) {
		const struct store_lid *l = &store_lids(s->p.store)[i];
		struct lid_want w = { .guid = l->guid, .lmc = l->lmc, .stored = l->lid };

		if (fm_hash_find(&r->guids, l->guid) == FM_HASH_NONE && !fm_vec_push(&r->wants, w))
			return false;
	}
	return true;
}

static bool
keep_lids(struct sweeper *s, struct lid_round *r, struct fm_error *err)
{
	struct store_lid *keep = fm_arena_array(&r->mem, r->ports.n + 1, struct store_lid);

	fm_hash_fini(&s->inv.lid_owner);
	for (uint32_t i = 0; keep != NULL && i < r->ports.n; i++) {
		const struct lid_want *w = &r->wants.item[i];
		const struct wanted_port *ref = &r->ports.item[i];
		struct inv_port *p = &inv_node(&s->inv, ref->slot)->ports[ref->port];

		p->lid = w->lid;
		p->lmc = w->lmc;
		keep[i] = (struct store_lid){ w->guid, w->lid, w->lmc };
		if (!fm_hash_put(&s->inv.lid_owner, w->lid, ref->slot))
			return false;
	}
	s->report.n_lids = (uint32_t)r->ports.n;
	if (keep != NULL && s->p.store != NULL && !s->set.dry_run &&
	    store_put_lids(s->p.store, keep, (uint32_t)r->ports.n, err) != 0) {
		log_err("sweep", "LIDs are not kept: %s", err->msg);
		*err = (struct fm_error){ 0 };
	}
	return keep != NULL;
}

static void
end_round(struct lid_round *r)
{
	fm_vec_fini(&r->wants);
	fm_vec_fini(&r->ports);
	fm_hash_fini(&r->guids);
	fm_arena_fini(&r->mem);
}

/* Who is to have which LIDs; end_round() in any case. */
static int
assign(struct sweeper *s, struct lid_round *r, bool is_foretold, struct fm_error *err)
{
	int (*give)(struct lid_want *, uint32_t, bool, struct fm_error *) =
	    is_foretold ? lid_foretell : lid_assign;
	bool honour = !(s->rule.up == UP_NEVER && s->set.addresses.reassign_lids);
	int rc;

	fm_arena_init(&r->mem, SIZE_MAX);
	if (!want_all(s, r, err) || !reserve_absent(s, r))
		return err->kind != FM_OK ? (int)err->kind
					  : fm_fail(err, FM_E_RESOURCE, "out of memory for LIDs");
	rc = give(r->wants.item, (uint32_t)r->wants.n, honour, err);
	if (rc == FM_E_RESOURCE && r->wants.n > r->ports.n) {
		if (!is_foretold)
			log_warn(
			    "sweep", "LIDs run out: those of absent ports are given to others");
		rc = give(r->wants.item, (uint32_t)r->ports.n, honour, err);
	}
	return rc;
}

static int
give_lids(struct sweeper *s, struct fm_error *err)
{
	struct lid_round r = { 0 };
	int rc = assign(s, &r, false, err);

	if (rc == 0 && !keep_lids(s, &r, err))
		rc = err->kind != FM_OK ? (int)err->kind
					: fm_fail(err, FM_E_RESOURCE, "out of memory for LIDs");
	end_round(&r);
	return rc;
}

static void
name_move(struct sweep_lid_moves *moves, const char *desc)
{
	size_t n = strlen(moves->names);

	if (++moves->n <= 3)
		snprintf(
		    moves->names + n, sizeof(moves->names) - n, "%s%.40s", n > 0 ? ", " : "", desc);
}

int
sweeper_lid_moves(struct sweeper *s, uint8_t ca_lmc, uint8_t switch_lmc,
    struct sweep_lid_moves *moves, struct fm_error *err)
{
	const struct sweep_settings now = s->set;
	struct lid_round r = { 0 };
	int rc;

	*moves = (struct sweep_lid_moves){ 0 };
	s->set.addresses.lmc = ca_lmc;
	s->set.addresses.switch_lmc = switch_lmc;
	rc = assign(s, &r, true, err);
	s->set = now;
	for (uint32_t i = 0; rc == 0 && i < r.ports.n; i++) {
		const struct inv_node *n = inv_node(&s->inv, r.ports.item[i].slot);
		const struct inv_port *p = &n->ports[r.ports.item[i].port];

		if (p->lid != 0 && p->lid != r.wants.item[i].lid)
			name_move(moves, n->desc);
	}
	end_round(&r);
	return rc;
}

/* ------------------------------------------------------------- snapshot */

static uint8_t
end_kind(const struct inv_node *n)
{
	if (inv_is_switch(n))
		return FM_END_SWITCH;
	if (n->type == WIRE_NODE_ROUTER)
		return FM_END_ROUTER;
	return snapshot_is_aggregator(n->desc) ? FM_END_AGGREGATOR : FM_END_CA;
}

/* Has the switch no other links than such? */
static bool
is_beyond(const struct sweeper *s, fm_sw sw)
{
	const struct inv_node *n = inv_node(&s->inv, s->inv.switches.item[sw]);
	bool any = false;

	for (unsigned i = 1; apply_is_unfinished(s) && i <= n->n_ports; i++) {
		const struct inv_port *p = &n->ports[i];

		if (!link_usable(&s->inv, p) || !inv_is_switch(inv_node(&s->inv, p->peer)))
			continue;
		if (!links_is_put_off(s, n, i))
			return false;
		any = true;
	}
	return any;
}

static bool
add_end(struct sweeper *s, struct snapshot_builder *b, uint32_t slot, uint8_t port)
{
	const struct inv_node *n = inv_node(&s->inv, slot);
	const struct inv_port *p = &n->ports[port];
	struct snapshot_end e = { .guid = p->guid,
		.node_guid = n->guid,
		.system_guid = n->system_guid,
		.name = n->name,
		.desc = n->desc,
		.sw = FM_NONE,
		.lid = p->lid,
		.lmc = p->lmc,
		.kind = end_kind(n),
		.n_vls = 15 };

	if (!port_wants_lid(&s->inv, slot, port) || p->lid == 0)
		return true;
	if (inv_is_switch(n)) {
		e.sw = n->sw_index;
	} else {
		const struct inv_node *far = inv_node(&s->inv, p->peer);

		if (inv_is_switch(far)) {
			e.sw = far->sw_index;
			e.port = p->peer_port;
		}
		e.mbps = wire_rate_mbps(inv_rate(n, port));
		e.n_vls = wire_data_vls(field_link_vl_code(&s->set, p, &far->ports[p->peer_port]));
	}
	return (e.sw != FM_NONE && is_beyond(s, e.sw)) || fm_vec_push(&b->ends, e);
}

static bool
add_cables(struct sweeper *s, struct snapshot_builder *b, uint32_t slot, bool isolated)
{
	const struct inv_node *n = inv_node(&s->inv, slot);

	for (unsigned i = 1; i <= n->n_ports; i++) {
		const struct inv_port *p = &n->ports[i], *q;
		const struct inv_node *far;
		struct snapshot_cable c;

		if (!link_usable(&s->inv, p))
			continue;
		far = inv_node(&s->inv, p->peer);
		if (!inv_is_switch(far) || far->sw_index < n->sw_index)
			continue;
		if (links_is_put_off(s, n, i))
			continue;
		if (!isolated &&
		    (flaps_leave_out(&s->inv, slot, i) ||
			isolated_is_cable(s->set.isolated, &s->inv, slot, i)))
			continue;
		q = &far->ports[p->peer_port];
		c = (struct snapshot_cable){ .sw = { n->sw_index, far->sw_index },
			.port = { (uint8_t)i, p->peer_port },
			.n_vls = wire_data_vls(field_link_vl_code(&s->set, p, q)),
			.mbps = wire_rate_mbps(inv_rate(n, i)),
			.nominal_mbps = wire_rate_mbps(wire_rate_best(&p->info, &q->info)) };
		if (c.nominal_mbps < c.mbps)
			c.nominal_mbps = c.mbps;
		if (!fm_vec_push(&b->cables, c))
			return false;
	}
	return true;
}

/* isolated: with the cables that are, or flap, too. */
static int
build_snapshot(struct sweeper *s, bool isolated, struct snapshot **out, struct fm_error *err)
{
	struct snapshot_builder b = { 0 };
	bool ok = true;
	int rc;

	for (size_t i = 0; ok && i < s->inv.switches.n; i++) {
		uint32_t slot = s->inv.switches.item[i];
		const struct inv_node *n = inv_node(&s->inv, slot);
		struct snapshot_switch sw = { n->guid, n->system_guid, n->name, n->n_ports, n->desc,
			n->info.vendor_id, n->info.device_id, n->sw.linear_fdb_cap,
			ar_groups(s, slot) };

		ok = fm_vec_push(&b.switches, sw) &&
		    (!node_usable(n) || add_cables(s, &b, slot, isolated));
	}
	for (uint32_t i = 0; ok && i < s->inv.nodes.n; i++) {
		const struct inv_node *n = inv_node(&s->inv, i);

		for (unsigned p = 0; ok && n->present && p <= (inv_is_switch(n) ? 0u : n->n_ports);
		     p++)
			ok = add_end(s, &b, i, (uint8_t)p);
	}
	rc = ok ? snapshot_build(&b, out, err)
		: fm_fail(err, FM_E_RESOURCE, "out of memory for the snapshot");
	snapshot_builder_fini(&b);
	return rc;
}

/* ----------------------------------------------------------------- plan */

#define SAME(field, n) (memcmp(a->field, b->field, (size_t)(n) * sizeof(*a->field)) == 0)

/* Is all that routing looks at the same? */
static bool
same_fabric(const struct fm_fabric *a, const struct fm_fabric *b)
{
	if (a->n_switches != b->n_switches || a->n_links != b->n_links || a->n_ends != b->n_ends ||
	    a->max_lid != b->max_lid)
		return false;
	for (uint32_t i = 0; i < a->n_switches; i++)
		if (strcmp(a->sw_name[i], b->sw_name[i]) != 0)
			return false;
	return SAME(sw_guid, a->n_switches) && SAME(sw_n_ports, a->n_switches) &&
	    SAME(sw_vendor_id, a->n_switches) && SAME(sw_device_id, a->n_switches) &&
	    SAME(sw_lft_entries, a->n_switches) && SAME(sw_ar_groups, a->n_switches) &&
	    SAME(sw_first_link, a->n_switches + 1) && SAME(sw_first_end, a->n_switches + 1) &&
	    SAME(link_to, a->n_links) && SAME(link_port, a->n_links) &&
	    SAME(link_rev, a->n_links) && SAME(link_mbps, a->n_links) &&
	    SAME(link_n_vls, a->n_links) && SAME(end_guid, a->n_ends) && SAME(end_sw, a->n_ends) &&
	    SAME(end_port, a->n_ends) && SAME(end_lid, a->n_ends) && SAME(end_lmc, a->n_ends) &&
	    SAME(end_kind, a->n_ends) && SAME(end_n_vls, a->n_ends);
}

bool
model_drops(const struct sweeper *s)
{
	return plan_lingers_too_long(s->plan, sweeper_clock_ms(s), s->set.addresses.lid_linger_ms);
}

int
model_build(struct sweeper *s, struct snapshot **snap, struct fm_error *err)
{
	int rc;

	*snap = NULL;
	snapshot_put(s->writing.wire);
	s->writing.wire = NULL;
	flaps_decide(&s->inv, s->set.isolated, s->set.sweep.flap_still_ms > 0, sweeper_clock_ms(s));
	if (!number_switches(&s->inv))
		return fm_fail(err, FM_E_RESOURCE, "out of memory for switches");
	rc = give_lids(s, err);
	if (rc != 0)
		return rc;
	rc = build_snapshot(s, false, snap, err);
	if (rc == 0)
		pkeys_note_fabric(s, *snap);
	if (rc == 0 && s->inv.switches.n == 0) { /* two CAs back to back: nothing to route */
		snapshot_put(*snap);
		*snap = NULL;
		return 0;
	}
	if (rc == 0 && (isolated_any(s->set.isolated) || flaps_any_left_out(&s->inv)))
		rc = build_snapshot(s, true, &s->writing.wire, err);
	if (rc != 0)
		return rc;
	if (s->plan == NULL || s->asked->chain_changed || s->run.quiet || apply_is_unfinished(s) ||
	    model_drops(s) || s->plan->change.n_stubs > 0 || mcast_lacks_trees(s) ||
	    !same_fabric(&s->plan->snap->fab, &(*snap)->fab))
		return 0;
	s->next = plan_get(s->plan);
	snapshot_put(*snap);
	*snap = NULL;
	return 0;
}

bool
sweeper_end_flapping(struct sweeper *s, uint64_t guid, uint8_t port)
{
	uint32_t slot = inv_find(&s->inv, guid);

	return slot != INV_NONE && port <= inv_node(&s->inv, slot)->n_ports &&
	    flaps_end(&s->inv, slot, port);
}

int
sweeper_snapshot_as(
    struct sweeper *s, const struct isolated *isolated, struct snapshot **out, struct fm_error *err)
{
	const struct isolated *was = s->set.isolated;
	int rc;

	s->set.isolated = isolated;
	rc = build_snapshot(s, false, out, err);
	s->set.isolated = was;
	return rc;
}
