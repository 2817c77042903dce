/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dependencies in one VL, the LIDs behind one switch at a time: who has traffic for
 * any of them sends it to all ports that any of them has, and so on.  That is sooner
 * too much than too little, which is all that depend.h asks for as long as it closes
 * no cycle; if it does, each LID is followed by itself (depend.c).
 *
 * BLOCK switches of LIDs are done at once, a bit for each: by which channels their LIDs
 * leave, where there is traffic for them, and where both go on.
 *
 * Rows of neighbouring switches are often equal: then so are the channels by which LIDs
 * leave.
 *
 * Time: one look-up per entry, or a comparison where rows are equal, and for each block a few
 * words per (channel, port in use behind it): a tenth of what following takes.  Memory: BLOCK
 * bits per channel and worker.
 */
#include <stdlib.h>
#include <string.h>

#include "core/cdg/depend.h"
#include "lib/bitset.h"

#define MASK_PORTS 64u /* a set of ports is one word */

#define WORDS 4u
#define BLOCK (WORDS * 64u)

typedef uint64_t block_set[WORDS];

/* LIDs that follow one another. */
struct lid_range {
	uint32_t first, n;
};

struct sweep {
	struct depend *g;
	const struct fm_fabric *ends;
	const struct fm_tables *t;
	const uint64_t *lost; /* [n_channels] bits, or NULL */
	uint64_t *cables;     /* [n_switches] ports with a cable */
	uint64_t *stop;	      /* [n_switches] those whose cable is lost */
	uint8_t *sends;	      /* [n_switches] some end there sends */
	/* of each worker */
	uint64_t *next;	  /* [n_workers][n_channels] ports by which packets go on */
	block_set *uses;  /* [n_workers][n_channels] switches of LIDs that leave by it */
	block_set *comes; /* [n_workers][n_switches] those for whose LIDs there is traffic */
	fm_sw *stack;	  /* [n_workers][n_switches] */
	uint8_t *waits;	  /* [n_workers][n_switches] it is on the stack */
	uint64_t *lids;	  /* [n_workers][lid_words] those of the block */
	size_t lid_words;
	struct lid_range *runs; /* [n_workers][n_lids] the same */
	uint32_t n_lids;
};

static void
free_sweep(struct sweep *s)
{
	free(s->cables);
	free(s->stop);
	free(s->sends);
	free(s->next);
	free(s->uses);
	free(s->comes);
	free(s->stack);
	free(s->waits);
	free(s->lids);
	free(s->runs);
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
	s->uses = malloc((n_workers * g->n_channels + 1) * sizeof(*s->uses));
	s->comes = malloc(n * sizeof(*s->comes));
	s->stack = malloc(n * sizeof(*s->stack));
	s->waits = calloc(n, sizeof(*s->waits));
	s->n_lids = s->ends->max_lid + 1u;
	s->lid_words = FM_BITSET_WORDS(s->n_lids);
	s->lids = malloc(n_workers * s->lid_words * sizeof(*s->lids));
	s->runs = malloc(n_workers * s->n_lids * sizeof(*s->runs));
	return s->cables != NULL && s->stop != NULL && s->sends != NULL && s->next != NULL &&
	    s->uses != NULL && s->comes != NULL && s->stack != NULL && s->waits != NULL &&
	    s->lids != NULL && s->runs != NULL;
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

/* The channels by which the LIDs behind switches from..to - 1 leave sw. */
static void
note_row(const struct sweep *s, fm_sw sw, fm_sw from, fm_sw to, block_set *uses)
{
	const struct fm_fabric *ends = s->ends;
	const uint8_t *row = s->t->lft[sw];

	for (fm_end e = ends->sw_first_end[from]; e < ends->sw_first_end[to]; e++) {
		uint32_t at = ends->end_sw[e] - from, n = 1u << ends->end_lmc[e];

		if (ends->end_lid[e] == 0 || ends->end_sw[e] == sw)
			continue;
		for (uint32_t i = 0; i < n; i++) {
			uint8_t port = row[ends->end_lid[e] + i];

			if (port < MASK_PORTS && s->cables[sw] >> port & 1)
				fm_bit_set(uses[port], at);
		}
	}
}

/* The LIDs behind switches from..to - 1 as they lie in a row; how many runs there are. */
static uint32_t
list_runs(const struct sweep *s, fm_sw from, fm_sw to, uint64_t *lids, struct lid_range *runs)
{
	const struct fm_fabric *ends = s->ends;
	uint32_t n = 0;

	memset(lids, 0, s->lid_words * sizeof(*lids));
	for (fm_end e = ends->sw_first_end[from]; e < ends->sw_first_end[to]; e++)
		for (uint32_t i = 0; ends->end_lid[e] != 0 && i < 1u << ends->end_lmc[e]; i++)
			fm_bit_set(lids, ends->end_lid[e] + i);
	FM_EACH_BIT (lid, lids, s->n_lids) {
		if (n > 0 && runs[n - 1].first + runs[n - 1].n == lid)
			runs[n - 1].n++;
		else
			runs[n++] = (struct lid_range){ (uint32_t)lid, 1 };
	}
	return n;
}

/* Do the LIDs of the block, behind switches from..to - 1, leave sw by the same channels as the
 * switch before?  Nobody sends to his own. */
static bool
is_as_before(const struct sweep *s, fm_sw sw, fm_sw from, fm_sw to, const struct lid_range *runs,
    uint32_t n_runs)
{
	const struct depend *g = s->g;
	const uint8_t *row = s->t->lft[sw], *before;

	if (sw == 0 || (sw >= from && sw <= to) || s->cables[sw] != s->cables[sw - 1] ||
	    g->first[sw + 1] - g->first[sw] != g->first[sw] - g->first[sw - 1])
		return false;
	before = s->t->lft[sw - 1];
	for (uint32_t i = 0; i < n_runs; i++)
		if (memcmp(row + runs[i].first, before + runs[i].first, runs[i].n) != 0)
			return false;
	return true;
}

/* Both sets have one in common. */
static bool
meet(const block_set a, const block_set b)
{
	uint64_t any = 0;

	for (unsigned i = 0; i < WORDS; i++)
		any |= a[i] & b[i];
	return any != 0;
}

/* What comes to a switch and leaves by a channel comes to the switch there.  Is any of it news? */
static bool
pass_on(const block_set comes, const block_set uses, block_set there)
{
	uint64_t news = 0;

	for (unsigned i = 0; i < WORDS; i++) {
		uint64_t passes = comes[i] & uses[i];

		news |= passes & ~there[i];
		there[i] |= passes;
	}
	return news != 0;
}

/* Where there is traffic, from all that send on. */
static void
spread_traffic(
    const struct sweep *s, const block_set *uses, block_set *comes, fm_sw *stack, uint8_t *waits)
{
	const struct depend *g = s->g;
	size_t n = 0;

	for (fm_sw sw = 0; sw < g->n_switches; sw++) {
		memset(comes[sw], s->sends[sw] ? 0xff : 0, sizeof(comes[sw]));
		if (s->sends[sw])
			stack[n++] = sw;
		waits[sw] = s->sends[sw];
	}
	while (n > 0) {
		fm_sw sw = stack[--n];

		waits[sw] = 0;
		for (uint64_t left = s->cables[sw] & ~s->stop[sw]; left != 0; left &= left - 1) {
			uint32_t c = g->first[sw] + (uint32_t)__builtin_ctzll(left);
			fm_sw after = g->to[c];

			if (!pass_on(comes[sw], uses[c], comes[after]) || waits[after])
				continue;
			waits[after] = 1;
			stack[n++] = after;
		}
	}
}

/* Where what leaves sw by a channel goes on. */
static void
follow_channel(
    const struct sweep *s, uint32_t c, const block_set comes, const block_set *uses, uint64_t *next)
{
	const struct depend *g = s->g;
	fm_sw after = g->to[c];
	block_set passes;
	uint64_t any = 0;

	for (unsigned i = 0; i < WORDS; i++)
		any |= passes[i] = comes[i] & uses[c][i];
	if (any == 0)
		return;
	for (uint64_t left = s->cables[after] & ~next[c]; left != 0; left &= left - 1) {
		uint32_t port = (uint32_t)__builtin_ctzll(left);

		if (meet(passes, uses[g->first[after] + port]))
			next[c] |= (uint64_t)1 << port;
	}
}

/* To the LIDs behind BLOCK switches, from whoever sends. */
static void
sweep_block(void *arg, uint32_t block, unsigned worker)
{
	const struct sweep *s = arg;
	const struct depend *g = s->g;
	size_t at = (size_t)worker * g->n_switches, at_channel = (size_t)worker * g->n_channels;
	block_set *uses = s->uses + at_channel, *comes = s->comes + at;
	uint64_t *next = s->next + at_channel;
	struct lid_range *runs = s->runs + (size_t)worker * s->n_lids;
	uint32_t n_runs;
	fm_sw from = block * BLOCK,
	      to = from + BLOCK < g->n_switches ? from + BLOCK : g->n_switches;

	if (s->ends->sw_first_end[from] == s->ends->sw_first_end[to])
		return;
	n_runs = list_runs(s, from, to, s->lids + worker * s->lid_words, runs);
	memset(uses, 0, g->n_channels * sizeof(*uses));
	for (fm_sw sw = 0; sw < g->n_switches; sw++) {
		uint32_t first = g->first[sw], n = g->first[sw + 1] - first;

		if (is_as_before(s, sw, from, to, runs, n_runs))
			memcpy(uses + first, uses + first - n, n * sizeof(*uses));
		else
			note_row(s, sw, from, to, uses + first);
	}
	spread_traffic(s, uses, comes, s->stack + at, s->waits + at);
	for (fm_sw sw = 0; sw < g->n_switches; sw++)
		for (uint64_t left = s->cables[sw] & ~s->stop[sw]; left != 0; left &= left - 1)
			follow_channel(s, g->first[sw] + (uint32_t)__builtin_ctzll(left), comes[sw],
			    (const block_set *)uses, next);
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
		fm_pool_for(workers, (g->n_switches + BLOCK - 1) / BLOCK, sweep_block, &s);
	}
	for (unsigned i = 0; ok && i < n_workers; i++)
		for (uint32_t c = 0; c < g->n_channels; c++)
			g->next[c] |= s.next[(size_t)i * g->n_channels + c];
	free_sweep(&s);
	return ok;
}
