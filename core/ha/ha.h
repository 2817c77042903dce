/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/ha/ha.h - one subnet, one master: the SMInfo state machine, IBA 14.4.
 *
 * Of two SMs the one of higher priority is the better, of equal priority the
 * one of the lower port GUID.  What this file decides needs no MAD layer:
 * events in, new state and the control to send out, so that tests can play
 * every case.
 *
 *	DISCOVERING --nobody better, no master--> MASTER
 *	DISCOVERING --a master, or somebody better--> STANDBY
 *	STANDBY --HANDOVER, or the master is silent--> DISCOVERING
 *	MASTER --meets a better one--> sends HANDOVER --ACKNOWLEDGE--> STANDBY
 *
 * A master may show a higher priority than before and after (master_sm_priority),
 * and compares with that: who has taken over keeps the subnet when the one comes
 * back that had it.  Both see the same numbers, those that are shown, so they
 * agree who is the better.  A standby compares with its own priority.
 *
 * Who sent HANDOVER stays master until it is acknowledged, or the other one
 * is seen to be master.  A lesser master is never pushed aside: we wait as
 * standby for its HANDOVER (it finds us by our IsSM bit), and say so.
 *
 * Who may command, IBA 14.4: an SM that has shown, at its own port, that it has
 * our SM_Key, and of those the one that a discovery or a poll has seen to be
 * master.  Every other SM is foreign: nothing is handed over to it nor taken from
 * it, and it does not keep us from being master; but while it is master and we
 * are not, we do not push it aside either, until its time is over.
 */
#ifndef CORE_HA_HA_H
#define CORE_HA_HA_H

#include <stdbool.h>
#include <stdint.h>

#include "core/wire/wire.h"

/* What another SM is to us. */
enum ha_trust {
	HA_FOREIGN,    /* it has not shown that it has our SM_Key */
	HA_OURS,       /* it has */
	HA_GIVEN_UP,   /* it had its time, and the subnet was not made to work */
	HA_IMPOSTOR,   /* it shows the GUID of a port that is not its own */
	HA_NOT_ALLOWED /* by the administrator's list */
};

struct ha_other {
	struct wire_sm_info info; /* as last read at its port */
	uint32_t node;		  /* whose that is: a slot of the inventory */
	uint16_t lid;		  /* of its port, 0 = none */
	uint8_t port;
	uint8_t trust; /* enum ha_trust */
};

/* How far our HANDOVER is.  ACKNOWLEDGE, which makes us standby, may come before its answer. */
enum ha_handover { HANDOVER_NONE, HANDOVER_SENT, HANDOVER_TAKEN };

struct ha {
	uint64_t guid; /* our port GUID */
	uint64_t sm_key;
	uint8_t priority;
	uint8_t master_priority; /* while we are master, where it is higher */
	uint8_t state;		 /* enum wire_sm_state */
	struct ha_other master;	 /* whom we wait for as standby, or hand over to */
	uint32_t n_silent_polls; /* of that master, in a row */
	uint32_t n_lesser_polls; /* so often, in a row, a lesser master has not handed over */
	uint32_t n_handovers;	 /* taken, also as master: the subnet was another's until then */
	bool handed_over;	 /* HANDOVER came: master next, do not defer to the giver */
	uint8_t handover;	 /* enum ha_handover: of ours, to `master` */
	uint64_t gave_to; /* who has acknowledged our HANDOVER last: it rules soon; 0: nobody */
	uint64_t heir;	  /* the administrator gives the subnet to it, better or not; 0: nobody */
};

enum ha_verdict {
	HA_MASTER,	   /* go on: we are or become master */
	HA_STANDBY,	   /* somebody better is there: wait for its end */
	HA_AWAIT_HANDOVER, /* a lesser master rules: wait for its HANDOVER */
	HA_GIVE_WAY,	   /* we are master and met a better one: hand over to it */
	HA_INACTIVE	   /* we are NOT ACTIVE, and stay it */
};

/* What a received Set(SMInfo) leads to. */
enum ha_event {
	HA_NOTHING,
	HA_REFUSE,	  /* not allowed in this state: answer with status 0x1c */
	HA_BECOME_MASTER, /* HANDOVER accepted: sweep, as master */
	HA_BECOME_STANDBY,
	HA_REDISCOVER,
	HA_STOP /* DISABLE: not active */
};

void ha_init(struct ha *h, uint64_t guid, uint8_t priority, uint64_t sm_key);
/* Is a better than b? */
bool ha_is_better(uint8_t a_priority, uint64_t a_guid, uint8_t b_priority, uint64_t b_guid);
/* That we have in our state. */
uint8_t ha_priority(const struct ha *h);
/* NOT ACTIVE: go on to DISCOVERING; the next discovery decides. */
void ha_activate(struct ha *h);
/* After a discovery: the other SMs that answered, to a verdict and, unless
 * HA_MASTER or HA_INACTIVE, *whom it concerns (an index). */
enum ha_verdict ha_decide(
    struct ha *h, const struct ha_other *others, uint32_t n_others, uint32_t *whom);
/* May the administrator give the subnet to others[i]? */
enum ha_heir {
	HEIR_FITS,
	HEIR_NO_STANDBY, /* it is no standby, or not ours */
	HEIR_OUTRANKED,	 /* *better, which waits as well, would step in between */
	HEIR_RETURNS	 /* it would find us better, and give it back */
};
enum ha_heir ha_judge_heir(const struct ha *h, const struct ha_other *others, uint32_t n_others,
    uint32_t i, uint32_t *better);
/* The best standby of ours; where there is none, the best that is discovering and may stand by
 * since; or n_others. */
uint32_t ha_best_heir(const struct ha_other *others, uint32_t n_others);
/* We are master, and HANDOVER is on its way to `to`; ha_taken(): it has taken it. */
void ha_offer(struct ha *h, const struct ha_other *to);
void ha_taken(struct ha *h);
/* A Set(SMInfo) came from the port of `from`, as that was last read (NULL: from that of no SM
 * we know); control = attribute modifier. */
enum ha_event ha_on_set(struct ha *h, uint32_t control, const struct ha_other *from);
/* The master that we wait for has had its time: discover anew. */
void ha_give_up(struct ha *h);
/* The master is silent in another way, too: of silent_max polls only `enough` need be silent. */
void ha_doubt(struct ha *h, uint32_t enough, uint32_t silent_max);
/* Standby: the master was polled (now NULL: silence).  True: it is gone, or no
 * longer master: discover anew. */
bool ha_on_poll(struct ha *h, const struct ha_other *now, uint32_t silent_max);
/* What we show of ourselves, but for sm_key and act_count: 0. */
void ha_info(const struct ha *h, struct wire_sm_info *info);
const char *ha_state_name(uint8_t state);
const char *ha_trust_name(uint8_t trust);

#endif
