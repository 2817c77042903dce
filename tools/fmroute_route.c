/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fmroute FABRIC and fmroute check FABRIC TABLES: the road from a fabric file
 * to judged tables, without a daemon or a wire.
 *
 * Both end in a report: who made the tables and how long that took, what
 * verify says, and with --stats how good they are.
 */
#include "tools/fmroute.h"

#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "core/conf/conf.h"
#include "core/conf/regions_json.h"
#include "core/route/metrics.h"
#include "core/topo/dump.h"
#include "core/topo/netlist.h"
#include "lib/error.h"
#include "lib/log.h"
#include "tools/fmroute_adaptive.h"
#include "tools/fmroute_regions.h"

#define MAX_REPEAT 1000
#define MAX_WORDS 64
#define EXIT_NOT_ROUTED 3

struct task {
	const char *fabric, *tables; /* files; tables: check only */
	const char *config, *dump_dir;
	char *words; /* of --engine, cut up */
	const char *chain[MAX_WORDS], *plugin_dirs[MAX_WORDS + 1];
	size_t n_chain, n_plugin_dirs;
	const char *vls, *lmc, *workers;
	bool adaptive; /* --ar */
	const char *max_groups;
	unsigned n_repeat;
	bool stats, json;
	bool regions, regions_as_found; /* --regions, --regions=found */
};

struct job {
	const struct task *task;
	struct engine_set engines;
	struct conf *conf;
	struct netlist netlist;
	struct snapshot *snap;
	struct router router;
	uint16_t *sw_region; /* [n_switches], for --regions */
	json_t *regions;     /* and what they are and became */
	/* the result */
	struct plan *plan;     /* route */
	struct tables *tables; /* check: own; route: of the plan */
	struct verdict verdict;
	struct metrics metrics;
	bool has_metrics;
	const char *engine;
	double route_ms, verify_ms, wall_ms;
	double memory_mb; /* of the process at its largest, before the statistics */
};

/* ------------------------------------------------------------ command line */

static int
split_chain(struct task *t, const char *list, struct fm_error *err)
{
	char *rest, *word;

	free(t->words);
	rest = t->words = strdup(list);
	if (rest == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory");
	t->n_chain = 0;
	while ((word = strsep(&rest, ",")) != NULL) {
		if (*word == '\0' || t->n_chain == MAX_WORDS)
			return fm_fail(err, FM_E_CONFIG,
			    "--engine=%.60s: 1 to %d names are right, as in --engine=fattree,updn",
			    list, MAX_WORDS);
		t->chain[t->n_chain++] = word;
	}
	return 0;
}

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
take(struct task *t, int option, struct fm_error *err)
{
	switch (option) {
	case 'R':
		return take_regions(t, optarg, err);
	case 'e':
		return split_chain(t, optarg, err);
	case 'r':
		return take_repeat(t, optarg, err);
	case 'p':
		if (t->n_plugin_dirs == MAX_WORDS)
			return fm_fail(
			    err, FM_E_CONFIG, "more than %d times --plugin-dir", MAX_WORDS);
		t->plugin_dirs[t->n_plugin_dirs++] = optarg;
		return 0;
	case 'c':
		t->config = optarg;
		return 0;
	case 'v':
		t->vls = optarg;
		return 0;
	case 'l':
		t->lmc = optarg;
		return 0;
	case 'w':
		t->workers = optarg;
		return 0;
	case 'd':
		t->dump_dir = optarg;
		return 0;
	case 'a':
		t->adaptive = true;
		t->max_groups = optarg;
		return 0;
	case 's':
		t->stats = true;
		return 0;
	case 'j':
		t->json = true;
		return 0;
	}
	return fm_fail(err, FM_E_BUG, "option %d is not handled", option);
}

static int
read_task(int argc, char **argv, bool check, struct task *t, struct fm_error *err)
{
	static const struct option options[] = { { "engine", required_argument, NULL, 'e' },
		{ "config", required_argument, NULL, 'c' }, { "vls", required_argument, NULL, 'v' },
		{ "lmc", required_argument, NULL, 'l' },
		{ "workers", required_argument, NULL, 'w' }, { "stats", no_argument, NULL, 's' },
		{ "json", no_argument, NULL, 'j' }, { "dump", required_argument, NULL, 'd' },
		{ "repeat", required_argument, NULL, 'r' },
		{ "plugin-dir", required_argument, NULL, 'p' },
		{ "ar", optional_argument, NULL, 'a' }, { "regions", optional_argument, NULL, 'R' },
		{ 0 } };
	int option, rc = 0, n_files = check ? 2 : 1;

	t->n_repeat = 1;
	while (rc == 0 && (option = getopt_long(argc, argv, "", options, NULL)) != -1)
		rc = option == '?'
		    ? fm_fail(err, FM_E_CONFIG,
			  "%s is no option, lacks its value or has one too much; see "
			  "fmroute --help",
			  argv[optind - 1])
		    : take(t, option, err);
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

/* -------------------------------------------------------------- the fabric */

/* The configuration as the daemon reads it. */
static int
load_conf(struct job *job, struct fm_error *err)
{
	const struct task *t = job->task;
	static const char *const yes = "yes";
	struct conf_override overrides[6];
	struct conf_source source = { .path = t->config, .overrides = overrides };

	if (t->n_chain > 0)
		overrides[source.n_overrides++] =
		    (struct conf_override){ "chain", t->chain, t->n_chain };
	if (t->vls != NULL)
		overrides[source.n_overrides++] = (struct conf_override){ "n_vls", &t->vls, 1 };
	if (t->lmc != NULL)
		overrides[source.n_overrides++] = (struct conf_override){ "lmc", &t->lmc, 1 };
	if (t->workers != NULL)
		overrides[source.n_overrides++] =
		    (struct conf_override){ "workers", &t->workers, 1 };
	if (t->adaptive)
		overrides[source.n_overrides++] =
		    (struct conf_override){ "adaptive_routing.enable", &yes, 1 };
	if (t->max_groups != NULL)
		overrides[source.n_overrides++] =
		    (struct conf_override){ "adaptive_routing.max_groups", &t->max_groups, 1 };
	return conf_load(&source, &job->engines, &job->conf, err);
}

static int
prepare(struct job *job, struct fm_error *err)
{
	const struct task *t = job->task;
	struct netlist_view view = { 0 };
	int rc;

	if ((t->dump_dir != NULL && (rc = dump_open(t->dump_dir, err)) != 0) ||
	    (rc = engine_set_load(
		 &job->engines, t->n_plugin_dirs > 0 ? t->plugin_dirs : NULL, err)) != 0 ||
	    (rc = load_conf(job, err)) != 0 ||
	    (rc = netlist_read(t->fabric, &job->netlist, err)) != 0)
		return rc;
	view.ca_lmc = (uint8_t)job->conf->lmc;
	view.switch_lmc = (uint8_t)job->conf->switch_lmc;
	view.n_vls = (uint8_t)job->conf->n_vls;
	view.fresh_lids = t->lmc != NULL || job->conf->reassign_lids;
	if ((rc = netlist_snapshot(&job->netlist, &view, &job->snap, err)) != 0 ||
	    (t->regions &&
		(rc = regions_cut(
		     job->conf, job->snap, !t->regions_as_found, &job->sw_region, err)) != 0) ||
	    (rc = router_init(&job->router, (unsigned)job->conf->workers, err)) != 0)
		return rc;
	job->router.n_vls = (uint8_t)job->conf->n_vls;
	job->router.sl_model = (enum verify_sl_model)job->conf->sl_model;
	if (job->conf->ar_enable)
		job->router.ar_max_groups = (uint16_t)job->conf->ar_max_groups;
	return 0;
}

static void
release(struct job *job)
{
	json_decref(job->regions);
	free(job->sw_region);
	if (job->plan != NULL)
		plan_put(job->plan);
	else
		tables_put(job->tables);
	router_fini(&job->router);
	snapshot_put(job->snap);
	netlist_fini(&job->netlist);
	conf_put(job->conf);
	engine_set_fini(&job->engines);
}

static double
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double
median(double *v, unsigned n)
{
	qsort(v, n, sizeof(*v), by_value);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

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

/* ----------------------------------------------------------- the two roads */

static int
route(struct job *job, struct fm_error *err)
{
	static double route_ms[MAX_REPEAT], verify_ms[MAX_REPEAT], wall_ms[MAX_REPEAT];
	unsigned n = job->task->n_repeat;

	for (unsigned i = 0; i < n; i++) {
		double start = now_ms();
		int rc;

		if (job->plan != NULL)
			plan_put(job->plan);
		job->plan = NULL;
		rc = plan_make(&job->router,
		    &(struct plan_request){ .snap = job->snap,
			.chain = &job->conf->chain,
			.regions = &job->conf->regions },
		    &job->plan, err);
		if (rc != 0)
			return rc;
		wall_ms[i] = now_ms() - start;
		route_ms[i] = job->plan->route_ms;
		verify_ms[i] = job->plan->verify_ms;
	}
	job->route_ms = median(route_ms, n);
	job->verify_ms = median(verify_ms, n);
	job->wall_ms = median(wall_ms, n);
	job->tables = job->plan->tables;
	job->verdict = job->plan->verdict;
	job->engine = job->plan->engine;
	return 0;
}

/* A file of the directory as an option of the engine; one that is absent or empty says nothing. */
static int
take_file(struct option_values *values, const char *dir, const char *name, const char *option,
    struct fm_error *err)
{
	struct option_origin origin = { 0 };
	char path[4096];
	const char *item = path;
	struct stat st;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, name) >= sizeof(path))
		return fm_fail(err, FM_E_CONFIG, "the path of the tables is too long");
	if (strcmp(option, "lfts") != 0 && (stat(path, &st) != 0 || st.st_size == 0))
		return 0;
	return option_values_set(values, option, &item, 1, &origin, err);
}

/* DIR as --dump writes it, or the file of the forwarding tables itself. */
static int
take_tables(struct option_values *values, const char *given, struct fm_error *err)
{
	struct option_origin origin = { 0 };
	struct stat st;
	int rc;

	if (stat(given, &st) != 0 || !S_ISDIR(st.st_mode))
		return option_values_set(values, "lfts", &given, 1, &origin, err);
	if ((rc = take_file(values, given, "lfts", "lfts", err)) != 0 ||
	    (rc = take_file(values, given, "path-sl", "path_sl", err)) != 0)
		return rc;
	return take_file(values, given, "sl2vl", "sl2vl", err);
}

/* The engine `file` reads what it is given. */
static int
load_tables(
    struct job *job, const struct fm_engine *engine, struct fm_arena *mem, struct fm_error *err)
{
	struct option_table table = option_table_of(engine);
	struct option_values *values = option_values_new(mem, &table, engine->name);
	void *opts = NULL;
	double start;
	int rc;

	if (values == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory");
	if ((rc = take_tables(values, job->task->tables, err)) != 0 ||
	    (rc = options_bind(engine, values, job->snap, mem, &opts, err)) != 0)
		return rc;
	start = now_ms();
	rc = route_once(&job->router, engine, opts, &job->snap->fab, NULL, 0, &job->tables, err);
	job->route_ms = now_ms() - start;
	return rc;
}

static int
check(struct job *job, struct fm_error *err)
{
	const struct fm_engine *engine = engine_find(&job->engines, "file");
	struct verify_request req = { .n_vls = job->router.n_vls,
		.sl_model = job->router.sl_model };
	struct fm_arena mem;
	double start;
	int rc;

	if (engine == NULL)
		return fm_fail(err, FM_E_CONFIG,
		    "check needs the engine \"file\", which is in no plugin directory");
	fm_arena_init(&mem, SIZE_MAX);
	rc = load_tables(job, engine, &mem, err);
	fm_arena_fini(&mem);
	if (rc != 0)
		return rc;
	start = now_ms();
	rc = verify_tables(
	    job->snap, &job->tables->t, &req, job->router.workers, &job->verdict, err);
	job->verify_ms = now_ms() - start;
	job->wall_ms = job->route_ms + job->verify_ms;
	job->engine = engine->name;
	return rc;
}

static int
finish(struct job *job, struct fm_error *err)
{
	struct metrics_request req = { .seed = 1 };
	int rc;

	job->memory_mb = peak_mb();
	if (job->sw_region != NULL &&
	    (rc = regions_json(&job->conf->regions, job->snap, job->sw_region, job->plan, true,
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
	if (job->task->dump_dir != NULL)
		return dump_tables(job->task->dump_dir, job->snap, &job->tables->t, err);
	return 0;
}

/* -------------------------------------------------------------- the report */

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
	json_object_set_new(o, "refused",
	    job->plan != NULL ? refusals_json(job->plan->refused.item, job->plan->refused.n)
			      : json_array());
	regions_add_rung(job->plan, o);
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
	json_object_set_new(o, "max_hops", json_integer(v->max_hops));
	json_object_set_new(o, "avg_hops", json_real(v->avg_hops));
	if (v->fault != VERIFY_OK)
		json_object_set_new(o, "witness", json_stringn(v->witness, strlen(v->witness)));
	if (job->router.ar_max_groups > 0 && job->tables != NULL)
		json_object_set_new(o, "adaptive_routing", adaptive_json(job->plan, job->tables));
	if (!job->has_metrics)
		return o;
	json_object_set_new(o, "load",
	    json_pack("{s:I, s:f, s:I}", "min", (json_int_t)m->load_min, "avg", m->load_avg, "max",
		(json_int_t)m->load_max));
	json_object_set_new(o, "ebb", json_real(m->ebb));
	json_object_set_new(o, "sp_max", json_integer(m->sp_max));
	json_object_set_new(o, "a2a_max_over_avg", json_real(m->a2a_max_over_avg));
	return o;
}

static void
print_verdict(const struct verdict *v)
{
	printf("pairs       %llu reachable, %llu unreachable, %llu in different components\n",
	    (unsigned long long)v->reachable_pairs, (unsigned long long)v->unreachable_pairs,
	    (unsigned long long)v->disjoint_pairs);
	printf("switches    %llu pairs unrouted\n", (unsigned long long)v->switch_pairs_unrouted);
	printf("hops        %.3f on average, at most %u\n", v->avg_hops, v->max_hops);
	printf("faults      %u loops, %u wrong hosts, %u credit loops, %u VL errors\n", v->loops,
	    v->wrong_host, v->credit_loops, v->vl_errors);
	printf("VLs         %u\n", v->vls);
	if (v->fault != VERIFY_OK)
		printf("witness     %s\n", v->witness);
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
	printf("time        route %.2f ms, verify %.2f ms, in all %.2f ms\n", job->route_ms,
	    job->verify_ms, job->wall_ms);
	print_verdict(&job->verdict);
	if (job->router.ar_max_groups > 0)
		adaptive_print(job->plan, job->tables);
	if (!job->has_metrics)
		return;
	printf("load        %llu..%llu routes on a link, %.1f on average, max/avg %.3f\n",
	    (unsigned long long)m->load_min, (unsigned long long)m->load_max, m->load_avg,
	    m->a2a_max_over_avg);
	printf("bandwidth   %.3f of a random bisection; worst shift %u flows on a link\n", m->ebb,
	    m->sp_max);
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

/* Tables that check is given must be right in all; what a chain has let out is
 * safe already, and leaves a pair without a route only where it says so. */
static int
exit_code(const struct job *job)
{
	bool ok = job->tables != NULL &&
	    (job->plan != NULL ||
		(verdict_is_safe(&job->verdict, false) && job->verdict.unreachable_pairs == 0));

	return ok ? 0 : EXIT_NOT_ROUTED;
}

static int
run(int argc, char **argv, bool is_check)
{
	struct task task = { 0 };
	struct job job = { .task = &task };
	struct fm_error err;
	int rc = read_task(argc, argv, is_check, &task, &err);

	fm_log_set_level(FM_LOG_WARN);
	if (rc == 0 && (rc = prepare(&job, &err)) == 0 &&
	    (rc = is_check ? check(&job, &err) : route(&job, &err)) == 0)
		rc = finish(&job, &err);
	if (rc != 0)
		rc = fmroute_report(&err);
	else if (report(&job) != 0) {
		fprintf(stderr, "fmroute: cannot write the report: %s\n", strerror(errno));
		rc = 1;
	} else {
		rc = exit_code(&job);
	}
	release(&job);
	free(task.words);
	return rc;
}

int
fmroute_route(int argc, char **argv)
{
	return run(argc, argv, false);
}

int
fmroute_check(int argc, char **argv)
{
	return run(argc, argv, true);
}
