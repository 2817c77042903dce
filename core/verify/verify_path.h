/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/verify/verify_path.h - LIDs of a tile judged together, where packets differ in
 * SL or change VL.
 *
 *	verify_path.c		tiles, who reaches whom in how many hops, the sums
 *	verify_path_split.c	a cache line of a row as sets of LIDs
 *	verify_path_carry.c	the packets of a tile, hop by hop
 *	verify_path_state.c	SLs and VLs on a link as one word, and dependencies of them
 */
#ifndef CORE_VERIFY_VERIFY_PATH_H
#define CORE_VERIFY_VERIFY_PATH_H

#include "core/verify/verify_internal.h"

/*
 * The packets on a link as a set of (SL, VL): one bit each in a word.
 *
 *	| plane n - 1 | ... | plane 1 | plane 0 |	a plane is a VL in use,
 *	     each: | SL width - 1 | ... | SL 0 |	a bit of it an SL in use
 *
 * Where the VL follows from link and SL (no SL2VL by the port in) there is one plane.
 *
 * What is known of packets that come in by one port and go on by one link, or leave, is a cell;
 * the cells of a port in are a row by egress slot, the last for those that leave.  Cells are met
 * all over the fabric: where all states fit a byte a cell is two bytes, not sixteen, so
 * that those of a thousand switches stay in the cache.
 */
struct path_cell {
	uint64_t word; /* by_in: what all SLs together are on that link */
	uint64_t dep;  /* the packets that have gone that way */
};
struct path_cell8 {
	uint8_t word, dep;
};

struct path_link {
	fm_sw to;
	uint32_t row; /* first cell of packets that come in by it */
};

struct path_states {
	uint32_t width; /* bits of a plane: 1, 2, 4, 8 or 16, or as few as there are SLs */
	uint32_t n_planes, n_bits; /* at least 1; width * n_planes, at most 64 */
	bool by_in;	   /* VLs depend on the port in: words are there, and rows for all ports */
	bool bytes;	   /* cell8, not cell */
	uint8_t sl[N_SLS]; /* of a bit of a plane; N_SLS: of none */
	uint8_t vl[N_SLS]; /* of a plane; by_in */
	uint8_t bit_of[N_SLS]; /* of an SL in use */
	uint8_t plane_of[N_SLS];
	struct path_link *link; /* [n_links] */
	uint32_t *row_first;	/* by_in: [n_switches] the row of port 0 */
	struct path_cell *cell; /* [n_cells] */
	struct path_cell8 *cell8;
};

/* LIDs of a line that have one value. */
struct path_part {
	uint64_t lids;
	uint8_t value;
};

/* LIDs of a tile that a switch sends by a link. */
struct path_entry {
	uint64_t lids;
	uint32_t row; /* first cell of packets that come by it, at the next switch */
	uint16_t to;  /* that switch */
	uint8_t slot; /* of the link */
};

/* LIDs of a tile that are as many hops away as others of the level. */
struct path_step {
	uint64_t lids;
	fm_sw sw;
};

/* A switch, and the LIDs of a tile that are behind it. */
struct path_owner {
	uint64_t lids;
	fm_sw sw;
};

/* One worker's memory: a tile, LANES LIDs from `base` on; a set of them is a word. */
struct path_walker {
	uint32_t base;
	uint64_t lids, switch_lids; /* those that are judged here */
	struct path_owner owner[LANES];
	uint32_t n_owners;
	uint64_t *home; /* [n_switches] LIDs behind it */
	uint64_t *none; /* [n_switches] LIDs for which it has no entry */
	/* what a switch sends where: entry[first_entry[sw]] to before first_entry[sw + 1] */
	struct path_entry *entry;
	uint32_t *first_entry; /* [n_switches + 1] */
	uint64_t *reached;     /* [n_switches] from here, so far */
	uint64_t *left;	       /* [n_switches] of `active`: not reached */
	fm_sw *active;	       /* [n_active] switches that have not reached all */
	uint32_t n_active;
	/* level h, whose LIDs are h switches away: step[first_step[h]] to before
	 * first_step[h + 1] */
	struct path_step *step;
	uint32_t *first_step; /* [n_switches + 3] */
	uint32_t n_levels;    /* the last one is n_levels - 1 */
	uint64_t *sent;	      /* [n_switches][width] LIDs to which its ends send, by SL */
	uint64_t *set;	      /* [n_entries][n_bits] LIDs whose packets go by an entry, by state */
};

struct path_source {
	uint16_t lid, n; /* n LIDs from lid on */
	uint8_t port;
};

#define NO_ROW UINT32_MAX
#define ROWS_DIFFER (UINT32_MAX - 1)

struct path_judge {
	struct judge *j;
	struct path_states states;
	uint32_t *source_first;	    /* [n_switches + 1] */
	struct path_source *source; /* ends that send, by switch */
	uint32_t *inject_row;	    /* [n_switches] of the ports of its sources, if that is one */
	uint64_t *inject_word;	    /* [n_switches] that all of that row are, or 0 */
	struct path_walker *walkers;
};

/* The values in a line of 64 bytes with their places among `wanted`, in the order of their first
 * places.  Returns how many, at most LANES. */
uint32_t verify_path_split(const uint8_t *line, uint64_t wanted, struct path_part *part);

/* inject_row and inject_word; the sources are listed. */
void verify_path_find_rows(struct path_judge *k);
/* Note how the packets of all sources to these LIDs of the tile, which all arrive, go. */
void verify_path_carry(const struct path_judge *k, struct path_walker *w, uint64_t lids);

/* False in *fits: too many (SL, VL), or SLs above 15.  0 or FM_E_RESOURCE. */
int verify_path_states(
    const struct judge *j, struct fm_pool *workers, struct path_states *s, bool *fits);
void verify_path_states_free(struct path_states *s);
/* Cells of a row of a switch. */
static inline uint32_t
path_row(const struct fm_fabric *fab, fm_sw sw)
{
	return fab->sw_first_link[sw + 1] - fab->sw_first_link[sw] + 1;
}
/* What the deps say into the dependency graph. */
void verify_path_states_note(struct judge *j, struct fm_pool *workers, const struct path_states *s);

#endif
