/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as what a client writes to the control socket: it is answered by
 * one line of JSON that says ok or has a sentence, or it is hung up on when it
 * said nothing whole.
 */
#include "config.h"

#include <event2/event.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/ctl/ctl.h"
#include "tests/fuzz/fuzz.h"

#define REPLY_BYTES 65536
#define ROUNDS 64 /* of the loop: accept, read, answer, drain, drop */

static char path[64];

static int
echo(void *arg, const json_t *args, json_t **result, struct fm_error *err)
{
	if (json_object_get(args, "fail") != NULL)
		return fm_fail(err, FM_E_SYSTEM, "as asked for");
	*result = json_deep_copy(args);
	return 0;
}

static const struct ctl_command commands[] = { { "echo", "say it again", echo, NULL }, { 0 } };

static void
clean_up(void)
{
	unlink(path);
}

static struct event_base *
server(void)
{
	static struct event_base *base;
	struct ctl_server *s;
	struct fm_error err;

	if (base != NULL)
		return base;
	snprintf(path, sizeof(path), "/tmp/fmd-fuzz-ctl-%ld", (long)getpid());
	base = event_base_new();
	must(base != NULL && ctl_open(base, path, commands, NULL, &s, &err) == 0);
	atexit(clean_up);
	return base;
}

static int
dial(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	memcpy(to.sun_path, path, strlen(path) + 1);
	must(fd >= 0 && connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0);
	return fd;
}

/* What came back, when the server is done with us. */
static size_t
listen_to(struct event_base *base, int fd, char *reply)
{
	size_t n = 0;

	for (int i = 0; i < ROUNDS; i++) {
		ssize_t got;

		event_base_loop(base, EVLOOP_NONBLOCK);
		got = recv(fd, reply + n, REPLY_BYTES - n, 0);
		if (got > 0)
			n += (size_t)got;
	}
	return n;
}

static void
judge(const char *reply, size_t n)
{
	json_error_t where;
	json_t *r = json_loadb(reply, n, 0, &where), *ok = json_object_get(r, "ok");

	must(n > 0 && reply[n - 1] == '\n' && json_is_boolean(ok));
	must(json_is_true(ok) || json_string_length(json_object_get(r, "error")) > 0);
	json_decref(r);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char reply[REPLY_BYTES];
	struct event_base *base = server();
	size_t said = size < REPLY_BYTES / 4 ? size : REPLY_BYTES / 4, n;
	int fd = dial();

	fuzz_be_quiet();
	must(send(fd, data, said, MSG_NOSIGNAL) == (ssize_t)said);
	shutdown(fd, SHUT_WR);
	n = listen_to(base, fd, reply);
	if (n > 0)
		judge(reply, n);
	else
		must(said == 0 || memchr(data, '\n', said) == NULL);
	close(fd);
	event_base_loop(base, EVLOOP_NONBLOCK);
	return 0;
}
