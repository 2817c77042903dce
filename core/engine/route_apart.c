/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables for another process, and back.  The tables of a whole fabric are used where the
 * process wrote them; those of a part of it, which shares a mapping with other parts that are
 * none of its business, are copied.
 */
#include "core/engine/route_apart.h"

#include <string.h>

#include "core/abi/host.h"
#include "core/apart/apart.h"
#include "lib/error.h"

struct copy {
	uint8_t *const *from, *const *to;
	size_t n_bytes;
};

static void
copy_row(void *arg, uint32_t i, unsigned worker)
{
	const struct copy *c = arg;

	memcpy(c->to[i], c->from[i], c->n_bytes);
}

static void
fill_from(struct router *r, const struct route_job *job, const struct tables *t)
{
	size_t n = (size_t)job->fab->max_lid + 1;

	for (fm_sw sw = 0; sw < job->fab->n_switches; sw++)
		memcpy(t->t.lft[sw], job->into->t.lft[job->rows[sw]], n);
}

int
route_apart_room(
    struct router *r, const struct route_job *job, struct tables **out, struct fm_error *err)
{
	uint16_t ar_max_groups = job->into == NULL ? r->set.ar_max_groups : 0;
	int rc;

	if (r->shared == NULL && (r->shared = table_pool_new_shared()) == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for tables");
	rc = tables_new(
	    r->shared, r->workers, job->fab, job->engine->traits, ar_max_groups, out, err);
	if (rc == 0 && job->into != NULL && job->as_is)
		fill_from(r, job, *out);
	return rc;
}

/* The first of bytes from..stride-1 that is another, or stride. */
static size_t
find_other(const uint8_t *row, size_t from, size_t stride, uint8_t byte)
{
	while (from < stride && row[from] == byte)
		from++;
	return from;
}

/* Was anything written behind max_lid in a row of the LFT or of SLs?  O(switches). */
static bool
find_overrun(const struct fm_fabric *fab, const struct tables *t, fm_sw *sw, size_t *lid)
{
	size_t from = (size_t)fab->max_lid + 1, stride = t->t.lft_stride;

	for (*sw = 0; *sw < fab->n_switches; (*sw)++) {
		*lid = find_other(t->t.lft[*sw], from, stride, FM_PORT_NONE);
		if (*lid == stride && t->t.sl != NULL)
			*lid = find_other(t->t.sl[*sw], from, stride, 0);
		if (*lid < stride)
			return true;
	}
	return false;
}

static bool
is_cancelled(const void *arg)
{
	return route_host_is_cancelled(arg);
}

int
route_apart_call(struct router *r, const struct route_call_args *call, struct fm_error *err)
{
	struct apart_call c = { .fab = call->fab,
		.request = call->req,
		.opts = call->opts,
		.tables = call->t,
		.n_workers = fm_pool_size(r->workers),
		.scratch_bytes = r->scratch_budget_bytes,
		.fail_at = r->scratch_fail_at,
		.time_limit_ms = call->job->time_limit_ms,
		.is_cancelled = is_cancelled,
		.arg = r->host };
	size_t lid;
	fm_sw sw;
	int rc;

	c.at = tables_shared(call->tables, &c.n_bytes, &c.fd);
	rc = apart_route(apart_of(call->job->engine), &c, err);
	if (rc != 0 || !find_overrun(call->job->fab, call->tables, &sw, &lid))
		return rc;
	return fm_fail(err, FM_E_BUG,
	    "it wrote behind a row of switch 0x%016llx, at entry %zu: LIDs end at %u",
	    (unsigned long long)call->job->fab->sw_guid[sw], lid, call->job->fab->max_lid);
}

int
route_apart_take(
    struct router *r, const struct route_job *job, struct tables **t, struct fm_error *err)
{
	const struct fm_tables *from = &(*t)->t;
	const struct fm_fabric *fab = job->fab;
	struct tables *over;
	struct copy c = { .from = from->lft, .n_bytes = (size_t)fab->max_lid + 1 };
	int rc = tables_over(
	    job->into, job->rows, r->workers, fab, job->engine->traits, job->as_is, &over, err);

	if (rc != 0)
		return rc;
	c.to = over->t.lft;
	fm_pool_for(r->workers, fab->n_switches, copy_row, &c);
	over->t.sl_shape = from->sl_shape;
	over->t.sl2vl_shape = from->sl2vl_shape;
	over->t.n_vls_used = from->n_vls_used;
	if (from->sl != NULL) {
		c = (struct copy){ from->sl, over->t.sl, (size_t)fab->max_lid + 1 };
		fm_pool_for(r->workers, fab->n_switches, copy_row, &c);
		memcpy(over->t.sl2vl, from->sl2vl, (size_t)from->sl2vl_first[fab->n_switches] * 16);
	}
	if (from->order != NULL)
		memcpy(over->t.order, from->order, from->lft_stride * sizeof(*from->order));
	tables_put(*t);
	*t = over;
	return 0;
}
