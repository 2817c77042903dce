/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dependencies of classes: packets that left u by port p go on by the ports of
 * the mask of the switch behind it.
 *
 * Most need not be noted.  Switches have a *level*: hops to the nearest switch
 * with a host.  Turns up-up, up-down and down-down between levels have no
 * cycle, all of them together; they are taken as made, except back to where
 * one came from.  Only the other turns are noted: those that go up after down,
 * and those from or to a switch of the same level.  On a fat tree there are
 * none, and nothing is left to be shown.  Levels are a guess, which makes this
 * fast and not more.
 *
 * So there may be dependencies too many, never too few: if they are free of
 * cycles so are the true ones.  If not, verify_class_exact.c notes the true ones.
 *
 * That takes knowing who carries packets.  Classes with ends: nearly every
 * switch does, so it is asked only of those that make a turn to be noted.
 * Switches without ends have one LID, as a rule, and routes to it from
 * switches that no packet of an end passes are often not up and then down.
 * There the packets of the sources are followed.
 */
#include <string.h>

#include "core/verify/verify_class.h"

#define MOST_ASKED 256 /* switches of a class that are looked at by themselves */

/* After these ports every turn is taken as made. */
static void
find_free_ports(struct classes *k)
{
	const struct fm_fabric *fab = k->j->fab;

	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++) {
			const struct class_edge *e = &k->edge[l];
			uint32_t n = fab->sw_first_link[e->to + 1] - fab->sw_first_link[e->to];

			if ((uint32_t)__builtin_popcountll(k->up[e->to] | k->down[e->to]) == n)
				k->free[sw] |= k->up[sw] & (uint64_t)1 << (e->port - 1);
		}
}

bool
verify_class_levels(struct classes *k)
{
	const struct fm_fabric *fab = k->j->fab;
	uint32_t n = fab->n_switches, *level = malloc((n + 1) * sizeof(*level));
	fm_sw *queue = malloc((n + 1) * sizeof(*queue));
	bool ok;

	k->up = calloc(n + 1, sizeof(*k->up));
	k->down = calloc(n + 1, sizeof(*k->down));
	k->free = calloc(n + 1, sizeof(*k->free));
	ok = level != NULL && queue != NULL && k->up != NULL && k->down != NULL && k->free != NULL;
	if (ok)
		snapshot_find_levels(fab, level, queue);
	for (fm_sw sw = 0; ok && sw < n; sw++)
		for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++) {
			uint64_t bit = (uint64_t)1 << (fab->link_port[l] - 1);

			if (level[fab->link_to[l]] > level[sw])
				k->up[sw] |= bit;
			else if (level[fab->link_to[l]] < level[sw])
				k->down[sw] |= bit;
		}
	if (ok)
		find_free_ports(k);
	free(level);
	free(queue);
	return ok;
}

/* What packets that left u by this port do, and is not taken as done. */
static inline uint64_t
other_turns(const struct classes *k, const uint64_t *mask, fm_sw u, uint32_t bit)
{
	fm_sw v = k->j->port_to[k->j->port_first[u] + 1 + bit];
	uint64_t taken = 0;

	if (k->down[u] >> bit & 1)
		taken = k->down[v];
	else if (k->up[u] >> bit & 1)
		taken = k->down[v] | k->up[v];
	return mask[v] & ~taken;
}

static bool
has_other_turns(const struct classes *k, const uint64_t *mask, fm_sw u)
{
	for (uint64_t left = mask[u] & ~k->free[u]; left != 0; left &= left - 1)
		if (other_turns(k, mask, u, (uint32_t)__builtin_ctzll(left)) != 0)
			return true;
	return false;
}

void
verify_class_note(const struct classes *k, struct class_walker *w, const uint64_t *mask, fm_sw u)
{
	uint64_t *dep = w->dep + k->j->port_first[u];

	for (uint64_t left = mask[u] & ~k->free[u]; left != 0; left &= left - 1) {
		uint32_t bit = (uint32_t)__builtin_ctzll(left);
		uint64_t turns = other_turns(k, mask, u, bit);

		dep[bit] |= turns;
		w->noted |= turns != 0;
	}
}

/* Do packets of a source come to u?  Backwards, as seldom any do. */
static bool
is_carried(const struct classes *k, struct class_walker *w, const uint64_t *mask, fm_sw u)
{
	const struct judge *j = k->j;
	const struct fm_fabric *fab = j->fab;
	uint32_t n = 0, stamp = ++w->stamp;

	w->path[n++] = u;
	w->carried[u] = stamp;
	while (n > 0) {
		fm_sw v = w->path[--n];

		if (j->n_sources[v] > 0)
			return true;
		for (fm_link l = fab->sw_first_link[v]; l < fab->sw_first_link[v + 1]; l++) {
			const struct class_edge *e = &k->edge[l];

			if (w->carried[e->to] == stamp || !(mask[e->to] >> (e->back - 1) & 1))
				continue;
			w->carried[e->to] = stamp;
			w->path[n++] = e->to;
		}
	}
	return false;
}

static void
note_all(const struct classes *k, struct class_walker *w, const uint64_t *mask)
{
	uint32_t n_asked = 0;

	for (fm_sw u = 0; u < k->j->fab->n_switches; u++)
		if ((mask[u] & ~k->free[u]) != 0 && has_other_turns(k, mask, u) &&
		    (++n_asked > MOST_ASKED || is_carried(k, w, mask, u)))
			verify_class_note(k, w, mask, u);
}

/* From the sources on, every switch that packets come to. */
static void
note_carried(const struct classes *k, struct class_walker *w, const uint64_t *mask)
{
	const struct judge *j = k->j;
	uint32_t n = 0, stamp = ++w->stamp;

	for (uint32_t i = 0; i < j->n_source_sw; i++) {
		w->carried[j->source_sw[i]] = stamp;
		w->path[n++] = j->source_sw[i];
	}
	for (uint32_t i = 0; i < n; i++) {
		fm_sw u = w->path[i];
		const fm_sw *next = j->port_to + j->port_first[u] + 1;

		for (uint64_t left = mask[u]; left != 0; left &= left - 1) {
			fm_sw v = next[__builtin_ctzll(left)];

			if (w->carried[v] == stamp)
				continue;
			w->carried[v] = stamp;
			w->path[n++] = v;
		}
		if ((mask[u] & ~k->free[u]) != 0)
			verify_class_note(k, w, mask, u);
	}
}

void
verify_class_deps(const struct classes *k, struct class_walker *w, const struct lid_class *c,
    const uint64_t *mask)
{
	if (c->n_end_lids > 0)
		note_all(k, w, mask);
	else
		note_carried(k, w, mask);
}

/* Turns that are taken as made. */
static void
add_taken_turns(const struct classes *k, uint64_t *dep)
{
	const struct judge *j = k->j;
	const struct fm_fabric *fab = j->fab;

	for (fm_sw u = 0; u < fab->n_switches; u++)
		for (fm_link l = fab->sw_first_link[u], end; l < fab->sw_first_link[u + 1];
		     l = end) {
			fm_sw v = fab->link_to[l];
			uint64_t back = 0;

			for (end = l; end < fab->sw_first_link[u + 1] && fab->link_to[end] == v;
			     end++)
				back |= (uint64_t)1 << (k->edge[end].back - 1);
			for (; l < end; l++) {
				uint32_t bit = k->edge[l].port - 1u;

				if (k->up[u] >> bit & 1)
					dep[j->port_first[u] + bit] |=
					    (k->up[v] | k->down[v]) & ~back;
				else if (k->down[u] >> bit & 1)
					dep[j->port_first[u] + bit] |= k->down[v] & ~back;
			}
		}
}

/* Do packets of the LIDs that were followed one by one go on from link l by this slot? */
static bool
in_rows(const struct judge *j, fm_link l, uint32_t slot)
{
	return j->dep[j->dep_row[l] + slot / 64] >> (slot % 64) & 1;
}

/* All workers' dependencies into those of the first; with_rows: those of the
 * LIDs that were followed one by one. */
static void
merge(struct classes *k, bool with_rows)
{
	const struct judge *j = k->j;
	const struct fm_fabric *fab = j->fab;
	uint64_t *dep = k->walkers[0].dep;

	for (unsigned i = 1; i < j->n_workers; i++)
		for (uint32_t at = 0; k->walkers[i].noted && at < j->port_first[fab->n_switches];
		     at++)
			dep[at] |= k->walkers[i].dep[at];
	for (fm_link l = 0; with_rows && l < fab->n_links; l++) {
		fm_sw from = fab->link_to[fab->link_rev[l]], to = fab->link_to[l];

		for (fm_link m = fab->sw_first_link[to]; m < fab->sw_first_link[to + 1]; m++)
			if (in_rows(j, l, m - fab->sw_first_link[to]))
				dep[j->port_first[from] + fab->link_port[l] - 1u] |= (uint64_t)1
				    << (fab->link_port[m] - 1);
	}
}

struct step {
	fm_sw sw;
	uint32_t bit;
};

struct search {
	const struct classes *k;
	const uint64_t *dep;
	uint64_t *seen;	   /* [n_switches] ports that were visited */
	uint64_t *open;	   /* [n_switches] ports on the path */
	struct step *path; /* [n_links] */
};

/* Where packets go on from a port, and to which of the ports there. */
static uint64_t
goes_on(const struct search *s, struct step at, fm_sw *to)
{
	*to = s->k->j->port_to[s->k->j->port_first[at.sw] + 1 + at.bit];
	return s->dep[s->k->j->port_first[at.sw] + at.bit];
}

/* Depth first from a port; one met again while on the path is a cycle.  All
 * ports of a switch are one word, so an edge costs nothing by itself. */
static bool
is_cycle_from(struct search *s, struct step at)
{
	uint32_t n = 0;

	for (;;) {
		fm_sw to;
		uint64_t left = goes_on(s, at, &to);

		s->seen[at.sw] |= (uint64_t)1 << at.bit;
		s->open[at.sw] |= (uint64_t)1 << at.bit;
		if (left != 0 && (left & s->open[to]) != 0)
			return true;
		s->path[n++] = at;
		for (;;) {
			left = goes_on(s, at, &to);
			if (left != 0 && (left & ~s->seen[to]) != 0)
				break;
			s->open[at.sw] &= ~((uint64_t)1 << at.bit);
			if (--n == 0)
				return false;
			at = s->path[n - 1];
		}
		at = (struct step){ to, (uint32_t)__builtin_ctzll(left & ~s->seen[to]) };
	}
}

static bool
is_acyclic(struct search *s)
{
	const struct fm_fabric *fab = s->k->j->fab;

	for (fm_link l = 0; l < fab->n_links; l++) {
		fm_sw u = fab->link_to[fab->link_rev[l]];
		uint32_t bit = fab->link_port[l] - 1u;

		if (!(s->seen[u] >> bit & 1) && is_cycle_from(s, (struct step){ u, bit }))
			return false;
	}
	return true;
}

int
verify_class_acyclic(struct classes *k, bool with_rows, bool *acyclic)
{
	const struct fm_fabric *fab = k->j->fab;
	struct search s = { .k = k, .dep = k->walkers[0].dep };
	bool noted = with_rows;
	int rc = FM_E_RESOURCE;

	for (unsigned i = 0; i < k->j->n_workers; i++)
		noted |= k->walkers[i].noted;
	if (!noted) {
		*acyclic = true; /* turns between levels alone */
		return 0;
	}
	merge(k, with_rows);
	add_taken_turns(k, k->walkers[0].dep);
	s.seen = calloc(fab->n_switches + 1, sizeof(*s.seen));
	s.open = calloc(fab->n_switches + 1, sizeof(*s.open));
	s.path = malloc((fab->n_links + 1) * sizeof(*s.path));
	if (s.seen != NULL && s.open != NULL && s.path != NULL) {
		*acyclic = is_acyclic(&s);
		rc = 0;
	}
	free(s.seen);
	free(s.open);
	free(s.path);
	return rc;
}
