/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/dist/dist_json.h - where the paths of the subnet are published, and how far, for fmctl dist.
 */
#ifndef CORE_DIST_DIST_JSON_H
#define CORE_DIST_DIST_JSON_H

#include <jansson.h>

#include "core/dist/dist.h"

/* {"places": [...]}; d NULL: none.  A new object, NULL: memory is out. */
json_t *dist_json(struct dist *d);
/* The followers that are gone, each as a line of fmctl trouble.  A new list, NULL: memory is
 * out. */
json_t *dist_troubles_json(const struct dist *d);

#endif
