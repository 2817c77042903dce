/* SPDX-License-Identifier: BSD-2-Clause */
/* core/dist/addresses.c - O(lines log lines) for a file that has changed, else a stat(). */
#include "core/dist/addresses.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/text/number.h"
#include "core/text/readfile.h"
#include "lib/log.h"

void
addresses_fini(struct addresses *a)
{
	fm_vec_fini(&a->item);
	memset(a, 0, sizeof(*a));
}

void
addresses_host_name(const uint8_t desc[64], char *name)
{
	size_t n = 0;

	while (n < BLOB_MOST_NAME && desc[n] > ' ' && desc[n] < 0x7f) {
		name[n] = (char)desc[n];
		n++;
	}
	name[n] = '\0';
}

static int
bad(const struct addresses *a, unsigned line, const char *word, const char *what)
{
	if (!a->quiet)
		log_warn(
		    "dist", "%s:%u: \"%s\" %s; the line is left out", a->path, line, word, what);
	return -1;
}

static bool
parse_ip(const char *text, uint8_t ip[16])
{
	static const uint8_t v4[12] = { [10] = 0xff, [11] = 0xff };

	memcpy(ip, v4, sizeof(v4));
	return inet_pton(AF_INET, text, ip + 12) == 1 || inet_pton(AF_INET6, text, ip) == 1;
}

/* A GID is of an IPv6 address's form; its last half is the port's GUID. */
static bool
parse_owner(const char *text, struct address *at)
{
	uint8_t gid[16];

	if (strchr(text, ':') != NULL) {
		if (inet_pton(AF_INET6, text, gid) != 1)
			return false;
		for (int i = 8; i < 16; i++)
			at->guid = at->guid << 8 | gid[i];
		return at->guid != 0;
	}
	if (strncmp(text, "0x", 2) == 0)
		return number_parse(text, &at->guid) && at->guid != 0;
	if (strlen(text) > BLOB_MOST_NAME)
		return false;
	snprintf(at->name, sizeof(at->name), "%s", text);
	return true;
}

static int
parse_line(const struct addresses *a, unsigned line, char *text, struct address *at)
{
	char *save = NULL, *ip = strtok_r(text, " \t", &save),
	     *owner = strtok_r(NULL, " \t", &save);

	*at = (struct address){ .line = line };
	if (ip == NULL || !parse_ip(ip, at->ip))
		return bad(a, line, ip != NULL ? ip : "", "is no IPv4 or IPv6 address");
	if (owner == NULL)
		return bad(a, line, ip,
		    "has no owner: expected the name of a host, a port GUID (0x...) or a GID "
		    "behind it");
	if (!parse_owner(owner, at))
		return bad(a, line, owner, "is no name of a host, no port GUID (0x...) and no GID");
	if (strtok_r(NULL, " \t", &save) != NULL)
		return bad(a, line, owner, "has something behind it: expected one owner a line");
	return 0;
}

static int
by_ip(const void *x, const void *y)
{
	const struct address *a = x, *b = y;
	int d = memcmp(a->ip, b->ip, sizeof(a->ip));

	return d != 0 ? d : (a->line > b->line) - (a->line < b->line);
}

static void
drop_doubles(struct addresses *a)
{
	size_t kept = 0;

	if (a->item.n > 0) /* else there is no array */
		qsort(a->item.item, a->item.n, sizeof(a->item.item[0]), by_ip);
	for (size_t i = 0; i < a->item.n; i++) {
		const struct address *at = &a->item.item[i], *last;
		char text[INET6_ADDRSTRLEN];

		last = kept > 0 ? &a->item.item[kept - 1] : NULL;
		if (last != NULL && memcmp(last->ip, at->ip, sizeof(at->ip)) == 0) {
			inet_ntop(AF_INET6, at->ip, text, sizeof(text));
			bad(a, at->line, text, "has an owner in a line before");
			continue;
		}
		a->item.item[kept++] = *at;
	}
	a->item.n = kept;
}

static void
parse(struct addresses *a, const char *bytes, size_t n, struct fm_arena *mem)
{
	struct conf_lines lines;
	struct address at;
	char *line;

	a->item.n = 0;
	conf_lines_init(&lines, bytes, n);
	while ((line = conf_lines_next(&lines, mem)) != NULL) {
		if (parse_line(a, lines.line, line, &at) != 0)
			continue;
		if (a->item.n == BLOB_MOST_ADDRS || !fm_vec_push(&a->item, at)) {
			log_warn("dist", "%s:%u: this line and those behind it are left out: %s",
			    a->path, lines.line,
			    a->item.n == BLOB_MOST_ADDRS ? "there are more than hosts take"
							 : "out of memory");
			break;
		}
	}
	drop_doubles(a);
}

void
addresses_read(struct addresses *a, const char *path, bool *changed)
{
	struct fm_error err = { 0 };
	struct fm_arena mem;
	struct stat st = { 0 };
	const char *bytes;
	int64_t mtime_ns;
	size_t n;

	a->path = path;
	*changed = false;
	mtime_ns = stat(path, &st) == 0
	    ? st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec
	    : -1;
	if (mtime_ns == a->mtime_ns && (uint64_t)st.st_size == a->size)
		return;
	a->mtime_ns = mtime_ns;
	a->size = (uint64_t)st.st_size;
	fm_arena_init(&mem, SIZE_MAX);
	if (conf_read_file(path, &mem, &bytes, &n, &err) == 0) {
		parse(a, bytes, n, &mem);
		*changed = true;
	} else if (!a->quiet) {
		log_warn("dist", "%s; the addresses stay as they were", err.msg);
	}
	fm_arena_fini(&mem);
}
