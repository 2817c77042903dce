/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every engine on every kind of fabric, whole and damaged.
 *
 * The engines are those that the loader finds in the build tree, so a new one
 * is covered as soon as it is built, and the core's own up/down.  A cell is
 * one engine on one fabric; each runs in a process of its own, so a crash or
 * a hang is one cell's failure.  Of a cell must hold:
 *
 *	whole	all of lab/judge/props.h, under other names too
 *	hurt	with cables, a switch, a leaf or a root taken out by 20 seeds:
 *		verified, or refused with a sentence, with any number of workers
 *
 * FMD_MATRIX=long takes 20 seeds of each kind of fault and the fabrics of
 * doc/engines.md too.  There an engine may refuse whatever is damaged, as long as
 * it says why, and each cell is told when it is done.  FMD_MATRIX=huge takes those of
 * over 1,000 switches alone, with 20 seeds in all.  FMD_MATRIX_ENGINE=NAME takes
 * one engine, FMD_MATRIX_FABRIC=WORD the fabrics whose line has the word;
 * FMD_MATRIX_TELL prints what is refused of damaged fabrics.
 * Cost: calls of engines and verify on fabrics of a few dozen switches; long
 * about an hour on two CPUs.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "core/engine/fallback.h"
#include "core/engine/plugin.h"
#include "lab/judge/props.h"
#include "lab/topo/netlist.h"
#include "lib/log.h"
#include "lib/rng.h"
#include "tests/run.h"
#include "tests/unit/generate_words.h"

#define MAX_ENGINES 40
#define N_SEEDS 20

struct fabric {
	const char *words; /* of fmroute gen, a file of tests/fabrics, or @one of FMD_TOPOLOGIES */
	uint8_t lmc;
	bool is_small; /* allocations are made to fail one by one */
	enum form { PLAIN, PROXIES, LONG, HUGE } form;
};

static const struct fabric fabrics[] = {
	{ "pgft 2 4,4 1,2 1,2", 0, true, PLAIN },
	{ "pgft 2 6,6 1,6 1,1", 0, false, PLAIN },
	{ "pgft 3 3,3,4 1,2,2 1,1,2", 1, false, PLAIN },
	{ "pgft 3 4,4,4 1,4,4 1,1,1", 0, false, PLAIN },
	{ "pgft 3 5,4,4 1,4,4 1,1,1", 0, false, PLAIN },
	{ "torus 4x3 2", 0, true, PLAIN },
	{ "torus 5x5 1", 2, false, PLAIN },
	{ "torus 4x4x3 1", 0, false, PLAIN },
	{ "torus 3x3x3 1 2", 0, false, PLAIN },
	{ "mesh 4x3 2", 0, true, PLAIN },
	{ "mesh 3x3x3 1", 0, false, PLAIN },
	{ "hypercube 3 1", 0, true, PLAIN },
	{ "hypercube 5 1", 0, false, PLAIN },
	{ "hyperx 3x3 2", 0, true, PLAIN },
	{ "hyperx 4x3x2 2", 1, false, PLAIN },
	{ "dragonfly 3 1 1", 0, true, PLAIN },
	{ "dragonfly 4 2 2", 0, false, PLAIN },
	{ "kautz 2 3 1", 0, true, PLAIN },
	{ "kautz 3 2 2 2", 0, false, PLAIN },
	{ "slimfly 5 1", 0, false, PLAIN },
	{ "random 12 4 2 7", 0, true, PLAIN },
	{ "random 40 3 1 9", 0, false, PLAIN },
	{ "random 30 6 2 3", 1, false, PLAIN },
	{ "director 12 6 10 4 2 6 seed=1", 0, false, PLAIN },
	{ "director 12 6 10 4 2 6 seed=1", 2, false, PLAIN },
	{ "pods 4 4 2 1 3 4 seed=1", 0, false, PLAIN },
	{ "pods 4 4 2 1 3 4 seed=1", 2, false, PLAIN },
	{ "tree3 3 3 4 2 3 4 storage=2 seed=1", 0, false, PLAIN },
	{ "tree3 3 3 4 2 3 4 storage=2 seed=1", 2, false, PLAIN },
	{ "tree3 3 3 2 2 4 3 missing=1 slow=3 rails=2 aggregation=1", 0, false, PLAIN },
	{ "tree3 3 3 2 2 4 3 missing=1 slow=3 rails=2 aggregation=1", 2, false, PLAIN },
	{ "two-cas.net", 0, true, PLAIN },
	{ "one-switch.net", 0, true, PLAIN },
	{ "sm-port0.net", 0, true, PLAIN },
	{ "dual-port.net", 0, true, PLAIN },
	{ "router.net", 0, true, PLAIN },
	{ "two-components.net", 0, true, PLAIN },
	{ "aggregation.net", 0, true, PLAIN },
	{ "pgft 2 4,4 1,2 1,2", 0, true, PROXIES },
	{ "torus 4x4 1", 0, true, PROXIES },
	{ "random 20 4 1 5", 0, true, PROXIES },
	{ "pgft 2 18,36 1,18 1,1", 0, false, LONG },
	{ "pgft 3 6,6,12 1,6,6 1,1,1", 0, false, LONG },
	{ "pgft 3 18,18,12 1,6,18 1,1,1", 0, false, LONG },
	{ "pgft 3 11,10,10 1,10,10 1,1,1", 0, false, LONG },
	{ "torus 6x5x5 7 4", 0, false, LONG },
	{ "torus 8x8x8 2", 0, false, LONG },
	{ "hypercube 8 4", 0, false, LONG },
	{ "hyperx 12x8 7", 0, false, LONG },
	{ "hyperx 12x12 8", 0, false, LONG },
	{ "dragonfly 8 4 4", 0, false, LONG },
	{ "dragonfly 12 6 6 15", 0, false, LONG },
	{ "cascade", 0, false, LONG },
	{ "kautz 5 3 7 2", 0, false, LONG },
	{ "slimfly 5 4", 0, false, LONG },
	{ "slimfly 7 3", 0, false, LONG },
	{ "slimfly 13 9", 0, false, LONG },
	{ "random 125 16 8 1", 0, false, LONG },
	{ "random 250 12 8 1", 0, false, LONG },
	{ "director 60 20 50 20 4 18 seed=1", 0, false, LONG },
	{ "director 60 20 50 20 4 18 seed=1", 2, false, LONG },
	{ "pods 6 18 4 5 18 18", 0, false, LONG },
	{ "pods 6 18 4 5 18 18", 2, false, LONG },
	{ "pods 3 20 20 0 20 18", 0, false, LONG },
	{ "pods 3 20 20 0 20 18", 2, false, LONG },
	{ "tree3 8 7 10 5 14 20 storage=2", 0, false, LONG },
	{ "tree3 8 7 10 5 14 20 storage=2", 2, false, LONG },
	{ "tree3 8 7 10 5 14 20 storage=2 missing=3 slow=8 seed=3", 0, false, LONG },
	{ "tree3 6 6 6 3 6 12 rails=2 aggregation=1 seed=5", 0, false, LONG },
	{ "@qdr-144.net", 0, false, LONG },
	{ "@ndr-dgx-582.net", 0, false, LONG },
	{ "pgft 3 18,18,36 1,18,18 1,1,1", 0, false, HUGE },
	{ "pgft 3 24,24,48 1,24,24 1,1,1", 0, false, HUGE },
	{ "torus 16x16x16 1", 0, false, HUGE },
	{ "dragonfly 16 8 8", 0, false, HUGE },
};
#define N_FABRICS ((int)(sizeof(fabrics) / sizeof(*fabrics)))

enum fault { LINKS_1, LINKS_5, LINKS_20, ONE_SWITCH, A_LEAF, A_ROOT, N_FAULTS };
static const char *const fault_words[] = { "1 % of the links", "5 % of the links",
	"20 % of the links", "one switch", "a leaf", "a root" };

/* Sets of faults. */
#define FEW (1u << LINKS_1)
#define ONE (FEW | 1u << ONE_SWITCH | 1u << A_LEAF | 1u << A_ROOT)
#define ANY ((1u << N_FAULTS) - 1)

/* Fabrics that an engine may not refuse while they are whole, by the first
 * word; one that is not named here may not refuse them all.  There it may not
 * refuse what these faults leave either.  What names may change: nothing at home
 * for closed forms, of others the largest load by a tenth; of nue, whose SLs are to stay
 * with their GUIDs when cables go, and of dgshortestpath, which counts ways and not loads, more. */
static const struct home {
	const char *engine, *kinds;
	unsigned endures;
	enum props_names names; /* at home */
	enum props_names abroad;
} homes[] = {
	{ "fattree", "pgft", ANY, PROPS_NAMES_EQUAL, PROPS_NAMES_ALIKE },
	{ "torus2qos", "torus", ONE, PROPS_NAMES_EQUAL, PROPS_NAMES_ALIKE },
	{ "dor", "torus mesh hypercube", FEW, PROPS_NAMES_EQUAL, PROPS_NAMES_ALIKE },
	{ "hyperx", "hyperx", ONE, PROPS_NAMES_EQUAL, PROPS_NAMES_ALIKE },
	{ "dragonfly", "dragonfly", FEW, PROPS_NAMES_EQUAL, PROPS_NAMES_ALIKE },
	{ "minhop", "*", ANY, PROPS_NAMES_ALIKE, PROPS_NAMES_ALIKE },
	{ "updn", "*", ANY, PROPS_NAMES_ALIKE, PROPS_NAMES_ALIKE },
	{ "dnup", "*", ANY, PROPS_NAMES_ALIKE, PROPS_NAMES_ALIKE },
	{ "lash", "*", ANY, PROPS_NAMES_ALIKE, PROPS_NAMES_ALIKE },
	{ "sssp", "*", ANY, PROPS_NAMES_ALIKE, PROPS_NAMES_ALIKE },
	{ "dfsssp", "*", ANY, PROPS_NAMES_ALIKE, PROPS_NAMES_ALIKE },
	{ "nue", "*", ANY, PROPS_NAMES_ROUGHLY, PROPS_NAMES_ROUGHLY },
	{ "shortestpath", "*", ANY, PROPS_NAMES_ALIKE, PROPS_NAMES_ALIKE },
	{ "dgshortestpath", "*", ANY, PROPS_NAMES_ROUGHLY, PROPS_NAMES_ROUGHLY },
	{ "auto", "*", ANY, PROPS_NAMES_ALIKE, PROPS_NAMES_ALIKE },
	{ "fallback", "*", ANY, PROPS_NAMES_ALIKE, PROPS_NAMES_ALIKE },
	{ "template", "pgft torus mesh", ANY, PROPS_NAMES_MATTER, PROPS_NAMES_MATTER },
};

static struct engine_set set;
static const struct fm_engine *engines[MAX_ENGINES];
static int n_engines;
static enum form longest = PROXIES;  /* that is wanted */
static struct props_routers routers; /* of this process, that is of one cell */

/* Where each cell is; shared, so that it outlives the cell's process. */
static char (*where)[200]; /* [2 * MAX_ENGINES * N_FABRICS] */

/* ------------------------------------------------------------- the fabrics */

static bool
is_file(const struct fabric *f)
{
	return strstr(f->words, ".net") != NULL;
}

static void
name_file(const struct fabric *f, char *path, size_t room)
{
	const char *top = getenv("srcdir") != NULL ? getenv("srcdir") : "..";
	const char *real = getenv("FMD_TOPOLOGIES");

	if (f->words[0] == '@')
		snprintf(path, room, "%s/%s", real != NULL ? real : ".", f->words + 1);
	else
		snprintf(path, room, "%s/tests/fabrics/%s", top, f->words);
}

static void
read_fabric(const struct fabric *f, struct netlist *nl)
{
	struct fm_error err = { 0 };
	char path[512];
	int rc;

	name_file(f, path, sizeof(path));
	rc = is_file(f) ? netlist_read(path, nl, &err) : generate_words(f->words, nl, &err);
	ck_assert_msg(rc == 0, "%s: %s", f->words, err.msg);
}

static struct snapshot *
snapshot_of(const struct fabric *f, const struct netlist *nl)
{
	struct netlist_view view = { .n_vls = 8, .ca_lmc = f->lmc };
	struct snapshot *snap = NULL;
	struct fm_error err = { 0 };

	ck_assert_msg(netlist_snapshot(nl, &view, &snap, &err) == 0, "%s: %s", f->words, err.msg);
	return snap;
}

/* Ports beyond what the netlist knows: gateways to LIDs of another region, on every third
 * switch, and one through which traffic only enters. */
static void
add_proxies(struct snapshot_builder *b, const struct fm_fabric *fab)
{
	for (fm_sw s = 0; s < fab->n_switches; s += 3) {
		struct snapshot_end e = { .guid = 0x7000 + s,
			.node_guid = 0x7000 + s,
			.system_guid = 0x7000 + s,
			.name = "beyond",
			.sw = s,
			.lid = (uint16_t)(s == 0 ? 0 : fab->max_lid + s),
			.port = (uint8_t)(fab->sw_n_ports[s] + 1),
			.kind = FM_END_PROXY,
			.n_vls = 8 };

		b->switches.item[s].n_ports++;
		ck_assert(fm_vec_push(&b->ends, e));
	}
}

static struct snapshot *
with_proxies(struct snapshot *snap)
{
	const struct fm_fabric *fab = &snap->fab;
	struct snapshot_builder b = { 0 };
	struct snapshot *out = NULL;
	struct fm_error err = { 0 };

	for (fm_sw s = 0; s < fab->n_switches; s++)
		ck_assert(fm_vec_push(&b.switches,
		    ((struct snapshot_switch){ fab->sw_guid[s], fab->sw_system_guid[s],
			fab->sw_name[s], fab->sw_n_ports[s] })));
	for (fm_end e = 0; e < fab->n_ends; e++)
		ck_assert(fm_vec_push(&b.ends,
		    ((struct snapshot_end){ fab->end_guid[e], fab->end_node_guid[e],
			fab->end_system_guid[e], fab->end_name[e], fab->end_sw[e], fab->end_lid[e],
			fab->end_port[e], fab->end_lmc[e], fab->end_kind[e], fab->end_n_vls[e] })));
	for (fm_link l = 0; l < fab->n_links; l++) {
		fm_link rev = fab->link_rev[l];

		if (l < rev)
			ck_assert(fm_vec_push(&b.cables,
			    ((struct snapshot_cable){ { fab->link_to[rev], fab->link_to[l] },
				{ fab->link_port[l], fab->link_port[rev] }, fab->link_n_vls[l],
				fab->link_mbps[l], fab->link_nominal_mbps[l] })));
	}
	add_proxies(&b, fab);
	ck_assert_msg(snapshot_build(&b, &out, &err) == 0, "%s", err.msg);
	snapshot_builder_fini(&b);
	snapshot_put(snap);
	return out;
}

static struct snapshot *
whole(const struct fabric *f, uint64_t names)
{
	struct netlist nl = { 0 }, other = { 0 };
	struct fm_error err = { 0 };
	struct snapshot *snap;

	read_fabric(f, &nl);
	if (names != 0)
		ck_assert_int_eq(netlist_rename(&nl, names, &other, &err), 0);
	snap = snapshot_of(f, names != 0 ? &other : &nl);
	netlist_fini(&nl);
	netlist_fini(&other);
	return f->form == PROXIES ? with_proxies(snap) : snap;
}

/* Cables of a node to switches or to hosts. */
static unsigned
count_cables(const struct netlist *nl, uint32_t node, bool to_switches)
{
	unsigned n = 0;

	for (unsigned p = 1; p <= nl->nodes[node].n_ports; p++) {
		uint32_t peer = netlist_port(nl, node, p)->peer_node;

		n +=
		    peer != NETLIST_NONE && (nl->nodes[peer].type == NETLIST_SWITCH) == to_switches;
	}
	return n;
}

static uint32_t
count_trunks(const struct netlist *nl)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < nl->n_nodes; i++)
		if (nl->nodes[i].type == NETLIST_SWITCH)
			n += count_cables(nl, i, true);
	return n / 2;
}

/* A switch with hosts is a leaf; a root has none, or is any where all have some.  Its cables
 * go, it and its hosts stay: dark, as they are found on the floor. */
static void
darken(struct netlist *nl, bool leaf, uint64_t seed)
{
	struct fm_rng rng;
	uint32_t chosen = NETLIST_NONE, n_fit = 0, n_any = 0, any = NETLIST_NONE;

	fm_rng_seed(&rng, seed);
	for (uint32_t i = 0; i < nl->n_nodes; i++) {
		if (nl->nodes[i].type != NETLIST_SWITCH)
			continue;
		if (fm_rng_below(&rng, ++n_any) == 0)
			any = i;
		if ((count_cables(nl, i, false) > 0) == leaf && fm_rng_below(&rng, ++n_fit) == 0)
			chosen = i;
	}
	if (chosen == NETLIST_NONE)
		chosen = any;
	for (unsigned p = 1; chosen != NETLIST_NONE && p <= nl->nodes[chosen].n_ports; p++)
		if (netlist_port(nl, chosen, p)->peer_node != NETLIST_NONE)
			netlist_uncable(nl, chosen, p);
}

static struct snapshot *
hurt(const struct fabric *f, enum fault fault, uint64_t seed)
{
	static const uint32_t percent[] = { 1, 5, 20 };
	struct netlist_faults faults = { .seed = seed };
	struct netlist nl = { 0 };
	struct snapshot *snap;
	struct fm_error err = { 0 };
	uint32_t n_links, n_switches;

	read_fabric(f, &nl);
	n_links = count_trunks(&nl);
	if (fault <= LINKS_20)
		faults.n_links = (n_links * percent[fault] + 99) / 100;
	faults.n_switches = fault == ONE_SWITCH && n_links > 0;
	if (fault < A_LEAF)
		ck_assert_msg(
		    netlist_fail(&nl, &faults, &n_links, &n_switches, &err) == 0, "%s", err.msg);
	else
		darken(&nl, fault == A_LEAF, seed);
	snap = snapshot_of(f, &nl);
	netlist_fini(&nl);
	return f->form == PROXIES ? with_proxies(snap) : snap;
}

/* ------------------------------------------------------------- the engines */

static void
load_engines(void)
{
	const char *dirs[] = { "plugins/engines/.libs", NULL };
	const char *only = getenv("FMD_MATRIX_ENGINE");
	struct fm_error err = { 0 };

	if (engine_set_load(&set, dirs, &err) != 0) {
		fprintf(stderr, "%s\n", err.msg);
		exit(1);
	}
	for (uint32_t i = 0; i < set.n_engines && n_engines < MAX_ENGINES - 1; i++) {
		const struct fm_engine *e = set.engines[i].engine;

		/* file and auto route nothing of their own */
		if (strcmp(e->name, "file") != 0 && e->route != NULL &&
		    (only == NULL || strcmp(e->name, only) == 0))
			engines[n_engines++] = e;
	}
	if (only == NULL || strcmp(only, fallback_engine.name) == 0)
		engines[n_engines++] = &fallback_engine;
}

static const struct home *
home_of(const struct fm_engine *engine)
{
	for (size_t i = 0; i < sizeof(homes) / sizeof(*homes); i++)
		if (strcmp(homes[i].engine, engine->name) == 0)
			return &homes[i];
	return NULL;
}

static bool
is_home(const struct fm_engine *engine, const struct fabric *f)
{
	const struct home *home = home_of(engine);
	char kind[32];

	snprintf(kind, sizeof(kind), "%.*s", (int)strcspn(f->words, " "), f->words);
	return home != NULL && f->form != PROXIES &&
	    (strcmp(home->kinds, "*") == 0 || strstr(home->kinds, kind) != NULL);
}

/* --------------------------------------------------------------- the cells */

static bool
is_wanted(const struct fabric *f)
{
	const char *only = getenv("FMD_MATRIX_FABRIC");
	char path[512];

	name_file(f, path, sizeof(path));
	return (longest == HUGE ? f->form == HUGE : f->form <= longest) &&
	    (only == NULL || strstr(f->words, only) != NULL) &&
	    (f->words[0] != '@' || access(path, R_OK) == 0);
}

START_TEST(whole_fabrics)
{
	const struct fm_engine *engine = engines[_i / N_FABRICS];
	const struct fabric *f = &fabrics[_i % N_FABRICS];
	const struct home *home = home_of(engine);
	struct props p = {
		.engine = engine, .n_vls = 8, .memory_suffices = !f->is_small, .routers = &routers
	};
	enum props_outcome outcome;
	uint64_t n_allocs;
	char report[640] = "";

	snprintf(where[2 * _i], sizeof(*where), "%s on %s", engine->name, f->words);
	p.snap = whole(f, 0);
	/* where proxies stand follows the numbers of the switches */
	p.renamed = f->form == PROXIES ? NULL : whole(f, 17);
	p.pairs_may_lack = f->form == PROXIES;
	if (home != NULL)
		p.names = is_home(engine, f) ? home->names : home->abroad;
	outcome = props_check(&p, &n_allocs, report, sizeof(report));
	ck_assert_msg(outcome != PROPS_BROKEN, "%s on %s: %s", engine->name, f->words, report);
	ck_assert_msg(outcome == PROPS_HOLD || !is_home(engine, f),
	    "%s refuses %s, which is its own: %s", engine->name, f->words, report);
	snapshot_put(p.snap);
	snapshot_put(p.renamed);
	props_routers_fini(&routers);
	where[2 * _i][0] = '\0';
}
END_TEST

/* Is it routed? */
static bool
try_fault(int cell, enum fault fault, uint64_t seed)
{
	const struct fm_engine *engine = engines[cell / N_FABRICS];
	const struct fabric *f = &fabrics[cell % N_FABRICS];
	struct props p = { .engine = engine,
		.n_vls = 8,
		.pairs_may_lack = f->form == PROXIES,
		.routers = &routers };
	enum props_outcome outcome;
	struct verdict verdict;
	char report[640] = "";

	snprintf(where[2 * cell + 1], sizeof(*where), "%s on %s without %s, seed %u", engine->name,
	    f->words, fault_words[fault], (unsigned)seed);
	p.snap = hurt(f, fault, seed);
	outcome = props_check_quick(&p, &verdict, report, sizeof(report));
	ck_assert_msg(outcome != PROPS_BROKEN, "%s: %s", where[2 * cell + 1], report);
	ck_assert_msg(outcome == PROPS_HOLD || longest >= LONG || !is_home(engine, f) ||
		(home_of(engine)->endures & 1u << fault) == 0,
	    "%s is refused: %s", where[2 * cell + 1], report);
	if (outcome == PROPS_REFUSED && getenv("FMD_MATRIX_TELL") != NULL)
		printf("refused: %s: %s\n", where[2 * cell + 1], report);
	snapshot_put(p.snap);
	return outcome == PROPS_HOLD;
}

static bool
takes_seed(const struct fabric *f, enum fault fault, uint64_t seed)
{
	return f->form == PROXIES || (longest == LONG && f->form != HUGE) ||
	    seed % N_FAULTS == fault;
}

START_TEST(hurt_fabrics)
{
	const struct fabric *f = &fabrics[_i % N_FABRICS];
	int n_tried = 0, n_routed = 0;

	for (uint64_t seed = 1; seed <= n_cases(N_SEEDS); seed++)
		for (enum fault fault = 0; fault < N_FAULTS; fault++)
			if (takes_seed(f, fault, seed)) {
				n_routed += try_fault(_i, fault, seed);
				n_tried++;
			}
	props_routers_fini(&routers);
	where[2 * _i + 1][0] = '\0';
	if (longest >= LONG)
		fprintf(stderr, "%s on %s: %d damaged, %d of them routed, %d refused, %.0f CPU s\n",
		    engines[_i / N_FABRICS]->name, f->words, n_tried, n_routed, n_tried - n_routed,
		    (double)clock() / CLOCKS_PER_SEC);
}
END_TEST

/* An engine that refuses all there is has proved nothing. */
START_TEST(every_engine_routes_something)
{
	const struct fm_engine *engine = engines[_i];
	int n_routed = 0;

	for (int i = 0; i < N_FABRICS && n_routed == 0; i++) {
		struct props p = { .engine = engine, .n_vls = 8, .routers = &routers };
		struct verdict verdict;
		char report[640];

		if (fabrics[i].form != PLAIN || is_file(&fabrics[i]))
			continue;
		p.snap = whole(&fabrics[i], 0);
		n_routed += props_check_quick(&p, &verdict, report, sizeof(report)) == PROPS_HOLD;
		snapshot_put(p.snap);
	}
	props_routers_fini(&routers);
	ck_assert_msg(n_routed > 0, "%s refuses every fabric", engine->name);
}
END_TEST

/* A process for each cell that is wanted, none for others: to begin and end one takes as long
 * as many a cell, under a sanitizer. */
static void
add_cells(TCase *tc)
{
	for (int i = 0; i < n_engines * N_FABRICS; i++)
		if (is_wanted(&fabrics[i % N_FABRICS])) {
			tcase_add_loop_test(tc, whole_fabrics, i, i + 1);
			tcase_add_loop_test(tc, hurt_fabrics, i, i + 1);
		}
}

/* Of the cells that ended by a signal or a time limit. */
static void
tell_where(void)
{
	for (int i = 0; i < 2 * MAX_ENGINES * N_FABRICS; i++)
		if (where[i][0] != '\0')
			fprintf(stderr, "not finished: %s\n", where[i]);
}

int
main(void)
{
	Suite *suite = suite_create("matrix");
	TCase *tc = tcase_create("matrix");
	const char *size = getenv("FMD_MATRIX");
	int failed, n_wanted = 0;

	fm_log_set_level(FM_LOG_ERR);
	if (size != NULL)
		longest = strcmp(size, "long") == 0 ? LONG : HUGE;
	where = mmap(NULL, sizeof(*where) * 2 * MAX_ENGINES * N_FABRICS, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (where == MAP_FAILED)
		return 1;
	load_engines();
	for (int i = 0; i < N_FABRICS; i++)
		n_wanted += is_wanted(&fabrics[i]);
	if (n_wanted == 0) {
		fprintf(stderr, "check_matrix: no fabric has the word of FMD_MATRIX_FABRIC\n");
		return 1;
	}
	tcase_set_timeout(tc, longest >= LONG ? 7200 : 300);
	tcase_add_loop_test(tc, every_engine_routes_something, 0, n_engines);
	add_cells(tc);
	suite_add_tcase(suite, tc);
	failed = run_suite(suite);
	tell_where();
	engine_set_fini(&set);
	return failed;
}
