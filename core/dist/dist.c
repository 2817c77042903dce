/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/dist/dist.c - a thread for each place of publication.
 *
 * The thread has the newest view that it has not published yet; what came between is passed over,
 * so a slow place costs epochs, never time of the loop.  A failure closes the place; it is opened
 * again after a while that doubles, and what it has is loaded anew.
 *
 * A place that never answers (a disk that is gone, a server that stands still) holds its thread,
 * and nothing else: at the end such a thread is left to the end of the process, with what it has.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/dist/dist.h"
#include "core/dist/view_blobs.h"
#include "core/events/tell.h"
#include "lib/log.h"
#include "lib/thread.h"

#define LOOK_EVERY_MS 5000 /* at the file of addresses, at what is published, at who follows */
#define RETRY_MS 500
#define RETRY_MOST_MS 30000
#define STOP_MS 2000 /* for what is being written */

enum role { NOBODY, STANDBY, MASTER };
enum { WHERE, PEER, AUTH_FILE, ADDRESSES, PUBLISHER_STRINGS };

struct publisher {
	const struct place_ops *ops;
	struct place_at at;
	char *own[PUBLISHER_STRINGS]; /* what `at` and addresses_path are made of */
	const char *addresses_path;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake, ended;
	/* under the lock */
	struct sa_view *next;	       /* a reference, NULL: nothing is to be published */
	struct ip_claims *next_claims; /* a reference */
	bool new_claims;
	enum role role;
	bool is_new, stop; /* is_new: in its role, as MASTER or STANDBY */
	bool has_ended;
	struct dist_status status;
	FM_VEC(struct follower) shown;	  /* as the last look left the followers */
	FM_VEC(struct contest) contested; /* as the last publication left them */
	/* of the thread */
	void *place; /* NULL: closed */
	struct published told;
	struct sa_view *last; /* a reference: what has been put, NULL */
	struct view_beside beside;
	uint64_t term;		  /* ours; 0: none taken yet */
	struct place_epoch known; /* that we have published, or found when we took our term */
	uint32_t retry_ms;	  /* 0: nothing has failed */
	uint64_t failed;	  /* the event that told of it; 0: none */
	struct followers followers;
	int64_t looked_ms;     /* at them, CLOCK_MONOTONIC */
	bool fenced;	       /* another has published since */
	struct claimed judged; /* what has been told of contests */
};

struct dist {
	unsigned n;
	struct publisher *publisher[DIST_PLACES];
};

static double
now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int64_t
now_ms(void)
{
	return (int64_t)(now_s() * 1000);
}

static void
forget_place(struct publisher *p)
{
	p->ops->close(p->place);
	p->place = NULL;
	sa_view_put(p->last);
	p->last = NULL;
}

/* Told once when it begins to fail, and once when it works again. */
static void
note_failure(struct publisher *p, int rc, const struct fm_error *err)
{
	uint64_t n = 0;

	if (rc == FM_E_CANCELLED)
		n = events_add(EVENT_NOT_PUBLISHED, FM_LOG_ERR, "dist", NULL,
		    "%s; nothing is published until this SM becomes master anew (two masters "
		    "that publish to one place?)",
		    err->msg);
	else if (p->retry_ms == 0)
		n = events_add(EVENT_NOT_PUBLISHED, FM_LOG_WARN, "dist", NULL,
		    "%s; it is tried again", err->msg);
	if (p->failed == 0)
		p->failed = n;
	forget_place(p);
	p->fenced = rc == FM_E_CANCELLED;
	p->retry_ms = p->retry_ms == 0	      ? RETRY_MS
	    : p->retry_ms * 2 > RETRY_MOST_MS ? RETRY_MOST_MS
					      : p->retry_ms * 2;
	pthread_mutex_lock(&p->lock);
	p->status.n_failures++;
	snprintf(p->status.error, sizeof(p->status.error), "%.*s", (int)sizeof(p->status.error) - 1,
	    err->msg);
	pthread_mutex_unlock(&p->lock);
}

static void
note_well(struct publisher *p)
{
	event_end(p->failed, EVENT_NOT_PUBLISHED, "dist", "%s is well again", p->at.where);
	p->failed = 0;
	p->retry_ms = 0;
	pthread_mutex_lock(&p->lock);
	p->status.error[0] = '\0';
	pthread_mutex_unlock(&p->lock);
}

static void
note_success(struct publisher *p, bool told, double seconds)
{
	if (p->retry_ms != 0)
		log_notice("dist", "%s is published to again", p->at.where);
	note_well(p);
	pthread_mutex_lock(&p->lock);
	p->status.term = p->told.at.term;
	p->status.epoch = p->told.at.epoch;
	p->status.n_commits += told;
	p->status.n_blobs = p->told.n_blobs;
	p->status.n_patches = p->told.n_patches;
	p->status.n_bytes = p->told.n_bytes;
	if (told)
		p->status.last_s = seconds;
	pthread_mutex_unlock(&p->lock);
	if (told)
		log_debug("dist", "%s: term %" PRIu64 ", epoch %" PRIu64 " in %.1f ms", p->at.where,
		    p->told.at.term, p->told.at.epoch, seconds * 1000);
}

static int
open_place(struct publisher *p, struct fm_error *err)
{
	int rc;

	if (p->place != NULL)
		return 0;
	rc = p->ops->open(&p->at, &p->place, err);
	if (rc == 0 && p->ops->lead != NULL)
		rc = p->ops->lead(p->place, p->term, err);
	return rc == 0 ? pub_load(&p->told, p->place, err) : rc;
}

/* The time in ms, so that no two SMs take the same, and followers know epochs of a place that was
 * emptied from all that have been there. */
static uint64_t
term_behind(uint64_t before)
{
	struct timespec t;
	uint64_t now;

	clock_gettime(CLOCK_REALTIME, &t);
	now = (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
	return now > before ? now : before + 1;
}

/* A new master takes a later term, and so does who finds another epoch than its own. */
static int
take_term(struct publisher *p, struct fm_error *err)
{
	const struct place_epoch *at = &p->told.at;

	if (p->term == 0)
		p->term = term_behind(at->term);
	else if (at->term > p->term)
		return fm_fail(err, FM_E_CANCELLED, "%s: another SM has published term %" PRIu64,
		    p->at.where, at->term);
	else if (at->term != p->known.term || at->epoch != p->known.epoch)
		p->term = term_behind(p->term);
	p->known = *at;
	return 0;
}

/* What is contested is told once, by one of several publishers. */
static void
share_contests(struct publisher *p)
{
	struct claimed *now = &p->beside.claimed;

	if (p->beside.claims == NULL)
		return;
	if (!p->beside.addresses.quiet)
		claimed_tell(now, &p->judged);
	pthread_mutex_lock(&p->lock);
	p->contested.n = 0;
	fm_vec_append(&p->contested, now->contest.item, now->contest.n);
	p->status.n_registered = (uint32_t)now->item.n;
	p->status.n_contested = now->n_contests;
	pthread_mutex_unlock(&p->lock);
	claimed_fini(&p->judged);
	p->judged = *now;
	memset(now, 0, sizeof(*now));
}

static bool
publish(struct publisher *p, struct sa_view *v)
{
	struct fm_error err = { 0 };
	double begun = now_s();
	bool told = false;
	int rc = open_place(p, &err);

	if (rc == 0)
		rc = take_term(p, &err);
	if (rc == 0) {
		pub_start(&p->told, p->term);
		rc = view_blobs_put(&p->told, v, p->last, &p->beside, &err);
	}
	if (rc == 0)
		rc = pub_commit(&p->told, &told, &err);
	if (rc != 0) {
		note_failure(p, rc, &err);
		return false;
	}
	sa_view_put(p->last);
	p->last = sa_view_get(v);
	p->known = p->told.at;
	share_contests(p);
	note_success(p, told, now_s() - begun);
	return true;
}

/* ------------------------------------------------------------------ thread */

static struct timespec
time_in(uint32_t ms)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += ms / 1000;
	t.tv_nsec += (long)(ms % 1000) * 1000000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	return t;
}

static void
wait_for(struct publisher *p, uint32_t ms)
{
	struct timespec until = time_in(ms);

	pthread_cond_timedwait(&p->wake, &p->lock, &until);
}

/* Under the lock: until there is something to do, or time to look around or to try again. */
static void
await_work(struct publisher *p, bool has_work)
{
	if (p->stop || p->is_new || (p->new_claims && p->role == MASTER && p->retry_ms == 0))
		return;
	if ((has_work || p->role == STANDBY) && p->retry_ms != 0 && !p->fenced)
		wait_for(p, p->retry_ms);
	else if (p->role == NOBODY && p->next == NULL)
		pthread_cond_wait(&p->wake, &p->lock);
	else if (p->next == NULL)
		wait_for(p, LOOK_EVERY_MS);
}

/* Redis may have been started anew, with nothing in it. */
static bool
is_still_there(struct publisher *p)
{
	struct fm_error err = { 0 };
	int rc = p->place != NULL ? p->ops->check(p->place, p->told.at, &err) : 0;

	if (rc != 0)
		note_failure(p, rc, &err);
	return rc == 0;
}

static void
count_follower(void *arg, const char *name)
{
	followers_count(arg, name);
}

static void
note_relay(void *arg, const char *name)
{
	followers_note(arg, name);
}

/* Told once when it begins to be unknown; err: why, NULL: it is known. */
static void
share_followers(struct publisher *p, bool seen, const struct fm_error *err)
{
	const struct followers *f = &p->followers;
	bool was_known;

	pthread_mutex_lock(&p->lock);
	was_known = p->status.followers_unknown[0] == '\0';
	snprintf(p->status.followers_unknown, sizeof(p->status.followers_unknown), "%.*s",
	    (int)sizeof(p->status.followers_unknown) - 1, err != NULL ? err->msg : "");
	p->shown.n = 0;
	fm_vec_append(&p->shown, f->item.item, seen ? f->item.n : 0);
	pthread_mutex_unlock(&p->lock);
	if (was_known && err != NULL)
		log_warn("dist", "it is not known who follows %s: %s", p->at.where, err->msg);
}

/* Those that are missing may have gone over to the peer's place: what is published reaches them
 * there as long as that is a copy.  Where it cannot be asked they are missing as far as anybody
 * knows. */
static void
look_at_followers(struct publisher *p)
{
	struct fm_error err = { 0 }, of_peer = { 0 };
	int64_t now = now_ms();
	bool seen;
	int rc;

	if (p->ops->followers == NULL || p->place == NULL || now - p->looked_ms < LOOK_EVERY_MS)
		return;
	p->looked_ms = now;
	followers_begin(&p->followers);
	rc = p->ops->followers(p->place, count_follower, &p->followers, &err);
	seen = rc == 0;
	if (seen)
		rc = p->ops->relays(p->place, note_relay, &p->followers, &err);
	if (seen && p->at.peer != NULL && followers_lack(&p->followers) &&
	    p->ops->peers_followers(&p->at, count_follower, note_relay, &p->followers, &of_peer) !=
		0 &&
	    rc == 0) {
		rc = of_peer.kind;
		err = of_peer;
	}
	if (seen)
		followers_end(&p->followers, now, p->at.where);
	share_followers(p, seen, rc != 0 ? &err : NULL);
}

/* Again and again: it may have been started anew, as what it was made for. */
static void
follow_peer(struct publisher *p)
{
	struct fm_error err = { 0 };
	int rc = p->ops->follow(&p->at, &err);

	if (rc != 0) {
		note_failure(p, rc, &err);
		return;
	}
	if (p->retry_ms != 0)
		log_notice("dist", "%s follows %s again", p->at.where, p->at.peer);
	note_well(p);
}

/* Under the lock. */
static void
begin_role(struct publisher *p)
{
	p->is_new = false;
	p->term = 0;
	p->fenced = false;
	p->retry_ms = 0;
	p->status.error[0] = '\0';
	p->status.follows = p->role == STANDBY ? p->at.peer : NULL;
	p->status.followers_unknown[0] = '\0';
	p->shown.n = 0;
	claimed_fini(&p->judged); /* contests are told anew */
	followers_fini(&p->followers);
	p->looked_ms = now_ms() - LOOK_EVERY_MS;
	forget_place(p);
}

/* Under the lock; false: there are no others than before. */
static bool
take_claims(struct publisher *p)
{
	bool taken = p->new_claims;

	if (!taken)
		return false;
	ip_claims_put(p->beside.claims);
	p->beside.claims = p->next_claims;
	p->next_claims = NULL;
	p->new_claims = false;
	return p->beside.claims != NULL;
}

static void *
run(void *arg)
{
	struct publisher *p = arg;
	struct sa_view *v = NULL; /* to be published, or published last */
	bool unpublished = false, changed;
	enum role role;

	pthread_mutex_lock(&p->lock);
	while (!p->stop) {
		await_work(p, unpublished);
		if (p->stop)
			break;
		if (p->next != NULL || p->role == STANDBY) {
			sa_view_put(v);
			v = p->next;
			p->next = NULL;
			unpublished = v != NULL;
		}
		if (p->is_new)
			begin_role(p);
		unpublished |= take_claims(p);
		role = p->role;
		pthread_mutex_unlock(&p->lock);
		changed = false;
		if (p->addresses_path != NULL)
			addresses_read(&p->beside.addresses, p->addresses_path, &changed);
		if (role == STANDBY)
			follow_peer(p);
		else if (v != NULL && role == MASTER && !p->fenced)
			unpublished = unpublished || changed ? !publish(p, v) : !is_still_there(p);
		if (role == MASTER)
			look_at_followers(p);
		pthread_mutex_lock(&p->lock);
	}
	pthread_mutex_unlock(&p->lock);
	sa_view_put(v);
	forget_place(p);
	pthread_mutex_lock(&p->lock);
	p->has_ended = true;
	pthread_cond_signal(&p->ended);
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* -------------------------------------------------------------- from outside */

/* A copy that the thread keeps; false: memory is out. */
static bool
keep_string(struct publisher *p, int which, const char *text)
{
	p->own[which] = text != NULL ? strdup(text) : NULL;
	return text == NULL || p->own[which] != NULL;
}

static void
destroy_locks(struct publisher *p)
{
	pthread_cond_destroy(&p->wake);
	pthread_cond_destroy(&p->ended);
	pthread_mutex_destroy(&p->lock);
}

static void
free_publisher(struct publisher *p)
{
	for (int i = 0; i < PUBLISHER_STRINGS; i++)
		free(p->own[i]);
	free(p);
}

/* One of several tells what is wrong with the addresses. */
static int
start_publisher(struct publisher *p, const struct place_ops *ops, const char *where,
    const struct dist_settings *set, bool quiet, struct fm_error *err)
{
	pthread_condattr_t attr;
	int rc;

	if (!keep_string(p, WHERE, where) ||
	    !keep_string(p, PEER, ops->follow != NULL ? set->redis_peer : NULL) ||
	    !keep_string(p, AUTH_FILE, set->auth_file) ||
	    !keep_string(p, ADDRESSES, set->addresses))
		return fm_fail(err, FM_E_RESOURCE, "out of memory for publication");
	p->ops = ops;
	p->at = (struct place_at){
		.where = p->own[WHERE], .peer = p->own[PEER], .auth_file = p->own[AUTH_FILE]
	};
	p->addresses_path = p->own[ADDRESSES];
	p->beside.addresses.quiet = quiet;
	p->status.kind = ops->kind;
	snprintf(p->status.place, sizeof(p->status.place), "%s", where);
	pub_init(&p->told, ops);
	pthread_mutex_init(&p->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&p->wake, &attr);
	pthread_cond_init(&p->ended, &attr);
	pthread_condattr_destroy(&attr);
	rc = fm_thread_start(&p->thread, run, p);
	if (rc == 0)
		return 0;
	destroy_locks(p);
	return fm_fail(err, FM_E_SYSTEM, "cannot start the thread that publishes to %s: %s", where,
	    strerror(rc));
}

static int
add_publisher(struct dist *d, const struct place_ops *ops, const char *where,
    const struct dist_settings *set, struct fm_error *err)
{
	struct publisher *p = calloc(1, sizeof(*p));
	int rc = p != NULL ? start_publisher(p, ops, where, set, d->n > 0, err)
			   : fm_fail(err, FM_E_RESOURCE, "out of memory for publication");

	if (rc == 0)
		d->publisher[d->n++] = p;
	else if (p != NULL)
		free_publisher(p);
	return rc;
}

int
dist_start(const struct dist_settings *set, struct dist **out, struct fm_error *err)
{
	static const struct place_ops *const ops[DIST_PLACES] = { [DIST_FILES] = &place_files,
#ifdef HAVE_HIREDIS
		[DIST_REDIS] = &place_redis
#endif
	};
	struct dist *d = calloc(1, sizeof(*d));
	int rc = d != NULL ? 0 : fm_fail(err, FM_E_RESOURCE, "out of memory for publication");

	for (unsigned k = 0; rc == 0 && k < DIST_PLACES; k++) {
		if (set->place[k] == NULL)
			continue;
		rc = ops[k] != NULL
		    ? add_publisher(d, ops[k], set->place[k], set, err)
		    : fm_fail(err, FM_E_CONFIG,
			  "this fmd was built without hiredis: it cannot publish to Redis");
	}
	if (rc != 0 || d->n == 0) {
		dist_stop(d);
		d = NULL;
	}
	*out = d;
	return rc;
}

/* False: not before `until`. */
static bool
has_ended(struct publisher *p, const struct timespec *until)
{
	bool ended;

	pthread_mutex_lock(&p->lock);
	while (!p->has_ended && pthread_cond_timedwait(&p->ended, &p->lock, until) == 0)
		;
	ended = p->has_ended;
	pthread_mutex_unlock(&p->lock);
	return ended;
}

static void
stop_publisher(struct publisher *p, const struct timespec *until)
{
	if (!has_ended(p, until)) {
		log_warn("dist", "%s does not answer: it is not waited for", p->at.where);
		pthread_detach(p->thread);
		return;
	}
	pthread_join(p->thread, NULL);
	sa_view_put(p->next);
	pub_fini(&p->told);
	addresses_fini(&p->beside.addresses);
	ip_claims_put(p->beside.claims);
	ip_claims_put(p->next_claims);
	claimed_fini(&p->beside.claimed);
	claimed_fini(&p->judged);
	fm_vec_fini(&p->contested);
	followers_fini(&p->followers);
	fm_vec_fini(&p->shown);
	destroy_locks(p);
	free_publisher(p);
}

void
dist_stop(struct dist *d)
{
	struct timespec until = time_in(STOP_MS);

	for (unsigned i = 0; d != NULL && i < d->n; i++) {
		struct publisher *p = d->publisher[i];

		pthread_mutex_lock(&p->lock);
		p->stop = true;
		pthread_cond_signal(&p->wake);
		pthread_mutex_unlock(&p->lock);
	}
	for (unsigned i = 0; d != NULL && i < d->n; i++)
		stop_publisher(d->publisher[i], &until);
	free(d);
}

void
dist_publish(struct dist *d, struct sa_view *v)
{
	for (unsigned i = 0; i < d->n; i++) {
		struct publisher *p = d->publisher[i];

		pthread_mutex_lock(&p->lock);
		sa_view_put(p->next);
		p->next = sa_view_get(v);
		p->is_new |= p->role != MASTER;
		p->role = MASTER;
		pthread_cond_signal(&p->wake);
		pthread_mutex_unlock(&p->lock);
	}
}

void
dist_claims(struct dist *d, struct ip_claims *c)
{
	for (unsigned i = 0; i < d->n; i++) {
		struct publisher *p = d->publisher[i];

		pthread_mutex_lock(&p->lock);
		ip_claims_put(p->next_claims);
		p->next_claims = ip_claims_get(c);
		p->new_claims = true;
		pthread_cond_signal(&p->wake);
		pthread_mutex_unlock(&p->lock);
	}
}

void
dist_resign(struct dist *d)
{
	for (unsigned i = 0; i < d->n; i++) {
		struct publisher *p = d->publisher[i];

		pthread_mutex_lock(&p->lock);
		if (p->role == MASTER)
			p->role = NOBODY;
		sa_view_put(p->next);
		p->next = NULL;
		pthread_mutex_unlock(&p->lock);
	}
}

void
dist_stand_by(struct dist *d)
{
	dist_resign(d);
	for (unsigned i = 0; i < d->n; i++) {
		struct publisher *p = d->publisher[i];

		if (p->at.peer == NULL)
			continue;
		pthread_mutex_lock(&p->lock);
		p->is_new |= p->role != STANDBY;
		p->role = STANDBY;
		pthread_cond_signal(&p->wake);
		pthread_mutex_unlock(&p->lock);
	}
}

unsigned
dist_n_places(const struct dist *d)
{
	return d->n;
}

void
dist_status(const struct dist *d, unsigned place, struct dist_status *out)
{
	struct publisher *p = d->publisher[place];

	pthread_mutex_lock(&p->lock);
	*out = p->status;
	out->is_master = p->role == MASTER;
	pthread_mutex_unlock(&p->lock);
}

void
dist_each_follower(const struct dist *d, unsigned place, dist_follower each, void *arg)
{
	struct publisher *p = d->publisher[place];

	pthread_mutex_lock(&p->lock);
	for (size_t i = 0; p->role == MASTER && i < p->shown.n; i++)
		each(arg, &p->shown.item[i]);
	pthread_mutex_unlock(&p->lock);
}

void
dist_each_contest(const struct dist *d, dist_contest each, void *arg)
{
	struct publisher *p = d->n > 0 ? d->publisher[0] : NULL;

	if (p == NULL)
		return;
	pthread_mutex_lock(&p->lock);
	for (size_t i = 0; p->role == MASTER && i < p->contested.n; i++)
		each(arg, &p->contested.item[i]);
	pthread_mutex_unlock(&p->lock);
}
