/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Irregular trees as they stand in real halls: tiers of switches that are no complete
 * tree, and what else sites have, each by a word of its own (features[]).
 *
 *	director  a partly cabled chassis: every board to every spine, and leaves to a window
 *		  of boards that moves on by its width; WIDE leaves more reach boards all over it
 *	pods	  pods of different width, each leaf to every board of its pod; the first A
 *		  boards of all pods share a director of SPINES spines, the other B another
 *	tree3	  three tiers, two cables from a leaf to each switch above it, spines in planes
 *
 * Switches and cables are listed first, then features change the list, then `seed` mixes its
 * order, which numbers nodes and ports; so one fabric comes under many names.
 */
#include "lab/topo/generate.h"

#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "lib/rng.h"
#include "lib/vec.h"

#define STORAGE_HOSTS 5	     /* on a switch above the leaves */
#define SLOW_LANE_MBPS 13640 /* FDR, a generation before GEN_LANE_MBPS */
#define AGGREGATION_NODE "Mellanox Technologies Aggregation Node"

enum feature { STORAGE, MISSING, SLOW, RAILS, AGGREGATION, SEED, N_FEATURES };
static const struct gen_param features[N_FEATURES] = {
	[STORAGE] = { "storage", 0, 1000, 0 },
	[MISSING] = { "missing", 0, 1000, 0 },
	[SLOW] = { "slow", 0, 1000, 0 },
	[RAILS] = { "rails", 1, 2, 1 },
	[AGGREGATION] = { "aggregation", 0, 1, 0 },
	[SEED] = { "seed", 0, UINT32_MAX, 0 },
};

struct place {
	char name[40];
	uint32_t tier; /* 0: leaves; the spines have the highest */
	uint32_t n_hosts;
	uint32_t n_ports; /* in use */
	uint32_t node;	  /* of the netlist */
	bool missing, slow;
};

struct cable {
	uint32_t a, b; /* places, a below b */
};

struct site {
	struct gen *g;
	FM_VEC(struct place) places; /* in the order of their names */
	FM_VEC(struct cable) cables;
	uint32_t feature[N_FEATURES];
	uint32_t n_tiers;
	struct fm_rng rng;
};

/* ---------------------------------------------------------- what is to be built */

/* Its place, counted from 0. */
static uint32_t
add_place(struct site *s, uint32_t tier, uint32_t n_hosts, const char *kind, uint32_t i, uint32_t j)
{
	struct place p = { .tier = tier, .n_hosts = n_hosts };
	uint32_t digits[] = { i + 1, j + 1 };

	gen_name(p.name, sizeof(p.name), kind, digits, j == NETLIST_NONE ? 1 : 2);
	if (!fm_vec_push(&s->places, p))
		s->g->failed = true;
	s->n_tiers = tier + 1 > s->n_tiers ? tier + 1 : s->n_tiers;
	return (uint32_t)s->places.n - 1;
}

static void
add_cable(struct site *s, uint32_t a, uint32_t b)
{
	if (!fm_vec_push(&s->cables, ((struct cable){ a, b })))
		s->g->failed = true;
}

static int
refuse_feature(const struct site *s, const char *word, struct fm_error *err)
{
	char known[120] = "";
	size_t n = 0;

	for (int f = 0; f < N_FEATURES; f++)
		n += (size_t)snprintf(
		    known + n, sizeof(known) - n, "%s%s=N", f > 0 ? ", " : "", features[f].what);
	return fm_fail(err, FM_E_CONFIG, "%s: \"%.40s\" is no feature of a site: write one of %s",
	    s->g->argv[0], word, known);
}

static int
read_features(struct site *s, struct fm_error *err)
{
	int rc = 0;

	for (int f = 0; f < N_FEATURES; f++)
		s->feature[f] = features[f].def;
	for (int i = 1 + GEN_MAX_ARGS; i < s->g->argc && rc == 0; i++) {
		char *word = s->g->argv[i];
		size_t len = strcspn(word, "=");
		int f = 0;

		while (f < N_FEATURES &&
		    (strlen(features[f].what) != len || strncmp(features[f].what, word, len) != 0))
			f++;
		if (f == N_FEATURES || word[len] == '\0')
			return refuse_feature(s, word, err);
		rc = gen_value(s->g, word + len + 1, features[f].what, features[f].min,
		    features[f].max, &s->feature[f], err);
	}
	fm_rng_seed(&s->rng, s->feature[SEED]);
	return rc;
}

/* ------------------------------------------------------------------- features */

/* A switch of these tiers by chance that has not been chosen before; NETLIST_NONE: all have. */
static uint32_t
draw_place(struct site *s, uint32_t from_tier, uint32_t to_tier, uint8_t *taken)
{
	uint32_t n = 0, chosen = NETLIST_NONE;

	for (uint32_t i = 0; i < s->places.n; i++)
		if (s->places.item[i].tier >= from_tier && s->places.item[i].tier <= to_tier &&
		    !taken[i] && fm_rng_below(&s->rng, ++n) == 0)
			chosen = i;
	if (chosen != NETLIST_NONE)
		taken[chosen] = 1;
	return chosen;
}

/* At least one switch stays as it was. */
static int
draw(struct site *s, enum feature f, uint32_t from_tier, uint32_t to_tier, struct fm_error *err)
{
	uint8_t *taken = calloc(s->places.n, 1);
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->places.n; i++)
		n += s->places.item[i].tier >= from_tier && s->places.item[i].tier <= to_tier;
	if (taken == NULL) {
		s->g->failed = true;
		return 0;
	}
	for (uint32_t k = 0; k < s->feature[f] && s->feature[f] < n; k++) {
		struct place *p = &s->places.item[draw_place(s, from_tier, to_tier, taken)];

		p->n_hosts += f == STORAGE ? STORAGE_HOSTS : 0;
		p->missing |= f == MISSING;
		p->slow |= f == SLOW;
	}
	free(taken);
	if (s->feature[f] == 0 || s->feature[f] < n)
		return 0;
	return fm_fail(err, FM_E_CONFIG, "%s: %s is %u, but only %u switches can be chosen from",
	    s->g->argv[0], features[f].what, s->feature[f], n);
}

static int
apply_features(struct site *s, struct fm_error *err)
{
	uint32_t top = s->n_tiers - 1;
	int rc = draw(s, MISSING, top, top, err);

	if (rc == 0)
		rc = draw(s, STORAGE, 1, top - 1, err);
	return rc == 0 ? draw(s, SLOW, 0, 0, err) : rc;
}

/* ------------------------------------------------------------------- building */

/* The leaf that the second rail of this one's hosts goes to. */
static uint32_t
second_rail(const struct site *s, uint32_t leaf)
{
	uint32_t i = leaf;

	do
		i = (i + 1) % (uint32_t)s->places.n;
	while (s->places.item[i].tier != 0);
	return i;
}

static bool
has_rails(const struct site *s, uint32_t i)
{
	return s->feature[RAILS] > 1 && s->places.item[i].tier == 0;
}

static int
count_ports(struct site *s, struct fm_error *err)
{
	uint64_t n_hosts = 0;
	int rc = 0;

	for (uint32_t i = 0; i < s->places.n; i++) {
		struct place *p = &s->places.item[i];

		p->n_ports += p->n_hosts + s->feature[AGGREGATION];
		n_hosts += p->n_hosts + s->feature[AGGREGATION];
		if (has_rails(s, i))
			s->places.item[second_rail(s, i)].n_ports += p->n_hosts;
	}
	for (size_t c = 0; c < s->cables.n; c++) {
		struct place *a = &s->places.item[s->cables.item[c].a],
			     *b = &s->places.item[s->cables.item[c].b];

		a->n_ports += !b->missing;
		b->n_ports++;
	}
	for (uint32_t i = 0; i < s->places.n && rc == 0; i++)
		rc = gen_fits(s->g, s->places.item[i].n_ports, s->places.n, n_hosts, err);
	return rc;
}

/* 0 .. n-1, mixed by the seed unless that is 0.  NULL: the memory is out. */
static uint32_t *
mixed(struct site *s, size_t n)
{
	uint32_t *order = calloc(n, sizeof(*order));

	for (uint32_t i = 0; order != NULL && i < n; i++) {
		uint32_t j = s->feature[SEED] != 0 ? fm_rng_below(&s->rng, i + 1) : i;

		order[i] = order[j];
		order[j] = i;
	}
	s->g->failed |= order == NULL;
	return order;
}

static void
build_hosts(struct site *s, uint32_t i)
{
	const struct place *p = &s->places.item[i];
	struct gen *g = s->g;
	char name[64];

	for (uint32_t k = 1; k <= p->n_hosts && !g->failed; k++) {
		uint32_t host;

		snprintf(name, sizeof(name), "host-%s-%u", p->name, k);
		host = netlist_add(g->nl, NETLIST_CA, name, name, 0, has_rails(s, i) ? 2 : 1);
		g->failed |= host == NETLIST_NONE;
		gen_cable_free(g, p->node, host, 1);
		if (has_rails(s, i))
			gen_cable_free(g, s->places.item[second_rail(s, i)].node, host, 1);
	}
}

/* On the last port of its switch. */
static void
build_aggregation_node(struct site *s, const struct place *p)
{
	struct gen *g = s->g;
	char name[64];
	uint32_t node;

	snprintf(name, sizeof(name), "aggregation-%s", p->name);
	if (g->failed)
		return;
	node = netlist_add(g->nl, NETLIST_CA, name, AGGREGATION_NODE, 0, 1);
	if (node == NETLIST_NONE) {
		g->failed = true;
		return;
	}
	g->nl->nodes[node].aggregation = true;
	gen_cable(g, p->node, p->n_ports, node, 1);
}

static void
build_cable(struct site *s, const struct cable *c)
{
	const struct place *a = &s->places.item[c->a], *b = &s->places.item[c->b];
	struct gen *g = s->g;

	if (g->failed || b->missing)
		return;
	netlist_cable(g->nl, a->node, gen_free_port(g, a->node, 1), b->node,
	    gen_free_port(g, b->node, 1), a->slow || b->slow ? SLOW_LANE_MBPS : GEN_LANE_MBPS);
}

static void
build(struct site *s)
{
	uint32_t *order = mixed(s, s->places.n), *cables = mixed(s, s->cables.n);

	for (size_t i = 0; i < s->places.n && !s->g->failed; i++) {
		struct place *p = &s->places.item[order[i]];

		if (!p->missing)
			p->node = gen_switch(s->g, p->name, p->n_ports);
	}
	for (size_t i = 0; s->feature[AGGREGATION] > 0 && i < s->places.n; i++)
		if (!s->places.item[i].missing)
			build_aggregation_node(s, &s->places.item[i]);
	for (uint32_t i = 0; i < s->places.n; i++)
		build_hosts(s, i);
	for (size_t i = 0; i < s->cables.n && !s->g->failed; i++)
		build_cable(s, &s->cables.item[cables[i]]);
	free(order);
	free(cables);
}

/* The kind has listed its switches and cables. */
static int
finish(struct site *s, int rc, struct fm_error *err)
{
	if (rc == 0 && !s->g->failed)
		rc = apply_features(s, err);
	if (rc == 0 && !s->g->failed)
		rc = count_ports(s, err);
	if (rc == 0 && !s->g->failed)
		build(s);
	fm_vec_fini(&s->places);
	fm_vec_fini(&s->cables);
	return rc;
}

/* ---------------------------------------------------------------------- kinds */

/* v: boards, spines, leaves, cables a leaf, wide leaves, hosts a leaf. */
static void
list_director(struct site *s, const uint32_t v[6])
{
	uint32_t boards = v[0], spines = v[1], leaves = v[2], fanout = v[3], hosts = v[5];
	uint32_t first_board = spines, at;

	for (uint32_t t = 0; t < spines; t++)
		add_place(s, 2, 0, "spine", t, NETLIST_NONE);
	for (uint32_t b = 0; b < boards; b++) {
		at = add_place(s, 1, 0, "board", b, NETLIST_NONE);
		for (uint32_t t = 0; t < spines; t++)
			add_cable(s, at, t);
	}
	for (uint32_t i = 0; i < leaves; i++) {
		at = add_place(s, 0, hosts - (hosts > 1 && i % 5 == 4), "leaf", i, NETLIST_NONE);
		for (uint32_t k = 0; k < fanout; k++)
			add_cable(s, at, first_board + (i * fanout + k) % boards);
	}
	for (uint32_t i = 0; i < v[4]; i++) {
		at = add_place(s, 0, (hosts + 1) / 2, "wide", i, NETLIST_NONE);
		for (uint32_t k = 0; k < fanout; k++)
			add_cable(s, at, first_board + (i + k * (boards / fanout)) % boards);
	}
}

int
gen_director(struct gen *g, struct fm_error *err)
{
	struct site s = { .g = g };
	int rc = read_features(&s, err);

	if (rc == 0 && g->v[3] > g->v[0])
		rc = fm_fail(err, FM_E_CONFIG, "director: %u cables a leaf are more than %u boards",
		    g->v[3], g->v[0]);
	if (rc == 0)
		list_director(&s, g->v);
	return finish(&s, rc, err);
}

/* Leaves of pod p of n: the last has a third of them, the one before half of them. */
static uint32_t
pod_width(uint32_t p, uint32_t n, uint32_t leaves)
{
	uint32_t width = n < 3 || p < n - 2 ? leaves : p == n - 2 ? leaves / 2 : leaves / 3;

	return width > 0 ? width : 1;
}

static void
list_pod(struct site *s, uint32_t p, uint32_t width, const uint32_t *boards, uint32_t spines,
    uint32_t hosts)
{
	uint32_t first = (uint32_t)s->places.n, n_boards = 0;

	for (uint32_t i = 0; i < width; i++)
		add_place(s, 0, hosts - (hosts > 1 && i % 7 == 6), "leaf", p, i);
	for (uint32_t d = 0; d < 2; d++)
		for (uint32_t j = 0; j < boards[d]; j++) {
			uint32_t at = add_place(s, 1, 0, "board", p, n_boards++);

			for (uint32_t i = 0; i < width; i++)
				add_cable(s, first + i, at);
			for (uint32_t t = 0; t < spines; t++)
				add_cable(s, at, (boards[0] > 0 ? d : 0) * spines + t);
		}
}

/* The numbers: pods, leaves a pod, A, B, spines a director, hosts a leaf. */
int
gen_pods(struct gen *g, struct fm_error *err)
{
	struct site s = { .g = g };
	uint32_t boards[2] = { g->v[2] }, spines = g->v[4];
	int rc = gen_value(g, g->argv[4], "B", boards[0] == 0, GEN_MAX_PORTS, &boards[1], err);

	if (rc == 0)
		rc = read_features(&s, err);
	for (uint32_t d = 0; d < 2 && rc == 0; d++)
		for (uint32_t t = 0; t < spines && boards[d] > 0; t++)
			add_place(&s, 2, 0, "spine", d, t);
	for (uint32_t p = 0; p < g->v[0] && rc == 0; p++)
		list_pod(&s, p, pod_width(p, g->v[0], g->v[1]), boards, spines, g->v[5]);
	return finish(&s, rc, err);
}

/* v: pods, leaves and aggs a pod, planes, spines a plane, hosts a leaf. */
static void
list_tree3(struct site *s, const uint32_t v[6])
{
	uint32_t per_plane = v[2] / v[3];

	for (uint32_t q = 0; q < v[3]; q++)
		for (uint32_t t = 0; t < v[4]; t++)
			add_place(s, 2, 0, "spine", q, t);
	for (uint32_t p = 0; p < v[0]; p++) {
		uint32_t first = (uint32_t)s->places.n;

		for (uint32_t i = 0; i < v[1]; i++)
			add_place(s, 0, v[5], "leaf", p, i);
		for (uint32_t j = 0; j < v[2]; j++) {
			uint32_t agg = add_place(s, 1, 0, "agg", p, j);

			for (uint32_t i = 0; i < 2 * v[1]; i++)
				add_cable(s, first + i / 2, agg);
			for (uint32_t t = 0; t < v[4]; t++)
				add_cable(s, agg, j / per_plane * v[4] + t);
		}
	}
}

int
gen_tree3(struct gen *g, struct fm_error *err)
{
	struct site s = { .g = g };
	int rc = read_features(&s, err);

	if (rc == 0 && g->v[2] % g->v[3] != 0)
		rc = fm_fail(err, FM_E_CONFIG,
		    "tree3: %u aggs a pod cannot be dealt to %u planes alike", g->v[2], g->v[3]);
	if (rc == 0)
		list_tree3(&s, g->v);
	return finish(&s, rc, err);
}
