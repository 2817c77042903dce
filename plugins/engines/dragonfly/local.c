/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Next steps within a group.
 *
 * Direct where there is an arc.  Else by least hops; of two hops one is along
 * a row and one along a column: on the way to a gateway the row comes first,
 * on the way to a destination the column, so that the (in, out) ports of a
 * switch tell which of the two a packet is about (dragonfly.c).
 *
 * Round a lost cable x - y of a group without columns there are two detours, by
 * one switch on the way to y as a gateway and by another to y as a destination:
 * then the ports tell again.  Each is taken only if the turns of all detours of its
 * kind stay acyclic.  What does not fit so is marked.
 * O(sum over groups of size^2 * local degree); O(size^2) for a complete group.
 */
#include <string.h>

#include "lib/algo/acyclic.h"
#include "plugins/engines/dragonfly/dragonfly.h"

struct walker {
	struct df *df;
	uint32_t *hops;			/* [n_switches] to the target in hand */
	fm_sw *queue;			/* [n_switches] */
	struct fm_acyclic *away, *home; /* turns of detours; over arcs */
	bool no_memory;
};

static int
take_memory(struct df *df, struct walker *w, struct fm_error *err)
{
	size_t n = 0;

	df->local_at = fm_scratch_array(df->host, df->arcs.n_switches, size_t);
	if (df->local_at == NULL)
		return fm_no_scratch(df->host, "steps within groups", err);
	for (fm_sw u = 0; u < df->arcs.n_switches; u++) {
		df->local_at[u] = n;
		n += df_size(df, df->group[u]);
	}
	df->direct = fm_scratch_array(df->host, n, fm_arc);
	df->away = fm_scratch_array(df->host, n, fm_arc);
	df->home = fm_scratch_array(df->host, n, fm_arc);
	df->away_misfits = fm_scratch_array(df->host, n, uint8_t);
	df->home_misfits = fm_scratch_array(df->host, n, uint8_t);
	df->group_misfits = fm_scratch_array(df->host, df->n_groups, bool);
	df->group_detours = fm_scratch_array(df->host, df->n_groups, bool);
	w->hops = fm_scratch_array(df->host, df->arcs.n_switches, uint32_t);
	w->queue = fm_scratch_array(df->host, df->arcs.n_switches, fm_sw);
	if (!df->direct || !df->away || !df->home || !df->away_misfits || !df->home_misfits ||
	    !df->group_misfits || !df->group_detours || !w->hops || !w->queue)
		return fm_no_scratch(df->host, "steps within groups", err);
	memset(df->direct, 0xff, n * sizeof(*df->direct));
	return 0;
}

/* Of the steps from x towards y by least hops: the one whose second hop is direct
 * and that goes by `first` before the other kind; else any.  True if it fits. */
static bool
choose_step(const struct walker *w, fm_sw x, fm_sw y, enum df_kind first, fm_arc *step)
{
	const struct df *df = w->df;
	uint32_t n = 0, at;

	DF_EACH_ARC(df, a, x)
	{
		fm_sw v = df->arcs.to[a];

		if (df->kind[a] == DF_GLOBAL || w->hops[v] + 1 != w->hops[x])
			continue;
		if (w->hops[v] == 1 && df->kind[a] == first &&
		    df->kind[df->direct[df_local(df, v, y)]] != first) {
			*step = a;
			return true;
		}
		n++;
	}
	at = (df->index[x] + df->index[y]) % n; /* several detours take turns */
	DF_EACH_ARC(df, a, x)
	{
		if (df->kind[a] == DF_GLOBAL || w->hops[df->arcs.to[a]] + 1 != w->hops[x])
			continue;
		if (at-- == 0)
			*step = a;
	}
	return false;
}

/* A step round the lost cable x - y, not by `avoid`, whose turn closes no cycle.
 * FM_NONE: there is none. */
static fm_arc
find_detour(struct walker *w, fm_sw x, fm_sw y, fm_sw avoid, struct fm_acyclic *turns)
{
	const struct df *df = w->df;
	uint32_t degree = df->arcs.first[x + 1] - df->arcs.first[x];

	for (uint32_t i = 0; i < degree; i++) {
		fm_arc a = df->arcs.first[x] + (df->index[x] + df->index[y] + i) % degree;
		fm_sw v = df->arcs.to[a];
		enum fm_acyclic_result r;

		if (df->kind[a] == DF_GLOBAL || w->hops[v] != 1 || v == avoid)
			continue;
		r = fm_acyclic_insert(turns, a, df->direct[df_local(df, v, y)]);
		w->no_memory |= r == FM_ACYCLIC_NOMEM;
		if (r == FM_ACYCLIC_ADDED || r == FM_ACYCLIC_HELD)
			return a;
	}
	return FM_NONE;
}

static void
go_round(struct walker *w, fm_sw x, fm_sw y)
{
	struct df *df = w->df;
	size_t at = df_local(df, x, y);
	fm_arc away = find_detour(w, x, y, FM_NONE, w->away), home;

	home = find_detour(w, x, y, away != FM_NONE ? df->arcs.to[away] : FM_NONE, w->home);
	if (away != FM_NONE)
		df->away[at] = away;
	if (home != FM_NONE)
		df->home[at] = home;
	df->away_misfits[at] = away == FM_NONE;
	df->home_misfits[at] = home == FM_NONE || home == df->away[at];
	df->group_detours[df->group[x]] = true;
}

/* All members' steps towards y, breadth first. */
static void
route_to(struct walker *w, fm_sw y)
{
	struct df *df = w->df;
	uint32_t g = df->group[y], head = 0, tail = 0;

	for (uint32_t i = df->first[g]; i < df->first[g + 1]; i++)
		w->hops[df->member[i]] = FM_NONE - 1;
	w->hops[y] = 0;
	w->queue[tail++] = y;
	while (head < tail) {
		fm_sw x = w->queue[head++];
		size_t at = df_local(df, x, y);

		if (w->hops[x] == 1) {
			df->away[at] = df->home[at] = df->direct[at];
		} else if (w->hops[x] > 1) {
			df->away_misfits[at] = !choose_step(w, x, y, DF_ROW, &df->away[at]);
			df->home_misfits[at] = !choose_step(w, x, y, DF_COLUMN, &df->home[at]);
			if (w->hops[x] == 2 && !df->any_column)
				go_round(w, x, y);
			df->group_misfits[g] |= df->away_misfits[at] || df->home_misfits[at];
		}
		DF_EACH_ARC(df, a, x)
		{
			fm_sw v = df->arcs.to[a];

			if (df->kind[a] == DF_GLOBAL || w->hops[v] != FM_NONE - 1)
				continue;
			w->hops[v] = w->hops[x] + 1;
			w->queue[tail++] = v;
		}
	}
}

static void
route_groups(struct walker *w)
{
	struct df *df = w->df;

	for (uint32_t g = 0; g < df->n_groups; g++) {
		uint64_t n = 0, size = df_size(df, g);

		for (uint32_t i = df->first[g]; i < df->first[g + 1]; i++)
			DF_EACH_ARC(df, a, df->member[i])
		n += df->kind[a] != DF_GLOBAL;
		for (uint32_t i = df->first[g]; n < size * (size - 1) && i < df->first[g + 1]; i++)
			route_to(w, df->member[i]);
	}
}

int
df_route_locally(struct df *df, struct fm_error *err)
{
	struct walker w = { .df = df };
	int rc = take_memory(df, &w, err);

	if (rc != 0)
		return rc;
	for (fm_sw u = 0; u < df->arcs.n_switches; u++)
		DF_EACH_ARC(df, a, u)
	if (df->kind[a] != DF_GLOBAL) {
		size_t at = df_local(df, u, df->arcs.to[a]);

		df->direct[at] = df->away[at] = df->home[at] = a;
	}
	w.away = fm_acyclic_new(df->arcs.n_arcs, NULL);
	w.home = fm_acyclic_new(df->arcs.n_arcs, NULL);
	if (w.away != NULL && w.home != NULL)
		route_groups(&w);
	w.no_memory |= w.away == NULL || w.home == NULL;
	fm_acyclic_free(w.away);
	fm_acyclic_free(w.home);
	return w.no_memory ? fm_no_scratch(df->host, "detours within groups", err) : 0;
}
