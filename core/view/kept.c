/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/view/kept.c - from the files to what is answered from before the first sweep has ended.
 *
 * All that is done to what was kept makes it less: a cable is unlinked, a switch is not there
 * any more with all that hangs on it, and a host without a cable is no end.
 */
#include "core/view/kept.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/plan/plan_file.h"
#include "core/vfabric/members.h"
#include "lib/error.h"
#include "lib/log.h"

static struct fm_log_bucket said = { .burst = 10, .every_ms = 1000 };

/* -------------------------------------------------------------------- less */

/* A port with a LID that somebody can be told of: the view's rule (view.c). */
static bool
is_end(const struct inventory *inv, uint32_t slot, unsigned port)
{
	const struct inv_node *n = inv_node(inv, slot);
	const struct inv_port *p = &n->ports[port];

	if (!n->present || !p->known || p->lid == 0)
		return false;
	if (inv_is_switch(n))
		return port == 0;
	return port != 0 && p->edge == EDGE_LINKED && p->info.port_state >= WIRE_PORT_INIT;
}

static uint32_t
count_ends(const struct inventory *inv)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < inv->nodes.n; i++)
		for (unsigned p = 0; p <= inv_node(inv, i)->n_ports; p++)
			n += is_end(inv, i, p);
	return n;
}

static void
log_not_as_kept(const struct inventory *inv, uint32_t slot, unsigned port, const char *why)
{
	char name[128];

	fm_log_rl(&said, FM_LOG_NOTICE, "sa", "what was kept of %s port %u does not hold: %s",
	    inv_name(inv_node(inv, slot), name, sizeof(name)), port, why);
}

/* The cable of a port, or, of a switch's port 0, the switch with all its cables. */
static void
take_away(struct inventory *inv, uint32_t slot, unsigned port, const char *why)
{
	log_not_as_kept(inv, slot, port, why);
	if (port != 0) {
		inv_unlink(inv, slot, (uint8_t)port, EDGE_NONE);
		return;
	}
	inv_unlink_all(inv, slot);
	inv_node(inv, slot)->present = false;
}

/* ---------------------------------------------------------------- snapshot */

static uint8_t
kind_of(const struct inv_node *n)
{
	return inv_is_switch(n)		  ? FM_END_SWITCH
	    : n->type == WIRE_NODE_ROUTER ? FM_END_ROUTER
					  : FM_END_CA;
}

static bool
add_end(const struct inventory *inv, struct snapshot_builder *b, uint32_t slot, unsigned port)
{
	const struct inv_node *n = inv_node(inv, slot);
	const struct inv_port *p = &n->ports[port];
	struct snapshot_end e = { .guid = p->guid,
		.node_guid = n->guid,
		.system_guid = n->system_guid,
		.name = n->name,
		.desc = n->desc,
		.sw = n->sw_index,
		.lid = p->lid,
		.lmc = p->lmc,
		.kind = kind_of(n),
		.n_vls = 1 };

	if (!inv_is_switch(n)) {
		const struct inv_node *far = inv_node(inv, p->peer);

		e.sw = inv_is_switch(far) ? far->sw_index : FM_NONE;
		e.port = inv_is_switch(far) ? p->peer_port : 0;
	}
	return fm_vec_push(&b->ends, e);
}

/* Once each: from the switch of the lower number. */
static bool
add_cable(const struct inventory *inv, struct snapshot_builder *b, uint32_t slot, unsigned port)
{
	const struct inv_node *n = inv_node(inv, slot), *far;
	const struct inv_port *p = &n->ports[port];
	struct snapshot_cable c = { .sw = { n->sw_index },
		.port = { (uint8_t)port, p->peer_port },
		.n_vls = 1,
		.mbps = wire_port_mbps(&p->info) };

	if (!inv_is_switch(n) || p->edge != EDGE_LINKED)
		return true;
	far = inv_node(inv, p->peer);
	if (!inv_is_switch(far) || far->sw_index < n->sw_index)
		return true;
	c.sw[1] = far->sw_index;
	c.nominal_mbps = c.mbps;
	return fm_vec_push(&b->cables, c);
}

static bool
add_all(const struct inventory *inv, struct snapshot_builder *b)
{
	bool ok = true;

	for (size_t i = 0; ok && i < inv->switches.n; i++) {
		const struct inv_node *n = inv_node(inv, inv->switches.item[i]);
		struct snapshot_switch sw = { n->guid, n->system_guid, n->name, n->n_ports,
			.desc = n->desc };

		ok = fm_vec_push(&b->switches, sw);
	}
	for (uint32_t i = 0; i < inv->nodes.n; i++)
		for (unsigned p = 0; ok && p <= inv_node(inv, i)->n_ports; p++)
			ok = (!is_end(inv, i, p) || add_end(inv, b, i, p)) &&
			    add_cable(inv, b, i, p);
	return ok;
}

/* *out NULL, without an error: the parts do not fit one another. */
static int
snapshot_of(const struct inventory *inv, struct snapshot **out, struct fm_error *err)
{
	struct snapshot_builder b = { 0 };
	struct fm_error why = { 0 };
	int rc;

	*out = NULL;
	if (add_all(inv, &b))
		rc = snapshot_build(&b, out, &why);
	else
		rc = fm_fail(&why, FM_E_RESOURCE, "out of memory for what was kept");
	snapshot_builder_fini(&b);
	if (rc == FM_E_RESOURCE)
		*err = why;
	else if (rc != 0)
		log_debug("sa", "kept nodes do not fit one another: %s", why.msg);
	return rc == FM_E_RESOURCE ? rc : 0;
}

/* The tables of `of` on what is left, and is still connected with us. */
static int
plan_again(struct sa_kept *k, struct plan *of, struct fm_error *err)
{
	struct snapshot *snap;
	struct plan *p;
	int rc;

	if (!inv_find_routes(&k->inv))
		return fm_fail(err, FM_E_RESOURCE, "out of memory for what was kept");
	rc = snapshot_of(&k->inv, &snap, err);
	if (rc != 0 || snap == NULL)
		return rc != 0 ? rc : fm_fail(err, FM_E_BUG, "what is left does not fit");
	k->n_gone = k->n_ports - count_ends(&k->inv);
	p = plan_new(snap, err);
	snapshot_put(snap);
	if (p == NULL)
		return FM_E_RESOURCE;
	p->tables = tables_get(of->tables);
	p->top_lid = of->top_lid;
	p->forward_only = of->forward_only;
	memcpy(p->engine, of->engine, sizeof(p->engine));
	plan_put(k->plan);
	k->plan = p;
	return 0;
}

/* -------------------------------------------------------------------- load */

static void
hold_against_store(struct sa_kept *k, const struct store *store)
{
	for (uint32_t i = 0; i < k->inv.nodes.n; i++)
		for (unsigned p = 0; p <= inv_node(&k->inv, i)->n_ports; p++)
			if (is_end(&k->inv, i, p) &&
			    store_lid(store, inv_node(&k->inv, i)->ports[p].guid) !=
				inv_node(&k->inv, i)->ports[p].lid)
				take_away(&k->inv, i, p, "the store has another LID for it");
}

/* Do the entries of its own switch for all its LIDs lead to the port? */
static bool
is_led_to(const struct plan *tables, const struct inventory *inv, uint32_t slot, unsigned port)
{
	const struct inv_node *n = inv_node(inv, slot), *sw = n;
	const struct inv_port *p = &n->ports[port];
	uint8_t by = 0;

	if (!inv_is_switch(n)) {
		sw = inv_node(inv, p->peer);
		by = p->peer_port;
	}
	if (!inv_is_switch(sw))
		return true;
	for (uint32_t lid = p->lid; lid < p->lid + (1u << p->lmc); lid++)
		if (lid > tables->top_lid || tables->tables->t.lft[sw->sw_index][lid] != by)
			return false;
	return true;
}

static void
hold_against_tables(struct sa_kept *k, const struct plan *tables)
{
	for (uint32_t i = 0; i < k->inv.nodes.n; i++)
		for (unsigned p = 0; p <= inv_node(&k->inv, i)->n_ports; p++)
			if (is_end(&k->inv, i, p) && !is_led_to(tables, &k->inv, i, p))
				take_away(&k->inv, i, p, "the kept tables do not lead to it");
}

static bool
note_lids(struct sa_kept *k)
{
	for (uint32_t i = 0; i < k->inv.nodes.n; i++)
		for (unsigned p = 0; p <= inv_node(&k->inv, i)->n_ports; p++) {
			const struct inv_port *port = &inv_node(&k->inv, i)->ports[p];
			uint32_t n = is_end(&k->inv, i, p) ? 1u << port->lmc : 0;

			for (uint32_t lid = port->lid; lid < port->lid + n; lid++)
				if (!fm_hash_put(&k->by_lid, lid, i * 256 + p))
					return false;
		}
	return true;
}

/* What was kept to members of vfabrics; *found NULL: there are none. */
static int
find_members(struct sa_kept *k, const struct sa_settings *set, struct vfabric_members **found,
    struct fm_error *err)
{
	*found = NULL;
	return set->vfabrics == NULL || set->vfabrics->n == 0
	    ? 0
	    : vfabric_members_find(set->vfabrics, set->partitions, k->plan->snap, found, err);
}

static int
take_pkeys(struct sa_kept *k, const struct sa_kept_source *src, struct fm_error *err)
{
	static const enum part_kind kinds[] = { [WIRE_NODE_CA] = PART_CA,
		[WIRE_NODE_SWITCH] = PART_SWITCH,
		[WIRE_NODE_ROUTER] = PART_ROUTER };
	struct vfabric_members *found;
	struct port_pkeys_builder *b;
	struct pkey_list list;
	bool ok = true;

	if (src->set->partitions == NULL)
		return 0; /* all are full members of the default partition */
	if (find_members(k, src->set, &found, err) != 0)
		return (int)err->kind;
	b = port_pkeys_begin(src->set->partitions);
	for (uint32_t i = 0; b != NULL && i < k->inv.nodes.n; i++)
		for (unsigned p = 0; ok && p <= inv_node(&k->inv, i)->n_ports; p++) {
			const struct inv_node *n = inv_node(&k->inv, i);
			struct part_port port = { n->ports[p].guid, kinds[n->type],
				i == k->inv.local && p == k->inv.local_port };

			if (found != NULL)
				vfabric_members_give(found, &port);
			ok = !is_end(&k->inv, i, p) || port_pkeys_add(b, &port, &list);
		}
	vfabric_members_free(found);
	k->pkeys = b != NULL ? port_pkeys_end(b) : NULL;
	return ok && k->pkeys != NULL
	    ? 0
	    : fm_fail(err, FM_E_RESOURCE, "out of memory for what was kept");
}

/* VLs go by numbers of links, which are others now, and are told by no answer that is given from
 * what was kept.  NULL: they can be left out; else why not. */
static const char *
leave_out_vls(struct fm_tables *t)
{
	if (t->sl_shape == FM_SL_ZERO && t->sl2vl_shape != FM_SL2VL_MODULO)
		return "the tables map SLs to VLs and name none";
	t->sl2vl_shape = FM_SL2VL_MODULO;
	return NULL;
}

/* The tables that were kept, for the nodes that were. */
static int
take_tables(
    struct sa_kept *k, const struct sa_kept_source *src, const char **why, struct fm_error *err)
{
	struct plan *tables = NULL;
	struct snapshot *snap;
	int rc = snapshot_of(&k->inv, &snap, err);

	if (rc == 0 && snap != NULL)
		rc = plan_file_load(
		    src->tables, src->router, snap, src->chain_mark, 0, &tables, err);
	snapshot_put(snap);
	*why = "there are no tables for these switches and this chain of engines";
	if (rc == 0 && tables != NULL)
		*why = leave_out_vls(&tables->tables->t);
	if (rc == 0 && *why == NULL) {
		hold_against_tables(k, tables);
		rc = plan_again(k, tables, err);
	}
	plan_put(tables);
	return rc;
}

/* What has been read to what can be answered from. */
static int
make_whole(
    struct sa_kept *k, const struct sa_kept_source *src, const char **why, struct fm_error *err)
{
	int rc;

	*why = "our own port is not among the nodes";
	inv_rename(&k->inv, src->names);
	k->inv.names = NULL; /* they are another's, who may go */
	k->inv.local = inv_find_port(&k->inv, src->own_guid, &k->inv.local_port);
	if (k->inv.local == INV_NONE)
		return 0;
	k->n_ports = count_ends(&k->inv);
	if (!note_lids(k))
		return fm_fail(err, FM_E_RESOURCE, "out of memory for what was kept");
	hold_against_store(k, src->store);
	rc = take_tables(k, src, why, err);
	return rc == 0 && *why == NULL ? take_pkeys(k, src, err) : rc;
}

static int
read_nodes(
    struct sa_kept *k, const struct sa_kept_source *src, const char **why, struct fm_error *err)
{
	struct sa_kept_head h;
	bool no_memory = false, good = true;
	size_t n;
	uint8_t *bytes = fm_seal_read(src->path, SA_KEPT_WHAT, SA_KEPT_MAGIC, sizeof(h), &n);

	*why = "there are no nodes";
	if (bytes == NULL)
		return 0;
	memcpy(&h, bytes, sizeof(h));
	*why = "partitions, or the prefix of the subnet, are others now";
	if (h.mark == sa_kept_mark(src->set)) {
		good = sa_kept_read(bytes, n, &k->inv, &no_memory);
		*why = good ? NULL : "the nodes are damaged";
	}
	free(bytes);
	if (no_memory)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for what was kept");
	if (!good)
		fm_seal_set_aside(src->path, SA_KEPT_WHAT, "it does not hold what it says");
	return 0;
}

int
sa_kept_load(
    const struct sa_kept_source *src, struct sa_kept **out, const char **why, struct fm_error *err)
{
	struct sa_kept *k = calloc(1, sizeof(*k));
	int rc;

	*out = NULL;
	if (k == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for what was kept");
	inv_init(&k->inv);
	k->basis = SA_VIEW_KEPT;
	rc = read_nodes(k, src, why, err);
	if (rc == 0 && *why == NULL)
		rc = make_whole(k, src, why, err);
	if (rc == 0 && *why == NULL)
		*out = k;
	else
		sa_kept_free(k);
	return rc;
}

void
sa_kept_free(struct sa_kept *k)
{
	if (k == NULL)
		return;
	plan_put(k->plan);
	port_pkeys_put(k->pkeys);
	fm_hash_fini(&k->by_lid);
	inv_fini(&k->inv);
	free(k);
}

/* ----------------------------------------------------------------- compare */

/* Was it read since, so that it counts? */
static bool
is_read(const struct sa_kept *k, const struct inv_port *p)
{
	return p->known && p->read_seq >= k->since;
}

/* A sentence: why the node as a whole is not what it was; NULL: it may be. */
static const char *
other_node(const struct sa_kept *k, const struct inv_node *was, const struct inv_node *is)
{
	const struct inv_port *zero = &is->ports[0];

	if (is->type != was->type || is->n_ports != was->n_ports)
		return "another node has its GUID";
	if (!inv_is_switch(is))
		return NULL;
	if (is_read(k, zero) &&
	    (zero->info.lid != was->ports[0].lid || zero->info.lmc != was->ports[0].lmc))
		return "the switch has another LID";
	if (is->sw_known && is->sw_read_seq >= k->since &&
	    is->sw.linear_fdb_top < was->sw.linear_fdb_top)
		return "the switch has lost its tables";
	return NULL;
}

/* The same of a port with a cable. */
static const char *
other_port(const struct sa_kept *k, const struct inventory *now, const struct inv_node *node,
    const struct inv_port *was, const struct inv_port *is)
{
	if (is->read_seq < k->since)
		return NULL;
	if (is->known && is->info.port_state != WIRE_PORT_ACTIVE)
		return "the link is not ACTIVE";
	if (is->known && !inv_is_switch(node) &&
	    (is->info.lid != was->lid || is->info.lmc != was->lmc))
		return "the port has another LID";
	if (is->edge == EDGE_LOOP || is->edge == EDGE_DUPLICATE)
		return "another cable is there";
	if (is->edge == EDGE_LINKED &&
	    (is->peer_port != was->peer_port ||
		inv_node(now, is->peer)->guid != inv_node(&k->inv, was->peer)->guid))
		return "it is cabled to another port";
	return NULL;
}

/* What the link carries is as it was read last. */
static bool
take_carried(const struct sa_kept *k, struct inv_port *was, const struct inv_port *is)
{
	uint8_t state = was->info.port_state;

	if (!is_read(k, is) ||
	    (is->info.neighbor_mtu == was->info.neighbor_mtu &&
		is->info.mtu_cap == was->info.mtu_cap &&
		wire_port_mbps(&is->info) == wire_port_mbps(&was->info)))
		return false;
	was->info = is->info;
	was->info.port_state = state; /* nothing becomes more */
	return true;
}

static bool
compare_ports(struct sa_kept *k, uint32_t slot, const struct inventory *now, uint32_t at)
{
	const struct inv_node *is = inv_node(now, at);
	bool changed = false;

	for (unsigned p = 0; p <= is->n_ports; p++) {
		struct inv_node *n = inv_node(&k->inv, slot);
		const char *why;

		if (n->ports[p].edge != EDGE_LINKED)
			continue;
		why = other_port(k, now, n, &n->ports[p], &is->ports[p]);
		if (why != NULL)
			take_away(&k->inv, slot, p, why);
		changed =
		    (why == NULL ? take_carried(k, &n->ports[p], &is->ports[p]) : true) || changed;
	}
	return changed;
}

/* True: there is less than before. */
static bool
compare_node(struct sa_kept *k, uint32_t slot, const struct inventory *now, bool all_read)
{
	uint32_t at = inv_find(now, inv_node(&k->inv, slot)->guid);
	const char *why = NULL;

	if (!inv_node(&k->inv, slot)->present)
		return false;
	if (at == INV_NONE || !inv_node(now, at)->present)
		why = all_read ? "it is not there, or does not answer" : NULL;
	else
		why = other_node(k, inv_node(&k->inv, slot), inv_node(now, at));
	if (why != NULL) {
		take_away(&k->inv, slot, 0, why);
		return true;
	}
	return at != INV_NONE && inv_node(now, at)->present && compare_ports(k, slot, now, at);
}

/* Who shows a LID that was kept for another takes it from that one. */
static bool
compare_lids(struct sa_kept *k, const struct inv_node *n, unsigned port)
{
	const struct inv_port *p = &n->ports[port];
	uint32_t last = p->info.lid + (1u << (p->info.lmc & 7));
	bool changed = false;

	if (!is_read(k, p) || p->info.lid == 0)
		return false;
	for (uint32_t lid = p->info.lid; lid < last; lid++) {
		uint32_t at = fm_hash_find(&k->by_lid, lid);

		if (at == FM_HASH_NONE || !is_end(&k->inv, at / 256, at % 256) ||
		    inv_node(&k->inv, at / 256)->ports[at % 256].guid == p->guid)
			continue;
		take_away(&k->inv, at / 256, at % 256, "another port has its LID");
		changed = true;
	}
	return changed;
}

int
sa_kept_compare(struct sa_kept *k, const struct inventory *now, bool all_read, bool *changed,
    struct fm_error *err)
{
	*changed = false;
	for (uint32_t i = 0; i < k->inv.nodes.n; i++)
		*changed = compare_node(k, i, now, all_read) || *changed;
	for (uint32_t i = 0; i < now->nodes.n; i++) {
		const struct inv_node *n = inv_node(now, i);
		unsigned first = inv_is_switch(n) ? 0 : 1, last = inv_is_switch(n) ? 0 : n->n_ports;

		for (unsigned p = first; n->present && p <= last; p++)
			*changed = compare_lids(k, n, p) || *changed;
	}
	return *changed ? plan_again(k, k->plan, err) : 0;
}
