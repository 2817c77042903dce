/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Heights: switches are taken one by one, the next always one with the most
 * neighbours among those taken (maximum adjacency order; Tarjan and
 * Yannakakis, SIAM J. Comput. 13, 1984), and each is lower than all before.
 *
 * So every switch but the first of a component has a neighbour above it, and
 * most have many: there are many short ways up, and no switch is the bottle's
 * neck that the root of a breadth first order is.  On random graphs, Kautz
 * graphs and dragonflies the fullest link of up/down paths bears a fifth to a
 * quarter of what it does there.
 */
#include <string.h>

#include "lib/algo/heap.h"
#include "plugins/engines/nue/nue.h"

#define ONE_TAKEN ((uint64_t)1 << 33) /* in a key: more than all that breaks ties */

/* ------------------------------------------------------------------- graph */

static void
find_reverse(const struct fm_arcs *arcs, fm_arc *reverse, fm_sw *from)
{
	for (fm_sw s = 0; s < arcs->n_switches; s++)
		for (fm_arc a = arcs->first[s]; a < arcs->first[s + 1]; a++) {
			from[a] = s;
			reverse[a] = fm_arc_find(arcs, arcs->to[a], s);
		}
}

static int
find_ports(const struct fm_host *host, struct nue_graph *graph, struct fm_error *err)
{
	const struct fm_arcs *arcs = graph->arcs;
	const struct fm_fabric *fab = graph->fab;
	size_t n = fab->n_switches;
	uint32_t *base = fm_scratch_array(host, n + 1, uint32_t);
	fm_arc *port_arc;

	if (base == NULL)
		return fm_no_scratch(host, "switch graph", err);
	for (fm_sw s = 0; s < n; s++)
		base[s + 1] = base[s] + fab->sw_n_ports[s] + 1u;
	port_arc = fm_scratch_array(host, base[n], fm_arc);
	if (port_arc == NULL)
		return fm_no_scratch(host, "switch graph", err);
	memset(port_arc, 0xff, base[n] * sizeof(*port_arc));
	for (fm_arc a = 0; a < arcs->n_arcs; a++)
		for (fm_link l = arcs->link[a]; l < arcs->link[a + 1]; l++)
			port_arc[base[graph->from[a]] + fab->link_port[l]] = a;
	graph->port_base = base;
	graph->port_arc = port_arc;
	return 0;
}

static void
count_ends(const struct fm_fabric *fab, bool switches_send, uint32_t *n_sources, uint32_t *n_hosts)
{
	for (fm_sw s = 0; s < fab->n_switches; s++)
		for (fm_end e = fab->sw_first_end[s]; e < fab->sw_first_end[s + 1]; e++) {
			n_sources[s] += fab->end_kind[e] != FM_END_SWITCH || switches_send;
			n_hosts[s] += fm_sends(fab, e);
		}
}

int
nue_graph_build(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_shape *shape, bool switches_send, struct nue_graph *out, struct fm_error *err)
{
	size_t n = fab->n_switches, n_arcs = shape->arcs.n_arcs;
	fm_arc *reverse = fm_scratch_array(host, n_arcs, fm_arc);
	fm_sw *from = fm_scratch_array(host, n_arcs, fm_sw);
	uint32_t *n_sources = fm_scratch_array(host, n, uint32_t);
	uint32_t *n_hosts = fm_scratch_array(host, n, uint32_t);
	uint32_t *n_members = fm_scratch_array(host, shape->n_components, uint32_t);

	if (reverse == NULL || from == NULL || n_sources == NULL || n_hosts == NULL ||
	    n_members == NULL)
		return fm_no_scratch(host, "switch graph", err);
	for (fm_sw s = 0; s < n; s++)
		n_members[shape->component[s]]++;
	find_reverse(&shape->arcs, reverse, from);
	count_ends(fab, switches_send, n_sources, n_hosts);
	*out = (struct nue_graph){ .fab = fab,
		.arcs = &shape->arcs,
		.component = shape->component,
		.n_components = shape->n_components,
		.n_members = n_members,
		.reverse = reverse,
		.from = from,
		.n_sources = n_sources,
		.n_hosts = n_hosts };
	return find_ports(host, out, err);
}

/* ------------------------------------------------------------------- heights */

/* The switch with the most neighbours of each component, and the first of these. */
static void
find_tops(const struct nue_graph *graph, fm_sw *top)
{
	const struct fm_arcs *arcs = graph->arcs;

	memset(top, 0xff, graph->n_components * sizeof(*top));
	for (fm_sw s = 0; s < arcs->n_switches; s++) {
		fm_sw *t = &top[graph->component[s]];

		if (*t == FM_NONE ||
		    arcs->first[s + 1] - arcs->first[s] > arcs->first[*t + 1] - arcs->first[*t])
			*t = s;
	}
}

/* What breaks ties, the least first; kept from when v is first met, beside the
 * switch of height next.  Straight: of those met together the one with the
 * fewest neighbours met before, so that a row of a torus is walked to its end
 * before the next is begun. */
static uint64_t
tie_key(const struct nue_rank *rank, const struct fm_arcs *arcs, fm_sw v, enum nue_tie tie,
    uint32_t next)
{
	uint32_t n_met = 0;

	switch (tie) {
	case NUE_NEWEST:
		return next;
	case NUE_OLDEST:
		return arcs->n_switches - next;
	case NUE_STRAIGHT:
		for (fm_arc a = arcs->first[v]; a < arcs->first[v + 1]; a++)
			n_met += rank->at[arcs->to[a]] != FM_HEAP_NONE;
		return (uint64_t)next << 8 | n_met;
	default:
		return 0;
	}
}

/* All of one component, from its top down; the least key goes first. */
static void
take_all(const struct fm_arcs *arcs, struct nue_rank *rank, struct fm_heap *heap, fm_sw top,
    enum nue_tie tie, uint32_t *next)
{
	fm_heap_push(heap, top, 0);
	for (fm_sw s; (s = fm_heap_pop(heap)) != FM_HEAP_NONE;) {
		rank->height[s] = --*next;
		for (fm_arc a = arcs->first[s]; a < arcs->first[s + 1]; a++) {
			fm_sw v = arcs->to[a];

			if (rank->height[v] != FM_NONE)
				continue;
			if (rank->at[v] == FM_HEAP_NONE)
				fm_heap_push(
				    heap, v, 255 * ONE_TAKEN + tie_key(rank, arcs, v, tie, *next));
			else
				fm_heap_push(heap, v, rank->key[v] - ONE_TAKEN);
		}
	}
}

/* Parent: of the neighbours above the one nearest to the top. */
static void
build_tree(const struct nue_graph *graph, struct nue_rank *rank)
{
	const struct fm_arcs *arcs = graph->arcs;
	uint32_t n = arcs->n_switches;

	for (fm_sw s = 0; s < n; s++)
		rank->sorted[n - 1 - rank->height[s]] = s;
	for (uint32_t i = 0; i < n; i++) {
		fm_sw s = rank->sorted[i];
		uint32_t least = FM_NONE;

		rank->up[s] = FM_NONE;
		for (fm_arc a = arcs->first[s]; a < arcs->first[s + 1]; a++) {
			rank->climbs[a] = rank->height[arcs->to[a]] > rank->height[s];
			if (!rank->climbs[a] || rank->depth[arcs->to[a]] >= least)
				continue;
			least = rank->depth[arcs->to[a]];
			rank->up[s] = a;
		}
		rank->depth[s] = least + 1; /* 0 at a top */
	}
}

int
nue_rank_new(const struct fm_host *host, const struct nue_graph *graph, struct nue_rank *out,
    struct fm_error *err)
{
	size_t n = graph->arcs->n_switches;

	*out = (struct nue_rank){ .height = fm_scratch_array(host, n, uint32_t),
		.up = fm_scratch_array(host, n, fm_arc),
		.climbs = fm_scratch_array(host, graph->arcs->n_arcs, uint8_t),
		.top = fm_scratch_array(host, graph->n_components, fm_sw),
		.depth = fm_scratch_array(host, n, uint32_t),
		.sorted = fm_scratch_array(host, n, fm_sw),
		.items = fm_scratch_array(host, n, uint32_t),
		.at = fm_scratch_array(host, n, uint32_t),
		.key = fm_scratch_array(host, n, uint64_t) };
	if (out->height == NULL || out->up == NULL || out->climbs == NULL || out->top == NULL ||
	    out->depth == NULL || out->sorted == NULL || out->items == NULL || out->at == NULL ||
	    out->key == NULL)
		return fm_no_scratch(host, "order of the switches", err);
	return 0;
}

void
nue_rank_make(const struct nue_graph *graph, enum nue_tie tie, struct nue_rank *rank)
{
	uint32_t n = graph->arcs->n_switches, next = n;
	struct fm_heap heap;

	find_tops(graph, rank->top);
	memset(rank->height, 0xff, n * sizeof(*rank->height));
	fm_heap_init(&heap, rank->items, rank->at, rank->key, n);
	for (uint32_t c = 0; c < graph->n_components; c++)
		take_all(graph->arcs, rank, &heap, rank->top[c], tie, &next);
	build_tree(graph, rank);
}
