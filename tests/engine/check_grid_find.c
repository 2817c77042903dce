/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Grids are recognised: whole and damaged, under any names and ports.  What is
 * found is judged by the links alone: coordinates are right when they are
 * distinct and the links are those of the grid they name.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/abi/host.h"
#include "core/graph/snapshot.h"
#include "lab/topo/netlist.h"
#include "lib/error.h"
#include "plugins/common/grid/grid.h"
#include "tests/run.h"
#include "tests/unit/generate_words.h"

struct found {
	struct fm_pool *workers;
	struct route_host *services;
	struct snapshot *snap;
	struct fm_arcs arcs;
	struct fm_grids grids;
	struct fm_error err;
	int rc;
};

static void
find(struct found *f, struct netlist *nl, enum fm_grid_fours fours)
{
	struct netlist_view view = { .n_vls = 8 };
	struct route_call call = { .budget_bytes = (size_t)1 << 30, .name = "grid" };
	const struct fm_host *host;

	memset(f, 0, sizeof(*f));
	ck_assert_msg(netlist_snapshot(nl, &view, &f->snap, &f->err) == 0, "%s", f->err.msg);
	f->workers = fm_pool_new(1);
	f->services = route_host_new(f->workers, &f->err);
	ck_assert_ptr_nonnull(f->services);
	host = route_host_begin(f->services, &call);
	ck_assert_int_eq(fm_arcs_build(host, &f->snap->fab, &f->arcs, &f->err), 0);
	f->rc = fm_grid_find(host, &f->snap->fab, &f->arcs, fours, &f->grids, &f->err);
}

static void
found_fini(struct found *f)
{
	route_host_end(f->services);
	route_host_free(f->services);
	fm_pool_free(f->workers);
	snapshot_put(f->snap);
}

static void
make(const char *words, uint64_t shuffle, const struct netlist_faults *faults, struct netlist *out,
    uint32_t *n_links)
{
	struct netlist plain = { 0 };
	struct fm_error err = { 0 };
	uint32_t n_switches;

	memset(out, 0, sizeof(*out));
	ck_assert_msg(generate_words(words, &plain, &err) == 0, "%s: %s", words, err.msg);
	if (faults != NULL)
		ck_assert_int_eq(netlist_fail(&plain, faults, n_links, &n_switches, &err), 0);
	if (shuffle == 0) {
		*out = plain;
		return;
	}
	ck_assert_int_eq(netlist_shuffle(&plain, shuffle, out, &err), 0);
	netlist_fini(&plain);
}

/* Are these two cells neighbours?  From coordinates, without the code under test. */
static bool
beside(const struct fm_grid *g, uint32_t a, uint32_t b, uint32_t *dim, int *step)
{
	uint32_t n = 0;

	for (uint32_t d = 0; d < g->n_dims; d++) {
		uint32_t x = a / g->stride[d] % g->size[d], y = b / g->stride[d] % g->size[d];

		if (x == y)
			continue;
		n++;
		*dim = d;
		*step = y > x ? 1 : -1;
		if (g->kind[d] == FM_GRID_RING && y == (x + 1) % g->size[d])
			*step = 1;
		else if (g->kind[d] == FM_GRID_RING && x == (y + 1) % g->size[d])
			*step = -1;
		else if (g->kind[d] != FM_GRID_CLIQUE && (y > x ? y - x : x - y) != 1)
			return false;
	}
	return n == 1;
}

/* Distinct cells; links = neighbouring cells but for n_cut. */
static void
check_links(const char *words, const struct found *f)
{
	for (uint32_t i = 0; i < f->grids.n_grids; i++) {
		const struct fm_grid *g = &f->grids.grid[i];
		uint32_t n_here = 0, n_cut = 0;

		for (uint32_t a = 0; a < g->n_cells; a++) {
			fm_sw u = g->cell_sw[a];

			if (u == FM_NONE)
				continue;
			n_here++;
			ck_assert_uint_eq(f->grids.cell[u], a);
			ck_assert_uint_eq(f->grids.grid_of[u], i);
			for (uint32_t b = 0; b < g->n_cells; b++) {
				uint32_t dim = 0;
				int step = 0;
				bool near = beside(g, a, b, &dim, &step);
				fm_sw v = g->cell_sw[b];
				fm_arc arc = v == FM_NONE ? FM_NONE : fm_arc_find(&f->arcs, u, v);

				if (arc != FM_NONE)
					ck_assert_msg(near && f->grids.arc_dim[arc] == dim &&
						f->grids.arc_step[arc] == step,
					    "%s: arc %u to %u", words, u, v);
				else if (near && v != FM_NONE)
					n_cut++;
			}
		}
		ck_assert_uint_eq(n_here, g->n_switches);
		ck_assert_uint_eq(g->n_holes, g->n_cells - n_here);
		ck_assert_uint_eq(g->n_cut, n_cut / 2);
	}
}

static int
by_value(const void *a, const void *b)
{
	return *(const char *)a - *(const char *)b;
}

/* The name with its sizes sorted: "torus 8x4" and "torus 4x8" are one. */
static void
sort_name(const char *name, char *sorted)
{
	const char *space = strchr(name, ' ');
	size_t n;

	snprintf(sorted, 160, "%s", name);
	if (space == NULL)
		return;
	n = strcspn(space + 1, " ");
	qsort(sorted + (space + 1 - name), n, 1, by_value);
}

static void
check_name(const char *words, const struct found *f, const char *want)
{
	char name[160], a[160], b[160];

	ck_assert_msg(f->rc == 0, "%s: %s", words, f->err.msg);
	ck_assert_msg(f->grids.n_grids == 1, "%s: %u grids", words, f->grids.n_grids);
	fm_grid_name(&f->grids.grid[0], name, sizeof(name));
	sort_name(name, a);
	sort_name(want, b);
	ck_assert_msg(strcmp(a, b) == 0, "%s is called %s", words, name);
}

static const struct {
	const char *words;
	const char *cabled; /* as it is cabled */
	const char *split;  /* under any ports, rings of 4 as two lines of 2 */
} grids[] = {
	{ "torus 8x8x8 1", "torus 8x8x8", "torus 8x8x8" },
	{ "torus 5x6 1", "torus 5x6", "torus 5x6" },
	{ "torus 7 1", "torus 7", "torus 7" },
	{ "torus 4x4 1", "torus 4x4", "hypercube 4" },
	{ "torus 4x4x4 1", "torus 4x4x4", "hypercube 6" },
	{ "torus 8x4x2 1", "torus 8x4x2", "torus 8x2x2x2" },
	{ "torus 4 1", "torus 4", "hypercube 2" },
	{ "torus 3x3 1", "torus 3x3", "torus 3x3" },
	{ "torus 3x3x3 1", "torus 3x3x3", "torus 3x3x3" },
	{ "torus 3 1", "torus 3", "torus 3" },
	{ "torus 2x3x4x5 1", "torus 2x3x4x5", "torus 2x3x2x2x5" },
	{ "torus 2 1", "mesh 2", "mesh 2" },
	{ "torus 1 1", "one switch", "one switch" },
	{ "torus 5x1x6 1 3", "torus 5x6", "torus 5x6" },
	{ "mesh 4x4 1", "mesh 4x4", "mesh 4x4" },
	{ "mesh 3x5x2 1 2", "mesh 3x5x2", "mesh 3x5x2" },
	{ "mesh 9 1", "mesh 9", "mesh 9" },
	{ "mesh 2x7 1", "mesh 2x7", "mesh 2x7" },
	{ "hypercube 1 1", "mesh 2", "mesh 2" },
	{ "hypercube 3 1", "hypercube 3", "hypercube 3" },
	{ "hypercube 7 1", "hypercube 7", "hypercube 7" },
	{ "hyperx 12x12 1", "HyperX 12x12", "HyperX 12x12" },
	{ "hyperx 4x5x6 1", "HyperX 4x5x6", "HyperX 4x5x6" },
	{ "hyperx 3x4 1", "HyperX 3x4", "HyperX 3x4" },
	{ "hyperx 2x9 1", "HyperX 2x9", "HyperX 2x9" },
	{ "hyperx 10 1", "HyperX 10", "HyperX 10" },
};
#define N_GRIDS (int)(sizeof(grids) / sizeof(*grids))

START_TEST(whole_grids_are_found)
{
	const char *words = grids[_i].words;
	struct netlist nl;
	struct found f;

	make(words, 0, NULL, &nl, NULL);
	find(&f, &nl, FM_GRID_CABLED_FOURS);
	check_name(words, &f, grids[_i].cabled);
	check_links(words, &f);
	ck_assert_uint_eq(f.grids.grid[0].n_cut + f.grids.grid[0].n_holes, 0);
	found_fini(&f);
	netlist_fini(&nl);
}
END_TEST

START_TEST(names_and_ports_do_not_matter)
{
	const char *words = grids[_i].words;

	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct netlist nl;
		struct found f;

		make(words, seed, NULL, &nl, NULL);
		find(&f, &nl, FM_GRID_SPLIT_FOURS);
		check_name(words, &f, grids[_i].split);
		check_links(words, &f);
		ck_assert_uint_eq(f.grids.grid[0].n_cut + f.grids.grid[0].n_holes, 0);
		found_fini(&f);
		netlist_fini(&nl);
	}
}
END_TEST

/* Coordinates as in the names "sw-x-y-z" that the generator gave, up to its order. */
START_TEST(cabling_decides_names)
{
	struct netlist nl;
	struct found f;

	make("torus 6x4x8 2", 0, NULL, &nl, NULL);
	find(&f, &nl, FM_GRID_CABLED_FOURS);
	ck_assert_int_eq(f.rc, 0);
	for (fm_sw u = 0; u < f.snap->fab.n_switches; u++) {
		const struct fm_grid *g = &f.grids.grid[0];
		char name[64];

		snprintf(name, sizeof(name), "sw-%u-%u-%u", fm_grid_at(g, f.grids.cell[u], 0),
		    fm_grid_at(g, f.grids.cell[u], 1), fm_grid_at(g, f.grids.cell[u], 2));
		ck_assert_str_eq(name, f.snap->fab.sw_name[u]);
	}
	found_fini(&f);
	netlist_fini(&nl);
}
END_TEST

static const struct {
	const char *words, *split;
	struct netlist_faults faults;
} damaged[] = {
	{ "torus 8x8x8 1", "torus 8x8x8", { .links_pct = 5 } },
	{ "torus 8x8x8 1", "torus 8x8x8", { .links_pct = 1, .n_switches = 4 } },
	{ "torus 6x7 1", "torus 6x7", { .links_pct = 5 } },
	{ "torus 6x7 1", "torus 6x7", { .n_switches = 2 } },
	{ "torus 5x5x5 1", "torus 5x5x5", { .n_switches = 3 } },
	{ "torus 4x4x4 1", "hypercube 6", { .n_links = 4 } },
	{ "torus 4x4x4 1", "hypercube 6", { .n_switches = 1 } },
	{ "torus 3x3x3 1", "torus 3x3x3", { .n_links = 2, .n_switches = 1 } },
	{ "torus 8x8 1", "torus 8x8", { .n_links = 1 } },
	{ "torus 8 1", "mesh 8", { .n_links = 1 } },
	{ "mesh 5x6x4 1", "mesh 5x6x4", { .links_pct = 3 } },
	{ "mesh 8x8 1", "mesh 8x8", { .n_links = 2 } },
	{ "hypercube 6 1", "hypercube 6", { .links_pct = 5 } },
	{ "hypercube 5 1", "hypercube 5", { .n_switches = 1 } },
	{ "hyperx 12x12 1", "HyperX 12x12", { .links_pct = 5 } },
	{ "hyperx 5x4x3 1", "HyperX 5x4x3", { .links_pct = 2, .n_switches = 2 } },
};
#define N_DAMAGED (int)(sizeof(damaged) / sizeof(*damaged))

START_TEST(damaged_grids_are_found)
{
	const char *words = damaged[_i].words;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct netlist_faults faults = damaged[_i].faults;
		struct netlist nl;
		struct found f;
		uint32_t n_links;

		faults.seed = seed;
		make(words, seed, &faults, &nl, &n_links);
		find(&f, &nl, FM_GRID_SPLIT_FOURS);
		check_name(words, &f, damaged[_i].split);
		check_links(words, &f);
		ck_assert_uint_eq(f.grids.grid[0].n_holes, faults.n_switches);
		if (strcmp(damaged[_i].split, "mesh 8") != 0)
			ck_assert_uint_eq(f.grids.grid[0].n_cut, n_links);
		found_fini(&f);
		netlist_fini(&nl);
	}
}
END_TEST

START_TEST(others_are_refused)
{
	static const char *const words[] = { "pgft 2 4,4 1,4 1,1", "pgft 3 4,4,4 1,4,4 1,1,1",
		"dragonfly 4 2 2", "random 24 5 1 7", "random 60 3 1 2", "slimfly 5 1",
		"kautz 3 3 1", "pgft 2 18,18 1,18 1,1" };
	struct netlist nl;
	struct found f;

	make(words[_i], 0, NULL, &nl, NULL);
	find(&f, &nl, FM_GRID_CABLED_FOURS);
	ck_assert_msg(f.rc == FM_E_TOPOLOGY, "%s: %d %s", words[_i], f.rc, f.err.msg);
	ck_assert_ptr_nonnull(strstr(f.err.msg, "no mesh, torus, hypercube or HyperX"));
	found_fini(&f);
	netlist_fini(&nl);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("grid_find");
	TCase *tc = tcase_create("grid_find");

	tcase_add_loop_test(tc, whole_grids_are_found, 0, N_GRIDS);
	tcase_add_loop_test(tc, names_and_ports_do_not_matter, 0, N_GRIDS);
	tcase_add_test(tc, cabling_decides_names);
	tcase_add_loop_test(tc, damaged_grids_are_found, 0, N_DAMAGED);
	tcase_add_loop_test(tc, others_are_refused, 0, 8);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
