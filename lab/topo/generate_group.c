/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Low-diameter fabrics: dragonfly (Kim et al., ISCA'08), Cascade (Faanes et
 * al., SC'12), Slim Fly on McKay-Miller-Siran graphs (Besta and Hoefler,
 * SC'14), Kautz graphs.  Hosts sit on ports 1..HOSTS of each switch.
 */
#include "lab/topo/generate.h"

#include <string.h>

#include "lib/error.h"

/* Switches sw-GROUP-MEMBER, both counted from 1. */
static void
add_groups(struct gen *g, uint32_t n_groups, uint32_t group_size, uint32_t hosts, uint32_t n_ports)
{
	char name[96];

	for (uint32_t sw = 0; sw < n_groups * group_size; sw++) {
		gen_name(name, sizeof(name), "sw",
		    (uint32_t[]){ sw / group_size + 1, sw % group_size + 1 }, 2);
		gen_switch(g, name, n_ports);
	}
	for (uint32_t sw = 0; sw < n_groups * group_size; sw++)
		gen_hosts(g, sw, hosts);
}

/* All of first, first + step, .. (n switches) to each other. */
static void
cable_all(struct gen *g, uint32_t first, uint32_t step, uint32_t n, uint32_t from_port)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = i + 1; j < n; j++)
			gen_cable_free(g, first + i * step, first + j * step, from_port);
}

/* --------------------------------------------------------------- dragonfly */

struct dragonfly {
	uint32_t a, p, h, g;
};

static int
read_dragonfly(struct gen *g, struct dragonfly *d, struct fm_error *err)
{
	int rc = 0;

	*d = (struct dragonfly){ g->v[0], g->v[1], g->v[2], g->v[0] * g->v[2] + 1 };
	if (g->argc > 4)
		rc = gen_value(g, g->argv[4], "G, the number of groups,", 1, d->g, &d->g, err);
	return rc != 0 ? rc
		       : gen_fits(g, d->p + d->a - 1 + d->h, (uint64_t)d->g * d->a,
			     (uint64_t)d->g * d->a * d->p, err);
}

/* Each pair of groups gets n = floor(A*H / (G-1)) cables.  Group i keeps them
 * in slots ((j - i - 1) mod G) * n + k for group j; slot s is global port
 * s / A of switch s mod A, so the cables of a pair spread over switches. */
static void
cable_pair(struct gen *g, const struct dragonfly *d, uint32_t i, uint32_t j)
{
	uint32_t n = d->a * d->h / (d->g - 1), first = d->p + d->a;
	uint32_t ij = (j - i - 1) * n, ji = (d->g - 1 + i - j) * n;

	for (uint32_t k = 0; k < n; k++, ij++, ji++)
		gen_cable(g, i * d->a + ij % d->a, first + ij / d->a, j * d->a + ji % d->a,
		    first + ji / d->a);
}

int
gen_dragonfly(struct gen *g, struct fm_error *err)
{
	struct dragonfly d;
	int rc = read_dragonfly(g, &d, err);

	if (rc != 0)
		return rc;
	add_groups(g, d.g, d.a, d.p, d.p + d.a - 1 + d.h);
	for (uint32_t i = 0; i < d.g; i++)
		cable_all(g, i * d.a, 1, d.a, d.p + 1);
	for (uint32_t i = 0; i < d.g; i++)
		for (uint32_t j = i + 1; j < d.g; j++)
			cable_pair(g, &d, i, j);
	return 0;
}

/* ----------------------------------------------------------------- Cascade */

/* A group is 6 chassis of 16 routers: a chassis is fully joined, routers of
 * equal slot in different chassis are joined by 3 cables, and each router has
 * one global cable to its image in the other group and one to the image half
 * a group further. */
int
gen_cascade(struct gen *g, struct fm_error *err)
{
	enum { CHASSIS = 6, SLOTS = 16, GROUP = CHASSIS * SLOTS, BLACK = 3, HOSTS = 8 };
	const uint32_t n_ports = HOSTS + (SLOTS - 1) + BLACK * (CHASSIS - 1) + 2;

	(void)err;
	add_groups(g, 2, GROUP, HOSTS, n_ports);
	for (uint32_t c = 0; c < 2 * CHASSIS; c++)
		cable_all(g, c * SLOTS, 1, SLOTS, HOSTS + 1);
	for (uint32_t s = 0; s < 2 * SLOTS; s++)
		for (uint32_t k = 0; k < BLACK; k++)
			cable_all(g, s / SLOTS * GROUP + s % SLOTS, SLOTS, CHASSIS, HOSTS + SLOTS);
	for (uint32_t r = 0; r < GROUP; r++) {
		gen_cable_free(g, r, GROUP + r, n_ports - 1);
		gen_cable_free(g, r, GROUP + (r + GROUP / 2) % GROUP, n_ports - 1);
	}
	return 0;
}

/* ---------------------------------------------------------------- Slim Fly */

static bool
is_prime(uint32_t q)
{
	for (uint32_t d = 2; d * d <= q; d++)
		if (q % d == 0)
			return false;
	return q > 1;
}

/* The least x whose powers are all of 1..q-1. */
static uint32_t
primitive_root(uint32_t q)
{
	for (uint32_t x = 2; x < q; x++) {
		uint32_t order = 1;

		for (uint32_t v = x; v != 1; v = v * x % q)
			order++;
		if (order == q - 1)
			return x;
	}
	return 2;
}

/* Exponents of the two generator sets.  q = 4w + 1: even ones and odd ones;
 * q = 4w - 1: even ones below 2w and odd ones from 2w - 1 up, and the same
 * shifted by one.  Either way both sets are closed under negation. */
static void
generator_sets(uint32_t q, bool in_x[], bool in_x2[])
{
	uint32_t root = primitive_root(q), w = (q + 1) / 4, v = 1;

	for (uint32_t e = 0; e < q - 1; e++, v = v * root % q) {
		if (q % 4 == 1) {
			(e % 2 == 0 ? in_x : in_x2)[v] = true;
			continue;
		}
		if (e < 2 * w - 1 ? e % 2 == 0 : e % 2 == 1)
			in_x[v] = true;
		if (e < 2 * w ? e % 2 == 1 : e % 2 == 0)
			in_x2[v] = true;
	}
	if (q % 4 == 3) /* the exponent 4w - 2 = q - 1 */
		in_x2[1] = true;
}

static void
cable_slimfly(struct gen *g, uint32_t q, uint32_t from)
{
	bool in_x[GEN_MAX_SLIMFLY] = { false }, in_x2[GEN_MAX_SLIMFLY] = { false };

	generator_sets(q, in_x, in_x2);
	for (uint32_t x = 0; x < q; x++)
		for (uint32_t y = 0; y < q; y++)
			for (uint32_t z = y + 1; z < q; z++) {
				if (in_x[z - y])
					gen_cable_free(g, x * q + y, x * q + z, from);
				if (in_x2[z - y])
					gen_cable_free(g, (q + x) * q + y, (q + x) * q + z, from);
			}
	for (uint32_t m = 0; m < q; m++) /* (0, x, m*x + c) ~ (1, m, c) */
		for (uint32_t c = 0; c < q; c++)
			for (uint32_t x = 0; x < q; x++)
				gen_cable_free(g, x * q + (m * x + c) % q, (q + m) * q + c, from);
}

int
gen_slimfly(struct gen *g, struct fm_error *err)
{
	uint32_t q = g->v[0], hosts = g->v[1];
	uint32_t degree = q % 4 == 1 ? (3 * q - 1) / 2 : (3 * q + 1) / 2;
	int rc;

	if (!is_prime(q))
		return fm_fail(err, FM_E_CONFIG,
		    "slimfly: Q is %u, an odd prime is needed (3, 5, 7, 11, 13, ...)", q);
	rc = gen_fits(g, hosts + degree, 2ull * q * q, 2ull * q * q * hosts, err);
	if (rc != 0)
		return rc;
	add_groups(g, 2 * q, q, hosts, hosts + degree);
	cable_slimfly(g, q, hosts + 1);
	return 0;
}

/* ------------------------------------------------------------------- Kautz */

struct kautz {
	uint32_t d, k, hosts, parallel;
	uint32_t n; /* (d+1) * d^(k-1) words */
};

/* Word number i: first letter i / d^(k-1), each further one a digit 0..d-1
 * counted over the letters that differ from the one before. */
static void
word_of(const struct kautz *z, uint32_t i, uint32_t *word)
{
	uint32_t place = z->n / (z->d + 1);

	word[0] = i / place;
	for (uint32_t l = 1; l < z->k; l++) {
		i %= place;
		place /= z->d;
		word[l] = i / place;
		word[l] += word[l] >= word[l - 1];
	}
}

static uint32_t
number_of(const struct kautz *z, const uint32_t *word)
{
	uint32_t i = word[0];

	for (uint32_t l = 1; l < z->k; l++)
		i = i * z->d + word[l] - (word[l] > word[l - 1]);
	return i;
}

static int
read_kautz(struct gen *g, struct kautz *z, struct fm_error *err)
{
	uint64_t n;

	*z = (struct kautz){ g->v[0], g->v[1], g->v[2], g->v[3], 0 };
	n = z->d + 1;
	for (uint32_t l = 1; l < z->k && n <= GEN_MAX_NODES; l++)
		n *= z->d;
	z->n = (uint32_t)n;
	return gen_fits(g, z->hosts + 2ull * z->d * z->parallel, n, n * z->hosts, err);
}

/* Word s1..sk has a cable to each s2..sk,x with x != sk. */
static void
cable_word(struct gen *g, const struct kautz *z, uint32_t i)
{
	uint32_t word[GEN_MAX_DIMS + 1];

	word_of(z, i, word);
	for (uint32_t x = 0; x <= z->d; x++) {
		if (x == word[z->k - 1])
			continue;
		word[z->k] = x;
		for (uint32_t r = 0; r < z->parallel; r++)
			gen_cable_free(g, i, number_of(z, word + 1), z->hosts + 1);
	}
}

int
gen_kautz(struct gen *g, struct fm_error *err)
{
	struct kautz z;
	uint32_t word[GEN_MAX_DIMS];
	char name[96];
	int rc = read_kautz(g, &z, err);

	if (rc != 0)
		return rc;
	for (uint32_t i = 0; i < z.n; i++) {
		word_of(&z, i, word);
		gen_name(name, sizeof(name), "sw", word, z.k);
		gen_switch(g, name, z.hosts + 2 * z.d * z.parallel);
	}
	for (uint32_t i = 0; i < z.n; i++)
		gen_hosts(g, i, z.hosts);
	for (uint32_t i = 0; i < z.n; i++)
		cable_word(g, &z, i);
	return 0;
}
