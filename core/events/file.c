/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/events/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/events/query.h"
#include "core/events/tell.h"
#include "core/text/files.h"

#define READ_MOST (16 << 20)	       /* bytes of a file, from its end: it is no larger by us */
#define NUMBER_MOST (INT64_C(1) << 53) /* what a number of JSON holds anywhere */

/* ---------------------------------------------------------------- reading */

/* A file in memory. */
struct lines {
	char *bytes; /* [n] */
	size_t n;
	bool is_whole; /* from its beginning */
};

static int
fail_errno(const char *path, struct fm_error *err)
{
	return fm_fail(err, fm_file_kind(errno), "%s: %s", path, fm_file_why(errno));
}

/* The bytes of fd, or the last READ_MOST of them. */
static int
read_fd(int fd, const char *path, struct lines *out, struct fm_error *err)
{
	struct stat st;
	off_t from;
	ssize_t got;

	if (fstat(fd, &st) != 0)
		return fail_errno(path, err);
	if (!S_ISREG(st.st_mode))
		return fm_fail(err, FM_E_SYSTEM, "%s is no file", path);
	out->is_whole = st.st_size <= READ_MOST;
	from = out->is_whole ? 0 : st.st_size - READ_MOST;
	out->bytes = malloc((size_t)(st.st_size - from) + 1);
	if (out->bytes == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for %s", path);
	while (out->n < (size_t)(st.st_size - from)) {
		got = pread(fd, out->bytes + out->n, (size_t)(st.st_size - from) - out->n,
		    from + (off_t)out->n);
		if (got < 0 && errno != EINTR)
			return fail_errno(path, err);
		if (got == 0)
			break;
		out->n += got > 0 ? (size_t)got : 0;
	}
	return 0;
}

/* No bytes where there is no such file. */
static int
read_lines(const char *path, struct lines *out, struct fm_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), rc;

	*out = (struct lines){ .is_whole = true };
	if (fd < 0)
		return errno == ENOENT ? 0 : fail_errno(path, err);
	rc = read_fd(fd, path, out, err);
	close(fd);
	if (rc != 0)
		free(out->bytes);
	return rc;
}

/* Where the last `most` lines begin; *n_lines: how many those are, *line: the number of the first,
 * from 1. */
static size_t
find_last(const struct lines *l, size_t most, size_t *n_lines, size_t *line)
{
	size_t at = l->n, n = 0, before = 0;

	while (at > 0 && n < most) {
		const char *end = memrchr(l->bytes, '\n', at - 1);

		at = end != NULL ? (size_t)(end - l->bytes) + 1 : 0;
		n++;
	}
	for (size_t i = 0; i < at; i++)
		before += l->bytes[i] == '\n';
	*n_lines = n;
	*line = before + 1;
	return at;
}

/* NULL: it is an event with a number above `last`; else why it is none. */
static const char *
why_no_event(const json_t *event, uint64_t last)
{
	json_int_t n = json_integer_value(json_object_get(event, "n"));
	const json_t *time = json_object_get(event, "time"), *ends = json_object_get(event, "ends");
	const json_t *facts = json_object_get(event, "facts");
	int64_t ms;

	if (!json_is_object(event))
		return "it is no object of JSON";
	if (n < 1 || n > NUMBER_MOST)
		return "it has no number";
	if ((uint64_t)n <= last)
		return "its number is not above that before it";
	if (!json_is_string(time) || !events_read_time(json_string_value(time), &ms))
		return "it has no time";
	if (!json_is_string(json_object_get(event, "level")) ||
	    !json_is_string(json_object_get(event, "subsystem")) ||
	    !json_is_string(json_object_get(event, "kind")) ||
	    !json_is_string(json_object_get(event, "text")))
		return "it lacks its level, subsystem, kind or text";
	if ((ends != NULL && !json_is_integer(ends)) || (facts != NULL && !json_is_object(facts)))
		return "its ends are no number, or its facts no object";
	return NULL;
}

/* What is read of two files. */
struct reading {
	event_file_take take;
	void *arg;
	uint64_t last; /* number of the last event */
};

/* A line, [n]; NULL: it is an event, and was given. */
static const char *
take_line(struct reading *r, const char *line, size_t n)
{
	json_t *event = json_loadb(line, n, JSON_REJECT_DUPLICATES, NULL);
	const char *why = why_no_event(event, r->last);

	if (why != NULL) {
		json_decref(event);
		return why;
	}
	r->last = (uint64_t)json_integer_value(json_object_get(event, "n"));
	r->take(r->arg, event);
	return NULL;
}

/* How many lines of l are no events, and which is the first of them and why. */
struct bad_lines {
	size_t n, first;
	const char *why;
	size_t n_torn; /* bytes behind the last whole line */
};

static void
take_lines(struct reading *r, const struct lines *l, size_t at, size_t line, struct bad_lines *bad)
{
	for (; at < l->n; line++) {
		const char *end = memchr(l->bytes + at, '\n', l->n - at);
		size_t n = end != NULL ? (size_t)(end - l->bytes) - at : l->n - at;
		const char *why = take_line(r, l->bytes + at, n);

		if (why != NULL && end == NULL)
			bad->n_torn = n;
		else if (why != NULL && bad->n++ == 0) {
			bad->first = line;
			bad->why = why;
		}
		at += n + (end != NULL);
	}
}

static void
say_bad(const char *path, const struct lines *l, const struct bad_lines *bad)
{
	if (bad->n > 0)
		events_add(EVENT_EVENTS_DAMAGED, FM_LOG_WARN, "keep", NULL,
		    "%s: %s%zu is no event, as %s; %zu such line%s passed over", path,
		    l->is_whole ? "line " : "of its end line ", bad->first, bad->why, bad->n,
		    bad->n > 1 ? "s are" : " is");
	if (bad->n_torn > 0)
		events_add(EVENT_EVENTS_DAMAGED, FM_LOG_WARN, "keep", NULL,
		    "%s ends within a line, as after a crash: its last %zu bytes are left out",
		    path, bad->n_torn);
}

int
event_file_read(
    const char *path, size_t most, event_file_take take, void *arg, struct fm_error *err)
{
	struct reading r = { .take = take, .arg = arg };
	size_t n_new, n_old, line_new, line_old, at_new, at_old;
	struct bad_lines bad_new = { 0 }, bad_old = { 0 };
	struct lines new, old = { 0 };
	char before[PATH_MAX + 2];
	int rc = read_lines(path, &new, err);

	if (rc != 0)
		return rc;
	snprintf(before, sizeof(before), "%s.1", path);
	at_new = find_last(&new, most, &n_new, &line_new);
	if (n_new < most)
		rc = read_lines(before, &old, err);
	if (rc == 0) {
		at_old = find_last(&old, most - n_new, &n_old, &line_old);
		take_lines(&r, &old, at_old, line_old, &bad_old);
	}
	take_lines(&r, &new, at_new, line_new, &bad_new);
	if (rc == 0)
		free(old.bytes);
	free(new.bytes);
	say_bad(before, &old, &bad_old);
	say_bad(path, &new, &bad_new);
	return rc;
}

/* --------------------------------------------------------------- searching */

/* What a line tells without being read as JSON: it begins as fmd writes it. */
struct glance {
	uint64_t n;
	const char *time; /* TIME_LETTERS of them */
	bool is_wanted;	  /* of the kinds that are asked for */
};

#define TIME_LETTERS 24 /* of 2026-11-29T18:00:00.123Z */

static bool
glance_at(const char *line, size_t n, const char *kinds, struct glance *g)
{
	static const char number[] = "{\"n\":", time[] = ",\"time\":\"", kind[] = "\"kind\":\"";
	const char *at = line + sizeof(number) - 1, *end = line + n;
	char name[48];

	if (n < sizeof(number) || memcmp(line, number, sizeof(number) - 1) != 0)
		return false;
	for (g->n = 0; at < end && *at >= '0' && *at <= '9' && g->n < NUMBER_MOST; at++)
		g->n = 10 * g->n + (uint64_t)(*at - '0');
	if ((size_t)(end - at) < sizeof(time) + TIME_LETTERS ||
	    memcmp(at, time, sizeof(time) - 1) != 0)
		return false;
	g->time = at + sizeof(time) - 1;
	g->is_wanted = kinds == NULL;
	if (g->is_wanted)
		return true;
	at = memmem(g->time, (size_t)(end - g->time), kind, sizeof(kind) - 1);
	if (at == NULL)
		return false;
	at += sizeof(kind) - 1;
	for (n = 0; n < sizeof(name) - 1 && at < end && *at != '"'; n++)
		name[n] = *at++;
	name[n] = '\0';
	g->is_wanted = events_have_kind(kinds, name);
	return true;
}

/* How far back a search has come. */
struct search {
	struct event_search *s;
	char since[EVENTS_TIME]; /* as lines have it; "": any time */
	size_t n_found;
	uint64_t before; /* numbers up to this one are not asked for */
};

/* Where what is asked for begins in l, at *at.  True: nothing before that is asked for. */
static bool
go_back(struct search *f, const struct lines *l, size_t *at)
{
	const struct events_query *q = f->s->q;
	size_t begin = l->n, end;
	struct glance g;

	*at = l->n;
	while ((end = begin) > 0) {
		const char *newline = memrchr(l->bytes, '\n', end - 1);

		begin = newline != NULL ? (size_t)(newline - l->bytes) + 1 : 0;
		if (!glance_at(l->bytes + begin, end - begin, q->kinds, &g) || g.n >= f->s->below)
			continue;
		if ((q->has_after && g.n <= q->after) ||
		    strncmp(g.time, f->since, strlen(f->since)) < 0) {
			f->before = g.n;
			return true;
		}
		*at = begin;
		f->n_found += g.is_wanted;
		if (f->s->most > 0 && f->n_found == f->s->most) {
			f->before = g.n - 1;
			return true;
		}
	}
	return false;
}

/* From `at` on.  False: no more is wanted. */
static bool
give_lines(struct search *f, const struct lines *l, size_t at, uint64_t *last)
{
	bool goes_on = true;

	while (goes_on && at < l->n) {
		const char *end = memchr(l->bytes + at, '\n', l->n - at);
		size_t n = end != NULL ? (size_t)(end - l->bytes) - at : l->n - at;
		json_t *event = NULL;
		struct glance g;

		if (glance_at(l->bytes + at, n, f->s->q->kinds, &g) && g.n > *last &&
		    g.n < f->s->below) {
			if (g.is_wanted)
				event = json_loadb(l->bytes + at, n, JSON_REJECT_DUPLICATES, NULL);
			if (g.is_wanted && why_no_event(event, *last) != NULL) {
				json_decref(event);
			} else {
				*last = g.n;
				goes_on = f->s->give(f->s->arg, g.n, event);
			}
		}
		at += n + 1;
	}
	return goes_on;
}

int
event_file_find(const char *path, struct event_search *s, struct fm_error *err)
{
	struct search f = { .s = s };
	struct lines new, old = { 0 };
	char before[PATH_MAX + 2];
	size_t at_new, at_old = 0;
	uint64_t last = 0;
	int rc = read_lines(path, &new, err);

	if (rc != 0)
		return rc;
	snprintf(before, sizeof(before), "%s.1", path);
	if (s->q->since_ms > 0)
		events_say_time(s->q->since_ms, f.since);
	if (!go_back(&f, &new, &at_new) && (rc = read_lines(before, &old, err)) == 0)
		go_back(&f, &old, &at_old);
	s->before = f.before;
	if (rc == 0 && give_lines(&f, &old, at_old, &last))
		give_lines(&f, &new, at_new, &last);
	free(old.bytes);
	free(new.bytes);
	return rc;
}

/* ---------------------------------------------------------------- writing */

void
event_file_init(struct event_file *f, const char *path, uint64_t max_bytes)
{
	snprintf(f->path, sizeof(f->path), "%s", path);
	f->max_bytes = max_bytes;
	f->fd = -1;
}

void
event_file_close(struct event_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

/* Where the last whole line of a file of `size` bytes ends; -1: errno tells. */
static off_t
find_end(int fd, off_t size)
{
	char bytes[4096];
	off_t at = size;

	while (at > 0) {
		size_t n = at < (off_t)sizeof(bytes) ? (size_t)at : sizeof(bytes);
		ssize_t got = pread(fd, bytes, n, at - (off_t)n);
		const char *end;

		if (got != (ssize_t)n)
			return -1;
		end = memrchr(bytes, '\n', n);
		if (end != NULL)
			return at - (off_t)n + (end - bytes) + 1;
		at -= (off_t)n;
	}
	return 0;
}

/* 0, or -1: errno tells. */
static int
open_to_write(struct event_file *f)
{
	int fd =
	    open(f->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0640);
	struct stat st = { 0 };
	off_t end;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		/* a file that is full becomes PATH.1 as it is */
		end = (uint64_t)st.st_size > f->max_bytes ? st.st_size : find_end(fd, st.st_size);
		if (end >= 0 && (end == st.st_size || ftruncate(fd, end) == 0)) {
			f->fd = fd;
			return 0;
		}
	} else if (st.st_mode != 0) {
		errno = ENOTSUP;
	}
	close(fd);
	return -1;
}

/* It becomes PATH.1.  0, or -1: errno tells. */
static int
begin_anew(struct event_file *f)
{
	char old[PATH_MAX + 2];

	snprintf(old, sizeof(old), "%s.1", f->path);
	event_file_close(f);
	return rename(f->path, old) == 0 ? open_to_write(f) : -1;
}

/* A file of this name with room for n bytes; *bytes: how many it has.  0, or -1: errno tells. */
static int
make_room(struct event_file *f, size_t n, off_t *bytes)
{
	struct stat st;

	if (f->fd >= 0 && (fstat(f->fd, &st) != 0 || st.st_nlink == 0))
		event_file_close(f); /* somebody has removed it */
	if (f->fd < 0 && open_to_write(f) != 0)
		return -1;
	if (fstat(f->fd, &st) != 0)
		return -1;
	if (st.st_size > 0 && (uint64_t)st.st_size + n > f->max_bytes &&
	    (begin_anew(f) != 0 || fstat(f->fd, &st) != 0))
		return -1;
	*bytes = st.st_size;
	return 0;
}

int
event_file_write(struct event_file *f, const char *lines, size_t n, struct fm_error *err)
{
	off_t bytes;
	ssize_t done;
	int why;

	if (make_room(f, n, &bytes) != 0)
		return fail_errno(f->path, err);
	do
		done = write(f->fd, lines, n);
	while (done < 0 && errno == EINTR);
	if (done == (ssize_t)n)
		return 0;
	why = done < 0 ? errno : ENOSPC;
	if (done > 0 && ftruncate(f->fd, bytes) != 0)
		event_file_close(f); /* what is there of a line is cut off when it is opened */
	errno = why;
	return fail_errno(f->path, err);
}
