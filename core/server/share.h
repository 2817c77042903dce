/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/server/share.h - requests that wait, and whose turn it is.
 *
 * A client (a LID) has a queue of its own and the queues take turns, so that
 * who asks a thousand times waits behind itself.  Work is charged: a client
 * whose answers were long sits out turns until others have had as much.
 *
 *	client 7: [r][r][r]     turn -> 7, 9, 12, 7, 9, ...
 *	client 9: [r]
 *	client 12: [r][r]
 *
 * Bounds: requests and bytes, in all and of one client.  Whoever is beyond them is
 * to be told BUSY.  Put and take are O(1) amortised.
 */
#ifndef CORE_SERVER_SHARE_H
#define CORE_SERVER_SHARE_H

#include <stddef.h>

#include "core/mad/transport.h"

struct sa_share;
struct sa_share_limits {
	uint32_t n_max, n_client_max; /* requests that wait */
	size_t bytes_max, bytes_client_max;
};
/* NULL when memory is out. */
struct sa_share *sa_share_new(const struct sa_share_limits *l);
void sa_share_free(struct sa_share *s);

/* A copy waits its turn; false: it does not fit. */
bool sa_share_put(
    struct sa_share *s, const struct mad_addr *from, const uint8_t *bytes, size_t n_bytes);
/* Does this very request wait already?  O(those of the client). */
bool sa_share_has(
    const struct sa_share *s, const struct mad_addr *from, const uint8_t *bytes, size_t n_bytes);
/* The next one; good until the next take.  False: none waits. */
bool sa_share_take(
    struct sa_share *s, struct mad_addr *from, const uint8_t **bytes, size_t *n_bytes);
/* What the one taken last has cost, in units of a plain answer. */
void sa_share_charge(struct sa_share *s, uint32_t cost);
/* The one taken last is not done: it is the first of its client again, with the work that has gone
 * into it. */
struct sa_job;
void sa_share_put_back(struct sa_share *s, struct sa_job *work);
/* What the one taken last was put back with, NULL. */
struct sa_job *sa_share_work(const struct sa_share *s);

uint32_t sa_share_waiting(const struct sa_share *s);

#endif
