/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Taking parts out of a fabric, chosen by seed: switches first (all their
 * cables go, the node stays away), then cables between the switches that
 * remain.  The same seed takes out the same parts; more of them with a larger
 * number, so series of faults nest.  O(ports).
 */
#include <inttypes.h>

#include "lab/topo/netlist.h"
#include "lib/error.h"
#include "lib/rng.h"
#include "lib/vec.h"

struct port_id {
	uint32_t node;
	uint8_t port;
};

static bool
is_cabled(const struct netlist *nl, uint32_t node)
{
	for (unsigned p = 1; p <= nl->nodes[node].n_ports; p++)
		if (netlist_port(nl, node, p)->peer_node != NETLIST_NONE)
			return true;
	return false;
}

/* Bring n of the count items to the front, in random order. */
#define DRAW(rng, item, count, n) \
	do { \
		for (uint32_t i_ = 0; i_ < (n); i_++) { \
			uint32_t j_ = i_ + fm_rng_below((rng), (count)-i_); \
			__typeof__(*(item)) held_ = (item)[i_]; \
\
			(item)[i_] = (item)[j_]; \
			(item)[j_] = held_; \
		} \
	} while (0)

static int
fail_switches(struct netlist *nl, struct fm_rng *rng, uint32_t n, struct fm_error *err)
{
	FM_VEC(uint32_t) switches = { 0 };
	int rc = 0;

	for (uint32_t i = 0; i < nl->n_nodes && rc == 0; i++)
		if (nl->nodes[i].type == NETLIST_SWITCH && !fm_vec_push(&switches, i))
			rc = fm_fail(err, FM_E_RESOURCE, "no memory for the faults");
	if (rc == 0 && n > switches.n)
		rc = fm_fail(err, FM_E_CONFIG,
		    "%" PRIu32 " switches are to fail, the fabric has %zu", n, switches.n);
	if (rc == 0)
		DRAW(rng, switches.item, (uint32_t)switches.n, n);
	for (uint32_t i = 0; i < n && rc == 0; i++)
		for (unsigned p = 1; p <= nl->nodes[switches.item[i]].n_ports; p++)
			netlist_uncable(nl, switches.item[i], p);
	fm_vec_fini(&switches);
	return rc;
}

static bool
is_trunk(const struct netlist *nl, uint32_t node, unsigned p)
{
	const struct netlist_port *port = netlist_port(nl, node, p);

	return nl->nodes[node].type == NETLIST_SWITCH && port->peer_node != NETLIST_NONE &&
	    nl->nodes[port->peer_node].type == NETLIST_SWITCH &&
	    (port->peer_node > node || (port->peer_node == node && port->peer_port >= p));
}

static int
fail_links(struct netlist *nl, struct fm_rng *rng, const struct netlist_faults *faults,
    uint32_t *n_failed, struct fm_error *err)
{
	FM_VEC(struct port_id) links = { 0 };
	uint32_t n = faults->n_links;
	int rc = 0;

	for (uint32_t i = 0; i < nl->n_nodes; i++)
		for (unsigned p = 1; p <= nl->nodes[i].n_ports; p++) {
			struct port_id id = { i, (uint8_t)p };

			if (is_trunk(nl, i, p) && !fm_vec_push(&links, id))
				rc = fm_fail(err, FM_E_RESOURCE, "no memory for the faults");
		}
	if (faults->links_pct > 0)
		n = (uint32_t)(faults->links_pct / 100.0 * (double)links.n + 0.5);
	if (rc == 0 && n > links.n)
		rc = fm_fail(err, FM_E_CONFIG,
		    "%" PRIu32 " links are to fail, the fabric has %zu between switches", n,
		    links.n);
	if (rc == 0)
		DRAW(rng, links.item, (uint32_t)links.n, n);
	for (uint32_t i = 0; i < n && rc == 0; i++)
		netlist_uncable(nl, links.item[i].node, links.item[i].port);
	fm_vec_fini(&links);
	*n_failed = n;
	return rc;
}

/* Nodes without a cable that had one before stay away: the others move up. */
static bool
drop_nodes(struct netlist *nl, const uint8_t *was_cabled)
{
	FM_VEC(uint32_t) at = { 0 }; /* [n_nodes] where a node moves to */
	uint32_t n = 0;

	if (!fm_vec_reserve(&at, (size_t)nl->n_nodes + 1))
		return false;
	for (uint32_t i = 0; i < nl->n_nodes; i++) {
		bool gone = was_cabled[i] && !is_cabled(nl, i);

		at.item[i] = gone ? NETLIST_NONE : n++;
		if (gone)
			netlist_forget_guids(nl, i);
	}
	for (uint32_t i = 0; i < nl->n_nodes; i++)
		if (at.item[i] != NETLIST_NONE)
			nl->nodes[at.item[i]] = nl->nodes[i];
	nl->n_nodes = n;
	for (size_t p = 0; p < nl->n_ports_total; p++)
		if (nl->ports[p].peer_node != NETLIST_NONE)
			nl->ports[p].peer_node = at.item[nl->ports[p].peer_node];
	fm_vec_fini(&at);
	for (uint32_t i = 0; i < n; i++)
		if (!netlist_name_node(nl, i))
			return false;
	return true;
}

static int
fail_parts(struct netlist *nl, const struct netlist_faults *faults, uint32_t *n_links,
    struct fm_error *err)
{
	struct fm_rng rng;
	int rc;

	fm_rng_seed(&rng, faults->seed);
	rc = fail_switches(nl, &rng, faults->n_switches, err);
	fm_rng_seed(&rng, faults->seed + 1);
	return rc != 0 ? rc : fail_links(nl, &rng, faults, n_links, err);
}

int
netlist_fail(struct netlist *nl, const struct netlist_faults *faults, uint32_t *n_links,
    uint32_t *n_switches, struct fm_error *err)
{
	FM_VEC(uint8_t) was_cabled = { 0 };
	int rc;

	if (!(faults->links_pct >= 0 && faults->links_pct <= 100))
		return fm_fail(err, FM_E_CONFIG,
		    "%g %% of the links are to fail: 0 to 100 are possible", faults->links_pct);
	if (!fm_vec_reserve(&was_cabled, (size_t)nl->n_nodes + 1))
		return fm_fail(err, FM_E_RESOURCE, "no memory for the faults");
	for (uint32_t i = 0; i < nl->n_nodes; i++)
		was_cabled.item[i] = is_cabled(nl, i);
	rc = fail_parts(nl, faults, n_links, err);
	if (rc == 0 && !drop_nodes(nl, was_cabled.item))
		rc = fm_fail(err, FM_E_RESOURCE, "no memory for the faults");
	fm_vec_fini(&was_cabled);
	*n_switches = faults->n_switches;
	return rc;
}
