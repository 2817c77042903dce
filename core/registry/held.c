/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Leaky buckets: one for each LID, and one for all.
 */
#include "core/registry/held.h"

#include <stdlib.h>

#define N_LIDS 65536
#define OF_EACH 256 /* bytes: what keeping an answer costs, however short it is */

struct bucket {
	uint64_t bytes;
	int64_t at_ms;
};

struct sa_held {
	struct sa_held_limits limits;
	struct bucket all;
	struct bucket of[N_LIDS];
};

struct sa_held *
sa_held_new(const struct sa_held_limits *l)
{
	struct sa_held *h = calloc(1, sizeof(*h));

	if (h != NULL)
		h->limits = *l;
	return h;
}

void
sa_held_free(struct sa_held *h)
{
	free(h);
}

/* What has worn off by now. */
static void
leak(struct bucket *b, size_t max, int64_t hold_ms, int64_t now_ms)
{
	int64_t passed_ms = now_ms - b->at_ms;
	uint64_t off;

	b->at_ms = now_ms;
	if (b->bytes == 0 || passed_ms <= 0)
		return;
	/* emptied after the longest that it can take; so the product below is small */
	if ((uint64_t)passed_ms >= (b->bytes / max + 1) * (uint64_t)hold_ms) {
		b->bytes = 0;
		return;
	}
	off = (uint64_t)passed_ms * max / (uint64_t)hold_ms;
	b->bytes -= off < b->bytes ? off : b->bytes;
}

bool
sa_held_may(struct sa_held *h, uint16_t lid, int64_t now_ms)
{
	leak(&h->of[lid], h->limits.client_max, h->limits.hold_ms, now_ms);
	leak(&h->all, h->limits.all_max, h->limits.hold_ms, now_ms);
	return h->of[lid].bytes < h->limits.client_max && h->all.bytes < h->limits.all_max;
}

void
sa_held_add(struct sa_held *h, uint16_t lid, size_t n_bytes, int64_t now_ms)
{
	leak(&h->of[lid], h->limits.client_max, h->limits.hold_ms, now_ms);
	leak(&h->all, h->limits.all_max, h->limits.hold_ms, now_ms);
	h->of[lid].bytes += n_bytes + OF_EACH;
	h->all.bytes += n_bytes + OF_EACH;
}
