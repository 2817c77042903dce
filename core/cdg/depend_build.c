/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Building: packets are followed (depend_follow.c, depend_sweep.c, depend_ports.c) to
 * fill the next rows.  Then the rows are turned round and the vertices are sorted.
 */
#include <string.h>

#include "core/cdg/depend.h"

#define N_SLS 16u

static void
clear_rows(struct depend *g)
{
	size_t n = (size_t)g->n_channels * g->n_vls * g->words;

	memset(g->next, 0, n * sizeof(*g->next));
	memset(g->prev, 0, n * sizeof(*g->prev));
}

static uint32_t
count_vls(const struct fm_tables *t)
{
	if ((t->sl_shape == FM_SL_ZERO && !depend_by_ports(t)) || t->n_vls_used < 1)
		return 1;
	return t->n_vls_used > N_SLS ? N_SLS : t->n_vls_used;
}

struct depend *
depend_build(const struct fm_fabric *graph, const struct fm_fabric *ends, const struct fm_tables *t,
    const uint64_t *lost, enum verify_sl_model sl_model, struct fm_pool *workers)
{
	struct depend *g = depend_new(graph, count_vls(t), sl_model);
	bool by_ports = depend_by_ports(t);

	if (g == NULL)
		return NULL;
	if (!by_ports && depend_sweep_applies(g)) {
		if (!depend_sweep(g, ends, t, lost, workers))
			goto failed;
		depend_sort(g);
		if (!g->cyclic)
			return g;
		clear_rows(g); /* it was too much, perhaps */
	}
	if (by_ports ? !depend_follow_ports(g, ends, t, lost, workers)
		     : !depend_follow(g, ends, t, lost, workers))
		goto failed;
	depend_sort(g);
	return g;
failed:
	depend_free(g);
	return NULL;
}
