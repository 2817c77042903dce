/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/mcast/mcast_net.h - the multicast groups of the fabric: who is in, and by
 * which ports each switch sends a group on.
 *
 * Of its tree (mcast.h) a group uses the ways from its members to the root, cut
 * off above the switch where they have come together:
 *
 *	root		cut off: one way in, nobody here
 *	 |
 *	top		two ways meet
 *	/  \
 *     s    s		members hang here; who only sends has a way in and no port out
 *
 * A join adds the way from its switch up to where there is one already, a leave takes
 * away what nobody else needs: O(depth) switches, which are noted as dirty.
 *
 * Members are kept by port GUID, whatever the trees: with other trees all groups are
 * laid out anew.  One thread at a time.
 */
#ifndef CORE_MCAST_MCAST_NET_H
#define CORE_MCAST_MCAST_NET_H

#include "core/mcast/mcast.h"

#define MCAST_N_MLIDS (MCAST_MLID_LAST - MCAST_MLID_FIRST + 1u)
#define MCAST_BLOCK_MLIDS 32u

enum mcast_role { MCAST_OUT = 0, MCAST_RECEIVES = 1, MCAST_SENDS = 2 };

/* Ports of one switch: bit p. */
struct mcast_ports {
	uint64_t bits[4];
};
static inline bool
mcast_ports_empty(const struct mcast_ports *p)
{
	return (p->bits[0] | p->bits[1] | p->bits[2] | p->bits[3]) == 0;
}

struct mcast_net;
struct mcast_net *mcast_net_new(void); /* NULL: no memory */
void mcast_net_free(struct mcast_net *n);

/* A port is in the group (roles as bits), or, MCAST_OUT, no more.  sl: of the group.
 * False: out of memory. */
bool mcast_net_set(struct mcast_net *n, uint16_t mlid, uint8_t sl, uint64_t guid, unsigned roles);
/* Other trees, NULL: none.  Takes a reference of its own.  False: out of memory. */
bool mcast_net_use(struct mcast_net *n, struct mcast_trees *t);
struct mcast_trees *mcast_net_trees(const struct mcast_net *n);
/* Ascends with each mcast_net_use(): all rows of one number are of the same trees. */
uint64_t mcast_net_number(const struct mcast_net *n);

/* SLs of groups with members, bit i. */
uint16_t mcast_net_sls(const struct mcast_net *n);
uint16_t mcast_net_top(const struct mcast_net *n); /* highest MLID with members, 0: none */
uint32_t mcast_net_n_members(const struct mcast_net *n, uint16_t mlid);
/* Member i < n_members, any order. */
void mcast_net_member(
    const struct mcast_net *n, uint16_t mlid, uint32_t i, uint64_t *guid, unsigned *roles);

/* By which ports sw sends the group on. */
struct mcast_ports mcast_net_row(const struct mcast_net *n, uint16_t mlid, fm_sw sw);
/* Switches on the tree of the group, cut off ones included: *list[result]. */
uint32_t mcast_net_switches(const struct mcast_net *n, uint16_t mlid, uint32_t i, fm_sw *sw);

/* What has changed since the last mcast_net_clear(); may name things twice. */
struct mcast_spot {
	uint16_t mlid;
	fm_sw sw;
};
uint32_t mcast_net_dirty(const struct mcast_net *n, const struct mcast_spot **list);
void mcast_net_clear(struct mcast_net *n);

#endif
