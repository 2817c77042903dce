/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fmroute what-if: an outage on paper.
 *
 *	--down=A --down=B			both at once
 *	--down=A --down=B --steps		one after the other
 *	--down=A --then --up=A --down=B		so as the words stand
 *
 * Every step goes the daemon's road: a snapshot of what is left, plan_make()
 * with the plan before it (kept, repaired or routed anew), verification; then
 * it is compared with the step before.  No time passes between steps, so what
 * lingers stays.
 */
#include "core/route/route.h"
#include "tools/fmroute.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/json_text.h"
#include "lab/topo/outage.h"
#include "lib/error.h"
#include "lib/log.h"
#include "lib/vec.h"
#include "tools/fmroute_change.h"
#include "tools/fmroute_job.h"

struct event {
	const char *part; /* "switch:leaf-1" */
	bool out;
	unsigned step;	  /* from 0 */
	uint32_t n_nodes; /* that it names */
};

struct scenario {
	struct task task;
	FM_VEC(struct event) events;
	bool each; /* --steps */
	unsigned step;
	struct job job;
	struct outage outage;
	json_t *steps; /* with --json */
	bool routed;   /* every step so far */
};

/* ------------------------------------------------------------ command line */

static int
add_event(struct scenario *s, bool out, struct fm_error *err)
{
	struct event e = { .part = optarg, .out = out, .step = s->step };

	return fm_vec_push(&s->events, e) ? 0 : fm_fail(err, FM_E_RESOURCE, "out of memory");
}

static int
begin_step(struct scenario *s, struct fm_error *err)
{
	if (s->events.n == 0 || s->events.item[s->events.n - 1].step != s->step)
		return fm_fail(
		    err, FM_E_CONFIG, "--then stands between steps: --down=A --then --up=A");
	s->step++;
	return 0;
}

static int
take_option(struct scenario *s, int option, const char *word, struct fm_error *err)
{
	switch (option) {
	case 'D':
		return add_event(s, true, err);
	case 'U':
		return add_event(s, false, err);
	case 'S':
		s->each = true;
		return 0;
	case 'T':
		return begin_step(s, err);
	}
	return job_take_option(&s->task, option, word, err);
}

static int
read_words(int argc, char **argv, struct scenario *s, struct fm_error *err)
{
	static const struct option options[] = { JOB_OPTIONS,
		{ "down", required_argument, NULL, 'D' }, { "up", required_argument, NULL, 'U' },
		{ "steps", no_argument, NULL, 'S' }, { "then", no_argument, NULL, 'T' }, { 0 } };
	int option, rc = 0;

	while (rc == 0 && (option = getopt_long(argc, argv, "", options, NULL)) != -1)
		rc = take_option(s, option, argv[optind - 1], err);
	if (rc != 0)
		return rc;
	if (argc - optind != 1)
		return fm_fail(
		    err, FM_E_CONFIG, "what-if takes one FABRIC, %d given", argc - optind);
	if (s->events.n == 0)
		return fm_fail(err, FM_E_CONFIG,
		    "what-if wants an event: --down=switch:NAME, host:NAME or link:NAME:PORT");
	if (s->step > 0 && s->events.item[s->events.n - 1].step != s->step)
		return fm_fail(err, FM_E_CONFIG, "nothing stands after the last --then");
	if (s->each && s->step > 0)
		return fm_fail(err, FM_E_CONFIG,
		    "--steps makes a step of each part and --then says where one ends: one of the "
		    "two");
	for (unsigned i = 0; s->each && i < s->events.n; i++)
		s->events.item[i].step = i;
	s->task.fabric = argv[optind];
	return 0;
}

/* ------------------------------------------------------------------- a step */

static void
show(struct state *s, const struct plan *p)
{
	*s = (struct state){ .snap = p->snap,
		.tables = p->tables,
		.plan = p,
		.top_lid = p->top_lid,
		.verdict = p->verdict,
		.engine = p->engine,
		.route_ms = p->route_ms,
		.verify_ms = p->verify_ms };
}

/* The plan for the fabric as it is now. */
static int
make_plan(struct scenario *s, struct plan *prev, struct plan **out, struct fm_error *err)
{
	struct plan_request q = { .snap = s->job.snap,
		.chain = &s->job.conf->routing.chain,
		.regions = &s->job.conf->regions.set,
		.prev = prev,
		.linger_ms = s->job.conf->addresses.lid_linger_ms,
		.drain = (enum plan_drain)s->job.conf->transition.drain,
		.rebalance = (enum plan_rebalance)s->job.conf->transition.rebalance };
	int rc;

	if (prev == NULL)
		return plan_make(&s->job.router, &q, out, err);
	if ((rc = job_snapshot(&s->job, false, &q.snap, err)) != 0)
		return rc;
	rc = plan_make(&s->job.router, &q, out, err);
	snapshot_put(q.snap);
	return rc;
}

static void
print_events(const struct scenario *s, unsigned step)
{
	printf("step %-7u", step + 1);
	for (size_t i = 0, n = 0; i < s->events.n; i++) {
		const struct event *e = &s->events.item[i];

		if (e->step != step)
			continue;
		printf("%s%s %s", n++ > 0 ? ", " : "", e->out ? "down" : "up", e->part);
		if (e->n_nodes > 1)
			printf(" (%" PRIu32 " of them)", e->n_nodes);
	}
	printf("\n");
}

static json_t *
events_json(const struct scenario *s, unsigned step)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->events.n; i++)
		if (s->events.item[i].step == step)
			json_array_append_new(list,
			    json_pack("{s:o, s:I}", s->events.item[i].out ? "down" : "up",
				json_text(s->events.item[i].part), "nodes",
				(json_int_t)s->events.item[i].n_nodes));
	return list;
}

static void
report_step(struct scenario *s, unsigned step, const struct change *c)
{
	json_t *o;

	if (s->task.json) {
		o = change_json(c);
		json_object_set_new(o, "events", events_json(s, step));
		json_array_append_new(s->steps, o);
		return;
	}
	print_events(s, step);
	change_print(c);
}

/* Nothing could be proven: the old tables would stay. */
static void
report_failure(struct scenario *s, unsigned step, const struct state *after)
{
	json_t *o;

	s->routed = false;
	if (s->task.json) {
		o = json_pack(
		    "{s:o, s:o}", "after", state_json(after), "events", events_json(s, step));
		json_array_append_new(s->steps, o);
		return;
	}
	print_events(s, step);
	state_print_refusals(after);
	printf(
	    "not routed  nothing of the chain could be routed and proven: the old tables stay\n");
}

/* *prev gives way to the plan of this step. */
static int
take_step(struct scenario *s, unsigned step, struct plan **prev, struct state *before,
    struct fm_error *err)
{
	struct plan *next;
	struct state after;
	struct change c;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < s->events.n; i++) {
		struct event *e = &s->events.item[i];

		if (e->step != step)
			continue;
		rc = outage_change(&s->outage, e->part, e->out, err);
		e->n_nodes = s->outage.n_named;
	}
	if (rc != 0 || (rc = make_plan(s, *prev, &next, err)) != 0)
		return rc;
	show(&after, next);
	if (next->tables == NULL) {
		report_failure(s, step, &after);
		plan_put(next);
		return 0;
	}
	rc = state_measure(&after, s->job.router.workers, err);
	if (rc == 0) {
		rc = change_find(before, &after, s->job.router.workers, &c, err);
		if (rc == 0)
			report_step(s, step, &c);
		change_fini(&c);
	}
	plan_put(*prev);
	*prev = next;
	*before = after;
	return rc;
}

static int
play(struct scenario *s, struct fm_error *err)
{
	unsigned n_steps = s->events.item[s->events.n - 1].step + 1;
	struct plan *plan;
	struct state state;
	int rc = make_plan(s, NULL, &plan, err);

	if (rc != 0)
		return rc;
	show(&state, plan);
	rc = state_measure(&state, s->job.router.workers, err);
	if (rc == 0 && plan->tables == NULL)
		report_failure(s, 0, &state);
	for (unsigned step = 0; rc == 0 && s->routed && step < n_steps; step++)
		rc = take_step(s, step, &plan, &state, err);
	plan_put(plan);
	return rc;
}

static int
print_json(struct scenario *s, struct fm_error *err)
{
	json_t *o = json_pack("{s:o, s:O, s:b}", "fabric", json_text(s->task.fabric), "steps",
	    s->steps, "routed", s->routed);
	int rc = o == NULL ? -1 : json_dumpf(o, stdout, JSON_INDENT(1));

	json_decref(o);
	return rc == 0 && putchar('\n') != EOF
	    ? 0
	    : fm_fail(err, FM_E_SYSTEM, "cannot write the report: %s", strerror(errno));
}

static int
run_scenario(struct scenario *s, struct fm_error *err)
{
	int rc = job_prepare(&s->job, err);

	if (rc != 0)
		return rc;
	netlist_keep_lids(&s->job.netlist, s->job.snap);
	rc = outage_init(&s->outage, &s->job.netlist, err);
	if (rc == 0)
		rc = play(s, err);
	if (rc == 0 && s->task.json)
		rc = print_json(s, err);
	if (rc == 0 && fflush(stdout) != 0)
		rc = fm_fail(err, FM_E_SYSTEM, "cannot write the report: %s", strerror(errno));
	return rc;
}

int
fmroute_what_if(int argc, char **argv)
{
	struct scenario s = { .routed = true, .steps = json_array() };
	struct fm_error err;
	int rc;

	fm_log_set_level(FM_LOG_WARN);
	s.job.task = &s.task;
	rc = read_words(argc, argv, &s, &err);
	if (rc == 0)
		rc = run_scenario(&s, &err);
	if (rc != 0)
		rc = fmroute_report(&err);
	else if (!s.routed)
		rc = EXIT_NOT_ROUTED;
	outage_fini(&s.outage);
	job_release(&s.job);
	json_decref(s.steps);
	fm_vec_fini(&s.events);
	free(s.task.words);
	return rc;
}
