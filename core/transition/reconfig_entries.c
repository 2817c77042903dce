/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One VL, and every switch sends: the dependencies that follow from single entries.
 *
 * What packets of a LID depend on follows then from the next hops of each two switches in a row:
 * packets that come by link f to a switch whose next hop is link g make (f, g), whoever sent them.
 * A next hop is of the old tables, of the new, or of both, and so is the pair if its two next hops
 * have something in common:
 *
 *	GONE	    old only: not by the new tables
 *	FRESH	    new only
 *	AFTER_OLD   sent by an old next hop, met by a new one
 *	AFTER_NEW   sent by a new next hop, met by an old one; "next hop first" excludes it
 *		    (transition.h)
 *
 * All other pairs are of both tables, and are counted already (reconfig_counts.c).  The pairs of
 * these four kinds have an entry that changes at one end, so a change costs its entries times the
 * ports of a switch.  For "next hop first" it does not matter what packets have met before: one
 * that comes by a next hop that is old (or both) may have been sent there by the switch itself,
 * and has met no new entry then; one that comes by a next hop that is new only has met one.  So
 * all pairs but AFTER_NEW are possible, and those never, as for ordered dependencies in deps.c.
 *
 * A switch whose last end has gone counts as sending still.  That is too much, which does no harm
 * while no cycle comes of it.
 */
#include <stdlib.h>
#include <string.h>

#include "core/transition/reconfig_internal.h"
#include "lib/bitset.h"

enum { OLD = 1, NEW = 2, BOTH = OLD | NEW };
enum kind { GONE = 1, FRESH = 2, AFTER_OLD = 4, AFTER_NEW = 8 };

/* What a LID that changes depends on, beside the pairs of both tables. */
static const uint8_t kinds_of[] = {
	[DEPS_OLD] = GONE,
	[DEPS_NEW] = FRESH,
	[DEPS_ORDERED] = GONE | FRESH | AFTER_OLD,
	[DEPS_ALL] = GONE | FRESH | AFTER_OLD | AFTER_NEW,
};

struct entry {
	fm_sw sw;
	uint16_t lid;
};

struct pair {
	fm_link from, to;
	uint8_t kind;
};

struct reconfig_entries {
	struct reconfig_counts *k; /* the router's */
	const struct plan *prev, *p;
	const struct fm_fabric *fab;
	struct fm_acyclic *graph;     /* the reconfiguration's; NULL: cycles are not looked for */
	FM_VEC(struct entry) entries; /* that change, by LID */
	uint8_t *changes; /* [n_switches] 1: has another next hop, for the LID at hand */
	uint32_t *first;  /* [max_lid + 2] pairs of a LID */
	FM_VEC(struct pair) pairs;
	uint8_t *counted; /* [max_lid + 1] kinds of pairs of the LID */
};

void
reconfig_entries_free(struct reconfig_entries *l)
{
	if (l == NULL)
		return;
	fm_vec_fini(&l->entries);
	fm_vec_fini(&l->pairs);
	free(l->changes);
	free(l->first);
	free(l->counted);
	free(l);
}

/* ------------------------------------------------------------------- next hops */

static uint8_t
port_by(const struct plan *p, fm_sw sw, uint32_t lid)
{
	return lid <= p->top_lid ? p->tables->t.lft[sw][lid] : FM_PORT_NONE;
}

/* By which tables is the link the next hop of its switch?  OLD | NEW. */
static unsigned
age_of(const struct reconfig_entries *l, fm_link f, uint32_t lid)
{
	fm_sw sw = l->fab->link_to[l->fab->link_rev[f]];
	uint8_t port = l->fab->link_port[f];

	return (port_by(l->prev, sw, lid) == port ? OLD : 0) |
	    (port_by(l->p, sw, lid) == port ? NEW : 0);
}

/* *way: the next hops by old and by new tables, FM_NONE: none.  True: they differ. */
static bool
ways_of(const struct reconfig_entries *l, fm_sw sw, uint32_t lid, fm_link way[2])
{
	way[0] = fm_link_at(l->fab, sw, port_by(l->prev, sw, lid));
	way[1] = fm_link_at(l->fab, sw, port_by(l->p, sw, lid));
	return way[0] != way[1];
}

/* ----------------------------------------------------------------------- pairs */

static bool
add_pair(struct reconfig_entries *l, fm_link from, unsigned age, fm_link to, unsigned age_to)
{
	struct pair pair = { .from = from, .to = to };

	if ((age & age_to) == OLD)
		pair.kind = GONE;
	else if ((age & age_to) == NEW)
		pair.kind = FRESH;
	else
		pair.kind = age == OLD ? AFTER_OLD : AFTER_NEW;
	return fm_vec_push(&l->pairs, pair);
}

/* Pairs of the next hops of a switch, which differ, with all links that lead to it. */
static bool
pairs_into(struct reconfig_entries *l, fm_sw sw, uint32_t lid, const fm_link way[2])
{
	const struct fm_fabric *fab = l->fab;

	for (fm_link k = fab->sw_first_link[sw]; k < fab->sw_first_link[sw + 1]; k++) {
		fm_link from = fab->link_rev[k];
		unsigned age = age_of(l, from, lid);

		for (int i = 0; age != 0 && i < 2; i++)
			if (way[i] != FM_NONE &&
			    !add_pair(l, from, age, way[i], i == 0 ? OLD : NEW))
				return false;
	}
	return true;
}

/* Pairs of its next hops with that of the switch after it, where that does not change. */
static bool
pairs_out(struct reconfig_entries *l, uint32_t lid, const fm_link way[2])
{
	for (int i = 0; i < 2; i++) {
		fm_sw next = way[i] != FM_NONE ? l->fab->link_to[way[i]] : FM_NONE;
		fm_link on[2];

		if (next == FM_NONE || l->changes[next])
			continue; /* no switch, or the pair is listed with that one */
		ways_of(l, next, lid, on);
		if (on[1] != FM_NONE && !add_pair(l, way[i], i == 0 ? OLD : NEW, on[1], BOTH))
			return false;
	}
	return true;
}

/* The pairs of entries first .. end - 1, which are of one LID. */
static bool
list_pairs(struct reconfig_entries *l, size_t first, size_t end)
{
	const struct entry *e = l->entries.item;
	fm_link way[2];
	bool ok = true;

	for (size_t i = first; i < end; i++)
		l->changes[e[i].sw] = ways_of(l, e[i].sw, e[i].lid, way);
	for (size_t i = first; ok && i < end; i++)
		if (ways_of(l, e[i].sw, e[i].lid, way))
			ok = pairs_into(l, e[i].sw, e[i].lid, way) && pairs_out(l, e[i].lid, way);
	for (size_t i = first; i < end; i++)
		l->changes[e[i].sw] = 0;
	return ok;
}

static int
by_lid_then_switch(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;

	if (a->lid != b->lid)
		return a->lid < b->lid ? -1 : 1;
	return a->sw < b->sw ? -1 : a->sw > b->sw;
}

static bool
note_entry(struct reconfig_entries *l, struct deps *deps, fm_sw sw, uint32_t lid)
{
	return !deps_changes(deps, (uint16_t)lid) || !reconfig_is_owned(l->fab, lid) ||
	    fm_vec_push(&l->entries, ((struct entry){ sw, (uint16_t)lid }));
}

/* All entries that differ, of LIDs that change; of new LIDs all entries. */
static bool
find_entries(struct reconfig_entries *l, struct deps *deps)
{
	uint32_t top = l->prev->top_lid < l->p->top_lid ? l->prev->top_lid : l->p->top_lid;

	for (fm_sw sw = 0; sw < l->fab->n_switches; sw++) {
		const uint8_t *a = l->prev->tables->t.lft[sw], *b = l->p->tables->t.lft[sw];

		for (uint32_t lid = 1; a != b && lid <= top; lid++) {
			if (lid % 64 == 0 && lid + 63 <= top && memcmp(a + lid, b + lid, 64) == 0)
				lid += 63;
			else if (a[lid] != b[lid] && !note_entry(l, deps, sw, lid))
				return false;
		}
		for (uint32_t lid = top + 1; lid <= l->p->top_lid; lid++)
			if (b[lid] != FM_PORT_NONE && !note_entry(l, deps, sw, lid))
				return false;
	}
	if (l->entries.n > 0)
		qsort(l->entries.item, l->entries.n, sizeof(*l->entries.item), by_lid_then_switch);
	return true;
}

static bool
find_pairs(struct reconfig_entries *l)
{
	size_t at = 0, end;

	for (uint32_t lid = 0; lid <= l->fab->max_lid; lid++, at = end) {
		l->first[lid] = (uint32_t)l->pairs.n;
		for (end = at; end < l->entries.n && l->entries.item[end].lid == lid;)
			end++;
		if (!list_pairs(l, at, end))
			return false;
		l->counted[lid] = GONE;
	}
	l->first[l->fab->max_lid + 1] = (uint32_t)l->pairs.n;
	return true;
}

/* -------------------------------------------------------------------- counting */

/* False: it closes a cycle, and is not counted (l->graph), or out of memory (*ok). */
static bool
count_pair(struct reconfig_entries *l, const struct pair *pair, bool *ok)
{
	uint16_t *n = &l->k->n[reconfig_count_place(l->k, &(struct dep){ pair->from, pair->to })];

	if (*n == 0 && l->graph != NULL)
		switch (fm_acyclic_insert(l->graph, pair->from, pair->to)) {
		case FM_ACYCLIC_ADDED:
		case FM_ACYCLIC_HELD:
			break;
		case FM_ACYCLIC_CYCLE:
			return false;
		case FM_ACYCLIC_NOMEM:
			*ok = false;
			return false;
		}
	++*n;
	return true;
}

static void
uncount_pair(struct reconfig_entries *l, const struct pair *pair)
{
	uint16_t *n = &l->k->n[reconfig_count_place(l->k, &(struct dep){ pair->from, pair->to })];

	if (--*n == 0 && l->graph != NULL)
		fm_acyclic_remove(l->graph, pair->from, pair->to);
}

static void
uncount(struct reconfig_entries *l, uint32_t first, uint32_t end, unsigned kinds)
{
	for (uint32_t i = first; i < end; i++)
		if (l->pairs.item[i].kind & kinds)
			uncount_pair(l, &l->pairs.item[i]);
}

bool
reconfig_entries_set(struct reconfig *c, uint16_t lid, enum deps_mode mode, bool *fits)
{
	struct reconfig_entries *l = c->local;
	uint32_t first = l->first[lid], end = l->first[lid + 1];
	unsigned more = kinds_of[mode] & ~l->counted[lid], less = l->counted[lid] & ~kinds_of[mode];
	bool ok = true;

	*fits = true;
	uncount(l, first, end, less);
	for (uint32_t i = first; *fits && i < end; i++) {
		if ((l->pairs.item[i].kind & more) == 0 || count_pair(l, &l->pairs.item[i], &ok))
			continue;
		*fits = false;
		uncount(l, first, i, more);
	}
	for (uint32_t i = first; ok && !*fits && i < end; i++)
		if (l->pairs.item[i].kind & less)
			count_pair(l, &l->pairs.item[i], &ok); /* it was counted before: no cycle */
	if (*fits)
		l->counted[lid] = kinds_of[mode];
	return ok;
}

void
reconfig_entries_note(struct reconfig *c, enum deps_mode mode)
{
	const struct reconfig_entries *l = c->local;

	memset(c->bits, 0, c->row[l->fab->n_links] * sizeof(*c->bits));
	reconfig_note_counted(c, l->k); /* with the old pairs of LIDs that change */
	for (size_t i = 0; i < l->pairs.n; i++) {
		const struct pair *pair = &l->pairs.item[i];
		size_t at = reconfig_count_place(l->k, &(struct dep){ pair->from, pair->to });

		if (pair->kind & kinds_of[mode])
			fm_bit_set(c->bits, at);
	}
}

bool
reconfig_entries_use_graph(struct reconfig *c)
{
	struct reconfig_entries *l = c->local;
	const struct fm_fabric *fab = l->fab;
	bool ok = true;

	for (fm_link f = 0; ok && f < fab->n_links; f++) {
		const uint16_t *n = l->k->n + l->k->row[f] * 64;
		fm_sw to = fab->link_to[f];

		for (fm_link g = fab->sw_first_link[to]; ok && g < fab->sw_first_link[to + 1]; g++)
			if (n[g - fab->sw_first_link[to]] > 0)
				ok = fm_acyclic_insert(c->graph, f, g) <= FM_ACYCLIC_HELD;
	}
	l->graph = c->graph;
	return ok;
}

/* ------------------------------------------------- counts of prev to those of today */

/* Do the counts of prev serve? */
static bool
serve(const struct reconfig_counts *k, const struct plan *prev, const struct reconfig *c)
{
	return k != NULL && k->plan == prev->number && k->n_vls == 1 && c->n_vls == 1 &&
	    k->snap->fab.n_switches == c->fab->n_switches &&
	    memchr(k->source, 0, c->fab->n_switches) == NULL;
}

/* Count LIDs that have got an owner since (by 1), or take out those that lost it (by -1). */
static bool
count_owners(struct reconfig_counts *k, const struct fm_fabric *with,
    const struct fm_fabric *without, const struct plan *tables, int by, const uint64_t *but)
{
	struct deps *d = NULL;
	bool ok = true;

	for (uint32_t lid = 1; ok && lid <= with->max_lid; lid++) {
		if (!reconfig_is_owned(with, lid) || reconfig_is_owned(without, lid) ||
		    (but != NULL && fm_bit_test(but, lid)))
			continue;
		d = d != NULL ? d : reconfig_deps_by(k, tables);
		ok = d != NULL && reconfig_count_lid(k, d, (uint16_t)lid, by);
	}
	deps_free(d);
	return ok;
}

/* A new link that entries of prev lead over: LIDs with an owner before and after depend on it from
 * now on. */
static void
count_new_link(struct reconfig_entries *l, const struct fm_fabric *was, fm_link link)
{
	const struct fm_fabric *fab = l->fab;
	fm_sw sw = fab->link_to[fab->link_rev[link]], next = fab->link_to[link];
	bool ok = true; /* no cycles are looked for yet */

	for (uint32_t lid = 1; lid <= l->prev->top_lid; lid++) {
		fm_link on;

		if (port_by(l->prev, sw, lid) != fab->link_port[link] ||
		    !reconfig_is_owned(was, lid) || !reconfig_is_owned(fab, lid))
			continue;
		for (fm_link k = fab->sw_first_link[sw]; k < fab->sw_first_link[sw + 1]; k++)
			if (age_of(l, fab->link_rev[k], lid) & OLD)
				count_pair(l, &(struct pair){ fab->link_rev[k], link, 0 }, &ok);
		on = fm_link_at(fab, next, port_by(l->prev, next, lid));
		/* a pair with a link that is new as well is counted there */
		if (on != FM_NONE &&
		    reconfig_has_link(was, next, fab->link_to[on], fab->link_port[on]))
			count_pair(l, &(struct pair){ link, on, 0 }, &ok);
	}
}

/* The counts of prev for the links and owners there are now.  LIDs without an owner before count by
 * their old entries if they change, else by the new ones. */
static bool
lead_counts(struct router *r, struct reconfig_entries *l, struct reconfig *c, uint64_t *changed)
{
	struct snapshot *was = snapshot_get(r->counts->snap);
	const struct fm_fabric *old = &was->fab, *now = l->fab;
	bool ok = reconfig_count_missing(r->counts, l->prev) &&
	    count_owners(r->counts, old, now, l->prev, -1, NULL) &&
	    reconfig_renumber_counts(r, l->p->snap);

	l->k = r->counts;
	for (fm_link k = 0; ok && l->k != NULL && k < now->n_links; k++)
		if (!reconfig_has_link(
			old, now->link_to[now->link_rev[k]], now->link_to[k], now->link_port[k]))
			count_new_link(l, old, k);
	for (size_t i = 0; i < c->lids.n; i++)
		fm_bit_set(changed, c->lids.item[i]);
	ok = ok && (l->k == NULL || count_owners(l->k, now, old, l->p, 1, changed));
	for (size_t w = 0; w < FM_BITSET_WORDS(now->max_lid + 2u); w++)
		changed[w] = ~changed[w]; /* the others */
	ok = ok && (l->k == NULL || count_owners(l->k, now, old, l->prev, 1, changed));
	snapshot_put(was);
	return ok;
}

bool
reconfig_entries_begin(
    struct router *r, const struct plan *prev, const struct plan *p, struct reconfig *c)
{
	size_t n_lids = c->fab->max_lid + 2u;
	uint64_t *changed;
	struct reconfig_entries *l;
	bool ok;

	if (!serve(r->counts, prev, c))
		return true;
	changed = calloc(FM_BITSET_WORDS(n_lids), sizeof(*changed));
	l = calloc(1, sizeof(*l));
	ok = changed != NULL && l != NULL;
	if (ok) {
		*l = (struct reconfig_entries){ .prev = prev, .p = p, .fab = c->fab };
		l->changes = calloc(c->fab->n_switches + 1u, 1);
		l->first = malloc(n_lids * sizeof(*l->first));
		l->counted = calloc(n_lids, 1);
		ok = l->changes != NULL && l->first != NULL && l->counted != NULL &&
		    lead_counts(r, l, c, changed);
	}
	if (ok && l->k != NULL)
		ok = find_entries(l, c->deps) && find_pairs(l);
	free(changed);
	if (ok && l->k != NULL) {
		c->local = l;
		return true;
	}
	if (!ok)
		reconfig_counts_forget(r);
	reconfig_entries_free(l);
	return ok;
}

/* -------------------------------------------------------------------- the end */

bool
reconfig_entries_is_exact(const struct reconfig *c)
{
	const struct fm_fabric *fab = c->fab;

	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		bool sends = fab->sw_first_link[sw] == fab->sw_first_link[sw + 1];

		for (fm_end e = fab->sw_first_end[sw]; !sends && e < fab->sw_first_end[sw + 1]; e++)
			sends = fab->end_kind[e] != FM_END_SWITCH;
		if (!sends)
			return false;
	}
	return true;
}

bool
reconfig_entries_end(struct router *r, struct reconfig *c, const struct plan *p, bool all_stay)
{
	bool fits, ok = true;

	c->local->graph = NULL;
	for (size_t i = 0; ok && i < c->lids.n; i++) {
		uint16_t lid = c->lids.item[i];

		ok = reconfig_entries_set(
		    c, lid, all_stay || c->mark[lid] == KEEPS_OLD ? DEPS_OLD : DEPS_NEW, &fits);
	}
	return ok && (!r->check_repairs || reconfig_check_counts(c->local->k, p));
}
