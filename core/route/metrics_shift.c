/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The worst shift: the most flows that any of the N - 1 permutations
 * i -> i + k (mod N) puts on one link, exactly, without walking N squared pairs.
 *
 * The sources that send to destination j over link c are a few ranges of
 * hosts, [from, to): a leaf's own hosts, a pod, everybody but a pod.  A range
 * stands for the shifts k = j - to + 1 .. j - from, an arc of the circle of
 * shifts; the answer is the greatest number of arcs of one link that have a
 * shift in common.
 *
 *	- Of most (switch, destination) the range is just the switch's own hosts.
 *	  Those are not stored: their arcs have one length, so the overlap on a
 *	  link is the number of destinations in a window that slides over them.
 *	- The others (transit) are collected by following every destination from
 *	  the leaves in host order, so that neighbouring leaves melt into one
 *	  range; then sorted by link.
 *
 * Switches are taken in chunks that bound the memory for transit ranges.
 * O(leaves x hosts x hops) and what sorting the transit arcs costs.
 */
#include <stdlib.h>
#include <string.h>

#include "core/route/metrics_internal.h"
#include "lib/bitset.h"
#include "lib/error.h"
#include "lib/vec.h"

#define CHUNK_RANGES ((uint64_t)8 << 20) /* 128 MB */
#define SORT_BY_HAND 24u

/* Sources [from, to) send to dest over link. */
struct range {
	fm_link link;
	uint32_t dest, from, to;
};

/* The range that grows at a switch while one destination is followed. */
struct growing {
	uint32_t dest; /* + 1; 0 = none yet */
	uint32_t from, to;
	uint32_t n_closed; /* ranges before this one */
	fm_link link;
};

struct shift_worker {
	struct growing *at; /* [n_switches] */
	fm_sw *touched;	    /* [n_switches] */
	uint32_t n_touched;
	fm_link *path;	    /* [n_switches] */
	uint64_t *n_ranges; /* [n_switches] transit ranges, all destinations */
	FM_VEC(struct range) ranges;
	uint32_t *arc[2]; /* [n_arcs_room] where arcs begin, where they end */
	size_t arc_room;
	int32_t *steps; /* [n_hosts + 1] */
	uint32_t *own;	/* [n_hosts] destinations, by slot */
	uint32_t own_first[257];
	uint32_t max;
	bool failed;
};

struct shift {
	struct gauge *g;
	struct shift_worker *w;
	bool collect;		/* ranges are kept, not only counted */
	fm_sw first_sw, end_sw; /* the chunk */
	size_t words;		/* of a row of transit */
	uint64_t *transit; /* [chunk][words] bit j: what goes to j is not plainly its own hosts' */
	struct range *sorted; /* by link */
	size_t *link_first;   /* [links of chunk + 1] */
};

static void
close_range(struct shift *s, struct shift_worker *w, fm_sw sw)
{
	struct growing *r = &w->at[sw];

	r->n_closed++;
	if (!s->collect)
		w->n_ranges[sw]++;
	else if (sw >= s->first_sw && sw < s->end_sw &&
	    !fm_vec_push(&w->ranges, ((struct range){ r->link, r->dest - 1, r->from, r->to })))
		w->failed = true;
}

/* The hosts of leaf cross sw by link. */
static void
grow(struct shift *s, struct shift_worker *w, fm_sw sw, fm_link link, fm_sw leaf, uint32_t dest)
{
	const struct gauge *g = s->g;
	struct growing *r = &w->at[sw];
	uint32_t from = g->sw_from[leaf], to = from + g->sw_hosts[leaf];

	if (r->dest != dest + 1) {
		*r = (struct growing){ dest + 1, from, to, 0, link };
		w->touched[w->n_touched++] = sw;
	} else if (r->to == from) {
		r->to = to;
	} else {
		close_range(s, w, sw);
		r->from = from;
		r->to = to;
	}
}

static void
mark_transit(struct shift *s, fm_sw sw, uint32_t dest)
{
	if (s->collect && sw >= s->first_sw && sw < s->end_sw)
		fm_bit_set(s->transit + (sw - s->first_sw) * s->words, dest);
}

static void
follow_dest(struct shift *s, struct shift_worker *w, uint32_t dest)
{
	const struct gauge *g = s->g;

	w->n_touched = 0;
	for (uint32_t i = 0; i < g->n_leaves; i++) {
		fm_sw leaf = g->leaf[i], sw = leaf;
		uint32_t n =
		    leaf == g->host_sw[dest] ? FM_NONE : gauge_follow(g, leaf, dest, w->path);

		if (n == FM_NONE) { /* nothing from here, its own hosts neither */
			mark_transit(s, leaf, dest);
			continue;
		}
		for (uint32_t k = 0; k < n; k++) {
			grow(s, w, sw, w->path[k], leaf, dest);
			sw = g->fab->link_to[w->path[k]];
		}
	}
	for (uint32_t i = 0; i < w->n_touched; i++) {
		fm_sw sw = w->touched[i];
		const struct growing *r = &w->at[sw];

		if (r->n_closed == 0 && r->from == g->sw_from[sw] &&
		    r->to == r->from + g->sw_hosts[sw])
			continue;
		close_range(s, w, sw);
		mark_transit(s, sw, dest);
	}
}

/* A block is one word of every row of transit, so no two workers share one. */
static void
follow_block(void *arg, uint32_t block, unsigned worker)
{
	struct shift *s = arg;
	uint32_t from = block * DEST_BLOCK, to = from + DEST_BLOCK;

	to = to < s->g->n_hosts ? to : s->g->n_hosts;
	for (uint32_t dest = from; dest < to; dest++)
		follow_dest(s, &s->w[worker], dest);
}

static int
by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void
sort_numbers(uint32_t *v, uint32_t n)
{
	if (n > SORT_BY_HAND) {
		qsort(v, n, sizeof(*v), by_number);
		return;
	}
	for (uint32_t i = 1; i < n; i++) {
		uint32_t x = v[i], k = i;

		for (; k > 0 && v[k - 1] > x; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
}

/* The arc of sources [from, to) to dest; over the end of the circle it is two. */
static uint32_t
add_arc(const struct gauge *g, struct shift_worker *w, uint32_t n, uint32_t dest, uint32_t from,
    uint32_t to)
{
	uint32_t begin = (dest + g->n_hosts + 1 - to) % g->n_hosts, end = begin + (to - from);

	w->arc[0][n] = begin;
	w->arc[1][n] = end > g->n_hosts ? g->n_hosts : end;
	if (end > g->n_hosts) {
		n++;
		w->arc[0][n] = 0;
		w->arc[1][n] = end - g->n_hosts;
	}
	return n + 1;
}

/* Few arcs: sort both ends and merge. */
static uint32_t
overlap_sorted(struct shift_worker *w, uint32_t n)
{
	uint32_t max = 0, closed = 0;

	sort_numbers(w->arc[0], n);
	sort_numbers(w->arc[1], n);
	for (uint32_t i = 0; i < n; i++) {
		while (w->arc[1][closed] <= w->arc[0][i])
			closed++;
		max = i + 1 - closed > max ? i + 1 - closed : max;
	}
	return max;
}

/* Many: count up and down along the circle. */
static uint32_t
overlap_counted(const struct gauge *g, struct shift_worker *w, uint32_t n)
{
	int32_t now = 0, max = 0;

	memset(w->steps, 0, (g->n_hosts + 1) * sizeof(*w->steps));
	for (uint32_t i = 0; i < n; i++) {
		w->steps[w->arc[0][i]]++;
		w->steps[w->arc[1][i]]--;
	}
	for (uint32_t k = 0; k < g->n_hosts; k++) {
		now += w->steps[k];
		max = now > max ? now : max;
	}
	return (uint32_t)max;
}

/* The most of dest[0..n-1] (ascending) within `width` neighbours on the circle. */
static uint32_t
overlap_window(const struct gauge *g, const uint32_t *dest, uint32_t n, uint32_t width)
{
	uint32_t max = 0, ahead = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (ahead < i)
			ahead = i;
		while (ahead + 1 < i + n &&
		    (dest[(ahead + 1) % n] + g->n_hosts - dest[i]) % g->n_hosts < width)
			ahead++;
		max = ahead - i + 1 > max ? ahead - i + 1 : max;
	}
	return max;
}

/* Destinations to which sw sends just its own hosts' packets, by slot. */
static void
list_own(const struct shift *s, struct shift_worker *w, fm_sw sw)
{
	const struct gauge *g = s->g;
	const uint64_t *transit = s->transit + (sw - s->first_sw) * s->words;
	fm_link first = g->fab->sw_first_link[sw];
	uint32_t n = g->fab->sw_first_link[sw + 1] - first, fill[256] = { 0 };

	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t dest = 0; g->sw_hosts[sw] > 0 && dest < g->n_hosts; dest++) {
			fm_link l = gauge_link(g, sw, g->host_lid[dest]);

			if (l == FM_NONE || fm_bit_test(transit, dest))
				continue;
			if (pass == 1)
				w->own[fill[l - first]] = dest;
			fill[l - first]++;
		}
		if (pass == 1)
			return;
		w->own_first[0] = 0;
		for (uint32_t i = 0; i < n; i++)
			w->own_first[i + 1] = w->own_first[i] + fill[i];
		memcpy(fill, w->own_first, n * sizeof(*fill));
	}
}

static bool
make_room(struct shift_worker *w, size_t n)
{
	size_t room = w->arc_room;

	return fm_vec_grow((void **)&w->arc[0], &room, n, sizeof(uint32_t)) &&
	    fm_vec_grow((void **)&w->arc[1], &w->arc_room, n, sizeof(uint32_t));
}

static uint32_t
measure_link(const struct shift *s, struct shift_worker *w, fm_sw sw, fm_link l)
{
	const struct gauge *g = s->g;
	fm_link slot = l - g->fab->sw_first_link[sw],
		in_chunk = l - g->fab->sw_first_link[s->first_sw];
	const uint32_t *own = w->own + w->own_first[slot];
	uint32_t n_own = w->own_first[slot + 1] - w->own_first[slot], n = 0;
	size_t from = s->link_first[in_chunk], to = s->link_first[in_chunk + 1];

	if (from == to)
		return overlap_window(g, own, n_own, g->sw_hosts[sw]);
	if (!make_room(w, 2 * (n_own + to - from))) {
		w->failed = true;
		return 0;
	}
	for (uint32_t i = 0; i < n_own; i++)
		n = add_arc(g, w, n, own[i], g->sw_from[sw], g->sw_from[sw] + g->sw_hosts[sw]);
	for (size_t i = from; i < to; i++)
		n = add_arc(g, w, n, s->sorted[i].dest, s->sorted[i].from, s->sorted[i].to);
	return n < g->n_hosts / 16 ? overlap_sorted(w, n) : overlap_counted(g, w, n);
}

static void
measure_switch(void *arg, uint32_t i, unsigned worker)
{
	struct shift *s = arg;
	struct shift_worker *w = &s->w[worker];
	fm_sw sw = s->first_sw + i;

	list_own(s, w, sw);
	for (fm_link l = s->g->fab->sw_first_link[sw]; l < s->g->fab->sw_first_link[sw + 1]; l++) {
		uint32_t max = measure_link(s, w, sw, l);

		w->max = max > w->max ? max : w->max;
	}
}

/* All workers' ranges by link, a counting sort. */
static bool
sort_ranges(struct shift *s)
{
	const struct fm_fabric *fab = s->g->fab;
	fm_link first = fab->sw_first_link[s->first_sw];
	uint32_t n_links = fab->sw_first_link[s->end_sw] - first;
	size_t n = 0;

	for (unsigned i = 0; i < s->g->n_workers; i++)
		n += s->w[i].ranges.n;
	s->sorted = malloc((n + 1) * sizeof(*s->sorted));
	s->link_first = calloc((size_t)n_links + 2, sizeof(*s->link_first));
	if (s->sorted == NULL || s->link_first == NULL)
		return false;
	/* link_first[l + 2] counts, then [l + 1] is where l is filled, then its end */
	for (unsigned i = 0; i < s->g->n_workers; i++)
		for (size_t k = 0; k < s->w[i].ranges.n; k++)
			s->link_first[s->w[i].ranges.item[k].link - first + 2]++;
	for (uint32_t l = 0; l < n_links; l++)
		s->link_first[l + 2] += s->link_first[l + 1];
	for (unsigned i = 0; i < s->g->n_workers; i++) {
		for (size_t k = 0; k < s->w[i].ranges.n; k++) {
			const struct range *r = &s->w[i].ranges.item[k];

			s->sorted[s->link_first[r->link - first + 1]++] = *r;
		}
		s->w[i].ranges.n = 0;
	}
	return true;
}

static bool
run_chunk(struct shift *s)
{
	const struct gauge *g = s->g;
	bool ok;

	s->transit = calloc((size_t)(s->end_sw - s->first_sw) * s->words + 1, sizeof(*s->transit));
	ok = s->transit != NULL;
	if (ok) {
		fm_pool_for(
		    g->workers, (g->n_hosts + DEST_BLOCK - 1) / DEST_BLOCK, follow_block, s);
		ok = sort_ranges(s);
	}
	if (ok)
		fm_pool_for(g->workers, s->end_sw - s->first_sw, measure_switch, s);
	for (unsigned i = 0; i < g->n_workers; i++)
		ok = ok && !s->w[i].failed;
	free(s->transit);
	free(s->sorted);
	free(s->link_first);
	s->transit = NULL;
	s->sorted = NULL;
	s->link_first = NULL;
	return ok;
}

static bool
alloc_workers(struct shift *s)
{
	struct gauge *g = s->g;
	uint32_t n = g->fab->n_switches + 1;

	s->w = fm_arena_array(&g->mem, g->n_workers, struct shift_worker);
	for (unsigned i = 0; s->w != NULL && i < g->n_workers; i++) {
		struct shift_worker *w = &s->w[i];

		w->at = fm_arena_array(&g->mem, n, struct growing);
		w->touched = fm_arena_array(&g->mem, n, fm_sw);
		w->path = fm_arena_array(&g->mem, n, fm_link);
		w->n_ranges = fm_arena_array(&g->mem, n, uint64_t);
		w->steps = fm_arena_array(&g->mem, g->n_hosts + 1, int32_t);
		w->own = fm_arena_array(&g->mem, g->n_hosts + 1, uint32_t);
		if (w->at == NULL || w->touched == NULL || w->path == NULL || w->n_ranges == NULL ||
		    w->steps == NULL || w->own == NULL)
			return false;
	}
	return s->w != NULL;
}

/* The switches from first_sw on whose ranges fit. */
static fm_sw
end_of_chunk(const struct shift *s)
{
	uint64_t n = 0;
	fm_sw sw = s->first_sw;

	while (sw < s->g->fab->n_switches) {
		for (unsigned i = 0; i < s->g->n_workers; i++)
			n += s->w[i].n_ranges[sw];
		if (n > CHUNK_RANGES && sw > s->first_sw)
			break;
		sw++;
	}
	return sw;
}

int
gauge_shift(struct gauge *g, uint32_t *max, struct fm_error *err)
{
	struct shift s = { .g = g, .words = FM_BITSET_WORDS(g->n_hosts) };
	bool ok = alloc_workers(&s);

	if (ok)
		fm_pool_for(
		    g->workers, (g->n_hosts + DEST_BLOCK - 1) / DEST_BLOCK, follow_block, &s);
	s.collect = true;
	for (; ok && s.first_sw < g->fab->n_switches; s.first_sw = s.end_sw) {
		for (unsigned i = 0; i < g->n_workers; i++)
			memset(s.w[i].at, 0, g->fab->n_switches * sizeof(*s.w[i].at));
		s.end_sw = end_of_chunk(&s);
		ok = run_chunk(&s);
	}
	*max = 0;
	for (unsigned i = 0; s.w != NULL && i < g->n_workers; i++) {
		*max = s.w[i].max > *max ? s.w[i].max : *max;
		fm_vec_fini(&s.w[i].ranges);
		free(s.w[i].arc[0]);
		free(s.w[i].arc[1]);
	}
	return ok ? 0 : fm_fail(err, FM_E_RESOURCE, "out of memory while measuring shifts");
}
