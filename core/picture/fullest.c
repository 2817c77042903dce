/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/picture/fullest.h"

#include <inttypes.h>

#include "core/events/events.h"

/* The fullest link and the switch it leaves; FM_NONE: there are no links. */
static fm_link
find_fullest(const struct fm_fabric *fab, const uint64_t *load, fm_sw *from)
{
	fm_link most = FM_NONE;

	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++)
			if (most == FM_NONE || load[l] > load[most]) {
				most = l;
				*from = sw;
			}
	return most;
}

void
fullest_look(struct fullest *f, const struct plan *p, const uint64_t *load)
{
	const struct fm_fabric *fab = &p->snap->fab;
	double pairs = (double)p->verdict.reachable_pairs;
	double may = f->pairs > 0 && pairs > f->pairs ? f->routes * pairs / f->pairs : f->routes;
	fm_sw from = 0;
	fm_link l = find_fullest(fab, load, &from);

	if (l == FM_NONE || load[l] == 0)
		return;
	if (may > 0 && (double)load[l] >= FULLEST_TIMES * may) {
		events_add(EVENT_FULLER_CABLE, FM_LOG_WARN, "sweep", NULL,
		    "the fullest cable has become fuller: \"%s\" port %u to \"%s\" carries %" PRIu64
		    " routes, up from %.0f on the fullest before: are cables lost, or hosts added?",
		    fab->sw_name[from], fab->link_port[l], fab->sw_name[fab->link_to[l]], load[l],
		    may);
		may = 0;
	}
	f->routes = may == 0 || (double)load[l] < may ? (double)load[l] : may;
	f->pairs = pairs;
}
