/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/daemon/trouble_json.c - what fmctl shows of what is unfinished in the fabric.
 */
#include <inttypes.h>
#include <time.h>

#include "core/daemon/daemon.h"
#include "core/sweep/todo.h"
#include "core/text/json_text.h"

#define ROWS_MAX 1000

/* One end of it. */
static json_t *
end_json(const struct inventory *inv, uint32_t slot, unsigned port)
{
	const struct inv_node *n = inv_node(inv, slot);
	char guid[24];

	snprintf(guid, sizeof(guid), "0x%016" PRIx64, n->guid);
	return json_pack(
	    "{s:o, s:s, s:i}", "node", json_text(n->name), "guid", guid, "port", (int)port);
}

static json_t *
row_json(
    const struct inventory *inv, const struct todo_list *list, const struct todo *t, int64_t now_ms)
{
	bool of_fabric = t->slot == TODO_FABRIC;
	time_t since = t->since_s;
	char time[24], text[512];
	json_t *far = json_null();
	unsigned far_port;
	uint32_t other;
	struct tm tm;

	if (!of_fabric && todo_far(inv, t->why, t->slot, t->port, &other, &far_port))
		far = end_json(inv, other, far_port);
	gmtime_r(&since, &tm);
	strftime(time, sizeof(time), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return json_pack("{s:s, s:s, s:i, s:o, s:o, s:o, s:o}", "since", time, "kind",
	    todo_name(t->why), "tries", (int)t->n_tries, "next_ms",
	    t->next_ms == INT64_MAX ? json_null() : json_integer(t->next_ms - now_ms), "at",
	    of_fabric ? json_null() : end_json(inv, t->slot, t->port), "other", far, "text",
	    json_text(todo_say(inv, list, t, text, sizeof(text))));
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

json_t *
daemon_trouble_json(const struct daemon *d)
{
	const struct inventory *inv = sweeper_inventory(d->sweeper);
	const struct todo_list *todo = sweeper_todo(d->sweeper);
	int64_t now_ms = d->transport->ops->now_ns(d->transport) / 1000000;
	json_t *list = json_array();

	for (size_t i = 0; i < todo->n && i < ROWS_MAX; i++)
		json_array_append_new(list, row_json(inv, todo, &todo->item[i], now_ms));
	return json_pack("{s:I, s:o}", "troubles", (json_int_t)todo->n, "list", list);
}
