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
 *
 * Where standbys have a copy, each tick gives them at once what has changed, and an answer that
 * promises something waits until they have it (saver_may_send()).
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

/* Who has a copy.  put(): the number of this change, 0: nobody has one, or it is not needed.
 * have(): do all who are to be waited for have it, and all before it? */
struct saver_copy {
	uint64_t (*put)(void *arg, const struct store_record *r, uint32_t n, bool anew);
	bool (*have)(void *arg, uint64_t number);
	void *arg;
};
void saver_set_copy(struct saver *s, const struct saver_copy *copy); /* NULL: nobody */

/* Before an answer leaves: what it may promise and is not written yet is marked as pending
 * (store_set_pending()), until it is.  True: it is to wait for the number that the next tick gives
 * (saver_number()). */
bool saver_note(struct saver *s);
/* Of the last change that was given to who has a copy. */
uint64_t saver_number(const struct saver *s);
/* May answers leave that wait for this number? */
bool saver_may_send(const struct saver *s, uint64_t number);

/* By who owns the registry.  When to look again; INT64_MAX: all is written.  What cannot be written
 * is told, and tried again in a second. */
int64_t saver_tick(struct saver *s, int64_t now_ms);

#endif
