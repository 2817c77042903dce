/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/program/mcast.c - multicast forwarding tables: read what switches hold, write
 * what differs, in the order that core/mcast/mcast_write.h gives.
 *
 *	in a sweep	after the links are active: new trees, switches that were reset,
 *			what was left undone
 *	by itself	between sweeps: members have come or gone
 *
 * Tables of switches that were not reset are read before the first group is laid
 * out, and not before: a fabric without multicast is asked nothing.  Trees belong to the
 * plan; the first group, and one of another SL, has them made by a sweep.
 */
#include <stdlib.h>

#include "core/mcast/mft_rows.h"
#include "core/program/internal.h"
#include "core/program/looks.h"
#include "lib/bitset.h"

#define TOP_STEP 64u /* MLIDs */

enum stage { STAGE_NOTHING, STAGE_READ, STAGE_WRITE };

struct sweep_mcast {
	struct mcast_net *net;
	struct mft *mft;
	enum stage stage;
	bool in_sweep;
	bool all;			  /* everything is to be compared */
	FM_VEC(uint32_t) reads;		  /* slots */
	uint32_t n_asked;		  /* blocks of reads[0], those before are done */
	uint64_t *can;			  /* [n_switch_slots] bits, while writing */
	FM_VEC(struct mft_block) changed; /* since rows were made; without ports */
	struct mft_rows *rows;		  /* what switches hold, for others; NULL: nothing yet */
	uint16_t top;			  /* MulticastFDBTop as switches have it, 0: not set yet */
	uint16_t making;		  /* SLs that the sweep under way makes trees for */
	char told[256];			  /* of the trees, said already */
};

struct sweep_mcast *
mcast_new(void)
{
	struct sweep_mcast *mc = calloc(1, sizeof(*mc));

	if (mc == NULL)
		return NULL;
	mc->net = mcast_net_new();
	mc->mft = mft_new();
	if (mc->net != NULL && mc->mft != NULL)
		return mc;
	mcast_free(mc);
	return NULL;
}

void
mcast_free(struct sweep_mcast *mc)
{
	if (mc == NULL)
		return;
	mcast_net_free(mc->net);
	mft_free(mc->mft);
	mft_rows_put(mc->rows);
	fm_vec_fini(&mc->changed);
	fm_vec_fini(&mc->reads);
	free(mc->can);
	free(mc);
}

/* ---------------------------------------------------------- what switches hold */

static void
note_block(struct sweeper *s, const struct mft_block *b)
{
	if (!fm_vec_push(&s->mc->changed, *b))
		sweep_fail(s, FM_E_RESOURCE, "out of memory for multicast tables");
}

/* The switch holds nothing any more. */
static void
note_blank(struct sweeper *s, fm_sw sw)
{
	const struct mft_rows *r = s->mc->rows;
	const struct mft_row *row = r != NULL && sw < r->n_switches ? r->row[sw] : NULL;

	for (uint32_t i = 0; row != NULL && i < row->n; i++)
		note_block(s, &row->block[i]);
}

/* Rows with what has changed; out of memory: those of before stay, until the next time. */
static void
make_rows(struct sweep_mcast *mc)
{
	struct mft_block *list = mc->changed.item;
	struct mft_rows *fresh;
	size_t n = 0;

	if (mc->changed.n == 0)
		return;
	qsort(list, mc->changed.n, sizeof(*list), mft_block_order);
	for (size_t i = 0; i < mc->changed.n; i++)
		if (n == 0 || mft_block_order(&list[n - 1], &list[i]) != 0)
			list[n++] = list[i];
	mc->changed.n = n;
	for (size_t i = 0; i < n; i++)
		mft_held(mc->mft, &list[i]);
	fresh = mft_rows_update(mc->rows, list, n);
	if (fresh == NULL)
		return;
	mft_rows_put(mc->rows);
	mc->rows = fresh;
	fm_vec_fini(&mc->changed);
}

struct mft_rows *
sweeper_mfts(const struct sweeper *s)
{
	return s->mc->rows;
}

/* ------------------------------------------------------------------- members */

bool
mcast_lacks_trees(const struct sweeper *s)
{
	uint16_t sls = mcast_net_sls(s->mc->net);

	return sls != 0 && s->plan != NULL && s->plan->tables != NULL &&
	    (s->plan->mcast == NULL || (sls & ~s->plan->mcast->sls) != 0);
}

uint16_t
mcast_make_trees(struct sweeper *s)
{
	s->mc->making = mcast_net_sls(s->mc->net);
	return s->mc->making;
}

void
mcast_sweep_ended(struct sweeper *s)
{
	s->mc->making = 0;
}

bool
mcast_is_due(const struct sweeper *s)
{
	const struct mcast_spot *spot;

	return sweeper_was_up(s) && !s->set.dry_run && s->plan != NULL && s->plan->mcast != NULL &&
	    mcast_net_dirty(s->mc->net, &spot) > 0;
}

bool
sweeper_set_member(struct sweeper *s, uint16_t mlid, uint8_t sl, uint64_t guid, unsigned roles)
{
	bool ok = mcast_net_set(s->mc->net, mlid, sl, guid, roles);

	if (sweeper_was_up(s) && mcast_lacks_trees(s) &&
	    (mcast_net_sls(s->mc->net) & ~s->mc->making) != 0)
		sweeper_request(s, SWEEP_NAMED, "multicast trees");
	else if (sweeper_was_up(s) && s->mc->top != 0 && roles != MCAST_OUT && mlid > s->mc->top)
		sweeper_request(s, SWEEP_NAMED, "multicast tables grow");
	return ok;
}

const struct mcast_net *
sweeper_groups(const struct sweeper *s)
{
	return s->mc->net;
}

uint16_t
sweeper_last_mlid(const struct sweeper *s)
{
	uint32_t least = 0;

	for (size_t i = 0; i < s->inv.switches.n; i++) {
		const struct inv_node *n = inv_node(&s->inv, s->inv.switches.item[i]);

		if (node_usable(n) && (least == 0 || n->sw.mcast_fdb_cap < least))
			least = n->sw.mcast_fdb_cap;
	}
	if (least > MCAST_N_MLIDS)
		least = MCAST_N_MLIDS;
	return least == 0 ? 0 : (uint16_t)(MCAST_MLID_FIRST + least - 1);
}

/* Some blocks to spare, so that few joins have to raise it; it never falls. */
uint16_t
mcast_top_mlid(struct sweeper *s)
{
	uint32_t top = mcast_net_top(s->mc->net), last = sweeper_last_mlid(s);

	if (top == 0)
		return s->mc->top;
	top = (top | (TOP_STEP - 1)) + TOP_STEP;
	top = top > last ? last : top;
	if (top > s->mc->top)
		s->mc->top = (uint16_t)top;
	return s->mc->top;
}

/* -------------------------------------------------------------------- reading */

/* MulticastFDBTop is 0 where the switch has none, 0xBFFF where nothing is valid. */
static uint32_t
n_blocks(const struct inv_node *n)
{
	uint32_t cap = n->sw.mcast_fdb_cap, top = n->sw.mcast_fdb_top;

	if (top >= MCAST_MLID_FIRST - 1 && top - MCAST_MLID_FIRST + 1 < cap)
		cap = top - MCAST_MLID_FIRST + 1;
	return (cap + MCAST_BLOCK_MLIDS - 1) / MCAST_BLOCK_MLIDS;
}

static uint32_t
modifier_of(uint32_t block, uint32_t position)
{
	return position << 28 | block;
}

static void
get_block(const struct ask *a, const uint8_t *data, struct mft_block *b)
{
	*b = (struct mft_block){ .sw = inv_node(&a->s->inv, a->node)->sw_index,
		.block = a->modifier & 0x1ff,
		.position = a->modifier >> 28 };
	wire_mft_get(data, b->ports);
}

static void
on_read(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	static const uint16_t none[MCAST_BLOCK_MLIDS];
	struct sweeper *s = a->s;
	struct inv_node *n = inv_node(&s->inv, a->node);
	struct mft_block b;

	if (status != TXN_OK) {
		n->mft = MFT_UNKNOWN;
		return;
	}
	get_block(a, reply + WIRE_SMP_DATA_AT, &b);
	if (!mft_read(s->mc->mft, &b))
		sweep_fail(s, FM_E_RESOURCE, "out of memory for multicast tables");
	/* of tables of any size the few blocks that hold something */
	if (memcmp(b.ports, none, sizeof(none)) != 0 ||
	    mft_rows_find(s->mc->rows, b.sw, b.block, b.position) != NULL)
		note_block(s, &b);
}

/* True: there is more to ask. */
static bool
feed_reads(struct sweeper *s)
{
	struct sweep_mcast *mc = s->mc;

	while (mc->reads.n > 0 && s->run.pending < FEED_STRIPED(s) && !s->run.failed) {
		uint32_t slot = mc->reads.item[mc->reads.n - 1];
		const struct inv_node *n = inv_node(&s->inv, slot);
		uint32_t i = mc->n_asked++, n_pos = mft_n_positions(n->n_ports);
		struct ask *a;

		if (i >= n_blocks(n) * n_pos || n->quiet) {
			mc->reads.n--;
			mc->n_asked = 0;
			continue;
		}
		a = ask_new(s, slot, 0);
		if (a == NULL ||
		    !ask_get_at(a, WIRE_ATTR_MFT, modifier_of(i / n_pos, i % n_pos), on_read))
			inv_node(&s->inv, slot)->mft = MFT_UNKNOWN;
	}
	return mc->reads.n > 0 && !s->run.failed;
}

/* -------------------------------------------------------------------- writing */

static void
on_written(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct mft_block b;

	get_block(a, a->data, &b);
	if (status == TXN_OK) {
		mft_done(a->s->mc->mft, &b);
		note_block(a->s, &b);
	} else {
		mft_lost(a->s->mc->mft, &b);
	}
}

static void
write_block(struct sweeper *s, const struct mft_block *b)
{
	uint8_t data[WIRE_SMP_DATA_BYTES];
	struct ask *a = ask_new(s, s->inv.switches.item[b->sw], 0);

	wire_mft_put(data, b->ports);
	if (a == NULL ||
	    !ask_set_at(a, WIRE_ATTR_MFT, modifier_of(b->block, b->position), data, on_written))
		mft_lost(s->mc->mft, b);
}

/* True: there is more to come, or to wait for. */
static bool
feed_writes(struct sweeper *s)
{
	struct mft_block b;

	while (s->run.pending < FEED_STRIPED(s) && !s->run.failed)
		switch (mft_next(s->mc->mft, &b)) {
		case MFT_SEND:
			write_block(s, &b);
			break;
		case MFT_BUSY:
			return true;
		case MFT_OVER:
			return false;
		}
	return !s->run.failed;
}

static bool
begin_writes(struct sweeper *s)
{
	struct sweep_mcast *mc = s->mc;
	size_t n = s->inv.switches.n;

	free(mc->can);
	mc->can = calloc(FM_BITSET_WORDS(n) + 1, sizeof(*mc->can));
	if (mc->can == NULL)
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct inv_node *node = inv_node(&s->inv, s->inv.switches.item[i]);

		if (node_usable(node) && !node->quiet && node->mft == MFT_KNOWN)
			fm_bit_set(mc->can, i);
	}
	mft_use_wire(mc->mft, s->writing.wire);
	if (!mft_begin(mc->mft, mc->net, mc->can, mc->all))
		return false;
	mc->all = false;
	mcast_net_clear(mc->net);
	return true;
}

static bool
feed(struct sweeper *s)
{
	struct sweep_mcast *mc = s->mc;

	if (mc->stage == STAGE_READ) {
		if (feed_reads(s) || s->run.pending > 0)
			return true;
		mc->stage = STAGE_WRITE;
		if (!begin_writes(s)) {
			mc->stage = STAGE_NOTHING;
			sweep_fail(s, FM_E_RESOURCE, "out of memory for multicast tables");
		}
	}
	return mc->stage == STAGE_WRITE && feed_writes(s);
}

/* ------------------------------------------------------------------- the phase */

/* What the trees promise is said once. */
static void
log_trees(struct sweep_mcast *mc, const struct mcast_trees *t)
{
	bool is_new = strcmp(mc->told, t->told) != 0;

	memcpy(mc->told, t->told, sizeof(mc->told));
	if (is_new && (t->sls & ~t->safe_sls) != 0)
		log_warn("sweep",
		    "multicast may deadlock with unicast, on the service levels of groups (mask "
		    "0x%x): %s",
		    t->sls, t->told);
}

static void
look_at_switches(struct sweeper *s)
{
	struct sweep_mcast *mc = s->mc;

	mc->reads.n = mc->n_asked = 0;
	for (uint32_t i = 0; i < s->inv.switches.n; i++) {
		struct inv_node *n = inv_node(&s->inv, s->inv.switches.item[i]);

		if (n->mft == MFT_EMPTY && mft_blank(mc->mft, i)) {
			note_blank(s, i);
			n->mft = MFT_KNOWN;
			mc->all = true;
		}
		if (n->mft != MFT_UNKNOWN || !node_usable(n) || n->quiet)
			continue;
		n->mft = MFT_KNOWN; /* unless a block of it cannot be read */
		mc->all = true;
		if (!fm_vec_push(&mc->reads, s->inv.switches.item[i]))
			sweep_fail(s, FM_E_RESOURCE, "out of memory for multicast tables");
	}
}

bool
mcast_is_due_at(const struct sweeper *s, const struct inv_node *n)
{
	return s->plan != NULL && s->plan->mcast != NULL && n->mft != MFT_KNOWN;
}

void
mcast_start(struct sweeper *s, bool in_sweep)
{
	struct sweep_mcast *mc = s->mc;

	mc->in_sweep = in_sweep;
	mc->stage = STAGE_NOTHING;
	if (s->set.dry_run || s->plan == NULL || s->plan->mcast == NULL || s->run.failed)
		return;
	if (mcast_net_trees(mc->net) != s->plan->mcast) {
		if (!mcast_net_use(mc->net, s->plan->mcast))
			sweep_fail(s, FM_E_RESOURCE, "out of memory for multicast groups");
		mc->all = true;
		log_trees(mc, s->plan->mcast);
	}
	if (in_sweep) {
		mc->all = mc->all || mft_in_doubt(mc->mft);
		look_at_switches(s);
	}
	mc->stage = STAGE_READ;
	s->run.feed = feed;
}

bool
mcast_finish(struct sweeper *s)
{
	struct sweep_mcast *mc = s->mc;

	if (mc->stage == STAGE_WRITE && mft_counts(mc->mft)->held > 0)
		log_warn("sweep",
		    "%u multicast groups are not on their new tree yet: switches that do not "
		    "answer may hold what closes a circle with it",
		    mft_counts(mc->mft)->held);
	mc->stage = STAGE_NOTHING;
	make_rows(mc);
	return mc->in_sweep;
}

/* -------------------------------------------------------------- reading back */

/* Of what was not taken it is not known what the switch holds. */
uint32_t
mcast_n_looks(const struct sweeper *s, uint32_t slot)
{
	const struct inv_node *n = inv_node(&s->inv, slot);

	if (!inv_is_switch(n) || n->mft != MFT_KNOWN || s->plan->mcast == NULL ||
	    n->sw_index >= s->inv.switches.n || mft_in_doubt(s->mc->mft))
		return 0;
	return n_blocks(n) * mft_n_positions(n->n_ports);
}

bool
mcast_look(const struct sweeper *s, uint32_t slot, uint32_t i, struct look *out)
{
	const struct inv_node *n = inv_node(&s->inv, slot);
	uint32_t n_pos = mft_n_positions(n->n_ports);
	struct mft_block b = { .sw = n->sw_index, .block = i / n_pos, .position = i % n_pos };

	*out = (struct look){ .attr = WIRE_ATTR_MFT,
		.modifier = modifier_of(b.block, b.position),
		.n_bytes = WIRE_SMP_DATA_BYTES };
	mft_held(s->mc->mft, &b);
	wire_mft_put(out->bytes, b.ports);
	return true;
}

void
mcast_forget(struct sweeper *s, uint32_t slot, uint32_t i)
{
	(void)i;
	inv_node(&s->inv, slot)->mft = MFT_UNKNOWN;
}
