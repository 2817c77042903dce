/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Components: connected parts of regions, and what lies between them.
 *
 * A region that is not connected is nothing unusual (a layer of spines); each of
 * its parts is a fabric of its own.  Components are numbered by their lowest switch.
 * O(links log links + LIDs), and a search from each gate within its component.
 */
#include <stdlib.h>
#include <string.h>

#include "core/regions/compose_steps.h"
#include "lib/error.h"

static bool
is_gone(const struct fm_fabric *fab, fm_sw sw)
{
	return fab->sw_first_link[sw] == fab->sw_first_link[sw + 1] &&
	    fab->sw_first_end[sw] == fab->sw_first_end[sw + 1];
}

/* Number the components; queue[n_switches]. */
static void
number_components(struct composer *c, fm_sw *queue)
{
	const struct fm_fabric *fab = c->fab;
	uint32_t *component_of = c->sw_component, n;

	c->n_components = 0;
	memset(component_of, 0xff, fab->n_switches * sizeof(*component_of));
	for (fm_sw root = 0; root < fab->n_switches; root++) {
		if (component_of[root] != FM_NONE || is_gone(fab, root))
			continue;
		component_of[root] = c->n_components;
		queue[0] = root;
		n = 1;
		for (uint32_t i = 0; i < n; i++) {
			fm_sw u = queue[i];

			for (fm_link l = fab->sw_first_link[u]; l < fab->sw_first_link[u + 1];
			     l++) {
				fm_sw v = fab->link_to[l];

				if (component_of[v] != FM_NONE ||
				    c->sw_region[v] != c->sw_region[u])
					continue;
				component_of[v] = c->n_components;
				queue[n++] = v;
			}
		}
		c->n_components++;
	}
}

/* Switches by component, their local numbers; at[n_switches]. */
static void
list_switches(struct composer *c, fm_sw *at)
{
	for (fm_sw sw = 0; sw < c->fab->n_switches; sw++)
		if (c->sw_component[sw] != FM_NONE)
			c->component[c->sw_component[sw]].n++;
	for (uint32_t x = 0; x < c->n_components; x++) {
		c->component[x].sw = at;
		at += c->component[x].n;
		c->component[x].n = 0;
	}
	for (fm_sw sw = 0; sw < c->fab->n_switches; sw++) {
		struct component *p;

		if (c->sw_component[sw] == FM_NONE)
			continue;
		p = &c->component[c->sw_component[sw]];
		p->region = c->sw_region[sw];
		p->fabric_component = c->snap->sw_component[sw];
		c->sw_local[sw] = p->n;
		p->sw[p->n++] = sw;
	}
}

/* --------------------------------------------------- gates, exits, sides */

static void
count_exits(struct composer *c)
{
	const struct fm_fabric *fab = c->fab;

	for (fm_sw u = 0; u < fab->n_switches; u++) {
		struct component *p;
		uint32_t n = 0;

		c->sw_gate[u] = FM_NONE;
		if (c->sw_component[u] == FM_NONE)
			continue;
		p = &c->component[c->sw_component[u]];
		for (fm_link l = fab->sw_first_link[u]; l < fab->sw_first_link[u + 1]; l++)
			n += c->sw_component[fab->link_to[l]] != c->sw_component[u];
		p->n_exits += n;
		if (n > 0)
			c->sw_gate[u] = p->n_gates++;
	}
}

static int
by_exit(const void *pa, const void *pb)
{
	const struct exit *a = pa, *b = pb;

	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	if (a->nth != b->nth)
		return a->nth < b->nth ? -1 : 1;
	if (a->far != b->far)
		return a->far < b->far ? -1 : 1;
	return a->link < b->link ? -1 : a->link > b->link;
}

/* Exits of one component, sorted, and its gates. */
static void
fill_exits(struct composer *c, struct component *p)
{
	const struct fm_fabric *fab = c->fab;
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		fm_sw u = p->sw[i];

		if (c->sw_gate[u] == FM_NONE)
			continue;
		p->gate[c->sw_gate[u]] = i;
		for (fm_link l = fab->sw_first_link[u]; l < fab->sw_first_link[u + 1]; l++) {
			fm_sw v = fab->link_to[l];

			if (c->sw_component[v] != c->sw_component[u])
				p->exit[n++] = (struct exit){ .link = l,
					.near = u,
					.far = v,
					.to = c->sw_component[v],
					.near_gate = c->sw_gate[u],
					.far_gate = c->sw_gate[v] };
		}
	}
	/* first to different switches, then by further cables to them */
	qsort(p->exit, n, sizeof(*p->exit), by_exit);
	for (uint32_t i = 1; i < n; i++)
		if (p->exit[i].far == p->exit[i - 1].far)
			p->exit[i].nth = p->exit[i - 1].nth + 1;
	qsort(p->exit, n, sizeof(*p->exit), by_exit);
	for (uint32_t i = 0; i < n; i++) {
		c->link_exit[p->exit[i].link] = i;
		if (i == 0 || p->exit[i].to != p->exit[i - 1].to)
			p->side[p->n_sides++] =
			    (struct side){ .component = p->exit[i].to, .first_exit = i };
		p->side[p->n_sides - 1].n_exits++;
	}
}

static int
find_exits(struct composer *c, struct fm_error *err)
{
	memset(c->link_exit, 0xff, c->fab->n_links * sizeof(*c->link_exit));
	count_exits(c);
	for (uint32_t x = 0; x < c->n_components; x++) {
		struct component *p = &c->component[x];

		if (p->n_exits >= NO_EXIT)
			return fm_fail(err, FM_E_RESOURCE,
			    "%u cables leave one part of a region: more than %u cannot be composed",
			    p->n_exits, NO_EXIT - 1u);
		p->gate = fm_arena_array(&c->mem, p->n_gates + 1, fm_sw);
		p->gate_serves = fm_arena_array(&c->mem, p->n_gates + 1, uint8_t);
		p->exit = fm_arena_array(&c->mem, p->n_exits + 1, struct exit);
		p->side = fm_arena_array(&c->mem, p->n_exits + 1, struct side);
		if (p->gate == NULL || p->gate_serves == NULL || p->exit == NULL || p->side == NULL)
			return compose_no_memory(err);
		fill_exits(c, p);
	}
	return 0;
}

/* The graph of components; places come with an order. */
static int
build_graph(struct composer *c, struct fm_error *err)
{
	uint32_t n = 0, *first, *to;

	for (uint32_t x = 0; x < c->n_components; x++)
		n += c->component[x].n_sides;
	first = fm_arena_array(&c->mem, c->n_components + 1, uint32_t);
	to = fm_arena_array(&c->mem, n + 1, uint32_t);
	c->whole.graph = (struct ordered_graph){ .n = c->n_components,
		.first = first,
		.to = to,
		.place = fm_arena_array(&c->mem, c->n_components + 1, uint32_t),
		.by_place = fm_arena_array(&c->mem, c->n_components + 1, uint32_t) };
	if (first == NULL || to == NULL || c->whole.graph.place == NULL ||
	    c->whole.graph.by_place == NULL)
		return compose_no_memory(err);
	n = 0;
	for (uint32_t x = 0; x < c->n_components; x++) {
		first[x] = n;
		for (uint32_t i = 0; i < c->component[x].n_sides; i++)
			to[n++] = c->component[x].side[i].component;
	}
	first[c->n_components] = n;
	return 0;
}

/* -------------------------------------------------------------- distances */

/* Hops inside the component from one of its gates; queue[p->n]. */
static void
measure(const struct composer *c, struct component *p, uint32_t gate, uint32_t *queue)
{
	const struct fm_fabric *fab = c->fab;
	uint16_t *dist = p->dist + (size_t)gate * p->n;
	uint32_t n = 0;

	memset(dist, 0xff, p->n * sizeof(*dist));
	dist[p->gate[gate]] = 0;
	queue[n++] = p->gate[gate];
	for (uint32_t i = 0; i < n; i++) {
		fm_sw u = p->sw[queue[i]];

		for (fm_link l = fab->sw_first_link[u]; l < fab->sw_first_link[u + 1]; l++) {
			fm_sw v = fab->link_to[l];

			if (c->link_exit[l] != FM_NONE || dist[c->sw_local[v]] != UINT16_MAX)
				continue;
			dist[c->sw_local[v]] = (uint16_t)(dist[queue[i]] + 1);
			queue[n++] = c->sw_local[v];
		}
	}
}

struct measuring {
	const struct composer *c;
	uint32_t *queue; /* [workers][n_switches] */
};

static void
measure_component(void *arg, uint32_t x, unsigned worker)
{
	const struct measuring *m = arg;
	struct component *p = &m->c->component[x];

	for (uint32_t g = 0; g < p->n_gates; g++)
		measure(m->c, p, g, m->queue + (size_t)worker * m->c->fab->n_switches);
}

static int
find_distances(struct composer *c, struct fm_error *err)
{
	struct measuring m = { .c = c };

	m.queue = fm_arena_array(
	    &c->mem, (size_t)fm_pool_size(c->r->workers) * c->fab->n_switches + 1, uint32_t);
	if (m.queue == NULL)
		return compose_no_memory(err);
	for (uint32_t x = 0; x < c->n_components; x++) {
		struct component *p = &c->component[x];

		p->dist = fm_arena_array(&c->mem, (size_t)p->n_gates * p->n + 1, uint16_t);
		if (p->dist == NULL)
			return compose_no_memory(err);
	}
	fm_pool_for(c->r->workers, c->n_components, measure_component, &m);
	return 0;
}

/* ------------------------------------------------------------- LIDs, VLs */

static bool
is_host(const struct fm_fabric *fab, fm_end e)
{
	return fab->end_kind[e] == FM_END_CA || fab->end_kind[e] == FM_END_ROUTER;
}

/* LIDs of a component, hosts' or others', behind those it has. */
static void
list_lids(struct composer *c, struct component *p, bool hosts)
{
	const struct fm_fabric *fab = c->fab;

	for (uint32_t i = 0; i < p->n; i++)
		for (fm_end e = fab->sw_first_end[p->sw[i]]; e < fab->sw_first_end[p->sw[i] + 1];
		     e++) {
			if (is_host(fab, e) != hosts || fab->end_lid[e] == 0)
				continue;
			for (uint32_t o = 0; o < 1u << fab->end_lmc[e]; o++) {
				p->lid[p->n_lids++] = (uint16_t)(fab->end_lid[e] + o);
				c->lid_component[fab->end_lid[e] + o] = c->sw_component[p->sw[i]];
			}
		}
}

static int
find_lids(struct composer *c, struct fm_error *err)
{
	const struct fm_fabric *fab = c->fab;
	uint16_t *at = fm_arena_array(&c->mem, c->n_lid_room, uint16_t);
	uint32_t n_hosts = 0, n_others = 0;

	c->lid_component = fm_arena_array(&c->mem, c->n_lid_room, uint32_t);
	if (at == NULL || c->lid_component == NULL)
		return compose_no_memory(err);
	memset(c->lid_component, 0xff, c->n_lid_room * sizeof(*c->lid_component));
	for (uint32_t x = 0; x < c->n_components; x++) {
		struct component *p = &c->component[x];

		p->lid = at;
		list_lids(c, p, true);
		p->n_host_lids = p->n_lids;
		list_lids(c, p, false);
		p->first_host = n_hosts;
		p->first_other = n_others;
		n_hosts += p->n_host_lids;
		n_others += p->n_lids - p->n_host_lids;
		at += p->n_lids;
		p->n_vls = c->r->set.n_vls;
		for (uint32_t i = 0; i < p->n; i++) {
			fm_sw u = p->sw[i];

			for (fm_end e = fab->sw_first_end[u]; e < fab->sw_first_end[u + 1]; e++)
				p->n_sources += fab->end_kind[e] != FM_END_SWITCH;
			for (fm_link l = fab->sw_first_link[u]; l < fab->sw_first_link[u + 1]; l++)
				if (fab->link_n_vls[l] < p->n_vls)
					p->n_vls = fab->link_n_vls[l];
		}
	}
	return 0;
}

int
compose_find_components(struct composer *c, struct fm_error *err)
{
	uint32_t n = c->fab->n_switches;
	fm_sw *scratch = fm_arena_array(&c->mem, n + 1, fm_sw);
	int rc;

	c->sw_component = fm_arena_array(&c->mem, n + 1, uint32_t);
	c->sw_local = fm_arena_array(&c->mem, n + 1, uint32_t);
	c->sw_gate = fm_arena_array(&c->mem, n + 1, uint32_t);
	c->link_exit = fm_arena_array(&c->mem, c->fab->n_links + 1, uint32_t);
	c->link_number = fm_arena_array(&c->mem, c->fab->n_links + 1, fm_link);
	if (scratch == NULL || c->sw_component == NULL || c->sw_local == NULL ||
	    c->sw_gate == NULL || c->link_exit == NULL || c->link_number == NULL)
		return compose_no_memory(err);
	number_components(c, scratch);
	c->component = fm_arena_array(&c->mem, c->n_components + 1, struct component);
	if (c->component == NULL)
		return compose_no_memory(err);
	list_switches(c, scratch);
	if ((rc = find_exits(c, err)) != 0 || (rc = build_graph(c, err)) != 0 ||
	    (rc = find_distances(c, err)) != 0)
		return rc;
	return find_lids(c, err);
}
