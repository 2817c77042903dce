/* SPDX-License-Identifier: BSD-2-Clause */
/* core/standby/beside.h - a thread for what takes too long for the loop, job after job. */
#ifndef CORE_STANDBY_BESIDE_H
#define CORE_STANDBY_BESIDE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/thread.h"

struct beside {
	pthread_t thread; /* of the last job, where there was one: not joined yet */
	bool was;
	void (*fn)(void *job);
	void *job;
};

/* Waits for the job that runs. */
static inline void
beside_join(struct beside *b)
{
	if (b->was)
		pthread_join(b->thread, NULL);
	b->was = false;
}

static inline void *
beside_main(void *arg)
{
	struct beside *b = arg;

	b->fn(b->job);
	return NULL;
}

/* As of struct copies_worker, with a struct beside as arg: the job before has ended. */
static inline bool
beside_run(void *arg, void (*fn)(void *job), void *job)
{
	struct beside *b = arg;

	beside_join(b);
	b->fn = fn;
	b->job = job;
	b->was = fm_thread_start(&b->thread, beside_main, b) == 0;
	return b->was;
}

#endif
