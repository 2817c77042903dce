/* SPDX-License-Identifier: BSD-2-Clause */
/* core/inventory/news.c - two pictures compared, and what goes together put together. */
#include "core/inventory/news.h"

#include <stdlib.h>

#include "core/inventory/news_internal.h"
#include "lib/algo/ufind.h"

enum event_kind
news_event_kind(enum news_kind kind)
{
	static const enum event_kind kinds[N_NEWS_KINDS] = {
		[NEWS_LOST_NODES] = EVENT_LOST_NODES,
		[NEWS_LOST_CABLES] = EVENT_LOST_CABLES,
		[NEWS_CAME_NODES] = EVENT_CAME_NODES,
		[NEWS_CAME_CABLES] = EVENT_CAME_CABLES,
		[NEWS_MOVED] = EVENT_MOVED,
		[NEWS_BOUNCED] = EVENT_BOUNCED,
		[NEWS_FLAPPING] = EVENT_FLAPPING,
		[NEWS_STILL] = EVENT_STILL,
		[NEWS_OTHER_RATE] = EVENT_OTHER_RATE,
		[NEWS_SLOW] = EVENT_SLOW,
		[NEWS_RENAMED] = EVENT_RENAMED,
	};

	return kinds[kind];
}

struct teller {
	struct news_pair p;
	struct news *out;
	struct fm_arena mem;
};

static bool
is_switch(const struct seen *s, uint32_t slot)
{
	return s->nodes[slot].type == WIRE_NODE_SWITCH;
}

/* ------------------------------------------------------------ nodes, in groups */

/* Nodes that are in `from` and not in `to`, in sets that were lost (or came) together. */
struct gone {
	const struct seen *from, *to;
	uint32_t *slot;	   /* [n] */
	uint32_t *of_slot; /* [from->n] index into slot, INV_NONE: it is in both */
	uint32_t *parent;  /* [n] */
	uint32_t *size;	   /* [n] of the set, at its root */
	uint32_t *line;	   /* [n] likewise */
	uint32_t n;
};

static bool
find_gone(struct gone *g, struct fm_arena *mem)
{
	uint32_t n = g->from->n;

	g->slot = fm_arena_array(mem, (size_t)n + 1, uint32_t);
	g->of_slot = fm_arena_array(mem, (size_t)n + 1, uint32_t);
	g->parent = fm_arena_array(mem, (size_t)n + 1, uint32_t);
	g->size = fm_arena_array(mem, (size_t)n + 1, uint32_t);
	g->line = fm_arena_array(mem, (size_t)n + 1, uint32_t);
	if (g->slot == NULL || g->of_slot == NULL || g->parent == NULL || g->size == NULL ||
	    g->line == NULL)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		bool is = g->from->nodes[i].present && !news_is_present(g->to, i);

		g->of_slot[i] = is ? g->n : INV_NONE;
		if (is)
			g->slot[g->n++] = i;
	}
	fm_ufind_init(g->parent, g->n);
	return true;
}

/* Does a cable lead from the port to one that is gone; to one that is not: *far, else INV_NONE? */
static bool
leads_to_gone(const struct gone *g, const struct seen_port *port, uint32_t *far)
{
	*far = INV_NONE;
	if (!port->linked)
		return false;
	if (g->of_slot[port->peer] != INV_NONE)
		return true;
	*far = port->peer;
	return false;
}

static void
join_cabled(struct gone *g)
{
	for (uint32_t i = 0; i < g->n; i++) {
		const struct seen_node *n = &g->from->nodes[g->slot[i]];
		uint32_t far;

		for (unsigned p = 1; p <= n->n_ports; p++)
			if (leads_to_gone(g, &n->ports[p], &far))
				fm_ufind_join(g->parent, i, g->of_slot[n->ports[p].peer]);
	}
}

/* The boards of a chassis have one system image GUID (IBA 14.2.5.3). */
static bool
join_chassis(struct gone *g)
{
	struct fm_hash first = { 0 };
	bool ok = true;

	for (uint32_t i = 0; ok && i < g->n; i++) {
		uint64_t guid = g->from->nodes[g->slot[i]].system_guid;
		uint32_t other;

		if (!is_switch(g->from, g->slot[i]) || guid == 0)
			continue;
		other = fm_hash_find(&first, guid);
		if (other != FM_HASH_NONE)
			fm_ufind_join(g->parent, i, other);
		else
			ok = fm_hash_put(&first, guid, i);
	}
	fm_hash_fini(&first);
	return ok;
}

/* The switch that is still there at which all the node's cables end; INV_NONE. */
static uint32_t
home_of(const struct gone *g, uint32_t slot)
{
	const struct seen_node *n = &g->from->nodes[slot];
	uint32_t home = INV_NONE, far;

	for (unsigned p = 1; p <= n->n_ports; p++) {
		leads_to_gone(g, &n->ports[p], &far);
		if (far != INV_NONE && home != INV_NONE && far != home)
			return INV_NONE;
		home = far != INV_NONE ? far : home;
	}
	return home;
}

static void
count_sizes(struct gone *g)
{
	for (uint32_t i = 0; i < g->n; i++)
		g->size[i] = 0;
	for (uint32_t i = 0; i < g->n; i++)
		g->size[fm_ufind(g->parent, i)]++;
}

static bool
join_hosts(struct gone *g, struct fm_arena *mem)
{
	uint32_t *first = fm_arena_array(mem, (size_t)g->from->n + 1, uint32_t);

	for (uint32_t i = 0; first != NULL && i < g->n; i++) {
		uint32_t home;

		if (is_switch(g->from, g->slot[i]) || g->size[fm_ufind(g->parent, i)] != 1)
			continue;
		home = home_of(g, g->slot[i]);
		if (home != INV_NONE && first[home] != 0)
			fm_ufind_join(g->parent, i, first[home] - 1);
		else if (home != INV_NONE)
			first[home] = i + 1;
	}
	return first != NULL;
}

/* To be sorted: a set by its size, a node by its line. */
struct place {
	uint32_t line, size, i;
	bool host;
};

static int
by_size(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return x->i < y->i ? -1 : x->i > y->i;
}

static int
by_line(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->host != y->host)
		return x->host ? 1 : -1;
	return x->i < y->i ? -1 : x->i > y->i;
}

/* The largest sets have lines of their own; how many lines there are. */
static uint32_t
deal_lines(struct gone *g, struct place *sets)
{
	uint32_t n_sets = 0;

	for (uint32_t i = 0; i < g->n; i++)
		if (fm_ufind(g->parent, i) == i)
			sets[n_sets++] = (struct place){ .size = g->size[i], .i = i };
	if (n_sets > 1)
		qsort(sets, n_sets, sizeof(*sets), by_size);
	for (uint32_t k = 0; k < n_sets; k++)
		g->line[sets[k].i] =
		    n_sets > NEWS_LINES && k >= NEWS_LINES - 1 ? NEWS_LINES - 1 : k;
	return n_sets;
}

static bool
push_cable(struct news *out, uint32_t slot, unsigned port, const struct seen_port *at)
{
	struct news_cable c = { slot, at->peer, (uint8_t)port, at->peer_port };

	return fm_vec_push(&out->cables, c);
}

/* The item's cables to nodes that are still there, or were before. */
static bool
add_ways_out(struct teller *t, const struct gone *g, struct news_item *item)
{
	item->first_cable = (uint32_t)t->out->cables.n;
	for (uint32_t i = 0; i < item->n_nodes; i++) {
		uint32_t slot = t->out->nodes.item[item->first_node + i], far;
		const struct seen_node *n = &g->from->nodes[slot];

		for (unsigned p = 1; p <= n->n_ports; p++) {
			leads_to_gone(g, &n->ports[p], &far);
			if (far != INV_NONE && !push_cable(t->out, slot, p, &n->ports[p]))
				return false;
		}
	}
	item->n_cables = (uint32_t)t->out->cables.n - item->first_cable;
	return true;
}

/* Since when its first node was there, or gone. */
static void
date(const struct teller *t, uint32_t slot, struct news_item *item)
{
	const struct seen *before = t->p.before;

	if (slot >= before->n)
		return;
	item->since_s = before->nodes[slot].since_s;
	item->at_least = item->since_s == before->first_s;
}

static bool
push_item(struct teller *t, struct news_item *item)
{
	news_say(&t->p, t->out, item);
	return fm_vec_push(&t->out->items, *item);
}

/* The nodes of one line, sorted[0..n-1]. */
static bool
tell_set(struct teller *t, const struct gone *g, enum news_kind kind, const struct place *sorted,
    uint32_t n, bool rest)
{
	struct news_item item = {
		.kind = kind, .rest = rest, .first_node = (uint32_t)t->out->nodes.n, .n_nodes = n
	};

	for (uint32_t i = 0; i < n; i++) {
		if (!fm_vec_push(&t->out->nodes, g->slot[sorted[i].i]))
			return false;
		item.n_switches += !sorted[i].host;
	}
	item.worse = kind == NEWS_LOST_NODES && item.n_switches > 0;
	if (!rest)
		date(t, g->slot[sorted[0].i], &item);
	if (!add_ways_out(t, g, &item))
		return false;
	for (uint32_t i = 0;
	     kind == NEWS_CAME_NODES && news_is_lone_host(&item) && i < item.n_cables; i++) {
		const struct news_cable *c = &t->out->cables.item[item.first_cable + i];

		item.worse |= seen_is_slow(news_port(g->from, c->slot, c->port));
	}
	return push_item(t, &item);
}

static bool
tell_nodes(struct teller *t, enum news_kind kind, const struct seen *from, const struct seen *to)
{
	struct gone g = { .from = from, .to = to };
	struct place *sorted;
	uint32_t n_sets;

	if (!find_gone(&g, &t->mem))
		return false;
	join_cabled(&g);
	if (!join_chassis(&g))
		return false;
	count_sizes(&g);
	sorted = fm_arena_array(&t->mem, (size_t)g.n + 1, struct place);
	if (sorted == NULL || !join_hosts(&g, &t->mem))
		return false;
	count_sizes(&g);
	n_sets = deal_lines(&g, sorted);
	for (uint32_t i = 0; i < g.n; i++)
		sorted[i] = (struct place){ .line = g.line[fm_ufind(g.parent, i)],
			.i = i,
			.host = !is_switch(from, g.slot[i]) };
	if (g.n > 1)
		qsort(sorted, g.n, sizeof(*sorted), by_line);
	for (uint32_t i = 0, n; i < g.n; i += n) {
		for (n = 1; i + n < g.n && sorted[i + n].line == sorted[i].line;)
			n++;
		if (!tell_set(t, &g, kind, &sorted[i], n,
			n_sets > NEWS_LINES && sorted[i].line == NEWS_LINES - 1))
			return false;
	}
	return true;
}

/* ----------------------------------------------------------- cables, by their node */

struct cable_list {
	FM_VEC(struct news_cable) of[N_NEWS_KINDS];
};

static bool
is_same(const struct seen_port *a, const struct seen_port *b)
{
	return a != NULL && b != NULL && a->linked && b->linked && a->peer == b->peer &&
	    a->peer_port == b->peer_port;
}

static bool
has_other_rate(const struct news_pair *p, uint32_t slot, unsigned port)
{
	struct wire_rate was = news_rate_before(p, slot, port),
			 now = p->now->nodes[slot].ports[port].rate;

	return was.lanes != 0 && now.lanes != 0 &&
	    (was.lanes != now.lanes || was.lane_mbps != now.lane_mbps);
}

/* Both ends were and are there. */
static bool
is_between_old(const struct news_pair *p, uint32_t slot, uint32_t far)
{
	return news_is_present(p->before, slot) && news_is_present(p->now, slot) &&
	    news_is_present(p->before, far) && news_is_present(p->now, far);
}

/* A port of a host that has had another neighbour just before. */
static bool
has_moved(const struct news_pair *p, uint32_t slot, unsigned port)
{
	const struct seen_port *was = news_port(p->before, slot, port),
			       *now = news_port(p->now, slot, port);

	return !is_switch(p->now, slot) && was != NULL && was->linked && now->linked &&
	    !is_same(was, now);
}

/* Which kind of news the cable of a port is that is linked now; N_NEWS_KINDS: none. */
static enum news_kind
kind_of_linked(const struct news_pair *p, uint32_t slot, unsigned port)
{
	const struct seen_port *now = &p->now->nodes[slot].ports[port],
			       *was = news_port(p->before, slot, port),
			       *far = &p->now->nodes[now->peer].ports[now->peer_port],
			       *far_was = news_port(p->before, now->peer, now->peer_port);
	bool same = is_same(was, now);

	if (has_moved(p, slot, port) || has_moved(p, now->peer, now->peer_port))
		return NEWS_MOVED;
	if (!same && is_between_old(p, slot, now->peer))
		return NEWS_CAME_CABLES;
	if (has_other_rate(p, slot, port))
		return NEWS_OTHER_RATE;
	if (seen_is_slow(now) && !(same && seen_is_slow(was)))
		return NEWS_SLOW;
	return same && (was->n_falls != now->n_falls || far_was->n_falls != far->n_falls)
	    ? NEWS_BOUNCED
	    : N_NEWS_KINDS;
}

/* A switch goes before a host, then by slot. */
static bool
is_first_end(const struct seen *s, uint32_t slot, unsigned port, const struct seen_port *at)
{
	if (is_switch(s, slot) != is_switch(s, at->peer))
		return is_switch(s, slot);
	return slot != at->peer ? slot < at->peer : port < at->peer_port;
}

static bool
list_cable(struct cable_list *list, enum news_kind kind, uint32_t slot, unsigned port,
    const struct seen_port *at)
{
	struct news_cable c = { slot, at->peer, (uint8_t)port, at->peer_port };

	return kind == N_NEWS_KINDS || fm_vec_push(&list->of[kind], c);
}

/* One that flaps is told of when that begins and when it ends, and of nothing else. */
static bool
list_flaps(
    const struct news_pair *p, uint32_t slot, unsigned port, struct cable_list *list, bool *is_told)
{
	const struct seen_port *was = news_port(p->before, slot, port),
			       *now = &p->now->nodes[slot].ports[port];
	bool did = was != NULL && was->flaps > 0, does = now->flaps > 0;

	*is_told = did || does;
	if (did == does || !is_first_end(p->now, slot, port, now))
		return true;
	return list_cable(list, does ? NEWS_FLAPPING : NEWS_STILL, slot, port, now);
}

static bool
list_port(const struct news_pair *p, uint32_t slot, unsigned port, struct cable_list *list)
{
	const struct seen_port *was = news_port(p->before, slot, port),
			       *now = &p->now->nodes[slot].ports[port];
	bool is_told;

	if (!list_flaps(p, slot, port, list, &is_told) || is_told)
		return is_told;
	if (was != NULL && was->linked && !is_same(was, now) &&
	    is_first_end(p->before, slot, port, was) && is_between_old(p, slot, was->peer) &&
	    !has_moved(p, slot, port) && !has_moved(p, was->peer, was->peer_port) &&
	    !list_cable(list, NEWS_LOST_CABLES, slot, port, was))
		return false;
	if (!now->linked || !is_first_end(p->now, slot, port, now))
		return true;
	return list_cable(list, kind_of_linked(p, slot, port), slot, port, now);
}

static bool
list_cables(const struct news_pair *p, struct cable_list *list)
{
	for (uint32_t i = 0; i < p->now->n; i++)
		for (unsigned k = 1; k <= p->now->nodes[i].n_ports; k++)
			if (!list_port(p, i, k, list))
				return false;
	return true;
}

/* The node with the most of the cables, a switch before a host. */
static uint32_t
find_hub(const struct seen *s, const struct news_cable *cables, size_t n, uint32_t *count,
    uint32_t *n_of_hub)
{
	uint32_t hub = INV_NONE;

	for (size_t i = 0; i < n; i++)
		count[cables[i].slot] = count[cables[i].far] = 0;
	for (size_t i = 0; i < n; i++) {
		count[cables[i].slot]++;
		count[cables[i].far]++;
	}
	for (size_t i = 0; i < 2 * n; i++) {
		uint32_t at = i % 2 == 0 ? cables[i / 2].slot : cables[i / 2].far;

		if (hub == INV_NONE || count[at] > count[hub] ||
		    (count[at] == count[hub] && is_switch(s, at) && !is_switch(s, hub)))
			hub = at;
	}
	*n_of_hub = count[hub];
	return hub;
}

/* Those of the hub come first, seen from there, in their order; how many they are. */
static uint32_t
part_cables(struct news_cable *cables, size_t n, uint32_t hub, struct news_cable *scratch)
{
	uint32_t n_hub = 0, n_others = 0;

	for (size_t i = 0; i < n; i++) {
		struct news_cable c = cables[i];

		if (c.far == hub && c.slot != hub)
			c = (struct news_cable){ c.far, c.slot, c.far_port, c.port };
		if (c.slot == hub)
			cables[n_hub++] = c;
		else
			scratch[n_others++] = c;
	}
	memcpy(cables + n_hub, scratch, n_others * sizeof(*scratch));
	return n_hub;
}

static bool
tell_line(
    struct teller *t, enum news_kind kind, const struct news_cable *cables, uint32_t n, bool rest)
{
	struct news_item item = { .kind = kind,
		.rest = rest,
		.worse = kind == NEWS_LOST_CABLES || kind == NEWS_SLOW || kind == NEWS_FLAPPING,
		.first_cable = (uint32_t)t->out->cables.n,
		.n_cables = n };
	const struct seen_port *was = news_port(t->p.before, cables[0].slot, cables[0].port);
	bool of_before = kind == NEWS_LOST_CABLES ||
	    (kind == NEWS_CAME_CABLES && was != NULL && !was->linked &&
		was->peer == cables[0].far && was->peer_port == cables[0].far_port);

	for (uint32_t i = 0; i < n; i++)
		item.worse |= (kind == NEWS_OTHER_RATE || kind == NEWS_CAME_CABLES) &&
		    seen_is_slow(news_port(t->p.now, cables[i].slot, cables[i].port));
	if (of_before && !rest) {
		item.since_s = was->since_s;
		item.at_least = was->since_s == t->p.before->first_s;
	}
	return fm_vec_append(&t->out->cables, cables, n) && push_item(t, &item);
}

static bool
tell_cables(struct teller *t, enum news_kind kind, struct news_cable *cables, size_t n)
{
	uint32_t *count = fm_arena_array(&t->mem, (size_t)t->p.now->n + 1, uint32_t);
	struct news_cable *scratch = fm_arena_array(&t->mem, n + 1, struct news_cable);

	for (uint32_t line = 0; count != NULL && scratch != NULL && n > 0; line++) {
		uint32_t n_of_hub, hub = find_hub(t->p.now, cables, n, count, &n_of_hub), n_line;
		bool rest = line == NEWS_LINES - 1 && n_of_hub < n;

		n_line = n_of_hub == 1 ? 1 : part_cables(cables, n, hub, scratch);
		if (rest)
			n_line = (uint32_t)n;
		if (!tell_line(t, kind, cables, n_line, rest))
			return false;
		cables += n_line;
		n -= n_line;
	}
	return count != NULL && scratch != NULL;
}

/* Is the cable that of one host that came, whose line says how it runs? */
static bool
is_of_lone_host(const struct teller *t, const struct news_cable *c)
{
	for (size_t i = 0; i < t->out->items.n; i++) {
		const struct news_item *item = &t->out->items.item[i];
		uint32_t node;

		if (item->kind != NEWS_CAME_NODES || !news_is_lone_host(item))
			continue;
		node = t->out->nodes.item[item->first_node];
		if (node == c->slot || node == c->far)
			return true;
	}
	return false;
}

/* Those that are not told yet come first; how many they are. */
static size_t
drop_told(const struct teller *t, struct news_cable *cables, size_t n)
{
	size_t n_left = 0;

	for (size_t i = 0; i < n; i++)
		if (!is_of_lone_host(t, &cables[i]))
			cables[n_left++] = cables[i];
	return n_left;
}

/* -------------------------------------------------------------------- names */

static bool
tell_names(struct teller *t)
{
	struct news_item item = { .kind = NEWS_RENAMED, .first_node = (uint32_t)t->out->nodes.n };
	const struct news_pair *p = &t->p;

	for (uint32_t i = 0; i < p->before->n; i++)
		if (p->before->nodes[i].present && p->now->nodes[i].present &&
		    p->before->nodes[i].name[0] != '\0' &&
		    strcmp(p->before->nodes[i].name, p->now->nodes[i].name) != 0 &&
		    !fm_vec_push(&t->out->nodes, i))
			return false;
	item.n_nodes = (uint32_t)t->out->nodes.n - item.first_node;
	return item.n_nodes == 0 || push_item(t, &item);
}

/* ---------------------------------------------------------- most cables are alike */

static bool
is_alike(const struct seen *now, const struct news_cable *a, const struct news_cable *b)
{
	const struct seen_port *x = news_port(now, a->slot, a->port),
			       *y = news_port(now, b->slot, b->port);

	return x->rate.lanes == y->rate.lanes && x->rate.lane_mbps == y->rate.lane_mbps &&
	    x->best.lanes == y->best.lanes && x->best.lane_mbps == y->best.lane_mbps;
}

static uint32_t
count_cables(const struct seen *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++)
		for (unsigned p = 1; s->nodes[i].present && p <= s->nodes[i].n_ports; p++)
			n += news_port(s, i, p) != NULL && news_port(s, i, p)->linked;
	return n / 2;
}

/* Those like the one that most are like (Boyer and Moore's vote) come last; how many they are. */
static size_t
part_alike(const struct seen *now, struct news_cable *cables, size_t n)
{
	struct news_cable most = { 0 };
	size_t votes = 0, n_others = 0;

	for (size_t i = 0; i < n; i++) {
		if (votes == 0)
			most = cables[i];
		votes += is_alike(now, &most, &cables[i]) ? 1 : (size_t)-1;
	}
	for (size_t i = 0; i < n; i++)
		if (!is_alike(now, &most, &cables[i])) {
			struct news_cable other = cables[i];

			cables[i] = cables[n_others];
			cables[n_others++] = other;
		}
	return n - n_others;
}

/* One line where more than half of all cables are slow in the same way: so the fabric is built. */
static bool
tell_slow(struct teller *t, struct news_cable *cables, size_t n)
{
	uint32_t n_all = n > NEWS_LINES ? count_cables(t->p.now) : 0;
	size_t n_alike = n * 2 > n_all && n_all > 0 ? part_alike(t->p.now, cables, n) : 0;
	struct news_item item = {
		.kind = NEWS_SLOW, .worse = true, .first_cable = (uint32_t)t->out->cables.n
	};

	if (n_alike * 2 <= n_all || n_alike == 0)
		return tell_cables(t, NEWS_SLOW, cables, n);
	item.n_cables = (uint32_t)n_alike;
	item.n_alike_of = n_all;
	return fm_vec_append(&t->out->cables, cables + n - n_alike, n_alike) &&
	    push_item(t, &item) && tell_cables(t, NEWS_SLOW, cables, n - n_alike);
}

static bool
tell_all(struct teller *t, struct cable_list *list, bool is_first)
{
	const struct seen *before = t->p.before, *now = t->p.now;
	bool ok = list_cables(&t->p, list);

	if (is_first)
		return ok && tell_slow(t, list->of[NEWS_SLOW].item, list->of[NEWS_SLOW].n);
	for (enum news_kind k = 0; ok && k < N_NEWS_KINDS; k++) {
		if (k == NEWS_LOST_NODES)
			ok = tell_nodes(t, k, before, now);
		else if (k == NEWS_CAME_NODES)
			ok = tell_nodes(t, k, now, before);
		else if (k == NEWS_RENAMED)
			ok = tell_names(t);
		else if (k == NEWS_SLOW)
			ok = tell_slow(
			    t, list->of[k].item, drop_told(t, list->of[k].item, list->of[k].n));
		else
			ok = tell_cables(t, k, list->of[k].item,
			    k == NEWS_OTHER_RATE ? drop_told(t, list->of[k].item, list->of[k].n)
						 : list->of[k].n);
	}
	return ok;
}

bool
news_tell(const struct seen *before, const struct seen *now, uint32_t now_s, struct news *out)
{
	static const struct seen nothing;
	struct teller t = { .p = { before != NULL ? before : &nothing, now, now_s }, .out = out };
	struct cable_list list = { 0 };
	bool ok;

	*out = (struct news){ 0 };
	fm_arena_init(&t.mem, SIZE_MAX);
	ok = tell_all(&t, &list, before == NULL);
	for (unsigned k = 0; k < N_NEWS_KINDS; k++)
		fm_vec_fini(&list.of[k]);
	fm_arena_fini(&t.mem);
	if (!ok)
		news_fini(out);
	return ok;
}

void
news_fini(struct news *news)
{
	fm_vec_fini(&news->items);
	fm_vec_fini(&news->nodes);
	fm_vec_fini(&news->cables);
}
