/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PGFT(h; m1..mh; w1..wh; p1..ph), Zahavi: hosts at level 0, switches at
 * levels 1..h.  A node of level l is the tuple
 *
 *	(a_h, .., a_{l+1}, b_l, .., b_1)	a_i < m_i, b_i < w_i
 *
 * and its number the tuple read as mixed-radix digits, so leaves of one pod
 * and hosts of one leaf follow one another.  Levels l and l+1 are joined where
 * the tuples agree in all digits but l+1, by p_{l+1} parallel cables.
 *
 * Ports of a level-l switch: child a, parallel k on 1 + a*p_l + k, then parent
 * b, parallel k on 1 + m_l*p_l + b*p_{l+1} + k.
 */
#include "lab/topo/generate.h"

#include <string.h>

#include "lib/error.h"

struct tree {
	uint32_t h;
	uint32_t m[GEN_MAX_DIMS + 1], w[GEN_MAX_DIMS + 1], p[GEN_MAX_DIMS + 1]; /* [1..h] */
	uint64_t n[GEN_MAX_DIMS + 1];	  /* nodes of a level */
	uint32_t first[GEN_MAX_DIMS + 1]; /* netlist index of the first of a level */
};

/* Radix of digit i (1..h) in the tuple of a level-l node. */
static uint32_t
radix(const struct tree *t, uint32_t level, uint32_t i)
{
	return i > level ? t->m[i] : t->w[i];
}

static uint32_t
n_ports(const struct tree *t, uint32_t level)
{
	uint32_t up = level < t->h ? t->w[level + 1] * t->p[level + 1] : 0;
	uint32_t down = level > 0 ? t->m[level] * t->p[level] : 0;

	return up + down;
}

static int
read_tree(const struct gen *g, struct tree *t, struct fm_error *err)
{
	uint32_t *lists[] = { t->m, t->w, t->p };

	t->h = g->v[0];
	for (int i = 0; i < 3; i++) {
		if (g->n_list[i + 1] != t->h)
			return fm_fail(err, FM_E_CONFIG,
			    "pgft: %c has %u numbers, one for each of the %u levels is right",
			    "MWP"[i], g -> n_list[i + 1], t -> h);
		memcpy(lists[i] + 1, g->list[i + 1], sizeof(g->list[i + 1]));
	}
	return 0;
}

static int
count_nodes(struct gen *g, struct tree *t, struct fm_error *err)
{
	uint64_t n_switches = 0;
	int rc = 0;

	for (uint32_t l = 0; l <= t->h && rc == 0; l++) {
		t->n[l] = 1;
		for (uint32_t i = 1; i <= t->h; i++) {
			t->n[l] *= radix(t, l, i);
			if (t->n[l] > GEN_MAX_NODES)
				t->n[l] = GEN_MAX_NODES + 1;
		}
		n_switches += l > 0 ? t->n[l] : 0;
		rc = gen_fits(g, n_ports(t, l), n_switches, t->n[0], err);
	}
	return rc;
}

static const char *
level_word(const struct tree *t, uint32_t level, char *buffer, size_t size)
{
	if (level == 0)
		return "host";
	if (level == 1)
		return "leaf";
	if (level == t->h)
		return "spine";
	if (t->h == 3)
		return "agg";
	snprintf(buffer, size, "agg%u", level);
	return buffer;
}

/* Digits that cannot vary are left out of the name; the others count from 1. */
static void
node_name(const struct tree *t, uint32_t level, uint64_t index, char *name, size_t size)
{
	uint32_t digits[GEN_MAX_DIMS], at = GEN_MAX_DIMS;
	char word[16];

	for (uint32_t i = 1; i <= t->h; i++) {
		uint32_t r = radix(t, level, i);

		if (r > 1)
			digits[--at] = (uint32_t)(index % r) + 1;
		index /= r;
	}
	if (at == GEN_MAX_DIMS)
		digits[--at] = 1;
	gen_name(
	    name, size, level_word(t, level, word, sizeof(word)), digits + at, GEN_MAX_DIMS - at);
}

static void
add_level(struct gen *g, struct tree *t, uint32_t level)
{
	enum netlist_node_type type = level > 0 ? NETLIST_SWITCH : NETLIST_CA;
	char name[96];

	t->first[level] = g->nl->n_nodes;
	for (uint64_t i = 0; i < t->n[level] && !g->failed; i++) {
		node_name(t, level, i, name, sizeof(name));
		if (netlist_add(g->nl, type, name, name, 0, n_ports(t, level)) == NETLIST_NONE)
			g->failed = true;
	}
}

/* Cable the node `index` of level l to its parents. */
static void
cable_up(struct gen *g, const struct tree *t, uint32_t l, uint64_t index)
{
	uint32_t m = t->m[l + 1], w = t->w[l + 1], p = t->p[l + 1];
	uint32_t first_up = 1 + (l > 0 ? t->m[l] * t->p[l] : 0);
	uint64_t below = 1, above,
		 a; /* product of the radices of digits 1..l; the digits around l+1 */

	for (uint32_t i = 1; i <= l; i++)
		below *= radix(t, l, i);
	a = index / below % m;
	above = index / below / m;
	for (uint32_t b = 0; b < w; b++) {
		uint64_t parent = (above * w + b) * below + index % below;

		for (uint32_t k = 0; k < p; k++)
			gen_cable(g, t->first[l] + (uint32_t)index, first_up + b * p + k,
			    t->first[l + 1] + (uint32_t)parent, 1 + (uint32_t)a * p + k);
	}
}

int
gen_pgft(struct gen *g, struct fm_error *err)
{
	struct tree t = { 0 };
	int rc = read_tree(g, &t, err);

	if (rc == 0)
		rc = count_nodes(g, &t, err);
	if (rc != 0)
		return rc;
	for (uint32_t l = 1; l <= t.h; l++)
		add_level(g, &t, l);
	add_level(g, &t, 0);
	for (uint32_t l = 0; l < t.h && !g->failed; l++)
		for (uint64_t i = 0; i < t.n[l]; i++)
			cable_up(g, &t, l, i);
	return 0;
}
