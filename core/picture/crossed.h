/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/picture/crossed.h - whose routes cross ports by the plan in force, counted beside the loop.
 *
 * Who asks is told that it is being counted, and asks again; one request at a time.
 */
#ifndef CORE_PICTURE_CROSSED_H
#define CORE_PICTURE_CROSSED_H

#include <jansson.h>

#include "core/inventory/inventory.h"
#include "core/route/worker.h"

#define CROSSED_PORTS 32 /* at most, of a request */
#define CROSSED_SHOWN 8	 /* switches of a port at most */

struct crossed;

struct crossed *crossed_new(struct plan_worker *worker); /* borrowed; NULL: out of memory */
void crossed_free(struct crossed *c); /* when the worker has been freed; NULL is fine */

/* ports: "GUID:PORT,...".  {"state": "counting"}, or "done" with "ports" in their order: null where
 * the plan has no cable between switches, else "routes", how many that leave there, and "from" and
 * "to": the switches whose hosts most of them are of and go to, [["name", routes], ...], with
 * "n_from", "n_to", how many there are.  FM_E_CONFIG, FM_E_RESOURCE.  plan: NULL, there is none. */
int crossed_ask(struct crossed *c, const struct inventory *inv, const struct plan *plan,
    const json_t *ports, json_t **result, struct fm_error *err);

#endif
