/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which MLID a group gets: that asked for, one shared by policy, a free one, one shared in
 * need.  There are 16,383 at most and often 1,024, while IPv6 makes a group for each address.
 *
 *	MLID --> its groups (a list through the groups)
 *
 * An MLID is in use as long as its list is not empty, so none can leak.  Looking for one to
 * share is O(MLIDs), all else O(1).
 */
#include "core/registry/groups_internal.h"

/* Solicited-node multicast of IPv6 over InfiniBand (RFC 4391 4, RFC 4291 2.7.1):
 *	ff1S:601b:PPPP:0000:0000:0001:ffXX:XXXX		S scope, P P_Key */
static bool
is_solicited_node(struct sa_gid id)
{
	return (id.prefix & UINT64_C(0xfff0ffff0000ffff)) == UINT64_C(0xff10601b00000000) &&
	    id.guid >> 24 == UINT64_C(0x1ff);
}

static bool
may_share(const struct sa_mc_member_record *a, const struct sa_mc_member_record *b)
{
	return a->pkey == b->pkey && a->qkey == b->qkey && a->sl == b->sl && a->mtu == b->mtu &&
	    a->rate == b->rate;
}

/* The slot of a solicited-node group among the MLIDs of its P_Key and scope. */
static uint32_t
share_slot(const struct groups *g, struct sa_gid id)
{
	if (g->set.share == GROUPS_SHARE_ONE || g->set.share_mlids == 0)
		return 0;
	return (uint32_t)(fm_mix64(id.guid) % g->set.share_mlids);
}

static uint16_t
mlid_to_share(const struct groups *g, const struct sa_mc_member_record *rec)
{
	if (g->set.share == GROUPS_SHARE_NONE || !is_solicited_node(rec->mgid))
		return 0;
	for (uint32_t i = 0; i < N_MLIDS; i++) {
		const struct group *m = g->on_mlid[i];

		if (m != NULL && is_solicited_node(m->rec.mgid) &&
		    m->rec.mgid.prefix == rec->mgid.prefix && may_share(&m->rec, rec) &&
		    share_slot(g, m->rec.mgid) == share_slot(g, rec->mgid))
			return (uint16_t)(GROUPS_FIRST_MLID + i);
	}
	return 0;
}

/* No MLID is left: that of the like groups which has the fewest. */
static uint16_t
mlid_in_need(const struct groups *g, const struct sa_mc_member_record *rec)
{
	uint32_t best = 0, fewest = UINT32_MAX;

	for (uint32_t i = 0; g->set.share_when_full && i < N_MLIDS; i++) {
		uint32_t n = 0;
		const struct group *m = g->on_mlid[i];

		if (m == NULL || m->kept || !may_share(&m->rec, rec))
			continue;
		for (; m != NULL && n < fewest; m = m->next_mlid)
			n++;
		if (n < fewest) {
			fewest = n;
			best = GROUPS_FIRST_MLID + i;
		}
	}
	return (uint16_t)best;
}

static uint32_t
n_mlids_allowed(const struct groups *g)
{
	uint32_t last = g->set.last_mlid < GROUPS_LAST_MLID ? g->set.last_mlid : GROUPS_LAST_MLID;

	return last < GROUPS_FIRST_MLID ? 0 : last - GROUPS_FIRST_MLID + 1;
}

static uint16_t
free_mlid(const struct groups *g)
{
	uint32_t n = n_mlids_allowed(g);

	for (uint32_t i = 0; i < n; i += 64) {
		uint64_t room = ~g->used[i / 64];
		uint32_t at = i + (uint32_t)(room != 0 ? __builtin_ctzll(room) : 64);

		if (room != 0 && at < n)
			return (uint16_t)(GROUPS_FIRST_MLID + at);
	}
	return 0;
}

/* Nobody takes the last MLIDs: who has as many as are free takes no more (dynamic
 * thresholds, Choudhury and Hahne).  One gets half of them, the next half of the rest. */
static bool
may_take(const struct groups *g, uint64_t requester)
{
	uint32_t n = n_mlids_allowed(g);

	return requester == 0 ||
	    (g->n_mlids < n && groups_tally_of(&g->takes, requester) < n - g->n_mlids);
}

uint16_t
groups_choose_mlid(
    const struct groups *g, const struct sa_mc_member_record *rec, uint64_t requester)
{
	bool take = may_take(g, requester);
	uint16_t mlid = rec->mlid;

	if (mlid >= GROUPS_FIRST_MLID && mlid - GROUPS_FIRST_MLID < n_mlids_allowed(g) &&
	    (g->on_mlid[mlid - GROUPS_FIRST_MLID] == NULL
		    ? take
		    : may_share(&g->on_mlid[mlid - GROUPS_FIRST_MLID]->rec, rec)))
		return mlid;
	mlid = mlid_to_share(g, rec);
	if (mlid == 0 && take)
		mlid = free_mlid(g);
	return mlid != 0 ? mlid : mlid_in_need(g, rec);
}

void
groups_charge_mlid(struct groups *g, uint32_t i, uint64_t requester)
{
	if (requester != 0 && g->taker[i] == 0 && groups_tally(&g->takes, requester, 1))
		g->taker[i] = requester;
}

void
groups_take_mlid(struct groups *g, struct group *m, uint64_t requester)
{
	uint32_t i = m->rec.mlid - GROUPS_FIRST_MLID;

	if (g->on_mlid[i] == NULL) {
		g->n_mlids++;
		groups_charge_mlid(g, i, requester);
	}
	fm_bit_set(g->used, i);
	m->next_mlid = g->on_mlid[i];
	g->on_mlid[i] = m;
}

void
groups_give_mlid_back(struct groups *g, struct group *m)
{
	uint32_t i = m->rec.mlid - GROUPS_FIRST_MLID;
	struct group **at = &g->on_mlid[i];

	while (*at != m)
		at = &(*at)->next_mlid;
	*at = m->next_mlid;
	if (g->on_mlid[i] != NULL)
		return;
	fm_bit_clear(g->used, i);
	g->n_mlids--;
	if (g->taker[i] != 0)
		groups_tally(&g->takes, g->taker[i], -1);
	g->taker[i] = 0;
}
