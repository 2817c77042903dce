/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/mad/transact.h - requests and their answers.
 *
 * A request gets a TID, waits its turn in the window (one adaptive window per
 * fabric, a small one per node; those to nodes that do not answer wait in a
 * lane beside it), is sent, retried with backoff, and ends in
 * exactly one call of its callback: with the answer, or with a status.  The
 * answer is found by one look-up of its TID (the lower 32 bits: the upper
 * belong to the kernel), which nobody can guess.  Late, duplicated and forged answers are counted
 * and dropped.  What is no answer to a request of ours (traps, SMInfo, SA
 * queries) goes to the unsolicited handler.
 *
 * Callbacks run from txn_poll(), txn_drain() and txn_free(), never from
 * txn_smp() (but when memory is out); they may start requests.  While
 * txn_free() cancels, requests started by callbacks are cancelled as well.
 */
#ifndef CORE_MAD_TRANSACT_H
#define CORE_MAD_TRANSACT_H

#include "core/mad/transport.h"

#define DR_MAX_HOPS 63

/* How a request travels.  A mixed one (IBA 14.2.2) goes by LID to a switch, directed from
 * there, and its answer the same way back: by LID to slid in the end. */
struct smp_route {
	bool directed;
	uint16_t lid;	/* LID-routed: destination; mixed: the switch */
	uint16_t slid;	/* mixed: our LID; 0: directed or LID-routed as a whole */
	uint8_t n_hops; /* directed: hops from the local port; mixed: from the switch */
	uint8_t path[DR_MAX_HOPS + 1]; /* path[1..n_hops] egress ports; path[0] = 0 */
	uint64_t m_key;		       /* that opens the node; 0: the engine's */
	/* 0: as many as the engine's limits say.  Else so many, and it is no sign of congestion
	 * when they are lost: perhaps they cannot arrive, and the caller knows another way. */
	uint8_t max_tries;
	/* It goes past the node of its key, where perhaps nobody answers: that says nothing of
	 * the node, and holds a place in its window only till it is parked or lost. */
	bool beyond;
	/* Nobody waits for it any more: it holds no place in its node's window, and what becomes of
	 * it is no sign of losses. */
	bool aside;
	/* There was no answer before: one try, with a part of the time-out, so that those who wait
	 * for its end do not wait for long. */
	bool brief;
	/* 0: as long as the engine's limits say.  Else there is one try, for which the answer may
	 * take so long. */
	uint32_t wait_ms;
};
static inline bool
smp_is_mixed(const struct smp_route *r)
{
	return r->directed && r->slid != 0;
}

/* A request of another class than SMPs, to QP 1 of a port (IBA 13.5.1). */
struct gmp_route {
	uint16_t lid;
	uint8_t sl, mgmt_class, class_version;
	uint8_t n_tries; /* 1 or more; what is lost is no sign of congestion */
	uint64_t key;	 /* behind the common header */
};
#define GMP_DATA_AT 64 /* in the MAD, of the classes that are asked for here */
#define GMP_DATA_BYTES 192

enum txn_status {
	TXN_OK,	      /* answered, MAD status 0 */
	TXN_REFUSED,  /* answered with a MAD status other than 0 */
	TXN_TIMEOUT,  /* no answer after all retries */
	TXN_CANCELLED /* the engine was closed, or memory is out */
};

/* reply: the whole MAD, wire order, valid during the call; NULL unless OK or REFUSED. */
typedef void (*txn_done)(void *arg, enum txn_status status, const uint8_t *reply);

struct txn_limits {
	uint32_t timeout_ms; /* first try; doubles with each retry */
	uint8_t n_retries;
	uint16_t window_max;   /* first tries to nodes that answer, 1024 at most; the engine
				* adapts below it; probes have as many places (flight.h) */
	uint16_t per_node_max; /* per node key; a request waiting for its retry counts */
	uint64_t tid_seed;     /* tests: TIDs are a function of it; 0: nobody knows the next */
};

struct txn_counts {
	uint64_t sent, received, retries; /* MADs; sent includes retries */
	uint64_t timeouts, refused;	  /* SMPs that ended so */
	uint64_t useful_retries; /* of requests, not aside, that were answered in the end */
	uint64_t given_up;	 /* requests that ended unsent or early, txn_give_up() */
	/* Answers to requests given up and to requests answered; to none that was sent lately, or
	 * not to what it asked; MADs that the kernel gave back for another reason than silence. */
	uint64_t late, duplicates, forged, failed;
	uint64_t gets_by_attr[256],
	    sets_by_attr[256]; /* first sends of SMPs, by low byte of the attribute id */
};

/* Tries on the wire that no answer has come to yet, by what they hold (flight.h). */
struct txn_places {
	unsigned window, lane; /* a place there */
	unsigned parked;       /* none: they have been out for long */
	unsigned unproven;     /* of the parked: nothing sent after them was answered */
};

struct txn_engine;
/* NULL when memory is out, or the kernel has no random numbers.  Takes t->on_mad; does not close
 * t. */
struct txn_engine *txn_new(struct transport *t, const struct txn_limits *limits, uint64_t m_key);
/* Another M_Key for requests from now on. */
void txn_set_m_key(struct txn_engine *e, uint64_t m_key);
void txn_free(struct txn_engine *e); /* cancels what is outstanding */

/* Send an SMP (class 0x81 directed or mixed, 0x01 LID-routed).  method: Get or Set;
 * data: 64 bytes of SMP data for Set, or NULL.  node_key: requests with the
 * same key share the per-node window (0 = none).  Memory failure calls back
 * with TXN_CANCELLED. */
void txn_smp(struct txn_engine *e, const struct smp_route *route, uint8_t method, uint16_t attr,
    uint32_t modifier, const uint8_t *data, uint64_t node_key, txn_done done, void *arg);

/* Send a MAD of another class; data: GMP_DATA_BYTES for Set, or NULL.  node_key: as above, another
 * one than that of the node's SMPs: so nothing is thought of its SMA when an agent is silent. */
void txn_gmp(struct txn_engine *e, const struct gmp_route *route, uint8_t method, uint16_t attr,
    uint32_t modifier, const uint8_t *data, uint64_t node_key, txn_done done, void *arg);

/* A node is known not to answer: requests with its key that are not on the
 * wire end with TXN_TIMEOUT from the next txn_poll(), those that are when
 * their present try has run out. */
void txn_give_up(struct txn_engine *e, uint64_t node_key);

/* While it is on, a Set whose try has had no answer ends with TXN_TIMEOUT: the caller has something
 * else to do, and will look what came of it. */
void txn_impatient(struct txn_engine *e, bool on);

/* Of the requests with this callback those that are meant go on aside (smp_route.aside).
 * O(requests that are outstanding + nodes). */
void txn_set_aside(struct txn_engine *e, txn_done done, bool (*is_meant)(const void *arg));

/* Held, only what has no node (node_key 0) and is no Set leaves: whether the rest is still wanted
 * is to be found out first. */
void txn_hold(struct txn_engine *e, bool held);
/* Asked before each MAD that txn_hold() would hold.  False: the engine is held from now on, and
 * that MAD waits, too.  NULL: nobody is asked. */
void txn_set_fence(struct txn_engine *e, bool (*may_send)(void *arg), void *arg);
/* Nothing that was asked is wanted any more: requests that are not on the wire end with
 * TXN_CANCELLED before this is back, those that are when their present try has run out.
 * Not from a callback. */
void txn_cancel(struct txn_engine *e);

/* MADs that answer no request of ours; the handler may reply by txn_reply():
 * a copy of *m with method and data changed (the D bit is set for it). */
typedef void (*txn_unsolicited)(void *arg, const struct mad *m);
void txn_set_unsolicited(struct txn_engine *e, txn_unsolicited handler, void *arg);
int txn_reply(struct txn_engine *e, const struct mad *reply, struct fm_error *err);

unsigned txn_outstanding(const struct txn_engine *e); /* queued + on the wire */
unsigned txn_window(const struct txn_engine *e);      /* what the engine admits at present */
struct txn_places txn_places(const struct txn_engine *e);
const struct txn_counts *txn_counts(const struct txn_engine *e);
/* When the next timer is due (transport clock), INT64_MAX = none. */
int64_t txn_next_ns(const struct txn_engine *e);
/* Receive, expire timers, send what the window admits.  Waits until `until_ns` at most. */
int txn_poll(struct txn_engine *e, int64_t until_ns, struct fm_error *err);
/* Poll until nothing is outstanding; FM_E_CANCELLED when should_stop(arg) (may
 * be NULL, asked every 50 ms at least) ended it before. */
int txn_drain(struct txn_engine *e, bool (*should_stop)(void *), void *arg, struct fm_error *err);

#endif
