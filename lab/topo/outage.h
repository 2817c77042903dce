/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab/topo/outage.h - parts of a fabric taken out by name, and put back.
 *
 *	switch:NAME	a switch with all its cables; hosts that hang off it alone
 *			are cut off with it
 *	host:NAME	a CA or router likewise
 *	link:NAME:PORT	one cable, named by either of its ends
 *
 * NAME is a node description, the file's own name of the node, a GUID (0x...),
 * or a pattern as in options (leaf-[1-18], spine-*): then every node it matches.
 * A switch that is out keeps its number in snapshots, without links and ends,
 * as it does in the daemon, so that plans before and after can be compared.
 */
#ifndef LAB_TOPO_OUTAGE_H
#define LAB_TOPO_OUTAGE_H

#include "lab/topo/netlist.h"

struct outage {
	struct netlist *nl; /* borrowed; has the cables that are left */
	/* [n_ports_total] ports as they are when nothing is out */
	struct netlist_port *whole;
	uint8_t *node_out; /* [n_nodes] */
	uint8_t *port_out; /* [n_ports_total] of a cable both ends */
	uint32_t n_named;  /* nodes that the last change named */
};

/* nl must not be changed by others until outage_fini(), which leaves it as it
 * is then.  FM_E_RESOURCE. */
int outage_init(struct outage *o, struct netlist *nl, struct fm_error *err);
void outage_fini(struct outage *o);

/* Take a part out or put it back.  FM_E_CONFIG for a word that is no part, a
 * part that the fabric has not, one that is out already or was never out;
 * nothing has changed then.  O(nodes + ports). */
int outage_change(struct outage *o, const char *part, bool out, struct fm_error *err);

#endif
