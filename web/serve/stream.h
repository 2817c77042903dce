/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * web/serve/stream.h - /api/v1/events/stream: events as they happen (text/event-stream).
 *
 *	id: 17
 *	data: {"n":17,"time":"...","level":"notice","text":"..."}
 *
 * fmd is asked each STREAM_EVERY_MS for all who listen.  One who comes back with Last-Event-ID gets
 * what came after it; what is no longer known is an event "gap".
 */
#ifndef WEB_SERVE_STREAM_H
#define WEB_SERVE_STREAM_H

#include <event2/http.h>

#include "web/serve/questions.h"
#include "web/serve/visitors.h"

#define STREAMS_MAX 16
#define STREAM_BACKLOG 262144 /* bytes that one has not read; then it is hung up on */
#define STREAM_EVERY_MS 250
#define STREAM_SILENT_MS 15000 /* then a comment shows that it lives */

struct streams;

struct streams *streams_new(
    struct event_base *base, struct questions *fmd, struct visitors *visitors);
void streams_free(struct streams *s); /* before http; NULL is fine */
/* One more listens, or is refused. */
void streams_add(struct streams *s, struct evhttp_request *req);

#endif
