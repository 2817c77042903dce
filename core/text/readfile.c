/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/text/readfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* dump_lfts writes 1.6 GB for 11,664 hosts and 6.5 GB for 27,648. */
#define FILE_GIB_MAX 8

/* Editors of other systems put it before UTF-8. */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

/* Read until the end; the file may have shrunk since fstat(). */
static int
read_all(int fd, char *to, size_t room, size_t *n)
{
	ssize_t got;

	for (*n = 0; *n < room; *n += (size_t)got) {
		got = read(fd, to + *n, room - *n);
		if (got < 0 && errno == EINTR)
			got = 0;
		else if (got < 0)
			return -1;
		else if (got == 0)
			break;
	}
	to[*n] = '\0';
	return 0;
}

static int
read_open_file(int fd, const char *path, struct fm_arena *mem, const char **bytes, size_t *n,
    struct fm_error *err)
{
	struct stat st;
	char *to;

	if (fstat(fd, &st) != 0)
		return fm_fail(err, FM_E_SYSTEM, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return fm_fail(err, FM_E_CONFIG, "%s: not a regular file", path);
	if (st.st_size > (off_t)FILE_GIB_MAX << 30)
		return fm_fail(err, FM_E_CONFIG, "%s: larger than %d GiB", path, FILE_GIB_MAX);
	to = fm_arena_alloc(mem, (size_t)st.st_size + 1);
	if (to == NULL)
		return fm_fail(err, FM_E_RESOURCE, "%s: out of memory", path);
	if (read_all(fd, to, (size_t)st.st_size, n) != 0)
		return fm_fail(err, FM_E_SYSTEM, "%s: %s", path, strerror(errno));
	*bytes = to;
	return 0;
}

int
conf_read_file(
    const char *path, struct fm_arena *mem, const char **bytes, size_t *n, struct fm_error *err)
{
	/* O_NONBLOCK: a FIFO named by mistake must not hang us before fstat(). */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc;

	if (fd < 0) /* a wrong path is the administrator's */
		return fm_fail(err, FM_E_CONFIG, "%s: %s", path, strerror(errno));
	rc = read_open_file(fd, path, mem, bytes, n, err);
	close(fd);
	if (rc == 0 && *n >= 3 && memcmp(*bytes, BYTE_ORDER_MARK, 3) == 0) {
		*bytes += 3;
		*n -= 3;
	}
	return rc;
}

void
conf_lines_init(struct conf_lines *l, const char *bytes, size_t n)
{
	*l = (struct conf_lines){ .at = bytes, .left = n };
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

char *
conf_lines_next(struct conf_lines *l, struct fm_arena *mem)
{
	while (l->left > 0) {
		const char *from = l->at, *end = memchr(from, '\n', l->left), *hash;
		size_t n = end != NULL ? (size_t)(end - from) : l->left;
		char *copy;

		l->line++;
		l->at += n + (end != NULL);
		l->left -= n + (end != NULL);
		hash = memchr(from, '#', n);
		if (hash != NULL)
			n = (size_t)(hash - from);
		for (; n > 0 && is_blank(*from); n--)
			from++;
		for (; n > 0 && is_blank(from[n - 1]); n--)
			;
		if (n == 0)
			continue;
		copy = fm_arena_alloc(mem, n + 1);
		if (copy != NULL)
			memcpy(copy, from, n);
		l->out_of_memory = copy == NULL;
		return copy;
	}
	return NULL;
}

__attribute__((format(printf, 4, 0))) static int
vfail_at(struct fm_error *err, const char *path, unsigned line, const char *fmt, va_list ap)
{
	char sentence[sizeof(err->msg)];

	vsnprintf(sentence, sizeof(sentence), fmt, ap);
	return fm_fail(err, FM_E_CONFIG, "%.150s:%u: %s", path, line, sentence);
}

int
conf_fail_at(struct fm_error *err, const char *path, unsigned line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfail_at(err, path, line, fmt, ap);
	va_end(ap);
	return FM_E_CONFIG;
}

int
conf_bad(const struct conf_place *at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfail_at(at->err, at->path, at->line, fmt, ap);
	va_end(ap);
	return FM_E_CONFIG;
}

int
conf_note_bad(const struct conf_place *at)
{
	return mistakes_note(at->all, at->err);
}

int
conf_no_memory(const struct conf_place *at)
{
	return fm_fail(at->err, FM_E_RESOURCE, "%s: out of memory", at->path);
}

char *
conf_trim(char *text)
{
	size_t n;

	text += strspn(text, " \t\r");
	for (n = strlen(text); n > 0 && strchr(" \t\r", text[n - 1]) != NULL; n--)
		;
	text[n] = '\0';
	return text;
}

char *
conf_next_item(char **at)
{
	char *word = *at, *comma;

	if (word == NULL)
		return NULL;
	comma = strchr(word, ',');
	*at = comma != NULL ? comma + 1 : NULL;
	if (comma != NULL)
		*comma = '\0';
	return conf_trim(word);
}
