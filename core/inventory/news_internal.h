/* SPDX-License-Identifier: BSD-2-Clause */
/* core/inventory/news_internal.h - what is found is put into words. */
#ifndef CORE_INVENTORY_NEWS_INTERNAL_H
#define CORE_INVENTORY_NEWS_INTERNAL_H

#include "core/inventory/news.h"

/* The two pictures; before is empty where nothing was known. */
struct news_pair {
	const struct seen *before, *now;
	uint32_t now_s;
};

/* A port in a picture; NULL: it had not been seen yet. */
static inline const struct seen_port *
news_port(const struct seen *s, uint32_t slot, unsigned port)
{
	return slot < s->n ? &s->nodes[slot].ports[port] : NULL;
}

static inline bool
news_is_present(const struct seen *s, uint32_t slot)
{
	return slot < s->n && s->nodes[slot].present;
}

/* The rate that a port's cable had when it was last up; 0 lanes: not known. */
static inline struct wire_rate
news_rate_before(const struct news_pair *p, uint32_t slot, unsigned port)
{
	const struct seen_port *was = news_port(p->before, slot, port),
			       *now = news_port(p->now, slot, port);

	if (was == NULL || now == NULL || was->peer != now->peer ||
	    was->peer_port != now->peer_port)
		return (struct wire_rate){ 0 };
	return was->rate;
}

/* What the port was cabled to when it was last up, where that is another one than now; NULL. */
static inline const struct seen_port *
news_place_before(const struct news_pair *p, uint32_t slot, unsigned port)
{
	const struct seen_port *was = news_port(p->before, slot, port),
			       *now = news_port(p->now, slot, port);

	return was != NULL && was->peer != INV_NONE && now != NULL && now->linked &&
		(was->peer != now->peer || was->peer_port != now->peer_port)
	    ? was
	    : NULL;
}

/* One host that came, or was lost: what is to be said of its cable stands in its line. */
static inline bool
news_is_lone_host(const struct news_item *item)
{
	return item->n_nodes == 1 && item->n_switches == 0 && !item->rest;
}

/* The text of an item. */
void news_say(const struct news_pair *p, const struct news *news, struct news_item *item);

#endif
