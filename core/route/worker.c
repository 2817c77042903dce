/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One thread, one mailbox.  The mailbox is idle, asked, or answered; the lock
 * is held to change that, never while a plan is made.  What repairs need is
 * prepared while nobody asks.
 */
#include "core/route/worker.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/route/host.h"
#include "core/route/ladder.h"
#include "core/route/repair.h"
#include "lib/error.h"
#include "lib/log.h"

enum mailbox { BOX_IDLE, BOX_ASKED, BOX_ANSWERED };

struct plan_worker {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t asked;
	struct router *router;
	void (*wake)(void *arg);
	void *wake_arg;

	/* under the lock */
	enum mailbox box;
	bool quit;
	struct plan_request question; /* holds references */
	struct plan *result;
	int rc;
	struct fm_error err;
	struct plan *idle; /* one reference: to be prepared for repairs; or NULL */
};

/* Wait for a question, or (*idle) for a plan to prepare; false: quit. */
static bool
await(struct plan_worker *w, struct plan **idle)
{
	bool go_on;

	pthread_mutex_lock(&w->lock);
	while (w->box != BOX_ASKED && w->idle == NULL && !w->quit)
		pthread_cond_wait(&w->asked, &w->lock);
	go_on = !w->quit;
	*idle = w->box == BOX_ASKED || w->quit ? NULL : w->idle;
	if (*idle != NULL)
		w->idle = NULL;
	pthread_mutex_unlock(&w->lock);
	return go_on;
}

static void
prepare(struct plan_worker *w, struct plan *p)
{
	struct fm_error err = { 0 };

	if (repair_prepare(w->router, p, &err) != 0 || ladder_prepare(w->router, p, &err) != 0)
		log_warn("route", "%s", err.msg);
	plan_put(p);
}

static void *
work(void *arg)
{
	struct plan_worker *w = arg;

	struct plan *idle = NULL;

	while (await(w, &idle)) {
		struct fm_error err = { 0 };
		struct plan *result = NULL;
		int rc;

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
	return NULL;
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
	rc = pthread_create(&w->thread, NULL, work, w);
	if (rc != 0) {
		pthread_cond_destroy(&w->asked);
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
	plan_put(w->question.prev);
	w->question = (struct plan_request){ 0 };
}

void
plan_worker_free(struct plan_worker *w)
{
	if (w == NULL)
		return;
	pthread_mutex_lock(&w->lock);
	w->quit = true;
	route_host_cancel(w->router->host);
	pthread_cond_signal(&w->asked);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	drop_question(w);
	plan_put(w->result);
	plan_put(w->idle);
	pthread_cond_destroy(&w->asked);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

void
plan_worker_start(struct plan_worker *w, const struct plan_request *q)
{
	pthread_mutex_lock(&w->lock);
	w->question = *q;
	snapshot_get(q->snap);
	if (q->prev != NULL)
		plan_get(q->prev);
	w->box = BOX_ASKED;
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
