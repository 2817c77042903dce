/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/graph/mcast_tree.h"

#include <stdlib.h>

struct mcast_trees *
mcast_trees_get(struct mcast_trees *t)
{
	if (t != NULL)
		atomic_fetch_add(&t->refs, 1);
	return t;
}

void
mcast_trees_put(struct mcast_trees *t)
{
	if (t == NULL || atomic_fetch_sub(&t->refs, 1) != 1)
		return;
	for (unsigned i = 0; i < MCAST_TREES_MAX; i++) {
		free(t->tree[i].parent);
		free(t->tree[i].odd);
	}
	fm_hash_fini(&t->end_of_guid);
	snapshot_put(t->snap);
	free(t);
}
