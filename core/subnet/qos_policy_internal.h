/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/subnet/qos_policy_internal.h - a policy in the making; shared by
 * qos_policy.c (matching) and qos_policy_read.c (the file).
 */
#ifndef CORE_SUBNET_QOS_POLICY_INTERNAL_H
#define CORE_SUBNET_QOS_POLICY_INTERNAL_H

#include <stdatomic.h>

#include "core/subnet/qos_policy.h"
#include "lib/arena.h"
#include "lib/vec.h"

struct qos_ranges {
	FM_VEC(struct qos_range) of;
};

/* "node description/P1" */
struct qos_port_name {
	const char *desc;
	uint8_t number;
};

#define QOS_KIND_SELF (1u << 7) /* beside 1 << enum part_kind */
#define QOS_KIND_ALL (QOS_KIND_SELF - 1)

struct qos_group {
	const char *name;
	uint8_t kinds; /* bits */
	struct qos_ranges guids, pkeys;
	FM_VEC(struct qos_port_name) names;
	unsigned line;
};

/* What a rule says nothing of, matches. */
struct qos_rule {
	struct qos_ranges service_ids, classes, pkeys;
	FM_VEC(uint32_t) sources, dests; /* groups: one of them */
	const char *level_name;		 /* NULL: level is known */
	uint32_t level;
	unsigned line, level_line;
};

struct qos_policy {
	atomic_uint refs;
	struct fm_arena mem; /* names */
	FM_VEC(struct qos_group) groups;
	FM_VEC(struct qos_level) levels;
	FM_VEC(struct qos_ranges) level_pkeys; /* [levels.n] */
	FM_VEC(struct qos_rule) rules, ulps;   /* ulps come behind the rules */
	uint32_t standard;		       /* default level, UINT32_MAX: none yet */
	uint32_t simple;		       /* that of qos-ulps, UINT32_MAX: none */
};

#endif
