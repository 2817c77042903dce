/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sweep/todo_tell.c - unfinished business in lines: one for each kind, into the log, when it
 * has become so or no longer is; one for each kind and node, for who asks.  A cable is told by one
 * of its ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/events/tell.h"
#include "core/sweep/internal.h"
#include "core/sweep/todo.h"
#include "core/text/json_text.h"
#include "core/text/sentence.h"

#define TEXT 900       /* of one entry: names are long in the worst case */
#define LINE_CHARS 190 /* with its columns, or the head of a line of the log, 250 */
#define MORE 30	       /* of them for a run of ports */
#define FACTS_MAX 64   /* entries of an event */
#define NAMED_MOST 12  /* runs of ports, or nodes, behind the first */

/* Done, after the name of the node or of the port; NULL: it is told in another way. */
static const char *const done[N_TODO_WHY] = {
	[TODO_NO_ANSWER] = "has a neighbour that answers, or no link any more",
	[TODO_TWIN_GUID] = "has no neighbour with the GUID of another node any more",
	[TODO_LOOP] = "has no cable to its own switch any more",
	[TODO_SILENT] = "answers again",
	[TODO_STOPPED] = "is not disabled any more",
	[TODO_LATE] = "has answered",
	[TODO_M_KEY] = "is not under a foreign M_Key any more",
	[TODO_UNANSWERED] = "answers again",
	[TODO_UNREAD] = "has been read again",
	[TODO_CONTRADICTED] = "and the other end of its cable agree again",
	[TODO_PUT_OFF] = "waits for older forwarding tables no longer",
	[TODO_TABLES] = "holds the forwarding tables of the plan",
	[TODO_MAPS] = "holds the SL-to-VL maps of the plan",
	[TODO_GROUPS] = "holds its multicast forwarding tables",
	[TODO_PKEYS] = "holds its P_Keys",
	[TODO_ALIASES] = "holds its alias GUIDs",
	[TODO_FLAPPING] = "does not flap any more",
	[TODO_REJOINED] = "and other switches are joined to older tables no longer",
};

/* Is the other end of its cable in the list before it, with the same kind? */
static bool
is_second_end(const struct inventory *inv, const struct todo_list *list, const struct todo *t)
{
	uint32_t far;
	unsigned far_port;

	return t->port != 0 &&
	    todo_far(inv, (enum todo_why)t->why, t->slot, t->port, &far, &far_port) &&
	    (far < t->slot || (far == t->slot && far_port < t->port)) &&
	    todo_known(list, far, far_port) == (enum todo_why)t->why;
}

/* An entry that is to be named, and the node that its line is about. */
struct named {
	const struct todo *t;
	uint32_t about;
};

/* Where nobody answers it is about who was there, as all cables of a dead node are one trouble. */
static uint32_t
who_is_meant(const struct inventory *inv, const struct todo *t)
{
	uint32_t far;
	unsigned far_port;

	return t->why == TODO_NO_ANSWER &&
		todo_far(inv, TODO_NO_ANSWER, t->slot, t->port, &far, &far_port)
	    ? far
	    : t->slot;
}

/* By what is a line, then as in the list. */
static int
by_line(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	if (x->t->why != y->t->why)
		return x->t->why < y->t->why ? -1 : 1;
	if (x->about != y->about)
		return x->about < y->about ? -1 : 1;
	return x->t < y->t ? -1 : x->t > y->t;
}

struct line {
	struct sentence s;
	unsigned n_named;
};

/* The ports of one node from entry i on, "port 3", "ports 1-10"; the first entry after them. */
static size_t
add_run(struct line *l, const struct inventory *inv, const struct named *of, size_t n, size_t i,
    uint32_t *slot)
{
	const struct todo *first = of[i].t;
	size_t next = i + 1;
	unsigned last = first->port;

	while (first->port != 0 && next < n && of[next].t->slot == first->slot &&
	    of[next].t->port == last + 1) {
		last++;
		next++;
	}
	sentence_add(&l->s, "%s", l->n_named++ == 0 ? "; the same of" : ",");
	if (first->slot != *slot)
		sentence_add(&l->s, " \"%s\"", inv_node(inv, first->slot)->name);
	*slot = first->slot;
	if (last > first->port)
		sentence_add(&l->s, " ports %u-%u", first->port, last);
	else if (first->port > 0)
		sentence_add(&l->s, " port %u", first->port);
	return next;
}

/* Behind the sentence of the first: who else is meant. */
static void
add_others(struct line *l, const struct inventory *inv, const struct named *of, size_t n)
{
	uint32_t slot = of[0].t->slot;
	size_t i = 1;

	while (i < n && l->n_named < NAMED_MOST && l->s.at + MORE < LINE_CHARS)
		i = add_run(l, inv, of, n, i, &slot);
	if (i < n)
		sentence_add(
		    &l->s, "%s %zu more", l->n_named == 0 ? "; the same of" : " and", n - i);
}

static void
say_done(struct line *l, const struct inventory *inv, const struct todo *t)
{
	const struct inv_node *n = inv_node(inv, t->slot);
	char name[128];

	sentence_add(&l->s, "%s", inv_name(n, name, sizeof(name)));
	if (!n->present || t->port > n->n_ports) {
		sentence_add(&l->s, " is not there any more");
		return;
	}
	if (t->port != 0)
		sentence_add(&l->s, " port %u", t->port);
	if (t->why != TODO_NOT_ACTIVE)
		sentence_add(&l->s, " %s", done[t->why]);
	else if (n->ports[t->port].info.port_state == WIRE_PORT_ACTIVE)
		sentence_add(&l->s, " is ACTIVE");
	else
		sentence_add(&l->s, " is not awaited any more");
}

static void
say_line(const struct inventory *inv, const struct todo_list *list, const struct named *of,
    size_t n, const struct todo_lines *how)
{
	char text[TEXT];
	struct line l = { .s = { .text = text, .size = sizeof(text) } };
	struct todo_line line = {
		.first = of[0].t, .n = n, .text = text, .since_s = UINT32_MAX, .next_ms = INT64_MAX
	};

	if (how->is_done)
		say_done(&l, inv, of[0].t);
	else
		l.s.at = strlen(todo_say(inv, list, of[0].t, text, sizeof(text)));
	add_others(&l, inv, of, n);
	for (size_t i = 0; i < n; i++) {
		const struct todo *t = of[i].t;

		line.since_s = t->since_s < line.since_s ? t->since_s : line.since_s;
		line.next_ms = t->next_ms < line.next_ms ? t->next_ms : line.next_ms;
		line.n_tries = t->n_tries > line.n_tries ? t->n_tries : line.n_tries;
	}
	how->say(how->arg, &line);
}

bool
todo_each_line(
    const struct inventory *inv, const struct todo_list *list, const struct todo_lines *how)
{
	struct named *all = malloc((list->n + 1) * sizeof(*all));
	size_t n = 0, end;

	if (all == NULL)
		return false;
	for (size_t i = 0; i < list->n; i++) {
		const struct todo *t = &list->item[i];
		bool of_fabric = t->slot == TODO_FABRIC;

		if (of_fabric ? how->by_node : !is_second_end(inv, list, t))
			all[n++] = (struct named){ t,
				!how->by_node	? 0
				    : of_fabric ? TODO_FABRIC
						: who_is_meant(inv, t) };
	}
	qsort(all, n, sizeof(*all), by_line);
	for (size_t i = 0; i < n; i = end) {
		for (end = i + 1;
		     end < n && all[end].t->why == all[i].t->why && all[end].about == all[i].about;)
			end++;
		say_line(inv, list, &all[i], end - i, how);
	}
	free(all);
	return true;
}

/* ------------------------------------------------------------------- events */

static json_t *
end_json(const struct inventory *inv, uint32_t slot, unsigned port)
{
	const struct inv_node *n = inv_node(inv, slot);

	return json_pack("{s:o, s:o, s:i}", "node", json_text(n->name), "guid", json_guid(n->guid),
	    "port", (int)port);
}

json_t *
todo_at_json(const struct inventory *inv, const struct todo *t)
{
	return t->slot == TODO_FABRIC ? json_null() : end_json(inv, t->slot, t->port);
}

json_t *
todo_other_json(const struct inventory *inv, const struct todo *t)
{
	unsigned far_port;
	uint32_t far;

	if (t->slot == TODO_FABRIC ||
	    !todo_far(inv, (enum todo_why)t->why, t->slot, t->port, &far, &far_port))
		return json_null();
	return end_json(inv, far, far_port);
}

/* Both ends of the entries of a kind. */
static json_t *
facts_json(const struct inventory *inv, const struct todo_list *list, enum todo_why why)
{
	json_t *places = json_array();
	json_int_t n = 0;

	for (size_t i = 0; i < list->n; i++) {
		const struct todo *t = &list->item[i];

		if (t->why == why && !is_second_end(inv, list, t) && n++ < FACTS_MAX)
			json_array_append_new(places,
			    json_pack("{s:o, s:o}", "at", todo_at_json(inv, t), "other",
				todo_other_json(inv, t)));
	}
	return json_pack("{s:I, s:o}", "entries", n, "places", places);
}

/* Who tells lines of a list as events. */
struct teller {
	const struct inventory *inv;
	const struct todo_list *list;
	bool unlogged;
	uint64_t *told; /* [N_TODO_WHY] */
	uint64_t ends;
};

static void
tell_line(void *arg, const struct todo_line *line)
{
	enum todo_why why = (enum todo_why)line->first->why;
	struct teller *t = arg;
	const struct telling telling = { .kind = todo_event_kind(why),
		.facts = facts_json(t->inv, t->list, why),
		.unlogged = t->unlogged };

	t->told[why] = event_tell(&telling, FM_LOG_WARN, "sweep", "%s", line->text);
}

static void
log_line(void *arg, const struct todo_line *line)
{
	log_notice("sweep", "%s", line->text);
}

static void
end_line(void *arg, const struct todo_line *line)
{
	struct teller *t = arg;
	const struct telling telling = { .kind = todo_event_kind((enum todo_why)line->first->why),
		.ends = t->ends,
		.unlogged = true };

	event_tell(&telling, FM_LOG_NOTICE, "sweep", "%s", line->text);
}

static void
tell(struct sweeper *s, const struct todo_list *list, const struct todo_lines *how)
{
	if (list->n > 0 && !todo_each_line(&s->inv, list, how))
		log_err("sweep", "out of memory: what is unfinished is not told");
}

void
todo_tell_begun(
    struct sweeper *s, const struct todo_list *list, bool unlogged, uint64_t told[N_TODO_WHY])
{
	struct teller t = { .inv = &s->inv, .list = list, .unlogged = unlogged, .told = told };

	tell(s, list, &(struct todo_lines){ .say = tell_line, .arg = &t });
}

void
todo_tell_done(struct sweeper *s, const struct todo_list *list)
{
	tell(s, list, &(struct todo_lines){ .is_done = true, .say = log_line });
}

void
todo_tell_over(struct sweeper *s, const struct todo_list *list, uint64_t event)
{
	struct teller t = { .ends = event };

	tell(s, list, &(struct todo_lines){ .is_done = true, .say = end_line, .arg = &t });
}
