/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/program/waves.c - the order in which switches of which nothing is known are reached:
 * from us outwards, so that most of what they are sent can go by LID.
 *
 * A wave is the switches that are so many hops away.  For each of it
 *
 *	name	its LID, the blocks with its own entry and with ours: directed, or mixed
 *		by way of the wave before
 *	road	the other blocks that lie on ways from us to switches, and one more where
 *		there is none, to see whether it takes SMPs by LID: by LID
 *
 * each over all its switches, block by block; a step begins when the one before it is
 * answered.  All other blocks follow, striped over all switches (apply.c).  Who is
 * reached by LID is looked up SMP by SMP (lid_route.c): the waves only see to it that
 * there are such; so a lost answer costs its switch directed SMPs, and the others nothing:
 * no step waits for a second try.
 *
 * Whatever a visit is, a read or a write, and what may be written when, apply.c decides.
 *
 * Cost: O(switches x hops), and a bit for each block of these switches.
 */
#include <stdlib.h>

#include "core/program/apply_internal.h"
#include "lib/bitset.h"

enum step { STEP_NAME, STEP_ROAD, STEP_PROBE, N_STEPS };

struct waves {
	/* reads or writes a block, if that has not been done yet in this sweep */
	bool (*visit)(struct sweeper *s, fm_sw sw, uint32_t block);
	fm_sw *sw; /* [n] nearest first */
	uint32_t n;
	uint32_t from, to; /* this wave */
	enum step step;
	size_t cursor;	    /* in the step */
	bool waiting;	    /* all of the step is sent */
	uint64_t n_retries; /* by then */
	uint64_t *road;	    /* bitset by visit_bit() */
};

void
waves_end(struct sweeper *s)
{
	struct waves *w = s->ways.waves;

	s->ways.waves = NULL;
	if (w == NULL)
		return;
	free(w->sw);
	free(w->road);
	free(w);
}

static const struct inv_node *
node_of(const struct sweeper *s, fm_sw sw)
{
	return inv_node(&s->inv, s->inv.switches.item[sw]);
}

static uint16_t
our_lid(const struct sweeper *s)
{
	return inv_node(&s->inv, s->inv.local)->ports[s->inv.local_port].lid;
}

/* By counting: no more than DR_MAX_HOPS waves.  Those that hold what we know are none. */
static bool
list_switches(struct sweeper *s, struct waves *w)
{
	w->sw = malloc((s->inv.switches.n + 1) * sizeof(*w->sw));
	for (unsigned hops = 0; w->sw != NULL && hops <= DR_MAX_HOPS; hops++)
		for (fm_sw sw = 0; sw < s->inv.switches.n; sw++) {
			const struct inv_node *n = node_of(s, sw);

			if (node_usable(n) && n->n_hops == hops && n->lft != LFT_OURS)
				w->sw[w->n++] = sw;
		}
	return w->sw != NULL;
}

/* The blocks on the way from us to a switch. */
static void
mark_road(const struct sweeper *s, struct waves *w, fm_sw to)
{
	const struct fm_fabric *fab = fabric_of(s->next);
	uint16_t lid = node_of(s, to)->ports[0].lid, ours = our_lid(s);
	fm_end end = ours <= fab->max_lid ? fab->lid_end[ours] : FM_NONE;
	fm_sw sw = end != FM_NONE ? fab->end_sw[end] : FM_NONE;

	for (uint32_t n = 0; sw != FM_NONE && sw != to && n < fab->n_switches; n++) {
		fm_bit_set(w->road, visit_bit(s, sw, lid / LFT_BLOCK_LIDS));
		sw = snapshot_switch_at(s->next->snap, sw, s->next->tables->t.lft[sw][lid]);
	}
}

static bool
mark_roads(const struct sweeper *s, struct waves *w)
{
	size_t n_bits = (size_t)n_blocks(s->next) * s->inv.switches.n;

	w->road = calloc(FM_BITSET_WORDS(n_bits) + 1, sizeof(*w->road));
	for (uint32_t i = 0; w->road != NULL && i < w->n; i++)
		mark_road(s, w, w->sw[i]);
	return w->road != NULL;
}

/* The wave that begins here. */
static void
next_wave(const struct sweeper *s, struct waves *w)
{
	w->from = w->to;
	while (
	    w->to < w->n && node_of(s, w->sw[w->to])->n_hops == node_of(s, w->sw[w->from])->n_hops)
		w->to++;
	w->step = STEP_NAME;
	w->cursor = 0;
}

/* Is there anything to be had of it?  All is near, or no SMPs by LID will arrive. */
static bool
pays(const struct sweeper *s, const struct waves *w)
{
	return w->n > 0 && node_of(s, w->sw[w->n - 1])->n_hops > 1 &&
	    s->ways.way[WAY_BY_LID] != WAY_CLOSED &&
	    !(s->writing.fresh && s->ways.way[WAY_INACTIVE] == WAY_CLOSED);
}

void
waves_start(struct sweeper *s, bool (*visit)(struct sweeper *s, fm_sw sw, uint32_t block))
{
	struct waves *w;

	waves_end(s);
	if (!s->set.sweep.lid_routed_smps)
		return;
	s->ways.waves = w = calloc(1, sizeof(*w));
	if (w == NULL || !list_switches(s, w) || (pays(s, w) && !mark_roads(s, w))) {
		waves_end(s);
		sweep_fail(s, FM_E_RESOURCE, "out of memory for the order of switches");
		return;
	}
	if (w->road == NULL) {
		waves_end(s);
		return;
	}
	w->visit = visit;
	links_name(s, s->inv.local, s->inv.local_port);
	next_wave(s, w);
	if (s->set.dry_run)
		waves_end(s);
}

static void
name_switch(struct sweeper *s, fm_sw sw)
{
	links_name(s, s->inv.switches.item[sw], 0);
	s->ways.waves->visit(s, sw, node_of(s, sw)->ports[0].lid / LFT_BLOCK_LIDS);
	s->ways.waves->visit(s, sw, our_lid(s) / LFT_BLOCK_LIDS);
}

/* One block by LID, if there has not been one; any will do. */
static void
probe_switch(struct sweeper *s, fm_sw sw)
{
	const struct inv_node *n = node_of(s, sw);

	if (n->by_lid.takes || n->by_lid.fails || n->by_lid.on_trial || n->n_hops < 2)
		return;
	for (uint32_t block = 0; block < n_blocks(s->next); block++)
		if (s->ways.waves->visit(s, sw, block))
			return;
}

/* Places of the cursor in this step. */
static size_t
step_length(const struct sweeper *s, const struct waves *w)
{
	size_t n = w->to - w->from;

	return w->step == STEP_ROAD ? n * n_blocks(s->next) : n;
}

static void
do_place(struct sweeper *s, struct waves *w, size_t at)
{
	uint32_t n = w->to - w->from, block = (uint32_t)(at / n);
	fm_sw sw = w->sw[w->from + at % n];

	switch (w->step) {
	case STEP_NAME:
		name_switch(s, sw);
		return;
	case STEP_ROAD:
		if (fm_bit_test(w->road, visit_bit(s, sw, block)))
			s->ways.waves->visit(s, sw, block);
		return;
	default:
		probe_switch(s, sw);
	}
}

/* The step is sent.  True: its answers have to come, but for those that take long. */
static bool
is_waiting(struct sweeper *s, struct waves *w)
{
	uint64_t n_retries = txn_counts(s->p.txn)->retries;

	if (!w->waiting)
		w->n_retries = n_retries;
	w->waiting = s->run.pending > 0 && n_retries == w->n_retries;
	return w->waiting;
}

bool
waves_feed(struct sweeper *s)
{
	struct waves *w = s->ways.waves;

	while (w != NULL && w->from < w->n && !s->run.failed) {
		size_t n = step_length(s, w);

		while (w->cursor < n && s->run.pending < FEED_STRIPED(s))
			do_place(s, w, w->cursor++);
		if (w->cursor < n || (w->step != STEP_ROAD && is_waiting(s, w)))
			return true;
		w->waiting = false;
		w->cursor = 0;
		lid_route_try(s);
		if (++w->step == N_STEPS)
			next_wave(s, w);
	}
	waves_end(s);
	return false;
}
