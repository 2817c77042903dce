/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/events/query.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/events/kinds.h"
#include "core/text/suggest.h"

#define MS 1000

void
events_say_time(int64_t ms, char text[EVENTS_TIME])
{
	time_t s = (time_t)(ms / MS);
	struct tm tm;
	size_t n;

	gmtime_r(&s, &tm);
	n = strftime(text, EVENTS_TIME, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + n, EVENTS_TIME - n, ".%03dZ", (int)(ms % MS));
}

/* What follows "2026-11-29T18:00:05": ".123" or nothing; in ms. */
static const char *
read_fraction(const char *at, int64_t *ms)
{
	int64_t unit = 100;

	*ms = 0;
	if (*at != '.' || !isdigit((unsigned char)at[1]))
		return at;
	for (at++; isdigit((unsigned char)*at); at++) {
		*ms += unit * (*at - '0');
		unit /= 10;
	}
	return at;
}

bool
events_read_time(const char *text, int64_t *ms)
{
	static const char *const forms[] = { "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S",
		"%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%d" };

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		struct tm tm = { .tm_isdst = -1 };
		const char *end = strptime(text, forms[i], &tm);
		int64_t part;
		bool utc;
		time_t s;

		if (end == NULL || (end = read_fraction(end, &part), *end != '\0' && *end != 'Z') ||
		    (*end == 'Z' && end[1] != '\0'))
			continue;
		utc = *end == 'Z';
		if (tm.tm_year < 70 || tm.tm_year > 8099)
			return false;
		s = utc ? timegm(&tm) : mktime(&tm);
		*ms = (int64_t)s * MS + part;
		return true;
	}
	return false;
}

/* "2h": in ms.  False: it is none. */
static bool
read_ago(const char *text, int64_t *ms)
{
	static const struct {
		char unit;
		int64_t s;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
	char *end;
	long n = strtol(text, &end, 10);

	if (!isdigit((unsigned char)*text) || n > 100000 || *end == '\0' || end[1] != '\0')
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (*end == units[i].unit) {
			*ms = n * units[i].s * MS;
			return true;
		}
	return false;
}

static bool
read_number(const char *text, uint64_t *n)
{
	char *end;

	*n = strtoull(text, &end, 10);
	return isdigit((unsigned char)*text) && strlen(text) < 17 && *end == '\0';
}

/* Those from number n on. */
static void
from_number(struct events_query *q, uint64_t n)
{
	q->has_after = true;
	q->after = n > 0 ? n - 1 : 0;
}

static int
read_since(const json_t *given, int64_t now_ms, struct events_query *q, struct fm_error *err)
{
	const char *text = json_string_value(given);
	uint64_t n;
	int64_t ago_ms;

	if (given == NULL)
		return 0;
	if (json_is_integer(given) && json_integer_value(given) >= 0) {
		from_number(q, (uint64_t)json_integer_value(given));
		return 0;
	}
	if (text != NULL && read_number(text, &n)) {
		from_number(q, n);
		return 0;
	}
	if (text != NULL && read_ago(text, &ago_ms)) {
		q->since_ms = now_ms - ago_ms;
		return 0;
	}
	if (text != NULL && events_read_time(text, &q->since_ms))
		return 0;
	return fm_fail(err, FM_E_CONFIG,
	    "since=%.40s is no time: write how long ago (45s, 30m, 2h, 3d), a time "
	    "(2026-11-29T18:00:00Z; without Z in the time zone of fmd), or the number of an event",
	    text != NULL ? text : "...");
}

/* The next name of a list, of *n letters; NULL behind the last. */
static const char *
next_kind(const char *list, const char *at, size_t *n)
{
	if (at != NULL && at[*n] == '\0')
		return NULL;
	at = at == NULL ? list : at + *n + 1;
	*n = strcspn(at, ",");
	return at;
}

bool
events_have_kind(const char *kinds, const char *kind)
{
	const char *at = NULL;
	size_t n = 0;

	while ((at = next_kind(kinds, at, &n)) != NULL)
		if (n == strlen(kind) && strncmp(at, kind, n) == 0)
			return true;
	return false;
}

static int
check_kinds(const char *kinds, struct fm_error *err)
{
	const char *at = NULL;
	size_t n = 0;

	while ((at = next_kind(kinds, at, &n)) != NULL) {
		char name[48];
		struct suggestion s;

		snprintf(name, sizeof(name), "%.*s", (int)n, at);
		if (event_kind_named(name) != EVENT_NONE)
			continue;
		suggest_init(&s, name);
		for (unsigned k = EVENT_NONE + 1; k < N_EVENT_KINDS; k++)
			suggest_offer(&s, event_kind_name((enum event_kind)k));
		if (suggest_best(&s) != NULL)
			return fm_fail(err, FM_E_CONFIG,
			    "there is no kind \"%s\" of events: did you mean %s?", name,
			    suggest_best(&s));
		return fm_fail(err, FM_E_CONFIG,
		    "there is no kind \"%s\" of events: man fmd-events lists them", name);
	}
	return 0;
}

/* How many, of last= or max=; 0: not given. */
static int
read_count(const json_t *args, const char *key, size_t *n, struct fm_error *err)
{
	const json_t *given = json_object_get(args, key);

	*n = (size_t)json_integer_value(given);
	if (given != NULL &&
	    (json_integer_value(given) < 1 || json_integer_value(given) > EVENTS_MOST))
		return fm_fail(
		    err, FM_E_CONFIG, "%s= is how many events, 1 to %d", key, EVENTS_MOST);
	return 0;
}

int
events_read_query(const json_t *args, int64_t now_ms, struct events_query *q, struct fm_error *err)
{
	const json_t *after = json_object_get(args, "after"), *kind = json_object_get(args, "kind");
	int rc;

	*q = (struct events_query){ .since_ms = INT64_MIN, .kinds = json_string_value(kind) };
	if ((rc = read_since(json_object_get(args, "since"), now_ms, q, err)) != 0 ||
	    (rc = read_count(args, "last", &q->last, err)) != 0 ||
	    (rc = read_count(args, "max", &q->first, err)) != 0)
		return rc;
	if (after != NULL && (!json_is_integer(after) || json_integer_value(after) < 0))
		return fm_fail(err, FM_E_CONFIG, "after= is the number of an event, 0 or more");
	if (after != NULL && (!q->has_after || (uint64_t)json_integer_value(after) > q->after)) {
		q->has_after = true;
		q->after = (uint64_t)json_integer_value(after);
	}
	if (kind != NULL && q->kinds == NULL)
		return fm_fail(err, FM_E_CONFIG, "kind= is a list of names, with commas between");
	if (q->last > 0 && q->first > 0)
		return fm_fail(err, FM_E_CONFIG,
		    "last= asks for the newest and max= for the oldest: give one of them");
	if (q->last == 0 && q->first == 0)
		q->last = EVENTS_SHOWN;
	return q->kinds != NULL ? check_kinds(q->kinds, err) : 0;
}
