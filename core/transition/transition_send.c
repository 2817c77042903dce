/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which block is written next.  Blocks with entries to be admitted wait in a list that is looked
 * through when there have been answers; blocks without such entries fill the window.  When all
 * is answered and no block is admitted whole, each block is sent with what is admitted of it (a
 * split): all of them at once, as one at a time would take a round trip each.
 *
 * Phases: drained destinations are emptied; then the steps are written, one after the other; then
 * the drained are filled.  A packet's life time lies between two steps, and before the filling.
 */
#include "core/transition/transition_internal.h"

#define SCANS_PER_LIST 32 /* the list is looked through after a 32nd of it was answered */

static uint64_t
lanes_of_phase(const struct transition *t, uint32_t index)
{
	uint64_t lanes = 0;

	if (!t->has_rules)
		return t->phase == PHASE_STEPS ? ~UINT64_C(0) : 0;
	for (unsigned i = 0; i < LANES; i++) {
		uint8_t rule = t->rule[index * LANES + i];
		bool drained = (rule & TRANSITION_DRAIN) != 0;
		bool now = t->phase == PHASE_STEPS ? !drained && (rule & TRANSITION_STEP) <= t->step
						   : drained;

		lanes |= (uint64_t)now << i;
	}
	return lanes;
}

void
transition_set_due(struct transition *t)
{
	for (uint32_t i = 0; i < t->n_blocks; i++)
		t->due[i] = lanes_of_phase(t, i);
	t->cursor = 0;
	t->scan = 0;
	t->scanning = t->waiting.n > 0;
	t->splitting = t->scan_hit = false;
	t->n_answers = 0;
}

/* Lanes that this phase has still to send. */
static uint64_t
lanes_to_send(const struct transition *t, const struct tblock *b)
{
	if (b->fixed || b->in_flight)
		return 0;
	return b->changed & t->due[b->index] & ~(t->phase == PHASE_EMPTY ? b->emptied : b->done);
}

/* Entries of drained destinations are admitted like others before they are filled: a switch that
 * does not answer may not have been emptied. */
static bool
needs_admission(const struct transition *t, const struct tblock *b, uint64_t lanes)
{
	return t->phase != PHASE_EMPTY && (b->risky & lanes) != 0;
}

static void
hand_out(struct transition *t, struct tblock *b, uint64_t lanes, struct transition_block *out)
{
	out->sw = b->sw;
	out->block = b->index;
	if (t->phase == PHASE_EMPTY)
		b->emptying = lanes;
	else
		b->sent = lanes;
	for (unsigned i = 0; i < LANES; i++) {
		uint64_t bit = UINT64_C(1) << i;

		if ((b->done | b->sent) & bit)
			out->bytes[i] = b->want[i];
		else
			out->bytes[i] = (b->emptying | b->emptied) & bit ? FM_PORT_NONE : b->was[i];
	}
	b->in_flight = true;
	t->n_in_flight++;
	t->counts.writes++;
}

/* The lanes among `lanes` that are admitted; with `all`, none unless all are. */
static uint64_t
admitted(struct transition *t, struct tblock *b, uint64_t lanes, bool all)
{
	uint64_t left = lanes & b->risky, last = UINT64_C(1) << b->last_refused;

	if (all && left & last && !transition_admits(t, b, b->last_refused))
		return 0;
	for (; left != 0; left &= left - 1) {
		uint32_t lane = (uint32_t)__builtin_ctzll(left);

		if (transition_admits(t, b, lane))
			continue;
		b->last_refused = (uint8_t)lane;
		if (all)
			return 0;
		lanes &= ~(UINT64_C(1) << lane);
	}
	return lanes;
}

/* Blocks that have been sent whole leave the list. */
static void
drop_sent(struct transition *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->waiting.n; i++) {
		const struct tblock *b = &t->block.item[t->waiting.item[i]];

		if (!b->fixed && (b->changed & ~b->done) != 0)
			t->waiting.item[n++] = t->waiting.item[i];
	}
	t->waiting.n = n;
}

/* Go on through the list; true: *out is a block of it. */
static bool
scan_waiting(struct transition *t, struct transition_block *out)
{
	while (t->scan < t->waiting.n) {
		struct tblock *b = &t->block.item[t->waiting.item[t->scan++]];
		uint64_t lanes = lanes_to_send(t, b), go;

		if (lanes == 0 || !needs_admission(t, b, lanes))
			continue; /* next_free() sends it */
		go = admitted(t, b, lanes, !t->splitting);
		if (go == 0)
			continue;
		t->counts.rounds += !t->scan_hit;
		t->scan_hit = true;
		t->counts.splits += go != lanes;
		hand_out(t, b, go, out);
		return true;
	}
	t->scanning = false;
	return false;
}

static void
start_scan(struct transition *t, bool splitting)
{
	drop_sent(t);
	t->scan = 0;
	t->scanning = true;
	t->splitting = splitting;
	t->scan_hit = false;
	t->n_answers = 0;
}

static bool
next_waiting(struct transition *t, struct transition_block *out)
{
	if (!t->scanning && t->n_answers > 0 &&
	    (t->n_in_flight == 0 || t->n_answers > t->waiting.n / SCANS_PER_LIST))
		start_scan(t, false);
	return t->scanning && scan_waiting(t, out);
}

static bool
next_free(struct transition *t, struct transition_block *out)
{
	while (t->cursor < t->block.n) {
		struct tblock *b = &t->block.item[t->cursor++];
		uint64_t lanes = lanes_to_send(t, b);

		if (lanes == 0 || needs_admission(t, b, lanes))
			continue;
		t->counts.rounds += t->counts.rounds == 0;
		hand_out(t, b, lanes, out);
		return true;
	}
	return false;
}

static uint32_t
count_open(const struct transition *t)
{
	uint32_t n = 0;

	for (size_t i = 0; i < t->block.n; i++) {
		const struct tblock *b = &t->block.item[i];

		n += !b->fixed && lanes_to_send(t, b) != 0;
	}
	return n;
}

static uint32_t
count_held(const struct transition *t)
{
	uint32_t n = 0;

	for (size_t i = 0; i < t->block.n; i++) {
		const struct tblock *b = &t->block.item[i];

		n += !b->given && b->changed != b->done;
	}
	return n;
}

bool
transition_is_partial(const struct transition *t)
{
	for (size_t i = 0; i < t->block.n; i++) {
		const struct tblock *b = &t->block.item[i];

		if (b->given ? b->behind : b->fixed && (b->changed & ~b->done) != 0)
			return true;
	}
	return false;
}

/* This phase has sent all it can.  No step is begun while something of an earlier one may still be
 * old, as the proof of the step supposes it new.  What has been emptied is filled in any case. */
static enum transition_action
end_phase(struct transition *t)
{
	bool another = t->step < t->last_step && count_open(t) == 0 && !transition_is_partial(t);

	if (t->phase == PHASE_STEPS && (another || t->has_drains)) {
		t->last_step = another ? t->last_step : t->step;
		t->counts.waits++;
		return TRANSITION_WAIT;
	}
	t->phase = PHASE_OVER;
	t->counts.held = count_held(t);
	return TRANSITION_DONE;
}

enum transition_action
transition_next(struct transition *t, struct transition_block *out)
{
	if (t->phase == PHASE_OVER)
		return TRANSITION_DONE;
	if (next_waiting(t, out) || next_free(t, out))
		return TRANSITION_SEND;
	if (t->n_in_flight > 0)
		return TRANSITION_BUSY;
	start_scan(t, false);
	if (scan_waiting(t, out))
		return TRANSITION_SEND;
	if (t->any_cold && !t->warm && t->phase == PHASE_STEPS && count_open(t) > 0)
		return TRANSITION_COLD; /* no split for links that will be active anyway */
	start_scan(t, true);
	if (scan_waiting(t, out))
		return TRANSITION_SEND;
	if (t->phase != PHASE_EMPTY)
		return end_phase(t);
	t->phase = PHASE_STEPS;
	transition_set_due(t);
	return transition_next(t, out);
}

void
transition_waited(struct transition *t)
{
	if (t->step < t->last_step)
		t->step++;
	else
		t->phase = PHASE_FILL;
	transition_set_due(t);
}

bool
transition_is_to_fill(const struct transition *t)
{
	return t->phase == PHASE_STEPS && t->has_drains && t->step >= t->last_step;
}

void
transition_warm(struct transition *t)
{
	t->warm = true;
}

/* ------------------------------------------------------------- answers */

static struct tblock *
take_answer(struct transition *t, fm_sw sw, uint32_t index)
{
	struct tblock *b = block_at(t, sw, index);

	if (b == NULL || !b->in_flight)
		return NULL;
	b->in_flight = false;
	t->n_in_flight--;
	t->n_answers++;
	return b;
}

void
transition_done(struct transition *t, fm_sw sw, uint32_t index)
{
	struct tblock *b = take_answer(t, sw, index);

	if (b == NULL)
		return;
	b->done |= b->sent | (b->emptying & b->to_empty);
	b->emptied |= b->emptying;
	b->sent = b->emptying = 0;
}

void
transition_lost(struct transition *t, fm_sw sw, uint32_t index)
{
	struct tblock *b = take_answer(t, sw, index);

	if (b != NULL)
		b->lost = b->fixed = true;
}

void
transition_quarantine(struct transition *t, fm_sw sw)
{
	for (uint32_t i = 0; i < t->n_blocks; i++) {
		struct tblock *b = block_at(t, sw, i);

		if (b != NULL)
			b->fixed = true;
	}
}
