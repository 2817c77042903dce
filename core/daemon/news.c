/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/daemon/news.c - what a sweep has found changed, into the log and the events.
 *
 * A line for each item of news (core/inventory/news.h); the last one says what became of the
 * subnet, where it has room, so that one event is one line.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/daemon/daemon.h"
#include "core/graph/link_speed.h"
#include "core/inventory/news.h"
#include "core/text/json_text.h"

#define FACTS_MAX 64	   /* nodes, and cables, of one item */
#define LINE_MAX_CHARS 246 /* of what is one line: longer, the outcome has its own */

static json_t *
node_json(const struct seen_node *n)
{
	static const char *const types[] = {
		[WIRE_NODE_CA] = "ca", [WIRE_NODE_SWITCH] = "switch", [WIRE_NODE_ROUTER] = "router"
	};

	return json_pack("{s:o, s:o, s:s}", "node", json_text(n->name), "guid", json_guid(n->guid),
	    "type", types[n->type]);
}

static json_t *
rate_json(struct wire_rate r)
{
	if (r.lanes == 0)
		return json_null();
	return json_pack("{s:o, s:s, s:I}", "width", json_sprintf("%ux", r.lanes), "speed",
	    link_speed_word(r.lane_mbps), "mbps", (json_int_t)wire_rate_mbps(r));
}

/* An end of a cable. */
static json_t *
end_json(const struct seen_node *n, unsigned port)
{
	json_t *end = node_json(n);

	json_object_set_new(end, "port", json_integer((json_int_t)port));
	return end;
}

/* What was lost is as it was; falls: of one that flaps, or has. */
static json_t *
cable_json(const struct seen *in, const struct news_cable *c, const struct seen_port *flaps)
{
	const struct seen_node *a = &in->nodes[c->slot];
	const struct seen_port *p = &a->ports[c->port];

	return json_pack("{s:o, s:o, s:o, s:o, s:b, s:o}", "from", end_json(a, c->port), "to",
	    end_json(&in->nodes[c->far], c->far_port), "rate", rate_json(p->rate), "best",
	    rate_json(p->best), "degraded", (int)seen_is_slow(p), "falls",
	    flaps != NULL ? json_integer(flaps->flaps) : json_null());
}

static json_t *
time_json(uint32_t s)
{
	time_t t = s;
	struct tm tm;
	char text[24];

	if (s == 0)
		return json_null();
	gmtime_r(&t, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return json_string(text);
}

static json_t *
facts_json(const struct seen *before, const struct seen *now, const struct news *news,
    const struct news_item *item, const char *by)
{
	bool lost = item->kind == NEWS_LOST_NODES || item->kind == NEWS_LOST_CABLES;
	const struct seen *in = lost ? before : now;
	const struct seen *flapped = item->kind == NEWS_FLAPPING ? now
	    : item->kind == NEWS_STILL				 ? before
								 : NULL;
	json_t *nodes = json_array(), *cables = json_array();

	for (uint32_t i = 0; i < item->n_nodes && i < FACTS_MAX; i++)
		json_array_append_new(
		    nodes, node_json(&in->nodes[news->nodes.item[item->first_node + i]]));
	for (uint32_t i = 0; i < item->n_cables && i < FACTS_MAX; i++) {
		const struct news_cable *c = &news->cables.item[item->first_cable + i];

		json_array_append_new(cables,
		    cable_json(
			in, c, flapped != NULL ? &flapped->nodes[c->slot].ports[c->port] : NULL));
	}
	return json_pack("{s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:b, s:o}", "event",
	    event_kind_name(news_event_kind(item->kind)), "switches", (json_int_t)item->n_switches,
	    "hosts", (json_int_t)(item->n_nodes - item->n_switches), "n_cables",
	    (json_int_t)item->n_cables, "nodes", nodes, "cables", cables, "since",
	    time_json(item->since_s), "at_least", (int)item->at_least, "by", json_text(by));
}

/* By which trap or sweep it was found. */
static void
say_by(const struct sweep_report *r, char *buf, size_t size)
{
	if (strncmp(r->reason, "trap ", 5) == 0)
		snprintf(buf, size, "by %s", r->reason);
	else
		snprintf(buf, size, "found by a sweep (%s)", r->reason);
}

/* How many were told; *told: with `outcome` behind the last. */
static size_t
report_news(struct daemon *d, const struct seen *now, const struct news *news,
    const struct sweep_report *r, const char *outcome)
{
	char by[192];

	say_by(r, by, sizeof(by));
	for (size_t i = 0; i < news->items.n; i++) {
		const struct news_item *item = &news->items.item[i];
		json_t *facts = facts_json(d->seen, now, news, item, by);
		uint64_t n;
		bool last = i + 1 == news->items.n && outcome[0] != '\0' &&
		    strlen(item->text) + strlen(by) + strlen(outcome) < LINE_MAX_CHARS;

		if (last && facts != NULL)
			json_object_set(facts, "sweep", d->summary);
		n = events_add(news_event_kind(item->kind),
		    item->worse ? FM_LOG_WARN : FM_LOG_NOTICE, "fabric", facts, "%s; %s%s%s",
		    item->text, by, last ? "; " : "", last ? outcome : "");
		if (!lasting_add(&d->lasting, n, now, news, item))
			log_err(
			    "fabric", "out of memory: the end of event %" PRIu64 " is not told", n);
		if (i + 1 == news->items.n && outcome[0] != '\0' && !last)
			events_add(EVENT_SUBNET_UP, FM_LOG_NOTICE, "sweep", json_incref(d->summary),
			    "%s", outcome);
	}
	return news->items.n;
}

/* All that an event told of is over: the last part of it. */
static void
tell_over(void *arg, const struct lasting_part *last)
{
	static const char *const words[] = {
		[LASTS_NOT] = "",
		[LASTS_LOST] = "what was lost is there again, at last",
		[LASTS_FLAPPING] = "what flapped is still, at last",
		[LASTS_SLOW] = "what was slow has its full width and speed, or no link, at last",
	};
	const struct seen *now = arg;
	const char *name = now->nodes[last->cable.slot].name;
	enum event_kind kind = news_event_kind(last->kind);

	if (last->is_node)
		event_end(last->event, kind, "fabric", "%s \"%s\"", words[last->how], name);
	else
		event_end(last->event, kind, "fabric", "%s \"%s\" port %u", words[last->how], name,
		    last->cable.port);
}

size_t
daemon_tell_news(struct daemon *d, const struct sweep_report *r, const char *outcome)
{
	uint32_t now_s = (uint32_t)time(NULL);
	struct seen *now = seen_make(sweeper_inventory(d->sweeper), d->seen, now_s);
	struct news news;
	size_t n;

	if (now == NULL || !news_tell(d->seen, now, now_s, &news)) {
		seen_free(now);
		log_err("fabric", "out of memory: what has changed in the fabric is not told");
		return 0;
	}
	lasting_follow(&d->lasting, now, tell_over, now);
	n = report_news(d, now, &news, r, outcome);
	news_fini(&news);
	seen_free(d->seen);
	d->seen = now;
	return n;
}

void
daemon_forget_seen(struct daemon *d)
{
	seen_free(d->seen);
	d->seen = NULL;
	lasting_forget(&d->lasting);
	cabling_watch_forget(&d->cabling);
}
