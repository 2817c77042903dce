/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fabric files: every generator through write and parse, both dialects, the
 * edge fabrics, faults, real fabrics where they are present, and bad input
 * with the sentence it must give.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/graph/snapshot.h"
#include "lab/topo/netlist.h"
#include "lib/log.h"
#include "tests/run.h"
#include "tests/unit/generate_words.h"

static char logged[4096];

static void
keep_log(void *arg, enum fm_log_level level, const char *subsystem, const char *line)
{
	size_t at = strlen(logged);

	snprintf(logged + at, sizeof(logged) - at, "%s\n", line);
}

static void
setup(void)
{
	logged[0] = '\0';
	fm_log_set_sink(keep_log, NULL);
}

static void
parse(const char *text, struct netlist *nl)
{
	struct fm_error err;

	ck_assert_msg(netlist_parse("t", text, strlen(text), nl, &err) == 0, "%s", err.msg);
}

/* Write into memory (the caller frees). */
static char *
written(const struct netlist *nl, size_t *n)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, n);
	struct fm_error err;

	ck_assert_int_eq(netlist_write(nl, out, &err), 0);
	fclose(out);
	return text;
}

static void
same(const struct netlist *a, const struct netlist *b)
{
	ck_assert_uint_eq(a->n_nodes, b->n_nodes);
	for (uint32_t i = 0; i < a->n_nodes; i++) {
		const struct netlist_node *x = &a->nodes[i], *y = &b->nodes[i];

		ck_assert_str_eq(x->id, y->id);
		ck_assert_str_eq(x->desc, y->desc);
		ck_assert(x->guid == y->guid && x->type == y->type && x->n_ports == y->n_ports);
		ck_assert(
		    x->aggregation == y->aggregation && x->enhanced_port0 == y->enhanced_port0);
		ck_assert(x->vendor_id == y->vendor_id && x->device_id == y->device_id);
		for (unsigned p = 0; p <= x->n_ports; p++) {
			const struct netlist_port *s = netlist_port(a, i, p),
						  *t = netlist_port(b, i, p);

			ck_assert(s->peer_node == t->peer_node && s->peer_port == t->peer_port);
			if (s->peer_node == NETLIST_NONE && p > 0)
				continue;
			ck_assert_msg(s->guid == t->guid && s->lid == t->lid && s->lmc == t->lmc &&
				s->width == t->width && s->lane_mbps == t->lane_mbps,
			    "%s port %u", x->id, p);
		}
	}
}

static void
round_trip(const struct netlist *nl)
{
	struct netlist again = { 0 };
	struct fm_error err;
	size_t n;
	char *text = written(nl, &n);

	ck_assert_msg(netlist_parse("round", text, n, &again, &err) == 0, "%s", err.msg);
	same(nl, &again);
	netlist_fini(&again);
	free(text);
}

static const char *const generated[] = { "pgft 3 3,3,4 1,2,3 1,1,2", "torus 3x4x2 2 2",
	"mesh 3x2 1", "hypercube 3 1", "hyperx 3x4 2", "dragonfly 4 2 2", "cascade", "slimfly 5 1",
	"kautz 2 3 1", "random 20 5 2 7", "director 6 4 5 2 2 4 seed=1",
	"tree3 2 2 2 1 2 3 rails=2 slow=1 aggregation=1 storage=1 seed=2" };

START_TEST(test_generated_round_trip)
{
	struct netlist nl = { 0 };
	struct fm_error err;

	ck_assert_int_eq(generate_words(generated[_i], &nl, &err), 0);
	round_trip(&nl);
	netlist_fini(&nl);
}
END_TEST

/* What infiniband-diags' ibnetdiscover prints of a configured subnet. */
static const char dump[] =
    "#\n# Topology file: generated on Thu Jan  1 00:00:00 2015\n#\n"
    "# Initiated from node 0002c903000a0000 port 0002c903000a0002\n\n"
    "vendid=0x2c9\ndevid=0xbd36\nsysimgguid=0x2c90200210b10\n"
    "switchguid=0x2c90200210b0d(2c90200210b0d)\n"
    "Switch\t36 \"S-0002c90200210b0d\"\t\t# \"MF0;sw \"a\":IS5030/U1\" enhanced port 0 lid 6 lmc "
    "0\n"
    "[22][ext 4]\t\"H-0002c903000a0000\"[2](2c903000a0002) \t\t# \"node1 HCA-1\" lid 8 4xFDR10\n"
    "[36]\t\"R-0000000000000777\"[1](778) \t\t# \"rt\" lid 16 2xHDR\r\n\n"
    "vendid=0x2c9\ndevid=0x673c\nsysimgguid=0x2c903000a0003\ncaguid=0x2c903000a0000\n"
    "Ca\t2 \"H-0002c903000a0000\"\t\t# \"node1 HCA-1\"\n"
    "[2](2c903000a0002) \t\"S-0002c90200210b0d\"[22]\t\t# lid 8 lmc 2 \"MF0;sw \"a\":IS5030/U1\" "
    "lid 6 4xFDR10\n"
    "\nrtguid=0x777\nRt\t1 \"R-0000000000000777\"\t\t# \"rt\"\n"
    "[1](778) \t\"S-0002c90200210b0d\"[36]\t\t# lid 16 lmc 0 \"MF0\" lid 6 2xHDR";

START_TEST(test_ibnetdiscover)
{
	struct netlist nl = { 0 };
	const struct netlist_port *p;

	parse(dump, &nl);
	ck_assert_uint_eq(nl.n_nodes, 3);
	ck_assert_uint_eq(nl.local_guid, 0x2c903000a0002);
	ck_assert_uint_eq(nl.nodes[0].guid, 0x2c90200210b0d);
	ck_assert_uint_eq(nl.nodes[0].system_guid, 0x2c90200210b10);
	ck_assert_uint_eq(nl.nodes[0].vendor_id, 0x2c9);
	ck_assert_uint_eq(nl.nodes[0].device_id, 0xbd36);
	ck_assert(nl.nodes[0].enhanced_port0);
	ck_assert_str_eq(nl.nodes[0].desc, "MF0;sw \"a\":IS5030/U1");
	ck_assert_uint_eq(netlist_port(&nl, 0, 0)->lid, 6);
	p = netlist_port(&nl, 1, 2);
	ck_assert(p->guid == 0x2c903000a0002 && p->lid == 8 && p->lmc == 2);
	ck_assert(
	    p->width == 4 && p->lane_mbps == 10000 && p->peer_node == 0 && p->peer_port == 22);
	p = netlist_port(&nl, 2, 1);
	ck_assert(p->lid == 16 && p->width == 2 && p->lane_mbps == 50000);
	ck_assert_int_eq(nl.nodes[2].type, NETLIST_ROUTER);
	ck_assert_uint_eq(fm_hash_find(&nl.by_guid, 0x778), 2);
	ck_assert_str_eq(logged, "");
	netlist_fini(&nl);
}
END_TEST

START_TEST(test_rates)
{
	struct netlist_view view = { .n_vls = 3 };
	struct netlist nl = { 0 };
	struct snapshot *snap;
	struct fm_error err;

	parse("Switch 4 \"a\"\n[1] \"b\"[1] # \"b\" lid 0 4xEDR\n[2] \"b\"[2] # \"b\" lid 0 2xHDR\n"
	      "Switch 4 \"b\"\n[1] \"a\"[1] # \"a\" lid 0 4xFDR\n[2] \"a\"[2]\n",
	    &nl);
	ck_assert_int_eq(netlist_snapshot(&nl, &view, &snap, &err), 0);
	ck_assert_uint_eq(snap->fab.link_mbps[0], 4 * 13640);
	ck_assert_uint_eq(snap->fab.link_mbps[1], 2 * 50000);
	ck_assert_uint_eq(snap->fab.link_mbps[snap->fab.link_rev[1]], 2 * 50000);
	ck_assert_uint_eq(snap->fab.link_n_vls[0], 3);
	ck_assert_ptr_nonnull(
	    strstr(logged, "t:2: the sides of the cable at \"a\"[1] name different speeds"));
	snapshot_put(snap);
	netlist_fini(&nl);
}
END_TEST

START_TEST(test_one_sided)
{
	struct netlist nl = { 0 };

	parse("Switch 4 \"a\"\n[1] \"b\"[2] w=4\n\nSwitch 4 \"b\"\n", &nl);
	ck_assert_uint_eq(netlist_port(&nl, 1, 2)->peer_node, 0);
	ck_assert_uint_eq(netlist_port(&nl, 1, 2)->peer_port, 1);
	ck_assert_ptr_nonnull(strstr(logged, "t:2: only \"a\"[1] shows its cable to \"b\"[2]"));
	ck_assert(nl.nodes[0].guid != 0 && nl.nodes[0].guid != nl.nodes[1].guid);
	netlist_fini(&nl);
}
END_TEST

START_TEST(test_remarks)
{
	struct netlist nl = { 0 };

	parse("Switch 4 \"a\"\n[1] \"b\"[2] # \"b\" lid 7 4xEDR\n"
	      "Switch 4 \"b\" # \"b\" base port 0 lid 9 lmc 0\n[2] \"a\"[1] # \"a\" lid 3 4xZDR\n"
	      "[3] \"a\"[3] # \"\" lid 3 2xSDR\nSwitch 4 \"c\"\n[1] \"c\"[1]\n",
	    &nl);
	ck_assert_uint_eq(netlist_port(&nl, 0, 0)->lid, 3); /* only its peer says so */
	ck_assert_uint_eq(netlist_port(&nl, 1, 0)->lid, 9);
	ck_assert_uint_eq(netlist_port(&nl, 2, 1)->peer_node, 2); /* a loopback plug */
	ck_assert_ptr_nonnull(
	    strstr(logged, "t:7: this cable has no speed, 1 in all: taken as 4xSDR"));
	ck_assert_ptr_nonnull(strstr(logged, "t:4: speed \"4xZDR\" is not known"));
	ck_assert_ptr_nonnull(strstr(logged, "t:2: LID 7 of \"b\", which itself says LID 9"));
	netlist_fini(&nl);
}
END_TEST

/* A dump that was copied from a terminal, of ports that have no LID yet. */
START_TEST(test_copied_from_a_terminal)
{
	static const char text[] = "\xef\xbb\xbf[root@sm ~]# ibnetdiscover\n"
				   "Switch 4 \"a\" # \"a\" base port 0 lid  lmc 0\n"
				   "[1] \"b\"[1](1) # \"b\" lid \n"
				   "Ca 1 \"b\" # \"b\"\n"
				   "[1](1) \"a\"[1] # lid  lmc 0 \"a\" lid 7 4xEDR\n[root@sm ~]#\n";
	struct netlist nl = { 0 };
	struct fm_error err;

	logged[0] = '\0';
	ck_assert_msg(netlist_parse("t", text, strlen(text), &nl, &err) == 0, "%s", err.msg);
	ck_assert_uint_eq(nl.n_nodes, 2);
	ck_assert_uint_eq(netlist_port(&nl, 0, 0)->lid, 7);
	ck_assert_uint_eq(netlist_port(&nl, 1, 1)->lid, 0);
	ck_assert_ptr_nonnull(strstr(logged, "t:1: a prompt of a shell is passed over"));
	ck_assert_ptr_nonnull(strstr(logged, "t:6: a prompt of a shell is passed over"));
	netlist_fini(&nl);
}
END_TEST

/* The second of two nodes with one GUID is another node, whatever it calls itself. */
START_TEST(test_one_guid_twice)
{
	static const char text[] = "caguid=0x1\nCa 1 \"a\"\n[1](2) \"b\"[1] # lid 1 lmc 0 4xEDR\n"
				   "caguid=0x1\nCa 1 \"b\"\n[1](2) \"a\"[1] # lid 2 lmc 0 4xEDR\n";
	struct netlist nl = { 0 };
	struct fm_error err;

	logged[0] = '\0';
	ck_assert_msg(netlist_parse("t", text, strlen(text), &nl, &err) == 0, "%s", err.msg);
	ck_assert_uint_eq(nl.nodes[0].guid, 1);
	ck_assert_uint_eq(netlist_port(&nl, 0, 1)->guid, 2);
	ck_assert(nl.nodes[1].guid > 2 && netlist_port(&nl, 1, 1)->guid > 2);
	ck_assert_ptr_nonnull(strstr(logged,
	    "t:5: GUID 0x0000000000000001 of \"b\" is that of \"a\" (line 2), too: it is given "
	    "another"));
	ck_assert_ptr_nonnull(strstr(logged, "t:5: GUID 0x0000000000000002 of \"b\""));
	netlist_fini(&nl);
}
END_TEST

START_TEST(test_guids_of_fewer_digits)
{
	struct netlist nl = { 0 };

	parse("Switch 4 \"S-8f10400410015\"\n[1] \"H-0x2c903\"[1] # \"h\" lid 2 4xEDR\n"
	      "[2] \"H-0\"[1] # \"o\" lid 3 4xEDR\n[3] \"S-0x\"[1] # \"x\" lid 4 4xEDR\n"
	      "Ca 1 \"H-000000000002c903\"\n[1] \"S-0008f10400410015\"[1] # lid 2 lmc 0 4xEDR\n"
	      "Ca 1 \"H-0000000000000000\"\n[1] \"S-08f10400410015\"[2] # lid 3 lmc 0 4xEDR\n"
	      "Ca 1 \"S-0x\"\n[1] \"S-8f10400410015\"[3] # lid 4 lmc 0 4xEDR\n",
	    &nl);
	for (unsigned p = 1; p <= 3; p++)
		ck_assert_uint_eq(netlist_port(&nl, 0, p)->peer_node, p);
	ck_assert_uint_eq(nl.nodes[1].guid, 0x2c903);
	netlist_fini(&nl);
}
END_TEST

#define SW "Switch 4 \"a\"\n"
static const struct {
	const char *text, *expected;
} bad[] = {
	{ "", "t:1: no node in the file" },
	{ "# nothing\n", "t:1: no node in the file" },
	{ "Swich 4 \"a\"\n", "t:1: \"Swich\" is not known: Switch, Ca, Hca, Rt" },
	{ "Switch 255 \"a\"\n", "t:1: a node has 1..254 ports" },
	{ "Switch 0 \"a\"\n", "t:1: a node has 1..254 ports" },
	{ "Switch \"a\"\n", "t:1: a node has 1..254 ports" },
	{ "Switch 4 a\n", "t:1: a node id in double quotes is missing" },
	{ "Switch 4 \"a\n", "t:1: the closing \" of a node id is missing" },
	{ "Switch 4 \"\"\n", "t:1: a node id is empty" },
	{ "Switch 4 \"a\" b\n", "t:1: \"b\" behind the node id" },
	{ "Switch 4 \"a\" # \"a\n", "t:1: the closing \" of a description is missing" },
	{ "Switch 4 \"a\" # \"a\" lid x\n",
	    "t:1: \"lid\" in the comment is not followed by a number in 0..49151" },
	{ "Switch 4 \"a\" # \"a\" lid 49152\n", "in 0..49151" },
	{ "Switch 4 \"a\" # \"a\" lid 4 lmc 8\n",
	    "\"lmc\" in the comment is not followed by a number in 0..7" },
	{ "Switch 4 \"a\" # \"a\" lid 4 lmc\n",
	    "\"lmc\" in the comment is not followed by a number in 0..7" },
	{ "root@sm\n", "t:1: \"root@sm\" is not known" },
	{ SW SW, "t:2: node \"a\" is defined again, first in line 1" },
	{ "[1] \"a\"[1]\n", "t:1: a port before any node" },
	{ SW "[5] \"a\"[1]\n", "t:2: port 5 of \"a\", which has 4 ports (line 1)" },
	{ SW "[1] \"a\"[5]\n", "t:2: port 5 of \"a\", which has 4 ports (line 1)" },
	{ SW "[0] \"a\"[1]\n", "t:2: the own port is 0, a port is 1..254" },
	{ SW "[1 \"a\"[1]\n", "t:2: the own port is not written as [NUMBER]" },
	{ SW "[1] \"a\"\n", "t:2: the peer's port is not written as [NUMBER]" },
	{ SW "[1] \"a\"[99999999999]\n", "t:2: the peer's port is not written as [NUMBER]" },
	{ SW "[1](xyz) \"a\"[2]\n", "t:2: a GUID in parentheses" },
	{ SW "[1] \"b\"[1]\n", "t:2: node \"b\" is defined nowhere in the file; is it cut off?" },
	{ SW "[1] \"a\"[2]\n[1] \"a\"[3]\n",
	    "t:3: port 1 of \"a\" is given again, first in line 2" },
	{ SW "[1] \"b\"[1]\nSwitch 4 \"b\"\n[1] \"b\"[2]\n",
	    "t:2: \"a\"[1] is cabled to \"b\"[1], but by line 4 that port is cabled to \"b\"[2]" },
	{ SW "[1] \"c\"[1]\nSwitch 4 \"b\"\n[1] \"c\"[1]\nHca 1 \"c\"\n",
	    "t:4: \"b\"[1] is cabled to \"c\"[1], but by line 2 that port is cabled to \"a\"[1]" },
	{ SW "[1] \"b\"[1]\nSwitch 4 \"b\"\n[1] \"a\"[2]\n",
	    "t:2: \"a\"[1] is cabled to \"b\"[1], but by line 4 that port is cabled to \"a\"[2]" },
	{ SW "[1] \"a\"[2] w=3\n", "t:2: a cable of 3 lanes" },
	{ SW "[1] \"a\"[2] x=3\n", "t:2: \"x\" behind the peer" },
	{ "Switch 1 \"S-01\"\nSwitch 1 \"S-1\"\n",
	    "t:2: node \"S-1\" is defined again, first in line 1" },
	{ "switchguid=\nSwitch 1 \"a\"\n",
	    "t:1: switchguid= is not followed by a hexadecimal number" },
	{ "switchguid=0x12345678901234567\n", "t:1: switchguid= is not followed" },
	{ "guid=0x1\n", "t:1: \"guid\" is not known" },
	{ "include other.net\n", "t:1: \"include\" is a command of ibsim" },
	{ "\x01\x02\xff", "is not known" },
};

START_TEST(test_bad_input)
{
	struct netlist nl = { 0 };
	struct fm_error err = { 0 };

	ck_assert_int_eq(
	    netlist_parse("t", bad[_i].text, strlen(bad[_i].text), &nl, &err), FM_E_CONFIG);
	ck_assert_msg(
	    strstr(err.msg, bad[_i].expected) != NULL, "\"%s\" gave: %s", bad[_i].text, err.msg);
	ck_assert_uint_eq(nl.n_nodes, 0);
}
END_TEST

START_TEST(test_nul_byte)
{
	struct netlist nl = { 0 };
	struct fm_error err;

	ck_assert_int_eq(netlist_parse("t", "Switch 4 \"a\"\n\0\n", 15, &nl, &err), FM_E_CONFIG);
	ck_assert_str_eq(err.msg, "t:2: a NUL byte: this is no text file");
}
END_TEST

/* Cut anywhere, and with any byte broken: an error or a fabric, never more. */
START_TEST(test_garbled)
{
	static const char junk[] = "\"[]#=x0 \n\t(";

	for (size_t n = 0; n < sizeof(dump) - 1; n++) {
		struct netlist nl = { 0 };
		struct fm_error err;
		char text[sizeof(dump)];

		if (netlist_parse("t", dump, n, &nl, &err) == 0)
			netlist_fini(&nl);
		for (size_t j = 0; j < sizeof(junk) - 1; j++) {
			memcpy(text, dump, sizeof(dump));
			text[n] = junk[j];
			if (netlist_parse("t", text, sizeof(dump) - 1, &nl, &err) == 0) {
				round_trip(&nl);
				netlist_fini(&nl);
			}
		}
	}
}
END_TEST

static void
read_file(const char *dir, const char *name, struct netlist *nl)
{
	char path[512];
	struct fm_error err;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	ck_assert_msg(netlist_read(path, nl, &err) == 0, "%s", err.msg);
}

static const char *
source_dir(void)
{
	const char *dir = getenv("srcdir");

	return dir != NULL ? dir : ".";
}

/* n_ends without the switches' own ports. */
static const struct {
	const char *name;
	uint32_t n_switches, n_links, n_ends, n_components, kind[5];
} edge[] = {
	{ "two-cas.net", 0, 0, 2, 0, { [FM_END_CA] = 2 } },
	{ "one-switch.net", 1, 0, 3, 1, { [FM_END_CA] = 3 } },
	{ "sm-port0.net", 2, 4, 2, 1, { [FM_END_CA] = 2 } },
	{ "dual-port.net", 2, 2, 3, 1, { [FM_END_CA] = 3 } },
	{ "router.net", 2, 2, 3, 1, { [FM_END_CA] = 2, [FM_END_ROUTER] = 1 } },
	{ "two-components.net", 4, 4, 4, 2, { [FM_END_CA] = 4 } },
	{ "aggregation.net", 4, 8, 6, 1, { [FM_END_CA] = 2, [FM_END_AGGREGATOR] = 4 } },
};

START_TEST(test_edge_fabrics)
{
	struct netlist_view view = { .n_vls = 4 };
	struct netlist nl = { 0 };
	struct snapshot *snap;
	struct fm_error err;
	uint32_t kinds[5] = { 0 };
	char dir[400];

	snprintf(dir, sizeof(dir), "%s/tests/fabrics", source_dir());
	read_file(dir, edge[_i].name, &nl);
	round_trip(&nl);
	ck_assert_msg(netlist_snapshot(&nl, &view, &snap, &err) == 0, "%s", err.msg);
	ck_assert_uint_eq(snap->fab.n_switches, edge[_i].n_switches);
	ck_assert_uint_eq(snap->fab.n_links, edge[_i].n_links);
	ck_assert_uint_eq(snap->fab.n_ends, edge[_i].n_ends + edge[_i].n_switches);
	ck_assert_uint_eq(snap->n_components, edge[_i].n_components);
	for (uint32_t e = 0; e < snap->fab.n_ends; e++)
		kinds[snap->fab.end_kind[e]]++;
	for (int k = 0; k < 5; k++)
		ck_assert_uint_eq(
		    kinds[k], k == FM_END_SWITCH ? edge[_i].n_switches : edge[_i].kind[k]);
	ck_assert_str_eq(logged, "");
	snapshot_put(snap);
	netlist_fini(&nl);
}
END_TEST

/* LIDs of the file stay; view.fresh_lids gives others. */
START_TEST(test_lids_of_the_file)
{
	struct netlist_view view = { .n_vls = 4 };
	struct netlist nl = { 0 };
	struct snapshot *snap;
	struct fm_error err;

	parse(dump, &nl);
	ck_assert_int_eq(netlist_snapshot(&nl, &view, &snap, &err), 0);
	ck_assert_uint_eq(snap->fab.max_lid, 16);
	ck_assert_str_eq(snap->fab.sw_name[0], "MF0;sw \"a\":IS5030/U1");
	ck_assert_uint_eq(snap->fab.end_lid[1], 8);
	ck_assert_uint_eq(snap->fab.end_lmc[1], 2);
	snapshot_put(snap);
	view.fresh_lids = true;
	ck_assert_int_eq(netlist_snapshot(&nl, &view, &snap, &err), 0);
	ck_assert_uint_eq(snap->fab.max_lid, 3);
	snapshot_put(snap);
	netlist_fini(&nl);
}
END_TEST

static const struct {
	const char *name;
	uint32_t n_switches, n_ca_ports, n_aggregators, n_channels;
} real[] = {
	{ "qdr-144.net", 8, 145, 0, 47 }, /* 144 HCAs, one on both ports */
	{ "ndr-dgx-582.net", 40, 542, 40, 532 },
};

START_TEST(test_real_fabrics)
{
	const char *dir = getenv("FMD_TOPOLOGIES");
	struct netlist_view view = { .n_vls = 4 };
	struct netlist nl = { 0 };
	struct snapshot *snap;
	struct fm_error err;
	uint32_t kinds[5] = { 0 };
	char path[512], beside[480];
	FILE *f;

	snprintf(beside, sizeof(beside), "%s/../shared/topologies", source_dir());
	dir = dir != NULL ? dir : beside;
	snprintf(path, sizeof(path), "%s/%s", dir, real[_i].name);
	f = fopen(path, "r");
	if (f == NULL) {
		fprintf(stderr, "skipped: %s is not there (set FMD_TOPOLOGIES)\n", path);
		return;
	}
	fclose(f);
	read_file(dir, real[_i].name, &nl);
	round_trip(&nl);
	ck_assert_int_eq(netlist_snapshot(&nl, &view, &snap, &err), 0);
	for (uint32_t e = 0; e < snap->fab.n_ends; e++)
		kinds[snap->fab.end_kind[e]]++;
	ck_assert_uint_eq(snap->fab.n_switches, real[_i].n_switches);
	ck_assert_uint_eq(snap->fab.n_links, 2 * real[_i].n_channels);
	ck_assert_uint_eq(kinds[FM_END_CA], real[_i].n_ca_ports);
	ck_assert_uint_eq(kinds[FM_END_AGGREGATOR], real[_i].n_aggregators);
	snapshot_put(snap);
	netlist_fini(&nl);
}
END_TEST

static uint32_t
n_switch_ports_cabled(const struct netlist *nl)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < nl->n_nodes; i++)
		for (unsigned p = 1;
		     nl->nodes[i].type == NETLIST_SWITCH && p <= nl->nodes[i].n_ports; p++) {
			uint32_t peer = netlist_port(nl, i, p)->peer_node;

			n += peer != NETLIST_NONE && nl->nodes[peer].type == NETLIST_SWITCH;
		}
	return n;
}

START_TEST(test_faults)
{
	struct netlist_faults faults = { .links_pct = 10, .n_switches = 0, .seed = (uint64_t)_i };
	struct netlist nl = { 0 };
	struct fm_error err;
	uint32_t n_links, n_switches;

	ck_assert_int_eq(generate_words("torus 5x5x4 2", &nl, &err), 0);
	ck_assert_int_eq(netlist_fail(&nl, &faults, &n_links, &n_switches, &err), 0);
	ck_assert_uint_eq(n_links, 30);
	ck_assert_uint_eq(n_switch_ports_cabled(&nl), 2 * (300 - 30));
	ck_assert_uint_eq(nl.n_nodes, 300);
	faults = (struct netlist_faults){ .n_switches = 3, .seed = (uint64_t)_i };
	ck_assert_int_eq(netlist_fail(&nl, &faults, &n_links, &n_switches, &err), 0);
	ck_assert_uint_eq(nl.n_nodes, 300 - 3 * 3); /* with their two hosts each */
	round_trip(&nl);
	faults.n_switches = 98;
	ck_assert_int_eq(netlist_fail(&nl, &faults, &n_links, &n_switches, &err), FM_E_CONFIG);
	ck_assert_str_eq(err.msg, "98 switches are to fail, the fabric has 97");
	netlist_fini(&nl);
}
END_TEST

/* Shuffled: as many nodes, cables and components, in other places. */
START_TEST(test_shuffle)
{
	struct netlist_view view = { .n_vls = 1 };
	struct netlist nl = { 0 }, other = { 0 };
	struct snapshot *snap;
	struct fm_error err;
	uint32_t n_moved = 0;

	ck_assert_int_eq(generate_words(generated[_i], &nl, &err), 0);
	ck_assert_int_eq(netlist_shuffle(&nl, 7, &other, &err), 0);
	ck_assert_uint_eq(other.n_nodes, nl.n_nodes);
	ck_assert_uint_eq(n_switch_ports_cabled(&other), n_switch_ports_cabled(&nl));
	for (uint32_t i = 0; i < nl.n_nodes; i++)
		n_moved += nl.nodes[i].type != other.nodes[i].type ||
		    nl.nodes[i].n_ports != other.nodes[i].n_ports ||
		    netlist_port(&nl, i, 1)->peer_node != netlist_port(&other, i, 1)->peer_node;
	ck_assert_uint_gt(n_moved, nl.n_nodes / 4);
	round_trip(&other);
	ck_assert_int_eq(netlist_snapshot(&other, &view, &snap, &err), 0);
	ck_assert_uint_eq(snap->n_components, 1);
	snapshot_put(snap);
	netlist_fini(&other);
	netlist_fini(&nl);
}
END_TEST

/* What each cable joins but for names, added up. */
static uint64_t
sum_cables(const struct netlist *nl)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < nl->n_nodes; i++)
		for (unsigned p = 1; p <= nl->nodes[i].n_ports; p++) {
			const struct netlist_port *port = netlist_port(nl, i, p);

			if (port->peer_node != NETLIST_NONE)
				sum += fm_mix64(p | (uint64_t)port->peer_port << 8 |
				    (uint64_t)nl->nodes[port->peer_node].type << 16 |
				    (uint64_t)port->lane_mbps << 24);
		}
	return sum;
}

/* Renamed: other nodes in the places, the same ports joined. */
START_TEST(test_rename)
{
	struct netlist nl = { 0 }, other = { 0 }, shuffled = { 0 };
	struct fm_error err;
	uint32_t n_moved = 0;

	ck_assert_int_eq(generate_words(generated[_i], &nl, &err), 0);
	ck_assert_int_eq(netlist_rename(&nl, 7, &other, &err), 0);
	ck_assert_int_eq(netlist_shuffle(&nl, 7, &shuffled, &err), 0);
	ck_assert_uint_eq(other.n_nodes, nl.n_nodes);
	for (uint32_t i = 0; i < nl.n_nodes; i++)
		n_moved += nl.nodes[i].type != other.nodes[i].type ||
		    netlist_port(&nl, i, 1)->peer_node != netlist_port(&other, i, 1)->peer_node;
	ck_assert_uint_gt(n_moved, nl.n_nodes / 4);
	ck_assert_uint_eq(sum_cables(&other), sum_cables(&nl));
	ck_assert_uint_ne(sum_cables(&shuffled), sum_cables(&nl));
	round_trip(&other);
	netlist_fini(&shuffled);
	netlist_fini(&other);
	netlist_fini(&nl);
}
END_TEST

static uint64_t
system_guid_of(const struct netlist *nl, uint32_t node)
{
	const struct netlist_node *n = &nl->nodes[node];

	return n->system_guid != 0 ? n->system_guid : n->guid;
}

/* How many nodes have the SystemImageGUID of this one. */
static uint32_t
system_size(const struct netlist *nl, uint32_t node)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < nl->n_nodes; i++)
		n += system_guid_of(nl, i) == system_guid_of(nl, node);
	return n;
}

/* Ends of cables inside a system. */
static uint32_t
n_cables_within(const struct netlist *nl)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < nl->n_nodes; i++)
		for (unsigned p = 1; p <= nl->nodes[i].n_ports; p++) {
			uint32_t peer = netlist_port(nl, i, p)->peer_node;

			n += peer != NETLIST_NONE &&
			    system_guid_of(nl, i) == system_guid_of(nl, peer);
		}
	return n;
}

static void
count_sizes(const struct netlist *nl, uint32_t *n_of_size)
{
	for (uint32_t i = 0; i < nl->n_nodes; i++)
		n_of_size[system_size(nl, i)]++;
}

/* Two directors, one with a GUID of its own for the system and one with that of one of its
 * switches, as both are met; all else is alone. */
START_TEST(test_shuffle_systems)
{
	struct netlist nl = { 0 }, other = { 0 };
	uint32_t was[64] = { 0 }, now[64] = { 0 }, n_sw = 0;
	struct fm_error err;

	ck_assert_int_eq(generate_words("pgft 2 4,6 1,4 1,1", &nl, &err), 0);
	ck_assert_uint_lt(nl.n_nodes, 64);
	for (uint32_t i = 0; i < nl.n_nodes; i++) {
		struct netlist_node *n = &nl.nodes[i];

		if (n->type != NETLIST_SWITCH)
			continue;
		if (n_sw % 3 == 0)
			n->system_guid = UINT64_C(0x0c0ffee);
		else if (n_sw % 3 == 1)
			n->system_guid = nl.nodes[netlist_port(&nl, 0, 1)->peer_node].guid;
		n_sw++;
	}
	ck_assert_uint_eq(n_sw, 10);
	ck_assert_int_eq(netlist_shuffle(&nl, 7, &other, &err), 0);
	count_sizes(&nl, was);
	count_sizes(&other, now);
	ck_assert_uint_ge(was[4], 4);
	ck_assert_mem_eq(was, now, sizeof(was));
	ck_assert_uint_gt(n_cables_within(&nl), 0);
	ck_assert_uint_eq(n_cables_within(&nl), n_cables_within(&other));
	round_trip(&other);
	netlist_fini(&other);
	netlist_fini(&nl);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("netlist");
	TCase *tc = tcase_create("all");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_loop_test(
	    tc, test_generated_round_trip, 0, sizeof(generated) / sizeof(generated[0]));
	tcase_add_test(tc, test_ibnetdiscover);
	tcase_add_test(tc, test_copied_from_a_terminal);
	tcase_add_test(tc, test_one_guid_twice);
	tcase_add_test(tc, test_guids_of_fewer_digits);
	tcase_add_test(tc, test_rates);
	tcase_add_test(tc, test_one_sided);
	tcase_add_test(tc, test_remarks);
	tcase_add_loop_test(tc, test_bad_input, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(tc, test_nul_byte);
	tcase_add_test(tc, test_garbled);
	tcase_add_loop_test(tc, test_edge_fabrics, 0, sizeof(edge) / sizeof(edge[0]));
	tcase_add_test(tc, test_lids_of_the_file);
	tcase_add_loop_test(tc, test_real_fabrics, 0, sizeof(real) / sizeof(real[0]));
	tcase_add_loop_test(tc, test_faults, 0, 3);
	tcase_add_loop_test(tc, test_shuffle, 0, sizeof(generated) / sizeof(generated[0]));
	tcase_add_loop_test(tc, test_rename, 0, sizeof(generated) / sizeof(generated[0]));
	tcase_add_test(tc, test_shuffle_systems);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
