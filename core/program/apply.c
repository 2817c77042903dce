/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/program/apply.c - linear forwarding tables: what has to be written, and in
 * which order.
 *
 * By difference, in blocks of 64 LIDs, striped over the switches (block by block,
 * switch by switch).  What a block holds is known when the plan written last is;
 * in doubt (a Set unanswered, a switch that we have not written yet) it is read
 * first, and written only if it differs: a restarted fmd rewrites nothing.
 *
 *	read	blocks in doubt; all that differ go into a transition
 *	write	as the transition says (core/transition/transition.h)
 *	later	what leads over links that are not active yet, when they are
 *
 * A fabric of which no switch holds anything is written without an order.  What writing waits for
 * between two stages is in apply_wait.c.
 *
 * Where a sweep fails on the way the plan before stays, for hosts know no other SLs than its
 * own, and what the switches hold beside it is remembered: the next sweep's plan starts there.
 *
 * A switch that does not answer keeps forwarding.  What it may hold is remembered
 * (s->writing.held) until it has been read again, and packets that it sends on count in
 * the order of all others.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "core/program/apply_internal.h"
#include "lib/bitset.h"

static void
add_block(struct sweeper *s, fm_sw sw, uint32_t block, const uint8_t *was)
{
	struct transition *t = apply_transition(s);

	if (t != NULL && !transition_add(t, sw, block, was))
		sweep_fail(s, FM_E_RESOURCE, "out of memory for the order of tables");
}

/* ----------------------------------------------------------------- reading */

static void
warn_lft(struct sweeper *s, const struct ask *a, enum txn_status status, const char *method)
{
	char name[128];

	fm_log_rl(&s->logs.refused, ask_loudness(status), "sweep",
	    "%s %s a %s of its forwarding table",
	    inv_name(inv_node(&s->inv, a->node), name, sizeof(name)),
	    status == TXN_TIMEOUT ? "does not answer" : "refuses", method);
}

void
apply_note_from(struct sweeper *s, struct plan *p)
{
	plan_put(s->writing.from);
	s->writing.from = p != NULL ? plan_get(p) : NULL;
}

/* Do packets pass from the switch to another, before links are made active? */
static bool
forwards(const struct sweeper *s, const struct inv_node *n)
{
	for (unsigned p = 1; p <= n->n_ports; p++)
		if (link_usable(&s->inv, &n->ports[p]) &&
		    inv_is_switch(inv_node(&s->inv, n->ports[p].peer)) &&
		    n->ports[p].info.port_state == WIRE_PORT_ACTIVE)
			return true;
	return false;
}

/* Does a switch hold an entry of somebody's LID that is neither next's nor that of the plan that
 * next was ordered from? */
static bool
is_foreign(const struct sweeper *s, fm_sw sw, uint32_t block, const uint8_t *bytes)
{
	const struct fm_fabric *fab = fabric_of(s->next);
	const uint8_t *next = lft_block(s->next, sw, block), *from = NULL;

	if (s->writing.from != NULL && sw < fabric_of(s->writing.from)->n_switches &&
	    block < n_blocks(s->writing.from))
		from = lft_block(s->writing.from, sw, block);
	for (uint32_t i = 0; i < LFT_BLOCK_LIDS && block * LFT_BLOCK_LIDS + i <= fab->max_lid; i++)
		if (fab->lid_end[block * LFT_BLOCK_LIDS + i] != FM_NONE &&
		    bytes[i] != FM_PORT_NONE && bytes[i] != next[i] &&
		    (from == NULL || bytes[i] != from[i]))
			return true;
	return false;
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
			warn_lft(s, a, status, "Get");
		apply_fix_block(s, a->node, a->index);
		return;
	}
	apply_forget_held(s, a->node, a->index);
	if (memcmp(bytes, lft_block(s->next, n->sw_index, a->index), LFT_BLOCK_LIDS) == 0) {
		fm_bit_clear(n->lft_doubt, a->index);
		fm_bit_set(s->writing.settled, visit_bit(s, n->sw_index, a->index));
		if (!empties_whole_columns(s))
			return;
	}
	if (n->lft == LFT_FOREIGN && !s->set.dry_run && forwards(s, n) &&
	    is_foreign(s, n->sw_index, a->index, bytes))
		s->writing.ends = WRITES_FOUND;
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
	struct transition *t = s->writing.transition;

	s->writing.wrote_ns = s->p.transport->ops->now_ns(s->p.transport);
	if (status == TXN_OK) {
		if (t != NULL)
			transition_done(t, n->sw_index, a->index);
		if (t == NULL || transition_is_new(t, n->sw_index, a->index)) {
			fm_bit_clear(n->lft_doubt, a->index);
			fm_bit_set(s->writing.settled, visit_bit(s, n->sw_index, a->index));
		}
		return;
	}
	if (t != NULL)
		transition_lost(t, n->sw_index, a->index);
	if (t != NULL && status == TXN_TIMEOUT)
		transition_quarantine(t, n->sw_index);
	if (status != TXN_CANCELLED)
		warn_lft(s, a, status, "Set");
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
	if (!s->set.dry_run)
		fm_bit_set(inv_node(&s->inv, slot)->lft_doubt, block);
	sent = ask_set_at(a, WIRE_ATTR_LFT, block, bytes, on_written);
	if (s->writing.transition == NULL)
		return;
	if (s->set.dry_run) {
		transition_done(s->writing.transition, sw, block);
	} else if (!sent) {
		transition_lost(s->writing.transition, sw, block);
		transition_quarantine(s->writing.transition, sw);
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
	if (n->lft == LFT_BLANK && s->writing.fresh) {
		write_block(s, slot, block, lft_block(s->next, n->sw_index, block));
		return;
	}
	known = apply_known_block(s, n, block);
	if (n->lft == LFT_BLANK || known != NULL)
		add_block(s, n->sw_index, block, known);
	else
		read_block(s, slot, block);
}

static void
want_visits(struct sweeper *s, fm_sw sw, uint32_t first, uint32_t end)
{
	for (uint32_t block = first; block < end; block++)
		fm_bit_set(s->writing.visit, visit_bit(s, sw, block));
}

/* The blocks in which next differs from the plan before.  False: that is not known. */
static bool
visit_delta(struct sweeper *s)
{
	const struct plan *p = s->next;

	if (s->plan == NULL || s->writing.unwritten.n > 0 || empties_whole_columns(s))
		return false;
	if (p->tables == s->plan->tables)
		return true;
	if (p->delta_base != s->plan->number)
		return false;
	for (size_t i = 0; i < p->delta.n; i++)
		fm_bit_set(s->writing.visit,
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

	s->writing.visit = calloc(FM_BITSET_WORDS(n_bits) + 1, sizeof(*s->writing.visit));
	s->writing.settled = calloc(FM_BITSET_WORDS(n_bits) + 1, sizeof(*s->writing.settled));
	if (s->writing.visit == NULL || s->writing.settled == NULL)
		return false;
	delta = visit_delta(s);
	for (fm_sw sw = 0; sw < s->inv.switches.n; sw++) {
		const struct inv_node *node = inv_node(&s->inv, s->inv.switches.item[sw]);

		want_visits(s, sw, delta && node->lft == LFT_OURS ? n_known : 0, n);
		FM_EACH_BIT (block, node->lft_doubt, n)
			fm_bit_set(s->writing.visit, visit_bit(s, sw, (uint32_t)block));
	}
	return true;
}

static bool
visit_once(struct sweeper *s, fm_sw sw, uint32_t block)
{
	size_t at = visit_bit(s, sw, block);

	if (!fm_bit_test(s->writing.visit, at))
		return false;
	fm_bit_clear(s->writing.visit, at);
	visit_block(s, s->inv.switches.item[sw], block);
	return true;
}

static bool
feed_visits(struct sweeper *s)
{
	uint32_t n_sw = (uint32_t)s->inv.switches.n;
	size_t n_bits = (size_t)n_blocks(s->next) * n_sw;

	if (s->writing.visit == NULL) {
		if (!list_visits(s)) {
			sweep_fail(s, FM_E_RESOURCE, "out of memory for the blocks of tables");
			return false;
		}
		waves_start(s, visit_once);
	}
	if (waves_feed(s))
		return true;
	while (s->writing.next_visit < n_bits && s->run.pending < FEED_STRIPED(s)) {
		size_t at = fm_bit_next(s->writing.visit, n_bits, s->writing.next_visit);

		s->writing.next_visit = at + 1;
		if (at < n_bits)
			visit_block(s, s->inv.switches.item[at % n_sw], (uint32_t)(at / n_sw));
	}
	return s->writing.next_visit < n_bits || s->run.pending > 0;
}

static void
end_settled(struct sweeper *s)
{
	free(s->writing.settled);
	s->writing.settled = NULL;
}

static void
end_visits(struct sweeper *s)
{
	waves_end(s);
	free(s->writing.visit);
	s->writing.visit = NULL;
	s->writing.next_visit = 0;
}

/* ------------------------------------------------------------------ sending */

/* True: there is more to come, or to wait for. */
static bool
feed_writes(struct sweeper *s)
{
	struct transition_block b;

	while (s->run.pending < FEED_STRIPED(s) && !s->run.failed)
		switch (transition_next(s->writing.transition, &b)) {
		case TRANSITION_SEND:
			write_block(s, s->inv.switches.item[b.sw], b.block, b.bytes);
			break;
		case TRANSITION_BUSY:
			return true;
		case TRANSITION_COLD:
			if (!s->set.dry_run && s->writing.cold != COLD_WRITTEN) {
				s->writing.cold = COLD_WAIT;
				return false;
			}
			transition_warm(s->writing.transition);
			break;
		case TRANSITION_WAIT:
			if (!apply_hosts_are_told(s))
				return !s->run.failed;
			if (apply_ends_empty(s))
				return false;
			if (!apply_has_waited(s))
				return !sweeper_breaks_off(s);
			break;
		case TRANSITION_DONE:
			return false;
		}
	return !s->run.failed;
}

/* What the switches hold was not known when next was made: nothing is written before it has been
 * ordered from there, as where writing was broken off.  Who wrote it may have been at it. */
static void
put_off(struct sweeper *s)
{
	s->writing.ends = WRITES_PUT_OFF;
	apply_note_older(s);
	s->telling.untold_before_us =
	    s->telling.untold_before_us || s->next->tables->t.n_vls_used > 1;
	s->writing.stage = STAGE_OVER;
}

/* Entries are written, or links made active that groups in use were not proven with. */
static bool
has_other_groups(const struct sweeper *s)
{
	return s->writing.transition != NULL ||
	    (s->plan != NULL && s->plan->tables != s->next->tables);
}

bool
apply_feed(struct sweeper *s)
{
	if (s->writing.stage == STAGE_READ) {
		if (feed_visits(s))
			return true;
		end_visits(s);
		s->writing.stage = STAGE_PLAN;
	}
	if (s->writing.stage == STAGE_PLAN) {
		apply_order(s);
		s->ways.epoch++; /* what held by now may be about to change */
		if (sweeper_has_found(s) && !s->run.failed) {
			put_off(s);
			return false;
		}
		if (apply_holds(s))
			repath_keep(s, true);
		s->writing.stage = STAGE_STATIC;
	}
	if (s->writing.stage == STAGE_STATIC) {
		if (has_other_groups(s) && !s->run.failed && ar_turn_off(s))
			return true;
		if (ar_was_on(s))
			apply_note_older(s);
		if (has_other_groups(s) && !s->run.failed && apply_awaits_static(s))
			return false;
		s->writing.stage = STAGE_WRITE;
	}
	if (s->writing.stage == STAGE_WRITE && !apply_may_write(s))
		return !s->run.failed;
	if (s->writing.stage == STAGE_WRITE && s->writing.transition != NULL && !s->run.failed &&
	    feed_writes(s))
		return true;
	s->writing.stage = STAGE_MAPS;
	if (!sweeper_breaks_off(s) && !apply_may_map(s))
		return !s->run.failed;
	s->writing.stage = STAGE_OVER;
	return false;
}

bool
apply_is_due(const struct sweeper *s, const struct inv_node *n)
{
	bool due = n->lft != LFT_OURS || doubt_has_a_block(n);

	for (size_t i = 0; !due && i < s->writing.unwritten.n; i++)
		due = s->writing.unwritten.item[i].sw == n->sw_index;
	return due;
}

void
apply_start(struct sweeper *s)
{
	s->writing.fresh = true;
	for (size_t i = 0; i < s->inv.switches.n; i++) {
		const struct inv_node *n = inv_node(&s->inv, s->inv.switches.item[i]);

		s->writing.fresh = s->writing.fresh && (!node_usable(n) || n->lft == LFT_BLANK);
	}
	transition_free(s->writing.transition);
	s->writing.transition = NULL;
	s->writing.ends = WRITES_ALL;
	s->writing.cold = COLD_NONE;
	s->writing.wait_ns = s->writing.wrote_ns = 0;
	s->telling.told = s->writing.older_gone = false;
	s->telling.next = 0;
	end_visits(s);
	end_settled(s);
	repath_take_over(s);
	s->ways.epoch++;
	s->writing.stage = STAGE_READ;
}

bool
apply_again(struct sweeper *s)
{
	if (s->writing.cold != COLD_WAIT || s->writing.transition == NULL)
		return false;
	s->writing.cold = COLD_WRITTEN;
	s->writing.stage = STAGE_WRITE;
	return true;
}

void
apply_fini(struct sweeper *s)
{
	transition_free(s->writing.transition);
	apply_note_from(s, NULL);
	snapshot_put(s->writing.wire);
	fm_vec_fini(&s->writing.held);
	fm_vec_fini(&s->writing.silent);
	fm_vec_fini(&s->writing.unwritten);
	end_visits(s);
	end_settled(s);
}

bool
apply_is_unfinished(const struct sweeper *s)
{
	return s->writing.unwritten.n > 0;
}

/* --------------------------------------------------------------- afterwards */

static void
report_order(struct sweeper *s, const struct transition_counts *c)
{
	s->report.order = *c;
	if (sweeper_has_found(s))
		log_notice("sweep",
		    "%zu blocks of forwarding tables hold what another SM has written, or fmd "
		    "before "
		    "it was started: an order of writing is looked for from there",
		    s->writing.unwritten.n);
	else if (sweeper_breaks_off(s))
		log_info("sweep",
		    "%zu blocks of forwarding tables that wait for older packets to be gone are "
		    "put off: %s",
		    s->writing.unwritten.n, s->run.wanted_reason);
	else if (s->writing.ends == WRITES_HOLD)
		log_notice("sweep",
		    "%zu blocks of forwarding tables have empty entries until the hosts have been "
		    "told of other SLs",
		    s->writing.unwritten.n);
	else if (c->held > 0)
		log_warn("sweep",
		    "%" PRIu32 " blocks of forwarding tables are not written yet: switches that "
		    "did not answer hold what they rest on, or should hold them",
		    c->held);
}

/* Packets of what this sweep has written over are under way for a while.  half_way: that was no
 * plan's as a whole, but what writing had come to, back to the plan that was the oldest then. */
static void
make_older(struct sweeper *s, bool half_way)
{
	bool none = s->writing.wrote_ns > s->writing.older_until_ns; /* of others, by then */

	if (s->writing.wrote_ns == 0 || s->plan == NULL)
		return;
	if (none && !half_way)
		s->writing.flight = s->plan->number;
	if (s->writing.older_until_ns <
	    s->writing.wrote_ns + s->set.transition.packet_life_ms * 1000000)
		s->writing.older_until_ns =
		    s->writing.wrote_ns + s->set.transition.packet_life_ms * 1000000;
}

/* s->next is in the switches, but for what waits. */
static void
take_up(struct sweeper *s, const struct transition *t, bool half_way)
{
	if (!sweeper_breaks_off(s))
		s->writing.broken_off_ns = 0;
	else if (s->writing.broken_off_ns == 0)
		s->writing.broken_off_ns = s->p.transport->ops->now_ns(s->p.transport);
	s->telling.held_for_sls = s->writing.ends == WRITES_HOLD;
	s->telling.n_untold = s->writing.n_short = 0;
	make_older(s, half_way);
	if (t != NULL && !s->set.dry_run && !apply_remember(s, t))
		sweep_fail(s, FM_E_RESOURCE, "out of memory for what switches may hold");
	if (t != NULL)
		report_order(s, transition_counts(t));
}

/* The sweep has failed. */
static void
stray(struct sweeper *s, const struct transition *t)
{
	make_older(s, true);
	s->writing.flight = 0; /* some of them are of a plan that is not taken up */
	if (!apply_remember_strayed(s, t))
		log_err("sweep", "out of memory for what switches may hold");
	else if (s->writing.unwritten.n > 0)
		log_warn("sweep",
		    "%zu blocks of forwarding tables are left half-way by a sweep that has failed",
		    s->writing.unwritten.n);
}

/* What waits to be written is another now. */
static void
end_writing(struct sweeper *s, struct transition *t, bool ok)
{
	FM_VEC(struct plan_installed) before; /* t knows blocks of it */

	memcpy(&before, &s->writing.unwritten, sizeof(before));
	memset(&s->writing.unwritten, 0, sizeof(s->writing.unwritten));
	if (ok)
		take_up(s, t, before.n > 0);
	else
		stray(s, t);
	fm_vec_fini(&before);
}

bool
apply_commit(struct sweeper *s)
{
	bool ok = !s->run.failed || s->plan == NULL || s->plan->tables == NULL;
	struct transition *t = s->writing.transition;

	s->writing.transition = NULL;
	s->writing.cold = COLD_NONE;
	s->writing.wait_ns = 0;
	/* in a sweep that failed before anything was written all is as it was */
	if (ok || (t != NULL && s->writing.stage >= STAGE_WRITE && !s->set.dry_run))
		end_writing(s, t, ok);
	transition_free(t);
	end_settled(s);
	return ok;
}
