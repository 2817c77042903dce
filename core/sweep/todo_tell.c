/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sweep/todo_tell.c - what has become unfinished, and what no longer is, into the log: a line
 * for each kind, whatever the number of ports; a cable is told by one of its ends.
 */
#include <inttypes.h>
#include <stdio.h>

#include "core/sweep/internal.h"
#include "core/sweep/todo.h"
#include "core/text/sentence.h"

#define TEXT 900
#define TAIL 160      /* bytes kept free for what follows a list */
#define NAMED_MOST 12 /* runs of ports, or nodes, behind the first */

/* Done, after the name of the node or of the port; NULL: it is told in another way. */
static const char *const done[N_TODO_WHY] = {
	[TODO_TWIN_GUID] = "has no neighbour with the GUID of another node any more",
	[TODO_LOOP] = "has no cable to its own switch any more",
	[TODO_SILENT] = "answers again",
	[TODO_STOPPED] = "is not disabled any more",
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

/* The next entry of the kind from i on that is to be named; list->n: there is none. */
static size_t
next_of(const struct inventory *inv, const struct todo_list *list, enum todo_why why, size_t i)
{
	while (
	    i < list->n && (list->item[i].why != why || is_second_end(inv, list, &list->item[i])))
		i++;
	return i;
}

struct line {
	struct sentence s;
	unsigned n_named;
};

/* The ports of one node from entry i on, "port 3", "ports 1-10"; the first entry after them. */
static size_t
add_run(struct line *l, const struct inventory *inv, const struct todo_list *list, size_t i,
    uint32_t *slot)
{
	const struct todo *first = &list->item[i];
	enum todo_why why = (enum todo_why)first->why;
	size_t next = next_of(inv, list, why, i + 1);
	unsigned last = first->port;

	while (first->port != 0 && next < list->n && list->item[next].slot == first->slot &&
	    list->item[next].port == last + 1) {
		last++;
		next = next_of(inv, list, why, next + 1);
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

/* Behind the sentence of entry i: who else is meant. */
static void
add_others(struct line *l, const struct inventory *inv, const struct todo_list *list, size_t i)
{
	enum todo_why why = (enum todo_why)list->item[i].why;
	uint32_t slot = list->item[i].slot;
	unsigned n_more = 0;

	i = next_of(inv, list, why, i + 1);
	while (i < list->n && l->n_named < NAMED_MOST && l->s.at + TAIL < l->s.size)
		i = add_run(l, inv, list, i, &slot);
	for (; i < list->n; i = next_of(inv, list, why, i + 1))
		n_more++;
	if (n_more > 0)
		sentence_add(&l->s, " and %u more", n_more);
}

static void
say_done(struct line *l, const struct inventory *inv, const struct todo *t)
{
	const struct inv_node *n = inv_node(inv, t->slot);
	char name[128];

	sentence_add(&l->s, "%s", inv_name(n, name, sizeof(name)));
	if (t->port != 0)
		sentence_add(&l->s, " port %u", t->port);
	if (t->why != TODO_NOT_ACTIVE)
		sentence_add(&l->s, " %s", done[t->why]);
	else if (n->ports[t->port].info.port_state == WIRE_PORT_ACTIVE)
		sentence_add(&l->s, " is ACTIVE");
	else
		sentence_add(&l->s, " is not awaited any more");
}

void
todo_tell(struct sweeper *s, const struct todo_list *list, bool is_done)
{
	for (unsigned why = TODO_DONE + 1; why < TODO_FIRST_OF_FABRIC; why++) {
		size_t i = next_of(&s->inv, list, (enum todo_why)why, 0);
		char text[TEXT];
		struct line l = { .s = { .text = text, .size = sizeof(text) } };
		const struct todo *t;

		if (i == list->n)
			continue;
		t = &list->item[i];
		if (is_done)
			say_done(&l, &s->inv, t);
		else
			l.s.at = strlen(todo_say(&s->inv, list, t, text, sizeof(text)));
		add_others(&l, &s->inv, list, i);
		fm_log(is_done ? FM_LOG_NOTICE : FM_LOG_WARN, "sweep", "%s", text);
	}
}
