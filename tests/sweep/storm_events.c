/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sweep/storm_internal.h"

static const char *const what_names[] = { "cable out", "cable in", "flap", "reboot switch",
	"reboot host", "silence", "loss", "own cable", "fmd killed", "light sweep", "heavy sweep",
	"traps lost", "traps late", "answers lost", "answers late", "answers doubled",
	"requests lost", "requests late", "requests doubled", "leaf pulled", "reboot spine",
	"reboot twice", "fmd killed, store gone", "join or leave", "second fmd",
	"isolate or restore" };
_Static_assert(sizeof(what_names) / sizeof(*what_names) == N_WHATS, "each has a name");
static const char *const when_names[] = { "SMPs later", "while a plan is made",
	"while packets are waited for", "when idle" };

/* ---------------------------------------------------------------- drawing */

int64_t
storm_between(struct fm_rng *rng, int64_t low, int64_t high)
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
	e->for_ns = e->what == FLAP ? storm_between(&s->rng, 20 * NS_PER_MS, 400 * NS_PER_MS)
				    : storm_between(&s->rng, 300 * NS_PER_MS, 3000 * NS_PER_MS);
	e->loss = 0.03 + fm_rng_unit(&s->rng) * 0.25;
}

static void
draw_times(struct storm *s, uint64_t seed, struct sim_options *o)
{
	fm_rng_seed(&s->rng, seed);
	sim_options_default(o);
	o->seed = seed;
	o->delay_max_ns = storm_between(&s->rng, 0, 2 * NS_PER_MS);
	s->plan_max_ns = fm_rng_below(&s->rng, 2) ? 50 * NS_PER_MS : NS_PER_MS / 10;
	s->from_start = fm_rng_below(&s->rng, 4) == 0;
	s->relinks = fm_rng_below(&s->rng, 2) == 0;
}

/* A cable between switches goes out and comes in again and again. */
static void
draw_flaps(struct storm *s, uint64_t seed)
{
	const struct netlist *nl = &s->rig.nl;
	struct event of;
	struct fm_rng rng;

	fm_rng_seed(&rng, seed);
	s->rig.set.sweep.flap_still_ms = fm_rng_below(&rng, 2) ? 30000 : 1000;
	do {
		of.node = fm_rng_below(&rng, nl->n_nodes);
		of.port = 1 + fm_rng_below(&rng, nl->nodes[of.node].n_ports);
	} while (!rig_is_switch(&s->rig, of.node) ||
	    netlist_port(nl, of.node, of.port)->peer_node == NETLIST_NONE ||
	    !rig_is_switch(&s->rig, netlist_port(nl, of.node, of.port)->peer_node));
	for (unsigned i = 0; i < s->n_events; i++) {
		struct event *e = &s->events[i];

		if (fm_rng_below(&rng, 2))
			continue;
		e->what = fm_rng_below(&rng, 4) ? FLAP : i % 2 ? CABLE_IN : CABLE_OUT;
		e->node = of.node;
		e->port = of.port;
		e->for_ns = storm_between(&rng, NS_PER_MS, 400 * NS_PER_MS);
	}
}

/* Half of the switches tell the states of their ports, the others do not, or wrongly. */
static void
draw_states(struct storm *s, uint64_t seed)
{
	struct fm_rng rng;

	fm_rng_seed(&rng, seed);
	for (uint32_t n = 0; n < s->rig.nl.n_nodes; n++)
		if (rig_is_switch(&s->rig, n) && fm_rng_below(&rng, 2))
			sim_set_port_states(s->rig.sim, n,
			    (enum sim_port_states)fm_rng_below(&rng, SIM_STATES_STUCK + 1));
}

void
storm_draw(struct storm *s, const struct storm_place *place, uint64_t seed)
{
	bool tells = seed > STORM_FLAPS_MAX;
	const char *looks = getenv("STORM_AUDIT_MS");
	struct sim_options o;

	seed -= tells ? STORM_FLAPS_MAX : 0;
	draw_times(s, seed, &o);
	o.port_states = tells ? SIM_STATES_TRUE : SIM_STATES_NONE;
	rig_generate(&s->rig.nl, place->words);
	rig_sim(&s->rig, &o);
	if (tells && seed % 2 == 0)
		draw_states(s, seed);
	s->rig.set.sweep.interval_ms = SWEEP_INTERVAL_NS / NS_PER_MS;
	rig_use(&s->rig, place->engine);
	s->rig.set.sm.polling_timeout_ms = 1000;
	if (looks != NULL) {
		s->rig.set.own_port_ms = s->rig.set.sm.polling_timeout_ms;
		s->rig.set.sweep.audit_ms = strtoll(looks, NULL, 10);
	}
	s->rig.set.sweep.on_trap = fm_rng_below(&s->rng, 4) != 0;
	s->n_events = 2 + fm_rng_below(&s->rng, STORM_EVENTS_MAX - 1);
	for (unsigned i = 0; i < s->n_events; i++)
		draw_event(s, &s->events[i]);
	s->is_plain = seed <= STORM_PLAIN_MAX;
	if (!s->is_plain)
		more_draw(s, seed);
	if (seed > STORM_ISOLATED_MAX)
		draw_flaps(s, seed);
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

void
storm_happen(struct storm *s)
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
	case LIGHT:
	case HEAVY:
		s->asked = e;
		break;
	default:
		more_happen(s, e);
		break;
	}
}

void
storm_calm_down(struct storm *s)
{
	const struct sim_fabric *f = sim_fabric(s->rig.sim);

	s->next = s->n_events; /* those that have not come by now do not come */
	sim_set_loss(s->rig.sim, 0);
	more_calm_down(s);
	for (uint32_t n = 0; n < f->n_nodes; n++) {
		if (f->nodes[n].silent)
			sim_silence(s->rig.sim, n, false);
		for (unsigned p = 1; s->relinks && p <= f->nodes[n].n_ports; p++)
			if (f->ports[f->nodes[n].first_port + p].unplugged)
				sim_relink(s->rig.sim, n, p);
	}
}

void
storm_describe(const struct storm *s, char text[STORM_TEXT_BYTES])
{
	size_t n = strlen(text);

	n += (size_t)snprintf(text + n, STORM_TEXT_BYTES - n,
	    "\n%s, plans of at most %lld us, traps %s%s",
	    s->from_start ? "from the start" : "later", (long long)s->plan_max_ns / 1000,
	    s->rig.set.sweep.on_trap ? "on" : "off", s->relinks ? ", cables come back" : "");
	if (n < STORM_TEXT_BYTES)
		more_describe(s, text);
	n = strlen(text);
	for (unsigned i = 0; i < s->n_events && n < STORM_TEXT_BYTES; i++) {
		const struct event *e = &s->events[i];

		if (s->without >> i & 1)
			continue;
		n += (size_t)snprintf(text + n, STORM_TEXT_BYTES - n,
		    "\n  %u: %u %s: %s %s[%u], %lld ms", i, e->n_smps, when_names[e->when],
		    what_names[e->what], s->rig.nl.nodes[e->node].id, e->port,
		    (long long)(e->for_ns / NS_PER_MS));
		if (e->n != 0 && n < STORM_TEXT_BYTES)
			n += (size_t)snprintf(text + n, STORM_TEXT_BYTES - n, ", %u", e->n);
	}
}
