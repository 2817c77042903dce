/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/redis/redis.h - a connection to Redis (or Valkey): commands told, answers that have an end.
 *
 * Whoever is at the other end may say anything: an answer has a limit of bytes, of elements and of
 * time, and of 7 arrays in one another.  What fails ends the use of the connection.
 */
#ifndef CORE_REDIS_REDIS_H
#define CORE_REDIS_REDIS_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/text/relay.h"

struct redis_limits {
	const char *who; /* is at the other end: it begins the sentences of what fails */
	unsigned connect_ms;
	unsigned answer_ms;   /* of silence; an answer that comes in drips has ten times that */
	size_t most_bytes;    /* of an answer */
	size_t most_elements; /* of all its arrays, besides one for each command of it (EXEC) */
};

struct redis;

/* Connected, and logged in as l says (NULL: not).  FM_E_SYSTEM, FM_E_RESOURCE. */
int redis_open(const struct relay_name *to, const struct relay_login *l,
    const struct redis_limits *limits, struct redis **out, struct fm_error *err);
void redis_close(struct redis *r); /* NULL is fine */

/* From now on answer_ms is this. */
void redis_set_patience(struct redis *r, unsigned ms);

/* A command, as redisCommand() takes it.  It leaves with the next question for an answer, which
 * tells what has failed, too. */
void redis_tell(struct redis *r, const char *format, ...);

/* The answer to the command that was told last, when those to all before have been read; to be
 * freed by freeReplyObject().  NULL, with *err: FM_E_SYSTEM where the connection has failed, or one
 * of these answers is an error; FM_E_CONFIG where one is none, or beyond a limit. */
redisReply *redis_answer(struct redis *r, struct fm_error *err);

/* Sends what was told, and waits so long for an answer.  True: redis_answer() need not wait for its
 * beginning, or tells what has failed. */
bool redis_has_answer(struct redis *r, unsigned ms);

/* Both; and of a command whose answer says no more than that it is done: 0, or err->kind. */
redisReply *redis_ask(struct redis *r, struct fm_error *err, const char *format, ...);
int redis_do(struct redis *r, struct fm_error *err, const char *format, ...);

/* Sentences of an answer that has another form than the question has, and of an error in one. */
int redis_no_sense(const struct redis *r, struct fm_error *err);
int redis_refused(const struct redis *r, const redisReply *error, struct fm_error *err);
bool redis_is_text(const redisReply *reply);

/* What is published there, 0, 0 for nothing; or what the answer to this question has. */
#define REDIS_ASK_EPOCH "HMGET fmd:meta term epoch"
int redis_ask_epoch(struct redis *r, uint64_t *term, uint64_t *epoch, struct fm_error *err);
int redis_take_epoch(const struct redis *r, const redisReply *meta, uint64_t *term, uint64_t *epoch,
    struct fm_error *err);

#endif
