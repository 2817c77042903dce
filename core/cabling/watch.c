/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/cabling/watch.h"

#include <inttypes.h>
#include <time.h>

#include "core/events/tell.h"

static json_t *
now_json(void)
{
	time_t t = time(NULL);
	struct tm tm;
	char text[24];

	gmtime_r(&t, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return json_string(text);
}

/* Since when each sentence is so. */
static json_t *
known_since(const json_t *rows)
{
	json_t *since = json_object();
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) json_object_set(
	    since, json_string_value(json_object_get(row, "text")), json_object_get(row, "since"));
	return since;
}

/* As the rows of fmctl trouble are. */
static json_t *
rows_of(const json_t *list, const json_t *before)
{
	json_t *rows = json_array(), *known = known_since(before), *now = now_json();
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		json_t *ends = json_object_get(item, "ends");
		json_t *text, *since;

		if (json_is_true(json_object_get(item, "note")))
			continue;
		text = json_sprintf(
		    "%s (topology_file)", json_string_value(json_object_get(item, "text")));
		since = json_object_get(known, json_string_value(text));
		json_array_append_new(rows,
		    json_pack("{s:O, s:s, s:i, s:n, s:O?, s:O?, s:i, s:o}", "since",
			since != NULL ? since : now, "kind", "cabling", "tries", 0, "next_ms", "at",
			json_array_get(ends, 0), "other", json_array_get(ends, 1), "entries", 1,
			"text", text));
	}
	json_decref(known);
	json_decref(now);
	return rows;
}

/* Are the sentences the same? */
static bool
same_rows(const json_t *a, const json_t *b)
{
	bool same = json_array_size(a) == json_array_size(b);

	for (size_t i = 0; same && i < json_array_size(a); i++)
		same = json_equal(json_object_get(json_array_get(a, i), "text"),
		    json_object_get(json_array_get(b, i), "text"));
	return same;
}

static void
tell(struct cabling_watch *w, const json_t *rows)
{
	json_int_t n = json_integer_value(json_object_get(w->found, "differences"));
	const char *file = json_string_value(json_object_get(w->found, "file"));

	if (n > 0 && w->event != 0 && same_rows(rows, w->rows))
		return;
	event_end(w->event, EVENT_CABLING, "fabric",
	    n > 0 ? "the cabling differs otherwise, which is told anew"
		  : "the cabling is as topology_file has it");
	w->event = n == 0
	    ? 0
	    : events_add(EVENT_CABLING, FM_LOG_WARN, "fabric",
		  json_pack("{s:O, s:O}", "found", w->found, "rows", rows),
		  "cabling: %" JSON_INTEGER_FORMAT " %s from %.100s (fmctl trouble), "
		  "the first: %s",
		  n, n == 1 ? "difference" : "differences", file,
		  json_string_value(json_object_get(json_array_get(rows, 0), "text")));
}

/* The answer of cabling_json() is taken over. */
static void
take(struct cabling_watch *w, const char *file, json_t *answer)
{
	json_t *rows = rows_of(json_object_get(answer, "list"), w->rows);

	json_object_del(answer, "list");
	json_object_set_new(answer, "file", json_string(file));
	json_decref(w->found);
	w->found = answer;
	tell(w, rows);
	json_decref(w->rows);
	w->rows = rows;
}

void
cabling_watch_look(struct cabling_watch *w, const char *file, const struct netlist *want,
    const struct inventory *inv)
{
	struct netlist found;
	struct fm_error err;
	struct cabling c;
	int rc;

	if (want == NULL) {
		cabling_watch_forget(w);
		return;
	}
	rc = cabling_of_inventory(inv, &found, &err);
	if (rc == 0) {
		rc = cabling_compare(want, &found, &c, &err);
		if (rc == 0)
			take(w, file, cabling_json(&c, CABLING_ROWS));
		cabling_fini(&c);
	}
	netlist_fini(&found);
	if (rc != 0)
		log_err("fabric", "the cabling is not compared with %.100s: %s", file, err.msg);
}

void
cabling_watch_forget(struct cabling_watch *w)
{
	event_end(w->event, EVENT_CABLING, "fabric", "the cabling is not looked at any longer");
	json_decref(w->rows);
	json_decref(w->found);
	*w = (struct cabling_watch){ 0 };
}
