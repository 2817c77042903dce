/* SPDX-License-Identifier: BSD-2-Clause */
#include "plugins/common/paths/base_lids.h"
#include "plugins/common/sssp/local_search.h"
#include "plugins/common/sssp/sssp_internal.h"

bool
fm_has_wishes(const struct fm_choice *c)
{
	return c->scatter != 0 || c->n_first > 0 || c->ignore_links != NULL ||
	    c->ignore_ends != NULL || c->search != NULL || c->shift;
}

static bool
has_throttled(const struct fm_fabric *fab)
{
	for (fm_link l = 0; l < fab->n_links; l++)
		if (fab->link_mbps[l] < fab->link_nominal_mbps[l])
			return true;
	return false;
}

static bool
lists_hosts(const struct fm_fabric *fab, const struct fm_nodeset *set)
{
	if (set == NULL || !set->given)
		return false;
	for (fm_end e = 0; e < fab->n_ends; e++)
		if (fm_bit(set->end, e) && fm_sends(fab, e))
			return true;
	return false;
}

bool
fm_sssp_favours(const struct fm_fabric *fab, const struct fm_sssp_plan *plan)
{
	return lists_hosts(fab, plan->compute) || lists_hosts(fab, plan->io) ||
	    (plan->avoid_throttled && has_throttled(fab));
}

void
fm_sssp_warn_of_strays(
    const struct fm_host *host, const struct fm_fabric *fab, const struct fm_sssp_plan *plan)
{
	if (plan->compute != NULL && plan->compute->given && !lists_hosts(fab, plan->compute))
		host->log(host, fm_stray_level(fab), "compute_nodes name no host of this fabric");
	if (plan->io != NULL && plan->io->given && !lists_hosts(fab, plan->io))
		host->log(host, fm_stray_level(fab), "io_nodes name no host of this fabric");
}

static bool
is_source(const struct fm_fabric *fab, fm_sw s)
{
	for (fm_end e = fab->sw_first_end[s]; e < fab->sw_first_end[s + 1]; e++)
		if (fm_sends(fab, e))
			return true;
	return false;
}

static bool
has_hosts(const struct fm_fabric *fab, fm_sw s)
{
	for (fm_end e = fab->sw_first_end[s]; e < fab->sw_first_end[s + 1]; e++)
		if (fm_is_host(fab, e))
			return true;
	return false;
}

void
fm_sssp_count_unjoined(const struct fm_fabric *fab, const struct fm_sssp_plan *plan,
    const struct fm_sssp_trees *f, struct fm_paths *found)
{
	for (fm_sw s = 0; s < fab->n_switches; s++) {
		bool source = is_source(fab, s);

		for (fm_sw to = 0; source && to < fab->n_switches; to++) {
			if (s == to || plan->component[s] != plan->component[to] ||
			    fm_sssp_steps(f, f->first[to])[s] != FM_STEP_NONE)
				continue;
			found->unjoined++;
			found->unjoined_hosts += has_hosts(fab, to);
		}
	}
}

/* What one link bears too much is led round it. */
static int
make_even(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_sssp_plan *plan,
    const struct fm_sssp_trees *f, const struct fm_tables *out, struct fm_error *err)
{
	struct fm_local_search_rule how = { .rule = plan->rule };
	uint64_t most;

	if (fm_sssp_favours(fab, plan) || !fm_local_search_applies(fab) ||
	    !fm_sssp_is_uneven(fab, f))
		return 0;
	if (plan->rule.detours)
		how.way = plan->rule.order->way;
	return fm_local_search(host, fab, plan->arcs, &how, out, &most, err);
}

static int
route_batched(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_sssp_plan *plan, const struct fm_tables *out, struct fm_paths *found,
    struct fm_error *err)
{
	struct fm_sssp_trees trees;
	int rc;

	*found = (struct fm_paths){ 0 };
	if ((rc = fm_sssp_grow(host, fab, plan, &trees, err)) != 0 ||
	    (rc = fm_sssp_write(host, fab, &trees, out, err)) != 0)
		return rc;
	found->max_hops = trees.max_hops;
	if (plan->rule.order != NULL)
		fm_sssp_count_unjoined(fab, plan, &trees, found);
	return make_even(host, fab, plan, &trees, out, err);
}

static int
route_base(const struct fm_host *host, const struct fm_fabric *base,
    const struct fm_sssp_plan *plan, const struct fm_tables *out, struct fm_paths *found,
    struct fm_error *err)
{
	if (fm_has_wishes(&plan->choice) || plan->rule.weight != NULL)
		return fm_sssp_greedy(host, base, plan, false, out, found, err);
	return route_batched(host, base, plan, out, found, err);
}

/* Base LIDs as they were alone; alternates beside them, on ways apart from theirs if wanted. */
int
fm_sssp_route(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_sssp_plan *plan, const struct fm_tables *out, struct fm_paths *found,
    struct fm_error *err)
{
	bool beside = plan->lids_apart || fm_has_wishes(&plan->choice) || plan->rule.weight != NULL;
	struct fm_paths again;
	struct fm_fabric base;
	struct fm_tables rows;
	int rc;

	if (!fm_has_lmc(fab))
		return route_base(host, fab, plan, out, found, err);
	if ((rc = fm_base_view(host, fab, &base, err)) != 0)
		return rc;
	if (beside && (rc = route_base(host, &base, plan, out, found, err)) == 0)
		rc = fm_sssp_greedy(host, fab, plan, true, out, &again, err);
	if (beside)
		return rc;
	if ((rc = route_batched(host, fab, plan, out, &again, err)) != 0 ||
	    (rc = fm_base_rows(host, fab, out, &rows, err)) != 0 ||
	    (rc = route_batched(host, &base, plan, &rows, found, err)) != 0)
		return rc;
	fm_base_take(host, fab, &rows, out);
	return 0;
}
