/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Alternates that go round, on whole dragonflies with one cable between two groups.
 *
 * There a minimal route is the only one, and all LIDs of an end would go by it.  In the trees of
 * alternates switches go round, mostly a hop farther:
 *
 *	by a third group	a switch that is no gateway takes a cable of its own to a switch
 *				that goes straight: global, local, global, local
 *	by a neighbour		in the destination's group, to the last LID of an end: local,
 *				local in place of the last hop, wherever the packet comes from
 *
 * Who goes round by a third group is dealt switch by switch in an order of chance with a fixed
 * seed, first those that no LID of the end has led another way so far, and to the last LID two
 * hops farther where it must be.  The base LID goes as without alternates (rows.c), and so does an
 * alternate from where it goes straight.
 *
 * The ports in and out give VLs as ever, under the one SL, and groups are counted:
 *
 *	from where it begins, and to another group	VL 0
 *	into a group from one before it			VL 1
 *	into a group from one behind it			VL 2
 *	local after local				VL 3
 *
 *	channels in the order in which any route takes them
 *	local VL 0
 *	< group by group, rising:  local VL 1 < global VL 0 to groups behind it
 *	< group by group, falling: local VL 2 < global VL 0 to groups before it
 *	< local VL 3
 *
 * A route from i by m to j would leave that order only where i > m < j, which is not taken.
 * O(cables between groups) an alternate, groups in parallel.
 */
#include <string.h>

#include "lib/hash.h"
#include "plugins/engines/dragonfly/dragonfly.h"

enum role { IS_FREE, GOES_STRAIGHT, GOES_ROUND };

/* A cable by which its switch may go round to the group in hand. */
struct way {
	fm_link cable;
	fm_sw landing;
	uint32_t group; /* of landing */
	uint32_t hops;	/* to where the only cable from there to the group in hand lands */
};

/* What a worker needs. */
struct dealer {
	const struct df *df;
	/* of the destinations' group in hand */
	fm_link *only;	 /* [n_groups] the cable from there, if there is one; else FM_NONE */
	uint32_t *first; /* [n_switches + 1] */
	struct way *way; /* [first[u] .. first[u + 1]) those of u; room for n_links */
	/* of the end in hand */
	uint8_t *led; /* [n_switches] to some LID so far by another way than to the base LID */
	/* of the tree in hand */
	fm_sw dest, by; /* by: the neighbour, or dest: none */
	uint32_t turn, chance;
	uint8_t *role;	/* [n_switches] enum role */
	fm_link *cable; /* [n_switches] where it goes round */
	uint32_t *last; /* [n_groups] hops from where the only cable lands */
};

struct round {
	struct df *df;
	fm_sw *dealt; /* [n_switches] all, by chance */
	void **worker;
};

/* ------------------------------------------------------------------- shape */

static bool
has_single_pair(const struct df *df)
{
	for (uint32_t i = 0; i < df->n_groups; i++)
		for (uint32_t j = 0; j < df->n_groups; j++)
			if (i != j && df_is_single(df, df_pair(df, i, j)))
				return true;
	return false;
}

static bool
may_go_round(const struct df *df, uint8_t n_vls)
{
	fm_link least;

	if (!fm_has_lmc(df->fab) || df->any_column || df_is_damaged(df) ||
	    df_vls_of_links(df->fab, n_vls, &least) < DF_ROUND_VLS)
		return false;
	return has_single_pair(df);
}

/* ------------------------------------------------------------------- group */

static fm_sw
gateway_of(const struct df *df, fm_link cable)
{
	return df->fab->link_to[df->fab->link_rev[cable]];
}

/* Ways of u to the group j, by no third group that is before both. */
static uint32_t
list_ways(const struct dealer *d, fm_sw u, uint32_t j, struct way *way)
{
	const struct fm_fabric *fab = d->df->fab;
	uint32_t n = 0, i = d->df->group[u];

	if (d->only[i] == FM_NONE || gateway_of(d->df, d->only[i]) == u)
		return 0;
	for (fm_link l = fab->sw_first_link[u]; l < fab->sw_first_link[u + 1]; l++) {
		fm_sw landing = fab->link_to[l];
		uint32_t m = d->df->group[landing];

		if (m != i && d->only[m] != FM_NONE && (m > i || m > j))
			way[n++] = (struct way){ l, landing, m,
				2 + (landing != gateway_of(d->df, d->only[m])) };
	}
	return n;
}

static void
begin_group(struct dealer *d, uint32_t j)
{
	const struct df *df = d->df;

	for (uint32_t i = 0; i < df->n_groups; i++) {
		size_t pair = df_pair(df, i, j);

		d->only[i] =
		    i != j && df_is_single(df, pair) ? df->cable[df->cable_first[pair]] : FM_NONE;
	}
	d->first[0] = 0;
	for (fm_sw u = 0; u < df->arcs.n_switches; u++)
		d->first[u + 1] = d->first[u] + list_ways(d, u, j, d->way + d->first[u]);
}

/* -------------------------------------------------------------------- tree */

static void
begin_tree(struct dealer *d)
{
	const struct df *df = d->df;

	d->chance = (uint32_t)fm_mix64(d->turn);
	memset(d->role, IS_FREE, df->arcs.n_switches);
	for (uint32_t i = 0; i < df->n_groups; i++) {
		fm_sw landing;

		if (d->only[i] == FM_NONE)
			continue;
		landing = df->fab->link_to[d->only[i]];
		d->role[gateway_of(df, d->only[i])] = GOES_STRAIGHT;
		if (landing == d->dest)
			d->last[i] = 0;
		else
			d->last[i] = d->by == d->dest || landing == d->by ? 1 : 2;
	}
}

/* The way of u with the least hops, `most` at most, to where others land if there are two. */
static const struct way *
find_way(const struct dealer *d, fm_sw u, uint32_t most)
{
	const struct way *way = d->way + d->first[u], *best = NULL;
	uint32_t n = d->first[u + 1] - d->first[u], least = 2 * most + 2;
	uint32_t k = (uint32_t)((uint64_t)d->chance * n >> 32);

	for (uint32_t left = n; left > 0; left--) {
		const struct way *w = &way[k];
		uint8_t role = d->role[w->landing];
		uint32_t cost = 2 * (w->hops + d->last[w->group]) + (role == IS_FREE);

		k = k + 1 < n ? k + 1 : 0;
		if (role == GOES_ROUND || cost >= least)
			continue;
		least = cost;
		best = w;
	}
	return best;
}

/* All that may go round, or those without another way so far, `farther` than the base LID. */
static void
deal(const struct round *r, struct dealer *d, bool wanting, uint32_t farther)
{
	const struct df *df = d->df;
	uint32_t n = df->arcs.n_switches, k = d->turn % n;

	for (uint32_t left = n; left > 0; left--) {
		fm_sw u = r->dealt[k];
		uint32_t i = df->group[u];
		const struct way *w;

		k = k + 1 < n ? k + 1 : 0;
		if (d->first[u] == d->first[u + 1] || d->role[u] != IS_FREE ||
		    (wanting && (d->led[u] || d->last[i] == 2)))
			continue;
		w = find_way(d, u, 2 + (df->fab->link_to[d->only[i]] != d->dest) + farther);
		if (w == NULL)
			continue;
		d->role[u] = GOES_ROUND;
		d->role[w->landing] = GOES_STRAIGHT;
		d->cable[u] = w->cable;
		d->led[u] = 1;
	}
}

/* The neighbour by which the destination's group goes to an end, others take turns. */
static fm_sw
find_neighbour(const struct df *df, fm_sw dest, uint32_t turn)
{
	uint32_t g = df->group[dest], n = df_size(df, g), k;

	if (n < 3)
		return dest;
	k = turn % (n - 1);
	k += k >= df->index[dest];
	return df->member[df->first[g] + k];
}

static void
write_tree(const struct dealer *d, uint16_t lid)
{
	const struct df *df = d->df;
	uint8_t *const *lft = df->out->lft;
	uint32_t g = df->group[d->dest];

	for (fm_sw u = 0; u < df->arcs.n_switches; u++)
		if (d->role[u] == GOES_ROUND)
			lft[u][lid] = df->fab->link_port[d->cable[u]];
	for (uint32_t m = df->first[g]; d->by != d->dest && m < df->first[g + 1]; m++) {
		fm_sw u = df->member[m];

		if (u != d->dest && u != d->by)
			lft[u][lid] =
			    df->fab->link_port[df->arcs.link[df->direct[df_local(df, u, d->by)]]];
	}
}

static void
lead_end(const struct round *r, struct dealer *d, fm_end e)
{
	const struct fm_fabric *fab = d->df->fab;
	uint32_t n_beside = (1u << fab->end_lmc[e]) - 1;

	memset(d->led, 0, fab->n_switches);
	for (uint32_t k = 1; k <= n_beside; k++) {
		d->turn = e + k;
		d->by = k == n_beside ? find_neighbour(d->df, d->dest, d->turn) : d->dest;
		begin_tree(d);
		deal(r, d, true, 1);
		if (k == n_beside)
			deal(r, d, true, 2);
		deal(r, d, false, 1);
		write_tree(d, (uint16_t)(fab->end_lid[e] + k));
	}
}

static struct dealer *
dealer_of(const struct round *r, unsigned worker)
{
	const struct fm_host *host = r->df->host;
	size_t n = r->df->arcs.n_switches;
	struct dealer *d = r->worker[worker];

	if (d != NULL)
		return d;
	d = host->scratch_worker(host, worker, sizeof(*d));
	if (d == NULL)
		return NULL;
	d->df = r->df;
	d->only = host->scratch_worker(host, worker, r->df->n_groups * sizeof(*d->only));
	d->last = host->scratch_worker(host, worker, r->df->n_groups * sizeof(*d->last));
	d->first = host->scratch_worker(host, worker, (n + 1) * sizeof(*d->first));
	d->way = host->scratch_worker(host, worker, r->df->fab->n_links * sizeof(*d->way));
	d->led = host->scratch_worker(host, worker, n);
	d->role = host->scratch_worker(host, worker, n);
	d->cable = host->scratch_worker(host, worker, n * sizeof(*d->cable));
	if (d->only == NULL || d->last == NULL || d->first == NULL || d->way == NULL ||
	    d->led == NULL || d->role == NULL || d->cable == NULL)
		return NULL;
	return r->worker[worker] = d;
}

static void
lead_group(void *arg, uint32_t j, unsigned worker)
{
	const struct round *r = arg;
	const struct df *df = r->df;
	const struct fm_fabric *fab = df->fab;
	struct dealer *d = dealer_of(r, worker);

	if (d == NULL) {
		atomic_store(&r->df->no_memory, true);
		return;
	}
	begin_group(d, j);
	for (uint32_t m = df->first[j]; m < df->first[j + 1]; m++) {
		d->dest = df->member[m];
		for (fm_end e = fab->sw_first_end[d->dest]; e < fab->sw_first_end[d->dest + 1]; e++)
			if (fab->end_lid[e] != 0 && !df->host->should_stop(df->host))
				lead_end(r, d, e);
	}
}

int
df_lead_round(struct df *df, uint8_t n_vls, struct fm_error *err)
{
	uint32_t n = df->arcs.n_switches;
	struct round r = { .df = df };

	if (!may_go_round(df, n_vls))
		return 0;
	r.dealt = fm_scratch_array(df->host, n, fm_sw);
	r.worker = fm_scratch_array(df->host, df->host->n_workers(df->host), void *);
	if (r.dealt == NULL || r.worker == NULL)
		return fm_no_scratch(df->host, "alternates", err);
	for (fm_sw s = 0; s < n; s++) { /* Fisher and Yates */
		fm_sw other = (fm_sw)(fm_mix64(s) % (s + 1));

		r.dealt[s] = r.dealt[other];
		r.dealt[other] = s;
	}
	df->goes_round = true;
	df->host->parallel_for(df->host, df->n_groups, lead_group, &r);
	if (atomic_load(&df->no_memory))
		return fm_no_scratch(df->host, "alternates", err);
	if (df->host->should_stop(df->host))
		return df->host->fail(
		    df->host, err, FM_E_CANCELLED, "stopped while alternates were led round");
	return 0;
}

/* --------------------------------------------------------------------- VLs */

uint8_t
df_round_vl(const struct df *df, fm_sw s, fm_sw from, fm_sw to)
{
	uint32_t i = df->group[from], m = df->group[s];

	if (df->group[to] != m)
		return 0;
	if (i == m)
		return 3;
	return i < m ? 1 : 2;
}
