/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long an event takes from the old plan to the new, verified one:
 *
 *	repair_time ENGINE N_EVENTS KIND ARGS...	(as fmroute gen KIND ARGS)
 *
 * For each kind of event a row: the snapshot; plan_repair(), which ends with a
 * verified plan; entries and blocks changed; down, and back again.
 *
 *	FMD_WHOLE=1	plan_make(), with the order of writes (reconfig.h): how many LIDs an event
 *			are written next hop first, wait for older packets, keep old entries, or
 *			are drained
 *	FMD_WORKERS	default 2
 *	FMD_CPU_TIME=1	CPU time, not the clock's
 *	FMD_ONLY=WORDS	one kind: "0-1" (cables of these levels), "switch of level 1"
 *	FMD_AWAY=N	every N-th host is gone, and its LIDs linger
 *	FMD_IN_ORDER=1	the first ones instead of random ones
 *	FMD_STORM=1	four losses within a packet's life time, then all is back
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/engine/plugin.h"
#include "core/plan/plan.h"
#include "core/repair/repair_state.h"
#include "core/route/route.h"
#include "core/transition/reconfig.h"
#include "lab/topo/netlist.h"
#include "lib/algo/median.h"
#include "lib/bitset.h"
#include "lib/error.h"
#include "lib/rng.h"

#define MAX_EVENTS 1000
#define STORM 4 /* losses within a packet's life time */

static struct engine_set set;
static struct router router;
static struct chain_entry entry;
static struct chain chain = { .entries = &entry, .n_entries = 1, .allow_credit_loops = true };

static double
now_ms(void)
{
	struct timespec ts;

	clock_gettime(
	    getenv("FMD_CPU_TIME") != NULL ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static void
die(const char *what, const struct fm_error *err)
{
	fprintf(stderr, "repair_time: %s: %s\n", what, err->msg);
	exit(1);
}

static uint64_t flight; /* as plan_flight.oldest */

static struct plan *
plan_for(struct snapshot *snap, struct plan *prev)
{
	struct plan_request q = { .snap = snap, .chain = &chain, .prev = prev, .linger_ms = 1000 };
	struct fm_error err = { 0 };
	struct plan *p = NULL;
	struct keeping k;
	bool done = false;
	int rc;

	q.flight.older = flight != 0;
	q.flight.oldest = flight;
	if (prev != NULL && getenv("FMD_WHOLE") == NULL) {
		rc = keep_begin(&k, &router, &q, &err);
		if (rc == 0 && k.p != NULL)
			rc = plan_repair(&k, &done, &err);
		if (keep_end(&k, rc, done, &p) != 0)
			die("no repair", &err);
	}
	if (p == NULL && (plan_make(&router, &q, &p, &err) != 0 || p->tables == NULL))
		die("no plan", &err);
	return p;
}

struct series {
	double snap_ms[MAX_EVENTS], plan_ms[MAX_EVENTS], verify_ms[MAX_EVENTS];
	double entries, blocks, drained, kept, ordered, deferred;
	unsigned n, n_anew;
};

static void
tell(const char *what, struct series *s)
{
	double plan = fm_median(s->plan_ms, s->n);

	printf("%-24s %4u events %3u anew: snapshot %6.2f ms, plan %7.2f (least %.2f, most %.2f), "
	       "of it verify %6.2f; "
	       "%8.0f entries in %7.0f blocks; LIDs: %.1f next hop first, %.1f deferred, "
	       "%.1f keep old entries, %.1f drained\n",
	    what, s->n, s->n_anew, fm_median(s->snap_ms, s->n), plan, s->plan_ms[0],
	    s->plan_ms[s->n - 1], fm_median(s->verify_ms, s->n), s->entries / s->n,
	    s->blocks / s->n, s->ordered / s->n, s->deferred / s->n, s->kept / s->n,
	    s->drained / s->n);
}

static struct plan *
measure(
    struct snapshot *base, const struct snapshot_loss *loss, struct plan *prev, struct series *s)
{
	struct fm_error err = { 0 };
	struct snapshot *snap;
	struct plan *p;
	double start = now_ms(), made;

	if (snapshot_without(base, loss, &snap, &err) != 0)
		die("no snapshot", &err);
	made = now_ms();
	p = plan_for(snap, prev);
	s->plan_ms[s->n] = now_ms() - made;
	s->snap_ms[s->n] = made - start;
	s->verify_ms[s->n++] = p->verify_ms;
	s->entries += (double)p->delta.n;
	s->blocks += p->delta_blocks;
	s->drained += p->change.n_drained;
	s->kept += p->change.n_kept_old;
	s->ordered += p->change.n_next_hop_first;
	s->deferred += p->change.n_deferred;
	s->n_anew += p->made == PLAN_ROUTED;
	if (repair_prepare(&router, p, &err) != 0) /* as the daemon does after each sweep */
		die("cannot prepare", &err);
	snapshot_put(snap);
	plan_put(prev);
	return p;
}

/* Switches by how far they are from hosts. */
static uint8_t *
find_levels(const struct fm_fabric *fab)
{
	uint8_t *level = malloc(fab->n_switches + 1u);

	memset(level, 255, fab->n_switches);
	for (fm_end e = 0; e < fab->n_ends; e++)
		if (fab->end_kind[e] == FM_END_CA && fab->end_sw[e] != FM_NONE)
			level[fab->end_sw[e]] = 0;
	for (unsigned n = 0; n < 8; n++)
		for (fm_sw s = 0; s < fab->n_switches; s++)
			for (fm_link l = fab->sw_first_link[s]; l < fab->sw_first_link[s + 1]; l++)
				if (level[s] == n && level[fab->link_to[l]] == 255)
					level[fab->link_to[l]] = (uint8_t)(n + 1);
	return level;
}

/* Bits of the ends that are gone; NULL: none. */
static uint64_t *
find_away(const struct fm_fabric *fab)
{
	const char *words = getenv("FMD_AWAY");
	unsigned every = words != NULL ? (unsigned)strtoul(words, NULL, 10) : 0, n = 0;
	uint64_t *away = every > 0 ? calloc(fab->n_ends / 64 + 1, 8) : NULL;

	for (fm_end e = 0; away != NULL && e < fab->n_ends; e++)
		if (fab->end_kind[e] == FM_END_CA && ++n % every == 0)
			fm_bit_set(away, e);
	return away;
}

/* Before the n-th loss: all but the first of a storm come while packets of the plan before it are
 * under way. */
static void
note_flight(unsigned n, const struct plan *p)
{
	static uint64_t first;
	bool begins = getenv("FMD_STORM") == NULL || n % STORM == 0;

	flight = begins ? 0 : first;
	if (begins)
		first = p->number;
}

static void
events(struct snapshot *base, struct plan **plan, unsigned n, const uint64_t *away,
    const uint8_t *level, int from, int to)
{
	const struct fm_fabric *fab = &base->fab;
	uint64_t *bits = calloc(fab->n_links / 64 + 1, 8);
	struct snapshot_loss loss = { .ends = away }, none = { .ends = away };
	static struct series down, up;
	struct fm_rng rng;
	const char *only = getenv("FMD_ONLY"); /* as "0-1" or "switch of level 1" */
	bool in_order = getenv("FMD_IN_ORDER") != NULL;
	char what[64];

	if (to < 0)
		snprintf(what, sizeof(what), "switch of level %d", from);
	else
		snprintf(what, sizeof(what), "link level %d-%d", from, to);
	if (only != NULL && strstr(what, only) == NULL)
		return;
	memset(&down, 0, sizeof(down));
	memset(&up, 0, sizeof(up));
	fm_rng_seed(&rng, 3);
	*(to < 0 ? &loss.switches : &loss.links) = bits;
	for (unsigned tries = 0; down.n < n && tries < 100000; tries++) {
		uint32_t n_parts = to < 0 ? fab->n_switches : fab->n_links;
		uint32_t i = in_order ? tries % n_parts : fm_rng_below(&rng, n_parts);
		fm_sw a = to < 0 ? i : fab->link_to[fab->link_rev[i]];

		if (level[a] != from || (to >= 0 && level[fab->link_to[i]] != to))
			continue;
		fm_bit_set(bits, i);
		note_flight(down.n, *plan);
		*plan = measure(base, &loss, *plan, &down);
		if (getenv("FMD_STORM") != NULL && down.n % STORM != 0)
			continue;
		flight = 0;
		memset(bits, 0, (fab->n_links / 64 + 1) * 8);
		*plan = measure(base, &none, *plan, &up);
	}
	free(bits);
	if (down.n == 0)
		return;
	snprintf(what + strlen(what), sizeof(what) - strlen(what), " down");
	tell(what, &down);
	memcpy(strrchr(what, (int)sizeof(what) > 0 ? 32 : 32), " back", 6);
	tell(what, &up);
}

/* Without the tables. */
static size_t
state_bytes(const struct repair_state *st)
{
	size_t vertices = st != NULL ? (size_t)st->g->n_channels * st->g->n_vls : 0;

	if (st == NULL)
		return 0;
	return vertices * (2 * st->g->words * sizeof(uint64_t) + 33) +
	    st->g->n_channels * (sizeof(*st->load) + 8) + st->g->n_channels * 2 * sizeof(uint32_t) +
	    (st->sums != NULL ? st->n_sums * sizeof(*st->sums) : 0);
}

int
main(int argc, char **argv)
{
	const char *dirs[] = { "plugins/engines/.libs", NULL }, *workers = getenv("FMD_WORKERS");
	struct netlist_view view = { .n_vls = 8 };
	struct netlist nl = { 0 };
	struct fm_error err = { 0 };
	struct snapshot *base = NULL;
	static struct series gone;
	struct plan *plan;
	uint64_t *away;
	uint8_t *level;
	double start;
	unsigned n;

	if (argc < 4) {
		fprintf(stderr, "repair_time ENGINE N_EVENTS KIND ARGS...\n");
		return 2;
	}
	n = (unsigned)strtoul(argv[2], NULL, 10);
	n = n < 1 ? 1 : n > MAX_EVENTS ? MAX_EVENTS : n;
	if (engine_set_load(&set, dirs, &err) != 0 ||
	    router_init(
		&router, workers != NULL ? (unsigned)strtoul(workers, NULL, 10) : 2, &err) != 0 ||
	    netlist_generate(argc - 3, argv + 3, &nl, &err) != 0 ||
	    netlist_snapshot(&nl, &view, &base, &err) != 0)
		die("no fabric", &err);
	entry = (struct chain_entry){ .engine = engine_find(&set, argv[1]), .name = argv[1] };
	if (entry.engine == NULL)
		die("no engine", &err);
	plan = plan_for(base, NULL);
	start = now_ms();
	if (repair_prepare(&router, plan, &err) != 0)
		die("cannot prepare", &err);
	printf("%s: route %.1f ms, verify %.1f ms, prepare %.1f ms, state %.1f MB\n", argv[1],
	    plan->route_ms, plan->verify_ms, now_ms() - start,
	    (double)state_bytes(router.repair) / 1e6);
	level = find_levels(&base->fab);
	away = find_away(&base->fab);
	if (away != NULL)
		plan = measure(base, &(struct snapshot_loss){ .ends = away }, plan, &gone);
	if (away != NULL)
		printf("%zu LIDs linger, in %.2f ms\n", plan->absent.n, gone.plan_ms[0]);
	for (int l = 0; l < 4; l++)
		events(base, &plan, n, away, level, l, l + 1);
	events(base, &plan, n, away, level, 0, 0);
	for (int l = 0; l < 4; l++)
		events(base, &plan, n, away, level, l, -1);
	free(level);
	free(away);
	plan_put(plan);
	snapshot_put(base);
	netlist_fini(&nl);
	router_fini(&router);
	engine_set_fini(&set);
	return 0;
}
