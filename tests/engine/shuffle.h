/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/engine/shuffle.h - the same fabric under other names: node order,
 * GUIDs, system GUIDs, names and port numbers permuted by seed.
 */
#ifndef TESTS_ENGINE_SHUFFLE_H
#define TESTS_ENGINE_SHUFFLE_H

#include <stdio.h>
#include <stdlib.h>

#include "core/topo/netlist.h"
#include "lib/rng.h"

static inline void
shuffle_u32(struct fm_rng *rng, uint32_t *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		v[i] = i;
	for (uint32_t i = n; i > 1; i--) {
		uint32_t j = fm_rng_below(rng, i), t = v[i - 1];

		v[i - 1] = v[j];
		v[j] = t;
	}
}

/* Into *out, an empty netlist. */
static inline void
shuffle_netlist(const struct netlist *in, uint64_t seed, struct netlist *out)
{
	uint32_t *order = malloc((in->n_nodes + 1) * sizeof(*order));
	uint32_t *node = malloc((in->n_nodes + 1) * sizeof(*node));
	uint32_t(*port)[256] = malloc((in->n_nodes + 1) * sizeof(*port));
	struct fm_rng rng;

	fm_rng_seed(&rng, seed);
	shuffle_u32(&rng, order, in->n_nodes);
	for (uint32_t i = 0; i < in->n_nodes; i++) {
		const struct netlist_node *from = &in->nodes[order[i]];
		char name[32];
		uint64_t guid = (fm_rng_next(&rng) & 0xffffffff00) | 0x10000000000;

		snprintf(name, sizeof(name), "n%u", i);
		node[order[i]] = netlist_add(out, (enum netlist_node_type)from->type, name, name,
		    from->type == NETLIST_SWITCH ? guid : 0, from->n_ports);
		shuffle_u32(&rng, port[order[i]], from->n_ports);
	}
	for (uint32_t i = 0; i < in->n_nodes; i++)
		for (unsigned p = 1; p <= in->nodes[i].n_ports; p++) {
			const struct netlist_port *at = netlist_port(in, i, p);

			if (at->peer_node == NETLIST_NONE || at->peer_node < i ||
			    (at->peer_node == i && at->peer_port < p))
				continue;
			netlist_cable(out, node[i], 1 + port[i][p - 1], node[at->peer_node],
			    1 + port[at->peer_node][at->peer_port - 1], 25000);
		}
	free(order);
	free(node);
	free(port);
}

#endif
