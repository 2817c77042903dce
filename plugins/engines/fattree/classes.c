/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hosts in classes, each balanced by itself.
 *
 * Shifts among the compute nodes run without two flows on a link only if they
 * have successive numbers; hosts of other kinds between them leave gaps, and
 * where the gaps differ from leaf to leaf, the digits of two destinations fall
 * together.  So each class is numbered by itself: compute nodes, then I/O nodes
 * and whatever else is no compute node (OpenSM's cn_guid_file, io_guid_file),
 * then those to be routed last (opa-fm's RouteLast).  O(ends).
 */
#include "plugins/engines/fattree/fattree.h"

enum { FT_COMPUTE, FT_OTHER, FT_LAST };

/* Is a host in a list, by itself or by its switch? */
static bool
is_in(const struct fattree *ft, const struct fm_nodeset *set, fm_end e)
{
	return set->given &&
	    (fm_bit(set->end, e) ||
		(ft->fab->end_sw[e] != FM_NONE && fm_bit(set->sw, ft->fab->end_sw[e])));
}

static uint8_t
class_of(const struct fattree *ft, fm_end e)
{
	const struct fattree_options *o = ft->opt;

	if (is_in(ft, &o->route_last, e))
		return FT_LAST;
	if (is_in(ft, &o->io, e) || (o->cn.given && !is_in(ft, &o->cn, e)))
		return FT_OTHER;
	return FT_COMPUTE;
}

/* Is the set written, but for nobody? */
static void
warn_of_strays(const struct fattree *ft, const struct fm_nodeset *set, const char *key)
{
	bool any = !set->given;

	for (fm_end e = 0; e < ft->fab->n_ends && !any; e++)
		any = fm_is_host(ft->fab, e) && is_in(ft, set, e);
	if (!any)
		ft->host->log(ft->host, fm_stray_level(ft->fab),
		    "fattree: %s names no host of this fabric", key);
}

int
ft_classes(const struct fattree *ft, const uint8_t **out, struct fm_error *err)
{
	const struct fattree_options *o = ft->opt;
	uint32_t n_compute = 0, n_hosts = 0;
	uint8_t *class;

	*out = NULL;
	if (!o->cn.given && !o->io.given && !o->route_last.given)
		return 0;
	warn_of_strays(ft, &o->io, "io");
	warn_of_strays(ft, &o->route_last, "route_last");
	class = fm_scratch_array(ft->host, ft->fab->n_ends, uint8_t);
	if (class == NULL)
		return fm_no_scratch(ft->host, "kinds of hosts", err);
	for (fm_end e = 0; e < ft->fab->n_ends; e++) {
		if (!fm_is_host(ft->fab, e))
			continue;
		class[e] = class_of(ft, e);
		n_compute += class[e] == FT_COMPUTE;
		n_hosts++;
	}
	if (n_hosts > 0 && n_compute == 0)
		return ft->host->fail(ft->host, err, FM_E_TOPOLOGY,
		    "no host is left as a compute node by cn, io and route_last: are the GUIDs "
		    "those "
		    "of ports or hosts of this fabric?");
	*out = class;
	return 0;
}
