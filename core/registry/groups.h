/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/registry/groups.h - multicast groups and who is in them, IBA 15.2.5.17.
 *
 * A group is born with a join that brings all it needs (or is *kept*: made by the
 * administrator, IPoIB's broadcast) and dies with its last full member; the others go
 * with it.  JoinState is four bits that come and go one by one:
 *
 *	Full	receives and sends, keeps the group	SendOnlyFull	sends, keeps it
 *	Non	receives and sends			SendOnlyNon	sends
 *
 * Several groups may share a MLID by policy: solicited-node groups of IPv6 (RFC 4391;
 * one for each host, and all but a few packets to them are for nobody), and when
 * MLIDs have run out, or for who has taken as many as are left for all others.
 * Sharers are equal in P_Key, Q_Key, SL, MTU and rate.
 *
 * Pure data: no MADs, no clock.  What a caller knows of the fabric it says in struct
 * group_caller.  Every request O(1) but for the group's death and shared MLIDs.
 */
#ifndef CORE_REGISTRY_GROUPS_H
#define CORE_REGISTRY_GROUPS_H

#include "core/wire/sa_wire.h"

#define GROUPS_FIRST_MLID 0xc000u
#define GROUPS_LAST_MLID 0xfffeu

enum join_state {
	JOIN_FULL = 1,
	JOIN_NON = 2,
	JOIN_SEND_ONLY_NON = 4,
	JOIN_SEND_ONLY_FULL = 8,
	JOIN_KEEPS = JOIN_FULL | JOIN_SEND_ONLY_FULL,
	JOIN_RECEIVES = JOIN_FULL | JOIN_NON,
	JOIN_ALL = 15
};

/* OpenSM's consolidate_ipv6_snm_req is GROUPS_SHARE_ONE. */
enum groups_share { GROUPS_SHARE_NONE, GROUPS_SHARE_ONE, GROUPS_SHARE_SOME };

struct groups_settings {
	uint64_t gid_prefix; /* of the subnet, in MGIDs that we make */
	uint16_t last_mlid;  /* what all switches can hold */
	uint8_t life;	     /* packet life time of groups that ask for none */
	enum groups_share share;
	uint16_t share_mlids; /* GROUPS_SHARE_SOME: so many for each P_Key and scope */
	bool share_when_full; /* out of MLIDs: share with any equal group */
	bool closed;	      /* nobody may join */
	uint32_t max_joins;   /* that one requester may hold */
	uint32_t max_groups;  /* in all */
};
void groups_settings_default(struct groups_settings *s);

/* Who asks, and for whom. */
struct group_caller {
	uint64_t requester; /* port GUID of who sent the request */
	uint64_t port;	    /* port GUID behind PortGID (an alias is resolved); 0: nobody */
	uint8_t mtu, rate;  /* what the port can: codes */
	/* Has the port this P_Key in its table, either membership? */
	bool (*has_pkey)(void *arg, uint64_t port, uint16_t pkey);
	void *arg;
};

struct groups;
struct groups *groups_new(const struct groups_settings *s); /* NULL: no memory */
void groups_free(struct groups *g);
/* For groups made from now on. */
void groups_configure(struct groups *g, const struct groups_settings *s);

/* All: an SA status; *got is the record to answer with. */
uint16_t groups_join(struct groups *g, const struct sa_mc_member_record *want, uint64_t mask,
    const struct group_caller *c, struct sa_mc_member_record *got);
uint16_t groups_leave(struct groups *g, const struct sa_mc_member_record *want, uint64_t mask,
    const struct group_caller *c, struct sa_mc_member_record *got);

/* The kept groups are these, by MGID: others are kept no more.  mlid 0: any.  False: no
 * memory, or no MLID left. */
bool groups_keep(struct groups *g, const struct sa_mc_member_record *kept, uint32_t n);
/* As it was before a restart: the group, and, unless join_state is 0, the member. */
bool groups_restore(struct groups *g, const struct sa_mc_member_record *r, uint64_t port,
    uint64_t requester, bool kept);
/* A port has left the subnet: it is in no group any more.  How many it was in. */
uint32_t groups_drop_port(struct groups *g, uint64_t port);

/* ---- to look at; the order is unspecified and changes with every request */
uint32_t groups_count(const struct groups *g);
/* As a record without a member. */
struct sa_mc_member_record groups_record(const struct groups *g, uint32_t i);
bool groups_is_kept(const struct groups *g, uint32_t i);
uint32_t groups_n_members(const struct groups *g, uint32_t i);
/* As a record, with the ports behind it. */
struct sa_mc_member_record groups_member(
    const struct groups *g, uint32_t i, uint32_t k, uint64_t *port, uint64_t *requester);
/* The group of a MGID, UINT32_MAX: none. */
uint32_t groups_find(const struct groups *g, struct sa_gid mgid);
/* The member by its port, UINT32_MAX: none. */
uint32_t groups_find_member(const struct groups *g, uint32_t i, uint64_t port);
uint32_t groups_n_mlids(const struct groups *g); /* in use */
uint32_t groups_n_joins(const struct groups *g, uint64_t requester);

/* Does a record meet another under a mask, MTU, rate and life time by selector? */
bool groups_matches(
    const struct sa_mc_member_record *want, uint64_t mask, const struct sa_mc_member_record *have);

/* ---- what has happened, in order, to be taken by who keeps the fabric and tells others */
enum group_event_kind {
	GROUP_MEMBER, /* port's part in the MLID is now `state`, over all groups that share it */
	GROUP_BORN,
	GROUP_DEAD,
	GROUP_STORED, /* the member (port) of mgid is to be written to the store, */
	GROUP_GONE    /* ... or to be taken out; port 0: the group itself */
};
struct group_event {
	enum group_event_kind kind;
	struct sa_gid mgid;
	uint16_t mlid;
	uint8_t sl, state; /* enum join_state */
	uint64_t port;
};
/* The next event, false when there is none.  After groups_lost(): events are missing, look
 * at everything anew. */
bool groups_next_event(struct groups *g, struct group_event *e);
bool groups_lost(struct groups *g);

#endif
