/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf/book/book.h - the file in which fmd-perf keeps the counters of all ports.
 *
 *	head	BOOK_HEAD_WORDS: magic, size, how many rows; the sweep that ended last
 *	nodes	BOOK_NODE_WORDS each: GUID, name, its ports; its sequence number
 *	ports	BOOK_PORT_WORDS each: sums of counters, when they were read, rates, the other end
 *
 * All is words of 64 bits of this machine.  A file has a fixed list of nodes; another list is
 * another file, renamed into its place, and the one before is marked as old.
 *
 * fmd-perf maps the file and writes; it waits for nobody.  Its rows of a node, and the head, are
 * guarded by a sequence number each, odd while they are written: a reader copies, and tries again
 * where the number has moved.  Readers read() the file and map nothing, as a file that is cut short
 * would end them; every number of it is checked where it is used.
 *
 * A sum is of differences, since fmd-perf has first seen the port (perf/reader/meaning.h).
 */
#ifndef PERF_BOOK_BOOK_H
#define PERF_BOOK_BOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/error.h"
#include "perf/book/counters.h"

#define BOOK_NAME_BYTES 64
#define BOOK_MOST_NODES 100000
#define BOOK_MOST_PORTS 1000000
#define BOOK_NOBODY UINT32_MAX

enum book_node_flags {
	BOOK_SILENT = 1,     /* its agent does not answer */
	BOOK_NARROW = 2,     /* it has no counters of 64 bits */
	BOOK_REDIRECTED = 4, /* it is asked elsewhere */
	BOOK_REFUSES = 8     /* its agent answers, and gives no counters */
};

enum book_port_flags {
	BOOK_MISSING = 1, /* not read in the last sweep */
	BOOK_RESET =
	    2, /* its counters have been cleared meanwhile, or it was booted: a sum may lack
			   * what was counted just before */
	BOOK_NO_CABLE = 4,
	BOOK_NEVER = 8 /* not read yet */
};

struct book_head {
	uint64_t sweep; /* number of the last one that ended; 0: none has */
	int64_t began_ms, sweep_began_ms, sweep_ended_ms; /* UTC; of fmd-perf, of the sweep */
	uint32_t interval_ms;
	uint32_t n_wanted, n_read; /* ports in that sweep */
	uint32_t n_silent;	   /* nodes */
	uint32_t n_late; /* sweeps that did not come to their end in time, since the start */
	bool is_old;	 /* another file has taken its place */
};

struct book_node {
	uint64_t guid;
	uint32_t first_port, n_ports; /* rows of ports: its port 1 and so on */
	uint32_t flags;
	uint8_t type; /* enum wire_node_type */
	char name[BOOK_NAME_BYTES + 1];
};

struct book_port {
	uint64_t sum[N_COUNTERS];
	uint32_t at_end;  /* bit of each counter that has stuck at its end: it is more */
	uint32_t unread;  /* ... that its agent does not have */
	uint32_t flags;	  /* enum book_port_flags */
	int64_t read_ms;  /* UTC; 0: never */
	uint32_t span_ms; /* of the rates: between the last two reads; 0: there are none yet */
	uint64_t xmit_rate, rcv_rate; /* bytes a second */
	uint64_t wait_rate;	      /* ticks a second */
	uint64_t error_rate;	      /* errors of all kinds an hour, of that span */
	uint32_t peer;		      /* node; BOOK_NOBODY: not known */
	uint8_t peer_port;
	uint32_t mbps;	  /* of the cable, 0: not known */
	uint32_t planned; /* routes that leave by this port; 0: not known, or none */
};

/* ------------------------------------------------------------------ writing */

struct book; /* one file, mapped by who writes it */

/* A new file for `path`, which it is not yet; nodes[n_nodes], their ports behind one another from
 * row 0 on.  group: who may read beside the owner; (gid_t)-1: nobody.  FM_E_SYSTEM,
 * FM_E_RESOURCE. */
int book_make(const char *path, const struct book_node *nodes, uint32_t n_nodes, gid_t group,
    struct book **out, struct fm_error *err);
/* It takes the place of what is at path.  FM_E_SYSTEM. */
int book_show(struct book *b, struct fm_error *err);
/* Readers are told that another one is there. */
void book_retire(struct book *b);
void book_close(struct book *b); /* NULL is fine; a file that was not shown goes */
/* Has somebody removed it, or put another in its place? */
bool book_is_gone(const struct book *b);

void book_put_head(struct book *b, const struct book_head *h);
/* Rows of a node are written between these. */
void book_begin(struct book *b, uint32_t node);
void book_end(struct book *b, uint32_t node);
void book_put_flags(struct book *b, uint32_t node, uint32_t flags);
void book_put_port(struct book *b, uint32_t row, const struct book_port *p);
void book_see_port(const struct book *b, uint32_t row, struct book_port *p); /* by the writer */

/* ------------------------------------------------------------------ reading */

struct book_reader;

/* FM_E_SYSTEM: it cannot be read, or is not there; FM_E_TOPOLOGY: it is no such file. */
int book_open(const char *path, struct book_reader **out, struct fm_error *err);
void book_reader_free(struct book_reader *r); /* NULL is fine */
uint32_t book_n_nodes(const struct book_reader *r);
uint32_t book_n_ports(const struct book_reader *r);
/* False of the three: the file has been cut short, its rows do not fit, or its writer has died
 * while it wrote them. */
bool book_read_head(struct book_reader *r, struct book_head *h);
/* Who it is never changes; flags do. */
bool book_read_node(struct book_reader *r, uint32_t node, struct book_node *n);
/* ports[n->n_ports] of a node as book_read_node() has told it, as they were at one moment. */
bool book_read_ports(
    struct book_reader *r, uint32_t node, const struct book_node *n, struct book_port *ports);

#endif
