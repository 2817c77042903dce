/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/view/view_internal.h - what the files of the view share.
 */
#ifndef CORE_VIEW_VIEW_INTERNAL_H
#define CORE_VIEW_VIEW_INTERNAL_H

#include "core/view/view.h"

/* v->rows for v's plan and what its links carry; prev: NULL, or the view before. */
int sa_view_build_rows(
    struct sa_view *v, struct sa_view *prev, struct fm_pool *workers, struct fm_error *err);

#endif
