/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * web/serve/reply.h - answers to requests of HTTP; and requests whose answer is not there yet.
 */
#ifndef WEB_SERVE_REPLY_H
#define WEB_SERVE_REPLY_H

#include <event2/http.h>
#include <jansson.h>

#include "lib/error.h"
#include "web/text/text.h"

/* Codes that libevent has no names for. */
#define REPLY_FORBIDDEN 403
#define REPLY_TOO_MANY 429

/* A text that several answers share, freed with the last of them. */
struct page {
	struct text text;
	unsigned n_users;
};
struct page *page_new(void);   /* of one user; NULL: memory is out */
void page_put(struct page *p); /* one fewer; NULL is fine */
/* How many are there, of what is sent still and what is kept? */
unsigned pages_alive(void);

#define REPLY_METRICS "text/plain; version=0.0.4; charset=utf-8"
#define REPLY_HTML "text/html; charset=utf-8"
void reply_page(struct evhttp_request *req, const char *type, struct page *p);
void reply_json(struct evhttp_request *req, const json_t *value);
/* {"error": SENTENCE, "kind": WORD}.  code 0: the one that fits the kind. */
void reply_error(struct evhttp_request *req, int code, const struct fm_error *err);
void reply_refuse(struct evhttp_request *req, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A request that is answered later, if its connection lasts. */
struct pending;
struct pending *pending_new(struct evhttp_request *req); /* NULL: memory is out, which it is told */
/* Its request, or NULL: nobody waits any more.  p is freed. */
struct evhttp_request *pending_end(struct pending *p);

#endif
