/* SPDX-License-Identifier: BSD-2-Clause */
/* Events: which there are, who is told of them. */
#include "core/sa/notices.h"

#include <stdlib.h>
#include <string.h>

#include "lib/log.h"

#define EVENTS_MAX 131072      /* that wait: all ports come and all go */
#define EVENTS_MAX_OTHERS 8192 /* ... when one that is not of a port is still taken */
#define REPEAT_MS 5000	       /* an event like one of so long ago is the same */
#define RECENT 256
#define AWAY_MS 60000 /* a port gone for so long is out of the registry */

#define TYPE_MANAGEMENT 3
#define PRODUCER_MANAGER 4
#define DETAILS_GID_AT 6
#define ALL16 0xffff
#define ALL_PRODUCERS 0xffffff

struct event {
	struct sa_notice e;
	struct sa_view *view; /* by which subscribers may know of it; a reference */
	uint64_t number;      /* never 0 */
	uint32_t left;	      /* subscriptions to be looked at: those below */
};

struct seen {
	uint64_t guid;
	uint64_t look;	 /* the last in which it was there */
	int64_t gone_ms; /* since; 0: it is there */
};

struct notices {
	struct registry *registry;
	struct reports *reports;
	struct sa_report_counts counts;
	FM_VEC(struct event) events; /* from n_done on */
	size_t n_done;
	uint64_t last_event;
	unsigned n_at_once; /* looked at since the last tick */
	struct {
		uint64_t key;
		int64_t at_ms;
	} recent[RECENT]; /* a ring */
	unsigned n_recent;
	FM_VEC(struct seen) seen;
	struct fm_hash of_guid;
	int64_t seen_due_ms;  /* nobody's time is over before */
	struct sa_view *view; /* looked at last, one reference */
	uint64_t n_looks;
};

struct notices *
notices_new(struct registry *r, const struct sa_out *out)
{
	struct notices *n = calloc(1, sizeof(*n));

	if (n == NULL)
		return NULL;
	n->registry = r;
	n->reports = reports_new(r, out, &n->counts);
	if (n->reports == NULL) {
		free(n);
		return NULL;
	}
	n->seen_due_ms = INT64_MAX;
	for (unsigned i = 0; i < RECENT; i++)
		n->recent[i].at_ms = -REPEAT_MS - 1;
	return n;
}

void
notices_free(struct notices *n)
{
	if (n == NULL)
		return;
	sa_view_put(n->view);
	for (size_t i = n->n_done; i < n->events.n; i++)
		sa_view_put(n->events.item[i].view);
	fm_vec_fini(&n->events);
	reports_free(n->reports);
	fm_vec_fini(&n->seen);
	fm_hash_fini(&n->of_guid);
	free(n);
}

const struct sa_report_counts *
notices_counts(const struct notices *n)
{
	return &n->counts;
}

void
notices_answered(struct notices *n, uint64_t client, uint64_t tid, int64_t now_ms)
{
	reports_answered(n->reports, client, tid, now_ms);
}

/* --------------------------------------------------------------------- events */

/* The same event a moment ago, whatever its toggle? */
static bool
is_repeated(struct notices *n, const struct sa_notice *event, int64_t now_ms)
{
	struct sa_notice plain = *event;
	uint8_t bytes[SA_RECORD_MOST_BYTES] = { 0 };
	uint64_t key;

	plain.n.toggle = false;
	plain.n.toggle_count = 0;
	sa_record_put(sa_record_of(SA_NOTICE), bytes, &plain);
	key = fm_hash_bytes(1, bytes, sizeof(bytes));
	for (unsigned i = 0; i < RECENT; i++)
		if (n->recent[i].key == key && now_ms - n->recent[i].at_ms < REPEAT_MS)
			return true;
	n->recent[n->n_recent % RECENT].key = key;
	n->recent[n->n_recent++ % RECENT].at_ms = now_ms;
	return false;
}

static bool
asks_for(const struct sa_inform_info *i, const struct sa_notice *e)
{
	if (i->is_generic != e->n.generic || (i->type != ALL16 && i->type != e->n.type) ||
	    (i->trap_number != ALL16 && i->trap_number != e->n.trap_number) ||
	    (i->producer_type != ALL_PRODUCERS && i->producer_type != e->n.producer_type))
		return false;
	if (i->gid.prefix != 0 || i->gid.guid != 0)
		return i->gid.prefix == e->issuer.prefix && i->gid.guid == e->issuer.guid;
	return i->lid_begin == ALL16 ||
	    (i->lid_begin <= e->n.issuer_lid && e->n.issuer_lid <= i->lid_end);
}

/* Is the event about a port that the subscriber shares a partition with (of another subnet or
 * unknown: nobody's business but the trusted's), or a group whose P_Key it has? */
static bool
may_know(const struct notices *n, const struct sa_view *v, const struct subscription *s,
    const struct sa_notice *e)
{
	uint32_t who = sa_view_end_of_guid(v, s->client), about = FM_NONE, i;
	struct sa_gid gid = sa_gid_get(e->n.details + DETAILS_GID_AT);
	bool ours = e->n.generic && e->n.producer_type == PRODUCER_MANAGER;

	if (who == FM_NONE)
		return false;
	if (ours && (e->n.trap_number == NOTICE_PORT_IN || e->n.trap_number == NOTICE_PORT_OUT)) {
		about = sa_view_end_of_gid(v, gid);
	} else if (ours &&
	    (e->n.trap_number == NOTICE_GROUP_MADE || e->n.trap_number == NOTICE_GROUP_GONE)) {
		i = groups_find(registry_groups(n->registry), gid);
		return i == UINT32_MAX ||
		    sa_view_shared_pkey(
			v, who, who, groups_record(registry_groups(n->registry), i).pkey) != 0;
	} else {
		about = sa_view_end_of_lid(v, e->n.issuer_lid);
	}
	return about != FM_NONE && (about == who || sa_view_shared_pkey(v, who, about, 0) != 0);
}

/* From the last subscription to the first: one that goes has its place taken by the last, which
 * has been looked at, and knows by the event's number whether it was told. */
static void
go_on(struct notices *n, struct event *e, int64_t now_ms)
{
	if (e->left > registry_n_subscriptions(n->registry))
		e->left = registry_n_subscriptions(n->registry);
	while (e->left > 0 && n->n_at_once++ < NOTICES_AT_ONCE) {
		const struct subscription *s = registry_subscription(n->registry, --e->left);

		if (asks_for(&s->info, &e->e) && may_know(n, e->view, s, &e->e) &&
		    registry_note_told(n->registry, e->left, e->number))
			reports_add(n->reports, s, &e->e, now_ms);
	}
}

static void
work(struct notices *n, int64_t now_ms)
{
	while (n->n_done < n->events.n && n->n_at_once < NOTICES_AT_ONCE) {
		struct event *e = &n->events.item[n->n_done];

		go_on(n, e, now_ms);
		if (e->left > 0)
			break;
		sa_view_put(e->view);
		n->n_done++;
	}
	if (n->n_done == n->events.n) {
		n->events.n = n->n_done = 0;
	} else if (n->n_done > n->events.n / 2) {
		n->events.n -= n->n_done;
		memmove(n->events.item, n->events.item + n->n_done,
		    n->events.n * sizeof(n->events.item[0]));
		n->n_done = 0;
	}
}

static bool
is_of_port(const struct sa_notice *e)
{
	return e->n.generic && e->n.producer_type == PRODUCER_MANAGER &&
	    (e->n.trap_number == NOTICE_PORT_IN || e->n.trap_number == NOTICE_PORT_OUT);
}

void
notices_tell(struct notices *n, struct sa_view *v, const struct sa_notice *event, int64_t now_ms)
{
	size_t waiting = n->events.n - n->n_done;
	struct event e = { .e = *event, .left = registry_n_subscriptions(n->registry) };

	if (is_repeated(n, event, now_ms)) {
		n->counts.repeated++;
		return;
	}
	n->counts.events++;
	if (e.left == 0)
		return;
	if (e.e.issuer.guid == 0 && v->self != FM_NONE)
		e.e.issuer = (struct sa_gid){ v->set.gid_prefix, v->end[v->self].guid };
	e.number = ++n->last_event;
	e.view = v;
	if (waiting >= (is_of_port(event) ? EVENTS_MAX : EVENTS_MAX_OTHERS) ||
	    !fm_vec_push(&n->events, e)) {
		n->counts.untold++;
		return;
	}
	sa_view_get(v);
	work(n, now_ms);
}

/* An event of our own about a GID. */
static void
tell_gid(struct notices *n, struct sa_view *v, uint16_t number, struct sa_gid gid, int64_t now_ms)
{
	struct sa_notice e = { .n = { .generic = true,
				   .type = TYPE_MANAGEMENT,
				   .producer_type = PRODUCER_MANAGER,
				   .trap_number = number,
				   .issuer_lid = v->self == FM_NONE ? 0 : v->end[v->self].lid } };

	sa_gid_put(e.n.details + DETAILS_GID_AT, gid);
	notices_tell(n, v, &e, now_ms);
}

void
notices_group(struct notices *n, struct sa_view *v, const struct group_event *e, int64_t now_ms)
{
	if (e->kind == GROUP_BORN || e->kind == GROUP_DEAD)
		tell_gid(n, v, e->kind == GROUP_BORN ? NOTICE_GROUP_MADE : NOTICE_GROUP_GONE,
		    e->mgid, now_ms);
}

/* ---------------------------------------------------------------------- ports */

static struct seen *
get_seen(struct notices *n, uint64_t guid, bool *is_new)
{
	uint32_t i = fm_hash_find(&n->of_guid, guid);
	struct seen fresh = { .guid = guid };

	*is_new = i == FM_HASH_NONE;
	if (!*is_new)
		return &n->seen.item[i];
	if (!fm_vec_push(&n->seen, fresh))
		return NULL;
	if (fm_hash_put(&n->of_guid, guid, (uint32_t)n->seen.n - 1))
		return &n->seen.item[n->seen.n - 1];
	n->seen.n--;
	return NULL;
}

static void
set_gone(struct notices *n, struct seen *s, int64_t now_ms)
{
	s->gone_ms = now_ms;
	if (now_ms + AWAY_MS < n->seen_due_ms)
		n->seen_due_ms = now_ms + AWAY_MS;
}

/* Members of before a restart that are not there: they have their time, too. */
static void
expect_members(struct notices *n, int64_t now_ms)
{
	const struct groups *g = registry_groups(n->registry);
	bool is_new;

	for (uint32_t i = 0; i < groups_count(g); i++)
		for (uint32_t k = 0; k < groups_n_members(g, i); k++) {
			uint64_t port, requester;
			struct seen *s;

			groups_member(g, i, k, &port, &requester);
			s = get_seen(n, port, &is_new);
			if (s != NULL && is_new)
				set_gone(n, s, now_ms);
		}
}

static struct sa_gid
gid_of(const struct sa_view *v, uint64_t guid)
{
	return (struct sa_gid){ v->set.gid_prefix, guid };
}

void
notices_look(struct notices *n, struct sa_view *v, int64_t now_ms)
{
	struct sa_view *was = n->view;
	bool is_new;

	if (v == was || v == NULL)
		return;
	n->n_looks++;
	for (uint32_t i = 0; i < v->n_ends; i++) {
		struct seen *s = get_seen(n, v->end[i].guid, &is_new);

		if (s == NULL)
			continue;
		s->look = n->n_looks;
		if (was != NULL && (is_new || s->gone_ms != 0))
			tell_gid(n, v, NOTICE_PORT_IN, gid_of(v, s->guid), now_ms);
		s->gone_ms = 0;
	}
	for (size_t i = 0; i < n->seen.n; i++) {
		struct seen *s = &n->seen.item[i];

		if (s->look == n->n_looks || s->gone_ms != 0)
			continue;
		set_gone(n, s, now_ms);
		registry_port_is_away(n->registry, s->guid);
		if (was != NULL) /* who shared a partition with it */
			tell_gid(n, was, NOTICE_PORT_OUT, gid_of(was, s->guid), now_ms);
	}
	if (was == NULL)
		expect_members(n, now_ms);
	sa_view_put(was);
	n->view = sa_view_get(v);
}

static void
tick_seen(struct notices *n, int64_t now_ms)
{
	if (now_ms < n->seen_due_ms)
		return;
	n->seen_due_ms = INT64_MAX;
	for (size_t i = n->seen.n; i-- > 0;) {
		struct seen *s = &n->seen.item[i];
		uint64_t guid = s->guid;

		if (s->gone_ms == 0)
			continue;
		if (s->gone_ms + AWAY_MS > now_ms) {
			set_gone(n, s, s->gone_ms);
			continue;
		}
		fm_hash_remove(&n->of_guid, guid);
		*s = n->seen.item[--n->seen.n];
		if (i < n->seen.n)
			fm_hash_put(&n->of_guid, s->guid, (uint32_t)i); /* in its place */
		registry_drop_port(n->registry, guid);
	}
}

int64_t
notices_tick(struct notices *n, int64_t now_ms)
{
	int64_t due_ms;

	n->n_at_once = 0;
	due_ms = reports_tick(n->reports, now_ms);
	work(n, now_ms);
	tick_seen(n, now_ms);
	n->counts.subscriptions = registry_n_subscriptions(n->registry);
	if (n->events.n > 0)
		return now_ms;
	return due_ms < n->seen_due_ms ? due_ms : n->seen_due_ms;
}
