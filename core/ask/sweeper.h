/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/ask/sweeper.h - what all rooms of the sweep share: the fabric as it is known, the plan,
 * the sweep under way, and a pointer to what each room has for itself.
 */
#ifndef CORE_ASK_SWEEPER_H
#define CORE_ASK_SWEEPER_H

#include <sys/queue.h>

#include "core/inventory/inventory.h"
#include "core/ask/parts.h"
#include "core/ask/report.h"
#include "core/inventory/settings.h"
#include "lib/log.h"

struct ask;
TAILQ_HEAD(ask_list, ask);

/* Feeds keep so many questions queued at most.  Node by node: enough that the
 * small windows of a few dozen switches fill the fabric's; striped over the
 * nodes: two windows.  More would only fall out of the caches. */
#define FEED_HIGH 1024
#define FEED_STRIPED(s) (2 * txn_window((s)->p.txn) + 64)

/* How SMPs may go beside directed routes (lid_route.c). */
enum smp_way { WAY_BY_LID, WAY_INACTIVE, WAY_MIXED, N_SMP_WAYS };
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
	/* By the clock of the transport: when the last sweep ended, and the last one of those that
	 * look at all switches, which this one does, or does not */
	int64_t ended_ms, looked_ms;
	bool looks_at_all;
	struct txn_counts counts_at_start;
};

/* What is in doubt (doubt.h). */
struct sweep_reading {
	uint64_t seq;		  /* number of the last request that was sent */
	FM_VEC(uint32_t) doubted; /* nodes with a record in doubt, slots */
	struct ask_list out;	  /* reads that are out, and those of them that are late ... */
	struct ask_list come;	  /* ... and have ended meanwhile (late.h) */
	int64_t stirred_ns;	  /* a read was put, or has ended, that a phase waits for */
};

/* What nodes hold is not known where others may have written. */
enum sweep_others {
	OTHERS_NOT_THERE,
	OTHERS_PERHAPS, /* our port had no link for a moment: one may have come and gone */
	OTHERS_RULED	/* one did: hosts have registered with it, and register with us again */
};

/* Since the start, under our rule. */
enum sweep_up {
	UP_NEVER, /* no sweep as master has brought the subnet up yet */
	UP_NOW,
	UP_NO_MORE /* another SM has ruled since, or our port had no link */
};

/* Is this our subnet? */
struct sweep_rule {
	enum sweep_up up;
	enum sweep_others others; /* what other SMs have done since the last sweep */
};

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

/* How the writing of tables ends in this sweep. */
enum sweep_writes {
	WRITES_ALL, /* but for what switches did not answer or take */
	/* Switches that forward hold what others have written, neither next nor the plan that it
	 * was ordered from ... */
	WRITES_FOUND,
	WRITES_PUT_OFF,	   /* ... it is to be ordered once more before anything is written */
	WRITES_BROKEN_OFF, /* what waits is left for the next sweep, as something has changed */
	WRITES_HOLD	   /* entries are left empty till hosts have been told */
};

/* Entries that lead over links that this sweep makes active. */
enum sweep_cold {
	COLD_NONE,
	COLD_WAIT,   /* the rest waits for the links to become active */
	COLD_WRITTEN /* they are, and the rest is written */
};

/* Forwarding tables (apply*.c, owed.c). */
struct sweep_writing {
	bool plan_saved;	       /* its tables are in the file */
	struct transition *transition; /* of forwarding tables, NULL: nothing differs */
	/* The fabric of the plan and the isolated cables, which packets pass till no entry uses
	 * them; NULL: none is (model.c) */
	struct snapshot *wire;
	FM_VEC(struct held_block) held;
	FM_VEC(struct silent_link) silent;
	/* Blocks that hold something else than the plan, since writing was broken off or a sweep
	 * has failed; by block, then switch */
	FM_VEC(struct plan_installed) unwritten;
	enum sweep_writes ends;
	enum sweep_cold cold;
	struct plan *from; /* next was ordered from it; NULL: from none */
	/* When the first of the sweeps in a row that broke writing off ended; 0: none did */
	int64_t broken_off_ns;
	/* Sweeps in a row that failed as switches did not say what they hold; as they held older
	 * entries when others were to be filled; as one that routes adaptively was not turned off
	 * */
	unsigned n_owed, n_short, n_on;
	bool older_gone;	/* in this sweep: packets of tables before are gone */
	int64_t wrote_ns;	/* the last answer to a Set of an entry or a map; 0: none */
	int64_t older_until_ns; /* packets of tables before those of plan are gone then */
	/* number of the oldest plan whose packets may live till then; 0: not known */
	uint64_t flight;
	bool waits_for_older; /* next was made to be written then */
	int stage;	      /* apply.c */
	uint64_t *visit;      /* bitset of blocks to look at; NULL: not listed yet */
	size_t next_visit;
	int64_t wait_ns;   /* a packet's life time is over then; 0 = none runs */
	bool fresh;	   /* no switch holds anything: no order */
	uint64_t *settled; /* like visit: blocks that hold what next says, by an answer */
};

/* Hosts that are to be told of other SLs (repath.c). */
struct sweep_telling {
	bool repaths;	   /* of some port (repath.c) */
	unsigned n_untold; /* sweeps in a row that have failed to seek such hosts */
	bool held_for_sls; /* hosts have to be told of the SLs of plan before the next is written */
	bool told;	   /* they have been in this sweep */
	bool untold_before_us; /* they had to be when the process before us ended */
	uint32_t next;	       /* the node to be told next, slot */
};

/* How SMPs go beside directed routes (lid_route.c, waves.c). */
struct sweep_ways {
	/* Who writes tables says it: does the switch hold the entry that next says, and will it? */
	bool (*is_settled)(const struct sweeper *s, const struct inv_node *n, uint16_t lid);
	enum smp_way_state way[N_SMP_WAYS];
	unsigned n_closed[N_SMP_WAYS];	   /* times in a row */
	uint64_t closed_until[N_SMP_WAYS]; /* number of a sweep */
	unsigned n_lost_on_end[2]; /* switches to blame for what was lost, none answered since */
	unsigned n_trials[2];	   /* out: LID-routed, mixed */
	uint32_t epoch;		   /* roads of another epoch have to be looked for again */
	struct waves *waves;	   /* waves.c, NULL: no switch is to be reached */
};

/* Lines of which there may be too many. */
struct sweep_logs {
	struct fm_log_bucket traps, silent, refused, control;
};

/* Parts of one room each, known to it alone. */
struct sweep_sms;
struct sweep_mcast;
struct sweep_links;
struct sweep_keys;
struct sweep_pkeys;
struct sweep_vls;
struct sweep_aliases;
struct sweep_discovery;
struct sweep_asked;
struct todo_list;
struct traps;
struct audit;
struct agents;
struct sweep_adaptive;

struct sweeper {
	struct sweep_parts p;
	struct sweep_settings set;
	struct local_port local;
	struct inventory inv;
	struct sweep_report report;
	FM_VEC(struct sweep_would) would; /* of this sweep, as they would be sent */
	struct plan *plan;		  /* in the switches */
	struct plan *next;		  /* being written */
	struct fm_arena mem;		  /* asks, jobs */
	struct ask *free_asks;
	struct sweep_run run;
	struct sweep_reading reading;
	struct sweep_rule rule;
	struct sweep_ways ways;
	struct sweep_logs logs;
	struct sweep_sms *sm;
	/* what is written */
	struct sweep_writing writing;
	struct sweep_telling telling;
	struct sweep_links *links;
	struct sweep_keys *keys;
	struct sweep_pkeys *pk;
	struct sweep_vls *vls;
	struct sweep_aliases *alias;
	struct sweep_mcast *mc;
	struct sweep_adaptive *adaptive; /* groups of adaptive routing */
	struct audit *audit;		 /* what is read back between sweeps */
	struct agents *agents;		 /* of congestion control */
	/* the road of a sweep */
	struct sweep_discovery *disc;
	struct sweep_asked *asked;
	struct todo_list *todo; /* unfinished business, as the last sweep has left it */
	struct traps *traps;
	sweep_done done;
	void *done_arg;
};

/* Is the subnet up, and has been since this sweep or one before, under our rule? */
static inline bool
sweeper_was_up(const struct sweeper *s)
{
	return s->rule.up == UP_NOW;
}

/* Next is to be ordered once more, from what switches were found to hold. */
static inline bool
sweeper_has_found(const struct sweeper *s)
{
	return s->writing.ends == WRITES_FOUND || s->writing.ends == WRITES_PUT_OFF;
}

/* Is what waits left for the next sweep? */
static inline bool
sweeper_breaks_off(const struct sweeper *s)
{
	return s->writing.ends == WRITES_PUT_OFF || s->writing.ends == WRITES_BROKEN_OFF;
}

/* May packets pass through switches that do not answer? */
static inline bool
sweeper_has_silent_links(const struct sweeper *s)
{
	return s->plan != NULL && s->writing.silent.n > 0;
}

/* The sweep under way fails, for this first reason of all. */
void sweep_fail(struct sweeper *s, enum fm_error_kind kind, const char *sentence);
/* The next phase begins. */
void sweep_enter(struct sweeper *s, enum sweep_phase phase);
/* Wall time also on a simulated fabric, whose clock stands still while we compute. */
int64_t sweep_wall_ns(void);
/* The clock of the transport: simulated fabrics have one of their own. */
int64_t sweeper_clock_ms(const struct sweeper *s);
#define LONG_AGO_MS 1 /* by that clock: of what is due at once */

#endif
