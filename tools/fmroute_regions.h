/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/fmroute_regions.h - fmroute --regions.
 */
#ifndef TOOLS_FMROUTE_REGIONS_H
#define TOOLS_FMROUTE_REGIONS_H

#include <jansson.h>

#include "core/conf/conf.h"

/* Can the fabric be cut as the configuration says?  strict: all that it names
 * must be there. */
int regions_cut(const struct conf *conf, const struct snapshot *snap, bool strict,
    uint16_t **sw_region, struct fm_error *err);
/* How the regions of plan were joined, into o; nothing where there is one only. */
void regions_add_join(const struct plan *plan, json_t *o);
/* The same, and the regions (a list of regions_json()), as text. */
void regions_print(const struct plan *plan, const json_t *regions);

#endif
