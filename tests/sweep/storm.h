/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/sweep/storm.h - events at any moment, then quiet: is what fmd believes the truth?
 *
 * A storm is a function of its seed.  The seed draws a fabric with an engine, how long packets
 * and plans take, and 2 to 14 events: cables out and in, flaps, reboots, nodes that fall
 * silent, lost packets, our own cable, an fmd that is killed, sweeps that somebody asks for.
 * Each event comes a number of SMPs after the one before, between any two of which it may
 * fall, or while a plan is made, or while fmd waits for old packets, or when it is idle.
 *
 * Then packets are lost no more, silent nodes answer, half the storms get their cables back.
 * After CALM_NS and two light sweeps storm_wrong() compares every port, LID, table entry, map
 * and pair of hosts of the simulator with fmd's plan and inventory.
 *
 * A storm that ends wrong is shrunk: events are left out, the others keep what was drawn for
 * them, as long as it ends wrong.
 */
#ifndef TESTS_SWEEP_STORM_H
#define TESTS_SWEEP_STORM_H

#include <stdbool.h>
#include <stdint.h>

#define STORM_EVENTS_MAX 14
#define STORM_TEXT_BYTES 2048

struct storm_place {
	const char *words; /* of `fmroute gen` */
	const struct fm_engine *engine;
};

/* Play the storm of a seed on the place, without the events whose bit is set in `without`.
 * text: receives "" when fmd's view is the truth, else a sentence of what is wrong first,
 * with the events, a line each.  Returns the number of events. */
unsigned storm_play(
    const struct storm_place *place, uint64_t seed, uint32_t without, char text[STORM_TEXT_BYTES]);

/* The same, and if it ends wrong again with ever fewer events; true: it ends right. */
bool storm_passes(const struct storm_place *place, uint64_t seed, char text[STORM_TEXT_BYTES]);

#endif
