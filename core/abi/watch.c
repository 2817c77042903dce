/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One thread, asleep until the next warning is due: it is woken by begin, and
 * finds at its next waking that a call has ended.
 */
#include "core/abi/watch.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "lib/log.h"
#include "lib/thread.h"

#define NS_PER_MS INT64_C(1000000)
#define GRACE_MIN_MS 50
#define GRACE_MAX_MS 5000

struct watch {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	bool running, quit;
	const char *name;		     /* of the engine that is at work, or NULL */
	int64_t limit_ms, since_ns, late_ms; /* late_ms: how late the next warning is */
};

static int64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 * NS_PER_MS + ts.tv_nsec;
}

static int64_t
due_ns(const struct watch *w)
{
	return w->since_ns + (w->limit_ms + w->late_ms) * NS_PER_MS;
}

static void
sleep_until(struct watch *w, int64_t ns)
{
	struct timespec ts = { .tv_sec = ns / (1000 * NS_PER_MS),
		.tv_nsec = ns % (1000 * NS_PER_MS) };

	pthread_cond_timedwait(&w->changed, &w->lock, &ts);
}

static void *
watch_thread(void *arg)
{
	struct watch *w = arg;

	pthread_mutex_lock(&w->lock);
	while (!w->quit) {
		if (w->name == NULL) {
			pthread_cond_wait(&w->changed, &w->lock);
		} else if (now_ns() < due_ns(w)) {
			sleep_until(w, due_ns(w));
		} else {
			log_warn("route",
			    "engine %s is over its time limit and does not stop: it never asks, "
			    "and "
			    "a plugin cannot be ended from outside; waiting for it, limit_ms=%lld "
			    "elapsed_ms=%lld",
			    w->name, (long long)w->limit_ms,
			    (long long)((now_ns() - w->since_ns) / NS_PER_MS));
			w->late_ms *= 2;
		}
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

struct watch *
watch_new(void)
{
	struct watch *w = calloc(1, sizeof(*w));
	pthread_condattr_t attr;

	if (w == NULL)
		return NULL;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w->changed, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&w->lock, NULL);
	return w;
}

void
watch_free(struct watch *w)
{
	if (w == NULL)
		return;
	pthread_mutex_lock(&w->lock);
	w->quit = true;
	pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->lock);
	if (w->running)
		pthread_join(w->thread, NULL);
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

void
watch_begin(struct watch *w, const char *name, int64_t limit_ms)
{
	int64_t grace_ms = limit_ms / 4;

	if (limit_ms <= 0)
		return;
	grace_ms = grace_ms < GRACE_MIN_MS ? GRACE_MIN_MS : grace_ms;
	pthread_mutex_lock(&w->lock);
	w->name = name;
	w->limit_ms = limit_ms;
	w->since_ns = now_ns();
	w->late_ms = grace_ms > GRACE_MAX_MS ? GRACE_MAX_MS : grace_ms;
	if (!w->running)
		w->running = fm_thread_start(&w->thread, watch_thread, w) == 0;
	pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

void
watch_end(struct watch *w)
{
	pthread_mutex_lock(&w->lock);
	w->name = NULL;
	pthread_mutex_unlock(&w->lock);
}
