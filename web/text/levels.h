/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * web/text/levels.h - what has gone from one level of the fabric to another, summed over ports.
 *
 * A total only rises, as a counter has to: it is summed of what each port has sent since it was
 * read last, so that a switch that leaves takes nothing away with it.
 */
#ifndef WEB_TEXT_LEVELS_H
#define WEB_TEXT_LEVELS_H

#include "web/text/places.h"
#include "web/text/readings.h"

#define LEVELS_MOST 8 /* the next is for what has no level, or a higher one */
#define LEVELS_ALL (LEVELS_MOST + 1)

struct levels_pair {
	uint64_t bytes;	     /* sent, since fmd-web was started */
	uint64_t worst, p99; /* ticks a second that its ports wait; 0: none is known */
	uint32_t n_ports;    /* now */
};

struct levels {
	struct levels_pair pair[LEVELS_ALL * LEVELS_ALL]; /* from * LEVELS_ALL + to */
	uint64_t n_files, sweep;			  /* of readings, that were summed last */
	char generation[32];				  /* ... by the levels of */
	uint64_t *sent; /* [n_ports of them] in 4 bytes; NULL: none */
};

void levels_fini(struct levels *l);
/* Add what is new of r.  False: memory is out.  O(ports log ports) of a new sweep. */
bool levels_add(struct levels *l, const struct readings *r, const struct places *p);
/* "0", ..., "7", "unknown" */
const char *levels_name(unsigned level);

#endif
