/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sms/sms.c - what another SM is to us: how it is asked, what its answer is worth, what it is
 * shown, what is remembered of it.
 *
 * The SM_Key leaves us only for an SM that has shown it to us, as it is, at its own port.  Two fmd
 * show each other that they have it by a sum (core/wire/sm_proof.h) and do not tell it at all.
 * OpenSM shows its key to everybody, or, once, to a Get whose data says that a master asks
 * (osm_sminfo_rcv.c), so ours say that.
 */
#include <sys/random.h>

#include "core/sms/internal.h"
#include "core/wire/sm_proof.h"

#define ANSWER_LEAST_MS 100
#define ANSWER_MOST_MS 2000

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

bool
sm_is_allowed(const struct sweeper *s, uint64_t guid)
{
	if (s->set.sm.ignore_others)
		return guid == s->local.port_guid;
	for (uint32_t i = 0; i < s->set.sm.n_allowed; i++)
		if (s->set.sm.allowed[i] == guid)
			return true;
	return s->set.sm.n_allowed == 0;
}

static enum ha_trust
trust_in(struct sweeper *s, const struct ask *a, const struct ha_other *o, const uint8_t *data)
{
	const struct ha *h = s->p.ha;
	uint64_t port_guid = inv_node(&s->inv, a->node)->ports[a->port].guid;

	if (!sm_is_allowed(s, port_guid))
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

struct ask *
sm_ask_beside(struct sweeper *s, uint32_t node, uint8_t port, struct smp_route *route)
{
	struct ask *a;

	if (!inv_route(&s->inv, node, port, route))
		return NULL;
	a = ask_new(s, node, port);
	if (a != NULL)
		a->wait = ASK_BESIDE;
	return a;
}

/* Half of the interval, so that the last of several polls is over soon. */
uint32_t
sm_answer_ms(const struct sweeper *s)
{
	int64_t ms = s->set.sm.polling_timeout_ms / 2;

	return ms < ANSWER_LEAST_MS ? ANSWER_LEAST_MS
	    : ms > ANSWER_MOST_MS   ? ANSWER_MOST_MS
				    : (uint32_t)ms;
}

bool
sm_ask_own_port(struct sweeper *s, ask_done done)
{
	struct smp_route route;
	struct ask *a = s->inv.local != INV_NONE
	    ? sm_ask_beside(s, s->inv.local, s->inv.local_port, &route)
	    : NULL;

	if (a == NULL)
		return false;
	route.wait_ms = sm_answer_ms(s);
	ask_get(a, &route, WIRE_ATTR_PORT_INFO, s->inv.local_port, done);
	return true;
}

/* Who does not answer is an SM that is busy, or dead, and no silent node: SMInfo is not asked of
 * the node's agent, as all else is. */
bool
sm_ask(struct sweeper *s, uint32_t node, uint8_t port, uint32_t n_asked, ask_done done)
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

void
sm_describe(struct sweeper *s, const struct ha_other *o, char *buf, size_t size)
{
	char name[96];

	snprintf(buf, size, "%s, LID %u, priority %u, %s",
	    inv_name(inv_node(&s->inv, o->node), name, sizeof(name)), o->lid, o->info.priority,
	    ha_state_name(o->info.state));
}

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
note_in(struct sweeper *s, struct sm_list *list, const struct ha_other *now)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->item[i].node == now->node && list->item[i].port == now->port) {
			list->item[i] = *now;
			return;
		}
	if (!fm_vec_push(list, *now))
		sweep_fail(s, FM_E_RESOURCE, "out of memory for other SMs");
}

void
sm_note_asked(struct sweeper *s, const struct ha_other *now)
{
	note_in(s, &s->sm->asked_sms, now);
}

/* While a sweep asks it is of those that are there when that ends. */
void
sm_note(struct sweeper *s, const struct ha_other *now)
{
	note_in(s, &s->sm->others, now);
	note_in(s, &s->sm->asked_sms, now);
}

/* The answer to a request that came in: same MAD, method and data changed.
 * Directed: the D bit says that it goes back (IBA 14.2.2). */
void
sm_answer(struct sweeper *s, const struct mad *m, const struct wire_header *h,
    const struct ha_other *from, uint16_t status)
{
	uint8_t data[WIRE_SMP_DATA_BYTES] = { 0 };
	struct mad reply = *m;
	struct wire_header rh = *h;
	struct wire_sm_info mine;
	struct fm_error err = { 0 };

	s->sm->counts.answered++;
	sm_show(s, from, &mine);
	wire_sm_info_put(data, &mine);
	if (h->method == WIRE_GET)
		proof_give(data, m->bytes + WIRE_SMP_DATA_AT, s->p.ha->sm_key);
	rh.method = WIRE_GET_RESP;
	rh.status = status;
	rh.dr_return = h->mgmt_class == WIRE_CLASS_SMP_DR;
	wire_header_put(reply.bytes, &rh);
	memcpy(reply.bytes + WIRE_SMP_DATA_AT, data, WIRE_SMP_DATA_BYTES);
	reply.timeout_ms = 0;
	if (txn_reply(s->p.txn, &reply, &err) != 0)
		fm_log_rl(&s->logs.traps, FM_LOG_WARN, "ha", "cannot answer SMInfo: %s", err.msg);
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

/* We wait for h->master, and for no other. */
void
sm_wait(struct sweeper *s)
{
	const struct ha *h = s->p.ha;
	struct sm_past *p = sm_past(s, h->master.info.guid);

	s->sm->polled_ms = sweeper_clock_ms(s);
	for (size_t i = 0; i < s->sm->pasts.n; i++) {
		struct sm_past *q = &s->sm->pasts.item[i];

		q->first_offer_ms = q->offered_ms = SM_NEVER_MS;
		if (q != p)
			q->waits_ms = SM_NEVER_MS;
	}
	if (p != NULL && p->waits_ms == SM_NEVER_MS)
		p->waits_ms = sweeper_clock_ms(s);
}
