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
	*s = (struct sweep_settings){ .gid_prefix = UINT64_C(0xfe80000000000000),
		.subnet_timeout = 18,
		.hoq_life = 0x12,
		.leaf_hoq_life = 0x10,
		.vl_stall = 7,
		.leaf_vl_stall = 7,
		.life_time = 0x12,
		.phys_errors = 8,
		.overrun_errors = 8,
		.max_op_vls = 5,
		.link_speed = LINK_SPEED_ALL,
		.link_speed_ext = LINK_SPEED_EXT_ALL,
		.link_width = LINK_WIDTH_ALL,
		.lid_linger_ms = 600000,
		.packet_life_ms = 2200,
		.sweep_interval_ms = 10000,
		.sm_key = 1,
		.poll_ms = 500,
		.silent_polls_max = 4,
		.sm_patience_ms = 300000,
		.n_retries = 3,
		.routing = ROUTE_SETTINGS_DEFAULT,
		.client_reregister = true,
		.part_enforce = PART_ENFORCE_BOTH,
		.keep_pkey_indexes = true,
		.on_trap = true,
		.lid_smps = true };
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
	uint64_t codes = (uint64_t)(set->link_width ^ LINK_WIDTH_ALL) << 16 |
	    (uint64_t)(set->link_speed_ext ^ LINK_SPEED_EXT_ALL) << 8 |
	    (uint64_t)(set->link_speed ^ LINK_SPEED_ALL);

	return codes == 0 ? 0 : fm_mix64(codes) >> 1;
}

uint64_t
sweep_settings_fingerprint(const struct sweep_settings *set)
{
	return link_codes(set) ^
	    (UINT64_C(1) << 63 | high_limits(set->qos) << 37 | (uint64_t)set->subnet_timeout << 32 |
		(uint64_t)set->m_key_lease_s << 16 | (uint64_t)set->phys_errors << 8 |
		set->overrun_errors);
}
