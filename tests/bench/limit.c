/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * limit FABRIC [TURNS]: how few routes the fullest link between switches can bear, whatever the
 * paths, when each host sends to each other over one path or parts it among many.
 *
 * By duality of linear programs: for any lengths of the links, the sum over all pairs of hosts of
 * the shortest way between them, over the sum of the lengths, is a lower bound.  Lengths grow with
 * what shortest ways by them bear (multiplicative weights); the best bound of all turns is printed,
 * and the fullest link when pairs part their routes evenly over all turns, which is above it: the
 * limit lies between the two.
 *
 * O(turns * switches^2 * (switches + links / switches)).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/graph/snapshot.h"
#include "lab/topo/netlist.h"
#include "lib/error.h"

#define TURNS 400
#define STEP 0.5 /* of the first turn; falls with its square root */

static const struct fm_fabric *fab;
static uint32_t n, *hosts;
static double *length, *load, *shared, *distance, *weight;
static fm_link *via;
static fm_sw *order;
static unsigned char *done;

static void *
need(size_t count, size_t size)
{
	void *p = calloc(count + 1, size);

	if (p == NULL) {
		fputs("limit: out of memory\n", stderr);
		exit(1);
	}
	return p;
}

/* Shortest ways from s by the lengths: distance, the link by which each is come to, the order. */
static void
search(fm_sw s)
{
	for (fm_sw u = 0; u < n; u++) {
		distance[u] = INFINITY;
		via[u] = FM_NONE;
		done[u] = 0;
	}
	distance[s] = 0;
	for (uint32_t k = 0; k < n; k++) {
		fm_sw u = FM_NONE;

		for (fm_sw v = 0; v < n; v++)
			if (!done[v] && (u == FM_NONE || distance[v] < distance[u]))
				u = v;
		order[k] = u;
		done[u] = 1;
		for (fm_link l = fab->sw_first_link[u]; l < fab->sw_first_link[u + 1]; l++)
			if (distance[u] + length[l] < distance[fab->link_to[l]]) {
				distance[fab->link_to[l]] = distance[u] + length[l];
				via[fab->link_to[l]] = l;
			}
	}
}

/* What the hosts of s send, by these ways: to load.  The sum of all lengths that it goes. */
static double
send(fm_sw s)
{
	double sum = 0;

	search(s);
	for (fm_sw u = 0; u < n; u++)
		weight[u] = u == s || distance[u] == INFINITY ? 0 : (double)hosts[s] * hosts[u];
	for (uint32_t k = n; k-- > 1;) {
		fm_sw u = order[k];

		if (via[u] == FM_NONE)
			continue;
		load[via[u]] += weight[u];
		sum += weight[u] * length[via[u]];
		weight[fab->link_to[fab->link_rev[via[u]]]] += weight[u];
	}
	return sum;
}

static double
most(const double *of)
{
	double found = 0;

	for (fm_link l = 0; l < fab->n_links; l++)
		found = of[l] > found ? of[l] : found;
	return found;
}

static double
turn(unsigned k)
{
	double sum = 0, all = 0, step = STEP / sqrt(k + 1), top;

	memset(load, 0, fab->n_links * sizeof(*load));
	for (fm_sw s = 0; s < n; s++)
		if (hosts[s] > 0)
			sum += send(s);
	top = most(load);
	for (fm_link l = 0; l < fab->n_links; l++) {
		all += length[l];
		shared[l] += load[l];
	}
	for (fm_link l = 0; l < fab->n_links; l++)
		length[l] *= exp(step * load[l] / top) / all * fab->n_links;
	return sum / all;
}

static struct snapshot *
read_fabric(const char *path)
{
	struct netlist_view view = { .n_vls = 8 };
	struct netlist nl = { 0 };
	struct snapshot *snap = NULL;
	struct fm_error err = { 0 };

	if (netlist_read(path, &nl, &err) != 0 || netlist_snapshot(&nl, &view, &snap, &err) != 0) {
		fprintf(stderr, "limit: %s\n", err.msg);
		exit(1);
	}
	netlist_fini(&nl);
	return snap;
}

int
main(int argc, char **argv)
{
	unsigned turns = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : TURNS;
	double best = 0;
	struct snapshot *snap;

	if (argc < 2 || argc > 3 || turns == 0) {
		fputs("usage: limit FABRIC [TURNS]\n", stderr);
		return 2;
	}
	snap = read_fabric(argv[1]);
	fab = &snap->fab;
	n = fab->n_switches;
	hosts = need(n, sizeof(*hosts));
	length = need(fab->n_links, sizeof(*length));
	load = need(fab->n_links, sizeof(*load));
	shared = need(fab->n_links, sizeof(*shared));
	distance = need(n, sizeof(*distance));
	weight = need(n, sizeof(*weight));
	via = need(n, sizeof(*via));
	order = need(n, sizeof(*order));
	done = need(n, sizeof(*done));
	for (fm_end e = 0; e < fab->n_ends; e++)
		hosts[fab->end_sw[e]] += fab->end_port[e] != 0;
	for (fm_link l = 0; l < fab->n_links; l++)
		length[l] = 1;
	for (unsigned k = 0; k < turns; k++) {
		double bound = turn(k);

		best = bound > best ? bound : best;
	}
	printf("limit       %.1f to %.1f routes on the fullest link\n", best, most(shared) / turns);
	snapshot_put(snap);
	return 0;
}
