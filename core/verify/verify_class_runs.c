/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Classes: the LIDs of the ends on one switch, its own among them, as runs of LIDs that
 * follow one another; classes in the order of their first LIDs.
 *
 * Time: O(LIDs).
 */
#include "core/verify/verify_class.h"

static bool
continues_run(const struct fm_fabric *fab, uint32_t lid, fm_sw sw)
{
	return lid > 0 && verify_class_switch(fab, lid - 1) == sw;
}

/* Classes in the order of their first LIDs; of_switch[sw]: the class. */
static void
number_classes(struct classes *k, uint32_t *of_switch)
{
	const struct fm_fabric *fab = k->j->fab;
	uint32_t n_runs = 0;

	for (uint32_t lid = 0; lid <= fab->max_lid; lid++) {
		fm_sw sw = verify_class_switch(fab, lid);
		struct lid_class *c;

		if (sw == FM_NONE)
			continue;
		if (of_switch[sw] == FM_NONE) {
			of_switch[sw] = k->n_classes;
			k->class[k->n_classes++] = (struct lid_class){ .sw = sw };
		}
		c = &k->class[of_switch[sw]];
		if (fab->end_kind[fab->lid_end[lid]] == FM_END_SWITCH)
			c->n_switch_lids++;
		else
			c->n_end_lids++;
		c->first_run += !continues_run(fab, lid, sw); /* their number, for now */
	}
	for (uint32_t c = 0; c <= k->n_classes; c++) {
		uint32_t n = c < k->n_classes ? k->class[c].first_run : 0;

		k->class[c].first_run = n_runs;
		n_runs += n;
	}
	k->n_runs = n_runs;
}

static void
collect_runs(struct classes *k, const uint32_t *of_switch)
{
	const struct fm_fabric *fab = k->j->fab;

	/* first_run of a class moves to its end, and back */
	for (uint32_t lid = 0; lid <= fab->max_lid; lid++) {
		fm_sw sw = verify_class_switch(fab, lid);
		struct lid_class *c;

		if (sw == FM_NONE)
			continue;
		c = &k->class[of_switch[sw]];
		if (continues_run(fab, lid, sw))
			k->run[c->first_run - 1].n++;
		else
			k->run[c->first_run++] = (struct lid_run){ (uint16_t)lid, 1 };
	}
	for (uint32_t c = k->n_classes; c > 0; c--)
		k->class[c].first_run = k->class[c - 1].first_run;
	k->class[0].first_run = 0;
}

bool
verify_class_runs(struct classes *k)
{
	uint32_t n = k->j->fab->n_switches, *of_switch = malloc((n + 1) * sizeof(*of_switch));
	bool ok = false;

	k->class = calloc(n + 1, sizeof(*k->class));
	if (of_switch != NULL && k->class != NULL) {
		memset(of_switch, 0xff, (n + 1) * sizeof(*of_switch));
		number_classes(k, of_switch);
		k->run = malloc((k->n_runs + 1) * sizeof(*k->run));
		k->exact = calloc(k->n_classes + 1, 1);
		ok = k->run != NULL && k->exact != NULL;
	}
	if (ok)
		collect_runs(k, of_switch);
	free(of_switch);
	return ok;
}

/* An end is no source for its own LIDs; so an end alone on its switch has no
 * pairs within it, and such a class alone in its component none at all. */
void
verify_class_add(const struct judge *j, const struct class_sums *of, uint32_t n_end_lids,
    uint32_t n_switch_lids, uint32_t n_lost, struct tally *sums)
{
	uint64_t n_lids = (uint64_t)n_end_lids + n_switch_lids;
	uint64_t n_pairs = n_lids * of->sources - n_end_lids;

	sums->reached += n_pairs;
	sums->hops += n_lids * of->source_hops - n_end_lids;
	sums->disjoint += n_lids * (j->all_sources - of->sources);
	sums->switch_lost += (uint64_t)n_switch_lids * n_lost;
	if (n_pairs > 0 && of->farthest > sums->max_hops)
		sums->max_hops = of->farthest;
}
