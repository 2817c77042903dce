/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connected random regular graphs: a ring in random order, which makes it
 * connected, then random pairs of free ports.  A pair that would be a loop or
 * a second cable is redrawn; when the last ports only fit badly, a random
 * cable x-y that is not of the ring gives way: u-x and v-y take its place.
 * No two switches share two cables.  O(cables) expected.
 */
#include "lab/topo/generate.h"

#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "lib/rng.h"
#include "lib/vec.h"

struct graph {
	uint32_t n, degree, hosts;
	struct fm_rng rng;
	uint32_t *ring;		/* [n] switches in ring order */
	struct fm_hash joined;	/* a * n + b, a < b -> 1 */
	FM_VEC(uint32_t) free;	/* a switch as often as it has free ports */
	FM_VEC(uint64_t) edges; /* a * n + b: those that may give way */
};

static uint64_t
key(const struct graph *r, uint32_t a, uint32_t b)
{
	return a < b ? (uint64_t)a * r->n + b : (uint64_t)b * r->n + a;
}

static bool
may_join(const struct graph *r, uint32_t a, uint32_t b)
{
	return a != b && fm_hash_find(&r->joined, key(r, a, b)) == FM_HASH_NONE;
}

static bool
make_ring(struct graph *r)
{
	uint32_t n_cables = r->n == 2 ? 1 : r->n;

	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t j = fm_rng_below(&r->rng, i + 1);

		r->ring[i] = r->ring[j];
		r->ring[j] = i;
	}
	for (uint32_t i = 0; i < n_cables && r->n > 1; i++)
		if (!fm_hash_put(&r->joined, key(r, r->ring[i], r->ring[(i + 1) % r->n]), 1))
			return false;
	for (uint32_t i = 0; i < r->n; i++)
		for (uint32_t k = r->n == 2 ? 1 : 2; k < r->degree; k++)
			if (!fm_vec_push(&r->free, i))
				return false;
	return true;
}

static bool
join(struct graph *r, uint32_t a, uint32_t b)
{
	return fm_hash_put(&r->joined, key(r, a, b), 1) && fm_vec_push(&r->edges, key(r, a, b));
}

/* Put u-x and v-y in the place of edge e = x-y.  False: does not fit. */
static bool
give_way(struct graph *r, size_t e, uint32_t u, uint32_t v)
{
	uint32_t x = (uint32_t)(r->edges.item[e] / r->n), y = (uint32_t)(r->edges.item[e] % r->n);

	if (!may_join(r, u, x) || !may_join(r, v, y) || (u == y && v == x) ||
	    key(r, u, x) == key(r, v, y))
		return false;
	fm_hash_remove(&r->joined, r->edges.item[e]);
	r->edges.item[e] = r->edges.item[--r->edges.n];
	return join(r, u, x) && join(r, v, y);
}

static uint32_t
draw(struct graph *r)
{
	uint32_t i = fm_rng_below(&r->rng, (uint32_t)r->free.n), sw = r->free.item[i];

	r->free.item[i] = r->free.item[--r->free.n];
	return sw;
}

/* Two free ports to one or two cables.  False: nothing fitted. */
static bool
place(struct graph *r, uint32_t u, uint32_t v)
{
	if (may_join(r, u, v))
		return join(r, u, v);
	for (uint32_t i = 0; i < 1000 && r->edges.n > 0; i++)
		if (give_way(r, fm_rng_below(&r->rng, (uint32_t)r->edges.n), u, v))
			return true;
	return false;
}

static int
make_graph(struct graph *r, struct fm_error *err)
{
	if (!make_ring(r))
		return fm_fail(err, FM_E_RESOURCE, "no memory for a random graph");
	while (r->free.n > 1) {
		uint32_t u = draw(r), v = draw(r);

		for (int i = 0; i < 20 && !may_join(r, u, v) && r->free.n > 0; i++) {
			uint32_t other = draw(r);

			r->free.item[r->free.n++] = v;
			v = other;
		}
		if (!place(r, u, v))
			return fm_fail(err, FM_E_CONFIG,
			    "random: no graph of %u switches with degree %u came out: try another "
			    "seed",
			    r->n, r->degree);
	}
	return 0;
}

static int
by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void
add_graph(struct gen *g, struct graph *r)
{
	char name[96];

	for (uint32_t i = 1; i <= r->n; i++) {
		gen_name(name, sizeof(name), "sw", &i, 1);
		gen_switch(g, name, r->hosts + r->degree);
	}
	for (uint32_t i = 0; i < r->n; i++)
		gen_hosts(g, i, r->hosts);
	for (uint32_t i = 0; i < r->n && r->n > 1 && (r->n > 2 || i == 0); i++)
		gen_cable_free(g, r->ring[i], r->ring[(i + 1) % r->n], r->hosts + 1);
	if (r->edges.n > 0)
		qsort(r->edges.item, r->edges.n, sizeof(*r->edges.item), by_value);
	for (size_t e = 0; e < r->edges.n; e++)
		gen_cable_free(g, (uint32_t)(r->edges.item[e] / r->n),
		    (uint32_t)(r->edges.item[e] % r->n), r->hosts + 1);
}

static int
read_random(const struct gen *g, struct graph *r, struct fm_error *err)
{
	*r = (struct graph){ .n = g->v[0], .degree = g->v[1], .hosts = g->v[2] };
	fm_rng_seed(&r->rng, g->v[3]);
	if (r->degree >= r->n || (r->n > 2 && r->degree < 2) || (r->n == 2 && r->degree < 1))
		return fm_fail(err, FM_E_CONFIG,
		    "random: %u switches of degree %u cannot be joined without double cables: the "
		    "degree is %u..%u",
		    r->n, r->degree, r->n > 2 ? 2 : r->n - 1, r->n - 1);
	return gen_fits(g, (uint64_t)r->hosts + r->degree, r->n, (uint64_t)r->n * r->hosts, err);
}

int
gen_random(struct gen *g, struct fm_error *err)
{
	struct graph r;
	FM_VEC(uint32_t) ring = { 0 };
	int rc = read_random(g, &r, err);

	if (rc != 0)
		return rc;
	if (!fm_vec_reserve(&ring, r.n))
		return fm_fail(err, FM_E_RESOURCE, "no memory for a random graph");
	r.ring = ring.item;
	rc = make_graph(&r, err);
	if (rc == 0)
		add_graph(g, &r);
	fm_vec_fini(&ring);
	fm_vec_fini(&r.free);
	fm_vec_fini(&r.edges);
	fm_hash_fini(&r.joined);
	return rc;
}
