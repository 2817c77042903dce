/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf/book/history.h - the last readings of each port: how full its cable was, how long packets
 * waited.
 *
 *	head	HISTORY_HEAD_WORDS: magic, bytes, nodes, ports, readings
 *	nodes	two words each: GUID; first port << 32 | how many
 *	slots	HISTORY_SLOTS, by turns: number of the reading, when it ended, two bytes a port
 *
 * An hour, where ports are read each 10 s; 50 MB at 69,984 ports.  A byte is a logarithm: load in
 * steps of 4 % of itself down to 0.005 % of the cable, wait in steps of 10 % up to 10^10 ticks a
 * second.  Words are those of this machine.  A reader read()s and believes nothing; the number of a
 * slot is 0 while it is written.  Other nodes are another file, into which what is known of the
 * same ports is taken over.
 */
#ifndef PERF_BOOK_HISTORY_H
#define PERF_BOOK_HISTORY_H

#include "perf/book/book.h"

#define HISTORY_SLOTS 360
#define HISTORY_SUFFIX ".history" /* behind the name of the file of counters */

struct history; /* as its writer has it */

/* In the place of what is at path, whose readings of the same ports stay; nodes as of book_make(),
 * as is group.  FM_E_SYSTEM, FM_E_RESOURCE.  O(bytes of the file), 0.1 s for 50 MB. */
int history_make(const char *path, const struct book_node *nodes, uint32_t n_nodes, gid_t group,
    struct history **out, struct fm_error *err);
/* The rates that b has now, of the same nodes.  FM_E_SYSTEM, FM_E_RESOURCE: they are not kept. */
int history_put(struct history *h, const struct book *b, int64_t ended_ms, struct fm_error *err);
void history_close(struct history *h); /* NULL is fine */

struct history_point {
	int64_t ended_ms; /* UTC */
	double load;	  /* of what the cable carries, 0 to 1; below 0: not read */
	double wait;	  /* ticks a second; below 0: not read */
};

/* Of a port, oldest first; *n of points[HISTORY_SLOTS].  FM_E_SYSTEM: it is not there, or does not
 * know the port; FM_E_TOPOLOGY: it is no such file. */
int history_read(const char *path, uint64_t guid, unsigned port, struct history_point *points,
    uint32_t *n, struct fm_error *err);

/* As a slot has it: two bytes a port, load and wait; 0: not read, 1: nothing, else a logarithm, 255
 * all that the cable carries, 2 one tick a second. */
#define HISTORY_PORT_BYTES 2
void history_bytes(const struct book_port *p, uint8_t bytes[HISTORY_PORT_BYTES]);
/* Of all ports of these nodes, in their rows, the mean of load and the greatest wait of all
 * readings: bytes[ports * HISTORY_PORT_BYTES].  FM_E_SYSTEM: it is not there, or of other nodes;
 * FM_E_TOPOLOGY, FM_E_RESOURCE.  One pass of the file. */
int history_hour(const char *path, const struct book_node *nodes, uint32_t n_nodes, uint8_t *bytes,
    struct fm_error *err);

#endif
