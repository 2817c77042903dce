/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Switches numbered by their cables: the order is that of the fabric, not of its names,
 * and an engine that goes by nothing but names cannot tell that it was used.
 */
#include "config.h"

#include <check.h>
#include <inttypes.h>

#include <fmd/own.h>

#include "core/graph/cable_order.h"
#include "lab/judge/props.h"
#include "tests/engine/routed.h"
#include "tests/run.h"

/* ---------------------------------------------------------------- the order */

/* The same fabric with other names; LIDs are given anew. */
static struct snapshot *
renamed(const struct fabric *f, uint64_t seed)
{
	struct netlist plain = { 0 }, other = { 0 };
	struct fm_error err = { 0 };
	struct snapshot *snap;

	make_netlist(f, &plain);
	ck_assert_int_eq(netlist_rename(&plain, seed, &other, &err), 0);
	snap = snapshot_of(&other, f->lmc);
	netlist_fini(&plain);
	netlist_fini(&other);
	return snap;
}

/* place[n_switches] of each switch in the order, which is to have each once. */
static fm_sw *
places(const struct fm_fabric *fab)
{
	fm_sw *order = calloc(fab->n_switches + 1, sizeof(*order));
	fm_sw *place = malloc((fab->n_switches + 1) * sizeof(*place));
	struct fm_error err;

	ck_assert_int_eq(cable_order_find(fab, order, &err), 0);
	memset(place, 0xff, fab->n_switches * sizeof(*place));
	for (fm_sw i = 0; i < fab->n_switches; i++) {
		ck_assert_uint_lt(order[i], fab->n_switches);
		ck_assert_uint_eq(place[order[i]], FM_NONE);
		place[order[i]] = i;
	}
	free(order);
	return place;
}

/* What is at port of the switch at this place: place and port behind, or a host. */
static uint32_t
behind(const struct fm_fabric *fab, const fm_sw *place, fm_sw s, uint32_t port)
{
	fm_link l = fm_link_at(fab, s, port);

	if (l != FM_NONE)
		return place[fab->link_to[l]] << 8 | fab->link_port[fab->link_rev[l]];
	for (fm_end e = fab->sw_first_end[s]; e < fab->sw_first_end[s + 1]; e++)
		if (fab->end_port[e] == port)
			return FM_NONE - 1 - fab->end_kind[e];
	return FM_NONE;
}

static const struct fabric fabrics[] = {
	{ .words = "random 40 3 1 9" },
	{ .words = "random 30 6 2 3", .lmc = 1 },
	{ .words = "kautz 3 2 2 2" },
	{ .words = "slimfly 5 1" },
	{ .words = "torus 4x3 2" },
	{ .words = "torus 3x3x3 1 2" },
	{ .words = "mesh 5x4 1" },
	{ .words = "hypercube 5 1" },
	{ .words = "hyperx 4x3x2 2" },
	{ .words = "dragonfly 4 2 2" },
	{ .words = "cascade" },
	{ .words = "pgft 3 4,4,4 1,4,4 1,1,1" },
	{ .words = "torus 5x5 1", .links_pct = 10 },
	{ .words = "torus 6x6 1", .links_pct = 45 },
	{ .words = "random 40 3 1 9", .n_switches = 4 },
};
#define N_FABRICS ((int)(sizeof(fabrics) / sizeof(*fabrics)))

START_TEST(order_follows_cables_and_not_names)
{
	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct snapshot *a = make(&fabrics[_i], false), *b = renamed(&fabrics[_i], seed);
		fm_sw *at_a = places(&a->fab), *at_b = places(&b->fab);
		uint32_t n = a->fab.n_switches, n_moved = 0;
		fm_sw *in_b = calloc(n + 1, sizeof(*in_b));

		for (fm_sw s = 0; s < n; s++)
			in_b[at_b[s]] = s;
		for (fm_sw s = 0; s < n; s++) {
			fm_sw t = in_b[at_a[s]];

			n_moved += s != t;
			for (uint32_t port = 1; port <= a->fab.sw_n_ports[s]; port++)
				ck_assert_msg(behind(&a->fab, at_a, s, port) ==
					behind(&b->fab, at_b, t, port),
				    "%s: port %u of switch %u", fabrics[_i].words, port, s);
		}
		ck_assert_uint_gt(n_moved, n / 2); /* the names are others indeed */
		free(in_b);
		free(at_a);
		free(at_b);
		snapshot_put(a);
		snapshot_put(b);
	}
}
END_TEST

/* Base LIDs are to go as if there were no others. */
START_TEST(order_is_the_same_with_any_lmc)
{
	struct fabric with = fabrics[_i];
	struct snapshot *a, *b;
	fm_sw *at_a, *at_b;

	with.lmc = 0;
	a = make(&with, false);
	with.lmc = 2;
	b = make(&with, false);
	at_a = places(&a->fab);
	at_b = places(&b->fab);
	ck_assert_mem_eq(at_a, at_b, a->fab.n_switches * sizeof(*at_a));
	free(at_a);
	free(at_b);
	snapshot_put(a);
	snapshot_put(b);
}
END_TEST

START_TEST(trees_are_told_from_other_fabrics)
{
	static const struct fabric tree = { .words = "pgft 3 4,4,4 1,4,4 1,1,1" };
	static const struct fabric broken = { .words = "pgft 3 4,4,4 1,4,4 1,1,1", .links_pct = 5 };
	static const struct fabric torus = { .words = "torus 4x4 1" };
	struct snapshot *snap;

	snap = make(&tree, true);
	ck_assert(cable_order_is_tree(&snap->fab));
	snapshot_put(snap);
	snap = make(&broken, true);
	ck_assert(cable_order_is_tree(&snap->fab));
	snapshot_put(snap);
	snap = make(&torus, true);
	ck_assert(!cable_order_is_tree(&snap->fab));
	snapshot_put(snap);
}
END_TEST

/* ------------------------------------------------- an engine that goes by names */

/* Every number it is handed is looked up in the fabric at hand and turned into a GUID. */
struct named_options {
	struct fm_nodeset set;
	struct fm_nodeset_list list;
	struct fm_node_values table;
	int64_t sls, vls; /* shapes */
};

static const struct fm_option named_rows[] = {
	{ .name = "set",
	    .type = FM_OPT_NODES,
	    .offset = offsetof(struct named_options, set),
	    .help = "Some nodes." },
	{ .name = "list",
	    .type = FM_OPT_NODES_LIST,
	    .offset = offsetof(struct named_options, list),
	    .help = "Some nodes in turn." },
	{ .name = "table",
	    .type = FM_OPT_NODE_VALUES,
	    .offset = offsetof(struct named_options, table),
	    .min = 0,
	    .max = 200,
	    .help = "A number for each." },
	{ .name = "sls",
	    .type = FM_OPT_INT,
	    .offset = offsetof(struct named_options, sls),
	    .def = "0",
	    .max = 2,
	    .help = "Shape of the SLs." },
	{ .name = "vls",
	    .type = FM_OPT_INT,
	    .offset = offsetof(struct named_options, vls),
	    .def = "0",
	    .max = 2,
	    .help = "Shape of the VLs." },
	{ .type = FM_OPT_END },
};

static const struct fm_fabric *seen; /* its switches' order, in named_numbers */
static uint64_t seen_first_guid;

static uint8_t
draw(uint64_t a, uint64_t b, uint64_t c, unsigned below)
{
	return (uint8_t)(fm_mix64(fm_mix64(a + 1) ^ fm_mix64(b + 3) ^ (c << 40)) % below);
}

static uint64_t
read_options(const struct fm_fabric *fab, const struct named_options *o, fm_sw s)
{
	uint64_t h = (fm_bit(o->set.sw, s) ? 7u : 3u) + fab->sw_vendor_id[s] +
	    fab->sw_device_id[s] + fab->sw_lft_entries[s];

	for (uint32_t i = 0; i < o->list.n_sets; i++) {
		h = h * 3 + fm_bit(o->list.set[i].sw, s);
		for (fm_end e = 0; e < fab->n_ends; e++)
			if (fm_bit(o->list.set[i].end, e))
				h += fm_mix64(fab->end_guid[e] + i);
	}
	for (uint32_t i = 0; i < o->table.n_rows; i++) {
		const struct fm_node_value *row = &o->table.row[i];

		if (row->sw != FM_NONE)
			h = h * 5 + (row->sw == s) + (uint64_t)row->value;
		else if (row->end != FM_NONE)
			h = h * 5 + fab->end_guid[row->end];
	}
	return h;
}

static void
write_vls(const struct fm_fabric *fab, struct fm_tables *out, fm_sw s)
{
	unsigned n_ports = fab->sw_n_ports[s] + 1u;

	if (out->sl2vl_shape == FM_SL2VL_BY_OUT)
		for (fm_link l = fab->sw_first_link[s]; l < fab->sw_first_link[s + 1]; l++)
			for (unsigned sl = 0; sl < 16; sl++)
				out->sl2vl[l * 16 + sl] =
				    draw(fab->sw_guid[s], fab->link_port[l], sl, 4);
	if (out->sl2vl_shape == FM_SL2VL_BY_IN_OUT)
		for (uint32_t pair = 0; pair < n_ports * n_ports; pair++)
			for (unsigned sl = 0; sl < 16; sl++)
				out->sl2vl[(out->sl2vl_first[s] + pair) * 16 + sl] =
				    draw(fab->sw_guid[s], pair, sl, 4);
}

static int
named_route(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	const struct named_options *o = opts;

	(void)host;
	(void)req;
	(void)err;
	seen = fab;
	seen_first_guid = fab->sw_guid[0];
	out->n_vls_used = 4;
	out->sl_shape = (enum fm_sl_shape)o->sls;
	out->sl2vl_shape = (enum fm_sl2vl_shape)o->vls;
	for (fm_sw s = 0; s < fab->n_switches; s++) {
		uint64_t h = read_options(fab, o, s);

		write_vls(fab, out, s);
		for (uint32_t lid = 1; lid <= fab->max_lid; lid++) {
			fm_end e = fab->lid_end[lid];
			fm_sw at = e != FM_NONE ? fab->end_sw[e] : FM_NONE;

			if (e == FM_NONE)
				continue; /* a gap before an LMC's LIDs */
			ck_assert(fab->sw_first_end[at] <= e && e < fab->sw_first_end[at + 1]);
			out->lft[s][lid] =
			    draw(fab->sw_guid[s] + h, fab->sw_guid[at], fab->end_guid[e], 200);
			if (out->sl_shape == FM_SL_BY_SW_DLID)
				out->sl[s][lid] = draw(fab->sw_guid[s], lid, 1, 16);
			else if (out->sl_shape == FM_SL_BY_DLID && s == 0)
				out->sl[0][lid] = draw(1, lid, 1, 16);
		}
	}
	return 0;
}

static const struct fm_engine named_engine = {
	.magic = FM_ABI_MAGIC,
	.abi_major = FM_ABI_MAJOR,
	.abi_minor = FM_ABI_MINOR,
	.size = sizeof(struct fm_engine),
	.option_row_size = sizeof(struct fm_option),
	.name = "named",
	.summary = "Goes by names",
	.traits = FM_PROVIDES_LFT | FM_PROVIDES_SL,
	.options = named_rows,
	.options_size = sizeof(struct named_options),
	.route = named_route,
};

static void
guid_word(uint64_t guid, char *word, size_t room)
{
	snprintf(word, room, "0x%016" PRIx64, guid);
}

START_TEST(whoever_goes_by_names_makes_the_same_tables)
{
	static const struct fabric f = { .words = "random 30 6 2 3", .lmc = 1 };
	struct fm_engine by_cables = named_engine;
	char sls[16], vls[16], sw[3][24], host[24], row[2][40];
	struct snapshot *snap = renamed(&f, 5);
	struct routed plain, by;
	fm_end e = snap->fab.sw_first_end[9] + 1; /* behind port 0 */

	for (fm_sw i = 0; i < snap->fab.n_switches; i++) {
		((uint32_t *)(uintptr_t)snap->fab.sw_vendor_id)[i] = i;
		((uint16_t *)(uintptr_t)snap->fab.sw_device_id)[i] = (uint16_t)(i * i);
		((uint16_t *)(uintptr_t)snap->fab.sw_lft_entries)[i] = (uint16_t)(i * i * i);
	}
	snprintf(sls, sizeof(sls), "%d", _i % 3);
	snprintf(vls, sizeof(vls), "%d", _i / 3);
	for (fm_sw i = 0; i < 3; i++)
		guid_word(snap->fab.sw_guid[7 * i + 2], sw[i], sizeof(sw[i]));
	guid_word(snap->fab.end_guid[e], host, sizeof(host));
	snprintf(row[0], sizeof(row[0]), "%s 5", sw[1]);
	snprintf(row[1], sizeof(row[1]), "%s 6", host);
	{
		const struct setting settings[] = {
			{ "set", { sw[0], sw[1] } },
			{ "list", { sw[2], host } },
			{ "table", { row[0], row[1] } },
			{ "sls", { sls } },
			{ "vls", { vls } },
		};

		by_cables.traits |= FM_NUMBERED_BY_CABLES;
		route_with(&plain, &named_engine, snapshot_get(snap), settings, 5);
		ck_assert_msg(plain.rc == 0, "%s", plain.err.msg);
		ck_assert_ptr_eq(seen, &snap->fab);
		route_with(&by, &by_cables, snapshot_get(snap), settings, 5);
		ck_assert_msg(by.rc == 0, "%s", by.err.msg);
	}
	ck_assert_ptr_ne(seen, &snap->fab);
	ck_assert_uint_ne(seen_first_guid, snap->fab.sw_guid[0]); /* or it shows nothing */
	ck_assert_uint_eq(
	    props_digest(&snap->fab, &plain.tables->t), props_digest(&snap->fab, &by.tables->t));
	routed_fini(&plain);
	routed_fini(&by);
	snapshot_put(snap);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("by_cables");
	TCase *t = tcase_create("order");

	tcase_add_loop_test(t, order_follows_cables_and_not_names, 0, N_FABRICS);
	tcase_add_loop_test(t, order_is_the_same_with_any_lmc, 0, N_FABRICS);
	tcase_add_test(t, trees_are_told_from_other_fabrics);
	tcase_add_loop_test(t, whoever_goes_by_names_makes_the_same_tables, 0, 9);
	suite_add_tcase(s, t);
	return run_suite(s);
}
