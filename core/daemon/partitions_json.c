/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/daemon/partitions_json.c - what fmctl shows of partitions.
 */
#include <inttypes.h>

#include "core/daemon/daemon.h"
#include "core/subnet/partitions.h"
#include "core/text/json_text.h"

/* Of one partition, over the ports that are there. */
struct members {
	uint32_t n_full, n_limited;
	json_t *list; /* NULL: only counted */
};

static void
add_member(struct members *m, const struct inv_node *n, unsigned port, uint16_t key)
{
	char guid[24];

	m->n_full += (key & PKEY_FULL) != 0;
	m->n_limited += (key & PKEY_FULL) == 0;
	if (m->list == NULL)
		return;
	snprintf(guid, sizeof(guid), "0x%016" PRIx64, n->ports[port].guid);
	json_array_append_new(m->list,
	    json_pack("{s:s, s:o, s:i, s:s}", "guid", guid, "node", json_text(n->name), "port",
		(int)port, "member", key & PKEY_FULL ? "full" : "limited"));
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
	    "enforce", file->path != NULL ? ways[d->conf->partitions.enforce] : "off",
	    "enforcing_ports", n_enforcing, "open_ports", n_open, "partitions", partitions);
}
