/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sms/internal.h - what the files about other SMs share.  Each calls only those above it:
 *
 *	sms.c		asking, judging, showing, remembering one
 *	hand_over.c	the administrator hands the subnet over
 *	own_port.c	has our port a link, and do we still rule?
 *	sm_wait.c	we stand by for the master
 *	sm_ask_back.c	who is it that asks?
 *	sm_control.c	what they ask and command
 *	other_sms.c	those that discovery finds; who rules
 *	take_over.c	we rule before anything is discovered
 */
#ifndef CORE_SMS_INTERNAL_H
#define CORE_SMS_INTERNAL_H

#include "core/sms/sms.h"
#include "core/ask/sweeper.h"

#define ACK_WAIT_MS 10000 /* HANDOVER is taken: its ACKNOWLEDGE comes within that */

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

/* SMInfo that waits: a Get while its sender is asked (sm_ask_back.c), what came from where nobody
 * is known while that is being found out. */
#define SM_GUESTS 8
struct sm_guest {
	struct mad mad;
	uint32_t node;
	uint8_t port;
	bool used, waits;
	bool answered; /* nothing waits for what is said */
	int64_t asked_ms;
};

struct sm_list { /* as FM_VEC() */
	struct ha_other *item;
	size_t n, room;
};

/* Other SMs. */
struct sweep_sms {
	struct sm_list others;	  /* SMs, as of the last discovery and polls since */
	struct sm_list asked_sms; /* ... that have answered since the last began to ask */
	FM_VEC(struct sm_past) pasts;
	uint16_t own_sm_lid; /* MasterSMLID of our port, as standby */
	int64_t polled_ms;   /* the master was polled last, or found; 0: never */
	bool poll_is_out;    /* ... and no answer has come, nor is its time over */
	bool gives_log;	     /* standbys have ours, and see within LOG_STILL_MS that we are gone */
	/* The master whose log, its second voice (core/standby/link.h), is silent; 0: none */
	uint64_t silent_log_of;
	int64_t looked_ms; /* our own port was read last, in own_port.c */
	bool look_is_out;
	int64_t turn_ms;   /* the loop came by last; 0: never */
	bool stood_still;  /* ... and for too long after that: nothing is sent till it is back */
	bool doubts;	   /* do we still rule?  Nothing is sent till that is known ... */
	uint32_t n_doubts; /* ... by so many answers */
	/* take_over.c: the LID of our port, which is ACTIVE; 0: it is not.  How many were asked. */
	uint16_t rules_by;
	uint32_t n_to_answer;
	const char *anew;    /* why we do not, and discover anew with the next step; NULL */
	int64_t stranger_ms; /* the last refusal to a stranger */
	struct sm_guest guests[SM_GUESTS];
	bool serves_early; /* those that were held */
	struct sm_order order;
	struct sm_counts counts;
};

/* sms.c */
bool sm_is_allowed(const struct sweeper *s, uint64_t guid);
/* What we show of ourselves to an SM (NULL: to a stranger); the SM_Key only to one that has shown
 * the same. */
void sm_show(const struct sweeper *s, const struct ha_other *to, struct wire_sm_info *info);
/* Of the SM at a port with that GUID; NULL: memory is out, and the sweep has failed.  Good until
 * the next call. */
struct sm_past *sm_past(struct sweeper *s, uint64_t guid);
/* A question to a port for which no sweep waits, and the way there.  NULL: no route leads to it, or
 * memory is out. */
struct ask *sm_ask_beside(struct sweeper *s, uint32_t node, uint8_t port, struct smp_route *route);
/* Get(SMInfo) to a port, which has been asked n_asked times; false: no route leads to it. */
bool sm_ask(struct sweeper *s, uint32_t node, uint8_t port, uint32_t n_asked, ask_done done);
/* The data of a Get(SMInfo). */
void sm_fill_question(const struct sweeper *s, struct ask *a);
/* What the answer to one says. */
void sm_judge(struct ask *a, const uint8_t *reply, struct ha_other *o);
/* What one has answered that discovery asked. */
void sm_note_asked(struct sweeper *s, const struct ha_other *now);
/* What has been read anew of an SM. */
void sm_note(struct sweeper *s, const struct ha_other *now);
/* Set(SMInfo); done may be NULL.  False: no route leads to it. */
bool sm_send(struct sweeper *s, const struct ha_other *to, uint32_t control, ask_done done);
/* The answer to SMInfo that came in from an SM (NULL: a stranger). */
void sm_answer(struct sweeper *s, const struct mad *m, const struct wire_header *h,
    const struct ha_other *from, uint16_t status);
void sm_describe(struct sweeper *s, const struct ha_other *o, char *buf, size_t size);
/* PortInfo of our own port, for which no sweep waits; false: nothing is known of it. */
bool sm_ask_own_port(struct sweeper *s, ask_done done);
/* How long an answer to a question beside sweeps may take. */
uint32_t sm_answer_ms(const struct sweeper *s);
/* We are standby from now on, or still, for ha.master. */
void sm_wait(struct sweeper *s);
/* hand_over.c: is the administrator's order, which is open, for that one? */
bool order_is_for(const struct sweeper *s, const struct ha_other *o);
/* HANDOVER is sent to it now; false: it is not to be, and the order is over. */
bool order_may_go(struct sweeper *s);
/* We rule on after a discovery: the order, if there is one, is over. */
void order_has_no_heir(struct sweeper *s);
/* The subnet is its by an order. */
bool order_gave_to(const struct sweeper *s, uint64_t guid);
/* As sms_due_ms() and sms_step(). */
int64_t order_due_ms(const struct sweeper *s);
void order_step(struct sweeper *s);
/* own_port.c: as of txn_set_fence(): false: we stood still inside a turn of the loop, and the next
 * turn finds out whether we still rule. */
bool own_port_may_send(void *arg);
/* As sms_due_ms() and sms_step() */
int64_t own_port_due_ms(const struct sweeper *s);
void own_port_step(struct sweeper *s);
/* sm_ask_back.c: is who is there being found out, or about to be? */
bool sm_will_look(const struct sweeper *s);
/* SMInfo that comes meanwhile waits till that is done; false: there is no room. */
bool sm_hold(struct sweeper *s, const struct mad *m);
/* True: the Get will be answered when we know who asks */
bool sm_ask_back(
    struct sweeper *s, const struct mad *m, uint32_t node, uint8_t port, bool answered);

#endif
