/* SPDX-License-Identifier: BSD-2-Clause */
#include "plugins/common/lids.h"

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

static uint32_t
add_runs(const struct fm_fabric *fab, const struct fm_lid_space *space, struct fm_lid_run *runs,
    uint32_t n_runs)
{
	for (uint32_t offset = 0; offset < space->n_offsets; offset++)
		for (uint32_t i = 0; i < space->n; i++) {
			struct fm_lid_run *last = n_runs > 0 ? &runs[n_runs - 1] : NULL;
			uint32_t position = space->start + offset * space->n + i;
			uint32_t lid = fab->end_lid[space->end[i]] + offset;

			if (offset >> fab->end_lmc[space->end[i]] != 0)
				continue;
			if (last != NULL && last->position + last->n == position &&
			    last->lid + last->n == lid)
				last->n++;
			else
				runs[n_runs++] = (struct fm_lid_run){ position, 1, (uint16_t)lid };
		}
	return n_runs;
}

int
fm_lids_build(const struct fm_host *host, const struct fm_fabric *fab, const fm_sw *column_sw,
    uint32_t n_columns, struct fm_lids *out, struct fm_error *err)
{
	struct fm_lid_run *runs;
	int rc = 0;

	*out = (struct fm_lids){ .n_columns = n_columns, .column_sw = column_sw };
	for (unsigned i = 0; rc == 0 && i < FM_SPACES; i++)
		rc = build_space(host, fab, out, i, err);
	if (rc != 0)
		return rc;
	runs = fm_scratch_array(host, out->n_positions, struct fm_lid_run);
	if (runs == NULL)
		return fm_no_scratch(host, "runs of LIDs", err);
	for (unsigned i = 0; i < FM_SPACES; i++)
		out->n_runs = add_runs(fab, &out->space[i], runs, out->n_runs);
	out->runs = runs;
	return 0;
}

void
fm_lids_scatter(const struct fm_lids *lids, const uint8_t *by_position, uint8_t *lft)
{
	for (uint32_t i = 0; i < lids->n_runs; i++) {
		const struct fm_lid_run *run = &lids->runs[i];

		if (run->n == 1)
			lft[run->lid] = by_position[run->position];
		else
			memcpy(lft + run->lid, by_position + run->position, run->n);
	}
}

void
fm_lids_local(const struct fm_fabric *fab, fm_sw sw, uint8_t *lft)
{
	for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++)
		if (fab->end_lid[e] != 0)
			memset(
			    lft + fab->end_lid[e], fab->end_port[e], (size_t)1 << fab->end_lmc[e]);
}
