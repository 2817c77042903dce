/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Layers by insertion (LASH: Skeie, Lysne, Theiss, IPDPS 2002, with Pearce and
 * Kelly's order in place of a search for cycles), where DFSSSP (Domke, Hoefler,
 * Nagel, IPDPS 2011) breaks cycles afterwards, moving paths several times and
 * needing more lanes.
 *
 * First all dependencies are sorted at once: trees and meshes need no more
 * than one layer and no insertion.
 *
 * forward: the paths of one tree share their ends, so the tree is walked from
 * its root outwards; a switch is in the layer when the switch before it is and the
 * one dependency between them is taken.  A dependency that is refused leaves
 * what is behind it to the next layer; nothing is ever taken out.
 *
 * paired: path by path; of a pair that fails what was new is taken out again.
 * A dependency that is refused while nothing is new is so for good, and barred.
 */
#include "plugins/common/layers/layers.h"

#include <stdlib.h>
#include <string.h>

#include "lib/algo/heap.h"
#include "plugins/common/layers/channels.h"

#define WORK_SEARCHES 40000000u /* arcs looked at in a layer, where large fabrics allow */
#define MIN_PATIENCE 20u

struct layering {
	const struct fm_host *host;
	const struct fm_fabric *fab;
	const struct fm_sssp_trees *f;
	const struct fm_layer_plan *plan;
	struct fm_layers *out;
	struct fm_channel_map map;
	struct fm_channels graph; /* of the layer in hand */
	uint64_t n_left;	  /* without a layer */
	/* paths without a layer that take arc a and then the i-th one of its head */
	uint32_t *turns;      /* [turn_first[n_arcs]] */
	uint32_t *turn_first; /* [n_arcs + 1] */
	struct fm_heap heap;  /* switches not yet in the order, by their valleys */
	fm_arc *order;	      /* [n_arcs] */
	bool *is_source;      /* [n_switches] */
	/* of the tree in hand */
	uint8_t *state; /* [n_switches] enum switch_state */
	fm_sw *stack;	/* [n_switches] */
	/* of the pair in hand: arcs followed by arcs */
	struct dependency {
		fm_arc a, b;
	} * wanted, *added; /* [n_wanted] */
	uint32_t n_wanted;
};

#define DONE 0x80 /* bit of .layer: settled; without, the first SL to be tried */

enum switch_state { UNKNOWN, TAKEN, REFUSED };

/* ------------------------------------------------------------------- common */

/* From switch to switch by arcs a and then b: both ways count as one turn. */
static inline uint32_t *
turn(struct layering *k, fm_arc a, fm_arc b)
{
	return &k->turns[k->turn_first[a] + fm_channel_slot(&k->map, b)];
}

/* Switch s goes below all that are left: turns from it at a neighbour x are valleys no longer. */
static void
put_lowest(struct layering *k, fm_sw s)
{
	const struct fm_arcs *arcs = k->f->arcs;

	for (fm_arc a = arcs->first[s]; a < arcs->first[s + 1]; a++) {
		fm_sw x = arcs->to[a];
		uint64_t valleys = 0;

		if (k->heap.at[x] == FM_HEAP_NONE)
			continue;
		for (fm_arc b = arcs->first[x]; b < arcs->first[x + 1]; b++)
			if (k->heap.at[arcs->to[b]] != FM_HEAP_NONE)
				valleys += *turn(k, a, b) + *turn(k, k->map.rev[b], k->map.rev[a]);
		fm_heap_push(&k->heap, x, k->heap.key[x] - valleys);
	}
}

/*
 * A start that few searches need to mend: channels in the order of up/down paths,
 * those up from the lowest switch on, then those down from the highest on.  Against
 * it are only paths with a valley, a turn at a switch below both its neighbours.
 * The lowest is always the switch at which fewest of the paths to come turn
 * between switches not yet placed.
 */
static void
find_order(struct layering *k)
{
	const struct fm_arcs *arcs = k->f->arcs;
	uint32_t n = arcs->n_switches, up = 0, down = arcs->n_arcs;

	fm_heap_init(&k->heap, k->heap.items, k->heap.at, k->heap.key, n);
	for (fm_sw s = 0; s < n; s++) {
		uint64_t valleys = 0;

		for (fm_arc o = arcs->first[s]; o < arcs->first[s + 1]; o++)
			for (fm_arc b = arcs->first[s]; b < arcs->first[s + 1]; b++)
				valleys += *turn(k, k->map.rev[o], b);
		fm_heap_push(&k->heap, s, valleys);
	}
	for (fm_sw s; (s = fm_heap_pop(&k->heap)) != FM_HEAP_NONE;) {
		put_lowest(k, s);
		for (fm_arc a = arcs->first[s]; a < arcs->first[s + 1]; a++) {
			if (k->heap.at[arcs->to[a]] != FM_HEAP_NONE)
				k->order[up++] = a;
			else
				k->order[--down] = a;
		}
	}
	memset(k->turns, 0, k->turn_first[arcs->n_arcs] * sizeof(*k->turns));
}

static int
take_memory(struct layering *k, struct fm_error *err)
{
	const struct fm_fabric *fab = k->fab;
	const struct fm_host *host = k->host;
	const struct fm_arcs *arcs = k->f->arcs;
	size_t n = fab->n_switches;

	k->is_source = fm_scratch_array(host, n, bool);
	k->state = fm_scratch_array(host, n, uint8_t);
	k->stack = fm_scratch_array(host, n, fm_sw);
	k->turn_first = fm_scratch_array(host, (size_t)arcs->n_arcs + 1, uint32_t);
	k->order = fm_scratch_array(host, arcs->n_arcs, fm_arc);
	k->heap.items = fm_scratch_array(host, n, uint32_t);
	k->heap.at = fm_scratch_array(host, n, uint32_t);
	k->heap.key = fm_scratch_array(host, n, uint64_t);
	if (k->is_source == NULL || k->state == NULL || k->stack == NULL || k->turn_first == NULL ||
	    k->order == NULL || k->heap.items == NULL || k->heap.at == NULL || k->heap.key == NULL)
		return fm_no_scratch(host, "layers of paths", err);
	for (fm_arc a = 0; a < arcs->n_arcs; a++) {
		fm_sw v = arcs->to[a];

		k->turn_first[a + 1] = k->turn_first[a] + arcs->first[v + 1] - arcs->first[v];
	}
	k->turns = fm_scratch_array(host, k->turn_first[arcs->n_arcs], uint32_t);
	if (k->turns == NULL)
		return fm_no_scratch(host, "layers of paths", err);
	for (fm_sw s = 0; s < n; s++)
		for (fm_end e = fab->sw_first_end[s]; e < fab->sw_first_end[s + 1]; e++)
			k->is_source[s] |= fab->end_kind[e] != FM_END_SWITCH;
	return 0;
}

/* Where the path goes on after arc a, or FM_NONE. */
static inline fm_arc
arc_after(const struct layering *k, const uint8_t *step, fm_arc a)
{
	fm_sw v = k->f->arcs->to[a];

	return step[v] == FM_STEP_NONE ? FM_NONE : k->f->arcs->first[v] + step[v];
}

/* --------------------------------------------------------- all in one layer */

static void
set_tree(struct layering *k, struct fm_channels *g, uint32_t tree)
{
	const struct fm_arcs *arcs = k->f->arcs;
	const uint8_t *step = fm_sssp_steps(k->f, tree);

	memset(k->state, UNKNOWN, arcs->n_switches);
	for (fm_sw s = 0; s < arcs->n_switches; s++) {
		fm_sw u = s;

		while (k->is_source[s] && k->state[u] == UNKNOWN && step[u] != FM_STEP_NONE) {
			fm_arc a = arcs->first[u] + step[u], b = arc_after(k, step, a);

			k->state[u] = TAKEN;
			if (b != FM_NONE)
				fm_channels_set(g, a, b);
			u = arcs->to[a];
		}
	}
}

/* Does one layer do for all?  1 yes, 0 no, or an error. */
static int
fits_one_layer(struct layering *k, struct fm_error *err)
{
	for (uint32_t t = 0; t < k->f->n_trees; t++) {
		if (k->host->should_stop(k->host))
			return k->host->fail(
			    k->host, err, FM_E_CANCELLED, "stopped while looking for cycles");
		set_tree(k, &k->graph, t);
	}
	return fm_channels_sort(&k->graph);
}

/* A path that is without a layer. */
static void
leave(struct layering *k, uint32_t tree, fm_sw s)
{
	const uint8_t *step = fm_sssp_steps(k->f, tree);
	fm_arc a, b;

	if (!k->is_source[s] || step[s] == FM_STEP_NONE)
		return;
	k->n_left++;
	for (a = k->f->arcs->first[s] + step[s]; (b = arc_after(k, step, a)) != FM_NONE; a = b)
		++*turn(k, a, b);
}

static void
leave_pair(struct layering *k, fm_sw s, fm_sw t)
{
	for (uint32_t i = k->f->first[t]; i < k->f->first[t + 1]; i++)
		leave(k, i, s);
	for (uint32_t i = k->f->first[s]; i < k->f->first[s + 1]; i++)
		leave(k, i, t);
}

/* Are all paths that share the SL of this one regular? */
static bool
is_regular(const struct layering *k, uint32_t row, fm_sw s)
{
	const struct fm_dimensions *d = k->plan->dimensions;

	if (k->plan->paired)
		return fm_is_regular(d, row, s) && fm_is_regular(d, s, row);
	return fm_is_regular(d, k->f->root[row], s);
}

/* Of one row: regular paths have their SL, the others are left. */
static void
begin_row(void *arg, uint32_t row, unsigned worker)
{
	struct layering *k = arg;
	const struct fm_dimensions *d = k->plan->dimensions;
	fm_sw root = k->plan->paired ? row : k->f->root[row];
	uint8_t *layer = k->out->layer + (size_t)row * k->fab->n_switches;

	(void)worker;
	for (fm_sw s = 0; s < k->fab->n_switches; s++) {
		if (d->grids->grid_of[s] != d->grids->grid_of[root])
			layer[s] = DONE;
		else if (is_regular(k, row, s))
			layer[s] = (uint8_t)(fm_datelines(d, s, root) | DONE);
		else
			layer[s] = (uint8_t)fm_first_sl(k->out);
	}
}

static void
begin(struct layering *k)
{
	uint32_t n = k->fab->n_switches, rows = k->plan->paired ? n : k->f->n_trees;

	if (k->plan->dimensions != NULL) {
		k->host->parallel_for(k->host, rows, begin_row, k);
		if (k->plan->dimensions->regular == NULL)
			return;
	}
	for (uint32_t t = 0; t < k->f->n_trees; t++)
		for (fm_sw s = 0; s < n; s++) {
			size_t row = k->plan->paired ? k->f->root[t] : t;

			if (!(k->out->layer[row * n + s] & DONE))
				leave(k, t, s);
		}
}

/* ------------------------------------------------------------------ forward */

/* Nothing is ever taken out, so what is refused now is refused for good. */
static inline bool
insert_or_bar(struct fm_channels *g, fm_arc a, fm_arc b)
{
	if (b == FM_NONE || fm_channels_insert(g, a, b) != FM_CHANNEL_REFUSED)
		return true;
	fm_channels_bar(g, a, b);
	return false;
}

/* The switches from s on towards the root that nothing is known of, then what
 * becomes of them, the one nearest to the root first. */
static bool
take_path(struct layering *k, struct fm_channels *g, const uint8_t *step, fm_sw s)
{
	const struct fm_arcs *arcs = k->f->arcs;
	uint32_t n = 0;
	fm_sw u = s;

	while (k->state[u] == UNKNOWN && step[u] != FM_STEP_NONE) {
		k->stack[n++] = u;
		u = arcs->to[arcs->first[u] + step[u]];
	}
	while (n-- > 0) {
		fm_arc a = arcs->first[k->stack[n]] + step[k->stack[n]];

		k->state[k->stack[n]] =
		    k->state[arcs->to[a]] == REFUSED || !insert_or_bar(g, a, arc_after(k, step, a))
		    ? REFUSED
		    : TAKEN;
	}
	return k->state[s] != REFUSED;
}

static void
layer_tree(struct layering *k, uint32_t tree, unsigned l, bool last)
{
	unsigned sl = fm_first_sl(k->out) + l;
	const uint8_t *step = fm_sssp_steps(k->f, tree);
	uint8_t *layer = k->out->layer + (size_t)tree * k->fab->n_switches;

	memset(k->state, UNKNOWN, k->fab->n_switches);
	for (fm_sw s = 0; s < k->fab->n_switches; s++) {
		if (layer[s] != sl || !k->is_source[s] || step[s] == FM_STEP_NONE)
			continue;
		if (take_path(k, &k->graph, step, s)) {
			k->out->n_paths[l]++;
			layer[s] = (uint8_t)(sl | DONE);
			continue;
		}
		if (!last)
			continue;
		layer[s] = (uint8_t)(sl + 1);
		leave(k, tree, s);
	}
}

/* ------------------------------------------------------------------- paired */

/* The dependencies of s's path in one tree. */
static void
want_path(struct layering *k, uint32_t tree, fm_sw s)
{
	const uint8_t *step = fm_sssp_steps(k->f, tree);
	fm_arc a, b;

	if (!k->is_source[s] || step[s] == FM_STEP_NONE)
		return;
	a = k->f->arcs->first[s] + step[s];
	while ((b = arc_after(k, step, a)) != FM_NONE) {
		k->wanted[k->n_wanted++] = (struct dependency){ a, b };
		a = b;
	}
}

static void
want_pair(struct layering *k, fm_sw s, fm_sw t)
{
	k->n_wanted = 0;
	for (uint32_t i = k->f->first[t]; i < k->f->first[t + 1]; i++)
		want_path(k, i, s);
	for (uint32_t i = k->f->first[s]; i < k->f->first[s + 1]; i++)
		want_path(k, i, t);
}

/* Leave in wanted[] what the graph does not hold; false when some is barred. */
static bool
look_up(struct layering *k, const struct fm_channels *g, uint32_t *n_new)
{
	*n_new = 0;
	for (uint32_t i = 0; i < k->n_wanted; i++) {
		struct dependency d = k->wanted[i];

		if (fm_channel_bit(&k->map, g->held, d.a, d.b))
			continue;
		if (fm_channel_bit(&k->map, g->refused, d.a, d.b))
			return false;
		k->added[(*n_new)++] = d;
	}
	return true;
}

/* The first n of added[] out again; d, which was refused with them, for good? */
static void
take_back(struct layering *k, struct fm_channels *g, uint32_t n, struct dependency d)
{
	for (uint32_t i = 0; i < n; i++)
		fm_channels_remove(g, k->added[i].a, k->added[i].b);
	if (n == 0 || fm_channels_insert(g, d.a, d.b) == FM_CHANNEL_REFUSED)
		fm_channels_bar(g, d.a, d.b);
	else
		fm_channels_remove(g, d.a, d.b);
}

static bool
take_pair(struct layering *k, struct fm_channels *g)
{
	uint32_t n_new, n = 0;

	if (!look_up(k, g, &n_new))
		return false;
	for (uint32_t i = 0; i < n_new; i++) {
		struct dependency d = k->added[i];

		switch (fm_channels_insert(g, d.a, d.b)) {
		case FM_CHANNEL_ADDED:
			k->added[n++] = d;
			break;
		case FM_CHANNEL_HELD: /* wanted twice */
			break;
		case FM_CHANNEL_REFUSED:
			take_back(k, g, n, d);
			return false;
		}
	}
	return true;
}

/* t and all switches before it. */
static void
layer_pairs(struct layering *k, fm_sw t, unsigned l, bool last)
{
	unsigned sl = fm_first_sl(k->out) + l;
	size_t n = k->fab->n_switches;

	for (fm_sw s = 0; s < t; s++) {
		if (k->out->layer[t * n + s] != sl || (!k->is_source[s] && !k->is_source[t]))
			continue;
		want_pair(k, s, t);
		if (take_pair(k, &k->graph)) {
			k->out->n_paths[l] += 2;
			k->out->layer[s * n + t] = k->out->layer[t * n + s] = (uint8_t)(sl | DONE);
			continue;
		}
		if (!last)
			continue;
		k->out->layer[s * n + t] = k->out->layer[t * n + s] = (uint8_t)(sl + 1);
		leave_pair(k, s, t);
	}
}

static uint32_t
most_trees(const struct fm_sssp_trees *f)
{
	uint32_t most = 0;

	for (fm_sw s = 0; s < f->arcs->n_switches; s++)
		if (f->first[s + 1] - f->first[s] > most)
			most = f->first[s + 1] - f->first[s];
	return most;
}

static int
take_pair_memory(struct layering *k, struct fm_error *err)
{
	size_t room = (size_t)2 * most_trees(k->f) * (k->f->max_hops + 1);

	k->wanted = fm_scratch_array(k->host, room, struct dependency);
	k->added = fm_scratch_array(k->host, room, struct dependency);
	if (k->wanted == NULL || k->added == NULL)
		return fm_no_scratch(k->host, "dependencies of a pair", err);
	return 0;
}

/* ------------------------------------------------------------------- the way */

static int
too_many(const struct layering *k, unsigned allowed, struct fm_error *err)
{
	return k->host->fail(k->host, err, FM_E_TOPOLOGY,
	    "shortest paths without credit loops need %s%u VLs, but %u are allowed%s",
	    k->n_left > 0 ? "more than " : "", fm_first_lane(k->out) + k->out->n, allowed,
	    k->plan->start > 0 ? " from the first one on" : "");
}

static void
clear_done_marks(struct layering *k)
{
	size_t n_sw = k->fab->n_switches, rows = k->plan->paired ? n_sw : k->f->n_trees;

	for (size_t i = 0; k->out->layer != NULL && i < rows * n_sw; i++)
		k->out->layer[i] &= (uint8_t)~DONE;
}

/* Put into one layer what it takes of the paths left. */
static int
fill_layer(struct layering *k, unsigned l, bool last, struct fm_error *err)
{
	uint32_t rows = k->plan->paired ? k->fab->n_switches : k->f->n_trees;

	k->n_left = 0;
	for (uint32_t t = 0; t < rows; t++) {
		if (k->host->should_stop(k->host))
			return k->host->fail(
			    k->host, err, FM_E_CANCELLED, "stopped while layering paths");
		k->host->progress(k->host, t, rows);
		if (k->plan->paired)
			layer_pairs(k, t, l, last);
		else
			layer_tree(k, t, l, last);
	}
	return 0;
}

/* First what agrees with the order as it is, then what can be made to. */
static int
make_layer(struct layering *k, unsigned l, struct fm_error *err)
{
	uint32_t patience = k->map.patience;
	int rc;

	find_order(k);
	fm_channels_clear(&k->graph, k->order);
	k->map.patience = 0;
	rc = fill_layer(k, l, false, err);
	k->map.patience = patience;
	return rc != 0 ? rc : fill_layer(k, l, true, err);
}

static int
fill_layers(struct layering *k, unsigned n_most, struct fm_error *err)
{
	size_t n_sw = k->fab->n_switches, rows = k->plan->paired ? n_sw : k->f->n_trees;
	int rc = 0;

	k->out->layer = fm_scratch_array(k->host, rows * n_sw, uint8_t);
	if (k->out->layer == NULL)
		return fm_no_scratch(k->host, "layers of paths", err);
	if ((k->plan->paired || k->plan->even) && (rc = take_pair_memory(k, err)) != 0)
		return rc;
	begin(k);
	for (k->out->n = 0; rc == 0 && k->n_left > 0 && k->out->n < n_most; k->out->n++)
		rc = make_layer(k, k->out->n, err);
	return rc;
}

/* ---------------------------------------------------------------------- even */

/* What layers hold, and what each would if all held as much. */
static uint64_t
mean_paths(const struct fm_layers *out)
{
	uint64_t sum = 0;

	for (unsigned l = 0; l < out->n; l++)
		sum += out->n_paths[l];
	return sum / out->n;
}

/* The layer of the fewest paths that is not yet looked at. */
static unsigned
emptiest(const struct fm_layers *out, const bool *seen)
{
	unsigned best = FM_MAX_VLS;

	for (unsigned l = 0; l < out->n; l++)
		if (!seen[l] && (best == FM_MAX_VLS || out->n_paths[l] < out->n_paths[best]))
			best = l;
	return best;
}

/* The dependencies of what shares an SL with the path from s of a row: the pair, or that alone. */
static void
want_cell(struct layering *k, uint32_t row, fm_sw s)
{
	if (k->plan->paired) {
		want_pair(k, s, row);
		return;
	}
	k->n_wanted = 0;
	want_path(k, row, s);
}

/* Rows and columns of .layer whose cells are looked at, each pair once. */
static uint32_t
n_rows(const struct layering *k)
{
	return k->plan->paired ? k->fab->n_switches : k->f->n_trees;
}

static uint32_t
n_columns(const struct layering *k, uint32_t row)
{
	return k->plan->paired ? row : k->fab->n_switches;
}

/* The graph of a finished layer. */
static void
recall_layer(struct layering *k, unsigned sl)
{
	size_t n = k->fab->n_switches;

	fm_channels_clear(&k->graph, k->order);
	for (uint32_t row = 0; row < n_rows(k); row++)
		for (fm_sw s = 0; s < n_columns(k, row); s++) {
			if (k->out->layer[row * n + s] != sl)
				continue;
			want_cell(k, row, s);
			for (uint32_t i = 0; i < k->n_wanted; i++)
				fm_channels_set(&k->graph, k->wanted[i].a, k->wanted[i].b);
		}
	fm_channels_sort(&k->graph);
}

static void
move_cell(struct layering *k, uint32_t row, fm_sw s, unsigned from, unsigned to)
{
	size_t n = k->fab->n_switches;
	uint8_t sl = (uint8_t)(fm_first_sl(k->out) + to);
	unsigned n_paths = k->plan->paired ? 2 : 1;

	k->out->layer[row * n + s] = sl;
	if (k->plan->paired)
		k->out->layer[s * n + row] = sl;
	k->out->n_paths[from] -= n_paths;
	k->out->n_paths[to] += n_paths;
}

/* Of a row into layer l, whose graph is at hand, what others have beyond the mean: all of it, or
 * what falls to l if the layers take their turns. */
static void
draw_row(struct layering *k, uint32_t row, unsigned l, bool in_turn, uint64_t mean)
{
	struct fm_layers *out = k->out;
	unsigned first = fm_first_sl(out);
	size_t n = k->fab->n_switches;

	for (fm_sw s = 0; s < n_columns(k, row) && out->n_paths[l] < mean; s++) {
		unsigned sl = out->layer[row * n + s];

		if (sl < first || sl == first + l || out->n_paths[sl - first] <= mean ||
		    (in_turn && (s + row) % out->n != l) ||
		    !(k->is_source[s] || (k->plan->paired && k->is_source[row])))
			continue;
		want_cell(k, row, s);
		if (take_pair(k, &k->graph))
			move_cell(k, row, s, sl - first, l);
	}
}

/*
 * As many paths in each layer: the emptiest draws first from those that have too many, up to
 * the mean.  At first it takes one of n, so that a switch has pairs in all layers.  What is taken
 * out of a layer closes no cycle there.
 */
static int
make_even(struct layering *k, struct fm_error *err)
{
	bool seen[FM_MAX_VLS] = { false };
	uint64_t mean = mean_paths(k->out);
	uint32_t rows = n_rows(k);

	for (unsigned i = 0; i < k->out->n; i++) {
		unsigned l = emptiest(k->out, seen);

		seen[l] = true;
		if (k->out->n_paths[l] >= mean)
			continue;
		recall_layer(k, fm_first_sl(k->out) + l);
		for (uint32_t row = 0; row < 2 * rows; row++) {
			if (k->host->should_stop(k->host))
				return k->host->fail(k->host, err, FM_E_CANCELLED,
				    "stopped while layers were made even");
			draw_row(k, row % rows, l, row < rows, mean);
		}
	}
	return 0;
}

/* Every turn of the fabric may be searched for once in each layer. */
static uint32_t
choose_patience(const struct layering *k)
{
	uint32_t n_turns = k->turn_first[k->f->arcs->n_arcs];
	uint32_t patience = WORK_SEARCHES / (n_turns + 1);

	return patience < MIN_PATIENCE ? MIN_PATIENCE : patience;
}

/* Layers to try: no more than are allowed are of use, but it is good to know how many it takes. */
static unsigned
choose_limit(const struct layering *k)
{
	unsigned sls = 16 - k->plan->start - fm_first_sl(k->out);
	unsigned lanes = FM_MAX_VLS - k->plan->start;

	if (k->plan->enough > 0 && k->plan->enough < lanes)
		lanes = k->plan->enough;
	lanes = lanes > fm_first_lane(k->out) ? lanes - fm_first_lane(k->out) : 0;
	return lanes < sls ? lanes : sls;
}

int
fm_layers_build(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_sssp_trees *f, const struct fm_layer_plan *plan, struct fm_layers *out,
    struct fm_error *err)
{
	struct layering k = { .host = host, .fab = fab, .f = f, .plan = plan, .out = out };
	unsigned allowed = plan->allowed > plan->start ? plan->allowed - plan->start : 0;
	int rc;

	*out = (struct fm_layers){ .start = plan->start, .paired = plan->paired, .n = 1 };
	if ((rc = fm_channel_map_build(host, f->arcs, &k.map, err)) != 0 ||
	    (rc = fm_channels_build(host, &k.map, &k.graph, err)) != 0 ||
	    (rc = take_memory(&k, err)) != 0)
		return rc;
	k.map.patience = choose_patience(&k);
	rc = plan->dimensions != NULL && plan->dimensions->n_datelines > 0
	    ? 0
	    : fits_one_layer(&k, err);
	if (rc == 0) {
		out->dimensions = plan->dimensions;
		rc = fill_layers(&k, choose_limit(&k), err);
	}
	if (rc < 0)
		return rc;
	if (fm_first_lane(out) + out->n > allowed || k.n_left > 0)
		return too_many(&k, allowed, err);
	clear_done_marks(&k);
	if (plan->even && out->n > 1 && (rc = make_even(&k, err)) != 0)
		return rc;
	if (plan->balance && out->layer != NULL && out->dimensions == NULL)
		fm_layers_balance(out, f, allowed);
	return 0;
}
