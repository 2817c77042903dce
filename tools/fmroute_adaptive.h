/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/fmroute_adaptive.h - what has come of adaptive routing, in the report.
 */
#ifndef TOOLS_FMROUTE_ADAPTIVE_H
#define TOOLS_FMROUTE_ADAPTIVE_H

#include <jansson.h>

#include "core/plan/plan.h"

/* plan may be NULL. */
json_t *adaptive_json(const struct plan *plan, const struct tables *tables);
void adaptive_print(const struct plan *plan, const struct tables *tables);

#endif
