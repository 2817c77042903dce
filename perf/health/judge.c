/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf/health/judge.h"

#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "lib/vec.h"

#define PARTS 6 /* of the hour */
#define PART_MS (JUDGE_HOUR_MS / PARTS)
#define CLEAR_LEAD 10 /* an end that is accused so many times as much as the other is suspected */

typedef uint32_t counts[2][N_EVIDENCE]; /* by end and row */

struct record {
	struct health_end end[2];
	enum health health;
	enum suspect suspect;
	int64_t since_s;
	int64_t worse_ms;  /* the last evidence that it is as bad as it is */
	int64_t booted_ms; /* an end may have been booted then; INT64_MIN: none */
	int64_t grace_ms;  /* till then nothing is evidence */
	int64_t heard_ms[2];
	uint64_t heard_in[2]; /* sweep */
	counts fresh;	      /* of this sweep */
	counts pending;	      /* of those before */
	counts part[PARTS]; /* of the hour, by part; what is older goes when its part comes again */
	int64_t number;	    /* of the part that is counted in */
	uint32_t at_end[2]; /* bits of rows, as last read */
	uint32_t accusing[2]; /* ... that have accused it since it was ok */
	uint64_t told_sum;    /* of all counts of the hour, as told last */
	bool is_silent[2];    /* never read */
	bool has_fallen;      /* the link did, and both ends have not been read since */
	bool is_told;
};

struct judge {
	FM_VEC(struct record) records;
	struct fm_hash by_cable;
	uint64_t sweep;
	int64_t now_ms;
	uint32_t interval_ms;
};

const char *
health_word(enum health h)
{
	static const char *const words[] = { "ok", "watch", "bad" };

	return words[h];
}

struct judge *
judge_new(void)
{
	return calloc(1, sizeof(struct judge));
}

void
judge_free(struct judge *j)
{
	if (j == NULL)
		return;
	fm_vec_fini(&j->records);
	fm_hash_fini(&j->by_cable);
	free(j);
}

/* ------------------------------------------------------------------ records */

/* The first of two ends: 0 or 1. */
static unsigned
first_of(const struct health_end *a, const struct health_end *b)
{
	return a->guid != b->guid ? a->guid > b->guid : a->port > b->port;
}

static uint64_t
key_of(const struct health_end *first, const struct health_end *second)
{
	uint64_t key = fm_mix64(fm_mix64(first->guid) + first->port);

	return fm_mix64(fm_mix64(key ^ second->guid) + second->port);
}

static struct record *
find(const struct judge *j, const struct health_end *first, const struct health_end *second)
{
	uint32_t i = fm_hash_find(&j->by_cable, key_of(first, second));

	return i != FM_HASH_NONE ? &j->records.item[i] : NULL;
}

static struct record *
add(struct judge *j, const struct health_end *first, const struct health_end *second)
{
	struct record r = { .end = { *first, *second },
		.booted_ms = INT64_MIN,
		.grace_ms = INT64_MIN,
		.heard_ms = { j->now_ms, j->now_ms },
		.number = j->now_ms / PART_MS,
		.is_told = true };

	if (!fm_vec_push(&j->records, r))
		return NULL;
	if (fm_hash_put(&j->by_cable, key_of(first, second), (uint32_t)j->records.n - 1))
		return &j->records.item[j->records.n - 1];
	j->records.n--;
	return NULL;
}

/* The last record takes its place. */
static void
drop(struct judge *j, size_t i)
{
	struct record *r = &j->records.item[i], *last = &j->records.item[j->records.n - 1];

	fm_hash_remove(&j->by_cable, key_of(&r->end[0], &r->end[1]));
	if (r != last) {
		*r = *last;
		fm_hash_put(&j->by_cable, key_of(&r->end[0], &r->end[1]), (uint32_t)i);
	}
	j->records.n--;
}

/* ----------------------------------------------------------------- readings */

/* What would be too much for an hour is taken for an hour's. */
static uint32_t
count_of(const struct health_reading *r, unsigned row)
{
	uint64_t n = r->added[evidence_rows[row].counter];

	if (r->span_ms > JUDGE_HOUR_MS)
		n = (uint64_t)((double)n * (double)JUDGE_HOUR_MS / (double)r->span_ms);
	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

static uint32_t
plus(uint32_t a, uint32_t b)
{
	return a < UINT32_MAX - b ? a + b : UINT32_MAX;
}

/* So long it was not read beyond one and a half intervals. */
static int64_t
missed_ms(const struct judge *j, const struct health_reading *r)
{
	return r->span_ms - j->interval_ms - j->interval_ms / 2;
}

/* The link of a host was away: neither of its ends is read meanwhile. */
static bool
was_away(const struct judge *j, const struct health_reading *r)
{
	return (r->at.is_host || r->far.is_host) && missed_ms(j, r) > JUDGE_AWAY_MS;
}

static bool
has_counted(const struct health_reading *r)
{
	for (unsigned row = 0; row < N_EVIDENCE; row++)
		if (evidence_rows[row].watch > 0 && r->added[evidence_rows[row].counter] > 0)
			return true;
	return false;
}

static uint32_t
ends_of(const struct health_reading *r)
{
	uint32_t bits = 0;

	for (unsigned row = 0; row < N_EVIDENCE; row++)
		bits |= (r->at_end >> evidence_rows[row].counter & 1) << row;
	return bits;
}

bool
judge_hear(struct judge *j, const struct health_reading *r)
{
	unsigned e = first_of(&r->at, &r->far);
	const struct health_end *first = e == 0 ? &r->at : &r->far,
				*second = e == 0 ? &r->far : &r->at;
	struct record *rec = find(j, first, second);
	bool boots = r->was_reset || was_away(j, r);

	if (rec == NULL && !boots && !has_counted(r))
		return true;
	if (rec == NULL && (rec = add(j, first, second)) == NULL)
		return false;
	for (unsigned row = 0; row < N_EVIDENCE; row++)
		rec->fresh[e][row] = plus(rec->fresh[e][row], count_of(r, row));
	rec->at_end[e] = ends_of(r);
	rec->heard_ms[e] = j->now_ms;
	rec->heard_in[e] = j->sweep;
	rec->is_silent[e] = false;
	rec->is_silent[!e] = r->far_is_silent;
	if (boots)
		rec->booted_ms = j->now_ms;
	if (r->was_reset && missed_ms(j, r) > 0) /* also where nobody has seen it fall */
		rec->has_fallen = true;
	return true;
}

void
judge_begin(struct judge *j, int64_t now_ms, uint32_t interval_ms)
{
	j->sweep++;
	j->now_ms = now_ms;
	j->interval_ms = interval_ms;
}

/* ------------------------------------------------------------------ evidence */

/* The parts that are older than an hour are emptied. */
static void
turn(struct record *r, int64_t now_ms)
{
	int64_t number = now_ms / PART_MS;

	for (int64_t i = 0; r->number < number && i < PARTS; i++)
		memset(r->part[++r->number % PARTS], 0, sizeof(r->part[0]));
	r->number = number;
}

static uint64_t
in_hour(const struct record *r, unsigned e, unsigned row)
{
	uint64_t n = 0;

	for (int i = 0; i < PARTS; i++)
		n += r->part[i][e][row];
	return n;
}

static uint64_t
sum_of(const struct record *r)
{
	uint64_t n = 0;

	for (unsigned e = 0; e < 2; e++)
		for (unsigned row = 0; row < N_EVIDENCE; row++)
			n += in_hour(r, e, row);
	return n;
}

static enum health
grade_of_row(const struct record *r, unsigned e, unsigned row)
{
	const struct evidence_row *is = &evidence_rows[row];
	uint64_t n = is->watch > 0 ? in_hour(r, e, row) : 0;

	if (n == 0 || n < is->watch)
		return HEALTH_OK;
	return n >= is->bad ? HEALTH_BAD : HEALTH_WATCH;
}

/* It has not been read for so long. */
static bool
is_unheard(const struct judge *j, const struct record *r, unsigned e, int64_t for_ms)
{
	return !r->is_silent[e] && j->now_ms - r->heard_ms[e] > for_ms;
}

/* In this sweep, or it never is. */
static bool
is_read(const struct judge *j, const struct record *r, unsigned e)
{
	return r->heard_in[e] == j->sweep || r->is_silent[e];
}

/* Has this end been read in this sweep, or is it not to be waited for?  One that has been silent
 * for an hour still is where the link has gone down: it may be booted yet. */
static bool
is_heard(const struct judge *j, const struct record *r, unsigned e)
{
	return is_read(j, r, e) || (!r->has_fallen && is_unheard(j, r, e, JUDGE_HOUR_MS));
}

static bool
has_fallen(const counts c)
{
	return c[0][EVIDENCE_DOWNED] > 0 || c[1][EVIDENCE_DOWNED] > 0;
}

/* Its counter of falls has stuck, so that they cannot be seen. */
static bool
may_fall_unseen(const struct record *r)
{
	return ((r->at_end[0] | r->at_end[1]) >> EVIDENCE_DOWNED & 1) != 0;
}

/* Does what was read in this sweep begin before that time? */
static bool
reaches(const struct judge *j, int64_t then_ms)
{
	return then_ms != INT64_MIN && j->now_ms - j->interval_ms <= then_ms;
}

static bool
was_booted(const struct judge *j, const struct record *r)
{
	return r->booted_ms != INT64_MIN && reaches(j, r->booted_ms + JUDGE_BOOT_MS) &&
	    (r->has_fallen || may_fall_unseen(r));
}

/* What is pending counts. */
static void
commit(struct record *r, int64_t now_ms)
{
	counts *part = &r->part[r->number % PARTS];
	bool is_new[2][N_EVIDENCE];
	enum health worst = HEALTH_OK;

	for (unsigned e = 0; e < 2; e++)
		for (unsigned row = 0; row < N_EVIDENCE; row++) {
			is_new[e][row] = r->pending[e][row] > 0;
			(*part)[e][row] = plus((*part)[e][row], r->pending[e][row]);
		}
	for (unsigned e = 0; e < 2; e++)
		for (unsigned row = 0; row < N_EVIDENCE; row++) {
			enum health grade = grade_of_row(r, e, row);

			if (is_new[e][row] && grade > worst)
				worst = grade;
			if (grade > HEALTH_OK)
				r->accusing[e] |= 1u << row;
		}
	if (worst > HEALTH_OK && worst >= r->health)
		r->worse_ms = now_ms;
	memset(r->pending, 0, sizeof(r->pending));
}

static void
join(counts to, const counts from)
{
	for (unsigned e = 0; e < 2; e++)
		for (unsigned row = 0; row < N_EVIDENCE; row++)
			to[e][row] = plus(to[e][row], from[e][row]);
}

/* From what was read in this sweep to what counts. */
static void
weigh(const struct judge *j, struct record *r)
{
	bool falls = has_fallen(r->fresh), whole;

	r->has_fallen = r->has_fallen || falls;
	whole = is_heard(j, r, 0) && is_heard(j, r, 1);
	if (was_booted(j, r)) {
		r->grace_ms = r->booted_ms + JUDGE_BOOT_MS;
		memset(r->pending, 0, sizeof(r->pending));
	} else if (!reaches(j, r->grace_ms)) {
		/* a fall takes with it what came just before; one after the other is no reboot */
		if (whole && (!falls || has_fallen(r->pending)))
			commit(r, j->now_ms);
		join(r->pending, r->fresh);
	}
	if (whole && !falls)
		r->has_fallen = false;
	memset(r->fresh, 0, sizeof(r->fresh));
}

/* ------------------------------------------------------------------- verdicts */

static enum health
grade_of(const struct record *r)
{
	enum health worst = HEALTH_OK;

	for (unsigned e = 0; e < 2; e++)
		for (unsigned row = 0; row < N_EVIDENCE; row++)
			if (grade_of_row(r, e, row) > worst)
				worst = grade_of_row(r, e, row);
	return worst;
}

/* The end whose port sends what the other receives badly, where the other does not; else the
 * cable. */
static enum suspect
suspect_of(const struct record *r)
{
	double accused[2] = { 0, 0 };

	for (unsigned e = 0; e < 2; e++)
		for (unsigned row = 0; row < N_EVIDENCE; row++)
			if (evidence_rows[row].accuses == ACCUSES_SENDER)
				accused[!e] +=
				    (double)in_hour(r, e, row) / evidence_rows[row].watch;
	if (accused[0] > CLEAR_LEAD * accused[1])
		return SUSPECT_FIRST;
	return accused[1] > CLEAR_LEAD * accused[0] ? SUSPECT_SECOND : SUSPECT_CABLE;
}

static void
become(struct record *r, enum health health, int64_t utc_s)
{
	r->health = health;
	r->since_s = utc_s;
	r->is_told = false;
}

static void
forget(struct record *r)
{
	memset(r->pending, 0, sizeof(r->pending));
	r->has_fallen = false;
}

static bool
is_stuck(const struct record *r)
{
	return (r->accusing[0] & r->at_end[0]) != 0 || (r->accusing[1] & r->at_end[1]) != 0;
}

static void
decide(const struct judge *j, struct record *r, int64_t utc_s)
{
	enum health grade = grade_of(r);
	bool both = is_read(j, r, 0) && is_read(j, r, 1);

	if (is_unheard(j, r, 0, JUDGE_FORGET_MS) && is_unheard(j, r, 1, JUDGE_FORGET_MS)) {
		forget(r);
		if (r->health > HEALTH_OK)
			become(r, HEALTH_OK, utc_s);
	} else if (grade > r->health) {
		become(r, grade, utc_s);
	} else if (grade < r->health && both && !is_stuck(r) &&
	    j->now_ms - r->worse_ms >= JUDGE_QUIET_MS) {
		become(r, r->health - 1, utc_s);
		r->worse_ms = j->now_ms;
	}
	if (r->health == HEALTH_OK)
		r->accusing[0] = r->accusing[1] = 0;
	else if (grade >= r->health) /* while it gets better it is who it was */
		r->suspect = suspect_of(r);
}

/* There is nothing to remember. */
static bool
is_blank(const struct judge *j, const struct record *r)
{
	static const counts none;

	if (r->health != HEALTH_OK || !r->is_told || memcmp(r->pending, none, sizeof(none)) != 0 ||
	    r->has_fallen || reaches(j, r->grace_ms) ||
	    (r->booted_ms != INT64_MIN && reaches(j, r->booted_ms + JUDGE_BOOT_MS)))
		return false;
	for (int i = 0; i < PARTS; i++)
		if (memcmp(r->part[i], none, sizeof(none)) != 0)
			return false;
	return true;
}

void
judge_end(struct judge *j, int64_t now_ms, int64_t utc_s)
{
	j->now_ms = now_ms;
	for (size_t i = j->records.n; i-- > 0;) {
		struct record *r = &j->records.item[i];

		turn(r, now_ms);
		weigh(j, r);
		decide(j, r, utc_s);
		if (r->health > HEALTH_OK && sum_of(r) != r->told_sum)
			r->is_told = false;
		if (is_blank(j, r))
			drop(j, i);
	}
}

bool
judge_believe(struct judge *j, const struct health_end end[2], enum health health, int64_t since_s,
    int64_t now_ms)
{
	unsigned first = first_of(&end[0], &end[1]);
	struct record *r;

	if (find(j, &end[first], &end[!first]) != NULL)
		return true;
	j->now_ms = now_ms;
	r = add(j, &end[first], &end[!first]);
	if (r == NULL)
		return false;
	r->health = health;
	r->since_s = since_s;
	r->worse_ms = now_ms;
	return true;
}

/* ------------------------------------------------------------------ what is told */

uint32_t
judge_count(const struct judge *j, enum health health)
{
	uint32_t n = 0;

	for (size_t i = 0; i < j->records.n; i++)
		n += j->records.item[i].health == health;
	return n;
}

static void
say(const struct record *r, struct health_verdict *v)
{
	*v = (struct health_verdict){ .end = { r->end[0], r->end[1] },
		.health = r->health,
		.suspect = r->suspect,
		.since_s = r->since_s };
	for (unsigned e = 0; e < 2; e++) {
		v->at_end[e] = r->at_end[e] & r->accusing[e];
		for (unsigned row = 0; row < N_EVIDENCE; row++)
			v->per_hour[e][row] = in_hour(r, e, row);
	}
}

uint32_t
judge_news(const struct judge *j, struct health_verdict *v, uint32_t *mark, uint32_t most)
{
	static const enum health order[] = { HEALTH_BAD, HEALTH_WATCH, HEALTH_OK };
	uint32_t n = 0;

	for (unsigned k = 0; k < 3; k++)
		for (size_t i = 0; n < most && i < j->records.n; i++)
			if (!j->records.item[i].is_told && j->records.item[i].health == order[k]) {
				mark[n] = (uint32_t)i;
				say(&j->records.item[i], &v[n++]);
			}
	return n;
}

void
judge_told(struct judge *j, const uint32_t *mark, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct record *r = &j->records.item[mark[i]];

		r->is_told = true;
		r->told_sum = sum_of(r);
	}
}

void
judge_tell_all(struct judge *j)
{
	for (size_t i = 0; i < j->records.n; i++)
		j->records.item[i].is_told = j->records.item[i].health == HEALTH_OK;
}
