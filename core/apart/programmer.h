/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/apart/programmer.h - a programmer of adaptive routing (fmd/vendor.h) in its own process.
 *
 * The same child as an engine's (apart.h), behind the same sandbox, and as little of what it says
 * is believed: a reply is copied before it is looked at, blocks too.  Its functions are pure, so
 * one child answers many questions.  It is killed, and the next one started, when it does not
 * reply in time, ends, or replies what may not be; each such failure is a line of the log, at most
 * one in 10 s.  After three in a row it is not asked any more, which is said once, till
 * programmer_ask_again().
 *
 * Questions come from fmd's loop, which waits.  One thread.
 *
 * Cost: two packets for read_info() and turn(), 0.006 ms; for blocks also a copy of the rows and of
 * the blocks, which the child maps for each question: 0.17 ms (0.02 in this process) with 12,961
 * LIDs and 64 groups, 0.44 (0.18) with 49,152 and 4,096 (tests/bench/programmer_time).  10 MB for
 * the blocks.
 */
#ifndef CORE_APART_PROGRAMMER_H
#define CORE_APART_PROGRAMMER_H

#include <stdbool.h>

#include <fmd/vendor.h>

#include "core/apart/apart.h"

#define PROGRAMMER_REPLY_MS 2000   /* read_info(), turn() */
#define PROGRAMMER_BLOCKS_MS 10000 /* all blocks of a switch */
#define PROGRAMMER_FAILURES 3	   /* in a row */

struct programmer; /* its file, and the child that waits */

/* Start a child that loads `image`, sealed memory with the programmer `name`; it is not waited
 * for.  path is for sentences.  Both are copied.  FM_E_SYSTEM, FM_E_RESOURCE. */
int programmer_new(const struct apart_settings *set, const char *name, const char *path, int image,
    struct programmer **out, struct fm_error *err);
void programmer_free(struct programmer *p); /* NULL is fine */
/* What it is, as the child says, checked; waits for set->load_ms since programmer_new(), at most.
 * The descriptor lives as long as p does, and its functions are not to be called.  FM_E_CONFIG. */
int programmer_describe(
    struct programmer *p, const struct fm_vendor **vendor, struct fm_error *err);
/* NULL: it is called in this process. */
struct programmer *programmer_of(const struct fm_vendor *vendor);

/* As fmd/vendor.h has them; false: it knows no answer, or has failed. */
bool programmer_read_info(
    struct programmer *p, const uint8_t answer[FM_VENDOR_BYTES], struct fm_vendor_info *out);
bool programmer_turn(struct programmer *p, const uint8_t answer[FM_VENDOR_BYTES],
    const struct fm_vendor_mode *mode, uint8_t data[FM_VENDOR_BYTES]);
/* All blocks, checked, malloced; *n of them.  FM_E_CONFIG with the sentence, FM_E_RESOURCE. */
int programmer_blocks(struct programmer *p, const struct fm_vendor_rows *rows,
    struct fm_vendor_smp **out, uint32_t *n, struct fm_error *err);
/* Failures of before are forgotten. */
void programmer_ask_again(struct programmer *p);

#endif
