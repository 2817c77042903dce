/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/health/quarantine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define LEAST 2
#define ONE_IN 200
#define MOST_MORE 10 /* percent, of the fullest link */

/* The port of a switch with a cable to another one; NULL. */
static const struct inv_port *
port_between(const struct inventory *inv, uint32_t slot, unsigned port)
{
	const struct inv_node *n = slot != INV_NONE ? inv_node(inv, slot) : NULL;

	return n != NULL && n->present && inv_is_switch(n) && port > 0 && port <= n->n_ports &&
		n->ports[port].edge == EDGE_LINKED &&
		inv_is_switch(inv_node(inv, n->ports[port].peer))
	    ? &n->ports[port]
	    : NULL;
}

uint32_t
quarantine_most(const struct inventory *inv)
{
	uint32_t n_ends = 0, most;

	for (uint32_t i = 0; i < inv->nodes.n; i++)
		for (unsigned port = 1; port <= inv_node(inv, i)->n_ports; port++)
			n_ends += port_between(inv, i, port) != NULL;
	most = n_ends / 2 / ONE_IN;
	return most > LEAST ? most : LEAST;
}

static int
by_since(const void *a, const void *b)
{
	const struct quarantine_cable *x = a, *y = b;

	if (x->since_s != y->since_s)
		return x->since_s < y->since_s ? -1 : 1;
	return x->guid != y->guid ? (x->guid < y->guid ? -1 : 1) : x->port - y->port;
}

static bool
is_wanted(const struct finding *f, const struct isolated *isolated, const struct inventory *inv,
    uint64_t plan)
{
	uint32_t slot = inv_find(inv, f->end[0].guid);
	const struct inv_port *p = port_between(inv, slot, f->end[0].port);

	return f->health == CABLE_BAD && !f->is_spared && f->refused_plan != plan && p != NULL &&
	    inv_node(inv, p->peer)->guid == f->end[1].guid && p->peer_port == f->end[1].port &&
	    !isolated_is_cable(isolated, inv, slot, f->end[0].port);
}

bool
quarantine_find(const struct findings *f, const struct isolated *isolated,
    const struct inventory *inv, uint64_t plan, struct quarantine_cables *out)
{
	bool ok = true;

	for (uint32_t i = 0; ok && i < findings_n(f); i++) {
		const struct finding *is = findings_get(f, i);
		struct quarantine_cable c = { i, is->end[0].guid, is->end[0].port, is->since_s };

		ok = !is_wanted(is, isolated, inv, plan) || fm_vec_push(&out->items, c);
	}
	if (out->items.n > 1)
		qsort(out->items.item, out->items.n, sizeof(*out->items.item), by_since);
	return ok;
}

const struct isolated_item *
quarantine_over(
    const struct findings *f, const struct isolated *isolated, const struct inventory *inv)
{
	for (size_t i = 0; i < isolated->items.n; i++) {
		const struct isolated_item *item = &isolated->items.item[i];
		const struct finding *is = findings_at(f, item->guid, item->port);

		if (item->quarantined_s != 0 && (is == NULL || is->health < CABLE_BAD) &&
		    port_between(inv, inv_find(inv, item->guid), item->port) != NULL)
			return item;
	}
	return NULL;
}

bool
quarantine_believe(struct findings *f, const struct isolated *isolated, const struct inventory *inv)
{
	bool ok = true;

	for (size_t i = 0; ok && i < isolated->items.n; i++) {
		const struct isolated_item *item = &isolated->items.item[i];
		const struct inv_port *p = port_between(inv, inv_find(inv, item->guid), item->port);
		struct finding_end end[2] = { { item->guid, item->port } };

		if (item->quarantined_s == 0 || p == NULL)
			continue;
		end[1] = (struct finding_end){ inv_node(inv, p->peer)->guid, p->peer_port };
		ok = findings_believe(f, end, item->quarantined_s);
	}
	return ok;
}

const char *
quarantine_why_not(
    const struct trial_result *r, uint64_t base, uint64_t n_unreachable, char *buf, size_t size)
{
	if (r->rc != 0)
		snprintf(buf, size, "no tables were found for the rest: %.100s", r->err.msg);
	else if (r->no_engine)
		snprintf(buf, size, "no engine of the chain routes the rest");
	else if (r->unreachable_pairs > n_unreachable)
		snprintf(buf, size, "%" PRIu64 " pairs would have no path", r->unreachable_pairs);
	else if (r->after.routes * 100 > base * (100 + MOST_MORE))
		snprintf(buf, size,
		    "the fullest link would carry %" PRIu64 " routes, more than a tenth beyond "
		    "%" PRIu64,
		    r->after.routes, base);
	else
		return NULL;
	return buf;
}
