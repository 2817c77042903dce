/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Following every destination from all leaves: what each link carries, and
 * from whom.
 *
 * All hosts of a switch go the same way, and the routes to one destination
 * are a tree.  The leaves are taken in host order with the route of the last
 * one kept open, as a stack with the destination's end at the bottom.  The
 * next leaf is followed only until its route meets the stack; what stands
 * above is off the route now, and its sources were a range of hosts, from the
 * leaf with which it was opened to the last one.  So a pod of a fat tree costs
 * a step per leaf, and a few ranges; in general O(leaves x hosts) and what is
 * opened anew, never hosts squared.
 *
 * Destinations are taken in blocks of neighbouring LIDs, which share cache
 * lines in every row.  The first hops of all leaves are looked up ahead, leaf
 * by leaf, and turned into rows by destination, which are then read in order.
 */
#include <stdlib.h>
#include <string.h>

#include "core/gauge/gauge.h"
#include "lib/bitset.h"

struct target {
	uint32_t dest, bit; /* host, and where it stands in by_lid */
	uint16_t lid;
	const struct hop *first; /* [n_leaves] */
};

static bool
in_chunk(const struct walk *s, fm_sw sw)
{
	return sw >= s->first_sw && sw < s->end_sw;
}

static void
mark(const struct walk *s, fm_sw sw, const struct target *t)
{
	if (in_chunk(s, sw))
		fm_bit_set(s->marks + (sw - s->first_sw) * s->words, t->bit);
}

/* A range that is not just the switch's own hosts. */
static void
keep_range(const struct walk *s, struct walker *w, const struct target *t, const struct open *o,
    uint32_t to)
{
	uint32_t own = s->g->sw_from[o->sw], n_own = s->g->sw_hosts[o->sw];
	bool with_own = n_own > 0 && own >= o->from && own < to;

	w->load[o->link] += to - o->from - (with_own ? n_own : 0);
	w->n_ranges[o->sw]++;
	if (!in_chunk(s, o->sw))
		return;
	if (with_own)
		mark(s, o->sw, t);
	if (w->ranges.n >= s->worker_ranges)
		w->full = true;
	else if (!fm_vec_push(&w->ranges, ((struct range){ o->link, t->dest, o->from, to })))
		w->failed = true;
}

/* Sources from `to` on do not come by the switches above the first n. */
static void
close_above(const struct walk *s, struct walker *w, const struct target *t, uint32_t n, uint32_t to)
{
	const struct gauge *g = s->g;

	while (w->n_open > n) {
		const struct open *o = &w->open[--w->n_open];

		if (o->from != g->sw_from[o->sw] || to - o->from != g->sw_hosts[o->sw])
			keep_range(s, w, t, o, to);
	}
}

/* Collect the switches from a leaf to the stack or the destination into
 * fresh[0..*n_fresh-1].  Returns how much of the stack is still on the route;
 * FM_NONE: does not arrive. */
static uint32_t
meet(const struct gauge *g, struct walker *w, const struct target *t, uint32_t leaf,
    uint32_t *n_fresh)
{
	struct hop hop = t->first[leaf];
	fm_sw sw = g->leaf[leaf];
	uint32_t n = 0;

	for (;;) {
		const struct seen *seen = &w->seen[sw];

		*n_fresh = n;
		if (seen->place < w->n_open && w->open[seen->place].sw == sw)
			return seen->place + 1;
		if (seen->failed == t->dest + 1)
			return FM_NONE;
		if (n > 0)
			hop = gauge_hop(g, sw, t->lid);
		if (hop.link == FM_NONE)
			return gauge_arrives(g, sw, t->dest) ? 0 : FM_NONE;
		if (n == g->fab->n_switches)
			return FM_NONE; /* a loop */
		w->fresh[n].sw = sw;
		w->fresh[n++].link = hop.link;
		sw = hop.to;
	}
}

static void
fail(
    const struct walk *s, struct walker *w, const struct target *t, uint32_t leaf, uint32_t n_fresh)
{
	fm_sw sw = s->g->leaf[leaf];

	for (uint32_t i = 0; i < n_fresh; i++)
		w->seen[w->fresh[i].sw].failed = t->dest + 1;
	if (t->first[leaf].link == FM_NONE)
		return;
	w->load[t->first[leaf].link] -= s->g->sw_hosts[sw];
	mark(s, sw, t);
}

static void
follow_dest(const struct walk *s, struct walker *w, const struct target *t)
{
	const struct gauge *g = s->g;

	for (uint32_t i = 0; i < g->n_leaves; i++) {
		uint32_t n_fresh, from = g->sw_from[g->leaf[i]], keep = meet(g, w, t, i, &n_fresh);

		if (keep == FM_NONE) {
			close_above(s, w, t, 0, from);
			fail(s, w, t, i, n_fresh);
			continue;
		}
		close_above(s, w, t, keep, from);
		while (n_fresh > 0) {
			struct open *o = &w->open[w->n_open];

			*o = w->fresh[--n_fresh];
			o->from = from;
			w->seen[o->sw].place = w->n_open++;
		}
		w->max_open = w->n_open > w->max_open ? w->n_open : w->max_open;
	}
	close_above(s, w, t, 0, g->n_hosts);
}

/* A row of first hops, an odd number of cache lines long. */
static size_t
first_stride(const struct gauge *g)
{
	size_t line = 64 / sizeof(struct hop);

	return ((g->n_leaves + line - 1) / line | 1) * line;
}

/* The first hops from every leaf, and its own hosts' load on them: fail() takes
 * back what does not arrive. */
static void
look_up(const struct gauge *g, struct walker *w, const uint32_t *dest, uint32_t n)
{
	size_t stride = first_stride(g);
	uint16_t lid[DEST_BLOCK];

	for (uint32_t i = 0; i < n; i++)
		lid[i] = g->host_lid[dest[i]];
	for (uint32_t leaf = 0; leaf < g->n_leaves; leaf++) {
		fm_sw sw = g->leaf[leaf];
		uint32_t n_own = g->sw_hosts[sw];

		for (uint32_t i = 0; i < n; i++) {
			struct hop hop = gauge_hop(g, sw, lid[i]);

			w->first[i * stride + leaf] = hop;
			if (hop.link != FM_NONE)
				w->load[hop.link] += n_own;
		}
	}
}

/* A block is one word of every row of marks, so no two workers share one. */
static void
follow_block(void *arg, uint32_t block, unsigned worker)
{
	const struct walk *s = arg;
	const struct gauge *g = s->g;
	struct walker *w = &s->w[worker];
	uint32_t from = block * DEST_BLOCK, to = from + DEST_BLOCK;

	to = to < g->n_hosts ? to : g->n_hosts;
	look_up(g, w, g->by_lid + from, to - from);
	for (uint32_t i = from; i < to; i++) {
		struct target t = { .dest = g->by_lid[i], .bit = i };

		t.lid = g->host_lid[t.dest];
		t.first = w->first + (i - from) * first_stride(g);
		follow_dest(s, w, &t);
	}
}

void
gauge_walk_all(struct walk *s)
{
	const struct gauge *g = s->g;

	for (unsigned i = 0; i < g->n_workers; i++)
		memset(s->w[i].seen, 0, g->fab->n_switches * sizeof(*s->w[i].seen));
	fm_pool_for(g->workers, (g->n_hosts + DEST_BLOCK - 1) / DEST_BLOCK, follow_block, s);
}

bool
gauge_walk_setup(struct gauge *g, struct walk *s, size_t max_ranges)
{
	uint32_t n = g->fab->n_switches;

	*s = (struct walk){ .g = g, .end_sw = n, .max_ranges = max_ranges };
	s->worker_ranges = max_ranges / g->n_workers;
	s->words = FM_BITSET_WORDS(g->n_hosts);
	s->marks = calloc((size_t)n * s->words + 1, sizeof(*s->marks));
	s->w = fm_arena_array(&g->mem, g->n_workers, struct walker);
	for (unsigned i = 0; s->w != NULL && i < g->n_workers; i++) {
		struct walker *w = &s->w[i];

		w->seen = fm_arena_array(&g->mem, n + 1, struct seen);
		w->open = fm_arena_array(&g->mem, n + 1, struct open);
		w->fresh = fm_arena_array(&g->mem, n + 1, struct open);
		w->first = fm_arena_array(&g->mem, DEST_BLOCK * first_stride(g), struct hop);
		w->load = fm_arena_array(&g->mem, g->fab->n_links + 1, uint32_t);
		w->n_ranges = fm_arena_array(&g->mem, n + 1, uint64_t);
		if (w->seen == NULL || w->open == NULL || w->fresh == NULL || w->first == NULL ||
		    w->load == NULL || w->n_ranges == NULL)
			return false;
	}
	return s->marks != NULL && s->w != NULL;
}

void
gauge_walk_fini(struct walk *s)
{
	for (unsigned i = 0; s->w != NULL && i < s->g->n_workers; i++)
		fm_vec_fini(&s->w[i].ranges);
	free(s->marks);
}
