/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sweep/sweeper.h - the state of the sweep, part by part.
 *
 * Each part is written by the files that its comment names, and read by others.
 */
#ifndef CORE_SWEEP_SWEEPER_H
#define CORE_SWEEP_SWEEPER_H

#include "core/sweep/sweep.h"
#include "core/sweep/todo.h"
#include "core/sweep/traps.h"
#include "lib/log.h"

struct ask;

/* A block of a forwarding table that is not what the plan says. */
struct held_block {
	uint32_t slot, block;
	uint8_t n; /* it holds one of so many; 0: nobody knows what */
	uint8_t bytes[2][TRANSITION_BLOCK_LIDS];
};

/* A link that packets may pass though a switch at one end of it does not answer. */
struct silent_link {
	fm_sw sw, to;
	uint8_t port, to_port;
};

/* What is remembered of another SM as long as discovery finds it. */
#define SM_NEVER_MS INT64_MIN
struct sm_past {
	uint64_t guid;	    /* of its port */
	int64_t waits_ms;   /* standby: since then the subnet does not work by it */
	int64_t offered_ms; /* master: HANDOVER was offered to it, last and first */
	int64_t first_offer_ms;
	int64_t set_ms; /* the last Set of it that was looked at, and how it was answered */
	uint64_t set_tid;
	uint16_t set_status;
	uint8_t said; /* what the log has told of it */
	bool given_up;
	bool here;
};

/* A Get(SMInfo) that waits while its sender is asked (sm_ask_back.c). */
#define SM_GUESTS 8
struct sm_guest {
	struct mad mad;
	uint32_t node;
	uint8_t port;
	bool used, waits;
	bool answered; /* nothing waits for what is said */
	int64_t asked_ms;
};

/* Alias GUIDs that a block of a port is to hold. */
struct alias_want {
	uint64_t port; /* GUID */
	uint64_t guid[8];
	uint32_t next; /* of this port; FM_HASH_NONE: the last */
	uint8_t block;
	bool due; /* it has changed since it was asked for */
};

/* How SMPs may go beside directed routes (lid_route.c). */
enum smp_way { WAY_BY_LID, WAY_COLD, WAY_MIXED, N_SMP_WAYS };
enum smp_way_state { WAY_UNTRIED, WAY_ON_TRIAL, WAY_OPEN, WAY_CLOSED };

/* The sweep that runs, or the next. */
struct sweep_run {
	enum sweep_phase phase;
	uint32_t pending;		/* asks out */
	bool (*feed)(struct sweeper *); /* true: there is more to send */
	bool failed;			/* report.error says why */
	bool routing;			/* the plan worker has not given its plan yet */
	bool quiet;			/* nothing to do but to rebalance what was repaired */
	enum sweep_scope wanted;
	char wanted_reason[128];
	bool applying;	    /* next is on its way into the switches */
	uint32_t cursor[3]; /* of the feed that runs: stage, outer, inner */
	int64_t started_ns, phase_ns;
	struct txn_counts counts_at_start;
};

/* What is read, and what is in doubt (observe.h). */
struct sweep_reading {
	uint32_t mark;		  /* number of this discovery: inv_node.seen_in */
	bool changed;		  /* a cable was found in this sweep */
	bool fell_silent;	  /* a switch has, that answered in the sweep before */
	bool looked_twice;	  /* ... so all is looked at, again, in this sweep */
	uint32_t n_doubts;	  /* questions of who is who, in this sweep */
	uint32_t n_beside;	  /* of those who were silent, for which nobody waits */
	uint64_t n_unlinked;	  /* inventory.n_unlinked when routes were last found */
	uint64_t seq;		  /* number of the last request that was sent (observe.h) */
	FM_VEC(uint32_t) doubted; /* nodes with a record in doubt, slots */
	bool todo_work;		  /* some of it is to be written though nothing has changed */
};

/* Who rules (other_sms.c and sm_*.c). */
struct sweep_mastership {
	bool was_up;
	bool others_wrote; /* other SMs, perhaps, since: what nodes hold is not known */
	bool first_master; /* no sweep as master has finished yet */
	FM_VEC(struct ha_other) others;	   /* SMs, as of the last discovery and polls since */
	FM_VEC(struct ha_other) asked_sms; /* ... that are being asked by this one */
	FM_VEC(struct sm_past) pasts;
	struct ha_other heir; /* HANDOVER is on its way to it */
	uint16_t own_sm_lid;  /* MasterSMLID of our port, as standby */
	int64_t stranger_ms;  /* the last refusal to a stranger */
	struct sm_guest guests[SM_GUESTS];
	bool serves_early; /* those that were held */
	struct sm_counts counts;
};

/* What routing is asked for beside a plan of what is there. */
struct sweep_asked {
	bool chain_changed; /* the same fabric is to be routed anew */
	bool asked_anew;    /* of this sweep, which has not come to that yet */
	bool asked_drain;   /* likewise drain_once */
	bool drain_once;    /* this time, whatever the settings say */
};

/* Forwarding tables (apply*.c, owed.c). */
struct sweep_writing {
	bool plan_saved;	       /* its tables are in the file */
	struct transition *transition; /* of forwarding tables, NULL: nothing differs */
	FM_VEC(struct held_block) held;
	FM_VEC(struct silent_link) silent;
	/* Blocks that hold something else than the plan, since writing was broken off or a sweep
	 * has failed; by block, then switch */
	FM_VEC(struct plan_installed) unwritten;
	/* Some of them are of a plan that was abandoned, so that the plan's levels say nothing of
	 * them */
	bool strayed;
	unsigned n_broken_off; /* sweeps in a row in which writing was broken off */
	bool broken_off;       /* it was in this one */
	bool holds;	       /* this sweep leaves entries empty till hosts have been told */
	/* Sweeps in a row that failed as switches did not say what they hold; as they held older
	 * entries when others were to be filled */
	unsigned n_owed, n_short;
	bool older_gone;	/* in this sweep: packets of tables before are gone */
	int64_t wrote_ns;	/* the last answer to a Set of an entry or a map; 0: none */
	int64_t older_until_ns; /* packets of tables before those of plan are gone then */
	bool older_by_levels;	/* all of them came to be by plan_change.by_levels */
	bool waits_for_older;	/* next was made to be written then */
	int stage;		/* apply.c */
	uint64_t *visit;	/* bitset of blocks to look at; NULL: not listed yet */
	size_t next_visit;
	int64_t wait_ns;   /* a packet's life time is over then; 0 = none runs */
	bool fresh;	   /* no switch holds anything: no order */
	bool later;	   /* the rest waits for links to become active */
	bool again;	   /* they are, and the rest is written */
	uint64_t *settled; /* like visit: blocks that hold what next says, by an answer */
	bool silent_links; /* packets may pass through switches that do not answer */
};

/* Hosts that are to be told of other SLs, or to register again (repath.c). */
struct sweep_telling {
	bool repaths;		   /* of some port (repath.c) */
	bool lost_all;		   /* what ports in use had registered before us is lost */
	struct fm_hash lost_ports; /* GUIDs of ports that have lost it since */
	unsigned n_untold;	   /* sweeps in a row that have failed to seek such hosts */
	bool held_for_sls; /* hosts have to be told of the SLs of plan before the next is written */
	bool told;	   /* they have been in this sweep */
	bool untold_before_us; /* they had to be when the process before us ended */
	uint32_t next;	       /* the node to be told next, slot */
};

/* How SMPs go beside directed routes (lid_route.c, waves.c). */
struct sweep_ways {
	enum smp_way_state way[N_SMP_WAYS];
	unsigned n_closed[N_SMP_WAYS];	   /* times in a row */
	uint64_t closed_until[N_SMP_WAYS]; /* number of a sweep */
	unsigned n_lost_on_end[2]; /* switches to blame for what was lost, none answered since */
	unsigned n_trials[2];	   /* out: LID-routed, mixed */
	uint32_t epoch;		   /* roads of another epoch have to be looked for again */
	struct waves *waves;	   /* waves.c, NULL: no switch is to be reached */
};

/* PortInfo and links (links.c). */
struct sweep_links {
	bool settings_changed; /* the settings are to reach every port (fields.h: insist) */
	bool far_ends_sleep;   /* a port stayed ARMED though its neighbour was ACTIVE (links.c) */
	struct fm_hash lid_owner;		/* base LID -> slot */
	uint32_t n_held_back, n_held_back_said; /* active links that could do more (links.c) */
	char held_back[160];			/* the first of them */
};

/* M_Keys (mkeys.c). */
struct sweep_keys {
	uint64_t fabric; /* the M_Key of nearly all ports (mkeys.c) */
	bool changed;	 /* this sweep has gone through them */
};

/* P_Keys (pkeys.c). */
struct sweep_pkeys {
	const struct partitions *parts; /* what pkeys were made of */
	struct port_pkeys *lists;	/* of all end-ports */
	uint64_t mark;
	bool all_blocks; /* there may be keys behind block 0 */
	uint32_t n_cut;	 /* ports in more partitions than their tables hold */
	struct pkey_job *free_jobs;
};

/* SL to VL, VL arbitration (qos.c). */
struct sweep_vls {
	bool spread; /* a plan of more than one VL has been in the switches */
	uint64_t mark;
	bool written;	   /* the administrator's tables have been in ports */
	uint16_t collided; /* SLs told of: the engine's VLs are not the administrator's */
};

/* Alias GUIDs (aliases.c). */
struct sweep_aliases {
	FM_VEC(struct alias_want) wants;
	struct fm_hash of_port; /* port GUID -> first in aliases */
	bool due;		/* some may be due */
};

/* Lines of which there may be too many. */
struct sweep_logs {
	struct fm_log_bucket traps, silent, refused, control;
};

struct sweeper {
	struct sweep_parts p;
	struct sweep_settings set;
	uint64_t set_mark; /* settings_mark() of them (sweep.c) */
	struct local_port local;
	struct inventory inv;
	struct sweep_report report;
	sweep_done done;
	void *done_arg;
	struct todo_list todo;	/* unfinished business, as the last sweep has left it */
	struct sweep_mcast *mc; /* mcast.c */
	struct plan *plan;	/* in the switches */
	struct plan *next;	/* being written */
	struct traps traps;
	struct fm_arena mem; /* asks, jobs */
	struct ask *free_asks;
	struct sweep_run run;
	struct sweep_reading reading;
	struct sweep_mastership sm;
	struct sweep_asked asked;
	struct sweep_writing writing;
	struct sweep_telling telling;
	struct sweep_ways ways;
	struct sweep_links links;
	struct sweep_keys keys;
	struct sweep_pkeys pk;
	struct sweep_vls vls;
	struct sweep_aliases alias;
	struct sweep_logs logs;
};

#endif
