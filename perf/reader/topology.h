/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf/reader/topology.h - the fabric as fmd tells it (fmctl(8), "fabric"), checked.
 */
#ifndef PERF_READER_TOPOLOGY_H
#define PERF_READER_TOPOLOGY_H

#include <jansson.h>

#include "perf/book/book.h"

/* A port of a node: row first_port + port - 1. */
struct topology_port {
	uint32_t peer; /* node, BOOK_NOBODY */
	uint32_t mbps, planned;
	uint16_t lid; /* of a host's port, 0: none; of a switch its own, at each port */
	uint8_t peer_port;
	bool is_cabled, is_active;
};

struct topology {
	char generation[32];
	bool is_master;
	uint32_t n_nodes, n_ports;
	struct book_node *nodes;     /* [n_nodes] */
	struct topology_port *ports; /* [n_ports] */
};

/* Of the answer to "fabric", borrowed.  FM_E_TOPOLOGY: it makes no sense; FM_E_RESOURCE. */
int topology_read(const json_t *fabric, struct topology **out, struct fm_error *err);
void topology_free(struct topology *t); /* NULL is fine */

#endif
