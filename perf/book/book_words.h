/* SPDX-License-Identifier: BSD-2-Clause */
/* perf/book/book_words.h - where what stands in the file: for its writer, its reader, and tests. */
#ifndef PERF_BOOK_BOOK_WORDS_H
#define PERF_BOOK_BOOK_WORDS_H

#include "perf/book/book.h"

#define BOOK_MAGIC UINT64_C(0x31746e63646d66) /* "fmdcnt1" */

enum book_head_words {
	HEAD_MAGIC,
	HEAD_BYTES, /* of the file */
	HEAD_NODES,
	HEAD_PORTS,
	HEAD_ROWS, /* words of a node's row << 32 | of a port's */
	HEAD_SEQ,  /* from here on what changes */
	HEAD_SWEEP,
	HEAD_BEGAN,
	HEAD_SWEEP_BEGAN,
	HEAD_SWEEP_ENDED,
	HEAD_INTERVAL,
	HEAD_PORTS_WANTED, /* << 32 | read */
	HEAD_SILENT,	   /* << 32 | late sweeps */
	HEAD_OLD,
	BOOK_HEAD_WORDS = 32
};

enum book_node_words {
	NODE_GUID,
	NODE_PORTS, /* first row << 32 | how many << 8 | type */
	NODE_NAME,
	NODE_SEQ = NODE_NAME + BOOK_NAME_BYTES / 8,
	NODE_FLAGS,
	BOOK_NODE_WORDS = 16
};

enum book_port_words {
	PORT_SUM,
	PORT_READ = PORT_SUM + 32, /* room for more counters */
	PORT_AT_END,		   /* << 32 | unread */
	PORT_FLAGS,		   /* << 32 | span */
	PORT_XMIT_RATE,
	PORT_RCV_RATE,
	PORT_WAIT_RATE,
	PORT_ERROR_RATE,
	PORT_PEER,    /* << 32 | port */
	PORT_PLANNED, /* << 32 | Mbit/s */
	BOOK_PORT_WORDS = 48
};

_Static_assert(HEAD_OLD < BOOK_HEAD_WORDS && NODE_FLAGS < BOOK_NODE_WORDS, "rows");
_Static_assert(N_COUNTERS <= PORT_READ - PORT_SUM && PORT_PLANNED < BOOK_PORT_WORDS, "rows");

static inline uint64_t
book_pair(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

static inline uint64_t
book_bytes(uint32_t n_nodes, uint32_t n_ports)
{
	return 8 *
	    (BOOK_HEAD_WORDS + (uint64_t)n_nodes * BOOK_NODE_WORDS +
		(uint64_t)n_ports * BOOK_PORT_WORDS);
}

/* The first word of a row. */
static inline uint64_t
book_node_at(uint32_t node)
{
	return BOOK_HEAD_WORDS + (uint64_t)node * BOOK_NODE_WORDS;
}
static inline uint64_t
book_port_at(uint32_t n_nodes, uint32_t row)
{
	return book_node_at(n_nodes) + (uint64_t)row * BOOK_PORT_WORDS;
}

/* The row of a port. */
static inline void
book_port_of(const uint64_t *w, struct book_port *p)
{
	*p = (struct book_port){ .at_end = (uint32_t)(w[PORT_AT_END] >> 32),
		.unread = (uint32_t)w[PORT_AT_END],
		.flags = (uint32_t)(w[PORT_FLAGS] >> 32),
		.read_ms = (int64_t)w[PORT_READ],
		.span_ms = (uint32_t)w[PORT_FLAGS],
		.xmit_rate = w[PORT_XMIT_RATE],
		.rcv_rate = w[PORT_RCV_RATE],
		.wait_rate = w[PORT_WAIT_RATE],
		.error_rate = w[PORT_ERROR_RATE],
		.peer = (uint32_t)(w[PORT_PEER] >> 32),
		.peer_port = (uint8_t)w[PORT_PEER],
		.mbps = (uint32_t)w[PORT_PLANNED],
		.planned = (uint32_t)(w[PORT_PLANNED] >> 32) };
	for (int i = 0; i < N_COUNTERS; i++)
		p->sum[i] = w[PORT_SUM + i];
}

#endif
