/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/verify/verify_class.h - all LIDs behind one switch judged together.
 *
 *	verify_class.c		tiles of classes, the sums
 *	verify_class_runs.c	which LIDs are a class, and its pairs
 *	verify_class_masks.c	the egress ports of a class at every switch
 *	verify_class_hops.c	do they lead to the destination, and how far is it
 *	verify_class_single.c	the same, quickly, where a class is one LID or adaptive
 *	verify_class_deps.c	dependencies, and whether they are free of cycles
 *	verify_class_exact.c	exactly the dependencies
 */
#ifndef CORE_VERIFY_VERIFY_CLASS_H
#define CORE_VERIFY_VERIFY_CLASS_H

#include "core/verify/verify_internal.h"

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

/* LIDs of a class that may leave a switch by the same ports. */
struct port_lids {
	uint64_t ports, lids;
};

/* One worker's memory of verify_class_exact.c: up to LANES LIDs of a class, a bit each. */
struct class_lids {
	uint16_t *lid;		/* [max_lid + 1] of the class */
	const uint16_t *in_use; /* [LANES] of lid: one a bit */
	uint64_t all;		/* the bits in use */
	bool whole;		/* they are the whole class */
	/* [n_switches] LIDs whose packets come through; sets of a mixed switch: from
	 * set[first_set[sw]] to before set[first_set[sw] + n_sets[sw]] */
	uint64_t *carried;
	uint32_t *first_set;
	uint8_t *n_sets;
	struct port_lids *set; /* [n_switches * LANES] */
	fm_sw *order;	       /* [n_switches] that lead to the class, farthest first */
	uint32_t *at_hop;      /* [n_switches + 2] */
	uint32_t n_order;
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
	/* [n_switches] adaptive: bit i: not the same choice for all of class i of the tile */
	uint16_t *mixed;
	struct class_lids exact;
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
	bool exactly;		 /* second time, for exactly their dependencies */
	uint32_t most_runs;	 /* in a tile */
	struct class_edge *edge; /* [n_links] */
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
/* The pairs of LIDs with the same sums; n_lost: switches without a path to those of a switch. */
void verify_class_add(const struct judge *j, const struct class_sums *of, uint32_t n_end_lids,
    uint32_t n_switch_lids, uint32_t n_lost, struct tally *sums);

/* masks[c * stride]: the ports named in row for the runs of class[c], c < n.
 * Bit c of the result: some entry is no port 1..MASK_PORTS. */
uint64_t verify_class_masks(const uint8_t *row, const struct lid_class *class,
    const struct lid_run *run, uint32_t n, uint64_t *masks, size_t stride);

/* The same over all next hops at u of the n classes from `first` on; w->mixed[u].  Odd is
 * a group without a port, too. */
uint64_t verify_class_choices(
    const struct classes *k, struct class_walker *w, uint32_t first, uint32_t n, fm_sw u);

/* Find the hops to `to` by masks (that of `to` is 0).  False when there is no
 * one number of hops at each switch with a mask. */
bool verify_class_hops(const struct classes *k, struct class_walker *w, const uint64_t *mask,
    fm_sw to, struct class_sums *sums);
/* The same where all masks are one port; notes the dependencies as well. */
bool verify_class_single(const struct classes *k, struct class_walker *w, const uint64_t *mask,
    fm_sw to, struct class_sums *sums);
/* The hops alone, whatever the masks, in w->known. */
bool verify_class_several(const struct classes *k, struct class_walker *w, const uint64_t *mask,
    fm_sw to, struct class_sums *sums);

bool verify_class_levels(struct classes *k); /* false: out of memory */
/* Note what packets that come to u do next. */
void verify_class_note(
    const struct classes *k, struct class_walker *w, const uint64_t *mask, fm_sw u);
/* Note the dependencies of a class. */
void verify_class_deps(const struct classes *k, struct class_walker *w, const struct lid_class *c,
    const uint64_t *mask);
/* Are all noted, with those of the exact walkers, free of cycles?  They are
 * more than the true ones: false means that nothing is known. */
int verify_class_acyclic(struct classes *k, bool with_rows, bool *acyclic);

/* By which ports of a mask may a packet to lid leave sw?  0: by others, too, or by none. */
static inline uint64_t
verify_class_ports(const struct judge *j, fm_sw sw, uint16_t lid)
{
	uint64_t ports[PORT_WORDS];

	verify_ports_of(j, sw, lid, ports);
	if (((ports[0] & 1) | ports[1] >> 1 | ports[2] | ports[3]) != 0)
		return 0;
	return ports[0] >> 1 | ports[1] << 63;
}

/* From here on judge_tile() notes exactly the dependencies of settled classes; false: out of
 * memory. */
bool verify_class_exact_begin(struct classes *k);
/* Those of class c, number i of the tile. */
void verify_class_exact_note(const struct classes *k, struct class_walker *w,
    const struct lid_class *c, const uint64_t *mask, uint32_t i);
/* All that was noted into the dependency graph. */
void verify_class_exact_end(struct classes *k);

#endif
