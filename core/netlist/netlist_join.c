/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The second half of reading a fabric file: every node is known, now ports
 * find each other.  A cable that only one side shows is completed, as ibsim
 * does, and reported; two sides that contradict each other are an error.
 * Then GUIDs that another node has are told and forgotten, GUIDs are invented where none is,
 * and aggregation nodes are recognised.  O(ports).
 */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "core/graph/link_speed.h"
#include "core/graph/snapshot.h"
#include "core/netlist/netlist_parse.h"
#include "lib/error.h"
#include "lib/log.h"

#define MAX_REMARKS 8 /* of a kind; then a count */

/* ------------------------------------------------------------------ cables */

static int
place_cables(struct parse *ps)
{
	for (size_t i = 0; i < ps->cables.n; i++) {
		const struct cable_end *c = &ps->cables.item[i];
		uint32_t peer = c->peer_node != NETLIST_NONE
		    ? c->peer_node
		    : parse_find(ps, c->peer_id.at, c->peer_id.len);
		struct netlist_port *port = netlist_port(&ps->nl, c->node, c->port);

		if (peer == NETLIST_NONE)
			return parse_fail(ps, c->line,
			    "node \"%.*s\" is defined nowhere in the file; is it cut off?",
			    (int)(c->peer_id.len > 60 ? 60 : c->peer_id.len), c->peer_id.at);
		if (c->peer_port > ps->nl.nodes[peer].n_ports)
			return parse_fail(ps, c->line,
			    "port %u of \"%.60s\", which has %u ports (line %" PRIu32 ")",
			    c->peer_port, ps->nl.nodes[peer].id, ps->nl.nodes[peer].n_ports,
			    ps->nl.nodes[peer].line);
		port->peer_node = peer;
		port->peer_port = c->peer_port;
	}
	return 0;
}

/* One side of a cable says it is slower or narrower: the cable is. */
static void
agree_on_speed(struct parse *ps, const struct cable_end *c, struct netlist_port *a,
    struct netlist_port *b, uint32_t *n_remarks)
{
	bool differ = (a->width != 0 && b->width != 0 && a->width != b->width) ||
	    (a->lane_mbps != 0 && b->lane_mbps != 0 && a->lane_mbps != b->lane_mbps);

	if (differ && (*n_remarks)++ < MAX_REMARKS)
		log_warn("fabric",
		    "%s:%" PRIu32 ": the sides of the cable at \"%s\"[%u] name different speeds: "
		    "the lower counts",
		    ps->name, c->line, ps->nl.nodes[c->node].id, c->port);
	if (a->width == 0 || (b->width != 0 && b->width < a->width))
		a->width = b->width;
	if (a->lane_mbps == 0 || (b->lane_mbps != 0 && b->lane_mbps < a->lane_mbps))
		a->lane_mbps = b->lane_mbps;
	if (a->width == 0)
		a->width = NETLIST_WIDTH;
	if (a->lane_mbps == 0) {
		a->lane_mbps = DEFAULT_LANE_MBPS;
		if (ps->n_unsaid_speeds++ == 0)
			ps->unsaid_line = c->line;
	}
	b->width = a->width;
	b->lane_mbps = a->lane_mbps;
}

static int
contradiction(struct parse *ps, const struct cable_end *c, const struct netlist_port *far)
{
	const struct netlist *nl = &ps->nl;
	const struct netlist_port *near = netlist_port(nl, c->node, c->port);
	uint32_t other =
	    ps->port_line.item[nl->nodes[near->peer_node].first_port + near->peer_port];

	return parse_fail(ps, c->line,
	    "\"%.30s\"[%u] is cabled to \"%.30s\"[%u], but by line %" PRIu32
	    " that port is cabled to \"%.30s\"[%u]",
	    nl->nodes[c->node].id, c->port, nl->nodes[near->peer_node].id, near->peer_port, other,
	    nl->nodes[far->peer_node].id, far->peer_port);
}

static int
match_cables(struct parse *ps)
{
	uint32_t n_one_sided = 0, n_speeds = 0;

	for (size_t i = 0; i < ps->cables.n; i++) {
		const struct cable_end *c = &ps->cables.item[i];
		struct netlist_port *near = netlist_port(&ps->nl, c->node, c->port);
		struct netlist_port *far = netlist_port(&ps->nl, near->peer_node, near->peer_port);

		if (far->peer_node == NETLIST_NONE) {
			if (!ps->is_once && n_one_sided++ < MAX_REMARKS)
				log_warn("fabric",
				    "%s:%" PRIu32 ": only \"%s\"[%u] shows its cable to "
				    "\"%s\"[%u]: taken as cabled",
				    ps->name, c->line, ps->nl.nodes[c->node].id, c->port,
				    ps->nl.nodes[near->peer_node].id, near->peer_port);
			far->peer_node = c->node;
			far->peer_port = c->port;
			ps->port_line
			    .item[ps->nl.nodes[near->peer_node].first_port + near->peer_port] =
			    c->line;
		}
		if (far->peer_node != c->node || far->peer_port != c->port)
			return contradiction(ps, c, far);
		agree_on_speed(ps, c, near, far, &n_speeds);
	}
	if (n_one_sided > MAX_REMARKS)
		log_warn("fabric", "%s: %" PRIu32 " cables in all are shown by one side only",
		    ps->name, n_one_sided);
	if (ps->n_unsaid_speeds > 0)
		log_notice("fabric",
		    "%s:%" PRIu32 ": this cable has no speed, %" PRIu32 " in all: taken as 4x%s",
		    ps->name, ps->unsaid_line, ps->n_unsaid_speeds,
		    link_speed_word(DEFAULT_LANE_MBPS));
	if (n_speeds > MAX_REMARKS)
		log_warn("fabric", "%s: %" PRIu32 " cables in all name different speeds", ps->name,
		    n_speeds);
	return 0;
}

/* The port whose LID and GUID a line shows for its peer. */
static struct netlist_port *
lid_port(struct netlist *nl, uint32_t node, unsigned port)
{
	return netlist_port(nl, node, nl->nodes[node].type == NETLIST_SWITCH ? 0 : port);
}

/* What lines say of their peers fills gaps, and is compared. */
static void
use_peer_facts(struct parse *ps)
{
	uint32_t n_differ = 0;

	for (size_t i = 0; i < ps->cables.n; i++) {
		const struct cable_end *c = &ps->cables.item[i];
		const struct netlist_port *near = netlist_port(&ps->nl, c->node, c->port);
		struct netlist_port *far = lid_port(&ps->nl, near->peer_node, near->peer_port);

		if (far->lid == 0)
			far->lid = c->peer_lid;
		if (far->guid == 0 && ps->nl.nodes[near->peer_node].type != NETLIST_SWITCH)
			far->guid = c->peer_guid;
		if (c->peer_lid != 0 && far->lid != c->peer_lid && n_differ++ < MAX_REMARKS)
			log_warn("fabric",
			    "%s:%" PRIu32
			    ": LID %u of \"%s\", which itself says LID %u: that counts",
			    ps->name, c->line, c->peer_lid, ps->nl.nodes[near->peer_node].id,
			    far->lid);
	}
}

/* ------------------------------------------------------------------- nodes */

/* A GUID that another node has is forgotten: the node is given one of its own. */
static int
claim_guid(struct parse *ps, uint64_t *guid, uint32_t node, uint32_t *n_remarks)
{
	const struct netlist_node *n = &ps->nl.nodes[node];
	uint32_t owner = *guid == 0 ? node : fm_hash_find(&ps->nl.by_guid, *guid);

	if (owner == node)
		return 0;
	if (owner == FM_HASH_NONE)
		return fm_hash_put(&ps->nl.by_guid, *guid, node) ? 0 : parse_no_memory(ps);
	if ((*n_remarks)++ < MAX_REMARKS)
		log_warn("fabric",
		    "%s:%" PRIu32 ": GUID 0x%016" PRIx64
		    " of \"%s\" is that of \"%s\" (line %" PRIu32 "), too: it is given another",
		    ps->name, n->line, *guid, n->id, ps->nl.nodes[owner].id,
		    ps->nl.nodes[owner].line);
	*guid = 0;
	return 0;
}

/* GUIDs of the file first, so that none is invented twice. */
static int
name_nodes(struct parse *ps)
{
	struct netlist *nl = &ps->nl;
	uint32_t n_twice = 0;
	int rc = 0;

	for (uint32_t i = 0; i < nl->n_nodes && rc == 0; i++) {
		rc = claim_guid(ps, &nl->nodes[i].guid, i, &n_twice);
		for (unsigned p = 0; p <= nl->nodes[i].n_ports && rc == 0; p++)
			rc = claim_guid(ps, &netlist_port(nl, i, p)->guid, i, &n_twice);
	}
	for (uint32_t i = 0; i < nl->n_nodes && rc == 0; i++)
		if (!netlist_name_node(nl, i))
			rc = parse_no_memory(ps);
	if (n_twice > MAX_REMARKS)
		log_warn("fabric", "%s: %" PRIu32 " GUIDs in all are those of other nodes",
		    ps->name, n_twice);
	return rc;
}

static bool
is_an_name(const char *name)
{
	if (name[0] != 'A' || name[1] != 'N' || !isdigit((unsigned char)name[2]))
		return false;
	for (name += 2; isdigit((unsigned char)*name); name++)
		;
	return *name == '\0';
}

/* An aggregation node is inside a switch, on its last port: short names tell there. */
static void
find_aggregation(struct netlist *nl, uint32_t node)
{
	struct netlist_node *n = &nl->nodes[node];
	const struct netlist_port *p = netlist_port(nl, node, 1);

	if (n->type != NETLIST_CA)
		return;
	if (snapshot_is_aggregator(n->desc)) {
		n->aggregation = true;
		return;
	}
	n->aggregation = p->peer_node != NETLIST_NONE &&
	    nl->nodes[p->peer_node].type == NETLIST_SWITCH &&
	    p->peer_port == nl->nodes[p->peer_node].n_ports &&
	    (is_an_name(n->id) || is_an_name(n->desc));
}

int
parse_join(struct parse *ps)
{
	int rc;

	if (ps->nl.n_nodes == 0)
		return parse_fail(ps, ps->line > 0 ? ps->line : 1,
		    "no node in the file: a line like Switch 36 \"id\" is missing");
	if (!fm_hash_reserve(&ps->nl.by_guid, 2 * (size_t)ps->nl.n_nodes))
		return parse_no_memory(ps);
	if ((rc = place_cables(ps)) != 0 || (rc = match_cables(ps)) != 0)
		return rc;
	use_peer_facts(ps);
	if ((rc = name_nodes(ps)) != 0)
		return rc;
	for (uint32_t i = 0; i < ps->nl.n_nodes; i++)
		find_aggregation(&ps->nl, i);
	return 0;
}
