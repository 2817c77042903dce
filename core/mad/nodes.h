/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/mad/nodes.h - requests waiting for their turn, node by node.
 *
 * Requests with one key share a small window, and are sent in the order they
 * came.  Nodes that have something to send and room in their window stand in
 * a ring and are served in turn:
 *
 *	ring --> node 7: [r1 r5 r6]   sent 2 of 3
 *	     --> node 2: [r3]         sent 0 of 3
 *	         node 5: [r2 r4]      sent 3 of 3: not in the ring
 *
 * so one slow switch holds up only itself.  Nodes that are late have a ring of their own, one
 * request at a time, so that they hold up nobody but each other.  A node without requests rests:
 * its key is remembered until so many rest that the longest idle is
 * forgotten.  All O(1).
 */
#ifndef CORE_MAD_NODES_H
#define CORE_MAD_NODES_H

#include <sys/queue.h>

#include "core/mad/slots.h"
#include "core/mad/transact.h"
#include "core/wire/wire.h"
#include "lib/hash.h"
#include "lib/vec.h"

/* What is sent to nodes that answer, and what is sent again or to nodes that do not. */
enum lane { LANE_WINDOW, LANE_PROBES, N_LANES };
enum place { IN_NODE_QUEUE, ON_WIRE, AGAIN, GIVEN_UP };

struct request {
	TAILQ_ENTRY(request) in; /* the list of its place */
	txn_done done;
	void *arg;
	struct node *node;
	int64_t sent_ns, deadline_ns; /* of this try */
	uint32_t number;	      /* of its first try (slots.h) */
	uint32_t modifier;
	uint16_t attr;
	uint8_t method, n_tries;
	bool has_data;
	bool is_parked; /* on the wire, without a place (flight.h) */
	bool is_aside;	/* it has given its place in its node's window up */
	enum lane lane; /* of this try */
	enum place place;
	struct smp_route route;	      /* of a GMP lid, key and tries */
	struct gmp_route gmp;	      /* mgmt_class 0: it is an SMP */
	uint8_t data[GMP_DATA_BYTES]; /* of an SMP the first WIRE_SMP_DATA_BYTES */
};
TAILQ_HEAD(requests, request);

/* Which try is on the wire, or was last, from 0; with TID_MAX_TRIES the last stands for all
 * beyond. */
static inline unsigned
request_try(const struct request *r)
{
	return r->n_tries - 1u < TID_MAX_TRIES ? r->n_tries - 1u : TID_MAX_TRIES - 1;
}

/* LATE: a try has had no answer, and nothing has been answered since.  Such a node gets no
 * second request beside those that are out.  Of key 0, which is no node's, nothing is known. */
enum node_voice { NODE_NEW, NODE_HEARD, NODE_LATE };

struct node {
	TAILQ_ENTRY(node) in; /* a ring, or resting */
	struct requests queue;
	uint64_t key;
	uint32_t index;			    /* in nodes.all */
	unsigned n_sent, n_aside, n_queued; /* aside: of those sent, without a place here */
	bool in_ring, is_crowded, is_resting;
	enum node_voice voice;
	bool is_given_up; /* no more tries, until a new request comes */
};
TAILQ_HEAD(ring, node);

struct nodes {
	unsigned window; /* requests sent per node; key 0 has none */
	struct ring ring[N_LANES];
	unsigned n_crowded;  /* nodes with something to send and no room */
	struct ring resting; /* longest first */
	unsigned n_resting;
	struct fm_hash of_key; /* key -> index in all */
	FM_VEC(struct node *) all;
};

void nodes_init(struct nodes *ns, unsigned window);
void nodes_fini(struct nodes *ns);
/* The node of a key, made if need be; NULL when memory is out. */
struct node *nodes_find(struct nodes *ns, uint64_t key);
void nodes_queue(struct nodes *ns, struct node *n, struct request *r);
/* The next request of the next node of a lane in turn, now counted as sent; NULL when
 * no node has both a request and room. */
struct request *nodes_take(struct nodes *ns, enum lane lane);
/* The next request of this node, which has one, as if it were its turn. */
struct request *nodes_take_from(struct nodes *ns, struct node *n);
/* All that wait at a node leave it, in order, for the end of *to. */
void nodes_drop(struct nodes *ns, struct node *n, struct requests *to);
/* A request that was sent past its node, or that nobody waits for, gives its place to others of the
 * node. */
void nodes_step_aside(struct nodes *ns, struct request *r);
/* It has answered. */
void nodes_heard(struct nodes *ns, struct node *n);
/* It has not.  True when it had answered since it was last lost, or since it was met. */
bool nodes_lost(struct nodes *ns, struct node *n);
/* A request taken has ended. */
void nodes_done(struct nodes *ns, const struct request *r);

#endif
