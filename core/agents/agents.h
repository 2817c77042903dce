/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/agents/agents.h - congestion control (IBA annex A10) in switches and hosts: each agent is
 * asked what it holds, and sent what differs.
 *
 * Nothing of it is part of a sweep: what is to be asked leaves while none runs, and no sweep waits
 * for it or is asked for.  An agent is read
 *
 *	when its port is first seen, or may have lost what was set in it (inv_port.congestion_read)
 *	when the settings are others, or we have become master
 *	when it has not taken or not answered something: after 1 min, 2, 4, ... 64
 *	when conf_sweep.audit_ms have passed since it held all
 *
 * The CongestionLog of a switch that holds all is read each cc_log_interval.
 *
 * What is thought of an agent is what it has answered.  That some do not hold what they are to is
 * two events at most, of all of them (EVENT_FOREIGN_CC_KEY, EVENT_CONGESTION_UNSET), however many
 * they are; fmctl status names some.
 *
 * Cost: a pass is O(ports); an agent that holds all costs 2 MADs of a switch of up to 31 ports, 3
 * of one of more, and 2 or 3 of a host port; one more with a CC_Key, one and two more when it is
 * first read.  A log is one MAD.
 */
#ifndef CORE_AGENTS_AGENTS_H
#define CORE_AGENTS_AGENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/wire/congestion.h"

struct sweeper;

enum agent_state {
	AGENT_UNREAD,  /* it has not said all yet, since it last was to be read */
	AGENT_HOLDS,   /* what it is to */
	AGENT_SILENT,  /* it has left a MAD unanswered */
	AGENT_ABSENT,  /* the node says that it has none */
	AGENT_FOREIGN, /* it is under a CC_Key that is not ours */
	AGENT_SMALL,   /* cc_cct has more entries than its table */
	AGENT_STRANGE, /* it answers something else than it was asked */
	AGENT_REFUSES, /* it has refused something, or shows something else than it was set to */
	AGENT_STATES
};
/* "holds", "silent"; for programs. */
const char *agent_state_word(enum agent_state state);

bool agents_new(struct sweeper *s); /* false: no memory */
void agents_free(struct sweeper *s);
/* The settings are others. */
void agents_configured(struct sweeper *s);
/* No sweep runs or is due: send what may be sent. */
void agents_step(struct sweeper *s);
/* When it has to be called though nothing has come, by the clock of the transport; INT64_MAX:
 * then only. */
int64_t agents_due_ms(const struct sweeper *s);

#define AGENTS_NAMED 20
struct agents_report {
	bool enabled;
	uint32_t switches[AGENT_STATES], ports[AGENT_STATES]; /* of hosts */
	uint64_t n_gets, n_sets;			      /* since the start */
	/* The first that do not hold what they are to: slot, port, state. */
	struct {
		uint32_t slot;
		uint8_t port, state;
	} named[AGENTS_NAMED];
	unsigned n_named;
};
/* O(ports) */
void sweeper_agents(const struct sweeper *s, struct agents_report *out);

/* What a switch has marked, as its log has told. */
struct agent_log {
	int64_t read_ms, marked_ms; /* by the clock of the transport; marked_ms 0: it never had */
	uint64_t n_events;	    /* of all logs that were read */
	uint32_t n_lately;	    /* of the last */
	struct wire_cc_log marked;  /* the last that had any */
};
/* NULL: none has been read. */
const struct agent_log *sweeper_congestion_log(const struct sweeper *s, uint32_t slot);

#endif
