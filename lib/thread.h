/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/thread.h - a thread that no signal reaches: they are the business of the loop.
 */
#ifndef FM_LIB_THREAD_H
#define FM_LIB_THREAD_H

#include <pthread.h>
#include <signal.h>

/* As pthread_create(); 0 or an errno. */
static inline int
fm_thread_start(pthread_t *thread, void *(*fn)(void *arg), void *arg)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(thread, NULL, fn, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc;
}

#endif
