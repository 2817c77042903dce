/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/pool.h - a fixed set of worker threads for loops over independent items.
 *
 * The calling thread is worker 0 and works too; a pool of 1 starts no thread.
 * Items are handed out in small runs by an atomic counter, so any number of
 * workers gives the same set of calls (never rely on their order).  One loop
 * at a time per pool; fn must not start a loop on the same pool.
 */
#ifndef FM_LIB_POOL_H
#define FM_LIB_POOL_H

#include <stdint.h>

struct fm_pool;

/* n_workers 0 = one per online CPU.  NULL when threads or memory are out. */
struct fm_pool *fm_pool_new(unsigned n_workers);
void fm_pool_free(struct fm_pool *p);
/* A NULL pool counts as one worker. */
unsigned fm_pool_size(const struct fm_pool *p);
/* fn(arg, i, worker) for i in 0..n-1; returns when all are done.
 * worker is 0..fm_pool_size()-1.  A NULL pool runs in the caller. */
void fm_pool_for(
    struct fm_pool *p, uint32_t n, void (*fn)(void *arg, uint32_t i, unsigned worker), void *arg);

#endif
