/* SPDX-License-Identifier: BSD-2-Clause */
/* core/ask/report.h - a sweep is asked for, where it is on its road, what has come of it. */
#ifndef CORE_ASK_REPORT_H
#define CORE_ASK_REPORT_H

#include "core/plan/plan.h"
#include "core/transition/transition.h"
#include "lib/error.h"

enum sweep_scope { SWEEP_NONE, SWEEP_LIGHT, SWEEP_NAMED, SWEEP_HEAVY };
const char *sweep_scope_name(enum sweep_scope scope);

struct sweeper;
/* Ask for a sweep: at once when idle, else after the one that runs.  The
 * widest scope asked for wins. */
void sweeper_request(struct sweeper *s, enum sweep_scope scope, const char *reason);

enum sweep_phase {
	PHASE_IDLE,
	PHASE_TAKE_OVER, /* of a master whose copy we have: before anything is discovered */
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

/* A Set that a dry run would send. */
struct sweep_would {
	uint32_t node; /* slot */
	uint8_t attr;
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
	uint32_t n_silent;
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
	double tables_ms, order_ms; /* of the plan's tables and their proof, of its order */
	double total_ms;
	struct fm_error error;
	bool failed_again; /* as the sweep before did, with the same words */
};

/* Called when a sweep ends, before the next can start. */
typedef void (*sweep_done)(void *arg, const struct sweep_report *r);

#endif
