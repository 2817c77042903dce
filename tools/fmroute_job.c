/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a command line to a fabric with tables: the same configuration, router
 * and engines as the daemon's.
 */
#include "tools/fmroute_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "core/daemon/dump.h"
#include "core/graph/adaptive.h"
#include "core/nodes/name_map.h"
#include "core/route/route.h"
#include "lib/error.h"
#include "tools/fmroute_regions.h"

/* ------------------------------------------------------------ command line */

int
job_split_chain(struct task *t, const char *list, struct fm_error *err)
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

int
job_take_option(struct task *t, int option, const char *word, struct fm_error *err)
{
	switch (option) {
	case 'e':
		return job_split_chain(t, optarg, err);
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
	case 'm':
		t->names = optarg;
		return 0;
	case 'a':
		t->adaptive = true;
		t->max_groups = optarg;
		return 0;
	case 'j':
		t->json = true;
		return 0;
	}
	return fm_fail(err, FM_E_CONFIG,
	    "%s is no option of fmroute, lacks its value or takes none; see fmroute --help", word);
}

/* -------------------------------------------------------------- the fabric */

/* The configuration as the daemon reads it. */
static int
load_conf(struct job *job, struct fm_error *err)
{
	const struct task *t = job->task;
	static const char *const yes = "yes";
	struct conf_override overrides[7];
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
	if (t->names != NULL)
		overrides[source.n_overrides++] =
		    (struct conf_override){ "node_name_map", &t->names, 1 };
	return conf_load(&source, &job->engines, &job->conf, err);
}

int
job_snapshot(struct job *job, bool fresh_lids, struct snapshot **out, struct fm_error *err)
{
	struct netlist_view view = { .ca_lmc = (uint8_t)job->conf->addresses.lmc,
		.switch_lmc = (uint8_t)job->conf->addresses.switch_lmc,
		.n_vls = (uint8_t)job->conf->routing.n_vls,
		.fresh_lids = fresh_lids };

	return netlist_snapshot(&job->netlist, &view, out, err);
}

static bool
has_lids(const struct netlist *nl)
{
	for (size_t i = 0; i < nl->n_ports_total; i++)
		if (nl->ports[i].lid != 0)
			return true;
	return false;
}

/* Nodes are called as the administrator's map has them, as fmd calls them. */
static int
name_nodes(struct job *job, struct fm_error *err)
{
	struct netlist *nl = &job->netlist;

	for (uint32_t i = 0; i < nl->n_nodes; i++) {
		const char *name = name_map_find(job->conf->names.map, nl->nodes[i].guid);

		if (name == NULL)
			continue;
		nl->nodes[i].desc = fm_arena_strdup(&nl->strings, name);
		if (nl->nodes[i].desc == NULL)
			return fm_fail(err, FM_E_RESOURCE, "out of memory for names of nodes");
	}
	return 0;
}

static int
cut_regions(struct job *job, struct fm_error *err)
{
	if (!job->task->regions)
		return regions_check(&job->conf->regions.set, job->snap, err);
	return regions_cut(
	    job->conf, job->snap, !job->task->regions_as_found, &job->sw_region, err);
}

int
job_prepare(struct job *job, struct fm_error *err)
{
	const struct task *t = job->task;
	bool fresh;
	int rc;

	if ((t->dump_dir != NULL && (rc = dump_open(t->dump_dir, err)) != 0) ||
	    (rc = engine_set_load(
		 &job->engines, t->n_plugin_dirs > 0 ? t->plugin_dirs : NULL, err)) != 0 ||
	    (rc = load_conf(job, err)) != 0 ||
	    (rc = netlist_read(t->fabric, &job->netlist, err)) != 0 ||
	    (rc = name_nodes(job, err)) != 0)
		return rc;
	if (job->lids != NULL && !has_lids(&job->netlist))
		netlist_keep_lids(&job->netlist, job->lids);
	fresh = job->lids == NULL && (t->lmc != NULL || job->conf->addresses.reassign_lids);
	if ((rc = job_snapshot(job, fresh, &job->snap, err)) != 0 ||
	    (rc = cut_regions(job, err)) != 0 ||
	    (rc = router_init(&job->router, (unsigned)job->conf->routing.workers, err)) != 0)
		return rc;
	job->router.set.n_vls = (uint8_t)job->conf->routing.n_vls;
	job->router.set.sl_model = (enum verify_sl_model)job->conf->routing.sl_model;
	if (job->conf->ar.enable)
		job->router.set.ar_max_groups = (uint16_t)job->conf->ar.max_groups;
	return 0;
}

void
job_release(struct job *job)
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

/* ------------------------------------------------------------ given tables */

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
	    (rc = take_file(values, given, "path-sl", "path_sl", err)) != 0 ||
	    (rc = take_file(values, given, "ar-groups", "ar_groups", err)) != 0)
		return rc;
	return take_file(values, given, "sl2vl", "sl2vl", err);
}

/* The engine `file` reads what it is given. */
static int
load_tables(struct job *job, const struct fm_engine *engine, const char *given,
    struct fm_arena *mem, struct fm_error *err)
{
	struct option_table table = option_table_of(engine);
	struct option_values *values = option_values_new(mem, &table, engine->name);
	void *opts = NULL;
	double start;
	int rc;

	if (values == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory");
	if ((rc = take_tables(values, given, err)) != 0 ||
	    (rc = options_bind(engine, values, job->snap, mem, &opts, err)) != 0)
		return rc;
	start = plan_now_ms();
	/* enough for any groups there are; without any the tables are judged as static */
	job->router.set.ar_max_groups = (uint16_t)job->conf->ar.max_groups;
	rc = route_once(&job->router, engine, opts, &job->snap->fab, NULL, 0, &job->tables, err);
	if (rc == 0 && job->tables->adaptive.n_groups == 0) {
		adaptive_drop(job->tables);
		job->router.set.ar_max_groups = 0;
	}
	job->route_ms = plan_now_ms() - start;
	return rc;
}

int
job_check(struct job *job, const char *given, struct fm_error *err)
{
	const struct fm_engine *engine = engine_find(&job->engines, "file");
	struct verify_request req = { .n_vls = job->router.set.n_vls,
		.sl_model = job->router.set.sl_model };
	struct fm_arena mem;
	double start;
	int rc;

	if (engine == NULL)
		return fm_fail(err, FM_E_CONFIG,
		    "check needs the engine \"file\", which is in no plugin directory");
	fm_arena_init(&mem, SIZE_MAX);
	rc = load_tables(job, engine, given, &mem, err);
	fm_arena_fini(&mem);
	if (rc != 0)
		return rc;
	start = plan_now_ms();
	rc = verify_tables(
	    job->snap, &job->tables->t, &req, job->router.workers, &job->verdict, err);
	job->verify_ms = plan_now_ms() - start;
	job->wall_ms = job->route_ms + job->verify_ms;
	job->engine = engine->name;
	return rc;
}
