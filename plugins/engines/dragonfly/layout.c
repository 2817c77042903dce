/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the LIDs of a group are in a row: mostly one run, as LIDs are given out
 * switch by switch, so that a group which is reached by one port is one memset.
 * O(LIDs).
 */
#include <string.h>

#include "plugins/engines/dragonfly/dragonfly.h"

struct tagged {
	struct df_run run;
	uint32_t group;
};

/* Runs by group; those of n_groups are LIDs of nobody. */
static int
sort_runs(const struct df *df, const struct tagged *all, uint32_t n, struct df_runs *out,
    struct fm_error *err)
{
	uint32_t *first = fm_scratch_array(df->host, (size_t)df->n_groups + 2, uint32_t);
	uint32_t *at = fm_scratch_array(df->host, (size_t)df->n_groups + 1, uint32_t);
	struct df_run *run = fm_scratch_array(df->host, n, struct df_run);

	if (first == NULL || at == NULL || run == NULL)
		return fm_no_scratch(df->host, "runs of LIDs", err);
	for (uint32_t i = 0; i < n; i++)
		first[all[i].group + 1]++;
	for (uint32_t g = 0; g <= df->n_groups; g++) {
		first[g + 1] += first[g];
		at[g] = first[g];
	}
	for (uint32_t i = 0; i < n; i++)
		run[at[all[i].group]++] = all[i].run;
	*out = (struct df_runs){ first, run };
	return 0;
}

static uint32_t
group_lids(const struct df *df, uint32_t *group, struct tagged *all)
{
	const struct fm_fabric *fab = df->fab;
	uint32_t n = 0;

	for (uint32_t lid = 0; lid <= fab->max_lid; lid++)
		group[lid] = df->n_groups;
	for (fm_end e = 0; e < fab->n_ends; e++)
		for (uint32_t i = 0; fab->end_lid[e] != 0 && i < 1u << fab->end_lmc[e]; i++)
			if (fab->end_sw[e] != FM_NONE)
				group[fab->end_lid[e] + i] = df->group[fab->end_sw[e]];
	for (uint32_t lid = 0; lid <= fab->max_lid; lid++) {
		if (n > 0 && all[n - 1].group == group[lid])
			all[n - 1].run.n++;
		else
			all[n++] = (struct tagged){ { 0, (uint16_t)lid, 1 }, group[lid] };
	}
	return n;
}

/* The runs of positions, cut where another group begins. */
static uint32_t
cut_runs(const struct df *df, const uint32_t *group, struct tagged *all)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < df->lids.n_runs; i++) {
		const struct fm_lid_run *r = &df->lids.runs[i];

		for (uint32_t k = 0; k < r->n; k++) {
			uint32_t lid = r->lid + k;

			if (k > 0 && all[n - 1].group == group[lid])
				all[n - 1].run.n++;
			else
				all[n++] = (struct tagged){ { r->position + k, (uint16_t)lid, 1 },
					group[lid] };
		}
	}
	return n;
}

int
df_lay_out(struct df *df, struct fm_error *err)
{
	size_t n_lids = (size_t)df->fab->max_lid + 1;
	uint32_t *group = fm_scratch_array(df->host, n_lids, uint32_t);
	struct tagged *all = fm_scratch_array(df->host, n_lids, struct tagged);
	int rc = fm_lids_build(df->host, df->fab, df->member, df->arcs.n_switches, &df->lids, err);

	if (rc != 0)
		return rc;
	if (group == NULL || all == NULL)
		return fm_no_scratch(df->host, "runs of LIDs", err);
	rc = sort_runs(df, all, group_lids(df, group, all), &df->by_lid, err);
	return rc != 0 ? rc : sort_runs(df, all, cut_runs(df, group, all), &df->by_position, err);
}
