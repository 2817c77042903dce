/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/conf/options.h - option rows (struct fm_option) to values.
 *
 * Everything an option has follows from its row: the parser, the range check
 * and its message, the help, the commented example, the man page.
 */
#ifndef CORE_CONF_OPTIONS_H
#define CORE_CONF_OPTIONS_H

#include <stdio.h>

#include <fmd/engine.h>

#include "lib/arena.h"

struct snapshot;

/* The options of one engine instance as the administrator wrote them, checked
 * for type and range; opaque, owned by the configuration. */
struct option_values;

/* The struct that probe() and route() get: option_size bytes in mem, defaults
 * filled in, node sets and tables resolved against fab.  values NULL = all
 * defaults.  *opts is NULL for an engine without options.  Errors name the
 * file and line of the value. */
int options_bind(const struct fm_engine *engine, const struct option_values *values,
    const struct snapshot *snap, struct fm_arena *mem, void **opts, struct fm_error *err);

#endif
