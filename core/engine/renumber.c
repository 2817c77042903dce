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

/* n + 1 of these, zeroed; NULL: no memory, as r knows then. */
static void *
room(struct renumbered *r, uint32_t n, size_t size)
{
	void *to = fm_arena_alloc_array(&r->mem, (size_t)n + 1, size);

	r->no_memory |= to == NULL;
	return to;
}
#define ROOM(r, n, type) ((type *)room((r), (n), sizeof(type)))

/* to[i] = from[old[i]]; NULL where from is, or no memory. */
static void *
pick(struct renumbered *r, const void *from, size_t size, const uint32_t *old, uint32_t n)
{
	unsigned char *to = from != NULL ? room(r, n, size) : NULL;

	for (uint32_t i = 0; to != NULL && i < n; i++)
		memcpy(to + i * size, (const unsigned char *)from + old[i] * size, size);
	return to;
}
#define PICK(r, from, old, n) pick((r), (from), sizeof(*(from)), (old), (n))

static void
pick_switches(struct renumbered *r, const struct fm_fabric *was)
{
	struct fm_fabric *fab = &r->fab;
	uint32_t n = was->n_switches;

	fab->sw_guid = PICK(r, was->sw_guid, r->sw, n);
	fab->sw_system_guid = PICK(r, was->sw_system_guid, r->sw, n);
	fab->sw_name = PICK(r, was->sw_name, r->sw, n);
	fab->sw_n_ports = PICK(r, was->sw_n_ports, r->sw, n);
	fab->sw_vendor_id = PICK(r, was->sw_vendor_id, r->sw, n);
	fab->sw_device_id = PICK(r, was->sw_device_id, r->sw, n);
	fab->sw_lft_entries = PICK(r, was->sw_lft_entries, r->sw, n);
	fab->sw_ar_groups = PICK(r, was->sw_ar_groups, r->sw, n);
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

static void
pick_links(struct renumbered *r, const struct fm_fabric *was)
{
	struct fm_fabric *fab = &r->fab;
	uint32_t n = was->n_links, n_sw = was->n_switches;
	fm_link *first = ROOM(r, n_sw, fm_link), *fill = ROOM(r, n_sw, fm_link);
	fm_link *old = ROOM(r, n, fm_link), *new = ROOM(r, n, fm_link), *rev = ROOM(r, n, fm_link);
	fm_sw *to = ROOM(r, n, fm_sw);

	if (r->no_memory)
		return;
	sort_links(r, was, r->new_sw, first, fill, old);
	for (fm_link l = 0; l < n; l++)
		new[old[l]] = l;
	for (fm_link l = 0; l < n; l++) {
		to[l] = r->new_sw[was->link_to[old[l]]];
		rev[l] = new[was->link_rev[old[l]]];
	}
	r->link = old;
	fab->sw_first_link = first;
	fab->link_to = to;
	fab->link_rev = rev;
	fab->link_port = PICK(r, was->link_port, old, n);
	fab->link_mbps = PICK(r, was->link_mbps, old, n);
	fab->link_nominal_mbps = PICK(r, was->link_nominal_mbps, old, n);
	fab->link_n_vls = PICK(r, was->link_n_vls, old, n);
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

static void
pick_ends(struct renumbered *r, const struct fm_fabric *was)
{
	struct fm_fabric *fab = &r->fab;
	uint32_t n = was->n_ends;
	fm_end *first = ROOM(r, was->n_switches, fm_end), *owner = ROOM(r, was->max_lid, fm_end);
	fm_end *old = ROOM(r, n, fm_end), *new = ROOM(r, n, fm_end);
	fm_sw *at = ROOM(r, n, fm_sw);

	if (r->no_memory)
		return;
	sort_ends(r, was, first, old);
	for (fm_end e = 0; e < n; e++) {
		new[old[e]] = e;
		at[e] = was->end_sw[old[e]] != FM_NONE ? r->new_sw[was->end_sw[old[e]]] : FM_NONE;
	}
	for (uint32_t lid = 0; lid <= was->max_lid; lid++)
		owner[lid] = was->lid_end[lid] != FM_NONE ? new[was->lid_end[lid]] : FM_NONE;
	r->end = old;
	r->new_end = new;
	fab->sw_first_end = first;
	fab->end_sw = at;
	fab->lid_end = owner;
	fab->end_guid = PICK(r, was->end_guid, old, n);
	fab->end_node_guid = PICK(r, was->end_node_guid, old, n);
	fab->end_system_guid = PICK(r, was->end_system_guid, old, n);
	fab->end_name = PICK(r, was->end_name, old, n);
	fab->end_port = PICK(r, was->end_port, old, n);
	fab->end_lid = PICK(r, was->end_lid, old, n);
	fab->end_lmc = PICK(r, was->end_lmc, old, n);
	fab->end_kind = PICK(r, was->end_kind, old, n);
	fab->end_n_vls = PICK(r, was->end_n_vls, old, n);
}

static void
pick_fabric(struct renumbered *r, const struct fm_fabric *was)
{
	fm_sw *number = ROOM(r, was->n_switches, fm_sw);

	if (r->no_memory)
		return;
	for (uint32_t i = 0; i < was->n_switches; i++)
		number[r->sw[i]] = i;
	r->new_sw = number;
	r->fab = *was;
	pick_switches(r, was);
	pick_links(r, was);
	pick_ends(r, was);
}

/* ------------------------------------------------------------------ options */

static const uint64_t *
pick_bits(struct renumbered *r, const uint64_t *from, const uint32_t *old, uint32_t n)
{
	uint64_t *to = from != NULL ? ROOM(r, FM_BITSET_WORDS(n), uint64_t) : NULL;

	for (uint32_t i = 0; to != NULL && i < n; i++)
		if (fm_bit_test(from, old[i]))
			fm_bit_set(to, i);
	return to;
}

static void
pick_set(struct renumbered *r, struct fm_nodeset *set)
{
	set->sw = pick_bits(r, set->sw, r->sw, r->fab.n_switches);
	set->end = pick_bits(r, set->end, r->end, r->fab.n_ends);
}

static void
pick_list(struct renumbered *r, struct fm_nodeset_list *list)
{
	struct fm_nodeset *sets = ROOM(r, list->n_sets, struct fm_nodeset);

	for (uint32_t i = 0; sets != NULL && i < list->n_sets; i++) {
		sets[i] = list->set[i];
		pick_set(r, &sets[i]);
	}
	list->set = sets;
}

static void
pick_table(struct renumbered *r, struct fm_node_values *table)
{
	struct fm_node_value *rows = ROOM(r, table->n_rows, struct fm_node_value);

	for (uint32_t i = 0; rows != NULL && i < table->n_rows; i++) {
		rows[i] = table->row[i];
		if (rows[i].sw != FM_NONE)
			rows[i].sw = r->new_sw[rows[i].sw];
		if (rows[i].end != FM_NONE)
			rows[i].end = r->new_end[rows[i].end];
	}
	table->row = rows;
}

/* Those of other types know no numbers. */
static void
pick_options(struct renumbered *r, const struct fm_engine *engine, const void *opts)
{
	struct option_table table = option_table_of(engine);
	const struct fm_option *row;
	char *to = NULL;

	r->opts = opts;
	if (opts != NULL && option_row(&table, 0) != NULL)
		r->opts = to = room(r, 0, table.bytes);
	if (to == NULL)
		return;
	memcpy(to, opts, table.bytes);
	for (size_t i = 0; (row = option_row(&table, i)) != NULL; i++) {
		void *value = to + row->offset;

		if (row->type == FM_OPT_NODES)
			pick_set(r, value);
		else if (row->type == FM_OPT_NODES_LIST)
			pick_list(r, value);
		else if (row->type == FM_OPT_NODE_VALUES)
			pick_table(r, value);
	}
}

/* ------------------------------------------------------------------- tables */

/* Rows are pointed at.  The (in, out) pairs of a switch stay where they are, too. */
static void
pick_rows(struct renumbered *r, const struct fm_tables *t)
{
	uint32_t n = r->fab.n_switches, *first;

	r->t = *t;
	r->t.lft = PICK(r, t->lft, r->sw, n);
	if (t->sl != NULL) {
		r->t.sl = PICK(r, t->sl, r->sw, n);
		r->t.sl2vl_first = first = PICK(r, t->sl2vl_first, r->sw, n);
		if (first != NULL)
			first[n] = t->sl2vl_first[n];
	}
	if (t->ar_group != NULL) {
		r->t.ar_n_groups = PICK(r, t->ar_n_groups, r->sw, n);
		r->t.ar_group = PICK(r, t->ar_group, r->sw, n);
		r->t.ar_ports = PICK(r, t->ar_ports, r->sw, n);
	}
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
	int rc = 0;

	memset(r, 0, sizeof(*r));
	fm_arena_init(&r->mem, SIZE_MAX);
	r->sw = order = ROOM(r, fab->n_switches, fm_sw);
	if (order != NULL)
		rc = cable_order_find(fab, order, err);
	if (rc == 0)
		pick_fabric(r, fab);
	if (rc == 0 && !r->no_memory) {
		pick_options(r, engine, opts);
		pick_rows(r, t);
	}
	if (rc == 0 && r->no_memory)
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
