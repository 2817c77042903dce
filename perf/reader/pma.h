/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf/reader/pma.h - what is asked of a performance management agent, and what it says (IBA 16.1).
 *
 * Only questions are made here: a Get is all that this program can put into a MAD, so that it
 * cannot clear a counter of anybody's.
 */
#ifndef PERF_READER_PMA_H
#define PERF_READER_PMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/mad/transport.h"
#include "perf/book/counters.h"

#define PMA_CLASS 0x04
#define PMA_QP 1
#define PMA_QKEY 0x80010000
#define PMA_STATUS_REDIRECT 0x0002

enum pma_attr {
	PMA_CLASS_PORT_INFO,
	PMA_PORT_COUNTERS,
	PMA_EXTENDED, /* PortCountersExtended */
	PMA_SPEEDS,   /* PortExtendedSpeedsCounters */
	PMA_ATTRS
};

/* What an agent says of itself, ClassPortInfo. */
struct pma_info {
	bool has_64;	    /* PortCountersExtended */
	bool has_ietf;	    /* ... with packets by unicast and multicast */
	bool has_errors_64; /* ... with errors and PortXmitWait */
	bool has_wait;	    /* PortXmitWait in PortCounters */
	bool has_qp1;	    /* QP1Dropped */
	bool has_rs_fec;    /* totals of a port in PortExtendedSpeedsCounters */
	bool redirects;	    /* it is to be asked at `to` */
	struct mad_addr to; /* lid 0: it names a GID alone */
};

/* What one answer says of a port. */
struct pma_reading {
	uint32_t has;	 /* bit of each counter that it has */
	uint32_t at_end; /* ... that stands at its end; of lanes, one of them */
	uint64_t value[N_COUNTERS];
	uint8_t bits[N_COUNTERS]; /* how wide each is there; a sum of lanes: as one of them */
};

/* A Get of the attribute for a port (not of ClassPortInfo: 0). */
void pma_get(uint8_t mad[MAD_BYTES], enum pma_attr attr, uint8_t port, uint32_t tid);

struct pma_answer {
	uint32_t tid; /* the lower half */
	uint16_t status;
	enum pma_attr attr; /* PMA_ATTRS: another one */
	uint8_t port;
};
/* False: it is no answer of this class. */
bool pma_parse(const uint8_t *mad, size_t n, struct pma_answer *a);
void pma_parse_info(const uint8_t mad[MAD_BYTES], struct pma_info *info);
/* The counters of a whole answer with status 0, as far as its agent has them. */
void pma_parse_counters(const uint8_t mad[MAD_BYTES], enum pma_attr attr,
    const struct pma_info *info, struct pma_reading *r);

#endif
