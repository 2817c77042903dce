/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A plan from bytes.  Nothing of the file is believed: its sum, then every count, switch
 * and cable; what does not fit is set aside.  O(switches * LIDs) bytes.
 */
#include "core/plan/plan_file_internal.h"

#include <stdlib.h>
#include <string.h>

#include "core/graph/adaptive.h"
#include "lib/bitset.h"
#include "lib/error.h"
#include "lib/log.h"

/* Ports of groups index what is there. */
static int
check_groups(struct router *r, struct plan *p, bool *good, struct fm_error *err)
{
	struct fm_error why = { 0 };
	int rc =
	    adaptive_check(&p->snap->fab, &p->tables->t, r->workers, &p->tables->adaptive, &why);

	*good = rc == 0;
	if (rc == FM_E_RESOURCE)
		return fm_fail(err, rc, "%s", why.msg);
	if (rc != 0)
		log_debug("route", "kept groups of adaptive routing do not fit: %s", why.msg);
	return 0;
}

static int
take_tables(const struct plan_file_head *h, struct plan_file_cursor *c, struct router *r,
    struct plan *p, bool *good, struct fm_error *err)
{
	uint32_t traits = FM_PROVIDES_LFT;
	struct fm_fabric shape = p->snap->fab;
	struct fm_tables *t;
	int rc;

	shape.max_lid = h->top_lid;
	if (h->sl_shape != FM_SL_ZERO || h->sl2vl_shape != FM_SL2VL_MODULO)
		traits |= FM_PROVIDES_SL;
	if (h->adaptive)
		traits |= FM_PROVIDES_AR;
	rc = tables_new(
	    r->tables, r->workers, &shape, traits, r->set.ar_max_groups, &p->tables, err);
	if (rc != 0)
		return rc;
	t = &p->tables->t;
	t->sl_shape = (enum fm_sl_shape)h->sl_shape;
	t->sl2vl_shape = (enum fm_sl2vl_shape)h->sl2vl_shape;
	t->n_vls_used = h->n_vls_used;
	c->sl_row = calloc(shape.n_switches + 1, sizeof(*c->sl_row));
	if (c->sl_row == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for kept tables");
	*good = plan_file_tables(c, t, h->top_lid);
	if (*good && t->sl_shape == FM_SL_BY_SW_DLID)
		tables_share_sl(p->tables, c->sl_row, shape.n_switches);
	free(c->sl_row);
	return *good && tables_are_adaptive(t) ? check_groups(r, p, good, err) : 0;
}

static int
take_refusals(
    struct plan_file_cursor *c, uint32_t n, struct plan *p, bool *good, struct fm_error *err)
{
	for (uint32_t i = 0; *good && i < n; i++) {
		struct plan_refusal one = { .by_auto = false };

		*good = plan_file_part(c, &one, sizeof(one));
		if (*good && !fm_vec_push(&p->refused, one))
			return fm_fail(err, FM_E_RESOURCE, "out of memory for kept tables");
	}
	return 0;
}

/* The switches and ends that there are now, for tables that name other cables. */
static bool
list_parts(const struct snapshot *snap, struct snapshot_builder *b)
{
	bool ok = true;

	for (fm_sw sw = 0; ok && sw < snap->fab.n_switches; sw++)
		ok = fm_vec_push(&b->switches, snapshot_switch_of(snap, sw));
	for (fm_end e = 0; ok && e < snap->fab.n_ends; e++)
		ok = fm_vec_push(&b->ends, snapshot_end_of(snap, e));
	return ok;
}

/* *good false: a cable has switches that are not there. */
static bool
list_cables(struct plan_file_cursor *c, uint32_t n, const struct snapshot *snap,
    struct snapshot_builder *b, bool *good)
{
	for (uint32_t i = 0; *good && i < n; i++) {
		struct plan_file_cable one = { 0 };
		struct snapshot_cable cable;

		*good = plan_file_part(c, &one, sizeof(one));
		if (!*good)
			break;
		cable = (struct snapshot_cable){
			.sw = { fm_hash_find(&snap->sw_by_guid, one.guid[0]),
			    fm_hash_find(&snap->sw_by_guid, one.guid[1]) },
			.port = { one.port[0], one.port[1] },
			.n_vls = one.n_vls,
			.mbps = one.mbps,
			.nominal_mbps = one.nominal_mbps,
		};
		*good = cable.sw[0] != FM_HASH_NONE && cable.sw[1] != FM_HASH_NONE;
		if (*good && !fm_vec_push(&b->cables, cable))
			return false;
	}
	return true;
}

/* The graph that the tables were made for, with the ends there are now: *out, or
 * NULL with *good: an end stands where a cable was, say. */
static int
take_graph(struct plan_file_cursor *c, uint32_t n_cables, struct snapshot *snap,
    struct snapshot **out, bool *good, struct fm_error *err)
{
	struct snapshot_builder b = { 0 };
	struct fm_error why = { 0 };
	int rc = 0;

	*out = NULL;
	if (!list_parts(snap, &b) || !list_cables(c, n_cables, snap, &b, good))
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory for kept tables");
	if (rc == 0 && *good)
		rc = snapshot_build(&b, out, &why);
	snapshot_builder_fini(&b);
	if (rc == 0 || rc == FM_E_RESOURCE)
		return rc;
	log_debug("route", "kept tables do not fit: %s", why.msg);
	return 0;
}

static int
take_deviations(
    struct plan_file_cursor *c, uint32_t n, struct plan *p, bool *good, struct fm_error *err)
{
	for (uint32_t i = 0; *good && i < n; i++) {
		struct plan_file_entry one = { 0 };
		struct plan_entry e;

		*good = plan_file_part(c, &one, sizeof(one));
		if (!*good)
			break;
		e = (struct plan_entry){ .sw = fm_hash_find(&p->snap->sw_by_guid, one.guid),
			.lid = one.lid,
			.port = one.port };
		*good = e.sw != FM_HASH_NONE && e.lid <= p->top_lid;
		if (*good && !fm_vec_push(&p->deviations, e))
			return fm_fail(err, FM_E_RESOURCE, "out of memory for kept tables");
	}
	if (*good && p->deviations.n > 1) /* switches may have other numbers now */
		qsort(p->deviations.item, p->deviations.n, sizeof(p->deviations.item[0]),
		    plan_entry_by_lid);
	return 0;
}

static int
note_absent(struct plan *p, const uint64_t *lids, int64_t now_ms, struct fm_error *err)
{
	const struct fm_fabric *fab = &p->snap->fab;

	for (uint32_t lid = 1; lid <= p->top_lid; lid++) {
		struct plan_absent a = { .lid = (uint16_t)lid, .since_ms = now_ms };

		if (fm_bit_test(lids, lid) &&
		    (lid > fab->max_lid || fab->lid_end[lid] == FM_NONE) &&
		    !fm_vec_push(&p->absent, a))
			return fm_fail(err, FM_E_RESOURCE, "out of memory for kept tables");
	}
	return 0;
}

/* What the head says. */
static struct plan *
begin_plan(const struct plan_file_head *h, struct snapshot *graph, struct fm_error *err)
{
	struct plan *p = plan_new(graph, err);

	if (p == NULL)
		return NULL;
	p->graph = snapshot_get(graph);
	p->top_lid = h->top_lid;
	p->mark = h->chain_mark;
	p->n_joined = h->n_joined;
	p->forward_only = h->forward_only != 0;
	p->mended = h->mended != 0;
	p->verdict.unreachable_pairs = h->unreachable_pairs;
	memcpy(p->engine, h->engine, sizeof(p->engine) - 1);
	memcpy(p->adaptive_given_up, h->adaptive_given_up, sizeof(p->adaptive_given_up) - 1);
	return p;
}

/* The rest of the file, for a plan on the graph it names; *p stays NULL where that
 * is none. */
static int
take_parts(const struct plan_file_head *h, struct plan_file_cursor *c, struct router *r,
    struct snapshot *snap, struct plan **p, bool *good, struct fm_error *err)
{
	uint8_t *refused = c->at;
	size_t n_refused = h->n_refused * sizeof(struct plan_refusal);
	struct snapshot *graph = NULL;
	int rc;

	*good = (size_t)(c->end - c->at) >= n_refused;
	if (!*good)
		return 0;
	c->at += n_refused;
	rc = take_graph(c, h->n_cables, snap, &graph, good, err);
	if (rc != 0 || graph == NULL)
		return rc;
	*p = begin_plan(h, graph, err);
	snapshot_put(graph);
	if (*p == NULL)
		return FM_E_RESOURCE;
	c->snap = (*p)->snap;
	if ((rc = take_deviations(c, h->n_deviations, *p, good, err)) != 0 || !*good ||
	    (rc = take_tables(h, c, r, *p, good, err)) != 0 || !*good)
		return rc;
	*good = plan_file_regions(c, &(*p)->regions) && c->at == c->end;
	if (c->no_memory)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for kept tables");
	if (!*good)
		return 0;
	*c = (struct plan_file_cursor){ .at = refused, .end = refused + n_refused };
	return take_refusals(c, h->n_refused, *p, good, err);
}

/* *out: the plan, NULL if the file is not good or does not fit. */
static int
take_plan(uint8_t *bytes, size_t n, struct router *r, struct snapshot *snap, int64_t now_ms,
    bool *good, struct plan **out, struct fm_error *err)
{
	struct plan_file_cursor c = { .at = bytes, .end = bytes + n };
	struct plan_file_head h;
	const uint64_t *lids;
	struct plan *p = NULL;
	int rc;

	*good = n >= sizeof(h) && plan_file_part(&c, &h, sizeof(h)) &&
	    (size_t)(c.end - c.at) >= plan_file_lids_bytes(h.top_lid) &&
	    h.sl_shape <= FM_SL_BY_SW_DLID && h.sl2vl_shape <= FM_SL2VL_BY_IN_OUT;
	if (!*good)
		return 0;
	lids = (const uint64_t *)(void *)c.at;
	c.at += plan_file_lids_bytes(h.top_lid);
	rc = take_parts(&h, &c, r, snap, &p, good, err);
	if (rc == 0 && *good && p != NULL)
		rc = note_absent(p, lids, now_ms, err);
	if (rc == 0 && *good)
		*out = p;
	else
		plan_put(p);
	return rc;
}

int
plan_file_load(const char *path, struct router *r, struct snapshot *snap, uint64_t chain_mark,
    int64_t now_ms, struct plan **out, struct fm_error *err)
{
	struct plan_file_head h;
	bool good = false;
	uint32_t n_switches;
	size_t n;
	uint8_t *bytes = fm_seal_read(path, PLAN_FILE_WHAT, PLAN_FILE_MAGIC, sizeof(h), &n);
	int rc = 0;

	*out = NULL;
	if (bytes == NULL)
		return 0;
	memcpy(&h, bytes, sizeof(h));
	if (h.chain_mark == chain_mark &&
	    h.switches_mark == plan_file_mark_switches(&snap->fab, &n_switches) &&
	    h.n_switches == n_switches && n_switches == snap->fab.n_switches) {
		rc = take_plan(bytes, n, r, snap, now_ms, &good, out, err);
		if (rc == 0 && !good)
			fm_seal_set_aside(path, PLAN_FILE_WHAT, "it does not hold what it says");
	}
	free(bytes);
	return rc;
}
