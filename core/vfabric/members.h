/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/vfabric/members.h - the ports of a fabric that are in vfabrics.
 *
 * Lists of nodes name what is there, so members are found anew with each fabric.  Which P_Keys a
 * port has by them is a list of pairs (GUID, P_Key), sorted; partitions add them to their own
 * (struct part_port).
 */
#ifndef CORE_VFABRIC_MEMBERS_H
#define CORE_VFABRIC_MEMBERS_H

#include "core/vfabric/vfabric.h"

struct snapshot;
struct vfabric_members;

/* All of them; parts gives the P_Keys of those that say none.  O(vfabrics * ports + items log
 * items).  FM_E_RESOURCE. */
int vfabric_members_find(const struct vfabrics *v, const struct partitions *parts,
    const struct snapshot *snap, struct vfabric_members **out, struct fm_error *err);
void vfabric_members_free(struct vfabric_members *m); /* NULL is fine */
/* port->more of port->guid, which lives as long as m.  False: the fabric has no such port.
 * O(log ports). */
bool vfabric_members_give(const struct vfabric_members *m, struct part_port *port);

/* Items of its lists, "members" and "limited", that name nothing in the fabric, one after the
 * other.  FM_E_RESOURCE. */
int vfabric_each_missing(const struct vfabric *f, const struct snapshot *snap,
    void (*each)(void *arg, const char *list, const struct node_item *item), void *arg,
    struct fm_error *err);
/* Its P_Key, 15 bits: its own, or that of the partition of its name. */
uint16_t vfabric_pkey(const struct vfabric *f, const struct partitions *parts);

#endif
