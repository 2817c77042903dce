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
 * Seeds above STORM_PLAIN_MAX have more, from a stream of numbers of their own, so that the
 * lower ones stay the storms that they are: partitions, multicast groups and alias GUIDs, a
 * store, a second fmd, and events of the kinds of storm_more.c.
 *
 * Those above STORM_MORE_MAX have no second fmd: an administrator isolates cables and switches, and
 * restores them; half the storms end with all restored.
 *
 * Those above STORM_ISOLATED_MAX leave cables out that flap, and half of their events are of one
 * cable.
 *
 * Those above STORM_FLAPS_MAX are the storms of so many seeds below, on switches that tell the
 * states of their ports in one table; in every other one some tell them wrongly, or not at all.
 *
 * Then packets are lost no more, silent nodes answer, half the storms get their cables back.
 * After CALM_NS and two light sweeps every port, LID, table entry, map and pair of hosts of the
 * simulator is compared with fmd's plan and inventory (storm_truth.c), and all that hosts hold
 * with what is wanted of them (storm_wishes.c).
 *
 * A storm that ends wrong is shrunk: events are left out, the others keep what was drawn for
 * them, as long as it ends wrong.
 */
#ifndef TESTS_SWEEP_STORM_H
#define TESTS_SWEEP_STORM_H

#include <stdbool.h>
#include <stdint.h>

#define STORM_EVENTS_MAX 14
#define STORM_PLAIN_MAX 1000 /* seeds */
#define STORM_MORE_MAX 1000000
#define STORM_ISOLATED_MAX 2000000
#define STORM_FLAPS_MAX 3000000
#define STORM_TEXT_BYTES 2048

struct storm_place {
	const char *words; /* of `fmroute gen` */
	const struct fm_engine *engine;
};

/* Play the storm of a seed on the place, without the parts whose bit is set in `without`: events
 * by their number, and what else it has.  text: receives "" when fmd's view is the truth, else a
 * sentence of what is wrong first, with the events, a line each.  Returns the bits of all parts. */
uint32_t storm_play(
    const struct storm_place *place, uint64_t seed, uint32_t without, char text[STORM_TEXT_BYTES]);

/* Play it; a number that stands for all its SMPs, byte by byte but for SMInfo.  starves: the thread
 * on which plans are made gets no time between two of them, as on a machine that is busy. */
uint64_t storm_smps(const struct storm_place *place, uint64_t seed, bool starves);

/* The same, and if it ends wrong again with ever fewer parts; true: it ends right. */
bool storm_passes(const struct storm_place *place, uint64_t seed, char text[STORM_TEXT_BYTES]);

#endif
