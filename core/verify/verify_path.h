/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/verify/verify_path.h - LIDs with equal paths judged together, where packets
 * differ in SL or change VL.
 *
 *	verify_path.c	which LIDs are alike, their paths, the sums
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
 * the cells of a port in are a row by egress slot, the last for those that leave.  Walks meet
 * cells all over the fabric: where all states fit a byte a cell is two bytes, not sixteen, so
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
	uint32_t width;	   /* bits of a plane: 1, 2, 4, 8 or 16 */
	uint64_t plane;	   /* all bits of plane 0 */
	uint64_t every;	   /* bit 0 of every plane */
	unsigned n_planes; /* at least 1 */
	bool by_in;	   /* VLs depend on the port in: words are there, and rows for all ports */
	bool bytes;	   /* cell8, not cell */
	uint8_t sl[N_SLS]; /* of a bit of a plane */
	uint8_t vl[N_SLS]; /* of a plane; by_in */
	uint16_t bit[256]; /* of an SL in a plane; 0: not in use */
	uint8_t plane_of[N_SLS];
	struct path_link *link; /* [n_links] */
	uint32_t *row_first;	/* by_in: [n_switches] the row of port 0 */
	struct path_cell *cell; /* [n_cells] */
	struct path_cell8 *cell8;
};

/* Cells of a row of a switch. */
static inline uint32_t
path_row(const struct fm_fabric *fab, fm_sw sw)
{
	return fab->sw_first_link[sw + 1] - fab->sw_first_link[sw] + 1;
}

static inline uint64_t
path_word(const struct path_states *s, bool bytes, size_t cell)
{
	return bytes ? s->cell8[cell].word : s->cell[cell].word;
}

/* Packets have gone this way. */
static inline void
path_note(const struct path_states *s, bool bytes, size_t cell, uint64_t state)
{
	uint8_t small = (uint8_t)state, *dep8;

	if (!bytes) {
		add_shared_bits(&s->cell[cell].dep, state);
		return;
	}
	dep8 = &s->cell8[cell].dep;
	if (small & ~__atomic_load_n(dep8, __ATOMIC_RELAXED))
		__atomic_fetch_or(dep8, small, __ATOMIC_RELAXED);
}

/* The SLs of a state, as bits of plane 0. */
static inline uint64_t
path_sls(const struct path_states *s, uint64_t state)
{
	for (uint32_t shift = 32; shift >= s->width; shift /= 2)
		state |= state >> shift;
	return state & s->plane;
}

/* On a link whose word it is. */
static inline uint64_t
path_state_of(const struct path_states *s, uint64_t sls, uint64_t word)
{
	return (sls * s->every) & word;
}

/* False in *fits: too many (SL, VL), or SLs above 15.  0 or FM_E_RESOURCE. */
int verify_path_states(
    const struct judge *j, struct fm_pool *workers, struct path_states *s, bool *fits);
void verify_path_states_free(struct path_states *s);
/* What the deps say into the dependency graph. */
void verify_path_states_note(struct judge *j, struct fm_pool *workers, const struct path_states *s);

#endif
