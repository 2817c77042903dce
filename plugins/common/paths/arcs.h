/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/paths/arcs.h - the switch graph without parallel links.
 *
 * Which switch comes next is a question about neighbours; which of several
 * cables to it is another one, asked later.  An arc is an ordered pair of
 * neighbouring switches; its links are consecutive in the fabric's arrays,
 * because those are sorted by far switch.
 */
#ifndef PLUGINS_COMMON_PATHS_ARCS_H
#define PLUGINS_COMMON_PATHS_ARCS_H

#include <fmd/engine.h>

typedef uint32_t fm_arc; /* index into struct fm_arcs */

struct fm_arcs {
	uint32_t n_switches, n_arcs;
	const fm_arc *first; /* [n_switches + 1] CSR offsets into to[], link[] */
	const fm_sw *to;     /* [n_arcs] ascending within a switch */
	/* [n_arcs + 1] first link of the arc; its last stands before the next arc's first */
	const fm_link *link;
};

/* O(links).  FM_E_RESOURCE. */
int fm_arcs_build(const struct fm_host *host, const struct fm_fabric *fab, struct fm_arcs *out,
    struct fm_error *err);

static inline uint32_t
fm_arc_width(const struct fm_arcs *arcs, fm_arc a)
{
	return arcs->link[a + 1] - arcs->link[a];
}

/* The arc from one switch to another, or FM_NONE.  O(log degree). */
fm_arc fm_arc_find(const struct fm_arcs *arcs, fm_sw from, fm_sw to);

/* A CA or router port: what traffic comes from and goes to.  Switches,
 * aggregation nodes and proxies are destinations only as far as fabrics' shapes
 * are concerned. */
static inline bool
fm_is_host(const struct fm_fabric *fab, fm_end end)
{
	return fab->end_kind[end] == FM_END_CA || fab->end_kind[end] == FM_END_ROUTER;
}

/* Is this a region of a larger fabric? */
static inline bool
fm_has_proxies(const struct fm_fabric *fab)
{
	for (fm_end e = 0; e < fab->n_ends; e++)
		if (fab->end_kind[e] == FM_END_PROXY)
			return true;
	return false;
}

/* The level at which to log that options name what is not here: a warning, but not in a
 * region, as what they name may be in another one. */
int fm_stray_level(const struct fm_fabric *fab);

/* Does the end send packets to others?  A proxy does so for the hosts of another region. */
static inline bool
fm_sends(const struct fm_fabric *fab, fm_end e)
{
	return fm_is_host(fab, e) || fab->end_kind[e] == FM_END_PROXY;
}

/* Has any end several LIDs? */
static inline bool
fm_has_lmc(const struct fm_fabric *fab)
{
	for (fm_end e = 0; e < fab->n_ends; e++)
		if (fab->end_lmc[e] > 0)
			return true;
	return false;
}

/* LIDs in use: the highest may be four times as many in a view of base LIDs (base_lids.h). */
static inline uint32_t
fm_count_lids(const struct fm_fabric *fab)
{
	uint32_t n = 0;

	for (fm_end e = 0; e < fab->n_ends; e++)
		n += fab->end_lid[e] != 0 ? 1u << fab->end_lmc[e] : 0;
	return n;
}

/* An array of n zeroed elements from the host's scratch memory, or NULL. */
#define fm_scratch_array(host, n, type) ((type *)fm_scratch_bytes((host), (n), sizeof(type)))
void *fm_scratch_bytes(const struct fm_host *host, size_t n, size_t size);

/* The one sentence for scratch memory that ran out. */
int fm_no_scratch(const struct fm_host *host, const char *what, struct fm_error *err);

#endif
