/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Groups, whatever names and ports.
 *
 * Two switches of a group have the rest of the group, or of their line in it,
 * as common neighbours; the two ends of a global cable have few or none.  How
 * many tell the one from the other is not known beforehand, so every count that
 * occurs is tried as the bound, from the highest down: switches joined by
 * arcs of at least so many common neighbours make a group.  The bound that
 * leaves the best dragonfly wins: full lines, and a cable between any two groups.
 *
 * Lines: a group is one line (all to all) or rows and columns (Cascade; Faanes
 * et al., SC'12).  The three arcs of a triangle lie in one line, and those of a
 * line hang together by triangles, also when some are lost.
 *
 * O(bounds tried * sum of squared degrees); intact fabrics need one or two.
 */
#include <string.h>

#include "lib/algo/ufind.h"
#include "plugins/engines/dragonfly/dragonfly.h"

#define MAX_COMMON 256
/* Of a line's arcs: a fifth lost at random leaves more. */
#define LEAST_DENSITY 0.55
#define LEAST_JOINED 0.5 /* of group pairs with a cable */
#define MAX_GROUPS 4096u
#define LEAST_SIDED 6u /* groups of a Slim Fly, with q = 3 */
#define SIDE_PASSES 8u
#define MOST_WITHIN 0.2 /* of arcs between groups, that join two of a side */

struct finder {
	struct df *df;
	uint16_t *common;   /* [n_arcs] common neighbours; arcs to a higher switch only */
	fm_arc *slot;	    /* [n_switches] arc from the switch in hand, or FM_NONE */
	uint32_t *parent;   /* [n_switches] union-find */
	uint32_t *votes;    /* [n_switches] */
	uint32_t *number;   /* [n_switches] */
	uint32_t *stamp;    /* [n_switches] */
	fm_arc *line;	    /* [n_arcs] union-find over arcs to a higher switch */
	uint32_t *n_line;   /* [n_arcs] switches of a line */
	uint8_t *colour;    /* [n_arcs] of a line: DF_ROW, DF_COLUMN, or unseen */
	fm_arc (*lines)[2]; /* [n_switches] the lines of a switch, FM_NONE */
};

static int
take_memory(struct finder *f, struct fm_error *err)
{
	struct df *df = f->df;
	const struct fm_host *host = df->host;
	size_t n = df->arcs.n_switches, m = df->arcs.n_arcs;

	f->common = fm_scratch_array(host, m, uint16_t);
	f->slot = fm_scratch_array(host, n, fm_arc);
	f->parent = fm_scratch_array(host, n, uint32_t);
	f->votes = fm_scratch_array(host, n, uint32_t);
	f->number = fm_scratch_array(host, n, uint32_t);
	f->stamp = fm_scratch_array(host, n, uint32_t);
	f->line = fm_scratch_array(host, m, fm_arc);
	f->n_line = fm_scratch_array(host, m, uint32_t);
	f->colour = fm_scratch_array(host, m, uint8_t);
	f->lines = fm_scratch_bytes(host, n, sizeof(*f->lines));
	df->group = fm_scratch_array(host, n, uint32_t);
	df->index = fm_scratch_array(host, n, uint32_t);
	df->first = fm_scratch_array(host, n + 1, uint32_t);
	df->member = fm_scratch_array(host, n, fm_sw);
	df->kind = fm_scratch_array(host, m, uint8_t);
	if (!f->common || !f->slot || !f->parent || !f->votes || !f->number || !f->stamp ||
	    !f->line || !f->n_line || !f->colour || !f->lines || !df->group || !df->index ||
	    !df->first || !df->member || !df->kind)
		return fm_no_scratch(host, "groups of switches", err);
	return 0;
}

static void
count_common(struct finder *f, uint32_t histogram[MAX_COMMON])
{
	const struct fm_arcs *arcs = &f->df->arcs;

	memset(f->slot, 0xff, arcs->n_switches * sizeof(*f->slot));
	for (fm_sw u = 0; u < arcs->n_switches; u++) {
		DF_EACH_ARC(f->df, a, u)
		f->slot[arcs->to[a]] = a;
		DF_EACH_ARC(f->df, a, u)
		{
			fm_sw v = arcs->to[a];
			uint32_t n = 0;

			if (v <= u)
				continue;
			DF_EACH_ARC(f->df, b, v)
			n += f->slot[arcs->to[b]] != FM_NONE;
			f->common[a] = (uint16_t)n;
			histogram[n]++;
		}
		DF_EACH_ARC(f->df, a, u)
		f->slot[arcs->to[a]] = FM_NONE;
	}
}

/* A switch by itself, having lost most cables, belongs where most of its
 * neighbours are, if those are a good part of a group. */
static void
adopt(struct finder *f, uint32_t *group, const uint32_t *size)
{
	const struct fm_arcs *arcs = &f->df->arcs;

	for (fm_sw u = 0; u < arcs->n_switches; u++) {
		uint32_t best = FM_NONE, votes = 1;

		if (size[group[u]] > 1)
			continue;
		DF_EACH_ARC(f->df, a, u)
		if (++f->votes[group[arcs->to[a]]] > votes) {
			best = group[arcs->to[a]];
			votes = f->votes[best];
		}
		DF_EACH_ARC(f->df, a, u)
		f->votes[group[arcs->to[a]]] = 0;
		if (best != FM_NONE && votes * 3 >= size[best])
			fm_ufind_join(f->parent, u, best);
	}
}

static void
list_members(struct df *df)
{
	uint32_t n = df->arcs.n_switches;

	memset(df->first, 0, ((size_t)n + 1) * sizeof(*df->first));
	for (fm_sw u = 0; u < n; u++) {
		df->index[u] = df->first[df->group[u] + 1];
		df->first[df->group[u] + 1]++;
	}
	for (uint32_t g = 0; g < df->n_groups; g++)
		df->first[g + 1] += df->first[g];
	for (fm_sw u = 0; u < n; u++)
		df->member[df->first[df->group[u]] + df->index[u]] = u;
}

/* Groups by a bound on common neighbours, numbered by their first switch. */
static void
group_by(struct finder *f, uint32_t bound)
{
	struct df *df = f->df;
	const struct fm_arcs *arcs = &df->arcs;
	uint32_t n = arcs->n_switches;

	for (fm_sw u = 0; u < n; u++)
		f->parent[u] = u;
	for (fm_sw u = 0; u < n; u++)
		DF_EACH_ARC(df, a, u)
	if (arcs->to[a] > u && f->common[a] >= bound)
		fm_ufind_join(f->parent, u, arcs->to[a]);
	memset(f->stamp, 0, n * sizeof(*f->stamp)); /* here: sizes */
	for (fm_sw u = 0; u < n; u++)
		f->stamp[df->group[u] = fm_ufind(f->parent, u)]++;
	adopt(f, df->group, f->stamp);
	memset(f->number, 0xff, n * sizeof(*f->number));
	df->n_groups = 0;
	for (fm_sw u = 0; u < n; u++) {
		uint32_t root = fm_ufind(f->parent, u);

		if (f->number[root] == FM_NONE)
			f->number[root] = df->n_groups++;
		df->group[u] = f->number[root];
	}
	list_members(df);
}

/* The share of ordered pairs of groups that have a cable. */
static double
joined_share(struct finder *f)
{
	const struct df *df = f->df;
	uint64_t joined = 0;

	if (df->n_groups < 2)
		return 1;
	memset(f->stamp, 0, df->n_groups * sizeof(*f->stamp));
	for (uint32_t i = 0; i < df->arcs.n_switches; i++) {
		fm_sw u = df->member[i];

		DF_EACH_ARC(df, a, u)
		{
			uint32_t to = df->group[df->arcs.to[a]];

			if (to == df->group[u] || f->stamp[to] == df->group[u] + 1)
				continue;
			f->stamp[to] = df->group[u] + 1;
			joined++;
		}
	}
	return (double)joined / ((double)df->n_groups * (df->n_groups - 1));
}

enum side { NO_SIDE, LEFT, RIGHT };

/* Arcs of a group to others that stand on this side. */
static uint32_t
arcs_to_side(const struct finder *f, uint32_t group, enum side side)
{
	const struct df *df = f->df;
	uint32_t n = 0;

	for (uint32_t i = df->first[group]; i < df->first[group + 1]; i++)
		DF_EACH_ARC(df, a, df->member[i])
		{
			uint32_t to = df->group[df->arcs.to[a]];

			n += to != group && f->number[to] == side;
		}
	return n;
}

/* Do the groups stand on two sides, with cables from side to side, but for some of a group that is
 * taken for two?  Those of a Slim Fly do (the halves of a McKay-Miller-Siran graph of 2 q^2
 * switches, q 3 at least), whatever its q, and also when cables are lost.  Of many groups of a
 * dragonfly, all joined to one another, no sides leave less than two fifths within a side.  Each
 * group in turn goes to the side to which it has fewer arcs; a switch by itself is on neither. */
static bool
is_two_sided(struct finder *f)
{
	const struct df *df = f->df;
	uint32_t within = 0, across = 0, n_sided = 0;
	bool changed = true;

	for (uint32_t g = 0; g < df->n_groups; g++)
		n_sided += df_size(df, g) > 1;
	if (n_sided < LEAST_SIDED)
		return false;
	memset(f->number, 0, df->n_groups * sizeof(*f->number));
	for (unsigned pass = 0; changed && pass < SIDE_PASSES; pass++) {
		changed = false;
		for (uint32_t g = 0; g < df->n_groups; g++) {
			enum side side =
			    arcs_to_side(f, g, LEFT) <= arcs_to_side(f, g, RIGHT) ? LEFT : RIGHT;

			if (df_size(df, g) == 1)
				continue;
			changed = changed || f->number[g] != side;
			f->number[g] = side;
		}
	}
	for (uint32_t g = 0; g < df->n_groups; g++) {
		if (f->number[g] == NO_SIDE)
			continue;
		within += arcs_to_side(f, g, f->number[g]);
		across += arcs_to_side(f, g, LEFT + RIGHT - f->number[g]);
	}
	return within < MOST_WITHIN * (within + across);
}

/* ------------------------------------------------------------------- lines */

static bool
is_local(const struct df *df, fm_sw u, fm_arc a)
{
	return df->group[df->arcs.to[a]] == df->group[u];
}

/* All arcs of a group without a gap are one line. */
static bool
is_complete(const struct df *df, uint32_t group)
{
	for (uint32_t i = df->first[group]; i < df->first[group + 1]; i++) {
		uint32_t n = 0;

		DF_EACH_ARC(df, a, df->member[i])
		n += is_local(df, df->member[i], a);
		if (n + 1 != df_size(df, group))
			return false;
	}
	return true;
}

static void
join_whole(struct finder *f, uint32_t group)
{
	const struct df *df = f->df;
	fm_arc line = FM_NONE;

	for (uint32_t i = df->first[group]; i < df->first[group + 1]; i++)
		DF_EACH_ARC(df, a, df->member[i])
		{
			if (df->arcs.to[a] < df->member[i] || !is_local(df, df->member[i], a))
				continue;
			line = line == FM_NONE ? a : line;
			f->line[a] = line;
		}
}

/* Triangles of which u is the lowest switch.  slot: all FM_NONE before and after. */
static void
join_triangles(struct finder *f, fm_sw u)
{
	const struct df *df = f->df;
	const fm_sw *to = df->arcs.to;

	DF_EACH_ARC(df, a, u)
	if (to[a] > u && is_local(df, u, a))
		f->slot[to[a]] = a;
	DF_EACH_ARC(df, a, u)
	{
		if (f->slot[to[a]] != a)
			continue;
		DF_EACH_ARC(df, b, to[a])
		{
			if (to[b] < to[a] || f->slot[to[b]] == FM_NONE)
				continue;
			fm_ufind_join(f->line, a, b);
			fm_ufind_join(f->line, a, f->slot[to[b]]);
		}
	}
	DF_EACH_ARC(df, a, u)
	f->slot[to[a]] = FM_NONE;
}

static bool
add_line(struct finder *f, fm_sw u, fm_arc line)
{
	for (unsigned i = 0; i < 2; i++) {
		if (f->lines[u][i] == line)
			return true;
		if (f->lines[u][i] == FM_NONE) {
			f->lines[u][i] = line;
			f->n_line[line]++;
			return true;
		}
	}
	return false;
}

/* Lines that cross are of different kinds. */
static bool
colour_group(struct finder *f, uint32_t group)
{
	const struct df *df = f->df;
	bool changed = true;
	uint32_t from = df->first[group], to = df->first[group + 1];

	if (f->lines[df->member[from]][0] != FM_NONE)
		f->colour[f->lines[df->member[from]][0]] = DF_ROW;
	while (changed) {
		changed = false;
		for (uint32_t i = from; i < to; i++) {
			const fm_arc *l = f->lines[df->member[i]];

			if (l[1] == FM_NONE || f->colour[l[0]] + f->colour[l[1]] == DF_COLUMN)
				continue;
			for (unsigned k = 0; k < 2; k++)
				if (f->colour[l[k]] <= DF_COLUMN && f->colour[l[!k]] > DF_COLUMN) {
					f->colour[l[!k]] = DF_COLUMN - f->colour[l[k]];
					changed = true;
				}
			if (f->colour[l[0]] == f->colour[l[1]] && f->colour[l[0]] <= DF_COLUMN)
				return false;
		}
	}
	return true;
}

/* The share of their arcs that the lines have; 0: no rows and columns. */
static double
find_lines(struct finder *f)
{
	const struct df *df = f->df;
	const struct fm_arcs *arcs = &df->arcs;
	double n_arcs = 0, n_full = 0;

	memset(f->lines, 0xff, arcs->n_switches * sizeof(*f->lines));
	memset(f->n_line, 0, arcs->n_arcs * sizeof(*f->n_line));
	memset(f->colour, 0xff, arcs->n_arcs);
	for (fm_arc a = 0; a < arcs->n_arcs; a++)
		f->line[a] = a;
	for (uint32_t g = 0; g < df->n_groups; g++) {
		if (is_complete(df, g))
			join_whole(f, g);
		else
			for (uint32_t i = df->first[g]; i < df->first[g + 1]; i++)
				join_triangles(f, df->member[i]);
	}
	for (fm_sw u = 0; u < arcs->n_switches; u++)
		DF_EACH_ARC(df, a, u)
		{
			if (arcs->to[a] < u || !is_local(df, u, a))
				continue;
			n_arcs++;
			if (!add_line(f, u, fm_ufind(f->line, a)) ||
			    !add_line(f, arcs->to[a], fm_ufind(f->line, a)))
				return 0;
		}
	for (uint32_t g = 0; g < df->n_groups; g++)
		if (!colour_group(f, g))
			return 0;
	for (fm_arc a = 0; a < arcs->n_arcs; a++)
		n_full += f->n_line[a] * (f->n_line[a] - 1.0) / 2 * (f->n_line[a] > 0);
	return n_full > 0 ? n_arcs / n_full : 0;
}

/* ------------------------------------------------------------------ choice */

/* More switches have company than not, and of groups there are few. */
static bool
is_plausible(const struct df *df)
{
	uint32_t alone = 0;

	for (uint32_t g = 0; g < df->n_groups; g++)
		alone += df_size(df, g) == 1;
	return alone * 2 < df->arcs.n_switches && df->n_groups <= MAX_GROUPS &&
	    (uint64_t)df->n_groups * (df->n_groups - 1) * LEAST_JOINED <= df->arcs.n_arcs;
}

static double
try_bound(struct finder *f, uint32_t bound)
{
	double joined, density;

	group_by(f, bound);
	if (!is_plausible(f->df))
		return 0;
	if (is_two_sided(f))
		return 0;
	joined = joined_share(f);
	density = joined >= LEAST_JOINED ? find_lines(f) : 0;
	return density >= LEAST_DENSITY ? joined * density : 0;
}

static void
note_kinds(struct finder *f)
{
	struct df *df = f->df;
	const struct fm_arcs *arcs = &df->arcs;

	for (fm_sw u = 0; u < arcs->n_switches; u++)
		DF_EACH_ARC(df, a, u)
		{
			fm_sw v = arcs->to[a];
			fm_arc up = v > u ? a : fm_arc_find(arcs, v, u);

			df->kind[a] =
			    is_local(df, u, a) ? f->colour[fm_ufind(f->line, up)] : DF_GLOBAL;
			df->any_column |= df->kind[a] == DF_COLUMN;
		}
}

int
df_find_groups(struct df *df, struct fm_error *err)
{
	struct finder f = { .df = df };
	uint32_t histogram[MAX_COMMON] = { 0 }, best = 0;
	double score, best_score = 0;
	int rc = take_memory(&f, err);

	if (rc != 0)
		return rc;
	count_common(&f, histogram);
	for (uint32_t bound = MAX_COMMON - 1; bound > 0 && best_score < 1; bound--) {
		if (histogram[bound] == 0)
			continue;
		score = try_bound(&f, bound);
		if (score > best_score) {
			best = bound;
			best_score = score;
		}
		if (df->host->should_stop(df->host))
			return df->host->fail(
			    df->host, err, FM_E_CANCELLED, "stopped while groups were looked for");
	}
	if (best_score == 0)
		return df->host->fail(df->host, err, FM_E_TOPOLOGY,
		    "not a dragonfly: no groups of switches are found that are all joined to one "
		    "another (or by rows and columns) and have a cable to most other groups; use "
		    "dfsssp or updn");
	(void)try_bound(&f, best);
	note_kinds(&f);
	return 0;
}
