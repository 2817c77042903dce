/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/daemon/regions_json.h - regions as they are shown: by fmroute, by fmctl.
 */
#ifndef CORE_DAEMON_REGIONS_JSON_H
#define CORE_DAEMON_REGIONS_JSON_H

#include <jansson.h>

#include "core/regions/regions.h"

/* For each region an object: region, n_switches, switches (patterns of their
 * names), hosts, components, chain, borders {to, cables, routes, switches}, and when
 * full each cable of those in gateways {switch, guid, port, to, lids}; of plan,
 * which may be NULL or without tables: engine (null: none), because, refused,
 * where it tells, and lids, how many leave by a cable.  sw_region as
 * regions_resolve() gives it.  O(switches on borders x LIDs).  FM_E_RESOURCE. */
int regions_json(const struct region_set *set, const struct snapshot *snap,
    const uint16_t *sw_region, const struct plan *plan, bool full, json_t **out,
    struct fm_error *err);

/* The list of refusals: {engine, reason}. */
json_t *refusals_json(const struct plan_refusal *refused, size_t n);

/* What became of the steps of the entry of `chain` that made the plan (overlay.h), for each {step,
 * engine, path_bit, switches, hosts, state: "routes", "failed" or "not needed", fallback_to
 * of a fallback}; *out is NULL where no such entry did.  FM_E_RESOURCE. */
int steps_json(
    const struct chain *chain, const struct plan *plan, json_t **out, struct fm_error *err);

#endif
