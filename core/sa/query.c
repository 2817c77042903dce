/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sa/query.c - what handlers of all attributes ask of a query: which ends it is about, which
 * of them who asks may see.
 */
#include "core/sa/sa_internal.h"

struct mft_rows *
sa_mfts(const struct sa_query *q)
{
	return sa_slot_mfts(q->sa->slot);
}

bool
sa_may_see(const struct sa_query *q, uint32_t end)
{
	if (q->trusted || end == q->requester)
		return true;
	return q->requester != FM_NONE && sa_view_shared_pkey(q->view, q->requester, end, 0) != 0;
}

void
sa_ends_asked(
    const struct sa_query *q, uint64_t mask, uint16_t lid, uint32_t *first, uint32_t *last)
{
	uint32_t end;

	*first = 0;
	*last = q->view->n_ends;
	if ((q->h.mask & mask) != 0) {
		end = sa_view_end_of_lid(q->view, lid);
		*first = end == FM_NONE ? 0 : end;
		*last = end == FM_NONE ? 0 : end + 1;
	}
	if (q->at > *first)
		*first = (uint32_t)q->at;
}
