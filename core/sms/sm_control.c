/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sms/sm_control.c - SMInfo that comes in: who asks, who commands.
 *
 * Anybody may ask who we are, and is not told the SM_Key.  A Set(SMInfo) counts only when it comes
 * from the port of an SM that has shown that it has our key, and by what was last read there
 * (core/ha), not by what the Set says.  Which port it comes from is told by what its sender cannot
 * write: the source LID, which the sender's adapter puts in, or, of a directed SMP, the return
 * path, which each switch on the way writes (IBA 14.2.2.2); that is followed through the inventory.
 * An SMP that came by LID first and directed from there says itself where it began, and is refused.
 *
 * What comes while discovery goes on, from where no SM is known, waits till that is done.
 *
 * An SM whose command is refused for what it was when it was last read is read again.
 *
 * One Set a second is looked at of each SM; a repeated one is answered as it was.  Strangers are
 * refused with status 0x1c, once a second for all of them; the rest is dropped.
 */
#include <inttypes.h>

#include "core/sms/internal.h"
#include "core/wire/sm_proof.h"

#define CONTROL_EVERY_MS 1000
#define HOP_COUNT_AT 7

/* ----------------------------------------------------------- where it is from */

/* The port at which a directed SMP began: back along its return path.  False: that leads nowhere
 * that we know. */
static bool
walk_back(const struct inventory *inv, const uint8_t *mad, uint32_t *node, uint8_t *port)
{
	const uint8_t *back = mad + WIRE_DR_RETURN_PATH_AT;
	unsigned n_hops = mad[HOP_COUNT_AT];

	*node = inv->local;
	if (*node == INV_NONE || n_hops == 0 || n_hops > DR_MAX_HOPS)
		return false;
	for (unsigned hop = n_hops; hop > 0; hop--) {
		const struct inv_node *n = inv_node(inv, *node);
		unsigned out = inv_is_switch(n) ? back[hop] : inv->local_port;

		/* only switches pass SMPs on */
		if ((!inv_is_switch(n) && hop < n_hops) || out == 0 || out > n->n_ports ||
		    n->ports[out].edge != EDGE_LINKED)
			return false;
		*node = n->ports[out].peer;
		*port = n->ports[out].peer_port;
	}
	if (inv_is_switch(inv_node(inv, *node)))
		*port = 0;
	return true;
}

static bool
find_lid(const struct sweeper *s, uint16_t lid, uint32_t *node, uint8_t *port)
{
	const struct inv_node *n;

	*node = fm_hash_find(&s->inv.lid_owner, lid);
	if (*node == FM_HASH_NONE)
		return false;
	n = inv_node(&s->inv, *node);
	for (unsigned p = 0; p <= n->n_ports; p++)
		if (n->ports[p].known && n->ports[p].info.lid == lid &&
		    (p == 0) == inv_is_switch(n)) {
			*port = (uint8_t)p;
			return true;
		}
	return false;
}

static bool
find_source(const struct sweeper *s, const struct mad *m, const struct wire_header *h,
    uint32_t *node, uint8_t *port)
{
	if (h->mgmt_class == WIRE_CLASS_SMP_DR)
		return h->dr_slid == WIRE_LID_PERMISSIVE && h->dr_dlid == WIRE_LID_PERMISSIVE &&
		    walk_back(&s->inv, m->bytes, node, port);
	for (size_t i = 0; m->addr.lid != 0 && i < s->sm->others.n; i++) {
		*node = s->sm->others.item[i].node;
		*port = s->sm->others.item[i].port;
		if (s->sm->others.item[i].lid == m->addr.lid)
			return true;
	}
	return find_lid(s, m->addr.lid, node, port);
}

/* The SM at that port, as it was last read; NULL: there is none. */
static const struct ha_other *
sm_at(const struct sweeper *s, uint32_t node, uint8_t port)
{
	for (size_t i = 0; i < s->sm->others.n; i++)
		if (s->sm->others.item[i].node == node && s->sm->others.item[i].port == port)
			return &s->sm->others.item[i];
	return NULL;
}

/* ----------------------------------------------------------------- commands */

static const char *
control_name(uint32_t control)
{
	static const char *const names[] = { "0", "HANDOVER", "ACKNOWLEDGE", "DISABLE", "STANDBY",
		"DISCOVER" };

	return control < sizeof(names) / sizeof(names[0]) ? names[control] : "unknown";
}

static void
log_refused_control(struct sweeper *s, const struct mad *m, const struct wire_header *h,
    uint32_t node, const struct wire_sm_info *claimed)
{
	char name[128], lid[32];

	if (m->addr.lid == 0 || m->addr.lid == WIRE_LID_PERMISSIVE)
		snprintf(lid, sizeof(lid), "by a directed route");
	else
		snprintf(lid, sizeof(lid), "LID %u", m->addr.lid);
	fm_log_rl(&s->logs.control, FM_LOG_WARN, "ha",
	    "control %s in the name of SM 0x%016" PRIx64
	    " is refused: it comes from %s, %s, which may not command us (%" PRIu64
	    " refused, %" PRIu64 " dropped so far)",
	    control_name(h->modifier), claimed->guid,
	    node < s->inv.nodes.n ? inv_name(inv_node(&s->inv, node), name, sizeof(name))
				  : "an unknown port",
	    lid, s->sm->counts.refused, s->sm->counts.dropped);
}

static void
refuse_stranger(struct sweeper *s, const struct mad *m, const struct wire_header *h)
{
	int64_t now = sweeper_clock_ms(s);

	if (s->sm->stranger_ms != SM_NEVER_MS && now - s->sm->stranger_ms < CONTROL_EVERY_MS) {
		s->sm->counts.dropped++;
		return;
	}
	s->sm->stranger_ms = now;
	sm_answer(s, m, h, NULL, WIRE_STATUS_BAD_VALUE);
}

/* What has come of it. */
static void
act(struct sweeper *s, enum ha_event event, uint32_t control, const struct ha_other *from)
{
	switch (event) {
	case HA_NOTHING:
		break;
	case HA_REFUSE:
		if (control == WIRE_SM_HANDOVER && s->p.ha->state == WIRE_SM_MASTER) {
			s->rule.others = OTHERS_RULED; /* beside us, unseen */
			sweeper_request(s, SWEEP_HEAVY, "another SM that has ruled hands over");
		}
		break;
	case HA_BECOME_MASTER:
		log_notice(
		    "ha", "the SM 0x%016" PRIx64 " hands the subnet over to us", from->info.guid);
		sm_send(s, from, WIRE_SM_ACKNOWLEDGE, NULL);
		s->rule.others = OTHERS_RULED;
		sweeper_request(s, SWEEP_HEAVY, "handover");
		break;
	case HA_BECOME_STANDBY:
		if (s->run.phase != PHASE_IDLE) /* nothing more of that sweep is written */
			s->sm->anew = "another SM rules by now";
		sm_wait(s);
		if (control == WIRE_SM_ACKNOWLEDGE) {
			log_notice("ha",
			    "handed the subnet over to SM 0x%016" PRIx64 "; standing by",
			    from->info.guid);
			break;
		}
		/* fall through */
	case HA_STOP:
		log_notice("ha", "told by SM 0x%016" PRIx64 " to be %s", from->info.guid,
		    ha_state_name(s->p.ha->state));
		break;
	case HA_REDISCOVER:
		sweeper_request(s, SWEEP_HEAVY, "told to discover");
		break;
	}
}

/* From the port of an SM that has our key.  What it says of itself has to agree; a key of 0 may
 * stand for ours there, as OpenSM writes it. */
static bool
take_control(struct sweeper *s, const struct mad *m, const struct wire_header *h,
    const struct ha_other *from)
{
	struct sm_past *p = sm_past(s, from->info.guid);
	int64_t now = sweeper_clock_ms(s);
	struct ha_other sender = *from; /* the list may change beneath us */
	enum ha_event event;

	if (p == NULL)
		return false;
	if (p->set_ms != SM_NEVER_MS && p->set_tid == h->tid) {
		sm_answer(s, m, h, &sender, p->set_status);
		return true;
	}
	if (p->set_ms != SM_NEVER_MS && now - p->set_ms < CONTROL_EVERY_MS) {
		s->sm->counts.dropped++;
		return true;
	}
	event = ha_on_set(s->p.ha, h->modifier, &sender);
	p->set_ms = now;
	p->set_tid = h->tid;
	p->set_status = event == HA_REFUSE ? WIRE_STATUS_BAD_VALUE : 0;
	sm_answer(s, m, h, &sender, p->set_status);
	act(s, event, h->modifier, &sender);
	return event != HA_REFUSE;
}

static void
on_control(struct sweeper *s, const struct mad *m, const struct wire_header *h)
{
	const struct ha_other *from = NULL;
	struct wire_sm_info claimed;
	uint32_t node = INV_NONE;
	uint8_t port;

	wire_sm_info_get(m->bytes + WIRE_SMP_DATA_AT, &claimed);
	if (find_source(s, m, h, &node, &port))
		from = sm_at(s, node, port);
	/* Cables are not known to be where they were, or not all SMs have been asked; or what we
	 * answer with may be thrown away with all else. */
	if ((s->sm->doubts || (from == NULL && sm_will_look(s))) && sm_hold(s, m))
		return;
	if (from != NULL && from->trust == HA_OURS && claimed.guid == from->info.guid &&
	    (claimed.sm_key == 0 || claimed.sm_key == s->p.ha->sm_key)) {
		if (take_control(s, m, h, from))
			return;
		s->sm->counts.refused++;
		sm_ask_back(s, m, node, port, true);
	} else {
		s->sm->counts.refused++;
		refuse_stranger(s, m, h);
	}
	log_refused_control(s, m, h, node, &claimed);
}

static void
on_question(struct sweeper *s, const struct mad *m, const struct wire_header *h)
{
	bool wants_sum = proof_is_asked(m->bytes + WIRE_SMP_DATA_AT);
	const struct ha_other *from = NULL;
	uint32_t node;
	uint8_t port;

	if (find_source(s, m, h, &node, &port)) {
		from = sm_at(s, node, port);
		if (from == NULL && sm_ask_back(s, m, node, port, wants_sum) && !wants_sum)
			return;
	}
	/* Too early to say who asks, and OpenSM would take 0 for our key. */
	if (from == NULL && !wants_sum && sm_will_look(s) && sm_hold(s, m))
		return;
	sm_answer(s, m, h, from, 0);
}

void
sms_on_mad(struct sweeper *s, const struct mad *m, const struct wire_header *h)
{
	if (h->method == WIRE_SET)
		on_control(s, m, h);
	else if (h->method == WIRE_GET)
		on_question(s, m, h);
}

void
sms_serve_held(struct sweeper *s)
{
	s->sm->serves_early = true;
	for (unsigned i = 0; i < SM_GUESTS; i++) {
		struct sm_guest *g = &s->sm->guests[i];
		struct mad m = g->mad;
		struct wire_header h;

		if (!g->waits || g->node != INV_NONE)
			continue;
		g->waits = false;
		wire_header_get(m.bytes, &h);
		sms_on_mad(s, &m, &h);
	}
	s->sm->serves_early = false;
}
