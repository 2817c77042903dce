/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/vendor/vendors.h - programmers of adaptive routing (fmd/vendor.h): found, checked, called.
 *
 * Nothing that a programmer answers is believed: numbers are held to their limits, attributes to
 * those of vendors, so that no mistake of one writes what IBA defines.
 *
 * Cost: vendor_blocks() is the programmer's, O(LIDs + groups) for a switch; of one in a process
 * of its own what core/apart/programmer.h says, and at most its time limits.
 */
#ifndef CORE_VENDOR_VENDORS_H
#define CORE_VENDOR_VENDORS_H

#include <stddef.h>

#include <fmd/vendor.h>

#include "core/apart/apart.h"

struct vendor_refusal {
	const char *path;
	char reason[512]; /* a sentence */
};

struct vendors {
	const struct fm_vendor *const *vendor; /* [n_vendors] sorted by name */
	size_t n_vendors;
	const struct vendor_refusal *refused; /* [n_refused] in the order of loading */
	size_t n_refused;
};

/* Of the folder "vendors" of each plugin directory, as engine_set_load() finds these, and of the
 * build tree's plugins/vendors/.libs; the same rules of owner and mode, and the first of a name
 * wins.  Those that are to run apart are loaded by children (core/apart/programmer.h), which die
 * with the calling thread.  A file or folder that is none is refused with its reason, never fatal.
 * FM_E_RESOURCE; FM_E_CONFIG: a plugin directory that was asked for is not there. */
int vendors_load(struct vendors **out, const char *const *dirs, const struct apart_settings *apart,
    struct fm_error *err);
void vendors_free(struct vendors *v); /* NULL is fine */
/* Those that have failed too often are asked once more.  v may be NULL. */
void vendors_ask_again(const struct vendors *v);

/* Whose switch it is by NodeInfo; NULL: nobody's.  v may be NULL. */
const struct fm_vendor *vendors_find(
    const struct vendors *v, uint32_t vendor_id, uint16_t device_id);

/* What the switch says of itself; false: it is nothing that the programmer knows. */
bool vendor_read_info(
    const struct fm_vendor *v, const uint8_t answer[FM_VENDOR_BYTES], struct fm_vendor_info *out);
/* The Set that turns it on in a mode, or (NULL) off; false: the programmer has none. */
bool vendor_turn(const struct fm_vendor *v, const uint8_t answer[FM_VENDOR_BYTES],
    const struct fm_vendor_mode *mode, uint8_t data[FM_VENDOR_BYTES]);
/* The blocks that hold the rows, malloced; *n of them.  FM_E_CONFIG: the programmer gives none, or
 * such as may not be written; FM_E_RESOURCE. */
int vendor_blocks(const struct fm_vendor *v, const struct fm_vendor_rows *rows,
    struct fm_vendor_smp **out, uint32_t *n, struct fm_error *err);
/* Does an answer hold what the block says? */
bool vendor_holds(const struct fm_vendor_smp *block, const uint8_t data[FM_VENDOR_BYTES]);

#endif
