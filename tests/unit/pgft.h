/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * D-mod-K tables for an intact PGFT as the generator numbers and cables it
 * (lab/topo/generate_tree.c): the reference router of tests and benchmarks.
 * Hosts by the closed form, switch LIDs by breadth-first search.
 */
#ifndef TESTS_PGFT_H
#define TESTS_PGFT_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/graph/snapshot.h"
#include "lab/topo/netlist.h"
#include "lib/error.h"

#define PGFT_LEVELS 4

struct pgft {
	uint32_t h, m[PGFT_LEVELS + 1], w[PGFT_LEVELS + 1], p[PGFT_LEVELS + 1];
	struct snapshot *snap;
};

static bool
pgft_read_list(const char *text, uint32_t *list)
{
	char *end;

	for (uint32_t i = 1; i <= PGFT_LEVELS; i++) {
		list[i] = (uint32_t)strtoul(text, &end, 10);
		if (*end != ',')
			return *end == '\0';
		text = end + 1;
	}
	return false;
}

/* argv: pgft H M W P, as for fmroute gen; w_1 must be 1. */
static bool
pgft_make(struct pgft *t, char *const argv[5])
{
	struct netlist nl = { 0 };
	struct fm_error err;
	struct netlist_view view = { .n_vls = 8, .fresh_lids = true };

	t->h = (uint32_t)strtoul(argv[1], NULL, 10);
	if (!pgft_read_list(argv[2], t->m) || !pgft_read_list(argv[3], t->w) ||
	    !pgft_read_list(argv[4], t->p) || t->w[1] != 1)
		return false;
	if (netlist_generate(5, argv, &nl, &err) != 0 ||
	    netlist_snapshot(&nl, &view, &t->snap, &err) != 0) {
		fprintf(stderr, "%s\n", err.msg);
		return false;
	}
	netlist_fini(&nl);
	return true;
}

/* Level and number of a switch: levels follow one another from 1. */
static void
pgft_place(const struct pgft *t, fm_sw sw, uint32_t *level, uint32_t *number)
{
	for (*level = 1; *level <= t->h; (*level)++) {
		uint32_t n = 1;

		for (uint32_t i = 1; i <= t->h; i++)
			n *= i > *level ? t->m[i] : t->w[i];
		if (sw < n)
			break;
		sw -= n;
	}
	*number = sw;
}

/* Port towards host number host. */
static uint8_t
pgft_port(const struct pgft *t, uint32_t level, uint32_t number, uint32_t host)
{
	uint32_t w = 1, m = 1, q, b;

	for (uint32_t i = 1; i <= level; i++) {
		w *= t->w[i];
		m *= t->m[i];
	}
	if (number / w == host / m) /* below */
		return (uint8_t)(1 + host / (m / t->m[level]) % t->m[level] * t->p[level] +
		    host / w % t->p[level]);
	q = host / w;
	b = q % t->w[level + 1];
	return (uint8_t)(1 + t->m[level] * t->p[level] + b * t->p[level + 1] +
	    q / t->w[level + 1] % t->p[level + 1]);
}

static void
pgft_route_switch(
    const struct fm_fabric *fab, fm_sw to, uint16_t lid, fm_sw *queue, struct fm_tables *out)
{
	uint32_t head = 0, tail = 0;

	queue[tail++] = to;
	out->lft[to][lid] = 0;
	while (head < tail) {
		fm_sw sw = queue[head++];

		for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++)
			if (out->lft[fab->link_to[l]][lid] == FM_PORT_NONE) {
				out->lft[fab->link_to[l]][lid] = fab->link_port[fab->link_rev[l]];
				queue[tail++] = fab->link_to[l];
			}
	}
}

/* Fill fresh tables. */
static void
pgft_route(const struct pgft *t, struct fm_tables *out)
{
	const struct fm_fabric *fab = &t->snap->fab;
	fm_sw *queue = malloc((fab->n_switches + 1) * sizeof(*queue));

	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		uint32_t level, number;

		pgft_place(t, sw, &level, &number);
		for (fm_end e = 0; e < fab->n_ends; e++)
			if (fab->end_kind[e] == FM_END_CA)
				out->lft[sw][fab->end_lid[e]] = pgft_port(t, level, number,
				    fab->end_sw[e] * t->m[1] + fab->end_port[e] - 1);
	}
	for (fm_end e = 0; e < fab->n_ends; e++)
		if (fab->end_kind[e] == FM_END_SWITCH)
			pgft_route_switch(fab, fab->end_sw[e], fab->end_lid[e], queue, out);
	free(queue);
}

#endif
