/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/registry/saver.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/thread.h"

#define EVERY_MS 10   /* a batch at most */
#define AGAIN_MS 1000 /* what could not be written */

struct saver {
	struct registry *registry;
	struct store *store;
	int64_t (*wall_s)(void);
	struct fm_log_bucket bucket;
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
	s->bucket = (struct fm_log_bucket){ .burst = 3, .every_ms = 60000 };
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
	pthread_cond_destroy(&s->news);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* ------------------------------------------------------------------- ticks */

void
saver_note(struct saver *s)
{
	if (registry_is_dirty(s->registry))
		store_set_pending(s->store, true);
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

static int64_t
tick_apart(struct saver *s, int64_t now_ms)
{
	struct registry_batch *b = NULL;
	struct fm_error err = { 0 };

	if (!hear_of_batch(s, now_ms))
		return now_ms + EVERY_MS;
	if (!registry_is_dirty(s->registry)) {
		store_set_pending(s->store, false);
		return INT64_MAX;
	}
	if (now_ms < s->due_ms)
		return s->due_ms;
	s->due_ms = now_ms + EVERY_MS;
	if (registry_collect(s->registry, now_ms, s->wall_s(), &b, &err) != 0)
		not_kept(s, &err, now_ms);
	if (b != NULL)
		hand_over_batch(s, b);
	return s->due_ms;
}

int64_t
saver_tick(struct saver *s, int64_t now_ms)
{
	struct fm_error err = { 0 };

	if (s->apart)
		return tick_apart(s, now_ms);
	if (now_ms < s->due_ms)
		return s->due_ms;
	if (registry_save(s->registry, s->store, now_ms, s->wall_s(), &err) == 0)
		return INT64_MAX;
	not_kept(s, &err, now_ms);
	return s->due_ms;
}
