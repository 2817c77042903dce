/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A loop is a job: workers wake on a new job number, take runs of items from
 * an atomic counter, and the last to finish wakes the caller.
 */
#include "lib/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

struct worker {
	struct fm_pool *pool;
	pthread_t thread;
	unsigned index;
};

struct fm_pool {
	unsigned n_workers;
	struct worker *workers; /* [n_workers], 0 is the caller */
	pthread_mutex_t lock;
	pthread_cond_t start, done;
	uint64_t job;  /* number of the current loop */
	unsigned busy; /* helpers still in the current loop */
	bool quit;
	/* the current loop */
	void (*fn)(void *, uint32_t, unsigned);
	void *arg;
	uint32_t n, run;
	atomic_uint_least64_t next;
};

static void
work(struct fm_pool *p, unsigned worker)
{
	uint64_t from, to;

	while ((from = atomic_fetch_add(&p->next, p->run)) < p->n) {
		to = from + p->run < p->n ? from + p->run : p->n;
		for (; from < to; from++)
			p->fn(p->arg, (uint32_t)from, worker);
	}
}

static void *
worker_main(void *arg)
{
	struct worker *w = arg;
	struct fm_pool *p = w->pool;
	uint64_t seen = 0;

	pthread_mutex_lock(&p->lock);
	for (;;) {
		while (p->job == seen && !p->quit)
			pthread_cond_wait(&p->start, &p->lock);
		if (p->quit)
			break;
		seen = p->job;
		pthread_mutex_unlock(&p->lock);
		work(p, w->index);
		pthread_mutex_lock(&p->lock);
		if (--p->busy == 0)
			pthread_cond_signal(&p->done);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

struct fm_pool *
fm_pool_new(unsigned n_workers)
{
	struct fm_pool *p = calloc(1, sizeof(*p));
	unsigned started = 1;

	if (p == NULL)
		return NULL;
	if (n_workers == 0)
		n_workers = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
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
		if (pthread_create(&w->thread, NULL, worker_main, w) != 0)
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
	pthread_mutex_lock(&p->lock);
	p->quit = true;
	pthread_cond_broadcast(&p->start);
	pthread_mutex_unlock(&p->lock);
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
	pthread_mutex_lock(&p->lock);
	p->fn = fn;
	p->arg = arg;
	p->n = n;
	p->run = n / (p->n_workers * 16) + 1;
	atomic_store(&p->next, 0);
	p->busy = p->n_workers - 1;
	p->job++;
	pthread_cond_broadcast(&p->start);
	pthread_mutex_unlock(&p->lock);
	work(p, 0);
	pthread_mutex_lock(&p->lock);
	while (p->busy > 0)
		pthread_cond_wait(&p->done, &p->lock);
	pthread_mutex_unlock(&p->lock);
}
