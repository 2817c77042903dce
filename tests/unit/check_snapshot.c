/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Snapshots: what is built is what was added, in the promised order, whatever
 * the order of the adds; what cannot be is refused with a sentence.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <fmd/own.h>

#include "core/graph/snapshot.h"
#include "core/graph/tables.h"
#include "lib/error.h"
#include "lib/rng.h"
#include "tests/run.h"

static void
add_switch(struct snapshot_builder *b, uint64_t guid, uint8_t n_ports)
{
	ck_assert(fm_vec_push(&b->switches,
	    ((struct snapshot_switch){
		.guid = guid, .system_guid = guid, .name = "sw", .n_ports = n_ports })));
}

static void
add_end(struct snapshot_builder *b, uint32_t sw, uint8_t port, uint16_t lid, uint8_t lmc)
{
	ck_assert(fm_vec_push(&b->ends,
	    ((struct snapshot_end){ .guid = 1000u + lid,
		.name = "host",
		.sw = sw,
		.port = port,
		.lid = lid,
		.lmc = lmc,
		.kind = port == 0 ? FM_END_SWITCH : FM_END_CA,
		.n_vls = 8 })));
}

static void
add_cable(struct snapshot_builder *b, uint32_t s0, uint8_t p0, uint32_t s1, uint8_t p1)
{
	ck_assert(fm_vec_push(&b->cables,
	    ((struct snapshot_cable){ .sw = { s0, s1 },
		.port = { p0, p1 },
		.n_vls = 8,
		.mbps = 100000,
		.nominal_mbps = 200000 })));
}

/* Every promise of struct fm_fabric that can be checked from outside. */
static void
check_promises(const struct fm_fabric *f)
{
	for (fm_sw sw = 0; sw < f->n_switches; sw++) {
		for (fm_link l = f->sw_first_link[sw]; l < f->sw_first_link[sw + 1]; l++) {
			fm_link rev = f->link_rev[l];

			ck_assert_uint_eq(f->link_rev[rev], l);
			ck_assert_uint_eq(f->link_to[rev], sw);
			ck_assert(rev >= f->sw_first_link[f->link_to[l]] &&
			    rev < f->sw_first_link[f->link_to[l] + 1]);
			if (l > f->sw_first_link[sw])
				ck_assert(f->link_to[l - 1] < f->link_to[l] ||
				    (f->link_to[l - 1] == f->link_to[l] &&
					f->link_port[l - 1] < f->link_port[l]));
		}
		for (fm_end e = f->sw_first_end[sw]; e < f->sw_first_end[sw + 1]; e++) {
			ck_assert_uint_eq(f->end_sw[e], sw);
			if (e > f->sw_first_end[sw])
				ck_assert_uint_lt(f->end_port[e - 1], f->end_port[e]);
		}
	}
	for (uint32_t lid = 0; lid <= f->max_lid; lid++) {
		fm_end e = f->lid_end[lid];

		if (e != FM_NONE)
			ck_assert(
			    lid >= f->end_lid[e] && lid < f->end_lid[e] + (1u << f->end_lmc[e]));
	}
}

/* A link is found by its port, and nothing where none is. */
static void
check_ports(const struct snapshot *s)
{
	for (fm_sw sw = 0; sw < s->fab.n_switches; sw++)
		for (uint32_t port = 0; port < 256; port++) {
			fm_link l = fm_link_at(&s->fab, sw, port);

			ck_assert_uint_eq(snapshot_link_at(s, sw, port), l);
			ck_assert_uint_eq(snapshot_switch_at(s, sw, port),
			    l != FM_NONE ? s->fab.link_to[l] : FM_NONE);
		}
}

/* The same without some of the cables. */
static void
check_ports_without(struct snapshot *s, struct fm_rng *rng)
{
	uint64_t links[8] = { fm_rng_next(rng) & fm_rng_next(rng), fm_rng_next(rng) };
	const struct snapshot_loss loss = { .links = links }, none = { 0 };
	struct snapshot *less, *same;
	struct fm_error err;

	ck_assert_uint_le(s->fab.n_links, 8 * 64);
	ck_assert_int_eq(snapshot_without(s, &loss, &less, &err), 0);
	ck_assert_int_eq(snapshot_without(less, &none, &same, &err), 0);
	check_ports(less);
	check_ports(same);
	snapshot_put(less);
	snapshot_put(same);
}

START_TEST(links_and_ends_are_sorted_whatever_the_order_of_adds)
{
	struct snapshot_builder b = { 0 };
	struct snapshot *s;
	struct fm_error err;
	struct fm_rng rng;
	uint8_t next[6] = { 1, 1, 1, 1, 1, 1 };

	fm_rng_seed(&rng, (uint64_t)_i);
	for (int i = 0; i < 6; i++)
		add_switch(&b, 100u + (uint64_t)i, 200);
	for (int i = 0; i < 60; i++) {
		uint32_t x = fm_rng_below(&rng, 6), y = fm_rng_below(&rng, 6);

		if (x != y)
			add_cable(&b, x, next[x]++, y, next[y]++);
	}
	for (uint16_t i = 0; i < 40; i++) {
		uint32_t x = fm_rng_below(&rng, 6);

		add_end(&b, x, (uint8_t)(200 - next[x]++), (uint16_t)(4 + 4 * i), 2);
	}
	ck_assert_int_eq(snapshot_build(&b, &s, &err), 0);
	ck_assert_uint_eq(s->fab.n_links, 2 * b.cables.n);
	ck_assert_uint_eq(s->fab.n_ends, b.ends.n);
	ck_assert_uint_eq(s->fab.max_lid, 4 + 4 * 39 + 3);
	check_promises(&s->fab);
	check_ports(s);
	check_ports_without(s, &rng);
	snapshot_put(s);
	snapshot_builder_fini(&b);
}
END_TEST

START_TEST(components_and_gone_switches)
{
	struct snapshot_builder b = { 0 };
	struct snapshot *s;
	struct fm_error err;

	for (int i = 0; i < 5; i++)
		add_switch(&b, 100u + (uint64_t)i, 8);
	add_cable(&b, 0, 1, 3, 1);
	add_end(&b, 1, 1, 7, 0);
	add_end(&b, FM_NONE, 1, 8, 0);
	add_end(&b, FM_NONE, 1, 9, 0);
	ck_assert_int_eq(snapshot_build(&b, &s, &err), 0);
	ck_assert_uint_eq(s->n_components, 2);
	ck_assert_uint_eq(s->sw_component[0], s->sw_component[3]);
	ck_assert_uint_ne(s->sw_component[0], s->sw_component[1]);
	ck_assert_uint_eq(s->sw_component[2], FM_NONE);
	ck_assert_uint_eq(s->fab.sw_first_end[5], 1);
	ck_assert_uint_eq(s->fab.end_sw[2], FM_NONE);
	ck_assert_uint_eq(fm_hash_find(&s->sw_by_guid, 103), 3);
	snapshot_put(s);
	snapshot_builder_fini(&b);
}
END_TEST

/* One wrong thing each, and the words that name it. */
static void
break_it(struct snapshot_builder *b, int which)
{
	switch (which) {
	case 0:
		add_cable(b, 0, 9, 1, 1);
		break;
	case 1:
		add_cable(b, 0, 1, 1, 1);
		add_end(b, 0, 1, 5, 0);
		break;
	case 2:
		add_end(b, 0, 1, 5, 0);
		add_end(b, 0, 2, 4, 1);
		break;
	case 3:
		add_end(b, 0, 1, 5, 1);
		break;
	case 4:
		add_end(b, 0, 1, 0xC000, 0);
		break;
	case 5:
		add_switch(b, 100, 8);
		break;
	}
}

START_TEST(what_cannot_be_is_refused_with_a_sentence)
{
	static const char *const want[] = {
		"switch 'sw' has 8 ports, but port 9 is cabled",
		"port 1 of switch 'sw' is used twice",
		"LID 0x0005 belongs to both 'host' and 'host'",
		"'host': LID 0x0005 is not aligned to its LMC 1",
		"'host': LID 0xc000 is above the last unicast LID 0xbfff",
		"two switches share one GUID",
	};
	struct snapshot_builder b = { 0 };
	struct snapshot *s;
	struct fm_error err;

	add_switch(&b, 100, 8);
	add_switch(&b, 101, 8);
	break_it(&b, _i);
	ck_assert_int_eq(snapshot_build(&b, &s, &err), FM_E_TOPOLOGY);
	ck_assert_str_eq(err.msg, want[_i]);
	snapshot_builder_fini(&b);
}
END_TEST

/* Where the engine promises to write the rows, only what lies behind max_lid. */
START_TEST(rows_that_the_engine_writes_are_left_as_they_are)
{
	struct snapshot_builder b = { 0 };
	struct table_pool *pool = table_pool_new();
	struct snapshot *s;
	struct tables *t;
	struct fm_error err;

	add_switch(&b, 100, 8);
	add_end(&b, 0, 1, 300, 0);
	ck_assert_int_eq(snapshot_build(&b, &s, &err), 0);
	for (int round = 0; round < 2; round++) {
		ck_assert_int_eq(tables_new(pool, NULL, &s->fab,
				     FM_PROVIDES_LFT | FM_WRITES_WHOLE_ROWS, 0, &t, &err),
		    0);
		for (size_t i = 0; i < t->t.lft_stride; i++)
			ck_assert_uint_eq(t->t.lft[0][i],
			    i > 300	     ? FM_PORT_NONE
				: round == 1 ? 3
					     : 0);
		memset(t->t.lft[0], 3, t->t.lft_stride);
		tables_put(t);
	}
	snapshot_put(s);
	table_pool_free(pool);
	snapshot_builder_fini(&b);
}
END_TEST

START_TEST(tables_start_empty_even_when_their_memory_was_used)
{
	struct snapshot_builder b = { 0 };
	struct table_pool *pool = table_pool_new();
	struct snapshot *s;
	struct tables *t;
	struct fm_error err;

	add_switch(&b, 100, 8);
	add_end(&b, 0, 1, 300, 0);
	ck_assert_int_eq(snapshot_build(&b, &s, &err), 0);
	for (int round = 0; round < 2; round++) {
		ck_assert_int_eq(
		    tables_new(pool, NULL, &s->fab, FM_PROVIDES_LFT | FM_PROVIDES_SL, 0, &t, &err),
		    0);
		ck_assert_uint_eq(t->t.lft_stride % 64, 0);
		ck_assert_uint_gt(t->t.lft_stride, 300);
		for (size_t i = 0; i < t->t.lft_stride; i++) {
			ck_assert_uint_eq(t->t.lft[0][i], FM_PORT_NONE);
			ck_assert_uint_eq(t->t.sl[0][i], 0);
		}
		ck_assert_uint_eq(t->t.n_vls_used, 1);
		memset(t->t.lft[0], 3, t->t.lft_stride);
		memset(t->t.sl[0], 3, t->t.lft_stride);
		tables_put(tables_get(t));
		tables_put(t);
	}
	snapshot_put(s);
	table_pool_free(pool);
	snapshot_builder_fini(&b);
}
END_TEST

/* The example of doc/abi.md: by far switch first, then by port. */
START_TEST(links_are_in_the_order_of_the_example)
{
	static const struct {
		fm_sw to;
		uint8_t port;
	} links[] = { { 1, 2 }, { 2, 1 }, { 2, 3 } };
	struct snapshot_builder b = { 0 };
	struct fm_error err = { 0 };
	struct snapshot *s;

	for (uint64_t guid = 10; guid < 13; guid++)
		add_switch(&b, guid, 4);
	add_cable(&b, 0, 1, 2, 1);
	add_cable(&b, 0, 2, 1, 4);
	add_cable(&b, 0, 3, 2, 2);
	ck_assert_int_eq(snapshot_build(&b, &s, &err), 0);
	ck_assert_uint_eq(s->fab.sw_first_link[1], 3);
	for (fm_link l = 0; l < 3; l++) {
		ck_assert_uint_eq(s->fab.link_to[l], links[l].to);
		ck_assert_uint_eq(s->fab.link_port[l], links[l].port);
	}
	snapshot_put(s);
	snapshot_builder_fini(&b);
}
END_TEST

START_TEST(a_switch_says_what_it_is_and_holds)
{
	struct snapshot_builder b = { 0 };
	struct fm_error err = { 0 };
	struct snapshot *s;

	ck_assert(fm_vec_push(&b.switches,
	    ((struct snapshot_switch){ .guid = 1,
		.vendor_id = 0x2c9,
		.device_id = 0xb924,
		.lft_entries = 1024,
		.ar_groups = 7 })));
	ck_assert(fm_vec_push(&b.switches,
	    ((struct snapshot_switch){ .guid = 2, .lft_entries = 0xffff, .ar_groups = 0 })));
	ck_assert(fm_vec_push(&b.switches,
	    ((struct snapshot_switch){ .guid = 3, .ar_groups = SNAPSHOT_AR_UNKNOWN })));
	ck_assert_int_eq(snapshot_build(&b, &s, &err), 0);
	ck_assert_uint_eq(s->fab.sw_vendor_id[0], 0x2c9);
	ck_assert_uint_eq(s->fab.sw_device_id[0], 0xb924);
	ck_assert_uint_eq(s->fab.sw_lft_entries[0], 1024);
	ck_assert_uint_eq(s->fab.sw_ar_groups[0], 7);
	ck_assert_uint_eq(s->fab.sw_vendor_id[1], 0);
	ck_assert_uint_eq(s->fab.sw_lft_entries[1], 0xC000); /* more than there are LIDs */
	ck_assert_uint_eq(s->fab.sw_ar_groups[1], 0);
	ck_assert_uint_eq(s->fab.sw_lft_entries[2], 0xC000); /* not known */
	ck_assert_uint_eq(s->fab.sw_ar_groups[2], 0xFFFF);
	snapshot_put(s);
	snapshot_builder_fini(&b);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("snapshot");
	TCase *t = tcase_create("snapshot");

	tcase_add_loop_test(t, links_and_ends_are_sorted_whatever_the_order_of_adds, 0, 30);
	tcase_add_test(t, links_are_in_the_order_of_the_example);
	tcase_add_test(t, a_switch_says_what_it_is_and_holds);
	tcase_add_test(t, components_and_gone_switches);
	tcase_add_loop_test(t, what_cannot_be_is_refused_with_a_sentence, 0, 6);
	tcase_add_test(t, tables_start_empty_even_when_their_memory_was_used);
	tcase_add_test(t, rows_that_the_engine_writes_are_left_as_they_are);
	suite_add_tcase(s, t);
	return run_suite(s);
}
