/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/redis/info.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What follows the key in a text of parts, "" where it is not there. */
static void
value_of(const char *text, const char *key, const char *ends, char *buf, size_t size)
{
	size_t len = strlen(key), n;

	*buf = '\0';
	for (const char *at = strstr(text, key); at != NULL; at = strstr(at + 1, key)) {
		if (at != text && strchr(ends, at[-1]) == NULL)
			continue;
		n = strcspn(at + len, ends);
		snprintf(buf, size, "%.*s", (int)(n < size ? n : size - 1), at + len);
		return;
	}
}

void
redis_info(const char *info, const char *key, char *buf, size_t size)
{
	char with_colon[64];

	snprintf(with_colon, sizeof(with_colon), "%s:", key);
	value_of(info, with_colon, "\r\n", buf, size);
}

static unsigned
seconds_of(const char *info, const char *key)
{
	char word[32];
	long s;

	redis_info(info, key, word, sizeof(word));
	s = strtol(word, NULL, 10);
	return s < 0 ? 0 : s > INT_MAX ? INT_MAX : (unsigned)s;
}

enum redis_link
redis_info_link(const char *info, unsigned *silent_s)
{
	enum redis_link link = REDIS_LINK_UP;
	char word[32];

	*silent_s = 0;
	redis_info(info, "role", word, sizeof(word));
	if (strcmp(word, "slave") != 0)
		return REDIS_FIRST;
	redis_info(info, "master_link_status", word, sizeof(word));
	if (strcmp(word, "up") == 0) {
		*silent_s = seconds_of(info, "master_last_io_seconds_ago");
	} else {
		redis_info(info, "master_sync_in_progress", word, sizeof(word));
		if (strcmp(word, "1") != 0)
			return REDIS_LINK_DOWN;
		link = REDIS_LINK_FILLING;
		*silent_s = seconds_of(info, "master_sync_last_io_seconds_ago");
	}
	return *silent_s > REDIS_SILENT_MOST_S ? REDIS_LINK_SILENT : link;
}

/* slave0:ip=127.0.0.1,port=6380,state=online,offset=10,lag=0 */
bool
redis_info_replica(const char *info, unsigned i, struct redis_replica *out)
{
	char key[32], line[512], ip[128], port[16], word[16];

	snprintf(key, sizeof(key), "slave%u", i);
	redis_info(info, key, line, sizeof(line));
	value_of(line, "ip=", ",", ip, sizeof(ip));
	value_of(line, "port=", ",", port, sizeof(port));
	snprintf(
	    out->name, sizeof(out->name), strchr(ip, ':') != NULL ? "[%s]:%s" : "%s:%s", ip, port);
	value_of(line, "state=", ",", word, sizeof(word));
	out->online = strcmp(word, "online") == 0;
	value_of(line, "lag=", ",", word, sizeof(word));
	out->lag_s = strtol(word, NULL, 10);
	return *line != '\0';
}

static bool
is_printable(const char *name)
{
	while (isgraph((unsigned char)*name))
		name++;
	return *name == '\0';
}

static void
each_name(const char *at, const char *end, void (*each)(void *arg, const char *name), void *arg)
{
	char name[REDIS_RELAY_NAME];
	size_t n;

	for (; at < end; at += n + 1) {
		n = strcspn(at, ",");
		if (n > (size_t)(end - at))
			n = (size_t)(end - at);
		if (n == 0 || n >= sizeof(name))
			continue;
		memcpy(name, at, n);
		name[n] = '\0';
		if (is_printable(name))
			each(arg, name);
	}
}

/* id=7 addr=... name=fmd-relay:a,b, age=9 idle=0 ...; Redis takes no name with a space in it. */
void
redis_info_relays(const char *clients, void (*each)(void *arg, const char *name), void *arg)
{
	static const char key[] = " name=" REDIS_RELAY_KEY;
	char idle[32];

	for (const char *line = clients; *line != '\0'; line += strcspn(line, "\n")) {
		const char *at, *end;

		line += *line == '\n';
		end = line + strcspn(line, "\r\n");
		at = memmem(line, (size_t)(end - line), key, sizeof(key) - 1);
		if (at == NULL)
			continue;
		at += sizeof(key) - 1;
		value_of(at, "idle=", " \r\n", idle, sizeof(idle));
		if (strtol(idle, NULL, 10) <= REDIS_RELAY_SILENT_S)
			each_name(at, at + strcspn(at, " \r\n"), each, arg);
	}
}
