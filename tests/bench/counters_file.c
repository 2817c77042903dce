/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file of counters as fmd-perf has it of 11,664 hosts at 1,620 switches of 36 ports, 69,984 ports
 * in all, at PATH, where it stays for fmd-web; and how long it takes to read all of it and to make
 * the text of seven series a port:
 *
 *	counters_file PATH [RUNS]
 *
 * prints the medians in ms, and how many lines and bytes the text has.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/plan/plan.h"
#include "core/wire/wire.h"
#include "lib/algo/median.h"
#include "lib/rng.h"
#include "web/text/ports.h"

#define N_SWITCHES 1620
#define N_HOSTS 11664
#define N_NODES (N_SWITCHES + N_HOSTS)
#define PORTS 36
#define MAX_RUNS 101

static int
make_file(const char *path, struct fm_error *err)
{
	static struct book_node nodes[N_NODES];
	struct book_head head = { .sweep = 1, .sweep_ended_ms = 1, .interval_ms = 10000 };
	struct fm_rng rng;
	struct book *b;
	uint32_t row = 0;
	int rc;

	fm_rng_seed(&rng, 7);
	for (uint32_t i = 0; i < N_NODES; i++) {
		bool is_switch = i < N_SWITCHES;

		nodes[i] = (struct book_node){ .guid = UINT64_C(0x0200f40000000000) + i,
			.first_port = row,
			.n_ports = is_switch ? PORTS : 1,
			.type = is_switch ? WIRE_NODE_SWITCH : WIRE_NODE_CA };
		snprintf(nodes[i].name, sizeof(nodes[i].name), "%s-%u",
		    is_switch ? "switch" : "host", i);
		row += nodes[i].n_ports;
	}
	rc = book_make(path, nodes, N_NODES, (gid_t)-1, &b, err);
	if (rc != 0)
		return rc;
	for (uint32_t k = 0; k < row; k++) {
		struct book_port p = { .read_ms = 1,
			.span_ms = 10000,
			.peer = k % N_NODES,
			.peer_port = 1,
			.mbps = 200000,
			.planned = 1000 };

		for (int c = COUNTER_XMIT_DATA; c <= COUNTER_XMIT_WAIT; c++)
			p.sum[c] = fm_rng_next(&rng) >> 16;
		book_put_port(b, k, &p);
	}
	book_put_head(b, &head);
	rc = book_show(b, err);
	book_close(b);
	return rc;
}

static int
measure(const char *path, double ms[2], size_t *n_bytes, size_t *n_lines, struct fm_error *err)
{
	const struct ports_wanted load = { .set = PORTS_LOAD };
	double start = plan_now_ms();
	struct readings r;
	struct places p;
	struct hour h = { 0 };
	struct text t = { 0 };
	int rc;

	readings_init(&r, path);
	places_init(&p);
	rc = readings_follow(&r, err);
	ms[0] = plan_now_ms() - start;
	start = plan_now_ms();
	if (rc == 0)
		ports_write(&r, &p, &h, &load, &t);
	ms[1] = plan_now_ms() - start;
	*n_bytes = t.v.n;
	*n_lines = 0;
	for (size_t i = 0; i < t.v.n; i++)
		*n_lines += t.v.item[i] == '\n';
	text_fini(&t);
	places_fini(&p);
	readings_fini(&r);
	return rc;
}

int
main(int argc, char **argv)
{
	int n = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 9;
	double read_ms[MAX_RUNS], write_ms[MAX_RUNS], ms[2];
	size_t n_bytes = 0, n_lines = 0;
	struct fm_error err = { 0 };
	int rc;

	if (argc < 2 || n < 1 || n > MAX_RUNS) {
		fprintf(stderr, "usage: counters_file PATH [RUNS]\n");
		return 2;
	}
	rc = make_file(argv[1], &err);
	for (int i = 0; rc == 0 && i < n; i++) {
		rc = measure(argv[1], ms, &n_bytes, &n_lines, &err);
		read_ms[i] = ms[0];
		write_ms[i] = ms[1];
	}
	if (rc != 0) {
		fprintf(stderr, "counters_file: %s\n", err.msg);
		return 1;
	}
	printf("read %.1f, text %.1f, %zu lines, %zu bytes\n", fm_median(read_ms, (size_t)n),
	    fm_median(write_ms, (size_t)n), n_lines, n_bytes);
	return 0;
}
