/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/picture/marks.h - which switches have marked packets, as their CongestionLogs have told.
 */
#ifndef CORE_PICTURE_MARKS_H
#define CORE_PICTURE_MARKS_H

#include <jansson.h>

#include "core/inventory/settings.h"
#include "core/view/view.h"

struct sweeper;

/* The answer to "congestion" (fmctl(8)), a new reference; NULL: out of memory.  v: whose LIDs these
 * are; NULL: that is not known.  now_ms: by the clock of the transport.  O(nodes). */
json_t *marks_json(const struct sweeper *s, const struct sa_view *v,
    const struct conf_congestion *set, int64_t now_ms);

#endif
