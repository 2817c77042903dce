/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The links of a switch are sorted alike in both graphs, so that one pass over
 * both lists finds what is missing.
 */
#include "core/graph/graph_diff.h"

#include <string.h>

#include "lib/error.h"

bool
graph_same_link(const struct fm_fabric *a, fm_link x, const struct fm_fabric *b, fm_link y)
{
	return a->link_to[x] == b->link_to[y] && a->link_port[x] == b->link_port[y] &&
	    a->link_port[a->link_rev[x]] == b->link_port[b->link_rev[y]] &&
	    a->link_mbps[x] == b->link_mbps[y] &&
	    a->link_nominal_mbps[x] == b->link_nominal_mbps[y] &&
	    a->link_n_vls[x] == b->link_n_vls[y];
}

static bool
is_same(const void *a, const void *b, size_t n)
{
	return a == b || memcmp(a, b, n) == 0;
}

bool
graph_same_ends(const struct fm_fabric *a, const struct fm_fabric *b)
{
	size_t n = a->n_ends;

	return n == b->n_ends && a->n_switches == b->n_switches && a->max_lid == b->max_lid &&
	    is_same(a->end_sw, b->end_sw, n * sizeof(*a->end_sw)) &&
	    is_same(a->end_lid, b->end_lid, n * sizeof(*a->end_lid)) &&
	    is_same(a->end_port, b->end_port, n * sizeof(*a->end_port)) &&
	    is_same(a->end_lmc, b->end_lmc, n * sizeof(*a->end_lmc)) &&
	    is_same(a->end_kind, b->end_kind, n * sizeof(*a->end_kind));
}

/* Groups and roots go by names: another one may be another role. */
static bool
is_the_same(const struct fm_fabric *was, const struct fm_fabric *now, fm_sw sw)
{
	return was->sw_guid[sw] == now->sw_guid[sw] && was->sw_n_ports[sw] == now->sw_n_ports[sw] &&
	    (was->sw_name[sw] == now->sw_name[sw] || graph_is_gone(now, sw) ||
		strcmp(was->sw_name[sw], now->sw_name[sw]) == 0);
}

/* Nothing lost, seen quickly.  The ports over there are looked at where cables are
 * parallel; elsewhere the switch over there sees whether its port is another one. */
static bool
is_unchanged(const struct fm_fabric *was, const struct fm_fabric *now, fm_sw sw)
{
	fm_link a = was->sw_first_link[sw], b = now->sw_first_link[sw];
	size_t n = was->sw_first_link[sw + 1] - a;

	if (now->sw_first_link[sw + 1] - b != n ||
	    memcmp(was->link_to + a, now->link_to + b, n * sizeof(*was->link_to)) != 0 ||
	    memcmp(was->link_port + a, now->link_port + b, n) != 0 ||
	    memcmp(was->link_n_vls + a, now->link_n_vls + b, n) != 0 ||
	    memcmp(was->link_mbps + a, now->link_mbps + b, n * sizeof(*was->link_mbps)) != 0 ||
	    memcmp(was->link_nominal_mbps + a, now->link_nominal_mbps + b,
		n * sizeof(*was->link_nominal_mbps)) != 0)
		return false;
	for (size_t i = 1; i < n; i++)
		if (was->link_to[a + i] == was->link_to[a + i - 1])
			return false;
	return true;
}

/* Are they the same arrays (snapshot_without())? */
static bool
shares_links(const struct fm_fabric *a, const struct fm_fabric *b)
{
	return a->sw_first_link == b->sw_first_link && a->link_to == b->link_to &&
	    a->link_port == b->link_port && a->link_rev == b->link_rev &&
	    a->link_mbps == b->link_mbps && a->link_nominal_mbps == b->link_nominal_mbps &&
	    a->link_n_vls == b->link_n_vls;
}

/* False: memory is out. */
static bool
compare_switch(
    const struct fm_fabric *was, const struct fm_fabric *now, fm_sw sw, struct graph_diff *diff)
{
	fm_link n = now->sw_first_link[sw];

	diff->comparable = true;
	if (is_unchanged(was, now, sw))
		return true;
	for (fm_link l = was->sw_first_link[sw]; l < was->sw_first_link[sw + 1]; l++) {
		struct graph_channel c = { .sw = sw, .port = was->link_port[l] };

		if (n < now->sw_first_link[sw + 1] && graph_same_link(was, l, now, n))
			n++;
		else if (!fm_vec_push(&diff->lost, c))
			return false;
	}
	diff->comparable = n == now->sw_first_link[sw + 1];
	return true;
}

int
graph_compare(const struct fm_fabric *was, const struct fm_fabric *now, struct graph_diff *diff,
    struct fm_error *err)
{
	bool shares = shares_links(was, now);

	diff->lost.n = 0;
	diff->comparable = was->n_switches == now->n_switches;
	for (fm_sw sw = 0; diff->comparable && sw < now->n_switches; sw++) {
		diff->comparable = is_the_same(was, now, sw);
		if (diff->comparable && !shares && !compare_switch(was, now, sw, diff))
			return fm_fail(err, FM_E_RESOURCE, "out of memory while comparing fabrics");
	}
	return 0;
}

void
graph_diff_fini(struct graph_diff *diff)
{
	fm_vec_fini(&diff->lost);
}
