/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/sssp/divergence.h - how far the paths to the several LIDs of one end diverge.
 *
 * A path to the next LID is compared with those to the LIDs before it, from end
 * to end, as far as it is known: what counts first is chassis met by both, then
 * switches, then cables (the order the Omni-Path manual asks for: another
 * system, another switch, another port).
 */
#ifndef PLUGINS_COMMON_SSSP_DIVERGENCE_H
#define PLUGINS_COMMON_SSSP_DIVERGENCE_H

#include "plugins/common/paths/steps.h"

struct fm_divergence {
	const struct fm_steps *steps; /* its destination's switch is the end's */
	fm_link *next; /* [2^lmc][n_switches] tree by tree, where each switch leads the LID */
};

/* Room for ends of up to 2^max_lmc LIDs.  FM_E_RESOURCE. */
int fm_divergence_init(const struct fm_host *host, const struct fm_steps *steps,
    struct fm_divergence *out, struct fm_error *err);

static inline fm_link *
fm_divergence_tree(const struct fm_divergence *a, uint32_t offset)
{
	return a->next + (size_t)offset * a->steps->fab->n_switches;
}

/*
 * What the path from u over l shares with the paths of LIDs 0..offset-1, as a
 * number to be kept small.  Whatever is nearer than u must be settled in the
 * tree of this offset.  O(offset * hops).
 */
uint64_t fm_divergence_shared(const struct fm_divergence *a, uint32_t offset, fm_sw u, fm_link l);

#endif
