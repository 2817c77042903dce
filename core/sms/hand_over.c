/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sms/hand_over.c - the administrator hands the subnet over (fmctl handover).
 *
 * An order waits for the next discovery, which asks all SMs anew and comes before the first Set:
 * the sweep that runs is written to its end.  One that was discovering when it was read last may
 * stand by since: what it is then decides.  Then it goes the way of each HANDOVER
 * (other_sms.c); only that the other one is to be better than we are does not count (ha.heir).
 *
 *	WAITS --HANDOVER is sent--> SENT --ACKNOWLEDGE, or it is seen to rule--> DONE
 *	WAITS, SENT --it cannot be, it is refused, its time is over--> FAILED, and we rule on
 *
 * Who would not keep the subnet is refused it.  What the other one shows as master is not known
 * before it is, so it is taken to have the same master_sm_priority as we do.
 */
#include <inttypes.h>

#include "core/sms/internal.h"

#define NAMED_AT_MOST 3 /* of those that cannot take it */

static bool
is_open(const struct sm_order *o)
{
	return o->state == ORDER_WAITS || o->state == ORDER_SENT;
}

static const char *
name_of(const struct sweeper *s, const struct ha_other *o, char *buf, size_t size)
{
	return inv_name(inv_node(&s->inv, o->node), buf, size);
}

/* Why one that is not of ours counts for nothing. */
static const char *
trust_words(const struct sweeper *s, const struct ha_other *o)
{
	switch ((enum ha_trust)o->trust) {
	case HA_OURS:
		break;
	case HA_FOREIGN:
		return "does not show that it has our sm_key";
	case HA_GIVEN_UP:
		return "has been given up, as the subnet was not made to work";
	case HA_IMPOSTOR:
		return "shows the GUID of another port";
	case HA_NOT_ALLOWED:
		return s->set.sm.ignore_others ? "is ignored by ignore_other_sm"
					       : "is not in allowed_sm_guids";
	}
	return ha_state_name(o->info.state);
}

/* What it is instead of a standby of ours. */
static void
say_why_not(const struct sweeper *s, const struct ha_other *o, char *buf, size_t size)
{
	char name[96];

	snprintf(buf, size, "%s %s%s", name_of(s, o, name, sizeof(name)),
	    o->trust == HA_OURS ? "is " : "", trust_words(s, o));
}

/* The i-th of the others. */
static int
may_take(const struct sweeper *s, uint32_t i, struct fm_error *err)
{
	const struct ha_other *all = s->sm->others.item, *o = &all[i];
	char name[96], better_name[96], why[160];
	uint32_t better = i;

	name_of(s, o, name, sizeof(name));
	switch (ha_judge_heir(s->p.ha, all, (uint32_t)s->sm->others.n, i, &better)) {
	case HEIR_FITS:
		break;
	case HEIR_NO_STANDBY:
		say_why_not(s, o, why, sizeof(why));
		return fm_fail(err, FM_E_CONFIG, "no standby of ours: %s", why);
	case HEIR_OUTRANKED:
		return fm_fail(err, FM_E_CONFIG,
		    "%s would not keep the subnet: %s is better than both of us, hand over to that",
		    name, name_of(s, &all[better], better_name, sizeof(better_name)));
	case HEIR_RETURNS:
		return fm_fail(err, FM_E_CONFIG,
		    "%s (priority %u) would hand the subnet straight back, as we are better "
		    "(priority %u, then the lower GUID): set the same master_sm_priority on both, "
		    "above both",
		    name, o->info.priority, s->p.ha->priority);
	}
	return s->p.standbys.may_have != NULL
	    ? s->p.standbys.may_have(s->p.standbys.arg, o, true, err)
	    : 0;
}

/* Nobody: who is there, and why not. */
static int
refuse_all(const struct sweeper *s, struct fm_error *err)
{
	char list[200] = "no other SM is on the subnet", why[160];
	size_t at = 0, n = s->sm->others.n;

	for (size_t i = 0; i < n && i < NAMED_AT_MOST && at < sizeof(list); i++) {
		say_why_not(s, &s->sm->others.item[i], why, sizeof(why));
		at +=
		    (size_t)snprintf(list + at, sizeof(list) - at, "%s%s", i > 0 ? "; " : "", why);
	}
	return fm_fail(err, FM_E_CONFIG, "there is no standby of ours: %s%s", list,
	    n > NAMED_AT_MOST ? "; and more" : "");
}

/* The heir, as it was last read. */
static uint32_t
find_heir(const struct sweeper *s)
{
	const struct ha_other *o = s->sm->others.item;
	uint32_t i = 0;

	while (
	    i < s->sm->others.n && (o[i].info.guid != s->p.ha->heir || o[i].trust == HA_IMPOSTOR))
		i++;
	return i;
}

static bool
is_discovering(const struct ha_other *o)
{
	return o->trust == HA_OURS && o->info.state == WIRE_SM_DISCOVERING;
}

int
sweeper_hand_over(struct sweeper *s, const struct ha_other *to, struct fm_error *err)
{
	struct sm_order *o = &s->sm->order;
	uint32_t n = (uint32_t)s->sm->others.n, i;
	char name[96];

	if (s->p.ha->state != WIRE_SM_MASTER)
		return fm_fail(err, FM_E_CONFIG, "this fmd is %s: the master hands over",
		    ha_state_name(s->p.ha->state));
	if (is_open(o))
		return fm_fail(err, FM_E_CONFIG, "a handover to %s is under way",
		    name_of(s, &o->to, name, sizeof(name)));
	i = to != NULL ? (uint32_t)(to - s->sm->others.item) : ha_best_heir(s->sm->others.item, n);
	if (i == n)
		return refuse_all(s, err);
	if (!is_discovering(&s->sm->others.item[i]) && may_take(s, i, err) != 0)
		return (int)err->kind;
	*o = (struct sm_order){
		.number = o->number + 1, .state = ORDER_WAITS, .to = s->sm->others.item[i]
	};
	s->p.ha->heir = o->to.info.guid;
	sweeper_request(s, sweeper_was_up(s) ? SWEEP_LIGHT : SWEEP_HEAVY, "handover asked for");
	return 0;
}

const struct sm_order *
sweeper_order(const struct sweeper *s)
{
	return &s->sm->order;
}

/* --------------------------------------------------------------- on its way */

static void
end_order(struct sweeper *s, enum order_state how, const char *says)
{
	s->p.ha->heir = 0;
	s->sm->order.state = how;
	snprintf(s->sm->order.says, sizeof(s->sm->order.says), "%s", says);
}

bool
order_is_for(const struct sweeper *s, const struct ha_other *o)
{
	return s->p.ha->heir != 0 && o->info.guid == s->p.ha->heir;
}

bool
order_may_go(struct sweeper *s)
{
	struct sm_order *o = &s->sm->order;
	uint32_t i = find_heir(s);
	struct fm_error err = { 0 };

	if (o->state != ORDER_WAITS) {
		end_order(s, ORDER_FAILED, "HANDOVER was not taken; we rule on");
		return false;
	}
	if (may_take(s, i, &err) != 0) {
		end_order(s, ORDER_FAILED, err.msg);
		return false;
	}
	o->state = ORDER_SENT;
	o->sent_ms = sweeper_clock_ms(s);
	return true;
}

void
order_has_no_heir(struct sweeper *s)
{
	struct fm_error err = { 0 };
	uint32_t i;

	if (!is_open(&s->sm->order))
		return;
	i = find_heir(s);
	if (i == s->sm->others.n)
		end_order(s, ORDER_FAILED, "it does not answer any more; we rule on");
	else
		end_order(s, ORDER_FAILED,
		    may_take(s, i, &err) != 0 ? err.msg : "HANDOVER was not taken; we rule on");
}

int64_t
order_due_ms(const struct sweeper *s)
{
	const struct sm_order *o = &s->sm->order;

	return o->state == ORDER_SENT ? o->sent_ms + ACK_WAIT_MS : INT64_MAX;
}

void
order_step(struct sweeper *s)
{
	struct sm_order *o = &s->sm->order;
	struct ha *h = s->p.ha;
	char says[64];

	if (!is_open(o))
		return;
	if (h->state == WIRE_SM_STANDBY && o->state == ORDER_SENT &&
	    h->master.info.guid == o->to.info.guid) {
		end_order(s, ORDER_DONE, "it has the subnet, and we stand by");
	} else if (h->state == WIRE_SM_DISCOVERING && o->state == ORDER_SENT &&
	    order_due_ms(s) > sweeper_clock_ms(s)) {
		return; /* it may have told our port that it rules before it acknowledged */
	} else if (h->state != WIRE_SM_MASTER) {
		snprintf(says, sizeof(says), "this fmd has become %s meanwhile",
		    ha_state_name(h->state));
		end_order(s, ORDER_FAILED, says);
	} else if (h->heir == 0) {
		end_order(s, ORDER_FAILED, "it has handed the subnet back");
	} else if (o->state == ORDER_SENT && h->handover == HANDOVER_NONE) {
		end_order(s, ORDER_FAILED, "it did not take our HANDOVER; we rule on");
	} else if (order_due_ms(s) <= sweeper_clock_ms(s)) {
		h->handover = HANDOVER_NONE;
		end_order(s, ORDER_FAILED, "it has not acknowledged our HANDOVER; we rule on");
		sweeper_request(s, SWEEP_HEAVY, "HANDOVER is not acknowledged");
	}
}

bool
order_gave_to(const struct sweeper *s, uint64_t guid)
{
	return s->sm->order.state == ORDER_DONE && s->sm->order.to.info.guid == guid;
}
