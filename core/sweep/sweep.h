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

#include <stdio.h>

#include "core/ha/ha.h"
#include "core/mad/transact.h"
#include "core/route/worker.h"
#include "core/store/store.h"
#include "core/subnet/partitions.h"
#include "core/sweep/inventory.h"
#include "core/sweep/todo.h"
#include "core/transition/transition.h"

enum sweep_scope { SWEEP_NONE, SWEEP_LIGHT, SWEEP_NAMED, SWEEP_HEAVY };
const char *sweep_scope_name(enum sweep_scope scope);

struct qos;

/* Which switch ports refuse packets of partitions that the host there is not in:
 * those that come from it, those that go to it. */
enum part_enforce {
	PART_ENFORCE_OFF,
	PART_ENFORCE_IN,
	PART_ENFORCE_OUT,
	PART_ENFORCE_BOTH = PART_ENFORCE_IN | PART_ENFORCE_OUT
};

/* What the administrator wants of the subnet. */
struct sweep_settings {
	uint64_t m_key, gid_prefix;
	uint16_t m_key_lease_s;
	uint8_t m_key_protect;
	uint8_t sm_priority;
	uint64_t sm_key;
	uint8_t sm_sl;
	uint8_t ca_lmc, switch_lmc;
	uint8_t subnet_timeout, hoq_life, leaf_hoq_life, vl_stall, leaf_vl_stall, life_time;
	uint8_t phys_errors, overrun_errors; /* thresholds */
	uint8_t max_op_vls;		     /* code 1..5: 1, 2, 4, 8, 15 data VLs */
	uint8_t n_retries;		     /* of the transaction engine */
	uint32_t silent_polls_max; /* so many SMInfo polls unanswered: the master is dead */
	int64_t sm_patience_ms;	   /* a better SM by which nothing works for so long; 0: for ever */
	const uint64_t *allowed_sms; /* borrowed: port GUIDs of SMs that count; none: all do */
	uint32_t n_allowed_sms;
	const struct partitions *partitions; /* borrowed; NULL: all may talk to all */
	enum part_enforce part_enforce;
	const struct qos *qos; /* borrowed; NULL: the engine alone says which VLs */
	bool keep_pkey_indexes;
	struct route_settings routing;
	bool reassign_lids;	       /* do not honour LIDs found in ports */
	int64_t lid_linger_ms;	       /* how long entries of an absent LID stay */
	enum plan_drain drain;	       /* which changes may empty forwarding entries */
	enum plan_rebalance rebalance; /* of repaired tables */
	int64_t packet_life_ms;	       /* after so long no packet of old tables is under way */
	int64_t sweep_interval_ms;     /* between light sweeps; 0: none */
	bool client_reregister;
	bool on_trap;  /* traps 128 and 144 start sweeps */
	bool lid_smps; /* what is written goes by LID-routed and mixed SMPs where they arrive */
	bool dry_run;  /* no Set at all */
	bool careless; /* tests: forwarding tables are written in any order */
};
void sweep_settings_default(struct sweep_settings *s);

enum sweep_phase {
	PHASE_IDLE,
	PHASE_DISCOVER,
	PHASE_REREAD, /* switches that changed meanwhile */
	PHASE_OTHER_SMS,
	PHASE_ROUTE,
	PHASE_SWITCHES,
	PHASE_TABLES,
	PHASE_PORTS,
	PHASE_ACTIVATE,
	PHASE_MCAST, /* also between sweeps, with alias GUIDs */
	PHASE_DONE,
	N_PHASES
};
extern const char *const sweep_phase_names[N_PHASES];

enum sweep_outcome {
	SWEEP_RUNNING,
	SWEEP_UP,	  /* the subnet is up */
	SWEEP_UNCHANGED,  /* light sweep, nothing new */
	SWEEP_BROKEN_OFF, /* something else has changed: the next sweep goes on from here */
	SWEEP_STANDBY,	  /* another SM is or is to be master: see sweep_report.other */
	SWEEP_NOT_ROUTED, /* up stays what was up before */
	SWEEP_NO_LINK,	  /* our own port has no link */
	SWEEP_FAILED	  /* a system error, in sweep_report.error */
};
/* "up"; for programs, so that it stays. */
const char *sweep_outcome_name(enum sweep_outcome outcome);

/* SMPs of a sweep that were not directed all the way, and those that were put again, directed. */
struct smps_by_lid {
	uint64_t sent, lost;	    /* LID-routed */
	uint64_t mixed, mixed_lost; /* by LID to the switch before */
};

struct sweep_report {
	uint64_t number;
	enum sweep_scope scope;
	enum sweep_outcome outcome;
	char reason[128];
	char other[128]; /* the other SM, as a phrase */
	char engine[64]; /* whose tables they are */
	bool kept;	 /* and no engine ran in this sweep */
	bool repaired;	 /* nor did one, but entries were chosen anew: so many, in LFT blocks */
	uint32_t n_repaired_entries, n_repaired_blocks;
	uint64_t n_other_sls; /* pairs (sender, LID) whose path carries another SL than before */
	uint32_t n_switches, n_cas, n_routers, n_links, n_lids, n_ports_active, n_ports_not_active;
	uint64_t n_unreachable;	 /* pairs that cables join and that have no path */
	uint32_t n_foreign_keys; /* ports found under an M_Key that is not ours */
	uint32_t n_silent, n_lost;
	/* As it stands when the sweep has ended: entries of todo.h that wait for others, of that
	 * these */
	uint32_t n_troubles, n_duplicates, n_loops;
	uint64_t gets, sets, would_set; /* of this sweep */
	uint64_t gets_by_attr[256], sets_by_attr[256], would_set_by_attr[256];
	uint64_t retries, timeouts, refused;
	struct smps_by_lid by_lid;
	struct transition_counts order; /* of writing forwarding tables */
	struct plan_change change;	/* what they were written for */
	double phase_ms[N_PHASES];
	double total_ms;
	struct fm_error error;
};

struct sweeper;

/* All borrowed, for the life of the sweeper; store may be NULL (nothing is kept). */
struct sweep_parts {
	struct transport *transport;
	struct txn_engine *txn;
	struct store *store;
	struct ha *ha;
	struct router *router;
	const struct chain *chain;
	const struct region_set *regions; /* NULL: one region */
	struct plan_worker *worker;	  /* NULL: plans are made while sweeper_step() waits */
	const char *plan_path;		  /* where tables are kept over a restart, or NULL */
	/* NULL, or told of traps that are to be passed on to subscribers (traps.h) */
	void (*on_notice)(void *arg, const struct wire_notice *notice);
	void *on_notice_arg;
	/* NULL, or asked before a plan that is ready is taken up; false: not yet.  Tests thereby
	 * say how long a plan takes. */
	bool (*may_take_plan)(void *arg);
	void *may_take_plan_arg;
};
struct sweeper *sweeper_new(
    const struct sweep_parts *parts, const struct sweep_settings *settings, struct fm_error *err);
void sweeper_free(struct sweeper *s);

/* Another chain, other regions or settings, from the next sweep on; not while one runs. */
void sweeper_configure(struct sweeper *s, const struct sweep_settings *settings,
    const struct chain *chain, const struct region_set *regions);

/* Ask for a sweep: at once when idle, else after the one that runs.  The
 * widest scope asked for wins. */
void sweeper_request(struct sweeper *s, enum sweep_scope scope, const char *reason);
/* A MAD that answers no question of ours: a trap. */
void sweeper_on_mad(struct sweeper *s, const struct mad *m);
/* Standby: ask the master whether it is still there. */
void sweeper_poll_master(struct sweeper *s);
/* Go on as far as possible without waiting; call after every txn_poll(). */
void sweeper_step(struct sweeper *s);
/* When it wants to go on though nothing is outstanding (transport clock), INT64_MAX:
 * it does not. */
int64_t sweeper_due_ns(const struct sweeper *s);
/* Tables that wait for it may be taken up by emptying entries: a sweep is asked for. */
void sweeper_drain(struct sweeper *s);
/* Nothing runs and nothing is asked for. */
bool sweeper_idle(const struct sweeper *s);
/* Of the sweep that runs or ran last. */
const struct sweep_report *sweeper_report(const struct sweeper *s);
enum sweep_phase sweeper_phase(const struct sweeper *s);
/* The subnet has been up since the start, under our rule. */
bool sweeper_is_up(const struct sweeper *s);
/* The plan in the switches (borrowed), NULL before the first. */
const struct plan *sweeper_plan(const struct sweeper *s);
const struct inventory *sweeper_inventory(const struct sweeper *s);
/* What is unfinished, as the last sweep has left it (todo.h). */
const struct todo_list *sweeper_todo(const struct sweeper *s);
/* The P_Keys of all end-ports (borrowed), NULL before the first. */
struct port_pkeys *sweeper_pkeys(const struct sweeper *s);
/* Other SMs that the last discovery met: how many, and the i-th. */
uint32_t sweeper_n_other_sms(const struct sweeper *s);
const struct ha_other *sweeper_other_sm(const struct sweeper *s, uint32_t i);
/* SMInfo of ourselves, with the SM_Key. */
void sweeper_own_sm(const struct sweeper *s, struct wire_sm_info *info);
/* SMInfo that came in: answers, Sets that were refused, and of these unanswered. */
struct sm_counts {
	uint64_t answered, refused, dropped;
};
const struct sm_counts *sweeper_sm_counts(const struct sweeper *s);

/* A port is in a multicast group, by the roles of core/mcast/mcast_net.h, or not any more.
 * Written as soon as no sweep runs: call sweeper_step().  False: out of memory. */
bool sweeper_set_member(
    struct sweeper *s, uint16_t mlid, uint8_t sl, uint64_t guid, unsigned roles);
struct mcast_net;
/* The groups as they are to be forwarded (borrowed). */
const struct mcast_net *sweeper_groups(const struct sweeper *s);
/* What a port (0: any that was in use before us) had registered with the SA is lost: it is to be
 * asked, by ClientReregister and once, to register again. */
void sweeper_lost(struct sweeper *s, uint64_t port);
/* A block of GUIDInfo of a port is to hold these alias GUIDs, 0: none (entry 0 of block 0 is the
 * port's own).  Written as soon as no sweep runs.  False: out of memory. */
bool sweeper_set_aliases(struct sweeper *s, uint64_t port, uint8_t block, const uint64_t guid[8]);
struct mft_rows;
/* What switches hold of multicast (borrowed), another object whenever that has changed; NULL:
 * nothing yet. */
struct mft_rows *sweeper_mfts(const struct sweeper *s);
/* The highest multicast LID that all switches can hold; 0: there are none, or none can. */
uint16_t sweeper_last_mlid(const struct sweeper *s);

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

/* Called when a sweep ends, before the next can start. */
typedef void (*sweep_done)(void *arg, const struct sweep_report *r);
void sweeper_on_done(struct sweeper *s, sweep_done done, void *arg);

#endif
