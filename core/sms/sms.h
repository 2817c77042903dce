/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sms/sms.h - other subnet managers: who they are, who rules, what they ask and command.
 */
#ifndef CORE_SMS_SMS_H
#define CORE_SMS_SMS_H

#include "core/ask/ask.h"
#include "core/ha/ha.h"

struct sweeper;

/* When the master is to be polled next, or our own port to be read, by the clock of the transport
 * in ms; INT64_MAX: neither, or they are out. */
int64_t sms_due_ms(const struct sweeper *s);
/* Does what is due. */
void sms_step(struct sweeper *s);
/* The loop comes by, before it sends anything.  A master that stood still for longer than a standby
 * waits asks who rules, and holds all else till that is known. */
void sms_awake(struct sweeper *s);
/* When that was called last, by the clock of the transport. */
int64_t sms_awake_ms(const struct sweeper *s);
/* Another may rule, as somebody says; why begins the sentence that is logged.  As master we ask as
 * after a standstill. */
void sms_doubt(struct sweeper *s, const char *why);
/* That the loop stood still, or what our own port says, leaves it open whether we still rule. */
bool sms_doubts(const struct sweeper *s);
/* Standbys have our log, by which they see within half a second that we are gone.  Call
 * sms_awake() each LINK_ALIVE_MS then. */
void sms_gives_log(struct sweeper *s, bool gives);
/* The master's log (core/standby/link.h) is silent, or has closed, or goes on.  While it is silent
 * two polls that are not answered are enough, and there is one each 100 ms. */
void sms_note_log(struct sweeper *s, bool is_silent);
/* As it was last read. */
bool sms_has_link(const struct sweeper *s);
/* It has come up anew since it was last read: everything is read and asked again. */
void sms_was_cut_off(struct sweeper *s);
/* A sweep has ended as it has none: we rule nobody. */
void sms_no_link(struct sweeper *s);
/* Other SMs that the last discovery met: how many, and the i-th. */
uint32_t sweeper_n_other_sms(const struct sweeper *s);
const struct ha_other *sweeper_other_sm(const struct sweeper *s, uint32_t i);
/* SMInfo of ourselves, with the SM_Key. */
void sweeper_own_sm(const struct sweeper *s, struct wire_sm_info *info);
/* The administrator hands the subnet over, in the next sweep, to that one of the other SMs, NULL:
 * to the best standby.  FM_E_CONFIG: why that cannot be; what becomes of it is in
 * sweeper_order(). */
int sweeper_hand_over(struct sweeper *s, const struct ha_other *to, struct fm_error *err);
enum order_state { ORDER_NONE, ORDER_WAITS, ORDER_SENT, ORDER_DONE, ORDER_FAILED };
struct sm_order {
	struct ha_other to; /* as it was when it was asked for */
	int64_t sent_ms;
	uint32_t number; /* since the start; 0: none was asked for */
	uint8_t state;	 /* enum order_state */
	char says[256];	 /* how it has ended */
};
/* Of the last that was asked for. */
const struct sm_order *sweeper_order(const struct sweeper *s);
/* SMInfo that came in: answers, Sets that were refused, and of these unanswered. */
struct sm_counts {
	uint64_t answered, refused, dropped;
};
const struct sm_counts *sweeper_sm_counts(const struct sweeper *s);

/* Its part of the sweeper.  False: no memory. */
bool sms_new(struct sweeper *s);
void sms_free(struct sweeper *s);
/* The settings are there, or have changed. */
void sms_configured(struct sweeper *s);
/* The master that we have stood by for, and that has left so many polls unanswered, is at this
 * port: nothing waits for it before we rule. */
bool sms_is_dead(const struct sweeper *s, uint32_t node, uint8_t port);
/* The master that we stood by for is gone, and all that it had is here: the SMs that are known and
 * our own port are asked, before anything is discovered.  False: it is not so. */
bool sms_ask_before_rule(struct sweeper *s);
/* What they have answered: do we rule from now on?  Else it is to be discovered who does. */
bool sms_rule_at_once(struct sweeper *s);
/* Every SM that discovery has found is asked. */
void sms_start(struct sweeper *s);
/* What the answers mean; false: this sweep ends here (outcome is set). */
bool sms_decide(struct sweeper *s);
/* Those that have asked meanwhile are answered. */
void sms_serve_held(struct sweeper *s);
/* SMInfo that answers no question of ours. */
void sms_on_mad(struct sweeper *s, const struct mad *m, const struct wire_header *h);

#endif
