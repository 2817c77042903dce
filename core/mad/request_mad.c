/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A request as its caller gives it, and as the MAD of one of its tries.
 */
#include <string.h>

#include "core/mad/requests.h"
#include "core/mad/slots.h"

void
request_fill(struct request *r, const struct smp_route *route, const uint8_t *data)
{
	r->n_tries = 0;
	r->place = IN_NODE_QUEUE;
	r->is_parked = r->is_aside = false;
	r->route.directed = route->directed;
	r->route.lid = route->lid;
	r->route.slid = route->slid;
	r->route.max_tries = route->max_tries;
	r->route.beyond = route->beyond;
	r->route.brief = route->brief;
	r->route.wait_ms = route->wait_ms;
	r->route.n_hops = route->n_hops <= DR_MAX_HOPS ? route->n_hops : DR_MAX_HOPS;
	memcpy(r->route.path, route->path, r->route.n_hops + 1u);
	r->route.m_key = route->m_key;
	r->has_data = data != NULL;
	if (data != NULL)
		memcpy(r->data, data, sizeof(r->data));
}

void
request_to_mad(const struct request *r, unsigned nth_try, uint64_t m_key, struct mad *m)
{
	struct wire_header h = {
		.base_version = 1,
		.mgmt_class = r->route.directed ? WIRE_CLASS_SMP_DR : WIRE_CLASS_SMP_LID,
		.class_version = 1,
		.method = r->method,
		.tid = (uint64_t)nth_try << TID_TRY_SHIFT | r->tid,
		.attr = r->attr,
		.modifier = r->modifier,
		.m_key = r->route.m_key != 0 ? r->route.m_key : m_key,
		.dr_slid = WIRE_LID_PERMISSIVE,
		.dr_dlid = WIRE_LID_PERMISSIVE,
	};

	*m = (struct mad){ .addr.lid = r->route.lid };
	if (smp_is_mixed(&r->route))
		h.dr_slid =
		    r->route.slid; /* the directed part ends at the node: DrDLID permissive */
	else if (r->route.directed)
		m->addr.lid = WIRE_LID_PERMISSIVE;
	if (r->route.directed) {
		h.hop_count = r->route.n_hops;
		memcpy(m->bytes + WIRE_DR_INITIAL_PATH_AT, r->route.path, r->route.n_hops + 1u);
	}
	wire_header_put(m->bytes, &h);
	if (r->has_data)
		memcpy(m->bytes + WIRE_SMP_DATA_AT, r->data, WIRE_SMP_DATA_BYTES);
}
