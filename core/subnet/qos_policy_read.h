/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/subnet/qos_policy_read.h - reading a policy file; shared by
 * qos_policy_read.c and, for the section of one-line rules, qos_policy_ulps.c.
 */
#ifndef CORE_SUBNET_QOS_POLICY_READ_H
#define CORE_SUBNET_QOS_POLICY_READ_H

#include "core/subnet/qos_policy_internal.h"

struct named_group {
	const char *name;
	unsigned line;
	uint32_t rule;
	bool is_source;
};

struct reader {
	const char *path;
	unsigned line;
	const struct partitions *parts;
	struct qos_policy *p;
	struct fm_error *err;
	const struct section *section;
	bool in_block;
	unsigned block_line;
	FM_VEC(struct named_group) wanted; /* groups that rules name */
};

struct entry {
	const char *word;
	int (*take)(struct reader *r, char *value);
};

struct section {
	const char *word, *block; /* block NULL: lines of their own kind */
	const struct entry *entries;
	int (*begin)(struct reader *r);
	int (*end)(struct reader *r);
	int (*take_line)(struct reader *r, char *line);
};

/* FM_E_CONFIG: "FILE:LINE: sentence" of the line being read. */
int policy_bad(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int policy_no_memory(struct reader *r);
/* A number 0..max. */
int policy_byte(struct reader *r, const char *text, uint64_t max, uint8_t *out);
/* "7-9, 11": each of them masked, added to out. */
int policy_ranges(
    struct reader *r, char *text, uint64_t max, uint64_t mask, struct qos_ranges *out);
/* A copy of the value, once in a block. */
int policy_keep_text(struct reader *r, const char *value, const char **out);
int policy_take_nothing(struct reader *r, char *value);
/* Blocks of port-groups. */
int policy_begin_group(struct reader *r);
int policy_end_group(struct reader *r);
extern const struct entry policy_group_entries[];
/* By name; UINT32_MAX: none. */
uint32_t policy_find_group(const struct qos_policy *p, const char *name);
/* A line of qos-ulps. */
int policy_take_ulp(struct reader *r, char *line);

#endif
