/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/overlay/rchain_config.h - the file behind a step's config: key, which has the
 * form of opensm.conf: "key value" a line.
 *
 * Keys that stand for an option of the step's engine are taken; what the file does
 * not set comes from fmd's own configuration.  All others, LMC, QoS and the engine
 * among them, are fmd's as for every chain, and are passed over.
 */
#ifndef CORE_OVERLAY_RCHAIN_CONFIG_H
#define CORE_OVERLAY_RCHAIN_CONFIG_H

#include "core/abi/options.h"

/* main: what fmd.conf says for the engine, or NULL.  A path that is not absolute is
 * one beside `beside`.  *out in mem; FM_E_CONFIG with "FILE:LINE: ..." */
int rchain_config_read(const char *path, const char *beside, const struct fm_engine *engine,
    const struct option_values *main, struct fm_arena *mem, const struct option_values **out,
    struct fm_error *err);

#endif
