/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host/paths/paths.h - the file of a host in which the paths from its ports are looked up.
 *
 * The agent writes a new file beside the old one and renames it; so a file never changes.  Who
 * reads it takes a copy, which no other process can spoil or cut short afterwards.  The agent
 * sets the time of the file whenever its relay has told that nothing is newer.
 *
 *	header		PATHS_HEADER_BYTES: magic, size, term, epoch; offset, bytes of each section
 *	sections	enum paths_section, each at a multiple of 8
 *
 * The sections that core/blobs/blobs.h knows are its blobs, those of all blocks one behind the
 * other.  Sections that are searched are ascending.  Every number is checked where it is used: a
 * file of an enemy leads to wrong answers at the worst, as its writer could give them anyhow.
 */
#ifndef HOST_PATHS_PATHS_H
#define HOST_PATHS_PATHS_H

#include "core/wire/sa_wire.h"
#include "core/blobs/blobs.h"
#include "lib/error.h"

#define PATHS_FILE "/run/fmd-agent/paths" /* where nothing else is said */
#define PATHS_MAGIC "fmdpath1"
#define PATHS_HEADER_BYTES 256
#define PATHS_MOST_BYTES (64u << 20)

enum paths_section {
	PATHS_SUBNET,
	PATHS_LINK,
	PATHS_CLASS,
	PATHS_PKSET,
	PATHS_PKSL,
	PATHS_ADDR,
	PATHS_PORT, /* [lid_top + 1] */
	PATHS_OWN, /* 8 bytes each: number of a leaf (16 bits), 0 (16), its row in PATHS_ROW (32) */
	PATHS_ROW, /* rows of lid_top + 1 bytes, one behind the other */
	PATHS_GUID,    /* base LIDs (16 bits each) ascending by the GUIDs of their ports */
	PATHS_NAME_AT, /* 8 bytes each: offset in PATHS_NAME (32), LID (16), 0 (16); by name, LID */
	PATHS_NAME,    /* length, then so many bytes, each */
	PATHS_REG,     /* what ports have registered, BLOB_REG_BYTES each, ascending */
	PATHS_ALIAS,   /* 16 bytes each, ascending: alias GUID (64), base LID of its port (16), 0 */
	PATHS_SECTIONS
};

/* ------------------------------------------------------------------ writing */

struct paths_bytes {
	const void *bytes;
	size_t n;
};
struct paths_epoch {
	uint64_t term, epoch;
};
/* A file at path, whole or not at all (written beside it, then renamed).  FM_E_SYSTEM. */
int paths_write(const char *path, struct paths_epoch at,
    const struct paths_bytes section[PATHS_SECTIONS], struct fm_error *err);

/* ------------------------------------------------------------------ reading */

struct paths; /* one file, as read; any thread */

/* What is at path, NULL in *out if there is none.  FM_E_SYSTEM, FM_E_TOPOLOGY: it is no such
 * file. */
int paths_read(const char *path, struct paths **out, struct fm_error *err);
/* The same of the n bytes of one, from malloc(); they are the callee's, also when it fails. */
int paths_take(void *bytes, size_t n, struct paths **out, struct fm_error *err);
void paths_free(struct paths *p); /* NULL is fine */
struct paths_epoch paths_epoch(const struct paths *p);
const struct blob_subnet *paths_subnet(const struct paths *p);

/* Base LIDs, 0: unknown, or gone.  O(log n).  A GUID: of a port, or an alias. */
uint16_t paths_lid_of_guid(const struct paths *p, uint64_t guid);
uint16_t paths_lid_of_gid(const struct paths *p, struct sa_gid gid); /* of this subnet */
/* Up to the first n base LIDs of the ports of a name (host, or whole description's first word);
 * how many there are. */
unsigned paths_lids_of_name(const struct paths *p, const char *name, uint16_t *lid, unsigned n);
/* Of the GID that goes with an address, 0: unknown.  Its port may be gone. */
uint64_t paths_guid_of_ip(const struct paths *p, const uint8_t ip[16]);
uint16_t paths_lid_of_ip(const struct paths *p, const uint8_t ip[16]);
/* What ports that are there have registered, in the order of the file, from *at on, which is 0 at
 * first; false: nothing more. */
bool paths_next_reg(const struct paths *p, size_t *at, struct blob_reg *r);
/* The port of a LID; false: nobody's. */
bool paths_port(const struct paths *p, uint16_t lid, struct blob_port *port);

/* Does the file tell paths from this LID? */
bool paths_is_source(const struct paths *p, uint16_t lid);

/* What a PathRecord query asks, as far as a file can tell; LIDs are any of their ports'. */
struct paths_query {
	uint16_t slid, dlid;
	uint16_t pkey; /* 0: any that the two share */
};
/* The record that the SA would give to a Get of it.  False: only the SA can tell.  O(1). */
bool paths_record(const struct paths *p, const struct paths_query *q, struct sa_path_record *r);

#endif
