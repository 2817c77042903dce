/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/registry/saver.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/events/kinds.h"
#include "lib/log.h"
#include "lib/thread.h"

#define EVERY_MS 10	/* a batch at most */
#define AGAIN_MS 1000	/* what could not be written */
#define MOST_NEXT 65536 /* changes that wait for the disk one by one; then everything is shorter */

struct saver {
	struct registry *registry;
	struct store *store;
	int64_t (*wall_s)(void);
	struct fm_log_bucket bucket;
	struct saver_copy copy;	     /* put NULL: nobody has one */
	uint64_t number;	     /* of what was put last */
	struct registry_batch *next; /* has been copied, and is to be written; NULL: nothing */
	uint32_t n_next;	     /* changes in it */
	bool apart;
	bool waits;	/* for how the batch given has fared */
	int64_t due_ms; /* no batch before */
	pthread_t thread;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t news;
	struct registry_batch *batch; /* in the thread's hands; NULL: it is free */
	int rc;			      /* of the last */
	struct fm_error err;
	bool stop;
};

/* ------------------------------------------------------------------ thread */

/* The next batch, NULL: it is to stop. */
static struct registry_batch *
wait_for_batch(struct saver *s)
{
	struct registry_batch *b;

	pthread_mutex_lock(&s->lock);
	while (s->batch == NULL && !s->stop)
		pthread_cond_wait(&s->news, &s->lock);
	b = s->batch;
	pthread_mutex_unlock(&s->lock);
	return b;
}

static void *
write_batches(void *arg)
{
	struct saver *s = arg;
	struct registry_batch *b;

	while ((b = wait_for_batch(s)) != NULL) {
		struct fm_error err = { 0 };
		int rc = registry_batch_put(b, s->store, &err);

		registry_batch_free(b);
		pthread_mutex_lock(&s->lock);
		s->batch = NULL;
		s->rc = rc;
		s->err = err;
		pthread_mutex_unlock(&s->lock);
	}
	return NULL;
}

static bool
start_thread(struct saver *s)
{
	int rc = fm_thread_start(&s->thread, write_batches, s);

	if (rc != 0)
		log_warn(
		    "sa", "requests wait for the disk: no thread can be had: %s", strerror(rc));
	return rc == 0;
}

struct saver *
saver_new(struct registry *r, struct store *store, int64_t (*wall_s)(void), bool apart)
{
	struct saver *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->registry = r;
	s->store = store;
	s->wall_s = wall_s;
	s->bucket =
	    (struct fm_log_bucket){ .burst = 3, .every_ms = 60000, .kind = EVENT_REGISTERED_LOST };
	s->due_ms = INT64_MIN;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->news, NULL);
	s->apart = apart && start_thread(s);
	return s;
}

static void
stop_thread(struct saver *s)
{
	pthread_mutex_lock(&s->lock);
	s->stop = true;
	pthread_cond_signal(&s->news);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	if (s->rc != 0)
		registry_not_kept(s->registry);
}

void
saver_free(struct saver *s)
{
	if (s == NULL)
		return;
	if (s->apart)
		stop_thread(s);
	if (s->next != NULL)
		registry_not_kept(s->registry);
	registry_batch_free(s->next);
	pthread_cond_destroy(&s->news);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* ------------------------------------------------------------------- ticks */

void
saver_set_copy(struct saver *s, const struct saver_copy *copy)
{
	s->copy = copy != NULL ? *copy : (struct saver_copy){ 0 };
}

bool
saver_note(struct saver *s)
{
	bool dirty = registry_is_dirty(s->registry);

	if (dirty)
		store_set_pending(s->store, true);
	/* what was promised to who asks again may not be there yet, either */
	return s->copy.put != NULL && (dirty || !saver_may_send(s, s->number));
}

uint64_t
saver_number(const struct saver *s)
{
	return s->number;
}

bool
saver_may_send(const struct saver *s, uint64_t number)
{
	return s->copy.have == NULL || number == 0 || s->copy.have(s->copy.arg, number);
}

static void
not_kept(struct saver *s, const struct fm_error *err, int64_t now_ms)
{
	s->due_ms = now_ms + AGAIN_MS;
	fm_log_rl(&s->bucket, FM_LOG_ERR, "sa",
	    "what hosts have registered is not kept for a restart: %s", err->msg);
}

/* How the batch that was given has fared; false: the thread has it still. */
static bool
hear_of_batch(struct saver *s, int64_t now_ms)
{
	struct fm_error err;
	bool is_free;
	int rc;

	if (!s->waits)
		return true;
	pthread_mutex_lock(&s->lock);
	is_free = s->batch == NULL;
	rc = s->rc;
	err = s->err;
	if (is_free)
		s->rc = 0;
	pthread_mutex_unlock(&s->lock);
	s->waits = !is_free;
	if (is_free && rc != 0) {
		registry_not_kept(s->registry);
		not_kept(s, &err, now_ms);
	}
	return is_free;
}

static void
hand_over_batch(struct saver *s, struct registry_batch *b)
{
	s->waits = true;
	pthread_mutex_lock(&s->lock);
	s->batch = b;
	pthread_cond_signal(&s->news);
	pthread_mutex_unlock(&s->lock);
}

/* To who has a copy.  False: out of memory. */
static bool
put_copy(struct saver *s, const struct registry_batch *b)
{
	uint32_t n;
	bool anew;
	struct store_record *records = registry_batch_records(b, &n, &anew);

	if (records != NULL) {
		s->number = s->copy.put(s->copy.arg, records, n, anew);
		s->n_next = anew ? 0 : s->n_next + n;
	}
	free(records);
	return records != NULL;
}

/* What is written next is in somebody's hands. */
static struct registry_batch *
take_next(struct saver *s)
{
	struct registry_batch *b = s->next;

	s->next = NULL;
	s->n_next = 0;
	return b;
}

/* What has changed, to who has a copy, and into the batch that is written next.  What there is no
 * memory for, or too much of, comes with the next, which is everything. */
static void
gather(struct saver *s, int64_t now_ms)
{
	struct registry_batch *b = NULL;
	struct fm_error err = { 0 };
	bool ok = true;

	if (registry_collect(s->registry, now_ms, s->wall_s(), &b, &err) != 0)
		not_kept(s, &err, now_ms);
	if (b == NULL)
		return;
	if (s->copy.put != NULL)
		ok = put_copy(s, b);
	if (ok && s->next != NULL)
		ok = registry_batch_join(s->next, b);
	else if (ok)
		s->next = b;
	if (ok && s->n_next <= MOST_NEXT)
		return;
	registry_batch_free(ok ? take_next(s) : b);
	registry_not_kept(s->registry);
}

/* False: all is written. */
static bool
is_unwritten(struct saver *s)
{
	if (s->next != NULL || registry_is_dirty(s->registry))
		return true;
	store_set_pending(s->store, false);
	return false;
}

static int64_t
tick_apart(struct saver *s, int64_t now_ms)
{
	bool is_free = hear_of_batch(s, now_ms);

	if (s->copy.put != NULL || (is_free && now_ms >= s->due_ms))
		gather(s, now_ms);
	if (!is_free)
		return now_ms + EVERY_MS;
	if (!is_unwritten(s))
		return INT64_MAX;
	if (now_ms < s->due_ms)
		return s->due_ms;
	s->due_ms = now_ms + EVERY_MS;
	if (s->next != NULL)
		hand_over_batch(s, take_next(s));
	return s->due_ms;
}

static void
write_next(struct saver *s, int64_t now_ms)
{
	struct registry_batch *b = take_next(s);
	struct fm_error err = { 0 };

	if (registry_batch_put(b, s->store, &err) != 0) {
		registry_not_kept(s->registry);
		not_kept(s, &err, now_ms);
	}
	registry_batch_free(b);
}

int64_t
saver_tick(struct saver *s, int64_t now_ms)
{
	if (s->apart)
		return tick_apart(s, now_ms);
	if (s->copy.put != NULL || now_ms >= s->due_ms)
		gather(s, now_ms);
	if (s->next != NULL && now_ms >= s->due_ms)
		write_next(s, now_ms);
	return is_unwritten(s) ? s->due_ms : INT64_MAX;
}
