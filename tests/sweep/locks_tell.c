/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who closes a ring: each dependency of it, and the first host found whose packets, under one
 * SL of one plan, make it alone.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/sweep/locks_internal.h"

#define TOLD_MAX 12

static bool
makes(struct locks *k, struct edge e, uint32_t host, uint32_t lid, const struct past_sls *s,
    uint32_t row, uint32_t column)
{
	uint8_t sl = s->sl[row * k->n_lids + column];

	if (sl == NO_SL)
		return false;
	locks_follow_one(k, host, lid, s, sl);
	for (size_t i = 0; i < k->edges[lid].n; i++)
		if (k->edges[lid].item[i].from == e.from && k->edges[lid].item[i].to == e.to)
			return true;
	return false;
}

static void
say(struct locks *k, const char *who, uint32_t host, const struct past_sls *s)
{
	size_t n = strlen(k->first);

	snprintf(k->first + n, sizeof(k->first) - n, "%s of LID %u by SLs of %" PRId64 " ms", who,
	    host, s->from == NEVER ? 0 : s->from / 1000000);
}

static void
say_who(struct locks *k, uint32_t lid, struct edge e)
{
	for (uint32_t host = 1; host < k->n_lids; host++) {
		if (!is_host(k, host) || host == lid)
			continue;
		for (size_t i = 0; i < k->sls[host].n; i++)
			if (makes(k, e, host, lid, &k->sls[host].item[i], host, lid)) {
				say(k, "packets", host, &k->sls[host].item[i]);
				return;
			}
		for (size_t i = 0; is_host(k, lid) && i < k->sls[lid].n; i++)
			if (k->sls[lid].item[i].replies &&
			    makes(k, e, host, lid, &k->sls[lid].item[i], lid, host)) {
				say(k, "replies", host, &k->sls[lid].item[i]);
				return;
			}
	}
}

static void
say_edge(struct locks *k, uint32_t lid, struct edge e)
{
	const struct sim_fabric *f = fabric_of(k);
	uint32_t in = e.from / N_VLS, out = e.to / N_VLS;
	size_t n = strlen(k->first);

	snprintf(k->first + n, sizeof(k->first) - n, "\nto LID %u: %s:%u VL %u, %s:%u VL %u: ", lid,
	    f->nodes[f->port_node[in]].id, port_number(f, in), e.from % N_VLS,
	    f->nodes[f->port_node[out]].id, port_number(f, out), e.to % N_VLS);
	say_who(k, lid, e);
}

void
locks_tell(struct locks *k, const uint32_t *component)
{
	unsigned n = 0;

	snprintf(k->first, sizeof(k->first), "at %" PRId64 " ms", k->now / 1000000);
	for (uint32_t lid = 1; lid < k->n_lids; lid++) {
		for (size_t i = 0; i < k->edges[lid].n && n < TOLD_MAX; i++) {
			struct edge e = k->edges[lid].item[i];

			if (component[e.from] != component[e.to])
				continue;
			n++;
			say_edge(k, lid, e);
			locks_follow(k, lid); /* k->edges were another's */
		}
	}
}
