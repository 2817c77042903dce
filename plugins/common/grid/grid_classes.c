/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which arcs are of one dimension.
 *
 * In a product of lines, rings and complete graphs
 *	- a triangle lies within one dimension (a complete graph);
 *	- two switches two arcs apart have one switch between them if both arcs are
 *	  of one dimension (they go straight on), two if not: a square, whose
 *	  opposite sides are parallel.
 * A grid with parts missing is a subgraph of the grid, so triangles and squares
 * stay true; only "one switch between" may come of a square that lost a side.
 * So arcs are joined to *bundles* by triangles and by squares alone.  A few
 * bundles of which each meets each in a square are the *seeds* of the dimensions;
 * a bundle that meets bundles of all dimensions but one is of that one.  Last,
 * bundles of one dimension that go straight on into each other agree on a way up.
 *
 *	|   |   |		-- = one bundle (arcs from x to x+1), | = another
 *	+-a-+-b-+		a and b: straight on, once in every row
 *	|   |   |
 *	+-a-+-b-+
 *
 * (The relations of Feder, "Product graph representations", J. Graph Theory 16,
 * 1992, without those that faults can feign.)  A ring of 4 is two lines of 2 here.
 *
 * All of this is sound for any subgraph of a grid: what is not certain stays
 * unknown (the few arcs without a square), and grid_levels.c sees to it.
 *
 * O(arcs * degree) for the squares; bundles are few.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/algo/ufind.h"
#include "lib/bitset.h"
#include "plugins/common/grid/grid_internal.h"

#define MAX_BUNDLES 8192u

/* Arcs u -> v and v -> x that go straight on; or u -> v and u -> w of a square. */
struct pair {
	fm_arc a, b;
};

struct classes {
	struct grid_work *w;
	uint32_t *group; /* [n_arcs] disjoint sets: bundles in the making */
	uint32_t *row;	 /* [n_arcs] the same of triangles alone */
	struct pair *squares, *straights;
	uint32_t n_squares, n_straights, n_crowds;
	uint32_t squares_room, straights_room;

	uint32_t n_bundles; /* both ways counted once */
	uint32_t *number;   /* [n_arcs] bundle */
	uint32_t *n_arcs;   /* [n_bundles] */
	fm_arc *first;	    /* [n_bundles] an arc, whose way is up for the time being */
	uint32_t words;	    /* of a set of bundles */
	uint64_t *crosses;  /* [n_bundles][words] bundles of other dimensions */
	uint8_t *dim_of;    /* [n_bundles] or GRID_NO_DIM */
	uint64_t *of_dim;   /* [FM_GRID_MAX_DIMS][words] bundles, of the component at work */
	uint32_t *root;	    /* [n_bundles] disjoint sets: those that agree on a way up */
	uint8_t *opposite;  /* [n_bundles] to the way of its root */
};

static int
not_a_grid(const struct grid_work *w, const char *why, struct fm_error *err)
{
	return w->host->fail(w->host, err, FM_E_TOPOLOGY,
	    "the switches form no mesh, torus, hypercube or HyperX: %s", why);
}

static void
join_arcs(const struct grid_work *w, uint32_t *set, fm_arc a, fm_arc b)
{
	fm_ufind_join(set, a, b);
	fm_ufind_join(set, w->rev[a], w->rev[b]);
}

/* All three sides of every triangle, both ways: no way is up in a complete graph. */
static void
join_triangles(struct classes *c, fm_arc *arc_to)
{
	const struct fm_arcs *arcs = c->w->arcs;

	for (fm_sw u = 0; u < arcs->n_switches; u++) {
		for (fm_arc a = arcs->first[u]; a < arcs->first[u + 1]; a++)
			arc_to[arcs->to[a]] = a;
		for (fm_arc a = arcs->first[u]; a < arcs->first[u + 1]; a++) {
			fm_sw v = arcs->to[a];

			if (v < u)
				continue;
			for (fm_arc b = arcs->first[v]; b < arcs->first[v + 1]; b++) {
				fm_arc side = arc_to[arcs->to[b]];

				if (arcs->to[b] < v || side == FM_NONE)
					continue;
				join_arcs(c->w, c->row, a, b);
				join_arcs(c->w, c->row, a, side);
				fm_ufind_join(c->row, a, c->w->rev[a]);
			}
		}
		for (fm_arc a = arcs->first[u]; a < arcs->first[u + 1]; a++)
			arc_to[arcs->to[a]] = FM_NONE;
	}
	memcpy(c->group, c->row, arcs->n_arcs * sizeof(*c->group));
}

/* What lies two arcs from one switch. */
struct far {
	uint32_t stamp, n;
	fm_arc near[2], last[2]; /* the arcs there by the first two ways */
};

static void
note_far(struct classes *c, const struct far *f)
{
	const struct grid_work *w = c->w;
	bool row = f->n > 1 && fm_ufind(c->row, f->near[0]) == fm_ufind(c->row, f->near[1]);

	if (row || c->n_squares == c->squares_room || c->n_straights == c->straights_room)
		return;
	if (f->n == 1) {
		c->straights[c->n_straights++] = (struct pair){ f->near[0], f->last[0] };
	} else if (f->n == 2) {
		join_arcs(w, c->group, f->near[0], f->last[1]);
		join_arcs(w, c->group, f->near[1], f->last[0]);
		c->squares[c->n_squares++] = (struct pair){ f->near[0], f->near[1] };
	} else {
		c->n_crowds++;
	}
}

/* Squares and straights at u, those whose far corner has the higher index. */
static void
look_around(struct classes *c, fm_sw u, struct far *far, fm_sw *seen)
{
	const struct fm_arcs *arcs = c->w->arcs;
	uint32_t n_seen = 0, stamp = u + 1;

	far[u].stamp = stamp;
	far[u].n = 0;
	for (fm_arc a = arcs->first[u]; a < arcs->first[u + 1]; a++) {
		far[arcs->to[a]].stamp = stamp;
		far[arcs->to[a]].n = 0; /* beside u: none of those we look for */
	}
	for (fm_arc a = arcs->first[u]; a < arcs->first[u + 1]; a++)
		for (fm_arc b = arcs->first[arcs->to[a]]; b < arcs->first[arcs->to[a] + 1]; b++) {
			struct far *f = &far[arcs->to[b]];

			if (arcs->to[b] < u || (f->stamp == stamp && f->n == 0))
				continue;
			if (f->stamp != stamp) {
				f->stamp = stamp;
				f->n = 0;
				seen[n_seen++] = arcs->to[b];
			}
			if (f->n < 2) {
				f->near[f->n] = a;
				f->last[f->n] = b;
			}
			f->n++;
		}
	for (uint32_t i = 0; i < n_seen; i++)
		note_far(c, &far[seen[i]]);
}

static int
find_squares(struct classes *c, struct fm_error *err)
{
	const struct grid_work *w = c->w;
	uint32_t n = w->arcs->n_switches;
	struct far *far = fm_scratch_array(w->host, n, struct far);
	fm_sw *seen = fm_scratch_array(w->host, n, fm_sw);
	fm_arc *arc_to = fm_scratch_array(w->host, n, fm_arc);

	if (far == NULL || seen == NULL || arc_to == NULL)
		return fm_no_scratch(w->host, "squares of a grid", err);
	memset(arc_to, 0xff, n * sizeof(*arc_to));
	join_triangles(c, arc_to);
	for (fm_sw u = 0; u < n; u++) {
		look_around(c, u, far, seen);
		/* In a grid no two switches off each other's row have three between. */
		if (c->n_crowds > 64 && c->n_crowds > (c->n_squares + c->n_straights) / 4)
			return not_a_grid(w,
			    "many switches that are two cables apart have three or more switches "
			    "between them",
			    err);
		if (c->n_straights == c->straights_room || c->n_squares == c->squares_room)
			return not_a_grid(
			    w, "too few of their neighbours have neighbours in common", err);
		if (u % 1024 == 0 && w->host->should_stop(w->host))
			return w->host->fail(
			    w->host, err, FM_E_CANCELLED, "stopped while looking for a grid");
	}
	return 0;
}

static int
number_bundles(struct classes *c, struct fm_error *err)
{
	struct grid_work *w = c->w;
	uint32_t n = w->arcs->n_arcs;

	for (fm_arc a = 0; a < n; a++) {
		fm_arc root = fm_ufind(c->group, a), back = fm_ufind(c->group, w->rev[a]);

		w->bundle[a] = root;
		w->up[a] = root < back;
		if (root == a && root <= back) {
			if (c->n_bundles == MAX_BUNDLES)
				return not_a_grid(w, "it falls into too many pieces", err);
			c->first[c->n_bundles] = a;
			c->number[a] = c->n_bundles++;
		}
	}
	for (fm_arc a = 0; a < n; a++) {
		fm_arc root = w->bundle[a], back = w->bundle[w->rev[a]];

		c->number[a] = c->number[root < back ? root : back];
		c->n_arcs[c->number[a]]++;
	}
	return 0;
}

static int
mark_crossings(struct classes *c, struct fm_error *err)
{
	const struct fm_host *host = c->w->host;
	uint32_t n = c->n_bundles;

	c->words = (uint32_t)FM_BITSET_WORDS(n);
	c->crosses = fm_scratch_array(host, (size_t)n * c->words, uint64_t);
	c->of_dim = fm_scratch_array(host, (size_t)FM_GRID_MAX_DIMS * c->words, uint64_t);
	c->dim_of = fm_scratch_array(host, n, uint8_t);
	c->root = fm_scratch_array(host, n, uint32_t);
	c->opposite = fm_scratch_array(host, n, uint8_t);
	if (c->crosses == NULL || c->of_dim == NULL || c->dim_of == NULL || c->root == NULL ||
	    c->opposite == NULL)
		return fm_no_scratch(host, "dimensions of a grid", err);
	memset(c->dim_of, GRID_NO_DIM, n);
	for (uint32_t i = 0; i < c->n_squares; i++) {
		uint32_t a = c->number[c->squares[i].a], b = c->number[c->squares[i].b];

		fm_bit_set(c->crosses + (size_t)a * c->words, b);
		fm_bit_set(c->crosses + (size_t)b * c->words, a);
	}
	return 0;
}

/* ------------------------------------------------------------ dimensions */

struct seeds {
	uint32_t bundle[FM_GRID_MAX_DIMS + 1];
	uint32_t n;
};

/* From `from` on, down the list: whatever crosses all taken so far. */
static struct seeds
grow_seeds(const struct classes *c, const uint32_t *list, uint32_t n, uint32_t from)
{
	struct seeds s = { .bundle = { list[from] }, .n = 1 };

	for (uint32_t i = 0; i < n && s.n <= FM_GRID_MAX_DIMS; i++) {
		const uint64_t *crosses = c->crosses + (size_t)list[i] * c->words;
		uint32_t k = 0;

		while (k < s.n && fm_bit_test(crosses, s.bundle[k]))
			k++;
		if (k == s.n)
			s.bundle[s.n++] = list[i];
	}
	return s;
}

static void
set_dim(struct classes *c, uint32_t bundle, uint32_t dim)
{
	c->dim_of[bundle] = (uint8_t)dim;
	fm_bit_set(c->of_dim + (size_t)dim * c->words, bundle);
}

/* Of n_dims dimensions, which may this bundle be of? */
static uint32_t
possible_dims(const struct classes *c, uint32_t bundle, uint32_t n_dims)
{
	const uint64_t *crosses = c->crosses + (size_t)bundle * c->words;
	uint32_t dims = 0;

	for (uint32_t d = 0; d < n_dims; d++) {
		const uint64_t *of_dim = c->of_dim + (size_t)d * c->words;
		uint32_t i = 0;

		while (i < c->words && (crosses[i] & of_dim[i]) == 0)
			i++;
		dims |= (uint32_t)(i == c->words) << d;
	}
	return dims;
}

/* Dimensions for whatever follows from the seeds; a bundle that crosses all, else FM_NONE. */
static uint32_t
spread_dims(struct classes *c, const uint32_t *list, uint32_t n, const struct seeds *s)
{
	bool more = true;

	memset(c->of_dim, 0, (size_t)FM_GRID_MAX_DIMS * c->words * sizeof(*c->of_dim));
	for (uint32_t i = 0; i < n; i++)
		c->dim_of[list[i]] = GRID_NO_DIM;
	for (uint32_t d = 0; d < s->n; d++)
		set_dim(c, s->bundle[d], d);
	while (more) {
		more = false;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t dims;

			if (c->dim_of[list[i]] != GRID_NO_DIM)
				continue;
			dims = possible_dims(c, list[i], s->n);
			if (dims == 0)
				return list[i];
			if ((dims & (dims - 1)) != 0)
				continue;
			set_dim(c, list[i], (uint32_t)__builtin_ctz(dims));
			more = true;
		}
	}
	return FM_NONE;
}

/* The bundles of one component, largest first. */
static int
find_dims(struct classes *c, const uint32_t *list, uint32_t n, struct fm_error *err)
{
	struct grid_work *w = c->w;
	uint32_t part = w->part[w->from[c->first[list[0]]]], extra;
	struct seeds best = { .n = 0 };

	for (uint32_t i = 0; i < n && i < 16; i++) {
		struct seeds s = grow_seeds(c, list, n, i);

		if (s.n > best.n)
			best = s;
	}
	while (best.n <= FM_GRID_MAX_DIMS && (extra = spread_dims(c, list, n, &best)) != FM_NONE)
		best.bundle[best.n++] = extra;
	if (best.n > FM_GRID_MAX_DIMS)
		return not_a_grid(w, "it would have more than 16 dimensions", err);
	w->n_dims[part] = best.n;
	for (uint32_t d = 0; d < best.n; d++) {
		fm_arc a = c->first[best.bundle[d]];

		w->clique[part][d] = w->bundle[a] == w->bundle[w->rev[a]];
	}
	return 0;
}

struct listed {
	uint32_t part, n_arcs, bundle;
};

static int
by_part_and_size(const void *x, const void *y)
{
	const struct listed *a = x, *b = y;

	if (a->part != b->part)
		return a->part < b->part ? -1 : 1;
	if (a->n_arcs != b->n_arcs)
		return a->n_arcs > b->n_arcs ? -1 : 1;
	return a->bundle < b->bundle ? -1 : a->bundle > b->bundle;
}

static int
find_all_dims(struct classes *c, struct fm_error *err)
{
	struct listed *sorted = fm_scratch_array(c->w->host, c->n_bundles, struct listed);
	uint32_t *list = fm_scratch_array(c->w->host, c->n_bundles, uint32_t), from = 0;
	int rc = 0;

	if (sorted == NULL || list == NULL)
		return fm_no_scratch(c->w->host, "dimensions of a grid", err);
	for (uint32_t b = 0; b < c->n_bundles; b++)
		sorted[b] = (struct listed){ .part = c->w->part[c->w->from[c->first[b]]],
			.n_arcs = c->n_arcs[b],
			.bundle = b };
	qsort(sorted, c->n_bundles, sizeof(*sorted), by_part_and_size);
	for (uint32_t i = 0; i < c->n_bundles && rc == 0; i++) {
		list[i] = sorted[i].bundle;
		if (i + 1 < c->n_bundles && sorted[i + 1].part == sorted[i].part)
			continue;
		rc = find_dims(c, list + from, i + 1 - from, err);
		from = i + 1;
	}
	return rc;
}

/* ------------------------------------------------------------ the way up */

/* The root of a bundle; *turned ^= is its way opposite to that of the root. */
static uint32_t
root_of(const struct classes *c, uint32_t a, uint32_t *turned)
{
	while (c->root[a] != a) {
		*turned ^= c->opposite[a];
		a = c->root[a];
	}
	return a;
}

/* The smaller tree goes below the larger: paths stay short without compression. */
static void
agree(struct classes *c, const struct pair *p, uint32_t *tree_size)
{
	uint32_t turned = c->w->up[p->a] != c->w->up[p->b];
	uint32_t a = root_of(c, c->number[p->a], &turned);
	uint32_t b = root_of(c, c->number[p->b], &turned);

	if (a == b)
		return;
	if (tree_size[a] < tree_size[b]) {
		uint32_t t = a;

		a = b;
		b = t;
	}
	c->root[b] = a;
	c->opposite[b] = (uint8_t)turned;
	tree_size[a] += tree_size[b];
}

/* Of each dimension only the largest set that agrees keeps it. */
static int
keep_largest(struct classes *c, const uint32_t *tree_size, struct fm_error *err)
{
	struct grid_work *w = c->w;
	uint32_t(*best)[FM_GRID_MAX_DIMS] = fm_scratch_bytes(w->host, w->n_parts, sizeof(*best));

	if (best == NULL)
		return fm_no_scratch(w->host, "dimensions of a grid", err);
	memset(best, 0xff, w->n_parts * sizeof(*best));
	for (uint32_t b = 0; b < c->n_bundles; b++) {
		uint32_t *most = &best[w->part[w->from[c->first[b]]]][c->dim_of[b] & 15];

		if (c->root[b] == b && c->dim_of[b] != GRID_NO_DIM &&
		    (*most == FM_NONE || tree_size[b] > tree_size[*most]))
			*most = b;
	}
	for (fm_arc a = 0; a < w->arcs->n_arcs; a++) {
		uint32_t turned = 0, b = c->number[a], d = c->dim_of[b];
		uint32_t root = root_of(c, b, &turned), part = w->part[w->from[a]];

		if (d != GRID_NO_DIM && !w->clique[part][d] && root != best[part][d])
			d = GRID_NO_DIM;
		w->dim[a] = (uint8_t)d;
		w->up[a] ^= (uint8_t)turned;
	}
	return 0;
}

static int
find_ways(struct classes *c, struct fm_error *err)
{
	uint32_t *tree_size = fm_scratch_array(c->w->host, c->n_bundles, uint32_t);

	if (tree_size == NULL)
		return fm_no_scratch(c->w->host, "dimensions of a grid", err);
	fm_ufind_init(c->root, c->n_bundles);
	memcpy(tree_size, c->n_arcs, c->n_bundles * sizeof(*tree_size));
	for (uint32_t i = 0; i < c->n_straights; i++) {
		uint8_t d = c->dim_of[c->number[c->straights[i].a]];

		if (d != GRID_NO_DIM && d == c->dim_of[c->number[c->straights[i].b]])
			agree(c, &c->straights[i], tree_size);
	}
	return keep_largest(c, tree_size, err);
}

int
grid_classes(struct grid_work *w, struct fm_error *err)
{
	uint32_t n = w->arcs->n_arcs;
	/* squares: arcs * degree / 8 in a hypercube, / 4 in a HyperX, of at most 64 */
	struct classes c = { .w = w, .squares_room = 16 * n + 64, .straights_room = n + 64 };
	int rc;

	c.group = fm_scratch_array(w->host, n, uint32_t);
	c.row = fm_scratch_array(w->host, n, uint32_t);
	c.number = fm_scratch_array(w->host, n, uint32_t);
	c.n_arcs = fm_scratch_array(w->host, n, uint32_t);
	c.first = fm_scratch_array(w->host, n, fm_arc);
	c.squares = fm_scratch_array(w->host, c.squares_room, struct pair);
	c.straights = fm_scratch_array(w->host, c.straights_room, struct pair);
	w->bundle = fm_scratch_array(w->host, n, uint32_t);
	w->dim = fm_scratch_array(w->host, n, uint8_t);
	w->up = fm_scratch_array(w->host, n, uint8_t);
	w->n_dims = fm_scratch_array(w->host, w->n_parts, uint32_t);
	w->clique = fm_scratch_bytes(w->host, w->n_parts, sizeof(*w->clique));
	if (c.group == NULL || c.row == NULL || c.number == NULL || c.n_arcs == NULL ||
	    c.first == NULL || c.squares == NULL || c.straights == NULL || w->bundle == NULL ||
	    w->dim == NULL || w->up == NULL || w->n_dims == NULL || w->clique == NULL)
		return fm_no_scratch(w->host, "dimensions of a grid", err);
	fm_ufind_init(c.row, n);
	if ((rc = find_squares(&c, err)) != 0 || (rc = number_bundles(&c, err)) != 0 ||
	    (rc = mark_crossings(&c, err)) != 0 || (rc = find_all_dims(&c, err)) != 0)
		return rc;
	return find_ways(&c, err);
}
