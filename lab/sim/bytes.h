/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab/sim/bytes.h - where the bytes are that the simulator touches in place.
 *
 * The model keeps attributes as they stand on the wire, so that an answer is
 * one memcpy; only these few bytes are read or patched.  core/wire/wire.c has
 * the whole layouts; check_sim compares every row here with them.
 */
#ifndef LAB_SIM_BYTES_H
#define LAB_SIM_BYTES_H

enum mad_byte { /* IBA 13.4.2, 14.2.1 */
	MAD_BASE_VERSION = 0,
	MAD_CLASS = 1,
	MAD_CLASS_VERSION = 2,
	MAD_METHOD = 3,
	MAD_STATUS = 4, /* directed: its first bit is D */
	MAD_HOP_POINTER = 6,
	MAD_HOP_COUNT = 7,
	MAD_TID = 8,
	MAD_ATTR = 16,
	MAD_MODIFIER = 20,
	MAD_M_KEY = 24,
	MAD_DR_SLID = 32,
	MAD_DR_DLID = 34
};

enum node_info_byte { /* IBA 14.2.5.3 */
	NODE_INFO_N_PORTS = 3,
	NODE_INFO_SYSTEM_GUID = 4,
	NODE_INFO_NODE_GUID = 12,
	NODE_INFO_PORT_GUID = 20,
	NODE_INFO_LOCAL_PORT = 36
};

enum switch_info_byte { /* IBA 14.2.5.4 */
	SWITCH_INFO_TOP = 6,
	SWITCH_INFO_CHANGE = 11 /* life time 5 bits, PortStateChange 1, optimized 2 */
};
#define SWITCH_INFO_CHANGE_BIT 0x04

enum port_info_byte { /* IBA 14.2.5.6; two names = high and low nibble */
	PORT_INFO_M_KEY = 0,
	PORT_INFO_LID = 16,
	PORT_INFO_SM_LID = 18,
	PORT_INFO_CAP_MASK = 20,
	PORT_INFO_LEASE = 26,
	PORT_INFO_LOCAL_PORT = 28,
	PORT_INFO_WIDTH_ENABLED = 29,
	PORT_INFO_WIDTH_SUPPORTED = 30,
	PORT_INFO_SPEED_SUPPORTED_STATE = 32,
	PORT_INFO_PHYS_DEFAULT = 33,
	PORT_INFO_PROTECT_LMC = 34,
	PORT_INFO_SPEED_ACTIVE_ENABLED = 35,
	PORT_INFO_MTU_SMSL = 36,
	PORT_INFO_VLCAP_INIT = 37,
	PORT_INFO_REPLY_MTUCAP = 41,
	PORT_INFO_VLS_ENFORCE = 43,
	PORT_INFO_M_KEY_VIOLATIONS = 44,
	PORT_INFO_P_KEY_VIOLATIONS = 46,
	PORT_INFO_Q_KEY_VIOLATIONS = 48,
	PORT_INFO_REREGISTER_TIMEOUT = 51,
	PORT_INFO_EXT_ACTIVE_SUPPORTED = 62,
	PORT_INFO_EXT_ENABLED = 63
};
#define PORT_INFO_REREGISTER_BIT 0x80
#define PORT_INFO_ENFORCE_IN 0x08 /* in VLS_ENFORCE, as the next */
#define PORT_INFO_ENFORCE_OUT 0x04
#define PORT_INFO_IS_SM (1u << 1) /* in CapabilityMask */

#endif
