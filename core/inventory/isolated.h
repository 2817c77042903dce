/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/inventory/isolated.h - cables that are taken out of routing.
 *
 * No forwarding table uses an isolated cable; its ports stay as they are.  A cable between switches
 * is named by the node GUID of a switch at either end and the port there, or is one of all those of
 * a switch.  The file that keeps them over a restart has one a line:
 *
 *	switch 0x0002c9030000a1b2 "spine-2"
 *	link 0x0002c9030000a1b2 17 "spine-2"
 *	quarantined 0x0002c9030000a1b2 17 1764437000 "500 symbol errors within an hour" "spine-2"
 *
 * with the name that the switch had, for when it is gone; it may be missing.  A quarantined cable
 * is a link that fmd has taken out itself (health_action), with since when, in seconds since 1970,
 * and why.
 */
#ifndef CORE_INVENTORY_ISOLATED_H
#define CORE_INVENTORY_ISOLATED_H

#include "core/inventory/inventory.h"
#include "lib/vec.h"

#define ISOLATED_REASON 160

struct isolated_item {
	uint64_t guid;	       /* of the switch */
	uint8_t port;	       /* 0: all its cables to switches */
	char name[65];	       /* of the switch when it was isolated; "": not known */
	int64_t quarantined_s; /* UTC: fmd has taken it out then; 0: the administrator has */
	char reason[ISOLATED_REASON];
};

struct isolated {
	FM_VEC(struct isolated_item) items;
};

void isolated_fini(struct isolated *set);
/* O(items); set may be NULL. */
bool isolated_has(const struct isolated *set, uint64_t guid, uint8_t port);
/* Once each.  False: out of memory. */
bool isolated_add(struct isolated *set, uint64_t guid, uint8_t port);
/* That of its switch when it was isolated. */
void isolated_name(struct isolated *set, uint64_t guid, uint8_t port, const char *name);
/* It is one that is there: why it is quarantined, and since when. */
void isolated_quarantine(
    struct isolated *set, uint64_t guid, uint8_t port, int64_t since_s, const char *reason);
uint32_t isolated_n_quarantined(const struct isolated *set);
/* NULL: there is none.  Good until the set changes. */
const struct isolated_item *isolated_at(const struct isolated *set, uint64_t guid, uint8_t port);
/* False: it was not there. */
bool isolated_remove(struct isolated *set, uint64_t guid, uint8_t port);
bool isolated_copy(struct isolated *to, const struct isolated *from); /* to is empty */
static inline bool
isolated_any(const struct isolated *set)
{
	return set != NULL && set->items.n > 0;
}
/* Is there a cable between switches at this port of the node in the slot, and is it isolated?  By
 * where cables are now. */
bool isolated_is_cable(
    const struct isolated *set, const struct inventory *inv, uint32_t slot, unsigned port);

/* All or nothing, none where there is no file: FM_E_CONFIG "FILE:LINE: ...", FM_E_SYSTEM,
 * FM_E_RESOURCE. */
int isolated_load(const char *path, struct isolated *set, struct fm_error *err);
/* In the place of what there was.  FM_E_SYSTEM. */
int isolated_save(const char *path, const struct isolated *set, struct fm_error *err);

#endif
