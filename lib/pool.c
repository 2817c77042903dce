/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A loop is a job, open while items may be left.  Helpers that notice its
 * number enter, take runs of items and leave; the caller works too, closes the
 * job when no item is left and waits for those inside.  A helper that comes
 * too late finds it closed, so nobody ever waits for one to wake up.
 *
 * Loops follow each other closely, and waking a thread takes longer than many
 * of them: who waits looks for a while before it sleeps.
 */
#include "lib/pool.h"
#include "lib/thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#define OPEN (1u << 31)
#define LOOKS 4000 /* before sleeping: about 0.2 ms, what lies between two loops of an engine */

struct worker {
	struct fm_pool *pool;
	pthread_t thread;
	unsigned index;
};

struct fm_pool {
	unsigned n_workers;
	unsigned n_looks;	/* 0 with more workers than CPUs */
	struct worker *workers; /* [n_workers], 0 is the caller */
	pthread_mutex_t lock;	/* of who sleeps */
	pthread_cond_t start, done;
	atomic_uint_least64_t job; /* number of the current loop */
	atomic_uint state;	   /* OPEN, + helpers inside */
	atomic_bool quit;
	/* the current loop: written while it is closed and empty */
	void (*fn)(void *, uint32_t, unsigned);
	void *arg;
	uint32_t n;
	atomic_uint_least32_t next;
};

static inline void
look_again(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

/* Runs get shorter towards the end, so that all get done at about the same time. */
static bool
take_run(struct fm_pool *p, uint32_t *from, uint32_t *to)
{
	uint32_t at = atomic_load_explicit(&p->next, memory_order_relaxed), n;

	do {
		if (at >= p->n)
			return false;
		n = (p->n - at) / (p->n_workers * 8) + 1;
	} while (!atomic_compare_exchange_weak(&p->next, &at, at + n));
	*from = at;
	*to = at + n;
	return true;
}

static void
work(struct fm_pool *p, unsigned worker)
{
	uint32_t from, to;

	while (take_run(p, &from, &to))
		for (; from < to; from++)
			p->fn(p->arg, from, worker);
}

static bool
enter(struct fm_pool *p)
{
	unsigned state = atomic_load(&p->state);

	do
		if (!(state & OPEN))
			return false;
	while (!atomic_compare_exchange_weak(&p->state, &state, state + 1));
	return true;
}

static void
leave(struct fm_pool *p)
{
	if (atomic_fetch_sub(&p->state, 1) != 1)
		return; /* open still, or not the last */
	pthread_mutex_lock(&p->lock);
	pthread_cond_signal(&p->done);
	pthread_mutex_unlock(&p->lock);
}

/* The number of a job other than seen. */
static uint64_t
await_job(struct fm_pool *p, uint64_t seen)
{
	uint64_t job;

	for (unsigned i = 0; i < p->n_looks; i++) {
		if ((job = atomic_load(&p->job)) != seen)
			return job;
		look_again();
	}
	pthread_mutex_lock(&p->lock);
	while ((job = atomic_load(&p->job)) == seen)
		pthread_cond_wait(&p->start, &p->lock);
	pthread_mutex_unlock(&p->lock);
	return job;
}

static void
await_helpers(struct fm_pool *p)
{
	for (unsigned i = 0; i < p->n_looks; i++) {
		if (atomic_load(&p->state) == 0)
			return;
		look_again();
	}
	pthread_mutex_lock(&p->lock);
	while (atomic_load(&p->state) != 0)
		pthread_cond_wait(&p->done, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

static void
announce_job(struct fm_pool *p)
{
	pthread_mutex_lock(&p->lock);
	atomic_fetch_add(&p->job, 1);
	pthread_cond_broadcast(&p->start);
	pthread_mutex_unlock(&p->lock);
}

static void *
worker_main(void *arg)
{
	struct worker *w = arg;
	struct fm_pool *p = w->pool;
	uint64_t seen = 0;

	for (;;) {
		seen = await_job(p, seen);
		if (atomic_load(&p->quit))
			return NULL;
		if (!enter(p))
			continue;
		work(p, w->index);
		leave(p);
	}
}

struct fm_pool *
fm_pool_new(unsigned n_workers)
{
	struct fm_pool *p = calloc(1, sizeof(*p));
	unsigned started = 1, n_cpus = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);

	if (p == NULL)
		return NULL;
	if (n_workers == 0)
		n_workers = n_cpus;
	p->n_looks = n_workers <= n_cpus ? LOOKS : 0;
	p->workers = calloc(n_workers, sizeof(*p->workers));
	if (p->workers == NULL) {
		free(p);
		return NULL;
	}
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->start, NULL);
	pthread_cond_init(&p->done, NULL);
	for (; started < n_workers; started++) {
		struct worker *w = &p->workers[started];

		w->pool = p;
		w->index = started;
		if (fm_thread_start(&w->thread, worker_main, w) != 0)
			break;
	}
	p->n_workers = started;
	if (started < n_workers) {
		fm_pool_free(p);
		return NULL;
	}
	return p;
}

void
fm_pool_free(struct fm_pool *p)
{
	if (p == NULL)
		return;
	atomic_store(&p->quit, true);
	announce_job(p);
	for (unsigned i = 1; i < p->n_workers; i++)
		pthread_join(p->workers[i].thread, NULL);
	pthread_cond_destroy(&p->done);
	pthread_cond_destroy(&p->start);
	pthread_mutex_destroy(&p->lock);
	free(p->workers);
	free(p);
}

unsigned
fm_pool_size(const struct fm_pool *p)
{
	return p != NULL ? p->n_workers : 1;
}

void
fm_pool_for(
    struct fm_pool *p, uint32_t n, void (*fn)(void *arg, uint32_t i, unsigned worker), void *arg)
{
	if (p == NULL || p->n_workers == 1 || n <= 1) {
		for (uint32_t i = 0; i < n; i++)
			fn(arg, i, 0);
		return;
	}
	p->fn = fn;
	p->arg = arg;
	p->n = n;
	atomic_store(&p->next, 0);
	atomic_store(&p->state, OPEN);
	announce_job(p);
	work(p, 0);
	atomic_fetch_and(&p->state, ~OPEN);
	await_helpers(p);
}
