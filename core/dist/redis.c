/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/dist/redis.c - blobs in Redis (or Valkey), from where its replicas take them to the hosts.
 *
 *	fmd:meta	hash: term, epoch
 *	fmd:KEY		string: the blob of this key
 *	fmd:log		stream: an entry an epoch: term, epoch, the term of the epoch before,
 *			and what changed since that (core/blobs/blobs.h), so that a follower
 *			asks for no more
 *
 * A publication is one transaction, that replicas see whole or not at all.  It fails if anybody
 * has written fmd:meta since we looked at it.  Who publishes is the master of the subnet, so its
 * Redis is no replica: it is made the first of the chain when it is one.  It goes on under its
 * replication ID of before (replid2), so that replicas that find it take up where they were.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/dist/place.h"
#include "core/redis/info.h"
#include "core/redis/redis.h"

#define LOG_ENTRIES "20000"
#define SILENT_S 5 /* a replica acknowledges every second */

static const struct redis_limits limits = { .who = "Redis",
	.connect_ms = 10000,
	.answer_ms = 10000,
	.most_bytes = 64 << 20,
	.most_elements = 1 << 16 };

/* What is to be published waits for the answer. */
static const struct redis_limits peers_limits = { .who = "the Redis of the other SM",
	.connect_ms = 1000,
	.answer_ms = 1000,
	.most_bytes = 1 << 20,
	.most_elements = 16 };

struct chain {
	struct redis *redis;
	struct place_epoch was, next;
};

static void
chain_close(void *place)
{
	struct chain *c = place;

	if (c == NULL)
		return;
	redis_close(c->redis);
	free(c);
}

/* The login is read anew each time, so that a password may change while fmd runs. */
static int
log_in(const struct relay_name *to, const char *auth_file, const struct redis_limits *how,
    struct redis **redis, struct fm_error *err)
{
	struct relay_login login;
	int rc = auth_file != NULL ? relay_login_read(auth_file, &login, err) : 0;

	if (rc == 0)
		rc = redis_open(to, auth_file != NULL ? &login : NULL, how, redis, err);
	explicit_bzero(&login, sizeof(login));
	return rc;
}

static int
chain_open(const struct place_at *at, void **place, struct fm_error *err)
{
	const struct relay_name to = { .path = at->where };
	struct chain *c = calloc(1, sizeof(*c));
	int rc;

	if (c == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for %s", at->where);
	rc = log_in(&to, at->auth_file, &limits, &c->redis, err);
	if (rc == 0)
		*place = c;
	else
		chain_close(c);
	return rc;
}

/* ----------------------------------------------------------- first, or a copy */

/* What ROLE answers of a replica. */
struct above {
	char name[300]; /* HOST:PORT of the one above; "": there is none */
	bool linked;
};

static int
ask_role(struct chain *c, struct above *above, struct fm_error *err)
{
	redisReply *role = redis_ask(c->redis, err, "ROLE"), **e;
	int rc = 0;

	*above = (struct above){ 0 };
	if (role == NULL)
		return err->kind;
	e = role->element;
	if (role->type != REDIS_REPLY_ARRAY || role->elements < 1 || !redis_is_text(e[0])) {
		rc = redis_no_sense(c->redis, err);
	} else if (strcmp(e[0]->str, "slave") == 0) {
		snprintf(above->name, sizeof(above->name), "?");
		if (role->elements >= 4 && redis_is_text(e[1]) &&
		    e[2]->type == REDIS_REPLY_INTEGER && redis_is_text(e[3])) {
			snprintf(above->name, sizeof(above->name), "%.250s:%lld", e[1]->str,
			    e[2]->integer);
			above->linked = strcmp(e[3]->str, "connected") == 0;
		}
	}
	freeReplyObject(role);
	return rc;
}

/* A copy of what a later master has published stays one. */
static int
chain_lead(void *place, uint64_t term, struct fm_error *err)
{
	struct chain *c = place;
	struct place_epoch at;
	struct above above;
	int rc = ask_role(c, &above, err);

	if (rc != 0 || above.name[0] == '\0')
		return rc;
	rc = redis_ask_epoch(c->redis, &at.term, &at.epoch, err);
	if (rc == 0 && term != 0 && at.term > term)
		return fm_fail(err, FM_E_CANCELLED,
		    "Redis follows %s, where another SM has published term %" PRIu64, above.name,
		    at.term);
	return rc == 0 ? redis_do(c->redis, err, "REPLICAOF NO ONE") : rc;
}

/* A link that is made takes a moment: whether it is there is asked the next time. */
static int
follow(struct chain *c, const char *peer, struct fm_error *err)
{
	struct relay_name to;
	struct above above;
	char name[sizeof(above.name)];
	int rc = relay_name_parse(peer, &to, err);

	if (rc == 0)
		rc = ask_role(c, &above, err);
	if (rc != 0)
		return rc;
	snprintf(name, sizeof(name), "%.250s:%d", to.host, to.port);
	if (strcmp(above.name, name) != 0)
		return redis_do(c->redis, err, "REPLICAOF %s %d", to.host, to.port);
	return above.linked
	    ? 0
	    : fm_fail(err, FM_E_SYSTEM, "Redis has no link to %s, which it is to follow", peer);
}

static int
chain_follow(const struct place_at *at, struct fm_error *err)
{
	void *place = NULL;
	int rc = chain_open(at, &place, err);

	if (rc == 0)
		rc = follow(place, at->peer, err);
	chain_close(place);
	return rc;
}

/* ---------------------------------------------------------------- followers */

/* The text that INFO answers, to be freed; NULL: *err says why. */
static redisReply *
ask_info(struct redis *r, struct fm_error *err)
{
	redisReply *info = redis_ask(r, err, "INFO replication");

	if (info == NULL || redis_is_text(info))
		return info;
	freeReplyObject(info);
	redis_no_sense(r, err);
	return NULL;
}

static void
tell_followers(const char *info, place_follower each, void *arg)
{
	struct redis_replica one;

	for (unsigned i = 0; redis_info_replica(info, i, &one); i++)
		if (one.online && one.lag_s < SILENT_S)
			each(arg, one.name);
}

static int
chain_followers(void *place, place_follower each, void *arg, struct fm_error *err)
{
	struct chain *c = place;
	redisReply *info = ask_info(c->redis, err);

	if (info == NULL)
		return err->kind;
	tell_followers(info->str, each, arg);
	freeReplyObject(info);
	return 0;
}

static int
tell_relays(struct redis *r, place_follower each, void *arg, struct fm_error *err)
{
	redisReply *clients = redis_ask(r, err, REDIS_ASK_RELAYS);
	int rc = 0;

	if (clients == NULL)
		return err->kind;
	if (redis_is_text(clients))
		redis_info_relays(clients->str, each, arg);
	else
		rc = redis_no_sense(r, err);
	freeReplyObject(clients);
	return rc;
}

static int
chain_relays(void *place, place_follower each, void *arg, struct fm_error *err)
{
	struct chain *c = place;

	return tell_relays(c->redis, each, arg, err);
}

/* What follows a Redis that leads by itself hears nothing of ours. */
static int
tell_peers(struct redis *r, place_follower each, place_follower each_relay, void *arg,
    struct fm_error *err)
{
	redisReply *info = ask_info(r, err);
	char link[16];
	int rc = 0;

	if (info == NULL)
		return err->kind;
	redis_info(info->str, "master_link_status", link, sizeof(link));
	if (strcmp(link, "up") == 0) {
		tell_followers(info->str, each, arg);
		rc = tell_relays(r, each_relay, arg, err);
	}
	freeReplyObject(info);
	return rc;
}

/* The login would be plain text beyond this host. */
static int
chain_peers_followers(const struct place_at *at, place_follower each, place_follower each_relay,
    void *arg, struct fm_error *err)
{
	struct redis *r = NULL;
	struct relay_name to;
	int rc = relay_name_parse(at->peer, &to, err);

	if (rc == 0 && relay_leaves_the_host(&to))
		rc = fm_fail(err, FM_E_CONFIG,
		    "%s is on another host: dist_redis_peer has to name an end of stunnel on this "
		    "one",
		    at->peer);
	if (rc == 0)
		rc = log_in(&to, at->auth_file, &peers_limits, &r, err);
	if (rc == 0)
		rc = tell_peers(r, each, each_relay, arg, err);
	redis_close(r);
	return rc;
}

/* ------------------------------------------------------------------ loading */

static int
chain_check(void *place, struct place_epoch at, struct fm_error *err)
{
	struct chain *c = place;
	struct place_epoch now;
	int rc = redis_ask_epoch(c->redis, &now.term, &now.epoch, err);

	if (rc == 0 && (now.term != at.term || now.epoch != at.epoch))
		rc = fm_fail(err, FM_E_SYSTEM,
		    "Redis has term %" PRIu64 ", epoch %" PRIu64
		    ", which is not what was published last",
		    now.term, now.epoch);
	return rc;
}

static int
get_blob(struct chain *c, const char *key, place_each each, void *arg, struct fm_error *err)
{
	redisReply *reply = redis_ask(c->redis, err, "GET fmd:%s", key);
	int rc = 0;

	if (reply == NULL)
		return err->kind;
	if (redis_is_text(reply))
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

	if (!redis_is_text(key) || strncmp(key->str, "fmd:", 4) != 0 ||
	    !blob_key_parse(key->str + 4, &kind, &number))
		return NULL;
	return key->str + 4;
}

/* A page of keys; *cursor is "0" behind the last. */
static int
load_page(struct chain *c, char cursor[32], place_each each, void *arg, struct fm_error *err)
{
	redisReply *page = redis_ask(c->redis, err, "SCAN %s MATCH fmd:* COUNT 1000", cursor),
		   *keys;
	int rc = 0;

	if (page == NULL)
		return err->kind;
	if (page->type != REDIS_REPLY_ARRAY || page->elements != 2 ||
	    !redis_is_text(page->element[0]) || page->element[1]->type != REDIS_REPLY_ARRAY)
		rc = redis_no_sense(c->redis, err);
	keys = rc == 0 ? page->element[1] : NULL;
	for (size_t i = 0; rc == 0 && i < keys->elements; i++)
		if (blob_of(keys->element[i]) != NULL)
			rc = get_blob(c, blob_of(keys->element[i]), each, arg, err);
	if (rc == 0)
		snprintf(cursor, 32, "%s", page->element[0]->str);
	freeReplyObject(page);
	return rc;
}

/* A key may come twice, with the same bytes: nobody but us writes. */
static int
chain_load(void *place, struct place_epoch *at, place_each each, void *arg, struct fm_error *err)
{
	struct chain *c = place;
	char cursor[32] = "0";
	int rc = redis_ask_epoch(c->redis, &at->term, &at->epoch, err);

	do
		rc = rc == 0 ? load_page(c, cursor, each, arg, err) : rc;
	while (rc == 0 && strcmp(cursor, "0") != 0);
	return rc;
}

/* ------------------------------------------------------------------- telling */

static int
chain_begin(void *place, struct place_epoch was, struct place_epoch now, struct fm_error *err)
{
	struct chain *c = place;
	struct place_epoch at;
	int rc = redis_do(c->redis, err, "WATCH fmd:meta");

	if (rc == 0)
		rc = redis_ask_epoch(c->redis, &at.term, &at.epoch, err);
	if (rc != 0)
		return rc;
	if (at.term != was.term || at.epoch != was.epoch)
		return fm_fail(err, FM_E_CANCELLED,
		    "Redis: another SM has published term %" PRIu64 ", epoch %" PRIu64, at.term,
		    at.epoch);
	c->was = was;
	c->next = now;
	redis_tell(c->redis, "MULTI");
	return 0;
}

/* What fails is told by chain_commit(). */
static int
chain_blob(void *place, const char *key, const void *bytes, size_t n, struct fm_error *err)
{
	struct chain *c = place;

	(void)err;
	redis_tell(c->redis, "SET fmd:%s %b", key, bytes, n);
	return 0;
}

static int
chain_patch(
    void *place, const char *key, size_t at, const void *bytes, size_t n, struct fm_error *err)
{
	struct chain *c = place;

	(void)err;
	redis_tell(c->redis, "SETRANGE fmd:%s %llu %b", key, (unsigned long long)at, bytes, n);
	return 0;
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

static void
tell_log(struct chain *chain, const struct place_changes *c)
{
	uint8_t leaves[sizeof(c->leaves)], rows[sizeof(c->row_blocks)], ports[sizeof(c->ports)],
	    names[sizeof(c->names)];
	size_t n_leaves = pack_bits(c->leaves, sizeof(leaves) / 8, leaves);
	size_t n_rows = pack_bits(c->row_blocks, sizeof(rows) / 8, rows);
	size_t n_ports = pack_bits(c->ports, sizeof(ports) / 8, ports);
	size_t n_names = pack_bits(c->names, sizeof(names) / 8, names);

	redis_tell(chain->redis,
	    "XADD fmd:log MAXLEN ~ " LOG_ENTRIES " * term %llu epoch %llu was %llu "
	    "kinds %u "
	    "leaves %b rows %b ports %b names %b",
	    (unsigned long long)chain->next.term, (unsigned long long)chain->next.epoch,
	    (unsigned long long)chain->was.term, c->kinds, leaves, n_leaves, rows, n_rows, ports,
	    n_ports, names, n_names);
}

/* Of a transaction.  A command that fails in it does not end it: Redis goes on with the next. */
static int
judge_exec(struct chain *c, const redisReply *exec, struct fm_error *err)
{
	if (exec->type == REDIS_REPLY_NIL)
		return fm_fail(
		    err, FM_E_CANCELLED, "Redis: another SM has published at the same time");
	if (exec->type != REDIS_REPLY_ARRAY)
		return redis_no_sense(c->redis, err);
	for (size_t i = 0; i < exec->elements; i++)
		if (exec->element[i]->type == REDIS_REPLY_ERROR)
			return redis_refused(c->redis, exec->element[i], err);
	return 0;
}

static int
chain_commit(void *place, const struct place_changes *changes, struct fm_error *err)
{
	struct chain *c = place;
	redisReply *exec;
	int rc;

	tell_log(c, changes);
	redis_tell(c->redis, "HSET fmd:meta term %llu epoch %llu", (unsigned long long)c->next.term,
	    (unsigned long long)c->next.epoch);
	exec = redis_ask(c->redis, err, "EXEC");
	rc = exec != NULL ? judge_exec(c, exec, err) : err->kind;
	freeReplyObject(exec);
	return rc;
}

const struct place_ops place_redis = { .kind = "redis",
	.has_relays = true,
	.open = chain_open,
	.close = chain_close,
	.lead = chain_lead,
	.follow = chain_follow,
	.followers = chain_followers,
	.relays = chain_relays,
	.peers_followers = chain_peers_followers,
	.load = chain_load,
	.check = chain_check,
	.begin = chain_begin,
	.blob = chain_blob,
	.patch = chain_patch,
	.commit = chain_commit };
