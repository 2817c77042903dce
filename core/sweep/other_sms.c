/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sweep/other_sms.c - SMInfo on the wire; core/ha decides.
 *
 * After each discovery, before the first Set, every port with the IsSM bit
 * (IBA 14.2.5.6) is asked for SMInfo.  As standby the master is polled.
 */
#include <inttypes.h>

#include "core/sweep/internal.h"

#define CAP_IS_SM (1u << 1)
#define LESSER_POLLS_SAY 6 /* so many polls without HANDOVER: say so */

static void
describe(struct sweeper *s, const struct other_sm *o)
{
	char name[96];

	snprintf(s->report.other, sizeof(s->report.other), "%s, priority %u, %s",
	    inv_name(inv_node(&s->inv, o->node), name, sizeof(name)), o->ha.info.priority,
	    ha_state_name(o->ha.info.state));
}

static void
on_sm_info(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct other_sm o = { .node = a->node, .port = a->port };

	if (status != TXN_OK)
		return; /* the bit outlives a dying SM for a moment */
	wire_sm_info_get(reply + WIRE_SMP_DATA_AT, &o.ha.info);
	o.ha.lid = inv_node(&s->inv, a->node)->ports[a->port].info.lid;
	o.ha.seen = true;
	if (o.ha.info.guid == s->p.ha->guid)
		return;
	if (ha_is_foreign(s->p.ha, &o.ha.info) && o.ha.info.state != WIRE_SM_MASTER)
		log_debug(
		    "ha", "SM 0x%016" PRIx64 " has another sm_key: not considered", o.ha.info.guid);
	if (!fm_vec_push(&s->others, o))
		sweep_fail(s, FM_E_RESOURCE, "out of memory for other SMs");
}

void
other_sms_start(struct sweeper *s)
{
	s->others.n = 0;
	for (uint32_t i = 0; i < s->inv.nodes.n; i++) {
		const struct inv_node *n = inv_node(&s->inv, i);
		unsigned last = inv_is_switch(n) ? 0 : n->n_ports;

		for (unsigned p = inv_is_switch(n) ? 0 : 1; n->present && p <= last; p++) {
			struct ask *a;

			if (!n->ports[p].known ||
			    (n->ports[p].info.capability_mask & CAP_IS_SM) == 0 ||
			    (i == s->inv.local && p == s->inv.local_port))
				continue;
			a = ask_new(s, i, (uint8_t)p);
			if (a != NULL)
				ask_get_at(a, WIRE_ATTR_SM_INFO, 0, on_sm_info);
		}
	}
}

/* -------------------------------------------------------------- handover */

static void
send_control(struct sweeper *s, const struct other_sm *to, uint32_t control, ask_done done)
{
	uint8_t data[WIRE_SMP_DATA_BYTES] = { 0 };
	struct ask *a = ask_new(s, to->node, to->port);
	struct wire_sm_info info;

	if (a == NULL)
		return;
	ha_info(s->p.ha, &info);
	wire_sm_info_put(data, &info);
	ask_set_at(a, WIRE_ATTR_SM_INFO, control, data, done);
}

static void
on_handover(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;

	if (status != TXN_OK) {
		log_warn("ha",
		    "the better SM did not take our HANDOVER; it is offered again at the next "
		    "sweep");
		return;
	}
	ha_handed_to(s->p.ha, &s->master.ha);
	log_info("ha", "HANDOVER is taken; waiting for ACKNOWLEDGE");
}

static bool
give_way(struct sweeper *s, const struct other_sm *to)
{
	describe(s, to);
	log_notice("ha", "a better SM is on the subnet: %s; handing over", s->report.other);
	s->master = *to;
	s->report.outcome = SWEEP_STANDBY;
	send_control(s, to, WIRE_SM_HANDOVER, on_handover);
	return false;
}

bool
other_sms_decide(struct sweeper *s)
{
	struct ha_other others[16];
	uint32_t n = (uint32_t)s->others.n, whom = 0;

	n = n < 16 ? n : 16;
	for (uint32_t i = 0; i < n; i++)
		others[i] = s->others.item[i].ha;
	switch (ha_decide(s->p.ha, others, n, &whom)) {
	case HA_MASTER:
		return true;
	case HA_STANDBY:
		s->master = s->others.item[whom];
		describe(s, &s->master);
		if (ha_is_foreign(s->p.ha, &s->master.ha.info))
			log_warn("ha",
			    "the master has another sm_key than we have: %s; standing by, it will "
			    "not hand over to us nor we to it",
			    s->report.other);
		else
			log_notice("ha", "another SM is or will be master: %s; standing by",
			    s->report.other);
		break;
	case HA_AWAIT_HANDOVER:
		s->master = s->others.item[whom];
		describe(s, &s->master);
		log_notice(
		    "ha", "a lesser SM is master: %s; waiting for its handover", s->report.other);
		break;
	case HA_GIVE_WAY:
		return give_way(s, &s->others.item[whom]);
	}
	s->report.outcome = SWEEP_STANDBY;
	return false;
}

/* --------------------------------------------------------------- polling */

static void
on_poll(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct ha *h = s->p.ha;
	struct wire_sm_info info;

	if (status == TXN_CANCELLED)
		return;
	if (status == TXN_OK)
		wire_sm_info_get(reply + WIRE_SMP_DATA_AT, &info);
	if (ha_on_poll(h, status == TXN_OK ? &info : NULL, s->set.silent_polls_max))
		sweeper_request(s, SWEEP_HEAVY,
		    status == TXN_OK ? "the master stepped down"
				     : "the master does not answer any more");
	else if (h->n_lesser_polls == LESSER_POLLS_SAY)
		log_warn("ha",
		    "the master is of lower rank than we are and does not hand over: %s; still "
		    "waiting (stop it, "
		    "or lower our priority)",
		    s->report.other);
}

void
sweeper_poll_master(struct sweeper *s)
{
	struct ask *a;

	if (s->phase != PHASE_IDLE || (s->p.ha->state != WIRE_SM_STANDBY && !s->p.ha->awaits_ack))
		return;
	a = ask_new(s, s->master.node, s->master.port);
	if (a != NULL && !ask_get_at(a, WIRE_ATTR_SM_INFO, 0, on_poll))
		sweeper_request(s, SWEEP_HEAVY, "the way to the master is gone");
}

/* ------------------------------------------------------------- being asked */

/* The answer to a request that came in: same MAD, method and data changed.
 * Directed: the D bit says that it goes back (IBA 14.2.2). */
static void
answer(struct sweeper *s, const struct mad *m, const struct wire_header *h, uint16_t status,
    const uint8_t *data)
{
	struct mad reply = *m;
	struct wire_header rh = *h;
	struct fm_error err = { 0 };

	rh.method = WIRE_GET_RESP;
	rh.status = status;
	rh.dr_return = h->mgmt_class == WIRE_CLASS_SMP_DR;
	wire_header_put(reply.bytes, &rh);
	if (data != NULL)
		memcpy(reply.bytes + WIRE_SMP_DATA_AT, data, WIRE_SMP_DATA_BYTES);
	reply.timeout_ms = 0;
	if (txn_reply(s->p.txn, &reply, &err) != 0)
		fm_log_rl(&s->trap_bucket, FM_LOG_WARN, "ha", "cannot answer SMInfo: %s", err.msg);
}

static void
on_done(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	(void)a;
	(void)status;
	(void)reply;
}

static void
acknowledge(struct sweeper *s, const struct mad *m)
{
	uint8_t data[WIRE_SMP_DATA_BYTES] = { 0 };
	struct smp_route route = { .lid = m->addr.lid };
	struct wire_sm_info info;
	struct ask *a;

	if (m->addr.lid == 0 || m->addr.lid == WIRE_LID_PERMISSIVE) {
		if (s->p.ha->state != WIRE_SM_MASTER) /* s->master is who handed over */
			send_control(s, &s->master, WIRE_SM_ACKNOWLEDGE, on_done);
		return;
	}
	ha_info(s->p.ha, &info);
	wire_sm_info_put(data, &info);
	a = ask_new(s, INV_NONE, 0);
	if (a != NULL)
		ask_set(a, &route, WIRE_ATTR_SM_INFO, WIRE_SM_ACKNOWLEDGE, data, on_done);
}

static void
on_control(struct sweeper *s, const struct mad *m, const struct wire_header *h)
{
	uint8_t data[WIRE_SMP_DATA_BYTES] = { 0 };
	struct wire_sm_info from, mine;
	enum ha_event event;

	wire_sm_info_get(m->bytes + WIRE_SMP_DATA_AT, &from);
	event = ha_on_set(s->p.ha, h->modifier, &from);
	ha_info(s->p.ha, &mine);
	wire_sm_info_put(data, &mine);
	answer(s, m, h, event == HA_REFUSE ? WIRE_STATUS_BAD_VALUE : 0, data);
	switch (event) {
	case HA_NOTHING:
		break;
	case HA_REFUSE:
		if (ha_is_foreign(s->p.ha, &from))
			fm_log_rl(&s->trap_bucket, FM_LOG_WARN, "ha",
			    "control %" PRIu32 " of SM 0x%016" PRIx64
			    " is refused: its sm_key is not ours",
			    h->modifier, from.guid);
		break;
	case HA_BECOME_MASTER:
		log_notice("ha", "the SM 0x%016" PRIx64 " hands the subnet over to us", from.guid);
		acknowledge(s, m);
		s->others_wrote = true;
		sweeper_request(s, SWEEP_HEAVY, "handover");
		break;
	case HA_BECOME_STANDBY:
		if (h->modifier == WIRE_SM_ACKNOWLEDGE) {
			log_notice("ha",
			    "handed the subnet over to SM 0x%016" PRIx64 "; standing by",
			    from.guid);
			break;
		}
		/* fall through */
	case HA_STOP:
		log_notice("ha", "told by SM 0x%016" PRIx64 " to be %s", from.guid,
		    ha_state_name(s->p.ha->state));
		break;
	case HA_REDISCOVER:
		sweeper_request(s, SWEEP_HEAVY, "told to discover");
		break;
	}
}

void
other_sms_on_mad(struct sweeper *s, const struct mad *m, const struct wire_header *h)
{
	uint8_t data[WIRE_SMP_DATA_BYTES] = { 0 };
	struct wire_sm_info mine;

	if (h->method == WIRE_SET) {
		on_control(s, m, h);
	} else if (h->method == WIRE_GET) {
		s->p.ha->act_count++;
		ha_info(s->p.ha, &mine);
		wire_sm_info_put(data, &mine);
		answer(s, m, h, 0, data);
	}
}

uint32_t
sweeper_n_other_sms(const struct sweeper *s)
{
	return (uint32_t)s->others.n;
}

const struct ha_other *
sweeper_other_sm(const struct sweeper *s, uint32_t i)
{
	return &s->others.item[i].ha;
}
