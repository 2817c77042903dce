/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sms/other_sms.c - other SMs as discovery finds them; core/ha decides.
 *
 * After each discovery, before the first Set, every port with the IsSM bit (IBA 14.2.5.6) is asked
 * for SMInfo, and what answers is judged: is it allowed, is it who it says, has it shown that it
 * has our SM_Key?  As standby the master is polled (sm_wait.c); what others ask or command is in
 * sm_control.c.
 */
#include <inttypes.h>

#include "core/events/tell.h"
#include "core/sms/internal.h"

#define OFFER_AGAIN_MS 30000 /* ... was not: not offered again before */
#define OFFER_RULER_MS 5000  /* ... to one that rules meanwhile */

/* ------------------------------------------------------------------ who is there */

bool
sms_is_dead(const struct sweeper *s, uint32_t node, uint8_t port)
{
	const struct ha *h = s->p.ha;

	bool succeeds =
	    h->state == WIRE_SM_DISCOVERING || (h->state == WIRE_SM_MASTER && !sweeper_was_up(s));

	return succeeds && h->n_silent_polls >= s->set.sm.polling_retries &&
	    node == h->master.node && port == h->master.port;
}

/* Before we rule, one that is busy is not to be taken for none. */
static bool
is_asked_again(const struct sweeper *s, const struct ask *a)
{
	return s->p.ha->state != WIRE_SM_MASTER && a->index == 0;
}

static void
on_sm_info(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct ha_other o;
	char name[128];

	if (status == TXN_TIMEOUT && is_asked_again(s, a))
		sm_ask(s, a->node, a->port, 1, on_sm_info);
	else if (status == TXN_TIMEOUT && s->p.ha->state != WIRE_SM_MASTER)
		log_notice("ha",
		    "%s shows that it is an SM and does not answer SMInfo: not considered",
		    inv_name(inv_node(&s->inv, a->node), name, sizeof(name)));
	if (status != TXN_OK)
		return; /* the bit outlives a dying SM for a moment */
	sm_judge(a, reply, &o);
	sm_note_asked(s, &o);
}

/* The switch that we hang on obeys another, and we know of none: two rule that have not met, as
 * when what tells of ports went to one of them only. */
static void
note_ruler(struct sweeper *s, uint16_t sm_lid)
{
	char reason[64];

	for (size_t i = 0; i < s->sm->others.n; i++)
		if (s->sm->others.item[i].info.state == WIRE_SM_MASTER)
			return;
	s->rule.others = OTHERS_RULED;
	snprintf(reason, sizeof(reason), "the switch we hang on obeys LID %u", sm_lid);
	sweeper_request(s, SWEEP_HEAVY, reason);
}

/* Whom it obeys.  An SM that was given up and has written itself there works after all. */
static void
on_next_switch(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	const struct inv_port *own = &inv_node(&s->inv, s->inv.local)->ports[s->inv.local_port];
	struct wire_port_info info;

	if (status != TXN_OK)
		return;
	wire_port_info_get(reply + WIRE_SMP_DATA_AT, &info);
	if (info.master_sm_lid == 0 || own->info.lid == 0 || info.master_sm_lid == own->info.lid)
		return;
	note_ruler(s, info.master_sm_lid);
	for (size_t i = 0; i < s->sm->others.n; i++) {
		const struct ha_other *o = &s->sm->others.item[i];
		struct sm_past *p;

		if (o->trust != HA_GIVEN_UP || o->lid != info.master_sm_lid ||
		    (p = sm_past(s, o->info.guid)) == NULL)
			continue;
		log_notice("ha",
		    "the SM 0x%016" PRIx64 ", which was given up, rules: it counts again",
		    o->info.guid);
		*p = (struct sm_past){ .guid = p->guid,
			.waits_ms = SM_NEVER_MS,
			.offered_ms = SM_NEVER_MS,
			.first_offer_ms = SM_NEVER_MS,
			.set_ms = SM_NEVER_MS };
	}
}

static void
ask_next_switch(struct sweeper *s)
{
	const struct inv_port *own = &inv_node(&s->inv, s->inv.local)->ports[s->inv.local_port];
	struct ask *a;

	if (own->edge != EDGE_LINKED || !inv_is_switch(inv_node(&s->inv, own->peer)))
		return;
	a = ask_new(s, own->peer, 0);
	if (a != NULL)
		ask_get_at(a, WIRE_ATTR_PORT_INFO, 0, on_next_switch);
}

void
sms_start(struct sweeper *s)
{
	if (s->report.scope == SWEEP_LIGHT && sweeper_was_up(s) && s->inv.local != INV_NONE)
		ask_next_switch(s);
	s->sm->asked_sms.n = 0;
	for (uint32_t i = 0; i < s->inv.nodes.n; i++) {
		const struct inv_node *n = inv_node(&s->inv, i);
		unsigned last = inv_is_switch(n) ? 0 : n->n_ports;

		for (unsigned p = inv_is_switch(n) ? 0 : 1; n->present && p <= last; p++)
			if (n->ports[p].known &&
			    (n->ports[p].info.capability_mask & WIRE_CAP_IS_SM) != 0 &&
			    (i != s->inv.local || p != s->inv.local_port) &&
			    !sms_is_dead(s, i, (uint8_t)p))
				sm_ask(s, i, (uint8_t)p, 0, on_sm_info);
	}
}

/* ----------------------------------------------------------------- said once */

static void
log_sm(struct sweeper *s, const struct ha_other *o)
{
	bool rules = o->info.state == WIRE_SM_MASTER;
	uint64_t guid = inv_node(&s->inv, o->node)->ports[o->port].guid;
	char who[160];

	sm_describe(s, o, who, sizeof(who));
	switch ((enum ha_trust)o->trust) {
	case HA_OURS:
		break;
	case HA_FOREIGN:
		events_add(EVENT_OTHER_SM, rules ? FM_LOG_WARN : FM_LOG_NOTICE, "ha", NULL,
		    "an SM does not show that it has our sm_key: %s; %s", who,
		    rules ? "nothing is handed over to it nor taken from it" : "not considered");
		break;
	case HA_GIVEN_UP:
		break; /* said when it was */
	case HA_IMPOSTOR:
		events_add(EVENT_OTHER_SM, FM_LOG_WARN, "ha", NULL,
		    "an SM shows the GUID 0x%016" PRIx64 ", which is not its port's: %s; ignored",
		    o->info.guid, who);
		break;
	case HA_NOT_ALLOWED:
		events_add(EVENT_OTHER_SM, rules ? FM_LOG_ERR : FM_LOG_WARN, "ha", NULL,
		    "an SM %s (0x%016" PRIx64 "): %s; %s",
		    s->set.sm.ignore_others ? "is ignored by ignore_other_sm"
					    : "is not in allowed_sm_guids",
		    guid, who,
		    rules ? "it is not stood by for, and two rule the subnet: stop it, or allow it"
			  : "ignored");
		break;
	}
}

/* Of those who have answered: forget what is gone, and say what is new. */
static void
look_at_others(struct sweeper *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->sm->others.n; i++) {
		const struct ha_other *o = &s->sm->others.item[i];
		uint64_t guid = inv_node(&s->inv, o->node)->ports[o->port].guid;
		struct sm_past *p = sm_past(s, guid);
		uint8_t now = (uint8_t)(0x80 | o->trust | (o->info.state == WIRE_SM_MASTER) << 6);

		if (p == NULL)
			return;
		p->here = true;
		if (p->said != now)
			log_sm(s, o);
		p->said = now;
	}
	for (size_t i = 0; i < s->sm->pasts.n; i++) {
		struct sm_past *p = &s->sm->pasts.item[i];

		if (p->here)
			s->sm->pasts.item[kept++] = *p;
	}
	s->sm->pasts.n = kept;
	for (size_t i = 0; i < kept; i++)
		s->sm->pasts.item[i].here = false;
}

/* -------------------------------------------------------------- handover */

static void
on_handover(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;

	if (status == TXN_CANCELLED || s->p.ha->handover != HANDOVER_SENT)
		return; /* ACKNOWLEDGE may have come before */
	if (status == TXN_OK) {
		ha_taken(s->p.ha);
		log_info("ha", "HANDOVER is taken; waiting for ACKNOWLEDGE");
		return;
	}
	s->p.ha->handover = HANDOVER_NONE;
	log_info("ha", "the other SM did not take our HANDOVER; we rule on");
	sweeper_request(s, SWEEP_HEAVY, "the other SM did not take our HANDOVER");
}

/* Has it taken our HANDOVER, as its answer says or what it does? */
static bool
is_taken(const struct ha *h, const struct ha_other *o)
{
	return h->handover == HANDOVER_TAKEN ||
	    (h->handover == HANDOVER_SENT && o->info.state == WIRE_SM_DISCOVERING);
}

enum way_given { GIVEN, AWAITED, NOT_GIVEN };

static enum way_given
offer(struct sweeper *s, const struct ha_other *o, struct sm_past *p)
{
	p->offered_ms = sweeper_clock_ms(s);
	if (!sm_send(s, o, WIRE_SM_HANDOVER, on_handover))
		return NOT_GIVEN;
	ha_offer(s->p.ha, o);
	return GIVEN;
}

/* The administrator's heir, of whom it does not count whether it is better. */
static enum way_given
obey(struct sweeper *s, const struct ha_other *o, struct sm_past *p)
{
	enum way_given way = NOT_GIVEN;

	if (s->p.ha->handover == HANDOVER_SENT)
		return AWAITED; /* its answer is not here */
	if (order_may_go(s))
		way = offer(s, o, p);
	if (way == NOT_GIVEN)
		order_has_no_heir(s);
	return way;
}

/* We rule, and there is a better one: HANDOVER for it now, or later, or not any more? */
static enum way_given
give_way(struct sweeper *s, const struct ha_other *o)
{
	struct sm_past *p = sm_past(s, o->info.guid);
	int64_t now = sweeper_clock_ms(s), patience = s->set.sm.patience_ms;
	int64_t pause = o->info.state == WIRE_SM_MASTER ? OFFER_RULER_MS : OFFER_AGAIN_MS;

	sm_describe(s, o, s->report.other, sizeof(s->report.other));
	if (patience > 0 && patience / 4 < pause)
		pause = patience / 4;
	if (p == NULL || (is_taken(s->p.ha, o) && now - p->offered_ms < ACK_WAIT_MS))
		return AWAITED;
	if (s->p.ha->handover == HANDOVER_TAKEN)
		s->p.ha->handover = HANDOVER_NONE;
	if (order_is_for(s, o))
		return obey(s, o, p);
	if (s->p.standbys.may_have != NULL &&
	    s->p.standbys.may_have(s->p.standbys.arg, o, false, NULL) != 0)
		return NOT_GIVEN; /* the next sweep asks again */
	if (p->first_offer_ms == SM_NEVER_MS) {
		p->first_offer_ms = now;
		log_notice("ha", "a better SM is on the subnet: %s; handing over", s->report.other);
	} else if (patience > 0 && now - p->first_offer_ms >= patience) {
		p->given_up = true;
		events_add(EVENT_SM_GIVEN_UP, FM_LOG_WARN, "ha", NULL,
		    "a better SM has not taken the subnet for %" PRId64
		    " s: %s; it is given up, and we rule on (stop it, or lower its priority)",
		    patience / 1000, s->report.other);
		return NOT_GIVEN;
	} else if (now - p->offered_ms < pause) {
		return NOT_GIVEN;
	}
	return offer(s, o, p);
}

/* ------------------------------------------------------------------ decide */

/* What is to be told beside the event that the sweep ends with. */
static void
log_standby(struct sweeper *s, enum ha_verdict verdict)
{
	const struct ha_other *m = &s->p.ha->master;

	sm_describe(s, m, s->report.other, sizeof(s->report.other));
	if (verdict == HA_AWAIT_HANDOVER)
		log_notice(
		    "ha", "a lesser SM is master: %s; waiting for its handover", s->report.other);
	else if (m->trust != HA_OURS)
		events_add(EVENT_OTHER_SM, FM_LOG_WARN, "ha", NULL,
		    "the master does not show that it has our sm_key: %s; standing by, it will not "
		    "hand over to us nor we to it",
		    s->report.other);
}

/* A lesser master of ours is to hand over to us; till then it may write what it likes. */
static void
look_for_masters(struct sweeper *s)
{
	for (size_t i = 0; i < s->sm->others.n; i++) {
		const struct ha_other *o = &s->sm->others.item[i];

		if (o->trust != HA_OURS || o->info.state != WIRE_SM_MASTER)
			continue;
		s->rule.others = OTHERS_RULED;
		if (s->report.scope == SWEEP_LIGHT)
			sweeper_request(s, SWEEP_HEAVY, "another master is on the subnet");
	}
}

/* Whoever we stand by for later has all its time, whatever it has had before we ruled. */
static void
forget_waits(struct sweeper *s)
{
	for (size_t i = 0; i < s->sm->pasts.n; i++)
		s->sm->pasts.item[i].waits_ms = SM_NEVER_MS;
}

/* False: this sweep ends. */
static bool
decide(struct sweeper *s)
{
	struct ha_other *o = s->sm->others.item;
	bool ruled = s->p.ha->state == WIRE_SM_MASTER;
	enum ha_verdict verdict;
	uint32_t whom = 0;
	bool ordered;

	for (;;) {
		verdict = ha_decide(s->p.ha, o, (uint32_t)s->sm->others.n, &whom);
		if (verdict != HA_GIVE_WAY)
			break;
		ordered = order_is_for(s, &o[whom]);
		if (give_way(s, &o[whom]) != NOT_GIVEN)
			return false;
		if (!ordered)
			o[whom].trust = HA_GIVEN_UP; /* in this sweep at least */
	}
	if (verdict == HA_MASTER && !ruled && s->p.standbys.on_rule != NULL)
		s->p.standbys.on_rule(s->p.standbys.arg);
	if (verdict == HA_MASTER) {
		order_has_no_heir(s);
		forget_waits(s);
		look_for_masters(s);
		return true;
	}
	if (verdict != HA_INACTIVE) {
		log_standby(s, verdict);
		sm_wait(s);
	}
	return false;
}

bool
sms_decide(struct sweeper *s)
{
	s->sm->others.n = 0;
	for (size_t i = 0; i < s->sm->asked_sms.n; i++)
		if (!fm_vec_push(&s->sm->others, s->sm->asked_sms.item[i]))
			sweep_fail(s, FM_E_RESOURCE, "out of memory for other SMs");
	look_at_others(s);
	sms_serve_held(s);
	if (decide(s))
		return true;
	s->report.outcome = SWEEP_STANDBY;
	return false;
}

void
sms_configured(struct sweeper *s)
{
	struct ha *h = s->p.ha;

	txn_set_fence(s->p.txn, own_port_may_send, s);
	if (!sm_is_allowed(s, s->local.port_guid))
		log_warn("ha",
		    "our own port (0x%016" PRIx64
		    ") is not in allowed_sm_guids: SMs that have the same list ignore us",
		    s->local.port_guid);
	for (size_t i = 0; i < s->sm->others.n; i++) {
		struct ha_other *o = &s->sm->others.item[i];

		if (!sm_is_allowed(s, inv_node(&s->inv, o->node)->ports[o->port].guid))
			o->trust = HA_NOT_ALLOWED; /* at once; the other way with the next sweep */
	}
	if ((h->state == WIRE_SM_STANDBY || h->handover == HANDOVER_TAKEN) &&
	    !sm_is_allowed(s, h->master.info.guid))
		ha_give_up(h);
}
