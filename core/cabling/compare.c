/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/cabling/compare.c - which cables are not as they are to be, as few differences as tell it.
 *
 * At each port stands at most one cable that is to be there and is not, and at most one that is and
 * is not to be.  Taken as steps from port to port, those cables are paths and rings on which the
 * two kinds alternate: a ring of four is a swap, two neighbours are a cable that was moved, and
 * what is left at the end of a path is missing or extra.
 */
#include <stdlib.h>
#include <string.h>

#include "core/cabling/cabling.h"
#include "core/cabling/match.h"
#include "lib/error.h"

enum side { WANTED, PRESENT };

/* A cable that is on one side only. */
struct odd_cable {
	struct cabling_end end[2]; /* as the side has it */
	uint64_t key[2];	   /* of the ports, the same on both sides */
	bool is_told;
};

struct comparing {
	const struct netlist *net[2];
	struct cabling_match match;
	struct cabling *c;
	FM_VEC(struct odd_cable) odd[2];
	struct fm_hash at[2]; /* key of a port -> odd cable */
	bool ok;
};

/* ------------------------------------------------------------------- cables */

static uint64_t
port_key(uint32_t node, uint8_t port)
{
	return (uint64_t)node << 8 | port;
}

static uint32_t
other_node(const struct comparing *k, enum side s, uint32_t node)
{
	return s == WANTED ? k->match.to[node] : k->match.from[node];
}

/* The node as it is, for keys; NETLIST_NONE: nobody is known to be it. */
static uint32_t
key_node(const struct comparing *k, enum side s, uint32_t node)
{
	if (other_node(k, s, node) == NETLIST_NONE)
		return NETLIST_NONE;
	return s == WANTED ? k->match.to[node] : node;
}

static bool
has_port(const struct netlist *nl, uint32_t node, unsigned port)
{
	return port <= nl->nodes[node].n_ports;
}

/* Is the same cable on the other side, whose nodes a and b are? */
static bool
is_there(const struct netlist *nl, uint32_t a, unsigned p, uint32_t b, unsigned q)
{
	const struct netlist_port *port;

	if (!has_port(nl, a, p))
		return false;
	port = netlist_port(nl, a, p);
	return port->peer_node == b && port->peer_port == q;
}

static void
add(struct comparing *k, const struct cabling_item *item)
{
	k->c->n_of[item->kind]++;
	k->ok = k->ok && fm_vec_push(&k->c->items, *item);
}

static uint32_t
rate(const struct netlist_port *p)
{
	return p->width * p->lane_mbps;
}

/* A cable that is as it is to be; a, p of it as it is. */
static void
same_cable(struct comparing *k, uint32_t node, unsigned p, uint32_t a)
{
	const struct netlist_port *w = netlist_port(k->net[WANTED], node, p);
	const struct netlist_port *f = netlist_port(k->net[PRESENT], a, p);
	struct cabling_item item = { .kind = CABLING_SLOWER,
		.end = { { k->net[WANTED], node, (uint8_t)p },
		    { k->net[WANTED], w->peer_node, w->peer_port },
		    { k->net[PRESENT], a, (uint8_t)p },
		    { k->net[PRESENT], f->peer_node, f->peer_port } } };

	k->c->n_same++;
	if (rate(f) > 0 && rate(f) < rate(w)) /* 0: it was not read */
		add(k, &item);
}

static void
odd_cable(struct comparing *k, enum side s, uint32_t node, unsigned p)
{
	const struct netlist_port *port = netlist_port(k->net[s], node, p);
	struct odd_cable o = { .end = { { k->net[s], node, (uint8_t)p },
				   { k->net[s], port->peer_node, port->peer_port } } };
	uint32_t number = (uint32_t)k->odd[s].n;

	for (int e = 0; e < 2; e++)
		o.key[e] = port_key(key_node(k, s, o.end[e].node), o.end[e].port);
	k->ok = k->ok && fm_vec_push(&k->odd[s], o) && fm_hash_put(&k->at[s], o.key[0], number) &&
	    fm_hash_put(&k->at[s], o.key[1], number);
}

/* Each cable once, but those of a node that is on this side only. */
static void
look_at_cables(struct comparing *k, enum side s)
{
	const struct netlist *nl = k->net[s];

	for (uint32_t i = 0; k->ok && i < nl->n_nodes; i++)
		for (unsigned p = 1; k->ok && p <= nl->nodes[i].n_ports; p++) {
			const struct netlist_port *port = netlist_port(nl, i, p);
			uint32_t a = other_node(k, s, i), b;

			if (port->peer_node == NETLIST_NONE || port->peer_node < i ||
			    (port->peer_node == i && port->peer_port < p))
				continue;
			b = other_node(k, s, port->peer_node);
			if (a == NETLIST_NONE || b == NETLIST_NONE)
				continue;
			if (!is_there(k->net[!s], a, p, b, port->peer_port))
				odd_cable(k, s, i, p);
			else if (s == WANTED)
				same_cable(k, i, p, a);
		}
}

/* -------------------------------------------------------------------- nodes */

static void
lone_node(struct comparing *k, enum side s, uint32_t node)
{
	const struct netlist *nl = k->net[s];
	struct cabling_item item = { .kind =
					 s == WANTED ? CABLING_NODE_MISSING : CABLING_NODE_EXTRA,
		.end = { { nl, node, 0 } } };

	for (unsigned p = 1; p <= nl->nodes[node].n_ports; p++)
		item.n_cables += netlist_port(nl, node, p)->peer_node != NETLIST_NONE;
	add(k, &item);
}

/* The same node, but another GUID or name. */
static void
look_at_names(struct comparing *k, uint32_t node, uint32_t is)
{
	const struct netlist_node *w = &k->net[WANTED]->nodes[node],
				  *f = &k->net[PRESENT]->nodes[is];
	bool is_known = !w->guid_is_made && !f->guid_is_made;
	struct cabling_item item = { .end = { { k->net[WANTED], node, 0 },
					 { k->net[PRESENT], is, 0 } } };

	item.kind = is_known && w->guid != f->guid ? CABLING_REPLACED : CABLING_RENAMED;
	if (item.kind == CABLING_REPLACED || !cabling_is_called_alike(w, f))
		add(k, &item);
}

static void
look_at_nodes(struct comparing *k)
{
	for (uint32_t i = 0; k->ok && i < k->net[WANTED]->n_nodes; i++)
		if (k->match.to[i] == NETLIST_NONE)
			lone_node(k, WANTED, i);
		else
			look_at_names(k, i, k->match.to[i]);
	for (uint32_t i = 0; k->ok && i < k->net[PRESENT]->n_nodes; i++)
		if (k->match.from[i] == NETLIST_NONE)
			lone_node(k, PRESENT, i);
}

/* -------------------------------------------------------------- what remains */

struct step {
	enum side side;
	struct odd_cable *cable;
	unsigned by; /* the end by which it was come to */
};

static bool
is_same_step(const struct step *a, const struct step *b)
{
	return a->side == b->side && a->cable == b->cable;
}

/* The odd cable of the other side at the far end of this one. */
static bool
next_step(const struct comparing *k, const struct step *at, struct step *next)
{
	uint64_t key = at->cable->key[!at->by];
	uint32_t i = fm_hash_find(&k->at[!at->side], key);

	if (i == FM_HASH_NONE)
		return false;
	next->side = !at->side;
	next->cable = &k->odd[next->side].item[i];
	next->by = next->cable->key[0] == key ? 0 : 1;
	return true;
}

/* a and the step behind it are the same cable, moved: they share the far end of a. */
static void
tell_moved(struct comparing *k, const struct step *a, const struct step *b)
{
	const struct step *w = a->side == WANTED ? a : b, *f = a->side == WANTED ? b : a;
	unsigned shared_w = w == a ? !a->by : b->by, shared_f = f == a ? !a->by : b->by;
	struct cabling_item item = { .kind = CABLING_MOVED,
		.end = { w->cable->end[shared_w], w->cable->end[!shared_w], f->cable->end[shared_f],
		    f->cable->end[!shared_f] } };

	add(k, &item);
}

/* Does it come back after four steps? */
static bool
is_swap(const struct comparing *k, const struct step *first, struct step ring[4])
{
	struct step back;

	ring[0] = *first;
	for (unsigned i = 1; i < 4; i++)
		if (!next_step(k, &ring[i - 1], &ring[i]) || is_same_step(&ring[i], first))
			return false;
	return next_step(k, &ring[3], &back) && is_same_step(&back, first);
}

/* w and v are to be there; the step between them leads from w's far end to v's near one. */
static void
tell_swapped(struct comparing *k, const struct step *w, const struct step *v)
{
	struct cabling_item item = { .kind = CABLING_SWAPPED,
		.end = { w->cable->end[w->by], w->cable->end[!w->by], v->cable->end[v->by],
		    v->cable->end[!v->by] } };

	add(k, &item);
}

/* From one end of a path, or somewhere on a ring. */
static void
follow(struct comparing *k, struct step at)
{
	struct step ring[4], next;

	if (is_swap(k, &at, ring)) {
		unsigned w = at.side == WANTED ? 0 : 1;

		for (unsigned i = 0; i < 4; i++)
			ring[i].cable->is_told = true;
		tell_swapped(k, &ring[w], &ring[(w + 2) % 4]);
		return;
	}
	while (!at.cable->is_told && next_step(k, &at, &next) && !next.cable->is_told) {
		at.cable->is_told = next.cable->is_told = true;
		tell_moved(k, &at, &next);
		if (!next_step(k, &next, &at))
			return;
	}
}

/* Nothing is at that end on the other side: a path begins there. */
static bool
is_loose(const struct comparing *k, enum side s, const struct odd_cable *o, unsigned e)
{
	return fm_hash_find(&k->at[!s], o->key[e]) == FM_HASH_NONE;
}

static void
follow_all(struct comparing *k, bool rings)
{
	for (int s = WANTED; s <= PRESENT; s++)
		for (size_t i = 0; k->ok && i < k->odd[s].n; i++) {
			struct odd_cable *o = &k->odd[s].item[i];
			bool loose[] = { is_loose(k, s, o, 0), is_loose(k, s, o, 1) };

			if (!o->is_told && (rings || loose[0] != loose[1]))
				follow(k, (struct step){ s, o, loose[1] ? 1 : 0 });
		}
}

static uint64_t
pair_key(const struct odd_cable *o)
{
	uint32_t a = (uint32_t)(o->key[0] >> 8), b = (uint32_t)(o->key[1] >> 8);

	return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

/* Both ends are elsewhere, at the same two nodes. */
static void
tell_moved_whole(struct comparing *k, struct odd_cable *w, struct odd_cable *f)
{
	unsigned turned = w->key[0] >> 8 == f->key[0] >> 8 ? 0 : 1;
	struct cabling_item item = { .kind = CABLING_MOVED,
		.end = { w->end[0], w->end[1], f->end[turned], f->end[!turned] } };

	w->is_told = f->is_told = true;
	add(k, &item);
}

static void
join_leftovers(struct comparing *k)
{
	struct fm_hash by_pair = { 0 };

	for (size_t i = 0; k->ok && i < k->odd[WANTED].n; i++)
		if (!k->odd[WANTED].item[i].is_told)
			k->ok =
			    fm_hash_put(&by_pair, pair_key(&k->odd[WANTED].item[i]), (uint32_t)i);
	for (size_t i = 0; k->ok && i < k->odd[PRESENT].n; i++) {
		struct odd_cable *f = &k->odd[PRESENT].item[i];
		uint32_t w = f->is_told ? FM_HASH_NONE : fm_hash_find(&by_pair, pair_key(f));

		if (w == FM_HASH_NONE)
			continue;
		fm_hash_remove(&by_pair, pair_key(f));
		tell_moved_whole(k, &k->odd[WANTED].item[w], f);
	}
	fm_hash_fini(&by_pair);
}

static void
tell_leftovers(struct comparing *k)
{
	for (int s = WANTED; s <= PRESENT; s++)
		for (size_t i = 0; k->ok && i < k->odd[s].n; i++) {
			const struct odd_cable *o = &k->odd[s].item[i];
			struct cabling_item item = { .kind = s == WANTED ? CABLING_MISSING
									 : CABLING_EXTRA,
				.end = { o->end[0], o->end[1] } };

			if (!o->is_told)
				add(k, &item);
		}
}

/* ------------------------------------------------------------------- answer */

static int
by_kind(const void *a, const void *b)
{
	const struct cabling_item *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->end[0].node != y->end[0].node)
		return x->end[0].node < y->end[0].node ? -1 : 1;
	return x->end[0].port - y->end[0].port;
}

static void
compare(struct comparing *k)
{
	look_at_nodes(k);
	look_at_cables(k, WANTED);
	look_at_cables(k, PRESENT);
	follow_all(k, false);
	follow_all(k, true);
	join_leftovers(k);
	tell_leftovers(k);
	if (k->ok && k->c->items.n > 1)
		qsort(k->c->items.item, k->c->items.n, sizeof(*k->c->items.item), by_kind);
}

int
cabling_compare(const struct netlist *want, const struct netlist *found, struct cabling *c,
    struct fm_error *err)
{
	struct comparing k = { .net = { want, found }, .c = c };

	*c = (struct cabling){ 0 };
	k.ok = cabling_match(want, found, &k.match);
	if (k.ok)
		compare(&k);
	for (int s = WANTED; s <= PRESENT; s++) {
		fm_vec_fini(&k.odd[s]);
		fm_hash_fini(&k.at[s]);
	}
	cabling_match_fini(&k.match);
	return k.ok ? 0 : fm_fail(err, FM_E_RESOURCE, "out of memory while cabling is compared");
}

void
cabling_fini(struct cabling *c)
{
	fm_vec_fini(&c->items);
}

uint32_t
cabling_n_differences(const struct cabling *c)
{
	uint32_t n = 0;

	for (int kind = 0; kind < CABLING_FIRST_NOTE; kind++)
		n += c->n_of[kind];
	return n;
}
