/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/dist/redis.c - blobs in Redis (or Valkey), from where its replicas take them to the hosts.
 *
 *	fmd:meta	hash: term, epoch
 *	fmd:KEY		string: the blob of this key
 *	fmd:log		stream: an entry an epoch: term, epoch, and what changed in it
 *			(core/blobs/blobs.h), so that a follower asks for no more than that
 *
 * A publication is one transaction, that replicas see whole or not at all.  It fails if anybody
 * has written fmd:meta since we looked at it.  Who publishes is the master of the subnet, so its
 * Redis is no replica: it is made the first of the chain when it is one.
 */
#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/dist/place.h"
#include "core/text/relay.h"

#define ANSWER_TIME_S 10
#define LOG_ENTRIES "20000"

struct redis {
	redisContext *c;
	struct place_epoch next;
	unsigned n_asked; /* commands of the publication, whose answers have not been read */
};

/* What hiredis says, or what Redis answered. */
static int
failed(const struct redis *r, const redisReply *reply, struct fm_error *err)
{
	return fm_fail(err, FM_E_SYSTEM, "Redis: %s",
	    reply != NULL && reply->str != NULL ? reply->str
		: r->c->err != 0		? r->c->errstr
						: "an answer that makes no sense");
}

/* NULL, with *err: no answer, or an error. */
static redisReply *
ask(struct redis *r, struct fm_error *err, const char *format, ...)
{
	redisReply *reply;
	va_list ap;

	va_start(ap, format);
	reply = redisvCommand(r->c, format, ap);
	va_end(ap);
	if (reply == NULL || reply->type == REDIS_REPLY_ERROR) {
		failed(r, reply, err);
		freeReplyObject(reply);
		return NULL;
	}
	return reply;
}

static void
redis_close(void *place)
{
	struct redis *r = place;

	if (r == NULL)
		return;
	redisFree(r->c);
	free(r);
}

/* The first word of ROLE's answer. */
static int
become_first(struct redis *r, struct fm_error *err)
{
	redisReply *role = ask(r, err, "ROLE"), *reply;
	bool replica;

	if (role == NULL)
		return FM_E_SYSTEM;
	replica = role->type == REDIS_REPLY_ARRAY && role->elements > 0 &&
	    role->element[0]->type == REDIS_REPLY_STRING &&
	    strcmp(role->element[0]->str, "slave") == 0;
	freeReplyObject(role);
	if (!replica)
		return 0;
	reply = ask(r, err, "REPLICAOF NO ONE");
	freeReplyObject(reply);
	return reply != NULL ? 0 : FM_E_SYSTEM;
}

/* Anew each time, so that a password may change while fmd runs. */
static int
log_in(struct redis *r, const char *auth_file, struct fm_error *err)
{
	struct relay_login l;
	redisReply *reply;
	int rc;

	if (auth_file == NULL)
		return 0;
	rc = relay_login_read(auth_file, &l, err);
	if (rc != 0)
		return rc;
	reply = ask(r, err, "AUTH %s %s", l.user, l.password);
	explicit_bzero(&l, sizeof(l));
	freeReplyObject(reply);
	return reply != NULL ? 0 : FM_E_SYSTEM;
}

static int
redis_open(const struct place_at *at, void **place, struct fm_error *err)
{
	const struct timeval time = { .tv_sec = ANSWER_TIME_S };
	struct redis *r = calloc(1, sizeof(*r));
	int rc;

	if (r == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for %s", at->where);
	r->c = redisConnectUnixWithTimeout(at->where, time);
	if (r->c == NULL || r->c->err != 0 || redisSetTimeout(r->c, time) != REDIS_OK)
		rc = fm_fail(err, FM_E_SYSTEM, "cannot connect to Redis at %s: %s", at->where,
		    r->c != NULL ? r->c->errstr : "out of memory");
	else
		rc = log_in(r, at->auth_file, err);
	if (rc == 0)
		rc = become_first(r, err);
	if (rc == 0)
		*place = r;
	else
		redis_close(r);
	return rc;
}

/* ------------------------------------------------------------------ loading */

static uint64_t
number_of(const redisReply *reply)
{
	return reply->type == REDIS_REPLY_STRING ? strtoull(reply->str, NULL, 10) : 0;
}

static int
get_epoch(struct redis *r, struct place_epoch *at, struct fm_error *err)
{
	redisReply *reply = ask(r, err, "HMGET fmd:meta term epoch");
	int rc = 0;

	if (reply == NULL)
		return FM_E_SYSTEM;
	if (reply->type == REDIS_REPLY_ARRAY && reply->elements == 2)
		*at = (struct place_epoch){ number_of(reply->element[0]),
			number_of(reply->element[1]) };
	else
		rc = failed(r, NULL, err);
	freeReplyObject(reply);
	return rc;
}

static int
redis_check(void *place, struct place_epoch at, struct fm_error *err)
{
	struct place_epoch now;
	int rc = get_epoch(place, &now, err);

	if (rc == 0 && (now.term != at.term || now.epoch != at.epoch))
		rc = fm_fail(err, FM_E_SYSTEM,
		    "Redis has term %" PRIu64 ", epoch %" PRIu64
		    ", which is not what was published last",
		    now.term, now.epoch);
	return rc;
}

static int
get_blob(struct redis *r, const char *key, place_each each, void *arg, struct fm_error *err)
{
	redisReply *reply = ask(r, err, "GET fmd:%s", key);
	int rc = 0;

	if (reply == NULL)
		return FM_E_SYSTEM;
	if (reply->type == REDIS_REPLY_STRING)
		rc = each(arg, key, reply->str, (size_t)reply->len, err);
	freeReplyObject(reply);
	return rc;
}

/* The key of a blob without "fmd:"; NULL: it is none. */
static const char *
blob_of(const redisReply *key)
{
	enum blob_kind kind;
	uint64_t number;

	if (key->type != REDIS_REPLY_STRING || strncmp(key->str, "fmd:", 4) != 0 ||
	    !blob_key_parse(key->str + 4, &kind, &number))
		return NULL;
	return key->str + 4;
}

/* A page of keys; *cursor is "0" behind the last. */
static int
load_page(struct redis *r, char cursor[32], place_each each, void *arg, struct fm_error *err)
{
	redisReply *page = ask(r, err, "SCAN %s MATCH fmd:* COUNT 1000", cursor), *keys;
	int rc = 0;

	if (page == NULL)
		return FM_E_SYSTEM;
	if (page->type != REDIS_REPLY_ARRAY || page->elements != 2 ||
	    page->element[0]->type != REDIS_REPLY_STRING ||
	    page->element[1]->type != REDIS_REPLY_ARRAY)
		rc = failed(r, NULL, err);
	keys = rc == 0 ? page->element[1] : NULL;
	for (size_t i = 0; rc == 0 && i < keys->elements; i++)
		if (blob_of(keys->element[i]) != NULL)
			rc = get_blob(r, blob_of(keys->element[i]), each, arg, err);
	if (rc == 0)
		snprintf(cursor, 32, "%s", page->element[0]->str);
	freeReplyObject(page);
	return rc;
}

/* A key may come twice, with the same bytes: nobody but us writes. */
static int
redis_load(void *place, struct place_epoch *at, place_each each, void *arg, struct fm_error *err)
{
	struct redis *r = place;
	char cursor[32] = "0";
	int rc = get_epoch(r, at, err);

	do
		rc = rc == 0 ? load_page(r, cursor, each, arg, err) : rc;
	while (rc == 0 && strcmp(cursor, "0") != 0);
	return rc;
}

/* ------------------------------------------------------------------- telling */

static int
append(struct redis *r, int rc, struct fm_error *err)
{
	r->n_asked++;
	return rc == REDIS_OK ? 0 : failed(r, NULL, err);
}

static int
redis_begin(void *place, struct place_epoch was, struct place_epoch now, struct fm_error *err)
{
	struct redis *r = place;
	redisReply *reply = ask(r, err, "WATCH fmd:meta");
	struct place_epoch at;
	int rc;

	if (reply == NULL)
		return FM_E_SYSTEM;
	freeReplyObject(reply);
	rc = get_epoch(r, &at, err);
	if (rc != 0)
		return rc;
	if (at.term != was.term || at.epoch != was.epoch)
		return fm_fail(err, FM_E_CANCELLED,
		    "Redis: another SM has published term %" PRIu64 ", epoch %" PRIu64, at.term,
		    at.epoch);
	r->next = now;
	r->n_asked = 0;
	return append(r, redisAppendCommand(r->c, "MULTI"), err);
}

static int
redis_blob(void *place, const char *key, const void *bytes, size_t n, struct fm_error *err)
{
	struct redis *r = place;

	return append(r, redisAppendCommand(r->c, "SET fmd:%s %b", key, bytes, n), err);
}

static int
redis_patch(
    void *place, const char *key, size_t at, const void *bytes, size_t n, struct fm_error *err)
{
	struct redis *r = place;

	return append(r,
	    redisAppendCommand(
		r->c, "SETRANGE fmd:%s %llu %b", key, (unsigned long long)at, bytes, n),
	    err);
}

/* Bits as bytes, little-endian, without zeros at the end. */
static size_t
pack_bits(const uint64_t *bits, size_t n_words, uint8_t *bytes)
{
	size_t n = 8 * n_words;

	for (size_t w = 0; w < n_words; w++)
		blob_put64(bytes + 8 * w, bits[w]);
	while (n > 0 && bytes[n - 1] == 0)
		n--;
	return n;
}

static int
append_log(struct redis *r, const struct place_changes *c, struct fm_error *err)
{
	uint8_t leaves[sizeof(c->leaves)], rows[sizeof(c->row_blocks)], ports[sizeof(c->ports)],
	    names[sizeof(c->names)];
	size_t n_leaves = pack_bits(c->leaves, sizeof(leaves) / 8, leaves);
	size_t n_rows = pack_bits(c->row_blocks, sizeof(rows) / 8, rows);
	size_t n_ports = pack_bits(c->ports, sizeof(ports) / 8, ports);
	size_t n_names = pack_bits(c->names, sizeof(names) / 8, names);

	return append(r,
	    redisAppendCommand(r->c,
		"XADD fmd:log MAXLEN ~ " LOG_ENTRIES " * term %llu epoch %llu kinds %u "
		"leaves %b rows %b ports %b names %b",
		(unsigned long long)r->next.term, (unsigned long long)r->next.epoch, c->kinds,
		leaves, n_leaves, rows, n_rows, ports, n_ports, names, n_names),
	    err);
}

/* The answers to all that has been asked; the last is that of EXEC, nil if somebody was faster. */
static int
read_answers(struct redis *r, struct fm_error *err)
{
	redisReply *reply = NULL;
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < r->n_asked; i++) {
		bool last = i + 1 == r->n_asked;

		if (redisGetReply(r->c, (void **)&reply) != REDIS_OK)
			rc = failed(r, NULL, err);
		else if (reply->type == REDIS_REPLY_ERROR)
			rc = failed(r, reply, err);
		else if (last && reply->type == REDIS_REPLY_NIL)
			rc = fm_fail(err, FM_E_CANCELLED,
			    "Redis: another SM has published at the same time");
		freeReplyObject(reply);
		reply = NULL;
	}
	return rc;
}

static int
redis_commit(void *place, const struct place_changes *changes, struct fm_error *err)
{
	struct redis *r = place;
	int rc = append_log(r, changes, err);

	if (rc == 0)
		rc = append(r,
		    redisAppendCommand(r->c, "HSET fmd:meta term %llu epoch %llu",
			(unsigned long long)r->next.term, (unsigned long long)r->next.epoch),
		    err);
	if (rc == 0)
		rc = append(r, redisAppendCommand(r->c, "EXEC"), err);
	return rc == 0 ? read_answers(r, err) : rc;
}

const struct place_ops place_redis = { .kind = "redis",
	.open = redis_open,
	.close = redis_close,
	.load = redis_load,
	.check = redis_check,
	.begin = redis_begin,
	.blob = redis_blob,
	.patch = redis_patch,
	.commit = redis_commit };
