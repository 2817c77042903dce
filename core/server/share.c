/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Deficit round robin: a client at the head of the ring pays one unit of its
 * debt a turn, or, if it has none, has its first request taken.
 */
#include "core/server/share.h"

#include <stdlib.h>
#include <string.h>

#include "core/wire/wire.h"
#include "lib/vec.h"

#define NONE UINT32_MAX
#define N_LIDS 65536u
#define DEBT_MAX 4096
#define SPARE_MAX 512 /* places of one MAD that are kept for the next */

struct waiting {
	struct waiting *next;
	struct mad_addr from;
	struct sa_job *work; /* put back with it */
	size_t n_bytes;
	uint8_t bytes[];
};

/* In the ring while something of it waits; forgotten after that, debt and all,
 * once nobody else waits either. */
struct client {
	struct waiting *first, *last;
	size_t bytes;
	uint32_t next; /* in the ring */
	uint32_t n, debt;
	uint16_t lid;
	bool in_ring;
};

struct sa_share {
	struct sa_share_limits limits;
	FM_VEC(struct client) clients;
	uint32_t *by_lid; /* [N_LIDS] place in clients, if that is its LID */
	uint32_t tail;	  /* of the ring: its next is the head; NONE: empty */
	uint32_t n;
	size_t bytes;
	struct waiting *taken;
	uint32_t taken_of; /* client */
	struct waiting *spare;
	uint32_t n_spare;
};

struct sa_share *
sa_share_new(const struct sa_share_limits *l)
{
	struct sa_share *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->limits = *l;
	s->tail = s->taken_of = NONE;
	s->by_lid = calloc(N_LIDS, sizeof(*s->by_lid));
	if (s->by_lid == NULL) {
		free(s);
		return NULL;
	}
	return s;
}

/* A place for a request. */
static struct waiting *
new_place(struct sa_share *s, size_t n_bytes)
{
	struct waiting *w = s->spare;

	if (n_bytes > WIRE_MAD_BYTES)
		return malloc(sizeof(*w) + n_bytes);
	if (w == NULL)
		return malloc(sizeof(*w) + WIRE_MAD_BYTES);
	s->spare = w->next;
	s->n_spare--;
	return w;
}

static void
free_place(struct sa_share *s, struct waiting *w)
{
	if (w == NULL || w->n_bytes > WIRE_MAD_BYTES || s->n_spare == SPARE_MAX) {
		free(w);
		return;
	}
	w->next = s->spare;
	s->spare = w;
	s->n_spare++;
}

void
sa_share_free(struct sa_share *s)
{
	struct waiting *w;

	if (s == NULL)
		return;
	for (size_t i = 0; i < s->clients.n; i++)
		while ((w = s->clients.item[i].first) != NULL) {
			s->clients.item[i].first = w->next;
			free(w);
		}
	while ((w = s->spare) != NULL) {
		s->spare = w->next;
		free(w);
	}
	free(s->taken);
	fm_vec_fini(&s->clients);
	free(s->by_lid);
	free(s);
}

/* Places that are void need not be cleared: another LID is there, or none (Briggs and Torczon,
 * 1993). */
static uint32_t
find_client(const struct sa_share *s, uint16_t lid)
{
	uint32_t i = s->by_lid[lid];

	return i < s->clients.n && s->clients.item[i].lid == lid ? i : NONE;
}

static uint32_t
client_of(struct sa_share *s, uint16_t lid)
{
	uint32_t i = find_client(s, lid);
	struct client c = { .lid = lid };

	if (i != NONE)
		return i;
	if (!fm_vec_push(&s->clients, c))
		return NONE;
	return s->by_lid[lid] = (uint32_t)s->clients.n - 1;
}

static void
enter_ring(struct sa_share *s, uint32_t i)
{
	struct client *c = &s->clients.item[i];

	c->in_ring = true;
	if (s->tail == NONE) {
		c->next = i;
	} else {
		c->next = s->clients.item[s->tail].next;
		s->clients.item[s->tail].next = i;
	}
	s->tail = i;
}

static void
leave_ring(struct sa_share *s, uint32_t head)
{
	struct client *c = &s->clients.item[head];

	c->in_ring = false;
	if (head == s->tail)
		s->tail = NONE;
	else
		s->clients.item[s->tail].next = c->next;
}

static void
count_in(struct sa_share *s, uint32_t i, const struct waiting *w)
{
	struct client *c = &s->clients.item[i];

	c->n++;
	c->bytes += w->n_bytes;
	s->n++;
	s->bytes += w->n_bytes;
	if (!c->in_ring)
		enter_ring(s, i);
}

bool
sa_share_put(struct sa_share *s, const struct mad_addr *from, const uint8_t *bytes, size_t n_bytes)
{
	uint32_t i = client_of(s, from->lid);
	struct client *c;
	struct waiting *w;

	if (i == NONE)
		return false;
	c = &s->clients.item[i];
	if (s->n >= s->limits.n_max || c->n >= s->limits.n_client_max ||
	    s->bytes + n_bytes > s->limits.bytes_max ||
	    c->bytes + n_bytes > s->limits.bytes_client_max)
		return false;
	w = new_place(s, n_bytes);
	if (w == NULL)
		return false;
	*w = (struct waiting){ .from = *from, .n_bytes = n_bytes };
	memcpy(w->bytes, bytes, n_bytes);
	if (c->last != NULL)
		c->last->next = w;
	else
		c->first = w;
	c->last = w;
	count_in(s, i, w);
	return true;
}

bool
sa_share_has(
    const struct sa_share *s, const struct mad_addr *from, const uint8_t *bytes, size_t n_bytes)
{
	uint32_t i = find_client(s, from->lid);
	const struct waiting *w = i != NONE ? s->clients.item[i].first : NULL;

	while (w != NULL &&
	    (w->n_bytes != n_bytes || w->from.qpn != from->qpn ||
		memcmp(w->bytes, bytes, n_bytes) != 0))
		w = w->next;
	return w != NULL;
}

void
sa_share_put_back(struct sa_share *s, struct sa_job *work)
{
	struct client *c = &s->clients.item[s->taken_of];
	struct waiting *w = s->taken;

	s->taken = NULL;
	w->work = work;
	w->next = c->first;
	c->first = w;
	if (c->last == NULL)
		c->last = w;
	count_in(s, s->taken_of, w);
}

struct sa_job *
sa_share_work(const struct sa_share *s)
{
	return s->taken != NULL ? s->taken->work : NULL;
}

/* Nobody waits: nobody was held back, so debts are void. */
static void
forget(struct sa_share *s)
{
	s->clients.n = 0;
	s->taken_of = NONE;
}

bool
sa_share_take(struct sa_share *s, struct mad_addr *from, const uint8_t **bytes, size_t *n_bytes)
{
	struct client *c;
	uint32_t head;

	free_place(s, s->taken);
	s->taken = NULL;
	if (s->n == 0) {
		forget(s);
		return false;
	}
	for (head = s->clients.item[s->tail].next; s->clients.item[head].debt > 0;
	     head = s->clients.item[head].next) {
		s->clients.item[head].debt--;
		s->tail = head;
	}
	c = &s->clients.item[head];
	s->taken = c->first;
	s->taken_of = head;
	c->first = c->first->next;
	if (c->first == NULL)
		c->last = NULL;
	c->n--;
	c->bytes -= s->taken->n_bytes;
	s->n--;
	s->bytes -= s->taken->n_bytes;
	if (c->n == 0)
		leave_ring(s, head);
	else
		s->tail = head;
	*from = s->taken->from;
	*bytes = s->taken->bytes;
	*n_bytes = s->taken->n_bytes;
	return true;
}

void
sa_share_charge(struct sa_share *s, uint32_t cost)
{
	struct client *c;

	if (s->taken_of == NONE || cost == 0)
		return;
	c = &s->clients.item[s->taken_of];
	c->debt += cost - 1;
	if (c->debt > DEBT_MAX)
		c->debt = DEBT_MAX;
}

uint32_t
sa_share_waiting(const struct sa_share *s)
{
	return s->n;
}
