/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/server/turns.h - requests of many clients, one after the other, the long ones in slices.
 *
 * The share (share.h) says whose turn it is.  A table that is not done when its slice is over
 * goes back to the head of its client's queue, and its client pays for the slice as for an
 * answer: so others wait for a slice at most, and a client's tables are made one by one.
 *
 *	client 7: [all paths, half made][r]	turn -> 9, 12, 7 (a slice), 9, 12, ...
 *	client 9: [r][r]
 *
 * Memory: tables that are begun hold begun_max bytes; beyond that only the oldest grows, to
 * what the SA lets a table be, and others wait for it.
 */
#ifndef CORE_SERVER_TURNS_H
#define CORE_SERVER_TURNS_H

#include "core/mad/talkers.h"
#include "core/registry/held.h"
#include "core/sa/sa.h"
#include "core/server/share.h"

struct sa_turns;
struct sa_turns_limits {
	struct sa_share_limits share;
	struct sa_held_limits held;
	size_t begun_max, request_max; /* bytes: of tables half made, of a request */
};
/* NULL: no memory.  sa is borrowed, and outlives it. */
struct sa_turns *sa_turns_new(struct sa *sa, const struct sa_turns_limits *l);
void sa_turns_free(struct sa_turns *t); /* NULL is fine; what waits is dropped */

/* A request waits its turn; false: there is no room, and BUSY was told.  One that waits already is
 * not taken again: clients repeat what is not answered, with its TID, and one answer is enough. */
bool sa_turns_put(struct sa_turns *t, const struct mad_addr *from, const uint8_t *bytes,
    size_t n_bytes, int64_t now_ms);
/* The next answer, or a slice of one; false: nobody waits. */
bool sa_turns_step(struct sa_turns *t, int64_t now_ms);
/* A whole answer now, for who does not put requests. */
void sa_turns_at_once(struct sa_turns *t, const struct mad_addr *from, const uint8_t *bytes,
    size_t n_bytes, int64_t now_ms);
/* By who sends for the SA: an answer has left, to be held until it is acknowledged if it is of
 * several MADs. */
void sa_turns_sent(
    struct sa_turns *t, const struct mad_addr *to, const uint8_t *bytes, size_t n_bytes);

uint32_t sa_turns_waiting(const struct sa_turns *t);
/* Who asks most; refused: told BUSY. */
void sa_turns_talkers(const struct sa_turns *t, int64_t now_ms, struct talkers_seen *out);
size_t sa_turns_begun_bytes(const struct sa_turns *t);

#endif
