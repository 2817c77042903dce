/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One pass over the links, which are grouped by switch and sorted by far
 * switch: a new arc begins wherever the far switch changes.
 */
#include "plugins/common/paths/arcs.h"

#include "lib/log.h"

void *
fm_scratch_bytes(const struct fm_host *host, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		return NULL;
	return host->scratch(host, bytes > 0 ? bytes : 1);
}

int
fm_no_scratch(const struct fm_host *host, const char *what, struct fm_error *err)
{
	return host->fail(
	    host, err, FM_E_RESOURCE, "the scratch memory of this call does not hold the %s", what);
}

int
fm_arcs_build(const struct fm_host *host, const struct fm_fabric *fab, struct fm_arcs *out,
    struct fm_error *err)
{
	fm_arc *first = fm_scratch_array(host, (size_t)fab->n_switches + 1, fm_arc);
	fm_sw *to = fm_scratch_array(host, fab->n_links, fm_sw);
	fm_link *link = fm_scratch_array(host, (size_t)fab->n_links + 1, fm_link);
	uint32_t n = 0;

	if (first == NULL || to == NULL || link == NULL)
		return fm_no_scratch(host, "switch graph", err);
	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		first[sw] = n;
		for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++) {
			if (n > first[sw] && to[n - 1] == fab->link_to[l])
				continue;
			to[n] = fab->link_to[l];
			link[n++] = l;
		}
	}
	first[fab->n_switches] = n;
	link[n] = fab->n_links;
	*out = (struct fm_arcs){
		.n_switches = fab->n_switches, .n_arcs = n, .first = first, .to = to, .link = link
	};
	return 0;
}

int
fm_stray_level(const struct fm_fabric *fab)
{
	return fm_has_proxies(fab) ? FM_LOG_INFO : FM_LOG_WARN;
}

fm_arc
fm_arc_find(const struct fm_arcs *arcs, fm_sw from, fm_sw to)
{
	fm_arc lo = arcs->first[from], hi = arcs->first[from + 1];

	while (lo < hi) {
		fm_arc mid = lo + (hi - lo) / 2;

		if (arcs->to[mid] == to)
			return mid;
		if (arcs->to[mid] < to)
			lo = mid + 1;
		else
			hi = mid;
	}
	return FM_NONE;
}
