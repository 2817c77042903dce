/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A plan as bytes: the tables, both ways (one description of the layout serves both:
 * plan_file_tables() visits every part in order and copies it out or in), and how the
 * file is written.  O(switches * LIDs) bytes.
 */
#include "core/plan/plan_file_internal.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/graph/graph_diff.h"
#include "lib/bitset.h"
#include "lib/error.h"

/* --------------------------------------------------------- the switches */

uint64_t
plan_file_mark_switches(const struct fm_fabric *fab, uint32_t *n)
{
	uint64_t sum = 0;

	*n = 0;
	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		uint64_t h;

		if (graph_is_gone(fab, sw))
			continue;
		h = fm_hash_bytes(fab->sw_guid[sw], fab->sw_name[sw], strlen(fab->sw_name[sw]));
		sum += fm_mix64(h ^ fab->sw_n_ports[sw]);
		++*n;
	}
	return fm_mix64(sum);
}

/* ------------------------------------------------------------- the parts */

static bool
sl2vl_parts(struct plan_file_cursor *c, const struct fm_tables *t, fm_sw sw)
{
	const struct fm_fabric *fab = &c->snap->fab;
	size_t n_ports = fab->sw_n_ports[sw] + 1u;

	if (t->sl2vl_shape == FM_SL2VL_BY_IN_OUT)
		return plan_file_part(
		    c, t->sl2vl + (size_t)t->sl2vl_first[sw] * 16, n_ports * n_ports * 16);
	for (unsigned p = 1; t->sl2vl_shape == FM_SL2VL_BY_OUT && p < n_ports; p++) {
		fm_link l = fm_link_at(fab, sw, p);

		if (l != FM_NONE && !plan_file_part(c, t->sl2vl + (size_t)l * 16, 16))
			return false;
	}
	return true;
}

/* The SLs of sw: the GUID of the switch whose row it has, and the row if that is its own. */
static bool
sl_parts(struct plan_file_cursor *c, const struct fm_tables *t, size_t row, fm_sw sw)
{
	const struct snapshot *snap = c->snap;
	uint64_t guid = 0;

	if (t->sl_shape != FM_SL_BY_SW_DLID)
		return true;
	if (c->out)
		guid = snap->fab.sw_guid[c->sl_row[sw]];
	if (!plan_file_part(c, &guid, sizeof(guid)))
		return false;
	c->sl_row[sw] = fm_hash_find(&snap->sw_by_guid, guid);
	return c->sl_row[sw] != FM_HASH_NONE &&
	    (c->sl_row[sw] != sw || plan_file_part(c, t->sl[sw], row));
}

/* Of the first `row` LIDs. */
static uint16_t
highest_group(const struct fm_tables *t, fm_sw sw, size_t row)
{
	uint16_t n = 0;

	for (size_t lid = 0; lid < row; lid++)
		if (t->ar_group[sw][lid] > n)
			n = t->ar_group[sw][lid];
	return n;
}

/* How many groups of sw are in use, the group of each LID, and the ports of each group. */
static bool
group_parts(struct plan_file_cursor *c, const struct fm_tables *t, size_t row, fm_sw sw)
{
	uint16_t n = 0;

	if (!tables_are_adaptive(t))
		return true;
	if (c->out)
		n = highest_group(t, sw, row);
	return plan_file_part(c, &n, sizeof(n)) && n <= t->ar_n_groups[sw] &&
	    plan_file_part(c, t->ar_group[sw], row * sizeof(*t->ar_group[sw])) &&
	    plan_file_part(c, &t->ar_ports[sw][1], n * sizeof(*t->ar_ports[sw]));
}

static bool
switch_parts(struct plan_file_cursor *c, const struct fm_tables *t, size_t row, fm_sw sw)
{
	const struct snapshot *snap = c->snap;
	uint64_t guid = snap->fab.sw_guid[sw];

	if (!plan_file_part(c, &guid, sizeof(guid)))
		return false;
	sw = fm_hash_find(&snap->sw_by_guid, guid); /* read: another than the sw-th here */
	return sw != FM_HASH_NONE && plan_file_part(c, t->lft[sw], row) &&
	    sl_parts(c, t, row, sw) && sl2vl_parts(c, t, sw) && group_parts(c, t, row, sw);
}

bool
plan_file_tables(struct plan_file_cursor *c, const struct fm_tables *t, uint16_t top_lid)
{
	const struct fm_fabric *fab = &c->snap->fab;
	size_t row = (size_t)top_lid + 1;

	if (t->sl_shape == FM_SL_BY_DLID && !plan_file_part(c, t->sl[0], row))
		return false;
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		if (!graph_is_gone(fab, sw) && !switch_parts(c, t, row, sw))
			return false;
	return true;
}

/* ------------------------------------------------------------------ save */

/* Of both directions one; not those of switches that are gone. */
static bool
cable_counts(const struct plan *p, fm_sw sw, fm_link l)
{
	const struct fm_fabric *graph = &p->graph->fab, *now = &p->snap->fab;

	return l < graph->link_rev[l] && !graph_is_gone(now, sw) &&
	    !graph_is_gone(now, graph->link_to[l]);
}

static bool
cables_out(struct plan_file_cursor *c, const struct plan *p, uint32_t *n)
{
	const struct fm_fabric *fab = &p->graph->fab;
	bool ok = true;

	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++) {
			struct plan_file_cable one = {
				.guid = { fab->sw_guid[sw], fab->sw_guid[fab->link_to[l]] },
				.mbps = fab->link_mbps[l],
				.nominal_mbps = fab->link_nominal_mbps[l],
				.port = { fab->link_port[l], fab->link_port[fab->link_rev[l]] },
				.n_vls = fab->link_n_vls[l],
			};

			if (!cable_counts(p, sw, l))
				continue;
			ok = ok && plan_file_part(c, &one, sizeof(one));
			++*n;
		}
	return ok;
}

static bool
deviations_out(struct plan_file_cursor *c, const struct plan *p, uint32_t *n)
{
	bool ok = true;

	for (size_t i = 0; i < p->deviations.n; i++) {
		const struct plan_entry *e = &p->deviations.item[i];
		struct plan_file_entry one = {
			.guid = p->snap->fab.sw_guid[e->sw], .lid = e->lid, .port = e->port
		};

		if (graph_is_gone(&p->snap->fab, e->sw))
			continue;
		ok = ok && plan_file_part(c, &one, sizeof(one));
		++*n;
	}
	return ok;
}

/* LIDs that have entries. */
static bool
lids_out(struct plan_file_cursor *c, const struct plan *p)
{
	uint64_t *lids = calloc(1, plan_file_lids_bytes(p->top_lid));
	bool ok = lids != NULL;

	for (uint32_t lid = 1; ok && lid <= p->snap->fab.max_lid; lid++)
		if (p->snap->fab.lid_end[lid] != FM_NONE)
			fm_bit_set(lids, lid);
	for (size_t i = 0; ok && i < p->absent.n; i++)
		fm_bit_set(lids, p->absent.item[i].lid);
	ok = ok && plan_file_part(c, lids, plan_file_lids_bytes(p->top_lid));
	free(lids);
	return ok;
}

static struct plan_file_head
head_of(const struct plan *p, uint64_t chain_mark)
{
	const struct fm_tables *t = &p->tables->t;
	struct plan_file_head h;

	memset(&h, 0, sizeof(h)); /* the gaps too */
	h.chain_mark = chain_mark;
	h.switches_mark = plan_file_mark_switches(&p->snap->fab, &h.n_switches);
	h.unreachable_pairs = p->verdict.unreachable_pairs;
	h.n_joined = p->n_joined;
	h.n_refused = (uint32_t)p->refused.n;
	h.top_lid = p->top_lid;
	h.sl_shape = (uint8_t)t->sl_shape;
	h.sl2vl_shape = (uint8_t)t->sl2vl_shape;
	h.n_vls_used = t->n_vls_used;
	h.forward_only = p->forward_only;
	h.mended = p->mended;
	h.adaptive = tables_are_adaptive(t);
	memcpy(h.adaptive_given_up, p->adaptive_given_up, sizeof(h.adaptive_given_up));
	memcpy(h.engine, p->engine, sizeof(h.engine));
	return h;
}

/* Regions of other switches than the snapshot's are not told.  False: out of memory. */
static bool
plan_out(struct plan_file_cursor *c, const struct plan *p, uint64_t chain_mark)
{
	struct plan_file_head h = head_of(p, chain_mark);
	bool fit = p->regions != NULL && p->regions->n_switches == p->snap->fab.n_switches, ok;
	struct plan_regions *regions = fit ? p->regions : NULL;

	if (p->tables->t.sl_shape == FM_SL_BY_SW_DLID)
		tables_sl_rows(p->tables, p->snap->fab.n_switches, c->sl_row);
	ok = plan_file_part(c, &h, sizeof(h)) && lids_out(c, p) &&
	    plan_file_part(c, p->refused.item, p->refused.n * sizeof(struct plan_refusal)) &&
	    cables_out(c, p, &h.n_cables) && deviations_out(c, p, &h.n_deviations) &&
	    plan_file_tables(c, &p->tables->t, p->top_lid) && plan_file_regions(c, &regions);
	if (!ok)
		return false;
	memcpy(c->bytes.item, &h, sizeof(h)); /* with the numbers of cables and deviations */
	fm_seal_put(c->bytes.item, c->bytes.n, PLAN_FILE_MAGIC);
	return true;
}

int
plan_file_save(const char *path, const struct plan *p, uint64_t chain_mark, struct fm_error *err)
{
	struct plan_file_cursor c = { .snap = p->snap, .out = true };
	int rc;

	if (p->tables == NULL) {
		unlink(path);
		return 0;
	}
	c.sl_row = malloc((p->snap->fab.n_switches + 1) * sizeof(*c.sl_row));
	if (c.sl_row != NULL && plan_out(&c, p, chain_mark))
		rc = fm_seal_write(path, "tables", c.bytes.item, c.bytes.n, err);
	else
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory to keep the tables");
	fm_vec_fini(&c.bytes);
	free(c.sl_row);
	return rc;
}
