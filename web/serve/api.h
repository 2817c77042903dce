/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * web/serve/api.h - /api/v1/COMMAND: what fmctl --json shows, as far as it changes nothing.
 *
 * What reads fmd itself tells (its command "help"); whoever fmd-web runs as, it passes on nothing
 * else, nor what has nodes asked by MADs.  fmd is asked 20 times a second at most.  Who asks what
 * is asked already, or within API_FRESH_MS of its answer, gets that answer.
 */
#ifndef WEB_SERVE_API_H
#define WEB_SERVE_API_H

#include <event2/http.h>
#include <jansson.h>

#include "web/serve/questions.h"

#define API_ASK_MS 3000
#define API_BURST 40
#define API_EVERY_MS 50
#define API_FRESH_MS 100
#define API_TOLD 8 /* answers that are kept */

struct api;

/* file: of counters; all borrowed.  NULL: memory is out. */
struct api *api_new(struct questions *fmd, const char *file);
void api_free(struct api *a); /* after what it has asked has ended; NULL is fine */

/* args: borrowed. */
void api_answer(struct api *a, struct evhttp_request *req, const char *command, const json_t *args);

#endif
