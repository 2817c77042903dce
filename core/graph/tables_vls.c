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

uint8_t
tables_vl(const struct fm_fabric *fab, const struct fm_tables *t, fm_sw sw, uint8_t in_port,
    fm_link out, uint8_t sl)
{
	const uint8_t *row = tables_vl_row(fab, t, sw, in_port, out);

	if (row != NULL)
		return row[sl];
	return t->n_vls_used > 1 ? sl % t->n_vls_used : 0;
}
