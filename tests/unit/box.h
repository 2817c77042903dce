/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/box.h - small random fabrics with tables, for the tests of verify.
 */
#ifndef TESTS_UNIT_BOX_H
#define TESTS_UNIT_BOX_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/graph/tables.h"
#include "core/verify/verify.h"
#include "lib/error.h"
#include "lib/rng.h"

#define MAX_SWITCHES 7
#define MAX_LINKS 48
#define MAX_VERTICES (MAX_LINKS * 16)

/* ------------------------------------------------------------ small fabrics */

struct box {
	struct snapshot *snap;
	struct tables *tables;
	uint8_t next_port[MAX_SWITCHES];
	uint16_t next_lid;
	uint16_t max_groups; /* of adaptive routing; 0 = none */
	struct snapshot_builder b;
};

static struct table_pool *pool;

static inline void
add_switch(struct box *x)
{
	static const char *const names[] = { "s0", "s1", "s2", "s3", "s4", "s5", "s6" };
	uint32_t i = (uint32_t)x->b.switches.n;

	ck_assert(fm_vec_push(&x->b.switches,
	    ((struct snapshot_switch){ .guid = 100 + i,
		.name = names[i],
		.n_ports = 12,
		.ar_groups = SNAPSHOT_AR_UNKNOWN })));
}

static inline void
add_end(struct box *x, uint32_t sw, uint8_t kind, uint8_t lmc)
{
	uint16_t lid = x->next_lid;
	uint32_t i = (uint32_t)x->b.ends.n;
	uint8_t port = 0;

	if (kind != FM_END_SWITCH && sw != FM_NONE) {
		if (x->next_port[sw] >= 12)
			return;
		port = ++x->next_port[sw];
	}
	lid = (uint16_t)((lid + (1u << lmc) - 1) & ~((1u << lmc) - 1));
	x->next_lid = (uint16_t)(lid + (1u << lmc));
	ck_assert(fm_vec_push(&x->b.ends,
	    ((struct snapshot_end){ .guid = 1000 + i,
		.node_guid = 1000 + i,
		.name = "end",
		.sw = sw,
		.lid = lid,
		.port = port,
		.lmc = lmc,
		.kind = kind,
		.n_vls = 8 })));
}

static inline void
add_cable(struct box *x, uint32_t a, uint32_t b)
{
	if (a == b || x->next_port[a] >= 12 || x->next_port[b] >= 12)
		return;
	ck_assert(fm_vec_push(&x->b.cables,
	    ((struct snapshot_cable){ .sw = { a, b },
		.port = { ++x->next_port[a], ++x->next_port[b] },
		.n_vls = 8,
		.mbps = 100000,
		.nominal_mbps = 100000 })));
}

static inline void
build(struct box *x)
{
	struct fm_error err;

	ck_assert_msg(snapshot_build(&x->b, &x->snap, &err) == 0, "%s", err.msg);
	snapshot_builder_fini(&x->b);
	ck_assert(tables_new(pool, NULL, &x->snap->fab, FM_PROVIDES_SL | FM_PROVIDES_AR,
		      x->max_groups, &x->tables, &err) == 0);
}

static inline void
drop(struct box *x)
{
	tables_put(x->tables);
	snapshot_put(x->snap);
	memset(x, 0, sizeof(*x));
}

static inline void
random_fabric(struct box *x, struct fm_rng *r)
{
	uint32_t n = fm_rng_below(r, MAX_SWITCHES) + 1, n_ends = fm_rng_below(r, 9);
	static const uint8_t kinds[] = { FM_END_CA, FM_END_CA, FM_END_CA, FM_END_ROUTER,
		FM_END_AGGREGATOR, FM_END_PROXY };

	x->next_lid = (uint16_t)(1 + fm_rng_below(r, 70));
	for (uint32_t i = 0; i < n; i++) {
		add_switch(x);
		if (fm_rng_below(r, 8) > 0)
			add_end(x, i, FM_END_SWITCH, fm_rng_below(r, 6) == 0);
	}
	for (uint32_t i = 1; i < n; i++)
		if (fm_rng_below(r, 8) > 0)
			add_cable(x, i, fm_rng_below(r, i));
	/* one draw a statement: the order of arguments is the compiler's */
	for (uint32_t i = fm_rng_below(r, 8); i > 0; i--) {
		uint32_t b = fm_rng_below(r, n), a = fm_rng_below(r, n);

		add_cable(x, a, b);
	}
	for (uint32_t i = 0; i < n_ends; i++) {
		bool several = fm_rng_below(r, 4) == 0;
		uint8_t lmc = several ? (uint8_t)fm_rng_below(r, 3) : 0;
		uint8_t kind = kinds[fm_rng_below(r, 6)];

		add_end(x, fm_rng_below(r, n), kind, lmc);
	}
	if (fm_rng_below(r, 10) == 0)
		for (int i = 0; i < 2; i++)
			add_end(x, FM_NONE, FM_END_CA, 0);
	build(x);
}

/* Shortest paths to every LID, ties by the seed. */
static inline void
shortest_tables(struct box *x, struct fm_rng *r)
{
	const struct fm_fabric *fab = &x->snap->fab;

	for (uint32_t lid = 1; lid <= fab->max_lid; lid++) {
		uint32_t far[MAX_SWITCHES], e = fab->lid_end[lid];

		if (e == FM_NONE || fab->end_sw[e] == FM_NONE)
			continue;
		memset(far, 0xff, sizeof(far));
		far[fab->end_sw[e]] = 0;
		x->tables->t.lft[fab->end_sw[e]][lid] = fab->end_port[e];
		for (uint32_t hops = 0; hops < fab->n_switches; hops++)
			for (fm_link l = 0; l < fab->n_links; l++) {
				fm_sw to = fab->link_to[l], from = fab->link_to[fab->link_rev[l]];

				if (far[to] != hops || far[from] < hops + 1)
					continue;
				if (far[from] == UINT32_MAX || fm_rng_below(r, 2))
					x->tables->t.lft[from][lid] = fab->link_port[l];
				far[from] = hops + 1;
			}
	}
}

static inline void
damage(struct box *x, struct fm_rng *r, uint32_t one_in)
{
	const struct fm_fabric *fab = &x->snap->fab;

	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		for (uint32_t lid = 0; lid <= fab->max_lid; lid++)
			if (fm_rng_below(r, one_in) == 0) {
				uint32_t port = fm_rng_below(r, 15);

				x->tables->t.lft[sw][lid] =
				    port == 14 ? FM_PORT_NONE : (uint8_t)port;
			}
}

static inline void
random_sls(struct box *x, struct fm_rng *r)
{
	struct fm_tables *t = &x->tables->t;
	const struct fm_fabric *fab = &x->snap->fab;
	uint32_t n_sls =
	    fm_rng_below(r, 6) == 0 ? 18 : 1 + fm_rng_below(r, fm_rng_below(r, 3) == 0 ? 16 : 4);
	uint32_t n_vls = fm_rng_below(r, 6) == 0 ? 20 : 1 + fm_rng_below(r, 4), n;

	t->n_vls_used = (uint8_t)(1 + fm_rng_below(r, 4));
	t->sl_shape = fm_rng_below(r, 3);
	t->sl2vl_shape = fm_rng_below(r, 3);
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		for (uint32_t lid = 0; lid <= fab->max_lid; lid++)
			t->sl[sw][lid] = (uint8_t)fm_rng_below(r, n_sls);
	n = t->sl2vl_first[fab->n_switches];
	n = n > fab->n_links ? n : fab->n_links;
	for (uint32_t i = 0; i < n * 16; i++)
		t->sl2vl[i] = (uint8_t)fm_rng_below(r, n_vls);
}

/* Four switches in a ring, a host each; LIDs 1..4 the switches, 5..8 the
 * hosts (port 1); port 2 leads to the next switch, port 3 to the one before. */
static inline void
ring(struct box *x)
{
	*x = (struct box){ .next_lid = 1, .max_groups = x->max_groups };
	for (uint32_t i = 0; i < 4; i++)
		add_switch(x);
	for (uint32_t i = 0; i < 4; i++)
		add_end(x, i, FM_END_SWITCH, 0);
	for (uint32_t i = 0; i < 4; i++)
		add_end(x, i, FM_END_CA, 0);
	for (uint32_t i = 0; i < 4; i++)
		ck_assert(fm_vec_push(&x->b.cables,
		    ((struct snapshot_cable){ .sw = { i, (i + 1) % 4 },
			.port = { 2, 3 },
			.n_vls = 4,
			.mbps = 1,
			.nominal_mbps = 1 })));
	build(x);
	/* a path, never over the cable 3-0 */
	for (uint32_t sw = 0; sw < 4; sw++)
		for (uint32_t lid = 1; lid <= 8; lid++)
			x->tables->t.lft[sw][lid] = sw == (lid - 1) % 4 ? lid > 4
			    : sw < (lid - 1) % 4			? 2
									: 3;
}

#endif
