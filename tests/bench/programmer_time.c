/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a process of its own costs a programmer of adaptive routing:
 *
 *	programmer_time PLUGIN_DIR [LIDS GROUPS]
 *
 * asks the first programmer of PLUGIN_DIR/vendors in this process and in one of its own by turns,
 * and prints the medians of 101 calls in ms; LIDS 12961 and GROUPS 64 unless they are given.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/vendor/vendors.h"
#include "lib/algo/median.h"
#include "lib/error.h"

#define RUNS 101

enum call { READ_INFO, TURN, BLOCKS, N_CALLS };
static const char *const words[] = { "read_info", "turn", "blocks" };

static double
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/* In ms; negative: it failed. */
static double
ask(const struct fm_vendor *v, enum call call, const struct fm_vendor_rows *rows)
{
	uint8_t data[FM_VENDOR_BYTES];
	struct fm_vendor_info out;
	struct fm_vendor_smp *b = NULL;
	struct fm_error err;
	double start = now_ms(), ms;
	uint32_t n;
	bool ok;

	if (call == READ_INFO)
		ok = vendor_read_info(v, rows->info, &out);
	else if (call == TURN)
		ok = vendor_turn(v, rows->info, NULL, data);
	else
		ok = vendor_blocks(v, rows, &b, &n, &err) == 0;
	ms = now_ms() - start;
	free(b);
	return ok ? ms : -1;
}

static int
measure(const struct vendors *here, const struct vendors *apart, const struct fm_vendor_rows *rows)
{
	static double ms[2][RUNS];

	for (int call = 0; call < N_CALLS; call++) {
		for (int i = 0; i < 2 * RUNS; i++) {
			const struct vendors *v = i & 1 ? apart : here;

			ms[i & 1][i / 2] = ask(v->vendor[0], (enum call)call, rows);
			if (ms[i & 1][i / 2] < 0)
				return 1;
		}
		printf("%-10s %8.3f ms here %8.3f ms apart\n", words[call], fm_median(ms[0], RUNS),
		    fm_median(ms[1], RUNS));
	}
	return 0;
}

int
main(int argc, char *argv[])
{
	const struct apart_settings all = {
		.who = APART_ALL, .memory_bytes = (size_t)4 << 30, .load_ms = 60000
	};
	const char *dirs[] = { argc > 1 ? argv[1] : "", NULL };
	long n_lids = argc > 3 ? strtol(argv[2], NULL, 10) : 12961;
	long n_groups = argc > 3 ? strtol(argv[3], NULL, 10) : 64;
	uint8_t info[FM_VENDOR_BYTES] = { 1 }, *lft = calloc(1, 65536);
	uint16_t *group = calloc(65536, sizeof(*group));
	uint64_t(*ports)[4] = calloc(65536, sizeof(*ports));
	struct vendors *here = NULL, *apart = NULL;
	struct fm_vendor_rows rows = { .size = sizeof(rows), .info = info, .n_ports = 36 };
	struct fm_error err = { 0 };
	int rc = 2;

	if (argc < 2 || n_lids < 2 || n_lids > 49152 || n_groups < 1 || n_groups > 65534)
		return 2;
	rows.top_lid = (uint16_t)(n_lids - 1);
	rows.n_groups = (uint16_t)n_groups;
	rows.lft = lft;
	rows.group = group;
	rows.ports = ports;
	if (lft == NULL || group == NULL || ports == NULL ||
	    vendors_load(&here, dirs, &APART_NOTHING, &err) != 0 ||
	    vendors_load(&apart, dirs, &all, &err) != 0 || here->n_vendors == 0 ||
	    apart->n_vendors == 0)
		fprintf(stderr, "programmer_time: no programmer: %s\n", err.msg);
	else
		rc = measure(here, apart, &rows);
	vendors_free(here);
	vendors_free(apart);
	free(lft);
	free(group);
	free(ports);
	return rc;
}
