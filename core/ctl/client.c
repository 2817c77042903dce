/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client's side of the control socket.
 */
#include "config.h"

#include "core/ctl/ctl.h"

#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/vec.h"

#define REPLY_MAX ((size_t)1 << 30) /* bytes */

static int
cannot(const char *path, const char *why, struct fm_error *err)
{
	return fm_fail(err, FM_E_SYSTEM, "no fmd answers at %s: %s", path, why);
}

/* The socket is there, and not for us. */
static int
may_not(const char *path, struct fm_error *err)
{
	const struct passwd *user = NULL;
	const struct group *group = NULL;
	struct stat st;

	if (stat(path, &st) == 0) {
		user = getpwuid(st.st_uid);
		group = (st.st_mode & S_IWGRP) != 0 ? getgrgid(st.st_gid) : NULL;
	}
	return fm_fail(err, FM_E_CONFIG, "you may not talk to fmd at %.100s: root%s%s%s%s may",
	    path, user != NULL && st.st_uid != 0 ? " and user " : "",
	    user != NULL && st.st_uid != 0 ? user->pw_name : "",
	    group != NULL ? ", and look, members of the group " : "",
	    group != NULL ? group->gr_name : "");
}

int
ctl_connect(const char *path, int flags, int *out, struct fm_error *err)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd, rc;

	if (strlen(path) >= sizeof(addr.sun_path))
		return fm_fail(err, FM_E_CONFIG, "socket %s: the path is longer than %zu bytes",
		    path, sizeof(addr.sun_path) - 1);
	memcpy(addr.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
	if (fd >= 0 && connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) == 0) {
		*out = fd;
		return 0;
	}
	rc = fd >= 0 && errno == EACCES ? may_not(path, err) : cannot(path, strerror(errno), err);
	if (fd >= 0)
		close(fd);
	return rc;
}

struct bytes {
	FM_VEC(char) v;
};

/* Everything up to the end of the connection. */
static int
receive(const char *path, int fd, int64_t until_ms, struct bytes *b, struct fm_error *err)
{
	char part[65536];

	for (;;) {
		struct pollfd p = { fd, POLLIN, 0 };
		int64_t left = until_ms - fm_clock_ms(CLOCK_MONOTONIC);
		ssize_t n;

		if (left <= 0 || poll(&p, 1, (int)left) == 0)
			return cannot(path, "it did not answer in time", err);
		n = recv(fd, part, sizeof(part), 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0 ||
		    (n < 0 && b->v.n > 0)) /* it hung up on what we said, having answered */
			return 0;
		if (n < 0)
			return cannot(path, strerror(errno), err);
		if (b->v.n + (size_t)n > REPLY_MAX || !fm_vec_append(&b->v, part, (size_t)n))
			return fm_fail(err, FM_E_RESOURCE, "the reply of fmd is too large");
	}
}

int
ctl_request(const char *command, json_t *args, char **text, size_t *n, struct fm_error *err)
{
	json_t *request = json_pack("{s:s, s:O*}", "command", command, "args", args);

	*text = request != NULL ? json_dumps(request, JSON_COMPACT) : NULL;
	json_decref(request);
	if (*text == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory");
	*n = strlen(*text) + 1;
	(*text)[*n - 1] = '\n'; /* the NUL gives way */
	return 0;
}

static int
send_request(const char *path, int fd, const char *command, json_t *args, struct fm_error *err)
{
	char *text;
	size_t n;
	int rc = ctl_request(command, args, &text, &n, err);

	if (rc != 0)
		return rc;
	if (send(fd, text, n, MSG_NOSIGNAL) != (ssize_t)n && errno != EPIPE)
		rc = cannot(path, strerror(errno), err);
	free(text);
	return rc;
}

/* The kind of a word that the server sent. */
static enum fm_error_kind
kind_of(const char *word)
{
	for (int k = FM_E_BUG; word != NULL && k < 0; k++)
		if (strcmp(fm_error_word((enum fm_error_kind)k), word) == 0)
			return (enum fm_error_kind)k;
	return FM_E_SYSTEM;
}

int
ctl_reply(const char *path, const char *text, size_t n, json_t **result, struct fm_error *err)
{
	json_t *reply = n > 0 ? json_loadb(text, n, 0, NULL) : NULL, *value;
	const char *error, *kind;
	int rc = 0;

	if (reply == NULL && n == 0)
		return cannot(path, "it hung up", err);
	if (reply == NULL)
		return cannot(path, "its reply is no JSON", err);
	value = json_object_get(reply, "result");
	error = json_string_value(json_object_get(reply, "error"));
	kind = json_string_value(json_object_get(reply, "kind"));
	if (json_is_true(json_object_get(reply, "ok")))
		*result = value != NULL ? json_incref(value) : json_null();
	else
		rc = fm_fail(err, kind_of(kind), "%s",
		    error != NULL ? error : "fmd refuses without a reason");
	json_decref(reply);
	return rc;
}

int
ctl_reply_text(const char *path, const char *text, size_t n, const char **result, size_t *n_result,
    struct fm_error *err)
{
	static const char head[] = CTL_TEXT_HEAD, tail[] = CTL_TEXT_TAIL;
	size_t n_head = sizeof(head) - 1, n_tail = sizeof(tail) - 1;
	json_t *value = NULL;
	int rc;

	if (n > n_head + n_tail && memcmp(text, head, n_head) == 0 &&
	    memcmp(text + n - n_tail, tail, n_tail) == 0) {
		*result = text + n_head;
		*n_result = n - n_head - n_tail;
		return 0;
	}
	rc = ctl_reply(path, text, n, &value, err);
	json_decref(value);
	return rc != 0 ? rc : cannot(path, "its reply is not as it writes text", err);
}

int
ctl_call(const char *path, const char *command, json_t *args, unsigned timeout_s, json_t **result,
    struct fm_error *err)
{
	int64_t until_ms = fm_clock_ms(CLOCK_MONOTONIC) + (int64_t)timeout_s * 1000;
	struct bytes b = { 0 };
	int fd = -1, rc = ctl_connect(path, 0, &fd, err);

	if (rc != 0)
		return rc;
	rc = send_request(path, fd, command, args, err);
	if (rc == 0)
		rc = receive(path, fd, until_ms, &b, err);
	if (rc == 0)
		rc = ctl_reply(path, b.v.item, b.v.n, result, err);
	fm_vec_fini(&b.v);
	close(fd);
	return rc;
}
