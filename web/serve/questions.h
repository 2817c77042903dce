/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * web/serve/questions.h - questions to fmd's control socket, none of which the loop waits for.
 *
 * A few are open at a time, so that fmctl finds a place beside them (CTL_CLIENTS_MAX); others wait
 * in a row.  Each ends with its answer, or with a sentence when its time is over.
 */
#ifndef WEB_SERVE_QUESTIONS_H
#define WEB_SERVE_QUESTIONS_H

#include <jansson.h>

#include "lib/error.h"

#define QUESTIONS_OPEN 6
#define QUESTIONS_WAITING 128

struct event_base;
struct questions;

/* result: borrowed, NULL where err says why. */
typedef void (*question_done)(void *arg, json_t *result, const struct fm_error *err);

/* path: of the socket, borrowed.  NULL: memory is out. */
struct questions *questions_new(struct event_base *base, const char *path);
/* What is open ends without a word; NULL is fine. */
void questions_free(struct questions *q);

/* args: an object whose reference is taken over, or NULL.  done is called once, from the loop; only
 * where memory is out, or too many wait, before this returns.  Errors are those of ctl_call(). */
void questions_ask(struct questions *q, const char *command, json_t *args, unsigned timeout_ms,
    question_done done, void *arg);

/* text: borrowed, [n]; NULL where err says why. */
typedef void (*question_text)(void *arg, const char *text, size_t n, const struct fm_error *err);
/* The same of a command that writes text (ctl.h), which is not taken apart. */
void questions_ask_text(struct questions *q, const char *command, json_t *args, unsigned timeout_ms,
    question_text done, void *arg);

#endif
