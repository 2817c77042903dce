/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of the tables, in tasks: a bundle with its switches, or the tops of
 * a block; the template rows hold FM_PORT_NONE for LIDs of nobody, so every row
 * is whole (FM_WRITES_WHOLE_ROWS).  Tasks share nothing, so the bytes do not depend on the workers.
 * O(table bytes + displaced LIDs).
 */
#include "plugins/common/tree/dmodk_fill.h"

static void
fill_user(struct fm_dmodk_routes *ft, struct ft_scratch *w, uint32_t bundle, uint32_t user)
{
	const struct ft_bundle *b = &ft->bundles[bundle];
	fm_sw s = b->users[user];
	struct ft_row r = { .ft = ft,
		.w = w,
		.b = b,
		.sw = s,
		.turn = bundle + user,
		.lft = ft->out->lft[s],
		.prev = ft->how->prev_lft != NULL ? ft->how->prev_lft[s] : NULL };

	ft_find_children(&r);
	ft_fill_up(&r);
	if (r.has_children)
		ft_fill_down(&r);
	ft_fill_own(&r);
}

static void
fill_bundle(struct fm_dmodk_routes *ft, struct ft_scratch *w, uint32_t bundle)
{
	const struct ft_bundle *b = &ft->bundles[bundle];
	uint32_t n_deals;

	ft_make_template_row(ft, w, b);
	n_deals = ft->how->agree ? 1 : w->n_displaced <= FT_FEW ? FT_DEALS_OF_FEW : FT_DEALS;
	for (uint32_t deal = 0; deal < n_deals && deal < b->n_users; deal++) {
		if (!ft->how->agree)
			ft_deal_displaced(ft, w, b, bundle + deal * (b->n_slots / n_deals + 1));
		for (uint32_t u = deal; u < b->n_users; u += n_deals)
			fill_user(ft, w, bundle, u);
	}
}

static bool
take_sets(struct fm_dmodk_routes *ft, unsigned worker, struct ft_scratch *w)
{
	uint64_t *sets = ft->host->scratch_worker(
	    ft->host, worker, (FT_MAX_SLOTS + 265 + FT_MAX_COST) * ft->words * sizeof(uint64_t));

	w->kids = ft->host->scratch_worker(ft->host, worker, 256 * sizeof(*w->kids));
	if (sets == NULL || w->kids == NULL)
		return false;
	w->some = sets;
	w->done = sets + ft->words;
	w->one = sets + 2 * ft->words;
	w->lower = sets + 3 * ft->words;
	w->count = sets + 4 * ft->words;
	w->kid_bits = sets + 7 * ft->words;
	w->some_kept = sets + 263 * ft->words;
	w->at_hops = sets + 264 * ft->words;
	w->offers = sets + (264 + FT_MAX_COST) * ft->words;
	return true;
}

static struct ft_scratch *
scratch_of(struct fm_dmodk_routes *ft, unsigned worker)
{
	const struct fm_host *host = ft->host;
	struct ft_scratch *w = ft->worker[worker];

	if (w != NULL)
		return w;
	w = host->scratch_worker(host, worker, sizeof(*w));
	if (w == NULL || !take_sets(ft, worker, w))
		goto none;
	w->slot = host->scratch_worker(host, worker, ft->n_lids);
	w->lacks = host->scratch_worker(host, worker, ft->n);
	w->only = host->scratch_worker(host, worker, ft->n);
	w->mask = host->scratch_worker(host, worker, ft->n * sizeof(*w->mask));
	w->leads = host->scratch_worker(host, worker, ft->n * sizeof(*w->leads));
	w->displaced = host->scratch_worker(host, worker, ft->n_lids * sizeof(*w->displaced));
	w->lost = host->scratch_worker(host, worker, ft->n_lids * sizeof(*w->lost));
	w->group_at = host->scratch_worker(host, worker, ft->n * sizeof(*w->group_at));
	if (!w->slot || !w->lacks || !w->only || !w->mask || !w->leads || !w->displaced ||
	    !w->lost || !w->group_at)
		goto none;
	return ft->worker[worker] = w;
none:
	atomic_store(&ft->no_memory, true);
	return NULL;
}

struct tasks {
	struct fm_dmodk_routes *ft;
	fm_sw *tops;	 /* switches without parents, block by block */
	uint32_t *first; /* [n_top_tasks + 1] into tops */
	uint32_t n_top_tasks;
};

static void
add_top_task(struct tasks *t, uint32_t n_tops)
{
	if (n_tops > t->first[t->n_top_tasks])
		t->first[++t->n_top_tasks] = n_tops;
}

static void
find_tops(struct tasks *t)
{
	const struct fm_dmodk_routes *ft = t->ft;
	uint32_t n = 0;

	for (uint32_t b = 0; b < ft->n_blocks; b++) {
		for (uint32_t i = ft->block_first[b]; i < ft->block_first[b + 1]; i++)
			if (ft->bundle_of[ft->block_member[i]] == FM_NONE)
				t->tops[n++] = ft->block_member[i];
		add_top_task(t, n);
	}
	for (fm_sw s = 0; s < ft->n; s++)
		if (ft->bundle_of[s] == FM_NONE && ft->block[s] == FM_NONE) {
			t->tops[n++] = s;
			add_top_task(t, n);
		}
}

static void
run_task(void *arg, uint32_t i, unsigned worker)
{
	struct tasks *t = arg;
	struct fm_dmodk_routes *ft = t->ft;
	struct ft_scratch *w = scratch_of(ft, worker);

	if (w == NULL || ft->host->should_stop(ft->host))
		return;
	if (i < ft->n_bundles) {
		fill_bundle(ft, w, i);
		return;
	}
	i -= ft->n_bundles;
	ft_fill_tops(ft, w, t->tops + t->first[i], t->first[i + 1] - t->first[i]);
}

int
ft_fill(struct fm_dmodk_routes *ft, struct fm_error *err)
{
	struct tasks t = { .ft = ft,
		.tops = ft_alloc(ft, ft->n, sizeof(*t.tops)),
		.first = ft_alloc(ft, (size_t)ft->n + 1, sizeof(*t.first)) };

	ft->worker = ft_alloc(ft, ft->host->n_workers(ft->host), sizeof(*ft->worker));
	if (t.tops == NULL || t.first == NULL || ft->worker == NULL)
		return ft_out_of_memory(ft, err);
	find_tops(&t);
	ft->host->parallel_for(ft->host, ft->n_bundles + t.n_top_tasks, run_task, &t);
	if (atomic_load(&ft->no_memory))
		return ft_out_of_memory(ft, err);
	if (ft->host->should_stop(ft->host))
		return ft->host->fail(
		    ft->host, err, FM_E_CANCELLED, "stopped while filling the tables");
	return 0;
}
