/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dependencies of classes: packets that left u by port p go on by the ports of
 * the mask of the switch behind it.
 *
 * That is a union over the LIDs of a class, so there may be dependencies too
 * many, never too few: if they are free of cycles so are the true ones.
 *
 * Twins are switches that have the same neighbour behind every port, as the
 * leaves of a pod.  What packets do behind a port they share is noted once for
 * all of them, for the ports that any of them uses: much less to do, and no
 * dependency that another leaf's packets would not make as well.
 *
 * Classes with ends: every switch with a mask counts, carried or not.
 * Switches without ends have one LID, as a rule, and routes to it from
 * switches that no packet of an end passes are often not up and then down, and
 * would make cycles.  There the packets of the sources are followed.
 */
#include <string.h>

#include "core/route/verify_class.h"

/* A number of what is behind the ports of a switch. */
static uint64_t
hash_ports(const struct classes *k, fm_sw sw)
{
	uint64_t hash = 0;

	for (uint32_t at = k->j->port_first[sw]; at < k->j->port_first[sw + 1]; at++)
		hash = (hash + k->next[at] + 1) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}

static bool
are_twins(const struct classes *k, fm_sw a, fm_sw b)
{
	const uint32_t *first = k->j->port_first;
	uint32_t n = first[a + 1] - first[a];

	return n == first[b + 1] - first[b] &&
	    memcmp(k->next + first[a], k->next + first[b], n * sizeof(*k->next)) == 0;
}

struct hashed {
	uint64_t hash;
	fm_sw sw;
};

static int
by_hash(const void *a, const void *b)
{
	const struct hashed *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return x->sw < y->sw ? -1 : x->sw > y->sw;
}

bool
verify_class_twins(struct classes *k)
{
	uint32_t n = k->j->fab->n_switches;
	struct hashed *list = malloc((n + 1) * sizeof(*list));

	k->twin = malloc((n + 1) * sizeof(*k->twin));
	k->group = malloc((n + 1) * sizeof(*k->group));
	k->dep_first = malloc((n + 1) * sizeof(*k->dep_first));
	if (list == NULL || k->twin == NULL || k->group == NULL || k->dep_first == NULL) {
		free(list);
		return false;
	}
	for (fm_sw sw = 0; sw < n; sw++)
		list[sw] = (struct hashed){ hash_ports(k, sw), sw };
	qsort(list, n, sizeof(*list), by_hash);
	for (uint32_t i = 0; i < n; i++) {
		fm_sw sw = k->twin[i] = list[i].sw;

		if (i > 0 && are_twins(k, sw, list[i - 1].sw)) {
			k->dep_first[sw] = k->dep_first[list[i - 1].sw];
			continue;
		}
		k->group[k->n_groups++] = i;
		k->dep_first[sw] = k->n_deps;
		k->n_deps += k->j->port_first[sw + 1] - k->j->port_first[sw] - 1;
	}
	k->group[k->n_groups] = n;
	free(list);
	return true;
}

void
verify_class_tighten(struct classes *k)
{
	const struct judge *j = k->j;
	uint32_t n = j->fab->n_switches;

	k->tight = true;
	k->n_deps = j->port_first[n];
	memcpy(k->dep_first, j->port_first, n * sizeof(*k->dep_first));
	for (unsigned i = 0; i < j->n_walkers; i++)
		memset(k->walkers[i].dep, 0, k->n_deps * sizeof(*k->walkers[i].dep));
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
		const fm_sw *next = k->next + j->port_first[u] + 1;
		uint64_t *dep = w->dep + k->dep_first[u];

		for (uint64_t left = mask[u]; left != 0; left &= left - 1) {
			uint32_t bit = (uint32_t)__builtin_ctzll(left);
			fm_sw v = next[bit];

			dep[bit] |= mask[v];
			if (w->carried[v] == stamp)
				continue;
			w->carried[v] = stamp;
			w->path[n++] = v;
		}
	}
}

/* Twins by twins. */
static void
note_all(const struct classes *k, struct class_walker *w, const uint64_t *mask)
{
	for (uint32_t g = 0; g < k->n_groups; g++) {
		uint32_t first = k->group[g];
		const fm_sw *next = k->next + k->j->port_first[k->twin[first]] + 1;
		uint64_t *dep = w->dep + k->dep_first[k->twin[first]], left = 0;

		for (uint32_t i = first; i < k->group[g + 1]; i++)
			left |= mask[k->twin[i]];
		for (; left != 0; left &= left - 1) {
			uint32_t bit = (uint32_t)__builtin_ctzll(left);

			dep[bit] |= mask[next[bit]];
		}
	}
}

void
verify_class_deps(const struct classes *k, struct class_walker *w, const struct lid_class *c,
    const uint64_t *mask)
{
	if (c->n_end_lids > 0 && !k->tight)
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
		for (uint32_t at = 0; at < k->n_deps; at++)
			dep[at] |= k->walkers[i].dep[at];
	for (unsigned i = 0; with_rows && i < j->n_walkers; i++)
		for (fm_link l = 0; l < fab->n_links; l++) {
			fm_sw from = fab->link_to[fab->link_rev[l]], to = fab->link_to[l];
			const uint8_t *row = j->walkers[i].dep + (size_t)j->dep_row[l] * ROW_UNIT;

			for (fm_link m = fab->sw_first_link[to]; m < fab->sw_first_link[to + 1];
			     m++)
				if (row[m - fab->sw_first_link[to]])
					dep[k->dep_first[from] + fab->link_port[l] - 1u] |=
					    (uint64_t)1 << (fab->link_port[m] - 1);
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
	*to = s->k->next[s->k->j->port_first[at.sw] + 1 + at.bit];
	return s->dep[s->k->dep_first[at.sw] + at.bit];
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
	int rc = FM_E_RESOURCE;

	merge(k, with_rows);
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
