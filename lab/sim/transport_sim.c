/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client of the simulator as a transport.  Arrivals wait in an inbox that
 * poll() empties, so that a handler may send, and two transports of one sim
 * may be polled in turn.
 *
 * Strict mode keeps the rules of Linux' user_mad.c, so that what works here
 * works there:
 *	- the upper 32 bits of the TID of a request are overwritten;
 *	- a request whose TID is pending already is refused (EINVAL there);
 *	- an answer to nothing pending is dropped: late, doubled, or to a
 *	  request that was sent without a timeout;
 *	- an unanswered request comes back as sent, with ETIMEDOUT;
 *	- the receive queue is finite.
 *
 * Pending requests: packets in slots[], found by hash of TID and class.  One
 * timer for all, at the earliest deadline known when it was set; when it runs
 * out the slots are looked through, O(window), once per shortest timeout.
 */
#include "core/mad/transport.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "lab/sim/net.h"
#include "lab/sim/spec.h"
#include "lib/error.h"
#include "lib/hash.h"
#include "lib/log.h"

/* A poll that has something keeps on for this long: arrivals come in bunches,
 * as from a busy receiver thread. */
#define BUNCH_NS 2000
#define NS_PER_S INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)

struct pending {
	struct sim_packet *packet; /* the request as it was sent; NULL = free slot */
	int64_t deadline_ns;
};

struct sim_transport {
	struct transport t;
	struct sim_client client;
	struct sim_packet *first, **last; /* inbox, first come first */
	FM_VEC(struct pending) slots;
	FM_VEC(uint32_t) free_slots;
	struct fm_hash by_tid; /* TID (32) and class -> slot */
	int64_t timer_ns;      /* when EVENT_EXPIRE comes; INT64_MAX = not set */
	uint32_t agent;	       /* upper half of our TIDs in strict mode */
	int timer_fd;	       /* wall clock; -1 */
	bool owns_sim;
};

static struct sim_transport *
of_transport(struct transport *t)
{
	return (struct sim_transport *)t;
}

static struct sim_transport *
of_client(struct sim_client *c)
{
	return (struct sim_transport *)((char *)c - offsetof(struct sim_transport, client));
}

/* ---- arrivals */

static void
put_in_inbox(struct sim_transport *st, struct sim_packet *p)
{
	p->next = NULL;
	*st->last = p;
	st->last = &p->next;
}

static uint64_t
pending_key(const uint8_t *mad)
{
	uint8_t mgmt_class = mad[MAD_CLASS];

	return (uint64_t)mgmt_class << 32 | (uint32_t)wire_get64(mad + MAD_TID);
}

static void
forget(struct sim_transport *st, uint32_t slot)
{
	struct sim_packet *request = st->slots.item[slot].packet;

	fm_hash_remove(&st->by_tid, pending_key(request->mad.bytes));
	st->slots.item[slot].packet = NULL;
	if (!fm_vec_push(&st->free_slots, slot))
		log_debug("sim", "no memory: a slot for pending requests is lost");
}

static bool
is_answer(const uint8_t *mad)
{
	return mad[MAD_METHOD] & WIRE_RESPONSE_BIT;
}

/* Strict: is this what one of our requests waits for?  Then it waits no more. */
static bool
settle_request(struct sim_transport *st, const uint8_t *mad)
{
	uint32_t slot = fm_hash_find(&st->by_tid, pending_key(mad));
	struct sim_packet *request;

	if (slot == FM_HASH_NONE || wire_get32(mad + MAD_TID) != st->agent)
		return false;
	request = st->slots.item[slot].packet;
	forget(st, slot);
	packet_free(st->client.sim, request);
	return true;
}

static void
on_arrival(struct sim_client *c, struct sim_packet *p)
{
	struct sim_transport *st = of_client(c);

	if (c->sim->options.strict && is_answer(p->mad.bytes) &&
	    !settle_request(st, p->mad.bytes)) {
		c->sim->counts.unexpected++;
		packet_free(c->sim, p);
		return;
	}
	p->mad.status = 0;
	p->mad.timeout_ms = 0;
	put_in_inbox(st, p);
}

/* ---- strict: pending requests */

static void
set_timer(struct sim_transport *st, int64_t at_ns)
{
	if (at_ns >= st->timer_ns)
		return;
	st->timer_ns = at_ns;
	client_set_timer(&st->client, at_ns);
}

static void
on_timer(struct sim_client *c)
{
	struct sim_transport *st = of_client(c);
	int64_t now_ns = c->sim->fabric.now_ns, next_ns = INT64_MAX;
	struct sim_packet *p;

	if (now_ns < st->timer_ns)
		return;
	st->timer_ns = INT64_MAX;
	for (uint32_t i = 0; i < st->slots.n; i++) {
		p = st->slots.item[i].packet;
		if (p == NULL)
			continue;
		if (st->slots.item[i].deadline_ns > now_ns) {
			if (st->slots.item[i].deadline_ns < next_ns)
				next_ns = st->slots.item[i].deadline_ns;
			continue;
		}
		forget(st, i);
		p->mad.status = ETIMEDOUT;
		put_in_inbox(st, p);
	}
	set_timer(st, next_ns);
}

static bool
new_slot(struct sim_transport *st, uint32_t *slot)
{
	if (st->free_slots.n > 0) {
		*slot = st->free_slots.item[--st->free_slots.n];
		return true;
	}
	*slot = (uint32_t)st->slots.n;
	return fm_vec_push(&st->slots, ((struct pending){ NULL, 0 }));
}

/* Keep a copy of the request until it is answered or overdue. */
static int
remember(struct sim_transport *st, const struct mad *m, struct fm_error *err)
{
	struct sim *s = st->client.sim;
	uint64_t key = pending_key(m->bytes);
	struct sim_packet *copy;
	uint32_t slot;

	if (fm_hash_find(&st->by_tid, key) != FM_HASH_NONE)
		return fm_fail(err, FM_E_SYSTEM,
		    "sending: a request with TID 0x%08x is pending already", (unsigned)key);
	copy = packet_new(s);
	if (copy == NULL || !new_slot(st, &slot) || !fm_hash_put(&st->by_tid, key, slot))
		return fm_fail(err, FM_E_RESOURCE, "no memory for a pending request");
	copy->mad = *m;
	st->slots.item[slot].packet = copy;
	st->slots.item[slot].deadline_ns = s->fabric.now_ns + m->timeout_ms * NS_PER_MS;
	set_timer(st, st->slots.item[slot].deadline_ns);
	return 0;
}

/* ---- the clock */

static int64_t
sim_clock(struct transport *t)
{
	return sim_now_ns(of_transport(t)->client.sim);
}

/* The model's time follows the wall, if there is one; never back. */
static void
catch_up(struct sim *s)
{
	int64_t now_ns = sim_now_ns(s);

	if (now_ns > s->fabric.now_ns)
		s->fabric.now_ns = now_ns;
}

/* Wall clock: the descriptor is readable when there is something to poll for. */
static void
arm(struct sim_transport *st)
{
	int64_t next_ns = st->first != NULL ? 1 : net_next_ns(st->client.sim);
	struct itimerspec when = { 0 };

	if (st->timer_fd < 0)
		return;
	if (next_ns != INT64_MAX) {
		when.it_value.tv_sec = next_ns / NS_PER_S;
		when.it_value.tv_nsec = next_ns % NS_PER_S;
	}
	timerfd_settime(st->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static void
sleep_until(int64_t until_ns)
{
	struct timespec t = { until_ns / NS_PER_S, until_ns % NS_PER_S };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* ---- operations */

static int
sim_send(struct transport *t, const struct mad *m, struct fm_error *err)
{
	struct sim_transport *st = of_transport(t);
	struct sim *s = st->client.sim;
	bool is_request = !is_answer(m->bytes) && m->bytes[MAD_METHOD] != WIRE_TRAP_REPRESS;
	struct sim_packet *p;
	int rc;

	catch_up(s);
	if (s->options.strict && is_request && m->timeout_ms > 0) {
		rc = remember(st, m, err);
		if (rc != 0)
			return rc;
	}
	p = packet_new(s);
	if (p == NULL)
		return fm_fail(err, FM_E_RESOURCE, "no memory for a MAD");
	p->mad = *m;
	p->held_ns = 0;
	if (s->options.strict && is_request)
		wire_put32(p->mad.bytes + MAD_TID, st->agent);
	net_send(s, st->client.at, p);
	arm(st);
	return 0;
}

static int
empty_inbox(struct sim_transport *st)
{
	struct sim_packet *p;
	int n = 0;

	while ((p = st->first) != NULL) {
		st->first = p->next;
		if (st->first == NULL)
			st->last = &st->first;
		if (st->t.on_mad != NULL)
			st->t.on_mad(st->t.on_mad_arg, &p->mad);
		packet_free(st->client.sim, p);
		n++;
	}
	return n;
}

/* Let the model run until something is in the inbox, and a bunch on. */
static void
run_virtual(struct sim_transport *st, int64_t until_ns)
{
	struct sim *s = st->client.sim;
	bool has_some = false;

	while (net_is_due(s, until_ns)) {
		net_step(s);
		if (st->first != NULL && !has_some) {
			has_some = true;
			if (s->fabric.now_ns + BUNCH_NS < until_ns)
				until_ns = s->fabric.now_ns + BUNCH_NS;
		}
	}
	if (!has_some && until_ns != INT64_MAX && until_ns > s->fabric.now_ns)
		s->fabric.now_ns = until_ns;
}

static void
run_wall(struct sim_transport *st, int64_t until_ns)
{
	struct sim *s = st->client.sim;
	int64_t next_ns;

	for (;;) {
		catch_up(s);
		while (net_is_due(s, s->fabric.now_ns))
			net_step(s);
		next_ns = net_next_ns(s);
		if (st->first != NULL || s->fabric.now_ns >= until_ns || next_ns == INT64_MAX)
			break;
		sleep_until(next_ns < until_ns ? next_ns : until_ns);
	}
	if (st->first == NULL && until_ns != INT64_MAX && s->fabric.now_ns < until_ns)
		sleep_until(until_ns);
}

static int
sim_poll(struct transport *t, int64_t until_ns, struct fm_error *err)
{
	struct sim_transport *st = of_transport(t);
	int n;

	if (st->first == NULL && st->client.sim->options.wall_clock)
		run_wall(st, until_ns);
	else if (st->first == NULL)
		run_virtual(st, until_ns);
	n = empty_inbox(st);
	arm(st);
	return n;
}

static int
sim_fd(struct transport *t)
{
	return of_transport(t)->timer_fd;
}

static int
sim_local_port(struct transport *t, struct local_port *out, struct fm_error *err)
{
	struct sim_client *c = &of_transport(t)->client;
	const struct sim_node *n = &c->sim->fabric.nodes[c->at.node];
	const struct sim_port *p = fabric_port(&c->sim->fabric, c->at.node, c->at.port);
	struct wire_node_info ni;

	wire_node_info_get(n->node_info, &ni);
	*out = (struct local_port){ .node_guid = n->guid,
		.port_guid = p->guid,
		.system_guid = ni.system_guid,
		.port = c->at.port,
		.node_type = n->type,
		.lid = wire_get16(&p->info[PORT_INFO_LID]),
		.sm_lid = wire_get16(&p->info[PORT_INFO_SM_LID]),
		.state = port_state(p) };
	snprintf(out->name, sizeof(out->name), "sim %s port %u", n->id, c->at.port);
	return 0;
}

static int
sim_set_is_sm(struct transport *t, bool on, struct fm_error *err)
{
	struct sim_client *c = &of_transport(t)->client;
	struct sim_fabric *f = &c->sim->fabric;

	fabric_set_is_sm(f, f->nodes[c->at.node].first_port + c->at.port, on);
	trap_raise(c->sim, c->at.node, SIM_TRAP_LOCAL);
	return 0;
}

static void
free_client(struct sim_client *gone)
{
	struct sim_transport *st = of_client(gone);
	struct sim *s = gone->sim;
	struct sim_packet *p;

	client_leave(gone);
	while ((p = st->first) != NULL) {
		st->first = p->next;
		packet_free(s, p);
	}
	for (size_t i = 0; i < st->slots.n; i++)
		if (st->slots.item[i].packet != NULL)
			packet_free(s, st->slots.item[i].packet);
	fm_vec_fini(&st->slots);
	fm_vec_fini(&st->free_slots);
	fm_hash_fini(&st->by_tid);
	if (st->timer_fd >= 0)
		close(st->timer_fd);
	memset(st, 0, sizeof(*st)); /* the block stays in the arena */
}

static void
sim_close(struct transport *t)
{
	struct sim_transport *st = of_transport(t);
	struct sim *s = st->client.sim;

	if (st->owns_sim)
		sim_free(s); /* frees its clients too */
	else
		free_client(&st->client);
}

static const struct transport_ops sim_ops = { .name = "sim",
	.send = sim_send,
	.poll = sim_poll,
	.now_ns = sim_clock,
	.fd = sim_fd,
	.local_port = sim_local_port,
	.set_is_sm = sim_set_is_sm,
	.close = sim_close };

static int
client_new(struct sim *s, struct sim_place at, struct transport **out, struct fm_error *err)
{
	struct sim_transport *st = fm_arena_alloc(&s->fabric.arena, sizeof(*st));

	if (st == NULL)
		return fm_fail(err, FM_E_RESOURCE, "no memory for a transport");
	st->timer_fd = -1;
	if (s->options.wall_clock)
		st->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (s->options.wall_clock && st->timer_fd < 0)
		return fm_fail(err, FM_E_SYSTEM, "cannot create a timer: %s", strerror(errno));
	st->t.ops = &sim_ops;
	st->t.max_window = s->options.window;
	st->last = &st->first;
	st->timer_ns = INT64_MAX;
	st->agent = ++s->n_agents;
	st->client = (struct sim_client){
		.at = at, .deliver = on_arrival, .expire = on_timer, .free = free_client
	};
	client_join(s, &st->client);
	*out = &st->t;
	return 0;
}

int
sim_attach(
    struct sim *s, uint32_t node, unsigned port, struct transport **out, struct fm_error *err)
{
	const struct sim_node *n;
	bool is_switch;

	if (node >= s->fabric.n_nodes)
		return fm_fail(err, FM_E_CONFIG, "the fabric has no node %u", node);
	n = &s->fabric.nodes[node];
	is_switch = n->type == WIRE_NODE_SWITCH;
	if (is_switch && port != 0)
		return fm_fail(err, FM_E_CONFIG,
		    "\"%s\" is a switch: an SM sits on its port 0, not on %u", n->id, port);
	if (!is_switch && (port < 1 || port > n->n_ports))
		return fm_fail(err, FM_E_CONFIG, "\"%s\" has ports 1..%u, no port %u", n->id,
		    n->n_ports, port);
	if (client_at(s, (struct sim_place){ node, (uint8_t)port }) != NULL)
		return fm_fail(err, FM_E_CONFIG, "port %u of \"%s\" is taken", port, n->id);
	return client_new(s, (struct sim_place){ node, (uint8_t)port }, out, err);
}

struct sim *
sim_of(struct transport *t)
{
	return t->ops == &sim_ops ? of_transport(t)->client.sim : NULL;
}

const struct transport_kind transport_sim = {
	.name = "sim", .usage = "sim:FABRIC", .open = transport_open_sim
};

int
transport_open_sim(const char *spec, struct transport **out, struct fm_error *err)
{
	struct sim_place local;
	struct sim *s;
	int rc = spec_open(spec, &s, &local, err);

	if (rc != 0)
		return rc;
	rc = sim_attach(s, local.node, local.port, out, err);
	if (rc != 0)
		sim_free(s);
	else
		of_transport(*out)->owns_sim = true;
	return rc;
}
