/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/route/verify_class.h - all LIDs behind one switch judged together.
 *
 *	verify_class.c		tiles of classes, the sums
 *	verify_class_runs.c	which LIDs are a class
 *	verify_class_masks.c	the egress ports of a class at every switch
 *	verify_class_hops.c	do they lead to the destination, and how far is it
 *	verify_class_single.c	the same, quickly, where a class is one LID
 *	verify_class_deps.c	dependencies, and whether they are free of cycles
 */
#ifndef CORE_ROUTE_VERIFY_CLASS_H
#define CORE_ROUTE_VERIFY_CLASS_H

#include "core/route/verify_internal.h"

#define CLASS_TILE 16u	   /* classes whose masks stay in the cache together */
#define MASK_PORTS 64u	   /* a mask is one word: bit p is port p + 1 */
#define NO_HOPS UINT16_MAX /* does not reach the destination */
#define HOPS_LIMIT 0xfff0u /* what cannot be a number of hops */

/* What is known of eight switches at once, as wide as the machine can.  Arrays of
 * [mask_stride] are zeroed behind the last switch. */
typedef uint64_t eight_masks __attribute__((vector_size(64), aligned(8), may_alias));

/* LIDs first .. first + n - 1, all of one class. */
struct lid_run {
	uint16_t first, n;
};

struct lid_class {
	fm_sw sw;
	uint32_t first_run; /* up to that of the next class */
	uint32_t n_end_lids, n_switch_lids;
};

struct class_edge {
	fm_sw to;
	uint8_t port, back; /* here and there */
};

/* What the hops of a class come to. */
struct class_sums {
	uint32_t n_known;	       /* switches with hops */
	uint32_t farthest;	       /* from a source */
	uint64_t sources, source_hops; /* end-ports that send from those, the sum of their hops */
};

/* One worker's memory: what it knows of the class it looked at last. */
struct class_walker {
	uint64_t *mask; /* [CLASS_TILE][mask_stride] egress ports of the tile's classes */
	/* hops of the class; fits: the ports behind which a switch is one hop nearer */
	uint16_t *hop;	/* [n_switches] switches to the destination, both counted, or NO_HOPS */
	uint64_t *fits; /* [mask_stride] */
	uint8_t *mark;	/* [n_switches] */
	struct lid_run *span; /* [n_runs of a tile] LIDs of the tile, ascending */
	uint32_t n_spans;
	fm_sw *path, *bad;	       /* [n_switches] */
	fm_sw last_to;		       /* destination of the class before, FM_NONE */
	uint32_t n_known;	       /* switches with hops */
	uint64_t sources, source_hops; /* end-ports that send from those, the sum of their hops */
	uint32_t *at_hop;	       /* [HOPS_LIMIT + 1] source switches so far away */
	uint32_t farthest;	       /* at most this far */
	uint32_t *known, epoch;	       /* [n_switches] verify_class_single.c: epoch + hops */
	/* dependencies of all classes so far */
	bool noted; /* any */
	/* [port_first[n_switches]] of port 1 at port_first[]: egress ports where packets go on */
	uint64_t *dep;
	uint32_t *carried; /* [n_switches] stamp of the class whose packets come through */
	uint32_t stamp;
};

struct classes {
	struct judge *j;
	uint32_t n_classes, n_runs;
	struct lid_class *class; /* [n_classes + 1] by their first LIDs */
	struct lid_run *run;	 /* [n_runs] */
	uint8_t *exact;		 /* [n_classes] 1 = look at each LID */
	size_t mask_stride;
	bool tight;	    /* second time, for the dependencies only: none too many by choice */
	uint32_t most_runs; /* in a tile */
	struct class_edge *edge; /* [n_links] */
	fm_sw *next;		 /* [port_first[n_switches]] behind a port, or FM_NONE */
	uint8_t *twin;	 /* [n_switches] 1: has the same behind each port as the switch before */
	uint64_t *links; /* [mask_stride] ports to a switch */
	uint64_t *up, *down, *free;   /* [n_switches] ports: verify_class_deps.c */
	uint32_t *component_size;     /* [n_components] switches */
	struct class_walker *walkers; /* [n_walkers] */
	struct lid_sums *sums;	      /* [max_lid + 1] to be filled, or NULL */
};

/* The switch behind which a LID is, or FM_NONE. */
static inline fm_sw
verify_class_switch(const struct fm_fabric *fab, uint32_t lid)
{
	fm_end e = fab->lid_end[lid];

	return e == FM_NONE ? FM_NONE : fab->end_sw[e];
}

/* class, run and exact, by themselves; false: out of memory. */
bool verify_class_runs(struct classes *k);

/* masks[c * stride]: the ports named in row for the runs of class[c], c < n.
 * Bit c of the result: some entry is no port 1..MASK_PORTS. */
uint64_t verify_class_masks(const uint8_t *row, const struct lid_class *class,
    const struct lid_run *run, uint32_t n, uint64_t *masks, size_t stride);

/* Find the hops to `to` by masks (that of `to` is 0).  False when there is no
 * one number of hops at each switch with a mask. */
bool verify_class_hops(const struct classes *k, struct class_walker *w, const uint64_t *mask,
    fm_sw to, struct class_sums *sums);
/* The same where all masks are one port; notes the dependencies as well. */
bool verify_class_single(const struct classes *k, struct class_walker *w, const uint64_t *mask,
    fm_sw to, struct class_sums *sums);

bool verify_class_levels(struct classes *k); /* false: out of memory */
/* Forget all dependencies, and note those of all classes from now on. */
void verify_class_tighten(struct classes *k);
/* Note what packets that come to u do next. */
void verify_class_note(
    const struct classes *k, struct class_walker *w, const uint64_t *mask, fm_sw u);
/* Note the dependencies of a class. */
void verify_class_deps(const struct classes *k, struct class_walker *w, const struct lid_class *c,
    const uint64_t *mask);
/* Are all noted, with those of the exact walkers, free of cycles?  They are
 * more than the true ones: false means that nothing is known. */
int verify_class_acyclic(struct classes *k, bool with_rows, bool *acyclic);

#endif
