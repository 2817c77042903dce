/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/abi/plugin_file.h - what is wrong with the file of an engine.
 */
#ifndef CORE_ABI_PLUGIN_FILE_H
#define CORE_ABI_PLUGIN_FILE_H

#include <stddef.h>

#include "lib/error.h"

/* All of these: FM_E_CONFIG with path, reason and usual cause. */

/* Are these bytes a whole ELF image for this machine?  A file that was cut short is found
 * before the linker sees it: mapping it would end in SIGBUS. */
int plugin_file_check_image(const char *path, const char *bytes, size_t n, struct fm_error *err);

/* dlopen() of `file`, which sentences call path, with every symbol bound.  Its constructors
 * run. */
int plugin_file_open(const char *file, const char *path, void **handle, struct fm_error *err);
/* Can the dynamic linker load it? */
int plugin_file_check_linking(const char *path, struct fm_error *err);

/* Why it shows no BASE_LTX_fm_engine: renamed, or no engine. */
int plugin_file_no_engine(
    const char *path, const char *base, const char *bytes, size_t n, struct fm_error *err);

#endif
