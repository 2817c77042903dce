/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Classes of one LID: those of switches without ends, most classes of a tree.
 * Every mask is one port, so every switch has one next and the hops to the
 * destination are found by going there, each switch once.  Sources go first:
 * all that is passed then carries packets, and its turns are noted.
 *
 * Masks of several ports, as adaptive routing has them: the same along the first port of
 * each, then every other port is asked whether it is as near, O(ports taken).
 *
 * Nothing is taken from the class before: on a tree the hops to two switches of
 * one pod differ at many others, which verify_class_hops.c would have to
 * correct link by link.  O(switches).
 */
#include "core/verify/verify_class.h"
#include "lib/wide.h"

#define EPOCH_HOPS (HOPS_LIMIT + 1) /* so many values of a class, 0 = being passed right now */

static inline fm_sw
next_of(const struct classes *k, const uint32_t *port_first, fm_sw u, uint64_t mask)
{
	return k->j->port_to[port_first[u] + 1 + (uint32_t)__builtin_ctzll(mask)];
}

/* From u to the first switch whose hops are known, and back.  False: a loop or
 * a dead end. */
static __attribute__((noinline)) bool
follow(const struct classes *k, struct class_walker *w, const uint64_t *mask, fm_sw u, bool carried)
{
	uint32_t n = 0, hop;

	for (; w->known[u] < w->epoch; u = next_of(k, k->j->port_first, u, mask[u])) {
		if (mask[u] == 0)
			return false;
		if (carried && (mask[u] & ~k->free[u]) != 0)
			verify_class_note(k, w, mask, u);
		w->known[u] = w->epoch;
		w->path[n++] = u;
	}
	hop = w->known[u] - w->epoch;
	if (hop == 0)
		return false;
	while (n > 0)
		w->known[w->path[--n]] = w->epoch + ++hop;
	return true;
}

/* The hops of u, 0 for none.  As a rule the next switch is known, or u does as
 * the switch before, whose ports lead to the same ones. */
static inline __attribute__((always_inline)) uint32_t
hops_of(const struct classes *k, struct class_walker *w, const uint64_t *mask, fm_sw u,
    uint32_t epoch, bool carried)
{
	uint32_t hop = w->known[u];

	if (hop > epoch)
		return hop - epoch;
	if (k->twin[u] && mask[u] == mask[u - 1] && (mask[u] & ~k->free[u]) == 0 &&
	    w->known[u - 1] > epoch) {
		w->known[u] = w->known[u - 1];
		return w->known[u] - epoch;
	}
	hop = w->known[next_of(k, k->j->port_first, u, mask[u])];
	if (hop <= epoch)
		return follow(k, w, mask, u, carried) ? w->known[u] - epoch : 0;
	if (carried && (mask[u] & ~k->free[u]) != 0)
		verify_class_note(k, w, mask, u);
	w->known[u] = hop + 1;
	return hop + 1 - epoch;
}

static void
next_epoch(const struct classes *k, struct class_walker *w)
{
	if (w->epoch < UINT32_MAX - 2 * EPOCH_HOPS) {
		w->epoch += EPOCH_HOPS;
		return;
	}
	memset(w->known, 0, k->j->fab->n_switches * sizeof(*w->known));
	w->epoch = EPOCH_HOPS;
}

/* Masks may name ports without a link. */
FM_WIDE static bool
names_links_only(const struct classes *k, const uint64_t *mask)
{
	eight_masks x = { 0 };

	for (size_t u = 0; u < k->mask_stride; u += 8)
		x |= *(const eight_masks *)(mask + u) & ~*(const eight_masks *)(k->links + u);
	return (x[0] | x[1] | x[2] | x[3] | x[4] | x[5] | x[6] | x[7]) == 0;
}

/* carried: note the turns of what sources pass. */
static inline __attribute__((always_inline)) bool
find_first_ways(const struct classes *k, struct class_walker *w, const uint64_t *mask, fm_sw to,
    bool carried, struct class_sums *sums)
{
	const struct judge *j = k->j;
	uint32_t n = j->fab->n_switches, n_known = 1, farthest = 0, epoch;
	uint64_t sources = 0, source_hops = 0;

	if (n >= HOPS_LIMIT || !names_links_only(k, mask))
		return false;
	next_epoch(k, w);
	epoch = w->epoch;
	w->known[to] = epoch + 1;
	for (uint32_t i = 0; i < j->n_source_sw; i++) {
		fm_sw u = j->source_sw[i];
		uint32_t hop;

		if (mask[u] == 0 && u != to)
			continue;
		if ((hop = hops_of(k, w, mask, u, epoch, carried)) == 0)
			return false;
		sources += j->n_sources[u];
		source_hops += (uint64_t)j->n_sources[u] * hop;
		farthest = hop > farthest ? hop : farthest;
	}
	for (fm_sw u = 0; u < n; u++) {
		if (mask[u] == 0)
			continue;
		if (hops_of(k, w, mask, u, epoch, false) == 0)
			return false;
		n_known++;
	}
	*sums = (struct class_sums){ n_known, farthest, sources, source_hops };
	return true;
}

bool
verify_class_single(const struct classes *k, struct class_walker *w, const uint64_t *mask, fm_sw to,
    struct class_sums *sums)
{
	return find_first_ways(k, w, mask, to, true, sums);
}

/* Is a switch one hop nearer behind every port?  Not asked twice of switches that do alike. */
static bool
all_ways_are_alike(const struct classes *k, const struct class_walker *w, const uint64_t *mask)
{
	for (fm_sw u = 0; u < k->j->fab->n_switches; u++) {
		const fm_sw *next = k->j->port_to + k->j->port_first[u] + 1;
		uint64_t left = mask[u];

		if ((left & (left - 1)) == 0 || (k->twin[u] && left == mask[u - 1]))
			continue;
		for (; left != 0; left &= left - 1)
			if (w->known[next[__builtin_ctzll(left)]] + 1 != w->known[u])
				return false;
	}
	return true;
}

bool
verify_class_several(const struct classes *k, struct class_walker *w, const uint64_t *mask,
    fm_sw to, struct class_sums *sums)
{
	return find_first_ways(k, w, mask, to, false, sums) && all_ways_are_alike(k, w, mask);
}
