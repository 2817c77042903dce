/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * minhop, updn, dnup, shortestpath and dgshortestpath by their options: each is
 * compared with what a slow and simple program makes of the same words.
 */
#include "lab/judge/props.h"
#include "lib/rng.h"
#include "tests/engine/met.h"
#include "tests/engine/routed.h"
#include "tests/run.h"

extern const struct fm_engine minhop_LTX_fm_engine, updn_LTX_fm_engine, dnup_LTX_fm_engine,
    shortestpath_LTX_fm_engine, dgshortestpath_LTX_fm_engine, fattree_LTX_fm_engine;

static const struct fm_engine *const minhop = &minhop_LTX_fm_engine,
				     *const updn = &updn_LTX_fm_engine,
				     *const dnup = &dnup_LTX_fm_engine,
				     *const shortestpath = &shortestpath_LTX_fm_engine,
				     *const dgshortestpath = &dgshortestpath_LTX_fm_engine;
static const struct fm_engine *const engines[] = { &minhop_LTX_fm_engine, &updn_LTX_fm_engine,
	&dnup_LTX_fm_engine, &shortestpath_LTX_fm_engine, &dgshortestpath_LTX_fm_engine };
#define N_ENGINES (sizeof(engines) / sizeof(*engines))

static const struct fabric fabrics[] = {
	{ "pgft 2 4,4 1,4 1,2", 0, 1 },
	{ "pgft 3 3,3,3 1,3,3 1,1,1", 0, 0 },
	{ "pgft 3 4,4,4 1,4,4 1,1,1", 5, 2 },
	{ "pgft 3 4,4,4 1,2,2 1,1,2", 20, 0, 1, 3 },
	{ "torus 5x4 2", 0, 0 },
	{ "torus 3x3x3 1 2", 10, 2 },
	{ "hypercube 4 2", 0, 3 },
	{ "dragonfly 4 2 2", 1, 1, 1, 9 },
	{ "random 24 5 3 7", 0, 0 },
	{ "random 40 3 2 9", 20, 1 },
	{ "kautz 2 3 2", 0, 0 },
	{ "hyperx 3x3 2", 5, 0 },
};
#define N_FABRICS (sizeof(fabrics) / sizeof(*fabrics))

struct text {
	char s[80];
};

static struct text
guid_text(uint64_t guid)
{
	struct text t;

	snprintf(t.s, sizeof(t.s), "0x%016llx", (unsigned long long)guid);
	return t;
}

/* The n-th CA of a switch with several, on the last such switch. */
static fm_end
host_of_last_leaf(const struct fm_fabric *fab, unsigned nth)
{
	for (fm_sw s = fab->n_switches; s-- > 0;) {
		unsigned n = 0;

		for (fm_end e = fab->sw_first_end[s]; e < fab->sw_first_end[s + 1]; e++)
			if (is_ca(fab, e) && n++ == nth)
				return e;
	}
	ck_abort_msg("no switch has that many hosts");
	return FM_NONE;
}

/* ------------------------------------------------- order, search, shifting */

/* Of the links on a shortest path from u, the one whose turn is least. */
static uint8_t
first_port(const struct fm_fabric *fab, const uint32_t *hops, fm_sw u, uint32_t lid, bool backwards,
    bool shift)
{
	uint32_t n = fab->sw_first_link[u + 1] - fab->sw_first_link[u], least = UINT32_MAX;
	uint8_t port = FM_PORT_NONE;

	for (uint32_t i = 0; i < n; i++) {
		fm_link l = fab->sw_first_link[u] + i;
		uint32_t turn = backwards ? 300u - fab->link_port[l] : i;

		if (shift)
			turn = (turn + n - (u + lid) % n) % n;
		if (hops[fab->link_to[l]] + 1 != hops[u] || turn >= least)
			continue;
		least = turn;
		port = fab->link_port[l];
	}
	return port;
}

/* Ports of each switch from the last to the first, in OpenSM's format. */
static char *
write_backwards(const struct fm_fabric *fab, char *path)
{
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");

	ck_assert_ptr_nonnull(f);
	fprintf(f, "# dimension order\n\n");
	for (fm_sw s = 0; s < fab->n_switches; s++) {
		fprintf(f, "0x%016llx ", (unsigned long long)fab->sw_guid[s]);
		for (unsigned p = fab->sw_n_ports[s]; p > 0; p--)
			fprintf(f, " %u", p);
		fprintf(f, "  # sw %u\n", s);
	}
	fclose(f);
	return path;
}

/* Does every switch that minhop met lead to the end by the first of equal links? */
static void
compare_first(const struct routed *r, fm_end end, unsigned k, const char *words)
{
	struct renumbered met;
	const struct fm_fabric *fab = &met.fab;
	uint32_t *hops, lid = r->snap->fab.end_lid[end];
	fm_sw to;

	meet(&met, minhop, r);
	to = met.new_sw[r->snap->fab.end_sw[end]];
	hops = calloc(fab->n_switches, sizeof(*hops));
	count_hops(fab, to, hops);
	for (fm_sw u = 0; u < fab->n_switches; u++)
		ck_assert_msg(u == to || hops[u] == FM_NONE ||
			met.t.lft[u][lid] == first_port(fab, hops, u, lid, k == 1, k == 2),
		    "%s, set %u: switch %u", words, k, met.sw[u]);
	free(hops);
	renumber_end(&met);
}

/* The first of guid_routing_order finds no load anywhere, so among equal links
 * the first is taken: in the links' order, in the order of the file, shifted. */
START_TEST(the_first_of_the_order_finds_empty_links)
{
	struct snapshot *snap = make(&fabrics[_i], false);
	const struct fm_fabric *fab = &snap->fab;
	fm_end end = host_of_last_leaf(fab, 0);
	struct text guid = guid_text(fab->end_guid[end]);
	char path[] = "/tmp/check-paths-XXXXXX", file[80];
	struct setting first = { "guid_routing_order", { guid.s } },
		       search = { "port_search_order", { file } },
		       shift = { "port_shifting", { "yes" } };
	struct setting sets[3][2] = { { first }, { first, search }, { first, shift } };

	snprintf(file, sizeof(file), "file:%s", write_backwards(fab, path));
	for (unsigned k = 0; k < 3; k++) {
		struct routed r;

		route_with(&r, minhop, snapshot_get(snap), sets[k], k == 0 ? 1 : 2);
		ck_assert_int_eq(r.rc, 0);
		compare_first(&r, end, k, fabrics[_i].words);
		ck_assert_int_eq(judge(&r, 8).unreachable_pairs, 0);
		routed_fini(&r);
	}
	remove(path);
	snapshot_put(snap);
}
END_TEST

/* Of two hosts on one leaf the first listed gets what it gets alone, and what the
 * other got when that was first; and they do not get the same. */
START_TEST(the_order_is_that_of_the_list)
{
	struct snapshot *snap = make(&(struct fabric){ "pgft 2 4,4 1,4 1,1" }, false);
	const struct fm_fabric *fab = &snap->fab;
	fm_end end[2] = { host_of_last_leaf(fab, 0), host_of_last_leaf(fab, 1) };
	struct text guid[2] = { guid_text(fab->end_guid[end[0]]),
		guid_text(fab->end_guid[end[1]]) };
	struct setting order = { "guid_routing_order", { guid[0].s, guid[1].s } },
		       other = { "guid_routing_order", { guid[1].s, guid[1].s, guid[0].s } };
	struct setting alone = { "guid_routing_order", { guid[0].s } };
	uint32_t n_different = 0;

	for (size_t i = 0; i < 3; i++) {
		struct routed a, b, c;

		route_with(&a, engines[i], snapshot_get(snap), &order, 1);
		route_with(&b, engines[i], snapshot_get(snap), &other, 1);
		route_with(&c, engines[i], snapshot_get(snap), &alone, 1);
		ck_assert_int_eq(a.rc | b.rc | c.rc, 0);
		for (fm_sw u = 0; u < fab->n_switches; u++) {
			const uint8_t *x = a.tables->t.lft[u], *y = b.tables->t.lft[u];

			if (u == fab->end_sw[end[0]])
				continue;
			ck_assert_uint_eq(x[fab->end_lid[end[0]]], y[fab->end_lid[end[1]]]);
			ck_assert_uint_eq(
			    x[fab->end_lid[end[0]]], c.tables->t.lft[u][fab->end_lid[end[0]]]);
			n_different += x[fab->end_lid[end[0]]] != x[fab->end_lid[end[1]]];
		}
		routed_fini(&a);
		routed_fini(&b);
		routed_fini(&c);
	}
	ck_assert_uint_ge(n_different, 3 * 3); /* engines, other leaves */
	snapshot_put(snap);
}
END_TEST

START_TEST(what_is_listed_need_not_scatter)
{
	struct snapshot *snap = make(&(struct fabric){ "pgft 3 4,4,4 1,4,4 1,1,1" }, false);
	const struct fm_fabric *fab = &snap->fab;
	fm_end end = host_of_last_leaf(fab, 2);
	struct text guid = guid_text(fab->end_guid[end]);
	struct setting order = { "guid_routing_order", { guid.s } },
		       no = { "guid_routing_order_no_scatter", { "yes" } },
		       seed[2] = { { "scatter_ports", { "7" } }, { "scatter_ports", { "11" } } };
	uint32_t *hops = calloc(fab->n_switches, sizeof(*hops));

	count_hops(fab, fab->end_sw[end], hops);
	for (unsigned k = 0; k < 4; k++) {
		struct setting set[3] = { order, seed[k & 1], no };
		uint32_t n_first = 0, n = 0;
		struct routed r;

		route_with(&r, minhop, snapshot_get(snap), set, k < 2 ? 3 : 2);
		for (fm_sw u = 0; u < fab->n_switches; u++) {
			uint16_t lid = fab->end_lid[end];

			n += u != fab->end_sw[end];
			n_first += u != fab->end_sw[end] &&
			    r.tables->t.lft[u][lid] == first_port(fab, hops, u, lid, false, false);
		}
		ck_assert_msg((n_first == n) == (k < 2), "set %u: %u of %u", k, n_first, n);
		routed_fini(&r);
	}
	free(hops);
	snapshot_put(snap);
}
END_TEST

/* ------------------------------------------------------------------- ignore */

/* Load of the hosts that counts[] of each leaf says, from each to each. */
static void
load_of(const struct routed *r, const bool *counts, uint32_t *load)
{
	const struct fm_fabric *fab = &r->snap->fab;

	memset(load, 0, fab->n_links * sizeof(*load));
	for (fm_end s = 0; s < fab->n_ends; s++)
		for (fm_end d = 0; d < fab->n_ends; d++)
			if (counts[s] && counts[d])
				walk(r, fab->end_sw[s], fab->end_lid[d], 1, load);
}

static uint32_t
spread_of(const struct fm_fabric *fab, const uint32_t *load)
{
	uint32_t least = UINT32_MAX, most = 0;

	for (fm_link l = 0; l < fab->n_links; l++) {
		least = load[l] < least ? load[l] : least;
		most = load[l] > most ? load[l] : most;
	}
	return most - least;
}

/* Every second host of a leaf is ignored, named by port GUID or by the port of its
 * switch: the load of the others is even, which it is not if all are counted. */
START_TEST(ignored_hosts_are_no_load)
{
	struct snapshot *snap = make(&(struct fabric){ "pgft 2 4,4 1,2 1,1" }, false);
	const struct fm_fabric *fab = &snap->fab;
	bool *counts = calloc(fab->n_ends, sizeof(*counts));
	uint32_t *load = calloc(fab->n_links, sizeof(*load));
	struct text row[SETTING_ITEMS];
	struct setting ignore = { .key = "ignore_guids" };
	size_t n = 0;

	for (fm_end e = 0; e < fab->n_ends; e++) {
		bool by_port = e % 4 < 2;
		struct text guid =
		    guid_text(by_port ? fab->sw_guid[fab->end_sw[e]] : fab->end_guid[e]);

		if (!is_ca(fab, e))
			continue;
		counts[e] = fab->end_lid[e] % 2;
		if (counts[e])
			continue;
		snprintf(
		    row[n].s, sizeof(row[n].s), "%.40s %u", guid.s, by_port ? fab->end_port[e] : 1);
		ignore.items[n] = row[n].s;
		n++;
	}
	for (size_t i = 0; i < 3; i++) {
		struct routed plain, r;

		route(&plain, engines[i], snapshot_get(snap));
		route_with(&r, engines[i], snapshot_get(snap), &ignore, 1);
		load_of(&plain, counts, load);
		ck_assert_uint_gt(spread_of(fab, load), 3);
		load_of(&r, counts, load);
		ck_assert_uint_le(spread_of(fab, load), 1);
		routed_fini(&plain);
		routed_fini(&r);
	}
	free(counts);
	free(load);
	snapshot_put(snap);
}
END_TEST

/* When only the two hosts of one leaf count they load no cable, so whoever leads
 * to them leads both the same way. */
START_TEST(ignored_hosts_are_no_sources)
{
	struct snapshot *snap = make(&(struct fabric){ "pgft 2 2,6 1,4 1,1" }, false);
	const struct fm_fabric *fab = &snap->fab;
	fm_end end[2] = { host_of_last_leaf(fab, 0), host_of_last_leaf(fab, 1) };
	struct text row[SETTING_ITEMS];
	struct setting ignore = { .key = "ignore_guids" };
	struct routed r;
	size_t n = 0;

	for (fm_end e = 0; e < fab->n_ends; e++) {
		struct text guid = guid_text(fab->end_guid[e]);

		if (!is_ca(fab, e) || e == end[0] || e == end[1])
			continue;
		snprintf(row[n].s, sizeof(row[n].s), "%.40s 1", guid.s);
		ignore.items[n] = row[n].s;
		n++;
	}
	route_with(&r, minhop, snapshot_get(snap), &ignore, 1);
	for (fm_sw u = 0; u < fab->n_switches; u++)
		ck_assert(u == fab->end_sw[end[0]] ||
		    r.tables->t.lft[u][fab->end_lid[end[0]]] ==
			r.tables->t.lft[u][fab->end_lid[end[1]]]);
	routed_fini(&r);
	snapshot_put(snap);
}
END_TEST

/* A cable that seems empty is taken before its equals. */
START_TEST(ignored_cables_seem_empty)
{
	struct snapshot *snap = make(&(struct fabric){ "pgft 2 8,4 1,1 1,4" }, false);
	const struct fm_fabric *fab = &snap->fab;
	fm_sw leaf = fab->end_sw[host_of_last_leaf(fab, 0)];
	uint8_t port = fab->link_port[fab->sw_first_link[leaf] + 2];
	struct text row, guid = guid_text(fab->sw_guid[leaf]);
	struct setting ignore = { "ignore_guids", { row.s } };
	struct routed r;
	uint32_t n = 0, n_all = 0;

	snprintf(row.s, sizeof(row.s), "%.40s %u", guid.s, port);
	route_with(&r, minhop, snapshot_get(snap), &ignore, 1);
	for (fm_end e = 0; e < fab->n_ends; e++) {
		n_all += is_ca(fab, e) && fab->end_sw[e] != leaf;
		n += is_ca(fab, e) && fab->end_sw[e] != leaf &&
		    r.tables->t.lft[leaf][fab->end_lid[e]] == port;
	}
	ck_assert_msg(n * 4 > n_all * 3, "%u of %u LIDs over one of four ports", n, n_all);
	routed_fini(&r);
	snapshot_put(snap);
}
END_TEST

/* ------------------------------------------------------------------ weights */

/* Bellman and Ford: least weight from every switch to root, at most `most`. */
static void
weigh(const struct fm_fabric *fab, const uint32_t *weight, fm_sw root, uint32_t most, uint32_t *to)
{
	bool again = true;

	memset(to, 0xff, fab->n_switches * sizeof(*to));
	to[root] = 0;
	while (again) {
		again = false;
		for (fm_sw u = 0; u < fab->n_switches; u++)
			for (fm_link l = fab->sw_first_link[u]; l < fab->sw_first_link[u + 1];
			     l++) {
				fm_sw v = fab->link_to[l];

				if (to[v] == FM_NONE || to[v] + weight[l] >= to[u] ||
				    to[v] + weight[l] > most)
					continue;
				to[u] = to[v] + weight[l];
				again = true;
			}
	}
}

/* Every walk is as long as the oracle says: sum of weights, or none. */
static void
compare_weights(const struct routed *r, const uint32_t *weight, uint32_t most)
{
	const struct fm_fabric *fab = &r->snap->fab;
	uint32_t *to = calloc(fab->n_switches, sizeof(*to));
	fm_link links[64];

	for (uint32_t lid = 1; lid <= fab->max_lid; lid++) {
		fm_end e = fab->lid_end[lid];

		if (e == FM_NONE || fab->end_sw[e] == FM_NONE)
			continue;
		weigh(fab, weight, fab->end_sw[e], most, to);
		for (fm_sw u = 0; u < fab->n_switches; u++) {
			uint32_t n = walk_links(r, u, lid, 0, NULL, links), sum = 0;

			for (uint32_t i = 0; n != FM_NONE && i < n; i++)
				sum += weight[links[i]];
			ck_assert_msg(n == FM_NONE ? to[u] == FM_NONE : sum == to[u],
			    "switch %u to LID %u: %u hops, weight %u, not %u", u, lid, n, sum,
			    to[u]);
		}
	}
	free(to);
}

/* In OpenSM's format; those of weight 1 are left out. */
static void
write_weights(const struct fm_fabric *fab, const uint32_t *weight, char *path)
{
	FILE *f = fdopen(mkstemp(path), "w");

	ck_assert_ptr_nonnull(f);
	for (fm_sw s = 0; s < fab->n_switches; s++)
		for (fm_link l = fab->sw_first_link[s]; l < fab->sw_first_link[s + 1]; l++)
			if (weight[l] != 1)
				fprintf(f, "\t0x%llx %u\t%u # out of here\n",
				    (unsigned long long)fab->sw_guid[s], fab->link_port[l],
				    weight[l]);
	fclose(f);
}

START_TEST(hop_weights_make_lightest_paths)
{
	struct snapshot *snap = make(&fabrics[_i], false);
	const struct fm_fabric *fab = &snap->fab;
	uint32_t *weight = calloc(fab->n_links, sizeof(*weight));
	char path[] = "/tmp/check-paths-XXXXXX", file[80];
	struct setting set = { "hop_weights", { file } };
	struct fm_rng rng;
	struct routed r;

	fm_rng_seed(&rng, 17);
	for (fm_link l = 0; l < fab->n_links; l++)
		weight[l] = 1 + fm_rng_below(&rng, 100) * fm_rng_below(&rng, 2);
	weight[0] = 255;
	write_weights(fab, weight, path);
	snprintf(file, sizeof(file), "file:%s", path);
	route_with(&r, minhop, snap, &set, 1);
	ck_assert_msg(r.rc == 0, "%s", r.err.msg);
	compare_weights(&r, weight, 254);
	ck_assert_uint_eq(judge(&r, 8).loops, 0);
	routed_fini(&r);
	remove(path);
	free(weight);
}
END_TEST

/* 0 -- 1 -- 2 -- 3 in a ring with 3 -- 0 heavy. */
START_TEST(max_hops_counts_links_not_weights)
{
	struct snapshot *snap = make(&(struct fabric){ "torus 8 1" }, false);
	const struct fm_fabric *fab = &snap->fab;
	struct text row, guid = guid_text(fab->sw_guid[0]);
	struct setting set[2] = { { "hop_weights", { row.s } }, { "max_hops", { "7" } } };
	struct routed r;

	snprintf(row.s, sizeof(row.s), "%.40s %u 100", guid.s, fab->link_port[0]);
	route_with(&r, minhop, snapshot_get(snap), set, 2);
	ck_assert_int_eq(r.rc, 0);
	routed_fini(&r);
	set[1].items[0] = "6";
	route_with(&r, minhop, snapshot_get(snap), set, 2);
	ck_assert_int_eq(r.rc, FM_E_TOPOLOGY);
	ck_assert_msg(strstr(r.err.msg, "needs 7 hops") != NULL, "%s", r.err.msg);
	routed_fini(&r);
	snapshot_put(snap);
}
END_TEST

/* ---------------------------------------------------------- up/down legality */

struct updown {
	uint32_t *rank; /* hops to the nearest root: less is up */
	int64_t *id;
	const fm_sw *number; /* of equals: as the engine met them; compare_legal() knows */
};

static bool
is_up(const struct updown *o, fm_sw from, fm_sw to)
{
	if (o->rank[from] != o->rank[to])
		return o->rank[to] < o->rank[from];
	return o->id[from] != o->id[to] ? o->id[to] < o->id[from] : o->number[to] < o->number[from];
}

/* Links from every switch to root going down only, or up and then down where
 * there is no way down: by relaxing until nothing changes. */
static void
count_legal(
    const struct fm_fabric *fab, const struct updown *o, fm_sw root, bool *down, uint32_t *to)
{
	memset(to, 0xff, fab->n_switches * sizeof(*to));
	memset(down, 0, fab->n_switches);
	to[root] = 0;
	down[root] = true;
	for (int going_up = 0; going_up < 2; going_up++)
		for (bool again = true; again;) {
			again = false;
			for (fm_sw u = 0; u < fab->n_switches; u++)
				for (fm_link l = fab->sw_first_link[u];
				     l < fab->sw_first_link[u + 1]; l++) {
					fm_sw v = fab->link_to[l];

					if (is_up(o, u, v) != (going_up == 1) || to[v] == FM_NONE ||
					    to[v] + 1 >= to[u] ||
					    (going_up == 1 ? down[u] : !down[v]))
						continue;
					to[u] = to[v] + 1;
					down[u] = going_up == 0;
					again = true;
				}
		}
}

/* Walks exist where legal paths do, are legal and as short as those can be. */
static void
compare_legal(const struct routed *r, const struct fm_engine *engine, const struct updown *ranked,
    const char *words)
{
	const struct fm_fabric *fab = &r->snap->fab;
	struct updown o = *ranked;
	struct renumbered met;
	uint32_t *to = calloc(fab->n_switches, sizeof(*to));
	bool *down = calloc(fab->n_switches, sizeof(*down));
	fm_link links[64];

	meet(&met, engine, r);
	o.number = met.new_sw;
	for (uint32_t lid = 1; lid <= fab->max_lid; lid++) {
		fm_end e = fab->lid_end[lid];

		if (e == FM_NONE || fab->end_sw[e] == FM_NONE)
			continue;
		count_legal(fab, &o, fab->end_sw[e], down, to);
		for (fm_sw u = 0; u < fab->n_switches; u++) {
			uint32_t n = walk_links(r, u, lid, 0, NULL, links);
			bool up = true;
			fm_sw at = u;

			ck_assert_msg(n == to[u], "%s: switch %u to LID %u: %u hops, not %u", words,
			    u, lid, n, to[u]);
			for (uint32_t i = 0; n != FM_NONE && i < n; i++) {
				bool goes_up = is_up(&o, at, fab->link_to[links[i]]);

				ck_assert_msg(up || !goes_up, "%s: switch %u to LID %u turns up",
				    words, u, lid);
				up &= goes_up;
				at = fab->link_to[links[i]];
			}
		}
	}
	free(to);
	free(down);
	renumber_end(&met);
}

static void
rank_from(const struct fm_fabric *fab, const fm_sw *roots, uint32_t n, uint32_t *rank)
{
	uint32_t *hops = calloc(fab->n_switches, sizeof(*hops));

	memset(rank, 0xff, fab->n_switches * sizeof(*rank));
	for (uint32_t i = 0; i < n; i++) {
		count_hops(fab, roots[i], hops);
		for (fm_sw s = 0; s < fab->n_switches; s++)
			rank[s] = hops[s] < rank[s] ? hops[s] : rank[s];
	}
	free(hops);
}

/* Roots by GUID and by name, with ids and without; then a file of each kind. */
START_TEST(given_roots_are_obeyed)
{
	struct snapshot *snap = make(&fabrics[_i], false);
	const struct fm_fabric *fab = &snap->fab;
	fm_sw roots[3] = { 0, fab->n_switches / 2, fab->n_switches - 1 };
	struct updown o = { calloc(fab->n_switches, sizeof(*o.rank)),
		calloc(fab->n_switches, sizeof(*o.id)) };
	struct text guid[3], name;
	char path[2][32] = { "/tmp/check-paths-XXXXXX", "/tmp/check-paths-XXXXXX" }, file[2][80];
	struct setting leave = { "calculate_missing_routes", { "no" } };
	FILE *f[2];

	for (unsigned i = 0; i < 3; i++)
		guid[i] = guid_text(fab->sw_guid[roots[i]]);
	snprintf(name.s, sizeof(name.s), "name:%s", fab->sw_name[roots[2]]);
	for (unsigned i = 0; i < 2; i++) {
		f[i] = fdopen(mkstemp(path[i]), "w");
		snprintf(file[i], sizeof(file[i]), "file:%s", path[i]);
	}
	fprintf(f[0], "# roots\n  %s\n%s # the second\n\n%s a spine\n", guid[0].s, guid[1].s,
	    guid[2].s);
	for (fm_sw s = 0; s < fab->n_switches; s++)
		fprintf(f[1], "0x%llx %u\n", (unsigned long long)fab->sw_guid[s],
		    (s * 7 + 3) % (fab->n_switches + 5));
	fclose(f[0]);
	fclose(f[1]);
	for (unsigned k = 0; k < 4; k++) {
		uint32_t n_roots = k == 0 ? 1 : 3;
		struct setting set[3] = { { "roots", { guid[0].s } }, leave,
			{ "ids", { file[1] } } };
		struct routed r;

		if (k > 0)
			set[0] = (struct setting){ "roots", { guid[0].s, guid[1].s, name.s } };
		if (k == 3)
			set[0] = (struct setting){ "roots", { file[0] } };
		for (fm_sw s = 0; s < fab->n_switches; s++)
			o.id[s] = k >= 2 ? (s * 7 + 3) % (fab->n_switches + 5) : 0;
		if (snap->n_components > 1)
			continue; /* the others get roots of their own */
		rank_from(fab, roots, n_roots, o.rank);
		route_with(&r, updn, snapshot_get(snap), set, k >= 2 ? 3 : 2);
		ck_assert_msg(r.rc == 0, "%s", r.err.msg);
		compare_legal(&r, updn, &o, fabrics[_i].words);
		ck_assert_uint_eq(judge(&r, 1).credit_loops, 0);
		routed_fini(&r);
	}
	for (unsigned i = 0; i < 2; i++)
		remove(path[i]);
	free(o.rank);
	free(o.id);
	snapshot_put(snap);
}
END_TEST

/* level = n: the roots are the switches n hops from a host's. */
START_TEST(a_level_of_roots_is_obeyed)
{
	static const struct {
		struct fabric f;
		const char *level;
	} cases[] = { { { "pgft 3 3,3,3 1,3,3 1,1,1" }, "2" },
		{ { "pgft 3 3,3,3 1,3,3 1,1,1" }, "1" },
		{ { "pgft 3 4,4,4 1,4,4 1,1,1", 20 }, "2" },
		{ { "pgft 3 4,4,4 1,4,4 1,1,1", 20 }, "1" } };
	struct snapshot *snap = make(&cases[_i].f, false);
	const struct fm_fabric *fab = &snap->fab;
	struct setting set[2] = { { "level", { cases[_i].level } },
		{ "calculate_missing_routes", { "no" } } };
	struct updown o = { calloc(fab->n_switches, sizeof(*o.rank)),
		calloc(fab->n_switches, sizeof(*o.id)) };
	fm_sw *leaves = calloc(fab->n_switches, sizeof(*leaves)), n = 0;
	struct routed r;

	for (fm_sw s = 0; s < fab->n_switches; s++)
		for (fm_end e = fab->sw_first_end[s]; e < fab->sw_first_end[s + 1]; e++)
			if (is_ca(fab, e) && (n == 0 || leaves[n - 1] != s))
				leaves[n++] = s;
	rank_from(fab, leaves, n, o.rank);
	n = 0;
	for (fm_sw s = 0; s < fab->n_switches; s++)
		if (o.rank[s] == (uint32_t)strtoul(cases[_i].level, NULL, 10))
			leaves[n++] = s;
	ck_assert_uint_gt(n, 1);
	rank_from(fab, leaves, n, o.rank);
	route_with(&r, updn, snap, set, 2);
	ck_assert_msg(r.rc == 0, "%s", r.err.msg);
	compare_legal(&r, updn, &o, cases[_i].f.words);
	routed_fini(&r);
	free(leaves);
	free(o.rank);
	free(o.id);
}
END_TEST

/* Hosts on one switch only: its levels are the hops to it, of which there are no
 * ties and one highest switch, so the legal paths are known.  scatter_ports keeps
 * to the shortest of them. */
START_TEST(dnup_goes_away_from_hosts_first)
{
	static const char *const words[] = { "torus 6 1", "mesh 4x5 1", "hypercube 4 1" };
	struct setting scatter = { "scatter_ports", { "3" } };
	const struct fm_fabric *fab;
	struct netlist nl = { 0 };
	struct updown o;
	struct routed r;
	uint32_t top = 0;
	fm_sw base;

	make_netlist(&(struct fabric){ words[_i] }, &nl);
	for (uint32_t i = 0, n = 0; i < nl.n_nodes; i++)
		if (nl.nodes[i].type == NETLIST_CA && n++ > 0)
			netlist_uncable(&nl, i, 1);
	route_with(&r, dnup, snapshot_of(&nl, 0), &scatter, 1);
	netlist_fini(&nl);
	ck_assert_int_eq(r.rc, 0);
	fab = &r.snap->fab;
	o.rank = calloc(fab->n_switches, sizeof(*o.rank));
	o.id = calloc(fab->n_switches, sizeof(*o.id));
	base = fab->end_sw[host_of_last_leaf(fab, 0)];
	rank_from(fab, &base, 1, o.rank);
	for (fm_sw s = 0; s < fab->n_switches; s++)
		top = o.rank[s] > top ? o.rank[s] : top;
	for (fm_sw s = 0; s < fab->n_switches; s++)
		o.rank[s] = top - o.rank[s];
	compare_legal(&r, dnup, &o, words[_i]);
	ck_assert_uint_eq(judge(&r, 1).credit_loops, 0);
	routed_fini(&r);
	free(o.rank);
	free(o.id);
}
END_TEST

/* Rings of odd length with hosts on one switch: the two farthest are of one level,
 * and whichever is up, the way between the nearest two is the long one. */
START_TEST(dnup_counts_levels_from_hosts_off_trees_too)
{
	static const char *const words[] = { "torus 5 1", "torus 7 1" };
	const struct fm_fabric *fab;
	struct netlist nl = { 0 };
	struct routed r;
	fm_sw base, near[2];

	make_netlist(&(struct fabric){ words[_i] }, &nl);
	for (uint32_t i = 0, n = 0; i < nl.n_nodes; i++)
		if (nl.nodes[i].type == NETLIST_CA && n++ > 0)
			netlist_uncable(&nl, i, 1);
	route(&r, dnup, snapshot_of(&nl, 0));
	netlist_fini(&nl);
	fab = &r.snap->fab;
	base = fab->end_sw[host_of_last_leaf(fab, 0)];
	for (unsigned i = 0; i < 2; i++)
		near[i] = fab->link_to[fab->sw_first_link[base] + i];
	for (unsigned i = 0; i < 2; i++)
		for (fm_end e = fab->sw_first_end[near[i]]; e < fab->sw_first_end[near[i] + 1]; e++)
			ck_assert_uint_eq(
			    walk(&r, near[1 - i], fab->end_lid[e], 0, NULL), fab->n_switches - 2);
	routed_fini(&r);
}
END_TEST

/* With all hosts at the bottom of a tree levels are the same from either end. */
START_TEST(dnup_is_updn_on_trees)
{
	struct snapshot *snap = make(&fabrics[_i], false);
	struct routed a, b;

	route(&a, updn, snapshot_get(snap));
	route(&b, dnup, snapshot_get(snap));
	ck_assert_uint_eq(
	    props_digest(&snap->fab, &a.tables->t), props_digest(&snap->fab, &b.tables->t));
	routed_fini(&a);
	routed_fini(&b);
	snapshot_put(snap);
}
END_TEST

static uint32_t
greatest_load(const struct routed *r, double *mean)
{
	const struct fm_fabric *fab = &r->snap->fab;
	bool *counts = calloc(fab->n_ends, sizeof(*counts));
	uint32_t *load = calloc(fab->n_links, sizeof(*load)), max = 0;
	double sum = 0;

	for (fm_end e = 0; e < fab->n_ends; e++)
		counts[e] = is_ca(fab, e);
	load_of(r, counts, load);
	for (fm_link l = 0; l < fab->n_links; l++) {
		max = load[l] > max ? load[l] : max;
		sum += load[l];
	}
	*mean = sum / fab->n_links;
	free(counts);
	free(load);
	return max;
}

/* On damaged trees the detour by way of a demoted switch is for those in need: if
 * all may take it, the switch it hangs off bears twice as much. */
START_TEST(few_go_aside)
{
	static const struct {
		struct fabric f;
		uint32_t max; /* measured, plus a tenth */
	} cases[] = { { { "pgft 3 4,4,8 1,2,4 1,2,1", 3, 0, 0, 1 }, 390 },
		{ { "pgft 3 6,6,8 1,6,6 1,1,1", 3, 0, 0, 4 }, 650 } };
	struct routed r;
	uint32_t max;
	double mean;

	route(&r, updn, make(&cases[_i].f, false));
	max = greatest_load(&r, &mean);
	ck_assert_msg(max <= cases[_i].max, "%u routes on a cable", max);
	routed_fini(&r);
}
END_TEST

/* The bounds are those measured plus a tenth; breadth first orders have about
 * twice as much. */
START_TEST(irregular_fabrics_are_not_crowded_at_the_top)
{
	static const struct {
		const char *words;
		double updn, dnup;
	} cases[] = { { "random 60 8 4 1", 2.1, 2.15 }, { "kautz 2 4 2", 2.6, 3 },
		{ "slimfly 5 2", 2.3, 2.6 }, { "dragonfly 4 2 2", 2.6, 2.6 },
		{ "hypercube 6 2", 2.3, 2.3 } };

	for (size_t i = 1; i <= 2; i++) {
		struct routed r;
		double mean, bound = i == 1 ? cases[_i].updn : cases[_i].dnup, max;

		route(&r, engines[i], make(&(struct fabric){ cases[_i].words }, false));
		max = greatest_load(&r, &mean);
		ck_assert_msg(max / mean <= bound, "%s on %s: %f", engines[i]->name,
		    cases[_i].words, max / mean);
		routed_fini(&r);
	}
}
END_TEST

/* ------------------------------------------------------- several LIDs of a host */

/* How many of n keys differ. */
static uint32_t
count_distinct(const uint64_t *key, uint32_t n)
{
	uint32_t distinct = 0;

	for (uint32_t i = 0; i < n; i++) {
		bool seen = false;

		for (uint32_t j = 0; j < i; j++)
			seen |= key[j] == key[i];
		distinct += !seen;
	}
	return distinct;
}

enum { FIRST_CABLE, LAST_CABLE, TOP_SWITCH, TOP_SYSTEM, PLACES };
static const char *const places[] = { "first cables", "last cables", "highest switches",
	"chassis of the highest switches" };

/* What all shortest paths from u to the switch of `to` have to offer. */
static void
count_offers(
    const struct fm_fabric *fab, fm_sw u, const uint32_t *to, const uint32_t *from, uint32_t *offer)
{
	uint64_t *system = calloc(fab->n_switches, sizeof(*system));
	uint32_t n = 0;

	memset(offer, 0, PLACES * sizeof(*offer));
	for (fm_sw x = 0; x < fab->n_switches; x++) {
		if (from[x] + to[x] != to[u])
			continue;
		if (2 * to[x] == to[u])
			system[n++] = fab->sw_system_guid[x];
		for (fm_link l = fab->sw_first_link[x]; l < fab->sw_first_link[x + 1]; l++) {
			offer[FIRST_CABLE] += x == u && to[fab->link_to[l]] + 1 == to[u];
			offer[LAST_CABLE] += to[x] == 1 && to[fab->link_to[l]] == 0;
		}
	}
	offer[TOP_SWITCH] = n;
	offer[TOP_SYSTEM] = count_distinct(system, n);
	free(system);
}

/* The LIDs of e from switch u: as many ways as the fabric has and they are. */
static void
check_apart(const struct routed *r, fm_sw u, fm_end e, const uint32_t *to, const uint32_t *from,
    bool by_load, const char *what)
{
	const struct fm_fabric *fab = &r->snap->fab;
	uint32_t n = 1u << fab->end_lmc[e], offer[PLACES];
	uint64_t key[PLACES][8];
	fm_link links[64];

	count_offers(fab, u, to, from, offer);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t hops = walk_links(r, u, fab->end_lid[e] + i, 0, NULL, links);
		fm_sw top;

		ck_assert_uint_eq(hops, to[u]);
		top = fab->link_to[links[hops / 2 - 1]];
		key[FIRST_CABLE][i] = links[0];
		key[LAST_CABLE][i] = links[hops - 1];
		key[TOP_SWITCH][i] = top;
		key[TOP_SYSTEM][i] = fab->sw_system_guid[top];
	}
	for (int k = 0; k < PLACES; k++) {
		uint32_t want = n < offer[k] ? n : offer[k], got = count_distinct(key[k], n);

		if (by_load && k != FIRST_CABLE)
			want = want * 3 / 4; /* switch by switch, not all can be had */
		ck_assert_msg(got >= want, "%s: switch %u to end %u: %u %s, not %u", what, u, e,
		    got, places[k], want);
	}
}

static bool
has_cas(const struct fm_fabric *fab, fm_sw s)
{
	for (fm_end e = fab->sw_first_end[s]; e < fab->sw_first_end[s + 1]; e++)
		if (is_ca(fab, e))
			return true;
	return false;
}

static bool
is_cabled_to_ca(const struct netlist *nl, uint32_t node)
{
	for (unsigned p = 1; p <= nl->nodes[node].n_ports; p++) {
		uint32_t peer = netlist_port(nl, node, p)->peer_node;

		if (peer != NETLIST_NONE && nl->nodes[peer].type == NETLIST_CA)
			return true;
	}
	return false;
}

/* Two neighbours, by index, of those right above the leaves make a chassis. */
static struct snapshot *
make_chassis(const char *words, uint8_t lmc)
{
	struct netlist nl = { 0 };
	struct snapshot *snap;
	uint32_t n_spines = 0;

	make_netlist(&(struct fabric){ words }, &nl);
	for (uint32_t i = 0; i < nl.n_nodes; i++) {
		bool above = false;

		if (nl.nodes[i].type != NETLIST_SWITCH || is_cabled_to_ca(&nl, i))
			continue;
		for (unsigned p = 1; p <= nl.nodes[i].n_ports; p++) {
			uint32_t peer = netlist_port(&nl, i, p)->peer_node;

			above |= peer != NETLIST_NONE && is_cabled_to_ca(&nl, peer);
		}
		if (above)
			nl.nodes[i].system_guid = 0x7000 + n_spines++ / 2;
	}
	snap = snapshot_of(&nl, lmc);
	netlist_fini(&nl);
	return snap;
}

START_TEST(lids_of_a_host_go_apart_from_end_to_end)
{
	static const char *const words[] = { "pgft 2 4,4 1,4 1,1", "pgft 2 4,4 1,2 1,2",
		"pgft 2 6,6 1,6 1,1", "pgft 3 4,4,4 1,4,4 1,1,1", "pgft 3 4,4,4 1,2,2 1,1,2" };
	static const struct fm_engine *const all[] = { &minhop_LTX_fm_engine, &updn_LTX_fm_engine,
		&dnup_LTX_fm_engine, &fattree_LTX_fm_engine };
	struct setting load = { "port_shifting", { "yes" } };

	for (uint8_t lmc = 1; lmc <= 3; lmc++)
		for (size_t i = 0; i < 5; i++) {
			const struct fm_engine *engine = all[i % 4];
			struct routed r;
			const struct fm_fabric *fab;
			uint32_t *to, *from;
			char what[96];

			route_with(&r, engine, make_chassis(words[_i], lmc), &load, i == 4);
			ck_assert_int_eq(r.rc, 0);
			snprintf(what, sizeof(what), "%s%s, LMC %u on %s", engine->name,
			    i == 4 ? " by load" : "", lmc, words[_i]);
			fab = &r.snap->fab;
			to = calloc(fab->n_switches, sizeof(*to));
			from = calloc(fab->n_switches, sizeof(*from));
			for (fm_end e = 0; e < fab->n_ends; e += 3) {
				if (!is_ca(fab, e))
					continue;
				count_hops(fab, fab->end_sw[e], to);
				for (fm_sw u = 0; u < fab->n_switches; u++) {
					if (u == fab->end_sw[e] || !has_cas(fab, u))
						continue;
					count_hops(fab, u, from);
					check_apart(&r, u, e, to, from, i == 4, what);
				}
			}
			free(to);
			free(from);
			routed_fini(&r);
		}
}
END_TEST

/* ----------------------------------------------------- counting, as opa-fm does */

struct counting {
	const struct fm_fabric *fab;
	uint32_t *cost;	   /* [n_switches][n_switches] */
	uint32_t *on_port; /* [n_switches][256] */
	uint32_t *into;	   /* [n_switches] */
	uint8_t *lft;	   /* [n_switches][max_lid + 1] */
	bool spine_first;
};

static uint32_t
cost_of(const struct fm_fabric *fab, fm_link l)
{
	return 120000000u / fab->link_mbps[l];
}

/* Floyd and Warshall. */
static void
find_costs(struct counting *c)
{
	uint32_t n = c->fab->n_switches;

	memset(c->cost, 0x3f, (size_t)n * n * sizeof(*c->cost));
	for (fm_sw u = 0; u < n; u++) {
		c->cost[u * n + u] = 0;
		for (fm_link l = c->fab->sw_first_link[u]; l < c->fab->sw_first_link[u + 1]; l++) {
			uint32_t *to = &c->cost[u * n + c->fab->link_to[l]];

			*to = cost_of(c->fab, l) < *to ? cost_of(c->fab, l) : *to;
		}
	}
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t j = 0; j < n; j++)
				if (c->cost[i * n + k] + c->cost[k * n + j] < c->cost[i * n + j])
					c->cost[i * n + j] =
					    c->cost[i * n + k] + c->cost[k * n + j];
}

static bool
has_hosts(const struct fm_fabric *fab, fm_sw s)
{
	for (fm_end e = fab->sw_first_end[s]; e < fab->sw_first_end[s + 1]; e++)
		if (is_ca(fab, e))
			return true;
	return false;
}

/* One switch, one LID: opa-fm's select_ports(). */
static void
select_port(struct counting *c, fm_sw u, fm_end end)
{
	const struct fm_fabric *fab = c->fab;
	uint32_t n = fab->n_switches, speed = 0;
	fm_sw to = fab->end_sw[end];
	bool internal = false, spine = false;
	fm_link best = FM_NONE;

	for (fm_link l = fab->sw_first_link[u]; l < fab->sw_first_link[u + 1]; l++)
		internal |= fab->sw_system_guid[fab->link_to[l]] == fab->sw_system_guid[u];
	for (unsigned port = 1; port < 255; port++) {
		fm_link l = fm_link_at(fab, u, port);
		fm_sw v = l != FM_NONE ? fab->link_to[l] : 0;
		const uint32_t *on = c->on_port + u * 256;

		if (l == FM_NONE || c->cost[u * n + v] + c->cost[v * n + to] != c->cost[u * n + to])
			continue;
		if (c->spine_first && internal) {
			bool is = fab->sw_system_guid[v] == fab->sw_system_guid[u];

			if (spine && !is)
				continue;
			if (is && !spine)
				best = FM_NONE, speed = 0, spine = true;
		}
		if (fab->link_mbps[l] < speed)
			continue;
		if (best == FM_NONE || fab->link_mbps[l] > speed ||
		    on[port] < on[fab->link_port[best]] ||
		    (on[port] == on[fab->link_port[best]] &&
			c->into[v] < c->into[fab->link_to[best]])) {
			best = l;
			speed = fab->link_mbps[l];
		}
	}
	c->lft[u * (fab->max_lid + 1u) + fab->end_lid[end]] = fab->link_port[best];
	if (is_ca(fab, end)) {
		c->on_port[u * 256 + fab->link_port[best]]++;
		c->into[fab->link_to[best]]++;
	}
}

static void
simulate(struct counting *c, const fm_end *order, uint32_t n, bool edge_first)
{
	const struct fm_fabric *fab = c->fab;

	find_costs(c);
	memset(c->lft, FM_PORT_NONE, fab->n_switches * (fab->max_lid + 1u));
	for (int pass = edge_first ? 0 : 1; pass < 2; pass++)
		for (uint32_t i = 0; i < n; i++)
			for (fm_sw u = 0; u < fab->n_switches; u++) {
				uint32_t to = fab->end_sw[order[i]];

				if (u == to)
					c->lft[u * (fab->max_lid + 1u) + fab->end_lid[order[i]]] =
					    fab->end_port[order[i]];
				else if ((!edge_first || has_hosts(fab, u) == (pass == 0)) &&
				    c->cost[u * fab->n_switches + to] < 0x3f3f3f3f)
					select_port(c, u, order[i]);
			}
}

/* A fabric of cables of three speeds and chassis of up to three switches. */
static struct snapshot *
make_mixed(const struct fabric *f)
{
	struct netlist nl = { 0 };
	struct snapshot *snap;
	struct fm_rng rng;

	fm_rng_seed(&rng, 23);
	make_netlist(f, &nl);
	for (uint32_t i = 0; i < nl.n_nodes; i++) {
		if (nl.nodes[i].type == NETLIST_SWITCH)
			nl.nodes[i].system_guid = 0x5000 + i / (1 + i % 3);
		for (unsigned p = 1; p <= nl.nodes[i].n_ports; p++) {
			struct netlist_port *port = netlist_port(&nl, i, p);

			if (port->peer_node == NETLIST_NONE)
				continue;
			port->lane_mbps = 25000u << fm_rng_below(&rng, 3) / 2;
			netlist_port(&nl, port->peer_node, port->peer_port)->lane_mbps =
			    port->lane_mbps;
		}
	}
	snap = snapshot_of(&nl, 0);
	netlist_fini(&nl);
	return snap;
}

/* Ends of groups 0, 1, 2, in each switch by switch; order[n_ends]. */
static uint32_t
order_of(const struct renumbered *met, const uint32_t *group, fm_end *order)
{
	uint32_t n = 0;

	for (uint32_t g = 0; g < 3; g++)
		for (fm_end e = 0; e < met->fab.n_ends; e++)
			if (met->fab.end_lid[e] != 0 && group[met->end[e]] == g)
				order[n++] = e;
	return n;
}

/* group[n_ends] */
static void
compare_counts(const struct fm_engine *engine, struct snapshot *snap, const struct setting *set,
    size_t n_set, bool spine_first, const uint32_t *group, const char *words)
{
	struct renumbered met;
	const struct fm_fabric *fab = &met.fab;
	struct counting c = { .fab = fab, .spine_first = spine_first };
	fm_end *order = calloc(snap->fab.n_ends, sizeof(*order));
	struct routed r;

	route_with(&r, engine, snapshot_get(snap), set, n_set);
	ck_assert_int_eq(r.rc, 0);
	meet(&met, engine, &r);
	c.cost = calloc((size_t)fab->n_switches * fab->n_switches, sizeof(*c.cost));
	c.on_port = calloc((size_t)fab->n_switches * 256, sizeof(*c.on_port));
	c.into = calloc(fab->n_switches, sizeof(*c.into));
	c.lft = calloc(fab->n_switches, fab->max_lid + 1u);
	simulate(&c, order, order_of(&met, group, order), engine == shortestpath);
	for (fm_sw u = 0; u < fab->n_switches; u++)
		for (uint32_t lid = 0; lid <= fab->max_lid; lid++)
			ck_assert_msg(met.t.lft[u][lid] == c.lft[u * (fab->max_lid + 1u) + lid],
			    "%s on %s: switch %u, LID %u: port %u, not %u", engine->name, words,
			    met.sw[u], lid, met.t.lft[u][lid],
			    c.lft[u * (fab->max_lid + 1u) + lid]);
	renumber_end(&met);
	routed_fini(&r);
	free(order);
	free(c.cost);
	free(c.on_port);
	free(c.into);
	free(c.lft);
}

START_TEST(shortestpath_counts_as_opa_fm_does)
{
	struct snapshot *snap = make_mixed(&fabrics[_i]);
	uint32_t *group = calloc(snap->fab.n_ends, sizeof(*group));
	struct setting off = { "spine_first_routing", { "no" } };

	compare_counts(shortestpath, snap, NULL, 0, true, group, fabrics[_i].words);
	compare_counts(shortestpath, snap, &off, 1, false, group, fabrics[_i].words);
	free(group);
	snapshot_put(snap);
}
END_TEST

/* Three groups, a, b and the rest: All before, between, behind and not at all. */
static uint32_t
group_of(fm_end e, unsigned k, fm_end a, fm_end b)
{
	static const uint32_t place[4][3] = { { 1, 2, 0 }, { 0, 2, 1 }, { 0, 1, 2 }, { 0, 1, 2 } };

	return place[k][e == a ? 0 : e == b ? 1 : 2];
}

START_TEST(dgshortestpath_goes_group_by_group)
{
	struct snapshot *snap = make_mixed(&fabrics[_i]);
	const struct fm_fabric *fab = &snap->fab;
	uint32_t *group = calloc(fab->n_ends, sizeof(*group));
	fm_end a = host_of_last_leaf(fab, 0), b = fab->n_ends / 2;
	struct text guid = guid_text(fab->end_guid[a]), name;

	while (b == a || !is_ca(fab, b))
		b = (b + 1) % fab->n_ends;
	snprintf(name.s, sizeof(name.s), "name:%s", fab->end_name[b]);
	for (unsigned k = 0; k < 4; k++) {
		struct setting set = { "routing_order", { guid.s, name.s, "All" } };

		if (k == 0)
			set = (struct setting){ "routing_order", { "All", guid.s, name.s } };
		if (k == 1)
			set = (struct setting){ "routing_order", { guid.s, "All", name.s } };
		if (k == 3)
			set.items[2] = NULL;
		for (fm_end e = 0; e < fab->n_ends; e++)
			group[e] = group_of(e, k, a, b);
		compare_counts(dgshortestpath, snap, &set, 1, true, group, fabrics[_i].words);
	}
	free(group);
	snapshot_put(snap);
}
END_TEST

/* On trees of links all alike the balance is that of digits, as long as there are no
 * groups: those are even one by one. */
START_TEST(plain_trees_go_by_digits)
{
	struct fabric f = { "pgft 3 3,3,3 1,3,3 1,1,1" };
	struct setting group = { "routing_order", { "name:host-1-1-*" } };
	struct routed r[4];

	route_with(&r[0], &minhop_LTX_fm_engine, make(&f, false), NULL, 0);
	route_with(&r[1], shortestpath, make(&f, false), NULL, 0);
	route_with(&r[2], dgshortestpath, make(&f, false), NULL, 0);
	route_with(&r[3], dgshortestpath, make(&f, false), &group, 1);
	for (unsigned i = 1; i < 4; i++) {
		const struct fm_fabric *fab = &r[i].snap->fab;
		bool same = true;

		ck_assert_int_eq(r[i].rc, 0);
		for (fm_sw s = 0; s < fab->n_switches; s++)
			same &= memcmp(r[i].tables->t.lft[s], r[0].tables->t.lft[s],
				    fab->max_lid + 1u) == 0;
		ck_assert_msg(same == (i < 3), "table %u is %s minhop's", i, same ? "" : "not");
	}
	for (unsigned i = 0; i < 4; i++)
		routed_fini(&r[i]);
}
END_TEST

/* --------------------------------------------------------- what all must have */

/* Faults of 20 seeds: whatever cables join is joined, safely. */
START_TEST(faults_leave_nobody_out)
{
	static const char *const words[] = { "pgft 3 3,3,3 1,3,3 1,1,1", "torus 4x4 2",
		"random 20 4 2 3", "dragonfly 4 1 1" };
	static const struct fabric kinds[] = { { "", 1 }, { "", 5 }, { "", 20 }, { "", 0, 0, 1 },
		{ "", 5, 1, 2 } };

	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
		for (size_t i = 0; i < N_ENGINES; i++) {
			struct fabric f = kinds[k];
			struct verdict v;
			struct routed r;

			f.words = words[_i % 4];
			f.seed = 1 + (uint64_t)_i;
			route(&r, engines[i], make(&f, _i % 2));
			v = judge(&r, 8);
			ck_assert_msg(v.unreachable_pairs == 0 && v.switch_pairs_unrouted == 0 &&
				v.loops == 0 && v.wrong_host == 0 &&
				(v.credit_loops == 0 ||
				    !(engines[i]->traits & FM_PROMISES_NO_CREDIT_LOOPS)),
			    "%s on %s, kind %zu, seed %d: %s", engines[i]->name, f.words, k, _i,
			    v.witness);
			routed_fini(&r);
		}
}
END_TEST

/* Files with routers, aggregators, two ports of a host, parts, lone switches. */
START_TEST(odd_fabrics_are_routed)
{
	static const char *const names[] = { "two-cas", "one-switch", "sm-port0", "dual-port",
		"router", "two-components", "aggregation" };
	const char *srcdir = getenv("srcdir");

	for (size_t i = 0; i < N_ENGINES; i++) {
		struct netlist nl = { 0 };
		struct fm_error err = { 0 };
		struct verdict v;
		struct routed r;
		char path[256];

		snprintf(path, sizeof(path), "%s/tests/fabrics/%s.net", srcdir ? srcdir : "..",
		    names[_i]);
		ck_assert_msg(netlist_read(path, &nl, &err) == 0, "%s", err.msg);
		route(&r, engines[i], snapshot_of(&nl, 1));
		netlist_fini(&nl);
		v = judge(&r, 8);
		ck_assert_msg(
		    verdict_is_safe(&v, !(engines[i]->traits & FM_PROMISES_NO_CREDIT_LOOPS)) &&
			v.unreachable_pairs == 0,
		    "%s: %s", names[_i], v.witness);
		routed_fini(&r);
	}
}
END_TEST

START_TEST(engines_have_the_properties)
{
	for (size_t i = 0; i < N_ENGINES; i++) {
		struct props p = {
			.engine = engines[i], .snap = make(&fabrics[_i], true), .n_vls = 8
		};
		uint64_t n_allocs;
		char report[512];

		ck_assert_msg(props_check(&p, &n_allocs, report, sizeof(report)) == PROPS_HOLD ||
			(!(engines[i]->traits & FM_PROMISES_NO_CREDIT_LOOPS) &&
			    strstr(report, "credit") != NULL),
		    "%s, %s: %s", fabrics[_i].words, engines[i]->name, report);
		snapshot_put(p.snap);
	}
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("paths");
	TCase *c = tcase_create("paths");

	tcase_set_timeout(c, 120);
	tcase_add_loop_test(c, the_first_of_the_order_finds_empty_links, 0, (int)N_FABRICS);
	tcase_add_test(c, the_order_is_that_of_the_list);
	tcase_add_test(c, what_is_listed_need_not_scatter);
	tcase_add_test(c, ignored_hosts_are_no_load);
	tcase_add_test(c, ignored_hosts_are_no_sources);
	tcase_add_test(c, ignored_cables_seem_empty);
	tcase_add_loop_test(c, hop_weights_make_lightest_paths, 0, (int)N_FABRICS);
	tcase_add_test(c, max_hops_counts_links_not_weights);
	tcase_add_loop_test(c, given_roots_are_obeyed, 0, (int)N_FABRICS);
	tcase_add_loop_test(c, a_level_of_roots_is_obeyed, 0, 4);
	tcase_add_loop_test(c, dnup_goes_away_from_hosts_first, 0, 3);
	tcase_add_loop_test(c, dnup_counts_levels_from_hosts_off_trees_too, 0, 2);
	tcase_add_loop_test(c, dnup_is_updn_on_trees, 0, 3);
	tcase_add_loop_test(c, few_go_aside, 0, 2);
	tcase_add_loop_test(c, irregular_fabrics_are_not_crowded_at_the_top, 0, 5);
	tcase_add_loop_test(c, lids_of_a_host_go_apart_from_end_to_end, 0, 5);
	tcase_add_loop_test(c, shortestpath_counts_as_opa_fm_does, 0, (int)N_FABRICS);
	tcase_add_loop_test(c, dgshortestpath_goes_group_by_group, 0, (int)N_FABRICS);
	tcase_add_test(c, plain_trees_go_by_digits);
	tcase_add_loop_test(c, faults_leave_nobody_out, 0, (int)n_cases(20));
	tcase_add_loop_test(c, odd_fabrics_are_routed, 0, 7);
	tcase_add_loop_test(c, engines_have_the_properties, 0, (int)n_cases(N_FABRICS));
	suite_add_tcase(suite, c);
	return run_suite(suite);
}
