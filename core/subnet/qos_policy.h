/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/subnet/qos_policy.h - OpenSM's QoS policy file: which paths get which
 * service level, limits and partition.
 *
 *	port-groups       named sets of ports
 *	qos-levels        named levels: SL and limits of a path
 *	qos-match-rules   who asks for what gets which level, first that matches
 *	qos-ulps          the same in one line per upper-layer protocol
 *
 * Immutable and reference counted.  Matching is a pure function; it looks at
 * the ports that a path leads between, never at the fabric.
 */
#ifndef CORE_SUBNET_QOS_POLICY_H
#define CORE_SUBNET_QOS_POLICY_H

#include "core/subnet/partitions.h"

struct qos_policy;

/* From .. to, both of them in it. */
struct qos_range {
	uint64_t from, to;
};

/* A level; what it does not say is left to the path. */
struct qos_level {
	const char *name, *use;
	bool has_sl, has_mtu, has_rate, has_life, has_path_bits;
	uint8_t sl;
	uint8_t mtu_limit, rate_limit, packet_life; /* codes of PathRecord; the most allowed */
	uint64_t path_bits[2];			    /* bitset of 0..127 */
	uint32_t n_pkeys;			    /* 0: any */
	const struct qos_range *pkeys;		    /* [n_pkeys] of base keys */
	unsigned line;
};

/* One end of a path. */
struct qos_end {
	struct part_port port;
	uint8_t number;	  /* of the port */
	const char *desc; /* NodeDescription; may be NULL */
	struct pkey_list keys;
};

/* What is asked: the parts that the query does not give are not `has_`. */
struct qos_query {
	const struct qos_end *source, *dest;
	bool has_service_id, has_qos_class, has_pkey;
	uint64_t service_id;
	uint16_t qos_class;
	uint16_t pkey; /* asked for, or that of the path; bit PKEY_FULL does not count */
};

/* Read a policy file; the names of partitions come from parts.  FM_E_CONFIG with
 * "FILE:LINE: ..." and what would be right; *out gets one reference.  Where `all` gathers
 * mistakes, they are noted: 0 and *out NULL. */
int qos_policy_parse(const char *path, const char *bytes, size_t n_bytes,
    const struct partitions *parts, const struct qos_policy **out, struct mistakes *all,
    struct fm_error *err);
const struct qos_policy *qos_policy_get(const struct qos_policy *p); /* NULL is fine */
void qos_policy_put(const struct qos_policy *p);		     /* NULL is fine */

/* The level of the first rule that matches, else the default level; never NULL.  A
 * rule that speaks of what the query does not give does not match. */
const struct qos_level *qos_policy_match(const struct qos_policy *p, const struct qos_query *q);
/* The SL that a rule by nothing but P_Key gives to a partition; false: none does.  It
 * goes before the partition's own, for its multicast groups too. */
bool qos_policy_partition_sl(const struct qos_policy *p, uint16_t pkey, uint8_t *sl);
/* By base key: may a path of this level have it? */
bool qos_level_allows(const struct qos_level *l, uint16_t pkey);

/* For printing and tests. */
const struct qos_level *qos_policy_levels(const struct qos_policy *p, size_t *n);
size_t qos_policy_n_rules(const struct qos_policy *p); /* match rules and ulps */

#endif
