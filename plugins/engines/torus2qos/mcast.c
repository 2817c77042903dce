/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One spanning tree for all groups, free of credit loops together with unicast (man 8
 * torus-2QoS, "Multicast routing").
 *
 *	+   +   +   +	A line of the first dimension through the root, from each of its
 *	|   |   |   |	switches a line of the next, and so on: from the root outwards
 *	+---+---x---+	every turn is in the order of dimensions, inwards against it, and
 *	|   |   |   |	round the root both.  Together with unicast that is three of the
 *	+   +   +   +	four turns of a loop.
 *
 * Branches cross no dateline but on rings that are cut, where it does not matter.  The
 * root lies where no switch of its plane across the last dimension is missing, so
 * that a missing switch only ever cuts lines of the last dimension.
 *
 * With a switch missing the fourth turn exists: unicast turns back behind it, into a
 * line that leads on to the root's.  Then groups need the second level, SL 8 and
 * VLs 4-7, for themselves.  (The man page deems OpenSM's tree of this kind safe; a search of
 * all channel dependencies of a 5x6 torus finds a cycle.)
 */
#include <string.h>

#include "plugins/engines/torus2qos/torus2qos.h"

struct tree {
	const struct fm_host *host;
	const struct fm_fabric *fab;
	const struct fm_arcs *arcs;
	const struct fm_grids *grids;
	const struct fm_grid *g;
	uint32_t root; /* cell */
};

/* The arc of u in dimension d, up or down, or FM_NONE. */
static fm_arc
arc_along(const struct tree *t, fm_sw u, uint32_t d, int step)
{
	for (fm_arc a = t->arcs->first[u]; a < t->arcs->first[u + 1]; a++)
		if (t->grids->arc_dim[a] == d && t->grids->arc_step[a] == step)
			return a;
	return FM_NONE;
}

/* The first arc of the way along d from cell to coordinate `to`, if all of it is there. */
static fm_arc
walk_row(const struct tree *t, uint32_t cell, uint32_t d, uint32_t to, int step)
{
	fm_arc first = FM_NONE;

	for (uint32_t i = 0; i < t->g->size[d] && fm_grid_at(t->g, cell, d) != to; i++) {
		fm_arc a = arc_along(t, t->g->cell_sw[cell], d, step);

		if (a == FM_NONE)
			return FM_NONE;
		if (first == FM_NONE)
			first = a;
		cell = fm_grid_step(t->g, cell, d, step);
	}
	return first;
}

/* Towards the root: in the last dimension that differs. */
static fm_arc
parent_arc(const struct tree *t, uint32_t cell)
{
	for (uint32_t d = t->g->n_dims; d-- > 0;) {
		uint32_t x = fm_grid_at(t->g, cell, d), to = fm_grid_at(t->g, t->root, d);
		int step = x < to ? 1 : -1;
		fm_arc a;

		if (x == to)
			continue;
		a = walk_row(t, cell, d, to, step);
		return a != FM_NONE ? a : walk_row(t, cell, d, to, -step);
	}
	return FM_NONE;
}

/* In the middle of everything, in a plane across the last dimension without a hole. */
static int
choose_root(struct tree *t, struct fm_error *err)
{
	const struct fm_grid *g = t->g;
	uint32_t last = g->n_dims - 1, middle = 0;
	uint8_t *holed;

	if (g->n_dims == 0)
		return 0;
	holed = fm_scratch_array(t->host, g->size[last], uint8_t);
	if (holed == NULL)
		return fm_no_scratch(t->host, "multicast tree", err);
	for (uint32_t cell = 0; cell < g->n_cells; cell++)
		holed[fm_grid_at(g, cell, last)] |= g->cell_sw[cell] == FM_NONE;
	for (uint32_t d = 0; d < last; d++)
		middle += g->size[d] / 2 * g->stride[d];
	for (uint32_t i = 0; i < g->size[last]; i++) {
		uint32_t away = (i + 1) / 2, z = g->size[last] / 2;

		z = (i & 1 ? z + g->size[last] - away : z + away) % g->size[last];
		if (holed[z])
			continue;
		t->root = middle + z * g->stride[last];
		return 0;
	}
	return t->host->fail(t->host, err, FM_E_TOPOLOGY,
	    "multicast: a switch is missing in each of the %u planes across the last dimension",
	    g->size[last]);
}

/* The branch of one switch, up to where there is one already. */
static int
add_branch(struct tree *t, fm_sw sw, fm_link *parent, struct fm_error *err)
{
	while (t->grids->cell[sw] != t->root && parent[sw] == FM_NONE) {
		fm_arc a = parent_arc(t, t->grids->cell[sw]);

		if (a == FM_NONE)
			return t->host->fail(t->host, err, FM_E_TOPOLOGY,
			    "multicast: the row of %s is in pieces", t->fab->sw_name[sw]);
		parent[sw] = t->arcs->link[a];
		sw = t->arcs->to[a];
	}
	return 0;
}

static int
add_members(
    struct tree *t, const struct fm_mcast_request *req, fm_link *parent, struct fm_error *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < req->n_members && rc == 0; i++) {
		fm_sw sw = t->fab->end_sw[req->members[i]];

		if (sw == FM_NONE)
			continue;
		if (&t->grids->grid[t->grids->grid_of[sw]] != t->g)
			return t->host->fail(t->host, err, FM_E_TOPOLOGY,
			    "multicast: members of one group are in pieces of the fabric that no "
			    "cable joins");
		rc = add_branch(t, sw, parent, err);
	}
	return rc;
}

int
torus_mcast_tree(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_tables *tables, const struct fm_mcast_request *req, const void *opts,
    fm_link *parent, struct fm_error *err)
{
	struct fm_arcs arcs;
	struct fm_grids grids;
	struct torus_conf conf;
	struct tree t = { .host = host, .fab = fab, .arcs = &arcs, .grids = &grids };
	fm_sw some = FM_NONE;
	int rc;

	(void)tables;
	memset(parent, 0xff, fab->n_switches * sizeof(*parent));
	for (uint32_t i = 0; i < req->n_members && some == FM_NONE; i++)
		some = fab->end_sw[req->members[i]];
	if (some == FM_NONE)
		return 0;
	if ((rc = torus_find(host, fab, opts, &arcs, &grids, &conf, err)) != 0)
		return rc;
	t.g = &grids.grid[grids.grid_of[some]];
	rc = choose_root(&t, err);
	return rc != 0 ? rc : add_members(&t, req, parent, err);
}
