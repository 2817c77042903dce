/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Directions come from a total order of the switches: (hops from the nearest
 * root, id, index).  A switch that is no root has a neighbour nearer to a
 * root, so with one root in a component every switch can climb to it and all
 * pairs are joined.  With several, pairs may have no switch above both; that
 * is known only after routing, and told by fm_paths.
 */
#include "plugins/common/updown.h"

#include <string.h>

#define PROBES 24 /* breadth first searches that look for a centre */

struct finder {
	const struct fm_host *host;
	const struct fm_fabric *fab;
	const struct fm_shape *shape;
	uint32_t *rank;	 /* [n_switches] hops from the nearest root */
	uint32_t *hops;	 /* [n_switches] of one search */
	uint64_t *sum;	 /* [n_switches] of hops over all searches */
	fm_sw *queue;	 /* [n_switches] */
	uint8_t *arc_up; /* [n_arcs] */
};

/* Breadth first from queue[0..n-1], whose hops are 0; the others' are FM_NONE. */
static void
search(const struct finder *f, uint32_t *hops, uint32_t n)
{
	const struct fm_arcs *arcs = &f->shape->arcs;

	for (uint32_t head = 0; head < n; head++) {
		fm_sw s = f->queue[head];

		for (fm_arc a = arcs->first[s]; a < arcs->first[s + 1]; a++)
			if (hops[arcs->to[a]] == FM_NONE) {
				hops[arcs->to[a]] = hops[s] + 1;
				f->queue[n++] = arcs->to[a];
			}
	}
}

/* Sum of the hops to some switches evenly picked: its minimum is a good
 * stand-in for the centre, which would cost a search from every switch. */
static void
find_centrality(const struct finder *f)
{
	uint32_t n = f->fab->n_switches, step = n / PROBES + 1;

	for (fm_sw from = 0; from < n; from += step) {
		memset(f->hops, 0xff, n * sizeof(*f->hops));
		f->hops[from] = 0;
		f->queue[0] = from;
		search(f, f->hops, 1);
		for (fm_sw s = 0; s < n; s++)
			f->sum[s] += f->hops[s] != FM_NONE ? f->hops[s] : 0;
	}
}

static uint32_t
degree(const struct finder *f, fm_sw s)
{
	return f->fab->sw_first_link[s + 1] - f->fab->sw_first_link[s];
}

/* Nearest to all; among those the one with most links, then the first. */
static bool
better_centre(const struct finder *f, fm_sw a, fm_sw b)
{
	if (f->sum[a] != f->sum[b])
		return f->sum[a] < f->sum[b];
	return degree(f, a) > degree(f, b);
}

/* One root for every component that has none of the given ones. */
static int
choose_roots(const struct finder *f, const struct fm_updown *how, uint32_t *n, struct fm_error *err)
{
	const struct fm_shape *shape = f->shape;
	fm_sw *root = fm_scratch_array(f->host, shape->n_components, fm_sw);

	if (root == NULL)
		return fm_no_scratch(f->host, "roots", err);
	memset(root, 0xff, shape->n_components * sizeof(*root));
	find_centrality(f);
	*n = 0;
	for (uint32_t i = 0; i < how->n_roots; i++) {
		f->queue[(*n)++] = how->roots[i];
		root[shape->component[how->roots[i]]] = FM_NONE - 1;
	}
	for (fm_sw s = 0; s < f->fab->n_switches; s++) {
		fm_sw *r = &root[shape->component[s]];

		if (*r == FM_NONE || (*r != FM_NONE - 1 && better_centre(f, s, *r)))
			*r = s;
	}
	for (uint32_t c = 0; c < shape->n_components; c++)
		if (root[c] < FM_NONE - 1)
			f->queue[(*n)++] = root[c];
	return 0;
}

/* Is v above u?  Ids and the index break ties. */
static bool
is_above(const struct finder *f, const int64_t *ids, fm_sw v, fm_sw u)
{
	if (f->rank[v] != f->rank[u])
		return f->rank[v] < f->rank[u];
	if (ids != NULL && ids[v] != ids[u])
		return ids[v] < ids[u];
	return v < u;
}

static void
direct_by_rank(const struct finder *f, const int64_t *ids)
{
	const struct fm_arcs *arcs = &f->shape->arcs;

	for (fm_sw u = 0; u < arcs->n_switches; u++)
		for (fm_arc a = arcs->first[u]; a < arcs->first[u + 1]; a++)
			f->arc_up[a] = is_above(f, ids, arcs->to[a], u);
}

static int
direct_from_roots(const struct finder *f, const struct fm_updown *how, struct fm_error *err)
{
	uint32_t n = 0;
	int rc = choose_roots(f, how, &n, err);

	if (rc != 0)
		return rc;
	memset(f->rank, 0xff, f->fab->n_switches * sizeof(*f->rank));
	for (uint32_t i = 0; i < n; i++)
		f->rank[f->queue[i]] = 0;
	search(f, f->rank, n);
	direct_by_rank(f, how->ids);
	return 0;
}

/* Up is away from the leaves, at every arc. */
static void
direct_from_leaves(const struct finder *f)
{
	const struct fm_arcs *arcs = &f->shape->arcs;
	const uint32_t *rank = f->shape->tree.rank;

	for (fm_sw u = 0; u < arcs->n_switches; u++)
		for (fm_arc a = arcs->first[u]; a < arcs->first[u + 1]; a++)
			f->arc_up[a] = rank[arcs->to[a]] > rank[u];
}

/* Do the directions agree with the tree's ranks wherever a slot is looked at? */
static bool
points_away_from_leaves(const struct finder *f)
{
	const struct fm_arcs *arcs = &f->shape->arcs;
	const uint32_t *rank = f->shape->tree.rank;

	for (fm_sw u = 0; u < arcs->n_switches; u++)
		for (fm_arc a = arcs->first[u]; a < arcs->first[u + 1]; a++)
			if (f->arc_up[a] != (rank[arcs->to[a]] > rank[u]))
				return false;
	return true;
}

static bool
has_hostless_component(const struct fm_shape *shape)
{
	for (fm_sw s = 0; s < shape->arcs.n_switches; s++)
		if (shape->tree.rank[s] == FM_RANK_NONE &&
		    shape->arcs.first[s + 1] > shape->arcs.first[s])
			return true;
	return false;
}

static void
clear_rows(const struct fm_fabric *fab, const struct fm_tables *out)
{
	for (fm_sw s = 0; s < fab->n_switches; s++)
		memset(out->lft[s], FM_PORT_NONE, out->lft_stride);
}

/* Balance with the directions in place, then mend what was asked for. */
static int
route_directed(const struct finder *f, const struct fm_updown *how, bool by_digits,
    const struct fm_tables *out, struct fm_missing *left, struct fm_error *err)
{
	struct fm_paths found;
	int rc = fm_balance(f->host, f->fab, f->shape, f->arc_up, by_digits, out, &found, err);

	*left = (struct fm_missing){ found.unjoined_hosts, found.unjoined - found.unjoined_hosts };
	if (rc != 0 || (found.unjoined == 0 && !(how->mend & FM_MEND_SWITCHES)) || how->mend == 0)
		return rc;
	return fm_mend(f->host, f->fab, f->shape, f->arc_up, how->mend, out, left, err);
}

int
fm_route_updown(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_shape *shape, const struct fm_updown *how, const struct fm_tables *out,
    struct fm_missing *left, struct fm_error *err)
{
	size_t n = fab->n_switches;
	struct finder f = { .host = host,
		.fab = fab,
		.shape = shape,
		.rank = fm_scratch_array(host, n, uint32_t),
		.hops = fm_scratch_array(host, n, uint32_t),
		.sum = fm_scratch_array(host, n, uint64_t),
		.queue = fm_scratch_array(host, n, fm_sw),
		.arc_up = fm_scratch_array(host, shape->arcs.n_arcs, uint8_t) };
	int rc;

	if (f.rank == NULL || f.hops == NULL || f.sum == NULL || f.queue == NULL ||
	    f.arc_up == NULL)
		return fm_no_scratch(host, "directions of the links", err);
	if (how->n_roots == 0 && shape->tree.levelled && !has_hostless_component(shape)) {
		direct_from_leaves(&f);
		rc = route_directed(&f, how, true, out, left, err);
		if (rc != 0 || left->to_hosts == 0 || !(how->mend & FM_MEND_HOSTS))
			return rc;
		clear_rows(fab, out);
	}
	if ((rc = direct_from_roots(&f, how, err)) != 0)
		return rc;
	return route_directed(&f, how, points_away_from_leaves(&f), out, left, err);
}
