/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/gauge/gauge.h - every host's packets followed to every other: what each link carries.
 *
 *	gauge.c		hosts in order, loads
 *	gauge_walk.c	following every destination: loads, and who sends over a link
 *	bisection.c	random bisections
 *	stripes.c	... of flows over several LIDs
 */
#ifndef CORE_GAUGE_GAUGE_H
#define CORE_GAUGE_GAUGE_H

#include "core/graph/snapshot.h"
#include "lib/arena.h"
#include "lib/pool.h"
#include "lib/vec.h"

#define DEST_BLOCK 64u /* destinations per item of a parallel loop: a cache line of every row */

/* What is behind a port: FM_NONE, FM_NONE unless it is a link. */
struct hop {
	fm_link link;
	fm_sw to;
};

/* A switch as a walk needs it. */
struct gauge_row {
	const uint8_t *lft;
	const struct hop *hop; /* [n_ports + 2] the last for ports that are not there */
	uint32_t n_ports;
};

/* Hosts are CA ports, numbered in topological order: switch by switch in the
 * order of switch_order(), of each by port.  So the hosts of a switch are
 * a range, and those of a pod mostly too. */
struct gauge {
	const struct fm_fabric *fab;
	const struct fm_tables *t;
	struct fm_pool *workers;
	unsigned n_workers;
	struct fm_arena mem;
	uint32_t n_hosts;
	fm_end *host_end;   /* [n_hosts] */
	uint16_t *host_lid; /* [n_hosts] base LID */
	fm_sw *host_sw;	    /* [n_hosts] */
	uint32_t *by_lid;   /* [n_hosts] the hosts in the order of their LIDs */
	uint32_t *sw_from;  /* [n_switches] its first host */
	uint32_t *sw_hosts; /* [n_switches] how many */
	fm_sw *leaf;	    /* [n_leaves] switches with hosts, in host order */
	uint32_t n_leaves;
	struct gauge_row *row; /* [n_switches] */
	uint32_t max_links;    /* of the longest route, known after the walk */
};

/* The egress of sw to a LID. */
static inline struct hop
gauge_hop(const struct gauge *g, fm_sw sw, uint16_t lid)
{
	const struct gauge_row *row = &g->row[sw];
	uint32_t port = row->lft[lid];

	return row->hop[port > row->n_ports ? row->n_ports + 1 : port];
}

/* Does a packet to the host that has come to sw and finds no link there arrive? */
static inline bool
gauge_arrives(const struct gauge *g, fm_sw sw, uint32_t host)
{
	return sw == g->host_sw[host] &&
	    g->row[sw].lft[g->host_lid[host]] == g->fab->end_port[g->host_end[host]];
}

/* LIDs of a host. */
static inline uint32_t
gauge_n_lids(const struct gauge *g, uint32_t host)
{
	return 1u << g->fab->end_lmc[g->host_end[host]];
}

/* Sources [from, to) send to dest over link. */
struct range {
	fm_link link;
	uint32_t dest, from, to;
};

struct seen {
	uint32_t place;	 /* in open[], when that names this switch */
	uint32_t failed; /* the last destination that is not reached from here, + 1 */
};

struct walker {
	struct seen *seen; /* [n_switches] */
	/* The route of the last leaf, the switch next to the destination first,
	 * and since which source each has been on the routes without a break. */
	struct open {
		fm_sw sw;
		fm_link link;
		uint32_t from;
	} * open, *fresh; /* [n_switches] both */
	uint32_t n_open, max_open;
	struct hop *first;  /* [DEST_BLOCK][n_leaves, padded] */
	uint32_t *load;	    /* [n_links]: below 2^32, as there are fewer than 2^16 hosts */
	uint64_t *n_ranges; /* [n_switches] not its own hosts alone, all destinations */
	FM_VEC(struct range) ranges;
	bool full, failed;
};

/* One walk of all destinations.  Ranges of switches first_sw..end_sw-1 are
 * kept, unless they are just the switch's own hosts. */
struct walk {
	const struct gauge *g;
	struct walker *w;	/* [n_workers] */
	fm_sw first_sw, end_sw; /* the chunk */
	size_t max_ranges;	/* kept at a time */
	size_t worker_ranges;	/* of these a worker's; beyond it full is set and ranges are lost */
	size_t words;		/* of a row of marks */
	uint64_t
	    *marks; /* [chunk][words] bit i: its own hosts go to by_lid[i] with others or fail */
};

/* Hosts, rows and arena for fab, t and workers, which the caller has set; ends in fm_arena_fini()
 * of mem, after a failure too.  FM_E_RESOURCE. */
int gauge_prepare(struct gauge *g, struct fm_error *err);
int gauge_no_memory(struct fm_error *err);

/* false: out of memory */
bool gauge_walk_setup(struct gauge *g, struct walk *walk, size_t max_ranges);
void gauge_walk_fini(struct walk *walk);
void gauge_walk_all(struct walk *walk);
/* Links of the longest route; with the walk over all, what g->max_links is to be. */
uint32_t gauge_longest(const struct gauge *g, const struct walk *walk);
uint64_t gauge_load(const struct gauge *g, const struct walk *walk, fm_link l);

/* gauge_prepare() and a walk over all that keeps no ranges, max_links set; both end in
 * gauge_close(), after a failure too.  The caller has set fab, t and workers, and *walk to 0.
 * FM_E_RESOURCE. */
int gauge_open(struct gauge *g, struct walk *walk, struct fm_error *err);
void gauge_close(struct gauge *g, struct walk *walk);

/* Has any end more than one LID? */
bool gauge_has_several_lids(const struct fm_fabric *fab);

/* The mean share of a link that a flow of a random bisection gets, over so many of them (0:
 * GAUGE_SAMPLES); after a walk over all.  The same seed: the same bisections.  O(samples x hosts x
 * hops).  FM_E_RESOURCE. */
#define GAUGE_SAMPLES 1000u
int gauge_bisect(
    struct gauge *g, uint32_t n_samples, uint64_t seed, double *ebb, struct fm_error *err);

/* The order[n_hosts] of the bisection of that seed. */
void gauge_shuffle(const struct gauge *g, uint64_t seed, uint16_t *order);

/* The route from a switch to a LID of a host, its links to path[n_switches]; how many they are,
 * FM_NONE: it does not arrive. */
uint32_t gauge_follow(const struct gauge *g, fm_sw sw, uint32_t host, uint16_t lid, fm_link *path);
/* When each flow is parted evenly among all LIDs of its destination. */
struct striped {
	double share;	/* of a link that a flow gets, in the mean */
	double several; /* of the flows from switch to switch, those by more paths than one */
};
/* O(samples x LIDs x hops), stripes.c.  FM_E_RESOURCE. */
int gauge_stripe(
    struct gauge *g, uint32_t n_samples, uint64_t seed, struct striped *out, struct fm_error *err);

/* load[n_links]: routes from CA port to CA port over each directed link.
 * O(switches with hosts x hosts). */
int link_loads(const struct snapshot *snap, const struct fm_tables *tables, struct fm_pool *workers,
    uint64_t *load, struct fm_error *err);

#endif
