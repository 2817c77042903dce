/* SPDX-License-Identifier: BSD-2-Clause */
/* One call of an engine on a router, and what is learned of it. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <fmd/own.h>

#include "core/abi/host.h"
#include "core/route/route.h"
#include "lab/judge/props_internal.h"
#include "lib/arena.h"
#include "lib/hash.h"

#define GROUPS 64 /* of adaptive routing, asked of engines that have it */

static uint64_t
mix_bytes(uint64_t h, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	uint64_t word;

	for (; n >= 8; n -= 8, p += 8) {
		memcpy(&word, p, 8);
		h = fm_mix64(h ^ word) + 1;
	}
	for (; n > 0; n--, p++)
		h = fm_mix64(h ^ *p) + 1;
	return h;
}

static uint64_t
mix_groups(uint64_t h, const struct fm_fabric *fab, const struct fm_tables *t)
{
	for (fm_sw s = 0; tables_are_adaptive(t) && s < fab->n_switches; s++) {
		h = mix_bytes(h, t->ar_group[s], ((size_t)fab->max_lid + 1) * sizeof(uint16_t));
		h = mix_bytes(h, t->ar_ports[s][1], t->ar_n_groups[s] * (size_t)32);
	}
	return h + t->ar_dropped;
}

uint64_t
props_digest(const struct fm_fabric *fab, const struct fm_tables *t)
{
	uint64_t h = t->n_vls_used + 16 * (uint64_t)t->sl_shape + 256 * (uint64_t)t->sl2vl_shape;
	size_t lids = (size_t)fab->max_lid + 1;

	for (fm_sw s = 0; s < fab->n_switches; s++) {
		h = mix_bytes(h, t->lft[s], lids);
		if (t->sl_shape == FM_SL_BY_SW_DLID)
			h = mix_bytes(h, t->sl[s], lids);
	}
	if (t->sl_shape == FM_SL_BY_DLID)
		h = mix_bytes(h, t->sl[0], lids);
	if (t->order != NULL)
		h = mix_bytes(h, t->order, lids * sizeof(*t->order));
	if (t->sl2vl_shape == FM_SL2VL_BY_OUT)
		h = mix_bytes(h, t->sl2vl, (size_t)fab->n_links * 16);
	if (t->sl2vl_shape == FM_SL2VL_BY_IN_OUT)
		h = mix_bytes(h, t->sl2vl, (size_t)t->sl2vl_first[fab->n_switches] * 16);
	return mix_groups(h, fab, t);
}

/* The first entry that is still PROPS_POISON. */
static struct props_entry
find_unwritten(const struct fm_fabric *fab, const struct fm_tables *t)
{
	for (fm_sw s = 0; s < fab->n_switches; s++)
		for (uint32_t lid = 0; lid <= fab->max_lid; lid++)
			if (t->lft[s][lid] == PROPS_POISON && fab->sw_n_ports[s] < PROPS_POISON)
				return (struct props_entry){ s, lid };
	return (struct props_entry){ FM_NONE, 0 };
}

static void
poison(const struct fm_engine *engine, const struct fm_fabric *fab, const struct fm_tables *t)
{
	bool sls = t->sl != NULL && (engine->traits & FM_WRITES_WHOLE_SLS) != 0;

	for (fm_sw s = 0; s < fab->n_switches; s++) {
		memset(t->lft[s], PROPS_POISON, t->lft_stride);
		if (sls)
			memset(t->sl[s], PROPS_POISON, t->lft_stride);
	}
	if (sls)
		memset(t->sl2vl, PROPS_POISON, (size_t)t->sl2vl_first[fab->n_switches] * 16);
}

static const struct metrics_request few_samples = { .ebb_samples = 1, .seed = 1 };

static int
run_routed(const struct props *p, struct router *r, const void *opts, struct props_trial *t,
    struct fm_error *err)
{
	struct verify_request req = { .n_vls = p->n_vls,
		.sl_model = r->set.sl_model,
		.loops_last = (p->engine->traits & FM_PROMISES_NO_CREDIT_LOOPS) == 0 };
	const struct fm_fabric *fab = &p->snap->fab;
	struct tables *tables;
	int rc;

	r->set.n_vls = p->n_vls;
	r->set.ar_max_groups = GROUPS;
	r->scratch_fail_at = t->fail_at;
	rc = route_once(r, p->engine, opts, fab, NULL, 0, &tables, err);
	if (p->found != NULL && route_host_was_asked(r->host))
		p->found->asks = true;
	if (rc != 0)
		return rc;
	t->digest = props_digest(fab, &tables->t);
	if (t->unwritten != NULL)
		*t->unwritten = find_unwritten(fab, &tables->t);
	if (t->verdict != NULL)
		rc = verify_tables(p->snap, &tables->t, &req, r->workers, t->verdict, err);
	if (rc == 0 && t->metrics != NULL && verdict_is_safe(t->verdict, true))
		rc =
		    metrics_compute(p->snap, &tables->t, &few_samples, r->workers, t->metrics, err);
	if (t->poison)
		poison(p->engine, fab, &tables->t);
	if (rc == 0 && t->keep != NULL)
		*t->keep = tables_get(tables);
	tables_put(tables);
	return rc;
}

int
props_run(const struct props *p, struct router *r, struct props_trial *t, struct fm_error *err)
{
	struct fm_arena mem;
	void *opts;
	int rc;

	fm_arena_init(&mem, SIZE_MAX);
	rc = options_bind(p->engine, p->values, p->snap, &mem, &opts, err);
	if (rc == 0)
		rc = run_routed(p, r, opts, t, err);
	fm_arena_fini(&mem);
	return rc;
}

void
props_routers_fini(struct props_routers *r)
{
	for (size_t i = 0; i < sizeof(r->made) / sizeof(*r->made); i++)
		if (r->n_workers[i] != 0)
			router_fini(&r->made[i]);
	memset(r, 0, sizeof(*r));
}

/* The kept router of so many workers; NULL when there is no place for one more. */
static int
kept_router(struct props_routers *r, unsigned n_workers, struct router **out, struct fm_error *err)
{
	*out = NULL;
	for (size_t i = 0; i < sizeof(r->made) / sizeof(*r->made) && *out == NULL; i++) {
		int rc = r->n_workers[i] == 0 ? router_init(&r->made[i], n_workers, err) : 0;

		if (rc != 0)
			return rc;
		if (r->n_workers[i] == 0)
			r->n_workers[i] = n_workers;
		if (r->n_workers[i] == n_workers)
			*out = &r->made[i];
	}
	return 0;
}

/* The same with a kept router or one of its own: who is told to stop stays so. */
int
props_run_with(const struct props *p, struct props_trial *t, struct fm_error *err)
{
	struct router own, *kept = NULL;
	int rc = 0;

	if (p->routers != NULL && !t->stopped)
		rc = kept_router(p->routers, t->n_workers, &kept, err);
	if (rc == 0 && kept != NULL)
		return props_run(p, kept, t, err);
	if (rc != 0 || (rc = router_init(&own, t->n_workers, err)) != 0)
		return rc;
	if (t->stopped)
		route_host_cancel(own.host);
	rc = props_run(p, &own, t, err);
	router_fini(&own);
	return rc;
}

void
props_trying(const struct props *p, const char *fmt, ...)
{
	char what[200];
	va_list ap;

	if (p->trying == NULL)
		return;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	p->trying(p->arg, what);
}

enum props_outcome
props_broken(char *report, size_t room, const char *what, const char *detail)
{
	snprintf(report, room, "%s%s%s", what, *detail != '\0' ? ": " : "", detail);
	return PROPS_BROKEN;
}
