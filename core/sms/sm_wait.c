/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sms/sm_wait.c - as standby: is the master there, and does the subnet work by it?
 *
 * What an SM says of itself, ActCount too, proves nothing of its work.  What it has written into
 * our own port does: a master that works makes it ACTIVE and names itself there, as MasterSMLID.
 * That is read with each poll, at our own port.  An SM that we stand by for and that has not done
 * so for sm_patience is given up: no better than none.  What cannot be read, under an M_Key that we
 * do not have, is no evidence against it.
 */
#include <inttypes.h>

#include "core/events/tell.h"
#include "core/sms/internal.h"

#define LESSER_SAY_MS 60000 /* so long a lesser master has not handed over: say so */
#define SM_ASK_MS 100	    /* a poll, and its answer, while the master's log is silent */
#define SILENT_POLLS 2	    /* that are not answered are enough then */

static void
note_work(struct sweeper *s, bool works)
{
	struct ha *h = s->p.ha;
	struct sm_past *p = sm_past(s, h->master.info.guid);
	int64_t now = sweeper_clock_ms(s);

	if (p == NULL)
		return;
	if (works || p->waits_ms == SM_NEVER_MS)
		p->waits_ms = now;
	if (s->set.sm.patience_ms == 0 || now - p->waits_ms < s->set.sm.patience_ms)
		return;
	p->given_up = true;
	sm_describe(s, &h->master, s->report.other, sizeof(s->report.other));
	events_add(EVENT_SM_GIVEN_UP, FM_LOG_ERR, "ha", NULL,
	    "the SM that we stand by for has not made the subnet work for %" PRId64
	    " s: %s; it is given up and ignored (stop it, or set allowed_sm_guids)",
	    s->set.sm.patience_ms / 1000, s->report.other);
	ha_give_up(h);
	sweeper_request(s, SWEEP_HEAVY, "the SM that we stood by for is given up");
}

/* The log that is silent is that of the master that we wait for, not of one before it. */
static bool
is_doubted(const struct sweeper *s)
{
	return s->sm->silent_log_of != 0 && s->sm->silent_log_of == s->p.ha->master.info.guid;
}

/* One try, over before the next question; no sweep waits for it. */
static struct ask *
new_question(struct sweeper *s, uint32_t node, uint8_t port, struct smp_route *route)
{
	struct ask *a = node != INV_NONE ? sm_ask_beside(s, node, port, route) : NULL;

	route->wait_ms = is_doubted(s) ? SM_ASK_MS : sm_answer_ms(s);
	return a;
}

/* It may have been given its LID after we had read its port. */
static void
on_master_port(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct ha *h = s->p.ha;
	struct wire_port_info info;

	if (h->state != WIRE_SM_STANDBY || a->node != h->master.node || a->port != h->master.port ||
	    status == TXN_CANCELLED)
		return;
	if (status == TXN_OK) {
		wire_port_info_get(reply + WIRE_SMP_DATA_AT, &info);
		inv_node(&s->inv, a->node)->ports[a->port].info.lid = info.lid;
		h->master.lid = info.lid;
		sm_note(s, &h->master);
	}
	note_work(s, h->master.lid == s->sm->own_sm_lid);
}

static void
on_own_port(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	const struct ha *h = s->p.ha;
	struct wire_port_info info;
	struct smp_route route;

	if (h->state != WIRE_SM_STANDBY || status == TXN_CANCELLED)
		return;
	if (status != TXN_OK) {
		note_work(s, true);
		return;
	}
	wire_port_info_get(reply + WIRE_SMP_DATA_AT, &info);
	s->sm->own_sm_lid = info.master_sm_lid;
	if (h->master.info.state != WIRE_SM_MASTER || info.port_state != WIRE_PORT_ACTIVE ||
	    info.master_sm_lid == h->master.lid ||
	    (a = new_question(s, h->master.node, h->master.port, &route)) == NULL) {
		note_work(s,
		    h->master.info.state == WIRE_SM_MASTER && info.port_state == WIRE_PORT_ACTIVE &&
			info.master_sm_lid == h->master.lid);
		return;
	}
	ask_get(a, &route, WIRE_ATTR_PORT_INFO,
	    inv_is_switch(inv_node(&s->inv, a->node)) ? 0 : a->port, on_master_port);
}

/* --------------------------------------------------------------- polling */

/* What comes while a sweep runs counts for nothing: that asks all SMs itself. */
static bool
is_waiting(const struct sweeper *s)
{
	const struct ha *h = s->p.ha;

	return s->run.phase == PHASE_IDLE && s->set.sm.polling_timeout_ms > 0 &&
	    (h->state == WIRE_SM_STANDBY || h->handover == HANDOVER_TAKEN);
}

static void
on_poll(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct ha *h = s->p.ha;
	struct ha_other now;

	s->sm->poll_is_out = false;
	if (status == TXN_CANCELLED || !is_waiting(s) || a->node != h->master.node ||
	    a->port != h->master.port)
		return;
	if (status == TXN_OK) {
		sm_judge(a, reply, &now);
		sm_note(s, &now);
	}
	if (status != TXN_OK && is_doubted(s))
		ha_doubt(h, SILENT_POLLS, s->set.sm.polling_retries);
	if (ha_on_poll(h, status == TXN_OK ? &now : NULL, s->set.sm.polling_retries))
		sweeper_request(s, SWEEP_HEAVY,
		    status == TXN_OK ? "the master stepped down"
				     : "the master does not answer any more");
	else if (h->n_lesser_polls == 1 && order_gave_to(s, now.info.guid))
		events_add(EVENT_OTHER_SM, FM_LOG_WARN, "ha", NULL,
		    "the SM that we handed over to does not raise its priority as master and will "
		    "hand the subnet back: set its master_sm_priority");
	else if (h->n_lesser_polls == LESSER_SAY_MS / s->set.sm.polling_timeout_ms + 1)
		events_add(EVENT_OTHER_SM, FM_LOG_WARN, "ha", NULL,
		    "the master is of lower rank than we are and does not hand over: %s; still "
		    "waiting (stop it, "
		    "or lower our priority)",
		    s->report.other);
}

static int64_t
poll_due_ms(const struct sweeper *s)
{
	if (!is_waiting(s) || s->sm->poll_is_out)
		return INT64_MAX;
	if (is_doubted(s) && s->set.sm.polling_timeout_ms > SM_ASK_MS)
		return s->sm->polled_ms + SM_ASK_MS;
	return s->sm->polled_ms + s->set.sm.polling_timeout_ms;
}

void
sms_note_log(struct sweeper *s, bool is_silent)
{
	if (!is_silent)
		s->sm->silent_log_of = 0;
	else if (s->sm->silent_log_of == 0)
		s->sm->silent_log_of = s->p.ha->master.info.guid;
}

static void
poll(struct sweeper *s)
{
	const struct ha *h = s->p.ha;
	struct smp_route route;
	struct ask *a;

	s->sm->polled_ms = sweeper_clock_ms(s);
	a = new_question(s, h->master.node, h->master.port, &route);
	if (a == NULL) {
		sweeper_request(s, SWEEP_HEAVY, "the way to the master is gone");
		return;
	}
	s->sm->poll_is_out = true;
	sm_fill_question(s, a);
	ask_get(a, &route, WIRE_ATTR_SM_INFO, 0, on_poll);
	if (h->state == WIRE_SM_STANDBY)
		sm_ask_own_port(s, on_own_port);
}

int64_t
sms_due_ms(const struct sweeper *s)
{
	int64_t poll_ms = poll_due_ms(s), look_ms = own_port_due_ms(s), order_ms = order_due_ms(s);
	int64_t due_ms = poll_ms < look_ms ? poll_ms : look_ms;

	return due_ms < order_ms ? due_ms : order_ms;
}

void
sms_step(struct sweeper *s)
{
	own_port_step(s);
	order_step(s);
	if (poll_due_ms(s) <= sweeper_clock_ms(s))
		poll(s);
}
