/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "web/serve/stream.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/keyvalq_struct.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/number.h"
#include "web/serve/reply.h"

#define WRITE_S 10
#define INPUT_MOST 4096 /* bytes that a listener may send, to whom nobody listens */

struct stream {
	struct evhttp_request *req; /* NULL: its place is free */
	struct streams *all;
	json_int_t at; /* the event that it was told last; -1: it begins with the next */
	char time[32]; /* of that event; "": not known */
	unsigned silent_ticks;
};

struct streams {
	struct questions *fmd;
	struct visitors *visitors;
	struct event *tick;
	bool asks;
	json_int_t after; /* what fmd is asked for comes after this one; -1: all */
	struct stream stream[STREAMS_MAX];
};

/* -------------------------------------------------------------------- one listener */

static void
on_close(struct evhttp_connection *connection, void *arg)
{
	struct stream *one = arg;

	one->req = NULL;
}

static struct bufferevent *
io_of(const struct stream *one)
{
	return evhttp_connection_get_bufferevent(evhttp_request_get_connection(one->req));
}

/* Its connection ends; on_close() frees its place. */
static void
hang_up(struct stream *one)
{
	struct evhttp_connection *connection = evhttp_request_get_connection(one->req);

	one->req = NULL;
	evhttp_connection_set_closecb(connection, NULL, NULL);
	evhttp_connection_free(connection);
}

/* body: drained. */
static void
send_some(struct stream *one, struct evbuffer *body)
{
	if (evbuffer_get_length(bufferevent_get_output(io_of(one))) > STREAM_BACKLOG) {
		hang_up(one);
		return;
	}
	evhttp_send_reply_chunk(one->req, body);
	one->silent_ticks = 0;
}

static void
add_gap(struct evbuffer *body, json_int_t after, json_int_t next)
{
	evbuffer_add_printf(body,
	    "event: gap\ndata: {\"after\":%" JSON_INTEGER_FORMAT ",\"next\":%" JSON_INTEGER_FORMAT
	    "}\n\n",
	    after, next);
}

static json_int_t
number_of(const json_t *event)
{
	return json_integer_value(json_object_get(event, "n"));
}

static const char *
time_of(const json_t *event)
{
	const char *time = json_string_value(json_object_get(event, "time"));

	return time != NULL ? time : "";
}

static void
add_event(struct evbuffer *body, const json_t *event)
{
	char *text = json_dumps(event, JSON_COMPACT);

	if (text != NULL)
		evbuffer_add_printf(
		    body, "id: %" JSON_INTEGER_FORMAT "\ndata: %s\n\n", number_of(event), text);
	free(text);
}

/* What comes from here on is told. */
static void
add_start(struct evbuffer *body)
{
	evbuffer_add(body, ": events of fmd\n\n", 17);
}

/* Does fmd count anew, as its state folder has been emptied, or has it never told so many?  What it
 * was asked for has the event that was told last, by the time that it had, or only later ones. */
static bool
is_counted_anew(const struct stream *one, const json_t *events)
{
	size_t n_events = json_array_size(events);
	json_int_t newest = n_events > 0 ? number_of(json_array_get(events, n_events - 1)) : 0;
	const json_t *event;
	size_t i;

	if (one->at <= 0)
		return false;
	if (newest < one->at)
		return true;
	json_array_foreach(events, i, event)
		if (number_of(event) == one->at)
			return one->time[0] != '\0' && strcmp(time_of(event), one->time) != 0;
	return false;
}

static void
begin_anew(struct stream *one, struct evbuffer *body)
{
	add_gap(body, one->at, 1);
	one->at = 0;
}

/* What came after the last that it was told.  Where numbers are missing, events were lost. */
static void
add_news(struct stream *one, const json_t *events, struct evbuffer *body)
{
	size_t n_events = json_array_size(events);
	bool begins = one->at < 0;

	if (is_counted_anew(one, events)) {
		begin_anew(one, body); /* what is here begins later: all is asked for */
		return;
	}
	for (size_t i = 0; i < n_events; i++) {
		const json_t *event = json_array_get(events, i);
		json_int_t n = number_of(event); /* 0: {"gap": how many} */

		if (n <= one->at)
			continue;
		if (!begins && n > one->at + 1)
			add_gap(body, one->at, n);
		if (!begins)
			add_event(body, event);
		one->at = n;
		snprintf(one->time, sizeof(one->time), "%s", time_of(event));
	}
	if (one->at < 0)
		one->at = 0;
	if (begins)
		add_start(body);
}

/* --------------------------------------------------------------------- all of them */

/* The event that it was told last, and what came since. */
static json_int_t
wants_after(const struct stream *one)
{
	return one->at > 0 ? one->at - 1 : 0;
}

/* Has fmd been asked for all that it is to be told?  It may have come meanwhile. */
static bool
is_asked_for(const struct stream *one, json_int_t after)
{
	return one->req != NULL && (one->at < 0 || wants_after(one) >= after);
}

static void
on_events(void *arg, json_t *events, const struct fm_error *err)
{
	struct streams *s = arg;

	s->asks = false;
	for (unsigned i = 0; i < STREAMS_MAX; i++) {
		struct stream *one = &s->stream[i];
		struct evbuffer *body = is_asked_for(one, s->after) ? evbuffer_new() : NULL;

		if (body == NULL)
			continue;
		if (json_is_array(events))
			add_news(one, events, body);
		else if (err != NULL && err->kind == FM_E_CONFIG && one->at > 0)
			begin_anew(one, body);
		if (evbuffer_get_length(body) > 0)
			send_some(one, body);
		evbuffer_free(body);
	}
}

/* From the one on that who is furthest behind was told last, so that the newest is among them. */
static json_int_t
furthest_behind(const struct streams *s)
{
	json_int_t after = -1;

	for (unsigned i = 0; i < STREAMS_MAX; i++)
		if (s->stream[i].req != NULL && s->stream[i].at >= 0 &&
		    (after < 0 || wants_after(&s->stream[i]) < after))
			after = wants_after(&s->stream[i]);
	return after;
}

static void
on_tick(evutil_socket_t fd, short what, void *arg)
{
	static const struct timeval period = { .tv_usec = 1000 * STREAM_EVERY_MS };
	struct streams *s = arg;
	unsigned n = 0;

	for (unsigned i = 0; i < STREAMS_MAX; i++) {
		struct stream *one = &s->stream[i];
		struct evbuffer *body;

		if (one->req == NULL)
			continue;
		n++;
		if (++one->silent_ticks < STREAM_SILENT_MS / STREAM_EVERY_MS ||
		    (body = evbuffer_new()) == NULL)
			continue;
		evbuffer_add(body, ":\n\n", 3);
		send_some(one, body);
		evbuffer_free(body);
	}
	if (n == 0)
		return;
	event_add(s->tick, &period);
	if (s->asks)
		return;
	s->asks = true;
	s->after = furthest_behind(s);
	questions_ask(s->fmd, "events", s->after < 0 ? NULL : json_pack("{s:I}", "after", s->after),
	    5000, on_events, s);
}

/* -1: it has none; -2: that is no number. */
static json_int_t
last_event_of(struct evhttp_request *req)
{
	const char *id = evhttp_find_header(evhttp_request_get_input_headers(req), "Last-Event-ID");
	uint64_t n;

	if (id == NULL)
		return -1;
	return number_parse(id, &n) && n <= INT64_MAX ? (json_int_t)n : -2;
}

static void
open_stream(struct stream *one, struct evhttp_request *req)
{
	static const struct timeval patience = { .tv_sec = WRITE_S };
	struct evkeyvalq *headers = evhttp_request_get_output_headers(req);
	struct evbuffer *body = evbuffer_new();

	evhttp_add_header(headers, "Content-Type", "text/event-stream");
	evhttp_add_header(headers, "Cache-Control", "no-store");
	evhttp_connection_set_closecb(evhttp_request_get_connection(req), on_close, one);
	evhttp_send_reply_start(req, HTTP_OK, "OK");
	if (body != NULL && one->at >= 0) {
		add_start(body);
		evhttp_send_reply_chunk(req, body);
	}
	if (body != NULL)
		evbuffer_free(body);
	/* its end is seen only where it is read from */
	bufferevent_setwatermark(io_of(one), EV_READ, 0, INPUT_MOST);
	bufferevent_set_timeouts(io_of(one), NULL, &patience);
	bufferevent_enable(io_of(one), EV_READ);
}

void
streams_add(struct streams *s, struct evhttp_request *req)
{
	static const struct timeval now = { 0 };
	json_int_t last = last_event_of(req);
	struct stream *one = NULL;

	for (unsigned i = 0; i < STREAMS_MAX; i++)
		if (s->stream[i].req == NULL)
			one = &s->stream[i];
	if (evhttp_request_get_command(req) != EVHTTP_REQ_GET) {
		reply_refuse(req, HTTP_BADMETHOD, "a stream is read by GET");
	} else if (last == -2) {
		reply_refuse(req, HTTP_BADREQUEST, "Last-Event-ID is the number of an event");
	} else if (one == NULL) {
		reply_refuse(
		    req, HTTP_SERVUNAVAIL, "%d listen already, which is all that may", STREAMS_MAX);
	} else {
		*one = (struct stream){ .req = req, .all = s, .at = last };
		visitors_stream(s->visitors, req);
		open_stream(one, req);
		if (!event_pending(s->tick, EV_TIMEOUT, NULL))
			event_add(s->tick, &now);
	}
}

struct streams *
streams_new(struct event_base *base, struct questions *fmd, struct visitors *visitors)
{
	struct streams *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->fmd = fmd;
	s->visitors = visitors;
	s->tick = evtimer_new(base, on_tick, s);
	if (s->tick != NULL)
		return s;
	free(s);
	return NULL;
}

void
streams_free(struct streams *s)
{
	if (s == NULL)
		return;
	for (unsigned i = 0; i < STREAMS_MAX; i++)
		if (s->stream[i].req != NULL)
			hang_up(&s->stream[i]);
	event_free(s->tick);
	free(s);
}
