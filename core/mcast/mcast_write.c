/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A cell is the entry of one switch for one MLID: what it holds, what it may hold
 * besides, and what the present round writes.
 */
#include "core/mcast/mcast_write.h"

#include <stdlib.h>
#include <string.h>

#include "lib/algo/ufind.h"
#include "lib/bitset.h"
#include "lib/vec.h"

struct cell {
	fm_sw sw;
	uint16_t doubt;		   /* bit p: position p was not acknowledged */
	struct mcast_ports held;   /* acknowledged, or read */
	struct mcast_ports maybe;  /* held or not: sent, not acknowledged */
	struct mcast_ports target; /* of this round */
};

struct cells {
	FM_VEC(struct cell) cell;
	struct fm_hash of_sw;
	uint64_t number; /* mcast_net_number() whose trees all held entries are of, 0: mixed */
	bool dirty;	 /* in list */
	bool whole;	 /* planned as a whole in this run */
	bool missed;	 /* a spot of it cannot be written now */
};

struct mft {
	struct cells *mlid[MCAST_N_MLIDS];
	const struct mcast_net *net;
	struct snapshot *wire; /* mft_use_wire() */
	uint64_t *can;	       /* [n_switches] bits */
	uint32_t n_switches;
	FM_VEC(struct mft_block) queue; /* without bytes */
	struct fm_hash queued;
	size_t n_taken;
	uint32_t n_flying;
	FM_VEC(uint16_t) list;	 /* MLIDs of this run */
	FM_VEC(uint16_t) second; /* for another round */
	bool in_second, careless, out_of_memory;
	struct mft_counts counts;
	uint32_t *set;	 /* [n_switches] */
	uint32_t *stamp; /* [n_links] */
	uint32_t n_stamps;
};

struct mft *
mft_new(void)
{
	return calloc(1, sizeof(struct mft));
}

static void
drop_cells(struct mft *m, uint32_t i)
{
	if (m->mlid[i] == NULL)
		return;
	fm_vec_fini(&m->mlid[i]->cell);
	fm_hash_fini(&m->mlid[i]->of_sw);
	free(m->mlid[i]);
	m->mlid[i] = NULL;
}

void
mft_free(struct mft *m)
{
	if (m == NULL)
		return;
	for (uint32_t i = 0; i < MCAST_N_MLIDS; i++)
		drop_cells(m, i);
	fm_vec_fini(&m->queue);
	fm_hash_fini(&m->queued);
	fm_vec_fini(&m->list);
	fm_vec_fini(&m->second);
	snapshot_put(m->wire);
	free(m->can);
	free(m->set);
	free(m->stamp);
	free(m);
}

/* --------------------------------------------------------------------- cells */

static struct cells *
cells_of(const struct mft *m, uint16_t mlid)
{
	return m->mlid[mlid - MCAST_MLID_FIRST];
}

static struct cell *
find_cell(const struct cells *c, fm_sw sw)
{
	uint32_t i = c == NULL ? FM_HASH_NONE : fm_hash_find(&c->of_sw, sw);

	return i == FM_HASH_NONE ? NULL : &c->cell.item[i];
}

static struct cell *
get_cell(struct mft *m, uint16_t mlid, fm_sw sw)
{
	struct cells **at = &m->mlid[mlid - MCAST_MLID_FIRST];
	struct cell fresh = { .sw = sw }, *c;

	if (*at == NULL && (*at = calloc(1, sizeof(**at))) == NULL)
		return NULL;
	c = find_cell(*at, sw);
	if (c != NULL)
		return c;
	if (!fm_vec_push(&(*at)->cell, fresh))
		return NULL;
	if (fm_hash_put(&(*at)->of_sw, sw, (uint32_t)(*at)->cell.n - 1))
		return &(*at)->cell.item[(*at)->cell.n - 1];
	(*at)->cell.n--;
	return NULL;
}

static uint16_t
at_position(const struct mcast_ports *p, uint32_t position)
{
	return (uint16_t)(p->bits[position / 4] >> (16 * (position % 4)));
}

static void
put_position(struct mcast_ports *p, uint32_t position, uint16_t v)
{
	unsigned shift = 16 * (position % 4);

	p->bits[position / 4] &= ~((uint64_t)0xffff << shift);
	p->bits[position / 4] |= (uint64_t)v << shift;
}

bool
mft_blank(struct mft *m, fm_sw sw)
{
	for (uint32_t i = 0; i < MCAST_N_MLIDS; i++) {
		struct cell *c = find_cell(m->mlid[i], sw);

		if (c == NULL)
			continue;
		*c = (struct cell){ .sw = sw };
		m->mlid[i]->number = 0;
	}
	return true;
}

bool
mft_read(struct mft *m, const struct mft_block *b)
{
	for (uint32_t i = 0; i < MCAST_BLOCK_MLIDS; i++) {
		uint32_t mlid = MCAST_MLID_FIRST + b->block * MCAST_BLOCK_MLIDS + i;
		uint16_t ports = b->ports[i];
		struct cell *c;

		if (mlid > MCAST_MLID_LAST)
			break;
		c = find_cell(cells_of(m, (uint16_t)mlid), b->sw);
		if (c == NULL && ports == 0)
			continue;
		if (c == NULL && (c = get_cell(m, (uint16_t)mlid, b->sw)) == NULL)
			return false;
		put_position(&c->held, b->position, ports);
		put_position(&c->maybe, b->position, 0);
		c->doubt &= (uint16_t) ~(1u << b->position);
		cells_of(m, (uint16_t)mlid)->number = 0;
	}
	return true;
}

/* The cell of entry i of a block, NULL: it is empty and is to be so. */
static struct cell *
cell_in(const struct mft *m, const struct mft_block *b, uint32_t i)
{
	uint32_t mlid = MCAST_MLID_FIRST + b->block * MCAST_BLOCK_MLIDS + i;

	return mlid > MCAST_MLID_LAST ? NULL : find_cell(cells_of(m, (uint16_t)mlid), b->sw);
}

void
mft_held(const struct mft *m, struct mft_block *b)
{
	memset(b->ports, 0, sizeof(b->ports));
	for (uint32_t i = 0; i < MCAST_BLOCK_MLIDS; i++) {
		const struct cell *c = cell_in(m, b, i);

		if (c != NULL)
			b->ports[i] = at_position(&c->held, b->position);
	}
}

void
mft_careless(struct mft *m)
{
	m->careless = true;
}

const struct mft_counts *
mft_counts(const struct mft *m)
{
	return &m->counts;
}

/* --------------------------------------------------------------------- circles */

static bool
can_write(const struct mft *m, fm_sw sw)
{
	return sw < m->n_switches && fm_bit_test(m->can, sw);
}

static const struct fm_fabric *
fabric_of(const struct mft *m)
{
	return m->wire != NULL ? &m->wire->fab : &mcast_net_trees(m->net)->snap->fab;
}

/* Cables over which sw sends; false: one closes a circle. */
static bool
add_cables(struct mft *m, fm_sw sw, const struct mcast_ports *ports)
{
	const struct fm_fabric *fab = fabric_of(m);

	if (sw >= fab->n_switches || mcast_ports_empty(ports))
		return true;
	for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++) {
		fm_link cable = l < fab->link_rev[l] ? l : fab->link_rev[l];
		fm_sw to = fab->link_to[l];

		if (!fm_bit_test(ports->bits, fab->link_port[l]) || m->stamp[cable] == m->n_stamps)
			continue;
		m->stamp[cable] = m->n_stamps;
		if (fm_ufind(m->set, sw) == fm_ufind(m->set, to))
			return false;
		fm_ufind_join(m->set, sw, to);
	}
	return true;
}

/* What switches may hold and, for those that can be written, what they should: a forest? */
static bool
is_forest(struct mft *m, uint16_t mlid)
{
	const struct cells *cs = cells_of(m, mlid);

	m->n_stamps++;
	fm_ufind_init(m->set, m->n_switches);
	for (size_t i = 0; i < cs->cell.n; i++) {
		const struct cell *c = &cs->cell.item[i];
		struct mcast_ports all = mcast_net_row(m->net, mlid, c->sw);

		for (int w = 0; w < 4; w++)
			all.bits[w] = c->held.bits[w] | c->maybe.bits[w] |
			    (can_write(m, c->sw) ? all.bits[w] : 0);
		if (!add_cables(m, c->sw, &all))
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------- planning */

static void
enqueue(struct mft *m, fm_sw sw, uint16_t mlid, uint32_t position)
{
	struct mft_block b = { .sw = sw,
		.block = (mlid - MCAST_MLID_FIRST) / MCAST_BLOCK_MLIDS,
		.position = position };
	uint64_t key = (uint64_t)sw << 16 | b.block << 4 | position;

	if (fm_hash_find(&m->queued, key) != FM_HASH_NONE)
		return;
	if (!fm_hash_put(&m->queued, key, 0) || !fm_vec_push(&m->queue, b))
		m->out_of_memory = true;
}

/* The cell is to hold this by the end of the round. */
static void
aim(struct mft *m, uint16_t mlid, struct cell *c, struct mcast_ports target)
{
	c->target = target;
	if (!can_write(m, c->sw)) {
		if (memcmp(&c->held, &target, sizeof(target)) != 0)
			cells_of(m, mlid)->missed = true;
		return;
	}
	for (uint32_t p = 0; p < 16; p++)
		if ((c->doubt >> p & 1) || at_position(&c->held, p) != at_position(&target, p))
			enqueue(m, c->sw, mlid, p);
}

/* All cells of the MLID are there. */
static bool
gather(struct mft *m, uint16_t mlid)
{
	uint32_t n = mcast_net_switches(m->net, mlid, UINT32_MAX, NULL);

	for (uint32_t i = 0; i < n; i++) {
		fm_sw sw = 0;

		mcast_net_switches(m->net, mlid, i, &sw);
		if (get_cell(m, mlid, sw) == NULL)
			return false;
	}
	return true;
}

static void
enlist(struct mft *m, uint16_t mlid)
{
	struct cells *cs = cells_of(m, mlid);

	if (cs->dirty)
		return;
	if (!fm_vec_push(&m->list, mlid))
		m->out_of_memory = true;
	else
		cs->dirty = true;
}

/* The MLID as a whole. */
static void
plan_mlid(struct mft *m, uint16_t mlid)
{
	struct cells *cs;
	bool at_once;

	if (!gather(m, mlid)) {
		m->out_of_memory = true;
		return;
	}
	cs = cells_of(m, mlid);
	if (cs == NULL)
		return;
	enlist(m, mlid);
	cs->whole = true;
	at_once = m->careless || is_forest(m, mlid);
	for (size_t i = 0; i < cs->cell.n; i++) {
		struct cell *c = &cs->cell.item[i];
		struct mcast_ports row = mcast_net_row(m->net, mlid, c->sw);

		for (int w = 0; w < 4 && !at_once; w++)
			row.bits[w] &= c->held.bits[w] | c->maybe.bits[w];
		aim(m, mlid, c, row);
	}
	if (at_once)
		return;
	m->counts.two_rounds++;
	if (!fm_vec_push(&m->second, mlid))
		m->out_of_memory = true;
}

/* Only what is dirty, where all that is held is of the trees of today. */
static void
plan_spots(struct mft *m)
{
	const struct mcast_spot *spot;
	uint32_t n = mcast_net_dirty(m->net, &spot);

	for (uint32_t i = 0; i < n; i++) {
		struct cells *cs;
		struct cell *c = get_cell(m, spot[i].mlid, spot[i].sw);

		cs = cells_of(m, spot[i].mlid);
		if (c == NULL) {
			m->out_of_memory = true;
			return;
		}
		if (cs->whole)
			continue;
		if (cs->number == 0 || cs->number != mcast_net_number(m->net)) {
			plan_mlid(m, spot[i].mlid);
			continue;
		}
		enlist(m, spot[i].mlid);
		aim(m, spot[i].mlid, c, mcast_net_row(m->net, spot[i].mlid, c->sw));
	}
}

static bool
make_room_for_switches(struct mft *m, const uint64_t *can)
{
	const struct fm_fabric *fab = fabric_of(m);
	size_t n_words = FM_BITSET_WORDS(fab->n_switches) + 1;

	free(m->can);
	free(m->set);
	free(m->stamp);
	m->n_switches = fab->n_switches;
	m->can = calloc(n_words, sizeof(*m->can));
	m->set = malloc((fab->n_switches + 1u) * sizeof(*m->set));
	m->stamp = calloc(fab->n_links + 1u, sizeof(*m->stamp));
	m->n_stamps = 0;
	if (m->can == NULL || m->set == NULL || m->stamp == NULL)
		return false;
	memcpy(m->can, can, FM_BITSET_WORDS(fab->n_switches) * sizeof(*m->can));
	return true;
}

void
mft_use_wire(struct mft *m, struct snapshot *wire)
{
	snapshot_put(m->wire);
	m->wire = wire != NULL ? snapshot_get(wire) : NULL;
}

bool
mft_begin(struct mft *m, const struct mcast_net *net, const uint64_t *can, bool all)
{
	m->net = net;
	m->counts = (struct mft_counts){ 0 };
	m->queue.n = m->n_taken = m->list.n = m->second.n = 0;
	fm_hash_fini(&m->queued);
	m->in_second = m->out_of_memory = false;
	if (mcast_net_trees(net) == NULL)
		return true;
	if (!make_room_for_switches(m, can))
		return false;
	if (!all)
		plan_spots(m);
	for (uint32_t i = 0; all && i < MCAST_N_MLIDS; i++)
		if (m->mlid[i] != NULL ||
		    mcast_net_n_members(net, (uint16_t)(MCAST_MLID_FIRST + i)) > 0)
			plan_mlid(m, (uint16_t)(MCAST_MLID_FIRST + i));
	return !m->out_of_memory;
}

/* The first round is over: those that wait, if they may. */
static void
plan_second(struct mft *m)
{
	m->in_second = true;
	m->queue.n = m->n_taken = 0;
	fm_hash_fini(&m->queued);
	for (size_t i = 0; i < m->second.n; i++) {
		uint16_t mlid = m->second.item[i];
		struct cells *cs = cells_of(m, mlid);

		if (!is_forest(m, mlid)) {
			m->counts.held++;
			continue;
		}
		for (size_t k = 0; k < cs->cell.n; k++)
			aim(m, mlid, &cs->cell.item[k],
			    mcast_net_row(m->net, mlid, cs->cell.item[k].sw));
	}
}

/* Does every switch hold what it should?  Then all is of one tree. */
static void
settle_mlid(struct mft *m, uint16_t mlid, struct cells *cs)
{
	bool right = true, any = false;

	for (size_t k = 0; k < cs->cell.n; k++) {
		const struct cell *c = &cs->cell.item[k];
		struct mcast_ports row = mcast_net_row(m->net, mlid, c->sw);

		any = any || c->doubt != 0 || !mcast_ports_empty(&c->held);
		right = right && c->doubt == 0 && memcmp(&row, &c->held, sizeof(row)) == 0;
	}
	cs->number = right ? mcast_net_number(m->net) : 0;
	if (right && !any)
		drop_cells(m, mlid - MCAST_MLID_FIRST);
}

/* What was changed spot by spot was of one tree before, and is if all was answered. */
static void
settle_listed(struct mft *m)
{
	for (size_t i = 0; i < m->list.n; i++) {
		uint16_t mlid = m->list.item[i];
		struct cells *cs = cells_of(m, mlid);
		bool look = cs->whole || mcast_net_n_members(m->net, mlid) == 0;

		if (cs->missed)
			cs->number = 0;
		cs->dirty = cs->whole = cs->missed = false;
		if (look)
			settle_mlid(m, mlid, cs);
	}
	m->list.n = 0;
}

static void
fill(const struct mft *m, struct mft_block *b)
{
	memset(b->ports, 0, sizeof(b->ports));
	for (uint32_t i = 0; i < MCAST_BLOCK_MLIDS; i++) {
		const struct cell *c = cell_in(m, b, i);
		uint32_t mlid = MCAST_MLID_FIRST + b->block * MCAST_BLOCK_MLIDS + i;

		if (c != NULL)
			b->ports[i] =
			    at_position(cells_of(m, (uint16_t)mlid)->dirty ? &c->target : &c->held,
				b->position);
	}
}

enum mft_step
mft_next(struct mft *m, struct mft_block *out)
{
	for (;;) {
		if (m->n_taken < m->queue.n) {
			*out = m->queue.item[m->n_taken++];
			fill(m, out);
			m->n_flying++;
			m->counts.writes++;
			return MFT_SEND;
		}
		if (m->n_flying > 0)
			return MFT_BUSY;
		if (m->in_second || m->second.n == 0) {
			settle_listed(m);
			return MFT_OVER;
		}
		plan_second(m);
	}
}

/* ------------------------------------------------------------------- answers */

static void
note_answer(struct mft *m, const struct mft_block *b, bool taken)
{
	m->n_flying--;
	for (uint32_t i = 0; i < MCAST_BLOCK_MLIDS; i++) {
		uint32_t mlid = MCAST_MLID_FIRST + b->block * MCAST_BLOCK_MLIDS + i;
		uint16_t sent = b->ports[i];
		struct cell *c = cell_in(m, b, i);

		if (c == NULL)
			continue;
		if (taken) {
			put_position(&c->held, b->position, sent);
			put_position(&c->maybe, b->position, 0);
			c->doubt &= (uint16_t) ~(1u << b->position);
		} else {
			put_position(
			    &c->maybe, b->position, at_position(&c->maybe, b->position) | sent);
			c->doubt |= (uint16_t)(1u << b->position);
			cells_of(m, (uint16_t)mlid)->number = 0;
		}
	}
}

void
mft_done(struct mft *m, const struct mft_block *b)
{
	note_answer(m, b, true);
}

void
mft_lost(struct mft *m, const struct mft_block *b)
{
	note_answer(m, b, false);
}

bool
mft_in_doubt(const struct mft *m)
{
	for (uint32_t i = 0; i < MCAST_N_MLIDS; i++)
		if (m->mlid[i] != NULL && m->mlid[i]->number == 0)
			return true;
	return false;
}
