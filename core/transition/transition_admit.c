/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * May this entry be written now?  Searches over what switches may hold by now.
 */
#include "core/transition/transition_internal.h"

/* From the new next hop on, over all next hops that switches may have by now: no path leads back
 * to the switch and, if that matters, no packet is lost. */
static bool
way_below_is_good(struct transition *t, const struct tblock *b, uint32_t lane)
{
	uint32_t lid = b->index * LANES + lane, n = 0;
	fm_end end = owner_of(t, lid);
	bool no_hole = b->no_hole >> lane & 1;
	fm_sw at = hop_by(t, b->sw, b->want[lane], end);

	if (no_hole && may_lose_at(t, b->sw, b->want[lane]))
		return false;
	if (at >= HOP_HOME)
		return at == HOP_HOME || !no_hole;
	t->epoch++;
	t->seen[at] = t->epoch;
	t->stack[n++] = at;
	while (n > 0) {
		fm_sw sw = t->stack[--n], to;
		uint8_t port[2];
		unsigned n_ports = transition_ports(t, sw, lid, port);

		if (sw == b->sw || is_unknown_at(t, sw, b->index))
			return false;
		for (unsigned i = 0; i < n_ports; i++) {
			to = hop_by(t, sw, port[i], end);
			if (no_hole && (to == HOP_HOLE || may_lose_at(t, sw, port[i])))
				return false;
			if (to >= HOP_HOME || t->seen[to] == t->epoch)
				continue;
			t->seen[to] = t->epoch;
			t->stack[n++] = to;
		}
	}
	return true;
}

/* Next hop first: the next changed entry on the new path is written.  An entry that cannot be
 * written never is. */
static bool
next_is_written(const struct transition *t, const struct tblock *b, uint32_t lane)
{
	uint32_t lid = b->index * LANES + lane;
	fm_end end = owner_of(t, lid);
	fm_sw at = hop_by(t, b->sw, b->want[lane], end);

	for (uint32_t n = 0; at < HOP_HOME && n < t->fab->n_switches; n++) {
		const struct tblock *next = block_at(t, at, b->index);

		if (next != NULL && next->given && !transition_settled(t, at, (uint16_t)lid))
			return false;
		if (next != NULL && next->changed >> lane & 1)
			return next->done >> lane & 1;
		at = hop_by(t, at, transition_last_port(t, at, lid), end);
	}
	return true;
}

/* Will the path from sw lead to the destination in the end? */
static bool
will_arrive(const struct transition *t, fm_sw sw, uint32_t lid, fm_end end)
{
	for (uint32_t n = 0; sw < HOP_HOME && n < t->fab->n_switches; n++)
		sw = hop_by(t, sw, transition_last_port(t, sw, lid), end);
	return sw == HOP_HOME;
}

static bool
may_send_to(const struct transition *t, fm_sw sw, uint32_t lid, fm_sw to)
{
	uint8_t port[2];
	unsigned n = transition_ports(t, sw, lid, port);

	for (unsigned i = 0; i < n; i++)
		if (hop_by(t, sw, port[i], FM_NONE) == to)
			return true;
	return false;
}

/* Backwards from a switch that will lose packets: no switch that will not lose them sends
 * through it by now. */
static bool
nobody_depends(struct transition *t, const struct tblock *b, uint32_t lane)
{
	const struct fm_fabric *fab = t->fab;
	uint32_t lid = b->index * LANES + lane, n = 0;
	fm_end end = owner_of(t, lid);

	t->epoch++;
	t->seen[b->sw] = t->epoch;
	t->stack[n++] = b->sw;
	while (n > 0) {
		fm_sw sw = t->stack[--n];

		for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++) {
			fm_sw from = fab->link_to[l];

			if (t->seen[from] == t->epoch || !may_send_to(t, from, lid, sw))
				continue;
			if (will_arrive(t, from, lid, end))
				return false;
			t->seen[from] = t->epoch;
			t->stack[n++] = from;
		}
	}
	return true;
}

bool
transition_admits(struct transition *t, const struct tblock *b, uint32_t lane)
{
	uint64_t bit = UINT64_C(1) << lane;

	if (!(b->risky & bit) || t->unordered)
		return true;
	if (is_next_hop_first(t, b->index * LANES + lane) && !next_is_written(t, b, lane))
		return false;
	if (b->down & bit && !nobody_depends(t, b, lane))
		return false;
	return way_below_is_good(t, b, lane);
}
