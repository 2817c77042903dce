/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Long tables, made in slices between the answers to others: the same as when they are made at
 * once, whatever is committed meanwhile; others wait for a slice at most; memory has its bound.
 * Counted in answers, bytes and records looked at, never in time.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/server/turns.h"
#include "tests/run.h"
#include "tests/sweep/sa_rig.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))
#define N_HOSTS 16
#define MOST_ANSWERS 4096
#define PATH_BYTES 64 /* of a PathRecord */

static struct rig rig;
static struct sa_rig world;

/* What an SA of our own has sent. */
struct sent {
	uint16_t lid, status;
	uint64_t looked_at; /* by then */
};
static struct {
	struct sa *sa;
	struct sa_turns *turns;
	struct sent sent[MOST_ANSWERS];
	size_t n;
	uint8_t *last; /* [n_last] */
	size_t n_last;
} mine;

static uint16_t
lid_of(uint32_t n)
{
	return rig_host_lid(&rig, n);
}

static void
on_answer(void *arg, const struct mad_addr *to, const uint8_t *bytes, size_t n_bytes)
{
	struct sa_header h;

	(void)arg;
	sa_header_get(bytes, &h);
	ck_assert_uint_lt(mine.n, MOST_ANSWERS);
	mine.sent[mine.n++] = (struct sent){ to->lid, h.status, sa_counts(mine.sa)->looked_at };
	mine.last = realloc(mine.last, n_bytes);
	ck_assert_ptr_nonnull(mine.last);
	memcpy(mine.last, bytes, n_bytes);
	mine.n_last = n_bytes;
	if (mine.turns != NULL)
		sa_turns_sent(mine.turns, to, bytes, n_bytes);
}

static void
setup(void)
{
	struct sa_out out = { on_answer, NULL };

	memset(&mine, 0, sizeof(mine));
	rig_generate(&rig.nl, "pgft 2 4,4 1,2 1,1");
	rig_sim(&rig, NULL);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	sa_rig_start(&world, &rig);
	sa_rig_publish(&world);
	mine.sa = sa_new(&world.slot, &out, world.registry);
	ck_assert_ptr_nonnull(mine.sa);
}

static void
teardown(void)
{
	sa_turns_free(mine.turns);
	sa_free(mine.sa);
	free(mine.last);
	sa_rig_fini(&world);
	rig_fini(&rig);
}

static void
set_slice(uint32_t slice)
{
	world.set.slice = slice;
	sa_rig_publish(&world);
}

static void
request(uint8_t *mad, uint8_t method, uint16_t attr)
{
	static uint64_t tid;
	struct sa_header h = { .base_version = 1,
		.mgmt_class = WIRE_CLASS_SA,
		.class_version = SA_CLASS_VERSION,
		.method = method,
		.attr = attr,
		.tid = ++tid,
		.sm_key = 1 };

	memset(mad, 0, MAD_BYTES);
	sa_header_put(mad, &h);
}

/* ------------------------------------------------------------------------ slices */

/* Every table, whatever the slices; with others answered, and another view published,
 * in between. */
START_TEST(slices_make_the_same_table)
{
	static const uint16_t attrs[] = { SA_NODE_RECORD, SA_PORT_INFO_RECORD,
		SA_SWITCH_INFO_RECORD, SA_LINK_RECORD, SA_LFT_RECORD, SA_MFT_RECORD,
		SA_SL2VL_RECORD, SA_VL_ARB_RECORD, SA_PKEY_RECORD, SA_GUID_INFO_RECORD,
		SA_PATH_RECORD };
	static const uint32_t slices[] = { 1, 7, 100 };
	struct mad_addr from = { .lid = lid_of(3) }, other = { .lid = lid_of(4) };
	uint8_t mad[MAD_BYTES], get[MAD_BYTES];

	request(get, SA_GET, SA_CLASS_PORT_INFO);
	for (size_t i = 0; i < N_OF(attrs) * N_OF(slices); i++) {
		uint16_t attr = attrs[i % N_OF(attrs)];
		struct sa_job *j;
		unsigned n_slices = 1;
		uint8_t *whole;
		size_t n_whole;

		set_slice(slices[i / N_OF(attrs)]);
		request(mad, SA_GET_TABLE, attr);
		sa_handle(mine.sa, &from, mad, sizeof(mad), 0);
		n_whole = mine.n_last;
		whole = malloc(n_whole);
		ck_assert_ptr_nonnull(whole);
		memcpy(whole, mine.last, n_whole);
		mine.n = 0;
		j = sa_begin(mine.sa, &from, mad, sizeof(mad), 0);
		for (; j != NULL; n_slices++) {
			ck_assert_uint_eq(mine.n, n_slices - 1);
			sa_handle(mine.sa, &other, get, sizeof(get), 0);
			if (n_slices % 5 == 1)
				sa_rig_publish(&world);
			if (sa_go_on(mine.sa, j, mad, sizeof(mad)))
				j = NULL;
		}
		ck_assert_uint_eq(mine.n, n_slices);
		ck_assert_uint_eq(mine.n_last, n_whole);
		ck_assert_int_eq(memcmp(mine.last, whole, n_whole), 0);
		ck_assert_msg(slices[i / N_OF(attrs)] > 7 || attr == SA_MFT_RECORD || n_slices > 2,
		    "attribute 0x%x in %u slices", attr, n_slices);
		free(whole);
	}
}
END_TEST

/* A table begun is of the view it was begun with. */
START_TEST(a_table_is_of_one_view)
{
	struct mad_addr from = { .lid = lid_of(3) };
	uint8_t mad[MAD_BYTES];
	struct sa_job *j;
	size_t n_whole;

	set_slice(50);
	request(mad, SA_GET_TABLE, SA_PATH_RECORD);
	sa_handle(mine.sa, &from, mad, sizeof(mad), 0);
	n_whole = mine.n_last;
	j = sa_begin(mine.sa, &from, mad, sizeof(mad), 0);
	ck_assert_ptr_nonnull(j);
	sim_unlink(rig.sim, netlist_port(&rig.nl, 0, 1)->peer_node, 1);
	rig_let_pass(&rig, 50);
	rig_run(&rig, SWEEP_HEAVY);
	sa_rig_publish(&world);
	while (!sa_go_on(mine.sa, j, mad, sizeof(mad)))
		;
	ck_assert_uint_eq(mine.n_last, n_whole);
	sa_handle(mine.sa, &from, mad, sizeof(mad), 0);
	ck_assert_uint_lt(mine.n_last, n_whole);
}
END_TEST

/* ------------------------------------------------------------------------- turns */

/* Paths that a client is told of. */
static uint32_t
count_paths(void)
{
	struct mad_addr from = { .lid = lid_of(0) };
	uint8_t mad[MAD_BYTES];

	request(mad, SA_GET_TABLE, SA_PATH_RECORD);
	sa_handle(mine.sa, &from, mad, sizeof(mad), 0);
	mine.n = 0;
	return (uint32_t)(mine.n_last - SA_DATA_AT) / PATH_BYTES;
}

static void
start_turns(size_t begun_max)
{
	struct sa_turns_limits l = { { 8192, 128, 16u << 20, 256u << 10 },
		{ 64u << 20, 512u << 20, 10000 }, begun_max, 65536 };

	mine.turns = sa_turns_new(mine.sa, &l);
	ck_assert_ptr_nonnull(mine.turns);
}

static bool
put(uint16_t lid, uint8_t method, uint16_t attr)
{
	struct mad_addr from = { .lid = lid };
	uint8_t mad[MAD_BYTES];

	request(mad, method, attr);
	return sa_turns_put(mine.turns, &from, mad, sizeof(mad), 0);
}

/* One client asks for all paths before any other says a word; the others for ten answers each.
 * They have them all before the table is done, and none waits for more than a slice. */
START_TEST(others_are_answered_while_a_table_is_made)
{
	const uint32_t slice = 32, n_paths = count_paths();
	uint64_t looked_at = sa_counts(mine.sa)->looked_at, before = looked_at;
	unsigned n_others = 0;

	set_slice(slice);
	start_turns(1u << 20);
	put(lid_of(0), SA_GET_TABLE, SA_PATH_RECORD);
	for (int k = 0; k < 10; k++)
		for (uint32_t h = 1; h < N_HOSTS; h++)
			put(lid_of(h), SA_GET, SA_CLASS_PORT_INFO);
	while (sa_turns_step(mine.turns, 0))
		;
	ck_assert_uint_eq(mine.n, 10 * (N_HOSTS - 1) + 1);
	for (size_t i = 0; i < mine.n - 1; i++) {
		ck_assert_uint_ne(mine.sent[i].lid, lid_of(0));
		ck_assert_uint_le(mine.sent[i].looked_at - looked_at, slice);
		looked_at = mine.sent[i].looked_at;
		n_others += mine.sent[i].status == SA_OK;
	}
	ck_assert_uint_eq(n_others, 10 * (N_HOSTS - 1));
	ck_assert_uint_gt(looked_at, before); /* it was begun */
	ck_assert_uint_eq(mine.sent[mine.n - 1].lid, lid_of(0));
	ck_assert_uint_eq(mine.n_last, SA_DATA_AT + n_paths * PATH_BYTES);
}
END_TEST

/* Who waits with many requests of its own has its table in turn, too. */
START_TEST(a_table_ends_while_others_go_on_asking)
{
	const uint32_t n_paths = count_paths();
	unsigned n = 0;

	set_slice(32);
	start_turns(1u << 20);
	put(lid_of(0), SA_GET_TABLE, SA_PATH_RECORD);
	for (; mine.n == 0 || mine.sent[mine.n - 1].lid != lid_of(0); n++) {
		ck_assert_uint_lt(n, 2000);
		while (sa_turns_waiting(mine.turns) < 3)
			put(lid_of(1 + n % 3), SA_GET, SA_CLASS_PORT_INFO);
		sa_turns_step(mine.turns, 0);
	}
	/* as many answers as the table has cost, at 16 looks each */
	ck_assert_uint_ge(mine.n, n_paths / 16);
}
END_TEST

/* Everybody wants all there is: what is half made is bounded, all have it in the end, and a
 * plain question does not wait for them. */
START_TEST(tables_half_made_are_bounded)
{
	const uint32_t n_paths = count_paths();
	const size_t begun_max = 100000, whole = SA_DATA_AT + n_paths * PATH_BYTES;
	size_t most = 0, before = 0;
	unsigned n_steps = 0;

	set_slice(64);
	start_turns(begun_max);
	for (int k = 0; k < 3; k++)
		for (uint32_t h = 1; h < N_HOSTS; h++)
			put(lid_of(h), SA_GET_TABLE, SA_PATH_RECORD);
	while (sa_turns_step(mine.turns, 0)) {
		size_t now = sa_turns_begun_bytes(mine.turns);

		most = now > most ? now : most;
		if (++n_steps == 200) {
			put(lid_of(0), SA_GET, SA_CLASS_PORT_INFO);
			before = mine.n;
		}
	}
	ck_assert_uint_gt(most, begun_max / 2);
	ck_assert_uint_le(most, begun_max + 2 * whole);
	ck_assert_uint_eq(mine.n, 3 * (N_HOSTS - 1) + 1);
	for (size_t i = 0; i < mine.n; i++) {
		ck_assert_uint_eq(mine.sent[i].status, SA_OK);
		if (mine.sent[i].lid == lid_of(0))
			ck_assert_uint_le(i - before, 2);
	}
	ck_assert_uint_eq(sa_turns_begun_bytes(mine.turns), 0);
	ck_assert_uint_eq(mine.n_last, whole);
}
END_TEST

/* Who waits for long repeats its request, and has one answer to it, so that repeats do not
 * keep others waiting; what is not the same is another request. */
START_TEST(repeats_of_what_waits)
{
	struct mad_addr from = { .lid = lid_of(0), .qpn = 1 };
	uint8_t mad[MAD_BYTES];

	start_turns(1u << 20);
	request(mad, SA_GET, SA_CLASS_PORT_INFO);
	for (int i = 0; i < 500; i++)
		sa_turns_put(mine.turns, &from, mad, sizeof(mad), 0);
	ck_assert_uint_eq(sa_turns_waiting(mine.turns), 1);
	from.qpn = 2;
	sa_turns_put(mine.turns, &from, mad, sizeof(mad), 0);
	from.lid = lid_of(1);
	sa_turns_put(mine.turns, &from, mad, sizeof(mad), 0);
	request(mad, SA_GET, SA_CLASS_PORT_INFO);
	sa_turns_put(mine.turns, &from, mad, sizeof(mad), 0);
	while (sa_turns_step(mine.turns, 0))
		;
	ck_assert_uint_eq(mine.n, 4);
	/* answered, it may be asked again */
	sa_turns_put(mine.turns, &from, mad, sizeof(mad), 0);
	ck_assert(sa_turns_step(mine.turns, 0));
	ck_assert_uint_eq(mine.n, 5);
}
END_TEST

/* Who asks most is known, and how much of it was told BUSY; a minute later that is over. */
START_TEST(who_asks_most)
{
	struct talkers_seen seen;

	start_turns(1u << 20);
	for (uint32_t h = 1; h < N_HOSTS; h++)
		put(lid_of(h), SA_GET, SA_CLASS_PORT_INFO);
	sa_turns_talkers(mine.turns, 0, &seen);
	ck_assert_uint_eq(seen.n, TALKERS_SHOWN);
	ck_assert_uint_eq(seen.all.n, N_HOSTS - 1);
	ck_assert_ptr_null(talkers_flood(&seen));
	for (int i = 0; i < 300; i++)
		ck_assert(put(lid_of(0), SA_GET, SA_CLASS_PORT_INFO) == (i < 128));
	put(lid_of(2), SA_GET, SA_CLASS_PORT_INFO);
	sa_turns_talkers(mine.turns, 0, &seen);
	ck_assert_uint_eq(seen.top[0].lid, lid_of(0));
	ck_assert_uint_eq(seen.top[0].n, 300);
	ck_assert_uint_eq(seen.top[0].n_refused, 300 - 128);
	ck_assert_uint_eq(seen.top[1].lid, lid_of(2));
	ck_assert_uint_eq(seen.top[1].n, 2);
	ck_assert_uint_eq(seen.top[1].n_refused, 0);
	ck_assert_uint_eq(seen.all.n, 300 + N_HOSTS);
	ck_assert_ptr_eq(talkers_flood(&seen), &seen.top[0]);
	while (sa_turns_step(mine.turns, 0))
		;
	sa_turns_talkers(mine.turns, 90000, &seen); /* half of the minute before */
	ck_assert_uint_eq(seen.top[0].n, 150);
	sa_turns_talkers(mine.turns, 120000, &seen);
	ck_assert_uint_eq(seen.n, 0);
	ck_assert_uint_eq(seen.all.n, 0);
}
END_TEST

/* Who is never refused floods with a thousand a second, if others have not as much together. */
START_TEST(who_floods)
{
	struct talkers t = { 0 };
	struct talkers_seen seen;

	for (int i = 0; i < 60000; i++)
		talkers_note(&t, 7, i);
	talkers_look(&t, 60000, &seen);
	ck_assert_uint_eq(seen.top[0].n, 60000);
	ck_assert_uint_eq(talkers_flood(&seen)->lid, 7);
	for (int i = 0; i < 60000; i++)
		talkers_note(&t, (uint16_t)(100 + i % 1000), 60000);
	talkers_look(&t, 60000, &seen);
	ck_assert_uint_eq(seen.top[0].lid, 7);
	ck_assert_ptr_null(talkers_flood(&seen));
	talkers_fini(&t);
}
END_TEST

/* What is half made when all ends is given back; the sanitizer looks. */
START_TEST(an_end_in_between)
{
	set_slice(16);
	start_turns(100000);
	for (uint32_t h = 0; h < N_HOSTS; h++)
		put(lid_of(h), SA_GET_TABLE, SA_PATH_RECORD);
	for (int i = 0; i < 100; i++)
		ck_assert(sa_turns_step(mine.turns, 0));
	ck_assert_uint_gt(sa_turns_begun_bytes(mine.turns), 0);
	ck_assert_uint_gt(sa_turns_waiting(mine.turns), 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("turns");
	TCase *t = tcase_create("turns");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, slices_make_the_same_table);
	tcase_add_test(t, a_table_is_of_one_view);
	tcase_add_test(t, others_are_answered_while_a_table_is_made);
	tcase_add_test(t, a_table_ends_while_others_go_on_asking);
	tcase_add_test(t, tables_half_made_are_bounded);
	tcase_add_test(t, repeats_of_what_waits);
	tcase_add_test(t, who_asks_most);
	tcase_add_test(t, who_floods);
	tcase_add_test(t, an_end_in_between);
	suite_add_tcase(s, t);
	return run_suite(s);
}
