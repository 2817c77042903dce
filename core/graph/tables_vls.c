/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Maps from SLs to VLs: looked up, and compared byte by byte, with each other and the rows of
 * a switch.
 */
#include "core/graph/tables_vls.h"

#include <string.h>

#include "core/graph/tables.h"

bool
tables_same_vls(const struct fm_tables *a, const struct fm_tables *b, uint32_t n_switches)
{
	if (a->sl2vl_shape != b->sl2vl_shape || a->n_vls_used != b->n_vls_used)
		return false;
	return a->sl2vl_shape == FM_SL2VL_MODULO ||
	    (a->sl2vl_shape == FM_SL2VL_BY_IN_OUT &&
		memcmp(a->sl2vl_first, b->sl2vl_first,
		    (n_switches + 1) * sizeof(*a->sl2vl_first)) == 0 &&
		memcmp(a->sl2vl, b->sl2vl, (size_t)a->sl2vl_first[n_switches] * 16) == 0);
}

bool
tables_same_sls(
    const struct fm_tables *a, const struct fm_tables *b, uint32_t n_switches, uint32_t n_lids)
{
	uint32_t rows = b->sl_shape == FM_SL_BY_DLID ? 1 : n_switches;

	if (a->sl_shape != b->sl_shape)
		return false;
	for (uint32_t i = 0; b->sl_shape != FM_SL_ZERO && i < rows; i++)
		if (a->sl[i] != b->sl[i] && memcmp(a->sl[i], b->sl[i], n_lids) != 0)
			return false;
	return true;
}

bool
tables_vls_by_out(const struct fm_fabric *fab, const struct fm_tables *t, fm_sw sw)
{
	size_t n = (fab->sw_n_ports[sw] + (size_t)1) * 16; /* of one port in */
	const uint8_t *rows;

	if (t->sl2vl_shape != FM_SL2VL_BY_IN_OUT)
		return true;
	rows = t->sl2vl + (size_t)t->sl2vl_first[sw] * 16;
	return memcmp(rows, rows + n, n * fab->sw_n_ports[sw]) == 0;
}

bool
tables_same_vls_from(
    const struct fm_fabric *fab, const struct fm_tables *t, fm_sw sw, uint8_t a, uint8_t b)
{
	size_t n = (fab->sw_n_ports[sw] + (size_t)1) * 16; /* of one port in */
	const uint8_t *rows;

	if (t->sl2vl_shape != FM_SL2VL_BY_IN_OUT)
		return true;
	rows = t->sl2vl + (size_t)t->sl2vl_first[sw] * 16;
	return a <= fab->sw_n_ports[sw] && b <= fab->sw_n_ports[sw] &&
	    memcmp(rows + a * n, rows + b * n, n) == 0;
}

const uint8_t *
tables_vl_row(
    const struct fm_fabric *fab, const struct fm_tables *t, fm_sw sw, uint8_t in_port, fm_link out)
{
	size_t row = out;

	if (t->sl2vl_shape == FM_SL2VL_MODULO)
		return NULL;
	if (t->sl2vl_shape == FM_SL2VL_BY_IN_OUT)
		row = t->sl2vl_first[sw] + (size_t)in_port * (fab->sw_n_ports[sw] + 1u) +
		    fab->link_port[out];
	return t->sl2vl + row * 16;
}

/* From the row of VLs of the SLs 0..7 to that of the others; 0: not so. */
static unsigned
level_offset(const uint8_t *vl)
{
	unsigned offset = (unsigned)(vl[TABLES_LEVEL] - vl[0]);

	for (unsigned sl = 0; sl < TABLES_LEVEL; sl++)
		if (vl[sl] >= offset || vl[sl + TABLES_LEVEL] != vl[sl] + offset)
			return 0;
	return offset;
}

/* Over all links of the switch; *offset 0: of none yet. */
static bool
maps_levels(const struct fm_fabric *fab, const struct fm_tables *t, fm_sw sw, unsigned *offset)
{
	unsigned n_inputs = t->sl2vl_shape == FM_SL2VL_BY_IN_OUT ? fab->sw_n_ports[sw] + 1u : 1;

	for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++)
		for (unsigned in = 0; in < n_inputs; in++) {
			unsigned here = level_offset(tables_vl_row(fab, t, sw, (uint8_t)in, l));

			if (here == 0 || (*offset != 0 && here != *offset))
				return false;
			*offset = here;
		}
	return true;
}

static bool
has_second_level_sl(const struct fm_fabric *fab, const struct fm_tables *t)
{
	uint32_t n_rows = t->sl_shape == FM_SL_ZERO ? 0
	    : t->sl_shape == FM_SL_BY_DLID	    ? 1
						    : fab->n_switches;
	uint8_t all = 0;

	for (uint32_t i = 0; i < n_rows; i++)
		for (uint32_t lid = 1; lid <= fab->max_lid; lid++)
			all |= t->sl[i][lid];
	return all >= TABLES_LEVEL;
}

bool
tables_has_levels(const struct fm_fabric *fab, const struct fm_tables *t)
{
	unsigned offset = 0;

	if (t->sl2vl_shape == FM_SL2VL_MODULO || fab->n_links == 0)
		return false;
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		if (!maps_levels(fab, t, sw, &offset))
			return false;
	return !has_second_level_sl(fab, t);
}

uint8_t
tables_vl(const struct fm_fabric *fab, const struct fm_tables *t, fm_sw sw, uint8_t in_port,
    fm_link out, uint8_t sl)
{
	const uint8_t *row = tables_vl_row(fab, t, sw, in_port, out);

	if (row != NULL)
		return row[sl];
	return t->n_vls_used > 1 ? sl % t->n_vls_used : 0;
}
