/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/subnet/partitions_read.h - reading a partitions.conf; shared by
 * partitions_read.c and, for multicast groups, partitions_groups.c.
 */
#ifndef CORE_SUBNET_PARTITIONS_READ_H
#define CORE_SUBNET_PARTITIONS_READ_H

#include "core/subnet/partitions_internal.h"
#include "core/text/readfile.h"
#include "lib/hash.h"

struct part_group_flags {
	uint8_t mtu, rate, sl, tclass;
	uint16_t scopes; /* bitset */
	uint32_t qkey, flow_label;
	bool has_sl;
};

struct part_reader {
	struct conf_place at;
	const struct part_options *options;
	struct partitions *p;
	uint32_t seq;			       /* of the last rule */
	uint16_t def_of_key[PKEY_DEFAULT + 1]; /* number of a definition + 1; 0: none */
	uint16_t free_key;		       /* all below are given */
	struct fm_hash names, groups;	       /* of definitions and groups, the first of each */
	/* the definition that is open */
	bool open;
	bool skips; /* its head was wrong: up to its end */
	unsigned open_line;
	uint32_t def;
	struct part_group_flags flags;
	bool ipoib, index0;
	uint8_t member; /* of ports without a word of their own */
};

/* "name = value" cut in place: value NULL when there is none. */
char *part_split_value(char *word, char **value);
/* Is it the word, or the beginning of it? */
bool part_is_short_for(const char *text, const char *word);
int part_read_number(struct part_reader *r, const char *key, const char *value, uint64_t min,
    uint64_t max, uint64_t *out);

/* 1: it was one of a group's flags; 0: it was not; else a kind. */
int part_read_group_flag(
    struct part_reader *r, struct part_group_flags *f, const char *name, const char *value);
/* The broadcast group of the open definition. */
int part_add_broadcast(struct part_reader *r);
/* "mgid=GID,flag=value,...": the rest of the line is the group's. */
int part_read_group(struct part_reader *r, const char *gid, char *rest);

#endif
