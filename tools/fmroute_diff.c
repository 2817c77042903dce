/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fmroute diff A B: two sets of tables side by side.  A side is
 *
 *	a folder that --dump wrote	its tables on its own fabric, or on --fabric
 *	a table file			on --fabric
 *	a fabric			routed by --engine or --config
 *	engine:LIST, config:FILE	--fabric, routed by these
 *
 * LIDs that B's fabric does not give are those of A, port by port, so that two
 * generated fabrics that differ in a switch can be compared.
 */
#include "core/route/route.h"
#include "tools/fmroute.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/error.h"
#include "lib/log.h"
#include "tools/fmroute_change.h"
#include "tools/fmroute_job.h"

struct side {
	const char *text; /* as written */
	struct task task;
	struct job job;
	struct state state;
	char fabric[4096]; /* of a folder */
};

struct pair {
	struct task common; /* what both sides share; .fabric: --fabric */
	struct side side[2];
};

/* ------------------------------------------------------------ command line */

static int
read_words(int argc, char **argv, struct pair *p, struct fm_error *err)
{
	static const struct option options[] = { JOB_OPTIONS,
		{ "fabric", required_argument, NULL, 'F' }, { 0 } };
	int option, rc = 0;

	while (rc == 0 && (option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'F')
			p->common.fabric = optarg;
		else
			rc = job_take_option(&p->common, option, argv[optind - 1], err);
	}
	if (rc != 0)
		return rc;
	if (argc - optind != 2)
		return fm_fail(err, FM_E_CONFIG, "diff takes A and B, %d given", argc - optind);
	p->side[0].text = argv[optind];
	p->side[1].text = argv[optind + 1];
	return 0;
}

/* Tables rather than a fabric, by the words at their beginning. */
static bool
holds_tables(const char *path)
{
	char head[4096];
	FILE *f = fopen(path, "re");
	size_t n = f != NULL ? fread(head, 1, sizeof(head) - 1, f) : 0;

	if (f != NULL)
		fclose(f);
	head[n] = '\0';
	return strstr(head, "Unicast lids") != NULL || strstr(head, "dump_ucast_routes") != NULL ||
	    strstr(head, "Switch: guid") != NULL;
}

static int
want_fabric(const struct pair *p, const struct side *s, struct fm_error *err)
{
	return p->common.fabric != NULL
	    ? 0
	    : fm_fail(err, FM_E_CONFIG, "%.200s: of which fabric? --fabric=FABRIC tells", s->text);
}

static int
take_folder(struct pair *p, struct side *s, struct fm_error *err)
{
	struct stat st;

	s->task.tables = s->text;
	if (p->common.fabric != NULL)
		return 0;
	snprintf(s->fabric, sizeof(s->fabric), "%s/" JOB_FABRIC_FILE, s->text);
	if (stat(s->fabric, &st) != 0)
		return fm_fail(err, FM_E_CONFIG,
		    "%.200s holds no " JOB_FABRIC_FILE
		    ", which fmroute --dump writes: --fabric=FABRIC tells whose tables these are",
		    s->text);
	s->task.fabric = s->fabric;
	return 0;
}

/* What is this side? */
static int
understand(struct pair *p, struct side *s, struct fm_error *err)
{
	struct stat st;

	s->task = p->common;
	s->task.words = NULL;
	if (strncmp(s->text, "engine:", 7) == 0)
		return job_split_chain(&s->task, s->text + 7, err) != 0 ? (int)err->kind
									: want_fabric(p, s, err);
	if (strncmp(s->text, "config:", 7) == 0) {
		s->task.config = s->text + 7;
		return want_fabric(p, s, err);
	}
	if (stat(s->text, &st) == 0 && S_ISDIR(st.st_mode))
		return take_folder(p, s, err);
	if (holds_tables(s->text)) {
		s->task.tables = s->text;
		return want_fabric(p, s, err);
	}
	if (p->common.fabric != NULL)
		return fm_fail(err, FM_E_CONFIG,
		    "%.200s holds no tables: with --fabric, a side is tables, engine:LIST or "
		    "config:FILE",
		    s->text);
	s->task.fabric = s->text;
	return 0;
}

static bool
takes_engine(const struct side *s)
{
	return s->task.tables == NULL && strncmp(s->text, "engine:", 7) != 0;
}

static bool
reads_input(const struct side *s)
{
	return strcmp(s->task.fabric, "-") == 0;
}

static int
understand_both(struct pair *p, struct fm_error *err)
{
	struct side *a = &p->side[0], *b = &p->side[1];

	if (understand(p, a, err) != 0 || understand(p, b, err) != 0)
		return (int)err->kind;
	if (p->common.n_chain > 0 && !takes_engine(a) && !takes_engine(b))
		return fm_fail(err, FM_E_CONFIG,
		    "--engine=LIST routes neither %.100s nor %.100s: it is for a side that is a "
		    "fabric "
		    "or config:FILE; engine:LIST is a side of its own",
		    a->text, b->text);
	if (reads_input(a) && reads_input(b))
		return fm_fail(err, FM_E_CONFIG,
		    "both sides read their fabric from standard input, which can be read once: "
		    "write it to a file");
	return 0;
}

/* ---------------------------------------------------------------- the sides */

static int
make_tables(struct side *s, struct fm_error *err)
{
	struct job *job = &s->job;
	int rc;

	if (s->task.tables != NULL)
		return job_check(job, s->task.tables, err);
	rc = plan_make(&job->router,
	    &(struct plan_request){ .snap = job->snap,
		.chain = &job->conf->routing.chain,
		.regions = &job->conf->regions.set },
	    &job->plan, err);
	if (rc != 0)
		return rc;
	job->tables = job->plan->tables;
	job->verdict = job->plan->verdict;
	job->engine = job->plan->engine;
	job->route_ms = job->plan->route_ms;
	job->verify_ms = job->plan->verify_ms;
	return 0;
}

static int
prepare(struct side *s, struct fm_error *err)
{
	struct job *job = &s->job;
	int rc;

	job->task = &s->task;
	if ((rc = job_prepare(job, err)) != 0 || (rc = make_tables(s, err)) != 0)
		return rc;
	s->state = (struct state){ .snap = job->snap,
		.tables = job->tables,
		.plan = job->plan,
		.top_lid = job->snap->fab.max_lid,
		.verdict = job->verdict,
		.engine = s->task.tables != NULL ? "file" : job->engine,
		.route_ms = job->route_ms,
		.verify_ms = job->verify_ms };
	return state_measure(&s->state, job->router.workers, err);
}

static int
report(const struct pair *p, const struct change *c, struct fm_error *err)
{
	json_t *o;
	int rc = 0;

	if (p->common.json) {
		o = change_json(c);
		rc = json_dumpf(o, stdout, JSON_INDENT(1)) == 0 && putchar('\n') != EOF ? 0 : -1;
		json_decref(o);
	} else {
		change_print(c);
	}
	return rc == 0 && fflush(stdout) == 0
	    ? 0
	    : fm_fail(err, FM_E_SYSTEM, "cannot write the report: %s", strerror(errno));
}

static int
not_routed(const struct side *s, struct fm_error *err)
{
	const struct plan *p = s->job.plan;

	return fm_fail(err, FM_E_TOPOLOGY, "%.200s: not routed: %s", s->text,
	    p->refused.n > 0 ? p->refused.item[0].reason : "the chain is empty");
}

static int
diff_pair(struct pair *p, struct fm_error *err)
{
	struct change c;
	int rc = understand_both(p, err);

	if (rc != 0 || (rc = prepare(&p->side[0], err)) != 0)
		return rc;
	p->side[1].job.lids = p->side[0].job.snap;
	if ((rc = prepare(&p->side[1], err)) != 0)
		return rc;
	for (int i = 0; i < 2; i++)
		if (p->side[i].job.tables == NULL)
			return not_routed(&p->side[i], err);
	rc = change_find(
	    &p->side[0].state, &p->side[1].state, p->side[1].job.router.workers, &c, err);
	if (rc == 0)
		rc = report(p, &c, err);
	change_fini(&c);
	return rc;
}

int
fmroute_diff(int argc, char **argv)
{
	static struct pair p;
	struct fm_error err;
	int rc = read_words(argc, argv, &p, &err);

	fm_log_set_level(FM_LOG_WARN);
	if (rc == 0)
		rc = diff_pair(&p, &err);
	if (rc != 0)
		rc = fmroute_report(&err);
	else if (!state_is_proven(&p.side[0].state) || !state_is_proven(&p.side[1].state))
		rc = EXIT_NOT_ROUTED;
	for (int i = 1; i >= 0; i--) {
		if (p.side[i].job.task != NULL)
			job_release(&p.side[i].job);
		free(p.side[i].task.words);
	}
	free(p.common.words);
	return rc;
}
