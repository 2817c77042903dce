/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A first part walks both sides abreast, a second one goes through what the
 * first has left out; minimal and pairwise have only the first, src-dst-all
 * only the second.  A pair takes O(1), but for those left out.
 */
#include "core/view/path_pairs.h"

void
sa_pairs_start(struct sa_pairs *p, enum sa_path_select select, unsigned lmc_s, int fixed_s,
    unsigned lmc_d, int fixed_d)
{
	*p = (struct sa_pairs){ .select = select,
		.n = { 1u << lmc_s, 1u << lmc_d },
		.fixed = { fixed_s, fixed_d },
		.in_second = select == SA_SRC_DST_ALL };
}

/* The side that is free where the other is fixed. */
static unsigned
free_side(const struct sa_pairs *p)
{
	return p->fixed[0] >= 0 ? 1 : 0;
}

static bool
one_is_fixed(const struct sa_pairs *p)
{
	return (p->fixed[0] >= 0) != (p->fixed[1] >= 0);
}

/* The i-th of the first part; false behind the last. */
static bool
abreast(const struct sa_pairs *p, unsigned i, unsigned *at)
{
	unsigned least = p->n[0] < p->n[1] ? p->n[0] : p->n[1];
	unsigned most = p->n[0] < p->n[1] ? p->n[1] : p->n[0];

	if (one_is_fixed(p)) {
		unsigned side = free_side(p), fixed = (unsigned)p->fixed[1 - side];

		at[1 - side] = fixed;
		at[side] = (fixed & (p->n[side] - 1)) + i * p->n[1 - side];
		return at[side] < p->n[side] && (i == 0 || p->select != SA_MINIMAL);
	}
	if (p->fixed[0] >= 0) {
		at[0] = (unsigned)p->fixed[0];
		at[1] = (unsigned)p->fixed[1];
		return i == 0;
	}
	at[0] = i % p->n[0];
	at[1] = i % p->n[1];
	return i < (p->select == SA_MINIMAL ? least : most);
}

/* Has the first part had this pair? */
static bool
was_abreast(const struct sa_pairs *p, const unsigned *at)
{
	unsigned least = p->n[0] < p->n[1] ? p->n[0] : p->n[1];

	if (one_is_fixed(p)) {
		unsigned side = free_side(p), step = p->n[1 - side];

		return at[side] % step == (at[1 - side] & (p->n[side] - 1)) % step;
	}
	if (p->fixed[0] >= 0)
		return true;
	return (at[0] & (least - 1)) == (at[1] & (least - 1));
}

static bool
is_left(const struct sa_pairs *p, const unsigned *at)
{
	for (unsigned side = 0; side < 2; side++)
		if (p->fixed[side] >= 0 && at[side] != (unsigned)p->fixed[side])
			return false;
	return p->select == SA_SRC_DST_ALL || !was_abreast(p, at);
}

bool
sa_pairs_next(struct sa_pairs *p, unsigned *s, unsigned *d)
{
	unsigned at[2];
	bool found = false;

	if (!p->in_second) {
		found = abreast(p, p->next++, at);
		p->in_second = !found;
	}
	if (!found && p->select != SA_ORDER_ALL && p->select != SA_SRC_DST_ALL)
		return false;
	while (!found && p->scan < p->n[0] * p->n[1]) {
		at[0] = p->scan / p->n[1];
		at[1] = p->scan % p->n[1];
		p->scan++;
		found = is_left(p, at);
	}
	if (found) {
		*s = at[0];
		*d = at[1];
	}
	return found;
}
