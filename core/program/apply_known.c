/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What switches hold, as far as is known: what the plan written last says, but for blocks in
 * doubt, blocks of which writing was broken off, and those that may hold one of two things.
 */
#include <stdlib.h>

#include "core/program/apply_internal.h"
#include "lib/bitset.h"

struct transition *
apply_transition(struct sweeper *s)
{
	const struct plan *p = s->next;

	if (s->writing.transition != NULL)
		return s->writing.transition;
	s->writing.transition =
	    transition_new(s->writing.wire != NULL ? &s->writing.wire->fab : fabric_of(p),
		&p->tables->t, p->top_lid, p->rules);
	if (s->writing.transition == NULL)
		sweep_fail(s, FM_E_RESOURCE, "out of memory for the order of tables");
	else if (s->set.careless)
		transition_unordered(s->writing.transition);
	return s->writing.transition;
}

void
apply_note_older(struct sweeper *s)
{
	int64_t gone_ns = s->p.transport->ops->now_ns(s->p.transport) +
	    s->set.transition.packet_life_ms * 1000000;

	if (s->writing.older_until_ns < gone_ns)
		s->writing.older_until_ns = gone_ns;
	s->writing.flight = 0;
}

static struct held_block *
held_at(const struct sweeper *s, uint32_t slot, uint32_t block)
{
	for (size_t i = 0; i < s->writing.held.n; i++)
		if (s->writing.held.item[i].slot == slot && s->writing.held.item[i].block == block)
			return &s->writing.held.item[i];
	return NULL;
}

void
apply_forget_held(struct sweeper *s, uint32_t slot, uint32_t block)
{
	struct held_block *h = held_at(s, slot, block);

	if (h != NULL)
		*h = s->writing.held.item[--s->writing.held.n];
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
	const struct plan_installed *a = x, *b = y;

	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	return a->sw < b->sw ? -1 : a->sw > b->sw;
}

/* What a block holds of which writing was broken off, or NULL. */
static const uint8_t *
unwritten_block(const struct sweeper *s, fm_sw sw, uint32_t block)
{
	struct plan_installed key = { .sw = sw, .block = block };
	const struct plan_installed *h = s->writing.unwritten.n == 0
	    ? NULL
	    : bsearch(&key, s->writing.unwritten.item, s->writing.unwritten.n, sizeof(key),
		  by_block_then_switch);

	return h != NULL ? h->bytes : NULL;
}

const uint8_t *
apply_known_block(const struct sweeper *s, const struct inv_node *n, uint32_t block)
{
	const uint8_t *bytes;

	if (n->lft != LFT_OURS || fm_bit_test(n->lft_doubt, block) || !has_old_row(s, n, block))
		return NULL;
	bytes = unwritten_block(s, n->sw_index, block);
	return bytes != NULL ? bytes : lft_block(s->plan, n->sw_index, block);
}

/* While blocks are gathered, what will be written may not be known yet.  Later all that
 * differs is in the transition; but for what could not be read, which is in doubt. */
bool
apply_is_settled(const struct sweeper *s, const struct inv_node *n, uint16_t lid)
{
	uint32_t block = lid / LFT_BLOCK_LIDS, lane = lid % LFT_BLOCK_LIDS;
	const uint8_t *known;

	if (s->writing.transition != NULL &&
	    transition_has(s->writing.transition, n->sw_index, block))
		return transition_settled(s->writing.transition, n->sw_index, lid);
	if (s->writing.settled != NULL &&
	    fm_bit_test(s->writing.settled, visit_bit(s, n->sw_index, block)))
		return true;
	if (n->lft != LFT_OURS || fm_bit_test(n->lft_doubt, block))
		return false;
	known = s->writing.stage < STAGE_WRITE ? apply_known_block(s, n, block)
					       : lft_block(s->next, n->sw_index, block);
	return known != NULL && known[lane] == lft_block(s->next, n->sw_index, block)[lane];
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
	if (h != NULL && h->n == 0)
		ok = transition_unknown(t, n->sw_index, block);
	else if (h != NULL)
		ok = transition_fix(t, n->sw_index, block, transition_copy(t, h->bytes[0]),
		    transition_copy(t, h->bytes[h->n - 1]));
	else if (unwritten_block(s, n->sw_index, block) != NULL)
		ok = transition_fix(
		    t, n->sw_index, block, unwritten_block(s, n->sw_index, block), NULL);
	else if (has_old_row(s, n, block))
		ok = transition_fix(
		    t, n->sw_index, block, lft_block(s->plan, n->sw_index, block), NULL);
	else
		ok = transition_unknown(t, n->sw_index, block);
	if (!ok)
		sweep_fail(s, FM_E_RESOURCE, "out of memory for the order of tables");
}

/* ------------------------------------------------------------ for who answers */

/* Into to, if that is not NULL, as if nothing were known of them; how many. */
static size_t
list_in_doubt(const struct sweeper *s, struct plan_installed *to)
{
	size_t n = 0;

	for (size_t i = 0; i < s->inv.switches.n; i++) {
		const struct inv_node *node = inv_node(&s->inv, s->inv.switches.item[i]);

		FM_EACH_BIT (block, node->lft_doubt, n_blocks(s->plan)) {
			if (!has_old_row(s, node, (uint32_t)block))
				continue;
			if (to != NULL) {
				to[n].sw = node->sw_index;
				to[n].block = (uint32_t)block;
				memset(to[n].bytes, FM_PORT_NONE, sizeof(to[n].bytes));
			}
			n++;
		}
	}
	return n;
}

bool
sweeper_installed(const struct sweeper *s, struct plan_installed **out, size_t *n)
{
	*n = s->plan != NULL && s->plan->tables != NULL ? list_in_doubt(s, NULL) : 0;
	*out = *n > 0 ? calloc(*n, sizeof(**out)) : NULL;
	if (*n == 0 || *out == NULL)
		return *n == 0;
	(void)list_in_doubt(s, *out);
	qsort(*out, *n, sizeof(**out), by_block_then_switch);
	for (size_t i = 0; i < s->writing.held.n; i++) {
		const struct held_block *h = &s->writing.held.item[i];
		struct plan_installed key = { .sw = inv_node(&s->inv, h->slot)->sw_index,
			.block = h->block };
		struct plan_installed *at =
		    bsearch(&key, *out, *n, sizeof(key), by_block_then_switch);

		if (at != NULL && h->n > 0)
			memcpy(at->bytes, h->bytes[0], sizeof(at->bytes));
	}
	return true;
}

/* --------------------------------------------------------------- afterwards */

static bool
keep_unwritten(struct sweeper *s, fm_sw sw, uint32_t block, const uint8_t *bytes)
{
	struct plan_installed h = { .sw = sw, .block = block };

	memcpy(h.bytes, bytes, sizeof(h.bytes));
	return fm_vec_push(&s->writing.unwritten, h);
}

bool
apply_remember(struct sweeper *s, const struct transition *t)
{
	s->writing.held.n = 0;
	for (uint32_t i = 0; i < transition_n_blocks(t); i++) {
		struct held_block h = { 0 };
		fm_sw sw;

		transition_name(t, i, &sw, &h.block);
		if (transition_is_new(t, sw, h.block))
			continue;
		h.slot = s->inv.switches.item[sw];
		if (!transition_is_unknown(t, sw, h.block))
			h.n = (uint8_t)transition_may_hold(t, sw, h.block, h.bytes);
		if ((sweeper_breaks_off(s) || s->writing.ends == WRITES_HOLD) &&
		    transition_is_pending(t, sw, h.block)) {
			if (!keep_unwritten(s, sw, h.block, h.bytes[0]))
				return false;
			continue;
		}
		fm_bit_set(inv_node(&s->inv, h.slot)->lft_doubt, h.block);
		if (!fm_vec_push(&s->writing.held, h))
			return false;
	}
	return true;
}

bool
apply_sort_held(struct sweeper *s)
{
	size_t n = s->writing.held.n, n_unwritten = s->writing.unwritten.n;
	bool ok = true;

	s->writing.held.n = 0;
	for (size_t i = 0; i < n; i++) {
		struct held_block h = s->writing.held.item[i]; /* its place is free by now */
		const struct inv_node *node = inv_node(&s->inv, h.slot);

		if (!node_usable(node) || node->lft == LFT_BLANK || h.n != 1 ||
		    !has_old_row(s, node, h.block))
			s->writing.held.item[s->writing.held.n++] = h;
		else if (ok &&
		    memcmp(h.bytes[0], lft_block(s->plan, node->sw_index, h.block),
			LFT_BLOCK_LIDS) != 0)
			ok = keep_unwritten(s, node->sw_index, h.block, h.bytes[0]);
	}
	if (s->writing.unwritten.n == n_unwritten)
		return ok;
	qsort(s->writing.unwritten.item, s->writing.unwritten.n, sizeof(*s->writing.unwritten.item),
	    by_block_then_switch);
	s->writing.flight = 0; /* columns are not the one plan's or the other's as a whole */
	return ok;
}

/* What became of a block of the transition. */
static bool
remember_half_way(struct sweeper *s, const struct transition *t, fm_sw sw, uint32_t block)
{
	struct held_block h = { .slot = s->inv.switches.item[sw], .block = block };
	struct inv_node *n = inv_node(&s->inv, h.slot);

	if (!transition_is_unknown(t, sw, block))
		h.n = (uint8_t)transition_may_hold(t, sw, block, h.bytes);
	fm_bit_set(n->lft_doubt, block);
	if (h.n != 1)
		return fm_vec_push(&s->writing.held, h);
	return !has_old_row(s, n, block) ||
	    memcmp(h.bytes[0], lft_block(s->plan, sw, block), LFT_BLOCK_LIDS) == 0 ||
	    keep_unwritten(s, sw, block, h.bytes[0]);
}

/* One that held what next says before anything was written: by a sweep that had failed. */
static bool
remember_found(struct sweeper *s, fm_sw sw, uint32_t block)
{
	const struct inv_node *n = inv_node(&s->inv, s->inv.switches.item[sw]);
	const uint8_t *bytes = lft_block(s->next, sw, block);

	return !fm_bit_test(s->writing.settled, visit_bit(s, sw, block)) ||
	    !has_old_row(s, n, block) ||
	    memcmp(bytes, lft_block(s->plan, sw, block), LFT_BLOCK_LIDS) == 0 ||
	    keep_unwritten(s, sw, block, bytes);
}

bool
apply_remember_strayed(struct sweeper *s, const struct transition *t)
{
	s->writing.held.n = 0;
	for (uint32_t block = 0; block < n_blocks(s->next); block++)
		for (fm_sw sw = 0; sw < s->inv.switches.n; sw++)
			if (transition_has(t, sw, block) ? !remember_half_way(s, t, sw, block)
							 : !remember_found(s, sw, block))
				return false;
	return true;
}
