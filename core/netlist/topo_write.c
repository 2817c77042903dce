/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing a fabric as ibutils' topology file, which topo_read.c and ibtopodiff read.  Each cable
 * stands once, at the end that comes first.  A system is called what the node calls itself, with _
 * for what a name cannot have, and the GUID behind it where another node is called the same.
 * O(ports).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/graph/link_speed.h"
#include "core/netlist/netlist.h"
#include "lib/error.h"

#define NAME_BYTES 96

void
netlist_topo_name(const char *desc, char *name, size_t size)
{
	size_t n = 0;

	for (; *desc != '\0' && n + 1 < size; desc++)
		name[n++] = *desc > ' ' && *desc < 0x7f && *desc != '/' ? *desc : '_';
	name[n] = '\0';
}

struct writing {
	const struct netlist *nl;
	char (*name)[NAME_BYTES]; /* [n_nodes] */
	FILE *out;
};

static bool
is_taken(const struct fm_hash *names, const char *name)
{
	return fm_hash_find(names, fm_hash_bytes(0, name, strlen(name))) != FM_HASH_NONE;
}

/* Its name, unless another node has it. */
static bool
name_node(struct writing *w, uint32_t node, struct fm_hash *names)
{
	const struct netlist_node *n = &w->nl->nodes[node];
	char *name = w->name[node];
	size_t len;

	netlist_topo_name(n->desc[0] != '\0' ? n->desc : n->id, name, NAME_BYTES - 20);
	if (name[0] == '\0')
		snprintf(name, NAME_BYTES, "_");
	len = strlen(name);
	for (uint64_t more = n->guid; is_taken(names, name); more++)
		snprintf(name + len, NAME_BYTES - len, "-%016" PRIx64, more);
	return fm_hash_put(names, fm_hash_bytes(0, name, strlen(name)), node);
}

static void
write_type(const struct netlist_node *n, FILE *out)
{
	static const char *const word[] = { "SW", "CA", "RT" };

	fprintf(out, "%s%u", word[n->type], n->n_ports);
}

static void
write_port(const struct writing *w, uint32_t node, unsigned p)
{
	const struct netlist_port *port = netlist_port(w->nl, node, p);
	const char *signal = link_speed_signal(port->lane_mbps);
	uint32_t peer = port->peer_node;

	if (peer == NETLIST_NONE || peer < node || (peer == node && port->peer_port < p))
		return;
	fprintf(w->out, "   P%u -%ux-%s%s-> ", p, port->width, signal,
	    strcmp(signal, "FDR10") == 0 ? "" : "G");
	write_type(&w->nl->nodes[peer], w->out);
	fprintf(w->out, " %s P%u\n", w->name[peer], port->peer_port);
}

static void
write_node(const struct writing *w, uint32_t node)
{
	const struct netlist_node *n = &w->nl->nodes[node];

	fprintf(w->out, "\n# fmd: guid=0x%016" PRIx64, n->guid);
	if (n->system_guid != 0)
		fprintf(w->out, " system=0x%016" PRIx64, n->system_guid);
	fputs(" \"", w->out);
	for (const char *c = n->desc; *c != '\0'; c++)
		putc(*c == '\n' ? '?' : *c, w->out);
	fputs("\"\n", w->out);
	write_type(n, w->out);
	fprintf(w->out, " %s\n", w->name[node]);
	for (unsigned p = 1; p <= n->n_ports; p++)
		write_port(w, node, p);
}

int
netlist_write_topo(const struct netlist *nl, FILE *out, struct fm_error *err)
{
	struct writing w = { .nl = nl, .out = out };
	struct fm_hash names = { 0 };
	bool ok;

	w.name = calloc((size_t)nl->n_nodes + 1, sizeof(*w.name));
	ok = w.name != NULL;
	for (uint32_t i = 0; ok && i < nl->n_nodes; i++)
		ok = name_node(&w, i, &names);
	for (uint32_t i = 0; ok && i < nl->n_nodes; i++)
		write_node(&w, i);
	free(w.name);
	fm_hash_fini(&names);
	if (!ok)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the names of a fabric");
	return netlist_written(out, err);
}
