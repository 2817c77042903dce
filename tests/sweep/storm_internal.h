/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/sweep/storm_internal.h - what the parts of a storm share.
 *
 *	storm.c		time: fmd's loop, events in their turn, calm, shrinking
 *	storm_events.c	what a seed draws, and what an event does
 *	storm_more.c	... above STORM_PLAIN_MAX
 *	storm_second.c	a second fmd
 *	storm_wishes.c	partitions, groups, alias GUIDs: drawn, told to fmd, looked for
 *	storm_truth.c	is what fmd believes the truth?
 */
#ifndef TESTS_SWEEP_STORM_INTERNAL_H
#define TESTS_SWEEP_STORM_INTERNAL_H

#include "core/inventory/isolated.h"
#include "tests/folder.h"
#include "tests/sweep/locks.h"
#include "tests/sweep/rig.h"
#include "tests/sweep/storm.h"

#define NS_PER_MS INT64_C(1000000)
#define STORM_NODES_MAX 192
#define STORM_GROUPS 2
#define SWEEP_INTERVAL_NS (10000 * NS_PER_MS)

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
	/* storm_more.c */
	TRAPS_LOST, /* the next few of each of these */
	TRAPS_LATE,
	ANSWERS_LOST,
	ANSWERS_LATE,
	ANSWERS_TWICE,
	REQUESTS_LOST, /* that come to the node */
	REQUESTS_LATE,
	REQUESTS_TWICE,
	LEAF_PULLED, /* cable by cable */
	REBOOT_SPINE,
	REBOOT_TWICE,
	KILL_BARE, /* and the store is gone */
	CHANGE_MIND,
	SECOND_SM, /* comes, or is killed */
	ISOLATE,   /* a cable or, port 0, a switch; or restore it */
	N_WHATS
};
#define FIRST_PRANK TRAPS_LOST
#define N_PRANKS (LEAF_PULLED - FIRST_PRANK)

enum when { AFTER_SMPS, IN_ROUTING, IN_WAIT, WHEN_IDLE, N_WHENS };

struct event {
	enum what what;
	enum when when;
	uint32_t n_smps; /* AFTER_SMPS: since the event before */
	uint32_t node;
	unsigned port;
	int64_t for_ns; /* flap, reboot, how late */
	double loss;
	unsigned n; /* packets; which group; another's priority */
};

/* What a seed above STORM_PLAIN_MAX may have beside events; bits as of `without`. */
enum part {
	HAS_PARTITIONS = 1 << STORM_EVENTS_MAX,
	HAS_GROUPS = HAS_PARTITIONS << 1,
	HAS_ALIASES = HAS_GROUPS << 1,
	HAS_STORE = HAS_ALIASES << 1,
	HAS_JUDGE = HAS_STORE << 1, /* of deadlocks */
	PARTS_END = HAS_JUDGE << 1
};

struct storm_group {
	uint16_t mlid;
	uint8_t sl;
	uint8_t roles[STORM_NODES_MAX]; /* enum mcast_role, as bits */
};

/* What becomes of the next packets of a kind. */
struct prank {
	unsigned left;
	uint32_t node;
	int64_t late_ns;
};

struct storm {
	struct rig rig;
	struct fm_rng rng;
	struct event events[STORM_EVENTS_MAX];
	unsigned n_events, next;
	uint32_t without;
	bool is_plain;	 /* of a seed up to STORM_PLAIN_MAX */
	bool from_start; /* the storm begins with the bring-up */
	bool has_begun;	 /* events come */
	bool relinks;	 /* cables come back at the end */
	uint64_t n_smps; /* since the event before */
	int64_t since_ns;
	const struct event *asked; /* to be done when the simulator is left */
	int64_t plan_ns, plan_max_ns;
	bool plan_is_made;
	bool starves; /* the routing thread gets no time to prepare repairs */
	bool is_held; /* ... it waits for go_on, till a plan is asked for */
	sem_t go_on;
	uint64_t smps; /* a number that stands for all SMPs so far, byte by byte */
	long n_steps;
	/* above STORM_PLAIN_MAX */
	struct fm_rng more;
	uint32_t has;	   /* enum part */
	bool remembers;	   /* what hosts have registered outlives fmd */
	bool second_stays; /* to the end */
	struct rig second; /* sweeper NULL: it does not run */
	struct prank pranks[N_PRANKS];
	struct storm_group groups[STORM_GROUPS];
	bool has_aliases[STORM_NODES_MAX];
	bool is_registered[STORM_NODES_MAX]; /* with the fmd that runs */
	bool was_up[STORM_NODES_MAX];	     /* its port, when it was looked at last */
	uint32_t n_asked[STORM_NODES_MAX];   /* ClientReregister, when it was started */
	struct isolated isolated;
	bool has_picture; /* as it was made last, with its key */
	uint64_t picture, picture_key;
	struct locks *locks; /* HAS_JUDGE, once the subnet is up */
	char folder[FOLDER_ROOM], plan_path[FOLDER_ROOM + 8];
};

static inline bool
storm_has(const struct storm *s, enum part part)
{
	return (s->has & ~s->without & (uint32_t)part) != 0;
}

/* storm_events.c */
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

/* storm_more.c */
void more_draw(struct storm *s, uint64_t seed);
void more_happen(struct storm *s, const struct event *e);
void more_calm_down(struct storm *s);
/* The administrator isolates what is not, and restores what is. */
void more_isolate(struct storm *s, const struct event *e);
/* The subnet is up, and the storm begins: the judge looks from here on. */
void more_watch(struct storm *s);
void more_describe(const struct storm *s, char text[STORM_TEXT_BYTES]);
/* What fmd keeps over its end; bare: no more. */
void more_open_store(struct storm *s, bool bare);
void more_fini(struct storm *s);

/* storm_second.c */
void second_toggle(struct storm *s, const struct event *e);
void second_stop(struct storm *s);
/* Who rules in the end: ours, the second one, NULL: both or none, as a sentence. */
struct rig *second_who_rules(struct storm *s, char *wrong, size_t size);

/* storm_wishes.c */
void wishes_draw(struct storm *s);
void wishes_fini(struct storm *s);
/* To an fmd that has just been started; kept: what hosts have registered with the one before. */
void wishes_tell(struct storm *s, bool kept);
/* Hosts that have been asked to register do so. */
void wishes_look_who_registers(struct storm *s);
/* A host joins the group, or leaves it. */
void wishes_change_mind(struct storm *s, const struct event *e);
/* As storm_is_true(). */
bool wishes_are_true(struct storm *s, const bool *reached, char *wrong, size_t size);

#endif
