/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Power and links: the port state machine of IBA 7.2.7 as SMPs can see it.
 *
 *	          train            Set ARMED         Set ACTIVE, or the peer
 *	 DOWN ───────────► INIT ───────────► ARMED ───────────► ACTIVE
 *	  ▲                 │                  │  (got active)     │
 *	  └─────────────────┴──────────────────┴───────────────────┘
 *	    cable out, peer gone or disabled, Set DOWN (then it trains anew)
 *
 * A link lives or dies at both ends at once.  What the state machine does by
 * itself sets PortStateChange and is told by trap 128; what Set does to the
 * port it names is not (IBA 14.2.5.4).  All O(ports of the node) at most.
 */
#include "lab/sim/fabric.h"

#include <string.h>

#include "lab/sim/pma.h"

static void
set_states(struct sim_port *p, uint8_t state, uint8_t phys)
{
	uint8_t *speed_state = &p->info[PORT_INFO_SPEED_SUPPORTED_STATE];
	uint8_t *phys_default = &p->info[PORT_INFO_PHYS_DEFAULT];

	*speed_state = (uint8_t)((*speed_state & 0xf0) | state);
	*phys_default = (uint8_t)((*phys_default & 0x0f) | phys << 4);
}

static void
note_change(struct sim_fabric *f, uint32_t port)
{
	uint32_t node = f->port_node[port];
	struct sim_node *n = &f->nodes[node];

	if (n->type != WIRE_NODE_SWITCH || n->off)
		return;
	n->switch_info[SWITCH_INFO_CHANGE] |= SWITCH_INFO_CHANGE_BIT;
	if (f->hooks.notice != NULL)
		f->hooks.notice(f->hooks.arg, node, SIM_TRAP_LINK);
}

static void
forget_port(struct sim_port *p, bool is_port0)
{
	struct wire_port_info was, pi;

	wire_port_info_get(p->info, &was);
	pi = (struct wire_port_info){ .capability_mask = was.capability_mask,
		.capability_mask2 = was.capability_mask2,
		.link_speed_ext_active2 = was.link_speed_ext_active2,
		.local_port = was.local_port,
		.link_width_enabled = was.link_width_supported,
		.link_width_supported = was.link_width_supported,
		.link_width_active = was.link_width_active,
		.link_speed_supported = was.link_speed_supported,
		.link_speed_active = was.link_speed_active,
		.link_speed_enabled = was.link_speed_supported,
		.link_speed_ext_active = was.link_speed_ext_active,
		.link_speed_ext_supported = was.link_speed_ext_supported,
		.link_speed_ext_enabled = was.link_speed_ext_supported,
		.port_state = is_port0 ? WIRE_PORT_ACTIVE : WIRE_PORT_DOWN,
		.phys_state = is_port0 ? WIRE_PHYS_LINK_UP : WIRE_PHYS_POLLING,
		.down_default_state = WIRE_PHYS_POLLING,
		.neighbor_mtu = 1,
		.vl_cap = was.vl_cap,
		.vl_arb_high_cap = was.vl_arb_high_cap,
		.vl_arb_low_cap = was.vl_arb_low_cap,
		.mtu_cap = was.mtu_cap,
		.operational_vls = 1,
		.guid_cap = was.guid_cap };
	wire_port_info_put(p->info, &pi);
	p->tables = NULL; /* the block stays in the arena: reboots are few */
	p->lease_end_ns = 0;
}

void
fabric_power_on(struct sim_fabric *f, uint32_t node)
{
	struct sim_node *n = &f->nodes[node];
	bool is_switch = n->type == WIRE_NODE_SWITCH;

	for (unsigned p = 0; p <= n->n_ports; p++)
		forget_port(fabric_port(f, node, p), is_switch && p == 0);
	pma_forget(f, node);
	for (unsigned p = 0; n->cca != NULL && p < (is_switch ? 1u : n->n_ports); p++)
		cca_reboot(&n->cca[p]);
	n->lft.n = 0;
	adaptive_forget(n->adaptive);
	n->mft = n->sl2vl = NULL;
	n->busy_until_ns = f->now_ns;
	for (int i = 0; i < SIM_TRAP_SLOTS; i++)
		n->traps[i].left = 0;
	n->local_changes = 0;
	n->off = false;
	if (is_switch) {
		struct wire_switch_info si;

		wire_switch_info_get(n->switch_info, &si);
		si.linear_fdb_top = si.mcast_fdb_top = 0;
		si.life_time_value = 0;
		si.port_state_change = 1;
		wire_switch_info_put(n->switch_info, &si);
	}
}

static bool
is_willing(const struct sim_fabric *f, uint32_t port)
{
	uint8_t phys = port_phys(&f->ports[port]);

	return !f->ports[port].unplugged && !f->nodes[f->port_node[port]].off &&
	    phys != WIRE_PHYS_DISABLED && phys != WIRE_PHYS_SLEEP;
}

void
fabric_train(struct sim_fabric *f, uint32_t port)
{
	uint32_t peer = f->cable[port];

	if (peer == SIM_NONE || f->live[port] != SIM_NONE || !is_willing(f, port) ||
	    !is_willing(f, peer))
		return;
	f->live[port] = peer;
	f->live[peer] = port;
	set_states(&f->ports[port], WIRE_PORT_INIT, WIRE_PHYS_LINK_UP);
	set_states(&f->ports[peer], WIRE_PORT_INIT, WIRE_PHYS_LINK_UP);
	note_change(f, port);
	note_change(f, peer);
}

static void
set_down(struct sim_port *p)
{
	uint8_t by_default = p->info[PORT_INFO_PHYS_DEFAULT] & 0xf;

	set_states(
	    p, WIRE_PORT_DOWN, by_default == WIRE_PHYS_SLEEP ? WIRE_PHYS_SLEEP : WIRE_PHYS_POLLING);
}

void
fabric_drop(struct sim_fabric *f, uint32_t port, bool by_set)
{
	uint32_t peer = f->live[port];

	if (peer == SIM_NONE)
		return;
	f->live[port] = f->live[peer] = SIM_NONE;
	pma_count(f, port, COUNT_LINK_DOWNED, 1);
	pma_count(f, peer, COUNT_LINK_DOWNED, 1);
	set_down(&f->ports[port]);
	set_down(&f->ports[peer]);
	if (!by_set)
		note_change(f, port);
	note_change(f, peer);
	if (f->hooks.retrain != NULL)
		f->hooks.retrain(f->hooks.arg, port);
}

static void
take_cable(struct sim_fabric *f, uint32_t port)
{
	uint32_t peer = f->cable[port];

	fabric_drop(f, port, false);
	f->cable[port] = SIM_NONE;
	if (peer != SIM_NONE)
		f->cable[peer] = SIM_NONE;
}

void
fabric_cable(struct sim_fabric *f, uint32_t port, uint32_t peer)
{
	take_cable(f, port);
	if (peer == SIM_NONE)
		return;
	take_cable(f, peer);
	f->cable[port] = peer;
	f->cable[peer] = port;
	f->ports[port].unplugged = f->ports[peer].unplugged = false;
	if (f->hooks.retrain != NULL)
		f->hooks.retrain(f->hooks.arg, port);
}

static bool
is_internal(const struct sim_fabric *f, uint32_t port)
{
	const struct sim_node *n = &f->nodes[f->port_node[port]];

	return n->type == WIRE_NODE_SWITCH && port == n->first_port;
}

/* IBA 14.2.5.6: ARMED is asked of INIT (or again of ARMED), ACTIVE of ARMED
 * only, INIT never; a physical state only of a port that is, or goes, DOWN. */
bool
fabric_may_change(const struct sim_fabric *f, uint32_t port, uint8_t state, uint8_t phys)
{
	uint8_t now = port_state(&f->ports[port]);

	if (state > WIRE_PORT_ACTIVE || phys > WIRE_PHYS_DISABLED)
		return false;
	if (is_internal(f, port))
		return true; /* has no link: states are ignored */
	if (phys != 0 && now != WIRE_PORT_DOWN && state != WIRE_PORT_DOWN)
		return false;
	switch (state) {
	case WIRE_PORT_INIT:
		return false;
	case WIRE_PORT_ARMED:
		return now == WIRE_PORT_INIT || now == WIRE_PORT_ARMED;
	case WIRE_PORT_ACTIVE:
		return now == WIRE_PORT_ARMED;
	default:
		return true;
	}
}

static void
change_phys(struct sim_fabric *f, uint32_t port, uint8_t phys)
{
	set_states(&f->ports[port], WIRE_PORT_DOWN, phys);
	if (phys == WIRE_PHYS_POLLING && f->hooks.retrain != NULL)
		f->hooks.retrain(f->hooks.arg, port);
}

void
fabric_change(struct sim_fabric *f, uint32_t port, uint8_t state, uint8_t phys)
{
	struct sim_port *p = &f->ports[port], *peer;

	if (is_internal(f, port))
		return;
	if (state == WIRE_PORT_DOWN)
		fabric_drop(f, port, true);
	if (phys != 0)
		change_phys(f, port, phys);
	if (state == WIRE_PORT_ARMED || state == WIRE_PORT_ACTIVE)
		set_states(p, state, port_phys(p));
	if (state == WIRE_PORT_ACTIVE && f->live[port] != SIM_NONE) {
		/* Its first packet makes an armed neighbour active too. */
		peer = &f->ports[f->live[port]];
		if (port_state(peer) == WIRE_PORT_ARMED)
			set_states(peer, WIRE_PORT_ACTIVE, port_phys(peer));
	}
}

void
fabric_set_is_sm(struct sim_fabric *f, uint32_t port, bool on)
{
	uint8_t *at = &f->ports[port].info[PORT_INFO_CAP_MASK];
	uint32_t mask = wire_get32(at) & ~PORT_INFO_IS_SM;

	wire_put32(at, on ? mask | PORT_INFO_IS_SM : mask);
}
