/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/cabling/match.h"

#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 128
#define MOST_ROUNDS 16 /* of nodes that are known by the places of others that are */
#define SEVERAL (FM_HASH_NONE - 1)

enum name_kind { WHOLE, AS_IN_TOPO, FIRST_WORD, N_NAMES };

struct matching {
	const struct netlist *want, *found;
	struct cabling_match *m;
};

static void
take(struct matching *k, uint32_t want, uint32_t found)
{
	k->m->to[want] = found;
	k->m->from[found] = want;
}

/* --------------------------------------------------------------------- names */

static void
name_of(const struct netlist_node *n, enum name_kind kind, char name[NAME_BYTES])
{
	const char *text = n->desc[0] != '\0' ? n->desc : n->id;

	if (kind == AS_IN_TOPO)
		netlist_topo_name(text, name, NAME_BYTES);
	else
		snprintf(name, NAME_BYTES, "%.*s",
		    (int)(kind == FIRST_WORD ? strcspn(text, " ") : strlen(text)), text);
}

bool
cabling_is_called_alike(const struct netlist_node *a, const struct netlist_node *b)
{
	for (int kind = 0; kind < N_NAMES; kind++) {
		char x[NAME_BYTES], y[NAME_BYTES];

		name_of(a, (enum name_kind)kind, x);
		name_of(b, (enum name_kind)kind, y);
		if (strcmp(x, y) == 0)
			return true;
	}
	return false;
}

static uint64_t
name_key(const struct netlist_node *n, enum name_kind kind)
{
	char name[NAME_BYTES];

	name_of(n, kind, name);
	return fm_hash_bytes(n->type, name, strlen(name));
}

/* The nodes that nobody is yet, by their names. */
static bool
index_names(const struct netlist *nl, const uint32_t *other, enum name_kind kind, struct fm_hash *h)
{
	for (uint32_t i = 0; i < nl->n_nodes; i++) {
		uint64_t key;

		if (other[i] != NETLIST_NONE)
			continue;
		key = name_key(&nl->nodes[i], kind);
		if (!fm_hash_put(h, key, fm_hash_find(h, key) == FM_HASH_NONE ? i : SEVERAL))
			return false;
	}
	return true;
}

/* A name that one node has here and one there. */
static bool
match_names(struct matching *k, enum name_kind kind)
{
	struct fm_hash want = { 0 }, found = { 0 };
	bool ok = index_names(k->want, k->m->to, kind, &want) &&
	    index_names(k->found, k->m->from, kind, &found);

	for (uint32_t i = 0; ok && i < k->want->n_nodes; i++) {
		const struct netlist_node *n = &k->want->nodes[i];
		uint64_t key = name_key(n, kind);
		uint32_t f = fm_hash_find(&found, key);

		if (k->m->to[i] == NETLIST_NONE && fm_hash_find(&want, key) == i && f < SEVERAL &&
		    k->found->nodes[f].type == n->type &&
		    cabling_is_called_alike(n, &k->found->nodes[f]))
			take(k, i, f);
	}
	fm_hash_fini(&want);
	fm_hash_fini(&found);
	return ok;
}

/* --------------------------------------------------------------- GUIDs, places */

static void
match_guids(struct matching *k)
{
	for (uint32_t i = 0; i < k->want->n_nodes; i++) {
		const struct netlist_node *n = &k->want->nodes[i], *is;
		uint32_t f = fm_hash_find(&k->found->by_guid, n->guid);

		if (n->guid_is_made || f == FM_HASH_NONE)
			continue;
		is = &k->found->nodes[f];
		if (is->guid == n->guid && !is->guid_is_made && is->type == n->type)
			take(k, i, f);
	}
}

/* Who is where the cable at this port is to lead from; NETLIST_NONE: it cannot be told. */
static uint32_t
who_is_there(const struct matching *k, uint32_t want, unsigned p)
{
	const struct netlist_port *port = netlist_port(k->want, want, p), *is;
	uint32_t peer = port->peer_node != NETLIST_NONE ? k->m->to[port->peer_node] : NETLIST_NONE;

	if (peer == NETLIST_NONE || port->peer_port > k->found->nodes[peer].n_ports)
		return NETLIST_NONE;
	is = netlist_port(k->found, peer, port->peer_port);
	return is->peer_node != NETLIST_NONE && is->peer_port == p &&
		k->m->from[is->peer_node] == NETLIST_NONE &&
		k->found->nodes[is->peer_node].type == k->want->nodes[want].type
	    ? is->peer_node
	    : NETLIST_NONE;
}

/* The node at more than half of the places whose neighbours are known, by Boyer and Moore's count
 * of votes; NETLIST_NONE: there is none. */
static uint32_t
find_place(const struct matching *k, uint32_t want)
{
	unsigned n_ports = k->want->nodes[want].n_ports, votes = 0, n_known = 0, n_for = 0;
	uint32_t who = NETLIST_NONE;

	for (unsigned p = 1; p <= n_ports; p++) {
		uint32_t peer = netlist_port(k->want, want, p)->peer_node;
		uint32_t is = who_is_there(k, want, p);

		if (peer == NETLIST_NONE || k->m->to[peer] == NETLIST_NONE)
			continue;
		n_known++;
		if (votes == 0)
			who = is;
		votes += who == is ? 1 : -1u;
	}
	for (unsigned p = 1; who != NETLIST_NONE && p <= n_ports; p++)
		n_for += who_is_there(k, want, p) == who;
	return 2 * n_for > n_known ? who : NETLIST_NONE;
}

static void
match_places(struct matching *k)
{
	bool any = true;

	for (unsigned round = 0; any && round < MOST_ROUNDS; round++) {
		any = false;
		for (uint32_t i = 0; i < k->want->n_nodes; i++) {
			uint32_t f = k->m->to[i] == NETLIST_NONE ? find_place(k, i) : NETLIST_NONE;

			if (f == NETLIST_NONE)
				continue;
			take(k, i, f);
			any = true;
		}
	}
}

bool
cabling_match(const struct netlist *want, const struct netlist *found, struct cabling_match *m)
{
	struct matching k = { want, found, m };

	m->to = malloc(((size_t)want->n_nodes + 1) * sizeof(*m->to));
	m->from = malloc(((size_t)found->n_nodes + 1) * sizeof(*m->from));
	if (m->to == NULL || m->from == NULL)
		return false;
	memset(m->to, 0xff, want->n_nodes * sizeof(*m->to));
	memset(m->from, 0xff, found->n_nodes * sizeof(*m->from));
	match_guids(&k);
	for (int kind = 0; kind < N_NAMES; kind++)
		if (!match_names(&k, (enum name_kind)kind))
			return false;
	match_places(&k);
	return true;
}

void
cabling_match_fini(struct cabling_match *m)
{
	free(m->to);
	free(m->from);
	*m = (struct cabling_match){ 0 };
}
