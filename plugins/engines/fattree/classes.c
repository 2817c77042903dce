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

#include "plugins/common/paths/arcs.h"

/* Is a host in a list, by itself or by its switch? */
static bool
is_in(const struct ft *ft, const struct fm_nodeset *set, fm_end e)
{
	return set->given &&
	    (fm_bit(set->end, e) ||
		(ft->fab->end_sw[e] != FM_NONE && fm_bit(set->sw, ft->fab->end_sw[e])));
}

static enum ft_class
class_of(const struct ft *ft, fm_end e)
{
	const struct fattree_options *o = ft->opt;

	if (is_in(ft, &o->route_last, e))
		return FT_LAST;
	if (is_in(ft, &o->io, e) || (o->cn.given && !is_in(ft, &o->cn, e)))
		return FT_OTHER;
	return FT_COMPUTE;
}

/* Members of a class at the usual leaf that has any. */
static uint32_t
usual_size(const struct ft *ft, uint8_t class, uint32_t *count)
{
	uint32_t usual = 0;

	memset(count, 0, 512 * sizeof(*count));
	for (uint32_t c = 0; c < ft->n_leaves; c++) {
		fm_sw s = ft->col_sw[c];
		uint32_t n = 0;

		for (fm_end e = ft->fab->sw_first_end[s]; e < ft->fab->sw_first_end[s + 1]; e++)
			n += fm_is_host(ft->fab, e) && ft->class[e] == class;
		count[n < 511 ? n : 511]++;
	}
	for (uint32_t n = 1; n < 512; n++)
		if (count[n] > 0 && count[n] >= count[usual] * (usual > 0))
			usual = n;
	return usual > 0 ? usual : 1;
}

/* Is the set written, but for nobody? */
static void
warn_of_strays(const struct ft *ft, const struct fm_nodeset *set, const char *key)
{
	bool any = !set->given;

	for (fm_end e = 0; e < ft->fab->n_ends && !any; e++)
		any = fm_is_host(ft->fab, e) && is_in(ft, set, e);
	if (!any)
		ft->host->log(ft->host, fm_stray_level(ft->fab),
		    "fattree: %s names no host of this fabric", key);
}

int
ft_classes(struct ft *ft, struct fm_error *err)
{
	const struct fattree_options *o = ft->opt;
	uint32_t *count, n_compute = 0, n_hosts = 0;

	ft->class_size[FT_COMPUTE] = ft->leaf_size;
	if (!o->cn.given && !o->io.given && !o->route_last.given)
		return 0;
	warn_of_strays(ft, &o->io, "io");
	warn_of_strays(ft, &o->route_last, "route_last");
	count = ft_alloc(ft, 512, sizeof(*count));
	ft->class = ft_alloc(ft, ft->fab->n_ends, sizeof(*ft->class));
	if (count == NULL || ft->class == NULL)
		return ft_out_of_memory(ft, err);
	for (fm_end e = 0; e < ft->fab->n_ends; e++) {
		if (!fm_is_host(ft->fab, e))
			continue;
		ft->class[e] = (uint8_t)class_of(ft, e);
		n_compute += ft->class[e] == FT_COMPUTE;
		n_hosts++;
	}
	if (n_hosts > 0 && n_compute == 0)
		return ft->host->fail(err, FM_E_TOPOLOGY,
		    "no host is left as a compute node by cn, io and route_last: are the GUIDs "
		    "those "
		    "of ports or hosts of this fabric?");
	for (uint8_t class = 0; class < FT_CLASSES; class ++)
		ft->class_size[class] = usual_size(ft, class, count);
	return 0;
}
