/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A request as its caller gives it, and as the MAD of one of its tries.
 */
#include <string.h>

#include "core/mad/requests.h"

#define GMP_KEY_AT 24
#define GSI_QKEY 0x80010000

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
	r->route.aside = route->aside;
	r->route.brief = route->brief;
	r->route.wait_ms = route->wait_ms;
	r->route.n_hops = route->n_hops <= DR_MAX_HOPS ? route->n_hops : DR_MAX_HOPS;
	memcpy(r->route.path, route->path, r->route.n_hops + 1u);
	r->route.m_key = route->m_key;
	r->gmp.mgmt_class = 0;
	r->has_data = data != NULL;
	if (data != NULL)
		memcpy(r->data, data, WIRE_SMP_DATA_BYTES);
}

void
request_fill_gmp(struct request *r, const struct gmp_route *route, const uint8_t *data)
{
	request_fill(r,
	    &(struct smp_route){
		.lid = route->lid, .m_key = route->key, .max_tries = route->n_tries },
	    NULL);
	r->gmp = *route;
	r->has_data = data != NULL;
	if (data != NULL)
		memcpy(r->data, data, sizeof(r->data));
}

static uint8_t
class_of(const struct request *r)
{
	if (r->gmp.mgmt_class != 0)
		return r->gmp.mgmt_class;
	return r->route.directed ? WIRE_CLASS_SMP_DR : WIRE_CLASS_SMP_LID;
}

static void
gmp_to_mad(const struct request *r, struct mad *m)
{
	struct wire_header h = { .base_version = 1,
		.mgmt_class = r->gmp.mgmt_class,
		.class_version = r->gmp.class_version,
		.method = r->method,
		.attr = r->attr,
		.modifier = r->modifier };

	*m = (struct mad){ .addr = {
			       .lid = r->gmp.lid, .sl = r->gmp.sl, .qpn = 1, .qkey = GSI_QKEY } };
	wire_header_put(m->bytes, &h);
	wire_put64(m->bytes + GMP_KEY_AT, r->gmp.key);
	if (r->has_data)
		memcpy(m->bytes + GMP_DATA_AT, r->data, GMP_DATA_BYTES);
}

static void
smp_to_mad(const struct request *r, uint64_t m_key, struct mad *m)
{
	struct wire_header h = {
		.base_version = 1,
		.mgmt_class = class_of(r),
		.class_version = 1,
		.method = r->method,
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

void
request_to_mad(const struct request *r, uint64_t m_key, struct mad *m)
{
	if (r->gmp.mgmt_class != 0)
		gmp_to_mad(r, m);
	else
		smp_to_mad(r, m_key, m);
}

/* IBA 14.2.2: the answer has the D bit and the initial path of its request.  The return path is not
 * looked at: in a fat tree it is the same for hosts of all leaves. */
static bool
came_by_its_path(const struct request *r, const struct mad *m, const struct wire_header *h)
{
	return h->dr_return && h->hop_count == r->route.n_hops &&
	    memcmp(m->bytes + WIRE_DR_INITIAL_PATH_AT + 1, r->route.path + 1, r->route.n_hops) == 0;
}

/* What an SMA puts into the M_Key of its answer is its own affair, and not looked at. */
bool
request_is_answered_by(const struct request *r, const struct mad *m, const struct wire_header *h)
{
	return h->method == WIRE_GET_RESP && h->mgmt_class == class_of(r) && h->attr == r->attr &&
	    h->modifier == r->modifier &&
	    (r->route.directed ? came_by_its_path(r, m, h) : m->addr.lid == r->route.lid);
}
