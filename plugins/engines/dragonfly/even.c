/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Routes led round the fullest links where cables are missing: all that went by a lost cable goes
 * by one other (plugins/common/sssp/local_search.c).  A move makes no path longer, so that hardly a
 * route of the pattern has another way.  A pair of switches with a path that is moved goes into a
 * plane, unless it is in one, and stays there; what would close a cycle in it is refused.
 *
 * O(hops) look-ups for each path that is asked for, for the first of a pair those of all its LIDs.
 */
#include "plugins/common/paths/base_lids.h"
#include "plugins/common/sssp/local_search.h"
#include "plugins/engines/dragonfly/planes.h"

#define ENOUGH 1.1 /* of the mean, for the fullest link */

struct evening {
	struct df_planes *p;
	uint32_t allowed;
	fm_sw (*placed)[2]; /* [n_placed] pairs by the move in hand; room for n_switches */
	uint32_t n_placed;
	struct fm_error *err;
	int rc; /* of what went wrong, with err */
};

static void
begin(void *arg)
{
	struct evening *e = arg;

	e->n_placed = 0;
	e->p->n_held = 0;
}

static void
undo(void *arg)
{
	struct evening *e = arg;

	df_plane_take_back(e->p, 0);
	for (; e->n_placed > 0; e->n_placed--)
		df_plane_set_sl(
		    e->p, e->placed[e->n_placed - 1][0], e->placed[e->n_placed - 1][1], 0);
}

/* Into the first plane with room for all its routes as they were, and this one. */
static bool
place(struct evening *e, fm_sw source, fm_sw root, const fm_link *path, uint32_t n)
{
	struct df_planes *p = e->p;
	size_t held = p->n_held;

	for (uint32_t k = 0; k < e->allowed; k++) {
		if (k == p->n && (e->rc = df_plane_open(p, e->err)) != 0)
			return false;
		if (df_plane_hold_pair(p, k, source, root) && df_plane_hold(p, k, path, n)) {
			df_plane_set_sl(p, source, root, (uint8_t)(k + 1));
			e->placed[e->n_placed][0] = source;
			e->placed[e->n_placed++][1] = root;
			return true;
		}
		df_plane_take_back(p, held);
	}
	return false;
}

static bool
admit(void *arg, fm_sw source, fm_sw root, const fm_link *path, uint32_t n)
{
	struct evening *e = arg;
	uint8_t sl = df_plane_sl(e->p, source, root);

	return sl > 0 ? df_plane_hold(e->p, sl - 1u, path, n) : place(e, source, root, path, n);
}

int
df_lead_off(struct df_planes *p, struct fm_error *err)
{
	const struct fm_host *host = p->df->host;
	struct evening e = { .p = p, .err = err };
	const struct fm_admission by_planes = { &e, begin, admit, undo };
	const struct fm_local_search_rule how = { .admission = &by_planes, .enough = ENOUGH };
	struct fm_fabric base;
	uint64_t most;
	int rc;

	e.allowed = p->n > DF_EVEN_PLANES ? p->n : DF_EVEN_PLANES;
	e.allowed = e.allowed < p->allowed ? e.allowed : p->allowed;
	if (e.allowed == 0)
		return 0;
	if ((rc = fm_base_view(host, p->df->fab, &base, err)) != 0 ||
	    !fm_local_search_applies(&base))
		return rc;
	e.placed = fm_scratch_bytes(host, p->df->arcs.n_switches, sizeof(*e.placed));
	if (e.placed == NULL)
		return fm_no_scratch(host, "routes to be evened", err);
	rc = fm_local_search(host, &base, &p->df->arcs, &how, p->df->out, &most, err);
	return rc == 0 ? e.rc : rc;
}
