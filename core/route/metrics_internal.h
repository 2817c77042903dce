/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/route/metrics_internal.h - what the parts of metrics share.
 *
 *	metrics.c	hosts in order, loads of all-to-all
 *	metrics_shift.c	the worst shift
 *	metrics_ebb.c	random bisections
 */
#ifndef CORE_ROUTE_METRICS_INTERNAL_H
#define CORE_ROUTE_METRICS_INTERNAL_H

#include "core/route/metrics.h"

#define DEST_BLOCK 64u /* destinations per item of a parallel loop */

/* Hosts are CA ports, numbered in topological order: switch by switch in the
 * order of lid_switch_order(), of each by port.  So the hosts of a switch are
 * a range, and those of a pod mostly too. */
struct gauge {
	const struct fm_fabric *fab;
	const struct fm_tables *t;
	struct fm_pool *workers;
	unsigned n_workers;
	struct fm_arena mem;
	uint32_t n_hosts;
	fm_end *host_end;   /* [n_hosts] */
	uint16_t *host_lid; /* [n_hosts] base LID */
	fm_sw *host_sw;	    /* [n_hosts] */
	uint32_t *sw_from;  /* [n_switches] its first host */
	uint32_t *sw_hosts; /* [n_switches] how many */
	fm_sw *leaf;	    /* [n_leaves] switches with hosts, in host order */
	uint32_t n_leaves;
	uint32_t *port_first; /* [n_switches + 1] into port_link */
	fm_link *port_link;   /* link behind a port, or FM_NONE */
	uint32_t max_links;   /* of the longest route, known after the loads */
};

/* The egress link of sw to a LID, or FM_NONE. */
static inline fm_link
gauge_link(const struct gauge *g, fm_sw sw, uint16_t lid)
{
	uint8_t port = g->t->lft[sw][lid];

	return port > g->fab->sw_n_ports[sw] ? FM_NONE : g->port_link[g->port_first[sw] + port];
}

/* The links from sw to a host into path[n_switches]: how many, or FM_NONE if it
 * does not arrive. */
uint32_t gauge_follow(const struct gauge *g, fm_sw sw, uint32_t host, fm_link *path);

int gauge_shift(struct gauge *g, uint32_t *max, struct fm_error *err);
int gauge_ebb(
    struct gauge *g, const struct metrics_request *req, double *ebb, struct fm_error *err);

#endif
