/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Breadth first from the destination, backwards; with an order twice: first
 * those that reach it going down only, then all others from all of these at
 * once, each at its own distance.  With weights it is Dijkstra's search.
 */
#include "plugins/common/paths/steps.h"

#include <string.h>

/* May the opposite of this arc be gone down for the destination in hand? */
static bool
is_down_back(const struct fm_steps *s, fm_arc a)
{
	const struct fm_order *o = s->rule.order;

	if (o == NULL)
		return true;
	return (o->way[a] & (s->aside ? FM_ARC_UP : FM_ARC_UP | FM_ARC_ASIDE)) == FM_ARC_UP;
}

/* Switches from which the root is reached going down: searched backwards, so
 * along arcs that go up (any arc without an order). */
static void
find_down(struct fm_steps *s)
{
	for (uint32_t head = 0; head < s->n_near; head++) {
		fm_sw v = s->near[head];

		for (fm_arc a = s->arcs->first[v]; a < s->arcs->first[v + 1]; a++) {
			fm_sw u = s->arcs->to[a];

			if (s->distance[u] != FM_NONE || !is_down_back(s, a))
				continue;
			s->distance[u] = s->distance[v] + 1;
			s->down[u] = 1;
			s->near[s->n_near++] = u;
		}
	}
}

static void
climb_back(struct fm_steps *s, fm_sw v, uint32_t *tail)
{
	for (fm_arc a = s->arcs->first[v]; a < s->arcs->first[v + 1]; a++) {
		fm_sw u = s->arcs->to[a];

		if (s->distance[u] != FM_NONE || fm_goes_up(s->rule.order, a))
			continue;
		s->distance[u] = s->distance[v] + 1;
		s->climbing[(*tail)++] = u;
	}
}

/* The others go up first.  near[] becomes the merger of both. */
static void
find_up(struct fm_steps *s)
{
	uint32_t n_down = s->n_near, i = 0, head = 0, tail = 0, n = 0;
	fm_sw *merged = s->merged;

	while (i < n_down || head < tail) {
		bool from_down = head == tail ||
		    (i < n_down && s->distance[s->near[i]] <= s->distance[s->climbing[head]]);
		fm_sw v = from_down ? s->near[i++] : s->climbing[head++];

		merged[n++] = v;
		climb_back(s, v, &tail);
	}
	s->merged = s->near;
	s->near = merged;
	s->n_near = n;
}

/* Those that go down from the lowest to the highest, then the others back. */
static void
sort_by_height(struct fm_steps *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->fab->n_switches; i++)
		if (s->down[s->by_height[i]])
			s->near[n++] = s->by_height[i];
	for (uint32_t i = s->fab->n_switches; i-- > 0;)
		if (!s->down[s->by_height[i]] && s->distance[s->by_height[i]] != FM_NONE)
			s->near[n++] = s->by_height[i];
}

static void
find_weighted(struct fm_steps *s)
{
	uint32_t bound = s->rule.max_length != 0 ? s->rule.max_length : FM_NONE - 1;
	fm_sw v;

	s->n_near = 0;
	fm_heap_push(&s->heap, s->root, 0);
	while ((v = fm_heap_pop(&s->heap)) != FM_HEAP_NONE) {
		s->near[s->n_near++] = v;
		for (fm_arc a = s->arcs->first[v]; a < s->arcs->first[v + 1]; a++) {
			fm_sw u = s->arcs->to[a];
			uint64_t d = (uint64_t)s->distance[v] + s->length_back[a];

			if (d > bound || d >= s->distance[u])
				continue;
			s->distance[u] = (uint32_t)d;
			fm_heap_push(&s->heap, u, d);
		}
	}
}

void
fm_steps_find(struct fm_steps *s, fm_sw root)
{
	s->root = root;
	memset(s->distance, 0xff, s->fab->n_switches * sizeof(*s->distance));
	memset(s->down, 0, s->fab->n_switches);
	s->aside = s->rule.order != NULL && s->rule.order->aside[root];
	s->distance[root] = 0;
	s->down[root] = 1;
	s->near[0] = root;
	s->n_near = 1;
	if (s->length != NULL) {
		find_weighted(s);
		return;
	}
	find_down(s);
	if (s->rule.order != NULL)
		find_up(s);
	if (s->rule.detours)
		sort_by_height(s);
}

/* distance[] serves to count. */
void
fm_steps_follow(struct fm_steps *s, const struct fm_order *order)
{
	s->rule.order = order;
	if (s->rule.detours)
		fm_order_sort(s->arcs, order, s->distance, s->by_height);
}

static int
measure_arcs(const struct fm_host *host, struct fm_steps *s, struct fm_error *err)
{
	const struct fm_arcs *arcs = s->arcs;
	uint32_t n = s->fab->n_switches;
	uint32_t *items = fm_scratch_array(host, n, uint32_t);
	uint32_t *at = fm_scratch_array(host, n, uint32_t);
	uint64_t *key = fm_scratch_array(host, n, uint64_t);

	s->length = fm_scratch_array(host, arcs->n_arcs, uint32_t);
	s->length_back = fm_scratch_array(host, arcs->n_arcs, uint32_t);
	if (items == NULL || at == NULL || key == NULL || s->length == NULL ||
	    s->length_back == NULL)
		return fm_no_scratch(host, "lengths of the links", err);
	fm_heap_init(&s->heap, items, at, key, n);
	for (fm_arc a = 0; a < arcs->n_arcs; a++) {
		s->length[a] = s->length_back[a] = UINT32_MAX;
		for (fm_link l = arcs->link[a]; l < arcs->link[a + 1]; l++) {
			uint32_t out = s->rule.weight[l],
				 back = s->rule.weight[s->fab->link_rev[l]];

			s->length[a] = out < s->length[a] ? out : s->length[a];
			s->length_back[a] = back < s->length_back[a] ? back : s->length_back[a];
		}
	}
	return 0;
}

int
fm_steps_init(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_arcs *arcs,
    struct fm_rule rule, struct fm_steps *out, struct fm_error *err)
{
	size_t n = fab->n_switches;

	*out = (struct fm_steps){ .fab = fab,
		.arcs = arcs,
		.rule = rule,
		.distance = fm_scratch_array(host, n, uint32_t),
		.down = fm_scratch_array(host, n, uint8_t),
		.near = fm_scratch_array(host, n, fm_sw),
		.climbing = fm_scratch_array(host, n, fm_sw),
		.merged = fm_scratch_array(host, n, fm_sw) };
	if (out->distance == NULL || out->down == NULL || out->near == NULL ||
	    out->climbing == NULL || out->merged == NULL)
		return fm_no_scratch(host, "distances to a destination", err);
	if (rule.weight != NULL)
		return measure_arcs(host, out, err);
	if (!rule.detours)
		return 0;
	out->by_height = fm_scratch_array(host, n, fm_sw);
	if (out->by_height == NULL)
		return fm_no_scratch(host, "heights of the switches", err);
	if (rule.order != NULL)
		fm_steps_follow(out, rule.order);
	return 0;
}
