/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/sssp/grow.h - choosing among equal next steps anywhere by load.
 */
#ifndef PLUGINS_COMMON_SSSP_GROW_H
#define PLUGINS_COMMON_SSSP_GROW_H

#include "plugins/common/paths/steps.h"

/* How to choose among equal next steps; all zero: balanced by load. */
struct fm_choice {
	bool by_digits;	  /* on trees, if nothing below is set (balance.h) */
	uint64_t scatter; /* other than 0: by chance of this seed, whatever the fabric */
	/* destinations that come before all others, in this order: each finds the
	 * links as those before have left them */
	const fm_end *first; /* [n_first] each at most once */
	uint32_t n_first;
	bool first_by_load;	      /* scatter is not for those */
	const uint64_t *ignore_links; /* bitset [n_links], or NULL: what passes there is no load */
	const uint64_t *ignore_ends;  /* bitset [n_ends], or NULL: nor is what they send or get */
	/* among equals the least of these [n_links] is taken; NULL: the first link */
	const uint8_t *search;
	bool shift; /* the search begins one link further with every switch and LID */
};

/* What trees are grown of. */
struct fm_growth {
	const struct fm_arcs *arcs;
	const uint32_t *component; /* [n_switches] */
	struct fm_rule rule;	   /* which paths are right */
	struct fm_choice choice;
};

/* What was learnt about the paths on the way. */
struct fm_paths {
	uint32_t max_hops; /* links on the longest path */
	/* (switch with hosts, destination switch) of one component without a path */
	uint64_t unjoined;
	uint64_t unjoined_hosts; /* those whose destination switch has hosts too */
};

/*
 * Fill every row of out->lft up to max_lid: for one destination LID after the
 * other its tree is grown along right next steps, each switch taking the one from
 * which the path bears the least load so far.
 * Destinations are taken in turn over the switches; fabrics that are small
 * enough get a second round in which every tree, but those of choice.first, is taken
 * out and grown again.
 *
 * With rule.detours (not with scatter) longer legal paths are taken as well where the
 * shortest are crowded.
 *
 * Several LIDs of one end go to different chassis, else different switches,
 * else different cables, as far as equal paths allow.
 *
 * O(LIDs * links), one thread: each choice depends on those before.
 * FM_E_RESOURCE, FM_E_CANCELLED.
 */
int fm_grow_trees(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_growth *want, const struct fm_tables *out, struct fm_paths *found,
    struct fm_error *err);

#endif
