/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/abi/plugin_check.h - is the descriptor of an engine one that can be called?
 */
#ifndef CORE_ABI_PLUGIN_CHECK_H
#define CORE_ABI_PLUGIN_CHECK_H

#include <fmd/engine.h>

/* Is this descriptor one we can call?  0, or FM_E_CONFIG with the sentence. */
int engine_check(const struct fm_engine *engine, const char *path, struct fm_error *err);
/* The same of a copy, whose option rows do end. */
int engine_check_copy(const struct fm_engine *engine, const char *path, struct fm_error *err);
/* Its head alone, of which nothing behind .size has been read: magic, ABI, size. */
int engine_check_version(const struct fm_engine *engine, const char *path, struct fm_error *err);

#endif
