/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The gateways of the plan before.  Its tables hold them: from a component's sources on
 * to the port by which a LID leaves, and where that port led then.  So plans that were
 * read back, or repaired, or made by other joins, tell theirs too.
 *
 * O(components * LIDs * hops).
 */
#include <string.h>

#include "core/regions/compose_gateways.h"

/* By which port did x lead lid out?  Its exit now, LOST_EXIT, or NO_EXIT: unknown. */
static uint16_t
exit_before(const struct composer *c, uint32_t x, fm_sw from, uint32_t lid)
{
	const struct fm_tables *t = &c->q->prev->tables->t;
	const struct component *p = &c->component[x];
	fm_sw u = from, v;

	for (uint32_t steps = 0; steps <= p->n; steps++, u = v) {
		uint8_t port = t->lft[u][lid];

		v = snapshot_switch_at(c->q->prev->snap, u, port);
		if (v == FM_NONE)
			return NO_EXIT;
		if (c->sw_component[v] == x)
			continue;
		for (fm_link l = c->fab->sw_first_link[u]; l < c->fab->sw_first_link[u + 1]; l++)
			if (c->fab->link_port[l] == port && c->fab->link_to[l] == v &&
			    c->link_exit[l] != FM_NONE)
				return (uint16_t)c->link_exit[l];
		return LOST_EXIT;
	}
	return NO_EXIT;
}

void
compose_look_back(struct composer *c)
{
	uint32_t top = c->q->prev->top_lid;

	for (uint32_t x = 0; x < c->n_components; x++) {
		struct component *p = &c->component[x];
		uint16_t *row = gateways_of(c, x);
		fm_sw from = p->sw[0];

		for (uint32_t i = p->n; i-- > 0;)
			for (fm_end e = c->fab->sw_first_end[p->sw[i]];
			     e < c->fab->sw_first_end[p->sw[i] + 1]; e++)
				if (c->fab->end_kind[e] != FM_END_SWITCH)
					from = p->sw[i];
		for (uint32_t lid = 1; lid < c->n_lid_room && lid <= top; lid++) {
			if (c->lid_component[lid] == FM_NONE || c->lid_component[lid] == x)
				continue;
			row[lid] = exit_before(c, x, from, lid);
			if (row[lid] < LOST_EXIT)
				p->exit[row[lid]].n_lids++;
		}
	}
}

bool
compose_is_sticky(const struct composer *c)
{
	const struct plan *prev = c->q->prev;

	return prev != NULL && prev->tables != NULL && c->q->anew == PLAN_FROM_PREV &&
	    (prev->regions == NULL || prev->regions->join != PLAN_WHOLE) &&
	    prev->snap->fab.n_switches == c->fab->n_switches;
}

void
compose_mark_new_exits(struct composer *c)
{
	const struct snapshot *was = c->q->prev->snap;

	for (uint32_t x = 0; x < c->n_components; x++)
		for (uint32_t i = 0; i < c->component[x].n_exits; i++) {
			struct exit *e = &c->component[x].exit[i];

			e->is_new =
			    snapshot_switch_at(was, e->near, c->fab->link_port[e->link]) != e->far;
		}
}
