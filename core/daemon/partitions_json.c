/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/daemon/partitions_json.c - what fmctl shows of partitions and vfabrics.
 */
#include <inttypes.h>

#include "core/daemon/daemon.h"
#include "core/graph/snapshot.h"
#include "core/sa/path_qos.h"
#include "core/server/server.h"
#include "core/subnet/pkey_table.h"
#include "core/text/json_text.h"
#include "core/vfabric/members.h"

/* Of one partition, over the ports that are there. */
struct members {
	uint32_t n_full, n_limited;
	uint32_t n_holding, n_unread; /* whose tables have just that key; are not known */
	json_t *list;		      /* NULL: only counted */
};

/* What the table of a port, as it is known, has of a partition. */
static const char *
held_word(const struct inv_port *p, uint16_t key)
{
	const char *word = "none";

	if (p->pkeys == NULL)
		return "unknown";
	for (unsigned i = 0; i < p->pkeys->n_slots; i++)
		if (((p->pkeys->key[i] ^ key) & PKEY_BASE) == 0)
			word = p->pkeys->key[i] & PKEY_FULL ? "full" : "limited";
	return word;
}

static void
add_member(struct members *m, const struct inv_node *n, unsigned port, uint16_t key)
{
	const char *member = key & PKEY_FULL ? "full" : "limited";
	const char *held = held_word(&n->ports[port], key);
	char guid[24];

	m->n_full += (key & PKEY_FULL) != 0;
	m->n_limited += (key & PKEY_FULL) == 0;
	m->n_unread += strcmp(held, "unknown") == 0;
	m->n_holding += strcmp(held, member) == 0;
	if (m->list == NULL)
		return;
	snprintf(guid, sizeof(guid), "0x%016" PRIx64, n->ports[port].guid);
	json_array_append_new(m->list,
	    json_pack("{s:s, s:o, s:i, s:s, s:s}", "guid", guid, "node", json_text(n->name), "port",
		(int)port, "member", member, "held", held));
}

static void
find_members(const struct daemon *d, uint16_t pkey, struct members *m)
{
	const struct inventory *inv = sweeper_inventory(d->sweeper);
	const struct port_pkeys *keys = sweeper_pkeys(d->sweeper);

	for (uint32_t i = 0; keys != NULL && i < inv->nodes.n; i++) {
		const struct inv_node *n = inv_node(inv, i);

		for (unsigned p = 0; n->present && p <= n->n_ports; p++) {
			struct pkey_list l = port_pkeys_find(keys, n->ports[p].guid);

			for (uint32_t k = 0; k < l.n; k++)
				if ((l.keys[k] & PKEY_BASE) == pkey)
					add_member(m, n, p, l.keys[k]);
		}
	}
}

/* Ports that the file names and the subnet has not: [{"guid", "line"}]. */
static json_t *
absent_json(const struct daemon *d, uint16_t pkey)
{
	const struct port_pkeys *keys = sweeper_pkeys(d->sweeper);
	json_t *list = json_array();
	uint16_t of;
	uint64_t guid;
	unsigned line;
	char text[24];

	for (size_t i = 0;
	     keys != NULL && partitions_named_port(d->conf->partitions.all, i, &guid, &of, &line);
	     i++) {
		if (of != pkey || port_pkeys_find(keys, guid).n > 0)
			continue;
		snprintf(text, sizeof(text), "0x%016" PRIx64, guid);
		json_array_append_new(
		    list, json_pack("{s:s, s:i}", "guid", text, "line", (int)line));
	}
	return list;
}

static json_t *
partition_json(const struct daemon *d, const struct partition *part, bool list)
{
	struct members m = { .list = list ? json_array() : NULL };
	char pkey[8];
	json_t *o;

	find_members(d, part->pkey, &m);
	snprintf(pkey, sizeof(pkey), "0x%04x", part->pkey);
	o = json_pack("{s:s, s:s, s:b, s:i, s:i, s:i}", "pkey", pkey, "name", part->name, "ipoib",
	    (int)part->ipoib, "sl", (int)part->sl, "full", (int)m.n_full, "limited",
	    (int)m.n_limited);
	if (m.list != NULL) {
		json_object_set_new(o, "members", m.list);
		json_object_set_new(o, "absent", absent_json(d, part->pkey));
	}
	return o;
}

/* Switch ports before hosts: those that enforce partitions, and the others. */
static void
count_ports(const struct daemon *d, int *n_enforcing, int *n_open)
{
	const struct inventory *inv = sweeper_inventory(d->sweeper);

	*n_enforcing = *n_open = 0;
	for (uint32_t i = 0; i < inv->nodes.n; i++) {
		const struct inv_node *n = inv_node(inv, i);

		for (unsigned p = 1; n->present && inv_is_switch(n) && p <= n->n_ports; p++) {
			const struct inv_port *port = &n->ports[p];
			bool enforces =
			    port->info.partition_enforce_in || port->info.partition_enforce_out;

			if (port->edge != EDGE_LINKED || inv_is_switch(inv_node(inv, port->peer)))
				continue;
			*n_enforcing += enforces;
			*n_open += !enforces;
		}
	}
}

json_t *
daemon_partitions_json(const struct daemon *d, const struct partition *wanted)
{
	static const char *const ways[] = { [PART_ENFORCE_OFF] = "off",
		[PART_ENFORCE_IN] = "in",
		[PART_ENFORCE_OUT] = "out",
		[PART_ENFORCE_BOTH] = "both" };
	const struct fm_file *file = &d->conf->partitions.file;
	const struct partition *list;
	json_t *partitions = json_array();
	int n_enforcing, n_open;
	size_t n;

	count_ports(d, &n_enforcing, &n_open);
	list = partitions_list(d->conf->partitions.all, &n);
	for (size_t i = 0; i < n; i++)
		if (wanted == NULL || wanted->pkey == list[i].pkey)
			json_array_append_new(
			    partitions, partition_json(d, &list[i], wanted != NULL));
	return json_pack("{s:s, s:s, s:i, s:i, s:o}", "file", file->path != NULL ? file->path : "",
	    "enforce",
	    partitions_open(d->conf->partitions.all) ? "off" : ways[d->conf->partitions.enforce],
	    "enforcing_ports", n_enforcing, "open_ports", n_open, "partitions", partitions);
}

/* ---------------------------------------------------------------- vfabrics */

/* The fabric in which lists name something, with one reference; NULL: nothing is known of it. */
static int
find_fabric(const struct daemon *d, struct snapshot **out, struct fm_error *err)
{
	const struct plan *p = sweeper_plan(d->sweeper);

	*out = NULL;
	if (sweeper_pkeys(d->sweeper) != NULL && sweeper_idle(d->sweeper))
		return sweeper_snapshot_as(d->sweeper, &d->isolated, out, err);
	*out = p != NULL ? snapshot_get(p->snap) : NULL;
	return 0;
}

/* Into an array: {"list", "item", "file", "line"}. */
static void
add_missing(void *arg, const char *list, const struct node_item *item)
{
	json_array_append_new(arg,
	    json_pack("{s:s, s:o, s:o, s:i}", "list", list, "item", json_text(item->text), "file",
		json_text(item->file != NULL ? item->file : ""), "line", (int)item->line));
}

/* What is said of one, and what ports have of it. */
static json_t *
vfabric_json(const struct daemon *d, const struct vfabric *f, bool list)
{
	const struct vfabrics *v = &d->conf->partitions.vfabrics;
	const struct vfabric_sl *s = &v->sl[f->sl];
	struct members m = { .list = list ? json_array() : NULL };
	uint16_t base = vfabric_pkey(f, d->conf->partitions.all);
	char pkey[8];
	json_t *o;

	find_members(d, base, &m);
	snprintf(pkey, sizeof(pkey), "0x%04x", base);
	o = json_pack("{s:s, s:s, s:i, s:s, s:s, s:b, s:i, s:i, s:i, s:i, s:s, s:i}", "name",
	    f->name, "pkey", pkey, "sl", (int)f->sl, "mtu", vfabric_mtu_text(f->mtu), "rate",
	    vfabric_rate_text(f->rate), "security", (int)f->security, "full", (int)m.n_full,
	    "limited", (int)m.n_limited, "holding", (int)m.n_holding, "unread", (int)m.n_unread,
	    "file", f->file, "line", (int)f->line);
	if (v->weighs && s->first)
		json_object_set_new(o, "high_priority", json_true());
	else if (v->weighs)
		json_object_set_new(o, "share", json_integer(s->share));
	if (v->weighs) {
		json_object_set_new(o, "vl", json_integer(s->vl));
		json_object_set_new(o, "weight", json_integer(s->weight));
	}
	if (m.list != NULL)
		json_object_set_new(o, "members", m.list);
	return o;
}

/* Does a vfabric give one of the keys? */
static bool
is_in_one(const struct daemon *d, const struct pkey_list *keys)
{
	const struct vfabrics *v = &d->conf->partitions.vfabrics;

	for (uint32_t k = 0; k < keys->n; k++)
		for (size_t i = 0; i < v->n; i++)
			if (((keys->keys[k] ^ vfabric_pkey(&v->of[i], d->conf->partitions.all)) &
				PKEY_BASE) == 0)
				return true;
	return false;
}

/* Ports of hosts with P_Keys, and those of them that are in no vfabric. */
static void
count_hosts(const struct daemon *d, int *n_ports, int *n_in_none)
{
	const struct inventory *inv = sweeper_inventory(d->sweeper);
	const struct port_pkeys *keys = sweeper_pkeys(d->sweeper);

	*n_ports = *n_in_none = 0;
	for (uint32_t i = 0; keys != NULL && i < inv->nodes.n; i++) {
		const struct inv_node *n = inv_node(inv, i);

		for (unsigned p = 1; n->present && !inv_is_switch(n) && p <= n->n_ports; p++) {
			struct pkey_list l = port_pkeys_find(keys, n->ports[p].guid);

			*n_ports += l.n > 0;
			*n_in_none += l.n > 0 && !is_in_one(d, &l);
		}
	}
}

/* Who says which SL paths have: with shares that are for nothing an administrator is to be told. */
static const char *
sl_word(const struct daemon *d)
{
	struct sa_view *v = d->sa != NULL ? sa_server_view(d->sa) : NULL;
	const char *word = v == NULL ? "unknown"
	    : !d->conf->qos.enable   ? "none"
	    : path_sl_is_free(v)     ? "vfabric"
	    : v->levels		     ? "engine, and the level of the vfabric"
				     : "engine";

	sa_view_put(v);
	return word;
}

int
daemon_vfabrics_json(
    const struct daemon *d, const struct vfabric *wanted, json_t **out, struct fm_error *err)
{
	const struct vfabrics *v = &d->conf->partitions.vfabrics;
	json_t *list = json_array();
	struct snapshot *snap = NULL;
	int n_ports, n_in_none, rc = find_fabric(d, &snap, err);

	for (size_t i = 0; rc == 0 && i < v->n; i++) {
		json_t *o, *missing;

		if (wanted != NULL && wanted != &v->of[i])
			continue;
		missing = json_array();
		if (snap != NULL)
			rc = vfabric_each_missing(&v->of[i], snap, add_missing, missing, err);
		o = vfabric_json(d, &v->of[i], wanted != NULL);
		json_object_set_new(o, "missing", missing);
		json_array_append_new(list, o);
	}
	snapshot_put(snap);
	count_hosts(d, &n_ports, &n_in_none);
	*out = json_pack("{s:o, s:s, s:b, s:i, s:i}", "vfabrics", list, "sl_by", sl_word(d),
	    "looked_in_fabric", snap != NULL, "host_ports", n_ports, "in_none", n_in_none);
	return rc;
}
