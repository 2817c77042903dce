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
 * not been missed; at a gap everything is fetched.
 */
#include <errno.h>
#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/text/relay.h"
#include "host/agent/source.h"
#include "lib/bitset.h"

#define CONNECT_TIME_MS 1000
#define ANSWER_TIME_MS 10000
#define MOST_ANSWER (32u << 20)	 /* bytes; all of 49,151 LIDs is less than half */
#define MOST_ELEMENTS (1u << 19) /* of 20,000 entries of the log: two thirds */
#define RUNS_MOST 8  /* of a row, asked one by one; more, and the row is fetched whole */
#define TRIES_MOST 5 /* of everything, while epochs pass */

struct changes { /* of all epochs since the replica's */
	uint32_t kinds;
	uint64_t leaves[65536 / 64];
	uint64_t rows[REPLICA_BLOCKS / 64], ports[REPLICA_BLOCKS / 64], names[REPLICA_BLOCKS / 64];
};

struct relay {
	redisContext *c;
	char last[64];		 /* entry of the log that has been read, "" none */
	struct paths_epoch next; /* that of the newest entry that has been read */
	bool gap;		 /* epochs have been missed */
	bool too_long;		 /* an answer was: what follows is none */
	size_t n_elements;	 /* of arrays in this answer */
	struct changes changes;
};

static int
failed(const struct relay *s, const redisReply *reply, struct fm_error *err)
{
	if (reply != NULL && reply->type == REDIS_REPLY_ERROR)
		return fm_fail(err, FM_E_SYSTEM, "the relay answers \"%.100s\"", reply->str);
	if (s->too_long)
		return fm_fail(
		    err, FM_E_CONFIG, "the relay's answer is longer than any that there is");
	if (s->c->err != 0)
		return fm_fail(err, FM_E_SYSTEM, "the relay: %.100s", s->c->errstr);
	return fm_fail(err, FM_E_CONFIG, "the relay gives an answer that makes no sense");
}

static void
relay_close(void *source)
{
	struct relay *s = source;

	if (s == NULL)
		return;
	redisFree(s->c);
	free(s);
}

static bool
set_answer_time(struct relay *s, unsigned ms)
{
	const struct timeval time = { .tv_sec = ms / 1000, .tv_usec = (ms % 1000) * 1000 };

	return redisSetTimeout(s->c, time) == REDIS_OK;
}

static redisContext *
connect_to(const char *where, struct fm_error *err)
{
	const struct timeval time = { .tv_sec = CONNECT_TIME_MS / 1000 };
	struct relay_name to;

	if (relay_name_parse(where, &to, err) != 0)
		return NULL;
	return to.path != NULL ? redisConnectUnixWithTimeout(to.path, time)
			       : redisConnectWithTimeout(to.host, to.port, time);
}

#if HIREDIS_MAJOR < 1
typedef int array_size;
#else
typedef size_t array_size;
#endif

static void *(*create_array)(const redisReadTask *, array_size);

/* hiredis takes room for as many elements as the relay says there are. */
static void *
create_array_if_small(const redisReadTask *task, array_size n)
{
	struct relay *s = task->privdata;

	s->n_elements += (size_t)n;
	s->too_long |= s->n_elements > MOST_ELEMENTS;
	return s->too_long ? NULL : create_array(task, n);
}

static void
bound_arrays(struct relay *s)
{
	static redisReplyObjectFunctions functions;

	if (create_array == NULL) {
		functions = *s->c->reader->fn;
		create_array = functions.createArray;
		functions.createArray = create_array_if_small;
	}
	s->c->reader->fn = &functions;
	s->c->reader->privdata = s;
}

/* hiredis reads a value however long the relay says it is. */
static redisReply *
read_some(struct relay *s)
{
	void *reply = NULL;
	size_t n_read = 0, had;

	while (reply == NULL && n_read <= MOST_ANSWER) {
		had = s->c->reader->len;
		if (redisBufferRead(s->c) != REDIS_OK)
			return NULL;
		n_read += s->c->reader->len - had;
		if (redisGetReplyFromReader(s->c, &reply) != REDIS_OK)
			return NULL;
	}
	s->too_long |= reply == NULL;
	return reply;
}

/* The answer to the first of the commands that have none; NULL: failed() knows why. */
static redisReply *
next_answer(struct relay *s)
{
	void *reply = NULL;
	int done = 0;

	s->n_elements = 0;
	if (redisGetReplyFromReader(s->c, &reply) != REDIS_OK)
		return NULL;
	while (reply == NULL && !done)
		if (redisBufferWrite(s->c, &done) != REDIS_OK)
			return NULL;
	return reply != NULL ? reply : read_some(s);
}

static redisReply *
ask(struct relay *s, const char *format, ...)
{
	va_list ap;
	int rc;

	va_start(ap, format);
	rc = redisvAppendCommand(s->c, format, ap);
	va_end(ap);
	return rc == REDIS_OK ? next_answer(s) : NULL;
}

static int
log_in(struct relay *s, const struct source_login *login, struct fm_error *err)
{
	redisReply *reply;
	int rc;

	if (login == NULL)
		return 0;
	reply = ask(s, "AUTH %s %s", login->user, login->password);
	rc = reply == NULL || reply->type == REDIS_REPLY_ERROR ? failed(s, reply, err) : 0;
	freeReplyObject(reply);
	return rc;
}

static int
relay_open(const char *where, const struct source_login *login, void **source, struct fm_error *err)
{
	struct relay *s = calloc(1, sizeof(*s));
	int rc = 0;

	if (s == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for a relay");
	err->msg[0] = '\0';
	s->c = connect_to(where, err);
	if (s->c == NULL || s->c->err != 0) {
		rc = err->msg[0] != '\0'
		    ? FM_E_CONFIG
		    : fm_fail(err, FM_E_SYSTEM, "cannot connect to %s: %s", where,
			  s->c != NULL ? s->c->errstr : "out of memory");
		if (s->c != NULL)
			redisFree(s->c);
		free(s);
		return rc;
	}
	if (strncmp(where, "unix:", 5) != 0)
		redisEnableKeepAlive(s->c);
	set_answer_time(s, ANSWER_TIME_MS);
	bound_arrays(s);
	rc = log_in(s, login, err);
	if (rc == 0)
		*source = s;
	else
		relay_close(s);
	return rc;
}

/* ------------------------------------------------------------------ the log */

static bool
is_text(const redisReply *reply)
{
	return reply != NULL && reply->type == REDIS_REPLY_STRING;
}

static void
add_bits(uint64_t *to, size_t n_words, const redisReply *from)
{
	const uint8_t *bytes = (const uint8_t *)from->str;
	size_t n = (size_t)from->len < 8 * n_words ? (size_t)from->len : 8 * n_words;

	for (size_t i = 0; i < n; i++)
		to[i / 8] |= (uint64_t)bytes[i] << (i % 8 * 8);
}

#define WORDS(set) (sizeof(set) / sizeof((set)[0]))

/* field, value, ... of an entry; what is unknown is passed over. */
static void
read_entry(struct relay *s, const redisReply *fields, struct paths_epoch *at)
{
	struct changes *c = &s->changes;

	for (size_t i = 0; i + 1 < fields->elements; i += 2) {
		const redisReply *key = fields->element[i], *value = fields->element[i + 1];

		if (!is_text(key) || !is_text(value))
			continue;
		if (strcmp(key->str, "term") == 0)
			at->term = strtoull(value->str, NULL, 10);
		else if (strcmp(key->str, "epoch") == 0)
			at->epoch = strtoull(value->str, NULL, 10);
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

/* Each epoch is the next of the one before, under its term or that of the SM that has taken over.
 * A place that had lost all has a far later term (core/dist/dist.c), whatever its epoch is. */
static bool
follows(struct paths_epoch at, struct paths_epoch before)
{
	return at.epoch == before.epoch + 1 && at.term - before.term <= 1;
}

/* [id, [field, value, ...]], ... */
static void
read_entries(struct relay *s, const struct replica *r, const redisReply *entries)
{
	for (size_t i = 0; i < entries->elements; i++) {
		const redisReply *e = entries->element[i];
		struct paths_epoch at = { 0 };

		if (e->type != REDIS_REPLY_ARRAY || e->elements != 2 || !is_text(e->element[0]) ||
		    e->element[1]->type != REDIS_REPLY_ARRAY)
			continue;
		snprintf(s->last, sizeof(s->last), "%s", e->element[0]->str);
		read_entry(s, e->element[1], &at);
		if (at.epoch <= r->at.epoch && at.term <= r->at.term)
			continue; /* fetched with what came after it */
		s->gap |= !follows(at, s->next);
		s->next = at;
	}
}

/* [[stream, entries]] or nil. */
static int
take_log(struct relay *s, const struct replica *r, const redisReply *reply, struct fm_error *err)
{
	const redisReply *stream;

	if (reply == NULL || reply->type == REDIS_REPLY_ERROR)
		return failed(s, reply, err);
	if (reply->type == REDIS_REPLY_NIL)
		return 0;
	stream =
	    reply->type == REDIS_REPLY_ARRAY && reply->elements == 1 ? reply->element[0] : NULL;
	if (stream == NULL || stream->type != REDIS_REPLY_ARRAY || stream->elements != 2 ||
	    stream->element[1]->type != REDIS_REPLY_ARRAY)
		return failed(s, NULL, err);
	read_entries(s, r, stream->element[1]);
	return 0;
}

static int
relay_wait(void *source, const struct replica *r, unsigned ms, struct fm_error *err)
{
	struct relay *s = source;
	redisReply *reply;
	int rc;

	if (s->last[0] == '\0' || s->next.epoch != r->at.epoch)
		return 0; /* there is something to fetch */
	set_answer_time(s, ms + ANSWER_TIME_MS);
	reply = ask(s, "XREAD BLOCK %u STREAMS fmd:log %s", ms, s->last);
	set_answer_time(s, ANSWER_TIME_MS);
	rc = take_log(s, r, reply, err);
	freeReplyObject(reply);
	return rc;
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
		redisAppendCommand(f->s->c, "GET fmd:%s", key);
	else
		redisAppendCommand(f->s->c, "GETRANGE fmd:%s %u %u", key, (unsigned)a.at,
		    (unsigned)(a.at + a.n - 1));
	f->memory_is_out |= !fm_vec_push(&f->asked, a);
}

static void
begin(struct fetching *f)
{
	f->asked.n = 0;
	redisAppendCommand(f->s->c, "MULTI");
	redisAppendCommand(f->s->c, "HMGET fmd:meta term epoch");
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

static bool
take_epoch(const redisReply *meta, struct paths_epoch *at)
{
	if (meta->type != REDIS_REPLY_ARRAY || meta->elements != 2)
		return false;
	*at = (struct paths_epoch){ 0 };
	if (is_text(meta->element[0]) && is_text(meta->element[1]))
		*at = (struct paths_epoch){ strtoull(meta->element[0]->str, NULL, 10),
			strtoull(meta->element[1]->str, NULL, 10) };
	return true;
}

/* The answer of EXEC: the epoch, and what was asked for, in this order. */
static int
take_answers(
    struct fetching *f, const redisReply *all, struct paths_epoch *at, struct fm_error *err)
{
	if (all->type != REDIS_REPLY_ARRAY || all->elements != f->asked.n + 1 ||
	    !take_epoch(all->element[0], at))
		return failed(f->s, all, err);
	for (size_t i = 0; i < f->asked.n; i++)
		if (!take_blob(f, &f->asked.item[i], all->element[i + 1]))
			return fm_fail(err, FM_E_CONFIG,
			    "the relay gives a blob that is none, or memory is out");
	return 0;
}

static int
end(struct fetching *f, struct paths_epoch *at, struct fm_error *err)
{
	redisReply *reply = NULL;
	int rc = f->memory_is_out ? fm_fail(err, FM_E_RESOURCE, "out of memory for blobs") : 0;

	redisAppendCommand(f->s->c, "EXEC");
	for (size_t i = 0; rc == 0 && i < f->asked.n + 3; i++) {
		reply = next_answer(f->s);
		if (reply == NULL)
			rc = failed(f->s, NULL, err);
		else if (reply->type == REDIS_REPLY_ERROR)
			rc = failed(f->s, reply, err);
		else if (i == f->asked.n + 2)
			rc = take_answers(f, reply, at, err);
		freeReplyObject(reply);
		reply = NULL;
	}
	return rc;
}

/* The newest entry of the log, to go on behind it. */
static int
find_last(struct relay *s, struct fm_error *err)
{
	redisReply *reply = ask(s, "XREVRANGE fmd:log + - COUNT 1");
	int rc = 0;

	if (reply == NULL || reply->type != REDIS_REPLY_ARRAY)
		rc = failed(s, reply, err);
	snprintf(s->last, sizeof(s->last), "0-0");
	if (rc == 0 && reply->elements == 1 && reply->element[0]->type == REDIS_REPLY_ARRAY &&
	    reply->element[0]->elements == 2 && is_text(reply->element[0]->element[0]))
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
		if (!only_wanted || f->r->row.item[i].wanted)
			ask_for(f,
			    (struct asked){ .kind = BLOB_ROW, .number = f->r->row.item[i].guid });
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
		if (fm_bit_test(c->leaves, f->r->row.item[i].leaf))
			ask_for_runs(f, &f->r->row.item[i]);
	rc = end(f, &at[0], err);
	at[1] = at[0];
	return rc == 0 ? fetch_rows_of_new_leaves(f, &at[1], err) : rc;
}

/* What the log has behind the entry that was read last. */
static int
read_log(struct relay *s, const struct replica *r, struct fm_error *err)
{
	redisReply *reply = ask(s, "XREAD STREAMS fmd:log %s", s->last);
	int rc = take_log(s, r, reply, err);

	freeReplyObject(reply);
	return rc;
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

/* Where has this replica been, that comes from another relay? */
static int
go_on(struct relay *s, const struct replica *r, struct fm_error *err)
{
	s->next = r->at;
	snprintf(s->last, sizeof(s->last), "%s", r->log_entry);
	return read_log(s, r, err);
}

/* A relay that is behind us, or of another line, has an epoch before ours. */
static int
check_line(struct relay *s, const struct replica *r, struct fm_error *err)
{
	redisReply *meta = ask(s, "HMGET fmd:meta term epoch");
	struct paths_epoch at;
	int rc = 0;

	if (meta == NULL || !take_epoch(meta, &at))
		rc = failed(s, meta, err);
	else if (at.term < r->at.term || (at.term == r->at.term && at.epoch < r->at.epoch))
		rc = fm_fail(err, FM_E_SYSTEM,
		    "the relay is at term %" PRIu64 ", epoch %" PRIu64 ", behind ours", at.term,
		    at.epoch);
	freeReplyObject(meta);
	return rc;
}

static int
relay_fetch(void *source, struct replica *r, bool *changed, bool *whole, struct fm_error *err)
{
	struct relay *s = source;
	struct fetching f = { .s = s, .r = r };
	int rc = 0;

	if (s->last[0] == '\0' && r->at.epoch != 0) {
		rc = check_line(s, r, err);
		if (rc == 0)
			rc = go_on(s, r, err);
	}
	*whole = r->at.epoch == 0 || s->gap;
	*changed = *whole || s->next.epoch != r->at.epoch || s->next.term != r->at.term;
	if (rc == 0 && *changed)
		rc = *whole ? fetch_all(&f, err) : fetch_changes(&f, err);
	if (rc == 0) {
		snprintf(r->log_entry, sizeof(r->log_entry), "%s", s->last);
		memset(&s->changes, 0, sizeof(s->changes));
		s->gap = false;
		*changed &= r->at.epoch != 0;
	}
	fm_vec_fini(&f.asked);
	return rc;
}

static int
relay_show(void *source, uint64_t port_guid, struct paths_epoch at, struct fm_error *err)
{
	struct relay *s = source;
	redisReply *reply =
	    ask(s, "CLIENT SETNAME fmd-agent:%016llx:%llu:%llu", (unsigned long long)port_guid,
		(unsigned long long)at.term, (unsigned long long)at.epoch);
	int rc = reply == NULL || reply->type == REDIS_REPLY_ERROR ? failed(s, reply, err) : 0;

	freeReplyObject(reply);
	return rc;
}

const struct source_ops source_redis = { .open = relay_open,
	.close = relay_close,
	.fetch = relay_fetch,
	.wait = relay_wait,
	.show = relay_show };
