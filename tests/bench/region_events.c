/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an event in a fabric of regions changes beyond what it has to:
 *
 *	region_events FILE.conf...	the fabric that its line "fmroute gen ..." makes
 *	region_events SEED...		a site drawn by a number: two to four parts and their cables
 *
 * Each cable in a region, each cable between regions, each switch at one of these, each leaf and
 * some hosts are lost and given back, beginning with the plan of the whole.  A row for each kind:
 *
 *	engines	 events after which a region has another engine
 *	anew	 events after which an engine ran (composed), not repaired, not kept
 *	again	 recoveries for which one ran
 *	sls	 events that change a path's SL
 *	entries	 of LIDs that are there, a mean of all events lost
 *	blocks	 likewise
 *	emptied	 events that empty entries for a packet's life time, lost or back
 *	waits	 recoveries that wait for `fmctl drain`
 *	passes	 quiet passes, a packet's life time apart, by which recoveries were completed
 *	left	 recoveries after which LIDs keep other entries, as no order of writing was found
 *	inexact	 recoveries after which tables are not those before, those of both left out
 *	pairs	 pairs of hosts without a path, added up over all events
 *	switches pairs of switches without one, beyond those of the whole, likewise
 *
 *	FMD_TIME=1	repairs are prepared, as in the daemon, and not judged from scratch; means
 *			of the CPU ms of snapshot and plan_make() after the loss and when all is
 *			back, by one worker, and of the clock's ms of the proof
 *	FMD_MOST=N	at most so many events of a kind (40)
 *	FMD_ONLY=WORDS	one kind: "host", "gateway cable"
 *	FMD_CUT=N	before, N cables in a thousand are taken out for good, by the seed
 *	FMD_TELL=1	each event of which an engine ran, each recovery that waits
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/conf/conf.h"
#include "core/engine/plugin.h"
#include "core/plan/plan.h"
#include "core/regions/regions.h"
#include "core/repair/repair.h"
#include "core/route/route.h"
#include "core/transition/reconfig.h"
#include "lab/topo/netlist.h"
#include "lib/bitset.h"
#include "lib/error.h"
#include "lib/log.h"
#include "lib/rng.h"
#include "tests/unit/generate_words.h"

enum { IN_REGION, BETWEEN, GATEWAY, LEAF, HOST, N_KINDS };
static const char *const kind_name[N_KINDS] = { "cable in a region", "gateway cable",
	"gateway switch", "leaf", "host" };

static struct engine_set engines;

struct site {
	struct conf *conf;
	struct netlist nl;
	struct router router;
	struct snapshot *whole;
	uint16_t *sw_region;
	uint64_t *cut; /* bits of links that are out for good */
	struct plan *plan;
};

struct row {
	unsigned n, engines, anew, again, sls, emptied, waits, passes, left, inexact;
	double entries, blocks, ms, proof_ms, back_ms;
	uint64_t pairs, switches;
};

static void
die(const char *what, const struct fm_error *err)
{
	fprintf(stderr, "region_events: %s: %s\n", what, err != NULL ? err->msg : "");
	exit(1);
}

/* ------------------------------------------------------------------- sites */

/* The words behind "fmroute gen" in the head of a file, without quotes. */
static void
words_of(const char *path, char *words, size_t room)
{
	FILE *f = fopen(path, "r");
	char line[512], *at = NULL, *to = words;

	while (f != NULL && at == NULL && fgets(line, sizeof(line), f) != NULL)
		at = strstr(line, "fmroute gen ");
	if (at == NULL)
		die("no line 'fmroute gen' in", &(struct fm_error){ .msg = "the file" });
	for (at += strlen("fmroute gen "); *at != '\0' && *at != '\n'; at++)
		if (*at != '\'' && to < words + room - 1)
			*to++ = *at;
	*to = '\0';
	fclose(f);
}

static const char *const shapes[][2] = { { "pgft:2:4,6:1,4:1,1", "fattree,updn" },
	{ "pgft:3:3,3,3:1,2,3:1,1,1", "fattree,updn" }, { "torus:4x4:2", "torus2qos,updn" },
	{ "torus:3x3x3:1", "dfsssp,updn" }, { "hyperx:4x3:2", "hyperx,updn" },
	{ "dragonfly:4:2:2", "dragonfly,dfsssp" }, { "random:10:3:2:5", "minhop,updn" },
	{ "mesh:4x4:1", "dor,updn" }, { "switches:4:1", "updn" }, { "hyperx:3:4", "minhop,updn" } };
#define N_SHAPES (uint32_t)(sizeof(shapes) / sizeof(*shapes))

/* A chain as a file has it: "a,b" as { "a", "b" }. */
static void
write_chain(FILE *f, const char *list)
{
	fprintf(f, "chain = { \"");
	for (; *list != '\0'; list++)
		fprintf(f, *list == ',' ? "\", \"" : "%c", *list);
	fprintf(f, "\" }");
}

/* Each part but the first is a region.  Part 1 and those behind hang on the first, every third
 * on the one before. */
static void
draw_site(uint64_t seed, const char *path, char *words, size_t room)
{
	FILE *f = fopen(path, "w");
	struct fm_rng rng;
	uint32_t n, of[4];
	size_t len;

	fm_rng_seed(&rng, seed);
	n = 2 + fm_rng_below(&rng, 3);
	len = (size_t)snprintf(words, room, "join");
	for (uint32_t i = 0; i < n; i++) {
		of[i] = fm_rng_below(&rng, i == 0 ? 2 : N_SHAPES);
		len += (size_t)snprintf(words + len, room - len, " p%u=%s", i, shapes[of[i]][0]);
	}
	for (uint32_t i = 1; i < n; i++)
		len += (size_t)snprintf(words + len, room - len, " p%u-*~p%u-*~%u",
		    i % 3 == 0 ? i - 1 : 0, i, 2 + fm_rng_below(&rng, 3));
	if (f == NULL)
		die("cannot write", NULL);
	write_chain(f, shapes[of[0]][1]);
	for (uint32_t i = 1; i < n; i++) {
		fprintf(f, "\nregion \"r%u\" {\n\tswitches = { \"name:p%u-*\" }\n\t", i, i);
		write_chain(f, shapes[of[i]][1]);
		fprintf(f, "\n}");
	}
	fprintf(f, "\n");
	fclose(f);
}

static struct plan *
plan_of(struct site *s, struct snapshot *snap, struct plan *prev, bool quiet)
{
	struct plan_request q = { .snap = snap,
		.chain = &s->conf->routing.chain,
		.regions = &s->conf->regions.set,
		.sw_region = s->sw_region,
		.prev = prev,
		.linger_ms = 1000,
		.quiet = quiet,
		.drain = PLAN_DRAIN_LOSS };
	struct fm_error err = { 0 };
	struct plan *p;

	if (plan_make(&s->router, &q, &p, &err) != 0 || p->tables == NULL)
		die("no plan", &err);
	return p;
}

static void
cut_some(struct site *s, uint64_t seed)
{
	const char *most = getenv("FMD_CUT");
	uint32_t thousandth = most != NULL ? (uint32_t)strtoul(most, NULL, 10) : 0;
	const struct fm_fabric *fab = &s->whole->fab;
	struct fm_rng rng;

	fm_rng_seed(&rng, seed + 77);
	for (fm_link l = 0; l < fab->n_links; l++)
		if (l < fab->link_rev[l] && fm_rng_below(&rng, 1000) < thousandth)
			fm_bit_set(s->cut, l);
}

static void
open_site(struct site *s, const char *path, const char *words, uint64_t seed)
{
	struct conf_source source = { .path = path };
	struct fm_error err = { 0 };
	struct netlist_view view = { 0 };
	struct snapshot_loss loss = { 0 };
	struct snapshot *first;

	memset(s, 0, sizeof(*s));
	if (conf_load(&source, &engines, &s->conf, &err) != 0)
		die(path, &err);
	view.n_vls = (uint8_t)s->conf->routing.n_vls;
	if (generate_words(words, &s->nl, &err) != 0 ||
	    netlist_snapshot(&s->nl, &view, &s->whole, &err) != 0 ||
	    router_init(&s->router, getenv("FMD_TIME") != NULL ? 1 : 2, &err) != 0)
		die(words, &err);
	s->router.set.n_vls = view.n_vls;
	s->router.set.sl_model = (enum verify_sl_model)s->conf->routing.sl_model;
	s->router.check_repairs = getenv("FMD_TIME") == NULL;
	s->sw_region = calloc(s->whole->fab.n_switches + 1, sizeof(*s->sw_region));
	s->cut = calloc(FM_BITSET_WORDS(s->whole->fab.n_links) + 1, sizeof(*s->cut));
	if (regions_resolve(&s->conf->regions.set, s->whole, true, s->sw_region, &err) != 0)
		die(path, &err);
	cut_some(s, seed);
	loss.links = s->cut;
	if (snapshot_without(s->whole, &loss, &first, &err) != 0)
		die("no snapshot", &err);
	s->plan = plan_of(s, first, NULL, false);
	snapshot_put(first);
}

static void
close_site(struct site *s)
{
	plan_put(s->plan);
	snapshot_put(s->whole);
	netlist_fini(&s->nl);
	router_fini(&s->router);
	conf_put(s->conf);
	free(s->sw_region);
	free(s->cut);
}

/* ------------------------------------------------------------------ events */

static bool
is_gateway(const struct site *s, fm_link l)
{
	const struct fm_fabric *fab = &s->whole->fab;

	return s->sw_region[fab->link_to[l]] != s->sw_region[fab->link_to[fab->link_rev[l]]];
}

static bool
has_hosts(const struct fm_fabric *fab, fm_sw sw)
{
	for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++)
		if (fab->end_kind[e] != FM_END_SWITCH)
			return true;
	return false;
}

static uint32_t
n_parts(const struct site *s, int kind)
{
	const struct fm_fabric *fab = &s->whole->fab;

	return kind <= BETWEEN ? fab->n_links : kind <= LEAF ? fab->n_switches : fab->n_ends;
}

static bool
is_of_kind(const struct site *s, int kind, uint32_t i)
{
	const struct fm_fabric *fab = &s->whole->fab;
	bool gate = false;

	switch (kind) {
	case IN_REGION:
	case BETWEEN:
		return i < fab->link_rev[i] && !fm_bit_test(s->cut, i) &&
		    is_gateway(s, i) == (kind == BETWEEN);
	case GATEWAY:
		for (fm_link l = fab->sw_first_link[i]; l < fab->sw_first_link[i + 1]; l++)
			gate = gate || is_gateway(s, l);
		return gate;
	case LEAF:
		return has_hosts(fab, i);
	default:
		return fab->end_kind[i] == FM_END_CA && fab->end_sw[i] != FM_NONE;
	}
}

static struct plan *
plan_without(struct site *s, int kind, uint32_t i, struct plan *prev)
{
	const struct fm_fabric *fab = &s->whole->fab;
	uint64_t *links = calloc(FM_BITSET_WORDS(fab->n_links) + 1, sizeof(*links));
	uint64_t *others = calloc(FM_BITSET_WORDS(fab->n_switches + fab->n_ends) + 1, 8);
	struct snapshot_loss loss = { .links = links };
	struct fm_error err = { 0 };
	struct snapshot *snap;
	struct plan *p;

	memcpy(links, s->cut, FM_BITSET_WORDS(fab->n_links) * sizeof(*links));
	if (kind >= 0 && kind <= BETWEEN) {
		fm_bit_set(links, i);
		fm_bit_set(links, fab->link_rev[i]);
	} else if (kind >= 0)
		fm_bit_set(others, i);
	if (kind == HOST)
		loss.ends = others;
	else
		loss.switches = others;
	if (snapshot_without(s->whole, &loss, &snap, &err) != 0)
		die("no snapshot", &err);
	p = plan_of(s, snap, prev, false);
	snapshot_put(snap);
	free(links);
	free(others);
	return p;
}

static bool
other_engines(const struct plan *a, const struct plan *b)
{
	if (a->regions == NULL || b->regions == NULL)
		return a->regions != b->regions || strcmp(a->engine, b->engine) != 0;
	if (a->regions->join != b->regions->join && b->regions->join == PLAN_WHOLE)
		return true;
	for (uint32_t i = 0; i < a->regions->n; i++)
		if (strcmp(a->regions->region[i].engine, b->regions->region[i].engine) != 0 &&
		    b->regions->region[i].engine[0] != '\0')
			return true;
	return false;
}

static double
cpu_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/* Entries of LIDs that are there in both; blocks of 64 with one. */
static uint32_t
count_entries(const struct plan *a, const struct plan *b, uint32_t *blocks)
{
	const struct fm_fabric *fab = &b->snap->fab;
	uint32_t n = 0;

	*blocks = 0;
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		for (uint32_t lid = 1, last = FM_NONE; lid <= fab->max_lid; lid++) {
			if (fab->lid_end[lid] == FM_NONE ||
			    fab->sw_first_link[sw] == fab->sw_first_link[sw + 1] ||
			    a->tables->t.lft[sw][lid] == b->tables->t.lft[sw][lid])
				continue;
			n++;
			*blocks += lid / 64 != last;
			last = lid / 64;
		}
	return n;
}

static bool
same_bytes(const struct plan *a, const struct plan *b)
{
	const struct fm_fabric *fab = &a->snap->fab;

	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		if (memcmp(a->tables->t.lft[sw], b->tables->t.lft[sw], fab->max_lid + 1u) != 0)
			return false;
	return true;
}

static uint64_t
other_sls(const struct site *s, const struct plan *a, const struct plan *b)
{
	uint64_t *bits = calloc(FM_BITSET_WORDS(s->whole->fab.n_switches) + 1, sizeof(*bits));
	uint64_t n = plan_other_sls(a, b, bits);

	free(bits);
	return n;
}

static void
prepare(struct site *s, const struct plan *p)
{
	struct fm_error err = { 0 };

	if (getenv("FMD_TIME") != NULL && repair_prepare(&s->router, p, &err) != 0)
		die("cannot prepare", &err);
}

/* As the daemon does in its light sweeps. */
static struct plan *
complete(struct site *s, struct plan *p, struct row *r)
{
	while (p->may_go_back) {
		struct plan *next = plan_of(s, p->snap, p, true);

		r->passes++;
		plan_put(p);
		p = next;
	}
	return p;
}

static void
one_event(struct site *s, int kind, uint32_t i, struct row *r)
{
	struct plan *lost, *back;
	uint64_t lacked = s->plan->verdict.switch_pairs_unrouted;
	uint32_t blocks;
	double start;
	bool anew;

	prepare(s, s->plan);
	start = cpu_ms();
	lost = plan_without(s, kind, i, s->plan);
	r->ms += cpu_ms() - start;
	r->proof_ms += lost->verify_ms;
	anew = lost->made == PLAN_ROUTED;
	r->n++;
	r->engines += other_engines(s->plan, lost);
	r->anew += anew;
	r->sls += other_sls(s, s->plan, lost) > 0;
	r->entries += count_entries(s->plan, lost, &blocks);
	r->blocks += blocks;
	r->pairs += lost->verdict.unreachable_pairs;
	if (lost->verdict.switch_pairs_unrouted > lacked)
		r->switches += lost->verdict.switch_pairs_unrouted - lacked;
	if (anew && getenv("FMD_TELL") != NULL)
		printf("    anew: %s %u: %s\n", kind_name[kind], i, lost->engine);
	prepare(s, lost);
	start = cpu_ms();
	back = plan_without(s, -1, 0, lost);
	r->back_ms += cpu_ms() - start;
	r->again += back->made == PLAN_ROUTED;
	r->emptied += lost->change.n_drained > 0 || back->change.n_drained > 0;
	if (getenv("FMD_TELL") != NULL && back->change.waiting[0] != '\0')
		printf("    waits: %s %u: %s\n", kind_name[kind], i, back->change.waiting);
	if (getenv("FMD_TELL") != NULL && back->change.n_kept_old > 0)
		printf("    keeps: %s %u: %u of %u LIDs, %zu entries to go back\n", kind_name[kind],
		    i, back->change.n_kept_old, back->change.n_lids, back->deviations.n);
	back = complete(s, back, r);
	if (back->change.waiting[0] != '\0')
		r->waits++;
	else if (back->deviations.n > 0 || back->change.n_kept_old > 0)
		r->left++;
	else
		r->inexact += !same_bytes(s->plan, back);
	plan_put(lost);
	plan_put(back);
}

static void
print_row(const char *what, const struct row *r)
{
	double n = r->n > 0 ? r->n : 1;

	printf("  %-18s %4u: engines %3u anew %3u again %3u sls %3u entries %8.1f blocks %6.1f "
	       "emptied %3u waits %3u passes %3u left %3u inexact %3u pairs %llu switches %llu\n",
	    what, r->n, r->engines, r->anew, r->again, r->sls, r->entries / n, r->blocks / n,
	    r->emptied, r->waits, r->passes, r->left, r->inexact, (unsigned long long)r->pairs,
	    (unsigned long long)r->switches);
	if (getenv("FMD_TIME") != NULL)
		printf("  %-18s       %.1f ms lost, %.1f of them proof, %.1f ms back\n", "",
		    r->ms / n, r->proof_ms / n, r->back_ms / n);
}

static void
add_row(struct row *to, const struct row *r)
{
	to->n += r->n;
	to->engines += r->engines;
	to->anew += r->anew;
	to->again += r->again;
	to->passes += r->passes;
	to->left += r->left;
	to->sls += r->sls;
	to->emptied += r->emptied;
	to->waits += r->waits;
	to->inexact += r->inexact;
	to->entries += r->entries;
	to->blocks += r->blocks;
	to->ms += r->ms;
	to->proof_ms += r->proof_ms;
	to->back_ms += r->back_ms;
	to->pairs += r->pairs;
	to->switches += r->switches;
}

static void
all_events(struct site *s, struct row total[N_KINDS])
{
	uint32_t most =
	    getenv("FMD_MOST") != NULL ? (uint32_t)strtoul(getenv("FMD_MOST"), NULL, 10) : 40;
	const char *only = getenv("FMD_ONLY");

	for (int kind = 0; kind < N_KINDS; kind++) {
		struct row r = { 0 };
		uint32_t n = 0, at = 0;

		if (only != NULL && strcmp(only, kind_name[kind]) != 0)
			continue;
		for (uint32_t i = 0; i < n_parts(s, kind); i++)
			n += is_of_kind(s, kind, i);
		/* some of many, evenly */
		for (uint32_t i = 0; i < n_parts(s, kind); i++)
			if (is_of_kind(s, kind, i) && (n <= most || at++ % (n / most + 1) == 0))
				one_event(s, kind, i, &r);
		if (r.n > 0)
			print_row(kind_name[kind], &r);
		add_row(&total[kind], &r);
	}
}

static void
one_site(const char *word, struct row total[N_KINDS])
{
	char words[512], path[64], *end;
	uint64_t seed = strtoull(word, &end, 10);
	struct site s;

	snprintf(path, sizeof(path), "region_events.%d.conf", (int)(seed % 100000));
	if (*end == '\0')
		draw_site(seed, path, words, sizeof(words));
	else
		words_of(word, words, sizeof(words));
	open_site(&s, *end == '\0' ? path : word, words, seed);
	if (*end == '\0')
		remove(path);
	printf("%s: %s\n  joined %s by %s, vls %u, pairs %llu, switches without a way %llu\n", word,
	    words, s.plan->regions != NULL ? plan_join_name(s.plan->regions->join) : "-",
	    s.plan->engine, s.plan->verdict.vls,
	    (unsigned long long)s.plan->verdict.reachable_pairs,
	    (unsigned long long)s.plan->verdict.switch_pairs_unrouted);
	all_events(&s, total);
	fflush(stdout);
	close_site(&s);
}

int
main(int argc, char **argv)
{
	const char *dirs[] = { "plugins/engines/.libs", NULL };
	struct row total[N_KINDS] = { 0 };
	struct fm_error err = { 0 };

	fm_log_set_level(FM_LOG_ERR);
	if (getenv("FMD_TELL") != NULL)
		fm_log_set_debug("route");
	if (argc < 2) {
		fprintf(stderr, "region_events FILE.conf... SEED...\n");
		return 2;
	}
	if (engine_set_load(&engines, dirs, &err) != 0)
		die("no engines", &err);
	for (int i = 1; i < argc; i++)
		one_site(argv[i], total);
	printf("all\n");
	for (int kind = 0; kind < N_KINDS; kind++)
		print_row(kind_name[kind], &total[kind]);
	engine_set_fini(&engines);
	return 0;
}
