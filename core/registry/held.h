/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/registry/held.h - answers that may still be held for who has not acknowledged them.
 *
 * An answer of several MADs stays in memory (the kernel's, or core/mad/rmpp_port's) until
 * its client has acknowledged it or is given up, and nobody says when.  So each answer
 * counts as held and that is worn off at a steady rate, client_max bytes in hold_ms: who
 * acknowledges nothing holds at most
 *
 *	client_max + what wears off meanwhile (client_max) + the one answer that went beyond
 *
 * and all together the same of all_max.  O(1).
 */
#ifndef CORE_REGISTRY_HELD_H
#define CORE_REGISTRY_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sa_held;
struct sa_held_limits {
	size_t client_max, all_max; /* bytes */
	int64_t hold_ms;	    /* for so long at most */
};
struct sa_held *sa_held_new(const struct sa_held_limits *l); /* NULL: no memory */
void sa_held_free(struct sa_held *h);			     /* NULL is fine */

/* May this client (a LID) have another table? */
bool sa_held_may(struct sa_held *h, uint16_t lid, int64_t now_ms);
void sa_held_add(struct sa_held *h, uint16_t lid, size_t n_bytes, int64_t now_ms);

#endif
