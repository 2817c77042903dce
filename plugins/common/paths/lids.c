/* SPDX-License-Identifier: BSD-2-Clause */
#include "plugins/common/paths/lids.h"

#include <string.h>

static bool
in_space(const struct fm_fabric *fab, fm_end end, unsigned space)
{
	return fab->end_lid[end] != 0 && fm_is_host(fab, end) == (space == FM_HOSTS);
}

static int
build_space(const struct fm_host *host, const struct fm_fabric *fab, struct fm_lids *lids,
    unsigned which, struct fm_error *err)
{
	struct fm_lid_space *space = &lids->space[which];
	uint32_t *first = fm_scratch_array(host, (size_t)lids->n_columns + 1, uint32_t), n = 0;
	fm_end *ends = fm_scratch_array(host, fab->n_ends, fm_end);

	if (first == NULL || ends == NULL)
		return fm_no_scratch(host, "order of destinations", err);
	space->n_offsets = 1;
	for (uint32_t col = 0; col < lids->n_columns; col++) {
		fm_sw sw = lids->column_sw[col];

		first[col] = n;
		for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++) {
			if (!in_space(fab, e, which))
				continue;
			ends[n++] = e;
			if (space->n_offsets < 1u << fab->end_lmc[e])
				space->n_offsets = 1u << fab->end_lmc[e];
		}
	}
	first[lids->n_columns] = n;
	space->n = n;
	space->start = lids->n_positions;
	space->first = first;
	space->end = ends;
	lids->n_positions += n * space->n_offsets;
	return 0;
}

static void
note_positions(const struct fm_fabric *fab, const struct fm_lid_space *space, uint32_t *position)
{
	for (uint32_t offset = 0; offset < space->n_offsets; offset++)
		for (uint32_t i = 0; i < space->n; i++)
			if (offset >> fab->end_lmc[space->end[i]] == 0)
				position[fab->end_lid[space->end[i]] + offset] =
				    space->start + offset * space->n + i;
}

/* Runs of position[lid], which is FM_NONE where the LID is nobody's. */
static uint32_t
find_runs(const uint32_t *position, uint32_t max_lid, struct fm_lid_run *runs)
{
	uint32_t n = 0, used_to = 0; /* LIDs lid..used_to-1 are all somebody's */

	for (uint32_t lid = 0; lid <= max_lid; lid++) {
		struct fm_lid_run *last = n > 0 ? &runs[n - 1] : NULL;

		if (position[lid] == FM_NONE)
			continue;
		if (last != NULL && last->position + last->n == position[lid] &&
		    last->lid + last->n == (int)lid)
			last->n++;
		else
			runs[n++] = (struct fm_lid_run){
				.position = position[lid], .lid = (uint16_t)lid, .n = 1
			};
	}
	for (uint32_t i = 0; i < n; i++) {
		if (used_to <= runs[i].lid)
			for (used_to = runs[i].lid;
			     used_to <= max_lid && position[used_to] != FM_NONE;)
				used_to++;
		runs[i].wide =
		    runs[i].lid + (runs[i].n + FM_RUN_BYTES - 1u) / FM_RUN_BYTES * FM_RUN_BYTES <=
		    used_to;
	}
	return n;
}

/* Short runs are slower than looking up every LID by itself. */
static int
list_positions(const struct fm_host *host, const uint32_t *position, struct fm_lids *lids,
    struct fm_error *err)
{
	uint32_t n = 0;
	uint16_t *to;
	struct fm_lid_run *gaps;

	if (lids->n_runs < lids->max_lid / 16u + 64 || lids->n_positions > UINT16_MAX)
		return 0;
	to = fm_scratch_array(host, (size_t)lids->max_lid + 1, uint16_t);
	gaps = fm_scratch_array(host, (size_t)lids->n_runs + 1, struct fm_lid_run);
	if (to == NULL || gaps == NULL)
		return fm_no_scratch(host, "positions of LIDs", err);
	for (uint32_t lid = 0; lid <= lids->max_lid; lid++) {
		if (position[lid] != FM_NONE)
			to[lid] = (uint16_t)position[lid];
		else if (n > 0 && gaps[n - 1].lid + gaps[n - 1].n == (int)lid)
			gaps[n - 1].n++;
		else
			gaps[n++] = (struct fm_lid_run){ .lid = (uint16_t)lid, .n = 1 };
	}
	lids->position = to;
	lids->gaps = gaps;
	lids->n_gaps = n;
	return 0;
}

/* Column of each LID, FM_NONE: nobody's. */
static void
note_columns(const struct fm_fabric *fab, const struct fm_lids *lids, uint32_t *column_of)
{
	for (uint32_t lid = 0; lid <= fab->max_lid; lid++)
		column_of[lid] = FM_NONE;
	for (unsigned i = 0; i < FM_SPACES; i++)
		for (uint32_t col = 0; col < lids->n_columns; col++)
			for (uint32_t k = lids->space[i].first[col];
			     k < lids->space[i].first[col + 1]; k++) {
				fm_end e = lids->space[i].end[k];

				for (uint32_t m = 0; m < 1u << fab->end_lmc[e]; m++)
					column_of[fab->end_lid[e] + m] = col;
			}
}

/* Columns by their first LIDs, those without any last.  place[]: where each went. */
static int
place_columns(const struct fm_host *host, struct fm_lids *lids, const uint32_t *column_of,
    uint32_t *place, struct fm_error *err)
{
	uint32_t *column_at = fm_scratch_array(host, lids->n_columns, uint32_t), n = 0;
	bool moved = false;

	if (column_at == NULL)
		return fm_no_scratch(host, "columns of LIDs", err);
	for (uint32_t c = 0; c < lids->n_columns; c++)
		place[c] = FM_NONE;
	for (uint32_t lid = 0; lid <= lids->max_lid; lid++) {
		uint32_t c = column_of[lid];

		if (c == FM_NONE || place[c] != FM_NONE)
			continue;
		moved |= c != n;
		column_at[n] = c;
		place[c] = n++;
	}
	for (uint32_t c = 0; c < lids->n_columns; c++)
		if (place[c] == FM_NONE)
			column_at[n++] = c;
	lids->column_at = moved ? column_at : NULL;
	return 0;
}

static int
list_column_runs(const struct fm_host *host, const struct fm_fabric *fab, struct fm_lids *lids,
    uint32_t *column_of, struct fm_error *err)
{
	struct fm_column_run *runs =
	    fm_scratch_array(host, (size_t)fab->max_lid + 1, struct fm_column_run);
	uint32_t *place = fm_scratch_array(host, lids->n_columns, uint32_t), n = 0, end;
	int rc;

	if (runs == NULL || place == NULL)
		return fm_no_scratch(host, "columns of LIDs", err);
	note_columns(fab, lids, column_of);
	if ((rc = place_columns(host, lids, column_of, place, err)) != 0)
		return rc;
	for (uint32_t lid = 0; lid <= fab->max_lid; lid = end) {
		struct fm_column_run *last = n > 0 ? &runs[n - 1] : NULL;

		for (end = lid + 1; end <= fab->max_lid && column_of[end] == column_of[lid];)
			end++;
		if (column_of[lid] == FM_NONE)
			continue;
		if (last != NULL && last->place + last->n == place[column_of[lid]] &&
		    last->each == end - lid && last->lid + last->n * last->each == (int)lid)
			last->n++;
		else
			runs[n++] = (struct fm_column_run){ .place = place[column_of[lid]],
				.lid = (uint16_t)lid,
				.n = 1,
				.each = (uint16_t)(end - lid) };
	}
	lids->column_runs = runs;
	lids->n_column_runs = n;
	return 0;
}

int
fm_lids_build(const struct fm_host *host, const struct fm_fabric *fab, const fm_sw *column_sw,
    uint32_t n_columns, struct fm_lids *out, struct fm_error *err)
{
	uint32_t *position = fm_scratch_array(host, (size_t)fab->max_lid + 1, uint32_t);
	struct fm_lid_run *runs =
	    fm_scratch_array(host, (size_t)fab->max_lid + 1, struct fm_lid_run);
	int rc = 0;

	if (position == NULL || runs == NULL)
		return fm_no_scratch(host, "runs of LIDs", err);
	memset(position, 0xff, ((size_t)fab->max_lid + 1) * sizeof(*position));

	*out = (struct fm_lids){
		.n_columns = n_columns, .column_sw = column_sw, .max_lid = fab->max_lid
	};
	for (unsigned i = 0; rc == 0 && i < FM_SPACES; i++)
		rc = build_space(host, fab, out, i, err);
	if (rc != 0)
		return rc;
	for (unsigned i = 0; i < FM_SPACES; i++)
		note_positions(fab, &out->space[i], position);
	out->n_runs = find_runs(position, fab->max_lid, runs);
	out->runs = runs;
	rc = list_positions(host, position, out, err);
	/* position[] has served */
	return rc != 0 ? rc : list_column_runs(host, fab, out, position, err);
}

static void
look_up(const struct fm_lids *lids, const uint8_t *by_position, uint8_t nobody, uint8_t *row)
{
	const uint16_t *position = lids->position;

	for (uint32_t lid = 0; lid <= lids->max_lid; lid++)
		row[lid] = by_position[position[lid]];
	for (uint32_t i = 0; i < lids->n_gaps; i++)
		memset(row + lids->gaps[i].lid, nobody, lids->gaps[i].n);
}

void
fm_lids_lay(const struct fm_lids *lids, const uint8_t *by_position, uint8_t nobody, uint8_t *row)
{
	uint32_t at = 0; /* entries before are written */

	if (lids->position != NULL) {
		look_up(lids, by_position, nobody, row);
		return;
	}
	for (uint32_t i = 0; i < lids->n_runs; i++) {
		const struct fm_lid_run *run = &lids->runs[i];
		const uint8_t *from = by_position + run->position;

		if (at < run->lid)
			memset(row + at, nobody, run->lid - at);
		at = (uint32_t)run->lid + run->n;
		if (!run->wide)
			for (uint32_t k = 0; k < run->n; k++)
				row[run->lid + k] = from[k];
		else
			for (uint32_t k = 0; k < run->n; k += FM_RUN_BYTES)
				memcpy(row + run->lid + k, from + k, FM_RUN_BYTES);
	}
	memset(row + at, nobody, lids->max_lid + 1u - at);
}

void
fm_lids_scatter(const struct fm_lids *lids, const uint8_t *by_position, uint8_t *lft)
{
	fm_lids_lay(lids, by_position, FM_PORT_NONE, lft);
}

void
fm_lids_put_columns(const struct fm_lids *lids, const struct fm_fabric *fab,
    const uint8_t *by_position, uint32_t col, uint32_t stop, uint8_t *lft)
{
	const uint16_t *lid = fab->end_lid;

	for (unsigned which = 0; which < FM_SPACES; which++) {
		const struct fm_lid_space *space = &lids->space[which];
		const uint8_t *from = by_position + space->start;
		const fm_end *end = space->end;
		uint32_t first = space->first[col], last = space->first[stop];

		for (uint32_t i = first; i < last; i++)
			lft[lid[end[i]]] = from[i];
		for (uint32_t i = first; space->n_offsets > 1 && i < last; i++)
			for (uint32_t o = 1; o < 1u << fab->end_lmc[end[i]]; o++)
				lft[lid[end[i]] + o] = from[o * space->n + i];
	}
}

typedef uint8_t sixteen __attribute__((vector_size(16)));

/* 16 values, each twice. */
static inline void
twice_sixteen(uint8_t *to, const uint8_t *from)
{
	sixteen values, first, second;

	memcpy(&values, from, sizeof(values));
	first =
	    __builtin_shufflevector(values, values, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
	second = __builtin_shufflevector(
	    values, values, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15);
	memcpy(to, &first, sizeof(first));
	memcpy(to + sizeof(first), &second, sizeof(second));
}

static void
lay_twice(uint8_t *to, const uint8_t *from, uint32_t n)
{
	uint32_t i = 0;

	for (; i + sizeof(sixteen) <= n; i += sizeof(sixteen))
		twice_sixteen(to + 2 * i, from + i);
	for (; i < n; i++)
		to[2 * i] = to[2 * i + 1] = from[i];
}

/* `each` copies of n values.  What is written behind them, not beyond end, is
 * written again. */
static void
lay_each(uint8_t *to, const uint8_t *end, const uint8_t *from, uint32_t n, uint32_t each)
{
	uint32_t k = 0;

	for (; k < n && end - to >= 8 + (int)each; k++, to += each) {
		uint64_t eight = from[k] * UINT64_C(0x0101010101010101);

		memcpy(to, &eight, sizeof(eight));
		for (uint32_t at = 8; at < each; at += 8)
			memcpy(to + at, &eight, sizeof(eight));
	}
	for (; k < n; k++, to += each)
		memset(to, from[k], each);
}

void
fm_lids_lay_columns(const struct fm_lids *lids, const uint8_t *by_column, uint8_t *room,
    uint8_t nobody, uint8_t *row)
{
	const uint32_t *column_at = lids->column_at;
	uint32_t at = 0; /* entries before are written */

	for (uint32_t i = 0; column_at != NULL && i < lids->n_columns; i++)
		room[i] = by_column[column_at[i]];
	if (column_at != NULL)
		by_column = room;
	for (uint32_t i = 0; i < lids->n_column_runs; i++) {
		const struct fm_column_run *run = &lids->column_runs[i];
		const uint8_t *from = by_column + run->place;
		uint8_t *to = row + run->lid;

		if (at < run->lid)
			memset(row + at, nobody, run->lid - at);
		at = run->lid + (uint32_t)run->n * run->each;
		if (run->each == 1)
			memcpy(to, from, run->n);
		else if (run->each == 2)
			lay_twice(to, from, run->n);
		else
			lay_each(to, row + lids->max_lid + 1, from, run->n, run->each);
	}
	memset(row + at, nobody, lids->max_lid + 1u - at);
}

void
fm_lids_local(const struct fm_fabric *fab, fm_sw sw, uint8_t *lft)
{
	for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++)
		if (fab->end_lid[e] != 0)
			memset(
			    lft + fab->end_lid[e], fab->end_port[e], (size_t)1 << fab->end_lmc[e]);
}
