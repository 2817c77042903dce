/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/engines/file/sl_file.h - SLs of paths and SL2VL tables that came in files.
 *
 *	path-sl		0x0002c90000000001 17 3		node GUID of the source,
 *							destination LID, SL
 *	sl2vl		0x0002c90000000002 1 4 0x01 0x23 ..	switch, in port, out
 *							port, VLs of SL 0 and 1, ..
 *
 * Sources that share a switch share their SLs: the last line wins.
 */
#ifndef PLUGINS_ENGINES_FILE_SL_FILE_H
#define PLUGINS_ENGINES_FILE_SL_FILE_H

#include <fmd/engine.h>

/* Fill out->sl (and sl_shape).  FM_E_CONFIG with file and line for what is not
 * of the format; nodes, ports and LIDs of another fabric are left out, with a
 * warning (misfits.h).  O(lines * log). */
int fm_sl_file_paths(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_file *file, struct fm_tables *out, struct fm_error *err);

/* Fill out->sl2vl (and sl2vl_shape) and raise n_vls_used.  Same terms. */
int fm_sl_file_vls(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_file *file, struct fm_tables *out, struct fm_error *err);

#endif
