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
 * Who sent HANDOVER stays master until it is acknowledged, or the other one
 * is seen to be master.  A lesser master is never pushed aside: we wait as
 * standby for its HANDOVER (it finds us by our IsSM bit), and say so.
 *
 * An SM that shows another SM_Key than ours is foreign (IBA 14.4.5): nothing
 * is handed over to it nor taken from it, and it does not keep us from being
 * master; but while it is master we do not push it aside either.  A key of 0
 * is not told: some SMs show theirs to nobody.
 */
#ifndef CORE_HA_HA_H
#define CORE_HA_HA_H

#include <stdbool.h>
#include <stdint.h>

#include "core/mad/wire.h"

struct ha_other {
	struct wire_sm_info info;
	uint16_t lid; /* of its port, 0 = none */
	bool seen;
};

struct ha {
	uint64_t guid; /* our port GUID */
	uint64_t sm_key;
	uint8_t priority;
	uint8_t state;		 /* enum wire_sm_state */
	uint32_t act_count;	 /* goes up with every SMP we handle as master, IBA 14.2.5.13 */
	struct ha_other master;	 /* whom we wait for as standby */
	uint32_t n_silent_polls; /* of that master, in a row */
	uint32_t n_lesser_polls; /* so often a lesser master has not handed over */
	bool handed_over;	 /* HANDOVER came: master next, do not defer to the giver */
	bool awaits_ack;	 /* HANDOVER was sent to `master`: standby when it says so */
};

enum ha_verdict {
	HA_MASTER,	   /* go on: we are or become master */
	HA_STANDBY,	   /* somebody better is there: wait for its end */
	HA_AWAIT_HANDOVER, /* a lesser master rules: wait for its HANDOVER */
	HA_GIVE_WAY	   /* we are master and met a better one: hand over to it */
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

bool ha_is_foreign(const struct ha *h, const struct wire_sm_info *other);
void ha_init(struct ha *h, uint64_t guid, uint8_t priority, uint64_t sm_key);
/* Is a better than b? */
bool ha_is_better(uint8_t a_priority, uint64_t a_guid, uint8_t b_priority, uint64_t b_guid);
/* After a discovery: the other SMs that answered, to a verdict and, unless
 * HA_MASTER, *whom it concerns (an index). */
enum ha_verdict ha_decide(
    struct ha *h, const struct ha_other *others, uint32_t n_others, uint32_t *whom);
/* We are master and HANDOVER has been taken by `to`. */
void ha_handed_to(struct ha *h, const struct ha_other *to);
/* A Set(SMInfo) came: control = attribute modifier. */
enum ha_event ha_on_set(struct ha *h, uint32_t control, const struct wire_sm_info *from);
/* Standby: the master was polled (info NULL: silence).  True: it is gone, or no
 * longer master: discover anew. */
bool ha_on_poll(struct ha *h, const struct wire_sm_info *info, uint32_t silent_max);
/* What we answer to Get(SMInfo). */
void ha_info(const struct ha *h, struct wire_sm_info *info);
const char *ha_state_name(uint8_t state);

#endif
