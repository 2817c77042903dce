/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast groups: what a join must say, which bits come and go, when a group dies,
 * who may speak for whom, and that no MLID is ever lost.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/registry/groups.h"
#include "lib/rng.h"
#include "tests/run.h"

#define MASK_JOIN (SA_MCR_MGID | SA_MCR_PORT_GID | SA_MCR_JOIN_STATE)
#define MASK_CREATE \
	(MASK_JOIN | SA_MCR_QKEY | SA_MCR_PKEY | SA_MCR_TCLASS | SA_MCR_SL | SA_MCR_FLOW_LABEL)
#define PREFIX UINT64_C(0xfe80000000000000)
#define RATE_10 3 /* 10 Gbit/s */
#define RATE_40 7
#define RATE_2_5 2

static struct groups *g;
static struct groups_settings set;

static void
setup(void)
{
	groups_settings_default(&set);
	set.last_mlid = 0xc000 + 31;
	set.share = GROUPS_SHARE_NONE;
	set.share_when_full = false;
	g = groups_new(&set);
	ck_assert_ptr_nonnull(g);
}

static void
teardown(void)
{
	groups_free(g);
}

/* Ports 0x100 and up hold P_Key 0x8001 beside the default one; below only that. */
static bool
has_pkey(void *arg, uint64_t port, uint16_t pkey)
{
	(void)arg;
	return (pkey & 0x7fff) == 0x7fff || ((pkey & 0x7fff) == 1 && port >= 0x100);
}

static struct group_caller
caller(uint64_t requester, uint64_t port)
{
	return (struct group_caller){ .requester = requester,
		.port = port,
		.mtu = 5,
		.rate = RATE_40,
		.has_pkey = has_pkey };
}

static struct sa_mc_member_record
record(uint64_t low, uint64_t port, unsigned state)
{
	return (struct sa_mc_member_record){ .mgid = { UINT64_C(0xff12a01c00000000), low },
		.port_gid = { PREFIX, port },
		.qkey = 0xb1b,
		.pkey = 0xffff,
		.join_state = (uint8_t)state };
}

static uint16_t
join_as(uint64_t low, uint64_t requester, uint64_t port, unsigned state,
    struct sa_mc_member_record *got)
{
	struct sa_mc_member_record want = record(low, port, state);
	struct group_caller c = caller(requester, port);

	return groups_join(g, &want, MASK_CREATE, &c, got);
}

static uint16_t
join(uint64_t low, uint64_t port, unsigned state)
{
	struct sa_mc_member_record got;

	return join_as(low, port, port, state, &got);
}

static uint16_t
leave(uint64_t low, uint64_t port, unsigned state)
{
	struct sa_mc_member_record want = record(low, port, state), got;
	struct group_caller c = caller(port, port);

	return groups_leave(g, &want, MASK_JOIN, &c, &got);
}

/* JoinState of the member as kept, 0: none. */
static unsigned
state_of(uint64_t low, uint64_t port)
{
	struct sa_gid mgid = { UINT64_C(0xff12a01c00000000), low };
	uint32_t i = groups_find(g, mgid), k;
	uint64_t p, r;

	if (i == UINT32_MAX || (k = groups_find_member(g, i, port)) == UINT32_MAX)
		return 0;
	return groups_member(g, i, k, &p, &r).join_state;
}

/* ---------------------------------------------------------------- components */

START_TEST(components_are_demanded)
{
	static const uint64_t needed[] = { SA_MCR_QKEY, SA_MCR_PKEY, SA_MCR_TCLASS, SA_MCR_SL,
		SA_MCR_FLOW_LABEL, SA_MCR_MGID, SA_MCR_PORT_GID, SA_MCR_JOIN_STATE };
	struct sa_mc_member_record want = record(1, 1, JOIN_FULL), got;
	struct group_caller c = caller(1, 1);

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		ck_assert_uint_eq(groups_join(g, &want, MASK_CREATE & ~needed[i], &c, &got),
		    SA_REQ_INSUFFICIENT_COMPONENTS);
	ck_assert_uint_eq(groups_count(g), 0);
	ck_assert_uint_eq(groups_join(g, &want, MASK_CREATE, &c, &got), SA_OK);
	/* it is there: that will do */
	ck_assert_uint_eq(groups_join(g, &want, MASK_JOIN, &c, &got), SA_OK);
	ck_assert_uint_eq(got.mlid, 0xc000);
	ck_assert_uint_eq(got.qkey, 0xb1b);
	ck_assert_uint_eq(got.mtu, 5);
	ck_assert_uint_eq(got.mtu_selector, SA_EXACTLY);
	ck_assert_uint_eq(got.rate, RATE_40);
}
END_TEST

START_TEST(what_differs_from_the_group_is_refused)
{
	struct sa_mc_member_record want = record(1, 1, JOIN_FULL), got, other;
	struct group_caller c = caller(1, 1), slow = caller(2, 2);

	ck_assert_uint_eq(groups_join(g, &want, MASK_CREATE, &c, &got), SA_OK);
	other = want;
	other.qkey++;
	ck_assert_uint_eq(
	    groups_join(g, &other, MASK_JOIN | SA_MCR_QKEY, &c, &got), SA_REQ_INVALID);
	ck_assert_uint_eq(groups_join(g, &other, MASK_JOIN, &c, &got), SA_OK);
	other = want;
	other.sl = 3;
	ck_assert_uint_eq(groups_join(g, &other, MASK_JOIN | SA_MCR_SL, &c, &got), SA_REQ_INVALID);
	other = want;
	other.pkey = 0x7fff; /* limited or full does not matter */
	ck_assert_uint_eq(groups_join(g, &other, MASK_JOIN | SA_MCR_PKEY, &c, &got), SA_OK);
	other.pkey = 0x8001;
	ck_assert_uint_eq(
	    groups_join(g, &other, MASK_JOIN | SA_MCR_PKEY, &c, &got), SA_REQ_INVALID);
	slow.rate = RATE_10;
	ck_assert_uint_eq(groups_join(g, &want, MASK_JOIN, &slow, &got), SA_REQ_INVALID);
	slow = caller(2, 2);
	slow.mtu = 4;
	ck_assert_uint_eq(groups_join(g, &want, MASK_JOIN, &slow, &got), SA_REQ_INVALID);
	c.port = 0; /* nobody's GID */
	ck_assert_uint_eq(groups_join(g, &want, MASK_JOIN, &c, &got), SA_REQ_INVALID);
}
END_TEST

static const struct selected {
	uint64_t mask;
	uint8_t selector, value, expect; /* expect 0: refused */
} selected[] = {
	{ SA_MCR_RATE | SA_MCR_RATE_SELECTOR, SA_GREATER, RATE_10, RATE_40 },
	{ SA_MCR_RATE | SA_MCR_RATE_SELECTOR, SA_GREATER, RATE_40, 0 },
	{ SA_MCR_RATE | SA_MCR_RATE_SELECTOR, SA_GREATER, 63, 0 },
	{ SA_MCR_RATE | SA_MCR_RATE_SELECTOR, SA_LESS, RATE_2_5, 0 },
	{ SA_MCR_RATE | SA_MCR_RATE_SELECTOR, SA_LESS, RATE_10, 5 }, /* 5 Gbit/s */
	{ SA_MCR_RATE | SA_MCR_RATE_SELECTOR, SA_EXACTLY, RATE_10, RATE_10 },
	{ SA_MCR_RATE | SA_MCR_RATE_SELECTOR, SA_LARGEST, RATE_10, RATE_40 },
	{ SA_MCR_RATE, SA_GREATER, RATE_40, RATE_40 }, /* half an order is none */
	{ SA_MCR_MTU | SA_MCR_MTU_SELECTOR, SA_GREATER, 5, 0 },
	{ SA_MCR_MTU | SA_MCR_MTU_SELECTOR, SA_GREATER, 6, 0 },
	{ SA_MCR_MTU | SA_MCR_MTU_SELECTOR, SA_LESS, 1, 0 },
	{ SA_MCR_MTU | SA_MCR_MTU_SELECTOR, SA_LESS, 5, 4 },
	{ SA_MCR_MTU | SA_MCR_MTU_SELECTOR, SA_GREATER, 1, 5 },
	{ SA_MCR_MTU | SA_MCR_MTU_SELECTOR, SA_EXACTLY, 4, 4 },
};

START_TEST(selectors_choose)
{
	const struct selected *t = &selected[_i];
	struct sa_mc_member_record want = record(1, 1, JOIN_FULL), got;
	struct group_caller c = caller(1, 1);
	bool is_rate = (t->mask & SA_MCR_RATE) != 0;
	uint16_t status;

	*(is_rate ? &want.rate_selector : &want.mtu_selector) = t->selector;
	*(is_rate ? &want.rate : &want.mtu) = t->value;
	status = groups_join(g, &want, MASK_CREATE | t->mask, &c, &got);
	ck_assert_uint_eq(status, t->expect != 0 ? SA_OK : SA_REQ_INVALID);
	if (t->expect != 0)
		ck_assert_uint_eq(is_rate ? got.rate : got.mtu, t->expect);
}
END_TEST

START_TEST(mgids_are_looked_at)
{
	static const struct {
		uint64_t prefix, low;
		uint16_t pkey, status;
	} t[] = {
		{ UINT64_C(0xfa12a01c00000000), 1, 0xffff, SA_REQ_INVALID },
		{ UINT64_C(0xff12a01b00000000), 1, 0xffff, SA_REQ_INVALID }, /* ours alone */
		{ UINT64_C(0xff15a01b00000000), 1, 0xffff, SA_OK },
		{ UINT64_C(0xff22a01c00000000), 1, 0xffff, SA_REQ_INVALID }, /* flags */
		{ UINT64_C(0xff1fa01c00000000), 1, 0xffff, SA_OK },
		{ UINT64_C(0xff02000000000000), 1, 0xffff, SA_OK },
		{ UINT64_C(0xff12401bffff0000), 1, 0xffff, SA_OK },
		{ UINT64_C(0xff12401b80010000), 1, 0xffff, SA_REQ_INVALID }, /* another P_Key */
		{ UINT64_C(0xff12601b80010000), 1, 0x8001, SA_OK },
		{ UINT64_C(0xff12a01c00000000), 9, 0x8002, SA_REQ_INVALID }, /* nobody has it */
		{ UINT64_C(0xff12a01c00000000), 9, 0x8000, SA_REQ_INVALID },
	};
	struct sa_mc_member_record got;
	struct group_caller c = caller(0x100, 0x100);

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct sa_mc_member_record want = record(t[i].low, 0x100, JOIN_FULL);

		want.mgid.prefix = t[i].prefix;
		want.pkey = t[i].pkey;
		ck_assert_msg(
		    groups_join(g, &want, MASK_CREATE, &c, &got) == t[i].status, "%zu", i);
	}
}
END_TEST

START_TEST(zero_asks_for_a_mgid)
{
	struct sa_mc_member_record want = record(0, 1, JOIN_FULL), got, again;
	struct group_caller c = caller(1, 1);

	want.mgid.prefix = 0;
	ck_assert_uint_eq(groups_join(g, &want, MASK_CREATE, &c, &got), SA_OK);
	ck_assert_uint_eq(got.mgid.prefix, UINT64_C(0xff12a01bfe800000));
	ck_assert_uint_eq(got.scope, 2);
	want.scope = 5;
	ck_assert_uint_eq(groups_join(g, &want, MASK_CREATE | SA_MCR_SCOPE, &c, &again), SA_OK);
	ck_assert_uint_eq(again.mgid.prefix >> 48, 0xff15);
	ck_assert_uint_ne(again.mgid.guid, got.mgid.guid);
	ck_assert_uint_eq(groups_count(g), 2);
}
END_TEST

/* -------------------------------------------------------------- bits and death */

START_TEST(who_makes_and_keeps_a_group)
{
	for (unsigned state = 0; state < 16; state++) {
		bool keeps = state & (JOIN_FULL | JOIN_SEND_ONLY_FULL);

		ck_assert_uint_eq(join(1, 1, state), keeps ? SA_OK : SA_REQ_INVALID);
		ck_assert_uint_eq(groups_count(g), keeps);
		if (!keeps)
			continue;
		ck_assert_uint_eq(join(1, 2, JOIN_NON), SA_OK);
		ck_assert_uint_eq(leave(1, 1, state), SA_OK);
		ck_assert_uint_eq(groups_count(g), 0); /* the non-member goes with it */
		ck_assert_uint_eq(groups_n_joins(g, 2), 0);
	}
}
END_TEST

START_TEST(bits_come_and_go)
{
	struct sa_mc_member_record want = record(1, 1, JOIN_SEND_ONLY_NON), got;
	struct group_caller c = caller(1, 1);

	ck_assert_uint_eq(join(1, 1, JOIN_FULL), SA_OK);
	ck_assert_uint_eq(groups_join(g, &want, MASK_JOIN, &c, &got), SA_OK);
	ck_assert_uint_eq(got.join_state, JOIN_FULL | JOIN_SEND_ONLY_NON);
	ck_assert_uint_eq(leave(1, 1, JOIN_NON), SA_REQ_INVALID); /* was not there */
	ck_assert_uint_eq(leave(1, 1, JOIN_NON | JOIN_FULL), SA_REQ_INVALID);
	ck_assert_uint_eq(leave(1, 1, 0), SA_REQ_INVALID);
	ck_assert_uint_eq(leave(1, 2, JOIN_FULL), SA_REQ_INVALID);
	ck_assert_uint_eq(leave(2, 1, JOIN_FULL), SA_REQ_INVALID);
	ck_assert_uint_eq(groups_leave(g, &want, MASK_JOIN, &c, &got), SA_OK);
	ck_assert_uint_eq(got.join_state, JOIN_FULL);
	ck_assert_uint_eq(state_of(1, 1), JOIN_FULL);
	want.join_state = JOIN_FULL;
	ck_assert_uint_eq(groups_leave(g, &want, MASK_JOIN, &c, &got), SA_OK);
	ck_assert_uint_eq(got.join_state, 0);
	ck_assert_uint_eq(groups_count(g), 0);
}
END_TEST

/* Joined to send only, left as a full member that never was: OpenSM lost an MLID each time. */
START_TEST(a_wrong_leave_loses_no_mlid)
{
	for (int i = 0; i < 3000; i++) {
		ck_assert_uint_eq(join((uint64_t)i, 1, JOIN_SEND_ONLY_FULL), SA_OK);
		ck_assert_uint_eq(leave((uint64_t)i, 1, JOIN_FULL), SA_REQ_INVALID);
		ck_assert_uint_eq(leave((uint64_t)i, 1, JOIN_SEND_ONLY_FULL), SA_OK);
	}
	ck_assert_uint_eq(groups_n_mlids(g), 0);
}
END_TEST

START_TEST(kept_groups_stay)
{
	struct sa_mc_member_record kept = record(7, 0, 0), got;
	struct group_caller c = caller(1, 1);

	kept.mtu = 4;
	kept.rate = RATE_10;
	ck_assert(groups_keep(g, &kept, 1));
	ck_assert_uint_eq(join(7, 1, JOIN_NON), SA_OK); /* no one has to make it */
	ck_assert_uint_eq(leave(7, 1, JOIN_NON), SA_OK);
	ck_assert_uint_eq(groups_count(g), 1);
	kept.join_state = JOIN_FULL;
	ck_assert_uint_eq(groups_join(g, &kept, MASK_JOIN, &c, &got), SA_OK);
	ck_assert_uint_eq(got.mtu, 4);
	ck_assert(groups_keep(g, NULL, 0)); /* a member is left */
	ck_assert_uint_eq(groups_count(g), 1);
	ck_assert_uint_eq(leave(7, 1, JOIN_FULL), SA_OK);
	ck_assert_uint_eq(groups_count(g), 0);
	ck_assert(groups_keep(g, &kept, 1));
	ck_assert(groups_keep(g, NULL, 0));
	ck_assert_uint_eq(groups_n_mlids(g), 0);
}
END_TEST

START_TEST(others_may_not_speak_for_a_port)
{
	struct sa_mc_member_record want = record(1, 0x101, JOIN_FULL), got;
	struct group_caller own = caller(0x101, 0x101), other = caller(0x102, 0x101),
			    stranger = caller(3, 0x101);

	want.pkey = 0x8001;
	ck_assert_uint_eq(groups_join(g, &want, MASK_CREATE, &own, &got), SA_OK);
	ck_assert_uint_eq(got.proxy_join, 0);
	ck_assert_uint_eq(groups_join(g, &want, MASK_JOIN, &other, &got), SA_REQ_INVALID);
	ck_assert_uint_eq(groups_leave(g, &want, MASK_JOIN, &other, &got), SA_REQ_INVALID);
	ck_assert_uint_eq(groups_leave(g, &want, MASK_JOIN, &own, &got), SA_OK);
	/* joined by a proxy: any of the partition */
	ck_assert_uint_eq(groups_join(g, &want, MASK_CREATE, &stranger, &got), SA_REQ_INVALID);
	ck_assert_uint_eq(groups_join(g, &want, MASK_CREATE, &other, &got), SA_OK);
	ck_assert_uint_eq(got.proxy_join, 1);
	ck_assert_uint_eq(groups_leave(g, &want, MASK_JOIN, &stranger, &got), SA_REQ_INVALID);
	ck_assert_uint_eq(groups_leave(g, &want, MASK_JOIN, &own, &got), SA_OK);
}
END_TEST

START_TEST(nobody_may_join)
{
	ck_assert_uint_eq(join(1, 1, JOIN_FULL), SA_OK);
	set.closed = true;
	groups_configure(g, &set);
	ck_assert_uint_eq(join(1, 2, JOIN_FULL), SA_REQ_DENIED);
	ck_assert_uint_eq(join(2, 2, JOIN_SEND_ONLY_NON), SA_REQ_DENIED);
	ck_assert_uint_eq(groups_count(g), 1);
	ck_assert_uint_eq(leave(1, 1, JOIN_FULL), SA_OK);
	ck_assert_uint_eq(groups_count(g), 0);
}
END_TEST

START_TEST(a_client_has_bounds)
{
	set.max_joins = 5;
	groups_configure(g, &set);
	for (uint64_t i = 1; i <= 5; i++)
		ck_assert_uint_eq(join(i, 1, JOIN_FULL), SA_OK);
	ck_assert_uint_eq(join(6, 1, JOIN_FULL), SA_NO_RESOURCES);
	ck_assert_uint_eq(join(5, 1, JOIN_NON), SA_OK); /* holds that already */
	ck_assert_uint_eq(join(6, 2, JOIN_FULL), SA_OK);
	ck_assert_uint_eq(leave(1, 1, JOIN_FULL), SA_OK);
	ck_assert_uint_eq(join(6, 1, JOIN_FULL), SA_OK);
	ck_assert_uint_eq(groups_drop_port(g, 1), 5);
	ck_assert_uint_eq(groups_n_joins(g, 1), 0);
	ck_assert_uint_eq(groups_count(g), 1);
}
END_TEST

/* ------------------------------------------------------------------------ MLIDs */

START_TEST(mlids_run_out_and_come_back)
{
	for (uint64_t i = 0; i < 32; i++)
		ck_assert_uint_eq(join(i, 1 + i, JOIN_FULL), SA_OK);
	ck_assert_uint_eq(join(99, 99, JOIN_FULL), SA_NO_RESOURCES);
	ck_assert_uint_eq(leave(17, 18, JOIN_FULL), SA_OK);
	ck_assert_uint_eq(join(99, 99, JOIN_FULL), SA_OK);
	ck_assert_uint_eq(groups_n_mlids(g), 32);
	set.share_when_full = true;
	groups_configure(g, &set);
	ck_assert_uint_eq(join(100, 1, JOIN_FULL), SA_OK);
	ck_assert_uint_eq(groups_n_mlids(g), 32);
	ck_assert_uint_eq(groups_count(g), 33);
}
END_TEST

/* How many groups of its own a port can make before it is refused. */
static uint32_t
take_all(uint64_t port)
{
	uint32_t n = 0;

	while (join(1000 * port + n, port, JOIN_FULL) == SA_OK)
		n++;
	return n;
}

START_TEST(nobody_takes_the_last_mlids)
{
	static const uint32_t gets[] = { 16, 8, 4, 2, 1, 1, 0 };
	uint32_t n = groups_count(g);

	for (uint64_t port = 1; port <= 7; port++)
		ck_assert_uint_eq(take_all(port), gets[port - 1]);
	/* what is shared is charged to who took it, as long as it is in use */
	ck_assert_uint_eq(groups_drop_port(g, 1), 16);
	ck_assert_uint_eq(take_all(1), 8);
	ck_assert_uint_eq(take_all(7), 4);
	for (uint64_t port = 1; port <= 7; port++)
		groups_drop_port(g, port);
	ck_assert_uint_eq(groups_count(g), n);
	ck_assert_uint_eq(take_all(2), 16);
	set.share_when_full = true; /* beyond its part it shares with itself */
	groups_configure(g, &set);
	ck_assert_uint_eq(join(77, 2, JOIN_FULL), SA_OK);
	ck_assert_uint_eq(groups_n_mlids(g), 16);
	ck_assert_uint_eq(join(78, 3, JOIN_FULL), SA_OK);
	ck_assert_uint_eq(groups_n_mlids(g), 17);
}
END_TEST

static uint16_t
join_solicited(uint32_t host, uint64_t port, uint16_t *mlid)
{
	struct sa_mc_member_record want = record(0, port, JOIN_FULL), got = { 0 };
	struct group_caller c = caller(port, port);
	uint16_t status;

	want.mgid = (struct sa_gid){ UINT64_C(0xff12601bffff0000), UINT64_C(0x1ff000000) | host };
	status = groups_join(g, &want, MASK_CREATE, &c, &got);
	*mlid = got.mlid;
	return status;
}

START_TEST(solicited_node_groups_share)
{
	uint16_t mlid, first = 0;

	set.share = _i == 0 ? GROUPS_SHARE_ONE : GROUPS_SHARE_SOME;
	set.share_mlids = 8;
	groups_configure(g, &set);
	for (uint32_t h = 0; h < 200; h++) {
		ck_assert_uint_eq(join_solicited(h, 1 + h % 50, &mlid), SA_OK);
		first = h == 0 ? mlid : first;
		ck_assert(_i == 1 || mlid == first);
	}
	ck_assert_uint_eq(groups_count(g), 200);
	ck_assert_uint_eq(groups_n_mlids(g), _i == 0 ? 1 : 8);
	ck_assert_uint_eq(join(1, 1, JOIN_FULL), SA_OK); /* no such group */
	ck_assert_uint_eq(groups_n_mlids(g), _i == 0 ? 2 : 9);
}
END_TEST

/* Sharers of an MLID are one to the fabric: a port leaves it with its last group. */
START_TEST(members_count_over_sharers)
{
	struct group_event e;
	uint16_t a, b;
	unsigned last = 99;

	set.share = GROUPS_SHARE_ONE;
	groups_configure(g, &set);
	ck_assert_uint_eq(join_solicited(1, 5, &a), SA_OK);
	ck_assert_uint_eq(join_solicited(2, 5, &b), SA_OK);
	ck_assert_uint_eq(a, b);
	while (groups_next_event(g, &e)) {
	}
	for (uint32_t h = 1; h <= 2; h++) {
		struct sa_mc_member_record want = record(0, 5, JOIN_FULL), got;
		struct group_caller c = caller(5, 5);

		want.mgid =
		    (struct sa_gid){ UINT64_C(0xff12601bffff0000), UINT64_C(0x1ff000000) | h };
		ck_assert_uint_eq(groups_leave(g, &want, MASK_JOIN, &c, &got), SA_OK);
		while (groups_next_event(g, &e))
			if (e.kind == GROUP_MEMBER)
				last = e.state;
		ck_assert_uint_eq(last, h == 1 ? JOIN_FULL : 0);
	}
}
END_TEST

/* 100,000 joins and leaves at random against a plain model; what happens is told. */
#define N_PORTS 12
#define N_GROUPS 20

START_TEST(nothing_leaks)
{
	unsigned model[N_GROUPS][N_PORTS] = { { 0 } }, told[32][N_PORTS + 1] = { { 0 } };
	uint32_t n_born = 0, n_dead = 0;
	struct fm_rng rng;

	fm_rng_seed(&rng, 5);
	for (int i = 0; i < 100000; i++) {
		uint32_t gr = fm_rng_below(&rng, N_GROUPS), p = fm_rng_below(&rng, N_PORTS);
		unsigned bits = 1 + fm_rng_below(&rng, 15), *m = &model[gr][p], keepers = 0,
			 any = 0;
		struct group_event e;
		uint16_t status;

		for (unsigned q = 0; q < N_PORTS; q++)
			any |= model[gr][q];
		if (fm_rng_below(&rng, 2)) {
			status = join(gr, p + 1, bits);
			ck_assert_uint_eq(
			    status, any != 0 || (bits & JOIN_KEEPS) ? SA_OK : SA_REQ_INVALID);
			*m |= status == SA_OK ? bits : 0;
		} else {
			status = leave(gr, p + 1, bits);
			ck_assert_uint_eq(status, (*m & bits) == bits ? SA_OK : SA_REQ_INVALID);
			*m &= status == SA_OK ? ~bits : ~0u;
		}
		for (unsigned q = 0; q < N_PORTS; q++)
			keepers |= model[gr][q] & JOIN_KEEPS;
		for (unsigned q = 0; q < N_PORTS && keepers == 0; q++)
			model[gr][q] = 0;
		ck_assert_uint_eq(state_of(gr, p + 1), *m);
		while (groups_next_event(g, &e)) {
			n_born += e.kind == GROUP_BORN;
			n_dead += e.kind == GROUP_DEAD;
			if (e.kind == GROUP_MEMBER)
				told[e.mlid - 0xc000][e.port] = e.state;
		}
		ck_assert_uint_eq(n_born - n_dead, groups_count(g));
		ck_assert_uint_eq(groups_n_mlids(g), groups_count(g));
	}
	for (uint32_t gr = 0; gr < N_GROUPS; gr++) {
		struct sa_gid mgid = { UINT64_C(0xff12a01c00000000), gr };
		uint32_t at = groups_find(g, mgid);

		for (uint32_t p = 0; p < N_PORTS; p++)
			if (at != UINT32_MAX)
				ck_assert_uint_eq(
				    told[groups_record(g, at).mlid - 0xc000][p + 1], model[gr][p]);
	}
	for (uint64_t p = 1; p <= N_PORTS; p++)
		groups_drop_port(g, p);
	ck_assert_uint_eq(groups_n_mlids(g), 0);
	ck_assert_uint_eq(groups_count(g), 0);
	ck_assert(!groups_lost(g));
}
END_TEST

START_TEST(a_restart_changes_nothing)
{
	struct groups *fresh = groups_new(&set);

	ck_assert_uint_eq(join(3, 1, JOIN_FULL), SA_OK);
	ck_assert_uint_eq(join(4, 1, JOIN_FULL), SA_OK);
	ck_assert_uint_eq(join(4, 2, JOIN_SEND_ONLY_NON), SA_OK);
	ck_assert_uint_eq(leave(3, 1, JOIN_FULL), SA_OK); /* 4 has MLID 0xc001 now */
	for (uint32_t i = 0; i < groups_count(g); i++)
		for (uint32_t k = 0; k < groups_n_members(g, i); k++) {
			uint64_t port, requester;
			struct sa_mc_member_record r = groups_member(g, i, k, &port, &requester);

			ck_assert(groups_restore(fresh, &r, port, requester, false));
		}
	groups_free(g);
	g = fresh;
	ck_assert_uint_eq(groups_count(g), 1);
	ck_assert_uint_eq(groups_record(g, 0).mlid, 0xc001);
	ck_assert_uint_eq(state_of(4, 1), JOIN_FULL);
	ck_assert_uint_eq(state_of(4, 2), JOIN_SEND_ONLY_NON);
	ck_assert_uint_eq(leave(4, 1, JOIN_FULL), SA_OK);
	ck_assert_uint_eq(groups_count(g), 0);
}
END_TEST

START_TEST(queries_match_by_selector)
{
	struct sa_mc_member_record have = record(1, 1, JOIN_FULL), want = { 0 };

	have.mtu = 4;
	have.rate = 5; /* 5 Gbit/s: the code is above that of 10 */
	want.mtu = 4;
	want.mtu_selector = SA_GREATER;
	ck_assert(groups_matches(&want, SA_MCR_MTU, &have));
	ck_assert(!groups_matches(&want, SA_MCR_MTU | SA_MCR_MTU_SELECTOR, &have));
	want.mtu_selector = SA_EXACTLY;
	ck_assert(groups_matches(&want, SA_MCR_MTU | SA_MCR_MTU_SELECTOR, &have));
	want.rate = RATE_10;
	want.rate_selector = SA_LESS;
	ck_assert(groups_matches(&want, SA_MCR_RATE | SA_MCR_RATE_SELECTOR, &have));
	want.qkey = 1;
	ck_assert(!groups_matches(&want, SA_MCR_QKEY, &have));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("groups");
	TCase *t = tcase_create("groups");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, components_are_demanded);
	tcase_add_test(t, what_differs_from_the_group_is_refused);
	tcase_add_loop_test(t, selectors_choose, 0, (int)(sizeof(selected) / sizeof(selected[0])));
	tcase_add_test(t, mgids_are_looked_at);
	tcase_add_test(t, zero_asks_for_a_mgid);
	tcase_add_test(t, who_makes_and_keeps_a_group);
	tcase_add_test(t, bits_come_and_go);
	tcase_add_test(t, a_wrong_leave_loses_no_mlid);
	tcase_add_test(t, kept_groups_stay);
	tcase_add_test(t, others_may_not_speak_for_a_port);
	tcase_add_test(t, nobody_may_join);
	tcase_add_test(t, a_client_has_bounds);
	tcase_add_test(t, mlids_run_out_and_come_back);
	tcase_add_test(t, nobody_takes_the_last_mlids);
	tcase_add_loop_test(t, solicited_node_groups_share, 0, 2);
	tcase_add_test(t, members_count_over_sharers);
	tcase_add_test(t, nothing_leaks);
	tcase_add_test(t, a_restart_changes_nothing);
	tcase_add_test(t, queries_match_by_selector);
	suite_add_tcase(s, t);
	return run_suite(s);
}
