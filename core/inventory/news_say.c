/* SPDX-License-Identifier: BSD-2-Clause */
/* core/inventory/news_say.c - an item of news as a sentence. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/graph/link_speed.h"
#include "core/inventory/news_internal.h"
#include "core/text/sentence.h"

#define TAIL 70	     /* bytes kept free behind a list for what follows it */
#define NEIGHBOURS 3 /* named behind lost switches, where there is room */

static const char *const verbs[N_NEWS_KINDS] = {
	[NEWS_LOST_NODES] = "lost",
	[NEWS_LOST_CABLES] = "lost",
	[NEWS_CAME_NODES] = "came",
	[NEWS_CAME_CABLES] = "came",
	[NEWS_MOVED] = "moved",
	[NEWS_BOUNCED] = "went down and came back",
	[NEWS_FLAPPING] = "flapping",
	[NEWS_STILL] = "flapping no more",
	[NEWS_OTHER_RATE] = "another width or speed than before",
	[NEWS_SLOW] = "slower or narrower than both ends support",
	[NEWS_RENAMED] = "has another name",
};

/* The picture in which the item's nodes and cables are there. */
static const struct seen *
picture_of(const struct news_pair *p, enum news_kind kind)
{
	return kind == NEWS_LOST_NODES || kind == NEWS_LOST_CABLES ? p->before : p->now;
}

static const char *
type_word(const struct seen_node *n)
{
	return n->type == WIRE_NODE_SWITCH ? "switch"
	    : n->type == WIRE_NODE_ROUTER  ? "router"
					   : "host";
}

static const char *
plural(uint32_t n)
{
	return n == 1 ? "" : "s";
}

static const char *
es(uint32_t n)
{
	return n == 1 ? "" : "es";
}

static void
add_rate(struct sentence *s, struct wire_rate r)
{
	sentence_add(s, "%ux%s", r.lanes, link_speed_word(r.lane_mbps));
}

/* "4xEDR, before 4xQDR, both ends support 4xHDR": of a port whose cable is up; now: as it is. */
static void
add_rates(struct sentence *s, const struct seen_port *port, struct wire_rate old, bool now)
{
	add_rate(s, port->rate);
	if (old.lanes != 0 &&
	    (old.lanes != port->rate.lanes || old.lane_mbps != port->rate.lane_mbps)) {
		sentence_add(s, ", before ");
		add_rate(s, old);
	}
	if (now && seen_is_slow(port)) {
		sentence_add(s, ", both ends support ");
		add_rate(s, port->best);
	}
}

/* Where the port was cabled to when it was last up. */
static void
add_place_before(struct sentence *s, const struct news_pair *p, const struct seen_port *was)
{
	sentence_add(s, "before at \"%s\" port %u", p->now->nodes[was->peer].name, was->peer_port);
}

/* -------------------------------------------------------------------- nodes */

/* Names, as many as there is room for, from the item's node number `first` on. */
static void
add_names(struct sentence *s, const struct news_pair *p, const struct news *news,
    const struct news_item *item, uint32_t first, bool with_ports)
{
	const struct seen *in = picture_of(p, item->kind);
	const uint32_t *nodes = &news->nodes.item[item->first_node];
	const struct news_cable *cables = &news->cables.item[item->first_cable];

	for (uint32_t i = first; i < item->n_nodes; i++) {
		const char *name = in->nodes[nodes[i]].name;

		if (i > first && s->at + strlen(name) + TAIL > NEWS_LIST) {
			sentence_add(s, " and %" PRIu32 " more", item->n_nodes - i);
			return;
		}
		sentence_add(s, "%s\"%s\"", i > first ? ", " : " ", name);
		if (with_ports) {
			const struct seen_port *was = item->kind == NEWS_CAME_NODES
			    ? news_place_before(p, cables[i].slot, cables[i].port)
			    : NULL;

			sentence_add(s, " (port %u%s", cables[i].far_port, was != NULL ? ", " : "");
			if (was != NULL)
				add_place_before(s, p, was);
			sentence_add(s, ")");
		}
	}
}

/* Of the cable of a node that came: where it was before, and what is odd of its rate. */
static void
add_came(struct sentence *s, const struct news_pair *p, const struct news_item *item,
    const struct news_cable *c)
{
	const struct seen_port *port = news_port(p->now, c->slot, c->port);
	const struct seen_port *was = news_place_before(p, c->slot, c->port);
	struct wire_rate old = news_rate_before(p, c->slot, c->port);

	if (was != NULL) {
		sentence_add(s, " (");
		add_place_before(s, p, was);
		sentence_add(s, ")");
	}
	if (!news_is_lone_host(item) || port->rate.lanes == 0 ||
	    (!seen_is_slow(port) &&
		(old.lanes == 0 ||
		    (old.lanes == port->rate.lanes && old.lane_mbps == port->rate.lane_mbps))))
		return;
	sentence_add(s, " (");
	add_rates(s, port, old, true);
	sentence_add(s, ")");
}

/* Where the nodes were or are cabled to others. */
static void
add_neighbours(struct sentence *s, const struct news_pair *p, const struct news *news,
    const struct news_item *item)
{
	const struct seen *in = picture_of(p, item->kind);
	const struct news_cable *cables = &news->cables.item[item->first_cable];

	if (item->n_cables == 0)
		return;
	sentence_add(s, ", cabled to");
	for (uint32_t i = 0; i < item->n_cables; i++) {
		if ((i == NEIGHBOURS && item->n_cables > NEIGHBOURS + 1) ||
		    (i > 0 && s->at + strlen(in->nodes[cables[i].far].name) + TAIL > NEWS_LIST)) {
			sentence_add(s, " and %" PRIu32 " more ports", item->n_cables - i);
			return;
		}
		sentence_add(s, "%s \"%s\" port %u", i > 0 ? "," : "",
		    in->nodes[cables[i].far].name, cables[i].far_port);
		if (item->kind == NEWS_CAME_NODES)
			add_came(s, p, item, &cables[i]);
	}
}

/* Are all that is lost hosts of one port each of one switch, cable i that of node i? */
static bool
is_of_one_switch(const struct news *news, const struct news_item *item)
{
	const struct news_cable *cables = &news->cables.item[item->first_cable];

	if (item->n_switches > 0 || item->n_cables != item->n_nodes || item->rest)
		return false;
	for (uint32_t i = 0; i < item->n_cables; i++)
		if (cables[i].far != cables[0].far ||
		    cables[i].slot != news->nodes.item[item->first_node + i])
			return false;
	return true;
}

/* Have all its switches one system image GUID? */
static bool
is_chassis(const struct seen *in, const struct news *news, const struct news_item *item)
{
	const uint32_t *nodes = &news->nodes.item[item->first_node];
	uint64_t guid = in->nodes[nodes[0]].system_guid;

	for (uint32_t i = 1; i < item->n_switches; i++)
		if (in->nodes[nodes[i]].system_guid != guid)
			return false;
	return item->n_switches > 1 && guid != 0;
}

/* "3 switches and 54 hosts:" */
static void
add_counts(struct sentence *s, const struct news_item *item)
{
	uint32_t n_hosts = item->n_nodes - item->n_switches;
	const char *more = item->rest ? "more " : "";

	if (item->n_switches > 0)
		sentence_add(
		    s, " %" PRIu32 " %sswitch%s", item->n_switches, more, es(item->n_switches));
	if (item->n_switches > 0 && n_hosts > 0)
		sentence_add(s, " and");
	if (n_hosts > 0)
		sentence_add(s, " %" PRIu32 " %shost%s", n_hosts, item->n_switches == 0 ? more : "",
		    plural(n_hosts));
	sentence_add(s, ":");
}

static void
say_nodes(struct sentence *s, const struct news_pair *p, const struct news *news,
    const struct news_item *item)
{
	const struct seen *in = picture_of(p, item->kind);
	const struct seen_node *head = &in->nodes[news->nodes.item[item->first_node]];
	uint32_t n_hosts = item->n_nodes - item->n_switches;

	if (item->n_nodes == 1 || (item->n_switches == 1 && !item->rest)) {
		sentence_add(
		    s, " %s \"%s\" (0x%016" PRIx64 ")", type_word(head), head->name, head->guid);
		if (item->n_nodes > 1) {
			sentence_add(s, " and its %" PRIu32 " host%s:", n_hosts, plural(n_hosts));
			add_names(s, p, news, item, 1, false);
		}
	} else if (is_of_one_switch(news, item)) {
		sentence_add(s, " %" PRIu32 " hosts of switch \"%s\":", n_hosts,
		    in->nodes[news->cables.item[item->first_cable].far].name);
		add_names(s, p, news, item, 0, true);
		return;
	} else {
		if (is_chassis(in, news, item) && !item->rest)
			sentence_add(s, " chassis 0x%016" PRIx64 ",", head->system_guid);
		add_counts(s, item);
		add_names(s, p, news, item, 0, false);
	}
	if (!item->rest)
		add_neighbours(s, p, news, item);
}

static void
say_names(struct sentence *s, const struct news_pair *p, const struct news *news,
    const struct news_item *item)
{
	const uint32_t *nodes = &news->nodes.item[item->first_node];

	if (item->n_nodes > 1)
		sentence_add(s, " %" PRIu32 " nodes:", item->n_nodes);
	for (uint32_t i = 0; i < item->n_nodes; i++) {
		const struct seen_node *n = &p->now->nodes[nodes[i]];

		if (i > 0 && s->at + 2 * strlen(n->name) + TAIL > NEWS_LIST) {
			sentence_add(s, " and %" PRIu32 " more", item->n_nodes - i);
			return;
		}
		sentence_add(s, "%s \"%s\" (0x%016" PRIx64 "), before \"%s\"", i > 0 ? "," : "",
		    n->name, n->guid, p->before->nodes[nodes[i]].name);
	}
}

/* ------------------------------------------------------------------- cables */

/* How often it has gone down, and what becomes of it. */
static void
add_flaps(
    struct sentence *s, const struct news_pair *p, enum news_kind kind, const struct news_cable *c)
{
	const struct seen_port *now = news_port(p->now, c->slot, c->port);
	const struct seen_port *was = news_port(p->before, c->slot, c->port);

	if (kind == NEWS_STILL) {
		sentence_add(s, " (went down %" PRIu32 " times%s)", was->flaps,
		    now->linked ? "" : ", and is down");
		return;
	}
	sentence_add(s, " (went down %" PRIu32 " times; ", now->flaps);
	if (now->only_way)
		sentence_add(s, "used all the same, as the only way)");
	else
		sentence_add(
		    s, "out of the forwarding tables until still for %" PRIu32 " s)", now->still_s);
}

/* What is to be said of a cable behind its ends, in brackets. */
static void
add_remarks(
    struct sentence *s, const struct news_pair *p, enum news_kind kind, const struct news_cable *c)
{
	bool lost = kind == NEWS_LOST_CABLES;
	const struct seen_port *port = news_port(picture_of(p, kind), c->slot, c->port);
	const struct seen_port *was = lost ? NULL : news_place_before(p, c->far, c->far_port);
	struct wire_rate none = { 0 }, old = news_rate_before(p, c->slot, c->port);

	if (kind == NEWS_FLAPPING || kind == NEWS_STILL) {
		add_flaps(s, p, kind, c);
		return;
	}
	if (was != NULL) {
		sentence_add(s, " (");
		add_place_before(s, p, was);
		sentence_add(s, ")");
	}
	if (port->rate.lanes == 0)
		return;
	sentence_add(s, " (");
	add_rates(s, port, lost || kind == NEWS_MOVED ? none : old, !lost);
	sentence_add(s, ")");
}

static void
say_cables(struct sentence *s, const struct news_pair *p, const struct news *news,
    const struct news_item *item)
{
	const struct seen *in = picture_of(p, item->kind);
	const struct news_cable *cables = &news->cables.item[item->first_cable];
	bool hub = item->n_cables > 1 && !item->rest;

	if (item->n_cables == 1)
		sentence_add(s, " cable");
	else if (item->rest)
		sentence_add(s, " %" PRIu32 " more cables:", item->n_cables);
	else
		sentence_add(s, " %" PRIu32 " cables of \"%s\":", item->n_cables,
		    in->nodes[cables[0].slot].name);
	for (uint32_t i = 0; i < item->n_cables; i++) {
		const struct news_cable *c = &cables[i];
		const struct seen_node *a = &in->nodes[c->slot], *b = &in->nodes[c->far];

		if (i > 0 && s->at + strlen(a->name) + strlen(b->name) + TAIL > NEWS_LIST) {
			sentence_add(s, " and %" PRIu32 " more", item->n_cables - i);
			return;
		}
		sentence_add(s, "%s", i > 0 ? "," : "");
		if (!hub)
			sentence_add(s, " \"%s\"", a->name);
		sentence_add(s, " port %u - \"%s\" port %u", c->port, b->name, c->far_port);
		add_remarks(s, p, item->kind, c);
	}
}

/* --------------------------------------------------------------------- when */

static void
add_duration(struct sentence *s, uint32_t seconds)
{
	static const struct {
		uint32_t s;
		const char *word;
	} units[] = { { 86400, "d" }, { 3600, "h" }, { 60, "min" }, { 1, "s" } };
	unsigned u = 0;

	while (u < 3 && seconds < units[u].s)
		u++;
	sentence_add(s, "%" PRIu32 " %s", seconds / units[u].s, units[u].word);
	seconds %= units[u].s;
	if (u < 3 && seconds / units[u + 1].s > 0)
		sentence_add(s, " %" PRIu32 " %s", seconds / units[u + 1].s, units[u + 1].word);
}

static void
add_since(struct sentence *s, const struct news_pair *p, const struct news_item *item)
{
	bool lost = picture_of(p, item->kind) == p->before;

	if (item->since_s == 0 || item->since_s >= p->now_s)
		return;
	sentence_add(s, "; %s for %s", lost ? "there" : "gone", item->at_least ? "at least " : "");
	add_duration(s, p->now_s - item->since_s);
}

static void
say_alike(struct sentence *s, const struct news_pair *p, const struct news *news,
    const struct news_item *item)
{
	const struct news_cable *c = &news->cables.item[item->first_cable];
	const struct seen_port *port = news_port(p->now, c->slot, c->port);

	sentence_add(s, "%" PRIu32 " of %" PRIu32 " cables run ", item->n_cables, item->n_alike_of);
	add_rate(s, port->rate);
	sentence_add(s, ", could run ");
	add_rate(s, port->best);
	sentence_add(s, " (fmctl links --degraded)");
}

void
news_say(const struct news_pair *p, const struct news *news, struct news_item *item)
{
	struct sentence s = { .text = item->text, .size = NEWS_TEXT };

	if (item->n_alike_of > 0) {
		say_alike(&s, p, news, item);
		return;
	}
	sentence_add(&s, "%s:", verbs[item->kind]);
	if (item->kind == NEWS_RENAMED)
		say_names(&s, p, news, item);
	else if (item->n_nodes > 0)
		say_nodes(&s, p, news, item);
	else
		say_cables(&s, p, news, item);
	add_since(&s, p, item);
}
