/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/view/view_rows.c - rows of paths that share the blocks in which nothing
 * changed.
 *
 * What a block holds depends on its entries, on what is behind the ports that
 * these name, and on who owns its LIDs.  So a block is made anew where an entry
 * differs, where an entry names a port behind which there is another link, and
 * where an owner has moved, come or gone.  O(switches * LIDs) bytes compared when
 * tables are new, O(entries) after a repair, and O(LIDs) for each changed port.
 */
#include <string.h>

#include "core/view/view_internal.h"
#include "lib/bitset.h"

#define DIRTY_WORDS (65536 / ROWS_BLOCK_LIDS / 64)

/* May blocks of before stand in rows of now?  The same switches, the same of them with
 * hosts, and classes of the same numbers. */
static bool
may_share_rows(const struct sa_view *v, const struct sa_view *prev)
{
	const struct fm_fabric *fab = &v->plan->snap->fab;

	if (prev == NULL || prev->rows == NULL || prev->rows->n_switches != fab->n_switches ||
	    prev->n_attrs != v->n_attrs ||
	    memcmp(v->attr, prev->attr, v->n_attrs * sizeof(v->attr[0])) != 0)
		return false;
	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		bool leaf = false;

		for (fm_end e = fab->sw_first_end[sw]; !leaf && e < fab->sw_first_end[sw + 1]; e++)
			leaf = fab->end_port[e] != 0;
		if (leaf != (prev->rows->leaf[sw] != FM_NONE))
			return false;
	}
	return true;
}

/* Blocks in which a row of a switch differs between the plans.  O(switches * LIDs) bytes
 * compared, or the entries of a repair. */
static void
mark_entries(const struct plan *now, const struct plan *was, uint64_t *dirty)
{
	const struct fm_tables *a = &now->tables->t, *b = &was->tables->t;
	uint32_t n_blocks = now->snap->fab.max_lid / ROWS_BLOCK_LIDS + 1;

	if (now->tables == was->tables)
		return;
	if (now->made == PLAN_REPAIRED && now->delta_base == was->number) {
		for (size_t i = 0; i < now->delta.n; i++)
			fm_bit_set(dirty, now->delta.item[i].lid / ROWS_BLOCK_LIDS);
		return;
	}
	for (uint32_t k = 0; k < n_blocks; k++)
		for (fm_sw sw = 0; sw < now->snap->fab.n_switches; sw++)
			if ((k + 1) * (size_t)ROWS_BLOCK_LIDS > b->lft_stride ||
			    memcmp(a->lft[sw] + (size_t)k * ROWS_BLOCK_LIDS,
				b->lft[sw] + (size_t)k * ROWS_BLOCK_LIDS, ROWS_BLOCK_LIDS) != 0) {
				fm_bit_set(dirty, k);
				break;
			}
}

/* Blocks in which a switch holds something else than the plan says. */
static void
mark_installed(const struct sa_view *v, uint64_t *dirty)
{
	uint8_t *const *holds = v->tables.lft, *const *planned = v->plan->tables->t.lft;
	uint32_t n_blocks = v->plan->snap->fab.max_lid / ROWS_BLOCK_LIDS + 1;

	if (holds == planned)
		return;
	for (fm_sw sw = 0; sw < v->plan->snap->fab.n_switches; sw++)
		for (uint32_t k = 0; holds[sw] != planned[sw] && k < n_blocks; k++)
			if (memcmp(holds[sw] + (size_t)k * ROWS_BLOCK_LIDS,
				planned[sw] + (size_t)k * ROWS_BLOCK_LIDS, ROWS_BLOCK_LIDS) != 0)
				fm_bit_set(dirty, k);
}

/* Whatever leaves a switch by this port goes another way than before. */
static void
mark_port(const struct sa_view *v, fm_sw sw, uint8_t port, uint64_t *dirty)
{
	const uint8_t *row = v->tables.lft[sw];

	for (uint32_t lid = 0; lid <= v->plan->snap->fab.max_lid; lid++)
		if (row[lid] == port)
			fm_bit_set(dirty, lid / ROWS_BLOCK_LIDS);
}

/* Where a port of the plan's switch leads and what it carries; UINT64_MAX: nowhere. */
static uint64_t
behind(const struct sa_view *v, fm_link l)
{
	const struct fm_fabric *fab = &v->plan->snap->fab;

	return l == FM_NONE ? UINT64_MAX : (uint64_t)fab->link_to[l] << 8 | v->link_attr[l];
}

/* Ports of switches behind which there is another link than before. */
static void
mark_links(const struct sa_view *v, const struct sa_view *prev, uint64_t *dirty)
{
	const struct fm_fabric *a = &v->plan->snap->fab, *b = &prev->plan->snap->fab;

	for (fm_sw sw = 0; sw < a->n_switches; sw++) {
		fm_link first_a = a->sw_first_link[sw], first_b = b->sw_first_link[sw];
		uint32_t n = a->sw_first_link[sw + 1] - first_a;

		if (n == b->sw_first_link[sw + 1] - first_b &&
		    memcmp(a->link_to + first_a, b->link_to + first_b, n * sizeof(*a->link_to)) ==
			0 &&
		    memcmp(a->link_port + first_a, b->link_port + first_b, n) == 0 &&
		    memcmp(v->link_attr + first_a, prev->link_attr + first_b, n) == 0)
			continue;
		for (unsigned p = 1; p <= a->sw_n_ports[sw]; p++)
			if (behind(v, snapshot_link_at(v->plan->snap, sw, p)) !=
			    behind(prev, snapshot_link_at(prev->plan->snap, sw, p)))
				mark_port(v, sw, (uint8_t)p, dirty);
	}
}

/* Who owns a LID, where, and what its link carries; UINT64_MAX: nobody. */
static uint64_t
owner(const struct sa_view *v, uint32_t lid)
{
	const struct fm_fabric *fab = &v->plan->snap->fab;
	fm_end e = lid <= fab->max_lid ? fab->lid_end[lid] : FM_NONE;

	return e == FM_NONE
	    ? UINT64_MAX
	    : (uint64_t)fab->end_sw[e] << 16 | (uint64_t)fab->end_port[e] << 8 | v->end_attr[e];
}

static void
mark_owners(const struct sa_view *v, const struct sa_view *prev, uint64_t *dirty)
{
	for (uint32_t lid = 0; lid <= v->plan->snap->fab.max_lid; lid++)
		if (owner(v, lid) != owner(prev, lid))
			fm_bit_set(dirty, lid / ROWS_BLOCK_LIDS);
}

int
sa_view_build_rows(
    struct sa_view *v, struct sa_view *prev, struct fm_pool *workers, struct fm_error *err)
{
	const struct fm_fabric *fab = &v->plan->snap->fab;
	uint64_t dirty[DIRTY_WORDS] = { 0 };
	struct rows_request q = { .fab = fab,
		.tables = &v->tables,
		.attrs = v->attr,
		.n_attrs = v->n_attrs,
		.link_attr = v->link_attr,
		.end_attr = v->end_attr };

	if (!may_share_rows(v, prev))
		return rows_build(&q, workers, &v->rows, err);
	mark_entries(v->plan, prev->plan, dirty);
	mark_installed(v, dirty);
	mark_installed(prev, dirty);
	mark_links(v, prev, dirty);
	mark_owners(v, prev, dirty);
	if (fab->max_lid == prev->plan->snap->fab.max_lid &&
	    fm_bit_next(dirty, 64 * DIRTY_WORDS, 0) == 64 * DIRTY_WORDS) {
		v->rows = rows_get(prev->rows);
		return 0;
	}
	q.prev = prev->rows;
	q.dirty = dirty;
	return rows_build(&q, workers, &v->rows, err);
}
