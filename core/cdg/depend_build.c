/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Building: packets are followed (depend_follow.c, depend_sweep.c, depend_ports.c) to
 * fill the next rows.  Then the rows are turned round and the vertices are sorted.
 */
#include <string.h>

#include "core/cdg/depend.h"
#include "core/graph/tables.h"

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

/* The next rows by the tables; false: out of memory. */
static bool
follow(struct depend *g, const struct fm_fabric *ends, const struct fm_tables *t,
    const uint64_t *lost, struct fm_pool *workers)
{
	if (depend_by_ports(t))
		return depend_follow_ports(g, ends, t, lost, workers);
	if (!depend_sweep_applies(g))
		return depend_follow(g, ends, t, lost, workers);
	if (!depend_sweep(g, ends, t, lost, workers))
		return false;
	depend_sort(g);
	if (!g->cyclic)
		return true;
	clear_rows(g); /* it was too much, perhaps */
	return depend_follow(g, ends, t, lost, workers);
}

/* With all choices of adaptive routing, where that closes no cycle.  False: out of memory. */
static bool
follow_with_choices(struct depend *g, const struct fm_fabric *ends, const struct fm_tables *t,
    const uint64_t *lost, struct fm_pool *workers)
{
	if (!follow(g, ends, t, lost, workers) || !depend_follow_choices(g, ends, t, lost))
		return false;
	depend_sort(g);
	g->has_choices = !g->cyclic;
	if (g->has_choices)
		return true;
	clear_rows(g);
	return follow(g, ends, t, lost, workers);
}

struct depend *
depend_build(const struct fm_fabric *graph, const struct fm_fabric *ends, const struct fm_tables *t,
    const uint64_t *lost, enum verify_sl_model sl_model, struct fm_pool *workers)
{
	struct depend *g = depend_new(graph, count_vls(t), sl_model);
	bool chooses = tables_are_adaptive(t) && g != NULL && g->n_vls == 1 && !depend_by_ports(t);

	if (g == NULL)
		return NULL;
	if (chooses ? !follow_with_choices(g, ends, t, lost, workers)
		    : !follow(g, ends, t, lost, workers))
		goto failed;
	depend_sort(g);
	return g;
failed:
	depend_free(g);
	return NULL;
}
