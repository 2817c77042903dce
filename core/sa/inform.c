/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * InformInfo: subscribe, and ask who has, IBA 13.5.3, 15.2.5.12.
 */
#include "core/registry/registry.h"
#include "core/sa/sa.h"

static struct sa_gid
gid_of(const struct sa_query *q)
{
	return (struct sa_gid){ q->view->set.gid_prefix, q->view->end[q->requester].guid };
}

uint16_t
sa_set_inform_info(struct sa_query *q)
{
	struct sa_inform_info got = q->want.inform_info;
	uint16_t status;

	if (q->requester == FM_NONE)
		return SA_REQ_INVALID;
	q->n_looked_at += registry_n_subscriptions(q->registry);
	status = registry_inform(
	    q->registry, &got, q->view->end[q->requester].guid, gid_of(q), &q->from);
	if (status == SA_OK)
		sa_add(q, &got);
	return status;
}

/* One's own, unless trusted. */
uint16_t
sa_get_inform_infos(struct sa_query *q)
{
	uint32_t n = registry_n_subscriptions(q->registry);

	for (uint32_t i = 0; i < n; i++) {
		const struct subscription *s = registry_subscription(q->registry, i);
		struct sa_inform_info_record r = { s->gid, s->number, s->info };
		uint32_t end = sa_view_end_of_guid(q->view, s->client);

		r.info.qpn = q->trusted ? s->to.qpn : 0; /* C15-0.2-1.16 */
		q->n_looked_at++;
		if (end == FM_NONE || !sa_may_see(q, end))
			continue;
		if (!sa_offer(q, &r))
			break;
	}
	return SA_OK;
}
