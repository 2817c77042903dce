/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sweep/apply.c - linear forwarding tables: what has to be written, and in
 * which order.
 *
 * By difference, in blocks of 64 LIDs, striped over the switches (block by block,
 * switch by switch).  What a block holds is known when the plan written last is;
 * in doubt (a Set unanswered, a switch that we have not written yet) it is read
 * first, and written only if it differs: a restarted fmd rewrites nothing.
 *
 *	read	blocks in doubt; all that differ go into a transition
 *	write	as the transition says (core/route/transition.h)
 *	later	what leads over links that are not active yet, when they are
 *
 * A fabric of which no switch holds anything is written without an order.
 *
 * A switch that does not answer keeps forwarding.  What it may hold is remembered
 * (s->held) until it has been read again, and packets that it sends on count in
 * the order of all others.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "core/route/ladder.h"
#include "core/sweep/apply_internal.h"
#include "lib/bitset.h"

#define BREAKS_MAX 3 /* times in a row that writing is broken off */

enum stage { STAGE_READ, STAGE_PLAN, STAGE_WRITE, STAGE_OVER };

static const uint8_t *
lft_block(const struct plan *plan, uint32_t sw, uint32_t block)
{
	return plan->tables->t.lft[sw] + (size_t)block * LFT_BLOCK_LIDS;
}

struct transition *
apply_transition(struct sweeper *s)
{
	const struct plan *p = s->next;

	if (s->transition != NULL)
		return s->transition;
	s->transition = transition_new(fabric_of(p), &p->tables->t, p->top_lid, p->rules);
	if (s->transition == NULL)
		sweep_fail(s, FM_E_RESOURCE, "out of memory for the order of tables");
	else if (s->set.careless)
		transition_careless(s->transition);
	return s->transition;
}

static void
add_block(struct sweeper *s, fm_sw sw, uint32_t block, const uint8_t *was)
{
	struct transition *t = apply_transition(s);

	if (t != NULL && !transition_add(t, sw, block, was))
		sweep_fail(s, FM_E_RESOURCE, "out of memory for the order of tables");
}

/* ---------------------------------------------------------- what is known */

static struct held_block *
held_at(const struct sweeper *s, uint32_t slot, uint32_t block)
{
	for (size_t i = 0; i < s->held.n; i++)
		if (s->held.item[i].slot == slot && s->held.item[i].block == block)
			return &s->held.item[i];
	return NULL;
}

static void
forget_held(struct sweeper *s, uint32_t slot, uint32_t block)
{
	struct held_block *h = held_at(s, slot, block);

	if (h != NULL)
		*h = s->held.item[--s->held.n];
}

/* Does the plan before know a row of this switch? */
static bool
has_old_row(const struct sweeper *s, const struct inv_node *n, uint32_t block)
{
	return s->plan != NULL && n->sw_index < fabric_of(s->plan)->n_switches &&
	    block < n_blocks(s->plan);
}

static int
by_block_then_switch(const void *x, const void *y)
{
	const struct plan_held *a = x, *b = y;

	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	return a->sw < b->sw ? -1 : a->sw > b->sw;
}

/* What a block holds of which writing was broken off, or NULL. */
static const uint8_t *
unwritten_block(const struct sweeper *s, fm_sw sw, uint32_t block)
{
	struct plan_held key = { .sw = sw, .block = block };
	const struct plan_held *h = s->unwritten.n == 0
	    ? NULL
	    : bsearch(&key, s->unwritten.item, s->unwritten.n, sizeof(key), by_block_then_switch);

	return h != NULL ? h->bytes : NULL;
}

/* What block `block` of the switch holds, as far as is known. */
static const uint8_t *
known_block(const struct sweeper *s, const struct inv_node *n, uint32_t block)
{
	const uint8_t *bytes;

	if (n->lft != LFT_OURS || fm_bit_test(n->lft_doubt, block) || !has_old_row(s, n, block))
		return NULL;
	bytes = unwritten_block(s, n->sw_index, block);
	return bytes != NULL ? bytes : lft_block(s->plan, n->sw_index, block);
}

void
apply_fix_block(struct sweeper *s, uint32_t slot, uint32_t block)
{
	const struct inv_node *n = inv_node(&s->inv, slot);
	const struct held_block *h = held_at(s, slot, block);
	struct transition *t = apply_transition(s);
	bool ok = true;

	if (t == NULL)
		return;
	if (h != NULL)
		ok = transition_fix(t, n->sw_index, block, transition_copy(t, h->bytes[0]),
		    transition_copy(t, h->bytes[h->n - 1]));
	else if (unwritten_block(s, n->sw_index, block) != NULL)
		ok = transition_fix(
		    t, n->sw_index, block, unwritten_block(s, n->sw_index, block), NULL);
	else if (has_old_row(s, n, block))
		ok = transition_fix(
		    t, n->sw_index, block, lft_block(s->plan, n->sw_index, block), NULL);
	if (!ok)
		sweep_fail(s, FM_E_RESOURCE, "out of memory for the order of tables");
}

/* ----------------------------------------------------------------- reading */

static void
warn_lft(struct sweeper *s, const struct ask *a, const char *what)
{
	char name[128];

	fm_log_rl(&s->refused_bucket, FM_LOG_WARN, "sweep", "%s %s of its forwarding table",
	    inv_name(inv_node(&s->inv, a->node), name, sizeof(name)), what);
}

static void
on_read(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct inv_node *n = inv_node(&s->inv, a->node);
	const uint8_t *bytes = reply + WIRE_SMP_DATA_AT;
	struct transition *t;

	if (status != TXN_OK) {
		if (status != TXN_CANCELLED)
			warn_lft(s, a,
			    status == TXN_TIMEOUT ? "does not answer a Get" : "refuses a Get");
		apply_fix_block(s, a->node, a->index);
		return;
	}
	forget_held(s, a->node, a->index);
	if (memcmp(bytes, lft_block(s->next, n->sw_index, a->index), LFT_BLOCK_LIDS) == 0) {
		fm_bit_clear(n->lft_doubt, a->index);
		return;
	}
	t = apply_transition(s);
	if (t != NULL)
		add_block(s, n->sw_index, a->index, transition_copy(t, bytes));
}

static void
read_block(struct sweeper *s, uint32_t slot, uint32_t block)
{
	struct ask *a = ask_new(s, slot, 0);

	if (a == NULL)
		return;
	a->index = block;
	fm_bit_set(inv_node(&s->inv, slot)->lft_doubt, block);
	if (!ask_get_at(a, WIRE_ATTR_LFT, block, on_read))
		apply_fix_block(s, slot, block); /* it has stopped answering in this sweep */
}

/* ----------------------------------------------------------------- writing */

static void
on_written(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct inv_node *n = inv_node(&s->inv, a->node);
	struct transition *t = s->transition;

	if (status == TXN_OK) {
		if (t != NULL)
			transition_done(t, n->sw_index, a->index);
		if (t == NULL || transition_is_new(t, n->sw_index, a->index))
			fm_bit_clear(n->lft_doubt, a->index);
		return;
	}
	if (t != NULL)
		transition_lost(t, n->sw_index, a->index);
	if (t != NULL && status == TXN_TIMEOUT)
		transition_quarantine(t, n->sw_index);
	if (status != TXN_CANCELLED)
		warn_lft(s, a, status == TXN_TIMEOUT ? "does not answer a Set" : "refuses a Set");
}

static void
write_block(struct sweeper *s, uint32_t slot, uint32_t block, const uint8_t *bytes)
{
	struct ask *a = ask_new(s, slot, 0);
	fm_sw sw = inv_node(&s->inv, slot)->sw_index;
	bool sent;

	if (a == NULL)
		return;
	a->index = block;
	a->may_go_by_lid = s->set.lid_smps && s->transition != NULL;
	if (!s->set.dry_run)
		fm_bit_set(inv_node(&s->inv, slot)->lft_doubt, block);
	sent = ask_set_at(a, WIRE_ATTR_LFT, block, bytes, on_written);
	if (s->transition == NULL)
		return;
	if (s->set.dry_run) {
		transition_done(s->transition, sw, block);
	} else if (!sent) {
		transition_lost(s->transition, sw, block);
		transition_quarantine(s->transition, sw);
	}
}

/* --------------------------------------------------------------- gathering */

static void
visit_block(struct sweeper *s, uint32_t slot, uint32_t block)
{
	struct inv_node *n = inv_node(&s->inv, slot);
	const uint8_t *known;

	if (!node_usable(n))
		return;
	if (n->lft == LFT_BLANK && s->apply_fresh) {
		write_block(s, slot, block, lft_block(s->next, n->sw_index, block));
		return;
	}
	known = known_block(s, n, block);
	if (n->lft == LFT_BLANK || known != NULL)
		add_block(s, n->sw_index, block, known);
	else
		read_block(s, slot, block);
}

/* Bit of a block in s->visit: block by block, switch by switch, so that no switch gets
 * a burst. */
static size_t
visit_bit(const struct sweeper *s, fm_sw sw, uint32_t block)
{
	return (size_t)block * s->inv.switches.n + sw;
}

static void
want_visits(struct sweeper *s, fm_sw sw, uint32_t first, uint32_t end)
{
	for (uint32_t block = first; block < end; block++)
		fm_bit_set(s->visit, visit_bit(s, sw, block));
}

/* The blocks in which next differs from the plan before.  False: that is not known. */
static bool
visit_delta(struct sweeper *s)
{
	const struct plan *p = s->next;

	if (s->plan == NULL || s->unwritten.n > 0)
		return false;
	if (p->tables == s->plan->tables)
		return true;
	if (p->delta_base != s->plan->number)
		return false;
	for (size_t i = 0; i < p->delta.n; i++)
		fm_bit_set(s->visit,
		    visit_bit(s, p->delta.item[i].sw, p->delta.item[i].lid / LFT_BLOCK_LIDS));
	return true;
}

/* Of switches whose rows are known those that differ and those in doubt, of the others
 * all.  Cost: the difference, and O(switches); without a delta O(blocks). */
static bool
list_visits(struct sweeper *s)
{
	uint32_t n = n_blocks(s->next), n_known = s->plan != NULL ? n_blocks(s->plan) : 0;
	size_t n_bits = (size_t)n * s->inv.switches.n;
	bool delta;

	s->visit = calloc(FM_BITSET_WORDS(n_bits) + 1, sizeof(*s->visit));
	if (s->visit == NULL)
		return false;
	delta = visit_delta(s);
	for (fm_sw sw = 0; sw < s->inv.switches.n; sw++) {
		const struct inv_node *node = inv_node(&s->inv, s->inv.switches.item[sw]);

		want_visits(s, sw, delta && node->lft == LFT_OURS ? n_known : 0, n);
		FM_EACH_BIT (block, node->lft_doubt, n)
			fm_bit_set(s->visit, visit_bit(s, sw, (uint32_t)block));
	}
	return true;
}

static bool
feed_visits(struct sweeper *s)
{
	uint32_t n_sw = (uint32_t)s->inv.switches.n;
	size_t n_bits = (size_t)n_blocks(s->next) * n_sw;

	if (s->visit == NULL && !list_visits(s)) {
		sweep_fail(s, FM_E_RESOURCE, "out of memory for the blocks of tables");
		return false;
	}
	while (s->next_visit < n_bits && s->pending < FEED_STRIPED(s)) {
		size_t at = fm_bit_next(s->visit, n_bits, s->next_visit);

		s->next_visit = at + 1;
		if (at < n_bits)
			visit_block(s, s->inv.switches.item[at % n_sw], (uint32_t)(at / n_sw));
	}
	return s->next_visit < n_bits || s->pending > 0;
}

static void
end_visits(struct sweeper *s)
{
	free(s->visit);
	s->visit = NULL;
	s->next_visit = 0;
}

/* ------------------------------------------------------------------ sending */

/* When the packets of the tables that have been written over are gone.  Where writing
 * was broken off the first stage of the next plan is written so that only those of the
 * plan before matter (ladder.h). */
static int64_t
wait_until(struct sweeper *s, int64_t now_ns)
{
	const struct transition_counts *c = transition_counts(s->transition);
	int64_t until_ns = now_ns + s->set.packet_life_ms * 1000000, older_ns = s->older_until_ns;

	s->older_until_ns = 0;
	s->older_next_ns = c->writes > 0 || older_ns == 0 ? until_ns : older_ns;
	return older_ns != 0 && c->drained == 0 ? older_ns : until_ns;
}

/* A packet's life time, begun with the first call. */
static bool
is_over(struct sweeper *s)
{
	int64_t now_ns = s->p.transport->ops->now_ns(s->p.transport);

	if (s->set.dry_run)
		return true;
	if (s->apply_wait_ns == 0)
		s->apply_wait_ns = wait_until(s, now_ns);
	if (now_ns < s->apply_wait_ns)
		return false;
	s->apply_wait_ns = 0;
	return true;
}

/* Nothing is on its way, and what each switch holds is known: something else that has
 * changed need not wait for the rest.  Not for ever: what waits has to be written, too. */
static bool
may_break_off(const struct sweeper *s)
{
	return s->wanted >= SWEEP_NAMED && !s->set.dry_run && s->n_broken_off < BREAKS_MAX &&
	    s->plan != NULL && s->plan->tables != NULL && ladder_may_break(s->plan, s->next);
}

/* True: there is more to come, or to wait for. */
static bool
feed_writes(struct sweeper *s)
{
	struct transition_block b;

	while (s->pending < FEED_STRIPED(s) && !s->failed)
		switch (transition_next(s->transition, &b)) {
		case TRANSITION_SEND:
			write_block(s, s->inv.switches.item[b.sw], b.block, b.bytes);
			break;
		case TRANSITION_BUSY:
			return true;
		case TRANSITION_COLD:
			if (!s->set.dry_run && !s->apply_again) {
				s->apply_later = true;
				return false;
			}
			transition_warm(s->transition);
			break;
		case TRANSITION_WAIT:
			if (!is_over(s)) {
				s->broken_off = may_break_off(s);
				return !s->broken_off;
			}
			transition_waited(s->transition);
			break;
		case TRANSITION_DONE:
			return false;
		}
	return !s->failed;
}

bool
apply_feed(struct sweeper *s)
{
	if (s->apply_stage == STAGE_READ) {
		if (feed_visits(s))
			return true;
		end_visits(s);
		s->apply_stage = STAGE_PLAN;
	}
	if (s->apply_stage == STAGE_PLAN) {
		apply_order(s);
		s->apply_stage = STAGE_WRITE;
	}
	if (s->apply_stage == STAGE_WRITE && s->transition != NULL && !s->failed && feed_writes(s))
		return true;
	s->apply_stage = STAGE_OVER;
	return false;
}

void
apply_start(struct sweeper *s)
{
	s->apply_fresh = true;
	for (size_t i = 0; i < s->inv.switches.n; i++) {
		const struct inv_node *n = inv_node(&s->inv, s->inv.switches.item[i]);

		s->apply_fresh = s->apply_fresh && (!node_usable(n) || n->lft == LFT_BLANK);
	}
	transition_free(s->transition);
	s->transition = NULL;
	s->apply_later = s->apply_again = false;
	s->apply_wait_ns = 0;
	s->broken_off = false;
	end_visits(s);
	s->apply_stage = STAGE_READ;
}

bool
apply_again(struct sweeper *s)
{
	if (!s->apply_later || s->transition == NULL)
		return false;
	s->apply_later = false;
	s->apply_again = true;
	s->apply_stage = STAGE_WRITE;
	return true;
}

/* --------------------------------------------------------------- afterwards */

static bool
keep_unwritten(struct sweeper *s, fm_sw sw, uint32_t block, const uint8_t *bytes)
{
	struct plan_held h = { .sw = sw, .block = block };

	memcpy(h.bytes, bytes, sizeof(h.bytes));
	return fm_vec_push(&s->unwritten, h);
}

/* Blocks that are not what the plan says: what they may be instead. */
static bool
remember(struct sweeper *s, const struct transition *t)
{
	s->held.n = 0;
	for (uint32_t i = 0; i < transition_n_blocks(t); i++) {
		struct held_block h = { 0 };
		fm_sw sw;

		transition_name(t, i, &sw, &h.block);
		if (transition_is_new(t, sw, h.block))
			continue;
		h.slot = s->inv.switches.item[sw];
		h.n = (uint8_t)transition_may_hold(t, sw, h.block, h.bytes);
		if (s->broken_off && transition_is_pending(t, sw, h.block)) {
			if (!keep_unwritten(s, sw, h.block, h.bytes[0]))
				return false;
			continue;
		}
		fm_bit_set(inv_node(&s->inv, h.slot)->lft_doubt, h.block);
		if (!fm_vec_push(&s->held, h))
			return false;
	}
	return true;
}

static void
tell(struct sweeper *s, const struct transition_counts *c)
{
	s->report.order = *c;
	if (s->broken_off)
		log_notice("sweep",
		    "%zu blocks of forwarding tables that wait for older packets to be gone are "
		    "put off: %s",
		    s->unwritten.n, s->wanted_reason);
	else if (c->held > 0)
		log_warn("sweep",
		    "%" PRIu32 " blocks of forwarding tables are not written yet: switches that "
		    "did not answer hold what they rest on, or should hold them",
		    c->held);
}

void
apply_commit(struct sweeper *s)
{
	struct transition *t = s->transition;
	FM_VEC(struct plan_held) before; /* t knows blocks of it */

	memcpy(&before, &s->unwritten, sizeof(before));
	memset(&s->unwritten, 0, sizeof(s->unwritten));
	s->transition = NULL;
	s->apply_later = false;
	s->n_broken_off = s->broken_off ? s->n_broken_off + 1 : 0;
	s->older_until_ns = s->broken_off ? s->older_next_ns : 0;
	s->apply_wait_ns = 0;
	if (t != NULL && !s->set.dry_run && !remember(s, t))
		sweep_fail(s, FM_E_RESOURCE, "out of memory for what switches may hold");
	if (t != NULL)
		tell(s, transition_counts(t));
	transition_free(t);
	fm_vec_fini(&before);
}
