/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a cable is by the counters at its ends: by cases, and by histories of two ports of which is
 * known whether their cable is sound.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "lib/rng.h"
#include "perf/health/judge.h"
#include "perf/reader/meaning.h"
#include "tests/run.h"

#define END(bits) ((bits) == 64 ? UINT64_MAX : (UINT64_C(1) << (bits)) - 1)
#define MIN INT64_C(60000)
#define HOUR JUDGE_HOUR_MS
#define START (100 * HOUR)
#define UTC_S 1700000000
#define MOST 8

static struct judge *judge;
static int64_t now;

/* --------------------------------------------------------------------- two ports */

struct device {
	struct health_end is;
	uint64_t shown[N_COUNTERS];
	uint8_t bits[N_COUNTERS];
	struct meaning meaning;
	int64_t read_ms; /* 0: never */
	bool is_away;	 /* it is not read */
};

static struct device end[2];

static void
make_device(struct device *d, uint64_t guid, bool is_host, bool is_wide)
{
	static const uint8_t narrow[] = { 16, 8, 8, 16, 16, 16, 16, 8, 8, 4, 4, 16, 16 };

	*d = (struct device){ .is = { .guid = guid, .port = 3, .is_host = is_host } };
	for (unsigned c = 0; c < N_COUNTERS; c++)
		d->bits[c] = is_wide					    ? 64
		    : c < sizeof(narrow)				    ? narrow[c]
		    : c >= COUNTER_SYNC_HEADER && c < COUNTER_FEC_CORRECTED ? 16
									    : 32;
}

static void
count(struct device *d, enum counter c, uint64_t n)
{
	uint64_t room = END(d->bits[c]) - d->shown[c];
	bool goes_round = c >= COUNTER_XMIT_DATA && c <= COUNTER_XMIT_WAIT;

	if (n <= room)
		d->shown[c] += n;
	else
		d->shown[c] = goes_round ? n - room - 1 : END(d->bits[c]);
}

static void
read_device(struct device *d, const struct device *far)
{
	struct pma_reading r = { .has = (1u << N_COUNTERS) - 1 };
	struct meaning_news news;

	for (unsigned c = 0; c < N_COUNTERS; c++) {
		r.value[c] = d->shown[c];
		r.bits[c] = d->bits[c];
		r.at_end |= d->shown[c] == END(d->bits[c]) ? 1u << c : 0;
	}
	meaning_take(&d->meaning, &r, &news);
	ck_assert(judge_hear(judge,
	    &(struct health_reading){ .at = d->is,
		.far = far->is,
		.added = news.added,
		.at_end = news.at_end,
		.was_reset = news.was_reset,
		.far_is_silent = far->read_ms == 0 && far->is_away,
		.span_ms = d->read_ms > 0 ? now - d->read_ms : 0 }));
	d->read_ms = now;
}

static void
pass_sweep(uint32_t interval_ms)
{
	judge_begin(judge, now, interval_ms);
	for (int e = 0; e < 2; e++)
		if (!end[e].is_away)
			read_device(&end[e], &end[!e]);
	judge_end(judge, now, UTC_S + now / 1000);
	now += interval_ms;
}

static void
pass_time(int64_t ms)
{
	for (int64_t i = 0; i < ms / MIN; i++)
		pass_sweep((uint32_t)MIN);
}

static enum health
health(void)
{
	return judge_count(judge, HEALTH_BAD) > 0  ? HEALTH_BAD
	    : judge_count(judge, HEALTH_WATCH) > 0 ? HEALTH_WATCH
						   : HEALTH_OK;
}

static struct health_verdict
verdict(void)
{
	struct health_verdict v[MOST] = { { .health = HEALTH_OK } };
	uint32_t mark[MOST];

	judge_tell_all(judge);
	judge_news(judge, v, mark, MOST);
	return v[0];
}

/* A cable from a switch to a host, or to another switch. */
static void
set_up(bool to_host, bool is_wide)
{
	judge_free(judge);
	judge = judge_new();
	ck_assert_ptr_nonnull(judge);
	now = START;
	make_device(&end[0], 0x100, false, is_wide);
	make_device(&end[1], 0x200, to_host, is_wide);
	pass_time(2 * MIN);
}

/* ------------------------------------------------------------------------ cases */

/* Each row: one less than its threshold is nothing, the threshold is told. */
START_TEST(thresholds)
{
	for (unsigned row = 0; row < N_EVIDENCE; row++) {
		const struct evidence_row *is = &evidence_rows[row];

		set_up(false, true);
		if (is->watch == 0) {
			count(&end[0], is->counter, 1000000);
			pass_time(3 * MIN);
			ck_assert_int_eq(health(), HEALTH_OK);
			continue;
		}
		count(&end[0], is->counter, is->watch - 1);
		pass_time(3 * MIN);
		ck_assert_msg(health() == HEALTH_OK, "%s", is->word);
		count(&end[0], is->counter, 1);
		pass_time(3 * MIN);
		ck_assert_msg(health() == HEALTH_WATCH, "%s", is->word);
		ck_assert_uint_eq(verdict().per_hour[0][row], is->watch);
		count(&end[0], is->counter, is->bad - is->watch);
		pass_time(3 * MIN);
		ck_assert_msg(health() == HEALTH_BAD, "%s", is->word);
		ck_assert_int_eq(verdict().suspect,
		    is->accuses == ACCUSES_SENDER ? SUSPECT_SECOND : SUSPECT_CABLE);
	}
}
END_TEST

/* No number of these is held against the cable. */
START_TEST(what_is_no_cables)
{
	static const enum counter others[] = { COUNTER_REMOTE_PHYSICAL, COUNTER_RELAY_ERRORS,
		COUNTER_XMIT_DISCARDS, COUNTER_XMIT_CONSTRAINT, COUNTER_RCV_CONSTRAINT,
		COUNTER_VL15_DROPPED, COUNTER_QP1_DROPPED, COUNTER_XMIT_WAIT };

	set_up(true, true);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		for (int e = 0; e < 2; e++)
			count(&end[e], others[i], 100000);
	pass_time(5 * MIN);
	ck_assert_int_eq(health(), HEALTH_OK);
}
END_TEST

START_TEST(quiet)
{
	set_up(false, true);
	count(&end[1], COUNTER_SYMBOL_ERRORS, 5000);
	pass_time(3 * MIN);
	ck_assert_int_eq(health(), HEALTH_BAD);
	ck_assert_int_eq(verdict().suspect, SUSPECT_FIRST);
	pass_time(HOUR + 50 * MIN);
	ck_assert_int_eq(health(), HEALTH_BAD);
	pass_time(20 * MIN);
	ck_assert_int_eq(health(), HEALTH_WATCH);
	ck_assert_int_eq(verdict().suspect, SUSPECT_FIRST);
	end[0].is_away = true; /* not seen is not quiet */
	pass_time(3 * HOUR);
	ck_assert_int_eq(health(), HEALTH_WATCH);
	end[0].is_away = false;
	pass_time(2 * MIN);
	ck_assert_int_eq(health(), HEALTH_OK);
}
END_TEST

/* A counter at its end may count on. */
START_TEST(stuck)
{
	set_up(false, false);
	count(&end[1], COUNTER_SYMBOL_ERRORS, 65535);
	pass_time(5 * HOUR);
	ck_assert_int_eq(health(), HEALTH_BAD);
	ck_assert_uint_eq(verdict().at_end[1], 1u << 3);
	end[1].shown[COUNTER_SYMBOL_ERRORS] = 0;
	pass_time(3 * HOUR);
	ck_assert_int_eq(health(), HEALTH_OK); /* it had been quiet, one step a sweep */
}
END_TEST

/* A host goes, and is back: its switch has seen the link fall, and errors with it. */
static void
boot_host(bool is_cold)
{
	count(&end[0], COUNTER_LINK_DOWNED, 2);
	count(&end[0], COUNTER_SYMBOL_ERRORS, 400);
	pass_sweep((uint32_t)MIN);
	end[0].is_away = end[1].is_away = true;
	pass_time(4 * MIN);
	end[0].is_away = end[1].is_away = false;
	if (is_cold)
		memset(end[1].shown, 0, sizeof(end[1].shown));
	count(&end[0], COUNTER_LINK_DOWNED, 1);
	count(&end[1], COUNTER_SYMBOL_ERRORS, 300);
	pass_sweep((uint32_t)MIN);
	count(&end[0], COUNTER_SYMBOL_ERRORS, 500);
	pass_time(3 * MIN);
}

START_TEST(reboots)
{
	for (int cold = 0; cold < 2; cold++) {
		set_up(true, true);
		count(&end[1], COUNTER_LINK_DOWNED, 1);
		now += 1;
		pass_time(10 * MIN);
		ck_assert_int_eq(health(), HEALTH_WATCH); /* that was none */
		set_up(true, true);
		count(&end[1], COUNTER_XMIT_DATA, 1000);
		pass_time(MIN);
		boot_host(cold != 0);
		ck_assert_int_eq(health(), HEALTH_OK);
		pass_time(20 * MIN);
		ck_assert_int_eq(health(), HEALTH_OK);
		count(&end[0], COUNTER_SYMBOL_ERRORS, 500);
		pass_time(3 * MIN);
		ck_assert_int_eq(health(), HEALTH_BAD);
	}
}
END_TEST

/* A link that falls in each sweep is no device that is booted. */
START_TEST(falls_without_end)
{
	set_up(true, true);
	for (int i = 0; i < 15; i++) {
		count(&end[0], COUNTER_LINK_DOWNED, 1);
		count(&end[1], COUNTER_LINK_DOWNED, 1);
		pass_time(MIN);
	}
	ck_assert_int_eq(health(), HEALTH_BAD);
	ck_assert_int_eq(verdict().suspect, SUSPECT_CABLE);
}
END_TEST

/* An agent that has never answered is not waited for; one that has gone is, for an hour, or till it
 * is back where the link fell. */
START_TEST(silent_ends)
{
	judge_free(judge);
	judge = judge_new();
	now = START;
	make_device(&end[0], 0x100, false, true);
	make_device(&end[1], 0x200, true, true);
	end[1].is_away = true;
	pass_time(2 * MIN);
	count(&end[0], COUNTER_SYMBOL_ERRORS, 500);
	pass_time(3 * MIN);
	ck_assert_int_eq(health(), HEALTH_BAD);
	set_up(true, true);
	end[1].is_away = true;
	pass_time(MIN);
	count(&end[0], COUNTER_LINK_DOWNED, 1);
	pass_time(3 * HOUR);
	ck_assert_int_eq(health(), HEALTH_OK);
	set_up(true, true);
	end[1].is_away = true;
	count(&end[0], COUNTER_SYMBOL_ERRORS, 500);
	pass_time(50 * MIN);
	ck_assert_int_eq(health(), HEALTH_OK);
	pass_time(20 * MIN);
	ck_assert_int_eq(health(), HEALTH_BAD);
}
END_TEST

START_TEST(telling)
{
	struct health_verdict v[MOST];
	uint32_t mark[MOST];

	set_up(false, true);
	ck_assert_uint_eq(judge_news(judge, v, mark, MOST), 0);
	count(&end[0], COUNTER_LINK_RECOVERIES, 1);
	pass_time(2 * MIN);
	ck_assert_uint_eq(judge_news(judge, v, mark, MOST), 1);
	ck_assert(v[0].end[0].guid == 0x100 && v[0].end[1].guid == 0x200 && v[0].end[1].port == 3);
	ck_assert_int_eq(v[0].since_s, UTC_S + (now - MIN) / 1000);
	judge_told(judge, mark, 1);
	pass_time(2 * MIN);
	ck_assert_uint_eq(judge_news(judge, v, mark, MOST), 0);
	count(&end[0], COUNTER_LINK_RECOVERIES, 1); /* other numbers */
	pass_time(2 * MIN);
	ck_assert_uint_eq(judge_news(judge, v, mark, MOST), 1);
	judge_told(judge, mark, 1);
	judge_tell_all(judge);
	ck_assert_uint_eq(judge_news(judge, v, mark, MOST), 1);
	judge_told(judge, mark, 1);
	pass_time(4 * HOUR);
	ck_assert_uint_eq(judge_news(judge, v, mark, MOST), 1);
	ck_assert_int_eq(v[0].health, HEALTH_OK);
	judge_told(judge, mark, 1);
	pass_time(MIN);
	judge_tell_all(judge);
	ck_assert_uint_eq(judge_news(judge, v, mark, MOST), 0);
}
END_TEST

/* What was found before our time gets better as what we have found; a cable that nobody can read is
 * forgotten. */
START_TEST(believed)
{
	struct health_end of[2];

	set_up(false, true);
	of[0] = end[1].is;
	of[1] = end[0].is;
	ck_assert(judge_believe(judge, of, HEALTH_BAD, 77, now));
	ck_assert_int_eq(verdict().since_s, 77);
	ck_assert_int_eq(health(), HEALTH_BAD);
	pass_time(2 * HOUR + 2 * MIN);
	ck_assert_int_eq(health(), HEALTH_WATCH);
	end[0].is_away = end[1].is_away = true;
	pass_time(23 * HOUR);
	ck_assert_int_eq(health(), HEALTH_WATCH);
	pass_time(2 * HOUR);
	ck_assert_int_eq(health(), HEALTH_OK);
}
END_TEST

/* -------------------------------------------------------------------- histories */

enum fate { SOUND, ALWAYS_STUCK, SOME_ERRORS, MANY_ERRORS, ONE_FALL, MANY_FALLS, N_FATES };

struct history {
	struct fm_rng rng;
	enum fate fate;
	bool boots, clears;
	uint32_t interval_ms;
	unsigned sick;	      /* the end that shows it */
	int64_t begin, until; /* of what is wrong */
	int64_t every;	      /* ms between one and the next */
	int64_t next;
	enum counter counter;
	int64_t boot, back; /* of the end `booted`; 0: none is under way */
	int64_t noise[2];
	unsigned booted;
	bool is_cold;
};

static enum health
truth_of(const struct history *h)
{
	static const enum health of[N_FATES] = { HEALTH_OK, HEALTH_OK, HEALTH_WATCH, HEALTH_BAD,
		HEALTH_WATCH, HEALTH_BAD };

	return of[h->fate];
}

static int64_t
between(struct history *h, int64_t low, int64_t high)
{
	return low + (int64_t)fm_rng_below(&h->rng, (uint32_t)(high - low));
}

static void
begin_history(struct history *h, uint64_t seed)
{
	static const enum counter kinds[] = { COUNTER_SYMBOL_ERRORS, COUNTER_RCV_ERRORS,
		COUNTER_SYNC_HEADER, COUNTER_UNKNOWN_BLOCK };
	bool to_host, wide[2];

	*h = (struct history){ .fate = seed % N_FATES };
	fm_rng_seed(&h->rng, seed);
	to_host = fm_rng_below(&h->rng, 3) != 0;
	wide[0] = fm_rng_below(&h->rng, 2) != 0;
	wide[1] = fm_rng_below(&h->rng, 2) != 0;
	h->interval_ms = fm_rng_below(&h->rng, 16) == 0 ? 10000 : 60000;
	/* of a fall nobody can say more when counters are cleared at the same time */
	h->boots = h->fate < ONE_FALL && fm_rng_below(&h->rng, 3) != 0;
	h->clears = h->fate < ONE_FALL && fm_rng_below(&h->rng, 3) == 0;
	h->sick = fm_rng_below(&h->rng, 2);
	h->counter = kinds[fm_rng_below(&h->rng, 4)];
	judge_free(judge);
	judge = judge_new();
	now = START + between(h, 0, HOUR);
	make_device(&end[0], 0x100, false, wide[0]);
	make_device(&end[1], 0x200, to_host, wide[1]);
	for (int e = 0; e < 2; e++)
		for (unsigned c = 0; c < N_COUNTERS; c++)
			end[e].shown[c] = fm_rng_next(&h->rng) & (END(end[e].bits[c]) >> 1);
	if (h->fate == ALWAYS_STUCK) /* all of them, or that of falls */
		for (int e = 0; e < 2; e++)
			for (unsigned row = 0; row < (seed % 4 < 2 ? 1 : N_EVIDENCE); row++) {
				enum counter c = evidence_rows[row].counter;

				if (end[e].bits[c] < 64)
					end[e].shown[c] = END(end[e].bits[c]);
			}
	h->begin = now + between(h, 20 * MIN, HOUR);
	h->until = h->begin + 70 * MIN;
	h->every = h->fate == SOME_ERRORS ? HOUR / between(h, 24, 60)
	    : h->fate == MANY_ERRORS	  ? HOUR / between(h, 250, 2000)
	    : h->fate == MANY_FALLS	  ? HOUR / between(h, 14, 40)
					  : 70 * MIN;
	if (h->fate == MANY_FALLS || h->fate == ONE_FALL)
		h->counter = COUNTER_LINK_DOWNED;
	h->next = h->begin;
	h->boot = now + between(h, 10 * MIN, 60 * MIN);
}

/* What every port shows in the long run, and what is nobody's cable. */
static void
make_noise(struct history *h, unsigned e)
{
	static const enum counter others[] = { COUNTER_REMOTE_PHYSICAL, COUNTER_RELAY_ERRORS,
		COUNTER_XMIT_DISCARDS, COUNTER_VL15_DROPPED, COUNTER_FEC_CORRECTED };

	for (enum counter c = COUNTER_XMIT_DATA; c <= COUNTER_XMIT_WAIT; c++)
		count(&end[e], c, fm_rng_below(&h->rng, 1u << 31));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		count(&end[e], others[i], fm_rng_below(&h->rng, 50));
	if (now < h->noise[e])
		return;
	count(
	    &end[e], fm_rng_below(&h->rng, 2) != 0 ? COUNTER_SYMBOL_ERRORS : COUNTER_RCV_ERRORS, 1);
	h->noise[e] = now + between(h, 20 * MIN, HOUR);
}

static void
burst(struct history *h, unsigned e)
{
	count(&end[e], COUNTER_SYMBOL_ERRORS, fm_rng_below(&h->rng, 300));
	count(&end[e], COUNTER_RCV_ERRORS, fm_rng_below(&h->rng, 50));
	count(&end[e], COUNTER_LINK_RECOVERIES, fm_rng_below(&h->rng, 3));
}

static void
begin_boot(struct history *h)
{
	h->booted = end[1].is.is_host ? 1 : fm_rng_below(&h->rng, 2);
	h->is_cold = !end[h->booted].is.is_host || fm_rng_below(&h->rng, 2) != 0;
	h->back = now + between(h, h->is_cold ? MIN : 4 * MIN, 7 * MIN);
	count(&end[!h->booted], COUNTER_LINK_DOWNED, 1 + fm_rng_below(&h->rng, 3));
	burst(h, !h->booted);
	end[h->booted].is_away = true;
	end[!h->booted].is_away = fm_rng_below(&h->rng, 2) != 0;
}

static void
end_boot(struct history *h)
{
	if (h->is_cold)
		memset(end[h->booted].shown, 0, sizeof(end[h->booted].shown));
	else
		count(&end[h->booted], COUNTER_LINK_DOWNED, 1);
	count(&end[!h->booted], COUNTER_LINK_DOWNED, fm_rng_below(&h->rng, 2));
	burst(h, 0);
	burst(h, 1);
	end[0].is_away = end[1].is_away = false;
	h->boot = now + between(h, 30 * MIN, 3 * HOUR);
}

/* What happens till the next sweep. */
static void
live(struct history *h)
{
	bool was_back = h->back != 0 && now < h->back + MIN;

	for (unsigned e = 0; e < 2; e++)
		make_noise(h, e);
	if (h->boots && h->back != 0 && end[h->booted].is_away && now >= h->back)
		end_boot(h);
	else if (h->boots && now >= h->boot && !end[0].is_away && !end[1].is_away)
		begin_boot(h);
	else if (h->boots && was_back && !end[h->booted].is_away)
		burst(h, fm_rng_below(&h->rng, 2));
	for (; truth_of(h) > HEALTH_OK && now >= h->next && h->next < h->until; h->next += h->every)
		count(&end[h->sick], h->counter, 1);
	if (h->clears && fm_rng_below(&h->rng, 200) == 0)
		for (enum counter c = 0; c < COUNTER_XMIT_DATA; c++)
			end[fm_rng_below(&h->rng, 2)].shown[c] = 0;
	if (!h->boots && fm_rng_below(&h->rng, 2000) == 0)
		for (unsigned c = 0; c < N_COUNTERS; c++) /* asked elsewhere: all of 64 bits */
			end[0].bits[c] = 64;
}

static void
live_till(struct history *h, int64_t then, enum health least, enum health most, uint64_t seed)
{
	while (now < then) {
		live(h);
		pass_sweep(h->interval_ms);
		ck_assert_msg(health() <= most && health() >= least,
		    "history %ju, fate %d: %s at minute %jd of what began at %jd, boots %d, clears "
		    "%d",
		    (uintmax_t)seed, h->fate, health_word(health()),
		    (intmax_t)((now - START) / MIN), (intmax_t)((h->begin - START) / MIN), h->boots,
		    h->clears);
	}
}

static void
play(uint64_t seed)
{
	struct history h;
	enum health truth;
	int64_t after;

	begin_history(&h, seed);
	truth = truth_of(&h);
	live_till(&h, h.begin, HEALTH_OK, HEALTH_OK, seed);
	live_till(&h, h.until + 10 * MIN, HEALTH_OK, truth, seed);
	after = h.until + (h.fate == ONE_FALL ? -70 * MIN : 0);
	if (after + HOUR + 35 * MIN > now)
		live_till(&h, after + HOUR + 35 * MIN, truth, truth, seed);
	if (h.fate == MANY_ERRORS)
		ck_assert_msg(verdict().suspect == (h.sick == 0 ? SUSPECT_SECOND : SUSPECT_FIRST),
		    "history %ju: the other end", (uintmax_t)seed);
	live_till(&h, h.until + 3 * HOUR + 20 * MIN, HEALTH_OK, truth, seed);
	live_till(&h, now + MIN, HEALTH_OK, truth > HEALTH_OK ? truth - 1 : HEALTH_OK, seed);
	live_till(&h, h.until + 5 * HOUR + 40 * MIN, HEALTH_OK,
	    truth > HEALTH_OK ? truth - 1 : HEALTH_OK, seed);
	live_till(&h, now + 10 * MIN, HEALTH_OK, HEALTH_OK, seed);
}

START_TEST(histories)
{
	for (uint64_t seed = 0; seed < n_cases(1000); seed++)
		play(seed);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("health");
	TCase *t = tcase_create("health");

	tcase_set_timeout(t, 120);
	tcase_add_test(t, thresholds);
	tcase_add_test(t, what_is_no_cables);
	tcase_add_test(t, quiet);
	tcase_add_test(t, stuck);
	tcase_add_test(t, reboots);
	tcase_add_test(t, falls_without_end);
	tcase_add_test(t, silent_ends);
	tcase_add_test(t, telling);
	tcase_add_test(t, believed);
	tcase_add_test(t, histories);
	suite_add_tcase(s, t);
	return run_suite(s);
}
