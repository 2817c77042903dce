/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long a fabric file takes to be read:
 *
 *	read_time FILE [RUNS]
 *
 * prints the medians in ms of reading it, and of making the snapshot that engines see.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/plan/plan.h"
#include "lab/topo/netlist.h"
#include "lib/algo/median.h"
#include "lib/error.h"

#define MAX_RUNS 101

static int
measure(const char *path, double *read_ms, double *snapshot_ms, struct fm_error *err)
{
	struct netlist_view view = { .n_vls = 8 };
	struct netlist nl = { 0 };
	struct snapshot *snap = NULL;
	double start = plan_now_ms();
	int rc = netlist_read(path, &nl, err);

	*read_ms = plan_now_ms() - start;
	start = plan_now_ms();
	if (rc == 0)
		rc = netlist_snapshot(&nl, &view, &snap, err);
	*snapshot_ms = plan_now_ms() - start;
	if (rc == 0)
		snapshot_put(snap);
	netlist_fini(&nl);
	return rc;
}

int
main(int argc, char **argv)
{
	double read_ms[MAX_RUNS], snapshot_ms[MAX_RUNS];
	int n = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 9;
	struct fm_error err = { 0 };

	if (argc < 2 || n < 1 || n > MAX_RUNS) {
		fprintf(stderr, "usage: read_time FILE [RUNS]\n");
		return 2;
	}
	for (int i = 0; i < n; i++)
		if (measure(argv[1], &read_ms[i], &snapshot_ms[i], &err) != 0) {
			fprintf(stderr, "read_time: %s\n", err.msg);
			return 1;
		}
	printf("%.1f %.1f\n", fm_median(read_ms, (size_t)n), fm_median(snapshot_ms, (size_t)n));
	return 0;
}
