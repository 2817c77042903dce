/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/wire/wire_rows.h - what wire.c and sa_wire.c share: the rows of the
 * attributes that stand by themselves in SMPs and inside records of the SA,
 * and how a row is moved.
 *
 * A row is R(T, member, first bit, bits, component): the component mask bit
 * that asks for it in the record around it (IBA 15.2.5), 0 where there is none.
 */
#ifndef CORE_WIRE_WIRE_ROWS_H
#define CORE_WIRE_WIRE_ROWS_H

#include "core/wire/sa_wire.h"

/* clang-format off */
#define WIRE_FIELD(type, m, at, width) \
	{#m, at, width, (uint8_t)sizeof(((struct type *)0)->m), offsetof(struct type, m)}

#define WIRE_NODE_INFO_ROWS(R, T) \
	R(T, base_version, 0, 8, SA_BIT(2)), \
	R(T, class_version, 8, 8, SA_BIT(3)), \
	R(T, node_type, 16, 8, SA_BIT(4)), \
	R(T, n_ports, 24, 8, SA_BIT(5)), \
	R(T, system_guid, 32, 64, SA_BIT(6)), \
	R(T, node_guid, 96, 64, SA_BIT(7)), \
	R(T, port_guid, 160, 64, SA_BIT(8)), \
	R(T, partition_cap, 224, 16, SA_BIT(9)), \
	R(T, device_id, 240, 16, SA_BIT(10)), \
	R(T, revision, 256, 32, SA_BIT(11)), \
	R(T, local_port, 288, 8, SA_BIT(12)), \
	R(T, vendor_id, 296, 24, SA_BIT(13))

#define WIRE_SWITCH_INFO_ROWS(R, T) \
	R(T, linear_fdb_cap, 0, 16, 0), \
	R(T, random_fdb_cap, 16, 16, 0), \
	R(T, mcast_fdb_cap, 32, 16, 0), \
	R(T, linear_fdb_top, 48, 16, 0), \
	R(T, default_port, 64, 8, 0), \
	R(T, default_mcast_primary, 72, 8, 0), \
	R(T, default_mcast_not_primary, 80, 8, 0), \
	R(T, life_time_value, 88, 5, 0), \
	R(T, port_state_change, 93, 1, 0), \
	R(T, optimized_slvl, 94, 2, 0), \
	R(T, lids_per_port, 96, 16, 0), \
	R(T, partition_enforcement_cap, 112, 16, 0), \
	R(T, inbound_enforcement_cap, 128, 1, 0), \
	R(T, outbound_enforcement_cap, 129, 1, 0), \
	R(T, filter_raw_inbound_cap, 130, 1, 0), \
	R(T, filter_raw_outbound_cap, 131, 1, 0), \
	R(T, enhanced_port0, 132, 1, 0), \
	R(T, mcast_fdb_top, 144, 16, 0)

#define WIRE_PORT_INFO_ROWS(R, T) \
	R(T, m_key, 0, 64, SA_BIT(3)), \
	R(T, gid_prefix, 64, 64, SA_BIT(4)), \
	R(T, lid, 128, 16, SA_BIT(5)), \
	R(T, master_sm_lid, 144, 16, SA_BIT(6)), \
	R(T, capability_mask, 160, 32, SA_BIT(7)), \
	R(T, diag_code, 192, 16, SA_BIT(8)), \
	R(T, m_key_lease_period_s, 208, 16, SA_BIT(9)), \
	R(T, local_port, 224, 8, SA_BIT(10)), \
	R(T, link_width_enabled, 232, 8, SA_BIT(11)), \
	R(T, link_width_supported, 240, 8, SA_BIT(12)), \
	R(T, link_width_active, 248, 8, SA_BIT(13)), \
	R(T, link_speed_supported, 256, 4, SA_BIT(14)), \
	R(T, port_state, 260, 4, SA_BIT(15)), \
	R(T, phys_state, 264, 4, SA_BIT(16)), \
	R(T, down_default_state, 268, 4, SA_BIT(17)), \
	R(T, m_key_protect, 272, 2, SA_BIT(18)), \
	R(T, lmc, 277, 3, SA_BIT(20)), \
	R(T, link_speed_active, 280, 4, SA_BIT(21)), \
	R(T, link_speed_enabled, 284, 4, SA_BIT(22)), \
	R(T, neighbor_mtu, 288, 4, SA_BIT(23)), \
	R(T, master_sm_sl, 292, 4, SA_BIT(24)), \
	R(T, vl_cap, 296, 4, SA_BIT(25)), \
	R(T, init_type, 300, 4, SA_BIT(26)), \
	R(T, vl_high_limit, 304, 8, SA_BIT(27)), \
	R(T, vl_arb_high_cap, 312, 8, SA_BIT(28)), \
	R(T, vl_arb_low_cap, 320, 8, SA_BIT(29)), \
	R(T, init_type_reply, 328, 4, SA_BIT(30)), \
	R(T, mtu_cap, 332, 4, SA_BIT(31)), \
	R(T, vl_stall_count, 336, 3, SA_BIT(32)), \
	R(T, hoq_life, 339, 5, SA_BIT(33)), \
	R(T, operational_vls, 344, 4, SA_BIT(34)), \
	R(T, partition_enforce_in, 348, 1, SA_BIT(35)), \
	R(T, partition_enforce_out, 349, 1, SA_BIT(36)), \
	R(T, filter_raw_in, 350, 1, SA_BIT(37)), \
	R(T, filter_raw_out, 351, 1, SA_BIT(38)), \
	R(T, m_key_violations, 352, 16, SA_BIT(39)), \
	R(T, p_key_violations, 368, 16, SA_BIT(40)), \
	R(T, q_key_violations, 384, 16, SA_BIT(41)), \
	R(T, guid_cap, 400, 8, SA_BIT(42)), \
	R(T, client_reregister, 408, 1, SA_BIT(43)), \
	R(T, mcast_pkey_trap_suppression, 409, 2, 0), \
	R(T, subnet_timeout, 411, 5, SA_BIT(45)), \
	R(T, resp_time_value, 419, 5, SA_BIT(47)), \
	R(T, local_phys_errors, 424, 4, SA_BIT(48)), \
	R(T, overrun_errors, 428, 4, SA_BIT(49)), \
	R(T, max_credit_hint, 432, 16, SA_BIT(50)), \
	R(T, link_round_trip_latency, 456, 24, SA_BIT(52)), \
	R(T, capability_mask2, 480, 16, SA_BIT(53)), \
	R(T, link_speed_ext_active, 496, 4, SA_BIT(54)), \
	R(T, link_speed_ext_supported, 500, 4, SA_BIT(55)), \
	R(T, link_speed_ext_enabled, 507, 5, SA_BIT(57)), \
	R(T, link_speed_ext_active2, 449, 2, 0)

#define WIRE_SM_INFO_ROWS(R, T) \
	R(T, guid, 0, 64, SA_BIT(2)), \
	R(T, sm_key, 64, 64, SA_BIT(3)), \
	R(T, act_count, 128, 32, SA_BIT(4)), \
	R(T, priority, 160, 4, SA_BIT(5)), \
	R(T, state, 164, 4, SA_BIT(6))

#define WIRE_NOTICE_ROWS(R, T) \
	R(T, generic, 0, 1, 0), \
	R(T, type, 1, 7, 0), \
	R(T, producer_type, 8, 24, 0), \
	R(T, trap_number, 32, 16, 0), \
	R(T, issuer_lid, 48, 16, 0), \
	R(T, toggle, 64, 1, 0), \
	R(T, toggle_count, 65, 15, 0)
/* clang-format on */

#define WIRE_NOTICE_DETAILS_AT 10 /* bytes */

/* A struct member, whatever its size (1, 2, 4 or 8 bytes). */
static inline void
wire_store(void *v, const struct wire_field *f, uint64_t value)
{
	char *at = (char *)v + f->member_at;

	switch (f->member_bytes) {
	case 1:
		*(uint8_t *)at = (uint8_t)value;
		break;
	case 2:
		*(uint16_t *)at = (uint16_t)value;
		break;
	case 4:
		*(uint32_t *)at = (uint32_t)value;
		break;
	default:
		*(uint64_t *)at = value;
	}
}

static inline uint64_t
wire_load(const void *v, const struct wire_field *f)
{
	const char *at = (const char *)v + f->member_at;

	switch (f->member_bytes) {
	case 1:
		return *(const uint8_t *)at;
	case 2:
		return *(const uint16_t *)at;
	case 4:
		return *(const uint32_t *)at;
	default:
		return *(const uint64_t *)at;
	}
}

/* width bits from bit `at` on, of a wire loaded as 64-bit words. */
static inline uint64_t
wire_bits_get(const uint64_t *word, unsigned at, unsigned width)
{
	const uint64_t *w = &word[at / 64];
	uint64_t left = w[0] << at % 64; /* the field starts at the top bit */

	if (at % 64 + width > 64)
		left |= w[1] >> (64 - at % 64);
	return left >> (64 - width);
}

/* The words were 0 there. */
static inline void
wire_bits_put(uint64_t *word, unsigned at, unsigned width, uint64_t value)
{
	uint64_t *w = &word[at / 64];
	uint64_t left = value << (64 - width);

	w[0] |= left >> at % 64;
	if (at % 64 + width > 64)
		w[1] |= left << (64 - at % 64);
}

#endif
