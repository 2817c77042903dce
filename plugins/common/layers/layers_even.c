/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finished trees made more even, route by route (plugins/common/sssp/local_search.c): trees are
 * shared by the LIDs of a switch, and where VLs take few of them they crowd links.  A path that is
 * moved stays in the layer of its pair of switches: what the dependencies of the new one would
 * close a cycle with refuses it.  What the old one held is kept, as others may hold it, too.
 *
 * O(trees * switches * hops) for the graphs of all layers, and a search for each new dependency.
 */
#include "plugins/common/layers/layers.h"

#include "plugins/common/layers/channels.h"
#include "plugins/common/sssp/local_search.h"

#define PATIENCE 2000u /* arcs looked at for one dependency */
#define ROOM 4096u     /* new dependencies of one move */

struct dependency {
	fm_arc a, b;
	unsigned layer;
};

struct evening {
	const struct fm_fabric *fab;
	const struct fm_sssp_trees *f;
	const struct fm_layers *layers;
	struct fm_channel_map map;
	struct fm_channels graph[FM_MAX_VLS]; /* of each layer */
	const fm_arc *arc_of;		      /* [n_links] */
	struct dependency *added;	      /* [ROOM] by the move in hand */
	uint32_t n_added;
};

static bool
is_source(const struct fm_fabric *fab, fm_sw s)
{
	for (fm_end e = fab->sw_first_end[s]; e < fab->sw_first_end[s + 1]; e++)
		if (fab->end_kind[e] != FM_END_SWITCH)
			return true;
	return false;
}

static void
begin(void *arg)
{
	((struct evening *)arg)->n_added = 0;
}

static void
undo(void *arg)
{
	struct evening *e = arg;

	for (; e->n_added > 0; e->n_added--) {
		const struct dependency *d = &e->added[e->n_added - 1];

		fm_channels_remove(&e->graph[d->layer], d->a, d->b);
	}
}

static bool
hold(struct evening *e, fm_arc a, fm_arc b, unsigned layer)
{
	switch (fm_channels_insert(&e->graph[layer], a, b)) {
	case FM_CHANNEL_HELD:
		return true;
	case FM_CHANNEL_ADDED:
		e->added[e->n_added++] = (struct dependency){ a, b, layer };
		return true;
	case FM_CHANNEL_REFUSED:
		break;
	}
	return false;
}

/* Pairs that go by datelines have no layer, and stay as they are. */
static bool
admit(void *arg, fm_sw source, fm_sw root, const fm_link *path, uint32_t n)
{
	struct evening *e = arg;
	unsigned sl = fm_layer_of(e->layers, e->f, e->f->first[root], source);

	if (!is_source(e->fab, source))
		return true;
	if (sl < fm_first_sl(e->layers) || e->n_added + n > ROOM)
		return false;
	for (uint32_t i = 1; i < n; i++)
		if (!hold(
			e, e->arc_of[path[i - 1]], e->arc_of[path[i]], sl - fm_first_sl(e->layers)))
			return false;
	return true;
}

/* What the paths of a tree hold in their layers. */
static void
set_tree(struct evening *e, uint32_t tree)
{
	const struct fm_arcs *arcs = e->f->arcs;
	const uint8_t *step = fm_sssp_steps(e->f, tree);

	for (fm_sw s = 0; s < arcs->n_switches; s++) {
		unsigned sl = fm_layer_of(e->layers, e->f, tree, s), first = fm_first_sl(e->layers);
		fm_arc last = FM_NONE;

		if (sl < first || !is_source(e->fab, s))
			continue;
		for (fm_sw v = s; step[v] != FM_STEP_NONE; v = arcs->to[last]) {
			fm_arc a = arcs->first[v] + step[v];

			if (last != FM_NONE)
				fm_channels_set(&e->graph[sl - first], last, a);
			last = a;
		}
	}
}

static int
build_graphs(const struct fm_host *host, struct evening *e, struct fm_error *err)
{
	const struct fm_arcs *arcs = e->f->arcs;
	fm_arc *order = fm_scratch_array(host, arcs->n_arcs, fm_arc);
	int rc = fm_channel_map_build(host, arcs, &e->map, err);

	if (rc == 0 && order == NULL)
		return fm_no_scratch(host, "layers of paths", err);
	for (fm_arc a = 0; rc == 0 && a < arcs->n_arcs; a++)
		order[a] = a;
	for (unsigned l = 0; rc == 0 && l < e->layers->n; l++)
		if ((rc = fm_channels_build(host, &e->map, &e->graph[l], err)) == 0)
			fm_channels_clear(&e->graph[l], order);
	for (uint32_t t = 0; rc == 0 && t < e->f->n_trees; t++)
		set_tree(e, t);
	for (unsigned l = 0; rc == 0 && l < e->layers->n; l++)
		fm_channels_sort(&e->graph[l]);
	e->map.patience = PATIENCE;
	return rc;
}

static int
take_memory(const struct fm_host *host, struct evening *e, struct fm_error *err)
{
	const struct fm_arcs *arcs = e->f->arcs;
	fm_arc *arc_of = fm_scratch_array(host, e->fab->n_links, fm_arc);

	e->added = fm_scratch_array(host, ROOM, struct dependency);
	if (arc_of == NULL || e->added == NULL)
		return fm_no_scratch(host, "layers of paths", err);
	for (fm_arc a = 0; a < arcs->n_arcs; a++)
		for (fm_link l = arcs->link[a]; l < arcs->link[a + 1]; l++)
			arc_of[l] = a;
	e->arc_of = arc_of;
	return build_graphs(host, e, err);
}

int
fm_layers_even(const struct fm_host *host, const struct fm_fabric *base,
    const struct fm_sssp_trees *f, const struct fm_layers *layers, const struct fm_tables *out,
    struct fm_error *err)
{
	struct evening e = { .fab = base, .f = f, .layers = layers };
	const struct fm_admission by_layers = { &e, begin, admit, undo };
	const struct fm_local_search_rule how = { .admission = &by_layers };
	uint64_t most;
	int rc;

	if (!layers->paired || layers->n == 0 || !fm_local_search_applies(base))
		return 0;
	rc = take_memory(host, &e, err);
	return rc != 0 ? rc : fm_local_search(host, base, f->arcs, &how, out, &most, err);
}
