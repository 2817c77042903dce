/* SPDX-License-Identifier: BSD-2-Clause */
#include "web/serve/visitors.h"
#include "lib/clock.h"

#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/socket.h>

#define TICK_US 100000

struct visitor {
	struct visitors *all;
	struct bufferevent *io; /* a reference: its descriptor stays ours */
	enum { ASKS, IS_ANSWERED, FOLLOWS, IS_SHUT } state;
	int64_t since_ms;
	struct visitor *next;
};

struct visitors {
	struct event_base *base;
	struct evconnlistener *listener;
	struct event *tick;
	struct visitor *first;
	unsigned n;
	bool is_full; /* nobody is let in */
};

static int64_t
now_ms(void)
{
	return fm_clock_ms(CLOCK_MONOTONIC);
}

/* The server has freed it, and with that taken its callbacks away. */
static bool
has_gone(const struct visitor *one)
{
	bufferevent_event_cb on_event;

	bufferevent_getcb(one->io, NULL, NULL, &on_event, NULL);
	return on_event == NULL;
}

static void
forget_gone(struct visitors *v)
{
	for (struct visitor **at = &v->first; *at != NULL;) {
		struct visitor *one = *at;

		if (!has_gone(one)) {
			at = &one->next;
			continue;
		}
		*at = one->next;
		v->n--;
		bufferevent_decref(one->io);
		free(one);
	}
}

/* The server sees the end of the connection, and frees it. */
static void
shut(struct visitor *one)
{
	one->state = IS_SHUT;
	shutdown(bufferevent_getfd(one->io), SHUT_RDWR);
}

static int64_t
patience_ms(const struct visitor *one)
{
	switch (one->state) {
	case ASKS:
		return one->all->is_full ? VISITORS_HASTE_MS : VISITORS_REQUEST_MS;
	case IS_ANSWERED:
		return VISITORS_ANSWER_MS;
	default:
		return INT64_MAX;
	}
}

static void
let_in(struct visitors *v)
{
	if (v->is_full && v->n < VISITORS_MAX)
		v->is_full = evconnlistener_enable(v->listener) != 0;
}

static void
on_tick(evutil_socket_t fd, short what, void *arg)
{
	static const struct timeval again = { .tv_usec = TICK_US };
	struct visitors *v = arg;
	int64_t now = now_ms();

	forget_gone(v);
	for (struct visitor *one = v->first; one != NULL; one = one->next)
		if (now - one->since_ms >= patience_ms(one))
			shut(one);
	let_in(v);
	if (v->n > 0 || v->is_full)
		event_add(v->tick, &again);
}

/* What the server is to use for a new connection; NULL, where memory is out: one of its own. */
static struct bufferevent *
on_new(struct event_base *base, void *arg)
{
	static const struct timeval soon = { .tv_usec = TICK_US };
	struct bufferevent *io = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
	struct visitor *one = io != NULL ? calloc(1, sizeof(*one)) : NULL;
	struct visitors *v = arg;

	if (one == NULL)
		return io;
	bufferevent_incref(io);
	*one = (struct visitor){ .all = v, .io = io, .since_ms = now_ms(), .next = v->first };
	v->first = one;
	if (++v->n >= VISITORS_MAX && !v->is_full)
		v->is_full = evconnlistener_disable(v->listener) == 0;
	if (!event_pending(v->tick, EV_TIMEOUT, NULL))
		event_add(v->tick, &soon);
	return io;
}

static void
pass_to(struct visitors *v, struct evhttp_request *req, int state)
{
	struct bufferevent *io =
	    evhttp_connection_get_bufferevent(evhttp_request_get_connection(req));

	for (struct visitor *one = v->first; one != NULL; one = one->next)
		if (one->io == io && one->state != IS_SHUT) {
			one->state = state;
			one->since_ms = now_ms();
		}
}

static void
on_answered(struct evhttp_request *req, void *arg)
{
	pass_to(arg, req, ASKS);
}

void
visitors_begin(struct visitors *v, struct evhttp_request *req)
{
	pass_to(v, req, IS_ANSWERED);
	evhttp_request_set_on_complete_cb(req, on_answered, v);
}

void
visitors_stream(struct visitors *v, struct evhttp_request *req)
{
	pass_to(v, req, FOLLOWS);
}

struct visitors *
visitors_new(struct event_base *base, struct evhttp *http, struct evconnlistener *listener)
{
	struct visitors *v = calloc(1, sizeof(*v));

	if (v == NULL)
		return NULL;
	v->base = base;
	v->listener = listener;
	v->tick = evtimer_new(base, on_tick, v);
	if (v->tick == NULL) {
		free(v);
		return NULL;
	}
	evhttp_set_bevcb(http, on_new, v);
	return v;
}

void
visitors_free(struct visitors *v)
{
	if (v == NULL)
		return;
	while (v->first != NULL) {
		struct visitor *one = v->first;

		v->first = one->next;
		bufferevent_decref(one->io);
		free(one);
	}
	event_free(v->tick);
	free(v);
}
