/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/subnet/qos_policy_read.h - reading a policy file; shared by
 * qos_policy_read.c, for the section of one-line rules qos_policy_ulps.c, for port-groups
 * qos_policy_groups.c, and for values qos_policy_values.c.
 */
#ifndef CORE_SUBNET_QOS_POLICY_READ_H
#define CORE_SUBNET_QOS_POLICY_READ_H

#include "core/subnet/qos_policy_internal.h"
#include "core/text/blocks.h"

struct policy_named_group {
	const char *name;
	unsigned line;
	uint32_t rule;
	bool is_source;
};

struct policy_reader {
	struct blocks text;
	const struct partitions *parts;
	struct qos_policy *p;
	FM_VEC(struct policy_named_group) wanted; /* groups that rules name */
};

struct policy_entry {
	const char *word;
	int (*take)(struct policy_reader *r, char *value);
};

struct policy_section {
	const char *word, *block;	    /* block NULL: lines of their own kind */
	const struct policy_entry *entries; /* up to one without a word */
	int (*begin)(struct policy_reader *r);
	int (*end)(struct policy_reader *r);
	int (*take_line)(struct policy_reader *r, char *line);
};

/* A number 0..max. */
int policy_byte(struct policy_reader *r, const char *text, uint64_t max, uint8_t *out);
/* "7-9, 11": each of them masked, added to out. */
int policy_ranges(
    struct policy_reader *r, char *text, uint64_t max, uint64_t mask, struct qos_ranges *out);
/* A copy of the value, once in a block. */
int policy_keep_text(struct policy_reader *r, const char *value, const char **out);
int policy_take_nothing(struct policy_reader *r, char *value);
/* Blocks of port-groups. */
int policy_begin_group(struct policy_reader *r);
int policy_end_group(struct policy_reader *r);
extern const struct policy_entry policy_group_entries[];
/* By name; UINT32_MAX: none. */
uint32_t policy_find_group(const struct qos_policy *p, const char *name);
/* A line of qos-ulps. */
int policy_take_ulp(struct policy_reader *r, char *line);

#endif
