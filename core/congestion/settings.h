/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/congestion/settings.h - what switches and hosts are to hold of congestion control (IBA annex
 * A10), in the words and units of OpenSM's file:
 *
 *	masks		a hexadecimal number of 256 bits, bit n is port n
 *	delays		SHIFT:MULTIPLIER, 0..3 and 0..16383
 *	ccti_timer, ccti_increase, trigger_threshold, ccti_min
 *			"SL VALUE", by ", " several of them; of one SL the last counts
 *	cc_cct		"SHIFT:MULTIPLIER, ..." up to 128, "": the table has none
 *
 * Numbers are as strtoul() of base 0 takes them.
 */
#ifndef CORE_CONGESTION_SETTINGS_H
#define CORE_CONGESTION_SETTINGS_H

#include "core/wire/congestion.h"
#include "lib/error.h"

#define CONGESTION_BLOCKS 2 /* of the CongestionControlTable: what OpenSM knows of */

/* What is written as text. */
enum congestion_words {
	CONGESTION_VICTIM_MASK,
	CONGESTION_CREDIT_MASK,
	CONGESTION_RETURN_DELAY,
	CONGESTION_CCTI_TIMER,
	CONGESTION_CCTI_INCREASE,
	CONGESTION_TRIGGER_THRESHOLD,
	CONGESTION_CCTI_MIN,
	CONGESTION_CCT,
	CONGESTION_WORDS
};

/* As written; what is a number is in its range. */
struct congestion_text {
	int64_t sw_control_map, sw_threshold, sw_packet_size, sw_cs_threshold, sw_marking_rate;
	int64_t ca_port_control, ca_control_map;
	const char *words[CONGESTION_WORDS];
};

/* As it goes on the wire. */
struct congestion_blocks {
	uint8_t sw[WIRE_CC_SWITCH_BYTES], ca[WIRE_CC_CA_BYTES];
	uint8_t table[CONGESTION_BLOCKS][WIRE_CC_TABLE_BYTES];
	uint8_t n_blocks; /* of the table: 1 or more, as its limit is set in any case */
};

/* The key that has the words. */
const char *congestion_key(enum congestion_words w);
/* FM_E_CONFIG: the sentence, without the key, says what would be right. */
int congestion_check(
    const struct congestion_text *t, enum congestion_words w, struct fm_error *err);
/* All of it has been checked. */
void congestion_make(const struct congestion_text *t, struct congestion_blocks *out);

#endif
