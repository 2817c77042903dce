/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Regions composed by any engine, and what events do to them: cables, switches and
 * whole regions that go and come, restarts, SLs kept for others, memory that runs out.
 */
#include "config.h"

#include <unistd.h>

#include "core/daemon/regions_json.h"
#include "core/plan/plan_file.h"
#include "core/plan/plan_file_internal.h"
#include "core/regions/compose_steps.h"
#include "core/route/route.h"
#include "tests/engine/composed.h"
#include "tests/run.h"

static const struct star one_torus = { "pgft 2 4,4 1,2 1,1", "fattree", "torus 5x5 1", "torus2qos",
	1, 3, PICK_LEAF };
static const struct star two_tori = { "pgft 2 4,4 1,2 1,1", "fattree", "torus 5x5 1", "torus2qos",
	2, 3, PICK_LEAF };
static const struct star four_lash = { "pgft 2 4,4 1,2 1,1", "fattree", "random 8 3 1 3", "lash", 4,
	2, PICK_LEAF };

/* -------------------------------------------------------------- any engine */

/* The shape an engine is at home on. */
static const char *
shape_of(const char *engine)
{
	static const char *const homes[][2] = { { "fattree", "pgft 2 3,3 1,2 1,1" },
		{ "torus2qos", "torus 4x3 1" }, { "dor", "mesh 3x3 1" },
		{ "hyperx", "hyperx 3x3 1" }, { "dragonfly", "dragonfly 3 1 1" },
		{ "template", "mesh 3 1" }, { "minhop", "pgft 2 3,3 1,2 1,1" },
		{ "sssp", "pgft 2 3,3 1,2 1,1" }, { "shortestpath", "pgft 2 3,3 1,2 1,1" },
		{ "dgshortestpath", "pgft 2 3,3 1,2 1,1" } };

	for (size_t i = 0; i < sizeof(homes) / sizeof(*homes); i++)
		if (strcmp(homes[i][0], engine) == 0)
			return homes[i][1];
	return "random 9 3 1 5";
}

/* Each engine in a region beside two others, in the middle or at the end of the row.  The core of
 * islands takes a single VL. */
START_TEST(any_engine_in_a_region)
{
	for (uint32_t i = 0; i < engines.n_engines; i++) {
		const struct fm_engine *e = engines.engines[i].engine;
		bool gives_way = _i == 1 && (e->traits & FM_PROVIDES_SL) != 0;
		struct composed c;
		struct part part[3];

		if (e->route == NULL || strcmp(e->name, "file") == 0)
			continue;
		composed_init(&c, 2);
		for (int j = 0; j < 3; j++) {
			const char *name = j == _i ? e->name : "updn";

			part[j] = add_part(&c, shape_of(name), add_region(&c, name));
		}
		for (uint32_t j = 0; j < 4; j++)
			join_nodes(&c, pick_switch(&c, part[j / 2], PICK_LEAF, j),
			    pick_switch(&c, part[j / 2 + 1], PICK_LEAF, 2 * j));
		route_composed(&c);
		tell(&c, e->name);
		check_plan(&c, e->name);
		ck_assert_msg(
		    (strcmp(c.plan->regions->region[_i].engine, e->name) != 0) == gives_way,
		    "%s: %s", e->name, c.plan->regions->region[_i].engine);
		composed_fini(&c);
	}
}
END_TEST

/* ------------------------------------------------------------------ events */

struct event_rig {
	struct composed c;
	struct part a, b;
};

/* Two tori by four cables: their leaves' LIDs are spread over them. */
static void
make_rig_by(struct event_rig *r, const char *engine)
{
	composed_init(&r->c, 2);
	add_region(&r->c, engine);
	add_region(&r->c, engine);
	r->a = add_part(&r->c, "torus 4x4 2", 0);
	r->b = add_part(&r->c, "torus 4x4 2", 1);
	for (uint32_t i = 0; i < 4; i++)
		join_nodes(&r->c, pick_switch(&r->c, r->a, PICK_ANY, i * 5),
		    pick_switch(&r->c, r->b, PICK_ANY, i * 5));
	route_composed(&r->c);
	freeze_lids(&r->c);
	check_plan(&r->c, "before the event");
}

static void
make_rig(struct event_rig *r)
{
	make_rig_by(r, "updn");
}

/* The same joined flat by engines with SLs, which is not safe for replies: each LID has one
 * gateway, whatever switch it comes from. */
static void
make_flat_rig(struct event_rig *r, bool repairs)
{
	make_rig_by(r, "dfsssp");
	plan_put(r->c.plan);
	r->c.plan = NULL;
	r->c.router.skip_joins = 1u << PLAN_ISLANDS;
	r->c.set.replies = REPLIES_IGNORE;
	if (!repairs)
		repair_nothing(&r->c);
	route_composed(&r->c);
	ck_assert_int_eq(r->c.plan->regions->join, PLAN_FLAT);
	ck_assert(r->c.plan->forward_only);
}

/* A cable between regions: the port of its near switch. */
static unsigned
port_between(const struct composed *c, uint32_t a, uint32_t b)
{
	for (unsigned p = 1; p <= c->nl.nodes[a].n_ports; p++)
		if (netlist_port(&c->nl, a, p)->peer_node == b)
			return p;
	ck_abort_msg("no cable");
	return 0;
}

static uint64_t
lids_through(const struct plan *p, fm_sw sw, uint8_t port)
{
	uint64_t n = 0;

	for (uint32_t lid = 1; lid <= p->snap->fab.max_lid; lid++)
		n += p->snap->fab.lid_end[lid] != FM_NONE && p->tables->t.lft[sw][lid] == port;
	return n;
}

/* ------------------------------------------------- an event stays where it happens */

/* The spines of a tree, its pods, and a torus on the spines. */
static void
make_pods_and_torus(struct composed *c)
{
	struct part torus;
	uint32_t spine[8], n = 0;

	cut_tree(c, "pgft 3 4,4,3 1,2,2 1,2,1", 2);
	c->router.check_repairs = true;
	for (uint32_t node = 0; node < c->nl.n_nodes && n < 8; node++)
		if (c->nl.nodes[node].type == NETLIST_SWITCH && tier_of(c, node) == 2)
			spine[n++] = node;
	torus = add_part(c, "torus 4x4 2", add_region(c, "torus2qos,updn"));
	for (uint32_t i = 0; i < 8; i++)
		join_nodes(c, spine[i % n], pick_switch(c, torus, PICK_ANY, i));
}

/* A tree beside storage, two trees on common switches, pods and a torus, as in conf/examples. */
static void
make_repaired(struct composed *c, int which)
{
	struct part a, b, top;

	if (which == 2) {
		make_pods_and_torus(c);
		return;
	}
	composed_init(c, 2);
	c->router.check_repairs = true;
	add_region(c, which == 0 ? "fattree,updn" : "updn");
	add_region(c, which == 0 ? "minhop,updn" : "fattree,updn");
	if (which == 0) {
		a = add_part(c, "pgft 2 4,8 1,4 1,1", 0);
		b = add_part(c, "hyperx 3 6", 1);
		for (uint32_t i = 0; i < 4; i++)
			join_nodes(
			    c, pick_switch(c, a, PICK_SPINE, i), pick_switch(c, b, PICK_ANY, i));
		return;
	}
	top = add_part(c, "switches 2 1", 0);
	a = add_part(c, "pgft 2 4,6 1,4 1,1", 1);
	b = add_part(c, "pgft 2 6,4 1,3 1,2", add_region(c, "fattree,updn"));
	for (uint32_t i = 0; i < 14; i++)
		join_nodes(c,
		    i < 8 ? pick_switch(c, a, PICK_SPINE, i / 2)
			  : pick_switch(c, b, PICK_SPINE, i / 2 - 4),
		    pick_switch(c, top, PICK_ANY, i % 2));
}

/* What fmctl regions shows of region 0: how many components; is its busiest cable told? */
static long long
components_told(const struct composed *c, bool *busiest)
{
	struct fm_error err = { 0 };
	json_t *list;
	long long n;

	ck_assert_int_eq(
	    regions_json(&c->set, c->snap, c->sw_region, c->plan, false, &list, &err), 0);
	n = json_integer_value(json_object_get(json_array_get(list, 0), "components"));
	*busiest = json_object_get(json_array_get(list, 0), "busiest") != NULL;
	json_decref(list);
	return n;
}

/* The cable at a port is lost: no engine runs, and when it is back all is as before. */
static void
lose_and_find(struct composed *c, uint32_t node, unsigned port)
{
	struct netlist_port at = *netlist_port(&c->nl, node, port);
	struct plan *before = plan_get(c->plan);
	char what[80];
	bool told;

	snprintf(what, sizeof(what), "%s port %u", c->nl.nodes[node].id, port);
	netlist_uncable(&c->nl, node, port);
	route_composed(c);
	check_plan(c, what);
	ck_assert_msg(c->plan->made == PLAN_REPAIRED, "%s: an engine ran", what);
	for (uint32_t i = 0; i < before->regions->n; i++)
		ck_assert_str_eq(
		    c->plan->regions->region[i].engine, before->regions->region[i].engine);
	ck_assert_uint_le(c->plan->verdict.vls, before->tables->t.n_vls_used);
	ck_assert(plan_same_vls(before, c->plan));
	components_told(c, &told);
	ck_assert(!told); /* it is of other tables */
	netlist_cable(&c->nl, node, port, at.peer_node, at.peer_port, LANE_MBPS);
	route_to_the_end(c);
	ck_assert_msg(same_tables(c, c->plan, before), "%s is back: not as before", what);
	ck_assert_str_eq(c->plan->change.waiting, "");
	components_told(c, &told);
	ck_assert(told);
	plan_put(before);
}

START_TEST(a_cable_runs_no_engine)
{
	struct composed c;

	make_repaired(&c, _i);
	look(&c);
	freeze_lids(&c);
	route_composed(&c);
	check_plan(&c, "whole");
	ck_assert_int_eq(c.plan->regions->join, _i == 2 ? PLAN_ISLANDS : PLAN_FLAT);
	for (uint32_t node = 0; node < c.nl.n_nodes; node++)
		for (unsigned port = 1; port <= c.nl.nodes[node].n_ports; port++) {
			uint32_t peer = netlist_port(&c.nl, node, port)->peer_node;

			if (peer != NETLIST_NONE && peer > node &&
			    c.nl.nodes[node].type == NETLIST_SWITCH &&
			    c.nl.nodes[peer].type == NETLIST_SWITCH)
				lose_and_find(&c, node, port);
		}
	composed_fini(&c);
}
END_TEST

/* Entries that differ, of LIDs that did not leave by this port of one switch, or of the other. */
static uint64_t
others_moved(
    const struct composed *c, const struct plan *was, fm_sw a, unsigned pa, fm_sw b, unsigned pb)
{
	const struct fm_fabric *fab = &c->snap->fab;
	uint8_t *const *lft = was->tables->t.lft;
	uint64_t n = 0;

	for (uint32_t lid = 1; lid <= fab->max_lid; lid++)
		for (fm_sw sw = 0; sw < fab->n_switches; sw++)
			n += fab->lid_end[lid] != FM_NONE && lft[a][lid] != pa &&
			    lft[b][lid] != pb && lft[sw][lid] != c->plan->tables->t.lft[sw][lid];
	return n;
}

/* A gateway's cable goes and comes: repaired, only its own LIDs move (0); or composed anew. */
START_TEST(a_gateway_dies)
{
	struct event_rig r;
	struct plan *nominal, *without;
	uint32_t na, nb;
	unsigned pa, pb;
	uint64_t was;
	bool stays;
	fm_sw sa, sb;

	make_flat_rig(&r, _i == 0);
	na = pick_switch(&r.c, r.a, PICK_ANY, 5);
	nb = pick_switch(&r.c, r.b, PICK_ANY, 5);
	pa = port_between(&r.c, na, nb);
	pb = port_between(&r.c, nb, na);
	sa = fm_hash_find(&r.c.snap->sw_by_guid, r.c.nl.nodes[na].guid);
	sb = fm_hash_find(&r.c.snap->sw_by_guid, r.c.nl.nodes[nb].guid);
	nominal = plan_get(r.c.plan);
	was = lids_through(nominal, sa, (uint8_t)pa) + lids_through(nominal, sb, (uint8_t)pb);
	ck_assert_uint_gt(was, 0);
	netlist_uncable(&r.c.nl, na, pa);
	route_composed(&r.c);
	check_plan(&r.c, "a gateway dies");
	ck_assert(r.c.plan->made != PLAN_KEPT);
	ck_assert_int_eq(r.c.plan->made == PLAN_REPAIRED, _i == 0);
	if (_i == 0)
		ck_assert_uint_eq(others_moved(&r.c, nominal, sa, pa, sb, pb), 0);
	without = plan_get(r.c.plan);
	netlist_cable(&r.c.nl, na, pa, nb, pb, LANE_MBPS);
	route_to_the_end(&r.c);
	check_plan(&r.c, "it is back");
	/* all go back, or where no order of writing is safe nothing does */
	stays = r.c.plan->change.waiting[0] != '\0' || r.c.plan->deviations.n > 0;
	ck_assert(same_tables(&r.c, r.c.plan, stays ? without : nominal));
	ck_assert(!same_tables(&r.c, r.c.plan, stays ? nominal : without));
	plan_put(nominal);
	plan_put(without);
	composed_fini(&r.c);
}
END_TEST

/* A torus on the leaves of three pods: the pods and the spines are its core.  A cable of
 * its goes and comes: regions are islands still, and all goes back. */
START_TEST(an_island_of_pods_and_spines_loses_a_cable)
{
	struct composed c;
	struct part torus;
	struct plan *nominal, *without;
	uint32_t leaf[3], sw[3];
	unsigned port, back;
	bool stays;

	cut_tree(&c, "pgft 3 4,4,4 1,4,4 1,1,1", 2);
	torus = add_part(&c, "torus 5x5 1", add_region(&c, "torus2qos"));
	for (uint32_t i = 0; i < 3; i++) {
		leaf[i] = pick_switch(&c, (struct part){ 0, torus.first }, PICK_LEAF, i * 5);
		sw[i] = pick_switch(&c, torus, PICK_ANY, i * 8);
		join_nodes(&c, leaf[i], sw[i]);
	}
	route_composed(&c);
	freeze_lids(&c);
	check_plan(&c, "nominal");
	ck_assert_int_eq(c.plan->regions->join, PLAN_ISLANDS);
	nominal = plan_get(c.plan);
	port = port_between(&c, leaf[1], sw[1]);
	back = port_between(&c, sw[1], leaf[1]);
	netlist_uncable(&c.nl, leaf[1], port);
	route_composed(&c);
	check_plan(&c, "a cable less");
	ck_assert(c.plan->made != PLAN_KEPT);
	ck_assert_int_eq(c.plan->regions->join, PLAN_ISLANDS);
	without = plan_get(c.plan);
	netlist_cable(&c.nl, leaf[1], port, sw[1], back, LANE_MBPS);
	route_to_the_end(&c);
	check_plan(&c, "and back");
	/* what was composed anew goes back as it came, or where no order is safe waits */
	stays = c.plan->change.waiting[0] != '\0';
	ck_assert(same_tables(&c, c.plan, stays ? without : nominal));
	ck_assert(!same_tables(&c, c.plan, stays ? nominal : without));
	plan_put(nominal);
	plan_put(without);
	composed_fini(&c);
}
END_TEST

static void
take_out(struct composed *c, uint32_t node)
{
	for (unsigned p = 1; p <= c->nl.nodes[node].n_ports; p++)
		if (netlist_port(&c->nl, node, p)->peer_node != NETLIST_NONE)
			netlist_uncable(&c->nl, node, p);
}

/* A region falls into two, each with its own cables to the other region. */
START_TEST(a_region_in_two_pieces)
{
	struct composed c;
	struct part a, b;
	bool told;

	composed_init(&c, 2);
	add_region(&c, "updn");
	add_region(&c, "fattree,updn");
	a = add_part(&c, "mesh 5 2", 0);
	b = add_part(&c, "pgft 2 3,3 1,2 1,1", 1);
	for (uint32_t i = 0; i < 3; i++)
		join_nodes(
		    &c, pick_switch(&c, a, PICK_ANY, 2 * i), pick_switch(&c, b, PICK_LEAF, i));
	route_composed(&c);
	freeze_lids(&c);
	check_plan(&c, "one component");
	ck_assert_int_eq(components_told(&c, &told), 1);
	take_out(&c, pick_switch(&c, a, PICK_ANY, 1));
	route_composed(&c);
	tell(&c, "two components");
	check_plan(&c, "two components");
	ck_assert_int_eq(components_told(&c, &told), 3); /* and the dark one */
	composed_fini(&c);
}
END_TEST

/* Regions cut anew, as where some are merged: nothing of the cut before is left. */
START_TEST(pieces_are_counted_anew)
{
	struct composed c;
	struct composer k;
	struct fm_error err = { 0 };

	make_star(&c, &two_tori);
	look(&c);
	k = (struct composer){ .r = &c.router,
		.snap = c.snap,
		.fab = &c.snap->fab,
		.sw_region = c.sw_region,
		.n_lid_room = c.snap->fab.max_lid + 1u };
	fm_arena_init(&k.mem, SIZE_MAX);
	ck_assert_int_eq(compose_find_components(&k, &err), 0);
	ck_assert_uint_eq(k.n_components, 3);
	memset(c.sw_region, 0, c.snap->fab.n_switches * sizeof(*c.sw_region));
	ck_assert_int_eq(compose_find_components(&k, &err), 0);
	ck_assert_uint_eq(k.n_components, 1);
	ck_assert_uint_eq(k.component[0].n, c.snap->fab.n_switches);
	ck_assert_uint_eq(k.component[0].n_exits, 0);
	fm_arena_fini(&k.mem);
	composed_fini(&c);
}
END_TEST

/* The last switch of a region goes: one region is left, and one chain. */
START_TEST(a_region_goes)
{
	struct composed c;
	struct part a, b;

	composed_init(&c, 2);
	add_region(&c, "updn");
	add_region(&c, "fattree");
	a = add_part(&c, "mesh 1 1", 0);
	b = add_part(&c, "pgft 2 3,3 1,2 1,1", 1);
	join_nodes(&c, pick_switch(&c, a, PICK_ANY, 0), pick_switch(&c, b, PICK_LEAF, 0));
	route_composed(&c);
	freeze_lids(&c);
	check_plan(&c, "both");
	ck_assert_ptr_nonnull(c.plan->regions);
	for (uint32_t i = 0; i < c.snap->fab.n_switches; i++)
		c.sw_region[i] = 1;
	{
		struct plan *alone = NULL;
		struct fm_error err = { 0 };
		struct plan_request q = { .snap = c.snap,
			.chain = &c.region[0].chain,
			.regions = &c.set,
			.sw_region = c.sw_region,
			.anew = true };

		ck_assert_msg(plan_make(&c.router, &q, &alone, &err) == 0, "%s", err.msg);
		ck_assert_str_eq(alone->engine, "fattree");
		ck_assert_ptr_null(alone->regions);
		plan_put(alone);
	}
	composed_fini(&c);
}
END_TEST

/* A host that goes and comes costs nothing, and what is known of regions stays. */
START_TEST(hosts_cost_nothing)
{
	struct event_rig r;
	struct tables *was;
	uint32_t host = NETLIST_NONE;
	struct netlist_port *port;
	uint32_t sw;
	unsigned sw_port;

	make_rig(&r);
	was = tables_get(r.c.plan->tables);
	for (uint32_t i = 0; i < r.c.nl.n_nodes; i++)
		if (r.c.nl.nodes[i].type == NETLIST_CA)
			host = i;
	port = netlist_port(&r.c.nl, host, 1);
	sw = port->peer_node;
	sw_port = port->peer_port;
	netlist_uncable(&r.c.nl, host, 1);
	look(&r.c);
	for (int back = 0; back < 2; back++) {
		struct plan_request q = { .snap = r.c.snap,
			.chain = &r.c.region[0].chain,
			.regions = &r.c.set,
			.sw_region = r.c.sw_region,
			.linger_ms = 1000,
			.prev = r.c.plan };
		struct fm_error err = { 0 };
		struct plan *now = NULL;

		ck_assert_msg(plan_make(&r.c.router, &q, &now, &err) == 0, "%s", err.msg);
		ck_assert(now->made == PLAN_KEPT);
		ck_assert_ptr_eq(now->tables, was);
		ck_assert_ptr_eq(now->regions, r.c.plan->regions);
		plan_put(r.c.plan);
		r.c.plan = now;
		if (back == 0)
			netlist_cable(&r.c.nl, host, 1, sw, sw_port, LANE_MBPS);
		look(&r.c);
	}
	tables_put(was);
	composed_fini(&r.c);
}
END_TEST

static void
check_same_regions(const struct plan_regions *a, const struct plan_regions *b)
{
	ck_assert_ptr_nonnull(a);
	ck_assert_uint_eq(a->n, b->n);
	ck_assert_int_eq(a->join, b->join);
	ck_assert_uint_eq(a->n_switches, b->n_switches);
	ck_assert((a->loops_within != NULL) == (b->loops_within != NULL));
	for (uint32_t i = 0; a->loops_within != NULL && i < a->n_switches; i++)
		ck_assert_uint_eq(a->loops_within[i], b->loops_within[i]);
	for (uint32_t i = 0; i < a->n; i++) {
		const struct plan_region *x = &a->region[i], *y = &b->region[i];

		ck_assert_str_eq(x->name, y->name);
		ck_assert_str_eq(x->engine, y->engine);
		ck_assert_int_eq(x->is_merged, y->is_merged);
		ck_assert_double_eq(x->busiest.times, y->busiest.times);
		ck_assert_uint_eq(x->busiest.sw, y->busiest.sw);
		ck_assert_uint_eq(x->busiest.port, y->busiest.port);
		ck_assert_uint_eq(x->refused.n, y->refused.n);
		for (size_t j = 0; j < x->refused.n; j++)
			ck_assert_str_eq(x->refused.item[j].reason, y->refused.item[j].reason);
	}
}

/* What became of regions is kept, and no cut of the file is taken for it. */
START_TEST(regions_over_a_restart)
{
	static const struct star star = { "pgft 2 4,4 1,4 1,1", "fattree", "torus 5x5 1",
		"fattree,minhop", 2, 2, PICK_LEAF };
	struct plan_file_cursor to, from;
	struct composed c;
	struct plan *copy;
	struct fm_error err = { 0 };
	size_t n;
	bool good;

	make_star(&c, &star);
	c.region[1].chain.allow_credit_loops = true;
	route_composed(&c);
	tell(&c, "regions over a restart");
	ck_assert_int_eq(c.plan->regions->join, PLAN_ISLANDS);
	ck_assert_uint_gt(c.plan->regions->region[1].refused.n, 0);
	ck_assert_ptr_nonnull(c.plan->regions->loops_within);
	to = (struct plan_file_cursor){ .snap = c.snap, .out = true };
	ck_assert(plan_file_regions(&to, &c.plan->regions));
	n = to.bytes.n;
	for (size_t cut = 0; cut <= n; cut += cut + 97 < n || cut == n ? 97 : n - cut) {
		copy = plan_new(c.snap, &err);
		from = (struct plan_file_cursor){
			.snap = c.snap, .at = to.bytes.item, .end = to.bytes.item + cut
		};
		good = plan_file_regions(&from, &copy->regions);
		ck_assert(!from.no_memory);
		ck_assert_int_eq(good, cut == n);
		if (good)
			check_same_regions(copy->regions, c.plan->regions);
		plan_put(copy);
	}
	fm_vec_fini(&to.bytes);
	composed_fini(&c);
}
END_TEST

/* Over a restart: the file gives the same tables, and they are kept. */
START_TEST(kept_over_a_restart)
{
	struct event_rig r;
	struct plan *was, *loaded = NULL;
	struct fm_error err = { 0 };
	char path[] = "/tmp/fmd-compose-XXXXXX";
	int fd;

	make_flat_rig(&r, true);
	was = r.c.plan;
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_msg(plan_file_save(path, was, 7, &err) == 0, "%s", err.msg);
	ck_assert_msg(
	    plan_file_load(path, &r.c.router, r.c.snap, 7, 0, &loaded, &err) == 0, "%s", err.msg);
	unlink(path);
	ck_assert_ptr_nonnull(loaded);
	ck_assert(same_tables(&r.c, loaded, was));
	ck_assert(loaded->forward_only);
	check_same_regions(loaded->regions, was->regions);
	ck_assert_msg(try_compose(&r.c, loaded, &r.c.plan, &err) == 0, "%s", err.msg);
	ck_assert(r.c.plan->made == PLAN_KEPT);
	check_same_regions(r.c.plan->regions, was->regions);
	check_plan(&r.c, "kept");
	plan_put(loaded);
	plan_put(was);
	composed_fini(&r.c);
}
END_TEST

/* ------------------------------------------------------------------- rules */

START_TEST(any_number_of_workers)
{
	for (int kind = 0; kind < 3; kind++) {
		struct composed c[2];

		for (unsigned i = 0; i < 2; i++) {
			struct star s = *(kind == 0 ? &two_tori : &four_lash);

			if (kind == 2)
				four_switches(&c[i], i + 1);
			else
				make_star(&c[i], &s);
			if (kind != 2) {
				struct fm_error err = { 0 };

				router_fini(&c[i].router);
				ck_assert_int_eq(router_init(&c[i].router, i + 1, &err), 0);
			}
			route_composed(&c[i]);
		}
		ck_assert(same_tables(&c[0], c[0].plan, c[1].plan));
		composed_fini(&c[0]);
		composed_fini(&c[1]);
	}
}
END_TEST

/* SLs that are kept for others are not used, and what does not fit is said. */
START_TEST(reserved_sls)
{
	struct composed c;

	make_star(&c, &two_tori);
	c.set.reserved_sls = 0x0003;
	route_composed(&c);
	check_plan(&c, "reserved");
	for (fm_sw sw = 0; sw < c.snap->fab.n_switches; sw++)
		for (fm_end d = 0; d < c.snap->fab.n_ends; d++)
			ck_assert_uint_ge(
			    tables_sl(&c.plan->tables->t, sw, c.snap->fab.end_lid[d]), 2);
	composed_fini(&c);
	make_star(&c, &two_tori);
	c.set.reserved_sls = 0xfffc;
	route_composed(&c);
	tell(&c, "two SLs");
	ck_assert(is_refused(&c, "islands", "2 that may be used"));
	check_plan(&c, "two SLs");
	composed_fini(&c);
}
END_TEST

/* Every allocation fails in turn: an error or tables that are right, never less. */
START_TEST(memory_runs_out)
{
	struct composed c;
	uint64_t n = 0;
	int rc = -1;

	make_star(&c, &one_torus);
	look(&c);
	while (rc != 0 || (c.plan->regions != NULL && c.plan->regions->join == PLAN_WHOLE) ||
	    c.plan->tables == NULL || c.plan->regions == NULL ||
	    c.plan->regions->region[1].refused.n > 0) {
		struct fm_error err = { 0 };

		plan_put(c.plan);
		c.plan = NULL;
		c.router.scratch_fail_at = ++n;
		rc = try_compose(&c, NULL, &c.plan, &err);
		ck_assert(rc == 0 || rc == FM_E_RESOURCE);
		if (rc != 0)
			ck_assert_msg(strstr(err.msg, "memory") != NULL, "%s", err.msg);
		else if (c.plan->tables != NULL)
			check_plan(&c, "memory runs out");
		n += n / 8; /* all of the first, fewer of the last */
		ck_assert_uint_lt(n, 100000);
	}
	ck_assert_uint_gt(n, 50);
	composed_fini(&c);
}
END_TEST

/* ------------------------------------------------------------------- suite */

static Suite *
events_suite(void)
{
	Suite *s = suite_create("compose_events");
	TCase *t = tcase_create("compose_events");

	suite_add_tcase(s, t);
	tcase_add_loop_test(t, any_engine_in_a_region, 0, 3);
	tcase_add_loop_test(t, a_cable_runs_no_engine, 0, 3);
	tcase_add_loop_test(t, a_gateway_dies, 0, 2);
	tcase_add_test(t, an_island_of_pods_and_spines_loses_a_cable);
	tcase_add_test(t, a_region_in_two_pieces);
	tcase_add_test(t, pieces_are_counted_anew);
	tcase_add_test(t, a_region_goes);
	tcase_add_test(t, hosts_cost_nothing);
	tcase_add_test(t, regions_over_a_restart);
	tcase_add_test(t, kept_over_a_restart);
	tcase_add_test(t, any_number_of_workers);
	tcase_add_test(t, reserved_sls);
	tcase_add_test(t, memory_runs_out);
	return s;
}

int
main(void)
{
	return load_engines() ? run_suite(events_suite()) : 1;
}
