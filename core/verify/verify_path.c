/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LIDs with equal paths judged together.
 *
 * The LIDs behind one switch that all other switches send by the same ports are a
 * group: their paths are one tree.  What is noted of a path is a union over the SLs
 * of its packets, so the SLs of a group may be taken together too, and one walk over the
 * tree, leaves first, tells of all of them what verify_follow.c tells of each.  On the way
 * a set of (SL, VL) is one word (verify_path_state.c); in one VL there is nothing to carry.
 *
 * Only what is in order is settled here: every source reaches the group, no loop, no
 * entry that hands it to somebody else.  The LIDs of other groups are left to
 * verify_follow.c.  Sums and dependencies of both add up to the exact ones.
 *
 * LIDs are taken in tiles, so that rows of the tables are read a cache line at a time:
 *
 *	rows [switch][LID]  ->  slot [LID of the tile][switch]
 *
 * Time: about a look-up and a step per (switch, group), two bytes read per (switch, LID).
 * Memory per worker: some 250 bytes a switch.
 */
#include "core/verify/verify_class.h"
#include "core/verify/verify_path.h"

#include "lib/error.h"

#define TILE_LIDS 64u /* more only if one switch has more */
#define AHEAD 8u      /* rows between being asked for and being read */
#define NO_SLOT 255u  /* not to a switch */

struct source {
	uint16_t lid, n; /* n LIDs from lid on */
	uint8_t port;
};

/* LIDs of a tile that go the same way. */
struct group {
	const struct lid_class *class;
	uint32_t first; /* LID of the tile, whose slots stand for all */
	uint32_t n_end_lids, n_switch_lids;
	uint16_t sls; /* by bit: from all sources, unless they differ in that */
};

/* Packets go on from u to another switch, and there into a cell. */
struct path_step {
	fm_sw u, to;
	uint32_t cell;
};

struct path_walker {
	uint16_t *lid;	     /* [n] of the tile, class by class */
	uint32_t *group_of;  /* [n] */
	struct group *group; /* [n_groups] */
	uint32_t n, n_groups;
	uint8_t *slot; /* [n][stride] egress slot, NO_SLOT */
	uint16_t
	    *sls; /* [n_groups][stride] by bit: SLs from a switch's ends to the group, or NULL */
	uint16_t *replies;   /* [n_switches] by bit: SLs of replies to class replies_to */
	uint32_t replies_to; /* row of SLs, FM_NONE */
	uint64_t *state;     /* [n_switches] on the egress link */
	uint32_t *known;     /* [n_switches] epoch + hops, or epoch + FAILS */
	uint32_t epoch;
	fm_sw *order;		/* [n_switches] with traffic, next hop first */
	struct path_step *step; /* [n_order] */
	fm_sw *path;		/* [n_switches] */
	uint32_t n_order;
};

#define FAILS 0xffffu /* more than any hops: no entry */
#define NO_ROW UINT32_MAX
#define ROWS_DIFFER (UINT32_MAX - 1)

struct path_judge {
	struct judge *j;
	struct classes runs; /* classes and their LIDs, nothing else */
	struct path_states states;
	uint32_t *tile; /* [n_tiles + 1] first class */
	uint32_t n_tiles, most_lids;
	size_t stride;
	uint32_t *source_first; /* [n_switches + 1] */
	struct source *source;	/* ends that send, by switch */
	uint32_t *inject_row;	/* [n_switches] of the ports of its sources, if that is one */
	uint64_t *inject_word;	/* [n_switches] of that row, if that is one; 0: it is not */
	bool sls_by_source;
	bool one_state; /* one SL, one plane: all packets are alike */
	struct path_walker *walkers;
};

/* ------------------------------------------------------------ a tile */

static void
map_ports(const struct judge *j, fm_sw u, uint8_t slot[256])
{
	const struct fm_fabric *fab = j->fab;

	memset(slot, NO_SLOT, 256);
	for (fm_link l = fab->sw_first_link[u]; l < fab->sw_first_link[u + 1]; l++)
		slot[fab->link_port[l]] = (uint8_t)(l - fab->sw_first_link[u]);
}

static void
list_lids(const struct path_judge *k, struct path_walker *w, uint32_t from, uint32_t to)
{
	w->n = 0;
	for (uint32_t r = k->runs.class[from].first_run; r < k->runs.class[to].first_run; r++)
		for (uint32_t i = 0; i < k->runs.run[r].n; i++)
			w->lid[w->n++] = (uint16_t)(k->runs.run[r].first + i);
}

static void
load_slots(const struct path_judge *k, struct path_walker *w)
{
	const struct judge *j = k->j;
	uint32_t n_switches = j->fab->n_switches;
	uint8_t slot[256];

	for (fm_sw u = 0; u < n_switches; u++) {
		const uint8_t *row = j->t->lft[u];
		uint8_t *to = w->slot + u;

		if (u + AHEAD < n_switches)
			for (uint32_t i = 0; i < w->n; i += 32)
				__builtin_prefetch(j->t->lft[u + AHEAD] + w->lid[i]);
		map_ports(j, u, slot);
		for (uint32_t i = 0; i < w->n; i++, to += k->stride)
			*to = slot[row[w->lid[i]]];
	}
}

/* SLs to the LIDs of the tile, from the ends of each switch. */
static void
load_sls_by_source(const struct path_judge *k, struct path_walker *w)
{
	const struct judge *j = k->j;
	const struct fm_tables *t = j->t;
	const uint16_t *bit = k->states.bit;

	memset(w->sls, 0, w->n_groups * k->stride * sizeof(*w->sls));
	for (uint32_t s = 0; s < j->n_source_sw; s++) {
		fm_sw u = j->source_sw[s];
		const uint8_t *row = t->sl[u];

		if (s + AHEAD < j->n_source_sw)
			for (uint32_t i = 0; i < w->n; i += 32)
				__builtin_prefetch(t->sl[j->source_sw[s + AHEAD]] + w->lid[i]);
		for (uint32_t i = 0; i < w->n; i++)
			w->sls[w->group_of[i] * k->stride + u] |= bit[row[w->lid[i]]];
	}
}

/* ... from all the same. */
static void
load_sls(const struct path_judge *k, struct path_walker *w)
{
	const struct fm_tables *t = k->j->t;

	for (uint32_t i = 0; i < w->n; i++)
		w->group[w->group_of[i]].sls |=
		    k->states.bit[t->sl_shape == FM_SL_ZERO ? 0 : t->sl[0][w->lid[i]]];
}

/* Does the switch of the class hand this LID to its owner? */
static bool
delivers(const struct judge *j, fm_sw sw, uint16_t lid)
{
	uint8_t port = j->t->lft[sw][lid];

	return port == j->fab->end_port[j->fab->lid_end[lid]] &&
	    next_switch(j, sw, port) == FM_NONE;
}

/* LIDs from..to - 1 of the tile are one class: into groups. */
static void
find_groups(const struct path_judge *k, struct path_walker *w, const struct lid_class *c,
    uint32_t from, uint32_t to)
{
	const struct fm_fabric *fab = k->j->fab;
	uint32_t first = w->n_groups;

	for (uint32_t i = from; i < to; i++) {
		bool is_switch = fab->end_kind[fab->lid_end[w->lid[i]]] == FM_END_SWITCH;
		uint8_t *slot = w->slot + i * k->stride;
		uint32_t g;

		slot[c->sw] = NO_SLOT;
		if (!delivers(k->j, c->sw, w->lid[i]))
			k->j->exact[w->lid[i]] = 1;
		for (g = first; g < w->n_groups; g++)
			if (memcmp(slot, w->slot + w->group[g].first * k->stride,
				fab->n_switches) == 0)
				break;
		if (g == w->n_groups)
			w->group[w->n_groups++] = (struct group){ .class = c, .first = i };
		w->group_of[i] = g;
		w->group[g].n_switch_lids += is_switch;
		w->group[g].n_end_lids += !is_switch;
	}
}

/* ------------------------------------------------------------ paths */

/* From u to where it is known how many hops are left, and back.  False: a loop, or
 * (carried) a dead end.  carried: data traffic. */
static bool
follow(
    const struct path_judge *k, struct path_walker *w, const uint8_t *slot, fm_sw u, bool carried)
{
	const struct fm_fabric *fab = k->j->fab;
	uint32_t n = 0, hops;

	for (; w->known[u] < w->epoch; u = k->states.link[fab->sw_first_link[u] + slot[u]].to) {
		w->known[u] = w->epoch; /* being passed */
		w->path[n++] = u;
		if (slot[u] == NO_SLOT) {
			w->known[u] = w->epoch + FAILS;
			break;
		}
	}
	hops = w->known[u] - w->epoch;
	if (hops == 0 || (hops == FAILS && carried))
		return false;
	while (n-- > 0) {
		hops = hops == FAILS ? FAILS : hops + 1;
		w->known[w->path[n]] = w->epoch + hops;
		if (carried)
			w->order[w->n_order++] = w->path[n];
	}
	return true;
}

/* Switches without sources send to the LIDs of switches only.  *n_lost: those without
 * a way.  False: what they do is for verify_follow.c. */
static bool
follow_rest(const struct path_judge *k, struct path_walker *w, const struct group *g,
    const uint8_t *slot, uint32_t *n_lost)
{
	const struct judge *j = k->j;

	*n_lost = 0;
	if (g->n_switch_lids == 0)
		return true;
	for (fm_sw u = 0; u < j->fab->n_switches; u++) {
		if (j->n_sources[u] > 0 ||
		    j->snap->sw_component[u] != j->snap->sw_component[g->class->sw])
			continue;
		if (w->known[u] < w->epoch && !follow(k, w, slot, u, false))
			return false;
		if (w->known[u] != w->epoch + FAILS)
			continue;
		++*n_lost;
		/* nowhere at all, for any of them? */
		if (slot[u] == NO_SLOT)
			for (uint32_t i = 0; i < w->n; i++)
				if (&w->group[w->group_of[i]] == g &&
				    j->t->lft[u][w->lid[i]] != FM_PORT_NONE)
					return false;
	}
	return true;
}

/* Paths from all sources; false: not all arrive. */
static bool
follow_sources(const struct path_judge *k, struct path_walker *w, const struct group *g,
    const uint8_t *slot, struct class_sums *sums)
{
	const struct judge *j = k->j;
	const uint32_t *component = j->snap->sw_component;

	w->n_order = 0;
	w->epoch += FAILS + 1;
	if (w->epoch > UINT32_MAX - 2 * (FAILS + 1)) {
		memset(w->known, 0, j->fab->n_switches * sizeof(*w->known));
		w->epoch = FAILS + 1;
	}
	w->known[g->class->sw] = w->epoch + 1;
	for (uint32_t i = 0; i < j->n_source_sw; i++) {
		fm_sw u = j->source_sw[i];
		uint32_t hops;

		if (component[u] != component[g->class->sw])
			continue;
		if (w->known[u] < w->epoch && !follow(k, w, slot, u, true))
			return false;
		hops = w->known[u] - w->epoch;
		sums->sources += j->n_sources[u];
		sums->source_hops += (uint64_t)j->n_sources[u] * hops;
		sums->farthest = hops > sums->farthest ? hops : sums->farthest;
	}
	return true;
}

/* ------------------------------------------------------------ SLs and VLs */

static void
load_replies(const struct path_judge *k, struct path_walker *w, fm_sw to)
{
	const struct judge *j = k->j;
	const struct fm_tables *t = j->t;
	uint32_t row = t->sl_shape == FM_SL_BY_SW_DLID ? to : 0;

	if (t->sl_shape == FM_SL_ZERO || j->req->sl_model != VERIFY_BOTH || w->replies_to == row)
		return;
	w->replies_to = row;
	for (uint32_t i = 0; i < j->n_source_sw; i++) {
		fm_sw u = j->source_sw[i];
		uint16_t sls = 0;

		for (uint32_t e = k->source_first[u]; e < k->source_first[u + 1]; e++)
			for (uint32_t m = 0; m < k->source[e].n; m++)
				sls |= k->states.bit[t->sl[row][k->source[e].lid + m]];
		w->replies[u] = sls;
	}
}

/* What the ends of u, ports of which differ in SL2VL, send into an egress slot. */
static uint64_t
inject_each(
    const struct path_judge *k, const struct path_walker *w, fm_sw u, uint32_t slot, uint64_t sls)
{
	const struct path_states *s = &k->states;
	uint32_t row = path_row(k->j->fab, u);
	uint64_t state = 0;

	for (uint32_t e = k->source_first[u]; e < k->source_first[u + 1]; e++) {
		const struct source *from = &k->source[e];
		uint64_t all = sls;

		for (uint32_t m = 0; m < from->n && w->replies_to != FM_NONE; m++)
			all |= s->bit[k->j->t->sl[w->replies_to][from->lid + m]];
		state |= path_state_of(
		    s, all, path_word(s, s->bytes, s->row_first[u] + from->port * row + slot));
	}
	return state;
}

/* sls: from the ends of u to the destination. */
static inline uint64_t
inject(const struct path_judge *k, const struct path_walker *w, uint64_t sls, fm_sw u,
    uint32_t slot, bool bytes)
{
	const struct path_states *s = &k->states;
	uint64_t all = sls | w->replies[u];

	if (k->inject_row[u] == NO_ROW)
		return 0;
	if (!s->by_in)
		return all;
	if (k->inject_word[u] != 0)
		return path_state_of(s, all, k->inject_word[u]);
	if (k->inject_row[u] == ROWS_DIFFER)
		return inject_each(k, w, u, slot, sls);
	return path_state_of(s, all, path_word(s, bytes, k->inject_row[u] + slot));
}

/* Where packets to `to` that come by a link go on. */
static inline size_t
cell_of(const struct path_judge *k, const struct path_link *in, const uint8_t *slot, fm_sw to)
{
	return in->row + (in->to == to ? path_row(k->j->fab, to) - 1 : slot[in->to]);
}

/* All packets are alike, and every switch of the tree has some. */
static void
carry_alike(const struct path_judge *k, const struct path_walker *w, const uint8_t *slot, fm_sw to)
{
	const uint32_t *first_link = k->j->fab->sw_first_link;

	for (uint32_t i = 0; i < w->n_order; i++) {
		fm_sw u = w->order[i];

		path_note(&k->states, true,
		    cell_of(k, &k->states.link[first_link[u] + slot[u]], slot, to), 1);
	}
}

/* The steps of the tree, next hop first, with what the ends at each begin with.  Cells lie all over
 * the memory, so all are asked for before any is needed. */
static inline void
list_steps(const struct path_judge *k, struct path_walker *w, const struct group *g,
    const uint8_t *slot, bool bytes)
{
	const uint32_t *first_link = k->j->fab->sw_first_link;
	const struct path_states *s = &k->states;
	const uint16_t *sls = w->sls + (size_t)(g - w->group) * k->stride;

	for (uint32_t i = 0; i < w->n_order; i++) {
		fm_sw u = w->order[i];
		const struct path_link *in = &s->link[first_link[u] + slot[u]];
		uint32_t cell = (uint32_t)cell_of(k, in, slot, g->class->sw);

		if (bytes)
			__builtin_prefetch(&s->cell8[cell]);
		else
			__builtin_prefetch(&s->cell[cell]);
		w->step[i] = (struct path_step){ u, in->to, cell };
		w->state[u] = inject(k, w, k->sls_by_source ? sls[u] : g->sls, u, slot[u], bytes);
	}
}

/* Carry the packets of all sources down the tree, leaves first. */
static inline void
carry(const struct path_judge *k, struct path_walker *w, const struct group *g, const uint8_t *slot,
    bool bytes)
{
	const struct path_states *s = &k->states;
	fm_sw to = g->class->sw;

	list_steps(k, w, g, slot, bytes);
	for (uint32_t i = w->n_order; i-- > 0;) {
		const struct path_step *step = &w->step[i];
		uint64_t state = w->state[step->u];

		if (step->to != to)
			w->state[step->to] |= s->by_in
			    ? path_state_of(s, path_sls(s, state), path_word(s, bytes, step->cell))
			    : state;
		path_note(s, bytes, step->cell, state);
	}
}

/* ------------------------------------------------------------ all of them */

static bool
is_exact(const struct judge *j, const struct path_walker *w, uint32_t group)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (w->group_of[i] == group && j->exact[w->lid[i]])
			return true;
	return false;
}

static void
leave_exact(const struct judge *j, const struct path_walker *w, uint32_t group)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (w->group_of[i] == group)
			j->exact[w->lid[i]] = 1;
}

static void
judge_group(const struct path_judge *k, struct path_walker *w, uint32_t group, struct tally *into)
{
	const struct group *g = &w->group[group];
	const uint8_t *slot = w->slot + g->first * k->stride;
	struct class_sums sums = { 0 };
	uint32_t n_lost;

	if (is_exact(k->j, w, group) || !follow_sources(k, w, g, slot, &sums) ||
	    !follow_rest(k, w, g, slot, &n_lost)) {
		leave_exact(k->j, w, group);
		return;
	}
	verify_class_add(k->j, &sums, g->n_end_lids, g->n_switch_lids, n_lost, into);
	if (k->one_state) {
		carry_alike(k, w, slot, g->class->sw);
		return;
	}
	load_replies(k, w, g->class->sw);
	if (k->states.bytes)
		carry(k, w, g, slot, true);
	else
		carry(k, w, g, slot, false);
}

static void
judge_tile(void *arg, uint32_t tile, unsigned worker)
{
	const struct path_judge *k = arg;
	struct path_walker *w = &k->walkers[worker];
	uint32_t at = 0;

	list_lids(k, w, k->tile[tile], k->tile[tile + 1]);
	load_slots(k, w);
	w->n_groups = 0;
	for (uint32_t c = k->tile[tile]; c < k->tile[tile + 1]; c++) {
		const struct lid_class *class = &k->runs.class[c];
		uint32_t n = class->n_end_lids + class->n_switch_lids;

		find_groups(k, w, class, at, at + n);
		at += n;
	}
	if (k->sls_by_source)
		load_sls_by_source(k, w);
	else
		load_sls(k, w);
	for (uint32_t g = 0; g < w->n_groups; g++)
		judge_group(k, w, g, &k->j->tally[worker]);
}

/* ------------------------------------------------------------ set-up */

static bool
setup_tiles(struct path_judge *k)
{
	uint32_t n = 0;

	k->tile = malloc((k->runs.n_classes + 1) * sizeof(*k->tile));
	if (k->tile == NULL)
		return false;
	for (uint32_t c = 0; c < k->runs.n_classes; c++) {
		uint32_t more = k->runs.class[c].n_end_lids + k->runs.class[c].n_switch_lids;

		if (k->n_tiles == 0 || n + more > TILE_LIDS) {
			k->tile[k->n_tiles++] = c;
			n = 0;
		}
		n += more;
		k->most_lids = n > k->most_lids ? n : k->most_lids;
	}
	k->tile[k->n_tiles] = k->runs.n_classes;
	return true;
}

static bool
are_equal_rows(const struct path_states *s, uint32_t a, uint32_t b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (path_word(s, s->bytes, a + i) != path_word(s, s->bytes, b + i))
			return false;
	return true;
}

/* The row that stands for the ports of the ends of u that send. */
static uint32_t
find_inject_row(const struct path_judge *k, fm_sw u)
{
	const struct path_states *s = &k->states;
	uint32_t first = k->source_first[u], end = k->source_first[u + 1];
	uint32_t n = path_row(k->j->fab, u), row = s->by_in ? s->row_first[u] : 0;

	if (first == end)
		return NO_ROW;
	for (uint32_t e = first; s->by_in && e < end; e++)
		if (!are_equal_rows(
			s, row + k->source[first].port * n, row + k->source[e].port * n, n - 1))
			return ROWS_DIFFER;
	return row + k->source[first].port * n;
}

/* What all its cells say, or 0. */
static uint64_t
word_of_row(const struct path_judge *k, fm_sw u)
{
	const struct path_states *s = &k->states;
	uint32_t row = k->inject_row[u];
	uint64_t word;

	if (!s->by_in || row == NO_ROW || row == ROWS_DIFFER)
		return 0;
	word = path_word(s, s->bytes, row);
	for (uint32_t i = 1; i + 1 < path_row(k->j->fab, u); i++)
		if (path_word(s, s->bytes, row + i) != word)
			return 0;
	return word;
}

static bool
setup_sources(struct path_judge *k)
{
	const struct fm_fabric *fab = k->j->fab;
	uint32_t n = 0;

	k->source_first = malloc((fab->n_switches + 1) * sizeof(*k->source_first));
	k->source = malloc((fab->n_ends + 1) * sizeof(*k->source));
	k->inject_row = malloc((fab->n_switches + 1) * sizeof(*k->inject_row));
	k->inject_word = malloc((fab->n_switches + 1) * sizeof(*k->inject_word));
	if (k->source_first == NULL || k->source == NULL || k->inject_row == NULL ||
	    k->inject_word == NULL)
		return false;
	for (fm_sw u = 0; u < fab->n_switches; u++) {
		k->source_first[u] = n;
		for (fm_end e = fab->sw_first_end[u]; e < fab->sw_first_end[u + 1]; e++)
			if (is_source(fab, e))
				k->source[n++] = (struct source){ .lid = fab->end_lid[e],
					.n = fab->end_lid[e] != 0
					    ? (uint16_t)(1u << fab->end_lmc[e])
					    : 0,
					.port = fab->end_port[e] };
		k->source_first[u + 1] = n;
		k->inject_row[u] = find_inject_row(k, u);
		k->inject_word[u] = word_of_row(k, u);
	}
	return true;
}

static bool
setup_walker(const struct path_judge *k, struct path_walker *w)
{
	uint32_t n = k->j->fab->n_switches + 1, lids = k->most_lids + 1;

	w->lid = malloc(lids * sizeof(*w->lid));
	w->group_of = malloc(lids * sizeof(*w->group_of));
	w->group = malloc(lids * sizeof(*w->group));
	w->slot = malloc(lids * k->stride);
	if (k->sls_by_source)
		w->sls = malloc(lids * k->stride * sizeof(*w->sls));
	w->replies = calloc(n, sizeof(*w->replies));
	w->state = malloc(n * sizeof(*w->state));
	w->known = calloc(n, sizeof(*w->known));
	w->order = malloc(n * sizeof(*w->order));
	w->step = malloc(n * sizeof(*w->step));
	w->path = malloc(n * sizeof(*w->path));
	w->replies_to = FM_NONE;
	return w->lid != NULL && w->group_of != NULL && w->group != NULL && w->slot != NULL &&
	    (w->sls != NULL || !k->sls_by_source) && w->replies != NULL && w->state != NULL &&
	    w->known != NULL && w->order != NULL && w->step != NULL && w->path != NULL;
}

static bool
setup(struct path_judge *k)
{
	/* an odd number of cache lines, as columns are written side by side */
	k->stride = ((k->j->fab->n_switches + 63) / 64 | 1) * 64;
	if (!verify_class_runs(&k->runs) || !setup_tiles(k) || !setup_sources(k))
		return false;
	k->walkers = calloc(k->j->n_workers, sizeof(*k->walkers));
	for (unsigned i = 0; k->walkers != NULL && i < k->j->n_workers; i++)
		if (!setup_walker(k, &k->walkers[i]))
			return false;
	return k->walkers != NULL;
}

static void
free_path_judge(struct path_judge *k)
{
	for (unsigned i = 0; k->walkers != NULL && i < k->j->n_workers; i++) {
		struct path_walker *w = &k->walkers[i];

		free(w->lid);
		free(w->group_of);
		free(w->group);
		free(w->slot);
		free(w->sls);
		free(w->replies);
		free(w->state);
		free(w->known);
		free(w->order);
		free(w->step);
		free(w->path);
	}
	free(k->walkers);
	free(k->tile);
	free(k->source_first);
	free(k->source);
	free(k->inject_row);
	free(k->inject_word);
	free(k->runs.class);
	free(k->runs.run);
	free(k->runs.exact);
	verify_path_states_free(&k->states);
}

int
verify_paths(struct judge *j, struct fm_pool *workers, struct fm_error *err)
{
	struct path_judge k = { .j = j, .runs = { .j = j } };
	bool fits = false;
	int rc = verify_path_states(j, workers, &k.states, &fits);

	k.one_state = k.states.width == 1 && !k.states.by_in;
	k.sls_by_source = j->t->sl_shape == FM_SL_BY_SW_DLID && !k.one_state;
	if (rc == 0 && fits) {
		j->exact = calloc(j->fab->max_lid + 1u, 1);
		if (j->exact == NULL || !setup(&k))
			rc = FM_E_RESOURCE;
	}
	if (rc == 0 && fits) {
		fm_pool_for(workers, k.n_tiles, judge_tile, &k);
		verify_path_states_note(j, workers, &k.states);
	}
	free_path_judge(&k);
	return rc == 0 ? 0 : fm_fail(err, FM_E_RESOURCE, "out of memory while verifying tables");
}
