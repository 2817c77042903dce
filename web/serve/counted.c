/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "web/serve/counted.h"

#include <event2/event.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/number.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "perf/book/answer.h"
#include "perf/book/history.h"
#include "web/serve/query.h"
#include "web/serve/reply.h"
#include "web/text/cells.h"

#define KEEP_S 60 /* that it is looked whether sums of errors are to be kept */
#define BYTES "application/octet-stream"

enum over { NOW, HOUR, OVERS };

/* Bytes of all ports, and of what they were made. */
struct kept_cells {
	uint64_t n_files, sweep, n_hour;
	struct page *page; /* NULL: none */
};

struct counted {
	struct readings readings;
	struct hour hour;
	struct event *keep;
	struct kept_cells cells[OVERS];
	char told[256]; /* what is wrong with the file, as logged last */
};

/* ------------------------------------------------------------------------ the file */

int
counted_follow(struct counted *c, struct fm_error *err)
{
	int rc = readings_follow(&c->readings, err);

	if (rc == 0) {
		c->told[0] = '\0';
	} else if (strcmp(c->told, err->msg) != 0) {
		log_warn("web", "%s", err->msg);
		snprintf(c->told, sizeof(c->told), "%s", err->msg);
	}
	return rc;
}

static void
on_keep(evutil_socket_t fd, short what, void *arg)
{
	int64_t now = fm_clock_ms(CLOCK_MONOTONIC);
	struct counted *c = arg;
	struct fm_error err;

	if (now >= hour_due_ms(&c->hour) && counted_follow(c, &err) == 0 &&
	    !hour_keep(&c->hour, &c->readings, now))
		log_warn("web", "out of memory for the errors of the last hour");
}

const struct readings *
counted_readings(const struct counted *c)
{
	return &c->readings;
}

const struct hour *
counted_hour(const struct counted *c)
{
	return &c->hour;
}

/* ----------------------------------------------------------------------- cells */

static int
write_hour(struct counted *c, struct text *t, struct fm_error *err)
{
	uint8_t *bytes = calloc((size_t)c->readings.n_ports + 1, HISTORY_PORT_BYTES);
	char path[PATH_MAX + sizeof(HISTORY_SUFFIX)];
	int rc;

	if (bytes == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the ports");
	snprintf(path, sizeof(path), "%s" HISTORY_SUFFIX, c->readings.path);
	rc = history_hour(path, c->readings.node, c->readings.n_nodes, bytes, err);
	if (rc == 0)
		cells_write(&c->readings, &c->hour, bytes, t);
	free(bytes);
	return rc;
}

static int
make_cells(struct counted *c, enum over over, struct fm_error *err)
{
	struct kept_cells *k = &c->cells[over];
	int rc = 0;

	page_put(k->page);
	*k = (struct kept_cells){ c->readings.n_files, c->readings.head.sweep, c->hour.n, NULL };
	if (pages_alive(PAGE_CELLS) >= COUNTED_ALIVE || (k->page = page_new(PAGE_CELLS)) == NULL)
		return fm_fail(err, FM_E_RESOURCE, "too many read such bytes now: try again");
	if (over == HOUR)
		rc = write_hour(c, &k->page->text, err);
	else
		cells_write(&c->readings, &c->hour, NULL, &k->page->text);
	if (rc == 0 && k->page->text.is_lost)
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory for the ports");
	if (rc != 0) {
		page_put(k->page);
		k->page = NULL;
	}
	return rc;
}

static int
find_cells(struct counted *c, enum over over, struct fm_error *err)
{
	const struct kept_cells *k = &c->cells[over];

	return k->page != NULL && k->n_files == c->readings.n_files &&
		k->sweep == c->readings.head.sweep && k->n_hour == c->hour.n
	    ? 0
	    : make_cells(c, over, err);
}

static int
read_over(const json_t *args, enum over *over, struct fm_error *err)
{
	const char *word = json_string_value(json_object_get(args, "over"));

	*over = word != NULL && strcmp(word, "hour") == 0 ? HOUR : NOW;
	if (query_check(args, "over", err) != 0)
		return (int)err->kind;
	return word == NULL || *over == HOUR || strcmp(word, "now") == 0
	    ? 0
	    : fm_fail(err, FM_E_CONFIG, "over= is now or hour");
}

/* What is wrong with the file is no mistake of who asks. */
static void
reply_wrong(struct evhttp_request *req, const struct fm_error *err)
{
	reply_error(req, err->kind == FM_E_CONFIG ? 0 : HTTP_SERVUNAVAIL, err);
}

void
counted_cells(struct counted *c, struct evhttp_request *req, const json_t *args)
{
	struct fm_error err;
	enum over over;

	if (read_over(args, &over, &err) != 0 || counted_follow(c, &err) != 0 ||
	    find_cells(c, over, &err) != 0)
		reply_wrong(req, &err);
	else
		reply_kept(req, BYTES, c->cells[over].page);
}

/* --------------------------------------------------------------------- history */

static json_t *
known_json(double value)
{
	return value < 0 ? json_null() : json_real(value);
}

static json_t *
points_json(const struct history_point *points, uint32_t n)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(list,
		    json_pack("[I, o, o]", (json_int_t)points[i].ended_ms,
			known_json(points[i].load), known_json(points[i].wait)));
	return json_pack("{s:o}", "readings", list);
}

/* The one node of a name; NULL: there is none, or several are called so. */
static const struct book_node *
find_node(const struct readings *r, const char *name, uint32_t *n)
{
	const struct book_node *found = NULL;

	*n = 0;
	for (uint32_t i = 0; i < r->n_nodes; i++)
		if (answer_is_called(name, &r->node[i])) {
			found = &r->node[i];
			++*n;
		}
	return *n == 1 ? found : NULL;
}

/* Of "NODE:PORT". */
static int
read_history(const struct readings *r, const char *what, json_t **result, struct fm_error *err)
{
	struct history_point points[HISTORY_SLOTS];
	char name[BOOK_NAME_BYTES + 1], path[PATH_MAX + sizeof(HISTORY_SUFFIX)];
	const char *colon = what != NULL ? strrchr(what, ':') : NULL;
	const struct book_node *node;
	uint64_t port;
	uint32_t n = 0;

	if (colon == NULL || strpbrk(what, ANSWER_PATTERN) != NULL ||
	    (size_t)(colon - what) >= sizeof(name) || !number_parse(colon + 1, &port))
		return fm_fail(err, FM_E_CONFIG, "port= is one port, NODE:PORT");
	snprintf(name, sizeof(name), "%.*s", (int)(colon - what), what);
	node = find_node(r, name, &n);
	if (n > 1)
		return fm_fail(
		    err, FM_E_CONFIG, "%" PRIu32 " nodes are called %.64s: say the GUID", n, name);
	if (node == NULL || port < 1 || port > node->n_ports)
		return fm_fail(err, FM_E_CONFIG, "there is no port %.80s in %.100s", what, r->path);
	snprintf(path, sizeof(path), "%s" HISTORY_SUFFIX, r->path);
	if (history_read(path, node->guid, (unsigned)port, points, &n, err) != 0)
		return (int)err->kind;
	*result = points_json(points, n);
	return *result != NULL ? 0 : fm_fail(err, FM_E_RESOURCE, "out of memory");
}

void
counted_history(struct counted *c, struct evhttp_request *req, const json_t *args)
{
	const char *port = json_string_value(json_object_get(args, "port"));
	struct fm_error err = { 0 };
	json_t *result = NULL;

	if (query_check(args, "port", &err) == 0 && counted_follow(c, &err) == 0 &&
	    read_history(&c->readings, port, &result, &err) == 0)
		reply_json(req, result);
	else
		reply_wrong(req, &err);
	json_decref(result);
}

/* ------------------------------------------------------------------------- all */

struct counted *
counted_new(struct event_base *base, const char *file)
{
	static const struct timeval period = { .tv_sec = KEEP_S };
	struct counted *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	readings_init(&c->readings, file);
	c->keep = event_new(base, -1, EV_PERSIST, on_keep, c);
	if (c->keep == NULL || event_add(c->keep, &period) != 0) {
		counted_free(c);
		return NULL;
	}
	event_active(c->keep, EV_TIMEOUT, 0); /* the first at once */
	return c;
}

void
counted_free(struct counted *c)
{
	if (c == NULL)
		return;
	for (enum over over = NOW; over < OVERS; over++)
		page_put(c->cells[over].page);
	if (c->keep != NULL)
		event_free(c->keep);
	readings_fini(&c->readings);
	hour_fini(&c->hour);
	free(c);
}
