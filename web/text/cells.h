/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * web/text/cells.h - what is told of each port to who draws it: four bytes.
 *
 *	64 bytes	magic, version, nodes, ports (4 bytes each); number of the reading, when it
 *			ended (8 each, ms UTC); interval (4, ms); 0
 *	8 a node	GUID
 *	4 a node	the row of its port 1
 *	4 a node	how many ports
 *	1 a port	load, of all rows; then wait, errors, state, each of all rows
 *
 * All is little-endian.  Load and wait are bytes of history.h; errors 0, or 1 + the logarithm to
 * base 2 of how many the port has had in the last hour.
 */
#ifndef WEB_TEXT_CELLS_H
#define WEB_TEXT_CELLS_H

#include "web/text/hour.h"
#include "web/text/readings.h"
#include "web/text/text.h"

#define CELLS_MAGIC 0x43444d46 /* "FMDC" */
#define CELLS_VERSION 1
#define CELLS_HEAD 64

enum cell_state { CELL_MISSING = 1, CELL_NO_CABLE = 2, CELL_NEVER = 4, CELL_RESET = 8 };

/* bytes: of load and wait [n_ports * HISTORY_PORT_BYTES], NULL: those of the last reading.
 * O(ports).  Whether memory was out t->is_lost tells. */
void cells_write(
    const struct readings *r, const struct hour *h, const uint8_t *bytes, struct text *t);

#endif
