/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/engines/file/table_file.h - forwarding tables that came in a file.
 *
 * Read are, told apart line by line:
 *	lfts of dump_lfts and fmd	Unicast lids [..] of switch Lid 2 guid 0x.. (name):
 *					0x0001 003 : (Channel Adapter portguid 0x..: 'h')
 *	opensm-lfts.dump		0x0001 003 # Channel Adapter portguid 0x..: 'h'
 *	opensm.fdbs			dump_ucast_routes: Switch 0x..
 *					0x0001 : 003  : 02   : yes
 * and OpenSM's lid matrix		Switch: guid 0x..
 *					0x0002: 00 ff 02 .. # portguid 0x..
 *
 * Where a line names the port's GUID, the LID is that port's present LID
 * (plus the line's offset within its LMC); the file's LIDs may be old.
 */
#ifndef PLUGINS_ENGINES_FILE_TABLE_FILE_H
#define PLUGINS_ENGINES_FILE_TABLE_FILE_H

#include <fmd/engine.h>

struct fm_table_file {
	uint64_t n_entries; /* taken over */
	uint64_t
	    n_misfits; /* well formed, but not of this fabric: left out, the first few logged */
};

/* Fill lft[sw][lid]; entries that are set already stay.  FM_E_CONFIG with
 * file and line for what is not of the format.  O(bytes * log). */
int fm_table_file_lfts(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_file *file, uint8_t *const *lft, struct fm_table_file *found,
    struct fm_error *err);

/* Per destination switch the ports of least hops; its LIDs, and those of its
 * ends, are spread over them.  Same terms. */
int fm_table_file_matrix(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_file *file, uint8_t *const *lft, struct fm_table_file *found,
    struct fm_error *err);

#endif
