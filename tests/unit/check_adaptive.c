/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Adaptive routing judged: verify over random alternatives against a brute
 * force that closes the graph of all choices transitively; alternatives wrong
 * on purpose, each caught by its name; groups that make no sense.
 */
#include "core/graph/adaptive.h"
#include "tests/run.h"
#include "tests/unit/brute.h"

#undef fail /* check.h has an old macro of this name */

#define MAX_GROUPS 40

static struct fm_pool *two;

/* ------------------------------------------------------------------- groups */

/* The number of a group with these ports, made when there is none; 0: no room. */
static uint16_t
group_of(struct box *x, fm_sw sw, const uint64_t ports[4])
{
	static const uint64_t empty[4];

	for (uint16_t g = 1; g <= x->max_groups; g++) {
		uint64_t *row = x->tables->t.ar_ports[sw][g];

		if (memcmp(row, ports, sizeof(empty)) == 0)
			return g;
		if (memcmp(row, empty, sizeof(empty)) == 0) {
			memcpy(row, ports, sizeof(empty));
			return g;
		}
	}
	return 0;
}

static void
add_port(struct box *x, fm_sw sw, uint16_t lid, uint8_t port)
{
	uint64_t ports[4] = { 0 };
	uint8_t own = x->tables->t.lft[sw][lid];

	if (x->tables->t.ar_group[sw][lid] != 0)
		memcpy(ports, x->tables->t.ar_ports[sw][x->tables->t.ar_group[sw][lid]],
		    sizeof(ports));
	ports[own / 64] |= (uint64_t)1 << (own % 64);
	ports[port / 64] |= (uint64_t)1 << (port % 64);
	x->tables->t.ar_group[sw][lid] = group_of(x, sw, ports);
}

/* Breadth-first distances to a switch. */
static void
distances(const struct fm_fabric *fab, fm_sw to, uint32_t *far)
{
	memset(far, 0xff, MAX_SWITCHES * sizeof(*far));
	far[to] = 0;
	for (uint32_t hops = 0; hops < fab->n_switches; hops++)
		for (fm_link l = 0; l < fab->n_links; l++) {
			fm_sw from = fab->link_to[fab->link_rev[l]];

			if (far[fab->link_to[l]] == hops && far[from] > hops + 1)
				far[from] = hops + 1;
		}
}

/* Every port on a shortest way, where lead = 0; else some more, one in `lead`. */
static void
random_groups(struct box *x, struct fm_rng *r, uint32_t share, uint32_t lead)
{
	const struct fm_fabric *fab = &x->snap->fab;

	for (uint32_t lid = 1; lid <= fab->max_lid; lid++) {
		fm_end e = fab->lid_end[lid];
		uint32_t far[MAX_SWITCHES];

		if (e == FM_NONE || fab->end_sw[e] == FM_NONE)
			continue;
		distances(fab, fab->end_sw[e], far);
		for (fm_link l = 0; l < fab->n_links; l++) {
			fm_sw from = fab->link_to[fab->link_rev[l]];

			if (far[fab->link_to[l]] + 1 == far[from] && fm_rng_below(r, 8) < share)
				add_port(x, from, (uint16_t)lid, fab->link_port[l]);
		}
		for (fm_sw sw = 0; lead > 0 && sw < fab->n_switches; sw++)
			if (fm_rng_below(r, lead) == 0)
				add_port(x, sw, (uint16_t)lid, (uint8_t)fm_rng_below(r, 14));
	}
}

/* ---------------------------------------------------------- the brute force */

struct brute {
	const struct fm_fabric *fab;
	const struct fm_tables *t;
	const struct verify_request *req;
	struct verdict v;
	uint64_t hops;
	/* of one LID */
	uint32_t lid;
	bool leads[MAX_SWITCHES][MAX_SWITCHES]; /* in one step or more */
	bool lost[MAX_SWITCHES], wrong[MAX_SWITCHES], delivers[MAX_SWITCHES];
	bool met[MAX_SWITCHES]; /* by any packet */
	/* of all */
	struct brute_deps deps;
};

static bool
may_take(const struct brute *b, fm_sw sw, unsigned port)
{
	uint16_t g = b->t->ar_group[sw][b->lid];

	if (g == 0)
		return b->t->lft[sw][b->lid] == port;
	return b->t->ar_ports[sw][g][port / 64] >> (port % 64) & 1;
}

static void
brute_graph(struct brute *b)
{
	const struct fm_fabric *fab = b->fab;
	fm_end owner = fab->lid_end[b->lid];

	memset(b->leads, 0,
	    sizeof(b->leads) + sizeof(b->lost) + sizeof(b->wrong) + sizeof(b->delivers) +
		sizeof(b->met));
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		for (unsigned port = 0; port < 256; port++) {
			fm_link l = fm_link_at(fab, sw, (uint8_t)port);

			if (!may_take(b, sw, port))
				continue;
			if (l != FM_NONE) {
				b->leads[sw][fab->link_to[l]] = true;
				continue;
			}
			if (sw == fab->end_sw[owner] && port == fab->end_port[owner]) {
				b->delivers[sw] = true;
				continue;
			}
			b->lost[sw] = true;
			for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++)
				b->wrong[sw] |= fab->end_port[e] == port;
		}
	for (fm_sw k = 0; k < fab->n_switches; k++)
		for (fm_sw i = 0; i < fab->n_switches; i++)
			for (fm_sw m = 0; b->leads[i][k] && m < fab->n_switches; m++)
				b->leads[i][m] |= b->leads[k][m];
}

/* The longest way from sw, of a graph without cycles. */
static uint32_t
longest(const struct brute *b, fm_sw sw)
{
	uint32_t most = 0;

	for (fm_link l = b->fab->sw_first_link[sw]; l < b->fab->sw_first_link[sw + 1]; l++)
		if (may_take(b, sw, b->fab->link_port[l])) {
			uint32_t n = longest(b, b->fab->link_to[l]);

			most = n > most ? n : most;
		}
	return most + 1;
}

/* What becomes of packets from sw: hops of the longest way, 0 if some are lost;
 * *some: others arrive. */
static uint32_t
send(struct brute *b, fm_sw sw, bool *some)
{
	bool fails = false;

	*some = false;
	for (fm_sw at = 0; at < b->fab->n_switches; at++) {
		if (at != sw && !b->leads[sw][at])
			continue;
		b->met[at] = true;
		fails |= b->lost[at] || b->leads[at][at];
		*some |= b->delivers[at];
	}
	return fails ? 0 : longest(b, sw);
}

/* All ways of a packet on from sw, where it came in by `in` and, unless it is
 * new, is on vertex `last`. */
static void
spread(struct brute *b, fm_sw sw, uint32_t in, uint32_t last, uint32_t sl, bool *seen)
{
	for (fm_link l = b->fab->sw_first_link[sw]; l < b->fab->sw_first_link[sw + 1]; l++) {
		uint32_t v;

		if (!may_take(b, sw, b->fab->link_port[l]))
			continue;
		v = l * 16 + brute_vl(b->fab, b->t, sw, in, l, sl);
		brute_step(&b->deps, last, v);
		if (seen[v])
			continue;
		seen[v] = true;
		spread(b, b->fab->link_to[l], b->fab->link_port[b->fab->link_rev[l]], v, sl, seen);
	}
}

static void
follow(struct brute *b, fm_end s, uint32_t sl)
{
	bool seen[MAX_VERTICES] = { false };

	spread(b, b->fab->end_sw[s], b->fab->end_port[s], UINT32_MAX, sl % 16, seen);
}

static bool
goes_on(const struct brute *b, fm_sw sw)
{
	for (fm_sw to = 0; to < b->fab->n_switches; to++)
		if (b->leads[sw][to])
			return true;
	return false;
}

static void
brute_pair(struct brute *b, fm_end s, bool *bad_sl)
{
	const struct fm_fabric *fab = b->fab;
	fm_sw sw = fab->end_sw[s], to = fab->end_sw[fab->lid_end[b->lid]];
	bool some;
	uint32_t hops = send(b, sw, &some);

	if (brute_sl(b->t, sw, b->lid) > 15 && goes_on(b, sw))
		bad_sl[sw] = true;
	follow(b, s, brute_sl(b->t, sw, b->lid));
	if (b->req->sl_model == VERIFY_BOTH && fab->end_lid[s] != 0)
		for (uint32_t i = 0; i < 1u << fab->end_lmc[s]; i++)
			follow(b, s, brute_sl(b->t, to, fab->end_lid[s] + i));
	if (hops == 0) {
		b->v.unreachable_pairs++;
		b->v.stray_pairs += some;
		return;
	}
	b->v.reachable_pairs++;
	b->hops += hops;
	b->v.max_hops = hops > b->v.max_hops ? hops : b->v.max_hops;
}

static void
brute_lid(struct brute *b, const struct snapshot *snap)
{
	const struct fm_fabric *fab = b->fab;
	fm_end d = fab->lid_end[b->lid];
	bool bad_sl[MAX_SWITCHES] = { false }, counted[MAX_SWITCHES] = { false }, some;

	if (fab->end_sw[d] != FM_NONE)
		brute_graph(b);
	for (fm_end s = 0; s < fab->n_ends; s++) {
		if (s == d || fab->end_kind[s] == FM_END_SWITCH)
			continue;
		if (fab->end_sw[s] == FM_NONE && fab->end_sw[d] == FM_NONE)
			b->v.reachable_pairs++;
		else if (fab->end_sw[s] == FM_NONE || fab->end_sw[d] == FM_NONE ||
		    snap->sw_component[fab->end_sw[s]] != snap->sw_component[fab->end_sw[d]])
			b->v.disjoint_pairs++;
		else
			brute_pair(b, s, bad_sl);
	}
	if (fab->end_sw[d] == FM_NONE)
		return;
	for (fm_sw sw = 0; fab->end_kind[d] == FM_END_SWITCH && sw < fab->n_switches; sw++)
		if (sw != fab->end_sw[d] &&
		    snap->sw_component[sw] == snap->sw_component[fab->end_sw[d]] &&
		    send(b, sw, &some) == 0)
			b->v.switch_pairs_unrouted++;
	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		b->v.vl_errors += bad_sl[sw];
		b->v.wrong_host += b->met[sw] && b->wrong[sw];
		if (!b->met[sw] || !b->leads[sw][sw] || counted[sw])
			continue;
		b->v.loops++;
		for (fm_sw to = 0; to < fab->n_switches; to++)
			counted[to] |= b->leads[sw][to] && b->leads[to][sw];
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
	for (b.lid = 1; b.lid <= b.fab->max_lid; b.lid++)
		if (b.fab->lid_end[b.lid] != FM_NONE)
			brute_lid(&b, x->snap);
	brute_cycles(&b.deps, b.fab, req->n_vls, &b.v);
	b.v.avg_hops = b.v.reachable_pairs ? (double)b.hops / (double)b.v.reachable_pairs : 0;
	return &b.v;
}

/* ------------------------------------------------------------------- tests */

static struct verdict
judge(const struct box *x, const struct verify_request *req, struct fm_pool *workers)
{
	struct fm_error err;
	struct verdict v;

	ck_assert(verify_tables(x->snap, &x->tables->t, req, workers, &v, &err) == 0);
	return v;
}

static const struct verify_request plain = { .n_vls = 8, .sl_model = VERIFY_BOTH };

/* How often each fault was what the random tables had. */
static uint32_t n_faults[VERIFY_STRAY + 1];

/* By brute force, all LIDs of a switch together, each by itself, by two workers: one verdict. */
static struct verdict
compare(const struct box *x, const struct verify_request *req, uint64_t seed)
{
	struct verify_request alone = *req;
	struct verdict v = judge(x, req, NULL), w;

	same_verdict(&v, brute_force(x, req), seed, false);
	ck_assert_msg((v.fault == VERIFY_OK) == (v.witness[0] == '\0'), "seed %llu",
	    (unsigned long long)seed);
	alone.one_by_one = true;
	w = judge(x, &alone, NULL);
	same_verdict(&w, &v, seed, true);
	w = judge(x, req, two);
	same_verdict(&w, &v, seed, true);
	return v;
}

static void
compare_seed(uint64_t seed, bool with_sls)
{
	struct box x = { .max_groups = MAX_GROUPS };
	struct fm_rng r;
	struct verify_request req;

	fm_rng_seed(&r, seed);
	req = (struct verify_request){ .n_vls = (uint8_t)(1 + fm_rng_below(&r, 8)) };
	req.sl_model = fm_rng_below(&r, 2) ? VERIFY_BOTH : VERIFY_FORWARD;
	random_fabric(&x, &r);
	shortest_tables(&x, &r);
	if (seed % 4 == 3)
		damage(&x, &r, 20);
	random_groups(&x, &r, seed % 2 ? 8 : 4, seed % 8 < 3 ? 0 : 1 + fm_rng_below(&r, 60));
	if (with_sls)
		random_sls(&x, &r);
	n_faults[compare(&x, &req, seed).fault]++;
	drop(&x);
}

START_TEST(alternatives_are_judged_as_by_brute_force)
{
	for (uint64_t seed = 0; seed < 1200; seed++) {
		compare_seed(seed, false);
		compare_seed(seed + 10000, true);
	}
	for (int f = VERIFY_OK; f <= VERIFY_STRAY; f++)
		ck_assert_msg(n_faults[f] > 20, "fault %d was met %u times", f, n_faults[f]);
}
END_TEST

/* More LIDs behind a switch than are looked at at once, each with choices of its own on
 * shortest ways: three to six switches in a ring or several, an end with 128 LIDs. */
START_TEST(many_lids_of_one_switch_are_kept_apart)
{
	const struct verify_request req = { .n_vls = 4 };
	uint32_t n_loops = 0, n_none = 0;

	for (uint64_t seed = 0; seed < 60; seed++) {
		struct box x = { .max_groups = MAX_GROUPS };
		uint32_t n = 3 + seed % 4;
		struct fm_rng r;
		struct verdict v;

		fm_rng_seed(&r, seed);
		x.next_lid = (uint16_t)(1 + fm_rng_below(&r, 300));
		for (uint32_t i = 0; i < n; i++)
			add_switch(&x);
		for (uint32_t i = 0; i < n; i++)
			add_cable(&x, i, (i + 1) % n);
		for (uint32_t i = fm_rng_below(&r, 5); i > 0; i--)
			add_cable(&x, i % n, fm_rng_below(&r, n));
		for (uint32_t i = 0; i < n; i++)
			add_end(&x, i, FM_END_CA, i == seed % 3 ? 7 : seed % 3);
		build(&x);
		shortest_tables(&x, &r);
		random_groups(&x, &r, (uint32_t)(seed % 3), 0);
		v = compare(&x, &req, seed);
		n_loops += v.credit_loops > 0;
		n_none += v.credit_loops == 0;
		drop(&x);
	}
	ck_assert_uint_gt(n_loops, 10);
	ck_assert_uint_gt(n_none, 2);
}
END_TEST

static void
send_by(struct box *x, fm_sw sw, uint32_t lid, fm_sw to)
{
	const struct fm_fabric *fab = &x->snap->fab;
	fm_link l = fab->sw_first_link[sw];

	while (fab->link_to[l] != to)
		l++;
	x->tables->t.lft[sw][lid] = fab->link_port[l];
}

/* s0 has 128 LIDs.  Packets from s5 to the first half come by s3, which sends these by s1 and
 * the others by s2.  From s3 by s2 to s5, and from s2 by s5 to s3, other packets go: that of
 * the second half closes a credit loop if s5 sends it by s3, and none if by s4. */
START_TEST(the_last_of_many_lids_closes_a_credit_loop)
{
	static const uint8_t cables[][2] = { { 0, 1 }, { 0, 2 }, { 1, 3 }, { 2, 3 }, { 1, 4 },
		{ 3, 5 }, { 4, 5 }, { 2, 5 } };
	/* from, to the end there, next: the last five close no other loop */
	static const uint8_t others[][3] = { { 3, 5, 2 }, { 2, 3, 5 }, { 4, 3, 5 }, { 1, 2, 3 },
		{ 2, 1, 0 }, { 0, 3, 2 }, { 1, 5, 3 } };
	struct box x = { .max_groups = 1, .next_lid = 1 };
	const uint16_t *lid;
	struct fm_rng r;

	for (uint32_t i = 0; i < 6; i++)
		add_switch(&x);
	for (uint32_t i = 0; i < sizeof(cables) / sizeof(*cables); i++)
		add_cable(&x, cables[i][0], cables[i][1]);
	for (uint32_t i = 0; i < 6; i++)
		add_end(&x, i, FM_END_CA, i == 0 ? 7 : 0);
	build(&x);
	fm_rng_seed(&r, 1);
	shortest_tables(&x, &r);
	lid = x.snap->fab.end_lid; /* of the end on each switch */
	for (uint32_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		send_by(&x, others[i][0], lid[others[i][1]], others[i][2]);
	for (uint32_t with_loop = 0; with_loop < 2; with_loop++) {
		for (uint32_t i = 0; i < 128; i++) {
			send_by(&x, 3, lid[0] + i, i < 64 ? 1 : 2);
			send_by(&x, 5, lid[0] + i, i < 64 || with_loop ? 3 : 4);
		}
		ck_assert_uint_eq(compare(&x, &plain, with_loop).credit_loops, with_loop);
	}
	drop(&x);
}
END_TEST

/* Groups of one port: the verdict of static tables, to the letter (but for the
 * switch with which a circle begins). */
START_TEST(without_a_choice_nothing_differs)
{
	for (uint64_t seed = 0; seed < 600; seed++) {
		struct verify_request req = { .n_vls = 4, .sl_model = seed % 2 };
		struct box x = { .max_groups = MAX_GROUPS };
		struct fm_rng r;
		struct verdict v, w;

		fm_rng_seed(&r, seed);
		random_fabric(&x, &r);
		shortest_tables(&x, &r);
		if (seed % 3 > 0)
			damage(&x, &r, seed % 3 == 1 ? 20 : 3);
		if (seed % 5 > 2)
			random_sls(&x, &r);
		v = judge(&x, &req, NULL);
		adaptive_drop(x.tables);
		w = judge(&x, &req, NULL);
		same_verdict(&v, &w, seed, v.fault != VERIFY_LOOP);
		ck_assert_int_eq(v.fault, w.fault);
		drop(&x);
	}
}
END_TEST

/* In the ring s0 may send LID 7, of s2's host, either way round. */
START_TEST(an_alternative_is_followed)
{
	struct box x = { .max_groups = 3 };
	struct verdict v;

	ring(&x);
	x.tables->t.lft[3][7] = 3;
	add_port(&x, 0, 7, 3);
	v = judge(&x, &plain, NULL);
	ck_assert_msg(v.fault == VERIFY_OK, "%s", v.witness);
	ck_assert_uint_eq(v.unreachable_pairs, 0);
	drop(&x);
}
END_TEST

START_TEST(an_alternative_that_dead_ends_is_told)
{
	struct box x = { .max_groups = 3 };
	struct verdict v;

	ring(&x);
	x.tables->t.lft[3][7] = FM_PORT_NONE;
	add_port(&x, 0, 7, 3);
	v = judge(&x, &plain, NULL);
	ck_assert_int_eq(v.fault, VERIFY_STRAY);
	ck_assert_uint_eq(v.unreachable_pairs, 2); /* s3's host to it, too, which is no stray */
	ck_assert_uint_eq(v.stray_pairs, 1);
	ck_assert(!verdict_is_safe(&v, true));
	ck_assert_str_eq(v.witness,
	    "'end' loses packets on the way to LID 7 of 'end': switch 's3' has no entry for it");
	x.tables->t.lft[3][7] = 3;
	x.tables->t.ar_group[0][7] = 0;
	add_port(&x, 0, 7, 9);
	v = judge(&x, &plain, NULL);
	ck_assert_str_eq(v.witness,
	    "'end' loses packets on the way to LID 7 of 'end': switch 's0' may send it to port 9, "
	    "which has no cable");
	drop(&x);
}
END_TEST

START_TEST(an_alternative_that_loops_is_told)
{
	struct box x = { .max_groups = 3 };
	struct verdict v;

	ring(&x);
	add_port(&x, 1, 7, 3); /* s1 may send it back to s0 */
	v = judge(&x, &plain, NULL);
	ck_assert_int_eq(v.fault, VERIFY_LOOP);
	ck_assert_uint_eq(v.loops, 1);
	ck_assert(!verdict_is_safe(&v, true));
	ck_assert_str_eq(v.witness,
	    "packets to LID 7 of 'end' may go round in circles: switch 's0' port 2, switch 's1' "
	    "port 3, and again");
	drop(&x);
}
END_TEST

START_TEST(an_alternative_to_a_wrong_host_is_told)
{
	struct box x = { .max_groups = 3 };
	struct verdict v;

	ring(&x);
	add_port(&x, 1, 7, 1);
	v = judge(&x, &plain, NULL);
	ck_assert_int_eq(v.fault, VERIFY_WRONG_HOST);
	ck_assert_uint_eq(v.wrong_host, 1);
	ck_assert_str_eq(
	    v.witness, "switch 's1' may hand LID 7 of 'end' to port 1, where 'end' is");
	drop(&x);
}
END_TEST

/* Static routes that never cross the cable 3-0; with the other way round as an
 * alternative wherever it is as short, the ring closes. */
START_TEST(alternatives_together_close_a_credit_loop)
{
	struct box x = { .max_groups = 3 };
	struct verdict v;

	ring(&x);
	for (uint16_t lid = 5; lid <= 8; lid++)
		for (fm_sw sw = 0; sw < 4; sw++) {
			uint32_t ahead = (lid - 5 + 4 - sw) % 4;

			if (ahead == 1 || ahead == 3)
				x.tables->t.lft[sw][lid] = ahead == 1 ? 2 : 3;
		}
	ck_assert_int_eq(judge(&x, &plain, NULL).credit_loops, 0);
	for (uint16_t lid = 5; lid <= 8; lid++) {
		fm_sw sw = (lid - 5 + 2) % 4;

		add_port(&x, sw, lid, x.tables->t.lft[sw][lid] == 2 ? 3 : 2);
	}
	v = judge(&x, &plain, NULL);
	ck_assert_int_eq(v.fault, VERIFY_CREDIT_LOOP);
	ck_assert_uint_eq(v.credit_loops, 2); /* one each way round */
	ck_assert_uint_eq(v.unreachable_pairs, 0);
	ck_assert(!verdict_is_safe(&v, false));
	drop(&x);
}
END_TEST

/* ------------------------------------------------------ what engines may write */

static const char *
refusal(const struct box *x)
{
	static struct fm_error err;
	struct adaptive_counts counts;

	err.msg[0] = '\0';
	ck_assert(adaptive_check(&x->snap->fab, &x->tables->t, two, &counts, &err) ==
	    (err.msg[0] == '\0' ? 0 : FM_E_BUG));
	return err.msg;
}

START_TEST(groups_that_make_no_sense_are_refused)
{
	struct box x = { .max_groups = 3 };

	ring(&x);
	add_port(&x, 0, 7, 3);
	ck_assert_str_eq(refusal(&x), "");
	x.tables->t.ar_group[1][7] = 4;
	ck_assert_str_eq(refusal(&x),
	    "switch 0x0000000000000065, LID 7: adaptive routing group 4, the last is 3");
	x.tables->t.ar_group[1][7] = 0;
	x.tables->t.lft[0][7] = 1;
	ck_assert_str_eq(refusal(&x),
	    "switch 0x0000000000000064, LID 7: its port 1 is not in adaptive routing group 1");
	add_port(&x, 0, 7, 1);
	ck_assert_str_eq(refusal(&x),
	    "switch 0x0000000000000064: adaptive routing group 2 has port 1, which leads to no "
	    "switch");
	drop(&x);
}
END_TEST

START_TEST(groups_are_counted)
{
	struct box x = { .max_groups = 3 };
	struct adaptive_counts n;
	struct fm_error err;

	ring(&x);
	for (uint16_t lid = 5; lid <= 8; lid++)
		if (lid != 6)
			add_port(
			    &x, 1, lid, lid == 8 ? 3 : 2); /* 5: ports 3 and 2; 7, 8: 2; 2, 3 */
	x.tables->t.ar_dropped = 17;
	ck_assert_int_eq(adaptive_check(&x.snap->fab, &x.tables->t, two, &n, &err), 0);
	ck_assert_uint_eq(n.n_groups, 2);
	ck_assert_uint_eq(n.most_groups, 2);
	ck_assert_uint_eq(n.n_adaptive, 3);
	ck_assert_uint_eq(n.n_static, 4 * 6 - 3);
	ck_assert_uint_eq(n.n_ports, 2 + 1 + 2);
	ck_assert_uint_eq(n.n_dropped, 17);
	drop(&x);
}
END_TEST

static void
setup(void)
{
	pool = table_pool_new();
	two = fm_pool_new(2);
	ck_assert(pool != NULL && two != NULL);
}

static void
teardown(void)
{
	fm_pool_free(two);
	table_pool_free(pool);
}

int
main(void)
{
	Suite *s = suite_create("adaptive");
	TCase *c = tcase_create("adaptive");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, alternatives_are_judged_as_by_brute_force);
	tcase_add_test(c, many_lids_of_one_switch_are_kept_apart);
	tcase_add_test(c, the_last_of_many_lids_closes_a_credit_loop);
	tcase_add_test(c, without_a_choice_nothing_differs);
	tcase_add_test(c, an_alternative_is_followed);
	tcase_add_test(c, an_alternative_that_dead_ends_is_told);
	tcase_add_test(c, an_alternative_that_loops_is_told);
	tcase_add_test(c, an_alternative_to_a_wrong_host_is_told);
	tcase_add_test(c, alternatives_together_close_a_credit_loop);
	tcase_add_test(c, groups_that_make_no_sense_are_refused);
	tcase_add_test(c, groups_are_counted);
	suite_add_tcase(s, c);
	return run_suite(s);
}
