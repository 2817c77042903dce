/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/vfabric/members.c - lists of nodes to ports with P_Keys.
 */
#include "core/vfabric/members.h"

#include <stdlib.h>
#include <string.h>

#include "core/graph/snapshot.h"
#include "lib/algo/search.h"
#include "lib/bitset.h"
#include "lib/error.h"

struct port_row {
	uint64_t guid;
	uint32_t first, n; /* of keys */
};

struct vfabric_members {
	struct port_row *ports; /* [n_ports] by rising GUID */
	size_t n_ports;
	FM_VEC(uint16_t) keys;
};

/* --------------------------------------------------------------- of one */

/* Bitsets of ends; none is in both. */
struct found {
	uint64_t *full, *limited;
};

/* Ends of a list; a switch that is named is so with its port 0. */
static int
find_list(const struct vfabric_list *list, const struct snapshot *snap, struct fm_arena *mem,
    uint64_t **ends, bool *hit, struct fm_error *err)
{
	const struct fm_fabric *fab = &snap->fab;
	struct node_target t;
	int rc;

	if (!node_target_new(snap, mem, &t))
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the members of vfabrics");
	rc = node_set_resolve(list->items, list->n, &t, hit, snap, mem, err);
	for (fm_end e = 0; rc == 0 && e < fab->n_ends; e++)
		if (fab->end_kind[e] == FM_END_SWITCH && fab->end_sw[e] != FM_NONE &&
		    fm_bit(t.sw, fab->end_sw[e]))
			fm_bit_set(t.end, e);
	*ends = t.end;
	return rc;
}

/* hit_full and hit_limited tell of each item whether it names something; NULL: not asked. */
static int
find_one(const struct vfabric *f, const struct snapshot *snap, struct fm_arena *mem,
    struct found *out, bool *hit_full, bool *hit_limited, struct fm_error *err)
{
	size_t n_words = FM_BITSET_WORDS(snap->fab.n_ends);
	int rc = find_list(&f->full, snap, mem, &out->full, hit_full, err);

	if (rc == 0)
		rc = find_list(&f->limited, snap, mem, &out->limited, hit_limited, err);
	for (size_t w = 0; rc == 0 && w < n_words; w++) {
		if (!f->security)
			out->full[w] |= out->limited[w];
		out->limited[w] &= ~out->full[w];
	}
	return rc;
}

int
vfabric_each_missing(const struct vfabric *f, const struct snapshot *snap,
    void (*each)(void *arg, const char *list, const struct node_item *item), void *arg,
    struct fm_error *err)
{
	struct found found;
	struct fm_arena mem;
	bool *full, *limited;
	int rc;

	fm_arena_init(&mem, SIZE_MAX);
	full = fm_arena_array(&mem, f->full.n + 1, bool);
	limited = fm_arena_array(&mem, f->limited.n + 1, bool);
	rc = full != NULL && limited != NULL
	    ? find_one(f, snap, &mem, &found, full, limited, err)
	    : fm_fail(err, FM_E_RESOURCE, "out of memory for the members of vfabrics");
	for (size_t i = 0; rc == 0 && i < f->full.n; i++)
		if (!full[i])
			each(arg, "members", &f->full.items[i]);
	for (size_t i = 0; rc == 0 && i < f->limited.n; i++)
		if (!limited[i])
			each(arg, "limited", &f->limited.items[i]);
	fm_arena_fini(&mem);
	return rc;
}

uint16_t
vfabric_pkey(const struct vfabric *f, const struct partitions *parts)
{
	const struct partition *part = f->pkey == 0 ? partitions_named(parts, f->name) : NULL;

	return part != NULL ? part->pkey : f->pkey;
}

/* --------------------------------------------------------------- of all */

/* A vfabric by its P_Key, with who is in it. */
struct keyed {
	uint16_t pkey;
	struct found found;
};

static int
by_pkey(const void *a, const void *b)
{
	return ((const struct keyed *)a)->pkey - ((const struct keyed *)b)->pkey;
}

static int
by_guid(const void *a, const void *b)
{
	const struct port_row *x = a, *y = b;

	return x->guid != y->guid ? (x->guid < y->guid ? -1 : 1) : 0;
}

/* The rows, keys of each by rising P_Key. */
static bool
fill(struct vfabric_members *m, const struct keyed *all, size_t n, const struct fm_fabric *fab)
{
	m->ports = calloc(fab->n_ends + 1, sizeof(*m->ports));
	if (m->ports == NULL)
		return false;
	for (fm_end e = 0; e < fab->n_ends; e++) {
		struct port_row *row = &m->ports[m->n_ports++];

		*row = (struct port_row){ .guid = fab->end_guid[e], .first = (uint32_t)m->keys.n };
		for (size_t i = 0; i < n; i++) {
			bool full = fm_bit(all[i].found.full, e);
			uint16_t key = (uint16_t)(all[i].pkey | (full ? PKEY_FULL : 0));

			if ((full || fm_bit(all[i].found.limited, e)) &&
			    !fm_vec_push(&m->keys, key))
				return false;
		}
		row->n = (uint32_t)m->keys.n - row->first;
	}
	qsort(m->ports, m->n_ports, sizeof(*m->ports), by_guid);
	return true;
}

int
vfabric_members_find(const struct vfabrics *v, const struct partitions *parts,
    const struct snapshot *snap, struct vfabric_members **out, struct fm_error *err)
{
	struct vfabric_members *m = calloc(1, sizeof(*m));
	struct fm_arena mem;
	struct keyed *all;
	int rc = 0;

	fm_arena_init(&mem, SIZE_MAX);
	all = fm_arena_array(&mem, v->n + 1, struct keyed);
	for (size_t i = 0; all != NULL && rc == 0 && i < v->n; i++) {
		all[i].pkey = vfabric_pkey(&v->of[i], parts);
		rc = find_one(&v->of[i], snap, &mem, &all[i].found, NULL, NULL, err);
	}
	if (all != NULL && rc == 0)
		qsort(all, v->n, sizeof(*all), by_pkey);
	if (rc == 0 && (m == NULL || all == NULL || !fill(m, all, v->n, &snap->fab)))
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory for the members of vfabrics");
	fm_arena_fini(&mem);
	if (rc == 0)
		*out = m;
	else
		vfabric_members_free(m);
	return rc;
}

void
vfabric_members_free(struct vfabric_members *m)
{
	if (m == NULL)
		return;
	free(m->ports);
	fm_vec_fini(&m->keys);
	free(m);
}

bool
vfabric_members_give(const struct vfabric_members *m, struct part_port *port)
{
	size_t at;

	fm_lower_bound(at, m->n_ports, i, m->ports[i].guid < port->guid);
	if (at == m->n_ports || m->ports[at].guid != port->guid)
		return false;
	port->more = m->keys.item + m->ports[at].first;
	port->n_more = m->ports[at].n;
	return true;
}
