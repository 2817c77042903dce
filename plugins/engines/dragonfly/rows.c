/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables, row by row.
 *
 * With one cable to a group all of its LIDs get one port.  With several, LIDs are
 * taken by position (plugins/common/paths/lids.h), groups side by side:
 *
 *	near	a switch uses its own cables, else a neighbour's: routes are
 *		shortest.  A cable that lands at the destination's switch comes
 *		first.  Shares are such that all cables of the two groups carry
 *		the same, own traffic of the gateways included.
 *	joint	all sources use the cable that belongs to the destination LID, one
 *		after the other: where a gateway is farther than a hop, and for the
 *		alternates of a port with several LIDs, which so get one cable each,
 *		and none that lands at the port's switch, as the base LID takes that.
 *
 * Rows in parallel, O(table bytes + switches^2 * cables between two groups).
 */
#include <string.h>

#include "plugins/engines/dragonfly/dragonfly.h"

#define MAX_CHOICES 256		       /* ports of a switch */
#define STRIDE_ONE (UINT64_C(1) << 32) /* of a choice of weight 1 */

/* Cables or neighbours to choose from, by stride: the one that is least far has
 * had least of its share. */
struct choices {
	uint32_t n;
	fm_arc arc[MAX_CHOICES];   /* to the neighbour, or FM_NONE: an own cable */
	fm_link link[MAX_CHOICES]; /* the own cable */
	uint64_t stride[MAX_CHOICES], far[MAX_CHOICES];
	uint32_t taken[MAX_CHOICES];
	uint8_t suits[MAX_CHOICES]; /* enum df_class for the destination switch in hand */
};

/* A cable to another group that is one's own or a neighbour's. */
struct near {
	fm_sw lands;
	uint32_t choice; /* its place in choices */
};

struct scratch {
	uint8_t *by_position; /* [n_positions] */
	struct near *near;    /* [n_near] of the pair in hand; room for n_links */
	uint32_t n_near;
	bool *there;	    /* [size of the group in hand] a cable lands; room for n_switches */
	uint32_t *eligible; /* [n_links] cables of the pair in hand, for joint */
	struct choices choices;
};

struct row {
	const struct df *df;
	struct scratch *w;
	fm_sw u;
};

/* The positions of one group's LIDs of one offset in one space. */
struct span {
	const struct fm_lid_space *space;
	uint32_t group, offset;
	uint8_t *at; /* of the first end of the space */
};

static uint8_t
port_of(const struct df *df, fm_arc a, uint32_t turn)
{
	return df->fab->link_port[df->arcs.link[a] + turn % fm_arc_width(&df->arcs, a)];
}

/* Positions from..to-1 along an arc, its cables in turn. */
static void
fill_arc(const struct df *df, fm_arc a, uint8_t *at, uint32_t from, uint32_t to)
{
	if (fm_arc_width(&df->arcs, a) == 1)
		memset(at + from, port_of(df, a, 0), to - from);
	else
		for (uint32_t i = from; i < to; i++)
			at[i] = port_of(df, a, i);
}

static void
fill_own_group(struct row *r, const struct span *s)
{
	const struct df *df = r->df;

	for (uint32_t col = df->first[s->group]; col < df->first[s->group + 1]; col++)
		if (df->member[col] != r->u)
			fill_arc(df, df->home[df_local(df, r->u, df->member[col])], s->at,
			    s->space->first[col], s->space->first[col + 1]);
}

/* -------------------------------------------------------------------- near */

/* What a gateway carries for others, in proportion: an equal share of everything
 * for each of its cables, less its own. */
static uint64_t
share(const struct df *df, uint32_t group, uint32_t n_cables, fm_sw gateway, uint32_t own)
{
	uint64_t all = 0, carries;

	for (uint32_t m = df->first[group]; m < df->first[group + 1]; m++)
		all += df->n_hosts[df->member[m]];
	carries = (uint64_t)n_cables * df->n_hosts[gateway];
	return all * own > carries ? all * own - carries : 0;
}

static void
add_choice(struct choices *c, fm_arc arc, fm_link link)
{
	c->arc[c->n] = arc;
	c->link[c->n] = link;
	c->taken[c->n] = 0;
	c->n++;
}

static void
add_near(const struct row *r, fm_link cable, uint32_t choice)
{
	r->w->near[r->w->n_near++] = (struct near){ r->df->fab->link_to[cable], choice };
}

/* Own cables, or, where there are none, neighbours that have some. */
static void
list_choices(struct row *r, size_t pair)
{
	const struct df *df = r->df;
	struct choices *c = &r->w->choices;
	uint32_t from = df->cable_first[pair], to = df->cable_first[pair + 1];

	c->n = r->w->n_near = 0;
	for (uint32_t i = from; i < to; i++)
		if (df->cable_from[i] == r->u) {
			add_near(r, df->cable[i], c->n);
			add_choice(c, FM_NONE, df->cable[i]);
		}
	for (uint32_t i = from; i < to && (c->n == 0 || c->arc[0] != FM_NONE); i++) {
		fm_arc a = df->direct[df_local(df, r->u, df->cable_from[i])];
		uint32_t k = 0;

		if (a == FM_NONE)
			continue;
		while (k < c->n && c->arc[k] != a)
			k++;
		if (k == c->n)
			add_choice(c, a, FM_NONE);
		add_near(r, df->cable[i], k);
	}
}

static void
weigh_choices(struct row *r, size_t pair, uint32_t group)
{
	const struct df *df = r->df;
	struct choices *c = &r->w->choices;
	uint32_t n = df->cable_first[pair + 1] - df->cable_first[pair];
	uint32_t own[MAX_CHOICES] = { 0 }, mine = df->group[r->u];
	uint32_t turn = (df->index[r->u] + mine + group) % c->n;

	for (uint32_t i = 0; i < r->w->n_near; i++)
		own[r->w->near[i].choice]++;
	for (uint32_t k = 0; k < c->n; k++) {
		uint64_t weight = 1;

		if (c->arc[k] != FM_NONE)
			weight = share(df, mine, n, df->arcs.to[c->arc[k]], own[k]);
		c->stride[k] = weight > 0 ? STRIDE_ONE / weight : STRIDE_ONE * 2;
		c->far[k] = (k + c->n - turn) % c->n;
	}
}

/* Which choices have a cable that lands at dest, where one has and all cables fit. */
static void
find_there(struct row *r, fm_sw dest)
{
	struct choices *c = &r->w->choices;

	memset(c->suits, DF_FITS, c->n);
	for (const struct near *n = r->w->near; n < r->w->near + r->w->n_near; n++)
		if (n->lands == dest)
			c->suits[n->choice] = DF_THERE;
}

/* How each choice suits dest; the best. */
static uint8_t
find_suits(struct row *r, fm_sw dest)
{
	struct choices *c = &r->w->choices;
	uint8_t best = DF_MISFITS;

	memset(c->suits, DF_MISFITS, c->n);
	for (const struct near *n = r->w->near; n < r->w->near + r->w->n_near; n++) {
		enum df_class class = df_class_at(r->df, n->lands, dest);

		if (class < c->suits[n->choice])
			c->suits[n->choice] = (uint8_t) class;
		if (class < best)
			best = (uint8_t) class;
	}
	return best;
}

static inline uint8_t
take(const struct df *df, struct choices *c, uint32_t k)
{
	c->far[k] += c->stride[k];
	if (c->arc[k] == FM_NONE)
		return df->fab->link_port[c->link[k]];
	return port_of(df, c->arc[k], c->taken[k]++);
}

/* The least far of those that suit so well. */
static uint8_t
take_suiting(const struct df *df, struct choices *c, uint8_t suits)
{
	uint32_t best = FM_NONE;

	for (uint32_t k = 0; k < c->n; k++)
		if (c->suits[k] <= suits && (best == FM_NONE || c->far[k] < c->far[best]))
			best = k;
	return take(df, c, best);
}

/* The least far of all. */
static uint8_t
take_any(const struct df *df, struct choices *c)
{
	uint32_t best = 0;

	for (uint32_t k = 1; k < c->n; k++)
		best = c->far[k] < c->far[best] ? k : best;
	return take(df, c, best);
}

/* Destinations where a cable lands come first: what they leave uneven the others
 * make up for. */
static void
fill_by_suits(struct row *r, const struct span *s)
{
	const struct df *df = r->df;
	struct choices *c = &r->w->choices;
	const uint32_t *first = s->space->first;

	for (unsigned round = 0; round < 2; round++)
		for (uint32_t col = df->first[s->group]; col < df->first[s->group + 1]; col++) {
			uint8_t suits = find_suits(r, df->member[col]);

			if ((suits == DF_THERE) != (round == 0))
				continue;
			for (uint32_t i = first[col]; i < first[col + 1]; i++)
				s->at[i] = take_suiting(df, c, suits);
		}
}

/* The same where no step of the group is in another order, so that all cables fit. */
static void
fill_all_fit(struct row *r, const struct span *s)
{
	const struct df *df = r->df;
	struct choices *c = &r->w->choices;
	const uint32_t *first = s->space->first;
	uint32_t start = df->first[s->group], n = df_size(df, s->group);
	bool *there = r->w->there;

	memset(there, 0, n * sizeof(*there));
	for (const struct near *k = r->w->near; k < r->w->near + r->w->n_near; k++)
		if (df->group[k->lands] == s->group)
			there[df->index[k->lands]] = true;
	for (uint32_t m = 0; m < n; m++) {
		if (!there[m])
			continue;
		find_there(r, df->member[start + m]);
		for (uint32_t i = first[start + m]; i < first[start + m + 1]; i++)
			s->at[i] = take_suiting(df, c, DF_THERE);
	}
	for (uint32_t m = 0; m < n; m++)
		for (uint32_t i = first[start + m]; !there[m] && i < first[start + m + 1]; i++)
			s->at[i] = take_any(df, c);
}

/* Nothing to choose: one cable, or all cables to one neighbour that is joined by one. */
static bool
fill_without_choice(struct row *r, const struct span *s)
{
	const struct df *df = r->df;
	const struct choices *c = &r->w->choices;
	uint32_t from = s->space->first[df->first[s->group]],
		 to = s->space->first[df->first[s->group + 1]];

	if (c->n > 1 || (c->arc[0] != FM_NONE && fm_arc_width(&df->arcs, c->arc[0]) > 1))
		return false;
	memset(s->at + from,
	    c->arc[0] == FM_NONE ? df->fab->link_port[c->link[0]] : port_of(df, c->arc[0], 0),
	    to - from);
	return true;
}

static void
fill_near(struct row *r, const struct span *s, size_t pair)
{
	list_choices(r, pair);
	if (fill_without_choice(r, s))
		return;
	weigh_choices(r, pair, s->group);
	if (r->df->group_misfits[s->group])
		fill_by_suits(r, s);
	else
		fill_all_fit(r, s);
}

/* ------------------------------------------------------------------- joint */

/* Cables but those that land at the switch; how many. */
static uint32_t
leave_out_there(const struct df *df, fm_sw dest, uint32_t n, uint32_t *eligible)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++)
		if (df->fab->link_to[df->cable[eligible[i]]] != dest)
			eligible[kept++] = eligible[i];
	return kept;
}

/* Cables that suit a destination switch best; how many.  n_beside: for so many alternates to a base
 * LID, which takes one that lands there. */
static uint32_t
list_eligible(const struct df *df, size_t pair, fm_sw dest, uint32_t n_beside, uint32_t *eligible)
{
	enum df_class best = DF_MISFITS;
	uint32_t n = 0, n_there = 0;

	for (uint32_t i = df->cable_first[pair]; i < df->cable_first[pair + 1]; i++) {
		enum df_class class = df_class_of(df, df->cable[i], dest);

		best = class < best ? class : best;
	}
	/* Landing there is no reason to crowd: only fitting or not counts. */
	best = best == DF_THERE ? DF_FITS : best;
	for (uint32_t i = df->cable_first[pair]; i < df->cable_first[pair + 1]; i++)
		if (df_class_of(df, df->cable[i], dest) <= best)
			eligible[n++] = i;
	for (uint32_t i = 0; i < n; i++)
		n_there += df->fab->link_to[df->cable[eligible[i]]] == dest;
	if (n_beside == 0 || n - n_there < n_beside)
		return n;
	return leave_out_there(df, dest, n, eligible);
}

static void
fill_joint(struct row *r, const struct span *s, size_t pair)
{
	const struct df *df = r->df;
	const uint32_t *first = s->space->first, *eligible = r->w->eligible;
	uint32_t turn = df->group[r->u] + s->group + s->offset, start = first[df->first[s->group]];
	uint32_t n_beside = s->offset > 0 ? s->space->n_offsets - 1 : 0;

	for (uint32_t col = df->first[s->group]; col < df->first[s->group + 1]; col++) {
		uint32_t n = list_eligible(df, pair, df->member[col], n_beside, r->w->eligible);

		for (uint32_t i = first[col]; i < first[col + 1]; i++) {
			uint32_t c = eligible[(i - start + turn) % n];

			if (df->cable_from[c] == r->u)
				s->at[i] = df->fab->link_port[df->cable[c]];
			else
				s->at[i] =
				    port_of(df, df->away[df_local(df, r->u, df->cable_from[c])],
					(i + turn) / n);
		}
	}
}

/* The only cable there is. */
static void
fill_single(struct row *r, const struct span *s, uint32_t c)
{
	const struct df *df = r->df;
	uint32_t from = s->space->first[df->first[s->group]],
		 to = s->space->first[df->first[s->group + 1]];

	if (df->cable_from[c] == r->u)
		memset(s->at + from, df->fab->link_port[df->cable[c]], to - from);
	else
		fill_arc(df, df->away[df_local(df, r->u, df->cable_from[c])], s->at, from, to);
}

/* -------------------------------------------------------------------- rows */

static void
fill_span(struct row *r, const struct span *s)
{
	const struct df *df = r->df;
	uint32_t mine = df->group[r->u], via = df->via[df_pair(df, mine, s->group)];
	size_t pair;

	if (s->group == mine) {
		fill_own_group(r, s);
		return;
	}
	pair = df_pair(df, mine, via);
	if (df->cable_first[pair + 1] - df->cable_first[pair] == 1)
		fill_single(r, s, df->cable_first[pair]);
	else if (df->joint[pair] || s->offset > 0)
		fill_joint(r, s, pair);
	else
		fill_near(r, s, pair);
}

/* All LIDs of the group by one port? */
static bool
has_one_port(const struct row *r, uint32_t group, uint8_t *port)
{
	const struct df *df = r->df;
	uint32_t mine = df->group[r->u], via = df->via[df_pair(df, mine, group)], c;
	fm_arc a;

	*port = FM_PORT_NONE;
	if (group == mine || via == FM_NONE)
		return group != mine;
	c = df->cable_first[df_pair(df, mine, via)];
	if (df->cable_first[df_pair(df, mine, via) + 1] - c > 1)
		return false;
	if (df->cable_from[c] == r->u) {
		*port = df->fab->link_port[df->cable[c]];
		return true;
	}
	a = df->away[df_local(df, r->u, df->cable_from[c])];
	*port = port_of(df, a, 0);
	return fm_arc_width(&df->arcs, a) == 1;
}

static void
fill_runs(const struct row *r, uint32_t group, uint8_t port)
{
	uint8_t *lft = r->df->out->lft[r->u];

	DF_EACH_RUN(run, &r->df->by_lid, group)
	memset(lft + run->lid, port, run->n);
}

/* By position, then to where the LIDs are. */
static void
fill_group(struct row *r, uint32_t group)
{
	const struct df *df = r->df;
	uint8_t *lft = df->out->lft[r->u];

	for (unsigned k = 0; k < FM_SPACES; k++) {
		struct span s = { .space = &df->lids.space[k], .group = group };

		for (s.offset = 0; s.offset < s.space->n_offsets; s.offset++) {
			s.at = r->w->by_position + s.space->start + s.offset * s.space->n;
			fill_span(r, &s);
		}
	}
	DF_EACH_RUN(run, &df->by_position, group)
	if (run->n == 1) /* many, where switches and hosts take LIDs in turn */
		lft[run->lid] = r->w->by_position[run->position];
	else
		memcpy(lft + run->lid, r->w->by_position + run->position, run->n);
}

static struct scratch *
scratch_of(struct df *df, unsigned worker)
{
	const struct fm_host *host = df->host;
	struct scratch *w = df->worker[worker];

	if (w != NULL)
		return w;
	w = host->scratch_worker(host, worker, sizeof(*w));
	if (w == NULL)
		return NULL;
	w->by_position = host->scratch_worker(host, worker, df->lids.n_positions + 1);
	w->near = host->scratch_worker(host, worker, (df->fab->n_links + 1) * sizeof(*w->near));
	w->eligible =
	    host->scratch_worker(host, worker, (df->fab->n_links + 1) * sizeof(*w->eligible));
	w->there = host->scratch_worker(host, worker, df->arcs.n_switches * sizeof(*w->there));
	if (w->by_position == NULL || w->near == NULL || w->there == NULL || w->eligible == NULL)
		return NULL;
	return df->worker[worker] = w;
}

static void
fill_row(void *arg, uint32_t i, unsigned worker)
{
	struct df *df = arg;
	struct row r = { .df = df, .w = scratch_of(df, worker), .u = df->member[i] };
	uint8_t port;

	if (r.w == NULL) {
		atomic_store(&df->no_memory, true);
		return;
	}
	if (df->host->should_stop(df->host))
		return;
	for (uint32_t g = 0; g <= df->n_groups; g++)
		if (g == df->n_groups)
			fill_runs(&r, g, FM_PORT_NONE);
		else if (has_one_port(&r, g, &port))
			fill_runs(&r, g, port);
		else
			fill_group(&r, g);
	fm_lids_local(df->fab, r.u, df->out->lft[r.u]);
}

int
df_fill_rows(struct df *df, struct fm_error *err)
{
	uint32_t n = df->arcs.n_switches;

	df->n_hosts = fm_scratch_array(df->host, n, uint32_t);
	df->worker = fm_scratch_array(df->host, df->host->n_workers(df->host), void *);
	if (df->n_hosts == NULL || df->worker == NULL)
		return fm_no_scratch(df->host, "rows of the tables", err);
	for (fm_sw s = 0; s < n; s++)
		for (fm_end e = df->fab->sw_first_end[s]; e < df->fab->sw_first_end[s + 1]; e++)
			df->n_hosts[s] += fm_is_host(df->fab, e);
	df->host->parallel_for(df->host, n, fill_row, df);
	if (atomic_load(&df->no_memory))
		return fm_no_scratch(df->host, "rows of the tables", err);
	if (df->host->should_stop(df->host))
		return df->host->fail(
		    df->host, err, FM_E_CANCELLED, "stopped while filling the tables");
	return 0;
}

/* ----------------------------------------------------------------- pattern */

/* Does some cable that u may take for dest land badly, or lie badly for u? */
static bool
joint_misfits(const struct df *df, size_t pair, fm_sw u, fm_sw dest)
{
	bool fits = false;

	for (uint32_t i = df->cable_first[pair]; i < df->cable_first[pair + 1]; i++) {
		if (df_class_of(df, df->cable[i], dest) == DF_MISFITS)
			continue;
		fits = true;
		if (df->cable_from[i] != u && df->away_misfits[df_local(df, u, df->cable_from[i])])
			return true;
	}
	return !fits;
}

static bool
near_misfits(const struct df *df, size_t pair, fm_sw u, fm_sw dest)
{
	bool own = false, own_fits = false, fits = false;

	for (uint32_t i = df->cable_first[pair]; i < df->cable_first[pair + 1]; i++) {
		bool good = df_class_of(df, df->cable[i], dest) != DF_MISFITS;

		if (df->cable_from[i] == u) {
			own = true;
			own_fits |= good;
		} else if (df->direct[df_local(df, u, df->cable_from[i])] != FM_NONE) {
			fits |= good;
		}
	}
	return own ? !own_fits : !fits;
}

bool
df_misfits(const struct df *df, fm_sw u, fm_sw v)
{
	uint32_t i = df->group[u], j = df->group[v];
	size_t pair = df_pair(df, i, j);
	uint32_t n = df->cable_first[pair + 1] - df->cable_first[pair];

	if (i == j)
		return u != v && df->home_misfits[df_local(df, u, v)];
	if (df->via[pair] != j)
		return df->via[pair] != FM_NONE;
	if (!df->group_misfits[i] && !df->group_misfits[j])
		return false;
	if (joint_misfits(df, pair, u, v))
		return true;
	return n > 1 && !df->joint[pair] && near_misfits(df, pair, u, v);
}
