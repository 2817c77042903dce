/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/conf/plugin_file.h - what is wrong with the file of an engine.
 */
#ifndef CORE_CONF_PLUGIN_FILE_H
#define CORE_CONF_PLUGIN_FILE_H

#include <stddef.h>

#include "lib/error.h"

/* Can the dynamic linker load it, with every symbol bound?  0, or FM_E_CONFIG
 * with path, reason and usual cause.  A file that was cut short is found
 * before the linker sees it: mapping it would end in SIGBUS. */
int plugin_file_check(const char *path, struct fm_error *err);

/* Why a loaded file shows no BASE_LTX_fm_engine: renamed, or no engine. */
int plugin_file_no_engine(const char *path, const char *base, struct fm_error *err);

#endif
