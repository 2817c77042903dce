/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every array by switch, link or end is copied in the new order; LIDs stay, so columns of
 * tables do, and rows are only pointed at in another order.  Links of a switch are sorted
 * by the new numbers of their far sides.
 */
#include "core/engine/renumber.h"

#include <stdlib.h>
#include <string.h>

#include <fmd/own.h>

#include "core/abi/options.h"
#include "core/graph/cable_order.h"
#include "lib/bitset.h"
#include "lib/error.h"

static int
no_memory(struct fm_error *err)
{
	return fm_fail(err, FM_E_RESOURCE, "out of memory for another order of the switches");
}

/* to[i] = from[old[i]]; NULL: no memory, or from is NULL, which the caller knows. */
static void *
pick(struct fm_arena *mem, const void *from, size_t size, const uint32_t *old, uint32_t n)
{
	unsigned char *to = from != NULL ? fm_arena_alloc_array(mem, (size_t)n + 1, size) : NULL;

	for (uint32_t i = 0; to != NULL && i < n; i++)
		memcpy(to + i * size, (const unsigned char *)from + old[i] * size, size);
	return to;
}
#define PICK(mem, from, old, n) pick((mem), (from), sizeof(*(from)), (old), (n))

static bool
pick_switches(struct renumbered *r, const struct fm_fabric *was)
{
	struct fm_fabric *fab = &r->fab;
	uint32_t n = was->n_switches;

	fab->sw_guid = PICK(&r->mem, was->sw_guid, r->sw, n);
	fab->sw_system_guid = PICK(&r->mem, was->sw_system_guid, r->sw, n);
	fab->sw_name = PICK(&r->mem, was->sw_name, r->sw, n);
	fab->sw_n_ports = PICK(&r->mem, was->sw_n_ports, r->sw, n);
	fab->sw_vendor_id = PICK(&r->mem, was->sw_vendor_id, r->sw, n);
	fab->sw_device_id = PICK(&r->mem, was->sw_device_id, r->sw, n);
	fab->sw_lft_entries = PICK(&r->mem, was->sw_lft_entries, r->sw, n);
	fab->sw_ar_groups = PICK(&r->mem, was->sw_ar_groups, r->sw, n);
	return fab->sw_guid != NULL && fab->sw_system_guid != NULL && fab->sw_name != NULL &&
	    fab->sw_n_ports != NULL && fab->sw_vendor_id != NULL && fab->sw_device_id != NULL &&
	    fab->sw_lft_entries != NULL && fab->sw_ar_groups != NULL;
}

/* -------------------------------------------------------------------- links */

/* By far side, then port: as the far sides are gone through in their order, parallel
 * cables alone may stand wrong. */
static void
put_link(const struct fm_fabric *was, fm_link *old, fm_link first, fm_link at, fm_link l)
{
	for (; at > first && was->link_to[old[at - 1]] == was->link_to[l] &&
	     was->link_port[old[at - 1]] > was->link_port[l];
	     at--)
		old[at] = old[at - 1];
	old[at] = l;
}

/* old[n_links], first[n_switches + 1]; number[n_switches]: new numbers, fill[n_switches] is
 * scratch. */
static void
sort_links(const struct renumbered *r, const struct fm_fabric *was, const fm_sw *number,
    fm_link *first, fm_link *fill, fm_link *old)
{
	for (uint32_t i = 0; i < was->n_switches; i++) {
		first[i + 1] =
		    first[i] + was->sw_first_link[r->sw[i] + 1] - was->sw_first_link[r->sw[i]];
		fill[i] = first[i];
	}
	for (uint32_t i = 0; i < was->n_switches; i++)
		for (fm_link l = was->sw_first_link[r->sw[i]]; l < was->sw_first_link[r->sw[i] + 1];
		     l++) {
			fm_sw near = number[was->link_to[l]];

			put_link(was, old, first[near], fill[near]++, was->link_rev[l]);
		}
}

static bool
pick_links(struct renumbered *r, const struct fm_fabric *was, const fm_sw *number)
{
	struct fm_fabric *fab = &r->fab;
	uint32_t n = was->n_links, n_sw = was->n_switches;
	fm_link *first = fm_arena_array(&r->mem, (size_t)n_sw + 1, fm_link);
	fm_link *fill = fm_arena_array(&r->mem, (size_t)n_sw + 1, fm_link);
	fm_link *old = fm_arena_array(&r->mem, (size_t)n + 1, fm_link);
	fm_link *rev = fm_arena_array(&r->mem, (size_t)n + 1, fm_link);
	fm_link *new = fm_arena_array(&r->mem, (size_t)n + 1, fm_link);
	fm_sw *to = fm_arena_array(&r->mem, (size_t)n + 1, fm_sw);

	if (first == NULL || fill == NULL || old == NULL || rev == NULL || new == NULL ||
	    to == NULL)
		return false;
	sort_links(r, was, number, first, fill, old);
	for (fm_link l = 0; l < n; l++)
		new[old[l]] = l;
	for (fm_link l = 0; l < n; l++) {
		to[l] = number[was->link_to[old[l]]];
		rev[l] = new[was->link_rev[old[l]]];
	}
	r->link = old;
	fab->sw_first_link = first;
	fab->link_to = to;
	fab->link_rev = rev;
	fab->link_port = PICK(&r->mem, was->link_port, old, n);
	fab->link_mbps = PICK(&r->mem, was->link_mbps, old, n);
	fab->link_nominal_mbps = PICK(&r->mem, was->link_nominal_mbps, old, n);
	fab->link_n_vls = PICK(&r->mem, was->link_n_vls, old, n);
	return fab->link_port != NULL && fab->link_mbps != NULL && fab->link_nominal_mbps != NULL &&
	    fab->link_n_vls != NULL;
}

/* --------------------------------------------------------------------- ends */

/* old[n_ends], first[n_switches + 1]; ends without a switch stay last. */
static void
sort_ends(const struct renumbered *r, const struct fm_fabric *was, fm_end *first, fm_end *old)
{
	fm_end n = 0;

	for (uint32_t i = 0; i < was->n_switches; i++) {
		first[i] = n;
		for (fm_end e = was->sw_first_end[r->sw[i]]; e < was->sw_first_end[r->sw[i] + 1];
		     e++)
			old[n++] = e;
	}
	first[was->n_switches] = n;
	for (; n < was->n_ends; n++)
		old[n] = n;
}

static bool
pick_ends(struct renumbered *r, const struct fm_fabric *was, const fm_sw *number)
{
	struct fm_fabric *fab = &r->fab;
	struct fm_arena *mem = &r->mem;
	uint32_t n = was->n_ends;
	fm_end *first = fm_arena_array(mem, (size_t)was->n_switches + 1, fm_end);
	fm_end *old = fm_arena_array(mem, (size_t)n + 1, fm_end);
	fm_end *new = fm_arena_array(mem, (size_t)n + 1, fm_end);
	fm_end *owner = fm_arena_array(mem, (size_t)was->max_lid + 1, fm_end);
	fm_sw *at = fm_arena_array(mem, (size_t)n + 1, fm_sw);

	if (first == NULL || old == NULL || new == NULL || owner == NULL || at == NULL)
		return false;
	sort_ends(r, was, first, old);
	for (fm_end e = 0; e < n; e++) {
		new[old[e]] = e;
		at[e] = was->end_sw[old[e]] != FM_NONE ? number[was->end_sw[old[e]]] : FM_NONE;
	}
	for (uint32_t lid = 0; lid <= was->max_lid; lid++)
		owner[lid] = was->lid_end[lid] != FM_NONE ? new[was->lid_end[lid]] : FM_NONE;
	r->end = old;
	r->new_end = new;
	fab->sw_first_end = first;
	fab->end_sw = at;
	fab->lid_end = owner;
	fab->end_guid = PICK(mem, was->end_guid, old, n);
	fab->end_node_guid = PICK(mem, was->end_node_guid, old, n);
	fab->end_system_guid = PICK(mem, was->end_system_guid, old, n);
	fab->end_name = PICK(mem, was->end_name, old, n);
	fab->end_port = PICK(mem, was->end_port, old, n);
	fab->end_lid = PICK(mem, was->end_lid, old, n);
	fab->end_lmc = PICK(mem, was->end_lmc, old, n);
	fab->end_kind = PICK(mem, was->end_kind, old, n);
	fab->end_n_vls = PICK(mem, was->end_n_vls, old, n);
	return fab->end_guid != NULL && fab->end_node_guid != NULL &&
	    fab->end_system_guid != NULL && fab->end_name != NULL && fab->end_port != NULL &&
	    fab->end_lid != NULL && fab->end_lmc != NULL && fab->end_kind != NULL &&
	    fab->end_n_vls != NULL;
}

static bool
pick_fabric(struct renumbered *r, const struct fm_fabric *was)
{
	fm_sw *number = fm_arena_array(&r->mem, (size_t)was->n_switches + 1, fm_sw);

	if (number == NULL)
		return false;
	for (uint32_t i = 0; i < was->n_switches; i++)
		number[r->sw[i]] = i;
	r->new_sw = number;
	r->fab = *was;
	return pick_switches(r, was) && pick_links(r, was, number) && pick_ends(r, was, number);
}

/* ------------------------------------------------------------------ options */

static const uint64_t *
pick_bits(struct fm_arena *mem, const uint64_t *from, const uint32_t *old, uint32_t n)
{
	uint64_t *to = fm_arena_array(mem, FM_BITSET_WORDS(n) + 1, uint64_t);

	for (uint32_t i = 0; to != NULL && i < n; i++)
		if (fm_bit_test(from, old[i]))
			fm_bit_set(to, i);
	return to;
}

static bool
pick_set(struct renumbered *r, struct fm_nodeset *set)
{
	const uint64_t *sw = set->sw, *end = set->end;

	if (sw != NULL)
		set->sw = pick_bits(&r->mem, sw, r->sw, r->fab.n_switches);
	if (end != NULL)
		set->end = pick_bits(&r->mem, end, r->end, r->fab.n_ends);
	return (set->sw != NULL) == (sw != NULL) && (set->end != NULL) == (end != NULL);
}

static bool
pick_list(struct renumbered *r, struct fm_nodeset_list *list)
{
	struct fm_nodeset *sets =
	    fm_arena_array(&r->mem, (size_t)list->n_sets + 1, struct fm_nodeset);
	bool ok = sets != NULL;

	for (uint32_t i = 0; ok && i < list->n_sets; i++) {
		sets[i] = list->set[i];
		ok = pick_set(r, &sets[i]);
	}
	list->set = sets;
	return ok;
}

static bool
pick_table(struct renumbered *r, struct fm_node_values *table)
{
	struct fm_node_value *rows =
	    fm_arena_array(&r->mem, (size_t)table->n_rows + 1, struct fm_node_value);

	for (uint32_t i = 0; rows != NULL && i < table->n_rows; i++) {
		rows[i] = table->row[i];
		if (rows[i].sw != FM_NONE)
			rows[i].sw = r->new_sw[rows[i].sw];
		if (rows[i].end != FM_NONE)
			rows[i].end = r->new_end[rows[i].end];
	}
	table->row = rows;
	return rows != NULL;
}

static bool
pick_option(struct renumbered *r, enum fm_opt_type type, void *value)
{
	switch (type) {
	case FM_OPT_NODES:
		return pick_set(r, value);
	case FM_OPT_NODES_LIST:
		return pick_list(r, value);
	case FM_OPT_NODE_VALUES:
		return pick_table(r, value);
	default:
		return true; /* knows no numbers */
	}
}

static bool
pick_options(struct renumbered *r, const struct fm_engine *engine, const void *opts)
{
	struct option_table table = option_table_of(engine);
	const struct fm_option *row;
	char *to;
	bool ok = true;

	r->opts = opts;
	if (opts == NULL || option_row(&table, 0) == NULL)
		return true;
	to = fm_arena_alloc(&r->mem, table.bytes);
	if (to == NULL)
		return false;
	memcpy(to, opts, table.bytes);
	for (size_t i = 0; ok && (row = option_row(&table, i)) != NULL; i++)
		ok = pick_option(r, row->type, to + row->offset);
	r->opts = to;
	return ok;
}

/* ------------------------------------------------------------------- tables */

/* Rows are pointed at.  The (in, out) pairs of a switch stay where they are, too. */
static bool
pick_rows(struct renumbered *r, const struct fm_tables *t)
{
	uint32_t n = r->fab.n_switches, *first = NULL;

	r->t = *t;
	r->t.lft = PICK(&r->mem, t->lft, r->sw, n);
	if (t->sl != NULL) {
		r->t.sl = PICK(&r->mem, t->sl, r->sw, n);
		r->t.sl2vl_first = first = PICK(&r->mem, t->sl2vl_first, r->sw, n);
		if (first != NULL)
			first[n] = t->sl2vl_first[n];
	}
	if (t->ar_group != NULL) {
		r->t.ar_n_groups = PICK(&r->mem, t->ar_n_groups, r->sw, n);
		r->t.ar_group = PICK(&r->mem, t->ar_group, r->sw, n);
		r->t.ar_ports = PICK(&r->mem, t->ar_ports, r->sw, n);
	}
	return r->t.lft != NULL && (t->sl == NULL || (r->t.sl != NULL && first != NULL)) &&
	    (t->ar_group == NULL ||
		(r->t.ar_n_groups != NULL && r->t.ar_group != NULL && r->t.ar_ports != NULL));
}

/* at[old[i]] = what is in at[i], blocks of so many bytes. */
static int
put_back(struct fm_arena *mem, void *at, size_t bytes, const uint32_t *old, uint32_t n,
    struct fm_error *err)
{
	unsigned char *held = fm_arena_alloc_array(mem, (size_t)n + 1, bytes);

	if (held == NULL)
		return no_memory(err);
	memcpy(held, at, n * bytes);
	for (uint32_t i = 0; i < n; i++)
		memcpy((unsigned char *)at + old[i] * bytes, held + i * bytes, bytes);
	return 0;
}

int
renumber_take(
    struct renumbered *r, const struct fm_fabric *fab, struct fm_tables *t, struct fm_error *err)
{
	int rc = 0;

	t->sl_shape = r->t.sl_shape;
	t->sl2vl_shape = r->t.sl2vl_shape;
	t->n_vls_used = r->t.n_vls_used;
	t->ar_dropped = r->t.ar_dropped;
	if (t->sl_shape == FM_SL_BY_DLID && r->t.sl[0] != t->sl[0])
		memcpy(t->sl[0], r->t.sl[0], t->lft_stride);
	if (t->sl2vl_shape == FM_SL2VL_BY_OUT)
		rc = put_back(&r->mem, t->sl2vl, 16, r->link, fab->n_links, err);
	return rc;
}

bool
renumber_is_due(const struct fm_engine *engine, const struct fm_fabric *fab)
{
	return (engine->traits & FM_NUMBERED_BY_CABLES) && !(engine->traits & FM_USES_PREV) &&
	    fab->n_switches > 1 && !cable_order_is_tree(fab);
}

int
renumber_begin(struct renumbered *r, const struct fm_engine *engine, const void *opts,
    const struct fm_fabric *fab, const struct fm_tables *t, struct fm_error *err)
{
	fm_sw *order;
	int rc;

	memset(r, 0, sizeof(*r));
	fm_arena_init(&r->mem, SIZE_MAX);
	r->sw = order = fm_arena_array(&r->mem, (size_t)fab->n_switches + 1, fm_sw);
	rc = order != NULL ? cable_order_find(fab, order, err) : no_memory(err);
	if (rc == 0 && (!pick_fabric(r, fab) || !pick_options(r, engine, opts) || !pick_rows(r, t)))
		rc = no_memory(err);
	if (rc != 0)
		renumber_end(r);
	return rc;
}

void
renumber_end(struct renumbered *r)
{
	fm_arena_fini(&r->mem);
}
