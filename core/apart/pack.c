/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The arguments of route() to a blob.  Pointers are of 8 bytes here, which plugin.c sees to:
 * on other machines no engine runs apart.  O(fabric), and O(tables) with FM_USES_PREV.
 */
#include "core/abi/options.h"
#include "core/apart/blob.h"
#include "core/apart/apart.h"
#include "lib/bitset.h"

#include <string.h>

#define POINTER 8u

/* ------------------------------------------------------------------- fabric */

enum length { SWITCHES, SWITCHES_1, LINKS, ENDS, LIDS };

#define ARRAY(field, length) \
	{ \
		offsetof(struct fm_fabric, field), sizeof(*((struct fm_fabric *)0)->field), length \
	}
static const struct {
	size_t offset, bytes;
	enum length length;
} arrays[] = {
	ARRAY(sw_guid, SWITCHES),
	ARRAY(sw_system_guid, SWITCHES),
	ARRAY(sw_n_ports, SWITCHES),
	ARRAY(sw_vendor_id, SWITCHES),
	ARRAY(sw_device_id, SWITCHES),
	ARRAY(sw_lft_entries, SWITCHES),
	ARRAY(sw_ar_groups, SWITCHES),
	ARRAY(sw_first_link, SWITCHES_1),
	ARRAY(sw_first_end, SWITCHES_1),
	ARRAY(link_to, LINKS),
	ARRAY(link_port, LINKS),
	ARRAY(link_rev, LINKS),
	ARRAY(link_mbps, LINKS),
	ARRAY(link_nominal_mbps, LINKS),
	ARRAY(link_n_vls, LINKS),
	ARRAY(end_guid, ENDS),
	ARRAY(end_node_guid, ENDS),
	ARRAY(end_system_guid, ENDS),
	ARRAY(end_sw, ENDS),
	ARRAY(end_port, ENDS),
	ARRAY(end_lid, ENDS),
	ARRAY(end_lmc, ENDS),
	ARRAY(end_kind, ENDS),
	ARRAY(end_n_vls, ENDS),
	ARRAY(lid_end, LIDS),
};

static size_t
length_of(const struct fm_fabric *fab, enum length length)
{
	switch (length) {
	case SWITCHES:
		return fab->n_switches;
	case SWITCHES_1:
		return (size_t)fab->n_switches + 1;
	case LINKS:
		return fab->n_links;
	case ENDS:
		return fab->n_ends;
	case LIDS:
		return (size_t)fab->max_lid + 1;
	}
	return 0;
}

static void
pack_names(struct blob *b, uint64_t place, const char *const *names, uint32_t n)
{
	uint64_t at = blob_put(b, NULL, (size_t)n * POINTER);

	blob_point(b, place, at);
	for (uint32_t i = 0; i < n; i++)
		blob_point(b, at + (uint64_t)i * POINTER, blob_put_text(b, names[i]));
}

static uint64_t
pack_fabric(struct blob *b, const struct fm_fabric *fab)
{
	uint64_t at = blob_put(b, fab, sizeof(*fab));

	for (size_t i = 0; i < sizeof(arrays) / sizeof(*arrays); i++) {
		const void *from;

		memcpy(&from, (const char *)fab + arrays[i].offset, sizeof(from));
		if (from != NULL)
			blob_point(b, at + arrays[i].offset,
			    blob_put(b, from, length_of(fab, arrays[i].length) * arrays[i].bytes));
	}
	pack_names(b, at + offsetof(struct fm_fabric, sw_name), fab->sw_name, fab->n_switches);
	pack_names(b, at + offsetof(struct fm_fabric, end_name), fab->end_name, fab->n_ends);
	return at;
}

/* ------------------------------------------------------------------ options */

static void
pack_text(struct blob *b, uint64_t place, const char *text)
{
	if (text != NULL)
		blob_point(b, place, blob_put_text(b, text));
}

static void
pack_set(struct blob *b, uint64_t at, const struct fm_nodeset *set, const struct fm_fabric *fab)
{
	if (set->sw != NULL)
		blob_point(b, at + offsetof(struct fm_nodeset, sw),
		    blob_put(b, set->sw, FM_BITSET_WORDS(fab->n_switches) * sizeof(*set->sw)));
	if (set->end != NULL)
		blob_point(b, at + offsetof(struct fm_nodeset, end),
		    blob_put(b, set->end, FM_BITSET_WORDS(fab->n_ends) * sizeof(*set->end)));
}

static void
pack_sets(struct blob *b, uint64_t at, const struct fm_nodeset_list *l, const struct fm_fabric *fab)
{
	uint64_t sets = blob_put(b, l->set, l->n_sets * sizeof(*l->set));

	blob_point(b, at + offsetof(struct fm_nodeset_list, set), sets);
	for (uint32_t i = 0; i < l->n_sets; i++)
		pack_set(b, sets + i * sizeof(*l->set), &l->set[i], fab);
}

static void
pack_file(struct blob *b, uint64_t at, const struct fm_file *f)
{
	pack_text(b, at + offsetof(struct fm_file, path), f->path);
	if (f->bytes != NULL) {
		uint64_t bytes = blob_put(b, NULL, f->n_bytes + 1); /* a 0 ends it, as here */

		if (!b->failed)
			memcpy(b->at + bytes, f->bytes, f->n_bytes);
		blob_point(b, at + offsetof(struct fm_file, bytes), bytes);
	}
}

static void
pack_option(struct blob *b, uint64_t at, const struct fm_option *row, const void *value,
    const struct fm_fabric *fab)
{
	const struct fm_node_values *table = value;

	switch (row->type) {
	case FM_OPT_STRING:
		pack_text(b, at, *(const char *const *)value);
		break;
	case FM_OPT_NODES:
		pack_set(b, at, value, fab);
		break;
	case FM_OPT_NODES_LIST:
		pack_sets(b, at, value, fab);
		break;
	case FM_OPT_NODE_VALUES:
		blob_point(b, at + offsetof(struct fm_node_values, row),
		    blob_put(b, table->row, table->n_rows * sizeof(*table->row)));
		break;
	case FM_OPT_FILE:
		pack_file(b, at, value);
		break;
	case FM_OPT_END:
	case FM_OPT_BOOL:
	case FM_OPT_INT:
	case FM_OPT_DURATION:
	case FM_OPT_ENUM:
		break; /* no pointers */
	}
}

static uint64_t
pack_options(
    struct blob *b, const struct fm_engine *engine, const void *opts, const struct fm_fabric *fab)
{
	struct option_table table = option_table_of(engine);
	const struct fm_option *row;
	uint64_t at;

	if (opts == NULL)
		return WIRE_NONE;
	at = blob_put(b, opts, table.bytes);
	for (size_t i = 0; (row = option_row(&table, i)) != NULL; i++)
		pack_option(b, at + row->offset, row, (const char *)opts + row->offset, fab);
	return at;
}

/* ------------------------------------------------------------------- tables */

/* Rows of the shared memory, by their offsets. */
static void
pack_rows(
    struct blob *b, uint64_t place, const void *const *rows, uint32_t n, const struct apart_call *c)
{
	uint64_t at;

	if (rows == NULL)
		return;
	at = blob_put(b, NULL, (size_t)n * POINTER);
	blob_point(b, place, at);
	for (uint32_t i = 0; i < n; i++)
		blob_point_into_tables(b, at + (uint64_t)i * POINTER,
		    (uint64_t)((const unsigned char *)rows[i] - c->at));
}

static void
pack_part(struct blob *b, uint64_t place, const void *part, const struct apart_call *c)
{
	if (part != NULL)
		blob_point_into_tables(b, place, (uint64_t)((const unsigned char *)part - c->at));
}

static uint64_t
pack_tables(struct blob *b, const struct apart_call *c)
{
	const struct fm_tables *t = c->tables;
	uint32_t n = c->fab->n_switches;
	uint64_t at = blob_put(b, t, sizeof(*t));

	pack_rows(b, at + offsetof(struct fm_tables, lft), (const void *const *)t->lft, n, c);
	pack_rows(
	    b, at + offsetof(struct fm_tables, sl), (const void *const *)t->sl, n > 0 ? n : 1, c);
	pack_rows(
	    b, at + offsetof(struct fm_tables, ar_group), (const void *const *)t->ar_group, n, c);
	pack_rows(
	    b, at + offsetof(struct fm_tables, ar_ports), (const void *const *)t->ar_ports, n, c);
	if (t->ar_n_groups != NULL)
		blob_point(b, at + offsetof(struct fm_tables, ar_n_groups),
		    blob_put(b, t->ar_n_groups, n * sizeof(*t->ar_n_groups)));
	pack_part(b, at + offsetof(struct fm_tables, sl2vl), t->sl2vl, c);
	pack_part(b, at + offsetof(struct fm_tables, order), t->order, c);
	if (t->sl2vl_first != NULL)
		blob_point(b, at + offsetof(struct fm_tables, sl2vl_first),
		    blob_put(b, t->sl2vl_first, ((size_t)n + 1) * sizeof(*t->sl2vl_first)));
	return at;
}

/* Forwarding tables before. */
static uint64_t
pack_prev(struct blob *b, const uint8_t *const *rows, const struct fm_fabric *fab)
{
	uint64_t at = blob_put(b, NULL, (size_t)fab->n_switches * POINTER);

	for (uint32_t i = 0; i < fab->n_switches; i++)
		blob_point(
		    b, at + (uint64_t)i * POINTER, blob_put(b, rows[i], (size_t)fab->max_lid + 1));
	return at;
}

bool
pack_call(struct blob *b, const struct apart_call *c, const struct fm_engine *engine,
    struct wire_call *wire)
{
	blob_begin(b);
	wire->fabric = pack_fabric(b, c->fab);
	wire->request = blob_put(b, c->request, sizeof(*c->request));
	if (c->request->prev_lft != NULL)
		blob_point(b, wire->request + offsetof(struct fm_request, prev_lft),
		    pack_prev(b, c->request->prev_lft, c->fab));
	wire->options = pack_options(b, engine, c->opts, c->fab);
	wire->tables = pack_tables(b, c);
	wire->n_places = b->places.n;
	wire->places = blob_put(b, b->places.item, b->places.n * sizeof(*b->places.item));
	wire->input_bytes = b->used;
	wire->input_at = b->input_at;
	wire->tables_at = b->tables_at;
	wire->tables_bytes = c->n_bytes;
	blob_end(b);
	return !b->failed;
}
