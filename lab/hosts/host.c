/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who is there and who gets what: the receiving half of a host's port.
 *
 * Files and agents are few, so they are lists that are walked; what grows with
 * traffic (pending requests, transfers) is hashed.
 */
#include "lab/hosts/host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lab/hosts/host_internal.h"

static bool
is_vendor_with_oui(uint8_t mgmt_class)
{
	return mgmt_class >= 0x30 && mgmt_class <= 0x4f;
}

/* ---- giving to programs */

static void
take_message(void *agent, const uint8_t *bytes, size_t length, const struct mad_addr *from)
{
	struct host_agent *a = agent;
	struct sim_host *h = a->file->host;

	if (is_response(bytes) && !host_settle(h, a, bytes)) {
		h->client.sim->counts.unexpected++;
		return;
	}
	host_give(a, bytes, length, from, 0);
}

static bool
handles(const struct host_agent *a, const uint8_t *mad)
{
	const struct host_registration *r = &a->reg;
	uint8_t method = mad[MAD_METHOD] & 0x7f;

	if (r->mgmt_class != mad[MAD_CLASS] || r->class_version != mad[MAD_CLASS_VERSION] ||
	    !(r->methods[method / 64] >> (method % 64) & 1))
		return false;
	return !is_vendor_with_oui(r->mgmt_class) || r->oui == (wire_get32(mad + 36) & 0xffffff);
}

static struct host_agent *
agent_for(const struct sim_host *h, const uint8_t *mad)
{
	uint32_t high = wire_get32(mad + MAD_TID);
	bool answer = is_response(mad);

	for (struct host_file *f = h->files; f != NULL; f = f->next)
		for (int i = 0; i < HOST_AGENTS_MAX; i++) {
			struct host_agent *a = f->agents[i];

			if (a != NULL && (answer ? a->high_tid == high : handles(a, mad)))
				return a;
		}
	return NULL;
}

static void
take_for_agent(struct sim_host *h, struct host_agent *a, struct sim_packet *p)
{
	const uint8_t *mad = p->mad.bytes;
	struct sim *s = h->client.sim;

	if (a->rmpp != NULL && rmpp_is_active(mad)) {
		rmpp_port_take(a->rmpp, mad, &p->mad.addr, s->fabric.now_ns);
		host_set_timer(h, rmpp_port_due(a->rmpp));
	} else if (is_response(mad) && !host_settle(h, a, mad) && !a->reg.user_rmpp) {
		s->counts.unexpected++;
	} else {
		host_give(a, mad, MAD_BYTES, &p->mad.addr, 0);
	}
}

static bool
is_sm_info(const uint8_t *mad)
{
	return (mad[MAD_CLASS] == WIRE_CLASS_SMP_LID || mad[MAD_CLASS] == WIRE_CLASS_SMP_DR) &&
	    wire_get16(mad + MAD_ATTR) == WIRE_ATTR_SM_INFO;
}

/* Nobody wants it: Get and Set are answered, the rest is dropped.  So is SMInfo: newer kernels
 * answer for an SM that has ended, others do not, and that is the case to be stood. */
static void
turn_away(struct sim_host *h, struct sim_packet *p)
{
	struct sim *s = h->client.sim;
	uint8_t *mad = p->mad.bytes, method = mad[MAD_METHOD];

	s->counts.unexpected++;
	if ((method != WIRE_GET && method != WIRE_SET) || is_sm_info(mad)) {
		packet_free(s, p);
		return;
	}
	mad[MAD_METHOD] = WIRE_GET_RESP;
	wire_put16(mad + MAD_STATUS, WIRE_STATUS_BAD_METHOD_ATTR);
	if (mad[MAD_CLASS] == WIRE_CLASS_SMP_DR)
		mad[MAD_STATUS] |= 0x80;
	p->held_ns = 0;
	net_send(s, p->at, p);
}

static void
on_arrival(struct sim_client *c, struct sim_packet *p)
{
	struct sim_host *h = host_of(c);
	struct host_agent *a = agent_for(h, p->mad.bytes);

	if (a == NULL) {
		turn_away(h, p);
		return;
	}
	take_for_agent(h, a, p);
	packet_free(c->sim, p);
}

/* ---- files and agents */

static void
free_agent(struct sim_host *h, struct host_agent *a)
{
	host_forget(h, a);
	rmpp_port_free(a->rmpp);
	free(a);
}

static void
free_file(struct host_file *f)
{
	for (int i = 0; i < HOST_AGENTS_MAX; i++)
		if (f->agents[i] != NULL)
			free_agent(f->host, f->agents[i]);
	free(f);
}

static void
free_host(struct sim_client *c)
{
	struct sim_host *h = host_of(c);
	struct host_file *f;

	client_leave(c);
	while ((f = h->files) != NULL) {
		h->files = f->next;
		free_file(f);
	}
	fm_vec_fini(&h->pending);
	fm_vec_fini(&h->free_pending);
	fm_hash_fini(&h->by_tid);
	free(h);
}

static struct sim_host *
find_host(struct sim *s, struct sim_place at)
{
	struct sim_client *c = client_at(s, at);
	struct sim_host *h;

	if (c != NULL)
		return c->deliver == on_arrival ? host_of(c) : NULL;
	h = calloc(1, sizeof(*h));
	if (h == NULL)
		return NULL;
	h->timer_ns = INT64_MAX;
	h->client = (struct sim_client){
		.at = at, .deliver = on_arrival, .expire = host_expire, .free = free_host
	};
	client_join(s, &h->client);
	return h;
}

struct host_file *
host_open(struct sim *s, struct sim_place at, host_receive_fn fn, void *arg)
{
	struct sim_host *h = find_host(s, at);
	struct host_file *f = h != NULL ? calloc(1, sizeof(*f)) : NULL;

	if (f == NULL) {
		if (h != NULL && h->files == NULL)
			free_host(&h->client);
		return NULL;
	}
	f->host = h;
	f->receive = fn;
	f->arg = arg;
	f->next = h->files;
	h->files = f;
	return f;
}

void
host_close(struct host_file *gone)
{
	struct sim_host *h = gone->host;

	for (struct host_file **f = &h->files; *f != NULL; f = &(*f)->next)
		if (*f == gone) {
			*f = gone->next;
			break;
		}
	free_file(gone);
	if (h->files == NULL)
		free_host(&h->client);
}

/* Somebody at this port has one of these methods already. */
static bool
is_taken(const struct sim_host *h, const struct host_registration *r)
{
	for (struct host_file *f = h->files; f != NULL; f = f->next)
		for (int i = 0; i < HOST_AGENTS_MAX; i++) {
			const struct host_agent *a = f->agents[i];

			if (a != NULL && a->reg.mgmt_class == r->mgmt_class &&
			    a->reg.class_version == r->class_version && a->reg.oui == r->oui &&
			    (a->reg.methods[0] & r->methods[0] ||
				a->reg.methods[1] & r->methods[1]))
				return true;
		}
	return false;
}

static bool
is_sound(const struct host_registration *r)
{
	if (r->rmpp_version > 1 ||
	    (r->rmpp_version == 1 && r->mgmt_class != 0 && rmpp_header_bytes(r->mgmt_class) == 0))
		return false;
	return r->mgmt_class != 0 || (r->methods[0] == 0 && r->methods[1] == 0);
}

static struct rmpp_port *
make_rmpp(struct host_agent *a)
{
	struct rmpp_port_ops ops = {
		.send = host_rmpp_send, .received = take_message, .sent = host_rmpp_sent, .arg = a
	};
	struct rmpp_port_limits l;

	rmpp_port_limits_default(&l);
	l.n_peer_send_max = l.n_max; /* the kernel counts none */
	return rmpp_port_new(&l, &ops);
}

int
host_register(struct host_file *f, const struct host_registration *r)
{
	struct host_agent *a;
	uint32_t id = 0;

	if (!is_sound(r) || is_taken(f->host, r))
		return -EINVAL;
	while (id < HOST_AGENTS_MAX && f->agents[id] != NULL)
		id++;
	if (id == HOST_AGENTS_MAX)
		return -ENOMEM;
	a = calloc(1, sizeof(*a));
	if (a == NULL)
		return -ENOMEM;
	*a = (struct host_agent){
		.file = f, .reg = *r, .id = id, .high_tid = ++f->host->client.sim->n_agents
	};
	if (r->rmpp_version == 1 && !r->user_rmpp && (a->rmpp = make_rmpp(a)) == NULL) {
		free(a);
		return -ENOMEM;
	}
	f->agents[id] = a;
	return (int)id;
}

int
host_unregister(struct host_file *f, uint32_t agent)
{
	if (agent >= HOST_AGENTS_MAX || f->agents[agent] == NULL)
		return -EINVAL;
	free_agent(f->host, f->agents[agent]);
	f->agents[agent] = NULL;
	return 0;
}
