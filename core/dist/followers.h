/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/dist/followers.h - who follows a place, and who did: a follower that is gone is in no list
 * of the place any more.
 *
 * Followers are known by the names that the place has for them; several may have the same one, as
 * those that come through a tunnel have.  Of a name the most that were there at once is what is to
 * be there.  It is gone when fewer have been there for 15 s, and what is there is all that is to be
 * there when fewer have been there for a day.
 *
 * Relays at any depth tell of themselves, too (host/agent/above.h), by the names of their hosts: of
 * each there is one however often it is told.
 *
 * A look is begin, any number of count and note, and end.  O(names) for each count.
 */
#ifndef CORE_DIST_FOLLOWERS_H
#define CORE_DIST_FOLLOWERS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/vec.h"

#define FOLLOWERS_MOST 512 /* names; those beyond are not watched */
#define FOLLOWERS_GONE_MS INT64_C(15000)
#define FOLLOWERS_FORGET_MS (INT64_C(24) * 3600 * 1000)

struct follower {
	char name[128];
	bool tells;	     /* of itself */
	unsigned here, most; /* as of the last look; at once, since it has been known */
	int64_t fewer_ms;    /* when fewer than most were seen first; -1: all are here */
	bool gone;
	uint64_t event; /* that told that it is */
};

struct followers {
	FM_VEC(struct follower) item;
	bool is_full; /* that names are not watched has been told */
};

void followers_fini(struct followers *f);
void followers_begin(struct followers *f);
/* One of this name is there. */
void followers_count(struct followers *f, const char *name);
/* The one that tells of itself by this name is there. */
void followers_note(struct followers *f, const char *name);
/* Are fewer there of any name than are to be?  Between begin and end: as counted so far. */
bool followers_lack(const struct followers *f);
/* What was counted holds at this time (CLOCK_MONOTONIC).  It is logged when one is gone, is there
 * again or is forgotten; place: words for where they followed. */
void followers_end(struct followers *f, int64_t now_ms, const char *place);

/* The sentence of one that is gone, in text[FOLLOWER_SENTENCE]. */
#define FOLLOWER_SENTENCE 640
const char *follower_say_gone(const struct follower *one, const char *place, char *text);

#endif
