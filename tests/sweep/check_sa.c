/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_sa - the SA over subnets that were swept: paths against a walker that
 * follows the tables in the switches over the cables, records against what
 * the nodes say, statuses for what cannot be, views that share against views
 * made anew.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/registry/registry.h"
#include "core/rmpp/rmpp_port.h"
#include "core/server/server.h"
#include "core/subnet/qos_policy.h"
#include "lib/rng.h"
#include "tests/run.h"
#include "tests/sweep/sa_rig.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

extern const struct fm_engine dfsssp_LTX_fm_engine, dragonfly_LTX_fm_engine, minhop_LTX_fm_engine,
    updn_LTX_fm_engine, lash_LTX_fm_engine, torus2qos_LTX_fm_engine;

static struct rig rig;
static struct sa_rig sa;
static const struct partitions *partitions; /* NULL: one */

static const struct fabric {
	const char *words;
	const struct fm_engine *engine;
	uint8_t lmc;
} fabrics[] = {
	{ "pgft 2 4,4 1,2 1,1", &minhop_LTX_fm_engine, 0 },
	{ "pgft 2 3,4 1,2 1,1", &updn_LTX_fm_engine, 2 },
	{ "torus 3x3 2", &dfsssp_LTX_fm_engine, 1 },
	{ "torus 4x3 1", &lash_LTX_fm_engine, 0 },
	{ "random 9 4 11 3", &dfsssp_LTX_fm_engine, 0 },
};

/* Links of all kinds: width and speed by the cable, MTU by the port. */
static void
vary_links(uint64_t seed)
{
	static const uint32_t lane[] = { 2000, 8000, 13640, 25000, 50000, 100000 };
	static const uint8_t width[] = { 1, 4, 4, 4 };
	struct fm_rng rng;

	fm_rng_seed(&rng, seed);
	for (uint32_t i = 0; i < rig.nl.n_nodes; i++)
		for (unsigned p = 1; p <= rig.nl.nodes[i].n_ports; p++) {
			struct netlist_port *a = netlist_port(&rig.nl, i, p), *b;

			if (a->peer_node == NETLIST_NONE)
				continue;
			b = netlist_port(&rig.nl, a->peer_node, a->peer_port);
			a->lane_mbps = b->lane_mbps = lane[fm_rng_below(&rng, N_OF(lane))];
			a->width = b->width = width[fm_rng_below(&rng, N_OF(width))];
		}
}

static void
vary_mtus(uint64_t seed)
{
	struct sim_fabric *f = sim_fabric(rig.sim);
	struct wire_port_info info;
	struct fm_rng rng;

	fm_rng_seed(&rng, seed);
	for (uint32_t p = 0; p < f->n_ports; p++) {
		wire_port_info_get(f->ports[p].info, &info);
		info.mtu_cap = (uint8_t)(3 + fm_rng_below(&rng, 3));
		wire_port_info_put(f->ports[p].info, &info);
	}
}

static void
bring_up(const struct fabric *f)
{
	rig_generate(&rig.nl, f->words);
	vary_links(7);
	rig_sim(&rig, NULL);
	vary_mtus(8);
	rig_use(&rig, f->engine);
	rig.set.addresses.lmc = f->lmc;
	rig.set.partitions.all = partitions;
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_int_eq(rig.last.outcome, SWEEP_UP);
	sa_rig_start(&sa, &rig);
	sa_rig_publish(&sa);
}

static void
tear_down(void)
{
	sa_rig_fini(&sa);
	rig_fini(&rig);
	partitions_put(partitions);
	partitions = NULL;
}

/* ------------------------------------------------------------- the walker */

static struct path_attr
less_of(struct path_attr a, uint8_t mtu, uint32_t mbps)
{
	a.mtu = mtu < a.mtu ? mtu : a.mtu;
	a.mbps = mbps < a.mbps ? mbps : a.mbps;
	return a;
}

/* What the link at a port carries, by the two agents. */
static struct path_attr
link_carries(uint32_t node, unsigned port, struct path_attr so_far)
{
	const struct netlist_port *n = netlist_port(&rig.nl, node, port);
	struct wire_port_info a, b;

	sim_port_info(rig.sim, node, port, &a);
	sim_port_info(rig.sim, n->peer_node, n->peer_port, &b);
	so_far = less_of(so_far, a.mtu_cap, n->width * n->lane_mbps);
	return less_of(so_far, b.mtu_cap, n->width * n->lane_mbps);
}

static bool
is_switch(uint32_t node)
{
	return rig.nl.nodes[node].type == NETLIST_SWITCH;
}

/* From an end to a LID, by the tables in the switches. */
static bool
walk(uint32_t node, unsigned port, uint16_t lid, struct path_attr *a)
{
	struct wire_port_info own;

	*a = (struct path_attr){ UINT8_MAX, UINT32_MAX };
	if (is_switch(node)) {
		sim_port_info(rig.sim, node, 0, &own);
		*a = less_of(*a, own.mtu_cap, wire_port_mbps(&own));
		port = sim_lft(rig.sim, node, lid);
	}
	for (int hops = 0; hops < 64; hops++) {
		const struct netlist_port *p = netlist_port(&rig.nl, node, port);

		if (port == 0 || port == 255 || p->peer_node == NETLIST_NONE)
			return false;
		*a = link_carries(node, port, *a);
		node = p->peer_node;
		sim_port_info(rig.sim, node, is_switch(node) ? 0 : p->peer_port, &own);
		if (lid >= own.lid && lid < own.lid + (1u << own.lmc)) {
			if (is_switch(node))
				*a = less_of(*a, own.mtu_cap, wire_port_mbps(&own));
			return true;
		}
		if (!is_switch(node))
			return false;
		port = sim_lft(rig.sim, node, lid);
	}
	return false;
}

static uint32_t
place_of(uint64_t guid, unsigned *port)
{
	for (uint32_t i = 0; i < rig.nl.n_nodes; i++)
		for (unsigned p = 0; p <= rig.nl.nodes[i].n_ports; p++)
			if (netlist_port(&rig.nl, i, p)->guid == guid) {
				*port = p;
				return i;
			}
	ck_abort_msg("no port has GUID 0x%jx", (uintmax_t)guid);
}

/* A path as the SA tells it is what the walker finds. */
static void
expect_path(const struct sa_view *v, const struct sa_path_record *r)
{
	uint32_t src = sa_view_end_of_lid(v, r->slid), dst = sa_view_end_of_lid(v, r->dlid);
	struct path_attr a, back;
	unsigned port, far_port;
	uint32_t node = place_of(r->sgid.guid, &port), far = place_of(r->dgid.guid, &far_port);
	bool returns;

	ck_assert_uint_eq(v->end[src].guid, r->sgid.guid);
	ck_assert_uint_eq(v->end[dst].guid, r->dgid.guid);
	if (src == dst)
		return;
	ck_assert_msg(walk(node, port, r->dlid, &a), "no way from %u to %u", r->slid, r->dlid);
	ck_assert_uint_eq(r->mtu, a.mtu);
	ck_assert_msg(r->rate == sa_rate_code(a.mbps), "LID %u to %u: rate %u, not %u (%u Mbit/s)",
	    r->slid, r->dlid, r->rate, sa_rate_code(a.mbps), a.mbps);
	ck_assert_uint_eq(r->sl, tables_sl(&v->plan->tables->t, v->end[src].sw, r->dlid));
	ck_assert_uint_eq(r->pkey, 0xffff);
	ck_assert_uint_eq(r->life, 18);
	returns = v->end[dst].is_switch || walk(far, far_port, r->slid, &back);
	ck_assert_uint_eq(r->reversible, returns);
}

/* Half the world from each CA: every LID that a walker reaches, and no other. */
START_TEST(paths_are_those_of_the_switches)
{
	struct sa_path_record want = { 0 }, r;
	struct sa_view *v;
	uint32_t n_paths = 0;

	bring_up(&fabrics[_i]);
	sa.set.path_select = SA_SRC_DST_ALL;
	sa_rig_publish(&sa);
	v = sa_slot_get(&sa.slot);
	for (uint32_t e = 0; e < v->n_ends; e++) {
		uint32_t lids = 0;

		if (v->end[e].is_switch)
			continue;
		want.sgid = (struct sa_gid){ v->set.gid_prefix, v->end[e].guid };
		ck_assert_uint_eq(
		    sa_rig_ask(&sa, SA_GET_TABLE, SA_PATH_RECORD, SA_PR_SGID, &want), SA_OK);
		for (uint32_t i = 0; i < sa_rig_n(&sa); i++) {
			sa_rig_record(&sa, i, &r);
			expect_path(v, &r);
		}
		for (uint32_t d = 0; d < v->n_ends; d++)
			lids += 1u << v->end[d].lmc;
		ck_assert_uint_eq(sa_rig_n(&sa), lids << v->end[e].lmc);
		n_paths += sa_rig_n(&sa);
	}
	ck_assert_uint_gt(n_paths, 100);
	sa_view_put(v);
	tear_down();
}
END_TEST

/* From each CA to each other the SA tells a path exactly where packets arrive.  How many do not. */
static unsigned
expect_paths_where_packets_arrive(void)
{
	const struct sa_view *v = sa.slot.view;
	struct sa_path_record want = { 0 };
	unsigned n_lost = 0;

	for (uint32_t e = 0; e < v->n_ends; e++)
		for (uint32_t d = 0; d < v->n_ends; d++) {
			struct sim_way way;
			unsigned port;
			uint32_t node = place_of(v->end[e].guid, &port);
			bool arrives, is_told;

			if (e == d || v->end[e].is_switch || v->end[d].is_switch)
				continue;
			want.slid = v->end[e].lid;
			want.dlid = v->end[d].lid;
			arrives = sim_walk(
			    rig.sim, (struct sim_place){ node, (uint8_t)port }, want.dlid, &way);
			is_told = sa_rig_ask(&sa, SA_GET_TABLE, SA_PATH_RECORD,
				      SA_PR_SLID | SA_PR_DLID, &want) == SA_OK &&
			    sa_rig_n(&sa) > 0;
			ck_assert_msg(is_told == arrives, "LID %u to %u %s, and the SA says %s",
			    want.slid, want.dlid, arrives ? "arrives" : "is lost",
			    is_told ? "a path" : "none");
			n_lost += !arrives;
		}
	return n_lost;
}

static void
refuse_all(bool refuse)
{
	for (uint32_t i = 0; i < rig.nl.n_nodes; i++)
		sim_fabric(rig.sim)->nodes[i].refuses = refuse && is_switch(i);
}

/* Switches that take no entries are told of as they are, not as they are to be. */
START_TEST(paths_of_switches_that_refuse)
{
	unsigned n_lost = 0;
	struct fm_rng rng;

	bring_up(&fabrics[_i]);
	fm_rng_seed(&rng, 5);
	refuse_all(true);
	for (int round = 0; round < 2; round++) {
		rig_lose_a_cable(&rig, &rng);
		rig_let_pass(&rig, 100);
		rig_run(&rig, SWEEP_HEAVY);
		ck_assert_int_eq(rig.last.outcome, SWEEP_UP);
		sa_rig_publish(&sa);
		n_lost += expect_paths_where_packets_arrive();
	}
	ck_assert_uint_gt(n_lost, 0);
	refuse_all(false);
	rig_run(&rig, SWEEP_HEAVY);
	sa_rig_publish(&sa);
	ck_assert_uint_eq(expect_paths_where_packets_arrive(), 0);
	tear_down();
}
END_TEST

/* Sources without rows are walked: a switch without hosts to everybody. */
START_TEST(paths_from_switches)
{
	struct sa_path_record want = { 0 }, r;
	const struct sa_view *v;
	uint32_t n_asked = 0;

	bring_up(&fabrics[0]);
	v = sa.slot.view;
	for (uint32_t e = 0; e < v->n_ends; e++)
		for (uint32_t d = 0; d < v->n_ends; d++) {
			if (!v->end[e].is_switch || v->end[d].is_switch)
				continue;
			want.slid = v->end[e].lid;
			want.dlid = v->end[d].lid;
			ck_assert_uint_eq(
			    sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, SA_PR_SLID | SA_PR_DLID, &want),
			    SA_OK);
			sa_rig_record(&sa, 0, &r);
			expect_path(v, &r);
			n_asked++;
		}
	ck_assert_uint_gt(n_asked, 50);
	tear_down();
}
END_TEST

/* Does a host hang off the switch behind an end? */
static bool
has_hosts(const struct sa_view *v, uint32_t end)
{
	bool has = false;

	for (uint32_t i = 0; i < v->n_ends; i++)
		has = has || (!v->end[i].is_switch && v->end[i].sw == v->end[end].sw);
	return has;
}

/* What no host sends is not in the proof: a path between two switches is reversible where
 * both have hosts; those to oneself, and to and from hosts, are. */
START_TEST(paths_between_switches)
{
	struct sa_path_record want = { 0 }, r;
	const struct sa_view *v;
	unsigned n[2] = { 0 };

	bring_up(&fabrics[0]);
	v = sa.slot.view;
	for (uint32_t e = 0; e < v->n_ends; e++)
		for (uint32_t d = 0; d < v->n_ends; d++) {
			bool proven = e == d || !v->end[e].is_switch || !v->end[d].is_switch ||
			    (has_hosts(v, e) && has_hosts(v, d));

			want.slid = v->end[e].lid;
			want.dlid = v->end[d].lid;
			ck_assert_uint_eq(
			    sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, SA_PR_SLID | SA_PR_DLID, &want),
			    SA_OK);
			sa_rig_record(&sa, 0, &r);
			ck_assert_uint_eq(r.reversible, proven);
			n[proven]++;
		}
	ck_assert_uint_gt(n[0], 0);
	ck_assert_uint_gt(n[1], 16 * 16);
	tear_down();
}
END_TEST

/* ------------------------------------------------------------- what is asked */

static struct sa_path_record
pair(void)
{
	const struct sa_view *v = sa.slot.view;
	struct sa_path_record r = { .sgid = { v->set.gid_prefix, 0 },
		.dgid = { v->set.gid_prefix, 0 } };

	for (uint32_t e = 0; e < v->n_ends; e++) {
		if (v->end[e].is_switch)
			continue;
		if (r.sgid.guid == 0)
			r.sgid.guid = v->end[e].guid;
		r.dgid.guid = v->end[e].guid; /* the last one */
	}
	return r;
}

#define PAIR (SA_PR_SGID | SA_PR_DGID)

/* With every code as the most: the fastest of those up to it that the path has. */
START_TEST(rates_that_hosts_know)
{
	struct sa_path_record want, r;
	uint32_t has;

	bring_up(&fabrics[0]);
	want = pair();
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR, &want), SA_OK);
	sa_rig_record(&sa, 0, &r);
	has = sa_rate_mbps(r.rate);
	for (uint8_t most = 2; most <= 25; most++) {
		uint32_t best = 0;

		for (uint8_t c = 2; c <= most; c++)
			if (sa_rate_mbps(c) <= has && sa_rate_mbps(c) > best)
				best = sa_rate_mbps(c);
		sa.set.max_rate = most;
		sa_rig_publish(&sa);
		ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR, &want), SA_OK);
		sa_rig_record(&sa, 0, &r);
		ck_assert_uint_le(r.rate, most);
		ck_assert_uint_eq(sa_rate_mbps(r.rate), best);
		for (uint8_t c = 2; c <= 25; c++) {
			want.rate_selector = SA_LESS;
			want.rate = c;
			if (sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD,
				PAIR | SA_PR_RATE_SELECTOR | SA_PR_RATE, &want) != SA_OK)
				continue;
			sa_rig_record(&sa, 0, &r);
			ck_assert_uint_le(r.rate, most);
			ck_assert_uint_lt(sa_rate_mbps(r.rate), sa_rate_mbps(c));
		}
	}
	tear_down();
}
END_TEST

START_TEST(selectors)
{
	struct sa_path_record want, r;
	uint8_t mtu, rate;

	bring_up(&fabrics[0]);
	want = pair();
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR, &want), SA_OK);
	sa_rig_record(&sa, 0, &r);
	ck_assert_uint_eq(r.mtu_selector, SA_EXACTLY);
	mtu = r.mtu;
	rate = r.rate;
	for (unsigned selector = 0; selector < 4; selector++)
		for (unsigned m = 1; m <= 6; m++) {
			bool fits = selector == SA_GREATER ? mtu > m
			    : selector == SA_LESS	   ? m > 1
			    : selector == SA_EXACTLY	   ? m <= mtu
							   : true;
			uint8_t is = selector == SA_LESS && mtu >= m ? (uint8_t)(m - 1)
			    : selector == SA_EXACTLY		     ? (uint8_t)m
								     : mtu;
			uint16_t status;

			want.mtu_selector = (uint8_t)selector;
			want.mtu = (uint8_t)m;
			status = sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD,
			    PAIR | SA_PR_MTU_SELECTOR | SA_PR_MTU, &want);
			ck_assert_msg((status == SA_OK) == fits, "MTU %u, selector %u, wanted %u",
			    mtu, selector, m);
			ck_assert(fits || status == SA_NO_RECORDS);
			if (fits) {
				sa_rig_record(&sa, 0, &r);
				ck_assert_uint_eq(r.mtu, is);
			}
		}
	for (unsigned selector = 0; selector < 4; selector++)
		for (unsigned c = 2; c < 64; c++) {
			uint32_t has = sa_rate_mbps(rate), asked = sa_rate_mbps((uint8_t)c);
			bool fits;

			if (asked == 0)
				asked = UINT32_MAX; /* not known: faster than all */
			fits = selector == SA_GREATER ? has > asked
			    : selector == SA_LESS     ? asked > 2000
			    : selector == SA_EXACTLY  ? has >= asked
						      : true;
			want.rate_selector = (uint8_t)selector;
			want.rate = (uint8_t)c;
			ck_assert_msg(
			    (sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD,
				 PAIR | SA_PR_RATE_SELECTOR | SA_PR_RATE, &want) == SA_OK) == fits,
			    "rate %u, selector %u, wanted %u", rate, selector, c);
			if (!fits)
				continue;
			sa_rig_record(&sa, 0, &r);
			if (selector == SA_LESS)
				ck_assert_uint_lt(sa_rate_mbps(r.rate), asked);
			if (selector == SA_EXACTLY)
				ck_assert_uint_eq(r.rate, c);
			ck_assert_uint_le(sa_rate_mbps(r.rate), has);
		}
	want.life_selector = SA_LESS;
	want.life = 18;
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR | SA_PR_LIFE_SELECTOR | SA_PR_LIFE, &want),
	    SA_NO_RECORDS);
	want.life = 19;
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR | SA_PR_LIFE_SELECTOR | SA_PR_LIFE, &want),
	    SA_OK);
	tear_down();
}
END_TEST

/* LMC 2: how many paths, which LIDs. */
START_TEST(several_lids)
{
	static const struct {
		enum sa_path_select select;
		unsigned n;
	} rows[] = { { SA_MINIMAL, 4 }, { SA_PAIRWISE, 4 }, { SA_ORDER_ALL, 16 },
		{ SA_SRC_DST_ALL, 16 } };
	struct sa_path_record want, r;

	bring_up(&fabrics[1]);
	want = pair();
	for (size_t i = 0; i < N_OF(rows); i++) {
		sa.set.path_select = rows[i].select;
		sa_rig_publish(&sa);
		ck_assert_uint_eq(
		    sa_rig_ask(&sa, SA_GET_TABLE, SA_PATH_RECORD, PAIR, &want), SA_OK);
		ck_assert_uint_eq(sa_rig_n(&sa), rows[i].n);
		want.n_paths = 3;
		sa_rig_ask(&sa, SA_GET_TABLE, SA_PATH_RECORD, PAIR | SA_PR_N_PATHS, &want);
		ck_assert_uint_eq(sa_rig_n(&sa), 3);
		sa_rig_record(&sa, 1, &r);
		want.slid = r.slid;
		sa_rig_ask(&sa, SA_GET_TABLE, SA_PATH_RECORD, PAIR | SA_PR_SLID, &want);
		ck_assert_uint_eq(sa_rig_n(&sa), rows[i].select >= SA_ORDER_ALL ? 4 : 1);
		sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR | SA_PR_SLID, &want);
		sa_rig_record(&sa, 0, &r);
		ck_assert_uint_eq(r.slid, want.slid);
	}
	tear_down();
}
END_TEST

/* Between two ports of one host and two of another paths come first that share no end. */
START_TEST(multi_paths)
{
	struct sa_multi_path_record want = { .n_sgids = 2, .n_dgids = 2, .independence = 1 };
	const uint64_t mask = SA_MPR_N_SGIDS | SA_MPR_N_DGIDS;
	struct sa_path_record r[4], other;
	const struct sa_view *v;

	bring_up(&fabrics[0]);
	v = sa.slot.view;
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET_MULTI, SA_MULTI_PATH_RECORD, 0, &want),
	    SA_REQ_INSUFFICIENT_COMPONENTS);
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_GET_MULTI, SA_MULTI_PATH_RECORD, mask, &want), SA_REQ_INVALID_GID);
	other = pair();
	for (uint32_t e = 0; sa.n_gids < 4; e++)
		if (!v->end[e].is_switch)
			sa.gid[sa.n_gids++] = (struct sa_gid){ v->set.gid_prefix, v->end[e].guid };
	sa.gid[3] = other.dgid;
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET_MULTI, SA_MULTI_PATH_RECORD, mask, &want), SA_OK);
	ck_assert_uint_eq(sa.h.attr, SA_PATH_RECORD);
	ck_assert_uint_eq(sa_rig_n(&sa), 4);
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_GET_MULTI, SA_MULTI_PATH_RECORD, mask | SA_MPR_INDEPENDENCE, &want),
	    SA_OK);
	for (uint32_t i = 0; i < 4; i++) {
		sa_rig_record(&sa, i, &r[i]);
		expect_path(v, &r[i]);
		ck_assert_uint_eq(r[i].preference, i);
	}
	ck_assert_uint_ne(r[0].sgid.guid, r[1].sgid.guid);
	ck_assert_uint_ne(r[0].dgid.guid, r[1].dgid.guid);
	want.n_paths = 2;
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_GET_MULTI, SA_MULTI_PATH_RECORD, mask | SA_MPR_N_PATHS, &want),
	    SA_OK);
	ck_assert_uint_eq(sa_rig_n(&sa), 2);
	want.n_sgids = 200;
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_GET_MULTI, SA_MULTI_PATH_RECORD, mask, &want), SA_REQ_INVALID);
	tear_down();
}
END_TEST

/* Four ports to four, 64 pairs of LIDs each: none is crowded out by the LIDs of the first, and
 * four paths come that share no end. */
START_TEST(multi_paths_of_many)
{
	static const struct fabric wide = { "pgft 2 3,4 1,2 1,1", &updn_LTX_fm_engine, 3 };
	struct sa_multi_path_record want = {
		.n_sgids = 4, .n_dgids = 4, .independence = 1, .n_paths = 4
	};
	const uint64_t mask =
	    SA_MPR_N_SGIDS | SA_MPR_N_DGIDS | SA_MPR_N_PATHS | SA_MPR_INDEPENDENCE;
	struct sa_path_record r[4];
	const struct sa_view *v;

	bring_up(&wide);
	sa.set.path_select = SA_ORDER_ALL;
	sa_rig_publish(&sa);
	v = sa.slot.view;
	for (uint32_t e = 0; sa.n_gids < 8; e++)
		if (!v->end[e].is_switch)
			sa.gid[sa.n_gids++] = (struct sa_gid){ v->set.gid_prefix, v->end[e].guid };
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET_MULTI, SA_MULTI_PATH_RECORD, mask, &want), SA_OK);
	ck_assert_uint_eq(sa_rig_n(&sa), 4);
	for (uint32_t i = 0; i < 4; i++) {
		sa_rig_record(&sa, i, &r[i]);
		expect_path(v, &r[i]);
		for (uint32_t k = 0; k < i; k++) {
			ck_assert_uint_ne(r[i].sgid.guid, r[k].sgid.guid);
			ck_assert_uint_ne(r[i].dgid.guid, r[k].dgid.guid);
		}
	}
	tear_down();
}
END_TEST

/* Each step of a trace is a cable, from the source to the destination. */
START_TEST(traces)
{
	struct sa_path_record want;
	struct sa_trace_record r, last = { 0 };
	unsigned port, n_long = 0;

	bring_up(&fabrics[_i]);
	want = pair();
	for (uint32_t d = 0; d < sa.slot.view->n_ends; d++) {
		want.dgid.guid = sa.slot.view->end[d].guid;
		if (want.dgid.guid == want.sgid.guid)
			continue;
		ck_assert_uint_eq(
		    sa_rig_ask(&sa, SA_GET_TRACE_TABLE, SA_PATH_RECORD, PAIR, &want), SA_OK);
		ck_assert_uint_eq(sa.h.attr, SA_TRACE_RECORD);
		for (uint32_t i = 0; i < sa_rig_n(&sa); i++) {
			const struct netlist_port *cable;

			sa_rig_record(&sa, i, &r);
			if (i == 0) {
				ck_assert_uint_eq(r.exit_port_id, want.sgid.guid);
				last = r;
				continue;
			}
			cable = netlist_port(
			    &rig.nl, place_of(last.exit_port_id, &port), last.exit_port);
			ck_assert_uint_eq(rig.nl.nodes[cable->peer_node].guid, r.node_id);
			ck_assert_uint_eq(cable->peer_port, r.entry_port);
			last = r;
		}
		n_long += sa_rig_n(&sa) > 4;
		place_of(want.dgid.guid, &port);
		if (sa.slot.view->end[d].is_switch)
			ck_assert_uint_eq(last.node_id, want.dgid.guid);
		else
			ck_assert_uint_eq(last.entry_port_id, want.dgid.guid);
		ck_assert_uint_eq(last.exit_port, 0);
	}
	ck_assert_uint_gt(n_long, 3);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET_TRACE_TABLE, SA_PATH_RECORD, SA_PR_SGID, &want),
	    SA_REQ_INSUFFICIENT_COMPONENTS);
	tear_down();
}
END_TEST

/* IBA 15.4.1: what cannot be answered is told so, and why. */
START_TEST(statuses)
{
	const struct sa_view *v;
	struct sa_path_record want, r;
	union sa_any any;
	uint16_t lid;

	bring_up(&fabrics[0]);
	v = sa.slot.view;
	want = pair();
	memset(&any, 0, sizeof(any));
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, 0, &want), SA_REQ_INSUFFICIENT_COMPONENTS);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, SA_PR_SGID, &want),
	    SA_REQ_INSUFFICIENT_COMPONENTS);
	want.dgid.guid ^= 0x5555;
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR, &want), SA_REQ_INVALID_GID);
	want = pair();
	want.sgid.prefix = 0xfec0000000000001;
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR, &want), SA_REQ_INVALID_GID);
	want = pair();
	want.dlid = 0xbffe;
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR | SA_PR_DLID, &want), SA_NO_RECORDS);
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_GET_TABLE, SA_PATH_RECORD, PAIR | SA_PR_DLID, &want), SA_OK);
	ck_assert_uint_eq(sa_rig_n(&sa), 0);
	want.pkey = 0; /* is none */
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR | SA_PR_PKEY, &want), SA_NO_RECORDS);
	want.pkey = 0x1234;
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR | SA_PR_PKEY, &want), SA_NO_RECORDS);
	want.pkey = 0x7fff;
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR | SA_PR_PKEY, &want), SA_OK);
	sa_rig_record(&sa, 0, &r);
	ck_assert_uint_eq(r.pkey, 0xffff);

	/* bounded work, whether anything matches or not */
	want.pkey = 0x1234;
	sa.set.most_paths = 20;
	sa_rig_publish(&sa);
	v = sa.slot.view;
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_GET_TABLE, SA_PATH_RECORD, SA_PR_PKEY, &want), SA_NO_RESOURCES);
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_GET_TABLE, SA_PATH_RECORD, PAIR | SA_PR_PKEY, &want), SA_OK);
	ck_assert_uint_eq(sa_counts(sa.sa)->too_long, 1);

	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_NODE_RECORD, 0, &any), SA_TOO_MANY_RECORDS);
	any.node.lid = 0xbffe;
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_NODE_RECORD, SA_BIT(0), &any), SA_NO_RECORDS);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET_TABLE, SA_NODE_RECORD, SA_BIT(0), &any), SA_OK);
	ck_assert_uint_eq(sa_rig_n(&sa), 0);
	ck_assert_uint_eq(sa_rig_ask(&sa, 0x7d, SA_NODE_RECORD, 0, &any), WIRE_STATUS_BAD_METHOD);
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_SET, SA_NODE_RECORD, 0, &any), WIRE_STATUS_BAD_METHOD_ATTR);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, 0x1234, 0, NULL), WIRE_STATUS_BAD_METHOD_ATTR);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET_TABLE, SA_PKEY_RECORD, 0, &any), SA_REQ_INVALID);
	sa.sm_key = 99;
	sa_rig_ask_in_vain(&sa, SA_GET, SA_NODE_RECORD, 0, &any);
	sa_rig_ask_in_vain(&sa, SA_GET_TABLE, SA_PKEY_RECORD, 0, &any);
	sa.sm_key = 1;
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET_TABLE, SA_PKEY_RECORD, 0, &any), SA_OK);
	ck_assert_uint_eq(sa_rig_n(&sa), v->n_ends);
	/* who is not of the subnet sees nothing */
	sa.sm_key = 0;
	lid = sa.from.lid;
	sa.from.lid = 0xbffe;
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET_TABLE, SA_NODE_RECORD, 0, &any), SA_OK);
	ck_assert_uint_eq(sa_rig_n(&sa), 0);
	sa.from.lid = lid;
	sa_slot_set(&sa.slot, NULL);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_NODE_RECORD, 0, &any), WIRE_STATUS_BUSY);
	tear_down();
}
END_TEST

/* What is no request gets no answer; what is cut short or garbled harms nobody. */
START_TEST(garbage)
{
	uint8_t mad[600];
	struct fm_rng rng;
	uint32_t before;

	bring_up(&fabrics[0]);
	fm_rng_seed(&rng, 4);
	for (int i = 0; i < 20000; i++) {
		size_t n = fm_rng_below(&rng, sizeof(mad));
		uint8_t *exact = malloc(n + 1);

		for (size_t k = 0; k < n; k++)
			exact[k] = (uint8_t)fm_rng_next(&rng);
		if (n > 20 && fm_rng_below(&rng, 8) != 0) {
			exact[1] = WIRE_CLASS_SA;
			exact[2] = SA_CLASS_VERSION;
			exact[3] = (uint8_t)(fm_rng_below(&rng, 2) ? SA_GET : SA_GET_TABLE);
			exact[16] = 0;
			exact[17] = (uint8_t)(0x10 + fm_rng_below(&rng, 0x30));
			for (size_t k = 36; k < n && k < 44; k++)
				exact[k] = 0; /* SM_Key */
		}
		before = sa.n_answers;
		sa_handle(sa.sa, &sa.from, exact, n, i);
		ck_assert_uint_eq(sa.n_answers - before,
		    n >= SA_DATA_AT && exact[1] == WIRE_CLASS_SA && (exact[3] & 0x80) == 0 &&
			exact[3] != WIRE_SEND && exact[3] != WIRE_TRAP &&
			exact[3] != WIRE_TRAP_REPRESS);
		free(exact);
	}
	tear_down();
}
END_TEST

/* ---------------------------------------------------------------- records */

START_TEST(records_are_what_nodes_say)
{
	const struct sa_view *v;
	union sa_any want, got;
	uint32_t n_cables = 0, n_ports = 0, place;
	unsigned port;

	bring_up(&fabrics[_i]);
	v = sa.slot.view;
	memset(&want, 0, sizeof(want));
	memset(&got, 0, sizeof(got));
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET_TABLE, SA_NODE_RECORD, 0, &want), SA_OK);
	ck_assert_uint_eq(sa_rig_n(&sa), v->n_ends);
	for (uint32_t i = 0; i < sa_rig_n(&sa); i++) {
		struct wire_port_info pi;

		sa_rig_record(&sa, i, &got);
		place = place_of(got.node.info.port_guid, &port);
		sim_port_info(rig.sim, place, port, &pi);
		ck_assert_uint_eq(got.node.lid, pi.lid);
		ck_assert_uint_eq(got.node.info.node_guid, rig.nl.nodes[place].guid);
		ck_assert_str_eq((char *)got.node.desc, rig.nl.nodes[place].desc);
	}
	for (uint32_t i = 0; i < rig.nl.n_nodes; i++) {
		n_ports += rig.nl.nodes[i].type == NETLIST_SWITCH;
		for (unsigned p = 1; p <= rig.nl.nodes[i].n_ports; p++) {
			bool cabled = netlist_port(&rig.nl, i, p)->peer_node != NETLIST_NONE;

			n_cables += cabled;
			n_ports += cabled || rig.nl.nodes[i].type == NETLIST_SWITCH;
		}
	}
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET_TABLE, SA_LINK_RECORD, 0, &want), SA_OK);
	ck_assert_uint_eq(sa_rig_n(&sa), n_cables);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET_TABLE, SA_PORT_INFO_RECORD, 0, &want), SA_OK);
	ck_assert_uint_eq(sa_rig_n(&sa), n_ports);
	for (uint32_t i = 0; i < sa_rig_n(&sa); i++) {
		struct wire_port_info pi;
		uint32_t end;

		sa_rig_record(&sa, i, &got);
		end = sa_view_end_of_lid(v, got.port_info.lid);
		place = place_of(v->end[end].guid, &port);
		sim_port_info(rig.sim, place, got.port_info.port, &pi);
		ck_assert_uint_eq(got.port_info.info.m_key, 0);
		ck_assert_uint_eq(got.port_info.info.port_state, pi.port_state);
		ck_assert_uint_eq(got.port_info.info.neighbor_mtu, pi.neighbor_mtu);
		ck_assert_uint_eq(got.port_info.info.lid, pi.lid);
	}
	tear_down();
}
END_TEST

START_TEST(tables_are_those_of_the_switches)
{
	const struct sa_view *v;
	union sa_any want, got;
	uint32_t n_blocks = 0, place;
	unsigned port;

	bring_up(&fabrics[_i]);
	v = sa.slot.view;
	memset(&want, 0, sizeof(want));
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET_TABLE, SA_LFT_RECORD, 0, &want), SA_OK);
	for (uint32_t i = 0; i < sa_rig_n(&sa); i++) {
		sa_rig_record(&sa, i, &got);
		place = place_of(v->end[sa_view_end_of_lid(v, got.lft.lid)].guid, &port);
		for (unsigned k = 0; k < 64; k++)
			ck_assert_uint_eq(got.lft.port[k],
			    sim_lft(rig.sim, place, (uint16_t)(64 * got.lft.block + k)));
		n_blocks++;
	}
	ck_assert_uint_gt(n_blocks, 5);
	want.lft.lid = got.lft.lid;
	want.lft.block = 0;
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_GET, SA_LFT_RECORD, SA_BIT(0) | SA_BIT(1), &want), SA_OK);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET_TABLE, SA_SL2VL_RECORD, 0, &want), SA_OK);
	ck_assert_uint_gt(sa_rig_n(&sa), v->n_ends);
	for (uint32_t i = 0; i < sa_rig_n(&sa); i++) {
		sa_rig_record(&sa, i, &got);
		for (unsigned sl = 0; sl < 16; sl++)
			ck_assert_uint_lt(got.sl2vl.vl[sl], 15);
	}
	tear_down();
}
END_TEST

/* Capabilities asked for bit by bit, or as a value (IBA 15.2.5.3). */
START_TEST(capability_match)
{
	const struct sa_view *v;
	union sa_any want, got;
	uint32_t sm, all;

	bring_up(&fabrics[0]);
	v = sa.slot.view;
	memset(&want, 0, sizeof(want));
	want.port_info.info.capability_mask = 1u << 1; /* IsSM */
	sa.modifier = 1u << 31;
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_GET_TABLE, SA_PORT_INFO_RECORD, SA_PIR_CAP_MASK, &want), SA_OK);
	sm = sa_rig_n(&sa);
	ck_assert_uint_eq(sm, 1);
	sa_rig_record(&sa, 0, &got);
	ck_assert_uint_eq(got.port_info.lid, v->end[v->self].lid);
	sa.modifier = 0;
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_GET_TABLE, SA_PORT_INFO_RECORD, SA_PIR_CAP_MASK, &want), SA_OK);
	all = sa_rig_n(&sa);
	ck_assert_uint_eq(all, 0);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_SM_INFO_RECORD, 0, &want), SA_OK);
	sa_rig_record(&sa, 0, &got);
	ck_assert_uint_eq(got.sm_info.info.guid, v->end[v->self].guid);
	ck_assert_uint_eq(got.sm_info.info.sm_key, 0);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_CLASS_PORT_INFO, 0, &want), SA_OK);
	sa_rig_record(&sa, 0, &got);
	ck_assert_uint_eq(got.class_port_info.class_version, SA_CLASS_VERSION);
	tear_down();
}
END_TEST

/* ------------------------------------------------------------- partitions */

/* Nodes of odd number: full in 1 and limited in the default partition; even ones only
 * limited there.  Our own port is full in both. */
static bool
is_odd(uint64_t guid)
{
	return guid / 256 % 2;
}

static void
split(void)
{
	static char text[8192];
	struct part_options o = { 0 };
	struct fm_error err = { 0 };
	size_t n = (size_t)snprintf(
	    text, sizeof(text), "Default=0x7fff : ALL=limited, SELF=full;\nodd=0x0001 : SELF=full");

	for (uint32_t i = 0; i < rig.nl.n_nodes; i++)
		for (unsigned p = 0; p <= rig.nl.nodes[i].n_ports; p++) {
			uint64_t guid = netlist_port(&rig.nl, i, p)->guid;

			if (guid != 0 && is_odd(guid))
				n += (size_t)snprintf(
				    text + n, sizeof(text) - n, ", 0x%jx=full", (uintmax_t)guid);
		}
	n += (size_t)snprintf(text + n, sizeof(text) - n, ";\n");
	ck_assert_uint_lt(n, sizeof(text));
	ck_assert_msg(
	    partitions_parse("p.conf", text, n, &o, &partitions, NULL, &err) == 0, "%s", err.msg);
}

START_TEST(partitions_hide)
{
	struct sa_path_record want = { 0 };
	struct sa_view *v;
	uint32_t n_paths = 0;

	rig_generate(&rig.nl, fabrics[0].words);
	split();
	netlist_fini(&rig.nl);
	bring_up(&fabrics[0]);
	v = sa_slot_get(&sa.slot);
	for (uint32_t a = 0; a < v->n_ends; a++)
		for (uint32_t b = 0; b < v->n_ends; b++) {
			bool a_odd = is_odd(v->end[a].guid), b_odd = is_odd(v->end[b].guid);
			bool may = (a_odd && b_odd) || a == v->self || b == v->self || a == b;
			uint16_t status;

			sa.from.lid = v->end[a].lid;
			want.slid = v->end[a].lid;
			want.dlid = v->end[b].lid;
			status =
			    sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, SA_PR_SLID | SA_PR_DLID, &want);
			ck_assert_msg(status == (may ? SA_OK : SA_NO_RECORDS), "%u to %u: 0x%04x",
			    want.slid, want.dlid, status);
			n_paths += may;
			ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET_TABLE, SA_NODE_RECORD, SA_BIT(0),
					      &(struct sa_node_record){ .lid = v->end[b].lid }),
			    SA_OK);
			ck_assert_uint_eq(sa_rig_n(&sa), may);
		}
	ck_assert_uint_gt(n_paths, v->n_ends);
	ck_assert_uint_lt(n_paths, v->n_ends * v->n_ends);
	ck_assert_uint_lt(v->pkeys.n, 4);
	sa_view_put(v);
	tear_down();
}
END_TEST

/* ------------------------------------------------------------- other subnets */

START_TEST(prefix_routes)
{
	struct sa_prefix_route route = { .prefix = 0xfec0000000000007 };
	struct sa_path_record want, r;

	bring_up(&fabrics[0]);
	want = pair();
	route.guid = want.dgid.guid;
	want.dgid = (struct sa_gid){ 0xfec0000000000007, 0x4242 };
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR, &want), SA_REQ_INVALID_GID);
	sa.set.route = &route;
	sa.set.n_routes = 1;
	sa_rig_publish(&sa);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR, &want), SA_OK);
	sa_rig_record(&sa, 0, &r);
	ck_assert_uint_eq(r.dgid.prefix, want.dgid.prefix);
	ck_assert_uint_eq(r.dgid.guid, want.dgid.guid);
	ck_assert_uint_eq(r.hop_limit, 0xff);
	ck_assert_uint_eq(
	    sa.slot.view->end[sa_view_end_of_lid(sa.slot.view, r.dlid)].guid, route.guid);
	want.dgid.prefix++;
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR, &want), SA_REQ_INVALID_GID);
	tear_down();
}
END_TEST

/* ---------------------------------------------------------- groups, aliases */

START_TEST(group_paths)
{
	struct sa_mc_member_record kept = { .mgid = { 0xff12401bffff0000, 0xffffffff },
		.qkey = 0xb1b,
		.mlid = 0xc000,
		.mtu = 4,
		.rate = 3,
		.life = 17,
		.pkey = 0xffff,
		.sl = 2,
		.tclass = 5,
		.flow_label = 9,
		.hop_limit = 3,
		.scope = 2 };
	struct sa_path_record want, r;

	bring_up(&fabrics[0]);
	want = pair();
	want.dgid = kept.mgid;
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR, &want), SA_NO_RECORDS);
	ck_assert(groups_keep(registry_groups(sa.registry), &kept, 1));
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR, &want), SA_OK);
	sa_rig_record(&sa, 0, &r);
	ck_assert_uint_eq(r.dgid.guid, kept.mgid.guid);
	ck_assert_uint_eq(r.sgid.guid, want.sgid.guid);
	ck_assert_uint_ge(r.dlid, 0xc000);
	ck_assert_uint_eq(r.mtu, 4);
	ck_assert_uint_eq(r.rate, 3);
	ck_assert_uint_eq(r.sl, 2);
	ck_assert_uint_eq(r.tclass, 5);
	ck_assert_uint_eq(r.hop_limit, 3);
	ck_assert_uint_eq(r.reversible, 0);
	want.mtu = 4;
	want.mtu_selector = SA_GREATER;
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR | SA_PR_MTU | SA_PR_MTU_SELECTOR, &want),
	    SA_NO_RECORDS);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, SA_PR_DGID, &want),
	    SA_REQ_INSUFFICIENT_COMPONENTS);
	tear_down();
}
END_TEST

/* A port answers to its alias, and is called by it. */
START_TEST(alias_paths)
{
	struct sa_path_record want, r;
	uint64_t alias[8] = { [3] = 0x1234567890 }, port;

	bring_up(&fabrics[0]);
	want = pair();
	port = want.dgid.guid;
	want.dgid.guid = alias[3];
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR, &want), SA_REQ_INVALID_GID);
	ck_assert_uint_eq(registry_set_aliases(sa.registry, port, 0, 1 << 3, alias), SA_OK);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR, &want), SA_OK);
	sa_rig_record(&sa, 0, &r);
	ck_assert_uint_eq(r.dgid.guid, alias[3]);
	ck_assert_uint_eq(sa.slot.view->end[sa_view_end_of_lid(sa.slot.view, r.dlid)].guid, port);
	tear_down();
}
END_TEST

/* ------------------------------------------------------------------- QoS */

static const char policy_text[] = "qos-levels\n"
				  "  qos-level\n    name: DEFAULT\n    sl: 0\n  end-qos-level\n"
				  "  qos-level\n    name: storage\n    sl: 3\n    mtu-limit: 3\n"
				  "    rate-limit: 3\n    packet-life: 12\n  end-qos-level\n"
				  "end-qos-levels\n"
				  "qos-match-rules\n"
				  "  qos-match-rule\n    service-id: 0x10-0x1f\n"
				  "    qos-level-name: storage\n  end-qos-match-rule\n"
				  "end-qos-match-rules\n";

/* May packets have any SL?  Only where the engine gives none and maps all to VLs alike. */
static bool
any_sl(const struct sa_view *v)
{
	const struct fm_tables *t = &v->plan->tables->t;

	return t->sl_shape == FM_SL_ZERO && t->sl2vl_shape == FM_SL2VL_MODULO;
}

/* An SL that is asked for, or that of the partition, is given where the engine leaves SLs free
 * and the tables do not drop it; elsewhere only the engine's is proven: on a dragonfly it is 0
 * for all, and changes VLs on the way. */
START_TEST(service_level_asked_for)
{
	static const struct {
		struct fabric f;
		bool is_free;
	} rows[] = { { { "pgft 2 4,4 1,2 1,1", &minhop_LTX_fm_engine, 0 }, true },
		{ { "random 9 4 11 3", &dfsssp_LTX_fm_engine, 0 }, false },
		{ { "dragonfly 4 1 1", &dragonfly_LTX_fm_engine, 0 }, false } };
	static struct qos qos;
	struct sa_path_record want, plain, r;

	bring_up(&rows[_i].f);
	ck_assert_int_eq(any_sl(sa.slot.view), rows[_i].is_free);
	want = pair();
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR, &want), SA_OK);
	sa_rig_record(&sa, 0, &plain);
	want.sl = plain.sl;
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR | SA_PR_SL, &want), SA_OK);
	want.sl = 14;
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR | SA_PR_SL, &want),
	    rows[_i].is_free ? SA_OK : SA_NO_RECORDS);
	if (rows[_i].is_free) {
		sa_rig_record(&sa, 0, &r);
		ck_assert_uint_eq(r.sl, 14);
		qos.port[QOS_SWITCH].sl2vl[14] = QOS_VL_DROP;
		sa.set.qos = &qos;
		sa_rig_publish(&sa);
		ck_assert_uint_eq(
		    sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR | SA_PR_SL, &want), SA_NO_RECORDS);
		sa.set.qos = NULL;
	}
	tear_down();
}
END_TEST

/* By service id a path gets a level: another SL, where the engine has no say, and less of
 * the rest; without one it is what it was. */
START_TEST(service_levels)
{
	static const struct fabric dragonfly = { "dragonfly 4 1 1", &dragonfly_LTX_fm_engine, 0 };
	const struct qos_policy *policy = NULL;
	const struct partitions *parts = NULL;
	struct part_options o = { .qos = true };
	struct sa_path_record want, plain, r;
	uint8_t sent[64];
	struct fm_error err = { 0 };

	bring_up(_i < (int)N_OF(fabrics) ? &fabrics[_i] : &dragonfly);
	ck_assert_int_eq(partitions_default(&o, &parts, NULL, &err), 0);
	ck_assert_msg(qos_policy_parse("q", policy_text, sizeof(policy_text) - 1, parts, &policy,
			  NULL, &err) == 0,
	    "%s", err.msg);
	want = pair();
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR, &want), SA_OK);
	sa_rig_record(&sa, 0, &plain);
	memcpy(sent, sa.bytes + SA_DATA_AT, sizeof(sent));
	sa.set.qos_sls = true;
	sa.set.policy = policy;
	sa.set.partitions = parts;
	sa_rig_publish(&sa);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR, &want), SA_OK);
	ck_assert_uint_eq(sa_rig_n(&sa), 1);
	ck_assert_mem_eq(sa.bytes + SA_DATA_AT, sent, sizeof(sent));
	want.service_id = 0x12;
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR | SA_PR_SERVICE_ID, &want), SA_OK);
	sa_rig_record(&sa, 0, &r);
	if (any_sl(sa.slot.view))
		ck_assert_uint_eq(r.sl, 3);
	else
		ck_assert_uint_eq(r.sl, plain.sl); /* the engine's */
	ck_assert_uint_eq(r.mtu, 3);
	ck_assert_uint_eq(r.life, 12);
	ck_assert_uint_le(sa_rate_mbps(r.rate), 8000);
	want.service_id = 0x20;
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR | SA_PR_SERVICE_ID, &want), SA_OK);
	sa_rig_record(&sa, 0, &r);
	ck_assert_uint_eq(r.mtu, plain.mtu);
	qos_policy_put(policy); /* the view has its own */
	partitions_put(parts);
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR | SA_PR_SERVICE_ID, &want), SA_OK);
	sa.set.policy = NULL;
	sa.set.partitions = NULL;
	tear_down();
}
END_TEST

/* Within a partition that limits its paths they carry no more, and have its SL and no other where
 * the engine has no say. */
START_TEST(limits_of_a_partition)
{
	static const struct part_more more = {
		.name = "v", .pkey = 0x7fff, .sl_is_firm = true, .sl = 3, .mtu = 2, .rate = 5
	};
	const struct partitions *parts = NULL;
	struct part_options o = { .more = &more, .n_more = 1, .qos = true };
	struct sa_path_record want, plain, r;
	struct fm_error err = { 0 };
	uint16_t status;

	bring_up(&fabrics[_i]);
	ck_assert_int_eq(partitions_default(&o, &parts, NULL, &err), 0);
	want = pair();
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR, &want), SA_OK);
	sa_rig_record(&sa, 0, &plain);
	ck_assert_uint_gt(plain.mtu, 2);
	ck_assert_uint_gt(sa_rate_mbps(plain.rate), 4000);
	sa.set.qos_sls = true;
	sa.set.partitions = parts;
	sa_rig_publish(&sa);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR, &want), SA_OK);
	sa_rig_record(&sa, 0, &r);
	ck_assert_uint_eq(r.mtu, 2);
	ck_assert_uint_eq(r.rate, 5);
	ck_assert_uint_eq(r.sl, any_sl(sa.slot.view) ? 3 : plain.sl);
	want.sl = 3;
	status = sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR | SA_PR_SL, &want);
	ck_assert_uint_eq(status, any_sl(sa.slot.view) || plain.sl == 3 ? SA_OK : SA_NO_RECORDS);
	want.sl = 2;
	status = sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR | SA_PR_SL, &want);
	ck_assert_uint_eq(status, !any_sl(sa.slot.view) && plain.sl == 2 ? SA_OK : SA_NO_RECORDS);
	want.mtu_selector = SA_EXACTLY;
	want.mtu = 3;
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR | SA_PR_MTU_SELECTOR | SA_PR_MTU, &want),
	    SA_NO_RECORDS);
	partitions_put(parts);
	sa.set.qos_sls = false;
	sa.set.partitions = NULL;
	tear_down();
}
END_TEST

/* A torus has two levels of quality, each of the SLs by which paths are free of credit loops: bit 3
 * is that of the policy's SL, or of the SL that is asked for, or of the partition's. */
START_TEST(levels_of_a_torus)
{
	static const struct fabric torus = { "torus 5x4 1", &torus2qos_LTX_fm_engine, 0 };
	static char text[] = "Default=0x7fff, sl=9 : ALL=full;";
	const struct partitions *parts = NULL;
	const struct qos_policy *policy = NULL;
	struct part_options o = { .qos = true };
	struct sa_path_record want, plain, r;
	struct fm_error err = { 0 };

	bring_up(&torus);
	want = pair();
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR, &want), SA_OK);
	sa_rig_record(&sa, 0, &plain);
	ck_assert_uint_lt(plain.sl, 8);
	want.sl = plain.sl + 8;
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR | SA_PR_SL, &want), SA_OK);
	sa_rig_record(&sa, 0, &r);
	ck_assert_uint_eq(r.sl, plain.sl + 8);
	want.sl = (plain.sl ^ 1) + 8; /* crosses other datelines than it says */
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR | SA_PR_SL, &want), SA_NO_RECORDS);
	ck_assert_msg(partitions_parse("p", text, sizeof(text) - 1, &o, &parts, NULL, &err) == 0,
	    "%s", err.msg);
	sa.set.partitions = parts;
	sa_rig_publish(&sa);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR, &want), SA_OK);
	sa_rig_record(&sa, 0, &r);
	ck_assert_uint_eq(r.sl, plain.sl); /* without qos */
	sa.set.qos_sls = true;
	sa_rig_publish(&sa);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR, &want), SA_OK);
	sa_rig_record(&sa, 0, &r);
	ck_assert_uint_eq(r.sl, plain.sl + 8);
	ck_assert_msg(qos_policy_parse("q", policy_text, sizeof(policy_text) - 1, parts, &policy,
			  NULL, &err) == 0,
	    "%s", err.msg);
	sa.set.policy = policy;
	sa_rig_publish(&sa);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR, &want), SA_OK);
	sa_rig_record(&sa, 0, &r);
	ck_assert_uint_eq(r.sl, plain.sl); /* of the level DEFAULT, SL 0 */
	qos_policy_put(policy);
	partitions_put(parts);
	sa.set.policy = NULL;
	sa.set.partitions = NULL;
	tear_down();
}
END_TEST

/* ----------------------------------------------------------------- inline */

/* A transport that hands everything to one client, which takes part in RMPP. */
static struct wire {
	struct transport t;
	struct sa_server *server;
	struct rmpp_port *client;
	int64_t now_ns;
	unsigned n_plain, n_mads;
	uint8_t plain[MAD_BYTES];
	uint8_t *table;
	size_t n_table;
	FM_VEC(struct mad) to_server; /* the client's, not delivered yet */
	bool deaf;		      /* the client loses every third MAD */
} wire;

static int
wire_send(struct transport *t, const struct mad *m, struct fm_error *err)
{
	(void)t;
	(void)err;
	wire.n_mads++;
	if (wire.deaf && wire.n_mads % 3 == 0)
		return 0;
	if (rmpp_is_active(m->bytes)) {
		rmpp_port_take(wire.client, m->bytes, &m->addr, wire.now_ns);
	} else {
		wire.n_plain++;
		memcpy(wire.plain, m->bytes, sizeof(wire.plain));
	}
	return 0;
}

static int64_t
wire_now(struct transport *t)
{
	(void)t;
	return wire.now_ns;
}

static int
wire_fd(struct transport *t)
{
	(void)t;
	return -1;
}

static void
client_sends(void *arg, const uint8_t *mad, const struct mad_addr *to)
{
	struct mad m = { .addr = *to };

	(void)arg;
	memcpy(m.bytes, mad, sizeof(m.bytes));
	ck_assert(fm_vec_push(&wire.to_server, m));
}

static void
client_gets(void *arg, const uint8_t *message, size_t n_bytes, const struct mad_addr *from)
{
	(void)arg;
	(void)from;
	ck_assert_ptr_null(wire.table);
	wire.table = malloc(n_bytes);
	memcpy(wire.table, message, n_bytes);
	wire.n_table = n_bytes;
}

/* Deliver until all is quiet or so much time has passed. */
static void
let_flow(int64_t ms)
{
	for (int64_t end = wire.now_ns + ms * 1000000; wire.now_ns < end; wire.now_ns += 10000000) {
		while (wire.to_server.n > 0) {
			struct mad m = wire.to_server.item[0];

			memmove(wire.to_server.item, wire.to_server.item + 1,
			    --wire.to_server.n * sizeof(m));
			ck_assert(sa_server_on_mad(wire.server, &m));
		}
		sa_server_step(wire.server);
		rmpp_port_tick(wire.client, wire.now_ns);
	}
}

static void
ask_inline(uint8_t method, uint16_t attr)
{
	struct sa_header h = { .base_version = 1,
		.mgmt_class = WIRE_CLASS_SA,
		.class_version = SA_CLASS_VERSION,
		.method = method,
		.attr = attr,
		.tid = 77 };
	struct mad m = { .addr = sa.from };

	sa_header_put(m.bytes, &h);
	ck_assert(sa_server_on_mad(wire.server, &m));
}

/* On sim: fabrics tables of any length leave as RMPP and arrive whole, lost MADs or not. */
START_TEST(inline_tables)
{
	static const struct transport_ops ops = {
		.name = "wire", .send = wire_send, .now_ns = wire_now, .fd = wire_fd
	};
	struct rmpp_port_ops client = { .send = client_sends, .received = client_gets };
	struct rmpp_port_limits limits;
	struct fm_error err = { 0 };
	struct sa_header h;
	struct mad other = { .bytes = { 1, WIRE_CLASS_SMP_LID } };

	memset(&wire, 0, sizeof(wire));
	wire.deaf = _i == 1;
	bring_up(&fabrics[0]);
	rmpp_port_limits_default(&limits);
	wire.t.ops = &ops;
	wire.client = rmpp_port_new(&limits, &client);
	ck_assert_msg(sa_server_start(&wire.t, "", NULL, &wire.server, &err) == 0, "%s", err.msg);
	ask_inline(SA_GET, SA_CLASS_PORT_INFO);
	ck_assert_uint_eq(wire.n_plain, 1);
	sa_header_get(wire.plain, &h);
	ck_assert_uint_eq(h.status, WIRE_STATUS_BUSY); /* nothing is published yet */
	sa_server_publish(wire.server, sa_view_get(sa.slot.view));
	ask_inline(SA_GET_TABLE, SA_PATH_RECORD);
	let_flow(60000);
	sa_rig_ask(&sa, SA_GET_TABLE, SA_PATH_RECORD, 0, NULL);
	ck_assert_ptr_nonnull(wire.table);
	ck_assert_uint_eq(wire.n_table, sa.n_bytes);
	ck_assert_uint_gt(wire.n_table, 20000);
	ck_assert_mem_eq(wire.table + SA_DATA_AT, sa.bytes + SA_DATA_AT, sa.n_bytes - SA_DATA_AT);
	ck_assert(!sa_server_on_mad(wire.server, &other));
	free(wire.table);
	fm_vec_fini(&wire.to_server);
	rmpp_port_free(wire.client);
	sa_server_stop(wire.server);
	tear_down();
}
END_TEST

/* ------------------------------------------------------------------ views */

static void
same_classes(const struct sa_view *a, const struct sa_view *b)
{
	const struct fm_fabric *fab = &a->plan->snap->fab;

	ck_assert_uint_eq(a->n_ends, b->n_ends);
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		for (uint16_t lid = 0; a->rows->leaf[sw] != FM_NONE && lid <= fab->max_lid; lid++) {
			const struct path_attr *x = &a->rows->attr[rows_class(a->rows, sw, lid)],
					       *y = &b->rows->attr[rows_class(b->rows, sw, lid)];

			ck_assert_msg(x->mtu == y->mtu && x->mbps == y->mbps,
			    "switch %u to LID %u: %u/%u, anew %u/%u", sw, lid, x->mtu, x->mbps,
			    y->mtu, y->mbps);
		}
}

/* A link between switches carries less, and no entry changes for it. */
static void
shrink(uint32_t node, unsigned port)
{
	struct sim_port *p = fabric_port(sim_fabric(rig.sim), node, port);
	struct wire_port_info info;

	wire_port_info_get(p->info, &info);
	info.mtu_cap = info.neighbor_mtu = 3;
	wire_port_info_put(p->info, &info);
}

/* After each cut and return the view that shares is like one made anew. */
START_TEST(shared_views)
{
	struct sa_view *shared, *before;
	struct sa_slot keep;
	struct fm_rng rng;
	uint32_t n_shared = 0;

	bring_up(&fabrics[_i]);
	fm_rng_seed(&rng, 12);
	for (int round = 0; round < 12; round++) {
		uint32_t node = fm_rng_below(&rng, rig.nl.n_nodes);
		unsigned port = 1 + fm_rng_below(&rng, rig.nl.nodes[node].n_ports);

		if (netlist_port(&rig.nl, node, port)->peer_node == NETLIST_NONE ||
		    node == rig.place || netlist_port(&rig.nl, node, port)->peer_node == rig.place)
			continue;
		before = sa_slot_get(&sa.slot);
		if (round % 3 == 0)
			sim_unlink(rig.sim, node, port);
		else if (round % 3 == 1)
			sim_relink(rig.sim, node, port);
		else
			shrink(node, port);
		rig_let_pass(&rig, 100);
		rig_run(&rig, SWEEP_HEAVY);
		sa_rig_publish(&sa);
		shared = sa_slot_get(&sa.slot);
		ck_assert_uint_eq(shared->number, before->number + 1);
		for (uint32_t i = 0; i < before->n_nodes && i < shared->n_nodes; i++)
			n_shared += shared->node[i] == before->node[i];
		keep = sa.slot;
		sa_slot_init(&sa.slot);
		sa_rig_publish(&sa);
		same_classes(shared, sa.slot.view);
		sa_slot_fini(&sa.slot);
		sa.slot = keep;
		sa_view_put(shared);
		sa_view_put(before);
	}
	ck_assert_uint_gt(n_shared, 10);
	/* nothing new: all of it is shared */
	before = sa_slot_get(&sa.slot);
	sa_rig_publish(&sa);
	ck_assert_ptr_eq(before->rows, sa.slot.view->rows);
	sa_view_put(before);
	tear_down();
}
END_TEST

static struct sa_view *
begin(struct sa_view *prev)
{
	struct sa_view_source src = { .inv = sweeper_inventory(rig.sweeper),
		.plan = (struct plan *)(uintptr_t)sweeper_plan(rig.sweeper),
		.set = &sa.set,
		.pkeys = sweeper_pkeys(rig.sweeper),
		.prev = prev };
	struct fm_error err = { 0 };
	struct sa_view *v = NULL;

	ck_assert_msg(sa_view_begin(&src, &v, &err) == 0, "%s", err.msg);
	return v;
}

/* What is begun does not change any more when the subnet does, however late it is finished,
 * and the next may be begun before. */
START_TEST(views_begun)
{
	struct sa_view *first, *late, *next, *published;
	struct fm_error err = { 0 };
	uint32_t host, n_ends;

	bring_up(&fabrics[_i]);
	host = rig.nl.n_nodes - 1;
	while (rig.nl.nodes[host].type != NETLIST_CA)
		host--;
	ck_assert_uint_ne(host, rig.place);
	published = sa_slot_get(&sa.slot);
	first = begin(published);
	late = begin(first);
	ck_assert_uint_eq(late->number, published->number + 2);
	sim_unlink(rig.sim, host, 1);
	rig_let_pass(&rig, 100);
	rig_run(&rig, SWEEP_HEAVY);
	next = begin(late);
	n_ends = published->n_ends;
	ck_assert_int_eq(sa_view_finish(next, published, NULL, &err), 0);
	ck_assert_int_eq(sa_view_finish(late, next, NULL, &err), 0);
	ck_assert_uint_eq(next->n_ends, n_ends - 1);
	ck_assert_uint_eq(late->n_ends, n_ends);
	same_classes(late, published);
	sa_rig_publish(&sa);
	same_classes(next, sa.slot.view);
	sa_view_put(first); /* never finished */
	sa_view_put(late);
	sa_view_put(next);
	sa_view_put(published);
	tear_down();
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("sa");
	TCase *tc = tcase_create("sa");

	suite_add_tcase(s, tc);
	tcase_add_loop_test(tc, paths_are_those_of_the_switches, 0, N_OF(fabrics));
	tcase_add_loop_test(tc, paths_of_switches_that_refuse, 0, N_OF(fabrics));
	tcase_add_test(tc, paths_from_switches);
	tcase_add_test(tc, paths_between_switches);
	tcase_add_test(tc, rates_that_hosts_know);
	tcase_add_test(tc, selectors);
	tcase_add_test(tc, several_lids);
	tcase_add_test(tc, multi_paths);
	tcase_add_test(tc, multi_paths_of_many);
	tcase_add_loop_test(tc, traces, 0, N_OF(fabrics));
	tcase_add_test(tc, statuses);
	tcase_add_test(tc, garbage);
	tcase_add_loop_test(tc, records_are_what_nodes_say, 0, 2);
	tcase_add_loop_test(tc, tables_are_those_of_the_switches, 0, N_OF(fabrics));
	tcase_add_test(tc, capability_match);
	tcase_add_test(tc, partitions_hide);
	tcase_add_test(tc, prefix_routes);
	tcase_add_test(tc, group_paths);
	tcase_add_test(tc, alias_paths);
	tcase_add_loop_test(tc, service_level_asked_for, 0, 3);
	tcase_add_test(tc, levels_of_a_torus);
	tcase_add_loop_test(tc, service_levels, 0, N_OF(fabrics) + 1);
	tcase_add_loop_test(tc, limits_of_a_partition, 0, N_OF(fabrics));
	tcase_add_loop_test(tc, inline_tables, 0, 2);
	tcase_add_loop_test(tc, shared_views, 0, N_OF(fabrics));
	tcase_add_loop_test(tc, views_begun, 0, N_OF(fabrics));
	return run_suite(s);
}
