/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Host services over arenas and a worker pool.
 *
 * Each worker has an arena of its own, so no allocation takes a lock.  The
 * budget bounds each arena; the injected failure counts the allocations of
 * all threads (atomically), which makes it exact for engines that allocate
 * on the calling thread only.
 */
#include "core/abi/host.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/abi/watch.h"
#include "lib/arena.h"
#include "lib/error.h"
#include "lib/log.h"
#include "lib/pages.h"

#define DEFAULT_BUDGET ((size_t)4 << 30)

struct route_host {
	struct fm_host services;
	struct fm_pool *workers;
	unsigned n_workers;
	struct fm_arena *arenas; /* [n_workers + 1]: the caller's, then one a worker */
	atomic_uint_least64_t n_allocs;
	uint64_t fail_at;
	int64_t stop_ns; /* CLOCK_MONOTONIC; 0 = never */
	atomic_bool cancelled, given_up, asked;
	const char *name;
	struct watch *watch;
};

static int64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void *
alloc_scratch(struct route_host *h, struct fm_arena *a, size_t bytes)
{
	uint64_t n = atomic_fetch_add(&h->n_allocs, 1) + 1;

	return h->fail_at != 0 && n >= h->fail_at ? NULL : fm_arena_alloc(a, bytes);
}

static void *
scratch(const struct fm_host *s, size_t bytes)
{
	struct route_host *h = s->self;

	return alloc_scratch(h, &h->arenas[0], bytes);
}

static void *
scratch_worker(const struct fm_host *s, unsigned worker, size_t bytes)
{
	struct route_host *h = s->self;

	return alloc_scratch(h, &h->arenas[1 + worker], bytes);
}

static void
parallel_for(const struct fm_host *s, uint32_t n,
    void (*fn)(void *arg, uint32_t i, unsigned worker), void *arg)
{
	struct route_host *h = s->self;

	fm_pool_for(h->workers, n, fn, arg);
}

static unsigned
n_workers(const struct fm_host *s)
{
	const struct route_host *h = s->self;

	return h->n_workers;
}

static bool
should_stop(const struct fm_host *s)
{
	struct route_host *h = s->self;

	if (!atomic_load_explicit(&h->asked, memory_order_relaxed))
		atomic_store_explicit(&h->asked, true, memory_order_relaxed);
	return route_host_is_cancelled(h) || route_host_is_late(h);
}

static void
progress(const struct fm_host *s, uint32_t done, uint32_t total)
{
	const struct route_host *h = s->self;

	log_debug("route", "%s: %u of %u", h->name, done, total);
}

static void __attribute__((format(printf, 3, 4)))
host_log(const struct fm_host *s, int level, const char *fmt, ...)
{
	va_list ap;

	if (level < FM_LOG_ERR || level > FM_LOG_DEBUG)
		level = FM_LOG_INFO;
	va_start(ap, fmt);
	fm_vlog((enum fm_log_level)level, "engine", fmt, ap);
	va_end(ap);
}

static int __attribute__((format(printf, 4, 5))) host_fail(
    const struct fm_host *s, struct fm_error *err, enum fm_error_kind kind, const char *fmt, ...)
{
	va_list ap;
	int rc;

	(void)s;
	va_start(ap, fmt);
	rc = fm_vfail(err, kind, fmt, ap);
	va_end(ap);
	return rc;
}

struct route_host *
route_host_new(struct fm_pool *workers, struct fm_error *err)
{
	unsigned n = fm_pool_size(workers);
	struct route_host *h = calloc(1, sizeof(*h));

	if (h == NULL || (h->arenas = calloc(n + 1, sizeof(*h->arenas))) == NULL ||
	    (h->watch = watch_new()) == NULL) {
		if (h != NULL)
			free(h->arenas);
		free(h);
		fm_fail(err, FM_E_RESOURCE, "out of memory for the engines' host");
		return NULL;
	}
	h->workers = workers;
	h->n_workers = n;
	for (unsigned i = 0; i <= n; i++)
		fm_arena_init(&h->arenas[i], DEFAULT_BUDGET);
	h->services = (struct fm_host){ .size = sizeof(struct fm_host),
		.self = h,
		.scratch = scratch,
		.scratch_worker = scratch_worker,
		.parallel_for = parallel_for,
		.n_workers = n_workers,
		.should_stop = should_stop,
		.progress = progress,
		.log = host_log,
		.fail = host_fail };
	return h;
}

void
route_host_free(struct route_host *h)
{
	if (h == NULL)
		return;
	watch_free(h->watch);
	for (unsigned i = 0; i <= h->n_workers; i++)
		fm_arena_fini(&h->arenas[i]);
	free(h->arenas);
	free(h);
}

const struct fm_host *
route_host_begin(struct route_host *h, const struct route_call *call)
{
	for (unsigned i = 0; i <= h->n_workers; i++)
		h->arenas[i].budget = call->budget_bytes ? call->budget_bytes : DEFAULT_BUDGET;
	atomic_store(&h->n_allocs, 0);
	atomic_store(&h->asked, false);
	h->fail_at = call->fail_at;
	h->name = call->name;
	h->stop_ns = call->time_limit_ms > 0 ? now_ns() + call->time_limit_ms * 1000000 : 0;
	watch_begin(h->watch, call->name, call->is_ended ? 0 : call->time_limit_ms);
	return &h->services;
}

bool
route_host_is_late(const struct route_host *h)
{
	return h->stop_ns != 0 && now_ns() > h->stop_ns;
}

bool
route_host_was_asked(const struct route_host *h)
{
	return atomic_load(&h->asked);
}

void
route_host_end(struct route_host *h)
{
	watch_end(h->watch);
	for (unsigned i = 0; i <= h->n_workers; i++)
		fm_arena_reset(&h->arenas[i]);
}

static uint64_t
bytes_of(const struct fm_arena *a)
{
	return a->used + a->n_allocs * 64; /* aligned */
}

struct route_scratch
route_host_used(const struct route_host *h)
{
	struct route_scratch s = { .main_bytes = bytes_of(&h->arenas[0]) };

	for (unsigned i = 1; i <= h->n_workers; i++)
		if (bytes_of(&h->arenas[i]) > s.worker_bytes)
			s.worker_bytes = bytes_of(&h->arenas[i]);
	return s;
}

/* What is not quite small takes a huge page, which is taken and let go at once. */
static size_t
round_up(size_t n)
{
	return n > FM_PAGES_HUGE_BYTES / 8 && n < FM_PAGES_HUGE_BYTES ? FM_PAGES_HUGE_BYTES : n;
}

void
route_host_warm(struct route_host *h, const struct route_scratch *scratch)
{
	for (unsigned i = 0; i <= h->n_workers; i++) {
		size_t n = round_up(i == 0 ? scratch->main_bytes : scratch->worker_bytes);
		void *at = n > 0 ? fm_arena_alloc(&h->arenas[i], n) : NULL;

		if (at != NULL)
			memset(at, 0, n);
		fm_arena_reset(&h->arenas[i]);
	}
}

void
route_host_cancel(struct route_host *h)
{
	atomic_store(&h->cancelled, true);
	atomic_store(&h->given_up, true);
}

void
route_host_give_up(struct route_host *h, bool given_up)
{
	atomic_store(&h->given_up, given_up || atomic_load(&h->cancelled));
}

const atomic_bool *
route_host_given_up(const struct route_host *h)
{
	return &h->given_up;
}

bool
route_host_is_cancelled(const struct route_host *h)
{
	return atomic_load_explicit(&h->given_up, memory_order_relaxed);
}
