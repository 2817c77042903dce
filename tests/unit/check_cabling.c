/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cabling: every generated fabric through ibutils' topology file, bad lines with the sentence they
 * must give, and what differs of fabrics with cables unplugged, swapped and moved by seed.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/cabling/cabling.h"
#include "lab/topo/netlist.h"
#include "lib/log.h"
#include "lib/rng.h"
#include "tests/run.h"
#include "tests/unit/generate_words.h"

static const char *const generated[] = { "pgft 3 3,3,4 1,2,3 1,1,2", "torus 3x4x2 2 2",
	"mesh 3x2 1", "hypercube 3 1", "hyperx 3x4 2", "dragonfly 4 2 2", "cascade", "slimfly 5 1",
	"kautz 2 3 1", "random 20 5 2 7", "director 6 4 5 2 2 4 seed=1",
	"tree3 2 2 2 1 2 3 rails=2 slow=1 aggregation=1 storage=1 seed=2" };
#define N_GENERATED (int)(sizeof(generated) / sizeof(generated[0]))

static void
keep_still(void *arg, enum fm_log_level level, const char *subsystem, const char *line)
{
}

static void
setup(void)
{
	fm_log_set_sink(keep_still, NULL);
}

/* As from a file: its GUIDs are said. */
static void
generate(const char *words, struct netlist *nl)
{
	struct fm_error err;

	ck_assert_msg(generate_words(words, nl, &err) == 0, "%s", err.msg);
	for (uint32_t i = 0; i < nl->n_nodes; i++)
		nl->nodes[i].guid_is_made = false;
}

static char *
topo_of(const struct netlist *nl)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	struct fm_error err;

	ck_assert_int_eq(netlist_write_topo(nl, out, &err), 0);
	fclose(out);
	return text;
}

static void
parse(const char *text, struct netlist *nl)
{
	struct fm_error err;

	ck_assert_msg(netlist_parse("t.topo", text, strlen(text), nl, &err) == 0, "%s", err.msg);
}

static void
copy(const struct netlist *nl, struct netlist *to)
{
	char *text = topo_of(nl);

	parse(text, to);
	free(text);
}

/* ---------------------------------------------------------------- the format */

static void
same(const struct netlist *a, const struct netlist *b)
{
	ck_assert_uint_eq(a->n_nodes, b->n_nodes);
	for (uint32_t i = 0; i < a->n_nodes; i++) {
		const struct netlist_node *x = &a->nodes[i], *y = &b->nodes[i];

		ck_assert_str_eq(x->desc, y->desc);
		ck_assert(x->guid == y->guid && x->type == y->type && x->n_ports == y->n_ports);
		ck_assert(x->aggregation == y->aggregation);
		ck_assert(x->system_guid == 0 || x->system_guid == y->system_guid);
		for (unsigned p = 1; p <= x->n_ports; p++) {
			const struct netlist_port *s = netlist_port(a, i, p),
						  *t = netlist_port(b, i, p);

			ck_assert(s->peer_node == t->peer_node && s->peer_port == t->peer_port);
			ck_assert(s->peer_node == NETLIST_NONE ||
			    (s->width == t->width && s->lane_mbps == t->lane_mbps));
		}
	}
}

START_TEST(test_generated_round_trip)
{
	struct netlist nl = { 0 }, again = { 0 };

	generate(generated[_i], &nl);
	copy(&nl, &again);
	same(&nl, &again);
	netlist_fini(&again);
	netlist_fini(&nl);
}
END_TEST

/* As ibdm-topo-file(1) has it, and each way to write an arrow. */
START_TEST(test_of_others)
{
	struct netlist nl = { 0 };

	parse("# by hand\nMTS2400 S-1\n"
	      "   P1 -> MT23108 H-1 P1\n"
	      "\tP2 -4x-> MT23108 H-1 P2  \n"
	      "   P24 -12X-FDR10-> MT23108 H-2 P1\r\n"
	      "\nMTS2400 S-2\n   P3 -25G-> MTS2400 S-1 P3\n",
	    &nl);
	ck_assert_uint_eq(nl.n_nodes, 4);
	ck_assert_str_eq(nl.nodes[2].desc, "H-1");
	ck_assert_uint_eq(nl.nodes[0].type, NETLIST_SWITCH);
	ck_assert_uint_eq(nl.nodes[2].type, NETLIST_CA);
	ck_assert_uint_eq(nl.nodes[0].n_ports, 24);
	ck_assert_uint_eq(nl.nodes[2].n_ports, 2);
	ck_assert(nl.nodes[0].guid_is_made);
	ck_assert_uint_eq(netlist_port(&nl, 0, 1)->lane_mbps, 2000);
	ck_assert_uint_eq(netlist_port(&nl, 0, 24)->lane_mbps, 10000);
	ck_assert_uint_eq(netlist_port(&nl, 0, 24)->width, 12);
	ck_assert_uint_eq(netlist_port(&nl, 0, 3)->lane_mbps, 25000);
	ck_assert_uint_eq(netlist_port(&nl, 0, 3)->peer_node, 1);
	netlist_fini(&nl);
}
END_TEST

/* Names that a topology file cannot have, and one that two nodes have. */
START_TEST(test_names)
{
	struct netlist nl = { 0 }, again = { 0 };
	char *text;

	netlist_add(&nl, NETLIST_SWITCH, "S-1", "core 1/U1 \"east\"", 0x10, 4);
	netlist_add(&nl, NETLIST_CA, "H-1", "node 7", 0x20, 1);
	netlist_add(&nl, NETLIST_CA, "H-2", "node 7", 0x30, 1);
	netlist_add(&nl, NETLIST_CA, "H-3", "", 0x40, 1);
	for (unsigned p = 1; p <= 3; p++)
		netlist_cable(&nl, 0, p, p, 1, 25000);
	text = topo_of(&nl);
	ck_assert(strstr(text, "\nSW4 core_1_U1_\"east\"\n") != NULL);
	ck_assert(strstr(text, " CA1 node_7-0000000000000030 P1\n") != NULL);
	parse(text, &again);
	same(&nl, &again);
	free(text);
	netlist_fini(&again);
	netlist_fini(&nl);
}
END_TEST

#define S "SW4 a\n"
static const struct {
	const char *text, *expected;
} bad[] = {
	{ "", "t.topo:1: no system in the file: a line like SW36 leaf-1 is missing" },
	{ "# x\n\n", "t.topo:2: no system in the file" },
	{ "SW4\n", "t.topo:1: \"SW4\" begins neither a system, TYPE NAME, nor a port" },
	{ S " P1 -> SW4 b\n", "t.topo:2: \"P1\" begins neither a system" },
	{ S " P1 -> SW4 b P1 P2\n", "t.topo:2: \"P1\" begins neither a system" },
	{ S " P1 => SW4 b P1\n", "t.topo:2: \"=>\" is no arrow: -> is right, or -4x-10G->" },
	{ S " P1 -3x-> SW4 b P1\n", "t.topo:2: \"-3x->\" is no arrow" },
	{ S " P1 -4x-9G-> SW4 b P1\n", "t.topo:2: \"-4x-9G->\" is no arrow" },
	{ S " P1 -10G-4x-> SW4 b P1\n", "t.topo:2: \"-10G-4x->\" is no arrow" },
	{ S " P1 -4x> SW4 b P1\n", "t.topo:2: \"-4x>\" is no arrow" },
	{ S " P0 -> SW4 b P1\n", "t.topo:2: \"P0\" is no port: P1 to P254 are right" },
	{ S " P1 -> SW4 b P255\n", "t.topo:2: \"P255\" is no port" },
	{ S " P1 -> SW4 b P99999999999\n", "is no port" },
	{ S " P -> SW4 b P1\n", "t.topo:2: \"P\" is no port" },
	{ S " L1/P1 -> SW4 b P1\n",
	    "t.topo:2: \"L1/P1\" is no port: P1 to P254 are right; each "
	    "switch of a chassis is a system of its own here" },
	{ S " P5 -> SW4 b P1\n", "t.topo:2: port 5 of \"a\", which is a SW4 and has 4 ports" },
	{ S " P1 -> SW4 b P5\n", "t.topo:2: port 5 of \"b\", which is a SW4 and has 4 ports" },
	{ " P1 -> SW4 b P1\n", "t.topo:1: a port before any system: a line TYPE NAME comes first" },
	{ S "\n P1 -> SW4 b P1\n", "t.topo:3: a port before any system" },
	{ "SW4 a/b\n", "t.topo:1: \"a/b\" is no name of a system" },
	{ S "\nSW5 a\n", "t.topo:3: \"a\" is a SW5 here and a SW4 in line 1" },
	{ S " P1 -> SW5 a P2\n", "t.topo:2: \"a\" is a SW5 here and a SW4 in line 1" },
	{ S " P1 -> SW4 b P1\n P1 -> SW4 b P2\n",
	    "t.topo:3: port P1 of \"a\" is given again, first in line 2" },
	{ S " P1 -> SW4 b P1\n P2 -> SW4 b P1\n",
	    "t.topo:3: \"a\"[2] is cabled to \"b\"[1], but by line 2 that port is cabled to "
	    "\"a\"[1]" },
	{ "MTS9600 a CFG: leaf3=R\n", "t.topo:1: CFG: is of a chassis" },
	{ "# fmd: guid=0x1z \"a\"\n" S, "t.topo:1: a comment of fmd's that is not whole" },
	{ "# fmd: guid=0x1\n" S, "t.topo:1: a comment of fmd's that is not whole" },
	{ "# fmd: guid=0x12345678901234567 \"a\"\n" S, "t.topo:1: a comment of fmd's" },
};

START_TEST(test_bad_input)
{
	struct netlist nl = { 0 };
	struct fm_error err = { 0 };

	ck_assert_int_eq(
	    netlist_parse("t.topo", bad[_i].text, strlen(bad[_i].text), &nl, &err), FM_E_CONFIG);
	ck_assert_msg(
	    strstr(err.msg, bad[_i].expected) != NULL, "\"%s\" gave: %s", bad[_i].text, err.msg);
	ck_assert_uint_eq(nl.n_nodes, 0);
}
END_TEST

/* Cut anywhere, and with any byte broken: an error with a line, or a fabric that is written and
 * read again. */
START_TEST(test_garbled)
{
	static const char junk[] = "\"/#->P0 \n\t(";
	struct netlist nl = { 0 };
	char *text;
	size_t n;

	generate("pgft 2 2,2 1,2 1,1", &nl);
	text = topo_of(&nl);
	n = strlen(text);
	netlist_fini(&nl);
	for (size_t at = 0; at < n; at++)
		for (size_t j = 0; j < sizeof(junk); j++) {
			struct netlist got = { 0 }, again = { 0 };
			struct fm_error err = { 0 };
			char was = text[at];
			bool is_cut = junk[j] == '\0';

			text[at] = is_cut ? was : junk[j];
			if (netlist_parse("t.topo", text, is_cut ? at : n, &got, &err) != 0) {
				ck_assert(strncmp(err.msg, "t.topo:", 7) == 0);
			} else {
				copy(&got, &again);
				same(&got, &again);
				netlist_fini(&again);
			}
			netlist_fini(&got);
			text[at] = was;
		}
	free(text);
}
END_TEST

/* --------------------------------------------------------------- comparing */

static void
compare(const struct netlist *want, const struct netlist *found, struct cabling *c)
{
	struct fm_error err;

	ck_assert_int_eq(cabling_compare(want, found, c, &err), 0);
}

/* The cables of a netlist, as GUID and port of both ends, the lower first. */
struct cable {
	uint64_t guid[2];
	unsigned port[2];
};
struct cables {
	FM_VEC(struct cable) v;
};

static struct cable
cable_between(const struct netlist *nl, uint32_t a, unsigned p, uint32_t b, unsigned q)
{
	struct cable c = { { nl->nodes[a].guid, nl->nodes[b].guid }, { p, q } };

	if (c.guid[0] > c.guid[1] || (c.guid[0] == c.guid[1] && p > q))
		c = (struct cable){ { c.guid[1], c.guid[0] }, { q, p } };
	return c;
}

static struct cable
cable_of_ends(const struct cabling_item *i, int a, int b)
{
	const struct cabling_end *x = &i->end[a], *y = &i->end[b];

	ck_assert(x->in != NULL && y->in != NULL);
	return cable_between(x->in, x->node, x->port,
	    x->in == y->in ? y->node : fm_hash_find(&x->in->by_guid, y->in->nodes[y->node].guid),
	    y->port);
}

static void
list_cables(const struct netlist *nl, struct cables *c)
{
	for (uint32_t i = 0; i < nl->n_nodes; i++)
		for (unsigned p = 1; p <= nl->nodes[i].n_ports; p++) {
			const struct netlist_port *port = netlist_port(nl, i, p);

			if (port->peer_node == NETLIST_NONE || port->peer_node < i ||
			    (port->peer_node == i && port->peer_port < p))
				continue;
			fm_vec_push(
			    &c->v, cable_between(nl, i, p, port->peer_node, port->peer_port));
		}
}

static void
take_out(struct cables *c, struct cable what)
{
	for (size_t i = 0; i < c->v.n; i++)
		if (memcmp(&c->v.item[i], &what, sizeof(what)) == 0) {
			c->v.item[i] = c->v.item[--c->v.n];
			return;
		}
	ck_abort_msg("a cable is told of that is not there");
}

static int
by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct cable));
}

/* The cables that are wanted, changed as the items say, are those that are found. */
static void
items_explain(const struct netlist *want, const struct netlist *found, const struct cabling *c)
{
	struct cables w = { 0 }, f = { 0 };

	list_cables(want, &w);
	list_cables(found, &f);
	for (size_t i = 0; i < c->items.n; i++) {
		const struct cabling_item *item = &c->items.item[i];

		switch (item->kind) {
		case CABLING_MISSING:
			take_out(&w, cable_of_ends(item, 0, 1));
			break;
		case CABLING_EXTRA:
			fm_vec_push(&w.v, cable_of_ends(item, 0, 1));
			break;
		case CABLING_MOVED:
			take_out(&w, cable_of_ends(item, 0, 1));
			fm_vec_push(&w.v, cable_of_ends(item, 2, 3));
			break;
		case CABLING_SWAPPED:
			take_out(&w, cable_of_ends(item, 0, 1));
			take_out(&w, cable_of_ends(item, 2, 3));
			fm_vec_push(&w.v, cable_of_ends(item, 0, 3));
			fm_vec_push(&w.v, cable_of_ends(item, 2, 1));
			break;
		default:
			ck_abort_msg("an item of kind %s", cabling_word(item->kind));
		}
	}
	ck_assert_uint_eq(w.v.n, f.v.n);
	qsort(w.v.item, w.v.n, sizeof(struct cable), by_bytes);
	qsort(f.v.item, f.v.n, sizeof(struct cable), by_bytes);
	ck_assert(memcmp(w.v.item, f.v.item, w.v.n * sizeof(struct cable)) == 0);
	fm_vec_fini(&w.v);
	fm_vec_fini(&f.v);
}

struct end {
	uint32_t node;
	unsigned port;
};

/* A port of the fabric at random, cabled or free. */
static bool
pick(const struct netlist *nl, struct fm_rng *r, bool is_cabled, struct end *e)
{
	for (int tries = 0; tries < 1000; tries++) {
		e->node = (uint32_t)fm_rng_below(r, nl->n_nodes);
		e->port = 1 + (unsigned)fm_rng_below(r, nl->nodes[e->node].n_ports);
		if ((netlist_port(nl, e->node, e->port)->peer_node != NETLIST_NONE) == is_cabled)
			return true;
	}
	return false;
}

static struct end
far_end(const struct netlist *nl, struct end e)
{
	const struct netlist_port *p = netlist_port(nl, e.node, e.port);

	return (struct end){ p->peer_node, p->peer_port };
}

static void
plug(struct netlist *nl, struct end a, struct end b)
{
	netlist_cable(nl, a.node, a.port, b.node, b.port, 25000);
}

enum fault { UNPLUG, PLUG, SWAP, MOVE, N_FAULTS };

/* Whether there was something to do it to. */
static bool
hurt(struct netlist *nl, enum fault fault, struct fm_rng *r)
{
	struct end a, b, c, d;

	if (fault == PLUG) {
		if (!pick(nl, r, false, &a) || !pick(nl, r, false, &b) ||
		    (a.node == b.node && a.port == b.port))
			return false;
		plug(nl, a, b);
		return true;
	}
	if (!pick(nl, r, true, &a))
		return false;
	b = far_end(nl, a);
	if (fault == SWAP) {
		if (!pick(nl, r, true, &c) || c.node == a.node || c.node == b.node)
			return false;
		d = far_end(nl, c);
		if (d.node == a.node || d.node == b.node)
			return false;
		netlist_uncable(nl, c.node, c.port);
	} else if (fault == MOVE) {
		if (!pick(nl, r, false, &d))
			return false;
	}
	netlist_uncable(nl, a.node, a.port);
	if (fault == SWAP) {
		plug(nl, a, d);
		plug(nl, c, b);
	} else if (fault == MOVE) {
		plug(nl, a, d);
	}
	return true;
}

/* One fault is one line of its kind. */
START_TEST(test_one_fault)
{
	static const enum cabling_kind kinds[] = { [UNPLUG] = CABLING_MISSING,
		[PLUG] = CABLING_EXTRA,
		[SWAP] = CABLING_SWAPPED,
		[MOVE] = CABLING_MOVED };
	struct netlist want = { 0 };
	unsigned n_tried = 0;

	generate("random 20 12 4 3", &want);
	for (uint32_t seed = 0; seed < n_cases(400); seed++) {
		enum fault fault = (enum fault)(seed % N_FAULTS);
		struct netlist found = { 0 };
		struct fm_rng r;
		struct cabling c;
		char text[CABLING_TEXT];

		fm_rng_seed(&r, seed);
		copy(&want, &found);
		if (hurt(&found, fault, &r)) {
			n_tried++;
			compare(&want, &found, &c);
			ck_assert_msg(c.items.n == 1 && c.n_of[kinds[fault]] == 1,
			    "seed %u: %zu items", seed, c.items.n);
			ck_assert(*cabling_say(&c.items.item[0], text, sizeof(text)) != '\0');
			items_explain(&want, &found, &c);
			cabling_fini(&c);
		}
		netlist_fini(&found);
	}
	ck_assert_uint_gt(n_tried, n_cases(400) / 4);
	netlist_fini(&want);
}
END_TEST

/* Many faults: what is told, done to what is wanted, makes what is found. */
START_TEST(test_many_faults)
{
	struct netlist want = { 0 };

	generate(generated[_i], &want);
	for (uint32_t seed = 0; seed < n_cases(64); seed++) {
		struct netlist found = { 0 };
		struct fm_rng r;
		struct cabling c;

		fm_rng_seed(&r, seed);
		copy(&want, &found);
		for (uint32_t n = 1 + (uint32_t)fm_rng_below(&r, 12); n > 0; n--)
			hurt(&found, (enum fault)fm_rng_below(&r, N_FAULTS), &r);
		compare(&want, &found, &c);
		items_explain(&want, &found, &c);
		cabling_fini(&c);
		netlist_fini(&found);
	}
	netlist_fini(&want);
}
END_TEST

static uint32_t
node_called(const struct netlist *nl, const char *name)
{
	for (uint32_t i = 0; i < nl->n_nodes; i++)
		if (strcmp(nl->nodes[i].desc, name) == 0)
			return i;
	ck_abort_msg("nobody is called %s", name);
}

static void
expect(const struct netlist *want, const struct netlist *found, const char *const *texts)
{
	char text[CABLING_TEXT];
	struct cabling c;
	size_t n = 0;

	compare(want, found, &c);
	for (; texts[n] != NULL && n < c.items.n; n++)
		ck_assert_str_eq(cabling_say(&c.items.item[n], text, sizeof(text)), texts[n]);
	ck_assert_uint_eq(n, c.items.n);
	ck_assert(texts[n] == NULL);
	cabling_fini(&c);
}

/* The words, of each kind. */
START_TEST(test_words)
{
	struct netlist want = { 0 }, found = { 0 };
	uint32_t leaf, spine, host, other;

	generate("pgft 2 2,4 1,4 1,1", &want);
	copy(&want, &found);
	leaf = node_called(&found, "leaf-1");
	spine = node_called(&found, "spine-1");
	host = node_called(&found, "host-2-1");
	other = node_called(&found, "leaf-4");
	netlist_port(&found, leaf, 4)->lane_mbps = 8000; /* to spine-2 */
	netlist_port(&found, node_called(&found, "spine-2"), 1)->lane_mbps = 8000;
	netlist_uncable(&found, spine, 2);
	netlist_uncable(&found, other, 3);
	netlist_cable(
	    &found, spine, 2, other, 3, 25000); /* leaf-2 P3 is free, leaf-4's cable moved */
	netlist_forget_guids(&found, host);
	found.nodes[host].guid = 0x4711;
	netlist_port(&found, host, 1)->guid = 0x4712;
	ck_assert(netlist_name_node(&found, host));
	expect(&want, &found,
	    (const char *const[]){
		"the cable at \"spine-1\" port 2 leads to \"leaf-4\" port 3 instead of \"leaf-2\" "
		"port 3",
		"the cable from \"leaf-4\" port 3 to \"spine-1\" port 4 is missing",
		"the cable from \"leaf-1\" port 4 to \"spine-2\" port 1 runs at 4x QDR, in the "
		"file at 4x EDR",
		"host \"host-2-1\" was replaced: its GUID is 0x0000000000004711, in the file "
		"0x0200f40000000b00",
		NULL });
	netlist_fini(&found);
	netlist_fini(&want);
}
END_TEST

/* A spine that is gone is one line, so is one that has come; one in its place is a note. */
START_TEST(test_nodes)
{
	struct netlist want = { 0 }, found = { 0 };
	uint32_t spine;

	generate("pgft 2 2,4 1,4 1,1", &want);
	copy(&want, &found);
	spine = node_called(&found, "spine-3");
	for (unsigned p = 1; p <= 4; p++)
		netlist_uncable(&found, spine, p);
	netlist_forget_guids(&found, spine);
	found.nodes[spine].guid = netlist_port(&found, spine, 0)->guid = 0x4711;
	found.nodes[spine].desc = "new";
	ck_assert(netlist_name_node(&found, spine));
	expect(&want, &found,
	    (const char *const[]){ "switch \"spine-3\" with 4 cables is missing",
		"switch \"new\" with 0 cables is not in the file", NULL });
	for (unsigned p = 1; p <= 3; p++) /* a cable of it is not there yet */
		plug(&found, (struct end){ spine, p },
		    (struct end){ p - 1 + node_called(&found, "leaf-1"), 5 });
	expect(&want, &found,
	    (const char *const[]){ "the cable from \"leaf-4\" port 5 to \"spine-3\" port 4 is "
				   "missing",
		"switch \"new\" was replaced: its GUID is 0x0000000000004711, in the file "
		"0x0200f40000000700, and its name \"spine-3\"",
		NULL });
	netlist_fini(&found);
	netlist_fini(&want);
}
END_TEST

/* A file by hand, without GUIDs, against nodes that call themselves a word more. */
START_TEST(test_by_names)
{
	struct netlist want = { 0 }, found = { 0 };

	parse("SW4 leaf-1\n P1 -> CA1 node1 P1\n P2 -> CA1 node2 P1\n P3 -> SW4 top P1\n", &want);
	netlist_add(&found, NETLIST_CA, "H-1", "node2 HCA-1", 0x20, 1);
	netlist_add(&found, NETLIST_SWITCH, "S-1", "leaf-1", 0x10, 4);
	netlist_add(&found, NETLIST_CA, "H-2", "node1 HCA-1", 0x30, 1);
	netlist_add(&found, NETLIST_SWITCH, "S-2", "other name", 0x40, 4);
	netlist_cable(&found, 1, 1, 2, 1, 25000);
	netlist_cable(&found, 1, 2, 0, 1, 25000);
	netlist_cable(&found, 1, 3, 3, 1, 25000);
	expect(&want, &found,
	    (const char *const[]){ "switch \"top\" of the file is called \"other name\"", NULL });
	netlist_fini(&found);
	netlist_fini(&want);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("cabling");
	TCase *t = tcase_create("cabling");

	tcase_add_checked_fixture(t, setup, NULL);
	tcase_set_timeout(t, 0);
	tcase_add_loop_test(t, test_generated_round_trip, 0, N_GENERATED);
	tcase_add_test(t, test_of_others);
	tcase_add_test(t, test_names);
	tcase_add_loop_test(t, test_bad_input, 0, (int)(sizeof(bad) / sizeof(bad[0])));
	tcase_add_test(t, test_garbled);
	tcase_add_test(t, test_one_fault);
	tcase_add_loop_test(t, test_many_faults, 0, N_GENERATED);
	tcase_add_test(t, test_words);
	tcase_add_test(t, test_nodes);
	tcase_add_test(t, test_by_names);
	suite_add_tcase(s, t);
	return run_suite(s);
}
