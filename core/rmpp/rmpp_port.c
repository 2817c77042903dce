/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many RMPP transfers: a table of slots, found by a hash of what names a
 * transfer, and one time for all: the earliest at which any of them may want
 * to be looked at.  When it comes all slots are looked through.
 *
 *	DATA  ─► receiver of that method, or a new one
 *	ACK   ─► sender of the opposite method; segment 0: the answer's window
 *	STOP, ABORT ─► the sender if it runs, else the receiver
 *
 * A receiver that is done lingers without its message.  A failed one goes at
 * once: the rest of its window meets nobody, a new first segment starts anew.
 */
#include "core/rmpp/rmpp_port.h"

#include <stdlib.h>
#include <string.h>

#include "core/wire/wire.h"
#include "lib/hash.h"
#include "lib/vec.h"

#define N_MAX 4096
#define N_PEER_MAX 16
#define N_PEER_SEND_MAX 256
#define LINGER_NS INT64_C(10000000000)
#define NONE FM_HASH_NONE

/* What names a transfer, beside its direction. */
struct name {
	uint64_t tid;
	uint32_t qpn;
	uint16_t lid;
	uint8_t mgmt_class, method; /* method: of its DATA */
};

struct transfer {
	struct name name;
	bool sending, lingers;
	struct mad_addr peer;
	uint64_t cookie;   /* sending */
	uint8_t *copy;	   /* sending: the message */
	uint32_t granted;  /* received: window of the answer, 0 = not told */
	int64_t linger_ns; /* until when */
	struct rmpp_sender sender;
	struct rmpp_receiver receiver;
};

struct rmpp_port {
	struct rmpp_port_limits limits;
	struct rmpp_port_ops ops;
	FM_VEC(struct transfer *) slots; /* NULL = free */
	FM_VEC(uint32_t) free_slots;
	struct fm_hash by_name; /* direction and name -> slot */
	struct fm_hash of_peer; /* peer_key() -> messages being received from it, or sent to it */
	unsigned n;
	int64_t due_ns;
	struct rmpp_port_counts counts;
};

void
rmpp_port_limits_default(struct rmpp_port_limits *l)
{
	*l = (struct rmpp_port_limits){ .n_max = N_MAX,
		.n_peer_max = N_PEER_MAX,
		.n_peer_send_max = N_PEER_SEND_MAX,
		.linger_ns = LINGER_NS };
	rmpp_limits_default(&l->transfer);
}

struct rmpp_port *
rmpp_port_new(const struct rmpp_port_limits *l, const struct rmpp_port_ops *ops)
{
	struct rmpp_port *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return NULL;
	p->limits = *l;
	p->ops = *ops;
	p->due_ns = INT64_MAX;
	return p;
}

/* ---- finding */

static uint64_t
hash_name(const struct name *n, bool sending)
{
	uint64_t rest = (uint64_t)n->qpn << 32 | (uint64_t)n->lid << 16 |
	    (uint64_t)n->mgmt_class << 8 | n->method;

	return fm_mix64(n->tid + fm_mix64(rest * 2 + sending));
}

static bool
same_name(const struct name *a, const struct name *b)
{
	return a->tid == b->tid && a->qpn == b->qpn && a->lid == b->lid &&
	    a->mgmt_class == b->mgmt_class && a->method == b->method;
}

static struct name
name_of(const uint8_t *mad, const struct mad_addr *peer, bool opposite)
{
	return (struct name){ .tid = wire_get64(mad + 8),
		.qpn = peer->qpn,
		.lid = peer->lid,
		.mgmt_class = mad[1],
		.method = (uint8_t)(mad[3] ^ (opposite ? WIRE_RESPONSE_BIT : 0)) };
}

static uint32_t
find(const struct rmpp_port *p, const struct name *n, bool sending)
{
	uint32_t slot = fm_hash_find(&p->by_name, hash_name(n, sending));

	return slot != NONE && same_name(&p->slots.item[slot]->name, n) ? slot : NONE;
}

/* ---- the table */

static uint64_t
peer_key(uint16_t lid, bool sending)
{
	return (uint64_t)sending << 16 | lid;
}

static uint32_t
n_of_peer(const struct rmpp_port *p, uint16_t lid, bool sending)
{
	uint32_t n = fm_hash_find(&p->of_peer, peer_key(lid, sending));

	return n == NONE ? 0 : n;
}

static void
count_peer(struct rmpp_port *p, uint16_t lid, bool sending, int by)
{
	uint32_t was = n_of_peer(p, lid, sending), n = was + (uint32_t)by;

	if (was == 0 && by < 0)
		return; /* memory was out when it was to be counted */
	if (n == 0)
		fm_hash_remove(&p->of_peer, peer_key(lid, sending));
	else
		fm_hash_put(
		    &p->of_peer, peer_key(lid, sending), n); /* grows when counting up only */
}

static void
free_transfer(struct rmpp_port *p, uint32_t slot)
{
	struct transfer *t = p->slots.item[slot];

	fm_hash_remove(&p->by_name, hash_name(&t->name, t->sending));
	if (!t->lingers)
		count_peer(p, t->name.lid, t->sending, -1);
	rmpp_receiver_drop(&t->receiver);
	free(t->copy);
	free(t);
	p->slots.item[slot] = NULL;
	p->free_slots.item[p->free_slots.n++] = slot; /* room was made with the slot */
	p->n--;
}

void
rmpp_port_free(struct rmpp_port *p)
{
	if (p == NULL)
		return;
	for (uint32_t i = 0; i < p->slots.n; i++)
		if (p->slots.item[i] != NULL)
			free_transfer(p, i);
	fm_vec_fini(&p->slots);
	fm_vec_fini(&p->free_slots);
	fm_hash_fini(&p->by_name);
	fm_hash_fini(&p->of_peer);
	free(p);
}

/* The one that has lingered longest makes room.  False: all are at work. */
static bool
evict(struct rmpp_port *p)
{
	uint32_t oldest = NONE;

	for (uint32_t i = 0; i < p->slots.n; i++) {
		const struct transfer *t = p->slots.item[i];

		if (t == NULL || !t->lingers)
			continue;
		if (oldest == NONE || t->linger_ns < p->slots.item[oldest]->linger_ns)
			oldest = i;
	}
	if (oldest == NONE)
		return false;
	free_transfer(p, oldest);
	return true;
}

static bool
new_slot(struct rmpp_port *p, uint32_t *slot)
{
	if (p->free_slots.n > 0) {
		*slot = p->free_slots.item[--p->free_slots.n];
		return true;
	}
	if (!fm_vec_reserve(&p->free_slots, p->slots.n + 1) ||
	    !fm_vec_push(&p->slots, (struct transfer *)NULL))
		return false;
	*slot = (uint32_t)p->slots.n - 1;
	return true;
}

/* NONE: there are too many, its hash is taken, or memory is out. */
static uint32_t
new_transfer(
    struct rmpp_port *p, const struct name *name, const struct mad_addr *peer, bool sending)
{
	uint64_t hash = hash_name(name, sending);
	struct transfer *t;
	uint32_t slot;

	if (p->n >= p->limits.n_max && !evict(p))
		return NONE;
	if (fm_hash_find(&p->by_name, hash) != NONE || !new_slot(p, &slot))
		return NONE;
	t = calloc(1, sizeof(*t));
	if (t == NULL || !fm_hash_put(&p->by_name, hash, slot)) {
		free(t);
		p->free_slots.item[p->free_slots.n++] = slot;
		return NONE;
	}
	t->name = *name;
	t->peer = *peer;
	t->sending = sending;
	count_peer(p, name->lid, sending, 1);
	p->slots.item[slot] = t;
	p->n++;
	return slot;
}

static void
look_at(struct rmpp_port *p, int64_t at_ns)
{
	if (at_ns < p->due_ns)
		p->due_ns = at_ns;
}

/* ---- sending */

/* All that may go out now; then, if it has ended, its end. */
static void
push(struct rmpp_port *p, uint32_t slot, int64_t now_ns)
{
	struct transfer *t = p->slots.item[slot];
	uint8_t mad[MAD_BYTES], status;
	uint64_t cookie = t->cookie;

	while (rmpp_sender_next(&t->sender, now_ns, mad))
		p->ops.send(p->ops.arg, mad, &t->peer);
	if (t->sender.state == RMPP_RUNNING) {
		look_at(p, t->sender.due_ns);
		return;
	}
	status = t->sender.status;
	if (t->sender.state == RMPP_DONE)
		p->counts.sent++;
	else
		p->counts.failed++;
	free_transfer(p, slot);
	if (p->ops.sent != NULL)
		p->ops.sent(p->ops.arg, cookie, status);
}

/* How much the peer, whose double-sided request this answers, may be sent. */
static uint32_t
first_window(const struct rmpp_port *p, const uint8_t *message, const struct mad_addr *to)
{
	struct name request = name_of(message, to, true);
	uint32_t slot = find(p, &request, false);

	return slot != NONE && p->slots.item[slot]->granted > 0 ? p->slots.item[slot]->granted : 1;
}

static void
start_sending(struct rmpp_port *p, struct transfer *t, size_t length, uint32_t window,
    const struct rmpp_send_options *o, int64_t now_ns)
{
	struct rmpp_limits l = p->limits.transfer;

	if (o != NULL && o->resend_ns > 0)
		l.resend_ns = o->resend_ns;
	if (o != NULL && o->n_retries >= 0)
		l.n_retries = (unsigned)o->n_retries;
	rmpp_sender_init(
	    &t->sender, &l, t->copy, length, window, o != NULL && o->double_sided, now_ns);
}

int
rmpp_port_send(struct rmpp_port *p, const uint8_t *message, size_t length,
    const struct mad_addr *to, const struct rmpp_send_options *o, uint64_t cookie, int64_t now_ns,
    struct fm_error *err)
{
	struct name name = name_of(message, to, false);
	uint32_t slot, window = first_window(p, message, to);
	uint8_t mad[MAD_BYTES];
	struct transfer *t;

	if (rmpp_header_bytes(message[1]) == 0 || length < rmpp_header_bytes(message[1]))
		return fm_fail(err, FM_E_CONFIG, "%zu bytes of class 0x%02x are no RMPP message",
		    length, message[1]);
	if (find(p, &name, true) != NONE)
		return fm_fail(err, FM_E_CONFIG,
		    "a message with TID 0x%016llx is being sent to "
		    "LID %u already",
		    (unsigned long long)name.tid, to->lid);
	slot = n_of_peer(p, to->lid, true) < p->limits.n_peer_send_max
	    ? new_transfer(p, &name, to, true)
	    : NONE;
	if (slot == NONE)
		return fm_fail(
		    err, FM_E_RESOURCE, "%u transfers are under way, or memory is out", p->n);
	t = p->slots.item[slot];
	t->cookie = cookie;
	t->copy = malloc(length);
	if (t->copy == NULL) {
		free_transfer(p, slot);
		return fm_fail(err, FM_E_RESOURCE, "no memory for a message of %zu bytes", length);
	}
	memcpy(t->copy, message, length);
	start_sending(p, t, length, window, o, now_ns);
	while (rmpp_sender_next(&t->sender, now_ns, mad))
		p->ops.send(p->ops.arg, mad, to);
	look_at(p, t->sender.due_ns);
	return 0;
}

void
rmpp_port_cancel(struct rmpp_port *p, uint64_t cookie)
{
	for (uint32_t i = 0; i < p->slots.n; i++) {
		const struct transfer *t = p->slots.item[i];

		if (t != NULL && t->sending && t->cookie == cookie) {
			free_transfer(p, i);
			return;
		}
	}
}

/* ---- receiving */

static void
linger(struct rmpp_port *p, struct transfer *t, int64_t now_ns)
{
	if (t->lingers)
		return;
	t->lingers = true;
	t->linger_ns = now_ns + p->limits.linger_ns;
	count_peer(p, t->name.lid, false, -1);
	look_at(p, t->linger_ns);
}

/* Its message leaves before the owner sees it: what the owner starts may evict
 * the transfer. */
static void
hand_over(struct rmpp_port *p, struct transfer *t, int64_t now_ns)
{
	struct mad_addr from = t->peer;
	size_t length = t->receiver.length;
	uint8_t *message = t->receiver.message;

	t->receiver.message = NULL;
	linger(p, t, now_ns);
	p->counts.received++;
	p->ops.received(p->ops.arg, message, length, &from);
	free(message);
}

static void
refuse(struct rmpp_port *p, const uint8_t *mad, const struct mad_addr *from)
{
	uint8_t reply[MAD_BYTES];

	p->counts.refused++;
	rmpp_refuse(mad, RMPP_NO_RESOURCES, reply);
	p->ops.send(p->ops.arg, reply, from);
}

/* The receiver of this segment; a first segment starts one. */
static uint32_t
receiver_of(struct rmpp_port *p, const uint8_t *mad, const struct mad_addr *from, int64_t now_ns)
{
	struct name name = name_of(mad, from, false);
	uint32_t slot = find(p, &name, false);

	if (slot != NONE)
		return slot;
	if (wire_get32(mad + RMPP_SEGMENT) > 1) { /* the rest of one long forgotten */
		p->counts.strangers++;
		return NONE;
	}
	if (n_of_peer(p, from->lid, false) < p->limits.n_peer_max)
		slot = new_transfer(p, &name, from, false);
	if (slot == NONE) {
		refuse(p, mad, from);
		return NONE;
	}
	rmpp_receiver_init(&p->slots.item[slot]->receiver, &p->limits.transfer, now_ns);
	look_at(p, p->slots.item[slot]->receiver.due_ns);
	return slot;
}

static void
give_to_receiver(struct rmpp_port *p, uint32_t slot, const uint8_t *mad,
    const struct mad_addr *from, int64_t now_ns)
{
	struct transfer *t = p->slots.item[slot];
	bool was_running = t->receiver.state == RMPP_RUNNING;
	uint8_t reply[MAD_BYTES];

	if (rmpp_receiver_take(&t->receiver, mad, now_ns, reply))
		p->ops.send(p->ops.arg, reply, from);
	if (!was_running || t->receiver.state == RMPP_RUNNING)
		return;
	if (t->receiver.state == RMPP_DONE) {
		hand_over(p, t, now_ns);
		return;
	}
	p->counts.failed++;
	free_transfer(p, slot);
}

/* ACK of segment 0: the peer has turned round and waits for the answer. */
static bool
take_turn(struct rmpp_port *p, const uint8_t *mad, const struct mad_addr *from)
{
	struct name name = name_of(mad, from, false);
	uint32_t slot = find(p, &name, false);

	if (slot == NONE || wire_get32(mad + RMPP_SEGMENT) != 0 ||
	    p->slots.item[slot]->receiver.state != RMPP_DONE)
		return false;
	p->slots.item[slot]->granted = wire_get32(mad + RMPP_LENGTH);
	return true;
}

void
rmpp_port_take(struct rmpp_port *p, const uint8_t *mad, const struct mad_addr *from, int64_t now_ns)
{
	struct name opposite = name_of(mad, from, true), same = name_of(mad, from, false);
	uint8_t type = mad[RMPP_TYPE];
	uint32_t slot = type == RMPP_DATA ? NONE : find(p, &opposite, true);

	if (slot != NONE) {
		rmpp_sender_take(&p->slots.item[slot]->sender, mad, now_ns);
		push(p, slot, now_ns);
		return;
	}
	if (type == RMPP_DATA)
		slot = receiver_of(p, mad, from, now_ns);
	else if (type == RMPP_ACK)
		p->counts.strangers += !take_turn(p, mad, from);
	else if ((slot = find(p, &same, false)) == NONE)
		p->counts.strangers++;
	if (slot != NONE)
		give_to_receiver(p, slot, mad, from, now_ns);
}

/* ---- time */

static int64_t
due_of(const struct transfer *t)
{
	if (t->sending)
		return t->sender.due_ns;
	return t->lingers ? t->linger_ns : t->receiver.due_ns;
}

static void
tick_receiver(struct rmpp_port *p, uint32_t slot, int64_t now_ns)
{
	struct transfer *t = p->slots.item[slot];
	uint8_t reply[MAD_BYTES];

	if (t->lingers) {
		if (now_ns >= t->linger_ns)
			free_transfer(p, slot);
		return;
	}
	if (!rmpp_receiver_tick(&t->receiver, now_ns, reply))
		return;
	p->ops.send(p->ops.arg, reply, &t->peer);
	p->counts.failed++;
	free_transfer(p, slot);
}

int64_t
rmpp_port_due(const struct rmpp_port *p)
{
	return p->due_ns;
}

void
rmpp_port_tick(struct rmpp_port *p, int64_t now_ns)
{
	if (now_ns < p->due_ns)
		return;
	p->due_ns = INT64_MAX;
	for (uint32_t i = 0; i < p->slots.n; i++) {
		struct transfer *t = p->slots.item[i];

		if (t == NULL)
			continue;
		if (due_of(t) > now_ns) {
			look_at(p, due_of(t));
		} else if (t->sending) {
			p->counts.resent += t->sender.retries_left > 0;
			rmpp_sender_tick(&t->sender, now_ns);
			push(p, i, now_ns);
		} else {
			tick_receiver(p, i, now_ns);
		}
	}
}

const struct rmpp_port_counts *
rmpp_port_counts(const struct rmpp_port *p)
{
	return &p->counts;
}

size_t
rmpp_port_bytes(const struct rmpp_port *p)
{
	size_t n = 0;

	for (uint32_t i = 0; i < p->slots.n; i++) {
		const struct transfer *t = p->slots.item[i];

		if (t != NULL)
			n += t->receiver.room + (t->copy != NULL ? t->sender.length : 0);
	}
	return n;
}
