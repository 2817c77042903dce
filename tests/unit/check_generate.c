/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The generators: counts known from the literature, wiring invariants, bad
 * arguments, and the snapshots made of them.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/graph/snapshot.h"
#include "lab/topo/netlist.h"
#include "lib/error.h"
#include "tests/run.h"
#include "tests/unit/generate_words.h"

static void
count(const struct netlist *nl, uint32_t *n_sw, uint32_t *n_ca, uint32_t *n_channels)
{
	*n_sw = *n_ca = *n_channels = 0;
	for (uint32_t i = 0; i < nl->n_nodes; i++) {
		bool is_switch = nl->nodes[i].type == NETLIST_SWITCH;

		*(is_switch ? n_sw : n_ca) += 1;
		for (unsigned p = 1; is_switch && p <= nl->nodes[i].n_ports; p++) {
			uint32_t peer = netlist_port(nl, i, p)->peer_node;

			*n_channels +=
			    peer != NETLIST_NONE && nl->nodes[peer].type == NETLIST_SWITCH;
		}
	}
	*n_channels /= 2;
}

/* Channel counts: the evaluation of Nue (HPDC'16) and the graph formulas. */
static const struct {
	const char *args;
	uint32_t n_sw, n_ca, n_channels;
} known[] = {
	{ "random 125 16 8 1", 125, 1000, 1000 },
	{ "random 125 16 8 2", 125, 1000, 1000 },
	{ "random 60 7 4 9", 60, 240, 210 },
	{ "random 8 7 1 1", 8, 8, 28 },
	{ "random 2 1 1 1", 2, 2, 1 },
	{ "random 1 0 2 1", 1, 2, 0 },
	{ "torus 6x5x5 7 4", 150, 1050, 1800 },
	{ "torus 6x5x4 2", 120, 240, 360 },
	{ "torus 2x2 1", 4, 4, 4 },
	{ "mesh 4x3 1", 12, 12, 17 },
	{ "hypercube 4 1", 16, 16, 32 },
	{ "pgft 3 11,10,10 1,10,10 1,1,1", 300, 1100, 2000 },
	{ "pgft 2 18,36 1,18 1,1", 54, 648, 648 },
	{ "pgft 3 18,18,36 1,18,18 1,1,1", 1620, 11664, 23328 },
	{ "pgft 2 4,4 1,2 1,2", 6, 16, 16 },
	{ "pgft 1 5 2 1", 2, 5, 0 },
	{ "kautz 5 3 7 2", 150, 1050, 1500 },
	{ "dragonfly 12 6 6 15", 180, 1080, 1515 },
	{ "dragonfly 8 4 4", 264, 1056, 1452 },
	{ "cascade", 192, 1536, 3072 },
	{ "hyperx 12x8 7", 96, 672, 864 },
	{ "slimfly 5 4", 50, 200, 175 },
	{ "slimfly 7 2", 98, 196, 539 },
	{ "slimfly 13 9", 338, 3042, 3211 },
	{ "director 6 4 5 2 2 4", 17, 23, 38 },
	{ "director 6 4 5 2 2 4 missing=1 seed=3", 16, 23, 32 },
	{ "pods 4 6 2 3 6 6", 49, 102, 205 },
	{ "pods 4 6 2 3 6 6 seed=7", 49, 102, 205 },
	{ "pods 1 3 0 2 2 2", 7, 6, 10 },
	{ "tree3 8 7 10 5 14 20 storage=2", 206, 1130, 2240 },
	{ "tree3 4 4 4 2 4 6 storage=2 seed=1", 40, 106, 192 },
	{ "tree3 2 2 2 1 2 3 rails=2 slow=1", 10, 12, 24 },
	{ "tree3 2 2 2 1 2 3 aggregation=1 seed=9", 10, 22, 24 },
	{ "join a=mesh:2:1 b=mesh:2:1 a-*~b-*", 4, 4, 4 },
	{ "join a=mesh:2:1 b=mesh:2:1 a-*~b-*~5", 4, 4, 7 },
	{ "join ft[1-3]=pgft:2:4,4:1,2:1,1 core=torus:3x3:0 ft[1-3]-spine-*~core-*~all", 27, 48,
	    96 },
	{ "join ft[9-10]=pgft:2:4,4:1,2:1,1 t=torus:4x4:1 ft*-leaf-[1-2]~t-sw-0-*", 28, 48, 52 },
	{ "join a=pgft:2:4,4:1,2:1,1 b=torus:3x3:0 s=switches:2:1 a-spine-*~s-*~all b-*~s-*", 17,
	    16, 39 },
	{ "join x=pgft:1:5:2:1 y=torus:3x3:1 x-leaf-*~y-sw-0-0~3", 11, 14, 21 },
};

START_TEST(test_known_counts)
{
	uint32_t n_sw, n_ca, n_channels;
	struct netlist nl = { 0 };
	struct fm_error err;

	ck_assert_msg(
	    generate_words(known[_i].args, &nl, &err) == 0, "%s: %s", known[_i].args, err.msg);
	count(&nl, &n_sw, &n_ca, &n_channels);
	ck_assert_msg(
	    n_sw == known[_i].n_sw && n_ca == known[_i].n_ca && n_channels == known[_i].n_channels,
	    "%s: %u switches, %u CAs, %u channels", known[_i].args, n_sw, n_ca, n_channels);
	netlist_fini(&nl);
}
END_TEST

START_TEST(test_wiring)
{
	struct netlist nl = { 0 };
	struct fm_error err;

	ck_assert_int_eq(generate_words(known[_i].args, &nl, &err), 0);
	for (uint32_t i = 0; i < nl.n_nodes; i++) {
		ck_assert_uint_eq(fm_hash_find(&nl.by_guid, nl.nodes[i].guid), i);
		ck_assert(i == 0 || strcmp(nl.nodes[i].id, nl.nodes[i - 1].id) != 0);
		for (unsigned p = 1; p <= nl.nodes[i].n_ports; p++) {
			const struct netlist_port *port = netlist_port(&nl, i, p), *far;

			if (port->peer_node == NETLIST_NONE)
				continue;
			ck_assert_uint_ne(port->peer_node, i);
			far = netlist_port(&nl, port->peer_node, port->peer_port);
			ck_assert_uint_eq(far->peer_node, i);
			ck_assert_uint_eq(far->peer_port, p);
		}
	}
	netlist_fini(&nl);
}
END_TEST

START_TEST(test_snapshot)
{
	struct netlist_view view = { .n_vls = 8, .ca_lmc = (uint8_t)(_i % 2) };
	struct snapshot *snap;
	struct netlist nl = { 0 };
	struct fm_error err;
	uint32_t n_links = 0;

	ck_assert_int_eq(generate_words(known[_i].args, &nl, &err), 0);
	ck_assert_msg(netlist_snapshot(&nl, &view, &snap, &err) == 0, "%s", err.msg);
	ck_assert_uint_eq(snap->fab.n_switches, known[_i].n_sw);
	ck_assert_uint_eq(snap->fab.n_links, 2 * known[_i].n_channels);
	if (strcmp(known[_i].args, "pgft 1 5 2 1") != 0)
		ck_assert_uint_eq(snap->n_components, 1);
	for (uint32_t sw = 1; sw < snap->fab.n_switches; sw++)
		ck_assert(snap->fab.sw_guid[sw - 1] < snap->fab.sw_guid[sw]);
	for (uint32_t e = 0; e < snap->fab.n_ends; e++) {
		ck_assert_uint_gt(snap->fab.end_lid[e], 0);
		n_links += snap->fab.end_kind[e] == FM_END_CA ||
		    snap->fab.end_kind[e] == FM_END_AGGREGATOR;
		if (snap->fab.end_kind[e] == FM_END_CA)
			ck_assert_uint_eq(snap->fab.end_lmc[e], view.ca_lmc);
	}
	ck_assert_uint_ge(n_links, known[_i].n_ca);
	snapshot_put(snap);
	netlist_fini(&nl);
}
END_TEST

/* Ends of one leaf have consecutive LIDs, leaves of one pod too. */
START_TEST(test_lids_leaf_by_leaf)
{
	struct netlist_view view = { .n_vls = 8 };
	struct snapshot *snap;
	struct netlist nl = { 0 };
	struct fm_error err;

	ck_assert_int_eq(generate_words("pgft 3 4,4,4 1,4,4 1,1,1", &nl, &err), 0);
	ck_assert_int_eq(netlist_snapshot(&nl, &view, &snap, &err), 0);
	for (uint32_t sw = 0; sw < 16; sw++) {
		const struct fm_fabric *f = &snap->fab;
		fm_end first = f->sw_first_end[sw];

		ck_assert_uint_eq(f->sw_first_end[sw + 1] - first, 5);
		for (uint32_t k = 0; k < 5; k++)
			ck_assert_uint_eq(f->end_lid[first + k], 1 + sw * 5 + k);
	}
	snapshot_put(snap);
	netlist_fini(&nl);
}
END_TEST

static char *
text_of(const char *args)
{
	struct netlist nl = { 0 };
	struct fm_error err;
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	ck_assert_int_eq(generate_words(args, &nl, &err), 0);
	ck_assert_int_eq(netlist_write(&nl, out, &err), 0);
	fclose(out);
	netlist_fini(&nl);
	return text;
}

/* A site is a function of its words: the same seed, the same text; another, another. */
START_TEST(test_sites_by_seed)
{
	static const char *const sites[] = { "director 6 4 5 2 2 4 missing=1 storage=1",
		"pods 4 6 2 3 6 6 slow=3", "tree3 2 2 2 1 2 3 rails=2 aggregation=1" };
	char words[100], *text[3];

	for (int i = 0; i < 3; i++) {
		snprintf(words, sizeof(words), "%s seed=%d", sites[_i], i / 2 + 1);
		text[i] = text_of(words);
	}
	ck_assert_str_eq(text[0], text[1]);
	ck_assert_str_ne(text[0], text[2]);
	for (int i = 0; i < 3; i++)
		free(text[i]);
}
END_TEST

static uint32_t
count_word(const char *text, const char *word)
{
	uint32_t n = 0;

	for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word))
		n++;
	return n;
}

/* What each feature is for stands in the file. */
START_TEST(test_features_of_sites)
{
	char *text = text_of("tree3 2 3 2 1 4 3 storage=1 missing=1 slow=2 rails=2 aggregation=1");

	ck_assert_uint_eq(count_word(text, "\nSwitch"), 2 * (3 + 2) + 4 - 1);
	ck_assert_uint_eq(count_word(text, "\nCa\t2 "), 2 * 3 * 3);   /* rails */
	ck_assert_uint_eq(count_word(text, "\nCa\t1 \"host-agg"), 5); /* storage */
	ck_assert_uint_eq(count_word(text, "\nCa\t1 \"aggregation-"), 13);
	ck_assert_uint_eq(count_word(text, "4xFDR"), 2 * 2 * 4); /* slow */
	free(text);
}
END_TEST

static const struct {
	const char *args, *expected;
} bad[] = {
	{ "", "no kind" },
	{ "clos 3", "clos is no kind of fabric" },
	{ "pgft 2 18,36 1,18", "pgft takes the arguments" },
	{ "pgft 2 18,36,4 1,18 1,1", "M has 3 numbers" },
	{ "pgft x 18 1 1", "the number of levels is \"x\"" },
	{ "pgft 2 18,36 1,0 1,1", "W is \"0\", not a number in 1..254" },
	{ "pgft 2 200,36 1,100 1,1", "300 ports" },
	{ "pgft 8 200,200,200,200,9,9,9,9 1,1,1,1,1,1,1,1 1,1,1,1,1,1,1,1", "more than 1000000" },
	{ "torus 8x8y8 2", "separated by \"x\"" },
	{ "torus 8x8 two", "\"two\"" },
	{ "torus 3000x3000 2", "more than 1000000 switches" },
	{ "torus 4294967297x2 1", "not a number" },
	{ "dragonfly 4 2 2 10", "not a number in 1..9" },
	{ "slimfly 9 2", "odd prime" },
	{ "random 10 10 1 1", "the degree is 2..9" },
	{ "random 10 3 1 -1", "the seed" },
	{ "hypercube 40 1", "not a number in 1..12" },
	{ "cascade 3", "1 given" },
	{ "join", "join takes the arguments" },
	{ "tree3 2 2 3 2 2 3", "3 aggs a pod cannot be dealt to 2 planes" },
	{ "tree3 2 2 2 1 2", "tree3 takes the arguments" },
	{ "tree3 2 2 2 1 2 3 rails", "\"rails\" is no feature of a site: write one of storage=N" },
	{ "tree3 2 2 2 1 2 3 rail=2", "\"rail=2\" is no feature" },
	{ "tree3 2 2 2 1 2 3 rails=3", "rails is \"3\", not a number in 1..2" },
	{ "tree3 2 2 2 1 2 3 missing=2", "missing is 2, but only 2 switches" },
	{ "tree3 2 2 2 1 2 3 seed=one", "seed is \"one\"" },
	{ "director 3 4 5 4 0 4", "4 cables a leaf are more than 3 boards" },
	{ "director 3 200 5 2 0 254", "256 ports" },
	{ "pods 2 3 0 0 2 2", "B is \"0\", not a number in 1..254" },
	{ "switches 3 0", "the number of ports is \"0\"" },
	{ "join torus", "\"torus\" is neither a part" },
	{ "join =torus:3x3:1", "a part is NAME=KIND:ARG" },
	{ "join a-b=torus:3x3:1", "a part is NAME=KIND:ARG" },
	{ "join a[3-1]=torus:3x3:1", "a part is NAME=KIND:ARG" },
	{ "join a[1-x]=torus:3x3:1", "a part is NAME=KIND:ARG" },
	{ "join a=torus:3x3:1 a=torus:3x3:1", "two parts are called a" },
	{ "join a=torus", "join: part a: torus takes the arguments" },
	{ "join a=torus:3x3:1:1:1:1:1:1:1", "join: part a: no kind has so many arguments" },
	{ "join a=file:no-such.net", "join: part a: cannot open fabric file no-such.net" },
	{ "join a=torus:3x3:1 a-sw-0-0~a-sw-0-0", "cable a switch with itself" },
	{ "join a=torus:3x3:1 a-sw-0-0~b-*", "no switch is called b-*" },
	{ "join a=torus:3x3:1 a-sw-0-0~a-host*", "no switch is called a-host*" },
	{ "join a=torus:3x3:1 b=torus:3x3:1 a-*~b-*~0", "0 is no number of cables" },
	{ "join a=torus:3x3:1 b=torus:3x3:1 a-*~b-*~few", "few is no number of cables" },
	{ "join a=torus:3x3:1 b=torus:3x3:1 a-sw-0-0~b-*~300", "305 ports" },
	{ "join a=torus:3x3:1 b=torus:3x3:1 a-*~level:0", "joins switches by name" },
};

START_TEST(test_bad_arguments)
{
	struct netlist nl = { 0 };
	struct fm_error err;

	ck_assert_int_eq(generate_words(bad[_i].args, &nl, &err), FM_E_CONFIG);
	ck_assert_msg(strstr(err.msg, bad[_i].expected) != NULL, "%s: %s", bad[_i].args, err.msg);
	ck_assert_uint_eq(nl.n_nodes, 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("generate");
	TCase *tc = tcase_create("all");
	int n_known = sizeof(known) / sizeof(known[0]);

	tcase_add_loop_test(tc, test_known_counts, 0, n_known);
	tcase_add_loop_test(tc, test_wiring, 0, n_known);
	tcase_add_loop_test(tc, test_snapshot, 0, n_known);
	tcase_add_test(tc, test_lids_leaf_by_leaf);
	tcase_add_loop_test(tc, test_sites_by_seed, 0, 3);
	tcase_add_test(tc, test_features_of_sites);
	tcase_add_loop_test(tc, test_bad_arguments, 0, sizeof(bad) / sizeof(bad[0]));
	suite_add_tcase(s, tc);
	return run_suite(s);
}
