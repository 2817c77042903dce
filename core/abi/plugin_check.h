/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/abi/plugin_check.h - is a file a plugin, and its descriptor one that can be called?
 */
#ifndef CORE_ABI_PLUGIN_CHECK_H
#define CORE_ABI_PLUGIN_CHECK_H

#include <fmd/engine.h>
#include <fmd/vendor.h>

/* Is this descriptor one we can call?  0, or FM_E_CONFIG with the sentence. */
int engine_check(const struct fm_engine *engine, const char *path, struct fm_error *err);
/* The same of a copy, whose option rows do end. */
int engine_check_copy(const struct fm_engine *engine, const char *path, struct fm_error *err);

#define PLUGIN_MOST_IDS 1024u /* of a programmer, with the row that ends them */
/* The same of a programmer of adaptive routing, and of what it answers: vendor_check.c. */
int vendor_check(const struct fm_vendor *vendor, const char *path, struct fm_error *err);
/* So many blocks? */
int vendor_check_count(const struct fm_vendor *vendor, int32_t n, struct fm_error *err);
/* Block i as block() gave it with rc. */
int vendor_check_block(const struct fm_vendor *vendor, uint32_t i, int rc,
    const struct fm_vendor_smp *block, struct fm_error *err);

/* What a file can be. */
struct plugin_kind {
	const char *what, *abi, *macro; /* for sentences */
	const char *suffix;		/* of the symbol, behind the file's name */
	int major, minor;
};
extern const struct plugin_kind plugin_engine, plugin_vendor;

/* The file.  All of these: FM_E_CONFIG with path, reason and usual cause (plugin_file.c). */

/* Are these bytes a whole ELF image for this machine, and does it have the name
 * BASE_LTX_fm_engine, or that of another kind?  A file that was cut short is found before the
 * linker sees it: mapping it would end in SIGBUS.  O(n). */
int plugin_file_check(const struct plugin_kind *kind, const char *path, const char *base,
    const char *bytes, size_t n, struct fm_error *err);

/* dlopen() of `file`, which sentences call path, with every symbol bound.  Its constructors
 * run. */
int plugin_file_open(const struct plugin_kind *kind, const char *file, const char *path,
    void **handle, struct fm_error *err);
/* Can the dynamic linker load it? */
int plugin_file_check_linking(const char *path, struct fm_error *err);

/* Traits (enum fm_traits) in words. */
struct engine_trait {
	uint32_t bit; /* 0: the end */
	const char *name, *help;
};
/* All that this fmd knows, bit 0 at the end. */
const struct engine_trait *engine_traits(void);
/* Their bits together.  Another may be a promise that is needed: one that is added raises the
 * minor (doc/abi.md). */
uint32_t engine_known_traits(void);

#endif
