/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/route/worker.h - plans, and other long work, made on a thread of their own.
 *
 * The loop hands over a snapshot and goes on answering SMInfo, traps and the
 * control socket; the plan comes back as a message: wake() is called, and the
 * loop takes the result when it gets to it.  One plan at a time.
 *
 * The thread sees only what cannot change: the snapshot, the last plan, and
 * chain and settings, which their owner leaves alone until the result has been taken.
 */
#ifndef CORE_ROUTE_WORKER_H
#define CORE_ROUTE_WORKER_H

#include "core/plan/plan.h"

struct plan_worker;

/* wake: called on the worker's thread when a result is there.  The router is
 * borrowed, and settings and all that it keeps are the worker's alone. */
int plan_worker_new(struct router *router, void (*wake)(void *arg), void *arg,
    struct plan_worker **out, struct fm_error *err);
/* Engines are told to stop, and that nothing more begins.  False: an engine still works after
 * so long.  Then the worker, and all that it works on, must be left alone, and the process can
 * only end by _exit().  NULL is fine. */
bool plan_worker_stop(struct plan_worker *w, int64_t wait_ms);
/* Engines are told to stop; waits for the thread, however long.  NULL is fine. */
void plan_worker_free(struct plan_worker *w);

/* As plan_make(); takes references to snap and prev.  The result of the one
 * before must have been taken. */
void plan_worker_start(struct plan_worker *w, const struct plan_request *q);
/* Get ready for the first repair of p while nothing else is asked (repair_prepare()). */
void plan_worker_prepare(struct plan_worker *w, struct plan *p);
/* Work that is no plan: fn(arg) on the same thread, with the router's workers to itself,
 * one after the other; a plan that is asked for goes first.  Then wake().  What has not
 * begun when the worker is freed never does.  False: out of memory. */
bool plan_worker_run(struct plan_worker *w, void (*fn)(void *arg), void *arg);
/* Likewise for work that can wait: it is given up as soon as a plan or other work is asked for, and
 * engines that it calls are told to stop.  It is done, then, by route_host_is_cancelled() of the
 * router's host, which it asks between two steps. */
bool plan_worker_run_beside(struct plan_worker *w, void (*fn)(void *arg), void *arg);
/* Is it ready?  Then *rc is what plan_make() returned, with *out or *err. */
bool plan_worker_take(struct plan_worker *w, int *rc, struct plan **out, struct fm_error *err);

#endif
