/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/registry/groups_internal.h - groups as data (groups.c), their MLIDs
 * (groups_mlid.c) and the rules that move them (groups_rules.c).
 */
#ifndef CORE_REGISTRY_GROUPS_INTERNAL_H
#define CORE_REGISTRY_GROUPS_INTERNAL_H

#include "core/registry/groups.h"
#include "lib/bitset.h"
#include "lib/hash.h"
#include "lib/vec.h"

#define N_MLIDS (GROUPS_LAST_MLID - GROUPS_FIRST_MLID + 1u)

struct group_member {
	struct sa_gid gid; /* as given, perhaps an alias */
	uint64_t port, requester;
	uint8_t state;
	bool proxy;
};

struct group {
	struct sa_mc_member_record rec; /* without a member */
	uint32_t at;			/* in groups.all */
	uint32_t n_keepers;		/* members with a bit of JOIN_KEEPS */
	bool kept;
	FM_VEC(struct group_member) members;
	struct fm_hash of_port;
	struct group *next_key;	 /* another MGID of the same hash */
	struct group *next_mlid; /* another that shares the MLID */
};

struct groups {
	struct groups_settings set;
	FM_VEC(struct group *) all;
	struct fm_hash by_mgid;		/* key -> in all, of the first of its list */
	struct group *on_mlid[N_MLIDS]; /* first of the list */
	uint64_t taker[N_MLIDS];	/* requester; 0: the administrator, or not known */
	uint64_t used[FM_BITSET_WORDS(N_MLIDS)];
	uint32_t n_mlids;
	struct fm_hash joins; /* requester -> memberships held */
	struct fm_hash takes; /* requester -> MLIDs that are in use because of it */
	uint32_t mgids_made;  /* number in the next MGID that we make */
	FM_VEC(struct group_event) events;
	size_t n_taken;
	bool lost;
};

/* How many somebody has: joins, takes. */
static inline uint32_t
groups_tally_of(const struct fm_hash *h, uint64_t who)
{
	uint32_t n = fm_hash_find(h, who);

	return n == FM_HASH_NONE ? 0 : n;
}

/* False: memory is out when counting up. */
static inline bool
groups_tally(struct fm_hash *h, uint64_t who, int by)
{
	uint32_t n = groups_tally_of(h, who);

	if (by < 0 && n <= 1)
		return fm_hash_remove(h, who) || true;
	return fm_hash_put(h, who, (uint32_t)((int)n + by));
}

/* groups_mlid.c */
/* The MLID for a group like rec; 0: none. */
uint16_t groups_choose_mlid(
    const struct groups *g, const struct sa_mc_member_record *rec, uint64_t requester);
/* The i-th MLID is in use because of the requester, if nobody else is known. */
void groups_charge_mlid(struct groups *g, uint32_t i, uint64_t requester);
/* The group has it from now on, and not any more. */
void groups_take_mlid(struct groups *g, struct group *m, uint64_t requester);
void groups_give_mlid_back(struct groups *g, struct group *m);

/* groups.c */
struct group *groups_by_mgid(const struct groups *g, struct sa_gid mgid);
struct group_member *groups_member_of(const struct group *m, uint64_t port);
/* A group like rec; its MLID if that is free or may be shared, else another.  A requester (0:
 * the administrator) takes at most as many MLIDs as it leaves free, then it shares.  NULL with
 * an SA status: no MLID or no memory. */
struct group *groups_make(
    struct groups *g, const struct sa_mc_member_record *rec, uint64_t requester, uint16_t *status);
/* Bits come (fresh for a new member); false: no memory. */
bool groups_put_member(struct groups *g, struct group *m, const struct group_member *k);
/* Bits go; with the last the member, with the last keeper the group.  True: the group is gone. */
bool groups_take_member(struct groups *g, struct group *m, uint64_t port, unsigned bits);
/* Nobody keeps it: dead, with all who are in it. */
bool groups_bury(struct groups *g, struct group *m);

#endif
