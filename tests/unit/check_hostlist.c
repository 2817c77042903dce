/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of hosts as SLURM writes them: what is written is read again, what is none is refused. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "lib/rng.h"
#include "tests/run.h"
#include "tools/fmctl/hostlist.h"

struct names {
	char name[64][HOSTLIST_NAME];
	size_t n;
};

static bool
take(void *arg, const char *name)
{
	struct names *all = arg;

	ck_assert_uint_lt(all->n, 64);
	snprintf(all->name[all->n++], HOSTLIST_NAME, "%s", name);
	return true;
}

static char *
written(const char *const *name, size_t n)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	hostlist_write(name, n, out);
	fclose(out);
	return text;
}

static const struct {
	const char *text, *names; /* with blanks between; NULL: it is no list */
} lists[] = {
	{ "a", "a" },
	{ "n[1-3]", "n1 n2 n3" },
	{ "n[1-2,7],m", "n1 n2 n7 m" },
	{ "n[08-10]", "n08 n09 n10" },
	{ "n[9-11]", "n9 n10 n11" },
	{ "r[1-2]n[3-4]x", "r1n3x r1n4x r2n3x r2n4x" },
	{ "a,b", "a b" },
	{ "", NULL },
	{ ",a", NULL },
	{ "n[1-3", NULL },
	{ "n[]", NULL },
	{ "n[x]", NULL },
	{ "n[3-1]", NULL },
	{ "n[1-]", NULL },
	{ "n[1;2]", NULL },
	{ "n[1-9999999999]", NULL },
	{ "n[0-999999][0-9]", NULL },
};

static bool
count(void *arg, const char *name)
{
	++*(size_t *)arg;
	return true;
}

START_TEST(test_read)
{
	struct names got = { .n = 0 };
	char joined[512] = "";
	size_t n = 0;

	if (lists[_i].names == NULL) {
		ck_assert(!hostlist_each(lists[_i].text, strlen(lists[_i].text), count, &n));
		return;
	}
	ck_assert(hostlist_each(lists[_i].text, strlen(lists[_i].text), take, &got));
	for (size_t i = 0; i < got.n; i++)
		snprintf(joined + strlen(joined), sizeof(joined) - strlen(joined), "%s%s",
		    i > 0 ? " " : "", got.name[i]);
	ck_assert_str_eq(joined, lists[_i].names);
}
END_TEST

static const struct {
	const char *names[8], *text;
} short_ones[] = {
	{ { "a" }, "a" },
	{ { "n1", "n2", "n3" }, "n[1-3]" },
	{ { "m", "n1", "n2", "n7" }, "m,n[1-2,7]" },
	{ { "n08", "n09", "n10" }, "n[08-10]" },
	{ { "n9", "n10", "n11" }, "n[9-11]" },
	{ { "n1-1", "n1-2", "n2-1" }, "n1-[1-2],n2-1" },
};

START_TEST(test_short)
{
	size_t n = 0;
	char *text;

	while (n < 8 && short_ones[_i].names[n] != NULL)
		n++;
	text = written(short_ones[_i].names, n);
	ck_assert_str_eq(text, short_ones[_i].text);
	free(text);
}
END_TEST

static int
by_name(const void *a, const void *b)
{
	return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

/* Any names, written and read. */
START_TEST(test_round_trip)
{
	static const char *const stems[] = { "n", "n0", "rack1-", "x", "9" };

	for (uint32_t seed = 0; seed < n_cases(2000); seed++) {
		char name[24][32];
		const char *sorted[24];
		struct names got = { .n = 0 };
		struct fm_rng r;
		size_t n;
		char *text;

		fm_rng_seed(&r, seed);
		n = 1 + fm_rng_below(&r, 24);
		for (size_t i = 0; i < n; i++) {
			int width = (int)fm_rng_below(&r, 4);

			snprintf(name[i], sizeof(name[i]), "%s%0*u", stems[fm_rng_below(&r, 5)],
			    width, fm_rng_below(&r, 30));
			sorted[i] = name[i];
		}
		qsort(sorted, n, sizeof(*sorted), by_name);
		text = written(sorted, n);
		ck_assert_msg(hostlist_each(text, strlen(text), take, &got), "%s", text);
		ck_assert_msg(got.n == n, "seed %u: %s", seed, text);
		for (size_t i = 0; i < n; i++)
			ck_assert_msg(strcmp(got.name[i], sorted[i]) == 0,
			    "seed %u: %s of %s is %s", seed, sorted[i], text, got.name[i]);
		free(text);
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("hostlist");
	TCase *t = tcase_create("hostlist");

	tcase_add_loop_test(t, test_read, 0, (int)(sizeof(lists) / sizeof(lists[0])));
	tcase_add_loop_test(t, test_short, 0, (int)(sizeof(short_ones) / sizeof(short_ones[0])));
	tcase_add_test(t, test_round_trip);
	suite_add_tcase(s, t);
	return run_suite(s);
}
