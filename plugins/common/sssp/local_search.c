/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A route is moved at any switch from which it comes to the full link, not only at the
 * link itself: what crowds the last link to a leaf is decided at the sources' leaves.
 * The new path follows the tree from the neighbour on; it may meet the old one
 * behind the full link only.  What is looked at is the fullest of the links that are
 * new, with what is moved; it has to stay below what the full link bore.
 */
#include "plugins/common/sssp/local_search.h"

#include <string.h>

#include "lib/bitset.h"
#include "plugins/common/grid/dimensions.h"

#define BUDGET 5000000u /* links looked at */
#define ASKED 100	/* as if so many were, where an engine is asked whether it admits a move */
#define ENOUGH 1.05	/* of the mean, unless the caller says otherwise */

struct local_search {
	const struct fm_host *host;
	const struct fm_fabric *fab;
	uint32_t n_columns;
	const uint32_t *first, *to; /* the links of a switch; where they lead */
	uint16_t *lid;		    /* [n_columns] */
	fm_sw *root;		    /* [n_columns] */
	uint8_t *step;		    /* [n_columns][n_switches] or FM_STEP_NONE */
	uint32_t *passing;	    /* [n_columns][n_switches] routes that come by */
	uint64_t *right;	    /* bitset [n_switches of the root][n_links], or NULL: .up */
	uint64_t *up;		    /* bitset [n_links] */
	uint32_t *n_hosts;	    /* [n_switches] */
	uint64_t *load;		    /* [n_links] */
	/* [n_switches] .path: on the old path in hand before the full link; .path + 1: behind */
	uint32_t *mark;
	uint32_t path;
	fm_link *route; /* [n_switches] in hand */
	fm_sw *behind;	/* [n_switches] whose routes of the column in hand come over the link */
	uint32_t *is_behind; /* [n_switches] .column: one of these */
	uint32_t column;     /* how many have been in hand */
	fm_sw least, most;   /* of those behind */
	uint64_t n_looked;
	const struct fm_local_search_rule *how;
	bool as_before; /* routes are moved to where they were in how->prev_lft alone */
};

/* Where routes of a column are moved, and what the fullest of the new links bears then. */
struct move {
	fm_sw at;
	uint8_t step;
	uint64_t most;
};

static inline fm_link
link_of(const struct local_search *e, uint32_t c, fm_sw s)
{
	uint8_t step = e->step[(size_t)c * e->fab->n_switches + s];

	return step == FM_STEP_NONE ? FM_NONE : e->first[s] + step;
}

/* The old path from a switch; does it go over the full link? */
static bool
mark_path(struct local_search *e, uint32_t c, fm_sw from, fm_link full)
{
	bool met = false;
	fm_link l;

	e->path += 2;
	for (fm_sw s = from; (l = link_of(e, c, s)) != FM_NONE; s = e->to[l]) {
		e->mark[s] = e->path + met;
		met |= l == full;
		e->n_looked++;
	}
	e->mark[e->root[c]] = e->path + met;
	return met;
}

/* The fullest link of the new path, once n more routes take it; or UINT64_MAX. */
static uint64_t
look_along(struct local_search *e, uint32_t c, fm_link l, uint32_t n, uint64_t bound)
{
	uint64_t most = 0;
	fm_sw s;

	for (;; l = link_of(e, c, s)) {
		if (l == FM_NONE || e->load[l] + n >= bound)
			return UINT64_MAX;
		most = e->load[l] + n > most ? e->load[l] + n : most;
		e->n_looked++;
		s = e->to[l];
		if (e->mark[s] >= e->path)
			return e->mark[s] > e->path ? most : UINT64_MAX;
	}
}

static bool
comes_down(const struct local_search *e, uint32_t c, fm_sw s)
{
	for (fm_link l = e->first[s]; l < e->first[s + 1]; l++)
		if (fm_bit_test(e->up, l) && link_of(e, c, e->to[l]) == e->fab->link_rev[l])
			return true;
	return false;
}

/* Is the path up and then down with the link from s instead of what s takes now? */
static bool
is_legal(const struct local_search *e, uint32_t c, fm_sw s, fm_link l)
{
	fm_link after = link_of(e, c, e->to[l]);

	if (fm_bit_test(e->up, l))
		return after != FM_NONE && !comes_down(e, c, s);
	return e->to[l] == e->root[c] || (after != FM_NONE && !fm_bit_test(e->up, after));
}

/* Of the path to the root that begins with this link. */
static uint32_t
count_hops(struct local_search *e, uint32_t c, fm_link l)
{
	uint32_t n = 0;

	for (; l != FM_NONE; l = link_of(e, c, e->to[l]))
		n++;
	e->n_looked += n;
	return n;
}

static inline bool
is_right(const struct local_search *e, uint32_t c, fm_sw s, fm_link l)
{
	if (e->how->admission != NULL)
		return true;
	if (e->right == NULL)
		return is_legal(e, c, s, l);
	return fm_bit_test(e->right + (size_t)e->root[c] * FM_BITSET_WORDS(e->fab->n_links), l);
}

/* Into .behind, a switch and those whose paths to the root come by it, until so many routes are
 * found; how many. */
static uint32_t
list_behind(struct local_search *e, uint32_t c, fm_sw from, uint32_t n_routes)
{
	uint32_t n = 0;

	e->behind[n++] = from;
	for (uint32_t i = 0; i < n; i++) {
		fm_sw v = e->behind[i];

		n_routes -= e->n_hosts[v];
		for (fm_link l = e->first[v]; n_routes > 0 && l < e->first[v + 1]; l++)
			if (link_of(e, c, e->to[l]) == e->fab->link_rev[l])
				e->behind[n++] = e->to[l];
		e->n_looked += e->first[v + 1] - e->first[v];
	}
	return n;
}

/* Asks for the path from a switch behind s if s takes the link. */
static bool
admits_path(struct local_search *e, uint32_t c, fm_sw source, fm_sw s, fm_link by)
{
	const struct fm_admission *a = e->how->admission;
	uint32_t n = 0;
	fm_link l;

	for (fm_sw v = source; (l = v == s ? by : link_of(e, c, v)) != FM_NONE; v = e->to[l])
		e->route[n++] = l;
	e->n_looked += n;
	return a->admit(a->arg, source, e->root[c], e->route, n);
}

/* May s take a right link, and (take) it is so from now on?  Anything goes without admission. */
static bool
is_admitted(struct local_search *e, uint32_t c, fm_sw s, fm_link l, bool take)
{
	const struct fm_admission *a = e->how->admission;
	bool ok = true;
	uint32_t n;

	if (a == NULL)
		return true;
	if (count_hops(e, c, l) > count_hops(e, c, link_of(e, c, s)))
		return false;
	n = list_behind(e, c, s, UINT32_MAX);
	e->n_looked += ASKED;
	a->begin(a->arg);
	for (uint32_t i = 0; ok && i < n; i++)
		ok = admits_path(e, c, e->behind[i], s, l);
	if (!ok || !take)
		a->undo(a->arg);
	return ok;
}

/* The best of the other right links from s. */
static void
look_at(struct local_search *e, uint32_t c, fm_sw s, struct move *best)
{
	uint32_t n = e->passing[(size_t)c * e->fab->n_switches + s];
	fm_link now = link_of(e, c, s);

	for (fm_link l = e->first[s]; l < e->first[s + 1]; l++) {
		uint64_t most;

		if (l == now || e->load[l] + n >= best->most || !is_right(e, c, s, l) ||
		    (e->as_before && e->how->prev_lft[s][e->lid[c]] != e->fab->link_port[l]))
			continue;
		most = look_along(e, c, l, n, best->most);
		if (most < best->most && is_admitted(e, c, s, l, false))
			*best = (struct move){ s, (uint8_t)(l - e->first[s]), most };
	}
}

static bool
has_choice(const struct local_search *e, uint32_t c, fm_sw s)
{
	uint32_t n = 0;

	for (fm_link l = e->first[s]; e->right != NULL && l < e->first[s + 1] && n < 2; l++)
		n += is_right(e, c, s, l);
	return e->right == NULL || n >= 2;
}

/* n routes more, or less, behind s. */
static void
carry(struct local_search *e, uint32_t c, fm_sw s, uint64_t n)
{
	fm_link l;

	while ((l = link_of(e, c, s)) != FM_NONE) {
		e->load[l] += n;
		s = e->to[l];
		e->passing[(size_t)c * e->fab->n_switches + s] += (uint32_t)n;
	}
}

static bool
make_move(struct local_search *e, uint32_t c, const struct move *m)
{
	size_t i = (size_t)c * e->fab->n_switches + m->at;
	uint64_t n = e->passing[i];

	if (!is_admitted(e, c, m->at, e->first[m->at] + m->step, true))
		return false;
	carry(e, c, m->at, -n);
	e->step[i] = m->step;
	carry(e, c, m->at, n);
	return true;
}

/* Into .is_behind, all from which what comes by a switch on its way to the root does. */
static void
find_behind(struct local_search *e, uint32_t c, fm_sw from)
{
	uint32_t n = list_behind(e, c, from, e->passing[(size_t)c * e->fab->n_switches + from]);

	e->column++;
	e->least = e->most = from;
	for (uint32_t i = 0; i < n; i++) {
		fm_sw v = e->behind[i];

		e->is_behind[v] = e->column;
		e->least = v < e->least ? v : e->least;
		e->most = v > e->most ? v : e->most;
	}
}

/*
 * Each switch whose routes of a column come over the full link moves them, until the
 * link bears no more than it should.  gently: only where the links gone to do not end up
 * with more than the full one.
 */
static bool
empty_of_column(
    struct local_search *e, uint32_t c, fm_sw from, fm_link full, uint64_t enough, bool gently)
{
	bool moved = false;

	find_behind(e, c, from);
	for (fm_sw s = e->least; s <= e->most && e->load[full] > enough; s++) {
		uint32_t n = e->passing[(size_t)c * e->fab->n_switches + s];
		struct move best = { FM_NONE, 0, e->load[full] };

		if (n == 0 || e->is_behind[s] != e->column || !has_choice(e, c, s))
			continue;
		if (gently)
			best.most -= n - 1;
		if (mark_path(e, c, s, full))
			look_at(e, c, s, &best);
		if (best.at != FM_NONE)
			moved |= make_move(e, c, &best);
	}
	return moved;
}

static bool
empty_link(struct local_search *e, fm_sw from, fm_link full, uint64_t enough)
{
	bool moved = false;

	for (unsigned pass = e->how->prev_lft != NULL ? 0 : 2; pass < 4 && !moved; pass++) {
		e->as_before = pass < 2;
		for (uint32_t c = 0; c < e->n_columns && e->load[full] > enough; c++)
			if (link_of(e, c, from) == full)
				moved |= empty_of_column(e, c, from, full, enough, pass % 2 == 0);
	}
	return moved;
}

struct fullest {
	fm_sw from;
	fm_link link;
	uint64_t most;
	double mean;
};

static struct fullest
find_fullest(struct local_search *e)
{
	struct fullest f = { 0 };
	uint64_t sum = 0;

	for (fm_sw s = 0; s < e->fab->n_switches; s++)
		for (fm_link l = e->first[s]; l < e->first[s + 1]; l++) {
			sum += e->load[l];
			if (e->load[l] > f.most)
				f = (struct fullest){ .from = s, .link = l, .most = e->load[l] };
		}
	f.mean = e->fab->n_links > 0 ? (double)sum / e->fab->n_links : 0;
	e->n_looked += e->fab->n_links / 8;
	return f;
}

static bool
is_enough(const struct local_search *e, const struct fullest *f)
{
	return (double)f->most <= (e->how->enough > 0 ? e->how->enough : ENOUGH) * f->mean;
}

/* Half of what it bears more than the mean has to go, so that a link is seldom met twice. */
static uint64_t
make_even(struct local_search *e)
{
	struct fullest f;

	do
		f = find_fullest(e);
	while (!e->host->should_stop(e->host) && !is_enough(e, &f) && e->n_looked < BUDGET &&
	    empty_link(e, f.from, f.link, (uint64_t)((double)f.most + f.mean) / 2));
	return f.most;
}

/* ------------------------------------------------------------------- tables */

static int
take_memory(struct local_search *e, struct fm_error *err)
{
	const struct fm_host *host = e->host;
	size_t n = e->fab->n_switches;

	e->root = fm_scratch_array(host, e->n_columns, fm_sw);
	e->step = fm_scratch_array(host, e->n_columns * n, uint8_t);
	e->passing = fm_scratch_array(host, e->n_columns * n, uint32_t);
	e->load = fm_scratch_array(host, e->fab->n_links, uint64_t);
	e->mark = fm_scratch_array(host, n, uint32_t);
	e->behind = fm_scratch_array(host, n, fm_sw);
	e->route = fm_scratch_array(host, n, fm_link);
	e->is_behind = fm_scratch_array(host, n, uint32_t);
	e->n_hosts = fm_scratch_array(host, n, uint32_t);
	if (e->root == NULL || e->step == NULL || e->passing == NULL || e->load == NULL ||
	    e->mark == NULL || e->behind == NULL || e->route == NULL || e->is_behind == NULL ||
	    e->n_hosts == NULL)
		return fm_no_scratch(host, "routes to be evened", err);
	for (fm_end end = 0; end < e->fab->n_ends; end++)
		if (fm_is_host(e->fab, end) && e->fab->end_sw[end] != FM_NONE)
			e->n_hosts[e->fab->end_sw[end]]++;
	return 0;
}

static void
note_right(struct local_search *e, const struct fm_steps *steps, uint64_t *right, bool first)
{
	const struct fm_arcs *arcs = steps->arcs;

	for (fm_sw s = 0; s < e->fab->n_switches; s++)
		for (fm_arc a = arcs->first[s]; a < arcs->first[s + 1]; a++) {
			bool is = s != steps->root && fm_is_step(steps, s, a);

			for (fm_link l = arcs->link[a]; is == first && l < arcs->link[a + 1]; l++)
				if (first)
					fm_bit_set(right, l);
				else
					fm_bit_clear(right, l);
		}
}

/* All right next steps to switches with hosts; but the first time, those that are not
 * are taken out. */
static int
find_right(const struct fm_host *host, struct local_search *e, const struct fm_arcs *arcs,
    struct fm_rule rule, bool first, struct fm_error *err)
{
	size_t words = FM_BITSET_WORDS(e->fab->n_links);
	struct fm_steps steps;
	int rc = fm_steps_init(host, e->fab, arcs, rule, &steps, err);

	if (first)
		e->right = fm_scratch_array(host, e->fab->n_switches * words, uint64_t);
	if (rc == 0 && e->right == NULL)
		return fm_no_scratch(host, "routes to be evened", err);
	for (fm_sw root = 0; rc == 0 && root < e->fab->n_switches; root++) {
		if (e->n_hosts[root] == 0)
			continue;
		fm_steps_find(&steps, root);
		note_right(e, &steps, e->right + root * words, first);
	}
	return rc;
}

static int
find_up(const struct fm_host *host, struct local_search *e, const struct fm_arcs *arcs,
    const uint8_t *way, struct fm_error *err)
{
	e->up = fm_scratch_array(host, FM_BITSET_WORDS(e->fab->n_links), uint64_t);
	if (e->up == NULL)
		return fm_no_scratch(host, "routes to be evened", err);
	for (fm_arc a = 0; a < arcs->n_arcs; a++)
		for (fm_link l = arcs->link[a]; (way[a] & FM_ARC_UP) && l < arcs->link[a + 1]; l++)
			fm_bit_set(e->up, l);
	return 0;
}

static int
find_choices(const struct fm_host *host, struct local_search *e, const struct fm_arcs *arcs,
    const struct fm_local_search_rule *how, struct fm_error *err)
{
	int rc;

	if (how->admission != NULL)
		return 0;
	if (how->way != NULL)
		return find_up(host, e, arcs, how->way, err);
	rc = find_right(host, e, arcs, how->rule, true, err);
	if (rc == 0 && how->also != NULL)
		rc = find_right(host, e, arcs, (struct fm_rule){ .order = how->also }, false, err);
	return rc;
}

/* A column for each LID of a host, switch by switch: LIDs may be anything. */
static int
list_columns(const struct fm_host *host, struct local_search *e, struct fm_error *err)
{
	const struct fm_fabric *fab = e->fab;

	e->lid = fm_scratch_array(host, (size_t)fab->max_lid + 1, uint16_t);
	if (e->lid == NULL)
		return fm_no_scratch(host, "routes to be evened", err);
	for (fm_end end = 0; end < fab->sw_first_end[fab->n_switches]; end++)
		for (uint32_t i = 0;
		     fm_is_host(fab, end) && fab->end_lid[end] != 0 && i < 1u << fab->end_lmc[end];
		     i++)
			e->lid[e->n_columns++] = (uint16_t)(fab->end_lid[end] + i);
	return 0;
}

static void
read_column(
    struct local_search *e, uint32_t c, const uint8_t *const *port_step, uint8_t *const *lft)
{
	size_t n = e->fab->n_switches;

	e->root[c] = e->fab->end_sw[e->fab->lid_end[e->lid[c]]];
	for (fm_sw s = 0; s < n; s++)
		e->step[c * n + s] =
		    s == e->root[c] ? FM_STEP_NONE : port_step[s][lft[s][e->lid[c]]];
}

static void
count_routes(struct local_search *e)
{
	size_t n = e->fab->n_switches;

	for (uint32_t c = 0; c < e->n_columns; c++)
		for (fm_sw s = 0; s < n; s++) {
			e->passing[c * n + s] += e->n_hosts[s];
			carry(e, c, s, e->n_hosts[s]);
		}
}

static int
read_tables(const struct fm_host *host, struct local_search *e, const struct fm_tables *out,
    struct fm_error *err)
{
	const struct fm_fabric *fab = e->fab;
	size_t n = fab->n_switches;
	uint8_t *steps = fm_scratch_array(host, n * 256, uint8_t);
	const uint8_t **port_step = fm_scratch_array(host, n, const uint8_t *);

	if (steps == NULL || port_step == NULL)
		return fm_no_scratch(host, "routes to be evened", err);
	memset(steps, FM_STEP_NONE, n * 256);
	for (fm_sw s = 0; s < n; s++) {
		port_step[s] = steps + s * 256;
		for (fm_link l = e->first[s]; l < e->first[s + 1]; l++)
			steps[s * 256 + fab->link_port[l]] = (uint8_t)(l - e->first[s]);
	}
	for (uint32_t c = 0; c < e->n_columns; c++)
		read_column(e, c, port_step, out->lft);
	count_routes(e);
	return 0;
}

static void
write_tables(const struct local_search *e, const struct fm_tables *out)
{
	for (uint32_t c = 0; c < e->n_columns; c++)
		for (fm_sw s = 0; s < e->fab->n_switches; s++) {
			fm_link l = link_of(e, c, s);

			if (l != FM_NONE)
				out->lft[s][e->lid[c]] = e->fab->link_port[l];
		}
}

static void
add_up(const struct local_search *e)
{
	struct fm_load_sums s = { 0 };

	for (fm_link l = 0; l < e->fab->n_links; l++) {
		s.sum += (double)e->load[l];
		s.squares += (double)e->load[l] * (double)e->load[l];
	}
	if (e->how->sums != NULL)
		*e->how->sums = s;
	if (e->how->load != NULL)
		memcpy(e->how->load, e->load, e->fab->n_links * sizeof(*e->load));
}

int
fm_local_search(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_arcs *arcs,
    const struct fm_local_search_rule *how, const struct fm_tables *out, uint64_t *most,
    struct fm_error *err)
{
	struct local_search e = { .host = host,
		.fab = fab,
		.first = fab->sw_first_link,
		.to = fab->link_to,
		.how = how };
	struct fullest fullest;
	int rc;

	if ((rc = list_columns(host, &e, err)) != 0 || (rc = take_memory(&e, err)) != 0 ||
	    (rc = read_tables(host, &e, out, err)) != 0)
		return rc;
	fullest = find_fullest(&e);
	*most = fullest.most;
	e.n_looked = 0;
	add_up(&e);
	if (is_enough(&e, &fullest))
		return 0;
	if ((rc = find_choices(host, &e, arcs, how, err)) != 0)
		return rc;
	*most = make_even(&e);
	if (how->moved != NULL)
		*how->moved |= *most < fullest.most;
	add_up(&e);
	write_tables(&e, out);
	if (host->should_stop(host))
		return host->fail(host, err, FM_E_CANCELLED, "stopped while links were emptied");
	return 0;
}
