/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which tier is a switch of?
 *
 * Bottom up: leaves are the switches with hosts (CA or router ports); the tier
 * of any other is its distance from the nearest leaf.  A few hosts on upper
 * switches (storage on spines) must not make a leaf there: while two leaves
 * are joined, the one joined to most leaves is struck off; when more than a
 * third of the hosts of a component would lose their leaf so, it is no tree,
 * unless it has no cycle.
 *
 * Top down, when the roots are given, when the fabric is cut so sparsely that
 * it has no cycle, or when bottom up leaves too many cables inside a tier
 * (line cards with and without leaves below them: uneven depth): the tier is
 * counted down from the roots.  Roots that are not given are the switches
 * without hosts that are nearest to their farthest host.
 *
 * A few cables inside a tier are left unused; with more of them the fabric is
 * refused and one is named.  O(links), except for finding roots: O(leaves *
 * links), which regular trees never need.
 */
#include <inttypes.h>

#include "plugins/engines/fattree/fattree.h"

static bool
is_host(const struct fm_fabric *fab, fm_end e)
{
	return fab->end_kind[e] == FM_END_CA || fab->end_kind[e] == FM_END_ROUTER;
}

static int
collect(struct ft *ft, struct fm_error *err)
{
	const struct fm_fabric *fab = ft->fab;
	uint32_t n = 0;

	ft->first_group = ft_alloc(ft, ft->n + 1, sizeof(*ft->first_group));
	ft->groups = ft_alloc(ft, fab->n_links, sizeof(*ft->groups));
	ft->n_hosts = ft_alloc(ft, ft->n, sizeof(*ft->n_hosts));
	ft->rank = ft_alloc(ft, ft->n, sizeof(*ft->rank));
	ft->first_peer = ft_alloc(ft, ft->n, sizeof(*ft->first_peer));
	ft->first_child = ft_alloc(ft, ft->n, sizeof(*ft->first_child));
	if (!ft->first_group || !ft->groups || !ft->n_hosts || !ft->rank || !ft->first_peer ||
	    !ft->first_child)
		return ft_out_of_memory(ft, err);
	for (fm_sw s = 0; s < ft->n; s++) {
		ft->first_group[s] = n;
		for (fm_link l = fab->sw_first_link[s]; l < fab->sw_first_link[s + 1]; l++) {
			if (fab->link_to[l] == s)
				continue;
			if (n > ft->first_group[s] && ft->groups[n - 1].to == fab->link_to[l])
				ft->groups[n - 1].n++;
			else
				ft->groups[n++] = (struct ft_group){ fab->link_to[l], l, 1 };
		}
		for (fm_end e = fab->sw_first_end[s]; e < fab->sw_first_end[s + 1]; e++)
			ft->n_hosts[s] += is_host(fab, e);
	}
	ft->first_group[ft->n] = n;
	ft->parallel = n < fab->n_links;
	return 0;
}

/* Breadth first from all s with rank[s] == 0; the others must be FT_NO_RANK.
 * queue: [n].  Tells whether two of one rank are joined. */
static bool
spread(const struct ft *ft, uint16_t *rank, fm_sw *queue)
{
	uint32_t head = 0, tail = 0;
	bool joined = false;

	for (fm_sw s = 0; s < ft->n; s++)
		if (rank[s] == 0)
			queue[tail++] = s;
	while (head < tail) {
		fm_sw s = queue[head++];

		FT_EACH_GROUP (ft, g, s) {
			joined |= rank[g->to] == rank[s];
			if (rank[g->to] != FT_NO_RANK)
				continue;
			rank[g->to] = (uint16_t)(rank[s] + 1);
			queue[tail++] = g->to;
		}
	}
	return joined;
}

/* Components without a starting point: their first switch is one. */
static bool
spread_rest(const struct ft *ft, uint16_t *rank, fm_sw *queue)
{
	bool joined = false;

	for (fm_sw s = 0; s < ft->n; s++) {
		uint32_t head = 0, tail = 0;

		if (rank[s] != FT_NO_RANK)
			continue;
		rank[s] = 0;
		queue[tail++] = s;
		while (head < tail) {
			fm_sw at = queue[head++];

			FT_EACH_GROUP (ft, g, at) {
				joined |= rank[g->to] == rank[at];
				if (rank[g->to] != FT_NO_RANK)
					continue;
				rank[g->to] = (uint16_t)(rank[at] + 1);
				queue[tail++] = g->to;
			}
		}
	}
	return joined;
}

/* Cables inside a tier; *at_s and *at_g name the first of them. */
static uint32_t
count_siblings(const struct ft *ft, const uint16_t *rank, fm_sw *at_s, const struct ft_group **at_g)
{
	uint32_t n = 0;

	for (fm_sw s = 0; s < ft->n; s++)
		FT_EACH_GROUP (ft, g, s) {
			if (g->to < s || rank[g->to] != rank[s])
				continue;
			if (n == 0) {
				*at_s = s;
				*at_g = g;
			}
			n += g->n;
		}
	return n;
}

static uint32_t
tolerated_siblings(const struct ft *ft)
{
	uint32_t one_pct = ft->fab->n_links / 200;

	return ft->fab->n_links < 12 ? 0 : one_pct > 2 ? one_pct : 2;
}

static int
refuse_siblings(const struct ft *ft, const char *what, fm_sw s, const struct ft_group *g,
    uint32_t n, struct fm_error *err)
{
	const struct fm_fabric *fab = ft->fab;

	return ft->host->fail(err, FM_E_TOPOLOGY,
	    "not a fat tree: %s port %u and %s port %u are joined though both are %s (%" PRIu32
	    " such cables); name the top switches with roots = {...} or use updn",
	    fab->sw_name[s], fab->link_port[g->first], fab->sw_name[g->to],
	    fab->link_port[fab->link_rev[g->first]], what, n);
}

/* Which switches hang together, and the hosts of each such component. */
struct parts {
	uint32_t *component;	  /* [n] a union-find */
	uint64_t *hosts, *struck; /* [n] by component: hosts, and those without a leaf */
	bool *cyclic;		  /* [n] by component */
};

static bool
find_parts(const struct ft *ft, struct parts *p)
{
	p->component = ft_alloc(ft, ft->n, sizeof(*p->component));
	p->hosts = ft_alloc(ft, ft->n, sizeof(*p->hosts));
	p->struck = ft_alloc(ft, ft->n, sizeof(*p->struck));
	p->cyclic = ft_alloc(ft, ft->n, sizeof(*p->cyclic));
	if (p->component == NULL || p->hosts == NULL || p->struck == NULL || p->cyclic == NULL)
		return false;
	fm_ufind_init(p->component, ft->n);
	for (fm_sw s = 0; s < ft->n; s++)
		FT_EACH_GROUP (ft, g, s) {
			if (g->to < s)
				continue;
			p->cyclic[s] |= fm_ufind(p->component, s) == fm_ufind(p->component, g->to);
			fm_ufind_join(p->component, s, g->to);
		}
	for (fm_sw s = 0; s < ft->n; s++) {
		uint32_t part = fm_ufind(p->component, s);

		p->hosts[part] += ft->n_hosts[s];
		p->cyclic[part] |= p->cyclic[s];
	}
	return true;
}

/* Leaves that are joined to leaves, from the one that is to most on, until none is. */
static int
strike_leaves(
    const struct ft *ft, uint16_t *rank, uint32_t *joined, uint32_t n_joined, struct fm_error *err)
{
	struct parts parts;

	if (!find_parts(ft, &parts))
		return ft_out_of_memory(ft, err);
	while (n_joined > 0) {
		const struct ft_group *at_g = NULL;
		fm_sw worst = 0, at = 0;
		uint32_t part;

		for (fm_sw s = 1; s < ft->n; s++)
			if (joined[s] > joined[worst] ||
			    (joined[s] == joined[worst] && ft->n_hosts[s] < ft->n_hosts[worst]))
				worst = s;
		part = fm_ufind(parts.component, worst);
		parts.struck[part] += ft->n_hosts[worst];
		if (parts.cyclic[part] && parts.struck[part] * 3 > parts.hosts[part]) {
			uint32_t n = count_siblings(ft, rank, &at, &at_g);

			FT_EACH_GROUP (ft, g, worst)
				if (rank[g->to] == 0)
					return refuse_siblings(
					    ft, "switches with hosts", worst, g, n, err);
		}
		rank[worst] = FT_NO_RANK;
		n_joined -= 2 * joined[worst];
		joined[worst] = 0;
		FT_EACH_GROUP (ft, g, worst)
			if (rank[g->to] == 0)
				joined[g->to]--;
	}
	return 0;
}

/* rank 0 for leaves, FT_NO_RANK for all others. */
static int
find_leaves(const struct ft *ft, uint16_t *rank, uint32_t *joined, struct fm_error *err)
{
	uint32_t n_joined = 0;

	for (fm_sw s = 0; s < ft->n; s++) {
		rank[s] = ft->n_hosts[s] > 0 ? 0 : FT_NO_RANK;
		joined[s] = 0;
	}
	for (fm_sw s = 0; s < ft->n; s++) {
		if (rank[s] != 0)
			continue;
		FT_EACH_GROUP (ft, g, s)
			joined[s] += rank[g->to] == 0;
		n_joined += joined[s];
	}
	return n_joined > 0 ? strike_leaves(ft, rank, joined, n_joined, err) : 0;
}

/* No cycle of switches at all: any root makes a tree. */
static bool
is_forest(const struct ft *ft, uint32_t *parent)
{
	for (fm_sw s = 0; s < ft->n; s++)
		parent[s] = s;
	for (fm_sw s = 0; s < ft->n; s++)
		FT_EACH_GROUP (ft, g, s) {
			if (g->to < s)
				continue;
			if (fm_ufind(parent, s) == fm_ufind(parent, g->to))
				return false;
			fm_ufind_join(parent, s, g->to);
		}
	return true;
}

static void
flip(const struct ft *ft, uint16_t *rank)
{
	uint16_t max = 0;

	for (fm_sw s = 0; s < ft->n; s++)
		if (rank[s] != FT_NO_RANK && rank[s] > max)
			max = rank[s];
	for (fm_sw s = 0; s < ft->n; s++)
		if (rank[s] != FT_NO_RANK)
			rank[s] = (uint16_t)(max - rank[s]);
}

/* One root for each component: the switch with most neighbours. */
static void
rank_forest(const struct ft *ft, uint32_t *component, uint16_t *rank, fm_sw *queue)
{
	for (fm_sw s = 0; s < ft->n; s++)
		queue[s] = FM_NONE; /* here: the root of component s */
	for (fm_sw s = 0; s < ft->n; s++) {
		uint32_t degree = ft->first_group[s + 1] - ft->first_group[s];
		fm_sw *root = &queue[fm_ufind(component, s)];

		if (*root == FM_NONE ||
		    degree > ft->first_group[*root + 1] - ft->first_group[*root])
			*root = s;
	}
	for (fm_sw s = 0; s < ft->n; s++)
		rank[s] = queue[fm_ufind(component, s)] == s ? 0 : FT_NO_RANK;
	spread(ft, rank, queue);
	flip(ft, rank);
}

static int
rank_given(const struct ft *ft, uint16_t *rank, fm_sw *queue, struct fm_error *err)
{
	uint32_t n_roots = 0;

	for (fm_sw s = 0; s < ft->n; s++) {
		rank[s] = fm_bit(ft->opt->roots.sw, s) ? 0 : FT_NO_RANK;
		n_roots += rank[s] == 0;
	}
	if (n_roots == 0)
		return ft->host->fail(
		    err, FM_E_TOPOLOGY, "none of the switches named by roots is in this fabric");
	spread(ft, rank, queue);
	flip(ft, rank);
	spread_rest(ft, rank, queue);
	return 0;
}

/* Distance to the farthest switch with hosts, for all switches. */
static void
eccentricities(const struct ft *ft, uint16_t *ecc, uint16_t *dist, fm_sw *queue)
{
	for (fm_sw leaf = 0; leaf < ft->n; leaf++) {
		if (ft->n_hosts[leaf] == 0)
			continue;
		for (fm_sw s = 0; s < ft->n; s++)
			dist[s] = s == leaf ? 0 : FT_NO_RANK;
		spread(ft, dist, queue);
		for (fm_sw s = 0; s < ft->n; s++)
			if (dist[s] != FT_NO_RANK && dist[s] > ecc[s])
				ecc[s] = dist[s];
	}
}

/* Count down from the switches nearest to their farthest host.  A switch
 * without hosts that has nothing below it is a damaged root: raise it. */
static int
rank_from_centre(const struct ft *ft, uint16_t *rank, fm_sw *queue, struct fm_error *err)
{
	uint16_t *ecc = ft_alloc(ft, ft->n, sizeof(*ecc));
	uint16_t *dist = ft_alloc(ft, ft->n, sizeof(*dist));
	uint16_t least = FT_NO_RANK;

	if (ecc == NULL || dist == NULL)
		return ft_out_of_memory(ft, err);
	eccentricities(ft, ecc, dist, queue);
	for (fm_sw s = 0; s < ft->n; s++)
		if (ft->n_hosts[s] == 0 && ecc[s] > 0 && ecc[s] < least)
			least = ecc[s];
	for (fm_sw s = 0; s < ft->n; s++)
		rank[s] = ft->n_hosts[s] == 0 && ecc[s] == least ? 0 : FT_NO_RANK;
	spread(ft, rank, queue);
	flip(ft, rank);
	spread_rest(ft, rank, queue);
	for (fm_sw s = 0; s < ft->n; s++) {
		uint16_t top = 0;
		bool lowest = ft->n_hosts[s] == 0;

		FT_EACH_GROUP (ft, g, s) {
			lowest &= rank[g->to] > rank[s];
			top = rank[g->to] > top ? rank[g->to] : top;
		}
		if (lowest && top > 0)
			rank[s] = (uint16_t)(top + 1);
	}
	return 0;
}

static int
rank_by_hosts(struct ft *ft, uint32_t *scratch, fm_sw *queue, struct fm_error *err)
{
	uint64_t effort = (uint64_t)ft->first_group[ft->n];
	uint32_t n_siblings, n_centre, n_leaves = 0;
	const struct ft_group *g = NULL;
	fm_sw s = 0;
	bool joined;
	int rc = find_leaves(ft, ft->rank, scratch, err);

	if (rc < 0)
		return rc;
	for (fm_sw i = 0; i < ft->n; i++)
		n_leaves += ft->rank[i] == 0;
	joined = spread(ft, ft->rank, queue);
	joined |= spread_rest(ft, ft->rank, queue);
	if (!joined)
		return 0;
	n_siblings = count_siblings(ft, ft->rank, &s, &g);
	if (effort * n_leaves < UINT64_C(100000000)) {
		uint16_t *rank = ft_alloc(ft, ft->n, sizeof(*rank));
		fm_sw s2 = 0;
		const struct ft_group *g2 = NULL;

		if (rank == NULL)
			return ft_out_of_memory(ft, err);
		if ((rc = rank_from_centre(ft, rank, queue, err)) < 0)
			return rc;
		n_centre = count_siblings(ft, rank, &s2, &g2);
		if (n_centre < n_siblings && n_siblings > tolerated_siblings(ft)) {
			memcpy(ft->rank, rank, ft->n * sizeof(*rank));
			n_siblings = n_centre;
			s = s2;
			g = g2;
		}
	}
	if (n_siblings > tolerated_siblings(ft))
		return refuse_siblings(ft, "of one tier", s, g, n_siblings, err);
	return 0;
}

/* Parents first, children last; apart from that the order stays. */
static bool
split_groups(struct ft *ft)
{
	struct ft_group *held = ft_alloc(ft, 256, sizeof(*held));

	if (held == NULL)
		return false;
	for (fm_sw s = 0; s < ft->n; s++) {
		uint32_t at = ft->first_group[s], n_peers = 0, n_children = 0;

		for (uint32_t i = at; i < ft->first_group[s + 1]; i++) {
			struct ft_group g = ft->groups[i];

			if (ft->rank[g.to] > ft->rank[s])
				ft->groups[at++] = g;
			else if (ft->rank[g.to] == ft->rank[s])
				held[255 - n_peers++] = g;
			else
				held[n_children++] = g;
		}
		ft->first_peer[s] = at;
		for (uint32_t i = 0; i < n_peers; i++)
			ft->groups[at++] = held[255 - i];
		ft->first_child[s] = at;
		memcpy(&ft->groups[at], held, n_children * sizeof(*held));
	}
	return true;
}

/* Cables between peers, which carry nothing. */
static void
find_ignored(struct ft *ft)
{
	for (fm_sw s = 0; s < ft->n; s++)
		for (uint32_t i = ft->first_peer[s]; i < ft->first_child[s]; i++) {
			const struct ft_group *g = &ft->groups[i];

			if (g->to < s)
				continue;
			if (ft->n_ignored == 0)
				ft->ignored = g;
			ft->n_ignored += g->n;
		}
}

static int
refuse_hostless(const struct ft *ft, struct fm_error *err)
{
	return ft->host->fail(err, FM_E_TOPOLOGY,
	    "no switch has a host, so the tiers of the tree cannot be told; name the top switches "
	    "with roots = {...}");
}

int
ft_tiers(struct ft *ft, struct fm_error *err)
{
	uint32_t *scratch, hosts = 0;
	fm_sw *queue;
	int rc = collect(ft, err);

	if (rc < 0)
		return rc;
	scratch = ft_alloc(ft, ft->n, sizeof(*scratch));
	queue = ft_alloc(ft, ft->n, sizeof(*queue));
	if (scratch == NULL || queue == NULL)
		return ft_out_of_memory(ft, err);
	for (fm_sw s = 0; s < ft->n; s++)
		hosts += ft->n_hosts[s];
	if (ft->opt->roots.given)
		rc = rank_given(ft, ft->rank, queue, err);
	else if (is_forest(ft, scratch))
		rank_forest(ft, scratch, ft->rank, queue);
	else if (hosts == 0)
		rc = refuse_hostless(ft, err);
	else
		rc = rank_by_hosts(ft, scratch, queue, err);
	if (rc < 0)
		return rc;
	if (!split_groups(ft))
		return ft_out_of_memory(ft, err);
	find_ignored(ft);
	if (ft->n_ignored > tolerated_siblings(ft))
		return refuse_siblings(ft, "of one tier",
		    ft->fab->link_to[ft->fab->link_rev[ft->ignored->first]], ft->ignored,
		    ft->n_ignored, err);
	for (fm_sw s = 0; s < ft->n; s++)
		if (ft->rank[s] > ft->max_rank)
			ft->max_rank = ft->rank[s];
	if (ft->max_rank > FT_MAX_RANK)
		return ft->host->fail(err, FM_E_TOPOLOGY,
		    "the tree would have %u tiers, at most %d can be routed; use updn",
		    ft->max_rank + 1u, FT_MAX_RANK + 1);
	return 0;
}
