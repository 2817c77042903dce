/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf/health/evidence.h - which counters speak against a cable, from how many on, and whom they
 * accuse.
 *
 * A row's numbers are counts of one hour.  "watch" is the threshold that infiniband-diags has for
 * the counter (error_thresholds), "bad" ten times that.  Three need no threshold, as a sound cable
 * never shows them: a link that went down, or had to recover, and a block that FEC could not
 * correct.  Blocks that FEC has corrected are its work: they are told beside other evidence and
 * accuse nobody.
 *
 * Not in the table, since they are no cable's: PortRcvRemotePhysicalErrors (the packet was spoilt
 * on a wire before this one, whose own receiver has counted it), PortRcvSwitchRelayErrors,
 * VL15Dropped, QP1Dropped, constraint errors and discards.
 */
#ifndef PERF_HEALTH_EVIDENCE_H
#define PERF_HEALTH_EVIDENCE_H

#include <stdint.h>

#include "perf/book/counters.h"

#define N_EVIDENCE 10
#define EVIDENCE_DOWNED 0 /* the row of LinkDownedCounter */

enum evidence_accuses {
	ACCUSES_NOBODY,
	ACCUSES_WIRE,  /* both ends alike */
	ACCUSES_SENDER /* the wire, and the port at the other end, which sends */
};

struct evidence_row {
	enum counter counter;
	const char *word;    /* for programs, so that it stays: "symbol_errors" */
	uint32_t watch, bad; /* from so many an hour on; 0: never */
	enum evidence_accuses accuses;
};
extern const struct evidence_row evidence_rows[N_EVIDENCE];

#endif
