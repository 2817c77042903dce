/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sweep/todo.h - unfinished business: whatever is not as it is to be, port by port.
 *
 * The list is derived: when a sweep ends, todo_why() is asked of every port of every node, and an
 * entry exists exactly where the answer is not TODO_DONE.  Nothing else adds or removes one, so
 * nothing is forgotten, and nothing leaves the list but by a read that shows it done.  What an
 * entry keeps beside is since when it is so, and when it is tried next.  Entries of a node as a
 * whole are at its port 0; those of the fabric as a whole (well.h) stand behind all others.
 *
 * What fmd can finish by itself is tried again at once, then after 50 ms, 200 ms and 1 s, then by
 * each light sweep; what waits for somebody else by each light sweep only.  After a sweep that has
 * failed, and while the subnet is not up, the next begins after 50 ms, 200 ms, 1 s and then 2 s,
 * for ever.  A cable that flaps is looked at when it is to have been still for long enough.  A list
 * without others means that the fabric is as fmd wants it to be.
 *
 * What the log tells is an event; its end is told when the list has no entry any more of which it
 * told.  Which event that is stands in the entry, and nowhere else.
 */
#ifndef CORE_SWEEP_TODO_H
#define CORE_SWEEP_TODO_H

#include <jansson.h>

#include "core/events/kinds.h"
#include "core/inventory/inventory.h"

struct sweeper;

enum todo_why {
	TODO_DONE,
	TODO_TWIN_GUID,	   /* what is cabled here has a GUID that another one has */
	TODO_LOOP,	   /* the cable leads back to the same node; at one of its two ends */
	TODO_NO_ANSWER,	   /* the link is up, and nobody answers behind it */
	TODO_SILENT,	   /* the node does not answer what must be known of it */
	TODO_STOPPED,	   /* babbling_port_policy has disabled the port, and it still is */
	TODO_LATE,	   /* it has been asked, and has not answered yet */
	TODO_M_KEY,	   /* the port is under an M_Key that is not ours */
	TODO_UNANSWERED,   /* the node has left a question of the last sweep unanswered */
	TODO_UNREAD,	   /* what is known is in doubt, or of the far end nothing is known */
	TODO_CONTRADICTED, /* the two ends of the cable do not agree */
	TODO_PUT_OFF,	   /* the link waits until older tables are out of the switches */
	TODO_NOT_ACTIVE,   /* the link is not ACTIVE at this end */
	TODO_TABLES,	   /* forwarding tables of the switch are not as the plan says */
	TODO_MAPS,	   /* SL-to-VL maps */
	TODO_GROUPS,	   /* multicast forwarding tables */
	TODO_PKEYS,	   /* the P_Key table */
	TODO_ALIASES,	   /* alias GUIDs */
	TODO_FLAPPING,	   /* the cable is left out, or would be; at one of its two ends */
	TODO_REJOINED,	   /* switches are joined to older tables, which no engine has made */
	/* of the fabric as a whole, at slot TODO_FABRIC */
	TODO_NOT_MASTER, /* another SM is master, or we are to stay out of it */
	TODO_NO_LINK,	 /* our own port has none */
	TODO_NOT_UP,	 /* no sweep has brought the subnet up under our rule */
	TODO_FAILED,	 /* the last sweep has */
	TODO_OLD_PLAN,	 /* the plan in force is not of the fabric as last read */
	TODO_WAITING,	 /* other tables wait to be taken up (fmctl drain) */
	TODO_OTHER_CONF, /* the tables are not what the configuration asks for */
	N_TODO_WHY
};
#define TODO_FABRIC UINT32_MAX
#define TODO_UNTOLD UINT64_MAX
#define TODO_FIRST_OF_FABRIC TODO_NOT_MASTER
#define N_TODO_OF_FABRIC (N_TODO_WHY - TODO_FIRST_OF_FABRIC)
#define TODO_TEXT 420 /* bytes of a sentence of the fabric as a whole */
/* "duplicate-guid"; for programs, so that it stays: the name of its kind of events. */
const char *todo_name(enum todo_why why);
enum event_kind todo_event_kind(enum todo_why why); /* EVENT_NONE: others tell of it */

struct todo {
	uint32_t slot; /* TODO_FABRIC: port is why */
	uint8_t port;
	uint8_t why;	 /* enum todo_why */
	uint8_t n_tries; /* sweeps that began with it; 255: or more */
	bool logged;
	uint64_t event;	  /* that told of it; 0: none has, TODO_UNTOLD: it is about to be */
	uint32_t since_s; /* UTC */
	int64_t since_ms, next_ms; /* by the clock of the transport; INT64_MAX: a light sweep */
};

struct todo_list {
	struct todo *item; /* by slot, then port */
	size_t n, n_room;
	uint32_t n_of[N_TODO_WHY];
	int64_t next_ms;			/* the earliest of all; INT64_MAX: none */
	char text[N_TODO_OF_FABRIC][TODO_TEXT]; /* sentences of entries of the fabric as a whole */
};
/* Nothing is to be finished by us; all memory is released. */
void todo_clear(struct todo_list *list);

/* A sweep has ended: the list anew, and a line in the log for what is new and what is done.  is_up:
 * the subnet is up under our rule; else of ports nothing is ours to finish.  Cost: O(ports). */
void todo_scan(struct sweeper *s, bool is_up);
/* When an entry is due, by the clock of the transport in ms; INT64_MAX: none. */
int64_t todo_next_ms(const struct sweeper *s);
/* A sweep begins: what the entries that are due (all: all) need to be read is asked, or doubted.
 * True: there are some that need to be written only. */
bool todo_take_up(struct sweeper *s, bool all);
/* A sweep begins that reads everything: it is a try of what is due. */
void todo_try(struct sweeper *s);
/* The first entry that is due, as a phrase. */
void todo_reason(const struct sweeper *s, char *buf, size_t size);
/* Is something tried again before a light sweep, and not for ever? */
bool todo_is_hastened(const struct todo_list *list);
/* Entries that wait for somebody else, or for a cable to be still. */
uint32_t todo_n_waiting(const struct todo_list *list);
/* What the list has of a port, as the last sweep has left it; NULL: nothing. */
const struct todo *todo_find(const struct todo_list *list, uint32_t slot, unsigned port);
enum todo_why todo_known(const struct todo_list *list, uint32_t slot, unsigned port);

/* The other end: who has the GUID, the loop's other port, the neighbour.  False: nobody knows. */
bool todo_far(const struct inventory *inv, enum todo_why why, uint32_t slot, unsigned port,
    uint32_t *far, unsigned *far_port);
/* A sentence for an entry of the list; buf is returned. */
const char *todo_say(const struct inventory *inv, const struct todo_list *list,
    const struct todo *t, char *buf, size_t size);
/* Entries that are told in one line. */
struct todo_line {
	const struct todo *first;
	size_t n;
	const char *text;	   /* of the first, and which others */
	uint32_t since_s, n_tries; /* the earliest, the most */
	int64_t next_ms;	   /* the earliest */
};
struct todo_lines {
	bool by_node; /* a line for each node, too, and what concerns the fabric as a whole */
	bool is_done; /* it is so no longer */
	void (*say)(void *arg, const struct todo_line *line);
	void *arg;
};
/* False: out of memory.  O(n log n). */
bool todo_each_line(
    const struct inventory *inv, const struct todo_list *list, const struct todo_lines *how);
/* An end of the cable, or the node, as JSON: the entry's own, and the other one; null: nobody
 * knows, or it is of the fabric as a whole. */
json_t *todo_at_json(const struct inventory *inv, const struct todo *t);
json_t *todo_other_json(const struct inventory *inv, const struct todo *t);
/* The list is by slot, then port.  An event for each kind of ports in it, with both ends of 64 of
 * them; unlogged: the log has told of them.  told: which event tells of that kind. */
void todo_tell_begun(
    struct sweeper *s, const struct todo_list *list, bool unlogged, uint64_t told[N_TODO_WHY]);
/* A line in the log for each kind: it is so no longer. */
void todo_tell_done(struct sweeper *s, const struct todo_list *list);
/* The event is over, of which these were the last. */
void todo_tell_over(struct sweeper *s, const struct todo_list *list, uint64_t event);

#endif
