/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/wire/sa_wire.h - what subnet administration says, on the wire and off it.
 *
 *	| common header 24 | RMPP 12 | SM_Key, offset, mask 20 | records 200 |	IBA 15.2.1.1
 *
 * Each record has a struct in host order and rows (where on the wire, where in
 * the struct, which bit of the component mask); one function each unpacks,
 * packs, and asks whether a record is one that a template under a mask asks
 * for.  Offsets and masks: IBA 15.2.5.
 *
 * Records follow one another every AttributeOffset 8-byte words.
 */
#ifndef CORE_WIRE_SA_WIRE_H
#define CORE_WIRE_SA_WIRE_H

#include "core/wire/wire.h"

#define SA_DATA_AT 56	  /* offset of the first record in the MAD */
#define SA_DATA_BYTES 200 /* of records in one MAD */
#define SA_RECORD_MOST_BYTES 200
#define SA_CLASS_VERSION 2

/* IBA 15.2.2; Set is answered by GetResp, GetTraceTable by GetTableResp, the others by their own */
enum sa_method {
	SA_GET = 0x01,
	SA_SET = 0x02,
	SA_REPORT = 0x06,
	SA_GET_TABLE = 0x12,
	SA_GET_TRACE_TABLE = 0x13,
	SA_GET_MULTI = 0x14,
	SA_DELETE = 0x15,
	SA_GET_RESP = 0x81,
	SA_REPORT_RESP = 0x86,
	SA_GET_TABLE_RESP = 0x92,
	SA_GET_MULTI_RESP = 0x94,
	SA_DELETE_RESP = 0x95
};

/* IBA 15.2.5, table 188 */
enum sa_attr {
	SA_CLASS_PORT_INFO = 0x0001,
	SA_NOTICE = 0x0002,
	SA_INFORM_INFO = 0x0003,
	SA_NODE_RECORD = 0x0011,
	SA_PORT_INFO_RECORD = 0x0012,
	SA_SL2VL_RECORD = 0x0013,
	SA_SWITCH_INFO_RECORD = 0x0014,
	SA_LFT_RECORD = 0x0015,
	SA_MFT_RECORD = 0x0017,
	SA_SM_INFO_RECORD = 0x0018,
	SA_LINK_RECORD = 0x0020,
	SA_GUID_INFO_RECORD = 0x0030,
	SA_SERVICE_RECORD = 0x0031,
	SA_PKEY_RECORD = 0x0033,
	SA_PATH_RECORD = 0x0035,
	SA_VL_ARB_RECORD = 0x0036,
	SA_MC_MEMBER_RECORD = 0x0038,
	SA_TRACE_RECORD = 0x0039,
	SA_MULTI_PATH_RECORD = 0x003a,
	SA_INFORM_INFO_RECORD = 0x00f3
};

/* MAD status of an answer: the common part (enum wire_status), or one of IBA 15.2.4 */
enum sa_status {
	SA_OK = 0,
	SA_NO_RESOURCES = 0x0100,
	SA_REQ_INVALID = 0x0200,
	SA_NO_RECORDS = 0x0300,
	SA_TOO_MANY_RECORDS = 0x0400,
	SA_REQ_INVALID_GID = 0x0500,
	SA_REQ_INSUFFICIENT_COMPONENTS = 0x0600,
	SA_REQ_DENIED = 0x0700,
	SA_PRIORITY_SUGGESTED = 0x0800
};
/* "no records match", ...; NULL for unknown ones. */
const char *sa_status_words(uint16_t status);

/* The RMPP fields of a table as a kernel with RMPP wants it (core/rmpp/rmpp.h has all of them). */
enum { SA_RMPP_VERSION = 1, SA_RMPP_DATA = 1, SA_RMPP_ACTIVE = 1 };

struct sa_header {
	uint8_t method;
	uint16_t status, attr;
	uint64_t tid;
	uint32_t modifier;
	uint8_t base_version, mgmt_class, class_version;
	uint8_t rmpp_version, rmpp_type, rmpp_resp_time, rmpp_flags, rmpp_status;
	uint32_t rmpp_data1; /* DATA: segment number */
	uint32_t
	    rmpp_data2; /* DATA: payload bytes of the transfer or of the last MAD; ACK: window */
	uint64_t sm_key;
	uint16_t attr_words; /* AttributeOffset */
	uint64_t mask;	     /* ComponentMask */
};
void sa_header_get(const uint8_t *mad, struct sa_header *h);
void sa_header_put(uint8_t *mad, const struct sa_header *h); /* all SA_DATA_AT bytes */

/* Is this the key?  Tools show it in either byte order.  0 is none. */
bool sa_key_is(uint64_t shown, uint64_t key);

struct sa_gid {
	uint64_t prefix, guid;
};
static inline bool
sa_gid_is_multicast(struct sa_gid g)
{
	return g.prefix >> 56 == 0xff;
}

struct sa_class_port_info { /* IBA 13.4.8.1 */
	uint8_t base_version, class_version;
	uint16_t cap_mask;
	uint32_t cap_mask2; /* 27 bits */
	uint8_t resp_time;  /* 4.096 us * 2^resp_time */
	struct sa_gid redirect_gid;
	uint8_t redirect_tclass, redirect_sl;
	uint32_t redirect_flow;
	uint16_t redirect_lid, redirect_pkey;
	uint32_t redirect_qpn, redirect_qkey;
	struct sa_gid trap_gid;
	uint8_t trap_tclass, trap_sl;
	uint32_t trap_flow;
	uint16_t trap_lid, trap_pkey;
	uint8_t trap_hop_limit;
	uint32_t trap_qpn, trap_qkey;
};
/* CapabilityMask and CapabilityMask2 of the SA's ClassPortInfo, IBA 15.2.1.1 */
enum {
	SA_CAP_OPTIONAL_RECORDS = 1 << 8,
	SA_CAP_UD_MULTICAST = 1 << 9,
	SA_CAP_MULTI_PATH = 1 << 10,
	SA_CAP_REINIT = 1 << 11,
	SA_CAP_PORT_INFO_MATCH = 1 << 13,
	SA_CAP2_QOS = 1 << 1,
	SA_CAP2_MULTICAST_TOP = 1 << 3,
	SA_CAP2_ALIAS_GUIDS = 1 << 5,
	SA_CAP2_FULL_PORT_INFO = 1 << 6,
	SA_CAP2_EXT_SPEEDS = 1 << 7,
	SA_CAP2_MULTICAST_SERVICES = 1 << 8,
	SA_CAP2_PORT_INFO_MATCH2 = 1 << 10,
	SA_CAP2_SEND_ONLY_FULL_MEMBER = 1 << 12,
	SA_CAP2_LINK_WIDTH_2X = 1 << 13,
	SA_CAP2_LINK_SPEED_HDR = 1 << 15
};

struct sa_notice {
	struct wire_notice n;
	struct sa_gid issuer;
};

struct sa_inform_info { /* IBA 13.4.8.3 */
	struct sa_gid gid;
	uint16_t lid_begin, lid_end; /* 0xffff: all */
	uint8_t is_generic, subscribe;
	uint16_t type;	      /* 0xffff: all */
	uint16_t trap_number; /* or device id; 0xffff: all */
	uint32_t qpn;
	uint8_t resp_time;
	uint32_t producer_type; /* or vendor id; 0xffffff: all */
};
struct sa_inform_info_record {
	struct sa_gid subscriber;
	uint16_t number;
	struct sa_inform_info info;
};

struct sa_node_record {
	uint16_t lid;
	struct wire_node_info info;
	uint8_t desc[64];
};
struct sa_port_info_record {
	uint16_t lid;
	uint8_t port, options;
	struct wire_port_info info;
};
struct sa_switch_info_record {
	uint16_t lid;
	struct wire_switch_info info;
};
struct sa_sm_info_record {
	uint16_t lid;
	struct wire_sm_info info;
};
struct sa_link_record {
	uint16_t from_lid, to_lid;
	uint8_t from_port, to_port;
};
struct sa_lft_record {
	uint16_t lid, block;
	uint8_t port[64];
};
struct sa_mft_record {
	uint16_t lid, block; /* of 32 MLIDs */
	uint8_t position;    /* of 16 ports */
	uint16_t mask[32];
};
struct sa_sl2vl_record {
	uint16_t lid;
	uint8_t in_port, out_port;
	uint8_t vl[16]; /* by SL */
};
struct sa_vl_arb_record {
	uint16_t lid;
	uint8_t port, block; /* 1, 2: low priority; 3, 4: high */
	uint8_t entry[64];   /* VL, weight, VL, weight, ... */
};
struct sa_pkey_record {
	uint16_t lid, block;
	uint8_t port;
	uint16_t pkey[32];
};
struct sa_guid_info_record {
	uint16_t lid;
	uint8_t block;
	uint64_t guid[8];
};

/* Selectors of MTU, rate, packet life time: more than, less than, exactly, the most there is. */
enum sa_selector { SA_GREATER = 0, SA_LESS = 1, SA_EXACTLY = 2, SA_LARGEST = 3 };

struct sa_path_record {
	uint64_t service_id;
	struct sa_gid dgid, sgid;
	uint16_t dlid, slid;
	uint8_t raw_traffic;
	uint32_t flow_label;
	uint8_t hop_limit, tclass, reversible, n_paths;
	uint16_t pkey, qos_class;
	uint8_t sl, mtu_selector, mtu, rate_selector, rate, life_selector, life, preference;
};
struct sa_multi_path_record { /* the GIDs follow at SA_MULTI_PATH_GIDS_AT */
	uint8_t raw_traffic;
	uint32_t flow_label;
	uint8_t hop_limit, tclass, reversible, n_paths;
	uint16_t pkey, qos_class;
	uint8_t sl, mtu_selector, mtu, rate_selector, rate, life_selector, life;
	uint8_t service_id_8msb, independence, n_sgids, n_dgids;
	uint64_t service_id_56lsb;
};
#define SA_MULTI_PATH_GIDS_AT 24
struct sa_trace_record {
	uint64_t gid_prefix;
	uint16_t generation;
	uint8_t node_type;
	uint64_t node_id, chassis_id, entry_port_id, exit_port_id;
	uint8_t entry_port, exit_port;
};

struct sa_mc_member_record {
	struct sa_gid mgid, port_gid;
	uint32_t qkey;
	uint16_t mlid;
	uint8_t mtu_selector, mtu, tclass;
	uint16_t pkey;
	uint8_t rate_selector, rate, life_selector, life, sl;
	uint32_t flow_label;
	uint8_t hop_limit, scope, join_state, proxy_join;
};
struct sa_service_record {
	uint64_t id;
	struct sa_gid gid;
	uint16_t pkey;
	uint32_t lease_s; /* UINT32_MAX: for ever */
	uint8_t key[16], name[64], data8[16];
	uint16_t data16[8];
	uint32_t data32[4];
	uint64_t data64[2];
};

#define SA_BIT(n) (UINT64_C(1) << (n))
/* Component masks of the records that are asked for by more than equality */
#define SA_PR_SERVICE_ID (SA_BIT(0) | SA_BIT(1))
#define SA_PR_DGID SA_BIT(2)
#define SA_PR_SGID SA_BIT(3)
#define SA_PR_DLID SA_BIT(4)
#define SA_PR_SLID SA_BIT(5)
#define SA_PR_RAW_TRAFFIC SA_BIT(6)
#define SA_PR_FLOW_LABEL SA_BIT(8)
#define SA_PR_HOP_LIMIT SA_BIT(9)
#define SA_PR_TCLASS SA_BIT(10)
#define SA_PR_REVERSIBLE SA_BIT(11)
#define SA_PR_N_PATHS SA_BIT(12)
#define SA_PR_PKEY SA_BIT(13)
#define SA_PR_QOS_CLASS SA_BIT(14)
#define SA_PR_SL SA_BIT(15)
#define SA_PR_MTU_SELECTOR SA_BIT(16)
#define SA_PR_MTU SA_BIT(17)
#define SA_PR_RATE_SELECTOR SA_BIT(18)
#define SA_PR_RATE SA_BIT(19)
#define SA_PR_LIFE_SELECTOR SA_BIT(20)
#define SA_PR_LIFE SA_BIT(21)

#define SA_NR_LID SA_BIT(0)
#define SA_NR_PORT_GUID SA_BIT(8)

#define SA_MPR_RAW_TRAFFIC SA_BIT(0)
#define SA_MPR_FLOW_LABEL SA_BIT(2)
#define SA_MPR_HOP_LIMIT SA_BIT(3)
#define SA_MPR_TCLASS SA_BIT(4)
#define SA_MPR_REVERSIBLE SA_BIT(5)
#define SA_MPR_N_PATHS SA_BIT(6)
#define SA_MPR_PKEY SA_BIT(7)
#define SA_MPR_QOS_CLASS SA_BIT(8)
#define SA_MPR_SL SA_BIT(9)
#define SA_MPR_MTU_SELECTOR SA_BIT(10)
#define SA_MPR_MTU SA_BIT(11)
#define SA_MPR_RATE_SELECTOR SA_BIT(12)
#define SA_MPR_RATE SA_BIT(13)
#define SA_MPR_LIFE_SELECTOR SA_BIT(14)
#define SA_MPR_LIFE SA_BIT(15)
#define SA_MPR_SERVICE_ID (SA_BIT(16) | SA_BIT(21))
#define SA_MPR_INDEPENDENCE SA_BIT(17)
#define SA_MPR_N_SGIDS SA_BIT(19)
#define SA_MPR_N_DGIDS SA_BIT(20)

#define SA_MCR_MGID SA_BIT(0)
#define SA_MCR_PORT_GID SA_BIT(1)
#define SA_MCR_QKEY SA_BIT(2)
#define SA_MCR_MLID SA_BIT(3)
#define SA_MCR_MTU_SELECTOR SA_BIT(4)
#define SA_MCR_MTU SA_BIT(5)
#define SA_MCR_TCLASS SA_BIT(6)
#define SA_MCR_PKEY SA_BIT(7)
#define SA_MCR_RATE_SELECTOR SA_BIT(8)
#define SA_MCR_RATE SA_BIT(9)
#define SA_MCR_LIFE_SELECTOR SA_BIT(10)
#define SA_MCR_LIFE SA_BIT(11)
#define SA_MCR_SL SA_BIT(12)
#define SA_MCR_FLOW_LABEL SA_BIT(13)
#define SA_MCR_HOP_LIMIT SA_BIT(14)
#define SA_MCR_SCOPE SA_BIT(15)
#define SA_MCR_JOIN_STATE SA_BIT(16)
#define SA_MCR_PROXY_JOIN SA_BIT(17)

#define SA_PIR_LID SA_BIT(0)
#define SA_PIR_PORT SA_BIT(1)
#define SA_PIR_CAP_MASK SA_BIT(7)

#define SA_SR_ID SA_BIT(0)
#define SA_SR_GID SA_BIT(1)
#define SA_SR_PKEY SA_BIT(2)
#define SA_SR_LEASE SA_BIT(4)
#define SA_SR_KEY SA_BIT(5)
#define SA_SR_NAME SA_BIT(6)

#define SA_GIR_LID SA_BIT(0)
#define SA_GIR_BLOCK SA_BIT(1)
#define SA_GIR_GUID0 SA_BIT(4)

#define SA_IIR_SUBSCRIBER SA_BIT(0)
#define SA_IIR_NUMBER SA_BIT(1)

/* Room for any record as a struct. */
union sa_any {
	struct sa_class_port_info class_port_info;
	struct sa_notice notice;
	struct sa_inform_info inform_info;
	struct sa_inform_info_record inform_info_record;
	struct sa_node_record node;
	struct sa_port_info_record port_info;
	struct sa_switch_info_record switch_info;
	struct sa_sm_info_record sm_info;
	struct sa_link_record link;
	struct sa_lft_record lft;
	struct sa_mft_record mft;
	struct sa_sl2vl_record sl2vl;
	struct sa_vl_arb_record vl_arb;
	struct sa_pkey_record pkey;
	struct sa_guid_info_record guid_info;
	struct sa_path_record path;
	struct sa_multi_path_record multi_path;
	struct sa_trace_record trace;
	struct sa_mc_member_record mc_member;
	struct sa_service_record service;
};

/* A field, or count equal ones side by side on the wire and in the struct. */
struct sa_field {
	struct wire_field f; /* of the first */
	uint16_t count;
	bool each;	    /* the i-th has component << i; else all have component */
	uint64_t component; /* 0: not in the mask */
};
struct sa_record {
	uint16_t attr;
	uint16_t bytes; /* on the wire, not padded */
	uint16_t struct_bytes, n_fields;
	const char *name;
	const struct sa_field *field; /* [n_fields] */
};

/* The record of an attribute, NULL for unknown ones.  O(attributes). */
const struct sa_record *sa_record_of(uint16_t attr);
/* AttributeOffset: 8-byte words from one to the next. */
static inline uint16_t
sa_record_words(const struct sa_record *r)
{
	return (uint16_t)((r->bytes + 7) / 8);
}
/* at: r->bytes of the wire. */
void sa_record_get(const struct sa_record *r, const uint8_t *at, void *v);
/* at: sa_record_words(r) words, all of them written. */
void sa_record_put(const struct sa_record *r, uint8_t *at, const void *v);
/* Is v equal to want in every component of mask?  Bits of no field ask for nothing. */
bool sa_record_matches(const struct sa_record *r, const void *want, uint64_t mask, const void *v);

/* The rows of the header, for tests. */
const struct wire_field *sa_header_fields(size_t *n);

struct sa_gid sa_gid_get(const uint8_t *at);
void sa_gid_put(uint8_t *at, struct sa_gid g);

/* Rate codes of IBA 15.2.5.16 by data rate of the link in Mbit/s as wire_link_mbps()
 * counts; the nearest known one below, 2 (2.5 Gbit/s) below all.  Table-driven. */
uint8_t sa_rate_code(uint32_t mbps);
/* The same of codes up to `most`, at least 2. */
uint8_t sa_rate_code_most(uint32_t mbps, uint8_t most);
/* The other way; 0: unknown. */
uint32_t sa_rate_mbps(uint8_t code);

#endif
