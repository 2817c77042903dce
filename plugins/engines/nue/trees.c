/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One destination tree after the other, layer by layer from its root: a switch
 * takes, of the neighbours settled in the layer before, one that leaves room
 * for those farther out (room.c), of these the one from which the path bears
 * the least load (as plugins/common/sssp/sssp_greedy.c), and of these the first that is
 * admitted.  A switch that all of them refuse waits for the next layer, a path
 * longer by one.
 *
 * Where there is one shortest path, as mostly on graphs of low diameter, all LIDs of
 * an end would go by it.  So in the trees of alternates some switches wait for the next
 * layer of themselves: they go round, by a neighbour that is as near to the root as they
 * are and goes straight (layered routing: Besta et al., "FatPaths", SC 2020; Blach et
 * al., NSDI 2024).  Who goes straight is dealt by chance of a fixed seed, others for each
 * LID of an end; a switch with a shortest way that is left needs not go round.
 *
 * An impasse, switches left that no settled neighbour can serve, is ended by
 * forcing the escape path of one of them and growing the tree again around it.
 * Each time more of the tree is forced; all of it is the escape tree.
 *
 * With one VL there are none: a step up never makes a valley, so that only the
 * top of the component could be left, and what is forced then, the way down
 * the escape tree from the top to the root, lets it be settled.
 */
#include <string.h>

#include "lib/hash.h"
#include "plugins/engines/nue/nue.h"

/* So many of so many switches go straight by chance. */
#define STRAIGHT 3u
#define SHARES 8u
#define MOST_ROUND 4	    /* switches that are to go round by one */
#define FORCE_ONE_BY_ONE 12 /* impasses of a tree before all stuck switches are forced */
#define FEW_IMPASSES 64	    /* always fine; and one in so many trees: */
#define TREES_AN_IMPASSE 16

/* ------------------------------------------------------------------ choice */

/* How many of the end's LIDs before this one take the same cable here. */
static uint32_t
sharing(const struct nue_trees *g, fm_sw u, fm_link l)
{
	uint8_t port = g->graph->fab->link_port[l];
	uint32_t n = 0;

	if (g->base == g->lid)
		return 0;
	for (uint32_t lid = g->base; g->out != NULL && lid < g->lid; lid++)
		n += g->out->lft[u][lid] == port;
	return n;
}

static double
cost_of(const struct nue_trees *g, fm_sw u, fm_link l)
{
	double load = (double)(g->load[l] + 1) * (1 + sharing(g, u, l));

	return load * load;
}

struct step {
	unsigned valleys; /* of the path with it */
	unsigned excess;  /* turns of that beyond the switch's room */
	double cost;
	fm_arc arc;
	fm_link cable;
};

static bool
is_before(const struct step *a, const struct step *b)
{
	if (a->excess != b->excess)
		return a->excess < b->excess;
	return a->cost < b->cost || (a->cost == b->cost && a->arc < b->arc);
}

/* Is it what the trees to follow take? */
static bool
leads_by(const struct nue_trees *g, fm_sw u, fm_arc a)
{
	const struct fm_sssp_trees *lead = g->lead;

	return lead != NULL && g->n_beside == 0 && fm_sssp_arc(lead, lead->first[g->root], u) == a;
}

static struct step
step_by(const struct nue_trees *g, fm_sw u, fm_arc a)
{
	const struct fm_arcs *arcs = g->graph->arcs;
	fm_sw v = arcs->to[a];
	bool climbs = g->rank->climbs[a];
	unsigned valleys = g->valleys[v] + (!climbs && g->climbing[v]);
	unsigned turns = 2 * valleys + climbs, room = g->room_left[u];
	struct step s = { .arc = a, .valleys = valleys, .excess = turns > room ? turns - room : 0 };

	for (fm_link l = arcs->link[a]; l < arcs->link[a + 1]; l++) {
		double cost = cost_of(g, u, l);

		if (l > arcs->link[a] && cost >= s.cost)
			continue;
		s.cost = cost;
		s.cable = l;
	}
	s.cost += g->cost[v];
	if (leads_by(g, u, a))
		s.cost = 0;
	return s;
}

/* The best of the steps found for u that comes after `last`; arc FM_NONE: none is left. */
static struct step
next_step(const struct nue_trees *g, fm_sw u, const struct step *last)
{
	struct step best = { .arc = FM_NONE };

	for (fm_arc a = g->found[u]; a != FM_NONE; a = g->found_before[a]) {
		struct step s;

		if (g->forced[u] != FM_NONE && g->forced[u] != a)
			continue;
		s = step_by(g, u, a);
		if ((last->arc == FM_NONE || is_before(last, &s)) &&
		    (best.arc == FM_NONE || is_before(&s, &best)))
			best = s;
	}
	return best;
}

static bool
admit(struct nue_trees *g, fm_sw u, fm_arc a, unsigned valleys, bool move)
{
	unsigned most = g->lanes != NULL ? g->lanes->n_vls - 1 : 0;
	uint32_t n = 0;

	if (valleys > most)
		return false;
	if (g->lanes == NULL || g->graph->n_sources[u] == 0)
		return true;
	g->path[n++] = a;
	for (fm_sw v = g->graph->arcs->to[a]; v != g->root; v = g->graph->arcs->to[g->next[v]])
		g->path[n++] = g->next[v];
	return nue_lanes_admit(g->lanes, u, g->root, g->path, n, move);
}

static bool
settle_switch(struct nue_trees *g, fm_sw u, uint32_t layer, bool move)
{
	struct step s = { .arc = FM_NONE };

	while ((s = next_step(g, u, &s)).arc != FM_NONE) {
		if (!admit(g, u, s.arc, s.valleys, move))
			continue;
		g->level[u] = layer + 1;
		g->cost[u] = s.cost;
		g->valleys[u] = (uint8_t)s.valleys;
		g->climbing[u] = g->rank->climbs[s.arc];
		g->next[u] = s.arc;
		g->cable[u] = s.cable;
		g->order[g->n_order++] = u;
		return true;
	}
	return false;
}

/* ------------------------------------------------------------------- layers */

/* Those beside the layer's switches, order[from..to-1], into waiting[], and the steps
 * from them into the layer into found[]. */
static uint32_t
find_candidates(struct nue_trees *g, uint32_t from, uint32_t to, uint32_t layer)
{
	const struct fm_arcs *arcs = g->graph->arcs;
	uint32_t n = 0;

	for (uint32_t i = from; i < to; i++) {
		fm_sw v = g->order[i];

		for (fm_arc a = arcs->first[v]; a < arcs->first[v + 1]; a++) {
			fm_sw u = arcs->to[a];
			fm_arc step = g->graph->reverse[a];

			if (g->level[u] != FM_NONE)
				continue;
			if (g->asked[u] != layer) {
				g->asked[u] = layer;
				g->found[u] = FM_NONE;
				g->waiting[n++] = u;
			}
			g->found_before[step] = g->found[u];
			g->found[u] = step;
		}
	}
	return n;
}

static void
find_hops(struct nue_trees *g)
{
	const struct fm_arcs *arcs = g->graph->arcs;
	uint32_t n = 0;

	if (g->detour_root == g->root)
		return;
	g->detour_root = g->root;
	memset(g->hops, 0xff, arcs->n_switches * sizeof(*g->hops));
	g->hops[g->root] = 0;
	g->waiting[n++] = g->root;
	for (uint32_t i = 0; i < n; i++) {
		fm_sw u = g->waiting[i];

		for (fm_arc a = arcs->first[u]; a < arcs->first[u + 1]; a++)
			if (g->hops[arcs->to[a]] == FM_NONE) {
				g->hops[arcs->to[a]] = g->hops[u] + 1;
				g->waiting[n++] = arcs->to[a];
			}
	}
}

/* Cables to switches that are nearer to the root. */
static uint32_t
count_nearer(const struct nue_trees *g, fm_sw u)
{
	const struct fm_arcs *arcs = g->graph->arcs;
	uint32_t n = 0;

	for (fm_arc a = arcs->first[u]; a < arcs->first[u + 1]; a++)
		if (g->hops[arcs->to[a]] + 1 == g->hops[u])
			n += fm_arc_width(arcs, a);
	return n;
}

/* By chance, the shares of an end's LIDs apart. */
static bool
draws_straight(const struct nue_trees *g, fm_sw u)
{
	uint64_t of = (uint64_t)u << 32 | g->base;

	return g->n_beside > 1 &&
	    (fm_mix64(of) + STRAIGHT * (uint64_t)(g->lid - g->base)) % SHARES < STRAIGHT;
}

/* A switch as near as u, by which few go; or FM_NONE. */
static fm_sw
find_way_round(const struct nue_trees *g, fm_sw u)
{
	const struct fm_arcs *arcs = g->graph->arcs;
	fm_sw best = FM_NONE;

	for (fm_arc a = arcs->first[u]; a < arcs->first[u + 1]; a++) {
		fm_sw v = arcs->to[a];

		if (g->straight[v] && g->hops[v] == g->hops[u] && g->n_round[v] < MOST_ROUND &&
		    (best == FM_NONE || g->n_round[v] < g->n_round[best]))
			best = v;
	}
	return best;
}

/*
 * Who goes straight: switches with a shortest way that no LID of the end before this one takes;
 * with several alternates some by chance; and of the others, one after the other, those that are
 * beside none of these by which few go.
 */
static void
deal_straight(struct nue_trees *g)
{
	uint32_t n = g->graph->arcs->n_switches, from = (uint32_t)(fm_mix64(g->lid) % n);

	memset(g->n_round, 0, n);
	for (fm_sw u = 0; u < n; u++)
		g->straight[u] =
		    count_nearer(g, u) > (uint32_t)(g->lid - g->base) || draws_straight(g, u);
	for (uint32_t i = 0; i < n; i++) {
		fm_sw u = g->dealt[(from + i) % n], by;

		if (g->straight[u])
			continue;
		by = find_way_round(g, u);
		g->straight[u] = by == FM_NONE;
		if (by != FM_NONE)
			g->n_round[by]++;
	}
}

/* Does it wait for the next layer, as a neighbour in this one goes straight? */
static bool
goes_round(const struct nue_trees *g, fm_sw u, uint32_t layer)
{
	return g->n_beside > 0 && g->hops[u] == layer + 1 && g->forced[u] == FM_NONE &&
	    !g->straight[u];
}

static void
grow_layers(struct nue_trees *g)
{
	uint32_t n = g->graph->fab->n_switches, from = 0;
	uint32_t n_members = g->graph->n_members[g->graph->component[g->root]];

	memset(g->level, 0xff, n * sizeof(*g->level));
	memset(g->asked, 0xff, n * sizeof(*g->asked));
	g->level[g->root] = 0;
	g->cost[g->root] = 0;
	g->next[g->root] = FM_NONE;
	g->valleys[g->root] = g->climbing[g->root] = 0;
	g->room_left = g->room->room + (size_t)g->root * n;
	g->order[0] = g->root;
	g->n_order = 1;
	for (uint32_t layer = 0; from < g->n_order && g->n_order < n_members; layer++) {
		uint32_t to = g->n_order, n_waiting = find_candidates(g, from, to, layer);

		for (uint32_t i = 0; i < n_waiting; i++)
			if (!goes_round(g, g->waiting[i], layer) &&
			    !settle_switch(g, g->waiting[i], layer, false) && g->lanes != NULL)
				settle_switch(g, g->waiting[i], layer, true);
		from = to;
	}
}

/* ------------------------------------------------------------------- escape */

/* The trunk: from the top of the component down the escape tree to the root. */
static void
force_trunk(struct nue_trees *g)
{
	const fm_arc *up = g->rank->up;

	for (fm_sw s = g->root; up[s] != FM_NONE; s = g->graph->arcs->to[up[s]])
		g->forced[g->graph->arcs->to[up[s]]] = g->graph->reverse[up[s]];
}

/* From u up the escape tree to what is forced already; how many were not. */
static uint32_t
force_path(struct nue_trees *g, fm_sw u, bool only_count)
{
	uint32_t n = 0;

	while (g->forced[u] == FM_NONE && u != g->root) {
		if (!only_count)
			g->forced[u] = g->rank->up[u];
		u = g->graph->arcs->to[g->rank->up[u]];
		n++;
	}
	return n;
}

static bool
is_stuck(const struct nue_trees *g, fm_sw s)
{
	return g->level[s] == FM_NONE && g->graph->component[s] == g->graph->component[g->root];
}

/* Of the stuck switches force the one whose escape path adds least, or all.
 * False: there are none. */
static bool
end_impasse(struct nue_trees *g, bool all)
{
	uint32_t n = g->graph->fab->n_switches, least = FM_NONE;
	fm_sw best = FM_NONE;

	if (g->n_order == g->graph->n_members[g->graph->component[g->root]])
		return false;
	for (fm_sw s = 0; s < n; s++) {
		uint32_t length;

		if (!is_stuck(g, s))
			continue;
		if (best == FM_NONE)
			force_trunk(g);
		length = force_path(g, s, !all);
		if (best != FM_NONE && length >= least)
			continue;
		least = length;
		best = s;
	}
	if (best == FM_NONE)
		return false;
	force_path(g, best, false);
	return true;
}

/* ---------------------------------------------------------------------- all */

static void
add_load(struct nue_trees *g)
{
	memcpy(g->passing, g->graph->n_hosts, g->graph->fab->n_switches * sizeof(*g->passing));
	for (uint32_t i = g->n_order; i-- > 1;) {
		fm_sw u = g->order[i];

		g->load[g->cable[u]] += g->passing[u];
		g->passing[g->graph->arcs->to[g->next[u]]] += g->passing[u];
	}
}

static void
keep(struct nue_trees *g)
{
	for (uint32_t i = 1; g->out != NULL && i < g->n_order; i++) {
		fm_sw u = g->order[i];

		g->out->lft[u][g->lid] = g->graph->fab->link_port[g->cable[u]];
	}
	if (g->lanes != NULL)
		g->lanes->placed[g->lid] = 1;
}

bool
nue_tree_grow(struct nue_trees *g, fm_sw root, uint16_t base, uint16_t lid, bool counts)
{
	uint32_t n_tries = 0;

	g->root = root;
	g->base = base;
	g->lid = lid;
	g->n_trees++;
	if (g->n_beside > 0) {
		find_hops(g);
		deal_straight(g);
	}
	memset(g->forced, 0xff, g->graph->fab->n_switches * sizeof(*g->forced));
	if (g->lanes != NULL)
		nue_lanes_mark(g->lanes);
	grow_layers(g);
	while (end_impasse(g, n_tries >= FORCE_ONE_BY_ONE)) {
		g->n_impasses++;
		if (n_tries++ > FORCE_ONE_BY_ONE ||
		    (g->lanes != NULL &&
			g->n_impasses > FEW_IMPASSES + g->n_trees / TREES_AN_IMPASSE))
			return false;
		if (g->lanes != NULL)
			nue_lanes_undo(g->lanes);
		grow_layers(g);
	}
	keep(g);
	if (counts)
		add_load(g);
	return true;
}

/* The load of the routes to a LID as the tables have them, added or (sign -1) taken away. */
static void
weigh(struct nue_trees *g, fm_sw root, uint16_t lid, int sign)
{
	const struct nue_graph *graph = g->graph;

	for (fm_sw s = 0; s < graph->fab->n_switches; s++)
		for (fm_sw u = s; graph->n_hosts[s] > 0 && u != root;) {
			uint8_t port = g->out->lft[u][lid];
			fm_arc a = port == FM_PORT_NONE
			    ? FM_NONE
			    : graph->port_arc[graph->port_base[u] + port];
			fm_link l;

			if (a == FM_NONE)
				break;
			for (l = graph->arcs->link[a]; graph->fab->link_port[l] != port;)
				l++;
			g->load[l] += (uint64_t)((int64_t)sign * graph->n_hosts[s]);
			u = graph->arcs->to[a];
		}
}

void
nue_tree_regrow(struct nue_trees *g, fm_sw root, uint16_t base, uint16_t lid)
{
	weigh(g, root, lid, -1);
	if (!nue_tree_grow(g, root, base, lid, true))
		weigh(g, root, lid, 1);
}

void
nue_tree_repeat(struct nue_trees *g, uint16_t lid, bool counts)
{
	for (uint32_t i = 1; g->out != NULL && i < g->n_order; i++) {
		fm_sw u = g->order[i];

		g->out->lft[u][lid] = g->graph->fab->link_port[g->cable[u]];
	}
	if (counts)
		add_load(g);
}

uint64_t
nue_trees_load(const struct nue_trees *g, double *mean)
{
	uint64_t max = 0, sum = 0;
	uint32_t n = g->graph->fab->n_links;

	for (fm_link l = 0; l < n; l++) {
		max = g->load[l] > max ? g->load[l] : max;
		sum += g->load[l];
	}
	*mean = n > 0 ? (double)sum / n : 0;
	return max;
}

void
nue_trees_begin(struct nue_trees *g, struct nue_lanes *lanes, const struct fm_tables *out)
{
	g->lanes = lanes;
	g->out = out;
	g->n_trees = g->n_impasses = 0;
	memset(g->load, 0, g->graph->fab->n_links * sizeof(*g->load));
}

int
nue_trees_new(const struct fm_host *host, const struct nue_graph *graph,
    const struct nue_rank *rank, const struct nue_room *room, struct nue_trees *out,
    struct fm_error *err)
{
	size_t n = graph->fab->n_switches;

	*out = (struct nue_trees){ .graph = graph,
		.rank = rank,
		.room = room,
		.detour_root = FM_NONE,
		.hops = fm_scratch_array(host, n, uint32_t),
		.straight = fm_scratch_array(host, n, uint8_t),
		.n_round = fm_scratch_array(host, n, uint8_t),
		.dealt = fm_scratch_array(host, n, fm_sw),
		.load = fm_scratch_array(host, graph->fab->n_links, uint64_t),
		.order = fm_scratch_array(host, n, fm_sw),
		.level = fm_scratch_array(host, n, uint32_t),
		.asked = fm_scratch_array(host, n, uint32_t),
		.found = fm_scratch_array(host, n, fm_arc),
		.found_before = fm_scratch_array(host, graph->arcs->n_arcs, fm_arc),
		.cost = fm_scratch_array(host, n, double),
		.next = fm_scratch_array(host, n, fm_arc),
		.cable = fm_scratch_array(host, n, fm_link),
		.forced = fm_scratch_array(host, n, fm_arc),
		.valleys = fm_scratch_array(host, n, uint8_t),
		.climbing = fm_scratch_array(host, n, uint8_t),
		.waiting = fm_scratch_array(host, n, fm_sw),
		.path = fm_scratch_array(host, n, fm_arc),
		.passing = fm_scratch_array(host, n, uint32_t) };
	if (out->hops == NULL || out->straight == NULL || out->n_round == NULL ||
	    out->dealt == NULL || out->load == NULL || out->order == NULL || out->level == NULL ||
	    out->asked == NULL || out->found == NULL || out->found_before == NULL ||
	    out->cost == NULL || out->next == NULL || out->cable == NULL || out->forced == NULL ||
	    out->valleys == NULL || out->climbing == NULL || out->waiting == NULL ||
	    out->path == NULL || out->passing == NULL)
		return fm_no_scratch(host, "destination trees", err);
	for (fm_sw s = 0; s < n; s++) { /* Fisher and Yates */
		fm_sw other = (fm_sw)(fm_mix64(s) % (s + 1));

		out->dealt[s] = out->dealt[other];
		out->dealt[other] = s;
	}
	return 0;
}
