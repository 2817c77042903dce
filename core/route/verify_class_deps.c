/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dependencies of classes: packets that left u by port p go on by the ports of
 * the mask of the switch behind it.
 *
 * That is a union over the LIDs of a class, so there may be dependencies too
 * many, never too few: if they are free of cycles so are the true ones.
 *
 * Classes with ends: every switch with a mask counts, carried or not.  Where
 * such a class has the masks that the one before had, at u and at the next
 * switch, nothing is new.  So either the changed switches are gone through,
 * with what leads to them and away, or all ports of all masks: what is less.
 *
 * Switches without ends have one LID, as a rule, and are not sent to by one
 * another: routes from switches that no packet of an end passes are often
 * not up and then down, and would make cycles.  There the packets of the
 * sources are followed.
 */
#include <string.h>

#include "core/route/verify_class.h"


/* From every port of u's mask on. */
static inline void
note_switch(const struct classes *k, struct class_walker *w, const uint64_t *mask, fm_sw u)
{
	const uint32_t first = k->j->port_first[u] + 1;

	for (uint64_t left = mask[u]; left != 0; left &= left - 1) {
		uint32_t at = first + (uint32_t)__builtin_ctzll(left);

		w->dep[at] |= mask[k->next[at]];
	}
}

/* To u from every neighbour that uses it, too. */
static void
note_change(const struct classes *k, struct class_walker *w, const uint64_t *mask, fm_sw u)
{
	const struct fm_fabric *fab = k->j->fab;

	note_switch(k, w, mask, u);
	for (fm_link l = fab->sw_first_link[u]; mask[u] != 0 && l < fab->sw_first_link[u + 1]; l++) {
		const struct class_edge *e = &k->edge[l];

		if (mask[e->to] >> (e->back - 1) & 1)
			w->dep[k->j->port_first[e->to] + e->back] |= mask[u];
	}
}

/* From the sources on, every switch that packets come to. */
static void
note_carried(const struct classes *k, struct class_walker *w, const uint64_t *mask)
{
	const struct judge *j = k->j;
	uint32_t n = 0, stamp = ++w->stamp;

	for (uint32_t i = 0; i < j->n_source_sw; i++) {
		fm_sw u = j->source_sw[i];

		w->carried[u] = stamp;
		w->path[n++] = u;
	}
	for (uint32_t i = 0; i < n; i++) {
		fm_sw u = w->path[i];
		const uint32_t first = j->port_first[u] + 1;

		for (uint64_t left = mask[u]; left != 0; left &= left - 1) {
			uint32_t at = first + (uint32_t)__builtin_ctzll(left);
			fm_sw v = k->next[at];

			w->dep[at] |= mask[v];
			if (w->carried[v] == stamp)
				continue;
			w->carried[v] = stamp;
			w->path[n++] = v;
		}
	}
}

/* All switches, by what differs from the class before. */
static void
note_all(const struct classes *k, struct class_walker *w, const uint64_t *mask)
{
	const struct fm_fabric *fab = k->j->fab;
	uint32_t n = 0;
	uint64_t cost = 0;

	for (fm_sw u = 0; u < fab->n_switches; u++) {
		if (mask[u] == w->last[u])
			continue;
		w->n_bits += (uint64_t)__builtin_popcountll(mask[u]);
		w->n_bits -= (uint64_t)__builtin_popcountll(w->last[u]);
		cost += fab->sw_first_link[u + 1] - fab->sw_first_link[u];
		w->last[u] = mask[u];
		w->changed[n++] = u;
	}
	if (cost < w->n_bits)
		for (uint32_t i = 0; i < n; i++)
			note_change(k, w, mask, w->changed[i]);
	else
		for (fm_sw u = 0; u < fab->n_switches; u++)
			note_switch(k, w, mask, u);
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

/* All workers' dependencies into those of the first; with_rows: those of the
 * LIDs that were followed one by one. */
static void
merge(struct classes *k, bool with_rows)
{
	const struct judge *j = k->j;
	const struct fm_fabric *fab = j->fab;
	uint64_t *dep = k->walkers[0].dep;

	for (unsigned i = 1; i < j->n_walkers; i++)
		for (uint32_t at = 0; at < j->port_first[fab->n_switches]; at++)
			dep[at] |= k->walkers[i].dep[at];
	for (unsigned i = 0; with_rows && i < j->n_walkers; i++)
		for (fm_link l = 0; l < fab->n_links; l++) {
			fm_sw from = fab->link_to[fab->link_rev[l]], to = fab->link_to[l];
			const uint8_t *row = j->walkers[i].dep + (size_t)j->dep_row[l] * ROW_UNIT;

			for (fm_link m = fab->sw_first_link[to]; m < fab->sw_first_link[to + 1]; m++)
				if (row[m - fab->sw_first_link[to]])
					dep[j->port_first[from] + fab->link_port[l]] |=
					    (uint64_t)1 << (fab->link_port[m] - 1);
		}
}

struct search {
	const struct classes *k;
	const uint64_t *dep;
	uint64_t *seen;	 /* [n_switches] ports that were visited */
	uint64_t *open;	 /* [n_switches] ports on the path */
	uint32_t *at;	 /* [n_links] the path: index of a port */
	fm_sw *sw;	 /* [n_links] and its switch */
};

/* Depth first from u's port; a port met again while on the path is a cycle.
 * All ports of a switch are one word, so an edge costs nothing by itself. */
static bool
is_cycle_from(struct search *s, fm_sw u, uint32_t bit)
{
	const struct judge *j = s->k->j;
	uint32_t n = 0;

	for (;;) {
		uint32_t at = j->port_first[u] + 1 + bit;
		fm_sw v = s->k->next[at];

		s->seen[u] |= (uint64_t)1 << bit;
		if (v != FM_NONE && (s->dep[at] & s->open[v]) != 0)
			return true;
		s->open[u] |= (uint64_t)1 << bit;
		s->sw[n] = u;
		s->at[n++] = at;
		for (;; n--) {
			uint64_t left = 0;

			if (n == 0)
				return false;
			at = s->at[n - 1];
			v = s->k->next[at];
			if (v != FM_NONE)
				left = s->dep[at] & ~s->seen[v];
			if (left != 0) {
				u = v;
				bit = (uint32_t)__builtin_ctzll(left);
				break;
			}
			u = s->sw[n - 1];
			s->open[u] &= ~((uint64_t)1 << (at - j->port_first[u] - 1));
		}
	}
}

static bool
is_acyclic(struct search *s)
{
	const struct fm_fabric *fab = s->k->j->fab;

	for (fm_link l = 0; l < fab->n_links; l++) {
		fm_sw u = fab->link_to[fab->link_rev[l]];
		uint32_t bit = fab->link_port[l] - 1u;

		if (!(s->seen[u] >> bit & 1) && is_cycle_from(s, u, bit))
			return false;
	}
	return true;
}

int
verify_class_acyclic(struct classes *k, bool with_rows, bool *acyclic)
{
	const struct fm_fabric *fab = k->j->fab;
	struct search s = { .k = k, .dep = k->walkers[0].dep };
	int rc = FM_E_RESOURCE;

	merge(k, with_rows);
	s.seen = calloc(fab->n_switches + 1, sizeof(*s.seen));
	s.open = calloc(fab->n_switches + 1, sizeof(*s.open));
	s.at = malloc((fab->n_links + 1) * sizeof(*s.at));
	s.sw = malloc((fab->n_links + 1) * sizeof(*s.sw));
	if (s.seen != NULL && s.open != NULL && s.at != NULL && s.sw != NULL) {
		*acyclic = is_acyclic(&s);
		rc = 0;
	}
	free(s.seen);
	free(s.open);
	free(s.at);
	free(s.sw);
	return rc;
}
