/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fattree - routes for fat trees, whole or damaged.
 *
 * On a complete tree (PGFT) the best routes are arithmetic: number the hosts
 * leaf by leaf, let host t be reached through up-link (t / divider) mod links
 * at every switch, and every shift permutation runs without two flows on one
 * link (D-mod-K: Zahavi, Johnson, Kerbyson, Lang 2010).  Dmodc (Gliksberg et
 * al., arXiv 2211.13101) carries that to damaged trees: ranks and costs tell
 * which up-links still lead to a leaf, and the modulo runs over those.  Here
 * the arithmetic keeps running over the *nominal* links; only the LIDs that a
 * fault displaces are chosen anew, by load.  So a lost cable changes few
 * entries, and a damaged tree stays as balanced as it can.
 *
 *	tiers     leaves from hosts (or roots given), the rest by distance
 *	shape     blocks of siblings, planes, order of leaves: no names needed
 *	classes   compute nodes, I/O nodes, those routed last
 *	order     one strict order of switches; routes go up, then down in it
 *	reach     costs from every switch to every switch, as bit sets
 *	bundles   slots, dividers, templates
 *	leads     one template row per set of siblings
 *	up        a byte translation of it per switch, lost LIDs dealt one by one
 *	down      what children serve; tops of a block share a row likewise
 *	fill      all rows, in tasks
 *	reverse   a limit to hops the wrong way, if asked for
 *
 * Promises: never up after down, so no credit loops on one VL; the tables
 * depend on structure and GUIDs, not on LIDs, ports or names (GUIDs order what
 * structure cannot tell apart).  prev is asked only for displaced LIDs.
 * Little more than the time of writing the tables.
 */
#include "lib/log.h"
#include "plugins/engines/fattree/fattree.h"

int
ft_out_of_memory(const struct ft *ft, struct fm_error *err)
{
	return ft->host->fail(err, FM_E_RESOURCE, "scratch memory of the fat-tree engine is spent");
}

static const struct fattree_options no_options = { .max_reverse_hops = FT_ANY_REVERSE_HOPS };

static int
fattree_probe(
    const struct fm_host *host, const struct fm_fabric *fab, const void *opts, struct fm_error *err)
{
	struct ft ft = { .host = host,
		.fab = fab,
		.opt = opts != NULL ? opts : &no_options,
		.n = fab->n_switches };

	return ft_tiers(&ft, err);
}

/* Cables inside a tier carry nothing: whoever paid for them should know. */
static void
warn_ignored(const struct ft *ft)
{
	const struct fm_fabric *fab = ft->fab;
	fm_link l;
	fm_sw from;

	if (ft->ignored == NULL)
		return;
	l = ft->ignored->first;
	from = fab->link_to[fab->link_rev[l]];
	ft->host->log(ft->host, FM_LOG_WARN,
	    "%u cable%s between switches of one tier carr%s no traffic, among them %s port %u to "
	    "%s port %u",
	    ft->n_ignored, ft->n_ignored > 1 ? "s" : "", ft->n_ignored > 1 ? "y" : "ies",
	    fab->sw_name[from], fab->link_port[l], fab->sw_name[fab->link_to[l]],
	    fab->link_port[fab->link_rev[l]]);
}

static int
fattree_route(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	struct ft ft = { .host = host,
		.fab = fab,
		.opt = opts != NULL ? opts : &no_options,
		.n = fab->n_switches,
		.prev = (req->flags & FM_REQ_PREV_FOREIGN) != 0 ? NULL : req->prev,
		.out = out };
	int rc;

	if (ft.n == 0)
		return 0;
	if ((rc = ft_tiers(&ft, err)) < 0)
		return rc;
	warn_ignored(&ft);
	if ((rc = ft_shape(&ft, err)) < 0 || (rc = ft_classes(&ft, err)) < 0 ||
	    (rc = ft_levels(&ft, err)) < 0 || (rc = ft_reach(&ft, err)) < 0 ||
	    (rc = ft_bundles(&ft, err)) < 0 || (rc = ft_fill(&ft, err)) < 0 ||
	    (rc = ft_limit_reverse(&ft, err)) < 0)
		return rc;
	return ft_alternatives(&ft, err);
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

FM_ENGINE(fattree, .aliases = aliases,
    .summary =
	"fat trees, whole or damaged: arithmetic routes, least load for what a fault displaces",
    .traits = FM_PROVIDES_LFT | FM_PROVIDES_AR | FM_PROVIDES_ORDER | FM_USES_PREV |
	FM_PROMISES_NO_CREDIT_LOOPS | FM_SL_SYMMETRIC | FM_WRITES_WHOLE_ROWS | FM_ROUTE_PROBES,
    .options = options, .options_size = sizeof(struct fattree_options), .probe = fattree_probe,
    .route = fattree_route);
