/* SPDX-License-Identifier: BSD-2-Clause */
/* core/sweep/todo.c - the list: made anew as a sweep ends, and taken up when it is due. */
#include "core/sweep/todo.h"

#include <stdlib.h>
#include <time.h>

#include "core/events/tell.h"
#include "core/inventory/flaps.h"
#include "core/sweep/internal.h"
#include "core/sweep/well.h"

#define LOG_AFTER_MS 10000 /* what fmd finishes before is its own business: fmctl trouble has it */
#define PAUSE_MS 1000

enum effort {
	AT_LIGHT_SWEEPS, /* it waits for somebody else */
	AT_ONCE,	 /* and ever later */
	EVER_AGAIN,	 /* till it is done, every 2 s at last */
	AT_ITS_TIME	 /* and from then on as EVER_AGAIN */
};

/* What a sweep that takes an entry up does first. */
enum take_up {
	NOTHING,
	PROBE,	   /* who is there? */
	READ_PORT, /* if nothing is new, that is all */
	READ_LINK, /* both ends */
	READ_NODE,
	READ_DOUBTED, /* what is in doubt already */
	WRITE	      /* what was read stays */
};

static const struct {
	enum effort effort;
	enum take_up take_up;
} rows[N_TODO_WHY] = {
	[TODO_DONE] = { AT_LIGHT_SWEEPS, NOTHING },
	[TODO_TWIN_GUID] = { AT_LIGHT_SWEEPS, PROBE },
	[TODO_LOOP] = { AT_LIGHT_SWEEPS, NOTHING },
	[TODO_NO_ANSWER] = { AT_LIGHT_SWEEPS, PROBE },
	[TODO_SILENT] = { AT_LIGHT_SWEEPS, READ_NODE },
	[TODO_LATE] = { AT_LIGHT_SWEEPS, NOTHING },
	[TODO_STOPPED] = { AT_LIGHT_SWEEPS, READ_PORT },
	[TODO_M_KEY] = { AT_LIGHT_SWEEPS, READ_PORT },
	[TODO_UNANSWERED] = { AT_LIGHT_SWEEPS, READ_NODE },
	[TODO_UNREAD] = { AT_ONCE, READ_DOUBTED },
	[TODO_CONTRADICTED] = { AT_ONCE, READ_LINK },
	[TODO_PUT_OFF] = { AT_ONCE, WRITE },
	[TODO_NOT_ACTIVE] = { AT_ONCE, READ_LINK },
	[TODO_TABLES] = { AT_ONCE, WRITE },
	[TODO_MAPS] = { AT_ONCE, WRITE },
	[TODO_GROUPS] = { AT_ONCE, WRITE },
	[TODO_PKEYS] = { AT_ONCE, WRITE },
	[TODO_ALIASES] = { AT_ONCE, WRITE },
	[TODO_FLAPPING] = { AT_ITS_TIME, READ_LINK },
	[TODO_REJOINED] = { AT_ONCE, WRITE },
	[TODO_NOT_MASTER] = { AT_LIGHT_SWEEPS, NOTHING },
	[TODO_NO_LINK] = { EVER_AGAIN, WRITE },
	[TODO_NOT_UP] = { EVER_AGAIN, WRITE },
	[TODO_FAILED] = { EVER_AGAIN, WRITE },
	[TODO_OLD_PLAN] = { EVER_AGAIN, WRITE },
	[TODO_WAITING] = { AT_LIGHT_SWEEPS, NOTHING },
	[TODO_OTHER_CONF] = { AT_LIGHT_SWEEPS, NOTHING },
};

void
todo_clear(struct todo_list *list)
{
	free(list->item);
	*list = (struct todo_list){ .next_ms = INT64_MAX };
}

/* -------------------------------------------------------------------- why */

/* Who is beyond our reach, or left out. */
static enum todo_why
why_left_out(const struct inv_node *n, unsigned port)
{
	const struct inv_port *p = &n->ports[port];

	switch (p->edge) {
	case EDGE_DUPLICATE:
		return TODO_TWIN_GUID;
	case EDGE_LOOP:
		return port <= p->peer_port ? TODO_LOOP : TODO_DONE;
	case EDGE_SILENT:
	case EDGE_ASKED:
		return p->late_probe ? TODO_LATE : TODO_NO_ANSWER;
	default:
		break;
	}
	if (p->stopped)
		return TODO_STOPPED;
	if (port == 0 && n->silent)
		return TODO_SILENT;
	if (port == 0 && n->n_late > 0)
		return TODO_LATE;
	if (port == 0 && n->quiet)
		return TODO_UNANSWERED;
	return p->foreign_key ? TODO_M_KEY : TODO_DONE;
}

static bool
is_in_doubt(const struct sweeper *s, uint32_t slot, unsigned port)
{
	const struct inv_node *n = inv_node(&s->inv, slot);
	const struct inv_port *p = &n->ports[port];

	if (port == 0)
		return inv_is_switch(n) &&
		    (!observe_switch_is_fresh(n) || !observe_port_is_fresh(p));
	if (inv_is_switch(n))
		return !observe_port_is_fresh(p) || (p->edge == EDGE_NONE && inv_port_up(p));
	return (p->edge == EDGE_LINKED || inv_walks(&s->inv, slot, port)) &&
	    !observe_port_is_fresh(p);
}

static enum todo_why
why_link(const struct sweeper *s, const struct inv_node *n, unsigned port)
{
	const struct inv_port *p = &n->ports[port], *far;

	if (p->edge != EDGE_LINKED)
		return TODO_DONE;
	far = &inv_node(&s->inv, p->peer)->ports[p->peer_port];
	if (inv_port_up(p) != inv_port_up(far))
		return TODO_CONTRADICTED;
	if (!link_usable(&s->inv, p) || !node_usable(n) || p->info.port_state == WIRE_PORT_ACTIVE)
		return TODO_DONE;
	if (why_left_out(inv_node(&s->inv, p->peer), p->peer_port) != TODO_DONE ||
	    why_left_out(inv_node(&s->inv, p->peer), 0) != TODO_DONE)
		return TODO_DONE; /* it waits for the other end, which has its entry */
	return links_takes(s, n, port) ? TODO_NOT_ACTIVE : TODO_PUT_OFF;
}

/* What concerns the fabric as a whole has its entry at the first switch. */
static bool
stands_for_all(const struct sweeper *s, const struct inv_node *n)
{
	for (uint32_t sw = 0; sw < n->sw_index; sw++)
		if (node_usable(inv_node(&s->inv, s->inv.switches.item[sw])))
			return false;
	return true;
}

static enum todo_why
why_switch(const struct sweeper *s, uint32_t slot)
{
	const struct inv_node *n = inv_node(&s->inv, slot);

	if (!node_usable(n) || s->plan == NULL || s->plan->tables == NULL)
		return TODO_DONE;
	if (apply_is_due(s, n))
		return TODO_TABLES;
	if (n->owes_maps)
		return TODO_MAPS;
	if (s->plan->change.n_stubs > 0 && stands_for_all(s, n))
		return TODO_REJOINED;
	if (mcast_lacks_trees(s) && stands_for_all(s, n))
		return TODO_GROUPS;
	return mcast_is_due_at(s, n) ? TODO_GROUPS : TODO_DONE;
}

static enum todo_why
why_settings(const struct sweeper *s, uint32_t slot, unsigned port)
{
	if (pkeys_are_due(s, slot, port))
		return TODO_PKEYS;
	if (qos_is_due(s, slot, port))
		return TODO_MAPS;
	return aliases_are_due_at(s, slot, port) ? TODO_ALIASES : TODO_DONE;
}

/* The entry of a cable is at the first of its ends. */
static enum todo_why
why_flaps(const struct sweeper *s, uint32_t slot, unsigned port)
{
	const struct inv_flap *f = port != 0 ? flaps_at(&s->inv, slot, port) : NULL;

	return f != NULL && f->slot[0] == slot && f->port[0] == port ? TODO_FLAPPING : TODO_DONE;
}

static enum todo_why
why(const struct sweeper *s, uint32_t slot, unsigned port)
{
	const struct inv_node *n = inv_node(&s->inv, slot);
	enum todo_why w = why_left_out(n, port);

	if (w == TODO_NO_ANSWER && !n->silent && !n->quiet && is_in_doubt(s, slot, port))
		return TODO_UNREAD; /* perhaps it is not up any more */
	if (w != TODO_DONE || n->silent || n->quiet || s->set.dry_run)
		return w;
	if (is_in_doubt(s, slot, port))
		return TODO_UNREAD;
	w = port == 0 && inv_is_switch(n) ? why_switch(s, slot) : why_link(s, n, port);
	if (w == TODO_DONE)
		w = why_settings(s, slot, port);
	return w != TODO_DONE ? w : why_flaps(s, slot, port);
}

/* -------------------------------------------------------------------- the list */

static bool
push(struct todo_list *list, const struct todo *t)
{
	size_t room = list->n_room > 0 ? 2 * list->n_room : 64;
	struct todo *item;

	if (list->n == list->n_room) {
		item = realloc(list->item, room * sizeof(*item));
		if (item == NULL)
			return false;
		list->item = item;
		list->n_room = room;
	}
	list->item[list->n++] = *t;
	list->n_of[t->why]++;
	if (t->next_ms < list->next_ms)
		list->next_ms = t->next_ms;
	return true;
}

/* A node that does not answer.  What it refuses, or a foreign key, is told where it is met. */
static bool
is_mute(const struct todo *t)
{
	return t->why == TODO_SILENT || t->why == TODO_UNANSWERED;
}

static bool
is_logged_at_once(const struct todo *t)
{
	return t->why == TODO_TWIN_GUID || t->why == TODO_LOOP || t->why == TODO_NO_ANSWER ||
	    is_mute(t);
}

static bool
is_logged_where_met(const struct sweeper *s, const struct todo *t)
{
	const struct inv_node *n = inv_node(&s->inv, t->slot);

	return t->why == TODO_M_KEY || t->why == TODO_STOPPED || t->why == TODO_FLAPPING ||
	    (t->why == TODO_NO_ANSWER && n->ports[t->port].disbelief != BELIEVED) ||
	    (is_mute(t) && n->warned);
}

/* What a scan has to tell; known: of that there is a line in the log already. */
struct tidings {
	struct todo_list come, known, gone;
};

static bool
note_new(struct sweeper *s, struct todo *t, int64_t now_ms, struct tidings *say)
{
	bool known = is_logged_where_met(s, t);

	if (t->logged || (!known && !is_logged_at_once(t) && now_ms - t->since_ms < LOG_AFTER_MS))
		return true;
	t->logged = true;
	if (is_mute(t))
		inv_node(&s->inv, t->slot)->warned = true;
	if (t->why == TODO_FLAPPING)
		return true; /* the news tell of it, and that it is over */
	t->event = TODO_UNTOLD;
	return push(known ? &say->known : &say->come, t);
}

/* The news tell who came, and what is not there any more. */
static bool
note_gone(struct sweeper *s, const struct todo *t, struct tidings *say)
{
	return !(t->logged || is_logged_where_met(s, t)) || t->why == TODO_NO_ANSWER ||
	    t->why == TODO_FLAPPING || !inv_node(&s->inv, t->slot)->present || push(&say->gone, t);
}

static bool
is_before(const struct todo *t, uint32_t slot, unsigned port)
{
	return t->slot < slot || (t->slot == slot && t->port < port);
}

/* Between the end of a sweep and the next, which is to do better. */
static int64_t
again_ms(unsigned n_tries)
{
	static const int64_t pauses[] = { 50, 200, 1000, 2000 };
	size_t last = sizeof(pauses) / sizeof(pauses[0]) - 1;

	return pauses[n_tries < last ? n_tries : last];
}

/* The entry of before, with what is kept of it; or one that begins now.  It is due at due_ms. */
static struct todo
entry(const struct todo *was, uint32_t slot, unsigned port, enum todo_why w, int64_t now_ms,
    int64_t due_ms)
{
	struct todo t = { .slot = slot,
		.port = (uint8_t)port,
		.why = (uint8_t)w,
		.since_s = (uint32_t)time(NULL),
		.since_ms = now_ms,
		.next_ms = due_ms };

	if (was != NULL) {
		t.n_tries = was->n_tries;
		t.next_ms = was->next_ms > due_ms ? was->next_ms : due_ms;
	}
	if (was != NULL && was->why == w) {
		t.logged = was->logged;
		t.event = was->event;
		t.since_s = was->since_s;
		t.since_ms = was->since_ms;
	}
	if (rows[w].effort == AT_LIGHT_SWEEPS)
		t.next_ms = INT64_MAX;
	else if (rows[w].effort == EVER_AGAIN)
		t.next_ms = now_ms + again_ms(t.n_tries);
	else if (was != NULL && rows[was->why].effort == AT_LIGHT_SWEEPS)
		t.next_ms = due_ms;
	return t;
}

/* When a cable that flaps is to be looked at. */
static int64_t
still_ms(const struct sweeper *s, const struct todo *t, int64_t now_ms)
{
	int64_t until_ms = flaps_at(&s->inv, t->slot, t->port)->until_ms;

	return until_ms > now_ms ? until_ms : now_ms + again_ms(t->n_tries);
}

/* As long as a sweep fails, or switches have just stopped answering, another one at once would be
 * no better. */
static int64_t
due_ms(const struct sweeper *s, int64_t now_ms)
{
	bool in_vain = s->run.failed;

	for (size_t i = 0; i < s->inv.switches.n; i++)
		in_vain = in_vain || inv_node(&s->inv, s->inv.switches.item[i])->quiet;
	return in_vain ? now_ms + PAUSE_MS : now_ms;
}

static bool
scan_node(struct sweeper *s, struct todo_list *list, size_t *at, uint32_t slot, int64_t now_ms,
    int64_t due, struct tidings *say)
{
	const struct inv_node *n = inv_node(&s->inv, slot);
	const struct todo_list *before = s->todo;
	bool ok = true;

	for (unsigned p = 0; p <= n->n_ports; p++) {
		enum todo_why w = n->present ? why(s, slot, p) : TODO_DONE;
		const struct todo *was = NULL;
		struct todo t;

		while (*at < before->n && is_before(&before->item[*at], slot, p))
			ok = note_gone(s, &before->item[(*at)++], say) && ok;
		if (*at < before->n && is_before(&before->item[*at], slot, p + 1))
			was = &before->item[(*at)++];
		if (was != NULL && was->why != w)
			ok = note_gone(s, was, say) && ok;
		if (w == TODO_DONE)
			continue;
		t = entry(was, slot, p, w, now_ms, due);
		if (w == TODO_FLAPPING)
			t.next_ms = still_ms(s, &t, now_ms);
		if (!note_new(s, &t, now_ms, say) || !push(list, &t))
			return false;
	}
	return ok;
}

/* What concerns the fabric as a whole is told where it is met, but for a plan that stays old; the
 * event of it has an end. */
static void
note_fabric(struct todo *t, const char *text, int64_t now_ms)
{
	bool is_old = now_ms - t->since_ms >= LOG_AFTER_MS;
	bool is_told = t->why == TODO_WAITING || t->why == TODO_OTHER_CONF ||
	    (is_old && (t->why == TODO_OLD_PLAN || t->why == TODO_NOT_UP));

	if (t->logged || !is_told)
		return;
	t->logged = true;
	t->event = event_tell(&(struct telling){ .kind = todo_event_kind((enum todo_why)t->why),
				  .unlogged = t->why != TODO_OLD_PLAN },
	    FM_LOG_WARN, "sweep", "%s", text);
}

/* It is so no longer. */
static void
end_of_fabric(const struct todo *was)
{
	static const char *const words[N_TODO_WHY] = {
		[TODO_NOT_UP] = "the subnet is up",
		[TODO_OLD_PLAN] = "the forwarding tables are of the fabric as it is",
		[TODO_WAITING] = "no tables wait to be taken up any more",
		[TODO_OTHER_CONF] = "the tables are what the configuration asks for",
	};
	const struct telling t = { .kind = todo_event_kind((enum todo_why)was->why),
		.ends = was->event,
		.unlogged = was->why != TODO_OLD_PLAN };

	if (was->logged)
		event_tell(&t, FM_LOG_NOTICE, "sweep", "%s", words[was->why]);
}

/* The entries of before from item[at] on are the fabric's. */
static bool
scan_fabric(struct sweeper *s, struct todo_list *list, size_t at, bool is_up, int64_t now_ms)
{
	const struct todo_list *before = s->todo;

	for (unsigned w = TODO_FIRST_OF_FABRIC; w < N_TODO_WHY; w++) {
		char *text = list->text[w - TODO_FIRST_OF_FABRIC];
		const struct todo *was = NULL;
		struct todo t;

		if (at < before->n && before->item[at].why == w)
			was = &before->item[at++];
		if (!well_lacks(s, (enum todo_why)w, is_up, text, TODO_TEXT)) {
			if (was != NULL)
				end_of_fabric(was);
			continue;
		}
		t = entry(was, TODO_FABRIC, w, (enum todo_why)w, now_ms, now_ms);
		note_fabric(&t, text, now_ms);
		if (!push(list, &t))
			return false;
	}
	return true;
}

static size_t
first_of_fabric(const struct todo_list *list)
{
	size_t n = list->n;

	while (n > 0 && list->item[n - 1].slot == TODO_FABRIC)
		n--;
	return n;
}

/* Entries that are told of are to know by which event. */
static void
tell_begun(struct sweeper *s, struct todo_list *list, const struct todo_list *told, bool unlogged)
{
	uint64_t event[N_TODO_WHY] = { 0 };
	size_t at = 0;

	todo_tell_begun(s, told, unlogged, event);
	for (size_t i = 0; i < told->n; i++) {
		const struct todo *t = &told->item[i];

		while (at < list->n && is_before(&list->item[at], t->slot, t->port))
			at++;
		if (at < list->n && list->item[at].slot == t->slot &&
		    list->item[at].port == t->port)
			list->item[at].event = event[t->why];
	}
}

static int
by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* By event, then by place. */
static int
by_event(const void *a, const void *b)
{
	const struct todo *x = a, *y = b;

	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	return x->port < y->port ? -1 : x->port > y->port;
}

static int
find_number(const void *key, const void *item)
{
	return by_number(key, item);
}

/* Entries of before whose events tell of none that is left, by event.  False: out of memory. */
static bool
find_over(const struct todo_list *before, const struct todo_list *list, struct todo_list *over)
{
	FM_VEC(uint64_t) left = { 0 };
	bool ok = true;

	for (size_t i = 0; ok && i < list->n; i++)
		if (list->item[i].event != 0)
			ok = fm_vec_push(&left, list->item[i].event);
	if (left.n > 0)
		qsort(left.item, left.n, sizeof(*left.item), by_number);
	for (size_t i = 0; ok && i < before->n; i++) {
		const struct todo *t = &before->item[i];

		if (t->event != 0 && t->slot != TODO_FABRIC &&
		    (left.n == 0 ||
			bsearch(&t->event, left.item, left.n, sizeof(t->event), find_number) ==
			    NULL))
			ok = push(over, t);
	}
	if (over->n > 0)
		qsort(over->item, over->n, sizeof(*over->item), by_event);
	fm_vec_fini(&left);
	return ok;
}

/* The ends of events.  O(n log n). */
static void
tell_over(struct sweeper *s, const struct todo_list *list)
{
	struct todo_list over = { 0 };

	if (!find_over(s->todo, list, &over))
		log_err("sweep", "out of memory: what is over is not told");
	for (size_t i = 0, end; i < over.n; i = end) {
		struct todo_list one = { .item = &over.item[i] };

		for (end = i; end < over.n && over.item[end].event == over.item[i].event; end++)
			one.n++;
		todo_tell_over(s, &one, over.item[i].event);
	}
	todo_clear(&over);
}

void
todo_scan(struct sweeper *s, bool is_up)
{
	struct todo_list list = { .next_ms = INT64_MAX };
	struct tidings say = { 0 };
	int64_t now_ms = sweeper_clock_ms(s), due = due_ms(s, now_ms);
	size_t at = 0;
	bool ok = true;

	for (uint32_t i = 0; ok && is_up && i < s->inv.nodes.n; i++)
		ok = scan_node(s, &list, &at, i, now_ms, due, &say);
	ok = ok && scan_fabric(s, &list, first_of_fabric(s->todo), is_up, now_ms);
	todo_tell_done(s, &say.gone);
	tell_begun(s, &list, &say.come, false);
	tell_begun(s, &list, &say.known, true);
	if (ok && is_up) /* else nobody follows what had begun */
		tell_over(s, &list);
	todo_clear(&say.gone);
	todo_clear(&say.come);
	todo_clear(&say.known);
	if (!ok) {
		log_err("sweep", "out of memory for the list of what is unfinished");
		todo_clear(&list); /* the next sweep makes it */
		return;
	}
	todo_clear(s->todo);
	*s->todo = list;
}

bool
todo_is_hastened(const struct todo_list *list)
{
	bool hastened = false;

	for (size_t i = 0; i < list->n; i++) {
		enum effort effort = rows[list->item[i].why].effort;

		if (effort == EVER_AGAIN)
			return false;
		hastened =
		    hastened || (effort != AT_ITS_TIME && list->item[i].next_ms != INT64_MAX);
	}
	return hastened;
}

uint32_t
todo_n_waiting(const struct todo_list *list)
{
	uint32_t n = 0;

	for (unsigned w = 0; w < N_TODO_WHY; w++)
		n += rows[w].effort == AT_LIGHT_SWEEPS || rows[w].effort == AT_ITS_TIME
		    ? list->n_of[w]
		    : 0;
	return n;
}

/* ------------------------------------------------------------------- taking up */

int64_t
todo_next_ms(const struct sweeper *s)
{
	return s->todo->next_ms;
}

static int64_t
pause_ms(unsigned n_tries)
{
	static const int64_t pauses[] = { 0, 50, 200, 1000 };

	return n_tries < sizeof(pauses) / sizeof(pauses[0]) ? pauses[n_tries] : -1;
}

/* It is due, and a sweep begins: when is it tried again, if that one does not do it? */
static void
count_try(struct todo *t, int64_t now_ms)
{
	int64_t pause;

	t->n_tries += t->n_tries < UINT8_MAX;
	pause = pause_ms(t->n_tries);
	t->next_ms = pause < 0 ? INT64_MAX : now_ms + pause;
}

static bool
take_up(struct sweeper *s, const struct todo *t)
{
	switch (rows[t->why].take_up) {
	case NOTHING:
		break;
	case PROBE:
		discover_probe(s, t->slot, t->port);
		break;
	case READ_PORT:
		discover_ask_port(s, t->slot, t->port);
		break;
	case READ_LINK:
		doubt_link(s, t->slot, t->port);
		break;
	case READ_NODE:
		doubt_node(s, t->slot);
		break;
	case READ_DOUBTED:
		if (inv_node(&s->inv, t->slot)->ports[t->port].edge == EDGE_NONE)
			doubt_port(s, t->slot, t->port);
		else
			observe_want_read(s, t->slot);
		break;
	case WRITE:
		return true;
	}
	return false;
}

bool
todo_take_up(struct sweeper *s, bool all)
{
	int64_t now_ms = sweeper_clock_ms(s);
	bool work = false;

	s->todo->next_ms = INT64_MAX;
	for (size_t i = 0; i < s->todo->n; i++) {
		struct todo *t = &s->todo->item[i];

		if (t->next_ms <= now_ms) {
			count_try(t, now_ms);
			work = take_up(s, t) || work;
		} else if (all && rows[t->why].effort != AT_ITS_TIME) {
			work = take_up(s, t) || work;
		}
		if (t->next_ms < s->todo->next_ms)
			s->todo->next_ms = t->next_ms;
	}
	return work;
}

void
todo_try(struct sweeper *s)
{
	int64_t now_ms = sweeper_clock_ms(s);

	s->todo->next_ms = INT64_MAX;
	for (size_t i = 0; i < s->todo->n; i++) {
		struct todo *t = &s->todo->item[i];

		if (t->next_ms <= now_ms)
			count_try(t, now_ms);
		if (t->next_ms < s->todo->next_ms)
			s->todo->next_ms = t->next_ms;
	}
}

void
todo_reason(const struct sweeper *s, char *buf, size_t size)
{
	int64_t now_ms = sweeper_clock_ms(s);
	char name[96];

	for (size_t i = 0; i < s->todo->n; i++) {
		const struct todo *t = &s->todo->item[i];

		if (t->next_ms > now_ms)
			continue;
		if (t->slot == TODO_FABRIC) {
			snprintf(
			    buf, size, "what was unfinished: %s", todo_name((enum todo_why)t->why));
			return;
		}
		inv_name(inv_node(&s->inv, t->slot), name, sizeof(name));
		if (t->port != 0)
			snprintf(buf, size, "what was unfinished at %s port %u: %s", name, t->port,
			    todo_name((enum todo_why)t->why));
		else
			snprintf(buf, size, "what was unfinished at %s: %s", name,
			    todo_name((enum todo_why)t->why));
		return;
	}
	snprintf(buf, size, "unfinished business");
}
