/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verify against a brute-force judge that walks every pair packet by packet
 * and closes the dependency graph transitively, on small random fabrics with
 * random, shortest-path and damaged tables of all SL and SL2VL shapes; and
 * tables wrong on purpose, each caught by its name.
 */
#include "tests/run.h"
#include "tests/unit/brute.h"
#include "tests/unit/pgft.h"

static struct fm_pool *two, *eight;

/* ---------------------------------------------------------- the brute force */

struct brute {
	const struct fm_fabric *fab;
	const struct fm_tables *t;
	const struct verify_request *req;
	struct verdict v;
	uint64_t hops;
	struct brute_deps deps;
	bool wrong[MAX_SWITCHES], loop[MAX_SWITCHES], bad_sl[MAX_SWITCHES]; /* of one LID */
};

/* One packet from sw; the number of switches it met, 0 if it did not arrive. */
static uint32_t
send(struct brute *b, fm_sw sw, uint32_t in, uint32_t lid, uint32_t sl, bool carries)
{
	const struct fm_fabric *fab = b->fab;
	fm_end owner = fab->lid_end[lid];
	uint32_t last = UINT32_MAX;

	for (uint32_t hops = 1; hops < MAX_SWITCHES * 20; hops++) {
		uint8_t port = b->t->lft[sw][lid];
		fm_link l = fm_link_at(fab, sw, port);

		if (l == FM_NONE) {
			if (sw == fab->end_sw[owner] && port == fab->end_port[owner])
				return hops;
			for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++)
				if (fab->end_port[e] == port)
					b->wrong[sw] = true;
			return 0;
		}
		if (carries) {
			uint32_t v = l * 16 + brute_vl(fab, b->t, sw, in, l, sl);

			brute_step(&b->deps, last, v);
			last = v;
		}
		in = fab->link_port[fab->link_rev[l]];
		sw = fab->link_to[l];
	}
	/* still under way: on a loop; its least switch names it */
	fm_sw least = sw, at = sw;
	do {
		at = fab->link_to[fm_link_at(fab, at, b->t->lft[at][lid])];
		least = at < least ? at : least;
	} while (at != sw);
	b->loop[least] = true;
	return 0;
}

static void
brute_pair(struct brute *b, fm_end s, uint32_t lid)
{
	const struct fm_fabric *fab = b->fab;
	fm_sw sw = fab->end_sw[s], to = fab->end_sw[fab->lid_end[lid]];
	uint32_t sl = brute_sl(b->t, sw, lid),
		 hops = send(b, sw, fab->end_port[s], lid, sl % 16, true);

	if (sl > 15 && fm_link_at(fab, sw, b->t->lft[sw][lid]) != FM_NONE)
		b->bad_sl[sw] = true;
	if (b->req->sl_model == VERIFY_BOTH && fab->end_lid[s] != 0)
		for (uint32_t i = 0; i < 1u << fab->end_lmc[s]; i++)
			send(b, sw, fab->end_port[s], lid,
			    brute_sl(b->t, to, fab->end_lid[s] + i) % 16, true);
	if (hops == 0) {
		b->v.unreachable_pairs++;
		return;
	}
	b->v.reachable_pairs++;
	b->hops += hops;
	b->v.max_hops = hops > b->v.max_hops ? hops : b->v.max_hops;
}

static void
brute_lid(struct brute *b, const struct snapshot *snap, uint32_t lid)
{
	const struct fm_fabric *fab = b->fab;
	fm_end d = fab->lid_end[lid];

	memset(b->wrong, 0, sizeof(b->wrong) + sizeof(b->loop) + sizeof(b->bad_sl));
	for (fm_end s = 0; s < fab->n_ends; s++) {
		if (s == d || fab->end_kind[s] == FM_END_SWITCH)
			continue;
		if (fab->end_sw[s] == FM_NONE && fab->end_sw[d] == FM_NONE)
			b->v.reachable_pairs++;
		else if (fab->end_sw[s] == FM_NONE || fab->end_sw[d] == FM_NONE ||
		    snap->sw_component[fab->end_sw[s]] != snap->sw_component[fab->end_sw[d]])
			b->v.disjoint_pairs++;
		else
			brute_pair(b, s, lid);
	}
	for (fm_sw sw = 0; fab->end_kind[d] == FM_END_SWITCH && sw < fab->n_switches; sw++)
		if (sw != fab->end_sw[d] &&
		    snap->sw_component[sw] == snap->sw_component[fab->end_sw[d]] &&
		    send(b, sw, 0, lid, 0, false) == 0)
			b->v.switch_pairs_unrouted++;
	for (fm_sw sw = 0; sw < MAX_SWITCHES; sw++) {
		b->v.wrong_host += b->wrong[sw];
		b->v.loops += b->loop[sw];
		b->v.vl_errors += b->bad_sl[sw];
	}
}

static const struct verdict *
brute_force(const struct box *x, const struct verify_request *req)
{
	static struct brute b;

	memset(&b, 0, sizeof(b));
	b.fab = &x->snap->fab;
	b.t = &x->tables->t;
	b.req = req;
	for (uint32_t lid = 1; lid <= b.fab->max_lid; lid++)
		if (b.fab->lid_end[lid] != FM_NONE)
			brute_lid(&b, x->snap, lid);
	brute_cycles(&b.deps, b.fab, req->n_vls, &b.v);
	b.v.avg_hops = b.v.reachable_pairs ? (double)b.hops / (double)b.v.reachable_pairs : 0;
	return &b.v;
}

/* ------------------------------------------------------------------- tests */

/* The verdict, which is the same when every LID is followed by itself. */
static struct verdict
judge(const struct box *x, const struct verify_request *req, struct fm_pool *workers)
{
	struct verify_request one_by_one = *req;
	struct verdict v, w;
	struct fm_error err;

	one_by_one.one_by_one = true;
	ck_assert(verify_tables(x->snap, &x->tables->t, req, workers, &v, &err) == 0);
	ck_assert(verify_tables(x->snap, &x->tables->t, &one_by_one, workers, &w, &err) == 0);
	same_verdict(&v, &w, x->next_lid, true);
	return v;
}

/* Switches from sw to the LID, 0: it does not get there. */
static uint32_t
hops_to(const struct box *x, fm_sw sw, uint32_t lid)
{
	const struct fm_fabric *fab = &x->snap->fab;
	fm_end owner = fab->lid_end[lid];

	for (uint32_t hops = 1; hops <= fab->n_switches; hops++) {
		uint8_t port = x->tables->t.lft[sw][lid];
		fm_link l = fm_link_at(fab, sw, port);

		if (l == FM_NONE)
			return sw == fab->end_sw[owner] && port == fab->end_port[owner] ? hops : 0;
		sw = fab->link_to[l];
	}
	return 0;
}

/* What is to be known of a LID, switch by switch. */
static struct lid_sums
sum_by_hand(const struct box *x, uint32_t lid)
{
	const struct fm_fabric *fab = &x->snap->fab;
	fm_end owner = fab->lid_end[lid];
	bool is_switch = fab->end_kind[owner] == FM_END_SWITCH;
	uint32_t at[1000] = { 0 }; /* switches that send, by hops */
	struct lid_sums s = { 0 };

	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		uint32_t n = 0, h = hops_to(x, sw, lid);

		for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++)
			n += fab->end_kind[e] != FM_END_SWITCH && e != owner;
		s.reached += h > 0 ? n : 0;
		s.lost += h > 0 ? 0 : n;
		s.switch_lost += is_switch && h == 0 && sw != fab->end_sw[owner] &&
		    x->snap->sw_component[sw] == x->snap->sw_component[fab->end_sw[owner]];
		s.hops += (uint64_t)n * h;
		at[n > 0 ? h : 0]++;
	}
	for (uint32_t h = 999; h > 0; h--)
		if (at[h] > 0 && s.n_at_max == 0) {
			s.max_hops = (uint16_t)h;
			s.n_at_max = (uint16_t)at[h];
		} else if (at[h] > 0 && s.n_at_next == 0) {
			s.next_hops = (uint16_t)h;
			s.n_at_next = (uint16_t)at[h];
		}
	return s;
}

/* How many are known; they are right. */
static uint32_t
check_sums(const struct box *x, struct fm_pool *workers)
{
	const struct fm_fabric *fab = &x->snap->fab;
	struct lid_sums *sums = calloc(fab->max_lid + 1u, sizeof(*sums));
	struct fm_error err;
	uint32_t n = 0;

	ck_assert_int_eq(verify_sum_lids(x->snap, &x->tables->t, workers, sums, &err), 0);
	for (uint32_t lid = 0; lid <= fab->max_lid; lid++) {
		const struct lid_sums *a = &sums[lid];
		struct lid_sums b;

		if (!a->known)
			continue;
		n++;
		b = sum_by_hand(x, lid);
		ck_assert_msg(a->reached == b.reached && a->lost == b.lost &&
			a->switch_lost == b.switch_lost && a->hops == b.hops,
		    "LID %u", lid);
		ck_assert_msg(a->max_hops == b.max_hops && a->n_at_max == b.n_at_max &&
			a->next_hops == b.next_hops && a->n_at_next == b.n_at_next,
		    "LID %u: %u switches at %u hops, %u at %u", lid, a->n_at_max, a->max_hops,
		    a->n_at_next, a->next_hops);
	}
	free(sums);
	return n;
}

static void
compare_seed(uint64_t seed, uint32_t damage_one_in, bool with_sls)
{
	struct box x = { 0 };
	struct fm_rng r;
	struct verify_request req;
	struct verdict v, w;

	fm_rng_seed(&r, seed);
	req = (struct verify_request){ .n_vls = (uint8_t)(1 + fm_rng_below(&r, 8)) };
	req.sl_model = fm_rng_below(&r, 2) ? VERIFY_BOTH : VERIFY_FORWARD;
	random_fabric(&x, &r);
	shortest_tables(&x, &r);
	if (damage_one_in > 0)
		damage(&x, &r, damage_one_in);
	if (with_sls)
		random_sls(&x, &r);
	v = judge(&x, &req, NULL);
	same_verdict(&v, brute_force(&x, &req), seed, false);
	ck_assert_msg((v.fault == VERIFY_OK) == (v.witness[0] == '\0'), "seed %llu",
	    (unsigned long long)seed);
	w = judge(&x, &req, two);
	same_verdict(&w, &v, seed, true);
	if (seed % 8 == 0) {
		w = judge(&x, &req, eight);
		same_verdict(&w, &v, seed, true);
	}
	if (!with_sls)
		check_sums(&x, two);
	drop(&x);
}

START_TEST(test_random)
{
	for (uint64_t seed = 0; seed < 400; seed++) {
		compare_seed(seed, 0, false);
		compare_seed(seed + 10000, 0, true);
		compare_seed(seed + 20000, 12, false);
		compare_seed(seed + 30000, 12, true);
		compare_seed(seed + 40000, 2, seed % 2);
		compare_seed(seed + 50000, 1, seed % 2);
	}
}
END_TEST

static const struct verify_request plain = { .n_vls = 8, .sl_model = VERIFY_BOTH };

START_TEST(test_good)
{
	struct box x = { 0 };
	struct verdict v;

	ring(&x);
	v = judge(&x, &plain, two);
	ck_assert_int_eq(v.fault, VERIFY_OK);
	ck_assert_uint_eq(v.reachable_pairs, 4 * 3 + 4 * 4);
	ck_assert_uint_eq(v.max_hops, 4);
	ck_assert_str_eq(v.witness, "");
	ck_assert(verdict_is_safe(&v, false));
	drop(&x);
}
END_TEST

START_TEST(test_loop)
{
	struct box x = { 0 };
	struct verdict v;

	ring(&x);
	x.tables->t.lft[1][8] = 3; /* s0 sends it to s1, s1 back to s0 */
	v = judge(&x, &plain, NULL);
	ck_assert_int_eq(v.fault, VERIFY_LOOP);
	ck_assert_uint_eq(v.loops, 1);
	ck_assert(!verdict_is_safe(&v, true));
	ck_assert_str_eq(v.witness,
	    "packets to LID 8 of 'end' go round in circles: "
	    "switch 's0' port 2, switch 's1' port 3, and again");
	drop(&x);
}
END_TEST

START_TEST(test_dead_end)
{
	struct box x = { 0 };
	struct verdict v;

	ring(&x);
	x.tables->t.lft[1][8] = FM_PORT_NONE;
	v = judge(&x, &plain, NULL);
	ck_assert_int_eq(v.fault, VERIFY_UNREACHABLE);
	ck_assert_uint_eq(v.unreachable_pairs, 2);
	ck_assert_str_eq(
	    v.witness, "'end' cannot reach LID 8 of 'end': switch 's1' has no entry for it");
	x.tables->t.lft[1][8] = 9;
	v = judge(&x, &plain, NULL);
	ck_assert_uint_eq(v.unreachable_pairs, 2);
	ck_assert_str_eq(v.witness,
	    "'end' cannot reach LID 8 of 'end': switch 's1' sends it to port 9, which has no "
	    "cable");
	ck_assert(verdict_is_safe(&v, false));
	drop(&x);
}
END_TEST

START_TEST(test_wrong_host)
{
	struct box x = { 0 };
	struct verdict v;

	ring(&x);
	x.tables->t.lft[1][8] = 1;
	v = judge(&x, &plain, NULL);
	ck_assert_int_eq(v.fault, VERIFY_WRONG_HOST);
	ck_assert_uint_eq(v.wrong_host, 1);
	ck_assert_uint_eq(v.unreachable_pairs, 2);
	ck_assert(!verdict_is_safe(&v, true));
	ck_assert_str_eq(v.witness, "switch 's1' hands LID 8 of 'end' to port 1, where 'end' is");
	drop(&x);
}
END_TEST

/* All packets clockwise: the textbook deadlock.  Host LIDs only, so that the
 * traffic to switch LIDs has no part in it. */
static void
clockwise(struct box *x)
{
	ring(x);
	for (uint32_t sw = 0; sw < 4; sw++)
		for (uint32_t lid = 5; lid <= 8; lid++)
			x->tables->t.lft[sw][lid] = sw == lid - 5 ? 1 : 2;
}

START_TEST(test_credit_loop)
{
	struct box x = { 0 };
	struct verdict v;

	clockwise(&x);
	v = judge(&x, &plain, NULL);
	ck_assert_int_eq(v.fault, VERIFY_CREDIT_LOOP);
	ck_assert_uint_eq(v.credit_loops, 1);
	ck_assert_uint_eq(v.unreachable_pairs, 0);
	ck_assert(!verdict_is_safe(&v, false));
	ck_assert(verdict_is_safe(&v, true));
	ck_assert_str_eq(v.witness,
	    "credit loop over 4 links: switch 's0' port 2, then switch 's1' port 2, "
	    "then switch 's2' port 2, then switch 's3' port 2, and back to the first");
	drop(&x);
}
END_TEST

/* The same by packets to switches without ends: hosts at s0 and s2 only,
 * everything clockwise that is for s1 or s3. */
START_TEST(test_credit_loop_of_switches)
{
	struct box x = { .next_lid = 1 };
	struct verdict v;

	for (uint32_t i = 0; i < 4; i++)
		add_switch(&x);
	for (uint32_t i = 0; i < 4; i++)
		add_end(&x, i, FM_END_SWITCH, 0);
	add_end(&x, 0, FM_END_CA, 0);
	add_end(&x, 2, FM_END_CA, 0);
	for (uint32_t i = 0; i < 4; i++)
		ck_assert(fm_vec_push(&x.b.cables,
		    ((struct snapshot_cable){ .sw = { i, (i + 1) % 4 },
			.port = { 2, 3 },
			.n_vls = 4,
			.mbps = 1,
			.nominal_mbps = 1 })));
	build(&x);
	for (uint32_t sw = 0; sw < 4; sw++)
		for (uint32_t lid = 1; lid <= 6; lid++) {
			uint32_t to = lid <= 4 ? lid - 1 : lid == 5 ? 0 : 2;

			x.tables->t.lft[sw][lid] = sw == to ? lid > 4
			    : to % 2 == 1 || sw < to	    ? 2
							    : 3;
		}
	v = judge(&x, &plain, NULL);
	ck_assert_int_eq(v.fault, VERIFY_CREDIT_LOOP);
	ck_assert_uint_eq(v.credit_loops, 1);
	ck_assert_uint_eq(v.unreachable_pairs, 0);
	drop(&x);
}
END_TEST

/* The dateline cure: who will cross the cable 3-0 has SL 1, and VL 1 from
 * there on.  At s1 only the ingress port tells before from after. */
START_TEST(test_dateline)
{
	struct box x = { 0 };
	struct verdict v;
	struct fm_tables *t;

	clockwise(&x);
	t = &x.tables->t;
	t->sl_shape = FM_SL_BY_SW_DLID;
	t->sl2vl_shape = FM_SL2VL_BY_IN_OUT;
	t->n_vls_used = 2;
	for (uint32_t sw = 0; sw < 4; sw++) {
		for (uint32_t lid = 5; lid <= 8; lid++)
			t->sl[sw][lid] = lid - 5 < sw;
		for (uint32_t in = 1; in <= 3; in++)
			t->sl2vl[(t->sl2vl_first[sw] + in * 13 + 2) * 16 + 1] =
			    sw == 3 || (sw < 2 && in == 3);
	}
	v = judge(&x, &(struct verify_request){ .n_vls = 8, .sl_model = VERIFY_FORWARD }, NULL);
	ck_assert_msg(v.fault == VERIFY_OK, "%s", v.witness);
	ck_assert_uint_eq(v.vls, 2);
	/* replies use the other's SL and cross on VL 0 */
	v = judge(&x, &plain, NULL);
	ck_assert_int_eq(v.fault, VERIFY_CREDIT_LOOP);
	ck_assert(strstr(v.witness, "port 2 VL 0") != NULL);
	drop(&x);
}
END_TEST

START_TEST(test_vl_budget)
{
	struct box x = { 0 };
	struct verdict v;
	struct fm_tables *t;

	ring(&x);
	t = &x.tables->t;
	t->sl_shape = FM_SL_BY_DLID;
	t->n_vls_used = 6; /* the links have 4 */
	memset(t->sl[0], 5, 9);
	v = judge(&x, &plain, NULL);
	ck_assert_int_eq(v.fault, VERIFY_VL_BUDGET);
	ck_assert_uint_eq(v.vl_errors, 6);
	ck_assert(!verdict_is_safe(&v, true));
	ck_assert_str_eq(v.witness,
	    "switch 's0' port 2 carries packets on a VL that is beyond "
	    "the budget of 8 or the 4 of the link");
	drop(&x);
}
END_TEST

/* A tree, where nearly all LIDs are judged with the others behind their switch;
 * then with ever more entries wrong. */
START_TEST(test_tree)
{
	char kind[] = "pgft", h[] = "3", m[] = "7,4,5", w[] = "1,4,3", p[] = "1,1,1";
	char *const words[] = { kind, h, m, w, p };
	struct pgft tree = { 0 };
	struct box x = { 0 };
	struct fm_rng r;
	struct fm_error err;
	struct verdict v;

	ck_assert(pgft_make(&tree, words));
	x.snap = tree.snap;
	ck_assert(tables_new(pool, NULL, &x.snap->fab, 0, 0, &x.tables, &err) == 0);
	pgft_route(&tree, &x.tables->t);
	v = judge(&x, &plain, two);
	ck_assert_msg(v.fault == VERIFY_OK, "%s", v.witness);
	ck_assert_uint_eq(v.reachable_pairs, 140 * (139 + x.snap->fab.n_switches));
	ck_assert_uint_eq(v.max_hops, 5);
	ck_assert_uint_ge(check_sums(&x, two), 140);
	fm_rng_seed(&r, 1);
	for (int i = 0; i < 60; i++) {
		fm_sw sw = fm_rng_below(&r, x.snap->fab.n_switches);
		uint32_t lid = 1 + fm_rng_below(&r, x.snap->fab.max_lid);
		static const uint8_t odd[] = { 0, 255, 65, 200 };

		x.tables->t.lft[sw][lid] =
		    fm_rng_below(&r, 2) ? odd[fm_rng_below(&r, 4)] : (uint8_t)fm_rng_below(&r, 12);
		v = judge(&x, &plain, i % 2 ? two : NULL);
		check_sums(&x, i % 2 ? NULL : two);
	}
	ck_assert_uint_ne(v.fault, VERIFY_OK);
	drop(&x);
}
END_TEST

/* The same with SLs and VLs: LIDs that go the same way are judged together. */
static void
lay_sls(struct box *x, struct fm_rng *r)
{
	const struct fm_fabric *fab = &x->snap->fab;
	struct fm_tables *t = &x->tables->t;
	uint32_t n = t->sl2vl_first[fab->n_switches];
	uint32_t n_sls = 1 + fm_rng_below(r, 8), n_vls = 1 + fm_rng_below(r, 4);

	t->sl_shape = fm_rng_below(r, 3);
	t->sl2vl_shape = fm_rng_below(r, 3);
	t->n_vls_used = (uint8_t)n_vls;
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		for (uint32_t lid = 0; lid <= fab->max_lid; lid++)
			t->sl[sw][lid] = (uint8_t)fm_rng_below(r, n_sls);
	for (uint32_t i = 0; i < n * 16; i++)
		t->sl2vl[i] = (uint8_t)fm_rng_below(r, n_vls);
}

/* More (SL, VL) than fit a word where SLs are rounded up.  The last SL is a rare one, and the only
 * one that has VLs, which the budget of `narrow` does not have. */
static void
lay_nine_sls(struct box *x, struct fm_rng *r)
{
	const struct fm_fabric *fab = &x->snap->fab;
	struct fm_tables *t = &x->tables->t;
	uint32_t n = t->sl2vl_first[fab->n_switches];

	t->sl_shape = FM_SL_BY_SW_DLID;
	t->sl2vl_shape = FM_SL2VL_BY_IN_OUT;
	t->n_vls_used = 7;
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		for (uint32_t lid = 0; lid <= fab->max_lid; lid++)
			t->sl[sw][lid] = (uint8_t)(fm_rng_below(r, 64) == 0 ? 8 : lid % 8);
	for (uint32_t i = 0; i < n * 16; i++)
		t->sl2vl[i] = (uint8_t)(i % 16 == 8 ? fm_rng_below(r, 7) : 0);
}

static const struct verify_request narrow = { .n_vls = 1, .sl_model = VERIFY_BOTH };

START_TEST(test_tree_with_sls)
{
	char kind[] = "pgft", h[] = "3", m[] = "7,4,5", w[] = "1,4,3", p[] = "1,1,1";
	char *const words[] = { kind, h, m, w, p };
	struct fm_rng r;
	struct fm_error err;
	struct verdict v;

	fm_rng_seed(&r, 2);
	for (int i = 0; i < 24; i++) {
		struct pgft tree = { 0 };
		struct box x = { 0 };

		ck_assert(pgft_make(&tree, words));
		x.snap = tree.snap;
		ck_assert(
		    tables_new(pool, NULL, &x.snap->fab, FM_PROVIDES_SL, 0, &x.tables, &err) == 0);
		pgft_route(&tree, &x.tables->t);
		if (i % 4 == 0)
			lay_nine_sls(&x, &r);
		else
			lay_sls(&x, &r);
		for (int k = 0; k < i; k++) {
			fm_sw sw = fm_rng_below(&r, x.snap->fab.n_switches);
			uint32_t lid = 1 + fm_rng_below(&r, x.snap->fab.max_lid);
			uint8_t port = (uint8_t)fm_rng_below(&r, 12);

			x.tables->t.lft[sw][lid] = fm_rng_below(&r, 3) ? port : FM_PORT_NONE;
		}
		judge(&x, &narrow, two);
		v = judge(&x, &plain, i % 2 ? two : NULL);
		ck_assert_msg(i > 0 || v.fault == VERIFY_OK, "%s", v.witness);
		drop(&x);
	}
}
END_TEST

/* A switch that no packet reaches may say anything. */
START_TEST(test_junk)
{
	struct box x = { 0 };
	struct verdict v;

	ring(&x);
	for (uint32_t lid = 5; lid <= 8; lid++) {
		x.tables->t.lft[0][lid] = lid == 5 ? 1 : 3; /* s0 goes the short way */
		x.tables->t.lft[3][lid] = lid == 8 ? 1 : 3;
	}
	v = judge(&x, &plain, NULL);
	ck_assert_uint_eq(v.loops, 0);
	ck_assert_uint_eq(v.credit_loops, 0);
	drop(&x);
}
END_TEST

START_TEST(test_back_to_back)
{
	struct box x = { .next_lid = 1 };
	struct verdict v;

	add_end(&x, FM_NONE, FM_END_CA, 0);
	add_end(&x, FM_NONE, FM_END_CA, 1);
	build(&x);
	v = judge(&x, &plain, two);
	ck_assert_int_eq(v.fault, VERIFY_OK);
	ck_assert_uint_eq(v.reachable_pairs, 3);
	ck_assert_uint_eq(v.disjoint_pairs, 0);
	ck_assert_uint_eq(v.max_hops, 0);
	drop(&x);
}
END_TEST

static void
setup(void)
{
	pool = table_pool_new();
	two = fm_pool_new(2);
	eight = fm_pool_new(8);
	ck_assert(pool != NULL && two != NULL && eight != NULL);
}

static void
teardown(void)
{
	fm_pool_free(two);
	fm_pool_free(eight);
	table_pool_free(pool);
}

int
main(void)
{
	Suite *s = suite_create("verify");
	TCase *c = tcase_create("verify");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, test_random);
	tcase_add_test(c, test_good);
	tcase_add_test(c, test_tree);
	tcase_add_test(c, test_tree_with_sls);
	tcase_add_test(c, test_loop);
	tcase_add_test(c, test_dead_end);
	tcase_add_test(c, test_wrong_host);
	tcase_add_test(c, test_credit_loop);
	tcase_add_test(c, test_credit_loop_of_switches);
	tcase_add_test(c, test_dateline);
	tcase_add_test(c, test_vl_budget);
	tcase_add_test(c, test_junk);
	tcase_add_test(c, test_back_to_back);
	suite_add_tcase(s, c);
	return run_suite(s);
}
