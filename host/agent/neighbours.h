/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host/agent/neighbours.h - the kernel's neighbours on IPoIB interfaces, from what hosts have
 * registered: no ARP or neighbour discovery has to be broadcast for them.
 *
 * An entry is for an address in the subnet of an interface with the same P_Key.  The entries are
 * reachable ones, not permanent: the kernel makes sure of them by unicast as of those that it has
 * learned itself, and asks all hosts where nobody answers, so a wrong one heals.  They have
 * NEIGHBOURS_PROTOCOL as their origin; entries of others are replaced, and never deleted.  What the
 * kernel has is read each time, so nothing is kept here, and a new process goes on with the entries
 * of the last.
 *
 * O(addresses log addresses), and a message for each entry that differs.
 */
#ifndef HOST_AGENT_NEIGHBOURS_H
#define HOST_AGENT_NEIGHBOURS_H

#include "host/agent/interfaces.h"
#include "host/agent/replica.h"

#define NEIGHBOURS_PROTOCOL 173 /* NDA_PROTOCOL; ip-neighbour(8) shows it as "proto 173" */

struct neighbours_done {
	unsigned n_kept, n_set, n_deleted;
};

/* fd: of netlink_open(); own: the addresses of the host's interfaces.  FM_E_SYSTEM: the kernel
 * refuses; without CAP_NET_ADMIN it refuses everything. */
int neighbours_keep(int fd, const struct interface_ips *own, const struct replica *r,
    struct neighbours_done *done, struct fm_error *err);

#endif
