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
#define REPLY_MISDIRECTED 421
#define REPLY_TOO_MANY 429

enum page_kind { PAGE_METRICS, PAGE_PORTS, PAGE_FILE, PAGE_FABRIC, PAGE_CELLS, PAGE_KINDS };

/* A text that several answers share, freed with the last of them. */
struct page {
	struct text text;
	struct text zipped; /* by gzip, made for the first who takes that; nothing: not yet */
	uint64_t hash;	    /* of the text, made for its first answer; 0: not yet */
	enum page_kind kind;
	unsigned n_users;
};
struct page *page_new(enum page_kind kind); /* of one user; NULL: memory is out */
void page_put(struct page *p);		    /* one fewer; NULL is fine */
/* How many are there of a kind, of what is sent still and what is kept? */
unsigned pages_alive(enum page_kind kind);

#define REPLY_METRICS "text/plain; version=0.0.4; charset=utf-8"
#define REPLY_HTML "text/html; charset=utf-8"
#define REPLY_JSON "application/json"
void reply_page(struct evhttp_request *req, const char *type, struct page *p);
/* What a browser may keep, and asks for again by its ETag: nothing of it is sent where it has not
 * changed (304).  By gzip where that is taken. */
void reply_kept(struct evhttp_request *req, const char *type, struct page *p);
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
