/* SPDX-License-Identifier: BSD-2-Clause */
#include "plugins/common/tree/tree.h"

#include "plugins/common/tree/tiers.h"

/* Where no switch is refused, leaves are none that are joined to leaves: a few hosts on upper
 * switches (storage) are no reason to give a tree up.  Regions keep to what all can see. */
static int
find_leaves(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_arcs *arcs,
    uint32_t *rank, struct fm_error *err)
{
	struct fm_tiers t = { .host = host, .fab = fab, .arcs = arcs, .n = fab->n_switches };
	fm_sw refused;
	int rc = fm_tiers_find_leaves(&t, false, &refused, err);
	bool plain = fm_has_proxies(fab) || refused != FM_NONE;

	for (fm_sw s = 0; rc == 0 && s < t.n; s++)
		if (plain)
			rank[s] = t.n_hosts[s] > 0 ? 0 : FM_RANK_NONE;
		else
			rank[s] = t.rank[s] == 0 ? 0 : FM_RANK_NONE;
	return rc;
}

/* Breadth first from all leaves; tells whether the fabric is levelled. */
int
fm_tree_build(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_arcs *arcs,
    struct fm_tree *out, struct fm_error *err)
{
	uint32_t n = fab->n_switches, head = 0, tail = 0;
	fm_sw *queue = fm_scratch_array(host, n, fm_sw);
	int rc;

	*out = (struct fm_tree){ .levelled = true, .rank = fm_scratch_array(host, n, uint32_t) };
	if (queue == NULL || out->rank == NULL)
		return fm_no_scratch(host, "ranks of the switches", err);
	if ((rc = find_leaves(host, fab, arcs, out->rank, err)) != 0)
		return rc;
	for (fm_sw s = 0; s < n; s++)
		if (out->rank[s] == 0)
			queue[tail++] = s;
	while (head < tail) {
		fm_sw s = queue[head++];

		out->n_ranks = out->rank[s] + 1;
		for (fm_arc a = arcs->first[s]; a < arcs->first[s + 1]; a++) {
			fm_sw v = arcs->to[a];

			if (out->rank[v] == FM_RANK_NONE) {
				out->rank[v] = out->rank[s] + 1;
				queue[tail++] = v;
			}
			out->levelled &= out->rank[v] != out->rank[s];
		}
	}
	out->levelled &= out->n_ranks > 1 && out->n_ranks <= FM_TREE_MAX_RANKS;
	return 0;
}

/* What the switches of one rank have in common. */
struct rank_alike {
	bool seen;
	uint32_t n_hosts, n_up, n_down;
};

static uint32_t
count_hosts(const struct fm_fabric *fab, fm_sw s)
{
	uint32_t n = 0;

	for (fm_end e = fab->sw_first_end[s]; e < fab->sw_first_end[s + 1]; e++)
		n += fm_is_host(fab, e);
	return n;
}

static struct rank_alike
look_at_switch(const struct fm_fabric *fab, const uint16_t *rank, fm_sw s)
{
	struct rank_alike is = { .seen = true, .n_hosts = count_hosts(fab, s) };

	for (fm_link l = fab->sw_first_link[s]; l < fab->sw_first_link[s + 1]; l++)
		if (rank[fab->link_to[l]] > rank[s])
			is.n_up++;
		else
			is.n_down++;
	return is;
}

/* Can the hosts of a leaf be dealt evenly to its ways up (tree/dmodk_slots.c)? */
static bool
can_share(const struct fm_arcs *arcs, const struct rank_alike *is)
{
	return is->n_up == 0 || is->n_hosts % is->n_up == 0 ||
	    (is->n_hosts > is->n_up && arcs->n_arcs == arcs->link[arcs->n_arcs]);
}

bool
fm_tree_is_regular(const struct fm_fabric *fab, const struct fm_arcs *arcs, const uint16_t *rank)
{
	struct rank_alike ranks[FM_TREE_MAX_RANKS] = { { 0 } };

	for (fm_sw s = 0; s < fab->n_switches; s++) {
		struct rank_alike is = look_at_switch(fab, rank, s), *all;

		if (rank[s] >= FM_TREE_MAX_RANKS)
			continue;
		all = &ranks[rank[s]];
		if (!all->seen)
			*all = is;
		if (is.n_hosts != all->n_hosts || is.n_up != all->n_up ||
		    is.n_down != all->n_down || !can_share(arcs, &is))
			return false;
	}
	return true;
}

static bool
is_alike(const struct rank_alike *a, const struct rank_alike *b)
{
	return a->n_hosts == b->n_hosts && a->n_up == b->n_up && a->n_down == b->n_down;
}

/* What most switches of a rank are like, if most are alike, is found by their votes
 * (Boyer and Moore 1981). */
uint32_t
fm_tree_count_unlike(const struct fm_fabric *fab, const struct fm_arcs *arcs, const uint16_t *rank)
{
	struct rank_alike usual[FM_TREE_MAX_RANKS] = { { 0 } };
	uint32_t votes[FM_TREE_MAX_RANKS] = { 0 }, n = 0;

	for (fm_sw s = 0; s < arcs->n_switches; s++) {
		struct rank_alike is = look_at_switch(fab, rank, s);
		uint16_t r = rank[s];

		if (r >= FM_TREE_MAX_RANKS)
			continue;
		if (votes[r] == 0)
			usual[r] = is;
		if (is_alike(&is, &usual[r]))
			votes[r]++;
		else
			votes[r]--;
	}
	for (fm_sw s = 0; s < arcs->n_switches; s++) {
		struct rank_alike is = look_at_switch(fab, rank, s);

		n += rank[s] < FM_TREE_MAX_RANKS && !is_alike(&is, &usual[rank[s]]);
	}
	return n;
}
