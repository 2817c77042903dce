/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A plan as an object: references, names of its kinds, its differences in blocks.
 */
#include "core/plan/plan.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/error.h"

#define BLOCK_LIDS 64

double
plan_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

struct plan *
plan_new(struct snapshot *snap, struct fm_error *err)
{
	static atomic_uint_fast64_t last_number;
	struct plan *p = calloc(1, sizeof(*p));

	if (p == NULL) {
		fm_fail(err, FM_E_RESOURCE, "out of memory while routing");
		return NULL;
	}
	atomic_init(&p->refs, 1);
	p->number = atomic_fetch_add(&last_number, 1) + 1;
	p->snap = snapshot_get(snap);
	return p;
}

int
plan_entry_by_lid(const void *a, const void *b)
{
	const struct plan_entry *x = a, *y = b;

	if (x->lid != y->lid)
		return x->lid < y->lid ? -1 : 1;
	return x->sw < y->sw ? -1 : x->sw > y->sw;
}

int
plan_entry_by_switch(const void *a, const void *b)
{
	const struct plan_entry *x = a, *y = b;

	if (x->sw != y->sw)
		return x->sw < y->sw ? -1 : 1;
	return x->lid < y->lid ? -1 : x->lid > y->lid;
}

uint32_t
plan_count_blocks(const struct plan *p)
{
	uint32_t n = 0;

	for (size_t i = 0; i < p->delta.n; i++) {
		const struct plan_entry *e = &p->delta.item[i];

		n += i == 0 || e[-1].sw != e->sw || e[-1].lid / BLOCK_LIDS != e->lid / BLOCK_LIDS;
	}
	return n;
}

void
plan_copy_maker(struct plan *p, const struct plan *prev)
{
	memcpy(p->engine, prev->engine, sizeof(p->engine));
	p->because = prev->because;
	memcpy(p->weighed, prev->weighed, sizeof(p->weighed));
	p->mark = prev->mark;
	p->forward_only = prev->forward_only;
	p->regions = plan_regions_get(prev->regions);
}

struct plan *
plan_get(struct plan *p)
{
	atomic_fetch_add(&p->refs, 1);
	return p;
}

void
plan_put(struct plan *p)
{
	if (p == NULL || atomic_fetch_sub(&p->refs, 1) != 1)
		return;
	tables_put(p->tables);
	plan_regions_put(p->regions);
	snapshot_put(p->snap);
	snapshot_put(p->graph);
	fm_vec_fini(&p->refused);
	fm_vec_fini(&p->absent);
	mcast_trees_put(p->mcast);
	free(p->rules);
	fm_vec_fini(&p->delta);
	fm_vec_fini(&p->deviations);
	free(p);
}

void
plan_weighed_put(struct plan_weighed *w)
{
	plan_put(w->was);
	plan_put(w->found);
	*w = (struct plan_weighed){ 0 };
}

const char *
plan_join_name(enum plan_join join)
{
	static const char *const names[] = { "", "flat", "islands", "whole" };

	return names[join];
}

struct plan_regions *
plan_regions_get(struct plan_regions *r)
{
	if (r != NULL)
		atomic_fetch_add(&r->refs, 1);
	return r;
}

void
plan_regions_put(struct plan_regions *r)
{
	if (r == NULL || atomic_fetch_sub(&r->refs, 1) != 1)
		return;
	for (uint32_t i = 0; r->region != NULL && i < r->n; i++)
		fm_vec_fini(&r->region[i].refused);
	free(r->region);
	free(r->loops_within);
	free(r);
}

const char *
plan_engine_of(const struct plan *p, const char *region)
{
	const struct plan_regions *r = p->regions;

	for (uint32_t i = 0; r != NULL && r->join != PLAN_WHOLE && i < r->n; i++)
		if (strcmp(r->region[i].name, region) == 0 && r->region[i].engine[0] != '\0')
			return r->region[i].engine;
	return p->engine;
}

const char *
plan_change_name(enum plan_change_kind kind)
{
	switch (kind) {
	case PLAN_FIRST:
		return "none";
	case PLAN_LOSS:
		return "loss";
	case PLAN_RECOVERY:
		return "recovery";
	case PLAN_REBALANCE:
		return "rebalance";
	case PLAN_ENGINE:
		return "engine";
	}
	return "";
}
