/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/daemon/commands.c - what fmctl can ask of the daemon.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/adaptive/adaptive.h"
#include "core/agents/agents.h"
#include "core/audit/audit.h"
#include "core/ctl/ctl.h"
#include "core/daemon/daemon.h"
#include "core/daemon/early.h"
#include "core/daemon/fabric_json.h"
#include "core/daemon/readback.h"
#include "core/daemon/regions_json.h"
#include "core/dist/dist_json.h"
#include "core/health/health.h"
#include "core/health/quarantine.h"
#include "core/picture/crossed.h"
#include "core/picture/marks.h"
#include "core/plan/plan_cut.h"
#include "core/server/server.h"
#include "core/standby/copying.h"
#include "core/sweep/well.h"
#include "core/text/json_text.h"
#include "core/text/mistakes.h"
#include "core/text/number.h"
#include "lib/log.h"

#define HOSTS_SHOWN 100

static int
hand_out(json_t *value, json_t **result, struct fm_error *err)
{
	if (value == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the answer");
	*result = value;
	return 0;
}

static json_t *
smps_json(const uint64_t *by_attr)
{
	json_t *o = json_object();

	for (unsigned i = 0; o != NULL && i < 256; i++) {
		const char *name = wire_attr_name((uint16_t)i);

		if (by_attr[i] > 0)
			json_object_set_new(
			    o, name ? name : "other", json_integer((json_int_t)by_attr[i]));
	}
	return o;
}

static json_t *
phases_json(const struct sweep_report *r)
{
	json_t *o = json_object();

	for (unsigned i = PHASE_DISCOVER; o != NULL && i < PHASE_DONE; i++)
		json_object_set_new(o, sweep_phase_names[i], json_real(r->phase_ms[i]));
	return o;
}

/* How forwarding tables were written. */
static json_t *
order_json(const struct sweep_report *r)
{
	const struct transition_counts *c = &r->order;

	return json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i}",
	    "change", plan_change_name(r->change.kind), "blocks", (int)c->blocks, "in_order",
	    (int)c->risky, "rounds", (int)c->rounds, "splits", (int)c->splits, "held", (int)c->held,
	    "lids", (int)r->change.n_lids, "lids_in_order", (int)r->change.n_next_hop_first,
	    "lids_later", (int)r->change.n_deferred, "lids_drained", (int)r->change.n_drained,
	    "lids_left", (int)r->change.n_kept_old, "lids_cut", (int)r->change.n_cut, "waits",
	    (int)c->waits);
}

json_t *
daemon_report_json(const struct sweep_report *r)
{
	return json_pack(
	    "{s:I, s:s, s:o, s:f, s:o, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:I, s:s, s:b, "
	    "s:b, s:i, s:i, s:I, s:I, s:I, s:o, s:o,"
	    " s:I, s:I, s:I, s:I, s:I, s:o}",
	    "number", (json_int_t)r->number, "scope", sweep_scope_name(r->scope), "reason",
	    json_text(r->reason), "total_ms", r->total_ms, "phases_ms", phases_json(r), "switches",
	    (int)r->n_switches, "cas", (int)r->n_cas, "routers", (int)r->n_routers, "links",
	    (int)r->n_links, "lids", (int)r->n_lids, "ports_active", (int)r->n_ports_active,
	    "ports_not_active", (int)r->n_ports_not_active, "unreachable_pairs",
	    (json_int_t)r->n_unreachable, "engine", r->engine, "kept", (int)r->kept, "repaired",
	    (int)r->repaired, "repaired_entries", (int)r->n_repaired_entries, "repaired_blocks",
	    (int)r->n_repaired_blocks, "other_sls", (json_int_t)r->n_other_sls, "gets",
	    (json_int_t)r->gets, "sets", (json_int_t)r->sets, "gets_by_kind",
	    smps_json(r->gets_by_attr), "sets_by_kind", smps_json(r->sets_by_attr), "retries",
	    (json_int_t)r->retries, "timeouts", (json_int_t)r->timeouts, "by_lid",
	    (json_int_t)r->by_lid.sent, "mixed", (json_int_t)r->by_lid.mixed, "put_again_directed",
	    (json_int_t)(r->by_lid.lost + r->by_lid.mixed_lost), "tables", order_json(r));
}

/* How the regions of a plan were joined. */
static void
add_joined(const struct plan *p, json_t *o)
{
	if (p == NULL || p->regions == NULL)
		return;
	json_object_set_new(o, "joined", json_string(plan_join_name(p->regions->join)));
}

/* What the SA has been asked. */
static void
add_sa(const struct daemon *d, json_t *o)
{
	struct sa_counts c;
	json_t *sa;

	sa_server_counts(d->sa, &c);
	sa = json_pack("{s:I, s:I, s:I, s:I, s:I}", "requests", (json_int_t)c.requests, "answered",
	    (json_int_t)c.answered, "records", (json_int_t)c.records, "refused",
	    (json_int_t)c.refused, "busy", (json_int_t)c.busy);
	if (sa != NULL)
		early_add_json(d, sa);
	json_object_set_new(o, "sa", sa);
}

static json_t *
store_json(const struct daemon *d)
{
	const char *why = store_why_none(d->store);
	char text[320];

	snprintf(text, sizeof(text), "%s%.280s", why != NULL ? "none, because it " : "in ",
	    why != NULL ? why : d->conf->daemon.state_dir);
	return json_text(text);
}

/* Each SM that discovery has met: who, where, and what it is to us. */
static json_t *
other_sms_json(const struct daemon *d)
{
	const struct inventory *inv = sweeper_inventory(d->sweeper);
	json_t *all = json_array();

	for (uint32_t i = 0; i < sweeper_n_other_sms(d->sweeper); i++) {
		const struct ha_other *o = sweeper_other_sm(d->sweeper, i);
		const struct inv_node *n = inv_node(inv, o->node);

		json_array_append_new(all,
		    json_pack("{s:o, s:o, s:i, s:i, s:s, s:s}", "node", json_text(n->name),
			"port_guid", json_guid(n->ports[o->port].guid), "lid", (int)o->lid,
			"priority", (int)o->info.priority, "state", ha_state_name(o->info.state),
			"trust", ha_trust_name(o->trust)));
	}
	return all;
}

/* What others have sent us of SMInfo. */
static void
add_sms(const struct daemon *d, json_t *o)
{
	const struct sm_counts *c = sweeper_sm_counts(d->sweeper);

	json_object_set_new(o, "other_sms", other_sms_json(d));
	json_object_set_new(o, "sm_controls",
	    json_pack("{s:I, s:I}", "refused", (json_int_t)c->refused, "dropped",
		(json_int_t)c->dropped));
}

/* What is believed now: "sweep" is of when something last changed. */
static json_t *
as_read_json(const struct daemon *d)
{
	struct sweep_heard h;

	sweeper_heard(d->sweeper, &h);
	if (h.oldest_ms < 0)
		return json_null();
	return json_pack("{s:i, s:i, s:o, s:i, s:i, s:f}", "ports_active", (int)h.n_ports_active,
	    "ports_not_active", (int)h.n_ports_not_active, "unreachable_pairs",
	    h.plan_is_old || h.n_not_held > 0 ? json_null()
					      : json_integer((json_int_t)h.n_unreachable),
	    "switches_in_doubt", (int)h.n_in_doubt, "nodes_not_heard", (int)h.n_not_heard,
	    "oldest_read_s", (double)h.oldest_ms / 1000);
}

static json_t *
turn_json(const struct audit_turn *t)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:i, s:I}", "turn", (json_int_t)t->number,
	    "blocks_read", (json_int_t)t->n_read, "blocks_silent", (json_int_t)t->n_unanswered,
	    "blocks_that_differ", (json_int_t)t->n_differ, "nodes_that_differ", (int)t->n_nodes,
	    "sweep", (json_int_t)t->sweep);
}

/* What is read back of nodes between sweeps. */
static json_t *
audit_json(const struct daemon *d)
{
	const uint32_t *n_of = sweeper_todo(d->sweeper)->n_of;
	struct audit_report r;

	sweeper_audited(d->sweeper, &r);
	return json_pack("{s:f, s:b, s:I, s:I, s:i, s:o, s:o}", "every_s",
	    (double)d->conf->sweep.audit_ms / 1000, "at_once", (int)r.at_once, "places",
	    (json_int_t)r.n_places, "passed", (json_int_t)r.at, "not_written",
	    (int)(n_of[TODO_TABLES] + n_of[TODO_MAPS] + n_of[TODO_GROUPS] + n_of[TODO_PKEYS]),
	    "now", turn_json(&r.now), "last", turn_json(&r.last));
}

/* Those that fmd may work on, as they are now. */
static json_t *
ports_json(struct daemon *d)
{
	static const char *const states[] = { "absent", "no link", "INIT", "ARMED", "ACTIVE" };
	json_t *list = json_array();

	local_ports_look(&d->ports);
	for (unsigned i = 0; i < d->ports.n; i++) {
		const struct local_port *is = &d->ports.port[i].is;

		json_array_append_new(list,
		    json_pack("{s:o, s:o, s:s, s:b}", "port",
			json_text(local_ports_name(&d->ports, i)), "port_guid",
			json_guid(is->port_guid), "link",
			is->state < 5 ? states[is->state] : "unknown", "in_use",
			(int)(i == d->ports.used)));
	}
	return list;
}

/* What has been done since the start. */
static void
add_totals(const struct daemon *d, json_t *o)
{
	const struct txn_counts *c = txn_counts(d->txn);
	json_t *sweeps = json_object();

	for (unsigned i = SWEEP_UP; i <= SWEEP_FAILED; i++)
		json_object_set_new(sweeps, sweep_outcome_name((enum sweep_outcome)i),
		    json_integer((json_int_t)d->n_ended[i]));
	json_object_set_new(o, "version", json_string(PACKAGE_VERSION));
	json_object_set_new(o, "sweeps", sweeps);
	json_object_set_new(o, "smps",
	    json_pack("{s:o, s:o, s:I, s:I}", "gets", smps_json(c->gets_by_attr), "sets",
		smps_json(c->sets_by_attr), "retries", (json_int_t)c->retries, "timeouts",
		(json_int_t)c->timeouts));
}

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
static json_t *
congestion_json(const struct daemon *d)
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

/* What switches have said of their groups. */
static json_t *
adaptive_json(const struct daemon *d)
{
	json_t *states = json_object(), *o;
	struct ar_report r;

	sweeper_adaptive(d->sweeper, &r);
	for (unsigned i = 0; i < AR_STATES; i++)
		json_object_set_new(states, ar_state_word((enum ar_state)i),
		    json_integer((json_int_t)r.switches[i]));
	o = json_pack("{s:b, s:o, s:i, s:i, s:I, s:I}", "enabled", (int)d->conf->ar.enable,
	    "switches", states, "holding", (int)r.n_holding, "refused", (int)r.n_refused, "gets",
	    (json_int_t)r.n_gets, "sets", (json_int_t)r.n_sets);
	return o;
}

static int
run_status(void *arg, const json_t *args, json_t **result, struct fm_error *err)
{
	struct daemon *d = arg;
	json_t *last = d->summary != NULL ? json_incref(d->summary) : json_null();
	const struct plan *p = sweeper_plan(d->sweeper);
	json_t *status = json_pack("{s:s, s:b, s:s, s:o, s:o, s:o, s:o, s:i, s:o, s:o}", "sm_state",
	    ha_state_name(d->ha.state), "subnet_up", sweeper_is_up(d->sweeper), "phase",
	    sweep_phase_names[sweeper_phase(d->sweeper)], "transport",
	    json_text(local_ports_spec(&d->ports)), "other_sm",
	    json_text(sweeper_report(d->sweeper)->other), "waiting",
	    json_text(p != NULL ? p->change.waiting : ""), "store", store_json(d), "troubles",
	    (int)sweeper_report(d->sweeper)->n_troubles, "as_read", as_read_json(d), "sweep", last);

	if (status != NULL) {
		json_object_set_new(status, "converged", json_boolean(sweeper_is_well(d->sweeper)));
		json_object_set_new(
		    status, "waits_for_link", json_boolean(daemon_waits_for_link(d)));
		json_object_set_new(status, "unfinished", daemon_unfinished_json(d));
		json_object_set_new(status, "audit", audit_json(d));
		json_object_set_new(status, "congestion_control", congestion_json(d));
		json_object_set_new(status, "adaptive_routing", adaptive_json(d));
		if (d->ports.n > 1)
			json_object_set_new(status, "ports", ports_json(d));
		json_object_set_new(
		    status, "isolated", json_integer((json_int_t)d->isolated.items.n));
	}

	if (status != NULL)
		add_joined(p, status);
	if (status != NULL && p != NULL)
		json_object_set_new(status, "mended", json_boolean(p->mended));
	if (status != NULL)
		add_sms(d, status);
	if (status != NULL && d->sa != NULL)
		add_sa(d, status);
	if (status != NULL) {
		daemon_add_flood(d, status);
		add_totals(d, status);
		events_step(d->events);
		json_object_set_new(status, "events", events_counts_json(d->events));
	}
	return hand_out(status, result, err);
}

/* What holds for the plan as a whole. */
static json_t *
plan_json(const struct plan *p)
{
	const struct verdict *v = &p->verdict;

	return json_pack(
	    "{s:s, s:b, s:b, s:o, s:i, s:i, s:f, s:f, s:i, s:I, s:I, s:I, s:i, s:i, s:i}", "engine",
	    p->engine, "kept", p->made == PLAN_KEPT, "repaired", p->made == PLAN_REPAIRED,
	    "refused", refusals_json(p->refused.item, p->refused.n), "switches",
	    (int)p->snap->fab.n_switches, "ends", (int)p->snap->fab.n_ends, "route_ms", p->route_ms,
	    "verify_ms", p->verify_ms, "vls", (int)v->vls, "reachable_pairs",
	    (json_int_t)v->reachable_pairs, "unreachable_pairs", (json_int_t)v->unreachable_pairs,
	    "disjoint_pairs", (json_int_t)v->disjoint_pairs, "loops", (int)v->loops, "credit_loops",
	    (int)v->credit_loops, "max_hops", (int)v->max_hops);
}

static int
list_regions(
    const struct daemon *d, const struct plan *p, bool full, json_t **regions, struct fm_error *err)
{
	const struct region_set *set = &d->conf->regions.set;
	uint16_t *sw_region;
	int rc = regions_find(set, p->snap, &sw_region, err);

	if (rc == 0)
		rc = regions_json(set, p->snap, sw_region, p, full, regions, err);
	free(sw_region);
	return rc;
}

/* The plan, and in it the regions that were joined. */
static int
composed_json(const struct daemon *d, const struct plan *p, json_t *whole, json_t **result,
    struct fm_error *err)
{
	json_t *regions = NULL;
	int rc = list_regions(d, p, false, &regions, err);

	if (rc != 0) {
		json_decref(whole);
		return rc;
	}
	add_joined(p, whole);
	json_object_set_new(whole, "regions", regions);
	*result = whole;
	return 0;
}

/* Is the plan as configured, and whom does it leave without a path though cables join them? */
static int
add_mended(const struct plan *p, json_t *whole, struct fm_error *err)
{
	const struct fm_fabric *fab = &p->snap->fab;
	struct plan_cut cut = { 0 };
	json_t *hosts = json_array();
	bool ok = hosts != NULL && plan_find_cut(p, &cut);

	for (size_t i = 0; ok && i < cut.ends.n && i < HOSTS_SHOWN; i++)
		ok = json_array_append_new(hosts, json_text(fab->end_name[cut.ends.item[i]])) == 0;
	ok = ok && json_object_set_new(whole, "mended", json_boolean(p->mended)) == 0 &&
	    json_object_set_new(whole, "n_cut", json_integer((json_int_t)cut.ends.n)) == 0 &&
	    json_object_set(whole, "cut", hosts) == 0 &&
	    (cut.ends.n == 0 ||
		json_object_set_new(whole, "witness", json_text(p->verdict.witness)) == 0);
	json_decref(hosts);
	fm_vec_fini(&cut.ends);
	return ok ? 0 : fm_fail(err, FM_E_RESOURCE, "out of memory for the answer");
}

/* Which engine took which region, and why the ones before it refused. */
static int
run_routes(void *arg, const json_t *args, json_t **result, struct fm_error *err)
{
	const struct daemon *d = arg;
	const struct plan *p = sweeper_plan(d->sweeper);
	json_t *whole, *steps;
	int rc;

	if (p == NULL)
		return hand_out(json_pack("{s:[]}", "regions"), result, err);
	if ((rc = steps_json(&d->conf->routing.chain, p, &steps, err)) != 0)
		return rc;
	whole = plan_json(p);
	if (whole == NULL) {
		json_decref(steps);
		return hand_out(NULL, result, err);
	}
	if (steps != NULL)
		json_object_set_new(whole, "steps", steps);
	if (add_mended(p, whole, err) != 0) {
		json_decref(whole);
		return (int)err->kind;
	}
	if (p->because != NULL)
		json_object_set_new(whole, "because", json_string(p->because));
	if (p->weighed[0] != '\0')
		json_object_set_new(whole, "weighed", json_string(p->weighed));
	if (d->conf->regions.set.n_regions > 1)
		return composed_json(d, p, whole, result, err);
	json_object_set_new(whole, "region", json_string(REGION_DEFAULT));
	return hand_out(json_pack("{s:[o]}", "regions", whole), result, err);
}

/* What each region holds, where it borders on others, who routes it. */
static int
run_regions(void *arg, const json_t *args, json_t **result, struct fm_error *err)
{
	const struct daemon *d = arg;
	const struct plan *p = sweeper_plan(d->sweeper);
	json_t *regions = NULL;
	int rc;

	if (p == NULL)
		return hand_out(json_pack("{s:[]}", "regions"), result, err);
	rc = list_regions(d, p, true, &regions, err);
	return rc != 0 ? rc : hand_out(json_pack("{s:o}", "regions", regions), result, err);
}

/* Who may talk to whom; with "pkey" who is in that one. */
static int
run_partitions(void *arg, const json_t *args, json_t **result, struct fm_error *err)
{
	const struct daemon *d = arg;
	const json_t *pkey = json_object_get(args, "pkey");
	const struct partitions *all = d->conf->partitions.all;
	const struct partition *one = NULL;
	json_int_t n = json_integer_value(pkey);

	if (json_is_string(pkey))
		one = partitions_named(all, json_string_value(pkey));
	else if (json_is_integer(pkey) && n >= 0 && n <= UINT16_MAX)
		one = partitions_find(all, (uint16_t)n);
	if (pkey != NULL && one == NULL)
		return fm_fail(err, FM_E_CONFIG,
		    "there is no such partition, by P_Key or by name; without one all are shown");
	return hand_out(daemon_partitions_json(d, one), result, err);
}

static int
run_nodes(void *arg, const json_t *args, json_t **result, struct fm_error *err)
{
	return daemon_nodes(arg, args, result, err);
}

static int
run_links(void *arg, const json_t *args, json_t **result, struct fm_error *err)
{
	return daemon_links(arg, args, result, err);
}

static int
write_fabric(void *arg, const json_t *args, struct ctl_text *text, struct fm_error *err)
{
	return daemon_fabric(arg, args, text, err);
}

static int
run_crossing(void *arg, const json_t *args, json_t **result, struct fm_error *err)
{
	struct daemon *d = arg;

	return crossed_ask(d->crossed, sweeper_inventory(d->sweeper), sweeper_plan(d->sweeper),
	    json_object_get(args, "ports"), result, err);
}

static int
run_path(void *arg, const json_t *args, json_t **result, struct fm_error *err)
{
	return daemon_path(arg, args, result, err);
}

static int
run_paths(void *arg, const json_t *args, json_t **result, struct fm_error *err)
{
	return daemon_paths(arg, args, result, err);
}

static json_t *
verdict_json(const struct plan *p)
{
	const struct verdict *v = &p->verdict;

	return json_pack("{s:s, s:I, s:I, s:i, s:i, s:o}", "state", "done", "reachable_pairs",
	    (json_int_t)v->reachable_pairs, "unreachable_pairs", (json_int_t)v->unreachable_pairs,
	    "loops", (int)v->loops, "credit_loops", (int)v->credit_loops, "witness",
	    json_text(v->fault == VERIFY_OK ? "" : v->witness));
}

/* An answer that says what holds, with what else there is: o or NULL. */
static json_t *
with_well(const struct daemon *d, json_t *o)
{
	if (o != NULL)
		json_object_set_new(o, "converged", json_boolean(sweeper_is_well(d->sweeper)));
	return o;
}

/* The verdict on the plan in force; with readback that on what switches hold: begun by the
 * first call, told how far it is by others, handed out by the one that finds it done. */
static int
run_verify(void *arg, const json_t *args, json_t **result, struct fm_error *err)
{
	struct daemon *d = arg;
	const struct plan *p = sweeper_plan(d->sweeper);
	struct verify_request how = { 0 };
	struct sweep_settings set;
	json_t *answer;
	bool readback;

	if (ctl_read_flag(args, "readback", &readback, err) != 0)
		return (int)err->kind;
	if (p == NULL)
		return fm_fail(err, FM_E_CONFIG, "there are no routes yet");
	if (!readback)
		return hand_out(with_well(d, verdict_json(p)), result, err);
	daemon_settings(d, &set);
	how.n_vls = set.routing.n_vls;
	how.sl_model = p->forward_only ? VERIFY_FORWARD : set.routing.sl_model;
	if (d->readback == NULL) {
		d->readback = readback_start(
		    d->txn, sweeper_inventory(d->sweeper), (struct plan *)(uintptr_t)p, &how, err);
		if (d->readback == NULL)
			return (int)err->kind;
		daemon_wake(d);
	}
	answer = readback_json(d->readback);
	if (readback_is_done(d->readback)) {
		readback_mend(d->readback, d->sweeper);
		readback_free(d->readback);
		d->readback = NULL;
		daemon_wake(d);
	}
	return hand_out(with_well(d, answer), result, err);
}

static int
run_trouble(void *arg, const json_t *args, json_t **result, struct fm_error *err)
{
	return hand_out(daemon_trouble_json(arg), result, err);
}

/* How cables are, as fmd-perf has judged their counters. */
static int
run_report(void *arg, const json_t *args, json_t **result, struct fm_error *err)
{
	struct daemon *d = arg;
	int64_t now_ms = (int64_t)plan_now_ms();
	int rc;

	if (d->ha.state != WIRE_SM_MASTER)
		return fm_fail(err, FM_E_CONFIG,
		    "this fmd is %s: cables are reported to the master",
		    ha_state_name(d->ha.state));
	if (findings_age_ms(d->findings, now_ms) < 0 &&
	    !quarantine_believe(d->findings, &d->isolated, sweeper_inventory(d->sweeper)))
		return fm_fail(err, FM_E_RESOURCE, "out of memory for cables");
	rc = findings_take(d->findings, args, now_ms, result, err);
	if (rc == 0)
		daemon_begin_quarantine(d);
	return rc;
}

static int
run_health(void *arg, const json_t *args, json_t **result, struct fm_error *err)
{
	struct health_of of;

	(void)args;
	daemon_health_of(arg, &of);
	return health_json(&of, result, err);
}

static int
run_events(void *arg, const json_t *args, json_t **result, struct fm_error *err)
{
	const struct daemon *d = arg;
	struct events_query q;
	int rc = events_read_query(args, (int64_t)time(NULL) * 1000, &q, err);

	if (rc != 0)
		return rc;
	events_step(d->events);
	return events_json(d->events, &q, result, err);
}

/* The number of the sweep that does what is asked for now: the one that runs began without. */
static json_int_t
next_sweep(const struct daemon *d)
{
	return (json_int_t)sweeper_report(d->sweeper)->number + 1;
}

/* How far it is, for who waits; O(nodes), where generation is another one O(ports). */
static int
run_progress(void *arg, const json_t *args, json_t **result, struct fm_error *err)
{
	struct daemon *d = arg;
	const struct sweep_report *r = sweeper_report(d->sweeper);
	const struct todo_list *todo = sweeper_todo(d->sweeper);
	bool generation;

	if (ctl_read_flag(args, "generation", &generation, err) != 0)
		return (int)err->kind;
	return hand_out(
	    json_pack("{s:I, s:s, s:s, s:I, s:s?, s:I, s:I, s:b, s:b, s:o, s:o*}", "sweep",
		(json_int_t)r->number, "scope", sweep_scope_name(r->scope), "phase",
		sweep_phase_names[sweeper_phase(d->sweeper)], "ended", (json_int_t)d->ended.number,
		"outcome", d->ended.number > 0 ? sweep_outcome_name(d->ended.outcome) : NULL,
		"unreachable_pairs", (json_int_t)d->ended.n_unreachable, "unfinished",
		(json_int_t)(todo->n - todo->n_of[TODO_FLAPPING]), "tries_again",
		(int)todo_is_hastened(todo), "converged", (int)sweeper_is_well(d->sweeper), "audit",
		audit_json(d), "generation", generation ? daemon_generation(d) : NULL),
	    result, err);
}

/* All that nodes hold is read back, beside sweeps. */
static int
read_tables(struct daemon *d, json_t **result, struct fm_error *err)
{
	if (!sweeper_is_up(d->sweeper))
		return fm_fail(err, FM_E_CONFIG,
		    "the subnet is not up: there are no tables of ours to be read back");
	daemon_wake(d);
	return hand_out(json_pack("{s:s, s:I}", "asked_for", "tables", "turn",
			    (json_int_t)sweeper_audit(d->sweeper)),
	    result, err);
}

/* Nothing is wrong with what was asked, nor with fmd. */
static int
leave_to_master(const struct daemon *d, json_t **result, struct fm_error *err)
{
	const char *other = sweeper_report(d->sweeper)->other;

	return hand_out(json_pack("{s:b, s:s, s:o}", "asked_for", 0, "sm_state",
			    ha_state_name(d->ha.state), "other_sm", json_text(other)),
	    result, err);
}

static int
run_sweep(void *arg, const json_t *args, json_t **result, struct fm_error *err)
{
	struct daemon *d = arg;
	const json_t *given = json_object_get(args, "scope");
	const char *word = given != NULL ? json_string_value(given) : "heavy";
	enum sweep_scope scope = SWEEP_HEAVY;
	bool tables;

	if (ctl_read_flag(args, "tables", &tables, err) != 0)
		return (int)err->kind;
	if (tables && given != NULL)
		return fm_fail(err, FM_E_CONFIG,
		    "tables are read beside sweeps: say either a scope or tables");
	if (word != NULL && strcmp(word, "light") == 0)
		scope = SWEEP_LIGHT;
	else if (word == NULL || strcmp(word, "heavy") != 0)
		return fm_fail(err, FM_E_CONFIG, "a sweep is \"light\" or \"heavy\"%s%.40s",
		    word != NULL ? ", not " : "", word != NULL ? word : "");
	if (d->ha.state == WIRE_SM_STANDBY || d->ha.state == WIRE_SM_NOT_ACTIVE)
		return leave_to_master(d, result, err);
	if (tables)
		return read_tables(d, result, err);
	sweeper_request(d->sweeper, scope, "asked for by fmctl");
	daemon_wake(d);
	return hand_out(
	    json_pack("{s:s, s:I}", "asked_for", sweep_scope_name(scope), "sweep", next_sweep(d)),
	    result, err);
}

/* What waits for it is taken up at the price of emptied entries; with "dry-run"
 * only told. */
static int
run_drain(void *arg, const json_t *args, json_t **result, struct fm_error *err)
{
	struct daemon *d = arg;
	const struct plan *p = sweeper_plan(d->sweeper);
	bool dry;

	if (ctl_read_flag(args, "dry_run", &dry, err) != 0)
		return (int)err->kind;
	if (p == NULL || p->change.waiting[0] == '\0')
		return fm_fail(err, FM_E_CONFIG, "no tables wait to be taken up");
	if (!dry) {
		sweeper_drain(d->sweeper);
		daemon_wake(d);
	}
	return hand_out(
	    json_pack("{s:s, s:o, s:b, s:I}", "change", plan_change_name(p->change.kind), "waiting",
		json_text(p->change.waiting), "asked_for", (int)!dry, "packet_life_ms",
		(json_int_t)d->conf->transition.packet_life_ms),
	    result, err);
}

/* What is wrong, when it is more than a sentence. */
static json_t *
mistakes_json(const struct mistakes *all)
{
	json_t *list = json_array();

	for (size_t i = 0; list != NULL && i < all->n; i++)
		json_array_append_new(list, json_text(all->sentence[i]));
	return json_pack("{s:b, s:o, s:I}", "reloaded", 0, "mistakes", list, "not_told",
	    (json_int_t)all->n_more);
}

static json_t *
reloaded_json(const struct daemon *d)
{
	const struct conf *fresh = d->next_conf != NULL ? d->next_conf : d->conf;
	char keys[200];

	conf_needs_restart(d->begun, fresh, keys, sizeof(keys));
	return json_pack("{s:b, s:b, s:I, s:s}", "reloaded", 1, "in_force",
	    (int)(d->next_conf == NULL), "sweep", next_sweep(d), "needs_restart", keys);
}

static int
run_reload(void *arg, const json_t *args, json_t **result, struct fm_error *err)
{
	const json_t *trial = json_object_get(args, "trial");
	struct daemon *d = arg;
	struct mistakes all = { 0 };
	bool yes;
	int rc;

	if (ctl_read_flag(args, "yes", &yes, err) != 0)
		return (int)err->kind;
	rc = trial != NULL
	    ? daemon_reload_outcome(d, (uint64_t)json_integer_value(trial), &all, err)
	    : daemon_reload(d, yes ? RELOAD_MOVE : RELOAD_REFUSE, &all, err);
	if (rc == RELOAD_TRIED)
		rc = hand_out(json_pack("{s:b, s:s, s:I}", "reloaded", 0, "state", "judging",
				  "trial", (json_int_t)daemon_reload_number(d)),
		    result, err);
	else if (rc == 0)
		rc = hand_out(reloaded_json(d), result, err);
	else if (all.n > 1)
		rc = hand_out(mistakes_json(&all), result, err);
	mistakes_fini(&all);
	return rc;
}

static int
run_isolate(void *arg, const json_t *args, json_t **result, struct fm_error *err)
{
	int rc = daemon_isolate(arg, args, result, err);

	return rc != 0 ? rc : hand_out(with_well(arg, *result), result, err);
}

static int
run_restore(void *arg, const json_t *args, json_t **result, struct fm_error *err)
{
	int rc = daemon_restore(arg, args, result, err);

	return rc != 0 ? rc : hand_out(with_well(arg, *result), result, err);
}

static int
run_dist(void *arg, const json_t *args, json_t **result, struct fm_error *err)
{
	const struct daemon *d = arg;

	(void)args;
	return hand_out(
	    d->ha.state == WIRE_SM_MASTER ? with_well(d, dist_json(d->dist)) : dist_json(d->dist),
	    result, err);
}

static int
run_ha(void *arg, const json_t *args, json_t **result, struct fm_error *err)
{
	const struct daemon *d = arg;
	json_t *o = json_pack("{s:s}", "role", ha_state_name(d->ha.state));

	(void)args;
	if (o != NULL)
		copying_add_json(d->copying, o);
	return hand_out(o, result, err);
}

/* ------------------------------------------------------------------ handover
 *
 * The first call begins it (core/sms/hand_over.c) and tells its number, later ones with that number
 * tell how far it is; the daemon goes on whether or not anybody asks. */

static const char *const handover_states[] = { "none", "waiting", "sent", "done", "failed" };

static const struct inv_node *
node_of(const struct daemon *d, const struct ha_other *o)
{
	return inv_node(sweeper_inventory(d->sweeper), o->node);
}

static bool
is_called(const char *name, const char *word, bool first_word)
{
	size_t len = first_word ? strcspn(name, " ") : strlen(name);

	return strlen(word) == len && memcmp(name, word, len) == 0;
}

/* By the GUID of its port or node, the name of its node or the first word of that. */
static bool
is_meant(const struct daemon *d, const struct ha_other *o, const char *word, bool first_word)
{
	const struct inv_node *n = node_of(d, o);
	uint64_t guid;

	if (number_parse(word, &guid))
		return guid == n->ports[o->port].guid || guid == n->guid;
	return is_called(n->name, word, first_word) || is_called(n->desc, word, first_word);
}

static int
find_sm(
    const struct daemon *d, const char *word, const struct ha_other **found, struct fm_error *err)
{
	unsigned n = 0;

	for (int first_word = 0; n == 0 && first_word < 2; first_word++)
		for (uint32_t i = 0; i < sweeper_n_other_sms(d->sweeper); i++) {
			const struct ha_other *o = sweeper_other_sm(d->sweeper, i);

			if (is_meant(d, o, word, first_word != 0)) {
				*found = o;
				n++;
			}
		}
	if (n == 0)
		return fm_fail(err, FM_E_CONFIG,
		    "no SM that is on the subnet has the name or GUID %.80s: fmctl status "
		    "other_sms lists them",
		    word);
	if (n > 1)
		return fm_fail(err, FM_E_CONFIG, "%u SMs are at %.80s: write a port GUID", n, word);
	return 0;
}

static json_t *
handover_json(const struct daemon *d)
{
	const struct sm_order *o = sweeper_order(d->sweeper);
	const struct inv_node *n = node_of(d, &o->to);

	return json_pack("{s:I, s:s, s:o, s:o, s:i, s:i, s:o}", "handover", (json_int_t)o->number,
	    "state", handover_states[o->state], "node", json_text(n->name), "port_guid",
	    json_guid(n->ports[o->to.port].guid), "lid", (int)o->to.lid, "priority",
	    (int)o->to.info.priority, "says", json_text(o->says));
}

static int
begin_handover(struct daemon *d, const char *word, struct fm_error *err)
{
	const struct ha_other *to = NULL;

	if (d->ha.state == WIRE_SM_MASTER && word != NULL && find_sm(d, word, &to, err) != 0)
		return (int)err->kind;
	if (sweeper_hand_over(d->sweeper, to, err) != 0)
		return (int)err->kind;
	to = &sweeper_order(d->sweeper)->to;
	d->began.handover = events_add(EVENT_HANDOVER, FM_LOG_NOTICE, "ha", NULL,
	    "fmctl handover: the subnet is handed over to %s, LID %u, priority %u",
	    node_of(d, to)->name, to->lid, to->info.priority);
	d->order_is_open = true;
	daemon_wake(d);
	return 0;
}

static int
run_handover(void *arg, const json_t *args, json_t **result, struct fm_error *err)
{
	struct daemon *d = arg;
	const json_t *to = json_object_get(args, "to"), *number = json_object_get(args, "number");

	if (to != NULL && !json_is_string(to))
		return fm_fail(
		    err, FM_E_CONFIG, "to= is the name or the GUID of the node of a standby");
	if (number == NULL && begin_handover(d, json_string_value(to), err) != 0)
		return (int)err->kind;
	if (number != NULL &&
	    (json_integer_value(number) < 1 ||
		json_integer_value(number) != sweeper_order(d->sweeper)->number))
		return fm_fail(err, FM_E_CONFIG, "the last handover has another number");
	return hand_out(handover_json(d), result, err);
}

void
daemon_follow_handover(struct daemon *d)
{
	const struct sm_order *o = sweeper_order(d->sweeper);

	if (!d->order_is_open || (o->state != ORDER_DONE && o->state != ORDER_FAILED))
		return;
	d->order_is_open = false;
	event_tell(&(struct telling){ .kind = EVENT_HANDOVER, .ends = d->began.handover },
	    o->state == ORDER_DONE ? FM_LOG_NOTICE : FM_LOG_WARN, "ha",
	    "fmctl handover to %s %s: %s", node_of(d, &o->to)->name,
	    o->state == ORDER_DONE ? "is done" : "has failed", o->says);
}

/* Vfabrics; with "name" who is in that one. */
static int
run_vfabrics(void *arg, const json_t *args, json_t **result, struct fm_error *err)
{
	const struct daemon *d = arg;
	const struct vfabrics *all = &d->conf->partitions.vfabrics;
	const char *name = json_string_value(json_object_get(args, "name"));
	const struct vfabric *one = NULL;
	json_t *found = NULL;
	int rc;

	for (size_t i = 0; name != NULL && one == NULL && i < all->n; i++)
		if (strcmp(all->of[i].name, name) == 0)
			one = &all->of[i];
	if (name != NULL && one == NULL)
		return fm_fail(err, FM_E_CONFIG,
		    "there is no vfabric %.60s; without a name all are shown", name);
	rc = daemon_vfabrics_json(d, one, &found, err);
	if (rc == 0)
		return hand_out(found, result, err);
	json_decref(found);
	return rc;
}

static int
run_congestion(void *arg, const json_t *args, json_t **result, struct fm_error *err)
{
	const struct daemon *d = arg;
	struct sa_view *v = d->sa != NULL ? sa_server_view(d->sa) : NULL;
	json_t *marks = marks_json(
	    d->sweeper, v, &d->conf->congestion, d->transport->ops->now_ns(d->transport) / 1000000);

	sa_view_put(v);
	return hand_out(marks, result, err);
}

/* ------------------------------------------------------------ all of them */

static const struct ctl_command commands[] = {
	{ "status", "state of the SM and the last sweep that changed something", run_status, "",
	    true },
	{ "routes", "which engine routes which region, and why others refused", run_routes, "",
	    true },
	{ "regions", "what each region holds, its borders, who routes it", run_regions, "", true },
	{ "nodes", "switches and hosts: name, of those it matches; trouble; from: a page on",
	    run_nodes, "name trouble from", true },
	{ "links", "cables, both ends: name, of a node; trouble, degraded; from: a page on",
	    run_links, "name trouble degraded from", true },
	{ "fabric",
	    "for programs: all nodes, cables, groups; generation: the one that is known already",
	    NULL, "generation", true, NULL, write_fabric },
	{ "partitions", "who may talk to whom; pkey=0x8001 or its name: who is in that one",
	    run_partitions, "pkey", true },
	{ "vfabrics", "virtual fabrics: members, P_Key, SL, share; name: who is in that one",
	    run_vfabrics, "name", true },
	{ "congestion", "which ports of switches have marked packets, as their logs say",
	    run_congestion, "", true },
	{ "path",
	    "the way of packets: from, to; lid, guid: that is what these are; why: and not "
	    "another",
	    run_path, "from to lid guid why", true },
	{ "paths",
	    "what the SA says of paths from a lid to all; without it: the ports; from: a page on",
	    run_paths, "lid from", true },
	{ "crossing",
	    "whose routes cross ports of switches: ports=GUID:PORT,...; asked again till it is "
	    "done",
	    run_crossing, "ports", true },
	{ "verify", "the verdict on the routes; readback: on what switches hold", run_verify,
	    "readback", true, .asks = "readback" },
	{ "trouble", "what is wrong in the fabric, where, since when", run_trouble, "", true },
	{ "health", "how cables are, those that are not ok: the worst first", run_health, "",
	    true },
	{ "report",
	    "for fmd-perf: how cables are; list: what the answer before had, interval_s, cables",
	    run_report, "list interval_s cables", false },
	{ "events",
	    "what happened lately; after=N: behind that one; since=TIME, 2h or N; kind=K,...; "
	    "last=N: so many; max=N: the oldest so many",
	    run_events, "after since kind last max", true },
	{ "progress",
	    "which sweep runs, which ended last and how, what is unfinished; generation: that of "
	    "fabric, too",
	    run_progress, "generation", true },
	{ "dist", "where paths are published for hosts, and how far", run_dist, "", true },
	{ "ha", "who is master, and who has a copy of what outlives it", run_ha, "", true },
	{ "sweep",
	    "sweep now: scope \"heavy\" (default) or \"light\"; tables: read back what nodes hold",
	    run_sweep, "scope tables", false },
	{ "drain", "take up tables that wait for entries to be emptied; dry_run: only tell",
	    run_drain, "dry_run", false },
	{ "isolate",
	    "take cables out of routing: what \"switch:NAME\", \"link:NAME:PORT\", a pattern, "
	    "@GROUP or system:GUID, without it a list; yes: do it; force: cut hosts off",
	    run_isolate, "what yes force", true, "yes" },
	{ "restore", "take them in again: what; yes: do it", run_restore, "what yes", true, "yes" },
	{ "handover",
	    "hand the subnet over: to a standby, by its node or GUID, without it the best; number: "
	    "what has become of that one",
	    run_handover, "to number", false },
	{ "reload",
	    "read the configuration again; yes: LIDs in use may move, and no engine need route; "
	    "trial: what has become of the one of that number, which was tried first",
	    run_reload, "yes trial", false },
	{ 0 },
};

int
daemon_open_control(struct daemon *d, struct fm_error *err)
{
	int rc = ctl_open(d->base, d->conf->daemon.control_socket, commands, d, &d->ctl, err);
	struct fm_error why;

	if (rc == 0 && *d->conf->daemon.control_group != '\0' &&
	    ctl_allow_group(d->ctl, d->conf->daemon.control_group, &why) != 0)
		log_warn("ctl", "%s; only root and fmd's user are answered", why.msg);
	return rc;
}
