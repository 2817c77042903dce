/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/daemon/trouble_json.c - what fmctl shows of what is unfinished in the fabric.
 */
#include <inttypes.h>
#include <time.h>

#include "core/daemon/daemon.h"
#include "core/dist/dist_json.h"
#include "core/sweep/todo.h"
#include "core/text/json_text.h"

#define ROWS_MAX 1000

static const char *
say_time(uint32_t s, char time[24])
{
	time_t t = s;
	struct tm tm;

	gmtime_r(&t, &tm);
	strftime(time, 24, "%Y-%m-%dT%H:%M:%SZ", &tm);
	return time;
}

static json_t *
next_json(int64_t next_ms, int64_t now_ms)
{
	return next_ms == INT64_MAX ? json_null() : json_integer(next_ms - now_ms);
}

static json_t *
row_json(
    const struct inventory *inv, const struct todo_list *list, const struct todo *t, int64_t now_ms)
{
	char time[24], text[512];

	return json_pack("{s:s, s:s, s:i, s:o, s:o, s:o, s:o}", "since", say_time(t->since_s, time),
	    "kind", todo_name(t->why), "tries", (int)t->n_tries, "next_ms",
	    next_json(t->next_ms, now_ms), "at", todo_at_json(inv, t), "other",
	    todo_other_json(inv, t), "text", json_text(todo_say(inv, list, t, text, sizeof(text))));
}

json_t *
daemon_unfinished_json(const struct daemon *d)
{
	const struct todo_list *todo = sweeper_todo(d->sweeper);
	json_t *o = json_object();

	for (unsigned w = 0; w < N_TODO_WHY; w++)
		if (todo->n_of[w] > 0)
			json_object_set_new(
			    o, todo_name((enum todo_why)w), json_integer(todo->n_of[w]));
	return o;
}

struct lines {
	json_t *list;
	int64_t now_ms, n;
};

static void
add_line(void *arg, const struct todo_line *line)
{
	struct lines *l = arg;
	char time[24];

	if (l->n++ < ROWS_MAX)
		json_array_append_new(l->list,
		    json_pack("{s:s, s:s, s:i, s:o, s:i, s:o}", "since",
			say_time(line->since_s, time), "kind", todo_name(line->first->why), "tries",
			(int)line->n_tries, "next_ms", next_json(line->next_ms, l->now_ms),
			"entries", (int)line->n, "text", json_text(line->text)));
}

json_t *
daemon_trouble_json(const struct daemon *d)
{
	const struct inventory *inv = sweeper_inventory(d->sweeper);
	const struct todo_list *todo = sweeper_todo(d->sweeper);
	int64_t now_ms = d->transport->ops->now_ns(d->transport) / 1000000;
	json_t *list = json_array();
	struct lines lines = { .list = json_array(), .now_ms = now_ms };
	const struct todo_lines how = { .by_node = true, .say = add_line, .arg = &lines };
	json_t *more;
	json_int_t n_more;

	if (!todo_each_line(inv, todo, &how)) {
		json_decref(list);
		json_decref(lines.list);
		return NULL;
	}
	for (size_t i = 0; i < todo->n && i < ROWS_MAX; i++)
		json_array_append_new(list, row_json(inv, todo, &todo->item[i], now_ms));
	more = dist_troubles_json(d->dist);
	json_array_extend(more, d->cabling.rows);
	n_more = (json_int_t)json_array_size(more);
	json_array_extend(list, more);
	json_array_extend(lines.list, more);
	json_decref(more);
	return json_pack("{s:I, s:I, s:o, s:o}", "troubles", (json_int_t)todo->n + n_more,
	    "n_lines", (json_int_t)lines.n + n_more, "lines", lines.list, "list", list);
}
