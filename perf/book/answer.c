/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf/book/answer.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/events/query.h"
#include "core/nodes/nodes.h"
#include "core/text/json_text.h"
#include "lib/clock.h"
#include "lib/vec.h"
#include "perf/book/book.h"
#include "perf/book/history.h"

#define N_OF(x) (sizeof(x) / sizeof((x)[0]))
#define MOST_PORTS 254
#define TOP 20
#define STALE_INTERVALS 3 /* then nobody writes the file any more */

/* ------------------------------------------------------------------- the file */

struct row {
	uint32_t node;
	uint8_t port;
	struct book_port p;
};

struct file {
	char path[PATH_MAX];
	struct book_reader *r;
	struct book_head head;
	struct book_node *node; /* [n_nodes] */
	uint32_t n_nodes;
	int64_t now_ms;
	uint32_t n_unread; /* nodes that could not be read */
	FM_VEC(struct row) rows;
};

static void
close_file(struct file *f)
{
	book_reader_free(f->r);
	free(f->node);
	fm_vec_fini(&f->rows);
}

static int
open_file(const char *path, struct file *f, struct fm_error *err)
{
	*f = (struct file){ .now_ms = fm_clock_ms(CLOCK_REALTIME) };
	snprintf(f->path, sizeof(f->path), "%s", path);
	if (book_open(f->path, &f->r, err) != 0)
		return err->kind == FM_E_SYSTEM
		    ? fm_context(err, "does fmd-perf run (fmd-perf(8))?")
		    : (int)err->kind;
	f->n_nodes = book_n_nodes(f->r);
	f->node = calloc((size_t)f->n_nodes + 1, sizeof(*f->node));
	if (f->node == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory");
	if (!book_read_head(f->r, &f->head))
		return fm_fail(err, FM_E_SYSTEM, "%.100s has no head that holds", f->path);
	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (!book_read_node(f->r, i, &f->node[i]))
			return fm_fail(err, FM_E_TOPOLOGY, "%.100s is spoilt", f->path);
	return 0;
}

/* The ports of a node that have a cable or have had one; port 0: all. */
static bool
add_rows(struct file *f, uint32_t node, unsigned port)
{
	const struct book_node *n = &f->node[node];
	struct book_port ports[MOST_PORTS];
	bool ok = true;

	if (!book_read_ports(f->r, node, n, ports)) {
		f->n_unread++;
		return true;
	}
	for (unsigned i = 1; ok && i <= n->n_ports; i++) {
		struct row row = { node, (uint8_t)i, ports[i - 1] };
		bool is_told =
		    (row.p.flags & (BOOK_NO_CABLE | BOOK_NEVER)) != (BOOK_NO_CABLE | BOOK_NEVER);

		if (port == i || (port == 0 && is_told))
			ok = fm_vec_push(&f->rows, row);
	}
	return ok;
}

/* ----------------------------------------------------------------- as an answer */

static json_t *
names_of(uint32_t bits)
{
	json_t *list = json_array();

	for (enum counter c = 0; c < N_COUNTERS; c++)
		if ((bits >> c & 1) != 0)
			json_array_append_new(list, json_string(counter_name(c)));
	return list;
}

/* Those that its agent has. */
static json_t *
counters_json(const struct book_port *p)
{
	json_t *all = json_object();

	for (enum counter c = 0; c < N_COUNTERS; c++)
		if ((p->unread >> c & 1) == 0)
			json_object_set_new(
			    all, counter_name(c), json_integer((json_int_t)p->sum[c]));
	return all;
}

/* Of the rates none where there are no two reads yet. */
static void
add_rates(const struct book_port *p, json_t *row)
{
	const struct {
		const char *key;
		uint64_t rate;
	} rates[] = { { "xmit_bytes_per_s", p->xmit_rate }, { "rcv_bytes_per_s", p->rcv_rate },
		{ "wait_ticks_per_s", p->wait_rate }, { "errors_per_h", p->error_rate } };

	for (size_t i = 0; i < N_OF(rates); i++)
		json_object_set_new(row, rates[i].key,
		    p->span_ms == 0 ? json_null() : json_integer((json_int_t)rates[i].rate));
}

static const char *
state_of(const struct file *f, const struct row *r)
{
	uint32_t of_node = f->node[r->node].flags;

	if ((r->p.flags & BOOK_NO_CABLE) != 0)
		return "no cable";
	if ((r->p.flags & BOOK_MISSING) == 0)
		return "read";
	return (of_node & BOOK_SILENT) != 0 ? "silent"
	    : (of_node & BOOK_REFUSES) != 0 ? "refused"
					    : "missing";
}

static json_t *
row_json(const struct file *f, const struct row *r)
{
	const struct book_node *n = &f->node[r->node],
			       *far = r->p.peer < f->n_nodes ? &f->node[r->p.peer] : NULL;
	json_t *row = json_pack("{s:o, s:o, s:i, s:o, s:o, s:i, s:s, s:b, s:o, s:I, s:I}", "node",
	    json_text(n->name), "guid", json_guid(n->guid), "port", (int)r->port, "to",
	    far != NULL ? json_text(far->name) : json_null(), "to_guid",
	    far != NULL ? json_guid(far->guid) : json_null(), "to_port",
	    far != NULL ? (int)r->p.peer_port : 0, "state", state_of(f, r), "reset",
	    (int)((r->p.flags & BOOK_RESET) != 0), "read_ms_ago",
	    r->p.read_ms > 0 ? json_integer((json_int_t)(f->now_ms - r->p.read_ms)) : json_null(),
	    "mbps", (json_int_t)r->p.mbps, "planned_routes", (json_int_t)r->p.planned);

	if (row == NULL)
		return json_null();
	add_rates(&r->p, row);
	json_object_set_new(row, "at_end", names_of(r->p.at_end));
	json_object_set_new(row, "counters", counters_json(&r->p));
	return row;
}

static bool
is_stale(const struct file *f)
{
	return f->head.is_old || f->head.sweep == 0 ||
	    f->now_ms - f->head.sweep_ended_ms >
	    STALE_INTERVALS * (int64_t)f->head.interval_ms + 1000;
}

/* What holds for the file as a whole, and the first so many of its rows. */
static int
hand_out(struct file *f, size_t most, json_t **result, struct fm_error *err)
{
	json_t *ports = json_array();

	for (size_t i = 0; i < f->rows.n && i < most; i++)
		json_array_append_new(ports, row_json(f, &f->rows.item[i]));
	*result = json_pack("{s:o, s:b, s:I, s:o, s:I, s:f, s:i, s:i, s:i, s:i, s:o}", "file",
	    json_text(f->path), "stale", (int)is_stale(f), "sweep", (json_int_t)f->head.sweep,
	    "ended_ms_ago",
	    f->head.sweep > 0 ? json_integer((json_int_t)(f->now_ms - f->head.sweep_ended_ms))
			      : json_null(),
	    "since_ms_ago", (json_int_t)(f->now_ms - f->head.began_ms), "interval_s",
	    (double)f->head.interval_ms / 1000, "ports_wanted", (int)f->head.n_wanted, "ports_read",
	    (int)f->head.n_read, "silent_agents", (int)f->head.n_silent, "nodes_not_read",
	    (int)f->n_unread, "ports", ports);
	return *result != NULL ? 0 : fm_fail(err, FM_E_RESOURCE, "out of memory");
}

/* -------------------------------------------------------------------- counters */

bool
answer_is_called(const char *word, const struct book_node *n)
{
	char first[BOOK_NAME_BYTES + 1];
	uint64_t guid;

	if (strncmp(word, "0x", 2) == 0 && node_guid_parse(word, &guid))
		return guid == n->guid;
	snprintf(first, sizeof(first), "%.*s", (int)strcspn(n->name, " "), n->name);
	return node_name_match(word, n->name) || node_name_match(word, first);
}

/* False: out of memory. */
static bool
find_rows(struct file *f, const char *word, unsigned port)
{
	bool ok = true;

	for (uint32_t i = 0; ok && i < f->n_nodes; i++)
		if (answer_is_called(word, &f->node[i]) && port <= f->node[i].n_ports)
			ok = add_rows(f, i, port);
	return ok;
}

/* NODE, or NODE:PORT where no node is called NODE:PORT. */
static bool
find_meant(struct file *f, const char *what)
{
	const char *colon = strrchr(what, ':');
	char word[160], *end;
	unsigned long port;

	if (!find_rows(f, what, 0))
		return false;
	if (f->rows.n > 0 || colon == NULL || (size_t)(colon - what) >= sizeof(word))
		return true;
	port = strtoul(colon + 1, &end, 10);
	if (end == colon + 1 || *end != '\0' || port < 1 || port > MOST_PORTS)
		return true;
	snprintf(word, sizeof(word), "%.*s", (int)(colon - what), what);
	return find_rows(f, word, (unsigned)port);
}

int
answer_counters(const char *path, const char *what, json_t **result, struct fm_error *err)
{
	struct file f;
	int rc = open_file(path, &f, err);

	if (rc == 0 && !find_meant(&f, what))
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory");
	if (rc == 0 && f.rows.n == 0)
		rc = fm_fail(
		    err, FM_E_SYSTEM, "there is no node or port %.60s in %.100s", what, f.path);
	if (rc == 0)
		rc = hand_out(&f, f.rows.n, result, err);
	close_file(&f);
	return rc;
}

/* --------------------------------------------------------------------- history */

#define YEAR_9999_MS INT64_C(253370764800000)

static json_t *
point_json(const struct history_point *p)
{
	bool is_time = p->ended_ms >= 0 && p->ended_ms < YEAR_9999_MS;
	char time[EVENTS_TIME];

	if (is_time)
		events_say_time(p->ended_ms, time);
	return json_pack("{s:o, s:o, s:o}", "time", is_time ? json_string(time) : json_null(),
	    "load_percent", p->load < 0 ? json_null() : json_real(100 * p->load),
	    "wait_ticks_per_s", p->wait < 0 ? json_null() : json_real(p->wait));
}

int
answer_add_history(const char *path, json_t *answer, struct fm_error *err)
{
	const json_t *row = json_array_get(json_object_get(answer, "ports"), 0);
	const char *guid_text = json_string_value(json_object_get(row, "guid"));
	struct history_point points[HISTORY_SLOTS];
	json_t *list = json_array();
	char file[PATH_MAX + sizeof(HISTORY_SUFFIX)];
	uint64_t guid;
	uint32_t n = 0;
	int rc = 0;

	snprintf(file, sizeof(file), "%s" HISTORY_SUFFIX, path);
	if (json_array_size(json_object_get(answer, "ports")) != 1 || guid_text == NULL ||
	    !node_guid_parse(guid_text, &guid))
		rc = fm_fail(err, FM_E_CONFIG, "--history is of one port: counters NODE:PORT");
	else
		rc = history_read(file, guid,
		    (unsigned)json_integer_value(json_object_get(row, "port")), points, &n, err);
	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(list, point_json(&points[i]));
	if (rc == 0)
		json_object_set(answer, "history", list);
	json_decref(list);
	return rc;
}

/* ------------------------------------------------------------------------- top */

/* Of what a cable can carry; of one that is not known, of 1 Mbit/s. */
static double
load_of(const struct row *r)
{
	return (double)r->p.xmit_rate * 8 / 1e6 / (r->p.mbps > 0 ? r->p.mbps : 1);
}

static int
descending(double a, double b)
{
	return a > b ? -1 : a < b;
}

static int
by_load(const void *a, const void *b)
{
	return descending(load_of(a), load_of(b));
}

static int
by_wait(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return descending((double)x->p.wait_rate, (double)y->p.wait_rate);
}

static int
by_errors(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return descending((double)x->p.error_rate, (double)y->p.error_rate);
}

static const struct {
	const char *word;
	int (*before)(const void *a, const void *b);
} orders[] = { { "load", by_load }, { "wait", by_wait }, { "errors", by_errors } };

static int
find_order(const char *by, size_t *order, struct fm_error *err)
{
	for (*order = 0; *order < N_OF(orders); (*order)++)
		if (strcmp(by, orders[*order].word) == 0)
			return 0;
	return fm_fail(err, FM_E_CONFIG, "top takes load, wait or errors");
}

int
answer_top(const char *path, const char *by, bool all, json_t **result, struct fm_error *err)
{
	size_t order;
	struct file f;
	bool ok = true;
	int rc;

	if (find_order(by, &order, err) != 0)
		return (int)err->kind;
	rc = open_file(path, &f, err);
	for (uint32_t i = 0; rc == 0 && ok && i < f.n_nodes; i++)
		ok = add_rows(&f, i, 0);
	if (rc == 0 && !ok)
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory");
	if (rc == 0 && f.rows.n > 1)
		qsort(f.rows.item, f.rows.n, sizeof(*f.rows.item), orders[order].before);
	if (rc == 0)
		rc = hand_out(&f, all ? f.rows.n : TOP, result, err);
	if (rc == 0)
		json_object_set_new(*result, "by", json_string(orders[order].word));
	close_file(&f);
	return rc;
}

/* ------------------------------------------------------------------------ path */

static void
add_counted(struct file *f, json_t *at, const char *guid_key, const char *port_key)
{
	const char *word = json_string_value(json_object_get(at, guid_key));
	json_int_t port = json_integer_value(json_object_get(at, port_key));
	uint64_t guid;
	uint32_t i = 0;
	json_t *row;

	if (word == NULL || !node_guid_parse(word, &guid))
		return;
	while (i < f->n_nodes && f->node[i].guid != guid)
		i++;
	f->rows.n = 0;
	if (i == f->n_nodes || port < 1 || port > f->node[i].n_ports ||
	    !add_rows(f, i, (unsigned)port) || f->rows.n == 0)
		return;
	row = json_pack("{s:s, s:b, s:f}", "state", state_of(f, &f->rows.item[0]), "stale",
	    (int)is_stale(f), "load_percent", 100 * load_of(&f->rows.item[0]));
	add_rates(&f->rows.item[0].p, row);
	json_object_set_new(at, "counted", row);
}

void
answer_add_to_path(const char *path, json_t *answer)
{
	json_t *hops = json_object_get(answer, "hops");
	struct fm_error err;
	struct file f;

	if (open_file(path, &f, &err) == 0) {
		add_counted(&f, json_object_get(answer, "from"), "node_guid", "port");
		for (size_t i = 0; i < json_array_size(hops); i++)
			add_counted(&f, json_array_get(hops, i), "guid", "out");
	}
	close_file(&f);
}
