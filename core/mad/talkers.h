/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/mad/talkers.h - who sends us how much: MADs of the last minute, by LID.
 *
 * A minute of the clock is counted, and the one before: of that as much as still lies within the
 * last 60 s, as if it had come evenly.  O(1) a MAD; memory for each LID that was ever heard.
 */
#ifndef CORE_MAD_TALKERS_H
#define CORE_MAD_TALKERS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/hash.h"
#include "lib/vec.h"

#define TALKERS_SHOWN 5

struct talker {
	uint16_t lid;
	uint32_t n, n_refused; /* MADs in the last minute; of them not served: told BUSY, dropped */
};

struct talker_row {
	int64_t minute;
	uint32_t n[2], n_refused[2]; /* in it, in the one before */
	uint16_t lid;
};

struct talkers { /* zeroed: nobody has been heard */
	FM_VEC(struct talker_row) rows;
	struct fm_hash of_lid;
};

void talkers_fini(struct talkers *t);
/* A MAD of this LID.  Without memory it is not counted. */
void talkers_note(struct talkers *t, uint16_t lid, int64_t now_ms);
/* One that was noted is not served. */
void talkers_refuse(struct talkers *t, uint16_t lid, int64_t now_ms);
/* The busiest first, and all together.  O(LIDs heard). */
struct talkers_seen {
	struct talker top[TALKERS_SHOWN]; /* [n] */
	unsigned n;
	struct talker all; /* lid 0 */
};
void talkers_look(const struct talkers *t, int64_t now_ms, struct talkers_seen *out);
/* One of the busiest that is to be told of: it was refused something, or sends 1,000 MADs a second
 * and more than all others together.  NULL: nobody. */
const struct talker *talkers_flood(const struct talkers_seen *seen);

#endif
