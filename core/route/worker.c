/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One thread, one mailbox.  The mailbox is idle, asked, or answered; the lock
 * is held to change that, never while a plan is made.  Other work is done when
 * no plan is asked for, and what repairs need is prepared while nobody asks.  Work that
 * can wait (plan_worker_run_beside()) is given up by a flag of the engines' host, which is
 * set under the lock and taken back when the thread looks for what is next.
 */
#include "core/route/worker.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/abi/host.h"
#include "core/repair/repair.h"
#include "core/route/route.h"
#include "core/transition/reconfig.h"
#include "lib/error.h"
#include "lib/log.h"
#include "lib/thread.h"
#include "lib/vec.h"

enum mailbox { BOX_IDLE, BOX_ASKED, BOX_ANSWERED };

struct job {
	void (*fn)(void *arg); /* NULL: none */
	void *arg;
	bool can_wait; /* it is given up for whatever else is asked */
};

struct plan_worker {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t asked, ended;
	struct router *router;
	void (*wake)(void *arg);
	void *wake_arg;

	/* under the lock */
	enum mailbox box;
	bool quit, has_ended;
	bool is_beside;		      /* the job that runs can wait */
	struct plan_request question; /* holds references */
	struct plan *result;
	int rc;
	struct fm_error err;
	FM_VEC(struct job) jobs;
	struct plan *idle; /* one reference: to be prepared for repairs; or NULL */
};

/* The first job, and the others move up: there are few. */
static struct job
first_job(struct plan_worker *w)
{
	struct job first = w->jobs.item[0];

	w->jobs.n--;
	memmove(w->jobs.item, w->jobs.item + 1, w->jobs.n * sizeof(first));
	return first;
}

/* Wait for a question, or (*job) other work, or (*idle) a plan to prepare; false: quit. */
static bool
await(struct plan_worker *w, struct job *job, struct plan **idle)
{
	bool go_on;

	*idle = NULL;
	job->fn = NULL;
	pthread_mutex_lock(&w->lock);
	w->is_beside = false;
	route_host_give_up(w->router->host, false);
	while (w->box != BOX_ASKED && w->jobs.n == 0 && w->idle == NULL && !w->quit)
		pthread_cond_wait(&w->asked, &w->lock);
	go_on = !w->quit;
	if (go_on && w->box != BOX_ASKED) {
		if (w->jobs.n > 0) {
			*job = first_job(w);
			w->is_beside = job->can_wait;
			route_host_give_up(w->router->host, job->can_wait && w->jobs.n > 0);
		} else {
			*idle = w->idle;
			w->idle = NULL;
		}
	}
	pthread_mutex_unlock(&w->lock);
	return go_on;
}

static void
prepare(struct plan_worker *w, struct plan *p)
{
	struct fm_error err = { 0 };

	if (repair_prepare(w->router, p, &err) != 0)
		log_warn("route", "%s", err.msg);
	plan_put(p);
}

static void *
work(void *arg)
{
	struct plan_worker *w = arg;
	struct plan *idle;
	struct job job;

	while (await(w, &job, &idle)) {
		struct fm_error err = { 0 };
		struct plan *result = NULL;
		int rc;

		if (job.fn != NULL) {
			job.fn(job.arg);
			w->wake(w->wake_arg);
			continue;
		}
		if (idle != NULL) {
			prepare(w, idle);
			continue;
		}
		rc = plan_make(w->router, &w->question, &result, &err);
		pthread_mutex_lock(&w->lock);
		w->rc = rc;
		w->result = result;
		w->err = err;
		w->box = BOX_ANSWERED;
		pthread_mutex_unlock(&w->lock);
		w->wake(w->wake_arg);
	}
	pthread_mutex_lock(&w->lock);
	w->has_ended = true;
	pthread_cond_signal(&w->ended);
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static void
init_clocked(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

int
plan_worker_new(struct router *router, void (*wake)(void *arg), void *arg, struct plan_worker **out,
    struct fm_error *err)
{
	struct plan_worker *w = calloc(1, sizeof(*w));
	int rc;

	if (w == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the routing thread");
	w->router = router;
	w->wake = wake;
	w->wake_arg = arg;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->asked, NULL);
	init_clocked(&w->ended);
	rc = fm_thread_start(&w->thread, work, w);
	if (rc != 0) {
		pthread_cond_destroy(&w->asked);
		pthread_cond_destroy(&w->ended);
		pthread_mutex_destroy(&w->lock);
		free(w);
		return fm_fail(
		    err, FM_E_SYSTEM, "cannot start the routing thread: %s", strerror(rc));
	}
	*out = w;
	return 0;
}

static void
drop_question(struct plan_worker *w)
{
	snapshot_put(w->question.snap);
	snapshot_put(w->question.wire);
	plan_put(w->question.prev);
	w->question = (struct plan_request){ 0 };
}

static void
tell_to_stop(struct plan_worker *w)
{
	w->quit = true;
	route_host_cancel(w->router->host);
	pthread_cond_signal(&w->asked);
}

bool
plan_worker_stop(struct plan_worker *w, int64_t wait_ms)
{
	struct timespec until;
	bool ended;

	if (w == NULL)
		return true;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += wait_ms % 1000 * 1000000;
	until.tv_sec += wait_ms / 1000 + until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&w->lock);
	tell_to_stop(w);
	while (!w->has_ended && pthread_cond_timedwait(&w->ended, &w->lock, &until) == 0)
		continue;
	ended = w->has_ended;
	pthread_mutex_unlock(&w->lock);
	return ended;
}

void
plan_worker_free(struct plan_worker *w)
{
	if (w == NULL)
		return;
	pthread_mutex_lock(&w->lock);
	tell_to_stop(w);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	drop_question(w);
	plan_put(w->result);
	plan_put(w->idle);
	fm_vec_fini(&w->jobs);
	pthread_cond_destroy(&w->asked);
	pthread_cond_destroy(&w->ended);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

/* Under the lock: something is asked for that does not wait for what runs beside. */
static void
go_before_beside(struct plan_worker *w)
{
	if (w->is_beside)
		route_host_give_up(w->router->host, true);
}

static bool
add_job(struct plan_worker *w, struct job job)
{
	bool ok;

	pthread_mutex_lock(&w->lock);
	ok = fm_vec_push(&w->jobs, job);
	go_before_beside(w);
	pthread_cond_signal(&w->asked);
	pthread_mutex_unlock(&w->lock);
	return ok;
}

bool
plan_worker_run(struct plan_worker *w, void (*fn)(void *arg), void *arg)
{
	return add_job(w, (struct job){ fn, arg, false });
}

bool
plan_worker_run_beside(struct plan_worker *w, void (*fn)(void *arg), void *arg)
{
	return add_job(w, (struct job){ fn, arg, true });
}

void
plan_worker_start(struct plan_worker *w, const struct plan_request *q)
{
	pthread_mutex_lock(&w->lock);
	w->question = *q;
	snapshot_get(q->snap);
	if (q->wire != NULL)
		snapshot_get(q->wire);
	if (q->prev != NULL)
		plan_get(q->prev);
	/* Prepared after this plan was made, it would take the place of what the plan leaves. */
	plan_put(w->idle);
	w->idle = NULL;
	w->box = BOX_ASKED;
	go_before_beside(w);
	pthread_cond_signal(&w->asked);
	pthread_mutex_unlock(&w->lock);
}

void
plan_worker_prepare(struct plan_worker *w, struct plan *p)
{
	pthread_mutex_lock(&w->lock);
	plan_put(w->idle);
	w->idle = plan_get(p);
	pthread_cond_signal(&w->asked);
	pthread_mutex_unlock(&w->lock);
}

bool
plan_worker_take(struct plan_worker *w, int *rc, struct plan **out, struct fm_error *err)
{
	bool ready;

	pthread_mutex_lock(&w->lock);
	ready = w->box == BOX_ANSWERED;
	if (ready) {
		*rc = w->rc;
		*out = w->result;
		*err = w->err;
		w->result = NULL;
		w->box = BOX_IDLE;
		drop_question(w);
	}
	pthread_mutex_unlock(&w->lock);
	return ready;
}
