/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The shape behind the names: blocks, planes, the order of leaves.
 *
 * In a PGFT the cables between two tiers fall into complete bipartite pieces:
 * the leaves of a pod and their parents; the switches of a plane in all pods
 * and their spines.  A *block* is the upper side of such a piece, found as
 * switches of one tier that have mostly the same children.  Majorities decide
 * (more than half), so that missing or misplaced cables neither split a block
 * nor join two.
 *
 *	spines     ... block of plane 0 ...   ... block of plane 1 ...
 *	              /    |     \               /      |
 *	pods       [a0 b0 ...]  [a1 b1 ...]     each a block; a0 and a1 have the
 *	            leaves 0     leaves 1       same home, so one plane
 *
 * home[s] = the block most parents of s are in.  Joining each switch's block
 * with its home, tier by tier, from below gives pods, pods of pods, ...: the
 * order of leaves; from above it gives planes: switches of one plane get one
 * slot number in every pod, whatever their names.  That is what keeps a
 * modulo on shuffled names as good as on tidy ones.
 */
#include <stdlib.h>

#include "plugins/common/tree/dmodk_tree.h"

#define MAX_HOMES 4 /* blocks remembered for one child while clustering */

struct keyed {
	uint64_t guid;
	fm_sw sw;
};

static int
by_guid(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;

	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

/* by_rank: all switches ascending by (rank, GUID or index). */
static int
sort_switches(struct fm_dmodk_routes *ft, struct fm_error *err)
{
	struct keyed *k = ft_alloc(ft, ft->n, sizeof(*k));
	uint32_t *at = ft_alloc(ft, (size_t)ft->max_rank + 2, sizeof(*at));
	bool sorted = true;

	ft->by_rank = ft_alloc(ft, ft->n, sizeof(*ft->by_rank));
	if (k == NULL || at == NULL || ft->by_rank == NULL)
		return ft_out_of_memory(ft, err);
	for (fm_sw s = 0; s < ft->n; s++) {
		k[s] = (struct keyed){ ft->how->by_guid ? ft->fab->sw_guid[s] : s, s };
		sorted &= s == 0 || k[s - 1].guid <= k[s].guid;
		at[ft->rank[s] + 1]++;
	}
	if (!sorted)
		qsort(k, ft->n, sizeof(*k), by_guid);
	for (unsigned r = 0; r <= ft->max_rank; r++)
		at[r + 1] += at[r];
	for (uint32_t i = 0; i < ft->n; i++)
		ft->by_rank[at[ft->rank[k[i].sw]]++] = k[i].sw;
	return 0;
}

struct clustering {
	uint32_t (*homes)[MAX_HOMES]; /* [n] blocks a child was seen below, FM_NONE-padded */
	uint32_t *votes;	      /* [n] by block, all 0 between switches */
	uint32_t *touched;	      /* [n * MAX_HOMES at most n] blocks with votes */
};

/* The block of u's tier that most of its children are below; a new one if
 * none has more than half of them. */
static uint32_t
choose_block(struct fm_dmodk_routes *ft, struct clustering *c, const uint16_t *block_rank, fm_sw u)
{
	uint32_t n_touched = 0, best = FM_NONE, best_votes = 0;
	uint32_t n_children = ft->first_group[u + 1] - ft->first_child[u];

	FT_EACH_CHILD(ft, g, u)
	{
		for (unsigned i = 0; i < MAX_HOMES && c->homes[g->to][i] != FM_NONE; i++) {
			uint32_t b = c->homes[g->to][i];

			if (block_rank[b] == ft->rank[u] && c->votes[b]++ == 0)
				c->touched[n_touched++] = b;
		}
	}
	for (uint32_t i = 0; i < n_touched; i++) {
		uint32_t b = c->touched[i];

		if (c->votes[b] > best_votes || (c->votes[b] == best_votes && b < best)) {
			best = b;
			best_votes = c->votes[b];
		}
		c->votes[b] = 0;
	}
	return best_votes * 2 > n_children ? best : FM_NONE;
}

static void
remember_home(uint32_t homes[MAX_HOMES], uint32_t block)
{
	for (unsigned i = 0; i < MAX_HOMES; i++) {
		if (homes[i] == block)
			return;
		if (homes[i] == FM_NONE) {
			homes[i] = block;
			return;
		}
	}
}

static int
find_blocks(struct fm_dmodk_routes *ft, uint16_t *block_rank, struct fm_error *err)
{
	struct clustering c = {
		.homes = ft_alloc(ft, ft->n, sizeof(*c.homes)),
		.votes = ft_alloc(ft, ft->n, sizeof(*c.votes)),
		.touched = ft_alloc(ft, ft->n, sizeof(*c.touched)),
	};

	ft->block = ft_alloc(ft, ft->n, sizeof(*ft->block));
	if (!c.homes || !c.votes || !c.touched || !ft->block)
		return ft_out_of_memory(ft, err);
	memset(c.homes, 0xff, ft->n * sizeof(*c.homes));
	memset(ft->block, 0xff, ft->n * sizeof(*ft->block));
	for (uint32_t i = 0; i < ft->n; i++) {
		fm_sw u = ft->by_rank[i];
		uint32_t b;

		if (ft->first_child[u] == ft->first_group[u + 1])
			continue;
		b = choose_block(ft, &c, block_rank, u);
		if (b == FM_NONE) {
			b = ft->n_blocks++;
			block_rank[b] = ft->rank[u];
		}
		ft->block[u] = b;
		FT_EACH_CHILD(ft, g, u)
		remember_home(c.homes[g->to], b);
	}
	return 0;
}

/* The block of all parents of s, or FM_NONE: they are of several, or there is none. */
static uint32_t
only_home(const struct fm_dmodk_routes *ft, fm_sw s)
{
	uint32_t first = ft->first_group[s], b;

	if (first == ft->first_child[s])
		return FM_NONE;
	b = ft->block[ft->groups[first].to];
	FT_EACH_PARENT(ft, g, s)
	if (ft->block[g->to] != b)
		return FM_NONE;
	return b;
}

/* The block most parents of s are in.  votes: all 0 between switches. */
static uint32_t
vote_home(const struct fm_dmodk_routes *ft, fm_sw s, uint32_t *votes)
{
	uint32_t best = FM_NONE;

	FT_EACH_PARENT(ft, g, s)
	votes[ft->block[g->to]] += g->n;
	FT_EACH_PARENT(ft, g, s)
	{
		uint32_t b = ft->block[g->to];

		if (best == FM_NONE || votes[b] > votes[best] ||
		    (votes[b] == votes[best] && b < best))
			best = b;
	}
	FT_EACH_PARENT(ft, g, s)
	votes[ft->block[g->to]] = 0;
	return best;
}

static int
find_homes(struct fm_dmodk_routes *ft, struct fm_error *err)
{
	uint32_t *votes = ft_alloc(ft, ft->n_blocks, sizeof(*votes));

	ft->home = ft_alloc(ft, ft->n, sizeof(*ft->home));
	if (votes == NULL || ft->home == NULL)
		return ft_out_of_memory(ft, err);
	for (fm_sw s = 0; s < ft->n; s++) {
		ft->home[s] = only_home(ft, s);
		if (ft->home[s] == FM_NONE)
			ft->home[s] = vote_home(ft, s, votes);
	}
	return 0;
}

/* Switches i with rank[by_rank[i]] == r are by_rank[rank_start[r] .. rank_start[r + 1]). */
static uint32_t
rank_end(const struct fm_dmodk_routes *ft, uint32_t from)
{
	uint32_t i = from;

	while (i < ft->n && ft->rank[ft->by_rank[i]] == ft->rank[ft->by_rank[from]])
		i++;
	return i;
}

/* From above: blocks joined through all tiers above a switch are one plane. */
static int
find_planes(struct fm_dmodk_routes *ft, uint32_t *joined, struct fm_error *err)
{
	ft->plane = ft_alloc(ft, ft->n, sizeof(*ft->plane));
	if (ft->plane == NULL)
		return ft_out_of_memory(ft, err);
	for (uint32_t b = 0; b < ft->n_blocks; b++)
		joined[b] = b;
	for (uint32_t to = ft->n; to > 0;) {
		uint32_t from = to - 1;

		while (from > 0 && ft->rank[ft->by_rank[from - 1]] == ft->rank[ft->by_rank[to - 1]])
			from--;
		for (uint32_t i = from; i < to; i++) {
			fm_sw s = ft->by_rank[i];

			ft->plane[s] =
			    ft->home[s] != FM_NONE ? fm_ufind(joined, ft->home[s]) : FM_NONE;
		}
		for (uint32_t i = from; i < to; i++) {
			fm_sw s = ft->by_rank[i];

			if (ft->home[s] != FM_NONE && ft->block[s] != FM_NONE)
				fm_ufind_join(joined, ft->home[s], ft->block[s]);
		}
		to = from;
	}
	return 0;
}

/* Stable counting sort of leaves by the first leaf, in GUID order, of their pod. */
static void
group_leaves(const struct fm_dmodk_routes *ft, uint32_t *joined, fm_sw *leaves, uint32_t n,
    uint32_t *first, uint32_t *count, fm_sw *tmp)
{
	uint32_t sum = 0;

	memset(first, 0xff, ft->n_blocks * sizeof(*first));
	memset(count, 0, ((size_t)n + 1) * sizeof(*count));
	for (uint32_t i = 0, j = 0; i < ft->n; i++) {
		fm_sw s = ft->by_rank[i];
		uint32_t pod = ft->home[s] != FM_NONE ? fm_ufind(joined, ft->home[s]) : FM_NONE;

		if (pod != FM_NONE && ft->n_hosts[s] > 0 && first[pod] == FM_NONE)
			first[pod] = j;
		j += ft->n_hosts[s] > 0;
	}
	for (uint32_t i = 0; i < n; i++) {
		fm_sw s = leaves[i];

		tmp[i] = ft->home[s] != FM_NONE ? first[fm_ufind(joined, ft->home[s])] : n;
		count[tmp[i]]++;
	}
	for (uint32_t k = 0; k <= n; k++) {
		uint32_t c = count[k];

		count[k] = sum;
		sum += c;
	}
	for (uint32_t i = 0; i < n; i++)
		tmp[n + count[tmp[i]]++] = leaves[i];
	memcpy(leaves, tmp + n, n * sizeof(*leaves));
}

/* From below: leaves pod by pod, pods by pods of pods, ...; last key the GUID. */
static int
order_columns(struct fm_dmodk_routes *ft, uint32_t *joined, struct fm_error *err)
{
	uint32_t n = 0, at;
	uint32_t *first = ft_alloc(ft, ft->n_blocks, sizeof(*first));
	uint32_t *count = ft_alloc(ft, (size_t)ft->n + 1, sizeof(*count));
	fm_sw *tmp = ft_alloc(ft, (size_t)ft->n * 2, sizeof(*tmp));

	ft->col_sw = ft_alloc(ft, ft->n, sizeof(*ft->col_sw));
	ft->col_of = ft_alloc(ft, ft->n, sizeof(*ft->col_of));
	if (!first || !count || !tmp || !ft->col_sw || !ft->col_of)
		return ft_out_of_memory(ft, err);
	for (uint32_t i = 0; i < ft->n; i++)
		if (ft->n_hosts[ft->by_rank[i]] > 0)
			ft->col_sw[n++] = ft->by_rank[i];
	ft->n_leaves = n;
	for (uint32_t b = 0; b < ft->n_blocks; b++)
		joined[b] = b;
	for (uint32_t from = 0; from < ft->n; from = rank_end(ft, from)) {
		group_leaves(ft, joined, ft->col_sw, ft->n_leaves, first, count, tmp);
		for (uint32_t i = rank_end(ft, from); i < ft->n; i++) {
			fm_sw s = ft->by_rank[i];

			if (ft->rank[s] != ft->rank[ft->by_rank[from]] + 1)
				break;
			if (ft->block[s] != FM_NONE && ft->home[s] != FM_NONE)
				fm_ufind_join(joined, ft->block[s], ft->home[s]);
		}
	}
	at = n;
	for (uint32_t i = 0; i < ft->n; i++)
		if (ft->n_hosts[ft->by_rank[i]] == 0)
			ft->col_sw[at++] = ft->by_rank[i];
	for (uint32_t c = 0; c < ft->n; c++)
		ft->col_of[ft->col_sw[c]] = c;
	return 0;
}

/* Slot order inside a block: by plane, which means the same in every pod;
 * neighbours in this order are of different systems where there are several,
 * because the LIDs of one port take neighbouring slots. */
static int
before(const struct fm_dmodk_routes *ft, const uint32_t *ordinal, fm_sw a, fm_sw b)
{
	const struct fm_fabric *fab = ft->fab;

	if (ordinal[a] != ordinal[b])
		return ordinal[a] < ordinal[b];
	if (ft->plane[a] != ft->plane[b])
		return ft->plane[a] < ft->plane[b];
	if (!ft->how->by_guid)
		return a < b;
	if (fab->sw_system_guid[a] != fab->sw_system_guid[b])
		return fab->sw_system_guid[a] < fab->sw_system_guid[b];
	return fab->sw_guid[a] < fab->sw_guid[b];
}

static void
insertion_sort(const struct fm_dmodk_routes *ft, const uint32_t *ordinal, fm_sw *m, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		fm_sw s = m[i];
		uint32_t j = i;

		for (; j > 0 && before(ft, ordinal, s, m[j - 1]); j--)
			m[j] = m[j - 1];
		m[j] = s;
	}
}

void
ft_sort_parents(const struct fm_dmodk_routes *ft, uint32_t *ordinal, fm_sw *m, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		ordinal[m[i]] = 0;
	insertion_sort(ft, ordinal, m, n);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < i; j++)
			ordinal[m[i]] +=
			    ft->fab->sw_system_guid[m[i]] == ft->fab->sw_system_guid[m[j]];
	insertion_sort(ft, ordinal, m, n);
}

static int
fill_blocks(struct fm_dmodk_routes *ft, struct fm_error *err)
{
	uint32_t *ordinal = ft_alloc(ft, ft->n, sizeof(*ordinal));
	uint32_t *at = ft_alloc(ft, (size_t)ft->n_blocks + 1, sizeof(*at));

	ft->block_first = ft_alloc(ft, (size_t)ft->n_blocks + 2, sizeof(*ft->block_first));
	ft->block_member = ft_alloc(ft, ft->n, sizeof(*ft->block_member));
	if (!ordinal || !at || !ft->block_first || !ft->block_member)
		return ft_out_of_memory(ft, err);
	for (fm_sw s = 0; s < ft->n; s++)
		if (ft->block[s] != FM_NONE)
			ft->block_first[ft->block[s] + 1]++;
	for (uint32_t b = 0; b < ft->n_blocks; b++) {
		ft->block_first[b + 1] += ft->block_first[b];
		at[b] = ft->block_first[b];
	}
	for (uint32_t i = 0; i < ft->n; i++) {
		fm_sw s = ft->by_rank[i];

		if (ft->block[s] != FM_NONE)
			ft->block_member[at[ft->block[s]]++] = s;
	}
	for (uint32_t b = 0; b < ft->n_blocks; b++)
		ft_sort_parents(ft, ordinal, &ft->block_member[ft->block_first[b]],
		    ft->block_first[b + 1] - ft->block_first[b]);
	return 0;
}

/* Hosts of a class at the usual leaf that has any: leaves are numbered in steps of it,
 * so that a host that is off does not shift the numbers of all that follow. */
static void
find_usual_size(struct fm_dmodk_routes *ft, uint8_t class, uint32_t *count)
{
	const struct fm_fabric *fab = ft->fab;
	const uint8_t *of = ft->how->class;
	uint32_t usual = 0;

	memset(count, 0, 512 * sizeof(*count));
	for (uint32_t c = 0; c < ft->n_leaves; c++) {
		fm_sw s = ft->col_sw[c];
		uint32_t n = of == NULL && class == 0 ? ft->n_hosts[s] : 0;

		for (fm_end e = fab->sw_first_end[s]; of != NULL && e < fab->sw_first_end[s + 1];
		     e++)
			n += fm_is_host(fab, e) && of[e] == class;
		count[n < 511 ? n : 511]++;
	}
	for (uint32_t n = 1; n < 512; n++)
		if (count[n] > 0 && count[n] >= count[usual] * (usual > 0))
			usual = n;
	ft->class_size[class] = usual > 0 ? usual : 1;
	ft->class_leaves[class] = usual > 0 ? count[usual] : 0;
}

static int
find_sizes(struct fm_dmodk_routes *ft, struct fm_error *err)
{
	uint32_t *count = ft_alloc(ft, 512, sizeof(*count));

	if (count == NULL)
		return ft_out_of_memory(ft, err);
	for (uint8_t class = 0; class < FM_DMODK_CLASSES; class ++)
		find_usual_size(ft, class, count);
	return 0;
}

int
ft_shape(struct fm_dmodk_routes *ft, struct fm_error *err)
{
	uint16_t *block_rank = ft_alloc(ft, ft->n, sizeof(*block_rank));
	uint32_t *joined = ft_alloc(ft, ft->n, sizeof(*joined));
	int rc;

	if (block_rank == NULL || joined == NULL)
		return ft_out_of_memory(ft, err);
	if ((rc = sort_switches(ft, err)) < 0 || (rc = find_blocks(ft, block_rank, err)) < 0 ||
	    (rc = find_homes(ft, err)) < 0 || (rc = find_planes(ft, joined, err)) < 0 ||
	    (rc = order_columns(ft, joined, err)) < 0 || (rc = fill_blocks(ft, err)) < 0)
		return rc;
	return find_sizes(ft, err);
}
