/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/text/relay.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/text/number.h"
#include "lib/log.h"

static int
no_name(const char *text, struct fm_error *err)
{
	return fm_fail(err, FM_E_CONFIG, "\"%.100s\": expected unix:PATH or HOST:PORT", text);
}

int
relay_name_parse(const char *text, struct relay_name *n, struct fm_error *err)
{
	const char *colon = strrchr(text, ':'), *host = text;
	uint64_t port;
	size_t len;

	*n = (struct relay_name){ 0 };
	if (strncmp(text, "unix:", 5) == 0) {
		n->path = text + 5;
		return n->path[0] != '\0' ? 0 : no_name(text, err);
	}
	if (colon == NULL || !number_parse(colon + 1, &port) || port < 1 || port > 65535)
		return no_name(text, err);
	len = (size_t)(colon - host);
	if (len > 2 && host[0] == '[' && host[len - 1] == ']') {
		host++;
		len -= 2;
	}
	if (len == 0 || len >= sizeof(n->host))
		return no_name(text, err);
	memcpy(n->host, host, len);
	n->host[len] = '\0';
	n->port = (int)port;
	return 0;
}

bool
relay_leaves_the_host(const struct relay_name *n)
{
	struct in6_addr six;
	uint8_t four[4];

	if (n->path != NULL || strcmp(n->host, "localhost") == 0)
		return false;
	if (inet_pton(AF_INET, n->host, four) == 1)
		return four[0] != 127;
	return inet_pton(AF_INET6, n->host, &six) != 1 || !IN6_IS_ADDR_LOOPBACK(&six);
}

int
relay_name_take(const char *text, bool insecure, struct relay_name *n, struct fm_error *err)
{
	int rc = relay_name_parse(text, n, err);

	if (rc == 0 && relay_leaves_the_host(n) && !insecure)
		rc = fm_fail(err, FM_E_CONFIG,
		    "%.100s is plain text that anybody on the way can change: use an end of "
		    "stunnel on this host, or write --insecure",
		    text);
	return rc;
}

/* 1: the line has none; FM_E_CONFIG: it is not of this form. */
static int
take_line(
    const char *path, unsigned number, char *line, struct relay_login *l, struct fm_error *err)
{
	char *space;

	line[strcspn(line, "\r\n")] = '\0';
	if (line[0] == '\0' || line[0] == '#')
		return 1;
	space = strchr(line, ' ');
	if (space == NULL || space == line || space[1] == '\0' || strchr(space + 1, ' ') != NULL ||
	    (size_t)(space - line) >= sizeof(l->user) || strlen(space + 1) >= sizeof(l->password))
		return fm_fail(err, FM_E_CONFIG, "%s:%u: expected \"USER PASSWORD\"", path, number);
	*space = '\0';
	memcpy(l->user, line, strlen(line) + 1);
	memcpy(l->password, space + 1, strlen(space + 1) + 1);
	return 0;
}

/* It is read at every attempt to connect: once an hour is often enough. */
static void
warn_if_open(const char *path, int fd)
{
	static struct fm_log_bucket bucket = { .burst = 1, .every_ms = 3600000 };
	struct stat st;

	if (fstat(fd, &st) == 0 && (st.st_mode & S_IROTH) != 0)
		fm_log_rl(&bucket, FM_LOG_WARN, "conf",
		    "%s: everybody may read the password in it (mode 0%03o): chmod 640 it", path,
		    (unsigned)st.st_mode & 0777);
}

int
relay_login_read(const char *path, struct relay_login *l, struct fm_error *err)
{
	FILE *in = fopen(path, "re");
	char line[1024];
	int rc = 1;

	*l = (struct relay_login){ 0 };
	if (in == NULL)
		return fm_fail(err, FM_E_CONFIG, "cannot read %s: %s", path, strerror(errno));
	warn_if_open(path, fileno(in));
	for (unsigned n = 1; rc > 0 && fgets(line, sizeof(line), in) != NULL; n++)
		rc = take_line(path, n, line, l, err);
	fclose(in);
	explicit_bzero(line, sizeof(line));
	return rc <= 0
	    ? rc
	    : fm_fail(err, FM_E_CONFIG, "%s has no line: expected \"USER PASSWORD\"", path);
}
