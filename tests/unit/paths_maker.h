/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/paths_maker.h - files of paths (host/paths/paths.h), made row by row.
 *
 * Rows may come in any order: what is searched is sorted when the file is made.  Memory that
 * runs out ends the program.
 */
#ifndef TESTS_UNIT_PATHS_MAKER_H
#define TESTS_UNIT_PATHS_MAKER_H

#include "host/paths/paths.h"
#include "lib/vec.h"

typedef FM_VEC(uint8_t) maker_bytes;

struct paths_maker {
	struct blob_subnet subnet;
	maker_bytes section[PATHS_SECTIONS]; /* PATHS_SUBNET, PATHS_PORT: when it is made */
	struct blob_port *port;		     /* [65536] */
};

/* Each number is the one the row has got. */
void maker_init(struct paths_maker *m);
uint8_t maker_link(struct paths_maker *m, uint8_t mtu, uint32_t mbps);
/* The first is BLOB_CLASS_ASK, and there already. */
uint8_t maker_class(struct paths_maker *m, uint8_t mtu, uint32_t mbps, uint8_t sl);
uint16_t maker_pkset(struct paths_maker *m, const uint16_t *keys, uint16_t n);
void maker_sl(struct paths_maker *m, uint16_t pkey, uint8_t sl);
/* The port, and all LIDs that its LMC gives it. */
void maker_port(struct paths_maker *m, uint16_t lid, const struct blob_port *port);
void maker_name(struct paths_maker *m, const char *name, uint16_t lid);
void maker_addr(struct paths_maker *m, const uint8_t ip[16], uint64_t guid);
/* cls: a class for each LID up to subnet.lid_top. */
void maker_row(struct paths_maker *m, uint16_t leaf, const uint8_t *cls);
/* Sorted; section[] to write from, valid until the next call. */
void maker_done(struct paths_maker *m, struct paths_bytes section[PATHS_SECTIONS]);
void maker_fini(struct paths_maker *m);

#endif
