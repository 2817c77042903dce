/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/mad/requests.h - memory of requests: chunks that live as long as the
 * engine, their requests on a list while they are free.  All O(1).
 */
#ifndef CORE_MAD_REQUESTS_H
#define CORE_MAD_REQUESTS_H

#include "core/mad/nodes.h"

struct request_store {
	struct requests idle;
	FM_VEC(struct request *) chunks;
};

void requests_init(struct request_store *s);
/* All requests, given back or not, are gone. */
void requests_fini(struct request_store *s);
struct request *requests_take(struct request_store *s); /* NULL: out of memory */
void requests_give_back(struct request_store *s, struct request *r);

/* request_mad.c */
/* Where it goes and what it sets (NULL: a Get); not yet tried. */
void request_fill(struct request *r, const struct smp_route *route, const uint8_t *data);
void request_fill_gmp(struct request *r, const struct gmp_route *route, const uint8_t *data);
/* All but the TID; m_key unless its route has one. */
void request_to_mad(const struct request *r, uint64_t m_key, struct mad *m);
/* Is *m, whose header is *h, an answer to this and nothing else, its TID apart? */
bool request_is_answered_by(
    const struct request *r, const struct mad *m, const struct wire_header *h);

#endif
