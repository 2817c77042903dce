/* SPDX-License-Identifier: BSD-2-Clause */
/* core/cabling/match.h - which node of a fabric as it is to be is which of the fabric as it is. */
#ifndef CORE_CABLING_MATCH_H
#define CORE_CABLING_MATCH_H

#include "core/netlist/netlist.h"

struct cabling_match {
	uint32_t *to, *from; /* [nodes wanted], [nodes found]: the other's; NETLIST_NONE: nobody */
};

/* By GUID, then name, then place.  False: out of memory.  cabling_match_fini() in any case. */
bool cabling_match(
    const struct netlist *want, const struct netlist *found, struct cabling_match *m);
void cabling_match_fini(struct cabling_match *m);
/* Are they the same by their names? */
bool cabling_is_called_alike(const struct netlist_node *a, const struct netlist_node *b);

#endif
