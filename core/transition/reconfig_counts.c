/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For each dependency, the number of LIDs that have it.
 *
 * The dependencies of the LIDs that do not change are then all counts but those of the LIDs that
 * change, so an event costs what it changes and not a pass over all LIDs.  Counts belong to one
 * plan.  After a reconfiguration the LIDs that it was about are `missing` until they are asked for.
 *
 *	touched	 LIDs whose dependencies may differ from those of the plan before: with entries
 *		 that change or that lead over a link that is lost or new, or with another
 *		 owner.  The counts of all others hold.
 *	sources	 switches with ends that send.  If there are fewer than there were the counts are
 *		 too high, which does no harm while no cycle comes of it (reconfig_steps.c).
 *		 With several VLs replies go by each end, so the ends have to be the same.
 *
 * Memory: two bytes for each (link, VL) and (link, VL) of the switch after it.
 */
#include <stdlib.h>
#include <string.h>

#include "core/graph/tables_vls.h"
#include "core/transition/reconfig_internal.h"
#include "lib/bitset.h"
#include "lib/error.h"
#include "lib/log.h"

#define WORDS_MOST (1u << 19) /* of 64 counts: 64 MB */

void
reconfig_counts_free(struct reconfig_counts *k)
{
	if (k == NULL)
		return;
	snapshot_put(k->snap);
	free(k->source);
	free(k->row);
	free(k->n);
	fm_vec_fini(&k->missing);
	free(k);
}

void
reconfig_counts_forget(struct router *r)
{
	reconfig_counts_free(r->counts);
	r->counts = NULL;
}

static bool
has_source(const struct fm_fabric *fab, fm_sw sw)
{
	for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++)
		if (fab->end_kind[e] != FM_END_SWITCH)
			return true;
	return false;
}

size_t *
reconfig_rows(const struct fm_fabric *fab, uint32_t n_vls)
{
	uint32_t n = fab->n_links * n_vls;
	size_t words = 0, *row = malloc((n + 1) * sizeof(*row));

	for (uint32_t v = 0; row != NULL && v < n; v++) {
		fm_sw to = fab->link_to[v / n_vls];
		uint32_t slots = fab->sw_first_link[to + 1] - fab->sw_first_link[to];

		row[v] = words;
		words += FM_BITSET_WORDS((size_t)slots * n_vls);
	}
	if (row != NULL)
		row[n] = words;
	return row;
}

/* *out NULL: there are too many dependencies to count.  False: out of memory. */
static bool
counts_new(
    struct snapshot *snap, uint32_t n_vls, enum verify_sl_model model, struct reconfig_counts **out)
{
	const struct fm_fabric *fab = &snap->fab;
	struct reconfig_counts *k = calloc(1, sizeof(*k));
	uint32_t n = fab->n_links * n_vls;

	*out = NULL;
	if (k == NULL)
		return false;
	k->snap = snapshot_get(snap);
	k->n_vls = n_vls;
	k->model = model;
	k->row = reconfig_rows(fab, n_vls);
	k->source = calloc(fab->n_switches + 1, 1);
	if (k->row != NULL && k->source != NULL && k->row[n] > WORDS_MOST) {
		reconfig_counts_free(k);
		return true;
	}
	if (k->row != NULL && k->source != NULL)
		k->n = calloc(k->row[n] * 64 + 1, sizeof(*k->n));
	if (k->n == NULL) {
		reconfig_counts_free(k);
		return false;
	}
	for (fm_sw sw = 0; sw < fab->n_switches;
	     sw++) /* no packets come from a switch that is gone */
		k->source[sw] =
		    has_source(fab, sw) || fab->sw_first_link[sw] == fab->sw_first_link[sw + 1];
	*out = k;
	return true;
}

/* ------------------------------------------------------------------- counting */

size_t
reconfig_count_place(const struct reconfig_counts *k, const struct dep *d)
{
	const struct fm_fabric *fab = &k->snap->fab;
	fm_link first = fab->sw_first_link[fab->link_to[d->from / k->n_vls]];

	return k->row[d->from] * 64 + d->to - first * k->n_vls;
}

bool
reconfig_count_lid(struct reconfig_counts *k, struct deps *d, uint16_t lid, int by)
{
	const struct dep *list;
	size_t n;

	if (!deps_of(d, lid, DEPS_NEW, &list, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		uint16_t *at = &k->n[reconfig_count_place(k, &list[i])];

		if (by > 0 || *at > 0)
			*at = (uint16_t)(*at + by);
	}
	return true;
}

struct deps *
reconfig_deps_by(const struct reconfig_counts *k, const struct plan *p)
{
	struct deps_side side = { &k->snap->fab, &p->tables->t, p->top_lid };
	struct deps *d = deps_new(side, side, k->model);

	if (d != NULL)
		deps_use_sources(d, k->source);
	return d;
}

bool
reconfig_count_missing(struct reconfig_counts *k, const struct plan *p)
{
	struct deps *d;
	bool ok;

	if (k->missing.n == 0)
		return true;
	d = reconfig_deps_by(k, p);
	ok = d != NULL;
	for (size_t i = 0; ok && i < k->missing.n; i++)
		if (reconfig_is_owned(&k->snap->fab, k->missing.item[i]))
			ok = reconfig_count_lid(k, d, k->missing.item[i], 1);
	deps_free(d);
	k->missing.n = 0;
	return ok;
}

static bool
count_all(struct reconfig_counts *k, const struct plan *p)
{
	struct deps *d = reconfig_deps_by(k, p);
	bool ok = d != NULL;

	for (uint32_t lid = 1; ok && lid <= k->snap->fab.max_lid; lid++)
		if (reconfig_is_owned(&k->snap->fab, lid))
			ok = reconfig_count_lid(k, d, (uint16_t)lid, 1);
	deps_free(d);
	return ok;
}

int
reconfig_prepare(struct router *r, struct plan *p, struct fm_error *err)
{
	struct reconfig_counts *k = r->counts;
	bool ok = true;

	if (k != NULL && k->plan == p->number)
		ok = reconfig_count_missing(k, p);
	else if (p->tables != NULL && p->verdict.credit_loops == 0 && (ok = levels_look(p)) &&
	    !p->levels->apply) {
		enum verify_sl_model model = plan_sl_model(r, p);
		struct deps *d = deps_new(deps_side(p), deps_side(p), model);

		reconfig_counts_forget(r);
		ok = d != NULL && counts_new(p->snap, deps_n_vls(d), model, &r->counts);
		deps_free(d);
		k = r->counts;
		if (ok && k != NULL)
			ok = count_all(k, p);
		if (k != NULL)
			k->plan = p->number;
	}
	if (!ok)
		reconfig_counts_forget(r);
	return ok ? 0 : fm_fail(err, FM_E_RESOURCE, "out of memory for the order of tables");
}

/* ------------------------------------------------------------------- a change */

static bool
same_ends(const struct fm_fabric *a, const struct fm_fabric *b)
{
	size_t n = a->n_ends;

	return n == b->n_ends && memcmp(a->end_sw, b->end_sw, n * sizeof(*a->end_sw)) == 0 &&
	    memcmp(a->end_port, b->end_port, n) == 0 && memcmp(a->end_kind, b->end_kind, n) == 0 &&
	    memcmp(a->end_lid, b->end_lid, n * sizeof(*a->end_lid)) == 0 &&
	    memcmp(a->end_lmc, b->end_lmc, n) == 0;
}

/* Do the counts of prev serve for a change to p? */
static bool
serve(const struct reconfig_counts *k, const struct plan *prev, const struct plan *p,
    const struct reconfig *c)
{
	const struct fm_fabric *now = &p->snap->fab;

	if (k == NULL || k->plan != prev->number || k->model != c->model || k->n_vls != c->n_vls ||
	    k->snap->fab.n_switches != now->n_switches || !reconfig_same_sls(prev, p) ||
	    !plan_same_vls(prev, p))
		return false;
	if (c->lids.n > now->max_lid / 2u)
		return false; /* few do not change: counting these anew is as quick */
	if (c->n_vls > 1)
		return same_ends(&k->snap->fab, now);
	for (fm_sw sw = 0; sw < now->n_switches; sw++)
		if (!k->source[sw] && has_source(now, sw))
			return false;
	return true;
}

static void
mark_column(uint64_t *touched, const struct plan *prev, fm_sw sw, uint8_t port)
{
	for (uint32_t lid = 1; lid <= prev->top_lid; lid++)
		if (prev->tables->t.lft[sw][lid] == port)
			fm_bit_set(touched, lid);
}

/* Mark LIDs whose entries lead by links that a has and b has not. */
static void
mark_links(uint64_t *touched, const struct plan *prev, const struct fm_fabric *a,
    const struct fm_fabric *b)
{
	for (fm_sw sw = 0; sw < a->n_switches; sw++)
		for (fm_link l = a->sw_first_link[sw]; l < a->sw_first_link[sw + 1]; l++)
			if (!reconfig_has_link(b, sw, a->link_to[l], a->link_port[l]))
				mark_column(touched, prev, sw, a->link_port[l]);
}

/* The LIDs that are touched (above), a bit each, malloced.  NULL: out of memory. */
static uint64_t *
find_touched(const struct reconfig_counts *k, const struct plan *prev, const struct plan *p,
    const struct reconfig *c)
{
	uint64_t *touched = calloc(FM_BITSET_WORDS(UINT16_MAX + 1), sizeof(*touched));
	const struct fm_fabric *was = &k->snap->fab, *now = &p->snap->fab;

	if (touched == NULL)
		return NULL;
	for (uint32_t lid = 1; lid <= was->max_lid || lid <= now->max_lid; lid++)
		if (reconfig_is_owned(was, lid) != reconfig_is_owned(now, lid) ||
		    (lid <= p->top_lid && deps_changes(c->deps, (uint16_t)lid)))
			fm_bit_set(touched, lid);
	mark_links(touched, prev, was, now);
	mark_links(touched, prev, now, was);
	return touched;
}

static bool
take_out(struct reconfig_counts *k, const struct plan *prev, const uint64_t *touched)
{
	struct deps *d = reconfig_deps_by(k, prev);
	bool ok = d != NULL;

	FM_EACH_BIT (lid, touched, UINT16_MAX + 1)
		if (ok && reconfig_is_owned(&k->snap->fab, (uint32_t)lid))
			ok = reconfig_count_lid(k, d, (uint16_t)lid, -1);
	deps_free(d);
	return ok;
}

/* ------------------------------------------------------------- other links */

/* The link of now that is link l of was, FM_NONE. */
static fm_link
link_now(const struct fm_fabric *was, fm_link l, const struct fm_fabric *now)
{
	fm_link is = fm_link_at(now, was->link_to[was->link_rev[l]], was->link_port[l]);

	return is != FM_NONE && now->link_to[is] == was->link_to[l] ? is : FM_NONE;
}

/* Copy the counts of one vertex. */
static void
move_row(const struct reconfig_counts *from, struct reconfig_counts *to, const fm_link *map,
    uint32_t vertex)
{
	const struct fm_fabric *was = &from->snap->fab, *now = &to->snap->fab;
	uint32_t n_vls = from->n_vls, link = vertex / n_vls;
	fm_sw sw = was->link_to[link];
	fm_link first = was->sw_first_link[sw], first_now = now->sw_first_link[sw];
	uint32_t n = (was->sw_first_link[sw + 1] - first) * n_vls;
	const uint16_t *at = from->n + from->row[vertex] * 64;
	uint16_t *put = to->n + to->row[map[link] * n_vls + vertex % n_vls] * 64;

	for (uint32_t i = 0; i < n; i++)
		if (at[i] > 0 && map[first + i / n_vls] != FM_NONE)
			put[(map[first + i / n_vls] - first_now) * n_vls + i % n_vls] = at[i];
}

bool
reconfig_renumber_counts(struct router *r, struct snapshot *snap)
{
	struct reconfig_counts *k = r->counts, *to = NULL;
	const struct fm_fabric *was = &k->snap->fab;
	fm_link *map = malloc((was->n_links + 1) * sizeof(*map));
	bool ok = map != NULL && counts_new(snap, k->n_vls, k->model, &to);

	for (fm_link l = 0; ok && l < was->n_links; l++)
		map[l] = link_now(was, l, &snap->fab);
	for (uint32_t v = 0; ok && to != NULL && v < was->n_links * k->n_vls; v++)
		if (map[v / k->n_vls] != FM_NONE)
			move_row(k, to, map, v);
	if (ok && to != NULL)
		memcpy(to->source, k->source, was->n_switches);
	free(map);
	reconfig_counts_free(k);
	r->counts = to;
	return ok;
}

/* -------------------------------------------------------------- those that stay */

void
reconfig_note_counted(struct reconfig *c, const struct reconfig_counts *k)
{
	size_t words = k->row[deps_n_vertices(c->deps)];

	for (size_t w = 0; w < words; w++)
		for (unsigned i = 0; i < 64; i++)
			c->bits[w] |= (uint64_t)(k->n[w * 64 + i] > 0) << i;
}

/* From the counts of prev to those of all LIDs of p that do not change. */
static bool
lead_counts(struct router *r, const struct plan *prev, const struct plan *p, struct reconfig *c)
{
	uint64_t *touched = find_touched(r->counts, prev, p, c);
	bool ok = touched != NULL && reconfig_count_missing(r->counts, prev) &&
	    take_out(r->counts, prev, touched) && reconfig_renumber_counts(r, p->snap);
	struct deps *d = ok && r->counts != NULL ? reconfig_deps_by(r->counts, p) : NULL;

	ok = ok && (r->counts == NULL || d != NULL);
	FM_EACH_BIT (lid, touched, ok && r->counts != NULL ? UINT16_MAX + 1 : 0)
		if (ok && reconfig_is_owned(&p->snap->fab, (uint32_t)lid) &&
		    !deps_changes(c->deps, (uint16_t)lid))
			ok = reconfig_count_lid(r->counts, d, (uint16_t)lid, 1);
	deps_free(d);
	free(touched);
	return ok;
}

/* Count all LIDs that do not change, one by one. */
static bool
count_staying(struct router *r, const struct plan *prev, const struct plan *p, struct reconfig *c)
{
	struct reconfig_counts *k;
	bool ok = true;

	reconfig_counts_forget(r);
	if (!reconfig_same_sls(prev, p) || !plan_same_vls(prev, p))
		return true;
	if (!counts_new(p->snap, c->n_vls, c->model, &r->counts))
		return false;
	k = r->counts;
	for (uint32_t lid = 1; ok && k != NULL && lid <= c->fab->max_lid; lid++)
		if (reconfig_is_owned(c->fab, lid) && !deps_changes(c->deps, (uint16_t)lid))
			ok = reconfig_count_lid(k, c->deps, (uint16_t)lid, 1);
	return ok;
}

/* For tests: do the counts have all that the LIDs depend on, looked at one by one? */
static bool
check_counts(struct reconfig *c, const struct reconfig_counts *k)
{
	const struct dep *list;
	size_t n;

	for (uint32_t lid = 1; lid <= c->fab->max_lid; lid++) {
		if (!reconfig_is_owned(c->fab, lid) || deps_changes(c->deps, (uint16_t)lid))
			continue;
		if (!deps_of(c->deps, (uint16_t)lid, DEPS_NEW, &list, &n))
			return false;
		for (size_t i = 0; i < n; i++)
			if (k->n[reconfig_count_place(k, &list[i])] == 0)
				log_err("route",
				    "a dependency of LID %u is not counted (a bug): from link %u "
				    "to %u",
				    lid, list[i].from / k->n_vls, list[i].to / k->n_vls);
	}
	return true;
}

bool
reconfig_check_counts(const struct reconfig_counts *k, const struct plan *p)
{
	struct reconfig_counts *anew = NULL;
	bool ok = counts_new(k->snap, k->n_vls, k->model, &anew);
	size_t n;

	if (!ok || anew == NULL)
		return ok;
	memcpy(anew->source, k->source, k->snap->fab.n_switches);
	ok = count_all(anew, p);
	n = 64 * k->row[k->snap->fab.n_links * k->n_vls];
	for (size_t i = 0; ok && i < n; i++)
		if (k->n[i] != anew->n[i])
			log_err("route",
			    "place %zu of the dependencies: %u are counted, there are %u "
			    "(a bug)",
			    i, k->n[i], anew->n[i]);
	reconfig_counts_free(anew);
	return ok;
}

bool
reconfig_note_staying(struct router *r, const struct plan *prev, const struct plan *p,
    struct reconfig *c, bool *noted)
{
	bool ok;

	c->counted = serve(r->counts, prev, p, c);
	ok = c->counted ? lead_counts(r, prev, p, c) : count_staying(r, prev, p, c);
	if (!ok)
		reconfig_counts_forget(r);
	*noted = r->counts != NULL;
	if (!ok || !*noted)
		return ok;
	r->counts->plan = 0;
	for (size_t i = 0; ok && i < c->lids.n; i++)
		ok = fm_vec_push(&r->counts->missing, c->lids.item[i]);
	reconfig_note_counted(c, r->counts);
	if (ok && c->counted && r->check_repairs)
		ok = check_counts(c, r->counts);
	return ok;
}

void
reconfig_counts_end(struct router *r, const struct plan *p)
{
	struct reconfig_counts *k = r->counts;

	if (k == NULL || k->plan != 0)
		return;
	if (p != NULL && p->snap == k->snap)
		k->plan = p->number;
	else
		reconfig_counts_forget(r);
}

void
reconfig_counts_keep(struct router *r, const struct plan *prev, const struct plan *p)
{
	if (r->counts != NULL && r->counts->plan == prev->number)
		r->counts->plan = p->number;
}
