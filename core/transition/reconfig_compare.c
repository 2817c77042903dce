/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What two plans have in common: links, SLs, and paths that are whole by both.
 */
#include <string.h>

#include "core/graph/tables_vls.h"
#include "core/transition/reconfig_internal.h"

/* ------------------------------------------------------------------- links */

bool
reconfig_has_link(const struct fm_fabric *fab, fm_sw sw, fm_sw to, uint8_t port)
{
	if (sw >= fab->n_switches)
		return false;
	for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++)
		if (fab->link_port[l] == port && fab->link_to[l] == to)
			return true;
	return false;
}

/* Has the one a link that the other has not?  Both list those of a switch in the same order. */
static bool
has_more_links(const struct fm_fabric *a, const struct fm_fabric *b)
{
	for (fm_sw sw = 0; sw < a->n_switches; sw++) {
		fm_link at = sw < b->n_switches ? b->sw_first_link[sw] : 0;
		fm_link end = sw < b->n_switches ? b->sw_first_link[sw + 1] : 0;

		for (fm_link l = a->sw_first_link[sw]; l < a->sw_first_link[sw + 1]; l++, at++) {
			while (at < end &&
			    (b->link_to[at] != a->link_to[l] ||
				b->link_port[at] != a->link_port[l]))
				at++;
			if (at == end)
				return true;
		}
	}
	return false;
}

struct deps *
reconfig_deps(const struct reconfig *c)
{
	struct deps_side old = deps_side(c->prev), now = deps_side(c->p);

	if (c->fab != c->usable) {
		old.fab = &c->was;
		now.fab = c->fab;
	}
	return deps_new(old, now, c->model);
}

enum plan_change_kind
reconfig_kind(const struct plan *prev, const struct plan *p, bool is_asked_for)
{
	const struct fm_fabric *was = &prev->snap->fab, *now = &p->snap->fab;
	bool is_other = strcmp(prev->engine, p->engine) != 0;

	/* tables that could not be mended leave somebody cut off, as a loss does */
	if (has_more_links(was, now) || (p->mended && is_other))
		return PLAN_LOSS;
	if ((is_asked_for && !p->mended) || is_other)
		return PLAN_ENGINE;
	return has_more_links(now, was) ? PLAN_RECOVERY : PLAN_REBALANCE;
}

/* --------------------------------------------------------------------- SLs */

bool
reconfig_same_sls(const struct plan *was, const struct plan *now)
{
	uint32_t n_was = was->snap->fab.n_switches, n_now = now->snap->fab.n_switches;

	return tables_same_sls(&was->tables->t, &now->tables->t, n_was < n_now ? n_was : n_now,
	    (was->top_lid < now->top_lid ? was->top_lid : now->top_lid) + 1u);
}

/* ------------------------------------------------------------------- paths */

enum { UNKNOWN, ARRIVES, STRAYS };

/* Follow entries from sw to where it is known whether they arrive. */
static uint8_t
look_ahead(
    const struct reconfig *c, const struct plan *p, fm_sw sw, uint16_t lid, const uint8_t *known)
{
	fm_end end = c->usable->lid_end[lid];

	for (uint32_t n = 0; n < c->usable->n_switches && sw < p->snap->fab.n_switches; n++) {
		uint8_t port = p->tables->t.lft[sw][lid];
		fm_link l = fm_link_at(c->usable, sw, port);

		if (known[sw] != UNKNOWN)
			return known[sw];
		if (l == FM_NONE)
			return sw == c->usable->end_sw[end] && port == c->usable->end_port[end]
			    ? ARRIVES
			    : STRAYS;
		sw = c->usable->link_to[l];
	}
	return STRAYS;
}

/* From which switches does p lead to the LID?  known: [n_switches].  O(switches). */
static void
find_arrivals(const struct reconfig *c, const struct plan *p, uint16_t lid, uint8_t *known)
{
	memset(known, UNKNOWN, c->usable->n_switches);
	for (fm_sw from = 0; from < c->usable->n_switches; from++) {
		uint8_t is = look_ahead(c, p, from, lid, known);

		for (fm_sw sw = from; sw != FM_NONE && known[sw] == UNKNOWN;) {
			fm_link l = sw < p->snap->fab.n_switches
			    ? fm_link_at(c->usable, sw, p->tables->t.lft[sw][lid])
			    : FM_NONE;

			known[sw] = is;
			sw = l != FM_NONE ? c->usable->link_to[l] : FM_NONE;
		}
	}
}

bool
reconfig_old_path_is_whole(const struct reconfig *c, uint16_t lid)
{
	uint32_t n = c->usable->n_switches;
	uint8_t *now = c->arrivals, *before = c->arrivals + n;

	if (lid > c->prev->top_lid)
		return false;
	find_arrivals(c, c->p, lid, now);
	find_arrivals(c, c->prev, lid, before);
	for (fm_sw sw = 0; sw < n; sw++)
		if (now[sw] == ARRIVES && before[sw] != ARRIVES)
			return false;
	return true;
}

bool
reconfig_keep_old_path(const struct reconfig *c, uint16_t lid, uint8_t *column)
{
	uint32_t n = c->usable->n_switches;
	uint8_t *now = c->arrivals, *before = c->arrivals + n;
	bool any = false;

	if (lid > c->prev->top_lid)
		return false;
	find_arrivals(c, c->p, lid, now);
	find_arrivals(c, c->prev, lid, before);
	for (fm_sw sw = 0; sw < n; sw++) {
		bool keeps = before[sw] == ARRIVES || now[sw] != ARRIVES;
		uint8_t was = c->prev->tables->t.lft[sw][lid], is = c->p->tables->t.lft[sw][lid];

		any = any || (keeps && was != is);
		if (column != NULL)
			column[sw] = keeps ? was : is;
	}
	return any;
}
