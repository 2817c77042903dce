/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf/reader/meaning.h - from values of counters, read one after the other, to what was counted.
 *
 *	it has grown			the difference
 *	it has fallen			somebody has cleared it, or the device was booted: what it
 *					shows has come since; what came before that, and after
 *					the last read, nobody knows (`was_reset`)
 *	... of 32 bits, of data, by	it has gone round
 *	more than half, alone
 *	it stands at its end		it sticks there (IBA 16.1.3.5): at least so many (`at_end`)
 *
 * Counters of errors stick, so that one that has fallen was cleared: to take it for one that has
 * gone round would make up errors that nobody has seen.  Those of 64 bits do not go round in
 * our life.  Counters of data stick, too, by IBA, and go round in devices that are met.
 *
 * Nothing here knows of MADs, time or files.
 */
#ifndef PERF_READER_MEANING_H
#define PERF_READER_MEANING_H

#include <stdbool.h>
#include <stdint.h>

#include "perf/book/counters.h"
#include "perf/reader/pma.h"

/* What is kept of a port. */
struct meaning {
	uint64_t last[N_COUNTERS]; /* value that was read last */
	uint8_t bits[N_COUNTERS];  /* ... and its width; 0: not read yet */
};

/* What one answer adds. */
struct meaning_news {
	uint64_t added[N_COUNTERS]; /* 0 where it was read for the first time */
	uint32_t at_end;	    /* bits of those of its counters that stand at their ends */
	bool was_reset;
};

/* The answer is the next one of the port after those before. */
void meaning_take(struct meaning *m, const struct pma_reading *r, struct meaning_news *news);

#endif
