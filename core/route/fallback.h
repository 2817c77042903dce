/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/route/fallback.h - the implicit last entry of every chain.
 *
 * Up/down over whatever is connected: needs no options, refuses nothing,
 * makes no credit loops, joins every pair that a cable path joins.
 */
#ifndef CORE_ROUTE_FALLBACK_H
#define CORE_ROUTE_FALLBACK_H

#include <fmd/engine.h>

extern const struct fm_engine fallback_engine;

#endif
