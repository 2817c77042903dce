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
 *	- The others are kept by the walk (gauge_walk.c), then sorted by link.
 *
 * When the ranges are too many for the walk's memory, it is repeated for one
 * chunk of the switches after another.  O(leaves x hosts) and what sorting the
 * arcs costs.  Where that would be more steps than to follow every flow, as on
 * tori with a host a switch, whose routes share little, each shift is walked:
 * O(hosts squared x hops).
 */
#include <stdlib.h>
#include <string.h>

#include "lab/judge/metrics_internal.h"
#include "lib/bitset.h"
#include "lib/error.h"
#include "lib/vec.h"

#define NOT_A_LINK (INT32_MIN / 2)

struct shift_worker {
	uint32_t *arc[2]; /* [arc_room] where arcs begin, where they end */
	size_t arc_room;
	int32_t *steps; /* [n_hosts + 1] */
	uint8_t *port;	/* [n_hosts] egress to each */
	uint32_t *own;	/* [n_hosts] destinations, by slot */
	uint32_t own_first[257];
	fm_link *route; /* [n_switches] the links of one flow */
	uint32_t *load; /* [n_links] of one shift */
	uint32_t max;
	bool failed;
};

struct shift {
	struct gauge *g;
	struct walk *walk;
	struct shift_worker *w;
	uint64_t *n_ranges;   /* [n_switches] */
	struct range *sorted; /* by link */
	size_t *link_first;   /* [links of chunk + 2] */
};

/* Shell's sort, with Ciura's gaps: the arcs are few, and partly in order. */
static void
sort_numbers(uint32_t *v, uint32_t n)
{
	static const uint32_t gaps[] = { 701, 301, 132, 57, 23, 10, 4, 1 };

	for (unsigned g = 0; g < sizeof(gaps) / sizeof(gaps[0]); g++)
		for (uint32_t gap = gaps[g], i = gap; i < n; i++) {
			uint32_t x = v[i], k = i;

			for (; k >= gap && v[k - gap] > x; k -= gap)
				v[k] = v[k - gap];
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

/* The most of a switch's own arcs on one of its links: of `width` neighbours on
 * the circle of destinations, as many as leave by the same port. */
static uint32_t
slide(const struct gauge *g, struct shift_worker *w, fm_sw sw)
{
	const struct gauge_row *row = &g->row[sw];
	uint32_t n = g->n_hosts, width = g->sw_hosts[sw];
	int32_t in_window[256], max = 0;

	for (uint32_t i = 0; i < 256; i++)
		in_window[i] = i <= row->n_ports && row->hop[i].link != FM_NONE ? 0 : NOT_A_LINK;
	for (uint32_t i = 0; i < n; i++)
		w->port[i] = row->lft[g->host_lid[i]];
	for (uint32_t i = 0; i < width; i++) {
		int32_t now = ++in_window[w->port[i]];

		max = now > max ? now : max;
	}
	for (uint32_t i = width; i < n + width; i++) {
		int32_t now;

		in_window[w->port[i - width]]--;
		now = ++in_window[w->port[i < n ? i : i - n]];
		max = now > max ? now : max;
	}
	return (uint32_t)max;
}

/* Destinations to which sw sends just its own hosts' packets, by slot. */
static void
list_own(const struct shift *s, struct shift_worker *w, fm_sw sw)
{
	const struct gauge *g = s->g;
	const uint64_t *marks = s->walk->marks + (sw - s->walk->first_sw) * s->walk->words;
	fm_link first = g->fab->sw_first_link[sw];
	uint32_t n = g->fab->sw_first_link[sw + 1] - first, fill[256] = { 0 };

	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; g->sw_hosts[sw] > 0 && i < g->n_hosts; i++) {
			uint32_t dest = g->by_lid[i];
			fm_link l = gauge_hop(g, sw, g->host_lid[dest]).link;

			if (l == FM_NONE || fm_bit_test(marks, i))
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
make_room_for_arcs(struct shift_worker *w, size_t n)
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
		in_chunk = l - g->fab->sw_first_link[s->walk->first_sw];
	const uint32_t *own = w->own + w->own_first[slot];
	uint32_t n_own = w->own_first[slot + 1] - w->own_first[slot], n = 0;
	size_t from = s->link_first[in_chunk], to = s->link_first[in_chunk + 1];

	if (!make_room_for_arcs(w, 2 * (n_own + to - from))) {
		w->failed = true;
		return 0;
	}
	for (uint32_t i = 0; i < n_own; i++)
		n = add_arc(g, w, n, own[i], g->sw_from[sw], g->sw_from[sw] + g->sw_hosts[sw]);
	for (size_t i = from; i < to; i++)
		n = add_arc(g, w, n, s->sorted[i].dest, s->sorted[i].from, s->sorted[i].to);
	return n < g->n_hosts / 16 ? overlap_sorted(w, n) : overlap_counted(g, w, n);
}

/* Does sw send its own hosts' packets to all destinations, and nothing else? */
static bool
sends_only_own(const struct shift *s, fm_sw sw)
{
	const struct walk *walk = s->walk;
	const fm_link *first = s->g->fab->sw_first_link;
	fm_link chunk = first[walk->first_sw];

	return s->link_first[first[sw] - chunk] == s->link_first[first[sw + 1] - chunk] &&
	    fm_bit_next(walk->marks + (sw - walk->first_sw) * walk->words, s->g->n_hosts, 0) ==
	    s->g->n_hosts;
}

static void
measure_switch(void *arg, uint32_t i, unsigned worker)
{
	struct shift *s = arg;
	struct shift_worker *w = &s->w[worker];
	fm_sw sw = s->walk->first_sw + i;
	uint32_t max;

	if (sends_only_own(s, sw)) {
		max = slide(s->g, w, sw);
		w->max = max > w->max ? max : w->max;
		return;
	}
	list_own(s, w, sw);
	for (fm_link l = s->g->fab->sw_first_link[sw]; l < s->g->fab->sw_first_link[sw + 1]; l++) {
		max = measure_link(s, w, sw, l);
		w->max = max > w->max ? max : w->max;
	}
}

/* All workers' ranges by link, a counting sort. */
static bool
sort_ranges(struct shift *s)
{
	const struct fm_fabric *fab = s->g->fab;
	fm_link first = fab->sw_first_link[s->walk->first_sw];
	uint32_t n_links = fab->sw_first_link[s->walk->end_sw] - first;
	size_t n = 0;

	for (unsigned i = 0; i < s->g->n_workers; i++)
		n += s->walk->w[i].ranges.n;
	s->sorted = malloc((n + 1) * sizeof(*s->sorted));
	s->link_first = calloc((size_t)n_links + 2, sizeof(*s->link_first));
	if (s->sorted == NULL || s->link_first == NULL)
		return false;
	/* link_first[l + 2] counts, then [l + 1] is where l is filled, then its end */
	for (unsigned i = 0; i < s->g->n_workers; i++)
		for (size_t k = 0; k < s->walk->w[i].ranges.n; k++)
			s->link_first[s->walk->w[i].ranges.item[k].link - first + 2]++;
	for (uint32_t l = 0; l < n_links; l++)
		s->link_first[l + 2] += s->link_first[l + 1];
	for (unsigned i = 0; i < s->g->n_workers; i++)
		for (size_t k = 0; k < s->walk->w[i].ranges.n; k++) {
			const struct range *r = &s->walk->w[i].ranges.item[k];

			s->sorted[s->link_first[r->link - first + 1]++] = *r;
		}
	return true;
}

/* What the walk has kept. */
static bool
measure_chunk(struct shift *s)
{
	const struct gauge *g = s->g;
	bool ok = sort_ranges(s);

	if (ok)
		fm_pool_for(g->workers, s->walk->end_sw - s->walk->first_sw, measure_switch, s);
	for (unsigned i = 0; i < g->n_workers; i++)
		ok = ok && !s->w[i].failed;
	free(s->sorted);
	free(s->link_first);
	s->sorted = NULL;
	s->link_first = NULL;
	return ok;
}

static bool
alloc_workers(struct shift *s)
{
	struct gauge *g = s->g;

	s->n_ranges = fm_arena_array(&g->mem, g->fab->n_switches + 1, uint64_t);
	s->w = fm_arena_array(&g->mem, g->n_workers, struct shift_worker);
	for (unsigned i = 0; s->w != NULL && i < g->n_workers; i++) {
		struct shift_worker *w = &s->w[i];

		w->steps = fm_arena_array(&g->mem, g->n_hosts + 1, int32_t);
		w->port = fm_arena_array(&g->mem, g->n_hosts + 1, uint8_t);
		w->own = fm_arena_array(&g->mem, g->n_hosts + 1, uint32_t);
		if (w->steps == NULL || w->port == NULL || w->own == NULL)
			return false;
	}
	return s->w != NULL && s->n_ranges != NULL;
}

/* The switches from first_sw on whose ranges fit, one at least. */
static fm_sw
end_of_chunk(const struct shift *s)
{
	uint64_t n = 0;
	fm_sw sw = s->walk->first_sw;

	while (sw < s->g->fab->n_switches) {
		n += s->n_ranges[sw];
		if (n > s->walk->max_ranges && sw > s->walk->first_sw)
			break;
		sw++;
	}
	return sw;
}

static bool
walked_well(const struct walk *walk)
{
	for (unsigned i = 0; i < walk->g->n_workers; i++)
		if (walk->w[i].failed)
			return false;
	return true;
}

/* Walk again, chunk by chunk. */
static bool
measure_chunks(struct shift *s)
{
	struct walk *walk = s->walk;
	bool ok = true;

	walk->worker_ranges = SIZE_MAX;
	for (fm_sw sw = 0; ok && sw < s->g->fab->n_switches; sw = walk->end_sw) {
		memset(walk->marks, 0,
		    (walk->end_sw - walk->first_sw) * walk->words * sizeof(*walk->marks));
		walk->first_sw = sw;
		walk->end_sw = end_of_chunk(s);
		for (unsigned i = 0; i < s->g->n_workers; i++)
			walk->w[i].ranges.n = 0;
		gauge_walk_all(walk);
		ok = walked_well(walk) && measure_chunk(s);
	}
	return ok;
}

/* Put the flow of one pair on the links of its route, if it arrives. */
static void
add_flow(const struct gauge *g, struct shift_worker *w, uint32_t from, uint32_t dest)
{
	fm_sw sw = g->host_sw[from];
	uint32_t n = 0;
	struct hop hop;

	while ((hop = gauge_hop(g, sw, g->host_lid[dest])).link != FM_NONE) {
		if (n == g->fab->n_switches)
			return; /* a loop */
		w->route[n++] = hop.link;
		sw = hop.to;
	}
	for (uint32_t i = 0; gauge_arrives(g, sw, dest) && i < n; i++) {
		uint32_t load = ++w->load[w->route[i]];

		w->max = load > w->max ? load : w->max;
	}
}

static void
walk_shift(void *arg, uint32_t i, unsigned worker)
{
	struct shift *s = arg;
	struct shift_worker *w = &s->w[worker];
	const struct gauge *g = s->g;
	uint32_t k = i + 1;

	memset(w->load, 0, g->fab->n_links * sizeof(*w->load));
	for (uint32_t from = 0; from < g->n_hosts; from++)
		add_flow(g, w, from, from + k < g->n_hosts ? from + k : from + k - g->n_hosts);
}

static bool
measure_flows(struct shift *s)
{
	struct gauge *g = s->g;

	for (unsigned i = 0; i < g->n_workers; i++) {
		s->w[i].route = fm_arena_array(&g->mem, g->fab->n_switches + 1, fm_link);
		s->w[i].load = fm_arena_array(&g->mem, g->fab->n_links + 1, uint32_t);
		if (s->w[i].route == NULL || s->w[i].load == NULL)
			return false;
	}
	fm_pool_for(g->workers, g->n_hosts - 1, walk_shift, s);
	return true;
}

/* Would walking chunk by chunk look at more pairs of leaf and host than there are flows? */
static bool
is_many_chunks(const struct shift *s)
{
	const struct gauge *g = s->g;
	uint64_t n = 0;

	for (fm_sw sw = 0; sw < g->fab->n_switches; sw++)
		n += s->n_ranges[sw];
	return n / s->walk->max_ranges * g->n_leaves >= g->n_hosts;
}

int
gauge_shift(struct gauge *g, struct walk *walk, uint32_t *max, struct fm_error *err)
{
	struct shift s = { .g = g, .walk = walk };
	bool ok = walked_well(walk) && alloc_workers(&s), full = false;

	for (unsigned i = 0; ok && i < g->n_workers; i++) {
		full |= walk->w[i].full;
		for (fm_sw sw = 0; sw < g->fab->n_switches; sw++)
			s.n_ranges[sw] += walk->w[i].n_ranges[sw];
	}
	if (ok && full && is_many_chunks(&s))
		ok = measure_flows(&s);
	else
		ok = ok && (full ? measure_chunks(&s) : measure_chunk(&s));
	*max = 0;
	for (unsigned i = 0; s.w != NULL && i < g->n_workers; i++) {
		*max = s.w[i].max > *max ? s.w[i].max : *max;
		free(s.w[i].arc[0]);
		free(s.w[i].arc[1]);
	}
	return ok ? 0 : fm_fail(err, FM_E_RESOURCE, "out of memory while measuring shifts");
}
