/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/inventory/isolated_read.h - which cables an administrator means.
 *
 *	switch:NAME, NAME	all cables of a switch to others; NAME may be its node GUID
 *	link:NAME:PORT		the one at a port of a switch
 *	leaf-3*, @pods, ...	the cables of all switches that an item of core/nodes/nodes.h names
 */
#ifndef CORE_INVENTORY_ISOLATED_READ_H
#define CORE_INVENTORY_ISOLATED_READ_H

#include "core/inventory/isolated.h"

#define ISOLATED_FORMS "switch:NAME, link:NAME:PORT, or several: leaf-3*, @GROUP, system:GUID"

struct node_groups;
struct snapshot;

struct isolated_places {
	const struct inventory *inv;
	const struct snapshot *snap;	  /* in which several are looked for; NULL: not yet */
	const struct node_groups *groups; /* NULL: none */
	const struct isolated *now;	  /* what is isolated */
};

/* To *out, which is empty: what is to be isolated and is not yet, with the names of the switches;
 * or, restores, what is isolated, also by the name that a switch had which is gone.  At least one;
 * FM_E_CONFIG with what would be right, FM_E_RESOURCE. */
int isolated_read(const struct isolated_places *at, const char *text, bool restores,
    struct isolated *out, struct fm_error *err);

#endif
