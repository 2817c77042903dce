/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events to Reports, Reports until they are answered.
 */
#include "core/sa/notices.h"

#include <stdlib.h>
#include <string.h>

#include "lib/log.h"

#define REPORT_MS 1000 /* until it is repeated */
#define REPORT_TRIES 4
#define REPORTS_AT_ONCE 256 /* are sent, until requests have had their turn */
#define PROMPT 16	    /* who owes no more answers is told at once all the same */
#define REPORTS_MAX 65536   /* unanswered */
#define REPEAT_MS 5000	    /* an event like one of so long ago is the same */
#define RECENT 256
#define AWAY_MS 60000 /* a port gone for so long is out of the registry */

#define TYPE_MANAGEMENT 3
#define PRODUCER_MANAGER 4
#define DETAILS_GID_AT 6
#define ALL16 0xffff
#define ALL_PRODUCERS 0xffffff
#define GSI_QKEY 0x80010000u

struct report {
	uint32_t tid, subscription;
	unsigned n_tries;
	int64_t due_ms;
	uint64_t client;
	struct mad_addr to;
	uint8_t bytes[WIRE_MAD_BYTES];
};

struct seen {
	uint64_t guid;
	uint64_t look;	 /* the last in which it was there */
	int64_t gone_ms; /* since; 0: it is there */
};

struct notices {
	struct registry *registry;
	struct sa_out out;
	struct notice_counts counts;
	struct fm_log_bucket drop_bucket;
	FM_VEC(struct report) reports;
	struct fm_hash by_tid;
	struct fm_hash of_client; /* port GUID -> Reports that it has not answered */
	int64_t reports_due_ms;	  /* none is due before */
	unsigned n_at_once;	  /* sent since the last tick */
	uint32_t last_tid;
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
	n->out = *out;
	n->reports_due_ms = n->seen_due_ms = INT64_MAX;
	n->drop_bucket = (struct fm_log_bucket){ .burst = 10, .every_ms = 60000 };
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
	fm_vec_fini(&n->reports);
	fm_hash_fini(&n->by_tid);
	fm_hash_fini(&n->of_client);
	fm_vec_fini(&n->seen);
	fm_hash_fini(&n->of_guid);
	free(n);
}

const struct notice_counts *
notices_counts(const struct notices *n)
{
	return &n->counts;
}

/* -------------------------------------------------------------------- reports */

static uint32_t
n_waiting_of(const struct notices *n, uint64_t client)
{
	uint32_t held = fm_hash_find(&n->of_client, client);

	return held == FM_HASH_NONE ? 0 : held;
}

/* It has a part (dynamic thresholds, Choudhury and Hahne): the first takes half at most, the next
 * half of the rest. */
static bool
may_wait(const struct notices *n, uint64_t client)
{
	return n->reports.n < REPORTS_MAX && n_waiting_of(n, client) < REPORTS_MAX - n->reports.n;
}

static void
send_report(struct notices *n, struct report *r, int64_t now_ms)
{
	bool now = n->n_at_once < REPORTS_AT_ONCE || n_waiting_of(n, r->client) <= PROMPT;

	r->due_ms = now ? now_ms + REPORT_MS : now_ms;
	if (r->due_ms < n->reports_due_ms)
		n->reports_due_ms = r->due_ms;
	if (!now)
		return; /* the next tick goes on */
	n->n_at_once++;
	r->n_tries++;
	n->counts.reports++;
	n->counts.retries += r->n_tries > 1;
	n->out.send(n->out.arg, &r->to, r->bytes, sizeof(r->bytes));
}

static void
forget_report(struct notices *n, size_t i)
{
	uint64_t client = n->reports.item[i].client;
	uint32_t left = n_waiting_of(n, client) - 1;

	if (left == 0)
		fm_hash_remove(&n->of_client, client);
	else
		fm_hash_put(&n->of_client, client, left); /* in its place */
	fm_hash_remove(&n->by_tid, n->reports.item[i].tid);
	n->reports.item[i] = n->reports.item[--n->reports.n];
	n->counts.waiting = (uint32_t)n->reports.n;
	if (i < n->reports.n)
		fm_hash_put(&n->by_tid, n->reports.item[i].tid, (uint32_t)i); /* in its place */
}

static void
report(
    struct notices *n, const struct subscription *s, const struct sa_notice *event, int64_t now_ms)
{
	const struct sa_record *rec = sa_record_of(SA_NOTICE);
	struct sa_header h = { .base_version = 1,
		.mgmt_class = WIRE_CLASS_SA,
		.class_version = SA_CLASS_VERSION,
		.method = SA_REPORT,
		.attr = SA_NOTICE };
	struct report r = {
		.tid = ++n->last_tid, .subscription = s->id, .client = s->client, .to = s->to
	};

	if (!may_wait(n, s->client)) {
		n->counts.untold++;
		return;
	}
	h.tid = r.tid;
	h.attr_words = sa_record_words(rec);
	sa_header_put(r.bytes, &h);
	sa_record_put(rec, r.bytes + SA_DATA_AT, event);
	r.to.qkey = GSI_QKEY;
	if (!fm_vec_push(&n->reports, r))
		return;
	if (!fm_hash_put(&n->of_client, r.client, n_waiting_of(n, r.client) + 1)) {
		n->reports.n--;
		return;
	}
	if (!fm_hash_put(&n->by_tid, r.tid, (uint32_t)n->reports.n - 1)) {
		forget_report(n, n->reports.n - 1);
		return;
	}
	n->counts.waiting = (uint32_t)n->reports.n;
	send_report(n, &n->reports.item[n->reports.n - 1], now_ms);
}

void
notices_answered(struct notices *n, uint64_t tid)
{
	uint32_t i = fm_hash_find(&n->by_tid, tid & UINT32_MAX); /* the rest is the kernel's */

	if (i == FM_HASH_NONE)
		return;
	n->counts.answered++;
	forget_report(n, i);
}

/* Nobody there. */
static void
give_up(struct notices *n, uint32_t subscription, struct fm_hash *dead)
{
	if (fm_hash_find(dead, subscription) != FM_HASH_NONE)
		return;
	n->counts.dropped++;
	fm_log_rl(&n->drop_bucket, FM_LOG_INFO, "sa",
	    "a subscriber does not answer reports: its subscription is dropped");
	registry_drop_subscription(n->registry, subscription);
	fm_hash_put(dead, subscription, 1); /* without memory its other Reports go one by one */
}

/* With a subscription go all Reports to the same. */
static void
forget_dead(struct notices *n, const struct fm_hash *dead)
{
	for (size_t i = n->reports.n; i-- > 0 && dead->n > 0;)
		if (fm_hash_find(dead, n->reports.item[i].subscription) != FM_HASH_NONE)
			forget_report(n, i);
}

static void
tick_reports(struct notices *n, int64_t now_ms)
{
	struct fm_hash dead = { 0 };

	n->n_at_once = 0;
	if (now_ms < n->reports_due_ms)
		return;
	n->reports_due_ms = INT64_MAX;
	for (size_t i = n->reports.n; i-- > 0;) {
		struct report *r = &n->reports.item[i];

		if (r->due_ms > now_ms) {
			n->reports_due_ms =
			    r->due_ms < n->reports_due_ms ? r->due_ms : n->reports_due_ms;
		} else if (r->n_tries >= REPORT_TRIES) {
			give_up(n, r->subscription, &dead);
			forget_report(n, i);
		} else if (fm_hash_find(&dead, r->subscription) == FM_HASH_NONE) {
			send_report(n, r, now_ms);
		}
	}
	forget_dead(n, &dead);
	fm_hash_fini(&dead);
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

void
notices_tell(
    struct notices *n, const struct sa_view *v, const struct sa_notice *event, int64_t now_ms)
{
	struct sa_notice e = *event;

	if (is_repeated(n, &e, now_ms)) {
		n->counts.repeated++;
		return;
	}
	n->counts.events++;
	if (e.issuer.guid == 0 && v->self != FM_NONE)
		e.issuer = (struct sa_gid){ v->set.gid_prefix, v->end[v->self].guid };
	for (uint32_t i = 0; i < registry_n_subscriptions(n->registry); i++) {
		const struct subscription *s = registry_subscription(n->registry, i);

		if (asks_for(&s->info, &e) && may_know(n, v, s, &e))
			report(n, s, &e, now_ms);
	}
}

/* An event of our own about a GID. */
static void
tell_gid(
    struct notices *n, const struct sa_view *v, uint16_t number, struct sa_gid gid, int64_t now_ms)
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
notices_group(
    struct notices *n, const struct sa_view *v, const struct group_event *e, int64_t now_ms)
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
	tick_reports(n, now_ms);
	tick_seen(n, now_ms);
	return n->reports_due_ms < n->seen_due_ms ? n->reports_due_ms : n->seen_due_ms;
}
