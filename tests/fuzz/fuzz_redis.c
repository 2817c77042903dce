/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as what a Redis sends: fmd-agent, who publishes, and fmctl dist peers each come to an
 * end with it, with a sentence where it was none.
 *
 * The first byte says who asks.  A connection reads up to the next bytes ff fe, then its end; there
 * are no more connections than such parts.
 */
#include <hiredis/hiredis.h>
#include <jansson.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/dist/published.h"
#include "host/agent/source.h"
#include "tests/fuzz/fuzz.h"
#include "tools/fmctl.h"

#define OWN_GUID UINT64_C(0x11)
#define CONNECTIONS 16

static struct {
	const uint8_t *data;
	size_t n;
	int fd[CONNECTIONS];
	unsigned n_fds;
} input;

/* In the place of hiredis's: the next part of the input is at the other end. */
static redisContext *
connect_to_input(void)
{
	const uint8_t *end = memmem(input.data, input.n, "\xff\xfe", 2);
	size_t n = end != NULL ? (size_t)(end - input.data) : input.n;
	redisContext *c;
	int fd[2];

	if (input.n == 0 || input.n_fds == CONNECTIONS)
		return NULL;
	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) == 0);
	must(send(fd[1], input.data, n, MSG_DONTWAIT) == (ssize_t)n);
	must(shutdown(fd[1], SHUT_WR) == 0);
	input.data += end != NULL ? n + 2 : n;
	input.n -= end != NULL ? n + 2 : n;
	input.fd[input.n_fds++] = fd[1];
	c = redisConnectFd(fd[0]);
	must(c != NULL);
	c->flags |= REDIS_BLOCK;
	return c;
}

redisContext *
redisConnectUnixWithTimeout(const char *path, const struct timeval time)
{
	(void)path;
	(void)time;
	return connect_to_input();
}

redisContext *
redisConnectWithTimeout(const char *host, int port, const struct timeval time)
{
	(void)host;
	(void)port;
	(void)time;
	return connect_to_input();
}

static int
sees_nothing(void *arg, struct fm_error *err)
{
	(void)arg;
	(void)err;
	return 0;
}

static void
ask_as_agent(void)
{
	static const struct source_watch watch = { .every_ms = 1, .look = sees_nothing };
	struct replica r = { .own = { OWN_GUID }, .n_own = 1 };
	struct fm_error err = { 0 };
	bool whole;
	int rc = 0;

	while (rc == 0) {
		void *source = NULL;

		if (source_redis.open("unix:x", NULL, &source, &err) != 0)
			break;
		for (unsigned i = 0; rc == 0 && i < 4; i++) {
			rc = source_redis.fetch(source, &r, &whole, &err);
			if (rc == 0)
				rc = source_redis.show(source, OWN_GUID, r.at, &err);
			if (rc == 0)
				rc = source_redis.wait(source, &r, 1, &watch, &err);
		}
		source_redis.close(source);
		must(rc == 0 || err.msg[0] != '\0');
		rc = 0;
	}
	must(replica_n_blocks(&r) <= REPLICA_BLOCKS && r.row.n <= REPLICA_MOST_ROWS);
	replica_fini(&r);
}

static int
publish(struct published *told, struct fm_error *err)
{
	static const uint8_t row[200] = { 1 };
	bool done;
	int rc;

	pub_start(told, told->at.term + 1);
	rc = pub_put(told, BLOB_CLASS, 0, row, 64, err);
	if (rc == 0 && pub_leaf(told, OWN_GUID) != UINT32_MAX)
		rc = pub_put(told, BLOB_ROW, OWN_GUID, row, sizeof(row), err);
	return rc == 0 ? pub_commit(told, &done, err) : rc;
}

static void
ask_as_publisher(void)
{
	static struct published told;
	const struct place_at at = { .where = "x" };
	struct fm_error err = { 0 };
	void *place;

	pub_init(&told, &place_redis);
	while (place = NULL, place_redis.open(&at, &place, &err) == 0) {
		if (pub_load(&told, place, &err) == 0 && publish(&told, &err) == 0)
			place_redis.check(place, told.at, &err);
		place_redis.close(place);
	}
	must(err.msg[0] != '\0');
	pub_fini(&told);
}

/* fmd, of which fmctl asks where it publishes. */
int
fmctl_ask(
    const struct ask *a, const char *command, json_t *args, json_t **result, struct fm_error *err)
{
	(void)a;
	(void)command;
	(void)args;
	*result = json_pack("{s:[{s:s, s:s}]}", "places", "kind", "redis", "place", "/x");
	return *result != NULL ? 0 : fm_fail(err, FM_E_RESOURCE, "out of memory");
}

static void
ask_as_fmctl(void)
{
	struct ask a = { .args = json_pack("{s:b, s:s}", "insecure", 1, "relays", "host:1") };
	struct fm_error err = { 0 };
	json_t *result = NULL;
	char *text;

	must(fmctl_dist_peers(&a, &result, &err) == 0 && result != NULL);
	text = json_dumps(result, JSON_COMPACT);
	must(text != NULL && json_array_size(json_object_get(result, "peers")) > 0);
	free(text);
	json_decref(result);
	json_decref(a.args);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const ask[])(void) = { ask_as_agent, ask_as_publisher, ask_as_fmctl };

	if (size == 0)
		return 0;
	fuzz_be_quiet();
	input.data = data + 1;
	input.n = size - 1;
	ask[data[0] % 3]();
	while (input.n_fds > 0)
		close(input.fd[--input.n_fds]);
	return 0;
}
