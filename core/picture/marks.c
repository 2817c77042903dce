/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/picture/marks.h"

#include <stdlib.h>

#include "core/agents/agents.h"
#include "core/picture/cable.h"
#include "core/sweep/sweep.h"
#include "core/text/json_text.h"

#define MARKS_SHOWN 100 /* switches */

struct marked {
	uint32_t slot;
	const struct agent_log *log;
};

/* Who has marked most lately first, then who has at all. */
static int
by_marks(const void *x, const void *y)
{
	const struct marked *a = x, *b = y;

	if (a->log->n_lately != b->log->n_lately)
		return a->log->n_lately < b->log->n_lately ? 1 : -1;
	if (a->log->n_events != b->log->n_events)
		return a->log->n_events < b->log->n_events ? 1 : -1;
	return a->slot < b->slot ? -1 : a->slot > b->slot;
}

static json_t *
ports_json(const struct inventory *inv, uint32_t slot, const struct wire_cc_log *log)
{
	json_t *list = json_array();

	for (unsigned p = 0; p <= inv_node(inv, slot)->n_ports; p++) {
		struct cable_end end = cable_end(inv, slot, p);

		if (!wire_cc_mask_has(log->ports, p))
			continue;
		json_array_append_new(list,
		    json_pack("{s:i, s:o}", "port", (int)p, "to",
			end.at->edge == EDGE_LINKED ? json_text(inv_node(inv, end.at->peer)->name)
						    : json_null()));
	}
	return list;
}

/* The node of a LID, as the SA has it; null: none. */
static json_t *
name_json(const struct sa_view *v, uint16_t lid)
{
	uint32_t end = v != NULL ? sa_view_end_of_lid(v, lid) : FM_NONE;

	return end != FM_NONE ? json_text(v->node[v->end[end].node]->name) : json_null();
}

static json_t *
packets_json(const struct sa_view *v, const struct wire_cc_log *log)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < log->n; i++)
		json_array_append_new(list,
		    json_pack("{s:i, s:o, s:i, s:o, s:i}", "slid", (int)log->entry[i].slid, "from",
			name_json(v, log->entry[i].slid), "dlid", (int)log->entry[i].dlid, "to",
			name_json(v, log->entry[i].dlid), "sl", (int)log->entry[i].sl));
	return list;
}

static json_t *
marked_json(
    const struct inventory *inv, const struct sa_view *v, const struct marked *m, int64_t now_ms)
{
	const struct inv_node *n = inv_node(inv, m->slot);
	const struct agent_log *log = m->log;

	return json_pack("{s:o, s:o, s:i, s:I, s:f, s:f, s:o, s:o}", "switch", json_text(n->name),
	    "guid", json_guid(n->guid), "lately", (int)log->n_lately, "events",
	    (json_int_t)log->n_events, "read_s_ago", (double)(now_ms - log->read_ms) / 1000,
	    "marked_s_ago", (double)(now_ms - log->marked_ms) / 1000, "ports",
	    ports_json(inv, m->slot, &log->marked), "packets", packets_json(v, &log->marked));
}

json_t *
marks_json(const struct sweeper *s, const struct sa_view *v, const struct conf_congestion *set,
    int64_t now_ms)
{
	const struct inventory *inv = sweeper_inventory(s);
	struct marked *marked = calloc(inv->nodes.n + 1, sizeof(*marked));
	int n_switches = 0, n_read = 0, n_marked = 0;
	json_t *list = marked != NULL ? json_array() : NULL;

	for (uint32_t i = 0; marked != NULL && i < inv->nodes.n; i++) {
		const struct inv_node *n = inv_node(inv, i);
		const struct agent_log *log = sweeper_congestion_log(s, i);

		if (!n->present || !inv_is_switch(n))
			continue;
		n_switches++;
		n_read += log != NULL;
		if (log != NULL && log->n_events > 0)
			marked[n_marked++] = (struct marked){ i, log };
	}
	if (marked != NULL)
		qsort(marked, (size_t)n_marked, sizeof(*marked), by_marks);
	for (int i = 0; i < n_marked && i < MARKS_SHOWN; i++)
		json_array_append_new(list, marked_json(inv, v, &marked[i], now_ms));
	free(marked);
	return json_pack("{s:b, s:I, s:i, s:i, s:i, s:o}", "enabled", (int)set->enable,
	    "interval_ms", (json_int_t)set->log_interval_ms, "n_switches", n_switches, "n_read",
	    n_read, "n_marked", n_marked, "switches", list);
}
