/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fattree - routes for fat trees, whole or damaged.
 *
 * The tiers (plugins/common/tree/tiers.h), kinds of hosts, an order of the switches
 * (plugins/common/paths/order.h), and tables by arithmetic (plugins/common/tree/dmodk.h).
 *
 * Promises: never up after down, so no credit loops on one VL; the tables
 * depend on structure and GUIDs, not on LIDs, ports or names (GUIDs order what
 * structure cannot tell apart).  prev is asked only for displaced LIDs, and where arithmetic
 * leaves a link more than half as much again as the mean and some of that is moved.
 */
#include <fmd/own.h>

#include "lib/log.h"
#include "plugins/common/paths/base_lids.h"
#include "plugins/common/sssp/local_search.h"
#include "plugins/common/tree/tree.h"
#include "plugins/engines/fattree/fattree.h"

#define ENOUGH 1.5 /* times the mean, on the fullest link */

static const struct fattree_options no_options = { .max_reverse_hops = FT_ANY_REVERSE_HOPS };

static int
find_tiers(struct fattree *ft, struct fm_error *err)
{
	int rc = fm_arcs_build(ft->host, ft->fab, &ft->arcs, err);

	ft->tiers = (struct fm_tiers){ .host = ft->host,
		.fab = ft->fab,
		.arcs = &ft->arcs,
		.roots = &ft->opt->roots,
		.n = ft->fab->n_switches };
	return rc != 0 ? rc : fm_tiers_find(&ft->tiers, err);
}

/* Cables inside a tier carry nothing: whoever paid for them should know. */
static void
warn_ignored(const struct fattree *ft)
{
	const struct fm_fabric *fab = ft->fab;
	uint32_t n = ft->tiers.n_ignored;
	fm_link l, back;

	if (n == 0)
		return;
	l = ft->arcs.link[ft->tiers.ignored];
	back = fab->link_rev[l];
	ft->host->log(ft->host, FM_LOG_WARN,
	    "%u cable%s between switches of one tier carr%s no traffic, among them %s port %u to "
	    "%s port %u",
	    n, n > 1 ? "s" : "", n > 1 ? "y" : "ies", fab->sw_name[fab->link_to[back]],
	    fab->link_port[l], fab->sw_name[fab->link_to[l]], fab->link_port[back]);
}

static uint32_t
count_tops(const struct fm_tiers *t)
{
	uint32_t n = 0;

	for (fm_sw s = 0; s < t->n; s++)
		n += t->rank[s] == t->max_rank;
	return n;
}

/* A switch without hosts that is cabled below one with hosts; FM_NONE: there is none. */
static fm_sw
find_upside_down(const struct fattree *ft)
{
	const struct fm_tiers *t = &ft->tiers;

	for (fm_sw s = 0; s < t->n; s++)
		for (fm_arc a = ft->arcs.first[s]; t->n_hosts[s] == 0 && a < ft->arcs.first[s + 1];
		     a++)
			if (t->rank[ft->arcs.to[a]] > t->rank[s] && t->n_hosts[ft->arcs.to[a]] > 0)
				return s;
	return FM_NONE;
}

/* Tops that roots does not name are taken for leaves, and all goes by those that it names. */
static void
warn_few_roots(const struct fattree *ft)
{
	fm_sw wrong = ft->opt->roots.given ? find_upside_down(ft) : FM_NONE;
	struct fm_tiers found = {
		.host = ft->host, .fab = ft->fab, .arcs = &ft->arcs, .n = ft->fab->n_switches
	};
	struct fm_error err;

	if (wrong == FM_NONE || fm_tiers_find(&found, &err) != 0 ||
	    count_tops(&found) <= count_tops(&ft->tiers))
		return;
	ft->host->log(ft->host, FM_LOG_WARN,
	    "roots names %u top switches, and the tree looks as if it had %u: those that are not "
	    "named, as %s, carry nothing for others; name all of them, or leave roots away",
	    count_tops(&ft->tiers), count_tops(&found), ft->fab->sw_name[wrong]);
}

/* The arcs between tiers. */
static int
list_ways(const struct fattree *ft, struct fm_arcs *out, struct fm_error *err)
{
	const struct fm_arcs *arcs = &ft->arcs;
	fm_arc *first = fm_scratch_array(ft->host, (size_t)arcs->n_switches + 1, fm_arc), n = 0;
	fm_sw *to = fm_scratch_array(ft->host, arcs->n_arcs, fm_sw);

	if (first == NULL || to == NULL)
		return fm_no_scratch(ft->host, "ways between tiers", err);
	for (fm_sw s = 0; s < arcs->n_switches; s++) {
		for (fm_arc a = arcs->first[s]; a < arcs->first[s + 1]; a++)
			if (ft->tiers.rank[arcs->to[a]] != ft->tiers.rank[s])
				to[n++] = arcs->to[a];
		first[s + 1] = n;
	}
	*out = (struct fm_arcs){
		.n_switches = arcs->n_switches, .n_arcs = n, .first = first, .to = to
	};
	return 0;
}

/* Regions (a fabric with proxies) keep the plain tiers: they are composed along them, and a
 * pair without a legal route is the host's to place elsewhere. */
static int
find_order(const struct fattree *ft, struct fm_order *out, struct fm_error *err)
{
	uint32_t *level = fm_scratch_array(ft->host, ft->tiers.n, uint32_t);
	struct fm_levels levels = { .level = level,
		.turn = fm_has_proxies(ft->fab) ? FM_TURN_NONE : FM_TURN_ANY };
	struct fm_arcs ways;
	int rc = list_ways(ft, &ways, err);

	if (rc != 0 || level == NULL)
		return rc != 0 ? rc : fm_no_scratch(ft->host, "order of the switches", err);
	for (fm_sw s = 0; s < ft->tiers.n; s++)
		level[s] = ft->tiers.rank[s];
	return fm_order_build(ft->host, &ways, &levels, out, err);
}

/* What arithmetic leaves too much on one link goes elsewhere, by the same order.  Not where some
 * hosts are balanced by themselves, and not more than it takes: shifts run best as they are. */
static int
make_even(const struct fattree *ft, const struct fm_fabric *fab, const struct fm_dmodk *how,
    const struct fm_tables *out, bool *moved, struct fm_error *err)
{
	const struct fm_local_search_rule rule = { .rule = { .order = how->order },
		.enough = ENOUGH,
		.prev_lft = how->prev_lft,
		.moved = moved };
	uint64_t most;

	if (!fm_local_search_applies(fab) || how->class != NULL || ft->tiers.n_ignored > 0 ||
	    ft->opt->max_reverse_hops < FT_ANY_REVERSE_HOPS)
		return 0;
	return fm_local_search(ft->host, fab, &ft->arcs, &rule, out, &most, err);
}

/* Entries for base LIDs that differ from those before. */
static uint64_t
count_changes(
    const struct fm_fabric *fab, const struct fm_tables *out, const uint8_t *const *prev_lft)
{
	uint64_t n = 0;

	for (fm_sw s = 0; s < fab->n_switches; s++)
		for (fm_end e = 0; e < fab->n_ends; e++)
			n += out->lft[s][fab->end_lid[e]] != prev_lft[s][fab->end_lid[e]];
	return n;
}

/* As if there had been no tables before, into `out` where that changes less of them: what is
 * moved back one by one does not always end where it was. */
static int
try_anew(const struct fattree *ft, const struct fm_fabric *base, const struct fm_dmodk *how,
    const struct fm_tables *out, struct fm_error *err)
{
	struct fm_dmodk anew = *how;
	const struct fm_dmodk_routes *routes;
	struct fm_tables rows;
	bool moved = false;
	int rc;

	anew.prev_lft = NULL;
	if ((rc = fm_base_rows(ft->host, base, out, &rows, err)) != 0 ||
	    (rc = fm_dmodk_route(ft->host, base, &anew, &rows, &routes, err)) != 0 ||
	    (rc = make_even(ft, base, &anew, &rows, &moved, err)) != 0)
		return rc;
	if (count_changes(base, &rows, how->prev_lft) < count_changes(base, out, how->prev_lft))
		fm_base_take(ft->host, base, &rows, out);
	return 0;
}

static int
even_base(const struct fattree *ft, const struct fm_fabric *base, const struct fm_dmodk *how,
    const struct fm_tables *out, struct fm_error *err)
{
	bool moved = false;
	int rc = make_even(ft, base, how, out, &moved, err);

	return rc != 0 || !moved || how->prev_lft == NULL ? rc : try_anew(ft, base, how, out, err);
}

/* Off regular trees: what is beyond arithmetic, and base LIDs as if there were no others. */
static int
route_base(const struct fattree *ft, const struct fm_dmodk *how, struct fm_error *err)
{
	const struct fm_dmodk_routes *routes;
	struct fm_fabric base;
	struct fm_tables rows;
	int rc;

	if (!fm_has_lmc(ft->fab))
		return even_base(ft, ft->fab, how, ft->out, err);
	if ((rc = fm_base_view(ft->host, ft->fab, &base, err)) != 0 ||
	    (rc = fm_base_rows(ft->host, ft->fab, ft->out, &rows, err)) != 0 ||
	    (rc = fm_dmodk_route(ft->host, &base, how, &rows, &routes, err)) != 0 ||
	    (rc = even_base(ft, &base, how, &rows, err)) != 0)
		return rc;
	fm_base_take(ft->host, ft->fab, &rows, ft->out);
	return 0;
}

static int
fattree_route(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	struct fattree ft = {
		.host = host, .fab = fab, .opt = opts != NULL ? opts : &no_options, .out = out
	};
	struct fm_dmodk how = { .arcs = &ft.arcs, .by_guid = true, .prev_lft = req->prev_lft };
	const struct fm_dmodk_routes *routes;
	struct fm_order order;
	int rc;

	if (fab->n_switches == 0)
		return 0;
	if ((rc = find_tiers(&ft, err)) != 0)
		return rc;
	warn_ignored(&ft);
	warn_few_roots(&ft);
	how.rank = ft.tiers.rank;
	how.order = &order;
	if ((rc = ft_classes(&ft, &how.class, err)) != 0 ||
	    (rc = find_order(&ft, &order, err)) != 0 ||
	    (rc = fm_dmodk_route(host, fab, &how, out, &routes, err)) != 0)
		return rc;
	if (!fm_tree_is_regular(fab, &ft.arcs, ft.tiers.rank))
		rc = route_base(&ft, &how, err);
	if (rc != 0 || (rc = ft_limit_reverse(&ft, err)) != 0)
		return rc;
	return fm_dmodk_alternatives(routes, out, err);
}

static const char *const aliases[] = { "ftree", NULL };

static const struct fm_option options[] = {
	{ .name = "roots",
	    .type = FM_OPT_NODES,
	    .offset = offsetof(struct fattree_options, roots),
	    .def = "",
	    .help = "Top switches of the tree (root_guid_file of OpenSM, CoreSwitches of opa-fm); "
		    "found from the hosts when not given." },
	{ .name = "cn",
	    .type = FM_OPT_NODES,
	    .offset = offsetof(struct fattree_options, cn),
	    .def = "",
	    .help = "Compute nodes, by port or host, or switches for all of theirs: balanced among "
		    "themselves, all others by themselves (cn_guid_file)." },
	{ .name = "io",
	    .type = FM_OPT_NODES,
	    .offset = offsetof(struct fattree_options, io),
	    .def = "",
	    .help = "I/O nodes: not compute nodes, balanced by themselves (io_guid_file)." },
	{ .name = "route_last",
	    .type = FM_OPT_NODES,
	    .offset = offsetof(struct fattree_options, route_last),
	    .def = "",
	    .help = "Hosts routed after all others and balanced by themselves (RouteLast)." },
	{ .name = "max_reverse_hops",
	    .type = FM_OPT_INT,
	    .offset = offsetof(struct fattree_options, max_reverse_hops),
	    .def = "64",
	    .min = 0,
	    .max = FT_ANY_REVERSE_HOPS,
	    .unit = "hops",
	    .help =
		"Leave out routes to hosts that go up again more than this after a hop down, as "
		"between hosts on different top switches; 64 leaves out none." },
	{ .type = FM_OPT_END },
};

FM_OWN_ENGINE(fattree, NULL, .aliases = aliases,
    .summary =
	"fat trees, whole or damaged: arithmetic routes, least load for what a fault displaces",
    .traits = FM_PROVIDES_LFT | FM_PROVIDES_AR | FM_PROVIDES_ORDER | FM_USES_PREV |
	FM_PROMISES_NO_CREDIT_LOOPS | FM_WRITES_WHOLE_ROWS,
    .options = options, .options_size = sizeof(struct fattree_options), .route = fattree_route);
