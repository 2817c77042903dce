/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/plan/plan_file_regions.h - the last part of a plan's file: what became of its
 * regions.  Why `auto` took an engine is not in it.
 */
#ifndef CORE_PLAN_PLAN_FILE_REGIONS_H
#define CORE_PLAN_PLAN_FILE_REGIONS_H

#include "core/plan/plan.h"

size_t plan_regions_bytes(const struct plan *p);
/* False: there is not room enough. */
bool plan_regions_write(const struct plan *p, uint8_t *to, size_t room);
/* p->regions from all n bytes.  *good false: that is not what they hold.  FM_E_RESOURCE. */
int plan_regions_read(uint8_t *from, size_t n, struct plan *p, bool *good, struct fm_error *err);

#endif
