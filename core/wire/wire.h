/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/wire/wire.h - MAD formats, the only place that knows byte order.
 *
 * Each attribute has a struct in host order and a table of fields (name, bit
 * offset, width, where it lives in the struct) in wire.c, from which one pair
 * of functions packs and unpacks.  Offsets are those of IBA 1.x chapters 13,
 * 14 and 15; a test compares every row with libibmad's table.
 */
#ifndef CORE_WIRE_WIRE_H
#define CORE_WIRE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_MAD_BYTES 256
#define WIRE_SMP_DATA_BYTES 64
#define WIRE_TID_AT 8
#define WIRE_SMP_DATA_AT 64 /* offset of SMP data in the MAD */
#define WIRE_DR_INITIAL_PATH_AT 128
#define WIRE_DR_RETURN_PATH_AT 192
#define WIRE_LID_PERMISSIVE 0xffff

enum wire_class { WIRE_CLASS_SMP_LID = 0x01, WIRE_CLASS_SMP_DR = 0x81, WIRE_CLASS_SA = 0x03 };

enum wire_method {
	WIRE_GET = 0x01,
	WIRE_SET = 0x02,
	WIRE_SEND = 0x03,
	WIRE_TRAP = 0x05,
	WIRE_TRAP_REPRESS = 0x07,
	WIRE_GET_RESP = 0x81,
	WIRE_RESPONSE_BIT = 0x80
};

/* SMP attributes, IBA 14.2.5 */
enum wire_attr {
	WIRE_ATTR_NOTICE = 0x0002,
	WIRE_ATTR_NODE_DESC = 0x0010,
	WIRE_ATTR_NODE_INFO = 0x0011,
	WIRE_ATTR_SWITCH_INFO = 0x0012,
	WIRE_ATTR_GUID_INFO = 0x0014,
	WIRE_ATTR_PORT_INFO = 0x0015,
	WIRE_ATTR_PKEY_TABLE = 0x0016,
	WIRE_ATTR_SL2VL = 0x0017,
	WIRE_ATTR_VL_ARB = 0x0018,
	WIRE_ATTR_LFT = 0x0019,
	WIRE_ATTR_MFT = 0x001B,
	WIRE_ATTR_SM_INFO = 0x0020,
	WIRE_ATTR_PORT_STATES = 0x0034 /* SwitchPortStateTable */
};

/* MAD status, IBA 13.4.7 */
enum wire_status {
	WIRE_STATUS_BUSY = 0x0001,
	WIRE_STATUS_REDIRECT = 0x0002, /* ask whom ClassPortInfo names */
	WIRE_STATUS_BAD_CLASS_VERSION = 1 << 2,
	WIRE_STATUS_BAD_METHOD = 2 << 2,
	WIRE_STATUS_BAD_METHOD_ATTR = 3 << 2,
	WIRE_STATUS_BAD_VALUE = 7 << 2
};

enum wire_node_type { WIRE_NODE_CA = 1, WIRE_NODE_SWITCH = 2, WIRE_NODE_ROUTER = 3 };
enum wire_port_state {
	WIRE_PORT_DOWN = 1,
	WIRE_PORT_INIT = 2,
	WIRE_PORT_ARMED = 3,
	WIRE_PORT_ACTIVE = 4
};
enum wire_phys_state {
	WIRE_PHYS_SLEEP = 1,
	WIRE_PHYS_POLLING = 2,
	WIRE_PHYS_DISABLED = 3,
	WIRE_PHYS_LINK_UP = 5
};
enum wire_sm_state {
	WIRE_SM_NOT_ACTIVE = 0,
	WIRE_SM_DISCOVERING = 1,
	WIRE_SM_STANDBY = 2,
	WIRE_SM_MASTER = 3
};
/* SMInfo attribute modifiers of Set, IBA 14.4.1 */
enum wire_sm_control {
	WIRE_SM_HANDOVER = 1,
	WIRE_SM_ACKNOWLEDGE = 2,
	WIRE_SM_DISABLE = 3,
	WIRE_SM_STANDBY_REQ = 4,
	WIRE_SM_DISCOVER = 5
};

/* Common header and directed-route part, IBA 13.4.2, 14.2.1 */
struct wire_header {
	uint8_t base_version, mgmt_class, class_version, method;
	uint16_t status; /* DR: without the D bit */
	bool dr_return;	 /* DR: the D bit */
	uint8_t hop_pointer, hop_count;
	uint64_t tid;
	uint16_t attr;
	uint32_t modifier;
	uint64_t m_key;
	uint16_t dr_slid, dr_dlid;
};

struct wire_node_info { /* IBA 14.2.5.3 */
	uint8_t base_version, class_version, node_type, n_ports;
	uint64_t system_guid, node_guid, port_guid;
	uint16_t partition_cap, device_id;
	uint32_t revision;
	uint8_t local_port;
	uint32_t vendor_id;
};

struct wire_switch_info { /* IBA 14.2.5.4 */
	uint16_t linear_fdb_cap, random_fdb_cap, mcast_fdb_cap, linear_fdb_top;
	uint8_t default_port, default_mcast_primary, default_mcast_not_primary;
	uint8_t life_time_value, port_state_change, optimized_slvl;
	uint16_t lids_per_port, partition_enforcement_cap;
	uint8_t inbound_enforcement_cap, outbound_enforcement_cap;
	uint8_t filter_raw_inbound_cap, filter_raw_outbound_cap, enhanced_port0;
	uint16_t mcast_fdb_top;
};

/* CapabilityMask, CapabilityMask2 */
#define WIRE_CAP_IS_SM (1u << 1)
#define WIRE_CAP_EXTENDED_SPEEDS (1u << 14)
#define WIRE_CAP_MASK2 (1u << 15)
#define WIRE_CAP_MULTICAST_FDB_TOP (1u << 30)
#define WIRE_CAP2_PORT_STATES (1u << 3) /* of port 0 of a switch: it has WIRE_ATTR_PORT_STATES */
#define WIRE_CAP2_EXT_SPEEDS2 (1u << 11)

/* Codes of PortInfo's LinkSpeedEnabled, LinkSpeedExtEnabled and LinkWidthEnabled that are no sets
 * of bits, IBA 14.2.5.6. */
#define LINK_SPEED_ALL 15
#define LINK_SPEED_EXT_ALL 31
#define LINK_SPEED_EXT_NONE 30
#define LINK_WIDTH_ALL 255

struct wire_port_info { /* IBA 14.2.5.6 */
	uint64_t m_key, gid_prefix;
	uint16_t lid, master_sm_lid;
	uint32_t capability_mask;
	uint16_t diag_code, m_key_lease_period_s;
	uint8_t local_port, link_width_enabled, link_width_supported, link_width_active;
	uint8_t link_speed_supported, port_state, phys_state, down_default_state;
	uint8_t m_key_protect, lmc, link_speed_active, link_speed_enabled;
	uint8_t neighbor_mtu, master_sm_sl, vl_cap, init_type;
	uint8_t vl_high_limit, vl_arb_high_cap, vl_arb_low_cap;
	uint8_t init_type_reply, mtu_cap, vl_stall_count, hoq_life, operational_vls;
	uint8_t partition_enforce_in, partition_enforce_out, filter_raw_in, filter_raw_out;
	uint16_t m_key_violations, p_key_violations, q_key_violations;
	uint8_t guid_cap, client_reregister, mcast_pkey_trap_suppression, subnet_timeout;
	uint8_t resp_time_value, local_phys_errors, overrun_errors;
	uint16_t max_credit_hint;
	uint32_t link_round_trip_latency;
	uint16_t capability_mask2;
	uint8_t link_speed_ext_active, link_speed_ext_supported, link_speed_ext_enabled;
	uint8_t link_speed_ext_active2; /* 1 = XDR; needs both capability bits below */
};

struct wire_sm_info { /* IBA 14.2.5.13 */
	uint64_t guid, sm_key;
	uint32_t act_count;
	uint8_t priority, state;
};

struct wire_notice { /* IBA 13.4.8.2 */
	bool generic;
	uint8_t type;
	uint32_t producer_type; /* or vendor id */
	uint16_t trap_number;	/* or device id */
	uint16_t issuer_lid;
	bool toggle;
	uint16_t toggle_count;
	uint8_t details[54];
};

struct wire_bad_m_key { /* DataDetails of trap 256, IBA 13.4.8.2 */
	uint16_t lid;	/* of who asked, where that was not directed */
	uint8_t method;
	uint16_t attr;
	uint64_t m_key; /* that was asked with */
	bool directed;
	uint8_t n_hops; /* ... by so many links */
};
void wire_bad_m_key_get(const uint8_t details[54], struct wire_bad_m_key *v);

/* Each: at = the 64 bytes of SMP data (header: the whole MAD).  put writes all
 * of them, reserved bits as zero; the header's only the bytes of its class:
 * 24 in common, 32 for LID-routed SMPs, 40 for directed ones.  Fields that a
 * class lacks are read as 0. */
void wire_header_get(const uint8_t *mad, struct wire_header *h);
void wire_header_put(uint8_t *mad, const struct wire_header *h);
void wire_node_info_get(const uint8_t *at, struct wire_node_info *v);
void wire_node_info_put(uint8_t *at, const struct wire_node_info *v);
void wire_switch_info_get(const uint8_t *at, struct wire_switch_info *v);
void wire_switch_info_put(uint8_t *at, const struct wire_switch_info *v);
void wire_port_info_get(const uint8_t *at, struct wire_port_info *v);
void wire_port_info_put(uint8_t *at, const struct wire_port_info *v);
void wire_sm_info_get(const uint8_t *at, struct wire_sm_info *v);
void wire_sm_info_put(uint8_t *at, const struct wire_sm_info *v);
void wire_notice_get(const uint8_t *at, struct wire_notice *v);
void wire_notice_put(uint8_t *at, const struct wire_notice *v);

/* 32 P_Keys of a block, host order */
void wire_pkeys_get(const uint8_t *at, uint16_t *pkeys);
void wire_pkeys_put(uint8_t *at, const uint16_t *pkeys);
/* Port masks of the 32 MLIDs of a block of a multicast table, bit i: port 16 * position + i */
void wire_mft_get(const uint8_t *at, uint16_t *ports);
void wire_mft_put(uint8_t *at, const uint16_t *ports);
/* 8 GUIDs of a block */
void wire_guids_get(const uint8_t *at, uint64_t *guids);
void wire_guids_put(uint8_t *at, const uint64_t *guids);
/* vl[16], one per SL */
void wire_sl2vl_get(const uint8_t *at, uint8_t *vl);
void wire_sl2vl_put(uint8_t *at, const uint8_t *vl);
/* PortState of a port in its block, port / WIRE_STATES_OF_BLOCK, of a SwitchPortStateTable: 4 bits
 * a port, even ones in the upper half of a byte.  Blocks are named by the modifier. */
#define WIRE_STATES_OF_BLOCK 128
uint8_t wire_port_state_get(const uint8_t *at, unsigned port);
void wire_port_state_put(uint8_t *at, unsigned port, uint8_t state);
/* An LFT block is 64 bytes of ports as they stand: memcpy. */

/* Single values, for fields outside the structs. */
static inline uint16_t
wire_get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}
static inline uint32_t
wire_get32(const uint8_t *p)
{
	return (uint32_t)wire_get16(p) << 16 | wire_get16(p + 2);
}
static inline uint64_t
wire_get64(const uint8_t *p)
{
	return (uint64_t)wire_get32(p) << 32 | wire_get32(p + 4);
}
static inline void
wire_put16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}
static inline void
wire_put32(uint8_t *p, uint32_t v)
{
	wire_put16(p, (uint16_t)(v >> 16));
	wire_put16(p + 2, (uint16_t)v);
}
static inline void
wire_put64(uint8_t *p, uint64_t v)
{
	wire_put32(p, (uint32_t)(v >> 32));
	wire_put32(p + 4, (uint32_t)v);
}

/* Data rate of a link from the active width, speed and extended speed codes,
 * Mbit/s; unknown codes give the nearest known below, never 0.  Table-driven,
 * SDR to XDR. */
uint32_t wire_link_mbps(uint8_t width_active, uint8_t speed_active, uint8_t speed_ext_active);
/* The same of a port, XDR included. */
uint32_t wire_port_mbps(const struct wire_port_info *p);

/* How wide a link is and how fast each of its lanes. */
struct wire_rate {
	uint8_t lanes;	    /* 1, 2, 4, 8, 12 */
	uint32_t lane_mbps; /* Mbit/s of data */
};
static inline uint32_t
wire_rate_mbps(struct wire_rate r)
{
	return r.lanes * r.lane_mbps;
}
/* As the port reports it, XDR included. */
struct wire_rate wire_rate_active(const struct wire_port_info *p);
/* The widest and the fastest that both ends of a cable support; NDR at most, since XDR has no
 * bit in what is supported. */
struct wire_rate wire_rate_best(const struct wire_port_info *a, const struct wire_port_info *b);

/* Data VLs of a code of PortInfo (VLCap, OperationalVLs), IBA 14.2.5.6. */
static inline uint8_t
wire_data_vls(uint8_t code)
{
	static const uint8_t vls[] = { 1, 1, 2, 4, 8, 15 };

	return code < sizeof(vls) ? vls[code] : 15;
}

/* "PortInfo", "NodeInfo", ...; "0x00NN" style words for unknown ones are the
 * caller's business: NULL then. */
const char *wire_attr_name(uint16_t attr);

/* One field: its bits on the wire (0 = the first sent) and its place in the
 * struct of its attribute. */
struct wire_field {
	const char *name; /* of the struct member */
	uint16_t at;	  /* bits */
	uint8_t width;	  /* bits, 1..64 */
	uint8_t member_bytes;
	uint16_t member_at; /* bytes */
};

/* The rows of an attribute or a header, for printing and for tests; NULL and
 * *n = 0 for what is no struct (tables of P_Keys, GUIDs, ports). */
const struct wire_field *wire_attr_fields(uint16_t attr, size_t *n);
const struct wire_field *wire_header_fields(uint8_t mgmt_class, size_t *n);

#endif
