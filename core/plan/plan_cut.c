/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whom a plan leaves without a path: each LID of a host is followed back from all switches that
 * have hosts, each switch once.
 */
#include "core/plan/plan_cut.h"

#include <stdlib.h>
#include <string.h>

enum { UNKNOWN, ARRIVES, LOST };

static bool
is_host(const struct fm_fabric *fab, fm_end e)
{
	return fab->end_sw[e] != FM_NONE && fab->end_lid[e] != 0 &&
	    fab->end_kind[e] != FM_END_SWITCH;
}

/* fate[n_switches] gets what becomes of packets to lid from sw on. */
static uint8_t
follow(const struct plan *p, uint8_t *fate, fm_sw sw, uint32_t lid)
{
	const struct fm_fabric *fab = &p->snap->fab;
	fm_end end = fab->lid_end[lid];
	fm_sw at = sw;
	uint8_t found = UNKNOWN;

	for (uint32_t n = 0; found == UNKNOWN && n < fab->n_switches; n++) {
		fm_link l = fm_link_at(fab, at, p->tables->t.lft[at][lid]);

		if (fate[at] != UNKNOWN)
			found = fate[at];
		else if (at == fab->end_sw[end])
			found = p->tables->t.lft[at][lid] == fab->end_port[end] ? ARRIVES : LOST;
		else if (l == FM_NONE)
			found = LOST;
		else
			at = fab->link_to[l];
	}
	found = found == UNKNOWN ? LOST : found; /* round and round */
	for (at = sw; fate[at] == UNKNOWN;) {
		fm_link l = fm_link_at(fab, at, p->tables->t.lft[at][lid]);

		fate[at] = found;
		at = l != FM_NONE ? fab->link_to[l] : at;
	}
	return found;
}

static bool
is_cut(const struct plan *p, const uint8_t *sends, uint8_t *fate, fm_end e)
{
	const struct fm_fabric *fab = &p->snap->fab;
	const uint32_t *part = p->snap->sw_component;
	bool cut = false;

	for (uint32_t i = 0; !cut && i < 1u << fab->end_lmc[e]; i++) {
		memset(fate, UNKNOWN, fab->n_switches);
		for (fm_sw sw = 0; !cut && sw < fab->n_switches; sw++)
			cut = sends[sw] && part[sw] == part[fab->end_sw[e]] &&
			    follow(p, fate, sw, fab->end_lid[e] + i) == LOST;
	}
	return cut;
}

bool
plan_find_cut(const struct plan *p, struct plan_cut *list)
{
	const struct fm_fabric *fab = &p->snap->fab;
	uint8_t *sends;
	bool ok;

	*list = (struct plan_cut){ 0 };
	if (p->tables == NULL || p->verdict.unreachable_pairs == 0)
		return true;
	sends = calloc(2 * (size_t)fab->n_switches + 1, sizeof(*sends));
	ok = sends != NULL;
	for (fm_end e = 0; ok && e < fab->n_ends; e++)
		if (is_host(fab, e))
			sends[fab->end_sw[e]] = 1;
	for (fm_end e = 0; ok && e < fab->n_ends; e++)
		if (is_host(fab, e) && is_cut(p, sends, sends + fab->n_switches, e))
			ok = fm_vec_push(&list->ends, e);
	free(sends);
	return ok;
}
