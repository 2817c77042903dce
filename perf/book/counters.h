/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf/book/counters.h - the counters of a port that are kept, by the names that perfquery(8) has.
 *
 * The order is that of rows in the file: a new one goes to the end.
 */
#ifndef PERF_BOOK_COUNTERS_H
#define PERF_BOOK_COUNTERS_H

#include <stdint.h>

enum counter {
	COUNTER_SYMBOL_ERRORS,
	COUNTER_LINK_RECOVERIES,
	COUNTER_LINK_DOWNED,
	COUNTER_RCV_ERRORS,
	COUNTER_REMOTE_PHYSICAL,
	COUNTER_RELAY_ERRORS,
	COUNTER_XMIT_DISCARDS,
	COUNTER_XMIT_CONSTRAINT,
	COUNTER_RCV_CONSTRAINT,
	COUNTER_LINK_INTEGRITY,
	COUNTER_BUFFER_OVERRUN,
	COUNTER_VL15_DROPPED,
	COUNTER_QP1_DROPPED,
	COUNTER_XMIT_DATA, /* in 4 bytes, as the next */
	COUNTER_RCV_DATA,
	COUNTER_XMIT_PACKETS,
	COUNTER_RCV_PACKETS,
	COUNTER_XMIT_WAIT, /* ticks, whose length is the device's */
	COUNTER_UNICAST_XMIT,
	COUNTER_UNICAST_RCV,
	COUNTER_MULTICAST_XMIT,
	COUNTER_MULTICAST_RCV,
	COUNTER_SYNC_HEADER,
	COUNTER_UNKNOWN_BLOCK,
	COUNTER_LANE_ERRORS, /* of all lanes, as the next two */
	COUNTER_FEC_CORRECTED,
	COUNTER_FEC_UNCORRECTED,
	COUNTER_FEC_SYMBOLS,
	N_COUNTERS
};

/* "PortXmitData" */
const char *counter_name(enum counter c);
/* Does it say that something is wrong? */
int counter_is_error(enum counter c);

#endif
