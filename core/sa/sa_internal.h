/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sa/sa_internal.h - what the SA is made of, for sa.c and answer.c.
 */
#ifndef CORE_SA_SA_INTERNAL_H
#define CORE_SA_SA_INTERNAL_H

#include "core/sa/sa.h"
#include "lib/log.h"
#include "lib/vec.h"

struct sa_answer {
	uint8_t *item; /* [n], of room */
	size_t n, room;
};

/* An answer that waits until standbys have what it promises. */
struct sa_held_answer {
	uint64_t number; /* of the change (saver.h); 0: not known yet */
	struct mad_addr to;
	uint8_t bytes[WIRE_MAD_BYTES];
};

struct sa {
	struct sa_slot *slot;
	struct sa_out out;
	struct registry *registry;
	struct notices *notices; /* NULL without a registry */
	struct saver *saver;	 /* NULL: nothing is kept */
	struct fm_log_bucket key_bucket, denied_bucket, claim_bucket;
	sa_group_fn on_group;
	void *on_group_arg;
	sa_alias_fn on_alias;
	void *on_alias_arg;
	sa_lost_fn on_lost;
	void *on_lost_arg;
	sa_claims_fn on_claims;
	void *on_claims_arg;
	int64_t claims_ms; /* they were told last */
	struct sa_counts counts;
	struct sa_answer answer;
	FM_VEC(struct sa_held_answer) held; /* in order */
};

/* trust.c: may a request that shows no key be looked at, under SA_UNTRUSTED_RESTRICT? */
bool sa_may_untrusted(const struct sa_query *q);

/* The requester's own, or an alias of it. */
bool sa_is_own_gid(const struct sa_query *q, struct sa_gid gid);

/* answer.c */
/* Is it a request to the SA, and has its method an answer? */
bool sa_expects_answer(const struct sa_header *h);
bool sa_is_table(uint8_t method);
/* The answer may be as long as n_bytes; false: it must not, or there is no memory. */
bool sa_make_room(struct sa *sa, size_t n_bytes);
/* IBA 15.4.1: what was asked, with the status. */
void sa_send_status(struct sa *sa, const struct mad_addr *to, const struct sa_header *asked,
    const uint8_t *bytes, size_t n_bytes, uint16_t status);
/* Those of the answers that are held that may leave by now.  rules: else none does, and all are
 * forgotten: who asked asks another. */
void sa_send_held(struct sa *sa, bool rules);
void sa_send_records(struct sa *sa, const struct sa_query *q);

#endif
