/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fmd/own.h - what an engine that is part of fmd tells it besides.
 *
 * No part of the ABI and not installed: it changes as fmd needs it.  Such a descriptor is larger
 * than the public one, and its .traits have bits that no other engine may have; both are refused
 * unless FM_OWN_LAYOUT is that of this fmd.
 */
#ifndef FMD_OWN_H
#define FMD_OWN_H

#include <fmd/engine.h>

/* In .traits beside enum fm_traits, which never has bits 24 to 31. */
enum fm_own_traits {
	FM_PROVIDES_MCAST = 1 << 24, /* fm_own_engine.mcast_tree */
	/* Writes every LFT entry 0..max_lid of every row, FM_PORT_NONE included; the
	 * host then initialises only what lies behind max_lid. */
	FM_WRITES_WHOLE_ROWS = 1 << 25,
	/* Writes every SL 0..max_lid, of LIDs of nobody too, in the rows that sl_shape has, and
	 * all of sl2vl that sl2vl_shape has; the host then initialises neither. */
	FM_WRITES_WHOLE_SLS = 1 << 26,
	/* The host may number switches by their cables instead of by GUID, for this call and
	 * where that matters, so that names decide nothing: rows, links and ends go by the
	 * numbers in the fabric at hand, LIDs are what they are; rows of sl2vl do not ascend
	 * with the switches then.  Not with FM_USES_PREV. */
	FM_NUMBERED_BY_CABLES = 1 << 27
};
#define FM_OWN_TRAITS 0xff000000u

/* One multicast tree, for mcast_tree(). */
struct fm_mcast_request {
	uint32_t n_members;
	uint32_t sl;	       /* of the packets, 0..15 */
	const fm_end *members; /* [n_members] ends that the tree is to reach, ascending */
};

/* Spanning tree of one multicast group within this fabric, along the tables that route() has
 * made: the link to the parent of each switch on the tree in parent[], FM_NONE off the tree and at
 * its root, as the host has it everywhere to begin with.  The host may do without: across regions,
 * or for an engine in a process of its own. */
typedef int fm_mcast_tree_fn(const struct fm_host *, const struct fm_fabric *,
    const struct fm_tables *, const struct fm_mcast_request *, const void *opts,
    fm_link *parent /* [n_switches] */, struct fm_error *);

#define FM_OWN_LAYOUT 1u /* raised with every change of this file */

struct fm_own_engine {
	struct fm_engine engine; /* .size is that of the whole */
	uint64_t layout;
	fm_mcast_tree_fn *mcast_tree; /* with FM_PROVIDES_MCAST */
};

/* FM_OWN_ENGINE(minhop, NULL, .summary = "...", ...): as FM_ENGINE(), with a tree.  The symbol is
 * of the whole, whose first member is what others look for behind it. */
#define FM_OWN_ENGINE(id, tree, ...) \
	extern __attribute__((visibility("default"))) \
	const struct fm_own_engine id##_LTX_fm_engine; \
	const struct fm_own_engine id##_LTX_fm_engine = { \
		.engine = { .magic = FM_ABI_MAGIC, \
		    .abi_major = FM_ABI_MAJOR, \
		    .abi_minor = FM_ABI_MINOR, \
		    .size = sizeof(struct fm_own_engine), \
		    .option_row_size = sizeof(struct fm_option), \
		    .name = #id, \
		    __VA_ARGS__ }, \
		.layout = FM_OWN_LAYOUT, \
		.mcast_tree = (tree) \
	}

/* The tree of an engine, NULL: it has none. */
static inline fm_mcast_tree_fn *
fm_own_mcast_tree(const struct fm_engine *engine)
{
	return (engine->traits & FM_PROVIDES_MCAST) != 0
	    ? ((const struct fm_own_engine *)(const void *)engine)->mcast_tree
	    : NULL;
}

#endif
