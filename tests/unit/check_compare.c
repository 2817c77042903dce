/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Outages by name, and what they change: every count of compare_tables()
 * against a naive one that looks at each entry, and walks each pair from its
 * source to its end on both sides, on its own; and against the verdicts.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "lab/judge/compare.h"
#include "lab/topo/outage.h"
#include "lib/log.h"
#include "lib/rng.h"
#include "tests/engine/routed.h"
#include "tests/run.h"

#undef fail /* check.h has an old macro of this name */

extern const struct fm_engine minhop_LTX_fm_engine, updn_LTX_fm_engine, dfsssp_LTX_fm_engine;

static struct netlist nl;
static struct outage outage;
static struct fm_error err;

static void
begin(const char *words)
{
	struct snapshot *snap;

	fm_log_set_level(FM_LOG_ERR);
	ck_assert_msg(generate_words(words, &nl, &err) == 0, "%s", err.msg);
	snap = snapshot_of(&nl, 0);
	netlist_keep_lids(&nl, snap);
	snapshot_put(snap);
	ck_assert_int_eq(outage_init(&outage, &nl, &err), 0);
}

static void
end(void)
{
	outage_fini(&outage);
	netlist_fini(&nl);
	nl = (struct netlist){ 0 };
}

static void
change(const char *part, bool out)
{
	ck_assert_msg(outage_change(&outage, part, out, &err) == 0, "%s", err.msg);
}

/* -------------------------------------------------------------- the naive way */

struct naive {
	uint64_t entries, cut, blocks, switches, infos;
	uint64_t kept, moved, sl_changed, gained, lost, gone, apart, unrouted, sl2vl;
};

static uint8_t
entry(const struct routed *r, fm_sw sw, uint32_t lid)
{
	return lid <= r->snap->fab.max_lid ? r->tables->t.lft[sw][lid] : FM_PORT_NONE;
}

static bool
is_there(const struct fm_fabric *fab, fm_sw sw)
{
	return fab->sw_first_link[sw] < fab->sw_first_link[sw + 1] ||
	    fab->sw_first_end[sw] < fab->sw_first_end[sw + 1];
}

static void
count_entries(const struct routed *b, const struct routed *a, struct naive *n)
{
	const struct fm_fabric *was = &b->snap->fab, *is = &a->snap->fab;

	for (fm_sw sw = 0; sw < is->n_switches; sw++) {
		uint64_t blocks = n->blocks;
		bool fresh = !is_there(was, sw);

		if (!is_there(is, sw))
			continue;
		for (uint32_t block = 0; block <= is->max_lid / 64; block++) {
			uint32_t differ = 0;

			for (uint32_t lid = block * 64; lid < block * 64 + 64; lid++) {
				uint8_t x = fresh ? FM_PORT_NONE : entry(b, sw, lid);
				uint8_t y = entry(a, sw, lid);

				differ += x != y;
				n->cut += x != y && y == FM_PORT_NONE;
			}
			n->entries += differ;
			n->blocks += differ > 0 || fresh;
		}
		n->switches += n->blocks > blocks;
		n->infos += fresh || was->max_lid != is->max_lid;
	}
}

static fm_end
end_by_guid(const struct fm_fabric *fab, uint64_t guid)
{
	for (fm_end e = 0; e < fab->n_ends; e++)
		if (fab->end_guid[e] == guid && fab->end_sw[e] != FM_NONE)
			return e;
	return FM_NONE;
}

/* The way from an end to a LID as pairs of switch and port; its length, 0 = none. */
static unsigned
way(const struct routed *r, fm_end from, uint32_t lid, uint64_t *steps)
{
	const struct fm_fabric *fab = &r->snap->fab;
	fm_end to = lid <= fab->max_lid ? fab->lid_end[lid] : FM_NONE;
	fm_sw sw = from != FM_NONE ? fab->end_sw[from] : FM_NONE;
	unsigned n = 0;

	if (to == FM_NONE || sw == FM_NONE)
		return 0;
	while (n < 64) {
		uint8_t port = entry(r, sw, lid);
		fm_link l;

		steps[n++] = fab->sw_guid[sw] << 8 ^ port;
		if (sw == fab->end_sw[to] && port == fab->end_port[to])
			return n;
		l = fm_link_at(fab, sw, port);
		if (l == FM_NONE)
			return 0;
		sw = fab->link_to[l];
	}
	return 0;
}

static uint8_t
sl_of(const struct routed *r, fm_end from, uint32_t lid)
{
	return tables_sl(&r->tables->t, r->snap->fab.end_sw[from], (uint16_t)lid);
}

static void
count_pair(
    const struct routed *b, const struct routed *a, uint64_t guid, uint32_t lid, struct naive *n)
{
	const struct fm_fabric *was = &b->snap->fab, *is = &a->snap->fab;
	fm_end from_b = end_by_guid(was, guid), from_a = end_by_guid(is, guid);
	fm_end to_b = lid <= was->max_lid ? was->lid_end[lid] : FM_NONE;
	fm_end to_a = lid <= is->max_lid ? is->lid_end[lid] : FM_NONE;
	uint64_t steps_b[64], steps_a[64];
	unsigned n_b = to_b == from_b ? 0 : way(b, from_b, lid, steps_b);
	unsigned n_a = to_a == from_a ? 0 : way(a, from_a, lid, steps_a);

	if (n_b > 0 && n_a > 0) {
		bool same = n_b == n_a && memcmp(steps_b, steps_a, n_b * sizeof(*steps_b)) == 0;

		n->kept += same;
		n->moved += !same;
		n->sl_changed += sl_of(b, from_b, lid) != sl_of(a, from_a, lid);
	}
	n->gained += n_b == 0 && n_a > 0;
	if (n_b == 0 || n_a > 0)
		return;
	n->lost++;
	if (from_a == FM_NONE || to_a == FM_NONE)
		n->gone++;
	else if (a->snap->sw_component[is->end_sw[from_a]] !=
	    a->snap->sw_component[is->end_sw[to_a]])
		n->apart++;
	else
		n->unrouted++;
}

/* Sources by the netlist, which has them all. */
static void
count_pairs(const struct routed *b, const struct routed *a, struct naive *n)
{
	for (uint32_t node = 0; node < nl.n_nodes; node++) {
		if (nl.nodes[node].type == NETLIST_SWITCH)
			continue;
		for (unsigned p = 1; p <= nl.nodes[node].n_ports; p++)
			for (uint32_t lid = 1; lid < 1024; lid++)
				count_pair(b, a, netlist_port(&nl, node, p)->guid, lid, n);
	}
}

static bool
has_port(const struct fm_fabric *fab, fm_sw sw, unsigned port)
{
	for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++)
		if (fab->end_port[e] == port)
			return true;
	return fm_link_at(fab, sw, port) != FM_NONE;
}

static void
count_vls(const struct routed *b, const struct routed *a, struct naive *n)
{
	const struct fm_fabric *was = &b->snap->fab, *is = &a->snap->fab;

	if (b->tables->t.n_vls_used == 1 && a->tables->t.n_vls_used == 1)
		return;
	for (fm_sw sw = 0; sw < is->n_switches; sw++)
		for (unsigned in = 0; in <= is->sw_n_ports[sw]; in++)
			for (unsigned out = 1; out <= is->sw_n_ports[sw]; out++) {
				fm_link x = fm_link_at(was, sw, out), y = fm_link_at(is, sw, out);
				bool differ = x == FM_NONE;

				if (in == out || y == FM_NONE || !has_port(is, sw, in))
					continue;
				for (uint8_t sl = 0; x != FM_NONE && sl < 16; sl++)
					differ |=
					    tables_vl(was, &b->tables->t, sw, (uint8_t)in, x, sl) !=
					    tables_vl(is, &a->tables->t, sw, (uint8_t)in, y, sl);
				n->sl2vl += differ;
			}
}

/* ------------------------------------------------------------------ comparing */

static void
compare_routed(const struct routed *b, const struct routed *a, struct compare_report *r)
{
	struct compare_side before = { b->snap, &b->tables->t, b->snap->fab.max_lid };
	struct compare_side after = { a->snap, &a->tables->t, a->snap->fab.max_lid };
	struct naive n = { 0 };
	struct verdict vb = judge(b, 15), va = judge(a, 15);

	ck_assert_int_eq(compare_tables(&before, &after, 50, a->router.workers, r, &err), 0);
	count_entries(b, a, &n);
	count_pairs(b, a, &n);
	count_vls(b, a, &n);
	ck_assert_uint_eq(r->entries, n.entries);
	ck_assert_uint_eq(r->entries_cut, n.cut);
	ck_assert_uint_eq(r->blocks, n.blocks);
	ck_assert_uint_eq(r->switches, n.switches);
	ck_assert_uint_eq(r->switch_infos, n.infos);
	ck_assert_uint_eq(r->sl2vl, n.sl2vl);
	ck_assert_uint_eq(r->smps, n.blocks + n.infos + n.sl2vl);
	ck_assert_uint_eq(r->kept, n.kept);
	ck_assert_uint_eq(r->moved, n.moved);
	ck_assert_uint_eq(r->sl_changed, n.sl_changed);
	ck_assert_uint_eq(r->gained, n.gained);
	ck_assert_uint_eq(r->lost, n.lost);
	ck_assert_uint_eq(r->lost_gone, n.gone);
	ck_assert_uint_eq(r->lost_apart, n.apart);
	ck_assert_uint_eq(r->lost_unrouted, n.unrouted);
	ck_assert_uint_eq(r->kept + r->moved + r->lost, vb.reachable_pairs);
	ck_assert_uint_eq(r->kept + r->moved + r->gained, va.reachable_pairs);
	ck_assert_uint_eq(r->pairs.n, n.apart + n.unrouted < 50 ? n.apart + n.unrouted : 50);
}

static const struct fm_engine *const engines[] = { &minhop_LTX_fm_engine, &updn_LTX_fm_engine,
	&dfsssp_LTX_fm_engine };
static const struct {
	const char *words, *parts[4];
} cases[] = {
	{ "pgft 2 4,4 1,4 1,1", { "switch:spine-2" } },
	{ "pgft 2 4,4 1,4 1,1", { "switch:leaf-1", "host:host-2-3" } },
	{ "pgft 2 4,4 1,4 1,1", { "link:spine-1:2", "link:leaf-3:6" } },
	{ "pgft 3 2,2,4 1,2,2 1,1,1", { "switch:leaf-2-[1-2]" } },
	{ "random 14 3 28 9", { "switch:sw-3", "link:sw-5:1" } },
	{ "torus 4x4 1", { "link:sw-0-0:1", "link:sw-2-1:2" } },
};
#define N_CASES ((int)(sizeof(cases) / sizeof(*cases)))

/* Down and up again, by every engine; there and back is the mirror. */
START_TEST(test_counts)
{
	const struct fm_engine *engine = engines[_i % 3];
	int i = _i / 3;
	struct compare_report r;
	struct routed b, a;

	begin(cases[i].words);
	route(&b, engine, snapshot_of(&nl, 0));
	for (unsigned p = 0; p < 4 && cases[i].parts[p] != NULL; p++)
		change(cases[i].parts[p], true);
	route(&a, engine, snapshot_of(&nl, 0));
	compare_routed(&b, &a, &r);
	ck_assert_uint_gt(r.entries + r.lost, 0);
	compare_fini(&r);
	compare_routed(&a, &b, &r);
	ck_assert_uint_gt(r.entries + r.gained, 0);
	compare_fini(&r);
	compare_routed(&a, &a, &r);
	ck_assert_uint_eq(r.smps, 0);
	ck_assert_uint_eq(r.moved + r.gained + r.lost + r.sl_changed, 0);
	compare_fini(&r);
	routed_fini(&a);
	routed_fini(&b);
	end();
}
END_TEST

/* Other engines on one fabric. */
START_TEST(test_engines)
{
	const struct fm_engine *x = engines[_i % 3], *y = engines[(_i + 1) % 3];
	struct compare_report r;
	struct routed b, a;

	begin(cases[_i].words);
	route(&b, x, snapshot_of(&nl, 0));
	route(&a, y, snapshot_of(&nl, 0));
	compare_routed(&b, &a, &r);
	ck_assert_uint_eq(r.lost_gone + r.lost_apart, 0);
	compare_fini(&r);
	routed_fini(&a);
	routed_fini(&b);
	end();
}
END_TEST

static uint32_t
node_named(const char *desc)
{
	uint32_t n = 0;

	while (n < nl.n_nodes && strcmp(nl.nodes[n].desc, desc) != 0)
		n++;
	ck_assert_uint_lt(n, nl.n_nodes);
	return n;
}

/* The cables in two ports of a node. */
static void
change_places(uint32_t node, uint8_t one, uint8_t other)
{
	struct netlist_port *x = netlist_port(&nl, node, one), *y = netlist_port(&nl, node, other);
	struct netlist_port was = *x;

	netlist_port(&nl, x->peer_node, x->peer_port)->peer_port = other;
	netlist_port(&nl, y->peer_node, y->peer_port)->peer_port = one;
	x->peer_node = y->peer_node;
	x->peer_port = y->peer_port;
	y->peer_node = was.peer_node;
	y->peer_port = was.peer_port;
}

/* Two cables of a leaf change places under the tables of before: no entry differs, but paths do. */
START_TEST(test_recabled)
{
	struct compare_report r;
	struct routed b, a;

	begin("pgft 2 4,4 1,4 1,1");
	route(&b, engines[0], snapshot_of(&nl, 0));
	change_places(node_named("leaf-1"), 5, 6);
	route(&a, engines[0], snapshot_of(&nl, 0));
	for (fm_sw sw = 0; sw < b.snap->fab.n_switches; sw++)
		memcpy(a.tables->t.lft[sw], b.tables->t.lft[sw], b.snap->fab.max_lid + 1u);
	compare_routed(&b, &a, &r);
	ck_assert_uint_eq(r.entries, 0);
	ck_assert_uint_gt(r.moved, 0);
	compare_fini(&r);
	routed_fini(&a);
	routed_fini(&b);
	end();
}
END_TEST

/* Entries taken out and turned at random: loops, dead ends, ways that end. */
START_TEST(test_broken)
{
	struct compare_report r;
	struct routed b, a;
	struct fm_rng rng;

	begin("random 10 3 20 4");
	route(&b, engines[0], snapshot_of(&nl, 0));
	route(&a, engines[0], snapshot_of(&nl, 0));
	fm_rng_seed(&rng, (uint64_t)_i + 1);
	for (int i = 0; i < 12; i++) {
		const struct fm_fabric *fab = &a.snap->fab;
		fm_sw sw = fm_rng_below(&rng, fab->n_switches);
		uint32_t lid = 1 + fm_rng_below(&rng, fab->max_lid);
		struct routed *side = i % 3 == 0 ? &b : &a;

		side->tables->t.lft[sw][lid] =
		    (uint8_t)(i % 4 == 0 ? FM_PORT_NONE
					 : 1 + fm_rng_below(&rng, fab->sw_n_ports[sw]));
	}
	compare_routed(&b, &a, &r);
	ck_assert_uint_gt(r.entries, 0);
	ck_assert_uint_eq(r.lost, r.lost_unrouted);
	for (size_t i = 0; i < r.pairs.n; i++)
		ck_assert_uint_eq(b.snap->fab.end_lid[r.pairs.item[i].to], r.pairs.item[i].lid);
	compare_fini(&r);
	routed_fini(&a);
	routed_fini(&b);
	end();
}
END_TEST

/* Who is gone and who is cut off, by name. */
START_TEST(test_names)
{
	struct compare_report r;
	struct routed b, a;
	const struct fm_fabric *fab;

	begin("pgft 2 2,2 1,1 1,1"); /* two leaves under one spine */
	route(&b, engines[0], snapshot_of(&nl, 0));
	fab = &b.snap->fab;
	change("link:leaf-1:3", true);
	change("host:host-2-2", true);
	route(&a, engines[0], snapshot_of(&nl, 0));
	compare_routed(&b, &a, &r);
	ck_assert_uint_eq(r.gone.n, 1);
	ck_assert_str_eq(fab->end_name[r.gone.item[0]], "host-2-2");
	/* two hosts to host-2-1, leaf-2, the spine; host-2-1 to two hosts and leaf-1 */
	ck_assert_uint_eq(r.lost_apart, 2 * 3 + 3);
	ck_assert_uint_eq(r.pairs.n, 9);
	compare_fini(&r);
	routed_fini(&a);
	routed_fini(&b);
	end();
}
END_TEST

/* ------------------------------------------------------------------- outages */

static const struct {
	const char *part, *sentence;
} wrong[] = {
	{ "leaf-1", "leaf-1 names no part: switch:NAME, host:NAME or link:NAME:PORT is right" },
	{ "switch:", "switch: names no part: " },
	{ "switch:leaf-9", "switch:leaf-9: the fabric has no such switch: did you mean leaf-1?" },
	{ "switch:host-1-1", "switch:host-1-1: the fabric has no such switch" },
	{ "host:leaf-1", "host:leaf-1: the fabric has no such host" },
	{ "switch:0x1234", "switch:0x1234: the fabric has no such switch" },
	{ "switch:leaf-[x]", "brackets hold numbers" },
	{ "switch:!leaf-1", "switch:!leaf-1: a part is named by description, GUID or pattern: " },
	{ "switch:level:0", "switch:level:0: a part is named by description, GUID or pattern: " },
	{ "switch:@pods", "switch:@pods: a part is named by description, GUID or pattern: " },
	{ "link:leaf-1", "a link is named by a node and its port, as in link:leaf-1:7" },
	{ "link:leaf-1:0", "a link is named by a node and its port" },
	{ "link:leaf-1:99999999999", "a link is named by a node and its port" },
	{ "link:leaf-1:77", "link:leaf-1:77: leaf-1 has ports 1..8" },
	{ "link:host-1-1:1", "link:host-1-1:1: there is no cable at port 1 of host-1-1" },
};

START_TEST(test_wrong_parts)
{
	begin("pgft 2 4,4 1,4 1,1");
	outage_fini(&outage);
	netlist_uncable(&nl, nl.n_nodes - 16, 1); /* host-1-1, the first of 16 hosts */
	ck_assert_int_eq(outage_init(&outage, &nl, &err), 0);
	ck_assert_int_eq(outage_change(&outage, wrong[_i].part, true, &err), FM_E_CONFIG);
	ck_assert_msg(strstr(err.msg, wrong[_i].sentence) != NULL, "%s", err.msg);
	end();
}
END_TEST

static bool
same_cables(const struct netlist_port *a, const struct netlist_port *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (a[i].peer_node != b[i].peer_node || a[i].peer_port != b[i].peer_port)
			return false;
	return true;
}

/* Twice down is a mistake, so is up without down; in whatever order, what comes
 * up is what went down. */
START_TEST(test_there_and_back)
{
	struct netlist_port *before;

	begin("pgft 2 4,4 1,4 1,1");
	before = malloc(nl.n_ports_total * sizeof(*before));
	memcpy(before, nl.ports, nl.n_ports_total * sizeof(*before));
	ck_assert_int_eq(outage_change(&outage, "switch:leaf-1", false, &err), FM_E_CONFIG);
	ck_assert_msg(
	    strstr(err.msg, "switch:leaf-1: leaf-1 is not down: ") != NULL, "%s", err.msg);
	change("link:leaf-1:5", true);
	change("switch:leaf-1", true);
	change("switch:spine-*", true);
	ck_assert_int_eq(outage_change(&outage, "link:spine-1:1", true, &err), FM_E_CONFIG);
	ck_assert_msg(strstr(err.msg, "1: spine-1 port 1 is down already") != NULL, "%s", err.msg);
	ck_assert_int_eq(outage_change(&outage, "switch:*", true, &err), FM_E_CONFIG);
	ck_assert_msg(strstr(err.msg, "switch:*: leaf-1 is down already") != NULL, "%s", err.msg);
	change("switch:leaf-1", false);
	change("link:spine-1:1", false);
	change("switch:spine-1", false);
	ck_assert(!same_cables(nl.ports, before, nl.n_ports_total));
	ck_assert_uint_ne(netlist_port(&nl, nl.n_nodes - 1, 1)->peer_node, NETLIST_NONE);
	change("switch:spine-[2-4]", false);
	ck_assert(same_cables(nl.ports, before, nl.n_ports_total));
	for (uint32_t i = 0; i < nl.n_nodes; i++)
		ck_assert(!nl.nodes[i].absent);
	free(before);
	end();
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("compare");
	TCase *c = tcase_create("counts");

	tcase_add_loop_test(c, test_counts, 0, 3 * N_CASES);
	tcase_add_loop_test(c, test_engines, 0, N_CASES);
	tcase_add_loop_test(c, test_broken, 0, 20);
	tcase_add_test(c, test_recabled);
	tcase_add_test(c, test_names);
	suite_add_tcase(s, c);
	c = tcase_create("outages");
	tcase_add_loop_test(c, test_wrong_parts, 0, (int)(sizeof(wrong) / sizeof(*wrong)));
	tcase_add_test(c, test_there_and_back);
	suite_add_tcase(s, c);
	return s;
}

int
main(void)
{
	return run_suite(suite());
}
