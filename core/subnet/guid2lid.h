/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/subnet/guid2lid.h - the LIDs and M_Keys that OpenSM remembers, read; LIDs written, too.
 *
 * OpenSM keeps /var/cache/opensm/guid2lid and guid2mkey: a line for each port, an empty
 * line behind each:
 *
 *	0xGUID 0xMINLID 0xMAXLID
 *	0xGUID 0xMKEY
 */
#ifndef CORE_SUBNET_GUID2LID_H
#define CORE_SUBNET_GUID2LID_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <fmd/error.h>

#include "core/text/mistakes.h"
#include "lib/vec.h"

struct guid2lid_entry {
	uint64_t guid; /* of the port */
	uint16_t lid;  /* base: LIDs lid .. lid + 2^lmc - 1 */
	uint8_t lmc;
};

struct guid2lid {
	FM_VEC(struct guid2lid_entry) entries; /* ascending GUID */
};

/* All or nothing: FM_E_CONFIG with file and line for a line that is not of
 * the format, a range that no LMC gives, a GUID or a LID given twice; where `all`
 * gathers them, such lines are noted and left out.  O(n log n + 48K). */
int guid2lid_parse(const char *name, const char *text, size_t n_bytes, struct guid2lid *out,
    struct mistakes *all, struct fm_error *err);
void guid2lid_fini(struct guid2lid *g);
/* A line of such a file, as OpenSM writes it. */
void guid2lid_write(const struct guid2lid_entry *e, FILE *out);
/* The entry of a port, or NULL.  O(log n). */
const struct guid2lid_entry *guid2lid_find(const struct guid2lid *g, uint64_t guid);

struct guid2mkey_entry {
	uint64_t guid; /* of the port */
	uint64_t m_key;
};

#define GUID2MKEY_KINDS 8
struct guid2mkey {
	FM_VEC(struct guid2mkey_entry) entries; /* ascending GUID */
	uint64_t kind[GUID2MKEY_KINDS];		/* [n_kinds] the first keys that differ */
	unsigned n_kinds;
};

/* All or nothing, as guid2lid_parse(); ports whose key is 0 are left out.  O(n log n). */
int guid2mkey_parse(const char *name, const char *text, size_t n_bytes, struct guid2mkey *out,
    struct mistakes *all, struct fm_error *err);
void guid2mkey_fini(struct guid2mkey *g);
/* The key of a port, 0: not known.  O(log n). */
uint64_t guid2mkey_find(const struct guid2mkey *g, uint64_t guid);

#endif
