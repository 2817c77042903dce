/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/health/quarantine.h - which bad cables fmd may take out of routing by itself
 * (health_action = quarantine), and when they come back.
 *
 * Only a cable between switches whose counters are bad; no host is cut off by it; of the cables
 * between switches at most one in 200 is out, or two; and the fullest link has at most a tenth more
 * routes than if none were out.  A cable that has been quiet for two hours, so that fmd-perf says
 * it is bad no more, is restored: its ports stay up and are read as before.  What the administrator
 * has restored is left alone till it has been ok.
 */
#ifndef CORE_HEALTH_QUARANTINE_H
#define CORE_HEALTH_QUARANTINE_H

#include "core/health/findings.h"
#include "core/inventory/isolated.h"
#include "core/route/trial.h"

enum health_action { HEALTH_TELL, HEALTH_QUARANTINE };

struct quarantine_cable {
	uint32_t finding; /* its number */
	uint64_t guid;	  /* of the switch at its near end */
	uint8_t port;
	int64_t since_s;
};

struct quarantine_cables {
	FM_VEC(struct quarantine_cable) items;
};

/* How many may be out: of the cables between switches.  O(ports). */
uint32_t quarantine_most(const struct inventory *inv);
/* Those that are bad, in use and not refused by this plan, to *out, which is empty: those that have
 * been bad the longest first.  False: out of memory.  O(findings * isolated). */
bool quarantine_find(const struct findings *f, const struct isolated *isolated,
    const struct inventory *inv, uint64_t plan, struct quarantine_cables *out);
/* The first quarantined cable that is up and, as far as fmd-perf has told, bad no more; NULL:
 * none. */
const struct isolated_item *quarantine_over(
    const struct findings *f, const struct isolated *isolated, const struct inventory *inv);
/* Nobody has told anything yet: those that are quarantined are bad.  False: out of memory. */
bool quarantine_believe(
    struct findings *f, const struct isolated *isolated, const struct inventory *inv);
/* Why what was tried may not be; NULL: it may.  base: routes of the fullest link with none out;
 * n_unreachable: pairs that have no path now. */
const char *quarantine_why_not(
    const struct trial_result *r, uint64_t base, uint64_t n_unreachable, char *buf, size_t size);

#endif
