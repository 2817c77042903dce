/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host/agent/source_redis.c - blobs from Redis: the SM's, or a replica of it at any depth.
 *
 *	unix:PATH		over a socket of this host (also of stunnel)
 *	HOST:PORT		over TCP
 *
 * Entries of fmd:log tell what changes in each epoch, so that only this is fetched, in one
 * transaction with the epoch that it is of.  All replicas number entries alike: who has lost its
 * relay goes on at another where it has been.  Epochs that follow one another without a gap have
 * not been missed; at a gap, or where the log does not lead to the relay's epoch, everything is.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/redis/info.h"
#include "core/redis/redis.h"
#include "host/agent/source.h"
#include "lib/bitset.h"

#define ANSWER_TIME_MS 10000
#define RUNS_MOST 8    /* of a row, asked one by one; more, and the row is fetched whole */
#define TRIES_MOST 5   /* of everything, while epochs pass */
#define BEHIND_MOST 12 /* looks; a minute or more, with what is waited between */

static const struct redis_limits limits = { .who = "the relay",
	.connect_ms = 1000,
	.answer_ms = ANSWER_TIME_MS,
	.most_bytes = 32 << 20,	    /* all of 49,151 LIDs is less than half */
	.most_elements = 1 << 19 }; /* of 20,000 entries of the log: two thirds */

struct changes { /* of all epochs since the replica's */
	uint32_t kinds;
	uint64_t leaves[65536 / 64];
	uint64_t rows[REPLICA_BLOCKS / 64], ports[REPLICA_BLOCKS / 64], names[REPLICA_BLOCKS / 64];
};

struct relay {
	struct redis *redis;
	char last[64];		 /* entry of the log that has been read, "" none */
	struct paths_epoch next; /* that of the newest entry that has been read */
	struct paths_epoch shown;
	bool gap;	/* epochs have been missed */
	unsigned age_s; /* when we looked: since when it has heard nothing from above */
	struct changes changes;
};

static void
relay_close(void *source)
{
	struct relay *s = source;

	if (s == NULL)
		return;
	redis_close(s->redis);
	free(s);
}

static int
relay_open(const char *where, const struct relay_login *login, void **source, struct fm_error *err)
{
	struct relay *s = calloc(1, sizeof(*s));
	struct relay_name to;
	int rc;

	if (s == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for a relay");
	rc = relay_name_parse(where, &to, err);
	if (rc == 0)
		rc = redis_open(&to, login, &limits, &s->redis, err);
	if (rc == 0)
		*source = s;
	else
		relay_close(s);
	return rc;
}

/* ------------------------------------------------------------------ the log */

static void
add_bits(uint64_t *to, size_t n_words, const redisReply *from)
{
	const uint8_t *bytes = (const uint8_t *)from->str;
	size_t n = (size_t)from->len < 8 * n_words ? (size_t)from->len : 8 * n_words;

	for (size_t i = 0; i < n; i++)
		to[i / 8] |= (uint64_t)bytes[i] << (i % 8 * 8);
}

#define WORDS(set) (sizeof(set) / sizeof((set)[0]))

struct entry {
	struct paths_epoch at;
	uint64_t was_term; /* of the epoch before */
};

/* field, value, ... of an entry; what is unknown is passed over. */
static void
read_entry(struct relay *s, const redisReply *fields, struct entry *e)
{
	struct changes *c = &s->changes;

	for (size_t i = 0; i + 1 < fields->elements; i += 2) {
		const redisReply *key = fields->element[i], *value = fields->element[i + 1];

		if (!redis_is_text(key) || !redis_is_text(value))
			continue;
		if (strcmp(key->str, "term") == 0)
			e->at.term = strtoull(value->str, NULL, 10);
		else if (strcmp(key->str, "epoch") == 0)
			e->at.epoch = strtoull(value->str, NULL, 10);
		else if (strcmp(key->str, "was") == 0)
			e->was_term = strtoull(value->str, NULL, 10);
		else if (strcmp(key->str, "kinds") == 0)
			c->kinds |= (uint32_t)strtoul(value->str, NULL, 10);
		else if (strcmp(key->str, "leaves") == 0)
			add_bits(c->leaves, WORDS(c->leaves), value);
		else if (strcmp(key->str, "rows") == 0)
			add_bits(c->rows, WORDS(c->rows), value);
		else if (strcmp(key->str, "ports") == 0)
			add_bits(c->ports, WORDS(c->ports), value);
		else if (strcmp(key->str, "names") == 0)
			add_bits(c->names, WORDS(c->names), value);
	}
}

/* Each epoch is the next of the one before, and names its term: two SMs may each have taken it for
 * theirs in their own Redis, as long as they did not see one another. */
static bool
follows(const struct entry *e, struct paths_epoch before)
{
	return e->at.epoch == before.epoch + 1 && e->was_term == before.term;
}

/* [id, [field, value, ...]], ... */
static void
read_entries(struct relay *s, const struct replica *r, const redisReply *entries)
{
	for (size_t i = 0; i < entries->elements; i++) {
		const redisReply *e = entries->element[i];
		struct entry entry = { 0 };

		if (e->type != REDIS_REPLY_ARRAY || e->elements != 2 ||
		    !redis_is_text(e->element[0]) || e->element[1]->type != REDIS_REPLY_ARRAY)
			continue;
		snprintf(s->last, sizeof(s->last), "%s", e->element[0]->str);
		read_entry(s, e->element[1], &entry);
		if (entry.at.epoch <= r->at.epoch && entry.at.term <= r->at.term)
			continue; /* fetched with what came after it */
		s->gap |= !follows(&entry, s->next);
		s->next = entry.at;
	}
}

/* [[stream, entries]] or nil */
static int
take_log(struct relay *s, const struct replica *r, const redisReply *log, struct fm_error *err)
{
	const redisReply *stream = NULL;

	if (log->type == REDIS_REPLY_ARRAY && log->elements == 1)
		stream = log->element[0];
	if (stream != NULL && stream->type == REDIS_REPLY_ARRAY && stream->elements == 2 &&
	    stream->element[1]->type == REDIS_REPLY_ARRAY)
		read_entries(s, r, stream->element[1]);
	else if (log->type != REDIS_REPLY_NIL)
		return redis_no_sense(s->redis, err);
	return 0;
}

/* NULL: *err tells why there is none. */
static int
take_log_of(struct relay *s, const struct replica *r, redisReply *reply, struct fm_error *err)
{
	int rc = reply != NULL ? take_log(s, r, reply, err) : (int)err->kind;

	freeReplyObject(reply);
	return rc;
}

static int
relay_wait(void *source, const struct replica *r, unsigned ms, const struct source_watch *watch,
    struct fm_error *err)
{
	struct relay *s = source;
	redisReply *reply;
	int rc = 0;

	if (s->last[0] == '\0' || s->next.epoch != r->at.epoch)
		return 0; /* there is something to fetch */
	redis_set_patience(s->redis, ms + ANSWER_TIME_MS);
	redis_tell(s->redis, "XREAD BLOCK %u STREAMS fmd:log %s", ms, s->last);
	for (unsigned done = 0; watch != NULL && rc == 0 && done < ms; done += watch->every_ms) {
		if (redis_has_answer(s->redis, watch->every_ms))
			break;
		rc = watch->look(watch->arg, err);
	}
	if (rc != 0)
		return rc; /* nobody takes the answer: the source is closed */
	reply = redis_answer(s->redis, err);
	redis_set_patience(s->redis, ANSWER_TIME_MS);
	return take_log_of(s, r, reply, err);
}

/* ----------------------------------------------------------------- fetching */

struct asked { /* what the elements of a transaction's answer are */
	enum blob_kind kind;
	uint64_t number;
	size_t at, n; /* of a row: bytes from..; n = 0: all */
};

struct fetching {
	struct relay *s;
	struct replica *r;
	FM_VEC(struct asked) asked;
	bool memory_is_out;
};

static void
ask_for(struct fetching *f, struct asked a)
{
	char key[BLOB_KEY_BYTES];

	blob_key(key, a.kind, a.number);
	if (a.n == 0)
		redis_tell(f->s->redis, "GET fmd:%s", key);
	else
		redis_tell(f->s->redis, "GETRANGE fmd:%s %u %u", key, (unsigned)a.at,
		    (unsigned)(a.at + a.n - 1));
	f->memory_is_out |= !fm_vec_push(&f->asked, a);
}

static void
begin(struct fetching *f)
{
	f->asked.n = 0;
	redis_tell(f->s->redis, "MULTI");
	redis_tell(f->s->redis, REDIS_ASK_EPOCH);
}

static bool
take_blob(struct fetching *f, const struct asked *a, const redisReply *reply)
{
	if (reply->type == REDIS_REPLY_NIL)
		return replica_put(f->r, a->kind, a->number, NULL, 0);
	if (reply->type != REDIS_REPLY_STRING)
		return false;
	if (a->n != 0)
		return (size_t)reply->len <= a->n &&
		    replica_patch(f->r, a->number, a->at, reply->str, (size_t)reply->len);
	return replica_put(f->r, a->kind, a->number, reply->str, (size_t)reply->len);
}

/* The answer of EXEC: the epoch, and what was asked for, in this order. */
static int
take_answers(
    struct fetching *f, const redisReply *all, struct paths_epoch *at, struct fm_error *err)
{
	int rc;

	if (all->type != REDIS_REPLY_ARRAY || all->elements != f->asked.n + 1)
		return redis_no_sense(f->s->redis, err);
	rc = redis_take_epoch(f->s->redis, all->element[0], &at->term, &at->epoch, err);
	for (size_t i = 0; rc == 0 && i < f->asked.n; i++)
		if (!take_blob(f, &f->asked.item[i], all->element[i + 1]))
			rc = fm_fail(err, FM_E_CONFIG,
			    "the relay gives a blob that is none, or memory is out");
	return rc;
}

static int
end(struct fetching *f, struct paths_epoch *at, struct fm_error *err)
{
	redisReply *reply;
	int rc;

	if (f->memory_is_out)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for blobs");
	reply = redis_ask(f->s->redis, err, "EXEC");
	rc = reply != NULL ? take_answers(f, reply, at, err) : err->kind;
	freeReplyObject(reply);
	return rc;
}

/* The newest entry of the log, to go on behind it. */
static int
find_last(struct relay *s, struct fm_error *err)
{
	redisReply *reply = redis_ask(s->redis, err, "XREVRANGE fmd:log + - COUNT 1");
	int rc = 0;

	if (reply == NULL)
		return err->kind;
	snprintf(s->last, sizeof(s->last), "0-0");
	if (reply->type != REDIS_REPLY_ARRAY)
		rc = redis_no_sense(s->redis, err);
	else if (reply->elements == 1 && reply->element[0]->type == REDIS_REPLY_ARRAY &&
	    reply->element[0]->elements == 2 && redis_is_text(reply->element[0]->element[0]))
		snprintf(s->last, sizeof(s->last), "%s", reply->element[0]->element[0]->str);
	freeReplyObject(reply);
	return rc;
}

static void
ask_for_small(struct fetching *f, uint32_t kinds)
{
	for (unsigned k = 0; k < BLOB_PORT; k++)
		if ((kinds >> k & 1) != 0)
			ask_for(f, (struct asked){ .kind = (enum blob_kind)k });
}

static void
ask_for_rows(struct fetching *f, bool only_wanted)
{
	for (size_t i = 0; i < f->r->row.n; i++)
		if (!only_wanted || f->r->row.item[i].wanted) {
			uint64_t guid = f->r->row.item[i].guid;

			ask_for(f, (struct asked){ .kind = BLOB_ROW, .number = guid });
			ask_for(f, (struct asked){ .kind = BLOB_HOPS, .number = guid });
		}
}

/* How many blocks there are; everything but rows; the rows of our leaves: each of an epoch. */
static int
fetch_once(struct fetching *f, struct paths_epoch at[3], struct fm_error *err)
{
	int rc;

	begin(f);
	ask_for_small(f, 1u << BLOB_SUBNET);
	rc = end(f, &at[0], err);
	if (rc == 0) {
		begin(f);
		ask_for_small(f, UINT32_MAX);
		for (unsigned b = 0; b < replica_n_blocks(f->r); b++) {
			ask_for(f, (struct asked){ .kind = BLOB_PORT, .number = b });
			ask_for(f, (struct asked){ .kind = BLOB_NAME, .number = b });
		}
		rc = end(f, &at[1], err);
	}
	if (rc == 0 && !replica_find_rows(f->r))
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory for rows");
	if (rc == 0) {
		begin(f);
		ask_for_rows(f, false);
		rc = end(f, &at[2], err);
	}
	return rc;
}

static bool
is_one(struct paths_epoch a, struct paths_epoch b)
{
	return a.term == b.term && a.epoch == b.epoch;
}

/* Until all parts are of one epoch. */
static int
fetch_all(struct fetching *f, struct fm_error *err)
{
	struct paths_epoch at[3];
	int rc;

	for (int tries = 0; tries < TRIES_MOST; tries++) {
		rc = find_last(f->s, err);
		if (rc == 0)
			rc = fetch_once(f, at, err);
		if (rc != 0)
			return rc;
		if (is_one(at[0], at[1]) && is_one(at[1], at[2])) {
			f->r->at = f->s->next = at[0];
			return 0;
		}
	}
	return fm_fail(err, FM_E_SYSTEM, "epochs pass faster than they can be fetched");
}

/* Blocks of one row that differ, run by run; or all of it. */
static void
ask_for_runs(struct fetching *f, const struct replica_row *row)
{
	const uint64_t *bits = f->s->changes.rows;
	struct asked run[RUNS_MOST];
	unsigned n = 0;

	for (size_t b = fm_bit_next(bits, REPLICA_BLOCKS, 0); b < REPLICA_BLOCKS && n <= RUNS_MOST;
	     b = fm_bit_next(bits, REPLICA_BLOCKS, b)) {
		size_t first = b;

		while (b < REPLICA_BLOCKS && fm_bit_test(bits, b))
			b++;
		if (n < RUNS_MOST)
			run[n] = (struct asked){ .kind = BLOB_ROW,
				.number = row->guid,
				.at = first * BLOB_BLOCK_LIDS,
				.n = (b - first) * BLOB_BLOCK_LIDS };
		n++;
	}
	if (n > RUNS_MOST || row->wanted)
		ask_for(f, (struct asked){ .kind = BLOB_ROW, .number = row->guid });
	for (unsigned i = 0; i < n && n <= RUNS_MOST && !row->wanted; i++)
		ask_for(f, run[i]);
}

/* *at stays, or is the epoch of the rows. */
static int
fetch_rows_of_new_leaves(struct fetching *f, struct paths_epoch *at, struct fm_error *err)
{
	bool wanted = false;

	if (!replica_find_rows(f->r))
		return fm_fail(err, FM_E_RESOURCE, "out of memory for rows");
	for (size_t i = 0; i < f->r->row.n; i++)
		wanted |= f->r->row.item[i].wanted;
	if (!wanted)
		return 0;
	begin(f);
	ask_for_rows(f, true);
	return end(f, at, err);
}

/* What the log told of, in one transaction, and rows of leaves that are new by it in another:
 * of the epochs at[0] and at[1]. */
static int
fetch_told(struct fetching *f, struct paths_epoch at[2], struct fm_error *err)
{
	const struct changes *c = &f->s->changes;
	int rc;

	begin(f);
	ask_for_small(f, c->kinds);
	FM_EACH_BIT (b, c->ports, REPLICA_BLOCKS)
		ask_for(f, (struct asked){ .kind = BLOB_PORT, .number = b });
	FM_EACH_BIT (b, c->names, REPLICA_BLOCKS)
		ask_for(f, (struct asked){ .kind = BLOB_NAME, .number = b });
	for (size_t i = 0; i < f->r->row.n; i++)
		if (fm_bit_test(c->leaves, f->r->row.item[i].leaf)) {
			const struct replica_row *row = &f->r->row.item[i];

			if ((c->kinds >> BLOB_ROW & 1) != 0)
				ask_for_runs(f, row);
			if ((c->kinds >> BLOB_HOPS & 1) != 0)
				ask_for(
				    f, (struct asked){ .kind = BLOB_HOPS, .number = row->guid });
		}
	rc = end(f, &at[0], err);
	at[1] = at[0];
	return rc == 0 ? fetch_rows_of_new_leaves(f, &at[1], err) : rc;
}

/* What the log has behind the entry that was read last. */
static int
read_log(struct relay *s, const struct replica *r, struct fm_error *err)
{
	return take_log_of(
	    s, r, redis_ask(s->redis, err, "XREAD STREAMS fmd:log %s", s->last), err);
}

/* Blobs may be of a later epoch than the entries of the log that have been read: then those behind
 * are read, too, until all is of one epoch.  Changes add up. */
static int
fetch_changes(struct fetching *f, struct fm_error *err)
{
	struct paths_epoch at[2];
	int rc = 0;

	for (int tries = 0; rc == 0 && tries < TRIES_MOST && !f->s->gap; tries++) {
		rc = fetch_told(f, at, err);
		if (rc == 0 && is_one(at[0], f->s->next) && is_one(at[1], at[0])) {
			f->r->at = at[0];
			return 0;
		}
		if (rc == 0)
			rc = read_log(f->s, f->r, err);
	}
	return rc == 0 ? fetch_all(f, err) : rc;
}

/* ------------------------------------------------------------- is it current? */

/* Who hears the first of the chain has all that was published. */
static int
judge_above(struct relay *s, const redisReply *info, struct fm_error *err)
{
	if (!redis_is_text(info))
		return fm_fail(err, FM_E_CONFIG, "the relay does not tell what it follows");
	switch (redis_info_link(info->str, &s->age_s)) {
	case REDIS_LINK_FILLING:
	case REDIS_LINK_DOWN:
		return fm_fail(err, FM_E_SYSTEM, "the relay has lost the one above");
	case REDIS_LINK_SILENT:
		return fm_fail(err, FM_E_SYSTEM,
		    "the relay has heard nothing from the one above for %u s", s->age_s);
	default:
		return 0;
	}
}

static bool
is_behind(struct paths_epoch a, struct paths_epoch b)
{
	return a.term < b.term || (a.term == b.term && a.epoch < b.epoch);
}

/* A relay that is behind us is left, for a while: then the SM that had published more is master no
 * more, and what it published not so. */
static int
judge_epoch(struct relay *s, struct replica *r, const struct paths_epoch *at, struct fm_error *err)
{
	if (r->at.epoch == 0 || !is_behind(*at, r->at)) {
		r->n_behind = 0;
		return 0;
	}
	if (at->epoch == 0 || ++r->n_behind < BEHIND_MOST)
		return fm_fail(err, FM_E_SYSTEM,
		    "the relay is at term %" PRIu64 ", epoch %" PRIu64 ", behind ours", at->term,
		    at->epoch);
	r->n_behind = 0;
	s->gap = true;
	return 0;
}

/* What the relay follows, its epoch, and its log behind what has been read. */
static int
take_state(struct relay *s, struct replica *r, const redisReply *all, struct fm_error *err)
{
	struct paths_epoch at;
	int rc;

	if (all->type != REDIS_REPLY_ARRAY || all->elements != 3)
		return redis_no_sense(s->redis, err);
	rc = judge_above(s, all->element[0], err);
	if (rc == 0)
		rc = redis_take_epoch(s->redis, all->element[1], &at.term, &at.epoch, err);
	if (rc == 0)
		rc = judge_epoch(s, r, &at, err);
	if (rc == 0)
		rc = take_log(s, r, all->element[2], err);
	if (rc == 0 && r->at.epoch != 0)
		s->gap |= !is_one(s->next, at); /* what we had is not of its line */
	return rc;
}

/* All of one moment, in one question. */
static int
read_replica(struct relay *s, struct replica *r, struct fm_error *err)
{
	redisReply *all;
	int rc;

	if (s->last[0] == '\0') {
		s->next = r->at;
		snprintf(s->last, sizeof(s->last), "%s", r->at.epoch != 0 ? r->log_entry : "$");
	}
	redis_tell(s->redis, "MULTI");
	redis_tell(s->redis, "INFO replication");
	redis_tell(s->redis, REDIS_ASK_EPOCH);
	redis_tell(s->redis, "XREAD STREAMS fmd:log %s", s->last);
	all = redis_ask(s->redis, err, "EXEC");
	rc = all != NULL ? take_state(s, r, all, err) : (int)err->kind;
	freeReplyObject(all);
	return rc;
}

static int
relay_fetch(void *source, struct replica *r, bool *whole, struct fm_error *err)
{
	struct relay *s = source;
	struct fetching f = { .s = s, .r = r };
	int rc = 0;

	s->age_s = 0;
	if (s->last[0] == '\0' || is_one(s->next, r->at)) /* else an event has woken us */
		rc = read_replica(s, r, err);
	*whole = r->at.epoch == 0 || s->gap;
	if (rc == 0 && *whole)
		rc = fetch_all(&f, err);
	else if (rc == 0 && !is_one(s->next, r->at))
		rc = fetch_changes(&f, err);
	if (rc == 0) {
		snprintf(r->log_entry, sizeof(r->log_entry), "%s", s->last);
		memset(&s->changes, 0, sizeof(s->changes));
		s->gap = false;
	}
	fm_vec_fini(&f.asked);
	return rc;
}

/* Redis keeps no connection back for relays and fmctl: agents leave a tenth of them.  One that does
 * not tell how many it takes has room until it refuses. */
static int
relay_room(void *source, struct fm_error *err)
{
	struct relay *s = source;
	redisReply *info = redis_ask(s->redis, err, "INFO clients");
	char taken[24], most[24];
	long n, n_most;

	if (info == NULL)
		return err->kind;
	redis_info(redis_is_text(info) ? info->str : "", "connected_clients", taken, sizeof(taken));
	redis_info(redis_is_text(info) ? info->str : "", "maxclients", most, sizeof(most));
	freeReplyObject(info);
	n = strtol(taken, NULL, 10);
	n_most = strtol(most, NULL, 10);
	return n <= n_most - n_most / 10 || n_most <= 0
	    ? 0
	    : fm_fail(err, FM_E_RESOURCE,
		  "the relay is full: of %ld connections that it takes %ld are there, and a tenth "
		  "is left to relays",
		  n_most, n);
}

static unsigned
relay_age_s(const void *source)
{
	const struct relay *s = source;

	return s->age_s;
}

static int
relay_show(void *source, uint64_t port_guid, struct paths_epoch at, struct fm_error *err)
{
	struct relay *s = source;
	int rc;

	if (at.epoch != 0 && is_one(at, s->shown)) /* no wake-up for its answer */
		return 0;
	rc = redis_do(s->redis, err, "CLIENT SETNAME fmd-agent:%016llx:%llu:%llu",
	    (unsigned long long)port_guid, (unsigned long long)at.term,
	    (unsigned long long)at.epoch);
	if (rc == 0)
		s->shown = at;
	return rc;
}

const struct source_ops source_redis = { .open = relay_open,
	.close = relay_close,
	.fetch = relay_fetch,
	.room = relay_room,
	.age_s = relay_age_s,
	.wait = relay_wait,
	.show = relay_show };
