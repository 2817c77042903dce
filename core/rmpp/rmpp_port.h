/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/rmpp/rmpp_port.h - all RMPP transfers of one agent, both directions.
 *
 * What the kernel does for an agent registered with rmpp_version 1: a message
 * of any length goes out in segments, segments that come in are put together,
 * and only whole messages are seen by the owner.  No I/O and no clock of its
 * own: the owner sends MADs, tells arrivals and the time.
 *
 * A transfer is known by TID, class, method, LID and QP of the peer.  A
 * received one is remembered for a while after its end, without its bytes, so
 * that a sender who missed the last ACK gets it again.
 *
 * Bounds: n_max transfers in all, n_peer_max being received from one LID and
 * n_peer_send_max being sent to it, and limits.max_bytes each; newcomers beyond are told
 * STOP (no resources).
 * Finding one is O(1); time-outs are looked through once per shortest one.
 */
#ifndef CORE_RMPP_RMPP_PORT_H
#define CORE_RMPP_RMPP_PORT_H

#include "core/rmpp/rmpp.h"

struct rmpp_port_limits {
	struct rmpp_limits transfer;
	unsigned n_max, n_peer_max, n_peer_send_max;
	int64_t linger_ns;
};
/* 4096 transfers, 16 from a peer, 256 to it, 10 s. */
void rmpp_port_limits_default(struct rmpp_port_limits *l);

struct rmpp_port_ops {
	/* Send one MAD.  May not call the port. */
	void (*send)(void *arg, const uint8_t *mad, const struct mad_addr *to);
	/* A whole message is here; it is the port's, valid during the call.  The
	 * owner may start sends. */
	void (*received)(
	    void *arg, const uint8_t *message, size_t length, const struct mad_addr *from);
	/* A send has ended: 0, or why not (enum rmpp_status).  May be NULL. */
	void (*sent)(void *arg, uint64_t cookie, uint8_t status);
	void *arg;
};

struct rmpp_port_counts {
	uint64_t sent, received, failed; /* messages; failed: both directions */
	uint64_t resent;		 /* time-outs of senders */
	uint64_t refused;		 /* STOP for want of room */
	uint64_t strangers;		 /* ACKs and late words to no transfer */
};

struct rmpp_port;
/* NULL when memory is out. */
struct rmpp_port *rmpp_port_new(const struct rmpp_port_limits *l, const struct rmpp_port_ops *ops);
/* Drops all transfers without a word to anybody. */
void rmpp_port_free(struct rmpp_port *p);

/* How a send differs from the usual. */
struct rmpp_send_options {
	int64_t resend_ns; /* 0: as in the limits */
	int n_retries;	   /* -1: as in the limits */
	bool double_sided; /* the answer will be a transfer */
};
/* Send a message (header and data, copied) to a peer; o may be NULL.  `cookie`
 * comes back with ops.sent, never during this call.  FM_E_RESOURCE when there
 * are too many, FM_E_CONFIG when it is no message of an RMPP class. */
int rmpp_port_send(struct rmpp_port *p, const uint8_t *message, size_t length,
    const struct mad_addr *to, const struct rmpp_send_options *o, uint64_t cookie, int64_t now_ns,
    struct fm_error *err);
/* Stop a send without a word; ops.sent is not called. */
void rmpp_port_cancel(struct rmpp_port *p, uint64_t cookie);

/* An active MAD of an RMPP class (rmpp_is_active) has come in. */
void rmpp_port_take(
    struct rmpp_port *p, const uint8_t *mad, const struct mad_addr *from, int64_t now_ns);
/* When rmpp_port_tick() wants to be called next; INT64_MAX = not at all. */
int64_t rmpp_port_due(const struct rmpp_port *p);
void rmpp_port_tick(struct rmpp_port *p, int64_t now_ns);

const struct rmpp_port_counts *rmpp_port_counts(const struct rmpp_port *p);
/* Bytes of messages held, both directions. */
size_t rmpp_port_bytes(const struct rmpp_port *p);

#endif
