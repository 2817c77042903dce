/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A turn is an arc and one of the arcs of the switch it leads to.  For each SL
 * it gets a VL, its label: the one that packets of this SL have on the arc
 * behind it.  It is given when the first path with this SL is admitted, the
 * least that will do, and kept.
 *
 * A path is admitted with an SL when the labels of its turns never fall, rise
 * at its valleys, and stay below the number of VLs.  As labels are kept, it
 * stays so for every path ever admitted.
 *
 * All 16 SLs of a turn lie in one vector, so that a path is judged for all of
 * them at once: O(hops).
 */
#include <string.h>

#include "lib/hash.h"
#include "plugins/engines/nue/nue.h"

#define UNDO_ROOM 64 /* steps of one tree that can be undone, times switches */

/* Down, then up: here the VL must rise. */
static inline bool
is_valley(const struct nue_lanes *l, fm_arc in, fm_arc out)
{
	return !l->rank->climbs[in] && l->rank->climbs[out];
}

/* ------------------------------------------------------------------- turns */

struct opinion {
	nue_vls ok;    /* 0xff where the SL can take the path */
	nue_vls fresh; /* turns it would be the first on */
};

static struct opinion
judge_path(const struct nue_lanes *l, const fm_arc *path, uint32_t n_arcs)
{
	nue_vls vl = { 0 }, ok = ~vl, fresh = vl;

	for (uint32_t i = 1; i < n_arcs; i++) {
		nue_vls label = l->label[nue_turn(l, path[i - 1], path[i])];
		nue_vls need = vl + (uint8_t)is_valley(l, path[i - 1], path[i]);
		nue_vls unset = (nue_vls)(label == NUE_UNSET);

		vl = (label & ~unset) | (need & unset);
		ok &= (nue_vls)(vl >= need) & (nue_vls)(vl < (uint8_t)l->n_vls);
		fresh -= unset;
	}
	return (struct opinion){ ok, fresh };
}

static void
remember(struct nue_lanes *l, size_t at, unsigned sl)
{
	if (l->n_undo < l->undo_room)
		l->undo[l->n_undo] = (struct nue_undo){ .at = at, .sl = (uint8_t)sl };
	l->n_undo++;
}

/* The same for one SL; labels what is new, or changes nothing and returns false. */
static bool
commit(struct nue_lanes *l, const fm_arc *path, uint32_t n_arcs, unsigned sl)
{
	bool fresh = false;
	unsigned vl = 0;

	for (uint32_t i = 1; i < n_arcs; i++) {
		uint32_t turn = nue_turn(l, path[i - 1], path[i]);
		uint8_t label = ((uint8_t *)&l->label[turn])[sl];

		vl += is_valley(l, path[i - 1], path[i]);
		fresh |= label == NUE_UNSET;
		if (label < vl)
			return false;
		vl = label != NUE_UNSET ? label : vl;
		if (vl >= l->n_vls)
			return false;
	}
	vl = 0;
	for (uint32_t i = 1; fresh && i < n_arcs; i++) {
		uint32_t turn = nue_turn(l, path[i - 1], path[i]);
		uint8_t *label = (uint8_t *)&l->label[turn] + sl;

		vl += is_valley(l, path[i - 1], path[i]);
		if (*label == NUE_UNSET) {
			remember(l, turn, sl);
			*label = (uint8_t)vl;
		}
		vl = *label;
	}
	return true;
}

/* ------------------------------------------------------------------- undoing */

void
nue_lanes_mark(struct nue_lanes *l)
{
	l->n_undo = 0;
}

void
nue_lanes_undo(struct nue_lanes *l)
{
	uint32_t n = l->n_undo <= l->undo_room ? l->n_undo : 0;

	while (n-- > 0) {
		const struct nue_undo *u = &l->undo[n];

		if (u->at & NUE_IS_PAIR)
			l->sl[u->at & ~NUE_IS_PAIR] = u->sl;
		else
			((uint8_t *)&l->label[u->at])[u->sl] = NUE_UNSET;
	}
	l->n_undo = 0;
}

unsigned
nue_lanes_used(const struct nue_lanes *l)
{
	unsigned most = 0;

	for (uint32_t t = 0; t < l->n_turns; t++)
		for (unsigned sl = 0; sl < NUE_SLS; sl++) {
			uint8_t label = ((const uint8_t *)&l->label[t])[sl];

			most = label != NUE_UNSET && label > most ? label : most;
		}
	return most + 1;
}

/* ------------------------------------------------------------------- pairs */

/* Of the SLs that can take the path the one with the fewest new turns. */
static unsigned
choose_sl(struct opinion what)
{
	const uint8_t *ok = (const uint8_t *)&what.ok, *fresh = (const uint8_t *)&what.fresh;
	unsigned best = NUE_UNSET;

	for (unsigned sl = 0; sl < NUE_SLS; sl++)
		if (ok[sl] && (best == NUE_UNSET || fresh[sl] < fresh[best]))
			best = sl;
	return best;
}

static void
set_pair(struct nue_lanes *l, uint8_t *sl, unsigned to)
{
	remember(l, (size_t)(sl - l->sl) | NUE_IS_PAIR, *sl);
	*sl = (uint8_t)to;
}

/* The path of the tables from a switch to a LID; its length. */
static uint32_t
trace(const struct nue_lanes *l, fm_sw s, fm_sw target, uint16_t lid)
{
	const struct nue_graph *g = l->graph;
	uint32_t n = 0;

	while (s != target) {
		l->path[n] = g->port_arc[g->port_base[s] + l->lft[s][lid]];
		s = g->arcs->to[l->path[n++]];
	}
	return n;
}

/* All paths there are from s to LIDs at target: judge them (ok), or commit them to an SL. */
static bool
each_path(struct nue_lanes *l, fm_sw s, fm_sw target, nue_vls *ok, unsigned sl)
{
	const struct fm_fabric *fab = l->graph->fab;

	for (fm_end e = fab->sw_first_end[target]; e < fab->sw_first_end[target + 1]; e++)
		for (uint32_t i = 0; fab->end_lid[e] != 0 && i < 1u << fab->end_lmc[e]; i++) {
			uint16_t lid = (uint16_t)(fab->end_lid[e] + i);
			uint32_t n = l->placed[lid] ? trace(l, s, target, lid) : 0;

			if (ok != NULL)
				*ok &= judge_path(l, l->path, n).ok;
			else if (!commit(l, l->path, n, sl))
				return false;
		}
	return true;
}

/* Move the pair and all its paths, this one too, to another SL. */
static bool
move_pair(
    struct nue_lanes *l, fm_sw source, fm_sw target, const fm_arc *path, uint32_t n, uint8_t *sl)
{
	struct opinion what = judge_path(l, path, n);
	unsigned to;

	each_path(l, source, target, &what.ok, NUE_UNSET);
	each_path(l, target, source, &what.ok, NUE_UNSET);
	to = choose_sl(what);
	if (to == NUE_UNSET || !commit(l, path, n, to) || !each_path(l, source, target, NULL, to) ||
	    !each_path(l, target, source, NULL, to))
		return false;
	set_pair(l, sl, to);
	return true;
}

bool
nue_lanes_admit(
    struct nue_lanes *l, fm_sw source, fm_sw target, const fm_arc *path, uint32_t n_arcs, bool move)
{
	uint8_t *sl = nue_pair_sl(l, source, target);
	unsigned to;

	if (*sl != NUE_UNSET)
		return commit(l, path, n_arcs, *sl % NUE_SLS) ||
		    (move && !(*sl & NUE_FIXED) && move_pair(l, source, target, path, n_arcs, sl));
	to = choose_sl(judge_path(l, path, n_arcs));
	if (to == NUE_UNSET)
		return false;
	set_pair(l, sl, to);
	return commit(l, path, n_arcs, to);
}

/* -------------------------------------------------------------------- setup */

/* The turns of the escape tree are of VL 0 for all SLs. */
static void
label_escape(struct nue_lanes *l)
{
	const struct fm_arcs *arcs = l->graph->arcs;
	const fm_arc *up = l->rank->up, *reverse = l->graph->reverse;

	for (fm_arc a = 0; a < arcs->n_arcs; a++) {
		fm_sw v = arcs->to[a];

		if (up[l->graph->from[a]] != a && up[v] != reverse[a])
			continue;
		for (fm_arc b = arcs->first[v]; b < arcs->first[v + 1]; b++)
			if ((up[v] == b || up[arcs->to[b]] == reverse[b]) && !is_valley(l, a, b))
				memset(&l->label[nue_turn(l, a, b)], 0, sizeof(*l->label));
	}
}

/* By nothing but the GUIDs: whatever else changes in the fabric, these stay. */
static void
fix_pairs(struct nue_lanes *l)
{
	const struct fm_fabric *fab = l->graph->fab;

	for (fm_sw a = 0; a < fab->n_switches; a++)
		for (fm_sw b = 0; b < a; b++) {
			uint64_t h = fm_mix64(fab->sw_guid[a]) + fm_mix64(fab->sw_guid[b]);

			*nue_pair_sl(l, a, b) = (uint8_t)(fm_mix64(h) % NUE_SLS) | NUE_FIXED;
		}
}

void
nue_lanes_begin(struct nue_lanes *l, bool fixed, bool escape)
{
	size_t n = l->graph->fab->n_switches;

	memset(l->sl, NUE_UNSET, n * n);
	memset(l->placed, 0, (size_t)l->graph->fab->max_lid + 1);
	memset(l->label, NUE_UNSET, l->n_turns * sizeof(*l->label));
	if (fixed)
		fix_pairs(l);
	else /* SL 0 is for paths without valleys */
		for (uint32_t t = 0; t < l->n_turns; t++)
			*(uint8_t *)&l->label[t] = 0;
	if (escape)
		label_escape(l);
}

int
nue_lanes_new(const struct fm_host *host, const struct nue_graph *graph,
    const struct nue_rank *rank, unsigned n_vls, uint8_t *const *lft, struct nue_lanes *out,
    struct fm_error *err)
{
	const struct fm_arcs *arcs = graph->arcs;
	size_t n = arcs->n_switches;

	*out = (struct nue_lanes){ .graph = graph,
		.rank = rank,
		.n_vls = n_vls,
		.turn_first = fm_scratch_array(host, arcs->n_arcs, uint32_t),
		.turn_place = fm_scratch_array(host, arcs->n_arcs, uint32_t),
		.sl = fm_scratch_array(host, n * n, uint8_t),
		.path = fm_scratch_array(host, n, fm_arc),
		.placed = fm_scratch_array(host, (size_t)graph->fab->max_lid + 1, uint8_t),
		.undo = fm_scratch_array(host, UNDO_ROOM * n, struct nue_undo),
		.undo_room = (uint32_t)(UNDO_ROOM * n),
		.lft = lft };
	if (out->turn_first == NULL || out->turn_place == NULL || out->sl == NULL ||
	    out->path == NULL || out->placed == NULL || out->undo == NULL)
		return fm_no_scratch(host, "SLs of the pairs", err);
	for (fm_arc a = 0; a < arcs->n_arcs; a++) {
		fm_sw from = graph->from[a];

		out->turn_first[a] = out->n_turns;
		out->turn_place[a] = graph->reverse[a] - arcs->first[arcs->to[a]];
		out->n_turns += arcs->first[from + 1] - arcs->first[from];
	}
	out->label = fm_scratch_array(host, (size_t)out->n_turns + 4, nue_vls);
	if (out->label == NULL)
		return fm_no_scratch(host, "VLs of the turns", err);
	return 0;
}
