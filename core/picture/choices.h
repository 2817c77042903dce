/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/picture/choices.h - why packets to a LID leave a switch by this port, and not by another.
 *
 * The others are the cables to switches that are nearer to where the LID is; what each would lead
 * to is followed by the tables, from its far end.
 */
#ifndef CORE_PICTURE_CHOICES_H
#define CORE_PICTURE_CHOICES_H

#include <jansson.h>

#include "core/plan/plan.h"
#include "core/regions/regions.h"

struct choices {
	const struct plan *plan;
	const struct region_set *regions; /* whose chains have the engines */
	uint16_t *sw_region;		  /* [n_switches] */
	const struct fm_tables *t;	  /* as the SA has them */
	const uint64_t *load;		  /* [n_links] of the plan, routes; NULL: not known */
	uint16_t lid;
	uint32_t *hops; /* [n_switches] to the LID's switch, by cables; FM_NONE: there is no way */
	fm_sw *queue;
};

/* All borrowed; ends in choices_fini().  O(links).  False: out of memory, or nobody has the LID. */
bool choices_init(struct choices *c, const struct region_set *regions, const struct plan *plan,
    const struct fm_tables *t, const uint64_t *load, uint16_t lid);
void choices_fini(struct choices *c);
/* At one switch: "engine" that routed its region, "rule" of the engine, a line, or null (it is not
 * of the chain any more, or the core's own), "repaired_from", the port that its entry had before
 * a repair, or null, "routes" planned on the port taken, or null, "hops" that are left, "others":
 * [{"port", "to", "routes", "hops", "why"}], at most CHOICES_SHOWN, "n_others".
 * O(ports * hops). */
#define CHOICES_SHOWN 16
json_t *choices_json(const struct choices *c, fm_sw sw);

#endif
