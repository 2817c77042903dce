/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/mad/transact.h - requests and their answers.
 *
 * A request gets a TID, waits its turn in the window (one adaptive window per
 * fabric, a small one per node), is sent, retried with backoff, and ends in
 * exactly one call of its callback: with the answer, or with a status.  The
 * answer is found by one look-up of its TID (the lower 32 bits: the upper
 * belong to the kernel).  Late, duplicated and foreign answers are counted
 * and dropped.  What is no answer to a request of ours (traps, SMInfo, SA
 * queries) goes to the unsolicited handler.
 */
#ifndef CORE_MAD_TRANSACT_H
#define CORE_MAD_TRANSACT_H

#include "core/mad/transport.h"

#define DR_MAX_HOPS 63

/* How a request travels. */
struct smp_route {
	bool directed;
	uint16_t lid;		      /* LID-routed: destination */
	uint8_t n_hops;		      /* directed: hops from the local port */
	uint8_t path[DR_MAX_HOPS + 1]; /* path[1..n_hops] egress ports; path[0] = 0 */
};

enum txn_status {
	TXN_OK,	      /* answered, MAD status 0 */
	TXN_REFUSED,  /* answered with a MAD status other than 0 */
	TXN_TIMEOUT,  /* no answer after all retries */
	TXN_CANCELLED /* the engine was closed or the caller gave it up */
};

/* reply: the whole MAD, wire order, valid during the call; NULL unless OK or REFUSED. */
typedef void (*txn_done)(void *arg, enum txn_status status, const uint8_t *reply);

struct txn_limits {
	uint32_t timeout_ms;	/* first try; doubles with each retry */
	uint8_t n_retries;
	uint16_t window_max;	/* per fabric; the engine adapts below it */
	uint16_t per_node_max;	/* per node key */
};

struct txn_counts {
	uint64_t sent, received, retries, timeouts, refused;
	uint64_t late, foreign, duplicates;
	uint64_t gets_by_attr[256], sets_by_attr[256]; /* first sends, by low byte of the attribute id */
};

struct txn_engine;
struct txn_engine *txn_new(struct transport *t, const struct txn_limits *limits, uint64_t m_key);
void txn_free(struct txn_engine *e); /* cancels what is outstanding */

/* Send an SMP (class 0x81 directed or 0x01 LID-routed).  method: Get or Set;
 * data: 64 bytes of SMP data for Set, or NULL.  node_key: requests with the
 * same key share the per-node window (0 = none).  Memory failure calls back
 * with TXN_CANCELLED. */
void txn_smp(struct txn_engine *e, const struct smp_route *route, uint8_t method, uint16_t attr,
    uint32_t modifier, const uint8_t *data, uint64_t node_key, txn_done done, void *arg);

/* MADs that answer no request of ours; the handler may reply by txn_reply(). */
typedef void (*txn_unsolicited)(void *arg, const struct mad *m);
void txn_set_unsolicited(struct txn_engine *e, txn_unsolicited handler, void *arg);
int txn_reply(struct txn_engine *e, const struct mad *reply, struct fm_error *err);

unsigned txn_outstanding(const struct txn_engine *e); /* queued + on the wire */
const struct txn_counts *txn_counts(const struct txn_engine *e);
/* When the next timer is due (transport clock), INT64_MAX = none. */
int64_t txn_next_ns(const struct txn_engine *e);
/* Receive, expire timers, send what the window admits.  Waits until `until_ns` at most. */
int txn_poll(struct txn_engine *e, int64_t until_ns, struct fm_error *err);
/* Poll until nothing is outstanding or should_stop(arg) says so. */
int txn_drain(struct txn_engine *e, bool (*should_stop)(void *), void *arg, struct fm_error *err);

#endif
