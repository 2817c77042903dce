/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/subnet/partitions_internal.h - partitions in the making; shared by
 * partitions.c (membership, keys) and partitions_read.c (the file).
 */
#ifndef CORE_SUBNET_PARTITIONS_INTERNAL_H
#define CORE_SUBNET_PARTITIONS_INTERNAL_H

#include <stdatomic.h>

#include "core/subnet/partitions.h"
#include "lib/arena.h"
#include "lib/vec.h"

/* Ports that a word names. */
enum part_word {
	WORD_ALL,
	WORD_ALL_CAS,
	WORD_ALL_SWITCHES,
	WORD_ALL_ROUTERS,
	WORD_ALL_VCAS, /* virtual ports: there are none */
	WORD_SELF,
	N_PART_WORDS
};

/* What a rule says, and which rule: the later one counts.  seq 0: no rule. */
struct part_rule {
	uint32_t seq;
	uint8_t member; /* enum part_member, bits */
	unsigned line;
};

/* A partition and its rules by word. */
struct part_def {
	struct partition part;
	struct part_rule word[N_PART_WORDS];
	bool generated;	       /* nobody wrote its P_Key */
	unsigned file_line;    /* of the first head in the file that means it; 0: none does */
	uint64_t members_mark; /* part_more.mark, 0: it has none */
};

/* A rule by GUID; sorted by guid, then partition, one each in the end. */
struct part_guid_rule {
	uint64_t guid;
	uint32_t def; /* index of its part_def */
	struct part_rule rule;
};

struct partitions {
	atomic_uint refs;
	struct fm_arena mem; /* names and arrays */
	uint8_t others;	     /* enum part_member in the default partition of whom no rule names */
	uint64_t mark;
	FM_VEC(struct part_def) defs;	     /* by rising P_Key once sealed */
	FM_VEC(struct part_guid_rule) guids; /* sorted once sealed */
	FM_VEC(struct part_group) groups;
	struct partition *list; /* [defs.n] */
};

/* Empty but for the default partition; NULL when memory is out. */
struct partitions *partitions_new(uint8_t others);
/* Sort, join and number: from now on immutable.  False when memory is out. */
bool partitions_seal(struct partitions *p);

#endif
