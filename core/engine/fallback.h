/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/engine/fallback.h - the implicit last entry of every chain.
 *
 * Up/down over whatever is connected: needs no options, refuses nothing,
 * makes no credit loops, and joins every pair that cables join, switches
 * included (plugins/common/paths/order.h).  In a region with proxies only pairs that
 * have a path up and then down by the region's own levels: the others are led
 * elsewhere where regions are composed.
 */
#ifndef CORE_ENGINE_FALLBACK_H
#define CORE_ENGINE_FALLBACK_H

#include <fmd/engine.h>

extern const struct fm_engine fallback_engine;

#endif
