/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/abi/watch.h - who does not stop when its time is over is named.
 *
 * An engine ends by itself: it asks should_stop() and goes.  One that does not
 * ask cannot be ended from outside, as it shares the process (its memory, its
 * workers, its locks).  All that is left is to say so, while it runs, so that
 * an administrator knows what routing is waiting for.
 */
#ifndef CORE_ABI_WATCH_H
#define CORE_ABI_WATCH_H

#include <stdint.h>

struct watch;

/* Starts a thread with the first call that has a limit.  NULL: out of memory. */
struct watch *watch_new(void);
void watch_free(struct watch *w); /* NULL is fine */

/* The engine `name` has been called, with a limit (0: none).  Between begin and
 * end it is warned of, a quarter of its limit after that is over (50 ms to 5 s),
 * and again each time that doubles. */
void watch_begin(struct watch *w, const char *name, int64_t limit_ms);
void watch_end(struct watch *w);

#endif
