/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/tree/dmodk_tree.h - what the parts of dmodk.c share; not installed.
 *
 *	dmodk_shape.c	blocks, planes, the order of leaves and hosts
 *	dmodk_costs.c	costs to every switch as layers of bits
 *	dmodk_slots.c	up-link slots, dividers, templates
 *	dmodk_settle.c	numbers whose digits name cables that are there
 *	dmodk_leads.c	template rows: which slots lead where
 *	dmodk_up.c	rows from them
 *	dmodk_down.c	columns that children serve
 *	dmodk_fill.c	the tasks that fill rows
 *	dmodk_alternatives.c  all equal next hops, for adaptive routing
 */
#ifndef PLUGINS_COMMON_TREE_DMODK_TREE_H
#define PLUGINS_COMMON_TREE_DMODK_TREE_H

#include <stdatomic.h>
#include <string.h>

#include "lib/algo/ufind.h"
#include "lib/wide.h"
#include "plugins/common/tree/dmodk.h"

#define FT_NO_COL UINT16_MAX /* there are fewer unicast LIDs */
#define FT_MAX_COST 64	     /* layers; a longer path counts as none */
#define FT_MAX_SLOTS 250     /* of one bundle: slot numbers are bytes, 255 = none */
#define FT_MASK_WORDS 4	     /* 64 * 4 >= FT_MAX_SLOTS */
#define FT_LINE 8u	     /* words of a cache line */
#define FT_MAX_TEMPLATES 32

/* All parallel links from one switch to one neighbour. */
struct ft_group {
	fm_sw to;
	fm_link first; /* the links are first .. first + n - 1 */
	uint32_t n;
};

/* Words from .. to - 1 of a set of columns, both multiples of FT_LINE; all other
 * words are 0.  Columns are in the order of the tree, so what is below a switch
 * lies in few lines. */
struct ft_set {
	uint64_t *bits; /* [to - from] */
	uint16_t from, to;
};

/* Costs from one switch to all columns: layer k is the set of columns at k hops. */
struct ft_layers {
	uint64_t present;     /* bit k: layer k is not empty */
	struct ft_set *layer; /* [highest present + 1] */
};

/* A place for an up-link.  Siblings number their slots alike, and a cable
 * that is missing leaves its slot empty instead of shifting the others. */
struct ft_slot {
	fm_sw to;
	uint32_t parallel; /* which of the links to that switch */
};

/* The slots of switches that have (nominally) the same parents. */
struct ft_bundle {
	struct ft_slot *slots; /* [n_slots] */
	uint32_t n_slots;
	uint32_t n_nominal; /* the first ones, which the modulo runs over */
	uint32_t n_groups;  /* distinct parents among these: factor of the divider */
	uint32_t divider;
	fm_sw *users; /* [n_users] */
	uint32_t n_users;
};

/* Consecutive LIDs of one column. */
struct ft_run {
	uint16_t lid, n;
};

/* A LID that each leaf goes to by another way, and where those ways begin. */
struct ft_surplus {
	uint16_t lid;
	uint32_t turn;
};

/* A LID that got another number, and the one it had. */
struct ft_moved {
	uint16_t lid;
	uint32_t number;
};

struct ft_template {
	uint32_t divider, n;
	uint8_t *slot; /* [stride] (number of the LID / divider) mod n */
};

struct fm_dmodk_routes {
	const struct fm_host *host;
	const struct fm_fabric *fab;
	const struct fm_dmodk *how;
	const struct fm_tables *out;
	uint32_t n;	      /* switches */
	const uint16_t *rank; /* [n] */
	uint16_t max_rank;

	/* dmodk.c */
	uint32_t *first_group;	 /* [n + 1] */
	struct ft_group *groups; /* by switch: its parents, its children */
	uint32_t *first_child;	 /* [n] where these begin */
	bool parallel;		 /* some cables run side by side */
	uint32_t *n_hosts;	 /* [n] CA and router ports */
	bool has_lmc;		 /* some ends have several LIDs */
	uint16_t *level;	 /* [n] up = towards larger; different for parent and child */
	const uint8_t *demoted;	 /* [n] put below a switch of a lower tier (order.h) */
	const uint8_t *aside;	 /* [n] switches that links into demoted ones are for */

	/* dmodk_shape.c */
	fm_sw *by_rank;	 /* [n] ascending (rank, GUID) */
	uint32_t *block; /* [n] block this switch is an upper member of, FM_NONE */
	uint32_t *home;	 /* [n] block this switch is a lower member of, FM_NONE */
	uint32_t *plane; /* [n] equal for switches of one plane over all pods, FM_NONE */
	uint32_t n_blocks;
	uint32_t *block_first; /* [n_blocks + 1] into block_member */
	fm_sw *block_member;   /* upper members in slot order */
	uint32_t *col_of;      /* [n] column of a switch: leaves first, in order */
	fm_sw *col_sw;	       /* [n] */
	uint32_t n_leaves;
	uint32_t class_size[FM_DMODK_CLASSES];	 /* hosts of the usual leaf */
	uint32_t class_leaves[FM_DMODK_CLASSES]; /* that have as many */

	/* dmodk_costs.c: the cost of a route from s is down[s] where that exists, else *up[s] */
	size_t words;		/* of a set of columns, a multiple of FT_LINE */
	struct ft_layers *down; /* [n] costs by down-links alone */
	struct ft_set *below;	/* [n] union of the down layers */
	struct ft_layers **up; /* [n] costs by an up-link first; shared by equal parents; or NULL */
	uint64_t *aside_cols;  /* [words] */

	/* dmodk_slots.c */
	struct ft_bundle *bundles;
	uint32_t n_bundles;
	uint32_t *bundle_of;  /* [n] FM_NONE: no parents */
	uint32_t *divider;    /* [n] */
	uint32_t *slot_first; /* [n + 1] into slot_link */
	fm_link *slot_link;   /* by switch and slot: FM_NONE where the cable is missing */
	size_t n_lids;	      /* table length used: max_lid + 1 */
	uint32_t *number;     /* [n_lids] topological number of a LID */
	/* Hosts of a class at a leaf beyond a multiple of its ways up: their LIDs, to which each
	 * leaf goes by another way */
	struct ft_surplus *surplus; /* [n_surplus] */
	uint32_t n_surplus;
	struct ft_moved *moved; /* [n_moved] */
	uint32_t n_moved;
	uint16_t *lid_col; /* [n_lids] column of the switch a LID lives on, FT_NO_COL */
	uint32_t *col_run; /* [n + 1] into runs */
	struct ft_run *runs;
	struct ft_template templates[FT_MAX_TEMPLATES];
	uint32_t n_templates;

	/* workers */
	void **worker; /* [n_workers] scratch of dmodk_fill.c */
	atomic_bool no_memory;
};

static inline void *
ft_alloc(const struct fm_dmodk_routes *ft, size_t n, size_t size)
{
	return ft->host->scratch(ft->host, (n > 0 ? n : 1) * size);
}

static inline int
ft_out_of_memory(const struct fm_dmodk_routes *ft, struct fm_error *err)
{
	return fm_no_scratch(ft->host, "routes of the tree", err);
}

#define FT_EACH_GROUP(ft, g, sw) \
	for (const struct ft_group *g = &(ft)->groups[(ft)->first_group[sw]], \
				   *g##_end = &(ft)->groups[(ft)->first_group[(sw) + 1]]; \
	     g < g##_end; g++)

/* Of these, the ones one tier or more above s, or below. */
#define FT_EACH_PARENT(ft, g, s) \
	for (const struct ft_group *g = &(ft)->groups[(ft)->first_group[s]], \
				   *g##_end = &(ft)->groups[(ft)->first_child[s]]; \
	     g < g##_end; g++)
#define FT_EACH_CHILD(ft, g, s) \
	for (const struct ft_group *g = &(ft)->groups[(ft)->first_child[s]], \
				   *g##_end = &(ft)->groups[(ft)->first_group[(s) + 1]]; \
	     g < g##_end; g++)

/* The first member of set that is >= i, or 64 * words. */
static inline uint32_t
ft_next_bit(const uint64_t *set, size_t words, uint32_t i)
{
	size_t w = i / 64;
	uint64_t word;

	if (w >= words)
		return (uint32_t)(words * 64);
	word = set[w] & (~UINT64_C(0) << (i % 64));
	while (word == 0) {
		if (++w == words)
			return (uint32_t)(words * 64);
		word = set[w];
	}
	return (uint32_t)(w * 64) + (uint32_t)__builtin_ctzll(word);
}

#define FT_EACH_BIT(i, set, words) \
	for (uint32_t i = ft_next_bit((set), (words), 0); i < (uint32_t)((words)*64); \
	     i = ft_next_bit((set), (words), i + 1))

/* Layer k, or NULL when it is empty. */
static inline const struct ft_set *
ft_layer(const struct ft_layers *l, unsigned k)
{
	return l != NULL && k < FT_MAX_COST && ((l->present >> k) & 1) ? &l->layer[k] : NULL;
}

static inline bool
ft_in(const struct ft_set *set, uint32_t c)
{
	uint32_t w = c / 64;

	return w >= set->from && w < set->to && ((set->bits[w - set->from] >> (c % 64)) & 1);
}

/* A cache line of columns at once, as wide as the machine can. */
typedef uint64_t ft_vec __attribute__((vector_size(64), aligned(8), may_alias));

static inline bool
ft_is_up(const struct fm_dmodk_routes *ft, fm_sw from, fm_sw to)
{
	return ft->level[to] > ft->level[from];
}

/* A link from above into demoted switches: serves aside columns alone. */
static inline bool
ft_is_restricted(const struct fm_dmodk_routes *ft, fm_sw from, fm_sw to)
{
	return ft->demoted[to] && !ft->demoted[from] && ft->level[to] < ft->level[from] &&
	    ft->rank[to] > ft->rank[from];
}

/* All return 0 or a negative enum fm_error_kind. */
int ft_shape(struct fm_dmodk_routes *ft, struct fm_error *err);
int ft_costs(struct fm_dmodk_routes *ft, struct fm_error *err);
int ft_slots(struct fm_dmodk_routes *ft, struct fm_error *err);
int ft_fill(struct fm_dmodk_routes *ft, struct fm_error *err);
int ft_settle(struct fm_dmodk_routes *ft, struct fm_error *err);

/* Slot order of n parents m[]; ordinal: scratch [switches]. */
void ft_sort_parents(const struct fm_dmodk_routes *ft, uint32_t *ordinal, fm_sw *m, uint32_t n);

/* slots[lid] = (number of the LID / divider) mod n; 255 for LIDs of nobody. */
void ft_fill_template(
    const struct fm_dmodk_routes *ft, uint8_t *slots, uint32_t divider, uint32_t n);
const uint8_t *ft_template(const struct fm_dmodk_routes *ft, uint32_t divider, uint32_t n);

/* row[i] = table[slot[i]] for i < n; positions whose slot is below n_slots but
 * whose table entry is 255 go to lost[] when it is given.  table[255] must be
 * 255.  Returns the number of positions in lost[]. */
size_t ft_translate(uint8_t *row, const uint8_t *slot, size_t n, const uint8_t table[256],
    uint32_t n_slots, uint16_t *lost);

#endif
