/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Building the model from a netlist.  Attributes are packed once here; from
 * then on the wire form is what is kept.  O(nodes + ports).
 */
#include "lab/sim/fabric.h"

#include <stdlib.h>
#include <string.h>

#include "lab/sim/sma.h"
#include "lib/error.h"

#define CAP_CLIENT_REREGISTER (1u << 25)
#define CAP_EXTENDED_SPEEDS (1u << 14)
#define CAP_NOTICE (1u << 2)
#define CAP_TRAP (1u << 3)
#define CAP_SL_MAPPING (1u << 6)
#define CAP_SYSTEM_GUID (1u << 11)
#define CAP_CAP_MASK_NOTICE (1u << 22)

#define MTU_4096 5
#define VL_CAP_0_7 4
#define SPEED_SDR_TO_QDR 7
#define XDR_LANE_MBPS 200000

struct rate_code {
	uint32_t value;
	uint8_t code;
};

/* The code of the greatest value listed that is not above v; the first if none. */
static uint8_t
code_of(const struct rate_code *row, size_t n, uint32_t v)
{
	uint8_t code = row[0].code;

	for (size_t i = 0; i < n && row[i].value <= v; i++)
		code = row[i].code;
	return code;
}

/* What the link runs at. */
static void
set_active(struct wire_port_info *pi, struct wire_rate r)
{
	static const struct rate_code widths[] = { { 1, 1 }, { 2, 16 }, { 4, 2 }, { 8, 4 },
		{ 12, 8 } };
	static const struct rate_code speeds[] = { { 2000, 1 }, { 4000, 2 }, { 8000, 4 } };
	static const struct rate_code extended[] = { { 0, 0 }, { 13640, 1 }, { 25000, 2 },
		{ 50000, 4 }, { 100000, 8 } };

	pi->link_width_active = code_of(widths, 5, r.lanes);
	pi->link_speed_active = code_of(speeds, 3, r.lane_mbps);
	pi->link_speed_ext_active = code_of(extended, 5, r.lane_mbps);
	/* XDR has a field of its own, behind a bit of CapabilityMask2 */
	pi->link_speed_ext_active2 = r.lane_mbps >= XDR_LANE_MBPS;
}

/* What the port supports: that, and all below. */
static void
set_rate(struct wire_port_info *pi, struct wire_rate r)
{
	set_active(pi, r);
	pi->link_width_supported = pi->link_width_active | 1;
	pi->link_width_enabled = pi->link_width_supported;
	pi->link_speed_supported = SPEED_SDR_TO_QDR;
	pi->link_speed_enabled = SPEED_SDR_TO_QDR;
	if (pi->link_speed_ext_active != 0) {
		pi->link_speed_ext_supported = (uint8_t)(2 * pi->link_speed_ext_active - 1);
		pi->link_speed_ext_enabled = pi->link_speed_ext_supported;
		pi->capability_mask |= CAP_EXTENDED_SPEEDS;
	}
}

void
fabric_set_rate(struct sim_fabric *f, uint32_t port, struct wire_rate r)
{
	uint32_t end[2] = { port, f->cable[port] };

	for (int i = 0; i < 2 && end[i] != SIM_NONE; i++) {
		struct wire_port_info pi;

		wire_port_info_get(f->ports[end[i]].info, &pi);
		set_active(&pi, r);
		wire_port_info_put(f->ports[end[i]].info, &pi);
	}
}

/* What a port is by its making; fabric_power_on() adds the state. */
static void
make_port(struct sim_fabric *f, const struct netlist *nl, uint32_t node, unsigned number)
{
	const struct netlist_node *from = &nl->nodes[node];
	const struct netlist_port *np = netlist_port(nl, node, number);
	bool external = from->type == NETLIST_SWITCH && number > 0;
	struct sim_port *p = fabric_port(f, node, number);
	uint32_t index = from->first_port + number;
	struct wire_port_info pi = { .local_port = (uint8_t)number,
		.vl_cap = VL_CAP_0_7,
		.vl_arb_high_cap = 64,
		.vl_arb_low_cap = 64,
		.mtu_cap = MTU_4096 };

	if (!external) {
		pi.capability_mask = CAP_NOTICE | CAP_TRAP | CAP_SL_MAPPING | CAP_SYSTEM_GUID |
		    CAP_CLIENT_REREGISTER | CAP_CAP_MASK_NOTICE | WIRE_CAP_MASK2;
		pi.capability_mask2 = WIRE_CAP2_EXT_SPEEDS2;
		pi.guid_cap = SIM_GUID_BLOCKS * 8;
	}
	set_rate(&pi,
	    (struct wire_rate){ np->width ? np->width : 4, np->lane_mbps ? np->lane_mbps : 25000 });
	wire_port_info_put(p->info, &pi);
	p->guid = np->guid != 0 ? np->guid : from->guid;
	f->port_node[index] = node;
	f->live[index] = SIM_NONE;
	f->cable[index] = np->peer_node == NETLIST_NONE
	    ? SIM_NONE
	    : nl->nodes[np->peer_node].first_port + np->peer_port;
}

static void
make_switch_info(struct sim_node *n, const struct netlist_node *from)
{
	struct wire_switch_info si = { .linear_fdb_cap = SIM_LFT_CAP,
		.mcast_fdb_cap = SIM_MCAST_CAP,
		.default_port = 255,
		.partition_enforcement_cap = SIM_PKEY_BLOCKS * 32,
		.inbound_enforcement_cap = 1,
		.outbound_enforcement_cap = 1,
		.enhanced_port0 = from->enhanced_port0 };

	wire_switch_info_put(n->switch_info, &si);
}

static bool
make_node(struct sim_fabric *f, const struct netlist *nl, uint32_t node)
{
	static const uint8_t types[] = { WIRE_NODE_SWITCH, WIRE_NODE_CA, WIRE_NODE_ROUTER };
	const struct netlist_node *from = &nl->nodes[node];
	struct sim_node *n = &f->nodes[node];
	const char *desc = from->desc != NULL && from->desc[0] != '\0' ? from->desc : from->id;
	size_t length = strlen(desc);
	struct wire_node_info ni = { .base_version = 1,
		.class_version = 1,
		.node_type = types[from->type],
		.n_ports = from->n_ports,
		.system_guid = from->system_guid ? from->system_guid : from->guid,
		.node_guid = from->guid,
		.partition_cap = SIM_PKEY_BLOCKS * 32,
		.device_id = (uint16_t)from->device_id,
		.vendor_id = from->vendor_id & 0xffffff };

	n->id = fm_arena_strdup(&f->arena, from->id);
	n->guid = from->guid;
	n->aggregation = from->aggregation;
	n->type = types[from->type];
	n->n_ports = from->n_ports;
	n->first_port = from->first_port;
	wire_node_info_put(n->node_info, &ni);
	memcpy(n->desc, desc, length < sizeof(n->desc) ? length : sizeof(n->desc));
	if (n->type == WIRE_NODE_SWITCH)
		make_switch_info(n, from);
	for (unsigned p = 0; p <= n->n_ports; p++) {
		make_port(f, nl, node, p);
		if (!fm_hash_put(&f->by_guid, fabric_port(f, node, p)->guid, node))
			return false;
	}
	return n->id != NULL && fm_hash_put(&f->by_guid, n->guid, node);
}

int
fabric_init(struct sim_fabric *f, const struct netlist *nl, struct fm_error *err)
{
	*f = (struct sim_fabric){ .n_nodes = nl->n_nodes, .n_ports = (uint32_t)nl->n_ports_total };
	fm_arena_init(&f->arena, SIZE_MAX);
	f->nodes = fm_arena_array(&f->arena, f->n_nodes, struct sim_node);
	f->ports = fm_arena_array(&f->arena, f->n_ports, struct sim_port);
	f->live = fm_arena_array(&f->arena, f->n_ports, uint32_t);
	f->cable = fm_arena_array(&f->arena, f->n_ports, uint32_t);
	f->port_node = fm_arena_array(&f->arena, f->n_ports, uint32_t);
	if (!f->nodes || !f->ports || !f->live || !f->cable || !f->port_node)
		goto no_memory;
	sma_init(f);
	for (uint32_t n = 0; n < f->n_nodes; n++)
		if (!make_node(f, nl, n))
			goto no_memory;
	for (uint32_t n = 0; n < f->n_nodes; n++)
		fabric_power_on(f, n);
	for (uint32_t p = 0; p < f->n_ports; p++)
		fabric_train(f, p);
	return 0;
no_memory:
	fabric_fini(f);
	return fm_fail(
	    err, FM_E_RESOURCE, "no memory for a simulated fabric of %u nodes", nl->n_nodes);
}

void
fabric_fini(struct sim_fabric *f)
{
	for (uint32_t n = 0; f->nodes != NULL && n < f->n_nodes; n++)
		fm_vec_fini(&f->nodes[n].lft);
	fm_hash_fini(&f->by_guid);
	fm_arena_fini(&f->arena);
	*f = (struct sim_fabric){ 0 };
}

uint32_t
fabric_find(const struct sim_fabric *f, const char *name)
{
	char *end;
	uint64_t guid;

	for (uint32_t n = 0; n < f->n_nodes; n++)
		if (strcmp(f->nodes[n].id, name) == 0)
			return n;
	guid = strtoull(name, &end, 0);
	return end != name && *end == '\0' ? fm_hash_find(&f->by_guid, guid) : SIM_NONE;
}

struct cca *
fabric_cca(struct sim_fabric *f, struct sim_place at)
{
	struct sim_node *n = &f->nodes[at.node];
	bool is_switch = n->type == WIRE_NODE_SWITCH;
	unsigned n_agents = is_switch ? 1 : n->n_ports;

	if (n->cca == NULL) {
		n->cca = fm_arena_array(&f->arena, n_agents, struct cca);
		for (unsigned i = 0; n->cca != NULL && i < n_agents; i++)
			cca_init(&n->cca[i]);
	}
	return n->cca != NULL ? &n->cca[is_switch ? 0 : at.port - 1] : NULL;
}
