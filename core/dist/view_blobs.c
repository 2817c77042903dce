/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/dist/view_blobs.c - a view as blobs.
 *
 * Numbers of leaves, classes, links and lists of P_Keys are those that have been published before,
 * new ones behind them: so a byte that says what it said stays the byte that it was.  When there is
 * no room for a new one, all are given anew, and what is of ports that are gone is forgotten; what
 * still has no room is left to the SA.
 *
 * A byte of a row stands for the paths of all hosts of a leaf to a LID, so it tells only what holds
 * for all of them.  Where one of them has no way back, or one under another SL, and where the
 * destination has no row to tell, it is BLOB_CLASS_ASK.
 *
 * O(leaves * LIDs) when routes have changed, else O(ports).
 */
#include "core/dist/view_blobs.h"

#include <stdlib.h>

#include "core/sa/path_qos.h"
#include "lib/log.h"

#define NOT_YET 0xffff /* no number has been looked up */
#define BACK_UNKNOWN 0xfd
#define BACK_MIXED 0xfe
#define BACK_NEVER 0xff
#define LID_STEP 1024 /* rows grow by so many LIDs */

struct making {
	struct published *p;
	const struct sa_view *v, *prev;
	struct view_beside *beside; /* NULL: nothing */
	struct addresses *addresses;
	size_t at_reg; /* of beside->claimed.item, as blocks ascend */
	struct blob_subnet subnet;
	FM_VEC(uint8_t) classes, links, pksets; /* blobs under way */
	uint32_t n_pksets;
	uint16_t class_of[256][16]; /* of a class of the rows under an SL; NOT_YET */
	uint16_t *leaf_of;	    /* [switches] number of a leaf, BLOB_NO_LEAF */
	fm_sw *leaf_sw;		    /* [n_leaves] switch of a leaf of the rows */
	uint16_t *pkset_of;	    /* [v->pkeys.n] NOT_YET */
	/* [n_leaves of the rows][n_leaves] what packets from a leaf find to the hosts of another:
	 * the SL of all, BACK_MIXED, BACK_NEVER: one of them cannot be reached */
	uint8_t *back;
	uint8_t *row;	     /* [lid_top + 1] scratch */
	uint8_t *names;	     /* of a block, scratch */
	bool anew;	     /* no number is one of before */
	uint32_t n_left_out; /* LIDs of ports, and kinds of paths, that no number was left for */
	struct fm_error *err;
};

static int
no_memory(struct making *c)
{
	return fm_fail(c->err, FM_E_RESOURCE, "out of memory for what is published");
}

static int
put_one(struct making *c, enum blob_kind kind, const void *bytes, size_t n)
{
	return pub_put(c->p, kind, 0, bytes, n, c->err);
}

/* ------------------------------------------------------------------ numbers */

/* The number of an entry of a table of attributes, a new one if need be; `most`: there are too
 * many. */
static uint32_t
attr_number(struct making *c, bool is_class, const struct blob_attr *attr, uint32_t most)
{
	uint8_t bytes[BLOB_ATTR_BYTES], *have = is_class ? c->classes.item : c->links.item;
	size_t n = (is_class ? c->classes.n : c->links.n) / BLOB_ATTR_BYTES;
	bool ok;

	blob_attr_put(bytes, attr);
	for (size_t i = is_class ? 1 : 0; i < n; i++)
		if (memcmp(have + i * BLOB_ATTR_BYTES, bytes, sizeof(bytes)) == 0)
			return (uint32_t)i;
	if (n >= most)
		return most;
	if (is_class)
		ok = fm_vec_append(&c->classes, bytes, sizeof(bytes));
	else
		ok = fm_vec_append(&c->links, bytes, sizeof(bytes));
	return ok ? (uint32_t)n : most;
}

/* With no rate above the one that the administrator allows (core/sa/path_query.c). */
static struct blob_attr
attr_for(const struct making *c, struct path_attr a, uint8_t sl)
{
	uint8_t most = c->v->set.max_rate != 0 ? c->v->set.max_rate : UINT8_MAX;

	if (most != UINT8_MAX)
		a.mbps = sa_rate_mbps(sa_rate_code_most(a.mbps, most));
	return (struct blob_attr){ .mtu = a.mtu, .sl = sl, .mbps = a.mbps };
}

/* The published class of a path of a class of the rows, under an SL. */
static uint8_t
class_number(struct making *c, uint8_t cls, uint8_t sl)
{
	uint16_t *at = &c->class_of[cls][sl & 15];
	struct blob_attr attr;
	uint32_t n;

	if (*at == NOT_YET) {
		attr = attr_for(c, c->v->rows->attr[cls], sl);
		n = cls == ROWS_NO_PATH ? BLOB_MOST_CLASSES
					: attr_number(c, true, &attr, BLOB_MOST_CLASSES);
		c->n_left_out += n == BLOB_MOST_CLASSES && cls != ROWS_NO_PATH;
		*at = n == BLOB_MOST_CLASSES ? BLOB_CLASS_ASK : (uint16_t)n;
	}
	return (uint8_t)*at;
}

/* The offset of a list in the blob of lists; SIZE_MAX: it is behind the end. */
static size_t
next_list(const struct making *c, size_t at)
{
	size_t n = at + 2 <= c->pksets.n ? blob_get16(c->pksets.item + at) : 0;

	return at + 2 + 2 * n <= c->pksets.n && at + 2 <= c->pksets.n ? at + 2 + 2 * n : SIZE_MAX;
}

static bool
is_list(const struct making *c, size_t at, const struct pkey_list *l)
{
	if (blob_get16(c->pksets.item + at) != l->n)
		return false;
	for (uint32_t i = 0; i < l->n; i++)
		if (blob_get16(c->pksets.item + at + 2 + 2 * i) != l->keys[i])
			return false;
	return true;
}

static bool
append16(struct making *c, uint16_t x)
{
	uint8_t bytes[2];

	blob_put16(bytes, x);
	return fm_vec_append(&c->pksets, bytes, sizeof(bytes));
}

/* The number of a list of P_Keys; NOT_YET: more than hosts take, or no memory. */
static uint16_t
pkset_number(struct making *c, uint16_t list)
{
	const struct pkey_list *l = &c->v->pkeys.item[list];
	uint16_t n = 0;
	bool ok;

	if (c->pkset_of[list] != NOT_YET)
		return c->pkset_of[list];
	for (size_t at = 0, next; (next = next_list(c, at)) != SIZE_MAX; at = next, n++)
		if (is_list(c, at, l))
			return c->pkset_of[list] = n;
	if (n >= NOT_YET || l->n > UINT16_MAX ||
	    c->pksets.n + 2 + 2 * (size_t)l->n > blob_most_bytes(BLOB_PKSET))
		return NOT_YET;
	ok = append16(c, (uint16_t)l->n);
	for (uint32_t i = 0; ok && i < l->n; i++)
		ok = append16(c, l->keys[i]);
	return ok ? (c->pkset_of[list] = n) : NOT_YET;
}

/* -------------------------------------------------------------------- rows */

static bool
has_rows(const struct making *c)
{
	return c->v->plan != NULL && c->v->rows != NULL;
}

/* The leaf of the rows that an end hangs off, FM_NONE. */
static uint32_t
leaf_of_end(const struct making *c, const struct sa_end *e)
{
	return has_rows(c) && e->sw < c->v->rows->n_switches ? c->v->rows->leaf[e->sw] : FM_NONE;
}

static uint64_t
switch_guid(const struct sa_view *v, fm_sw sw)
{
	uint32_t node = v->sw_node[sw];

	return node != FM_NONE && v->node[node] != NULL ? v->node[node]->info.node_guid : 0;
}

static int
number_leaves(struct making *c)
{
	const struct rows *rows = c->v->rows;
	uint32_t n;

	for (fm_sw sw = 0; has_rows(c) && sw < rows->n_switches; sw++) {
		c->leaf_of[sw] = BLOB_NO_LEAF;
		if (rows->leaf[sw] == FM_NONE || switch_guid(c->v, sw) == 0)
			continue;
		c->leaf_sw[rows->leaf[sw]] = sw;
		n = pub_leaf(c->p, switch_guid(c->v, sw));
		if (n == FM_NONE)
			return no_memory(c);
		c->leaf_of[sw] = (uint16_t)n;
	}
	return 0;
}

static uint8_t
back_to(uint8_t had, uint8_t cls, uint8_t sl, bool forward_only)
{
	if (cls == ROWS_NO_PATH || had == BACK_NEVER)
		return BACK_NEVER;
	if (!forward_only)
		return 0;
	return had == BACK_UNKNOWN || had == sl ? sl : BACK_MIXED;
}

/* What packets from all leaves find to one LID of a host. */
static void
add_back(struct making *c, const struct sa_end *to, uint16_t lid)
{
	const struct rows *rows = c->v->rows;
	uint32_t leaf = leaf_of_end(c, to);

	if (to->is_switch || leaf == FM_NONE)
		return;
	for (uint32_t from = 0; from < rows->n_leaves; from++) {
		fm_sw sw = c->leaf_sw[from];
		uint8_t *at = &c->back[(size_t)from * rows->n_leaves + leaf];

		if (sw != FM_NONE)
			*at = back_to(*at, rows_class(rows, sw, lid),
			    tables_sl(&c->v->plan->tables->t, sw, lid), c->v->plan->forward_only);
	}
}

/* A host of the leaf sends to a LID; may packets return under the same SL, to each host? */
static bool
all_return(const struct making *c, uint32_t from, uint32_t to, uint8_t sl)
{
	uint8_t back = c->back[(size_t)to * c->v->rows->n_leaves + from];

	return back != BACK_NEVER &&
	    (!c->v->plan->forward_only || back == BACK_UNKNOWN || back == sl);
}

static uint8_t
row_byte(struct making *c, uint32_t leaf, uint16_t lid, const struct sa_end *to)
{
	fm_sw sw = c->leaf_sw[leaf];
	uint8_t sl = tables_sl(&c->v->plan->tables->t, sw, lid);
	uint32_t to_leaf = leaf_of_end(c, to);

	if (to_leaf == FM_NONE || !all_return(c, leaf, to_leaf, sl))
		return BLOB_CLASS_ASK;
	return class_number(c, rows_class(c->v->rows, sw, lid), sl);
}

/* LIDs that nobody has keep what was said of them. */
static int
put_row(struct making *c, uint32_t leaf)
{
	uint64_t guid = switch_guid(c->v, c->leaf_sw[leaf]);
	const struct pub_blob *was = &c->p->row.item[c->leaf_of[c->leaf_sw[leaf]]];
	size_t n = (size_t)c->subnet.lid_top + 1;

	memset(c->row, 0, n);
	if (was->n > 0 && !c->anew)
		memcpy(c->row, was->bytes, was->n < n ? was->n : n);
	for (uint32_t lid = 1; lid < n; lid++) {
		uint32_t e = c->v->lid_end[lid];

		if (e != FM_NONE)
			c->row[lid] = row_byte(c, leaf, (uint16_t)lid, &c->v->end[e]);
	}
	return pub_put(c->p, BLOB_ROW, guid, c->row, n, c->err);
}

/* Switches that a packet passes from a leaf to an end; 0: it does not arrive. */
static uint8_t
hops_to(const struct sa_view *v, fm_sw sw, const struct sa_end *to)
{
	for (uint8_t n = 1; n < UINT8_MAX && sw != FM_NONE; n++) {
		if (sw == to->sw)
			return n;
		sw = snapshot_switch_at(v->plan->snap, sw, v->tables.lft[sw][to->lid]);
	}
	return 0;
}

/* Leaves that are not here keep what was said of them.  host: [n_leaves of the rows] an end, or
 * FM_NONE; row: [n] scratch. */
static int
put_hops_of(struct making *c, uint32_t leaf, const uint32_t *host, uint8_t *row, size_t n)
{
	const struct pub_blob *was = &c->p->hops.item[c->leaf_of[c->leaf_sw[leaf]]];

	memset(row, 0, n);
	if (was->n > 0)
		memcpy(row, was->bytes, was->n < n ? was->n : n);
	for (uint32_t to = 0; to < c->v->rows->n_leaves; to++)
		if (host[to] != FM_NONE && c->leaf_sw[to] != FM_NONE)
			row[c->leaf_of[c->leaf_sw[to]]] =
			    hops_to(c->v, c->leaf_sw[leaf], &c->v->end[host[to]]);
	return pub_put(c->p, BLOB_HOPS, switch_guid(c->v, c->leaf_sw[leaf]), row, n, c->err);
}

/* The way to the first host of a leaf stands for those to all. */
static int
put_hops(struct making *c)
{
	uint32_t n_leaves = c->v->rows->n_leaves, leaf;
	size_t n = c->p->leaf_guid.n;
	uint32_t *host = malloc((n_leaves + 1) * sizeof(*host));
	uint8_t *row = malloc(n + 1);
	int rc = host != NULL && row != NULL ? 0 : no_memory(c);

	if (rc == 0)
		memset(host, 0xff, n_leaves * sizeof(*host));
	for (uint32_t e = c->v->n_ends; rc == 0 && e-- > 0;) {
		leaf = leaf_of_end(c, &c->v->end[e]);
		if (leaf != FM_NONE && !c->v->end[e].is_switch)
			host[leaf] = e;
	}
	for (leaf = 0; rc == 0 && leaf < n_leaves; leaf++)
		if (c->leaf_sw[leaf] != FM_NONE)
			rc = put_hops_of(c, leaf, host, row, n);
	free(host);
	free(row);
	return rc;
}

/* Is every byte of every row what it was? */
static bool
rows_are_as_before(const struct making *c)
{
	const struct sa_view *v = c->v, *prev = c->prev;

	return prev != NULL && !c->anew && c->p->n_left_out == 0 && prev->plan != NULL &&
	    prev->rows == v->rows && prev->plan->tables == v->plan->tables &&
	    prev->plan->forward_only == v->plan->forward_only &&
	    prev->set.max_rate == v->set.max_rate;
}

static int
put_rows(struct making *c)
{
	uint32_t n_leaves = has_rows(c) ? c->v->rows->n_leaves : 0;
	int rc = 0;

	if (n_leaves == 0 || rows_are_as_before(c))
		return 0;
	memset(c->back, BACK_UNKNOWN, (size_t)n_leaves * n_leaves);
	for (uint32_t lid = 1; lid <= c->subnet.lid_top; lid++)
		if (c->v->lid_end[lid] != FM_NONE)
			add_back(c, &c->v->end[c->v->lid_end[lid]], (uint16_t)lid);
	for (uint32_t leaf = 0; rc == 0 && leaf < n_leaves; leaf++)
		if (c->leaf_sw[leaf] != FM_NONE)
			rc = put_row(c, leaf);
	return rc == 0 && c->p->ops->has_relays ? put_hops(c) : rc;
}

/* -------------------------------------------------------------------- ports */

/* A port whose link or keys are of more kinds than can be told is one without a leaf: the SA is
 * asked for its paths. */
static void
describe_port(struct making *c, const struct sa_end *e, struct blob_port *port)
{
	struct blob_attr attr = attr_for(c, c->v->attr[e->attr], 0);
	uint32_t link = attr_number(c, false, &attr, BLOB_MOST_LINKS);
	uint16_t pkset = pkset_number(c, e->pkeys);

	*port = (struct blob_port){ .guid = e->guid, .leaf = BLOB_NO_LEAF, .lmc = e->lmc };
	if (c->v->node[e->node]->info.node_type == WIRE_NODE_ROUTER)
		port->flags |= BLOB_PORT_ROUTER;
	if (e->is_switch)
		port->flags |= BLOB_PORT_SWITCH;
	if (link == BLOB_MOST_LINKS || pkset == NOT_YET) {
		c->n_left_out++;
		return;
	}
	port->link = (uint8_t)link;
	port->pkset = pkset;
	if (!e->is_switch && leaf_of_end(c, e) != FM_NONE)
		port->leaf = c->leaf_of[e->sw];
}

static int
put_ports(struct making *c, uint32_t block)
{
	uint8_t bytes[BLOB_BLOCK_LIDS * BLOB_PORT_BYTES] = { 0 };
	const struct pub_blob *was = &c->p->port[block];

	if (was->n == sizeof(bytes))
		memcpy(bytes, was->bytes, sizeof(bytes));
	for (uint32_t k = 0; k < BLOB_BLOCK_LIDS; k++) {
		uint32_t e = c->v->lid_end[block * BLOB_BLOCK_LIDS + k];
		uint8_t *at = bytes + (size_t)k * BLOB_PORT_BYTES;
		struct blob_port port;

		blob_port_get(at, &port);
		if (e != FM_NONE)
			describe_port(c, &c->v->end[e], &port);
		else if (port.guid != 0)
			port = (struct blob_port){ .guid = port.guid,
				.leaf = c->anew ? BLOB_NO_LEAF : port.leaf,
				.pkset = c->anew ? 0 : port.pkset,
				.link = c->anew ? 0 : port.link,
				.lmc = port.lmc,
				.flags = port.flags | BLOB_PORT_GONE };
		blob_port_put(at, &port);
	}
	return pub_put(c->p, BLOB_PORT, block, bytes, sizeof(bytes), c->err);
}

/* What the ports of a block have registered; where that is not known yet, as it was told. */
static size_t
add_registered(struct making *c, uint32_t block, uint8_t *bytes)
{
	const struct pub_blob *was = &c->p->name[block];
	const struct claimed *all = c->beside != NULL ? &c->beside->claimed : NULL;
	size_t n = 0, at;

	if (all == NULL || c->beside->claims == NULL) {
		at = was->n > 0 ? blob_names_end(was->bytes, was->n) : 0;
		if (was->n > at)
			memcpy(bytes, was->bytes + at, was->n - at);
		return was->n - at;
	}
	for (; c->at_reg < all->item.n; c->at_reg++, n += BLOB_REG_BYTES) {
		if (all->item.item[c->at_reg].lid / BLOB_BLOCK_LIDS != block)
			break;
		blob_reg_put(bytes + n, &all->item.item[c->at_reg]);
	}
	return n;
}

/* A name for each LID, "" but for base LIDs of hosts and routers. */
static int
put_names(struct making *c, uint32_t block)
{
	uint8_t *bytes = c->names;
	const struct pub_blob *was = &c->p->name[block];
	char name[BLOB_MOST_NAME + 1];
	size_t n = 0, old = 0;

	for (uint32_t k = 0; k < BLOB_BLOCK_LIDS; k++) {
		uint32_t lid = block * BLOB_BLOCK_LIDS + k, e = c->v->lid_end[lid];
		const uint8_t *had = old < was->n ? was->bytes + old : (const uint8_t *)"";

		old += 1u + had[0];
		if (old > was->n)
			had = (const uint8_t *)"";
		name[0] = '\0';
		if (e != FM_NONE && c->v->end[e].lid == lid && !c->v->end[e].is_switch)
			addresses_host_name(c->v->node[c->v->end[e].node]->desc, name);
		if (e == FM_NONE && had[0] <= BLOB_MOST_NAME) {
			memcpy(name, had + 1, had[0]);
			name[had[0]] = '\0';
		}
		bytes[n] = (uint8_t)strlen(name);
		memcpy(bytes + n + 1, name, bytes[n]);
		n += 1u + bytes[n];
	}
	n += add_registered(c, block, bytes + n);
	return pub_put(c->p, BLOB_NAME, block, bytes, n, c->err);
}

/* ---------------------------------------------------------------- addresses */

/* Names of hosts, by a hash of each, to an end; FM_NONE: several of that name. */
static bool
hash_names(const struct sa_view *v, struct fm_hash *names)
{
	char name[BLOB_MOST_NAME + 1];

	for (uint32_t e = 0; e < v->n_ends; e++) {
		uint64_t h;

		if (v->end[e].is_switch)
			continue;
		addresses_host_name(v->node[v->end[e].node]->desc, name);
		h = fm_hash_bytes(0, name, strlen(name));
		if (!fm_hash_put(
			names, h, fm_hash_find(names, h) == FM_HASH_NONE ? e : FM_NONE - 1))
			return false;
	}
	return true;
}

/* The port of an address, 0: it is not here; several: it is told, once. */
static uint64_t
address_guid(const struct making *c, struct address *a, const struct fm_hash *names)
{
	uint32_t e;

	if (a->guid != 0)
		return a->guid;
	e = fm_hash_find(names, fm_hash_bytes(0, a->name, strlen(a->name)));
	if (e == FM_NONE - 1 && !c->addresses->quiet && !a->told)
		log_warn("dist",
		    "%s:%u: the host \"%s\" has several ports here; name one by its GUID",
		    c->addresses->path, a->line, a->name);
	a->told |= e == FM_NONE - 1;
	return e < c->v->n_ends ? c->v->end[e].guid : 0;
}

/* An address of a host that is not here stays as it was told: the host may come back.  *at: how far
 * one has looked, as addresses ascend. */
static uint64_t
guid_told(const struct pub_blob *was, size_t *at, const uint8_t ip[16])
{
	int order = -1;

	for (; *at + BLOB_ADDR_BYTES <= was->n; *at += BLOB_ADDR_BYTES) {
		order = memcmp(was->bytes + *at, ip, 16);
		if (order >= 0)
			break;
	}
	return order == 0 ? blob_get64(was->bytes + *at + 16) : 0;
}

static int
put_addresses(struct making *c)
{
	struct addresses *a = c->addresses;
	struct fm_hash names = { 0 };
	FM_VEC(uint8_t) bytes = { 0 };
	size_t told_at = 0;
	bool ok = true;
	int rc;

	if (a != NULL && a->item.n > 0)
		ok = hash_names(c->v, &names);
	for (size_t i = 0; ok && a != NULL && i < a->item.n; i++) {
		uint64_t guid = address_guid(c, &a->item.item[i], &names);
		uint8_t one[BLOB_ADDR_BYTES];

		if (guid == 0)
			guid = guid_told(&c->p->one[BLOB_ADDR], &told_at, a->item.item[i].ip);
		if (guid == 0)
			continue;
		memcpy(one, a->item.item[i].ip, 16);
		blob_put64(one + 16, guid);
		ok = fm_vec_append(&bytes, one, sizeof(one));
	}
	rc = ok ? put_one(c, BLOB_ADDR, bytes.item, bytes.n) : no_memory(c);
	fm_vec_fini(&bytes);
	fm_hash_fini(&names);
	return rc;
}

/* --------------------------------------------------------------- the whole */

/* SLs that the administrator has for partitions, where the engine leaves SLs free. */
static int
put_partition_sls(struct making *c)
{
	size_t n = 0;
	const struct partition *part = c->v->set.qos_sls && c->v->set.partitions != NULL
	    ? partitions_list(c->v->set.partitions, &n)
	    : NULL;
	uint8_t *bytes = malloc(n * BLOB_PKSL_BYTES + 1);
	int rc;

	if (bytes == NULL)
		return no_memory(c);
	for (size_t i = 0; i < n; i++) {
		blob_put16(bytes + i * BLOB_PKSL_BYTES, part[i].pkey & PKEY_BASE);
		bytes[i * BLOB_PKSL_BYTES + 2] = part[i].sl;
		bytes[i * BLOB_PKSL_BYTES + 3] = 0;
	}
	rc = put_one(c, BLOB_PKSL, bytes, n * BLOB_PKSL_BYTES);
	free(bytes);
	return rc;
}

static int
put_leaves(struct making *c)
{
	size_t n = c->p->leaf_guid.n;
	uint8_t *bytes = malloc(8 * n + 1);
	int rc;

	if (bytes == NULL)
		return no_memory(c);
	for (size_t i = 0; i < n; i++)
		blob_put64(bytes + 8 * i, c->p->leaf_guid.item[i]);
	rc = put_one(c, BLOB_LEAF, bytes, 8 * n);
	free(bytes);
	return rc;
}

/* The least multiple of LID_STEP above all LIDs, or what it was. */
static uint16_t
lid_top(const struct making *c)
{
	struct blob_subnet was = { 0 };
	uint32_t top = 0;

	if (c->p->one[BLOB_SUBNET].n > 0)
		blob_subnet_get(c->p->one[BLOB_SUBNET].bytes, c->p->one[BLOB_SUBNET].n, &was);
	if (c->v->n_ends > 0) {
		const struct sa_end *last = &c->v->end[c->v->n_ends - 1];

		top = last->lid + (1u << last->lmc) - 1;
	}
	top |= LID_STEP - 1;
	return (uint16_t)(top > was.lid_top ? top : was.lid_top);
}

static int
put_subnet(struct making *c)
{
	uint8_t bytes[BLOB_SUBNET_BYTES];

	c->subnet.n_leaves = (uint16_t)c->p->leaf_guid.n;
	blob_subnet_put(bytes, &c->subnet);
	return put_one(c, BLOB_SUBNET, bytes, sizeof(bytes));
}

static void
describe_subnet(struct making *c)
{
	const struct sa_view *v = c->v;

	c->subnet = (struct blob_subnet){ .schema = BLOB_SCHEMA,
		.gid_prefix = v->set.gid_prefix,
		.sm_guid = v->self != FM_NONE ? v->end[v->self].guid : 0,
		.lid_top = lid_top(c),
		.life = v->set.path_life };
	if (v->set.policy != NULL ||
	    (v->set.partitions != NULL && partitions_limit_paths(v->set.partitions)))
		c->subnet.flags |= BLOB_ASK_ALWAYS;
	if (path_sl_is_free(v))
		c->subnet.flags |= BLOB_SL_FREE;
	else if (v->levels)
		c->subnet.flags |= BLOB_SL_LEVELS;
}

/* Numbers of before, unless all is told anew. */
static bool
take_tables(struct making *c)
{
	static const struct pub_blob none[BLOB_PORT];
	const struct pub_blob *one = c->anew ? none : c->p->one;
	static const uint8_t ask[BLOB_ATTR_BYTES];

	c->classes.n = c->links.n = c->pksets.n = 0;
	c->n_left_out = 0;
	memset(c->class_of, 0xff, sizeof(c->class_of));
	memset(c->pkset_of, 0xff, c->v->pkeys.n * sizeof(*c->pkset_of));
	return fm_vec_append(&c->classes, one[BLOB_CLASS].bytes, one[BLOB_CLASS].n) &&
	    (c->classes.n > 0 || fm_vec_append(&c->classes, ask, sizeof(ask))) &&
	    fm_vec_append(&c->links, one[BLOB_LINK].bytes, one[BLOB_LINK].n) &&
	    fm_vec_append(&c->pksets, one[BLOB_PKSET].bytes, one[BLOB_PKSET].n);
}

static bool
take_room(struct making *c)
{
	size_t n_switches = has_rows(c) ? c->v->rows->n_switches : 0;
	size_t n_leaves = has_rows(c) ? c->v->rows->n_leaves : 0;

	c->leaf_of = malloc((n_switches + 1) * sizeof(*c->leaf_of));
	c->leaf_sw = malloc((n_leaves + 1) * sizeof(*c->leaf_sw));
	c->pkset_of = malloc((c->v->pkeys.n + 1) * sizeof(*c->pkset_of));
	c->back = malloc(n_leaves * n_leaves + 1);
	c->row = malloc((size_t)c->subnet.lid_top + 1);
	c->names = malloc(blob_most_bytes(BLOB_NAME));
	if (c->leaf_of == NULL || c->leaf_sw == NULL || c->pkset_of == NULL || c->back == NULL ||
	    c->row == NULL || c->names == NULL)
		return false;
	memset(c->leaf_sw, 0xff, n_leaves * sizeof(*c->leaf_sw));
	return true;
}

/* By the administrator's addresses as they have been put, and what has been told so far. */
static int
judge_claims(struct making *c)
{
	c->at_reg = 0;
	if (c->beside == NULL || c->beside->claims == NULL)
		return 0;
	return claimed_make(&c->beside->claimed, c->beside->claims, c->v, c->addresses, c->p)
	    ? 0
	    : no_memory(c);
}

/* Tables come last: rows and ports find the numbers that they need. */
static int
put_all(struct making *c)
{
	int rc = take_tables(c) ? number_leaves(c) : no_memory(c);

	if (rc == 0)
		rc = put_rows(c);
	if (rc == 0)
		rc = put_addresses(c);
	if (rc == 0)
		rc = judge_claims(c);
	for (uint32_t b = 0; rc == 0 && b <= c->subnet.lid_top / BLOB_BLOCK_LIDS; b++) {
		rc = put_ports(c, b);
		if (rc == 0)
			rc = put_names(c, b);
	}
	if (rc == 0)
		rc = put_partition_sls(c);
	if (rc == 0)
		rc = put_one(c, BLOB_CLASS, c->classes.item, c->classes.n);
	if (rc == 0)
		rc = put_one(c, BLOB_LINK, c->links.item, c->links.n);
	if (rc == 0)
		rc = put_one(c, BLOB_PKSET, c->pksets.item, c->pksets.n);
	if (rc == 0)
		rc = put_leaves(c);
	return rc == 0 ? put_subnet(c) : rc;
}

/* When it has changed. */
static void
log_left_out(const struct making *c)
{
	uint32_t before = c->p->n_left_out;

	c->p->n_left_out = c->n_left_out;
	if (c->n_left_out == before || (c->addresses != NULL && c->addresses->quiet))
		return;
	if (c->n_left_out == 0)
		log_notice("dist", "paths of all LIDs are told to hosts again");
	else
		log_warn("dist",
		    "%u LIDs and kinds of paths are left to the SA: hosts take %d kinds of links, "
		    "%d of paths, and lists of P_Keys of %zu bytes together",
		    c->n_left_out, BLOB_MOST_LINKS, BLOB_MOST_CLASSES - 1,
		    blob_most_bytes(BLOB_PKSET));
}

int
view_blobs_put(struct published *p, const struct sa_view *v, const struct sa_view *prev,
    struct view_beside *beside, struct fm_error *err)
{
	struct making *c = calloc(1, sizeof(*c));
	int rc;

	if (c == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for what is published");
	c->p = p;
	c->v = v;
	c->prev = prev;
	c->beside = beside;
	c->addresses = beside != NULL ? &beside->addresses : NULL;
	c->err = err;
	describe_subnet(c);
	rc = take_room(c) ? put_all(c) : no_memory(c);
	if (rc == 0 && c->n_left_out > 0) {
		c->anew = true; /* numbers that nobody has any more make room */
		rc = put_all(c);
	}
	if (rc == 0)
		log_left_out(c);
	fm_vec_fini(&c->classes);
	fm_vec_fini(&c->links);
	fm_vec_fini(&c->pksets);
	free(c->leaf_of);
	free(c->leaf_sw);
	free(c->pkset_of);
	free(c->back);
	free(c->row);
	free(c->names);
	free(c);
	return rc;
}
