/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/view/view.c - from the inventory and the plan to what is answered from.
 *
 * To begin with, nodes, shared where nothing differs.  Then what follows from
 * them: ends by LID, and what paths can carry (rows.h), of which the blocks of
 * before are kept where neither links nor entries differ.  O(ports of the fabric),
 * a comparison each, and what has changed.
 */
#include "core/view/view.h"

#include <stdlib.h>
#include <string.h>

#include "core/graph/tables_vls.h"
#include "core/subnet/pkey_table.h"
#include "core/subnet/qos_policy.h"
#include "core/view/view_internal.h"
#include "lib/error.h"

#define N_LIDS 65536u

#define ATTRS_KEPT (ROWS_MOST_ATTRS / 2)

/* ------------------------------------------------------------------ nodes */

static size_t
node_bytes(uint32_t n_ports)
{
	return sizeof(struct sa_node) + (n_ports + 1) * sizeof(struct sa_port);
}

static void
node_put(struct sa_node *n)
{
	if (n == NULL || atomic_fetch_sub(&n->refs, 1) != 1)
		return;
	for (unsigned i = 0; i <= n->n_ports; i++)
		pkey_held_put(n->port[i].pkeys);
	free(n);
}

/* *n, all but its reference count, as the inventory has it now, whose P_Key tables it borrows. */
static void
copy_node(const struct inv_node *from, struct sa_node *n)
{
	n->info = from->info;
	n->sw = from->sw;
	n->sw_index = inv_is_switch(from) ? from->sw_index : FM_NONE;
	n->lid = inv_is_switch(from) ? from->ports[0].lid : 0;
	memcpy(n->desc, from->desc, sizeof(n->desc));
	memcpy(n->name, from->name, sizeof(n->name));
	n->n_ports = from->n_ports;
	for (unsigned i = 0; i <= from->n_ports; i++) {
		const struct inv_port *p = &from->ports[i];
		bool linked = p->edge == EDGE_LINKED;

		n->port[i].info = p->info;
		n->port[i].peer = linked ? p->peer : INV_NONE;
		n->port[i].peer_port = linked ? p->peer_port : 0;
		n->port[i].known = p->known;
		n->port[i].lid = p->lid;
		n->port[i].lmc = p->lmc;
		n->port[i].guid = p->guid;
		n->port[i].pkeys = p->pkeys;
	}
}

/* The slot's node: that of before if it looks the same.  scratch has room for any. */
static struct sa_node *
take_node(const struct inv_node *from, struct sa_node *before, struct sa_node *scratch)
{
	size_t skip = offsetof(struct sa_node, info), size = node_bytes(from->n_ports);
	struct sa_node *n;

	memset(scratch, 0, size);
	copy_node(from, scratch);
	if (before != NULL && before->n_ports == from->n_ports &&
	    memcmp((char *)before + skip, (char *)scratch + skip, size - skip) == 0) {
		atomic_fetch_add(&before->refs, 1);
		return before;
	}
	n = malloc(size);
	if (n == NULL)
		return NULL;
	memcpy((char *)n + skip, (char *)scratch + skip, size - skip);
	atomic_init(&n->refs, 1);
	for (unsigned i = 0; i <= n->n_ports; i++)
		pkey_held_get(n->port[i].pkeys);
	return n;
}

static bool
is_here(const struct inv_node *n)
{
	return n->present && (!inv_is_switch(n) || n->sw_known);
}

static bool
take_nodes(struct sa_view *v, const struct sa_view_source *src)
{
	const struct inventory *inv = src->inv;
	struct sa_node *scratch = malloc(node_bytes(UINT8_MAX));

	v->node = fm_arena_array(&v->mem, inv->nodes.n + 1, struct sa_node *);
	if (scratch == NULL || v->node == NULL) {
		free(scratch);
		return false;
	}
	v->n_nodes = (uint32_t)inv->nodes.n;
	for (uint32_t i = 0; i < v->n_nodes; i++) {
		struct sa_node *before =
		    src->prev != NULL && i < src->prev->n_nodes ? src->prev->node[i] : NULL;

		if (!is_here(inv_node(inv, i)))
			continue;
		v->node[i] = take_node(inv_node(inv, i), before, scratch);
		if (v->node[i] == NULL)
			break;
		v->n_here++;
	}
	free(scratch);
	for (uint32_t i = 0; i < v->n_nodes; i++)
		if (v->node[i] == NULL && is_here(inv_node(inv, i)))
			return false;
	return true;
}

/* -------------------------------------------------------------- attributes */

/* What a link can carry: the lesser of its ends.  q NULL: port 0 of a switch, which has
 * no link; it carries what it says of itself. */
static struct path_attr
attr_of(const struct sa_node *n, const struct sa_port *p, const struct sa_port *q)
{
	struct wire_port_info info = p->info;
	struct path_attr a;

	if (n->info.node_type == WIRE_NODE_SWITCH) {
		info.capability_mask = n->port[0].info.capability_mask;
		info.capability_mask2 = n->port[0].info.capability_mask2;
	}
	a.mbps = wire_port_mbps(&info);
	if (q == NULL) {
		a.mtu = info.mtu_cap;
		return a;
	}
	a.mtu = info.neighbor_mtu < q->info.neighbor_mtu ? info.neighbor_mtu : q->info.neighbor_mtu;
	if (a.mtu == 0)
		a.mtu = info.mtu_cap < q->info.mtu_cap ? info.mtu_cap : q->info.mtu_cap;
	return a;
}

/* The number of attribute a, a new one if need be; -1: too many kinds. */
static int
attr_number(struct sa_view *v, struct path_attr a)
{
	for (uint32_t i = 0; i < v->n_attrs; i++)
		if (v->attr[i].mtu == a.mtu && v->attr[i].mbps == a.mbps)
			return (int)i;
	if (v->n_attrs == ROWS_MOST_ATTRS)
		return -1;
	v->attr[v->n_attrs] = a;
	return (int)v->n_attrs++;
}

/* Numbers stay, so that rows may; unless there are too many that nothing has any more. */
static void
keep_attrs(struct sa_view *v, const struct sa_view *prev)
{
	if (prev == NULL || prev->n_attrs > ATTRS_KEPT)
		return;
	memcpy(v->attr, prev->attr, prev->n_attrs * sizeof(v->attr[0]));
	v->n_attrs = prev->n_attrs;
}

static int
port_attr(struct sa_view *v, uint32_t slot, unsigned port)
{
	const struct sa_node *n = v->node[slot];
	const struct sa_port *p = &n->port[port], *q = NULL;

	if (p->peer != INV_NONE && v->node[p->peer] != NULL)
		q = &v->node[p->peer]->port[p->peer_port];
	return attr_number(v, attr_of(n, p, q));
}

/* -------------------------------------------------------------------- ends */

static int
by_lid(const void *a, const void *b)
{
	const struct sa_end *x = a, *y = b;

	return x->lid < y->lid ? -1 : x->lid > y->lid;
}

/* An end-port of a node here: port 0 of a switch, any linked one of others. */
static bool
is_end(const struct sa_view *v, const struct sa_node *n, unsigned port)
{
	const struct sa_port *p = &n->port[port];

	if (p->lid == 0 || !p->known)
		return false;
	if (n->info.node_type == WIRE_NODE_SWITCH)
		return port == 0;
	return port != 0 && p->peer != INV_NONE && v->node[p->peer] != NULL &&
	    p->info.port_state >= WIRE_PORT_INIT;
}

static bool
fill_end(struct sa_view *v, uint32_t slot, unsigned port)
{
	const struct sa_node *n = v->node[slot];
	const struct sa_port *p = &n->port[port];
	struct sa_end *e = &v->end[v->n_ends++];
	int attr = port_attr(v, slot, port);

	*e = (struct sa_end){ .guid = p->guid,
		.node = slot,
		.sw = n->sw_index,
		.lid = p->lid,
		.lmc = p->lmc,
		.port = (uint8_t)port,
		.attr = (uint8_t)attr,
		.is_switch = n->info.node_type == WIRE_NODE_SWITCH };
	if (!e->is_switch) {
		const struct sa_node *far = v->node[n->port[port].peer];

		e->sw = far->sw_index;
		e->sw_port = far->sw_index == FM_NONE ? 0 : n->port[port].peer_port;
	}
	return attr >= 0;
}

static uint32_t
count_ends(const struct sa_view *v)
{
	uint32_t n_ends = 0;

	for (uint32_t i = 0; i < v->n_nodes; i++)
		for (unsigned p = 0; v->node[i] != NULL && p <= v->node[i]->n_ports; p++)
			n_ends += is_end(v, v->node[i], p);
	return n_ends;
}

static bool
index_ends(struct sa_view *v)
{
	v->lid_end = fm_arena_array(&v->mem, N_LIDS, uint32_t);
	if (v->lid_end == NULL || !fm_hash_reserve(&v->end_by_guid, v->n_ends))
		return false;
	for (uint32_t lid = 0; lid < N_LIDS; lid++)
		v->lid_end[lid] = FM_NONE;
	for (uint32_t i = 0; i < v->n_ends; i++) {
		const struct sa_end *e = &v->end[i];

		for (uint32_t lid = e->lid; lid < e->lid + (1u << e->lmc) && lid < N_LIDS; lid++)
			v->lid_end[lid] = i;
		if (!fm_hash_put(&v->end_by_guid, e->guid, i))
			return false;
	}
	return true;
}

static int
take_ends(struct sa_view *v, struct fm_error *err)
{
	v->end = fm_arena_array(&v->mem, count_ends(v) + 1, struct sa_end);
	if (v->end == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the ends of the subnet");
	for (uint32_t i = 0; i < v->n_nodes; i++)
		for (unsigned p = 0; v->node[i] != NULL && p <= v->node[i]->n_ports; p++)
			if (is_end(v, v->node[i], p) && !fill_end(v, i, p))
				return fm_fail(err, FM_E_RESOURCE,
				    "links of more than %u kinds (MTU and rate)", ROWS_MOST_ATTRS);
	qsort(v->end, v->n_ends, sizeof(*v->end), by_lid);
	if (!index_ends(v))
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the LIDs of the subnet");
	v->self = FM_NONE;
	if (v->local != INV_NONE && v->node[v->local] != NULL)
		v->self = sa_view_end_of_guid(v, v->node[v->local]->port[v->local_port].guid);
	return 0;
}

/* ------------------------------------------------------------------ P_Keys */

/* The set of these keys, shared with those who have the same; -1: no memory. */
static int
pkeys_number(struct sa_view *v, struct fm_hash *known, struct pkey_list keys)
{
	size_t size = keys.n * sizeof(*keys.keys);
	uint64_t hash = fm_hash_bytes(keys.n, keys.keys, size);
	uint32_t at = fm_hash_find(known, hash);
	uint16_t *copy;

	if (at != FM_HASH_NONE && v->pkeys.item[at].n == keys.n &&
	    memcmp(v->pkeys.item[at].keys, keys.keys, size) == 0)
		return (int)at;
	copy = fm_arena_array(&v->mem, keys.n + 1u, uint16_t);
	if (copy == NULL)
		return -1;
	memcpy(copy, keys.keys, size);
	if (!fm_vec_push(&v->pkeys, ((struct pkey_list){ copy, keys.n })) ||
	    !fm_hash_put(known, hash, (uint32_t)v->pkeys.n - 1))
		return -1;
	return (int)v->pkeys.n - 1;
}

static bool
take_pkeys(struct sa_view *v)
{
	static const uint16_t everybody[] = { PKEY_FULL | PKEY_DEFAULT };
	struct fm_hash known = { 0 };
	bool ok = true;

	for (uint32_t i = 0; ok && i < v->n_ends; i++) {
		struct pkey_list keys = { everybody, 1 };
		int set;

		if (v->port_pkeys != NULL)
			keys = port_pkeys_find(v->port_pkeys, v->end[i].guid);
		set = pkeys_number(v, &known, keys);
		ok = set >= 0;
		v->end[i].pkeys = (uint16_t)set;
	}
	fm_hash_fini(&known);
	return ok;
}

/* ------------------------------------------------------------------- paths */

/* Scratch: the attributes of links and ends of the plan's fabric. */
struct path_input {
	uint8_t *link_attr, *end_attr;
	fm_sw *slot; /* [n_switches] node of a switch of the plan */
};

static bool
fill_links(struct sa_view *v, const struct fm_fabric *fab, const struct path_input *in)
{
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++) {
			uint32_t slot = in->slot[sw];
			int attr = slot == FM_NONE || fab->link_port[l] > v->node[slot]->n_ports
			    ? attr_number(v, (struct path_attr){ 1, fab->link_mbps[l] })
			    : port_attr(v, slot, fab->link_port[l]);

			if (attr < 0)
				return false;
			in->link_attr[l] = (uint8_t)attr;
		}
	return true;
}

/* An end that has left since the plan was made carries nothing for anybody. */
static void
fill_ends(const struct sa_view *v, const struct fm_fabric *fab, const struct path_input *in)
{
	for (fm_end e = 0; e < fab->n_ends; e++) {
		uint32_t here = v->lid_end[fab->end_lid[e]];

		in->end_attr[e] = here != FM_NONE ? v->end[here].attr : 0;
	}
}

static int
take_paths(struct sa_view *v, struct sa_view *prev, struct fm_pool *workers, struct fm_error *err)
{
	const struct fm_fabric *fab;
	struct path_input in;

	if (v->plan == NULL)
		return 0;
	fab = &v->plan->snap->fab;
	v->levels = tables_has_levels(fab, &v->tables);
	v->link_attr = in.link_attr = fm_arena_array(&v->mem, fab->n_links + 1, uint8_t);
	v->end_attr = in.end_attr = fm_arena_array(&v->mem, fab->n_ends + 1, uint8_t);
	v->sw_node = in.slot = fm_arena_array(&v->mem, fab->n_switches + 1, fm_sw);
	if (in.link_attr == NULL || in.end_attr == NULL || in.slot == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for links");
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		in.slot[sw] = FM_NONE;
	for (uint32_t i = 0; i < v->n_nodes; i++)
		if (v->node[i] != NULL && v->node[i]->sw_index < fab->n_switches)
			in.slot[v->node[i]->sw_index] = i;
	if (!fill_links(v, fab, &in))
		return fm_fail(err, FM_E_RESOURCE, "links of more than %u kinds (MTU and rate)",
		    ROWS_MOST_ATTRS);
	fill_ends(v, fab, &in);
	return sa_view_build_rows(v, prev, workers, err);
}

/* -------------------------------------------------------------------- view */

static const struct qos *
qos_copy(struct sa_view *v)
{
	struct qos *copy = fm_arena_alloc(&v->mem, sizeof(*copy));

	if (copy != NULL)
		*copy = *v->set.qos;
	return copy;
}

/* The settings, and copies of what they point to. */
static bool
take_settings(struct sa_view *v, const struct sa_view_source *src)
{
	uint32_t n = src->set->n_routes;
	struct sa_prefix_route *copy = fm_arena_array(&v->mem, n + 1, struct sa_prefix_route);

	if (copy == NULL)
		return false;
	if (n > 0)
		memcpy(copy, src->set->route, n * sizeof(*copy));
	v->set = *src->set;
	v->set.policy = qos_policy_get(v->set.policy);
	if (v->set.partitions != NULL)
		partitions_get(v->set.partitions);
	v->set.route = copy;
	if (v->set.qos != NULL && (v->set.qos = qos_copy(v)) == NULL)
		return false;
	return true;
}

static bool
take_sms(struct sa_view *v, const struct sa_view_source *src)
{
	v->sm = fm_arena_array(&v->mem, src->n_sms + 1, struct sa_other_sm);
	if (v->sm == NULL)
		return false;
	v->n_sms = src->n_sms;
	if (src->n_sms > 0)
		memcpy(v->sm, src->sm, src->n_sms * sizeof(*v->sm));
	return true;
}

/* References and numbers. */
static void
take_parts(struct sa_view *v, const struct sa_view_source *src)
{
	v->number = src->prev != NULL ? src->prev->number + 1 : 1;
	v->basis = src->basis;
	v->local = src->inv->local;
	v->local_port = src->inv->local_port;
	v->port_pkeys = port_pkeys_get(src->pkeys);
	if (src->plan != NULL && src->plan->tables != NULL)
		v->plan = plan_get(src->plan);
}

/* A row of its own for each switch that holds something else than the plan says. */
static bool
take_tables(struct sa_view *v, const struct sa_view_source *src)
{
	uint32_t n_switches = v->plan != NULL ? v->plan->snap->fab.n_switches : 0;
	uint8_t *const *planned = v->plan != NULL ? v->plan->tables->t.lft : NULL;
	uint8_t **row;

	if (v->plan == NULL)
		return true;
	v->tables = v->plan->tables->t;
	if (src->n_installed == 0)
		return true;
	v->tables.lft = row = fm_arena_array(&v->mem, n_switches + 1, uint8_t *);
	if (row == NULL)
		return false;
	memcpy(row, planned, n_switches * sizeof(*row));
	for (size_t i = 0; i < src->n_installed; i++) {
		const struct plan_installed *b = &src->installed[i];

		if (row[b->sw] == planned[b->sw]) {
			row[b->sw] = fm_arena_array(&v->mem, v->tables.lft_stride, uint8_t);
			if (row[b->sw] == NULL)
				return false;
			memcpy(row[b->sw], planned[b->sw], v->tables.lft_stride);
		}
		memcpy(row[b->sw] + (size_t)b->block * ROWS_BLOCK_LIDS, b->bytes, ROWS_BLOCK_LIDS);
	}
	return true;
}

int
sa_view_begin(const struct sa_view_source *src, struct sa_view **out, struct fm_error *err)
{
	struct sa_view *v = calloc(1, sizeof(*v));

	if (v == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for what the SA answers from");
	atomic_init(&v->refs, 1);
	fm_arena_init(&v->mem, SIZE_MAX);
	take_parts(v, src);
	if (!take_settings(v, src) || !take_nodes(v, src) || !take_sms(v, src) ||
	    !take_tables(v, src)) {
		sa_view_put(v);
		return fm_fail(err, FM_E_RESOURCE, "out of memory for what the SA answers from");
	}
	*out = v;
	return 0;
}

int
sa_view_finish(
    struct sa_view *v, struct sa_view *prev, struct fm_pool *workers, struct fm_error *err)
{
	int rc;

	keep_attrs(v, prev);
	rc = take_ends(v, err);
	if (rc == 0 && !take_pkeys(v))
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory for P_Keys");
	return rc != 0 ? rc : take_paths(v, prev, workers, err);
}

struct sa_view *
sa_view_get(struct sa_view *v)
{
	atomic_fetch_add(&v->refs, 1);
	return v;
}

void
sa_view_put(struct sa_view *v)
{
	if (v == NULL || atomic_fetch_sub(&v->refs, 1) != 1)
		return;
	for (uint32_t i = 0; v->node != NULL && i < v->n_nodes; i++)
		node_put(v->node[i]);
	qos_policy_put(v->set.policy);
	partitions_put(v->set.partitions);
	rows_put(v->rows);
	plan_put(v->plan);
	port_pkeys_put(v->port_pkeys);
	fm_hash_fini(&v->end_by_guid);
	fm_vec_fini(&v->pkeys);
	fm_arena_fini(&v->mem);
	free(v);
}
