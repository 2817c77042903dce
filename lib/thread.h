/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/thread.h - a thread that no signal reaches, but for faults of its own: they are the
 * business of the loop.
 */
#ifndef FM_LIB_THREAD_H
#define FM_LIB_THREAD_H

#include <pthread.h>
#include <signal.h>

/* As pthread_create(); 0 or an errno. */
static inline int
fm_thread_start(pthread_t *thread, void *(*fn)(void *arg), void *arg)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL };
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	for (unsigned i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(&all, faults[i]);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(thread, NULL, fn, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc;
}

#endif
