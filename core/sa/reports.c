/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/sa/reports.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/speck32.h"

#define NONE UINT32_MAX
#define LATE_MS 1000
#define BACKOFF_MOST 4
#define SILENT_MS 31000 /* 1 + 2 + 4 + 8 + 16 s */
#define TRIES_MOST 10	/* of a Report to who answers others */
#define GRID_MS 64	/* clients are looked at together */
#define GSI_QKEY 0x80010000u

enum report_state { WAITS, SENT, LATE };

struct report {
	uint32_t next; /* in the line; of free ones */
	uint32_t tid, subscription;
	uint8_t state, n_tries;
	int64_t due_ms, first_ms; /* sent first */
	struct mad_addr to;
	uint8_t bytes[WIRE_MAD_BYTES];
};

struct client {
	uint64_t guid;
	uint32_t first, last, waits; /* waits: the first that does; NONE */
	uint32_t n, n_sent, n_late;
	uint32_t next; /* whose turn it is; of free ones */
	int64_t due_ms;
	int64_t heard_ms;  /* its last answer */
	unsigned n_silent; /* so many times something was repeated since */
	bool has_turn;
};

struct reports {
	struct registry *registry;
	struct sa_out out;
	struct sa_report_counts *counts;
	struct fm_log_bucket bucket;
	FM_VEC(struct report) all;
	FM_VEC(struct client) clients;
	uint32_t free_report, free_client;
	uint32_t turn, last_turn; /* clients that may send; NONE */
	struct fm_hash by_tid, by_guid;
	int64_t due_ms; /* no client is due before */
	uint32_t n, n_at_once, n_numbered;
	struct fm_speck32 cipher; /* number of a Report -> its TID, which nobody else can tell */
};

struct reports *
reports_new(struct registry *r, const struct sa_out *out, struct sa_report_counts *counts)
{
	struct reports *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->registry = r;
	s->out = *out;
	s->counts = counts;
	s->bucket = (struct fm_log_bucket){ .burst = 10, .every_ms = 60000 };
	s->free_report = s->free_client = s->turn = s->last_turn = NONE;
	s->due_ms = INT64_MAX;
	if (!fm_speck32_init(&s->cipher, 0)) {
		free(s);
		return NULL;
	}
	return s;
}

void
reports_free(struct reports *r)
{
	if (r == NULL)
		return;
	fm_vec_fini(&r->all);
	fm_vec_fini(&r->clients);
	fm_hash_fini(&r->by_tid);
	fm_hash_fini(&r->by_guid);
	free(r);
}

/* --------------------------------------------------------------- the line */

static uint32_t
client_of(struct reports *r, uint64_t guid)
{
	uint32_t i = fm_hash_find(&r->by_guid, guid);
	struct client fresh = { .guid = guid,
		.first = NONE,
		.last = NONE,
		.waits = NONE,
		.due_ms = INT64_MAX,
		.heard_ms = INT64_MIN };

	if (i != FM_HASH_NONE)
		return i;
	i = r->free_client != NONE ? r->free_client : (uint32_t)r->clients.n;
	if (!fm_hash_put(&r->by_guid, guid, i))
		return NONE;
	if (i < r->clients.n) {
		r->free_client = r->clients.item[i].next;
		r->clients.item[i] = fresh;
	} else if (!fm_vec_push(&r->clients, fresh)) {
		fm_hash_remove(&r->by_guid, guid);
		return NONE;
	}
	return i;
}

/* Its line is empty; one whose turn comes is let go then. */
static void
let_go(struct reports *r, uint32_t i)
{
	struct client *c = &r->clients.item[i];

	if (c->n > 0 || c->has_turn)
		return;
	fm_hash_remove(&r->by_guid, c->guid);
	c->next = r->free_client;
	r->free_client = i;
}

static uint32_t
new_report(struct reports *r, uint32_t tid)
{
	uint32_t i = r->free_report != NONE ? r->free_report : (uint32_t)r->all.n;
	struct report fresh = { .next = NONE, .tid = tid };

	if (!fm_hash_put(&r->by_tid, tid, i))
		return NONE;
	if (i < r->all.n) {
		r->free_report = r->all.item[i].next;
		r->all.item[i] = fresh;
	} else if (!fm_vec_push(&r->all, fresh)) {
		fm_hash_remove(&r->by_tid, tid);
		return NONE;
	}
	return i;
}

/* Out of its line, behind `before` (NONE: it is the first). */
static void
take_out(struct reports *r, struct client *c, uint32_t before, uint32_t i)
{
	struct report *one = &r->all.item[i];

	if (before == NONE)
		c->first = one->next;
	else
		r->all.item[before].next = one->next;
	if (c->last == i)
		c->last = before;
	if (c->waits == i)
		c->waits = one->next;
	c->n--;
	c->n_sent -= one->state == SENT;
	c->n_late -= one->state == LATE;
	fm_hash_remove(&r->by_tid, one->tid);
	one->next = r->free_report;
	r->free_report = i;
	r->counts->waiting = --r->n;
}

/* ----------------------------------------------------------------- sending */

static bool
may_send(const struct client *c)
{
	return c->waits != NONE && c->n_sent + c->n_late < REPORTS_OF_ONE &&
	    (c->n_silent == 0 || c->n_sent == 0);
}

static void
give_turn(struct reports *r, uint32_t i)
{
	struct client *c = &r->clients.item[i];

	if (c->has_turn || !may_send(c))
		return;
	c->has_turn = true;
	c->next = NONE;
	if (r->turn == NONE)
		r->turn = i;
	else
		r->clients.item[r->last_turn].next = i;
	r->last_turn = i;
}

static void
send(struct reports *r, struct client *c, struct report *one, int64_t now_ms)
{
	unsigned n = c->n_silent > 0 ? c->n_silent : one->n_tries;

	one->due_ms = now_ms + ((int64_t)LATE_MS << (n < BACKOFF_MOST ? n : BACKOFF_MOST));
	one->n_tries++;
	if (one->due_ms < c->due_ms)
		c->due_ms = one->due_ms;
	if (c->due_ms < r->due_ms)
		r->due_ms = (c->due_ms + GRID_MS - 1) / GRID_MS * GRID_MS;
	r->n_at_once++;
	r->counts->reports++;
	r->counts->retries += one->n_tries > 1;
	r->out.send(r->out.arg, &one->to, one->bytes, sizeof(one->bytes));
}

/* One of each whose turn it is, as long as there are more to be sent at once. */
static void
take_turns(struct reports *r, int64_t now_ms)
{
	while (r->turn != NONE && r->n_at_once < REPORTS_AT_ONCE) {
		uint32_t i = r->turn;
		struct client *c = &r->clients.item[i];

		r->turn = c->next;
		c->has_turn = false;
		if (may_send(c)) {
			struct report *one = &r->all.item[c->waits];

			c->waits = one->next;
			c->n_sent++;
			one->state = SENT;
			one->first_ms = now_ms;
			send(r, c, one, now_ms);
		}
		give_turn(r, i);
		let_go(r, i);
	}
}

/* It has a part (dynamic thresholds, Choudhury and Hahne): the first takes half at most, the next
 * half of the rest. */
static bool
may_have(const struct reports *r, const struct client *c)
{
	return r->n < REPORTS_MAX && c->n < REPORTS_MAX - r->n;
}

static void
write_report(struct report *one, const struct subscription *s, const struct sa_notice *event)
{
	const struct sa_record *rec = sa_record_of(SA_NOTICE);
	struct sa_header h = { .base_version = 1,
		.mgmt_class = WIRE_CLASS_SA,
		.class_version = SA_CLASS_VERSION,
		.method = SA_REPORT,
		.tid = one->tid,
		.attr = SA_NOTICE,
		.attr_words = sa_record_words(rec) };

	one->subscription = s->id;
	one->to = s->to;
	one->to.qkey = GSI_QKEY;
	sa_header_put(one->bytes, &h);
	sa_record_put(rec, one->bytes + SA_DATA_AT, event);
}

void
reports_add(
    struct reports *r, const struct subscription *s, const struct sa_notice *event, int64_t now_ms)
{
	uint32_t who = client_of(r, s->client), i = NONE;
	struct client *c = who != NONE ? &r->clients.item[who] : NULL;

	if (c != NULL && may_have(r, c))
		i = new_report(r, fm_speck32_encrypt(&r->cipher, ++r->n_numbered));
	if (i == NONE) {
		r->counts->untold++;
		if (c != NULL)
			let_go(r, who);
		return;
	}
	write_report(&r->all.item[i], s, event);
	if (c->last == NONE)
		c->first = i;
	else
		r->all.item[c->last].next = i;
	c->last = i;
	c->waits = c->waits == NONE ? i : c->waits;
	c->n++;
	r->counts->waiting = ++r->n;
	give_turn(r, who);
	take_turns(r, now_ms);
}

/* ----------------------------------------------------------------- answers */

void
reports_answered(struct reports *r, uint64_t client, uint64_t tid, int64_t now_ms)
{
	uint32_t i = fm_hash_find(&r->by_tid, tid & UINT32_MAX);
	uint32_t who = fm_hash_find(&r->by_guid, client), before = NONE, at;
	struct client *c;

	if (i == FM_HASH_NONE || who == FM_HASH_NONE || r->all.item[i].state == WAITS)
		return;
	c = &r->clients.item[who];
	for (at = c->first; at != c->waits && at != i; at = r->all.item[at].next)
		before = at;
	if (at != i)
		return; /* another's */
	r->counts->answered++;
	registry_note_heard(r->registry, r->all.item[i].subscription, now_ms);
	take_out(r, c, before, i);
	if (c->n_silent > 0) /* what was held up goes on */
		c->due_ms = r->due_ms = now_ms;
	c->n_silent = 0;
	c->heard_ms = now_ms;
	give_turn(r, who);
	let_go(r, who);
	take_turns(r, now_ms);
}

/* ---------------------------------------------------------------- nobody there */

static bool
drop(struct reports *r, uint32_t subscription)
{
	uint32_t before = registry_n_subscriptions(r->registry);

	registry_drop_subscription(r->registry, subscription);
	return registry_n_subscriptions(r->registry) < before;
}

/* What does not answer, though it has been tried for long enough. */
enum deaf { DEAF_NOBODY, DEAF_REPORT, DEAF_SUBSCRIPTION, DEAF_CLIENT };

/* Nothing has been heard, since then or since it was sent, for too long. */
static bool
is_silent(int64_t heard_ms, const struct report *late, int64_t now_ms)
{
	return now_ms - (heard_ms > late->first_ms ? heard_ms : late->first_ms) >= SILENT_MS;
}

static enum deaf
who_is_deaf(
    const struct reports *r, const struct client *c, const struct report *late, int64_t now_ms)
{
	if (is_silent(c->heard_ms, late, now_ms))
		return DEAF_CLIENT;
	if (is_silent(registry_heard(r->registry, late->subscription), late, now_ms))
		return DEAF_SUBSCRIPTION;
	return late->n_tries >= TRIES_MOST ? DEAF_REPORT : DEAF_NOBODY;
}

static void
give_up(struct reports *r, struct client *c, const struct report *in_vain, enum deaf who)
{
	uint32_t tid = in_vain->tid, subscription = in_vain->subscription;
	uint32_t n = 0, before = NONE, next;

	for (uint32_t i = c->first; i != NONE; i = next) {
		const struct report *one = &r->all.item[i];

		next = one->next;
		if ((who == DEAF_REPORT && one->tid != tid) ||
		    (who == DEAF_SUBSCRIPTION && one->subscription != subscription)) {
			before = i;
			continue;
		}
		n += who != DEAF_REPORT && drop(r, one->subscription);
		take_out(r, c, before, i);
	}
	r->counts->dropped += n;
	r->counts->untold += who == DEAF_REPORT;
	if (who != DEAF_REPORT)
		fm_log_rl(&r->bucket, FM_LOG_NOTICE, "sa",
		    "subscriber 0x%016" PRIx64 " does not answer Reports%s: %" PRIu32
		    " of its subscriptions dropped",
		    c->guid, who == DEAF_CLIENT ? "" : ", though it does others", n);
}

/* The first of its Reports that is due, of those sent and late. */
static struct report *
next_due(const struct reports *r, struct client *c, int64_t now_ms)
{
	for (uint32_t i = c->first; i != c->waits; i = r->all.item[i].next)
		if (r->all.item[i].due_ms <= now_ms)
			return &r->all.item[i];
	return NULL;
}

static void
look_at(struct reports *r, uint32_t who, int64_t now_ms)
{
	struct client *c = &r->clients.item[who];
	struct report *one;
	bool repeated = false;

	c->due_ms = INT64_MAX;
	while ((one = next_due(r, c, now_ms)) != NULL) {
		enum deaf deaf = who_is_deaf(r, c, one, now_ms);

		c->n_sent -= one->state == SENT;
		c->n_late += one->state == SENT;
		one->state = LATE;
		if (deaf != DEAF_NOBODY) {
			give_up(r, c, one, deaf);
		} else if (c->n_silent > 0 && (repeated || one != &r->all.item[c->first])) {
			one->due_ms = now_ms + LATE_MS;
		} else {
			c->n_silent++;
			send(r, c, one, now_ms);
			repeated = true;
		}
	}
	for (uint32_t i = c->first; i != c->waits; i = r->all.item[i].next)
		if (r->all.item[i].due_ms < c->due_ms)
			c->due_ms = r->all.item[i].due_ms;
	give_turn(r, who);
	let_go(r, who);
}

static void
look_at_all(struct reports *r, int64_t now_ms)
{
	int64_t due_ms = INT64_MAX;

	for (uint32_t i = 0; i < r->clients.n; i++) {
		struct client *c = &r->clients.item[i];

		if (c->n > 0 && c->due_ms <= now_ms)
			look_at(r, i, now_ms);
		if (c->n > 0 && c->due_ms < due_ms)
			due_ms = c->due_ms;
	}
	r->due_ms = due_ms == INT64_MAX ? due_ms : (due_ms + GRID_MS - 1) / GRID_MS * GRID_MS;
}

int64_t
reports_tick(struct reports *r, int64_t now_ms)
{
	r->n_at_once = 0;
	if (now_ms >= r->due_ms)
		look_at_all(r, now_ms);
	take_turns(r, now_ms);
	return r->turn != NONE ? now_ms : r->due_ms;
}
