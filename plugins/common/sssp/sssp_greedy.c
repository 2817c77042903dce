/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SSSP (sssp.h) tree by tree, but without a heap where all links are equally long: a
 * switch is settled when all that are nearer are, by looking at its next steps once (steps.h).
 *
 *	cost(u) = min over next steps u -> v of load(u -> v)^2 + cost(v)
 *
 * Squares make one crowded link worse than several busy ones.  With detours it is
 * fm_detour_cost() of the link, by which a hop more is worth a crowded link less.  After a tree
 * is grown, the hosts of each switch are added down its path: the farthest
 * first, O(switches).
 */
#include "plugins/common/sssp/sssp_internal.h"

#include <string.h>

#include "lib/bitset.h"
#include "lib/hash.h"
#include "plugins/common/paths/lids.h"
#include "plugins/common/sssp/divergence.h"
#include "plugins/common/sssp/estimate.h"

#define REGROW_BUDGET 40000000u /* LIDs * links below which a second round is worth its time */

struct greedy {
	const struct fm_host *host;
	const struct fm_fabric *fab;
	const struct fm_arcs *arcs;
	const struct fm_sssp_plan *plan;
	const struct fm_tables *out;
	struct fm_paths *found;
	uint64_t *load;		      /* [n_links] routes so far */
	uint64_t sum;		      /* of load[] */
	uint32_t *n_hosts;	      /* [n_switches] sources that load links */
	uint8_t *sources;	      /* [n_switches] has any source */
	fm_end *to_hosts, *to_others; /* destinations in turn */
	uint32_t n_to_hosts, n_to_others;
	uint64_t *listed; /* bitset [n_ends] is one of choice.first */
	uint8_t *noted;	  /* [n_switches] bits of the spaces whose paths were looked at */
	/* of the destination in hand */
	struct fm_steps steps;
	struct fm_divergence divergence;
	uint64_t scatter;  /* seed of the turns among equals; 0: as the links stand */
	uint32_t offset;   /* of the LID */
	double mean;	   /* load of a link, at least one route */
	fm_link *next;	   /* [n_switches] of the LID: one of the trees of divergence */
	double *cost;	   /* [n_switches] */
	uint32_t *hops;	   /* [n_switches] links to it */
	uint32_t *passing; /* [n_switches] sources behind and at the switch */
	bool beside;	   /* base LIDs are in the tables, and stay */
};

/* ------------------------------------------------------------------ choice */

/* A next step, least first. */
struct merit {
	uint64_t shared;
	double cost;
	uint32_t turn;
};

static bool
is_better(const struct merit *a, const struct merit *b)
{
	if (a->shared != b->shared)
		return a->shared < b->shared;
	if (a->cost < b->cost || a->cost > b->cost)
		return a->cost < b->cost;
	return a->turn < b->turn;
}

/* Of going to a neighbour by the link, and on from there; what scatters asks for the load of the
 * link alone, as OpenSM does: what lies behind it would leave few choices. */
static double
cost_of(const struct greedy *g, fm_link l, fm_sw to)
{
	double load = (double)g->load[l] + 1;

	if (g->scatter != 0)
		return load;
	if (g->plan->rule.detours)
		return fm_detour_cost((double)g->load[l] / g->mean) + g->cost[to];
	return load * load + g->cost[to];
}

/* Of a LID all switches like the same neighbours, so that the hosts of a switch, which follow one
 * another, come down to it by different ways; of several cables each switch likes its own. */
static uint32_t
turn_by_chance(const struct greedy *g, fm_link l, uint16_t lid)
{
	uint64_t neighbour = g->fab->link_to[l];

	return (uint32_t)fm_mix64(g->scatter ^ (neighbour << 16 | lid)) << 8 |
	    (uint8_t)fm_mix64(g->scatter ^ ((uint64_t)l << 16 | lid));
}

/* Where the link stands among equals. */
static uint32_t
turn_of(const struct greedy *g, fm_sw u, fm_link l, uint16_t lid)
{
	const fm_link *first = g->fab->sw_first_link + u;
	uint32_t n = first[1] - first[0], turn = l - first[0];

	if (g->scatter != 0)
		return turn_by_chance(g, l, lid);
	if (g->plan->choice.search != NULL)
		turn = g->plan->choice.search[l];
	if (g->plan->choice.shift)
		turn = (turn + n - (u + lid) % n) % n;
	return turn;
}

static void
choose(struct greedy *g, fm_sw u, uint16_t lid)
{
	struct merit best = { .shared = UINT64_MAX };

	g->next[u] = FM_NONE;
	for (fm_arc a = g->arcs->first[u]; a < g->arcs->first[u + 1]; a++) {
		if (!fm_is_step(&g->steps, u, a))
			continue;
		for (fm_link l = g->arcs->link[a]; l < g->arcs->link[a + 1]; l++) {
			struct merit m = { .cost = cost_of(g, l, g->arcs->to[a]),
				.turn = turn_of(g, u, l, lid) };

			if (!fm_is_step_link(&g->steps, a, l))
				continue;
			if (g->offset > 0)
				m.shared = fm_divergence_shared(&g->divergence, g->offset, u, l);
			if (!is_better(&m, &best))
				continue;
			best = m;
			g->next[u] = l;
		}
	}
	g->cost[u] = best.cost;
}

static bool
is_ignored(const uint64_t *set, uint32_t i)
{
	return set != NULL && fm_bit_test(set, i);
}

/* Sources behind each switch down the tree: add (or with sign -1 remove). */
static void
add_load(struct greedy *g, int sign)
{
	memcpy(g->passing, g->n_hosts, g->fab->n_switches * sizeof(*g->passing));
	for (uint32_t i = g->steps.n_near; i-- > 1;) {
		fm_sw u = g->steps.near[i];
		fm_link l = g->next[u];

		if (l == FM_NONE)
			continue;
		if (!is_ignored(g->plan->choice.ignore_links, l)) {
			g->load[l] += (uint64_t)(int64_t)sign * g->passing[u];
			g->sum += (uint64_t)(int64_t)sign * g->passing[u];
		}
		g->passing[g->fab->link_to[l]] += g->passing[u];
	}
}

static void
take_out(struct greedy *g, uint16_t lid)
{
	for (uint32_t i = 1; i < g->steps.n_near; i++) {
		fm_sw u = g->steps.near[i];
		fm_link l = fm_link_at(g->fab, u, g->out->lft[u][lid]);

		if (l != FM_NONE)
			g->next[u] = l;
	}
	add_load(g, -1);
}

static bool
is_loading(const struct greedy *g, fm_end end)
{
	return fm_is_host(g->fab, end) && !is_ignored(g->plan->choice.ignore_ends, end);
}

static void
note_hops(struct greedy *g, fm_sw u)
{
	g->hops[u] = g->hops[g->fab->link_to[g->next[u]]] + 1;
	if (g->hops[u] > g->found->max_hops)
		g->found->max_hops = g->hops[u];
}

static void
read_tree(const struct greedy *g, uint16_t lid, fm_link *next)
{
	for (fm_sw u = 0; u < g->fab->n_switches; u++)
		next[u] = fm_link_at(g->fab, u, g->out->lft[u][lid]);
}

/* What base LIDs bear that are in the tables, path by path: these may be any legal ones. */
static void
count_base_load(struct greedy *g)
{
	fm_link *next = fm_divergence_tree(&g->divergence, 0), l;

	for (uint32_t i = 0; i < g->n_to_hosts; i++) {
		fm_end end = g->to_hosts[i];

		read_tree(g, g->fab->end_lid[end], next);
		for (fm_sw s = 0; is_loading(g, end) && s < g->fab->n_switches; s++)
			for (fm_sw u = s; g->n_hosts[s] > 0 && (l = next[u]) != FM_NONE;
			     u = g->fab->link_to[l])
				if (!is_ignored(g->plan->choice.ignore_links, l)) {
					g->load[l] += g->n_hosts[s];
					g->sum += g->n_hosts[s];
				}
	}
}

/* The trees of all LIDs of one end, whose next steps are in place. */
static void
grow_end(struct greedy *g, fm_end end, bool again)
{
	uint16_t base = g->fab->end_lid[end];

	g->scatter = g->plan->choice.scatter;
	if (g->plan->choice.first_by_load && fm_bit_test(g->listed, end))
		g->scatter = 0;
	if (g->beside)
		read_tree(g, base, fm_divergence_tree(&g->divergence, 0));
	for (g->offset = g->beside; g->offset < 1u << g->fab->end_lmc[end]; g->offset++) {
		uint16_t lid = (uint16_t)(base + g->offset);

		g->next = fm_divergence_tree(&g->divergence, g->offset);
		if (again && is_loading(g, end))
			take_out(g, lid);
		g->mean = g->sum > g->fab->n_links ? (double)g->sum / g->fab->n_links : 1;
		g->cost[g->steps.root] = 0;
		g->next[g->steps.root] = FM_NONE;
		g->hops[g->steps.root] = 0;
		for (uint32_t i = 1; i < g->steps.n_near; i++) {
			fm_sw u = g->steps.near[i];

			choose(g, u, lid);
			g->out->lft[u][lid] = g->fab->link_port[g->next[u]];
			note_hops(g, u);
		}
		if (is_loading(g, end))
			add_load(g, 1);
	}
}

/* What the distances to one destination switch tell about the fabric. */
static void
take_note(struct greedy *g, bool hosts)
{
	const struct fm_steps *s = &g->steps;
	const uint32_t *part = g->plan->component;
	uint8_t bit = hosts ? 1 : 2;

	if (g->noted[s->root] & bit)
		return;
	g->noted[s->root] |= bit;
	for (fm_sw u = 0; s->n_near < g->fab->n_switches && u < g->fab->n_switches; u++) {
		bool unjoined =
		    s->distance[u] == FM_NONE && g->sources[u] && part[u] == part[s->root];

		g->found->unjoined += unjoined;
		g->found->unjoined_hosts += unjoined && hosts;
	}
}

static void
grow_all(struct greedy *g, const fm_end *ends, uint32_t n, bool again)
{
	for (uint32_t i = 0; i < n && !g->host->should_stop(g->host); i++) {
		if (again && fm_bit_test(g->listed, ends[i]))
			continue;
		fm_steps_find(&g->steps, g->fab->end_sw[ends[i]]);
		take_note(g, fm_is_host(g->fab, ends[i]));
		grow_end(g, ends[i], again);
	}
}

/* ------------------------------------------------------------------- turns */

static bool
is_in_turn(const struct greedy *g, fm_end e, bool hosts)
{
	return fm_is_host(g->fab, e) == hosts && g->fab->end_lid[e] != 0 &&
	    g->fab->end_sw[e] != FM_NONE;
}

/* The next end of the switch, if it has one. */
static bool
take_next(const struct greedy *g, bool hosts, fm_sw s, fm_end *at, fm_end *next)
{
	fm_end last = g->fab->sw_first_end[s + 1];

	while (*at < last && (!is_in_turn(g, *at, hosts) || fm_bit_test(g->listed, *at)))
		(*at)++;
	*next = *at;
	return *at < last && (*at)++ < last;
}

/* Those listed, then the first of every switch, then the second of every one ...; what scatters
 * takes switch by switch. */
static uint32_t
list_in_turn(const struct greedy *g, bool hosts, fm_end *at, fm_end *list)
{
	const struct fm_fabric *fab = g->fab;
	uint32_t n = 0, before;

	for (uint32_t i = 0; i < g->plan->choice.n_first; i++)
		if (is_in_turn(g, g->plan->choice.first[i], hosts))
			list[n++] = g->plan->choice.first[i];
	memcpy(at, fab->sw_first_end, fab->n_switches * sizeof(*at));
	do {
		before = n;
		for (fm_sw s = 0; s < fab->n_switches; s++)
			while (take_next(g, hosts, s, &at[s], &list[n])) {
				n++;
				if (g->plan->choice.scatter == 0)
					break;
			}
	} while (n > before);
	return n;
}

static int
list_destinations(struct greedy *g, struct fm_error *err)
{
	const struct fm_fabric *fab = g->fab;
	fm_end *at = fm_scratch_array(g->host, fab->n_switches, fm_end);

	g->to_hosts = fm_scratch_array(g->host, fab->n_ends, fm_end);
	g->to_others = fm_scratch_array(g->host, fab->n_ends, fm_end);
	g->listed = fm_scratch_array(g->host, FM_BITSET_WORDS(fab->n_ends), uint64_t);
	if (at == NULL || g->to_hosts == NULL || g->to_others == NULL || g->listed == NULL)
		return fm_no_scratch(g->host, "order of destinations", err);
	for (uint32_t i = 0; i < g->plan->choice.n_first; i++)
		fm_bit_set(g->listed, g->plan->choice.first[i]);
	g->n_to_hosts = list_in_turn(g, true, at, g->to_hosts);
	g->n_to_others = list_in_turn(g, false, at, g->to_others);
	return 0;
}

static int
count_sources(struct greedy *g, struct fm_error *err)
{
	const struct fm_fabric *fab = g->fab;

	g->n_hosts = fm_scratch_array(g->host, fab->n_switches, uint32_t);
	g->sources = fm_scratch_array(g->host, fab->n_switches, uint8_t);
	if (g->n_hosts == NULL || g->sources == NULL)
		return fm_no_scratch(g->host, "sources of traffic", err);
	for (fm_end e = 0; e < fab->n_ends; e++) {
		fm_sw s = fab->end_sw[e];

		if (s == FM_NONE || !fm_sends(fab, e))
			continue;
		g->sources[s] = 1;
		g->n_hosts[s] += !is_ignored(g->plan->choice.ignore_ends, e);
	}
	return 0;
}

static int
take_memory(struct greedy *g, struct fm_error *err)
{
	size_t n = g->fab->n_switches;

	g->load = fm_scratch_array(g->host, g->fab->n_links, uint64_t);
	g->noted = fm_scratch_array(g->host, n, uint8_t);
	g->cost = fm_scratch_array(g->host, n, double);
	g->hops = fm_scratch_array(g->host, n, uint32_t);
	g->passing = fm_scratch_array(g->host, n, uint32_t);
	if (g->load == NULL || g->noted == NULL || g->cost == NULL || g->hops == NULL ||
	    g->passing == NULL)
		return fm_no_scratch(g->host, "destination trees", err);
	return 0;
}

int
fm_sssp_greedy(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_sssp_plan *plan, bool beside, const struct fm_tables *out,
    struct fm_paths *found, struct fm_error *err)
{
	struct greedy g = { .host = host,
		.fab = fab,
		.arcs = plan->arcs,
		.plan = plan,
		.out = out,
		.found = found,
		.beside = beside };
	int rc;

	*found = (struct fm_paths){ 0 };
	if ((rc = take_memory(&g, err)) != 0 ||
	    (rc = fm_steps_init(host, fab, plan->arcs, plan->rule, &g.steps, err)) != 0 ||
	    (rc = fm_divergence_init(host, &g.steps, &g.divergence, err)) != 0 ||
	    (rc = count_sources(&g, err)) != 0 || (rc = list_destinations(&g, err)) != 0)
		return rc;
	for (fm_sw sw = 0; !beside && sw < fab->n_switches; sw++)
		memset(out->lft[sw], FM_PORT_NONE, (size_t)fab->max_lid + 1);
	if (beside)
		count_base_load(&g);
	grow_all(&g, g.to_hosts, g.n_to_hosts, false);
	if (plan->choice.scatter == 0 &&
	    (uint64_t)fm_count_lids(fab) * fab->n_links < REGROW_BUDGET)
		grow_all(&g, g.to_hosts, g.n_to_hosts, true);
	grow_all(&g, g.to_others, g.n_to_others, false);
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		fm_lids_local(fab, sw, out->lft[sw]);
	if (host->should_stop(host))
		return host->fail(
		    host, err, FM_E_CANCELLED, "stopped while destination trees were grown");
	return 0;
}
