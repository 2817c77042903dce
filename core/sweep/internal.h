/* SPDX-License-Identifier: BSD-2-Clause */
/* core/sweep/internal.h - what the files of the sweep call of one another. */
#ifndef CORE_SWEEP_INTERNAL_H
#define CORE_SWEEP_INTERNAL_H

#include "core/adaptive/adaptive.h"
#include "core/ask/ask.h"
#include "core/ask/doubt.h"
#include "core/ask/lid_route.h"
#include "core/sweep/observe.h"
#include "core/inventory/fields.h"
#include "core/program/program.h"
#include "core/sms/sms.h"
#include "core/sweep/sweep.h"
#include "core/ask/sweeper.h"
#include "core/sweep/traps.h"

/* What routing is asked for beside a plan of what is there. */
struct sweep_asked {
	bool chain_changed;	     /* the same fabric is to be routed anew */
	bool asked_anew;	     /* of this sweep, which has not come to that yet */
	bool asked_drain;	     /* likewise drain_once */
	bool drain_once;	     /* this time, whatever the settings say */
	struct plan_weighed weighed; /* for a quiet pass, if the next sweep is one */
};

/* What this discovery has met. */
struct sweep_discovery {
	uint32_t mark;		    /* its number: inv_node.seen_in */
	bool changed;		    /* a cable was found in this sweep */
	bool fell_silent;	    /* a switch has, that answered in the sweep before */
	bool looked_twice;	    /* ... so all is looked at, again, in this sweep */
	uint32_t n_doubts;	    /* questions of who is who, in this sweep */
	uint32_t n_beside;	    /* of those who were silent, for which nobody waits */
	uint64_t n_unlinked;	    /* inventory.n_unlinked when routes were last found ... */
	uint64_t n_unlinked_before; /* ... when the sweep began */
	bool todo_work;		    /* some of it is to be written though nothing has changed */
	/* Nodes never seen before, by port (slot * 256 + port): since newcomers_ms, for an hour */
	struct fm_hash newcomers;
	int64_t newcomers_ms; /* by the clock of the transport */
};

/* well.c */
/* Something is to be written though no sweep is asked for: groups, alias GUIDs. */
bool sweeper_is_due_between(const struct sweeper *s);
/* routing.c */
enum routing_end {
	ROUTING_RUNS,	   /* the plan is still being made */
	ROUTING_FAILED,	   /* the sweep has failed */
	ROUTING_NO_TABLES, /* no engine of the chain could route the fabric: report.error */
	ROUTING_DONE	   /* s->next is to be written; NULL: there is nothing to route */
};
enum routing_end routing_start(struct sweeper *s);
enum routing_end routing_take(struct sweeper *s);
/* discover.c */
void discover_start(struct sweeper *s);
void discover_ask_port(struct sweeper *s, uint32_t node, uint8_t port);
/* SwitchInfo, and PortInfo of the ports that are in doubt. */
void discover_ask_switch(struct sweeper *s, uint32_t node);
void discover_ask_desc(struct sweeper *s, uint32_t node, uint8_t port);
void discover_probe(struct sweeper *s, uint32_t node, uint8_t port);
/* Who answers behind node:port is left out; told: the log has it already. */
void discover_disbelieve(
    struct sweeper *s, uint32_t node, uint8_t port, enum inv_disbelief why, bool told);
/* Nobody waits for the reads that are out (late.h): cables and nodes are as they were. */
void discover_let_go(struct sweeper *s);
/* What lies behind node:port has a GUID of owner's, or says that it is its owner_port. */
void discover_leave_out(
    struct sweeper *s, uint32_t node, uint8_t port, uint32_t owner, uint8_t owner_port);
/* states.c */
enum states_say {
	STATES_NONE,	     /* there is no table: all ports tell their states themselves */
	STATES_AS_KNOWN,     /* all ports of the block are in the states that are known */
	STATES_HAVE_CHANGED, /* not all */
};
/* A switch was asked for a block of its table (64 bytes; NULL: no answer).  Ports of which PortInfo
 * is to be read are in doubt then, and one that has no table is told of, once. */
enum states_say states_judge(
    struct sweeper *s, uint32_t node, unsigned block, enum txn_status status, const uint8_t *table);
/* Is the state that PortInfo of a port shows what the table of its switch has told of it?  If not,
 * all ports of the switch are in doubt. */
void states_compare(struct sweeper *s, uint32_t node, bool is_so);
/* reread.c */
void discover_reread(struct sweeper *s);
/* Doubt both ends of cables that do not go together. */
void discover_compare_ends(struct sweeper *s);
void discover_finish(struct sweeper *s);
/* Doubt switches that did not answer, where perhaps the way to them is lost and there is another.
 * False: there are none. */
bool discover_retry(struct sweeper *s);
/* Has a switch that answered in the sweep before not done so, by any way that is known? */
bool discover_lost_sight(const struct sweeper *s);
/* light.c */
void light_start(struct sweeper *s);
/* model.c */
/* Entries of LIDs that have been gone for too long are to be taken out. */
bool model_drops(const struct sweeper *s);
/* LIDs and snapshot.  0 and *snap NULL: nothing to route, or the plan stays (s->next). */
int model_build(struct sweeper *s, struct snapshot **snap, struct fm_error *err);

/* wake.c */
enum wake_why {
	WAKE_NEVER,	 /* till somebody asks, or a trap comes */
	WAKE_ASKED,	 /* run.wanted */
	WAKE_DOUBT,	 /* what has changed meanwhile */
	WAKE_LATE,	 /* what reads have brought that nobody waited for */
	WAKE_UNFINISHED, /* an entry of the list of unfinished business */
	WAKE_TRAPS,	 /* reading was put off */
	WAKE_BROKEN_OFF, /* the last sweep stopped for what had changed */
	WAKE_IN_VAIN,	 /* the last sweep came to nothing */
	WAKE_INTERVAL,	 /* all switches are looked at */
	WAKE_LOST	 /* nothing else was due, and the subnet is not as it is to be */
};

struct wake {
	enum wake_why why;
	int64_t at_ms; /* clock of the transport; INT64_MAX: never */
};

/* Between two sweeps: what makes the next one begin, and when. */
struct wake wake_next(const struct sweeper *s);
bool wake_is_due(const struct sweeper *s);

#endif
