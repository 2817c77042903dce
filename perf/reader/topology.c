/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf/reader/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/number.h"
#include "core/wire/wire.h"

#define CABLE_NUMBERS 9
#define STATE_MASK 7 /* of a cable's flags */
#define MOST_PORTS 254

static int
no_sense(struct fm_error *err, const char *what)
{
	return fm_fail(err, FM_E_TOPOLOGY, "what fmd says of the fabric makes no sense: %s", what);
}

void
topology_free(struct topology *t)
{
	if (t == NULL)
		return;
	free(t->nodes);
	free(t->ports);
	free(t);
}

/* The number at i of an array, where it is 0 to most; else most + 1. */
static uint32_t
number_at(const json_t *array, size_t i, uint32_t most)
{
	const json_t *n = json_array_get(array, i);
	json_int_t value = json_integer_value(n);

	return json_is_integer(n) && value >= 0 && value <= most ? (uint32_t)value : most + 1;
}

/* -------------------------------------------------------------------- nodes */

/* The columns of nodes. */
struct columns {
	const json_t *names, *guids, *types, *lids, *ports;
};

static bool
read_node(const struct columns *c, size_t i, struct book_node *n)
{
	const char *name = json_string_value(json_array_get(c->names, i));
	const char *guid = json_string_value(json_array_get(c->guids, i));

	if (name == NULL || guid == NULL || !number_parse(guid, &n->guid))
		return false;
	n->type = (uint8_t)number_at(c->types, i, WIRE_NODE_ROUTER);
	n->n_ports = number_at(c->ports, i, MOST_PORTS);
	snprintf(n->name, sizeof(n->name), "%s", name);
	return n->type >= WIRE_NODE_CA && n->type <= WIRE_NODE_ROUTER && n->n_ports <= MOST_PORTS;
}

static bool
read_nodes(struct topology *t, const struct columns *c)
{
	uint64_t first = 0;

	for (uint32_t i = 0; i < t->n_nodes; i++) {
		if (!read_node(c, i, &t->nodes[i]))
			return false;
		t->nodes[i].first_port = (uint32_t)first;
		first += t->nodes[i].n_ports;
		if (first > BOOK_MOST_PORTS)
			return false;
	}
	t->n_ports = (uint32_t)first;
	return true;
}

/* A number is a switch's, or that of the one port of a host; a list that of each port. */
static bool
read_lids(struct topology *t, const json_t *lids)
{
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		const struct book_node *n = &t->nodes[i];
		const json_t *of = json_array_get(lids, i);
		bool is_list = json_is_array(of);

		for (uint32_t k = 0; k < n->n_ports; k++) {
			uint32_t lid =
			    is_list ? number_at(of, k, UINT16_MAX) : number_at(lids, i, UINT16_MAX);

			if (lid > UINT16_MAX)
				return false;
			t->ports[n->first_port + k].lid = (uint16_t)lid;
		}
	}
	return true;
}

/* ------------------------------------------------------------------- cables */

/* An end: the row of its port; BOOK_NOBODY: nobody is known there.  False: there is no such end. */
static bool
read_end(const struct topology *t, const json_t *cable, size_t at, uint32_t *node, uint32_t *row)
{
	json_int_t which = json_integer_value(json_array_get(cable, at));
	uint32_t port = number_at(cable, at + 1, MOST_PORTS);

	*node = *row = BOOK_NOBODY;
	if (which == -1)
		return true;
	if (which < 0 || which >= t->n_nodes || port == 0 || port > t->nodes[which].n_ports)
		return false;
	*node = (uint32_t)which;
	*row = t->nodes[which].first_port + port - 1;
	return true;
}

static void
put_end(struct topology *t, uint32_t row, uint32_t peer, uint8_t peer_port,
    const struct topology_port *how)
{
	struct topology_port *p;

	if (row == BOOK_NOBODY)
		return;
	p = &t->ports[row];
	p->peer = peer;
	p->peer_port = peer_port;
	p->mbps = how->mbps;
	p->planned = how->planned;
	p->is_cabled = true;
	p->is_active = how->is_active;
}

static bool
read_cable(struct topology *t, const json_t *cable, const json_t *rates)
{
	uint32_t out = number_at(cable, 6, UINT32_MAX - 1),
		 in = number_at(cable, 7, UINT32_MAX - 1);
	uint32_t a, b, row_a, row_b, rate = number_at(cable, 4, UINT16_MAX), mbps;
	struct topology_port how = { 0 };

	if (json_array_size(cable) != CABLE_NUMBERS || !read_end(t, cable, 0, &a, &row_a) ||
	    !read_end(t, cable, 2, &b, &row_b) || a == BOOK_NOBODY || out == UINT32_MAX ||
	    in == UINT32_MAX)
		return false;
	mbps = number_at(json_array_get(rates, rate), 2, INT32_MAX);
	how.mbps = mbps <= INT32_MAX ? mbps : 0;
	how.is_active = (number_at(cable, 8, UINT16_MAX) & STATE_MASK) == WIRE_PORT_ACTIVE;
	how.planned = out;
	put_end(t, row_a, b, (uint8_t)number_at(cable, 3, MOST_PORTS), &how);
	how.planned = in;
	put_end(t, row_b, a, (uint8_t)number_at(cable, 1, MOST_PORTS), &how);
	return true;
}

static bool
read_cables(struct topology *t, const json_t *fabric)
{
	const json_t *rates = json_object_get(fabric, "rates"),
		     *cables = json_object_get(fabric, "cables");

	if (!json_is_array(rates) || !json_is_array(cables))
		return false;
	for (size_t i = 0; i < json_array_size(cables); i++)
		if (!read_cable(t, json_array_get(cables, i), rates))
			return false;
	return true;
}

/* -------------------------------------------------------------------- all */

static int
read_all(struct topology *t, const json_t *fabric, struct fm_error *err)
{
	struct columns c = { json_object_get(fabric, "names"), json_object_get(fabric, "guids"),
		json_object_get(fabric, "types"), json_object_get(fabric, "lids"),
		json_object_get(fabric, "ports") };
	const char *generation = json_string_value(json_object_get(fabric, "generation"));
	size_t n = json_array_size(c.guids);

	if (generation == NULL || strlen(generation) >= sizeof(t->generation))
		return no_sense(err, "it has no generation");
	if (n > BOOK_MOST_NODES)
		return no_sense(err, "it has too many nodes");
	snprintf(t->generation, sizeof(t->generation), "%s", generation);
	t->is_master = json_is_true(json_object_get(fabric, "master"));
	t->n_nodes = (uint32_t)n;
	t->nodes = calloc(n + 1, sizeof(*t->nodes));
	if (t->nodes == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the fabric");
	if (!read_nodes(t, &c))
		return no_sense(err, "a node has no name, GUID, type or ports");
	t->ports = calloc((size_t)t->n_ports + 1, sizeof(*t->ports));
	if (t->ports == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the fabric");
	for (uint32_t i = 0; i < t->n_ports; i++)
		t->ports[i].peer = BOOK_NOBODY;
	if (!read_lids(t, c.lids))
		return no_sense(err, "a port has no LID");
	if (!read_cables(t, fabric))
		return no_sense(err, "a cable has no ends");
	return 0;
}

int
topology_read(const json_t *fabric, struct topology **out, struct fm_error *err)
{
	struct topology *t = calloc(1, sizeof(*t));
	int rc;

	*out = NULL;
	if (t == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the fabric");
	rc = read_all(t, fabric, err);
	if (rc != 0)
		topology_free(t);
	else
		*out = t;
	return rc;
}
