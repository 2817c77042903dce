/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which entries need an order.  For each destination with changed entries: the
 * strongly connected components of the union of old and new next hops, found
 * from the changed switches on (Tarjan; lib/algo/scc.h wants a graph laid out, and
 * here most graphs are a handful of switches).  A component is finished after
 * all below it, so whether a packet can be lost below is known with it.
 *
 *	risky	 in a component of more than one switch, or something below is unknown
 *	no_hole	 and/or: something below may lose packets, the new way does not, and
 *		 the old entry is not a hole itself (else nobody sends through here
 *		 who is not to be admitted first), nor are all links of the switch cold:
 *		 what a new switch holds, of whatever time, is not to be met by packets
 *	down	 the new way ends in a hole, and somebody whose does not sends through here
 *
 * Cost: O(changed entries x switches below them), O(switches) at most per LID.
 */
#include <stdlib.h>

#include "core/transition/transition_internal.h"

struct mark {
	uint32_t epoch;
	uint32_t order, low, component;
	uint8_t edge, alive; /* edge: next to follow; alive: enum fate of the new path */
	bool open, carries;
};

enum fate { UNKNOWN, ALIVE, DEAD };

struct component {
	uint32_t size;
	bool may_lose, unknown; /* by what is known; it is not known what becomes of packets */
};

struct scan {
	struct transition *t;
	struct mark *mark;	      /* [n_switches] */
	struct component *component;  /* [n_switches] of this LID */
	fm_sw *path, *open, *visited; /* [n_switches] */
	uint32_t n_path, n_open, n_visited, n_components;
	uint32_t epoch;
	uint32_t lid;
	fm_end end;
};

/* The next hops of sw in this LID's union; their number. */
static unsigned
hops(const struct scan *s, fm_sw sw, fm_sw hop[2])
{
	const struct tblock *b = block_at(s->t, sw, s->lid / LANES);
	uint32_t lane = s->lid % LANES;

	if (b == NULL) {
		hop[0] = hop_by(s->t, sw, s->t->want->lft[sw][s->lid], s->end);
		return 1;
	}
	hop[0] = hop_by(s->t, sw, b->was[lane], s->end);
	if (!(b->changed >> lane & 1))
		return 1;
	hop[1] = hop_by(s->t, sw, b->want[lane], s->end);
	return 2;
}

static inline bool
is_switch_hop(fm_sw hop)
{
	return hop < HOP_HOME;
}

static void
enter(struct scan *s, fm_sw sw)
{
	s->mark[sw] = (struct mark){
		.epoch = s->epoch, .order = s->n_visited, .low = s->n_visited, .open = true
	};
	s->visited[s->n_visited++] = sw;
	s->path[s->n_path++] = sw;
	s->open[s->n_open++] = sw;
}

/* Can a packet at sw be lost at its next hop, or behind that outside of the component that is being
 * closed? */
static bool
loses(const struct scan *s, fm_sw sw)
{
	const struct transition *t = s->t;
	const struct tblock *b = block_at(t, sw, s->lid / LANES);
	fm_sw hop[2];
	unsigned n = hops(s, sw, hop);

	for (unsigned i = 0; i < n; i++)
		if (hop[i] == HOP_HOLE ||
		    (is_switch_hop(hop[i]) && !s->mark[hop[i]].open &&
			s->component[s->mark[hop[i]].component].may_lose))
			return true;
	if (!t->any_cold && !t->any_shaky)
		return false;
	return may_lose_at(t, sw, transition_last_port(t, sw, s->lid)) ||
	    (b != NULL && may_lose_at(t, sw, b->was[s->lid % LANES]));
}

/* Can it get to a switch of which nothing is known? */
static bool
strays(const struct scan *s, fm_sw sw)
{
	fm_sw hop[2];
	unsigned n = hops(s, sw, hop);

	if (!s->t->any_unknown || is_unknown_at(s->t, sw, s->lid / LANES))
		return s->t->any_unknown;
	for (unsigned i = 0; i < n; i++)
		if (is_switch_hop(hop[i]) && !s->mark[hop[i]].open &&
		    s->component[s->mark[hop[i]].component].unknown)
			return true;
	return false;
}

static void
close_component(struct scan *s, fm_sw root)
{
	struct component *c = &s->component[s->n_components];
	uint32_t first = s->n_open;

	while (s->open[--first] != root)
		;
	*c = (struct component){ .size = s->n_open - first };
	for (uint32_t i = first; i < s->n_open; i++) {
		c->may_lose = c->may_lose || loses(s, s->open[i]);
		c->unknown = c->unknown || strays(s, s->open[i]);
	}
	for (uint32_t i = first; i < s->n_open; i++) {
		s->mark[s->open[i]].open = false;
		s->mark[s->open[i]].component = s->n_components;
	}
	s->n_open = first;
	s->n_components++;
}

static void
leave(struct scan *s, fm_sw sw)
{
	struct mark *m = &s->mark[sw], *parent;

	s->n_path--;
	if (m->low == m->order)
		close_component(s, sw);
	if (s->n_path == 0)
		return;
	parent = &s->mark[s->path[s->n_path - 1]];
	if (m->low < parent->low)
		parent->low = m->low;
}

static void
search_from(struct scan *s, fm_sw root)
{
	enter(s, root);
	while (s->n_path > 0) {
		fm_sw sw = s->path[s->n_path - 1], hop[2];
		struct mark *m = &s->mark[sw];

		if (m->edge >= hops(s, sw, hop)) {
			leave(s, sw);
			continue;
		}
		hop[0] = hop[m->edge++];
		if (!is_switch_hop(hop[0]))
			continue;
		if (s->mark[hop[0]].epoch != s->epoch)
			enter(s, hop[0]);
		else if (s->mark[hop[0]].open && s->mark[hop[0]].order < m->low)
			m->low = s->mark[hop[0]].order;
	}
}

/* Does the new path from sw arrive?  Everything on it has been visited. */
static bool
is_alive(struct scan *s, fm_sw sw)
{
	fm_sw at = sw;
	uint32_t n = 0;
	uint8_t fate;

	while (is_switch_hop(at) && s->mark[at].alive == UNKNOWN && n < s->t->fab->n_switches) {
		s->path[n++] = at;
		at = hop_by(s->t, at, transition_last_port(s->t, at, s->lid), s->end);
	}
	fate = at == HOP_HOME || (is_switch_hop(at) && s->mark[at].alive == ALIVE) ? ALIVE : DEAD;
	while (n > 0)
		s->mark[s->path[--n]].alive = fate;
	return fate == ALIVE;
}

/* Mark switches that will not lead to the destination and still carry packets of sw, which will. */
static void
mark_carriers(struct scan *s, fm_sw sw)
{
	for (;;) {
		const struct tblock *b = block_at(s->t, sw, s->lid / LANES);
		uint8_t port = b != NULL ? b->was[s->lid % LANES] : s->t->want->lft[sw][s->lid];
		fm_sw to = hop_by(s->t, sw, port, s->end);

		if (!is_switch_hop(to) || s->mark[to].carries || is_alive(s, to))
			return;
		s->mark[to].carries = true;
		sw = to;
	}
}

/* Does no packet get from sw to another switch before links are active? */
static bool
is_cut_off(const struct transition *t, fm_sw sw)
{
	const struct fm_fabric *fab = t->fab;

	if (!t->any_cold || t->warm)
		return false;
	for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++)
		if (!fm_bit_test(t->cold, port_index(t, sw, fab->link_port[l])))
			return false;
	return true;
}

static void
judge_entry(struct scan *s, fm_sw sw, struct tblock *b)
{
	struct transition *t = s->t;
	uint32_t lane = s->lid % LANES;
	uint64_t bit = UINT64_C(1) << lane;
	const struct mark *m = &s->mark[sw];
	fm_sw hop[2];
	bool was_hole;

	hops(s, sw, hop);
	was_hole = hop[0] == HOP_HOLE; /* over a cold link it will be none */
	if (s->component[m->component].size > 1 || s->component[m->component].unknown)
		b->risky |= bit;
	if (s->end == FM_NONE || t->rule[s->lid] & TRANSITION_DRAIN)
		return;
	if (!is_alive(s, sw)) {
		if (m->carries)
			b->down |= bit;
		return;
	}
	if (!was_hole && is_switch_hop(hop[1]) &&
	    (may_lose_at(t, sw, b->want[lane]) ||
		s->component[s->mark[hop[1]].component].may_lose) &&
	    !is_cut_off(t, sw))
		b->no_hole |= bit;
}

/* Blocks first .. first + n - 1 are those of one index. */
static void
scan_lane(struct scan *s, uint32_t first, uint32_t n, uint32_t lane)
{
	struct transition *t = s->t;
	uint64_t bit = UINT64_C(1) << lane;
	bool any = false;

	s->epoch++;
	s->n_visited = s->n_components = s->n_open = s->n_path = 0;
	s->lid = t->block.item[first].index * LANES + lane;
	s->end = owner_of(t, s->lid);
	for (uint32_t i = first; i < first + n; i++) {
		struct tblock *b = &t->block.item[i];

		if (b->changed & bit && s->mark[b->sw].epoch != s->epoch)
			search_from(s, b->sw);
	}
	for (uint32_t i = 0; s->end != FM_NONE && i < s->n_visited; i++)
		if (is_alive(s, s->visited[i]))
			mark_carriers(s, s->visited[i]);
	for (uint32_t i = first; i < first + n; i++) {
		struct tblock *b = &t->block.item[i];

		if (!(b->changed & bit) || b->fixed)
			continue;
		judge_entry(s, b->sw, b);
		if (is_next_hop_first(t, s->lid))
			b->risky |= bit;
		b->risky |= (b->no_hole | b->down) & bit;
		any = any || (b->risky & bit) != 0;
	}
	t->counts.destinations += any;
}

static void
scan_index(struct scan *s, uint32_t first, uint32_t n)
{
	struct transition *t = s->t;
	uint64_t lanes = 0;
	uint32_t index = t->block.item[first].index;

	for (uint32_t i = first; i < first + n; i++)
		lanes |= t->block.item[i].changed;
	if (index == 0)
		lanes &= ~UINT64_C(1); /* LID 0 is nobody's */
	for (; lanes != 0; lanes &= lanes - 1) {
		uint32_t lane = (uint32_t)__builtin_ctzll(lanes);

		if (index * LANES + lane <= t->top_lid)
			scan_lane(s, first, n, lane);
	}
}

/* Index by index, switch by switch, so that no switch gets a burst. */
static int
by_index_then_switch(const void *x, const void *y)
{
	const struct tblock *a = x, *b = y;

	if (a->index != b->index)
		return a->index < b->index ? -1 : 1;
	return a->sw < b->sw ? -1 : a->sw > b->sw;
}

/* Blocks come sorted, but for those that had to be read. */
static void
sort_blocks(struct transition *t)
{
	size_t i = 1;

	while (i < t->block.n && by_index_then_switch(&t->block.item[i - 1], &t->block.item[i]) < 0)
		i++;
	if (i >= t->block.n)
		return;
	qsort(t->block.item, t->block.n, sizeof(*t->block.item), by_index_then_switch);
	for (i = 0; i < t->block.n; i++) {
		const struct tblock *b = &t->block.item[i];

		t->at[(size_t)b->sw * t->n_blocks + b->index] = (uint32_t)i + 1;
	}
}

static bool
scan_all(struct transition *t)
{
	struct scan s = { .t = t };
	size_t n_sw = t->fab->n_switches + 1u;
	uint32_t n = (uint32_t)t->block.n;
	struct fm_arena mem;
	bool ok;

	fm_arena_init(&mem, SIZE_MAX);
	s.mark = fm_arena_array(&mem, n_sw, struct mark);
	s.component = fm_arena_array(&mem, n_sw, struct component);
	s.path = fm_arena_array(&mem, n_sw, fm_sw);
	s.open = fm_arena_array(&mem, n_sw, fm_sw);
	s.visited = fm_arena_array(&mem, n_sw, fm_sw);
	ok = s.mark != NULL && s.component != NULL && s.path != NULL && s.open != NULL &&
	    s.visited != NULL;
	for (uint32_t first = 0, last; ok && first < n; first = last) {
		uint32_t index = t->block.item[first].index;

		for (last = first; last < n && t->block.item[last].index == index;)
			last++;
		scan_index(&s, first, last - first);
	}
	fm_arena_fini(&mem);
	return ok;
}

bool
transition_plan(struct transition *t)
{
	uint32_t n = (uint32_t)t->block.n;

	if (!fm_vec_reserve(&t->waiting, (size_t)n + 1))
		return false;
	sort_blocks(t);
	if (n > 0 && !scan_all(t))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		struct tblock *b = &t->block.item[i];

		if (b->fixed || b->risky == 0)
			continue;
		t->counts.risky++;
		t->waiting.item[t->waiting.n++] = i; /* reserved */
	}
	for (uint32_t lid = 0; t->has_drains && lid <= t->top_lid; lid++)
		t->counts.drained += (t->rule[lid] & TRANSITION_DRAIN) != 0;
	transition_set_due(t);
	return true;
}
