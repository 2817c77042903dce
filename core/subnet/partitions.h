/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/subnet/partitions.h - who may talk to whom: OpenSM's partitions.conf.
 *
 *	[NAME][=PKEY][,FLAG]... : [MEMBER[=full|limited|both]],... [mgid=...] ;
 *
 * A struct partitions is what such a file says, immutable and reference
 * counted: configuration, sweep, SA and multicast share it.  It knows ports by
 * what a rule can name (struct part_port) and gives each its P_Keys.
 */
#ifndef CORE_SUBNET_PARTITIONS_H
#define CORE_SUBNET_PARTITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/wire/pkeys.h"
#include "lib/error.h"

/* An end-port, as far as rules can tell ports apart. */
enum part_kind { PART_CA, PART_SWITCH, PART_ROUTER };
struct part_port {
	uint64_t guid; /* port GUID; a switch: of port 0 */
	enum part_kind kind;
	bool self; /* the SM's own */
	/* P_Keys that it has beside those of rules (struct part_more), by rising base; [n_more] */
	const uint16_t *more;
	uint32_t n_more;
};

/* A multicast group that is to be there from the start: the broadcast group of an
 * IPoIB partition, or one that the file names.  Codes are those of MCMemberRecord
 * (IBA 15.2.5.17); whoever joins must match them. */
struct part_group {
	uint8_t mgid[16];
	uint16_t pkey; /* with PKEY_FULL */
	uint32_t qkey, flow_label;
	uint8_t mtu, rate, sl, tclass, scope;
	bool broadcast;	       /* of IPoIB (RFC 4391 section 5) */
	const char *partition; /* its name, "" = none; lives as long as the partitions */
	unsigned line;	       /* 0: of the built-in configuration */
};

enum part_member { PART_LIMITED = 1, PART_FULL = 2, PART_BOTH = 3 };

struct partition {
	const char *name;  /* "" = none */
	uint16_t pkey;	   /* 15 bits */
	uint8_t sl;	   /* for paths within it */
	uint8_t mtu, rate; /* the most for paths and groups within it: codes, 0: any */
	bool sl_is_firm;   /* paths within it have no other, whatever is asked for */
	bool ipoib;
	bool index0; /* its key is to stand at index 0 of tables (indx0) */
	unsigned line;
};

/* A partition that stands in no such file.  Ports become members of it one by one, by
 * part_port.more. */
struct part_more {
	const char *name;
	uint16_t pkey; /* 0: the next that nobody has */
	bool sl_is_firm;
	uint8_t sl, mtu, rate; /* as in struct partition */
	bool ipoib;
	const uint8_t (*mgids)[16]; /* [n_mgids] */
	size_t n_mgids;
	uint64_t mark; /* stands for its members */
	const char *file;
	unsigned line;
};

/* What the file does not say. */
struct part_options {
	const struct part_more *more; /* [n_more] behind those of the file */
	size_t n_more;
	bool both_keys; /* allow_both_pkeys: a port may hold the full and the limited key */
	bool qos;	/* without QoS every SL is 0 */
};

struct mistakes;
struct partitions;

/* Read a partitions.conf; path is for messages.  FM_E_CONFIG with "FILE:LINE: ..." and
 * what would be right; *out gets one reference and is written only on success.  Where `all`
 * gathers mistakes, they are noted and left out. */
int partitions_parse(const char *path, const char *bytes, size_t n_bytes,
    const struct part_options *o, const struct partitions **out, struct mistakes *all,
    struct fm_error *err);
/* What holds without a file: everybody is full member of the default partition, or limited member
 * where o->more has partitions. */
int partitions_default(const struct part_options *o, const struct partitions **out,
    struct mistakes *all, struct fm_error *err);
const struct partitions *partitions_get(const struct partitions *p);
void partitions_put(const struct partitions *p); /* NULL is fine */

/* By rising P_Key; the default partition is always there. */
const struct partition *partitions_list(const struct partitions *p, size_t *n);
/* By base key; NULL where there is none. */
const struct partition *partitions_find(const struct partitions *p, uint16_t pkey);
const struct partition *partitions_named(const struct partitions *p, const char *name);
/* GUID i that a rule names, by rising GUID, with its partition and line; false behind the last. */
bool partitions_named_port(
    const struct partitions *p, size_t i, uint64_t *guid, uint16_t *pkey, unsigned *line);
/* Groups to be made, in the order written; broadcast groups first. */
const struct part_group *partitions_groups(const struct partitions *p, size_t *n);
/* Another SL for a partition and its broadcast groups; before p is shared with anyone. */
void partitions_set_sl(const struct partitions *p, uint16_t pkey, uint8_t sl);
/* Changes when what the file says does. */
uint64_t partitions_mark(const struct partitions *p);
/* Nothing is said of partitions: all may talk to all. */
bool partitions_open(const struct partitions *p);

/* Does one limit its paths? */
bool partitions_limit_paths(const struct partitions *p);

/* The keys of a port by rising base, full before limited; at most `room` are
 * written, the number is returned: 2 per partition at most.
 * O(keys + log of the GUIDs in the file). */
size_t partitions_keys(
    const struct partitions *p, const struct part_port *port, uint16_t *keys, size_t room);

/* The keys of all ports of a fabric at one time: what the sweep has put into
 * their tables.  Immutable, reference counted; equal lists are one. */
struct port_pkeys;
struct port_pkeys *port_pkeys_get(struct port_pkeys *p); /* NULL is fine */
void port_pkeys_put(struct port_pkeys *p);		 /* NULL is fine */
/* Of a port GUID; n = 0 when it is not known.  O(1). */
struct pkey_list port_pkeys_find(const struct port_pkeys *p, uint64_t guid);
/* May these two ports talk?  O(keys). */
bool port_pkeys_share(const struct port_pkeys *p, uint64_t guid_a, uint64_t guid_b);

struct port_pkeys_builder;
struct port_pkeys_builder *port_pkeys_begin(const struct partitions *p); /* NULL: no memory */
/* *list is good until the result is put; false when memory is out. */
bool port_pkeys_add(
    struct port_pkeys_builder *b, const struct part_port *port, struct pkey_list *list);
/* Ends the builder. */
struct port_pkeys *port_pkeys_end(struct port_pkeys_builder *b);

#endif
