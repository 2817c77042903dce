/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which LIDs have entries that change.  What old tables have no room for, LIDs above theirs and
 * switches that were not there, had no entries: it changes where it leads somewhere now.
 */
#include <string.h>

#include "core/cdg/deps.h"
#include "lib/bitset.h"

static void
mark(const struct deps_side *now, uint32_t lid, uint64_t *changed)
{
	if (lid <= now->fab->max_lid && now->fab->lid_end[lid] != FM_NONE)
		fm_bit_set(changed, lid);
}

void
deps_find_changed(struct deps_side old, struct deps_side now, uint64_t *changed)
{
	for (fm_sw sw = 0; sw < now.fab->n_switches; sw++) {
		bool is_new = sw >= old.fab->n_switches;
		uint32_t top = is_new ? 0 : old.top_lid < now.top_lid ? old.top_lid : now.top_lid;
		const uint8_t *a = is_new ? NULL : old.t->lft[sw], *b = now.t->lft[sw];

		for (uint32_t lid = 1; a != b && lid <= top; lid++) {
			if (lid % 64 == 0 && lid + 63 <= top && memcmp(a + lid, b + lid, 64) == 0)
				lid += 63;
			else if (a[lid] != b[lid])
				mark(&now, lid, changed);
		}
		for (uint32_t lid = top + 1; lid <= now.top_lid; lid++)
			if (b[lid] != FM_PORT_NONE)
				mark(&now, lid, changed);
	}
}
