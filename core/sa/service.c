/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ServiceRecords asked for and set, IBA 15.2.5.14.  The key is shown to the trusted only,
 * not even to who has just set it (C15-0.1.14), and a service to who has its P_Key.
 *
 * Addresses (core/wire/ip_service.h) are taken of nobody but the port that has their GID, with a
 * lease, whoever shows a key.
 */
#include <inttypes.h>
#include <string.h>

#include "core/registry/registry.h"
#include "core/sa/sa_internal.h"
#include "core/wire/ip_service.h"

static bool
may_see(const struct sa_query *q, const struct sa_service_record *r)
{
	uint32_t end = sa_view_end_of_gid(q->view, r->gid);

	if (q->trusted)
		return true;
	if (q->requester == FM_NONE)
		return false;
	return sa_view_shared_pkey(
		   q->view, q->requester, end == FM_NONE ? q->requester : end, r->pkey) != 0;
}

static uint64_t
client_of(const struct sa_query *q)
{
	return q->requester == FM_NONE ? 0 : q->view->end[q->requester].guid;
}

static void
add(struct sa_query *q, struct sa_service_record *r)
{
	if (!q->trusted)
		memset(r->key, 0, sizeof(r->key));
	sa_add(q, r);
}

uint16_t
sa_get_services(struct sa_query *q)
{
	uint64_t mask = q->h.mask;
	uint32_t n;

	registry_tick(q->registry, q->now_ms);
	n = registry_n_services(q->registry);
	q->n_looked_at += n;
	for (uint32_t i = 0; i < n; i++) {
		struct sa_service_record r = registry_service(q->registry, i, q->now_ms);

		if (!may_see(q, &r) || !sa_record_matches(q->record, &q->want, mask, &r))
			continue;
		add(q, &r);
	}
	return SA_OK;
}

/* What registry_set_service() or registry_delete_service() makes of it, as the answer. */
static uint16_t
change(struct sa_query *q,
    uint16_t (*how)(struct registry *, const struct sa_service_record *, uint64_t, uint64_t, bool,
	int64_t, struct sa_service_record *))
{
	struct sa_service_record got;
	uint16_t status;

	if (client_of(q) == 0)
		return SA_REQ_INVALID;
	q->n_looked_at += registry_n_services(q->registry);
	status = how(
	    q->registry, &q->want.service, q->h.mask, client_of(q), q->trusted, q->now_ms, &got);
	if (status == SA_OK)
		add(q, &got);
	return status;
}

/* Why the record of an address is not taken; NULL: it is. */
static const char *
why_no_address(const struct sa_query *q, struct ip_service *s)
{
	const char *why = ip_service_get(&q->want.service, s);

	if (why != NULL)
		return why;
	if ((q->h.mask & IP_SERVICE_MASK) != IP_SERVICE_MASK ||
	    q->want.service.lease_s == UINT32_MAX)
		return "comes without a lease, or without a part of its data";
	if (!sa_is_own_gid(q, s->gid))
		return "is registered for a GID that this port has not";
	if (sa_view_shared_pkey(q->view, q->requester, q->requester, s->pkey) == 0)
		return "is registered in a partition that this port is not in";
	return NULL;
}

static bool
refuse_address(const struct sa_query *q)
{
	struct ip_service s;
	const char *why = why_no_address(q, &s);
	char ip[IP_TEXT];

	if (why == NULL)
		return false;
	fm_log_rl(&q->sa->claim_bucket, FM_LOG_WARN, "sa",
	    "LID %u (port 0x%016" PRIx64 ") is refused an address: %s (GID 0x%016" PRIx64
	    ":0x%016" PRIx64 ") %s",
	    q->from.lid, client_of(q), ip_text(s.ip, ip), s.gid.prefix, s.gid.guid, why);
	return true;
}

uint16_t
sa_set_service(struct sa_query *q)
{
	uint16_t pkey = q->want.service.pkey;

	if (ip_service_is(q->want.service.id) && refuse_address(q))
		return SA_REQ_INVALID;
	if (client_of(q) != 0 && (q->h.mask & SA_SR_PKEY) &&
	    sa_view_shared_pkey(q->view, q->requester, q->requester, pkey) == 0)
		return SA_REQ_INVALID;
	return change(q, registry_set_service);
}

uint16_t
sa_delete_service(struct sa_query *q)
{
	return change(q, registry_delete_service);
}
