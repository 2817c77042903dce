/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Following every LID from every source to its end, a block of 64 LIDs at a
 * time: 64 LIDs are one cache line of every row.
 *
 * Routing is by destination, so what happens to a LID at a switch is known
 * once for all sources (struct walker .info).  A source switch looks up its 64
 * next hops; nearly always the next switch already knows the rest, and one
 * addition and one store (the dependency of its link on the next one's egress
 * link) finish the lane.  Otherwise the path is followed to the first switch
 * that knows, and known backwards.  Only what a source's packets reach is ever
 * looked at, so entries that carry no traffic cannot make a credit loop.
 *
 * Switch ports 0 send too, to the LIDs of other switches; where no other
 * source has gone the same way, they are followed last, and note no
 * dependencies.
 *
 * Time: one look-up per (source switch, LID), plus one per (switch, LID) with
 * traffic.  Memory per worker: 256 bytes a switch and the dependency rows.
 */
#include <string.h>

#include "core/verify/verify_internal.h"

static void
next_epoch(const struct judge *j, struct walker *w)
{
	w->base += 1u << EPOCH_SHIFT;
	if (w->base != 0)
		return;
	memset(w->info, 0, ((size_t)j->fab->n_switches + 1) * LANES * sizeof(*w->info));
	memset(w->touched, 0, j->fab->n_switches * sizeof(*w->touched));
	w->base = 1u << EPOCH_SHIFT;
}

/* The packet leaves the switches, to an end-port or to nowhere. */
static uint32_t
leave(const struct judge *j, struct walker *w, fm_sw sw, unsigned lane, uint8_t port)
{
	const struct fm_fabric *fab = j->fab;
	const struct lane *l = &w->lane[lane];
	uint32_t slot = fab->sw_first_link[sw + 1] - fab->sw_first_link[sw];

	if (sw == l->sw && port == l->port)
		return (1u << HOPS_SHIFT) | slot;
	if (port <= fab->sw_n_ports[sw] && j->port_has_end[j->port_first[sw] + port]) {
		w->wrong_host++;
		note_clue(w, VERIFY_WRONG_HOST, l->lid, sw);
	}
	return (HOPS_FAIL << HOPS_SHIFT) | slot;
}

/* Make known what is true of path[0..n-1], given what is true of the switch after. */
static uint32_t
unwind(const struct judge *j, struct walker *w, unsigned lane, uint32_t n, uint32_t after)
{
	while (n-- > 0) {
		fm_sw sw = w->path[n];
		uint32_t *known = &w->info[(size_t)sw * LANES + lane];
		uint32_t slot = *known & SLOT_MASK, hops = after >> HOPS_SHIFT;

		if (w->carries && w->dep != NULL) {
			size_t row = j->dep_row[j->fab->sw_first_link[sw] + slot];

			w->dep[row * ROW_UNIT + (after & SLOT_MASK)] = 1;
		}
		hops = hops < HOPS_OPEN ? hops + 1 : HOPS_FAIL;
		after = (hops << HOPS_SHIFT) | slot;
		*known = w->base + after;
		if (w->carries && w->order != NULL)
			w->order[w->n_order++] = sw;
	}
	return after;
}

uint32_t
verify_resolve(const struct judge *j, struct walker *w, fm_sw sw, unsigned lane)
{
	uint16_t lid = w->lane[lane].lid;
	uint32_t n = 0, after;

	for (;;) {
		uint32_t *known = &w->info[(size_t)sw * LANES + lane];
		uint8_t port = j->t->lft[sw][lid];
		struct port_ref ref;

		after = *known - w->base;
		if (after < KNOWN_END)
			break;
		ref = port_ref_at(j, sw, port);
		w->touched[sw] = w->base;
		if (ref.info == j->nowhere) {
			after = leave(j, w, sw, lane, port);
			*known = w->base + after;
			if (w->carries && w->order != NULL)
				w->order[w->n_order++] = sw;
			break;
		}
		*known = w->base + ((HOPS_OPEN << HOPS_SHIFT) | (ref.dep & SLOT_MASK));
		w->path[n++] = sw;
		sw = ref.info / LANES;
	}
	if (after >> HOPS_SHIFT == HOPS_OPEN) {
		w->loops++;
		w->lane_loops = true;
		note_clue(w, VERIFY_LOOP, lid, sw);
		after = (HOPS_FAIL << HOPS_SHIFT) | (after & SLOT_MASK);
	}
	return unwind(j, w, lane, n, after);
}

/* refs[] of this switch: all 256 values a table entry can have. */
static void
load_refs(const struct judge *j, struct walker *w, fm_sw sw)
{
	uint32_t n = j->fab->sw_n_ports[sw] + 1u;

	memcpy(w->refs, &j->ports[j->port_first[sw]], n * sizeof(*w->refs));
	for (uint32_t port = n; port < w->ref_ports; port++)
		w->refs[port] = (struct port_ref){ j->nowhere, SLOT_MASK };
	w->ref_ports = n;
}

struct row_sum {
	uint32_t n_lost;
	uint32_t hops; /* of the lanes that arrive, from the next switch on, << HOPS_SHIFT */
	uint32_t max;  /* the greatest of them, with a slot below */
};

/* One lane the long way. */
static void
walk_lane(const struct judge *j, struct walker *w, fm_sw sw, unsigned lane, struct row_sum *sum)
{
	uint32_t known = verify_resolve(j, w, sw, lane);

	if (known >= ARRIVES_END) {
		sum->n_lost++;
		w->switch_lost += w->lane[lane].is_switch && w->lane[lane].sw != sw;
		note_clue(w, VERIFY_UNREACHABLE, w->lane[lane].lid, sw);
		return;
	}
	known -= 1u << HOPS_SHIFT;
	sum->hops += known & ~SLOT_MASK;
	if (known > sum->max)
		sum->max = known;
}

/* All lanes of one source switch.  dense: all 64 lanes, list is not read. */
static inline __attribute__((always_inline)) void
walk_row(const struct judge *j, struct walker *w, fm_sw sw, const uint8_t *row, const uint8_t *list,
    unsigned n, bool dense, struct row_sum *sum)
{
	const struct port_ref *refs = w->refs;
	const uint32_t *info = w->info;
	const uint32_t base = w->base;
	uint8_t *dep = w->dep;
	uint32_t hops = 0, max = 0;

	for (unsigned i = 0; i < n; i++) {
		unsigned lane = dense ? i : list[i];
		struct port_ref ref = refs[row[lane]];
		uint32_t next = info[ref.info + lane] - base;

		if (__builtin_expect(next >= ARRIVES_END, 0)) {
			walk_lane(j, w, sw, lane, sum);
			continue;
		}
		dep[(size_t)(ref.dep >> 8) * ROW_UNIT + (next & SLOT_MASK)] = 1;
		hops += next & ~SLOT_MASK;
		max = next > max ? next : max;
	}
	sum->hops += hops;
	sum->max = max > sum->max ? max : sum->max;
}

/* Is the owner of the lane the only one on its switch who sends?  Then nothing
 * that is a pair starts there. */
static bool
is_alone(const struct judge *j, const struct lane *l)
{
	return !l->is_switch && j->n_sources[l->sw] == 1;
}

/* The lanes to which sw has pairs. */
static unsigned
select_lanes(const struct judge *j, const struct walker *w, fm_sw sw, uint8_t *list)
{
	unsigned n = 0;

	for (unsigned i = 0; i < w->n_lanes; i++) {
		const struct lane *l = &w->lane[w->list[i]];

		if (l->component == j->snap->sw_component[sw] && !(l->sw == sw && is_alone(j, l)))
			list[n++] = w->list[i];
	}
	return n;
}

static void
walk_source(const struct judge *j, struct walker *w, fm_sw sw, uint32_t first_lid)
{
	const uint8_t *row = j->t->lft[sw] + first_lid;
	struct row_sum sum = { 0 };
	uint8_t own[LANES], *list = w->list;
	unsigned n = w->n_lanes;
	uint64_t n_sources = j->n_sources[sw];

	if (j->snap->n_components > 1 || n_sources == 1) {
		list = own;
		n = select_lanes(j, w, sw, own);
	}
	if (w->touched[sw] == w->base) {
		for (unsigned i = 0; i < n; i++)
			walk_lane(j, w, sw, list[i], &sum);
	} else {
		load_refs(j, w, sw);
		if (n == LANES)
			walk_row(j, w, sw, row, NULL, LANES, true, &sum);
		else
			walk_row(j, w, sw, row, list, n, false, &sum);
	}
	w->lost += sum.n_lost * n_sources;
	w->reached += (n - sum.n_lost) * n_sources;
	w->hops += ((uint64_t)(sum.hops >> HOPS_SHIFT) + n - sum.n_lost) * n_sources;
	if (n > sum.n_lost && (sum.max >> HOPS_SHIFT) + 1 > w->max_hops)
		w->max_hops = (sum.max >> HOPS_SHIFT) + 1;
}

/* The same lane by lane, with the SLs and VLs of its packets. */
static void
walk_lane_vl(struct judge *j, struct walker *w, unsigned lane)
{
	w->n_order = 0;
	w->lane_loops = false;
	for (uint32_t i = 0; i < j->n_source_sw; i++) {
		fm_sw sw = j->source_sw[i];
		struct row_sum sum = { 0 };

		if (j->snap->sw_component[sw] != w->lane[lane].component ||
		    (sw == w->lane[lane].sw && is_alone(j, &w->lane[lane])))
			continue;
		walk_lane(j, w, sw, lane, &sum);
		w->lost += sum.n_lost * (uint64_t)j->n_sources[sw];
		w->reached += (1 - sum.n_lost) * (uint64_t)j->n_sources[sw];
		w->hops += ((sum.hops >> HOPS_SHIFT) + 1 - sum.n_lost) * (uint64_t)j->n_sources[sw];
		if (sum.n_lost == 0 && (sum.max >> HOPS_SHIFT) + 1 > w->max_hops)
			w->max_hops = (sum.max >> HOPS_SHIFT) + 1;
	}
	verify_vl_lane(j, w, lane);
}

/* Ends cabled to one another: each is reached by the other and by nobody else. */
void
verify_count_switchless(const struct judge *j, struct walker *w)
{
	uint32_t peers = j->switchless > 1 ? 1 : 0;

	w->reached += peers;
	w->disjoint += j->all_sources - 1 - peers;
}

/* The LIDs of a block that are in use. */
static void
collect_lanes(const struct judge *j, struct walker *w, uint32_t first_lid)
{
	const struct fm_fabric *fab = j->fab;

	w->n_lanes = 0;
	for (uint32_t i = 0; i < LANES && first_lid + i <= fab->max_lid; i++) {
		fm_end e = fab->lid_end[first_lid + i];

		if (e == FM_NONE || (j->exact != NULL && !j->exact[first_lid + i]))
			continue;
		if (fab->end_sw[e] == FM_NONE) {
			verify_count_switchless(j, w);
			continue;
		}
		w->lane[i] = (struct lane){ .lid = (uint16_t)(first_lid + i),
			.owner = e,
			.sw = fab->end_sw[e],
			.port = fab->end_port[e],
			.is_switch = fab->end_kind[e] == FM_END_SWITCH,
			.component = j->snap->sw_component[fab->end_sw[e]] };
		w->list[w->n_lanes++] = (uint8_t)i;
		w->disjoint += j->all_sources - j->component_sources[w->lane[i].component];
	}
}

/* An end-port is no source for its own LIDs, but was counted as one. */
static void
discount_self(const struct judge *j, struct walker *w, unsigned lane)
{
	const struct lane *l = &w->lane[lane];

	if (l->is_switch || is_alone(j, l))
		return;
	if (verify_resolve(j, w, l->sw, lane) < ARRIVES_END) {
		w->reached--;
		w->hops--;
	} else {
		w->lost--;
	}
}

/* From a switch without sources to the switches' LIDs.  (The ends of the
 * others go the same way as their switch, and have been.) */
static void
walk_switch(const struct judge *j, struct walker *w, fm_sw sw, const uint8_t *list, unsigned n)
{
	const uint8_t *row = j->t->lft[sw];
	uint32_t *known = &w->info[(size_t)sw * LANES];

	for (unsigned i = 0; i < n; i++) {
		const struct lane *l = &w->lane[list[i]];
		struct port_ref ref = port_ref_at(j, sw, row[l->lid]);
		uint32_t next = w->info[ref.info + list[i]] - w->base;

		if (l->sw == sw || j->snap->sw_component[sw] != l->component)
			continue;
		if (next < ARRIVES_END && known[list[i]] < w->base)
			known[list[i]] = w->base +
			    (((next & ~SLOT_MASK) + (1u << HOPS_SHIFT)) | (ref.dep & SLOT_MASK));
		else if (verify_resolve(j, w, sw, list[i]) >= ARRIVES_END)
			w->switch_lost++;
	}
}

static void
walk_switches(const struct judge *j, struct walker *w)
{
	uint8_t list[LANES];
	unsigned n = 0;

	for (unsigned i = 0; i < w->n_lanes; i++)
		if (w->lane[w->list[i]].is_switch)
			list[n++] = w->list[i];
	for (fm_sw sw = 0; n > 0 && sw < j->fab->n_switches; sw++)
		if (j->n_sources[sw] == 0)
			walk_switch(j, w, sw, list, n);
}

/* This block's line of every row, asked for at once: the rows are so far apart
 * that nothing else would fetch one before it is needed. */
static void
fetch_block(const struct judge *j, uint32_t first_lid)
{
	for (fm_sw sw = 0; sw < j->fab->n_switches; sw++)
		__builtin_prefetch(j->t->lft[sw] + first_lid);
}

void
verify_walk_block(void *arg, uint32_t block, unsigned worker)
{
	struct judge *j = arg;
	struct walker *w = &j->walkers[worker];
	uint32_t first_lid = block * LANES;

	collect_lanes(j, w, first_lid);
	if (w->n_lanes == 0)
		return;
	next_epoch(j, w);
	fetch_block(j, first_lid);
	w->carries = true;
	if (j->one_vl)
		for (uint32_t i = 0; i < j->n_source_sw; i++)
			walk_source(j, w, j->source_sw[i], first_lid);
	else
		for (unsigned i = 0; i < w->n_lanes; i++)
			walk_lane_vl(j, w, w->list[i]);
	for (unsigned i = 0; i < w->n_lanes; i++)
		discount_self(j, w, w->list[i]);
	w->carries = false;
	walk_switches(j, w);
}
