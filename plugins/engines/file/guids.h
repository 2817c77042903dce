/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/engines/file/guids.h - GUIDs looked up in a sorted array.
 */
#ifndef PLUGINS_ENGINES_FILE_GUIDS_H
#define PLUGINS_ENGINES_FILE_GUIDS_H

#include <fmd/engine.h>

struct fm_guid {
	uint64_t guid;
	uint32_t index; /* of whatever has it */
};

/* O(n log n). */
void fm_guids_sort(struct fm_guid *guids, uint32_t n);

/* The first of a GUID, which several may share; n when there is none.  O(log n). */
uint32_t fm_guids_find(const struct fm_guid *guids, uint32_t n, uint64_t guid);

#endif
