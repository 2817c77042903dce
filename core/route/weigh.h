/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/route/weigh.h - an entry of `auto` beside its rivals: the best of all their tables.
 *
 * Cost: each rival routes, is verified and measured (rivals.h).
 */
#ifndef CORE_ROUTE_WEIGH_H
#define CORE_ROUTE_WEIGH_H

#include "core/route/entry.h"

/* The tables of `own` are good.  Where they leave links uneven, on fabrics that are not too large,
 * its rivals route, too, and the best of all tables are taken.  FM_E_RESOURCE. */
int weigh_rivals(struct search *s, struct candidate *own, struct fm_error *err);

#endif
