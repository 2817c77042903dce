/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dependencies where the VL of a packet goes by the ports it passes: of a LID as a
 * whole, as deps.h finds them, from links of today to channels.
 *
 * Time: O(switches x SLs) a LID.
 */
#include <stdlib.h>

#include "core/cdg/depend.h"
#include "lib/bitset.h"

static uint32_t
channel_of_link(const struct depend *g, const struct fm_fabric *fab, fm_link l)
{
	return g->first[fab->link_to[fab->link_rev[l]]] + fab->link_port[l];
}

struct deps *
depend_deps(const struct depend *g, const struct fm_fabric *ends, const struct fm_tables *t)
{
	struct deps_side side = { ends, t, ends->max_lid };

	return deps_new(side, side, g->sl_model);
}

/* ------------------------------------------------------------------ all LIDs */

struct following {
	struct depend *g;
	const struct fm_fabric *ends;
	struct deps **deps; /* [n_workers] */
	bool failed;
};

static void
set_turn(struct depend *g, uint32_t from, uint32_t out, unsigned vl)
{
	uint32_t bit = (out - g->first[g->at[out]]) * g->n_vls + vl;
	uint64_t *word = g->next + (size_t)from * g->words + bit / 64;

	__atomic_fetch_or(word, (uint64_t)1 << (bit % 64), __ATOMIC_RELAXED);
}

bool
depend_note_deps(struct depend *g, const struct fm_fabric *ends, struct deps *deps, uint16_t lid,
    enum deps_mode mode)
{
	const struct dep *list;
	size_t n;

	if (!deps_of(deps, lid, mode, &list, &n))
		return false;
	for (size_t i = 0; i < n; i++)
		set_turn(g,
		    channel_of_link(g, ends, list[i].from / g->n_vls) * g->n_vls +
			list[i].from % g->n_vls,
		    channel_of_link(g, ends, list[i].to / g->n_vls), list[i].to % g->n_vls);
	return true;
}

static void
follow_lid(void *arg, uint32_t lid, unsigned worker)
{
	struct following *f = arg;
	fm_end e = f->ends->lid_end[lid];

	if (e != FM_NONE && f->ends->end_sw[e] != FM_NONE &&
	    !depend_note_deps(f->g, f->ends, f->deps[worker], (uint16_t)lid, DEPS_NEW))
		__atomic_store_n(&f->failed, true, __ATOMIC_RELAXED);
}

bool
depend_follow_ports(struct depend *g, const struct fm_fabric *ends, const struct fm_tables *t,
    const uint64_t *lost, struct fm_pool *workers)
{
	unsigned n = fm_pool_size(workers);
	struct following f = { .g = g, .ends = ends, .deps = calloc(n, sizeof(*f.deps)) };
	bool ok = f.deps != NULL;

	for (unsigned i = 0; ok && i < n; i++) {
		f.deps[i] = depend_deps(g, ends, t);
		ok = f.deps[i] != NULL;
		for (uint32_t c = 0; ok && lost != NULL && c < g->n_channels; c++)
			if (fm_bit_test(lost, c))
				deps_cut(f.deps[i], g->at[c], (uint8_t)(c - g->first[g->at[c]]));
	}
	if (ok)
		fm_pool_for(workers, ends->max_lid + 1u, follow_lid, &f);
	for (unsigned i = 0; f.deps != NULL && i < n; i++)
		deps_free(f.deps[i]);
	free(f.deps);
	return ok && !f.failed;
}

/* ------------------------------------------------------------------- one LID */

enum depend_result
depend_insert_deps(struct depend *g, const struct fm_fabric *ends, struct deps *deps, uint16_t lid,
    enum deps_mode mode)
{
	enum depend_result rc = DEPEND_HELD;
	const struct dep *list;
	size_t n;

	if (!deps_of(deps, lid, mode, &list, &n))
		return DEPEND_NOMEM;
	for (size_t i = 0; rc < DEPEND_CYCLE && i < n; i++)
		rc = depend_insert_turn(g, channel_of_link(g, ends, list[i].from / g->n_vls),
		    list[i].from % g->n_vls, channel_of_link(g, ends, list[i].to / g->n_vls),
		    list[i].to % g->n_vls);
	return rc;
}
