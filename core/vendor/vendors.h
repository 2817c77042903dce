/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/vendor/vendors.h - programmers of adaptive routing (fmd/vendor.h): found, checked, called.
 *
 * Nothing that a programmer answers is believed: numbers are held to their limits, attributes to
 * those of vendors, so that no mistake of one writes what IBA defines.
 *
 * Cost: vendor_blocks() is the programmer's, O(LIDs + groups) for a switch.
 */
#ifndef CORE_VENDOR_VENDORS_H
#define CORE_VENDOR_VENDORS_H

#include <stddef.h>

#include <fmd/vendor.h>

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

/* All of fmd's own: of plugins/vendors/.libs beside a program that was not installed, and of the
 * folder "vendors" of the installation.  A file that is none is refused with its reason, never
 * fatal.  FM_E_RESOURCE, FM_E_SYSTEM. */
int vendors_load(struct vendors **out, struct fm_error *err);
void vendors_free(struct vendors *v); /* NULL is fine */

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
