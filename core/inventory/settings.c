/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/inventory/settings.c - what the administrator wants of the subnet where nothing is said, and
 * the fingerprint by which a store remembers what was wanted last.
 */
#include "core/subnet/qos.h"
#include "core/inventory/settings.h"
#include "core/wire/wire.h"

void
sweep_settings_default(struct sweep_settings *s)
{
	*s = (struct sweep_settings){ .addresses.subnet_prefix = UINT64_C(0xfe80000000000000),
		.ports.subnet_timeout = 18,
		.ports.head_of_queue_lifetime = 0x12,
		.ports.leaf_head_of_queue_lifetime = 0x10,
		.ports.vl_stall_count = 7,
		.ports.leaf_vl_stall_count = 7,
		.ports.packet_life_time = 0x12,
		.ports.local_phy_errors_threshold = 8,
		.ports.overrun_errors_threshold = 8,
		.ports.max_op_vls = 4,
		.ports.force_link_speed = LINK_SPEED_ALL,
		.ports.force_link_speed_ext = LINK_SPEED_EXT_ALL,
		.ports.force_link_width = LINK_WIDTH_ALL,
		.addresses.lid_linger_ms = 600000,
		.transition.packet_life_ms = 2200,
		.sweep.interval_ms = 10000,
		.sm.key = 1,
		.sm.polling_timeout_ms = 500,
		.sm.polling_retries = 4,
		.sm.patience_ms = 300000,
		.routing = ROUTE_SETTINGS_DEFAULT,
		.ports.client_reregister = true,
		.partitions.enforce = PART_ENFORCE_BOTH,
		.partitions.keep_indexes = true,
		.sweep.on_trap = true,
		.sweep.lid_routed_smps = true };
}

/* VLHighLimit of the four kinds of ports, in 26 bits. */
static uint64_t
high_limits(const struct qos *q)
{
	uint64_t limits = 1;

	for (unsigned k = 0; q != NULL && k < QOS_PORTS; k++)
		limits = limits << 8 | q->port[k].high_limit;
	return q != NULL ? fm_mix64(limits) >> 38 : 0;
}

/* 0 where all that ports support is to be enabled. */
static uint64_t
link_codes(const struct sweep_settings *set)
{
	uint64_t codes = (uint64_t)(set->ports.force_link_width ^ LINK_WIDTH_ALL) << 16 |
	    (uint64_t)(set->ports.force_link_speed_ext ^ LINK_SPEED_EXT_ALL) << 8 |
	    (uint64_t)(set->ports.force_link_speed ^ LINK_SPEED_ALL);

	return codes == 0 ? 0 : fm_mix64(codes) >> 1;
}

uint64_t
sweep_settings_fingerprint(const struct sweep_settings *set)
{
	return link_codes(set) ^
	    (UINT64_C(1) << 63 | high_limits(set->qos) << 37 |
		(uint64_t)set->ports.subnet_timeout << 32 |
		(uint64_t)set->m_key.lease_period_s << 16 |
		(uint64_t)set->ports.local_phy_errors_threshold << 8 |
		set->ports.overrun_errors_threshold);
}
