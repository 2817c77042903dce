/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/fmctl_call.c - one command and its answer, or several calls where it takes several. */
#include "config.h"

#include "core/ctl/ctl.h"
#include "core/events/query.h"

#include <string.h>
#include <time.h>

#include "perf/book/answer.h"
#include "tools/fmctl.h"

#define ANSWER_S 30
#define COUNTED_MS 5000 /* and without the number of routes then */

static unsigned
patience_s(const struct ask *a)
{
	return a->timeout_s > 0 ? a->timeout_s : ANSWER_S;
}

int
fmctl_ask(
    const struct ask *a, const char *command, json_t *args, json_t **result, struct fm_error *err)
{
	return ctl_call(a->socket, command, args, patience_s(a), result, err);
}

static int
call_once(const struct ask *a, json_t **result, struct fm_error *err)
{
	return fmctl_ask(a, a->command, a->args, result, err);
}

/* Lists come in pages; they are handed on as one. */
static int
call_pages(const struct ask *a, const char *key, json_t **result, struct fm_error *err)
{
	json_t *all = json_array();
	json_int_t from = 0;
	int rc;

	while ((rc = call_once(a, result, err)) == 0) {
		const json_t *next = json_object_get(*result, "next");

		json_array_extend(all, json_object_get(*result, key));
		if (!json_is_integer(next))
			break;
		if (json_integer_value(next) <= from) {
			rc = fm_fail(err, FM_E_SYSTEM, "fmd tells the same page again");
			break;
		}
		from = json_integer_value(next);
		json_object_set_new(a->args, "from", json_integer(from));
		json_decref(*result);
		*result = NULL;
	}
	if (rc != 0) {
		json_decref(all);
		return rc;
	}
	json_decref(*result);
	*result = json_pack("{s:o}", key, all);
	return 0;
}

static bool
is_in_state(const json_t *result, const char *state)
{
	return strcmp(fmctl_string(result, "state"), state) == 0;
}

static bool
is_under_way(const json_t *result)
{
	return is_in_state(result, "reading") || is_in_state(result, "judging");
}

/* Asked again until it is done, or patience is over. */
static int
call_until_done(const struct ask *a, unsigned pause_ms, json_t **result, struct fm_error *err)
{
	const struct timespec pause = { .tv_nsec = (long)pause_ms * 1000000 };
	int rc = call_once(a, result, err);

	for (unsigned ms = 0; rc == 0 && is_under_way(*result) && ms < 1000 * patience_s(a);
	     ms += pause_ms) {
		nanosleep(&pause, NULL);
		json_decref(*result);
		*result = NULL;
		rc = call_once(a, result, err);
	}
	return rc;
}

static int
call_verify(const struct ask *a, json_t **result, struct fm_error *err)
{
	int rc = call_until_done(a, 200, result, err);

	if (rc == 0 && is_in_state(*result, "failed"))
		return fm_fail(err, FM_E_SYSTEM, "%s", fmctl_string(*result, "reason"));
	if (rc == 0 && is_under_way(*result))
		return fm_fail(err, FM_E_SYSTEM,
		    "not all is read after %u s; ask again, or with a longer --timeout=",
		    patience_s(a));
	return rc;
}

/* What isolating would do: also to the fullest link, for which a plan is made; who has no patience
 * is told the rest. */
static int
call_effect(const struct ask *a, json_t **result, struct fm_error *err)
{
	return call_until_done(a, 50, result, err);
}

/* A chain that is tried first is asked after by its number. */
static int
call_reload(const struct ask *a, json_t **result, struct fm_error *err)
{
	int rc = call_once(a, result, err);

	if (rc != 0 || !is_under_way(*result))
		return rc;
	json_object_set(a->args, "trial", json_object_get(*result, "trial"));
	json_decref(*result);
	*result = NULL;
	rc = call_until_done(a, 50, result, err);
	if (rc == 0 && is_under_way(*result))
		return fm_fail(err, FM_E_SYSTEM,
		    "the new chain is still being tried after %u s; fmd goes on", patience_s(a));
	return rc;
}

/* Of status one part may be asked for. */
static int
take_part(const struct ask *a, json_t **result, struct fm_error *err)
{
	json_t *part = json_incref(json_object_get(*result, a->part));
	char known[160] = "";
	const char *key;
	json_t *value;
	size_t at = 0;

	if (part != NULL) {
		json_decref(*result);
		*result = part;
		return 0;
	}
	json_object_foreach(*result, key, value) if (json_is_object(value) && at < sizeof(known))
	    at += (size_t)snprintf(known + at, sizeof(known) - at, "%s%s", at > 0 ? ", " : "", key);
	return fm_fail(err, FM_E_CONFIG, "status has no part \"%.40s\", but %s", a->part, known);
}

/* dist [status|peers|verify]: the last two are made here, of several questions. */
static int
call_dist(const struct ask *a, json_t **result, struct fm_error *err)
{
	const char *what = a->part != NULL ? a->part : "status";
	bool verifies = strcmp(what, "verify") == 0, peers = strcmp(what, "peers") == 0;

	if (!verifies && !peers && strcmp(what, "status") != 0)
		return fm_fail(
		    err, FM_E_CONFIG, "dist takes status, peers or verify, not %.40s", what);
	if (!peers && a->auth_file != NULL)
		return fm_fail(err, FM_E_CONFIG, "--auth-file= is for dist peers");
	if (!verifies && a->file != NULL)
		return fm_fail(err, FM_E_CONFIG, "--file= is for dist verify");
	if (verifies && json_object_get(a->args, "relays") != NULL)
		return fm_fail(err, FM_E_CONFIG, "relays are for dist peers");
	if (peers)
#ifdef HAVE_HIREDIS
		return fmctl_dist_peers(a, result, err);
#else
		return fm_fail(err, FM_E_CONFIG, "this fmctl was built without Redis");
#endif
	return verifies ? fmctl_dist_verify(a, result, err) : call_once(a, result, err);
}

/* The file of fmd-perf lies beside fmd's socket. */
static void
name_book(const struct ask *a, char *path, size_t size)
{
	const char *slash = strrchr(a->socket, '/');

	if (a->file != NULL)
		snprintf(path, size, "%s", a->file);
	else
		snprintf(path, size, "%.*scounters",
		    slash != NULL ? (int)(slash - a->socket + 1) : 0, a->socket);
}

/* The ports of switches among the first rows, as "crossing" wants them; *n: how many rows. */
static json_t *
name_ports(const json_t *rows, size_t *n)
{
	char text[CROSSING_PORTS * 32] = "";
	size_t at = 0;

	for (*n = 0; *n < json_array_size(rows) && *n < CROSSING_PORTS; ++*n) {
		const json_t *row = json_array_get(rows, *n);

		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%.18s:%d",
		    at > 0 ? "," : "", fmctl_string(row, "guid"), (int)fmctl_number(row, "port"));
	}
	return json_string(text);
}

/* Whose routes cross those ports, of an fmd that is there; as "crossed" of each row. */
static void
add_crossing(const struct ask *a, json_t *rows)
{
	const struct timespec pause = { .tv_nsec = 20 * 1000000 };
	json_t *answer = NULL, *ports = NULL, *args;
	struct fm_error err;
	size_t n;

	args = json_pack("{s:o}", "ports", name_ports(rows, &n));
	for (unsigned ms = 0; n > 0 && ports == NULL && ms < 1000 * patience_s(a); ms += 20) {
		if (ms > 0)
			nanosleep(&pause, NULL);
		json_decref(answer);
		answer = NULL;
		if (fmctl_ask(a, "crossing", args, &answer, &err) != 0)
			break;
		ports = json_object_get(answer, "ports");
	}
	for (size_t i = 0; i < json_array_size(rows); i++)
		json_object_set(json_array_get(rows, i), "crossed",
		    i < json_array_size(ports) ? json_array_get(ports, i) : json_null());
	json_decref(answer);
	json_decref(args);
}

static int
call_top(const struct ask *a, const char *path, json_t **result, struct fm_error *err)
{
	const json_t *by = json_object_get(a->args, "by");
	int rc = answer_top(path,
	    by == NULL		     ? "load"
		: json_is_string(by) ? json_string_value(by)
				     : "",
	    a->all, result, err);

	if (rc == 0)
		add_crossing(a, json_object_get(*result, "ports"));
	return rc;
}

static int
call_book(const struct ask *a, json_t **result, struct fm_error *err)
{
	const json_t *node = json_object_get(a->args, "node");
	char path[4096];
	int rc;

	name_book(a, path, sizeof(path));
	if (strcmp(a->command, "top") == 0)
		return call_top(a, path, result, err);
	if (!json_is_string(node))
		return fm_fail(err, FM_E_CONFIG, "counters of which node: counters NODE[:PORT]");
	rc = answer_counters(path, json_string_value(node), result, err);
	return rc == 0 && a->history ? answer_add_history(path, *result, err) : rc;
}

static int
call_path(const struct ask *a, json_t **result, struct fm_error *err)
{
	const struct timespec pause = { .tv_nsec = 20 * 1000000 };
	int rc = call_once(a, result, err);
	char path[4096];

	/* --why: routes on cables are counted beside fmd's loop */
	for (unsigned ms = 0; rc == 0 && ms < COUNTED_MS &&
	     strcmp(fmctl_string(*result, "planned"), "counting") == 0;
	     ms += 20) {
		nanosleep(&pause, NULL);
		json_decref(*result);
		*result = NULL;
		rc = call_once(a, result, err);
	}
	if (rc != 0)
		return rc;
	name_book(a, path, sizeof(path));
	answer_add_to_path(path, *result);
	return 0;
}

/* The number of the last event of a list; 0: it has none. */
static json_int_t
last_number(const json_t *events)
{
	return fmctl_number(json_array_get(events, json_array_size(events) - 1), "n");
}

/* All since a time, which may be more than an answer holds. */
static int
call_events(const struct ask *a, json_t **result, struct fm_error *err)
{
	json_t *args, *more = NULL;
	json_int_t from = 0;
	int rc;

	if (json_object_get(a->args, "since") == NULL || json_object_get(a->args, "last") != NULL ||
	    json_object_get(a->args, "max") != NULL)
		return call_once(a, result, err);
	args = json_copy(a->args);
	*result = json_array();
	json_object_set_new(args, "max", json_integer(EVENTS_MOST));
	while ((rc = fmctl_ask(a, a->command, args, &more, err)) == 0) {
		bool is_last = json_array_size(more) < EVENTS_MOST || last_number(more) <= from;

		json_array_extend(*result, more);
		from = last_number(more);
		json_object_set_new(args, "after", json_integer(from));
		json_decref(more);
		if (is_last)
			break;
	}
	json_decref(args);
	return rc;
}

int
fmctl_call(const struct ask *a, json_t **result, struct fm_error *err)
{
	int rc;

	if (strcmp(a->command, "verify") == 0)
		return call_verify(a, result, err);
	if (strcmp(a->command, "reload") == 0)
		return call_reload(a, result, err);
	if (strcmp(a->command, "isolate") == 0 || strcmp(a->command, "restore") == 0)
		return call_effect(a, result, err);
	if (strcmp(a->command, "dist") == 0)
		return call_dist(a, result, err);
	if (strcmp(a->command, "counters") == 0 || strcmp(a->command, "top") == 0)
		return call_book(a, result, err);
	if (strcmp(a->command, "path") == 0)
		return call_path(a, result, err);
	if (strcmp(a->command, "export") == 0)
		return fmctl_export(a, result, err);
	if (strcmp(a->command, "topo") == 0)
		return fmctl_topo(a, result, err);
	if (strcmp(a->command, "events") == 0)
		return call_events(a, result, err);
	if (a->verb != NULL && a->verb->pages != NULL && json_object_get(a->args, "from") == NULL)
		return call_pages(a, a->verb->pages, result, err);
	rc = call_once(a, result, err);
	return rc == 0 && a->part != NULL ? take_part(a, result, err) : rc;
}
