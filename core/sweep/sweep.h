/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sweep/sweep.h - from a port to a subnet that is up, and keeping it so.
 *
 * Every sweep takes the same road, phase after phase; a phase starts when the
 * transactions of the one before have drained:
 *
 *	discover -> other SMs -> LIDs, snapshot, routing -> switches
 *	    -> tables -> ports, armed -> active -> SUBNET UP
 *
 * What differs is how much is asked anew: everything (heavy), the switches a
 * trap named (named), one SwitchInfo per switch (light; turns into named when
 * something has changed).  What is set is always and only what differs.
 *
 * All calls from the thread that polls the transactions.  Routing runs on the
 * plan worker's thread: call sweeper_step() when it has woken us.
 */
#ifndef CORE_SWEEP_SWEEP_H
#define CORE_SWEEP_SWEEP_H

#include "core/inventory/inventory.h"
#include "core/ask/parts.h"
#include "core/ask/report.h"
#include "core/inventory/settings.h"
#include "core/sweep/todo.h"

struct sweeper *sweeper_new(
    const struct sweep_parts *parts, const struct sweep_settings *settings, struct fm_error *err);
void sweeper_free(struct sweeper *s);

/* Another chain, other regions or settings, from the next sweep on; not while one runs. */
void sweeper_configure(struct sweeper *s, const struct sweep_settings *settings,
    const struct chain *chain, const struct region_set *regions);

/* Whose base LIDs would be others with these LMCs: how many ports, and the first nodes of them by
 * name, ", " between.  Nothing changes.  FM_E_RESOURCE.  O(ports + 48K). */
struct sweep_lid_moves {
	uint32_t n;
	char names[160];
};
int sweeper_lid_moves(struct sweeper *s, uint8_t ca_lmc, uint8_t switch_lmc,
    struct sweep_lid_moves *moves, struct fm_error *err);

/* The fabric as it would be routed with these cables isolated, in the place of those that are; not
 * while a sweep runs.  0 with *out (one reference); FM_E_RESOURCE. */
int sweeper_snapshot_as(struct sweeper *s, const struct isolated *isolated, struct snapshot **out,
    struct fm_error *err);

/* The cable at a port of this node is used again though it flaps (core/inventory/flaps.h), from the
 * next sweep on that makes a plan.  False: it was not left out. */
bool sweeper_end_flapping(struct sweeper *s, uint64_t guid, uint8_t port);

/* A MAD that answers no question of ours: a trap. */
void sweeper_on_mad(struct sweeper *s, const struct mad *m);
/* Go on as far as possible without waiting; call after every txn_poll(). */
void sweeper_step(struct sweeper *s);
/* When it wants to go on though nothing is outstanding (transport clock), INT64_MAX:
 * it does not. */
int64_t sweeper_due_ns(const struct sweeper *s);
/* Tables that wait for it may be taken up by emptying entries: a sweep is asked for. */
void sweeper_drain(struct sweeper *s);
/* What rivals have come to beside the tables in force, while it is idle: a sweep is asked for, and
 * if it finds nothing else to do they are taken up, or told of.  The references are taken over. */
void sweeper_offer(struct sweeper *s, const struct plan_weighed *weighed);
/* Nothing runs and nothing is asked for. */
bool sweeper_idle(const struct sweeper *s);
/* Of the sweep that runs or ran last. */
const struct sweep_report *sweeper_report(const struct sweeper *s);
/* What a dry run would send, Set by Set. */
const struct sweep_would *sweeper_would(const struct sweeper *s, size_t *n);
enum sweep_phase sweeper_phase(const struct sweeper *s);
/* The subnet has been up since the start, under our rule. */
bool sweeper_is_up(const struct sweeper *s);
/* The plan in the switches (borrowed), NULL before the first. */
const struct plan *sweeper_plan(const struct sweeper *s);
const struct inventory *sweeper_inventory(const struct sweeper *s);
/* So many requests have been sent since the start: their numbers are 1, 2, ... (observe.h). */
uint64_t sweeper_n_requests(const struct sweeper *s);
/* What is unfinished, as the last sweep has left it (todo.h). */
const struct todo_list *sweeper_todo(const struct sweeper *s);
/* Traps since the start (core/sweep/traps.h): they are believed, unless refused. */
struct sweep_trap_counts {
	uint64_t received, refused;
	uint64_t repeated;	/* only counted */
	uint64_t acted;		/* something is read for one */
	uint64_t postponed;	/* ... was put off */
	uint64_t not_passed_on; /* too many of all */
};
const struct sweep_trap_counts *sweeper_trap_counts(const struct sweeper *s);
struct talkers_seen;
/* Who sends us most MADs that answer nothing: traps, SMInfo (core/mad/talkers.h). */
void sweeper_talkers(const struct sweeper *s, struct talkers_seen *out);
/* Whose LID it is, as a phrase with node, port and neighbour; the GUID of the port, 0: nobody's. */
uint64_t sweeper_name_lid(const struct sweeper *s, uint16_t lid, char *buf, size_t size);

void sweeper_on_done(struct sweeper *s, sweep_done done, void *arg);
/* Copies of the subnet are kept from now on. */
void sweeper_ask_of_standbys(struct sweeper *s, const struct sweep_standbys *standbys);

#endif
