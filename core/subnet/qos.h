/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/subnet/qos.h - SL to VL and VL arbitration as the administrator wants
 * them, per kind of port.
 *
 * The words are OpenSM's: max_vls, high_limit, vlarb_high and vlarb_low
 * ("VL:WEIGHT,..."), sl2vl (16 VLs); the kinds ca, rtr, sw0, swe take what they
 * do not say from the plain ones.
 *
 * A link carries only its OperationalVLs, so each table is fitted to its port:
 * whatever would go over a VL that is not there goes over a lower one.
 */
#ifndef CORE_SUBNET_QOS_H
#define CORE_SUBNET_QOS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"

#define QOS_ARB_MAX 64	 /* entries of a VLArb table, */
#define QOS_ARB_BLOCK 32 /* in blocks of so many (IBA 14.2.5.9) */
#define QOS_VL_DROP 15	 /* in SL2VL: packets of this SL are dropped */

/* Kinds of ports; QOS_COMMON is what the others take theirs from. */
enum qos_port { QOS_CA, QOS_ROUTER, QOS_SWITCH0, QOS_SWITCH, QOS_PORTS, QOS_COMMON = QOS_PORTS };

struct qos_arb {
	uint8_t vl, weight; /* 0..14; 64 bytes * weight, 0: skipped */
};

struct qos_tables {
	uint8_t max_vls;    /* 1..15: VLs from there on are not used */
	uint8_t high_limit; /* PortInfo.VLHighLimit: 4096 bytes * n; 255 = no limit */
	struct qos_arb high[QOS_ARB_MAX], low[QOS_ARB_MAX]; /* zeros behind the last */
	uint8_t sl2vl[16];				    /* [SL] 0..14, or QOS_VL_DROP */
};

struct qos {
	bool optimised_sl2vl; /* where switches offer it */
	struct qos_tables port[QOS_PORTS];
};

/* One kind as written; 0, a negative high_limit, NULL and "": not said. */
struct qos_text {
	int64_t max_vls, high_limit;
	const char *vlarb_high, *vlarb_low, *sl2vl;
};
/* own before common before OpenSM's defaults.  FM_E_CONFIG naming the key without its
 * prefix ("sl2vl: ...") and what would be right. */
int qos_tables_parse(const struct qos_text *own, const struct qos_text *common,
    struct qos_tables *out, struct fm_error *err);

/* For a port that runs n_vls data VLs (1..15). */
void qos_fit_sl2vl(const struct qos_tables *t, uint8_t n_vls, uint8_t *out /* [16] */);
/* The same on a link of a host; t NULL: nobody says anything, and SLs are taken modulo VLs.
 * levels: the SLs 8..15 are a second level of quality between switches.  So they are here: VL 1,
 * the first level VL 0, as OpenSM's torus-2QoS has it, but SLs that t drops are dropped. */
void qos_host_sl2vl(
    const struct qos_tables *t, bool levels, uint8_t n_vls, uint8_t *out /* [16] */);
/* VLs that t gives no weight at all though packets of some SL take them (bitset). */
uint16_t qos_starved(const struct qos_tables *t, uint8_t n_vls, uint16_t vls_in_use);
/* The same of a port with max_vls data VLs and the VLs of its own sl2vl. */
uint16_t qos_without_weight(const struct qos_tables *t);
/* Entries 32 * block and on of low (high = false) or high, zeros from entry cap on.
 * VLs in `starved` get weight 1 at the end of low, in place of entries without weight. */
void qos_fit_arb(const struct qos_tables *t, bool high, unsigned block, uint8_t cap, uint8_t n_vls,
    uint16_t starved, struct qos_arb *out /* [QOS_ARB_BLOCK] */);

#endif
