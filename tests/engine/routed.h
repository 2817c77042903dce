/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/engine/routed.h - a fabric made from a line of words, broken by seed, and
 * routed by an engine with options; walks through its tables.
 */
#ifndef TESTS_ENGINE_ROUTED_H
#define TESTS_ENGINE_ROUTED_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/abi/options.h"
#include "core/plan/plan.h"
#include "core/route/route.h"
#include "core/verify/verify.h"
#include "lab/topo/netlist.h"
#include "lib/error.h"
#include "tests/engine/oracle.h"
#include "tests/unit/generate_words.h"

struct fabric {
	const char *words; /* KIND ARGS */
	double links_pct;
	uint8_t lmc;
	uint32_t n_switches; /* taken out */
	uint64_t seed;	     /* of the faults; 0: 5 */
};

/* One `key = item...` of an engine. */
#define SETTING_ITEMS 24
struct setting {
	const char *key;
	const char *items[SETTING_ITEMS]; /* up to the first NULL */
};

struct routed {
	struct router router;
	struct fm_arena mem;
	struct snapshot *snap;
	struct tables *tables; /* NULL unless rc == 0 */
	int rc;
	struct fm_error err;
};

static inline struct snapshot *
snapshot_of(const struct netlist *nl, uint8_t lmc)
{
	struct netlist_view view = { .n_vls = 8, .ca_lmc = lmc };
	struct snapshot *snap = NULL;
	struct fm_error err = { 0 };

	ck_assert_msg(netlist_snapshot(nl, &view, &snap, &err) == 0, "%s", err.msg);
	return snap;
}

/* Made and broken, not yet seen. */
static inline void
make_netlist(const struct fabric *f, struct netlist *nl)
{
	struct netlist_faults faults = { .links_pct = f->links_pct,
		.n_switches = f->n_switches,
		.seed = f->seed != 0 ? f->seed : 5 };
	struct fm_error err = { 0 };
	uint32_t n_links, n_switches;

	ck_assert_msg(generate_words(f->words, nl, &err) == 0, "%s: %s", f->words, err.msg);
	if (f->links_pct > 0 || f->n_switches > 0)
		ck_assert_int_eq(netlist_fail(nl, &faults, &n_links, &n_switches, &err), 0);
}

static inline struct snapshot *
make(const struct fabric *f, bool shuffled)
{
	struct netlist plain = { 0 }, other = { 0 };
	struct fm_error err = { 0 };
	struct snapshot *snap;

	make_netlist(f, &plain);
	if (shuffled)
		ck_assert_int_eq(netlist_shuffle(&plain, 3, &other, &err), 0);
	snap = snapshot_of(shuffled ? &other : &plain, f->lmc);
	netlist_fini(&plain);
	netlist_fini(&other);
	return snap;
}

static inline void
set_options(struct option_values *values, const struct setting *settings, size_t n)
{
	struct option_origin origin = { 0 };
	struct fm_error err = { 0 };

	for (size_t i = 0; i < n; i++) {
		size_t n_items = 0;

		while (n_items < SETTING_ITEMS && settings[i].items[n_items] != NULL)
			n_items++;
		ck_assert_msg(option_values_set(values, settings[i].key, settings[i].items, n_items,
				  &origin, &err) == 0,
		    "%s", err.msg);
	}
}

/* Route; a reference to snap becomes the routed's.  The outcome is in rc and err. */
static inline void
route_with(struct routed *r, const struct fm_engine *engine, struct snapshot *snap,
    const struct setting *settings, size_t n)
{
	struct option_table table = option_table_of(engine);
	struct option_values *values;
	void *opts;

	memset(r, 0, sizeof(*r));
	fm_arena_init(&r->mem, SIZE_MAX);
	ck_assert_int_eq(router_init(&r->router, 2, &r->err), 0);
	r->snap = snap;
	values = option_values_new(&r->mem, &table, engine->name);
	set_options(values, settings, n);
	ck_assert_msg(
	    options_bind(engine, values, snap, &r->mem, &opts, &r->err) == 0, "%s", r->err.msg);
	r->rc = route_once(&r->router, engine, opts, &snap->fab, NULL, 0, &r->tables, &r->err);
}

static inline void
route(struct routed *r, const struct fm_engine *engine, struct snapshot *snap)
{
	route_with(r, engine, snap, NULL, 0);
	ck_assert_msg(r->rc == 0, "%s: %s", engine->name, r->err.msg);
}

static inline void
routed_fini(struct routed *r)
{
	tables_put(r->tables);
	router_fini(&r->router);
	snapshot_put(r->snap);
	fm_arena_fini(&r->mem);
}

static inline struct verdict
judge(const struct routed *r, uint8_t n_vls)
{
	struct verify_request req = { .n_vls = n_vls };
	struct fm_error err = { 0 };
	struct verdict v;

	ck_assert_int_eq(
	    verify_tables(r->snap, &r->tables->t, &req, r->router.workers, &v, &err), 0);
	return v;
}

/* Walk from sw to lid, adding n to load[] link by link, which may be NULL, as may
 * links[64], the way itself; links walked, or FM_NONE. */
static inline uint32_t
walk_links(
    const struct routed *r, fm_sw sw, uint32_t lid, uint32_t n, uint32_t *load, fm_link *links)
{
	const struct fm_fabric *fab = &r->snap->fab;
	uint32_t hops = 0;

	while (sw != fab->end_sw[fab->lid_end[lid]]) {
		fm_link l = fm_link_at(fab, sw, r->tables->t.lft[sw][lid]);

		if (l == FM_NONE || hops >= 64)
			return FM_NONE;
		if (load != NULL)
			load[l] += n;
		if (links != NULL)
			links[hops] = l;
		hops++;
		sw = fab->link_to[l];
	}
	return hops;
}

static inline uint32_t
walk(const struct routed *r, fm_sw sw, uint32_t lid, uint32_t n, uint32_t *load)
{
	return walk_links(r, sw, lid, n, load, NULL);
}

#endif
