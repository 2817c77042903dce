/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The blocks of a transition and what the switches may hold by now.  A switch of which a block was
 * not added holds the wanted one.
 */
#include <stdlib.h>

#include "core/transition/transition_internal.h"

static const uint8_t empty_block[LANES] = { 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255 };

static bool
alloc_ports(struct transition *t)
{
	const struct fm_fabric *fab = t->fab;
	uint32_t n = fab->n_switches, n_ports = 0;

	t->port_first = fm_arena_array(&t->mem, (size_t)n + 1, uint32_t);
	if (t->port_first == NULL)
		return false;
	for (fm_sw sw = 0; sw < n; sw++) {
		t->port_first[sw] = n_ports;
		n_ports += fab->sw_n_ports[sw] + 1u;
	}
	t->port_first[n] = n_ports;
	t->next = fm_arena_array(&t->mem, (size_t)n_ports + 1, fm_sw);
	t->cold = fm_arena_array(&t->mem, FM_BITSET_WORDS(n_ports + 1u), uint64_t);
	t->shaky = fm_arena_array(&t->mem, FM_BITSET_WORDS(n_ports + 1u), uint64_t);
	if (t->next == NULL || t->cold == NULL || t->shaky == NULL)
		return false;
	memset(t->next, 0xff, n_ports * sizeof(*t->next));
	for (fm_sw sw = 0; sw < n; sw++)
		for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++)
			t->next[port_index(t, sw, fab->link_port[l])] = fab->link_to[l];
	return true;
}

static bool
alloc_rest(struct transition *t, const uint8_t *rules)
{
	size_t n = t->fab->n_switches;

	t->rule = fm_arena_array(&t->mem, (size_t)t->n_blocks * LANES, uint8_t);
	t->due = fm_arena_array(&t->mem, t->n_blocks, uint64_t);
	t->seen = fm_arena_array(&t->mem, n + 1, uint32_t);
	t->stack = fm_arena_array(&t->mem, n + 1, fm_sw);
	t->at = calloc(n * t->n_blocks + 1, sizeof(*t->at)); /* touched where it is used */
	if (t->rule == NULL || t->due == NULL || t->seen == NULL || t->stack == NULL ||
	    t->at == NULL)
		return false;
	for (uint32_t lid = 0; rules != NULL && lid <= t->top_lid; lid++) {
		uint8_t step = rules[lid] & TRANSITION_STEP;

		t->rule[lid] = rules[lid];
		t->has_rules = t->has_rules || rules[lid] != 0;
		t->has_drains = t->has_drains || (rules[lid] & TRANSITION_DRAIN) != 0;
		t->has_wholes = t->has_wholes ||
		    (rules[lid] & TRANSITION_DRAIN_COLUMN) == TRANSITION_DRAIN_COLUMN;
		t->last_step = step > t->last_step ? step : t->last_step;
	}
	return true;
}

struct transition *
transition_new(const struct fm_fabric *fab, const struct fm_tables *want, uint16_t top_lid,
    const uint8_t *rules)
{
	struct transition *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->fab = fab;
	t->want = want;
	t->top_lid = top_lid;
	t->n_blocks = top_lid / LANES + 1u;
	fm_arena_init(&t->mem, SIZE_MAX);
	if (!alloc_ports(t) || !alloc_rest(t, rules)) {
		transition_free(t);
		return NULL;
	}
	t->phase = t->has_drains ? PHASE_EMPTY : PHASE_STEPS;
	return t;
}

void
transition_free(struct transition *t)
{
	if (t == NULL)
		return;
	free(t->at);
	fm_vec_fini(&t->block);
	fm_vec_fini(&t->waiting);
	fm_arena_fini(&t->mem);
	free(t);
}

void
transition_link(struct transition *t, fm_sw sw, uint8_t port, fm_sw to)
{
	if (port > t->fab->sw_n_ports[sw])
		return;
	t->next[port_index(t, sw, port)] = to;
	fm_bit_set(t->shaky, port_index(t, sw, port));
	t->any_shaky = true;
}

void
transition_cold(struct transition *t, fm_sw sw, uint8_t port)
{
	fm_bit_set(t->cold, port_index(t, sw, port));
	t->any_cold = true;
}

uint8_t *
transition_copy(struct transition *t, const uint8_t *bytes)
{
	uint8_t *copy = fm_arena_array(&t->mem, LANES, uint8_t);

	if (copy != NULL)
		memcpy(copy, bytes, LANES);
	return copy;
}

static uint64_t
lanes_that_differ(const uint8_t *a, const uint8_t *b)
{
	uint64_t lanes = 0;

	for (unsigned i = 0; i < LANES; i++)
		lanes |= (uint64_t)(a[i] != b[i]) << i;
	return lanes;
}

/* Lanes without a next hop. */
static uint64_t
empty_lanes(const uint8_t *bytes)
{
	return ~lanes_that_differ(bytes, empty_block);
}

static struct tblock *
add_block(struct transition *t, fm_sw sw, uint32_t index, const uint8_t *was, const uint8_t *want)
{
	struct tblock b = { .sw = sw,
		.index = index,
		.was = was,
		.want = want,
		.emptied = empty_lanes(was),
		.to_empty = empty_lanes(want) };

	if (!fm_vec_push(&t->block, b))
		return NULL;
	t->at[(size_t)sw * t->n_blocks + index] = (uint32_t)t->block.n;
	return &t->block.item[t->block.n - 1];
}

/* Lanes that are drained with all their entries, though they may not change. */
static uint64_t
whole_lanes(const struct transition *t, fm_sw sw, uint32_t index, const uint8_t *was)
{
	uint64_t lanes = 0;

	for (unsigned i = 0; t->has_wholes && i < LANES; i++)
		if ((t->rule[index * LANES + i] & TRANSITION_DRAIN_COLUMN) ==
			TRANSITION_DRAIN_COLUMN &&
		    was[i] <= t->fab->sw_n_ports[sw] &&
		    t->next[port_index(t, sw, was[i])] != FM_NONE)
			lanes |= UINT64_C(1) << i;
	return lanes;
}

bool
transition_add(struct transition *t, fm_sw sw, uint32_t index, const uint8_t *was)
{
	const uint8_t *want = t->want->lft[sw] + (size_t)index * LANES;
	uint64_t lanes;
	struct tblock *b;

	if (was == NULL)
		was = empty_block;
	lanes = whole_lanes(t, sw, index, was);
	if (lanes == 0 && (was == want || memcmp(was, want, LANES) == 0))
		return true;
	b = add_block(t, sw, index, was, want);
	if (b == NULL)
		return false;
	b->changed = lanes_that_differ(was, want) | lanes;
	t->counts.blocks++;
	return true;
}

/* Does the block differ from the wanted one, or have entries that are to be empty for a while? */
static bool
is_behind(const struct transition *t, fm_sw sw, uint32_t index, const uint8_t *bytes)
{
	return memcmp(bytes, t->want->lft[sw] + (size_t)index * LANES, LANES) != 0 ||
	    whole_lanes(t, sw, index, bytes) != 0;
}

static bool
has_links(const struct fm_fabric *fab, fm_sw sw)
{
	return fab->sw_first_link[sw] < fab->sw_first_link[sw + 1];
}

bool
transition_fix(
    struct transition *t, fm_sw sw, uint32_t index, const uint8_t *was, const uint8_t *maybe)
{
	struct tblock *b;

	if (was == NULL)
		return false;
	b = add_block(t, sw, index, was, maybe != NULL ? maybe : was);
	if (b == NULL)
		return false;
	b->fixed = b->given = true;
	b->changed = b->sent = lanes_that_differ(b->was, b->want);
	b->behind = has_links(t->fab, sw) &&
	    (is_behind(t, sw, index, b->was) || is_behind(t, sw, index, b->want));
	return true;
}

bool
transition_unknown(struct transition *t, fm_sw sw, uint32_t index)
{
	bool ok = transition_fix(t, sw, index, empty_block, NULL);

	if (ok)
		block_at(t, sw, index)->unknown = t->any_unknown = true;
	return ok;
}

bool
transition_is_unknown(const struct transition *t, fm_sw sw, uint32_t index)
{
	const struct tblock *b = block_at(t, sw, index);

	return b != NULL && b->unknown;
}

unsigned
transition_ports(const struct transition *t, fm_sw sw, uint32_t lid, uint8_t port[2])
{
	const struct tblock *b = block_at(t, sw, lid / LANES);
	uint64_t bit = UINT64_C(1) << (lid % LANES);

	if (b == NULL) {
		port[0] = t->want->lft[sw][lid];
		return 1;
	}
	if (b->done & bit) {
		port[0] = b->want[lid % LANES];
		return 1;
	}
	port[0] = b->emptied & bit ? FM_PORT_NONE : b->was[lid % LANES];
	port[1] = b->want[lid % LANES];
	return b->sent & bit ? 2 : 1;
}

/* Of a block that cannot be written and may hold two contents, the second counts. */
uint8_t
transition_last_port(const struct transition *t, fm_sw sw, uint32_t lid)
{
	const struct tblock *b = block_at(t, sw, lid / LANES);

	return b == NULL ? t->want->lft[sw][lid] : b->want[lid % LANES];
}

bool
transition_is_new(const struct transition *t, fm_sw sw, uint32_t index)
{
	const struct tblock *b =
	    sw < t->fab->n_switches && index < t->n_blocks ? block_at(t, sw, index) : NULL;

	return b == NULL || (!b->fixed && !b->in_flight && !b->lost && b->done == b->changed);
}

unsigned
transition_may_hold(const struct transition *t, fm_sw sw, uint32_t index, uint8_t bytes[2][LANES])
{
	const struct tblock *b = block_at(t, sw, index);
	bool two = false;

	for (unsigned i = 0; i < LANES; i++) {
		uint64_t bit = UINT64_C(1) << i;

		bytes[0][i] = b->done & bit ? b->want[i]
		    : b->emptied & bit	    ? FM_PORT_NONE
					    : b->was[i];
		bytes[1][i] = b->sent & bit ? b->want[i]
		    : b->emptying & bit	    ? FM_PORT_NONE
					    : bytes[0][i];
		two = two || bytes[0][i] != bytes[1][i];
	}
	return two ? 2 : 1;
}

bool
transition_has(const struct transition *t, fm_sw sw, uint32_t index)
{
	return index < t->n_blocks && block_at(t, sw, index) != NULL;
}

/* Of a block fixed from the start `want` is what it may hold instead (transition_fix). */
bool
transition_settled(const struct transition *t, fm_sw sw, uint16_t lid)
{
	const struct tblock *b = block_at(t, sw, lid / LANES);
	uint64_t lane = UINT64_C(1) << (lid % LANES);

	if (b->unknown)
		return false;
	if (b->given)
		return !(b->changed & lane) && b->was[lid % LANES] == t->want->lft[sw][lid];
	return !(b->changed & lane) || (b->done & lane);
}

bool
transition_is_pending(const struct transition *t, fm_sw sw, uint32_t index)
{
	const struct tblock *b = block_at(t, sw, index);

	return b != NULL && !b->fixed && !b->in_flight && !b->lost && b->done != b->changed;
}

uint32_t
transition_n_blocks(const struct transition *t)
{
	return (uint32_t)t->block.n;
}

void
transition_name(const struct transition *t, uint32_t i, fm_sw *sw, uint32_t *index)
{
	*sw = t->block.item[i].sw;
	*index = t->block.item[i].index;
}

const struct transition_counts *
transition_counts(const struct transition *t)
{
	return &t->counts;
}

void
transition_unordered(struct transition *t)
{
	t->unordered = true;
}
