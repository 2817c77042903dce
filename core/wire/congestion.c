/* SPDX-License-Identifier: BSD-2-Clause */
/* The attributes of congestion control, field by field; each function is O(its bytes). */
#include "core/wire/congestion.h"

#include <string.h>

/* Bytes of a SwitchCongestionSetting (A10.4.3.6). */
enum switch_at {
	SWITCH_VICTIM = 4,
	SWITCH_CREDIT = 36,
	SWITCH_THRESHOLD = 68, /* the high nibble */
	SWITCH_PACKET_SIZE = 69,
	SWITCH_CS_THRESHOLD = 70, /* likewise */
	SWITCH_CS_DELAY = 72,
	SWITCH_RATE = 74
};
#define HIGH_NIBBLE 0xf0
/* Of an element of a SwitchPortCongestionSetting (A10.4.3.7). */
#define PORT_BYTES 4
#define PORT_VALID 0x80
/* Of the CongestionLog of a switch (A10.4.3.5), behind its type, and of an entry. */
#define LOG_COUNTER 2
#define LOG_PORTS 8
#define LOG_ENTRIES 40
#define LOG_ENTRY_BYTES 12
/* Of a CACongestionSetting (A10.4.3.8), and in an entry of it. */
#define CA_MAP 2
#define CA_ENTRIES 4
#define CA_ENTRY_BYTES 8
#define CA_ENTRY_USED 5 /* timer 2, increase, trigger threshold, min */
/* Of a CongestionControlTable (A10.4.3.9). */
#define TABLE_ENTRIES 4
/* Of a CongestionKeyInfo (A10.4.3.4). */
#define KEY_PROTECT 8
#define KEY_PROTECT_BIT 0x80
#define KEY_LEASE 10
#define KEY_VIOLATIONS 12
#define KEY_BYTES 14

void
wire_cc_info_get(const uint8_t *at, struct wire_cc_info *v)
{
	*v = (struct wire_cc_info){ .info = wire_get16(at), .table_blocks = at[2] };
}

void
wire_cc_info_put(uint8_t *at, const struct wire_cc_info *v)
{
	wire_put16(at, v->info);
	at[2] = v->table_blocks;
}

void
wire_cc_key_info_get(const uint8_t *at, struct wire_cc_key_info *v)
{
	*v = (struct wire_cc_key_info){ .key = wire_get64(at),
		.protect = (at[KEY_PROTECT] & KEY_PROTECT_BIT) != 0,
		.lease_s = wire_get16(at + KEY_LEASE),
		.violations = wire_get16(at + KEY_VIOLATIONS) };
}

void
wire_cc_key_info_put(uint8_t *at, const struct wire_cc_key_info *v)
{
	memset(at, 0, KEY_BYTES);
	wire_put64(at, v->key);
	at[KEY_PROTECT] = v->protect ? KEY_PROTECT_BIT : 0;
	wire_put16(at + KEY_LEASE, v->lease_s);
	wire_put16(at + KEY_VIOLATIONS, v->violations);
}

void
wire_cc_switch_put(uint8_t at[WIRE_CC_SWITCH_BYTES], const struct wire_cc_switch *v)
{
	memset(at, 0, WIRE_CC_SWITCH_BYTES);
	wire_put32(at, v->control_map);
	memcpy(at + SWITCH_VICTIM, v->victim_mask, WIRE_CC_MASK_BYTES);
	memcpy(at + SWITCH_CREDIT, v->credit_mask, WIRE_CC_MASK_BYTES);
	at[SWITCH_THRESHOLD] = (uint8_t)(v->threshold << 4);
	at[SWITCH_PACKET_SIZE] = v->packet_size;
	at[SWITCH_CS_THRESHOLD] = (uint8_t)(v->cs_threshold << 4);
	wire_put16(at + SWITCH_CS_DELAY, wire_cc_delay_code(v->cs_return_delay));
	wire_put16(at + SWITCH_RATE, v->marking_rate);
}

void
wire_cc_ca_put(uint8_t at[WIRE_CC_CA_BYTES], const struct wire_cc_ca *v)
{
	memset(at, 0, WIRE_CC_CA_BYTES);
	wire_put16(at, v->port_control);
	wire_put16(at + CA_MAP, v->control_map);
	for (unsigned sl = 0; sl < WIRE_CC_SLS; sl++) {
		uint8_t *entry = at + CA_ENTRIES + CA_ENTRY_BYTES * sl;

		wire_put16(entry, v->sl[sl].timer);
		entry[2] = v->sl[sl].increase;
		entry[3] = v->sl[sl].trigger;
		entry[4] = v->sl[sl].min;
	}
}

/* An entry that no packet fits is none: the list need not be full. */
bool
wire_cc_log_get(const uint8_t *mad, struct wire_cc_log *v)
{
	const uint8_t *at = mad + WIRE_CC_LOG_AT;

	*v = (struct wire_cc_log){ .n_events = wire_get16(at + LOG_COUNTER) };
	memcpy(v->ports, at + LOG_PORTS, sizeof(v->ports));
	for (unsigned i = 0; i < WIRE_CC_LOG_ENTRIES; i++) {
		const uint8_t *e = at + LOG_ENTRIES + LOG_ENTRY_BYTES * i;

		if (wire_get16(e) != 0 && wire_get16(e + 2) != 0)
			v->entry[v->n++] = (struct wire_cc_log_entry){ wire_get16(e),
				wire_get16(e + 2), (uint8_t)(e[4] >> 4) };
	}
	return at[0] == WIRE_CC_LOG_SWITCH;
}

void
wire_cc_table_put(uint8_t at[WIRE_CC_TABLE_BYTES], const struct wire_cc_delay *entries, unsigned n,
    unsigned block)
{
	memset(at, 0, WIRE_CC_TABLE_BYTES);
	wire_put16(at, (uint16_t)(n > 0 ? n - 1 : 0));
	for (unsigned i = 0; i < WIRE_CC_BLOCK_ENTRIES; i++) {
		unsigned k = block * WIRE_CC_BLOCK_ENTRIES + i;

		if (k < n)
			wire_put16(at + TABLE_ENTRIES + 2 * i, wire_cc_delay_code(entries[k]));
	}
}

/* ------------------------------------------------------------- what is there */

bool
wire_cc_mask_has(const uint8_t mask[WIRE_CC_MASK_BYTES], unsigned p)
{
	return (mask[WIRE_CC_MASK_BYTES - 1 - p / 8] >> p % 8 & 1) != 0;
}

static bool
is_same_mask(const uint8_t *a, const uint8_t *b, uint8_t n_ports)
{
	for (unsigned p = 0; p <= n_ports; p++)
		if (wire_cc_mask_has(a, p) != wire_cc_mask_has(b, p))
			return false;
	return true;
}

bool
wire_cc_switch_holds(const uint8_t *shown, const uint8_t *wanted, uint8_t n_ports)
{
	uint32_t map = wire_get32(wanted);

	if (wire_get32(shown) != map)
		return false;
	if ((map & WIRE_CC_VICTIM_MASK) != 0 &&
	    !is_same_mask(shown + SWITCH_VICTIM, wanted + SWITCH_VICTIM, n_ports))
		return false;
	if ((map & WIRE_CC_CREDIT_MASK) != 0 &&
	    !is_same_mask(shown + SWITCH_CREDIT, wanted + SWITCH_CREDIT, n_ports))
		return false;
	if ((map & WIRE_CC_THRESHOLD) != 0 &&
	    (((shown[SWITCH_THRESHOLD] ^ wanted[SWITCH_THRESHOLD]) & HIGH_NIBBLE) != 0 ||
		shown[SWITCH_PACKET_SIZE] != wanted[SWITCH_PACKET_SIZE]))
		return false;
	if ((map & WIRE_CC_STARVATION) != 0 &&
	    (((shown[SWITCH_CS_THRESHOLD] ^ wanted[SWITCH_CS_THRESHOLD]) & HIGH_NIBBLE) != 0 ||
		memcmp(shown + SWITCH_CS_DELAY, wanted + SWITCH_CS_DELAY, 2) != 0))
		return false;
	return (map & WIRE_CC_MARKING_RATE) == 0 ||
	    memcmp(shown + SWITCH_RATE, wanted + SWITCH_RATE, 2) == 0;
}

bool
wire_cc_ports_unset(const uint8_t *shown, unsigned block, uint8_t n_ports)
{
	for (unsigned i = 0; i < WIRE_CC_BLOCK_PORTS; i++)
		if (block * WIRE_CC_BLOCK_PORTS + i <= n_ports &&
		    (shown[PORT_BYTES * i] & PORT_VALID) != 0)
			return false;
	return true;
}

bool
wire_cc_ca_holds(const uint8_t *shown, const uint8_t *wanted)
{
	uint16_t map = wire_get16(wanted + CA_MAP);

	if (memcmp(shown, wanted, CA_ENTRIES) != 0)
		return false;
	for (unsigned sl = 0; sl < WIRE_CC_SLS; sl++) {
		unsigned at = CA_ENTRIES + CA_ENTRY_BYTES * sl;

		if ((map >> sl & 1) != 0 && memcmp(shown + at, wanted + at, CA_ENTRY_USED) != 0)
			return false;
	}
	return true;
}

bool
wire_cc_table_holds(const uint8_t *shown, const uint8_t *wanted, unsigned block)
{
	unsigned limit = wire_get16(wanted), first = block * WIRE_CC_BLOCK_ENTRIES;
	unsigned n = limit < first ? 0 : limit - first + 1;

	if (n > WIRE_CC_BLOCK_ENTRIES)
		n = WIRE_CC_BLOCK_ENTRIES;
	return wire_get16(shown) == limit &&
	    memcmp(shown + TABLE_ENTRIES, wanted + TABLE_ENTRIES, 2 * (size_t)n) == 0;
}
