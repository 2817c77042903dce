/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/inventory/lasting.h"

/* NULL: there is no such port. */
static const struct seen_port *
port_of(const struct seen *now, uint32_t slot, unsigned port)
{
	const struct seen_node *n = slot < now->n ? &now->nodes[slot] : NULL;

	return n != NULL && port <= n->n_ports ? &n->ports[port] : NULL;
}

static bool
is_linked(const struct seen_port *p)
{
	return p != NULL && p->linked;
}

static bool
is_over(const struct lasting_part *part, const struct seen *now)
{
	const struct news_cable *c = &part->cable;
	const struct seen_port *p = port_of(now, c->slot, c->port);

	if (part->is_node)
		return c->slot < now->n && now->nodes[c->slot].present;
	if (part->how == LASTS_FLAPPING)
		return p == NULL || p->flaps == 0;
	if (part->how == LASTS_SLOW)
		return !is_linked(p) || !seen_is_slow(p);
	return is_linked(p) || is_linked(port_of(now, c->far, c->far_port));
}

/* How an item of news lasts. */
static enum lasting_how
how_lasts(const struct news_item *item)
{
	switch (item->kind) {
	case NEWS_LOST_NODES:
	case NEWS_LOST_CABLES:
		return LASTS_LOST;
	case NEWS_FLAPPING:
		return LASTS_FLAPPING;
	case NEWS_CAME_NODES:
	case NEWS_CAME_CABLES:
	case NEWS_OTHER_RATE:
	case NEWS_SLOW:
		return LASTS_SLOW; /* of the cables that are slow now */
	case NEWS_MOVED:
	case NEWS_BOUNCED:
	case NEWS_STILL:
	case NEWS_RENAMED:
	case N_NEWS_KINDS:
		break;
	}
	return LASTS_NOT;
}

bool
lasting_add(struct lasting *l, uint64_t event, const struct seen *now, const struct news *news,
    const struct news_item *item)
{
	struct lasting_part part = {
		.event = event, .kind = item->kind, .how = how_lasts(item), .is_node = true
	};

	if (event == 0 || part.how == LASTS_NOT)
		return true;
	if (!fm_vec_reserve(&l->parts, l->parts.n + item->n_nodes + item->n_cables))
		return false;
	for (uint32_t i = 0; part.how == LASTS_LOST && i < item->n_nodes; i++) {
		part.cable.slot = news->nodes.item[item->first_node + i];
		l->parts.item[l->parts.n++] = part;
	}
	part.is_node = false;
	for (uint32_t i = 0; i < item->n_cables; i++) {
		part.cable = news->cables.item[item->first_cable + i];
		if (!is_over(&part, now))
			l->parts.item[l->parts.n++] = part;
	}
	return true;
}

void
lasting_follow(struct lasting *l, const struct seen *now,
    void (*over)(void *arg, const struct lasting_part *last), void *arg)
{
	struct lasting_part *part = l->parts.item;
	size_t n = l->parts.n, kept = 0;

	for (size_t i = 0; i < n;) {
		uint64_t event = part[i].event;
		size_t first = kept;
		struct lasting_part last;

		for (; i < n && part[i].event == event; i++) {
			last = part[i];
			if (!is_over(&last, now))
				part[kept++] = last;
		}
		if (kept == first)
			over(arg, &last);
	}
	l->parts.n = kept;
}

void
lasting_forget(struct lasting *l)
{
	fm_vec_fini(&l->parts);
}
