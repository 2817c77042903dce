/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/overlay/rchain_groups.h - port groups: reading, naming, membership.
 * Part of rchain.h.
 */
#ifndef CORE_OVERLAY_RCHAIN_GROUPS_H
#define CORE_OVERLAY_RCHAIN_GROUPS_H

#include "core/overlay/rchain.h"
#include "core/text/mistakes.h"
#include "core/text/regexp.h"
#include "lib/error.h"

enum rchain_rule {
	RULE_ALL,
	RULE_ALL_SWITCHES,
	RULE_ALL_CAS,
	RULE_GUIDS,
	RULE_RANGE,
	RULE_NAMES,
	RULE_REGEXP,
	RULE_UNION,
	RULE_SUBTRACT
};

/* A policy file being read. */
struct rchain_reading {
	struct rchain *rc;
	const char *path;
	struct mistakes *all; /* NULL: the first one ends it */
	bool lacks;	      /* a file before has mistakes: what it names may be missing */
	struct fm_error *err;
};

static inline int
rchain_no_memory(struct fm_error *err)
{
	return fm_fail(err, FM_E_RESOURCE, "out of memory for routing chains");
}

/* "0x281@1/3-5": a switch, a port, or those ports of a host */
struct rchain_guid {
	uint64_t guid;
	bool some; /* ports are given */
	uint64_t ports[4];
};

/* "hostname=h; port=p; hca_idx=i" */
struct rchain_name {
	const char *host;
	uint32_t port, hca; /* 0: any */
};

/* A rule with its name.  A port-group of several rules is several of these, linked; by
 * name the first is found. */
struct rchain_group {
	const char *name;
	unsigned line; /* 0: predefined */
	unsigned rule_line;
	enum rchain_rule rule;
	FM_VEC(struct rchain_guid) guids; /* sorted; RANGE: low and high */
	FM_VEC(struct rchain_name) names;
	struct regexp *regexp;	   /* NULL: another rule */
	uint32_t port;		   /* of a regexp; 0: any */
	const char *part_names[2]; /* UNION, SUBTRACT: groups by name */
	uint32_t part[2];	   /* and by number */
	uint32_t also;		   /* number of the group of its next rule, or FM_NONE */
	uint32_t n_levels;	   /* of groups below, while they are checked */
	uint8_t mark;		   /* while cycles are looked for */
};

static inline bool
rchain_has_parts(const struct rchain_group *g)
{
	return g->rule == RULE_UNION || g->rule == RULE_SUBTRACT;
}

int rchain_read_groups(
    struct rchain *rc, const struct fm_file *file, struct mistakes *all, struct fm_error *err);
/* A group's number, or FM_NONE. */
uint32_t rchain_find_group(const struct rchain *rc, const char *name);
int rchain_group_members(const struct rchain *rc, uint32_t group, const struct snapshot *snap,
    uint64_t *sw, uint64_t *end, struct fm_error *err);

#endif
