/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * GUIDInfoRecords: the GUIDs of a port in blocks of 8, and alias GUIDs set and taken away,
 * IBA 15.2.5.18.  A port may have as many as its GUIDCap says; entry 0 of block 0 is its own.
 */
#include <string.h>

#include "core/registry/registry.h"
#include "core/sa/sa.h"

#define PER_BLOCK 8

static const struct wire_port_info *
port_of(const struct sa_query *q, uint32_t end)
{
	const struct sa_end *e = &q->view->end[end];

	return &q->view->node[e->node]->port[e->port].info;
}

static unsigned
n_blocks(const struct sa_query *q, uint32_t end)
{
	unsigned n = (port_of(q, end)->guid_cap + PER_BLOCK - 1u) / PER_BLOCK;

	return n < REGISTRY_BLOCKS ? n : REGISTRY_BLOCKS;
}

static void
fill(const struct sa_query *q, uint32_t end, unsigned block, struct sa_guid_info_record *r)
{
	*r = (struct sa_guid_info_record){ .lid = q->view->end[end].lid, .block = (uint8_t)block };
	registry_aliases(q->registry, q->view->end[end].guid, r->block, r->guid);
	if (block == 0)
		r->guid[0] = q->view->end[end].guid;
}

uint16_t
sa_get_guid_infos(struct sa_query *q)
{
	uint32_t first, last;
	bool more = true;

	sa_ends_asked(q, SA_GIR_LID, q->want.guid_info.lid, &first, &last);
	for (uint32_t end = first; more && end < last && !sa_pause(q, end); end++) {
		unsigned n = n_blocks(q, end), block = 0;

		if (!sa_may_see(q, end))
			continue;
		if (q->h.mask & SA_GIR_BLOCK) {
			block = q->want.guid_info.block;
			n = block < n ? block + 1 : 0;
		}
		for (; block < n && more; block++) {
			struct sa_guid_info_record r;

			fill(q, end, block, &r);
			more = sa_offer(q, &r);
		}
	}
	return SA_OK;
}

/* The port and entries that a request is about; a status.  An alias GUID is an identity: who is
 * not trusted names ports of nobody else. */
static uint16_t
find_target(const struct sa_query *q, uint32_t *end, unsigned *which)
{
	const struct sa_guid_info_record *want = &q->want.guid_info;

	if ((q->h.mask & (SA_GIR_LID | SA_GIR_BLOCK)) != (SA_GIR_LID | SA_GIR_BLOCK))
		return SA_REQ_INSUFFICIENT_COMPONENTS;
	*end = sa_view_end_of_lid(q->view, want->lid);
	*which = (unsigned)(q->h.mask / SA_GIR_GUID0) & 0xff;
	if (*end == FM_NONE)
		return SA_NO_RECORDS;
	if (*end != q->requester && !q->trusted)
		return SA_REQ_DENIED;
	if (*which == 0)
		return SA_REQ_INVALID;
	/* those behind the GUIDCap are not there */
	for (unsigned i = 0; i < PER_BLOCK; i++)
		if (want->block * PER_BLOCK + i >= port_of(q, *end)->guid_cap)
			*which &= ~(1u << i);
	return *which == 0 ? SA_NO_RECORDS : SA_OK;
}

/* The block as it is now: the answer to who has changed it. */
static uint16_t
add_changed(struct sa_query *q, uint32_t end, uint16_t status)
{
	struct sa_guid_info_record r;

	if (status != SA_OK)
		return status;
	fill(q, end, q->want.guid_info.block, &r);
	sa_add(q, &r);
	return SA_OK;
}

uint16_t
sa_set_guid_info(struct sa_query *q)
{
	struct sa_guid_info_record want = q->want.guid_info;
	unsigned which;
	uint32_t end;
	uint16_t status = find_target(q, &end, &which);

	for (unsigned i = 0; i < PER_BLOCK && status == SA_OK; i++)
		if ((which >> i & 1) && want.guid[i] != 0 &&
		    sa_view_end_of_guid(q->view, want.guid[i]) != FM_NONE)
			return SA_REQ_INVALID; /* a port's own */
	if (status == SA_OK)
		status = registry_set_aliases(
		    q->registry, q->view->end[end].guid, want.block, which, want.guid);
	return add_changed(q, end, status);
}

uint16_t
sa_delete_guid_info(struct sa_query *q)
{
	unsigned which;
	uint32_t end;
	uint16_t status = find_target(q, &end, &which);

	if (status == SA_OK)
		status = registry_delete_aliases(
		    q->registry, q->view->end[end].guid, q->want.guid_info.block, which);
	return add_changed(q, end, status);
}
