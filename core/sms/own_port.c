/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sms/own_port.c - our own port: has it a link, and whom does it obey?
 *
 * It is read again and again, sweep or no sweep, since nobody else can tell us of it:
 *
 *	no link		we rule nobody, and nobody hears us: not master any more, at once
 *	a link again	what there is now is discovered anew; another SM may have ruled meanwhile,
 *			and be gone without a trace in any port, so tables are read, too
 *	it names	another SM has written itself there while we ruled: it may have taken
 *	another SM	the subnet when we did not run, and no clock of ours tells (a machine
 *			that was paused), so we discover anew, and do not rule till then
 *
 * A loop that has stood still for longer than a standby waits does not know whether it rules, nor
 * does one that hears from a standby of a later master (sms_doubt()).  Before anything else is sent
 * our port is read and all SMs that we know are asked; what was to be sent leaves when nobody has
 * taken the subnet, else it is thrown away.
 */
#include <inttypes.h>

#include "core/events/tell.h"
#include "core/sms/internal.h"

#define LOG_STILL_MS 250 /* a log that is silent for so long, and two polls, are our death */

bool
sms_has_link(const struct sweeper *s)
{
	const struct inv_node *n;

	if (s->inv.local == INV_NONE)
		return false;
	n = inv_node(&s->inv, s->inv.local);
	return inv_is_switch(n) || inv_port_up(&n->ports[s->inv.local_port]);
}

void
sms_no_link(struct sweeper *s)
{
	if (s->p.ha->state == WIRE_SM_MASTER)
		log_beside(FM_LOG_WARN, "ha", "our port has no link: we are master no more");
	if (s->p.ha->state != WIRE_SM_NOT_ACTIVE)
		ha_give_up(s->p.ha);
}

void
sms_was_cut_off(struct sweeper *s)
{
	if (s->p.ha->state != WIRE_SM_MASTER || !sweeper_was_up(s))
		return;
	if (s->rule.others == OTHERS_NOT_THERE)
		s->rule.others = OTHERS_PERHAPS;
	sweeper_request(s, SWEEP_HEAVY, "our port has had no link: another SM may have ruled");
}

/* What is under way was meant for a subnet that we ruled. */
static void
discover_anew(struct sweeper *s)
{
	const char *why = s->sm->anew;

	s->sm->anew = NULL;
	if (s->p.ha->state == WIRE_SM_NOT_ACTIVE)
		return;
	log_notice("ha", "%s; discovering anew", why);
	ha_give_up(s->p.ha);
	s->rule.others = OTHERS_RULED;
	if (s->run.phase != PHASE_IDLE) {
		sweep_fail(s, FM_E_SYSTEM, why);
		txn_cancel(s->p.txn);
	}
	sweeper_request(s, SWEEP_HEAVY, why);
}

/* --------------------------------------------------------------- our own port */

/* Does our port, by this, obey another than us, who have brought the subnet up? */
static bool
obeys_another(const struct sweeper *s, const struct wire_port_info *info)
{
	return s->p.ha->state == WIRE_SM_MASTER && sweeper_was_up(s) && info->lid != 0 &&
	    info->master_sm_lid != 0 && info->master_sm_lid != info->lid;
}

static void
judge_own_port(struct sweeper *s, const struct wire_port_info *info)
{
	uint8_t state = s->p.ha->state;

	if (info->port_state < WIRE_PORT_INIT) {
		if (state != WIRE_SM_MASTER && state != WIRE_SM_STANDBY)
			return;
		s->sm->anew = "our port has lost its link";
		inv_node(&s->inv, s->inv.local)->ports[s->inv.local_port].info = *info;
		inv_unlink(&s->inv, s->inv.local, s->inv.local_port, EDGE_NONE);
	} else if (s->run.phase != PHASE_IDLE) {
		return; /* the sweep reads it, and may be writing it */
	} else if (!sms_has_link(s)) {
		sweeper_request(s, SWEEP_HEAVY, "our port has a link");
	} else if (obeys_another(s, info)) {
		s->sm->anew = "our port obeys another SM";
	}
}

static void
on_look(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct wire_port_info info;

	s->sm->look_is_out = false;
	if (status != TXN_OK)
		return;
	wire_port_info_get(reply + WIRE_SMP_DATA_AT, &info);
	judge_own_port(s, &info);
}

int64_t
own_port_due_ms(const struct sweeper *s)
{
	if (s->set.own_port_ms == 0 || s->sm->look_is_out || s->inv.local == INV_NONE ||
	    s->p.ha->state == WIRE_SM_NOT_ACTIVE || inv_is_switch(inv_node(&s->inv, s->inv.local)))
		return INT64_MAX;
	return s->sm->looked_ms + s->set.own_port_ms;
}

void
own_port_step(struct sweeper *s)
{
	if (s->sm->n_doubts > 0)
		return;
	if (s->sm->anew != NULL)
		discover_anew(s);
	if (s->sm->doubts) {
		s->sm->doubts = false;
		txn_hold(s->p.txn, false);
		if (s->run.phase == PHASE_IDLE && s->run.wanted == SWEEP_NONE)
			sms_serve_held(s); /* else the discovery does */
	}
	if (own_port_due_ms(s) > sweeper_clock_ms(s))
		return;
	s->sm->looked_ms = sweeper_clock_ms(s);
	s->sm->look_is_out = sm_ask_own_port(s, on_look);
}

/* ------------------------------------------------------------- we stood still */

static void
on_port_in_doubt(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct wire_port_info info;

	s->sm->n_doubts--;
	if (status != TXN_OK)
		return;
	wire_port_info_get(reply + WIRE_SMP_DATA_AT, &info);
	if (obeys_another(s, &info))
		s->sm->anew = "our port obeys another SM meanwhile";
}

static void
on_sm_in_doubt(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct ha_other o;

	s->sm->n_doubts--;
	if (status != TXN_OK)
		return;
	sm_judge(a, reply, &o);
	sm_note(s, &o);
	if (o.info.state == WIRE_SM_MASTER && (o.trust == HA_OURS || o.trust == HA_FOREIGN))
		s->sm->anew = "another SM rules meanwhile";
}

static void
ask_all_in_doubt(struct sweeper *s)
{
	struct smp_route route;
	struct ask *a;

	s->sm->n_doubts += sm_ask_own_port(s, on_port_in_doubt);
	for (size_t i = 0; i < s->sm->others.n; i++) {
		const struct ha_other *o = &s->sm->others.item[i];

		a = sm_ask_beside(s, o->node, o->port, &route);
		if (a == NULL)
			continue;
		s->sm->n_doubts++;
		route.wait_ms = sm_answer_ms(s);
		sm_fill_question(s, a);
		ask_get(a, &route, WIRE_ATTR_SM_INFO, 0, on_sm_in_doubt);
	}
}

int64_t
sms_awake_ms(const struct sweeper *s)
{
	return s->sm->turn_ms;
}

static void
doubt(struct sweeper *s)
{
	s->sm->doubts = true;
	txn_hold(s->p.txn, true);
	ask_all_in_doubt(s);
}

/* What is out already may have been answered before that was so: all are asked once more. */
void
sms_doubt(struct sweeper *s, const char *why)
{
	if (s->p.ha->state != WIRE_SM_MASTER)
		return;
	events_add(EVENT_RULE_DOUBTED, FM_LOG_WARN, "ha", NULL,
	    "%s: nothing is sent before it is known who rules", why);
	doubt(s);
}

bool
sms_doubts(const struct sweeper *s)
{
	return s->sm->doubts || s->sm->anew != NULL;
}

void
sms_gives_log(struct sweeper *s, bool gives)
{
	s->sm->gives_log = gives;
}

/* For so long at least a standby waits before it takes over. */
static int64_t
standby_waits_ms(const struct sweeper *s)
{
	int64_t polls_ms = s->set.sm.polling_timeout_ms * s->set.sm.polling_retries;

	if (s->sm->gives_log)
		return LOG_STILL_MS;
	return polls_ms > 2 * s->set.own_port_ms ? polls_ms : 2 * s->set.own_port_ms + 1;
}

/* A standby may have taken over since the loop came by. */
static bool
stood_still(const struct sweeper *s, int64_t now_ms)
{
	return s->sm->turn_ms != 0 && !s->sm->doubts && s->p.ha->state == WIRE_SM_MASTER &&
	    s->set.own_port_ms != 0 && now_ms - s->sm->turn_ms >= standby_waits_ms(s);
}

bool
own_port_may_send(void *arg)
{
	struct sweeper *s = arg;

	s->sm->stood_still = stood_still(s, sweeper_clock_ms(s));
	return !s->sm->stood_still;
}

void
sms_awake(struct sweeper *s)
{
	int64_t now = sweeper_clock_ms(s), still_ms = now - s->sm->turn_ms;
	bool doubts = s->sm->stood_still || stood_still(s, now);

	s->sm->turn_ms = now;
	s->sm->stood_still = false;
	if (!doubts)
		return;
	events_add(s->sm->gives_log ? EVENT_NONE : EVENT_RULE_DOUBTED,
	    s->sm->gives_log ? FM_LOG_INFO : FM_LOG_WARN, "ha", NULL,
	    "fmd stood still for %" PRId64
	    " ms, in which a standby may have taken over: nothing is sent before that is known",
	    still_ms);
	doubt(s);
}
