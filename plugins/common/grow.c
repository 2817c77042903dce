/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trees one by one, balanced by the load of those before (SSSP, HOTI 2009),
 * but without a heap: the hop layers are known from a breadth first search,
 * so a switch is settled when all of the layer before is, by looking at its
 * next steps once.
 *
 *	cost(u) = min over next steps u -> v of load(u -> v)^2 + cost(v)
 *
 * Squares make one crowded link worse than several busy ones.  After a tree
 * is grown, the hosts of each switch are added down its path: layers in
 * reverse, O(switches).
 */
#include "plugins/common/grow.h"

#include <string.h>

#include "lib/hash.h"
#include "plugins/common/lids.h"

#define REGROW_BUDGET 40000000u /* LIDs * links below which a second round is worth its time */

struct grow {
	const struct fm_host *host;
	const struct fm_fabric *fab;
	const struct fm_arcs *arcs;
	const struct fm_order *order_of; /* NULL = no directions */
	const struct fm_tables *out;
	uint64_t scatter;	   /* 0 = by load */
	uint64_t *load;		   /* [n_links] routes so far */
	uint32_t *n_hosts;	   /* [n_switches] sources */
	const uint32_t *component; /* [n_switches] */
	/* of the destination in hand */
	bool aside;   /* aside arcs are for it */
	fm_sw *order; /* [n_order] nearest first */
	uint32_t n_order;
	uint32_t *level;   /* [n_switches] hops, FM_NONE = no path */
	uint8_t *down;	   /* [n_switches] reached going down only */
	double *cost;	   /* [n_switches] */
	fm_link *next;	   /* [n_switches] */
	uint32_t *passing; /* [n_switches] sources behind and at the switch */
	fm_sw *queue;	   /* [n_switches] */
	struct fm_paths *found;
};

/* ------------------------------------------------------------------ layers */

/* May the opposite of this arc be gone down for the destination in hand? */
static bool
is_down_back(const struct grow *g, fm_arc a)
{
	if (g->order_of == NULL)
		return true;
	return (g->order_of->way[a] & (g->aside ? FM_ARC_UP : FM_ARC_UP | FM_ARC_ASIDE)) ==
	    FM_ARC_UP;
}

static bool
is_down(const struct grow *g, fm_arc a)
{
	return (g->order_of->way[a] & (g->aside ? FM_ARC_UP : FM_ARC_UP | FM_ARC_ASIDE)) ==
	    FM_ARC_DOWN;
}

/* Switches from which root is reached going down: searched backwards, so
 * along arcs that go up (any arc without directions). */
static void
find_down(struct grow *g, fm_sw root)
{
	uint32_t head = 0;

	memset(g->level, 0xff, g->fab->n_switches * sizeof(*g->level));
	memset(g->down, 0, g->fab->n_switches);
	g->aside = g->order_of != NULL && g->order_of->aside[root];
	g->n_order = 0;
	g->order[g->n_order++] = root;
	g->level[root] = 0;
	g->down[root] = 1;
	while (head < g->n_order) {
		fm_sw v = g->order[head++];

		for (fm_arc a = g->arcs->first[v]; a < g->arcs->first[v + 1]; a++) {
			fm_sw u = g->arcs->to[a];

			if (g->level[u] != FM_NONE || !is_down_back(g, a))
				continue;
			g->level[u] = g->level[v] + 1;
			g->down[u] = 1;
			g->order[g->n_order++] = u;
		}
	}
}

static void
climb_back(struct grow *g, fm_sw v, uint32_t *tail)
{
	for (fm_arc a = g->arcs->first[v]; a < g->arcs->first[v + 1]; a++) {
		fm_sw u = g->arcs->to[a];

		if (g->level[u] != FM_NONE || fm_goes_up(g->order_of, a))
			continue;
		g->level[u] = g->level[v] + 1;
		g->queue[(*tail)++] = u;
	}
}

/* The others go up first: layers grow from all switches of find_down() at
 * once, each at its own level.  order[] becomes the merger of both. */
static void
find_up(struct grow *g)
{
	uint32_t n_down = g->n_order, i = 0, head = 0, tail = 0, n = 0;
	fm_sw *merged = g->next; /* not in use yet, same size */

	while (i < n_down || head < tail) {
		bool from_down = head == tail ||
		    (i < n_down && g->level[g->order[i]] <= g->level[g->queue[head]]);
		fm_sw v = from_down ? g->order[i++] : g->queue[head++];

		merged[n++] = v;
		climb_back(g, v, &tail);
	}
	memcpy(g->order, merged, n * sizeof(*g->order));
	g->n_order = n;
}

static bool
is_next_step(const struct grow *g, fm_sw u, fm_arc a)
{
	fm_sw v = g->arcs->to[a];

	if (g->level[v] == FM_NONE || g->level[v] + 1 != g->level[u])
		return false;
	if (g->order_of == NULL)
		return true;
	return g->down[u] ? is_down(g, a) && g->down[v] : fm_goes_up(g->order_of, a);
}

/* ------------------------------------------------------------------ choice */

/* How much of this next step the end's LIDs before lid use already: chassis,
 * switch and cable, as one number to be kept small. */
static uint32_t
sharing(const struct grow *g, fm_sw u, fm_link l, uint16_t base, uint16_t lid)
{
	const struct fm_fabric *fab = g->fab;
	uint32_t systems = 0, switches = 0, cables = 0;

	for (uint32_t other = base; other < lid; other++) {
		uint8_t port = g->out->lft[u][other];

		for (fm_link k = fab->sw_first_link[u]; k < fab->sw_first_link[u + 1]; k++) {
			if (fab->link_port[k] != port)
				continue;
			systems += fab->sw_system_guid[fab->link_to[k]] ==
			    fab->sw_system_guid[fab->link_to[l]];
			switches += fab->link_to[k] == fab->link_to[l];
			cables += k == l;
		}
	}
	return systems << 16 | switches << 8 | cables;
}

static double
cost_of(const struct grow *g, fm_link l, uint16_t lid)
{
	double load = (double)g->load[l] + 1;

	if (g->scatter != 0)
		load = (double)(fm_mix64(g->scatter ^ ((uint64_t)l << 16 | lid)) >> 40);
	return load * load;
}

static void
choose(struct grow *g, fm_sw u, uint16_t base, uint16_t lid)
{
	uint32_t least_shared = UINT32_MAX;

	g->next[u] = FM_NONE;
	for (fm_arc a = g->arcs->first[u]; a < g->arcs->first[u + 1]; a++) {
		if (!is_next_step(g, u, a))
			continue;
		for (fm_link l = g->arcs->link[a]; l < g->arcs->link[a + 1]; l++) {
			uint32_t shared = lid != base ? sharing(g, u, l, base, lid) : 0;
			double cost = cost_of(g, l, lid) + g->cost[g->arcs->to[a]];

			if (shared > least_shared ||
			    (shared == least_shared && g->next[u] != FM_NONE && cost >= g->cost[u]))
				continue;
			least_shared = shared;
			g->cost[u] = cost;
			g->next[u] = l;
		}
	}
}

/* Sources behind each switch down the tree: add (or with sign -1 remove). */
static void
add_load(struct grow *g, int sign)
{
	memcpy(g->passing, g->n_hosts, g->fab->n_switches * sizeof(*g->passing));
	for (uint32_t i = g->n_order; i-- > 1;) {
		fm_sw u = g->order[i];

		if (g->next[u] == FM_NONE)
			continue;
		g->load[g->next[u]] += (uint64_t)(int64_t)sign * g->passing[u];
		g->passing[g->fab->link_to[g->next[u]]] += g->passing[u];
	}
}

static void
take_out(struct grow *g, uint16_t lid)
{
	for (uint32_t i = 1; i < g->n_order; i++) {
		fm_sw u = g->order[i];
		uint8_t port = g->out->lft[u][lid];

		for (fm_link l = g->fab->sw_first_link[u]; l < g->fab->sw_first_link[u + 1]; l++)
			if (g->fab->link_port[l] == port)
				g->next[u] = l;
	}
	add_load(g, -1);
}

/* The trees of all LIDs of one end, whose layers are in place. */
static void
grow_end(struct grow *g, fm_end end, bool again)
{
	uint16_t base = g->fab->end_lid[end];

	for (uint32_t lid = base; lid < base + (1u << g->fab->end_lmc[end]); lid++) {
		if (again && fm_is_host(g->fab, end))
			take_out(g, (uint16_t)lid);
		g->cost[g->order[0]] = 0;
		g->next[g->order[0]] = FM_NONE;
		for (uint32_t i = 1; i < g->n_order; i++) {
			fm_sw u = g->order[i];

			choose(g, u, base, (uint16_t)lid);
			g->out->lft[u][lid] = g->fab->link_port[g->next[u]];
		}
		if (fm_is_host(g->fab, end))
			add_load(g, 1);
	}
}

/* What the layers of one destination switch tell about the fabric. */
static void
take_note(struct grow *g, fm_sw root, bool hosts)
{
	const uint32_t *part = g->component;

	if (g->level[g->order[g->n_order - 1]] > g->found->max_hops)
		g->found->max_hops = g->level[g->order[g->n_order - 1]];
	for (fm_sw u = 0; g->n_order < g->fab->n_switches && u < g->fab->n_switches; u++) {
		bool unjoined =
		    g->level[u] == FM_NONE && g->n_hosts[u] > 0 && part[u] == part[root];

		g->found->unjoined += unjoined;
		g->found->unjoined_hosts += unjoined && hosts;
	}
}

/* The i-th end of every switch; false when no switch has that many. */
static bool
grow_round(struct grow *g, uint32_t i, bool hosts, bool again)
{
	const struct fm_fabric *fab = g->fab;
	bool any = false;

	for (fm_sw sw = 0; sw < fab->n_switches && !g->host->should_stop(g->host); sw++) {
		uint32_t seen = 0;

		for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++) {
			if (fm_is_host(fab, e) != hosts || fab->end_lid[e] == 0 || seen++ != i)
				continue;
			any = true;
			find_down(g, sw);
			if (g->order_of != NULL)
				find_up(g);
			if (i == 0 && !again)
				take_note(g, sw, hosts);
			grow_end(g, e, again);
		}
	}
	return any;
}

static int
take_memory(struct grow *g, struct fm_error *err)
{
	size_t n = g->fab->n_switches;
	const struct fm_host *host = g->host;

	g->load = fm_scratch_array(host, g->fab->n_links, uint64_t);
	g->n_hosts = fm_scratch_array(host, n, uint32_t);
	g->order = fm_scratch_array(host, n, fm_sw);
	g->level = fm_scratch_array(host, n, uint32_t);
	g->down = fm_scratch_array(host, n, uint8_t);
	g->cost = fm_scratch_array(host, n, double);
	g->next = fm_scratch_array(host, n, fm_link);
	g->passing = fm_scratch_array(host, n, uint32_t);
	g->queue = fm_scratch_array(host, n, fm_sw);
	if (g->load == NULL || g->n_hosts == NULL || g->order == NULL || g->level == NULL ||
	    g->down == NULL || g->cost == NULL || g->next == NULL || g->passing == NULL ||
	    g->queue == NULL)
		return fm_no_scratch(host, "destination trees", err);
	for (fm_sw sw = 0; sw < n; sw++)
		for (fm_end e = g->fab->sw_first_end[sw]; e < g->fab->sw_first_end[sw + 1]; e++)
			g->n_hosts[sw] +=
			    fm_is_host(g->fab, e) || g->fab->end_kind[e] == FM_END_PROXY;
	return 0;
}

int
fm_grow(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_arcs *arcs,
    const uint32_t *component, const struct fm_order *order, uint64_t scatter,
    const struct fm_tables *out, struct fm_paths *found, struct fm_error *err)
{
	struct grow g = { .host = host,
		.fab = fab,
		.arcs = arcs,
		.component = component,
		.order_of = order,
		.scatter = scatter,
		.out = out,
		.found = found };
	int rc = take_memory(&g, err);

	if (rc != 0)
		return rc;
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		memset(out->lft[sw], FM_PORT_NONE, (size_t)fab->max_lid + 1);
	for (uint32_t i = 0; grow_round(&g, i, true, false); i++)
		;
	if (scatter == 0 && (uint64_t)fab->max_lid * fab->n_links < REGROW_BUDGET)
		for (uint32_t i = 0; grow_round(&g, i, true, true); i++)
			;
	for (uint32_t i = 0; grow_round(&g, i, false, false); i++)
		;
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		fm_lids_local(fab, sw, out->lft[sw]);
	for (fm_link l = 0; l < fab->n_links; l++)
		found->max_load = g.load[l] > found->max_load ? g.load[l] : found->max_load;
	if (host->should_stop(host))
		return host->fail(
		    err, FM_E_CANCELLED, "stopped while destination trees were grown");
	return 0;
}
