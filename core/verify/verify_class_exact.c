/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exactly the dependencies of settled classes, over all next hops.
 *
 * What verify_class_deps.c notes may be too much: ports that two LIDs of a class use, one
 * the one and one the other, are taken as used by both, and turns as made that nobody
 * makes.  Where that closes a cycle the true dependencies are wanted, all of them.
 *
 * LANES LIDs of a class are taken at a time, each a bit of a word.  With carried(u) the LIDs
 * whose packets come from a source to switch u, and lids(u, p) those that may leave it by port
 * p, packets that left u by p, to switch v, go on by port q if
 *
 *	carried(u) & lids(u, p) & lids(v, q) != 0
 *
 * and then carried(v) has carried(u) & lids(u, p).  Every path of a settled class is one hop
 * nearer with each switch, so switches are taken in the order of their hops, the farthest
 * first, and each is known when its turn comes.  lids() is kept as sets of ports with the
 * LIDs that have them, and only of mixed switches: the others have one for all, the mask.
 * Nothing is to be done for a port whose row has the mask of v already, which after a
 * few classes nearly all have.
 *
 * Time: O(1) per port taken of a (switch, class), plus LIDs of mixed switches.
 */
#include "core/verify/verify_class.h"

#define FEW_LIDS 4u /* times as many sets: to look up the LIDs is faster */

static bool
alloc_walker(const struct judge *j, struct class_lids *w)
{
	size_t n = (size_t)j->fab->n_switches + 1;

	w->lid = malloc(((size_t)j->fab->max_lid + 1) * sizeof(*w->lid));
	w->carried = malloc(n * sizeof(*w->carried));
	w->first_set = malloc(n * sizeof(*w->first_set));
	w->n_sets = malloc(n * sizeof(*w->n_sets));
	w->set = malloc(n * LANES * sizeof(*w->set));
	w->order = malloc(n * sizeof(*w->order));
	w->at_hop = malloc((n + 1) * sizeof(*w->at_hop));
	return w->lid != NULL && w->carried != NULL && w->first_set != NULL && w->n_sets != NULL &&
	    w->set != NULL && w->order != NULL && w->at_hop != NULL;
}

bool
verify_class_exact_begin(struct classes *k)
{
	const struct judge *j = k->j;
	size_t n_ports = j->port_first[j->fab->n_switches];
	bool ok = true;

	k->exactly = true;
	for (unsigned i = 0; i < j->n_workers; i++) {
		ok = ok && alloc_walker(j, &k->walkers[i].exact);
		memset(k->walkers[i].dep, 0, n_ports * sizeof(*k->walkers[i].dep));
	}
	return ok;
}

/* ------------------------------------------------------------- one class */

static uint32_t
list_lids(const struct classes *k, const struct lid_class *c, uint16_t *lid)
{
	uint32_t n = 0;

	for (uint32_t r = c->first_run; r < c[1].first_run; r++)
		for (uint32_t i = 0; i < k->run[r].n; i++)
			lid[n++] = (uint16_t)(k->run[r].first + i);
	return n;
}

/* Switches with masks by their hops: those that are not farther than any source. */
static void
sort_switches(
    const struct classes *k, struct class_walker *w, const uint64_t *mask, uint32_t farthest)
{
	uint32_t n = k->j->fab->n_switches, *at = w->exact.at_hop;

	memset(at, 0, (farthest + 2) * sizeof(*at));
	for (fm_sw u = 0; u < n; u++)
		if (mask[u] != 0 && w->known[u] - w->epoch <= farthest)
			at[w->known[u] - w->epoch]++;
	for (uint32_t h = farthest; h > 0; h--)
		at[h - 1] += at[h];
	w->exact.n_order = at[0];
	for (fm_sw u = 0; u < n; u++)
		if (mask[u] != 0 && w->known[u] - w->epoch <= farthest)
			w->exact.order[--at[w->known[u] - w->epoch]] = u;
}

/* May LIDs of class i of the tile differ in their ports at u? */
static inline bool
is_mixed(const struct classes *k, const struct class_walker *w, fm_sw u, uint64_t mask, uint32_t i)
{
	return tables_are_adaptive(k->j->t) ? w->mixed[u] >> i & 1 : (mask & (mask - 1)) != 0;
}

/* Which LIDs have which set of ports at a mixed switch.  Sets of one port, of which there
 * may be many, go by the port. */
static uint32_t
split(const struct judge *j, const struct class_lids *w, fm_sw u, struct port_lids *set)
{
	uint64_t lids_of[MASK_PORTS], single = 0;
	uint32_t n = 0;

	for (uint64_t left = w->all; left != 0; left &= left - 1) {
		uint64_t lid_bit = left & -left;
		uint64_t ports = verify_class_ports(j, u, w->in_use[__builtin_ctzll(left)]);
		uint32_t i = n;

		if ((ports & (ports - 1)) == 0) {
			uint64_t *of = &lids_of[__builtin_ctzll(ports)];

			*of = (single & ports ? *of : 0) | lid_bit;
			single |= ports;
			continue;
		}
		while (i > 0 && set[i - 1].ports != ports)
			i--;
		if (i > 0)
			set[i - 1].lids |= lid_bit;
		else
			set[n++] = (struct port_lids){ ports, lid_bit };
	}
	for (; single != 0; single &= single - 1)
		set[n++] = (struct port_lids){ single & -single, lids_of[__builtin_ctzll(single)] };
	return n;
}

static void
split_switches(const struct classes *k, struct class_walker *w, const uint64_t *mask, uint32_t i)
{
	struct class_lids *lids = &w->exact;
	uint32_t n = 0;

	for (uint32_t at = 0; at < lids->n_order; at++) {
		fm_sw u = lids->order[at];

		if (!is_mixed(k, w, u, mask[u], i))
			continue;
		lids->first_set[u] = n;
		lids->n_sets[u] = (uint8_t)split(k->j, lids, u, lids->set + n);
		n += lids->n_sets[u];
	}
}

/* How packets of these LIDs go on from v. */
static uint64_t
turns(const struct classes *k, const struct class_walker *w, fm_sw v, uint64_t mask, uint64_t lids,
    uint32_t i)
{
	const struct port_lids *set = w->exact.set + w->exact.first_set[v];
	uint64_t ports = 0;

	if (!is_mixed(k, w, v, mask, i) || (w->exact.whole && lids == w->exact.all))
		return mask;
	if ((uint32_t)__builtin_popcountll(lids) * FEW_LIDS < w->exact.n_sets[v]) {
		for (; lids != 0; lids &= lids - 1)
			ports |=
			    verify_class_ports(k->j, v, w->exact.in_use[__builtin_ctzll(lids)]);
		return ports;
	}
	for (uint32_t s = 0; s < w->exact.n_sets[v]; s++)
		ports |= (set[s].lids & lids) != 0 ? set[s].ports : 0;
	return ports;
}

/* Packets of these LIDs leave u by these ports. */
static void
leave(const struct classes *k, struct class_walker *w, const uint64_t *mask, fm_sw u,
    const struct port_lids *by, uint32_t i)
{
	uint32_t at = k->j->port_first[u];

	for (uint64_t left = by->ports; left != 0; left &= left - 1) {
		uint32_t bit = (uint32_t)__builtin_ctzll(left);
		fm_sw v = k->j->port_to[at + 1 + bit];
		uint64_t *dep = &w->dep[at + bit];

		w->exact.carried[v] |= by->lids;
		if ((mask[v] & ~*dep) != 0)
			*dep |= turns(k, w, v, mask[v], by->lids, i);
	}
}

/* The LIDs in use, from the sources on. */
static void
follow(const struct classes *k, struct class_walker *w, const uint64_t *mask, uint32_t i)
{
	const struct judge *j = k->j;
	struct class_lids *lids = &w->exact;

	memset(lids->carried, 0, j->fab->n_switches * sizeof(*lids->carried));
	for (uint32_t at = 0; at < j->n_source_sw; at++)
		lids->carried[j->source_sw[at]] = lids->all;
	for (uint32_t at = 0; at < lids->n_order; at++) {
		fm_sw u = lids->order[at];
		struct port_lids by = { mask[u], lids->carried[u] };

		if (!is_mixed(k, w, u, mask[u], i)) {
			if (by.lids != 0)
				leave(k, w, mask, u, &by, i);
			continue;
		}
		for (uint32_t s = 0; s < lids->n_sets[u]; s++) {
			by = lids->set[lids->first_set[u] + s];
			by.lids &= lids->carried[u];
			if (by.lids != 0)
				leave(k, w, mask, u, &by, i);
		}
	}
}

void
verify_class_exact_note(const struct classes *k, struct class_walker *w, const struct lid_class *c,
    const uint64_t *mask, uint32_t i)
{
	struct class_sums sums;
	uint32_t n = list_lids(k, c, w->exact.lid);

	if (!verify_class_several(k, w, mask, c->sw, &sums)) /* cannot be: it is settled */
		return;
	sort_switches(k, w, mask, sums.farthest);
	w->exact.whole = n <= LANES;
	for (uint32_t at = 0; at < n; at += LANES) {
		uint32_t left = n - at;

		w->exact.all = left < LANES ? ((uint64_t)1 << left) - 1 : UINT64_MAX;
		w->exact.in_use = w->exact.lid + at;
		split_switches(k, w, mask, i);
		follow(k, w, mask, i);
	}
}

/* ---------------------------------------------------------------- the rows */

void
verify_class_exact_end(struct classes *k)
{
	struct judge *j = k->j;
	const struct fm_fabric *fab = j->fab;

	for (fm_link l = 0; l < fab->n_links; l++) {
		fm_sw u = fab->link_to[fab->link_rev[l]], v = fab->link_to[l];
		uint64_t dep = 0;

		for (unsigned i = 0; i < j->n_workers; i++)
			dep |= k->walkers[i].dep[j->port_first[u] + fab->link_port[l] - 1u];
		for (fm_link m = fab->sw_first_link[v]; dep != 0 && m < fab->sw_first_link[v + 1];
		     m++)
			if (dep >> (fab->link_port[m] - 1) & 1)
				verify_graph_add(j, l, 0, m - fab->sw_first_link[v], 0);
	}
}
