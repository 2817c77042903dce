/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/daemon/isolate_command.c - fmctl isolate and restore: cables taken out of routing and back,
 * with what that does told first; and cables that fmd takes out itself, as they are bad.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/ctl/ctl.h"
#include "core/daemon/daemon.h"
#include "core/health/health.h"
#include "core/health/quarantine.h"
#include "core/inventory/flaps.h"
#include "core/inventory/isolated_read.h"
#include "core/route/trial.h"
#include "core/text/json_text.h"
#include "lib/hash.h"
#include "lib/log.h"

#define NAMED 100 /* hosts, and switches, in an answer */

/* ---------------------------------------------------------------- the effect */

struct effect {
	uint32_t n_cables;  /* that are isolated by one set and not by the other */
	uint64_t n_routes;  /* entries of switches that lead over them now */
	uint32_t n_hosts;   /* ports of hosts that are cut off from us, or come back */
	uint32_t n_reached; /* ports of hosts that we reach in the end */
	json_t *hosts;	    /* the first of them by name */
	bool of_ours;	    /* the switch is isolated that we are cabled to */
};

/* The switch that we are cabled to, or are; INV_NONE: nothing has been found yet. */
static uint32_t
own_switch(const struct inventory *inv)
{
	const struct inv_node *local;

	if (inv->local >= inv->nodes.n)
		return INV_NONE;
	local = inv_node(inv, inv->local);
	return !inv_is_switch(local) && local->ports[inv->local_port].edge == EDGE_LINKED
	    ? local->ports[inv->local_port].peer
	    : inv->local;
}

/* The switches that we reach by cables that are not isolated: reached[nodes], zeroed. */
static bool
find_reached(const struct inventory *inv, const struct isolated *set, bool *reached)
{
	uint32_t *queue, n = 0, start = own_switch(inv);

	if (start == INV_NONE)
		return true;
	queue = malloc((inv->nodes.n + 1) * sizeof(*queue));
	if (queue == NULL)
		return false;
	reached[start] = true;
	queue[n++] = start;
	for (uint32_t i = 0; i < n; i++) {
		const struct inv_node *sw = inv_node(inv, queue[i]);

		for (unsigned p = 1; inv_is_switch(sw) && p <= sw->n_ports; p++) {
			uint32_t far = sw->ports[p].peer;

			if (!link_usable(inv, &sw->ports[p]) || reached[far] ||
			    !inv_is_switch(inv_node(inv, far)) ||
			    isolated_is_cable(set, inv, queue[i], p))
				continue;
			reached[far] = true;
			queue[n++] = far;
		}
	}
	free(queue);
	return true;
}

static uint64_t
count_routes(const struct plan *plan, const struct inv_node *n, unsigned port)
{
	uint64_t n_routes = 0;

	if (plan == NULL || plan->tables == NULL || n->sw_index >= plan->snap->fab.n_switches)
		return 0;
	for (uint32_t lid = 1; lid <= plan->top_lid; lid++)
		n_routes += plan->tables->t.lft[n->sw_index][lid] == port;
	return n_routes;
}

static void
look_at_port(const struct daemon *d, uint32_t slot, unsigned port, const struct isolated *to,
    const bool *was, const bool *is, struct effect *e)
{
	const struct inventory *inv = sweeper_inventory(d->sweeper);
	const struct inv_node *n = inv_node(inv, slot), *far;
	const struct inv_port *p = &n->ports[port];

	if (!link_usable(inv, p))
		return;
	far = inv_node(inv, p->peer);
	if (inv_is_switch(far)) {
		if (isolated_is_cable(&d->isolated, inv, slot, port) ==
		    isolated_is_cable(to, inv, slot, port))
			return;
		e->n_cables += slot < p->peer || (slot == p->peer && port < p->peer_port);
		e->n_routes += count_routes(sweeper_plan(d->sweeper), n, port);
		return;
	}
	e->n_reached += is[slot];
	if (was[slot] == is[slot])
		return;
	if (e->n_hosts++ < NAMED)
		json_array_append_new(e->hosts, json_text(far->name));
}

/* Of `to` in the place of d->isolated.  e->hosts is the caller's. */
static int
find_effect(
    const struct daemon *d, const struct isolated *to, struct effect *e, struct fm_error *err)
{
	const struct inventory *inv = sweeper_inventory(d->sweeper);
	bool *reached = calloc(2 * inv->nodes.n + 1, sizeof(*reached));
	bool *is = reached != NULL ? reached + inv->nodes.n : NULL;
	bool ok;

	*e = (struct effect){ .hosts = json_array(),
		.of_ours = own_switch(inv) != INV_NONE &&
		    isolated_has(to, inv_node(inv, own_switch(inv))->guid, 0) };
	ok = reached != NULL && e->hosts != NULL && find_reached(inv, &d->isolated, reached) &&
	    find_reached(inv, to, is);
	for (uint32_t i = 0; ok && i < inv->nodes.n; i++) {
		const struct inv_node *n = inv_node(inv, i);

		for (unsigned p = 1; inv_is_switch(n) && n->present && p <= n->n_ports; p++)
			look_at_port(d, i, p, to, reached, is, e);
	}
	free(reached);
	return ok ? 0 : fm_fail(err, FM_E_RESOURCE, "out of memory for the answer");
}

/* ------------------------------------------------- the effect on the fullest link */

/* A plan is made of what would be left, beside the loop, and its fullest link told. */
struct foretelling {
	struct trial *trial;
	struct conf *conf; /* whose chain it goes by */
	uint64_t mark;	   /* of the set that there would be */
	uint64_t plan;	   /* number of the one in force */
};

static void
forget(struct foretelling **f)
{
	if (*f == NULL)
		return;
	trial_free((*f)->trial);
	conf_put((*f)->conf);
	free(*f);
	*f = NULL;
}

void
daemon_forget_foretold(struct daemon *d)
{
	forget(&d->foretold);
	forget(&d->quarantine.trial);
}

/* What is asked: the set that there would be, and why. */
struct wish {
	struct isolated to, named;
	bool restores;
};

static uint64_t
mark_of(const struct isolated *set)
{
	uint64_t mark = set->items.n;

	for (size_t i = 0; i < set->items.n; i++)
		mark = fm_mix64(fm_mix64(mark ^ set->items.item[i].guid) + set->items.item[i].port);
	return mark;
}

static int
begin_trial(struct daemon *d, const struct isolated *to, bool cuts_off, struct foretelling **out,
    struct fm_error *err)
{
	struct plan *plan =
	    (struct plan *)(uintptr_t)sweeper_plan(d->sweeper); /* shared by count */
	struct foretelling *f = calloc(1, sizeof(*f));
	struct sweep_settings set;
	struct plan_request q;
	int rc;

	if (f == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for a trial of other routes");
	daemon_settings(d, &set);
	q = (struct plan_request){ .set = &set.routing,
		.chain = &d->conf->routing.chain,
		.regions = &d->conf->regions.set,
		.prev = plan,
		/* as the sweep does it (core/sweep/routing.c) */
		.anew = cuts_off ? PLAN_WITHOUT_PREV : PLAN_FROM_PREV,
		.now_ms = d->transport->ops->now_ns(d->transport) / 1000000,
		.linger_ms = set.addresses.lid_linger_ms,
		.drain = set.transition.drain,
		.rebalance = set.transition.rebalance };
	*f = (struct foretelling){
		.conf = conf_get(d->conf), .mark = mark_of(to), .plan = plan->number
	};
	*out = f;
	rc = sweeper_snapshot_as(d->sweeper, to, &q.snap, err);
	if (rc == 0 && (f->trial = trial_start(d->worker, &d->router, &q, err)) == NULL)
		rc = (int)err->kind;
	if (rc == 0)
		snapshot_put(q.snap);
	else
		forget(out);
	return rc;
}

static json_t *
link_json(const struct trial_link *l)
{
	return l->routes == 0
	    ? json_null()
	    : json_pack("{s:I, s:o, s:i, s:o}", "routes", (json_int_t)l->routes, "from",
		  json_text(l->from), "port", (int)l->port, "to", json_text(l->to));
}

static json_t *
trial_json(const struct trial_result *r)
{
	if (r->rc != 0)
		return json_pack("{s:o}", "failed", json_text(r->err.msg));
	return json_pack("{s:o, s:o, s:s, s:s, s:I}", "before", link_json(&r->before), "after",
	    link_json(&r->after), "engine", r->engine, "tables", r->how, "unreachable_pairs",
	    (json_int_t)r->unreachable_pairs);
}

/* What would be with this set; NULL: it is being found, or err has a kind.  forget(f) when it has
 * been looked at. */
static const struct trial_result *
try_out(struct daemon *d, const struct isolated *to, bool cuts_off, struct foretelling **f,
    struct fm_error *err)
{
	uint64_t plan = sweeper_plan(d->sweeper)->number;
	const struct trial_result *r = *f != NULL ? trial_result((*f)->trial) : NULL;

	if (r != NULL && (*f)->mark == mark_of(to) && (*f)->plan == plan)
		return r;
	if (r != NULL)
		forget(f);
	if (*f == NULL && sweeper_phase(d->sweeper) == PHASE_IDLE)
		begin_trial(d, to, cuts_off, f, err);
	return NULL;
}

/* The fullest link before and after; NULL: ask again, it is being found. */
static json_t *
foretell(struct daemon *d, const struct wish *w, bool cuts_off)
{
	const struct plan *plan = sweeper_plan(d->sweeper);
	const struct trial_result *r;
	struct fm_error err = { 0 };
	json_t *answer;

	if (plan == NULL || plan->tables == NULL)
		return json_null();
	r = try_out(d, &w->to, cuts_off, &d->foretold, &err);
	if (r == NULL)
		return err.kind != 0 ? json_pack("{s:o}", "failed", json_text(err.msg)) : NULL;
	answer = trial_json(r);
	forget(&d->foretold);
	return answer;
}

/* Hosts are cut off only where that is asked for, and never most of them, for then it is fmd that
 * is cut off, as where its own switch is named. */
static int
check_cut_off(const struct effect *e, bool force, struct fm_error *err)
{
	char names[160] = "";
	size_t at = 0;

	if (e->n_hosts > e->n_reached || (e->of_ours && e->n_hosts > 0))
		return fm_fail(err, FM_E_CONFIG,
		    "fmd itself would be cut off: of %u ports of hosts it would reach %u",
		    e->n_hosts + e->n_reached, e->n_reached);
	if (e->n_hosts == 0 || force)
		return 0;
	for (size_t i = 0; i < 3 && i < json_array_size(e->hosts) && at < sizeof(names); i++)
		at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%.40s", i > 0 ? ", " : "",
		    json_string_value(json_array_get(e->hosts, i)));
	return fm_fail(err, FM_E_CONFIG,
	    "%u port%s of hosts would be cut off, of %s%s: --force does it", e->n_hosts,
	    e->n_hosts == 1 ? "" : "s", names, e->n_hosts > 3 ? ", ..." : "");
}

/* ------------------------------------------------------------------ commands */

static json_t *
item_json(const struct inventory *inv, const struct isolated_item *item)
{
	uint32_t slot = inv_find(inv, item->guid), n_cables = 0;
	const struct inv_node *n = slot != INV_NONE ? inv_node(inv, slot) : NULL;
	char guid[24];

	snprintf(guid, sizeof(guid), "0x%016" PRIx64, item->guid);
	for (unsigned p = 1; n != NULL && n->present && p <= n->n_ports; p++)
		n_cables += (item->port == 0 || item->port == p) &&
		    n->ports[p].edge == EDGE_LINKED &&
		    inv_is_switch(inv_node(inv, n->ports[p].peer));
	return json_pack("{s:s, s:o, s:s, s:o, s:i, s:o}", "kind",
	    item->port == 0 ? "switch" : "link", "node",
	    n != NULL && n->present	? json_text(n->name)
		: item->name[0] != '\0' ? json_text(item->name)
					: json_null(),
	    "guid", guid, "port", item->port != 0 ? json_integer(item->port) : json_null(),
	    "cables", (int)n_cables, "quarantined",
	    item->quarantined_s != 0 ? json_text(item->reason) : json_null());
}

static int
list(const struct daemon *d, json_t **result, struct fm_error *err)
{
	json_t *all = json_array();

	for (size_t i = 0; all != NULL && i < d->isolated.items.n; i++)
		json_array_append_new(
		    all, item_json(sweeper_inventory(d->sweeper), &d->isolated.items.item[i]));
	*result = json_pack("{s:o}", "isolated", all);
	return *result != NULL ? 0 : fm_fail(err, FM_E_RESOURCE, "out of memory for the answer");
}

static uint32_t
count_switches(const struct wish *w)
{
	uint32_t n = 0;

	for (size_t i = 0; i < w->named.items.n; i++)
		n += w->named.items.item[i].port == 0;
	return n;
}

/* It is kept first, so that a restart knows no less than the switches; then w has the set that was
 * there. */
static int
take_set(struct daemon *d, struct wish *w, const char *reason, struct fm_error *err)
{
	struct isolated before = d->isolated;
	int rc = isolated_save(d->isolated_path, &w->to, err);

	if (rc != 0)
		return rc;
	d->isolated = w->to;
	w->to = before;
	sweeper_request(d->sweeper, SWEEP_NAMED, reason);
	daemon_wake(d);
	return 0;
}

static int
apply_wish(struct daemon *d, struct wish *w, const char *what, struct fm_error *err)
{
	uint32_t n = count_switches(w);
	char reason[120], many[32] = "";
	int rc;

	if (n > 1)
		snprintf(many, sizeof(many), ": %" PRIu32 " switches", n);
	snprintf(reason, sizeof(reason), "fmctl %s %.70s%s", w->restores ? "restore" : "isolate",
	    what, many);
	rc = take_set(d, w, reason, err);
	if (rc != 0)
		return rc;
	events_add(w->restores ? EVENT_RESTORED : EVENT_ISOLATED, FM_LOG_NOTICE, "daemon", NULL,
	    "%s", reason);
	for (size_t i = 0; w->restores && i < w->named.items.n; i++)
		findings_spare(
		    d->findings, w->named.items.item[i].guid, w->named.items.item[i].port);
	return 0;
}

/* The set as it would be. */
static int
make_set(const struct daemon *d, const char *what, struct wish *w, struct fm_error *err)
{
	const struct plan *plan = sweeper_plan(d->sweeper);
	const struct isolated_places at = { .inv = sweeper_inventory(d->sweeper),
		.snap = plan != NULL ? plan->snap : NULL,
		.groups = d->conf->regions.set.groups,
		.now = &d->isolated };
	int rc = isolated_read(&at, what, w->restores, &w->named, err);

	if (rc != 0)
		return rc;
	if (!isolated_copy(&w->to, &d->isolated) ||
	    (!w->restores && !isolated_copy(&w->to, &w->named)))
		return fm_fail(err, FM_E_RESOURCE, "out of memory for isolated cables");
	for (size_t i = 0; w->restores && i < w->named.items.n; i++)
		isolated_remove(&w->to, w->named.items.item[i].guid, w->named.items.item[i].port);
	return 0;
}

static json_t *
switches_json(const struct wish *w)
{
	json_t *all = json_array();

	for (size_t i = 0; i < w->named.items.n && i < NAMED; i++)
		if (w->named.items.item[i].port == 0)
			json_array_append_new(all, json_text(w->named.items.item[i].name));
	return all;
}

/* asked_for: it is done.  fullest: taken over; NULL: it is being found. */
static json_t *
effect_json(const struct daemon *d, const char *what, const struct wish *w, const struct effect *e,
    bool asked_for, json_t *fullest)
{
	return json_pack("{s:s, s:o, s:o, s:i, s:b, s:i, s:I, s:i, s:O, s:s, s:o, s:I}", "command",
	    w->restores ? "restore" : "isolate", "what", json_text(what), "switches",
	    switches_json(w), "n_switches", (int)count_switches(w), "asked_for", (int)asked_for,
	    "cables", (int)e->n_cables, "routes", (json_int_t)e->n_routes,
	    w->restores ? "come_back" : "cut_off", (int)e->n_hosts, "hosts", e->hosts, "state",
	    fullest != NULL ? "done" : "judging", "fullest",
	    fullest != NULL ? fullest : json_null(), "sweep",
	    (json_int_t)sweeper_report(d->sweeper)->number + 1);
}

/* The cables that flap, as far as the text names some: to *named, which is empty.  False: none. */
static bool
name_flapping(const struct daemon *d, const char *what, struct isolated *named)
{
	const struct inventory *inv = sweeper_inventory(d->sweeper);
	struct isolated all = { 0 };
	const struct isolated_places at = { .inv = inv, .now = &all };
	struct fm_error err = { 0 };
	bool ok = true;

	for (size_t i = 0; i < inv->flaps.n; i++) {
		const struct inv_flap *f = &inv->flaps.item[i];

		if (flaps_at(inv, f->slot[0], f->port[0]) != NULL)
			ok = isolated_add(&all, inv_node(inv, f->slot[0])->guid, f->port[0]) && ok;
	}
	ok = ok && isolated_any(&all) && isolated_read(&at, what, true, named, &err) == 0;
	isolated_fini(&all);
	return ok;
}

/* What it does is small, and known: routes over the cable are found when it is used again. */
static int
restore_flapping(struct daemon *d, const char *what, const struct isolated *named, bool yes,
    json_t **result, struct fm_error *err)
{
	const struct wish w = { .restores = true };
	struct effect e = { .n_cables = (uint32_t)named->items.n, .hosts = json_array() };
	char reason[120];

	for (size_t i = 0; yes && i < named->items.n; i++)
		sweeper_end_flapping(
		    d->sweeper, named->items.item[i].guid, named->items.item[i].port);
	if (yes) {
		snprintf(reason, sizeof(reason), "fmctl restore %.70s", what);
		events_add(EVENT_RESTORED, FM_LOG_NOTICE, "daemon", NULL, "%s", reason);
		sweeper_request(d->sweeper, SWEEP_NAMED, reason);
		daemon_wake(d);
	}
	*result = effect_json(d, what, &w, &e, yes, json_null());
	json_decref(e.hosts);
	return *result != NULL ? 0 : fm_fail(err, FM_E_RESOURCE, "out of memory for the answer");
}

static int
change(struct daemon *d, const json_t *args, bool restores, json_t **result, struct fm_error *err)
{
	const char *what = json_string_value(json_object_get(args, "what"));
	struct wish w = { .restores = restores };
	struct effect e = { 0 };
	bool yes, force;
	int rc;

	if (ctl_read_flag(args, "yes", &yes, err) != 0 ||
	    ctl_read_flag(args, "force", &force, err) != 0)
		return (int)err->kind;
	if (d->ha.state != WIRE_SM_MASTER)
		return fm_fail(err, FM_E_CONFIG,
		    "this fmd is %s: cables are isolated by the master",
		    ha_state_name(d->ha.state));
	if (restores && name_flapping(d, what, &w.named)) {
		rc = restore_flapping(d, what, &w.named, yes, result, err);
		isolated_fini(&w.named);
		return rc;
	}
	rc = make_set(d, what, &w, err);
	if (rc == 0)
		rc = find_effect(d, &w.to, &e, err);
	if (rc == 0 && yes && !restores)
		rc = check_cut_off(&e, force, err);
	if (rc == 0 && yes)
		rc = apply_wish(d, &w, what, err);
	if (rc == 0) {
		*result = effect_json(d, what, &w, &e, yes,
		    yes ? json_null() : foretell(d, &w, !restores && e.n_hosts > 0));
		if (*result == NULL)
			rc = fm_fail(err, FM_E_RESOURCE, "out of memory for the answer");
	}
	json_decref(e.hosts);
	isolated_fini(&w.to);
	isolated_fini(&w.named);
	return rc;
}

int
daemon_isolate(struct daemon *d, const json_t *args, json_t **result, struct fm_error *err)
{
	const json_t *what = json_object_get(args, "what");

	if (what == NULL)
		return list(d, result, err);
	if (!json_is_string(what))
		return fm_fail(err, FM_E_CONFIG, "write " ISOLATED_FORMS);
	return change(d, args, false, result, err);
}

int
daemon_restore(struct daemon *d, const json_t *args, json_t **result, struct fm_error *err)
{
	if (!json_is_string(json_object_get(args, "what")))
		return fm_fail(err, FM_E_CONFIG,
		    "write " ISOLATED_FORMS "; fmctl isolate lists what is isolated");
	return change(d, args, true, result, err);
}

/* ----------------------------------------------------------- what fmd does itself
 *
 * One step at a time, as the loop comes by: what is quiet again is restored; else as many of the
 * bad cables as may be are tried at once (core/route/trial.h), half of them where those are too
 * many, and taken out where nothing speaks against it. */

void
daemon_health_of(const struct daemon *d, struct health_of *of)
{
	*of = (struct health_of){ .inv = sweeper_inventory(d->sweeper),
		.todo = sweeper_todo(d->sweeper),
		.isolated = &d->isolated,
		.seen = d->seen,
		.findings = d->findings,
		.cabling = d->cabling.found,
		.not_ours = d->ha.state != WIRE_SM_MASTER ? ha_state_name(d->ha.state) : NULL,
		.now_ms = (int64_t)plan_now_ms() };
}

void
daemon_begin_quarantine(struct daemon *d)
{
	if (d->conf->sweep.health_action != HEALTH_QUARANTINE &&
	    isolated_n_quarantined(&d->isolated) == 0)
		return;
	d->quarantine.is_due = true;
	daemon_wake(d);
}

static const char *
say_cable(const struct daemon *d, const struct finding_end *end, char buf[320])
{
	const struct inventory *inv = sweeper_inventory(d->sweeper);
	uint32_t a = inv_find(inv, end[0].guid), b = inv_find(inv, end[1].guid);

	snprintf(buf, 320, "cable \"%s\" port %u - \"%s\" port %u",
	    a != INV_NONE ? inv_node(inv, a)->name : "?", end[0].port,
	    b != INV_NONE ? inv_node(inv, b)->name : "?", end[1].port);
	return buf;
}

static void
say_refused(struct daemon *d, uint32_t i, const char *why)
{
	const struct finding *f = findings_get(d->findings, i);
	char cable[320];

	if (findings_refuse(d->findings, i, sweeper_plan(d->sweeper)->number, why))
		events_add(EVENT_NOT_QUARANTINED, FM_LOG_WARN, "health", NULL,
		    "%s is bad and stays in use: %s", say_cable(d, f->end, cable), why);
}

/* The quarantined cable that has become quiet is used again.  False: there is none. */
static bool
restore_quiet(struct daemon *d)
{
	const struct inventory *inv = sweeper_inventory(d->sweeper);
	const struct isolated_item *item = quarantine_over(d->findings, &d->isolated, inv);
	struct wish w = { .restores = true };
	struct fm_error err = { 0 };
	char name[65];
	unsigned port;

	if (item == NULL)
		return false;
	port = item->port;
	snprintf(name, sizeof(name), "%s", item->name);
	if (!isolated_copy(&w.to, &d->isolated))
		fm_fail(&err, FM_E_RESOURCE, "out of memory for isolated cables");
	else if (isolated_remove(&w.to, item->guid, item->port) &&
	    take_set(d, &w, "a quarantined cable is quiet again", &err) == 0)
		events_add(EVENT_QUARANTINE_ENDED, FM_LOG_NOTICE, "health", NULL,
		    "quarantined no more: the cable at \"%s\" port %u has been quiet for two hours",
		    name, port);
	if (err.kind != 0)
		log_err("health", "a quarantined cable is not restored: %s", err.msg);
	isolated_fini(&w.to);
	return err.kind == 0;
}

/* The set with the first n of them out, too. */
static bool
add_cables(
    const struct daemon *d, const struct quarantine_cables *all, uint32_t n, struct isolated *to)
{
	const struct inventory *inv = sweeper_inventory(d->sweeper);
	struct health_of of;
	bool ok = isolated_copy(to, &d->isolated);

	daemon_health_of(d, &of);
	for (uint32_t i = 0; ok && i < n; i++) {
		const struct quarantine_cable *c = &all->items.item[i];
		char why[HEALTH_WHY];

		ok = isolated_add(to, c->guid, c->port);
		if (!ok)
			break;
		isolated_name(to, c->guid, c->port, inv_node(inv, inv_find(inv, c->guid))->name);
		isolated_quarantine(to, c->guid, c->port, (int64_t)time(NULL),
		    health_why(&of, findings_get(d->findings, c->finding), why));
	}
	return ok;
}

/* The set without those that are quarantined. */
static bool
drop_quarantined(const struct daemon *d, struct isolated *to)
{
	bool ok = isolated_copy(to, &d->isolated);

	for (size_t i = to->items.n; ok && i-- > 0;)
		if (to->items.item[i].quarantined_s != 0)
			isolated_remove(to, to->items.item[i].guid, to->items.item[i].port);
	return ok;
}

/* What the fullest link carries with none out.  False: it is being found, or err has a kind. */
static bool
find_base(struct daemon *d, struct fm_error *err)
{
	uint64_t plan = sweeper_plan(d->sweeper)->number;
	struct isolated none = { 0 };
	const struct trial_result *r = NULL;

	if (d->quarantine.base_plan == plan)
		return true;
	if (!drop_quarantined(d, &none))
		fm_fail(err, FM_E_RESOURCE, "out of memory for isolated cables");
	else
		r = try_out(d, &none, false, &d->quarantine.trial, err);
	isolated_fini(&none);
	if (r == NULL)
		return false;
	d->quarantine.base = r->rc == 0 ? r->after.routes : 0;
	d->quarantine.base_plan = plan;
	forget(&d->quarantine.trial);
	return true;
}

/* Why the set may not be, so that fewer are tried; NULL: it may.  *waits: it is being found. */
static const char *
why_not(struct daemon *d, const struct isolated *to, bool *waits, char *buf, size_t size,
    struct fm_error *err)
{
	const struct plan *plan = sweeper_plan(d->sweeper);
	const struct trial_result *r;
	const char *why = buf;
	struct effect e = { 0 };

	if (find_effect(d, to, &e, err) != 0)
		snprintf(buf, size, "%s", err->msg);
	else if (e.n_hosts > 0)
		snprintf(buf, size, "%u port%s of hosts would be cut off", e.n_hosts,
		    e.n_hosts == 1 ? "" : "s");
	else if ((r = try_out(d, to, false, &d->quarantine.trial, err)) != NULL)
		why = quarantine_why_not(
		    r, d->quarantine.base, plan->verdict.unreachable_pairs, buf, size);
	else if (err->kind != 0)
		snprintf(buf, size, "%s", err->msg);
	else
		*waits = true;
	if (!*waits)
		forget(&d->quarantine.trial);
	json_decref(e.hosts);
	return why;
}

static void
say_quarantined(struct daemon *d, const struct quarantine_cables *all, uint32_t n, uint32_t most)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct quarantine_cable *c = &all->items.item[i];
		const struct finding *f = findings_get(d->findings, c->finding);
		const struct isolated_item *item = isolated_at(&d->isolated, c->guid, c->port);
		char cable[320];

		events_add(EVENT_QUARANTINED, FM_LOG_WARN, "health", NULL,
		    "quarantined: %s, for %s; %u of at most %u are out; fmctl restore "
		    "link:%s:%u takes it back",
		    say_cable(d, f->end, cable), item->reason, isolated_n_quarantined(&d->isolated),
		    most, item->name, item->port);
	}
}

/* The first n are taken out, or half of them are tried, or the first is refused. */
static void
take_out(struct daemon *d, const struct quarantine_cables *all, uint32_t n, uint32_t most)
{
	struct fm_error err = { 0 };
	struct wish w = { 0 };
	bool waits = false;
	const char *why;
	char buf[256];

	if (!add_cables(d, all, n, &w.to)) {
		isolated_fini(&w.to);
		d->quarantine.is_due = false;
		return;
	}
	why = why_not(d, &w.to, &waits, buf, sizeof(buf), &err);
	if (!waits && why == NULL && take_set(d, &w, "cables are quarantined", &err) != 0)
		why = err.msg;
	isolated_fini(&w.to);
	if (waits)
		return;
	if (why == NULL)
		say_quarantined(d, all, n, most);
	else if (n == 1)
		say_refused(d, all->items.item[0].finding, why);
	d->quarantine.n_try = why != NULL ? n / 2 : 0;
	daemon_wake(d);
}

static void
pass_step(struct daemon *d, const struct quarantine_cables *all)
{
	uint32_t most = quarantine_most(sweeper_inventory(d->sweeper)),
		 n_out = isolated_n_quarantined(&d->isolated), n = (uint32_t)all->items.n;
	struct fm_error err = { 0 };
	char why[80];

	snprintf(why, sizeof(why), "%u are out, and no more may be", n_out);
	for (uint32_t i = 0; n_out >= most && i < n; i++)
		say_refused(d, all->items.item[i].finding, why);
	if (n == 0 || n_out >= most) {
		d->quarantine.is_due = false;
		return;
	}
	if (!find_base(d, &err)) {
		d->quarantine.is_due = err.kind == 0;
		return;
	}
	n = n < most - n_out ? n : most - n_out;
	if (d->quarantine.n_try > 0 && d->quarantine.n_try < n)
		n = d->quarantine.n_try;
	take_out(d, all, n, most);
}

void
daemon_follow_quarantine(struct daemon *d)
{
	const struct plan *plan = sweeper_plan(d->sweeper);
	struct quarantine_cables all = { 0 };
	const struct inventory *inv = sweeper_inventory(d->sweeper);

	if (!d->quarantine.is_due || d->ha.state != WIRE_SM_MASTER || !sweeper_is_up(d->sweeper) ||
	    sweeper_phase(d->sweeper) != PHASE_IDLE || plan == NULL || plan->tables == NULL ||
	    !findings_are_fresh(d->findings, (int64_t)plan_now_ms()))
		return;
	if (restore_quiet(d))
		return;
	if (d->conf->sweep.health_action == HEALTH_QUARANTINE &&
	    quarantine_find(d->findings, &d->isolated, inv, plan->number, &all))
		pass_step(d, &all);
	else
		d->quarantine.is_due = false;
	fm_vec_fini(&all.items);
}

int
daemon_open_isolated(struct daemon *d, struct fm_error *err)
{
	int rc;

	snprintf(
	    d->isolated_path, sizeof(d->isolated_path), "%s/isolated", d->conf->daemon.state_dir);
	rc = isolated_load(d->isolated_path, &d->isolated, err);
	if (rc == 0 && d->isolated.items.n > 0)
		log_notice("daemon", "%zu isolated, as before: fmctl isolate lists them",
		    d->isolated.items.n);
	return rc;
}

void
daemon_reload_isolated(struct daemon *d)
{
	struct isolated now = { 0 };
	struct fm_error err = { 0 };

	if (isolated_load(d->isolated_path, &now, &err) != 0) {
		log_err("daemon", "isolated cables stay as they were here: %s", err.msg);
		return;
	}
	isolated_fini(&d->isolated);
	d->isolated = now;
}
