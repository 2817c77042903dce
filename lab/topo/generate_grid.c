/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fabrics on a grid: torus, mesh, hypercube, HyperX.  Switch sw-x-y-z has
 * coordinates counted from 0, the last one running fastest; hosts sit on
 * ports 1..HOSTS, then come the dimensions in order, the way up before the
 * way down, so that equal ports mean equal directions on every switch.
 */
#include "lab/topo/generate.h"

#include <string.h>

#include "lib/error.h"

struct grid {
	uint32_t size[GEN_MAX_DIMS]; /* [n] */
	uint32_t stride[GEN_MAX_DIMS];
	uint32_t n, n_switches, hosts, parallel;
	bool wraps;
};

static int
size_grid(struct grid *d, struct fm_error *err)
{
	uint64_t n = 1;

	for (uint32_t i = d->n; i-- > 0;) {
		d->stride[i] = (uint32_t)n;
		n *= d->size[i];
		if (n > GEN_MAX_NODES)
			return fm_fail(
			    err, FM_E_CONFIG, "the grid has more than %u switches", GEN_MAX_NODES);
	}
	d->n_switches = (uint32_t)n;
	return 0;
}

static uint32_t
coordinate(const struct grid *d, uint32_t sw, uint32_t dim)
{
	return sw / d->stride[dim] % d->size[dim];
}

static int
add_grid(struct gen *g, struct grid *d, uint32_t n_ports, struct fm_error *err)
{
	uint32_t at[GEN_MAX_DIMS];
	char name[96];
	int rc = gen_fits(g, n_ports, d->n_switches, (uint64_t)d->n_switches * d->hosts, err);

	if (rc != 0)
		return rc;
	for (uint32_t sw = 0; sw < d->n_switches; sw++) {
		for (uint32_t i = 0; i < d->n; i++)
			at[i] = coordinate(d, sw, i);
		gen_name(name, sizeof(name), "sw", at, d->n);
		gen_switch(g, name, n_ports);
	}
	for (uint32_t sw = 0; sw < d->n_switches; sw++)
		gen_hosts(g, sw, d->hosts);
	return 0;
}

/* A dimension of 1 has no ports, one of 2 a single neighbour. */
static uint32_t
dim_ports(const struct grid *d, uint32_t dim)
{
	if (d->size[dim] == 1)
		return 0;
	return d->size[dim] == 2 ? d->parallel : 2 * d->parallel;
}

static void
cable_dim(struct gen *g, const struct grid *d, uint32_t dim, uint32_t first_port)
{
	uint32_t size = d->size[dim], down = size == 2 ? first_port : first_port + d->parallel;

	for (uint32_t sw = 0; sw < d->n_switches; sw++) {
		uint32_t x = coordinate(d, sw, dim), next = sw + d->stride[dim];

		if (x + 1 == size) {
			if (!d->wraps || size < 3)
				continue;
			next -= size * d->stride[dim];
		}
		for (uint32_t k = 0; k < d->parallel; k++)
			gen_cable(g, sw, first_port + k, next, down + k);
	}
}

static int
build_torus(struct gen *g, struct grid *d, struct fm_error *err)
{
	uint64_t n_ports = d->hosts;
	uint32_t port = d->hosts + 1;
	int rc = size_grid(d, err);

	for (uint32_t i = 0; i < d->n; i++)
		n_ports += dim_ports(d, i);
	if (rc == 0)
		rc = add_grid(g, d, (uint32_t)n_ports, err);
	for (uint32_t i = 0; i < d->n && rc == 0; i++) {
		if (d->size[i] > 1)
			cable_dim(g, d, i, port);
		port += dim_ports(d, i);
	}
	return rc;
}

/* "8x8x4 HOSTS [PARALLEL]" */
static struct grid
read_grid(const struct gen *g)
{
	struct grid d = { .n = g->n_list[0], .hosts = g->v[1], .parallel = g->v[2] };

	memcpy(d.size, g->list[0], sizeof(d.size));
	return d;
}

int
gen_torus(struct gen *g, struct fm_error *err)
{
	struct grid d = read_grid(g);

	d.wraps = true;
	return build_torus(g, &d, err);
}

int
gen_mesh(struct gen *g, struct fm_error *err)
{
	struct grid d = read_grid(g);

	return build_torus(g, &d, err);
}

int
gen_hypercube(struct gen *g, struct fm_error *err)
{
	struct grid d = { .n = g->v[0], .hosts = g->v[1], .parallel = 1 };

	for (uint32_t i = 0; i < d.n; i++)
		d.size[i] = 2;
	return build_torus(g, &d, err);
}

/* HyperX: the port to coordinate y, seen from x, is y - (y > x). */
static void
cable_row(struct gen *g, const struct grid *d, uint32_t dim, uint32_t first_port)
{
	for (uint32_t sw = 0; sw < d->n_switches; sw++) {
		uint32_t x = coordinate(d, sw, dim);

		for (uint32_t y = x + 1; y < d->size[dim]; y++)
			gen_cable(g, sw, first_port + y - 1, sw + (y - x) * d->stride[dim],
			    first_port + x);
	}
}

int
gen_hyperx(struct gen *g, struct fm_error *err)
{
	struct grid d = read_grid(g);
	uint64_t n_ports;
	uint32_t port;
	int rc = size_grid(&d, err);

	if (rc != 0)
		return rc;
	n_ports = d.hosts;
	for (uint32_t i = 0; i < d.n; i++)
		n_ports += d.size[i] - 1;
	rc = add_grid(g, &d, (uint32_t)n_ports, err);
	port = d.hosts + 1;
	for (uint32_t i = 0; i < d.n && rc == 0; i++) {
		cable_row(g, &d, i, port);
		port += d.size[i] - 1;
	}
	return rc;
}
