/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Port groups in a fabric.  As a member of a topology a switch counts whole,
 * whichever of its ports a rule names.
 *
 * The number of an end-port within its host is not on the wire of a snapshot:
 * it is its place among the host's ports by GUID.
 */
#include <stdlib.h>
#include <string.h>

#include "core/graph/snapshot.h"
#include "core/overlay/rchain_groups.h"
#include "lib/bitset.h"

struct members {
	uint64_t *sw, *end; /* bitsets; NULL: not yet */
};

struct lookup {
	const struct rchain *rc;
	const struct fm_fabric *fab;
	uint8_t *number;       /* [n_ends] of the port within its host, from 1 */
	struct members *known; /* [groups] that were looked up */
	struct fm_arena mem;
};

struct host_port {
	uint64_t node, guid;
	fm_end end;
};

static int
by_node(const void *a, const void *b)
{
	const struct host_port *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

static bool
number_ports(struct lookup *l)
{
	const struct fm_fabric *fab = l->fab;
	struct host_port *ports = fm_arena_array(&l->mem, fab->n_ends + 1u, struct host_port);

	l->number = fm_arena_array(&l->mem, fab->n_ends + 1u, uint8_t);
	if (ports == NULL || l->number == NULL)
		return false;
	for (fm_end e = 0; e < fab->n_ends; e++)
		ports[e] = (struct host_port){ fab->end_node_guid[e], fab->end_guid[e], e };
	qsort(ports, fab->n_ends, sizeof(*ports), by_node);
	for (uint32_t i = 0, first = 0; i < fab->n_ends; i++) {
		if (ports[i].node != ports[first].node)
			first = i;
		l->number[ports[i].end] = (uint8_t)(i - first + 1);
	}
	return true;
}

static int
by_guid(const void *a, const void *b)
{
	const struct rchain_guid *x = a, *y = b;

	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

static const struct rchain_guid *
find_guid(const struct rchain_group *g, uint64_t guid)
{
	struct rchain_guid want = { .guid = guid };

	return g->guids.n == 0 ? NULL
			       : bsearch(&want, g->guids.item, g->guids.n, sizeof(want), by_guid);
}

static bool
in_range(const struct rchain_group *g, uint64_t guid)
{
	return guid >= g->guids.item[0].guid && guid <= g->guids.item[1].guid;
}

/* "h1 HCA-2" and "h1 mlx5_1" are the second adapter of h1. */
static bool
is_adapter(const struct rchain_name *n, const char *description)
{
	size_t length = strlen(n->host);
	const char *rest = description + length, *digits;
	unsigned hca = 1;

	if (strncmp(description, n->host, length) != 0 || (*rest != '\0' && *rest != ' '))
		return false;
	if ((digits = strstr(rest, "HCA-")) != NULL)
		hca = (unsigned)strtoul(digits + 4, NULL, 10);
	else if (strstr(rest, "mlx") != NULL && (digits = strrchr(rest, '_')) != NULL)
		hca = (unsigned)strtoul(digits + 1, NULL, 10) + 1;
	return n->hca == 0 || n->hca == hca;
}

static bool
is_named(const struct lookup *l, const struct rchain_group *g, fm_end e)
{
	for (size_t i = 0; i < g->names.n; i++) {
		const struct rchain_name *n = &g->names.item[i];

		if (is_adapter(n, l->fab->end_name[e]) && (n->port == 0 || n->port == l->number[e]))
			return true;
	}
	return false;
}

static bool
switch_matches(const struct lookup *l, const struct rchain_group *g, fm_sw sw)
{
	switch (g->rule) {
	case RULE_ALL:
	case RULE_ALL_SWITCHES:
		return true;
	case RULE_GUIDS:
		return find_guid(g, l->fab->sw_guid[sw]) != NULL;
	case RULE_RANGE:
		return in_range(g, l->fab->sw_guid[sw]);
	case RULE_REGEXP:
		return regexp_match(g->regexp, l->fab->sw_name[sw]);
	case RULE_ALL_CAS:
	case RULE_NAMES:
	case RULE_UNION:
	case RULE_SUBTRACT:
		return false;
	}
	return false;
}

static bool
end_matches(const struct lookup *l, const struct rchain_group *g, fm_end e)
{
	const struct rchain_guid *host;

	switch (g->rule) {
	case RULE_ALL:
	case RULE_ALL_CAS:
		return true;
	case RULE_GUIDS:
		host = find_guid(g, l->fab->end_node_guid[e]);
		return find_guid(g, l->fab->end_guid[e]) != NULL ||
		    (host != NULL && host->some && fm_bit_test(host->ports, l->number[e]));
	case RULE_RANGE:
		return in_range(g, l->fab->end_guid[e]);
	case RULE_NAMES:
		return is_named(l, g, e);
	case RULE_REGEXP:
		return (g->port == 0 || g->port == l->number[e]) &&
		    regexp_match(g->regexp, l->fab->end_name[e]);
	case RULE_ALL_SWITCHES:
	case RULE_UNION:
	case RULE_SUBTRACT:
		return false;
	}
	return false;
}

static void
collect_plain(const struct lookup *l, const struct rchain_group *g, const struct members *m)
{
	for (fm_sw s = 0; s < l->fab->n_switches; s++)
		if (switch_matches(l, g, s))
			fm_bit_set(m->sw, s);
	for (fm_end e = 0; e < l->fab->n_ends; e++)
		if (l->fab->end_kind[e] != FM_END_SWITCH && end_matches(l, g, e))
			fm_bit_set(m->end, e);
}

static void
add(const struct lookup *l, const struct members *m, const struct members *more)
{
	for (size_t i = 0; i < FM_BITSET_WORDS(l->fab->n_switches); i++)
		m->sw[i] |= more->sw[i];
	for (size_t i = 0; i < FM_BITSET_WORDS(l->fab->n_ends); i++)
		m->end[i] |= more->end[i];
}

static void
subtract(const struct lookup *l, const struct members *m, const struct members *less)
{
	for (size_t i = 0; i < FM_BITSET_WORDS(l->fab->n_switches); i++)
		m->sw[i] &= ~less->sw[i];
	for (size_t i = 0; i < FM_BITSET_WORDS(l->fab->n_ends); i++)
		m->end[i] &= ~less->end[i];
}

/* Each group once, however many are made of it; NULL when memory is out. */
static const struct members *
collect(struct lookup *l, uint32_t group)
{
	const struct rchain_group *g = &l->rc->groups.item[group];
	struct members *m = &l->known[group];
	const struct members *a, *b;

	if (m->end != NULL)
		return m;
	m->sw = fm_arena_array(&l->mem, FM_BITSET_WORDS(l->fab->n_switches) + 1, uint64_t);
	m->end = fm_arena_array(&l->mem, FM_BITSET_WORDS(l->fab->n_ends) + 1, uint64_t);
	if (m->sw == NULL || m->end == NULL)
		return NULL;
	if (!rchain_has_parts(g)) {
		collect_plain(l, g, m);
	} else {
		if ((a = collect(l, g->part[0])) == NULL || (b = collect(l, g->part[1])) == NULL)
			return NULL;
		add(l, m, a);
		g->rule == RULE_UNION ? add(l, m, b) : subtract(l, m, b);
	}
	if (g->also == FM_NONE)
		return m;
	if ((a = collect(l, g->also)) == NULL)
		return NULL;
	add(l, m, a);
	return m;
}

int
rchain_group_members(const struct rchain *rc, uint32_t group, const struct snapshot *snap,
    uint64_t *sw, uint64_t *end, struct fm_error *err)
{
	struct lookup l = { .rc = rc, .fab = &snap->fab };
	const struct members *m = NULL;

	fm_arena_init(&l.mem, SIZE_MAX);
	l.known = fm_arena_array(&l.mem, rc->groups.n, struct members);
	if (l.known != NULL && number_ports(&l) && (m = collect(&l, group)) != NULL)
		add(&l, &(struct members){ sw, end }, m);
	fm_arena_fini(&l.mem);
	return m != NULL ? 0 : rchain_no_memory(err);
}
