/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sms/other_sms.c - other SMs as discovery finds them; core/ha decides.
 *
 * After each discovery, before the first Set, every port with the IsSM bit (IBA 14.2.5.6) is asked
 * for SMInfo, and what answers is judged: is it allowed, is it who it says, has it shown that it
 * has our SM_Key?  As standby the master is polled (sm_wait.c); what others ask or command is in
 * sm_control.c.
 *
 * The SM_Key leaves us only for an SM that has shown it to us, as it is, at its own port.  Two fmd
 * show each other that they have it by a sum (core/wire/sm_proof.h) and do not tell it at all.
 * OpenSM shows its key to everybody, or, once, to a Get whose data says that a master asks
 * (osm_sminfo_rcv.c), so ours say that.
 */
#include <inttypes.h>
#include <sys/random.h>

#include "core/sms/internal.h"
#include "core/wire/sm_proof.h"

#define ACK_WAIT_MS 10000    /* HANDOVER is taken: its ACKNOWLEDGE comes within that */
#define OFFER_AGAIN_MS 30000 /* ... was not: not offered again before */

bool
sms_new(struct sweeper *s)
{
	s->sm = fm_arena_alloc(&s->mem, sizeof(*s->sm));
	if (s->sm != NULL)
		s->sm->stranger_ms = SM_NEVER_MS;
	return s->sm != NULL;
}

void
sms_free(struct sweeper *s)
{
	if (s->sm == NULL)
		return;
	fm_vec_fini(&s->sm->others);
	fm_vec_fini(&s->sm->asked_sms);
	fm_vec_fini(&s->sm->pasts);
}

/* ---------------------------------------------------------------- ourselves */

static bool
shows_our_key(const struct sweeper *s, const struct ha_other *o)
{
	return o != NULL && o->trust == HA_OURS && o->info.sm_key == s->p.ha->sm_key;
}

void
sm_show(const struct sweeper *s, const struct ha_other *to, struct wire_sm_info *info)
{
	ha_info(s->p.ha, info);
	info->act_count = (uint32_t)(txn_counts(s->p.txn)->sent + s->sm->counts.answered);
	if (shows_our_key(s, to))
		info->sm_key = s->p.ha->sm_key;
}

void
sweeper_own_sm(const struct sweeper *s, struct wire_sm_info *info)
{
	sm_show(s, NULL, info);
	info->sm_key = s->p.ha->sm_key;
}

/* -------------------------------------------------------------- what they are */

struct sm_past *
sm_past(struct sweeper *s, uint64_t guid)
{
	struct sm_past fresh = { .guid = guid,
		.waits_ms = SM_NEVER_MS,
		.offered_ms = SM_NEVER_MS,
		.first_offer_ms = SM_NEVER_MS,
		.set_ms = SM_NEVER_MS };

	for (size_t i = 0; i < s->sm->pasts.n; i++)
		if (s->sm->pasts.item[i].guid == guid)
			return &s->sm->pasts.item[i];
	if (!fm_vec_push(&s->sm->pasts, fresh)) {
		sweep_fail(s, FM_E_RESOURCE, "out of memory for other SMs");
		return NULL;
	}
	return &s->sm->pasts.item[s->sm->pasts.n - 1];
}

static bool
is_allowed(const struct sweeper *s, uint64_t guid)
{
	for (uint32_t i = 0; i < s->set.n_allowed_sms; i++)
		if (s->set.allowed_sms[i] == guid)
			return true;
	return s->set.n_allowed_sms == 0;
}

static enum ha_trust
trust_in(struct sweeper *s, const struct ask *a, const struct ha_other *o, const uint8_t *data)
{
	const struct ha *h = s->p.ha;
	uint64_t port_guid = inv_node(&s->inv, a->node)->ports[a->port].guid;

	if (!is_allowed(s, port_guid))
		return HA_NOT_ALLOWED;
	if (o->info.guid != port_guid)
		return HA_IMPOSTOR;
	for (size_t i = 0; i < s->sm->pasts.n; i++)
		if (s->sm->pasts.item[i].guid == port_guid && s->sm->pasts.item[i].given_up)
			return HA_GIVEN_UP;
	if (o->info.sm_key == h->sm_key || proof_holds(data, a->data, h->sm_key))
		return HA_OURS;
	return HA_FOREIGN;
}

void
sm_judge(struct ask *a, const uint8_t *reply, struct ha_other *o)
{
	struct sweeper *s = a->s;
	const uint8_t *data = reply + WIRE_SMP_DATA_AT;

	*o = (struct ha_other){ .node = a->node, .port = a->port };
	wire_sm_info_get(data, &o->info);
	o->lid = inv_node(&s->inv, a->node)->ports[a->port].info.lid;
	o->trust = (uint8_t)trust_in(s, a, o, data);
}

void
sm_fill_question(const struct sweeper *s, struct ask *a)
{
	struct wire_sm_info info;
	uint64_t number;

	sm_show(s, NULL, &info);
	info.state = WIRE_SM_MASTER; /* which is what we would be if nobody answered */
	wire_sm_info_put(a->data, &info);
	if (getrandom(&number, sizeof(number), 0) == sizeof(number))
		proof_ask(a->data, number);
}

/* Who does not answer is an SM that is busy, or dead, and no silent node: SMInfo is not asked of
 * the node's agent, as all else is. */
static bool
ask_sm(struct sweeper *s, uint32_t node, uint8_t port, uint32_t n_asked, ask_done done)
{
	struct ask *a = ask_new(s, node, port);
	struct smp_route route;

	if (a == NULL)
		return true; /* the sweep has failed */
	if (inv_node(&s->inv, node)->quiet || !inv_route(&s->inv, node, port, &route)) {
		ask_drop(a);
		return false;
	}
	a->index = n_asked;
	sm_fill_question(s, a);
	ask_get(a, &route, WIRE_ATTR_SM_INFO, 0, done);
	return true;
}

bool
sm_ask(struct sweeper *s, uint32_t node, uint8_t port, ask_done done)
{
	return ask_sm(s, node, port, 0, done);
}

/* Before we rule, one that is busy is not to be taken for none; not when it is the master that we
 * have stood by for, and that did not answer its polls. */
static bool
is_asked_again(const struct sweeper *s, const struct ask *a)
{
	const struct ha *h = s->p.ha;
	bool polled = h->n_silent_polls >= s->set.silent_polls_max && a->node == h->master.node &&
	    a->port == h->master.port;

	return h->state != WIRE_SM_MASTER && a->index == 0 && !polled;
}

static void
on_sm_info(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct ha_other o;
	char name[128];

	if (status == TXN_TIMEOUT && is_asked_again(s, a))
		ask_sm(s, a->node, a->port, 1, on_sm_info);
	else if (status == TXN_TIMEOUT && s->p.ha->state != WIRE_SM_MASTER)
		log_notice("ha",
		    "%s shows that it is an SM and does not answer SMInfo: not considered",
		    inv_name(inv_node(&s->inv, a->node), name, sizeof(name)));
	if (status != TXN_OK)
		return; /* the bit outlives a dying SM for a moment */
	sm_judge(a, reply, &o);
	if (!fm_vec_push(&s->sm->asked_sms, o))
		sweep_fail(s, FM_E_RESOURCE, "out of memory for other SMs");
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
	s->rule.others_wrote = true;
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
other_sms_start(struct sweeper *s)
{
	if (s->report.scope == SWEEP_LIGHT && s->rule.was_up && s->inv.local != INV_NONE)
		ask_next_switch(s);
	s->sm->asked_sms.n = 0;
	for (uint32_t i = 0; i < s->inv.nodes.n; i++) {
		const struct inv_node *n = inv_node(&s->inv, i);
		unsigned last = inv_is_switch(n) ? 0 : n->n_ports;

		for (unsigned p = inv_is_switch(n) ? 0 : 1; n->present && p <= last; p++)
			if (n->ports[p].known &&
			    (n->ports[p].info.capability_mask & WIRE_CAP_IS_SM) != 0 &&
			    (i != s->inv.local || p != s->inv.local_port))
				sm_ask(s, i, (uint8_t)p, on_sm_info);
	}
}

/* ----------------------------------------------------------------- said once */

void
sm_describe(struct sweeper *s, const struct ha_other *o, char *buf, size_t size)
{
	char name[96];

	snprintf(buf, size, "%s, LID %u, priority %u, %s",
	    inv_name(inv_node(&s->inv, o->node), name, sizeof(name)), o->lid, o->info.priority,
	    ha_state_name(o->info.state));
}

static void
say_what_it_is(struct sweeper *s, const struct ha_other *o)
{
	bool rules = o->info.state == WIRE_SM_MASTER;
	uint64_t guid = inv_node(&s->inv, o->node)->ports[o->port].guid;
	char who[160];

	sm_describe(s, o, who, sizeof(who));
	switch ((enum ha_trust)o->trust) {
	case HA_OURS:
		break;
	case HA_FOREIGN:
		fm_log(rules ? FM_LOG_WARN : FM_LOG_NOTICE, "ha",
		    "an SM does not show that it has our sm_key: %s; %s", who,
		    rules ? "nothing is handed over to it nor taken from it" : "not considered");
		break;
	case HA_GIVEN_UP:
		break; /* said when it was */
	case HA_IMPOSTOR:
		log_warn("ha",
		    "an SM shows the GUID 0x%016" PRIx64 ", which is not its port's: %s; ignored",
		    o->info.guid, who);
		break;
	case HA_NOT_ALLOWED:
		fm_log(rules ? FM_LOG_ERR : FM_LOG_WARN, "ha",
		    "an SM is not in allowed_sm_guids (0x%016" PRIx64 "): %s; %s", guid, who,
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
			say_what_it_is(s, o);
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
on_done(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	(void)a;
	(void)status;
	(void)reply;
}

/* Always directed: the way that it came by tells the other one from where. */
bool
sm_send(struct sweeper *s, const struct ha_other *to, uint32_t control, ask_done done)
{
	uint8_t data[WIRE_SMP_DATA_BYTES] = { 0 };
	struct ask *a = ask_new(s, to->node, to->port);
	struct wire_sm_info info;
	struct smp_route route;

	if (a == NULL)
		return false;
	if (!inv_route(&s->inv, to->node, to->port, &route)) {
		ask_drop(a);
		return false;
	}
	sm_show(s, to, &info);
	if (control == WIRE_SM_ACKNOWLEDGE)
		info.state = WIRE_SM_STANDBY; /* which it comes from, IBA 14.4.1 */
	wire_sm_info_put(data, &info);
	ask_set(a, &route, WIRE_ATTR_SM_INFO, control, data, done != NULL ? done : on_done);
	return true;
}

static void
on_handover(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;

	if (status == TXN_CANCELLED)
		return;
	if (status == TXN_OK) {
		ha_handed_to(s->p.ha, &s->sm->heir);
		log_info("ha", "HANDOVER is taken; waiting for ACKNOWLEDGE");
		return;
	}
	log_info("ha", "the better SM did not take our HANDOVER; we rule on");
	sweeper_request(s, SWEEP_HEAVY, "the better SM did not take our HANDOVER");
}

enum way_given { GIVEN, AWAITED, NOT_GIVEN };

/* We rule, and there is a better one: HANDOVER for it now, or later, or not any more? */
static enum way_given
give_way(struct sweeper *s, const struct ha_other *o)
{
	struct sm_past *p = sm_past(s, o->info.guid);
	int64_t now = sweeper_clock_ms(s), patience = s->set.sm_patience_ms;
	int64_t pause =
	    patience > 0 && patience / 4 < OFFER_AGAIN_MS ? patience / 4 : OFFER_AGAIN_MS;

	sm_describe(s, o, s->report.other, sizeof(s->report.other));
	if (p == NULL || (s->p.ha->awaits_ack && now - p->offered_ms < ACK_WAIT_MS))
		return AWAITED;
	s->p.ha->awaits_ack = false;
	if (p->first_offer_ms == SM_NEVER_MS) {
		p->first_offer_ms = now;
		log_notice("ha", "a better SM is on the subnet: %s; handing over", s->report.other);
	} else if (patience > 0 && now - p->first_offer_ms >= patience) {
		p->given_up = true;
		log_warn("ha",
		    "a better SM has not taken the subnet for %" PRId64
		    " s: %s; it is given up, and we rule on (stop it, or lower its priority)",
		    patience / 1000, s->report.other);
		return NOT_GIVEN;
	} else if (now - p->offered_ms < pause) {
		return NOT_GIVEN;
	}
	p->offered_ms = now;
	s->sm->heir = *o;
	return sm_send(s, o, WIRE_SM_HANDOVER, on_handover) ? GIVEN : NOT_GIVEN;
}

/* ------------------------------------------------------------------ decide */

static void
say_standby(struct sweeper *s, enum ha_verdict verdict)
{
	const struct ha_other *m = &s->p.ha->master;

	sm_describe(s, m, s->report.other, sizeof(s->report.other));
	if (verdict == HA_AWAIT_HANDOVER)
		log_notice(
		    "ha", "a lesser SM is master: %s; waiting for its handover", s->report.other);
	else if (m->trust != HA_OURS)
		log_warn("ha",
		    "the master does not show that it has our sm_key: %s; standing by, it will not "
		    "hand over to us nor we to it",
		    s->report.other);
	else
		log_notice(
		    "ha", "another SM is or will be master: %s; standing by", s->report.other);
}

/* A lesser master of ours is to hand over to us; till then it may write what it likes. */
static void
look_for_masters(struct sweeper *s)
{
	for (size_t i = 0; i < s->sm->others.n; i++) {
		const struct ha_other *o = &s->sm->others.item[i];

		if (o->trust != HA_OURS || o->info.state != WIRE_SM_MASTER)
			continue;
		s->rule.others_wrote = true;
		if (s->report.scope == SWEEP_LIGHT)
			sweeper_request(s, SWEEP_HEAVY, "another master is on the subnet");
	}
}

/* False: this sweep ends. */
static bool
decide(struct sweeper *s)
{
	struct ha_other *o = s->sm->others.item;
	enum ha_verdict verdict;
	uint32_t whom = 0;

	for (;;) {
		verdict = ha_decide(s->p.ha, o, (uint32_t)s->sm->others.n, &whom);
		if (verdict != HA_GIVE_WAY)
			break;
		if (give_way(s, &o[whom]) != NOT_GIVEN)
			return false;
		o[whom].trust = HA_GIVEN_UP; /* in this sweep at least */
	}
	if (verdict == HA_MASTER) {
		look_for_masters(s);
		return true;
	}
	say_standby(s, verdict);
	sm_wait(s);
	return false;
}

bool
other_sms_decide(struct sweeper *s)
{
	s->sm->others.n = 0;
	for (size_t i = 0; i < s->sm->asked_sms.n; i++)
		if (!fm_vec_push(&s->sm->others, s->sm->asked_sms.item[i]))
			sweep_fail(s, FM_E_RESOURCE, "out of memory for other SMs");
	look_at_others(s);
	sm_serve_held(s);
	if (decide(s))
		return true;
	s->report.outcome = SWEEP_STANDBY;
	return false;
}

void
other_sms_configured(struct sweeper *s)
{
	struct ha *h = s->p.ha;

	if (!is_allowed(s, s->local.port_guid))
		log_warn("ha",
		    "our own port (0x%016" PRIx64
		    ") is not in allowed_sm_guids: SMs that have the same list ignore us",
		    s->local.port_guid);
	for (size_t i = 0; i < s->sm->others.n; i++) {
		struct ha_other *o = &s->sm->others.item[i];

		if (!is_allowed(s, inv_node(&s->inv, o->node)->ports[o->port].guid))
			o->trust = HA_NOT_ALLOWED; /* at once; the other way with the next sweep */
	}
	if ((h->state == WIRE_SM_STANDBY || h->awaits_ack) && !is_allowed(s, h->master.info.guid))
		ha_give_up(h);
}

uint32_t
sweeper_n_other_sms(const struct sweeper *s)
{
	return (uint32_t)s->sm->others.n;
}

const struct ha_other *
sweeper_other_sm(const struct sweeper *s, uint32_t i)
{
	return &s->sm->others.item[i];
}

const struct sm_counts *
sweeper_sm_counts(const struct sweeper *s)
{
	return &s->sm->counts;
}
