/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Slots, dividers, templates: the arithmetic of the choice.
 *
 * Siblings number their up-links alike: slot j * parents + i is the j-th link
 * to the i-th switch of their home block.  The destination with topological
 * number t takes slot (t / divider) mod slots (D-mod-K).  The divider of a
 * switch is the product of the numbers of parents below it, so that the
 * destinations which meet in one switch differ in the quotient.  Both come
 * from the block, not from what is cabled today: a missing cable leaves an
 * empty slot and shifts nothing.
 *
 * A switch with fewer than two thirds of its block's switches, or with many
 * parents outside it, has a bundle of its own, made of the links it has; a few
 * links beyond the pattern become extra slots, for displaced LIDs only.
 *
 * Template (divider, slots): the slot of every LID, computed once for all
 * switches that agree in both.
 */
#include "plugins/common/paths/arcs.h"
#include "plugins/common/tree/dmodk_tree.h"

#define MAX_DIVIDER 65536u /* beyond all LIDs */
#define DEALT_MOST 256	   /* hosts of a class */

struct maker {
	uint32_t *parallel;  /* [n_blocks] links to one member, as most have it */
	uint32_t *bundle_of; /* [n_blocks] the shared bundle, FM_NONE */
	uint32_t *ordinal;   /* [n] scratch of ft_sort_parents() */
	uint32_t *position;  /* [n] scratch: in the slot list being made, + 1 */
	fm_sw *parents;	     /* [n] scratch */
};

/* The usual number of parallel links in each block: the rounded mean. */
static int
find_parallel(const struct fm_dmodk_routes *ft, struct maker *m, struct fm_error *err)
{
	uint32_t *n_groups = ft_alloc(ft, ft->n_blocks, sizeof(*n_groups));

	if (n_groups == NULL)
		return ft_out_of_memory(ft, err);
	for (fm_sw s = 0; s < ft->n; s++)
		FT_EACH_PARENT(ft, g, s)
	if (ft->block[g->to] == ft->home[s]) {
		m->parallel[ft->home[s]] += g->n;
		n_groups[ft->home[s]]++;
	}
	for (uint32_t b = 0; b < ft->n_blocks; b++) {
		uint32_t members = ft->block_first[b + 1] - ft->block_first[b], p = 1;

		if (n_groups[b] > 0)
			p = (2 * m->parallel[b] + n_groups[b]) / (2 * n_groups[b]);
		if (p * members > FT_MAX_SLOTS)
			p = FT_MAX_SLOTS / members;
		m->parallel[b] = p > 0 ? p : 1;
	}
	return 0;
}

/* How the parents of s lie to its home block. */
struct parents {
	uint32_t n_home, n_other; /* groups */
	bool plain;		  /* nothing beyond the pattern, all above in the order */
	bool follows;		  /* the pattern of the block fits */
};

static struct parents
look_at_parents(const struct fm_dmodk_routes *ft, const struct maker *m, fm_sw s)
{
	uint32_t b = ft->home[s];
	uint32_t members = ft->block_first[b + 1] - ft->block_first[b];
	struct parents p = { .plain = true };

	FT_EACH_PARENT(ft, g, s)
	{
		if (ft->block[g->to] == b) {
			p.n_home++;
			p.plain &= g->n <= m->parallel[b];
		} else {
			p.n_other++;
		}
	}
	for (uint32_t i = ft->block_first[b]; i < ft->block_first[b + 1]; i++)
		p.plain &= ft->level[ft->block_member[i]] > ft->level[s];
	p.plain &= p.n_other == 0;
	p.follows = (ft->how->agree || p.n_home * 3 >= members * 2) && p.n_other * 4 <= p.n_home &&
	    members <= FT_MAX_SLOTS;
	return p;
}

static void
add_slot(struct ft_bundle *b, fm_sw to, uint32_t parallel)
{
	if (b->n_slots < FT_MAX_SLOTS)
		b->slots[b->n_slots++] = (struct ft_slot){ to, parallel };
}

static int
start_bundle(
    struct fm_dmodk_routes *ft, struct ft_bundle *b, uint32_t n_users, struct fm_error *err)
{
	b->slots = ft_alloc(ft, FT_MAX_SLOTS, sizeof(*b->slots));
	b->users = ft_alloc(ft, n_users, sizeof(*b->users));
	b->divider = 1;
	return b->slots != NULL && b->users != NULL ? 0 : ft_out_of_memory(ft, err);
}

static void
add_block_slots(
    const struct fm_dmodk_routes *ft, const struct maker *m, struct ft_bundle *b, uint32_t block)
{
	b->n_groups = ft->block_first[block + 1] - ft->block_first[block];
	for (uint32_t j = 0; j < m->parallel[block]; j++)
		for (uint32_t i = 0; i < b->n_groups; i++)
			add_slot(b, ft->block_member[ft->block_first[block] + i], j);
	b->n_nominal = b->n_slots;
}

/* Links of s that the pattern does not know. */
static void
add_extra_slots(
    const struct fm_dmodk_routes *ft, const struct maker *m, struct ft_bundle *b, fm_sw s)
{
	FT_EACH_PARENT(ft, g, s)
	{
		uint32_t known = ft->block[g->to] == ft->home[s] ? m->parallel[ft->home[s]] : 0;

		for (uint32_t j = known; j < g->n; j++)
			add_slot(b, g->to, j);
	}
}

static void
add_own_slots(const struct fm_dmodk_routes *ft, const struct maker *m, struct ft_bundle *b, fm_sw s)
{
	uint32_t n = 0, most = 0;

	FT_EACH_PARENT(ft, g, s)
	{
		m->parents[n++] = g->to;
		m->position[g->to] = g->n;
		most = g->n > most ? g->n : most;
	}
	ft_sort_parents(ft, m->ordinal, m->parents, n);
	for (uint32_t j = 0; j < most; j++)
		for (uint32_t i = 0; i < n; i++)
			if (j < m->position[m->parents[i]])
				add_slot(b, m->parents[i], j);
	b->n_nominal = b->n_slots;
	b->n_groups = n;
}

static int
give_bundle(struct fm_dmodk_routes *ft, struct maker *m, fm_sw s, struct fm_error *err)
{
	uint32_t block = ft->home[s];
	struct parents p = look_at_parents(ft, m, s);
	struct ft_bundle *b;
	int rc;

	if (p.follows && p.plain && m->bundle_of[block] != FM_NONE) {
		b = &ft->bundles[m->bundle_of[block]];
	} else {
		b = &ft->bundles[ft->n_bundles];
		rc = start_bundle(ft, b, p.follows && p.plain ? ft->n : 1, err);
		if (rc < 0)
			return rc;
		if (p.follows && p.plain)
			m->bundle_of[block] = ft->n_bundles;
		if (p.follows)
			add_block_slots(ft, m, b, block);
		else
			add_own_slots(ft, m, b, s);
		if (p.follows && !p.plain)
			add_extra_slots(ft, m, b, s);
		ft->n_bundles++;
	}
	ft->bundle_of[s] = (uint32_t)(b - ft->bundles);
	b->users[b->n_users++] = s;
	return 0;
}

static void
find_dividers(struct fm_dmodk_routes *ft)
{
	for (fm_sw s = 0; s < ft->n; s++)
		ft->divider[s] = 1;
	for (uint32_t i = 0; i < ft->n; i++) {
		fm_sw s = ft->by_rank[i];
		struct ft_bundle *b;
		uint32_t d;

		if (ft->bundle_of[s] == FM_NONE)
			continue;
		b = &ft->bundles[ft->bundle_of[s]];
		if (ft->divider[s] > b->divider)
			b->divider = ft->divider[s];
		d = ft->divider[s] * b->n_groups;
		d = d < MAX_DIVIDER ? d : MAX_DIVIDER;
		FT_EACH_PARENT(ft, g, s)
		if (ft->divider[g->to] < d)
			ft->divider[g->to] = d;
	}
}

/* Ways up of a leaf by the block above it, or 0: not the same at all leaves, or several
 * cables to a parent. */
static uint32_t
ways_of_leaves(const struct fm_dmodk_routes *ft, const struct maker *m)
{
	uint32_t ways = 0;

	for (uint32_t c = 0; c < ft->n_leaves; c++) {
		uint32_t home = ft->home[ft->col_sw[c]], n;

		if (home == FM_NONE || m->parallel[home] > 1)
			return 0;
		n = ft->block_first[home + 1] - ft->block_first[home];
		if (ways > 0 && n != ways)
			return 0;
		ways = n;
	}
	return ways;
}

/* How many hosts of a class at a leaf share its ways up evenly; the others are too many. */
static uint32_t
main_size(const struct fm_dmodk_routes *ft, unsigned class, uint32_t ways)
{
	uint32_t size = ft->class_size[class], main = ways > 1 ? size / ways * ways : 0;

	return main > 0 ? main : size;
}

/* Are the hosts of a class, few as they are, numbered one by one, whatever leaves they hang on?  So
 * no link up to them has two before each has one.  More of them, and compute nodes that are as many
 * at most leaves, are numbered by leaf, so that one that is off does not shift the others. */
static bool
is_dealt(const struct fm_dmodk_routes *ft, unsigned class)
{
	uint32_t n = 0;

	for (fm_end e = 0; ft->how->class != NULL && e < ft->fab->n_ends; e++)
		n += fm_is_host(ft->fab, e) && ft->how->class[e] == class;
	return n > 0 && n <= DEALT_MOST &&
	    (class > 0 || ft->class_leaves[class] * 4 < ft->n_leaves * 3);
}

/* Where the hosts of a class at a leaf are no multiple of its ways up, those that are
 * too many have numbers of their own, a row of ways each: so they leave no gap in the
 * digits of the others, and differ in those above. */
static uint32_t
number_of(
    const struct fm_dmodk_routes *ft, uint32_t c, unsigned class, uint32_t place, uint32_t ways)
{
	uint32_t size = ft->class_size[class], main = main_size(ft, class, ways);

	/* sources look at the digits of an upper switch, where successive numbers are the same */
	if (ft->rank[ft->col_sw[c]] > 0)
		return c * size + place * ft->divider[ft->col_sw[c]];
	if (place < main || main == size)
		return c * main + place;
	return (c * (size - main) + place - main) * ways;
}

/* The LIDs of an end, from that number on. */
static void
number_end(struct fm_dmodk_routes *ft, fm_end e, uint32_t c, uint32_t number, bool is_surplus,
    uint32_t turn)
{
	uint32_t lid = ft->fab->end_lid[e];

	for (uint32_t o = 0; lid != 0 && o < 1u << ft->fab->end_lmc[e] && lid + o < ft->n_lids;
	     o++) {
		ft->lid_col[lid + o] = (uint16_t)c;
		ft->number[lid + o] = number + o;
		if (is_surplus)
			ft->surplus[ft->n_surplus++] =
			    (struct ft_surplus){ (uint16_t)(lid + o), turn + o };
	}
}

/* Numbers: hosts of a class one by one, or by leaf and place in the leaf, in steps of its size;
 * the LIDs of one port take successive numbers, so alternates go as base LIDs of the hosts after
 * it; switches and others apart, by column. */
static void
number_lids(struct fm_dmodk_routes *ft, const struct maker *m)
{
	const struct fm_fabric *fab = ft->fab;
	uint32_t *order = ft->out->size > offsetof(struct fm_tables, order) ? ft->out->order : NULL;
	uint32_t n_other = 0, n_surplus = 0, ways = ways_of_leaves(ft, m);
	uint32_t n_dealt[FM_DMODK_CLASSES] = { 0 };
	bool dealt[FM_DMODK_CLASSES];

	for (unsigned k = 0; k < FM_DMODK_CLASSES; k++)
		dealt[k] = is_dealt(ft, k);
	memset(ft->lid_col, 0xff, ft->n_lids * sizeof(*ft->lid_col));
	for (uint32_t c = 0; c < ft->n; c++) {
		fm_sw s = ft->col_sw[c];
		uint32_t n_here[FM_DMODK_CLASSES] = { 0 };

		for (fm_end e = fab->sw_first_end[s]; e < fab->sw_first_end[s + 1]; e++) {
			bool host =
			    fab->end_kind[e] == FM_END_CA || fab->end_kind[e] == FM_END_ROUTER;
			unsigned k = ft->how->class != NULL ? ft->how->class[e] : 0u;
			bool deals = host && dealt[k] && ft->rank[s] == 0;
			uint32_t place = host ? n_here[k]++ : 0, lid = fab->end_lid[e];
			uint32_t t = deals			? n_dealt[k]
			    : host				? number_of(ft, c, k, place, ways)
			    : fab->end_kind[e] == FM_END_SWITCH ? c
								: n_other++;
			bool is_surplus = host && !deals && ft->rank[s] == 0 && lid != 0 &&
			    place >= main_size(ft, k, ways) &&
			    main_size(ft, k, ways) < ft->class_size[k];

			if (order != NULL && lid != 0 && fab->end_kind[e] == FM_END_CA && k == 0u)
				order[lid] = deals ? t : c * ft->class_size[k] + place;
			number_end(ft, e, c, t, is_surplus, n_surplus);
			n_surplus += is_surplus;
			n_dealt[k] += deals;
		}
	}
}

static int
make_runs(struct fm_dmodk_routes *ft, struct fm_error *err)
{
	uint32_t n = 0, *at = ft_alloc(ft, ft->n, sizeof(*at));

	for (size_t lid = 1; lid < ft->n_lids; lid++)
		if (ft->lid_col[lid] != FT_NO_COL && ft->lid_col[lid] != ft->lid_col[lid - 1]) {
			ft->col_run[ft->lid_col[lid] + 1]++;
			n++;
		}
	ft->runs = ft_alloc(ft, n, sizeof(*ft->runs));
	if (at == NULL || ft->runs == NULL)
		return ft_out_of_memory(ft, err);
	for (uint32_t c = 0; c < ft->n; c++) {
		ft->col_run[c + 1] += ft->col_run[c];
		at[c] = ft->col_run[c];
	}
	for (size_t lid = 1; lid < ft->n_lids; lid++) {
		uint32_t c = ft->lid_col[lid];

		if (c == FT_NO_COL)
			continue;
		if (c != ft->lid_col[lid - 1])
			ft->runs[at[c]++] = (struct ft_run){ (uint16_t)lid, 1 };
		else
			ft->runs[at[c] - 1].n++;
	}
	return 0;
}

/* The cables in the slots of each switch.  group_at: [n], all 0 before and after. */
static int
list_links(struct fm_dmodk_routes *ft, uint32_t *group_at, struct fm_error *err)
{
	uint32_t n = 0;

	ft->slot_first = ft_alloc(ft, (size_t)ft->n + 1, sizeof(*ft->slot_first));
	for (fm_sw s = 0; ft->slot_first != NULL && s < ft->n; s++) {
		ft->slot_first[s] = n;
		n += ft->bundle_of[s] != FM_NONE ? ft->bundles[ft->bundle_of[s]].n_slots : 0;
	}
	ft->slot_link = ft_alloc(ft, n, sizeof(*ft->slot_link));
	if (ft->slot_first == NULL || ft->slot_link == NULL)
		return ft_out_of_memory(ft, err);
	ft->slot_first[ft->n] = n;
	memset(group_at, 0, ft->n * sizeof(*group_at));
	for (fm_sw s = 0; s < ft->n; s++) {
		FT_EACH_PARENT(ft, g, s)
		group_at[g->to] = (uint32_t)(g - ft->groups) + 1;
		for (uint32_t i = ft->slot_first[s]; i < ft->slot_first[s + 1]; i++) {
			const struct ft_slot *slot =
			    &ft->bundles[ft->bundle_of[s]].slots[i - ft->slot_first[s]];
			uint32_t at = group_at[slot->to];

			ft->slot_link[i] =
			    at == 0 || (slot->parallel >= ft->groups[at - 1].n && !ft->how->agree)
			    ? FM_NONE
			    : ft->groups[at - 1].first + slot->parallel % ft->groups[at - 1].n;
		}
		FT_EACH_PARENT(ft, g, s)
		group_at[g->to] = 0;
	}
	return 0;
}

static void
want_template(struct fm_dmodk_routes *ft, uint32_t divider, uint32_t n)
{
	for (uint32_t i = 0; i < ft->n_templates; i++)
		if (ft->templates[i].divider == divider && ft->templates[i].n == n)
			return;
	if (ft->n_templates < FT_MAX_TEMPLATES)
		ft->templates[ft->n_templates++] =
		    (struct ft_template){ .divider = divider, .n = n };
}

const uint8_t *
ft_template(const struct fm_dmodk_routes *ft, uint32_t divider, uint32_t n)
{
	for (uint32_t i = 0; i < ft->n_templates; i++)
		if (ft->templates[i].divider == divider && ft->templates[i].n == n)
			return ft->templates[i].slot;
	return NULL;
}

/* LIDs come mostly in the order of their numbers: slots are counted on. */
void
ft_fill_template(const struct fm_dmodk_routes *ft, uint8_t *slots, uint32_t divider, uint32_t n)
{
	uint32_t number = 0, rest = 0, slot = 0;

	for (size_t lid = 0; lid < ft->n_lids; lid++) {
		if (ft->lid_col[lid] == FT_NO_COL) {
			slots[lid] = FM_PORT_NONE;
			continue;
		}
		if (ft->number[lid] == number + 1) {
			rest = rest + 1 < divider ? rest + 1 : 0;
			if (rest == 0)
				slot = slot + 1 < n ? slot + 1 : 0;
		} else if (ft->number[lid] != number) {
			rest = ft->number[lid] % divider;
			slot = ft->number[lid] / divider % n;
		}
		number = ft->number[lid];
		slots[lid] = (uint8_t)slot;
	}
}

static void
fill_template(void *arg, uint32_t i, unsigned worker)
{
	const struct fm_dmodk_routes *ft = arg;
	const struct ft_template *t = &ft->templates[i];

	ft_fill_template(ft, t->slot, t->divider, t->n);
}

static int
make_templates(struct fm_dmodk_routes *ft, struct fm_error *err)
{
	for (uint32_t i = 0; i < ft->n_bundles; i++)
		if (ft->bundles[i].n_nominal > 0)
			want_template(ft, ft->bundles[i].divider, ft->bundles[i].n_nominal);
	for (fm_sw s = 0; ft->parallel && s < ft->n; s++)
		FT_EACH_CHILD(ft, g, s)
	if (g->n > 1)
		want_template(ft, ft->divider[s], g->n);
	for (uint32_t i = 0; i < ft->n_templates; i++) {
		ft->templates[i].slot = ft_alloc(ft, ft->n_lids, 1);
		if (ft->templates[i].slot == NULL)
			return ft_out_of_memory(ft, err);
	}
	ft->host->parallel_for(ft->host, ft->n_templates, fill_template, ft);
	return 0;
}

int
ft_slots(struct fm_dmodk_routes *ft, struct fm_error *err)
{
	struct maker m = {
		.parallel = ft_alloc(ft, ft->n_blocks, sizeof(*m.parallel)),
		.bundle_of = ft_alloc(ft, ft->n_blocks, sizeof(*m.bundle_of)),
		.ordinal = ft_alloc(ft, ft->n, sizeof(*m.ordinal)),
		.position = ft_alloc(ft, ft->n, sizeof(*m.position)),
		.parents = ft_alloc(ft, ft->n, sizeof(*m.parents)),
	};
	int rc;

	ft->n_lids = (size_t)ft->fab->max_lid + 1;
	ft->bundles = ft_alloc(ft, ft->n, sizeof(*ft->bundles));
	ft->bundle_of = ft_alloc(ft, ft->n, sizeof(*ft->bundle_of));
	ft->divider = ft_alloc(ft, ft->n, sizeof(*ft->divider));
	ft->number = ft_alloc(ft, ft->n_lids, sizeof(*ft->number));
	ft->lid_col = ft_alloc(ft, ft->n_lids, sizeof(*ft->lid_col));
	ft->surplus = ft_alloc(ft, ft->n_lids, sizeof(*ft->surplus));
	ft->col_run = ft_alloc(ft, (size_t)ft->n + 1, sizeof(*ft->col_run));
	if (!m.parallel || !m.bundle_of || !m.ordinal || !m.position || !m.parents ||
	    !ft->bundles || !ft->bundle_of || !ft->divider || !ft->number || !ft->lid_col ||
	    !ft->surplus || !ft->col_run)
		return ft_out_of_memory(ft, err);
	memset(m.bundle_of, 0xff, ft->n_blocks * sizeof(*m.bundle_of));
	memset(ft->bundle_of, 0xff, ft->n * sizeof(*ft->bundle_of));
	if ((rc = find_parallel(ft, &m, err)) < 0)
		return rc;
	for (fm_sw s = 0; s < ft->n; s++)
		if (ft->home[s] != FM_NONE && (rc = give_bundle(ft, &m, s, err)) < 0)
			return rc;
	find_dividers(ft);
	number_lids(ft, &m);
	if ((rc = make_runs(ft, err)) < 0 || (rc = list_links(ft, m.position, err)) < 0 ||
	    (ft->how->agree && (rc = ft_settle(ft, err)) < 0))
		return rc;
	return make_templates(ft, err);
}
