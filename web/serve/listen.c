/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "web/serve/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/listener.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/ctl/ctl.h"

#define BACKLOG 128
#define FLAGS (LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC)

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* "HOST:PORT", "[HOST]:PORT".  False: it is neither. */
static bool
split(const char *where, char host[64], in_port_t *port)
{
	const char *colon = strrchr(where, ':');
	size_t n = colon != NULL ? (size_t)(colon - where) : 0;
	char *end;
	unsigned long number = colon != NULL ? strtoul(colon + 1, &end, 10) : 0;

	if (n == 0 || n >= 64 || colon[1] < '0' || colon[1] > '9' || *end != '\0' || number < 1 ||
	    number > UINT16_MAX)
		return false;
	if (where[0] == '[' && where[n - 1] == ']')
		snprintf(host, 64, "%.*s", (int)n - 2, where + 1);
	else
		snprintf(host, 64, "%.*s", (int)n, where);
	*port = htons((in_port_t)number);
	return true;
}

static socklen_t
read_address(const char *host, in_port_t port, union address *a)
{
	*a = (union address){ 0 };
	if (strcmp(host, "localhost") == 0)
		host = "127.0.0.1";
	if (inet_pton(AF_INET, host, &a->v4.sin_addr) == 1) {
		a->v4.sin_family = AF_INET;
		a->v4.sin_port = port;
		return sizeof(a->v4);
	}
	if (inet_pton(AF_INET6, host, &a->v6.sin6_addr) == 1) {
		a->v6.sin6_family = AF_INET6;
		a->v6.sin6_port = port;
		return sizeof(a->v6);
	}
	return 0;
}

static bool
is_of_this_host(const union address *a)
{
	return a->any.sa_family == AF_INET ? ntohl(a->v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET
					   : IN6_IS_ADDR_LOOPBACK(&a->v6.sin6_addr);
}

static int
listen_by_ip(
    struct event_base *base, const char *where, struct evconnlistener **out, struct fm_error *err)
{
	union address a;
	char host[64];
	in_port_t port;
	socklen_t n;

	if (!split(where, host, &port) || (n = read_address(host, port, &a)) == 0)
		return fm_fail(err, FM_E_CONFIG,
		    "--listen=%.60s: expected an address of this host and a port, as "
		    "127.0.0.1:9690, or "
		    "the path of a socket",
		    where);
	if (!is_of_this_host(&a))
		return fm_fail(err, FM_E_CONFIG,
		    "--listen=%.60s: others could reach that, and fmd-web knows neither users nor "
		    "TLS: "
		    "listen at 127.0.0.1:9690 or a socket, and put a proxy before it",
		    where);
	*out = evconnlistener_new_bind(
	    base, NULL, NULL, FLAGS | LEV_OPT_REUSEABLE, BACKLOG, &a.any, (int)n);
	return *out != NULL
	    ? 0
	    : fm_fail(err, FM_E_SYSTEM, "cannot listen at %.60s: %s", where, strerror(errno));
}

/* Who reaches its folder may ask, as who is on this host may by 127.0.0.1. */
static int
listen_by_path(
    struct event_base *base, const char *path, struct evconnlistener **out, struct fm_error *err)
{
	int fd = -1, rc = ctl_bind("--listen", path, &fd, err);

	if (rc != 0)
		return rc;
	if (chmod(path, 0666) == 0)
		*out = evconnlistener_new(base, NULL, NULL, FLAGS, BACKLOG, fd);
	if (*out != NULL)
		return 0;
	rc = fm_fail(err, FM_E_SYSTEM, "cannot listen at %.100s: %s", path, strerror(errno));
	close(fd);
	unlink(path);
	return rc;
}

#define NAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

bool
listen_are_names(const char *names)
{
	for (size_t n; (n = strspn(names, NAME_CHARS)) > 0; names += n + 1)
		if (names[n] != ',')
			return names[n] == '\0';
	return false;
}

static bool
is_address(const char *host)
{
	union address a;
	char inner[64];
	size_t n = strlen(host);

	if (host[0] != '[')
		return read_address(host, 0, &a) == sizeof(a.v4);
	snprintf(inner, sizeof(inner), "%.*s", n > 1 ? (int)n - 2 : 0, host + 1);
	return host[n - 1] == ']' && read_address(inner, 0, &a) == sizeof(a.v6);
}

/* Is it a word of names, up to a dot at its end? */
static bool
is_among(const char *host, const char *names)
{
	size_t n = strlen(host);

	n -= n > 0 && host[n - 1] == '.';
	if (n == 0)
		return false;
	for (;; names++) {
		size_t is = strcspn(names, ",");

		if (is == n && strncasecmp(names, host, n) == 0)
			return true;
		names += is;
		if (*names == '\0')
			return false;
	}
}

bool
listen_is_ours(const char *host, const char *names)
{
	char own[HOST_NAME_MAX + 1] = "";

	if (is_address(host) || is_among(host, "localhost") ||
	    (names != NULL && is_among(host, names)))
		return true;
	if (gethostname(own, sizeof(own)) != 0)
		return false;
	if (is_among(host, own))
		return true;
	own[strcspn(own, ".")] = '\0';
	return is_among(host, own);
}

int
listen_at(
    struct event_base *base, const char *where, struct evconnlistener **out, struct fm_error *err)
{
	*out = NULL;
	return strchr(where, '/') != NULL ? listen_by_path(base, where, out, err)
					  : listen_by_ip(base, where, out, err);
}
