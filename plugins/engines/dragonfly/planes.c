/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SLs and VLs.
 *
 * SL 0 has the pattern of dragonfly.c on VLs 0 and 1, or that of round.c.  Pairs of switches with a
 * route that may leave it, one way or the other, get an SL of their own, both
 * ways the same, and with it one VL from end to end, a *plane*: the first from
 * VL 2 up whose channel dependencies stay acyclic with all routes between the
 * two switches (Pearce and Kelly; lib/algo/acyclic.h).  Planes share no channel with
 * one another nor with the pattern, so each is judged by itself.
 * O(pairs that misfit * LIDs of a switch * hops) look-ups.
 */
#include <string.h>

#include "lib/bitset.h"
#include "plugins/engines/dragonfly/planes.h"

#define MAX_HOPS 64u
#define LEAST_ROOM 65536u /* dependencies of what is placed at once */
#define N_SLS 16u
#define LARGEST_SHARE 0.8 /* of all pairs that may misfit */

/* ----------------------------------------------------------------- misfits */

static void
find_misfits(void *arg, uint32_t u, unsigned worker)
{
	struct df_planes *p = arg;
	uint64_t *row = p->misfits + u * p->words;
	bool any = false;

	(void)worker;
	if (p->df->host->should_stop(p->df->host))
		return;
	for (fm_sw v = 0; v < p->df->arcs.n_switches; v++)
		if (df_misfits(p->df, u, v)) {
			fm_bit_set(row, v);
			any = true;
		}
	if (any)
		atomic_store(&p->any, true);
}

/* Is there nothing that could misfit at all? */
static bool
is_intact(const struct df *df)
{
	if (df->n_unjoined > 0)
		return false;
	for (uint32_t g = 0; g < df->n_groups; g++)
		if (df->group_misfits[g])
			return false;
	return true;
}

bool
df_is_damaged(const struct df *df)
{
	for (uint32_t g = 0; g < df->n_groups; g++)
		if (df->group_detours[g])
			return true;
	return !is_intact(df);
}

/* ------------------------------------------------------------------ planes */

static void
index_ports(struct df_planes *p)
{
	const struct fm_fabric *fab = p->df->fab;

	memset(p->port_link, 0xff, (size_t)fab->n_switches * 256 * sizeof(*p->port_link));
	for (fm_sw s = 0; s < fab->n_switches; s++)
		for (fm_link l = fab->sw_first_link[s]; l < fab->sw_first_link[s + 1]; l++)
			p->port_link[(size_t)s * 256 + fab->link_port[l]] = l;
}

void
df_plane_take_back(struct df_planes *p, size_t n)
{
	while (p->n_held > n) {
		const struct df_held *h = &p->held[--p->n_held];

		fm_acyclic_remove(p->plane[h->plane], h->from, h->to);
	}
}

bool
df_plane_hold(struct df_planes *p, uint32_t plane, const fm_link *path, uint32_t n)
{
	for (uint32_t k = 1; k < n; k++) {
		enum fm_acyclic_result r = p->n_held < p->room
		    ? fm_acyclic_insert(p->plane[plane], path[k - 1], path[k])
		    : FM_ACYCLIC_CYCLE;

		if (r == FM_ACYCLIC_CYCLE || r == FM_ACYCLIC_NOMEM)
			return false;
		p->held[p->n_held++] = (struct df_held){ plane, path[k - 1], path[k] };
	}
	return true;
}

/* The route from u to a LID; its links in hop[], how many. */
static uint32_t
walk(const struct df_planes *p, fm_sw u, uint16_t lid, fm_link *hop)
{
	const struct fm_fabric *fab = p->df->fab;
	uint32_t n = 0;

	while (n < MAX_HOPS) {
		fm_link l = p->port_link[(size_t)u * 256 + p->out->lft[u][lid]];

		if (l == FM_NONE)
			break;
		hop[n++] = l;
		u = fab->link_to[l];
	}
	return n;
}

/* Routes from u to all LIDs at v. */
static bool
hold_routes(struct df_planes *p, uint32_t plane, fm_sw u, fm_sw v)
{
	const struct fm_fabric *fab = p->df->fab;
	fm_link hop[MAX_HOPS], last[MAX_HOPS];
	uint32_t n, n_last = 0;

	for (fm_end e = fab->sw_first_end[v]; e < fab->sw_first_end[v + 1]; e++)
		for (uint32_t i = 0; fab->end_lid[e] != 0 && i < 1u << fab->end_lmc[e]; i++) {
			n = walk(p, u, (uint16_t)(fab->end_lid[e] + i), hop);
			if (n == n_last && memcmp(hop, last, n * sizeof(*hop)) == 0)
				continue;
			n_last = n;
			memcpy(last, hop, n * sizeof(*hop));
			if (!df_plane_hold(p, plane, hop, n))
				return false;
		}
	return true;
}

bool
df_plane_hold_pair(struct df_planes *p, uint32_t plane, fm_sw u, fm_sw v)
{
	return hold_routes(p, plane, u, v) && hold_routes(p, plane, v, u);
}

int
df_plane_open(struct df_planes *p, struct fm_error *err)
{
	p->plane[p->n] = fm_acyclic_new(p->df->fab->n_links, NULL);
	if (p->plane[p->n] == NULL)
		return fm_no_scratch(p->df->host, "channel dependencies", err);
	p->n++;
	return 0;
}

uint8_t
df_plane_sl(const struct df_planes *p, fm_sw u, fm_sw v)
{
	const struct fm_fabric *fab = p->df->fab;
	fm_end e = fab->sw_first_end[v];

	while (e < fab->sw_first_end[v + 1] && fab->end_lid[e] == 0)
		e++;
	return e < fab->sw_first_end[v + 1] ? p->out->sl[u][fab->end_lid[e]] : 0;
}

static int
refuse_pair(const struct df_planes *p, fm_sw u, fm_sw v, struct fm_error *err)
{
	const struct df *df = p->df;

	return df->host->fail(df->host, err, FM_E_TOPOLOGY,
	    "with the cables that are missing, routes such as that from %s to %s need more "
	    "VLs than the %u allowed; mend cables, allow more (n_vls), or use dfsssp or "
	    "updn",
	    df->fab->sw_name[u], df->fab->sw_name[v], p->allowed + DF_FIRST_PLANE);
}

static void
set_sl(struct df_planes *p, fm_sw u, fm_sw v, uint8_t sl)
{
	const struct fm_fabric *fab = p->df->fab;

	for (fm_end e = fab->sw_first_end[v]; e < fab->sw_first_end[v + 1]; e++)
		if (fab->end_lid[e] != 0)
			memset(p->out->sl[u] + fab->end_lid[e], sl, (size_t)1 << fab->end_lmc[e]);
}

void
df_plane_set_sl(struct df_planes *p, fm_sw u, fm_sw v, uint8_t sl)
{
	set_sl(p, u, v, sl);
	set_sl(p, v, u, sl);
}

static int
place_pair(struct df_planes *p, fm_sw u, fm_sw v, struct fm_error *err)
{
	for (uint32_t k = 0; k < p->allowed; k++) {
		int rc;

		if (k == p->n && (rc = df_plane_open(p, err)) != 0)
			return rc;
		p->n_held = 0;
		if (df_plane_hold_pair(p, k, u, v)) {
			df_plane_set_sl(p, u, v, (uint8_t)(k + 1));
			return 0;
		}
		df_plane_take_back(p, 0);
	}
	return refuse_pair(p, u, v, err);
}

static int
place_all(struct df_planes *p, struct fm_error *err)
{
	const struct fm_host *host = p->df->host;
	uint32_t n = p->df->arcs.n_switches;
	int rc;

	for (fm_sw u = 0; u < n; u++) {
		if (host->should_stop(host))
			return host->fail(
			    host, err, FM_E_CANCELLED, "stopped while VLs were assigned");
		host->progress(host, u, n);
		for (fm_sw v = u + 1; v < n; v++)
			if ((fm_bit_test(p->misfits + u * p->words, v) ||
				fm_bit_test(p->misfits + v * p->words, u)) &&
			    (rc = place_pair(p, u, v, err)) != 0)
				return rc;
	}
	return 0;
}

/* LIDs at the switch with most of them: routes of a pair, both ways. */
static size_t
most_routes(const struct df *df)
{
	size_t most = 0;

	for (fm_sw s = 0; s < df->arcs.n_switches; s++) {
		size_t n = 0;

		for (fm_end e = df->fab->sw_first_end[s]; e < df->fab->sw_first_end[s + 1]; e++)
			n += (size_t)1 << df->fab->end_lmc[e];
		most = n > most ? n : most;
	}
	return 2 * most;
}

static int
check_share(const struct df_planes *p, struct fm_error *err)
{
	uint32_t n = p->df->arcs.n_switches;
	uint64_t pairs = (uint64_t)n * (n - 1), bad = 0;

	for (fm_sw u = 0; u < n; u++)
		bad += fm_bit_count(p->misfits + u * p->words, n);
	if ((double)bad > LARGEST_SHARE * (double)pairs)
		return p->df->host->fail(p->df->host, err, FM_E_TOPOLOGY,
		    "too little is left of the dragonfly: %llu of %llu pairs of switches have no "
		    "route of the pattern local, global, local; use dfsssp or updn",
		    (unsigned long long)bad, (unsigned long long)pairs);
	return 0;
}

static int
take_memory(struct df_planes *p, struct fm_error *err)
{
	const struct df *df = p->df;
	uint32_t n = df->arcs.n_switches;
	size_t room = most_routes(df) * MAX_HOPS;

	p->words = FM_BITSET_WORDS(n);
	p->misfits = fm_scratch_array(df->host, n * p->words, uint64_t);
	p->port_link = fm_scratch_array(df->host, (size_t)n * 256, fm_link);
	p->room = room > LEAST_ROOM ? room : LEAST_ROOM;
	p->held = fm_scratch_array(df->host, p->room, struct df_held);
	return p->misfits != NULL && p->port_link != NULL && p->held != NULL
	    ? 0
	    : fm_no_scratch(df->host, "channel dependencies", err);
}

static int
make_planes(struct df_planes *p, struct fm_error *err)
{
	int rc = take_memory(p, err);

	if (rc != 0)
		return rc;
	index_ports(p);
	p->df->host->parallel_for(p->df->host, p->df->arcs.n_switches, find_misfits, p);
	if (atomic_load(&p->any) && (rc = check_share(p, err)) == 0)
		rc = place_all(p, err);
	if (rc == 0)
		rc = df_lead_off(p, err);
	for (uint32_t k = 0; k < p->n; k++)
		fm_acyclic_free(p->plane[k]);
	return rc;
}

/* --------------------------------------------------------------------- VLs */

/* The second VL, by what the packet came in by and goes out by: what comes from
 * a global cable is about its destination, and so is a row after a column. */
static bool
is_inbound(int in, int out)
{
	return out != DF_GLOBAL && (in == DF_GLOBAL || (in == DF_COLUMN && out == DF_ROW));
}

/* SL 0 differs from 0 only behind cables between groups and in columns. */
static void
write_pattern(const struct df *df, fm_sw s, const int8_t *kind, uint8_t *vl)
{
	uint32_t n_ports = df->fab->sw_n_ports[s] + 1u;

	for (uint32_t in = 1; in < n_ports; in++) {
		if (kind[in] != DF_GLOBAL && kind[in] != DF_COLUMN)
			continue;
		for (uint32_t out = 1; out < n_ports; out++)
			if (kind[out] >= 0 && is_inbound(kind[in], kind[out]))
				vl[((size_t)in * n_ports + out) * N_SLS] = 1;
	}
}

/* Second hops of detours on the way to a destination. */
static void
write_detours(const struct df *df, fm_sw s, uint8_t *vl)
{
	const struct fm_arcs *arcs = &df->arcs;
	const uint8_t *port = df->fab->link_port;
	uint32_t n_ports = df->fab->sw_n_ports[s] + 1u;

	DF_EACH_ARC(df, from, s)
	DF_EACH_ARC(df, to, s)
	{
		fm_sw x = arcs->to[from], y = arcs->to[to];

		if (df->kind[from] == DF_GLOBAL || df->kind[to] == DF_GLOBAL || x == y ||
		    df->direct[df_local(df, x, y)] != FM_NONE ||
		    df->home_misfits[df_local(df, x, y)] ||
		    arcs->to[df->home[df_local(df, x, y)]] != s)
			continue;
		for (fm_link in = arcs->link[from]; in < arcs->link[from + 1]; in++)
			for (fm_link out = arcs->link[to]; out < arcs->link[to + 1]; out++)
				vl[((size_t)port[in] * n_ports + port[out]) * N_SLS] = 1;
	}
}

/* All turns at a switch; what begins there has VL 0. */
static void
write_rounds(const struct df *df, fm_sw s, uint8_t *vl)
{
	const struct fm_fabric *fab = df->fab;
	uint32_t n_ports = fab->sw_n_ports[s] + 1u;

	for (fm_link in = fab->sw_first_link[s]; in < fab->sw_first_link[s + 1]; in++)
		for (fm_link out = fab->sw_first_link[s]; out < fab->sw_first_link[s + 1]; out++)
			vl[((size_t)fab->link_port[in] * n_ports + fab->link_port[out]) * N_SLS] =
			    df_round_vl(df, s, fab->link_to[in], fab->link_to[out]);
}

static void
write_vls(void *arg, uint32_t s, unsigned worker)
{
	const struct df_planes *p = arg;
	const struct df *df = p->df;
	const struct fm_fabric *fab = df->fab;
	size_t n_ports = fab->sw_n_ports[s] + 1u;
	uint8_t *vl = p->out->sl2vl + (size_t)p->out->sl2vl_first[s] * N_SLS;
	int8_t kind[256];

	(void)worker;
	memset(kind, -1, sizeof(kind));
	DF_EACH_ARC(df, a, s)
	for (fm_link l = df->arcs.link[a]; l < df->arcs.link[a + 1]; l++)
		kind[fab->link_port[l]] = (int8_t)df->kind[a];
	if (df->goes_round)
		write_rounds(df, s, vl);
	else
		write_pattern(df, s, kind, vl);
	if (df->group_detours[df->group[s]])
		write_detours(df, s, vl);
	for (size_t row = 0; p->n > 0 && row < n_ports * n_ports; row++)
		for (uint32_t k = 0; kind[row % n_ports] >= 0 && k < p->n; k++)
			vl[row * N_SLS + k + 1] = (uint8_t)(DF_FIRST_PLANE + k);
}

uint8_t
df_vls_of_links(const struct fm_fabric *fab, uint8_t n_vls, fm_link *least)
{
	*least = FM_NONE;
	for (fm_link l = 0; l < fab->n_links; l++)
		if (fab->link_n_vls[l] < n_vls) {
			n_vls = fab->link_n_vls[l];
			*least = l;
		}
	return n_vls;
}

static int
refuse_vls(const struct df *df, uint8_t n_vls, fm_link least, struct fm_error *err)
{
	const struct fm_fabric *fab = df->fab;

	if (least == FM_NONE)
		return df->host->fail(df->host, err, FM_E_TOPOLOGY,
		    "dragonfly needs 2 VLs, %u is allowed (n_vls)", n_vls);
	return df->host->fail(df->host, err, FM_E_TOPOLOGY,
	    "dragonfly needs 2 VLs, the cable between %s port %u and %s port %u has %u",
	    fab->sw_name[fab->link_to[fab->link_rev[least]]], fab->link_port[least],
	    fab->sw_name[fab->link_to[least]], fab->link_port[fab->link_rev[least]], n_vls);
}

int
df_assign_vls(struct df *df, uint8_t n_vls, struct fm_tables *out, struct fm_error *err)
{
	struct df_planes p = { .df = df, .out = out };
	fm_link least;
	int rc;

	n_vls = df_vls_of_links(df->fab, n_vls, &least);
	if (df->n_groups == 1 && !df->any_column && is_intact(df))
		return 0; /* no route has two hops */
	if (n_vls < 2)
		return refuse_vls(df, n_vls, least, err);
	p.allowed = n_vls - DF_FIRST_PLANE < DF_MAX_PLANES ? n_vls - DF_FIRST_PLANE : DF_MAX_PLANES;
	if (df_is_damaged(df) && (rc = make_planes(&p, err)) != 0)
		return rc;
	out->sl_shape = p.n > 0 ? FM_SL_BY_SW_DLID : FM_SL_ZERO;
	out->sl2vl_shape = FM_SL2VL_BY_IN_OUT;
	out->n_vls_used = df->goes_round ? DF_ROUND_VLS : (uint8_t)(DF_FIRST_PLANE + p.n);
	df->host->parallel_for(df->host, df->fab->n_switches, write_vls, &p);
	return 0;
}
