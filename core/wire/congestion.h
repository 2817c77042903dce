/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/wire/congestion.h - MADs of congestion control, class 0x21 (IBA annex A10.4).
 *
 * They go to QP 1.  Behind the common header stand the CC_Key, 32 bytes of log data, and 192 bytes
 * of the attribute.  What is set is kept as it goes on the wire: to compare what a node shows with
 * what it is to hold is one pass over both, of what counts there.
 */
#ifndef CORE_WIRE_CONGESTION_H
#define CORE_WIRE_CONGESTION_H

#include "core/wire/wire.h"

#define WIRE_CLASS_CC 0x21
#define WIRE_CC_VERSION 2
#define WIRE_CC_KEY_AT 24
#define WIRE_CC_DATA_AT 64 /* in the MAD */
#define WIRE_CC_DATA_BYTES 192
#define WIRE_CC_LOG_AT 32 /* a CongestionLog takes the log data, too (A10.4.3.5) */

enum wire_cc_attr { /* A10.4.3 */
	WIRE_CC_CLASS_PORT_INFO = 0x0001,
	WIRE_CC_INFO = 0x0011,	       /* CongestionInfo */
	WIRE_CC_KEY_INFO = 0x0012,     /* CongestionKeyInfo */
	WIRE_CC_LOG = 0x0013,	       /* CongestionLog */
	WIRE_CC_SWITCH = 0x0014,       /* SwitchCongestionSetting */
	WIRE_CC_SWITCH_PORTS = 0x0015, /* SwitchPortCongestionSetting, 32 ports a block */
	WIRE_CC_CA = 0x0016,	       /* CACongestionSetting */
	WIRE_CC_TABLE = 0x0017,	       /* CongestionControlTable, a block of entries */
	WIRE_CC_TIME = 0x0018	       /* TimeStamp */
};

#define WIRE_CC_SWITCH_BYTES 76
#define WIRE_CC_CA_BYTES 132
#define WIRE_CC_TABLE_BYTES 132
#define WIRE_CC_PORTS_BYTES 128
#define WIRE_CC_BLOCK_PORTS 32 /* of a block of SwitchPortCongestionSetting */
#define WIRE_CC_MASK_BYTES 32
#define WIRE_CC_SLS 16
#define WIRE_CC_BLOCK_ENTRIES 64

struct wire_cc_info {
	uint16_t info;	      /* capabilities; none that fmd asks for */
	uint8_t table_blocks; /* of the CongestionControlTable; a switch: 0 */
};

struct wire_cc_key_info {
	uint64_t key; /* 0: none, or hidden from who has not shown it */
	bool protect; /* it is hidden */
	uint16_t lease_s, violations;
};

/* A shift of 2 bits and a multiplier of 14: a delay of multiplier * 2^shift. */
struct wire_cc_delay {
	uint8_t shift;
	uint16_t multiplier;
};
#define WIRE_CC_SHIFT_MAX 3
#define WIRE_CC_MULTIPLIER_MAX 0x3fff
static inline uint16_t
wire_cc_delay_code(struct wire_cc_delay d)
{
	return (uint16_t)(d.shift << 14 | d.multiplier);
}

/* Which parts of a SwitchCongestionSetting count, bits of control_map. */
enum wire_cc_switch_part {
	WIRE_CC_VICTIM_MASK = 1 << 0,
	WIRE_CC_CREDIT_MASK = 1 << 1,
	WIRE_CC_THRESHOLD = 1 << 2, /* and the size of packets */
	WIRE_CC_STARVATION = 1 << 3,
	WIRE_CC_MARKING_RATE = 1 << 4
};

struct wire_cc_switch {
	uint32_t control_map;
	/* Port p is bit p % 8 of byte 31 - p / 8, so that all of it reads as one number. */
	uint8_t victim_mask[WIRE_CC_MASK_BYTES], credit_mask[WIRE_CC_MASK_BYTES];
	uint8_t threshold, packet_size; /* 0..15; 64 bytes */
	uint8_t cs_threshold;		/* 0..15, of credit starvation */
	struct wire_cc_delay cs_return_delay;
	uint16_t marking_rate;
};

struct wire_cc_ca {
	uint16_t port_control;
	uint16_t control_map; /* bit of each SL whose entry counts */
	struct {
		uint16_t timer;
		uint8_t increase, trigger, min;
	} sl[WIRE_CC_SLS];
};

/* The CongestionLog of a switch: what it has marked since the log was last read, by anybody. */
#define WIRE_CC_LOG_SWITCH 1 /* its type */
#define WIRE_CC_LOG_ENTRIES 15
struct wire_cc_log {
	uint16_t n_events;
	uint8_t ports[WIRE_CC_MASK_BYTES]; /* that have marked packets; as victim_mask */
	unsigned n;			   /* entries: the last events, of these packets */
	struct wire_cc_log_entry {
		uint16_t slid, dlid;
		uint8_t sl;
	} entry[WIRE_CC_LOG_ENTRIES];
};

/* Does a ClassPortInfo name a version of the class (IBA 13.4.8.1)?  ibsim answers MADs of the class
 * by zeros. */
static inline bool
wire_cc_has_class(const uint8_t *at)
{
	return at[1] != 0;
}

/* From and to the data of a MAD; what a put does not name is 0. */
void wire_cc_info_get(const uint8_t *at, struct wire_cc_info *v);
void wire_cc_info_put(uint8_t *at, const struct wire_cc_info *v);
void wire_cc_key_info_get(const uint8_t *at, struct wire_cc_key_info *v);
void wire_cc_key_info_put(uint8_t *at, const struct wire_cc_key_info *v);
void wire_cc_switch_put(uint8_t at[WIRE_CC_SWITCH_BYTES], const struct wire_cc_switch *v);
/* mad: the whole; false: it is not the log of a switch. */
bool wire_cc_log_get(const uint8_t *mad, struct wire_cc_log *v);
/* Bit p of a mask. */
bool wire_cc_mask_has(const uint8_t mask[WIRE_CC_MASK_BYTES], unsigned p);
void wire_cc_ca_put(uint8_t at[WIRE_CC_CA_BYTES], const struct wire_cc_ca *v);
/* Block `block` of a table of n entries, 0 too: then its limit is 0. */
void wire_cc_table_put(uint8_t at[WIRE_CC_TABLE_BYTES], const struct wire_cc_delay *entries,
    unsigned n, unsigned block);

/* Does what a node shows hold all that counts of what it is to hold?  Not looked at are reserved
 * bits, parts and SLs that the control map leaves out, bits of ports that the switch has not, and
 * entries beyond the limit. */
bool wire_cc_switch_holds(const uint8_t *shown, const uint8_t *wanted, uint8_t n_ports);
/* Has none of the ports up to n_ports in this block a setting of its own, which would go before
 * that of the switch? */
bool wire_cc_ports_unset(const uint8_t *shown, unsigned block, uint8_t n_ports);
bool wire_cc_ca_holds(const uint8_t *shown, const uint8_t *wanted);
bool wire_cc_table_holds(const uint8_t *shown, const uint8_t *wanted, unsigned block);

#endif
