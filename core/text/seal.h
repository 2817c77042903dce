/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/text/seal.h - files that are one piece of bytes, kept over a restart.
 *
 * Written beside its place and renamed: a crash leaves the old one or none.  What such a file
 * says is looked at only when its kind, length and sum are right.
 *
 *	head	struct fm_seal, in the byte order of the machine
 *	rest	n_bytes with the head
 */
#ifndef FM_TEXT_SEAL_H
#define FM_TEXT_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"

#define FM_SEAL_MAGIC_BYTES 8

struct fm_seal {
	char magic[FM_SEAL_MAGIC_BYTES]; /* kind and version */
	uint64_t sum;			 /* of all bytes behind this field */
	uint64_t n_bytes;
};

/* bytes[n] begin with a head: fill it in. */
void fm_seal_put(uint8_t *bytes, size_t n, const char *magic);
/* bytes[n], sealed, to a file of mode 0640.  what: of the fault points.  FM_E_SYSTEM. */
int fm_seal_write(
    const char *path, const char *what, const uint8_t *bytes, size_t n, struct fm_error *err);
/* The whole file, malloced, at least n_head bytes; NULL: there is none, or (with a warning of
 * what, "kept tables", say) it is not good and has been set aside. */
uint8_t *fm_seal_read(
    const char *path, const char *what, const char *magic, size_t n_head, size_t *n);
/* It is sealed, and does not hold what it says: with a warning, to PATH.bad. */
void fm_seal_set_aside(const char *path, const char *what, const char *why);

#endif
