/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/registry/saver.h - what hosts have registered, on its way to the store.
 *
 * A commit waits for the disk, ten milliseconds or more, and requests do not wait for it: a
 * thread writes.  One batch is written at a time; what changes meanwhile gathers into the
 * next, so that a storm of joins costs as many commits as the disk has time for:
 *
 *	SA:	change, change ─► tick ── change, change, change ──────► tick ─►
 *	thread:			   └── commit ──► free ...	    └── commit ──►
 *
 * So what is answered is in the store a commit, two at most, later.  Without the thread
 * (simulated time) each tick writes before it returns.
 */
#ifndef CORE_REGISTRY_SAVER_H
#define CORE_REGISTRY_SAVER_H

#include "core/registry/registry.h"

struct saver;
/* Registry and store are borrowed; the store outlives it.  wall_s: seconds since 1970.  apart: by a
 * thread; where none can be had, by ticks all the same, with a warning.  NULL: no memory. */
struct saver *saver_new(
    struct registry *r, struct store *store, int64_t (*wall_s)(void), bool apart);
/* What is in hand is written first, what is not yet is left to registry_save(); NULL is fine. */
void saver_free(struct saver *s);

/* Before an answer leaves: what it may promise and is not written yet is marked as pending
 * (store_set_pending()), until it is. */
void saver_note(struct saver *s);

/* By who owns the registry.  When to look again; INT64_MAX: all is written.  What cannot be written
 * is told, and tried again in a second. */
int64_t saver_tick(struct saver *s, int64_t now_ms);

#endif
