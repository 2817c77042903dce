/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Turns of a path, counted from its end: the last run down is 0, the run up
 * before it 1, then down 2, up 3, ...; a path of t turns has t / 2 valleys.  A
 * step up before a path of t turns makes t | 1, a step down the next even
 * number.
 *
 * The least turns of a shortest path of each pair are found going outward from
 * the destination; then, going inward, the most that leave every switch farther
 * out a shortest path within what all VLs allow: the room of a switch.  Where
 * steps stay within it nobody gets stuck for lack of VLs.
 *
 * O(arcs) for each destination switch, in parallel.
 */
#include <string.h>

#include "plugins/engines/nue/nue.h"

/* Turns with one more step in front. */
static unsigned
with_step(unsigned turns, bool climbs)
{
	return climbs ? turns | 1 : (turns + 1) & ~1u;
}

/* The most turns that stay within `most` with one more step in front. */
static unsigned
without_step(unsigned most, bool climbs)
{
	return (most & 1) == climbs || most == 0 ? most : most - 1;
}

static unsigned
least_turns(const struct nue_room *r, fm_sw u, const uint32_t *level, const uint8_t *least)
{
	const struct fm_arcs *arcs = r->graph->arcs;
	unsigned best = UINT8_MAX - 1;

	for (fm_arc a = arcs->first[u]; a < arcs->first[u + 1]; a++) {
		fm_sw v = arcs->to[a];
		unsigned turns;

		if (level[v] + 1 != level[u])
			continue;
		turns = with_step(least[v], r->rank->climbs[a]);
		best = turns < best ? turns : best;
	}
	return best;
}

/* What u leaves to those next on its best paths. */
static void
leave_room(
    const struct nue_room *r, fm_sw u, const uint32_t *level, const uint8_t *least, uint8_t *room)
{
	const struct fm_arcs *arcs = r->graph->arcs;

	for (fm_arc a = arcs->first[u]; a < arcs->first[u + 1]; a++) {
		fm_sw v = arcs->to[a];
		unsigned left = without_step(room[u], r->rank->climbs[a]);

		if (level[v] + 1 == level[u] && left < room[v] &&
		    with_step(least[v], r->rank->climbs[a]) == least[u])
			room[v] = (uint8_t)left;
	}
}

/* order[], level[] and least[] of one destination; how many are joined. */
static uint32_t
go_outward(const struct nue_room *r, fm_sw root, fm_sw *order, uint32_t *level, uint8_t *least)
{
	const struct fm_arcs *arcs = r->graph->arcs;
	uint32_t n = 0;

	memset(level, 0xff, arcs->n_switches * sizeof(*level));
	order[n++] = root;
	level[root] = 0;
	least[root] = 0;
	for (uint32_t head = 0; head < n; head++) {
		fm_sw v = order[head];

		if (head > 0)
			least[v] = (uint8_t)least_turns(r, v, level, least);
		for (fm_arc a = arcs->first[v]; a < arcs->first[v + 1]; a++)
			if (level[arcs->to[a]] == FM_NONE) {
				level[arcs->to[a]] = level[v] + 1;
				order[n++] = arcs->to[a];
			}
	}
	return n;
}

static void
find_room(void *arg, uint32_t root, unsigned worker)
{
	const struct nue_room *r = arg;
	size_t n = r->graph->arcs->n_switches;
	fm_sw *order = r->order + worker * n;
	uint32_t *level = r->level + worker * n, n_order;
	uint8_t *least = r->least + worker * n, *room = r->room + root * n;

	if (r->host->should_stop(r->host))
		return;
	n_order = go_outward(r, root, order, level, least);
	for (uint32_t i = 0; i < n_order; i++)
		room[order[i]] =
		    r->strict || least[order[i]] > r->most ? least[order[i]] : (uint8_t)r->most;
	while (n_order-- > 1)
		leave_room(r, order[n_order], level, least, room);
}

int
nue_room_new(const struct fm_host *host, const struct nue_graph *graph, const struct nue_rank *rank,
    struct nue_room *out, struct fm_error *err)
{
	size_t n = graph->arcs->n_switches, n_workers = host->n_workers(host);

	*out = (struct nue_room){ .host = host,
		.graph = graph,
		.rank = rank,
		.order = fm_scratch_array(host, n_workers * n, fm_sw),
		.level = fm_scratch_array(host, n_workers * n, uint32_t),
		.least = fm_scratch_array(host, n_workers * n, uint8_t),
		.room = fm_scratch_array(host, n * n, uint8_t) };
	if (out->order == NULL || out->level == NULL || out->least == NULL || out->room == NULL)
		return fm_no_scratch(host, "turns of the paths", err);
	return 0;
}

void
nue_room_make(struct nue_room *r, unsigned n_vls, bool strict)
{
	r->most = 2 * n_vls - 1;
	r->strict = strict;
	r->host->parallel_for(r->host, r->graph->arcs->n_switches, find_room, r);
}
