/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/engine/composed.h - a fabric put together from generated parts, each a region
 * with engines of its own; and a judge that shares nothing with the core's: it takes
 * every packet hop by hop, with its SL and the SL2VL tables, and sorts the channels.
 */
#ifndef TESTS_ENGINE_COMPOSED_H
#define TESTS_ENGINE_COMPOSED_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/engine/plugin.h"
#include "core/plan/plan.h"
#include "core/regions/regions.h"
#include "core/route/route.h"
#include "lab/topo/netlist.h"
#include "lib/error.h"
#include "lib/rng.h"
#include "tests/unit/generate_words.h"

#define MOST_REGIONS 34
#define MOST_ENTRIES 4
#define SPARE_PORTS 60u
#define LANE_MBPS 25000

static struct engine_set engines;

/* All that are built; false: they cannot be loaded. */
static inline bool
load_engines(void)
{
	const char *dirs[] = { "plugins/engines/.libs", NULL };
	struct fm_error err = { 0 };

	if (engine_set_load(&engines, dirs, &err) == 0)
		return true;
	fprintf(stderr, "%s\n", err.msg);
	return false;
}

struct composed {
	struct netlist nl;
	FM_VEC(uint16_t) region_of; /* by node */
	struct chain_entry entry[MOST_REGIONS][MOST_ENTRIES];
	struct region region[MOST_REGIONS];
	char name[MOST_REGIONS][16];
	struct region_set set;
	struct router router;
	struct snapshot *snap;
	uint16_t *sw_region;
	struct plan *plan;
	uint8_t lmc;
};

/* Nodes first .. first + n - 1. */
struct part {
	uint32_t first, n;
};

static inline void
composed_init(struct composed *c, unsigned workers)
{
	struct fm_error err = { 0 };

	memset(c, 0, sizeof(*c));
	ck_assert_msg(router_init(&c->router, workers, &err) == 0, "%s", err.msg);
	c->set.region = c->region;
}

/* From now on nothing is repaired: events are composed anew. */
static inline void
repair_nothing(struct composed *c)
{
	c->router.skip_repairs = true;
}

static inline void
composed_fini(struct composed *c)
{
	plan_put(c->plan);
	snapshot_put(c->snap);
	free(c->sw_region);
	netlist_fini(&c->nl);
	fm_vec_fini(&c->region_of);
	router_fini(&c->router);
}

/* A region routed by engines, a list "a,b". */
static inline uint16_t
add_region(struct composed *c, const char *list)
{
	uint16_t at = (uint16_t)c->set.n_regions++;
	char words[64], *word = words;
	struct chain *chain = &c->region[at].chain;

	ck_assert_int_lt(at, MOST_REGIONS);
	snprintf(c->name[at], sizeof(c->name[at]), at == 0 ? "default" : "r%u", at);
	c->region[at].name = c->name[at];
	chain->entries = c->entry[at];
	chain->fallback = true;
	snprintf(words, sizeof(words), "%s", list);
	while (word != NULL && *word != '\0') {
		char *end = strchr(word, ',');
		struct chain_entry *e = &c->entry[at][chain->n_entries++];

		if (end != NULL)
			*end++ = '\0';
		e->engine = engine_find(&engines, word);
		ck_assert_msg(e->engine != NULL, "no engine %s", word);
		e->name = e->engine->name;
		word = end;
	}
	return at;
}

static inline struct part
add_part(struct composed *c, const char *words, uint16_t region)
{
	struct part p = { .first = c->nl.n_nodes };
	struct netlist from = { 0 };
	struct fm_error err = { 0 };

	ck_assert_msg(generate_words(words, &from, &err) == 0, "%s: %s", words, err.msg);
	p.n = from.n_nodes;
	for (uint32_t i = 0; i < from.n_nodes; i++) {
		const struct netlist_node *node = &from.nodes[i];
		bool is_switch = node->type == NETLIST_SWITCH;
		char id[96];

		snprintf(id, sizeof(id), "p%u-%s", p.first, node->id);
		ck_assert(netlist_add(&c->nl, node->type, id, id, 0,
			      node->n_ports + (is_switch ? SPARE_PORTS : 0)) != NETLIST_NONE);
		ck_assert(fm_vec_push(&c->region_of, region));
	}
	for (uint32_t i = 0; i < from.n_nodes; i++)
		for (unsigned port = 1; port <= from.nodes[i].n_ports; port++) {
			const struct netlist_port *at = netlist_port(&from, i, port);

			if (at->peer_node != NETLIST_NONE && at->peer_node > i)
				netlist_cable(&c->nl, p.first + i, port, p.first + at->peer_node,
				    at->peer_port, LANE_MBPS);
		}
	netlist_fini(&from);
	return p;
}

static inline bool
has_hosts(const struct netlist *nl, uint32_t node)
{
	for (unsigned p = 1; p <= nl->nodes[node].n_ports; p++) {
		uint32_t peer = netlist_port(nl, node, p)->peer_node;

		if (peer != NETLIST_NONE && nl->nodes[peer].type == NETLIST_CA)
			return true;
	}
	return false;
}

enum pick { PICK_ANY, PICK_LEAF, PICK_SPINE };

/* The i-th switch of a kind, round and round. */
static inline uint32_t
pick_switch(const struct composed *c, struct part p, enum pick kind, uint32_t i)
{
	uint32_t fit[2000], n = 0;

	for (uint32_t node = p.first; node < p.first + p.n && n < 2000; node++)
		if (c->nl.nodes[node].type == NETLIST_SWITCH &&
		    (kind == PICK_ANY || has_hosts(&c->nl, node) == (kind == PICK_LEAF)))
			fit[n++] = node;
	ck_assert_int_gt(n, 0);
	return fit[i % n];
}

static inline unsigned
free_port(const struct netlist *nl, uint32_t node)
{
	for (unsigned p = 1; p <= nl->nodes[node].n_ports; p++)
		if (netlist_port(nl, node, p)->peer_node == NETLIST_NONE)
			return p;
	ck_abort_msg("switch %s has no port left", nl->nodes[node].id);
	return 0;
}

static inline void
join_nodes(struct composed *c, uint32_t a, uint32_t b)
{
	netlist_cable(&c->nl, a, free_port(&c->nl, a), b, free_port(&c->nl, b), LANE_MBPS);
}

/* Keep the LIDs that were given, whatever happens to cables. */
static inline void
freeze_lids(struct composed *c)
{
	const struct fm_fabric *fab = &c->snap->fab;

	for (fm_end e = 0; e < fab->n_ends; e++)
		for (size_t i = 0; i < c->nl.n_ports_total; i++)
			if (c->nl.ports[i].guid == fab->end_guid[e]) {
				c->nl.ports[i].lid = fab->end_lid[e];
				c->nl.ports[i].lmc = fab->end_lmc[e];
			}
}

static inline void
look(struct composed *c)
{
	struct netlist_view view = { .n_vls = 8, .ca_lmc = c->lmc };
	struct fm_error err = { 0 };

	snapshot_put(c->snap);
	free(c->sw_region);
	ck_assert_msg(netlist_snapshot(&c->nl, &view, &c->snap, &err) == 0, "%s", err.msg);
	c->sw_region = calloc(c->snap->fab.n_switches, sizeof(*c->sw_region));
	for (uint32_t i = 0; i < c->nl.n_nodes; i++) {
		uint32_t sw = fm_hash_find(&c->snap->sw_by_guid, c->nl.nodes[i].guid);

		if (sw != FM_HASH_NONE)
			c->sw_region[sw] = c->region_of.item[i];
	}
}

static inline int
try_compose(struct composed *c, struct plan *prev, struct plan **out, struct fm_error *err)
{
	struct plan_request q = { .snap = c->snap,
		.chain = &c->region[0].chain,
		.regions = &c->set,
		.sw_region = c->sw_region,
		.drain = PLAN_DRAIN_NEVER, /* how tables are changed is judged elsewhere */
		.quiet = prev != NULL && prev->may_go_back && prev->snap == c->snap,
		.prev = prev };

	return plan_make(&c->router, &q, out, err);
}

/* Look at the fabric, and route it, with the plan at hand as the one before. */
static inline void
route_composed(struct composed *c)
{
	struct plan *prev = c->plan;
	struct fm_error err = { 0 };

	look(c);
	ck_assert_msg(try_compose(c, prev, &c->plan, &err) == 0, "%s", err.msg);
	plan_put(prev);
}

/* The quiet passes by which entries go back that found no order of writing at once. */
static inline void
finish_going_back(struct composed *c)
{
	struct fm_error err = { 0 };

	while (c->plan->may_go_back) {
		struct plan *prev = c->plan;

		ck_assert_msg(try_compose(c, prev, &c->plan, &err) == 0, "%s", err.msg);
		plan_put(prev);
	}
}

static inline void
route_to_the_end(struct composed *c)
{
	route_composed(c);
	finish_going_back(c);
}

/* ---------------------------------------------------------- the other judge */

struct walks {
	const struct fm_fabric *fab;
	const struct fm_tables *t;
	fm_link *behind;    /* [n_switches][256] */
	uint32_t *in_edges; /* [channels] */
	struct fm_hash edges;
	FM_VEC(uint64_t) list;
	uint64_t lost, pairs;
	uint32_t *load; /* [n_links] */
};

/* From an end of switch sw to lid; the channels in turn.  False: lost, or round and round. */
static inline bool
walk_packet(struct walks *w, fm_sw sw, uint8_t in_port, uint32_t lid, uint8_t sl, bool counts)
{
	fm_end owner = w->fab->lid_end[lid];
	uint32_t last = UINT32_MAX;

	for (uint32_t hops = 0; hops <= w->fab->n_switches; hops++) {
		uint8_t port = w->t->lft[sw][lid];
		fm_link l;
		uint32_t channel;
		uint64_t edge;

		if (sw == w->fab->end_sw[owner])
			return port == w->fab->end_port[owner];
		l = w->behind[(size_t)sw * 256 + port];
		if (l == FM_NONE)
			return false;
		channel = l * 16 + tables_vl(w->fab, w->t, sw, in_port, l, sl);
		edge = (uint64_t)last << 32 | channel;
		if (last != UINT32_MAX && fm_hash_find(&w->edges, edge) == FM_HASH_NONE) {
			ck_assert(fm_hash_put(&w->edges, edge, 1) && fm_vec_push(&w->list, edge));
			w->in_edges[channel]++;
		}
		w->load[l] += counts;
		last = channel;
		in_port = w->fab->link_port[w->fab->link_rev[l]];
		sw = w->fab->link_to[l];
	}
	return false;
}

static inline bool
walk_sends(const struct fm_fabric *fab, fm_end e)
{
	return fab->end_kind[e] == FM_END_CA && fab->end_sw[e] != FM_NONE && fab->end_lid[e] != 0;
}

/* Take away channels without predecessors until none is left: how many remain. */
static inline size_t
left_on_cycles(struct walks *w)
{
	size_t n = (size_t)w->fab->n_links * 16, n_queue = 0, done = 0;
	uint32_t *first = calloc(n + 2, sizeof(*first)), *queue = calloc(n + 1, sizeof(*queue));
	uint32_t *to = calloc(w->list.n + 1, sizeof(*to));

	for (size_t i = 0; i < w->list.n; i++)
		first[(w->list.item[i] >> 32) + 2]++;
	for (size_t i = 0; i < n; i++)
		first[i + 2] += first[i + 1];
	for (size_t i = 0; i < w->list.n; i++)
		to[first[(w->list.item[i] >> 32) + 1]++] = (uint32_t)w->list.item[i];
	for (uint32_t v = 0; v < n; v++)
		if (w->in_edges[v] == 0)
			queue[n_queue++] = v;
	for (; done < n_queue; done++)
		for (uint32_t i = first[queue[done]]; i < first[queue[done] + 1]; i++)
			if (--w->in_edges[to[i]] == 0)
				queue[n_queue++] = to[i];
	free(first);
	free(queue);
	free(to);
	return n - n_queue;
}

/* What a walk over everything finds; load[n_links], which may be NULL, gets the pairs of
 * hosts on each link. */
struct walked {
	uint64_t pairs, lost;
	size_t on_cycles;
};
static inline struct walked
walk_tables(const struct snapshot *snap, const struct fm_tables *t, bool both, uint32_t *load)
{
	const struct fm_fabric *fab = &snap->fab;
	struct walks w = { .fab = fab, .t = t };
	struct walked result = { 0 };

	w.behind = malloc((size_t)fab->n_switches * 256 * sizeof(*w.behind));
	memset(w.behind, 0xff, (size_t)fab->n_switches * 256 * sizeof(*w.behind));
	w.in_edges = calloc((size_t)fab->n_links * 16 + 1, sizeof(*w.in_edges));
	w.load = calloc(fab->n_links + 1, sizeof(*w.load));
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++)
			w.behind[(size_t)sw * 256 + fab->link_port[l]] = l;
	for (fm_end s = 0; s < fab->n_ends; s++)
		for (uint32_t lid = 1; walk_sends(fab, s) && lid <= fab->max_lid; lid++) {
			fm_end d = fab->lid_end[lid];
			fm_sw sw = fab->end_sw[s];

			if (d == FM_NONE || d == s || fab->end_sw[d] == FM_NONE ||
			    snap->sw_component[sw] != snap->sw_component[fab->end_sw[d]])
				continue;
			result.pairs++;
			if (!walk_packet(&w, sw, fab->end_port[s], lid, tables_sl(t, sw, lid),
				walk_sends(fab, d)))
				result.lost++;
			if (both)
				walk_packet(&w, sw, fab->end_port[s], lid,
				    tables_sl(t, fab->end_sw[d], fab->end_lid[s]), false);
		}
	result.on_cycles = left_on_cycles(&w);
	if (load != NULL)
		memcpy(load, w.load, fab->n_links * sizeof(*load));
	free(w.behind);
	free(w.in_edges);
	free(w.load);
	fm_hash_fini(&w.edges);
	fm_vec_fini(&w.list);
	return result;
}

/* Joined, and free of loops and cycles, by both judges. */
static inline void
check_plan(const struct composed *c, const char *what)
{
	const struct plan *p = c->plan;
	struct walked w;

	ck_assert_msg(p->tables != NULL, "%s: no tables", what);
	w = walk_tables(c->snap, &p->tables->t, !p->forward_only, NULL);
	ck_assert_msg(w.lost == 0, "%s: %llu of %llu pairs lost, %s", what,
	    (unsigned long long)w.lost, (unsigned long long)w.pairs, p->verdict.witness);
	ck_assert_msg(w.on_cycles == 0, "%s: %zu channels on or behind a cycle", what, w.on_cycles);
	ck_assert_msg(verdict_is_safe(&p->verdict, false), "%s: %s", what, p->verdict.witness);
	ck_assert_msg(p->verdict.unreachable_pairs == 0, "%s: %s", what, p->verdict.witness);
}

/* Entries and SLs. */
static inline bool
same_tables(const struct composed *c, const struct plan *a, const struct plan *b)
{
	const struct fm_fabric *fab = &c->snap->fab;

	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		if (memcmp(a->tables->t.lft[sw], b->tables->t.lft[sw], fab->max_lid + 1u) != 0)
			return false;
		for (uint32_t lid = 1; lid <= fab->max_lid; lid++)
			if (tables_sl(&a->tables->t, sw, (uint16_t)lid) !=
			    tables_sl(&b->tables->t, sw, (uint16_t)lid))
				return false;
	}
	return true;
}

/* How many SLs and VLs are in use. */
static inline unsigned
count_sls(const struct snapshot *snap, const struct fm_tables *t)
{
	const struct fm_fabric *fab = &snap->fab;
	unsigned sls = 0;

	for (fm_end s = 0; s < fab->n_ends; s++)
		for (fm_end d = 0; d < fab->n_ends; d++)
			if (s != d && walk_sends(fab, s) && fab->end_lid[d] != 0)
				sls |= 1u << tables_sl(t, fab->end_sw[s], fab->end_lid[d]);
	return (unsigned)__builtin_popcount(sls);
}

static inline void
print_plan(const struct composed *c, const char *what)
{
	const struct plan *p = c->plan;

	printf("%s: join=%s engine=%s vls=%u sls=%u hops=%.2f\n", what,
	    p->regions != NULL ? plan_join_name(p->regions->join) : "-", p->engine, p->verdict.vls,
	    p->tables != NULL ? count_sls(c->snap, &p->tables->t) : 0, p->verdict.avg_hops);
	for (size_t i = 0; i < p->refused.n; i++)
		printf("    %s: %s\n", p->refused.item[i].engine, p->refused.item[i].reason);
	for (uint32_t i = 0; p->regions != NULL && i < p->regions->n; i++) {
		const struct plan_region *r = &p->regions->region[i];

		printf("    region %s: engine=%s\n", r->name, r->engine);
		for (size_t j = 0; j < r->refused.n; j++)
			printf("        %s: %s\n", r->refused.item[j].engine,
			    r->refused.item[j].reason);
	}
}

static inline void
tell(const struct composed *c, const char *what)
{
	if (getenv("FMD_TELL") != NULL)
		print_plan(c, what);
}

/* Was a join refused, with this word in the reason? */
static inline bool
is_refused(const struct composed *c, const char *join, const char *word)
{
	for (size_t i = 0; i < c->plan->refused.n; i++)
		if (strcmp(c->plan->refused.item[i].engine, join) == 0 &&
		    strstr(c->plan->refused.item[i].reason, word) != NULL)
			return true;
	return false;
}

/* ------------------------------------------------------------ some fabrics */

/* Two trees of two switches, joined twice. */
static inline void
four_switches(struct composed *c, unsigned workers)
{
	struct part a, b;

	composed_init(c, workers);
	add_region(c, "updn");
	add_region(c, "updn");
	a = add_part(c, "mesh 2 2", 0);
	b = add_part(c, "mesh 2 2", 1);
	for (uint32_t i = 0; i < 2; i++)
		join_nodes(c, pick_switch(c, a, PICK_ANY, i), pick_switch(c, b, PICK_ANY, i));
}

static inline unsigned
tier_of(const struct composed *c, uint32_t node)
{
	if (has_hosts(&c->nl, node))
		return 0;
	for (unsigned p = 1; p <= c->nl.nodes[node].n_ports; p++) {
		uint32_t peer = netlist_port(&c->nl, node, p)->peer_node;

		if (peer != NETLIST_NONE && has_hosts(&c->nl, peer))
			return 1;
	}
	return 2;
}

/* A tree of three tiers, cut below tier `cut`. */
static inline void
cut_tree(struct composed *c, const char *words, unsigned cut)
{
	struct part all;

	composed_init(c, 2);
	add_region(c, "fattree");
	add_region(c, "fattree");
	all = add_part(c, words, 0);
	for (uint32_t i = all.first; i < all.first + all.n; i++)
		if (c->nl.nodes[i].type == NETLIST_SWITCH && tier_of(c, i) >= cut)
			c->region_of.item[i] = 1;
}

struct star {
	const char *core, *core_engine, *island, *island_engine;
	uint32_t n_islands, n_cables;
	enum pick at; /* of the core */
};

static inline void
make_star(struct composed *c, const struct star *s)
{
	struct part core, island;

	composed_init(c, 2);
	add_region(c, s->core_engine);
	core = add_part(c, s->core, 0);
	for (uint32_t i = 0; i < s->n_islands; i++) {
		island = add_part(c, s->island, add_region(c, s->island_engine));
		for (uint32_t j = 0; j < s->n_cables; j++)
			join_nodes(c, pick_switch(c, core, s->at, i * s->n_cables + j),
			    pick_switch(c, island, PICK_ANY, j * 3));
	}
}

/* A ring of four regions by shortest paths, up and down in the first, three cables from one to
 * the next, and on the first and the third another by two cables: part[6].  As it is cut it
 * cannot be joined so that replies are safe; with most of the ring as one region it can. */
static inline void
make_ring(struct composed *c, const char *ring, const char *leaf, const char *leaf_engine,
    struct part part[6])
{
	composed_init(c, 2);
	for (uint32_t i = 0; i < 4; i++)
		part[i] = add_part(c, ring, add_region(c, i == 0 ? "updn" : "minhop"));
	for (uint32_t i = 0; i < 4; i++)
		for (uint32_t j = 0; j < 3; j++)
			join_nodes(c, pick_switch(c, part[i], PICK_ANY, 5 * j),
			    pick_switch(c, part[(i + 1) % 4], PICK_ANY, 7 * j + 1));
	for (uint32_t i = 0; i < 2; i++) {
		part[4 + i] = add_part(c, leaf, add_region(c, leaf_engine));
		for (uint32_t j = 0; j < 2; j++)
			join_nodes(c, pick_switch(c, part[2 * i], PICK_ANY, j + 2),
			    pick_switch(c, part[4 + i], PICK_ANY, 8 * j));
	}
	c->set.replies = REPLIES_REQUIRE;
}

#endif
