/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * web/serve/counted.h - the file of counters, read once for all who ask; /api/v1/cells and history.
 *
 * The bytes of all ports are made once a reading, for the first who wants them: 27 ms at 58,320
 * ports with reading the file, and 80 ms of a whole hour.
 */
#ifndef WEB_SERVE_COUNTED_H
#define WEB_SERVE_COUNTED_H

#include <event2/http.h>
#include <jansson.h>

#include "web/text/hour.h"
#include "web/text/readings.h"

#define COUNTED_ALIVE 8 /* answers to cells that are kept or on their way */

struct counted;
struct event_base;

/* file: borrowed.  NULL: memory is out. */
struct counted *counted_new(struct event_base *base, const char *file);
void counted_free(struct counted *c); /* NULL is fine */

/* Read what is new in the file; errors of readings_follow(), which are logged once. */
int counted_follow(struct counted *c, struct fm_error *err);
/* As they were followed last. */
const struct readings *counted_readings(const struct counted *c);
const struct hour *counted_hour(const struct counted *c);

/* args, which are strings: over (now, hour); borrowed. */
void counted_cells(struct counted *c, struct evhttp_request *req, const json_t *args);
/* args, which are strings: port. */
void counted_history(struct counted *c, struct evhttp_request *req, const json_t *args);

#endif
