/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * web/serve/fabric.h - /api/v1/fabric: the whole fabric, as fmd has told it last.
 *
 * The text is passed on as it came, and all who ask share one.  Whoever asks gets what fmd has told
 * after that; it is asked once for all who have come meanwhile, each FABRIC_EVERY_MS at most, and
 * says no more than "same" where nothing has changed.
 */
#ifndef WEB_SERVE_FABRIC_H
#define WEB_SERVE_FABRIC_H

#include <event2/http.h>
#include <jansson.h>

#include "web/serve/questions.h"
#include "web/serve/reply.h"

#define FABRIC_EVERY_MS 100
#define FABRIC_ASK_MS 3000
#define FABRIC_ALIVE 8 /* texts that are kept or on their way */
#define FABRIC_GENERATION 32

struct fabric;
struct event_base;

struct fabric *fabric_new(struct event_base *base, struct questions *fmd); /* NULL: memory is out */
void fabric_free(struct fabric *f); /* after the questions; NULL is fine */

/* args: generation, a string; borrowed. */
void fabric_answer(struct fabric *f, struct evhttp_request *req, const json_t *args);

/* page: a new one, or that which they had before; NULL where err says why. */
typedef void (*fabric_done)(void *arg, struct page *page, const struct fm_error *err);
/* done is called once, from the loop; only where memory is out before this returns. */
void fabric_ask(struct fabric *f, fabric_done done, void *arg);

#endif
