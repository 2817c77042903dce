/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/netlist/netlist.h - a fabric as a file describes it: nodes, ports, cables.
 *
 * This is the form before routing: CAs are whole nodes with all their ports,
 * a port may be unconnected.  Cabling as it is to be is compared with it
 * (core/cabling), fmroute turns it into a snapshot, the simulator serves it.
 *
 *	node n owns ports node[n].first_port + 0 .. + n_ports;
 *	port 0 is the switch's own port (unused in CAs and routers)
 *
 * Grammar: ibsim netlists and ibnetdiscover dumps (netlist_read.c), ibutils' topology files
 * (topo_read.c), which are told by their name: it ends with .topo.
 */
#ifndef CORE_NETLIST_NETLIST_H
#define CORE_NETLIST_NETLIST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <fmd/error.h>

#include "lib/arena.h"
#include "lib/hash.h"

#define NETLIST_NONE UINT32_MAX
#define NETLIST_WIDTH 4 /* lanes of a cable of which nothing else is said */

enum netlist_node_type { NETLIST_SWITCH, NETLIST_CA, NETLIST_ROUTER };

struct netlist_node {
	uint64_t guid;	      /* node GUID; never 0 once read (invented where the file is silent) */
	uint64_t system_guid; /* SystemImageGUID; 0 = as guid */
	const char *id;	      /* the file's own name of the node, unique */
	const char *desc;     /* node description, "" when absent */
	uint32_t first_port;  /* into ports[]: port p is ports[first_port + p] */
	uint32_t vendor_id, device_id;
	uint8_t type;	 /* enum netlist_node_type */
	uint8_t n_ports; /* 1..254, port 0 not counted */
	bool enhanced_port0;
	bool aggregation;  /* an in-network computing node (SHARP AN) of its switch */
	bool guid_is_made; /* the file does not say one */
	bool absent;	   /* taken out (lab/topo/outage.h): a switch has no end of its own then */
	uint32_t line;	   /* where the file defines it; 0 = generated */
};

struct netlist_port {
	uint64_t guid;	    /* port GUID (CA, router; switch: port 0 only) */
	uint32_t peer_node; /* NETLIST_NONE = no cable */
	uint8_t peer_port;
	uint8_t lmc;
	uint16_t lid;  /* 0 = none given */
	uint8_t width; /* lanes: 1, 2, 4, 8, 12 */
	/* data rate of one lane: 2000 SDR, 4000 DDR, 8000 QDR, 13640 FDR, 25000 EDR, ... */
	uint32_t lane_mbps;
};

struct netlist {
	struct netlist_node *nodes; /* [n_nodes] in the order of the file */
	struct netlist_port *ports; /* [n_ports_total] */
	uint32_t n_nodes;
	size_t n_ports_total;
	size_t nodes_room, ports_room; /* allocated */
	struct fm_hash by_guid;	       /* node GUID and port GUID -> node index */
	uint64_t local_guid;	 /* port GUID of the port the dump was taken from; 0 = unknown */
	struct fm_arena strings; /* ids and descriptions */
};

static inline struct netlist_port *
netlist_port(const struct netlist *nl, uint32_t node, unsigned port)
{
	return &nl->ports[nl->nodes[node].first_port + port];
}

void netlist_fini(struct netlist *nl);

/* Read a file ("-" = standard input).  Errors name file and line and what
 * would be right.  Remarks that do not stop the reading (a link that only
 * one side shows) go to the log.  *nl is written only on success. */
int netlist_read(const char *path, struct netlist *nl, struct fm_error *err);
int netlist_parse(
    const char *name, const char *text, size_t n_bytes, struct netlist *nl, struct fm_error *err);
bool netlist_is_topo(const char *name);
/* Write in the dialect that ibsim and netlist_read() both read. */
int netlist_write(const struct netlist *nl, FILE *out, struct fm_error *err);
/* ... as ibutils' topology file, which has no LIDs. */
int netlist_write_topo(const struct netlist *nl, FILE *out, struct fm_error *err);
int netlist_written(FILE *out, struct fm_error *err); /* has all been? */
/* What a node that calls itself so is called in a topology file, where no other one is. */
void netlist_topo_name(const char *desc, char *name, size_t size);

/* Build by hand (generators, tests): node, then cables; a zeroed struct is an
 * empty fabric.  id and desc are copied.  guid 0 = invent one from the index;
 * CA and router ports get guid + port.  Returns the index, or NETLIST_NONE
 * when memory is out.  Pointers into nodes and ports do not survive an add. */
uint32_t netlist_add(struct netlist *nl, enum netlist_node_type type, const char *id,
    const char *desc, uint64_t guid, unsigned n_ports);
/* The same in two steps, for readers that learn GUIDs later: guid 0 and port
 * GUIDs of 0 stay so until netlist_name_node() invents what is missing and
 * enters all of the node's GUIDs in by_guid (false: memory is out).  id and
 * desc need no terminator. */
uint32_t netlist_add_bare(struct netlist *nl, enum netlist_node_type type, const char *id,
    size_t id_len, const char *desc, size_t desc_len, unsigned n_ports);
bool netlist_name_node(struct netlist *nl, uint32_t node);
void netlist_forget_guids(struct netlist *nl, uint32_t node); /* takes them out of by_guid */
/* Cable two ports, NETLIST_WIDTH lanes of lane_mbps.  The ports must exist and be free. */
void netlist_cable(struct netlist *nl, uint32_t node_a, unsigned port_a, uint32_t node_b,
    unsigned port_b, uint32_t lane_mbps);
void netlist_uncable(struct netlist *nl, uint32_t node, unsigned port);

#endif
