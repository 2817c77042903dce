/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/engines/file/ar_file.h - groups of adaptive routing that came in a file.
 *
 *	switch 0x0002c90000000002 name		what follows is of this switch
 *	group 1 4 5 6				number, ports
 *	lids 17-20 1				packets for these leave by any of group 1
 *
 * as fmd dumps them (ar-groups).
 */
#ifndef PLUGINS_ENGINES_FILE_AR_FILE_H
#define PLUGINS_ENGINES_FILE_AR_FILE_H

#include <fmd/engine.h>

/* Fill out->ar_group and ar_ports, up to out->ar_n_groups.  FM_E_CONFIG with file and
 * line for what is not of the format, or for a group beyond; switches of another fabric are
 * left out, with a warning (misfits.h).  O(bytes + switches log switches). */
int fm_ar_file(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_file *file,
    struct fm_tables *out, struct fm_error *err);

#endif
