/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connecting to fmsim: shared by libfmsim-umad.so and `fmsim --tell`, so it
 * needs nothing of the core but the words of errors.
 */
#include "lab/fmsim/umad_client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

const char *
fmsim_default_path(void)
{
	static char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	const char *given = getenv("FMSIM_SOCKET"), *tmp = getenv("TMPDIR");

	if (given != NULL && given[0] != '\0')
		return given;
	snprintf(path, sizeof(path), "%s/fmsim-%u.sock",
	    tmp != NULL && tmp[0] != '\0' ? tmp : "/tmp", (unsigned)getuid());
	return path;
}

int
fmsim_write(int fd, const void *bytes, size_t n)
{
	const char *at = bytes;

	while (n > 0) {
		ssize_t k = send(fd, at, n, MSG_NOSIGNAL);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return k < 0 && errno != EPIPE ? -errno : -ENODEV;
		at += k;
		n -= (size_t)k;
	}
	return 0;
}

int
fmsim_write_frame(int fd, const struct fmsim_frame *f, const void *bytes)
{
	struct iovec part[2] = { { (void *)(uintptr_t)f, sizeof(*f) },
		{ (void *)(uintptr_t)bytes, f->length } };
	struct msghdr m = { .msg_iov = part, .msg_iovlen = 2 };
	ssize_t k;
	size_t n;
	int rc = 0;

	do
		k = sendmsg(fd, &m, MSG_NOSIGNAL);
	while (k < 0 && errno == EINTR);
	if (k <= 0)
		return k < 0 && errno != EPIPE ? -errno : -ENODEV;
	n = (size_t)k;
	if (n < sizeof(*f))
		rc = fmsim_write(fd, (const char *)f + n, sizeof(*f) - n);
	n = n < sizeof(*f) ? 0 : n - sizeof(*f);
	return rc != 0 ? rc : fmsim_write(fd, (const char *)bytes + n, f->length - n);
}

int
fmsim_read(int fd, void *bytes, size_t n)
{
	char *at = bytes;

	while (n > 0) {
		ssize_t k = recv(fd, at, n, MSG_WAITALL);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return k < 0 && errno != ECONNRESET ? -errno : -ENODEV;
		at += k;
		n -= (size_t)k;
	}
	return 0;
}

static int
say_hello(int fd, const struct fmsim_hello *hello, struct fmsim_welcome *welcome)
{
	int rc = fmsim_write(fd, hello, sizeof(*hello));

	if (rc == 0)
		rc = fmsim_read(fd, welcome, sizeof(*welcome));
	return rc == 0 ? -welcome->error : rc;
}

int
fmsim_connect(const char *path, struct fmsim_hello *hello, struct fmsim_welcome *welcome)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd, rc;

	if (strlen(path) >= sizeof(name.sun_path))
		return -ENAMETOOLONG;
	memcpy(name.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	hello->magic = FMSIM_MAGIC;
	rc = connect(fd, (struct sockaddr *)&name, sizeof(name)) == 0 ? 0 : -errno;
	if (rc == 0)
		rc = say_hello(fd, hello, welcome);
	if (rc != 0)
		close(fd);
	return rc != 0 ? rc : fd;
}

int
fmsim_tell(const char *path, const char *command, struct fm_error *err)
{
	struct fmsim_hello hello = { .kind = FMSIM_CONSOLE };
	struct fmsim_welcome welcome;
	int fd = fmsim_connect(path, &hello, &welcome), rc;
	char text[4096];
	bool failed = false, first = true;
	ssize_t n = 0;

	if (fd < 0)
		return fm_fail(err, FM_E_SYSTEM, "no fmsim answers at %s: %s", path, strerror(-fd));
	rc = fmsim_write(fd, command, strlen(command));
	if (rc == 0)
		rc = fmsim_write(fd, "\n", 1);
	shutdown(fd, SHUT_WR);
	while (rc == 0 && (n = recv(fd, text, sizeof(text), 0)) > 0) {
		failed |= first && n >= 6 && memcmp(text, "error:", 6) == 0;
		first = false;
		fwrite(text, 1, (size_t)n, stdout);
	}
	if (rc == 0 && n < 0)
		rc = -errno;
	close(fd);
	if (rc != 0)
		return fm_fail(err, FM_E_SYSTEM, "%s: %s", path, strerror(-rc));
	return failed ? fm_fail(err, FM_E_CONFIG, "the command was not done") : 0;
}
