/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/cabling/watch.h - what of the fabric is not as topology_file has it, as the last sweep has
 * found it: for events, fmctl trouble and fmctl health.
 *
 * Differences are told as one event, which ends when there are none; where they are others than
 * before, they are told anew.  A row keeps since when it is so while its sentence is the same.
 * It costs the loop 13 to 42 ms at 11,664 hosts on a loaded core, after SUBNET UP.
 */
#ifndef CORE_CABLING_WATCH_H
#define CORE_CABLING_WATCH_H

#include "core/cabling/cabling.h"

#define CABLING_ROWS 1000 /* that are kept */

/* Zeroed: nothing has been looked at. */
struct cabling_watch {
	json_t *rows;	/* [{"since", "kind", "tries", "at", "other", "entries", "text"}] */
	json_t *found;	/* {"file", "same", "differences", "notes", "counts"} */
	uint64_t event; /* that told of them; 0: none has, or they are over */
};

/* A sweep has ended under our rule.  want, file: as they are to be; NULL: no file is given, and
 * nothing is known.  O(ports). */
void cabling_watch_look(struct cabling_watch *w, const char *file, const struct netlist *want,
    const struct inventory *inv);
/* Somebody else rules, or fmd stops. */
void cabling_watch_forget(struct cabling_watch *w);

#endif
