/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/redis/redis.h"
#include "lib/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define DRIPS 10    /* times answer_ms */
#define MOST_DEEP 7 /* arrays in one another; hiredis 0.14 has this limit, later ones none */

#if HIREDIS_MAJOR < 1
typedef int array_size;
#else
typedef size_t array_size;
#endif

enum state { WELL, SILENT, TOO_LONG, TOO_DEEP };

struct redis {
	redisContext *c;
	struct redis_limits limits;
	redisReplyObjectFunctions functions; /* hiredis's, but createArray */
	void *(*create_array)(const redisReadTask *, array_size);
	size_t n_owed;	   /* answers to what was told */
	size_t n_elements; /* that the arrays of this answer may still have */
	enum state state;
};

static struct timeval
time_of(unsigned ms)
{
	return (struct timeval){ .tv_sec = ms / 1000, .tv_usec = (ms % 1000) * 1000 };
}

static unsigned
depth_of(const redisReadTask *task)
{
	unsigned n = 0;

	for (; task != NULL && n <= MOST_DEEP; task = task->parent)
		n++;
	return n;
}

/* hiredis takes room for as many elements as the other end says there are, and calls itself once
 * for each array in another when it frees them. */
static void *
create_array_if_small(const redisReadTask *task, array_size n)
{
	struct redis *r = task->privdata;

	if ((size_t)n > r->n_elements) {
		r->state = TOO_LONG;
		return NULL;
	}
	if (depth_of(task) > MOST_DEEP) {
		r->state = TOO_DEEP;
		return NULL;
	}
	r->n_elements -= (size_t)n;
	return r->create_array(task, n);
}

static void
bound_arrays(struct redis *r)
{
	r->functions = *r->c->reader->fn;
	r->create_array = r->functions.createArray;
	r->functions.createArray = create_array_if_small;
	r->c->reader->fn = &r->functions;
	r->c->reader->privdata = r;
}

/* ------------------------------------------------------------------- sentences */

int
redis_no_sense(const struct redis *r, struct fm_error *err)
{
	return fm_fail(err, FM_E_CONFIG, "%s gives an answer that makes no sense", r->limits.who);
}

int
redis_refused(const struct redis *r, const redisReply *error, struct fm_error *err)
{
	return fm_fail(err, FM_E_SYSTEM, "%s answers \"%.200s\"", r->limits.who, error->str);
}

static int
failed(const struct redis *r, struct fm_error *err)
{
	const char *who = r->limits.who;

	switch (r->state) {
	case TOO_LONG:
		return fm_fail(
		    err, FM_E_CONFIG, "%s gives an answer longer than any that there is", who);
	case TOO_DEEP:
		return fm_fail(err, FM_E_CONFIG,
		    "%s gives an answer of more than %d arrays in one another", who, MOST_DEEP);
	case SILENT:
		return fm_fail(err, FM_E_SYSTEM, "%s does not answer", who);
	case WELL:
		break;
	}
	return fm_fail(err, r->c->err == REDIS_ERR_PROTOCOL ? FM_E_CONFIG : FM_E_SYSTEM,
	    "%s: %.100s", who, r->c->err != 0 ? r->c->errstr : "out of memory");
}

/* -------------------------------------------------------------------- commands */

int
redis_open(const struct relay_name *to, const struct relay_login *l,
    const struct redis_limits *limits, struct redis **out, struct fm_error *err)
{
	struct redis *r = calloc(1, sizeof(*r));
	int rc;

	*out = NULL;
	if (r == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for a connection");
	r->limits = *limits;
	r->c = to->path != NULL
	    ? redisConnectUnixWithTimeout(to->path, time_of(limits->connect_ms))
	    : redisConnectWithTimeout(to->host, to->port, time_of(limits->connect_ms));
	if (r->c == NULL || r->c->err != 0) {
		rc = fm_fail(err, FM_E_SYSTEM, "cannot connect to %s at %s: %.100s", limits->who,
		    to->path != NULL ? to->path : to->host,
		    r->c != NULL ? r->c->errstr : "out of memory");
	} else {
		if (to->path == NULL)
			redisEnableKeepAlive(r->c);
		redis_set_patience(r, limits->answer_ms);
		bound_arrays(r);
		rc = l != NULL ? redis_do(r, err, "AUTH %s %s", l->user, l->password) : 0;
	}
	if (rc == 0)
		*out = r;
	else
		redis_close(r);
	return rc;
}

void
redis_close(struct redis *r)
{
	if (r == NULL)
		return;
	redisFree(r->c);
	free(r);
}

void
redis_set_patience(struct redis *r, unsigned ms)
{
	r->limits.answer_ms = ms;
	redisSetTimeout(r->c, time_of(ms));
}

static void
append_command(struct redis *r, const char *format, va_list ap)
{
	redisvAppendCommand(r->c, format, ap);
	r->n_owed++;
}

void
redis_tell(struct redis *r, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	append_command(r, format, ap);
	va_end(ap);
}

redisReply *
redis_ask(struct redis *r, struct fm_error *err, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	append_command(r, format, ap);
	va_end(ap);
	return redis_answer(r, err);
}

int
redis_do(struct redis *r, struct fm_error *err, const char *format, ...)
{
	redisReply *reply;
	va_list ap;

	va_start(ap, format);
	append_command(r, format, ap);
	va_end(ap);
	reply = redis_answer(r, err);
	freeReplyObject(reply);
	return reply != NULL ? 0 : err->kind;
}

/* --------------------------------------------------------------------- answers */

/* What hiredis has done with the socket; its time-out is an error as others are, but in errno. */
static bool
went_well(struct redis *r, int rc)
{
	if (rc != REDIS_OK && r->c->err == REDIS_ERR_IO &&
	    (errno == EAGAIN || errno == EWOULDBLOCK || errno == ETIMEDOUT))
		r->state = SILENT;
	return rc == REDIS_OK;
}

static bool
send_all(struct redis *r)
{
	int done = 0;

	while (!done)
		if (!went_well(r, redisBufferWrite(r->c, &done)))
			return false;
	return true;
}

/* NULL: failed() knows why. */
static redisReply *
read_answer(struct redis *r)
{
	int64_t end = fm_clock_ms(CLOCK_MONOTONIC) + (int64_t)DRIPS * r->limits.answer_ms;
	size_t n_read = 0, had;
	void *reply = NULL;

	for (;;) {
		if (redisGetReplyFromReader(r->c, &reply) != REDIS_OK || reply != NULL)
			return reply;
		if (n_read > r->limits.most_bytes)
			r->state = TOO_LONG;
		else if (fm_clock_ms(CLOCK_MONOTONIC) > end)
			r->state = SILENT;
		if (r->state != WELL)
			return NULL;
		had = r->c->reader->len;
		if (!went_well(r, redisBufferRead(r->c)))
			return NULL;
		n_read += r->c->reader->len - had;
	}
}

bool
redis_has_answer(struct redis *r, unsigned ms)
{
	struct pollfd fd = { .fd = r->c->fd, .events = POLLIN };

	return r->c->err != 0 || r->state != WELL || !send_all(r) || poll(&fd, 1, (int)ms) != 0;
}

redisReply *
redis_answer(struct redis *r, struct fm_error *err)
{
	size_t n_told = r->n_owed;
	redisReply *reply = NULL;

	if (r->c->err != 0 || r->state != WELL || !send_all(r)) {
		failed(r, err);
		return NULL;
	}
	while (r->n_owed > 0) {
		freeReplyObject(reply);
		r->n_owed--;
		r->n_elements = r->limits.most_elements + n_told;
		reply = read_answer(r);
		if (reply == NULL) {
			failed(r, err);
			return NULL;
		}
		if (reply->type == REDIS_REPLY_ERROR) {
			redis_refused(r, reply, err);
			freeReplyObject(reply);
			return NULL;
		}
	}
	return reply;
}

bool
redis_is_text(const redisReply *reply)
{
	return reply->type == REDIS_REPLY_STRING;
}

int
redis_take_epoch(const struct redis *r, const redisReply *meta, uint64_t *term, uint64_t *epoch,
    struct fm_error *err)
{
	*term = *epoch = 0;
	if (meta->type != REDIS_REPLY_ARRAY || meta->elements != 2)
		return redis_no_sense(r, err);
	if (redis_is_text(meta->element[0]) && redis_is_text(meta->element[1])) {
		*term = strtoull(meta->element[0]->str, NULL, 10);
		*epoch = strtoull(meta->element[1]->str, NULL, 10);
	}
	return 0;
}

int
redis_ask_epoch(struct redis *r, uint64_t *term, uint64_t *epoch, struct fm_error *err)
{
	redisReply *meta = redis_ask(r, err, REDIS_ASK_EPOCH);
	int rc = meta != NULL ? redis_take_epoch(r, meta, term, epoch, err) : err->kind;

	freeReplyObject(meta);
	return rc;
}
