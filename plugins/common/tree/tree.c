/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ranks by breadth first search from the leaves; pods and planes by
 * union-find; slots from the top rank down, because the order of the planes
 * above decides the order of the parents below.  All sorting is by counting,
 * stable and in index order to begin with, so it is deterministic.
 */
#include "plugins/common/tree/tree.h"

#include <stdlib.h>
#include <string.h>

#include "lib/algo/ufind.h"

#define DIVIDER_MAX (1u << 24)

struct work {
	const struct fm_fabric *fab;
	const struct fm_arcs *arcs;
	struct fm_tree *tree;
	uint32_t n;	     /* switches */
	fm_sw *leader;	     /* [n] union-find; the leader is the least member */
	uint32_t *pods;	     /* [ranks][n] leader of the pod of ranks 0..r */
	uint32_t *key;	     /* [n] of a parent among its siblings */
	uint32_t *count;     /* [n + 1] */
	fm_sw *list, *spare; /* [n] */
	uint8_t *useless;    /* [n] its children are one pod already: adds no way */
	uint32_t *chassis;   /* [n] numbers of SystemImageGUIDs; NULL: all differ */
	/* [n] of the chassis or switch in hand */
	uint32_t *seen_in, *n_seen, *ordinal, *plane;
};

/* Stable counting sort of list[0..n-1] by key[member] < w->n. */
static void
sort_by(struct work *w, fm_sw *list, uint32_t n, const uint32_t *key)
{
	memset(w->count, 0, ((size_t)w->n + 1) * sizeof(*w->count));
	for (uint32_t i = 0; i < n; i++)
		w->count[key[list[i]] + 1]++;
	for (uint32_t k = 0; k < w->n; k++)
		w->count[k + 1] += w->count[k];
	for (uint32_t i = 0; i < n; i++)
		w->spare[w->count[key[list[i]]]++] = list[i];
	memcpy(list, w->spare, n * sizeof(*list));
}

static bool
has_hosts(const struct fm_fabric *fab, fm_sw sw)
{
	for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++)
		if (fm_is_host(fab, e))
			return true;
	return false;
}

/* Breadth first from all leaves; tells whether the fabric is levelled. */
static void
find_ranks(struct work *w)
{
	struct fm_tree *t = w->tree;
	uint32_t head = 0, tail = 0;

	for (fm_sw s = 0; s < w->n; s++) {
		t->rank[s] = has_hosts(w->fab, s) ? 0 : FM_RANK_NONE;
		if (t->rank[s] == 0)
			w->list[tail++] = s;
	}
	t->levelled = true;
	while (head < tail) {
		fm_sw s = w->list[head++];

		t->n_ranks = t->rank[s] + 1;
		for (fm_arc a = w->arcs->first[s]; a < w->arcs->first[s + 1]; a++) {
			fm_sw v = w->arcs->to[a];

			if (t->rank[v] == FM_RANK_NONE) {
				t->rank[v] = t->rank[s] + 1;
				w->list[tail++] = v;
			}
			t->levelled &= t->rank[v] != t->rank[s];
		}
	}
	t->levelled &= t->n_ranks > 1 && t->n_ranks <= FM_TREE_MAX_RANKS;
}

/* Join the ends of the arcs between ranks r and r + 1. */
static void
join_ranks(struct work *w, uint32_t r)
{
	const struct fm_tree *t = w->tree;

	for (fm_sw s = 0; s < w->n; s++) {
		if (t->rank[s] != r)
			continue;
		for (fm_arc a = w->arcs->first[s]; a < w->arcs->first[s + 1]; a++)
			if (t->rank[w->arcs->to[a]] == r + 1 && !w->useless[w->arcs->to[a]])
				fm_ufind_join(w->leader, s, w->arcs->to[a]);
	}
}

static void
each_alone(struct work *w)
{
	for (fm_sw s = 0; s < w->n; s++)
		w->leader[s] = s;
}

/* A leaf that lost its hosts looks like a parent of its own parents.  It
 * joins nothing, and must not join the planes of its pod either. */
static void
mark_useless(struct work *w, uint32_t r, const uint32_t *pod)
{
	const struct fm_tree *t = w->tree;

	for (fm_sw s = 0; s < w->n; s++) {
		uint32_t seen = FM_NONE, n = 0;

		if (t->rank[s] != r)
			continue;
		for (fm_arc a = w->arcs->first[s]; a < w->arcs->first[s + 1]; a++) {
			fm_sw v = w->arcs->to[a];

			if (t->rank[v] + 1 != r || pod[v] == seen)
				continue;
			seen = pod[v];
			n++;
		}
		w->useless[s] = n < 2;
	}
}

/* pods[r][s] for every rank, growing upwards. */
static void
find_pods(struct work *w)
{
	each_alone(w);
	for (uint32_t r = 0; r < w->tree->n_ranks; r++) {
		uint32_t *pod = w->pods + (size_t)r * w->n;

		if (r > 1)
			mark_useless(w, r, pod - w->n);
		if (r > 0)
			join_ranks(w, r - 1);
		for (fm_sw s = 0; s < w->n; s++)
			pod[s] = fm_ufind(w->leader, s);
	}
}

/* By rank, then by the largest pod, the next smaller one, ..., index. */
static void
find_order(struct work *w)
{
	struct fm_tree *t = w->tree;
	uint32_t *rank = w->key;

	for (fm_sw s = 0; s < w->n; s++) {
		t->order[s] = s;
		rank[s] = t->rank[s] < w->n ? t->rank[s] : w->n - 1;
	}
	for (uint32_t r = 1; t->levelled && r < t->n_ranks; r++)
		sort_by(w, t->order, w->n, w->pods + (size_t)r * w->n);
	sort_by(w, t->order, w->n, rank);
}

/* Switches above the leaves are put in the order of the slot they are reached
 * by from a leaf, so that a leaf's next steps towards them come in runs. */
static void
order_by_first_slot(struct work *w)
{
	struct fm_tree *t = w->tree;
	uint32_t *slot = w->key, *rank = w->pods; /* both free by now */

	for (uint32_t i = 0; i < w->n; i++) {
		fm_sw s = t->order[i];

		rank[s] = t->rank[s] < w->n ? t->rank[s] : w->n - 1;
		slot[s] = t->rank[s] == 1 && t->slot[s] != FM_SLOT_NONE ? t->slot[s] : 0;
		for (fm_arc a = w->arcs->first[s]; rank[s] > 1 && a < w->arcs->first[s + 1]; a++)
			if (t->rank[w->arcs->to[a]] + 1 == t->rank[s]) {
				slot[s] = slot[w->arcs->to[a]];
				break;
			}
	}
	sort_by(w, t->order, w->n, slot);
	sort_by(w, t->order, w->n, rank);
}

/* ----------------------------------------------------------------- chassis */

struct system {
	uint64_t guid;
	fm_sw sw;
};

static int
by_guid(const void *a, const void *b)
{
	const struct system *x = a, *y = b;

	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

/* Numbers for the chassis, if any has more than one switch. */
static int
find_chassis(const struct fm_host *host, struct work *w, struct fm_error *err)
{
	struct system *list = fm_scratch_array(host, w->n, struct system);
	uint32_t *words = fm_scratch_array(host, (size_t)w->n * 5, uint32_t), n = 0;

	if (list == NULL || words == NULL)
		return fm_no_scratch(host, "chassis of the switches", err);
	for (fm_sw s = 0; s < w->n; s++)
		list[s] = (struct system){ w->fab->sw_system_guid[s], s };
	qsort(list, w->n, sizeof(*list), by_guid);
	for (uint32_t i = 0; i < w->n; i++) {
		n += i > 0 && list[i].guid != list[i - 1].guid;
		words[list[i].sw] = n;
	}
	if (n + 1 >= w->n)
		return 0;
	w->chassis = words;
	w->seen_in = words + w->n;
	w->n_seen = words + 2 * (size_t)w->n;
	w->ordinal = words + 3 * (size_t)w->n;
	w->plane = words + 4 * (size_t)w->n;
	return 0;
}

/* list[0..n-1], parents in order, such that within each plane the first of every
 * chassis come before the second ones: consecutive slots, and with them the LIDs
 * of one host, then lead to different chassis as far as there are any. */
static void
take_turns_of_chassis(struct work *w, uint32_t n)
{
	fm_sw *by_plane = w->pods; /* free by now */

	memcpy(by_plane, w->list, n * sizeof(*by_plane));
	for (uint32_t i = 0; i < n; i++)
		w->plane[w->list[i]] = fm_ufind(w->leader, w->list[i]);
	sort_by(w, by_plane, n, w->plane);
	memset(w->seen_in, 0xff, w->n * sizeof(*w->seen_in));
	for (uint32_t i = 0; i < n; i++) {
		fm_sw s = by_plane[i];
		uint32_t c = w->chassis[s];

		if (w->seen_in[c] != w->plane[s])
			w->n_seen[c] = 0;
		w->seen_in[c] = w->plane[s];
		w->ordinal[s] = w->n_seen[c]++;
	}
	sort_by(w, w->list, n, w->ordinal);
}

/* ------------------------------------------------------------------- slots */

/* Slots of the parents at rank r + 1 and widths of the children at rank r.
 * key[] holds, for the parents, the number of the plane above them; it
 * leaves with the number of this plane for the children. */
static void
number_plane(struct work *w, uint32_t r)
{
	struct fm_tree *t = w->tree;
	uint32_t n = 0, n_planes = 0, *members = w->count;

	each_alone(w);
	join_ranks(w, r);
	for (fm_sw s = 0; s < w->n; s++)
		if (t->rank[s] == r + 1 && !w->useless[s])
			w->list[n++] = s;
	sort_by(w, w->list, n, w->key);
	if (w->chassis != NULL)
		take_turns_of_chassis(w, n);
	memset(members, 0, ((size_t)w->n + 1) * sizeof(*members));
	for (uint32_t i = 0; i < n; i++) {
		fm_sw plane = fm_ufind(w->leader, w->list[i]);

		if (members[plane] == 0)
			w->spare[plane] = n_planes++;
		t->slot[w->list[i]] = members[plane]++;
	}
	for (fm_sw s = 0; s < w->n; s++) {
		fm_sw plane = fm_ufind(w->leader, s);

		if (t->rank[s] != r)
			continue;
		t->width[s] = members[plane];
		w->key[s] = members[plane] > 0 ? w->spare[plane] : w->n - 1;
	}
}

static void
find_slots(struct work *w)
{
	struct fm_tree *t = w->tree;

	for (fm_sw s = 0; s < w->n; s++) {
		t->slot[s] = FM_SLOT_NONE;
		w->key[s] = s;
	}
	for (uint32_t r = t->n_ranks - 1; r-- > 0;)
		number_plane(w, r);
}

/* Dividers grow upwards: the parents look at the digit after the children's. */
static void
find_dividers(struct work *w)
{
	struct fm_tree *t = w->tree;

	for (uint32_t i = 0; i < w->n; i++) {
		fm_sw s = t->order[i];
		uint32_t above;

		if (t->divider[s] == 0)
			t->divider[s] = 1;
		if (t->width[s] == 0)
			continue;
		above = t->divider[s] < DIVIDER_MAX / t->width[s] ? t->divider[s] * t->width[s]
								  : DIVIDER_MAX;
		for (fm_arc a = w->arcs->first[s]; a < w->arcs->first[s + 1]; a++) {
			fm_sw v = w->arcs->to[a];

			if (t->rank[v] != t->rank[s] + 1 || t->slot[v] == FM_SLOT_NONE ||
			    t->divider[v] >= above)
				continue;
			t->divider[v] = above;
			t->lower_width[v] = t->width[s];
			t->lower_divider[v] = t->divider[s];
		}
	}
}

static int
list_slots(const struct fm_host *host, struct work *w, struct fm_error *err)
{
	struct fm_tree *t = w->tree;
	uint32_t n = 0;

	for (fm_sw s = 0; s < w->n; s++) {
		t->slot_first[s] = n;
		n += t->width[s];
	}
	t->slot_first[w->n] = n;
	t->slot_arc = fm_scratch_array(host, n, fm_arc);
	if (t->slot_arc == NULL)
		return fm_no_scratch(host, "slots of the tree", err);
	memset(t->slot_arc, 0xff, n * sizeof(fm_arc));
	for (fm_sw s = 0; s < w->n; s++)
		for (fm_arc a = w->arcs->first[s]; a < w->arcs->first[s + 1]; a++) {
			fm_sw v = w->arcs->to[a];

			if (t->rank[v] == t->rank[s] + 1 && t->slot[v] != FM_SLOT_NONE)
				t->slot_arc[t->slot_first[s] + t->slot[v]] = a;
		}
	t->complete = true;
	for (uint32_t i = 0; i < n; i++)
		t->complete &= t->slot_arc[i] != FM_NONE;
	return 0;
}

static int
take_memory(const struct fm_host *host, struct work *w, struct fm_error *err)
{
	struct fm_tree *t = w->tree;
	uint32_t **arrays[] = { &t->rank, &t->order, &t->slot, &t->width, &t->divider,
		&t->lower_width, &t->lower_divider, &t->slot_first, &w->leader, &w->key, &w->count,
		&w->list, &w->spare };

	for (size_t i = 0; i < sizeof(arrays) / sizeof(*arrays); i++)
		if ((*arrays[i] = fm_scratch_array(host, (size_t)w->n + 1, uint32_t)) == NULL)
			return fm_no_scratch(host, "ranks of the switches", err);
	w->useless = fm_scratch_array(host, w->n, uint8_t);
	w->pods = fm_scratch_array(host, (size_t)w->n * FM_TREE_MAX_RANKS, uint32_t);
	if (w->useless == NULL || w->pods == NULL)
		return fm_no_scratch(host, "pods of the switches", err);
	return 0;
}

int
fm_tree_build(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_arcs *arcs,
    struct fm_tree *out, struct fm_error *err)
{
	struct work w = { .fab = fab, .arcs = arcs, .tree = out, .n = fab->n_switches };
	int rc;

	memset(out, 0, sizeof(*out));
	if ((rc = take_memory(host, &w, err)) != 0)
		return rc;
	find_ranks(&w);
	if (out->levelled)
		find_pods(&w);
	find_order(&w);
	if (!out->levelled)
		return 0;
	if ((rc = find_chassis(host, &w, err)) != 0)
		return rc;
	find_slots(&w);
	find_dividers(&w);
	order_by_first_slot(&w);
	return list_slots(host, &w, err);
}
