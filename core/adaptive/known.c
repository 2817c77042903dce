/* SPDX-License-Identifier: BSD-2-Clause */
/* core/adaptive/known.c - a switch as it is known, and what a plan says of it. */
#include "core/adaptive/internal.h"
#include "core/graph/tables.h"
#include "core/plan/plan.h"

#define REFUSED_MS 60000
#define SILENT_MS 5000 /* its way may have been cut */

struct ar_switch *
ar_of(const struct sweeper *s, uint32_t slot)
{
	struct ar_switch *w;

	if (slot >= s->adaptive->of_slot.n)
		return NULL;
	w = &s->adaptive->of_slot.item[slot];
	return w->vendor != NULL && w->generation == inv_node(&s->inv, slot)->generation ? w : NULL;
}

bool
ar_rows(const struct sweeper *s, uint32_t slot, const struct plan *p, struct fm_vendor_rows *out)
{
	const struct inv_node *n = inv_node(&s->inv, slot);
	const struct ar_switch *w = ar_of(s, slot);
	const struct fm_tables *t = p != NULL && p->tables != NULL ? &p->tables->t : NULL;
	fm_sw sw = n->sw_index;

	if (w == NULL || t == NULL || !tables_are_adaptive(t) || sw >= p->snap->fab.n_switches ||
	    p->snap->fab.sw_guid[sw] != n->guid)
		return false;
	*out = (struct fm_vendor_rows){ .size = sizeof(*out),
		.top_lid = p->snap->fab.max_lid,
		.n_ports = n->n_ports,
		.info = w->info,
		.lft = t->lft[sw],
		.group = t->ar_group[sw],
		.ports = t->ar_ports[sw] };
	for (uint32_t lid = 0; lid <= out->top_lid; lid++)
		if (out->group[lid] > out->n_groups)
			out->n_groups = out->group[lid];
	return out->n_groups > 0 && out->n_groups <= w->n_groups;
}

void
ar_failed(
    struct sweeper *s, struct ar_switch *w, const char *what, enum txn_status status, uint32_t slot)
{
	int64_t again_ms = status == TXN_TIMEOUT ? SILENT_MS : REFUSED_MS;
	char name[128];

	if (status == TXN_CANCELLED)
		return;
	w->again_ms = sweeper_clock_ms(s) + again_ms;
	if (w->again_ms < s->adaptive->again_ms)
		s->adaptive->again_ms = w->again_ms;
	fm_log_rl(&s->logs.refused, ask_loudness(status), "adaptive",
	    "%s %s %s; it is asked again in %d s",
	    inv_name(inv_node(&s->inv, slot), name, sizeof(name)),
	    status == TXN_TIMEOUT ? "does not answer when it is" : "refuses", what,
	    (int)(again_ms / 1000));
}
