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
 */
struct path_link {
	fm_sw to;
	uint32_t dep;  /* first of its words in deps */
	uint32_t word; /* words of packets that come in by it, by egress slot of `to` */
};

struct path_states {
	uint32_t width;	   /* bits of a plane: 1, 2, 4, 8 or 16 */
	uint64_t plane;	   /* all bits of plane 0 */
	uint64_t every;	   /* bit 0 of every plane */
	unsigned n_planes; /* at least 1 */
	bool by_in;	   /* VLs depend on the port in: word[] is there */
	uint8_t sl[N_SLS]; /* of a bit of a plane */
	uint8_t vl[N_SLS]; /* of a plane; by_in */
	uint16_t bit[256]; /* of an SL in a plane; 0: not in use */
	uint8_t plane_of[N_SLS];
	/* by_in: what all SLs together are on the link of an egress slot, come in by a port:
	 * [word_first[sw] + port * degree + slot] */
	uint64_t *word;
	uint32_t *word_first;	/* [n_switches + 1] */
	struct path_link *link; /* [n_links] */
	uint64_t *deps; /* [link[l].dep + slot]: go on from l to slot, or leave (slot = degree) */
	size_t n_deps;
};

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
