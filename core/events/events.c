/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/events/events.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/events/file.h"
#include "core/text/json_text.h"
#include "lib/clock.h"
#include "lib/vec.h"

/* What waits for the loop. */
struct waiting {
	uint64_t n;
	int64_t at_ms;
	enum fm_log_level level;
	enum event_kind kind;
	uint64_t ends; /* 0: none */
	json_t *facts; /* NULL: none */
	char *text;
	char subsystem[16];
};

struct waiting_list {
	FM_VEC(struct waiting) of;
};

struct ring_entry {
	uint64_t n;
	int64_t at_ms;
	json_t *event;
};

struct events {
	void (*wake)(void *arg);
	void *wake_arg;
	pthread_mutex_t lock; /* of the two below */
	uint64_t last;	      /* the newest number that was given out */
	struct waiting_list waiting;
	/* the loop's */
	size_t oldest, n_ring; /* ring[oldest] is the first of n_ring, by number */
	struct ring_entry ring[EVENTS_MAX];
	uint64_t counts[N_EVENT_KINDS];
	struct event_file file;
	uint64_t not_kept;   /* the event that told of it; 0: they are */
	uint64_t n_not_kept; /* since then */
};

/* ------------------------------------------------------------- any thread */

static void
free_waiting(struct waiting *w)
{
	json_decref(w->facts);
	free(w->text);
}

/* The lock is held.  False: it is lost, but for its number. */
static bool
put_waiting(struct events *e, const struct waiting *w)
{
	struct waiting one = *w;

	one.n = ++e->last;
	one.at_ms = fm_clock_ms(CLOCK_REALTIME); /* times are in the order of numbers */
	return one.text != NULL && e->waiting.of.n < EVENTS_WAITING &&
	    fm_vec_push(&e->waiting.of, one);
}

static void
on_line(void *arg, enum fm_log_level level, const char *subsystem, const char *line, unsigned kind,
    void *more)
{
	struct events *e = arg;
	struct told *told = more;
	const struct telling *t = told != NULL ? told->telling : NULL;
	struct waiting w = { .level = level,
		.kind = kind != 0 ? (enum event_kind)kind : event_kind_of_subsystem(subsystem),
		.ends = t != NULL ? t->ends : 0,
		.facts = t != NULL ? json_incref(t->facts) : NULL,
		.text = strdup(line) };
	bool was_empty, ok;

	snprintf(w.subsystem, sizeof(w.subsystem), "%s", subsystem);
	pthread_mutex_lock(&e->lock);
	was_empty = e->waiting.of.n == 0;
	ok = put_waiting(e, &w);
	if (told != NULL)
		told->n = e->last;
	pthread_mutex_unlock(&e->lock);
	if (!ok)
		free_waiting(&w);
	else if (was_empty) /* what the waking logs finds that somebody has been woken */
		e->wake(e->wake_arg);
}

struct events *
events_new(void (*wake)(void *arg), void *arg)
{
	struct events *e = calloc(1, sizeof(*e));

	if (e == NULL)
		return NULL;
	e->wake = wake;
	e->wake_arg = arg;
	event_file_init(&e->file, "", 0);
	pthread_mutex_init(&e->lock, NULL);
	fm_log_set_watch(on_line, e);
	return e;
}

void
events_free(struct events *e)
{
	if (e == NULL)
		return;
	fm_log_set_watch(NULL, NULL);
	events_step(e);
	event_file_close(&e->file);
	for (size_t i = 0; i < e->waiting.of.n; i++)
		free_waiting(&e->waiting.of.item[i]);
	fm_vec_fini(&e->waiting.of);
	for (size_t i = 0; i < EVENTS_MAX; i++)
		json_decref(e->ring[i].event);
	pthread_mutex_destroy(&e->lock);
	free(e);
}

/* ------------------------------------------------------------------- ring */

static const struct ring_entry *
ring_at(const struct events *e, size_t i)
{
	return &e->ring[(e->oldest + i) % EVENTS_MAX];
}

/* Takes the reference. */
static void
put_ring(struct events *e, uint64_t n, int64_t at_ms, json_t *event)
{
	struct ring_entry *to = &e->ring[(e->oldest + e->n_ring) % EVENTS_MAX];

	if (e->n_ring == EVENTS_MAX)
		e->oldest = (e->oldest + 1) % EVENTS_MAX;
	else
		e->n_ring++;
	json_decref(to->event);
	*to = (struct ring_entry){ n, at_ms, event };
}

static json_t *
waiting_json(const struct waiting *w)
{
	static const char *const levels[] = { "err", "warn", "notice", "info", "debug" };
	char time[EVENTS_TIME];

	events_say_time(w->at_ms, time);
	return json_pack("{s:I, s:s, s:s, s:o, s:s, s:o, s:o*, s:O*}", "n", (json_int_t)w->n,
	    "time", time, "level", levels[w->level], "subsystem", json_text(w->subsystem), "kind",
	    event_kind_name(w->kind), "text", json_text(w->text), "ends",
	    w->ends != 0 ? json_integer((json_int_t)w->ends) : NULL, "facts", w->facts);
}

/* ------------------------------------------------------------------- file */

static void
take_kept(void *arg, json_t *event)
{
	uint64_t n = (uint64_t)json_integer_value(json_object_get(event, "n"));
	struct events *e = arg;
	int64_t ms = 0;

	events_read_time(json_string_value(json_object_get(event, "time")), &ms);
	put_ring(e, n, ms, event);
}

void
events_open(struct events *e, const char *path, uint64_t max_bytes)
{
	struct fm_error err;
	uint64_t before = 0;

	if (event_file_read(path, EVENTS_MAX, take_kept, e, &err) != 0)
		log_warn("keep", "events of before are not known: %s", err.msg);
	event_file_init(&e->file, path, max_bytes);
	if (e->n_ring > 0)
		before = ring_at(e, e->n_ring - 1)->n;
	pthread_mutex_lock(&e->lock);
	e->last += before;
	for (size_t i = 0; i < e->waiting.of.n; i++) {
		struct waiting *w = &e->waiting.of.item[i];

		w->n += before;
		w->ends += w->ends != 0 ? before : 0;
	}
	pthread_mutex_unlock(&e->lock);
}

/* The first failure is told, and that they are kept again. */
static void
write_lines(struct events *e, const char *lines, size_t n, size_t n_events)
{
	struct fm_error err;
	int rc;

	if (e->file.path[0] == '\0' || n == 0)
		return;
	rc = event_file_write(&e->file, lines, n, &err);
	if (rc != 0)
		e->n_not_kept += n_events;
	if (rc != 0 && e->not_kept == 0)
		e->not_kept = events_add(EVENT_EVENTS_NOT_KEPT, FM_LOG_WARN, "keep", NULL,
		    "events are not kept for a restart: %s", err.msg);
	if (rc != 0 || e->not_kept == 0)
		return;
	event_tell(&(struct telling){ .kind = EVENT_EVENTS_NOT_KEPT, .ends = e->not_kept },
	    FM_LOG_NOTICE, "keep", "events are kept in %s again; it lacks %" PRIu64, e->file.path,
	    e->n_not_kept);
	e->not_kept = e->n_not_kept = 0;
}

/* A line of JSON to a text that grows; false: out of memory. */
struct text {
	FM_VEC(char) of;
};

static int
add_text(const char *bytes, size_t n, void *arg)
{
	struct text *t = arg;

	return fm_vec_append(&t->of, bytes, n) ? 0 : -1;
}

static void
add_line(struct text *t, const json_t *event)
{
	size_t n = t->of.n;

	if (json_dump_callback(event, add_text, t, JSON_COMPACT) != 0 || add_text("\n", 1, t) != 0)
		t->of.n = n;
}

static struct waiting_list
take_waiting(struct events *e)
{
	struct waiting_list taken;

	pthread_mutex_lock(&e->lock);
	taken = e->waiting;
	e->waiting = (struct waiting_list){ 0 };
	pthread_mutex_unlock(&e->lock);
	return taken;
}

void
events_step(struct events *e)
{
	struct waiting_list list = take_waiting(e);
	struct text text = { 0 };

	for (size_t i = 0; i < list.of.n; i++) {
		struct waiting *w = &list.of.item[i];
		json_t *event = waiting_json(w);

		e->counts[w->kind]++;
		if (event != NULL) {
			add_line(&text, event);
			put_ring(e, w->n, w->at_ms, event);
		}
		free_waiting(w);
	}
	write_lines(e, text.of.item, text.of.n, list.of.n);
	fm_vec_fini(&text.of);
	fm_vec_fini(&list.of);
}

/* ---------------------------------------------------------------- answers */

static bool
is_asked_for(const struct ring_entry *r, const struct events_query *q)
{
	return (!q->has_after || r->n > q->after) && r->at_ms >= q->since_ms &&
	    (q->kinds == NULL ||
		events_have_kind(q->kinds, json_string_value(json_object_get(r->event, "kind"))));
}

/* The answer as far as it is put together, oldest first. */
struct answer {
	const struct events_query *q;
	json_t *all;
	uint64_t before; /* numbers up to this one are there, or not asked for */
	bool tells_gap;	 /* ... is known, so that those behind it that are missing were lost */
	struct event_search search;
	size_t n;
	bool failed; /* out of memory */
};

static void
begin_behind(struct answer *a, uint64_t n)
{
	a->before = n > a->before ? n : a->before;
	a->tells_gap = a->tells_gap || n > 0;
}

/* event: NULL, it is not asked for; borrowed.  False: it is enough. */
static bool
give(struct answer *a, uint64_t n, json_t *event)
{
	if (a->q->first > 0 && a->n == a->q->first)
		return false;
	if (a->tells_gap && n > a->before + 1)
		a->failed |= json_array_append_new(a->all,
				 json_pack("{s:I}", "gap", (json_int_t)(n - a->before - 1))) != 0;
	a->before = n;
	a->tells_gap = true;
	if (event != NULL) {
		a->failed |= json_array_append(a->all, event) != 0;
		a->n++;
	}
	return !a->failed;
}

static bool
give_older(void *arg, uint64_t n, json_t *event)
{
	struct answer *a = arg;
	bool goes_on;

	begin_behind(a, a->search.before);
	goes_on = give(a, n, event);
	json_decref(event);
	return goes_on;
}

/* Those of the file that are in the ring no more; n_in_ring: of q->last that are. */
static void
give_all_older(const struct events *e, struct answer *a, size_t n_in_ring)
{
	struct fm_error err;

	if (e->n_ring < EVENTS_MAX || e->file.path[0] == '\0')
		return;
	a->search = (struct event_search){ .q = a->q,
		.below = ring_at(e, 0)->n,
		.most = a->q->last > 0 ? a->q->last - n_in_ring : 0,
		.give = give_older,
		.arg = a };
	if (event_file_find(e->file.path, &a->search, &err) != 0)
		log_beside(FM_LOG_WARN, "keep", "older events are not found: %s", err.msg);
}

/* Where those that are asked for begin in the ring, the newest `last` of them; *n: how many of
 * these that are; n_ring and 0 before.  True: older ones are asked for, too. */
static bool
go_back(const struct events *e, const struct events_query *q, size_t *at, size_t *n)
{
	for (size_t i = e->n_ring; i > 0; i--) {
		const struct ring_entry *r = ring_at(e, i - 1);

		if ((q->has_after && r->n <= q->after) || r->at_ms < q->since_ms ||
		    (q->last > 0 && *n == q->last))
			return false;
		*n += is_asked_for(r, q);
		*at = i - 1;
	}
	return q->last == 0 || *n < q->last;
}

int
events_json(
    const struct events *e, const struct events_query *q, json_t **out, struct fm_error *err)
{
	uint64_t newest = e->n_ring > 0 ? ring_at(e, e->n_ring - 1)->n : 0;
	struct answer a = { .q = q,
		.before = q->has_after ? q->after : 0,
		.tells_gap = q->has_after || q->since_ms > INT64_MIN };
	size_t at = e->n_ring, n = 0;

	if (q->has_after && q->after > newest)
		return fm_fail(err, FM_E_CONFIG,
		    "there is no event %" PRIu64 " yet: the last one is %" PRIu64
		    " (was fmd started anew without its events?)",
		    q->after, newest);
	a.all = json_array();
	if (a.all != NULL && go_back(e, q, &at, &n))
		give_all_older(e, &a, n);
	else if (a.all != NULL && at > 0)
		begin_behind(&a, ring_at(e, at - 1)->n);
	for (size_t i = at; a.all != NULL && i < e->n_ring; i++) {
		const struct ring_entry *r = ring_at(e, i);

		if (!give(&a, r->n, is_asked_for(r, q) ? r->event : NULL))
			break;
	}
	if (a.all == NULL || a.failed) {
		json_decref(a.all);
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the answer");
	}
	*out = a.all;
	return 0;
}

json_t *
events_counts_json(const struct events *e)
{
	json_t *o = json_object();

	for (unsigned k = 0; o != NULL && k < N_EVENT_KINDS; k++)
		if (e->counts[k] > 0)
			json_object_set_new(o, event_kind_name((enum event_kind)k),
			    json_integer((json_int_t)e->counts[k]));
	return o;
}
