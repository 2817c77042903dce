/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PortInfo at every node.  It is written under a mask: new = old & ~mask | data & mask,
 * where the mask is PortInfo with all bits of the writable components of that kind of
 * port set.  Values are checked before anything is written: a Set is done as
 * a whole or refused as a whole.
 *
 * IBA 14.2.5.6.
 */
#include "lab/sim/sma_internal.h"

#include <string.h>

#define LID_UNICAST_MAX 0xBFFF
#define MODIFIER_EXTENDED_SPEEDS UINT32_C(0x80000000)

/* All ones in the components that Set writes as they come. */
static void
make_mask(uint8_t *mask, enum sim_port_kind kind)
{
	struct wire_port_info of_end = { .m_key = UINT64_MAX,
		.gid_prefix = UINT64_MAX,
		.lid = 0xffff,
		.master_sm_lid = 0xffff,
		.m_key_lease_period_s = 0xffff,
		.m_key_protect = 3,
		.lmc = 7,
		.master_sm_sl = 15,
		.m_key_violations = 0xffff,
		.p_key_violations = 0xffff,
		.q_key_violations = 0xffff,
		.mcast_pkey_trap_suppression = 3,
		.subnet_timeout = 31 };
	struct wire_port_info of_external = { .partition_enforce_in = 1,
		.partition_enforce_out = 1,
		.filter_raw_in = 1,
		.filter_raw_out = 1,
		.hoq_life = 31,
		.vl_stall_count = 7 };
	struct wire_port_info pi = kind == SIM_PORT_EXTERNAL ? of_external : of_end;

	if (kind != SIM_PORT_INTERNAL) {
		pi.down_default_state = 15;
		pi.neighbor_mtu = 15;
		pi.vl_high_limit = 255;
		pi.local_phys_errors = pi.overrun_errors = 15;
	}
	wire_port_info_put(mask, &pi);
}

void
sma_init(struct sim_fabric *f)
{
	for (int k = 0; k < SIM_PORT_KINDS; k++)
		make_mask(f->write_mask[k], (enum sim_port_kind)k);
}

static enum sim_port_kind
port_kind(const struct sim_node *n, unsigned port)
{
	if (!is_switch(n))
		return SIM_PORT_END;
	return port == 0 ? SIM_PORT_INTERNAL : SIM_PORT_EXTERNAL;
}

#define NO_EXT_SPEED 30 /* LinkSpeedExtEnabled */

/* 0 = as it is, all ones = all that is supported, else a subset of it. */
static bool
may_enable(uint8_t asked, uint8_t supported, uint8_t all)
{
	return asked == all || (asked & ~supported) == 0;
}

static bool
may_enable_ext(uint8_t asked, uint8_t supported)
{
	return asked == NO_EXT_SPEED || may_enable(asked, supported, 31);
}

static uint8_t
enabled(uint8_t asked, uint8_t supported, uint8_t all, uint8_t now)
{
	if (asked == 0)
		return now;
	return asked == all ? supported : asked;
}

static bool
is_good_link(const uint8_t *now, const uint8_t *d)
{
	uint8_t mtu = d[PORT_INFO_MTU_SMSL] >> 4;
	uint8_t vls = d[PORT_INFO_VLS_ENFORCE] >> 4;

	return mtu >= 1 && mtu <= (now[PORT_INFO_REPLY_MTUCAP] & 0xf) &&
	    vls <= now[PORT_INFO_VLCAP_INIT] >> 4 &&
	    (d[PORT_INFO_PHYS_DEFAULT] & 0xf) <= WIRE_PHYS_POLLING &&
	    may_enable(d[PORT_INFO_WIDTH_ENABLED], now[PORT_INFO_WIDTH_SUPPORTED], 255) &&
	    may_enable(d[PORT_INFO_SPEED_ACTIVE_ENABLED] & 0xf,
		now[PORT_INFO_SPEED_SUPPORTED_STATE] >> 4, 15) &&
	    may_enable_ext(
		d[PORT_INFO_EXT_ENABLED] & 0x1f, now[PORT_INFO_EXT_ACTIVE_SUPPORTED] & 0xf);
}

static bool
is_good_lid(const uint8_t *d)
{
	uint16_t lid = wire_get16(d + PORT_INFO_LID);
	uint8_t lmc = d[PORT_INFO_PROTECT_LMC] & 7;

	return lid != 0 && lid + (1u << lmc) - 1 <= LID_UNICAST_MAX && lid % (1u << lmc) == 0;
}

static bool
is_good_port_info(const struct request *r, uint32_t port, enum sim_port_kind kind)
{
	const uint8_t *now = r->f->ports[port].info, *d = r->data;

	if (!fabric_may_change(r->f, port, d[PORT_INFO_SPEED_SUPPORTED_STATE] & 0xf,
		d[PORT_INFO_PHYS_DEFAULT] >> 4))
		return false;
	if (kind != SIM_PORT_EXTERNAL && !is_good_lid(d))
		return false;
	return kind == SIM_PORT_INTERNAL || is_good_link(now, d);
}

/* Components with rules of their own: 0 means no change. */
static void
write_link(uint8_t *now, const uint8_t *d)
{
	uint8_t vls = d[PORT_INFO_VLS_ENFORCE] >> 4, speed, width = now[PORT_INFO_WIDTH_ENABLED];
	uint8_t *speeds = &now[PORT_INFO_SPEED_ACTIVE_ENABLED], *ext = &now[PORT_INFO_EXT_ENABLED];

	if (vls != 0)
		now[PORT_INFO_VLS_ENFORCE] =
		    (uint8_t)((now[PORT_INFO_VLS_ENFORCE] & 0xf) | vls << 4);
	now[PORT_INFO_WIDTH_ENABLED] =
	    enabled(d[PORT_INFO_WIDTH_ENABLED], now[PORT_INFO_WIDTH_SUPPORTED], 255, width);
	speed = enabled(d[PORT_INFO_SPEED_ACTIVE_ENABLED] & 0xf,
	    now[PORT_INFO_SPEED_SUPPORTED_STATE] >> 4, 15, *speeds & 0xf);
	*speeds = (uint8_t)((*speeds & 0xf0) | speed);
	*ext = enabled(d[PORT_INFO_EXT_ENABLED] & 0x1f, now[PORT_INFO_EXT_ACTIVE_SUPPORTED] & 0xf,
	    31, *ext & 0x1f);
}

static void
write_port_info(struct request *r, uint32_t port, enum sim_port_kind kind)
{
	struct sim_port *p = &r->f->ports[port];
	const uint8_t *mask = r->f->write_mask[kind], *d = r->data;
	uint8_t state = d[PORT_INFO_SPEED_SUPPORTED_STATE] & 0xf;
	uint8_t phys = d[PORT_INFO_PHYS_DEFAULT] >> 4;
	uint8_t by_default = p->info[PORT_INFO_PHYS_DEFAULT] & 0xf;

	for (int i = 0; i < 64; i++)
		p->info[i] = (uint8_t)((p->info[i] & ~mask[i]) | (d[i] & mask[i]));
	if ((p->info[PORT_INFO_PHYS_DEFAULT] & 0xf) == 0) /* no change */
		p->info[PORT_INFO_PHYS_DEFAULT] |= by_default;
	if (kind != SIM_PORT_INTERNAL)
		write_link(p->info, d);
	if (d[PORT_INFO_REREGISTER_TIMEOUT] & PORT_INFO_REREGISTER_BIT && kind != SIM_PORT_EXTERNAL)
		p->n_reregister++;
	if (state == WIRE_PORT_DOWN && phys == 0 && r->f->hooks.fall != NULL &&
	    port == r->n->first_port + r->at.port)
		r->f->hooks.fall(r->f->hooks.arg, port); /* the answer leaves by this link */
	else if (state != 0 || phys != 0)
		fabric_change(r->f, port, state, phys);
}

uint16_t
sma_port_info(struct request *r)
{
	uint32_t number = r->modifier & ~MODIFIER_EXTENDED_SPEEDS;
	uint8_t reregister = r->data[PORT_INFO_REREGISTER_TIMEOUT] & PORT_INFO_REREGISTER_BIT;
	enum sim_port_kind kind;
	uint32_t port;

	if (number > r->n->n_ports)
		return WIRE_STATUS_BAD_VALUE;
	if (number == 0 && !is_switch(r->n))
		number = r->at.port;
	port = r->n->first_port + number;
	kind = port_kind(r->n, number);
	if (r->is_set) {
		if (!is_good_port_info(r, port, kind))
			return WIRE_STATUS_BAD_VALUE;
		write_port_info(r, port, kind);
	}
	memcpy(r->data, r->f->ports[port].info, 64);
	r->data[PORT_INFO_LOCAL_PORT] = r->at.port;
	if (r->is_set && kind != SIM_PORT_EXTERNAL)
		r->data[PORT_INFO_REREGISTER_TIMEOUT] |= reregister;
	if (!r->knows_key)
		memset(r->data + PORT_INFO_M_KEY, 0, 8);
	return ATTR_OK;
}
