/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fmroute FABRIC and fmroute check FABRIC TABLES: the road from a fabric file
 * to judged tables, without a daemon or a wire.
 *
 * Both end in a report: who made the tables and how long that took, what
 * verify says, and with --stats how good they are.
 */
#include "core/route/route.h"
#include "tools/fmroute.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/daemon/dump.h"
#include "core/daemon/regions_json.h"
#include "core/text/files.h"
#include "core/text/json_text.h"
#include "lib/algo/median.h"
#include "lib/error.h"
#include "lib/log.h"
#include "tools/fmroute_job.h"
#include "tools/fmroute_regions.h"

#define MAX_REPEAT 1000

/* ------------------------------------------------------------ command line */

static int
take_repeat(struct task *t, const char *text, struct fm_error *err)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*end != '\0' || n < 1 || n > MAX_REPEAT)
		return fm_fail(
		    err, FM_E_CONFIG, "--repeat=%.40s: 1..%d is right", text, MAX_REPEAT);
	t->n_repeat = (unsigned)n;
	return 0;
}

static int
take_regions(struct task *t, const char *how, struct fm_error *err)
{
	if (how != NULL && strcmp(how, "found") != 0)
		return fm_fail(err, FM_E_CONFIG,
		    "--regions=%.40s: --regions wants all that the regions name to be there, "
		    "--regions=found takes what is",
		    how);
	t->regions = true;
	t->regions_as_found = how != NULL;
	return 0;
}

static int
take_option(struct task *t, int option, const char *word, struct fm_error *err)
{
	switch (option) {
	case 'R':
		return take_regions(t, optarg, err);
	case 'r':
		return take_repeat(t, optarg, err);
	case 'd':
		t->dump_dir = optarg;
		return 0;
	case 's':
		t->stats = true;
		return 0;
	}
	return job_take_option(t, option, word, err);
}

static int
read_task(int argc, char **argv, bool check, struct task *t, struct fm_error *err)
{
	static const struct option options[] = { JOB_OPTIONS, { "stats", no_argument, NULL, 's' },
		{ "dump", required_argument, NULL, 'd' },
		{ "repeat", required_argument, NULL, 'r' },
		{ "regions", optional_argument, NULL, 'R' }, { 0 } };
	int option, rc = 0, n_files = check ? 2 : 1;

	t->n_repeat = 1;
	while (rc == 0 && (option = getopt_long(argc, argv, "", options, NULL)) != -1)
		rc = take_option(t, option, argv[optind - 1], err);
	if (rc != 0)
		return rc;
	if (argc - optind != n_files)
		return fm_fail(err, FM_E_CONFIG, "%s, but %d files are given",
		    check ? "check takes FABRIC and TABLES" : "one FABRIC is routed",
		    argc - optind);
	if (check && t->n_chain > 0)
		return fm_fail(
		    err, FM_E_CONFIG, "check judges given tables, so --engine has no part in it");
	t->fabric = argv[optind];
	t->tables = check ? argv[optind + 1] : NULL;
	return 0;
}

/* ------------------------------------------------------------- measurements */

/* The largest that this process was: ru_maxrss would count who started it. */
static double
peak_mb(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];
	double kb = 0;

	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, "VmHWM:", 6) == 0)
			kb = strtod(line + 6, NULL);
	if (f != NULL)
		fclose(f);
	return kb / 1024;
}

/* ---------------------------------------------------------------- the roads */

static int
route(struct job *job, struct fm_error *err)
{
	static double route_ms[MAX_REPEAT], verify_ms[MAX_REPEAT], wall_ms[MAX_REPEAT];
	unsigned n = job->task->n_repeat;

	for (unsigned i = 0; i < n; i++) {
		double start = plan_now_ms();
		int rc;

		if (job->plan != NULL)
			plan_put(job->plan);
		job->plan = NULL;
		rc = plan_make(&job->router,
		    &(struct plan_request){ .snap = job->snap,
			.chain = &job->conf->routing.chain,
			.regions = &job->conf->regions.set },
		    &job->plan, err);
		if (rc != 0)
			return rc;
		wall_ms[i] = plan_now_ms() - start;
		route_ms[i] = job->plan->route_ms;
		verify_ms[i] = job->plan->verify_ms;
	}
	job->route_ms = fm_median(route_ms, n);
	job->verify_ms = fm_median(verify_ms, n);
	job->wall_ms = fm_median(wall_ms, n);
	job->tables = job->plan->tables;
	job->verdict = job->plan->verdict;
	job->engine = job->plan->engine;
	return 0;
}

/* The tables, and the fabric with its LIDs, which make them a side of fmroute diff. */
static int
dump(struct job *job, struct fm_error *err)
{
	const char *dir = job->task->dump_dir;
	char path[4096];
	FILE *out;
	int fd, rc = dump_tables(dir, job->snap, &job->tables->t, NULL, err);

	if (rc != 0)
		return rc;
	snprintf(path, sizeof(path), "%s/" JOB_FABRIC_FILE, dir);
	fd = fm_file_new(path, 0666);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (out == NULL)
		return fm_fail(err, FM_E_SYSTEM, "%s: %s", path, strerror(errno));
	netlist_keep_lids(&job->netlist, job->snap);
	rc = netlist_write(&job->netlist, out, err);
	if (!fm_file_done(path, fclose(out) == 0 && rc == 0) && rc == 0)
		rc = fm_fail(err, FM_E_SYSTEM, "%s: %s", path, strerror(errno));
	return rc;
}

static int
finish(struct job *job, struct fm_error *err)
{
	struct metrics_request req = { .seed = 1 };
	int rc;

	job->memory_mb = peak_mb();
	if (job->sw_region != NULL &&
	    (rc = regions_json(&job->conf->regions.set, job->snap, job->sw_region, job->plan, true,
		 &job->regions, err)) != 0)
		return rc;
	if (job->tables == NULL)
		return 0;
	if (job->task->stats) {
		rc = metrics_compute(
		    job->snap, &job->tables->t, &req, job->router.workers, &job->metrics, err);
		if (rc != 0)
			return rc;
		job->has_metrics = true;
	}
	return job->task->dump_dir != NULL ? dump(job, err) : 0;
}

/* -------------------------------------------------------------- the report */

/* Ports that an adaptive entry has to choose from. */
static double
average_choice(const struct adaptive_counts *n)
{
	return n->n_adaptive > 0 ? (double)n->n_ports / (double)n->n_adaptive : 0;
}

static const char *
given_up(const struct plan *plan)
{
	return plan != NULL && plan->adaptive_given_up[0] != '\0' ? plan->adaptive_given_up : NULL;
}

static json_t *
adaptive_json(const struct plan *plan, const struct tables *tables)
{
	const struct adaptive_counts *n = &tables->adaptive;
	const char *why = given_up(plan);
	json_t *o = json_pack("{s:I, s:I, s:I, s:I, s:I, s:f}", "groups", (json_int_t)n->n_groups,
	    "max_groups", (json_int_t)n->most_groups, "adaptive", (json_int_t)n->n_adaptive,
	    "static", (json_int_t)n->n_static, "dropped", (json_int_t)n->n_dropped,
	    "avg_alternatives", average_choice(n));

	if (why != NULL)
		json_object_set_new(o, "given_up", json_text(why));
	return o;
}

static void
adaptive_print(const struct plan *plan, const struct tables *tables)
{
	const struct adaptive_counts *n = &tables->adaptive;

	if (given_up(plan) != NULL)
		printf("adaptive    given up, static: %s\n", given_up(plan));
	else if (!tables_are_adaptive(&tables->t))
		printf("adaptive    the engine has no adaptive routing\n");
	else
		printf("adaptive    %llu entries with %.2f ports on average, %llu static, %llu of "
		       "them for want of groups; %llu groups, at most %u on a switch\n",
		    (unsigned long long)n->n_adaptive, average_choice(n),
		    (unsigned long long)n->n_static, (unsigned long long)n->n_dropped,
		    (unsigned long long)n->n_groups, n->most_groups);
}

static uint32_t
count_ends(const struct fm_fabric *fab)
{
	uint32_t n = 0;

	for (fm_end e = 0; e < fab->n_ends; e++)
		n += fab->end_kind[e] != FM_END_SWITCH;
	return n;
}

static uint32_t
count_lids(const struct fm_fabric *fab)
{
	uint32_t n = 0;

	for (uint32_t lid = 1; lid <= fab->max_lid; lid++)
		n += fab->lid_end[lid] != FM_NONE;
	return n;
}

static json_t *
report_json(const struct job *job)
{
	const struct verdict *v = &job->verdict;
	const struct metrics *m = &job->metrics;
	const struct fm_fabric *fab = &job->snap->fab;
	json_t *o = json_object();

	json_object_set_new(
	    o, "engine", job->tables != NULL ? json_string(job->engine) : json_null());
	if (job->plan != NULL && job->plan->because != NULL)
		json_object_set_new(o, "because", json_string(job->plan->because));
	if (job->plan != NULL && job->plan->weighed[0] != '\0')
		json_object_set_new(o, "weighed", json_string(job->plan->weighed));
	json_object_set_new(o, "refused",
	    job->plan != NULL ? refusals_json(job->plan->refused.item, job->plan->refused.n)
			      : json_array());
	regions_add_join(job->plan, o);
	if (job->regions != NULL)
		json_object_set(o, "regions", job->regions);
	json_object_set_new(o, "switches", json_integer(fab->n_switches));
	json_object_set_new(o, "ends", json_integer(count_ends(fab)));
	json_object_set_new(o, "lids", json_integer(count_lids(fab)));
	json_object_set_new(o, "route_ms", json_real(job->route_ms));
	json_object_set_new(o, "verify_ms", json_real(job->verify_ms));
	json_object_set_new(o, "wall_ms", json_real(job->wall_ms));
	json_object_set_new(o, "memory_mb", json_real(job->memory_mb));
	json_object_set_new(o, "vls", json_integer(v->vls));
	json_object_set_new(o, "reachable_pairs", json_integer((json_int_t)v->reachable_pairs));
	json_object_set_new(o, "unreachable_pairs", json_integer((json_int_t)v->unreachable_pairs));
	json_object_set_new(o, "disjoint_pairs", json_integer((json_int_t)v->disjoint_pairs));
	json_object_set_new(
	    o, "switch_pairs_unrouted", json_integer((json_int_t)v->switch_pairs_unrouted));
	json_object_set_new(o, "loops", json_integer(v->loops));
	json_object_set_new(o, "wrong_host", json_integer(v->wrong_host));
	json_object_set_new(o, "vl_errors", json_integer(v->vl_errors));
	json_object_set_new(o, "credit_loops", json_integer(v->credit_loops));
	if (v->loops_allowed > 0)
		json_object_set_new(o, "loops_allowed", json_integer(v->loops_allowed));
	json_object_set_new(o, "max_hops", json_integer(v->max_hops));
	json_object_set_new(o, "avg_hops", json_real(v->avg_hops));
	if (v->fault != VERIFY_OK)
		json_object_set_new(o, "witness", json_text(v->witness));
	if (job->router.set.ar_max_groups > 0 && job->tables != NULL)
		json_object_set_new(o, "adaptive_routing", adaptive_json(job->plan, job->tables));
	if (!job->has_metrics)
		return o;
	json_object_set_new(o, "load",
	    json_pack("{s:I, s:f, s:I}", "min", (json_int_t)m->load_min, "avg", m->load_avg, "max",
		(json_int_t)m->load_max));
	json_object_set_new(o, "ebb", json_real(m->ebb));
	if (m->paths_avg > 0)
		json_object_set_new(o, "lids",
		    json_pack("{s:f, s:f, s:f, s:f}", "paths", m->paths_avg, "several_paths",
			m->paths_several, "disjoint_paths", m->paths_apart, "ebb_striped",
			m->ebb_striped));
	json_object_set_new(o, "sp_max", json_integer(m->sp_max));
	json_object_set_new(o, "a2a_max_over_avg", json_real(m->a2a_max_over_avg));
	return o;
}

static void
report_text(const struct job *job)
{
	const struct fm_fabric *fab = &job->snap->fab;
	const struct metrics *m = &job->metrics;

	printf("fabric      %u switches, %u end-ports, %u LIDs\n", fab->n_switches, count_ends(fab),
	    count_lids(fab));
	regions_print(job->plan, job->regions);
	for (size_t i = 0; job->plan != NULL && i < job->plan->refused.n; i++)
		printf("refused     %s: %s\n", job->plan->refused.item[i].engine,
		    job->plan->refused.item[i].reason);
	if (job->tables == NULL) {
		printf("engine      none: nothing of the chain could be routed and proven\n");
		return;
	}
	printf("engine      %s\n", job->engine);
	if (job->plan != NULL && job->plan->because != NULL)
		printf("because     auto takes the fabric for %s\n", job->plan->because);
	if (job->plan != NULL && job->plan->weighed[0] != '\0')
		printf("weighed     %s\n", job->plan->weighed);
	printf("time        route %.2f ms, verify %.2f ms, in all %.2f ms\n", job->route_ms,
	    job->verify_ms, job->wall_ms);
	verdict_print(&job->verdict, stdout);
	if (job->router.set.ar_max_groups > 0)
		adaptive_print(job->plan, job->tables);
	if (!job->has_metrics)
		return;
	printf("load        %llu..%llu routes on a link, %.1f on average, max/avg %.3f\n",
	    (unsigned long long)m->load_min, (unsigned long long)m->load_max, m->load_avg,
	    m->a2a_max_over_avg);
	printf("bandwidth   %.3f of a random bisection; worst shift %u flows on a link\n", m->ebb,
	    m->sp_max);
	if (m->paths_avg > 0)
		printf("LIDs        %.2f different paths to a host on average, several to %.1f %%, "
		       "two "
		       "without a common cable to %.1f %%; %.3f of a bisection by all LIDs\n",
		    m->paths_avg, 100 * m->paths_several, 100 * m->paths_apart, m->ebb_striped);
}

static int
report(const struct job *job)
{
	json_t *o;
	int rc;

	if (!job->task->json) {
		report_text(job);
		return fflush(stdout) == 0 ? 0 : 1;
	}
	o = report_json(job);
	rc = json_dumpf(o, stdout, JSON_INDENT(1));
	json_decref(o);
	return rc == 0 && putchar('\n') != EOF && fflush(stdout) == 0 ? 0 : 1;
}

/* Tables that check is given must be right in all; what a chain has let out is safe
 * already, but where no engine of it joins all pairs, some have no path. */
static int
exit_code(const struct job *job)
{
	bool ok = job->tables != NULL && job->verdict.unreachable_pairs == 0 &&
	    (job->plan != NULL || verdict_is_safe(&job->verdict, false));

	return ok ? 0 : EXIT_NOT_ROUTED;
}

static int
route_or_check(int argc, char **argv, bool is_check)
{
	struct task task = { 0 };
	struct job job = { .task = &task };
	struct fm_error err;
	int rc = read_task(argc, argv, is_check, &task, &err);

	fm_log_set_level(FM_LOG_WARN);
	if (rc == 0 && (rc = job_prepare(&job, &err)) == 0 &&
	    (rc = is_check ? job_check(&job, task.tables, &err) : route(&job, &err)) == 0)
		rc = finish(&job, &err);
	if (rc != 0)
		rc = fmroute_report(&err);
	else if (report(&job) != 0) {
		fprintf(stderr, "fmroute: cannot write the report: %s\n", strerror(errno));
		rc = 1;
	} else {
		rc = exit_code(&job);
	}
	job_release(&job);
	free(task.words);
	return rc;
}

int
fmroute_route(int argc, char **argv)
{
	return route_or_check(argc, argv, false);
}

int
fmroute_check(int argc, char **argv)
{
	return route_or_check(argc, argv, true);
}
