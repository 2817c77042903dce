/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * web/serve/visitors.h - who is connected: how many at most, and how long each may take.
 *
 * libevent's HTTP server has neither bound.  Here each connection is known from its beginning; one
 * that takes too long is shut down, which the server takes for its end.  When as many are there as
 * may be, those go that have not sent a whole request, and soon; others wait meanwhile.
 */
#ifndef WEB_SERVE_VISITORS_H
#define WEB_SERVE_VISITORS_H

#include <event2/http.h>
#include <stdbool.h>

#define VISITORS_MAX 128
#define VISITORS_REQUEST_MS 10000 /* for a whole request, from the connection or the last answer */
#define VISITORS_ANSWER_MS 60000  /* for making and reading an answer */
#define VISITORS_HASTE_MS 100	  /* ... where there is no room */

struct evconnlistener;
struct visitors;

/* They come by listener, to http; both borrowed.  NULL: memory is out. */
struct visitors *visitors_new(
    struct event_base *base, struct evhttp *http, struct evconnlistener *listener);
void visitors_free(struct visitors *v); /* after http; NULL is fine */

/* A whole request has come; how it ends is seen.  Call it first of all. */
void visitors_begin(struct visitors *v, struct evhttp_request *req);
/* It is answered by a stream, which may last. */
void visitors_stream(struct visitors *v, struct evhttp_request *req);

#endif
