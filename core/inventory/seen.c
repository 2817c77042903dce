/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/inventory/flaps.h"
#include "core/inventory/seen.h"

#include <stdlib.h>
#include <string.h>

/* Told once: not before both ends are there, and then also while one is not. */
static void
take_flaps(const struct inventory *inv, uint32_t slot, unsigned port, struct seen_port *out)
{
	const struct inv_flap *f = flaps_at(inv, slot, port);

	if (f == NULL || f->state != FLAP_OUT) {
		out->flaps = 0;
		return;
	}
	if (out->flaps == 0 &&
	    (!inv_node(inv, f->slot[0])->present || !inv_node(inv, f->slot[1])->present))
		return;
	out->flaps = flap_falls(f);
	out->still_s = (uint32_t)(f->still_ms / 1000);
	out->only_way = f->only_way;
}

static void
take_port(const struct inventory *inv, uint32_t slot, unsigned port, const struct seen_port *was,
    uint32_t now_s, struct seen_port *out)
{
	const struct inv_node *n = inv_node(inv, slot);
	const struct inv_port *p = &n->ports[port];

	*out = was != NULL ? *was : (struct seen_port){ .peer = INV_NONE, .since_s = now_s };
	out->n_falls = p->n_falls;
	if (n->present && p->edge == EDGE_LINKED) {
		bool same = out->linked && out->peer == p->peer && out->peer_port == p->peer_port;

		out->linked = true;
		out->peer = p->peer;
		out->peer_port = p->peer_port;
		out->rate = p->known ? inv_rate(n, port) : (struct wire_rate){ 0 };
		out->best = inv_best_rate(inv, slot, port);
		out->since_s = same ? out->since_s : now_s;
	} else if (out->linked) {
		out->linked = false;
		out->since_s = now_s;
	}
	take_flaps(inv, slot, port, out);
}

static bool
take_node(const struct inventory *inv, uint32_t slot, const struct seen_node *was, uint32_t now_s,
    struct fm_arena *mem, struct seen_node *out)
{
	const struct inv_node *n = inv_node(inv, slot);

	*out = (struct seen_node){ .guid = n->guid,
		.system_guid = n->system_guid,
		.since_s = was != NULL && was->present == n->present ? was->since_s : now_s,
		.type = n->type,
		.n_ports = n->n_ports,
		.present = n->present,
		.ports = fm_arena_array(mem, (size_t)n->n_ports + 1, struct seen_port) };
	memcpy(out->name, n->name, sizeof(out->name));
	for (unsigned p = 0; out->ports != NULL && p <= n->n_ports; p++)
		take_port(inv, slot, p, was != NULL ? &was->ports[p] : NULL, now_s, &out->ports[p]);
	return out->ports != NULL;
}

struct seen *
seen_make(const struct inventory *inv, const struct seen *before, uint32_t now_s)
{
	uint32_t n = (uint32_t)inv->nodes.n, n_before = before != NULL ? before->n : 0;
	struct seen *s = calloc(1, sizeof(*s));
	bool ok;

	if (s == NULL)
		return NULL;
	fm_arena_init(&s->mem, SIZE_MAX);
	s->n = n;
	s->first_s = before != NULL ? before->first_s : now_s;
	s->nodes = fm_arena_array(&s->mem, (size_t)n + 1, struct seen_node);
	ok = s->nodes != NULL;
	for (uint32_t i = 0; ok && i < n; i++)
		ok = take_node(
		    inv, i, i < n_before ? &before->nodes[i] : NULL, now_s, &s->mem, &s->nodes[i]);
	if (ok)
		return s;
	seen_free(s);
	return NULL;
}

void
seen_free(struct seen *s)
{
	if (s == NULL)
		return;
	fm_arena_fini(&s->mem);
	free(s);
}
