/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf/reader/meaning.h"

/* It is compared with the value before: that was read, and by the same attribute. */
static bool
is_known(const struct meaning *m, const struct pma_reading *r, enum counter c)
{
	return (r->has >> c & 1) != 0 && m->bits[c] == r->bits[c];
}

/* The counters that stand below what they were. */
static uint32_t
find_fallen(const struct meaning *m, const struct pma_reading *r)
{
	uint32_t fallen = 0;

	for (enum counter c = 0; c < N_COUNTERS; c++)
		if (is_known(m, r, c) && r->value[c] < m->last[c])
			fallen |= 1u << c;
	return fallen;
}

/* What it has counted if it went round. */
static uint64_t
round_trip(const struct meaning *m, const struct pma_reading *r, enum counter c)
{
	return (UINT64_C(1) << 32) - m->last[c] + r->value[c];
}

/* May it have gone round?  It is of 32 bits, of data, and has come less than half of the way: one
 * that was small and is smaller was cleared; and so was one that had stuck. */
static bool
may_wrap(const struct meaning *m, const struct pma_reading *r, enum counter c)
{
	return r->bits[c] == 32 && m->last[c] != UINT32_MAX && c >= COUNTER_XMIT_DATA &&
	    c <= COUNTER_XMIT_WAIT && round_trip(m, r, c) < UINT64_C(1) << 31;
}

/* Was what fell cleared?  One that fell and cannot have gone round says so for all; and so does a
 * fall of all that could fall, more than one. */
static bool
is_reset(const struct meaning *m, const struct pma_reading *r, uint32_t fallen)
{
	unsigned n_fallen = 0, n_stand = 0;

	for (enum counter c = 0; c < N_COUNTERS; c++) {
		if ((fallen >> c & 1) != 0 && !may_wrap(m, r, c))
			return true;
		n_fallen += fallen >> c & 1;
		n_stand += is_known(m, r, c) && m->last[c] > 0 && (fallen >> c & 1) == 0;
	}
	return n_fallen > 1 && n_stand == 0;
}

static uint64_t
added(const struct meaning *m, const struct pma_reading *r, enum counter c, bool was_reset)
{
	uint64_t is = r->value[c], was = m->last[c];

	if (is >= was)
		return is - was;
	return was_reset ? is : round_trip(m, r, c);
}

/* Of a counter that was cleared and has grown beyond what it was, the difference is taken: nobody
 * says which counters were cleared, and it is never more than what came. */
void
meaning_take(struct meaning *m, const struct pma_reading *r, struct meaning_news *news)
{
	uint32_t fallen = find_fallen(m, r);

	*news = (struct meaning_news){ .at_end = r->at_end,
		.was_reset = fallen != 0 && is_reset(m, r, fallen) };
	for (enum counter c = 0; c < N_COUNTERS; c++) {
		if ((r->has >> c & 1) == 0)
			continue;
		if (is_known(m, r, c))
			news->added[c] = added(m, r, c, news->was_reset);
		m->last[c] = r->value[c];
		m->bits[c] = r->bits[c];
	}
}
