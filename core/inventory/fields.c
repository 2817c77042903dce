/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/inventory/fields.c - the field table.
 *
 * NeighborMTU and OperationalVLs of an active link are left as they are:
 * changing them would take the link down (IBA 14.2.5.6 allows a change in
 * INIT only), and routing budgets with the VLs that the link runs with.
 */
#include "core/inventory/fields.h"

#include "core/subnet/qos.h"
#include "core/inventory/settings.h"

#define DOWN_DEFAULT_POLLING 2

static bool
is_in_init(const struct field_context *c)
{
	return c->port->info.port_state == WIRE_PORT_INIT;
}

static uint64_t
want_m_key(const struct field_context *c, uint64_t present)
{
	/* from one key to another: a pass of its own (mkeys.c) */
	return present != 0 && c->set->m_key.key != 0 ? present : c->set->m_key.key;
}

static uint64_t
want_gid_prefix(const struct field_context *c, uint64_t present)
{
	return c->set->addresses.subnet_prefix;
}

static uint64_t
want_lid(const struct field_context *c, uint64_t present)
{
	return c->port->lid != 0 ? c->port->lid : present;
}

static uint64_t
want_sm_lid(const struct field_context *c, uint64_t present)
{
	return c->sm_lid;
}

static uint64_t
want_lease(const struct field_context *c, uint64_t present)
{
	return c->set->m_key.key != 0 ? (uint64_t)c->set->m_key.lease_period_s
				      : present; /* guards a key */
}

static uint64_t
want_protect(const struct field_context *c, uint64_t present)
{
	return c->set->m_key.protection_level;
}

static uint64_t
want_lmc(const struct field_context *c, uint64_t present)
{
	return c->port->lmc;
}

static uint64_t
want_sm_sl(const struct field_context *c, uint64_t present)
{
	return c->set->sm.sl;
}

static uint64_t
want_subnet_timeout(const struct field_context *c, uint64_t present)
{
	return c->set->ports.subnet_timeout;
}

/* Due when what the client of a port in use registered is lost, or went to another SM, which
 * ruled the port, or under another LID; and when it is to forget the paths it was told
 * (repath.c).  A port fresh from reset registers by itself. */
static uint64_t
want_reregister(const struct field_context *c, uint64_t present)
{
	const struct wire_port_info *i = &c->port->info;

	if (!c->set->ports.client_reregister || (i->capability_mask & CAP_CLIENT_REREGISTER) == 0 ||
	    i->port_state != WIRE_PORT_ACTIVE)
		return present;
	if (c->port->repaths)
		return 1;
	if (i->lid == 0 || i->master_sm_lid == 0)
		return present;
	if (c->lost)
		return 1;
	return c->port->registration != REG_ASKED &&
		((i->master_sm_lid != c->sm_lid && !c->registered) || i->lid != c->port->lid)
	    ? 1
	    : present;
}

static uint64_t
want_mtu(const struct field_context *c, uint64_t present)
{
	uint8_t a = c->port->info.mtu_cap, b;

	if (c->peer == NULL || !is_in_init(c))
		return present;
	b = c->peer->info.mtu_cap;
	return a < b ? a : b;
}

static uint64_t
want_op_vls(const struct field_context *c, uint64_t present)
{
	if (c->peer == NULL || !is_in_init(c))
		return present;
	return field_link_vl_code(c->set, c->port, c->peer);
}

static bool
faces_host(const struct field_context *c)
{
	return c->peer_node != NULL && !inv_is_switch(c->peer_node);
}

static uint64_t
want_hoq_life(const struct field_context *c, uint64_t present)
{
	if (c->peer == NULL)
		return present;
	return faces_host(c) ? c->set->ports.leaf_head_of_queue_lifetime
			     : c->set->ports.head_of_queue_lifetime;
}

static uint64_t
want_vl_stall(const struct field_context *c, uint64_t present)
{
	if (c->peer == NULL)
		return present;
	return faces_host(c) ? c->set->ports.leaf_vl_stall_count : c->set->ports.vl_stall_count;
}

static uint64_t
want_phys_errors(const struct field_context *c, uint64_t present)
{
	return c->peer == NULL ? present : (uint64_t)c->set->ports.local_phy_errors_threshold;
}

static uint64_t
want_overrun_errors(const struct field_context *c, uint64_t present)
{
	return c->peer == NULL ? present : (uint64_t)c->set->ports.overrun_errors_threshold;
}

/* Base switch ports 0 have no VLs to arbitrate. */
static uint64_t
want_high_limit(const struct field_context *c, uint64_t present)
{
	const struct qos *q = c->set->qos;
	bool port0 = c->port == &c->node->ports[0];

	if (q == NULL || (port0 && !c->node->sw.enhanced_port0))
		return present;
	if (inv_is_switch(c->node))
		return q->port[port0 ? QOS_SWITCH0 : QOS_SWITCH].high_limit;
	return q->port[c->node->type == WIRE_NODE_ROUTER ? QOS_ROUTER : QOS_CA].high_limit;
}

/* Ports to hosts whose own table is right (pkeys.c); others let all pass. */
static uint64_t
want_enforce(const struct field_context *c, uint64_t present, enum part_enforce way, bool can)
{
	if (c->peer == NULL)
		return present;
	return can && c->port->pkeys_done && faces_host(c) &&
	    (c->set->partitions.enforce & way) != 0;
}

static uint64_t
want_enforce_in(const struct field_context *c, uint64_t present)
{
	return want_enforce(c, present, PART_ENFORCE_IN, c->node->sw.inbound_enforcement_cap);
}

static uint64_t
want_enforce_out(const struct field_context *c, uint64_t present)
{
	return want_enforce(c, present, PART_ENFORCE_OUT, c->node->sw.outbound_enforcement_cap);
}

static uint8_t
speeds_ext(const struct inv_port *p)
{
	return p->info.capability_mask & WIRE_CAP_EXTENDED_SPEEDS ? p->info.link_speed_ext_supported
								  : 0;
}

/* Of what is asked for that which the port supports, unless the far end supports none of it: the
 * link would not come up again. */
static uint64_t
want_enabled(uint8_t asked, uint8_t all, uint8_t own, uint8_t far, uint64_t present)
{
	if (asked == 0 || own == 0)
		return present;
	if (asked == all)
		return own;
	return (asked & own & far) != 0 ? asked & own : present;
}

static bool
asks_width(const struct sweep_settings *set)
{
	return set->ports.force_link_width != LINK_WIDTH_ALL;
}

static bool
asks_speed(const struct sweep_settings *set)
{
	return set->ports.force_link_speed != LINK_SPEED_ALL;
}

static bool
asks_speed_ext(const struct sweep_settings *set)
{
	return set->ports.force_link_speed_ext != LINK_SPEED_EXT_ALL;
}

static uint64_t
want_width(const struct field_context *c, uint64_t present)
{
	return c->peer == NULL
	    ? present
	    : want_enabled(c->set->ports.force_link_width, LINK_WIDTH_ALL,
		  c->port->info.link_width_supported, c->peer->info.link_width_supported, present);
}

static uint64_t
want_speed(const struct field_context *c, uint64_t present)
{
	return c->peer == NULL
	    ? present
	    : want_enabled(c->set->ports.force_link_speed, LINK_SPEED_ALL,
		  c->port->info.link_speed_supported, c->peer->info.link_speed_supported, present);
}

static uint64_t
want_speed_ext(const struct field_context *c, uint64_t present)
{
	uint8_t own = speeds_ext(c->port);

	if (c->peer == NULL)
		return present;
	if (c->set->ports.force_link_speed_ext == LINK_SPEED_EXT_NONE)
		return own != 0 ? LINK_SPEED_EXT_NONE : present;
	return want_enabled(c->set->ports.force_link_speed_ext, LINK_SPEED_EXT_ALL, own,
	    speeds_ext(c->peer), present);
}

static uint64_t
want_down_default(const struct field_context *c, uint64_t present)
{
	return c->peer == NULL ? present : DOWN_DEFAULT_POLLING;
}

/* 0 leaves the state alone; the step to ACTIVE is a pass of its own (links.c). */
static uint64_t
want_state(const struct field_context *c, uint64_t present)
{
	return c->arm && is_in_init(c) ? WIRE_PORT_ARMED : present;
}

static uint64_t
want_fdb_top(const struct field_context *c, uint64_t present)
{
	return c->top_lid;
}

/* Only switches that have it (IBA 14.2.5.6, IsMulticastFDBTopSupported), once there are groups. */
static uint64_t
want_mcast_top(const struct field_context *c, uint64_t present)
{
	bool has = c->node->ports[0].info.capability_mask & WIRE_CAP_MULTICAST_FDB_TOP;

	return has && c->top_mlid != 0 ? c->top_mlid : present;
}

static uint64_t
want_life_time(const struct field_context *c, uint64_t present)
{
	return c->set->ports.packet_life_time;
}

#define PORT(f) offsetof(struct wire_port_info, f), sizeof(((struct wire_port_info *)0)->f)
#define SWITCH(f) offsetof(struct wire_switch_info, f), sizeof(((struct wire_switch_info *)0)->f)
#define END_PORT (FIELD_CA | FIELD_SW_PORT0)
#define CABLED (FIELD_CA | FIELD_SW_PORT)

const struct field_row field_rows[] = {
	{ "M_Key", "14.2.4, 14.2.5.6", END_PORT, "as configured", PORT(m_key), want_m_key,
	    .momentary = true },
	{ "GidPrefix", "14.2.5.6", END_PORT, "the subnet prefix", PORT(gid_prefix),
	    want_gid_prefix },
	{ "LID", "14.2.5.6", END_PORT, "given by the LID manager", PORT(lid), want_lid },
	{ "MasterSMLID", "14.2.5.6", END_PORT, "our LID", PORT(master_sm_lid), want_sm_lid },
	{ "M_KeyLeasePeriod", "14.2.4, 14.2.5.6", END_PORT, "as configured, seconds",
	    PORT(m_key_lease_period_s), want_lease, .rides = true },
	{ "M_KeyProtectBits", "14.2.4.1", END_PORT, "as configured", PORT(m_key_protect),
	    want_protect },
	{ "LMC", "14.2.5.6", END_PORT, "as configured for CAs and switches", PORT(lmc), want_lmc },
	{ "MasterSMSL", "14.2.5.6", END_PORT, "as configured", PORT(master_sm_sl), want_sm_sl },
	{ "SubnetTimeOut", "14.2.5.6", END_PORT, "as configured, 4.096 us x 2^n",
	    PORT(subnet_timeout), want_subnet_timeout, .rides = true },
	{ "ClientReregister", "14.4.11", FIELD_CA,
	    "1 once, when what the port in use had registered is lost, or went to another SM, or "
	    "its "
	    "paths have got other SLs",
	    PORT(client_reregister), want_reregister, .momentary = true },
	{ "NeighborMTU", "14.2.5.6", CABLED, "the least MTUCap of both ends, in INIT",
	    PORT(neighbor_mtu), want_mtu },
	{ "OperationalVLs", "14.2.5.6", CABLED,
	    "the least VLCap of both ends and the configured one, in INIT", PORT(operational_vls),
	    want_op_vls },
	{ "VLHighLimit", "14.2.5.6, 7.6.9", CABLED | FIELD_SW_PORT0,
	    "high_limit of the QoS options, when qos is on", PORT(vl_high_limit), want_high_limit,
	    .rides = true },
	{ "HOQLife", "18.2.5.4", FIELD_SW_PORT, "as configured, towards hosts and switches",
	    PORT(hoq_life), want_hoq_life },
	{ "VLStallCount", "18.2.5.4", FIELD_SW_PORT, "as configured, towards hosts and switches",
	    PORT(vl_stall_count), want_vl_stall },
	{ "PartitionEnforcementInbound", "14.2.5.6, 10.9.3", FIELD_SW_PORT,
	    "as configured towards hosts, once the port's P_Key table is right; else 0",
	    PORT(partition_enforce_in), want_enforce_in },
	{ "PartitionEnforcementOutbound", "14.2.5.6, 10.9.3", FIELD_SW_PORT,
	    "as configured towards hosts, once the port's P_Key table is right; else 0",
	    PORT(partition_enforce_out), want_enforce_out },
	{ "LocalPhyErrors", "7.12.2", CABLED, "as configured, a threshold", PORT(local_phys_errors),
	    want_phys_errors, .rides = true },
	{ "OverrunErrors", "7.12.2", CABLED, "as configured, a threshold", PORT(overrun_errors),
	    want_overrun_errors, .rides = true },
	{ "LinkWidthEnabled", "14.2.5.6", CABLED,
	    "as configured, of what the port supports and the far end too",
	    PORT(link_width_enabled), want_width, .is_asked = asks_width },
	{ "LinkSpeedEnabled", "14.2.5.6", CABLED,
	    "as configured, of what the port supports and the far end too",
	    PORT(link_speed_enabled), want_speed, .is_asked = asks_speed },
	{ "LinkSpeedExtEnabled", "14.2.5.6", CABLED,
	    "as configured, of what the port supports and the far end too",
	    PORT(link_speed_ext_enabled), want_speed_ext, .is_asked = asks_speed_ext },
	{ "LinkDownDefaultState", "14.2.5.6", CABLED, "Polling", PORT(down_default_state),
	    want_down_default },
	{ "PortState", "7.2, 14.3.6", CABLED, "Armed, from Init, when both ends take part",
	    PORT(port_state), want_state, .momentary = true },
	{ "LinearFDBTop", "14.2.5.4", FIELD_SWITCH, "the highest LID of the tables",
	    SWITCH(linear_fdb_top), want_fdb_top },
	{ "MulticastFDBTop", "14.2.5.4", FIELD_SWITCH,
	    "where there is one: the highest multicast LID in use, and some to spare",
	    SWITCH(mcast_fdb_top), want_mcast_top },
	{ "LifeTimeValue", "18.2.5.4", FIELD_SWITCH, "as configured, 4.096 us x 2^n",
	    SWITCH(life_time_value), want_life_time },
};
const unsigned n_field_rows = sizeof(field_rows) / sizeof(field_rows[0]);

_Static_assert(sizeof(field_rows) / sizeof(field_rows[0]) <= 32, "sets of rows are 32 bits");

uint64_t
field_get(const struct field_row *row, const void *info)
{
	const uint8_t *at = (const uint8_t *)info + row->offset;
	uint16_t v16;
	uint32_t v32;
	uint64_t v64;

	switch (row->size) {
	case 1:
		return *at;
	case 2:
		memcpy(&v16, at, 2);
		return v16;
	case 4:
		memcpy(&v32, at, 4);
		return v32;
	default:
		memcpy(&v64, at, 8);
		return v64;
	}
}

void
field_put(const struct field_row *row, void *info, uint64_t value)
{
	uint8_t *at = (uint8_t *)info + row->offset;
	uint8_t v8 = (uint8_t)value;
	uint16_t v16 = (uint16_t)value;
	uint32_t v32 = (uint32_t)value;

	switch (row->size) {
	case 1:
		*at = v8;
		return;
	case 2:
		memcpy(at, &v16, 2);
		return;
	case 4:
		memcpy(at, &v32, 4);
		return;
	default:
		memcpy(at, &value, 8);
	}
}

static bool
rides(const struct field_row *row, const struct sweep_settings *set)
{
	return row->rides || (row->is_asked != NULL && !row->is_asked(set));
}

/* Rows of `where`, riding ones or the others. */
static uint32_t
apply_rows(const struct field_context *c, enum field_where where, uint32_t refused, bool riding,
    void *info)
{
	uint32_t differ = 0;

	for (unsigned i = 0; i < n_field_rows; i++) {
		const struct field_row *row = &field_rows[i];
		uint64_t present, want;

		if ((row->where & where) == 0 || rides(row, c->set) != riding ||
		    (refused & (1u << i)) != 0)
			continue;
		present = field_get(row, info);
		want = row->want(c, present);
		if (want == present)
			continue;
		field_put(row, info, want);
		differ |= 1u << i;
	}
	return differ;
}

uint32_t
fields_apply(const struct field_context *c, enum field_where where, uint32_t refused, void *info)
{
	uint32_t differ = apply_rows(c, where, refused, false, info);

	if (differ != 0 || c->insist)
		differ |= apply_rows(c, where, refused, true, info);
	return differ;
}

uint32_t
fields_refused(uint32_t rows_sent, const void *sent, const void *answered)
{
	uint32_t refused = 0;

	for (unsigned i = 0; i < n_field_rows; i++)
		if ((rows_sent & (1u << i)) != 0 && !field_rows[i].momentary &&
		    field_get(&field_rows[i], sent) != field_get(&field_rows[i], answered))
			refused |= 1u << i;
	return refused;
}

uint8_t
field_link_vl_code(
    const struct sweep_settings *set, const struct inv_port *a, const struct inv_port *b)
{
	bool fixed =
	    a->info.port_state == WIRE_PORT_ACTIVE && b->info.port_state == WIRE_PORT_ACTIVE;
	uint8_t x = fixed ? a->info.operational_vls : a->info.vl_cap;
	uint8_t y = fixed ? b->info.operational_vls : b->info.vl_cap;
	uint8_t code = x < y ? x : y;

	if (code > conf_op_vls(&set->ports) && !fixed)
		code = conf_op_vls(&set->ports);
	return code == 0 ? 1 : code;
}
