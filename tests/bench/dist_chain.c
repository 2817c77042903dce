/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dist_chain SM_SOCKET LAST_SOCKET - what a chain of Redis servers costs from fmd to its followers.
 *
 * The publisher is fmd's own (core/dist/redis.c); it tells a fabric of 44,544 LIDs and 1,280
 * leaves, and then epochs of 40 patches.  Followers are connections of one process that ask what
 * fmd-agent asks (host/agent/source_redis.c): each waits in XREAD, then fetches the patched line of
 * its leaf's row with the epoch.  Times are from before the publication's first command to the last
 * byte of the answer, all on one clock.
 */
#include <errno.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>

#include "core/blobs/blobs.h"
#include "core/dist/place.h"
#include "lib/bitset.h"

#define LEAVES 1280
#define LIDS 44544
#define BLOCKS (LIDS / BLOB_BLOCK_LIDS)
#define PATCHES 40
#define EVENTS 20
#define MOST_FOLLOWERS 4000

struct follower {
	redisContext *c;
	unsigned leaf;
	unsigned n_left; /* answers until all has been told */
	bool waits;	 /* in XREAD */
};

static struct follower follower[MOST_FOLLOWERS];
static double at_ms[MOST_FOLLOWERS * EVENTS];
static const char *last_socket;
static char last_entry[64] = "$";
static void *place;
static struct place_epoch now_at;
static struct place_changes changes;
static int poller;

static void
die(const char *what, const char *why)
{
	fprintf(stderr, "dist_chain: %s: %s\n", what, why);
	exit(1);
}

static double
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* ------------------------------------------------------------- publishing */

static void
must(int rc, const struct fm_error *err)
{
	if (rc != 0)
		die("publishing", err->msg);
}

static void
begin(void)
{
	struct place_epoch next = { 1, now_at.epoch + 1 };
	struct fm_error err;

	memset(&changes, 0, sizeof(changes));
	must(place_redis.begin(place, now_at, next, &err), &err);
	now_at = next;
}

static void
commit(void)
{
	struct fm_error err;

	must(place_redis.commit(place, &changes, &err), &err);
}

static void
tell(enum blob_kind kind, uint64_t number, size_t n)
{
	static uint8_t bytes[LIDS];
	char key[BLOB_KEY_BYTES];
	struct fm_error err;

	blob_key(key, kind, number);
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)(i * 7 + number);
	must(place_redis.blob(place, key, bytes, n, &err), &err);
}

static void
tell_all(void)
{
	begin();
	for (unsigned i = 0; i < LEAVES; i++)
		tell(BLOB_ROW, i, LIDS);
	for (unsigned b = 0; b < BLOCKS; b++)
		tell(BLOB_PORT, b, (size_t)BLOB_BLOCK_LIDS * BLOB_PORT_BYTES);
	commit();
}

/* A line of each of so many rows. */
static void
tell_patches(unsigned block)
{
	uint8_t line[BLOB_BLOCK_LIDS];
	char key[BLOB_KEY_BYTES];
	struct fm_error err;

	begin();
	memset(line, (int)now_at.epoch & 0xff, sizeof(line));
	for (unsigned i = 0; i < PATCHES; i++) {
		blob_key(key, BLOB_ROW, i);
		must(place_redis.patch(
			 place, key, (size_t)block * BLOB_BLOCK_LIDS, line, sizeof(line), &err),
		    &err);
		fm_bit_set(changes.leaves, i);
	}
	changes.kinds = 1u << BLOB_ROW;
	fm_bit_set(changes.row_blocks, block);
	commit();
}

/* -------------------------------------------------------------- following */

static void
flush_all(struct follower *f)
{
	int done = 0;

	while (!done)
		if (redisBufferWrite(f->c, &done) != REDIS_OK)
			die("follower", f->c->errstr);
}

static void
wait_for_entry(struct follower *f)
{
	f->waits = true;
	f->n_left = 1;
	redisAppendCommand(f->c, "XREAD BLOCK 0 STREAMS fmd:log %s", last_entry);
	flush_all(f);
}

static void
ask_for_line(struct follower *f, unsigned block)
{
	char key[BLOB_KEY_BYTES];

	blob_key(key, BLOB_ROW, f->leaf);
	f->waits = false;
	f->n_left = 4;
	redisAppendCommand(f->c, "MULTI");
	redisAppendCommand(f->c, "HMGET fmd:meta term epoch");
	redisAppendCommand(f->c, "GETRANGE fmd:%s %u %u", key, block * BLOB_BLOCK_LIDS,
	    block * BLOB_BLOCK_LIDS + BLOB_BLOCK_LIDS - 1);
	redisAppendCommand(f->c, "EXEC");
	flush_all(f);
}

static void
ask_for_all(struct follower *f)
{
	char key[BLOB_KEY_BYTES];

	f->waits = false;
	f->n_left = BLOCKS + 4;
	redisAppendCommand(f->c, "MULTI");
	redisAppendCommand(f->c, "HMGET fmd:meta term epoch");
	blob_key(key, BLOB_ROW, f->leaf);
	redisAppendCommand(f->c, "GET fmd:%s", key);
	for (unsigned b = 0; b < BLOCKS; b++) {
		blob_key(key, BLOB_PORT, b);
		redisAppendCommand(f->c, "GET fmd:%s", key);
	}
	redisAppendCommand(f->c, "EXEC");
	flush_all(f);
}

/* A server takes so many connections at once; who is refused comes again. */
static redisContext *
connect_to(const char *socket)
{
	redisContext *c = redisConnectUnix(socket);

	while (c != NULL && c->err != 0 && errno == EAGAIN) {
		redisFree(c);
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		c = redisConnectUnix(socket);
	}
	if (c == NULL || c->err != 0)
		die(socket, c != NULL ? c->errstr : "out of memory");
	return c;
}

static void
open_followers(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct epoll_event e = { .events = EPOLLIN, .data.u32 = i };

		follower[i] =
		    (struct follower){ .c = connect_to(last_socket), .leaf = i % PATCHES };
		epoll_ctl(poller, EPOLL_CTL_ADD, follower[i].c->fd, &e);
	}
}

static void
close_followers(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		redisFree(follower[i].c);
}

static void
look_at_last(const redisReply *reply)
{
	if (reply->type == REDIS_REPLY_ERROR)
		die("follower", reply->str);
	if (reply->type != REDIS_REPLY_ARRAY || reply->elements < 2 ||
	    strtoull(reply->element[0]->element[1]->str, NULL, 10) != now_at.epoch)
		die("follower", "an answer of another epoch");
}

/* True: it has all that it asked for. */
static bool
read_answers(struct follower *f)
{
	void *reply = NULL;

	if (redisBufferRead(f->c) != REDIS_OK)
		die("follower", f->c->errstr);
	while (
	    f->n_left > 0 && redisGetReplyFromReader(f->c, &reply) == REDIS_OK && reply != NULL) {
		if (--f->n_left == 0 && !f->waits)
			look_at_last(reply);
		freeReplyObject(reply);
	}
	return f->n_left == 0;
}

/* Until each has its answer; when is told by at_ms[]. */
static void
await(unsigned n, unsigned block, double start, double *out)
{
	struct epoll_event e[256];

	for (unsigned n_done = 0; n_done < n;) {
		int n_ready = epoll_wait(poller, e, 256, 30000);

		if (n_ready <= 0)
			die("followers", "nothing for 30 s");
		for (int i = 0; i < n_ready; i++) {
			struct follower *f = &follower[e[i].data.u32];

			if (!read_answers(f))
				continue;
			if (f->waits)
				ask_for_line(f, block);
			else
				out[n_done++] = now_ms() - start;
		}
	}
}

/* ------------------------------------------------------------------ figures */

static int
by_time(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
print_times(const char *what, double *ms, size_t n)
{
	qsort(ms, n, sizeof(*ms), by_time);
	printf("%-44s p50 %7.1f ms  p99 %7.1f ms  last %7.1f ms\n", what, ms[n / 2],
	    ms[n - 1 - n / 100], ms[n - 1]);
	fflush(stdout);
}

/* The epoch that the last of the chain has. */
static uint64_t
epoch_there(redisContext *c)
{
	redisReply *r = redisCommand(c, "HGET fmd:meta epoch");
	uint64_t epoch =
	    r != NULL && r->type == REDIS_REPLY_STRING ? strtoull(r->str, NULL, 10) : 0;

	freeReplyObject(r);
	return epoch;
}

/* From the last entry of the log on: "$" at a replica that waits may be too late. */
static void
find_last_entry(redisContext *c)
{
	redisReply *r = redisCommand(c, "XREVRANGE fmd:log + - COUNT 1");

	if (r == NULL || r->elements != 1)
		die("log", "is empty");
	snprintf(last_entry, sizeof(last_entry), "%s", r->element[0]->element[0]->str);
	freeReplyObject(r);
}

static void
load(redisContext *watch)
{
	double start = now_ms();

	tell_all();
	printf("57 MB told to the first                      %7.1f ms\n", now_ms() - start);
	while (epoch_there(watch) != now_at.epoch)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	printf("57 MB at the last                            %7.1f ms\n", now_ms() - start);
}

static void
run_cold(unsigned n)
{
	double start = now_ms();
	char what[64];

	open_followers(n);
	for (unsigned i = 0; i < n; i++)
		ask_for_all(&follower[i]);
	await(n, 0, start, at_ms);
	snprintf(what, sizeof(what), "%u followers fetch 0.76 MB each at once", n);
	print_times(what, at_ms, n);
	close_followers(n);
}

static void
run_events(redisContext *watch, unsigned n)
{
	double last[EVENTS];
	char what[64];

	open_followers(n);
	for (unsigned k = 0; k < EVENTS; k++) {
		double start;

		find_last_entry(watch);
		for (unsigned i = 0; i < n; i++)
			wait_for_entry(&follower[i]);
		nanosleep(&(struct timespec){ .tv_nsec = 200000000 }, NULL); /* all of them wait */
		start = now_ms();
		tell_patches(k);
		await(n, k, start, at_ms + (size_t)k * n);
		last[k] = at_ms[(size_t)k * n + n - 1];
	}
	snprintf(what, sizeof(what), "40 patches to %u followers, each", n);
	print_times(what, at_ms, (size_t)n * EVENTS);
	snprintf(what, sizeof(what), "40 patches to the last of %u, 20 times", n);
	print_times(what, last, EVENTS);
	close_followers(n);
}

int
main(int argc, char **argv)
{
	struct rlimit files = { 8192, 8192 };
	struct place_at at = { 0 };
	redisContext *watch;
	struct fm_error err;

	if (argc != 3) {
		fputs("usage: dist_chain SM_SOCKET LAST_SOCKET\n", stderr);
		return 2;
	}
	setrlimit(RLIMIT_NOFILE, &files);
	last_socket = argv[2];
	poller = epoll_create1(0);
	watch = connect_to(last_socket);
	at.where = argv[1];
	must(place_redis.open(&at, &place, &err), &err);
	load(watch);
	run_cold(1000);
	run_events(watch, 100);
	run_events(watch, 1000);
	run_events(watch, 4000);
	place_redis.close(place);
	redisFree(watch);
	return 0;
}
