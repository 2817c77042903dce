/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fmd-engine-check ENGINE.so FABRIC...: for the author of an engine, the
 * properties that fmd's own engines are tested for (core/route/props.h).
 */
#include "config.h"

#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/conf/cli.h"
#include "core/conf/plugin.h"
#include "core/route/props.h"
#include "core/topo/netlist.h"
#include "lib/standard.h"

static const char usage[] =
    "usage: fmd-engine-check ENGINE.so FABRIC...\n"
    "Check an engine on fabrics (ibsim netlists, ibnetdiscover dumps; see fmroute gen):\n"
    "the same bytes twice and with 1, 2 and 8 workers; every scratch allocation\n"
    "failing in turn; whole rows written and no credit loops made where it promises\n"
    "so; every pair routed, under other names too, no loops; refusals with a sentence.\n"
    "Exit codes: 0 all hold, 2 usage or no engine, 3 a property is broken.\n";

/* The engine of one file: its folder is loaded, the file's refusal is ours. */
static const struct fm_engine *
load_engine(const char *path, struct engine_set *set, struct fm_error *err)
{
	char real[PATH_MAX], copy[PATH_MAX];
	const char *dirs[] = { copy, NULL };

	if (realpath(path, real) == NULL) {
		snprintf(err->msg, sizeof(err->msg), "%s: no such file", path);
		return NULL;
	}
	snprintf(copy, sizeof(copy), "%s", real);
	dirs[0] = dirname(copy);
	if (engine_set_load(set, dirs, err) != 0)
		return NULL;
	for (uint32_t i = 0; i < set->n_engines; i++)
		if (strcmp(set->engines[i].path, real) == 0)
			return set->engines[i].engine;
	snprintf(
	    err->msg, sizeof(err->msg), "%s: no engine: the file must be called NAME.so", path);
	for (uint32_t i = 0; i < set->n_refused; i++)
		if (strcmp(set->refused[i].path, real) == 0)
			snprintf(err->msg, sizeof(err->msg), "%.250s", set->refused[i].reason);
	engine_set_fini(set);
	return NULL;
}

static enum fmd_exit
check_snapshot(const struct fm_engine *engine, const char *fabric, struct snapshot *snap,
    struct snapshot *renamed)
{
	struct props props = { .engine = engine,
		.snap = snap,
		.renamed = renamed,
		.names = PROPS_NAMES_MATTER, /* only its author knows how much */
		.n_vls = 8 };
	uint64_t n_allocs;
	char report[640];

	switch (props_check(&props, &n_allocs, report, sizeof(report))) {
	case PROPS_HOLD:
		printf("ok       %s: pure, %" PRIu64
		       " failing allocations survived, verdict good\n",
		    fabric, n_allocs);
		return FMD_EXIT_OK;
	case PROPS_REFUSED:
		printf("refused  %s: %s\n", fabric, report);
		return FMD_EXIT_OK;
	case PROPS_BROKEN:
		printf("BROKEN   %s: %s\n", fabric, report);
		return FMD_EXIT_NOT_ROUTED;
	}
	return FMD_EXIT_SYSTEM;
}

static enum fmd_exit
check_fabric(const struct fm_engine *engine, const char *fabric)
{
	/* LIDs of the file do not outlive the shuffling, so neither keeps them. */
	struct netlist_view view = { .n_vls = 8, .fresh_lids = true };
	struct snapshot *snap = NULL, *renamed = NULL;
	struct fm_error err = { 0 };
	struct netlist nl = { 0 }, other = { 0 };
	enum fmd_exit code;
	int rc = netlist_read(fabric, &nl, &err);

	if (rc == 0 && (rc = netlist_shuffle(&nl, 1, &other, &err)) == 0 &&
	    (rc = netlist_snapshot(&nl, &view, &snap, &err)) == 0)
		rc = netlist_snapshot(&other, &view, &renamed, &err);
	netlist_fini(&nl);
	netlist_fini(&other);
	if (rc != 0) {
		snapshot_put(snap);
		fprintf(stderr, "fmd-engine-check: %s\n", err.msg);
		return exit_code_of(&err);
	}
	code = check_snapshot(engine, fabric, snap, renamed);
	snapshot_put(snap);
	snapshot_put(renamed);
	return code;
}

/* The exit code, unless what was printed has not arrived. */
static enum fmd_exit
flushed(enum fmd_exit code)
{
	struct fm_error err;

	if (fm_standard_flush(&err) == 0)
		return code;
	fprintf(stderr, "fmd-engine-check: %s\n", err.msg);
	return code != FMD_EXIT_OK ? code : exit_code_of(&err);
}

int
main(int argc, char *argv[])
{
	const struct fm_engine *engine;
	enum fmd_exit worst = FMD_EXIT_OK;
	struct engine_set set = { 0 };
	struct fm_error err = { 0 };

	fm_standard_claim();
	if (argc == 2 && strcmp(argv[1], "--help") == 0) {
		fputs(usage, stdout);
		return flushed(FMD_EXIT_OK);
	}
	if (argc < 3) {
		fputs(usage, stderr);
		return FMD_EXIT_USAGE;
	}
	engine = load_engine(argv[1], &set, &err);
	if (engine == NULL) {
		fprintf(stderr, "fmd-engine-check: %s\n", err.msg);
		return FMD_EXIT_USAGE;
	}
	for (int i = 2; i < argc; i++) {
		enum fmd_exit code = check_fabric(engine, argv[i]);

		worst = code > worst ? code : worst;
	}
	engine_set_fini(&set);
	return flushed(worst);
}
