/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * settle_time: how long a fabric takes to settle after a storm of events.
 *
 *	settle_time ENGINE SEEDS EVENTS KIND ARGS...	(as fmroute gen has them)
 *
 * For each seed a simulated fabric is brought up, without a sixteenth of its hosts, and EVENTS
 * events fall at random moments within 2 s: cables between switches are lost and come back,
 * switches and hosts reboot, hosts go, hosts come.  Then nothing more happens.  By the virtual
 * clock, with plans of 20 ms and light sweeps every 10 s:
 *
 *	settled	from the last event to the last Set of any kind
 *	host	from the link of a host that has come to its port being ACTIVE and packets passing
 *		between it and us: the longest, and the median
 *	reading, plans, writing, waiting	seconds in which fmd asked, routed, had Sets out,
 *		or had nothing to do but to wait for packets to be gone
 *	sweeps	that ended, of them those that were broken off, that failed
 *
 *	hole	of a fading switch: for how long packets between two of 300 pairs of hosts were lost
 *
 * A line a seed, and the median and the worst of all.  FMD_SETTLE_FADE=MS: no host is
 * absent, and in place of the events a switch without hosts loses its cables, one each MS.
 * FMD_SETTLE_LOG=1 prints what fmd logs;
 * FMD_SETTLE_SEED=N plays that seed alone; FMD_SETTLE_TIMEOUT=MS is how long an answer is waited
 * for, 200 if not given, four times; with FMD_SETTLE_CABLES=1 no switch reboots (so that
 * nothing is silent: writing alone is seen).  Links take 20 ms to come up.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/sim/sma.h"
#include "lib/log.h"
#include "tests/sweep/rig.h"
#include "tests/sweep/storm_truth.h"

#define NS_PER_MS INT64_C(1000000)
#define STORM_NS (2000 * NS_PER_MS)
#define PLAN_NS (20 * NS_PER_MS)
#define LIGHT_NS (10000 * NS_PER_MS)
#define RETRY_NS (2000 * NS_PER_MS)
#define QUIET_NS (45000 * NS_PER_MS)
#define EVENTS_MAX 400
#define SEEDS_MAX 400
#define PAIRS 300

extern const struct fm_engine fattree_LTX_fm_engine, updn_LTX_fm_engine, dfsssp_LTX_fm_engine,
    lash_LTX_fm_engine, nue_LTX_fm_engine, minhop_LTX_fm_engine, torus2qos_LTX_fm_engine;

static const struct fm_engine *const engines[] = { &fattree_LTX_fm_engine, &updn_LTX_fm_engine,
	&dfsssp_LTX_fm_engine, &lash_LTX_fm_engine, &nue_LTX_fm_engine, &minhop_LTX_fm_engine,
	&torus2qos_LTX_fm_engine };

struct arrival {
	uint32_t node;
	int64_t at_ns; /* its link is up; -1: it is ACTIVE */
};

struct pair {
	uint32_t from, to; /* hosts */
	int64_t since_ns;  /* packets do not arrive; 0: they do */
};

struct result {
	double settled_s, host_s, host_median_s, hole_s, reading_s, plan_s, wait_s, writing_s;
	unsigned n_sweeps, n_broken_off, n_failed;
	char wrong[256];
};

static struct rig rig;
static struct storm no_wishes; /* of hosts: they do not register */
static struct fm_rng rng;
static struct sim_place out[EVENTS_MAX]; /* cables that are lost */
static uint32_t n_out, absent[4096], n_absent;
static struct arrival arrivals[EVENTS_MAX];
static unsigned n_arrivals;
static double host_s[EVENTS_MAX];
static unsigned n_hosts;
static struct pair pairs[PAIRS];
static unsigned n_pairs;
static int64_t last_set_ns, plan_ns, timer_ns;
static bool plan_is_made;
static uint32_t n_reports;
static struct result *now;

static void
on_smp(void *arg, const struct sim_trace *e)
{
	if (e->method == WIRE_SET && e->attr != WIRE_ATTR_SM_INFO)
		last_set_ns = e->at_ns;
}

static bool
may_take_plan(void *arg)
{
	if (!plan_is_made) {
		sem_wait(&rig.woken);
		plan_is_made = true;
		plan_ns = sim_now_ns(rig.sim) + PLAN_NS;
	}
	if (sim_now_ns(rig.sim) < plan_ns)
		return false;
	plan_is_made = false;
	plan_ns = INT64_MAX;
	return true;
}

/* ------------------------------------------------------------------ events */

static bool
is_cabled(uint32_t node, unsigned port)
{
	return sim_fabric(rig.sim)->live[sim_fabric(rig.sim)->nodes[node].first_port + port] !=
	    SIM_NONE;
}

static uint32_t
some_switch(void)
{
	return rig_random_switch(&rig, &rng);
}

static void
lose_cable(void)
{
	struct sim_place c;

	for (unsigned i = 0; i < 100; i++) {
		uint32_t sw = some_switch(), far;

		c = (struct sim_place){ sw,
			(uint8_t)(1 + fm_rng_below(&rng, rig.nl.nodes[sw].n_ports)) };
		far = netlist_port(&rig.nl, c.node, c.port)->peer_node;
		if (far != NETLIST_NONE && rig_is_switch(&rig, far) && is_cabled(c.node, c.port))
			break;
	}
	sim_unlink(rig.sim, c.node, c.port);
	out[n_out++] = c;
}

static void
return_cable(void)
{
	uint32_t i;

	if (n_out == 0) {
		lose_cable();
		return;
	}
	i = fm_rng_below(&rng, n_out);
	sim_relink(rig.sim, out[i].node, out[i].port);
	out[i] = out[--n_out];
}

static uint32_t
some_host(void)
{
	uint32_t n;

	do
		n = fm_rng_below(&rng, rig.nl.n_nodes);
	while (rig_is_switch(&rig, n) || n == rig.place || !is_cabled(n, 1));
	return n;
}

static void
host_comes(void)
{
	uint32_t i;

	if (n_absent == 0)
		return;
	i = fm_rng_below(&rng, n_absent);
	sim_relink(rig.sim, absent[i], 1);
	arrivals[n_arrivals++] = (struct arrival){ absent[i], 0 };
	absent[i] = absent[--n_absent];
}

static void
host_goes(void)
{
	uint32_t n = some_host();

	sim_unlink(rig.sim, n, 1);
	absent[n_absent++] = n;
}

static void
happen(void)
{
	uint32_t dice = fm_rng_below(&rng, 100), n;

	if (dice < 35) {
		lose_cable();
	} else if (dice < 55) {
		return_cable();
	} else if (dice < 65 && getenv("FMD_SETTLE_CABLES") != NULL) {
		lose_cable();
	} else if (dice < 65) {
		sim_reboot(rig.sim, some_switch(), (300 + fm_rng_below(&rng, 700)) * NS_PER_MS);
	} else if (dice < 75) {
		n = some_host();
		sim_reboot(rig.sim, n, (300 + fm_rng_below(&rng, 700)) * NS_PER_MS);
	} else if (dice < 85) {
		host_goes();
	} else {
		host_comes();
	}
}

/* ------------------------------------------------------------------- time */

static bool
arrives(uint32_t from, uint32_t to)
{
	struct wire_port_info its;
	struct sim_way way;

	sim_port_info(rig.sim, to, 1, &its);
	return its.lid != 0 && sim_walk(rig.sim, (struct sim_place){ from, 1 }, its.lid, &way) &&
	    way.at.node == to;
}

/* Do packets get there from us, and back? */
static bool
is_reached(uint32_t node)
{
	return arrives(rig.place, node) && arrives(node, rig.place);
}

static void
look_at_pairs(void)
{
	int64_t ns = sim_now_ns(rig.sim);

	for (unsigned i = 0; i < n_pairs; i++) {
		struct pair *p = &pairs[i];
		bool is_whole = arrives(p->from, p->to);

		if (is_whole)
			p->since_ns = 0;
		else if (p->since_ns == 0)
			p->since_ns = ns;
		else if ((double)(ns - p->since_ns) / 1e9 > now->hole_s)
			now->hole_s = (double)(ns - p->since_ns) / 1e9;
	}
}

static void
look_at_arrivals(void)
{
	const struct sim_fabric *f = sim_fabric(rig.sim);

	for (unsigned i = 0; i < n_arrivals; i++) {
		struct arrival *a = &arrivals[i];
		uint32_t here = f->nodes[a->node].first_port + 1, far = f->live[here];

		if (a->at_ns < 0 || far == SIM_NONE)
			continue;
		if (a->at_ns == 0)
			a->at_ns = sim_now_ns(rig.sim);
		if (port_state(&f->ports[here]) != WIRE_PORT_ACTIVE ||
		    port_state(&f->ports[far]) != WIRE_PORT_ACTIVE || !is_reached(a->node))
			continue;
		host_s[n_hosts++] = (double)(sim_now_ns(rig.sim) - a->at_ns) / 1e9;
		a->at_ns = -1;
	}
}

/* As the daemon does when a sweep has ended. */
static void
look_at_report(void)
{
	const struct sweep_report *r = &rig.last;

	if (rig.n_reports == n_reports)
		return;
	n_reports = rig.n_reports;
	now->n_sweeps++;
	now->n_broken_off += r->outcome == SWEEP_BROKEN_OFF;
	now->n_failed += r->outcome == SWEEP_FAILED;
	if (getenv("FMD_SETTLE_LOG") != NULL)
		printf("  %8.3f sweep %s \"%s\" outcome %d (%s), lids=%u drained=%u later=%u "
		       "blocks=%u waits=%u held=%u %s\n",
		    (double)sim_now_ns(rig.sim) / 1e9, sweep_scope_name(r->scope), r->reason,
		    r->outcome, plan_change_name(r->change.kind), r->change.n_lids,
		    r->change.n_drained, r->change.n_deferred, r->order.blocks, r->order.waits,
		    r->order.held, r->error.msg);
	timer_ns = sim_now_ns(rig.sim) +
	    (r->outcome == SWEEP_FAILED || r->outcome == SWEEP_NOT_ROUTED ? RETRY_NS : LIGHT_NS);
}

static int64_t
earliest(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* What is going on. */
static double *
seconds_of(bool waits)
{
	static double idle;

	switch (sweeper_phase(rig.sweeper)) {
	case PHASE_IDLE:
	case N_PHASES:
		return waits && !sweeper_idle(rig.sweeper) ? &now->wait_s : &idle;
	case PHASE_DISCOVER:
	case PHASE_REREAD:
	case PHASE_OTHER_SMS:
	case PHASE_TAKE_OVER:
		return &now->reading_s;
	case PHASE_ROUTE:
		return plan_ns != INT64_MAX ? &now->plan_s : &now->reading_s;
	case PHASE_TABLES:
		return waits && txn_outstanding(rig.txn) == 0 ? &now->wait_s : &now->writing_s;
	case PHASE_SWITCHES:
	case PHASE_PORTS:
	case PHASE_ACTIVATE:
	case PHASE_MCAST:
	case PHASE_DONE:
		break;
	}
	return &now->writing_s;
}

static void
pump(int64_t until_ns)
{
	struct fm_error err = { 0 };

	while (sim_now_ns(rig.sim) < until_ns) {
		int64_t stop, before, due;

		sweeper_step(rig.sweeper);
		look_at_report();
		look_at_arrivals();
		look_at_pairs();
		due = sweeper_due_ns(rig.sweeper);
		stop = earliest(earliest(until_ns, timer_ns), earliest(due, plan_ns));
		if (!sweeper_idle(rig.sweeper) && txn_outstanding(rig.txn) == 0 &&
		    due == INT64_MAX && plan_ns == INT64_MAX)
			stop = sim_now_ns(rig.sim); /* it has more to do at once */
		before = sim_now_ns(rig.sim);
		ck_assert_msg(txn_poll(rig.txn, stop, &err) >= 0, "%s", err.msg);
		*seconds_of(due != INT64_MAX && due > before) +=
		    (double)(sim_now_ns(rig.sim) - before) / 1e9;
		if (sim_now_ns(rig.sim) >= timer_ns) {
			sweeper_request(rig.sweeper, SWEEP_LIGHT, "interval");
			timer_ns = INT64_MAX;
		}
	}
}

/* ------------------------------------------------------------------- play */

static void
print_log(void *arg, enum fm_log_level level, const char *subsystem, const char *line)
{
	if (level <= FM_LOG_NOTICE)
		printf("  %8.3f %s\n", rig.sim != NULL ? (double)sim_now_ns(rig.sim) / 1e9 : 0.0,
		    line);
}

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void
start(const struct fm_engine *engine, const char *words, uint64_t seed)
{
	struct sim_options o;

	sim_options_default(&o);
	o.seed = seed;
	o.delay_max_ns = 20000;
	fm_rng_seed(&rng, seed);
	rig_generate(&rig.nl, words);
	rig_sim(&rig, &o);
	if (getenv("FMD_SETTLE_LOG") != NULL)
		fm_log_set_sink(print_log, NULL);
	rig_use(&rig, engine);
	rig.set.transition.rebalance = PLAN_REBALANCE_NEVER;
	rig.off_loop = true;
	rig.may_take_plan = may_take_plan;
	n_out = n_absent = n_arrivals = n_hosts = n_reports = 0;
	last_set_ns = 0;
	plan_is_made = false;
	plan_ns = INT64_MAX;
	timer_ns = INT64_MAX;
	n_pairs = 0;
	for (uint32_t i = 0; getenv("FMD_SETTLE_FADE") == NULL && i < rig.nl.n_nodes / 16; i++) {
		absent[n_absent] = some_host();
		sim_unlink(rig.sim, absent[n_absent++], 1);
	}
	if (getenv("FMD_SETTLE_TIMEOUT") != NULL)
		rig.timeout_ms = (int)strtol(getenv("FMD_SETTLE_TIMEOUT"), NULL, 10);
	rig_start(&rig);
	sim_set_trace(rig.sim, on_smp, NULL);
	sweeper_request(rig.sweeper, SWEEP_HEAVY, "start");
}

/* All cables of a switch without hosts, one each so many ms; when the last has gone. */
static int64_t
fade(int64_t ms)
{
	uint32_t sw;
	bool has_host;

	do {
		sw = some_switch();
		has_host = false;
		for (unsigned p = 1; p <= rig.nl.nodes[sw].n_ports; p++)
			has_host = has_host ||
			    (is_cabled(sw, p) &&
				!rig_is_switch(&rig, netlist_port(&rig.nl, sw, p)->peer_node));
	} while (has_host);
	for (unsigned p = 1; p <= rig.nl.nodes[sw].n_ports; p++) {
		if (!is_cabled(sw, p))
			continue;
		sim_unlink(rig.sim, sw, p);
		pump(sim_now_ns(rig.sim) + ms * NS_PER_MS);
	}
	return sim_now_ns(rig.sim);
}

/* Random ones; when the last has happened. */
static int64_t
storm(unsigned n_events)
{
	int64_t at[EVENTS_MAX], last = sim_now_ns(rig.sim);

	for (unsigned i = 0; i < n_events; i++)
		at[i] = sim_now_ns(rig.sim) + (int64_t)(fm_rng_unit(&rng) * (double)STORM_NS);
	for (unsigned i = 0; i < n_events; i++) { /* the next one */
		unsigned next = i;

		for (unsigned j = i + 1; j < n_events; j++)
			if (at[j] < at[next])
				next = j;
		last = at[next];
		at[next] = at[i];
		pump(last);
		happen();
	}
	return sim_now_ns(rig.sim);
}

static void
play(const struct fm_engine *engine, const char *words, uint64_t seed, unsigned n_events,
    struct result *r)
{
	const char *ms = getenv("FMD_SETTLE_FADE");
	int64_t last, end;

	*r = (struct result){ 0 };
	now = r;
	start(engine, words, seed);
	pump(sim_now_ns(rig.sim) + 12000 * NS_PER_MS);
	*r = (struct result){ 0 };
	if (ms != NULL)
		for (n_pairs = 0; n_pairs < PAIRS; n_pairs++)
			pairs[n_pairs] = (struct pair){ some_host(), some_host(), 0 };
	last = ms != NULL ? fade(strtol(ms, NULL, 10)) : storm(n_events);
	end = last + QUIET_NS;
	pump(end);
	r->settled_s = last_set_ns > last ? (double)(last_set_ns - last) / 1e9 : 0;
	for (unsigned i = 0; i < n_arrivals; i++)
		if (arrivals[i].at_ns > 0)
			host_s[n_hosts++] = (double)(end - arrivals[i].at_ns) / 1e9;
	qsort(host_s, n_hosts, sizeof(*host_s), by_value);
	r->host_s = n_hosts > 0 ? host_s[n_hosts - 1] : 0;
	r->host_median_s = n_hosts > 0 ? host_s[n_hosts / 2] : 0;
	storm_is_true(&no_wishes, &rig, r->wrong, sizeof(r->wrong));
	sim_set_trace(rig.sim, NULL, NULL);
	rig_fini(&rig);
}

static void
summarize(const char *what, struct result *r, unsigned n, size_t offset)
{
	double v[SEEDS_MAX];

	for (unsigned i = 0; i < n; i++)
		memcpy(&v[i], (const char *)&r[i] + offset, sizeof(v[i]));
	qsort(v, n, sizeof(*v), by_value);
	printf("%-12s median %6.2f s   worst %6.2f s\n", what, v[n / 2], v[n - 1]);
}

static const struct fm_engine *engine;
static char words[128];
static unsigned n_seeds, n_events;

/* The rig says what is wrong as a test does. */
START_TEST(all_seeds)
{
	static struct result r[SEEDS_MAX];
	const char *one = getenv("FMD_SETTLE_SEED");

	printf(
	    "seed settled   hole   host  median  reading  plans  writing  waiting  sweeps  broken  "
	    "failed\n");
	for (unsigned i = 0; i < n_seeds; i++) {
		uint64_t seed = one != NULL ? strtoull(one, NULL, 10) : i + 1u;

		play(engine, words, seed, n_events, &r[i]);
		printf("%4" PRIu64
		       " %7.2f %6.2f %6.2f %7.2f %8.2f %6.2f %8.2f %8.2f %7u %8u %7u  %s\n",
		    seed, r[i].settled_s, r[i].hole_s, r[i].host_s, r[i].host_median_s,
		    r[i].reading_s, r[i].plan_s, r[i].writing_s, r[i].wait_s, r[i].n_sweeps,
		    r[i].n_broken_off, r[i].n_failed, r[i].wrong);
		fflush(stdout);
	}
	summarize("settled", r, n_seeds, offsetof(struct result, settled_s));
	summarize("hole", r, n_seeds, offsetof(struct result, hole_s));
	summarize("host, worst", r, n_seeds, offsetof(struct result, host_s));
	summarize("host, median", r, n_seeds, offsetof(struct result, host_median_s));
}
END_TEST

int
main(int argc, char **argv)
{
	Suite *suite = suite_create("settle_time");
	TCase *t = tcase_create("all");
	SRunner *runner;
	int n_failed;

	for (unsigned i = 0; argc > 4 && i < sizeof(engines) / sizeof(*engines); i++)
		if (strcmp(engines[i]->name, argv[1]) == 0)
			engine = engines[i];
	n_seeds = argc > 4 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
	n_events = argc > 4 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;
	if (engine == NULL || n_seeds == 0 || n_seeds > SEEDS_MAX || n_events > EVENTS_MAX) {
		fprintf(stderr, "settle_time ENGINE SEEDS EVENTS KIND ARGS...\n");
		return 2;
	}
	for (int i = 4; i < argc; i++) {
		size_t at = strlen(words);

		snprintf(words + at, sizeof(words) - at, "%s%s", i > 4 ? " " : "", argv[i]);
	}
	tcase_set_timeout(t, 0);
	tcase_add_test(t, all_seeds);
	suite_add_tcase(suite, t);
	runner = srunner_create(suite);
	srunner_set_fork_status(runner, CK_NOFORK);
	srunner_run_all(runner, CK_MINIMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed == 0 ? 0 : 1;
}
