/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/mad/talkers.h"

#include <string.h>

#define MINUTE_MS 60000
#define FLOOD 60000 /* MADs in a minute */

void
talkers_fini(struct talkers *t)
{
	fm_vec_fini(&t->rows);
	fm_hash_fini(&t->of_lid);
}

static void
turn_over(struct talker_row *r, int64_t minute)
{
	bool next = minute == r->minute + 1;

	r->n[1] = next ? r->n[0] : 0;
	r->n_refused[1] = next ? r->n_refused[0] : 0;
	r->n[0] = r->n_refused[0] = 0;
	r->minute = minute;
}

/* NULL: no memory. */
static struct talker_row *
row_of(struct talkers *t, uint16_t lid, int64_t now_ms)
{
	uint32_t i = fm_hash_find(&t->of_lid, lid);
	struct talker_row fresh = { .lid = lid, .minute = now_ms / MINUTE_MS };

	if (i == FM_HASH_NONE) {
		i = (uint32_t)t->rows.n;
		if (!fm_vec_push(&t->rows, fresh))
			return NULL;
		if (!fm_hash_put(&t->of_lid, lid, i)) {
			t->rows.n--;
			return NULL;
		}
	}
	if (t->rows.item[i].minute != now_ms / MINUTE_MS)
		turn_over(&t->rows.item[i], now_ms / MINUTE_MS);
	return &t->rows.item[i];
}

void
talkers_note(struct talkers *t, uint16_t lid, int64_t now_ms)
{
	struct talker_row *r = row_of(t, lid, now_ms);

	if (r != NULL)
		r->n[0]++;
}

void
talkers_refuse(struct talkers *t, uint16_t lid, int64_t now_ms)
{
	struct talker_row *r = row_of(t, lid, now_ms);

	if (r != NULL)
		r->n_refused[0]++;
}

static uint32_t
last_minute(const uint32_t n[2], int64_t age, int64_t within_ms)
{
	uint64_t old = age == 0 ? n[1] : age == 1 ? n[0] : 0;

	return (uint32_t)(old * (uint64_t)(MINUTE_MS - within_ms) / MINUTE_MS) +
	    (age == 0 ? n[0] : 0);
}

static struct talker
talker_of(const struct talker_row *r, int64_t now_ms)
{
	int64_t age = now_ms / MINUTE_MS - r->minute, within_ms = now_ms % MINUTE_MS;

	return (struct talker){ .lid = r->lid,
		.n = last_minute(r->n, age, within_ms),
		.n_refused = last_minute(r->n_refused, age, within_ms) };
}

static bool
is_busier(const struct talker *a, const struct talker *b)
{
	if (a->n != b->n)
		return a->n > b->n;
	return a->n_refused != b->n_refused ? a->n_refused > b->n_refused : a->lid < b->lid;
}

static void
put_in_order(struct talkers_seen *seen, const struct talker *one)
{
	unsigned at = seen->n;

	while (at > 0 && is_busier(one, &seen->top[at - 1]))
		at--;
	if (at == TALKERS_SHOWN)
		return;
	seen->n += seen->n < TALKERS_SHOWN;
	memmove(&seen->top[at + 1], &seen->top[at], (seen->n - 1 - at) * sizeof(seen->top[0]));
	seen->top[at] = *one;
}

void
talkers_look(const struct talkers *t, int64_t now_ms, struct talkers_seen *out)
{
	*out = (struct talkers_seen){ 0 };
	for (size_t i = 0; i < t->rows.n; i++) {
		struct talker one = talker_of(&t->rows.item[i], now_ms);

		out->all.n += one.n;
		out->all.n_refused += one.n_refused;
		if (one.n > 0)
			put_in_order(out, &one);
	}
}

const struct talker *
talkers_flood(const struct talkers_seen *seen)
{
	for (unsigned i = 0; i < seen->n; i++)
		if (seen->top[i].n_refused > 0)
			return &seen->top[i];
	if (seen->n > 0 && seen->top[0].n >= FLOOD && seen->top[0].n > seen->all.n / 2)
		return &seen->top[0];
	return NULL;
}
