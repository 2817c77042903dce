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
#include <string.h>

#include "lib/algo/ufind.h"
#include "plugins/common/tree/tiers.h"

/* To the neighbours; a cable may lead back to its own switch. */
#define EACH_ARC(t, a, s) \
	for (fm_arc a = (t)->arcs->first[s]; a < (t)->arcs->first[(s) + 1]; a++) \
		if ((t)->arcs->to[a] != (s))

/* One element of this size for each switch. */
static void *
alloc(const struct fm_tiers *t, size_t size)
{
	return fm_scratch_bytes(t->host, t->n, size);
}

/* Breadth first from all s with rank[s] == 0; the others must be FM_NO_TIER.
 * queue: [n].  Tells whether two of one rank are joined. */
static bool
spread(const struct fm_tiers *t, uint16_t *rank, fm_sw *queue)
{
	uint32_t head = 0, tail = 0;
	bool joined = false;

	for (fm_sw s = 0; s < t->n; s++)
		if (rank[s] == 0)
			queue[tail++] = s;
	while (head < tail) {
		fm_sw s = queue[head++];

		EACH_ARC(t, a, s)
		{
			joined |= rank[t->arcs->to[a]] == rank[s];
			if (rank[t->arcs->to[a]] != FM_NO_TIER)
				continue;
			rank[t->arcs->to[a]] = (uint16_t)(rank[s] + 1);
			queue[tail++] = t->arcs->to[a];
		}
	}
	return joined;
}

/* Components without a starting point: their first switch is one. */
static bool
spread_rest(const struct fm_tiers *t, uint16_t *rank, fm_sw *queue)
{
	bool joined = false;

	for (fm_sw s = 0; s < t->n; s++) {
		uint32_t head = 0, tail = 0;

		if (rank[s] != FM_NO_TIER)
			continue;
		rank[s] = 0;
		queue[tail++] = s;
		while (head < tail) {
			fm_sw at = queue[head++];

			EACH_ARC(t, a, at)
			{
				joined |= rank[t->arcs->to[a]] == rank[at];
				if (rank[t->arcs->to[a]] != FM_NO_TIER)
					continue;
				rank[t->arcs->to[a]] = (uint16_t)(rank[at] + 1);
				queue[tail++] = t->arcs->to[a];
			}
		}
	}
	return joined;
}

/* Cables inside a tier; *first is one of them. */
static uint32_t
count_siblings(const struct fm_tiers *t, const uint16_t *rank, fm_arc *first)
{
	uint32_t n = 0;

	for (fm_sw s = 0; s < t->n; s++)
		EACH_ARC(t, a, s)
		{
			if (t->arcs->to[a] < s || rank[t->arcs->to[a]] != rank[s])
				continue;
			if (n == 0)
				*first = a;
			n += fm_arc_width(t->arcs, a);
		}
	return n;
}

static uint32_t
tolerated_siblings(const struct fm_tiers *t)
{
	uint32_t one_pct = t->fab->n_links / 200;

	return t->fab->n_links < 12 ? 0 : one_pct > 2 ? one_pct : 2;
}

static int
refuse_siblings(
    const struct fm_tiers *t, const char *what, fm_arc a, uint32_t n, struct fm_error *err)
{
	const struct fm_fabric *fab = t->fab;
	fm_link l = t->arcs->link[a];

	return t->host->fail(t->host, err, FM_E_TOPOLOGY,
	    "not a fat tree: %s port %u and %s port %u are joined though both are %s (%" PRIu32
	    " such cables); name the top switches with roots = {...} or use updn",
	    fab->sw_name[fab->link_to[fab->link_rev[l]]], fab->link_port[l],
	    fab->sw_name[fab->link_to[l]], fab->link_port[fab->link_rev[l]], what, n);
}

/* Which switches hang together, and the hosts of each such component. */
struct parts {
	uint32_t *component;	  /* [n] a union-find */
	uint64_t *hosts, *struck; /* [n] by component: hosts, and those without a leaf */
	bool *cyclic;		  /* [n] by component */
};

static bool
find_parts(const struct fm_tiers *t, struct parts *p)
{
	p->component = alloc(t, sizeof(*p->component));
	p->hosts = alloc(t, sizeof(*p->hosts));
	p->struck = alloc(t, sizeof(*p->struck));
	p->cyclic = alloc(t, sizeof(*p->cyclic));
	if (p->component == NULL || p->hosts == NULL || p->struck == NULL || p->cyclic == NULL)
		return false;
	fm_ufind_init(p->component, t->n);
	for (fm_sw s = 0; s < t->n; s++)
		EACH_ARC(t, a, s)
		{
			if (t->arcs->to[a] < s)
				continue;
			p->cyclic[s] |=
			    fm_ufind(p->component, s) == fm_ufind(p->component, t->arcs->to[a]);
			fm_ufind_join(p->component, s, t->arcs->to[a]);
		}
	for (fm_sw s = 0; s < t->n; s++) {
		uint32_t part = fm_ufind(p->component, s);

		p->hosts[part] += t->n_hosts[s];
		p->cyclic[part] |= p->cyclic[s];
	}
	return true;
}

/* Leaves that are joined to leaves, from the one that is to most on, until none is.
 * *refused: one that would be too many. */
static int
strike_leaves(const struct fm_tiers *t, uint32_t *joined, uint32_t n_joined, bool forests,
    fm_sw *refused, struct fm_error *err)
{
	uint16_t *rank = t->rank;
	struct parts parts;

	if (!find_parts(t, &parts))
		return fm_no_scratch(t->host, "tiers of the tree", err);
	while (n_joined > 0) {
		fm_sw worst = 0;
		uint32_t part;

		for (fm_sw s = 1; s < t->n; s++)
			if (joined[s] > joined[worst] ||
			    (joined[s] == joined[worst] && t->n_hosts[s] < t->n_hosts[worst]))
				worst = s;
		part = fm_ufind(parts.component, worst);
		parts.struck[part] += t->n_hosts[worst];
		if ((parts.cyclic[part] || !forests) &&
		    parts.struck[part] * 3 > parts.hosts[part]) {
			*refused = worst;
			return 0;
		}
		rank[worst] = FM_NO_TIER;
		n_joined -= 2 * joined[worst];
		joined[worst] = 0;
		EACH_ARC(t, a, worst)
		if (rank[t->arcs->to[a]] == 0)
			joined[t->arcs->to[a]]--;
	}
	return 0;
}

int
fm_tiers_find_leaves(struct fm_tiers *t, bool forests, fm_sw *refused, struct fm_error *err)
{
	uint32_t *joined = alloc(t, sizeof(*joined)), n_joined = 0;
	uint16_t *rank;

	*refused = FM_NONE;
	t->n_hosts = alloc(t, sizeof(*t->n_hosts));
	t->rank = rank = alloc(t, sizeof(*t->rank));
	if (joined == NULL || t->n_hosts == NULL || rank == NULL)
		return fm_no_scratch(t->host, "tiers of the tree", err);
	for (fm_end e = 0; e < t->fab->n_ends; e++)
		if (fm_is_host(t->fab, e) && t->fab->end_sw[e] != FM_NONE)
			t->n_hosts[t->fab->end_sw[e]]++;
	for (fm_sw s = 0; s < t->n; s++)
		rank[s] = t->n_hosts[s] > 0 ? 0 : FM_NO_TIER;
	for (fm_sw s = 0; s < t->n; s++) {
		if (rank[s] != 0)
			continue;
		EACH_ARC(t, a, s)
		joined[s] += rank[t->arcs->to[a]] == 0;
		n_joined += joined[s];
	}
	return n_joined > 0 ? strike_leaves(t, joined, n_joined, forests, refused, err) : 0;
}

/* No cycle of switches at all: any root makes a tree. */
static bool
is_forest(const struct fm_tiers *t, uint32_t *parent)
{
	for (fm_sw s = 0; s < t->n; s++)
		parent[s] = s;
	for (fm_sw s = 0; s < t->n; s++)
		EACH_ARC(t, a, s)
		{
			if (t->arcs->to[a] < s)
				continue;
			if (fm_ufind(parent, s) == fm_ufind(parent, t->arcs->to[a]))
				return false;
			fm_ufind_join(parent, s, t->arcs->to[a]);
		}
	return true;
}

static void
flip(const struct fm_tiers *t, uint16_t *rank)
{
	uint16_t max = 0;

	for (fm_sw s = 0; s < t->n; s++)
		if (rank[s] != FM_NO_TIER && rank[s] > max)
			max = rank[s];
	for (fm_sw s = 0; s < t->n; s++)
		if (rank[s] != FM_NO_TIER)
			rank[s] = (uint16_t)(max - rank[s]);
}

/* One root for each component: the switch with most neighbours. */
static void
rank_forest(const struct fm_tiers *t, uint32_t *component, uint16_t *rank, fm_sw *queue)
{
	for (fm_sw s = 0; s < t->n; s++)
		queue[s] = FM_NONE; /* here: the root of component s */
	for (fm_sw s = 0; s < t->n; s++) {
		uint32_t degree = t->arcs->first[s + 1] - t->arcs->first[s];
		fm_sw *root = &queue[fm_ufind(component, s)];

		if (*root == FM_NONE || degree > t->arcs->first[*root + 1] - t->arcs->first[*root])
			*root = s;
	}
	for (fm_sw s = 0; s < t->n; s++)
		rank[s] = queue[fm_ufind(component, s)] == s ? 0 : FM_NO_TIER;
	spread(t, rank, queue);
	flip(t, rank);
}

static int
rank_given(const struct fm_tiers *t, uint16_t *rank, fm_sw *queue, struct fm_error *err)
{
	uint32_t n_roots = 0;

	for (fm_sw s = 0; s < t->n; s++) {
		rank[s] = fm_bit(t->roots->sw, s) ? 0 : FM_NO_TIER;
		n_roots += rank[s] == 0;
	}
	if (n_roots == 0)
		return t->host->fail(t->host, err, FM_E_TOPOLOGY,
		    "none of the switches named by roots is in this fabric");
	spread(t, rank, queue);
	flip(t, rank);
	spread_rest(t, rank, queue);
	return 0;
}

/* Distance to the farthest switch with hosts, for all switches. */
static void
eccentricities(const struct fm_tiers *t, uint16_t *ecc, uint16_t *dist, fm_sw *queue)
{
	for (fm_sw leaf = 0; leaf < t->n; leaf++) {
		if (t->n_hosts[leaf] == 0)
			continue;
		for (fm_sw s = 0; s < t->n; s++)
			dist[s] = s == leaf ? 0 : FM_NO_TIER;
		spread(t, dist, queue);
		for (fm_sw s = 0; s < t->n; s++)
			if (dist[s] != FM_NO_TIER && dist[s] > ecc[s])
				ecc[s] = dist[s];
	}
}

/* Count down from the switches nearest to their farthest host.  A switch
 * without hosts that has nothing below it is a damaged root: raise it. */
static int
rank_from_centre(const struct fm_tiers *t, uint16_t *rank, fm_sw *queue, struct fm_error *err)
{
	uint16_t *ecc = alloc(t, sizeof(*ecc));
	uint16_t *dist = alloc(t, sizeof(*dist));
	uint16_t least = FM_NO_TIER;

	if (ecc == NULL || dist == NULL)
		return fm_no_scratch(t->host, "tiers of the tree", err);
	eccentricities(t, ecc, dist, queue);
	for (fm_sw s = 0; s < t->n; s++)
		if (t->n_hosts[s] == 0 && ecc[s] > 0 && ecc[s] < least)
			least = ecc[s];
	for (fm_sw s = 0; s < t->n; s++)
		rank[s] = t->n_hosts[s] == 0 && ecc[s] == least ? 0 : FM_NO_TIER;
	spread(t, rank, queue);
	flip(t, rank);
	spread_rest(t, rank, queue);
	for (fm_sw s = 0; s < t->n; s++) {
		uint16_t top = 0;
		bool lowest = t->n_hosts[s] == 0;

		EACH_ARC(t, a, s)
		{
			lowest &= rank[t->arcs->to[a]] > rank[s];
			top = rank[t->arcs->to[a]] > top ? rank[t->arcs->to[a]] : top;
		}
		if (lowest && top > 0)
			rank[s] = (uint16_t)(top + 1);
	}
	return 0;
}

static int
refuse_leaves(const struct fm_tiers *t, fm_sw refused, struct fm_error *err)
{
	fm_arc first = 0;
	uint32_t n = count_siblings(t, t->rank, &first);

	EACH_ARC(t, a, refused)
	if (t->rank[t->arcs->to[a]] == 0)
		first = a;
	return refuse_siblings(t, "switches with hosts", first, n, err);
}

static int
rank_by_hosts(struct fm_tiers *t, fm_sw refused, fm_sw *queue, struct fm_error *err)
{
	uint64_t effort = t->arcs->n_arcs;
	uint32_t n_siblings, n_centre, n_leaves = 0;
	fm_arc first = 0;
	bool joined;
	int rc;

	if (refused != FM_NONE)
		return refuse_leaves(t, refused, err);
	for (fm_sw i = 0; i < t->n; i++)
		n_leaves += t->rank[i] == 0;
	joined = spread(t, t->rank, queue);
	joined |= spread_rest(t, t->rank, queue);
	if (!joined)
		return 0;
	n_siblings = count_siblings(t, t->rank, &first);
	if (effort * n_leaves < UINT64_C(100000000)) {
		uint16_t *rank = alloc(t, sizeof(*rank));
		fm_arc other = 0;

		if (rank == NULL)
			return fm_no_scratch(t->host, "tiers of the tree", err);
		if ((rc = rank_from_centre(t, rank, queue, err)) < 0)
			return rc;
		n_centre = count_siblings(t, rank, &other);
		if (n_centre < n_siblings && n_siblings > tolerated_siblings(t)) {
			memcpy(t->rank, rank, t->n * sizeof(*rank));
			n_siblings = n_centre;
			first = other;
		}
	}
	if (n_siblings > tolerated_siblings(t))
		return refuse_siblings(t, "of one tier", first, n_siblings, err);
	return 0;
}

static int
refuse_hostless(const struct fm_tiers *t, struct fm_error *err)
{
	return t->host->fail(t->host, err, FM_E_TOPOLOGY,
	    "no switch has a host, so the tiers of the tree cannot be told; name the top switches "
	    "with roots = {...}");
}

int
fm_tiers_find(struct fm_tiers *t, struct fm_error *err)
{
	uint32_t *scratch = alloc(t, sizeof(*scratch)), hosts = 0;
	fm_sw *queue = alloc(t, sizeof(*queue)), refused;
	int rc = fm_tiers_find_leaves(t, true, &refused, err);

	if (rc < 0)
		return rc;
	if (scratch == NULL || queue == NULL)
		return fm_no_scratch(t->host, "tiers of the tree", err);
	for (fm_sw s = 0; s < t->n; s++)
		hosts += t->n_hosts[s];
	if (t->roots != NULL && t->roots->given)
		rc = rank_given(t, t->rank, queue, err);
	else if (is_forest(t, scratch))
		rank_forest(t, scratch, t->rank, queue);
	else if (hosts == 0)
		rc = refuse_hostless(t, err);
	else
		rc = rank_by_hosts(t, refused, queue, err);
	if (rc < 0)
		return rc;
	t->n_ignored = count_siblings(t, t->rank, &t->ignored);
	if (t->n_ignored > tolerated_siblings(t))
		return refuse_siblings(t, "of one tier", t->ignored, t->n_ignored, err);
	for (fm_sw s = 0; s < t->n; s++)
		if (t->rank[s] > t->max_rank)
			t->max_rank = t->rank[s];
	if (t->max_rank > FM_TIERS_MAX)
		return t->host->fail(t->host, err, FM_E_TOPOLOGY,
		    "the tree would have %u tiers, at most %d can be routed; use updn",
		    t->max_rank + 1u, FM_TIERS_MAX + 1);
	return 0;
}
