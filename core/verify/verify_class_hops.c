/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hops of a class: hop(to) = 1, and every switch u with a mask has
 *
 *	hop(u) = hop(v) + 1 for every v behind the ports of its mask.	(*)
 *
 * If such numbers exist they are the only ones, every path of every LID of
 * the class gets one hop nearer with each switch and ends at `to`: no loop,
 * no dead end, no other host.
 *
 * The idea is to guess that they are those of the class before, which is
 * right but for a few switches when that one is a neighbour.  fits[u] are the
 * ports behind which a switch is one hop nearer than u, so that (*) is
 * mask & ~fits == 0, one operation a switch.  From `to` the news spread
 * backwards as far as they are any.  Switches where (*) still fails get their
 * hops anew by following the lowest port of their masks, and only those.  Some
 * rounds of this are followed, if need be, by one in which every switch counts
 * as wrong.
 *
 * The outcome does not depend on the guess.  A round that changes nothing
 * proves that (*) has no solution: of the switches whose hops differ from the
 * solution the nearest has right neighbours, is found and put right.
 *
 * Time: O(switches) per class and O(degree) per switch whose hops change.
 */
#include "core/verify/verify_class.h"
#include "lib/wide.h"

#define ROUNDS 8

enum mark {
	RIGHT, /* or not known to be wrong */
	WRONG,
	FOLLOWED /* its next switch is looked at first */
};

static void
count_hops(const struct judge *j, struct class_walker *w, fm_sw u, uint16_t hop, int sign)
{
	uint64_t n = j->n_sources[u];

	if (hop == NO_HOPS)
		return;
	w->n_known += (uint32_t)sign;
	if (n == 0)
		return;
	w->sources += (uint64_t)sign * n;
	w->source_hops += (uint64_t)sign * n * hop;
	w->at_hop[hop] += (uint32_t)sign;
	w->farthest = hop > w->farthest ? hop : w->farthest;
}

static void
set_hop(const struct classes *k, struct class_walker *w, fm_sw u, uint16_t hop)
{
	const struct fm_fabric *fab = k->j->fab;
	uint64_t fits = 0;

	count_hops(k->j, w, u, w->hop[u], -1);
	count_hops(k->j, w, u, hop, 1);
	w->hop[u] = hop;
	for (fm_link l = fab->sw_first_link[u]; l < fab->sw_first_link[u + 1]; l++) {
		const struct class_edge *e = &k->edge[l];
		uint32_t there = w->hop[e->to];
		uint64_t back = (uint64_t)1 << (e->back - 1);

		/* NO_HOPS + 1 is nobody's hops, nor does anybody have NO_HOPS - 1 */
		if (there + 1u == hop)
			fits |= (uint64_t)1 << (e->port - 1);
		if (hop + 1u == there)
			w->fits[e->to] |= back;
		else
			w->fits[e->to] &= ~back;
	}
	w->fits[u] = fits;
}

/* What `from` now has is news to the switches that lead to it, and so on.  Near
 * ones hear of it first, so that most are right at once.  At most n_switches
 * are told: where hops differ by path this would have no end. */
static void
spread(const struct classes *k, struct class_walker *w, const uint64_t *mask, fm_sw from)
{
	const struct fm_fabric *fab = k->j->fab;
	uint32_t n = 0;

	w->path[n++] = from;
	for (uint32_t i = 0; i < n; i++) {
		fm_sw u = w->path[i];
		uint32_t hop = w->hop[u] + 1u;

		for (fm_link l = fab->sw_first_link[u];
		     l < fab->sw_first_link[u + 1] && n < fab->n_switches && hop < HOPS_LIMIT;
		     l++) {
			const struct class_edge *e = &k->edge[l];

			if (w->hop[e->to] == hop || !(mask[e->to] >> (e->back - 1) & 1))
				continue;
			set_hop(k, w, e->to, (uint16_t)hop);
			w->path[n++] = e->to;
		}
	}
}

/* Does (*) hold everywhere, with hops just where there are masks? */
FM_WIDE static bool
is_right(const struct classes *k, const struct class_walker *w, const uint64_t *mask)
{
	eight_masks wrong = { 0 }, n = { 0 };
	uint64_t any_wrong = 0, n_masks = 1;

	for (size_t u = 0; u < k->mask_stride; u += 8) {
		eight_masks m = *(const eight_masks *)(mask + u);

		wrong |= m & ~*(const eight_masks *)(w->fits + u);
		n -= (eight_masks)(m != 0);
	}
	for (unsigned i = 0; i < 8; i++) {
		any_wrong |= wrong[i];
		n_masks += n[i];
	}
	return any_wrong == 0 && n_masks == w->n_known;
}

/* Behind the lowest port of a mask, which may name ports that u does not have. */
static inline fm_sw
first_next(const struct classes *k, fm_sw u, uint64_t mask)
{
	uint32_t port = 1 + (uint32_t)__builtin_ctzll(mask);

	return next_switch(k->j, u, (uint8_t)port);
}

/* New hops for u and the wrong switches that it leads to.  False: it leads to
 * itself, or to no switch. */
static bool
put_right(
    const struct classes *k, struct class_walker *w, const uint64_t *mask, fm_sw u, bool *changed)
{
	uint32_t n = 0, hop;
	fm_sw v;

	for (;; u = v) {
		v = first_next(k, u, mask[u]);
		if (v == FM_NONE)
			return false;
		w->mark[u] = FOLLOWED;
		w->path[n++] = u;
		if (w->mark[v] != WRONG)
			break;
	}
	if (w->mark[v] == FOLLOWED)
		return false;
	for (hop = w->hop[v]; n > 0; n--) {
		u = w->path[n - 1];
		hop = hop < HOPS_LIMIT ? hop + 1 : NO_HOPS;
		w->mark[u] = RIGHT;
		if (w->hop[u] == hop)
			continue;
		set_hop(k, w, u, (uint16_t)hop);
		*changed = true;
	}
	return true;
}

/* One round: the switches that are wrong, or all of them. */
static bool
round_of_repair(const struct classes *k, struct class_walker *w, const uint64_t *mask, fm_sw to,
    bool all, bool *changed)
{
	uint32_t n = 0;
	bool ok = true;

	for (fm_sw u = 0; u < k->j->fab->n_switches; u++) {
		if (mask[u] == 0) {
			if (w->hop[u] == NO_HOPS || u == to)
				continue;
			set_hop(k, w, u, NO_HOPS);
			*changed = true;
		} else if (all || (mask[u] & ~w->fits[u]) != 0) {
			w->mark[u] = WRONG;
			w->bad[n++] = u;
		}
	}
	for (uint32_t i = 0; ok && i < n; i++)
		if (w->mark[w->bad[i]] == WRONG)
			ok = put_right(k, w, mask, w->bad[i], changed);
	for (uint32_t i = 0; i < n; i++)
		w->mark[w->bad[i]] = RIGHT;
	return ok;
}

static bool
find_hops(const struct classes *k, struct class_walker *w, const uint64_t *mask, fm_sw to)
{
	bool changed;

	set_hop(k, w, to, 1);
	spread(k, w, mask, to);
	/* the destination of the class before is a switch like others now */
	if (w->last_to != FM_NONE && mask[w->last_to] != 0 &&
	    put_right(k, w, mask, w->last_to, &changed))
		spread(k, w, mask, w->last_to);
	w->last_to = to;
	for (int i = 0; i < ROUNDS; i++) {
		if (is_right(k, w, mask))
			return true;
		changed = false;
		if (!round_of_repair(k, w, mask, to, false, &changed) || !changed)
			return false;
	}
	return round_of_repair(k, w, mask, to, true, &changed) && is_right(k, w, mask);
}

bool
verify_class_hops(const struct classes *k, struct class_walker *w, const uint64_t *mask, fm_sw to,
    struct class_sums *sums)
{
	if (!find_hops(k, w, mask, to))
		return false;
	while (w->farthest > 0 && w->at_hop[w->farthest] == 0)
		w->farthest--;
	*sums = (struct class_sums){ .n_known = w->n_known,
		.farthest = w->farthest,
		.sources = w->sources,
		.source_hops = w->source_hops };
	return true;
}
