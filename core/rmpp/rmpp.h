/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/rmpp/rmpp.h - messages longer than one MAD (IBA 13.6): one transfer.
 *
 * A message is what libibumad calls one: the header of its class (SA: 56
 * bytes, RMPP header and component mask included) and behind it data of any
 * length.  On the wire every segment repeats that header and carries the next
 * 256 - header bytes.
 *
 *	sender   ──DATA 1──►                 receiver
 *	         ◄─ACK 1, window to 64──
 *	         ──DATA 2 .. 64──►
 *	         ◄─ACK 64, window to 128──   ... the last segment is always acknowledged
 *
 * Both ends are state machines with explicit time and without I/O: what is to
 * be sent is handed back, the caller owns addresses, clocks and timers.  Many
 * transfers at once, found by TID and peer: rmpp_port.h.
 */
#ifndef CORE_RMPP_RMPP_H
#define CORE_RMPP_RMPP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/mad/transport.h"

enum rmpp_byte { /* IBA 13.6.2: where the fields are in a MAD */
	RMPP_VERSION = 24,
	RMPP_TYPE = 25,
	RMPP_FLAGS = 26, /* RRespTime 5 bits, then the flags */
	RMPP_STATUS = 27,
	RMPP_SEGMENT = 28, /* of ACK: the last one that is here */
	RMPP_LENGTH = 32   /* DATA: PayloadLength; ACK: NewWindowLast */
};
enum rmpp_type { RMPP_DATA = 1, RMPP_ACK = 2, RMPP_STOP = 3, RMPP_ABORT = 4 };
enum rmpp_flag { RMPP_ACTIVE = 1, RMPP_FIRST = 2, RMPP_LAST = 4, RMPP_FLAG_BITS = 7 };
#define RMPP_RESP_TIME_NONE (31 << 3) /* RRespTime: none is promised */

/* RMPPStatus, IBA table 112.  1 comes in STOP, 118.. in ABORT. */
enum rmpp_status {
	RMPP_OK = 0,
	RMPP_NO_RESOURCES = 1,
	RMPP_TOO_LONG = 118,   /* T2L: total time */
	RMPP_BAD_LENGTH = 119, /* Last and PayloadLength contradict each other */
	RMPP_BAD_FIRST = 120,  /* First and SegmentNumber do */
	RMPP_BAD_TYPE = 121,
	RMPP_WINDOW_SMALL = 122, /* W2S: NewWindowLast below SegmentNumber */
	RMPP_SEGMENT_BIG = 123,	 /* S2B: beyond the window */
	RMPP_BAD_STATUS = 124,
	RMPP_BAD_VERSION = 125,
	RMPP_TOO_MANY_RETRIES = 126,
	RMPP_UNSPECIFIED = 127
};

enum rmpp_state { RMPP_RUNNING, RMPP_DONE, RMPP_FAILED };

#define RMPP_WINDOW_MAX 64

struct rmpp_limits {
	unsigned window;    /* segments the receiver lets the sender have under way, 1..64 */
	unsigned n_retries; /* in a row without progress */
	int64_t resend_ns;  /* sender: no ACK for so long: again from the last one acknowledged */
	int64_t idle_ns;    /* receiver: no segment for so long: given up */
	size_t max_bytes;   /* of a message that is received; more is stopped */
};
/* 64 segments, 3 retries, 2 s (as the kernel), 40 s, 64 MiB. */
void rmpp_limits_default(struct rmpp_limits *l);

/* Bytes of the header before the data in classes that have RMPP, else 0. */
unsigned rmpp_header_bytes(uint8_t mgmt_class);
/* Is this MAD part of a transfer: such a class, and Active? */
bool rmpp_is_active(const uint8_t *mad);
/* How many segments a message of this length needs; at least 1. */
uint32_t rmpp_segments(uint8_t mgmt_class, size_t length);

/* ---- sending a message */
struct rmpp_sender {
	struct rmpp_limits limits;
	const uint8_t *message; /* borrowed while state is RUNNING */
	size_t length;
	uint32_t n_segments;
	uint32_t acked;	  /* all up to this one are there */
	uint32_t next;	  /* to be sent next; acked < next <= n_segments + 1 */
	uint32_t highest; /* ever sent */
	uint32_t allowed; /* window: the last one that may be sent */
	unsigned retries_left;
	int64_t due_ns;
	enum rmpp_state state;
	uint8_t status;	    /* enum rmpp_status of a failure */
	uint8_t owed;	    /* enum rmpp_type of the last word yet to be sent; 0 = none */
	bool double_sided;  /* the answer will be a transfer too */
	uint8_t header[36]; /* of the message: for last words after it is gone */
};
/* length: header included.  window: how many segments may be sent before the
 * first ACK: 1, but in the answer of a double-sided transfer what the peer
 * granted.  The caller fills in the header of the message but for RMPP. */
void rmpp_sender_init(struct rmpp_sender *s, const struct rmpp_limits *l, const uint8_t *message,
    size_t length, uint32_t window, bool double_sided, int64_t now_ns);
/* The next MAD to send, until false.  Ask after init, take and tick. */
bool rmpp_sender_next(struct rmpp_sender *s, int64_t now_ns, uint8_t *mad);
/* An ACK, STOP or ABORT for it has come. */
void rmpp_sender_take(struct rmpp_sender *s, const uint8_t *mad, int64_t now_ns);
/* due_ns has come (earlier calls do no harm). */
void rmpp_sender_tick(struct rmpp_sender *s, int64_t now_ns);

/* ---- receiving one */
struct rmpp_receiver {
	struct rmpp_limits limits;
	uint8_t *message; /* header and data so far; NULL before the first segment */
	size_t room, length;
	uint32_t have;	    /* all segments up to this one are here */
	uint32_t allowed;   /* window as granted */
	uint32_t last;	    /* number of the last segment, 0 = not seen yet */
	uint64_t ahead;	    /* bit i: segment have + 1 + i is here */
	uint8_t last_bytes; /* of data in the last segment */
	int64_t due_ns;
	enum rmpp_state state;
	uint8_t status;
	bool by_peer; /* failed: the sender gave up */
	uint8_t header[36];
};
void rmpp_receiver_init(struct rmpp_receiver *r, const struct rmpp_limits *l, int64_t now_ns);
/* A segment, or the sender's STOP or ABORT.  True: send the answer that is in
 * reply now.  When the state becomes DONE the message is whole. */
bool rmpp_receiver_take(
    struct rmpp_receiver *r, const uint8_t *mad, int64_t now_ns, uint8_t *reply);
/* due_ns has come.  True: send the ABORT in reply. */
bool rmpp_receiver_tick(struct rmpp_receiver *r, int64_t now_ns, uint8_t *reply);
/* Frees the message; the receiver still acknowledges late segments. */
void rmpp_receiver_drop(struct rmpp_receiver *r);

/* A word to the sender of `mad` that belongs to no transfer we know. */
void rmpp_refuse(const uint8_t *mad, uint8_t status, uint8_t *reply);

#endif
