/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Marks on nodes and ports; after every change the cables of the netlist are
 * drawn anew from the whole: one is there when neither its nodes nor its ends
 * are marked.  So the order of changes does not matter, and what is put back is
 * what it was.
 */
#include "lab/topo/outage.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/nodes/nodes.h"
#include "core/text/suggest.h"
#include "lib/error.h"
#include "lib/vec.h"

enum part_kind { PART_SWITCH, PART_HOST, PART_LINK };

/* A part as it is named. */
struct part {
	const char *text;
	enum part_kind kind;
	char name[256];
	unsigned port;		/* of a link */
	FM_VEC(uint32_t) nodes; /* that the name means */
};

int
outage_init(struct outage *o, struct netlist *nl, struct fm_error *err)
{
	size_t n = nl->n_ports_total;

	*o = (struct outage){ .nl = nl };
	o->whole = malloc((n + 1) * sizeof(*o->whole));
	o->node_out = calloc((size_t)nl->n_nodes + 1, 1);
	o->port_out = calloc(n + 1, 1);
	if (o->whole == NULL || o->node_out == NULL || o->port_out == NULL) {
		outage_fini(o);
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the outage");
	}
	memcpy(o->whole, nl->ports, n * sizeof(*o->whole));
	return 0;
}

void
outage_fini(struct outage *o)
{
	free(o->whole);
	free(o->node_out);
	free(o->port_out);
	*o = (struct outage){ 0 };
}

/* ------------------------------------------------------------------- naming */

/* "link:leaf-1:7" to its port; the name is what stands before. */
static int
cut_port(struct part *p, struct fm_error *err)
{
	char *colon = strrchr(p->name, ':');
	char *end = NULL;
	unsigned long port = 0;

	if (colon != NULL && isdigit((unsigned char)colon[1]))
		port = strtoul(colon + 1, &end, 10);
	if (port < 1 || port > 254 || *end != '\0' || colon == p->name)
		return fm_fail(err, FM_E_CONFIG,
		    "%.200s: a link is named by a node and its port, as in link:leaf-1:7", p->text);
	*colon = '\0';
	p->port = (unsigned)port;
	return 0;
}

static int
read_part(const char *text, struct part *p, struct fm_error *err)
{
	static const struct {
		const char *word;
		enum part_kind kind;
	} kinds[] = { { "switch:", PART_SWITCH }, { "host:", PART_HOST }, { "link:", PART_LINK } };

	*p = (struct part){ .text = text };
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t n = strlen(kinds[i].word);

		if (strncmp(text, kinds[i].word, n) != 0 || text[n] == '\0' ||
		    strlen(text + n) >= sizeof(p->name))
			continue;
		p->kind = kinds[i].kind;
		memcpy(p->name, text + n, strlen(text + n) + 1);
		return p->kind == PART_LINK ? cut_port(p, err) : 0;
	}
	return fm_fail(err, FM_E_CONFIG,
	    "%.200s names no part: switch:NAME, host:NAME or link:NAME:PORT is right", text);
}

static bool
is_of_kind(const struct netlist_node *n, enum part_kind kind)
{
	return kind == PART_LINK || (n->type == NETLIST_SWITCH) == (kind == PART_SWITCH);
}

static int
unknown_name(const struct outage *o, const struct part *p, struct fm_error *err)
{
	static const char *const words[] = { "switch", "host", "node" };
	struct suggestion s;
	const char *best;

	suggest_init(&s, p->name);
	for (uint32_t i = 0; i < o->nl->n_nodes; i++)
		if (is_of_kind(&o->nl->nodes[i], p->kind))
			suggest_offer(&s,
			    o->nl->nodes[i].desc[0] != '\0' ? o->nl->nodes[i].desc
							    : o->nl->nodes[i].id);
	best = suggest_best(&s);
	if (best != NULL)
		return fm_fail(err, FM_E_CONFIG,
		    "%.200s: the fabric has no such %s: did you mean %s?", p->text, words[p->kind],
		    best);
	return fm_fail(
	    err, FM_E_CONFIG, "%.200s: the fabric has no such %s", p->text, words[p->kind]);
}

static bool
is_named(const struct netlist_node *n, const char *name, uint64_t guid)
{
	return strcmp(n->desc, name) == 0 || strcmp(n->id, name) == 0 ||
	    (guid != 0 && n->guid == guid);
}

/* pattern NULL: by the very name, or by guid unless 0. */
static int
collect(const struct outage *o, struct part *p, const char *pattern, uint64_t guid,
    struct fm_error *err)
{
	for (uint32_t i = 0; i < o->nl->n_nodes; i++) {
		const struct netlist_node *n = &o->nl->nodes[i];
		bool is = pattern == NULL
		    ? is_named(n, p->name, guid)
		    : node_name_match(pattern, n->desc) || node_name_match(pattern, n->id);

		if (is && is_of_kind(n, p->kind) && !fm_vec_push(&p->nodes, i))
			return fm_fail(err, FM_E_RESOURCE, "out of memory for %s", p->text);
	}
	return 0;
}

/* Nodes of that very name or GUID, else those that match it as a pattern. */
static int
find_nodes(const struct outage *o, struct part *p, struct fm_error *err)
{
	struct node_item item;
	uint64_t guid = 0;
	bool is_guid = node_guid_parse(p->name, &guid);
	int rc = collect(o, p, NULL, guid, err);

	if (rc == 0 && p->nodes.n == 0 && !is_guid) {
		if (node_item_parse(p->name, &item, err) != 0)
			return fm_context(err, "%s", p->text);
		if (item.kind != NODE_NAME || item.minus)
			return fm_fail(err, FM_E_CONFIG,
			    "%.200s: a part is named by description, GUID or pattern: leaf-1, "
			    "0x2c903000abcd0 or leaf-[1-18]",
			    p->text);
		rc = collect(o, p, item.name, 0, err);
	}
	return rc == 0 && p->nodes.n == 0 ? unknown_name(o, p, err) : rc;
}

/* ------------------------------------------------------------------ changing */

static size_t
port_index(const struct outage *o, uint32_t node, unsigned port)
{
	return o->nl->nodes[node].first_port + port;
}

static const char *
name_of(const struct netlist_node *n)
{
	return n->desc[0] != '\0' ? n->desc : n->id;
}

/* There is such a port of this node, and a cable. */
static int
check_port(const struct outage *o, const struct part *p, uint32_t node, struct fm_error *err)
{
	const struct netlist_node *n = &o->nl->nodes[node];

	if (p->port > n->n_ports)
		return fm_fail(err, FM_E_CONFIG, "%.200s: %s has ports 1..%u", p->text, name_of(n),
		    n->n_ports);
	if (o->whole[port_index(o, node, p->port)].peer_node == NETLIST_NONE)
		return fm_fail(err, FM_E_CONFIG, "%.200s: there is no cable at port %u of %s",
		    p->text, p->port, name_of(n));
	return 0;
}

/* May this node, or its port, be taken out or put back? */
static int
check_change(
    const struct outage *o, const struct part *p, uint32_t node, bool out, struct fm_error *err)
{
	const char *name = name_of(&o->nl->nodes[node]);
	char port[16] = "";
	bool is_out;
	int rc;

	if (p->kind != PART_LINK) {
		is_out = o->node_out[node];
	} else {
		if ((rc = check_port(o, p, node, err)) != 0)
			return rc;
		snprintf(port, sizeof(port), " port %u", p->port);
		is_out = o->port_out[port_index(o, node, p->port)];
	}
	if (is_out == out && out)
		return fm_fail(
		    err, FM_E_CONFIG, "%.200s: %s%s is down already", p->text, name, port);
	if (is_out == out)
		return fm_fail(err, FM_E_CONFIG,
		    "%.200s: %s%s is not down: only what went down can come up", p->text, name,
		    port);
	return 0;
}

static void
mark(struct outage *o, const struct part *p, uint32_t node, bool out)
{
	const struct netlist_port *port;

	if (p->kind != PART_LINK) {
		o->node_out[node] = out;
		o->nl->nodes[node].absent = out;
		return;
	}
	port = &o->whole[port_index(o, node, p->port)];
	o->port_out[port_index(o, node, p->port)] = out;
	o->port_out[port_index(o, port->peer_node, port->peer_port)] = out;
}

/* The cables that are left. */
static void
draw(struct outage *o)
{
	for (uint32_t i = 0; i < o->nl->n_nodes; i++)
		for (unsigned p = 1; p <= o->nl->nodes[i].n_ports; p++) {
			const struct netlist_port *was = &o->whole[port_index(o, i, p)];
			struct netlist_port *is = netlist_port(o->nl, i, p);
			bool there = was->peer_node != NETLIST_NONE && !o->node_out[i] &&
			    !o->node_out[was->peer_node] && !o->port_out[port_index(o, i, p)];

			is->peer_node = there ? was->peer_node : NETLIST_NONE;
			is->peer_port = there ? was->peer_port : 0;
		}
}

int
outage_change(struct outage *o, const char *text, bool out, struct fm_error *err)
{
	struct part p;
	int rc = read_part(text, &p, err);

	if (rc == 0)
		rc = find_nodes(o, &p, err);
	for (size_t i = 0; rc == 0 && i < p.nodes.n; i++)
		rc = check_change(o, &p, p.nodes.item[i], out, err);
	for (size_t i = 0; rc == 0 && i < p.nodes.n; i++)
		mark(o, &p, p.nodes.item[i], out);
	o->n_named = (uint32_t)p.nodes.n;
	fm_vec_fini(&p.nodes);
	if (rc == 0)
		draw(o);
	return rc;
}
