/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/daemon/congestion_json.c - what fmctl shows of congestion control.  O(ports).
 */
#include <stdlib.h>

#include "core/agents/agents.h"
#include "core/daemon/daemon.h"
#include "core/picture/cable.h"
#include "core/server/server.h"
#include "core/text/json_text.h"

/* How many there are, and in which state; states that none is in are left out. */
static json_t *
agent_states_json(const uint32_t n[AGENT_STATES])
{
	json_t *o = json_object();
	json_int_t all = 0;

	for (unsigned i = 0; i < AGENT_STATES; i++) {
		all += n[i];
		if (n[i] > 0)
			json_object_set_new(o, agent_state_word((enum agent_state)i),
			    json_integer((json_int_t)n[i]));
	}
	json_object_set_new(o, "n", json_integer(all));
	return o;
}

/* What agents hold, as they were last read. */
json_t *
daemon_congestion_json(const struct daemon *d)
{
	json_t *others = json_array();
	struct agents_report r;

	sweeper_agents(d->sweeper, &r);
	for (unsigned i = 0; i < r.n_named; i++)
		json_array_append_new(others,
		    json_pack("{s:o, s:i, s:s}", "node",
			json_text(inv_node(sweeper_inventory(d->sweeper), r.named[i].slot)->name),
			"port", (int)r.named[i].port, "state",
			agent_state_word((enum agent_state)r.named[i].state)));
	return json_pack("{s:b, s:o, s:o, s:I, s:I, s:o}", "enabled", (int)r.enabled, "switches",
	    agent_states_json(r.switches), "ports", agent_states_json(r.ports), "gets",
	    (json_int_t)r.n_gets, "sets", (json_int_t)r.n_sets, "others", others);
}

/* --------------------------------------------------------------------- marks */

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
marked_json(const struct daemon *d, const struct sa_view *v, const struct marked *m)
{
	const struct inventory *inv = sweeper_inventory(d->sweeper);
	const struct inv_node *n = inv_node(inv, m->slot);
	int64_t now_ms = d->transport->ops->now_ns(d->transport) / 1000000;
	const struct agent_log *log = m->log;

	return json_pack("{s:o, s:o, s:i, s:I, s:f, s:f, s:o, s:o}", "switch", json_text(n->name),
	    "guid", json_guid(n->guid), "lately", (int)log->n_lately, "events",
	    (json_int_t)log->n_events, "read_s_ago", (double)(now_ms - log->read_ms) / 1000,
	    "marked_s_ago", (double)(now_ms - log->marked_ms) / 1000, "ports",
	    ports_json(inv, m->slot, &log->marked), "packets", packets_json(v, &log->marked));
}

json_t *
daemon_marks_json(const struct daemon *d)
{
	const struct inventory *inv = sweeper_inventory(d->sweeper);
	struct sa_view *v = d->sa != NULL ? sa_server_view(d->sa) : NULL;
	struct marked *marked = calloc(inv->nodes.n + 1, sizeof(*marked));
	int n_switches = 0, n_read = 0, n_marked = 0;
	json_t *list = marked != NULL ? json_array() : NULL;

	for (uint32_t i = 0; marked != NULL && i < inv->nodes.n; i++) {
		const struct inv_node *n = inv_node(inv, i);
		const struct agent_log *log = sweeper_congestion_log(d->sweeper, i);

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
		json_array_append_new(list, marked_json(d, v, &marked[i]));
	free(marked);
	sa_view_put(v);
	return json_pack("{s:b, s:I, s:i, s:i, s:i, s:o}", "enabled",
	    (int)d->conf->congestion.enable, "interval_ms",
	    (json_int_t)d->conf->congestion.log_interval_ms, "n_switches", n_switches, "n_read",
	    n_read, "n_marked", n_marked, "switches", list);
}
