/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A switch's height is a number with room between the levels:
 *
 *	STEP * (2H + 1 - level)	the cone, turned: the turning switch on top
 *	STEP * level + STEP - 1	a switch that others were demoted below
 *	STEP * level + STEP - 2 - i	those, the i-th of them, nearest first
 *	STEP * level		the others
 *
 * Equal heights are told apart by id and index, so whatever happens here the
 * order is strict, and up arcs have no cycle.  That all climb to the top is
 * kept step by step: a switch that can climb (is *rooted*) never loses the arc
 * it climbs by, for only switches that are not rooted are moved, and one that
 * others are demoted below is raised only where no neighbour is passed.
 */
#include "plugins/common/paths/order.h"

#include <string.h>

#define STEP ((int64_t)1 << 20) /* more than there are switches */
#define TRIES 8			/* turning switches looked at in each component, at least */
#define WORK 10000		/* switches of their cones, beyond those */
#define HARM 500		/* of 1000 ways up: where a cone takes more another is looked for */

struct order {
	const struct fm_arcs *arcs;
	const struct fm_levels *levels;
	uint32_t n, max_level;
	int64_t *height;  /* [n] */
	uint8_t *turned;  /* [n] in a cone: ties are the other way round as well */
	uint8_t *demoted; /* [n] */
	uint8_t *rooted;  /* [n] climbs to the highest switch of its component */
	uint8_t *aside;	  /* [n] was not rooted before anything was demoted */
	uint8_t *way;	  /* [n_arcs] */
	uint32_t *part;	  /* [n] component */
	uint32_t *seen;	  /* [n] stamp of the last cone walked through the switch */
	uint32_t *shared; /* [n] all 0, but while a cone is looked at */
	uint32_t n_stamps;
	uint32_t *first_up;  /* [n + 1] into up[] */
	fm_sw *up;	     /* [n_arcs] above by the levels alone, before the turn */
	fm_sw *queue, *cone; /* [n] */
	fm_sw *top;	     /* [n_parts] turning switch, or the one top there is */
	uint32_t n_parts;
};

static inline bool
is_above(const struct order *o, fm_sw v, fm_sw u)
{
	const int64_t *ids = o->levels->ids;
	bool reverse = o->turned[u] && o->turned[v];

	if (o->height[v] != o->height[u])
		return o->height[v] > o->height[u];
	if (ids != NULL && ids[v] != ids[u])
		return (ids[v] < ids[u]) != reverse;
	return (v < u) != reverse;
}

/* The ways up by levels alone. */
static void
list_ups(struct order *o)
{
	uint32_t n = 0;

	for (fm_sw s = 0; s < o->n; s++) {
		o->first_up[s] = n;
		for (fm_arc a = o->arcs->first[s]; a < o->arcs->first[s + 1]; a++)
			if (is_above(o, o->arcs->to[a], s))
				o->up[n++] = o->arcs->to[a];
	}
	o->first_up[o->n] = n;
}

static uint32_t
n_ups(const struct order *o, fm_sw s)
{
	return o->first_up[s + 1] - o->first_up[s];
}

static void
find_parts(struct order *o)
{
	memset(o->part, 0xff, o->n * sizeof(*o->part));
	for (fm_sw root = 0; root < o->n; root++) {
		uint32_t head = 0, tail = 0;

		if (o->part[root] != FM_NONE)
			continue;
		o->part[root] = o->n_parts;
		o->queue[tail++] = root;
		while (head < tail) {
			fm_sw s = o->queue[head++];

			for (fm_arc a = o->arcs->first[s]; a < o->arcs->first[s + 1]; a++)
				if (o->part[o->arcs->to[a]] == FM_NONE) {
					o->part[o->arcs->to[a]] = o->n_parts;
					o->queue[tail++] = o->arcs->to[a];
				}
		}
		o->n_parts++;
	}
}

/* s and all above it into cone[]; how many. */
static uint32_t
walk_cone(struct order *o, fm_sw from)
{
	uint32_t head = 0, tail = 0, stamp = ++o->n_stamps;

	o->cone[tail++] = from;
	o->seen[from] = stamp;
	while (head < tail) {
		fm_sw s = o->cone[head++];

		for (uint32_t i = o->first_up[s]; i < o->first_up[s + 1]; i++) {
			fm_sw v = o->up[i];

			if (o->seen[v] == stamp)
				continue;
			o->seen[v] = stamp;
			o->cone[tail++] = v;
		}
	}
	return tail;
}

/* ------------------------------------------------------------ turning switches */

/* What is known of a component while its turning switch is sought. */
struct part {
	uint32_t n_tops;
	uint32_t lowest;  /* level */
	uint32_t most_up; /* arcs up of a switch of that level */
	uint32_t n_tries, best_size, work;
	uint64_t best_company;
	uint32_t n_covered; /* tops in the cone */
	uint32_t least; /* measure_harm() of another cone has to be less; 0: none is looked for */
};

static void
look_at_parts(struct order *o, struct part *parts)
{
	for (uint32_t i = 0; i < o->n_parts; i++)
		parts[i].lowest = FM_NONE;
	for (fm_sw s = 0; s < o->n; s++) {
		struct part *p = &parts[o->part[s]];
		uint32_t up = n_ups(o, s), level = o->levels->level[s];

		if (up == 0) {
			p->n_tops++;
			o->top[o->part[s]] = s;
		}
		if (level > p->lowest || (level == p->lowest && up <= p->most_up))
			continue;
		p->lowest = level;
		p->most_up = up;
	}
}

/*
 * How much the switches above s keep to few others below them: for each of those, the square of how
 * many of them it has.  Between two of a cone paths go down and up no longer, so what hangs on a
 * cone with a few cables of many has fewer ways.  It should have company that it shares most with.
 */
static uint64_t
count_company(struct order *o, fm_sw s)
{
	const struct fm_arcs *arcs = o->arcs;
	uint64_t sum = 0;

	for (uint32_t i = o->first_up[s]; i < o->first_up[s + 1]; i++)
		for (fm_arc a = arcs->first[o->up[i]]; a < arcs->first[o->up[i] + 1]; a++)
			if (is_above(o, o->up[i], arcs->to[a]))
				sum += 2 * o->shared[arcs->to[a]]++ + 1;
	for (uint32_t i = o->first_up[s]; i < o->first_up[s + 1]; i++)
		for (fm_arc a = arcs->first[o->up[i]]; a < arcs->first[o->up[i] + 1]; a++)
			o->shared[arcs->to[a]] = 0;
	return sum;
}

/* Of those that have as many arcs up as any of the lowest level, the one with the largest cone;
 * among equals one that has clearly most company, so that a lost cable moves none. */
static void
choose_turning_switches(struct order *o, struct part *parts)
{
	for (fm_sw s = 0; s < o->n; s++) {
		struct part *p = &parts[o->part[s]];
		uint64_t company;
		uint32_t size;

		if (p->n_tops < 2 || o->levels->level[s] != p->lowest ||
		    (p->n_tries >= TRIES && p->work >= WORK) || n_ups(o, s) < p->most_up)
			continue;
		p->n_tries++;
		p->work += size = walk_cone(o, s);
		company = count_company(o, s);
		if (size < p->best_size ||
		    (size == p->best_size && 8 * company <= 9 * p->best_company))
			continue;
		p->best_size = size;
		p->best_company = company;
		o->top[o->part[s]] = s;
	}
}

/*
 * What the cone walked last takes from the switches below it: of those above one of them the share
 * in the cone, in 1000, where some are and others are not.  What comes down from further up has the
 * others alone then, as down comes first.  The largest share.
 */
static uint32_t
measure_harm(struct order *o, uint32_t n_cone)
{
	uint32_t n_below = 0, worst = 0;

	for (uint32_t i = 0; i < n_cone; i++) {
		fm_sw s = o->cone[i];

		for (fm_arc a = o->arcs->first[s]; a < o->arcs->first[s + 1]; a++) {
			fm_sw below = o->arcs->to[a];

			if (o->seen[below] == o->n_stamps || !is_above(o, s, below))
				continue;
			if (o->shared[below]++ == 0)
				o->queue[n_below++] = below;
		}
	}
	for (uint32_t i = 0; i < n_below; i++) {
		uint32_t n = n_ups(o, o->queue[i]), in_cone = o->shared[o->queue[i]];

		o->shared[o->queue[i]] = 0;
		if (in_cone < n && 1000 * in_cone / n > worst)
			worst = 1000 * in_cone / n;
	}
	return worst;
}

static uint32_t
count_tops(const struct order *o, uint32_t n_cone)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_cone; i++)
		n += n_ups(o, o->cone[i]) == 0;
	return n;
}

/* Where switches of a level are not joined to the same ones above, a cone may take most ways
 * from one.  There a switch further up turns, whose cone has as many tops and takes least, if that
 * is less than half as much. */
static void
turn_further_up(struct order *o, struct part *parts)
{
	for (uint32_t i = 0; i < o->n_parts; i++) {
		uint32_t n = parts[i].n_tops > 1 ? walk_cone(o, o->top[i]) : 0;
		uint32_t harm = measure_harm(o, n);

		parts[i].n_covered = count_tops(o, n);
		parts[i].least = harm > HARM ? harm / 2 : 0;
		parts[i].work = 0;
	}
	for (fm_sw s = 0; s < o->n; s++) {
		struct part *p = &parts[o->part[s]];
		uint32_t n, harm;

		if (p->least == 0 || o->levels->level[s] == p->lowest || p->work >= WORK)
			continue;
		n = walk_cone(o, s);
		p->work += n;
		harm = measure_harm(o, n);
		if (count_tops(o, n) < p->n_covered || harm >= p->least)
			continue;
		p->least = harm;
		o->top[o->part[s]] = s;
	}
}

static void
turn_cones(struct order *o, const struct part *parts)
{
	for (uint32_t i = 0; i < o->n_parts; i++) {
		uint32_t n = parts[i].n_tops > 1 ? walk_cone(o, o->top[i]) : 0;

		for (uint32_t k = 0; k < n; k++) {
			uint32_t level = o->levels->level[o->cone[k]];

			o->height[o->cone[k]] = STEP * (2 * (int64_t)o->max_level + 1 - level);
			o->turned[o->cone[k]] = 1;
		}
	}
}

/* -------------------------------------------------------------------- demotion */

/* Everything below what is queued can climb. */
static void
spread_rooted(struct order *o, uint32_t tail)
{
	for (uint32_t head = 0; head < tail; head++) {
		fm_sw s = o->queue[head];

		for (fm_arc a = o->arcs->first[s]; a < o->arcs->first[s + 1]; a++) {
			fm_sw v = o->arcs->to[a];

			if (o->rooted[v] || is_above(o, v, s))
				continue;
			o->rooted[v] = 1;
			o->queue[tail++] = v;
		}
	}
}

/* The rooted switch with the most neighbours that are not, or FM_NONE: few
 * such switches, as each loses these arcs for the rest of its traffic. */
static fm_sw
choose_foster(const struct order *o)
{
	uint32_t most = 0;
	fm_sw best = FM_NONE;

	for (fm_sw s = 0; s < o->n; s++) {
		uint32_t n = 0;

		if (!o->rooted[s])
			continue;
		for (fm_arc a = o->arcs->first[s]; a < o->arcs->first[s + 1]; a++)
			n += !o->rooted[o->arcs->to[a]];
		if (n <= most)
			continue;
		most = n;
		best = s;
	}
	return best;
}

/* To the upper end of its level, if no neighbour is between. */
static void
raise_foster(struct order *o, fm_sw s)
{
	int64_t top = o->height[s] + STEP - 1;

	if (o->height[s] % STEP != 0 || o->turned[s])
		return;
	for (fm_arc a = o->arcs->first[s]; a < o->arcs->first[s + 1]; a++) {
		int64_t h = o->height[o->arcs->to[a]];

		if (h >= o->height[s] && h <= top)
			return;
	}
	o->height[s] = top;
}

/* Put all that is above s, and cannot climb, below it.  Leaves them queued. */
static uint32_t
demote_above(struct order *o, fm_sw s)
{
	uint32_t head = 0, tail = 0;

	raise_foster(o, s);
	for (fm_sw at = s;; at = o->queue[head++]) {
		for (fm_arc a = o->arcs->first[at]; a < o->arcs->first[at + 1]; a++) {
			fm_sw v = o->arcs->to[a];

			if (o->rooted[v] || !is_above(o, v, at))
				continue;
			o->rooted[v] = o->demoted[v] = 1;
			o->queue[tail++] = v;
		}
		if (head == tail)
			break;
	}
	for (uint32_t i = 0; i < tail; i++)
		o->height[o->queue[i]] = o->height[s] - 1 - i;
	return tail;
}

static void
demote_all(struct order *o)
{
	bool any = false;
	fm_sw foster;

	for (uint32_t i = 0; i < o->n_parts; i++) {
		o->queue[i] = o->top[i];
		o->rooted[o->top[i]] = 1;
	}
	spread_rooted(o, o->n_parts);
	for (fm_sw s = 0; s < o->n; s++)
		any |= o->aside[s] = !o->rooted[s];
	while (any && (foster = choose_foster(o)) != FM_NONE)
		spread_rooted(o, demote_above(o, foster));
}

/* ------------------------------------------------------------------------- all */

static void
direct_arcs(const struct order *o)
{
	for (fm_sw s = 0; s < o->n; s++)
		for (fm_arc a = o->arcs->first[s]; a < o->arcs->first[s + 1]; a++) {
			fm_sw v = o->arcs->to[a];
			bool up = is_above(o, v, s), aside = o->demoted[v] && !o->demoted[s];

			if (up)
				aside = o->demoted[s] && !o->demoted[v];
			o->way[a] =
			    (uint8_t)((up ? FM_ARC_UP : FM_ARC_DOWN) | (aside ? FM_ARC_ASIDE : 0));
		}
}

static int
take_memory(const struct fm_host *host, struct order *o, struct fm_error *err)
{
	size_t n = o->n;

	o->height = fm_scratch_array(host, n, int64_t);
	o->turned = fm_scratch_array(host, n, uint8_t);
	o->demoted = fm_scratch_array(host, n, uint8_t);
	o->rooted = fm_scratch_array(host, n, uint8_t);
	o->aside = fm_scratch_array(host, n, uint8_t);
	o->way = fm_scratch_array(host, o->arcs->n_arcs, uint8_t);
	o->part = fm_scratch_array(host, n, uint32_t);
	o->seen = fm_scratch_array(host, n, uint32_t);
	o->shared = fm_scratch_array(host, n, uint32_t);
	o->queue = fm_scratch_array(host, n, fm_sw);
	o->cone = fm_scratch_array(host, n, fm_sw);
	o->top = fm_scratch_array(host, n, fm_sw);
	if (o->height == NULL || o->turned == NULL || o->demoted == NULL || o->rooted == NULL ||
	    o->aside == NULL || o->way == NULL || o->part == NULL || o->seen == NULL ||
	    o->shared == NULL || o->queue == NULL || o->cone == NULL || o->top == NULL)
		return fm_no_scratch(host, "order of the switches", err);
	return 0;
}

static int
turn(const struct fm_host *host, struct order *o, struct fm_error *err)
{
	struct part *parts;

	o->first_up = fm_scratch_array(host, (size_t)o->n + 1, uint32_t);
	o->up = fm_scratch_array(host, o->arcs->n_arcs, fm_sw);
	if (o->first_up == NULL || o->up == NULL)
		return fm_no_scratch(host, "order of the switches", err);
	find_parts(o);
	list_ups(o);
	if ((parts = fm_scratch_array(host, o->n_parts, struct part)) == NULL)
		return fm_no_scratch(host, "order of the switches", err);
	look_at_parts(o, parts);
	choose_turning_switches(o, parts);
	if (o->levels->turn == FM_TURN_ANY)
		turn_further_up(o, parts);
	turn_cones(o, parts);
	demote_all(o);
	return 0;
}

int
fm_order_build(const struct fm_host *host, const struct fm_arcs *arcs,
    const struct fm_levels *levels, struct fm_order *out, struct fm_error *err)
{
	struct order o = { .arcs = arcs, .levels = levels, .n = arcs->n_switches };
	int rc = take_memory(host, &o, err);

	for (fm_sw s = 0; rc == 0 && s < o.n; s++) {
		o.height[s] = STEP * levels->level[s];
		o.max_level = levels->level[s] > o.max_level ? levels->level[s] : o.max_level;
	}
	if (rc == 0 && levels->turn != FM_TURN_NONE)
		rc = turn(host, &o, err);
	if (rc != 0)
		return rc;
	direct_arcs(&o);
	*out = (struct fm_order){
		.way = o.way, .aside = o.aside, .demoted = o.demoted, .height = o.height
	};
	return 0;
}

int
fm_order_by_ids(const struct fm_host *host, const struct fm_arcs *arcs, const int64_t *ids,
    struct fm_order *out, struct fm_error *err)
{
	uint8_t *way = fm_scratch_array(host, arcs->n_arcs, uint8_t);
	uint8_t *none = fm_scratch_array(host, arcs->n_switches, uint8_t);

	if (way == NULL || none == NULL)
		return fm_no_scratch(host, "order of the switches", err);
	for (fm_sw s = 0; s < arcs->n_switches; s++)
		for (fm_arc a = arcs->first[s]; a < arcs->first[s + 1]; a++)
			way[a] = ids[arcs->to[a]] < ids[s] ? FM_ARC_UP : FM_ARC_DOWN;
	*out = (struct fm_order){ .way = way, .aside = none, .demoted = none };
	return 0;
}

/* Kahn's algorithm along the up arcs. */
void
fm_order_sort(
    const struct fm_arcs *arcs, const struct fm_order *order, uint32_t *n_below, fm_sw *by_height)
{
	uint32_t n = 0;

	memset(n_below, 0, arcs->n_switches * sizeof(*n_below));
	for (fm_arc a = 0; a < arcs->n_arcs; a++)
		n_below[arcs->to[a]] += fm_goes_up(order, a);
	for (fm_sw u = 0; u < arcs->n_switches; u++)
		if (n_below[u] == 0)
			by_height[n++] = u;
	for (uint32_t i = 0; i < n; i++) {
		fm_sw u = by_height[i];

		for (fm_arc a = arcs->first[u]; a < arcs->first[u + 1]; a++)
			if (fm_goes_up(order, a) && --n_below[arcs->to[a]] == 0)
				by_height[n++] = arcs->to[a];
	}
}
