/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/sweep/storm_internal.h - what the parts of a storm share.
 *
 *	storm.c		time: fmd's loop, events in their turn, calm, shrinking
 *	storm_events.c	what a seed draws, and what an event does
 *	storm_truth.c	is what fmd believes the truth?
 */
#ifndef TESTS_SWEEP_STORM_INTERNAL_H
#define TESTS_SWEEP_STORM_INTERNAL_H

#include "tests/sweep/rig.h"
#include "tests/sweep/storm.h"

#define NS_PER_MS INT64_C(1000000)

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

enum when { AFTER_SMPS, IN_ROUTING, IN_WAIT, WHEN_IDLE, N_WHENS };

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

/* Fabric, fmd's settings and events, all from the seed; nothing runs yet. */
void storm_draw(struct storm *s, const struct storm_place *place, uint64_t seed);
/* A number of ns, from low to high. */
int64_t storm_between(struct fm_rng *rng, int64_t low, int64_t high);
/* The next event does what it does. */
void storm_happen(struct storm *s);
/* Faults end. */
void storm_calm_down(struct storm *s);
/* What was drawn, a line each, after what stands in text. */
void storm_describe(const struct storm *s, char text[STORM_TEXT_BYTES]);

#endif
