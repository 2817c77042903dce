/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/health/health.h - how each cable is, as one verdict: what fmd-perf has told (findings.h),
 * and what fmd knows itself.
 *
 *	bad		its counters say so; it flaps (flaps.h); babbling_port_policy has disabled
 *			its port
 *	quarantined	it is out of routing as it was bad (health_action)
 *	watch		its counters say so; it is held after two falls; it is narrower or slower
 *			than both ends support
 *	ok		none of these
 *
 * A cable is told at the end that core/picture/cable.h has; one that is down now only where
 * fmd-perf has told of it.
 */
#ifndef CORE_HEALTH_HEALTH_H
#define CORE_HEALTH_HEALTH_H

#include "core/health/findings.h"
#include "core/inventory/isolated.h"
#include "core/inventory/seen.h"
#include "core/sweep/todo.h"

#define HEALTH_ROWS 1000 /* the worst, in an answer */

/* What it is made of; all borrowed. */
struct health_of {
	const struct inventory *inv;
	const struct todo_list *todo;
	const struct isolated *isolated;
	const struct seen *seen; /* NULL: since when cables are slow is not known */
	const struct findings *findings;
	const json_t *cabling; /* against topology_file; NULL: it is not looked at */
	const char *not_ours;  /* why we are not to judge; NULL: we are */
	int64_t now_ms;	       /* by the clock of findings_take() */
};

#define HEALTH_WHY 512 /* bytes of a reason */

/* Why fmd-perf's finding is what it is, in words; buf is returned. */
const char *health_why(const struct health_of *of, const struct finding *f, char buf[HEALTH_WHY]);
/* The answer to "health" (fmctl(8)), a new reference; FM_E_RESOURCE.  O(ports). */
int health_json(const struct health_of *of, json_t **result, struct fm_error *err);

#endif
