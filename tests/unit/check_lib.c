/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib: each structure against a slow, obvious twin on random input.
 */
#include <check.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "lib/algo/acyclic.h"
#include "lib/algo/heap.h"
#include "lib/algo/scc.h"
#include "lib/algo/search.h"
#include "lib/algo/topo_rank.h"
#include "lib/arena.h"
#include "lib/bitset.h"
#include "lib/error.h"
#include "lib/hash.h"
#include "lib/log.h"
#include "lib/printable.h"
#include "lib/rng.h"
#include "lib/speck32.h"
#include "lib/vec.h"
#include "tests/folder.h"
#include "tests/run.h"

START_TEST(arena_zeroes_aligns_and_keeps_to_its_budget)
{
	static const unsigned char zeroes[3000];
	struct fm_arena a;
	unsigned char *p;

	fm_arena_init(&a, 1 << 20);
	for (int round = 0; round < 3; round++) {
		for (size_t n = 1; n < sizeof(zeroes); n += 7) {
			p = fm_arena_alloc(&a, n);
			ck_assert_ptr_nonnull(p);
			ck_assert_uint_eq((uintptr_t)p % (n >= 64 ? 64 : 16), 0);
			ck_assert_mem_eq(p, zeroes, n);
			memset(p, 0xab, n);
		}
		ck_assert_ptr_null(fm_arena_alloc(&a, 1 << 20));
		fm_arena_reset(&a);
	}
	ck_assert_ptr_null(fm_arena_alloc_array(&a, SIZE_MAX / 2, 4));
	fm_arena_fini(&a);
}
END_TEST

START_TEST(arena_fails_from_the_nth_allocation_on)
{
	struct fm_arena a;

	fm_arena_init(&a, SIZE_MAX);
	fm_arena_fail_at(&a, 3);
	ck_assert_ptr_nonnull(fm_arena_alloc(&a, 8));
	ck_assert_ptr_nonnull(fm_arena_alloc(&a, 8));
	ck_assert_ptr_null(fm_arena_alloc(&a, 8));
	ck_assert_ptr_null(fm_arena_alloc(&a, 8));
	fm_arena_fail_at(&a, 0);
	ck_assert_str_eq(fm_arena_strdup(&a, "spine"), "spine");
	fm_arena_fini(&a);
}
END_TEST

START_TEST(hash_agrees_with_an_array)
{
	struct fm_hash h = { 0 };
	uint32_t twin[512];
	struct fm_rng rng;

	fm_rng_seed(&rng, (uint64_t)_i);
	memset(twin, 0xff, sizeof(twin));
	for (int step = 0; step < 20000; step++) {
		uint32_t key = fm_rng_below(&rng, 512), value = fm_rng_below(&rng, 1000000);

		if (fm_rng_below(&rng, 3) == 0) {
			ck_assert_int_eq(fm_hash_remove(&h, key * 64), twin[key] != FM_HASH_NONE);
			twin[key] = FM_HASH_NONE;
		} else {
			ck_assert(fm_hash_put(&h, key * 64, value));
			twin[key] = value;
		}
		key = fm_rng_below(&rng, 512);
		ck_assert_uint_eq(fm_hash_find(&h, key * 64), twin[key]);
	}
	fm_hash_fini(&h);
}
END_TEST

START_TEST(heap_pops_in_order_of_key_then_item)
{
	uint32_t items[300], at[300], got, least;
	uint64_t key[300], twin[300];
	struct fm_heap h;
	struct fm_rng rng;

	fm_rng_seed(&rng, (uint64_t)_i);
	fm_heap_init(&h, items, at, key, 300);
	for (int i = 0; i < 300; i++)
		twin[i] = UINT64_MAX;
	for (int step = 0; step < 3000; step++) {
		uint32_t item = fm_rng_below(&rng, 300);
		uint64_t k = fm_rng_below(&rng, 50);

		if (fm_rng_below(&rng, 4) > 0) {
			fm_heap_push(&h, item, k);
			twin[item] = k < twin[item] ? k : twin[item];
			continue;
		}
		least = FM_HEAP_NONE;
		for (uint32_t i = 0; i < 300; i++)
			if (twin[i] != UINT64_MAX &&
			    (least == FM_HEAP_NONE || twin[i] < twin[least]))
				least = i;
		got = fm_heap_pop(&h);
		ck_assert_uint_eq(got, least);
		if (got != FM_HEAP_NONE)
			twin[got] = UINT64_MAX;
	}
}
END_TEST

/* reach[a][b] by Floyd and Warshall, the slow and obvious way */
#define N_SMALL 12
static void
close_reach(bool reach[N_SMALL][N_SMALL])
{
	for (int k = 0; k < N_SMALL; k++)
		for (int i = 0; i < N_SMALL; i++)
			for (int j = 0; j < N_SMALL; j++)
				reach[i][j] |= reach[i][k] && reach[k][j];
}

START_TEST(scc_agrees_with_mutual_reachability)
{
	bool reach[N_SMALL][N_SMALL] = { { false } };
	uint32_t first[N_SMALL + 1] = { 0 }, to[N_SMALL * N_SMALL], component[N_SMALL], n = 0;
	struct fm_arena mem;
	struct fm_rng rng;

	fm_rng_seed(&rng, (uint64_t)_i);
	fm_arena_init(&mem, SIZE_MAX);
	for (uint32_t i = 0; i < N_SMALL; i++) {
		for (uint32_t j = 0; j < N_SMALL; j++)
			if (fm_rng_below(&rng, 8) == 0) {
				reach[i][j] = true;
				to[n++] = j;
			}
		first[i + 1] = n;
	}
	close_reach(reach);
	ck_assert_uint_le(fm_scc(N_SMALL, first, to, component, &mem), N_SMALL);
	for (uint32_t i = 0; i < N_SMALL; i++)
		for (uint32_t j = 0; j < N_SMALL; j++) {
			ck_assert_int_eq(
			    component[i] == component[j], i == j || (reach[i][j] && reach[j][i]));
			if (reach[i][j])
				ck_assert_uint_ge(component[i], component[j]);
		}
	fm_arena_fini(&mem);
}
END_TEST

START_TEST(acyclic_refuses_exactly_the_edges_that_close_a_cycle)
{
	uint32_t count[N_SMALL][N_SMALL] = { { 0 } };
	struct fm_acyclic *g = fm_acyclic_new(N_SMALL, NULL);
	struct fm_rng rng;

	fm_rng_seed(&rng, (uint64_t)_i);
	for (int step = 0; step < 400; step++) {
		uint32_t a = fm_rng_below(&rng, N_SMALL), b = fm_rng_below(&rng, N_SMALL);
		bool reach[N_SMALL][N_SMALL];

		if (fm_rng_below(&rng, 3) == 0 && count[a][b] > 0) {
			fm_acyclic_remove(g, a, b);
			count[a][b]--;
			continue;
		}
		for (int i = 0; i < N_SMALL; i++)
			for (int j = 0; j < N_SMALL; j++)
				reach[i][j] = count[i][j] > 0;
		close_reach(reach);
		switch (fm_acyclic_insert(g, a, b)) {
		case FM_ACYCLIC_ADDED:
			ck_assert(a != b && !reach[b][a] && count[a][b] == 0);
			count[a][b]++;
			break;
		case FM_ACYCLIC_HELD:
			ck_assert_uint_gt(count[a][b]++, 0);
			break;
		case FM_ACYCLIC_CYCLE:
			ck_assert(a == b || reach[b][a]);
			break;
		case FM_ACYCLIC_NOMEM:
			ck_abort_msg("memory ran out");
		}
		for (uint32_t i = 0; i < N_SMALL; i++)
			for (uint32_t j = 0; j < N_SMALL; j++) {
				ck_assert_int_eq(fm_acyclic_holds(g, i, j), count[i][j] > 0);
				if (count[i][j] > 0)
					ck_assert_uint_lt(
					    fm_acyclic_position(g, i), fm_acyclic_position(g, j));
			}
	}
	fm_acyclic_free(g);
}
END_TEST

#define N_LARGE 400
#define LARGE_DEGREE 4

/* Does a lead to b?  By depth first search over to[]. */
static bool
leads_to(const uint32_t to[][LARGE_DEGREE], const uint32_t *n, uint32_t a, uint32_t b, bool *seen)
{
	seen[a] = true;
	for (uint32_t i = 0; a != b && i < n[a]; i++)
		if (!seen[to[a][i]] && leads_to(to, n, to[a][i], b, seen))
			return true;
	return a == b;
}

/* So many vertices lie between the ends that searches meet more than are sorted one by one. */
START_TEST(acyclic_orders_a_large_graph)
{
	uint32_t to[N_LARGE][LARGE_DEGREE], n[N_LARGE] = { 0 }, n_refused = 0;
	struct fm_acyclic *g = fm_acyclic_new(N_LARGE, NULL);
	struct fm_rng rng;

	fm_rng_seed(&rng, (uint64_t)_i);
	for (int step = 0; step < 3 * N_LARGE; step++) {
		uint32_t a = fm_rng_below(&rng, N_LARGE), b = fm_rng_below(&rng, N_LARGE);
		bool seen[N_LARGE] = { false }, closes = leads_to(to, n, b, a, seen);

		if (n[a] == LARGE_DEGREE || fm_acyclic_holds(g, a, b))
			continue;
		ck_assert_int_eq(
		    fm_acyclic_insert(g, a, b), closes ? FM_ACYCLIC_CYCLE : FM_ACYCLIC_ADDED);
		if (!closes)
			to[a][n[a]++] = b;
		n_refused += closes;
	}
	ck_assert_uint_gt(n_refused, N_LARGE / 10);
	for (uint32_t a = 0; a < N_LARGE; a++)
		for (uint32_t i = 0; i < n[a]; i++)
			ck_assert_uint_lt(
			    fm_acyclic_position(g, a), fm_acyclic_position(g, to[a][i]));
	fm_acyclic_free(g);
}
END_TEST

struct matrix {
	bool edge[N_SMALL][N_SMALL];
};

FM_TOPO_INLINE bool
each_in_row(void *graph, uint32_t v, fm_topo_visit visit, void *arg)
{
	const struct matrix *m = graph;

	for (uint32_t i = 0; i < N_SMALL; i++)
		if (m->edge[v][i] && !visit(arg, i))
			return false;
	return true;
}

FM_TOPO_INLINE bool
each_in_column(void *graph, uint32_t v, fm_topo_visit visit, void *arg)
{
	const struct matrix *m = graph;

	for (uint32_t i = 0; i < N_SMALL; i++)
		if (m->edge[i][v] && !visit(arg, i))
			return false;
	return true;
}

/* Every edge leads to a higher rank, and nothing is left of a search. */
static void
check_ranks(const struct fm_ranks *t, const struct matrix *m)
{
	ck_assert(t->heap.n == 0 && t->n_raised == 0 && t->n_behind == 0);
	for (uint32_t i = 0; i < N_SMALL; i++) {
		ck_assert(t->want[i] == 0 && !fm_bit_test(t->behind, i));
		for (uint32_t j = 0; j < N_SMALL; j++)
			if (m->edge[i][j])
				ck_assert_uint_lt(t->rank[i], t->rank[j]);
	}
}

/* Edges come and go, and at times all ranks are found anew: the answers are those of the
 * transitive closure. */
START_TEST(ranks_refuse_exactly_the_edges_that_close_a_cycle)
{
	uint64_t *memory = calloc(1, fm_ranks_bytes(N_SMALL)), was[N_SMALL];
	struct matrix m = { 0 };
	struct fm_topo_graph edges = { &m, each_in_row, each_in_column };
	struct fm_ranks t;
	struct fm_rng rng;

	fm_rng_seed(&rng, (uint64_t)_i);
	fm_ranks_init(&t, N_SMALL, memory);
	for (int step = 0; step < 400; step++) {
		uint32_t a = fm_rng_below(&rng, N_SMALL), b = fm_rng_below(&rng, N_SMALL);
		bool reach[N_SMALL][N_SMALL];

		if (fm_rng_below(&rng, 50) == 0)
			ck_assert(fm_ranks_sort(&t, &edges));
		if (m.edge[a][b]) {
			m.edge[a][b] = fm_rng_below(&rng, 3) > 0;
			continue;
		}
		memcpy(reach, m.edge, sizeof(reach));
		memcpy(was, t.rank, sizeof(was));
		close_reach(reach);
		m.edge[a][b] = fm_ranks_allow(&t, &edges, a, b);
		ck_assert_int_eq(m.edge[a][b], a != b && !reach[b][a]);
		ck_assert(m.edge[a][b] || memcmp(was, t.rank, sizeof(was)) == 0);
		check_ranks(&t, &m);
	}
	for (uint32_t i = 0; i < N_SMALL; i++)
		m.edge[i][(i + 1) % N_SMALL] = true;
	ck_assert(!fm_ranks_sort(&t, &edges));
	free(memory);
}
END_TEST

START_TEST(bitset_walks_its_members)
{
	uint64_t set[FM_BITSET_WORDS(200)] = { 0 };
	size_t want[] = { 0, 63, 64, 127, 130, 199 }, n = 0;

	for (size_t i = 0; i < 6; i++)
		fm_bit_set(set, want[i]);
	fm_bit_set(set, 5);
	fm_bit_clear(set, 5);
	FM_EACH_BIT (i, set, 200)
		ck_assert_uint_eq(i, want[n++]);
	ck_assert_uint_eq(n, 6);
	ck_assert_uint_eq(fm_bit_count(set, 200), 6);
	ck_assert_uint_eq(fm_bit_next(set, 199, 131), 199);
}
END_TEST

/* Against a walk from the front; values repeat, keys lie below, between and above. */
START_TEST(lower_bound_agrees_with_a_walk)
{
	uint32_t v[20] = { 0 };
	size_t n = (size_t)_i;
	struct fm_rng rng;

	fm_rng_seed(&rng, (uint64_t)_i);
	for (size_t i = 0; i < n; i++)
		v[i] = (i > 0 ? v[i - 1] : 1) + fm_rng_below(&rng, 3);
	for (uint32_t key = 0; key <= 45; key++) {
		size_t want = 0, at;

		while (want < n && v[want] < key)
			want++;
		fm_lower_bound(at, n, i, v[i] < key);
		ck_assert_uint_eq(at, want);
	}
}
END_TEST

START_TEST(rng_is_the_same_everywhere_and_stays_below)
{
	struct fm_rng a, b;
	uint32_t seen = 0;

	fm_rng_seed(&a, 42);
	fm_rng_seed(&b, 42);
	for (int i = 0; i < 1000; i++) {
		uint32_t x = fm_rng_below(&a, 7);

		ck_assert_uint_lt(x, 7);
		ck_assert_uint_eq(x, fm_rng_below(&b, 7));
		seen |= 1u << x;
	}
	ck_assert_uint_eq(seen, 0x7f);
	ck_assert(fm_rng_unit(&a) < 1.0);
}
END_TEST

START_TEST(errors_carry_kind_sentence_and_context)
{
	struct fm_error err;

	ck_assert_int_eq(fm_fail(&err, FM_E_CONFIG, "port %d is odd", 3), FM_E_CONFIG);
	ck_assert_int_eq(fm_context(&err, "fmd.conf:%d", 7), FM_E_CONFIG);
	ck_assert_str_eq(err.msg, "fmd.conf:7: port 3 is odd");
	ck_assert_str_eq(fm_error_word(err.kind), "configuration");
	ck_assert_int_eq(fm_fail(NULL, FM_E_BUG, "nobody listens"), FM_E_BUG);
}
END_TEST

static void
catch_line(void *arg, enum fm_log_level level, const char *subsystem, const char *line)
{
	char *seen = arg;

	snprintf(seen + strlen(seen), 256 - strlen(seen), "%d/%s/%s;", level, subsystem, line);
}

static const struct {
	const char *text, *shown;
} names[] = { { "", "" }, { "leaf-1 HCA-1", "leaf-1 HCA-1" },
	{ "sp\303\244n \342\202\254 \360\237\230\200",
	    "sp\303\244n \342\202\254 \360\237\230\200" },
	{ "a\033[31mb\tc\nd\177", "a [31mb c d " }, { "\302\233m", "?m" },
	{ "\302\240", "\302\240" }, { "\233m", "?m" }, { "h\344st", "h?st" },
	{ "a\342\200\256b", "a?b" }, { "\342\201\246\342\201\251", "??" },
	{ "\342\200\216\342\200\217", "??" }, { "\330\234", "?" },
	{ "\342\200\250\342\200\251", "??" }, { "a\342\200\213b", "a?b" },
	{ "\357\273\277x", "?x" }, { "\300\257", "??" }, { "\340\200\257", "???" },
	{ "\360\200\200\257", "????" }, { "\355\240\200", "?" }, { "\364\220\200\200", "?" },
	{ "\370\210\200\200\200", "?????" }, { "a\342\202", "a??" }, { "a\360\237\230", "a???" },
	{ "\303(", "?(" } };

START_TEST(names_are_made_printable)
{
	char text[64];

	snprintf(text, sizeof(text), "%s", names[_i].text);
	fm_printable(text);
	ck_assert_str_eq(text, names[_i].shown);
}
END_TEST

/* By a library of others: mbrtowc() of a UTF-8 locale takes it, sign by sign. */
static void
expect_utf8(const char *text)
{
	mbstate_t state = { 0 };
	wchar_t sign;
	size_t n;

	for (; *text != '\0'; text += n) {
		n = mbrtowc(&sign, text, strlen(text), &state);
		ck_assert_uint_le(n, 4);
		ck_assert(sign >= ' ' && (sign < 0x7f || sign > 0x9f));
		ck_assert(sign < 0x202a || sign > 0x202e);
	}
}

START_TEST(any_bytes_are_made_printable)
{
	struct fm_rng rng;
	char text[65], once[65];

	ck_assert_ptr_nonnull(setlocale(LC_CTYPE, "C.UTF-8"));
	fm_rng_seed(&rng, 1);
	for (unsigned i = 0; i < n_cases(200000); i++) {
		unsigned n = fm_rng_below(&rng, sizeof(text));

		for (unsigned k = 0; k < n; k++) /* leads and what follows them more often */
			text[k] = (char)(fm_rng_below(&rng, 2) ? 0x80 | fm_rng_next(&rng)
							       : fm_rng_next(&rng));
		text[n] = '\0';
		n = (unsigned)strlen(text);
		fm_printable(text);
		ck_assert_uint_le(strlen(text), n);
		expect_utf8(text);
		memcpy(once, text, sizeof(once));
		fm_printable(text);
		ck_assert_str_eq(text, once);
	}
}
END_TEST

static unsigned
n_lines(const char *path, const char *word)
{
	char line[256];
	unsigned n = 0;
	FILE *f = fopen(path, "r");

	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		n += strstr(line, word) != NULL;
	if (f != NULL)
		fclose(f);
	return n;
}

/* Lines are added to a file; one that was moved away gets none after it was opened anew; one that
 * is full is kept once. */
START_TEST(log_goes_to_a_file)
{
	char folder[FOLDER_ROOM], path[FOLDER_ROOM + 8], moved[FOLDER_ROOM + 8];
	struct fm_error err = { 0 };

	folder_make(folder);
	snprintf(path, sizeof(path), "%s/log", folder);
	snprintf(moved, sizeof(moved), "%s/log.1", folder);
	folder_write(folder, "log", "what was there\n");
	ck_assert_int_eq(fm_log_open(path, 0, &err), 0);
	log_warn("sa", "first");
	ck_assert_uint_eq(n_lines(path, "what was there"), 1);
	ck_assert_uint_eq(n_lines(path, "warning sa: first"), 1);
	ck_assert_int_eq(fm_log_open("/nonexistent/log", 0, &err), FM_E_SYSTEM);
	ck_assert_str_eq(err.msg, "/nonexistent/log: No such file or directory");
	log_warn("sa", "second"); /* where it was */
	ck_assert_uint_eq(n_lines(path, "second"), 1);
	ck_assert_int_eq(rename(path, moved), 0);
	ck_assert_int_eq(fm_log_reopen(&err), 0);
	log_warn("sa", "third");
	ck_assert_uint_eq(n_lines(moved, "third"), 0);
	ck_assert_uint_eq(n_lines(path, "third"), 1);
	ck_assert_int_eq(fm_log_open(path, 4096, &err), 0);
	for (int i = 0; i < 200; i++)
		log_warn("sa", "line number %d of many", i);
	ck_assert_uint_eq(n_lines(path, "number 199 "), 1);
	ck_assert_uint_gt(n_lines(moved, "of many"), 50);
	ck_assert_uint_lt(n_lines(moved, "of many"), 100);
	ck_assert_int_eq(fm_log_open("", 0, &err), 0);
	folder_remove(folder);
}
END_TEST

START_TEST(log_filters_by_level_subsystem_and_rate)
{
	struct fm_log_bucket bucket = { .burst = 2, .every_ms = 3600000 };
	char seen[256] = "";

	fm_log_set_sink(catch_line, seen);
	log_debug("sweep", "unseen");
	log_warn("sweep", "port %d", 1);
	fm_log_set_debug("route,sweep");
	log_debug("sweep", "seen");
	log_debug("swe", "unseen");
	fm_log_set_debug("");
	log_debug("sweep", "unseen");
	fm_log_set_level(FM_LOG_DEBUG);
	log_debug("swe", "all");
	fm_log_set_level(FM_LOG_INFO);
	for (int i = 0; i < 5; i++)
		fm_log_rl(&bucket, FM_LOG_WARN, "trap", "n=%d", i);
	fm_log_set_sink(NULL, NULL);
	ck_assert_str_eq(seen, "1/sweep/port 1;4/sweep/seen;4/swe/all;1/trap/n=0;1/trap/n=1;");
	ck_assert_uint_eq(bucket.dropped, 3);
}
END_TEST

/* The round keys of SPECK32/64, so that the vector of the paper can be looked at. */
static void
expand(struct fm_speck32 *c, const uint16_t key[4])
{
	uint16_t l[FM_SPECK32_ROUNDS + 3] = { key[1], key[2], key[3] }, k = key[0];

	for (int i = 0; i < FM_SPECK32_ROUNDS; i++) {
		c->key[i] = k;
		l[i + 3] = (uint16_t)((uint16_t)(k + (uint16_t)(l[i] >> 7 | l[i] << 9)) ^ i);
		k = (uint16_t)((uint16_t)(k << 2 | k >> 14) ^ l[i + 3]);
	}
}

START_TEST(speck32_is_that_of_the_paper_and_goes_back)
{
	static const uint16_t key[4] = { 0x0100, 0x0908, 0x1110, 0x1918 };
	struct fm_speck32 c, same, another;
	struct fm_rng rng;

	expand(&c, key);
	ck_assert_uint_eq(fm_speck32_encrypt(&c, 0x6574694c), 0xa86842f2);
	ck_assert_uint_eq(fm_speck32_decrypt(&c, 0xa86842f2), 0x6574694c);
	fm_rng_seed(&rng, 1);
	ck_assert(fm_speck32_init(&c, 7) && fm_speck32_init(&same, 7));
	ck_assert_mem_eq(&c, &same, sizeof(c));
	ck_assert(fm_speck32_init(&c, 0) && fm_speck32_init(&another, 0));
	ck_assert_mem_ne(&c, &another, sizeof(c));
	for (int i = 0; i < 100000; i++) {
		uint32_t x = (uint32_t)fm_rng_next(&rng);

		ck_assert_uint_eq(fm_speck32_decrypt(&c, fm_speck32_encrypt(&c, x)), x);
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("lib");
	TCase *t = tcase_create("lib");

	tcase_add_test(t, arena_zeroes_aligns_and_keeps_to_its_budget);
	tcase_add_test(t, arena_fails_from_the_nth_allocation_on);
	tcase_add_loop_test(t, hash_agrees_with_an_array, 0, 5);
	tcase_add_loop_test(t, heap_pops_in_order_of_key_then_item, 0, 20);
	tcase_add_loop_test(t, scc_agrees_with_mutual_reachability, 0, 200);
	tcase_add_loop_test(t, acyclic_refuses_exactly_the_edges_that_close_a_cycle, 0, 50);
	tcase_add_loop_test(t, acyclic_orders_a_large_graph, 0, 20);
	tcase_add_loop_test(t, ranks_refuse_exactly_the_edges_that_close_a_cycle, 0, 50);
	tcase_add_test(t, bitset_walks_its_members);
	tcase_add_loop_test(t, lower_bound_agrees_with_a_walk, 0, 20);
	tcase_add_test(t, rng_is_the_same_everywhere_and_stays_below);
	tcase_add_test(t, speck32_is_that_of_the_paper_and_goes_back);
	tcase_add_test(t, errors_carry_kind_sentence_and_context);
	tcase_add_loop_test(t, names_are_made_printable, 0, sizeof(names) / sizeof(names[0]));
	tcase_add_test(t, any_bytes_are_made_printable);
	tcase_add_test(t, log_goes_to_a_file);
	tcase_add_test(t, log_filters_by_level_subsystem_and_rate);
	suite_add_tcase(s, t);
	return run_suite(s);
}
