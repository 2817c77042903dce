/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sending half of a host's port: what is pending, retries, time-outs.
 *
 *	request, time-out > 0:	pending until answered, retried, given back
 *	answer, or none awaited: sent and forgotten
 *	message of an RMPP agent: pending while RMPP sends it; then, if an answer
 *				is awaited, its time begins (ib_mad: after the last ACK)
 *
 * One timer for all, as in transport_sim.c.
 */
#include <errno.h>
#include <string.h>

#include "lab/hosts/host_internal.h"

#define NS_PER_MS INT64_C(1000000)
#define ACK_TIMEOUT_MS 2000 /* ib_mad's bound for an ACK */

/* Of an agent: its answer to a program of the same host carries that one's TID. */
static uint64_t
key_of(const struct host_agent *a, const uint8_t *mad)
{
	uint64_t who = (uint64_t)a->high_tid << 8 | mad[MAD_CLASS];

	return fm_mix64(wire_get64(mad + MAD_TID) + fm_mix64(who));
}

/* ---- pending */

static void
free_pending(struct sim_host *h, uint32_t i)
{
	struct host_pending *p = &h->pending.item[i];

	fm_hash_remove(&h->by_tid, key_of(p->agent, p->mad));
	p->agent = NULL;
	h->free_pending.item[h->free_pending.n++] = i; /* room was made with the slot */
}

static bool
new_pending(struct sim_host *h, uint32_t *i)
{
	if (h->free_pending.n > 0) {
		*i = h->free_pending.item[--h->free_pending.n];
		return true;
	}
	if (!fm_vec_reserve(&h->pending, h->pending.n + 1) ||
	    !fm_vec_reserve(&h->free_pending, h->pending.n + 1))
		return false;
	*i = (uint32_t)h->pending.n++;
	return true;
}

void
host_forget(struct sim_host *h, const struct host_agent *a)
{
	for (uint32_t i = 0; i < h->pending.n; i++)
		if (h->pending.item[i].agent == a)
			free_pending(h, i);
}

bool
host_settle(struct sim_host *h, const struct host_agent *a, const uint8_t *mad)
{
	uint32_t i = fm_hash_find(&h->by_tid, key_of(a, mad));

	if (i == FM_HASH_NONE || h->pending.item[i].agent != a)
		return false;
	if (h->pending.item[i].in_rmpp)
		rmpp_port_cancel(a->rmpp, i); /* answered before its last ACK came */
	free_pending(h, i);
	return true;
}

void
host_set_timer(struct sim_host *h, int64_t at_ns)
{
	if (at_ns >= h->timer_ns)
		return;
	h->timer_ns = at_ns;
	client_set_timer(&h->client, at_ns);
}

static void
start_waiting(struct sim_host *h, struct host_pending *p)
{
	p->deadline_ns = h->client.sim->fabric.now_ns + p->timeout_ms * NS_PER_MS;
	host_set_timer(h, p->deadline_ns);
}

/* ---- onto the network */

static void
transmit(struct sim_host *h, const uint8_t *mad, const struct mad_addr *to)
{
	struct sim *s = h->client.sim;
	struct sim_packet *p = packet_new(s);

	if (p == NULL)
		return; /* lost: the sender has its time-outs */
	memset(p, 0, sizeof(*p));
	memcpy(p->mad.bytes, mad, MAD_BYTES);
	p->mad.addr = *to;
	net_send(s, h->client.at, p);
}

void
host_rmpp_send(void *agent, const uint8_t *mad, const struct mad_addr *to)
{
	const struct host_agent *a = agent;

	transmit(a->file->host, mad, to);
}

void
host_give(struct host_agent *a, const uint8_t *bytes, size_t length, const struct mad_addr *from,
    int status)
{
	struct host_message m = { .agent = a->id,
		.status = status,
		.addr = *from,
		.bytes = (uint8_t *)bytes,
		.length = length };

	if (!a->file->receive(a->file->arg, &m))
		a->file->host->client.sim->counts.overrun++;
}

static void
give_up(struct sim_host *h, uint32_t i)
{
	struct host_pending was = h->pending.item[i];

	free_pending(h, i);
	host_give(was.agent, was.mad, MAD_HEADER_BYTES, &was.to, ETIMEDOUT);
}

void
host_rmpp_sent(void *agent, uint64_t cookie, uint8_t status)
{
	const struct host_agent *a = agent;
	struct sim_host *h = a->file->host;
	struct host_pending *p = &h->pending.item[cookie];

	p->in_rmpp = false;
	if (status == RMPP_TOO_MANY_RETRIES)
		give_up(h, (uint32_t)cookie);
	else if (status != RMPP_OK || !p->wants_answer)
		free_pending(h, (uint32_t)cookie); /* the kernel tells of time-outs only */
	else
		start_waiting(h, p);
}

/* ---- time */

static void
expire_pending(struct sim_host *h, uint32_t i, int64_t now_ns)
{
	struct host_pending *p = &h->pending.item[i];

	if (p->agent == NULL || p->in_rmpp)
		return;
	if (p->deadline_ns > now_ns) {
		host_set_timer(h, p->deadline_ns);
	} else if (p->retries_left > 0) {
		p->retries_left--;
		start_waiting(h, p);
		transmit(h, p->mad, &p->to);
	} else {
		give_up(h, i);
	}
}

static void
tick_rmpp(struct sim_host *h, int64_t now_ns)
{
	for (struct host_file *f = h->files; f != NULL; f = f->next)
		for (int i = 0; i < HOST_AGENTS_MAX; i++) {
			struct rmpp_port *rmpp = f->agents[i] ? f->agents[i]->rmpp : NULL;

			if (rmpp == NULL)
				continue;
			rmpp_port_tick(rmpp, now_ns);
			host_set_timer(h, rmpp_port_due(rmpp));
		}
}

void
host_expire(struct sim_client *c)
{
	struct sim_host *h = host_of(c);
	int64_t now_ns = c->sim->fabric.now_ns;

	if (now_ns < h->timer_ns)
		return;
	h->timer_ns = INT64_MAX;
	for (uint32_t i = 0; i < h->pending.n; i++)
		expire_pending(h, i, now_ns);
	tick_rmpp(h, now_ns);
}

/* ---- sending */

/* Keep the header of what is sent until it has ended. */
static int
remember(struct host_agent *a, const struct host_message *m, const uint8_t *mad, uint32_t *slot)
{
	struct sim_host *h = a->file->host;
	struct host_pending *p;

	if (fm_hash_find(&h->by_tid, key_of(a, mad)) != FM_HASH_NONE)
		return -EINVAL; /* user_mad.c: is_duplicate() */
	if (!new_pending(h, slot))
		return -ENOMEM;
	p = &h->pending.item[*slot];
	*p = (struct host_pending){ .agent = a,
		.to = m->addr,
		.timeout_ms = m->timeout_ms,
		.retries_left = m->retries,
		.deadline_ns = INT64_MAX,
		.wants_answer = m->timeout_ms > 0 };
	memcpy(p->mad, mad, MAD_BYTES);
	if (!fm_hash_put(&h->by_tid, key_of(a, mad), *slot)) {
		p->agent = NULL;
		h->free_pending.item[h->free_pending.n++] = *slot;
		return -ENOMEM;
	}
	return 0;
}

static int
send_message(struct host_agent *a, const struct host_message *m, const uint8_t *first)
{
	struct sim_host *h = a->file->host;
	uint32_t ms = m->timeout_ms;
	struct rmpp_send_options o = { .n_retries = (int)m->retries,
		.resend_ns = (ms == 0 || ms > ACK_TIMEOUT_MS ? ACK_TIMEOUT_MS : ms) * NS_PER_MS,
		.double_sided = ms > 0 };
	uint32_t slot;
	int rc = remember(a, m, first, &slot);

	if (rc != 0)
		return rc;
	h->pending.item[slot].in_rmpp = true;
	rc = rmpp_port_send(
	    a->rmpp, m->bytes, m->length, &m->addr, &o, slot, h->client.sim->fabric.now_ns, NULL);
	if (rc != 0) {
		free_pending(h, slot);
		return rc == FM_E_RESOURCE ? -ENOMEM : -EINVAL;
	}
	host_set_timer(h, rmpp_port_due(a->rmpp));
	return 0;
}

int
host_send(struct host_file *f, const struct host_message *m)
{
	struct host_agent *a = m->agent < HOST_AGENTS_MAX ? f->agents[m->agent] : NULL;
	uint8_t mad[MAD_BYTES] = { 0 };
	uint32_t slot;
	int rc;

	if (a == NULL || m->length < MAD_HEADER_BYTES)
		return -EINVAL;
	if (!is_response(m->bytes))
		wire_put32(m->bytes + MAD_TID, a->high_tid);
	memcpy(mad, m->bytes, m->length < MAD_BYTES ? m->length : MAD_BYTES);
	if (a->rmpp != NULL && rmpp_is_active(mad))
		return send_message(a, m, mad);
	if (m->length > MAD_BYTES)
		return -EINVAL;
	if (m->timeout_ms > 0) {
		rc = remember(a, m, mad, &slot);
		if (rc != 0)
			return rc;
		start_waiting(f->host, &f->host->pending.item[slot]);
	}
	transmit(f->host, mad, &m->addr);
	return 0;
}
