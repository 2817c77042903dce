/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/vfabric/vfabric.h - virtual fabrics: who belongs together, by which P_Key, SL and share of
 * the links, with which limits, as one thing.
 *
 *	sections --conf--> struct vfabric --settle--> SLs, shares of SLs
 *	                                  --part----> a partition (core/subnet/partitions.h)
 *	                                  --qos-----> SL2VL and weights (core/subnet/qos.h)
 *	                   with a fabric  --members-> P_Keys of ports (members.h)
 *
 * Nothing here is written into nodes: partitions and QoS do that.  Vfabrics are few (a thousand at
 * most), so they are compared each with each.
 */
#ifndef CORE_VFABRIC_VFABRIC_H
#define CORE_VFABRIC_VFABRIC_H

#include "core/nodes/nodes.h"
#include "core/subnet/partitions.h"
#include "core/subnet/qos.h"

#define VFABRIC_SLS 16
#define VFABRIC_LEAST_REST 5 /* percent for SL 0, where nobody says its share */

/* What is written for mtu (bytes) and rate (Gb/s), up to NULL: "any" is 0.  A number in them is
 * what vfabric_mtu_code() and vfabric_rate_code() take. */
extern const char *const vfabric_mtus[], *const vfabric_rates[];
/* Codes of PathRecord; 0: any. */
uint8_t vfabric_mtu_code(unsigned number);
uint8_t vfabric_rate_code(unsigned number);
/* As they are written. */
const char *vfabric_mtu_text(uint8_t code);
const char *vfabric_rate_text(uint8_t code);

struct vfabric_list {
	const struct node_item *items; /* [n] */
	size_t n;
};

/* As written; settled: with the SL that it gets. */
struct vfabric {
	const char *name;
	struct vfabric_list full, limited;
	uint16_t pkey; /* 15 bits; 0: the next that nobody has */
	bool has_sl;
	bool first;    /* its VL goes before those with shares */
	bool security; /* limited members do not talk to one another; else they are full ones */
	bool ipoib;
	uint8_t sl;
	uint8_t share;	      /* percent; 0: not said */
	uint8_t mtu, rate;    /* codes, 0: any */
	uint8_t (*mgids)[16]; /* [n_mgids] */
	size_t n_mgids;
	const char *file;
	unsigned line; /* where the section ends */
};

/* What the vfabrics of an SL have together. */
struct vfabric_sl {
	bool used, first;
	uint8_t share;	/* percent of what those with shares have; 0: first, or not used */
	uint8_t vl;	/* of a port with enough VLs */
	uint8_t weight; /* of VL arbitration, 1..255; 0: not used */
	const struct vfabric *said_by; /* who says its share, or that it is first; NULL: nobody */
};

struct vfabrics {
	struct vfabric *of; /* [n] in the order written */
	size_t n;
	struct vfabric_sl sl[VFABRIC_SLS];
	bool weighs; /* one says its share, or that it is first: SL2VL and weights are from here */
};

/* What they stand in. */
struct vfabric_ground {
	bool qos;      /* qos = yes */
	bool has_file; /* partition_config_file: there are other partitions */
};

/* SLs for who says none, and the shares of SLs.  FM_E_CONFIG "FILE:LINE: vfabric NAME: ..." for
 * two that contradict each other, shares that do not add up, SLs without QoS; noted where `all`
 * gathers them. */
int vfabrics_settle(
    struct vfabrics *v, const struct vfabric_ground *g, struct mistakes *all, struct fm_error *err);

/* The partition of one; it borrows. */
struct part_more vfabric_part(const struct vfabric *f);
/* Weights and SL2VL of all ports, where v->weighs: SLs of vfabrics have a VL each, by rising SL;
 * the other SLs that of the lowest. */
void vfabrics_qos(const struct vfabrics *v, struct qos_tables *t);

#endif
