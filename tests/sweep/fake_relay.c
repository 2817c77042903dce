/* SPDX-License-Identifier: BSD-2-Clause */
/* tests/sweep/fake_relay.c - RESP2, as much of it as agents speak; O(blobs) a key. */
#include "tests/sweep/fake_relay.h"

#include <check.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/thread.h"

#define WORDS_MOST 16
#define ENDLESS_BYTES (256u << 20) /* a relay that never ends does end, for a red test's sake */
#define MANY 1000000

struct bytes {
	FM_VEC(char) b;
};

struct command {
	const char *word[WORDS_MOST];
	size_t length[WORDS_MOST];
	unsigned n;
};

struct caller {
	struct fake_relay *r;
	int fd;
	char in[1 << 16];
	size_t n;
	bool in_multi;
	struct bytes held; /* answers of the transaction */
	unsigned n_held;
};

/* ----------------------------------------------------------------- answers */

static void
add(struct bytes *out, const void *p, size_t n)
{
	ck_assert(fm_vec_append(&out->b, p, n));
}

static void
add_text(struct bytes *out, const char *text)
{
	add(out, text, strlen(text));
}

static void
add_head(struct bytes *out, char type, uint64_t n)
{
	char head[32];

	snprintf(head, sizeof(head), "%c%" PRIu64 "\r\n", type, n);
	add_text(out, head);
}

static void
add_string(struct bytes *out, const void *p, size_t n)
{
	add_head(out, '$', n);
	add(out, p, n);
	add_text(out, "\r\n");
}

static void
add_number(struct bytes *out, uint64_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, n);
	add_string(out, text, strlen(text));
}

/* -------------------------------------------------------------------- state */

static struct fake_blob *
find(const struct fake_relay *r, const char *key, size_t n)
{
	for (size_t i = 0; i < r->blob.n; i++)
		if (strlen(r->blob.item[i].key) == n && memcmp(r->blob.item[i].key, key, n) == 0)
			return &r->blob.item[i];
	return NULL;
}

const struct fake_blob *
fake_relay_find(const struct fake_relay *r, const char *key)
{
	return find(r, key, strlen(key));
}

void
fake_relay_put(struct fake_relay *r, const char *key, const void *bytes, size_t n)
{
	struct fake_blob *b = find(r, key, strlen(key)), new = { 0 };

	if (b == NULL) {
		snprintf(new.key, sizeof(new.key), "%s", key);
		ck_assert(fm_vec_push(&r->blob, new));
		b = &r->blob.item[r->blob.n - 1];
	}
	free(b->bytes);
	b->bytes = bytes != NULL ? malloc(n + 1) : NULL;
	b->n = n;
	if (bytes != NULL)
		memcpy(b->bytes, bytes, n);
}

void
fake_relay_log(struct fake_relay *r, struct fake_entry e)
{
	e.id = ++r->last_id;
	e.was = r->was;
	r->was = e.term;
	ck_assert(fm_vec_push(&r->log, e));
}

void
fake_relay_lock(struct fake_relay *r)
{
	pthread_mutex_lock(&r->lock);
}

void
fake_relay_unlock(struct fake_relay *r)
{
	pthread_mutex_unlock(&r->lock);
}

/* ----------------------------------------------------------------- commands */

static bool
is(const struct command *c, unsigned i, const char *word)
{
	return i < c->n && c->length[i] == strlen(word) &&
	    memcmp(c->word[i], word, c->length[i]) == 0;
}

static size_t
number(const struct command *c, unsigned i)
{
	return i < c->n ? strtoul(c->word[i], NULL, 10) : 0;
}

static void
get(struct caller *k, const struct command *c, struct bytes *out)
{
	const struct fake_blob *b =
	    c->n > 1 && c->length[1] > 4 ? find(k->r, c->word[1] + 4, c->length[1] - 4) : NULL;
	size_t from = number(c, 2), to = number(c, 3) + 1;

	k->r->n_whole += is(c, 1, "fmd:subnet");
	if (is(c, 0, "GET")) {
		if (b == NULL || b->bytes == NULL)
			add_text(out, "$-1\r\n");
		else
			add_string(out, b->bytes, b->n);
		return;
	}
	if (b == NULL || b->bytes == NULL || from >= b->n)
		add_string(out, "", 0);
	else
		add_string(out, b->bytes + from, (to < b->n ? to : b->n) - from);
}

static void
add_entry(struct bytes *out, const struct fake_entry *e)
{
	const struct {
		const char *name;
		const uint8_t *bits;
	} set[] = { { "leaves", e->leaves }, { "rows", e->rows }, { "ports", e->ports },
		{ "names", e->names } };
	char id[32];

	snprintf(id, sizeof(id), "%" PRIu64 "-0", e->id);
	add_head(out, '*', 2);
	add_string(out, id, strlen(id));
	add_head(out, '*', 16);
	add_string(out, "term", 4);
	add_number(out, e->term);
	add_string(out, "epoch", 5);
	add_number(out, e->epoch);
	add_string(out, "was", 3);
	add_number(out, e->was);
	add_string(out, "kinds", 5);
	add_number(out, e->kinds);
	for (unsigned i = 0; i < 4; i++) {
		add_string(out, set[i].name, strlen(set[i].name));
		add_string(out, set[i].bits, 8);
	}
}

/* XREAD [COUNT n] [BLOCK ms] STREAMS fmd:log ID: what is there, never waiting. */
static void
xread(struct caller *k, const struct command *c, struct bytes *out)
{
	size_t after = number(c, c->n - 1), most = SIZE_MAX, n = 0;
	struct bytes entries = { 0 };

	if (is(c, c->n - 1, "$"))
		after = SIZE_MAX;
	for (unsigned i = 1; i + 1 < c->n; i++)
		if (is(c, i, "COUNT"))
			most = number(c, i + 1);
	for (size_t i = 0; i < k->r->log.n && n < most; i++)
		if (k->r->log.item[i].id > after) {
			add_entry(&entries, &k->r->log.item[i]);
			n++;
		}
	if (n == 0) {
		add_text(out, "*-1\r\n");
		return;
	}
	add_text(out, "*1\r\n*2\r\n");
	add_string(out, "fmd:log", 7);
	add_head(out, '*', n);
	add(out, entries.b.item, entries.b.n);
	fm_vec_fini(&entries.b);
}

static void
xrevrange(struct caller *k, struct bytes *out)
{
	add_head(out, '*', k->r->log.n > 0);
	if (k->r->log.n > 0)
		add_entry(out, &k->r->log.item[k->r->log.n - 1]);
}

static void
hmget(struct caller *k, struct bytes *out)
{
	add_head(out, '*', 2);
	if (k->r->epoch == 0) {
		add_text(out, "$-1\r\n$-1\r\n");
		return;
	}
	add_number(out, k->r->term);
	add_number(out, k->r->epoch);
}

static void
info(struct caller *k, struct bytes *out)
{
	const char *text = k->r->info != NULL ? k->r->info : "# Replication\r\nrole:master\r\n";

	add_string(out, text, strlen(text));
}

static void
answer(struct caller *k, const struct command *c, struct bytes *out)
{
	if (is(c, 0, "GET") || is(c, 0, "GETRANGE"))
		get(k, c, out);
	else if (is(c, 0, "XREAD"))
		xread(k, c, out);
	else if (is(c, 0, "XREVRANGE"))
		xrevrange(k, out);
	else if (is(c, 0, "HMGET"))
		hmget(k, out);
	else if (is(c, 0, "INFO"))
		info(k, out);
	else
		add_text(out, "+OK\r\n");
}

/* All of one state: nobody else has the lock until EXEC. */
static void
hold(struct caller *k, const struct command *c, struct bytes *out)
{
	if (!is(c, 0, "EXEC")) {
		answer(k, c, &k->held);
		k->n_held++;
		add_text(out, "+QUEUED\r\n");
		return;
	}
	k->in_multi = false;
	add_head(out, '*', k->n_held);
	add(out, k->held.b.item, k->held.b.n);
}

/* --------------------------------------------------------------------- lies */

static const char *const lengths[] = { "2147483647", "4294967296", "9223372036854775807", "-1",
	"-2", "0", "1", "536870912", "18446744073709551616", "x" };

/* The length at a random head of the answer is another. */
static void
lie_about_length(struct fake_relay *r, struct bytes *out)
{
	struct bytes more = { 0 };
	size_t at = fm_rng_below(&r->rng, out->b.n), end;

	while (at > 0 && (out->b.item[at] != '*' && out->b.item[at] != '$'))
		at--;
	for (end = at + 1; end < out->b.n && out->b.item[end] != '\r';)
		end++;
	add(&more, out->b.item, at + 1);
	add_text(&more, lengths[fm_rng_below(&r->rng, sizeof(lengths) / sizeof(lengths[0]))]);
	add(&more, out->b.item + end, out->b.n - end);
	fm_vec_fini(&out->b);
	*out = more;
}

static void
replace(struct bytes *out, const char *head, const char *item, size_t n)
{
	out->b.n = 0;
	add_text(out, head);
	for (size_t i = 0; i < n; i++)
		add_text(out, item);
}

static const char types[] = "+-:$*";

/* A value begins as one of another type does. */
static void
lie_about_type(struct fake_relay *r, struct bytes *out)
{
	size_t at = fm_rng_below(&r->rng, out->b.n);

	while (at > 0 && strchr(types, out->b.item[at]) == NULL)
		at--;
	out->b.item[at] = types[fm_rng_below(&r->rng, 5)];
}

/* False: the connection ends. */
static bool
send_all(struct caller *k, const char *p, size_t n)
{
	k->r->n_bytes += n;
	for (ssize_t done; n > 0; p += done, n -= (size_t)done)
		if ((done = send(k->fd, p, n, MSG_NOSIGNAL)) <= 0)
			return false;
	return true;
}

static void
send_without_end(struct caller *k)
{
	static const char some[1 << 16];
	static const char head[] = "$1099511627776\r\n";
	size_t n = 0;

	if (!send_all(k, head, sizeof(head) - 1))
		return;
	while (n < ENDLESS_BYTES && send_all(k, some, sizeof(some)))
		n += sizeof(some);
}

/* False: the connection ends. */
static bool
lie(struct caller *k, struct bytes *out)
{
	struct fake_relay *r = k->r;
	enum fake_lie what;

	do
		what = (enum fake_lie)fm_rng_below(&r->rng, LIE_KINDS);
	while ((r->lies >> what & 1) == 0);
	r->n_lies++;
	switch (what) {
	case LIE_CUT:
		send_all(k, out->b.item, fm_rng_below(&r->rng, out->b.n));
		return false;
	case LIE_TYPE:
		lie_about_type(r, out);
		break;
	case LIE_BYTE:
		out->b.item[fm_rng_below(&r->rng, out->b.n)] = (char)fm_rng_below(&r->rng, 256);
		break;
	case LIE_LENGTH:
		lie_about_length(r, out);
		break;
	case LIE_NESTED:
		replace(out, "", "*1\r\n", 1 + fm_rng_below(&r->rng, 12));
		break;
	case LIE_MANY:
		replace(
		    out, "*1000000\r\n", fm_rng_below(&r->rng, 2) == 0 ? ":1\r\n" : "*0\r\n", MANY);
		break;
	case LIE_ENDLESS:
		send_without_end(k);
		return false;
	default:
		return false;
	}
	/* what follows does not fit what was asked any more */
	send_all(k, out->b.item, out->b.n);
	return false;
}

/* ------------------------------------------------------------------- thread */

/* False: not all of it is there yet. */
static bool
parse(const char *p, size_t n, struct command *c, size_t *used)
{
	size_t at = 0, words, length;
	char *end;

	*c = (struct command){ 0 };
	if (n == 0 || memchr(p, '\n', n) == NULL)
		return false;
	ck_assert_int_eq(p[0], '*');
	words = strtoul(p + 1, &end, 10);
	ck_assert_uint_le(words, WORDS_MOST);
	for (at = (size_t)(end - p) + 2; c->n < words; at += length + 2) {
		if (at >= n || memchr(p + at, '\n', n - at) == NULL)
			return false;
		ck_assert_int_eq(p[at], '$');
		length = strtoul(p + at + 1, &end, 10);
		at = (size_t)(end - p) + 2;
		if (at + length + 2 > n)
			return false;
		c->word[c->n] = p + at;
		c->length[c->n++] = length;
	}
	*used = at;
	return true;
}

/* False: the connection ends. */
static bool
serve(struct caller *k, const struct command *c)
{
	struct fake_relay *r = k->r;
	struct bytes out = { 0 };
	bool go_on;

	if (!k->in_multi)
		pthread_mutex_lock(&r->lock);
	if (is(c, 0, "MULTI")) {
		k->in_multi = true;
		k->n_held = 0;
		k->held.b.n = 0;
		if (r->on_multi != NULL)
			r->on_multi(r);
		add_text(&out, "+OK\r\n");
	} else if (k->in_multi) {
		hold(k, c, &out);
	} else {
		answer(k, c, &out);
	}
	r->n_answers++;
	if (r->one_lie_in > 0 && fm_rng_below(&r->rng, r->one_lie_in) == 0)
		go_on = lie(k, &out);
	else
		go_on = send_all(k, out.b.item, out.b.n);
	if (!k->in_multi)
		pthread_mutex_unlock(&r->lock);
	fm_vec_fini(&out.b);
	return go_on;
}

static void
talk(struct fake_relay *r, int fd)
{
	struct caller *k = calloc(1, sizeof(*k));
	struct pollfd p[2] = { { .fd = fd, .events = POLLIN },
		{ .fd = r->wake[0], .events = POLLIN } };
	struct command c;
	bool go_on = true;
	size_t used;

	k->r = r;
	k->fd = fd;
	while (go_on && poll(p, 2, -1) > 0 && p[1].revents == 0) {
		ssize_t n = recv(fd, k->in + k->n, sizeof(k->in) - 1 - k->n, 0);

		go_on = n > 0;
		k->n += n > 0 ? (size_t)n : 0;
		k->in[k->n] = '\0';
		while (go_on && parse(k->in, k->n, &c, &used)) {
			go_on = serve(k, &c);
			memmove(k->in, k->in + used, k->n - used + 1);
			k->n -= used;
		}
	}
	if (k->in_multi)
		pthread_mutex_unlock(&r->lock);
	close(fd);
	fm_vec_fini(&k->held.b);
	free(k);
}

static void *
run(void *arg)
{
	struct fake_relay *r = arg;
	struct pollfd p[2] = { { .fd = r->fd, .events = POLLIN },
		{ .fd = r->wake[0], .events = POLLIN } };

	while (poll(p, 2, -1) > 0 && p[1].revents == 0) {
		int fd = accept(r->fd, NULL, NULL);

		if (fd >= 0)
			talk(r, fd);
	}
	return NULL;
}

void
fake_relay_start(struct fake_relay *r, const char *folder, const char *name)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	memset(r, 0, sizeof(*r));
	r->lies = UINT32_MAX;
	snprintf(at.sun_path, sizeof(at.sun_path), "%s/%s", folder, name);
	snprintf(r->where, sizeof(r->where), "unix:%s/%s", folder, name);
	pthread_mutex_init(&r->lock, NULL);
	ck_assert_int_eq(pipe(r->wake), 0);
	r->fd = socket(AF_UNIX, SOCK_STREAM, 0);
	ck_assert_int_eq(bind(r->fd, (struct sockaddr *)&at, sizeof(at)), 0);
	ck_assert_int_eq(listen(r->fd, 8), 0);
	ck_assert_int_eq(fm_thread_start(&r->thread, run, r), 0);
}

void
fake_relay_stop(struct fake_relay *r)
{
	if (r->where[0] == '\0')
		return;
	ck_assert_int_eq(write(r->wake[1], "", 1), 1);
	pthread_join(r->thread, NULL);
	close(r->fd);
	close(r->wake[0]);
	close(r->wake[1]);
	for (size_t i = 0; i < r->blob.n; i++)
		free(r->blob.item[i].bytes);
	fm_vec_fini(&r->blob);
	fm_vec_fini(&r->log);
	pthread_mutex_destroy(&r->lock);
	r->where[0] = '\0';
}
