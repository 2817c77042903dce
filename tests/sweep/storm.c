/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/sweep/storm.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/sweep/storm_truth.h"

#define NS_PER_MS INT64_C(1000000)
#define SWEEP_INTERVAL_NS (10000 * NS_PER_MS)
#define RETRY_NS (2000 * NS_PER_MS) /* the daemon's timer after a sweep that came to nothing */
#define CALM_NS (5000 * NS_PER_MS)
#define IDLE_NS (50 * NS_PER_MS)     /* an event that waits for SMPs comes after so long */
#define MOMENT_NS (4000 * NS_PER_MS) /* ... one that waits for a plan, after so long */
#define STEPS_MAX 400000	     /* a storm that takes more goes in circles */

enum what {
	CABLE_OUT,
	CABLE_IN,
	FLAP,
	REBOOT_SWITCH,
	REBOOT_HOST,
	SILENCE,
	LOSS,
	OWN_CABLE,
	KILL,
	LIGHT,
	HEAVY,
	N_WHATS
};
static const char *const what_names[] = { "cable out", "cable in", "flap", "reboot switch",
	"reboot host", "silence", "loss", "own cable", "fmd killed", "light sweep", "heavy sweep" };

enum when { AFTER_SMPS, IN_ROUTING, IN_WAIT, WHEN_IDLE, N_WHENS };
static const char *const when_names[] = { "SMPs later", "while a plan is made",
	"while packets are waited for", "when idle" };

struct event {
	enum what what;
	enum when when;
	uint32_t n_smps; /* AFTER_SMPS: since the event before */
	uint32_t node;
	unsigned port;
	int64_t for_ns; /* flap, reboot */
	double loss;
};

struct storm {
	struct rig rig;
	struct fm_rng rng;
	struct event events[STORM_EVENTS_MAX];
	unsigned n_events, next;
	uint32_t without;
	bool from_start; /* the storm begins with the bring-up */
	bool relinks;	 /* cables come back at the end */
	uint64_t n_smps; /* since the event before */
	int64_t since_ns;
	bool kill, sweep; /* asked for by an event within the simulator */
	enum sweep_scope scope;
	int64_t timer_ns, plan_ns, plan_max_ns;
	uint32_t n_reports;
	bool plan_is_made;
	long n_steps;
};

/* ---------------------------------------------------------------- drawing */

static int64_t
between(struct fm_rng *rng, int64_t low, int64_t high)
{
	return low + (int64_t)(fm_rng_unit(rng) * (double)(high - low));
}

/* Small numbers as likely as large ones. */
static uint32_t
some_smps(struct fm_rng *rng)
{
	return fm_rng_below(rng,
	    1u + fm_rng_below(rng, 2) * fm_rng_below(rng, 40) +
		fm_rng_below(rng, 2) * fm_rng_below(rng, 800));
}

static void
draw_place(struct storm *s, struct event *e)
{
	const struct netlist *nl = &s->rig.nl;
	bool wants_host =
	    e->what == REBOOT_HOST || (e->what == SILENCE && fm_rng_below(&s->rng, 2));
	bool wants_switch = e->what == REBOOT_SWITCH || (e->what == SILENCE && !wants_host);

	do {
		e->node = fm_rng_below(&s->rng, nl->n_nodes);
		e->port = 1 + fm_rng_below(&s->rng, nl->nodes[e->node].n_ports);
	} while (e->node == s->rig.place || (wants_host && rig_is_switch(&s->rig, e->node)) ||
	    (wants_switch && !rig_is_switch(&s->rig, e->node)) ||
	    netlist_port(nl, e->node, e->port)->peer_node == NETLIST_NONE);
}

static void
draw_event(struct storm *s, struct event *e)
{
	static const enum what likely[] = { CABLE_OUT, CABLE_OUT, CABLE_IN, CABLE_IN, FLAP, FLAP,
		REBOOT_SWITCH, REBOOT_SWITCH, REBOOT_HOST, SILENCE, LOSS, OWN_CABLE, KILL, LIGHT,
		HEAVY };
	uint32_t when = fm_rng_below(&s->rng, 10);

	e->what = likely[fm_rng_below(&s->rng, sizeof(likely) / sizeof(*likely))];
	e->when = when < 7 ? AFTER_SMPS : (enum when)(when - 6);
	e->n_smps = some_smps(&s->rng);
	draw_place(s, e);
	e->for_ns = e->what == FLAP ? between(&s->rng, 20 * NS_PER_MS, 400 * NS_PER_MS)
				    : between(&s->rng, 300 * NS_PER_MS, 3000 * NS_PER_MS);
	e->loss = 0.03 + fm_rng_unit(&s->rng) * 0.25;
}

static void
draw(struct storm *s, uint64_t seed, struct sim_options *o)
{
	fm_rng_seed(&s->rng, seed);
	sim_options_default(o);
	o->seed = seed;
	o->delay_max_ns = between(&s->rng, 0, 2 * NS_PER_MS);
	s->plan_max_ns = fm_rng_below(&s->rng, 2) ? 50 * NS_PER_MS : NS_PER_MS / 10;
	s->from_start = fm_rng_below(&s->rng, 4) == 0;
	s->relinks = fm_rng_below(&s->rng, 2) == 0;
}

/* ------------------------------------------------------------------ events */

static void
own_cable(struct storm *s)
{
	const struct sim_fabric *f = sim_fabric(s->rig.sim);
	uint32_t port = f->nodes[s->rig.place].first_port + s->rig.port;

	if (f->live[port] != SIM_NONE)
		sim_flap(s->rig.sim, s->rig.place, s->rig.port, s->events[s->next].for_ns);
}

static void
happen(struct storm *s)
{
	const struct event *e = &s->events[s->next];
	struct sim *sim = s->rig.sim;

	switch (e->what) {
	case CABLE_OUT:
		sim_unlink(sim, e->node, e->port);
		break;
	case CABLE_IN:
		sim_relink(sim, e->node, e->port);
		break;
	case FLAP:
		sim_flap(sim, e->node, e->port, e->for_ns);
		break;
	case REBOOT_SWITCH:
	case REBOOT_HOST:
		sim_reboot(sim, e->node, e->for_ns);
		break;
	case SILENCE:
		sim_silence(sim, e->node, !sim_fabric(sim)->nodes[e->node].silent);
		break;
	case LOSS:
		sim_set_loss(sim, e->loss);
		break;
	case OWN_CABLE:
		own_cable(s);
		break;
	case KILL:
		s->kill = true;
		break;
	case LIGHT:
	case HEAVY:
		s->sweep = true;
		s->scope = e->what == LIGHT ? SWEEP_LIGHT : SWEEP_HEAVY;
		break;
	case N_WHATS:
		break;
	}
}

/* The next event has its turn; those that are left out take theirs without effect. */
static void
next_event(struct storm *s)
{
	if ((s->without >> s->next & 1) == 0)
		happen(s);
	s->next++;
	s->n_smps = 0;
	s->since_ns = sim_now_ns(s->rig.sim);
}

static void
on_smp(void *arg, const struct sim_trace *e)
{
	struct storm *s = arg;

	s->n_smps++;
	while (s->next < s->n_events && s->events[s->next].when == AFTER_SMPS &&
	    s->n_smps >= s->events[s->next].n_smps && !s->kill && !s->sweep)
		next_event(s);
}

/* Events that wait for a state of fmd, or for SMPs that do not come. */
static void
look_for_event(struct storm *s)
{
	int64_t waited = sim_now_ns(s->rig.sim) - s->since_ns;
	const struct event *e = &s->events[s->next];
	bool idle = sweeper_idle(s->rig.sweeper), now = false;

	if (s->next == s->n_events || s->kill || s->sweep)
		return;
	switch (e->when) {
	case AFTER_SMPS:
		now = idle && waited > IDLE_NS;
		break;
	case IN_ROUTING:
		now = sweeper_phase(s->rig.sweeper) == PHASE_ROUTE || waited > MOMENT_NS;
		break;
	case IN_WAIT:
		now = sweeper_due_ns(s->rig.sweeper) != INT64_MAX || waited > MOMENT_NS;
		break;
	case WHEN_IDLE:
	case N_WHENS:
		now = idle;
		break;
	}
	if (now)
		next_event(s);
}

/* ------------------------------------------------------------------- time */

/* The plan is taken up when the drawn time has passed on the simulator's clock. */
static bool
may_take_plan(void *arg)
{
	struct storm *s = arg;

	if (!s->plan_is_made) {
		sem_wait(&s->rig.woken);
		s->plan_is_made = true;
		s->plan_ns = sim_now_ns(s->rig.sim) + between(&s->rng, 0, s->plan_max_ns);
	}
	if (sim_now_ns(s->rig.sim) < s->plan_ns)
		return false;
	s->plan_is_made = false;
	s->plan_ns = INT64_MAX;
	return true;
}

static void
start(struct storm *s)
{
	s->plan_is_made = false;
	s->plan_ns = INT64_MAX;
	rig_start(&s->rig);
	sim_set_trace(s->rig.sim, on_smp, s);
	sweeper_request(s->rig.sweeper, SWEEP_HEAVY, "start");
	s->timer_ns = INT64_MAX;
}

/* As the daemon does when a sweep has ended. */
static void
arm_timer(struct storm *s)
{
	enum sweep_outcome o = s->rig.last.outcome;
	bool again = o == SWEEP_NO_LINK || o == SWEEP_NOT_ROUTED || o == SWEEP_FAILED;

	if (s->rig.n_reports == s->n_reports)
		return;
	s->n_reports = s->rig.n_reports;
	if (o != SWEEP_BROKEN_OFF)
		s->timer_ns = sim_now_ns(s->rig.sim) + (again ? RETRY_NS : SWEEP_INTERVAL_NS);
}

static void
on_timer(struct storm *s)
{
	if (s->rig.ha.state == WIRE_SM_MASTER && sweeper_is_up(s->rig.sweeper))
		sweeper_request(s->rig.sweeper, SWEEP_LIGHT, "interval");
	else
		sweeper_request(s->rig.sweeper, SWEEP_HEAVY, "not up yet");
	s->timer_ns = INT64_MAX;
}

static void
do_what_was_asked(struct storm *s)
{
	if (s->kill) {
		rig_stop(&s->rig);
		start(s);
	} else if (s->sweep) {
		sweeper_request(s->rig.sweeper, s->scope, "test");
	}
	s->kill = s->sweep = false;
}

static int64_t
earliest(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* As the daemon's loop, till the clock says so or (storm) the last event has come.  False:
 * it goes in circles. */
static bool
pump(struct storm *s, int64_t until_ns, bool storm)
{
	struct fm_error err = { 0 };

	while (sim_now_ns(s->rig.sim) < until_ns && !(storm && s->next == s->n_events)) {
		int64_t stop;

		if (++s->n_steps > STEPS_MAX)
			return false;
		do_what_was_asked(s);
		sweeper_step(s->rig.sweeper);
		arm_timer(s);
		stop = earliest(until_ns, s->timer_ns);
		if (storm)
			look_for_event(s);
		if (s->kill || s->sweep)
			continue;
		stop = earliest(stop, sweeper_due_ns(s->rig.sweeper));
		stop = earliest(stop, s->plan_ns);
		if (storm)
			stop = earliest(stop, sim_now_ns(s->rig.sim) + IDLE_NS);
		if (!sweeper_idle(s->rig.sweeper) && txn_outstanding(s->rig.txn) == 0 &&
		    sweeper_due_ns(s->rig.sweeper) == INT64_MAX && s->plan_ns == INT64_MAX)
			stop = sim_now_ns(s->rig.sim); /* it has more to do at once */
		ck_assert_msg(txn_poll(s->rig.txn, stop, &err) >= 0, "%s", err.msg);
		if (sim_now_ns(s->rig.sim) >= s->timer_ns)
			on_timer(s);
	}
	do_what_was_asked(s);
	return true;
}

static void
calm_down(struct storm *s)
{
	const struct sim_fabric *f = sim_fabric(s->rig.sim);

	sim_set_loss(s->rig.sim, 0);
	for (uint32_t n = 0; n < f->n_nodes; n++) {
		if (f->nodes[n].silent)
			sim_silence(s->rig.sim, n, false);
		for (unsigned p = 1; s->relinks && p <= f->nodes[n].n_ports; p++)
			if (f->ports[f->nodes[n].first_port + p].unplugged)
				sim_relink(s->rig.sim, n, p);
	}
}

/* ------------------------------------------------------------------- play */

static void
describe(const struct storm *s, char *text)
{
	size_t n = strlen(text);

	n += (size_t)snprintf(text + n, STORM_TEXT_BYTES - n,
	    "\n%s, plans of at most %lld us, traps %s%s",
	    s->from_start ? "from the start" : "later", (long long)s->plan_max_ns / 1000,
	    s->rig.set.on_trap ? "on" : "off", s->relinks ? ", cables come back" : "");
	for (unsigned i = 0; i < s->n_events && n < STORM_TEXT_BYTES; i++) {
		const struct event *e = &s->events[i];

		if (s->without >> i & 1)
			continue;
		n += (size_t)snprintf(text + n, STORM_TEXT_BYTES - n,
		    "\n  %u: %u %s: %s %s[%u], %lld ms", i, e->n_smps, when_names[e->when],
		    what_names[e->what], s->rig.nl.nodes[e->node].id, e->port,
		    (long long)(e->for_ns / NS_PER_MS));
	}
}

static bool
run(struct storm *s)
{
	int64_t far = INT64_C(60000) * NS_PER_MS;

	start(s);
	if (!s->from_start && !pump(s, sim_now_ns(s->rig.sim) + CALM_NS, false))
		return false;
	s->n_smps = 0;
	s->since_ns = sim_now_ns(s->rig.sim);
	if (!pump(s, sim_now_ns(s->rig.sim) + far, true))
		return false;
	calm_down(s);
	if (!pump(s, sim_now_ns(s->rig.sim) + CALM_NS, false))
		return false;
	for (unsigned i = 0; i < 2; i++) {
		on_timer(s);
		if (!pump(s, sim_now_ns(s->rig.sim) + SWEEP_INTERVAL_NS, false))
			return false;
	}
	/* what waits for old packets, or for a node that is gone, ends */
	return sweeper_idle(s->rig.sweeper) || pump(s, sim_now_ns(s->rig.sim) + CALM_NS, false);
}

unsigned
storm_play(
    const struct storm_place *place, uint64_t seed, uint32_t without, char text[STORM_TEXT_BYTES])
{
	struct storm s = { .without = without };
	struct sim_options o;
	unsigned n;

	text[0] = '\0';
	draw(&s, seed, &o);
	rig_generate(&s.rig.nl, place->words);
	rig_sim(&s.rig, &o);
	rig_use(&s.rig, place->engine);
	s.rig.set.on_trap = fm_rng_below(&s.rng, 4) != 0;
	s.rig.off_loop = true;
	s.rig.may_take_plan = may_take_plan;
	s.rig.may_take_plan_arg = &s;
	n = 2 + fm_rng_below(&s.rng, STORM_EVENTS_MAX - 1);
	for (unsigned i = 0; i < n; i++)
		draw_event(&s, &s.events[i]);
	s.n_events = n;
	if (!run(&s))
		snprintf(text, STORM_TEXT_BYTES, "fmd goes in circles: %u sweeps", s.rig.n_reports);
	else
		storm_is_true(&s.rig, text, STORM_TEXT_BYTES);
	if (text[0] != '\0')
		describe(&s, text);
	sim_set_trace(s.rig.sim, NULL, NULL);
	rig_fini(&s.rig);
	return n;
}

bool
storm_passes(const struct storm_place *place, uint64_t seed, char text[STORM_TEXT_BYTES])
{
	char fewer[STORM_TEXT_BYTES];
	uint32_t without = 0;
	unsigned n = storm_play(place, seed, 0, text);

	if (text[0] == '\0')
		return true;
	for (unsigned i = 0; i < n; i++) {
		storm_play(place, seed, without | 1u << i, fewer);
		if (fewer[0] == '\0')
			continue;
		without |= 1u << i;
		memcpy(text, fewer, STORM_TEXT_BYTES);
	}
	return false;
}
