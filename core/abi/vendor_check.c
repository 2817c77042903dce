/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A programmer of adaptive routing judged before anything of it is called, and what it answers
 * held to its limits, by the process that it runs in and by fmd.  O(1), and O(ids) for a
 * descriptor.
 */
#include "core/abi/plugin_check.h"

#include <inttypes.h>

#include "lib/error.h"

#define FIRST_ATTR 0xff00u /* of vendors, IBA 14.2.5 */

static bool
has_ids(const struct fm_vendor *v)
{
	const struct fm_vendor_id *id = v->ids;

	for (unsigned n = 0; id != NULL && n < PLUGIN_MOST_IDS; n++, id++)
		if (id->vendor_id == 0)
			return n > 0;
	return false;
}

int
vendor_check(const struct fm_vendor *v, const char *path, struct fm_error *err)
{
	if (v->magic != FM_VENDOR_MAGIC)
		return fm_fail(err, FM_E_CONFIG,
		    "%s: magic 0x%08" PRIx32
		    " is not 0x%08x: no programmer of adaptive routing, or built for another "
		    "machine; define it with FM_VENDOR() of fmd/vendor.h",
		    path, v->magic, FM_VENDOR_MAGIC);
	if (v->abi_major != FM_VENDOR_MAJOR || v->abi_minor > FM_VENDOR_MINOR)
		return fm_fail(err, FM_E_CONFIG,
		    "%s: vendor ABI %u.%u, this fmd has %d.%d: rebuild the programmer against this "
		    "fmd's fmd/vendor.h",
		    path, v->abi_major, v->abi_minor, FM_VENDOR_MAJOR, FM_VENDOR_MINOR);
	if (v->size != sizeof(*v))
		return fm_fail(err, FM_E_CONFIG,
		    "%s: descriptor of %" PRIu32
		    " bytes, vendor ABI %u.%u has %zu: built against a "
		    "draft of vendor.h, or .size was set by hand",
		    path, v->size, v->abi_major, v->abi_minor, sizeof(*v));
	if (v->name == NULL || v->summary == NULL)
		return fm_fail(err, FM_E_CONFIG, "%s: .name or .summary is missing", path);
	if (!has_ids(v))
		return fm_fail(err, FM_E_CONFIG,
		    "%s: .ids names no switch, or does not end: a row with vendor_id 0 ends it",
		    path);
	if (v->info_attr < FIRST_ATTR)
		return fm_fail(err, FM_E_CONFIG,
		    "%s: .info_attr 0x%04x is no attribute of a vendor: these are 0x%04x to 0xffff",
		    path, v->info_attr, FIRST_ATTR);
	if (v->read_info == NULL || v->turn == NULL || v->n_blocks == NULL || v->block == NULL)
		return fm_fail(err, FM_E_CONFIG,
		    "%s: .read_info, .turn, .n_blocks and .block are all required", path);
	return 0;
}

int
vendor_check_count(const struct fm_vendor *v, int32_t n, struct fm_error *err)
{
	if (n >= 1 && (uint32_t)n <= FM_VENDOR_BLOCKS)
		return 0;
	return fm_fail(err, FM_E_CONFIG,
	    "programmer %s gives %" PRId32 " blocks, 1 to %u are allowed", v->name, n,
	    FM_VENDOR_BLOCKS);
}

int
vendor_check_block(const struct fm_vendor *v, uint32_t i, int rc, const struct fm_vendor_smp *block,
    struct fm_error *err)
{
	if (rc == 0 && block->attr >= FIRST_ATTR && block->attr != v->info_attr)
		return 0;
	return fm_fail(err, FM_E_CONFIG,
	    "programmer %s gives no block %" PRIu32
	    ", or one of attribute 0x%04x: those of vendors but its info attribute are allowed",
	    v->name, i, block->attr);
}
