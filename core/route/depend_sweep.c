/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dependencies in one VL, the LIDs behind one switch at a time: who has traffic for
 * any of them sends it to all ports that any of them has, and so on.  That is sooner
 * too much than too little, which is all that depend.h asks for as long as it closes
 * no cycle; if it does, each LID is followed by itself (depend.c).
 *
 * Time: one look-up per entry, one word per (switch, port in use, switch of LIDs):
 * a third of what following takes.  Memory: a word per channel and worker.
 */
#include <stdlib.h>
#include <string.h>

#include "core/route/depend.h"
#include "lib/bitset.h"

#define MASK_PORTS 64u /* a set of ports is one word */

struct sweep {
	struct depend *g;
	const struct fm_fabric *ends;
	const struct fm_tables *t;
	const uint64_t *lost; /* [n_channels] bits, or NULL */
	uint64_t *cables;     /* [n_switches] ports with a cable */
	uint64_t *stop;	      /* [n_switches] those whose cable is lost */
	uint8_t *sends;	      /* [n_switches] some end there sends */
	/* of each worker */
	uint64_t *next;	   /* [n_workers][n_channels] ports by which packets go on */
	uint64_t *mask;	   /* [n_workers][n_switches] ports for the LIDs at hand */
	fm_sw *stack;	   /* [n_workers][n_switches] */
	uint32_t *carried; /* [n_workers][n_switches] switch of the LIDs, plus 1 */
};

static void
free_sweep(struct sweep *s)
{
	free(s->cables);
	free(s->stop);
	free(s->sends);
	free(s->next);
	free(s->mask);
	free(s->stack);
	free(s->carried);
}

static bool
alloc_sweep(struct sweep *s, size_t n_workers)
{
	const struct depend *g = s->g;
	size_t n = n_workers * g->n_switches + 1;

	s->cables = calloc(g->n_switches + 1, sizeof(*s->cables));
	s->stop = calloc(g->n_switches + 1, sizeof(*s->stop));
	s->sends = calloc(g->n_switches + 1, sizeof(*s->sends));
	s->next = calloc(n_workers * g->n_channels + 1, sizeof(*s->next));
	s->mask = malloc(n * sizeof(*s->mask));
	s->stack = malloc(n * sizeof(*s->stack));
	s->carried = calloc(n, sizeof(*s->carried));
	return s->cables != NULL && s->stop != NULL && s->sends != NULL && s->next != NULL &&
	    s->mask != NULL && s->stack != NULL && s->carried != NULL;
}

static void
look_at_channels(struct sweep *s)
{
	const struct depend *g = s->g;

	for (uint32_t c = 0; c < g->n_channels; c++) {
		uint64_t bit = (uint64_t)1 << (c - g->first[g->at[c]]);

		if (g->back[c] != FM_NONE)
			s->cables[g->at[c]] |= bit;
		if (s->lost != NULL && fm_bit_test(s->lost, c))
			s->stop[g->at[c]] |= bit;
	}
	for (fm_end e = 0; e < s->ends->n_ends; e++)
		if (s->ends->end_sw[e] != FM_NONE && s->ends->end_kind[e] != FM_END_SWITCH)
			s->sends[s->ends->end_sw[e]] = 1;
}

static void
find_masks(const struct sweep *s, fm_sw to, uint64_t *mask)
{
	const struct fm_fabric *ends = s->ends;
	uint32_t n = s->g->n_switches;

	memset(mask, 0, n * sizeof(*mask));
	for (fm_sw sw = 0; sw < n; sw++) {
		const uint8_t *row = s->t->lft[sw];

		for (fm_end e = ends->sw_first_end[to]; e < ends->sw_first_end[to + 1]; e++)
			for (uint32_t i = 0; ends->end_lid[e] != 0 && i < 1u << ends->end_lmc[e];
			     i++) {
				uint8_t port = row[ends->end_lid[e] + i];

				mask[sw] |= port < MASK_PORTS ? (uint64_t)1 << port : 0;
			}
		mask[sw] &= s->cables[sw];
	}
	mask[to] = 0;
}

/* To the LIDs behind switch `to`, from whoever sends. */
static void
sweep_switch(void *arg, uint32_t to, unsigned worker)
{
	const struct sweep *s = arg;
	const struct depend *g = s->g;
	size_t at = (size_t)worker * g->n_switches, n = 0;
	uint64_t *mask = s->mask + at, *next = s->next + (size_t)worker * g->n_channels;
	uint32_t *carried = s->carried + at;
	fm_sw *stack = s->stack + at;

	if (s->ends->sw_first_end[to] == s->ends->sw_first_end[to + 1])
		return;
	find_masks(s, to, mask);
	for (fm_sw sw = 0; sw < g->n_switches; sw++)
		if (s->sends[sw]) {
			carried[sw] = to + 1;
			stack[n++] = sw;
		}
	while (n > 0) {
		fm_sw sw = stack[--n];

		for (uint64_t left = mask[sw] & ~s->stop[sw]; left != 0; left &= left - 1) {
			uint32_t c = g->first[sw] + (uint32_t)__builtin_ctzll(left);
			fm_sw after = g->to[c];

			next[c] |= mask[after];
			if (carried[after] == to + 1)
				continue;
			carried[after] = to + 1;
			stack[n++] = after;
		}
	}
}

bool
depend_sweep_applies(const struct depend *g)
{
	for (fm_sw sw = 0; sw < g->n_switches; sw++)
		if (g->first[sw + 1] - g->first[sw] > MASK_PORTS)
			return false;
	return g->n_vls == 1 && g->words == 1;
}

bool
depend_sweep(struct depend *g, const struct fm_fabric *ends, const struct fm_tables *t,
    const uint64_t *lost, struct fm_pool *workers)
{
	struct sweep s = { .g = g, .ends = ends, .t = t, .lost = lost };
	unsigned n_workers = fm_pool_size(workers);
	bool ok = alloc_sweep(&s, n_workers);

	if (ok) {
		look_at_channels(&s);
		fm_pool_for(workers, g->n_switches, sweep_switch, &s);
	}
	for (unsigned i = 0; ok && i < n_workers; i++)
		for (uint32_t c = 0; c < g->n_channels; c++)
			g->next[c] |= s.next[(size_t)i * g->n_channels + c];
	free_sweep(&s);
	return ok;
}
